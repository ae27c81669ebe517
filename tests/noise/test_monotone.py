"""Interval envelopes, against references, brute force over cells, and their own limits."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from tightlip.errors import InvalidInput, NumericalFailure, PreconditionFailed, WrongType
from tightlip.model.noise import AdditiveNoise, Gaussian, Laplace
from tightlip.model.secret import (
    BoundedSecret,
    DiscreteSecret,
    DistributionSecret,
    GaussianMixture,
    GaussianSecret,
    UniformSecret,
)
from tightlip.noise.dispatch import envelope as noise_envelope
from tightlip.noise.intervals import bracket_intervals
from tightlip.noise.monotone import _best_cell, _GaussianCells, bracket, interval_envelope


def release(sigma_x, noise=None, mean=0.0):
    return AdditiveNoise(GaussianSecret(sigma_x, mean), noise or Gaussian(1))


@pytest.mark.parametrize(
    ("ratio", "delta", "expected"),
    [
        (3, "0.3", 1.9267829087),
        (3, "0.1", 2.9970397454),
        (3, "0.01", 5.2983178013),
        (4, "0.3", 2.0724713696),
        (4, "0.1", 3.0479248665),
        (4, "0.01", 5.3016271104),
    ],
)
def test_references_beyond_the_condition(ratio, delta, expected):
    found = interval_envelope(release(ratio), delta)
    assert found.lower <= found.upper <= found.lower + 1e-14
    assert found.upper == pytest.approx(expected, abs=6e-11)
    assert found.adversary == "ordered"
    scaled = interval_envelope(release(5 * ratio, Gaussian(5), mean=7), delta)
    assert scaled.upper == pytest.approx(expected, abs=6e-11)


@pytest.mark.parametrize("sigma", [0.1, 1, "1.7"])
@pytest.mark.parametrize("delta", ["0.01", "0.3", "0.7", "1"])
def test_within_the_condition_it_is_log_2_over_delta(sigma, delta):
    found = interval_envelope(release(sigma), delta)
    assert found.lower <= math.log(2 / float(delta)) <= found.upper + 1e-15
    assert "log(2/δ)" in found.method


def test_the_two_regimes_meet_at_the_condition():
    edge = interval_envelope(release(math.sqrt(3) - 1e-12), "0.9").upper
    assert interval_envelope(release(math.sqrt(3) + 1e-6), "0.9").upper == pytest.approx(edge, abs=1e-6)
    assert interval_envelope(release(3), "1").upper == pytest.approx(math.log(10) / 2, abs=1e-12)
    assert interval_envelope(release(3), "0.999999").upper == pytest.approx(math.log(10) / 2, abs=1e-5)


def laplace_tail(u):
    return np.where(u > 0, np.exp(-np.abs(u)) / 2, 1 - np.exp(-np.abs(u)) / 2)


def law_of_outcomes(sigma_x, noise):
    if isinstance(noise, Gaussian):
        return stats.norm(0, math.hypot(sigma_x, float(noise.sigma))).sf

    xs = np.linspace(-10 * sigma_x, 10 * sigma_x, 4001)
    weights = stats.norm.pdf(xs, scale=sigma_x) * (xs[1] - xs[0])
    return np.vectorize(lambda y: float(weights @ laplace_tail((y - xs) / float(noise.scale))))


@pytest.mark.parametrize("noise", [Gaussian(1), Laplace(1)], ids=repr)
@pytest.mark.parametrize("sigma_x", [1.0, 3.0])
@pytest.mark.parametrize("delta", [0.3, 0.8])
def test_brute_force_over_every_partition_of_a_grid(noise, sigma_x, delta):
    """The most probability that disjoint intervals of leakage ≥ ε can have, by dynamic programming."""
    edges = np.concatenate([[-1e4], np.linspace(-12, 12, 481), [1e4]])
    tails = law_of_outcomes(sigma_x, noise)(edges)
    spread = stats.norm if isinstance(noise, Gaussian) else stats.laplace
    length = edges[None, :] - edges[:, None]
    inside = 1 - 2 * spread.sf(np.maximum(length, 0) / 2)
    mass = tails[:, None] - tails[None, :]
    found = interval_envelope(release(sigma_x, noise), str(delta))

    def most(epsilon):
        bad = (inside >= math.exp(epsilon) * mass) & (length > 0)
        best = np.zeros(len(edges))
        for j in range(1, len(edges)):
            best[j] = max(best[j - 1], np.max(np.where(bad[:j, j], best[:j] + mass[:j, j], 0.0)))
        return best[-1]

    assert most(found.upper + 1e-9) < delta + 1e-9  # the guarantee holds on the grid
    assert most(found.lower - 0.06) >= delta  # and a partition of the grid comes close


def skewed(name, beta):
    """log-densities of secrets h(x)φ(x/β) with log-concave h: β-strongly log-concave, not symmetric."""
    tilt = {"skew normal": stats.norm(scale=0.3).logcdf, "one steep side": lambda x: -np.exp(-2 * x)}[name]
    return lambda x: tilt(x) - x**2 / (2 * beta**2)


def noisy_skewed(name, beta):
    """Weights of the secret on a fine grid, and P{Y > y} of Y = X + N, N ~ N(0, 1)."""
    xs = np.linspace(-12 * beta, 12 * beta, 6001)
    weights = np.exp(skewed(name, beta)(xs))
    weights /= weights.sum()
    return xs, weights, np.vectorize(lambda y: float(weights @ stats.norm.sf(y - xs)))


def most_on_grid(tails, edges, epsilon):
    """The most probability of disjoint intervals between edges that leak ε or more, by dynamic programming."""
    length = edges[None, :] - edges[:, None]
    mass = tails[:, None] - tails[None, :]
    inside = 1 - 2 * stats.norm.sf(np.maximum(length, 0) / 2)
    bad = (inside >= math.exp(epsilon) * mass) & (length > 0)
    best = np.zeros(len(edges))
    for j in range(1, len(edges)):
        best[j] = max(best[j - 1], np.max(np.where(bad[:j, j], best[:j] + mass[:j, j], 0.0)))
    return best[-1]


@pytest.mark.parametrize("name", ["skew normal", "one steep side"])
def test_small_posterior_variance_gives_log_2_over_delta_at_every_delta(name):
    """GAU Theorem 3 and Corollary 1 for interval cells, without 'small enough': β = √3 σ_N."""
    xs, weights, beyond = noisy_skewed(name, math.sqrt(3))
    for y in np.linspace(-8, 8, 33):
        posterior = weights * np.exp(-((y - xs) ** 2) / 2)
        posterior /= posterior.sum()
        assert posterior @ (xs - posterior @ xs) ** 2 <= 0.75 + 1e-9
    edges = np.concatenate([[-1e4], np.linspace(-10, 10, 401), [1e4]])
    tails = beyond(edges)
    for delta in (0.05, 0.3, 0.6, 0.9, 1.0):
        bound = math.log(2 / delta)
        assert most_on_grid(tails, edges, bound + 1e-9) < delta + 1e-9
        assert most_on_grid(tails, edges, bound - 0.1) >= delta


def test_beyond_the_variance_condition_intervals_leak_more():
    _, _, beyond = noisy_skewed("one steep side", 4)
    edges = np.concatenate([[-1e4], np.linspace(-12, 24, 361), [1e4]])
    assert most_on_grid(beyond(edges), edges, math.log(2 / 0.6) + 0.05) > 0.6


SKEWED = {
    "right": GaussianMixture(["0.7", "0.3"], [0, "0.9"], [1, "1.1"]),
    "left": GaussianMixture(["0.2", "0.5", "0.3"], ["-1.1", 0, "0.2"], ["0.9", "0.7", "0.9"]),
    "wide": GaussianMixture(["0.6", "0.4"], [-2, 3], [2, "0.5"]),
    "half": DistributionSecret(stats.halfnorm(scale=1.2)),
    "uniform": UniformSecret(0, 5),
    "coins": DiscreteSecret([0, 2, 7], ["0.2", "0.5", "0.3"]),
}


def on_a_grid(secret, edges):
    """Masses of the cells between edges, and P(cell|x) at the best x, from densities on a fine grid of x."""
    if isinstance(secret, GaussianMixture):
        parts = [(float(w), stats.norm(float(m), math.hypot(float(s), 1))) for w, m, s in secret.components]
        tails = sum(w * law.sf(edges) for w, law in parts)
        low, high = -math.inf, math.inf
    elif isinstance(secret, DiscreteSecret):
        tails = sum(float(p) * stats.norm.sf(edges - float(x)) for x, p in secret.atoms)
        low, high = (float(end) for end in secret.support)
    else:
        law = stats.uniform(0, 5) if isinstance(secret, UniformSecret) else secret.distribution
        low, high = law.support()
        xs = np.linspace(low, min(high, 12), 20001)
        xs = (xs[1:] + xs[:-1]) / 2
        weights = law.pdf(xs) / law.pdf(xs).sum()
        tails = np.array([float(weights @ stats.norm.sf(y - xs)) for y in edges])
    middles = np.clip((edges[None, :] + edges[:, None]) / 2, low, high)
    if isinstance(secret, DiscreteSecret):
        points = np.array([float(x) for x, _ in secret.atoms])
        middles = points[np.abs(middles[..., None] - points).argmin(axis=-1)]
    inside = stats.norm.cdf(edges[None, :] - middles) - stats.norm.cdf(edges[:, None] - middles)
    return tails[:, None] - tails[None, :], inside


@pytest.mark.parametrize("name", SKEWED)
@pytest.mark.parametrize("delta", ["0.3", "0.9"])
def test_skewed_secrets_against_every_partition_of_a_grid(name, delta):
    """Two ends, or log(2/δ) where the condition holds, against dynamic programming on a coarser grid."""
    edges = np.concatenate([[-1e4], np.linspace(-8, 13, 421), [1e4]])
    mass, inside = on_a_grid(SKEWED[name], edges)
    found = noise_envelope(AdditiveNoise(SKEWED[name], Gaussian(1)), delta, adversary="ordered", cells=60)

    def most(epsilon):
        bad = (inside >= math.exp(epsilon) * mass) & (edges[None, :] > edges[:, None])
        best = np.zeros(len(edges))
        for j in range(1, len(edges)):
            best[j] = max(best[j - 1], np.max(np.where(bad[:j, j], best[:j] + mass[:j, j], 0.0)))
        return best[-1]

    assert most(found.upper + 1e-9) < float(delta) + 1e-9
    assert most(found.lower - 0.12) >= float(delta)
    assert found.gap < 0.08
    if name in ("right", "left"):
        assert found.lower <= math.log(2 / float(delta)) <= found.upper < found.lower + 1e-14


@pytest.mark.parametrize(("sigma", "delta"), [(1, "0.3"), (3, "0.3"), (4, "0.01"), (4, "1")])
def test_the_programs_bracket_the_exact_envelope_of_a_gaussian(sigma, delta):
    exact = interval_envelope(release(sigma), delta)
    low, high = bracket_intervals(release(sigma), Fraction(delta), 60)
    assert exact.lower - 0.12 < low <= exact.upper
    assert exact.lower <= high < exact.upper + 0.12


def test_ends_of_other_secrets():
    within = noise_envelope(AdditiveNoise(BoundedSecret(0, 1), Gaussian(4)), "0.9", adversary="ordered")
    assert (within.lower, within.upper) == pytest.approx(
        (0, math.log((1 + 0.25 / math.sqrt(2 * math.pi)) / 0.9))
    )
    assert (
        noise_envelope(AdditiveNoise(DiscreteSecret([2], [1]), Gaussian(1)), 1, adversary="ordered").upper
        == 0
    )
    tiny = noise_envelope(AdditiveNoise(UniformSecret(0, 1), Gaussian(1)), "1e-12", adversary="ordered")
    assert "below δ = 1e-9" in tiny.method
    with pytest.raises(PreconditionFailed, match="delta must be at least 1e-09"):
        interval_envelope(AdditiveNoise(SKEWED["wide"], Gaussian(1)), "1e-12")
    with pytest.raises(InvalidInput, match="cells"):
        interval_envelope(AdditiveNoise(UniformSecret(0, 1), Gaussian(1)), "0.1", cells=3)


def test_a_scipy_normal_is_a_gaussian_secret():
    for law in (stats.norm(3, 2), stats.norm(loc=3, scale=2), stats.norm(3, scale=2)):
        same = AdditiveNoise(DistributionSecret(law), Gaussian(1))
        assert same == release(2.0, mean=3.0)
        assert noise_envelope(same, "0.1", adversary="ordered") == noise_envelope(
            release(2.0, mean=3.0), "0.1", adversary="ordered"
        )
    assert AdditiveNoise(GaussianMixture([1, 0], [3, 0], [2, 1]), Gaussian(1)).secret == GaussianSecret(2, 3)
    assert isinstance(
        AdditiveNoise(DistributionSecret(stats.gennorm(2)), Gaussian(1)).secret, DistributionSecret
    )


def test_laplace_noise_is_the_larger_of_a_tail_and_one_outcome():
    tail = interval_envelope(release(1, Laplace(1)), "0.1")
    assert tail.upper == pytest.approx(math.log(20), abs=1e-12)
    point = interval_envelope(release(4, Laplace(1)), "0.3")
    assert point.upper > math.log(2 / 0.3) + 0.3
    assert point.gap < 1e-14
    assert interval_envelope(release(3, Laplace(1)), "1").upper == pytest.approx(1.4145790409504042)


def test_tiny_delta_takes_more_bits():
    found = interval_envelope(release(3), "1e-200")
    assert found.upper == pytest.approx(math.log(2) + 200 * math.log(10), rel=1e-14)
    with pytest.raises(NumericalFailure, match="larger delta"):
        _best_cell(_GaussianCells(Fraction(9), Fraction(1)))  # δ = 1 has no interior maximum


def test_bad_input():
    with pytest.raises(
        PreconditionFailed, match="GaussianSecret for interval post-processing of Laplace noise"
    ):
        interval_envelope(AdditiveNoise(UniformSecret(0, 1), Laplace(1)), "0.1")
    with pytest.raises(InvalidInput, match="delta"):
        interval_envelope(release(1), 0)
    with pytest.raises(WrongType, match="release"):
        interval_envelope("Gaussian", "0.1")


def test_dispatch_and_order_of_adversaries():
    binary, interval, anyone = (
        noise_envelope(release(1), "0.1", adversary=name) for name in ("binary", "ordered", "any")
    )
    assert binary.upper < interval.upper < anyone.upper == math.inf
    assert binary.lower <= math.log(10) <= binary.upper
    with pytest.raises(InvalidInput, match="adversary"):
        noise_envelope(release(1), "0.1", adversary="k-ary")


def test_bracket_stops_where_the_sign_is_unclear():
    left, right = bracket(lambda x: (1 - x - 1e-3, 1 - x + 1e-3), 0.5)
    assert left < 1.001
    assert right > 0.999
