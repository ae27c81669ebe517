"""Tell the kinds of column that an audit reads, and one plain form of each that is the same on every engine.

    text      as it is, compared byte by byte
    integer   64 bits
    real      64 bits; NaN is missing and −0 is 0, and a column that keeps both is refused
    boolean   the texts "true" and "false"
    date      the text "2024-02-29"

Missing values stay missing (NULL).

Columns are refused in which different values would be counted as one, so that the audit would say too little. SQLite
stores text in columns of numbers. DuckDB columns may have a collation that takes "a" for "A". Reals have two zeros, 0
and −0, and two ways to be missing, NULL and NaN; engines disagree on which of them are equal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from operator import or_
from typing import Any, Literal

from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.numeric import parse

Kind = Literal["text", "integer", "real", "boolean", "date"]
MISSING = "(missing)"
"""How a plan names missing values, as reports show them."""

ISO_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_SAFE_DIGITS = 15  # of a decimal that engines read as the nearest float
_EXACT_DIGITS = 15  # decimals of so many digits stay distinct as floats
_STORED: dict[Kind, list[str]] = {
    "text": ["text"],
    "integer": ["integer"],
    "real": ["real", "integer"],
    "boolean": ["integer"],
    "date": ["text"],
}
_WHOLE_REALS = 2**53
_BEYOND = 10**308  # of reals that are codes
_LOOKALIKES = (("X", "x"), ("é", "e"), ("e\u0301", "é"))  # the same under NOCASE, NOACCENT and NFC


def kind_of(dtype: Any) -> Kind | None:
    """Tell the kind of an Ibis type; None for those that an audit does not read."""
    if dtype.is_string():
        return "text"
    if dtype.is_boolean():
        return "boolean"
    if dtype.is_integer():
        return "integer"
    if dtype.is_floating():
        return "real"
    if dtype.is_date():
        return "date"
    if dtype.is_decimal() and dtype.precision is not None and dtype.precision <= _EXACT_DIGITS:
        return "real" if dtype.scale else "integer"
    return None


def refuse_type(name: str, described: str) -> InvalidInput:
    """Refuse a column whose type an audit does not read; returns the error."""
    described = "unknown to Ibis" if described.startswith("unknown(") else " ".join(described.split())
    return InvalidInput(
        f"column {quoted(name)} has type {described}, which tightlip does not read; "
        "make it text, an integer, a real, a boolean or a date."
    )


def plain(column: Any, kind: Kind, engine: str) -> Any:
    """Cast the column to its plain form: text, int64 or float64."""
    import ibis

    if kind == "integer":
        return column.cast("int64")
    if kind == "real":
        real = column.cast("float64")
        if engine != "sqlite":  # which stores NaN as missing
            real = ibis.ifelse(real.isnan(), ibis.null("float64"), real)
        return ibis.ifelse(real == 0, ibis.literal(0).cast("float64"), real)
    if kind == "boolean":
        return ibis.cases((column, "true"), (~column, "false"))
    if kind == "date":
        return column.cast("string")
    # an expression has no collation in SQLite, where a column may have one that takes "a" for "A"
    return column + "" if engine == "sqlite" else column.cast("string")


def plain_label(value: Any, kind: Kind) -> str:
    """Write a plain value as text, the same on every engine: whole numbers have no point.

    >>> plain_label(2.0, "real"), plain_label(0.1, "real"), plain_label(7, "integer")
    ('2', '0.1', '7')
    """
    if kind != "real":
        return str(value)
    real = float(value)
    return str(int(real)) if real.is_integer() and abs(real) < 2**53 else repr(real)


def code_label(value: Any, argument: str) -> str:
    """Write what a plan names as the label of a value: text as it is, numbers and booleans as they are shown.

    >>> code_label(2.0, "missing"), code_label(True, "missing"), code_label("N", "missing")
    ('2', 'true', 'N')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return plain_label(value, "integer")
    if isinstance(value, float):
        return plain_label(parse.number(value, argument), "real")
    raise WrongType(f"{argument} must be values as text or numbers, got {quoted(value)}; put it in quotes.")


def bound_literal(value: float, kind: Kind) -> Any:
    """Write a number as a literal of a column's plain type.

    DuckDB rounds decimals of more than 15 digits twice, so that they may become another float. Such a number is written
    as m/2^k: a whole number, and divisions by powers of 2, which are exact.
    """
    import ibis

    if kind == "integer":
        return ibis.literal(int(value), "int64")
    whole, parts = float(value).as_integer_ratio()
    if parts == 1 or len(Decimal(repr(float(value))).as_tuple().digits) <= _SAFE_DIGITS:
        return ibis.literal(float(value), "float64")
    found = ibis.literal(whole, "int64").cast("float64")
    for power in _powers(parts.bit_length() - 1):
        found = found / ibis.literal(2**power, "int64").cast("float64")
    return found


def _powers(power: int) -> Iterator[int]:
    """Parts of an exponent that are exponents of whole numbers of 64 bits."""
    while power:
        yield min(power, 62)
        power -= min(power, 62)


def is_value(column: Any, value: Any) -> Any:
    """Test an Ibis column of keys for one value that the engine gave, exactly that one."""
    import ibis

    if isinstance(value, float) and math.isfinite(value):
        return column == bound_literal(value, "real")
    return column == ibis.literal(value, column.type())


def without_codes(column: Any, codes: Sequence[Any]) -> Any:
    """Take some values of a column for missing."""
    import ibis

    if not codes:
        return column
    meant = reduce(or_, [is_value(column, code) for code in codes])
    return ibis.ifelse(meant, ibis.null(column.type()), column)


def plain_codes(codes: Sequence[str], name: str, kind: Kind, *, strict: bool) -> list[Any]:
    """Read codes as values of a column in plain form; those that none of its values can be are refused, or left out.

    >>> plain_codes(["-9", "N"], "AGEP", "integer", strict=False)
    [-9]
    """
    if kind not in ("integer", "real"):
        return list(codes)
    found: list[Any] = []
    for code in codes:
        value = _code_number(code, kind)
        if value is not None:
            found.append(value)
        elif strict:
            raise InvalidInput(
                f"missing must have {'whole numbers' if kind == 'integer' else 'numbers'} for column {quoted(name)} of "
                f"kind {kind}, got {quoted(code)}; leave it out."
            )
    return found


def _code_number(code: str, kind: Kind) -> int | float | None:
    try:
        exact = Fraction(parse.number(code, "missing"))
    except InvalidInput:
        return None
    if kind == "real":
        return float(exact) if abs(exact) < _BEYOND else None
    return int(exact) if exact.denominator == 1 and abs(exact) < 2**63 else None


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


def refuse_twins(backend: Any, expression: Any, columns: Mapping[str, tuple[str, Kind]]) -> None:
    """Refuse columns of reals that have both 0 and −0, or both NULL and NaN: each pair is one value in plain form."""
    reals = {name: column for name, (column, kind) in columns.items() if kind == "real"}
    tests = {
        (name, pair, number): test
        for name, column in reals.items()
        for pair, twins in _twins(expression[column].cast("float64"), backend.name).items()
        for number, test in enumerate(twins)
    }
    if not tests:
        return
    sums = {f"s{place}": test.sum() for place, test in enumerate(tests.values())}
    counts = backend.to_pyarrow(expression.aggregate(**sums)).to_pylist()[0].values()
    found = {key for key, count in zip(tests, counts, strict=True) if count}
    for name, pair, number in tests:
        if number and {(name, pair, 0), (name, pair, 1)} <= found:
            raise InvalidInput(
                f"column {quoted(name)} has both {pair}, which the release would tell apart; "
                "write one for the other, or recode the column."
            )


def _twins(real: Any, engine: str) -> dict[str, tuple[Any, Any]]:
    """Tests for values that are not told apart in plain form."""
    text = real.cast("string")
    # no text that SQLite makes of −0 has the sign; other engines may take −0 for 0 before they find an angle
    minus = real.atan2(-1.0) < 0 if engine == "sqlite" else text.startswith("-")
    zeros = {"0 and −0": ((real == 0) & ~minus, (real == 0) & minus)}
    # SQLite stores NaN as NULL; Ibis takes NaN for NULL on Spark, but not the text of it
    return zeros if engine == "sqlite" else zeros | {"NULL and NaN": (text.isnull(), real.isnan())}


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
