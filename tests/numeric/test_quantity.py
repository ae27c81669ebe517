"""Floats that know their unit, rounding and exact value."""

import copy
import json
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

import exact_oracle as oracle
from tightlip.errors import InvalidInput, WrongType
from tightlip.numeric.quantity import Bound, Nats, Probability, exact_ratio, level, log_of

ratios = st.fractions(min_value=Fraction(1, 10**4), max_value=10**6, max_denominator=10**6)
samples = [
    Nats(0.5),
    Nats(math.inf),
    Nats(0.25, rounding="down"),
    Nats.of_ratio(Fraction(4, 3)),
    Bound(0.25, 0.5, "quadrature"),
    Bound(0.0, math.inf, "search"),
    Probability(0.5),
    Probability.of(Fraction(1, 3), "down"),
]


def fields(value):
    names = ("ratio", "rounding", "lower", "method", "exact")
    return type(value), float(value), {name: getattr(value, name, None) for name in names}


@pytest.mark.parametrize("value", samples, ids=repr)
def test_pickling_and_copying_keep_everything(value):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert fields(pickle.loads(pickle.dumps(value, protocol))) == fields(value)
    assert fields(copy.copy(value)) == fields(value)
    assert fields(copy.deepcopy([value])[0]) == fields(value)


@pytest.mark.parametrize("value", samples, ids=repr)
def test_they_are_floats_to_everyone_else(value):
    plain = float(value)
    assert value == plain
    assert hash(value) == hash(plain)
    assert {value: 1}[plain] == 1
    assert json.loads(json.dumps(value)) == plain
    assert f"{value:.3f}" == f"{plain:.3f}"
    assert type(value + 1) is float
    assert type(-value) is float
    assert np.array([value]).dtype == np.float64
    assert sorted([value, -1.0]) == [-1.0, plain]


def test_how_they_print():
    assert repr(Nats(0.5)) == str(Nats(0.5)) == f"{Nats(0.5)}" == "0.5 nats"
    assert str(Bound(0.4, 0.5, "search")) == "0.5 nats (at least 0.4, by search)"
    assert repr(Probability(0.5)) == "0.5"


def test_nan_is_refused():
    with pytest.raises(InvalidInput, match="leakage must be a number or infinite, got nan"):
        Nats(math.nan)
    with pytest.raises(InvalidInput, match=r"lower must not exceed upper, got lower=nan and upper=1.0"):
        Bound(math.nan, 1.0, "x")
    with pytest.raises(InvalidInput, match=r"probability must be in .*, got nan"):
        Probability(math.nan)


def test_bounds_must_be_in_order():
    assert Bound(0.5, 0.5, "x").upper == 0.5
    assert type(Bound(0.5, Nats(0.5), "x").upper) is float
    with pytest.raises(InvalidInput, match=r"lower must not exceed upper, got lower=0.6 and upper=0.5"):
        Bound(0.6, 0.5, "x")


@pytest.mark.parametrize("value", [-5e-324, 1 + 2**-52, math.inf, -1.0])
def test_probabilities_are_in_the_unit_interval(value):
    with pytest.raises(InvalidInput, match=r"probability must be in \[0, 1\], got "):
        Probability(value)


@given(ratios)
def test_of_ratio_rounds_as_asked(ratio):
    high, low = Nats.of_ratio(ratio), Nats.of_ratio(ratio, "down")
    middle = Nats.of_ratio(ratio, "nearest")
    assert high.ratio == low.ratio == middle.ratio == ratio
    assert (high.rounding, low.rounding, middle.rounding) == ("up", "down", "nearest")
    assert oracle.at_least_log(float(high), ratio)
    assert oracle.at_most_log(float(low), ratio)
    assert math.nextafter(low, math.inf) >= high
    assert middle == oracle.log(ratio)


def bits_of(value):
    if value.ratio is not None:
        return arb(fmpq(value.ratio.numerator, value.ratio.denominator)).log() / arb(2).log()
    return arb(float(value)) / arb(2).log()


@given(
    st.one_of(
        ratios.map(lambda ratio: Nats.of_ratio(ratio, "up")),
        ratios.map(lambda ratio: Nats.of_ratio(ratio, "down")),
        st.floats(1e-300, 1e300).map(Nats),
        st.floats(1e-300, 1e300).map(lambda value: Nats(value, rounding="down")),
    ).filter(bool)
)
def test_bits_round_in_the_same_direction(value):
    bits = value.in_bits()
    assert type(bits) is float
    with ctx.workprec(2000):
        truth, stored = bits_of(value), arb(bits)
        inward = arb(math.nextafter(bits, -math.inf if value.rounding == "up" else math.inf))
        if value.rounding == "up":
            assert stored >= truth or stored.overlaps(truth)
            assert inward < truth
        else:
            assert stored <= truth or stored.overlaps(truth)
            assert inward > truth


@given(st.integers(-50, 50), st.sampled_from(["up", "down", "nearest"]))
def test_a_power_of_two_has_a_whole_number_of_bits(power, rounding):
    assert Nats.of_ratio(Fraction(2) ** power, rounding).in_bits() == power


@given(ratios.filter(lambda ratio: ratio != 1))
def test_nearest_bits(ratio):
    value = Nats.of_ratio(ratio, "nearest")
    with ctx.workprec(300):
        assert value.in_bits() == float(bits_of(value))


def test_bits_of_nothing_and_of_everything():
    assert Nats(0.0).in_bits() == 0.0
    assert Nats(math.inf).in_bits() == math.inf
    assert Bound(0.1, math.inf, "x").in_bits() == math.inf
    assert Bound(0.1, 0.5, "x").in_bits() == Nats(0.5).in_bits()


@given(st.fractions(0, 1), st.sampled_from(["up", "down", "nearest"]))
def test_probability_of_a_rational(exact, rounding):
    found = Probability.of(exact, rounding)
    assert found.fraction == exact
    if rounding == "up":
        assert Fraction(float(found)) >= exact
        assert found == 0 or Fraction(math.nextafter(found, -1)) < exact
    elif rounding == "down":
        assert Fraction(float(found)) <= exact
        assert Fraction(math.nextafter(found, 2)) > exact
    else:
        assert float(found) == float(exact)


def test_probabilities_next_to_zero_and_one():
    tiny = Fraction(1, 10**400)
    assert Probability.of(tiny) == 5e-324
    assert Probability.of(tiny, "down") == 0.0
    assert Probability.of(1 - tiny) == 1.0
    assert Probability.of(1 - tiny, "down") == 1 - 2**-53
    with pytest.raises(InvalidInput, match="probability must be in"):
        Probability.of(1 + tiny)


def test_log_of_is_exact_and_rounded_as_measured_levels_are():
    assert log_of("10/9").ratio == Fraction(10, 9)
    assert log_of(2) == Nats.of_ratio(Fraction(2)) == math.nextafter(math.log(2), 1)
    assert log_of(0.5).ratio == Fraction(1, 2)
    assert log_of(1) == 0.0
    assert log_of("1e400").ratio == 10**400
    for bad in (0, -1, "-1/3"):
        with pytest.raises(
            InvalidInput, match=r"ratio must be positive, got .*; a leakage is log of a ratio"
        ):
            log_of(bad)
    with pytest.raises(WrongType, match="ratio must be a float"):
        log_of(None)


def test_exact_ratio_is_known_for_exact_levels_and_zero():
    assert exact_ratio(log_of("10/9")) == Fraction(10, 9)
    assert exact_ratio(0.0) == exact_ratio(-0.0) == exact_ratio(Nats(0.0)) == 1
    assert exact_ratio(0.5) is None
    assert exact_ratio(Nats(0.5)) is None


@pytest.mark.parametrize("value", [0, 0.0, 1, 0.5, "1/2", Fraction(1, 2), np.float32(0.5), np.int64(3)])
def test_levels_are_read(value):
    found = level(value)
    assert type(found) is float
    assert found == float(Fraction(value) if isinstance(value, str) else value)


def test_an_exact_level_stays_exact():
    epsilon = log_of("10/9")
    assert level(epsilon) is epsilon


def test_infinite_levels_only_where_allowed():
    for value in (math.inf, "inf", " Infinity ", Nats(math.inf), 10**400, "1e400"):
        assert level(value, allow_infinite=True) == math.inf
        with pytest.raises(InvalidInput, match="epsilon must be a finite"):
            level(value)


@pytest.mark.parametrize("value", [-1, -0.5, math.nan, -math.inf, -(10**400), "-1e400"])
def test_negative_and_missing_levels_are_refused(value):
    with pytest.raises(
        InvalidInput, match="budget must be a finite non-negative number of nats, got budget="
    ):
        level(value, "budget")
    with pytest.raises(InvalidInput, match="budget must be a non-negative number of nats, got budget="):
        level(value, "budget", allow_infinite=True)


@pytest.mark.parametrize("value", [True, None, [1], 1j, b"1"])
def test_levels_of_another_type_are_refused(value):
    with pytest.raises(WrongType, match=r'epsilon must be a number of nats, got .*; write log_of\("10/9"\)'):
        level(value)
