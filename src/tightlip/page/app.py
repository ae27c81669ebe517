"""The web application: pages of the steps, what they start, and the files and reports they link to."""

from __future__ import annotations

import atexit
import secrets
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from importlib.resources import files
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from tightlip.arguments import public_address
from tightlip.files import passing_folder
from tightlip.page import actions, pages
from tightlip.page.guard import UPLOAD, Guard
from tightlip.page.places import Folder
from tightlip.page.sessions import Sessions, Source
from tightlip.table.source import is_postgres

GIVEN = "kept:given"


def create_app(folder: str | Path, table: str | None = None, *, token: str | None = None) -> Starlette:
    """Make the application.

    Parameters
    ----------
    folder : below which all files are that it reads and writes
    table : a file below the folder, or the address of a database, that the first step begins with
    token : what a browser must show once; random where left out, and then `app.state.token`

    Raises
    ------
    InvalidInput
        When the folder is none, or the table is not below it.
    """
    place = Folder.of(folder)
    stack = ExitStack()
    sessions = Sessions(stack.enter_context(passing_folder()), token or secrets.token_urlsafe(24))
    stack.callback(sessions.close)
    atexit.register(stack.close)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        with stack:
            yield

    app = Starlette(
        routes=_routes(),
        middleware=[Middleware(Guard, sessions=sessions, cookie=f"tightlip-{secrets.token_hex(4)}")],
        exception_handlers=pages.ERRORS,
        lifespan=lifespan,
    )
    app.state.folder, app.state.sessions, app.state.token = place, sessions, sessions.token
    app.state.first = "" if table is None else _first(table, place, sessions)
    return app


def _first(table: str, folder: Folder, sessions: Sessions) -> str:
    """What the address calls the table that was given at the start."""
    if not is_postgres(table):
        return folder.name_of(Path(table))
    sessions.given[GIVEN] = Source(table, public_address(table))
    return GIVEN


def _routes() -> list[Route | Mount]:
    static = StaticFiles(directory=str(files("tightlip.page") / "static"))
    return [
        Route("/", pages.home),
        *(Route(f"/{name}", show) for name, show in pages.STEPS.items()),
        Route("/job/{id}", pages.job_state),
        Route("/report/{id}", pages.report),
        Route("/picture/{id}", pages.picture),
        Route("/download/{id}/{place}", pages.download),
        Route("/do/table", actions.choose_table, methods=["POST"]),
        Route(UPLOAD, actions.upload, methods=["POST"]),
        Route("/do/values", actions.show_values, methods=["POST"]),
        Route("/do/keep", actions.keep_plan, methods=["POST"]),
        Route("/do/file", actions.write_file, methods=["POST"]),
        Route("/do/ledger", actions.create_ledger, methods=["POST"]),
        Route("/do/design", actions.design, methods=["POST"]),
        Route("/do/cancel/{id}", actions.cancel, methods=["POST"]),
        Route("/do/{kind}", actions.start, methods=["POST"]),
        Mount("/static", static),
    ]
