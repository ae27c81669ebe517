"""Columns that do not hold what their type says, where an engine allows that.

SQLite stores text in columns of numbers. DuckDB columns may have a collation that takes "a" for "A". Either way
different values would be counted as one, and the audit would say too little.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tightlip.errors import InvalidInput, quoted
from tightlip.table.kinds import ISO_DATE, Kind

_STORED: dict[Kind, list[str]] = {
    "text": ["text"],
    "integer": ["integer"],
    "real": ["real", "integer"],
    "boolean": ["integer"],
    "date": ["text"],
}
_WHOLE_REALS = 2**53
_LOOKALIKES = (("X", "x"), ("é", "e"), ("e\u0301", "é"))  # the same under NOCASE, NOACCENT and NFC


def check_columns(backend: Any, expression: Any, columns: Mapping[str, tuple[str, Kind]]) -> None:
    """Refuse columns of mixed types in SQLite and collated ones in DuckDB; `columns` maps names to column and kind."""
    if backend.name == "sqlite":
        _refuse_mixed(backend, expression, columns)
    elif backend.name == "duckdb":
        for name, (column, kind) in columns.items():
            if kind == "text" and _is_collated(backend, expression, column):
                raise InvalidInput(
                    f"column {quoted(name)} has a collation, by which different texts count as one; "
                    "copy it to a column without."
                )


def _refuse_mixed(backend: Any, expression: Any, columns: Mapping[str, tuple[str, Kind]]) -> None:
    odd = {
        f"s{place}": _is_odd(expression[c], kind).sum() for place, (c, kind) in enumerate(columns.values())
    }
    found = backend.to_pyarrow(expression.aggregate(**odd)).to_pylist()[0].values()
    for (name, (_, kind)), count in zip(columns.items(), found, strict=True):
        if count:
            raise InvalidInput(
                f"column {quoted(name)} must hold one type, got {count} values that are not of kind {kind}; "
                "convert them, or declare the column as text."
            )


def _is_odd(column: Any, kind: Kind) -> Any:
    odd = ~column.typeof().isin(_STORED[kind])
    if kind == "real":  # a column of decimals stores whole numbers that reals do not tell apart
        odd = odd | ((column.typeof() == "integer") & ~column.between(-_WHOLE_REALS, _WHOLE_REALS))
    if kind == "boolean":
        odd = odd | ~column.cast("int64").isin([0, 1])
    if kind == "date":
        odd = odd | ~column.cast("string").re_search(ISO_DATE)
    return column.notnull() & odd


def _is_collated(backend: Any, expression: Any, column: str) -> bool:
    """Whether texts made from a value of the column compare as the column does: equal to their lookalikes."""
    one = expression.filter(expression[column].notnull()).limit(1)
    empty = one[column].substr(0, 0)
    tests = {f"s{place}": (empty + a) == b for place, (a, b) in enumerate(_LOOKALIKES)}
    return any(any(row.values()) for row in backend.to_pyarrow(one.select(**tests)).to_pylist())
