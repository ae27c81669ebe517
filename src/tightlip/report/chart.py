"""Draw charts alike: colours for white and black paper, bounds as steps; save them as offline HTML, SVG or PNG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from tightlip.errors import InvalidInput
from tightlip.files import prepare_output
from tightlip.numeric.display import format_down, format_sides, format_up

_SUFFIXES = (".html", ".svg", ".png")
BLUE, ORANGE, RED, GREEN, GREY = (
    "#3b7dd8",
    "#d9822b",
    "#d0453e",
    "#2f9e62",
    "#8a94a0",
)  # on white and on black
_HEIGHT = 260
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
    "title": {"color": "currentColor", "anchor": "start", "fontSize": 15},
    "rule": {"color": "currentColor"},
}


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a report: its title, a sentence about it, the chart, and the table behind it.

    Attributes
    ----------
    chart : an Altair chart without size and colours; see `spec`
    names, rows : the numbers that are drawn, and those that are left out for want of room, as text
    height : in pixels
    """

    title: str
    caption: str
    chart: Any
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    height: int = _HEIGHT

    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification with its data inside, as wide as its place; its title stands outside."""
        found: dict[str, Any] = finish_chart(self.chart, height=self.height).to_dict()
        return found

    def titled(self, width: int) -> Any:
        """The chart with its title inside."""
        return finish_chart(self.chart.properties(title=self.title), width=width, height=self.height)


class Bound(NamedTuple):
    """What computed points say of a monotone function between them: it is never beyond the step through them.

    A straight line is no bound: where the function bends or jumps, the truth lies on its wrong side.

    Attributes
    ----------
    falling : whether the function falls, else it rises
    above : whether the points are bounds from above, else from below
    """

    falling: bool
    above: bool

    @property
    def step(self) -> str:
        """The interpolation of Vega-Lite that bounds: each point holds up to the next, or from the last one on."""
        return "step-after" if self.falling == self.above else "step-before"

    def tighten(self, values: Sequence[float]) -> list[float]:
        """Tighten bounds to the best at each point, by x rising: a point bounds all on one side of it.

        >>> Bound(falling=True, above=True).tighten([3.0, 1.0, 2.0])
        [3.0, 1.0, 1.0]
        >>> Bound(falling=True, above=False).tighten([3.0, 1.0, 2.0])
        [3.0, 2.0, 2.0]
        """
        onwards = self.falling == self.above
        best = list(accumulate(values if onwards else reversed(values), min if self.above else max))
        return best if onwards else best[::-1]


GUARANTEED, REACHED = Bound(falling=True, above=True), Bound(falling=True, above=False)


def check_chart_path(path: Path, *, force: bool) -> None:
    """Refuse a suffix that is no picture, a folder that is not there, and a file that is there already."""
    if path.suffix.lower() not in _SUFFIXES:
        raise InvalidInput(f"chart must end in {', '.join(_SUFFIXES)}, got {path.name}; choose one of these.")
    prepare_output(path, force=force)


def charting() -> Any:
    """Import the charting library, where it is installed."""
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise InvalidInput("charts need altair and vl-convert; run pip install 'tightlip[chart]'.") from error
    return altair


def bound_chart(
    rows: list[dict[str, Any]],
    *,
    title: Any,
    x: Any,
    y: Any,
    curve: str,
    bounds: Mapping[str, Bound],
    points: bool = False,
) -> Any:
    """Draw one step for each curve, a true bound between the rows too; `curve` is the field that names it.

    Parameters
    ----------
    rows : the computed points; where x was rounded to a float, "x_exact" has it as text
    bounds : what each curve bounds, in the legend's order
    points : whether the computed points are marked
    """
    altair = charting()
    order = altair.Scale(domain=list(bounds))  # a sort order instead would give two legends
    legend = altair.Legend(title=None, symbolType="stroke", symbolSize=400, labelLimit=0)
    color = altair.Color(f"{curve}:N", scale=order, legend=legend)
    dash = altair.StrokeDash(f"{curve}:N", scale=order, legend=legend)
    across, height = (axis.shorthand.partition(":")[0] for axis in (x, y))
    shown = [f"{curve}:N", *(altair.Tooltip(f"{axis}_words:N", title=axis) for axis in (across, height))]
    rows = [{**row, **_words(row, across, height, bounds[row[curve]])} for row in rows]

    def base(values: list[dict[str, Any]]) -> Any:
        return altair.Chart(altair.Data(values=values)).encode(x=x, y=y, color=color, tooltip=shown)

    steps: dict[str, list[dict[str, Any]]] = {}
    for name, bound in bounds.items():
        drawn = [row for row in rows if row[curve] == name]
        steps.setdefault(bound.step, []).extend(_tighten(drawn, across, height, bound))
    layers = [
        base(values).mark_line(interpolate=step).encode(strokeDash=dash) for step, values in steps.items()
    ]
    layers += [base(rows).mark_point(filled=True, opacity=1)] if points else []
    return altair.layer(*layers, title=title).properties(width=560, height=340)


def _words(row: dict[str, Any], x: str, y: str, bound: Bound) -> dict[str, str]:
    """The numbers of a row as people read them, each rounded to where the bound still holds."""
    place, value = Fraction(row.get(f"{x}_exact", repr(row[x]))), float(row[y])
    onwards = bound.falling == bound.above
    return {
        f"{x}_words": format_sides(place)[1 if onwards else 0],
        f"{y}_words": format_up(value) if bound.above else format_down(value),
    }


def _tighten(rows: list[dict[str, Any]], x: str, y: str, bound: Bound) -> list[dict[str, Any]]:
    ordered = sorted(rows, key=lambda row: float(row[x]))
    best = bound.tighten([row[y] for row in ordered])
    return [{**row, y: value} for row, value in zip(ordered, best, strict=True)]


def finish_chart(chart: Any, width: int | str = "container", height: int = _HEIGHT) -> Any:
    """Give a picture the report's colours and sizes, which are readable on white and on black."""
    return chart.properties(width=width, height=height).configure(**_CONFIG)


def save_chart(chart: Any, path: Path) -> None:
    """Write a chart by suffix, over what is there (see `files.whole_file`); HTML works offline."""
    form = path.suffix.lower().removeprefix(".")
    if form == "html":
        path.write_text(_page(chart), encoding="utf-8")
    else:
        chart.save(str(path), format=form)


def _page(chart: Any) -> str:
    """Write a page that works offline and says what it is, to telephones and screen readers too."""
    title = chart.to_dict().get("title", "")
    text = escape(title if isinstance(title, str) else str(title["text"]))
    head = f'<html lang="en">\n<head>\n  <meta name="viewport" content="width=device-width">\n  <title>{text}</title>'
    page: str = chart.to_html(inline=True)
    return page.replace("<html>\n<head>", head, 1)


FACTOR_TITLE = "times as likely"
_MOST_TICKS = 7
_LARGEST = 600.0  # nats; no float holds a much larger factor


def factor_axis(longest: float, unit: str) -> Any:
    """Label an axis of leakages up to the longest, in nats or bits, by their factors: a log scale from 1x on."""
    import altair as alt

    per = math.log(2) if unit == "bits" else 1.0
    ticks = [math.log(factor) / per for factor in _round_factors(math.exp(min(longest * per, _LARGEST)))]
    value = "pow(2, datum.value)" if unit == "bits" else "exp(datum.value)"
    return alt.Axis(values=ticks, tickCount=len(ticks), labelExpr=f"format({value}, '.4~g') + 'x'")


def _round_factors(most: float) -> list[float]:
    """List a few round factors from 1 to the largest.

    >>> _round_factors(1.5), _round_factors(27.0)
    ([1.0, 1.1, 1.2, 1.3, 1.4, 1.5], [1.0, 2.0, 5.0, 10.0, 20.0])
    >>> _round_factors(1e6)
    [1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0, 1000000.0]
    """
    for part in (100, 50, 20, 10, 5, 2, 1):  # steps of 0.01, 0.02, 0.05, …
        if (most - 1) * part < _MOST_TICKS - 1:
            return [1 + step / part for step in range(math.floor((most - 1) * part) + 1)]
    for leads, power in (((1, 2, 5), 1), ((1, 3), 1), *(((1,), power) for power in (1, 2, 5, 10, 20, 50))):
        decades = range(0, math.floor(math.log10(most)) + 1, power)
        found = [float(f"{lead}e{decade}") for decade in decades for lead in leads]
        if len([tick for tick in found if tick <= most]) <= _MOST_TICKS:
            return [tick for tick in found if tick <= most]
    return [1.0, most]
