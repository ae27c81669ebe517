"""The plan of a private study as one JSON-ready record, as text and as a picture."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from tightlip.errors import visible
from tightlip.model.jsonio import number_to_json
from tightlip.model.labels import show
from tightlip.numeric.display import format_down, format_up
from tightlip.numeric.quantity import level_exact
from tightlip.planning.privacy import KnownChannel, LocalPrivacy, PmlPrivacy, Privacy
from tightlip.planning.risk import RiskBound
from tightlip.planning.samples import PlanRow, PlanTable
from tightlip.report.amounts import float_json, printable
from tightlip.report.chart import Bound, bound_chart, charting
from tightlip.report.tables import plain_table

_METHODS = {
    "le cam, coupling": "coupling",
    "le cam, hellinger": "Hellinger",
    "le cam, kl": "KL",
    "bretagnolle-huber": "Bretagnolle–Huber",
    "fano": "Fano",
    "assouad": "Assouad",
}


def plan_record(plan: PlanTable) -> dict[str, Any]:
    """Record everything a protocol says about a study: the table over privacy levels, and what it means."""
    study, target = plan.study, plan.target_risk
    return {
        "samples": plan.samples,
        "target_risk": None if target is None else number_to_json(target),
        "loss": study.loss,
        "secrets": study.secrets,
        "hypotheses": [show(name) for name in study.names],
        "model": "n people, independent secrets, one release each; channels may depend on earlier releases",
        "rows": [row_json(row) for row in plan],
    }


def row_json(row: PlanRow) -> dict[str, Any]:
    """Write one privacy level of a plan as JSON values."""
    return {
        "privacy": _level_json(row.privacy),
        "contraction": row.contraction,
        "effective_samples": float_json(row.effective_samples),
        "risk": risk_json(row.risk),
        "samples_needed": None if row.samples_needed is None else _count_json(row.samples_needed),
        "factor": None if row.factor is None else float_json(row.factor),
    }


def _level_json(privacy: Privacy) -> dict[str, Any]:
    words = {"words": privacy.words}
    if isinstance(privacy, KnownChannel):
        return {"kind": "channel", **words}
    if isinstance(privacy, PmlPrivacy):
        mass = {"min_mass": number_to_json(privacy.min_mass)}
        return {"kind": "pml", **_epsilon_json(privacy.epsilon), **mass, **words}
    assert isinstance(privacy, LocalPrivacy)
    kind = "none" if math.isinf(privacy.epsilon) else "ldp"
    return {"kind": kind, **_epsilon_json(privacy.epsilon), **words}


def _epsilon_json(epsilon: float | Fraction) -> dict[str, Any]:
    return {"epsilon": float_json(float(epsilon)), "epsilon_exact": level_exact(epsilon)}


def risk_json(risk: RiskBound) -> dict[str, Any]:
    """Write the bounds on a risk as JSON values."""
    return {
        "lower_bound": risk.value,
        "method": risk.method,
        "pair": None if risk.pair is None else [show(name) for name in risk.pair],
        "methods": {entry.method: entry.value for entry in risk.methods},
    }


def _count_json(count: float) -> int | str:
    return "inf" if math.isinf(count) else int(count)


def plan_text(record: dict[str, Any]) -> RenderableType:
    """Lay the record out as words and a table."""
    words = [Text(sentence) for sentence in sentences(record)]
    title = f"What {_people(record['samples'])} can find out about {_hypotheses(record)}"
    table = plain_table(title, *cells(record), whole=True)
    return Group(words[0], Text(""), table, Text(""), *words[1:])


def sentences(record: dict[str, Any]) -> list[str]:
    """Say what can be promised at best, and how to read the table."""
    first, plain = record["rows"][0], record["rows"][-1]
    bound = format_down(first["risk"]["lower_bound"])
    sentences = [
        f"With {_people(record['samples'])} under {first['privacy']['words']}, no procedure can promise a risk "
        f"({record['loss']} loss) below {bound}; without privacy {format_down(plain['risk']['lower_bound'])}."
    ]
    if record["target_risk"] is not None:
        private = (
            "is never reached"
            if first["samples_needed"] == "inf"
            else f"needs at least {_count(first['samples_needed'])} people"
        )
        without = _count(plain["samples_needed"])
        sentences[0] += f" A risk of {record['target_risk']} {private} (without privacy: {without})."
    sentences += [
        "Risk bounds are lower bounds, rounded down: the true risk may be higher. Numbers of people are necessary, not "
        "sufficient.",
        f"Each person sends one release{_channels(first['privacy'])}. 'Worth at most' is n times the contraction of "
        "KL: so many open samples tell the hypotheses apart at least as well.",
    ]
    return sentences


def _channels(privacy: dict[str, Any]) -> str:
    if privacy["kind"] == "channel":
        return " through the same channel"
    return "; channels may differ and may depend on earlier releases"


def cells(record: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Lay out the levels as a table: names of columns, and rows."""
    targeted = record["target_risk"] is not None
    names = ["privacy", "η of KL", "worth at most", "risk at least", "by"]
    names += [f"needed for {record['target_risk']}", "factor"] if targeted else []
    rows = []
    for row in record["rows"]:
        told = [
            printable(row["privacy"]["words"]),
            format_up(row["contraction"], 4),
            format_up(float(row["effective_samples"]), 4),
            format_down(row["risk"]["lower_bound"], 4),
            _METHODS[row["risk"]["method"]],
        ]
        factor = "–" if row["factor"] is None else f"{float(row['factor']):.3g}"
        rows.append([*told, *([_count(row["samples_needed"]), factor] if targeted else [])])
    return names, rows


def _people(samples: int) -> str:
    return "1 person" if samples == 1 else f"{samples} people"


def _hypotheses(record: dict[str, Any]) -> str:
    names = record["hypotheses"]
    if len(names) > 4:
        return f"{len(names)} hypotheses"
    return " / ".join(visible(name) for name in names)


def _count(count: int | str) -> str:
    """A number of people; beyond 15 digits a power of ten, cut down, since it is a lower bound."""
    if count == "inf":
        return "infinitely many"
    text = str(count)
    return text if len(text) <= 15 else f"{text[0]}.{text[1:4]}e{len(text) - 1}"


def plan_chart(plan: PlanTable) -> Any:
    """Draw the lower bound on the risk against the number of people, one curve per level.

    The least risk falls with people, so a bound holds for fewer too: falling steps are a bound between the points.
    """
    altair = charting()
    counts, curves = plan.risk_curves()
    target = [] if plan.target_risk is None else [("target", [float(plan.target_risk)] * len(counts))]
    rows: list[dict[str, Any]] = [
        {"people": float(count), "risk": risk, "privacy": name}
        for name, risks in [*curves.items(), *target]
        for count, risk in zip(counts, risks, strict=True)
    ]
    return bound_chart(
        rows,
        title="No procedure has a smaller risk",
        x=altair.X("people:Q", title="people (one release each)", scale=altair.Scale(type="log")),
        y=altair.Y("risk:Q", title="lower bound on the risk"),
        curve="privacy",
        bounds=dict.fromkeys((row["privacy"] for row in rows), Bound(falling=True, above=False)),
    )
