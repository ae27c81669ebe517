"""Render the audit as one HTML page that loads nothing."""

from __future__ import annotations

from tightlip.report.amounts import printable
from tightlip.report.audit_chart import audit_pictures, require_charts
from tightlip.report.audit_record import AuditReport, ViewReport
from tightlip.report.chart import Picture
from tightlip.report.comparison import NAMES
from tightlip.report.page import render_page
from tightlip.report.people_chart import remedies_picture


def audit_html(report: AuditReport) -> str:
    """Render the report as a page."""
    require_charts()
    policies = [(change.policy or "").splitlines() for change in report.remedies]
    report = printable(report)
    pictures = _pictures(report)
    return render_page(
        "audit.html",
        {place: picture.spec() for place, picture in pictures.items()},
        audit=report,
        record=report.to_dict(),
        pictures=pictures,
        policies=printable(policies),  # line by line, since a record shows the end of a line as a sign
        deciding=_deciding(report),
        advice=_advice(report),
        plan_names=NAMES,
    )


def _pictures(report: AuditReport) -> dict[str, Picture]:
    """All pictures by their place in the page: that of the changes, then those of each view."""
    changes = remedies_picture(report)
    change = report.remedies[0] if report.remedies else None
    return ({} if changes is None else {"remedies": changes}) | {
        f"{name}-{place}": picture
        for place, view in enumerate(report.views, 1)
        for name, picture in audit_pictures(view, unit=report.unit, change=change).items()
    }


def _advice(report: AuditReport) -> tuple[str, str | None, list[str]]:
    """What to do first, the call that does it, and what else there is to say; changes stand in their table."""
    lead = report.protect
    call = lead.command if lead and lead.command and lead.words.endswith(lead.command) else None
    aside = [lead.words] if lead and call is None else []
    told = sorted(report.todo, key=aside.count)  # what cannot be run comes last
    if not told:
        return report.no_remedy or "", None, []
    first = told[0].removesuffix(call) if call else told[0]
    rest = aside if report.remedies else [*told[1:], report.no_remedy or ""]
    return first.strip(), call, [words for words in dict.fromkeys(rest) if words and words != first]


def _deciding(report: AuditReport) -> str:
    """The view that decides, as `Audit.deciding` says it of what may be told."""

    def weight(view: ViewReport) -> tuple[bool, float, float]:
        over = view.share_above_budget
        return view.met is False, 0.0 if over is None else over.value, float(view.worst.leakage.value)

    return max(report.views, key=weight).name
