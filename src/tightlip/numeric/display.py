"""Numbers as people read them, rounded so that a sentence with the short number is still true.

The sentence decides the side. "At most ε", "less likely than δ", "with probability δ or more none leaks …": up.
"At least ε", "with probability at least δ": down. A δ that names what two opposite bounds are about (a column of a
table, a label, a premise) is told exactly: `format_exactly`, and as Python reads it in a `repr`: `format_python`.
To nearest is only for what nobody relies on: the value at fault in an error, a description.
"""

from __future__ import annotations

import math
import sys
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, Inexact
from fractions import Fraction

NEGLIGIBLE = 1e-12
_MOST_DIGITS = 34  # of a decimal that is told exactly: 1/8 + 1e-30 is, the 55 digits of the float 0.1 are not
_LONGEST_RATIO = 24  # characters; a ratio as long as that of the float 0.1 tells a reader nothing
_LONGEST_BITS = 150  # of either part of a ratio in a `repr`
_LARGEST = sys.float_info.max
_MOST_BITS = 4_000  # beyond it nobody reads a number exactly, and looking whether one could takes long


def format_up(value: float | Fraction, digits: int = 6) -> str:
    """Write a number with some significant digits, never below it.

    >>> format_up(0.12345612), format_up(1/3, 3), format_up(math.inf), format_up(2e-16), format_up(0.0)
    ('0.123457', '0.334', 'inf', '<1e-12', '0')
    """
    if 0 < value < NEGLIGIBLE:
        return "<1e-12"
    return _format(value, digits, ROUND_CEILING)


def format_down(value: float | Fraction, digits: int = 6) -> str:
    """Write a number with some significant digits, never above it.

    >>> format_down(0.12345678), format_down(-1/3, 3)
    ('0.123456', '-0.334')
    """
    return _format(value, digits, ROUND_FLOOR)


def format_about(value: float | Fraction, digits: int = 6) -> str:
    """Write a number to some significant digits, to nearest; also one outside the float range.

    >>> format_about(1 / 3), format_about(Fraction(10**401, 3)), format_about(Fraction(1, 2))
    ('0.333333', '3.33333e+400', '0.5')
    """
    if not isinstance(value, Fraction):
        return f"{value:.{digits}g}"
    return _format(value, digits, ROUND_HALF_EVEN)


def format_sides(value: float | Fraction, digits: int = 6, *, ratios: bool = True) -> tuple[str, str]:
    """Write a number from below and from above: the same text twice where a decimal or a ratio tells it exactly.

    >>> format_sides(Fraction(1, 10)), format_sides(0.1), format_sides(Fraction(1, 3))
    (('0.1', '0.1'), ('0.1', '0.100001'), ('1/3', '1/3'))
    """
    exact = _exact_text(Fraction(value), ratios=ratios)
    if exact is not None:
        return exact, exact
    return _format(value, digits, ROUND_FLOOR), _format(value, digits, ROUND_CEILING)


def format_exactly(value: float | Fraction) -> str:
    """Write a number as it is, a decimal or a ratio; where that is long, two numbers between which it lies.

    >>> format_exactly(Fraction("0.1000000001")), format_exactly(Fraction(1, 3)), format_exactly(0.1)
    ('0.1000000001', '1/3', '0.1 to 0.100001')
    """
    low, high = format_sides(value)
    return low if low == high else f"{low} to {high}"


def format_python(value: Fraction) -> str:
    """Write a rational as Python reads it, for a `repr`: 0.1 is the float, 1/10 is one tenth.

    >>> format_python(Fraction(0.1)), format_python(Fraction(1, 10)), format_python(Fraction(1))
    ('0.1', '1/10', '1')
    """
    nearest = float(value) if abs(value) <= _LARGEST else 0.0
    if Fraction(nearest) == value:
        return repr(nearest).removesuffix(".0")
    if max(abs(value.numerator), value.denominator).bit_length() > _LONGEST_BITS:
        return format_exactly(value)
    return str(value)


def format_count(count: int) -> str:
    """Write a whole number in groups of three digits.

    >>> format_count(1234567)
    '1,234,567'
    """
    return f"{count:,}"


def several(count: int, one: str, many: str | None = None) -> str:
    """Write a number of things, by the name of one of them.

    >>> several(1, "cell"), several(0, "cell"), several(1200, "row"), several(2, "person", "people")
    ('1 cell', '0 cells', '1,200 rows', '2 people')
    """
    return f"{format_count(count)} {one if count == 1 else many or one + 's'}"


def _exact_text(value: Fraction, *, ratios: bool) -> str | None:
    """A rational as a decimal or, if wanted, a ratio, if one of them is short."""
    if max(abs(value.numerator), value.denominator).bit_length() > _MOST_BITS:
        return None
    context = Context(prec=_MOST_DIGITS)
    quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    if not context.flags[Inexact]:
        return _plain(quotient)
    if not ratios or value.denominator > 10**_LONGEST_RATIO:
        return None
    ratio = f"{value.numerator}/{value.denominator}"
    return ratio if len(ratio) <= _LONGEST_RATIO else None


def _format(value: float | Fraction, digits: int, rounding: str) -> str:
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    exact = Fraction(value)
    return _plain(
        Context(prec=digits, rounding=rounding).divide(Decimal(exact.numerator), Decimal(exact.denominator))
    )


def _plain(short: Decimal) -> str:
    if not short:
        return "0"
    text = f"{short:f}" if -6 <= short.adjusted() < 15 else f"{short:e}"
    head, _, exponent = text.partition("e")
    if "." in head:
        head = head.rstrip("0").rstrip(".")
    return f"{head}e{exponent}" if exponent else head
