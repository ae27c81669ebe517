"""PML and PMC on general alphabets: the secret has a density, and the outcome a likelihood, given as functions.

    PML(y) = log ess sup_x f(y|x) / f(y),   PMC(y) = log f(y) / ess inf_x f(y|x),   f(y) = ∫ f(x) f(y|x) dx / ∫ f(x) dx

over x with f(x) > 0 (PMC paper, Definition 11, Theorem 3 and Remark 4). Neither changes when f(x) or f(y|·) is
multiplied by a constant, so constants may be left out. Integrals and ranges are proved on cells, which are split where
most is not known; a value f(y|x) of a continuous likelihood in a cell with f > 0 bounds the ess sup from below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any, Literal, Self

from tightlip.arguments import listed
from tightlip.errors import InvalidInput, WrongType, quoted
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

_WANTED = 1e-10  # nats between the ends at which splitting stops
_MOST_CELLS = 1000
Side = Literal["sup", "inf"]


def density_pml(pieces: Any) -> Bound:
    """Bound PML of one outcome from the secret's density and the outcome's likelihood, in nats.

    Parameters
    ----------
    pieces : list of (low, high, density, likelihood)
        Intervals that together are the range of the secret, and on each two functions of x: the secret's density and
        f(y|x) of the outcome seen, each up to one constant for all pieces. A function is written with + − * / **
        and numpy's exp, log, sqrt, sin, cos, tan or arctan, or `x.erf()`, `x.erfc()`, `x.lgamma()`; where its formula
        changes, as at the middle of |x − y|, a new piece begins. Numbers in it count as the rationals they store.

    Returns
    -------
    Bound
        Both ends proved; the upper one is infinite where nothing could be proved.

    Raises
    ------
    WrongType
        If a function compares x or makes it a float, as `math.exp` does: of floats nothing can be proved.

    >>> import numpy as np
    >>> found = density_pml([(0, 1, lambda x: 1, lambda x: np.exp(-(x - 2) ** 2 / 2))])
    >>> round(found.lower, 9), round(found, 9)
    (0.576859736, 0.576859736)
    """
    return _bound(pieces, "sup")


def density_pmc(pieces: Any) -> Bound:
    """Bound PMC of one outcome from the secret's density and the outcome's likelihood, in nats.

    Parameters and result as for `density_pml`; infinite where the likelihood cannot be kept away from 0.

    >>> import numpy as np
    >>> found = density_pmc([(0, 1, lambda x: 1, lambda x: np.exp(-(x - 2) ** 2 / 2))])
    >>> round(found.lower, 9), round(found, 9)
    (0.923140264, 0.923140264)
    """
    return _bound(pieces, "inf")


@dataclass(frozen=True, slots=True)
class _Cell:
    """A part of the range: ∫ f(x), ∫ f(x) f(y|x), what f(y|x) can be, and what it is known to be where f > 0."""

    low: Fraction
    high: Fraction
    density: tuple[Function, str]
    likelihood: tuple[Function, str]
    mass: Ball
    joint: Ball
    values: Ball
    reached: tuple[Ball, ...]

    @classmethod
    def of(
        cls, low: Fraction, high: Fraction, density: tuple[Function, str], likelihood: tuple[Function, str]
    ) -> Self:
        first, second = Expansion.of(*density, low, high), Expansion.of(*likelihood, low, high)
        for each in (first, second):
            require_not_negative(each)
        known = second.continuous and first.range() > 0
        reached = tuple(map(second.at, (low, (low + high) / 2, high))) if known else ()
        joint = _not_negative(first.times(second).integral())
        values = _not_negative(second.range())
        return cls(low, high, density, likelihood, _not_negative(first.integral()), joint, values, reached)

    def split(self) -> tuple[Self, Self]:
        middle = (self.low + self.high) / 2
        parts = ((self.low, middle), (middle, self.high))
        first, second = (type(self).of(*part, self.density, self.likelihood) for part in parts)
        return first, second


def _not_negative(found: Ball) -> Ball:
    return found.nonnegative_part() if found.is_finite() else ball(0).union(ball(0).pos_inf())


def _bound(pieces: Any, side: Side) -> Bound:
    from flint import ctx

    with ctx.workprec(BITS):
        cells = [cell for cell in (_Cell.of(*piece) for piece in _read(pieces)) if not cell.mass.is_zero()]
        if not cells:
            raise InvalidInput("pieces must have a density that is positive somewhere, got 0 on all of them.")
        cells = refine(cells, _Cell.split, _unknown_mass, _masses_known, _MOST_CELLS)
        cells = refine(
            cells, _Cell.split, partial(_promise, side), partial(_ends_meet, side), 2 * _MOST_CELLS
        )
        lower, upper = _ends(cells, side)
    if math.isinf(lower):
        return Bound(lower, lower, "a likelihood of 0")
    return Bound(lower, upper, f"quadrature on {len(cells)} cells")


def _unknown_mass(cell: _Cell) -> float:
    width = float(cell.joint.rad()) + float(cell.mass.rad())
    return math.inf if math.isnan(width) else width


def _masses_known(cells: list[_Cell]) -> bool:
    return all(
        total.is_finite() and total > 0 and total.rel_accuracy_bits() > 40
        for total in (
            sum((cell.mass for cell in cells), ball(0)),
            sum((cell.joint for cell in cells), ball(0)),
        )
    )


def _promise(side: Side, cell: _Cell) -> float:
    """The most extreme likelihood that the cell may have."""
    if not cell.values.is_finite():
        return math.inf
    return float(cell.values.upper()) if side == "sup" else -float(cell.values.lower())


def _ends_meet(side: Side, cells: list[_Cell]) -> bool:
    lower, upper = _ends(cells, side)
    return math.isinf(lower) or upper - lower < _WANTED


def _ends(cells: Sequence[_Cell], side: Side) -> tuple[float, float]:
    mass, joint = (sum((getattr(cell, name) for cell in cells), ball(0)) for name in ("mass", "joint"))
    if not (joint > 0 and mass > 0 and joint.is_finite() and mass.is_finite()):
        return 0.0, math.inf
    mean = joint / mass
    reached = [value for cell in cells for value in cell.reached]
    if side == "sup":
        known, possible = [value.lower() for value in reached], max(cell.values.upper() for cell in cells)
        return _log_down(max(known) / mean if known else ball(1)), _log_up(possible / mean)
    known, possible = [value.upper() for value in reached], min(cell.values.lower() for cell in cells)
    if known and min(known) <= 0:
        return math.inf, math.inf
    return _log_down(mean / min(known) if known else ball(1)), _log_up(
        mean / possible if possible > 0 else None
    )


def _log_down(ratio: Ball) -> float:
    """A lower end, which is at least 0 since no outcome leaks less than nothing."""
    return max(0.0, round_down(ratio.log())) if ratio > 0 else 0.0


def _log_up(ratio: Ball | None) -> float:
    return max(0.0, round_up(ratio.log())) if ratio is not None and ratio.is_finite() else math.inf


def _read(pieces: Any) -> list[tuple[Fraction, Fraction, tuple[Function, str], tuple[Function, str]]]:
    found = []
    for place, piece in enumerate(listed(pieces, "pieces", "(low, high, density, likelihood)")):
        name = f"pieces[{place}]"
        if not isinstance(piece, (tuple, list)) or len(piece) != 4:
            raise WrongType(f"{name} must be (low, high, density, likelihood), got {quoted(piece)}.")
        low, high = (
            Fraction(exact(real(end, f"{what} of {name}")))
            for end, what in zip(piece[:2], ("low", "high"), strict=True)
        )
        if low >= high:
            raise InvalidInput(
                f"{name} must have low < high, got {float(low)!r} and {float(high)!r}; swap them."
            )
        names = f"density of {name}", f"likelihood of {name}"
        density, likelihood = (
            (require_function(each, what), what) for each, what in zip(piece[2:], names, strict=True)
        )
        found.append((low, high, density, likelihood))
    return _apart(found)


def _apart(pieces: list[Any]) -> list[Any]:
    if not pieces:
        raise InvalidInput(
            "pieces must hold at least one interval, got none; give (low, high, density, likelihood)."
        )
    ordered = sorted(pieces, key=lambda piece: piece[0])
    for before, after in pairwise(ordered):
        if after[0] < before[1]:
            raise InvalidInput(
                f"pieces must not overlap, got one up to {float(before[1])!r} and one from {float(after[0])!r}."
            )
    return ordered
