"""Many uses of mechanisms on two secrets: privacy losses on a grid, from both sides, convolved in whole numbers.

An outcome with probabilities a under P and b under Q has the loss L = log a/b. Grid points are origin + i·step.

From above (`Split`): an outcome between two points is split into one at each, with a and b both kept,
    a₊ = (a − b e^{l})/(1 − e^{−h}),   a₋ = a − a₊,   l the lower point, h the step.
Merging the two gives the outcome back, so what is computed is of a mechanism that says more. On the grid b = a e^{−L},
so that masses under P alone need be convolved. Rounding a mass up adds an outcome, which lowers nothing that is bounded
here, and masses that are cut off are moved to an infinite loss, which is to split them into (a, 0) and (0, b).

From below (`Merged`): an outcome is replaced by the number of a point near it. The sum of numbers is a function of the
outcomes of all uses, so it says less, whatever the loss at a point really is. Its probabilities under P (rounded down)
and Q (rounded up) are convolved separately, those of Q multiplied by e^{origin + i·step}, which keeps them near those
of P. What is cut off becomes one symbol that is never used.

Masses are whole multiples of 2^−128 and products are exact before they are rounded. Where a grid becomes too long,
every other point is dropped by the same two rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np

from tightlip.envelopes.losses import Loss
from tightlip.numeric.ball import Ball, ball
from tightlip.numeric.parse import FloatArray

BITS = 128
ONE = 1 << BITS
_MASK = ONE - 1
# tails up to this mass are cut off after each product: far below any δ that is asked for, far above one rounding
_CUT = 1 << 24
# a step counts as one on which all losses lie where splitting adds so little to their variance, relatively
_ON_GRID = 1e-14
# steps that are tried: each costs a few operations for each outcome
_TRIED = 1 << 22
_STEP_BITS = 200
# losses that lie together so closely need no more than one step
_NARROW = 1e-38


def floor_of(value: Ball) -> int:
    """Round a mass down to a multiple of 2^−128, as a whole number."""
    return max(0, int((value * ONE).lower().floor().unique_fmpz()))


def ceil_of(value: Ball) -> int:
    """Round a mass up to a multiple of 2^−128, as a whole number."""
    return max(0, int((value * ONE).upper().ceil().unique_fmpz()))


def ceil_shift(values: Iterable[Any]) -> list[Any]:
    """Divide by 2^128, rounded up."""
    return [(value + _MASK) >> BITS for value in values]


@dataclass(frozen=True, slots=True)
class Split:
    """A mechanism that says more: masses under P at the points of a grid, and of an infinite loss."""

    step: Fraction
    origin: Fraction
    masses: list[Any]
    infinite: int

    def times(self, other: Self) -> Self:
        """Use both."""
        masses = ceil_shift(_convolution(self.masses, other.masses))
        both = self.infinite + other.infinite - (self.infinite * other.infinite >> BITS)
        first, last = _kept(masses)
        cut = int(sum(masses[:first]) + sum(masses[last:]))
        return replace(
            self,
            origin=self.origin + other.origin + first * self.step,
            masses=masses[first:last],
            infinite=min(ONE, both + cut),
        )

    def coarser(self) -> Self:
        """Keep every other point, and split what lies at the rest."""
        inverse = (-ball(self.step)).exp()
        lower, upper = ceil_of(inverse / (1 + inverse)), ceil_of(1 / (1 + inverse))
        even, odd = self.masses[::2], self.masses[1::2]
        sums = [*even, *([0] if len(odd) == len(even) else [])]
        for place, mass in enumerate(odd):
            sums[place] += (mass * lower + _MASK) >> BITS
            sums[place + 1] += (mass * upper + _MASK) >> BITS
        return replace(self, step=2 * self.step, masses=sums)


@dataclass(frozen=True, slots=True)
class Merged:
    """A mechanism that says less: masses under P and, times e^{point}, under Q at the points of a grid."""

    step: Fraction
    origin: Fraction
    first: list[Any]
    second: list[Any]
    infinite: int

    def times(self, other: Self) -> Self:
        """Use both."""
        first = [mass >> BITS for mass in _convolution(self.first, other.first)]
        second = ceil_shift(_convolution(self.second, other.second))
        start, end = _kept(first)
        return replace(
            self,
            origin=self.origin + other.origin + start * self.step,
            first=first[start:end],
            second=second[start:end],
            infinite=self.infinite + other.infinite - ceil_shift([self.infinite * other.infinite])[0],
        )

    def coarser(self) -> Self:
        """Merge each point with the next one."""
        inverse = ceil_of((-ball(self.step)).exp())
        odd = [*self.first[1::2], *([0] * (len(self.first) % 2))]
        later = [*self.second[1::2], *([0] * (len(self.second) % 2))]
        moved = ceil_shift(mass * inverse for mass in later)
        return replace(
            self,
            step=2 * self.step,
            first=[one + two for one, two in zip(self.first[::2], odd, strict=True)],
            second=[one + two for one, two in zip(self.second[::2], moved, strict=True)],
        )


Grid = Split | Merged


def _convolution(one: list[Any], two: list[Any]) -> list[Any]:
    """Convolve whole numbers exactly, as polynomials, which drop their highest zeros."""
    from flint import fmpz_poly

    found: list[Any] = (fmpz_poly(one) * fmpz_poly(two)).coeffs()
    return found + [0] * (len(one) + len(two) - 1 - len(found))


def _kept(masses: Sequence[Any]) -> tuple[int, int]:
    """Find what remains without tails of little mass; at least one point."""
    first, total = 0, masses[0]
    while total <= _CUT and first < len(masses) - 1:
        first += 1
        total += masses[first]
    last, total = len(masses), masses[-1]
    while total <= _CUT and last > first + 1:
        last -= 1
        total += masses[last - 1]
    return first, last


def _length(grid: Any) -> int:
    return len(grid.masses if isinstance(grid, Split) else grid.first)


def _shorten(grid: Any, points: int) -> Any:
    while _length(grid) > points:
        grid = grid.coarser()
    return grid


def _multiply(one: Any, two: Any, points: int) -> Any:
    while one.step != two.step:
        one, two = (one.coarser(), two) if one.step < two.step else (one, two.coarser())
    return _shorten(one.times(two), points)


def _power(grid: Any, uses: int, points: int) -> Any:
    found = grid
    for bit in bin(uses)[3:]:
        found = _multiply(found, found, points)
        if bit == "1":
            found = _multiply(found, grid, points)
    return found


def convolve(
    parts: Sequence[tuple[Loss, int]], points: int, discretize: Callable[[Loss, Fraction], Any]
) -> Any:
    """Put losses on one grid, by `split` or by `merge`, and use each as often as it says."""
    step = choose_step(parts, points)
    powers = [_power(_shorten(discretize(loss, step), points), uses, points) for loss, uses in parts]
    found = powers[0]
    for power in powers[1:]:
        found = _multiply(found, power, points)
    return found


def split(loss: Loss, step: Fraction) -> Split:
    """Split every outcome onto the grid points beside it."""
    origin = _origin(loss)
    masses: dict[int, int] = {}
    shrink = (-ball(step)).exp()
    up, down = 1 / (1 - shrink), shrink / (1 - shrink)

    def spread(cell: int, one: Ball, two: Ball) -> None:
        growth = two * (ball(origin + cell * step)).exp()
        # the lower part is b e^{l + h} − a over e^h − 1; where a loss is below the cell by a rounding, more than all of
        # it is put at the lower point, which says more
        for place, mass in ((cell + 1, (one - growth) * up), (cell, (growth / shrink - one) * down)):
            masses[place] = masses.get(place, 0) + ceil_of(mass)

    for atom in loss.atoms:
        reached = ((atom.loss - ball(origin)) / ball(step)).upper().ceil()
        spread(int(reached.unique_fmpz()) - 1, atom.first, atom.second)
    lost = ball(loss.infinite)
    if loss.density is not None:
        cells, kept = _cells(loss, origin, step)
        for cell, one, two in cells:
            spread(cell, one, two)
        lost = lost + loss.density.mass - kept
    if not masses:
        return Split(step, origin, [0], ceil_of(lost))
    first = min(masses)
    listed = [masses.get(place, 0) for place in range(first, max(masses) + 1)]
    return Split(step, origin + first * step, listed, min(ONE, ceil_of(lost)))


def merge(loss: Loss, step: Fraction) -> Merged:
    """Give every outcome the number of a point near it."""
    origin = _origin(loss)
    first: dict[int, int] = {}
    second: dict[int, int] = {}

    def put(place: int, one: Ball, two: Ball) -> None:
        first[place] = first.get(place, 0) + floor_of(one)
        second[place] = second.get(place, 0) + ceil_of(two * ball(origin + place * step).exp())

    for atom in loss.atoms:
        put(round(float(((atom.loss - ball(origin)) / ball(step)).mid())), atom.first, atom.second)
    if loss.density is not None:
        for cell, one, two in _cells(loss, origin, step)[0]:
            put(cell, one, two)
    if not first:
        return Merged(step, origin, [0], [0], floor_of(ball(loss.infinite)))
    start, end = min(first), max(first) + 1
    return Merged(
        step,
        origin + start * step,
        [first.get(place, 0) for place in range(start, end)],
        [second.get(place, 0) for place in range(start, end)],
        floor_of(ball(loss.infinite)),
    )


def _cells(loss: Loss, origin: Fraction, step: Fraction) -> tuple[list[tuple[int, Ball, Ball]], Ball]:
    """List the cells of a density with their probabilities under P and Q, and the sum of those under P."""
    density = loss.density
    assert density is not None
    start, end = math.floor((density.low - origin) / step), math.ceil((density.high - origin) / step)
    tails = [density.tails(origin + cell * step) for cell in range(start, end + 1)]
    cells = [
        (cell, here[0] - after[0], here[1] - after[1])
        for cell, here, after in zip(range(start, end), tails, tails[1:], strict=False)
    ]
    return cells, tails[0][0] - tails[-1][0]


def _origin(loss: Loss) -> Fraction:
    ends = loss.ends
    return Fraction(0) if ends is None else dyadic(ends[0])


def dyadic(value: Ball) -> Fraction:
    """Take a nearby number with a power of two below the line: any will do for a grid."""
    return Fraction(int((value.mid() * (1 << _STEP_BITS)).floor().unique_fmpz()), 1 << _STEP_BITS)


def choose_step(parts: Sequence[tuple[Loss, int]], points: int) -> Fraction:
    """Choose the step on which splitting adds least to the variance of the losses: a part of the widest range.

    Where all losses lie on a grid, as those of two outcomes do, the widest such grid is taken, and nothing is lost.
    """
    known = [(loss, uses, loss.ends) for loss, uses in parts]
    ranges = [(ends[1] - ends[0], loss, uses) for loss, uses, ends in known if ends is not None]
    widest = max((width for width, _, _ in ranges), key=lambda width: float(width.mid()), default=ball(0))
    width = float(widest.mid())
    if width < _NARROW:
        return Fraction(1, 1 << BITS)
    most = max(4, points // 4 if sum(uses for _, _, uses in ranges) > 1 else points - 2)
    counts = np.arange(1, most + 1)
    atoms = sum(len(loss.atoms) for _, loss, _ in ranges)
    if atoms * most > _TRIED:
        counts = np.unique(np.linspace(most / 2, most, max(1, _TRIED // atoms)).astype(int))
    added = sum(uses * _added_variance(loss, width / counts) for _, loss, uses in ranges)
    total = sum(uses for _, _, uses in ranges) * width**2
    good = np.flatnonzero(added <= _ON_GRID * total)
    best = int(counts[good[0] if len(good) else np.argmin(added)])
    return dyadic(widest / best)


def _added_variance(loss: Loss, steps: FloatArray) -> FloatArray:
    """How much splitting adds to the variance of a loss, for each step."""
    origin = float(_origin(loss))
    added = np.zeros(len(steps))
    for atom in loss.atoms:
        share = ((float(atom.loss.mid()) - origin) / steps) % 1.0
        added += float(atom.first.mid()) * share * (1 - share)
    if loss.density is not None:
        added += float(loss.density.mass.mid()) / 6
    return np.asarray(added * steps**2)
