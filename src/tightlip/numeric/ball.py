"""Proved enclosures of scalar expressions, by ball arithmetic (Arb through python-flint).

A ball is a midpoint with a rigorous radius. `enclose` evaluates an expression at growing
precision until the ball is narrow, then returns the two doubles that bracket it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

from tightlip.errors import NumericalFailure, quoted

Ball = Any  # flint.arb has no type stubs
End = TypeVar("End", float, Fraction)

_START_BITS = 96
_MAX_BITS = 1 << 16
_WANTED_BITS = 60


def ball(number: float | Fraction | int) -> Ball:
    """Turn an exact number (a float counts as the rational it stores) into a ball."""
    from flint import arb, fmpq

    if isinstance(number, Fraction):
        return arb(fmpq(number.numerator, number.denominator))
    return arb(number)


def enclose(expression: Callable[[], Ball]) -> tuple[float, float]:
    """Return doubles (lower, upper) that bracket the value of `expression()`.

    The expression is evaluated again with doubled precision until it is known to 60 bits, so
    cancellation inside it costs time, not truth.

    >>> lower, upper = enclose(lambda: ball(2).log())
    >>> lower <= 0.6931471805599453 <= upper and upper - lower < 2e-16
    True
    """
    return _settle(expression, lambda value: (round_down(value), round_up(value)))


def enclose_exactly(expression: Callable[[], Ball]) -> tuple[Fraction, Fraction]:
    """Return rationals (lower, upper) that bracket the value of `expression()`, also beyond the range of doubles.

    >>> lower, upper = enclose_exactly(lambda: ball(-5000).exp())
    >>> 0 < lower < upper < Fraction(10) ** -2171
    True
    """
    return _settle(expression, ball_ends)


def ball_ends(value: Ball) -> tuple[Fraction, Fraction]:
    """Return both ends of a finite ball, exactly."""
    return _rational(value.lower()), _rational(value.upper())


def _rational(end: Ball) -> Fraction:
    mantissa, exponent = end.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _settle(expression: Callable[[], Ball], ends: Callable[[Ball], tuple[End, End]]) -> tuple[End, End]:
    """Evaluate with growing precision until 60 bits are known, and take the ends of the ball."""
    from flint import ctx

    bits = _START_BITS
    while True:
        with ctx.workprec(bits):
            value = expression()
            if value.is_finite() and (value.is_zero() or value.rel_accuracy_bits() >= _WANTED_BITS):
                return ends(value)
            if bits >= _MAX_BITS:
                if value.is_finite():
                    return ends(value)
                raise NumericalFailure(
                    f"expression could not be enclosed with {bits} bits, got {value}; "
                    "move the arguments away from the edge of the formula's domain."
                )
        bits *= 2


def nearest(expression: Callable[[], Ball]) -> float:
    """Round `expression()` to the nearest double; one of the two nearest at a tie.

    >>> nearest(lambda: ball(Fraction(1, 3)))
    0.3333333333333333
    """
    from flint import ctx

    bits = _START_BITS
    while bits <= _MAX_BITS:
        with ctx.workprec(bits):
            value = expression()
            low, high = float(value.lower()), float(value.upper())
        if low == high:
            return low
        bits *= 2
    return high


def round_up(value: Ball) -> float:
    """Round a ball up: the smallest double found that is not below it."""
    top = value.upper()
    result = float(top)
    while not ball(result) >= top:
        result = math.nextafter(result, math.inf)
    return result


def round_down(value: Ball) -> float:
    """Round a ball down: the largest double found that is not above it."""
    bottom = value.lower()
    result = float(bottom)
    while not ball(result) <= bottom:
        result = math.nextafter(result, -math.inf)
    return result


def log_bounds(ratio: Fraction) -> tuple[float, float]:
    """Bracket log(ratio) for a positive rational; exactly 0 for 1.

    >>> log_bounds(Fraction(1))
    (0.0, 0.0)
    """
    if ratio == 1:
        return 0.0, 0.0
    if ratio <= 0:
        raise NumericalFailure(f"ratio must be positive to have a logarithm, got {quoted(ratio)}.")
    return enclose(lambda: ball(ratio).log())


def exp_bounds(exponent: float | Fraction) -> tuple[float, float]:
    """Bracket e^exponent for a float or rational exponent.

    >>> exp_bounds(0.0)
    (1.0, 1.0)
    """
    if exponent == 0:
        return 1.0, 1.0
    return enclose(lambda: ball(exponent).exp())


def log_exceeds(ratio: Fraction, threshold: float | Fraction) -> bool:
    """Decide log(ratio) > threshold exactly, for a positive rational and a float or rational.

    Equality with a nonzero rational is impossible (e^t is transcendental for rational t ≠ 0), so
    growing precision always decides.

    >>> log_exceeds(Fraction(2), 0.6931471805599453), log_exceeds(Fraction(2), 0.6931471805599454)
    (True, False)
    """
    from flint import ctx

    if threshold == 0 or (isinstance(threshold, float) and math.isinf(threshold)):
        return ratio > 1 if threshold == 0 else threshold < 0
    bits = _START_BITS
    while bits <= _MAX_BITS:
        with ctx.workprec(bits):
            difference = ball(ratio).log() - ball(threshold)
            if difference > 0:
                return True
            if difference < 0:
                return False
        bits *= 2
    raise NumericalFailure(f"could not decide log({quoted(ratio)}) > {threshold!r} with {_MAX_BITS} bits.")
