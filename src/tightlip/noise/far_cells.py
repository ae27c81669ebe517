"""Where the attack on an unbounded secret looks: far intervals, and equal pieces of the middle of Y.

Plain floats throughout: `unbounded` certifies whatever is built here, and refuses what overlaps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from tightlip.model.noise import AdditiveNoise, Gaussian, Noise
from tightlip.model.secret import DistributionSecret, GaussianSecret, Secret
from tightlip.numeric.parse import FloatArray

FAR = 1e-4  # share of δ/m that the far intervals may have
_SAMPLES = 1 << 14


def half_width(noise: Noise) -> float:
    """Half the length of a far interval: N stays within it but for 6e-7 (5σ) or 3e-7 (15b).

    >>> half_width(Gaussian(2))
    10.0
    """
    return (5.0 if isinstance(noise, Gaussian) else 15.0) * float(noise.width)


def far_intervals(release: AdditiveNoise, mass: float, symbols: int, side: int) -> list[tuple[float, float]]:
    """Neighbouring intervals, outward from a point with at most about this mass of Y beyond it."""
    secret, noise = release.secret, release.noise
    reach = noise_isf(noise)(min(mass / 2, 1e-12)) * float(noise.width)
    start = side * reach + _beyond(secret, mass / 2, side)
    length = 2 * half_width(noise)
    edges = [start + side * length * j for j in range(symbols + 1)]
    return [(min(pair), max(pair)) for pair in pairwise(edges)]


def _beyond(secret: Secret, mass: float, side: int) -> float:
    if isinstance(secret, GaussianSecret):
        return float(secret.mean) + side * float(_normal_isf(mass)) * float(secret.sigma)
    assert isinstance(secret, DistributionSecret)
    return float((secret.distribution.isf if side > 0 else secret.distribution.ppf)(mass))


def places_of(release: AdditiveNoise) -> FloatArray:
    """Equally likely places of X in plain floats; what is built from them is certified afterwards."""
    secret = release.secret
    levels = (np.arange(_SAMPLES) + 0.5) / _SAMPLES
    if isinstance(secret, GaussianSecret):
        found = float(secret.mean) + float(secret.sigma) * _normal_isf(levels)
    else:
        assert isinstance(secret, DistributionSecret)
        found = secret.distribution.isf(levels)
    return np.asarray(found, dtype=np.float64)


def middle_cuts(release: AdditiveNoise, places: FloatArray, mass: float, symbols: int) -> list[float]:
    """Points that cut the middle of Y, of about this mass, into equally likely pieces."""
    from scipy.optimize import brentq

    noise, secret = release.noise, release.secret
    width, tail = float(noise.width), _sf(noise)
    total = mass if (1 - mass) / 2 > max(10 * FAR * mass / symbols, 1 / _SAMPLES) else 1.0
    exact = isinstance(noise, Gaussian) and isinstance(secret, GaussianSecret)
    if isinstance(secret, GaussianSecret) and exact:
        places, width = np.array([float(secret.mean)]), math.hypot(width, float(secret.sigma))
    reach = 40 * width

    def cut(level: float) -> float:
        if not 0 < level < 1:
            return math.inf if level >= 1 else -math.inf
        low, high = float(places.min()) - reach, float(places.max()) + reach
        return float(brentq(lambda y: 1 - level - float(np.mean(tail((y - places) / width))), low, high))

    return [cut((1 - total) / 2 + total * j / symbols) for j in range(symbols + 1)]


def joined(
    far: list[tuple[float, float]], cuts: list[float], side: int
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """The far intervals and the pieces; together they are the whole line where the pieces have no end."""
    if math.isfinite(cuts[0]):
        return far, list(pairwise(cuts))
    first, last = far[0], far[-1]
    if side > 0:
        return [*far[:-1], (last[0], math.inf)], list(pairwise([*cuts[:-1], first[0]]))
    return [*far[:-1], (-math.inf, last[1])], list(pairwise([first[1], *cuts[1:]]))


def _normal_isf(level: Any) -> Any:
    from scipy.special import ndtri

    return -ndtri(level)


def noise_isf(noise: Noise) -> Callable[[float], float]:
    """The distance, in noise widths, beyond which N has a given mass on one side."""
    return (lambda mass: float(_normal_isf(mass))) if isinstance(noise, Gaussian) else _laplace_isf


def _laplace_isf(mass: float) -> float:
    return -math.log(2 * mass)


def _sf(noise: Noise) -> Callable[[FloatArray], FloatArray]:
    from scipy.special import ndtr

    return (lambda u: np.asarray(ndtr(-u))) if isinstance(noise, Gaussian) else _laplace_sf


def _laplace_sf(u: FloatArray) -> FloatArray:
    tail: FloatArray = np.exp(-np.abs(u)) / 2
    return np.where(u > 0, tail, 1 - tail)
