"""Writing a file wholly or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Sequence
from pathlib import Path

from tightlip.errors import InvalidInput


def write_whole(path: Path, text: str, *, force: bool) -> None:
    """Write a file wholly or not at all: a new file beside it takes its name when it is complete.

    Raises
    ------
    InvalidInput
        When the file exists and force is not set, or cannot be written; what was there stays.
    """
    require_free(path, force=force)
    partial = path.parent / f".{path.name[:100]}.{secrets.token_hex(8)}.partial"
    try:
        with partial.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        take_name(partial, path, force=force)
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"{path} cannot be written: {reason}; check the folder and the name.") from error
    finally:
        _remove(partial)


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


def _remove(partial: Path) -> None:
    try:
        partial.unlink(missing_ok=True)
    except (OSError, ValueError):  # it was never made, or its folder is gone
        return


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


def require_apart(outputs: Sequence[Path], source: Path | None) -> None:
    """Refuse to write two files of one name, or over the file that is read."""
    for place, path in enumerate(outputs):
        if path.resolve() in [other.resolve() for other in outputs[:place]]:
            raise InvalidInput(f"{path} is asked for twice; give each output a name of its own.")
        if source is not None and path.exists() and source.exists() and path.samefile(source):
            raise InvalidInput(f"{path} is the file that is read and would be lost; choose another name.")


def _taken(path: Path) -> InvalidInput:
    return InvalidInput(f"{path} exists already; choose another name or overwrite it: --force, force=True.")
