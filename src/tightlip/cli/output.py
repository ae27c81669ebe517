"""Print what commands found: one JSON object, or text; errors are one line on stderr.

Work that takes long has a bar on stderr, on a terminal only: by steps, or by named stages.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from threading import Timer
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console, RenderableType
from rich.text import Text

if TYPE_CHECKING:
    from rich.progress import Progress

Step = TypeVar("Step")
_UNUSUAL = re.compile(r"[^\n -~]")
_WIDE = 110  # columns where nobody says how many there are
_MOST_DIGITS = 4  # of COLUMNS; a wider screen would fill the memory with spaces
_NARROWEST = 40  # columns; tables in fewer are unreadable, and in none nothing is printed at all
PATIENCE = 1.0  # seconds before the bar appears


def print_json(record: dict[str, Any]) -> None:
    """Print one JSON object on stdout and nothing else; what could steer a terminal, or is no text, as escapes."""
    text = json.dumps(record, ensure_ascii=not _speaks_unicode(), allow_nan=False, indent=2)
    with _reader_may_leave():
        sys.stdout.write(_UNUSUAL.sub(_escape, text) + "\n")
        sys.stdout.flush()


def _escape(found: re.Match[str]) -> str:
    """A character as JSON escapes it unless it is printable: controls, marks of direction, halves of characters."""
    return found.group() if found.group().isprintable() else json.dumps(found.group())[1:-1]


def print_text(content: RenderableType, *, wrote: dict[str, str | None] | None = None) -> None:
    """Print text for people; plain when stdout is not a terminal, and never stopped by its encoding.

    `wrote` says which files the command made, by what they hold.
    """
    from tightlip.report.amounts import printable

    lines = [f"Wrote {what}: {printable(path)}." for what, path in (wrote or {}).items() if path is not None]
    if isinstance(sys.stdout, TextIOWrapper) and not _speaks_unicode():
        sys.stdout.reconfigure(errors="replace")
    console = _Console(highlight=False, width=_width())
    with _reader_may_leave():
        console.print(content)
        for line in lines:
            console.print(Text(line))
        sys.stdout.flush()


class _Console(Console):
    """A console that leaves it to the command what a reader who has had enough means."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


@contextmanager
def _reader_may_leave() -> Iterator[None]:
    """Go on where the reader of stdout has had enough: what the command found still decides its exit status."""
    try:
        yield
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115


def _width() -> int:
    """Columns to write in: as COLUMNS says or the terminal has, where that is usable."""
    given = _columns()
    if given:
        return max(given, _NARROWEST)
    if not sys.stdout.isatty():
        return _WIDE
    return max(os.get_terminal_size(sys.stdout.fileno()).columns or _WIDE, _NARROWEST)


def _columns() -> int:
    """What COLUMNS says; 0 where that is no number of columns that a screen has."""
    given = os.environ.get("COLUMNS", "").lstrip("0")
    return int(given) if given.isdecimal() and len(given) <= _MOST_DIGITS else 0


def use_readable_width() -> None:
    """Correct an unusable COLUMNS for the libraries that write help and bars."""
    if "COLUMNS" in os.environ and _columns() < _NARROWEST:
        os.environ["COLUMNS"] = str(_width())


def _speaks_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") in {"utf8", "utf16", "utf32"}


def progress(steps: Iterable[Step], total: int, name: str) -> list[Step]:
    """Run all steps, with a bar on stderr (a terminal) once they take more than a second."""
    from rich.progress import Progress

    done: list[Step] = []
    started = time.monotonic()
    bar: Progress | None = None
    for step in steps:
        done.append(step)
        if bar is None and sys.stderr.isatty() and time.monotonic() - started > 1 and len(done) < total:
            bar = Progress(console=Console(stderr=True), transient=True)
            bar.add_task(name, total=total)
            bar.start()
        if bar is not None:
            bar.update(bar.task_ids[0], completed=len(done))
    if bar is not None:
        bar.stop()
    return done


def complain(message: str) -> None:
    """Print one line on stderr, in which a name or value from a table cannot steer the terminal."""
    from tightlip.report.amounts import printable

    with suppress(OSError):  # nobody may be there to read it; the exit status says it too
        sys.stderr.write("tightlip: " + printable(" ".join(message.split())) + "\n")


@contextmanager
def stage_bar(stages: Sequence[str]) -> Iterator[Callable[[str], None]]:
    """Show how many of the stages are done and which one runs; a function to tell the next one.

    Stages may be left out; one that is not listed is shown without moving the bar.
    """
    if not sys.stderr.isatty():
        yield lambda stage: None
        return
    bar = _bar()
    task = bar.add_task("", total=len(stages))

    def tell(stage: str) -> None:
        done = stages.index(stage) if stage in stages else None
        bar.update(task, description=stage, completed=done)

    with _after_patience(bar):
        yield tell


@contextmanager
def _after_patience(bar: Progress) -> Iterator[None]:
    """Start a bar if the work takes long, and end it with the work."""
    later = Timer(PATIENCE, bar.start)
    later.start()
    try:
        yield
    finally:
        later.cancel()
        later.join()  # a bar that is just starting must not outlive this
        if bar.live.is_started:
            bar.stop()


def _bar(*, percentage: bool = False) -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        BarColumn(),
        TaskProgressColumn() if percentage else MofNCompleteColumn(),
        TextColumn("{task.description}", markup=False),  # a column's name may be in it
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)


@contextmanager
def gap_bar() -> Iterator[Callable[[str, float, float], None]]:
    """Show how the gap between what is kept and what can be kept closes; a function to tell both, and the stage."""
    if not sys.stderr.isatty():
        yield lambda stage, kept, bound: None
        return
    bar = _bar(percentage=True)
    task = bar.add_task("", total=1.0)

    def tell(stage: str, kept: float, bound: float) -> None:
        shown = f"{stage}: keeps {100 * kept:.2f} %, at most {100 * bound:.2f} % possible"
        bar.update(task, description=shown, completed=min(1.0, kept / bound) if bound > 0 else 0.0)

    with _after_patience(bar):
        yield tell
