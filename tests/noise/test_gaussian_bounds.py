"""Bounds (17) and tail (18) against the exact cost of several bounded distributions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tightlip.errors import InvalidInput, WrongType
from tightlip.model.noise import AdditiveNoise, Gaussian
from tightlip.model.secret import BoundedSecret, DiscreteSecret, DistributionSecret, UniformSecret
from tightlip.noise.gaussian_bounds import gaussian_pmc_bounds, gaussian_pmc_tail
from tightlip.noise.pointwise import pmc as noise_pmc

CENTRED = [
    (UniformSecret(-2, 2), 2),
    (DiscreteSecret([-1, 1], ["1/2", "1/2"]), 1),
    (DiscreteSecret([-1, 0, 1], ["0.05", "0.9", "0.05"]), 1),
    (DiscreteSecret([-1, -0.5, 1], ["1/4", "1/3", "5/12"]), 1),
    (DistributionSecret(stats.beta(2, 2, -1, 2)), 1),
    (DistributionSecret(stats.triang(0.5, -3, 6)), 3),
]


@pytest.mark.parametrize(("secret", "bound"), CENTRED)
@pytest.mark.parametrize("sigma", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("y", [-9.0, -1.0, 0.0, 0.3, 2.0, 20.0])
def test_bounds_hold(secret, bound, sigma, y):
    exact = noise_pmc(AdditiveNoise(secret, Gaussian(sigma)), y)
    found = gaussian_pmc_bounds(bound, sigma, y)
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper


def test_the_lower_bound_needs_the_ends():
    """Mean zero on [−1, 1], but only ±½ have mass: the exact cost is below A|y|/σ²."""
    inner = DiscreteSecret([-0.5, 0.5], ["1/2", "1/2"])
    exact = noise_pmc(AdditiveNoise(inner, Gaussian(1)), 0.5)
    assert exact < gaussian_pmc_bounds(1, 1, 0.5).lower
    found = gaussian_pmc_bounds(1, 1, 0.5, ends_in_support=False)
    assert found.lower == 0 <= exact.lower <= exact.upper <= found.upper


def test_the_lower_bound_needs_mean_zero():
    skewed = DiscreteSecret([-1, 1], ["99/100", "1/100"])
    assert noise_pmc(AdditiveNoise(skewed, Gaussian(1)), 1.0) < gaussian_pmc_bounds(1, 1, 1.0).lower


@given(st.floats(0.1, 5), st.floats(0.2, 5), st.floats(-50, 50))
def test_the_range_of_a_bounded_secret_is_never_looser(bound, sigma, y):
    sharp = noise_pmc(AdditiveNoise(BoundedSecret(-bound, bound), Gaussian(sigma)), y)
    assert sharp <= gaussian_pmc_bounds(bound, sigma, y) * (1 + 1e-15)


@pytest.mark.parametrize("end", [1.0, 0.4])
def test_tail_holds_by_sampling(end):
    """The exact cost of a fair coin ±A: log(cosh-type mixture), sampled."""
    rng = np.random.default_rng(3)
    sigma = 1.0
    x = rng.choice([-end, end], size=200_000)
    y = np.abs(x + rng.normal(0, sigma, size=x.size))
    cost = np.logaddexp(0, 2 * end * y / sigma**2) - math.log(2)
    for level in (0.0, 0.5, 1.0, 2.0, 4.0, 6.0):
        share = float((cost > level + end**2 / (2 * sigma**2)).mean())
        assert share <= gaussian_pmc_tail(end, sigma, level) + 3 * math.sqrt(share / x.size)


@settings(max_examples=40)
@given(st.floats(0.1, 3), st.floats(0.3, 3), st.floats(0, 30))
def test_tail_formula(bound, sigma, beta):
    r = (bound / sigma) ** 2
    expected = min(1.0, 2 * math.exp(-(beta**2) / (8 * r * (r + 1))))
    found = gaussian_pmc_tail(bound, sigma, beta)
    assert found >= expected * (1 - 1e-12)
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-300)
    assert found.rounding == "up"


def test_tail_ends():
    assert gaussian_pmc_tail(1, 1, 0) == 1
    assert gaussian_pmc_tail(1, 1, 1e6) == 5e-324
    assert gaussian_pmc_tail(2, 1, 3) == gaussian_pmc_tail("2", "1", "3")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ((0, 1, 1), "bound must be positive, got bound=0.0"),
        ((1, -1, 1), "sigma must be positive, got sigma=-1.0"),
        ((1, 1, math.nan), "must be finite, got nan"),
    ],
)
@pytest.mark.parametrize("function", [gaussian_pmc_bounds, gaussian_pmc_tail])
def test_bad_numbers(function, arguments, parts):
    with pytest.raises(InvalidInput, match=parts):
        function(*arguments)


def test_bad_beta_and_option():
    with pytest.raises(
        InvalidInput, match=r"beta must be at least 0, got beta=-1.0; the threshold on PMC is"
    ):
        gaussian_pmc_tail(1, 1, -1)
    with pytest.raises(WrongType, match="ends_in_support must be True or False, got 1"):
        gaussian_pmc_bounds(1, 1, 1, ends_in_support=1)
