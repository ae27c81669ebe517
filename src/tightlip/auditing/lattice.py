"""All ways to coarsen the released columns of a plan, each column at one of its levels.

A node has a level for each column: 0 is the plan's own, the last one leaves the column out. A node above another has
every column at the same or a coarser level: its cells are unions of the other's, so its counts are sums of counted
ones. Seen from its cell C = ∪ C_i, P(x | C) is an average of the P(x | C_i): worst leakage never rises on the way up,
and neither does the entropy of the cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.coarser import coarser
from tightlip.auditing.counted import Counted
from tightlip.table.mechanism import Value
from tightlip.table.policy import Policy, Released

Node = tuple[int, ...]
Groups = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Ladder:
    """The levels of one column, no two of which release the same.

    Attributes
    ----------
    items : what is released at each level; None where the column is left out
    values : the released values of each level
    groups : for each level the place of its value for every counted value
    coarser : coarser[i, j] says that level j is level i or coarser
    above : the levels right above each level
    """

    items: tuple[Released | None, ...]
    values: tuple[tuple[Value, ...], ...]
    groups: tuple[Groups, ...]
    coarser: NDArray[np.bool_]
    above: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, item: Released, kind: str, counted: Counted) -> Ladder:
        """As planned, what is known to be coarser, and left out."""
        own = counted.values[counted.columns.index(item.column)]
        known: dict[bytes, tuple[Released | None, tuple[Value, ...], Groups]] = {}
        for released, labels in [(item, own), *_items(item, kind, counted), (None, ("*",) * len(own))]:
            names = {label: place for place, label in enumerate(dict.fromkeys(labels))}
            groups = np.array([names[label] for label in labels], dtype=np.int64)
            known.setdefault(groups.tobytes(), (released, tuple(names), groups))
        items, values, groups_of = zip(*known.values(), strict=True)
        order = _order(groups_of)
        return cls(items, values, groups_of, order, _covers(order))

    @property
    def top(self) -> int:
        """The level that says least."""
        return len(self.items) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """The nodes over a plan and its counts."""

    policy: Policy
    counted: Counted
    ladders: tuple[Ladder, ...]
    _parts: dict[tuple[str, ...], Counted] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, policy: Policy, counted: Counted, kinds: Mapping[str, str]) -> Lattice:
        """All nodes that are known for a plan; `counted` is before small cells are hidden."""
        ladders = (Ladder.of(item, kinds.get(item.column, "text"), counted) for item in policy.release)
        return cls(policy, counted, tuple(ladders))

    @property
    def bottom(self) -> Node:
        """The plan itself."""
        return (0,) * len(self.ladders)

    def size(self, free: Sequence[int]) -> int:
        """How many nodes there are when some columns may change."""
        return math.prod(len(self.ladders[column].items) for column in free)

    def alone(self) -> Iterator[Node]:
        """One column at any of its levels, all others at their last."""
        tops = tuple(ladder.top for ladder in self.ladders)
        for column, ladder in enumerate(self.ladders):
            yield from ((*tops[:column], level, *tops[column + 1 :]) for level in range(ladder.top))

    def above(self, node: Node, free: Sequence[int]) -> Iterator[Node]:
        """The nodes right above, reached by a change of one free column."""
        for column in free:
            for level in self.ladders[column].above[node[column]]:
                yield (*node[:column], level, *node[column + 1 :])

    def below(self, node: Node) -> Iterator[Node]:
        """All finer nodes that differ in one column."""
        for column, ladder in enumerate(self.ladders):
            for level in np.flatnonzero(ladder.coarser[:, node[column]]).tolist():
                if level != node[column]:
                    yield (*node[:column], level, *node[column + 1 :])

    def any_above(self, node: Node, others: NDArray[np.int64]) -> bool:
        """Whether some of other nodes, given as rows, is the node or above it."""
        above = np.ones(len(others), dtype=bool)
        for column, ladder in enumerate(self.ladders):
            above &= ladder.coarser[node[column], others[:, column]]
        return bool(above.any())

    def policy_at(self, node: Node) -> Policy | None:
        """The plan changed to a node; None where nothing is released."""
        items = [ladder.items[level] for ladder, level in zip(self.ladders, node, strict=True)]
        release = tuple(item for item in items if item is not None)
        return replace(self.policy, release=release) if release else None

    def counted_at(self, node: Node) -> tuple[Counted, int]:
        """The counts of a node that releases something, before cells are hidden, and how many were added up."""
        shown = [
            (item, ladder.values[level], ladder.groups[level])
            for ladder, level in zip(self.ladders, node, strict=True)
            if (item := ladder.items[level]) is not None
        ]
        names = tuple(item.column for item, _, _ in shown)
        part = self._part(names)
        found = part.regrouped(names, [values for _, values, _ in shown], [groups for _, _, groups in shown])
        return found, len(part.tally.count)

    def _part(self, names: tuple[str, ...]) -> Counted:
        """The counts of some columns as planned, added up once."""
        if names not in self._parts:
            whole = names == self.counted.columns
            self._parts[names] = self.counted if whole else self.counted.keeping(names)
        return self._parts[names]


def _items(item: Released, kind: str, counted: Counted) -> list[tuple[Released, tuple[Value, ...]]]:
    """The coarser levels that still say something."""
    levels = [level for level in coarser(item, kind, counted) if len(set(level.labels)) > 1]
    return [(replace(item, recoding=level.recoding), level.labels) for level in levels]


def _order(groups: Sequence[Groups]) -> NDArray[np.bool_]:
    """order[i, j]: the values of level j follow from those of level i."""
    firsts = [np.unique(own, return_index=True)[1] for own in groups]
    order = np.zeros((len(groups), len(groups)), dtype=bool)
    for i, j in product(range(len(groups)), repeat=2):
        order[i, j] = (groups[j] == groups[j][firsts[i]][groups[i]]).all()
    return order


def _covers(order: NDArray[np.bool_]) -> tuple[tuple[int, ...], ...]:
    strictly = order & ~np.eye(len(order), dtype=bool)
    direct = strictly & ~(strictly.astype(np.int64) @ strictly.astype(np.int64) > 0)
    return tuple(tuple(np.flatnonzero(row).tolist()) for row in direct)
