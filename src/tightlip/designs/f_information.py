"""f-informations: how much an output says about the secret, by a convex function of the lift.

    I_f(X; Y) = Σ_y q_y Σ_x p_x f(k_xy / q_y),     q_y = p·k_y,

    mutual information   u log u − u + 1, in nats        chi-squared       (u − 1)²
    squared Hellinger    (√u − 1)²                       total variation   |u − 1| / 2

A multiple of u − 1 added to f changes nothing, since Σ_x p_x k_xy = q_y; with the one taken here f ≥ 0 and f(1) = 0. So
sums of terms lose no digits, and a relative error of f is one of the sum. f is written as a function of d = u − 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tightlip.numeric.parse import FloatArray

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
            # six roundings of at most 4 units each, times 2⁷ lost at |d| = 1/64: below 2⁻⁴²
            small = np.where(np.abs(d) < _NEAR, d, 0.0)
            series = np.polynomial.polynomial.polyval(-small, _SERIES) * small * small
            large = np.where(d > -1, d, 0.0)
            return np.where(
                np.abs(d) < _NEAR, series, np.where(d > -1, (1 + large) * np.log1p(large) - d, 1.0)
            )
        if self.name == "chi_squared":
            return np.asarray(d * d)
        if self.name == "hellinger":
            return np.asarray((d / (1 + np.sqrt(1 + d if u is None else u))) ** 2)
        return np.asarray(np.abs(d) / 2)

    def excess_up(self, d: FloatArray, u: FloatArray | None = None) -> FloatArray:
        """Bound f(1 + d) from above."""
        return np.nextafter(self.excess(d, u) * (1 + 2 * ERROR), np.inf)

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
