"""Read what a release may say about a secret, as people say it: a factor, an amount of leakage, or a cap on certainty.

    "3x", "factor 3", "log(3)", "1.5 bits", "2 nats"   nobody's secret becomes more than e^level times as likely (PML)
    "50%"                                              nobody's secret becomes more than that likely (a cap)

A bare number could be any of these. In Python it is in nats; on a command line and in a policy file it is refused, with
what it could mean. A level that is irrational as a ratio is rounded down, so that it never allows more than was said.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.parse import exact_text, number
from tightlip.numeric.quantity import Nats, exact_level
from tightlip.numeric.rounding import down

AllowedKind = Literal["pml", "cap"]


@dataclass(frozen=True, slots=True)
class Allowed:
    """What is allowed.

    Attributes
    ----------
    kind : "pml", or "cap" on the posterior probability
    level : in nats, exact where it is a Fraction or a `Nats` with a ratio; of a cap the probability
    given : text that is read back as the same; what was given where that was text

    >>> Allowed.read("3x").level.ratio, Allowed.read("50%").level, Allowed.read(0.5).given
    (Fraction(3, 1), Fraction(1, 2), '0.5 nats')
    """

    kind: AllowedKind
    level: float | Fraction
    given: str = field(compare=False)

    @classmethod
    def read(cls, level: Any, argument: str = "budget", *, bare: bool = True) -> Allowed:
        """Read what people write; `bare` says whether a number without unit is in nats, or refused.

        Raises
        ------
        InvalidInput
            When it is none of the forms above, infinite, or a bare number where that could mean anything.
        """
        if isinstance(level, Allowed):
            return level
        text = level.strip() if isinstance(level, str) else None
        if text is not None and text.endswith("%"):
            return cls("cap", _share(text, argument), text)
        read = exact_level(level, argument, rounding="down")
        if not bare and not isinstance(level, Nats):
            _require_unit(str(level) if text is None else text, argument)
        return cls("pml", read, _given(read, text))

    def nats(self) -> Nats:
        """The level as a number of nats, never more than was given; of a PML level only."""
        if isinstance(self.level, Nats):
            return self.level
        nearest = float(self.level)
        return Nats(nearest if Fraction(nearest) <= self.level else down(nearest))


def _share(text: str, argument: str) -> Fraction:
    share = Fraction(number(text[:-1], argument)) / 100
    if not 0 < share <= 1:
        raise InvalidInput(
            f"{argument} must be a cap of more than 0 % and at most 100 %, got {quoted(text)}; write 50% for one half."
        )
    return share


def _require_unit(words: str, argument: str) -> None:
    """Refuse a number that does not say what it is."""
    if _is_number(words):
        raise InvalidInput(
            f"{argument} must say what it is, got {words}; write {quoted(words + 'x')} (a factor), "
            f"{quoted(words + ' nats')}, or {quoted(words + '%')} (a cap on certainty)."
        )


def _given(read: float | Fraction, text: str | None) -> str:
    """Text that is read as this level; a bare number gets its unit."""
    if isinstance(read, Nats) and read.ratio is not None:
        return text or f"log({exact_text(read.ratio)})"
    if text is not None and not _is_number(text):
        return text
    if isinstance(read, float) and math.isfinite(read) and Fraction(repr(float(read))) == Fraction(read):
        return f"{float(read)!r} nats"
    return f"{exact_text(Fraction(read))} nats"


def _is_number(text: str) -> bool:
    try:
        number(text, "budget")
    except InvalidInput:
        return False
    return True
