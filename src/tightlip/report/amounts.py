"""Write amounts and texts: a unit always, infinity by name, guarantees rounded up and attacks down."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tightlip.errors import visible
from tightlip.numeric.ball import exp_bounds
from tightlip.numeric.display import (
    format_about,
    format_count,
    format_down,
    format_sides,
    format_up,
)
from tightlip.numeric.parse import exact_text
from tightlip.numeric.quantity import Nats, Probability, Rounding
from tightlip.showing import Unit as Unit

if TYPE_CHECKING:
    from tightlip.auditing.result import CellRisk, Finding

LONG, SHORT = 6, 3
_HUGE = 700.0
_NEARLY_ONE = 1.1  # three digits of a smaller factor would say next to nothing about it
_ROUNDED = {"up": format_up, "down": format_down, "nearest": format_about}
_SUMS = Fraction(1, 10**9)  # more than the relative rounding of an attack's sums


def in_unit(amount: Nats, unit: Unit) -> float:
    """Convert an amount to a plain float in the unit asked for, rounded to the side it was rounded to.

    >>> in_unit(Nats(0.0), "bits")
    0.0
    """
    return amount.in_bits() if unit == "bits" else float(amount)


def with_unit(number: str, unit: Unit) -> str:
    """Append its unit to a number that was written out.

    >>> with_unit("1", "bits"), with_unit("0.5", "nats"), with_unit("inf", "nats")
    ('1 bit', '0.5 nats', 'infinite')
    """
    if number in ("inf", "infinite"):
        return "infinite"
    return f"{number} {unit[:-1] if number == '1' else unit}"


def leakage(amount: Nats, unit: Unit, digits: int = LONG) -> str:
    """Write an amount with its unit, rounded to the side it was rounded to.

    >>> leakage(Nats(0.51234567), "nats"), leakage(Nats(0.51234567, rounding="down"), "nats")
    ('0.512346 nats', '0.512345 nats')
    >>> leakage(Nats.of_ratio(Fraction(3)), "bits"), leakage(Nats.of_ratio(Fraction(2)), "bits")
    ('1.58497 bits', '1 bit')
    """
    return with_unit(_ROUNDED[amount.rounding](in_unit(amount, unit), digits), unit)


def budget_words(budget: Nats, unit: Unit, *, kept: bool = True) -> str:
    """Write a budget as it was given where that is a short decimal; otherwise up, or down where it is not kept.

    >>> budget_words(Nats(0.1), "nats"), budget_words(Nats.of_ratio(Fraction(3)), "nats"), leakage(Nats(0.1), "nats")
    ('0.1 nats', '1.09862 nats', '0.100001 nats')
    """
    given = given_decimal(in_unit(budget, unit))
    if given is not None:
        return with_unit(given, unit)
    side: Rounding = "up" if kept else "down"
    exact = Nats(float(budget), rounding=side) if budget.ratio is None else Nats.of_ratio(budget.ratio, side)
    return leakage(exact, unit)


def given_decimal(value: float) -> str | None:
    """The short decimal that a budget was given as: one is read as the double at or just below it.

    >>> given_decimal(0.1), given_decimal(math.nextafter(0.1, 0)), given_decimal(1 / 3)
    ('0.1', '0.1', None)
    """
    shown = format_about(value, LONG)
    return shown if value in (float(shown), math.nextafter(float(shown), 0.0)) else None


def budget_given(budget: Nats) -> str:
    """Write a budget as options take it, the very level: a factor where it is one, otherwise nats.

    >>> budget_given(Nats.of_ratio(Fraction("4.4866"))), budget_given(Nats.of_ratio(Fraction(4, 3)))
    ('factor 4.4866', 'factor 4/3')
    >>> budget_given(Nats(1.5)), budget_given(Nats(1 / 3))
    ('1.5 nats', '0.3333333333333333 nats')
    """
    if budget.ratio is not None:
        low, high = format_sides(budget.ratio)
        return f"factor {low if low == high else exact_text(budget.ratio)}"
    return f"{given_decimal(float(budget)) or repr(float(budget))} nats"


def factor_above(amount: Nats) -> Fraction:
    """Compute e^amount, exactly or rounded up; of a finite amount.

    >>> factor_above(Nats.of_ratio(Fraction(5, 2))), factor_above(Nats(1.0)) > math.e
    (Fraction(5, 2), True)
    """
    return Fraction(exp_bounds(float(amount))[1]) if amount.ratio is None else amount.ratio


def times(factor: str) -> str:
    """Write how many times, given a factor in words.

    >>> times("2"), times("2.5")
    ('twice', '2.5 times')
    """
    return "twice" if factor == "2" else f"{factor} times"


def factor(amount: Nats, *, up: bool = True) -> str:
    """Write e^amount, rounded up, or down where it is exceeded.

    >>> factor(Nats.of_ratio(Fraction(5, 2))), factor(Nats(800.0)), factor(Nats(math.inf))
    ('2.5', 'over 1e300', 'any number of')
    >>> factor(Nats.of_ratio(Fraction("1.0001")))
    '1.0001'
    """
    shown = format_up if up else format_down
    if amount.ratio is None and math.isinf(amount):
        return "any number of"
    if amount.ratio is None and amount >= _HUGE:
        return "over 1e300"
    times = exp_bounds(float(amount))[up] if amount.ratio is None else amount.ratio
    return shown(times, LONG if times < _NEARLY_ONE else SHORT)


def factor_first(amount: Nats, unit: Unit) -> str:
    """Write an amount as people think of it: the factor, then in its unit; three digits, rounded to its side.

    >>> factor_first(Nats.of_ratio(Fraction(3)), "nats"), factor_first(Nats(0.0), "nats")
    ('3x (1.1 nats)', '1x (0 nats)')
    """
    if math.isinf(amount):
        return "infinite"
    return f"{factor(amount, up=amount.rounding != 'down')}x ({leakage(amount, unit, SHORT)})"


def by_factor(amount: Nats, *, up: bool = True) -> str:
    """Write what a probability is multiplied by: "a factor of 12".

    >>> by_factor(Nats.of_ratio(Fraction(12))), by_factor(Nats(math.inf))
    ('a factor of 12', 'any factor')
    """
    return "any factor" if math.isinf(amount) else f"a factor of {factor(amount, up=up)}"


def about(share: float | Fraction) -> str:
    """Write a share in per cent, to nearest, but 100 % only where it is everybody.

    >>> about(Fraction(1, 3)), about(Probability.of(Fraction(1, 3))), about(Fraction(9999, 10000)), about(1.0)
    ('33.3 %', '33.3 %', 'over 99.9 %', '100 %')
    """
    exact = _exact(share)
    shown = format_about(float(100 * exact), SHORT)
    return "over 99.9 %" if shown == "100" and exact < 1 else f"{shown} %"


def both_sides(share: Fraction) -> tuple[str, str]:
    """Write a probability that bounds are about, in per cent from below and from above; often the same text.

    >>> both_sides(Fraction("0.01004")), both_sides(Fraction(1, 3))
    (('1.004 %', '1.004 %'), ('33.3333 %', '33.3334 %'))
    """
    low, high = format_sides(100 * share, LONG, ratios=False)
    return f"{low} %", f"{high} %"


def at_most(share: float | Fraction) -> str:
    """Write a share in per cent, rounded up.

    >>> at_most(Fraction(1, 3))
    '33.4 %'
    """
    return f"{format_up(100 * _exact(share), SHORT)} %"


def no_more(share: float | Fraction) -> str:
    """Write a share in per cent, exactly where three digits tell it, otherwise as a bound.

    >>> no_more(Fraction(2, 5)), no_more(Fraction(1, 3)), no_more(Probability(0.25))
    ('40 %', 'at most 33.4 %', 'at most 25 %')
    """
    above, bound = at_most(share), isinstance(share, Probability) and share.fraction is None
    return above if above == at_least(share) and not bound else f"at most {above}"


def at_least(share: float | Fraction) -> str:
    """Write a share in per cent, rounded down.

    >>> at_least(Fraction(2, 3))
    '66.6 %'
    """
    return f"{format_down(100 * _exact(share), SHORT)} %"


def posterior_words(posterior: float | Fraction, least: float | Fraction | None) -> str:
    """Write a posterior, to nearest, or the range that it is told as.

    >>> posterior_words(Fraction(2, 7), None), posterior_words(Fraction(1, 2), Fraction(1, 4))
    ('28.6 %', 'between 25 % and 50 %')
    """
    return about(posterior) if least is None else f"between {at_least(least)} and {at_most(posterior)}"


def surely(share: float) -> str:
    """Write a share that an attack reaches, added up in floats: rounded down, less what the sums may be off.

    >>> surely(0.5)
    '49.9 %'
    """
    return at_least(Fraction(share) * (1 - _SUMS))


def _exact(share: float | Fraction) -> Fraction:
    exact = share.fraction if isinstance(share, Probability) else None
    return Fraction(share) if exact is None else exact


def leakage_json(amount: Nats, unit: Unit) -> dict[str, Any]:
    """Write a leakage as JSON: value ("inf" where infinite), unit and, where known, the exact ratio.

    >>> leakage_json(Nats.of_ratio(Fraction(4)), "bits")
    {'value': 2.0, 'unit': 'bits', 'ratio': '4'}
    """
    record: dict[str, Any] = {"value": value_json(amount, unit), "unit": unit}
    if amount.ratio is not None:
        record["ratio"] = exact_text(amount.ratio)
    return record


def value_json(amount: Nats, unit: Unit) -> float | str:
    """Write the number of a leakage as JSON, in the unit asked for and rounded to the side it was rounded to.

    >>> value_json(Nats(1.0), "bits"), value_json(Nats(1.0, rounding="down"), "bits")
    (1.4426950408889636, 1.4426950408889634)
    """
    return float_json(in_unit(amount, unit))


def probability_json(probability: Probability) -> dict[str, Any]:
    """Write a probability as JSON, with its exact value where known."""
    record: dict[str, Any] = {"value": float(probability)}
    if probability.fraction is not None:
        record["exact"] = exact_text(probability.fraction)
    return record


def delta_json(delta: Fraction) -> dict[str, Any]:
    """Write a probability that bounds are about: up where its decimal is not the very probability, and exact.

    Up, since a guarantee for δ is one for every larger probability.

    >>> delta_json(Fraction(3, 10))
    {'delta': 0.3, 'delta_exact': '3/10'}
    >>> delta_json(Fraction(1, 8) + Fraction(1, 10**30))["delta"]
    0.12500000000000003
    """
    shown = float(delta)
    while Fraction(repr(shown)) < delta:
        shown = math.nextafter(shown, math.inf)
    return {"delta": shown, "delta_exact": exact_text(delta)}


def float_json(value: float) -> float | str:
    """Write a float as JSON knows it; infinities as text.

    >>> float_json(math.inf), float_json(0.5)
    ('inf', 0.5)
    """
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")


def show_value(record: dict[str, Any]) -> str:
    """Write an amount from its JSON record, for a table: short, rounded up, infinity as a word."""
    value = record["value"]
    return "infinite" if value == "inf" else format_up(float(value))


def show_amount(record: dict[str, Any], unit: Unit) -> str:
    """Write the same with its unit.

    >>> show_amount({"value": 1.0}, "bits"), show_amount({"value": "inf"}, "bits")
    ('1 bit', 'infinite')
    """
    return with_unit(show_value(record), unit)


_PERCENT = {"up": at_most, "down": at_least, "nearest": about}


@dataclass(frozen=True, slots=True)
class Amount:
    """A leakage in a record: its number ("inf" where infinite), its unit, in words, and a budget as it was given."""

    value: float | str
    unit: Unit
    words: str
    given: str | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """A probability in a record, with its words; where they are a range `value` is the upper end."""

    value: float
    words: str
    at_least: float | None = None


def amount(found: Nats, unit: Unit, *, bound: bool = False) -> Amount:
    """Write a leakage with its words, rounded to its side; an exact ratio would tell the counts behind it.

    `bound` is whether it is told as a bound only.

    >>> amount(Nats(0.5), "nats")
    Amount(value=0.5, unit='nats', words='1.65x (0.5 nats)', given=None)
    >>> amount(Nats(0.5), "nats", bound=True).words
    'at most 1.65x (0.5 nats)'
    """
    return Amount(value_json(found, unit), unit, f"{'at most ' if bound else ''}{factor_first(found, unit)}")


def share(probability: float) -> Share:
    """Write a probability with its words.

    >>> share(Probability.of(Fraction(1, 20)))
    Share(value=0.05, words='5 %', at_least=None)
    """
    return Share(float(probability), percent(probability))


def percent(probability: float) -> str:
    """Write a bound in per cent, rounded to the side it was rounded to; a plain float to nearest.

    >>> percent(Probability.of(Fraction(1, 3))), percent(Probability.of(Fraction(1, 3), "down")), percent(1 / 3)
    ('33.4 %', '33.3 %', '33.3 %')
    """
    rounding = probability.rounding if isinstance(probability, Probability) else "nearest"
    return _PERCENT[rounding](probability)


@dataclass(frozen=True, slots=True)
class People:
    """A number of people in a record; None where it is that of fewer than ten, which is not told without leave."""

    count: int | None
    of: int
    words: str


def people(count: int, of: int, *, show: bool, least: int) -> People:
    """Write how many of some people, with their share; fewer than `least` only where values may be shown.

    >>> people(591, 7287, show=False, least=10).words, people(3, 50, show=False, least=10).words
    ('591 of 7,287 people (8.11 %)', 'fewer than 10 of 50 people')
    >>> people(0, 50, show=False, least=10).words, people(50, 50, show=False, least=10).words
    ('nobody', 'all 50 people')
    >>> people(3, 4, show=False, least=10).words, people(1, 1, show=False, least=10).words
    ('some of 4 people', 'the one person')
    """
    if not count:
        return People(0, of, "nobody")
    if of == 1:
        return People(1, 1, "the one person")
    if count < least and not show and of < least:
        return People(None, of, f"some of {of} people")
    if count < least and not show:
        return People(None, of, f"fewer than {least} of {format_count(of)} people")
    if count == of:
        return People(count, of, f"all {format_count(of)} people")
    return People(
        count, of, f"{format_count(count)} of {format_count(of)} people ({about(Fraction(count, of))})"
    )


def blur_people(groups: Sequence[People]) -> list[People]:
    """Round the numbers of groups to tens where one of them is not told, which would follow from the others.

    >>> few, many = people(9, 367, show=False, least=10), people(358, 367, show=False, least=10)
    >>> [one.words for one in blur_people([few, many])]
    ['fewer than 10 of 367 people', 'about 360 of 367 people']
    """
    if all(group.count is not None for group in groups):
        return list(groups)
    return [_blur(group) if group.count else group for group in groups]


def _blur(group: People) -> People:
    about_ = max(round(group.count or 0, -1), 10)
    return replace(
        group, count=about_, words=f"about {format_count(about_)} of {format_count(group.of)} people"
    )


def posterior_share(found: Finding | CellRisk) -> Share:
    """Write the posterior of a finding, as a range where it may not be told exactly."""
    if found.least is None:
        return exact_share(found.posterior)
    words = f"{at_least(found.least)} to {at_most(found.posterior)}"
    return Share(float(found.posterior), words, float(found.least))


def exact_share(probability: Probability) -> Share:
    """Write a share as it is, to nearest where it is known exactly, as a bound where it is not.

    >>> exact_share(Probability.of(Fraction(1, 3))).words, exact_share(Probability(1 / 3)).words
    ('33.3 %', '33.4 %')
    """
    words = percent(probability) if probability.fraction is None else about(probability)
    return Share(float(probability), words)


def in_words(name: str) -> str:
    """Write a name as it stands in a sentence: in quotes where it would be taken for several.

    >>> in_words("age"), in_words("age, sex")
    ('age', '"age, sex"')
    """
    return f'"{name}"' if "," in name or " and " in name else name


def join_names(names: Sequence[str]) -> str:
    """List names in a sentence.

    >>> join_names(["age"]), join_names(["age", "a,b", "sex"])
    ('age', 'age, "a,b" and sex')
    """
    told = [in_words(name) for name in names]
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"


def a_or_an(noun: str) -> str:
    """Put the article before a noun.

    >>> a_or_an("expected loss"), a_or_an("mutual information")
    ('an expected loss', 'a mutual information')
    """
    return f"{'an' if noun[:1].lower() in tuple('aeiou') else 'a'} {noun}"


def printable(value: Any) -> Any:
    """Write a text or a record whose texts can do no harm: control characters, invisible and broken ones made visible.

    >>> printable({"name": ["a\\x1b[31m", 1, None]})
    {'name': ['a\\\\x1b[31m', 1, None]}
    """
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {printable(key): printable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(printable(item) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{field.name: printable(getattr(value, field.name)) for field in fields(value)}
        )
    return value
