"""Statistic maximal leakage as a JSON-ready record, and the same as text, words first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tightlip.errors import visible
from tightlip.model.labels import Label, label_from_json, show
from tightlip.numeric.ball import exp_bounds
from tightlip.numeric.display import format_down, format_up, several
from tightlip.numeric.quantity import Nats
from tightlip.report.amounts import Unit, leakage_json, show_amount, show_value, value_json, with_unit
from tightlip.report.tables import plain_table
from tightlip.statistic.result import StatisticLeakage

_MOST_SECRETS = 20
_TITLES = {
    "maximal_leakage": "maximal leakage (any secret)",
    "cost_leakage": "about the least likely secret (Π_inf)",
    "outcome_leakage": "worst outcome (Π̃)",
    "ldp": "indistinguishability across secrets (L_DP)",
}


def statistic_record(
    found: StatisticLeakage, compared: Mapping[str, Nats] | None = None, *, unit: Unit
) -> dict[str, Any]:
    """Record both ends, whether they met, the selection and, where given, related measures by name."""
    record = {
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
    if compared is not None:
        record["compared"] = {name: leakage_json(amount, unit) for name, amount in compared.items()}
    return record


def lower_end(found: StatisticLeakage, unit: Unit) -> float | str:
    """Compute what the selection reaches, rounded down."""
    return value_json(Nats(found.lower, found.ratio, "down"), unit)


def statistic_text(record: dict[str, Any]) -> RenderableType:
    """Lay the record out in words and tables."""
    headline, proof = statistic_words(record)
    parts: list[RenderableType] = [Text(headline, style="bold"), Text(proof)]
    if "compared" in record:
        parts.append(_comparison_table(record))
    parts.append(_selection(record["selection"]))
    return Group(*(item for part in parts for item in (part, Text(""))))


def statistic_words(record: dict[str, Any]) -> tuple[str, str]:
    """Say what the release does to a guess, and how sure that is."""
    amount = show_amount(record["leakage"], record["unit"])
    headline = (
        f"The release makes the secret at most {record['factor']} times as easy to guess: {amount} "
        f"({several(record['secrets'], 'secret')}, any prior)."
    )
    proof = (
        "Exact: the selection below reaches it."
        if record["exact"]
        else f"Proved from above; the selection below reaches {_lower_words(record)}."
    )
    return headline, f"{proof} Method: {record['method']}."


def _lower_words(record: dict[str, Any]) -> str:
    return with_unit(format_down(float(record["lower"])), record["unit"])


def _comparison_table(record: dict[str, Any]) -> Table:
    rows = [(_TITLES[name], show_value(amount)) for name, amount in record["compared"].items()]
    return plain_table("Related measures, rounded up", ["measure", record["unit"]], rows)


def _selection(entries: list[dict[str, Any]]) -> Table:
    title = "The worst prior puts each secret on one row"
    if len(entries) > _MOST_SECRETS:
        title += f" ({_MOST_SECRETS} of {len(entries)}; --json has all)"
    rows = [(_show_label(entry["secret"]), _show_label(entry["row"])) for entry in entries[:_MOST_SECRETS]]
    return plain_table(title, ["secret", "row"], rows)


def _factor(found: StatisticLeakage) -> str:
    """e^Π, rounded up."""
    if found.ratio is not None:
        return format_up(found.ratio)
    return "inf" if math.isinf(found.upper) else format_up(exp_bounds(found.upper)[1])


def _json(label: Label) -> Any:
    return [_json(part) for part in label] if isinstance(label, tuple) else label


def _show_label(label: Any) -> str:
    return visible(show(label_from_json(label)))
