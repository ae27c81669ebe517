"""Randomised response on histograms: closed forms against the listed channel, and at any size."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import histogram_oracle as oracle
from exact_oracle import at_least_log, at_most_log
from tightlip.errors import InvalidInput
from tightlip.histogram.randomized_response import RandomizedResponse
from tightlip.histogram.space import HistogramSpace
from tightlip.numeric.quantity import log_of

CENSUS = HistogramSpace(48842, 22381)


@pytest.mark.parametrize("total", range(1, 5))
@pytest.mark.parametrize("cells", range(1, 4))
@pytest.mark.parametrize("growth", [Fraction(1), Fraction(2), Fraction(7, 2), Fraction(50)])
def test_closed_forms_are_those_of_the_channel(total, cells, growth):
    channel = oracle.randomized_response(total, cells, growth)
    response = RandomizedResponse(HistogramSpace(total, cells), ratio=growth)
    assert response.privacy.ratio == oracle.leakage(channel)
    assert response.distortion.upper.fraction == oracle.distortion(channel)
    row = next(iter(channel.items()))
    keep, size = response.keep_probability, len(channel)
    assert row[1][row[0]] == keep + (1 - keep) / size


@pytest.mark.parametrize("growth", [Fraction(3), Fraction(40)])
def test_privacy_holds_for_any_secret_with_that_many_values(growth):
    channel = oracle.randomized_response(3, 3, growth)

    def parity(theta):
        return theta[0] % 2, theta[1] > theta[2]

    values = len({parity(theta) for theta in channel})
    response = RandomizedResponse(HistogramSpace(3, 3), ratio=growth, secrets=values)
    assert response.privacy.ratio == oracle.leakage(channel, parity)


def test_reference_value():
    response = RandomizedResponse(HistogramSpace(10, 4), log_of(50))
    assert response.privacy.in_bits() == pytest.approx(1.3002330238, abs=1e-10)
    assert response.distortion.value == pytest.approx(0.6402985075, abs=1e-10)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.integers(1, 40), st.floats(0, 60))
def test_ends_bracket_the_formula(total, cells, epsilon):
    space = HistogramSpace(total, cells)
    response = RandomizedResponse(space, epsilon)
    low, high = Fraction(math.exp(epsilon) * (1 - 1e-12)), Fraction(math.exp(epsilon) * (1 + 1e-12))

    def leak(growth):
        return (space.size + space.secrets * (growth - 1)) / (space.size + growth - 1)

    assert response.privacy.lower <= response.privacy.upper
    assert at_least_log(response.privacy.upper, leak(max(low, Fraction(1))))
    assert at_most_log(response.privacy.lower, leak(high))
    worst = Fraction(cells - 1, cells)
    assert Fraction(response.distortion.upper) >= worst * space.size / (space.size + high - 1)
    assert Fraction(response.distortion.lower) <= worst * space.size / (space.size + max(low, 1) - 1)


def test_nothing_is_kept_at_epsilon_zero_and_one_cell_tells_nothing():
    silent = RandomizedResponse(CENSUS, 0)
    assert silent.privacy.ratio == 1
    assert silent.distortion.upper.fraction == Fraction(22380, 22381)
    single = RandomizedResponse(HistogramSpace(7, 1), 3.0)
    assert single.privacy.ratio == 1
    assert single.distortion.upper.fraction == 0


def test_large_spaces_need_an_epsilon_near_the_log_of_their_size():
    weak, strong = RandomizedResponse(CENSUS, 100.0), RandomizedResponse(CENSUS, 60000.0)
    assert 0 <= weak.privacy.lower < weak.privacy.upper < 1e-300
    assert weak.distortion.value == pytest.approx(22380 / 22381)
    assert strong.privacy.value == pytest.approx(math.log(48843), rel=1e-12)
    assert strong.distortion.value < 1e-300
    huge = RandomizedResponse(HistogramSpace(10**8, 10**8), 138629425.0)
    assert 0 < huge.privacy.lower <= huge.privacy.upper < math.log(10**8 + 1)
    assert huge.privacy.upper - huge.privacy.lower < 1e-12
    assert 0 < huge.distortion.lower <= huge.distortion.upper < 1


@pytest.mark.parametrize(
    "response",
    [
        RandomizedResponse(HistogramSpace(10, 4), ratio=50),
        RandomizedResponse(HistogramSpace(10, 4), 3.0),
        RandomizedResponse(CENSUS, 44340.0),
        RandomizedResponse(CENSUS, ratio=10**19000),
    ],
    ids=["exact", "float", "census", "census exact"],
)
def test_the_coin_is_known_to_any_number_of_bits(response):
    ends = {bits: response.keep_interval(bits) for bits in (1, 8, 64, 300)}
    low, high = ends[300]
    assert 0 < high - low <= 2
    for bits, (start, stop) in ends.items():
        assert 0 <= start <= stop <= min(start + 2, 1 << bits)
        assert start << (300 - bits) <= low
        assert high <= stop << (300 - bits)
    known = response.keep_probability
    if known is not None:
        assert low <= known * (1 << 300) <= high


@pytest.mark.parametrize("epsilon", [1e18, 1e300, 1.7e308])
def test_absurd_strengths_keep_everything_and_stay_sound(epsilon):
    response = RandomizedResponse(CENSUS, epsilon)
    assert at_least_log(response.privacy.upper, Fraction(48843))
    assert at_most_log(response.privacy.lower, Fraction(48843))
    assert response.privacy.value == pytest.approx(math.log(48843))
    assert 0 <= response.distortion.lower <= response.distortion.upper < 1e-300
    assert response.keep_interval(20) == (2**20 - 1, 2**20)


def test_the_coin_matches_the_formula():
    response = RandomizedResponse(HistogramSpace(6, 3), 2.5)
    low, high = response.keep_interval(40)
    rate = math.exp(2.5) - 1
    assert low / 2**40 == pytest.approx(rate / (28 + rate), rel=1e-10)
    assert high - low == 1


def test_bad_strengths_are_refused():
    with pytest.raises(InvalidInput, match="give one of"):
        RandomizedResponse(CENSUS)
    with pytest.raises(InvalidInput, match="secrets must be a whole number from 1 to 28"):
        RandomizedResponse(HistogramSpace(6, 3), 1.0, secrets=29)
