"""Show an audit: in words, as a page, as a picture and in a notebook; asked by `Audit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tightlip import arguments
from tightlip.errors import InvalidInput
from tightlip.files import whole_file
from tightlip.report.amounts import printable
from tightlip.report.audit_chart import audit_pictures
from tightlip.report.audit_html import audit_html
from tightlip.report.audit_record import audit_report as audit_report
from tightlip.report.audit_record import change_report, view_report
from tightlip.report.audit_words import ViewWords, basis, envelope_bound, headline, paragraphs, verdict
from tightlip.report.card import Card
from tightlip.report.chart import Picture as Drawn
from tightlip.report.chart import charting
from tightlip.report.disclosure import veil_audit
from tightlip.report.people_chart import remedies_picture

if TYPE_CHECKING:
    from tightlip.auditing.result import Audit, Picture
    from tightlip.report.amounts import Unit
    from tightlip.report.audit_record import AuditReport

_MOST_VIEWS = 6  # in a repr, which has ten lines at most
_WIDTH = 560  # pixels of a picture in a notebook


def words(audit: Audit, *, show_values: bool, unit: Unit) -> str:
    """Say the headline and all paragraphs, a line each."""
    told = paragraphs(audit, show_values=show_values, unit=unit)
    return "\n".join([headline(audit, show_values=show_values, unit=unit), *told])


def short_words(audit: Audit) -> str:
    """Say the audit in at most ten lines: headline, verdict, a line for each view, and what the numbers are about."""
    told = veil_audit(audit)
    views = [_view_line(told, name) for name in list(told.views)[:_MOST_VIEWS]]
    more = len(told.views) - _MOST_VIEWS
    rest = [f"and {more} more views"] if more > 0 else []
    lines = [headline(audit), verdict(told), *views, *rest, basis(audit)]
    return "\n".join(printable(line) for line in lines)


def _view_line(told: Audit, name: str) -> str:
    view = told.views[name]
    words = ViewWords(told, view)
    over = words.over()
    start = "" if over is None else f"over the budget {over.words}, "
    return f"{name}: {start}worst {words.amount(view.worst.leakage)}, envelope {words.amount(envelope_bound(view))}"


def card(audit: Audit) -> Card:
    """Summarise the headline, the verdict and the measures of the view that decides."""
    told = veil_audit(audit)
    figures = ViewWords(told, told.deciding).figures()
    others = [f"{len(told.views) - 1} more views, by secret column"] if len(told.views) > 1 else []
    return Card(
        headline(audit),
        [verdict(told), basis(audit), *others],
        ("measure", "value", "meaning"),
        [(figure.name, figure.value, figure.meaning) for figure in figures],
    )


def chart(audit: Audit, view: str, picture: Picture, unit: Unit) -> Any:
    """Draw one of the pictures of a view, as the report has it; codes in place of values."""
    charting()
    drawn = _pictures(audit, view, picture, unit)
    if picture not in drawn:
        raise InvalidInput(
            f'picture must be one of {", ".join(drawn) or "the others"}, got "{picture}", of which this audit has no '
            "numbers; a sample counts no people, and changes are searched for where a budget is not met."
        )
    return drawn[picture].titled(_WIDTH)


def _pictures(audit: Audit, view: str, picture: Picture, unit: Unit) -> dict[str, Drawn]:
    """The pictures of a view, or that of the changes, which needs the whole report."""
    if picture == "remedies":
        found = remedies_picture(audit_report(audit, unit=unit))
        return {} if found is None else {"remedies": found}
    audit = audit.with_curves() if picture == "envelope" else audit
    change = change_report(audit, audit.remedies[0], unit=unit) if audit.remedies else None
    return audit_pictures(view_report(audit, audit.views[view], unit=unit), unit=unit, change=change)


def write_html(
    audit: Audit, path: str | Path, *, table: str, show_values: bool, unit: Unit, force: bool
) -> None:
    """Write the report as a page."""
    file = arguments.path(path, "path")
    if file.suffix.lower() not in (".html", ".htm"):
        raise InvalidInput(f"path must end in .html, got {file.name}; browsers know a page by it.")
    report = audit_report(audit.with_curves(), table=table, show_values=show_values, unit=unit)
    write_page(report, file, force=force)


def write_page(report: AuditReport, path: Path, *, force: bool) -> None:
    """Write a report as a page; what shows values is for the owner alone."""
    page = audit_html(report)
    with whole_file(path, force=force, private=report.values_shown) as file:
        file.write_text(page, encoding="utf-8")
