"""A guarantee as the conversions compute with it: e^−ε, from 1 (nothing leaks) down to 0 (no bound).

Every conversion is a rational function of e^−ε and p_min, so it is written once and evaluated
in exact rationals where ε and p_min allow it, and in balls otherwise. ε = ∞ is the number 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.ball import Ball, ball, enclose
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import Nats, Probability, exact_level, exact_ratio, level

_HALF = Fraction(1, 2)
_NOISE = Fraction(1, 10**9)  # a prior of floats sums to 1 only up to this
_START_BITS = 96
_MAX_BITS = 1 << 14


@dataclass(frozen=True, slots=True)
class Mass:
    """The smallest mass of a prior as a rational; `known` where it was not given as a float."""

    value: Fraction
    known: bool

    @property
    def single(self) -> bool:
        """Whether there is one secret only, so that nothing can leak."""
        return self.value == 1


@dataclass(frozen=True, slots=True)
class Amount:
    """A level ε, held as e^−ε and as ε; `exact` is e^−ε where it is a rational we know."""

    decay: Callable[[], Ball]
    log: Callable[[], Ball]
    exact: Fraction | None = None
    known: bool = False

    @property
    def unbounded(self) -> bool:
        """Whether ε is infinite."""
        return self.exact == 0

    def nats(self) -> Nats:
        """ε rounded up; with its exact ratio where every number it came from was exact."""
        if self.exact is None:
            return Nats(enclose(self.log)[1])
        if self.exact == 0:
            return Nats(math.inf)
        result = Nats.of_ratio(1 / self.exact)
        return result if self.known or self.exact == 1 else Nats(float(result))


def exactly(decay: Fraction, *, known: bool = True) -> Amount:
    """The level −log(decay) of a rational decay in [0, 1]."""
    return Amount(lambda: ball(decay), lambda: -ball(decay).log(), decay, known)


NOTHING = exactly(Fraction(1))
UNBOUNDED = exactly(Fraction(0))


def read_level(epsilon: object, argument: str = "epsilon") -> Amount:
    """Read an ε ≥ 0, possibly infinite; a float counts as the rational it stores."""
    value = level(epsilon, argument, allow_infinite=True)
    if math.isinf(value):
        return UNBOUNDED
    ratio = exact_ratio(value)
    if ratio is not None:
        return exactly(min(1 / ratio, Fraction(1)))
    # level() gives the nearest float of an exact ε; a guarantee must not lose the rest
    exact = Fraction(epsilon) if isinstance(epsilon, int) else exact_level(epsilon, argument)
    return Amount(lambda: (-ball(exact)).exp(), lambda: ball(exact))


def read_mass(p_min: object) -> Mass:
    """Read a smallest mass: a number in (0, 1/2] or 1, or anything with a `min_mass`."""
    given = getattr(p_min, "min_mass", p_min)
    if isinstance(given, Probability) and given.fraction is not None:
        given = given.fraction
    value = number(given, "p_min")
    known = isinstance(value, Fraction)
    mass = Fraction(value)
    if given is not p_min:
        mass = _snapped(mass)
    if not (0 < mass <= _HALF or mass == 1):
        raise InvalidInput(
            f"p_min must be in (0, 1/2], or 1 for one single secret, got {quoted(given)}; "
            "give the smallest positive mass of the prior (of two or more masses it is at most 1/2)."
        )
    return Mass(mass, known)


def _snapped(mass: Fraction) -> Fraction:
    if _HALF < mass <= _HALF + _NOISE:
        return _HALF
    return Fraction(1) if abs(mass - 1) <= _NOISE else mass


def derive(formula: Callable[[Any, Any], Any], mass: Mass, amount: Amount) -> Amount:
    """The level whose decay is formula(p_min, decay); nothing leaks about one single secret."""
    if mass.single:
        return NOTHING
    if amount.exact is not None:
        return exactly(formula(mass.value, amount.exact), known=mass.known and amount.known)

    def decay() -> Ball:
        return formula(ball(mass.value), amount.decay())

    return Amount(decay, lambda: -decay().log())


def total(first: Amount, second: Amount) -> Amount:
    """The sum of two levels."""
    if first.unbounded or second.unbounded:
        return UNBOUNDED
    if first.exact is not None and second.exact is not None:
        return exactly(first.exact * second.exact, known=first.known and second.known)
    return Amount(lambda: first.decay() * second.decay(), lambda: first.log() + second.log())


def largest(first: Amount, second: Amount) -> Nats:
    """The larger of two levels, rounded up; exact where both are."""
    if first.exact is not None and second.exact is not None:
        known = first.known and second.known
        return exactly(min(first.exact, second.exact), known=known).nats()
    return Nats(max(float(first.nats()), float(second.nats())))


def at_least(first: Amount, second: Amount) -> bool:
    """Whether ε_first ≥ ε_second is proved: by rationals, else by balls; undecided counts as no."""
    if first.exact is not None and second.exact is not None:
        return first.exact <= second.exact
    return proves_positive(lambda: second.decay() - first.decay())


def tighter(given: Amount, derived: Amount) -> Amount:
    """The smaller of two levels that both hold; the derived one unless the given one is proved smaller."""
    return given if at_least(derived, given) else derived


def proves_positive(expression: Callable[[], Ball]) -> bool:
    """Whether an expression is certainly positive; still undecided with 2¹⁴ bits counts as no.

    For the conversions of floats, equality cannot happen (e^a and e^b of distinct rationals are
    linearly independent over the algebraic numbers, by Lindemann and Weierstrass), so more bits decide.
    """
    from flint import ctx

    bits = _START_BITS
    while bits <= _MAX_BITS:
        with ctx.workprec(bits):
            value = expression()
            if value > 0:
                return True
            if value <= 0:
                return False
        bits *= 2
    return False
