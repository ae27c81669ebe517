"""Numbers as people read them, rounded so that a guarantee shown short is still a guarantee."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

NEGLIGIBLE = 1e-12


def format_up(value: float | Fraction, digits: int = 6) -> str:
    """A number with some significant digits, never below it.

    >>> format_up(0.12345612), format_up(1/3, 3), format_up(math.inf), format_up(2e-16), format_up(0.0)
    ('0.123457', '0.334', 'inf', '<1e-12', '0')
    """
    if 0 < value < NEGLIGIBLE:
        return "<1e-12"
    return _format(value, digits, ROUND_CEILING)


def format_down(value: float | Fraction, digits: int = 6) -> str:
    """A number with some significant digits, never above it.

    >>> format_down(0.12345678), format_down(-1/3, 3)
    ('0.123456', '-0.334')
    """
    return _format(value, digits, ROUND_FLOOR)


def _format(value: float | Fraction, digits: int, rounding: str) -> str:
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    exact = Fraction(value)
    short = Context(prec=digits, rounding=rounding).divide(
        Decimal(exact.numerator), Decimal(exact.denominator)
    )
    if not short:
        return "0"
    text = f"{short:f}" if -6 <= short.adjusted() < 15 else f"{short:e}"
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
