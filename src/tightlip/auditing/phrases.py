"""Numbers of an audit in words: guarantees rounded up, attacks down, a unit always."""

from __future__ import annotations

import math
from fractions import Fraction

from tightlip.numeric.ball import exp_bounds
from tightlip.numeric.display import format_about, format_down, format_sides, format_up
from tightlip.numeric.quantity import Nats, Probability, Rounding
from tightlip.numeric.unit import Unit, in_unit, with_unit

LONG, SHORT = 6, 3
_HUGE = 700.0
_ROUNDED = {"up": format_up, "down": format_down, "nearest": format_about}
_SUMS = Fraction(1, 10**9)  # more than the relative rounding of an attack's sums


def leakage(amount: Nats, unit: Unit, digits: int = LONG) -> str:
    """An amount with its unit, rounded to the side it was rounded to.

    >>> leakage(Nats(0.51234567), "nats"), leakage(Nats(0.51234567, rounding="down"), "nats")
    ('0.512346 nats', '0.512345 nats')
    >>> leakage(Nats.of_ratio(Fraction(3)), "bits"), leakage(Nats.of_ratio(Fraction(2)), "bits")
    ('1.58497 bits', '1 bit')
    """
    return with_unit(_ROUNDED[amount.rounding](in_unit(amount, unit), digits), unit)


def budget_words(budget: Nats, unit: Unit, *, kept: bool = True) -> str:
    """A budget as it was given where that is a short decimal; otherwise up, or down where it is not kept.

    >>> budget_words(Nats(0.1), "nats"), budget_words(Nats.of_ratio(Fraction(3)), "nats"), leakage(Nats(0.1), "nats")
    ('0.1 nats', '1.09862 nats', '0.100001 nats')
    """
    value = in_unit(budget, unit)
    nearest = format_about(value, LONG)
    if float(nearest) == value:
        return with_unit(nearest, unit)
    side: Rounding = "up" if kept else "down"
    exact = Nats(float(budget), rounding=side) if budget.ratio is None else Nats.of_ratio(budget.ratio, side)
    return leakage(exact, unit)


def factor(amount: Nats, *, up: bool = True) -> str:
    """e^amount, rounded up, or down where it is exceeded.

    >>> factor(Nats.of_ratio(Fraction(5, 2))), factor(Nats(800.0)), factor(Nats(math.inf))
    ('2.5', 'over 1e300', 'any number of')
    """
    shown = format_up if up else format_down
    if amount.ratio is not None:
        return shown(amount.ratio, SHORT)
    if math.isinf(amount):
        return "any number of"
    return shown(exp_bounds(float(amount))[up], SHORT) if amount < _HUGE else "over 1e300"


def by_factor(amount: Nats, *, up: bool = True) -> str:
    """What a probability is multiplied by: "a factor of 12".

    >>> by_factor(Nats.of_ratio(Fraction(12))), by_factor(Nats(math.inf))
    ('a factor of 12', 'any factor')
    """
    return "any factor" if math.isinf(amount) else f"a factor of {factor(amount, up=up)}"


def about(share: float | Fraction) -> str:
    """A share in per cent, to nearest, but 100 % only where it is everybody.

    >>> about(Fraction(1, 3)), about(Probability.of(Fraction(1, 3))), about(Fraction(9999, 10000)), about(1.0)
    ('33.3 %', '33.3 %', 'over 99.9 %', '100 %')
    """
    exact = _exact(share)
    shown = format_about(float(100 * exact), SHORT)
    return "over 99.9 %" if shown == "100" and exact < 1 else f"{shown} %"


def both_sides(share: Fraction) -> tuple[str, str]:
    """A probability that bounds are about, in per cent from below and from above; often the same text.

    >>> both_sides(Fraction("0.01004")), both_sides(Fraction(1, 3))
    (('1.004 %', '1.004 %'), ('33.3333 %', '33.3334 %'))
    """
    low, high = format_sides(100 * share, LONG, ratios=False)
    return f"{low} %", f"{high} %"


def at_most(share: float | Fraction) -> str:
    """A share in per cent, rounded up.

    >>> at_most(Fraction(1, 3))
    '33.4 %'
    """
    return f"{format_up(100 * _exact(share), SHORT)} %"


def no_more(share: float | Fraction) -> str:
    """A share in per cent, exactly where three digits tell it, otherwise as a bound.

    >>> no_more(Fraction(2, 5)), no_more(Fraction(1, 3)), no_more(Probability(0.25))
    ('40 %', 'at most 33.4 %', 'at most 25 %')
    """
    above, bound = at_most(share), isinstance(share, Probability) and share.fraction is None
    return above if above == at_least(share) and not bound else f"at most {above}"


def at_least(share: float | Fraction) -> str:
    """A share in per cent, rounded down.

    >>> at_least(Fraction(2, 3))
    '66.6 %'
    """
    return f"{format_down(100 * _exact(share), SHORT)} %"


def reached(posterior: float | Fraction, least: float | Fraction | None) -> str:
    """A posterior, to nearest, or the range that it is told as.

    >>> reached(Fraction(2, 7), None), reached(Fraction(1, 2), Fraction(1, 4))
    ('28.6 %', 'between 25 % and 50 %')
    """
    return about(posterior) if least is None else f"between {at_least(least)} and {at_most(posterior)}"


def surely(share: float) -> str:
    """A share that an attack reaches, added up in floats: rounded down, less what the sums may be off.

    >>> surely(0.5)
    '49.9 %'
    """
    return at_least(Fraction(share) * (1 - _SUMS))


def _exact(share: float | Fraction) -> Fraction:
    exact = share.fraction if isinstance(share, Probability) else None
    return Fraction(share) if exact is None else exact
