"""Show a protection: in words, as a page, as pictures and in a notebook; asked by `Protection` and the command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tightlip import arguments
from tightlip.errors import InvalidInput
from tightlip.files import whole_file
from tightlip.report.amounts import printable
from tightlip.report.audit_chart import require_charts
from tightlip.report.card import Card
from tightlip.report.chart import charting, finish_chart
from tightlip.report.page import render_page
from tightlip.report.protect_chart import columns_chart, factors_chart, protect_charts, trade_chart
from tightlip.report.protect_record import ProtectReport, protect_record
from tightlip.report.protect_text import protect_text

if TYPE_CHECKING:
    from tightlip.protection.curve import Curve
    from tightlip.protection.result import Picture, Protection
    from tightlip.report.amounts import Unit

__all__ = ["ProtectReport", "protect_html", "protect_record", "protect_text", "write_page"]

_WIDTH = 560  # pixels of a picture in a notebook


def protect_html(report: ProtectReport) -> str:
    """Render the report as a page."""
    require_charts()
    report = printable(report)
    return render_page("protect.html", protect_charts(report), report=report, record=report.to_dict())


def write_page(report: ProtectReport, path: Path, *, force: bool) -> None:
    """Write a report as a page; what shows values is for the owner alone."""
    page = protect_html(report)
    with whole_file(path, force=force, private=report.values_shown) as file:
        file.write_text(page, encoding="utf-8")


def write_html(
    found: Protection,
    path: str | Path,
    *,
    table: str,
    curve: Curve | None,
    show_values: bool,
    unit: Unit,
    force: bool,
) -> None:
    """Write the report of a protection as a page."""
    file = arguments.path(path, "path")
    if file.suffix.lower() not in (".html", ".htm"):
        raise InvalidInput(f"path must end in .html, got {file.name}; browsers know a page by it.")
    report = protect_record(found, table=table, curve=curve, show_values=show_values, unit=unit)
    write_page(report, file, force=force)


def words(found: Protection, *, show_values: bool, unit: Unit) -> str:
    """Say the answer, who is protected, and what holds detail back, a line each."""
    report = protect_record(found, show_values=show_values, unit=unit)
    readers = [f"{reader.name}: {reader.status}. {reader.words}" for reader in report.readers]
    limits = [f"{limit.words}; 1 % more would gain {limit.gain_words}." for limit in report.limits]
    lines = [report.headline, report.verdict, report.bound_words, report.search, *readers]
    lines += [f"Not covered: {sentence}" for sentence in report.outside]
    return "\n".join(printable([*lines, *limits, *report.notes]))


def short_words(found: Protection) -> str:
    """Say the answer in four lines."""
    report = protect_record(found)
    return "\n".join(printable([report.headline, report.verdict, report.bound_words, report.search]))


def card(found: Protection) -> Card:
    """Summarise the answer, who is protected, and the numbers."""
    report = protect_record(found)
    readers = [f"{reader.name}: {reader.status}." for reader in report.readers]
    return Card(
        report.headline,
        [report.verdict, report.bound_words, report.search, *readers],
        ("measure", "value", "meaning"),
        [(figure.name, figure.value, figure.meaning) for figure in report.figures],
    )


def chart(found: Protection, picture: Picture, curve: Curve | None, unit: Unit) -> Any:
    """Draw one of the pictures, as the report has it."""
    charting()
    report = protect_record(found, curve=curve, unit=unit)
    if picture == "columns":
        return columns_chart(report.columns, width=_WIDTH)
    if picture == "factors":
        return finish_chart(factors_chart(report.factors[0]), width=_WIDTH)
    if report.trade_off is None:
        raise InvalidInput(
            'picture must be "factors" or "columns" where limits are not one level for all secrets, got "trade-off".'
        )
    return finish_chart(trade_chart(report.trade_off, report.kind), width=_WIDTH)
