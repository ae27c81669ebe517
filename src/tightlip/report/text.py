"""Records as text for the terminal: words first, numbers second, every number with its unit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from tightlip.errors import visible
from tightlip.model.labels import label_from_json, show
from tightlip.numeric.ball import exp_bounds
from tightlip.numeric.display import format_about, format_down, format_exactly, format_up
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import nats_of_bits
from tightlip.numeric.unit import with_unit
from tightlip.report.amounts import shown
from tightlip.report.compared import COMPARED, adversary_words

_TITLES = {
    "pml": "pointwise maximal leakage (PML), worst outcome",
    "pmc": "pointwise maximal cost (PMC), worst outcome",
    "maximal_leakage": "maximal leakage (average over outcomes)",
    "maximal_cost_leakage": "maximal cost leakage (average)",
    "maximal_realizable_cost": "maximal realizable cost",
    "ldp": "local differential privacy (LDP)",
    "lip": "local information privacy (LIP)",
    "alip_lower": "asymmetric LIP, lower side",
    "alip_upper": "asymmetric LIP, upper side",
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
_MOST_PARTS = 6
_HUGE = 690.0


def measurement_text(record: dict[str, Any], *, every_outcome: bool = False) -> RenderableType:
    """The record of `measurement_record` as tables."""
    parts: list[RenderableType] = [
        Text(visible(record["headline"]), style="bold"),
        Text(_about(record["channel"])),
    ]
    parts += [_measures(record), _quantiles(record), _levels(record), _outcomes(record, every_outcome)]
    return Group(*(item for part in parts for item in (part, Text(""))))


def conversion_text(record: dict[str, Any]) -> RenderableType:
    """The record of `tightlip convert` as a table."""
    given = record["given"]
    table = Table(title=escape(f"What {given['guarantee']} {_given(given)} implies ({_prior(record)})"))
    table.add_column("guarantee")
    table.add_column(record["unit"], justify="right", overflow="fold")
    table.add_column("why", overflow="fold")
    for entry in record["implied"]:
        table.add_row(entry["guarantee"], _ends(entry), escape(entry["why"]))
    return table


def envelope_text(record: dict[str, Any]) -> RenderableType:
    """The record of `envelope_record` or `noise_record` as a table, how it was found, and the attacks in words."""
    compared = list(record["points"][0].get("compared", ()))
    table = Table(
        title=f"Leakage that survives post-processing by {adversary_words(record)} ({record['unit']})"
    )
    others = [COMPARED[name].column for name in compared]
    for title in ("δ", "ε (guaranteed)", "reached by an attack", *others):
        table.add_column(title, justify="right", overflow="fold")
    for point in record["points"]:
        amounts = [_compared(name, point["compared"][name]) for name in compared]
        table.add_row(_delta(point), shown(point["epsilon"]), _reached(point["lower"]), *amounts)
    methods = _methods(record["points"])
    attacks = [_attack(point) for point in record["points"] if point["attack"]]
    return Group(table, Text(""), *(Text(visible(line)) for line in (*methods, *attacks)))


def _methods(points: list[dict[str, Any]]) -> list[str]:
    """How the points were found; where that differs, which of them."""
    found: dict[str, list[str]] = {}
    for point in points:
        found.setdefault(point["method"], []).append(_delta(point))
    if len(found) == 1:
        return [f"Method: {method}." for method in found]
    return [f"Method at δ = {', '.join(deltas)}: {method}." for method, deltas in found.items()]


def _attack(point: dict[str, Any]) -> str:
    """What the attack at one probability does; of a long one the beginning, --json has all of it."""
    parts, more = point["attack"][:_MOST_PARTS], len(point["attack"]) - _MOST_PARTS
    rest = [f"and {more} more (--json lists all)"] if more > 0 else []
    return f"At δ = {_delta(point)}: " + "; ".join([*parts, *rest]) + "."


def _delta(record: dict[str, Any]) -> str:
    """δ exactly: what is reached is about no less, what is guaranteed about no more."""
    return format_exactly(Fraction(number(record["delta_exact"], "delta")))


def _compared(name: str, value: float | str) -> str:
    """What others guarantee is rounded up, what others reach is rounded down."""
    return _reached(value) if COMPARED[name].reached else shown({"value": value})


def _reached(value: float | str) -> str:
    return "infinite" if value == "inf" else format_down(float(value))


def _prior(record: dict[str, Any]) -> str:
    return "any prior" if record["min_mass"] is None else f"smallest prior mass {record['min_mass']}"


def _given(given: dict[str, Any]) -> str:
    return ", ".join(with_unit(words, "nats") for words in given["words"])


def _ends(entry: dict[str, Any]) -> str:
    if "words" in entry and entry["amounts"][0]["unit"] == "nats":  # as it was given
        return ", ".join("infinite" if words == "inf" else words for words in entry["words"])
    return ", ".join(shown(amount) for amount in entry["amounts"])


def _about(channel: dict[str, Any]) -> str:
    text = (
        f"{channel['possible_secrets']} possible secrets, {channel['possible_outcomes']} possible outcomes; "
        f"arithmetic: {channel['arithmetic']}."
    )
    for name in ("channel", "prior"):
        if channel[f"{name}_adjustment"]:
            text += f" The {name} was off by {channel[f'{name}_adjustment']:.2g} and was renormalised."
    return text


def _measures(record: dict[str, Any]) -> Table:
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
        table.add_row(_TITLES[name], shown(entry), _factor(entry, record["unit"]), where)
    return table


def _quantiles(record: dict[str, Any]) -> Table:
    table = Table(title=f"Exceeded with probability at most δ ({record['unit']})")
    table.add_column("δ", justify="right", overflow="fold")
    for name in ("PML, left quantile", "PML, right", "PMC, left quantile", "PMC, right"):
        table.add_column(name, justify="right", overflow="fold")
    for entry in record["quantiles"]:
        keys = ("pml_left", "pml_right", "pmc_left", "pmc_right")
        table.add_row(_delta(entry), *(shown(entry[key]) for key in keys))
    return table


def _levels(record: dict[str, Any]) -> Table:
    table = Table(title="What escapes a level ε (probabilities)")
    table.add_column(f"ε ({record['unit']})", justify="right", overflow="fold")
    for title in _SOFT.values():
        table.add_column(title, justify="right", overflow="fold")
    for entry in record["levels"]:
        table.add_row(_epsilon(entry["epsilon"]), *(_probability(entry[name]) for name in _SOFT))
    return table


def _outcomes(record: dict[str, Any], every: bool) -> Table:
    entries = sorted(record["outcomes"], key=lambda entry: -_size(entry["pml"]))
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
            shown({"value": entry["pml"]}),
            _show(entry["pml_secret"]),
            shown({"value": entry["pmc"]}),
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
    return escape(visible(show(label_from_json(label))))


def _size(value: float | str) -> float:
    return float(value)
