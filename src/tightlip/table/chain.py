"""Recode one column in several steps: numbers first, in bins and coded at the ends, then what that releases as text.

numbers     Bins and codes at the ends act together, in whatever order they are written. A value of at least the top is
            "≥90", one of at most the bottom "≤18", every other one lies in its bin. A bin that a code cuts is called
            by what is left of it, so that its label is true of exactly the values that have it: of bins of 10, a
            bottom of 18 leaves [19, 20) of whole numbers and (18, 20) of reals, a top of 95 leaves [90, 95).
text        Prefixes and mappings take the label of the step before. They work on labels in Python, once for each
            distinct one: two keys of the engine whose labels become one are one released value.

Proof that a cut label is true: with bottom b, top t and a bin [l, h), those who are left have x > b, x < t and
l ≤ x < h, so max(l, b) ≤ x < min(h, t), open below where b ≥ l. Of whole numbers x > b is x ≥ b + 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tightlip.arguments import listed
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.table.kinds import Kind
from tightlip.table.mapping import Mapping
from tightlip.table.recoding import (
    Bins,
    BottomCode,
    EndCode,
    Keep,
    Prefix,
    Recoding,
    Suppress,
    TopCode,
    interval_label,
)

# The key of a coded end: no bin has it, as codes are below 2^62 and bins narrower than 2^52. SQLite makes it a float.
_BEYOND = 2**63 - 2**10
_NAMES: dict[type, str] = {
    Bins: "bins",
    BottomCode: "bottom",
    TopCode: "top",
    Prefix: "prefix",
    Mapping: "mapping",
    Suppress: "suppress",
    Keep: "keep",
}
_NUMBERS = (Bins, BottomCode, TopCode)


def is_of_numbers(recoding: Recoding) -> bool:
    """Whether a recoding takes numbers: bins and coded ends do, prefixes and mappings take texts.

    >>> is_of_numbers(Chain([TopCode(90), Bins(width=10)])), is_of_numbers(Prefix(3))
    (True, False)
    """
    return isinstance(steps_of(recoding)[0], _NUMBERS)


def keeps_values(recoding: Recoding) -> bool:
    """Whether some values are released as they are: all, or those between coded ends."""
    return all(isinstance(step, (Keep, EndCode)) for step in steps_of(recoding))


def steps_of(recoding: Recoding) -> tuple[Recoding, ...]:
    """List the recodings that are applied in a row; most are one alone."""
    return recoding.steps if isinstance(recoding, Chain) else (recoding,)


def in_a_row(steps: Iterable[Recoding]) -> Recoding:
    """Apply recodings in a row: none keeps the values, one is itself, several are a chain.

    >>> in_a_row([]).words(), in_a_row([Prefix(3)]).words(), in_a_row([TopCode(90), Bins(width=10)]).words()
    ('as it is', 'first 3 characters', 'in bins of 10, top-coded at 90')
    """
    found = list(steps)
    return Chain(found) if len(found) > 1 else found[0] if found else Keep()


@dataclass(frozen=True, slots=True)
class Chain:
    """Release what several recodings in a row make of a value.

    Bins, a bottom and a top come first and act together; each prefix or mapping then takes the label of the step
    before it.

    >>> ages = Chain([Bins(width=10), BottomCode(18), TopCode(90)])
    >>> [ages.label(key, "integer") for key in ages.plain_keys([7, 19, 25, 95], "integer")]
    ['≤18', '[19, 20)', '[20, 30)', '≥90']
    >>> Chain([Prefix(1), Mapping({"0": "north", "1": "south"})]).words()
    'first 1 character, then mapped to 2 groups'
    """

    steps: tuple[Recoding, ...]

    def __init__(self, steps: Sequence[Recoding]) -> None:
        flat = [own for step in listed(steps, "steps", "recodings") for own in steps_of(step)]
        if len(flat) < 2:
            raise InvalidInput(
                f"steps must be two recodings or more, got {len(flat)}; a single one stands alone."
            )
        _require_row(flat)
        numbers = sorted((step for step in flat if isinstance(step, _NUMBERS)), key=_place)
        then = [step for step in flat if not isinstance(step, _NUMBERS)]
        object.__setattr__(self, "steps", (*numbers, *then))

    @property
    def _first(self) -> Recoding:
        """What the engine works out."""
        numbers = [step for step in self.steps if isinstance(step, _NUMBERS)]
        return _Coded(tuple(numbers)) if len(numbers) > 1 else self.steps[0]

    @property
    def _then(self) -> tuple[Recoding, ...]:
        """What is done to its labels."""
        numbers = sum(isinstance(step, _NUMBERS) for step in self.steps)
        return self.steps[max(numbers, 1) :]

    def require(self, name: str, kind: Kind) -> None:
        """Refuse a column that the first step is not for, or, where values pass through it, the second."""
        self._first.require(name, kind)
        if self._then and keeps_values(self._first):
            self._then[0].require(name, kind)

    def key(self, column: Any, kind: Kind) -> Any:
        """Return the key of the first step."""
        return self._first.key(column, kind)

    def plain_keys(self, values: Sequence[Any], kind: Kind) -> list[Any]:
        """Recode values in Python alike."""
        return self._first.plain_keys(values, kind)

    def label(self, key: Any, kind: Kind) -> str:
        """Return the label that the last step makes of the first one's."""
        text = self._first.label(key, kind)
        for step in self._then:
            (own,) = step.plain_keys([text], "text")
            text = step.label(own, "text")
        return text

    def words(self) -> str:
        """Say it in words."""
        then = "".join(f", then {step.words()}" for step in self._then)
        return self._first.words() + then


@dataclass(frozen=True, slots=True)
class _Coded:
    """Numbers coded at the ends, and between them in bins if there are any."""

    steps: tuple[Bins | EndCode, ...]

    @property
    def bins(self) -> Bins | None:
        return next((step for step in self.steps if isinstance(step, Bins)), None)

    @property
    def codes(self) -> list[EndCode]:
        return [step for step in self.steps if isinstance(step, EndCode)]

    def require(self, name: str, kind: Kind) -> None:
        for step in self.steps:
            step.require(name, kind)

    def key(self, column: Any, kind: Kind) -> Any:
        import ibis

        inside = column  # coded before it is put in bins, as engines may stop at the bin of a far value
        for code in self.codes:
            inside = code.key(inside, kind)
        if self.bins is None:
            return inside
        found = self.bins.key(inside, kind)
        for code in self.codes:
            end = ibis.literal(_end_key(code), "int64")
            found = ibis.ifelse(code.is_beyond(column, kind), end, found)
        return found

    def plain_keys(self, values: Sequence[Any], kind: Kind) -> list[Any]:
        inside = list(values)
        for code in self.codes:
            inside = code.plain_keys(inside, kind)
        if self.bins is None:
            return inside
        found = self.bins.plain_keys(inside, kind)
        for code in self.codes:
            pairs = zip(values, found, strict=True)
            found = [_end_key(code) if code.is_beyond(value, kind) else key for value, key in pairs]
        return found

    def label(self, key: Any, kind: Kind) -> str:
        coded = {_end_key(code) if self.bins else code.bound(kind): code for code in self.codes}
        if key in coded:
            return coded[key].label(coded[key].bound(kind), kind)
        return self.codes[0].label(key, kind) if self.bins is None else self._cut(key, kind)

    def _cut(self, key: Any, kind: Kind) -> str:
        """What the codes leave of a bin."""
        assert self.bins is not None
        low, high = self.bins.interval(key, kind)
        closed, least = True, math.ceil if kind == "integer" else float
        for code in self.codes:
            bound = code.bound(kind)
            if isinstance(code, TopCode) and (high is None or bound < least(high)):
                high = bound
            if isinstance(code, BottomCode) and (low is None or bound >= least(low)):
                low, closed = (bound + 1, True) if kind == "integer" else (bound, False)
        return interval_label(low, high, kind, closed=closed)

    def words(self) -> str:
        return ", ".join(step.words() for step in self.steps)


def _end_key(code: EndCode) -> int:
    return _BEYOND if isinstance(code, TopCode) else -_BEYOND


def _place(step: Recoding) -> int:
    return _NUMBERS.index(type(step))


def _require_row(steps: Sequence[Recoding]) -> None:
    """Refuse recodings that make no sense one after the other."""
    for step in steps:
        if type(step) not in _NAMES:
            raise WrongType(f"steps must be recodings, got {quoted(step)}; write Bins(width=10).")
        if isinstance(step, (Keep, Suppress)):
            raise InvalidInput(
                f"{_name(step)} must stand alone, got it with others in a row; drop it or them."
            )
    for before, after in pairwise(steps):
        _require_next(before, after)
    for kind in _NUMBERS:
        if sum(isinstance(step, kind) for step in steps) > 1:
            raise InvalidInput(f"{_NAMES[kind]} must be given once in a row, got it twice; keep one.")
    bottom, top = (
        next((step.at for step in steps if isinstance(step, kind)), None) for kind in (BottomCode, TopCode)
    )
    if bottom is not None and top is not None and bottom >= top:
        raise InvalidInput(f"bottom must be below top, got {bottom!r} and {top!r}; change one of them.")


def _require_next(before: Recoding, after: Recoding) -> None:
    if isinstance(after, _NUMBERS) and not isinstance(before, _NUMBERS):
        raise InvalidInput(
            f"{_name(after)} must come before {_name(before)}, which releases text, got it after; put it first."
        )
    if isinstance(after, Prefix) and isinstance(before, (*_NUMBERS, Prefix)):
        raise InvalidInput(
            f"prefix must be of values or groups, got it after {_name(before)}; keep one of the two."
        )


def _name(step: Recoding) -> str:
    return _NAMES[type(step)]
