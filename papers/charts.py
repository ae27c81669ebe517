"""Pictures of the gallery: one size, one way to draw curves, points and bars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import altair

from papers.reproduction import Row

_SHORT = 22  # characters of a name; longer ones stand below each other in the legend
WIDTH, HEIGHT = 300, 220  # legible beside another panel at 1280 pixels, and alone at 390
# dark enough on white for thin lines, and told apart without colour too
COLORS = ["#1f5fa8", "#c14f00", "#b2182b", "#1b7837", "#6a3d9a", "#7a5c00", "#333333"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2], [10, 4], [1, 3]]


def curves(
    rows: Iterable[Row],
    x: str,
    y: str,
    *,
    by: str = "curve",
    order: Sequence[str] | None = None,
    x_title: str | None = None,
    y_title: str | None = None,
    log_x: bool = False,
    log_y: bool = False,
    step: str | None = None,
    points: bool = False,
    band: tuple[str, str] | None = None,
    y_domain: tuple[float, float] | None = None,
    dots: Iterable[Row] = (),
) -> dict[str, Any]:
    """Draw a line for each name in the column `by`; with its unit in the titles.

    Parameters
    ----------
    order : the curves, in the legend's order
    step : "step-after" or "step-before" where a straight line would say what was not computed
    points : marks where values were computed
    band : two columns, the ends of an interval around each point
    y_domain : the part of the axis that is drawn; lines are cut there
    dots : rows with the same columns that are no lines, drawn as a cloud under them
    """
    values, cloud = [dict(row) for row in rows], [dict(row) for row in dots]
    data, longest = altair.Data(values=values), max((len(str(row[by])) for row in values + cloud), default=0)
    names = {"domain": list(order)} if order else {}
    legend = altair.Legend(
        title=None,
        orient="bottom",
        columns=2 if longest <= _SHORT else 1,
        columnPadding=18,
        labelLimit=0,
        symbolType="stroke",
        symbolSize=180,
        symbolOpacity=1,
    )
    across = altair.X(f"{x}:Q", title=x_title or x, scale=_scale(log_x), axis=altair.Axis(labelSeparation=10))
    height = altair.Y(
        f"{y}:Q", title=y_title or y, scale=_scale(log_y, y_domain), axis=altair.Axis(titlePadding=10)
    )
    color = altair.Color(f"{by}:N", scale=altair.Scale(range=COLORS, **names), legend=legend)
    dash = altair.StrokeDash(f"{by}:N", scale=altair.Scale(range=DASHES, **names), legend=legend)
    base = altair.Chart(data).encode(x=across, color=color)
    line = base.mark_line(interpolate=step or "linear", point=points, clip=True)
    layers = [line.encode(y=height, strokeDash=dash)]
    if cloud:
        marks = altair.Chart(altair.Data(values=cloud)).mark_circle(size=9, opacity=0.5, clip=True)
        layers.insert(0, marks.encode(x=across, y=height, color=color))
    if band is not None:
        low, high = band
        layers.append(
            base.mark_rule(clip=True).encode(
                strokeDash=dash,
                y=altair.Y(f"{low}:Q", title=y_title or y, scale=_scale(log_y, y_domain)),
                y2=f"{high}:Q",
            )
        )
    return sized(altair.layer(*layers))


def sized(chart: Any) -> dict[str, Any]:
    """What a chart makes, in the gallery's size."""
    made: dict[str, Any] = chart.properties(width=WIDTH, height=HEIGHT).to_dict()
    return made


def _scale(logarithmic: bool, domain: tuple[float, float] | None = None) -> Any:
    drawn = {} if domain is None else {"domain": list(domain), "nice": False}
    return (
        altair.Scale(type="log", **{"nice": False, **drawn})
        if logarithmic
        else altair.Scale(zero=False, **drawn)
    )
