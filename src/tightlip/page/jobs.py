"""Long work in a process of its own: it tells how far it is, can be asked to end with its best, and leaves files.

A process, since then a page answers while a solver runs, an interrupt ends a search as Ctrl-C does, and nothing of a
table stays in the memory of the server.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import BoundedSemaphore, Lock, Thread
from typing import Any, Literal

Status = Literal["waiting", "running", "done", "failed", "cancelled"]
_AT_ONCE = 2  # jobs that run at once: more would make each of them slower
_FAILED = "the work ended unexpectedly; the server's machine may be short of memory."
_ENDED: tuple[Status, ...] = ("done", "failed", "cancelled")


@dataclass(slots=True)
class Turns:
    """How many jobs may run at once; those that only look at columns have turns of their own."""

    long: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(_AT_ONCE))
    short: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(_AT_ONCE))


@dataclass(slots=True)
class Job:
    """One piece of work.

    Attributes
    ----------
    id : in the address of its reports
    kind : what is done: facts, values, audit, protect, release, compare, account, ledger or design
    task : all that the process is told
    folder : where it leaves what it found, closed to others
    told : what it said last: stage, words, share
    found : what it found so far
    """

    id: str
    kind: str
    task: Mapping[str, Any] = field(repr=False)
    folder: Path
    status: Status = "waiting"
    asked_to_end: bool = False
    told: dict[str, Any] = field(default_factory=dict)
    found: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    started: float = field(default_factory=time.monotonic)
    ended_at: float | None = None
    _process: subprocess.Popen[str] | None = field(default=None, repr=False)
    _lock: Any = field(default_factory=Lock, repr=False)

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.status in _ENDED

    @property
    def seconds(self) -> float:
        """How long it has been under way."""
        return (self.ended_at or time.monotonic()) - self.started

    def begin(self, turns: Turns) -> None:
        """Begin in the background, when it is its turn."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        turn = turns.short if self.kind in ("facts", "values") else turns.long
        Thread(target=self._run, args=(turn,), daemon=True).start()

    def cancel(self) -> None:
        """Ask it to end with the best that it has proved; asked again, it ends with nothing."""
        with self._lock:
            again, self.asked_to_end = self.asked_to_end, True
            process = self._process
        if process is None or process.poll() is not None:
            return
        with suppress(OSError):
            process.send_signal(signal.SIGKILL if again else signal.SIGINT)

    def kill(self) -> None:
        """End it at once."""
        self.asked_to_end = True
        if self._process is not None:
            with suppress(OSError):
                self._process.kill()

    def _run(self, turn: BoundedSemaphore) -> None:
        with turn:
            if not self.asked_to_end:
                self.status = "running"
                with suppress(OSError, ValueError):
                    self._work()
        if not self.ended:
            stopped = self.asked_to_end
            self.status, self.error = ("cancelled", None) if stopped else ("failed", self.error or _FAILED)
        self.ended_at = time.monotonic()

    def _work(self) -> None:
        command = [sys.executable, "-m", "tightlip.page.worker"]
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        with subprocess.Popen(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=nothing,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        ) as process:
            with self._lock:
                self._process = process
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps({**self.task, "kind": self.kind, "out": str(self.folder)}))
            process.stdin.close()
            for line in process.stdout:
                self._hear(json.loads(line))

    def _hear(self, said: dict[str, Any]) -> None:
        """Take what the process says: how far it is, a part of what it found, or how it ended."""
        match said:
            case {"told": dict(told)}:
                self.told = told
            case {"found": dict(found)}:
                self.found = {**self.found, **found}
            case {"ended": "done" | "failed" | "cancelled" as status}:
                self.error = said.get("error")
                self.status = status
