"""What commands print: one JSON object, or text; errors are one line on stderr."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterable
from io import TextIOWrapper
from typing import Any, TypeVar

from rich.console import Console, RenderableType
from rich.text import Text

Step = TypeVar("Step")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def print_json(record: dict[str, Any]) -> None:
    """One JSON object on stdout and nothing else; file names that are no text come out as escapes."""
    text = json.dumps(record, ensure_ascii=not _speaks_unicode(), allow_nan=False, indent=2)
    sys.stdout.write(_LONE_SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text) + "\n")
    sys.stdout.flush()


def print_text(content: RenderableType, *, wrote: dict[str, str | None] | None = None) -> None:
    """Text for people; plain when stdout is not a terminal, and never stopped by its encoding.

    `wrote` says which files the command made, by what they hold.
    """
    from tightlip.report.audit_text import printable

    lines = [f"Wrote {what}: {printable(path)}." for what, path in (wrote or {}).items() if path is not None]
    if isinstance(sys.stdout, TextIOWrapper) and not _speaks_unicode():
        sys.stdout.reconfigure(errors="replace")
    wide = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 110
    console = Console(highlight=False, width=wide)
    console.print(content)
    for line in lines:
        console.print(Text(line))
    sys.stdout.flush()


def _speaks_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") in {"utf8", "utf16", "utf32"}


def progress(steps: Iterable[Step], total: int, name: str) -> list[Step]:
    """All steps, with a bar on stderr (a terminal) once they take more than a second."""
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
    """One line on stderr, in which a name or value from a table cannot steer the terminal."""
    from tightlip.report.audit_text import printable

    sys.stderr.write("tightlip: " + printable(" ".join(message.split())) + "\n")
