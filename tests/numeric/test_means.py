"""Chernoff bounds: sound against exact binomials, and for numbers between 0 and 1 that are no counts."""

from fractions import Fraction
from math import comb, exp, log

import numpy as np
import pytest

from tightlip.numeric.proportions import lower_means, lower_shares, upper_means, upper_shares

ERROR = 0.05
SHARES = [Fraction(1, 500), Fraction(1, 20), Fraction(1, 3), Fraction(2, 3), Fraction(97, 100)]


@pytest.mark.parametrize("trials", [1, 7, 40])
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("weight", [None, 1.0, 0.25])
def test_a_bound_fails_no_more_often_than_allowed(trials, share, weight):
    allowed = Fraction(ERROR) * (1 if weight is None else Fraction(weight) * share)
    means = np.arange(trials + 1) / trials
    upper, lower = upper_means(means, trials, ERROR, weight), lower_means(means, trials, ERROR, weight)
    chance = [comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(trials + 1)]
    assert sum(p for p, bound in zip(chance, upper, strict=True) if Fraction(float(bound)) < share) <= allowed
    assert sum(p for p, bound in zip(chance, lower, strict=True) if Fraction(float(bound)) > share) <= allowed
    assert (lower <= means).all()
    assert (means <= upper).all()


def test_means_of_numbers_that_are_no_counts():
    """Each number is 0.1, 0.4 or 0.9; exact chances of all sums of six."""
    values, chances = [1, 4, 9], [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)]
    mean = float(sum(v * c for v, c in zip(values, chances, strict=True)) / 10)
    sums = {0: Fraction(1)}
    for _ in range(6):
        step = {}
        for total, chance in sums.items():
            for value, part in zip(values, chances, strict=True):
                step[total + value] = step.get(total + value, 0) + chance * part
        sums = step
    for error in (0.02, 0.2, 0.5):
        found = np.array(list(sums)) / 60
        upper, lower = upper_means(found, 6, error), lower_means(found, 6, error)
        assert sum(c for c, bound in zip(sums.values(), upper, strict=True) if bound < mean) <= error
        assert sum(c for c, bound in zip(sums.values(), lower, strict=True) if bound > mean) <= error


def test_bounds_solve_their_equation_and_are_near_the_exact_ones():
    upper, lower = float(upper_means(0.1, 500, 0.01)), float(lower_means(0.1, 500, 0.01))
    for bound in (upper, lower):
        distance = 0.1 * log(0.1 / bound) + 0.9 * log(0.9 / (1 - bound))
        assert exp(-500 * distance) == pytest.approx(0.01, rel=1e-4)
    assert upper_shares(50, 500, 0.01, weighted=False) < upper < 0.15
    assert 0.06 < lower < lower_shares(50, 500, 0.01, weighted=False)
    assert float(upper_means(0.0, 500, 0.01)) == pytest.approx(1 - 0.01 ** (1 / 500), rel=1e-8)


def test_ends_and_what_cannot_be_proved():
    assert upper_means([1.0, 1.5], 10, 0.05).tolist() == [1.0, 1.0]
    assert lower_means([0.0, 0.05], 10, 0.05, 1.0).tolist() == [0.0, 0.0]
    assert lower_means(1.0, 10, 0.05) == pytest.approx(0.05**0.1)
    assert upper_means(0.2, 10, 1e-300) == 1.0
