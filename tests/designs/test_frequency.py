"""Frequencies estimated from releases: the bound on their variance, and what reaches it."""

from fractions import Fraction

import numpy as np
import pytest

import tightlip as tl
from tightlip.designs import curve, design
from tightlip.designs.frequency import nuclear_norm, variance
from tightlip.designs.linear import Kernel, whole


def _exact(values):
    return np.array([[Fraction(entry) for entry in row] for row in values.tolist()], dtype=object)


def _slow_variance(masses, matrix):
    """tr J⁻¹ − Σ p² from the definition, with floats."""
    shares = masses @ matrix
    return float(np.trace(np.linalg.inv((matrix / shares) @ matrix.T)) - (masses**2).sum())


@pytest.mark.parametrize("seed", range(40))
def test_the_theorem_on_random_channels(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6))
    masses, matrix = rng.dirichlet(np.ones(size)), rng.dirichlet(np.ones(7) * rng.uniform(0.3, 5), size=size)
    shares = masses @ matrix
    chi = float((masses[:, None] * matrix**2 / shares).sum() - 1)
    exact = tuple(tl.Prior(masses).exact().masses)
    assert _slow_variance(masses, matrix) >= nuclear_norm(exact) ** 2 / chi * (1 - 1e-9)


def test_the_nuclear_norm_is_a_lower_bound():
    for seed in range(10):
        masses = np.random.default_rng(seed).dirichlet(np.ones(seed + 2))
        roots = np.sqrt(masses)
        table = np.diag(roots) @ (np.eye(len(roots)) - np.outer(roots, roots))
        true = np.linalg.svd(table, compute_uv=False).sum()
        found = nuclear_norm(tuple(tl.Prior(masses).exact().masses))
        assert true * (1 - 1e-11) <= found <= true


def test_the_variance_is_that_of_planning():
    prior = tl.Prior(["1/2", "3/10", "1/5"])
    channel = tl.Channel([["1/2", "1/4", "1/4"], ["1/5", "3/5", "1/5"], ["1/10", "1/10", "4/5"]])
    kernel = Kernel(*whole(channel.matrix.T))
    low, high = variance(tuple(prior.masses), kernel)
    assert low <= tl.planning.estimation_variance(channel, prior).sum() + 1e-12
    assert high == pytest.approx(tl.planning.estimation_variance(channel, prior).sum(), rel=1e-12)
    assert high - low <= 1e-12


def test_a_channel_that_tells_nothing_has_infinite_variance():
    assert variance((Fraction(1, 2),) * 2, Kernel(np.array([[1, 1]], dtype=object), 1)) == (0.0, np.inf)


@pytest.mark.parametrize("asked", [{"ldp": 1.0}, {"pml": 1.0}, {"lip": 0.7}, {"pmc": 0.5}])
@pytest.mark.parametrize("size", [2, 5, 6])
def test_subset_mechanisms_are_best_for_uniform_priors(size, asked):
    found = design(tl.Prior.uniform(size), utility="frequency_variance", **asked)
    found.verify()
    assert found.relative_gap <= 1e-8
    assert found.method.startswith("closed form")


@pytest.mark.parametrize("asked", [{"ldp": 0.8}, {"pml": 0.8}, {"pmc": 0.8}, {"pml": 0.8, "ldp": 1.0}])
def test_other_priors_have_two_sound_ends(asked):
    rng = np.random.default_rng(3)
    prior = tl.Prior(rng.dirichlet(np.ones(5)))
    found = design(prior, utility="frequency_variance", **asked)
    found.verify()
    matrix = np.asarray(found.channel.floats)
    assert found.value == pytest.approx(_slow_variance(prior.floats, matrix), rel=1e-9)
    # random admissible channels do not beat the bound
    for _ in range(30):
        raw = rng.dirichlet(np.ones(6), size=5)
        for share in np.linspace(0.05, 1, 20):
            mixed = tl.Channel((1 - share) * raw + share * (prior.floats @ raw))
            kept = {
                "ldp": lambda own: tl.ldp(own),
                "pml": lambda own: tl.pml(own, prior).worst,
                "pmc": lambda own: tl.pmc(own, prior).worst,
            }
            if share < 1 and all(kept[name](mixed) <= level for name, level in asked.items()):
                assert _slow_variance(prior.floats, np.asarray(mixed.floats)) >= found.bound
                break


def test_better_than_randomised_response():
    prior = tl.Prior.from_counts([5, 9, 20, 30, 2, 14, 8, 11, 3, 7, 6, 10])
    found = design(prior, ldp=1.0, utility="frequency_variance")
    response = tl.mechanism.randomized_response(12, 1.0)
    assert found.value < 0.8 * tl.planning.estimation_variance(response, prior).sum()


def test_a_curve_falls():
    found = curve(tl.Prior.uniform(4), ldp=[0.5, 1.0, 1.5, 2.0], utility="frequency_variance")
    values = [point.value for point in found.points]
    assert values == sorted(values, reverse=True)
    assert all(point.bound <= point.value for point in found.points)


def test_nothing_let_through_is_refused():
    with pytest.raises(tl.errors.InvalidInput, match="level of 0"):
        design(tl.Prior.uniform(3), ldp=0, utility="frequency_variance")
