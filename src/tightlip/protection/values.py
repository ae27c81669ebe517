"""Generalised values: what may truthfully be published in place of a cell.

Every released column has levels, finest first; a level is a code for each of the column's counted values. A node is
one level for each column. The cells that agree at a node are one generalised value, which contains them. Values of
different nodes that contain the same cells say the same about them and are one, known by its first node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.tally import Places, group_rows
from tightlip.errors import InvalidInput
from tightlip.numeric.display import format_count

MOST_PAIRS = 30_000_000  # of value and cell; beyond, the arrays of a search do not fit into 4 GB

Codes = NDArray[np.int64]
Levels = Sequence[Sequence[Codes]]


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The distinct generalised values of some cells, as pairs of value and cell, sorted by value.

    Attributes
    ----------
    nodes : the level of each column, for each node
    node : for each value, the place of its node
    first : for each value, the first of its cells; node and first cell together name a value
    value, cell : the pairs: value `value[i]` contains cell `cell[i]`
    last : for each cell, the value that contains it at the last node: the one that says least
    """

    nodes: tuple[tuple[int, ...], ...]
    node: Places
    first: Places
    value: Places
    cell: Places
    last: Places

    @classmethod
    def of(cls, codes: Codes, levels: Levels) -> Values:
        """List the values of cells; `codes` has a row for each cell, `levels[column][level]` a code for each value.

        >>> zips = [np.array([0, 1, 2]), np.array([0, 0, 1]), np.array([0, 0, 0])]
        >>> found = Values.of(np.array([[0], [1], [2]]), [zips])
        >>> [found.cells_of(value).tolist() for value in range(len(found))]
        [[0], [1], [2], [0, 1], [0, 1, 2]]
        """
        nodes = tuple(product(*(range(len(column)) for column in levels)))
        if len(nodes) * len(codes) > MOST_PAIRS:
            raise InvalidInput(
                f"levels must make at most {format_count(MOST_PAIRS)} pairs of value and cell, got {len(nodes)} "
                f"combinations of levels for {format_count(len(codes))} cells; give fewer levels, or coarsen first."
            )
        found = [_groups(codes, levels, node) for node in nodes]
        sizes = np.concatenate([np.diff(begin) for _, begin in found])
        members = np.concatenate([order for order, _ in found])
        begin = np.concatenate([[0], np.cumsum(sizes)])
        node = np.repeat(np.arange(len(nodes)), [len(begin) - 1 for _, begin in found])
        same = _first_alike(members, begin)
        kept = np.flatnonzero(same == np.arange(len(same)))
        place = np.full(len(same), -1)
        place[kept] = np.arange(len(kept))
        last = np.zeros(len(codes), dtype=np.intp)
        top = np.flatnonzero(node == len(nodes) - 1)
        last[members[begin[top[0]] :]] = np.repeat(place[same[top]], sizes[top])
        chosen = np.repeat(same == np.arange(len(same)), sizes)
        return cls(
            nodes,
            node[kept],
            members[begin[kept]].astype(np.intp),
            np.repeat(np.arange(len(kept)), sizes[kept]),
            members[chosen].astype(np.intp),
            last,
        )

    def __len__(self) -> int:
        return len(self.node)

    @property
    def starts(self) -> Places:
        """Where the pairs of each value begin; one more at the end."""
        return np.searchsorted(self.value, np.arange(len(self) + 1)).astype(np.intp)

    def cells_of(self, value: int) -> Places:
        """The cells that a value contains."""
        return self.cell[np.searchsorted(self.value, value) : np.searchsorted(self.value, value + 1)]

    def sums(self, amounts: NDArray[Any]) -> NDArray[Any]:
        """Add up an amount of each cell over each value."""
        return np.asarray(np.add.reduceat(amounts[self.cell], self.starts[:-1]))


def _groups(codes: Codes, levels: Levels, node: tuple[int, ...]) -> tuple[NDArray[np.int32], Places]:
    """Group the cells at a node: their places, group by group and in order, and where each group begins."""
    columns = zip(levels, node, codes.T, strict=True)
    _, kind = group_rows(np.column_stack([own[at][code] for own, at, code in columns]))
    order = np.argsort(kind, kind="stable").astype(np.int32)
    ends = np.flatnonzero(np.diff(kind[order])) + 1
    return order, np.concatenate([[0], ends, [len(order)]])


def _first_alike(members: NDArray[np.int32], begin: Places) -> Places:
    """For each group the first one with the same members: by sums of random keys, then compared member by member."""
    keys = np.random.default_rng(0).integers(1 << 63, size=int(members.max()) + 1, dtype=np.uint64)
    sums = np.add.reduceat(keys[members], begin[:-1])
    sizes = np.diff(begin)
    _, first, kind = np.unique(
        np.column_stack([sums, sizes.astype(np.uint64)]), axis=0, return_index=True, return_inverse=True
    )
    same = first[kind.reshape(-1)].astype(np.intp)
    there = np.repeat(begin[same] - begin[:-1], sizes) + np.arange(len(members))
    differ = np.add.reduceat((members[there] != members).astype(np.int64), begin[:-1]) > 0
    return np.where(differ, np.arange(len(same)), same)
