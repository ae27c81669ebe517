"""Draw the pictures of a protection as Vega-Lite: people by factor, detail by column, budget against detail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tightlip.report.amounts import Share
from tightlip.report.chart import BLUE, GREY, ORANGE, RED, Bound, finish_chart
from tightlip.report.protect_record import (
    ColumnReport,
    FactorReport,
    FactorStep,
    ProtectReport,
    TradePoint,
    TradeReport,
)

_AT_LEAST, _AT_MOST = Bound(falling=False, above=False), Bound(falling=False, above=True)
_PERCENT = "format(datum.value * 100, '~g') + ' %'"
_TICKS = [1, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000, 10_000, 100_000, 1_000_000]
_BAR = 34  # pixels of a bar, with the room between two

BOUND, WHOLE = "no truthful release keeps more", "whole columns recoded for everybody"


def protect_charts(report: ProtectReport) -> dict[str, dict[str, Any]]:
    """Draw all pictures of a report, by name, each a Vega-Lite specification with its data inside."""
    found = {
        f"factors-{place}": finish_chart(factors_chart(one)).to_dict()
        for place, one in enumerate(report.factors, 1)
    }
    found["columns"] = columns_chart(report.columns).to_dict()
    if report.trade_off is not None and len(report.trade_off.points) > 1:
        found["trade-off"] = finish_chart(trade_chart(report.trade_off, report.kind)).to_dict()
    return found


def factors_chart(report: FactorReport) -> Any:
    """Draw the share of people whose value says at most so much, before and after, as rising steps on a log scale."""
    curves: dict[str, Callable[[FactorStep], Share]] = {
        "before": lambda step: step.before,
        "after": lambda step: step.after,
    }
    rows = [
        {
            "factor": step.factor,
            "share": end(step).value,
            "curve": name,
            "factor_words": step.factor_words,
            "share_words": f"at least {end(step).words}",
        }
        for name, end in curves.items()
        for step in report.steps
    ]
    last = max((step.factor for step in report.steps), default=1.0)
    return _steps(
        rows,
        {"before": (_AT_LEAST, GREY), "after": (_AT_LEAST, BLUE)},
        ("factor", "times as likely, at most", "times as likely, at most"),
        ("share", "people"),
        (1.0, max(last, 1.5)),
    )


def trade_chart(report: TradeReport, kind: str) -> Any:
    """Draw the detail that can be kept at each budget: found, bounded, and by recoding whole columns."""
    release = f"{kind} release"
    curves: dict[str, tuple[Callable[[TradePoint], Share | None], Bound, str]] = {
        BOUND: (lambda point: point.bound, _AT_MOST, ORANGE),
        release: (lambda point: point.kept, _AT_LEAST, BLUE),
        WHOLE: (lambda point: point.whole_columns, _AT_LEAST, GREY),
    }
    rows = [
        {
            "factor": point.factor,
            "detail": found.value,
            "curve": name,
            "factor_words": point.factor_words,
            "detail_words": f"{'at most' if bound.above else 'at least'} {found.words}",
        }
        for name, (end, bound, _) in curves.items()
        for point in report.points
        if (found := end(point)) is not None
    ]
    # from the plan's own factor on, if there is one, everything can be kept
    last = max([report.plan or 1.0, *(point.factor for point in report.points)])
    rows += [
        {
            "factor": report.plan,
            "detail": 1.0,
            "curve": name,
            "factor_words": report.plan_words,
            "detail_words": "everything: the table as it is",
        }
        for name in (release, WHOLE)
        if report.plan is not None and any(row["curve"] == name for row in rows)
    ]
    return _steps(
        rows,
        {name: (bound, color) for name, (_, bound, color) in curves.items()},
        ("factor", "budget: times as likely, at most", "budget, times as likely"),
        ("detail", "detail kept"),
        (1.0, max(last, 1.5)),
        rule=next((point for point in report.points if point.own), None),
    )


def columns_chart(columns: Sequence[ColumnReport], width: int | str = "container") -> Any:
    """Draw the share of each column's own content that is kept, as bars."""
    import altair as alt

    rows = [{"column": one.column, "kept": one.kept.value, "kept_words": one.kept.words} for one in columns]
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("column:N", title=None, sort=None, axis=alt.Axis(labelLimit=110)),
        x=alt.X(
            "kept:Q",
            title="of the column's own detail",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(labelExpr=_PERCENT, values=[0, 0.25, 0.5, 0.75, 1]),
        ),
        tooltip=[alt.Tooltip("column:N"), alt.Tooltip("kept_words:N", title="kept")],
    )
    # the words stand inside the bar where it is long, beside it where it is short
    inside = base.transform_filter("datum.kept > 0.3")
    beside = base.transform_filter("datum.kept <= 0.3")
    chart = alt.layer(
        base.mark_bar(color=BLUE, height={"band": 0.7}),
        inside.mark_text(align="right", dx=-6, color="white").encode(text="kept_words:N"),
        beside.mark_text(align="left", dx=6).encode(text="kept_words:N"),
    )
    return finish_chart(chart, width=width, height=max(len(rows), 2) * _BAR)


def _steps(
    rows: list[dict[str, Any]],
    curves: dict[str, tuple[Bound, str]],
    across: tuple[str, str, str],
    up: tuple[str, str],
    domain: tuple[float, float],
    rule: TradePoint | None = None,
) -> Any:
    """Draw a step for each curve, a true bound between its points too, with the points marked.

    `across` and `up` are the field of an axis and its title; the title of a tooltip is the last of `across`.
    """
    import altair as alt

    x, y = _factor_axis(across[0], across[1], domain), _share_axis(up[0], up[1])
    shown = {name: own for name in curves if (own := _curve(rows, name, across[0]))}
    color = alt.Color(
        "curve:N",
        title=None,
        scale=alt.Scale(domain=list(shown), range=[curves[name][1] for name in shown]),
        legend=alt.Legend(columns=1, symbolType="stroke", symbolSize=300, symbolStrokeWidth=3),
    )
    tooltip = [
        alt.Tooltip("curve:N", title=" "),
        alt.Tooltip(f"{across[0]}_words:N", title=across[2]),
        alt.Tooltip(f"{up[0]}_words:N", title=up[1]),
    ]
    # points come after all lines, which would keep the mouse from them
    lines, marks = [], []
    for name, own in shown.items():
        bound = curves[name][0]
        line = alt.Chart(alt.Data(values=_corners(own, across[0], up[0], bound, domain)))
        points = alt.Chart(alt.Data(values=own)).encode(x=x, y=y, color=color, tooltip=tooltip)
        lines.append(line.encode(x=x, y=y, color=color).mark_line(interpolate=bound.step, strokeWidth=2.5))
        marks.append(points.mark_point(filled=True, size=60, opacity=1))
    return alt.layer(*([] if rule is None else _rule(rule, x)), *lines, *marks)


def _curve(rows: list[dict[str, Any]], name: str, x: str) -> list[dict[str, Any]]:
    return sorted((row for row in rows if row["curve"] == name), key=lambda row: float(row[x]))


def _factor_axis(field: str, title: str, domain: tuple[float, float]) -> Any:
    """Factors on a log scale."""
    import altair as alt

    return alt.X(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(type="log", domain=list(domain)),
        axis=alt.Axis(values=_ticks(domain), format="~s", labelOverlap="greedy"),
    )


def _share_axis(field: str, title: str) -> Any:
    """Shares from 0 to 100 %."""
    import altair as alt

    axis = alt.Axis(labelExpr=_PERCENT, values=[0, 0.25, 0.5, 0.75, 1])
    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=axis)


def _corners(
    rows: list[dict[str, Any]], x: str, y: str, bound: Bound, domain: tuple[float, float]
) -> list[dict[str, Any]]:
    """The corners of a rising bound: from below to the right edge, from above no further than it was worked out."""
    best = bound.tighten([row[y] for row in rows])
    line = [{x: row[x], y: value, "curve": row["curve"]} for row, value in zip(rows, best, strict=True)]
    return line if bound.above else [*line, line[-1] | {x: domain[1]}]


def _rule(own: TradePoint, x: Any) -> list[Any]:
    """The budget that was asked for, as a dashed line with its name at the bottom."""
    import altair as alt

    words = f"budget: {own.factor_words} times"
    base = alt.Chart(alt.Data(values=[{"factor": own.factor, "words": words}])).encode(x=x)
    rule = base.mark_rule(strokeDash=[5, 4], color=RED, strokeWidth=1.5)
    text = base.mark_text(color=RED, align="left", dx=5, dy=-9, y="height").encode(text="words:N")
    return [rule, text]


def _ticks(domain: tuple[float, float]) -> list[float]:
    """Round factors within a range: all where they are few, then 1, 2 and 5 in each decade, otherwise powers of ten.

    >>> _ticks((1.0, 6.0)), _ticks((1.0, 60.0)), _ticks((1.0, 3000.0))
    ([1, 1.5, 2, 3, 5], [1, 2, 5, 10, 20, 50], [1, 10, 100, 1000])
    """
    within = [tick for tick in _TICKS if domain[0] <= tick <= domain[1]]
    if domain[1] <= 10:
        return within
    leading = "125" if domain[1] <= 200 else "1"
    return [tick for tick in within if str(tick).strip("0") in leading]
