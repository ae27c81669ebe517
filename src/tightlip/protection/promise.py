"""What a protection promises, so that whoever uses its recoding again can check it; no value of the table."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tightlip.auditing.counted import counts_digest
from tightlip.numeric.parse import exact_text
from tightlip.numeric.quantity import exact_ratio
from tightlip.protection.facts import asked_levels
from tightlip.protection.limits import Kind
from tightlip.table.promise import Promise, PromisedLimit

if TYPE_CHECKING:
    from tightlip.protection.result import Protection


def promise_of(found: Protection) -> Promise:
    """List the limits that were asked for on every value of the secret columns that they are about.

    All of them: one that others made needless on this table may matter on another. Where there are limits on single
    values, or it is not known what was asked, the promise is for these counts alone.
    """
    asked = asked_levels(found)
    whole = [PromisedLimit(about, kind, _text(kind, level)) for about, one, kind, level in asked if not one]
    return Promise(
        tuple(dict.fromkeys(whole)),
        str(found.certificate.table.limits.exposed),
        found.certificate.least,
        None if asked and len(whole) == len(asked) else counts_digest(found.counted),
    )


def _text(kind: Kind, level: float | Fraction) -> str:
    """Write a level so that it is read back exactly."""
    if kind == "cap":
        return f"{exact_text(Fraction(level) * 100)}%"
    ratio = None if isinstance(level, Fraction) else exact_ratio(level)
    return f"{exact_text(Fraction(level))} nats" if ratio is None else f"log({exact_text(ratio)})"
