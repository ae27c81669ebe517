"""PML and PMC from densities as functions, against noise in closed form and against sums over a fine grid."""

import math
from fractions import Fraction

import numpy as np
import pytest

import tightlip as tl
from tightlip.measures import density_pmc, density_pml
from tightlip.noise import AdditiveNoise, Gaussian, Laplace, UniformSecret


def gauss(y, sigma):
    return lambda x: np.exp(-((x - y) ** 2) / (2 * sigma * sigma))


@pytest.mark.parametrize("y", [-1.0, 0.25, 0.5, 3.0])
def test_gaussian_noise_on_a_uniform_secret(y):
    release = AdditiveNoise(UniformSecret(0, 1), Gaussian(0.5))
    for found, known in (
        (density_pml, tl.noise.pml(release, y)),
        (density_pmc, tl.noise.pmc(release, y)),
    ):
        bound = found([(0, 1, lambda x: 1, gauss(y, 0.5))])
        assert bound.lower <= known.upper
        assert known.lower <= bound.upper
        assert bound.gap < 1e-9


def test_laplace_noise_needs_a_piece_on_each_side():
    y = 0.25
    left = (0, y, lambda x: 1, lambda x: np.exp((x - y) * 2))
    right = (y, 1, lambda x: 1, lambda x: np.exp((y - x) * 2))
    release = AdditiveNoise(UniformSecret(0, 1), Laplace(0.5))
    assert density_pml([right, left]) == pytest.approx(tl.noise.pml(release, y), abs=1e-9)
    assert density_pmc([left, right]) == pytest.approx(tl.noise.pmc(release, y), abs=1e-9)


@pytest.mark.parametrize(
    ("density", "likelihood"),
    [
        (lambda x: x**2 * (1 - x) ** 3, lambda x: 1 / (1 + 9 * (x - 0.3) ** 2)),
        (lambda x: np.exp(-3 * x), lambda x: 2 + np.sin(11 * x)),
        (lambda x: 1 + x, lambda x: np.sqrt(x + Fraction(1, 10)) * (2 - np.cos(7 * x))),
    ],
)
def test_both_ends_hold_the_value_on_a_fine_grid(density, likelihood):
    grid = np.linspace(0, 1, 20001)
    weights, values = (np.array([float(function(x)) for x in grid]) for function in (density, likelihood))
    ends = np.concatenate([[0.5], np.ones(19999), [0.5]])
    mean = (ends * weights) @ values / (ends @ weights)
    pml, pmc = (found([(0, 1, density, likelihood)]) for found in (density_pml, density_pmc))
    assert pml.lower - 1e-7 <= math.log(values.max() / mean) <= pml.upper + 1e-7
    assert pmc.lower - 1e-7 <= math.log(mean / values.min()) <= pmc.upper + 1e-7
    assert max(pml.gap, pmc.gap) < 1e-8


def test_constants_do_not_matter_and_a_finer_cut_changes_nothing():
    whole = density_pml([(0, 1, lambda x: 1, gauss(0.3, 0.5))])
    scaled = density_pml([(0, 1, lambda x: 7, lambda x: gauss(0.3, 0.5)(x) / 1000)])
    parts = density_pml([(0, "1/3", lambda x: 1, gauss(0.3, 0.5)), ("1/3", 1, lambda x: 1, gauss(0.3, 0.5))])
    assert scaled == pytest.approx(whole, abs=1e-9)
    assert parts == pytest.approx(whole, abs=1e-9)


def test_a_secret_ruled_out_is_infinite():
    assert math.isinf(density_pmc([(0, 1, lambda x: 1, lambda x: 1 - x)]).upper)
    found = density_pmc([(0, 1, lambda x: 1, lambda x: (x - Fraction(1, 3)) ** 2)])
    assert math.isinf(found.upper)
    assert found.lower > 10


def test_a_gap_in_the_density_does_not_count():
    """Where the secret cannot be, the likelihood may be as large as it likes: only the upper end knows no better."""
    found = density_pml([(0, 1, lambda x: 0, lambda x: 5), (1, 2, lambda x: 1, lambda x: 1)])
    assert found.lower == 0
    assert found.upper == pytest.approx(0, abs=1e-12)


def test_what_cannot_be_enclosed_fails_closed():
    found = density_pml([(0, 1, lambda x: 1, lambda x: 1 / x)])
    assert math.isinf(found.upper)
    assert found.lower < math.inf


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        (
            [(0, 1, lambda x: 1, lambda x: math.exp(x))],
            r"likelihood of pieces\[0\] must be a function of arith",
        ),
        (
            [(0, 1, lambda x: abs(x), lambda x: 1)],
            r"density of pieces\[0\] .* is compared, or its size taken",
        ),
        ([(0, 1, lambda x: 1 if x < 0.5 else 2, lambda x: 1)], r"density of pieces\[0\] must be a function"),
        ([(0, 1, 1, lambda x: 1)], r"density of pieces\[0\] must be a function of x, got 1"),
        (
            [(0, 1, lambda x: x - 2, lambda x: 1)],
            r"density of pieces\[0\] must not be negative, and is on \[0, 1\]",
        ),
        ([(1, 0, lambda x: 1, lambda x: 1)], r"pieces\[0\] must have low < high"),
        ([(0, 1, lambda x: 1)], r"pieces\[0\] must be \(low, high, density, likelihood\)"),
        ([(0, 2, lambda x: 1, lambda x: 1), (1, 3, lambda x: 1, lambda x: 1)], "pieces must not overlap"),
        ([(0, math.inf, lambda x: 1, lambda x: 1)], r"high of pieces\[0\] must be"),
        ([], "pieces must hold at least one interval"),
    ],
)
def test_bad_pieces(pieces, message):
    with pytest.raises(tl.errors.TightlipError, match=message):
        density_pml(pieces)
