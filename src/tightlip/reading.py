"""The reader of text files that people write: policies, mappings, channels, studies, certificates.

Whoever is sent such a file opens it without a second thought, so no file may make a program wait, run on or fill the
memory: only a regular file is read, and only up to a size.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO

from tightlip.errors import InvalidInput

SMALL = 1 << 26  # 64 MiB: a mapping of a million values fits, and TOML of that size is read in a minute
LARGE = 1 << 30  # 1 GiB: channels and proofs may have a hundred million numbers
_BLOCK = 1 << 20
_LONGEST_NAME = 500  # in messages; a policy may name a file of a million letters
# A pipe that nobody writes to would make `open` wait, and a terminal must not become the one of this program.
_FLAGS = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")
)


def open_regular(path: Path, name: str | None = None) -> BinaryIO:
    """Open a regular file for reading; pipes, devices and folders are refused without waiting for them.

    Parameters
    ----------
    path : where it is; symbolic links are followed
    name : what messages call it, the path if left out

    Raises
    ------
    InvalidInput
        When it is no regular file, or cannot be opened.
    """
    name = _shown(name or str(path))
    try:
        _require_regular(os.stat(path).st_mode, name)  # opening alone can start a device
        descriptor = os.open(path, _FLAGS)
        try:
            _require_regular(os.fstat(descriptor).st_mode, name)
            return os.fdopen(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise
    except InvalidInput:
        raise
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise InvalidInput(f"{name} cannot be read: {_reason(error)}; check the path.") from error


def read_text(path: Path, name: str | None = None, *, most: int = SMALL) -> str:
    """Read the text of a file, UTF-8 with or without a byte order mark.

    Parameters
    ----------
    path : where it is; symbolic links are followed
    name : what messages call it, the path if left out
    most : how many bytes it may have

    Raises
    ------
    InvalidInput
        When it is no regular file, cannot be read, is too large or not UTF-8.
    """
    return text_of(read_bytes(path, name, most=most), name or str(path))


def read_bytes(path: Path, name: str | None = None, *, most: int = SMALL) -> bytes:
    """Read a file as it is; see `read_text`."""
    name = _shown(name or str(path))
    with open_regular(path, name) as file:
        try:
            return _read(file, name, most)
        except OSError as error:
            raise InvalidInput(f"{name} cannot be read: {_reason(error)}; check the path.") from error


def text_of(content: bytes, name: str) -> str:
    """Decode what was read of a file, UTF-8 with or without a byte order mark; `name` is what messages call it."""
    name = _shown(name)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = f"byte {error.object[error.start]:#x} at position {error.start}"
        raise InvalidInput(
            f"{name} cannot be read: it must be UTF-8 text, got {place}; save it as UTF-8."
        ) from error


def read_standard_input(*, most: int = LARGE) -> str:
    """Read standard input to its end, or up to a size."""
    try:
        text = sys.stdin.read(most + 1)
    except UnicodeDecodeError as error:
        raise InvalidInput(f"standard input must be UTF-8 text, got {error.reason}; send UTF-8.") from error
    if len(text) > most:
        raise _too_large("standard input", most)
    return text


def stamp(path: Path) -> tuple[int, ...]:
    """Find what changes when somebody writes to a file or puts another in its place."""
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def is_below(path: Path, folder: Path) -> bool:
    """Whether a file is in a folder or below it, once every symbolic link is followed."""
    try:
        real, base = os.path.realpath(path), os.path.realpath(folder)
    except ValueError:  # a name that no file can have
        return False
    return Path(real).is_relative_to(base)


def first_line(error: Exception) -> str:
    """What a parser says is wrong, without its advice to programmers about numbers of thousands of digits."""
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return "a number has too many digits" if "int_max_str_digits" in text else text.rstrip(".")


def _read(file: BinaryIO, name: str, most: int) -> bytes:
    """The size that a file has is not always what it gives: those of the system say 0, and some never end."""
    if os.fstat(file.fileno()).st_size > most:
        raise _too_large(name, most)
    content = bytearray()
    while block := file.read(_BLOCK):
        content += block
        if len(content) > most:
            raise _too_large(name, most)
    return bytes(content)


def _require_regular(mode: int, name: str) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise InvalidInput(f"{name} cannot be read: {os.strerror(errno.EISDIR)}; name a file in it.")
    raise InvalidInput(
        f"{name} cannot be read: it is a pipe, a device or the like, which may never end; save it to a file first."
    )


def _shown(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _too_large(name: str, most: int) -> InvalidInput:
    return InvalidInput(
        f"{name} must have at most {most >> 20} MiB, got more; check that it is the right file."
    )


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or "its name is none that a file can have"
