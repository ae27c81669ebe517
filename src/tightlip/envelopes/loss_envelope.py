"""The envelope of two secrets from the curves of both directions: V(t) = min(1, m(t) + m'(t)), proved at one t.

A search in floats proposes t and, for each direction, a threshold; balls decide.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from tightlip.envelopes.loss_curve import Side
from tightlip.envelopes.losses import WORKING_BITS
from tightlip.numeric.ball import Ball, ball, log_bounds

# relative distances from what the search found at which a proof is tried, nearest first
_STEPS = (0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4)
_MOST = Fraction(10) ** 300

Pair = tuple[tuple[Side, Fraction], tuple[Side, Fraction]]


def likely_at_most(pair: Pair, ratio: Fraction) -> Ball:
    """Bound V(t) by the upper end of a ball, t > 0."""
    total = ball(0)
    for side, mass in pair:
        _, place = side.upper.attack(_double(ratio), float(mass))
        total = total + side.upper.proved_attack(ratio, mass, place)
    return total


def likely_at_least(pair: Pair, ratio: Fraction) -> Ball:
    """Bound V(t) by the lower end of a ball; more than 1 stands for 1."""
    total = ball(0)
    for side, mass in pair:
        _, place, share = side.lower.attack(_double(ratio), float(mass))
        total = total + side.lower.proved_attack(ratio, mass, place, share)
    return total


def envelope_ends(pair: Pair, delta: Fraction) -> tuple[float, float]:
    """Bracket ε_c(δ), the logarithm of the largest t with V(t) ≥ δ."""
    from flint import ctx

    with ctx.workprec(WORKING_BITS):
        return _lower_end(pair, delta), _upper_end(pair, delta)


def _upper_end(pair: Pair, delta: Fraction) -> float:
    most = 1 / min(mass for _, mass in pair)

    def reached(ratio: float) -> bool:
        return sum(side.upper.attack(ratio, float(mass))[0] for side, mass in pair) >= float(delta)

    found = _bisect(reached, _double(most))
    for step in _STEPS:
        ratio = Fraction(found * (1 + step))
        if 1 < ratio < most and likely_at_most(pair, ratio) < ball(delta):
            return max(0.0, log_bounds(ratio)[1])
    return log_bounds(most)[1]


def _lower_end(pair: Pair, delta: Fraction) -> float:
    most = 1 / min(mass for _, mass in pair)
    if likely_at_least(pair, most) >= ball(delta):
        return log_bounds(most)[0]

    def reached(ratio: float) -> bool:
        return sum(side.lower.attack(ratio, float(mass))[0] for side, mass in pair) >= float(delta)

    found = _bisect(reached, _double(most))
    for step in _STEPS:
        ratio = Fraction(found * (1 - step))
        if 1 < ratio < most and likely_at_least(pair, ratio) >= ball(delta):
            return max(0.0, log_bounds(ratio)[0])
    return 0.0


def _double(ratio: Fraction) -> float:
    return float(min(ratio, _MOST))


def _bisect(reached: Callable[[float], bool], most: float) -> float:
    low, high = 1.0, most
    while high - low > 4e-16 * high:
        middle = low + (high - low) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if reached(middle) else (low, middle)
    return math.sqrt(low * high)
