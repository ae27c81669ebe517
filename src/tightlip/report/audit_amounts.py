"""Numbers of an audit as JSON with words: guarantees rounded up, attacks down, a unit always."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tightlip.auditing.phrases import about, at_least, at_most, leakage
from tightlip.numeric.quantity import Nats, Probability
from tightlip.numeric.unit import Unit
from tightlip.report.amounts import value_json

if TYPE_CHECKING:
    from tightlip.auditing.result import CellRisk, Finding

_PERCENT = {"up": at_most, "down": at_least, "nearest": about}


def amount(found: Nats, unit: Unit) -> dict[str, Any]:
    """A leakage with its words, rounded to the side it was rounded to; an exact ratio would tell the counts behind it.

    >>> amount(Nats(0.5), "nats")
    {'value': 0.5, 'unit': 'nats', 'words': '0.5 nats'}
    """
    return {"value": value_json(found, unit), "unit": unit, "words": leakage(found, unit)}


def share(probability: float) -> dict[str, Any]:
    """A probability with its words.

    >>> from fractions import Fraction
    >>> share(Probability.of(Fraction(1, 20)))
    {'value': 0.05, 'words': '5 %'}
    """
    return {"value": float(probability), "words": percent(probability)}


def percent(probability: float) -> str:
    """A bound in per cent, rounded to the side it was rounded to; a plain float to nearest.

    >>> from fractions import Fraction
    >>> percent(Probability.of(Fraction(1, 3))), percent(Probability.of(Fraction(1, 3), "down")), percent(1 / 3)
    ('33.4 %', '33.3 %', '33.3 %')
    """
    rounding = probability.rounding if isinstance(probability, Probability) else "nearest"
    return _PERCENT[rounding](probability)


def told_posterior(found: Finding | CellRisk) -> dict[str, Any]:
    """The posterior of a finding, as a range where it may not be told exactly: `value` is then the upper end."""
    if found.least is None:
        return told_share(found.posterior)
    words = f"{at_least(found.least)} to {at_most(found.posterior)}"
    return {"value": float(found.posterior), "words": words, "at_least": float(found.least)}


def told_share(probability: Probability) -> dict[str, Any]:
    """A share as it is, to nearest where it is known exactly, as a bound where it is not.

    >>> from fractions import Fraction
    >>> told_share(Probability.of(Fraction(1, 3)))["words"], told_share(Probability(1 / 3))["words"]
    ('33.3 %', '33.4 %')
    """
    words = percent(probability) if probability.fraction is None else about(probability)
    return {"value": float(probability), "words": words}
