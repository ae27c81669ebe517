"""Charts as files: offline HTML, SVG or PNG by suffix."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tightlip.errors import InvalidInput
from tightlip.files import prepare_output

_SUFFIXES = (".html", ".svg", ".png")


def check_chart_path(path: Path, *, force: bool) -> None:
    """Refuse a suffix that is no picture, a folder that is not there, and a file that is there already."""
    if path.suffix.lower() not in _SUFFIXES:
        raise InvalidInput(f"chart must end in {', '.join(_SUFFIXES)}, got {path.name}; choose one of these.")
    prepare_output(path, force=force)


def charting() -> Any:
    """The charting library, where it is installed."""
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise InvalidInput("charts need altair and vl-convert; run pip install 'tightlip[chart]'.") from error
    return altair


def line_chart(
    rows: list[dict[str, Any]],
    *,
    title: Any,
    x: Any,
    y: Any,
    curve: str,
    curves: Sequence[str],
    points: bool = False,
) -> Any:
    """One line for each curve; `curve` is the field that names it."""
    altair = charting()
    order = altair.Scale(domain=list(curves))  # a sort order instead would give two legends
    legend = altair.Legend(title=None, symbolType="stroke", symbolSize=400, labelLimit=0)
    shown = [f"{curve}:N", *(f"{axis.shorthand}" for axis in (x, y))]
    return (
        altair.Chart(altair.Data(values=rows), title=title)
        .mark_line(point=points)
        .encode(
            x=x,
            y=y,
            color=altair.Color(f"{curve}:N", scale=order, legend=legend),
            strokeDash=altair.StrokeDash(f"{curve}:N", scale=order, legend=legend),
            tooltip=shown,
        )
        .properties(width=560, height=340)
    )


def save_chart(chart: Any, path: Path) -> None:
    """Write a chart by suffix, over what is there (see `files.whole_file`); HTML works offline."""
    form = path.suffix.lower().removeprefix(".")
    options: dict[str, Any] = {"inline": True} if form == "html" else {}
    chart.save(str(path), format=form, **options)
