"""The result of `tightlip contraction` as one JSON-ready record, as text and as a picture."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from tightlip.contraction.bound import dobrushin_bound, likelihood_ratio_bound
from tightlip.contraction.coefficients import chi_squared_contraction, dobrushin, e_gamma_contraction
from tightlip.contraction.divergence_bounds import divergence_bound
from tightlip.contraction.divergences import Kind
from tightlip.contraction.kernels import valid_counts
from tightlip.contraction.ldp_bounds import ldp_contraction_bound
from tightlip.contraction.result import Coefficient
from tightlip.measures.capacity import leakage_capacity
from tightlip.measures.local import ldp
from tightlip.model.channel import Channel
from tightlip.model.jsonio import number_to_json
from tightlip.model.labels import Label, show
from tightlip.model.prior import Prior
from tightlip.numeric.display import format_down, format_up
from tightlip.numeric.parse import exact_text
from tightlip.numeric.quantity import level_exact, level_words
from tightlip.numeric.unit import with_unit
from tightlip.report.amounts import Unit, float_json, leakage_json, probability_json, shown, shown_amount
from tightlip.report.chart import Bound, bound_chart, charting, save_chart

_TITLES = {
    "tv": "total variation (Dobrushin)",
    "kl": "KL, χ² and H², over all inputs",
    "prior": "χ² towards the prior of the file",
}
_KINDS: dict[Kind, str] = {"tv": "total variation", "kl": "KL (nats)", "chi2": "χ²", "h2": "H²"}
_POINTS = 60


def channel_record(
    channel: Channel, prior: Prior | None, min_mass: Any, gammas: list[Fraction], unit: Unit
) -> dict[str, Any]:
    """Every contraction coefficient of a channel, its leakage capacity, and what that level alone implies."""
    capacity = leakage_capacity(channel, min_mass=min_mass)
    coefficients = {
        "tv": coefficient_json(dobrushin(channel)),
        "kl": coefficient_json(chi_squared_contraction(channel)),
    }
    if prior is not None:
        coefficients["prior"] = coefficient_json(chi_squared_contraction(channel, prior))
    for gamma in gammas:
        coefficients[f"E_{exact_text(gamma)}"] = coefficient_json(e_gamma_contraction(channel, gamma))
    worst = {
        "outcome": capacity.outcome,
        "secret": capacity.secret,
        "prior": None if capacity.prior is None else capacity.prior.to_dict()["prior"],
    }
    return {
        "unit": unit,
        "secrets": channel.shape[0],
        "coefficients": coefficients,
        "capacity": {**leakage_json(capacity, unit), **worst},
        "ldp": leakage_json(ldp(channel), unit),
        "bounds": bounds_json(channel.shape[0], capacity, min_mass),
    }


def level_record(n: int, epsilon: Any, min_mass: Any, unit: Unit) -> dict[str, Any]:
    """What (ε, c)-PML on n secrets implies for every channel that has it."""
    return {"unit": unit, "secrets": n, "bounds": bounds_json(n, epsilon, min_mass)}


def bounds_json(n: int, epsilon: Any, min_mass: Any) -> dict[str, Any]:
    """The Dobrushin bound, Γ, the constants in front of TV(P, Q), and the bounds for LDP at the same level."""
    infinite = math.isinf(float(epsilon))
    counts = range(0) if infinite else valid_counts(n, epsilon, min_mass)
    return {
        "epsilon": float_json(float(epsilon)),
        "epsilon_exact": level_exact(epsilon),
        "epsilon_words": level_words(epsilon),
        "min_mass": number_to_json(Fraction(min_mass)),
        "tv": probability_json(dobrushin_bound(n, epsilon, min_mass)),
        "gamma": {
            which: float_json(likelihood_ratio_bound(n, epsilon, min_mass, gamma=which))
            for which in ("exact", "paper")
        },
        "constants": {
            kind: {
                which: float_json(divergence_bound(kind, n, epsilon, min_mass, gamma=which))
                for which in ("exact", "paper")
            }
            for kind in _KINDS
        },
        "ldp_at_this_level": {kind: float(ldp_contraction_bound(kind, epsilon)) for kind in ("tv", "kl")},
        "block_kernels": [counts[0], counts[-1]] if counts else [],
    }


def coefficient_json(found: Coefficient) -> dict[str, Any]:
    """A coefficient with its ends, the pair that decides and, where known, the exact value."""
    record = {**probability_json(found), "lower": found.lower, "method": found.method}
    if found.pair is not None:
        record["pair"] = list(found.pair)
    return record


def contraction_text(record: dict[str, Any]) -> RenderableType:
    """The record as tables."""
    parts: list[RenderableType] = []
    if "coefficients" in record:
        parts += [_coefficients(record), _capacity(record), Text("")]
    return Group(*parts, _bounds(record), Text(_kernels(record)))


def _coefficients(record: dict[str, Any]) -> Table:
    table = Table(title="How much closer the channel brings two inputs (1: not at all)")
    for name in ("divergence", "at most", "at least", "decided by"):
        table.add_column(name, justify="right" if name.startswith("at") else "left", overflow="fold")
    for name, entry in record["coefficients"].items():
        pair = " and ".join(escape(_name(label)) for label in entry.get("pair", []))
        title = _TITLES.get(name, f"{name} (the δ of (log γ, δ)-LDP)")
        table.add_row(title, *_ends(entry), pair or entry["method"])
    return table


def _ends(entry: dict[str, Any]) -> tuple[str, str]:
    """Both ends of a coefficient, from its exact value where it is known."""
    exact = entry.get("exact")
    upper, lower = (entry["value"], entry["lower"]) if exact is None else (Fraction(exact), Fraction(exact))
    return format_up(upper), format_down(lower)


def _capacity(record: dict[str, Any]) -> Text:
    entry = record["capacity"]
    outcome, secret = _name(entry["outcome"]), _name(entry["secret"])
    return Text(
        f"Leakage under any prior with every mass at least {record['bounds']['min_mass']}: "
        f"{shown_amount(entry, record['unit'])}, at outcome {outcome} about secret {secret}; "
        f"LDP: {shown_amount(record['ldp'], record['unit'])}."
    )


def _bounds(record: dict[str, Any]) -> Table:
    bounds = record["bounds"]
    table = Table(
        title=f"What ε = {with_unit(bounds['epsilon_words'], 'nats')}, c = {bounds['min_mass']} on "
        f"{record['secrets']} secrets imply: D(PK‖QK) ≤ constant · TV(P, Q)"
    )
    for name in ("divergence", "constant", "with the paper's Γ"):
        table.add_column(name, justify="left" if name == "divergence" else "right", overflow="fold")
    for kind, constant in bounds["constants"].items():
        table.add_row(_KINDS[kind], *(shown({"value": constant[which]}) for which in ("exact", "paper")))
    return table


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


def write_contraction_chart(record: dict[str, Any], path: Path) -> None:
    """Draw the TV bound and the KL constants against ε, up to the level of the record, to HTML, SVG or PNG.

    A constant holds for smaller levels too: rising steps are a bound between the points.
    """
    altair = charting()
    rows = _rows(record)
    chart = bound_chart(
        rows,
        title="What a leakage level says about contraction",
        x=altair.X("ε:Q", title="level ε (nats)"),
        y=altair.Y("bound:Q", title="constant in front of TV(P, Q)"),
        curve="curve",
        bounds=dict.fromkeys((row["curve"] for row in rows), Bound(falling=False, above=True)),
    )
    save_chart(chart, path)


def _rows(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The curves, and where the record has them, the channel's own coefficients as flat lines."""
    bounds, n = record["bounds"], record["secrets"]
    mass = Fraction(bounds["min_mass"])
    level = float(bounds["epsilon"])
    most = max(min(1.5 * level, -math.log(mass) if mass else 5.0), 0.1)
    rows = []
    for epsilon in (most * place / _POINTS for place in range(_POINTS + 1)):
        curves = {
            "TV, bound": float(dobrushin_bound(n, epsilon, mass)),
            "KL, bound": float(divergence_bound("kl", n, epsilon, mass)),
            "KL, bound with the paper's Γ": float(divergence_bound("kl", n, epsilon, mass, gamma="paper")),
            "TV, bound for ε-LDP": float(ldp_contraction_bound("tv", epsilon)),
        }
        if "coefficients" in record:
            curves["TV, this channel"] = record["coefficients"]["tv"]["value"]
        rows += [{"ε": epsilon, "bound": value, "curve": name} for name, value in curves.items()]
    return rows


def _name(label: Label) -> str:
    """A label on one line, control characters made visible."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in show(label))
