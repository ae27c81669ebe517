"""What the steps show: each is a template over a desk; what is not computed yet is a job that they follow."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response

from tightlip.errors import TightlipError
from tightlip.page.actions import _GUARANTEES, _UTILITIES, desk_of, may_go_out, more_of
from tightlip.page.desk import Desk
from tightlip.page.jobs import Job
from tightlip.page.places import TABLES
from tightlip.page.state import HOW, State, token
from tightlip.page.work import CURVE, REPORT
from tightlip.report.amounts import printable
from tightlip.report.page_words import BUDGETS, budget_example, budget_sentence

if TYPE_CHECKING:
    from jinja2 import Environment

NAMES = {
    "table": "Table",
    "secret": "Secret",
    "release": "Published",
    "budget": "Budget",
    "answer": "Answer",
    "remedy": "Remedy",
    "file": "File",
}
BESIDE = {"compare": "Compare plans", "ledger": "Ledger", "design": "Design a mechanism"}
_CSP = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]*)"')
_START = 20_000  # characters of a report in which its policy stands
_RECODED = {
    "as is": "as it is",
    "bins": "in bins of",
    "prefix": "first characters",
    "top": "top code from",
    "bottom": "bottom code up to",
    "randomize": "randomised, level or mechanism.json",
}
_DESIGN = {"pml": "PML", "ldp": "LDP", "pmc": "PMC", "lip": "LIP", "maximal_leakage": "maximal leakage"}


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("tightlip.page"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters |= {"printable": printable, "token": token}
    return environment


def _render(request: Request, step: str, desk: Desk, status: int = 200, **context: Any) -> Response:
    """Render a step, in the frame that all have."""
    page = _environment().get_template(f"{step}.html")
    text = page.render(
        step=step,
        steps=NAMES,
        beside=BESIDE,
        state=desk.state,
        query=desk.state.query(),
        csrf=desk.session.csrf,
        source=context.pop("source", None),
        **context,
    )
    return HTMLResponse(text, status_code=status)


def _desk(request: Request) -> Desk:
    return desk_of(request, State.read(request.query_params.multi_items()))


async def home(request: Request) -> Response:
    """Begin with the table that was given at the start."""
    first = request.app.state.first
    query = State.read([("table", first)]).query()
    return RedirectResponse(f"/table?{query}" if first else "/table", status_code=303)


def _columns(desk: Desk) -> dict[str, Any]:
    """What is known of the columns so far."""
    job = desk.facts()
    found = {} if job is None else job.found
    facts = {one["column"]: one for one in found.get("facts", ())}
    return {
        "facts_job": job,
        "columns": [{"name": name, "facts": facts.get(name)} for name in found.get("columns", ())],
        "rows": found.get("rows"),
    }


async def show_table(request: Request) -> Response:
    """Show where the table is, and what columns it has."""
    desk = _desk(request)
    files = desk.folder.listed(TABLES)
    return _render(
        request,
        "table",
        desk,
        source=desk.source(),
        files=files,
        folder=str(desk.folder.path),
        job=desk.facts(),
        **_columns(desk),
    )


async def show_secret(request: Request) -> Response:
    """Ask what is secret."""
    desk = _desk(request)
    shown = {
        job.task["column"]: job
        for job in desk.session.jobs.values()
        if job.kind == "values" and job.task["address"] == getattr(desk.source(), "address", None)
    }
    waiting = next((job for job in shown.values() if not job.ended), None)
    return _render(
        request,
        "secret",
        desk,
        source=desk.source(),
        shown=shown,
        job=waiting or desk.facts(),
        **_columns(desk),
    )


async def show_release(request: Request) -> Response:
    """Ask what is published, and how."""
    desk = _desk(request)
    more: dict[str, Any] = {
        "how": {key: _RECODED[key] for key in HOW},
        "policies": desk.folder.listed((".toml",)),
    }
    return _render(request, "release", desk, source=desk.source(), job=desk.facts(), **more, **_columns(desk))


async def show_budget(request: Request) -> Response:
    """Ask what may be said, in words, beside what other budgets keep."""
    desk = _desk(request)
    given = desk.state.get("budget")
    wrong, sentence = None, ""
    try:
        sentence = budget_sentence(given) if given else ""
    except TightlipError as error:
        wrong = str(error)
    protect = desk.job("protect") or _other_budget(desk)
    return _render(
        request,
        "budget",
        desk,
        source=desk.source(),
        budgets=[(budget, budget_example(budget)) for budget in BUDGETS],
        place=BUDGETS.index(given) if given in BUDGETS else BUDGETS.index("3x"),
        sentence=sentence,
        wrong=wrong,
        protect=protect,
        job=protect if protect is not None and not protect.ended else None,
        **_copy(desk, "protect"),
    )


def _other_budget(desk: Desk) -> Job | None:
    """The protection of the same plan at another budget, whose curve has this one too."""
    own = desk.state.change(budget="").items()
    for job in desk.session.jobs.values():
        if job.kind == "protect" and job.found.get("trade_off"):
            state = State.read(_pairs(str(job.task["state"])))
            if state.change(budget="").items() == own:
                return job
    return None


def _pairs(query: str) -> list[tuple[str, str]]:
    from urllib.parse import parse_qsl

    return parse_qsl(query)


def _copy(desk: Desk, verb: str, *more: str) -> dict[str, Any]:
    """The command line and the policy file of a state, and what is wrong with it."""
    problem = None
    try:
        desk.require_plan()
    except (TightlipError, OSError) as error:
        problem = str(error)
    return {"command": desk.command(verb, *more), "policy": desk.policy(), "problem": problem}


async def show_answer(request: Request) -> Response:
    """Show what the plan gives away."""
    desk = _desk(request)
    job = desk.job("audit")
    return _render(
        request,
        "answer",
        desk,
        source=desk.source(),
        job=job,
        **_copy(desk, "audit", "--html", "report.html"),
    )


async def show_remedy(request: Request) -> Response:
    """Show the release that keeps most detail."""
    desk = _desk(request)
    return _render(
        request,
        "remedy",
        desk,
        source=desk.source(),
        job=desk.job("protect"),
        **_copy(desk, "protect", "--out", "safe.csv"),
    )


async def show_file(request: Request) -> Response:
    """Show what can be written, and what was."""
    desk = _desk(request)
    answers = {kind: desk.job(kind) for kind in ("audit", "protect")}
    safe = {kind: job is not None and may_go_out(job) for kind, job in answers.items()}
    said = desk.state.query()
    done = [job for job in desk.session.jobs.values() if job.kind == "release" and job.task["state"] == said]
    running = next((job for job in done if not job.ended), None)
    more: dict[str, Any] = {
        "safe": safe,
        "done": list(reversed(done)),
        "key": secrets.token_hex(8),
        "names": _file_names,
    }
    which = "protect" if safe["protect"] or not safe["audit"] else "release table"
    return _render(
        request,
        "file",
        desk,
        source=desk.source(),
        job=running,
        **more,
        **_copy(desk, which, "--out", "safe.csv"),
    )


def _file_names(job: Job) -> list[str]:
    return [Path(path).name for path in job.found.get("files", ())]


async def show_compare(request: Request) -> Response:
    """Show plans side by side."""
    desk = _desk(request)
    kept = [f"kept:{name}" for name in desk.session.plans]
    others = [*kept, *desk.folder.listed((".toml",))]
    job = desk.job("compare", **more_of(desk, "compare"))
    files = [
        word for name in desk.state.listed("against") for word in ("--against", name.removeprefix("kept:"))
    ]
    return _render(
        request, "compare", desk, source=desk.source(), others=others, job=job, **_copy(desk, "audit", *files)
    )


async def show_ledger(request: Request) -> Response:
    """Show what earlier releases gave away, and choose the ledger that this one is charged to."""
    desk = _desk(request)
    made = [job for job in desk.session.jobs.values() if job.kind == "ledger"]
    running = next((job for job in made if not job.ended), None)
    account = desk.job("account")
    return _render(
        request,
        "ledger",
        desk,
        source=desk.source(),
        ledgers=desk.folder.listed((".ledger",)),
        account=account,
        made=list(reversed(made)),
        job=running or account,
        **_copy(desk, "audit"),
    )


async def show_design(request: Request) -> Response:
    """Show the form for a mechanism, and those that were made."""
    desk = _desk(request)
    made = [job for job in desk.session.jobs.values() if job.kind == "design"]
    running = next((job for job in made if not job.ended), None)
    options: dict[str, Any] = {
        "guarantees": {key: _DESIGN[key] for key in _GUARANTEES},
        "utilities": _UTILITIES,
    }
    return _render(
        request,
        "design",
        desk,
        source=desk.source(),
        made=list(reversed(made)),
        job=running or desk.facts(),
        names=_file_names,
        **options,
        **_columns(desk),
    )


def _job(request: Request) -> Job:
    """The job of this browser; others' are not there."""
    job = request.state.session.jobs.get(request.path_params["id"])
    if job is None:
        raise HTTPException(404)
    return job  # type: ignore[no-any-return]


async def job_state(request: Request) -> Response:
    """Say how far a job is."""
    job = _job(request)
    told = {
        "status": job.status,
        "ended": job.ended,
        "words": job.told.get("words", ""),
        "share": job.told.get("share"),
    }
    columns = len(job.found.get("facts", ()))
    return JSONResponse({**told, "seconds": round(job.seconds), "columns": columns})


async def report(request: Request) -> Response:
    """Show a report as it was written, closed off from the page: in a sandbox, under its own policy."""
    path = _job(request).folder / REPORT
    if not path.is_file():
        raise HTTPException(404)
    text = path.read_text(encoding="utf-8")
    found = _CSP.search(text, 0, _START)
    own = found.group(1).replace("&#39;", "'") if found else "default-src 'none'; style-src 'unsafe-inline'"
    policy = f"{own}; frame-ancestors 'self'; sandbox allow-scripts"
    headers = {"Content-Security-Policy": policy, "X-Frame-Options": "SAMEORIGIN"}
    return HTMLResponse(text, headers=headers)


async def picture(request: Request) -> Response:
    """Show the trade-off as a picture, which runs nothing."""
    path = _job(request).folder / CURVE
    if not path.is_file():
        raise HTTPException(404)
    headers = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
    return FileResponse(path, media_type="image/svg+xml", headers=headers)


async def download(request: Request) -> Response:
    """Hand out a file that a job of this browser wrote."""
    listed = {str(place): Path(file) for place, file in enumerate(_job(request).found.get("files", ()))}
    file = listed.get(request.path_params["place"])
    if file is None or not file.is_file():
        raise HTTPException(404)
    path = request.app.state.folder.inside(request.app.state.folder.name_of(file))
    return FileResponse(path, filename=path.name, media_type="application/octet-stream")


async def _tell_error(request: Request, error: Exception) -> Response:
    """Say what is wrong on a page, with the way back."""
    status = error.status_code if isinstance(error, HTTPException) else 400
    words = (error.detail if isinstance(error, HTTPException) else str(error)) or "nothing is here."
    session = getattr(request.state, "session", None)
    if request.headers.get("accept") == "application/json" or session is None:
        return JSONResponse({"error": words}, status_code=status)
    desk = desk_of(request, State())
    return _render(request, "error", desk, status, words="nothing is here." if status == 404 else words)


ERRORS: Mapping[Any, Callable[[Request, Exception], Any]] = {
    TightlipError: _tell_error,
    HTTPException: _tell_error,
}
STEPS = {
    "table": show_table,
    "secret": show_secret,
    "release": show_release,
    "budget": show_budget,
    "answer": show_answer,
    "remedy": show_remedy,
    "file": show_file,
    "compare": show_compare,
    "ledger": show_ledger,
    "design": show_design,
}
