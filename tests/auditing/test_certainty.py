"""Counts of people by certainty and by factor: one person after the other gives the same."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import classical_oracle as oracle
from classical_example import FAR, counts_of_people, tally_of
from tightlip.auditing.certainty import certainty_of_holders, found_out, people_by_factor
from tightlip.auditing.leakage import cell_pmc, cell_pml
from tightlip.errors import InvalidInput, WrongType

SHARES = st.fractions(Fraction(1, 20), 1, max_denominator=20)
KINDS = st.sampled_from(
    [(1, False), (1, True), (10**10, False), (FAR, True)]
)  # counts times, in Python integers
EDGES = st.sets(SHARES, min_size=1, max_size=4).map(sorted)
FACTORS = st.sets(st.fractions(1, 6, max_denominator=6), min_size=1, max_size=4).map(sorted)


@given(counts_of_people(), SHARES, KINDS)
@settings(max_examples=100, deadline=None)
def test_people_are_found_out_one_by_one(counts, level, kind):
    times, tally = kind[0], tally_of(counts, kind[0], python=kind[1])
    found = found_out(tally, level)
    people = [x for x, q, p, _ in oracle.people_of(counts) if p < level <= q]
    assert found.people == len(people) * times
    assert found.by_secret == tuple(people.count(x) * times for x in range(len(counts)))
    assert found == found_out(tally.by_kind()[0], level)


@given(counts_of_people(), EDGES, KINDS)
@settings(max_examples=100, deadline=None)
def test_holders_are_counted_one_by_one(counts, edges, kind):
    times, tally = kind[0], tally_of(counts, kind[0], python=kind[1])
    for secret in range(len(counts)):
        sure = [q for x, q, _, _ in oracle.people_of(counts) if x == secret]
        expected = tuple(many * times for many in oracle.binned(sure, edges, closed="left"))
        assert certainty_of_holders(tally, secret, edges) == expected
        assert certainty_of_holders(tally.by_kind()[0], secret, edges) == expected


@given(counts_of_people(), FACTORS, KINDS)
@settings(max_examples=100, deadline=None)
def test_factors_are_counted_one_by_one(counts, edges, kind):
    times, tally = kind[0], tally_of(counts, kind[0], python=kind[1])
    factors = [factor for *_, factor in oracle.people_of(counts)]
    expected = tuple(many * times for many in oracle.binned(factors, edges, closed="right"))
    assert people_by_factor(cell_pml(tally), edges) == expected
    assert people_by_factor(cell_pml(tally.by_kind()[0]), edges) == expected


def test_a_cell_that_rules_out_a_secret_is_above_every_factor():
    assert people_by_factor(cell_pmc(tally_of([[3, 0], [1, 2]])), [1, 100]) == (0, 4, 2)


def test_a_float_is_the_rational_it_stores():
    nine_of_ten = tally_of([[9, 1], [1, 9]])
    assert found_out(nine_of_ten, "0.9").people == found_out(nine_of_ten, Fraction(9, 10)).people == 18
    assert found_out(nine_of_ten, 0.9).people == 0


PLAIN = tally_of([[3, 0], [1, 2]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: found_out(PLAIN, 0), "level must be above 0 and at most 1, got 0; write 0.9"),
        (lambda: found_out(PLAIN, "3/2"), 'level must be above 0 and at most 1, got "3/2"'),
        (lambda: certainty_of_holders(PLAIN, 2, ["1/2"]), "secret must be a whole number from 0 to 1, got 2"),
        (lambda: certainty_of_holders(PLAIN, 0, ["1/2", "1/2"]), "edges must rise, got .* sort them"),
        (lambda: certainty_of_holders(PLAIN, 0, []), "edges must rise"),
        (lambda: people_by_factor(cell_pml(PLAIN), ["1/2", 2]), "edges must be at least 1, got 1/2"),
        (lambda: people_by_factor(cell_pml(PLAIN), [2, 1]), "edges must rise"),
    ],
)
def test_what_cannot_be_used_is_refused(call, message):
    with pytest.raises(InvalidInput, match=message):
        call()


def test_a_tally_is_no_leakage():
    with pytest.raises(WrongType, match="gain must be a CellLeakage"):
        people_by_factor(PLAIN, [1, 2])
