"""What buttons do: every change is a POST with the session's own token, and ends at an address that can be kept."""

from __future__ import annotations

import hashlib
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from tightlip.errors import InvalidInput, quoted
from tightlip.page.desk import Desk
from tightlip.page.jobs import Job
from tightlip.page.state import State, from_token
from tightlip.page.uploads import MOST, take_upload
from tightlip.page.work import POLICY, REPORT, plan_digest

_MOST_FIELDS = 20_000
_STEP_OF = {"audit": "answer", "protect": "remedy", "compare": "compare", "account": "ledger"}
_ENDINGS = (".csv", ".parquet", ".duckdb", ".sqlite")
_GUARANTEES = ("pml", "ldp", "pmc", "lip", "maximal_leakage")
_UTILITIES = ("mutual-information", "chi-squared", "hellinger", "total-variation", "frequency-variance")

Form = dict[str, str]


def desk_of(request: Request, state: State) -> Desk:
    """Find the desk of a request."""
    own = request.app.state
    return Desk(own.folder, own.sessions, request.state.session, state)


async def _posted(request: Request) -> tuple[Desk, Form]:
    """Read a form that changes something; one without the session's token is refused."""
    form = await request.form(max_files=0, max_fields=_MOST_FIELDS)
    items = [(key, text) for key, text in form.multi_items() if isinstance(text, str)]
    fields = dict(items)
    if not secrets.compare_digest(fields.get("csrf", "").encode(), request.state.session.csrf.encode()):
        raise HTTPException(403, "this form did not come from the page; load the page again.")
    state = State.read(parse_qsl(fields["state"]) if "state" in fields else items)
    return desk_of(request, state), fields


def _go(step: str, state: State, place: str = "") -> Response:
    query = state.query()
    return RedirectResponse(f"/{step}{'?' if query else ''}{query}{place}", status_code=303)


async def choose_table(request: Request) -> Response:
    """Choose the table: a file below the folder, or a database, whose address stays out of the page's."""
    desk, form = await _posted(request)
    database, name = form.get("database", "").strip(), form.get("path", "").strip()
    if database:
        chosen = desk.session.add_database(database)
    else:
        found = desk.folder.inside(name)
        if not found.is_file():
            raise InvalidInput(f"table must be a file that is there, got {quoted(name)}; choose another one.")
        chosen = desk.folder.name_of(found)
    state = State.read([("table", chosen), ("name", form.get("sheet", ""))])
    desk_of(request, state).facts()
    return _go("table", state)


async def upload(request: Request) -> Response:
    """Take a table that was dropped on the page."""
    session = request.state.session
    most = getattr(request.app.state, "most_bytes", MOST)
    path = await take_upload(request, session.folder, session.csrf, most)
    state = State.read([("table", session.add_source(str(path), path.name))])
    desk_of(request, state).facts()
    if request.headers.get("accept") == "application/json":
        return JSONResponse({"go": f"/table?{state.query()}"})
    return _go("table", state)


async def show_values(request: Request) -> Response:
    """Show the values of a column, because somebody asked."""
    desk, form = await _posted(request)
    about = State.read([("table", desk.state.get("table")), ("name", desk.state.get("name"))])
    desk.start("values", state=about, again=True, column=from_token(form.get("column", "")))
    return _go("secret", desk.state, "#values")


async def start(request: Request) -> Response:
    """Start an audit, a protection, a comparison or an account at this state."""
    kind = request.path_params["kind"]
    if kind not in _STEP_OF:
        raise HTTPException(404)
    desk, form = await _posted(request)
    if kind != "account":
        desk.require_plan()
    desk.start(kind, again=True, **more_of(desk, kind))
    return _go("budget" if form.get("back") == "budget" else _STEP_OF[kind], desk.state)


def more_of(desk: Desk, kind: str) -> dict[str, Any]:
    """What a job is told besides its state."""
    return {"against": against(desk)} if kind == "compare" else {}


def against(desk: Desk) -> dict[str, str]:
    """Find the plans to put beside this one: those that were kept, and policy files."""
    found = {}
    for name in desk.state.listed("against"):
        kept = desk.session.plans.get(name.removeprefix("kept:")) if name.startswith("kept:") else None
        found[name.removeprefix("kept:")] = str(kept or desk.folder.inside(name))
    return found


async def keep_plan(request: Request) -> Response:
    """Keep this plan under a name, to put it beside others."""
    desk, form = await _posted(request)
    change, audit = form.get("remedy", ""), desk.job("audit")
    first = f"change {change}" if change else f"plan {len(desk.session.plans) + 1}"
    name = form.get("as", "").strip()[:80] or first
    if change:
        if audit is None or not change.isdecimal() or not (audit.folder / f"remedy-{change}.toml").is_file():
            raise InvalidInput(
                f"a change must be one that the audit found, got {quoted(change)}; audit again."
            )
        path = audit.folder / f"remedy-{change}.toml"
    else:
        digest = hashlib.sha256(name.encode()).hexdigest()[:16]
        path = desk.session.folder / f"plan-{digest}.toml"
        desk.require_plan().save(path, force=True)
    desk.session.plans[name] = path
    beside = dict.fromkeys([*desk.state.items(), ("against", f"kept:{name}")])
    return _go("compare", State.read(beside))


async def write_file(request: Request) -> Response:
    """Write the rows: as planned where an audit said that they may go out, or protected."""
    desk, form = await _posted(request)
    kind = "protect" if form.get("which") == "protect" else "audit"
    judged = desk.job(kind)
    if judged is None or not may_go_out(judged):
        raise InvalidInput(
            "the rows must be found safe first, got no such answer; run the audit or protect them."
        )
    out = _new_file(desk, form.get("file", ""), _ENDINGS)
    policy = judged.folder / POLICY
    if plan_digest(desk.require_plan()) != judged.found.get("plan"):
        raise InvalidInput(
            "the plan must be the one that was judged, got another, for a file that it names has changed; run the "
            "audit or protect the rows again."
        )
    told: dict[str, Any] = {"file": str(out), "which": kind, "force": "force" in form}
    told["counts"] = judged.found.get("counts")
    again: dict[str, Any] = {"release": str(policy), "report": str(judged.folder / REPORT)}
    desk.start("release", again=True, **told, **again, key=form.get("key") or secrets.token_hex(8))
    return _go("file", desk.state)


def may_go_out(job: Job) -> bool:
    """Whether an answer says that rows may be written: the audit's budget is met, or something is protected."""
    if job.kind == "audit":
        return job.status == "done" and job.found.get("met") is True and (job.folder / POLICY).is_file()
    return (job.folder / POLICY).is_file() and job.status in ("done", "cancelled") and "verdict" in job.found


def _new_file(desk: Desk, name: str, endings: tuple[str, ...]) -> Path:
    found = desk.folder.inside(name.strip())
    if not name.strip().lower().endswith(endings):
        raise InvalidInput(f"file must end with one of {', '.join(endings)}, got {quoted(name)}; choose one.")
    return found


async def create_ledger(request: Request) -> Response:
    """Create the ledger of this table, with the secret and the budget of the steps."""
    desk, form = await _posted(request)
    out = _new_file(desk, form.get("file", ""), (".ledger",))
    if out.exists():
        raise InvalidInput(
            f"file must be new, got {quoted(form['file'])}, which exists already; choose it above."
        )
    plan = desk.require_plan()
    if not plan.budget:
        raise InvalidInput("a budget must be chosen first, got none; go back to that step.")
    desk.start("ledger", again=True, file=str(out))
    return _go("ledger", desk.state)


async def design(request: Request) -> Response:
    """Design a mechanism for a column."""
    desk, form = await _posted(request)
    out = _new_file(desk, form.get("file", ""), (".json",))
    for key, known in (("guarantee", _GUARANTEES), ("utility", _UTILITIES)):
        if form.get(key) not in known:
            raise InvalidInput(f"{key} must be one of {', '.join(known)}, got {quoted(form.get(key, ''))}.")
    asked: dict[str, Any] = {key: form[key] for key in ("guarantee", "utility")} | {
        "level": form.get("level", "").strip()
    }
    column = from_token(form.get("column", ""))
    desk.start("design", again=True, file=str(out), column=column, **asked)
    return _go("design", desk.state)


async def cancel(request: Request) -> Response:
    """Ask a job to end with the best that it has."""
    desk, form = await _posted(request)
    job = request.state.session.jobs.get(request.path_params["id"])
    if job is None:
        raise HTTPException(404)
    job.cancel()
    back = form.get("back", "")
    return _go(back if back.isalpha() else "table", desk.state)
