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


def format_about(value: float | Fraction, digits: int = 6) -> str:
    """A number to some significant digits, to nearest; also one outside the float range.

    >>> format_about(1 / 3), format_about(Fraction(10**401, 3)), format_about(Fraction(1, 2))
    ('0.333333', '3.33333e+400', '0.5')
    """
    if not isinstance(value, Fraction):
        return f"{value:.{digits}g}"
    context = Context(prec=digits)
    quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{quotient.normalize(context):g}"


def grouped(count: int) -> str:
    """A whole number in groups of three digits.

    >>> grouped(1234567)
    '1 234 567'
    """
    return f"{count:,}".replace(",", " ")


def several(count: int, one: str) -> str:
    """A number of things, by the name of one of them.

    >>> several(1, "cell"), several(0, "cell"), several(1200, "row")
    ('1 cell', '0 cells', '1 200 rows')
    """
    return f"{grouped(count)} {one}{'' if count == 1 else 's'}"


def _format(value: float | Fraction, digits: int, rounding: str) -> str:
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    exact = Fraction(value)
    short = Context(prec=digits, rounding=rounding).divide(
        Decimal(exact.numerator), Decimal(exact.denominator)
    )
    if not short:
        return "0"
    text = f"{short:f}" if -6 <= short.adjusted() < 15 else f"{short:e}"
    head, _, exponent = text.partition("e")
    if "." in head:
        head = head.rstrip("0").rstrip(".")
    return f"{head}e{exponent}" if exponent else head
