"""Enclosures contain the value and are one float wide."""

import math
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, given
from hypothesis import strategies as st

import exact_oracle as oracle
from tightlip.errors import NumericalFailure
from tightlip.numeric import ball as module
from tightlip.numeric.ball import (
    ball,
    enclose,
    exp_bounds,
    log_bounds,
    log_exceeds,
    nearest,
    round_down,
    round_up,
)

finite = st.floats(allow_nan=False, allow_infinity=False)
ratios = st.one_of(
    st.fractions(min_value=Fraction(1, 10**6), max_value=10**6, max_denominator=10**6),
    st.floats(5e-324, 1e308).map(Fraction),
    st.integers(1, 10**9).map(lambda n: 1 + Fraction(1, n**9)),
    st.integers(1, 10**9).map(lambda n: 1 - Fraction(1, n**9 + 1)),
)


def adjacent(low, high):
    return low == high or math.nextafter(low, math.inf) == high


@given(st.fractions())
def test_a_rational_is_bracketed_by_its_two_neighbours(value):
    low, high = enclose(lambda: ball(value))
    assert Fraction(low) <= value <= Fraction(high)
    assert adjacent(low, high)


@given(finite)
def test_a_float_is_its_own_bracket(value):
    assert enclose(lambda: ball(value)) == (value, value)


@given(ratios)
def test_log_is_bracketed_tightly(ratio):
    low, high = log_bounds(ratio)
    assert oracle.at_most_log(low, ratio)
    assert oracle.at_least_log(high, ratio)
    assert adjacent(low, high) or adjacent(low, math.nextafter(high, low))  # close to a float it straddles it


@given(st.floats(-800, 800))
def test_exp_is_bracketed_tightly(exponent):
    low, high = exp_bounds(exponent)
    with ctx.workprec(2000):
        truth = arb(exponent).exp()
        assert arb(low) <= truth
        assert math.isinf(high) or arb(high) >= truth
    assert adjacent(low, high) or adjacent(low, math.nextafter(high, low))  # near e^0 = 1 it straddles 1


def test_exp_at_the_ends_of_the_float_range():
    assert exp_bounds(0.0) == (1.0, 1.0)
    assert exp_bounds(-0.0) == (1.0, 1.0)
    assert exp_bounds(-1e300) == (0.0, 5e-324)
    assert exp_bounds(710.0) == (1.7976931348623157e308, math.inf)
    assert exp_bounds(-math.inf) == (0.0, 0.0)
    with pytest.raises(NumericalFailure, match="could not be enclosed"):
        exp_bounds(math.inf)


def test_log_of_one_is_exactly_zero_and_of_less_than_nothing_is_refused():
    assert log_bounds(Fraction(1)) == (0.0, 0.0)
    for ratio in (Fraction(0), Fraction(-1, 3)):
        with pytest.raises(NumericalFailure, match="ratio must be positive to have a logarithm, got "):
            log_bounds(ratio)


def test_cancellation_costs_precision_not_truth():
    tiny = Fraction(1, 10**300)
    low, high = enclose(lambda: (ball(1) + ball(tiny)).log())
    assert Fraction(low) <= tiny
    assert Fraction(high) >= tiny - tiny * tiny
    assert adjacent(low, high)


def test_a_zero_that_is_never_recognised_is_still_bracketed(monkeypatch):
    monkeypatch.setattr(module, "_MAX_BITS", 256)
    low, high = enclose(lambda: ball(4).log() - 2 * ball(2).log())
    assert low < 0 < high
    assert high - low < 1e-70


def test_an_expression_outside_its_domain_is_refused(monkeypatch):
    monkeypatch.setattr(module, "_MAX_BITS", 96)
    with pytest.raises(NumericalFailure, match="96 bits, got nan; move the arguments"):
        enclose(lambda: ball(-1).log())


@given(st.fractions(), st.integers(1, 400))
def test_rounding_a_wide_ball_covers_all_of_it(value, exponent):
    wide = ball(value) + arb(0, fmpq(1, 2**exponent))
    assert arb(round_down(wide)) <= wide.lower()
    assert arb(round_up(wide)) >= wide.upper()


@given(st.fractions())
def test_nearest_is_what_python_rounds_to(value):
    assume(float(value) != 0 or value == 0)
    with ctx.workprec(4000):
        low, high = float(value), nearest(lambda: ball(value))
    assert low == high


def test_nearest_gives_up_at_a_tie_with_one_of_the_two(monkeypatch):
    monkeypatch.setattr(module, "_MAX_BITS", 256)
    tie = 1 + Fraction(1, 2**53)
    found = nearest(lambda: ball(tie) + ball(2).log() - ball(2).log())
    assert found in {1.0, math.nextafter(1.0, 2)}


@given(ratios, finite)
def test_log_exceeds_decides_like_the_oracle(ratio, threshold):
    assert log_exceeds(ratio, threshold) == (not oracle.at_least_log(threshold, ratio))


@given(ratios)
def test_log_exceeds_decides_between_neighbouring_floats(ratio):
    low, high = log_bounds(ratio)
    assume(low != high)
    assert log_exceeds(ratio, low)
    assert not log_exceeds(ratio, high)


def test_log_exceeds_at_zero_and_at_the_infinities():
    assert not log_exceeds(Fraction(1), 0.0)
    assert not log_exceeds(Fraction(1), -0.0)
    assert log_exceeds(1 + Fraction(1, 10**400), 0.0)
    assert not log_exceeds(1 - Fraction(1, 10**400), 0.0)
    assert log_exceeds(Fraction(1, 3), -math.inf)
    assert not log_exceeds(Fraction(10**400), math.inf)


def test_log_exceeds_says_when_it_cannot_decide(monkeypatch):
    monkeypatch.setattr(module, "_MAX_BITS", 96)
    with ctx.workprec(4000):
        close = arb(0.5).exp().mid()
        mantissa, exponent = close.man_exp()
    ratio = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    with pytest.raises(NumericalFailure, match="could not decide"):
        log_exceeds(ratio, 0.5)
