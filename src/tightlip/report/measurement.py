"""The result of `tightlip measure` as one JSON-ready record; the text is written from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tightlip.measure.posterior import posterior
from tightlip.measure.summary import Beyond, Summary
from tightlip.model.labels import Label, show
from tightlip.numeric.display import format_up
from tightlip.numeric.quantity import Nats
from tightlip.report.amounts import Unit, float_json, leakage_json, probability_json

_MEANING = {
    "pml": "the most any outcome can multiply an expected gain, over all adversaries that seek gain",
    "pmc": "the most any outcome can divide an expected cost, over all adversaries that avoid cost",
    "maximal_leakage": "the same as PML on average over outcomes; needs no prior beyond its support",
    "maximal_cost_leakage": "the same as PMC on average over outcomes; needs no prior beyond its support",
    "maximal_realizable_cost": "the PMC of the worst outcome (equal to PMC)",
    "ldp": "local differential privacy: how far apart two secrets can make an outcome's probability",
    "lip": "local information privacy: PML and PMC both at most this",
    "alip_lower": "asymmetric local information privacy, lower side (equal to PMC)",
    "alip_upper": "asymmetric local information privacy, upper side (equal to PML)",
}


def measurement_record(
    summary: Summary, *, deltas: Sequence[Any], epsilons: Sequence[float], unit: Unit
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
    """The worst case in a sentence: which outcome raises the probability of which secret from what to what."""
    leak = summary.pml
    outcome, secret = leak.worst_outcome, leak.worst_secret
    before = summary.prior.mass(secret)
    if not leak.worst or leak.worst < 1e-12:
        return "No outcome says anything about the secret."
    start = f'At worst, outcome "{show(outcome)}" raises the probability of secret "{show(secret)}" '
    first = _percent(float(before))
    second = _percent(_posterior_of(summary, outcome, secret, before))
    if first == second:
        return f"{start}by a factor of at most {format_up(math.exp(leak.worst) * (1 + 1e-15))} from {first}."
    return f"{start}from {first} to {second}."


def _posterior_of(summary: Summary, outcome: Label, secret: Label, before: float | Fraction) -> float:
    if summary.channel.is_exact and summary.prior.is_exact:
        return float(posterior(summary.channel, summary.prior, outcome).mass(secret))
    place = summary.channel.inputs.position(secret)
    column = summary.channel.outputs.position(outcome)
    entry = float(summary.channel.floats[place, column])
    return min(
        1.0, float(before) * entry / float(summary.pml.probabilities[summary.pml.outcomes.position(outcome)])
    )


def _percent(probability: float) -> str:
    return f"{format_up(min(100 * probability, 100.0) * (1 - 1e-13), 3)} %"  # 70 %, not 70.1 %, for 0.7 in floats


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
        "delta": float(Fraction(delta)),
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
            "probability": float(summary.pml.probabilities[place]),
            "pml": _value(summary.pml.value_of(outcome), unit),
            "pml_secret": _label(summary.pml.secret_of(outcome)),
            "pmc": _value(summary.pmc.value_of(outcome), unit),
            "pmc_secret": _label(summary.pmc.secret_of(outcome)),
        }
        for place, outcome in enumerate(summary.pml.outcomes)
    ]


def _value(amount: Nats, unit: Unit) -> float | str:
    return float_json(amount.in_bits() if unit == "bits" else float(amount))


def _label(label: Label) -> Any:
    return [_label(part) for part in label] if isinstance(label, tuple) else label
