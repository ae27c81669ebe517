"""The node of a lattice that meets a budget and keeps most detail.

A greedy search comes first: from the best single column down, it makes one column finer at a time as long as the
budget is met. Then nodes are looked at from the plan upwards, those of the largest entropy first. No node keeps more
detail than the entropy of any node below it, so when no open node has more entropy than the best one found keeps,
that one is optimal. A node below one that leaks too much leaks too much as well and is not counted at all; this
needs a release without noise and hidden cells, which do not become less telling when the columns become coarser.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tightlip.auditing.lattice import Lattice, Node

MOST_NODES = 2_000
MOST_WORK = 10_000_000  # pairs of secret and cell that are added up
_MOST_OPEN = 100_000


@dataclass(frozen=True, slots=True)
class Look:
    """What counting a node showed.

    Attributes
    ----------
    entropy : of its cells before anything is hidden or randomised, in nats; no node above keeps more detail
    kept : the detail that it keeps, where it meets the budget; −∞ where it does not
    leakage : its worst leakage, rounded up; +∞ where it releases nothing
    work : how many pairs of secret and cell were added up
    """

    entropy: float
    kept: float
    leakage: float
    work: int


@dataclass(frozen=True, slots=True)
class Best:
    """The node that keeps most detail of those that meet the budget, and whether that is proved; None is no node."""

    node: Node | None
    proved: bool


class Climb:
    """A search with a memory: every node is counted at most once, up to a limit of work."""

    def __init__(self, lattice: Lattice, look: Callable[[Node], Look], *, monotone: bool) -> None:
        self.lattice = lattice
        self.known: dict[Node, Look] = {}
        self._look = look
        self._monotone = monotone
        self._failing = np.zeros((0, len(lattice.ladders)), dtype=np.int64)
        self._work = 0

    @property
    def spent(self) -> bool:
        """Whether no more nodes are to be counted."""
        return len(self.known) >= MOST_NODES or self._work >= MOST_WORK

    def look(self, node: Node) -> Look:
        """Count a node, or remember it."""
        if node not in self.known:
            self.known[node] = found = self._look(node)
            self._work += found.work
            if self._monotone and math.isinf(found.kept) and not math.isinf(found.leakage):
                self._failing = np.vstack([self._failing, [node]])
        return self.known[node]

    def fails(self, node: Node) -> bool:
        """Whether a node is known to leak too much, from itself or from one above it."""
        return self.lattice.any_above(node, self._failing)

    def counted(self, free: Sequence[int]) -> list[Node]:
        """The nodes counted so far that change no other columns than the free ones."""
        fixed = set(range(len(self.lattice.ladders))) - set(free)
        return [node for node in self.known if not any(node[column] for column in fixed)]

    def best_known(self, free: Sequence[int]) -> Node | None:
        """The best of these that meets the budget."""
        meeting = (node for node in self.counted(free) if self.kept(node) > -math.inf)
        return max(meeting, key=self.kept, default=None)

    def kept(self, node: Node | None) -> float:
        """The detail that a known node keeps."""
        return -math.inf if node is None else self.known[node].kept

    def greedy(self) -> None:
        """Look at every column alone, then make the best of them finer while the budget is met."""
        self._look_at(self.lattice.alone())
        best, last = self.best_known(range(len(self.lattice.ladders))), None
        while best is not None and best != last:
            last = best
            best = max([best, *self._look_at(self.lattice.below(best))], key=self.kept)

    def _look_at(self, nodes: Iterable[Node]) -> list[Node]:
        """Count nodes that may meet the budget, as far as the limit allows."""
        found = []
        for node in nodes:
            if not self.spent and not self.fails(node):
                self.look(node)
                found.append(node)
        return found

    def upwards(self, free: Sequence[int]) -> Best:
        """The best node that changes only free columns, proved unless the limit of work is reached."""
        best = self.best_known(free)
        open_nodes = [(-math.inf, self.lattice.bottom)]
        seen = {self.lattice.bottom}
        while open_nodes and -open_nodes[0][0] > self.kept(best):
            if self.spent or len(seen) > _MOST_OPEN:
                return Best(best, False)
            negative, node = heapq.heappop(open_nodes)
            entropy = -negative
            if not self.fails(node):
                found = self.look(node)
                entropy = min(entropy, found.entropy)
                best = node if found.kept > self.kept(best) else best
            for other in self.lattice.above(node, free):
                if other not in seen and entropy > self.kept(best):
                    seen.add(other)
                    heapq.heappush(open_nodes, (-entropy, other))
        return Best(best, True)
