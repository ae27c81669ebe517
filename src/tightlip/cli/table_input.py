"""Open the table that a command is about: what `open_table` takes, or - for standard input.

Standard input is there once, and a table is read more than once. So it is first stored, whole, in a file that is closed
to others and goes when the command ends; it is known by its first bytes like any other, and is text otherwise.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tightlip.arguments import public_address
from tightlip.cli.output import remark
from tightlip.errors import InvalidInput, TightlipError, quoted

if TYPE_CHECKING:
    from tightlip.table.source import Table

_STANDARD_INPUT, _SHOWN = "-", "standard input"
_NAMES = {b"\x1f\x8b": "table.csv.gz", b"PK\3\4": "table.xlsx"}  # what is known by its name too
_MOST_NAMES = 8


@contextmanager
def open_input(address: str, *, table: str | None = None) -> Iterator[Table]:
    """Open a table for the time of a block; messages call what was stored by where it came from."""
    from tightlip.files import passing_folder
    from tightlip.table.source import open_table

    if address != _STANDARD_INPUT:
        with open_table(address, table=table) as opened:
            _tell_labels(opened)
            yield opened
        return
    with passing_folder() as folder:
        path = _store(folder)
        try:
            with open_table(path, table=table) as opened:
                _tell_labels(opened)
                yield replace(opened, name=opened.name.replace(str(path), _SHOWN))
        except TightlipError as error:
            error.args = (str(error).replace(str(path), _SHOWN), *error.args[1:])
            raise


def shown_address(address: str) -> str:
    """Write where a table comes from, without a password.

    >>> shown_address("-"), shown_address("patients.csv")
    ('standard input', 'patients.csv')
    """
    return _SHOWN if address == _STANDARD_INPUT else public_address(address)


def _store(folder: Path) -> Path:
    """Copy standard input to its end into a file."""
    source = sys.stdin.buffer
    start = source.read(4)
    path = folder / next((name for first, name in _NAMES.items() if start.startswith(first)), "table.csv")
    try:
        with path.open("xb") as file:
            file.write(start)
            shutil.copyfileobj(source, file)
    except OSError as error:
        raise InvalidInput(
            f"{_SHOWN} cannot be stored for the time of the command: {error.strerror or error}; "
            "make room, or give a file."
        ) from error
    return path


def _tell_labels(table: Table) -> None:
    if table.labelled:
        names = ", ".join(quoted(name, 40) for name in table.labelled[:_MOST_NAMES])
        more = ", …" if len(table.labelled) > _MOST_NAMES else ""
        remark(f"codes are counted as they are, and their labels are not read, in {names}{more}.")
