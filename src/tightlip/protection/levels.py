"""The levels of a released column: as it is, ever coarser, left out.

Given levels are read as people write them; others are chosen by the kind of the column and what is in it. A level is what
each counted value is published as. Labels of different levels never mean different things: a shortened text ends with "…".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Mapping as Pairs
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from tightlip.arguments import listed
from tightlip.auditing.counted import Counted
from tightlip.auditing.lattice import CountedColumn, number_of, rare_together, round_widths
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.protection.values import Codes
from tightlip.table.mapping import Mapping
from tightlip.table.mechanism import Value
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import Bins, Keep, Prefix, Recoding, plain_labels

AS_IS, OUT = "as is", "out"
NOTHING = "*"
_MOST_LEVELS = 6  # chosen for one column, besides as it is and out
_CODES = 10  # whole numbers of so few values are taken for codes, which have no order
_LONGEST = 12  # characters of texts that are shortened
"""Months and years are prefixes of a date; a quarter is not."""


@dataclass(frozen=True, slots=True)
class ColumnLevels:
    """The levels of one column: in words, and what is published for each of its counted values."""

    column: str
    words: tuple[str, ...]
    labels: tuple[tuple[Value, ...], ...]

    def codes(self) -> tuple[Codes, ...]:
        """For each level a number for each counted value, the same for values that are published alike."""
        found = []
        for labels in self.labels:
            known: dict[Value, int] = {}
            found.append(np.array([known.setdefault(label, len(known)) for label in labels], dtype=np.int64))
        return tuple(found)


def choose_levels(
    policy: Policy, counted: Counted, kinds: Pairs[str, str], given: Pairs[str, Any] | None
) -> tuple[ColumnLevels, ...]:
    """The levels of every released column: those that are given, else chosen ones.

    Raises
    ------
    InvalidInput
        When levels are given for a column that is not released, or do not fit their column.
    """
    given = {} if given is None else given
    if not isinstance(given, Pairs):
        raise WrongType(
            f'levels must map columns to their levels, got {quoted(given)}; write {{"age": ["as is", 10, "out"]}}.'
        )
    columns = [item.column for item in policy.release]
    for name in given:
        if name not in columns:
            raise InvalidInput(
                f"levels must be of released columns, got {quoted(name)}; release it too, or leave it out."
            )
    return tuple(
        _column_levels(item, counted, kinds.get(item.column, "text"), given.get(item.column))
        for item in policy.release
    )


def _column_levels(item: Released, counted: Counted, kind: str, given: Any) -> ColumnLevels:
    place = counted.columns.index(item.column)
    values = counted.values[place]
    sizes = np.bincount(counted.codes[:, place], counted.tally.of_cell, len(values)).astype(np.int64)
    column = CountedColumn(item, kind, values, tuple(sizes.tolist()))  # type: ignore[arg-type]
    made = _chosen(column) if given is None else [_read(column, level) for level in _listed(column, given)]
    return _distinct(column, made)


def _distinct(column: CountedColumn, made: list[tuple[str, tuple[Value, ...]]]) -> ColumnLevels:
    """Leave out levels that group alike, and require that labels mean one thing and that the first level is finest."""
    known: dict[tuple[int, ...], tuple[str, tuple[Value, ...]]] = {}
    meaning: dict[Value, frozenset[int]] = {}
    for words, labels in made:
        codes = {label: place for place, label in reversed(list(enumerate(labels)))}
        key = tuple(codes[label] for label in labels)
        if key in known:
            continue
        known[key] = words, labels
        for label in codes:
            members = frozenset(place for place, other in enumerate(labels) if other == label)
            if meaning.setdefault(label, members) != members:
                raise InvalidInput(
                    f"levels of {quoted(column.item.column)} must not call different groups by one name, got "
                    f"{quoted(label)} twice; name one of them otherwise."
                )
    first = next(iter(known))
    for key, (words, _) in known.items():
        if any(key[place] != key[first[place]] for place in range(len(first))):
            raise InvalidInput(
                f"levels of {quoted(column.item.column)} must be finest first, got {quoted(words)}, which tells apart "
                "what the first one does not; put it first or leave it out."
            )
    return ColumnLevels(
        column.item.column,
        tuple(words for words, _ in known.values()),
        tuple(labels for _, labels in known.values()),
    )


def _chosen(column: CountedColumn) -> list[tuple[str, tuple[Value, ...]]]:
    """As it is, a few coarser levels by the kind of the column, and out."""
    as_is, out = _read(column, AS_IS), _read(column, OUT)
    if column.item.recoding != Keep():
        from tightlip.auditing.lattice import coarser  # noqa: F401

        return [as_is, out]
    return [as_is, *islice(_between(column), _MOST_LEVELS), out]


def _between(column: CountedColumn) -> list[tuple[str, tuple[Value, ...]]]:
    values = [value for value, _ in column.present]
    if column.kind == "date":
        return [_read(column, step) for step in ("month", "quarter", "year")]
    if (column.kind == "integer" and len(values) <= _CODES) or column.kind == "boolean":
        return []
    if column.kind in ("integer", "real"):
        widths = round_widths(
            [number_of(value, column.kind) for value in values], whole=column.kind == "integer"
        )
        return [_read(column, width) for width in _nested(widths)]
    lengths = {len(value) for value in values}
    if (
        len(lengths) == 1
        and 2 < (length := lengths.pop()) <= _LONGEST
        and len(values) > 2 * len({value[:-1] for value in values}) / 1.5
    ):
        return [_read(column, f"prefix {shorter}") for shorter in range(length - 1, 0, -1)]
    if len(values) <= 3:
        return []
    return [(recoding.words(), _recoded(column, recoding, str)) for recoding in rare_together(column)]


def _nested(widths: Sequence[float]) -> list[float]:
    """Widths each of which is a multiple of the one before, so that every bin lies in one of the next."""
    found: list[float] = []
    for width in widths:
        if not found or (width / found[-1]).is_integer():
            found.append(width)
    return found


def _listed(column: CountedColumn, given: Any) -> list[Any]:
    """Given levels one by one; a path alone is a hierarchy, with every level of it."""
    if isinstance(given, (str, Path)) and str(given) not in (AS_IS, OUT):
        above = Mapping.from_file(given, otherwise=None)
        return [AS_IS, above, *above.higher(), OUT]
    return (
        [given]
        if isinstance(given, str)
        else list(listed(given, f"levels of {column.item.column}", "levels"))
    )


def _read(column: CountedColumn, level: Any) -> tuple[str, tuple[Value, ...]]:
    """A level as people write it: its words, and what each counted value becomes."""
    name, kind = column.item.column, column.kind
    if level == AS_IS:
        return AS_IS, column.values
    if level == OUT:
        return OUT, (NOTHING,) * len(column.values)
    if isinstance(level, bool):
        raise WrongType(f"levels of {quoted(name)} must be numbers, texts or files, got {level!r}.")
    if isinstance(level, (int, float)):
        level = Bins(width=level)
    if isinstance(level, (list, tuple)):
        level = Bins(edges=list(level))
    if isinstance(level, Pairs):
        level = Mapping(level)
    if isinstance(level, str):
        level = _named(name, level)
    if callable(level):
        return level.__doc__ or "", tuple(None if value is None else level(value) for value in column.values)
    if not hasattr(level, "plain_keys"):
        raise WrongType(f"levels of {quoted(name)} must be numbers, texts or files, got {quoted(level)}.")
    plain: Callable[[str], object] = str
    if kind in ("integer", "real") and isinstance(level, Bins):
        plain = lambda label: number_of(label, kind)
    level.require(name, kind)
    if column.item.recoding != Keep():
        raise InvalidInput(
            f"levels of {quoted(name)} must be of a column released as it is, got one that the policy recodes; leave its recoding out."
        )
    return level.words(), _recoded(column, level, plain)


def _recoded(column: CountedColumn, recoding: Recoding, plain: Callable[[str], object]) -> tuple[Value, ...]:
    found = iter(plain_labels(recoding, [plain(value) for value, _ in column.present], column.kind))
    labels = tuple(None if value is None else next(found) for value in column.values)
    if isinstance(recoding, Prefix):
        return tuple(
            label if label is None or label == value else f"{label}…"
            for label, value in zip(labels, column.values, strict=True)
        )
    return labels


def _named(column: str, level: str) -> Any:
    words = level.split()
    if len(words) == 2 and words[0] == "prefix" and words[1].isdigit():
        return Prefix(int(words[1]))
    if level in ("month", "year"):
        return Prefix({"month": 7, "year": 4}[level])
    if level == "quarter":
        return _quarter
    if Path(level).suffix.lower() in (".csv", ".toml"):
        return Mapping.from_file(level)
    raise InvalidInput(
        f'levels of {quoted(column)} must be "as is", a bin width, "prefix 3", "month", "quarter", "year", a mapping file or '
        f'"out", got {quoted(level)}.'
    )


def _quarter(day: str) -> str:
    """quarter"""
    return f"{day[:4]}-Q{(int(day[5:7]) + 2) // 3}"
