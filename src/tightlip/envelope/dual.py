"""Upper ends: what thresholds prove, in floats with a margin that covers every rounding."""

from __future__ import annotations

import math

import numpy as np

from tightlip.envelope.pairs import Pairs
from tightlip.numeric.parse import FloatArray

_OF_MULTIPLIERS = (
    1e-15  # λ_x = 1/(t − θ_x) is rounded: moves Σ_y q_y |λ_x (s_x(y) − t)| ≤ 1 + G by a few 2⁻⁵³
)


def dual_bound(pairs: Pairs, thresholds: FloatArray, ratio: float) -> float:
    """What the thresholds prove of V(t): G_θ(t) rounded up."""
    price, error = 1 / (ratio - thresholds), 2 * pairs.error + 1e-14
    gain = pairs.combined(price * (1 + error), price * (error * np.abs(thresholds) - thresholds))
    total = math.fsum(np.maximum(pairs.best(gain), 0.0).tolist())
    return total * (1 + 1e-15) + _OF_MULTIPLIERS


def proved_ratio(pairs: Pairs, thresholds: FloatArray, delta: float, low: float, high: float) -> float:
    """The smallest ratio found in (low, high] at which the thresholds prove V ≤ δ; infinite if none does.

    G_θ falls in t, so its root is where it meets δ; then the margin is added.
    """
    from scipy.optimize import brentq

    margin = 1 + 4 * (2 * pairs.error + 1e-14)
    chosen = pairs.lift > thresholds[pairs.secret]
    if not chosen.any():
        return _with_margin(pairs, thresholds, delta, max(low, float(thresholds.max())) * margin, high)
    starts, _ = pairs.of(chosen)
    secret = pairs.secret[chosen]
    above = pairs.chance[chosen] - thresholds[secret] * pairs.weight[chosen]
    floor = thresholds[secret]

    def value(ratio: float) -> float:
        return float(np.maximum.reduceat(above / (ratio - floor), starts).sum())

    left = math.nextafter(max(low, float(thresholds.max()) * (1 + 1e-15)), math.inf)
    if value(high) > delta:
        return math.inf
    if left < high and value(left) > delta:
        left = float(brentq(lambda ratio: value(ratio) - delta, left, high, xtol=1e-15 * left, rtol=1e-15))
    return _with_margin(pairs, thresholds, delta, left * margin, high)


def _with_margin(pairs: Pairs, thresholds: FloatArray, delta: float, ratio: float, high: float) -> float:
    step = 1e-15
    while ratio <= high * (1 + 1e-9):
        proved = dual_bound(pairs, thresholds, ratio)
        if proved <= delta:
            return ratio
        step = max(2 * step, min(1.1 * (proved - delta) / delta, 1e-10))
        ratio *= 1 + step
    return math.inf
