"""Lay out tables for the terminal: names of columns and rows of text, in which nothing can write to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

_WORDS = {  # columns of text, at the left; all others hold numbers
    "account before → after",
    "change",
    "column",
    "by",
    "data",
    "decided by",
    "divergence",
    "found by",
    "how it relates",
    "limit",
    "meaning",
    "measure",
    "people by level",
    "plan",
    "points to",
    "privacy",
    "published as, for example",
    "released value",
    "row",
    "secret",
    "state",
    "time",
    "value",
    "verdict",
}


def plain_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, whole: bool = False
) -> Table:
    """Lay out a table whose words stand left and whose numbers stand right; `whole` keeps words on one line."""
    table = Table(title=Text(title), title_justify="left")
    for name in columns:
        words = name in _WORDS
        table.add_column(
            Text(name), justify="left" if words else "right", overflow="fold", no_wrap=whole and words
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table
