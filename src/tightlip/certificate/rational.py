"""A channel and a prior as the rationals they store, ready for a proof to be checked.

Floats are whole numbers times one power of two, so sums and products of them are done in whole numbers; other numbers
are rationals in units of 1, and the same formulas hold of both. Beside them stand floats that are right to one rounding
each: where these already decide which secret matters to an outcome, only that secret is looked at exactly (a
floating-point filter; the verdict is the same as without it).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from operator import mul
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightlip.model.channel import Channel, align
from tightlip.model.matrix import dense
from tightlip.model.prior import Prior
from tightlip.numeric.parse import FloatArray

Places = NDArray[np.intp]

_BLOCK = 500_000
# of nine roundings; below the second floats lose digits
_RELATIVE, _ABSOLUTE = 2.0**-49, 1e-290
# floats below are not trusted, and beyond sums may overflow
NORMAL, LARGEST = 1e-280, 1e300


class Scaled(NamedTuple):
    """Numbers as parts of a unit: value = part / unit; of floats both are whole numbers."""

    parts: list[Any]
    unit: int

    @classmethod
    def of(cls, values: NDArray[Any]) -> Scaled:
        """Write floats in units of a power of two, others as rationals."""
        if values.dtype == np.float64:
            numbers, scale = _whole(values)
            return cls(numbers, 1 << scale)
        return cls([rational(value) for value in values.tolist()], 1)


@dataclass(frozen=True, slots=True)
class RationalRelease:
    """K as stored, p and q as rationals, the same q in parts of a unit, and q and the support as arrays.

    `normal` says that no positive q is so small that floats lose digits of it.
    """

    matrix: NDArray[Any]
    masses: list[Any]
    marginal: list[Any]
    scaled_marginal: Scaled
    possible: Places
    approximate_marginal: FloatArray
    normal: bool

    @classmethod
    def of(cls, channel: Channel, prior: Prior) -> RationalRelease:
        """Make a channel and a prior rational, in the channel's order of secrets."""
        matrix, weights = dense(channel.matrix), align(prior, channel).masses
        masses = [rational(mass) for mass in weights.tolist()]
        possible = np.flatnonzero([bool(mass) for mass in masses])
        in_floats = matrix.dtype == np.float64 and weights.dtype == np.float64
        scaled = _whole_sums(weights, matrix) if in_floats else Scaled(_rational_sums(masses, matrix), 1)
        marginal = [_fmpq()(part) / scaled.unit for part in scaled.parts]
        nearest = np.array([_nearest(mass) for mass in marginal])
        normal = all(near > NORMAL for near, exact in zip(nearest.tolist(), marginal, strict=True) if exact)
        return cls(matrix, masses, marginal, scaled, possible, nearest, normal)

    def entries(self, secrets: Places, outcomes: Places) -> Scaled:
        """K_xy of pairs of secret and outcome."""
        return Scaled.of(self.matrix[secrets, outcomes])

    def total(self) -> Fraction:
        """Compute the probability of all outcomes together: 1, but for the rounding of stored floats."""
        total = sum(self.marginal, rational(0.0))
        return Fraction(int(total.p), int(total.q))

    def peak(self, outcome: int) -> Any:
        """Find the largest K_xy of an outcome, over possible secrets."""
        return rational(self.matrix[self.possible, outcome].max())

    def peaks(self) -> list[Any]:
        """Find the largest K_xy of each outcome, over possible secrets."""
        return [rational(peak) for peak in self.matrix[self.possible].max(axis=0).tolist()]

    def dual_value(self, multipliers: Sequence[Fraction | float], ratio: Fraction) -> Any:
        """Evaluate the dual objective Σ_y max(0, max_x λ_x K_xy + (1 − λ_x T) q_y) exactly; λ of possible secrets."""
        given = np.array(multipliers)
        factors, (above, below) = Scaled.of(given), (ratio.numerator, ratio.denominator)
        rests = [below * factors.unit - above * factor for factor in factors.parts]
        weights, total = self.scaled_marginal, rational(0.0)
        for block in self._blocks():
            least = self._dual_terms(given, ratio, block, -1)
            most = self._dual_terms(given, ratio, block, 1)
            # what is not a number stays in
            places, outcomes = np.nonzero(~(most < np.fmax(np.fmax.reduce(least, axis=0), 0.0)))
            outcomes += block.start
            chances = self.entries(self.possible[places], outcomes)
            of_chance, of_weight = below * weights.unit, chances.unit
            best: dict[int, Any] = {}
            for place, outcome, chance in zip(places.tolist(), outcomes.tolist(), chances.parts, strict=True):
                part = factors.parts[place] * chance * of_chance
                part += rests[place] * weights.parts[outcome] * of_weight
                if part > best.get(outcome, 0):
                    best[outcome] = part
            total += _fmpq()(sum(best.values())) / (factors.unit * chances.unit * of_chance)
        return total

    def dual_surely_below(self, multipliers: FloatArray, ratio: Fraction, mass: Fraction) -> bool:
        """Filter in floats: True only if the dual objective is at most the mass; False says nothing.

        Each term is rounded up, with room for the roundings of their sum too.
        """
        peaks: list[float] = []
        for block in self._blocks():
            # unlike fmax, the maximum of what is no number is none either
            most = np.maximum.reduce(self._dual_terms(multipliers, ratio, block, 1), axis=0)
            peaks += np.maximum(most, 0.0).tolist()
        return max(peaks) < LARGEST and math.fsum(peaks) * (1 + _RELATIVE) <= mass

    def _blocks(self) -> Iterator[slice]:
        """Cut the outcomes into blocks whose tables fit into memory."""
        width = max(_BLOCK // len(self.possible), 1)
        return (slice(start, start + width) for start in range(0, len(self.marginal), width))

    def _dual_terms(
        self, multipliers: NDArray[Any], ratio: Fraction, block: slice, side: Literal[-1, 1]
    ) -> FloatArray:
        """Bound λ_x K_xy + (1 − λ_x T) q_y of a block in floats: below for side −1, above for side 1.

        Both factors are moved to that side by `_RELATIVE` of their size, which is more than all roundings together.
        """
        if multipliers.dtype != np.float64:
            multipliers = np.array([to_float(value) for value in multipliers.tolist()])
        slopes, relative = multipliers[:, None], side * _RELATIVE
        # a view, where it can be
        secrets = slice(None) if len(self.possible) == len(self.matrix) else self.possible
        chances = self.matrix[secrets, block].astype(np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            taken = slopes * to_float(ratio)
            terms = slopes * (1 + relative) * chances
            terms += ((1 - taken) + relative * (1 + taken)) * self.approximate_marginal[block]
            terms += side * _ABSOLUTE * (1 + slopes + taken)
        return np.asarray(terms)


def rational(value: Any) -> Any:
    """Convert a number to a flint rational, exactly."""
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


def _whole_sums(weights: FloatArray, matrix: FloatArray) -> Scaled:
    factors, mass_scale = _whole(weights)
    size, blocks = len(factors), []
    width = max(_BLOCK // size, 1)
    for start in range(0, matrix.shape[1], width):
        entries, scale = _whole(matrix[:, start : start + width].T)
        columns = (entries[place : place + size] for place in range(0, len(entries), size))
        blocks.append((scale, [sum(map(mul, factors, column)) for column in columns]))
    finest = max(scale for scale, _ in blocks)
    parts = [part << (finest - scale) for scale, sums in blocks for part in sums]
    return Scaled(parts, 1 << (mass_scale + finest))


def _whole(values: FloatArray) -> tuple[list[int], int]:
    """Scale to whole numbers and an s with values = numbers / 2^s."""
    mantissas, exponents = np.frexp(values.ravel())
    exponents = np.where(mantissas == 0, 0, exponents - 53)
    scale = max(-int(exponents.min(initial=0)), 0)
    numbers = (mantissas * 2.0**53).astype(np.int64).tolist()
    shifts = (exponents + scale).tolist()
    return [number << shift for number, shift in zip(numbers, shifts, strict=True)], scale


def to_float(value: Fraction | float) -> float:
    """Round to the nearest float, infinite beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def _nearest(value: Any) -> float:
    """Round to the nearest float, infinite beyond the largest."""
    try:
        return int(value.p) / int(value.q)
    except OverflowError:
        return np.inf if value > 0 else -np.inf
