"""Sets of secrets by their mass, and the best worth of each mass: knapsacks by dynamic programming.

Items have masses p_x and worths a_x. They are put on a grid of N cells, where an item of c_x cells moves the best worth
of s cells to s + c_x. If all p_x N are whole the grid is exact; otherwise the mass of every set of s cells lies in
[s/N − below, s/N + above], the sums of the items' rounding errors.

All but one: the knapsacks that leave out one item each are found by halving. The items of the second half are added to
a copy, then the first half is halved again, and the other way round: n log n additions instead of n².
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import float_above

_FINEST = 1 << 22  # cells of a grid: 32 MB for each array of it


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Masses in cells of 1/size, and how far a set's mass can be below and above its cells."""

    size: int
    cells: NDArray[np.int64]
    below: float
    above: float


def grid_of(masses: tuple[Fraction, ...], work: float, share: float) -> Grid:
    """Choose a grid: the masses' own where it is not too fine, else as fine as the work allows.

    `work` is how many cells all items together may touch, if sets are only followed up to a `share` of the mass.
    """
    count = max(len(masses), 1)
    affordable = int(min(_FINEST, max(work / (count * max(share, 1 / count)), 64 * count)))
    own = _common(masses, affordable)
    size = own or affordable
    cells = [round(mass * size) for mass in masses]
    off = [mass - Fraction(own_cells, size) for mass, own_cells in zip(masses, cells, strict=True)]
    above = float_above(sum((error for error in off if error > 0), Fraction(0)))
    below = float_above(-sum((error for error in off if error < 0), Fraction(0)))
    return Grid(size, np.array(cells, dtype=np.int64), below, above)


def search_grid(masses: tuple[Fraction, ...], share: float) -> Grid:
    """Choose a grid for a search, which need not be exact: a pricing on it takes hundredths of a second."""
    size = int(min(1 << 16, max(1e6 / (len(masses) * max(share, 1 / len(masses))), 64 * len(masses))))
    size = _common(masses, 2 * size) or size
    # no secret is left without a cell: sets would have it all or not at all
    cells = np.array([max(round(mass * size), 1 if mass else 0) for mass in masses], dtype=np.int64)
    return Grid(size, cells, 0.0, 0.0)


def _common(masses: tuple[Fraction, ...], most: int) -> int:
    """Find the common denominator, 0 where it is larger than `most`."""
    unit = 1
    for mass in masses:
        unit = lcm(unit, mass.denominator)
        if unit > most:
            return 0
    return unit


@dataclass(frozen=True, slots=True, eq=False)
class Sets:
    """Sets of the items so far: their masses, and the best worth of each; place s has s cells."""

    masses: FloatArray
    worths: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Knapsack:
    """Items with masses and worths on a grid; sets heavier than `most` do not matter."""

    grid: Grid
    masses: FloatArray
    worths: FloatArray
    most: float

    def empty(self) -> Sets:
        """Start with no items: only the empty set."""
        length = min(int((self.most + self.grid.below) * self.grid.size) + 2, int(self.grid.cells.sum()) + 1)
        worths = np.full(length, -np.inf)
        worths[0] = 0.0
        return Sets(np.arange(length) / self.grid.size, worths)

    def add(self, sets: Sets, items: range) -> Sets:
        """Allow a range of items; sets heavier than `most` are left out."""
        worths = sets.worths.copy()
        for item in items:
            own, worth = int(self.grid.cells[item]), float(self.worths[item])
            if own == 0:
                worths += max(worth, 0.0)
            elif own < len(worths):
                np.maximum(worths[own:], worths[:-own] + worth, out=worths[own:])
        return Sets(sets.masses, worths)

    def whole(self) -> Sets:
        """Find the best sets of all items."""
        return self.add(self.empty(), range(len(self.masses)))

    def all_but_one(self) -> Iterator[tuple[int, Sets]]:
        """Find, for each item, the best sets of the others."""
        waiting: list[tuple[range, Sets]] = [(range(len(self.masses)), self.empty())]
        while waiting:
            items, sets = waiting.pop()
            if len(items) == 1:
                yield items[0], sets
                continue
            first, second = items[: len(items) // 2], items[len(items) // 2 :]
            waiting.append((second, self.add(sets, first)))
            waiting.append((first, self.add(sets, second)))


def chosen(
    cells: NDArray[np.int64], worths: FloatArray, length: int, ends: Callable[[FloatArray], NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Find best sets themselves: for the cells that `ends` picks from the best worths, which items are in.

    Returns the picked cells and a row of items for each.
    """
    best = np.full(length, -np.inf)
    best[0] = 0.0
    taken = np.zeros((len(cells), length), dtype=bool)
    for item, (own, worth) in enumerate(zip(cells.tolist(), worths.tolist(), strict=True)):
        if own == 0:
            taken[item] = worth > 0
            best = best + max(worth, 0.0)
        elif own < length:
            with_it = best[:-own] + worth
            np.greater(with_it, best[own:], out=taken[item, own:])
            np.maximum(best[own:], with_it, out=best[own:])
    picked = ends(best)
    left, inside = picked.copy(), np.zeros((len(picked), len(cells)), dtype=bool)
    for item in range(len(cells) - 1, -1, -1):
        inside[:, item] = taken[item, left]
        left = left - np.where(inside[:, item], cells[item], 0)
    return picked, inside


def by_size(grid: Grid, worths: FloatArray, largest: int) -> FloatArray:
    """Find the best worth of the sets of each size, up to the largest, and each mass: a row for each size."""
    length = int(grid.cells.sum()) + 1
    best = np.full((largest + 1, length), -np.inf)
    best[0, 0] = 0.0
    for cells, worth in zip(grid.cells.tolist(), worths.tolist(), strict=True):
        np.maximum(best[1:, cells:], best[:-1, : length - cells] + worth, out=best[1:, cells:])
    return best


def chosen_by_size(
    cells: NDArray[np.int64],
    worths: FloatArray,
    largest: int,
    ends: Callable[[FloatArray], NDArray[np.int64]],
) -> NDArray[np.bool_]:
    """Find best sets of a size and mass themselves: a row of items for each place (size, cells) that `ends` picks."""
    length = int(cells.sum()) + 1
    best = np.full((largest + 1, length), -np.inf)
    best[0, 0] = 0.0
    taken = np.zeros((len(cells), largest + 1, length), dtype=bool)
    for item, (own, worth) in enumerate(zip(cells.tolist(), worths.tolist(), strict=True)):
        with_it = best[:-1, : length - own] + worth
        np.greater(with_it, best[1:, own:], out=taken[item, 1:, own:])
        np.maximum(best[1:, own:], with_it, out=best[1:, own:])
    sizes, left = ends(best).T
    inside = np.zeros((len(sizes), len(cells)), dtype=bool)
    for item in range(len(cells) - 1, -1, -1):
        inside[:, item] = taken[item, sizes, left]
        left, sizes = left - np.where(inside[:, item], cells[item], 0), sizes - inside[:, item]
    return inside


def sampled(grid: Grid, share: float, count: int, draws: np.random.Generator) -> NDArray[np.bool_]:
    """Draw random sets of a share of the mass: each item with that probability, given what the set weighs.

    Item by item from the last, with the probability that those before it weigh what is left.
    """
    length = int(share * grid.size) + 1
    chances = np.zeros((len(grid.cells) + 1, length))
    chances[0, 0] = 1.0
    for item, own in enumerate(grid.cells.tolist()):
        chances[item + 1] = (1 - share) * chances[item]
        chances[item + 1, own:] += share * chances[item, : max(length - own, 0)]
    left = np.full(count, int(np.flatnonzero(chances[-1])[-1]))
    inside = np.zeros((count, len(grid.cells)), dtype=bool)
    for item in range(len(grid.cells) - 1, -1, -1):
        rest = left - int(grid.cells[item])
        taken = share * chances[item, np.maximum(rest, 0)] * (rest >= 0)
        inside[:, item] = draws.random(count) * chances[item + 1, left] < taken
        left = np.where(inside[:, item], rest, left)
    return inside


def tuned(inside: NDArray[np.bool_], masses: FloatArray, target: float) -> NDArray[np.bool_]:
    """Bring the mass of a set up to a target, from below, by two exchanges of an item in it for one that is not.

    Of k exchanges there are k²/2 pairs: a thousand of them come as near as a grid of a million cells.
    """
    own, other = np.nonzero(inside)[0], np.nonzero(~inside)[0]
    lacks = target - float(masses[inside].sum())
    if not len(own) or not len(other):
        return inside
    moves = np.append((masses[other][None, :] - masses[own][:, None]).ravel(), 0.0)
    order = np.argsort(moves)
    ordered = moves[order]
    places = np.searchsorted(ordered, lacks - moves, side="right") - 1
    rest = np.where(places >= 0, lacks - moves - ordered[places], np.inf)
    for first in np.argsort(rest)[:8].tolist():
        pair = [move for move in (first, int(order[places[first]])) if move < len(moves) - 1]
        gone, come = [own[move // len(other)] for move in pair], [other[move % len(other)] for move in pair]
        if len(set(gone)) == len(pair) == len(set(come)) and abs(lacks) > rest[first] >= 0:
            changed = inside.copy()
            changed[gone], changed[come] = False, True
            return changed
    return inside
