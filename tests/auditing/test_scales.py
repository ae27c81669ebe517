"""What scales mean to an audit: ordered t-closeness of secrets with an order, and words about released columns."""

from dataclasses import replace

import pandas as pd
import pytest

import classical_oracle as oracle
import tightlip as tl
from tightlip.auditing.counting import Cells
from tightlip.auditing.run import Asked, audit_cells
from tightlip.report.audit_words import plan_words
from tightlip.table.chain import Chain
from tightlip.table.mapping import Mapping
from tightlip.table.policy import Policy, Released, Secret
from tightlip.table.recoding import Bins, BottomCode, TopCode
from tightlip.table.source import open_table

FRAME = pd.DataFrame(
    {
        "income": [5, 12, 100, 5, 12, 100, 100, 5, 200, -40, 100, 12],
        "grade": ["low", "top", "mid", "low", "mid", "mid", "top", "low", "low", "mid", "top", "mid"],
        "ward": [1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 2, 1],
        "sex": list("mfmfmfmfmfmf"),
    }
)


def by_hand(secrets, order):
    """The ordered distance of secrets, one for each row, by its definition."""
    wards = sorted(set(FRAME["ward"]))
    pairs = list(zip(secrets, FRAME["ward"], strict=True))
    counts = [[pairs.count((secret, ward)) for ward in wards] for secret in order]
    return oracle.ordered_distance(counts, range(len(order)))


def ordered(secret, **scales):
    """What an audit says, with another secret column in front whose order of values is another."""
    found = tl.audit(FRAME, policy=Policy(["sex", secret], ["ward"], scales=scales), code_seed=1)
    name = secret if isinstance(secret, str) else secret.column
    told = found.views[name].risk.classical.t_ordered
    return None if told is None else told.fraction


@pytest.mark.parametrize("scale", ["ordinal", "numeric"])
def test_numbers_are_ordered_by_size(scale):
    order = [-40, 5, 12, 100, 200]
    assert ordered("income", income=scale) == by_hand(FRAME["income"], order)
    assert by_hand(FRAME["income"], order) != by_hand(FRAME["income"], sorted(order, key=str))


def test_bins_with_coded_ends_are_ordered_too():
    secret = Secret("income", Chain([Bins(width=10), BottomCode(0), TopCode(90)]))
    coded = [-1 if value <= 0 else min(value, 90) // 10 for value in FRAME["income"]]
    assert ordered(secret, income="numeric") == by_hand(coded, [-1, 0, 1, 9])


def test_values_are_ordered_as_they_are_listed():
    assert ordered("grade", grade=["low", "mid", "top"]) == by_hand(FRAME["grade"], ["low", "mid", "top"])
    assert ordered("grade", grade=["mid", "low", "top"]) == by_hand(FRAME["grade"], ["mid", "low", "top"])


def test_what_has_no_order_gets_none():
    groups = Mapping({"low": "b", "mid": "a", "top": "a"})
    order = ["low", "mid", "top"]
    assert ordered("income") is None  # a guess gives none
    assert ordered("income", income="nominal") is None
    assert ordered("grade") is None
    assert ordered(Secret("grade", values=["low"]), grade=order) is None
    assert ordered(Secret("grade", groups), grade=order) is None


def test_those_without_a_secret_have_no_place_in_its_order():
    kept = FRAME[FRAME["grade"] != "mid"]
    alone = tl.audit(kept, policy=Policy("grade", ["ward"], scales={"grade": ["low", "top"]}))
    wanted = alone.views["grade"].risk.classical.t_ordered.fraction
    assert ordered(Secret("grade", not_secret=["mid"]), grade=["low", "top"]) == wanted


def test_missing_values_have_no_place_in_an_order():
    frame = FRAME.assign(grade=FRAME["grade"].replace("mid", None))
    policy = Policy("grade", ["ward"], scales={"grade": ["low", "top"]})
    assert tl.audit(frame, policy=policy).views["grade"].risk.classical.t_ordered is None


def test_the_plan_is_told_with_its_scales():
    policy = Policy("sex", ["income", "ward"], scales={"ward": "ordinal"}, min_count=2)
    found = tl.audit(FRAME, policy=policy)
    assert plan_words(found) == [
        "income as it is",
        "ward as it is",
        "scales: income nominal (guessed: 5 distinct whole numbers), ward ordinal (declared)",
        "cells of fewer than 2 rows released as one",
    ]
    assert plan_words(replace(found, counted=None))[2:] == ["cells of fewer than 2 rows released as one"]


def test_cells_that_only_the_engine_has_say_the_same():
    """Hidden cells too: what a mapping joins is hidden together or not at all."""
    wards = Chain([Bins(width=2), Mapping({"[0, 2)": "a", "[2, 4)": "a"})])
    policy = Policy("income", ["sex", Released("ward", wards)], min_count=5, scales={"income": "numeric"})
    with open_table(FRAME) as table:
        kinds = table.under(policy).kinds(policy.columns)
        few = audit_cells(Cells.of(table, policy), Asked.of(policy), kinds)
        many = audit_cells(Cells.of(table, policy, max_cells=1), Asked.of(policy), kinds)
    assert few.counted is not None
    assert many.counted is None
    for one, other in zip(few.views.values(), many.views.values(), strict=True):
        assert (one.worst.leakage, one.tail) == (other.worst.leakage, other.tail)
        assert one.risk.classical == other.risk.classical
        assert one.risk.classical.identity.k == 6
