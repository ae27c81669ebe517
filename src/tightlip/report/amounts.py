"""Amounts in JSON and in text: a unit always, infinity by name, guarantees rounded up."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from tightlip.numeric.display import format_up
from tightlip.numeric.parse import exact_text
from tightlip.numeric.quantity import Nats, Probability
from tightlip.numeric.unit import Unit as Unit
from tightlip.numeric.unit import in_unit, with_unit


def leakage_json(amount: Nats, unit: Unit) -> dict[str, Any]:
    """A leakage as JSON: value ("inf" where infinite), unit and, where known, the exact ratio.

    >>> leakage_json(Nats.of_ratio(Fraction(4)), "bits")
    {'value': 2.0, 'unit': 'bits', 'ratio': '4'}
    """
    record: dict[str, Any] = {"value": value_json(amount, unit), "unit": unit}
    if amount.ratio is not None:
        record["ratio"] = exact_text(amount.ratio)
    return record


def value_json(amount: Nats, unit: Unit) -> float | str:
    """The number of a leakage as JSON, in the unit asked for and rounded to the side it was rounded to.

    >>> value_json(Nats(1.0), "bits"), value_json(Nats(1.0, rounding="down"), "bits")
    (1.4426950408889636, 1.4426950408889634)
    """
    return float_json(in_unit(amount, unit))


def probability_json(probability: Probability) -> dict[str, Any]:
    """A probability as JSON, with its exact value where known."""
    record: dict[str, Any] = {"value": float(probability)}
    if probability.fraction is not None:
        record["exact"] = exact_text(probability.fraction)
    return record


def delta_json(delta: Fraction) -> dict[str, Any]:
    """The probability that bounds are about: a number, up where its decimal is not the very probability, and exact.

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
    """A float as JSON knows it; infinities as text.

    >>> float_json(math.inf), float_json(0.5)
    ('inf', 0.5)
    """
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")


def shown(record: dict[str, Any]) -> str:
    """An amount from its JSON record, for a table: short, rounded up, infinity as a word."""
    value = record["value"]
    return "infinite" if value == "inf" else format_up(float(value))


def shown_amount(record: dict[str, Any], unit: Unit) -> str:
    """The same with its unit.

    >>> shown_amount({"value": 1.0}, "bits"), shown_amount({"value": "inf"}, "bits")
    ('1 bit', 'infinite')
    """
    return with_unit(shown(record), unit)
