"""Sound numbers for what the search suggests: the total of a selection and the bound that prices prove.

Prices here are those of the cover (V ≥ 0). `FloatJudge` rounds outward; `ExactJudge` computes in rationals, for
V = W − shift, where W = K or −K is what the certificate is about.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from tightlip.certificate.statistic import PriceList, Prices, Table, exact_fraction
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import UNIT, gamma, sum_down, sum_up
from tightlip.statistic.cover import Cover, Mask
from tightlip.statistic.groups import Places
from tightlip.statistic.work import CALL

_NEAR = 1e-9
_RATIONAL = 500  # floats that could be read in the time that one rational takes
_DENOMINATORS = (12, 1000, 10**6)


@dataclass(frozen=True, slots=True)
class Bounded:
    """Prices in the certificate's terms, and the total they prove as a rational."""

    prices: Prices
    total: Fraction


class Judge(Protocol):
    """Weighs selections and prices; `slack` is the relative gap at which the ends count as met."""

    @property
    def slack(self) -> Fraction:
        """The relative gap below which no further proof is wanted."""

    @property
    def cost(self) -> int:
        """About as many entries as could be read in the time that a bound takes."""

    def total(self, selection: Places) -> Fraction:
        """Bound F of a selection from below."""

    def bound(self, prices: FloatArray, allowed: Mask, goal: Fraction) -> Bounded:
        """Bound F of every selection of allowed rows from above; `goal` is what would settle the matter."""

    def bound_single(self, selection: Places) -> Bounded:
        """Bound F where the selection is the only one allowed."""


@dataclass(frozen=True, slots=True)
class FloatJudge:
    """F of a float channel, W = K: sums are rounded outward."""

    cover: Cover
    slack: Fraction = Fraction(1, 10**12)

    @property
    def cost(self) -> int:
        """One pass over the entries, and a rational for each output."""
        return len(self.cover.values) + (self.cover.outputs + 1) * CALL

    def total(self, selection: Places) -> Fraction:
        """Compute the sum of the largest entries, rounded down."""
        return Fraction(sum_down(self.cover.maxima(selection)))

    def bound(self, prices: FloatArray, allowed: Mask, goal: Fraction) -> Bounded:
        """D(u) with every rounding counted."""
        longest = int(np.diff(self.cover.starts).max())
        tops, _ = self.cover.tops(self.cover.gains(prices), allowed)
        relative = 1 + 2 * gamma(longest + 2) + 4 * UNIT
        parts = np.concatenate([prices, np.nextafter(tops * relative, np.inf)])
        return Bounded(tuple(Fraction(price) for price in prices.tolist()), Fraction(sum_up(parts)))

    def bound_single(self, selection: Places) -> Bounded:
        """Take the largest entries themselves as prices."""
        peaks = self.cover.maxima(selection)
        return Bounded(tuple(Fraction(price) for price in peaks.tolist()), Fraction(sum_up(peaks)))


@dataclass(frozen=True, slots=True)
class ExactJudge:
    """F in rationals; prices near the goal are also tried with short denominators, since optima often have them."""

    cover: Cover
    table: Table
    shift: Prices
    slack: Fraction = Fraction(0)

    @property
    def cost(self) -> int:
        """One pass over the entries as rationals."""
        return _RATIONAL * len(self.cover.values) + (self.cover.outputs + 1) * CALL

    def total(self, selection: Places) -> Fraction:
        """F of the selection."""
        return exact_fraction(self.table.total(self.cover.order[selection].tolist()))

    def bound(self, prices: FloatArray, allowed: Mask, goal: Fraction) -> Bounded:
        """D(u), exactly."""
        rows = [
            [int(self.cover.order[row]) for row in self.cover.members(group) if allowed[row]]
            for group in range(self.cover.groups)
        ]
        plain = [Fraction(price) for price in prices.tolist()]
        best = self._weigh(plain, rows)
        for denominator in _DENOMINATORS:
            if not goal < best.total <= goal + Fraction(_NEAR) * (1 + abs(goal)):
                break
            short = self._weigh([price.limit_denominator(denominator) for price in plain], rows)
            best = short if short.total < best.total else best
        return best

    def bound_single(self, selection: Places) -> Bounded:
        """Take the largest entries themselves as prices."""
        peaks = [exact_fraction(peak) for peak in self.table.peaks(self.cover.order[selection].tolist())]
        return Bounded(tuple(peaks), sum(peaks, Fraction(0)))

    def _weigh(self, prices: list[Fraction], rows: list[list[int]]) -> Bounded:
        own = tuple(price + shift for price, shift in zip(prices, self.shift, strict=True))
        return Bounded(own, exact_fraction(self.table.bound(PriceList.of(own), rows)))
