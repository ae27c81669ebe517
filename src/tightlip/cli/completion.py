"""Complete names of columns in a shell, from the table that is already on the line."""

from __future__ import annotations

from pathlib import Path

import typer

_SLOW = (
    ".xlsx",
    ".xlsm",
    ".xls",
    ".sav",
    ".zsav",
    ".dta",
    ".sas7bdat",
    ".xpt",
)  # read whole when they are opened


def complete_columns(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the names that the last of several may become; none where the table cannot be read at once.

    Names with commas or quotes, which a shell would have to quote twice, are left out.
    """
    from tightlip.table.source import open_table

    # a line that ends with an option is not parsed, and its words are all that is there
    words = [context.params.get("table"), *context.args]
    path = next((Path(word) for word in words if word and Path(word).is_file()), None)
    before, comma, _ = incomplete.rpartition(",")
    if path is None or path.suffix.lower() in _SLOW:
        return []
    try:
        with open_table(path) as table:
            names = [*table.physical]
    except Exception:  # whoever completes a line has not asked what is wrong with the table
        return []
    taken = before.split(",")
    offered = [before + comma + name for name in names if name not in taken and not {*name} & {*",\"' "}]
    return [text for text in offered if text.startswith(incomplete)]
