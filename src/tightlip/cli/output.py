"""Print what commands found: one JSON object, or text; errors are one line on stderr.

Text is folded to the width of a terminal. For a pipe or a file it is not folded at all: a sentence or a row of a table
is one line, unless COLUMNS says how wide lines may be.

Work that takes long has a bar on stderr, on a terminal only: by steps, or by named stages. `--verbose` has a line for
each stage in its place, `--quiet` nothing; of the text it leaves the verdict.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import TextIOWrapper
from threading import Timer
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console, Group, RenderableType
from rich.text import Text

if TYPE_CHECKING:
    from rich.progress import Progress

Step = TypeVar("Step")
_UNUSUAL = re.compile(r"[^\n -~]")
_WIDE = 110  # columns of a terminal that does not say how many it has
_UNFOLDED = (
    100_000  # columns where no terminal is: more than any sentence has, and a line of blanks still fits
)
_MOST_DIGITS = 4  # of COLUMNS; a wider screen would fill the memory with spaces
_NARROWEST = 40  # columns; tables in fewer are unreadable, and in none nothing is printed at all
PATIENCE = 1.0  # seconds before the bar appears


@dataclass(slots=True)
class _Manner:
    """How much the running command says, and since when its stage runs."""

    quiet: bool = False
    verbose: bool = False
    stage: str | None = None
    since: float = 0.0

    @property
    def has_bar(self) -> bool:
        """Whether a bar may be shown."""
        return not self.quiet and not self.verbose and sys.stderr.isatty()


_manner = _Manner()


@contextmanager
def manner(*, quiet: bool, verbose: bool) -> Iterator[None]:
    """Run a command that says less, or more."""
    global _manner
    before, _manner = _manner, _Manner(quiet, verbose)
    started = time.monotonic()
    try:
        with _then(started):
            yield
    finally:
        _manner = before


@contextmanager
def _then(started: float) -> Iterator[None]:
    """Tell what the work took, also where its answer is an exit status; not where it was refused."""
    import typer

    try:
        yield
    except typer.Exit:
        _end_work(started)
        raise
    _end_work(started)


def _end_work(started: float) -> None:
    _end_stage()
    if _manner.verbose:
        complain(f"{time.monotonic() - started:.2f} s in all")


def stage(name: str) -> None:
    """Tell which stage of the work begins."""
    if name != _manner.stage:
        _end_stage()
        _manner.stage, _manner.since = name, time.monotonic()


def _end_stage() -> None:
    if _manner.stage is not None and _manner.verbose:
        complain(f"{time.monotonic() - _manner.since:.2f} s {_manner.stage}")
    _manner.stage = None


def print_json(record: dict[str, Any]) -> None:
    """Print one JSON object on stdout and nothing else; what could steer a terminal, or is no text, as escapes."""
    text = json.dumps(record, ensure_ascii=not _speaks_unicode(), allow_nan=False, indent=2)
    with _reader_may_leave():
        sys.stdout.write(_UNUSUAL.sub(_escape, text) + "\n")
        sys.stdout.flush()


def _escape(found: re.Match[str]) -> str:
    """A character as JSON escapes it unless it is printable: controls, marks of direction, halves of characters."""
    return found.group() if found.group().isprintable() else json.dumps(found.group())[1:-1]


def print_text(
    content: RenderableType, *, verdict: str | None = None, wrote: dict[str, str | None] | None = None
) -> None:
    """Print text for people; plain when stdout is not a terminal, and never stopped by its encoding.

    Parameters
    ----------
    verdict : the line that is printed in its place when the command is to be quiet; none if left out
    wrote : which files the command made, by what they hold
    """
    from tightlip.report.amounts import printable

    if _manner.quiet:
        if verdict is None:
            return
        content, wrote = Text(printable(verdict)), None
    lines = [f"Wrote {what}: {printable(path)}." for what, path in (wrote or {}).items() if path is not None]
    if isinstance(sys.stdout, TextIOWrapper) and not _speaks_unicode():
        sys.stdout.reconfigure(errors="replace")
    console = _Console(highlight=False, width=_width())
    shown = Group(content, *(Text(line) for line in lines))
    with _reader_may_leave():
        if sys.stdout.isatty():
            console.print(shown)
        else:
            sys.stdout.write(_plain(console, shown))
        sys.stdout.flush()


def _plain(console: Console, shown: RenderableType) -> str:
    """The text without the blanks by which cells of a table are as wide as the widest."""
    with console.capture() as captured:
        console.print(shown)
    return re.sub(r" +$", "", captured.get(), flags=re.MULTILINE)


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
        return _UNFOLDED
    return max(os.get_terminal_size(sys.stdout.fileno()).columns or _WIDE, _NARROWEST)


def _columns() -> int:
    """What COLUMNS says; 0 where that is no number of columns that a screen has."""
    given = os.environ.get("COLUMNS", "").lstrip("0")
    return int(given) if given.isdecimal() and len(given) <= _MOST_DIGITS else 0


def use_readable_width() -> None:
    """Correct an unusable COLUMNS for the libraries that write help and bars."""
    if "COLUMNS" in os.environ and _columns() < _NARROWEST:
        os.environ["COLUMNS"] = str(min(_width(), _WIDE))


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
        if bar is None and _manner.has_bar and time.monotonic() - started > 1 and len(done) < total:
            bar = Progress(console=Console(stderr=True), transient=True)
            bar.add_task(name, total=total)
            bar.start()
        if bar is not None:
            bar.update(bar.task_ids[0], completed=len(done))
    if bar is not None:
        bar.stop()
    return done


def remark(message: str) -> None:
    """Print one line on stderr that changes nothing about the answer; not where the command is to be quiet."""
    if not _manner.quiet:
        complain(f"note: {message}")


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
    if not _manner.has_bar:
        yield stage
        return
    bar = _bar()
    task = bar.add_task("", total=len(stages))

    def tell(name: str) -> None:
        done = stages.index(name) if name in stages else None
        bar.update(task, description=name, completed=done)

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
    if not _manner.has_bar:
        yield lambda name, kept, bound: stage(name)
        return
    from tightlip.report.page_words import progress_words

    bar = _bar(percentage=True)
    task = bar.add_task("", total=1.0)

    def tell(name: str, kept: float, bound: float) -> None:
        shown = progress_words(name, kept, bound)
        bar.update(task, description=shown, completed=min(1.0, kept / bound) if bound > 0 else 0.0)

    with _after_patience(bar):
        yield tell
