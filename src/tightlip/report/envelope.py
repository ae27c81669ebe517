"""The result of `tightlip envelope` as one JSON-ready record and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tightlip.envelope.bounds import dp_epsilon, envelope_bounds
from tightlip.envelope.result import Envelope
from tightlip.model.channel import Channel
from tightlip.model.labels import Labels, show
from tightlip.model.prior import Prior
from tightlip.numeric.quantity import Nats
from tightlip.report.amounts import Unit, leakage_json, value_json
from tightlip.report.chart import charting, line_chart, save_chart

_SHOWN = 4
_CURVES = {
    "epsilon": "exact envelope",
    "maximal_leakage_bound": "bound ℒ + log 1/δ",
    "binary": "binary adversary",
    "quantile": "no post-processing",
    "dp": "(ε, δ)-LDP",
}


def envelope_record(
    channel: Channel, prior: Prior, points: Sequence[Envelope], *, unit: Unit, comparisons: bool
) -> dict[str, Any]:
    """Each point with its ends, attack in words and, if asked, the bounds and the DP level to compare with."""
    return {
        "unit": unit,
        "adversary": points[0].adversary,
        "points": [_point(channel, prior, point, unit, comparisons) for point in points],
    }


def attack_words(attack: Channel, secrets: Labels, *, binary: bool) -> list[str]:
    """What the attack does: which outcomes it groups under which secret, of a binary adversary just an event."""
    from tightlip.model.matrix import dense_column

    told_of, sentences = {"event"} if binary else set(secrets), []
    for place, symbol in enumerate(attack.outputs):
        if symbol not in told_of:  # the rest
            continue
        shares = [float(share) for share in dense_column(attack.matrix, place)]
        outcomes = sorted(
            (row for row, share in enumerate(shares) if share > 0), key=lambda row: -shares[row]
        )
        named = [
            f'"{show(attack.inputs[row])}"'
            + ("" if shares[row] > 1 - 1e-9 else f" ({100 * shares[row]:.3g} % of the time)")
            for row in outcomes[:_SHOWN]
        ]
        more = f" and {len(outcomes) - _SHOWN} more" if len(outcomes) > _SHOWN else ""
        told = "is an event that leaks so much" if binary else f'points to secret "{show(symbol)}"'
        sentences.append(f"grouping {', '.join(named)}{more} {told}")
    return sentences


def write_envelope_chart(record: dict[str, Any], path: Path) -> None:
    """Draw the record of `envelope_record` (with comparisons) to HTML, SVG or PNG, by suffix (ENV Figure 2)."""
    altair = charting()
    rows = [
        {"δ": point["delta"], "ε": value, "curve": _CURVES[name]}
        for point in record["points"]
        for name, value in {"epsilon": point["epsilon"]["value"], **point["compared"]}.items()
        if value != "inf"
    ]
    drawn = {row["curve"] for row in rows}
    chart = line_chart(
        rows,
        title="What survives any post-processing",
        x=altair.X("δ:Q", title="failure probability δ"),
        y=altair.Y("ε:Q", title=f"leakage ε ({record['unit']})"),
        curve="curve",
        curves=[name for name in _CURVES.values() if name in drawn],
        points=True,
    )
    save_chart(chart, path)


def _point(channel: Channel, prior: Prior, point: Envelope, unit: Unit, comparisons: bool) -> dict[str, Any]:
    record: dict[str, Any] = {
        "delta": float(point.delta),
        "epsilon": leakage_json(Nats(point.upper), unit),
        "lower": value_json(Nats(point.lower, rounding="down"), unit),
        "upper": value_json(Nats(point.upper), unit),
        "method": point.method,
        "attack": []
        if point.attack is None
        else attack_words(point.attack, channel.inputs, binary=point.adversary == "binary"),
    }
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
