"""Render the audit as one HTML page that loads nothing."""

from __future__ import annotations

from typing import Any

from tightlip.report.amounts import printable
from tightlip.report.audit_chart import audit_charts, require_charts
from tightlip.report.audit_record import AuditReport
from tightlip.report.page import render_page


def audit_html(report: AuditReport) -> str:
    """Render the report as a page."""
    require_charts()
    report = printable(report)
    return render_page("audit.html", _charts(report), audit=report, record=report.to_dict())


def _charts(report: AuditReport) -> dict[str, Any]:
    return {
        f"{name}-{place}": chart
        for place, view in enumerate(report.views, 1)
        for name, chart in audit_charts(view, unit=report.unit, budget=view.budget).items()
    }
