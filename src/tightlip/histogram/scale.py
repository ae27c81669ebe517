"""The ordered values of a secret: how many there are and where a ratio lies among them.

share_scale   0, 1/τ, …, 1
exact_scale   every ratio, or difference of two, that a table of τ rows can have; small tables only
grid_scale    the multiples of a step, each standing for the values that are rounded down to it
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput

_MOST_RATIOS = 300
_MOST_DIFFERENCES = 40
_SAFE = 1 << 62
_CLOSE = 1e-9  # different values of an exact scale are at least 1e-6 apart


@dataclass(frozen=True, slots=True)
class Scale:
    """Multiples `first`·step, (`first` + 1)·step, …, or the listed `points`."""

    first: int
    size: int
    step: Fraction
    points: tuple[Fraction, ...] | None = None

    def index(self, top: NDArray[np.int64], bottom: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place of each top/bottom, exactly, from 0."""
        if self.points is not None:
            return np.searchsorted(np.array(self.points, dtype=np.float64), top / bottom - _CLOSE).astype(
                np.int64
            )
        index: NDArray[np.int64] = top * self.step.denominator // (bottom * self.step.numerator) - self.first
        return index

    def interval(self, index: int) -> tuple[Fraction, Fraction]:
        """The two ends of what counts as one value, the upper one not of it unless both are equal or it is 1."""
        if self.points is not None:
            return self.points[index], self.points[index]
        low = (self.first + index) * self.step
        return max(low, Fraction(-1)), min(low + self.step, Fraction(1))


def share_scale(total: int) -> Scale:
    """The τ + 1 shares of a table of τ rows.

    >>> share_scale(4).size
    5
    """
    return Scale(0, total + 1, Fraction(1, total))


def grid_scale(sizes: tuple[int, ...], total: int, step: Fraction) -> Scale:
    """The multiples of a step to which shares, or differences of two, are rounded down.

    The largest value, 1, is a multiple of its own where the step divides it. Every multiple has a table when
    step ≥ 1/(τ−1): shares a/(τ−1) with one row elsewhere are that close.

    Raises
    ------
    InvalidInput
        When the step is finer than that, or its numerator and denominator are too long to compute with.

    >>> grid_scale((1, 1, 1), 9, Fraction(1, 2)).size, grid_scale((1, 1, 1, 1, 0), 9, Fraction(1, 2)).size
    (3, 5)
    """
    lowest = 0 if len(sizes) == 3 else -1
    least = Fraction(1, max(total - 1, 1))
    if step < least:
        raise InvalidInput(
            f"resolution must be at least {least} for {total} rows, got {step}; {least} is the finest there is."
        )
    if total**2 * max(step.numerator, step.denominator) * 32 > _SAFE:
        raise InvalidInput(
            f"resolution must be a short fraction for {total} rows, got {step}; round it up to {_short(step, total)}."
        )
    first, last = lowest // step, 1 // step
    return Scale(first, last - first + 1, step)


def _short(step: Fraction, total: int) -> Fraction:
    """The next coarser unit fraction that is short enough, or all there is."""
    longest = _SAFE // (32 * total**2)
    return Fraction(1, max(1, min(1 // step, longest)))


def exact_scale(sizes: tuple[int, ...], total: int) -> Scale:
    """Every value that a table of τ rows can have.

    Raises
    ------
    InvalidInput
        When there are too many.

    >>> [str(point) for point in exact_scale((1, 1, 1), 3).points]
    ['0', '1/3', '1/2', '2/3', '1']
    """
    most = _MOST_RATIOS if len(sizes) == 3 else _MOST_DIFFERENCES
    if total > most:
        raise InvalidInput(
            f"resolution must be given for a table of more than {most} rows, got none and {total} rows; "
            'resolution="1/20" makes the secret a multiple of 5 percentage points.'
        )
    points = _ratios(total) if len(sizes) == 3 else _differences(total, exhaustive=not sizes[-1])
    return Scale(0, len(points), Fraction(1), tuple(sorted(points)))


def _ratios(total: int) -> set[Fraction]:
    above, below = np.tril_indices(total + 1)[::-1]
    lowest_terms = np.gcd(above, below) == 1
    return {
        Fraction(int(a), int(b)) for a, b in zip(above[lowest_terms], below[lowest_terms], strict=True) if b
    }


def _differences(total: int, *, exhaustive: bool) -> set[Fraction]:
    """Shares over b₁ and b₂ rows with b₁ + b₂ ≤ τ, or = τ when no cell lies outside both groups."""
    shares = [sorted({Fraction(a, max(b, 1)) for a in range(b + 1)}) for b in range(total + 1)]
    return {
        one - two
        for first in range(total + 1)
        for second in ([total - first] if exhaustive else range(total - first + 1))
        for one in shares[first]
        for two in shares[second]
    }
