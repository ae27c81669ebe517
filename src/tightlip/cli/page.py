"""tightlip page: from a table to a safe file in the browser, on one's own machine."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from tightlip.cli.output import print_text
from tightlip.errors import InvalidInput

_NEEDED = ("altair", "ibis", "jinja2", "python_multipart", "starlette", "uvicorn", "vl_convert")


def page(
    table: Annotated[
        str | None,
        typer.Argument(help="The table to begin with: a file below the folder, or postgresql://…."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="All files are read and written below it; that of the table, or this one."
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="NUMBER", help="The port; a free one if left out.")
    ] = 0,
    browser: Annotated[
        bool,
        typer.Option("--browser/--no-browser", help="Open the page in a browser, or print its address only."),
    ] = True,
) -> None:
    """From a table to a safe file in the browser, on your own machine.

    The page answers to this machine only, and to whoever has the address that
    is printed. Ctrl-C ends it, and with it the work that runs.

    Example: tightlip page patients.csv
    """
    for library in _NEEDED:
        if find_spec(library) is None:
            raise InvalidInput(
                f"the page needs {library}, which is not installed: pip install 'tightlip[page]'."
            )
    from rich.text import Text

    from tightlip.page.server import serve

    def tell(address: str) -> None:
        print_text(Text(f"The page is at {address}\nCtrl-C ends it."), verdict=address)

    serve(folder, table, port=port, browser=browser, tell=tell)
