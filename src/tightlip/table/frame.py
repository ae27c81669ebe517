"""Read data frames in memory (pandas, polars, Arrow) as one Arrow table that DuckDB reads in place."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from tightlip.errors import InvalidInput
from tightlip.table.embedded import ROW, neutral_names


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """An Arrow table with neutral names, the users' names for them, and the columns that are not read."""

    arrow: Any
    physical: dict[str, str]
    refused: dict[str, str]


def read_frame(source: Any) -> Frame:
    """Take the columns of a data frame over; most are not copied.

    Raises
    ------
    InvalidInput
        When it is lazy, a series, or has a name twice.
    """
    import pyarrow as pa

    columns = list(_columns(source))
    physical = neutral_names([name for name, _ in columns], "table")
    refused: dict[str, str] = {}
    arrays: dict[str, Any] = {}
    for name, column in columns:
        try:
            array = _array(column())
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            refused[name] = "mixed or unknown to Arrow"
            continue
        if _is_read(array.type):
            arrays[physical[name]] = array
        else:
            refused[name] = str(array.type)
    arrays[ROW] = pa.array(range(len(source)) if not hasattr(source, "num_rows") else range(source.num_rows))
    known = {name: column for name, column in physical.items() if name not in refused}
    return Frame(pa.table(arrays), known, refused)


def _columns(source: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Names, and functions that make the columns: a library may fail to."""
    if hasattr(source, "collect"):
        raise InvalidInput(
            f"table must not be lazy, got a {type(source).__name__}; call .collect() on it, or open it with Ibis."
        )
    if hasattr(source, "column_names"):
        return ((name, partial(source.column, place)) for place, name in enumerate(source.column_names))
    if hasattr(source, "get_columns"):
        return ((series.name, series.to_arrow) for series in source.get_columns())
    if getattr(source, "ndim", 0) != 2 or not hasattr(source, "iloc"):
        raise InvalidInput(f"table must be a data frame, got a {type(source).__name__}; use its table.")
    everyone = slice(None)
    return (
        (str(name), partial(source.iloc.__getitem__, (everyone, place)))
        for place, name in enumerate(source.columns)
    )


def _array(column: Any) -> Any:
    import pyarrow as pa

    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        array = column
    else:
        array = pa.array(column, from_pandas=True)
        if pa.types.is_date(array.type) and any(isinstance(value, datetime.datetime) for value in column):
            raise TypeError  # Arrow would drop the time of day
        if column.dtype.kind == "O" and not pa.types.is_string(array.type):
            _require_one_spelling(column)
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_null(array.type):
        array = array.cast(pa.string())
    if pa.types.is_float16(array.type):
        array = array.cast(pa.float32())  # which DuckDB reads, and holds every value
    array.validate(full=True)  # text that is no UTF-8 is not noticed otherwise
    return array


def _require_one_spelling(column: Any) -> None:
    """Refuse 1 beside 1.0 or Decimal("1.00"): Arrow makes one number of them, whoever prints the values tells two."""
    spelled: dict[Any, str] = {}
    for value in column:
        if spelled.setdefault(value, str(value)) != str(value):
            raise TypeError


def _is_read(kind: Any) -> bool:
    """Whether DuckDB reads the type, and an audit may; other columns must not stand in the way of these."""
    from pyarrow import types

    texts = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    numbers = types.is_integer(kind) or types.is_floating(kind)
    decimals = types.is_decimal128(kind) and kind.scale >= 0
    return bool(texts or numbers or decimals or types.is_boolean(kind) or types.is_date(kind))
