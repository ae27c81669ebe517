"""Figure 1: the curves, and which of two guarantees is the stronger."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from convert_oracle import boxed_lifts, pmc, pml, priors, ratios, unhurried
from tightlip import convert
from tightlip.numeric.quantity import log_of


def test_the_curves_of_figure_1a():
    picture = convert.region(0.2, points=51)
    assert picture.p_min == 0.2
    assert picture.limit == pytest.approx(math.log(1.25), rel=1e-14)
    assert picture.ceiling == pytest.approx(math.log(5), rel=1e-14)
    blue, orange = picture.blue, picture.orange
    assert blue.pml.shape == blue.pmc.shape == orange.pml.shape == orange.pmc.shape == (51,)
    assert (blue.pml[0], blue.pmc[0], orange.pml[0], orange.pmc[0]) == (0, 0, 0, 0)
    np.testing.assert_allclose(blue.pmc, np.log(0.2 / (1 - np.exp(blue.pml) * 0.8)), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(blue.pmc, np.linspace(0, 5, 51), rtol=1e-9)
    np.testing.assert_allclose(
        orange.pml, np.log((1 - np.exp(-orange.pmc) * 0.8) / 0.2), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_array_equal(orange.pmc, np.linspace(0, 5, 51))
    assert (np.diff(blue.pml) > 0).all()
    assert (np.diff(orange.pml) > 0).all()
    assert blue.pml[-1] < picture.limit
    assert orange.pml[-1] < picture.ceiling
    assert (blue.pml[1:] < orange.pml[1:]).all()  # the blue region between them is not empty


def test_the_curves_of_figure_1b_coincide():
    picture = convert.region("1/2", points=21, largest_pmc=3)
    np.testing.assert_allclose(picture.blue.pml, picture.orange.pml, rtol=1e-12)
    assert picture.limit == pytest.approx(math.log(2))
    assert picture.ceiling.ratio == 2


def test_curve_points_are_what_the_conversions_give():
    picture = convert.region(0.3, points=7)
    for leak, cost in zip(picture.blue.pml[1:], picture.blue.pmc[1:], strict=True):
        assert cost == convert.pml_to_pmc(leak, 0.3)
        assert convert.compare(leak, cost, 0.3) == "pml"
    for leak, cost in zip(picture.orange.pml[1:], picture.orange.pmc[1:], strict=True):
        assert leak == convert.pmc_to_pml(cost, 0.3)
        assert convert.compare(leak, cost, 0.3) == "pmc"


def test_beyond_float_resolution_the_blue_curve_is_infinite_not_wrong():
    picture = convert.region(0.3, points=3, largest_pmc=200.0)
    assert picture.blue.pmc[-1] > 30
    assert not np.isnan(picture.blue.pmc).any()


@pytest.mark.parametrize("p_min", [1e-12, 0.01, 0.5])
def test_curves_for_any_mass(p_min):
    picture = convert.region(p_min, points=np.int64(9))
    assert np.isfinite(picture.blue.pmc).all()
    assert (picture.blue.pml <= picture.limit).all()
    assert (picture.orange.pml <= picture.ceiling).all()


def test_arrays_are_read_only():
    curve = convert.region(0.2, points=2).orange
    with pytest.raises(ValueError, match="read-only"):
        curve.pml[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        curve.pmc[0] = 1.0


@pytest.mark.parametrize(
    ("leak", "cost", "p_min", "expected"),
    [
        (0.1, 1.0, 0.2, "pml"),
        (1.5, 0.5, 0.2, "pmc"),
        (0.2, 0.5, 0.2, "neither"),
        (1.0, 9.0, 0.2, "neither"),
        (0.0, 0.0, 0.2, "equivalent"),
        (0.0, 1.0, 0.2, "pml"),
        (1.0, 0.0, 0.2, "pmc"),
        (0.1, math.inf, 0.2, "pml"),
        (1.0, math.inf, 0.2, "pml"),
        (2.0, math.inf, 0.2, "equivalent"),
        (math.inf, math.inf, 0.2, "equivalent"),
        (math.inf, 3.0, 0.2, "pmc"),
        (2.0, 3.0, 0.2, "pmc"),
        (0.3, 0.4, 1, "equivalent"),
        (log_of("10/9"), log_of("9/5"), "1/5", "pml"),
        (log_of("10/9"), log_of("1799/1000"), "1/5", "neither"),
        (log_of("5/2"), log_of(2), "1/4", "pmc"),
        (log_of("2499/1000"), log_of(2), "1/4", "neither"),
        (log_of("5/4"), log_of(1000), "1/5", "neither"),
        (log_of(5), math.inf, "1/5", "equivalent"),
        (log_of("4/3"), log_of("3/2"), "1/2", "equivalent"),
        (log_of("4/3"), log_of("5/3"), "1/2", "pml"),
        (log_of("4/3"), log_of("7/5"), "1/2", "pmc"),
    ],
)
def test_compare(leak, cost, p_min, expected):
    assert convert.compare(leak, cost, p_min) == expected


@unhurried
@given(priors(), ratios(), ratios())
def test_compare_is_if_and_only_if(prior, leak, cost):
    top = min(leak, 1 / min(prior))
    by_pml = pmc(list(boxed_lifts(Fraction(0), top, prior)))
    by_pmc = pml(list(boxed_lifts(1 / cost, None, prior)))
    expected = {
        (True, True): "equivalent",
        (True, False): "pml",
        (False, True): "pmc",
        (False, False): "neither",
    }[by_pml is not None and by_pml <= cost, by_pmc <= leak]
    assert convert.compare(log_of(leak), log_of(cost), min(prior)) == expected


@unhurried
@given(priors(), ratios(), ratios())
def test_floats_off_the_curves_agree_with_exact_levels(prior, leak, cost):
    exact = convert.compare(log_of(leak), log_of(cost), min(prior))
    upper, lower = float(log_of(leak)), float(log_of(cost))
    nudged = {
        convert.compare(upper + a, lower + b, min(prior))
        for a in (-1e-9, 1e-9)
        for b in (-1e-9, 1e-9)
        if upper + a >= 0 and lower + b >= 0
    }
    if len(nudged) == 1 and upper > 1e-6 and lower > 1e-6:
        assert nudged == {exact}
