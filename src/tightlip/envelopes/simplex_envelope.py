"""The envelope of few secrets and very many outcomes: V(t) from both sides by its dual, proved in whole numbers.

    V(t) = max Σ_xy w_xy q_y   s.t.   Σ_x w_xy ≤ 1,   Σ_y w_xy (K_xy − t q_y) ≥ 0,   w ≥ 0
         ≤ Σ_y max(0, max_x λ_x K_xy + (1 − λ_x t) q_y)                              for all λ ≥ 0.

The dual has one variable for each secret. Each λ says to whom it gives each outcome, which is a point w of the primal
without its ratios; mixtures of such points that keep the ratios are attacks, and the prices of the best mixture are the
next λ (Dantzig and Wolfe). Floats propose λ and the mixture, and sums of whole numbers prove what they are worth.

Masses lack what was rounded off, at most m_s of secret s in all. From above that is added as outcomes that give s away:
the terms of the dual are sublinear and not negative. From below it may be part of what a symbol swallows: its
likelihood is at least that of the masses, and its probability at most Σ_s p_s m_s more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightlip.envelopes.simplex_grid import ONE, Lattice
from tightlip.numeric.ball import ball, enclose, log_bounds
from tightlip.numeric.parse import FloatArray, ObjectArray

# outcomes of less mass are counted as lost from above, and as one outcome from below
_TINY = ONE >> 64
# rounds of pricing at one ratio, and what they may leave of V: these trade time against the gap only
_ROUNDS, _REST = 60, 1e-10
# mixtures that are kept
_MOST_POINTS = 200
# relative distances from what the search found at which a proof is tried, nearest first
_STEPS = (1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
_CLOSE, _LEAST = 1e-10, 1e-300
# a symbol that misses its ratio by more is left out of an attack
_MISSED = Fraction(1, 10**7)


class Proposal(NamedTuple):
    """What floats say of V at one ratio: its value, the prices λ, and the mixture of points."""

    value: float
    prices: FloatArray
    shares: list[tuple[float, NDArray[np.int8]]]


@dataclass(frozen=True, slots=True)
class Point:
    """An assignment of outcomes to secrets, −1 to none, with likelihood and probability of each secret's."""

    owners: NDArray[np.int8]
    chances: FloatArray
    weights: FloatArray


class Outcomes:
    """Outcomes of a lattice as likelihoods in whole numbers, with a prior: V(t) from the side of the lattice."""

    def __init__(self, lattice: Lattice, masses: Sequence[Fraction]) -> None:
        self.prior = list(masses)
        found = np.concatenate([cells.masses for cells in lattice.cells.values()] or [_none(lattice)], axis=1)
        rare = (found.max(axis=0) < _TINY).astype(bool) if found.size else np.zeros(0, dtype=bool)
        kept, rest = found[:, ~rare], found[:, rare]
        if lattice.split:
            lost = [ONE - int(total) for total in kept.sum(axis=1)]
            kept = np.concatenate([kept, np.array(np.diag(lost), dtype=object)], axis=1)
        elif rest.size:
            kept = np.concatenate([kept, rest.sum(axis=1)[:, None]], axis=1)
        self.lost = [max(0, ONE - int(total)) for total in kept.sum(axis=1)]
        self.whole: ObjectArray = kept[:, kept.any(axis=0).astype(bool)]
        self.chances: FloatArray = (self.whole / ONE).astype(np.float64)
        self.marginal: FloatArray = np.array([float(mass) for mass in masses]) @ self.chances
        self._points: list[Point] = []

    def propose(self, ratio: float, scale: float) -> Proposal:
        """Estimate V(t) by column generation, to a small part of `scale`."""
        lifts = self.chances / self.marginal
        self._add(np.where(lifts.max(axis=0) >= ratio, lifts.argmax(axis=0), -1))
        best = Proposal(math.inf, np.zeros(len(self.chances)), [])
        for _ in range(_ROUNDS):
            value, prices, shares = self._mix(ratio, scale)
            terms = prices[:, None] * self.chances + (1 - prices * ratio)[:, None] * self.marginal
            tops = terms.max(axis=0)
            bound = float(np.maximum(tops, 0.0).sum())
            if bound < best.value:
                best = Proposal(bound, prices, shares)
            best = best._replace(shares=shares)
            if bound - value <= _REST * max(scale, value):
                break
            self._add(np.where(tops > 0, terms.argmax(axis=0), -1))
        return best

    def _add(self, owners: NDArray[np.intp]) -> None:
        size, used = len(self.chances), owners >= 0
        own = owners[used]
        chances = np.bincount(own, self.chances[own, np.flatnonzero(used)], size).astype(np.float64)
        weights = np.bincount(own, self.marginal[used], size).astype(np.float64)
        self._points = [*self._points[-_MOST_POINTS:], Point(owners.astype(np.int8), chances, weights)]

    def _mix(
        self, ratio: float, scale: float
    ) -> tuple[float, FloatArray, list[tuple[float, NDArray[np.int8]]]]:
        """Find the likeliest mixture of points that keeps the ratio for all secrets, and the prices."""
        from scipy.optimize import linprog

        gains = np.array([point.weights.sum() for point in self._points]) / scale
        slack = np.array([point.chances - ratio * point.weights for point in self._points]).T / scale
        table = np.vstack([-slack, np.ones(len(gains))])
        limits = np.append(np.zeros(len(slack)), 1.0)
        tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        found = linprog(-gains, A_ub=table, b_ub=limits, method="highs-ds", options=tight)
        if found.x is None:
            return 0.0, np.full(len(slack), 1 / ratio), []
        prices = np.maximum(-found.ineqlin.marginals[:-1], 0.0)
        shares = [
            (float(share), point.owners)
            for share, point in zip(found.x, self._points, strict=True)
            if share > 0
        ]
        return float(gains @ found.x) * scale, prices, shares

    def at_most(self, ratio: Fraction, prices: FloatArray) -> Fraction:
        """Bound V(t) by the dual, exactly; for outcomes from above."""
        exact = [Fraction(price) for price in prices.tolist()]
        terms = [
            [price * (secret == other) + (1 - price * ratio) * mass for other, mass in enumerate(self.prior)]
            for secret, price in enumerate(exact)
        ]
        unit = math.lcm(*(term.denominator for row in terms for term in row))
        tops: ObjectArray = np.zeros(self.whole.shape[1], dtype=object)
        for row in terms:
            values = sum(int(term * unit) * own for term, own in zip(row, self.whole, strict=True))
            tops = np.maximum(tops, values)
        return Fraction(int(tops.sum()), unit * ONE)

    def attack(
        self, ratio: Fraction, shares: list[tuple[float, NDArray[np.int8]]]
    ) -> tuple[Fraction, Fraction]:
        """Work out what a mixture reaches, exactly: its least ratio and its probability; for outcomes from below."""
        exact = [Fraction(share) for share, _ in shares]
        total = max(sum(exact, Fraction(0)), Fraction(1))
        lost = sum((mass * own for mass, own in zip(self.prior, self.lost, strict=True)), Fraction(0))
        reached, likely = [], Fraction(0)
        for secret in range(len(self.prior)):
            sums = [Fraction(0)] * len(self.prior)
            for share, (_, owners) in zip(exact, shares, strict=True):
                parts = self.whole[:, owners == secret].sum(axis=1)
                sums = [one + share * int(part) for one, part in zip(sums, parts, strict=True)]
            weight = (
                sum((mass * own for mass, own in zip(self.prior, sums, strict=True)), Fraction(0)) / total
            )
            if weight and sums[secret] / total >= ratio * (1 - _MISSED) * (weight + lost):
                reached.append(sums[secret] / total / (weight + lost))
                likely += weight
        return min(reached, default=Fraction(1)), likely / ONE


def _none(lattice: Lattice) -> ObjectArray:
    return np.zeros((lattice.secrets, 0), dtype=object)


def envelope_ends(lower: Outcomes, upper: Outcomes, delta: Fraction) -> tuple[float, float]:
    """Bracket ε_c(δ), the logarithm of the largest t with V(t) ≥ δ."""
    high = _upper_end(upper, delta)
    return min(_lower_end(lower, delta), high), high


def _upper_end(outcomes: Outcomes, delta: Fraction) -> float:
    most = 1 / min(outcomes.prior)
    found = _crossing(outcomes, float(delta), float(most))
    for step in _STEPS:
        ratio = Fraction(found * (1 + step))
        if ratio >= most:
            break
        if outcomes.at_most(ratio, outcomes.propose(float(ratio), float(delta)).prices) < delta:
            return max(0.0, log_bounds(ratio)[1])
    return log_bounds(most)[1]


def _lower_end(outcomes: Outcomes, delta: Fraction) -> float:
    most = 1 / min(outcomes.prior)
    found = _crossing(outcomes, float(delta), float(most))
    for step in _STEPS:
        ratio = Fraction(found * (1 - step))
        reached, likely = outcomes.attack(ratio, outcomes.propose(float(ratio), float(delta)).shares)
        if likely >= delta:
            return max(0.0, log_bounds(reached)[0])
    return 0.0


def _crossing(outcomes: Outcomes, delta: float, most: float) -> float:
    """Find the largest ratio at which V seems to be at least δ."""
    from scipy.optimize import brentq

    def above(ratio: float) -> float:
        return math.log(max(outcomes.propose(ratio, delta).value, _LEAST) / delta)

    if above(most) >= 0:
        return most
    return float(brentq(above, 1.0, most, xtol=_CLOSE, rtol=_CLOSE)) if above(1.0) > 0 else 1.0


def failure_ends(lower: Outcomes, upper: Outcomes, ratios: tuple[Fraction, Fraction]) -> tuple[float, float]:
    """Bracket δ_c(ε), given rationals around e^ε."""
    low, high = ratios
    most = 1 / min(upper.prior)
    if high >= most:
        return 0.0, (0.0 if low >= most else 1.0)
    proved = upper.at_most(low, upper.propose(float(low), 1.0).prices) if low > 1 else Fraction(1)
    above = enclose(lambda: ball(min(proved, Fraction(1))))[1]
    best = Fraction(0)
    for step in _STEPS:
        ratio = min(high * (1 + Fraction(step)), most)
        reached, likely = lower.attack(ratio, lower.propose(float(ratio), 1.0).shares)
        best = max(best, likely) if reached > high else best
    return min(enclose(lambda: ball(best))[0], above), above


def leakage_ends(lower: Outcomes, upper: Outcomes) -> tuple[float, float]:
    """Bracket maximal leakage, log Σ_y max_x K_xy."""
    sums = [Fraction(int(side.whole.max(axis=0).sum()), ONE) for side in (lower, upper)]
    size = len(upper.prior)
    low, high = (max(Fraction(1), min(total, Fraction(size))) for total in sums)
    return log_bounds(min(low, high))[0], log_bounds(high)[1]
