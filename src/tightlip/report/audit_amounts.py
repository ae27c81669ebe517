"""Numbers of an audit as JSON with words: guarantees rounded up, attacks down, a unit always."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tightlip.audit.words import leakage_words
from tightlip.numeric.ball import exp_bounds
from tightlip.numeric.display import format_about, format_down, format_up
from tightlip.numeric.quantity import Nats, Probability, Rounding
from tightlip.report.amounts import Unit, float_json, in_unit

_SHARE_DIGITS = 3
_HUGE = 700.0
_SHORT = {"up": format_up, "down": format_down, "nearest": format_about}


def amount(leakage: Nats, unit: Unit) -> dict[str, Any]:
    """A leakage with its words, rounded to the side it was rounded to; an exact ratio would tell the counts behind it.

    >>> amount(Nats(0.51234567), "nats")["words"], amount(Nats(0.51234567, rounding="down"), "nats")["words"]
    ('0.512346 nats', '0.512345 nats')
    """
    return {"value": float_json(in_unit(leakage, unit)), "unit": unit, "words": leakage_words(leakage, unit)}


def share(probability: float) -> dict[str, Any]:
    """A probability with its words.

    >>> share(Probability.of(Fraction(1, 20)))
    {'value': 0.05, 'words': '5 %'}
    """
    return {"value": float(probability), "words": percent(probability)}


def percent(probability: float) -> str:
    """A bound in per cent, rounded to the side it was rounded to; a plain float to nearest.

    >>> percent(Probability.of(Fraction(1, 3))), percent(Probability.of(Fraction(1, 3), "down")), percent(1 / 3)
    ('33.4 %', '33.3 %', '33.3 %')
    """
    if not isinstance(probability, Probability):
        return _per_cent(Fraction(probability), "nearest")
    return _per_cent(probability.exact or Fraction(probability), probability.rounding)


def told_share(probability: Probability) -> dict[str, Any]:
    """A share as it is, to nearest where it is known exactly, as a bound where it is not.

    >>> told_share(Probability.of(Fraction(1, 3)))["words"], told_share(Probability(1 / 3))["words"]
    ('33.3 %', '33.4 %')
    """
    exact = probability.exact
    words = percent(probability) if exact is None else _per_cent(exact, "nearest")
    return {"value": float(probability), "words": words}


def _per_cent(share: Fraction, rounding: Rounding) -> str:
    scaled = share * 100
    short = (
        f"{float(scaled):.{_SHARE_DIGITS}g}"
        if rounding == "nearest"
        else _SHORT[rounding](scaled, _SHARE_DIGITS)
    )
    return f"{short} %"


def factor(leakage: Nats) -> str:
    """e^leakage, rounded up.

    >>> factor(Nats.of_ratio(Fraction(5, 2))), factor(Nats(800.0))
    ('2.5', 'over 1e300')
    """
    if leakage.ratio is not None:
        return format_up(leakage.ratio, _SHARE_DIGITS)
    return format_up(exp_bounds(float(leakage))[1], _SHARE_DIGITS) if leakage < _HUGE else "over 1e300"


def grouped(count: int) -> str:
    """A whole number in groups of three digits.

    >>> grouped(1234567)
    '1 234 567'
    """
    return f"{count:,}".replace(",", " ")
