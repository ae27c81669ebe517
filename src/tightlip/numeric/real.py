"""Reading one real parameter: a position on the line, or a positive scale.

What a float can hold stays a float; what it cannot hold, such as "1/3", stays an exact Fraction.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.parse import number

Real = float | Fraction

_LARGEST = 1e150  # squares and ratios of parameters then stay inside the float range


def real(value: object, argument: str) -> Real:
    """Read a position: finite, at most 1e150 in size.

    >>> real(1, "mean"), real("1/3", "mean")
    (1.0, Fraction(1, 3))
    """
    read = number(value, argument)
    if not -_LARGEST <= read <= _LARGEST:
        raise InvalidInput(
            f"{argument} must be at most {_LARGEST:g} in size, got {float_text(read)}; choose a larger unit."
        )
    nearest = float(read)
    return nearest if nearest == read else read


def extended(value: object, argument: str) -> Real:
    """Read a position that may also be plus or minus infinity.

    >>> extended(math.inf, "b")
    inf
    """
    if isinstance(value, float) and math.isinf(value):
        return float(value)
    return real(value, argument)


def positive(value: object, argument: str, remedy: str) -> Real:
    """Read a scale: positive, between 1e-150 and 1e150; `remedy` ends the message when it is not.

    >>> positive("1/2", "sigma", "no noise is no mechanism")
    0.5
    """
    read = real(value, argument)
    if read <= 0:
        raise InvalidInput(f"{argument} must be positive, got {argument}={float(read)!r}; {remedy}.")
    if read < 1 / _LARGEST:
        raise InvalidInput(
            f"{argument} must be at least {1 / _LARGEST:g}, got {float_text(read)}; choose a smaller unit."
        )
    return read


def exact(value: Real) -> Real:
    """Convert a finite number to the rational it stands for; infinities stay floats.

    >>> exact(0.5), exact(-math.inf)
    (Fraction(1, 2), -inf)
    """
    return value if math.isinf(value) else Fraction(value)


def float_text(value: Real) -> str:
    """Write a number inside a message, also where it is too large for a float.

    >>> float_text(Fraction(10) ** 400)
    'about 1e400'
    """
    if isinstance(value, float):
        return repr(value)
    return quoted(value)
