"""What a request is about: its session, its state, and the jobs and plans that belong to them."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tightlip.errors import InvalidInput, TightlipError
from tightlip.page.jobs import Job
from tightlip.page.places import Folder
from tightlip.page.sessions import Session, Sessions, Source
from tightlip.page.state import State, policy_text
from tightlip.page.work import plan_of

if TYPE_CHECKING:
    from tightlip.table.policy import Policy

_VERBS = {"audit": "audit", "protect": "protect", "compare": "audit", "release": "release table"}


@dataclass(slots=True)
class Desk:
    """One browser's work at one state.

    Attributes
    ----------
    folder, sessions : of the page
    session : of the browser
    state : what was said in the steps
    """

    folder: Folder
    sessions: Sessions
    session: Session
    state: State

    def source(self) -> Source | None:
        """Find the table, if one was chosen."""
        return self.session.source(self.state, self.folder)

    def facts(self) -> Job | None:
        """What is known of the columns; reading them begins when it is first asked for."""
        if self.source() is None:
            return None
        about = State.read([("table", self.state.get("table")), ("name", self.state.get("name"))])
        return self.start("facts", state=about)

    def plan(self) -> Policy | None:
        """Make the plan that was said; None where it is none yet."""
        try:
            return self.require_plan()
        except (TightlipError, OSError):
            return None

    def require_plan(self) -> Policy:
        """Make the plan that was said.

        Raises
        ------
        InvalidInput
            When it is none yet, or does not fit together.
        """
        from tightlip.ledger import Ledger

        ledger = self._inside("ledger")
        book = None if ledger is None else Ledger(ledger, write=False)
        return plan_of(self.state, self.folder, self._inside("policy"), book)

    def _inside(self, setting: str) -> str | None:
        name = self.state.get(setting)
        return str(self.folder.inside(name)) if name else None

    def command(self, verb: str, *more: str) -> str:
        """Write the command line that does what a step does."""
        source = self.source()
        return self.state.command(self.plan(), verb, "TABLE" if source is None else source.shown, *more)

    def policy(self) -> str:
        """Write the plan as a policy file; nothing where there is none yet."""
        plan = self.plan()
        return "" if plan is None else policy_text(plan, self.folder.path)

    def job_id(self, kind: str, state: State | None = None, **more: Any) -> str:
        """Name the job of a kind at this state, the same whenever it is asked for."""
        said = (self.state if state is None else state).digest
        text = repr((kind, said, sorted(more.items())))
        return f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"

    def job(self, kind: str, **more: Any) -> Job | None:
        """Find the job of a kind at this state, if it was started."""
        return self.session.jobs.get(self.job_id(kind, **more))

    def start(self, kind: str, *, state: State | None = None, again: bool = False, **more: Any) -> Job:
        """Start the job of a kind at this state, unless it is there; again where it ended without an answer.

        Raises
        ------
        InvalidInput
            When no table was chosen.
        """
        source = self.source()
        if source is None and kind != "account":
            raise InvalidInput("a table must be chosen, got none; go back to the first step.")
        name = self.job_id(kind, state, **more)
        old = self.session.jobs.get(name)
        if again and old is not None and old.ended:
            self.session.jobs.pop(name)
        task = {
            "state": (self.state if state is None else state).query(),
            "address": "" if source is None else source.address,
            "shown": "" if source is None else source.shown,
            "folder": str(self.folder.path),
            "policy": self._inside("policy"),
            "ledger": self._inside("ledger"),
            "command": self.command(_VERBS[kind]) if kind in _VERBS else f"tightlip {kind}",
            **more,
        }
        place = self.session.folder / f"{name}-{secrets.token_hex(4)}"

        def make() -> Job:
            job = Job(name, kind, task, place)
            job.begin(self.sessions.turns)
            return job

        return self.sessions.start(self.session, name, make)
