"""Coarser recodings of one released column, and what each makes of the values that were counted.

A recoding is coarser when the counted value alone says what it releases: bins of a multiple of the width, shorter
prefixes, fewer edges, higher levels of a hierarchy. So no table is asked again. None of them names a value that
fewer than ten people have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from tightlip.auditing.counted import SMALL, Counted
from tightlip.auditing.tally import sum_by
from tightlip.errors import InvalidInput
from tightlip.table.bins import Bins
from tightlip.table.kinds import Kind
from tightlip.table.mapping import Mapping
from tightlip.table.mechanism import Value
from tightlip.table.policy import Released
from tightlip.table.recoding import BottomCode, Keep, Prefix, Recoding, Suppress, TopCode, plain_labels

_STEPS = 5
_LONGEST_PREFIX = 12
_FEW = 3
_MOST_EDGES = 60
_END = Fraction(1, 20)  # of the people, in each open bin at the ends
_CODED = Fraction(1, 20), Fraction(1, 4)  # of the people, beyond a top or bottom


@dataclass(frozen=True, slots=True)
class Level:
    """A coarser release of a column: `labels` has what is released in place of each counted value."""

    recoding: Recoding
    labels: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class _Column:
    """The counted values of a column (None is missing) and how many people have each."""

    item: Released
    kind: Kind
    values: tuple[Value, ...]
    sizes: tuple[int, ...]

    @property
    def present(self) -> list[tuple[str, int]]:
        pairs = zip(self.values, self.sizes, strict=True)
        return [(value, size) for value, size in pairs if value is not None]

    def level(self, recoding: Recoding, plain: Callable[[str], object]) -> Level | None:
        """What a recoding makes of plain values; None where it does not fit the column."""
        try:
            recoding.require(self.item.column, self.kind)
            found = iter(plain_labels(recoding, [plain(value) for value, _ in self.present], self.kind))
        except InvalidInput:
            return None
        return Level(recoding, tuple(None if value is None else next(found) for value in self.values))


def coarser(item: Released, kind: str, counted: Counted) -> list[Level]:
    """What else could be released of a column, a few ways; none where no coarsening is known.

    Bins get wider, edges and prefixes fewer, mappings climb their hierarchy, tops and bottoms move inwards. Values
    released as they are get bins with closed or open ends, tops and bottoms (numbers), prefixes (text of one length,
    dates), or the rarest of them become one (text).
    """
    place = counted.columns.index(item.column)
    sizes = sum_by(counted.codes[counted.tally.cell, place], counted.tally.count, len(counted.values[place]))
    column = _Column(item, cast(Kind, kind), counted.values[place], tuple(map(int, sizes)))
    if isinstance(item.recoding, Mapping):
        return _climbed(column, item.recoding)
    if isinstance(item.recoding, Suppress):
        return []
    if kind in ("integer", "real") and not isinstance(item.recoding, Prefix):
        found = [column.level(recoding, lambda label: _number(label, kind)) for recoding in _numeric(column)]
    else:
        found = [column.level(recoding, str) for recoding in _textual(column)]
    return [level for level in found if level is not None]


def _textual(column: _Column) -> Iterable[Recoding]:
    recoding, values = column.item.recoding, [value for value, _ in column.present]
    if isinstance(recoding, Prefix):
        return _prefixes(recoding.length)
    if column.kind == "date":
        return [Prefix(7), Prefix(4)]
    lengths = {len(value) for value in values}
    shorter = _prefixes(min(lengths)) if len(lengths) == 1 and 2 < min(lengths) <= _LONGEST_PREFIX else []
    return [*shorter, *(_rare_together(column) if len(values) > _FEW else [])]


def _prefixes(length: int) -> list[Recoding]:
    return [Prefix(shorter) for shorter in range(length - 1, max(length - 1 - _STEPS, 0), -1)]


def _rare_together(column: _Column) -> Iterator[Recoding]:
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


def _climbed(column: _Column, mapping: Mapping) -> list[Level]:
    """The levels above, where each keeps the groups of the counted one together."""
    found = []
    for higher in mapping.higher():
        parents = _parents(mapping, higher)
        if parents is not None:
            labels = tuple(None if value is None else parents[value] for value in column.values)
            found.append(Level(higher, labels))
    return found


def _parents(lower: Mapping, higher: Mapping) -> dict[str, str] | None:
    groups = dict(higher.groups)
    pairs = [(group, groups[value]) for value, group in lower.groups]
    if lower.otherwise is not None and higher.otherwise is not None:
        pairs.append((lower.otherwise, higher.otherwise))
    parents = dict(pairs)
    return parents if all(parents[group] == parent for group, parent in pairs) else None


def _numeric(column: _Column) -> Iterable[Recoding]:
    recoding, whole = column.item.recoding, column.kind == "integer"
    numbers = [(_number(value, column.kind), size) for value, size in column.present]
    if isinstance(recoding, Bins):
        return _wider(recoding, numbers, whole)
    widths = _widths([value for value, _ in numbers], whole=whole)
    if not widths:
        return []
    found = [_allowed(Bins, width=width) for width in widths] if isinstance(recoding, Keep) else []
    found += [_open_ended(width, 0, numbers, whole) for width in widths]
    if not isinstance(recoding, BottomCode):
        found += [_allowed(TopCode, at=at) for at in _codes(numbers, widths[0], top=True)]
    if not isinstance(recoding, TopCode):
        found += [_allowed(BottomCode, at=at) for at in _codes(numbers, widths[0], top=False)]
    return [made for some in found for made in some]


def _allowed(recoding: Callable[..., Recoding], **settings: Any) -> list[Recoding]:
    """A recoding, where its numbers are not too large for one."""
    try:
        return [recoding(**settings)]
    except InvalidInput:
        return []


def _wider(bins: Bins, numbers: list[tuple[float, int]], whole: bool) -> list[Recoding]:
    found: list[Recoding] = []
    if bins.width is not None:
        for step in range(_STEPS + 1):
            found += _allowed(Bins, width=bins.width * 2**step, origin=bins.origin) if step else []
            found += _open_ended(bins.width * 2**step, bins.origin, numbers, whole)
        return found
    edges = bins.edges or ()
    while len(edges) > 1:
        edges = edges[1::2]
        found.append(Bins(edges=edges))
    return found


def _widths(values: Sequence[float], *, whole: bool) -> list[float]:
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
    first, last = _reached(places, need), _reached(places[::-1], need)
    if first is None or last is None or not first < last or last - first > _MOST_EDGES:
        return []
    edges = [start + place * step for place in range(int(first) + 1, int(last) + 1)]
    return _allowed(Bins, edges=[int(edge) if whole else float(edge) for edge in edges])


def _codes(numbers: list[tuple[float, int]], step: float, *, top: bool) -> Iterator[float]:
    """Multiples of a step beyond which some share of the people lie."""
    ranked = sorted(numbers, reverse=top)
    for share in _CODED:
        reached = _reached(ranked, _enough(numbers, share))
        if reached is not None:
            times = Fraction(reached) / Fraction(repr(step))
            place = (math.floor if top else math.ceil)(times) * Fraction(repr(step))
            yield int(place) if place.denominator == 1 else float(place)


def _enough(numbers: list[tuple[float, int]], share: Fraction) -> Fraction:
    return max(Fraction(SMALL), share * sum(size for _, size in numbers))


def _reached(ranked: Iterable[tuple[float, int]], need: Fraction) -> float | None:
    """The value at which so many people are counted."""
    counted = 0
    for value, size in ranked:
        counted += size
        if counted >= need:
            return value
    return None


def _number(label: str, kind: str) -> float:
    """A number that is released as this label: of an interval the lowest, or −∞."""
    if label.startswith("<"):
        return -math.inf
    text = label.lstrip("[≥≤").partition(",")[0]
    if kind == "real":
        return float(text)
    try:
        return int(text)
    except ValueError:  # an edge between two whole numbers
        return math.ceil(float(text))
