"""Does one thing with a ledger in a process of its own: watched at every system call, without room, or without rights.

Called as `python ledger_runner.py HOW DO PATH …`; what is found is printed as JSON.
"""

import ctypes
import json
import os
import platform
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from tightlip.errors import TightlipError
from tightlip.ledger.store import Store

_TRACE_ME, _GO_ON, _SET_OPTIONS, _CALLS_ARE_TOLD_APART = 0, 24, 0x4200, 1
# the numbers of fsync and fdatasync
_SYNCS = {"x86_64": ("74", "75"), "aarch64": ("82", "83")}
_CALL = signal.SIGTRAP | 0x80


def create(path):
    Store.create(path, {"budget": "1/2"})


def append(path):
    store = Store.open(path)
    plan = Path(path).with_name("plan").read_bytes()
    store.append("release", "new", {"spent": "1/10"}, after=store.head.digest, files={"plan": plan})


def look(path):
    Store.open(path, write=False).verify()


DO = {"create": create, "append": append, "look": look}


def steps(do, path, copies):
    """Copy the folder as it is before each system call of a process: as it stays if that is killed there.

    Prints how many copies were made, only what has changed being copied; and for each call that brings a file or a
    folder to the disk, how many there were by then, and its path.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    child = os.fork()
    if child == 0:
        if libc.ptrace(_TRACE_ME, 0, None, None) != 0:
            os._exit(77)
        os.kill(os.getpid(), signal.SIGSTOP)
        DO[do](path)
        os._exit(0)
    states, synced = [], []
    _, status = os.waitpid(child, 0)
    if os.WIFSTOPPED(status):
        libc.ptrace(_SET_OPTIONS, child, None, _CALLS_ARE_TOLD_APART)
    passed = 0
    while os.WIFSTOPPED(status):
        _keep(Path(path).parent, Path(copies), states)
        synced += [[len(states), brought] for brought in _brought(child)]
        libc.ptrace(_GO_ON, child, None, passed)
        _, status = os.waitpid(child, 0)
        stop = os.WSTOPSIG(status) if os.WIFSTOPPED(status) else 0
        passed = 0 if stop == _CALL else stop
    _keep(Path(path).parent, Path(copies), states)
    return {"code": os.waitstatus_to_exitcode(status), "states": len(states), "synced": synced}


def _brought(child):
    """What the call at which a process stands brings to the disk."""
    call, *given = Path(f"/proc/{child}/syscall").read_text().split()
    if call in _SYNCS.get(platform.machine(), ()):
        yield os.readlink(f"/proc/{child}/fd/{int(given[0], 16)}")


def _keep(folder, copies, states):
    state = {str(file): file.is_file() and file.read_bytes() for file in sorted(folder.rglob("*"))}
    if not states or state != states[-1]:
        states.append(state)
        # which keeps two names of one file
        subprocess.run(["cp", "-a", folder, copies / str(len(states))], check=True)


def full(do, path, folder, most, step):
    """Do it again and again with room for `step` bytes more in each file, refused and killed where it ends.

    Prints for each the room, whether the kernel killed it, its status (0, 3 where it was refused, or a signal), and
    what it said.
    """
    found = []
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for room in range(0, int(most), int(step)):
        for killed in (False, True):
            place = Path(folder) / f"{room}-{killed}"
            shutil.copytree(Path(path).parent, place)
            ours, theirs = os.pipe()
            child = os.fork()
            if child == 0:
                signal.signal(signal.SIGXFSZ, signal.SIG_DFL if killed else signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
                os._exit(_tried(do, place / Path(path).name, theirs))
            os.close(theirs)
            with os.fdopen(ours) as pipe:
                said = pipe.read()
            found.append([room, killed, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said])
    return found


def powerless(do, path):
    """Do it as a user who owns nothing; prints what was said."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    try:
        DO[do](path)
    except TightlipError as error:
        return str(error)
    return "done"


def _tried(do, path, pipe):
    try:
        DO[do](path)
    except TightlipError as error:
        os.write(pipe, str(error).encode())
        return 3
    except BaseException:
        return 1
    return 0


if __name__ == "__main__":
    how = {"steps": steps, "full": full, "powerless": powerless}
    print(json.dumps(how[sys.argv[1]](*sys.argv[2:])))  # noqa: T201
