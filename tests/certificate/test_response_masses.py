"""Masses are added and compared exactly: floats as what they store, rationals in a common unit."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import distributions
from tightlip.certificate.randomized_response import Masses


def exact(*values):
    return Masses.of(np.array([Fraction(value) for value in values], dtype=object))


def test_sums_and_thresholds_of_floats():
    values = np.array([1.0, 2.0**-60, 2.0**-1074, -1.0, 0.1])
    assert Masses.of(values).total() == sum(Fraction(value) for value in values.tolist())
    tenth = Masses.of(np.array([0.1]))
    assert not tenth.at_most(Fraction(1, 10))[0]  # the float is above one tenth
    assert tenth.below(Fraction(0.1) + Fraction(1, 10**30))[0]
    assert not tenth.below(Fraction(0.1))[0]
    assert tenth.at_most(Fraction(10**400))[0]
    assert not tenth.below(-Fraction(10**400))[0]


@pytest.mark.parametrize("tiny", [Fraction(1, 10**9), Fraction(1, 10**30)])  # 64-bit numbers, and larger ones
def test_rationals_in_units(tiny):
    masses = exact(tiny, "1/3", Fraction(2, 3) - tiny, 0)
    assert masses.values.dtype == (np.int64 if tiny > Fraction(1, 10**18) else object)
    assert masses.total() == 1
    assert [masses[place] for place in range(4)] == [tiny, Fraction(1, 3), Fraction(2, 3) - tiny, 0]
    assert masses.below(Fraction(1, 3)).tolist() == [True, False, False, True]
    assert masses.at_most(Fraction(1, 3)).tolist() == [True, True, False, True]
    assert masses.at_most(Fraction(1, 3) - tiny / 7).tolist() == [True, False, False, True]
    assert masses.below(Fraction(10**40)).all()
    assert not masses.at_most(-Fraction(10**40)).any()
    ranked = masses.sort_positive()
    assert [ranked[place] for place in range(3)] == [tiny, Fraction(1, 3), Fraction(2, 3) - tiny]
    assert (masses.least(), len(ranked)) == (0, 3)
    assert ranked.total(slice(0, 2)) == tiny + Fraction(1, 3)


@given(distributions(6), st.fractions(-1, 2, max_denominator=50))
def test_as_fractions_would(masses, bound):
    found = Masses.of(np.array(masses, dtype=object))
    assert found.below(bound).tolist() == [mass < bound for mass in masses]
    assert found.at_most(bound).tolist() == [mass <= bound for mass in masses]
    assert found.total(found.below(bound)) == sum(mass for mass in masses if mass < bound)
    assert found.positive().tolist() == [mass > 0 for mass in masses]
