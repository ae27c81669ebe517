"""The envelope of two secrets from the curves of both directions: V(t) = min(1, m(t) + m'(t)), proved at one t.

Of more secrets, V(t) ≤ Σ_x m_x(t), and m_x is that of P_x against the mean of all others with weights
w_z = p_z/(1 − p_x). Since (a − γ Σ_z w_z b_z)₊ ≤ Σ_z w_z (a − γ b_z)₊, curves of pairs bound it:

    m_x(t) ≤ min over γ of Σ_z w_z H_xz(γ)/(t(1 − γ/γ*)).

A search in floats proposes t and thresholds; balls decide.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tightlip.envelopes.loss_curve import Side, critical_float, critical_log
from tightlip.envelopes.losses import WORKING_BITS
from tightlip.numeric.ball import Ball, ball, log_bounds
from tightlip.numeric.parse import FloatArray

# relative distances from what the search found at which a proof is tried, nearest first
_STEPS = (0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4)
_MOST = Fraction(10) ** 300

# thresholds that are tried for each of more than two secrets, and how far from 0 they go
_THRESHOLDS, _FARTHEST = 800, 40.0

Pair = tuple[tuple[Side, Fraction], tuple[Side, Fraction]]


def likely_at_most(pair: Pair, ratio: Fraction) -> Ball:
    """Bound V(t) by the upper end of a ball, t > 0."""
    total = ball(0)
    for side, mass in pair:
        _, place = side.upper.attack(_double(ratio), critical_float(ratio, mass))
        total = total + side.upper.proved_attack(ratio, mass, place)
    return total


def likely_at_least(pair: Pair, ratio: Fraction) -> Ball:
    """Bound V(t) by the lower end of a ball; more than 1 stands for 1."""
    total = ball(0)
    for side, mass in pair:
        _, place, share = side.lower.attack(_double(ratio), critical_float(ratio, mass))
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
        found = (side.upper.attack(ratio, critical_float(ratio, float(mass)))[0] for side, mass in pair)
        return sum(found) >= float(delta)

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
        found = (side.lower.attack(ratio, critical_float(ratio, float(mass)))[0] for side, mass in pair)
        return sum(found) >= float(delta)

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


class _Suspect(NamedTuple):
    """One of several secrets: its mass, the sides towards all others with weights, and the mean H in floats."""

    mass: Fraction
    sides: list[tuple[Side, Fraction]]
    excess: FloatArray

    def estimate(self, ratio: float, levels: FloatArray) -> tuple[float, int | None]:
        """Estimate m_x(t), and the threshold that bounds it; none for γ = 0."""
        critical = critical_float(ratio, float(self.mass))
        if critical is None:
            return 0.0, None
        shares = -np.expm1(levels - critical)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.where(shares > 1e-9, self.excess / shares, math.inf)
        best = int(np.argmin(values))
        return (float(values[best]) / ratio, best) if values[best] < 1 else (1 / ratio, None)

    def prove(self, ratio: Fraction, level: float | None) -> Ball:
        """Bound m_x(t) by the upper end of a ball."""
        if ratio * self.mass > 1:
            return ball(0)
        if level is None:
            return ball(1 / ratio)
        total = sum((ball(weight) * side.upper.at(level) for side, weight in self.sides), ball(0))
        if ratio * self.mass == 1:
            return total / ball(ratio)
        share = -(ball(level) - critical_log(ratio, self.mass)).expm1()
        return total / (ball(ratio) * share) if share > 0 else ball(1 / ratio)


def bound_by_pairs(
    sides: Mapping[tuple[int, int], Side], masses: Sequence[Fraction], delta: Fraction
) -> float:
    """Bound ε_c(δ) of several secrets from above by the curves of their pairs; secrets of mass 0 are left out."""
    from flint import ctx

    support = [place for place, mass in enumerate(masses) if mass]
    most = 1 / min(masses[place] for place in support)
    with ctx.workprec(WORKING_BITS):
        levels = np.linspace(-_FARTHEST, _FARTHEST, _THRESHOLDS)
        suspects = [_suspect(place, sides, masses, support, levels) for place in support]

        def reached(ratio: float) -> bool:
            return sum(each.estimate(ratio, levels)[0] for each in suspects) >= float(delta)

        found = _bisect(reached, _double(most))
        for step in _STEPS:
            ratio = Fraction(found * (1 + step))
            places = [each.estimate(_double(ratio), levels)[1] for each in suspects]
            chosen = [None if place is None else float(levels[place]) for place in places]
            total = sum(
                (each.prove(ratio, level) for each, level in zip(suspects, chosen, strict=True)), ball(0)
            )
            if 1 < ratio < most and total < ball(delta):
                return max(0.0, log_bounds(ratio)[1])
    return log_bounds(most)[1]


def _suspect(
    place: int,
    sides: Mapping[tuple[int, int], Side],
    masses: Sequence[Fraction],
    support: Sequence[int],
    levels: FloatArray,
) -> _Suspect:
    weighted = [
        (sides[place, other], masses[other] / (1 - masses[place])) for other in support if other != place
    ]
    excess = sum(float(weight) * side.upper.estimate(levels) for side, weight in weighted)
    return _Suspect(masses[place], weighted, np.asarray(excess))
