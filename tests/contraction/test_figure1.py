"""The data of DOB Figure 1: no random pair exceeds a bound, and how much of each bound is reached."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from tightlip import ldp
from tightlip.robust.pointwise import leakage_capacity

EXPERIMENT = Path(__file__).parents[2] / "experiments" / "dob_figure1.py"


@pytest.fixture(scope="module")
def experiment():
    spec = importlib.util.spec_from_file_location("dob_figure1_experiment", EXPERIMENT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", [1, 2])
def test_no_pair_exceeds_a_bound_and_the_bounds_are_as_tight_as_claimed(experiment, seed):
    first, second = experiment.figure(3000, seed)
    assert not any(first.exceeded().values())
    assert not any(second.exceeded().values())
    share = first.tightness()
    assert 0.9 < share["exact"] <= 1
    assert share["exact"] == share["paper"]  # m* = 0 for both kernels
    assert 0.1 < share["LDP and χ²"] < 0.4
    assert share["Duchi et al."] < 0.01
    assert 0.5 < second.tightness()["exact"] <= 1
    assert set(second.bounds) == {"exact", "paper"}  # no finite LDP level to compare with


def test_the_kernels_are_those_of_example_2(experiment):
    one, two = experiment.first_kernel(), experiment.second_kernel()
    assert leakage_capacity(one, min_mass="1/20").ratio == leakage_capacity(two, min_mass="1/10").ratio
    assert (ldp(one).ratio, ldp(two)) == (15, float("inf"))


def test_the_experiment_runs(experiment, tmp_path, capsys):
    experiment.main(
        ["--count", "50", "--data", str(tmp_path / "data.json"), "--plot", str(tmp_path / "plot.svg")]
    )
    assert "largest share" in capsys.readouterr().out
    assert [len(panel["pairs"]) for panel in json.loads((tmp_path / "data.json").read_text())] == [50, 50]
    assert (tmp_path / "plot.svg").stat().st_size > 3000
