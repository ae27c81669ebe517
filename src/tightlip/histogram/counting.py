"""Counting in two ways: with exact rationals where numbers are short, with balls (Arb) at any size.

A formula is written once, as a function of its `Field`. With `EXACT` it gives a Fraction, or raises
`NotExact` where a binomial is too long or e^ε is not rational; with `BALLS` it gives a proved enclosure,
for binomials of 10^8 and more without overflow.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, Protocol

from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.ball import Ball, ball
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import Nats, exact_level, exact_ratio, log_of

Number = Any  # a Fraction, or a ball
LARGEST = 10**8
_EXACT_BITS = 4096


class NotExact(Exception):
    """The formula has no short rational value; evaluate it with balls."""


@dataclass(frozen=True, slots=True)
class Growth:
    """e^ε of a randomised response: a rational where it was given as one, otherwise ε itself."""

    ratio: Fraction | None
    epsilon: float | Fraction

    @property
    def arguments(self) -> dict[str, Any]:
        """What `read_growth` reads it from."""
        return {"epsilon": self.epsilon} if self.ratio is None else {"ratio": self.ratio}


class Field(Protocol):
    """What a formula needs from its numbers."""

    def binomial(self, n: int, k: int) -> Number:
        """C(n, k); 0 outside 0 ≤ k ≤ n."""

    def growth(self, growth: Growth) -> Number:
        """e^ε."""

    def number(self, value: int | Fraction) -> Number:
        """An integer or a rational."""

    def power(self, base: int | Fraction, exponent: int) -> Number:
        """A rational to a whole power."""


class _Exact:
    def binomial(self, n: int, k: int) -> Fraction:
        if not 0 <= k <= n:
            return Fraction(0)
        if not is_short(n, k):
            raise NotExact
        return Fraction(math.comb(n, k))

    def growth(self, growth: Growth) -> Fraction:
        if growth.ratio is None:
            raise NotExact
        return growth.ratio

    def number(self, value: int | Fraction) -> Fraction:
        return Fraction(value)

    def power(self, base: int | Fraction, exponent: int) -> Fraction:
        bits = Fraction(base).numerator.bit_length() + Fraction(base).denominator.bit_length()
        if bits * exponent > _EXACT_BITS:
            raise NotExact
        return Fraction(base) ** exponent


class _Balls:
    def binomial(self, n: int, k: int) -> Ball:
        if not 0 <= k <= n:
            return ball(0)
        if is_short(n, k):
            return ball(math.comb(n, k))
        return (ball(n + 1).lgamma() - ball(k + 1).lgamma() - ball(n - k + 1).lgamma()).exp()

    def growth(self, growth: Growth) -> Ball:
        return ball(growth.epsilon).exp() if growth.ratio is None else ball(growth.ratio)

    def number(self, value: int | Fraction) -> Ball:
        return ball(value)

    def power(self, base: int | Fraction, exponent: int) -> Ball:
        return ball(base) ** exponent


EXACT: Field = _Exact()
BALLS: Field = _Balls()


def is_short(n: int, k: int) -> bool:
    """Whether C(n, k) has at most a few thousand bits.

    >>> is_short(10**8, 3), is_short(10**8, 10**7)
    (True, False)
    """
    return min(k, n - k) * max(n, 1).bit_length() <= _EXACT_BITS


def largest(values: list[Number]) -> Number:
    """The largest of some numbers of one field; of balls a ball that holds it.

    >>> largest([Fraction(1, 3), Fraction(1, 2)])
    Fraction(1, 2)
    """
    return max(values) if isinstance(values[0], Fraction) else reduce(lambda a, b: a.max(b), values)


def smallest(values: list[Number]) -> Number:
    """The smallest of some numbers of one field; of balls a ball that holds it.

    >>> smallest([Fraction(1, 3), Fraction(1, 2)])
    Fraction(1, 3)
    """
    return min(values) if isinstance(values[0], Fraction) else reduce(lambda a, b: a.min(b), values)


def exactly(formula: Callable[[Field], Number]) -> Fraction | None:
    """The rational value of a formula, where it has a short one."""
    try:
        return Fraction(formula(EXACT))
    except NotExact:
        return None


def read_growth(epsilon: object, ratio: object) -> Growth:
    """Read the strength of a randomised response, given as ε in nats or as e^ε.

    >>> read_growth(None, "5/2").ratio
    Fraction(5, 2)
    """
    if (epsilon is None) == (ratio is None):
        raise InvalidInput(
            f"give one of epsilon and ratio = e^epsilon, got epsilon={quoted(epsilon)} and ratio={quoted(ratio)}."
        )
    if ratio is not None:
        growth = Fraction(number(ratio, "ratio"))
        if growth < 1:
            raise InvalidInput(
                f"ratio must be at least 1, got {quoted(ratio)}; it is e^epsilon, epsilon ≥ 0."
            )
        return Growth(growth, log_of(growth))
    level = exact_level(epsilon)
    known = exact_ratio(epsilon if isinstance(epsilon, Nats) else level)
    return Growth(known, level)
