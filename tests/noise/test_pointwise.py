"""PML, PMC and information density of additive noise, against quadrature and in the far tails."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from noise_oracle import density_at, log_gaussian_density_far, noise_law
from tightlip.errors import InvalidInput, WrongType
from tightlip.model.noise import AdditiveNoise, Gaussian, Laplace
from tightlip.model.secret import (
    BoundedSecret,
    DiscreteSecret,
    DistributionSecret,
    GaussianSecret,
    UniformSecret,
)
from tightlip.noise.kernel import PointKernel
from tightlip.noise.pointwise import information_density as noise_information_density
from tightlip.noise.pointwise import largest
from tightlip.noise.pointwise import pmc as noise_pmc
from tightlip.noise.pointwise import pml as noise_pml

NOISES = [Gaussian(0.7), Laplace(0.7)]
SECRETS = [
    GaussianSecret(1.3, 0.5),
    UniformSecret(-1, 2),
    DiscreteSecret([-1, 0.25, 2], ["0.2", "0.3", "0.5"]),
    DistributionSecret(stats.beta(2, 5)),
    DistributionSecret(stats.expon(1)),
    DistributionSecret(stats.triang(0.3, -1, 4)),
]


def close(bound, expected, slack=1e-9):
    assert bound.lower - slack <= expected <= bound.upper + slack
    assert bound.upper - bound.lower <= 2e-4


@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: type(secret).__name__)
@pytest.mark.parametrize("y", [-2.0, 0.3, 1.7, 4.0])
def test_every_pair_against_quadrature(secret, noise, y):
    release = AdditiveNoise(secret, noise)
    density, law = density_at(secret, noise, y), noise_law(noise)
    low, high = (float(end) for end in secret.support)
    points = (
        [float(x) for x in secret.points] if isinstance(secret, DiscreteSecret) else [min(max(y, low), high)]
    )
    close(noise_pml(release, y), math.log(max(law.pdf(y - x) for x in points) / density))
    x = points[0]
    close(noise_information_density(release, x, y), math.log(law.pdf(y - x) / density))
    if math.isfinite(low) and math.isfinite(high):
        worst = min(law.pdf(y - low), law.pdf(y - high))
        close(noise_pmc(release, y), math.log(density / worst))


@given(st.floats(0.1, 10), st.floats(0.1, 10), st.floats(-50, 50), st.floats(-5, 5))
def test_gaussian_pair_formula(sigma_x, sigma_n, y, mean):
    found = noise_pml(AdditiveNoise(GaussianSecret(sigma_x, mean), Gaussian(sigma_n)), y)
    variance = sigma_x**2 + sigma_n**2
    expected = math.log1p((sigma_x / sigma_n) ** 2) / 2 + (y - mean) ** 2 / (2 * variance)
    assert found == pytest.approx(expected, rel=1e-12)
    assert found.method.startswith("closed form")


def test_exact_parameters_are_used_exactly():
    third = noise_pml(AdditiveNoise(GaussianSecret("1/3"), Gaussian("1/3")), "1/3")
    assert third.lower <= math.log(2) / 2 + 0.25 <= third.upper
    assert third.upper - third.lower < 2e-16


@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize(
    "secret", [GaussianSecret(1), DistributionSecret(stats.norm()), DistributionSecret(stats.expon())]
)
def test_unbounded_secrets_have_infinite_cost(secret, noise):
    found = noise_pmc(AdditiveNoise(secret, noise), 0.0)
    assert found == found.lower == math.inf
    assert found.method.startswith("infinite: the secret is unbounded")


@pytest.mark.parametrize("y", [0.0, 1.0, 2.5, 6.0, 15.0])
def test_laplace_noise_on_a_gaussian_secret_against_rigorous_quadrature(y):
    found = noise_pml(AdditiveNoise(GaussianSecret(1.5), Laplace(0.5)), y)
    assert found == pytest.approx(-log_gaussian_density_far(y, 1.5, 0.5), rel=1e-13)


@pytest.mark.parametrize("y", [40.0, -40.0, 1e4, 1e8])
def test_far_outcomes_stay_finite_and_right(y):
    both = noise_pml(AdditiveNoise(GaussianSecret(1), Gaussian(1)), y)
    assert both == pytest.approx(math.log(2) / 2 + y * y / 4, rel=1e-15)
    tail = noise_pml(AdditiveNoise(GaussianSecret(1), Laplace(1)), y)
    assert tail == pytest.approx(abs(y) - 0.5, rel=1e-14)
    uniform = AdditiveNoise(UniformSecret(-1, 1), Laplace(1))
    assert noise_pmc(uniform, y) == pytest.approx(math.log(math.expm1(2) / 2), rel=1e-14)
    coin = AdditiveNoise(DiscreteSecret([-1, 1], [0.5, 0.5]), Gaussian(1))
    assert noise_pmc(coin, y) == pytest.approx(2 * abs(y) - math.log(2), rel=1e-14)
    assert noise_pml(coin, y) == pytest.approx(math.log(2), rel=1e-14)


@pytest.mark.parametrize("y", [40.0, 1e4])
def test_far_uniform_with_gaussian_noise(y):
    """f_Y·(h − l) = Q(y − 1) − Q(y + 1), here with precision instead of care."""
    found = noise_pml(AdditiveNoise(UniformSecret(-1, 1), Gaussian(1)), y)
    with ctx.workprec(300):
        root = arb(2).sqrt()
        mass = ((arb(y) - 1) / root).erfc() / 2 - ((arb(y) + 1) / root).erfc() / 2
        peak = (-((arb(y) - 1) ** 2) / 2).exp() / (2 * arb.pi()).sqrt()
        expected = (2 * peak / mass).log()
        assert arb(found.lower) <= expected <= arb(found.upper)
    assert found.upper - found.lower < 1e-14


@pytest.mark.parametrize(("y", "width"), [(40.0, 2e-3), (100.0, 4e-3)])
def test_far_outcomes_of_a_distribution(y, width):
    found = largest(PointKernel(Gaussian(1), y), DistributionSecret(stats.norm()), 1e-4)
    assert found.lower <= math.log(2) / 2 + y * y / 4 <= found.upper
    assert found.upper - found.lower < width


@settings(max_examples=12, deadline=None)
@given(st.floats(-6, 6), st.floats(0.2, 3), st.sampled_from([Gaussian, Laplace]))
def test_uniform_lies_in_its_bracket(y, width, noise):
    closed = AdditiveNoise(UniformSecret(-1, 1), noise(width))
    bracketed = AdditiveNoise(DistributionSecret(stats.uniform(-1, 2)), noise(width))
    for measure in (noise_pml, noise_pmc):
        inside, around = measure(closed, y), measure(bracketed, y)
        assert around.lower <= inside.upper
        assert inside.lower <= around.upper
        assert "Stieltjes" in around.method


MASSES = st.lists(st.integers(1, 20), min_size=2, max_size=6)


@given(MASSES, st.floats(-8, 8), st.sampled_from([Gaussian(1), Laplace("1/3")]))
def test_discrete_secrets(weights, y, noise):
    masses = [Fraction(w, sum(weights)) for w in weights]
    release = AdditiveNoise(DiscreteSecret(range(len(weights)), masses), noise)
    pml, pmc = noise_pml(release, y), noise_pmc(release, y)
    assert 0 <= pml.lower <= pml.upper <= math.log(1 / min(masses)) * (1 + 1e-15)
    assert 0 <= pmc.lower <= pmc.upper
    densities = [noise_information_density(release, x, y) for x in range(len(weights))]
    assert max(densities) == pytest.approx(pml, abs=1e-12)
    assert -min(densities) == pytest.approx(pmc, abs=1e-12)
    assert sum(float(p) * math.exp(i) for p, i in zip(masses, densities, strict=True)) == pytest.approx(
        1, rel=1e-9
    )


def test_nothing_leaks_when_the_outcome_cannot_tell():
    coin = DiscreteSecret(["1/3", 1], ["1/7", "6/7"])
    for noise in (Gaussian("1/3"), Laplace("1/3")):
        found = noise_pml(AdditiveNoise(coin, noise), "2/3")
        assert (found.lower, found.upper) == (0.0, 0.0)
        assert noise_pmc(AdditiveNoise(DiscreteSecret([5], [1]), noise), 0.3) == 0


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.integers(-10, 10), st.integers(1, 50)), min_size=1, max_size=5),
    st.floats(-30, 30),
    st.sampled_from([Gaussian(3), Laplace(4)]),
)
def test_bounded_secrets_cover_every_distribution(atoms, y, noise):
    weights = dict(atoms)
    total = sum(weights.values())
    inside = AdditiveNoise(
        DiscreteSecret(list(weights), [Fraction(w, total) for w in weights.values()]), noise
    )
    anything = AdditiveNoise(BoundedSecret(-10, 10), noise)
    for measure in (noise_pml, noise_pmc):
        assert 0 == measure(anything, y).lower <= measure(inside, y).lower
        assert measure(inside, y).upper <= measure(anything, y).upper * (1 + 1e-15)
    x = next(iter(weights))
    outer, inner = noise_information_density(anything, x, y), noise_information_density(inside, x, y)
    assert outer.lower <= inner.upper
    assert inner.lower <= outer.upper


@pytest.mark.parametrize("measure", [noise_pml, noise_pmc])
def test_the_bounded_range_is_approached(measure):
    """Nearly all mass at the far (PML) or near (PMC) end."""
    rare = Fraction(1, 10**9)
    ends = [1 - rare, rare] if measure is noise_pml else [rare, 1 - rare]
    found = measure(AdditiveNoise(DiscreteSecret([-1, 1], ends), Gaussian(1)), 2.0)
    assert measure(AdditiveNoise(BoundedSecret(-1, 1), Gaussian(1)), 2.0) == 4.0
    assert found == pytest.approx(4.0, abs=1e-6)


def test_a_gap_in_the_support_lowers_only_the_lower_end():
    gap = DistributionSecret(stats.rv_histogram(([1, 0, 1], [0, 1, 2, 3]), density=True)())
    found = noise_pml(AdditiveNoise(gap, Laplace(1)), 1.5)
    density = 0.5 * 2 * (math.exp(-0.5) - math.exp(-1.5))
    assert found.lower <= math.log(math.exp(-0.5) / density) <= found.upper
    assert found.upper == pytest.approx(math.log(1 / density), abs=1e-4)


def test_an_end_without_mass_lowers_only_the_lower_end():
    late = DistributionSecret(stats.rv_histogram(([0, 1], [0, 1, 2]), density=True)())
    found = noise_pmc(AdditiveNoise(late, Laplace(1)), 3.0)
    true = noise_pmc(AdditiveNoise(UniformSecret(1, 2), Laplace(1)), 3.0)
    assert found.lower <= true.upper <= found.lower + 1e-3
    assert found.upper == pytest.approx(true + 1, abs=1e-3)


def test_the_tolerance_is_asked_for():
    release = AdditiveNoise(DistributionSecret(stats.logistic()), Gaussian(1))
    coarse, fine = noise_pml(release, 1.0, tolerance=0.1), noise_pml(release, 1.0, tolerance=1e-3)
    assert fine.upper - fine.lower <= 1e-3 < coarse.upper - coarse.lower <= 0.1


def test_monte_carlo_agrees():
    rng = np.random.default_rng(7)
    x = rng.gamma(2.0, size=400_000)
    for noise in NOISES:
        density = float(noise_law(noise).pdf(3.0 - x).mean())
        found = noise_pml(AdditiveNoise(DistributionSecret(stats.gamma(2)), noise), 3.0)
        assert found == pytest.approx(math.log(noise_law(noise).pdf(0) / density), abs=0.02)


@pytest.mark.parametrize(
    ("y", "parts"),
    [
        (math.nan, "y must be finite, got nan"),
        (math.inf, "y must be finite"),
        (1e12, "within 1e9 noise widths, got 1e"),
    ],
)
@pytest.mark.parametrize("measure", [noise_pml, noise_pmc])
def test_bad_outcomes(measure, y, parts):
    with pytest.raises(InvalidInput, match=parts):
        measure(AdditiveNoise(UniformSecret(0, 1), Gaussian(1)), y)


@pytest.mark.parametrize(
    "secret",
    [GaussianSecret(1e12), DistributionSecret(stats.norm(1e12, 1)), DiscreteSecret([0, 1e12], [0.5, 0.5])],
)
def test_secrets_out_of_reach(secret):
    with pytest.raises(InvalidInput, match=r"noise width 1.0; check the units"):
        noise_pml(AdditiveNoise(secret, Laplace(1)), 0.0)


def test_bad_arguments():
    release = AdditiveNoise(DiscreteSecret([0, 1], [0.5, 0.5]), Gaussian(1))
    with pytest.raises(WrongType, match=r"write AdditiveNoise\(secret, noise\)"):
        noise_pml(Gaussian(1), 0.0)
    with pytest.raises(WrongType, match="y must be a float"):
        noise_pml(release, None)
    with pytest.raises(InvalidInput, match=r"tolerance must be positive, got tolerance=-1.0"):
        noise_pmc(release, 0.0, tolerance=-1)
    with pytest.raises(InvalidInput, match=r"x must be in the secret's range \[0.0, 1.0\], got x=2.0"):
        noise_information_density(release, 2, 0.0)
    with pytest.raises(InvalidInput, match=r"point of positive mass, got x=0.5"):
        noise_information_density(release, 0.5, 0.0)
