"""Rationals as floats on the side that is asked for, also beyond the float range."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

from tightlip.numeric.rounding import up


def float_above(value: Fraction) -> float:
    """The nearest float that is not below; infinite beyond the range.

    >>> float_above(Fraction(1, 3)) > Fraction(1, 3), float_above(Fraction(10) ** 400)
    (True, inf)
    """
    try:
        near = float(value)
    except OverflowError:
        return math.inf if value > 0 else -sys.float_info.max
    return near if Fraction(near) >= value else up(near)


def float_below(value: Fraction) -> float:
    """The nearest float that is not above.

    >>> float_below(Fraction(1, 3)) <= Fraction(1, 3)
    True
    """
    return -float_above(-value) if value else 0.0
