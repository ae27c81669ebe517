"""A policy from command-line flags: `--secret disease --release age,zip --bins age=10 --prefix zip=3`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tightlip.arguments import listed
from tightlip.errors import InvalidInput, quoted
from tightlip.table.mechanism import flag_setting
from tightlip.table.policy import Policy, Released, require_known
from tightlip.table.policy_file import Folder, read_released


def policy_from_flags(
    secret: Sequence[str],
    release: Sequence[str],
    *,
    bins: Sequence[str] = (),
    prefix: Sequence[str] = (),
    top: Sequence[str] = (),
    bottom: Sequence[str] = (),
    mapping: Sequence[str] = (),
    suppress: Sequence[str] = (),
    randomize: Sequence[str] = (),
    min_count: int | None = None,
    statistic: Sequence[str] = (),
) -> Policy:
    """Read flags of the form COLUMN=VALUE, each for a released column.

    Parameters
    ----------
    secret, release : names of columns
    bins : COLUMN=WIDTH or COLUMN=EDGE,EDGE,… (one number is a width; `18,` is a single edge)
    prefix, top, bottom : COLUMN=NUMBER
    mapping : COLUMN=FILE or COLUMN=FILE:LEVEL
    suppress : COLUMN
    randomize : COLUMN=LEVEL of randomised response, or "COLUMN=MECHANISM SETTING"
    min_count, statistic : see Policy

    >>> policy = policy_from_flags(["ill"], ["age", "zip"], bins=["age=10"], prefix=["zip=3"])
    >>> [item.words() for item in policy.release]
    ['age in bins of 10', 'zip first 3 characters']
    """
    release = listed(release, "release", "columns")
    settings: dict[str, dict[str, Any]] = {Released(column).column: {} for column in release}
    flags: list[tuple[str, str, Sequence[str], Callable[[str, str], dict[str, Any]]]] = [
        ("--bins", "bins", bins, _bins),
        ("--prefix", "prefix", prefix, _number),
        ("--top", "top", top, _number),
        ("--bottom", "bottom", bottom, _number),
        ("--map", "mapping", mapping, _mapping),
        ("--randomize", "mechanism", randomize, lambda _, text: flag_setting(text)),
    ]
    for flag, key, given, read in flags:
        for text in given:
            column, value = _split(flag, text)
            _add(settings, flag, column, read(key, value))
    for column in suppress:
        _add(settings, "--suppress", column, {"suppress": True})
    anywhere = Folder(Path(), anywhere=True)  # who types the name of a file may read it
    items = [read_released(column, found, anywhere) for column, found in settings.items()]
    planned = items if len(items) == len(release) else release
    return Policy(secret, planned, min_count=min_count, statistic=statistic)


def _split(flag: str, text: str) -> tuple[str, str]:
    column, equals, value = text.rpartition("=")
    if not equals or not column or not value:
        raise InvalidInput(f"{flag} must be COLUMN=VALUE, got {quoted(text)}.")
    return column, value


def _add(settings: dict[str, dict[str, Any]], flag: str, column: str, new: dict[str, Any]) -> None:
    require_known(column, settings, f"{flag} column")
    if new.keys() & settings[column].keys():
        raise InvalidInput(f"{flag} must be given once for column {quoted(column)}, got it twice.")
    settings[column].update(new)


def _number(key: str, text: str) -> dict[str, Any]:
    return {key: _read_number(key, text)}


def _read_number(key: str, text: str) -> int | float:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    raise InvalidInput(f"--{key} must have a number, got {quoted(text)}.")


def _bins(key: str, text: str) -> dict[str, Any]:
    if "," not in text:
        return {key: _read_number(key, text)}
    return {key: {"edges": [_read_number(key, part) for part in text.split(",") if part.strip()]}}


def _mapping(key: str, text: str) -> dict[str, Any]:
    file, colon, level = text.rpartition(":")
    return {key: file, "level": int(level)} if colon and level.isdecimal() else {key: text}
