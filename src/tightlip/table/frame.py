"""Data frames in memory (pandas, polars, Arrow) as one Arrow table that DuckDB reads in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tightlip.errors import InvalidInput, quoted

ROW = "row"  # the frame's own columns are called c0, c1, …, so that no name of theirs can clash


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """An Arrow table with neutral names, the users' names for them, and the columns that Arrow could not read."""

    arrow: Any
    physical: dict[str, str]
    refused: dict[str, str]


def is_frame(source: object) -> bool:
    """Whether this is a data frame, decided without importing any library of them."""
    return type(source).__module__.partition(".")[0] in {"pandas", "polars", "pyarrow"}


def read_frame(source: Any) -> Frame:
    """Take the columns of a data frame over; most are not copied.

    Raises
    ------
    InvalidInput
        When it is lazy, a series, or has a name twice.
    """
    import pyarrow as pa

    physical: dict[str, str] = {}
    refused: dict[str, str] = {}
    arrays: dict[str, Any] = {}
    for place, (name, column) in enumerate(_columns(source)):
        if name in physical or name in refused:
            raise InvalidInput(
                f"table must have each column name once, got {quoted(name)} twice; rename one."
            )
        try:
            arrays[f"c{place}"] = _array(column)
            physical[name] = f"c{place}"
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            refused[name] = "mixed or unknown to Arrow"
    arrays[ROW] = pa.array(range(len(source)) if not hasattr(source, "num_rows") else range(source.num_rows))
    return Frame(pa.table(arrays), physical, refused)


def _columns(source: Any) -> Iterator[tuple[str, Any]]:
    if hasattr(source, "collect"):
        raise InvalidInput("table must not be lazy, got a polars LazyFrame; call .collect() on it.")
    if hasattr(source, "column_names"):
        return ((name, source.column(place)) for place, name in enumerate(source.column_names))
    if hasattr(source, "get_columns"):
        return ((series.name, series.to_arrow()) for series in source.get_columns())
    if getattr(source, "ndim", 0) != 2 or not hasattr(source, "iloc"):
        raise InvalidInput(f"table must be a data frame, got a {type(source).__name__}; use its table.")
    return ((str(name), source.iloc[:, place]) for place, name in enumerate(source.columns))


def _array(column: Any) -> Any:
    import pyarrow as pa

    array = column if isinstance(column, (pa.Array, pa.ChunkedArray)) else pa.array(column, from_pandas=True)
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_null(array.type):
        array = array.cast(pa.string())
    if isinstance(array.type, pa.BaseExtensionType):
        raise TypeError
    return array
