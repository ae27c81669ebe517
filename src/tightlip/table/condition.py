"""State which rows count: conditions on columns, as people write them.

    AGEP >= 18      numbers and dates: =, !=, <, <=, >, >=
    STATE = MA      text, and true or false: = and !=
    STATE in MA,TX  one of several
    INC is missing, INC is not missing

A missing value satisfies no comparison, != neither. The first sign or word that is one of these ends the name of the
column: a name that has one itself stands in double quotes, and so do values with commas or spaces at their ends. Two
double quotes within are one.

Numbers are compared as numbers. Of a column of whole numbers, x ≥ 17.5 is x ≥ 18, so that no bound is rounded.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import reduce
from operator import or_
from typing import Any

from tightlip.arguments import listed
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.numeric.parse import number
from tightlip.numeric.rounding import float_above, float_below
from tightlip.table.kinds import ISO_DATE, Kind, bound_literal

_NAME = r'(?P<column>"(?:[^"]|"")+"|[^"\s<>=!≤≥≠].*?)'
_SHAPE = re.compile(
    rf"\s*{_NAME}\s*(?:\s(?P<missing>is\s+missing|is\s+not\s+missing)"
    r"|\s(?P<several>in)\s+(?P<list>.+)|(?P<operator>==|!=|<=|>=|≤|≥|≠|=|<|>)(?!=)\s*(?P<value>.+?))\s*",
    re.DOTALL,
)
_SIGNS = {"==": "=", "≤": "<=", "≥": ">=", "≠": "!="}
_ORDERED = ("<", "<=", ">", ">=")
_EQUAL = ("=", "!=", "in")
_MISSING = ("is missing", "is not missing")
_FORMS = '"AGEP >= 18", "STATE = MA", "STATE in MA,TX" or "INC is missing"'
_WHOLE = 2**63


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition that a row must satisfy.

    >>> Condition.read("STATE in MA, TX")
    Condition(column='STATE', operator='in', values=('MA', 'TX'))
    """

    column: str
    operator: str
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(listed(self.values, "values", "texts")))
        for text in (self.column, self.operator, *self.values):
            if not isinstance(text, str):
                raise WrongType(
                    f"column, operator and values of a condition must be text, got {quoted(text)}; quote it."
                )
        many = {"in": len(self.values) > 0} | dict.fromkeys(_MISSING, not self.values)
        known = self.operator in (*_ORDERED, *_EQUAL, *_MISSING)
        if not self.column or not known or not many.get(self.operator, len(self.values) == 1):
            raise InvalidInput(
                f"column, operator and values must be a condition like {_FORMS}, got {quoted(str(self))}; write it so."
            )

    @classmethod
    def read(cls, where: str | Condition) -> Condition:
        """Read a condition as people write it (see above).

        Raises
        ------
        InvalidInput
            When it is none.
        """
        if isinstance(where, Condition):
            return where
        if not isinstance(where, str):
            raise WrongType(f"where must be conditions as text, got {quoted(where)}; write {_FORMS}.")
        found = _SHAPE.fullmatch(where)
        if found is None:
            raise InvalidInput(f"where must be a condition like {_FORMS}, got {quoted(where)}; write it so.")
        column = unquoted(found["column"])
        if found["missing"]:
            return cls(column, " ".join(found["missing"].split()))
        if found["several"]:
            return cls(column, "in", tuple(listed_values(found["list"], "where")))
        return cls(column, _SIGNS.get(found["operator"], found["operator"]), (unquoted(found["value"]),))

    def __str__(self) -> str:
        """Write it as `read` reads it."""
        values = ",".join(value_text(value) for value in self.values)
        return f"{_name_text(self.column)} {self.operator} {values}".strip()

    def holds(self, column: Any, kind: Kind) -> Any:
        """Whether it holds, as an Ibis expression on the plain column; NULL, which is not true, where missing.

        Raises
        ------
        InvalidInput
            When a column of this kind cannot be compared so.
        """
        if self.operator in _MISSING:
            return column.isnull() if self.operator == "is missing" else column.notnull()
        if self.operator in _ORDERED and kind not in ("integer", "real", "date"):
            raise InvalidInput(
                f"where must compare {quoted(self.column)} of kind {kind} by =, != or in, got {quoted(self.operator)}; "
                "only numbers and dates have an order."
            )
        if self.operator in _EQUAL:
            same = reduce(or_, [column == self._exactly(value, kind) for value in self.values])
            return ~same if self.operator == "!=" else same
        bound = self._bound(kind)
        compared = {"<": column < bound, "<=": column <= bound, ">": column > bound, ">=": column >= bound}
        return compared[self.operator]

    def _exactly(self, value: str, kind: Kind) -> Any:
        """One value as a literal of the column's plain type."""
        if kind == "integer":
            exact = Fraction(self._number(value))
            if exact.denominator != 1:
                raise InvalidInput(
                    f"where must compare {quoted(self.column)} with whole numbers, got {quoted(value)}; round it."
                )
            return self._literal(int(exact), kind)
        return self._literal(self._number(value), kind) if kind == "real" else self._text(value, kind)

    def _bound(self, kind: Kind) -> Any:
        """The bound as a literal; of whole numbers and reals the next one on the side that changes nothing."""
        (value,) = self.values
        if kind == "date":
            return self._text(value, kind)
        exact = Fraction(self._number(value))
        upwards = self.operator in ("<", ">=")
        if kind == "integer":
            return self._literal(math.ceil(exact) if upwards else math.floor(exact), kind)
        if "/" not in value:  # a decimal means the real that is shown so, as it does in =
            return self._literal(float(exact), kind)
        return self._literal(float_above(exact) if upwards else float_below(exact), kind)

    def _number(self, value: str) -> float | Fraction:
        return number(value, f"where {self}, of a column of numbers,")

    def _literal(self, value: float | Fraction, kind: Kind) -> Any:
        import ibis

        if kind == "real":
            return bound_literal(float(value), kind)
        if not -_WHOLE <= value < _WHOLE:
            raise InvalidInput(
                f"where must have numbers below 2^63 in size, got {quoted(str(self))}; leave it out."
            )
        return ibis.literal(int(value), "int64")

    def _text(self, value: str, kind: Kind) -> str:
        if kind == "boolean" and value not in ("true", "false"):
            raise InvalidInput(
                f"where must compare {quoted(self.column)} with true or false, got {quoted(value)}; write one of them."
            )
        if kind == "date" and not _is_date(value):
            raise InvalidInput(
                f"where must compare {quoted(self.column)} with dates like 2024-02-29, got {quoted(value)}; write one."
            )
        return value


def read_conditions(where: Any) -> tuple[Condition, ...]:
    """Read one condition or a list of them, which must all hold; None is none."""
    if where is None:
        return ()
    given = [where] if isinstance(where, (str, Condition)) else listed(where, "where", "conditions")
    return tuple(dict.fromkeys(Condition.read(one) for one in given))


def listed_values(text: str, argument: str) -> list[str]:
    """Read values separated by commas; double quotes as in CSV.

    >>> listed_values('MA, "a, b"', "where")
    ['MA', 'a, b']
    """
    try:
        rows = list(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise InvalidInput(
            f"{argument} must be values separated by commas, got {quoted(text)}: {error}."
        ) from error
    values = [value for row in rows for value in row]
    if not values or (not all(values) and '""' not in text):
        raise InvalidInput(
            f'{argument} must be values separated by commas, got {quoted(text)}; write "" for empty text.'
        )
    return values


def value_text(value: str) -> str:
    """Write a value as `listed_values` reads it."""
    odd = not value or value != value.strip() or any(letter in value for letter in ',"\r\n')
    return '"' + value.replace('"', '""') + '"' if odd else value


def unquoted(text: str) -> str:
    """Read a name or value that may stand in double quotes.

    >>> unquoted('"a ""b"" c"'), unquoted("MA")
    ('a "b" c', 'MA')
    """
    if len(text) >= 2 and re.fullmatch(r'"(?:[^"]|"")*"', text):
        return text[1:-1].replace('""', '"')
    return text


def _name_text(name: str) -> str:
    """Write a name as `Condition.read` reads it: in quotes where a sign or word in it would end it."""
    plain = re.fullmatch(r"[^\W]+", name) is not None
    return name if plain else '"' + name.replace('"', '""') + '"'


def _is_date(text: str) -> bool:
    if not re.fullmatch(ISO_DATE, text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def conditions_text(where: Sequence[Condition]) -> str:
    """Write conditions in one line.

    >>> conditions_text([Condition.read("AGEP>=18"), Condition.read("SEX != 1")])
    'AGEP >= 18 and SEX != 1'
    """
    return " and ".join(map(str, where))
