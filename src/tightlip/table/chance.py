"""What rows publish, by chance or always: kernels from cells to published values, drawn exactly and checked again.

A release consists of parts, independent of each other, each of which publishes some columns: all columns that depend on
the cell together (`CellKernel`), or one column with noise (`NoiseKernel`). Where a local recoding takes what noise made
of a row, both are one part. A probability a/b is drawn as a whole number below b.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput
from tightlip.numeric.categorical import Places, first_above
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.randomness import RandomSource
from tightlip.table.local import Cell, LocalRecoding
from tightlip.table.mechanism import ColumnChannel, Value

NOTHING = "*"  # what a hidden cell publishes in every column
_FALSE_ALARM = 1e-9  # the chance that a release which follows its kernel is refused
_INT64 = 1 << 63


@dataclass(frozen=True, slots=True, eq=False)
class Part(ABC):
    """A kernel that publishes some columns.

    Attributes
    ----------
    columns : the places of the columns among the released ones
    outcomes : the published values, each with an entry for each of these columns
    source_of : for each counted cell, which row of the kernel is its own
    """

    columns: tuple[int, ...]
    outcomes: tuple[Cell, ...]
    source_of: Places

    @property
    @abstractmethod
    def deterministic(self) -> bool:
        """Whether every source has one outcome."""

    @abstractmethod
    def draw(self, source: Places, randomness: RandomSource) -> Places:
        """Draw an outcome for each row, given its source."""

    @abstractmethod
    def pairs(self) -> Iterator[tuple[Places, Places, FloatArray]]:
        """List the sources, outcomes and probabilities of all pairs that can occur, some at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class CellKernel(Part):
    """Whole weights of a scale: entries starts[s] to starts[s + 1] are what source s publishes.

    Weights are int64, or Python integers where the scale is larger.
    """

    starts: Places
    place: Places
    weight: NDArray[Any]
    scale: int

    @classmethod
    def fixed(cls, columns: Sequence[int], labels: Sequence[Cell]) -> CellKernel:
        """Publish of each cell what is listed for it, always."""
        shown = [tuple(label[column] for column in columns) for label in labels]
        known: dict[Cell, int] = {}
        own = np.array([known.setdefault(label, len(known)) for label in shown], dtype=np.intp)
        every = np.arange(len(known), dtype=np.intp)
        return cls(
            tuple(columns),
            tuple(known),
            own,
            np.arange(len(known) + 1, dtype=np.intp),
            every,
            np.ones(len(known), dtype=np.int64),
            1,
        )

    @classmethod
    def local(cls, recoding: LocalRecoding, cells: Sequence[Cell]) -> CellKernel:
        """Publish what a local recoding says of each cell."""
        columns = tuple(range(len(recoding.columns)))
        return cls(
            columns,
            recoding.published,
            recoding.places_of(cells),
            recoding.starts,
            recoding.value,
            recoding.weight,
            recoding.scale,
        )

    @classmethod
    def drawn(
        cls,
        recoding: LocalRecoding,
        cells: Sequence[Cell],
        channels: Mapping[int, tuple[Cell, ColumnChannel]],
    ) -> CellKernel:
        """Publish what a local recoding says of cells of which some columns are drawn first, each once.

        A counted cell (x, a) publishes (y, z) with probability M(z | a)·K(y, z | x, z): one draw of both. `channels`
        has for the place of each drawn column its values and what becomes of them.
        """
        rows = {
            column: {value: channel.weights_of(at) for at, value in enumerate(values)}
            for column, (values, channel) in channels.items()
        }
        flat = [(at, *one) for at, cell in enumerate(cells) for one in _drawn_cells(cell, rows)]
        weights: list[dict[int, int]] = [{} for _ in cells]  # what is published alike is one outcome
        starts = recoding.starts
        for (at, _, chance), place in zip(
            flat, recoding.places_of([cell for _, cell, _ in flat]), strict=True
        ):
            for entry in range(starts[place], starts[place + 1]):
                value, weight = int(recoding.value[entry]), chance * int(recoding.weight[entry])
                weights[at][value] = weights[at].get(value, 0) + weight
        scale = recoding.scale * math.prod(channel.total for _, channel in channels.values())
        kind = np.int64 if scale < _INT64 else object
        return cls(
            tuple(range(len(recoding.columns))),
            recoding.published,
            np.arange(len(cells), dtype=np.intp),
            np.cumsum([0, *map(len, weights)], dtype=np.intp),
            np.array([value for own in weights for value in own], dtype=np.intp),
            np.array([weight for own in weights for weight in own.values()], dtype=kind),
            scale,
        )

    @property
    def deterministic(self) -> bool:
        """Whether every source has one outcome."""
        return len(self.place) == len(self.starts) - 1

    def draw(self, source: Places, randomness: RandomSource) -> Places:
        """Draw an outcome for each row, given its source."""
        if self.deterministic:
            return self.place[self.starts[source]]
        # sums may run over, but the differences within a cell, at most the scale, are right again
        ends = np.cumsum(self.weight)
        ends -= np.repeat((ends - self.weight)[self.starts[:-1]], np.diff(self.starts))
        drawn = below(randomness, self.scale, len(source))
        return self.place[first_above(ends, self.starts[source], self.starts[source + 1], drawn)]

    def pairs(self) -> Iterator[tuple[Places, Places, FloatArray]]:
        """List all pairs at once."""
        source = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        yield source, self.place, np.asarray(self.weight / self.scale, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class NoiseKernel(Part):
    """Noise on one column: from what all values share with probability Σ base/total, else from a value's own extra.

    The last source is that of hidden cells, which publish nothing, "*"; so may the channel.
    """

    channel: ColumnChannel

    @classmethod
    def of(cls, column: int, values: Sequence[Value], channel: ColumnChannel, own: Places) -> NoiseKernel:
        """Publish a column through a channel of its values; `own` has the value of each cell, −1 where it is hidden."""
        outcomes = dict.fromkeys([*((outcome,) for outcome in channel.outcomes), (NOTHING,)])
        return cls((column,), tuple(outcomes), np.where(own < 0, len(values), own), channel)

    @property
    def nothing(self) -> int:
        """The outcome of hidden cells."""
        return self.outcomes.index((NOTHING,))

    @property
    def deterministic(self) -> bool:
        """Whether every source has one outcome."""
        return False

    def draw(self, source: Places, randomness: RandomSource) -> Places:
        """Draw an outcome for each row, given its source."""
        channel, hidden = self.channel, len(self.channel.starts) - 1
        found = np.full(len(source), self.nothing, dtype=np.intp)
        shown = np.flatnonzero(source < hidden)
        drawn = below(randomness, channel.total, len(shown))
        base = np.cumsum(channel.base.astype(object))
        shared = drawn < base[-1]
        found[shown[shared]] = np.searchsorted(base.astype(drawn.dtype), drawn[shared], side="right")
        own, rest = source[shown[~shared]], drawn[~shared] - base[-1]
        ends = np.cumsum(channel.extra.astype(object))
        first = np.append(0, ends)[channel.starts[:-1]]
        ends -= np.repeat(first, np.diff(channel.starts))
        entry = first_above(ends, channel.starts[own], channel.starts[own + 1], rest)
        found[shown[~shared]] = channel.places[entry]
        return found

    def pairs(self) -> Iterator[tuple[Places, Places, FloatArray]]:
        """List the pairs of one value at a time; of hidden cells at last."""
        channel = self.channel
        for value in range(len(channel.starts) - 1):
            own = slice(channel.starts[value], channel.starts[value + 1])
            weight = channel.base.astype(object).copy()
            np.add.at(weight, channel.places[own], channel.extra[own])
            possible = np.flatnonzero(weight > 0)
            chance = np.asarray(weight[possible] / channel.total, dtype=np.float64)
            yield np.full(len(possible), value), possible, chance
        yield np.array([len(channel.starts) - 1]), np.array([self.nothing]), np.ones(1)


def _drawn_cells(
    cell: Cell, rows: Mapping[int, Mapping[Value, Sequence[tuple[Value, int]]]]
) -> list[tuple[Cell, int]]:
    """What a cell may become when some of its columns are drawn, each with its whole weight."""
    found: list[tuple[Cell, int]] = [(cell, 1)]
    for column, row in rows.items():
        found = [
            ((*before[:column], outcome, *before[column + 1 :]), chance * weight)
            for before, chance in found
            for outcome, weight in row[cell[column]]
        ]
    return found


def below(randomness: RandomSource, bound: int, count: int) -> NDArray[Any]:
    """Draw whole numbers below a bound of any size."""
    if bound <= _INT64:
        return randomness.below_each(bound, count)
    return np.array([randomness.below(bound) for _ in range(count)], dtype=object)


class PairCounts:
    """How often each pair of source and outcome of a part was found."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self._keys: list[NDArray[np.int64]] = []
        self._counts: list[NDArray[np.int64]] = []

    def add(self, source: Places, outcome: Places) -> None:
        """Count rows."""
        keys, counts = np.unique(source * len(self.part.outcomes) + outcome, return_counts=True)
        self._keys.append(keys)
        self._counts.append(counts)
        if len(self._keys) > 50:
            self._merge()

    def _merge(self) -> None:
        keys, place = np.unique(np.concatenate(self._keys), return_inverse=True)
        counts = np.zeros(len(keys), dtype=np.int64)
        np.add.at(counts, place, np.concatenate(self._counts))
        self._keys, self._counts = [keys], [counts]

    def check(self, people: NDArray[np.int64], parts: int) -> None:
        """Refuse a pair that cannot occur, or that occurs as often or as rarely as chance would not have it.

        Parameters
        ----------
        people : the rows of each counted cell
        parts : how many parts share the chance of a false alarm
        """
        self._merge()
        keys, counts = self._keys[0], self._counts[0]
        rows = np.zeros(int(self.part.source_of.max()) + 1, dtype=np.int64)
        np.add.at(rows, self.part.source_of, people)
        chunks = list(self.part.pairs())
        least = _FALSE_ALARM / parts / sum(len(chunk[0]) for chunk in chunks)
        seen = 0
        for source, outcome, chance in chunks:
            occurs = source < len(rows)
            source, outcome, chance = source[occurs], outcome[occurs], chance[occurs]
            wanted = source * len(self.part.outcomes) + outcome
            place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            found = np.where(keys[place] == wanted, counts[place], 0)
            seen += int(found.sum())
            if (two_sided_tail(found, rows[source], chance) < least).any():
                raise InvalidInput(
                    "the written file does not follow its policy: some value was published too often or too rarely; "
                    "nothing was kept, release it again."
                )
        if seen != int(people.sum()):
            raise InvalidInput(
                "the written file does not follow its policy: a row publishes what is not true of it; nothing was "
                "kept, release it again."
            )


def two_sided_tail(found: NDArray[np.int64], rows: NDArray[np.int64], chance: FloatArray) -> FloatArray:
    """Compute twice the smaller of P{N ≤ found} and P{N ≥ found} for N of a binomial distribution."""
    from scipy.stats import binom

    lower, upper = binom.cdf(found, rows, chance), binom.sf(found - 1, rows, chance)
    return np.asarray(np.minimum(1.0, 2 * np.minimum(lower, upper)))
