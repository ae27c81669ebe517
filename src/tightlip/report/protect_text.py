"""Lay a protection out as text for the terminal: the answer first, then who is protected and what holds detail back."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tightlip.report.amounts import printable
from tightlip.report.protect_record import ProtectReport
from tightlip.report.tables import plain_table

_MOST_LIMITS = 6
_MOST_EXAMPLES = 6


def protect_text(report: ProtectReport) -> RenderableType:
    """Lay the report out in words and tables."""
    report = printable(report)
    parts: list[RenderableType] = [
        Text(report.headline, style="bold"),
        Text(report.verdict, style="bold green"),
        Text(f"{report.bound_words} {report.search}"),
        _readers(report),
        _bullets("Not covered", report.outside),
        _figures(report),
        _limits(report),
        _columns(report),
        _factors(report),
        _trade_off(report),
        _examples(report),
        Text("\n".join(report.notes)),
        Text(report.privacy_note, style="dim"),
        *_file_lines(report),
    ]
    return Group(*(item for part in parts for item in (part, Text(""))))


def _bullets(title: str, sentences: tuple[str, ...]) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    for sentence in sentences:
        table.add_row(Text("•"), Text(sentence))
    return Group(Text(title, style="bold"), table)


def _readers(report: ProtectReport) -> RenderableType:
    told = [
        f"{reader.name}: {reader.status.replace('not', 'NOT')}. {reader.words}" for reader in report.readers
    ]
    return _bullets("Who is protected against whom", tuple(told))


def _figures(report: ProtectReport) -> Table:
    rows = [(figure.name, figure.value, figure.meaning) for figure in report.figures]
    return plain_table("In numbers", ["measure", "value", "meaning"], rows)


def _limits(report: ProtectReport) -> RenderableType:
    if not report.limits:
        return Text(report.limits_note)
    rows = [(limit.words, limit.gain_words) for limit in report.limits[:_MOST_LIMITS]]
    more = len(report.limits) - _MOST_LIMITS
    table = plain_table("What holds detail back", ["limit", "1 % looser would gain"], rows)
    rest = f" The JSON and the HTML report have {more} more." if more > 0 else ""
    return Group(table, Text(report.limits_note + rest))


def _columns(report: ProtectReport) -> Table:
    rows = [
        (
            one.column,
            one.kept.words,
            "; ".join([", ".join(f"{level.level} {level.people.words}" for level in one.levels), *one.names]),
        )
        for one in report.columns
    ]
    return plain_table("Columns", ["column", "of its detail kept", "people by level"], rows)


def _factors(report: ProtectReport) -> RenderableType:
    tables = [
        plain_table(
            f"People whose value makes any {one.name} at most so many times as likely",
            ["times", "before, at least", "after, at least"],
            [(step.factor_words, step.before.words, step.after.words) for step in one.steps],
        )
        for one in report.factors
    ]
    return Group(*tables)


def _trade_off(report: ProtectReport) -> RenderableType:
    if report.trade_off is None:
        return Text(report.trade_note)
    points = [point for point in report.trade_off.points if point.kept is not None]
    rows = [
        [
            f"{point.factor_words}{' (this one)' if point.own else ''}",
            *(
                found.words if found is not None else ""
                for found in (point.whole_columns, point.kept, point.bound)
            ),
        ]
        for point in points
    ]
    names = ["budget, times as likely", "whole columns", f"{report.kind}", "at most possible"]
    filled = [place for place in range(len(names)) if any(row[place] for row in rows)]
    shown = [[row[place] for place in filled] for row in rows]
    return plain_table("Detail kept at budgets", [names[place] for place in filled], shown)


def _examples(report: ProtectReport) -> RenderableType:
    rows = [(one.change, one.people.words, one.after) for one in report.examples[:_MOST_EXAMPLES]]
    table = plain_table("What rows become", ["change", "people", "published as, for example"], rows)
    return Group(table, Text(report.examples_note))


def _file_lines(report: ProtectReport) -> list[RenderableType]:
    """Which file holds what."""
    lines = [f"Wrote {name}: {path}." for name, path in (report.written or {}).items() if path is not None]
    return [Text("\n".join(lines))] if lines else []
