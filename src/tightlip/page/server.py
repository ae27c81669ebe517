"""Serve the page to this machine, and nothing else."""

from __future__ import annotations

import asyncio
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path
from threading import Timer
from typing import Any

import uvicorn

from tightlip.errors import InvalidInput
from tightlip.page.app import create_app
from tightlip.table.source import is_postgres

_HOST = "127.0.0.1"
_WAIT = 0.3  # seconds that a browser is given for the server to listen


def serve(
    folder: Path | None,
    table: str | None,
    *,
    port: int = 0,
    browser: bool = True,
    tell: Callable[[str], None],
) -> None:
    """Serve the page until the process is asked to end.

    Parameters
    ----------
    folder : below which all files are; that of the table where left out, or the working folder
    table : what to begin with
    port : 0 for a free one
    browser : whether one is opened
    tell : is told the address, token included, once

    Raises
    ------
    InvalidInput
        When the folder, the table or the port cannot be used.
    """
    is_file = table is not None and not is_postgres(table)
    if is_file and not Path(str(table)).is_file():
        raise InvalidInput(f"{table} cannot be read: there is no such file; check the name.")
    here = Path(str(table)).parent if is_file else Path()
    app = create_app(here if folder is None else folder, table)
    listener = _listen(port)
    address = f"http://{_HOST}:{listener.getsockname()[1]}/?token={app.state.token}"
    tell(address)
    if browser:
        Timer(_WAIT, webbrowser.open, [address]).start()
    quiet: dict[str, Any] = {
        "log_level": "error",
        "access_log": False,
        "server_header": False,
        "date_header": False,
    }
    config = uvicorn.Config(app, timeout_graceful_shutdown=1, **quiet)
    asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))


def _listen(port: int) -> socket.socket:
    """Listen on this machine alone; from now on a browser that is faster than the server waits."""
    listener = socket.socket(proto=socket.IPPROTO_TCP)  # asyncio sends small answers at once only then
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_HOST, port))
        listener.listen()
    except OSError as error:
        raise InvalidInput(
            f"port {port} cannot be used: {error.strerror}; leave it out for a free one."
        ) from error
    return listener
