"""The kinds of column that an audit reads, and one plain form of each that is the same on every engine.

    text      as it is, compared byte by byte
    integer   64 bits
    real      64 bits; NaN is missing and −0 is 0, and a column that keeps both is refused (see `checks`)
    boolean   the texts "true" and "false"
    date      the text "2024-02-29"

Missing values stay missing (NULL).
"""

from __future__ import annotations

from typing import Any, Literal

from tightlip.errors import InvalidInput, quoted

Kind = Literal["text", "integer", "real", "boolean", "date"]

ISO_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_EXACT_DIGITS = 15  # decimals of so many digits stay distinct as floats


def kind_of(dtype: Any) -> Kind | None:
    """The kind of an Ibis type; None for those that an audit does not read."""
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
    """The refusal of a column whose type an audit does not read."""
    described = "unknown to Ibis" if described.startswith("unknown(") else " ".join(described.split())
    return InvalidInput(
        f"column {quoted(name)} has type {described}, which tightlip does not read; "
        "make it text, an integer, a real, a boolean or a date."
    )


def plain(column: Any, kind: Kind, engine: str) -> Any:
    """The column in its plain form: text, int64 or float64."""
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
    """A plain value as text, the same on every engine: whole numbers have no point.

    >>> plain_label(2.0, "real"), plain_label(0.1, "real"), plain_label(7, "integer")
    ('2', '0.1', '7')
    """
    if kind != "real":
        return str(value)
    real = float(value)
    return str(int(real)) if real.is_integer() and abs(real) < 2**53 else repr(real)
