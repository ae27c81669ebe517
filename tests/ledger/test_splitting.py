"""Parts of a budget: together they never exceed it, and they use almost all of it."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tightlip import log_of
from tightlip.errors import InvalidInput, PreconditionFailed
from tightlip.ledger.guarantees import Declared
from tightlip.ledger.rules import account
from tightlip.ledger.splitting import split
from tightlip.numeric.ball import log_exceeds
from tightlip.numeric.quantity import Nats, exact_level

budgets = st.one_of(
    st.floats(1e-6, 20),
    st.fractions(Fraction(101, 100), 50, max_denominator=100).map(log_of),
    st.sampled_from(["1/10", "1.5 bits", "log(2)", "factor 9"]),
)
weights = st.one_of(st.integers(1, 6), st.lists(st.integers(1, 5), min_size=1, max_size=5))


def within(ratio, budget):
    """Whether log ratio ≤ budget, decided exactly."""
    level = exact_level(budget, rounding="down")
    if isinstance(level, Nats) and level.ratio is not None:
        return ratio <= level.ratio
    return not log_exceeds(ratio, Fraction(level))


@settings(max_examples=100, deadline=None)
@given(budgets, weights)
def test_parts_multiply_to_at_most_the_budget_and_use_almost_all(budget, parts):
    planned = split(budget, parts)
    product = math.prod(part.level.ratio for part in planned)
    assert within(product, budget)
    assert not within(product * (1 + Fraction(1, 10**12)), budget)
    assert all(Nats.of_ratio(part.level.ratio, "down") == part.level for part in planned)
    if isinstance(parts, list):
        shares = [part.level / planned[0].level * parts[0] for part in planned]
        assert shares == pytest.approx(parts, rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    budgets,
    weights,
    st.sampled_from(["ldp", "maximal_leakage", "pml", "pmc"]),
    st.sampled_from([None, "1/20"]),
)
def test_releases_that_keep_to_their_parts_meet_the_budget(budget, parts, kind, p_min):
    try:
        planned = split(budget, parts, kind, p_min=p_min)
    except PreconditionFailed:
        assert (kind, p_min) == ("pml", "1/20")
        assert within(Fraction(20), budget)
        return
    for acts_on in ("record", "secret"):
        entries = [
            Declared(str(place), {part.kind: part.level}, acts_on=acts_on)
            for place, part in enumerate(planned)
        ]
        found = getattr(account(declared=entries, p_min=p_min), kind).value
        if found.ratio is not None:
            assert within(found.ratio, budget)
        else:  # the account rounds up once, the budget is met before
            assert found <= float(exact_level(budget, rounding="down")) * (1 + 1e-12)


def test_known_prior_leaves_more_ldp():
    assert [part.level.ratio for part in split(log_of(2), 1, "pml", p_min="1/4")] == [3]
    assert [part.level.ratio for part in split(log_of(2), 1, "pmc", p_min="1/4")] == [Fraction(7, 3)]
    assert [(part.kind, part.level.ratio) for part in split(log_of(9), 2, "pmc")] == [("pmc", 3), ("ldp", 3)]


def test_rational_roots_are_taken_exactly():
    assert [part.level.ratio for part in split(log_of("27/8"), [2, 1])] == [Fraction(9, 4), Fraction(3, 2)]
    assert [part.level.ratio for part in split("2 bits", 2, "maximal_leakage")] == [2, 2]


@pytest.mark.parametrize("budget", [0, -1.0, math.nan, math.inf, 1e9, "log(1)", None])
def test_budgets_that_cannot_be_split_are_refused(budget):
    with pytest.raises(InvalidInput, match="budget"):
        split(budget, 2)


@pytest.mark.parametrize("parts", [0, 1.5, [], [1, 0], [1, -1], "2", None, [math.nan]])
def test_parts_that_are_none_are_refused(parts):
    with pytest.raises(InvalidInput, match="parts"):
        split(1.0, parts)


def test_a_budget_that_everything_meets_is_refused():
    with pytest.raises(PreconditionFailed, match="PML"):
        split(log_of(4), 2, "pml", p_min="1/4")
    with pytest.raises(PreconditionFailed, match="PMC"):
        split(log_of(4), 2, "pmc", p_min=1)
