"""SML Proposition 8 by quadrature against noise in closed form; what it says of single parameters."""

import math
from fractions import Fraction

import numpy as np
import pytest

import tightlip as tl
from tightlip.papers import proposition8


def bell(centre, sigma=1.0):
    return lambda y: np.exp(-((y - centre) ** 2) / (2 * sigma * sigma))


def test_gaussian_noise_at_three_points():
    known = tl.statistic.noise_leakage(tl.noise.Gaussian(1), {"a": (0, 0), "b": (1, 1), "c": (3, 3)})
    found = proposition8([(-10, 13, {"a": bell(0), "b": bell(1), "c": bell(3)})])
    assert found.lower <= known.upper
    assert known.lower <= found.upper + 1e-12
    assert found.gap < 1e-9


def test_the_best_selection_is_taken():
    whole = proposition8([(-10, 12, {"a": [bell(0), bell(0.5)], "b": [bell(2), bell(1)]})])
    best = proposition8([(-10, 12, {"a": bell(0), "b": bell(2)})])
    assert whole.upper == pytest.approx(best.upper, abs=1e-9)
    assert proposition8([(-10, 12, {"a": bell(0.5), "b": bell(2)})]).upper < whole.lower


def test_unlike_widths_against_a_sum():
    grid = np.linspace(-8, 9, 200_001)
    one, two = (np.exp(-((grid - c) ** 2) / (2 * s * s)) / s for c, s in ((0, 0.5), (1, 2.0)))
    kept = [each / each.sum() for each in (one, two)]
    found = proposition8([(-8, 9, {"a": bell(0, 0.5), "b": bell(1, 2.0)})])
    assert found.lower - 1e-6 <= math.log(np.maximum(*kept).sum()) <= found.upper + 1e-6
    assert found.gap < 1e-9


def test_one_parameter_decides_the_printed_formula_but_no_prior_with_a_density():
    """Uniform on [0, 1] for every θ but 0, where it is uniform on [0, 1/2]: formula 3/2, shares of intervals 1."""
    flat, none = lambda y: 1, lambda y: 0
    printed = proposition8([(0, "1/2", {"0": flat, "1/2": flat}), ("1/2", 1, {"0": none, "1/2": flat})])
    assert printed.lower <= math.log(1.5) <= printed.upper
    # any prior with a density, the secret told apart by intervals as fine as one likes: θ = 0 has no mass in any
    averaged = tl.Channel([[Fraction(1, 2), Fraction(1, 2)]] * 64)
    assert tl.statistic_maximal_leakage(averaged).value == 0


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        ([(0, 1, {"a": 3})], r"densities of pieces\[0\] must be a function"),
        ([(0, 1, {"a": []})], r"pieces\[0\] must have densities for the same parameters"),
        ([(0, 1, {"a": bell(0)}), (1, 2, {"b": bell(0)})], r"pieces\[1\] must have densities for the same"),
        ([(0, 1, {i: [bell(0)] * 2 for i in range(9)})], "at most 256 selections, got 512"),
        ([(0, 1, {"a": lambda y: 0})], "pieces must have densities with positive finite integrals"),
        ([], "pieces must hold at least one"),
    ],
)
def test_bad_pieces(pieces, message):
    with pytest.raises(tl.errors.TightlipError, match=message):
        proposition8(pieces)
