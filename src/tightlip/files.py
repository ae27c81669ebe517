"""The only writer of files: wholly or not at all, never over a file unasked, and nothing stays of a killed writer."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tightlip.errors import InvalidInput

_LEFTOVER = re.compile(r"\.tightlip-[0-9a-f]{16}\.partial")


def write_whole(path: Path, text: str, *, force: bool, private: bool = False) -> None:
    """Write text to a file wholly or not at all; see `whole_file`."""
    with whole_file(path, force=force, private=private) as written:
        written.write_text(text, encoding="utf-8", newline="")


@contextmanager
def whole_file(path: Path, *, force: bool, private: bool = False) -> Iterator[Path]:
    """A file (or folder) to write, which takes the name `path` when the block ends without an error.

    It is made under its own name in a folder beside it that is closed to others. With `private` it stays so: only the
    owner may read it, from the first byte on. Otherwise it is as open as the process's umask makes new files.
    A forked child that leaves the block finishes and removes nothing: the file is its parent's.

    Raises
    ------
    InvalidInput
        When the name is taken and force is not set, is that of a folder, or the place cannot be written; nothing of
        what was there is lost and nothing partial stays.
    """
    prepare_output(path, force=force)
    writer = os.getpid()
    try:
        with _partial_folder(path.parent) as partial:
            written = partial / path.name
            yield written
            if os.getpid() == writer:
                _finish(written, private)
                require_free(path, force=force)
                take_name(written, path, force=force)
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"{path} cannot be written: {reason}; check the folder and the name.") from error


@contextmanager
def passing_folder() -> Iterator[Path]:
    """A folder among the system's temporary files that is closed to others and goes when the block ends.

    What a killed process leaves of one goes the next time that somebody asks for one.
    """
    place = Path(tempfile.gettempdir())
    _remove_leftovers(place)
    with _partial_folder(place) as folder:
        yield folder


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk: a file whose name is not there is lost when the power goes.

    Raises
    ------
    InvalidInput
        When the disk does not take them.
    """
    try:
        opened = os.open(folder, os.O_RDONLY)
    except PermissionError:  # Windows, which opens no folders; or one that may be written and not read
        return
    try:
        os.fsync(opened)
    except OSError as error:
        # a file system that does not do this for folders
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise InvalidInput(f"{folder} cannot be written: {error.strerror}; check the disk.") from error
    finally:
        os.close(opened)


def prepare_output(path: Path, *, force: bool) -> None:
    """Refuse, before any work, a file that could not be written, and clear its folder of what killed writers left.

    Raises
    ------
    InvalidInput
        When there is no such folder, it may not be written, or the name is taken.
    """
    if not path.parent.is_dir():
        raise InvalidInput(f"{path} cannot be written: there is no folder {path.parent}; make it first.")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InvalidInput(f"{path} cannot be written: its folder is closed to writing; choose another one.")
    require_free(path, force=force)
    _remove_leftovers(path.parent)


@contextmanager
def _partial_folder(folder: Path) -> Iterator[Path]:
    """Make a folder for what is not complete, and remove it at the end; a forked child removes nothing."""
    writer = os.getpid()
    partial, lock = _make_partial(folder)
    try:
        yield partial
    finally:
        if os.getpid() == writer:
            shutil.rmtree(partial, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _make_partial(folder: Path) -> tuple[Path, int | None]:
    """Make a folder for what is not complete, and lock it for as long as this process lives."""
    while True:
        partial = folder / f".tightlip-{secrets.token_hex(8)}.partial"
        partial.mkdir(mode=0o700)
        lock = None
        with suppress(FileNotFoundError, BlockingIOError):
            lock = _lock(partial)
            # between the two lines above it was nobody's, and whoever clears leftovers may have taken it for one
            if partial.is_dir():
                return partial, lock
        if lock is not None:
            os.close(lock)


def _lock(folder: Path) -> int | None:
    """Lock a folder: a lock goes with its process, however that ends, where process numbers are used again.

    None where the system or the file system has no such locks; an OSError where another process has it.
    """
    try:
        import fcntl
    except ImportError:  # Windows: nothing tells whether a writer lives, so nothing is removed for it
        return None
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise
    except OSError:
        os.close(lock)
        return None
    return lock


def _remove_leftovers(folder: Path) -> None:
    """Remove what is not complete and whose writer is gone."""
    with suppress(OSError), os.scandir(folder) as entries:
        left = [Path(entry.path) for entry in entries if _LEFTOVER.fullmatch(entry.name)]
        for partial in left:
            with suppress(OSError):
                lock = _lock(partial)
                if lock is not None:
                    shutil.rmtree(partial, ignore_errors=True)
                    os.close(lock)


def _finish(written: Path, private: bool) -> None:
    """Close a file to others if it is private, and bring it to the disk before it takes its name."""
    if private:
        written.chmod(0o700 if written.is_dir() else 0o600)
    if written.is_file():
        with written.open("rb+") as file:
            os.fsync(file.fileno())


def take_name(partial: Path, path: Path, *, force: bool) -> None:
    """Give a complete file its name; a link, unlike a look beforehand, never takes one that others have taken."""
    if not force:
        try:
            os.link(partial, path)
        except FileExistsError:
            raise _taken(path) from None
        except OSError:  # a file system without links
            require_free(path, force=False)
        else:
            return
    partial.replace(path)


def require_free(path: Path, *, force: bool) -> None:
    """Refuse a name that is taken; if forced, only that of a folder, a device or the like: no file to replace."""
    if not os.path.lexists(path):
        return
    kind = path.lstat().st_mode
    if stat.S_ISDIR(kind):
        raise InvalidInput(f"{path} is a folder; choose another name or remove it first.")
    if not (stat.S_ISREG(kind) or stat.S_ISLNK(kind)):
        raise InvalidInput(f"{path} is a device, a pipe or the like, not a file; choose another name.")
    if not force:
        raise _taken(path)


def require_apart(outputs: Iterable[Path | None], inputs: Mapping[str, Iterable[str | Path | None]]) -> None:
    """Refuse to write two files of one name, or over a file that is read; inputs are listed by what they are."""
    paths = [path for path in outputs if path is not None]
    for place, path in enumerate(paths):
        if path.resolve() in [other.resolve() for other in paths[:place]]:
            raise InvalidInput(f"{path} is asked for twice; give each output a name of its own.")
        for what, files in inputs.items():
            if any(_same(path, file) for file in files if file is not None):
                raise InvalidInput(f"{path} is {what}, which is read and would be lost; choose another name.")


def _same(path: Path, other: str | Path) -> bool:
    return path.exists() and os.path.exists(other) and path.samefile(other)


def _taken(path: Path) -> InvalidInput:
    return InvalidInput(f"{path} exists already; choose another name or overwrite it: --force, force=True.")
