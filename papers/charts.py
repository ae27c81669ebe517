"""Pictures of the gallery: one size, one way to draw curves, points and bars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import altair

from papers.reproduction import Row

WIDTH, HEIGHT = 300, 220  # legible beside another panel at 1280 pixels, and alone at 390


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
) -> dict[str, Any]:
    """Draw a line for each name in the column `by`; with its unit in the titles.

    Parameters
    ----------
    order : the curves, in the legend's order
    step : "step-after" or "step-before" where a straight line would say what was not computed
    points : marks where values were computed
    band : two columns, the ends of an interval around each point
    """
    data = altair.Data(values=[dict(row) for row in rows])
    names = altair.Scale(domain=list(order)) if order else altair.Undefined
    legend = altair.Legend(title=None, orient="bottom", columns=2, labelLimit=0, symbolType="stroke")
    across = altair.X(f"{x}:Q", title=x_title or x, scale=_scale(log_x))
    height = altair.Y(f"{y}:Q", title=y_title or y, scale=_scale(log_y))
    color = altair.Color(f"{by}:N", scale=names, legend=legend)
    dash = altair.StrokeDash(f"{by}:N", scale=names, legend=legend)
    base = altair.Chart(data).encode(x=across, color=color)
    line = base.mark_line(interpolate=step or "linear", point=points, clip=True)
    layers = [line.encode(y=height, strokeDash=dash)]
    if band is not None:
        low, high = band
        layers.append(
            base.mark_rule(clip=True).encode(
                y=altair.Y(f"{low}:Q", title=y_title or y, scale=_scale(log_y)), y2=f"{high}:Q"
            )
        )
    return sized(altair.layer(*layers))


def sized(chart: Any) -> dict[str, Any]:
    """What a chart makes, in the gallery's size."""
    made: dict[str, Any] = chart.properties(width=WIDTH, height=HEIGHT).to_dict()
    return made


def _scale(logarithmic: bool) -> Any:
    return altair.Scale(type="log") if logarithmic else altair.Scale(zero=False)
