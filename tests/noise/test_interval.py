"""Interval leakage, against quadrature, references and high precision."""

from __future__ import annotations

import math

import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from noise_oracle import high_precision_normal_mass, mass_in, noise_law
from tightlip.errors import InvalidInput
from tightlip.model.noise import AdditiveNoise, Gaussian, Laplace
from tightlip.model.secret import (
    BoundedSecret,
    DiscreteSecret,
    DistributionSecret,
    GaussianSecret,
    UniformSecret,
)
from tightlip.noise.kernel import IntervalKernel
from tightlip.noise.pointwise import interval_leakage, largest
from tightlip.noise.pointwise import pml as noise_pml

NOISES = [Gaussian(0.7), Laplace(0.7)]
SECRETS = [
    GaussianSecret(1.3, 0.5),
    UniformSecret(-1, 2),
    DiscreteSecret([-1, 0.25, 2], ["0.2", "0.3", "0.5"]),
    DistributionSecret(stats.beta(2, 5)),
    DistributionSecret(stats.gumbel_r(0, 1)),
]


@pytest.mark.parametrize(
    ("a", "b", "sigma_x", "expected"), [(1, 3, 1, 1.1197538009), (0.5, 2, 2, 0.8835146411)]
)
def test_references(a, b, sigma_x, expected):
    assert interval_leakage(AdditiveNoise(GaussianSecret(sigma_x), Gaussian(1)), a, b) == pytest.approx(
        expected, abs=5e-11
    )


@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: type(secret).__name__)
@pytest.mark.parametrize(
    ("a", "b"), [(1.0, 3.0), (-4.0, -1.5), (-0.5, 0.75), (2.5, math.inf), (-math.inf, 0.2)]
)
def test_every_pair_against_quadrature(secret, noise, a, b):
    found = interval_leakage(AdditiveNoise(secret, noise), a, b)
    law = noise_law(noise)
    low, high = (float(end) for end in secret.support)
    middle = (a + b) / 2 if math.isfinite(a + b) else (50.0 if b > 0 and math.isinf(b) else -50.0)
    points = [min(max(middle, low), high)]
    if isinstance(secret, DiscreteSecret):
        points = [float(x) for x in secret.points]
    best = max(law.cdf(b - x) - law.cdf(a - x) for x in points)
    expected = math.log(best / mass_in(secret, noise, a, b))
    assert found.lower - 1e-9 <= expected <= found.upper + 1e-9
    assert found.upper - found.lower < 1.2e-3


@pytest.mark.parametrize(("a", "b"), [(10.0, 20.0), (-20.0, -10.0), (30.0, 30.5), (40.0, 41.0), (-3.0, 40.0)])
def test_far_intervals_against_high_precision(a, b):
    found = interval_leakage(AdditiveNoise(GaussianSecret(1), Gaussian(1)), a, b)
    with ctx.workprec(6000):
        half = arb(b) / 2 - arb(a) / 2
        best = (half / arb(2).sqrt()).erf()
        mass = high_precision_normal_mass(float(arb(a)), b, 1.0)
        spread = ((arb(b) / 2).erf() - (arb(a) / 2).erf()) / 2
        assert not mass.overlaps(spread)
        expected = (best / spread).log()
        assert arb(found.lower) <= expected <= arb(found.upper)
    assert found.upper - found.lower <= 1e-15 * max(1, found)


@pytest.mark.parametrize(("a", "b"), [(10.0, 20.0), (40.0, 41.0), (1e4, math.inf)])
def test_far_intervals_of_bounded_secrets(a, b):
    """With Laplace noise every interval right of the range leaks log 1/E e^{X−d}."""
    secret = UniformSecret(-1, 1)
    assert interval_leakage(AdditiveNoise(secret, Laplace(1)), a, b) == pytest.approx(
        math.log(2 / -math.expm1(-2)), rel=1e-14
    )
    mirrored = interval_leakage(AdditiveNoise(secret, Gaussian(1)), -b, -a)
    straight = interval_leakage(AdditiveNoise(secret, Gaussian(1)), a, b)
    assert straight == pytest.approx(mirrored, rel=1e-15)
    coin = DiscreteSecret([-1, 1], ["3/4", "1/4"])
    assert interval_leakage(AdditiveNoise(coin, Gaussian(1)), a, b) == pytest.approx(math.log(4), rel=1e-6)


def test_far_interval_of_a_distribution():
    closed = interval_leakage(AdditiveNoise(GaussianSecret(1), Gaussian(1)), 10, 20)
    around = largest(IntervalKernel(Gaussian(1), 10, 20), DistributionSecret(stats.norm()), 0.01)
    assert around.lower <= closed <= around.upper <= around.lower + 0.01


@pytest.mark.parametrize("secret", [*SECRETS, BoundedSecret(0, 1)], ids=lambda secret: type(secret).__name__)
def test_the_certain_event_leaks_nothing(secret):
    found = interval_leakage(AdditiveNoise(secret, Gaussian(1)), -math.inf, math.inf)
    assert (found.lower, found.upper, found.method) == (0.0, 0.0, "certain event")


def test_a_nearly_certain_event_leaks_nearly_nothing():
    for noise in NOISES:
        found = interval_leakage(AdditiveNoise(UniformSecret(-1, 1), noise), -1e6, 1e6)
        assert 0 <= found.lower <= found.upper < 1e-300
    bracket = interval_leakage(AdditiveNoise(DistributionSecret(stats.logistic()), Gaussian(1)), -100, 100)
    assert 0 <= bracket.lower <= bracket.upper < 1e-8


def test_one_point_secrets_leak_nothing():
    assert interval_leakage(AdditiveNoise(DiscreteSecret([3], [1]), Laplace(1)), 0, 1) == 0
    even = DiscreteSecret([0, 1], ["1/3", "2/3"])
    assert interval_leakage(AdditiveNoise(even, Gaussian("1/7")), "1/3", "2/3") == 0


@settings(max_examples=30, deadline=None)
@given(st.floats(-5, 5), st.floats(0.01, 6), st.sampled_from(SECRETS[:3]), st.sampled_from(NOISES))
def test_an_interval_never_leaks_more_than_its_likeliest_outcome(a, length, secret, noise):
    """ℓ(a, b) ≤ sup PML over (a, b); the supremum over a grid is close enough to compare with slack."""
    release = AdditiveNoise(secret, noise)
    found = interval_leakage(release, a, a + length)
    assert found.lower >= 0
    grid = [a + length * k / 40 for k in range(41)]
    assert found <= max(noise_pml(release, y) for y in grid) + 0.25 * length


@given(st.floats(-5, 5), st.floats(0.01, 6), st.sampled_from(NOISES), st.integers(1, 9))
def test_bounded_secrets_cover_every_distribution(a, length, noise, share):
    inside = AdditiveNoise(DiscreteSecret([-1, 0.5, 1], [share / 20, 0.5, 0.5 - share / 20]), noise)
    anything = interval_leakage(AdditiveNoise(BoundedSecret(-1, 1), noise), a, a + length)
    assert anything.lower == 0
    assert interval_leakage(inside, a, a + length).upper <= anything.upper * (1 + 1e-15)


def test_half_lines_of_bounded_secrets():
    right = interval_leakage(AdditiveNoise(BoundedSecret(-1, 1), Laplace(1)), 3, math.inf)
    left = interval_leakage(AdditiveNoise(BoundedSecret(-1, 1), Laplace(1)), -math.inf, -3)
    assert right == left == pytest.approx(2.0, rel=1e-15)


def test_heavy_tails_reach_where_no_exponential_can():
    """Grid points 1e300 away have masses that cannot be enclosed; they must cost width, not truth."""
    found = interval_leakage(AdditiveNoise(DistributionSecret(stats.t(1)), Gaussian(1)), 1, 3)
    mass = mass_in(DistributionSecret(stats.t(1)), Gaussian(1), 1, 3, reach=60.0)
    expected = math.log((stats.norm.cdf(1) - stats.norm.cdf(-1)) / mass)
    assert found.lower <= expected <= found.upper <= found.lower + 1e-3


def test_short_intervals_approach_the_point():
    release = AdditiveNoise(UniformSecret(0, 1), Gaussian(1))
    assert interval_leakage(release, 2.0, 2.0 + 1e-9) == pytest.approx(noise_pml(release, 2.0), abs=1e-8)


@pytest.mark.parametrize(
    ("a", "b", "parts"),
    [
        (1, 1, "a must be below b, got a=1.0 and b=1.0; swap them, or use noise.pml"),
        (2, 1, "a must be below b"),
        (math.inf, math.inf, "a must be below b"),
        (math.nan, 1, "a must be finite, got nan"),
        (0, 1e12, "within 1e9 noise widths"),
    ],
)
def test_bad_intervals(a, b, parts):
    with pytest.raises(InvalidInput, match=parts):
        interval_leakage(AdditiveNoise(GaussianSecret(1), Gaussian(1)), a, b)
