"""Branch and bound over selections: the tree that proves the upper end, and the best selection on the way.

A node allows some rows of each secret. It is split on one row, chosen or not; the node with the largest bound goes
first, so that stopping at any moment leaves a valid tree. Bounds are those of a judge, never a solver's.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from tightlip.certificate.statistic import Leaf, Prices, Split
from tightlip.numeric.parse import FloatArray
from tightlip.statistic.cover import Cover, Mask
from tightlip.statistic.descent import descend
from tightlip.statistic.greedy import exchange, greedy
from tightlip.statistic.groups import Places
from tightlip.statistic.judge import Bounded, Judge
from tightlip.statistic.program import CutProgram
from tightlip.statistic.work import Work

_MOST_ENTRIES = 200_000  # beyond, the relaxation is left to subgradient descent and no branching is tried
_MOST_SIZE = 1500
_MOST_PRICES = 5_000_000
_FIRST_SHARE = 0.5  # of the work for the first selection; without some left for prices the upper end is poor


@dataclass(frozen=True, slots=True)
class Found:
    """The best selection (rows of the cover), its total, and a tree that proves `upper` for all selections.

    `stopped` says what was used up, if anything, before the search came to its own end.
    """

    selection: Places
    lower: Fraction
    upper: Fraction
    prices: tuple[Prices, ...]
    nodes: tuple[Split | Leaf, ...]
    met: bool
    stopped: str


@dataclass(slots=True)
class _Node:
    allowed: Mask
    start: FloatArray
    weights: FloatArray
    bounded: Bounded


@dataclass(slots=True)
class _Tree:
    """Nodes by number: a node is a leaf until it is split."""

    leaves: dict[int, Bounded] = field(default_factory=dict)
    splits: dict[int, Split] = field(default_factory=dict)

    def add(self, bounded: Bounded) -> int:
        place = len(self.leaves) + len(self.splits)
        self.leaves[place] = bounded
        return place

    def split(self, place: int, row: int, chosen: Bounded, others: Bounded) -> tuple[int, int]:
        del self.leaves[place]
        self.splits[place] = Split(row, 0, 0)  # counted before its children get their numbers
        one, two = self.add(chosen), self.add(others)
        self.splits[place] = Split(row, one, two)
        return one, two

    def finished(self) -> tuple[tuple[Prices, ...], tuple[Split | Leaf, ...]]:
        places: dict[Prices, int] = {}
        nodes: list[Split | Leaf] = []
        for place in range(len(self.leaves) + len(self.splits)):
            split = self.splits.get(place)
            nodes.append(split or Leaf(places.setdefault(self.leaves[place].prices, len(places))))
        return tuple(places), tuple(nodes)


class Search:
    """One problem being solved; `run` does it."""

    def __init__(self, cover: Cover, judge: Judge, *, work: Work, gap: float) -> None:
        self.cover = cover
        self.judge = judge
        self.work = work
        self.allowance = max(judge.slack, Fraction(gap))
        small = len(cover.values) <= _MOST_ENTRIES and cover.outputs + cover.groups <= _MOST_SIZE
        self.program = CutProgram(cover) if small else None
        self.selection = exchange(cover, greedy(cover), work, _FIRST_SHARE)
        self.lower = judge.total(self.selection)

    def run(self) -> Found:
        """Bound, then branch until the ends meet, the work is done or the proof grows too long."""
        tree = _Tree()
        root = self._node(self.cover.everything(), self.cover.covered(self.selection))
        heap = [(-root.bounded.total, tree.add(root.bounded), root)]
        most = _MOST_PRICES // self.cover.outputs
        while self.program is not None and not self._met(-heap[0][0]):
            row = self._branching_row(heap[0][2])
            if row is None or not self.work.left() or len(tree.leaves) > most:
                break
            _, place, node = heapq.heappop(heap)
            parts = [self._node(allowed, node.start) for allowed in self._split(node.allowed, row)]
            places = tree.split(place, int(self.cover.order[row]), parts[0].bounded, parts[1].bounded)
            for number, part in zip(places, parts, strict=True):
                heapq.heappush(heap, (-part.bounded.total, number, part))
        upper = max(self.lower, *(leaf.total for leaf in tree.leaves.values()))
        prices, nodes = tree.finished()
        return Found(
            self.selection,
            self.lower,
            upper,
            prices,
            nodes,
            self._met(upper, self.judge.slack),
            self.work.stopped,
        )

    def _met(self, upper: Fraction, allowance: Fraction | None = None) -> bool:
        share = self.allowance if allowance is None else allowance
        return upper <= self.lower + share * abs(self.lower)

    def _node(self, allowed: Mask, start: FloatArray) -> _Node:
        """Prices and bound where only some rows are allowed; the rows that lead there may be a better selection."""
        if allowed.sum() == self.cover.groups:
            only = np.flatnonzero(allowed)
            self._try(only)
            return _Node(allowed, start, allowed.astype(np.float64), self.judge.settled(only))
        if self.program is None:
            prices = descend(self.cover, allowed, start, self._goal(), self.work)
            weights = np.zeros(self.cover.rows)
        else:
            prices = self.program.prices(allowed, start, self._goal(), self.work)
            weights = np.where(allowed, self.program.weights, 0.0)
        _, leads = self.cover.tops(weights if weights.any() else self.cover.gains(prices), allowed)
        self._try(exchange(self.cover, leads, self.work))
        self.work.add(self.judge.cost)
        return _Node(allowed, prices, weights, self.judge.bound(prices, allowed, self.lower))

    def _goal(self) -> float:
        return self.cover.worth(self.selection)

    def _try(self, selection: Places) -> None:
        total = self.judge.total(selection)
        if total > self.lower:
            self.selection, self.lower = selection, total

    def _split(self, allowed: Mask, row: int) -> tuple[Mask, Mask]:
        members = self.cover.members(self.cover.group_of(row))
        chosen, others = allowed.copy(), allowed.copy()
        chosen[members.start : members.stop] = False
        chosen[row] = True
        others[row] = False
        return chosen, others

    def _branching_row(self, node: _Node) -> int | None:
        """The leading row of the secret that is least decided; None where every secret has one row left."""
        left = np.add.reduceat(node.allowed.astype(np.intp), self.cover.group_starts)
        tops, rows = self.cover.tops(node.weights, node.allowed)
        undecided = np.where(left > 1, tops, np.inf)
        group = int(np.argmin(undecided))
        return None if np.isinf(undecided[group]) else int(rows[group])
