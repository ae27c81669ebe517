"""The names users learn, and what importing them costs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import tightlip as tl

API = {
    *(
        "Prior",
        "Channel",
        "PriorSet",
        "pml",
        "pmc",
        "information_density",
        "event_leakage",
        "maximal_leakage",
    ),
    *(
        "maximal_cost_leakage",
        "maximal_realizable_cost",
        "ldp",
        "lip",
        "alip",
        "privacy_profile",
        "psi1",
        "psi2",
    ),
    *("gain_leakage", "cost_leakage", "convert", "mechanism", "errors"),
    *("audit", "Audit", "SampleMode", "open_table", "Policy", "Released", "RandomizedResponse"),
    *("Bins", "Prefix", "Mapping", "TopCode", "BottomCode", "Suppress"),
    *("count_cells", "cell_risks", "write_risks"),
}
USE = "import tightlip as tl; tl.pml, tl.Channel, tl.Prior, tl.convert"


def test_every_public_name_exists():
    for name in tl.__all__:
        assert getattr(tl, name) is not None
    assert set(tl.__all__) >= API
    assert set(tl.__all__) <= set(dir(tl))


def test_types_and_runtime_name_the_same_things():
    """The imports that type checkers read are those that __getattr__ resolves."""
    tree = ast.parse(Path(tl.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {alias.asname for node in block.body for alias in node.names}
    assert typed == set(tl.__all__)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = tl.nonsense


@pytest.mark.parametrize("program", ["import tightlip", USE])
def test_importing_loads_nothing_heavy(program):
    heavy = (
        "scipy",
        "flint",
        "rich",
        "typer",
        "pandas",
        "duckdb",
        "altair",
        "matplotlib",
        "randomgen",
        "highspy",
    )
    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{program}; import sys; print([name for name in {heavy!r} if name in sys.modules])",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert loaded.strip() == "[]"
