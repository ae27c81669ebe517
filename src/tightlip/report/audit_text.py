"""Lay an audit out as text for the terminal: words first, then what is worst and what to change."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tightlip.numeric.display import format_count, several
from tightlip.report.amounts import printable
from tightlip.report.audit_record import AuditReport, ViewReport
from tightlip.report.comparison import comparison_table
from tightlip.report.tables import plain_table

_MOST_CELLS = 8
_STYLES = {True: "bold green", False: "bold red", None: "bold"}


def audit_text(report: AuditReport) -> RenderableType:
    """Lay the report out: the answer, what to do, and why."""
    report = printable(report)
    parts: list[RenderableType | None] = [
        Text(report.headline, style=_STYLES[report.verdict.met]),
        Text("\n".join(report.paragraphs)),
    ]
    if len(report.summary) > 1:
        parts.append(_summary(report))
    if report.together is not None:
        parts.append(Text("\n".join(report.together)))
    if report.comparison is not None:
        parts.append(comparison_table(report.comparison))
    parts += [_remedies(report)]
    for view in report.views:
        parts += [_words(view), _figures(view), _cells(view), _columns(view), _classical(view)]
    parts += [*_file_lines(report), Text(report.privacy_note, style="dim")]
    return Group(*(item for part in parts if part is not None for item in (part, Text(""))))


def _summary(report: AuditReport) -> Table:
    rows = [
        (line.secret, line.budget, line.over, line.worst, *line.found_out, line.verdict)
        for line in report.summary
    ]
    known = [f"found out at {level}" for level in ("50 %", "90 %")] if report.summary[0].found_out else []
    names = ["secret", "budget", "over the budget", "worst factor", *known, "verdict"]
    return plain_table("Every secret against its own budget", names, rows)


def _classical(view: ViewReport) -> Table | None:
    if not view.classical:
        return None
    rows = [(known.name, known.value, known.relation) for known in view.classical]
    return plain_table("What is known under other names", ["measure", "value", "how it relates"], rows)


def _words(view: ViewReport) -> RenderableType:
    """Sentences with hanging bullets."""
    table = Table.grid(padding=(0, 1))
    for sentence in view.words:
        table.add_row(Text("•"), Text(sentence))
    return Group(Text(f"About {view.name}", style="bold"), table)


def _figures(view: ViewReport) -> Table:
    rows = [(figure.name, figure.value, figure.meaning) for figure in view.figures]
    return plain_table("In numbers", ["measure", "value", "meaning"], rows)


def _cells(view: ViewReport) -> Table:
    shown = view.worst_cells[:_MOST_CELLS]
    rows = [
        (
            cell.cell,
            cell.people,
            cell.leakage.words,
            cell.secret,
            cell.prior.words,
            cell.posterior.words,
        )
        for cell in shown
    ]
    listed = sum(cell.cells for cell in shown)
    title = f"Worst cells, {format_count(listed)} of {format_count(view.cells)}"
    return plain_table(title, view.worst_cells_columns, rows)


def _columns(view: ViewReport) -> Table | None:
    """What each column adds: the people it puts over the budget, and the worst case."""
    if not view.columns:
        return None
    rows = [
        (
            effect.column,
            *(over.words for over in (effect.over_without, effect.over_alone) if over is not None),
            effect.without.words,
        )
        for effect in view.columns
    ]
    counted = view.columns[0].over_without is not None
    over = "over the budget" if view.budget is not None else "above 2x"
    people = [f"{over} without it", f"{over} by it alone"] if counted else []
    title = "Released columns, the one that exposes most people first"
    return plain_table(title, ["column", *people, "worst without it"], rows)


def _remedies(report: AuditReport) -> RenderableType:
    """What to change: what protecting would keep first, then changes of the plan."""
    lead = (
        []
        if report.protect is None
        else [Text("What to change", style="bold"), Text(report.protect.words), Text("")]
    )
    return Group(*lead, _changes(report))


def _changes(report: AuditReport) -> RenderableType:
    if not report.remedies:
        return Text(report.no_remedy or "")
    rows = [
        (
            remedy.change,
            remedy.leakage.words,
            remedy.kept.words,
            f"{remedy.kind}: {remedy.reason}" if remedy.reason else remedy.kind,
        )
        for remedy in report.remedies
    ]
    after = "leakage after" if report.mode == "population" else "envelope after, at most"
    names = ["change", after, "information kept", "found by"]
    title = "What to change" if report.protect is None else "Or change the plan"
    table = plain_table(f"{title}: {report.change_note}", names, rows)
    if "policy" in (report.written or {}):
        return table
    return Group(table, Text("--write-policy FILE writes the first of them as a policy file."))


def _file_lines(report: AuditReport) -> list[RenderableType]:
    """Which file holds what."""
    said = {
        "html": "this report",
        "risks": f"the risk of each of {several(report.rows, 'row')}",
        "policy": "a policy that keeps the budget, "
        + ("the plan itself" if report.verdict.met else "the first of these changes"),
    }
    lines = [
        f"Wrote {said[name]}: {path}."
        if path is not None
        else "No policy was written, since none that keeps the budget was found."
        for name, path in (report.written or {}).items()
    ]
    return [Text("\n".join(lines))] if lines else []
