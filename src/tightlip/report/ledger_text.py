"""Lay a ledger out as text for the terminal: the answer first, then what is left, every release, and the head."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tightlip.report.amounts import printable
from tightlip.report.ledger_record import LedgerReport, ReleaseReport, SecretReport
from tightlip.report.tables import plain_table

_STYLES = {"kept": "bold green", "exceeded": "bold red", "not known": "bold red"}


def ledger_text(report: LedgerReport) -> RenderableType:
    """Lay the report out in words and tables."""
    report = printable(report)
    parts: list[RenderableType | None] = [
        Text(report.headline, style=_STYLES.get(report.state, "bold")),
        _bullets("To do", report.todo),
        *(_secret(secret) for secret in report.secrets),
        _added(report),
        *(_release(one) for one in report.releases),
        Text(f"{report.reader}. {report.reader_words}"),
        _bullets("Not covered", report.outside),
        Text(f"Head: entry {report.head.seq}, {report.head.digest}\n{report.head_note}"),
        Text(report.privacy_note, style="dim"),
        _files(report),
    ]
    return Group(*(item for part in parts if part is not None for item in (part, Text(""))))


def _bullets(title: str, sentences: tuple[str, ...]) -> RenderableType | None:
    if not sentences:
        return None
    return Group(Text(title, style="bold"), _list(sentences))


def _list(sentences: tuple[str, ...]) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    for sentence in sentences:
        table.add_row(Text("•"), Text(sentence))
    return table


def _secret(secret: SecretReport) -> RenderableType:
    rows = [(figure.name, figure.value, figure.meaning) for figure in secret.figures]
    table = plain_table(f"About {secret.name}: {secret.state_words}", ["measure", "value", "meaning"], rows)
    return Group(table, _list(secret.words))


def _added(report: LedgerReport) -> RenderableType | None:
    rows = [
        (
            str(one.number),
            one.time,
            one.state,
            *([added.secret] if len(report.secrets) > 1 else []),
            added.words,
        )
        for one in report.releases
        for added in one.added
    ]
    several = ["secret"] if len(report.secrets) > 1 else []
    names = ["release", "time", "state", *several, "account before → after"]
    return plain_table("What each release added", names, rows) if rows else None


def _release(one: ReleaseReport) -> RenderableType:
    """A release in lines: what it published, whether it is out, and how to find it again."""
    adaptive = "" if one.adaptive is None else f" ({one.adaptive})"
    lines = [
        *([one.clock_back] if one.clock_back is not None else []),
        one.state_words,
        *one.what,
        f"key {one.key}",
        *release_digests(one),
    ]
    title = f"Release {one.number}, {one.kind}{adaptive}"
    return Group(Text(title, style="bold"), _list(tuple(lines)))


def release_digests(one: ReleaseReport) -> list[str]:
    """Say which entries and files belong to a release, by their digests."""
    lines = [f"entry {one.entry.seq}: {one.entry.digest}"]
    if one.confirmed is not None:
        lines.append(f"confirmed by entry {one.confirmed.seq}: {one.confirmed.digest}")
    if one.output is not None:
        lines += [f"output {one.output}, SHA-256 {one.sha256}", f"receipt with digest {one.receipt}"]
    return lines


def _files(report: LedgerReport) -> RenderableType | None:
    lines = [f"Wrote {name}: {path}." for name, path in (report.written or {}).items() if path is not None]
    return Text("\n".join(lines)) if lines else None
