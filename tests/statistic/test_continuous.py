"""Statistic leakage of additive noise: the integral, the taut string and its proof."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import laplace, norm

import tightlip as tl
from tightlip.statistic.continuous import noise_leakage as noise_statistic_leakage
from tightlip.statistic.continuous import noise_resolved_leakage, taut_string


def reached(noise, points):
    density = (
        norm(scale=noise.width).pdf
        if isinstance(noise, tl.noise.Gaussian)
        else laplace(scale=noise.width).pdf
    )
    middles = [(a + b) / 2 for a, b in itertools.pairwise(sorted(points))]
    whole = quad(
        lambda y: max(density(y - t) for t in points), -20, 20, points=[*middles, *points], limit=400
    )
    return math.log(whole[0])


@pytest.mark.parametrize("noise", [tl.noise.Gaussian(0.7), tl.noise.Laplace(0.5)])
def test_points_give_the_integral(noise):
    points = [0.0, 0.3, 1.1]
    found = noise_statistic_leakage(noise, {place: (t, t) for place, t in enumerate(points)})
    assert found.lower <= found.upper
    assert found.upper == pytest.approx(reached(noise, points), abs=1e-8)


ends = st.lists(st.integers(0, 40), min_size=6, max_size=6, unique=True).map(sorted)


@settings(max_examples=25)
@given(ends, st.sampled_from([tl.noise.Gaussian(0.7), tl.noise.Laplace("1/3")]))
def test_no_choice_beats_the_string(cuts, noise):
    intervals = [(Fraction(cuts[2 * i], 10), Fraction(cuts[2 * i + 1], 10)) for i in range(3)]
    found = noise_statistic_leakage(noise, dict(enumerate(intervals)))
    assert 0 <= found.upper - found.lower < 1e-14
    assert all(low <= found.selection[place] <= high for place, (low, high) in enumerate(intervals))
    grids = [np.linspace(float(low), float(high), 7) for low, high in intervals]
    width = float(noise.width)
    for points in itertools.product(*grids):
        steps = np.diff(points) / 2 / width
        mass = 2 * norm.cdf(steps) - 1 if isinstance(noise, tl.noise.Gaussian) else 1 - np.exp(-steps)
        assert math.log(1 + mass.sum()) <= found.upper + 1e-12


def test_string_bends_both_ways():
    intervals = [(Fraction(a), Fraction(b)) for a, b in ((0, 1), (1, 2), (7, 8), (8, 9), (9, 20))]
    assert taut_string(intervals) == [0, 2, 7, 9, 20]


def test_several_intervals():
    regions = {"middle": ("1/4", "3/4"), "outside": [(0, "1/4"), ("3/4", 1)]}
    found = noise_statistic_leakage(tl.noise.Gaussian(1), regions)
    assert found.value == pytest.approx(math.log(2 * norm.cdf(0.375)), abs=1e-9)
    assert set(found.selection) == {"middle", "outside"}
    assert found.in_bits() == pytest.approx(found.upper / math.log(2))


def test_one_region_leaks_nothing():
    assert noise_statistic_leakage(tl.noise.Gaussian(1), {"all": (0, 1)}).upper == 0


@pytest.mark.parametrize("noise", [tl.noise.Gaussian(2), tl.noise.Laplace(2)])
def test_finer_regions_approach_maximal_leakage(noise):
    whole = noise_resolved_leakage(noise, 0, 1)
    fine = noise_statistic_leakage(
        noise, {place: (Fraction(place, 50), Fraction(place, 50)) for place in range(51)}
    )
    assert whole - 1e-3 < fine.upper <= whole


@pytest.mark.parametrize(
    ("regions", "words"),
    [
        ({}, "mapping from secrets"),
        ({"a": (0, 2), "b": (1, 3)}, "must not overlap"),
        ({"a": [(0, 10), (1, 2)], "b": (3, 4)}, "must not overlap"),
        ({"a": (1, 0)}, "low ≤ high"),
        ({"a": (1, 0, 2)}, "interval"),
        ({"a": 3}, "interval"),
        ({"a": (0, math.nan)}, "finite"),
        (
            {"a": [(2 * i, 2 * i) for i in range(65)], "b": [(2 * i + 1, 2 * i + 1) for i in range(65)]},
            "4096",
        ),
    ],
)
def test_refused(regions, words):
    with pytest.raises(tl.errors.InvalidInput, match=words):
        noise_statistic_leakage(tl.noise.Gaussian(1), regions)


def test_not_noise():
    with pytest.raises(tl.errors.WrongType, match="noise must be"):
        noise_statistic_leakage(1.0, {"a": (0, 1)})
