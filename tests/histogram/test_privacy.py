"""The result types: which end is which, exact values, bits."""

import math
from fractions import Fraction

import pytest

from tightlip.histogram.privacy import Distortion, Privacy


def test_an_exact_privacy_has_both_ends_and_bits():
    leak = Privacy.of_ratio(Fraction(3), "test")
    assert leak.lower <= math.log(3) <= leak.upper
    assert (leak.lower.rounding, leak.upper.rounding) == ("down", "up")
    assert leak.value == leak.upper
    assert leak.ratio == 3
    assert leak.in_bits() == pytest.approx(math.log2(3), rel=1e-15)
    assert leak.in_bits() >= math.log2(3)


def test_a_tiny_excess_keeps_its_digits():
    leak = Privacy.of_excess(
        lambda field: field.power(Fraction(1, 7), 5000) if field.number(1) else 0, "test"
    )
    assert leak.ratio is None
    assert leak.exact
    assert leak.lower == 0 < leak.upper <= 5e-324
    seventh = Privacy.of_excess(lambda field: field.power(Fraction(6, 7), 2000), "test")
    assert seventh.lower == pytest.approx((6 / 7) ** 2000, rel=1e-12)


def test_ends_that_meet_as_rationals_are_exact():
    met = Privacy.between(lambda f: f.number(2), lambda f: f.number(2), "test", same=False)
    apart = Privacy.between(lambda f: f.number(2), lambda f: f.number(3), "test", same=False)
    assert met.exact
    assert met.ratio == 2
    assert not apart.exact
    assert apart.ratio is None
    assert apart.lower < apart.upper


def test_distortions_round_outward():
    third = Distortion.of(Fraction(1, 3), "test")
    assert Fraction(third.lower) < Fraction(1, 3) < Fraction(third.upper)
    assert third.value == third.upper
    ends = Distortion.between(third, Distortion.of(Fraction(1, 2), ""), "test")
    assert (ends.lower, ends.upper, ends.exact) == (third.lower, 0.5, False)
    assert Distortion.between(third, third, "test").exact
