"""The result of `tightlip sml`: a JSON-ready record, and the same as text, words first."""

from __future__ import annotations

import math
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from tightlip.errors import visible
from tightlip.measures.maximal import maximal_leakage
from tightlip.model.channel import Channel
from tightlip.model.labels import Label, label_from_json, show
from tightlip.numeric.ball import exp_bounds
from tightlip.numeric.display import format_down, format_up, several
from tightlip.numeric.quantity import Nats
from tightlip.numeric.unit import with_unit
from tightlip.report.amounts import Unit, leakage_json, shown, shown_amount, value_json
from tightlip.statistic.maximal import cost_leakage as statistic_cost_leakage
from tightlip.statistic.outcome import ldp as statistic_ldp
from tightlip.statistic.outcome import outcome_leakage as statistic_outcome_leakage
from tightlip.statistic.result import StatisticLeakage

_MOST_SECRETS = 20
_TITLES = {
    "maximal_leakage": "maximal leakage (any secret)",
    "cost_leakage": "about the least likely secret (Π_inf)",
    "outcome_leakage": "worst outcome (Π̃)",
    "ldp": "indistinguishability across secrets (L_DP)",
}


def statistic_record(found: StatisticLeakage, *, unit: Unit) -> dict[str, Any]:
    """Both ends, whether they met, and the selection."""
    return {
        "unit": unit,
        "leakage": leakage_json(found.value, unit),
        "lower": lower_end(found, unit),
        "upper": leakage_json(found.value, unit)["value"],
        "exact": found.exact,
        "factor": _factor(found),
        "secrets": len(found.selection),
        "method": found.method,
        "selection": [
            {"secret": _json(secret), "row": _json(row)} for secret, row in found.selection.items()
        ],
    }


def compared_record(
    channel: Channel, secret: tuple[Label, ...] | None, *, unit: Unit, work: float, time_limit: float | None
) -> dict[str, Any]:
    """Related measures of the same channel and secret."""
    amounts = {
        "maximal_leakage": maximal_leakage(channel),
        "cost_leakage": statistic_cost_leakage(channel, secret, work=work, time_limit=time_limit).value,
        "outcome_leakage": statistic_outcome_leakage(channel, secret),
        "ldp": statistic_ldp(channel, secret),
    }
    return {name: leakage_json(amount, unit) for name, amount in amounts.items()}


def lower_end(found: StatisticLeakage, unit: Unit) -> float | str:
    """What the selection reaches, rounded down."""
    return value_json(Nats(found.lower, found.ratio, "down"), unit)


def statistic_text(record: dict[str, Any]) -> RenderableType:
    """The record of `statistic_record` in words and a table."""
    amount = shown_amount(record["leakage"], record["unit"])
    headline = (
        f"The release makes the secret at most {record['factor']} times as easy to guess: {amount} "
        f"({several(record['secrets'], 'secret')}, any prior)."
    )
    proof = (
        "Exact: the selection below reaches it."
        if record["exact"]
        else f"Proved from above; the selection below reaches {_reached(record)}."
    )
    parts: list[RenderableType] = [Text(headline, style="bold"), Text(f"{proof} Method: {record['method']}.")]
    if "compared" in record:
        parts.append(_compared(record))
    parts.append(_selection(record["selection"]))
    return Group(*(item for part in parts for item in (part, Text(""))))


def _reached(record: dict[str, Any]) -> str:
    return with_unit(format_down(float(record["lower"])), record["unit"])


def _compared(record: dict[str, Any]) -> Table:
    table = Table(title="Related measures, rounded up")
    table.add_column("measure", overflow="fold")
    table.add_column(record["unit"], justify="right", overflow="fold")
    for name, amount in record["compared"].items():
        table.add_row(_TITLES[name], shown(amount))
    return table


def _selection(entries: list[dict[str, Any]]) -> Table:
    title = "The worst prior puts each secret on one row"
    if len(entries) > _MOST_SECRETS:
        title += f" ({_MOST_SECRETS} of {len(entries)}; --json has all)"
    table = Table(title=title)
    table.add_column("secret", overflow="fold")
    table.add_column("row", overflow="fold")
    for entry in entries[:_MOST_SECRETS]:
        table.add_row(_shown_label(entry["secret"]), _shown_label(entry["row"]))
    return table


def _factor(found: StatisticLeakage) -> str:
    """e^Π, rounded up."""
    if found.ratio is not None:
        return format_up(found.ratio)
    return "inf" if math.isinf(found.upper) else format_up(exp_bounds(found.upper)[1])


def _json(label: Label) -> Any:
    return [_json(part) for part in label] if isinstance(label, tuple) else label


def _shown_label(label: Any) -> str:
    return escape(visible(show(label_from_json(label))))
