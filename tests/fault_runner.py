"""Runs one command in a process of its own, whose every write is watched, or whose disk is full."""

import contextlib
import io
import os
import resource
import shutil
import signal
import sys

from tightlip.cli.main import main

_WRITES = ("os.mkdir", "os.chmod", "os.link", "os.rename", "os.remove", "os.rmdir", "os.truncate")
_CHANGING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def run(pipe, arguments, folder, copies, room, kill_when_full):
    """Send the exit status and what was said on stderr.

    Parameters
    ----------
    copies : where `folder` is copied to before each write below it, as it is if the process is killed there; or None
    room : the bytes that a file may have, None for any number: a disk that is full from there on
    kill_when_full : whether the kernel kills the process there, in the midst of a write, instead of refusing it
    """
    if copies is not None:
        _copy_before_writes(os.fspath(folder), os.fspath(copies))
    if room is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL if kill_when_full else signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        status = main([os.fspath(argument) for argument in arguments])
    pipe.send((status, said.getvalue()))
    pipe.close()


def _copy_before_writes(folder, copies):
    """Watch every change below a folder that Python makes; native code writes to files that Python moves."""
    made = []
    busy = False

    def hook(event, given):
        nonlocal busy
        if busy or not _changes(event, given, folder):
            return
        busy = True
        made.append(event)
        shutil.copytree(folder, os.path.join(copies, f"{len(made)}-{event}"))
        busy = False

    sys.addaudithook(hook)


def _changes(event, given, folder):
    opened = event == "open" and isinstance(given[2], int) and given[2] & _CHANGING
    if event not in _WRITES and not opened:
        return False
    paths = [os.fsdecode(path) for path in given[:2] if isinstance(path, (str, bytes, os.PathLike))]
    # what shutil.rmtree removes is named relative to its folder
    return any(path.startswith(folder + os.sep) or event in ("os.remove", "os.rmdir") for path in paths)
