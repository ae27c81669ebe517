"""A channel and a prior as the rationals they store, ready for a proof to be checked.

The sums q_y = Σ_x p_x K_xy of floats are done in whole numbers, at one power of two for all. Beside the rationals
stand floats that are right to one rounding each: where these already decide which secret matters to an outcome,
only that secret is looked at exactly (a floating-point filter; the verdict is the same as without it).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.model.align import align
from tightlip.model.channel import Channel
from tightlip.model.matrix import dense
from tightlip.model.prior import Prior
from tightlip.numeric.parse import FloatArray

_BLOCK = 500_000
_RELATIVE, _ABSOLUTE = 2.0**-49, 1e-290  # of nine roundings; below the second floats lose digits


@dataclass(frozen=True, slots=True)
class RationalRelease:
    """K as stored, p and q as rationals, and q and the support as arrays."""

    matrix: NDArray[Any]
    masses: list[Any]
    marginal: list[Any]
    possible: NDArray[np.intp]
    approximate_marginal: FloatArray

    @classmethod
    def of(cls, channel: Channel, prior: Prior) -> RationalRelease:
        """The channel and the prior in the channel's order of secrets."""
        matrix, weights = dense(channel.matrix), align(prior, channel).masses
        masses = [rational(mass) for mass in weights.tolist()]
        possible = np.flatnonzero([bool(mass) for mass in masses])
        in_floats = matrix.dtype == np.float64 and weights.dtype == np.float64
        marginal = _whole_sums(weights, matrix) if in_floats else _rational_sums(masses, matrix)
        return cls(matrix, masses, marginal, possible, np.array([_nearest(mass) for mass in marginal]))

    def entry(self, secret: int, outcome: int) -> Any:
        """K_xy."""
        return rational(self.matrix.item(secret, outcome))

    def total(self) -> Fraction:
        """The probability of all outcomes together: 1, but for the rounding of stored floats."""
        total = sum(self.marginal, rational(0.0))
        return Fraction(int(total.p), int(total.q))

    def peaks(self) -> list[Any]:
        """The largest K_xy of each outcome, over possible secrets."""
        return [rational(peak) for peak in self.matrix[self.possible].max(axis=0).tolist()]

    def dual_value(self, multipliers: list[Any], ratio: Any) -> Any:
        """Σ_y max(0, max_x λ_x K_xy + (1 − λ_x T) q_y), exactly; λ in the order of possible secrets."""
        slopes, limit = np.array([_nearest(value) for value in multipliers])[:, None], _nearest(ratio)
        rests: dict[int, Any] = {}
        total = rational(0.0)
        width = max(_BLOCK // len(self.possible), 1)
        for start in range(0, len(self.marginal), width):
            best: dict[int, Any] = {}
            for place, outcome in self._contenders(slopes, limit, slice(start, start + width)):
                if place not in rests:
                    rests[place] = 1 - multipliers[place] * ratio
                weighted = multipliers[place] * self.entry(int(self.possible[place]), outcome)
                value = weighted + rests[place] * self.marginal[outcome]
                if value > best.get(outcome, 0):
                    best[outcome] = value
            total = sum(best.values(), total)
        return total

    def _contenders(self, slopes: FloatArray, limit: float, block: slice) -> list[tuple[int, int]]:
        """The pairs (place of a secret, outcome) of which one may be an outcome's largest positive value."""
        chances = self.matrix[self.possible, block].astype(np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            taken = slopes * limit
            first, second = slopes * chances, (1 - taken) * self.approximate_marginal[block]
            size = first + (1 + taken) * self.approximate_marginal[block]
            slack = _RELATIVE * size + _ABSOLUTE * (1 + slopes + taken)
            value = first + second
            best = np.fmax(np.fmax.reduce(value - slack, axis=0), 0.0)
            places, outcomes = np.nonzero(~(value + slack < best))  # what is not a number stays in
        return list(zip(places.tolist(), (outcomes + block.start).tolist(), strict=True))


def rational(value: Any) -> Any:
    """A number as a flint rational, exactly."""
    numerator, denominator = value.as_integer_ratio()
    return _fmpq()(numerator, denominator)


@cache
def _fmpq() -> Any:
    from flint import fmpq

    return fmpq


def _rational_sums(masses: list[Any], matrix: NDArray[Any]) -> list[Any]:
    zero = rational(0.0)
    return [
        sum((mass * rational(entry) for mass, entry in zip(masses, column, strict=True) if mass), zero)
        for column in matrix.T.tolist()
    ]


def _whole_sums(weights: FloatArray, matrix: FloatArray) -> list[Any]:
    factors, mass_scale = _whole(weights)
    size, found = len(factors), []
    width = max(_BLOCK // size, 1)
    for start in range(0, matrix.shape[1], width):
        entries, scale = _whole(matrix[:, start : start + width].T)
        unit = 1 << (mass_scale + scale)
        columns = (entries[place : place + size] for place in range(0, len(entries), size))
        found += [_fmpq()(sum(map(mul, factors, column)), unit) for column in columns]
    return found


def _whole(values: FloatArray) -> tuple[list[int], int]:
    """Whole numbers and a scale s with values = numbers / 2^s."""
    mantissas, exponents = np.frexp(values.ravel())
    exponents = np.where(mantissas == 0, 0, exponents - 53)
    scale = max(-int(exponents.min()), 0)
    numbers = (mantissas * 2.0**53).astype(np.int64).tolist()
    shifts = (exponents + scale).tolist()
    return [number << shift for number, shift in zip(numbers, shifts, strict=True)], scale


def _nearest(value: Any) -> float:
    """The nearest float, infinite beyond the largest."""
    try:
        return int(value.p) / int(value.q)
    except OverflowError:
        return np.inf if value > 0 else -np.inf
