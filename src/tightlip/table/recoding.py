"""Recode one released column: as it is, a prefix, coded ends, or nothing.

A recoding has two halves. `key` is an Ibis expression on the plain column (see `kinds`), worked out by the engine;
`label` names a key in Python, once for each distinct one, so that names are the same on every engine. Missing values
stay missing unless the column is suppressed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tightlip.arguments import whole
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.numeric.parse import number
from tightlip.table.kinds import Kind, plain_label

_LONGEST_PREFIX = 1_000_000_000  # engines count characters in 32 bits


class Recoding(Protocol):
    """What every recoding can do."""

    def require(self, name: str, kind: Kind) -> None:
        """Refuse a column of a kind that this recoding is not for."""

    def key(self, column: Any, kind: Kind) -> Any:
        """The released value as an Ibis expression of text, int64 or float64 type."""

    def plain_keys(self, values: Sequence[Any], kind: Kind) -> list[Any]:
        """The keys of plain values that are in Python already, the same that the engine finds."""

    def label(self, key: Any, kind: Kind) -> str:
        """The released value as people read it."""

    def words(self) -> str:
        """What is done, to follow the column's name."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Release the values as they are.

    >>> Keep().words()
    'as it is'
    """

    def require(self, name: str, kind: Kind) -> None:
        """Every kind can be kept."""

    def key(self, column: Any, kind: Kind) -> Any:
        """The value itself."""
        return column

    def plain_keys(self, values: Sequence[Any], kind: Kind) -> list[Any]:
        """The same for values in Python."""
        return list(values)

    def label(self, key: Any, kind: Kind) -> str:
        """The value as text."""
        return plain_label(key, kind)

    def words(self) -> str:
        """In words."""
        return "as it is"


@dataclass(frozen=True, slots=True)
class Suppress:
    """Release "*" in every row, also where the value is missing.

    >>> Suppress().label("", "text")
    '*'
    """

    def require(self, name: str, kind: Kind) -> None:
        """Every kind can be suppressed."""

    def key(self, column: Any, kind: Kind) -> Any:
        """The same for all."""
        import ibis

        return ibis.ifelse(column.isnull(), "*", "*")  # a bare constant is no column to group by

    def plain_keys(self, values: Sequence[Any], kind: Kind) -> list[Any]:
        """The same for values in Python."""
        return ["*"] * len(values)

    def label(self, key: Any, kind: Kind) -> str:
        """A star."""
        return "*"

    def words(self) -> str:
        """In words."""
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
        """The prefix."""
        return column.cast("string").substr(0, self.length)

    def plain_keys(self, values: Sequence[Any], kind: Kind) -> list[Any]:
        """The same for values in Python, given as their labels."""
        return [value[: self.length] for value in values]

    def label(self, key: Any, kind: Kind) -> str:
        """The prefix itself."""
        return str(key)

    def words(self) -> str:
        """In words."""
        return f"first {self.length} character{'s' if self.length > 1 else ''}"


@dataclass(frozen=True, slots=True)
class TopCode:
    """Release values of at least `at` as one value, "≥at".

    >>> TopCode(90).label(90, "integer"), TopCode(90).label(40, "integer")
    ('≥90', '40')
    """

    at: float

    def __post_init__(self) -> None:
        require_finite(self.at, "top")

    def require(self, name: str, kind: Kind) -> None:
        """Numbers have a top."""
        require_bound("top", name, kind, self.at)

    def key(self, column: Any, kind: Kind) -> Any:
        """The smaller of value and bound."""
        import ibis

        return ibis.ifelse(column >= bound_literal(self.at, kind), bound_literal(self.at, kind), column)

    def plain_keys(self, values: Sequence[Any], kind: Kind) -> list[Any]:
        """The same for values in Python."""
        bound = int(self.at) if kind == "integer" else self.at
        return [bound if value >= bound else value for value in values]

    def label(self, key: Any, kind: Kind) -> str:
        """The value, or that it is at least the bound."""
        text = plain_label(key, kind)
        return f"≥{text}" if key == self.at else text

    def words(self) -> str:
        """In words."""
        return f"top-coded at {self.at}"


@dataclass(frozen=True, slots=True)
class BottomCode:
    """Release values of at most `at` as one value, "≤at".

    >>> BottomCode(18).label(18, "integer")
    '≤18'
    """

    at: float

    def __post_init__(self) -> None:
        require_finite(self.at, "bottom")

    def require(self, name: str, kind: Kind) -> None:
        """Numbers have a bottom."""
        require_bound("bottom", name, kind, self.at)

    def key(self, column: Any, kind: Kind) -> Any:
        """The larger of value and bound."""
        import ibis

        return ibis.ifelse(column <= bound_literal(self.at, kind), bound_literal(self.at, kind), column)

    def plain_keys(self, values: Sequence[Any], kind: Kind) -> list[Any]:
        """The same for values in Python."""
        bound = int(self.at) if kind == "integer" else self.at
        return [bound if value <= bound else value for value in values]

    def label(self, key: Any, kind: Kind) -> str:
        """The value, or that it is at most the bound."""
        text = plain_label(key, kind)
        return f"≤{text}" if key == self.at else text

    def words(self) -> str:
        """In words."""
        return f"bottom-coded at {self.at}"


def bound_literal(value: float, kind: Kind) -> Any:
    """Write a number as a literal of a column's plain type."""
    import ibis

    return ibis.literal(int(value), "int64") if kind == "integer" else ibis.literal(float(value), "float64")


def require_kind(recoding: str, name: str, kind: Kind, fit: tuple[Kind, ...]) -> None:
    """Refuse a column that a recoding is not for."""
    if kind not in fit:
        hint = (
            ' (in a CSV file one field like "1,234" or "n/a" makes its column text)' if kind == "text" else ""
        )
        raise InvalidInput(
            f"{recoding} is for columns of kind {', '.join(fit)}, got column {quoted(name)} of kind {kind}{hint}; "
            "change the policy or the column's type."
        )


def require_bound(recoding: str, name: str, kind: Kind, at: float) -> None:
    """Refuse a bound that the column's numbers cannot have."""
    require_kind(recoding, name, kind, ("integer", "real"))
    if kind == "integer" and at != int(at):
        raise InvalidInput(
            f"{recoding} must be whole for column {quoted(name)} of whole numbers, got {at!r}; round it."
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
