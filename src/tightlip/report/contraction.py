"""Contraction coefficients, and what a level implies, as one JSON-ready record, as text and as a picture."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from tightlip.contraction.divergences import Kind
from tightlip.contraction.result import Coefficient
from tightlip.contraction.summary import ContractionSummary, LevelBounds
from tightlip.errors import visible
from tightlip.model.jsonio import number_to_json
from tightlip.model.labels import Label, show
from tightlip.numeric.display import format_down, format_up
from tightlip.numeric.quantity import level_exact, level_words
from tightlip.report.amounts import (
    Unit,
    float_json,
    leakage_json,
    probability_json,
    show_amount,
    show_value,
    with_unit,
)
from tightlip.report.chart import Bound, bound_chart, charting
from tightlip.report.tables import plain_table

_TITLES = {
    "tv": "total variation (Dobrushin)",
    "kl": "KL, χ² and H², over all inputs",
    "prior": "χ² towards the prior of the file",
}
_KINDS: dict[Kind, str] = {"tv": "total variation", "kl": "KL (nats)", "chi2": "χ²", "h2": "H²"}
COEFFICIENTS = "How much closer the channel brings two inputs (1: not at all)"
_CURVES = {
    "tv": "TV, bound",
    "kl": "KL, bound",
    "kl_paper": "KL, bound with the paper's Γ",
    "tv_ldp": "TV, bound for ε-LDP",
}


def contraction_record(found: ContractionSummary, unit: Unit) -> dict[str, Any]:
    """Record every contraction coefficient of a channel, its leakage capacity, and what that level alone implies."""
    capacity = found.capacity
    worst = {
        "outcome": capacity.outcome,
        "secret": capacity.secret,
        "prior": None if capacity.prior is None else capacity.prior.to_dict()["prior"],
    }
    return {
        "unit": unit,
        "secrets": found.implied.secrets,
        "coefficients": {name: coefficient_json(entry) for name, entry in found.coefficients.items()},
        "capacity": {**leakage_json(capacity, unit), **worst},
        "ldp": leakage_json(found.ldp, unit),
        "bounds": bounds_json(found.implied),
    }


def level_record(found: LevelBounds, unit: Unit) -> dict[str, Any]:
    """Record what a level implies for every channel that has it."""
    return {"unit": unit, "secrets": found.secrets, "bounds": bounds_json(found)}


def bounds_json(found: LevelBounds) -> dict[str, Any]:
    """Write the Dobrushin bound, Γ, the constants in front of TV(P, Q), and the bounds for LDP at the same level."""
    counts = found.block_kernels
    return {
        "epsilon": float_json(float(found.epsilon)),
        "epsilon_exact": level_exact(found.epsilon),
        "epsilon_words": level_words(found.epsilon),
        "min_mass": number_to_json(found.min_mass),
        "tv": probability_json(found.tv),
        "gamma": {which: float_json(ratio) for which, ratio in found.likelihood_ratio.items()},
        "constants": {
            kind: {which: float_json(constant) for which, constant in constants.items()}
            for kind, constants in found.constants.items()
        },
        "ldp_at_this_level": {kind: float(bound) for kind, bound in found.ldp.items()},
        "block_kernels": [counts[0], counts[-1]] if counts else [],
    }


def coefficient_json(found: Coefficient) -> dict[str, Any]:
    """Write a coefficient with its ends, the pair that decides and, where known, the exact value."""
    record = {**probability_json(found), "lower": found.lower, "method": found.method}
    if found.pair is not None:
        record["pair"] = list(found.pair)
    return record


def contraction_text(record: dict[str, Any]) -> RenderableType:
    """Lay the record out as tables."""
    parts: list[RenderableType] = []
    if "coefficients" in record:
        parts += [plain_table(COEFFICIENTS, *coefficients(record)), Text(capacity_words(record)), Text("")]
    return Group(*parts, plain_table(bounds_title(record), *bounds(record)), Text(_kernels(record)))


def coefficients(record: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Lay out the coefficients as a table: names of columns, and rows."""
    rows = []
    for name, entry in record["coefficients"].items():
        pair = " and ".join(_name(label) for label in entry.get("pair", []))
        title = _TITLES.get(name, f"{name} (the δ of (log γ, δ)-LDP)")
        rows.append([title, *_ends(entry), pair or entry["method"]])
    return ["divergence", "at most", "at least", "decided by"], rows


def _ends(entry: dict[str, Any]) -> tuple[str, str]:
    """Both ends of a coefficient, from its exact value where it is known."""
    exact = entry.get("exact")
    upper, lower = (entry["value"], entry["lower"]) if exact is None else (Fraction(exact), Fraction(exact))
    return format_up(upper), format_down(lower)


def capacity_words(record: dict[str, Any]) -> str:
    """Say what the channel leaks, and where."""
    entry = record["capacity"]
    outcome, secret = _name(entry["outcome"]), _name(entry["secret"])
    return (
        f"Leakage under any prior with every mass at least {record['bounds']['min_mass']}: "
        f"{show_amount(entry, record['unit'])}, at outcome {outcome} about secret {secret}; "
        f"LDP: {show_amount(record['ldp'], record['unit'])}."
    )


def bounds_title(record: dict[str, Any]) -> str:
    """Say what the bounds are about."""
    bounds = record["bounds"]
    return (
        f"What ε = {with_unit(bounds['epsilon_words'], 'nats')}, c = {bounds['min_mass']} on "
        f"{record['secrets']} secrets imply: D(PK‖QK) ≤ constant · TV(P, Q)"
    )


def bounds(record: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Lay out the constants as a table: names of columns, and rows."""
    rows = [
        [_KINDS[kind], *(show_value({"value": constant[which]}) for which in ("exact", "paper"))]
        for kind, constant in record["bounds"]["constants"].items()
    ]
    return ["divergence", "constant", "with the paper's Γ"], rows


def _kernels(record: dict[str, Any]) -> str:
    bounds = record["bounds"]
    compared = bounds["ldp_at_this_level"]
    counts = bounds["block_kernels"]
    blocks = f"q from {counts[0]} to {counts[1]}" if counts else "no q"
    return (
        f"For comparison, LDP at the same ε: TV contracts by {format_up(compared['tv'])}, KL by "
        f"{format_up(compared['kl'])}. The TV bound is reached by `optimal_kernel`; "
        f"block kernels of the paper reach it for {blocks}."
    )


def contraction_chart(found: ContractionSummary | LevelBounds) -> Any:
    """Draw the TV bound and the KL constants against ε, up to the level found.

    A constant holds for smaller levels too: rising steps are a bound between the points.
    """
    altair = charting()
    rows = _rows(found)
    return bound_chart(
        rows,
        title="What a leakage level says about contraction",
        x=altair.X("ε:Q", title="level ε (nats)"),
        y=altair.Y("bound:Q", title="constant in front of TV(P, Q)"),
        curve="curve",
        bounds=dict.fromkeys((row["curve"] for row in rows), Bound(falling=False, above=True)),
    )


def _rows(found: ContractionSummary | LevelBounds) -> list[dict[str, Any]]:
    """The curves and, of a channel, its own coefficient as a flat line."""
    implied = found.implied if isinstance(found, ContractionSummary) else found
    own = (
        {"TV, this channel": float(found.coefficients["tv"])} if isinstance(found, ContractionSummary) else {}
    )
    return [
        {"ε": point["epsilon"], "bound": value, "curve": name}
        for point in implied.curve()
        for name, value in {**{name: point[key] for key, name in _CURVES.items()}, **own}.items()
    ]


def _name(label: Label) -> str:
    """A label on one line, control characters made visible."""
    return visible(show(label))
