"""The cells that a table's rows are in: counted by the engine (`tightlip.table`), or values that are in Python already.

All values are text. A CSV file's are as it writes them; other tables' are as in an audit: numbers by value (2.0 is
"2"), booleans "true" and "false", dates "2024-02-29". So are values in Python, and those of secrets and code books.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from tightlip.arguments import is_frame, listed
from tightlip.errors import InvalidInput, ShapeMismatch, WrongType, quoted
from tightlip.model.labels import read_label
from tightlip.numeric.randomness import Integers
from tightlip.table.counts import count_values, first_row
from tightlip.table.kinds import plain_label
from tightlip.table.source import Table, open_table


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Combinations of values, the i-th being `columns[name][i]` of each column, and how many rows have each.

    `row_of` finds a row that has a combination, counted from 1, to be looked at; None where rows have no order. Not all
    combinations need be different.
    """

    columns: dict[str, list[str]]
    counts: Integers
    row_of: Callable[[int], int | None]


@contextmanager
def read_cells(table: Any, wanted: Sequence[str] | None) -> Iterator[Cells]:
    """Count a table's rows by the wanted columns (all for None); it stays open meanwhile, to find rows in it.

    Raises
    ------
    InvalidInput, WrongType, ShapeMismatch
        When the table cannot be read, a column is missing or shorter, or a value is missing.

    >>> with read_cells([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}], ["a"]) as cells:
    ...     cells.columns
    {'a': ['1', '2']}
    """
    if isinstance(table, Mapping):
        yield _of_values({name: table[name] for name in _names(wanted, list(table))})
    elif isinstance(table, Iterable) and not isinstance(table, str) and not is_frame(table):
        yield _of_values(_from_records(listed(table, "table", "records"), wanted))
    else:
        with nullcontext(table) if isinstance(table, Table) else open_table(table) as opened:
            yield _of_table(opened, wanted)


def _of_table(table: Table, wanted: Sequence[str] | None) -> Cells:
    names = _names(wanted, [*table.physical, *table.refused])
    if not names:
        raise _nothing()
    found = count_values(table, names)
    columns: dict[str, list[str]] = {}
    for name, labels, codes in zip(names, found.labels, found.codes, strict=True):
        texts = [label for label in labels if label is not None]
        if len(texts) < len(labels):
            raise _missing(name, " (in a CSV file an empty field is one)" if table.csv is not None else "")
        columns[name] = list(map(texts.__getitem__, codes.tolist()))
    return Cells(columns, found.count, lambda place: first_row(table, names, found, place))


def _of_values(given: Mapping[Any, Any]) -> Cells:
    """Every row is a combination of its own."""
    columns: dict[str, list[str]] = {}
    for name, values in given.items():
        text = as_text(name, "a column's name")
        if text in columns:
            raise InvalidInput(
                f"table must have each column name once, got {quoted(text)} twice; rename one."
            )
        columns[text] = _texts(values, name)
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise ShapeMismatch(f"table columns must be equally long, got lengths {sorted(lengths)}.")
    if not any(lengths):
        raise _nothing()
    return Cells(columns, np.ones(lengths.pop(), dtype=np.int64), lambda place: place + 1)


def _names(wanted: Sequence[str] | None, known: list[Any]) -> list[Any]:
    if wanted is None:
        return known
    labels = [read_label(name, "columns") for name in listed(wanted, "columns", "names")]
    wanted = [label if label in known else str(label) for label in labels]  # engines know columns by texts
    for name in wanted:
        if name not in known:
            raise InvalidInput(
                f"table must have the column {quoted(name)}, got only {quoted(', '.join(map(str, known)))}."
            )
    if len(set(wanted)) < len(wanted):
        raise InvalidInput(f"columns must be different, got {quoted(wanted)}; name each once.")
    return list(wanted)


def _from_records(records: list[Any], wanted: Sequence[str] | None) -> dict[Any, list[Any]]:
    for at, record in enumerate(records):
        if not isinstance(record, Mapping) or record.keys() != records[0].keys():
            raise WrongType(
                f"table record {at} must be a mapping with the columns of the first, got {_kind(record)}."
            )
    names = _names(wanted, list(records[0])) if records else []
    return {name: [record[name] for record in records] for name in names}


def _kind(record: object) -> str:
    """What a record is, without what stands in it."""
    return "other columns" if isinstance(record, Mapping) else f"a {type(record).__name__}"


def _texts(values: Iterable[object], column: object) -> list[str]:
    plain = values.to_pylist() if hasattr(values, "to_pylist") else values  # Arrow has scalars of its own
    given = listed(plain, f"table column {quoted(column)}", "values")
    argument = f"a value of table column {quoted(column)}"
    if set(map(type, given)) == {str}:
        as_text("".join(set(given)), argument)
        return given
    texts: list[str] = []
    made_of: dict[str, tuple[type, str]] = {}
    for value in given:
        if value is None or _is_missing(value):
            raise _missing(column)
        text = as_text(value, argument)
        if made_of.setdefault(text, own := (type(value), str(value))) != own:
            raise InvalidInput(
                f'table column {quoted(column)} must have each value in one way, got two that differ, as 1 and "1", '
                "and read the same; make the column all text or all numbers."
            )
        texts.append(text)
    return texts


def _is_missing(value: Any) -> bool:
    """NaN and the like differ from themselves; pandas' NA answers neither yes nor no."""
    try:
        return bool(value != value)
    except Exception:
        return True


def _missing(column: object, more: str = "") -> InvalidInput:
    return InvalidInput(
        f'table column {quoted(column)} must have no missing value, got some{more}; write it as a value like "?".'
    )


def _nothing() -> InvalidInput:
    return InvalidInput(
        "table must have at least one row and one column, got none; there is nothing to release."
    )


def as_text(value: Any, argument: str) -> str:
    """A value as text; refused, without showing it, where it cannot be shown or not be written as UTF-8.

    >>> as_text(2.0, "value"), as_text(True, "value"), as_text("2.0", "value")
    ('2', 'true', '2.0')
    """
    try:
        if isinstance(value, (bool, np.bool_)):
            return "true" if value else "false"
        text = plain_label(value, "real") if isinstance(value, (float, np.floating)) else str(value)
        text.encode()
    except Exception:
        raise InvalidInput(
            f"{argument} must be plain text or a number, got a {type(value).__name__} that is neither; use str(…)."
        ) from None
    return text
