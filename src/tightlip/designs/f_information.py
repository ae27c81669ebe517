"""f-informations: how much an output says about the secret, by a convex function of the lift.

    I_f(X; Y) = Σ_y q_y Σ_x p_x f(k_xy / q_y),     q_y = p·k_y,

    mutual information   u log u − u + 1, in nats        chi-squared       (u − 1)²
    squared Hellinger    (√u − 1)²                       total variation   |u − 1| / 2

A multiple of u − 1 added to f changes nothing, since Σ_x p_x k_xy = q_y; with the one taken here f ≥ 0 and f(1) = 0. So
sums of terms lose no digits, and a relative error of f is one of the sum. f is written as a function of d = u − 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import UNIT

Name = Literal["mutual_information", "chi_squared", "hellinger", "total_variation"]

ERROR = 2.0**-41
"""Relative error of `Information.excess`, twice what is shown in its comments."""

_WORDS = {
    "mutual_information": "mutual information",
    "chi_squared": "chi-squared information",
    "hellinger": "squared Hellinger information",
    "total_variation": "total variation information",
}
_NEAR = (
    1 / 64
)  # below it nine terms of the series are exact to 2⁻⁵⁴, above it u log u − u + 1 loses at most 7 bits
_TINY = 1e-300
_LEAST = 2.0**-53 - 1  # where slopes end that are infinite at −1
_SERIES = [1 / ((power + 1) * (power + 2)) for power in range(9)]


@dataclass(frozen=True, slots=True)
class Information:
    """An f-information, by its name."""

    name: Name

    def words(self) -> str:
        """Say it in words."""
        return _WORDS[self.name]

    def excess(self, d: FloatArray, u: FloatArray | None = None) -> FloatArray:
        """Compute f(1 + d) for d ≥ −1, to a relative error of `ERROR`.

        Near −1 a rounding of d is no small part of u = 1 + d, and √u feels it: where u is known better than d tells, it
        is given too.

        >>> Information("chi_squared").excess(np.array([-1.0, 0.0, 2.0])).tolist()
        [1.0, 0.0, 4.0]
        """
        if self.name == "mutual_information":
            # six roundings of at most 4 units each, times 2⁷ lost at |d| = 1/64: below 2⁻⁴²; less than 2⁻⁴⁷ at −1
            large = np.maximum(d, _LEAST)
            found = (1 + large) * np.log1p(large) - d
            near = (np.abs(d) < _NEAR) & (d != 0)
            if near.any():
                small = d[near]
                found[near] = np.polynomial.polynomial.polyval(-small, _SERIES) * small * small
            return found
        if self.name == "chi_squared":
            return np.asarray(d * d)
        if self.name == "hellinger":
            return np.asarray((d / (1 + np.sqrt(1 + d if u is None else u))) ** 2)
        return np.asarray(np.abs(d) / 2)

    def excess_up(self, d: FloatArray, u: FloatArray | None = None) -> FloatArray:
        """Bound f(1 + d) from above."""
        # what is added is more than rounding takes away from numbers that are too small for a relative error
        return np.asarray(self.excess(d, u) * (1 + 2 * ERROR) + _TINY)

    def slope(self, d: FloatArray) -> FloatArray:
        """Compute f′(1 + d), one of its values where f has a kink, and a finite one where it is infinite."""
        if self.name == "mutual_information":
            return np.log1p(np.maximum(d, _LEAST))
        if self.name == "chi_squared":
            return np.asarray(2 * d)
        if self.name == "hellinger":
            return np.asarray(1 - 1 / np.sqrt(1 + np.maximum(d, _LEAST)))
        return np.where(d >= 0, 0.5, -0.5)

    def of_columns(self, columns: FloatArray, masses: FloatArray) -> FloatArray:
        """Compute Σ_x p_x f(v_x) of columns (rows of the array) with p·v = 1, without error bounds."""
        return np.asarray(self.excess(np.maximum(columns - 1, -1.0)) @ masses)

    def largest_lift(self, lift: float) -> float:
        """Bound I_f from above for channels with Σ_y max_x k_xy ≤ lift: under PML or maximal leakage of log lift.

        f is below its chord on [0, M], so E f(v) ≤ (1 − 1/M) f(0) + f(M)/M =: G(M) for max v = M and E v = 1. Here G is
        log M, M − 1, 2 − 2/√M and 1 − 1/M: concave, so Σ q_y G(M_y) ≤ G(Σ q_y M_y).
        """
        zero, high = self.excess_up(np.array([-1.0, lift - 1.0])).tolist()
        return float(((lift - 1) / lift * zero + high / lift) * (1 + 4 * ERROR))


@dataclass(frozen=True, slots=True)
class Curve:
    """F(σ): what a column with `high` on a set of mass σ and `low` off it is worth before scaling.

    With l and h for low and high, and q = l + (h − l)σ,

        mutual information  σ h log h + (1−σ) l log l − q log q        chi-squared      h + l − hl/q − q
        squared Hellinger   2q − 2√q (σ√h + (1−σ)√l)                   total variation  σ (1−σ)(h − l)
    """

    utility: Information
    low: float
    high: float

    def total(self, mass: FloatArray) -> FloatArray:
        """Compute q = p·k."""
        return self.low + (self.high - self.low) * mass

    def value(self, mass: FloatArray) -> FloatArray:
        """Compute F, to a relative error of 2 `ERROR`: by f itself, as the sums above lose digits where l is near h."""
        total, span = self.total(mass), self.high - self.low
        above = self.utility.excess(span * (1 - mass) / total, self.high / total)
        below = self.utility.excess(np.maximum(-span * mass / total, -1.0), self.low / total)
        return np.asarray(total * (mass * above + (1 - mass) * below))

    def slope(self, mass: FloatArray) -> FloatArray:
        """Compute F′."""
        low, high, total = self.low, self.high, self.total(mass)
        if self.utility.name == "mutual_information":
            ends = high * np.log(high) - (low * np.log(low) if low else 0.0)
            return np.asarray(ends - (high - low) * (np.log(total) + 1))
        if self.utility.name == "chi_squared":
            return np.asarray((high - low) * (high * low / total**2 - 1))
        if self.utility.name == "hellinger":
            roots, mean = np.sqrt([low, high]), np.sqrt(total)
            inner = mass * roots[1] + (1 - mass) * roots[0]
            return np.asarray((high - low) * (2 - inner / mean) - 2 * mean * (roots[1] - roots[0]))
        return np.asarray((high - low) * (1 - 2 * mass))

    @property
    def curvature(self) -> float:
        """Bound F″ from above: F is concave but for squared Hellinger at high > 9 low.

        There, with low = 1, high = t, A = √t/(√t + 1), B = 1/(√t + 1) and q = 1 + (t − 1)σ ≥ 1,
        F = 2q − 2(A√q + Bq^{3/2}) and F″ = (t − 1)² (A − 3Bq) / (2 q^{3/2}).
        """
        if self.utility.name != "hellinger" or self.low == 0 or self.high <= 9 * self.low:
            return 0.0
        factor = self.high / self.low
        root = np.sqrt(factor)
        return float(self.low * (factor - 1) ** 2 / 2 * (root - 3) / (root + 1) * (1 + 1e-9))

    def ceiling(self, centres: FloatArray, radius: float | FloatArray, slopes: FloatArray) -> FloatArray:
        """Bound F(σ) − slope σ from above for all σ within a radius of each centre: a row for each slope."""
        return self._ceiling(self.value(centres), self.slope(centres), centres, radius, slopes)

    def cell_ceiling(self, cells: int, slopes: FloatArray) -> FloatArray:
        """Bound F(σ) − slope σ from above for all σ in each of the cells of [0, 1]: a row for each slope."""
        return self._ceiling(*_on_cells(self, cells), 0.5 / cells, slopes)

    def _ceiling(
        self,
        value: FloatArray,
        tangent: FloatArray,
        centres: FloatArray,
        radius: float | FloatArray,
        slopes: FloatArray,
    ) -> FloatArray:
        value, slope = value * (1 + 4 * ERROR), slopes[:, None]
        # slopes are off by far less than a share of 1e-9 of what they are made of
        tilt = np.abs(tangent - slope) + 1e-9 * (np.abs(tangent) + self.high + np.abs(slope))
        bent = self.curvature * radius * radius / 2
        return np.asarray(value - slope * centres + 16 * UNIT * np.abs(slope) + tilt * radius + bent)


@lru_cache(maxsize=64)
def _on_cells(curve: Curve, cells: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute F, F′ and the centres of cells, once for all slopes that are tried."""
    centres = (np.arange(cells) + 0.5) / cells
    return curve.value(centres), curve.slope(centres), centres
