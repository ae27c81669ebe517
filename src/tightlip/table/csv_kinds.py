"""Infer which kind a CSV column has. Every field is read as text first: no guess from the first lines can lose one.

A column is of whole numbers, reals, booleans or dates only if all of its fields are written so. "01234" is text: as
a number it would be taken for 1234. So are digits too many for a float to tell apart, and numbers too small for one. An
empty field, in quotes or not, is missing; NA, None and null are text. Quotes are no part of a value, but see
`refuse_spellings`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tightlip.errors import InvalidInput, quoted
from tightlip.table.csv_file import CsvFile
from tightlip.table.kinds import ISO_DATE, Kind

_REAL = r"^-?(0|[1-9][0-9]{0,14})(\.[0-9]+)?([eE][-+]?[0-9]+)?$"
_DIGITS = 15  # decimals of so many digits are different floats,
_SMALLEST = 1e-290  # unless they are nearly 0


def detect_kinds(backend: Any, expression: Any, names: Sequence[str]) -> list[Kind]:
    """Infer the kinds of some columns of a table that is all text, in two scans at most."""
    counted = _count_each(backend, expression, names, _quick_tests)
    kinds: dict[str, Kind] = {}
    unsure: list[str] = []
    for name, (fields, whole, booleans, reals, dates) in counted.items():
        if fields and fields in (whole, booleans):
            kinds[name] = "integer" if whole == fields else "boolean"
        elif fields and fields in (reals, dates):
            unsure.append(name)
        else:
            kinds[name] = "text"
    for name, (fields, reals, dates) in _count_each(backend, expression, unsure, _slow_tests).items():
        kinds[name] = "real" if reals == fields else "date" if dates == fields else "text"
    return [kinds[name] for name in names]


def cast_text(column: Any, kind: Kind) -> Any:
    """Cast a column of text to its kind; dates are plain already."""
    casts = {"integer": "int64", "real": "float64"}
    return (column.lower() == "true") if kind == "boolean" else column.cast(casts.get(kind, "string"))


def _quick_tests(column: Any) -> list[Any]:
    real = column.try_cast("float64")
    return [
        column.notnull(),
        column.try_cast("int64").cast("string") == column,
        column.lower().isin(["true", "false"]),
        real.notnull() & ~real.isnan() & ~real.isinf(),
        column.try_cast("date").notnull(),
    ]


def _slow_tests(column: Any) -> list[Any]:
    real, date = column.re_search(_REAL), column.re_search(ISO_DATE)
    return [
        column.notnull(),
        real & _is_exact(column),
        date & column.try_cast("date").notnull(),
    ]


def _is_exact(column: Any) -> Any:
    """Whether no other number is the same float: few digits, or those that the float itself is written with."""
    number = column.try_cast("float64")
    digits = column.re_replace("[eE].*$", "").replace("-", "").replace(".", "").re_replace("^0+", "")
    large = (digits == "") | (number.abs() >= _SMALLEST)
    return number.notnull() & large & ((digits.length() <= _DIGITS) | (number.cast("string") == column))


def refuse_spellings(file: CsvFile, fields: Any, columns: Mapping[str, tuple[str, Kind]]) -> None:
    """Refuse columns that write one value in several ways, as 1.10 and 1.1 or "a" and a.

    `fields` is the table of the file's fields as text, `columns` are as for `check_columns`.

    Kept as they are, they would be released apart but counted as one, and the audit would say too little. Whole numbers
    and dates can be written in one way only, but for quotes.
    """
    unsure = {name: pair for name, pair in columns.items() if pair[1] in ("real", "boolean")}
    distinct: dict[str, Any] = {}
    for place, (column, kind) in enumerate(unsure.values()):
        text = fields[column]
        distinct |= {f"t{place}": text.nunique(), f"v{place}": cast_text(text, kind).nunique()}
    found = file.backend.to_pyarrow(fields.aggregate(**distinct)).to_pylist()[0] if distinct else {}
    for place, (name, (_, kind)) in enumerate(unsure.items()):
        if found[f"t{place}"] != found[f"v{place}"]:
            raise _several_ways(name, f"one {'number' if kind == 'real' else 'boolean'} in several ways")
    for name, (column, _) in columns.items():
        if file.quotes_differ(column):
            raise _several_ways(name, "one value, or the empty field, both in double quotes and without")


def _several_ways(name: str, what: str) -> InvalidInput:
    return InvalidInput(
        f"column {quoted(name)} writes {what}, which the file would tell apart; "
        "write each in one way, or recode the column."
    )


def _count_each(backend: Any, expression: Any, names: Sequence[str], tests: Any) -> dict[str, list[int]]:
    """How many fields of each column pass each test, all in one scan; of DuckDB only different ones, which is quicker.

    Other engines may have the fields on several machines, and do not gather them.
    """
    if not names:
        return {}
    counted = _count_different if backend.name == "duckdb" else _count_all
    found = backend.to_pyarrow(counted(expression, names, tests)).to_pylist()[0]
    return {
        name: [count or 0 for key, count in found.items() if key.startswith(f"s{place}_")]
        for place, name in enumerate(names)
    }


def _count_all(expression: Any, names: Sequence[str], tests: Any) -> Any:
    sums = {
        f"s{place}_{number}": test.sum()
        for place, name in enumerate(names)
        for number, test in enumerate(tests(expression[name]))
    }
    return expression.aggregate(**sums)


def _count_different(expression: Any, names: Sequence[str], tests: Any) -> Any:
    lists = expression.aggregate(
        **{f"c{place}": expression[name].collect(distinct=True) for place, name in enumerate(names)}
    )
    lengths = {}
    for place in range(len(names)):
        fields = lists[f"c{place}"]
        for number in range(len(tests(expression[names[place]]))):
            lengths[f"s{place}_{number}"] = fields.filter(lambda field, n=number: tests(field)[n]).length()
    return lists.select(**lengths)
