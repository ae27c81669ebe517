"""Solve the fractional knapsack: fill a probability δ with the outcomes of largest lift K_xy/q_y, the last in part.

    G_x(δ) = max { Σ_y w_y K_xy : 0 ≤ w ≤ 1, Σ_y w_y q_y = δ },   κ_x(δ) = G_x(δ)/δ.

By duality, for every τ ≥ 0, G_x(δ) ≤ τδ + Σ_y (K_xy − τ q_y)₊, with equality where τ is the lift of the last outcome
taken.

Floats. The upper end is the dual bound, with q_y replaced by its lower end: an event of mass δ has no
more than δ then, so the bound only grows. The lower end is what an event that surely has mass δ surely
reaches. Sorting by rounded lifts costs nothing: x/q < t for a float t follows from its rounding.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightlip.measures.joint import FloatJoint
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import UNIT, gamma, log_ratio_down, log_ratio_up, tree_sum


class ExactKnapsack(NamedTuple):
    """Hold the best event of one row: κ, the order of outcomes, how many are taken whole, the part of the next."""

    ratio: Fraction
    order: list[int]
    whole: int
    share: Fraction


def solve_exactly(
    row: Sequence[Fraction], marginal: Sequence[Fraction], deltas: Sequence[Fraction]
) -> list[ExactKnapsack]:
    """Solve the knapsack κ(δ) of one row of likelihoods, in rationals; a δ above the whole mass counts as all of it.

    >>> half = Fraction(1, 2)
    >>> [found.ratio for found in solve_exactly([half, half], [Fraction(1, 4), 3 * half / 2], [half, Fraction(1)])]
    [Fraction(4, 3), Fraction(1, 1)]
    """
    order = sorted(range(len(row)), key=lambda place: row[place] / marginal[place], reverse=True)
    masses = list(accumulate((marginal[place] for place in order), initial=Fraction(0)))
    gains = list(accumulate((row[place] for place in order), initial=Fraction(0)))
    found = []
    for delta in deltas:
        mass = min(delta, masses[-1])
        whole = bisect_left(masses, mass, lo=1) - 1
        share = (mass - masses[whole]) / marginal[order[whole]]
        ratio = (gains[whole] + share * row[order[whole]]) / mass
        found.append(ExactKnapsack(ratio, order, whole, share))
    return found


@dataclass(frozen=True, slots=True)
class Levels:
    """Round probabilities δ to floats: above ≥ δ, and reachable ≤ δ and ≤ the mass of all outcomes."""

    above: FloatArray
    reachable: FloatArray
    least: FloatArray
    most: FloatArray
    all_least: float
    all_most: float

    @classmethod
    def of(cls, deltas: Sequence[Fraction], joint: FloatJoint) -> Levels:
        """Round outward, with the ends of the outcomes' probabilities."""
        least, most = joint.probability_ends()
        (low, high), error = tree_sum(np.stack([least, most]))
        whole = float(low) * (1 - 2 * error)
        above = [_round(delta, math.inf) for delta in deltas]
        below = [min(_round(delta, 0.0), whole) for delta in deltas]
        return cls(np.array(above), np.array(below), least, most, whole, float(high) * (1 + 2 * error))


@dataclass(frozen=True, slots=True)
class Knapsacks:
    """Sort rows of likelihoods by lift, with running sums (first column 0): enough to fill any mass.

    Sums of `gains` and `mosts` are off by a relative `error`; `leasts` are lower ends already.
    """

    order: NDArray[np.intp]
    lifts: FloatArray
    rows: FloatArray
    least: FloatArray
    most: FloatArray
    gains: FloatArray
    leasts: FloatArray
    mosts: FloatArray
    error: float

    @classmethod
    def of(cls, rows: FloatArray, least: FloatArray, most: FloatArray) -> Knapsacks:
        """Sort each row by lift."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            lifts = np.where(rows > 0, rows / least, 0.0)
        order = np.argsort(-lifts, axis=1)
        lifts, rows = np.take_along_axis(lifts, order, 1), np.take_along_axis(rows, order, 1)
        least, most = least[order], most[order]
        (gains, error), (leasts, _), (mosts, _) = (
            _running_sums(rows),
            _running_sums(least),
            _running_sums(most),
        )
        leasts = np.maximum.accumulate(leasts * (1 - 2 * error), axis=1)
        return cls(order, lifts, rows, least, most, gains, leasts, mosts, error)

    def upper(self, levels: Levels) -> FloatArray:
        """Bound log κ above for each row and level, by the dual bound of the module's docstring."""
        at, full = self._boundary(levels)
        tau = self._pick(self.lifts, at)
        before = self._pick(self.gains, at) * (1 + 2 * self.error)
        total = self.gains[:, -1:] * (1 + 2 * self.error)
        with np.errstate(invalid="ignore", over="ignore"):
            inside = np.maximum(before - tau * self._pick(self.leasts, at), 0.0)
            gain = (np.nextafter(tau, math.inf) * levels.above + inside + 8 * UNIT * before) * (1 + 8 * UNIT)
        gain = np.where(full | np.isinf(tau), total, np.fmin(gain, total))
        return log_ratio_up(gain, np.broadcast_to(levels.reachable, gain.shape))

    def lower(self, levels: Levels) -> FloatArray:
        """Bound log κ below for each row and level: what the event of `shares` surely reaches."""
        at, full = self._boundary(levels)
        share = self._share(levels, at)
        gain = self._pick(self.gains, at) * (1 - 2 * self.error)
        gain = (gain + share * (1 - 4 * UNIT) * self._pick(self.rows, at)) * (1 - 4 * UNIT)
        mass = self._pick(self.mosts, at) * (1 + 2 * self.error)
        mass = (mass + share * (1 + 4 * UNIT) * self._pick(self.most, at)) * (1 + 4 * UNIT)
        gain = np.where(full, self.gains[:, -1:] * (1 - 2 * self.error), gain)
        mass = np.where(full, self.mosts[:, -1:] * (1 + 2 * self.error), mass)
        return log_ratio_down(gain, mass)

    def event(self, levels: Levels) -> FloatArray:
        """Write down the event behind `lower`, for one row and one level: a weight for each outcome."""
        at, full = self._boundary(levels)
        weights = np.zeros(self.rows.shape[1])
        weights[self.order[0, : int(at[0, 0])]] = 1.0
        weights[self.order[0, int(at[0, 0])]] = 1.0 if full[0, 0] else self._share(levels, at)[0, 0]
        return weights

    def _boundary(self, levels: Levels) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Find the outcome taken in part, and where no number of outcomes surely has the mass."""
        at = np.array([np.searchsorted(row, levels.above) for row in self.leasts[:, 1:]], dtype=np.intp)
        last = self.rows.shape[1] - 1
        return np.minimum(at, last), at > last

    def _share(self, levels: Levels, at: NDArray[np.intp]) -> FloatArray:
        """Compute the part that is surely enough, also after a row (w, 1 − w) of floats is scaled to sum to 1."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            share = (levels.above - self._pick(self.leasts, at)) / self._pick(self.least, at)
            share = np.nextafter(share * (1 + 16 * UNIT), math.inf)
        return np.fmin(share, 1.0)

    def _pick(self, values: FloatArray, at: NDArray[np.intp]) -> FloatArray:
        return np.take_along_axis(values, at, 1)


def _running_sums(values: FloatArray) -> tuple[FloatArray, float]:
    """Add up along each row, 0 first, with a bound on their relative error.

    Sums within pieces of about √M entries, then over the pieces: the error grows with √M, not M.
    """
    rows, length = values.shape
    width = math.isqrt(length - 1) + 1
    pieces = -(-length // width)
    padded = np.zeros((rows, pieces * width))
    padded[:, :length] = values
    inner = np.cumsum(padded.reshape(rows, pieces, width), axis=2)
    inner[:, 1:] += np.cumsum(inner[:, :-1, -1], axis=1)[:, :, None]
    sums = np.zeros((rows, length + 1))
    sums[:, 1:] = inner.reshape(rows, -1)[:, :length]
    return sums, gamma(width + pieces + 2)


def _round(value: Fraction, toward: float) -> float:
    """Round to a float on one side of a positive rational, which stays positive."""
    nearest = float(value)
    exact = Fraction(nearest)
    if exact == value or (exact > value) == (toward > nearest):
        return nearest
    return math.nextafter(nearest, toward)
