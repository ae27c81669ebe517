"""Every float bound is on its side of the exact value, and close to it."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exact_oracle as oracle
from tightlip.numeric.rounding import (
    TINY,
    UNIT,
    down,
    gamma,
    log_down,
    log_ratio_down,
    log_ratio_up,
    log_up,
    sum_down,
    sum_up,
    tree_sum,
    up,
    widen_down,
    widen_up,
)

finite = st.floats(-1e300, 1e300)
positive = st.one_of(
    st.floats(5e-324, 1e300),
    st.floats(0.5, 2.0),
    st.integers(-50, 50).map(lambda k: 1 + k * 2.0**-52),
    st.sampled_from([5e-324, 2.0**-1022, 1.0, 0.1]),
)
errors = st.one_of(st.floats(0, 0.2499), st.floats(1e-18, 1e-14), st.integers(1, 5000).map(gamma))
many = settings(max_examples=300, deadline=None)


@given(finite, st.integers(0, 5))
def test_up_and_down_count_floats(value, steps):
    assert down(up(value, steps), steps) == value
    assert (up(value, steps) > value) == (steps > 0)
    assert (down(value, steps) < value) == (steps > 0)


def test_one_step_from_one_and_from_zero():
    assert up(1.0) == 1 + 2**-52
    assert down(1.0) == 1 - 2**-53
    assert up(0.0) == TINY
    assert up(math.inf) == math.inf


@given(st.integers(1, 10**7))
def test_gamma_bounds_its_formula_from_above(operations):
    truth = Fraction(operations, 2**53) / (1 - Fraction(operations, 2**53))
    assert truth <= Fraction(gamma(operations)) <= truth * (1 + Fraction(1, 2**49))


@many
@given(positive, errors)
def test_widening_covers_every_true_value_and_little_more(value, relative):
    value = min(value, 1e290)
    high = Fraction(float(widen_up(np.array([value]), relative)[0]))
    low = Fraction(float(widen_down(np.array([value]), relative)[0]))
    stored, error = Fraction(value), Fraction(relative)
    assert high >= stored / (1 - error)
    assert low <= stored / (1 + error)
    slack = stored * (2 * error + Fraction(5, 2**53)) + 2 * Fraction(TINY)
    assert high - stored <= slack
    assert stored - low <= slack
    assert low >= 0


def test_widening_by_nothing_changes_nothing():
    values = np.array([0.0, 0.1, 1.0])
    assert widen_up(values, 0.0).tolist() == [0.0, 0.1, 1.0]
    assert widen_down(values, 0.0).tolist() == [0.0, 0.1, 1.0]
    assert widen_down(np.array([0.0]), 0.1).tolist() == [0.0]


@many
@given(st.lists(st.one_of(finite, st.floats(-1, 1), st.floats(-1e-300, 1e-300)), max_size=40))
def test_sums_are_the_neighbouring_floats_of_the_exact_sum(terms):
    truth = sum(map(Fraction, terms), Fraction(0))
    low, high = sum_down(np.array(terms)), sum_up(np.array(terms))
    assert Fraction(low) <= truth <= Fraction(high)
    assert low == high or up(low) == high
    assert (low == high) == (Fraction(low) == truth)


def test_a_hidden_tail_is_not_lost_in_a_sum():
    terms = np.array([1.0, 1e-300])
    assert sum_up(terms) == up(1.0)
    assert sum_down(terms) == 1.0
    assert sum_down(np.array([1.0, -1e-300])) == down(1.0)


def within(value, other, ulps):
    return abs(value - other) <= ulps * max(math.ulp(value), math.ulp(other))


@many
@given(positive)
def test_logs_bracket_the_truth_closely(value):
    low, high = float(log_down(np.array([value]))[0]), float(log_up(np.array([value]))[0])
    assert oracle.at_most_log(low, Fraction(value))
    assert oracle.at_least_log(high, Fraction(value))
    assert within(low, high, 25)


def test_logs_at_zero_one_and_infinity():
    values = np.array([0.0, 1.0, np.inf])
    for bound in (log_up, log_down):
        assert bound(values).tolist() == [-math.inf, 0.0, math.inf]


@many
@given(positive, positive)
def test_log_ratios_bracket_the_truth_closely(numerator, denominator):
    ratio = Fraction(numerator) / Fraction(denominator)
    a, b = np.array([numerator]), np.array([denominator])
    high, low = float(log_ratio_up(a, b)[0]), float(log_ratio_down(a, b)[0])
    assert oracle.at_least_log(high, ratio)
    assert oracle.at_most_log(low, ratio)
    assert high - low <= 3e-15 * abs(oracle.log(ratio)) + 9e-16


def test_log_ratio_of_equals_is_exactly_zero():
    values = np.array([0.3, 1.0, 5e-324, 1e300])
    assert log_ratio_up(values, values).tolist() == [0.0] * 4
    assert log_ratio_down(values, values).tolist() == [0.0] * 4


def test_log_ratio_with_a_zero_and_out_of_range():
    assert log_ratio_up(np.array([0.5]), np.array([0.0])).tolist() == [math.inf]
    assert log_ratio_down(np.array([0.0]), np.array([0.5])).tolist() == [-math.inf]
    high = float(log_ratio_up(np.array([1.0]), np.array([5e-324]))[0])
    assert oracle.at_least_log(high, 1 / Fraction(5e-324))
    assert high < 744.440071921385


@pytest.mark.parametrize("length", [1, 2, 127, 128, 129, 128**2, 128**2 + 1, 1_000_000])
def test_tree_sum_keeps_its_error_bound(length):
    rng = np.random.default_rng(length)
    values = rng.random((2, length)) ** 20
    sums, error = tree_sum(values)
    for got, row in zip(sums.tolist(), values.tolist(), strict=True):
        # fsum is within u of the exact sum, far inside the bound
        truth = sum(map(Fraction, row)) if length <= 2000 else Fraction(math.fsum(row))
        assert abs(Fraction(got) - truth) <= Fraction(error) * truth
    levels = max(1, math.ceil(math.log(length, 128) - 1e-9))
    assert error <= gamma(128 * levels)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=300))
def test_tree_sum_of_any_non_negative_numbers(terms):
    values = np.array(terms)
    sums, error = tree_sum(values)
    truth = sum(map(Fraction, terms))
    assert abs(Fraction(float(sums)) - truth) <= Fraction(error) * truth
    assert values.tolist() == terms


def test_tree_sum_works_over_the_last_axis_only():
    values = np.arange(24.0).reshape(2, 3, 4)
    sums, _ = tree_sum(values)
    assert sums.tolist() == values.sum(axis=-1).tolist()


def test_the_unit_is_half_the_distance_from_one():
    assert np.finfo(np.float64).eps == 2 * UNIT
