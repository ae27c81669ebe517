"""Search the lattice of generalisations of a plan, each released column at one of its levels, for the best node.

levels      Coarser recodings of one column. A recoding is coarser when the counted value alone says what it releases:
            bins of a multiple of the width, shorter prefixes, fewer edges, higher levels of a hierarchy. So no table
            is asked again. None of them names a value that fewer than ten people have, other than those that the policy
            lists in order. The column's scale (see `table.scale`) says which ones mean something.
nodes       A node has a level for each column: 0 is the plan's own, the last one leaves the column out. A node above
            another has every column at the same or a coarser level: its cells are unions of the other's, so its counts
            are sums of counted ones. Seen from its cell C = ∪ C_i, P(x | C) is an average of the P(x | C_i): worst
            leakage never rises on the way up, and neither does the entropy of the cells.
search      Wanted is the node that meets a budget and keeps most detail. A greedy search comes first: from the best
            single column down, it makes one column finer at a time as long as the budget is met. Then nodes are looked
            at from the plan upwards, those of the largest entropy first. No node keeps more detail than the entropy of
            any node below it, so when no open node has more entropy than the best one found keeps, that one is
            optimal. A node below one that leaks too much leaks too much as well and is not counted at all; this needs
            a release without noise and hidden cells, which do not become less telling when the columns become coarser.
"""

from __future__ import annotations

import collections.abc
import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.counted import SMALL, Counted
from tightlip.auditing.tally import sum_by
from tightlip.errors import InvalidInput
from tightlip.numeric.deadline import NEVER, Deadline
from tightlip.table.chain import in_a_row, is_of_numbers, steps_of
from tightlip.table.kinds import Kind
from tightlip.table.mapping import Mapping
from tightlip.table.mechanism import Value
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import (
    Bins,
    BottomCode,
    EndCode,
    Prefix,
    Recoding,
    Suppress,
    TopCode,
    plain_labels,
)
from tightlip.table.scale import Declared, find_scale

_STEPS = 5
_LONGEST_PREFIX = 12
_FEW = 3
_MOST_EDGES = 60
_END = Fraction(1, 20)  # of the people, in each open bin at the ends
_CODED = Fraction(1, 20), Fraction(1, 4)  # of the people, beyond a top or bottom
Node = tuple[int, ...]
Groups = NDArray[np.int64]
MOST_NODES = 2_000
MOST_WORK = 10_000_000  # pairs of secret and cell that are added up
_MOST_OPEN = 100_000


@dataclass(frozen=True, slots=True)
class Level:
    """A coarser release of a column: `labels` has what is released in place of each counted value."""

    recoding: Recoding
    labels: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class CountedColumn:
    """The counted values of a column (None is missing) and how many people have each."""

    item: Released
    kind: Kind
    values: tuple[Value, ...]
    sizes: tuple[int, ...]
    declared: Declared | None = None

    @property
    def scale(self) -> Declared:
        """The scale that is declared, or guessed."""
        return find_scale(self.declared, self.item.recoding, self.kind, self.values)[0]

    @property
    def present(self) -> list[tuple[str, int]]:
        """The values that are not missing, and how many people have each."""
        pairs = zip(self.values, self.sizes, strict=True)
        return [(value, size) for value, size in pairs if value is not None]

    def plain(self, recoding: Recoding) -> list[Any]:
        """The values that are not missing, as a recoding takes them: numbers or texts."""
        numbers = is_of_numbers(recoding)
        return [number_of(value, self.kind) if numbers else value for value, _ in self.present]

    def level(self, recoding: Recoding) -> Level | None:
        """Work out what a recoding makes of the counted values; None where it does not fit the column."""
        try:
            recoding.require(self.item.column, self.kind)
            return Level(recoding, self.fill(plain_labels(recoding, self.plain(recoding), self.kind)))
        except InvalidInput:
            return None

    def fill(self, labels: Sequence[str]) -> tuple[Value, ...]:
        """Labels of the values that are not missing, with None where one is."""
        found = iter(labels)
        return tuple(None if value is None else next(found) for value in self.values)


def coarser(item: Released, kind: str, counted: Counted, declared: Declared | None = None) -> list[Level]:
    """Generalise a column in a few coarser ways; none where no coarsening is known.

    Bins get wider, edges and prefixes fewer, mappings climb their hierarchy, tops and bottoms move inwards; of several
    recodings in a row, bins with codes or the last one. Values released as they are get bins with closed or open ends,
    tops and bottoms (numeric ones); neighbours are joined, of dates those of a month or year (ordinal ones); codes of
    one length get shorter, or the rarest values become one (nominal ones).
    """
    place = counted.columns.index(item.column)
    sizes = sum_by(counted.codes[counted.tally.cell, place], counted.tally.count, len(counted.values[place]))
    column = CountedColumn(item, cast(Kind, kind), counted.values[place], tuple(map(int, sizes)), declared)
    *before, last = steps_of(item.recoding)
    if isinstance(last, Mapping):
        return _climb_hierarchy(column, before, last)
    if isinstance(last, Suppress):
        return []
    if isinstance(last, Prefix):
        return [_shorter(column, before, prefix) for prefix in _prefixes(last.length)]
    found = map(column.level, _ways(column))
    return [level for level in found if level is not None]


def _ways(column: CountedColumn) -> Iterable[Recoding]:
    """Coarser recodings of values, in bins, coded at the ends or as they are, by the scale of the column."""
    scale, (bins, codes) = column.scale, _parts(column.item.recoding)
    if isinstance(scale, tuple):
        return neighbours_together(column)
    if scale == "ordinal" and column.kind in ("integer", "real"):
        return neighbours_together(column) if bins is None else _thinner(bins, codes)
    return _numeric(column) if scale == "numeric" else _textual(column)


def _parts(recoding: Recoding) -> tuple[Bins | None, list[EndCode]]:
    """The bins and the coded ends among the steps of a recoding."""
    steps = steps_of(recoding)
    bins = next((step for step in steps if isinstance(step, Bins)), None)
    return bins, [step for step in steps if isinstance(step, EndCode)]


def _shorter(column: CountedColumn, before: Sequence[Recoding], prefix: Prefix) -> Level:
    """A shorter prefix of what is released."""
    labels = plain_labels(prefix, [value for value, _ in column.present], "text")
    return Level(in_a_row([*before, prefix]), column.fill(labels))


def _textual(column: CountedColumn) -> Iterable[Recoding]:
    values = [value for value, _ in column.present]
    if column.kind == "date":
        return [Prefix(7), Prefix(4)]
    lengths = {len(value) for value in values}
    shorter = _prefixes(min(lengths)) if len(lengths) == 1 and 2 < min(lengths) <= _LONGEST_PREFIX else []
    return [*shorter, *(rare_together(column) if len(values) > _FEW else [])]


def _prefixes(length: int) -> list[Prefix]:
    return [Prefix(shorter) for shorter in range(length - 1, max(length - 1 - _STEPS, 0), -1)]


def rare_together(column: CountedColumn) -> Iterator[Recoding]:
    """Keep the values of at least ten people, then half of them, a quarter, …, the most frequent; join the others."""
    ranked = sorted(column.present, key=lambda pair: (-pair[1], pair[0]))
    known = {value for value, _ in ranked}
    other = "other"
    while other in known:
        other += "'"
    keep = sum(size >= SMALL for _, size in ranked)
    if keep == len(ranked):
        keep = math.ceil(keep / 2)
    for _ in range(_STEPS):
        if keep:
            yield Mapping({value: value for value, _ in ranked[:keep]}, otherwise=other)
        if keep <= 1:
            return
        keep = math.ceil(keep / 2)


def neighbours_together(column: CountedColumn) -> Iterator[Recoding]:
    """Join neighbours in runs of at least ten people each, then runs two by two, again and again.

    Runs of numbers are bins between edges; runs of values that the policy lists in order are groups.
    """
    runs = _runs(column)
    if len(runs) == sum(map(len, runs)):
        runs = _in_pairs(runs)
    for _ in range(_STEPS):
        if len(runs) < 2:
            return
        yield from _as_groups(runs) if isinstance(column.scale, tuple) else _as_bins(runs, column.kind)
        runs = _in_pairs(runs)


_Run = list[str]


def _runs(column: CountedColumn) -> list[_Run]:
    """The values in order, in the shortest runs of ten people or more."""
    sizes, scale = dict(column.present), column.scale
    ordered = (
        scale if isinstance(scale, tuple) else sorted(sizes, key=lambda value: number_of(value, column.kind))
    )
    runs: list[_Run] = [[]]
    people = 0  # in the last run
    for value in ordered:
        if people >= SMALL:
            runs.append([])
            people = 0
        runs[-1].append(value)
        people += sizes.get(value, 0)
    return [*runs[:-2], runs[-2] + runs[-1]] if people < SMALL and len(runs) > 1 else runs


def _in_pairs(runs: list[_Run]) -> list[_Run]:
    return [[value for run in runs[place : place + 2] for value in run] for place in range(0, len(runs), 2)]


def _as_groups(runs: list[_Run]) -> list[Recoding]:
    known = {value for run in runs for value in run}
    groups: dict[str, str] = {}
    for run in runs:
        name = run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}"
        while len(run) > 1 and name in known:
            name += "'"
        groups |= dict.fromkeys(run, name)
    return [Mapping(groups)]


def _as_bins(runs: list[_Run], kind: Kind) -> list[Recoding]:
    if len(runs) - 1 > _MOST_EDGES:
        return []
    return _recoding_if_valid(Bins, edges=[number_of(run[0], kind) for run in runs[1:]])


def _climb_hierarchy(column: CountedColumn, before: Sequence[Recoding], mapping: Mapping) -> list[Level]:
    """The levels above, where each keeps the groups of the counted one together."""
    found = []
    for higher in mapping.higher():
        parents = _parents(mapping, higher)
        if parents is not None:
            labels = tuple(None if value is None else parents[value] for value in column.values)
            found.append(Level(in_a_row([*before, higher]), labels))
    return found


def _parents(lower: Mapping, higher: Mapping) -> dict[str, str] | None:
    groups = dict(higher.groups)
    pairs = [(group, groups[value]) for value, group in lower.groups]
    if lower.otherwise is not None and higher.otherwise is not None:
        pairs.append((lower.otherwise, higher.otherwise))
    parents = dict(pairs)
    return parents if all(parents[group] == parent for group, parent in pairs) else None


def _numeric(column: CountedColumn) -> Iterable[Recoding]:
    whole, (bins, codes) = column.kind == "integer", _parts(column.item.recoding)
    numbers = [(number_of(value, column.kind), size) for value, size in column.present]
    if bins is not None:
        return _thinner(bins, codes) if bins.width is None else _wider(bins, codes, numbers, whole)
    widths = round_widths([value for value, _ in numbers], whole=whole)
    if not widths:
        return []
    found = [] if codes else [_recoding_if_valid(Bins, width=width) for width in widths]
    found += [_open_ended(width, 0, numbers, whole) for width in widths]
    for code, top in ((TopCode, True), (BottomCode, False)):
        other = [own for own in codes if not isinstance(own, code)]
        found += [_coded(code, at, other) for at in _codes(numbers, widths[0], top=top)]
    return [made for some in found for made in some]


def _coded(code: type[EndCode], at: float, other: Sequence[EndCode]) -> list[Recoding]:
    """A coded end beside the other one, where there is one and they leave something between them."""
    return [
        made
        for end in _recoding_if_valid(code, at=at)
        for made in _recoding_if_valid(in_a_row, steps=[end, *other])
    ]


def _recoding_if_valid(recoding: Callable[..., Recoding], **settings: Any) -> list[Recoding]:
    """A recoding, where its numbers are not too large for one."""
    try:
        return [recoding(**settings)]
    except InvalidInput:
        return []


def _wider(
    bins: Bins, codes: Sequence[EndCode], numbers: list[tuple[float, int]], whole: bool
) -> list[Recoding]:
    """Bins of twice the width, four times, …, coded at the same ends, or with open ones."""
    found: list[Recoding] = []
    for step in range(_STEPS + 1):
        width = (bins.width or 0) * 2**step
        if step:
            wide = _recoding_if_valid(Bins, width=width, origin=bins.origin)
            found += [in_a_row([one, *codes]) for one in wide]
        found += _open_ended(width, bins.origin, numbers, whole)
    return found


def _thinner(bins: Bins, codes: Sequence[EndCode]) -> list[Recoding]:
    """Every other edge, every fourth, …, with the same coded ends."""
    found: list[Recoding] = []
    edges = bins.edges or ()
    while len(edges) > 1:
        edges = edges[1::2]
        found.append(in_a_row([Bins(edges=edges), *codes]))
    return found


def round_widths(values: Sequence[float], *, whole: bool) -> list[float]:
    """Widths of 2, 5, 10, 20, … steps of ten that cut the range into 50 to 2 parts."""
    spread = max(values, default=0.0) - min(values, default=0.0)
    if not 0 < spread < math.inf:
        return []
    low = math.floor(math.log10(spread / 50))
    widths = [step * 10.0**power for power in range(low, low + 4) for step in (1, 2, 5)]
    fit = [width for width in widths if spread / 50 <= width <= spread and (not whole or width >= 2)]
    return [int(width) if width >= 1 else float(f"{width:.0e}") for width in fit]


def _open_ended(width: float, origin: float, numbers: list[tuple[float, int]], whole: bool) -> list[Recoding]:
    """Bins of a width whose first and last are open and have some share of the people."""
    step, start = Fraction(repr(width)), Fraction(repr(origin))
    places = sorted((math.floor((Fraction(value) - start) / step), size) for value, size in numbers)
    need = _enough(numbers, _END)
    first, last = _first_reaching(places, need), _first_reaching(places[::-1], need)
    if first is None or last is None or not first < last or last - first > _MOST_EDGES:
        return []
    edges = [start + place * step for place in range(int(first) + 1, int(last) + 1)]
    return _recoding_if_valid(Bins, edges=[int(edge) if whole else float(edge) for edge in edges])


def _codes(numbers: list[tuple[float, int]], step: float, *, top: bool) -> Iterator[float]:
    """Multiples of a step beyond which some share of the people lie."""
    ranked = sorted(numbers, reverse=top)
    for share in _CODED:
        reached = _first_reaching(ranked, _enough(numbers, share))
        if reached is not None:
            times = Fraction(reached) / Fraction(repr(step))
            place = (math.floor if top else math.ceil)(times) * Fraction(repr(step))
            yield int(place) if place.denominator == 1 else float(place)


def _enough(numbers: list[tuple[float, int]], share: Fraction) -> Fraction:
    return max(Fraction(SMALL), share * sum(size for _, size in numbers))


def _first_reaching(ranked: Iterable[tuple[float, int]], need: Fraction) -> float | None:
    """The value at which so many people are counted."""
    counted = 0
    for value, size in ranked:
        counted += size
        if counted >= need:
            return value
    return None


def number_of(label: str, kind: str) -> float:
    """A number that is released as this label: of an interval the lowest, or −∞.

    >>> number_of("[20, 30)", "integer"), number_of("(18, 20)", "real") > 18
    (20, True)
    """
    if label.startswith("<"):
        return -math.inf
    text = label.lstrip("[(≥≤>").partition(",")[0]
    if kind == "real":
        return math.nextafter(float(text), math.inf) if label[0] in "(>" else float(text)
    try:
        return int(text)
    except ValueError:  # an edge between two whole numbers
        return math.ceil(float(text))


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
    def of(cls, item: Released, kind: str, counted: Counted, declared: Declared | None = None) -> Ladder:
        """As planned, what is known to be coarser, and left out."""
        own = counted.values[counted.columns.index(item.column)]
        known: dict[bytes, tuple[Released | None, tuple[Value, ...], Groups]] = {}
        for released, labels in [
            (item, own),
            *_items(item, kind, counted, declared),
            (None, ("*",) * len(own)),
        ]:
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
    def of(cls, policy: Policy, counted: Counted, kinds: collections.abc.Mapping[str, str]) -> Lattice:
        """Build all nodes that are known for a plan; `counted` is before small cells are hidden."""
        ladders = (
            Ladder.of(item, kinds.get(item.column, "text"), counted, policy.scales.get(item.column))
            for item in policy.release
        )
        return cls(policy, counted, tuple(ladders))

    @property
    def bottom(self) -> Node:
        """The plan itself."""
        return (0,) * len(self.ladders)

    def size(self, free: Sequence[int]) -> int:
        """Count the nodes when some columns may change."""
        return math.prod(len(self.ladders[column].items) for column in free)

    def alone(self) -> Iterator[Node]:
        """List nodes with one column at any of its levels, all others at their last."""
        tops = tuple(ladder.top for ladder in self.ladders)
        for column, ladder in enumerate(self.ladders):
            yield from ((*tops[:column], level, *tops[column + 1 :]) for level in range(ladder.top))

    def above(self, node: Node, free: Sequence[int]) -> Iterator[Node]:
        """List the nodes right above, reached by a change of one free column."""
        for column in free:
            for level in self.ladders[column].above[node[column]]:
                yield (*node[:column], level, *node[column + 1 :])

    def below(self, node: Node) -> Iterator[Node]:
        """List all finer nodes that differ in one column."""
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
        """Change the plan to a node; None where nothing is released."""
        items = [ladder.items[level] for ladder, level in zip(self.ladders, node, strict=True)]
        release = tuple(item for item in items if item is not None)
        return replace(self.policy, release=release) if release else None

    def count_at(self, node: Node) -> tuple[Counted, int]:
        """Count a node that releases something, before cells are hidden; also how many pairs were added up."""
        shown = [
            (item, ladder.values[level], ladder.groups[level])
            for ladder, level in zip(self.ladders, node, strict=True)
            if (item := ladder.items[level]) is not None
        ]
        names = tuple(item.column for item, _, _ in shown)
        part = self._part(names)
        found = part.recode(names, [values for _, values, _ in shown], [groups for _, _, groups in shown])
        return found, len(part.tally.count)

    def _part(self, names: tuple[str, ...]) -> Counted:
        """The counts of some columns as planned, added up once."""
        if names not in self._parts:
            whole = names == self.counted.columns
            self._parts[names] = self.counted if whole else self.counted.select(names)
        return self._parts[names]


def _items(
    item: Released, kind: str, counted: Counted, declared: Declared | None
) -> list[tuple[Released, tuple[Value, ...]]]:
    """The coarser levels that still say something, and that the column's mechanism is for."""
    levels = [
        level
        for level in coarser(item, kind, counted, declared)
        if len(set(level.labels)) > 1 and (item.mechanism is None or item.mechanism.takes(level.labels))
    ]
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

    def __init__(
        self, lattice: Lattice, look: Callable[[Node], Look], *, monotone: bool, until: Deadline = NEVER
    ) -> None:
        self.lattice, self._until = lattice, until
        self.known: dict[Node, Look] = {}
        self._look = look
        self._monotone = monotone
        self._failing = np.zeros((0, len(lattice.ladders)), dtype=np.int64)
        self._work = 0

    @property
    def exhausted(self) -> bool:
        """Whether no more nodes are to be counted."""
        return len(self.known) >= MOST_NODES or self._work >= MOST_WORK or self._until.left() <= 0

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

    def nodes_counted(self, free: Sequence[int]) -> list[Node]:
        """List the nodes counted so far that change no other columns than the free ones."""
        fixed = set(range(len(self.lattice.ladders))) - set(free)
        return [node for node in self.known if not any(node[column] for column in fixed)]

    def best_known(self, free: Sequence[int]) -> Node | None:
        """Find the best of these that meets the budget."""
        meeting = (node for node in self.nodes_counted(free) if self.detail_at(node) > -math.inf)
        return max(meeting, key=self.detail_at, default=None)

    def detail_at(self, node: Node | None) -> float:
        """Look up the detail that a known node keeps."""
        return -math.inf if node is None else self.known[node].kept

    def greedy(self) -> None:
        """Look at every column alone, then make the best of them finer while the budget is met."""
        self._look_at(self.lattice.alone())
        best, last = self.best_known(range(len(self.lattice.ladders))), None
        while best is not None and best != last:
            last = best
            best = max([best, *self._look_at(self.lattice.below(best))], key=self.detail_at)

    def _look_at(self, nodes: Iterable[Node]) -> list[Node]:
        """Count nodes that may meet the budget, as far as the limit allows."""
        found = []
        for node in nodes:
            if not self.exhausted and not self.fails(node):
                self.look(node)
                found.append(node)
        return found

    def upwards(self, free: Sequence[int]) -> Best:
        """Find the best node that changes only free columns, proved unless the limit of work is reached."""
        best = self.best_known(free)
        open_nodes = [(-math.inf, self.lattice.bottom)]
        seen = {self.lattice.bottom}
        while open_nodes and -open_nodes[0][0] > self.detail_at(best):
            if self.exhausted or len(seen) > _MOST_OPEN:
                return Best(best, False)
            negative, node = heapq.heappop(open_nodes)
            entropy = -negative
            if not self.fails(node):
                found = self.look(node)
                entropy = min(entropy, found.entropy)
                best = node if found.kept > self.detail_at(best) else best
            for other in self.lattice.above(node, free):
                if other not in seen and entropy > self.detail_at(best):
                    seen.add(other)
                    heapq.heappush(open_nodes, (-entropy, other))
        return Best(best, True)
