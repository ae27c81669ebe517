"""A written release of a table as a JSON-ready record and as text; of the table it shows names of columns only."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from tightlip.auditing.releasing import Release
from tightlip.numeric.display import several
from tightlip.report.amounts import Unit, join_names, leakage, leakage_json, printable


def table_release_record(release: Release, *, unit: Unit) -> dict[str, Any]:
    """Record where the files are, what is in them, what a published value leaks, and who is protected."""
    receipt, published = release.receipt, release.published
    return {
        "unit": unit,
        "out": published.output.name,
        "receipt": str(release.receipt_path),
        "sha256": published.sha256,
        **receipt.written,
        "leakage": leakage_json(release.leakage, unit),
        "leakage_words": leakage(release.leakage, unit),
        "secret_words": _secret_words(receipt.asked["secret"]),
        "protects_against": receipt.proved["protects_against"],
    }


def _secret_words(columns: list[str]) -> str:
    return "the secret" if len(columns) == 1 else "all secrets together"


def table_release_text(record: dict[str, Any]) -> RenderableType:
    """Lay it out in lines."""
    return Group(*(Text(line) for line in table_release_lines(record)))


def table_release_lines(record: dict[str, Any]) -> list[str]:
    """Say it in lines."""
    lines = [
        f"{several(record['rows'], 'row')} with the columns {join_names(record['columns'])}, read back and checked "
        f"({record['release']}).",
        f"No published value leaks more than {record['leakage_words']} about {record['secret_words']}.",
        f"Protects against: {record['protects_against']}.",
    ]
    if record["kept_without_guarantee"]:
        kept = join_names(record["kept_without_guarantee"])
        lines.append(f"Kept as in the table, and covered by no guarantee: {kept}.")
    if record["unsafe"]:
        lines.append(f"UNSAFE: {record['unsafe']}.")
    lines.append("The receipt is as confidential as the counts.")
    found: list[str] = printable(lines)
    return found
