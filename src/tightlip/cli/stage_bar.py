"""A bar on stderr for work in named stages, on a terminal and only when it takes long."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 1.0  # seconds before the bar appears


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

    later = Timer(PATIENCE, bar.start)
    later.start()
    try:
        yield tell
    finally:
        later.cancel()
        later.join()  # a bar that is just starting must not outlive this
        if bar.live.is_started:
            bar.stop()


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}", markup=False),  # a column's name may be in it
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)
