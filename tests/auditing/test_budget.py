"""Budgets: levels, caps and rules about single values, decided exactly, ties included."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from exact_oracle import at_least_log
from tightlip.auditing.budget import REFERENCE, Budget, Rule
from tightlip.auditing.counted import Counted
from tightlip.auditing.plan import budgets_of
from tightlip.errors import InvalidInput
from tightlip.numeric.budget import Allowed
from tightlip.table.plan import planned


def counted_of(counts, by_kind=False):
    """Secrets "0", "1", … in the rows of a matrix, cells in its columns."""
    counts = np.asarray(counts)
    secret_of, cell_of = np.nonzero(counts)
    found = Counted.of(
        SimpleNamespace(
            secrets=[(str(place),) for place in range(counts.shape[0])],
            cells=[(str(place),) for place in range(counts.shape[1])],
            secret_of=secret_of,
            cell_of=cell_of,
            count=counts[secret_of, cell_of],
        ),
        ["s"],
        ["a"],
    )
    return found.by_kind() if by_kind else found


def budget(*rules):
    """From pairs of what is allowed and values; None is every value."""
    return Budget(
        tuple(
            Rule(Allowed.read(given), None if values is None else frozenset((value,) for value in values))
            for given, values in rules
        )
    )


def lift(counts, secret, cell):
    every = int(counts.sum())
    return Fraction(int(counts[secret, cell]) * every, int(counts[secret].sum()) * int(counts[:, cell].sum()))


def posterior(counts, secret, cell):
    return Fraction(int(counts[secret, cell]), int(counts[:, cell].sum()))


def exceeded(counts, rules):
    """Which cells exceed some rule, by definition in fractions."""
    found = []
    for cell in range(counts.shape[1]):
        over = False
        for given, values in rules:
            for secret in range(counts.shape[0]):
                if values is None or str(secret) in values:
                    over |= beyond(Allowed.read(given), counts, secret, cell)
        found.append(over)
    return found


def beyond(allowed, counts, secret, cell):
    if allowed.kind == "cap":
        return posterior(counts, secret, cell) > allowed.level
    level, reached = allowed.nats(), lift(counts, secret, cell)
    if level.ratio is not None:
        return reached > level.ratio
    return reached > 1 and not at_least_log(float(level), reached)


def matrix(seed):
    counts = np.random.default_rng(seed).integers(0, 5, (3, 12))
    return counts[:, counts.sum(axis=0) > 0] + np.array([[0], [0], [0]])


@pytest.mark.parametrize("seed", range(12))
def test_rules_are_decided_as_by_definition_ties_included(seed):
    counts = matrix(seed)
    pairs = [(secret, cell) for secret, cell in zip(*np.nonzero(counts), strict=True)]
    draw = np.random.default_rng(seed + 100)
    for _ in range(12):
        at = [pairs[place] for place in draw.integers(0, len(pairs), 3)]
        reached, sure = max(lift(counts, *at[0]), Fraction(1)), posterior(counts, *at[1])
        own = max(lift(counts, *at[2]), Fraction(1))
        percent = f"{100 * sure}%"  # exactly what a cell reaches, and no more than allowed
        for rules in (
            [(f"{reached}x", None)],
            [(percent, None)],
            [(f"{own}x", [str(at[2][0])])],
            [(f"{reached}x", None), (percent, [str(at[1][0])]), (f"{own}x", [str(at[2][0])])],
            [("0.3 nats", None)],
            [("0.3 nats", ["1"]), ("1.5 bits", ["0", "2"])],
        ):
            expected = exceeded(counts, rules)
            assert budget(*rules).over(counted_of(counts)).tolist() == expected
            kinds = counted_of(counts, by_kind=True)
            people = int(kinds.tally.of_cell[budget(*rules).over(kinds)].sum())
            assert people == int(counts.sum(axis=0)[np.array(expected)].sum())


@pytest.mark.parametrize("more", [Fraction(0), Fraction(1, 10**30), Fraction(-1, 10**30)])
def test_a_level_or_cap_next_to_what_a_cell_reaches(more):
    counts = np.array([[3, 1], [1, 11]])
    reached, sure = lift(counts, 0, 0), posterior(counts, 0, 0)
    for given in (f"{reached + more}x", f"{100 * (sure + more)}%"):
        rules = [(given, ["0"])]
        assert (
            budget(*rules).over(counted_of(counts)).tolist() == [more < 0, False] == exceeded(counts, rules)
        )


def test_the_level_is_the_smallest_about_every_value():
    found = budget(("3x", None), ("2x", None), ("1.5x", ["0"]), ("50%", None))
    assert found.level.ratio == 2
    assert budget(("50%", None), ("2x", ["0"])).level is None
    assert REFERENCE.level.ratio == 2


def test_twice_as_likely_is_not_more_than_that():
    assert REFERENCE.over(counted_of([[2, 0], [0, 2]])).tolist() == [False, False]
    assert REFERENCE.over(counted_of([[2, 0], [0, 3]])).tolist() == [True, False]


def test_a_cap_that_cannot_be_kept_is_refused():
    counted = counted_of([[3, 3], [1, 5]])  # half of all people have either secret
    budget(("50%", None)).require_possible(counted)
    budget(("50%", ["1"])).require_possible(counted)
    for given in ("49.9999999999999999999999%", "1%"):
        with pytest.raises(
            InvalidInput, match=r'on "s" cannot be kept, since 50 % of all people .* set a factor'
        ):
            budget((given, ["0"])).require_possible(counted)
    rare = counted_of([[9, 9], [1, 1]])
    with pytest.raises(InvalidInput, match=r"the cap of 50 % on .* since 90 % of all people"):
        budget(("50%", None)).require_possible(rare)
    budget(("50%", ["1"])).require_possible(rare)


def test_values_that_do_not_occur_are_refused():
    with pytest.raises(InvalidInput, match=r'budget of "s" must name values that occur, got "7"'):
        budget(("2x", ["1", "7"])).require_possible(counted_of([[1, 1], [1, 1]]))


def test_a_plan_has_the_budget_of_each_secret():
    plan = planned(
        {"ill": ["flu", "hiv"], "rich": []},
        ["age"],
        budget=["3x", {"ill": ["2x", "50%", {"hiv": "10%"}]}],
        jointly=True,
    )
    found = budgets_of(plan)
    assert list(found) == [("ill", "rich"), ("ill",), ("rich",)]
    told = {
        subject: [(rule.allowed.given, rule.labels) for rule in own.rules] for subject, own in found.items()
    }
    both = frozenset({("flu",), ("hiv",)})
    assert told[("ill", "rich")] == told[("rich",)] == [("3x", None)]
    assert told[("ill",)] == [("3x", None), ("2x", None), ("50%", both), ("10%", frozenset({("hiv",)}))]
    alone = budgets_of(planned(["ill", "rich"], ["age"], budget={"ill": "2x"}))
    assert list(alone) == [("ill",)]
