"""Make columns of cells that have no declared type: each gets one kind, and no two different values become one.

Spreadsheets and statistics programs store every number as a float: 1.0 is the code 1. So a column whose numbers are all
whole is of integers, as the same column in a CSV file is. A column of text and numbers has two kinds, and is refused
with the rows of the first of each. So is one with missing values of several kinds, an empty cell and an empty text, or
Stata's `.` and `.a`: as missing they would be counted as one, and whoever reads the file tells them apart.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tightlip.errors import InvalidInput
from tightlip.table.embedded import ROW, neutral_names
from tightlip.table.frame import Frame

_WHOLE_REALS = 2**53  # up to here floats tell whole numbers apart
_LARGEST = 2**63 - 1
_SORTS: dict[type, str] = {
    str: "text",
    bool: "booleans",
    int: "numbers",
    float: "numbers",
    datetime.date: "dates",
}


@dataclass(frozen=True, slots=True)
class Missing:
    """A missing value, by how the file says so."""

    kind: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A cell without a value that an audit reads, by what it holds instead."""

    what: str


def frame_of(names: Sequence[str], columns: Sequence[Sequence[Any]], table: str, *, first_row: int) -> Frame:
    """Make an Arrow table of columns of cells; those without one kind are refused when they are used.

    Parameters
    ----------
    names, columns : as many of each; cells are text, booleans, numbers, dates, `Missing` or `Unreadable`
    table : what messages call it
    first_row : the number that the file gives to the first row

    >>> frame = frame_of(["code", "zip"], [[1.0, 2.0], ["01", 2.0]], "people.xlsx", first_row=2)
    >>> frame.arrow["c0"].to_pylist(), frame.refused
    ([1, 2], {'zip': 'text and numbers (rows 2 and 3)'})
    """
    import pyarrow as pa

    for place, name in enumerate(names, 1):
        if not isinstance(name, str) or not name:
            raise InvalidInput(f"{table} cannot be read: column {place} has no name; the file is damaged.")
    physical = neutral_names(names, table)
    arrays: dict[str, Any] = {}
    refused: dict[str, str] = {}
    for name, cells in zip(names, columns, strict=True):
        found = _array(cells, first_row)
        if isinstance(found, str):
            refused[name] = found
        else:
            arrays[physical[name]] = found
    arrays[ROW] = pa.array(range(len(columns[0]) if columns else 0))
    known = {name: column for name, column in physical.items() if name not in refused}
    return Frame(pa.table(arrays), known, refused)


def _array(cells: Sequence[Any], first_row: int) -> Any:
    """The cells as an Arrow array; why not, where they have no single kind."""
    import pyarrow as pa

    first: dict[Any, int] = {}
    for place, cell in enumerate(cells):
        first.setdefault(_SORTS.get(type(cell), cell), first_row + place)
    for sort, row in first.items():
        if isinstance(sort, Unreadable):
            return f"{sort.what} (first in row {row})"
    kinds = [sort.kind for sort in first if isinstance(sort, Missing)]
    sorts = [sort for sort in first if isinstance(sort, str)]
    if len(sorts) > 1:
        return f"{sorts[0]} and {sorts[1]} (rows {first[sorts[0]]} and {first[sorts[1]]})"
    if len(kinds) > 1:
        return f"missing values of several kinds ({', '.join(sorted(kinds)[:8])})"
    values = [None if isinstance(cell, Missing) else cell for cell in cells]
    if sorts == ["numbers"]:
        return _numbers(values)
    types = {"booleans": pa.bool_(), "dates": pa.date32()}
    return pa.array(values, types.get(sorts[0] if sorts else "text", pa.string()))


def _numbers(values: Sequence[int | float | None]) -> Any:
    """Integers, where all are whole and their own; otherwise reals."""
    import pyarrow as pa

    present = [value for value in values if value is not None]
    if all(map(_is_integer, present)):
        return pa.array([None if value is None else int(value) for value in values], pa.int64())
    if any(isinstance(value, int) and abs(value) > _WHOLE_REALS for value in present):
        return "whole numbers beyond 2^53 beside others, or beyond 64 bits"
    return pa.array([None if value is None else float(value) for value in values], pa.float64())


def _is_integer(value: int | float) -> bool:
    """Whether no other number becomes the same integer; −0 is not 0 (see `kinds`)."""
    if isinstance(value, int):
        return -_LARGEST - 1 <= value <= _LARGEST
    return value.is_integer() and abs(value) <= _WHOLE_REALS and (value != 0 or math.copysign(1, value) > 0)
