"""Worst pointwise maximal cost of Laplace noise, on one value and on a mean."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tightlip.errors import InvalidInput, WrongType
from tightlip.model.noise import AdditiveNoise, Gaussian, Laplace
from tightlip.model.secret import (
    BoundedSecret,
    DiscreteSecret,
    DistributionSecret,
    GaussianSecret,
    UniformSecret,
)
from tightlip.noise.pointwise import pmc as noise_pmc
from tightlip.noise.pointwise import pml as noise_pml
from tightlip.noise.sample_mean import cumulant, laplace_mean_pmc
from tightlip.noise.sample_mean import pmc_supremum as noise_pmc_supremum


@pytest.mark.parametrize(
    ("data", "expected"),
    [(UniformSecret(0, 1), 0.5413248546), (DiscreteSecret([0, 1], ["0.7", "0.3"]), 0.7897280436)],
)
def test_references(data, expected):
    found = laplace_mean_pmc(data, 2, 0.5)
    assert found == pytest.approx(expected, abs=5e-11)
    assert found.upper - found.lower < 1e-15


@pytest.mark.parametrize(
    ("data", "mean"),
    [
        (UniformSecret(-1, 2), 0.5),
        (DiscreteSecret([0, 1, 5], ["0.5", "0.3", "0.2"]), 1.3),
        (DistributionSecret(stats.beta(2, 5)), 2 / 7),
    ],
)
@pytest.mark.parametrize(("n", "scale"), [(1, 1.0), (3, 0.2)])
def test_it_equals_the_cumulant_form(data, mean, n, scale):
    """(13) and (14): max{(μ−c)/(nb) + K(1/nb), (d−μ)/(nb) + K(−1/nb)}."""
    low, high = (float(end) for end in data.support)
    t = 1 / (n * scale)
    right = (mean - low) * t + cumulant(data, t)
    left = (high - mean) * t + cumulant(data, -t)
    tolerance = 1e-3 if isinstance(data, DistributionSecret) else 1e-12
    assert laplace_mean_pmc(data, n, scale) == pytest.approx(max(left, right), abs=tolerance)


def brute_force(points, masses, n, scale, y):
    """PMC(X_1 → y) by summing over all databases."""
    rows = [0.0] * len(points)
    for database in product(range(len(points)), repeat=n):
        weight = math.prod(masses[k] for k in database[1:])
        mean = sum(points[k] for k in database) / n
        rows[database[0]] += weight * math.exp(-abs(y - mean) / scale)
    return math.log(sum(p * r for p, r in zip(masses, rows, strict=True)) / min(rows))


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("scale", [0.03, 0.4, 2.0])
def test_the_supremum_over_outcomes_by_brute_force(n, scale):
    points, masses = [0.0, 0.2, 1.0], [0.6, 0.1, 0.3]
    found = laplace_mean_pmc(DiscreteSecret(points, masses), n, scale)
    outcomes = [brute_force(points, masses, n, scale, y) for y in np.linspace(-0.5, 1.5, 81)]
    assert max(outcomes) == pytest.approx(found, rel=1e-10)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=2, max_size=4), st.integers(1, 3), st.floats(0.05, 3))
def test_no_outcome_exceeds_it(weights, n, scale):
    points = [0.0, 0.1, 0.7, 1.0][: len(weights)]
    masses = [w / sum(weights) for w in weights]
    found = laplace_mean_pmc(DiscreteSecret(points, masses), n, scale)
    for y in np.linspace(-0.3, 1.3, 17):
        assert brute_force(points, masses, n, scale, y) <= found * (1 + 1e-9) + 1e-12
    assert found <= laplace_mean_pmc(BoundedSecret(0, points[-1]), n, scale) * (1 + 1e-15)


def test_bounded_data_have_the_differential_privacy_value():
    found = laplace_mean_pmc(BoundedSecret(-1, 2), 3, 0.5)
    assert (found.lower, found.upper) == (0.0, 2.0)
    rare = DiscreteSecret([-1, 2], ["1/1000000000", "999999999/1000000000"])
    assert laplace_mean_pmc(rare, 3, 0.5) == pytest.approx(2.0, abs=1e-7)


@pytest.mark.parametrize("distribution", [stats.uniform(0, 1), stats.beta(1, 1)])
def test_uniform_lies_in_its_bracket(distribution):
    closed, around = (
        laplace_mean_pmc(UniformSecret(0, 1), 2, 0.5),
        laplace_mean_pmc(DistributionSecret(distribution), 2, 0.5),
    )
    assert around.lower <= closed <= around.upper <= around.lower + 2e-4


def test_ends_that_are_not_essential_lower_only_the_lower_end():
    late = DistributionSecret(stats.rv_histogram(([0, 1], [0, 1, 2]), density=True)())
    true = laplace_mean_pmc(UniformSecret(1, 2), 1, 1.0)
    found = laplace_mean_pmc(late, 1, 1.0)
    assert found.lower <= true <= found.upper
    assert found.upper == pytest.approx(true + 1, abs=1e-3)


@pytest.mark.parametrize(
    "data", [GaussianSecret(1), DistributionSecret(stats.expon()), DistributionSecret(stats.norm())]
)
def test_unbounded_data(data):
    found = laplace_mean_pmc(data, 10, 1)
    assert found.lower == math.inf
    assert found.method.startswith("infinite: the data are unbounded")


def test_constant_data():
    constant = DiscreteSecret([2, 3], [1, 0])
    assert laplace_mean_pmc(constant, 1, 1) == 0
    for noise in (Gaussian(1), Laplace(1)):
        assert noise_pmc_supremum(AdditiveNoise(constant, noise)) == 0


@pytest.mark.parametrize(
    ("secret", "lower"),
    [
        (UniformSecret(0, 1), math.inf),
        (GaussianSecret(1), math.inf),
        (DiscreteSecret([0, 1], [0.5, 0.5]), math.inf),
        (BoundedSecret(0, 1), 0.0),
    ],
)
def test_gaussian_noise_has_no_finite_supremum(secret, lower):
    found = noise_pmc_supremum(AdditiveNoise(secret, Gaussian(1)))
    assert (found.lower, found.upper) == (lower, math.inf)
    assert found.method.startswith("infinite: ")


@settings(max_examples=30)
@given(st.floats(-20, 20), st.floats(0.2, 3))
def test_the_supremum_is_reached_outside_the_range(y, scale):
    release = AdditiveNoise(UniformSecret(-1, 2), Laplace(scale))
    worst = noise_pmc_supremum(release)
    assert noise_pmc(release, y).lower <= worst
    assert noise_pmc(release, 2.0 + abs(y)) == pytest.approx(worst, rel=1e-13)
    assert noise_pmc_supremum(AdditiveNoise(BoundedSecret(-1, 2), Laplace(scale))) >= worst


@pytest.mark.parametrize(
    ("n", "error", "parts"),
    [
        (0, InvalidInput, "n must be a whole number of at least 1, got 0"),
        (2.0, WrongType, "n must be a whole number"),
        (True, WrongType, "True"),
    ],
)
def test_bad_counts(n, error, parts):
    with pytest.raises(error, match=parts):
        laplace_mean_pmc(UniformSecret(0, 1), n, 1.0)


def test_bad_data_and_scale():
    with pytest.raises(WrongType, match="data must be one of"):
        laplace_mean_pmc([0, 1], 2, 1.0)
    with pytest.raises(InvalidInput, match=r"scale must be positive, got scale=0.0"):
        laplace_mean_pmc(UniformSecret(0, 1), 2, 0)
    with pytest.raises(WrongType, match="release must be an AdditiveNoise"):
        noise_pmc_supremum(UniformSecret(0, 1))


@pytest.mark.parametrize(
    "measured",
    [
        lambda data, **options: laplace_mean_pmc(data, 2, "0.5", **options),
        lambda data, **options: cumulant(data, 1.0, **options),
        lambda data, **options: noise_pml(AdditiveNoise(data, Laplace(1)), 0.5, **options),
    ],
)
def test_a_bracket_wider_than_asked_says_so(measured):
    data = DistributionSecret(stats.beta(2, 2))
    kept = measured(data, tolerance=1e-3)
    assert kept.upper - kept.lower <= 2e-3
    assert "wide" not in kept.method
    wide = measured(data, tolerance=1e-7)
    assert wide.upper - wide.lower > 1e-6
    assert "nats wide, not" in wide.method
