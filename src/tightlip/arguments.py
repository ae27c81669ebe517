"""The doors of public functions: one reader for each kind of argument that is not a number.

    instance   an object of a class of ours       whole    a whole number
    choice     one of a few words                 flag     True or False
    listed     a list, in an order                path     the name of a file

Numbers are read by `tightlip.numeric.parse`, labels and numbers by label in `tightlip.model`. Whatever comes in,
a reader returns what it promises or raises an error that names the argument, the value and the remedy.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tightlip.errors import InvalidInput, WrongType, quoted

Kind = TypeVar("Kind")

_LONGEST_NAME = 255  # bytes, of Linux, macOS and Windows alike
_LONGEST_PATH = 4096


def instance(value: object, kind: type[Kind], argument: str, remedy: str) -> Kind:
    """Read an object of one class; `remedy` ends the message where it is something else.

    >>> instance(0.5, float, "gap", "write 0.5")
    0.5
    """
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise WrongType(f"{argument} must be {article} {kind.__name__}, got {quoted(value)}; {remedy}.")
    return value


def whole(value: object, argument: str, least: int, most: int | None = None, *, remedy: str = "") -> int:
    """Read a whole number from `least` to `most`; True and 2.0 are none.

    >>> whole(3, "symbols", 1)
    3
    """
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        read = int(value)
        if least <= read and (most is None or read <= most):
            return read
    size = f"of at least {least}" if most is None else f"from {least} to {most}"
    number = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    kind = InvalidInput if number else WrongType
    raise kind(
        f"{argument} must be a whole number {size}, got {quoted(value)}; {remedy or f'write {least}'}."
    )


def choice(value: object, argument: str, options: Sequence[str]) -> str:
    """Read one of a few words.

    >>> choice("up", "rounding", ["up", "down"])
    'up'
    """
    if isinstance(value, str) and value in options:
        return str(value)
    words = ", ".join(quoted(option) for option in options)
    raise InvalidInput(f"{argument} must be one of {words}, got {quoted(value)}; choose one of them.")


def flag(value: object, argument: str) -> bool:
    """Read True or False; nothing else, since almost everything would count as True.

    >>> flag(np.bool_(True), "force")
    True
    """
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise WrongType(f"{argument} must be True or False, got {quoted(value)}; write one of them.")


def listed(value: Any, argument: str, what: str) -> list[Any]:
    """Read a list of things; no text, whose parts are letters, no set, which has no order, and no mapping.

    >>> listed((1, 2), "deltas", "probabilities")
    [1, 2]
    """
    if is_list(value):
        try:
            return list(value)
        except Exception:  # what says that it can be gone through, and cannot, as an array without dimensions
            pass
    raise WrongType(
        f"{argument} must be a list of {what}, got {quoted(value)} of type {type(value).__name__}; write [..., ...]."
    )


def is_list(value: object) -> bool:
    """Whether something can be gone through one by one in an order that its owner chose.

    >>> is_list([1]), is_list({1}), is_list("ab"), is_list({1: 2})
    (True, False, False, False)
    """
    if isinstance(value, (str, bytes, bytearray, set, frozenset, Mapping)):
        return False
    return isinstance(value, Iterable) and not is_frame(value)


def is_frame(value: object) -> bool:
    """Whether something is a data frame or a table: going through it would give its columns, not its rows.

    Its type is asked, and no library of frames imported: a lazy frame would look for its columns, and a series may
    have one of that name.
    """
    own = hasattr(type(value), "columns") or "columns" in getattr(value, "__dict__", {})
    return own and not isinstance(value, np.ndarray)


def path(value: object, argument: str) -> Path:
    """Read the name of a file, as text or a Path.

    >>> path("people.csv", "path").name
    'people.csv'
    """
    if not isinstance(value, (str, os.PathLike)) or not isinstance(os.fspath(value), str):
        raise WrongType(f'{argument} must be the name of a file, got {quoted(value)}; write "name.csv".')
    name = os.fspath(value)
    if not usable_name(name):
        raise InvalidInput(
            f"{argument} must be a name that a file can have, got {quoted(name)}; "
            "shorten it, or remove zero characters and broken text."
        )
    return Path(name)


def usable_name(name: str) -> bool:
    """Whether a file can have this name: not empty, not overlong, without zero characters and broken text.

    >>> usable_name("a.csv"), usable_name("a" * 300)
    (True, False)
    """
    try:
        encoded = os.fsencode(name)
    except UnicodeEncodeError:
        return False
    parts = encoded.replace(b"\\", b"/").split(b"/") if os.name == "nt" else encoded.split(b"/")
    return 0 < len(encoded) < _LONGEST_PATH and b"\0" not in encoded and max(map(len, parts)) <= _LONGEST_NAME


def public_address(address: str) -> str:
    """Write a table's address without its password.

    >>> public_address("postgresql://me:p@ss/word@host/db"), public_address("patients.csv")
    ('postgresql://me:***@host/db', 'patients.csv')
    """
    hidden = re.sub(r"(://[^:/@]*):.*@", r"\1:***@", address)
    return re.sub(r"(?i)(password=)[^&\s]*", r"\1***", hidden)
