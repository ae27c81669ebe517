"""The four formulas behind every conversion, and why each is the best one.

Write s_x = K_xy/q_y for the lifts of one outcome, so Σ p_x s_x = 1. Any such vector is a column
of some channel whose other column has lifts as near to 1 as wanted, so the strongest implied
guarantee is an optimum over lift vectors, reached with one secret apart and all others equal:

    LDP(ε)  one secret e^ε times the others       PML = −log(p + e^−ε (1−p))        (Prop. 1)
            one secret e^−ε times the others      PMC = log(p + e^ε (1−p))          (Prop. 3)
    PML(ε)  all others at e^ε                     PMC = log p/(1 − e^ε (1−p))       (Thm 4.1)
    PMC(ε)  all others at e^−ε                    PML = log (1 − e^−ε (1−p))/p      (Thm 4.2)

All decrease in p, so p_min gives the worst secret, each is attained for every prior with that
p_min, and each stays valid when p_min is only a lower bound on the masses.

For two or more secrets PMC from PML is at least ε, and so is its PML again (the optimal vectors
satisfy both bounds), so applying Theorem 4 once in each direction is already the fixed point.

Amounts. A guarantee is computed with as e^−ε, from 1 (nothing leaks) down to 0 (no bound). Every
conversion is a rational function of e^−ε and p_min, so it is written once and evaluated in exact
rationals where ε and p_min allow it, and in balls otherwise. ε = ∞ is the number 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightlip.errors import InvalidInput, PreconditionFailed, quoted
from tightlip.numeric.ball import Ball, ball, enclose
from tightlip.numeric.display import format_down, format_python, format_up
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
        """Compute ε rounded up; with its exact ratio where every number it came from was exact."""
        if self.exact is None:
            return Nats(enclose(self.log)[1])
        if self.exact == 0:
            return Nats(math.inf)
        result = Nats.of_ratio(1 / self.exact)
        return result if self.known or self.exact == 1 else Nats(float(result))


Guarantee = tuple[Amount, Amount]


def exact_amount(decay: Fraction, *, known: bool = True) -> Amount:
    """Build the level −log(decay) of a rational decay in [0, 1]."""
    return Amount(lambda: ball(decay), lambda: -ball(decay).log(), decay, known)


NOTHING = exact_amount(Fraction(1))
UNBOUNDED = exact_amount(Fraction(0))


def read_level(epsilon: object, argument: str = "epsilon") -> Amount:
    """Read an ε ≥ 0, possibly infinite; a float counts as the rational it stores."""
    value = level(epsilon, argument, allow_infinite=True)
    if math.isinf(value):
        return UNBOUNDED
    ratio = exact_ratio(value)
    if ratio is not None:
        return exact_amount(min(1 / ratio, Fraction(1)))
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
        mass = _snap(mass)
    if not (0 < mass <= _HALF or mass == 1):
        raise InvalidInput(
            f"p_min must be in (0, 1/2], or 1 for one single secret, got {quoted(given)}; "
            "give the smallest positive mass of the prior (of two or more masses it is at most 1/2)."
        )
    return Mass(mass, known)


def _snap(mass: Fraction) -> Fraction:
    if _HALF < mass <= _HALF + _NOISE:
        return _HALF
    return Fraction(1) if abs(mass - 1) <= _NOISE else mass


def derive(formula: Callable[[Any, Any], Any], mass: Mass, amount: Amount) -> Amount:
    """Derive the level whose decay is formula(p_min, decay); nothing leaks about one single secret."""
    if mass.single:
        return NOTHING
    if amount.exact is not None:
        return exact_amount(formula(mass.value, amount.exact), known=mass.known and amount.known)

    def decay() -> Ball:
        return formula(ball(mass.value), amount.decay())

    return Amount(decay, lambda: -decay().log())


def total(first: Amount, second: Amount) -> Amount:
    """Add two levels."""
    if first.unbounded or second.unbounded:
        return UNBOUNDED
    if first.exact is not None and second.exact is not None:
        return exact_amount(first.exact * second.exact, known=first.known and second.known)
    return Amount(lambda: first.decay() * second.decay(), lambda: first.log() + second.log())


def largest(first: Amount, second: Amount) -> Nats:
    """Take the larger of two levels, rounded up; exact where both are."""
    if first.exact is not None and second.exact is not None:
        known = first.known and second.known
        return exact_amount(min(first.exact, second.exact), known=known).nats()
    return Nats(max(float(first.nats()), float(second.nats())))


def at_least(first: Amount, second: Amount) -> bool:
    """Whether ε_first ≥ ε_second is proved: by rationals, else by balls; undecided counts as no."""
    if first.exact is not None and second.exact is not None:
        return first.exact <= second.exact
    return proves_positive(lambda: second.decay() - first.decay())


def tighter(given: Amount, derived: Amount) -> Amount:
    """Take the smaller of two levels that both hold; the derived one unless the given one is proved smaller."""
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


def pml_from_ldp(epsilon: Amount, mass: Mass) -> Amount:
    """Apply Proposition 1: the PML level that LDP implies."""
    return derive(lambda p, u: p + u * (1 - p), mass, epsilon)


def pmc_from_ldp(epsilon: Amount, mass: Mass) -> Amount:
    """Apply Proposition 3: the PMC level that LDP implies."""
    return derive(lambda p, u: u / (p * u + (1 - p)), mass, epsilon)


def pml_from_pmc(epsilon: Amount, mass: Mass) -> Amount:
    """Apply Theorem 4.2: the PML level that PMC implies."""
    return derive(lambda p, u: p / (1 - u * (1 - p)), mass, epsilon)


def pmc_from_pml(epsilon: Amount, mass: Mass) -> Amount:
    """Apply Theorem 4.1: the PMC level that PML implies; infinite from log 1/(1−p_min) on."""
    if not at_least(exact_amount(1 - mass.value), epsilon):
        return UNBOUNDED
    return derive(lambda p, u: (u - (1 - p)) / (p * u), mass, epsilon)


def cap(mass: Mass) -> Amount:
    """Compute log 1/p_min: the PML of every channel is at most this."""
    return exact_amount(mass.value, known=mass.known)


def refine(lower: Amount, upper: Amount, mass: Mass | None) -> Guarantee:
    """Refine (lower, upper)-ALIP to the best (PMC, PML) levels that it implies.

    Without a prior only one thing follows: where one of the two is 0 so is the other, because
    lifts that are all ≥ 1, or all ≤ 1, and average to 1 are all 1.
    """
    if mass is None:
        zero = next((side for side in (lower, upper) if side.exact == 1), None)
        return (zero, zero) if zero else (lower, upper)
    return tighter(lower, pmc_from_pml(upper, mass)), tighter(upper, pml_from_pmc(lower, mass))


def ldp_from_alip(lower: Amount, upper: Amount, mass: Mass | None) -> Amount:
    """Add the best two levels: max lift over min lift."""
    return total(*refine(lower, upper, mass))


def require_pmc(epsilon: Amount, mass: Mass) -> Amount:
    """Derive the PMC level that PML implies, or raise `PreconditionFailed` where there is no finite one."""
    lower = pmc_from_pml(epsilon, mass)
    if lower.unbounded:
        raise PreconditionFailed(_refusal(epsilon, mass))
    return lower


def limit_of(mass: Mass) -> float:
    """Compute log 1/(1−p_min) as a float, rounded down, for messages."""
    return enclose(lambda: -(1 - ball(mass.value)).log())[0]


def limit_words(mass: Mass, digits: int = 6) -> str:
    """Write it, never above it; of a mass too small for a float, that mass, which is below the logarithm."""
    return format_down(limit_of(mass) or mass.value, digits)


def _refusal(epsilon: Amount, mass: Mass) -> str:
    value = float(epsilon.nats())
    return (
        f"epsilon must be below log 1/(1−p_min) = {limit_words(mass, 12)} nats (p_min = {format_python(mass.value)}) "
        f"for PML to bound PMC, LIP, ALIP or LDP, got epsilon={value!r}, {_excess(epsilon, mass)}; "
        f"{_remedy(epsilon)}, or keep the PML guarantee: a channel that meets it may rule a secret out."
    )


def _excess(epsilon: Amount, mass: Mass) -> str:
    if epsilon.unbounded:
        return "infinitely above"
    if epsilon.exact == 1 - mass.value:
        return "exactly at it, where the bound is infinite"
    above = enclose(lambda: epsilon.log() + (1 - ball(mass.value)).log())[1]
    return f"{above:.6g} above"


def _remedy(epsilon: Amount) -> str:
    if at_least(epsilon, exact_amount(Fraction(1, 2))):
        return "lower epsilon (no prior on two or more secrets allows log 2 or more)"
    needed = enclose(lambda: 1 - epsilon.decay())[1]
    return f"lower epsilon, or make every secret likelier than {format_up(needed)}"
