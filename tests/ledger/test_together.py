"""The account of random sequences of releases is never below what they give away, counted by the definition."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import permutations, product

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tightlip import Policy, log_of, open_table
from tightlip.auditing.joint import Terms
from tightlip.ledger import Declared
from tightlip.ledger.together import measure_together
from tightlip.table.mechanism import RandomizedResponse
from tightlip.table.policy import Released
from tightlip.table.recoding import Bins, Keep

TERMS = Terms.of(Policy("ill", ["age"], budget="2x"))
AGES, SEXES = (1, 4, 12, 15, 23), "ab"


def response(value, values, odds):
    total = odds + len(values) - 1
    return {other: Fraction(odds if other == value else 1, total) for other in values}


# each release as a plan, and by its definition: what it publishes of (ill, age, sex)
RELEASES = {
    "tens": (Policy("ill", [Released("age", Bins(width=10))]), lambda row: {row[1] // 10: Fraction(1)}),
    "shifted": (
        Policy("ill", [Released("age", Bins(width=10, origin=3))]),
        lambda row: {(row[1] - 3) // 10: Fraction(1)},
    ),
    "sex": (Policy("ill", ["sex"]), lambda row: {row[2]: Fraction(1)}),
    "noisy sex": (
        Policy("ill", [Released("sex", Keep(), RandomizedResponse(log_of(3)))]),
        lambda row: response(row[2], SEXES, 3),
    ),
    "tens and noisy sex": (
        Policy(
            "ill", [Released("age", Bins(width=10)), Released("sex", Keep(), RandomizedResponse(log_of(2)))]
        ),
        lambda row: {(row[1] // 10, own): chance for own, chance in response(row[2], SEXES, 2).items()},
    ),
}
sequences = st.lists(st.sampled_from(sorted(RELEASES)), min_size=1, max_size=3)
people = st.lists(
    st.tuples(st.sampled_from("xy"), st.sampled_from(AGES), st.sampled_from(SEXES)), min_size=3, max_size=20
).filter(lambda rows: {row[0] for row in rows} == {"x", "y"} and {row[2] for row in rows} == {"a", "b"})


def opened(rows):
    ill, age, sex = zip(*rows, strict=True)
    return open_table(pa.table({"ill": ill, "age": age, "sex": sex}))


def truth(rows, kernels):
    """The worst e^PML of everything that the kernels publish of a person, and e^LDP; None is infinite."""
    held, joint = defaultdict(Fraction), defaultdict(Fraction)
    for row in rows:
        held[row[0]] += 1
        for outcome in product(*(kernel(row).items() for kernel in kernels)):
            weight = Fraction(1)
            for _, chance in outcome:
                weight *= chance
            joint[row[0], tuple(value for value, _ in outcome)] += weight
    outcomes = {outcome for _, outcome in joint}
    lifts = []
    for outcome in outcomes:
        shown = sum(joint[secret, outcome] for secret in held)
        lifts += [joint[secret, outcome] * len(rows) / held[secret] / shown for secret in held]
    return max(lifts)


def plans_of(names):
    return {str(number): TERMS.judge(RELEASES[name][0]) for number, name in enumerate(names)}


@given(people, sequences)
@settings(max_examples=25)
def test_it_is_exact_where_cells_fit(rows, names):
    with opened(rows) as table:
        found = measure_together(table, TERMS, plans_of(names)).deciding
    true = truth(rows, [RELEASES[name][1] for name in names])
    assert found.upper.ratio == found.lower.ratio == true
    assert found.kept == (true <= 2)


@given(people, sequences)
@settings(max_examples=25)
def test_ends_are_proved_where_cells_do_not_fit(rows, names):
    with opened(rows) as table:
        found = measure_together(table, TERMS, plans_of(names), limits={"max_groups": 1}).deciding
    true = truth(rows, [RELEASES[name][1] for name in names])
    assert found.lower.ratio <= true <= found.upper.ratio
    assert not found.kept or true <= 2


@given(people, sequences, st.sampled_from([2, 3]))
@settings(max_examples=25)
def test_a_release_that_is_known_by_its_ldp_is_covered(rows, names, odds):
    survey = Declared("survey", {"ldp": log_of(odds)})
    with opened(rows) as table:
        found = measure_together(table, TERMS, plans_of(names), [survey]).deciding
    kernels = [RELEASES[name][1] for name in names]
    true = truth(rows, [*kernels, lambda row: response(row[1], AGES, odds)])
    assert true <= found.upper.ratio
    assert found.lower.ratio <= true
    assert not found.kept or true <= 2


@given(people, st.lists(st.sampled_from(sorted(RELEASES)), min_size=2, max_size=3, unique=True))
@settings(max_examples=15)
def test_the_order_does_not_matter(rows, names):
    with opened(rows) as table:
        found = {
            measure_together(table, TERMS, plans_of(order)).deciding.upper.ratio
            for order in permutations(names)
        }
    assert len(found) == 1


@given(people)
@settings(max_examples=20)
def test_the_same_release_again_adds_nothing_unless_it_is_drawn_again(rows):
    with opened(rows) as table:
        once, twice, drawn, again = (
            measure_together(table, TERMS, plans_of(names)).deciding.upper.ratio
            for names in (["tens"], ["tens", "tens"], ["noisy sex"], ["noisy sex"] * 2)
        )
    assert once == twice
    assert drawn <= again


def test_the_upper_end_names_what_it_is_of():
    rows = [("xy"[number % 3 == 0], AGES[number % 5], SEXES[number % 2]) for number in range(30)]
    with opened(rows) as table:
        names = ["noisy sex"] * 3
        found = measure_together(table, TERMS, plans_of(names), limits={"max_groups": 1}).deciding
    assert found.rules.pml.uses[0].name == "the same columns without noise, hiding or recoding cell by cell"


@pytest.mark.parametrize("level", ["nan", -1, 0, float("inf"), 1e-320])
def test_charges_that_are_no_levels_are_refused(level):
    with pytest.raises(ValueError, match="survey"):
        Declared("survey", {"ldp": level})
