"""The levels of a released column: as it is, ever coarser, left out.

A level is words for people and what each counted value is published as. Given levels are read as people write them;
others are chosen by the scale of the column and what is in it, fewer where there are many cells. A label never means
different groups: a shortened text ends with "…".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from collections.abc import Mapping as Pairs
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from tightlip.arguments import listed
from tightlip.auditing.counted import Counted
from tightlip.auditing.lattice import (
    CountedColumn,
    coarser,
    neighbours_together,
    number_of,
    rare_together,
    round_widths,
)
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.protection.fixed import AS_DRAWN, FixedColumns
from tightlip.protection.values import Codes
from tightlip.table.kinds import Kind
from tightlip.table.mapping import Mapping
from tightlip.table.mechanism import Value
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import Bins, Keep, Prefix, Recoding, plain_labels
from tightlip.table.scale import Declared, require_fit

AS_IS, OUT = "as is", "out"
NOTHING = "*"
CHOSEN_PAIRS = (
    9_000_000  # of cells and combinations of chosen levels: more keep more, and take time and memory
)
_MOST_LEVELS = 6  # chosen for one column, besides as it is and out
_FEW = 3  # texts of so few values are not joined
_LONGEST = 12  # characters of texts that are shortened
_NESTS = 4 / 3  # values for each prefix that is shorter by one character, from which on texts are shortened


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a column: its words, and what each counted value is published as."""

    words: str
    labels: tuple[Value, ...]

    @property
    def groups(self) -> tuple[int, ...]:
        """A number for each counted value, the same for values that are published alike."""
        known: dict[Value, int] = {}
        return tuple(known.setdefault(label, len(known)) for label in self.labels)


@dataclass(frozen=True, slots=True)
class ColumnLevels:
    """The levels of one column: in words, and what is published for each of its counted values.

    A fixed column (see `fixed`) has one, and has no part in the detail.
    """

    column: str
    words: tuple[str, ...]
    labels: tuple[tuple[Value, ...], ...]
    fixed: bool = False

    @classmethod
    def of(cls, column: str, levels: Sequence[Level], *, fixed: bool = False) -> ColumnLevels:
        """List levels."""
        words, labels = (level.words for level in levels), (level.labels for level in levels)
        return cls(column, tuple(words), tuple(labels), fixed)

    def codes(self) -> tuple[Codes, ...]:
        """For each level a number for each counted value, the same for values that are published alike."""
        return tuple(np.array(Level("", labels).groups, dtype=np.int64) for labels in self.labels)


def choose_levels(
    policy: Policy, counted: Counted, kinds: Pairs[str, str], given: Pairs[str, Any] | None
) -> tuple[ColumnLevels, ...]:
    """Read the levels that are given for released columns, and choose those of the others; fixed ones have one.

    Raises
    ------
    InvalidInput
        When levels are given for a column that is not released or is fixed, or do not fit their column.
    """
    fixed = FixedColumns.of(counted, policy)
    given = {} if given is None else given
    if not isinstance(given, Pairs):
        raise WrongType(
            f'levels must map columns to their levels, got {quoted(given)}; write {{"age": ["as is", 10, "out"]}}.'
        )
    names = [item.column for item in policy.release]
    for name in given:
        if name not in names:
            raise InvalidInput(
                f"levels must be of released columns, got {quoted(name)}; release it too, or leave it out."
            )
        if name in fixed.words:
            raise InvalidInput(
                f"levels must be of columns that are published truthfully, got {quoted(name)} with "
                f"{fixed.words[name]}; recode it before it is drawn, or leave its mechanism out."
            )
    found, sizes = {}, {}
    for item in policy.release:
        if item.column in fixed.words:
            place = counted.columns.index(item.column)
            found[item.column] = [Level(AS_DRAWN, fixed.counted.values[place])]
            continue
        declared = policy.scales.get(item.column)
        column = _counted_column(item, counted, kinds.get(item.column, "text"), declared)
        own = given.get(item.column)
        found[item.column] = _chosen(column, counted) if own is None else _read_all(column, own)
        if own is None:
            sizes[item.column] = column.sizes
    _thin(found, sizes, len(fixed.counted.codes))
    return tuple(ColumnLevels.of(name, levels, fixed=name in fixed.words) for name, levels in found.items())


def _counted_column(item: Released, counted: Counted, kind: str, declared: Declared | None) -> CountedColumn:
    place = counted.columns.index(item.column)
    values = counted.values[place]
    sizes = np.bincount(counted.codes[:, place], counted.tally.of_cell.astype(np.float64), len(values))
    return CountedColumn(item, cast(Kind, kind), values, tuple(sizes.astype(np.int64).tolist()), declared)


def _thin(levels: dict[str, list[Level]], sizes: Pairs[str, Sequence[int]], cells: int) -> None:
    """Leave out chosen levels until there are not too many combinations; `sizes` has the columns they are chosen for.

    The next to go is the one that leaves the smallest step of detail between the level before it and the one after.
    """
    details = {name: [_detail(level, own) for level in levels[name]] for name, own in sizes.items()}
    while math.prod(map(len, levels.values())) * cells > CHOSEN_PAIRS:
        steps = [
            (own[place - 1] - own[place + 1], name, place)
            for name, own in details.items()
            for place in range(1, len(own) - 1)
        ]
        if not steps:
            return
        _, name, place = min(steps)
        del levels[name][place], details[name][place]


def _detail(level: Level, sizes: Sequence[int]) -> float:
    """The detail of a level in nats, −Σ P(y) log P(y) over its values y."""
    people = np.bincount(level.groups, np.asarray(sizes, dtype=np.float64))
    share = people[people > 0] / people.sum()
    return float(-(share @ np.log(share)))


def _read_all(column: CountedColumn, given: Any) -> list[Level]:
    """Read given levels; refuse names that mean two groups, and levels that tell more than the first.

    Levels that group alike are one, and one that is coarser than all others is the last: it says least.
    """
    found: list[Level] = []
    for level in (_read(column, one) for one in _listed(column, given)):
        if any(level.groups == known.groups for known in found):
            continue
        if (label := _ambiguous(found, level)) is not None:
            raise InvalidInput(
                f"levels of {quoted(column.item.column)} must not call different groups by one name, got "
                f"{quoted(label)} twice; name one of them otherwise."
            )
        if found and not _coarsens(level, found[0]):
            raise InvalidInput(
                f"levels of {quoted(column.item.column)} must be finest first, got {quoted(level.words)}, which tells "
                "apart what the first one does not; put it first or leave it out."
            )
        found.append(level)
    coarsest = next((one for one in found if all(_coarsens(one, other) for other in found)), found[-1])
    return [*(one for one in found if one is not coarsest), coarsest]


def _ambiguous(known: Sequence[Level], level: Level) -> Value:
    """A label that means another group at a known level; None where there is none.

    Missing values are a group of their own until they are left out, so no label is missing by mistake.
    """
    groups = _members(level)
    for other in known:
        for label, members in _members(other).items():
            if label is not None and groups.get(label, members) != members:
                return label
    return None


def _members(level: Level) -> dict[Value, frozenset[int]]:
    found: dict[Value, set[int]] = {}
    for place, label in enumerate(level.labels):
        found.setdefault(label, set()).add(place)
    return {label: frozenset(members) for label, members in found.items()}


def _coarsens(level: Level, first: Level) -> bool:
    """Whether values that are alike at the first level are alike at another."""
    return len(set(zip(first.groups, level.groups, strict=True))) == len(set(first.groups))


def _chosen(column: CountedColumn, counted: Counted) -> list[Level]:
    """As it is, a few coarser levels by the scale of the column, and out; none whose names are ambiguous."""
    if column.item.recoding == Keep():
        between = _between(column)
    else:
        known = coarser(column.item, column.kind, counted, column.declared)
        between = [Level(level.recoding.words(), level.labels) for level in known]
    found, out = [_as_is(column)], _out(column)
    for level in between[:_MOST_LEVELS]:
        apart = all(level.groups != known.groups for known in (*found, out))
        if apart and _ambiguous([*found, out], level) is None:
            found.append(level)
    return found if found[0].groups == out.groups else [*found, out]


def _between(column: CountedColumn) -> list[Level]:
    """Choose coarser levels of a column that is released as it is."""
    values, kind, scale = [value for value, _ in column.present], column.kind, column.scale
    if isinstance(scale, tuple) or (scale == "ordinal" and kind in ("integer", "real")):
        return [_recode(column, joined) for joined in neighbours_together(column)]
    if kind == "date":
        return [_read(column, step) for step in ("month", "quarter", "year")]
    if scale == "numeric":
        widths = round_widths([number_of(value, kind) for value in values], whole=kind == "integer")
        return [_read(column, width) for width in _nested(widths)]
    if kind == "real":  # whose values no mapping lists
        return []
    lengths = {len(value) for value in values}
    length = lengths.pop() if len(lengths) == 1 else 0
    if 2 < length <= _LONGEST and len(values) > _NESTS * len({value[:-1] for value in values}):
        return [_read(column, f"prefix {shorter}") for shorter in range(length - 1, 0, -1)]
    return [_recode(column, joined) for joined in rare_together(column)] if len(values) > _FEW else []


def _nested(widths: Sequence[float]) -> list[float]:
    """Keep widths each of which is a multiple of the one before, so that every bin lies in one of the next."""
    found: list[float] = []
    for width in widths:
        if not found or (width / found[-1]).is_integer():
            found.append(width)
    return found


def _listed(column: CountedColumn, given: Any) -> list[Any]:
    """List given levels one by one; a path alone is a hierarchy, with every level of it."""
    if isinstance(given, (str, Path)) and Path(given).suffix:
        above = Mapping.from_file(given, otherwise=None)
        return [AS_IS, above, *above.higher(), OUT]
    return (
        [given]
        if isinstance(given, str)
        else list(listed(given, f"levels of {column.item.column}", "levels"))
    )


def _as_is(column: CountedColumn) -> Level:
    return Level(AS_IS, column.values)


def _out(column: CountedColumn) -> Level:
    nothing = NOTHING
    while nothing in column.values:
        nothing += NOTHING
    return Level(OUT, (nothing,) * len(column.values))


def _read(column: CountedColumn, level: Any) -> Level:
    """Read a level as people write it."""
    name = column.item.column
    if isinstance(level, str):
        if level in _WORDS:
            return _WORDS[level](column)
        level = _named(name, level)
    if isinstance(level, (list, tuple)):
        level = Bins(edges=list(level))
    elif isinstance(level, Pairs):
        level = Mapping(level)
    elif isinstance(level, (int, float)) and not isinstance(level, bool):
        level = Bins(width=level)
    if not hasattr(level, "plain_keys"):
        raise WrongType(f"levels of {quoted(name)} must be numbers, texts or files, got {quoted(level)}.")
    return _recode(column, cast(Recoding, level))


def _named(column: str, level: str) -> Recoding:
    words = level.split()
    if len(words) == 2 and words[0] == "prefix" and words[1].isdigit():
        return Prefix(int(words[1]))
    if Path(level).suffix.lower() in (".csv", ".toml"):
        return Mapping.from_file(level)
    raise InvalidInput(
        f'levels of {quoted(column)} must be "as is", a bin width, "prefix 3", "month", "quarter", "year", a mapping '
        f'file or "out", got {quoted(level)}.'
    )


def _recode(column: CountedColumn, recoding: Recoding) -> Level:
    """What a recoding publishes; a prefix shows that it is one."""
    name, kind = column.item.column, column.kind
    recoding.require(name, kind)
    if column.declared is not None:
        require_fit(column.declared, name, recoding)
    if column.item.recoding != Keep():
        raise InvalidInput(
            f"levels of {quoted(name)} must be of a column released as it is, got one that the policy recodes; "
            "leave its recoding out."
        )
    labels = column.fill(plain_labels(recoding, column.plain(recoding), kind))
    if isinstance(recoding, Prefix):
        pairs = zip(labels, column.values, strict=True)
        labels = tuple(label if label is None or label == value else f"{label}…" for label, value in pairs)
    return Level(recoding.words(), labels)


def _dates(column: CountedColumn, words: str, length: int) -> Level:
    """The first part of a date; of a quarter the year and its number."""
    Prefix(length).require(column.item.column, column.kind)
    if column.kind != "date" or column.item.recoding != Keep():
        raise InvalidInput(
            f"levels of {quoted(column.item.column)} must fit it, got {quoted(words)}, which is for dates as they are."
        )
    return Level(words, tuple(None if day is None else _part_of(day, words, length) for day in column.values))


def _part_of(day: str, words: str, length: int) -> str:
    return f"{day[:4]}-Q{(int(day[5:7]) + 2) // 3}" if words == "quarter" else day[:length]


_WORDS: dict[str, Callable[[CountedColumn], Level]] = {
    AS_IS: _as_is,
    OUT: _out,
    "month": lambda column: _dates(column, "month", 7),
    "quarter": lambda column: _dates(column, "quarter", 7),
    "year": lambda column: _dates(column, "year", 4),
}
