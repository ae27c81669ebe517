"""Tails of tables of two by two and of binomial counts, beside their definitions in rationals."""

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tightlip.numeric.two_by_two import lower_binomial_tail, lower_table_tail


def table_tail(count, first, second, total, odds):
    parts = {
        k: comb(first, k) * comb(total - first, second - k) * Fraction(odds) ** k
        for k in range(max(0, first + second - total), min(first, second) + 1)
    }
    return sum(part for k, part in parts.items() if k <= count) / sum(parts.values())


@given(
    st.integers(2, 60),
    st.integers(1, 60),
    st.integers(1, 60),
    st.integers(0, 60),
    st.sampled_from([0.2, 1.0, 3.7]),
)
@settings(max_examples=200)
def test_a_table_s_tail_is_bounded_closely(total, first, second, count, odds):
    first, second = min(first, total), min(second, total)
    count = max(min(count, first, second), first + second - total)
    exact, found = (
        table_tail(count, first, second, total, odds),
        lower_table_tail(count, first, second, total, odds),
    )
    assert found >= exact
    assert found == 1 or found <= exact * (1 + Fraction(1, 10**9))
    assert found < 1 or exact > Fraction(1, 4)  # it is given up at the mode only


@pytest.mark.parametrize("count", [0, 3, 150, 900, 1300])
def test_the_window_leaves_out_nothing_that_matters(count):
    """A window that is much narrower than the range, and counts far below the mode."""
    exact = table_tail(count, 3000, 5000, 9000, 2)
    found = lower_table_tail(count, 3000, 5000, 9000, 2.0)
    assert exact <= found <= max(exact * (1 + Fraction(1, 10**6)), Fraction(1, 10**60))


@given(st.integers(1, 60), st.integers(0, 60), st.floats(0.01, 0.99))
@settings(max_examples=100)
def test_a_binomial_tail_is_bounded_closely(trials, count, share):
    count, p = min(count, trials), Fraction(share)
    exact = sum(comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(count + 1))
    found = lower_binomial_tail(count, trials, share)
    assert found >= exact
    assert found == 1 or found <= exact * (1 + Fraction(1, 10**9))


def test_the_tail_of_a_table_is_the_multinomial_one_given_its_margins():
    """All tables of six draws, from their four probabilities: only the odds ratio is left of them."""
    p11, p10, p01, p00 = Fraction(1, 10), Fraction(1, 5), Fraction(3, 10), Fraction(2, 5)
    mass = {}
    for a in range(7):
        for b in range(7 - a):
            for c in range(7 - a - b):
                ways = comb(6, a) * comb(6 - a, b) * comb(6 - a - b, c)
                mass[a, b, c] = ways * p11**a * p10**b * p01**c * p00 ** (6 - a - b - c)
    given_margins = {key: part for key, part in mass.items() if (key[0] + key[1], key[0] + key[2]) == (3, 3)}
    below = sum(part for key, part in given_margins.items() if key[0] <= 1) / sum(given_margins.values())
    assert below == table_tail(1, 3, 3, 6, p11 * p00 / (p10 * p01))
