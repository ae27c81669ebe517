"""Draw the pictures of an audit as Vega-Lite: how likely each leak is, and what survives post-processing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tightlip.errors import InvalidInput
from tightlip.report.amounts import Amount
from tightlip.report.audit_record import EnvelopePoint, ViewReport
from tightlip.report.chart import GUARANTEED, REACHED, Bound

_BLUE, _ORANGE, _RED, _GREY = "#3b7dd8", "#d9822b", "#d0453e", "#8a94a0"  # readable on white and on black
_HEIGHT = 260
_PLACES: dict[str, dict[str, Any]] = {
    "level": {"y": 0, "align": "center", "dy": -16},
    "delta": {"y": "height", "align": "left", "dx": 5, "dy": -9},
    "chance": {"x": 0, "align": "left", "dx": 6, "dy": -8},
    "epsilon": {"x": 0, "align": "left", "dx": 6, "dy": 9},
}
_CONFIG: dict[str, Any] = {
    "background": "transparent",
    "view": {"stroke": None},
    "font": "system-ui, sans-serif",
    "axis": {
        "labelColor": "currentColor",
        "titleColor": "currentColor",
        "domainColor": "currentColor",
        "tickColor": "currentColor",
        "gridColor": "currentColor",
        "gridOpacity": 0.15,
        "labelFontSize": 12,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelOverlap": True,
        "tickCount": 5,
    },
    "legend": {"labelColor": "currentColor", "labelFontSize": 12, "labelLimit": 0, "orient": "top"},
    "text": {"color": "currentColor", "fontSize": 12},
    "rule": {"color": "currentColor"},
}


def require_charts() -> None:
    """Refuse, with the line to run, where the libraries of the report are not installed."""
    try:
        import altair  # noqa: F401
        import jinja2  # noqa: F401
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise InvalidInput(
            "the HTML report needs more libraries; run pip install 'tightlip[chart]'."
        ) from error


def audit_charts(view: ViewReport, *, unit: str, budget: Amount | None) -> dict[str, dict[str, Any]]:
    """Draw both pictures of one view of a report, by name, each a Vega-Lite specification with its data inside."""
    return {
        "tail": finish_chart(tail_chart(view, unit, budget)).to_dict(),
        "envelope": finish_chart(envelope_chart(view, unit, budget)).to_dict(),
    }


def tail_chart(view: ViewReport, unit: str, budget: Amount | None) -> Any:
    """Draw P(leakage > level) as steps on a log scale down to the worst leakage, δ and the budget as dashed rules."""
    import altair as alt

    steps: list[dict[str, Any]] = [
        {
            "level": point.level.value,
            "chance": point.above.value,
            "level_words": point.level.words,
            "chance_words": point.above.words,
        }
        for point in view.tail
        if point.above.value > 0  # a log scale has no place for 0
    ]
    delta, worst = view.envelope.delta, view.worst.leakage.value
    ticks = _powers(min([step["chance"] for step in steps] + [delta]))
    x = alt.X("level:Q", title=f"leakage ({unit})", scale=alt.Scale(zero=True))
    y = alt.Y(
        "chance:Q",
        title="chance of a larger leak",
        scale=alt.Scale(type="log", domain=[ticks[0], 1]),
        axis=alt.Axis(values=ticks, labelExpr=_PERCENT_TICK),
    )
    ends = [{"level": worst, "chance": chance} for chance in (steps[-1]["chance"], ticks[0])] if steps else []
    line = alt.Chart(alt.Data(values=[*steps, *ends])).encode(x=x, y=y)
    marks = alt.Chart(alt.Data(values=steps)).encode(x=x, y=y)
    tooltip = [
        alt.Tooltip("level_words:N", title="leakage above"),
        alt.Tooltip("chance_words:N", title="chance of a larger leak"),
    ]
    return alt.layer(
        line.mark_line(interpolate="step-after", color=_BLUE, strokeWidth=2.5),
        *_rule("chance", delta, f"δ = {view.envelope.delta_words}", _GREY),
        *_budget_rule("level", budget),
        marks.mark_point(color=_BLUE, filled=True, size=70, opacity=1).encode(tooltip=tooltip),
    )


def envelope_chart(view: ViewReport, unit: str, budget: Amount | None) -> Any:
    """Draw ε(δ) that is guaranteed, and what an attack reaches: falling steps, each on its own side of the truth."""
    import altair as alt

    def curve(
        name: str, end: Callable[[EnvelopePoint], Amount], bound: Bound, size: int, width: float
    ) -> list[Any]:
        points = [
            {
                "delta": point.delta,
                "epsilon": end(point).value,
                "curve": name,
                "delta_words": point.delta_words,
                "epsilon_words": end(point).words,
            }
            for point in view.curve
            if not math.isinf(float(end(point).value))  # no place in a picture; the table says it
        ]
        marks = alt.Chart(alt.Data(values=points)).encode(x=x, y=y, color=color, tooltip=tooltip)
        line = alt.Chart(alt.Data(values=_step(points, name, bound, domain))).encode(x=x, y=y, color=color)
        return [
            line.mark_line(strokeWidth=width, interpolate=bound.step),
            marks.mark_point(filled=True, opacity=1, size=size),
        ]

    ticks = _powers(min(point.delta for point in view.curve))
    domain = [min(ticks[0], 0.1), 1.0]  # of a single point too
    x = alt.X(
        "delta:Q",
        title="probability δ that may be accepted",
        scale=alt.Scale(type="log", domain=domain),
        axis=alt.Axis(values=ticks, format="~g"),
    )
    y = alt.Y("epsilon:Q", title=f"leakage ε ({unit})", scale=alt.Scale(zero=True))
    names = ["guaranteed", "reached by an attack"]
    color = alt.Color("curve:N", title=None, scale=alt.Scale(domain=names, range=[_BLUE, _ORANGE]))
    tooltip = [
        alt.Tooltip("curve:N", title="curve"),
        alt.Tooltip("delta_words:N", title="δ"),
        alt.Tooltip("epsilon_words:N", title="leakage ε"),
    ]
    # the guarantee is drawn broad, so that an attack that reaches it lies on top and not in its place
    return alt.layer(
        *_budget_rule("epsilon", budget),
        *_rule("delta", view.envelope.delta, f"δ = {view.envelope.delta_words}", _GREY),
        *curve(names[0], lambda point: point.upper, GUARANTEED, 150, 5),
        *curve(names[1], lambda point: point.lower, REACHED, 40, 1.5),
    )


def _step(points: list[dict[str, Any]], name: str, bound: Bound, domain: list[float]) -> list[dict[str, Any]]:
    """The corners of a bound, and as far as it holds beyond the last computed point: to δ = 1, or to the left edge."""
    best = bound.tighten([point["epsilon"] for point in points])
    line = [
        {"delta": point["delta"], "epsilon": value, "curve": name}
        for point, value in zip(points, best, strict=True)
    ]
    if not line:
        return []
    return (
        [*line, line[-1] | {"delta": domain[1]}] if bound.above else [line[0] | {"delta": domain[0]}, *line]
    )


_PERCENT_TICK = "format(datum.value * 100, datum.value < 1e-5 ? '.0e' : '~g') + ' %'"


def _powers(smallest: float) -> list[float]:
    """The powers of ten from 1 down to the first at or below the smallest value.

    >>> _powers(0.02)
    [0.01, 0.1, 1.0]
    """
    return [10.0**power for power in range(math.floor(math.log10(smallest)), 1)]


def _budget_rule(field: str, budget: Amount | None) -> list[Any]:
    if budget is None:
        return []
    return _rule(field, budget.value, f"budget {budget.words}", _RED)


def _rule(field: str, value: float | str, words: str, color: str) -> list[Any]:
    """A dashed line across the picture, named where the falling curves leave room."""
    import altair as alt

    channel = alt.X(f"{field}:Q") if field in ("level", "delta") else alt.Y(f"{field}:Q")
    base = alt.Chart(alt.Data(values=[{field: value, "words": words}])).encode(channel)
    rule = base.mark_rule(strokeDash=[5, 4], color=color, strokeWidth=1.5)
    return [rule, base.mark_text(color=color, **_PLACES[field]).encode(text="words:N")]


def finish_chart(chart: Any, width: int | str = "container", height: int = _HEIGHT) -> Any:
    """Give a picture the report's colours and sizes, which are readable on white and on black."""
    return chart.properties(width=width, height=height).configure(**_CONFIG)
