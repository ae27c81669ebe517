"""Recode numbers to the interval that they lie in.

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
from typing import Any

from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.numeric.display import format_count
from tightlip.table.kinds import Kind, plain_label
from tightlip.table.recoding import bound_literal, require_finite, require_kind

_FAR = 2**62  # stands for a bin whose edges are not exact in floats
_EXACT = 2**52
_MOST_EDGES = 10_000


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
        """The lower edge of whole numbers, otherwise the number of the bin."""
        if self.edges is not None:
            return _between(column, [_least(edge, kind) for edge in self.edges], kind)
        p, c, q = self._ratio()
        return _whole_edge(column, p, c) if kind == "integer" else _real_bin(column, p, c, q)

    def plain_keys(self, values: Sequence[Any], kind: Kind) -> list[Any]:
        """The same for numbers in Python."""
        if self.edges is not None:
            edges = [_least(edge, kind) for edge in self.edges]
            return [bisect_right(edges, value) for value in values]
        p, c, q = self._ratio()
        if kind == "integer":
            return [value - (value - c) % p for value in values]
        return [_plain_real_bin(value, p, c, q) for value in values]

    def label(self, key: Any, kind: Kind) -> str:
        """The interval."""
        if self.edges is not None:
            return self._label_of(int(key))
        p, c, q = self._ratio()
        if kind == "integer":
            return f"[{key}, {int(key) + p})"
        if abs(key) >= _EXACT // p:
            raise InvalidInput(
                f"bins of width {self.width!r} are too narrow for the largest values of their column; "
                "make them wider, or top-code the column."
            )
        low, high = (plain_label(float(Fraction(i * p + c, q)), "real") for i in (int(key), int(key) + 1))
        return f"[{low}, {high})"

    def words(self) -> str:
        """In words."""
        if self.edges is not None:
            return f"cut at {', '.join(plain_label(edge, 'real') for edge in self.edges)}"
        return f"in bins of {self.width}" + (f" from {self.origin}" if self.origin else "")

    def _ratio(self) -> tuple[int, int, int]:
        """Width p/q and origin c/q as the decimals that were written; 0 ≤ c < p."""
        width, origin = (Fraction(repr(value)) for value in (self.width, self.origin))
        q = math.lcm(width.denominator, origin.denominator)
        p = int(width * q)
        return p, int(origin * q) % p, q

    def _label_of(self, place: int) -> str:
        edges = [plain_label(edge, "real") for edge in self.edges or ()]
        if place == 0:
            return f"<{edges[0]}"
        return f"≥{edges[-1]}" if place == len(edges) else f"[{edges[place - 1]}, {edges[place]})"


def _whole_edge(column: Any, p: int, c: int) -> Any:
    """The lower edge; the second remainder makes up for engines whose first may be negative."""
    above = ((column % p - c) % p + p) % p
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
