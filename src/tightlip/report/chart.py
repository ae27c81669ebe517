"""Charts as files: offline HTML, SVG or PNG by suffix, written whole or not at all."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tightlip.errors import InvalidInput
from tightlip.files import require_free

_SUFFIXES = (".html", ".svg", ".png")


def check_chart_path(path: Path, *, force: bool) -> None:
    """Refuse a suffix that is no picture, a folder that is not there, and a file that is there already."""
    if path.suffix.lower() not in _SUFFIXES:
        raise InvalidInput(f"chart must end in {', '.join(_SUFFIXES)}, got {path.name}; choose one of these.")
    if not path.parent.is_dir():
        raise InvalidInput(f"{path} cannot be written: {path.parent} is no folder; make it first.")
    require_free(path, force=force)


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
    """Write a chart by suffix; HTML works offline."""
    suffix = path.suffix.lower()
    partial = path.with_name(f".{path.stem[:100]}.{secrets.token_hex(8)}.partial{suffix}")
    options: dict[str, Any] = {"inline": True} if suffix == ".html" else {}
    try:
        chart.save(str(partial), **options)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
