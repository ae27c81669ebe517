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
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tightlip.convert._amount import UNBOUNDED, Amount, Mass, at_least, derive, exactly, tighter, total
from tightlip.errors import PreconditionFailed
from tightlip.numeric.ball import ball, enclose
from tightlip.numeric.display import format_down, format_python, format_up

Guarantee = tuple[Amount, Amount]


def _ldp_pml(p: Any, u: Any) -> Any:
    return p + u * (1 - p)


def _ldp_pmc(p: Any, u: Any) -> Any:
    return u / (p * u + (1 - p))


def _pml_pmc(p: Any, u: Any) -> Any:
    return (u - (1 - p)) / (p * u)


def _pmc_pml(p: Any, u: Any) -> Any:
    return p / (1 - u * (1 - p))


def pml_from_ldp(epsilon: Amount, mass: Mass) -> Amount:
    """Proposition 1: the PML level that LDP implies."""
    return derive(_ldp_pml, mass, epsilon)


def pmc_from_ldp(epsilon: Amount, mass: Mass) -> Amount:
    """Proposition 3: the PMC level that LDP implies."""
    return derive(_ldp_pmc, mass, epsilon)


def pml_from_pmc(epsilon: Amount, mass: Mass) -> Amount:
    """Theorem 4.2: the PML level that PMC implies."""
    return derive(_pmc_pml, mass, epsilon)


def pmc_from_pml(epsilon: Amount, mass: Mass) -> Amount:
    """Theorem 4.1: the PMC level that PML implies; infinite from log 1/(1−p_min) on."""
    limit = exactly(1 - mass.value)
    return derive(_pml_pmc, mass, epsilon) if at_least(limit, epsilon) else UNBOUNDED


def cap(mass: Mass) -> Amount:
    """log 1/p_min: the PML of every channel is at most this."""
    return exactly(mass.value, known=mass.known)


def refined(lower: Amount, upper: Amount, mass: Mass | None) -> Guarantee:
    """The best (PMC, PML) levels that (lower, upper)-ALIP implies.

    Without a prior only one thing follows: where one of the two is 0 so is the other, because
    lifts that are all ≥ 1, or all ≤ 1, and average to 1 are all 1.
    """
    if mass is None:
        zero = next((side for side in (lower, upper) if side.exact == 1), None)
        return (zero, zero) if zero else (lower, upper)
    return tighter(lower, pmc_from_pml(upper, mass)), tighter(upper, pml_from_pmc(lower, mass))


def ldp_from_alip(lower: Amount, upper: Amount, mass: Mass | None) -> Amount:
    """The sum of the best two levels: max lift over min lift."""
    return total(*refined(lower, upper, mass))


def checked(epsilon: Amount, mass: Mass) -> Amount:
    """The PMC level that PML implies, or `PreconditionFailed` where there is no finite one."""
    lower = pmc_from_pml(epsilon, mass)
    if lower.unbounded:
        raise PreconditionFailed(_refusal(epsilon, mass))
    return lower


def limit_of(mass: Mass) -> float:
    """log 1/(1−p_min) as a float, rounded down, for messages."""
    return enclose(lambda: -(1 - ball(mass.value)).log())[0]


def limit_words(mass: Mass, digits: int = 6) -> str:
    """The same as text, never above it; of a mass too small for a float, that mass, which is below the logarithm."""
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
    if at_least(epsilon, exactly(Fraction(1, 2))):
        return "lower epsilon (no prior on two or more secrets allows log 2 or more)"
    needed = enclose(lambda: 1 - epsilon.decay())[1]
    return f"lower epsilon, or make every secret likelier than {format_up(needed)}"
