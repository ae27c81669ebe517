"""Tell what the values of a column are: names, names in an order, or numbers with distances between them.

nominal    Only whether two values are the same means something: sex, a zip code. Rare values may be joined.
ordinal    They also have an order: a grade, a date. Neighbours may be joined.
numeric    They also have distances: an age, an income. Bins of one width mean something.

A policy declares the scale of a column; a list of its values is ordinal in that order. What is not declared is guessed
from the column's kind and its values. A guess forbids nothing: whoever puts a column in bins has said it is numeric.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from tightlip.arguments import is_list, listed
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.table.chain import is_of_numbers, steps_of
from tightlip.table.kinds import Kind
from tightlip.table.mapping import Mapping as Groups
from tightlip.table.recoding import Bins, EndCode, Keep, Prefix, Recoding

Scale = Literal["nominal", "ordinal", "numeric"]
Order = tuple[str, ...]  # the values of an ordinal column, the lowest first
Declared = Scale | Order

# Whole numbers of so few values are taken for codes: months and most questionnaires have no more, and to join codes by
# size says something untrue about them, while to join numbers as if they were codes is only worse than need be.
MOST_CODES = 12
_LONG = 4  # digits from which on whole numbers of one length are codes, such as zip codes
_YEARS = range(1800, 2101)  # of four digits too, and numbers


@dataclass(frozen=True, slots=True, eq=False)
class Scales(Mapping[str, Declared]):
    """The declared scales of some columns, in the order of their names; never changes.

    >>> Scales.of({"EDU": ["low", "high"], "AGE": "numeric"})["EDU"]
    ('low', 'high')
    """

    pairs: tuple[tuple[str, Declared], ...] = ()

    @classmethod
    def of(cls, given: Any) -> Scales:
        """Read a mapping of columns to "nominal", "ordinal", "numeric", or lists of values in order."""
        if not isinstance(given, Mapping):
            raise WrongType(
                f'scales must map columns to scales, got {quoted(given)}; write {{"EDU": "ordinal"}}.'
            )
        for name in given:
            if not isinstance(name, str) or not name:
                raise WrongType(f"scales must name columns by text, got {quoted(name)}.")
        return cls(tuple((name, _read_scale(name, given[name])) for name in sorted(given)))

    def __getitem__(self, column: str) -> Declared:
        return dict(self.pairs)[column]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def __hash__(self) -> int:
        return hash(self.pairs)


def _read_scale(column: str, given: Any) -> Declared:
    if is_list(given):
        order = tuple(given)
        if len(order) < 2 or not all(isinstance(value, str) for value in order):
            raise WrongType(
                f"scales of {quoted(column)} must list two values or more as text, got {quoted(given)}; "
                "write numbers in quotes."
            )
        if len(set(order)) < len(order):
            twice = next(value for place, value in enumerate(order) if value in order[:place])
            raise InvalidInput(
                f"scales of {quoted(column)} must list each value once, got {quoted(twice)} twice; drop one."
            )
        return order
    if isinstance(given, str) and given in get_args(Scale):
        return cast(Scale, str(given))
    words = ", ".join(quoted(scale) for scale in get_args(Scale))
    raise InvalidInput(
        f"scales of {quoted(column)} must be one of {words} or a list of its values in order, got {quoted(given)}."
    )


def merge_scales(
    scales: Mapping[str, Any] | None = None,
    *,
    nominal: str | Iterable[str] | None = None,
    ordinal: str | Iterable[str] | None = None,
    numeric: str | Iterable[str] | None = None,
) -> Scales:
    """Merge scales that are declared by column with columns that are listed by scale.

    Raises
    ------
    InvalidInput
        When a column is declared twice.

    >>> dict(merge_scales({"ZIP": "nominal"}, numeric="AGE", ordinal=["EDU"]))
    {'AGE': 'numeric', 'EDU': 'ordinal', 'ZIP': 'nominal'}
    """
    found = dict(Scales.of({} if scales is None else scales))
    for scale, given in (("nominal", nominal), ("ordinal", ordinal), ("numeric", numeric)):
        names = (
            [] if given is None else [given] if isinstance(given, str) else listed(given, scale, "columns")
        )
        for name in names:
            if name in found:
                raise InvalidInput(
                    f"{scale} must be of columns declared once, got {quoted(name)} twice; drop one."
                )
            found |= Scales.of({name: scale})
    return Scales.of(found)


def guess_scale(kind: str, values: Collection[Any]) -> Scale:
    """Guess the scale of a column from its kind and its distinct values, of which None is missing.

    >>> guess_scale("integer", range(18, 90)), guess_scale("integer", [1, 2])
    ('numeric', 'nominal')
    >>> guess_scale("integer", range(10115, 14199))
    'nominal'
    """
    return _guess(kind, values)[0]


def _guess(kind: str, values: Collection[Any]) -> tuple[Scale, str]:
    """A scale and what it is guessed from, where that is more than the kind."""
    if kind == "date":
        return "ordinal", ""
    if kind == "real":
        return "numeric", ""
    if kind != "integer":
        return "nominal", ""
    texts = [str(value) for value in values if value is not None]
    if len(texts) <= MOST_CODES:
        return "nominal", f"{len(texts)} distinct whole number{'' if len(texts) == 1 else 's'}"
    lengths = {len(text) for text in texts}
    years = all(int(text) in _YEARS for text in texts)
    if len(lengths) == 1 and min(lengths) >= _LONG and not years and not any("-" in text for text in texts):
        return "nominal", f"all of {min(lengths)} digits"
    return "numeric", ""


def find_scale(
    declared: Declared | None, recoding: Recoding, kind: str, values: Collection[Any]
) -> tuple[Declared, str]:
    """Find the scale of a column, and in words whether it was declared or what it was guessed from.

    `values` are the distinct ones that the recoding releases, where they still tell what the column is.

    >>> find_scale(None, Keep(), "integer", ["1", "2"]), find_scale(None, Bins(width=10), "integer", ["[1, 2)"])
    (('nominal', 'guessed: 2 distinct whole numbers'), ('numeric', 'guessed: in bins of 10'))
    """
    if declared is not None:
        return declared, "declared"
    if recoding == Keep():
        scale, reason = _guess(kind, values)
    elif is_of_numbers(recoding):
        scale, reason = "numeric", recoding.words()
    else:
        scale, reason = ("ordinal" if kind == "date" else "nominal"), ""
    return scale, f"guessed: {reason}" if reason else "guessed"


def name_of_scale(scale: Declared) -> Scale:
    """Name a scale: a list of values is ordinal."""
    return "ordinal" if isinstance(scale, tuple) else scale


def require_fit(scale: Declared, column: str, recoding: Recoding) -> None:
    """Refuse a recoding that the declared scale of its column gives no meaning to."""
    for step in steps_of(recoding):
        if isinstance(step, Groups):  # what follows is about groups
            return
        lacks = _lacks(scale, step)
        if lacks:
            how = f"recoding {quoted(step.words())} needs {lacks}"
            raise InvalidInput(
                f"{how}, got it on column {quoted(column)}, which is declared {name_of_scale(scale)}; "
                "change the recoding or the scale."
            )


def _lacks(scale: Declared, step: Recoding) -> str | None:
    """What a recoding needs that values of a scale do not have."""
    if isinstance(step, (Bins, EndCode)) and (scale == "nominal" or isinstance(scale, tuple)):
        return "values with an order by size"
    if isinstance(step, Bins) and step.width is not None and scale == "ordinal":
        return "distances between values (edges do not)"
    return "text" if isinstance(step, Prefix) and scale == "numeric" else None


def require_scale(scale: Declared, column: str, kind: Kind) -> None:
    """Refuse a declared scale that columns of a kind cannot have."""
    if scale == "numeric" and kind not in ("integer", "real"):
        raise InvalidInput(
            f"column {quoted(column)} is declared numeric, got kind {kind}; make it numbers, or declare it otherwise."
        )
    if scale == "ordinal" and kind == "text":
        raise InvalidInput(
            f"column {quoted(column)} is declared ordinal, got text, whose order is not known; list its values in "
            f'order: scales = {{{quoted(column)} = ["low", "middle", "high"]}}.'
        )
    if isinstance(scale, tuple) and kind == "real":
        raise InvalidInput(
            f"scales of {quoted(column)} must not list values, got kind real, whose order is known; declare it ordinal."
        )


def require_listed(order: Order, column: str, values: Iterable[str | None]) -> None:
    """Refuse values that a list in order does not have; which they are is not told, few people may have them."""
    missing = {value for value in values if value is not None} - set(order)
    if missing:
        raise InvalidInput(
            f"scales of {quoted(column)} must list every value that occurs, got {len(missing)} that it does not list; "
            "add them in their order."
        )
