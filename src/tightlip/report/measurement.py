"""Every measure of a channel as one JSON-ready record, and as text: words first, every number with its unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from tightlip.measures.summary import Beyond, Summary
from tightlip.model.labels import Label, label_from_json, show
from tightlip.numeric.ball import exp_bounds
from tightlip.numeric.display import NEGLIGIBLE, format_about, format_exactly, format_up
from tightlip.numeric.parse import exact_text, number
from tightlip.numeric.quantity import Nats, nats_of_bits
from tightlip.report.amounts import (
    Unit,
    delta_json,
    leakage_json,
    printable,
    probability_json,
    show_value,
    value_json,
)


class Measure(NamedTuple):
    """A measure of a whole channel: what it is called, what it means, and where it is in a summary."""

    title: str
    means: str
    amount: Callable[[Summary], Nats]


MEASURES = {
    "pml": Measure(
        "pointwise maximal leakage (PML), worst outcome",
        "the most any outcome can multiply an expected gain, over all adversaries that seek gain",
        lambda summary: summary.pml.worst,
    ),
    "pmc": Measure(
        "pointwise maximal cost (PMC), worst outcome",
        "the most any outcome can divide an expected cost, over all adversaries that avoid cost",
        lambda summary: summary.pmc.worst,
    ),
    "maximal_leakage": Measure(
        "maximal leakage (average over outcomes)",
        "the log of the average factor e^PML over outcomes; needs no prior beyond its support",
        lambda summary: summary.maximal_leakage,
    ),
    "maximal_cost_leakage": Measure(
        "maximal cost leakage (average)",
        "minus the log of the average of e^−PMC over outcomes; needs no prior beyond its support",
        lambda summary: summary.maximal_cost_leakage,
    ),
    "maximal_realizable_cost": Measure(
        "maximal realizable cost",
        "the PMC of the worst outcome (equal to PMC)",
        lambda summary: summary.maximal_realizable_cost,
    ),
    "ldp": Measure(
        "local differential privacy (LDP)",
        "local differential privacy: how far apart two secrets can make an outcome's probability",
        lambda summary: summary.ldp,
    ),
    "lip": Measure(
        "local information privacy (LIP)",
        "local information privacy: PML and PMC both at most this",
        lambda summary: summary.lip,
    ),
    "alip_lower": Measure(
        "asymmetric LIP, lower side",
        "asymmetric local information privacy, lower side (equal to PMC)",
        lambda summary: summary.alip.lower,
    ),
    "alip_upper": Measure(
        "asymmetric LIP, upper side",
        "asymmetric local information privacy, upper side (equal to PML)",
        lambda summary: summary.alip.upper,
    ),
}
_SOFT = {
    "pml_tail": "P(PML > ε)",
    "pmc_tail": "P(PMC > ε)",
    "psi1": "ψ1(ε)",
    "psi2": "ψ2(ε)",
    "privacy_profile": "δ of (ε, δ)-LDP",
    "probabilistic_dp_tail": "P(privacy loss > ε)",
}
MOST_OUTCOMES = 20
_LONGEST = 10
_HUGE = 690.0


def measurement_record(
    summary: Summary, *, deltas: Sequence[Any], epsilons: Sequence[Any], unit: Unit
) -> dict[str, Any]:
    """Record everything that is known about one channel and prior, as plain JSON values."""
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
    """Say what happens at worst: the largest rise, the most certain guess, and what is ruled out."""
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
    return f"{start}from {_percent(before)} to {_tail_percent(summary, after)}."


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
        f"{_tail_percent(summary, after)} likely ({_percent(before)} before)."
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


def _tail_percent(summary: Summary, probability: Fraction) -> str:
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
    records: dict[str, dict[str, Any]] = {
        name: {**leakage_json(measure.amount(summary), unit), "means": measure.means}
        for name, measure in MEASURES.items()
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


def measurement_text(record: dict[str, Any], *, every_outcome: bool = False) -> RenderableType:
    """Lay the record of `measurement_record` out as tables."""
    parts: list[RenderableType] = [
        Text(printable(record["headline"]), style="bold"),
        Text(_about(record["channel"])),
    ]
    parts += [
        _measures_table(record),
        _quantiles_table(record),
        _levels_table(record),
        _outcomes_table(record, every_outcome),
    ]
    return Group(*(item for part in parts for item in (part, Text(""))))


def _about(channel: dict[str, Any]) -> str:
    text = (
        f"{channel['possible_secrets']} possible secrets, {channel['possible_outcomes']} possible outcomes; "
        f"arithmetic: {channel['arithmetic']}."
    )
    for name in ("channel", "prior"):
        if channel[f"{name}_adjustment"]:
            text += f" The {name} was off by {channel[f'{name}_adjustment']:.2g} and was renormalised."
    return text


def _measures_table(record: dict[str, Any]) -> Table:
    table = Table(title="Guarantees, rounded up")
    table.add_column("measure", overflow="fold")
    table.add_column(record["unit"], justify="right", overflow="fold")
    table.add_column("factor", justify="right", overflow="fold")
    table.add_column("where", overflow="fold")
    for name, entry in record["measures"].items():
        where = (
            f"outcome {_show(entry['outcome'])}, secret {_show(entry['secret'])}"
            if "outcome" in entry
            else ""
        )
        table.add_row(MEASURES[name].title, show_value(entry), _factor(entry, record["unit"]), where)
    return table


def _quantiles_table(record: dict[str, Any]) -> Table:
    table = Table(title=f"Exceeded with probability at most δ ({record['unit']})")
    table.add_column("δ", justify="right", overflow="fold")
    for name in ("PML, left quantile", "PML, right", "PMC, left quantile", "PMC, right"):
        table.add_column(name, justify="right", overflow="fold")
    for entry in record["quantiles"]:
        keys = ("pml_left", "pml_right", "pmc_left", "pmc_right")
        delta = format_exactly(Fraction(number(entry["delta_exact"], "delta")))
        table.add_row(
            delta,
            *(show_value(entry[key]) for key in keys),
        )
    return table


def _levels_table(record: dict[str, Any]) -> Table:
    table = Table(title="What escapes a level ε (probabilities)")
    table.add_column(f"ε ({record['unit']})", justify="right", overflow="fold")
    for title in _SOFT.values():
        table.add_column(title, justify="right", overflow="fold")
    for entry in record["levels"]:
        table.add_row(_epsilon(entry["epsilon"]), *(_probability(entry[name]) for name in _SOFT))
    return table


def _outcomes_table(record: dict[str, Any], every: bool) -> Table:
    entries = sorted(record["outcomes"], key=lambda entry: -float(entry["pml"]))
    kept = entries if every else entries[:MOST_OUTCOMES]
    title = "Outcomes, worst first"
    if len(kept) < len(entries):
        title += f" ({len(kept)} of {len(entries)}; --all shows every one)"
    table = Table(title=title)
    for name in ("outcome", "probability", f"PML ({record['unit']})", "speaks for"):
        table.add_column(name, justify="right" if name[0] in "pP" else "left", overflow="fold")
    table.add_column(f"PMC ({record['unit']})", justify="right", overflow="fold")
    table.add_column("speaks against", overflow="fold")
    for entry in kept:
        table.add_row(
            _show(entry["outcome"]),
            format_about(number(entry.get("probability_exact", entry["probability"]), "probability")),
            show_value({"value": entry["pml"]}),
            _show(entry["pml_secret"]),
            show_value({"value": entry["pmc"]}),
            _show(entry["pmc_secret"]),
        )
    return table


def _factor(entry: dict[str, Any], unit: str) -> str:
    """e^value: the exact ratio where it is short, a decimal rounded up otherwise."""
    if entry["value"] == "inf":
        return "infinite"
    if len(entry.get("ratio", "")) in range(1, _LONGEST):
        return str(entry["ratio"])
    value = float(entry["value"])
    amount = nats_of_bits(value)[1] if unit == "bits" else value
    return format_up(exp_bounds(amount)[1]) if amount < _HUGE else "over 1e300"


def _epsilon(record: dict[str, Any]) -> str:
    return format_up(float(record["value"]))  # up: what is said to escape it then escapes the shown level too


def _probability(record: dict[str, Any]) -> str:
    return format_up(number(record["exact"], "exact") if "exact" in record else record["value"])


def _show(label: Any) -> str:
    """A label as text that can do no harm: markup escaped, control characters made visible."""
    return escape(printable(show(label_from_json(label))))
