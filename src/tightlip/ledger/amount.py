"""Levels that are added without rounding: a rational number of nats, and the logarithm of a rational.

    a = plain + log ratio

Every level that can be written is of this form (a float counts as the rational it stores), sums of them are again, and
any two can be compared: plain = log ratio holds for rationals only where plain = 0 and ratio = 1 (Lindemann). A sum is
rounded once, upwards.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction

from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.ball import Ball, ball, enclose, enclose_exactly, log_exceeds
from tightlip.numeric.quantity import Nats, exact_level
from tightlip.numeric.rounding import float_above

_MOST_BITS = 2048  # a longer ratio costs time in every sum and is given up for a bound of 64 bits


@dataclass(frozen=True, slots=True)
class Amount:
    """A level in nats, `plain` + log `ratio`; without bound where `endless`.

    >>> half = Amount(ratio=Fraction(2))
    >>> (half + half).nats().ratio
    Fraction(4, 1)
    """

    plain: Fraction = Fraction(0)
    ratio: Fraction = Fraction(1)
    endless: bool = False

    @classmethod
    def of(cls, level: float | Fraction) -> Amount:
        """Hold a level that bounds something from above: by its exact ratio where it has one."""
        if isinstance(level, Nats) and level.ratio is not None:
            return cls(ratio=level.ratio)
        if isinstance(level, float) and math.isinf(level):
            return ENDLESS
        return cls(Fraction(level))

    def __add__(self, other: Amount) -> Amount:
        if self.endless or other.endless:
            return ENDLESS
        return Amount(self.plain + other.plain, self.ratio * other.ratio)

    def __sub__(self, other: Amount) -> Amount:
        """Take back what was added; both are finite."""
        return Amount(self.plain - other.plain, self.ratio / other.ratio)

    def exceeds(self, other: Amount) -> bool:
        """Decide whether this level is larger, exactly."""
        if self.endless or other.endless:
            return self.endless and not other.endless
        return log_exceeds(self.ratio / other.ratio, other.plain - self.plain)

    def nats(self) -> Nats:
        """Round up once; with the exact ratio where there is one."""
        if self.endless:
            return Nats(math.inf)
        if not self.plain:
            return Nats.of_ratio(self.ratio)
        if self.ratio == 1:
            return Nats(float_above(self.plain))
        return Nats(enclose(self.ball)[1])

    def ball(self) -> Ball:
        """Enclose a finite level."""
        return ball(self.plain) + ball(self.ratio).log()

    def level(self) -> Nats | Fraction:
        """Give it to a conversion: exactly where that is possible, rounded up otherwise."""
        return self.plain if self.ratio == 1 and not self.endless else self.nats()

    @property
    def exact(self) -> bool:
        """Whether e^level is a rational that we know, and short enough to go on with."""
        return not self.plain and self.ratio.numerator.bit_length() <= _MOST_BITS

    def decay(self) -> Fraction:
        """Compute e^−level, or where that is no rational that we know, one below it."""
        if self.endless:
            return Fraction(0)
        if self.exact:
            return 1 / self.ratio
        return enclose_exactly(lambda: (-ball(self.plain)).exp() / ball(self.ratio))[0]

    def rounded(self) -> Amount:
        """Give up the exact ratio: what was computed with bounds is no exact number."""
        return Amount.of(float(self.nats()))


NOTHING = Amount()
ENDLESS = Amount(endless=True)


def read_guarantee(level: object, argument: str, *, allow_infinite: bool = False) -> Nats:
    """Read a level that bounds something from above: exact ratios stay exact, what is rounded is rounded up.

    >>> read_guarantee("1/10", "pml") >= 0.1
    True
    """
    value = exact_level(level, argument, allow_infinite=allow_infinite)
    if isinstance(value, Nats) and value.ratio is None and value.rounding != "up":
        raise InvalidInput(
            f"{argument} must be rounded up to bound anything, got {float(value)!r} rounded {value.rounding}; "
            "give the guarantee, not the attack."
        )
    return Amount.of(Fraction(level) if isinstance(level, int) else value).nats()


def read_charge(level: object, argument: str) -> Nats:
    """Read the level of a guarantee that is charged: finite and positive.

    Raises
    ------
    InvalidInput
        For what is no number, negative, infinite, 0 or below the normal range of floats, or rounded down.

    >>> read_charge("factor 3", "level").ratio
    Fraction(3, 1)
    """
    value = read_guarantee(level, argument)
    if value < sys.float_info.min:
        raise InvalidInput(
            f"{argument} must be a positive number of nats, got {quoted(level)}; "
            "leave out a release that says nothing about the secret."
        )
    return value
