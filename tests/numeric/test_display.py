"""Short numbers stay on their side."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tightlip.numeric.display import (
    NEGLIGIBLE,
    format_about,
    format_down,
    format_exactly,
    format_python,
    format_sides,
    format_up,
)

anything = st.floats(allow_nan=False, allow_infinity=False)
rationals = st.fractions(min_value=-(10**9), max_value=10**9)
digits = st.integers(1, 17)


@given(st.one_of(anything, rationals), digits)
def test_up_is_above_and_down_is_below_by_less_than_one_digit(value, count):
    low, high = Fraction(Decimal(format_down(value, count))), format_up(value, count)
    if high == "<1e-12":
        assert 0 < value < NEGLIGIBLE
        high = low
    else:
        high = Fraction(Decimal(high))
        assert high >= Fraction(value)
    assert low <= Fraction(value)
    assert high - low <= abs(Fraction(value)) * Fraction(10) ** (1 - count)


@given(anything.filter(lambda value: not 0 < value < NEGLIGIBLE))
def test_seventeen_digits_are_enough_to_find_the_float_again(value):
    assert float(format_up(value, 17)) in {value, math.nextafter(value, math.inf)}


@pytest.mark.parametrize(
    ("value", "up", "down"),
    [
        (0.0, "0", "0"),
        (-0.0, "0", "0"),
        (math.inf, "inf", "inf"),
        (-math.inf, "-inf", "-inf"),
        (1.5, "1.5", "1.5"),
        (100.0, "100", "100"),
        (999999.5, "1000000", "999999"),
        (1e15, "1e+15", "1e+15"),
        (1.25e20, "1.25e+20", "1.25e+20"),
        (5e-324, "<1e-12", "4.94065e-324"),
        (Fraction(1, 3), "0.333334", "0.333333"),
        (Fraction(10**400), "1e+400", "1e+400"),
    ],
)
def test_known_values(value, up, down):
    assert format_up(value) == up
    assert format_down(value) == down


def test_negligible_starts_exactly_at_its_bound():
    assert format_up(math.nextafter(NEGLIGIBLE, 0)) == "<1e-12"
    assert format_up(NEGLIGIBLE) == "1e-12"


@given(rationals.filter(bool), digits)
def test_about_is_within_half_a_digit(value, count):
    shown = Fraction(Decimal(format_about(value, count)))
    assert abs(shown - value) <= abs(value) * Fraction(10) ** (1 - count) / 2


def test_about_beyond_the_float_range():
    assert format_about(Fraction(2, 3 * 10**400)) == "6.66667e-401"
    assert format_about(Fraction(7 * 10**5000)) == "7e+5000"
    assert format_about(0.25) == "0.25"
    assert format_about(Fraction(0)) == "0"


ROUND = st.sampled_from(
    [Fraction(text) for text in ("1/10", "1/8", "1/3", "1/2", "1", "1/100", "3/10", "1e-9", "1e-30")]
)
OFF = st.sampled_from(
    [Fraction(0), *(sign * Fraction(1, 10**power) for power in (7, 17, 30, 40) for sign in (1, -1))]
)
near_round = st.one_of(
    st.builds(lambda number, off: number * (1 + off), ROUND, OFF),
    st.builds(
        lambda number, step: Fraction(math.nextafter(float(number), step)), ROUND, st.sampled_from([0, 9])
    ),
    st.builds(lambda number: Fraction(float(number)), ROUND),
    rationals,
)


@given(near_round, st.booleans())
def test_sides_are_the_number_or_lie_around_it(value, ratios):
    below, above = format_sides(value, ratios=ratios)
    assert Fraction(below) <= value <= Fraction(above)
    assert (below == above) == (Fraction(below) == Fraction(above))
    assert Fraction(above) - Fraction(below) <= abs(value) * Fraction(1, 10**5)
    assert ratios or "/" not in below + above
    told = format_exactly(value)
    assert Fraction(told) == value if " to " not in told else told == " to ".join(format_sides(value))


@given(near_round)
def test_python_reads_what_a_repr_shows(value):
    text = format_python(value)
    if " to " in text:
        assert max(abs(value.numerator), value.denominator) > 10**20
        assert text == format_exactly(value)
    else:
        assert value in ({Fraction(text)} if "/" in text else {Fraction(float(text)), Fraction(text)})


def test_what_is_too_long_to_read_is_told_by_two_numbers():
    long = Fraction(10**5000 + 1, 3 * 10**5000)
    assert format_sides(long) == ("0.333333", "0.333334")
    assert format_exactly(long) == format_python(long) == "0.333333 to 0.333334"
    assert format_exactly(Fraction(1, 10**400)) == "1e-400"
    assert format_exactly(Fraction(10)) == format_about(Fraction(10)) == "10"
