"""Show a ledger: in words, as a page, and in a notebook; asked by `Ledger` and the command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tightlip import arguments
from tightlip.errors import InvalidInput
from tightlip.files import require_apart, whole_file
from tightlip.report.amounts import printable
from tightlip.report.audit_chart import require_charts
from tightlip.report.card import Card
from tightlip.report.chart import charting
from tightlip.report.ledger_chart import ledger_picture, ledger_pictures
from tightlip.report.ledger_record import LedgerReport, ledger_record
from tightlip.report.ledger_text import ledger_text, release_digests
from tightlip.report.page import render_page

if TYPE_CHECKING:
    from tightlip.ledger.ledger import Ledger
    from tightlip.report.amounts import Unit

__all__ = ["LedgerReport", "ledger_html", "ledger_record", "ledger_text", "write_page"]

_WIDTH = 560  # pixels of a picture in a notebook


def ledger_html(report: LedgerReport) -> str:
    """Render the report as a page."""
    require_charts()
    report = printable(report)
    pictures = ledger_pictures(report)
    return render_page(
        "ledger.html",
        {place: picture.spec() for place, picture in pictures.items()},
        report=report,
        record=report.to_dict(),
        pictures=pictures,
        digests=[release_digests(one) for one in report.releases],
    )


def check_page(path: Path, ledger: Path, argument: str = "path") -> None:
    """Refuse a name that is no page, or is that of the ledger itself."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise InvalidInput(f"{argument} must end in .html, got {path.name}; browsers know a page by it.")
    require_apart([path], {"the ledger": [str(ledger)]})


def write_page(report: LedgerReport, path: Path, *, force: bool) -> None:
    """Write a report as a page, for the owner alone, as the ledger is."""
    page = ledger_html(report)
    with whole_file(path, force=force, private=True) as file:
        file.write_text(page, encoding="utf-8")


def write_html(ledger: Ledger, path: str | Path, *, unit: Unit, force: bool) -> None:
    """Write the report of a ledger as a page."""
    file = arguments.path(path, "path")
    check_page(file, ledger.path)
    write_page(ledger_record(ledger, unit=unit), file, force=force)


def words(ledger: Ledger, *, unit: Unit) -> str:
    """Say the answer, what is to do, and what is spent and left of each secret, a line each."""
    report = ledger_record(ledger, unit=unit)
    lines = [report.headline, *report.todo]
    for secret in report.secrets:
        lines += [f"{secret.name}, {figure.name}: {figure.value}." for figure in secret.figures]
        lines += secret.words
    return "\n".join(printable([*lines, report.reader_words]))


def card(ledger: Ledger) -> Card:
    """Summarise the answer, and what each release added."""
    report = ledger_record(ledger)
    rows = [
        (str(one.number), one.time, one.state, added.secret, added.words)
        for one in report.releases
        for added in one.added
    ]
    names = ("release", "time", "state", "secret", "account before → after")
    return Card(report.headline, list(report.todo), names, rows)


def chart(ledger: Ledger, secret: str | None, unit: Unit) -> Any:
    """Draw how much all releases say together about a secret, by default the one that decides."""
    charting()
    report = ledger_record(ledger, unit=unit)
    if not report.releases:
        raise InvalidInput("the ledger has no releases to draw; release something first.")
    name = (
        report.deciding
        if secret is None
        else arguments.choice(secret, "secret", [one.name for one in report.secrets])
    )
    return ledger_picture(report, next(one for one in report.secrets if one.name == name)).titled(_WIDTH)
