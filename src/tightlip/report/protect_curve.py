"""Show a trade-off as a notebook does: a record, a card, a data frame and a picture."""

from __future__ import annotations

from typing import Any

from tightlip.auditing.leakage import tail_levels
from tightlip.errors import InvalidInput
from tightlip.numeric.quantity import Nats
from tightlip.protection.curve import Curve
from tightlip.report.amounts import Unit
from tightlip.report.audit_record import as_json
from tightlip.report.card import Card, card_of, chart_of, columns_of, record_of
from tightlip.report.chart import charting, finish_chart
from tightlip.report.protect_chart import trade_chart
from tightlip.report.protect_record import TradeReport, trade_point, trade_report

_WIDTH = 560


@record_of.register
def _(result: Curve, unit: Unit) -> dict[str, Any]:
    return {"unit": unit, "kind": _kind(result), **as_json(_report(result, unit))}


@card_of.register
def _(result: Curve) -> Card:
    rows = [
        (
            point.factor_words,
            *(
                found.words if found is not None else ""
                for found in (point.whole_columns, point.kept, point.bound)
            ),
        )
        for point in _report(result, "nats").points
    ]
    return Card(
        f"Detail kept at {len(rows)} budgets",
        columns=("budget, times as likely", "whole columns", f"{_kind(result)} release", "at most possible"),
        rows=rows,
    )


@columns_of.register
def _(result: Curve) -> dict[str, list[Any]]:
    return {
        "budget": [float(point.budget) for point in result.points],
        "kept": [point.kept for point in result.points],
        "bound": [point.bound for point in result.points],
        "information": [point.information for point in result.points],
        "whole_columns": [result.kept_by_whole_columns(float(point.budget)) for point in result.points],
        "leakage": [float(point.leakage) for point in result.points],
        "finished": [point.finished for point in result.points],
    }


@chart_of.register
def _(result: Curve, unit: Unit) -> Any:
    charting()
    if not result.points:
        raise InvalidInput("the curve has no points to draw; ask for some budgets.")
    return finish_chart(trade_chart(_report(result, unit), _kind(result)), width=_WIDTH)


def _kind(curve: Curve) -> str:
    return "randomised" if curve.randomised else "deterministic"


def _report(curve: Curve, unit: Unit) -> TradeReport:
    """The points; the plan's own leakage is told as the next of some fixed levels: few people may be behind it."""
    points = [
        trade_point(point.budget, point.kept, point.bound, curve.whole_columns, unit)
        for point in curve.points
    ]
    plan = curve.plan
    if plan is not None:
        plan = next((level for level in tail_levels() if level >= plan), Nats(float(plan)))
    return trade_report(points, plan)
