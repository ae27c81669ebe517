"""SML Proposition 8: statistic maximal leakage of a release on the real line, its densities given as functions.

    Π = sup over selections, a parameter θ_g for each secret g, of log ∫ max_g f(y | θ_g) dy.

Proved for finitely many secrets with finitely many parameters each, densities written as in `measures.density_pml`.
On a cell where one density is largest its integral counts; elsewhere max_g ∫ f ≤ ∫ max_g f ≤ width · max_g sup f.

For a secret that is itself continuous the printed formula depends on single parameters: a prior with a density never
meets them, so no joint law of secret and release does. With θ in [0, 1] as its own secret and a release that is uniform
on [0, 1] except at θ = 0, where it is uniform on [0, 1/2], the formula has log 3/2, and every prior with a density
leaves secret and release independent. The supremum over g must be an essential one, or f continuous in θ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from math import inf, isnan, prod
from typing import Any, Self

from tightlip.arguments import listed
from tightlip.errors import InvalidInput, PreconditionFailed, WrongType, quoted
from tightlip.numeric.ball import Ball, ball, round_down, round_up
from tightlip.numeric.parse import exact, real
from tightlip.numeric.quadrature import (
    BITS,
    Expansion,
    Function,
    refine,
    require_function,
    require_not_negative,
)
from tightlip.numeric.quantity import Bound

_MOST_SELECTIONS = 256
_MOST_CELLS = 1000
_WANTED_BITS = 40


@dataclass(frozen=True, slots=True)
class _Cell:
    """A part of the line, and on it the values and the integral of every density."""

    low: Fraction
    high: Fraction
    functions: tuple[tuple[Function, str], ...]
    ranges: tuple[Ball, ...]
    masses: tuple[Ball, ...]

    @classmethod
    def of(cls, low: Fraction, high: Fraction, functions: tuple[tuple[Function, str], ...]) -> Self:
        densities = [Expansion.of(*function, low, high) for function in functions]
        for density in densities:
            require_not_negative(density)
        ranges = tuple(density.range() for density in densities)
        return cls(low, high, functions, ranges, tuple(density.integral() for density in densities))

    def split(self) -> tuple[Self, Self]:
        middle = (self.low + self.high) / 2
        return type(self).of(self.low, middle, self.functions), type(self).of(
            middle, self.high, self.functions
        )


def proposition8(pieces: Any) -> Bound:
    """Bound Π of a release on the real line by SML Proposition 8, in nats.

    Parameters
    ----------
    pieces : list of (low, high, {secret: density or list of densities})
        Intervals that together are the range of the release, with the density of the release there for each parameter
        of each secret, as functions of y and each up to a constant; the same secrets with as many on every piece.

    Raises
    ------
    PreconditionFailed
        When parameters can be selected in more than 256 ways.

    >>> import numpy as np
    >>> bell = lambda centre: lambda y: np.exp(-((y - centre) ** 2) / 2)
    >>> found = proposition8([(-9, 10, {"low": [bell(0), bell(0.5)], "high": bell(1)})])
    >>> round(found, 6)  # noise_leakage(Gaussian(1), {"low": (0, 0), "high": (1, 1)})
    0.324201
    """
    from flint import ctx

    with ctx.workprec(BITS):
        parts, groups = _read(pieces)
        cells = refine([_Cell.of(*part) for part in parts], _Cell.split, _unknown, _known, _MOST_CELLS)
        totals = [sum((cell.masses[place] for cell in cells), ball(0)) for place in range(sum(groups))]
        if not all(total > 0 and total.is_finite() for total in totals):
            raise InvalidInput(
                "pieces must have densities with positive finite integrals, and one could not be shown to have; "
                "cut the range where it is steep."
            )
        starts = [sum(groups[:place]) for place in range(len(groups))]
        choices = product(*(range(start, start + size) for start, size in zip(starts, groups, strict=True)))
        ends = [_integral(cells, choice, totals) for choice in choices]
        lower, upper = max(low for low, _ in ends), max(high for _, high in ends)
    return Bound(max(0.0, lower), max(0.0, upper), f"quadrature, {len(ends)} selections")


def _unknown(cell: _Cell) -> float:
    width = sum(float(mass.rad()) for mass in cell.masses)
    return inf if isnan(width) else width


def _known(cells: list[_Cell]) -> bool:
    sums = [sum(each, ball(0)) for each in zip(*(cell.masses for cell in cells), strict=True)]
    return all(total > 0 and total.rel_accuracy_bits() > _WANTED_BITS for total in sums)


def _integral(cells: list[_Cell], choice: Sequence[int], totals: list[Ball]) -> tuple[float, float]:
    """The logarithm of ∫ max f for one selection, from below and from above."""
    largest = partial(_largest, choice=choice, totals=totals)

    def unknown(cell: _Cell) -> float:
        low, high = largest(cell)
        return float(high - low)

    def enough(cells: list[_Cell]) -> bool:
        found = [largest(cell) for cell in cells]
        return bool(sum(high - low for low, high in found) < ball(2) ** -_WANTED_BITS)

    found = [largest(cell) for cell in refine(cells, _Cell.split, unknown, enough, 2 * _MOST_CELLS)]
    below, above = sum((low for low, _ in found), ball(0)), sum((high for _, high in found), ball(0))
    return round_down(below.log()), round_up(above.log()) if above.is_finite() else inf


def _largest(cell: _Cell, choice: Sequence[int], totals: list[Ball]) -> tuple[Ball, Ball]:
    """∫ max f over a cell, from below and from above."""
    width = ball(cell.high - cell.low)
    ranges = [cell.ranges[place] / totals[place] for place in choice]
    masses = [cell.masses[place] / totals[place] for place in choice]
    top = max(range(len(choice)), key=lambda place: float(ranges[place].lower()))
    low = max(mass.lower() for mass in masses)
    if all(place == top or ranges[top] >= other for place, other in enumerate(ranges)):
        return masses[top].lower(), masses[top].upper()
    return low, min(
        width * max(other.upper() for other in ranges), sum(mass.upper() for mass in masses)
    ).upper()


def _read(pieces: Any) -> tuple[list[Any], list[int]]:
    parts, groups, secrets = [], [], None
    for place, piece in enumerate(listed(pieces, "pieces", "(low, high, {secret: densities})")):
        name = f"pieces[{place}]"
        if (
            not isinstance(piece, (tuple, list))
            or len(piece) != 3
            or not isinstance(piece[2], Mapping)
            or not piece[2]
        ):
            raise WrongType(f"{name} must be (low, high, {{secret: densities}}), got {quoted(piece)}.")
        low, high = (Fraction(exact(real(end, f"ends of {name}"))) for end in piece[:2])
        if low >= high:
            raise InvalidInput(
                f"{name} must have low < high, got {float(low)!r} and {float(high)!r}; swap them."
            )
        given = {
            secret: each if isinstance(each, (tuple, list)) else [each] for secret, each in piece[2].items()
        }
        sizes = {secret: len(each) for secret, each in given.items()}
        if secrets not in (None, sizes) or not all(sizes.values()):
            raise InvalidInput(
                f"{name} must have densities for the same parameters of the same secrets as pieces[0]."
            )
        secrets, groups = sizes, list(sizes.values())
        names = f"densities of {name}"
        functions = tuple((require_function(f, names), names) for secret in sizes for f in given[secret])
        parts.append((low, high, functions))
    if not parts:
        raise InvalidInput(
            "pieces must hold at least one interval, got none; give (low, high, {secret: densities})."
        )
    if prod(groups) > _MOST_SELECTIONS:
        raise PreconditionFailed(
            f"pieces must allow at most {_MOST_SELECTIONS} selections, got {prod(groups)}; leave parameters out."
        )
    return parts, groups
