"""Releases: the mechanisms against enumeration, what a release may show, files, and the Adult table."""

import copy
import multiprocessing
import os
import pickle
import stat
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

from contract.warnings_of_engines import IGNORED
from tightlip import log_of
from tightlip.errors import InvalidInput, WrongType
from tightlip.files import write_whole
from tightlip.histogram import release as releases
from tightlip.histogram.quantization import Quantization
from tightlip.histogram.release import plan_release, release_histogram
from tightlip.histogram.secret import Except, Ratio, RatioDifference, Share
from tightlip.histogram.share_distortion import share_distortion
from tightlip.histogram.space import HistogramSpace
from tightlip.histogram.table import tabulate
from tightlip.report.release import release_record

pytestmark = IGNORED

TABLE = {"sex": ["F", "M", "F", "M"], "ill": ["yes", "no", "no", "no"]}
CELLS = [("F", "no"), ("F", "yes"), ("M", "no"), ("M", "yes")]
SECRET = Share({"ill": "yes"})
ADULT_COLUMNS = [
    *("age", "workclass", "fnlwgt", "education", "education-num"),
    *("marital-status", "occupation", "relationship", "race", "sex"),
    *("capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
]


def histograms(total, cells):
    return [h for h in product(range(total + 1), repeat=cells) if sum(h) == total]


def drawn(count, **options):
    return [
        tuple(release_histogram(TABLE, None, SECRET, seed_for_tests=seed, **options).table.counts.tolist())
        for seed in range(count)
    ]


def test_quantization_is_uniform_on_the_middle_of_the_bin():
    """One of four rows is ill: index 1, in bin {0, 1} of middle 1."""
    possible = [h for h in histograms(4, 4) if h[1] + h[3] == 1]
    found = Counter(drawn(25 * len(possible), bin_size=2))
    assert set(found) <= set(possible)
    assert chisquare([found[h] for h in possible]).pvalue > 1e-3


def test_quantization_by_membership():
    possible = [h for h in histograms(4, 4) if h[1] + h[3] in (0, 1)]
    found = Counter(drawn(25 * len(possible), bin_size=2, ordered=False))
    assert set(found) <= set(possible)
    assert chisquare([found[h] for h in possible]).pvalue > 1e-3


@pytest.mark.parametrize("epsilon", [log_of(20), 3.0])
def test_randomised_response(epsilon):
    possible = histograms(4, 4)
    found = Counter(drawn(900, mechanism="rr", epsilon=epsilon))
    growth = float(np.exp(epsilon))
    rest = 900 / (len(possible) + growth - 1)
    truth = (1, 1, 2, 0)
    expected = [rest * growth if h == truth else rest for h in possible]
    assert set(found) <= set(possible)
    assert chisquare([found[h] for h in possible], expected).pvalue > 1e-3


def test_maxl_releases_the_nearest_candidate():
    plan = plan_release(TABLE, None, SECRET, mechanism="maxl", bin_size=2, seed_for_tests=3)
    first, second = plan.draw(), plan.draw()
    assert first.table.counts.tolist() == second.table.counts.tolist()
    assert (plan.privacy.ratio, first.exact, first.table.total) == (3, True, 4)
    others = [
        plan_release(TABLE, None, SECRET, mechanism="maxl", bin_size=2, seed_for_tests=3 + k)
        for k in range(9)
    ]
    assert all(0 <= other.distortion.lower <= other.distortion.upper <= 1 for other in others)


@pytest.mark.parametrize(
    ("total", "cells", "category"), [(4, 4, 2), (5, 4, 2), (6, 4, 3), (5, 5, 3), (4, 3, 1)]
)
@pytest.mark.parametrize("bin_size", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("many_bins", [False, True])
def test_distortion_of_a_share_of_several_cells(monkeypatch, total, cells, category, bin_size, many_bins):
    """max over all tables of the expected distance to all releases, in rationals."""
    if many_bins:
        monkeypatch.setattr("tightlip.histogram.share_distortion._MOST_BINS_ONE_BY_ONE", 0)
    mechanism = Quantization(HistogramSpace(total, cells), bin_size, secrets=total + 1)
    tables = histograms(total, cells)
    worst = Fraction(0)
    for table in tables:
        middle = mechanism.representative(mechanism.bin_of(sum(table[:category])))
        outputs = [other for other in tables if sum(other[:category]) == middle]
        distance = sum(sum(abs(a - b) for a, b in zip(table, other, strict=True)) for other in outputs)
        worst = max(worst, Fraction(distance, 2 * total * len(outputs)))
    found = share_distortion(mechanism.space, bin_size, category)
    assert found.lower <= worst <= found.upper
    assert found.upper - found.lower < 1e-12
    if not many_bins:
        assert found.upper.fraction == worst


def test_one_cell_agrees_with_the_closed_form():
    space = HistogramSpace(11, 3)
    assert share_distortion(space, 4, 1).upper.fraction == Quantization(space, 4).distortion.upper.fraction


def test_unseeded_draws_differ():
    rows = {"a": [str(i % 7) for i in range(500)], "b": [str(i % 3) for i in range(500)]}
    counts = [release_histogram(rows, None, Share({"b": "1"}), bin_size=9).table.counts for _ in range(3)]
    assert not (counts[0] == counts[1]).all()
    assert not (counts[1] == counts[2]).all()


@pytest.mark.parametrize("options", [{"bin_size": 9}, {"mechanism": "rr", "epsilon": 1}])
def test_children_of_one_plan_draw_releases_of_their_own(options):
    rows = {"a": [str(i % 7) for i in range(500)], "b": [str(i % 3) for i in range(500)]}
    plan = plan_release(rows, None, Share({"b": "1"}), **options)
    context = multiprocessing.get_context("fork")
    drawn = [tuple(plan.draw().table.counts.tolist())]
    for _ in range(3):
        receive, send = context.Pipe(duplex=False)
        child = context.Process(target=lambda: send.send(plan.draw().table.counts.tolist()))  # noqa: B023
        child.start()
        drawn.append(tuple(receive.recv()))
        child.join()
    assert len(set(drawn)) == 4


def test_plans_are_not_pickled_and_their_copies_are_themselves():
    plan = plan_release(TABLE, None, SECRET, bin_size=2)
    with pytest.raises(WrongType, match="must stay in its process"):
        pickle.dumps(plan)
    assert copy.copy(plan) is copy.deepcopy(plan) is plan


def test_a_seed_is_marked_wherever_the_release_goes(tmp_path):
    plan = plan_release(TABLE, None, SECRET, bin_size=2, seed_for_tests=3)
    release = plan.draw()
    assert plan.seeded
    assert release.seeded
    assert "protects nobody" in release.note
    release.write_csv(tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0] == "sex,ill,seed_for_tests"
    assert all(line.endswith(",not protected") for line in lines[1:])
    assert release_record(release, unit="nats")["seeded"] is True
    real = release_histogram(TABLE, None, SECRET, bin_size=2)
    assert not real.seeded
    assert real.table.csv_text().startswith("sex,ill\n")
    assert release_record(real, unit="nats")["seeded"] is False


def test_the_mark_of_a_seed_has_a_name_of_its_own():
    table = {"seed_for_tests": ["a", "b"], "ill": ["no", "yes"]}
    release = release_histogram(table, None, Share({"ill": "yes"}), bin_size=1, seed_for_tests=1)
    assert release.table.csv_text().startswith("seed_for_tests,ill,seed_for_tests_\n")


def test_secrets_of_every_kind():
    rows = {"sex": ["F", "M"] * 12, "ill": ["yes", "no", "no", "no"] * 6, "town": ["a", "a", "b"] * 8}
    for secret in (
        Ratio({"ill": "yes"}, {"sex": "F"}),
        RatioDifference({"ill": "yes"}, {"sex": "F"}, {"sex": Except("F")}, resolution="1/4"),
    ):
        release = release_histogram(rows, None, secret, bin_size=3)
        assert (release.exact, release.table.total) == (True, 24)
        assert (
            0
            < release.distortion.lower
            <= release.distortion.upper
            <= release.distortion.lower + 1e-9
            <= 1 + 1e-9
        )
    single = release_histogram(rows, ["ill"], Share({"ill": "yes"}), bin_size=4)
    assert single.distortion.upper.fraction == Fraction(2, 24)


def test_a_release_shows_nothing_of_the_table():
    """Two tables with secrets in the same bin give plans that print the same."""
    other = {"sex": ["M", "M", "M", "F"], "ill": ["no", "no", "no", "yes"]}
    feasible = {"sex": ["F", "M"], "ill": ["no", "yes"]}
    options = {"bin_size": 2, "feasible": feasible, "seed_for_tests": 1}
    plans = [plan_release(table, ["sex", "ill"], SECRET, **options) for table in (TABLE, other)]
    assert repr(plans[0].privacy) == repr(plans[1].privacy)
    assert "_draw" not in repr(plans[0])
    made = [plan.draw() for plan in plans]
    assert made[0].table.counts.tolist() == made[1].table.counts.tolist()
    assert (made[0].method, made[0].note) == (made[1].method, made[1].note)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "bin_size must be given"),
        ({"mechanism": "rr"}, "epsilon must be given"),
        ({"mechanism": "rr", "epsilon": 1, "bin_size": 2}, "bin_size must not be given"),
        ({"bin_size": 2, "epsilon": 1}, "epsilon must not be given"),
        ({"mechanism": "laplace", "bin_size": 2}, 'mechanism must be one of "qm"'),
        ({"bin_size": 0}, "bin_size must be a whole number from 1"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(InvalidInput, match=message):
        plan_release(TABLE, None, SECRET, **options)


def test_too_little_or_too_much(monkeypatch):
    with pytest.raises(InvalidInput, match="at least two feasible combinations"):
        plan_release({"a": ["x", "x"]}, None, SECRET, bin_size=1)
    monkeypatch.setattr(releases, "_MOST_ENTRIES", 8)
    with pytest.raises(InvalidInput, match="at most 2 bins, got 5"):
        plan_release(TABLE, None, SECRET, mechanism="maxl", bin_size=1)


def test_files_are_whole(tmp_path, monkeypatch):
    path = tmp_path / "out.csv"
    release = release_histogram(TABLE, None, SECRET, bin_size=2)
    release.write_csv(path)
    first = path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) & stat.S_IRUSR
    assert Counter(tabulate(path).rows()) == Counter(release.table.rows())
    with pytest.raises(InvalidInput, match="exists already"):
        release.write_csv(path)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidInput, match="No space left on device"):
        release.write_csv(path, force=True)
    assert path.read_text() == first
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.csv"]
    monkeypatch.undo()
    write_whole(path, "new", force=True)
    assert path.read_text() == "new"


def test_a_file_that_appears_meanwhile_is_kept(tmp_path, monkeypatch):
    path = tmp_path / "out.csv"
    monkeypatch.setattr(os, "fsync", lambda descriptor: path.write_text("theirs"))
    with pytest.raises(InvalidInput, match="exists already"):
        write_whole(path, "ours", force=False)
    assert path.read_text() == "theirs"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_that_appears_at_the_last_moment_is_kept(tmp_path, monkeypatch):
    path = tmp_path / "out.csv"
    path.write_text("theirs")
    monkeypatch.setattr(os.path, "lexists", lambda _: False)
    with pytest.raises(InvalidInput, match="exists already"):
        write_whole(path, "ours", force=False)
    assert path.read_text() == "theirs"
    assert len(list(tmp_path.iterdir())) == 1


def test_file_systems_without_links(tmp_path, monkeypatch):
    def no_links(source, target):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", no_links)
    write_whole(tmp_path / "out.csv", "ours", force=False)
    assert (tmp_path / "out.csv").read_text() == "ours"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("name", ["missing/out.csv", "a\0b.csv"])
def test_names_that_cannot_be_written(tmp_path, name):
    with pytest.raises(InvalidInput, match="cannot be written"):
        write_whole(tmp_path / name, "text", force=True)


@pytest.fixture(scope="module")
def adult():
    folder = os.environ.get("TIGHTLIP_ADULT")
    if not folder:
        if os.environ.get("CI") == "true":
            pytest.fail("TIGHTLIP_ADULT must name the folder of the Adult table in CI")
        pytest.skip("set TIGHTLIP_ADULT to the folder with adult.data and adult.test")
    rows = []
    for name in ("adult.data", "adult.test"):
        for line in Path(folder, name).read_text().splitlines():
            if line and not line.startswith("|"):
                rows.append([value.strip() for value in line.removesuffix(".").split(",")])
    return dict(zip(ADULT_COLUMNS, map(list, zip(*rows, strict=True)), strict=True))


def test_adult(adult):
    columns = ["workclass", "education", "race", "sex", "income"]
    counted = tabulate(adult, columns)
    assert (counted.total, counted.domain.size) == (48842, 9 * 16 * 5 * 2 * 2)
    release = release_histogram(adult, columns, Share({"income": ">50K"}), bin_size=1000)
    secret = Share({"income": ">50K"}).on(release.table.domain, 48842)
    assert secret.index(counted.counts) == 11687
    assert secret.index(release.table.counts) == 11500
    assert (release.privacy.ratio, release.exact) == (49, True)
    assert 0.999 < release.distortion.lower <= release.distortion.upper < 1


def test_adult_observed_combinations(adult):
    columns = [name for name in ADULT_COLUMNS if name != "fnlwgt"]
    release = release_histogram(
        adult, columns, Share({"income": ">50K"}), bin_size=48843, feasible="observed"
    )
    assert (release.table.domain.size, release.privacy.ratio) == (42468, 1)
    assert "mis-specified" in release.note


def test_adult_income_by_race(adult, monkeypatch):
    secret = RatioDifference(
        {"income": ">50K"}, {"race": "White"}, {"race": Except("White")}, resolution="1/8"
    )
    release = release_histogram(adult, ["race", "sex", "income"], secret, bin_size=4, seed_for_tests=2)
    grouped = secret.on(release.table.domain, 48842)
    assert (grouped.size, release.privacy.ratio, grouped.index(release.table.counts)) == (17, 5, 10)
