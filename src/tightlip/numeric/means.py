"""One-sided confidence bounds for the mean of numbers between 0 and 1, by Chernoff and Hoeffding.

The mean s of n independent numbers in [0, 1] with expectation μ each satisfies P(s ≤ c) ≤ e^{−n·d(c‖μ)} for c ≤ μ and
P(s ≥ c) ≤ e^{−n·d(c‖μ)} for c ≥ μ, with d(s‖μ) = s log(s/μ) + (1−s) log((1−s)/(1−μ)) (Hoeffding 1963, Theorem 1). So

    upper(s) = sup{μ ≥ s : n·d(s‖μ) < −log a(μ)},      lower(s) = inf{μ ≤ s : n·d(s‖μ) < −log a(μ)}

fail with probability at most a(μ) each: an error α, or α·ω·μ for means of which the sum is at most 1/ω, so that all
of them hold together, as in proportions.py. The sets are intervals: above s, d grows and −log a falls; below s,
n·d + log(αωμ) falls until μ = (ns − 1)/(n − 1), then grows up to log(αωs) < 0 at s, so it is positive on an interval
from 0 only, and nowhere when ns ≤ 1. A bound is found by bisection, moved outward and checked with outward rounding.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import UNIT, down, gamma, log_down, log_ratio_down, up

_STEPS = 50
_MARGINS = (1e-12, 1e-9, 1e-6, 1e-3, 0.1)


def upper_means(means: ArrayLike, trials: ArrayLike, error: float, weight: float | None = None) -> FloatArray:
    """Upper confidence bounds on expectations, given means of so many numbers in [0, 1].

    Each fails with probability at most `error`; with a weight ω, at most error·ω·μ.

    >>> upper_means([0.0, 0.5], [10, 10], 0.05).round(4).tolist()
    [0.2589, 0.8357]
    """
    mean, n = _read(means, trials)
    low, high = np.maximum(mean, 1e-3 / n), np.ones(mean.shape)
    for _ in range(_STEPS):
        middle = np.sqrt(low * high)
        excluded = _excluded(mean, middle, n, error, weight)
        low, high = np.where(excluded, low, middle), np.where(excluded, middle, high)
    return _outward(mean, high, n, error, weight, up=True)


def lower_means(means: ArrayLike, trials: ArrayLike, error: float, weight: float | None = None) -> FloatArray:
    """Lower confidence bounds, as `upper_means`.

    >>> lower_means([0.0, 0.5], [10, 10], 0.05).round(4).tolist()
    [0.0, 0.1643]
    """
    mean, n = _read(means, trials)
    low, high = mean * 1e-12, mean.copy()
    for _ in range(_STEPS):
        middle = np.sqrt(low * high)
        excluded = _excluded(mean, middle, n, error, weight)
        low, high = np.where(excluded, middle, low), np.where(excluded, high, middle)
    return _outward(mean, low, n, error, weight, up=False)


def chernoff(mean: Fraction, trials: int, tail: Fraction) -> tuple[float, float]:
    """The interval for one mean of numbers in [0, 1], with at most `tail` on each side, rounded outward.

    It holds for independent numbers that are not equally distributed too, and lies within Hoeffding's
    ±√(log(1/a)/2n) by Pinsker's inequality.

    >>> low, high = chernoff(Fraction(3, 10), 10, Fraction(1, 40))
    >>> low < 0.0667 and high > 0.6525
    True
    """
    error = max(down(float(tail)), 0.0)
    # a mean of 0 or 1 is one exactly; others are moved to the safe side of what they were rounded to
    below = float(mean) if mean in (0, 1) else down(float(mean))
    above = float(mean) if mean in (0, 1) else min(up(float(mean)), 1.0)
    return float(lower_means([below], [trials], error)[0]), float(upper_means([above], [trials], error)[0])


def _read(means: ArrayLike, trials: ArrayLike) -> tuple[FloatArray, FloatArray]:
    mean, n = np.broadcast_arrays(np.asarray(means, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    return np.minimum(mean, 1.0), n


def _outward(
    mean: FloatArray, found: FloatArray, n: FloatArray, error: float, weight: float | None, *, up: bool
) -> FloatArray:
    """The bounds moved outward until they are proved; 1 or 0 where that fails."""
    bound = np.ones(mean.shape) if up else np.zeros(mean.shape)
    open_ = np.ones(mean.shape, dtype=bool)
    for margin in _MARGINS:
        moved = found * (1 + margin if up else 1 - margin)
        good = open_ & (moved < 1) & (moved > 0) & _excluded(mean, moved, n, error, weight)
        bound[good] = moved[good]
        open_ &= ~good
    return bound


def _excluded(
    mean: FloatArray, candidate: FloatArray, n: FloatArray, error: float, weight: float | None
) -> NDArray[np.bool_]:
    """Whether n·d(mean‖candidate) ≥ −log a(candidate), proved; candidates are strictly between 0 and 1."""
    inside = np.where((candidate > 0) & (candidate < 1), candidate, 0.5)
    first = _term(mean, inside)
    second = _term(
        1 - mean, 1 - inside
    )  # 1 − s and 1 − μ are rounded once, which moves the term by 3u at most
    size = np.abs(first) + np.abs(second)
    distance = n * (first + second - size * gamma(6) - 4 * UNIT) * (1 - 4 * UNIT)
    allowed = np.full(inside.shape, error) if weight is None else error * weight * inside
    proved: NDArray[np.bool_] = distance >= -log_down(allowed * (1 - 4 * UNIT))
    proved &= inside == candidate
    return proved


def _term(part: FloatArray, of: FloatArray) -> FloatArray:
    """part·log(part/of) from below, 0 for an empty part."""
    held = np.where(part > 0, part, of)
    return np.where(part > 0, part * log_ratio_down(held, of), 0.0)
