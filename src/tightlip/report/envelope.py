"""The result of `tightlip envelope` as one JSON-ready record and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tightlip.envelopes.known_bounds import bounds as envelope_bounds
from tightlip.envelopes.known_bounds import dp_epsilon
from tightlip.envelopes.result import Adversary, Envelope
from tightlip.model.channel import Channel
from tightlip.model.prior import Prior
from tightlip.numeric.quantity import Nats
from tightlip.report.amounts import Unit, delta_json, leakage_json, value_json
from tightlip.report.chart import GUARANTEED, REACHED, Bound, bound_chart, charting, save_chart
from tightlip.report.compared import COMPARED, adversary_words
from tightlip.report.envelope_attack import attack_words

_VISIBLE = 1e-4  # ends closer than this are one line in a picture


def envelope_record(
    channel: Channel,
    prior: Prior,
    points: Sequence[Envelope],
    *,
    adversary: Adversary,
    unit: Unit,
    comparisons: bool,
) -> dict[str, Any]:
    """Each point with its ends, attack in words and, if asked, the bounds and the DP level to compare with."""
    return {
        "unit": unit,
        "adversary": adversary,
        "points": [_point(channel, prior, point, unit, comparisons) for point in points],
    }


def point_record(point: Envelope, unit: Unit, attack: list[str]) -> dict[str, Any]:
    """One point with its ends and its attack in words."""
    return {
        **delta_json(point.delta),
        "epsilon": leakage_json(Nats(point.upper), unit),
        "lower": value_json(Nats(point.lower, rounding="down"), unit),
        "upper": value_json(Nats(point.upper), unit),
        "method": point.method,
        "attack": attack,
    }


def write_envelope_chart(record: dict[str, Any], path: Path) -> None:
    """Draw a record with comparisons to HTML, SVG or PNG, by suffix (ENV Figure 2); what is infinite is said.

    Every curve falls in δ, so its points are joined by falling steps, which bound it between them too.
    """
    altair = charting()
    curves = _curves(record)
    rows = [
        {"δ": point["delta"], "δ_exact": point["delta_exact"], "ε": value, "curve": curve}
        for curve, (_, values) in curves.items()
        for point, value in zip(record["points"], values, strict=True)
        if value != "inf"
    ]
    drawn = {row["curve"] for row in rows}
    largest = max(point["delta"] for point in record["points"])  # a single δ gives no domain by itself
    endless = [curve for curve, (_, values) in curves.items() if all(value == "inf" for value in values)]
    who = (
        "any post-processing"
        if record["adversary"] == "any"
        else f"post-processing by {adversary_words(record)}"
    )
    chart = bound_chart(
        rows,
        title=altair.Title(
            f"What survives {who}", subtitle=[f"infinite at every δ: {name}" for name in endless]
        ),
        x=altair.X("δ:Q", title="failure probability δ", scale=altair.Scale(domain=[0, largest])),
        y=altair.Y("ε:Q", title=f"leakage ε ({record['unit']})"),
        curve="curve",
        bounds={name: bound for name, (bound, _) in curves.items() if name in drawn},
        points=True,
    )
    save_chart(chart, path)


def _curves(record: dict[str, Any]) -> dict[str, tuple[Bound, list[float | str]]]:
    """The curves by name: the envelope, what an attack reaches where that differs, and all that it is compared with."""
    points = record["points"]
    name = f"{adversary_words(record)} (guaranteed)"
    curves: dict[str, tuple[Bound, list[float | str]]] = {
        name: (GUARANTEED, [point["upper"] for point in points])
    }
    if any(0 < float(point["lower"]) < float(point["upper"]) - _VISIBLE for point in points):
        curves["reached by an attack"] = REACHED, [point["lower"] for point in points]
    for key in points[0]["compared"]:
        compared = COMPARED[key]
        values = [point["compared"][key] for point in points]
        curves[compared.curve] = REACHED if compared.reached else GUARANTEED, values
    return curves


def _point(channel: Channel, prior: Prior, point: Envelope, unit: Unit, comparisons: bool) -> dict[str, Any]:
    record = point_record(point, unit, attack_words(point, channel.inputs))
    if comparisons:
        bounds = envelope_bounds(channel, prior, point.delta)
        compared = {
            "maximal_leakage_bound": bounds.maximal_leakage,
            "binary": bounds.event,
            "quantile": bounds.quantile,
            "dp": dp_epsilon(channel, point.delta, prior),
        }
        record["compared"] = {name: value_json(amount, unit) for name, amount in compared.items()}
    return record
