"""A policy as a TOML file.

secret = "disease"
min_count = 5

[release.age]
bins = 10

[release.sex]
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tightlip.errors import InvalidInput, TightlipError, WrongType, quoted
from tightlip.reading import first_line, is_below, read_text
from tightlip.table.bins import Bins
from tightlip.table.mapping import Mapping
from tightlip.table.mechanism import MECHANISMS, read_mechanism
from tightlip.table.policy import Policy, Released, require_known
from tightlip.table.recoding import BottomCode, Keep, Prefix, Recoding, Suppress, TopCode

_TOP_KEYS = ("secret", "statistic", "release", "min_count")
_MODIFIERS = {
    "mapping": ("level", "otherwise"),
    "bins": (),
    "prefix": (),
    "top": (),
    "bottom": (),
    "suppress": (),
}


@dataclass(frozen=True, slots=True)
class Folder:
    """Where mapping files are looked for, and whether those outside of it may be read too."""

    path: Path
    anywhere: bool

    def find(self, file: str, place: str) -> Path:
        """The path of a file; where links lead counts, not where they stand.

        Raises
        ------
        InvalidInput
            When it is outside and that is not allowed.
        """
        path = self.path / file
        if not self.anywhere and not is_below(path, self.path):
            raise InvalidInput(
                f"{place} must be a file in the policy's folder or below, got {quoted(file)}, which is or leads "
                "elsewhere; move it there, or allow it: --mappings-anywhere, mappings_anywhere=True."
            )
        return path


def read_policy(path: Path, *, mappings_anywhere: bool = False) -> Policy:
    """Read a policy file; mapping files are looked for beside it.

    Parameters
    ----------
    path : a TOML file
    mappings_anywhere : whether it may name mapping files that are not in its folder or a folder below; a policy comes
        from others perhaps, and parts of what it names appear in reports and messages

    Raises
    ------
    InvalidInput
        When the file cannot be read or says something that is no policy; the message names the file and the place.
    """
    text = read_text(path, f"policy file {path}")
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"policy file {path} cannot be read: {first_line(error)}.") from error
    try:
        return _policy(content, Folder(path.parent, mappings_anywhere))
    except TightlipError as error:
        raise type(error)(f"policy file {path}: {error}") from error


def _policy(content: dict[str, Any], folder: Folder) -> Policy:
    for key in content:
        require_known(key, _TOP_KEYS, "key")
    for key in ("secret", "release"):
        if key not in content:
            raise InvalidInput(f"{key} must be given, got none; add it.")
    secret, release, statistic = content["secret"], content["release"], content.get("statistic", [])
    for key, names in {"secret": secret, "statistic": statistic}.items():
        if not isinstance(names, (str, list)):
            raise WrongType(f"{key} must be a column or a list of columns, got {quoted(names)}.")
    if isinstance(release, dict):
        release = [read_released(column, settings, folder) for column, settings in release.items()]
    elif not isinstance(release, list):
        raise WrongType(f"release must be a table or a list of columns, got {quoted(release)}.")
    return Policy(secret, release, min_count=content.get("min_count"), statistic=statistic)


def read_released(column: str, settings: Any, folder: Folder) -> Released:
    """One released column from its settings, as they stand in a policy file."""
    place = f"release.{column}"
    if not isinstance(settings, dict):
        raise WrongType(f"{place} must be a table of settings, got {quoted(settings)}; write [{place}].")
    used = [key for key in _MODIFIERS if key in settings]
    if len(used) > 1:
        raise InvalidInput(f"{place} must have one recoding, got {' and '.join(used)}; keep one.")
    allowed = (*(used or _MODIFIERS), *(_MODIFIERS[used[0]] if used else ()), *MECHANISMS)
    for key in settings:
        require_known(key, allowed, f"{place} key")
    recoding = _READERS[used[0]](_Settings(place, settings, folder)) if used else Keep()
    return Released(column, recoding, read_mechanism(settings, place))


@dataclass(frozen=True, slots=True)
class _Settings:
    place: str
    values: dict[str, Any]
    folder: Folder


def _bins(given: _Settings) -> Recoding:
    value = given.values["bins"]
    if not isinstance(value, dict):
        return Bins(width=value)
    for key in value:
        require_known(key, ("width", "origin", "edges"), f"{given.place}.bins key")
    return Bins(**value)


def _mapping(given: _Settings) -> Recoding:
    value, otherwise = given.values["mapping"], given.values.get("otherwise")
    if isinstance(value, dict):
        if "level" in given.values:
            raise InvalidInput(f"{given.place}.level is for mapping files, got it with a mapping; drop it.")
        return Mapping(value, otherwise=otherwise)
    if not isinstance(value, str):
        raise WrongType(f"{given.place}.mapping must be a file name or a table, got {quoted(value)}.")
    path = given.folder.find(value, f"{given.place}.mapping")
    return Mapping.from_file(path, level=given.values.get("level", 1), otherwise=otherwise)


def _suppress(given: _Settings) -> Recoding:
    if given.values["suppress"] is not True:
        raise InvalidInput(f"{given.place}.suppress must be true, got {quoted(given.values['suppress'])}.")
    return Suppress()


_READERS: dict[str, Callable[[_Settings], Recoding]] = {
    "bins": _bins,
    "mapping": _mapping,
    "suppress": _suppress,
    "prefix": lambda given: Prefix(given.values["prefix"]),
    "top": lambda given: TopCode(given.values["top"]),
    "bottom": lambda given: BottomCode(given.values["bottom"]),
}
