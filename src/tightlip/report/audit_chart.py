"""Draw the pictures of an audit as Vega-Lite: people (`people_chart`), how likely each leak is, and what survives."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from tightlip.errors import InvalidInput
from tightlip.report.amounts import Amount
from tightlip.report.audit_record import Change, EnvelopePoint, ViewReport
from tightlip.report.chart import (
    BLUE,
    FACTOR_TITLE,
    GREY,
    GUARANTEED,
    ORANGE,
    REACHED,
    RED,
    Bound,
    Picture,
    factor_axis,
)
from tightlip.report.people_chart import certainty_picture, columns_picture, heat_picture, people_picture

_PLACES: dict[str, dict[str, Any]] = {
    "level": {"y": 0, "align": "center", "dy": -16},
    "delta": {"y": "height", "align": "left", "dx": 5, "dy": -9},
    "chance": {"x": 0, "align": "left", "dx": 6, "dy": -8},
    "epsilon": {"x": 0, "align": "left", "dx": 6, "dy": 9},
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


def audit_pictures(view: ViewReport, *, unit: str, change: Change | None = None) -> dict[str, Picture]:
    """Draw the pictures of one view of a report, by name, people first.

    Those of which a sample has no numbers are left out; `change` is a change of the plan under which the same people
    are drawn too.
    """
    found = {
        "people": people_picture(view, change),
        "certainty": certainty_picture(view),
        "columns": columns_picture(view),
        "heat": heat_picture(view, unit),
        "tail": tail_picture(view, unit),
        "envelope": envelope_picture(view, unit),
    }
    return {name: picture for name, picture in found.items() if picture is not None}


def tail_picture(view: ViewReport, unit: str) -> Picture:
    """Draw how likely each leak is."""
    return Picture(
        "How likely is a leak?",
        "The chance that somebody's released values leak more than a level; the curve ends at the worst leakage, "
        f"{view.worst.leakage.words}.",
        tail_chart(view, unit, view.budget),
        ("leakage above", "chance at most", "chance at least"),
        tuple((point.level.words, point.above.words, point.at_least.words) for point in view.tail),
    )


def envelope_picture(view: ViewReport, unit: str) -> Picture:
    """Draw what survives any grouping of released values."""
    return Picture(
        "What survives any grouping of released values?",
        "A stranger may group released values before drawing conclusions: leaks above the guaranteed curve have a "
        "probability below δ, however they are grouped; it was computed at the dots, and a step between them holds "
        "because a leak can only shrink as δ grows.",
        envelope_chart(view, unit, view.budget),
        ("δ", "guaranteed", "reached by an attack"),
        tuple((point.delta_words, point.upper.words, point.lower.words) for point in view.curve),
    )


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
    longest = max([float(worst), *(float(step["level"]) for step in steps)])
    x = alt.X("level:Q", title=FACTOR_TITLE, scale=alt.Scale(zero=True), axis=factor_axis(longest, unit))
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
        line.mark_line(interpolate="step-after", color=BLUE, strokeWidth=2.5),
        *_rule("chance", delta, f"δ = {view.envelope.delta_words}", GREY),
        *_budget_rule("level", budget, float(worst)),
        marks.mark_point(color=BLUE, filled=True, size=70, opacity=1).encode(tooltip=tooltip),
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
    ends = [float(point.upper.value) for point in view.curve]
    longest = max([end for end in ends if not math.isinf(end)] + [_value(budget)])
    y = alt.Y("epsilon:Q", title=FACTOR_TITLE, scale=alt.Scale(zero=True), axis=factor_axis(longest, unit))
    names = ["guaranteed", "reached by an attack"]
    color = alt.Color("curve:N", title=None, scale=alt.Scale(domain=names, range=[BLUE, ORANGE]))
    tooltip = [
        alt.Tooltip("curve:N", title="curve"),
        alt.Tooltip("delta_words:N", title="δ"),
        alt.Tooltip("epsilon_words:N", title="leakage ε"),
    ]
    # the guarantee is drawn broad, so that an attack that reaches it lies on top and not in its place
    return alt.layer(
        *_budget_rule("epsilon", budget),
        *_rule("delta", view.envelope.delta, f"δ = {view.envelope.delta_words}", GREY),
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


def _value(budget: Amount | None) -> float:
    """Where a budget is drawn; 0 where it is not."""
    return 0.0 if budget is None or budget.value == "inf" else float(budget.value)


def _budget_rule(field: str, budget: Amount | None, longest: float = math.inf) -> list[Any]:
    """The budget; its name ends at the rule where that is near the right end, the longest level drawn."""
    if budget is None or budget.value == "inf":
        return []
    side = {"align": "right", "dx": 4} if float(budget.value) > 0.7 * longest else {}
    return _rule(field, budget.value, f"budget {budget.words}", RED, side)


def _rule(
    field: str, value: float | str, words: str, color: str, place: Mapping[str, Any] = MappingProxyType({})
) -> list[Any]:
    """A dashed line across the picture, named where the falling curves leave room."""
    import altair as alt

    channel = alt.X(f"{field}:Q") if field in ("level", "delta") else alt.Y(f"{field}:Q")
    base = alt.Chart(alt.Data(values=[{field: value, "words": words}])).encode(channel)
    rule = base.mark_rule(strokeDash=[5, 4], color=color, strokeWidth=1.5)
    return [rule, base.mark_text(color=color, **{**_PLACES[field], **place}).encode(text="words:N")]
