"""Prove upper ends by weak duality: what thresholds prove, in floats with a margin that covers every rounding."""

from __future__ import annotations

import math

import numpy as np

from tightlip.envelopes.pairs import Pairs
from tightlip.numeric.parse import FloatArray

# λ_x = 1/(t − θ_x) is rounded twice: λ_x K + (1 − λ_x t) q moves by less of q
_OF_MULTIPLIERS = 1e-15
# a bracket wider than this factor is bisected before Brent's method, which would step through it
_WIDE = 4.0


def rounding(pairs: Pairs) -> float:
    """Bound the relative error of K and of θq, with all that is done to them."""
    return 2 * pairs.error + 1e-14


def dual_bound(pairs: Pairs, thresholds: FloatArray, ratio: float) -> float:
    """Evaluate the dual objective G_θ(t) ≥ V(t), rounded up; infinite unless all thresholds are below t.

    Where pairs of K = 0 are left out, each outcome has them with any secret: −λ_x θ_x q, which roundings may lift
    above 0.
    """
    if not (thresholds < ratio).all():
        return math.inf
    price, error = 1 / (ratio - thresholds), rounding(pairs)
    plus = price * (error * np.abs(thresholds) - thresholds) + _OF_MULTIPLIERS
    best = pairs.best(pairs.score(price * (1 + error), plus))
    least = 0.0 if pairs.complete else max(float(plus.max()), 0.0)
    return math.fsum((np.maximum(best, least) * pairs.marginal).tolist()) * (1 + 1e-15)


def proved_ratio(pairs: Pairs, thresholds: FloatArray, delta: float, low: float, high: float) -> float:
    """Find the smallest ratio in (low, high] at which the thresholds prove V ≤ δ; infinite if none does.

    G_θ falls in t, so its root is where it meets δ; then the margin is added.
    """
    from scipy.optimize import brentq

    margin = 1 + 4 * rounding(pairs)
    chosen = pairs.above(thresholds)
    if not len(chosen):
        return _prove_with_margin(pairs, thresholds, delta, max(low, float(thresholds.max())) * margin, high)
    starts = np.flatnonzero(np.diff(pairs.outcome[chosen], prepend=-1))
    floor = thresholds[pairs.secret[chosen]]
    above = pairs.chance[chosen] - floor * pairs.weight[chosen]

    def value(ratio: float) -> float:
        return float(np.maximum.reduceat(above / (ratio - floor), starts).sum())

    highest, left = high, math.nextafter(max(low, float(thresholds.max()) * (1 + 1e-15)), math.inf)
    if value(high) > delta:
        return math.inf
    if left < high and value(left) > delta:
        while high > _WIDE * left:
            middle = math.sqrt(left) * math.sqrt(high)
            left, high = (middle, high) if value(middle) > delta else (left, middle)
        left = float(brentq(lambda ratio: value(ratio) - delta, left, high, xtol=1e-15 * left, rtol=1e-15))
    return _prove_with_margin(pairs, thresholds, delta, left * margin, highest)


def _prove_with_margin(
    pairs: Pairs, thresholds: FloatArray, delta: float, ratio: float, high: float
) -> float:
    step = 1e-15
    while ratio <= high * (1 + 1e-9):
        proved = dual_bound(pairs, thresholds, ratio)
        if proved <= delta:
            return ratio
        step = max(2 * step, min(1.1 * (proved - delta) / delta, 1e-10))
        ratio *= 1 + step
    return math.inf
