"""Whose work is whose: a session for each browser that came with the token, with files and jobs of its own."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from tightlip.arguments import public_address
from tightlip.errors import InvalidInput, quoted
from tightlip.page.jobs import Job, Turns
from tightlip.page.places import Folder
from tightlip.page.state import State
from tightlip.table.source import is_postgres

_MOST_JOBS = 64  # of a session that wait or run
_MOST = 64  # sessions of one page: more are somebody who tries


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table is: what the engine opens, which may have a password in it, and what people see."""

    address: str = field(repr=False)
    shown: str


@dataclass(slots=True)
class Session:
    """What belongs to one browser.

    Attributes
    ----------
    id : in the cookie
    csrf : in every form that changes something
    folder : closed to others: uploads, and what jobs leave
    sources : tables that have no name below the page's folder, by a name in the address
    plans : plans that were kept for comparison, as policy files, by name
    jobs : by id
    """

    id: str
    csrf: str
    folder: Path
    sources: dict[str, Source] = field(default_factory=dict)
    plans: dict[str, Path] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)

    def add_source(self, address: str, shown: str) -> str:
        """Remember a table by a name that tells nothing."""
        for name, known in self.sources.items():
            if known.address == address:
                return name
        name = f"kept:{secrets.token_hex(4)}"
        self.sources[name] = Source(address, shown)
        return name

    def add_database(self, address: str) -> str:
        """Remember a database by its address.

        Raises
        ------
        InvalidInput
            When it is none; the address is not repeated, for it may hold a password.
        """
        if not is_postgres(address):
            raise InvalidInput("database must be an address that starts with postgresql://; write it whole.")
        return self.add_source(address, public_address(address))

    def source(self, state: State, folder: Folder) -> Source | None:
        """Find the table of a state, if one was chosen.

        Raises
        ------
        InvalidInput
            When there is no such table for this browser.
        """
        name = state.get("table")
        if not name:
            return None
        if name.startswith("kept:"):
            if name not in self.sources:
                raise InvalidInput(f"table {quoted(name)} is not known in this browser; choose it again.")
            return self.sources[name]
        return Source(str(folder.inside(name)), name)


@dataclass(slots=True)
class Sessions:
    """All sessions of one page, by the id in their cookie; `given` are tables that every one of them knows."""

    root: Path
    token: str
    given: dict[str, Source] = field(default_factory=dict)
    turns: Turns = field(default_factory=Turns)
    _known: dict[str, Session] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def find(self, cookie: str | None) -> Session | None:
        """Find the session of a cookie."""
        return None if cookie is None else self._known.get(cookie)

    def begin(self, token: str) -> Session | None:
        """Begin a session for whoever has the token; None for others, and where there are too many."""
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            return None
        with self._lock:
            if len(self._known) >= _MOST:
                return None
            name = secrets.token_urlsafe(24)
            place = self.root / secrets.token_hex(8)
            place.mkdir(mode=0o700)
            self._known[name] = Session(name, secrets.token_urlsafe(24), place, sources=dict(self.given))
            return self._known[name]

    def start(self, session: Session, job_id: str, make: Callable[[], Job]) -> Job:
        """Start a job of a session unless it is there already.

        Raises
        ------
        InvalidInput
            When too many are under way, each of which has a thread that waits for its turn.
        """
        with self._lock:
            if job_id not in session.jobs:
                if sum(not job.ended for job in session.jobs.values()) >= _MOST_JOBS:
                    raise InvalidInput(
                        f"at most {_MOST_JOBS} pieces of work must be under way, got more; wait until some have ended."
                    )
                session.jobs[job_id] = make()
            return session.jobs[job_id]

    def close(self) -> None:
        """End everything that still runs."""
        for session in self._known.values():
            for job in session.jobs.values():
                job.kill()
