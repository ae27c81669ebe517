"""Recode one released column: as it is, a prefix, coded ends, bins, or nothing.

A recoding has two halves. `key` is an Ibis expression on the plain column (see `kinds`), worked out by the engine;
`label` names a key in Python, once for each distinct one, so that names are the same on every engine. Missing values
stay missing unless the column is suppressed.

Bins of a width w = p/q from an origin c/q have the edges (i·p + c)/q. The engine guesses i by a division, which may be
off by one at an edge, and then compares the value with the edges themselves: one correctly rounded division of two
whole numbers each, so that 0.3 lies in [0.3, 0.4) of width 0.1 on every engine, though floor(0.3/0.1) is 2.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, Protocol

from tightlip.arguments import whole
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.numeric.display import format_count
from tightlip.numeric.parse import number
from tightlip.table.kinds import Kind, bound_literal, plain_label

_LONGEST_PREFIX = 1_000_000_000  # engines count characters in 32 bits
_FAR = 2**62  # stands for a bin whose edges are not exact in floats
_EXACT = 2**52
_WHOLE_FLOATS = 2**53
_BELOW = 0.999999999  # times a quotient: below it however it was rounded
_MOST_EDGES = 10_000
Interval = tuple[float | None, float | None]


class Recoding(Protocol):
    """What every recoding can do."""

    def require(self, name: str, kind: Kind) -> None:
        """Refuse a column of a kind that this recoding is not for."""

    def key(self, column: Any, kind: Kind) -> Any:
        """Return the released value as an Ibis expression of text, int64 or float64 type."""

    def plain_keys(self, values: Sequence[Any], kind: Kind) -> list[Any]:
        """Return the keys of plain values that are in Python already, the same that the engine finds."""

    def label(self, key: Any, kind: Kind) -> str:
        """Return the released value as people read it."""

    def words(self) -> str:
        """Return what is done, to follow the column's name."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Release the values as they are.

    >>> Keep().words()
    'as it is'
    """

    def require(self, name: str, kind: Kind) -> None:
        """Allow every kind."""

    def key(self, column: Any, kind: Kind) -> Any:
        """Return the value itself."""
        return column

    def plain_keys(self, values: Sequence[Any], kind: Kind) -> list[Any]:
        """Recode values in Python alike."""
        return list(values)

    def label(self, key: Any, kind: Kind) -> str:
        """Return the value as text."""
        return plain_label(key, kind)

    def words(self) -> str:
        """Say it in words."""
        return "as it is"


@dataclass(frozen=True, slots=True)
class Suppress:
    """Release "*" in every row, also where the value is missing.

    >>> Suppress().label("", "text")
    '*'
    """

    def require(self, name: str, kind: Kind) -> None:
        """Allow every kind."""

    def key(self, column: Any, kind: Kind) -> Any:
        """Return the same for all."""
        import ibis

        return ibis.ifelse(column.isnull(), "*", "*")  # a bare constant is no column to group by

    def plain_keys(self, values: Sequence[Any], kind: Kind) -> list[Any]:
        """Recode values in Python alike."""
        return ["*"] * len(values)

    def label(self, key: Any, kind: Kind) -> str:
        """Return a star."""
        return "*"

    def words(self) -> str:
        """Say it in words."""
        return "suppressed"


@dataclass(frozen=True, slots=True)
class Prefix:
    """Release the first characters (code points): of a zip code the region, of a date the year (4) or month (7).

    >>> Prefix(3).words()
    'first 3 characters'
    """

    length: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", whole(self.length, "prefix length", 1, _LONGEST_PREFIX))

    def require(self, name: str, kind: Kind) -> None:
        """Text, whole numbers and dates have prefixes."""
        require_kind("prefix", name, kind, ("text", "integer", "date"))

    def key(self, column: Any, kind: Kind) -> Any:
        """Return the prefix."""
        return column.cast("string").substr(0, self.length)

    def plain_keys(self, values: Sequence[Any], kind: Kind) -> list[Any]:
        """Recode values in Python alike, given as their labels."""
        return [value[: self.length] for value in values]

    def label(self, key: Any, kind: Kind) -> str:
        """Return the prefix itself."""
        return str(key)

    def words(self) -> str:
        """Say it in words."""
        return f"first {self.length} character{'s' if self.length > 1 else ''}"


@dataclass(frozen=True, slots=True)
class EndCode:
    """Numbers beyond `at`, and it, released as one value."""

    at: float
    end: ClassVar[str]
    sign: ClassVar[str]

    def __post_init__(self) -> None:
        require_finite(self.at, self.end)

    def require(self, name: str, kind: Kind) -> None:
        """Require numbers, and whole ones of a whole bound."""
        require_kind(self.end, name, kind, ("integer", "real"))
        if kind == "integer" and self.at != int(self.at):
            raise InvalidInput(
                f"{self.end} must be whole for column {quoted(name)} of whole numbers, got {self.at!r}; round it."
            )

    def bound(self, kind: Kind) -> float:
        """Return the bound as a column of this kind compares with it."""
        return int(self.at) if kind == "integer" else float(self.at)

    def is_beyond(self, value: Any, kind: Kind) -> Any:
        """Compare a value, or a column of an engine, with the bound."""
        bound = self.bound(kind) if isinstance(value, (int, float)) else bound_literal(self.at, kind)
        return value >= bound if self.sign == "≥" else value <= bound

    def key(self, column: Any, kind: Kind) -> Any:
        """Return the value, or the bound where it is beyond."""
        import ibis

        return ibis.ifelse(self.is_beyond(column, kind), bound_literal(self.at, kind), column)

    def plain_keys(self, values: Sequence[Any], kind: Kind) -> list[Any]:
        """Recode values in Python alike."""
        bound = self.bound(kind)
        return [bound if self.is_beyond(value, kind) else value for value in values]

    def label(self, key: Any, kind: Kind) -> str:
        """Return the value, or that it is beyond the bound."""
        text = plain_label(key, kind)
        return f"{self.sign}{text}" if key == self.bound(kind) else text

    def words(self) -> str:
        """Say it in words."""
        return f"{self.end}-coded at {self.at}"


@dataclass(frozen=True, slots=True)
class TopCode(EndCode):
    """Release values of at least `at` as one value, "≥at".

    >>> TopCode(90).label(90, "integer"), TopCode(90).label(40, "integer")
    ('≥90', '40')
    """

    end: ClassVar[str] = "top"
    sign: ClassVar[str] = "≥"


@dataclass(frozen=True, slots=True)
class BottomCode(EndCode):
    """Release values of at most `at` as one value, "≤at".

    >>> BottomCode(18).label(18, "integer")
    '≤18'
    """

    end: ClassVar[str] = "bottom"
    sign: ClassVar[str] = "≤"


def require_kind(recoding: str, name: str, kind: Kind, fit: tuple[Kind, ...]) -> None:
    """Refuse a column that a recoding is not for."""
    if kind not in fit:
        hint = (
            ' (in a CSV file one field like "1,234" or "n/a" makes its column text)' if kind == "text" else ""
        )
        numeric = kind == "text" and "integer" in fit
        codes = f", or say which codes are missing (--missing {name}=CODE)" if numeric else ""
        raise InvalidInput(
            f"{recoding} is for columns of kind {', '.join(fit)}, got column {quoted(name)} of kind {kind}{hint}; "
            f"change the policy or the column's type{codes}."
        )


def require_finite(value: object, argument: str) -> float:
    """Refuse what is not a finite number that floats hold exactly, or a whole number of 64 bits."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise WrongType(f"{argument} must be a number, got {quoted(value)}.")
    number(value, argument)
    if isinstance(value, int) and abs(value) >= 2**62:
        raise InvalidInput(f"{argument} must be below 2^62 in size, got {quoted(value)}.")
    return value


def plain_labels(recoding: Recoding, values: Sequence[Any], kind: Kind) -> list[str]:
    """Recode plain values that are in Python already: numbers, or texts for prefixes and mappings.

    >>> plain_labels(TopCode(90), [40, 90, 95], "integer")
    ['40', '≥90', '≥90']
    """
    keys = recoding.plain_keys(values, kind)
    labels = {key: recoding.label(key, kind) for key in dict.fromkeys(keys)}
    return [labels[key] for key in keys]


@dataclass(frozen=True, slots=True)
class Bins:
    """Release intervals, closed below and open above: of equal width, or between given edges.

    >>> Bins(width=10).label(20, "integer")
    '[20, 30)'
    >>> Bins(edges=[18, 65]).label(1, "integer")
    '[18, 65)'
    """

    width: float | None
    origin: float
    edges: tuple[float, ...] | None

    def __init__(
        self, *, width: float | None = None, origin: float = 0, edges: Sequence[float] | None = None
    ) -> None:
        if (width is None) == (edges is None):
            raise InvalidInput("bins must have either a width or edges, got both or none; give one of them.")
        if width is not None and require_finite(width, "bin width") <= 0:
            raise InvalidInput(f"bin width must be positive, got {width!r}.")
        object.__setattr__(self, "width", width)
        object.__setattr__(self, "origin", require_finite(origin, "bin origin"))
        object.__setattr__(self, "edges", None if edges is None else _read_edges(edges))
        if width is not None and max(map(abs, self._ratio())) >= _EXACT:
            raise InvalidInput(
                f"bin width and origin must have fewer digits, got {width!r} and {origin!r}; round them."
            )

    def require(self, name: str, kind: Kind) -> None:
        """Numbers have bins; whole numbers have whole ones."""
        require_kind("bins", name, kind, ("integer", "real"))
        if kind == "integer" and self.width is not None and self._ratio()[2] != 1:
            raise InvalidInput(
                f"bin width and origin must be whole for column {quoted(name)} of whole numbers, "
                f"got {self.width!r} and {self.origin!r}; round them or use edges."
            )

    def key(self, column: Any, kind: Kind) -> Any:
        """Return the lower edge of whole numbers, otherwise the number of the bin."""
        if self.edges is not None:
            return _between(column, [_least(edge, kind) for edge in self.edges], kind)
        p, c, q = self._ratio()
        return _whole_edge(column, p, c) if kind == "integer" else _real_bin(column, p, c, q)

    def plain_keys(self, values: Sequence[Any], kind: Kind) -> list[Any]:
        """Recode numbers in Python alike."""
        if self.edges is not None:
            edges = [_least(edge, kind) for edge in self.edges]
            return [bisect_right(edges, value) for value in values]
        p, c, q = self._ratio()
        if kind == "integer":
            return [value - (value - c) % p for value in values]
        return [_plain_real_bin(value, p, c, q) for value in values]

    def interval(self, key: Any, kind: Kind) -> Interval:
        """Return the ends of the bin that has a key."""
        place = int(key)
        if self.edges is not None:
            low = self.edges[place - 1] if place else None
            return low, self.edges[place] if place < len(self.edges) else None
        p, c, q = self._ratio()
        if kind == "integer":
            return place, place + p
        if abs(place) >= _EXACT // p:
            raise InvalidInput(
                f"bins of width {self.width!r} are too narrow for the largest values of their column; "
                "make them wider, or code the column at its ends."
            )
        return float(Fraction(place * p + c, q)), float(Fraction((place + 1) * p + c, q))

    def label(self, key: Any, kind: Kind) -> str:
        """Return the interval."""
        return interval_label(*self.interval(key, kind), kind)

    def words(self) -> str:
        """Say it in words."""
        if self.edges is not None:
            return f"cut at {', '.join(plain_label(edge, 'real') for edge in self.edges)}"
        return f"in bins of {self.width}" + (f" from {self.origin}" if self.origin else "")

    def _ratio(self) -> tuple[int, int, int]:
        """Width p/q and origin c/q as the decimals that were written; 0 ≤ c < p."""
        width, origin = (Fraction(repr(value)) for value in (self.width, self.origin))
        q = math.lcm(width.denominator, origin.denominator)
        p = int(width * q)
        return p, int(origin * q) % p, q


def interval_label(low: float | None, high: float | None, kind: Kind, *, closed: bool = True) -> str:
    """Name an interval that is open above, and closed below unless said otherwise; None is no end.

    >>> interval_label(None, 18, "integer"), interval_label(18, 20, "real", closed=False)
    ('<18', '(18, 20)')
    """
    if low is None:
        return f"<{_shown(high, kind)}"
    if high is None:
        return f"{'≥' if closed else '>'}{_shown(low, kind)}"
    return f"{'[' if closed else '('}{_shown(low, kind)}, {_shown(high, kind)})"


def _shown(edge: float | None, kind: Kind) -> str:
    """An edge as text; reals show whole numbers up to 2^53 only, whole ones all of them."""
    return str(edge) if kind == "integer" and isinstance(edge, int) else plain_label(edge, "real")


def _whole_edge(column: Any, p: int, c: int) -> Any:
    """The lower edge, x − ((x − c) mod p).

    SQLite takes remainders of floats. A number that floats may not have is first made smaller by a multiple of p that
    is near it, so that what is left has less than 53 bits. A second remainder makes up for engines whose first may be
    negative, and "or 0" makes a whole number of what SQLite has as a float.
    """
    import ibis

    far = (column > _WHOLE_FLOATS) | (column < -_WHOLE_FLOATS)
    times = ibis.ifelse(far, (column / p * _BELOW).cast("int64"), ibis.literal(0, "int64"))
    near = column - times * p
    above = ((near % p - c) % p + p) % p | 0
    return (column - above).cast("int64")


def _real_bin(column: Any, p: int, c: int, q: int) -> Any:
    import ibis

    limit = float(_EXACT // q // 2)
    near = column.abs() < limit
    inside = ibis.ifelse(near, column, ibis.literal(0).cast("float64"))  # floor must not overflow
    guess = ((inside * q - c) / p).floor().cast("int64")

    def edge(i: Any) -> Any:
        return (i * p + c).cast("float64") / q

    index = ibis.cases((column < edge(guess), guess - 1), (column >= edge(guess + 1), guess + 1), else_=guess)
    found = ibis.ifelse(near, index, ibis.literal(_FAR, "int64"))
    return ibis.ifelse(column.isnull(), ibis.null("int64"), found).cast("int64")


def _plain_real_bin(value: float, p: int, c: int, q: int) -> int:
    if not abs(value) < float(_EXACT // q // 2):
        return _FAR
    guess = math.floor((value * q - c) / p)
    if value < (guess * p + c) / q:
        return guess - 1
    return guess + 1 if value >= ((guess + 1) * p + c) / q else guess


def _between(column: Any, edges: list[float], kind: Kind) -> Any:
    import ibis

    below = [(column < bound_literal(edge, kind), place) for place, edge in enumerate(edges)]
    above = (column >= bound_literal(edges[-1], kind), len(edges))
    return ibis.cases(*below, above).cast("int64")


def _least(edge: float, kind: Kind) -> float:
    """A whole number is below 18.5 where it is below 19."""
    return math.ceil(edge) if kind == "integer" else edge


def _read_edges(edges: Sequence[float]) -> tuple[float, ...]:
    if isinstance(edges, (str, bytes)) or not isinstance(edges, Sequence):
        raise WrongType(f"bin edges must be a list of numbers, got {quoted(edges)}.")
    read = tuple(require_finite(edge, "bin edge") for edge in edges)
    if not 1 <= len(read) <= _MOST_EDGES:
        raise InvalidInput(f"bin edges must be 1 to {format_count(_MOST_EDGES)}, got {len(read)}.")
    for low, high in pairwise(read):
        if low >= high:
            raise InvalidInput(f"bin edges must grow, got {low!r} before {high!r}; sort them.")
    return read
