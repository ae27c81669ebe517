"""The result of `tightlip measure` as one JSON-ready record; the text is written from it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tightlip.measures.summary import Beyond, Summary
from tightlip.model.labels import Label, show
from tightlip.numeric.display import NEGLIGIBLE, format_about, format_up
from tightlip.numeric.parse import exact_text
from tightlip.report.amounts import (
    Unit,
    delta_json,
    leakage_json,
    probability_json,
    value_json,
)

_MEANING = {
    "pml": "the most any outcome can multiply an expected gain, over all adversaries that seek gain",
    "pmc": "the most any outcome can divide an expected cost, over all adversaries that avoid cost",
    "maximal_leakage": "the log of the average factor e^PML over outcomes; needs no prior beyond its support",
    "maximal_cost_leakage": "minus the log of the average of e^−PMC over outcomes; needs no prior beyond its support",
    "maximal_realizable_cost": "the PMC of the worst outcome (equal to PMC)",
    "ldp": "local differential privacy: how far apart two secrets can make an outcome's probability",
    "lip": "local information privacy: PML and PMC both at most this",
    "alip_lower": "asymmetric local information privacy, lower side (equal to PMC)",
    "alip_upper": "asymmetric local information privacy, upper side (equal to PML)",
}


def measurement_record(
    summary: Summary, *, deltas: Sequence[Any], epsilons: Sequence[Any], unit: Unit
) -> dict[str, Any]:
    """Everything that is known about one channel and prior, as plain JSON values."""
    return {
        "headline": headline(summary),
        "channel": _describe(summary),
        "unit": unit,
        "measures": _measures(summary, unit),
        "quantiles": [_quantiles(summary, delta, unit) for delta in deltas],
        "levels": [_beyond(summary.beyond(epsilon), unit) for epsilon in epsilons],
        "outcomes": _outcomes(summary, unit),
    }


def headline(summary: Summary) -> str:
    """What happens at worst, in words: the largest rise, the most certain guess, and what is ruled out."""
    sentences = [_rise(summary), _certainty(summary), _exclusion(summary)]
    return " ".join(filter(None, sentences)) or "No outcome says anything about the secret."


def _rise(summary: Summary) -> str:
    leak = summary.pml
    if leak.worst < NEGLIGIBLE:
        return ""
    outcome, secret = leak.worst_outcome, leak.worst_secret
    lift = leak.exact_ratio_of(outcome)
    assert lift is not None
    before = leak.prior_of(secret)
    after = min(before * lift, Fraction(1))
    start = (
        f'The largest factor: outcome "{show(outcome)}" raises the probability of secret "{show(secret)}" '
    )
    if _percent(before) == _percent(after):
        return f"{start}by a factor of at most {format_up(lift)} from {_percent(before)}."
    return f"{start}from {_percent(before)} to {_feared(summary, after)}."


def _certainty(summary: Summary) -> str:
    """The most certain guess, where it is another one than the largest rise."""
    leak = summary.pml
    outcome, secret, after = leak.most_certain()
    if leak.worst < NEGLIGIBLE or (outcome, secret) == (leak.worst_outcome, leak.worst_secret):
        return ""
    before = leak.prior_of(secret)
    if after < before * (1 + Fraction(1, 1000)):
        return ""
    return (
        f'The most certain guess: outcome "{show(outcome)}" makes secret "{show(secret)}" '
        f"{_feared(summary, after)} likely ({_percent(before)} before)."
    )


def _exclusion(summary: Summary) -> str:
    cost = summary.pmc
    if cost.worst < NEGLIGIBLE:
        return ""
    outcome, secret = show(cost.worst_outcome), show(cost.worst_secret)
    factor = cost.exact_ratio_of(cost.worst_outcome)
    if factor is None:
        return f'Outcome "{outcome}" rules out secret "{secret}".'
    if summary.pml.worst >= NEGLIGIBLE:
        return ""
    return (
        f'At worst, outcome "{outcome}" divides the probability of secret "{secret}" by {format_up(factor)}.'
    )


def _percent(probability: Fraction, *, up: bool = False) -> str:
    """With three digits, to nearest or (what is feared) up; 100 % is said only where it is certain."""
    if 0 < probability < Fraction(1, 10**14):
        return "less than 1e-12 %"
    text = (format_up if up else format_about)(100 * probability, 3)
    return "over 99.9 %" if text == "100" and probability < 1 else f"{text} %"


def _feared(summary: Summary, probability: Fraction) -> str:
    """Rounded up; of floats the last digits are noise: 0.7 in floats is 70 %, not 70.1 %."""
    noise = Fraction(0) if summary.pml.ratios is not None else Fraction(1, 10**13)
    return _percent(min(probability * (1 - noise) if probability < 1 else probability, Fraction(1)), up=True)


def _describe(summary: Summary) -> dict[str, Any]:
    secrets, outcomes = summary.channel.shape
    return {
        "secrets": secrets,
        "outcomes": outcomes,
        "possible_secrets": len(summary.prior.support),
        "possible_outcomes": len(summary.pml),
        "arithmetic": "exact" if summary.pml.ratios is not None else "floats, rounded up",
        "channel_adjustment": summary.channel.adjustment,
        "prior_adjustment": summary.prior.adjustment,
    }


def _measures(summary: Summary, unit: Unit) -> dict[str, dict[str, Any]]:
    amounts = {
        "pml": summary.pml.worst,
        "pmc": summary.pmc.worst,
        "maximal_leakage": summary.maximal_leakage,
        "maximal_cost_leakage": summary.maximal_cost_leakage,
        "maximal_realizable_cost": summary.maximal_realizable_cost,
        "ldp": summary.ldp,
        "lip": summary.lip,
        "alip_lower": summary.alip.lower,
        "alip_upper": summary.alip.upper,
    }
    records = {
        name: {**leakage_json(amount, unit), "means": _MEANING[name]} for name, amount in amounts.items()
    }
    for leak in (summary.pml, summary.pmc):
        records[leak.kind]["outcome"] = _label(leak.worst_outcome)
        records[leak.kind]["secret"] = _label(leak.worst_secret)
    return records


def _quantiles(summary: Summary, delta: Any, unit: Unit) -> dict[str, Any]:
    return {
        **delta_json(Fraction(delta)),
        **{
            f"{leak.kind}_{side}": leakage_json(amount, unit)
            for leak in (summary.pml, summary.pmc)
            for side, amount in (("left", leak.left_quantile(delta)), ("right", leak.quantile(delta)))
        },
    }


def _beyond(beyond: Beyond, unit: Unit) -> dict[str, Any]:
    names = ("pml_tail", "pmc_tail", "psi1", "psi2", "privacy_profile", "probabilistic_dp_tail")
    return {
        "epsilon": leakage_json(beyond.epsilon, unit),
        **{name: probability_json(getattr(beyond, name)) for name in names},
    }


def _outcomes(summary: Summary, unit: Unit) -> list[dict[str, Any]]:
    return [
        {
            "outcome": _label(outcome),
            **_outcome_probability(summary, place, outcome),
            "pml": value_json(summary.pml.value_of(outcome), unit),
            "pml_secret": _label(summary.pml.secret_of(outcome)),
            "pmc": value_json(summary.pmc.value_of(outcome), unit),
            "pmc_secret": _label(summary.pmc.secret_of(outcome)),
        }
        for place, outcome in enumerate(summary.pml.outcomes)
    ]


def _outcome_probability(summary: Summary, place: int, outcome: Label) -> dict[str, Any]:
    """To nearest and, where it is known, exactly: the nearest float of a small one may be 0, which it is not."""
    nearest = {"probability": float(summary.pml.probabilities[place])}
    if summary.pml.ratios is None:
        return nearest
    return {**nearest, "probability_exact": exact_text(summary.pml.exact_probability_of(outcome))}


def _label(label: Label) -> Any:
    return [_label(part) for part in label] if isinstance(label, tuple) else label
