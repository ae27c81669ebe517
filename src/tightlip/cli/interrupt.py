"""The program and its signals: asked to stop, it stops within a second, says so and leaves nothing half written.

Python itself looks at a signal when the call that runs comes back, and a solver or an engine may not for minutes. So a
thread waits for signals too. Whatever is written in Python is left by an exception, with its files removed; where that
is not done in time, the process ends as it is.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from types import FrameType
from typing import NoReturn

GRACE = (
    0.8  # seconds to come back and remove files; more would be felt, less would leave files behind more often
)
_STOPPING = ("SIGINT", "SIGTERM", "SIGHUP")
_SHOW_CURSOR = "\r\x1b[?25h"  # a progress bar hides it

_interrupt: BaseException | None = None
_received = 0  # the number of the signal that Python's side has seen
_spared = 0  # interrupts that do not end the process however long the work takes to come back


class Interrupted(Exception):
    """A command was left because of a signal; click has plans of its own for KeyboardInterrupt, which differ."""


def run() -> NoReturn:
    """Run the program: signals first, since loading the commands takes a moment already."""
    reopen_closed()
    _listen()
    try:
        from tightlip.cli.main import main

        status = main()
    except KeyboardInterrupt as error:
        status = tell_interrupted(error)
    if _interrupt is None:
        sys.exit(status)
    atexit._run_exitfuncs()
    sys.stderr.flush()
    os._exit(status)  # taking a large table's memory apart, as at other ends, can take seconds


def reopen_closed() -> None:
    """Put nothing in the place of closed standard streams: a file opened later must not become one of them."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


def tell_interrupted(error: BaseException) -> int:
    """Say that the work was interrupted, and return the status that says so: 128 and the number of the signal."""
    global _interrupt
    _interrupt = error  # and with it everything that was at work, until the process ends
    sys.stderr.write("tightlip: interrupted.\n")
    return 128 + (_received or int(signal.SIGINT))


def _listen() -> None:
    """Take the signals that ask to stop, but for those that whoever started the program ignores (nohup)."""
    for name in _STOPPING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)
    receive, send = os.pipe()
    os.set_blocking(send, False)
    signal.set_wakeup_fd(send, warn_on_full_buffer=False)
    Thread(target=_watch, args=(receive,), daemon=True).start()


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    global _received
    _received = number
    raise KeyboardInterrupt


def _watch(receive: int) -> None:
    """End the process that a signal has not ended in time."""
    while True:
        number = os.read(receive, 1)[0]
        if signal.getsignal(number) is not _leave or _spare(number):
            continue
        time.sleep(GRACE)
        restored = _SHOW_CURSOR if sys.stderr.isatty() else ""
        said = "" if _interrupt else "tightlip: interrupted.\n"
        os.write(2, f"{restored}{said}".encode())
        os._exit(128 + number)


@contextmanager
def first_is_spared() -> Iterator[None]:
    """Give work that ends well on Ctrl-C the time to do so: only the second one ends the process in time."""
    global _spared
    _spared = 1
    try:
        yield
    finally:
        _spared = 0


def _spare(number: int) -> bool:
    """Whether a signal is left to the work alone."""
    global _spared
    if number != signal.SIGINT or not _spared:
        return False
    _spared -= 1
    return True
