"""The masses of a prior for proofs about very many secrets: sums and comparisons are exact, and go through arrays.

A float is what it stores. Rationals are counted in a common unit, since whole numbers are far faster than Fractions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.measures.joint import exact_sum

Mask = NDArray[np.bool_]

_MOST_UNITS = 2**61  # so that sums of masses, 1 or about 1 together, are 64-bit numbers


@dataclass(frozen=True, slots=True)
class Masses:
    """Each mass is `values[place]·unit`: a whole number of units, or a float with unit 1.

    >>> masses = Masses.of(np.array([Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)], dtype=object))
    >>> masses.values, masses.unit
    (array([1, 2, 3]), Fraction(1, 6))
    >>> masses.below(Fraction(1, 3)), masses.total(masses.at_most(Fraction(1, 3)))
    (array([ True, False, False]), Fraction(1, 2))
    """

    values: NDArray[Any]
    unit: Fraction

    @classmethod
    def of(cls, masses: NDArray[Any]) -> Masses:
        """From floats or Fractions."""
        if masses.dtype != object:
            return cls(masses, Fraction(1))
        numerators = [mass.numerator for mass in masses.tolist()]
        denominators = [mass.denominator for mass in masses.tolist()]
        units = math.lcm(*set(denominators))
        whole = np.int64 if units < _MOST_UNITS else object
        counts = np.array(numerators, dtype=whole) * (units // np.array(denominators, dtype=whole))
        return cls(counts, Fraction(1, units))

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: int) -> Fraction:
        return (
            Fraction(self.values[place].item() if self.values.dtype != object else self.values[place])
            * self.unit
        )

    def least(self) -> Fraction:
        """The smallest."""
        return self[int(self.values.argmin())]

    def ranked(self) -> Masses:
        """The positive ones, in ascending order."""
        return Masses(np.sort(self.values[self.positive()]), self.unit)

    def positive(self) -> Mask:
        """Which are."""
        return np.asarray(self.values > 0, dtype=np.bool_)

    def total(self, chosen: Mask | slice | None = None) -> Fraction:
        """The sum of all or of some, without rounding."""
        values = self.values if chosen is None else self.values[chosen]
        return exact_sum(values) if values.dtype == np.float64 else int(values.sum()) * self.unit

    def at_most(self, bound: Fraction) -> Mask:
        """Which are no more than a bound, decided exactly."""
        return np.asarray(self.values <= self._threshold(bound, -math.inf), dtype=np.bool_)

    def below(self, bound: Fraction) -> Mask:
        """Which are less than a bound, decided exactly."""
        return np.asarray(self.values < self._threshold(bound, math.inf), dtype=np.bool_)

    def _threshold(self, bound: Fraction, side: float) -> float | int:
        """The nearest float, or whole number of units, on one side of the bound: no other lies between."""
        clipped = min(max(bound, Fraction(-2)), Fraction(2))  # masses are in [0, 1]
        if self.values.dtype != np.float64:
            return math.floor(clipped / self.unit) if side < 0 else math.ceil(clipped / self.unit)
        nearest = float(clipped)
        wrong = Fraction(nearest) > clipped if side < 0 else Fraction(nearest) < clipped
        return math.nextafter(nearest, side) if wrong else nearest
