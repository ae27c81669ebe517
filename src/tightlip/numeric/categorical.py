"""Outcomes drawn from finitely many distributions: exactly, many at a time.

A row with whole weights w₁ … w_m of sum S cuts [0, 1) at c_y/S, c_y = w₁ + … + w_y, and y is drawn where a uniform U
lies in [c_{y−1}/S, c_y/S). Of U no more bits are drawn than it takes to know where it lies:

    b bits    a table has the outcome of every cell [j/2ᵇ, (j + 1)/2ᵇ), or that a cut lies inside it
    64 bits   the cells with cuts inside: u = ⌊2⁶⁴U⌋ is compared with ⌊2⁶⁴c_y/S⌋, all of them at once
    more      where u is such a floor, and the cut no multiple of 2⁻⁶⁴: one by one, against the cut itself, without end

Every comparison is one of whole numbers, so P(y) = w_y/S, and an outcome of weight 0 is never drawn.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.numeric.randomness import RandomSource

Places = NDArray[np.intp]
Words = NDArray[np.uint64]

_WORD = 64
_PIECE = 16  # bits of a word that one draw gets: at most so many are looked up
_BLOCK = 1 << 16  # draws at a time: what they need stays in the cache
_SPARE = 8  # bits beyond those that number the outcomes: one cell in 2⁸ has a cut inside
_CELLS = 1 << 22  # of all rows together: larger tables are slower than a search


@dataclass(frozen=True, slots=True)
class Weights:
    """One distribution: the outcomes that can occur, and their weights, positive whole numbers of any size."""

    outcomes: Sequence[int]
    weights: Sequence[int]

    @classmethod
    def of(cls, outcomes: Sequence[int], chances: Iterable[float | Fraction]) -> Weights:
        """Read chances as the rationals they are, in the proportion they have.

        >>> Weights.of([0, 1, 2], [Fraction(1, 2), 0.0, Fraction(1, 3)])
        Weights(outcomes=[0, 2], weights=[3, 2])
        """
        ratios = [chance.as_integer_ratio() for chance in chances]
        whole = lcm(*(below for _, below in ratios))
        scaled = [above * (whole // below) for above, below in ratios]
        possible = [place for place, weight in enumerate(scaled) if weight]
        return cls([outcomes[place] for place in possible], [scaled[place] for place in possible])


class Categorical:
    """Distributions on 0 … outcomes − 1, a row each, to be drawn from exactly.

    Parameters
    ----------
    rows : the weights of each row
    outcomes : how many outcomes there are
    draws : about how many will be drawn; a table pays when it is looked up more often than it has cells
    bits : how many bits are looked up, 0 to 16; chosen by default

    >>> fair = Categorical([Weights([0, 1], [1, 2]), Weights([1], [1])], 2)
    >>> drawn = fair.draw(np.array([1, 0, 1]), RandomSource())
    >>> drawn[[0, 2]].tolist(), int(drawn[1]) in (0, 1)
    ([1, 1], True)
    """

    __slots__ = ("_bits", "_ends", "_inside", "_outcomes", "_rows", "_starts", "_table", "_undecided")

    def __init__(
        self, rows: Sequence[Weights], outcomes: int, *, draws: int = _BLOCK, bits: int | None = None
    ) -> None:
        self._rows = rows
        self._undecided = outcomes
        sizes = [len(row.outcomes) for row in rows]
        self._bits = _choose_bits(sizes, draws) if bits is None else bits
        kind = np.min_scalar_type(outcomes)
        self._starts: Places = np.concatenate([[0], np.cumsum(sizes, dtype=np.intp)])
        self._outcomes = np.array([place for row in rows for place in row.outcomes], dtype=kind)
        cuts = [cut for row in rows for cut in _floors(row.weights)]
        self._ends: Words = np.array([floor for floor, _ in cuts], dtype=np.uint64)
        self._inside = np.array([inside for _, inside in cuts], dtype=bool)
        self._table = self._make_table()

    def draw(self, rows: NDArray[Any], randomness: RandomSource) -> NDArray[Any]:
        """Draw an outcome for each row named, independently; the smallest unsigned integers that hold them."""
        found = np.empty(len(rows), dtype=self._table.dtype)
        for start in range(0, len(rows), _BLOCK):
            block = slice(start, start + _BLOCK)
            self._draw_block(rows[block], found[block], randomness)
        return found

    def _draw_block(self, rows: NDArray[Any], found: NDArray[Any], randomness: RandomSource) -> None:
        words = randomness.words(-(-len(rows) * _PIECE // _WORD))
        cells = rows.astype(np.intp)
        cells <<= self._bits
        cells |= words.view(np.uint16)[: len(rows)] >> np.uint16(_PIECE - self._bits)
        self._table.take(cells, out=found, mode="clip")
        undecided = np.flatnonzero(found == self._undecided)
        if len(undecided):
            found[undecided] = self._search(cells[undecided], randomness)

    def _search(self, cells: Places, randomness: RandomSource) -> NDArray[Any]:
        """Draw the outcomes of cells that have cuts inside."""
        rows, first = cells >> self._bits, cells & ((1 << self._bits) - 1)
        drawn = randomness.words(len(cells)) >> np.uint64(self._bits)
        if self._bits:
            drawn |= first.astype(np.uint64) << np.uint64(_WORD - self._bits)
        low = self._starts[rows]
        entry = first_above(self._ends, low, self._starts[rows + 1], drawn)
        before = np.maximum(entry - 1, low)
        open_ = (entry > low) & (self._ends[before] == drawn) & self._inside[before]
        for place in np.flatnonzero(open_).tolist():
            row = int(rows[place])
            entry[place] = low[place] + _refine(self._rows[row].weights, int(drawn[place]), randomness)
        return self._outcomes[entry]

    def _make_table(self) -> NDArray[Any]:
        """List the outcome of every cell of every row; `_undecided` where a cut lies inside."""
        shift, cells = np.uint64(_WORD - self._bits), 1 << self._bits
        table = np.full(len(self._rows) * cells, self._undecided, dtype=self._outcomes.dtype)
        if not self._bits:  # one cell, decided where there is one outcome
            alone = np.flatnonzero(np.diff(self._starts) == 1)
            table[alone] = self._outcomes[self._starts[alone]]
            return table
        end = (self._ends >> shift).astype(np.intp)
        whole = ~self._inside & (end.astype(np.uint64) << shift == self._ends)
        begin = np.empty_like(end)
        begin[1:] = (end + ~whole)[:-1]
        begin[self._starts[:-1]], end[self._starts[1:] - 1] = 0, cells
        base = np.repeat(np.arange(len(self._rows)) * cells, np.diff(self._starts))
        length = np.maximum(end - begin, 0)
        offset = base + begin - np.cumsum(length) + length
        table[np.repeat(offset, length) + np.arange(length.sum())] = np.repeat(self._outcomes, length)
        return table


def first_above(ends: NDArray[Any], low: Places, high: Places, drawn: NDArray[Any]) -> Places:
    """Find, for each row, the first entry from `low` to before `high` whose end is above what was drawn.

    The last entry is not compared: it is found where no other is.
    """
    high = high - 1
    while (open_ := low < high).any():
        middle = (low + high) // 2
        beyond = drawn >= ends[middle]
        low, high = np.where(open_ & beyond, middle + 1, low), np.where(open_ & ~beyond, middle, high)
    return low


def _choose_bits(sizes: Sequence[int], draws: int) -> int:
    """Enough bits for cells without cuts, unless the table would outgrow the cache or the draws."""
    wanted = max(sizes, default=1).bit_length() + _SPARE
    affordable = (min(draws, _CELLS) // max(len(sizes), 1)).bit_length() - 1
    return max(0, min(wanted, affordable, _PIECE))


def _floors(weights: Sequence[int]) -> list[tuple[int, bool]]:
    """⌊2⁶⁴c/S⌋ of each cut c/S, and whether that is below it; the last, which is 1, is never compared."""
    sums = list(accumulate(weights))
    pairs = (divmod(part << _WORD, sums[-1]) for part in sums[:-1])
    return [*((floor, rest > 0) for floor, rest in pairs), ((1 << _WORD) - 1, False)]


def _refine(weights: Sequence[int], drawn: int, randomness: RandomSource) -> int:
    """Go on with a number of which 64 bits are drawn until it lies between two cuts."""
    sums, bits = list(accumulate(weights)), _WORD
    while True:
        # drawn/2^bits ≥ c/S, where c is the last sum that is at most this
        low = bisect_right(sums, drawn * sums[-1] >> bits)
        high = bisect_left(sums, -(-(drawn + 1) * sums[-1] >> bits))
        if low == high:
            return low
        drawn, bits = drawn << _WORD | randomness.bits(_WORD), bits + _WORD
