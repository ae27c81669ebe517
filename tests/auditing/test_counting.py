"""An audit whose cells stay in the engine says exactly what the audit in memory says."""

from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

from contract.warnings_of_engines import IGNORED
from tightlip.auditing.counting import Cells
from tightlip.auditing.run import Asked, audit_cells
from tightlip.auditing.sample import SampleMode
from tightlip.errors import InvalidInput
from tightlip.table.plan import planned
from tightlip.table.source import open_table

pytestmark = IGNORED
SMALL = {"max_cells": 5, "max_groups": 5}
ALONE = {"max_groups": 420}  # enough for one secret, not for two together


def people(rows=900, seed=4):
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": draw.integers(0, 8, rows),
            "b": draw.choice(["x", "y", "z", None], rows),
            "c": draw.integers(0, 3, rows).astype(float),
            "s": draw.choice(["flu", "none", "N", None], rows, p=[0.2, 0.6, 0.1, 0.1]),
            "t": draw.integers(0, 3, rows),
            "many": draw.integers(0, 90, rows),
            "w": draw.choice([1.5, 2.0, 10.0], rows),
        }
    )
    frame.loc[::13, "a"] = -9
    frame.loc[frame["a"] == 3, "s"] = "flu"
    return frame


PLANS = {
    "one": {"secret": "s"},
    "budget": {"secret": "s", "budget": "2x"},
    "cap": {"secret": {"s": ["flu"]}, "budget": ["60%", {"s": {"flu": "1.1x"}}]},
    "hidden": {"secret": "s", "min_count": 6, "budget": "1.5x"},
    "not secret": {"secret": "s", "not_secret": {"s": ["N"]}, "budget": "1.5x"},
    "weighted": {"secret": "s", "weight": "w"},
    "weighted and hidden": {"secret": "s", "weight": "w", "min_count": 8},
    "several": {"secret": ["s", "t"], "budget": {"t": "1.2x"}},
    "jointly": {"secret": ["s", "t"], "jointly": True, "budget": "4x"},
    "all": {
        "secret": ["s", "t"],
        "jointly": True,
        "budget": "4x",
        "min_count": 9,
        "not_secret": {"s": ["N"]},
        "missing": {"a": ["-9"]},
        "where": ["t <= 1"],
        "weight": "w",
    },
    "recoded": {"secret": "s", "bins": {"a": 3}, "missing": {"a": ["-9"]}, "suppress": ["c"]},
    "many secrets": {"secret": "many", "release": ["b", "c"], "budget": "3x"},
}


def both(plan, small=SMALL, **asked):
    """The same audit with all counts in memory, and with cells that stay in the engine."""
    policy = planned(**{"release": ["a", "b", "c"]} | plan)
    with open_table(people()) as table:
        found = []
        for limits in ({}, small):
            cells = Cells.of(table, policy, **limits)
            assert (cells.counted is None) == bool(limits)
            kinds = table.under(policy).kinds(policy.columns)
            found.append(audit_cells(cells, Asked.of(policy, skip="remedies", **asked), kinds, code_seed=1))
    return found


def near(value):
    return pytest.approx(value, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "small"), [*((name, SMALL) for name in PLANS), ("several", ALONE), ("jointly", ALONE)]
)
def test_the_engine_finds_what_is_found_in_memory(name, small):
    here, there = both(PLANS[name], small)
    assert (there.total, there.verdict, list(there.views)) == (here.total, here.verdict, list(here.views))
    assert there.deciding.name == here.deciding.name
    for one, two in zip(here.views.values(), there.views.values(), strict=True):
        for found in ("leakage", "prior", "posterior"):
            assert getattr(two.worst, found) == getattr(one.worst, found)
        assert (two.worst.leakage.ratio, two.at_least) == (one.worst.leakage.ratio, one.at_least)
        assert (two.tail, two.ldp, two.pmc.leakage) == (one.tail, one.ldp, one.pmc.leakage)
        assert [share.fraction for share in two.shares] == [share.fraction for share in one.shares]
        assert (two.share_above_budget, two.verdict) == (one.share_above_budget, one.verdict)
        assert (two.people, dict(two.left_out)) == (one.people, dict(one.left_out))
        assert (two.envelope.lower, two.envelope.upper) == (
            near(one.envelope.lower),
            near(one.envelope.upper),
        )
        assert float(two.maximal_leakage) == near(float(one.maximal_leakage))
        assert (two.columns, two.heat) == (one.columns, one.heat)
        assert [effect.without.ratio for effect in two.columns] == [
            effect.without.ratio for effect in one.columns
        ]
        assert cells_of(two) == cells_of(one)
        assert_same_risk(one.risk, two.risk)


def cells_of(view):
    """The kinds of cells that leak most, without their places, which are drawn among equal sizes."""
    worst = [
        (risk.leakage.ratio, risk.size, risk.posterior.fraction, risk.cells) for risk in view.worst_cells
    ]
    return int(view.counted.tally.cells.sum()), sorted(worst)


def assert_same_risk(one, two):
    assert (two.holders, two.found_out, two.by_factor) == (one.holders, one.found_out, one.by_factor)
    assert sorted(two.certainty) == sorted(one.certainty)
    assert two.classical.identity == one.classical.identity
    for field in fields(one.classical):
        old, new = (getattr(risk.classical, field.name) for risk in (one, two))
        assert new == (near(old) if field.name == "entropy_l" else old), field.name


@pytest.mark.parametrize("name", ["one", "budget", "several", "not secret"])
def test_a_sample_is_bounded_alike(name):
    here, there = both(PLANS[name], sample=SampleMode(0.9))
    for one, two in zip(here.views.values(), there.views.values(), strict=True):
        assert float(two.worst.leakage) == near(float(one.worst.leakage))
        assert [float(point.above) for point in two.tail] == near([float(point.above) for point in one.tail])
        assert (two.envelope.lower, two.envelope.upper) == (
            near(one.envelope.lower),
            near(one.envelope.upper),
        )
        assert (two.verdict, two.people) == (one.verdict, one.people)
        assert two.certified.uncertified_cells == one.certified.uncertified_cells
        assert [float(effect.without) for effect in two.columns] == near(
            [float(effect.without) for effect in one.columns]
        )


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (
            {"secret": "s", "randomize": {"b": 1.0}},
            'randomised response .* on "b": .*coarsen or drop columns',
        ),
        ({"secret": ["s", "t"], "statistic": "s"}, "coarsen or drop columns"),
    ],
)
def test_what_needs_cells_in_memory_is_refused_where_they_do_not_fit(plan, message):
    policy = planned(release=["a", "b", "c"], **plan)
    with open_table(people()) as table:
        assert Cells.of(table, policy).counted is not None
        with pytest.raises(InvalidInput, match=message):
            Cells.of(table, policy, **SMALL)


def test_what_only_counts_in_memory_can_give_is_refused():
    _, there = both({"secret": "s"})
    with pytest.raises(InvalidInput, match="a digest needs the counts in memory"):
        there.digest()
    assert there.risks().cells is None
