"""Where tables come from: CSV files, mappings from column to values, lists of records, data frames; all as text."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tightlip.arguments import is_frame, listed, path
from tightlip.errors import InvalidInput, ShapeMismatch, WrongType, quoted
from tightlip.model.labelled import column_labels
from tightlip.model.labels import read_label

Columns = dict[str, list[str]]


def read_columns(table: Any, wanted: Sequence[str] | None) -> Columns:
    """The wanted columns (all for None) as text, all equally long.

    Raises
    ------
    InvalidInput, WrongType, ShapeMismatch
        When the table cannot be read, a column is missing or shorter, or a value is missing.

    >>> read_columns([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}], ["a"])
    {'a': ['1', '2']}
    """
    if isinstance(table, (str, Path)):
        columns: Columns = read_csv(path(table, "table"))
        return {name: columns[name] for name in _names(wanted, list(columns))}
    if isinstance(table, Mapping) or is_frame(table):
        names = _names(wanted, list(table) if isinstance(table, Mapping) else column_labels(table) or [])
        columns = {str(name): _texts(table[name], name) for name in names}
    elif isinstance(table, Iterable):
        columns = _from_records(listed(table, "table", "records"), wanted)
    else:
        raise WrongType(f"table must be a path, columns, records or a data frame, got {quoted(table)}.")
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise ShapeMismatch(f"table columns must be equally long, got lengths {sorted(lengths)}.")
    return columns


def _names(wanted: Sequence[str] | None, known: list[Any]) -> list[Any]:
    if wanted is None:
        return known
    wanted = [read_label(name, "columns") for name in listed(wanted, "columns", "names")]
    for name in wanted:
        if name not in known:
            raise InvalidInput(
                f"table must have the column {quoted(name)}, got only {quoted(', '.join(map(str, known)))}."
            )
    if len(set(wanted)) < len(wanted):
        raise InvalidInput(f"columns must be different, got {quoted(wanted)}; name each once.")
    return list(wanted)


def _from_records(records: list[Any], wanted: Sequence[str] | None) -> Columns:
    for at, record in enumerate(records):
        if not isinstance(record, Mapping) or record.keys() != records[0].keys():
            raise WrongType(
                f"table record {at} must be a mapping with the columns of the first, got {quoted(record)}."
            )
    names = _names(wanted, list(records[0])) if records else []
    return {str(name): _texts([record[name] for record in records], name) for name in names}


def _texts(values: Iterable[object], column: object) -> list[str]:
    plain = values.to_pylist() if hasattr(values, "to_pylist") else values  # Arrow has scalars of its own
    given = listed(plain, f"table column {quoted(column)}", "values")
    if set(map(type, given)) == {str}:
        return given
    for value in given:
        if value is None or _is_missing(value):
            raise InvalidInput(
                f"table column {quoted(column)} must have no missing value, got {value}; "
                'write it as a value like "?".'
            )
    return [as_text(value, f"a value of table column {quoted(column)}") for value in given]


def _is_missing(value: Any) -> bool:
    """NaN and the like differ from themselves; pandas' NA answers neither yes nor no."""
    try:
        return bool(value != value)
    except Exception:
        return True


def as_text(value: Any, argument: str) -> str:
    """A value as text; refused, without showing it, where it cannot be shown or not be written as UTF-8."""
    try:
        text = str(value)
        text.encode()
    except Exception:
        raise InvalidInput(
            f"{argument} must be plain text or a number, got a {type(value).__name__} that is neither; use str(…)."
        ) from None
    return text


def read_csv(path: Path) -> Columns:
    """Read a CSV file with a header line into columns of text; UTF-8, with or without a byte order mark.

    Raises
    ------
    InvalidInput
        When the file cannot be read, is not UTF-8, has no header, repeats a column or has a ragged row.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file, strict=True) if row]
    except UnicodeDecodeError as error:
        place = f"byte {error.object[error.start]:#x}"
        raise InvalidInput(f"{path} must be UTF-8 text, got {place}; save it as UTF-8.") from error
    except csv.Error as error:
        raise InvalidInput(f"{path} must be a CSV table, got: {error}; check its quotes.") from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}; check the path.") from error
    if len(rows) < 2:
        raise InvalidInput(f"{path} must have a header line and at least one row, got {len(rows)} lines.")
    header = rows[0]
    if len(set(header)) < len(header):
        raise InvalidInput(f"{path} must name every column once, got {quoted(', '.join(header))}.")
    for line, row in enumerate(rows[1:], 1):
        if len(row) != len(header):
            raise InvalidInput(f"{path} row {line} must have {len(header)} values, got {len(row)}.")
    return {name: list(values) for name, values in zip(header, zip(*rows[1:], strict=True), strict=True)}
