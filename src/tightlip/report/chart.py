"""The envelope as a picture: exact curve, its bounds, the binary adversary and the DP curve (ENV Figure 2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tightlip.errors import InvalidInput

_NAMES = {
    "epsilon": "exact envelope",
    "maximal_leakage_bound": "bound ℒ + log 1/δ",
    "binary": "binary adversary",
    "quantile": "no post-processing",
    "dp": "(ε, δ)-LDP",
}
_SUFFIXES = (".html", ".svg", ".png")


def check_chart_path(path: Path, *, force: bool) -> None:
    """Refuse a suffix that is no picture, and a file that is there already."""
    if path.suffix.lower() not in _SUFFIXES:
        raise InvalidInput(f"chart must end in {', '.join(_SUFFIXES)}, got {path.name}; choose one of these.")
    if path.exists() and not force:
        raise InvalidInput(f"chart {path} exists already; choose another name or add --force.")


def write_envelope_chart(record: dict[str, Any], path: Path) -> None:
    """Draw the record of `envelope_record` (with comparisons) to HTML, SVG or PNG, by suffix; works offline."""
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise InvalidInput("charts need altair and vl-convert; run pip install 'tightlip[chart]'.") from error
    rows = [
        {"δ": point["delta"], "ε": value, "curve": _NAMES[name]}
        for point in record["points"]
        for name, value in {"epsilon": point["epsilon"]["value"], **point["compared"]}.items()
        if value != "inf"
    ]
    chart = (
        altair.Chart(altair.Data(values=rows), title="What survives any post-processing")
        .mark_line(point=True)
        .encode(
            x=altair.X("δ:Q", title="failure probability δ"),
            y=altair.Y("ε:Q", title=f"leakage ε ({record['unit']})"),
            color=altair.Color("curve:N", title=None, sort=list(_NAMES.values())),
            strokeDash=altair.StrokeDash("curve:N", title=None, sort=list(_NAMES.values())),
            tooltip=["curve:N", "δ:Q", "ε:Q"],
        )
        .properties(width=560, height=340)
    )
    partial = path.with_name(f".{path.stem}.partial{path.suffix}")
    options: dict[str, Any] = {"inline": True} if path.suffix.lower() == ".html" else {}
    chart.save(str(partial), **options)
    partial.replace(path)
