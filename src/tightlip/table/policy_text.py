"""A policy written as the TOML that `Policy.from_toml` reads: the same policy comes back."""

from __future__ import annotations

import json
import os
import re
from functools import singledispatch
from pathlib import Path

from tightlip.errors import WrongType, quoted
from tightlip.reading import is_below
from tightlip.table.bins import Bins
from tightlip.table.mapping import Mapping
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import BottomCode, Keep, Prefix, Recoding, Suppress, TopCode


def policy_toml(policy: Policy, folder: str | Path = ".") -> str:
    """The policy as TOML for a file in some folder; a mapping from a file below it names that file as seen from there.

    Other mappings are written out with all their values, since a policy's files are below its folder.

    >>> print(policy_toml(Policy("ill", [Released("age", Bins(width=10)), "sex"], min_count=5)))
    secret = ["ill"]
    min_count = 5
    <BLANKLINE>
    [release.age]
    bins = 10
    <BLANKLINE>
    [release.sex]
    <BLANKLINE>
    """
    lines = [f"secret = [{', '.join(map(_text, policy.secret))}]"]
    if policy.statistic:
        lines.append(f"statistic = [{', '.join(map(_text, policy.statistic))}]")
    if policy.min_count is not None:
        lines.append(f"min_count = {policy.min_count}")
    for item in policy.release:
        lines += ["", f"[release.{_key(item.column)}]", *_settings(item, Path(folder))]
    return "\n".join(lines) + "\n"


def _settings(item: Released, folder: Path) -> list[str]:
    found = [f"{key} = {value}" for key, value in _recoding(item.recoding, folder).items()]
    if item.mechanism is not None:
        setting = item.mechanism.setting()
        shown = _text(setting) if isinstance(setting, str) else _number(setting)
        found.append(f"{item.mechanism.key} = {shown}")
    return found


@singledispatch
def _recoding(recoding: Recoding, folder: Path) -> dict[str, str]:
    raise WrongType(
        f"recoding must be one that a policy file can hold, got {quoted(recoding)}; use bins, prefix, top, bottom, "
        "mapping or suppress."
    )


@_recoding.register
def _(recoding: Keep, folder: Path) -> dict[str, str]:
    return {}


@_recoding.register
def _(recoding: Suppress, folder: Path) -> dict[str, str]:
    return {"suppress": "true"}


@_recoding.register
def _(recoding: Prefix, folder: Path) -> dict[str, str]:
    return {"prefix": str(recoding.length)}


@_recoding.register
def _(recoding: TopCode, folder: Path) -> dict[str, str]:
    return {"top": _number(recoding.at)}


@_recoding.register
def _(recoding: BottomCode, folder: Path) -> dict[str, str]:
    return {"bottom": _number(recoding.at)}


@_recoding.register
def _(recoding: Bins, folder: Path) -> dict[str, str]:
    if recoding.edges is not None:
        return {"bins": f"{{edges = [{', '.join(map(_number, recoding.edges))}]}}"}
    assert recoding.width is not None
    if not recoding.origin:
        return {"bins": _number(recoding.width)}
    return {"bins": f"{{width = {_number(recoding.width)}, origin = {_number(recoding.origin)}}}"}


@_recoding.register
def _(recoding: Mapping, folder: Path) -> dict[str, str]:
    otherwise = {} if recoding.otherwise is None else {"otherwise": _text(recoding.otherwise)}
    path = None if recoding.hierarchy is None else recoding.hierarchy.path
    if path is None or not is_below(path, folder):
        pairs = (f"{_key(value)} = {_text(group)}" for value, group in recoding.groups)
        return {"mapping": f"{{{', '.join(pairs)}}}"} | otherwise
    seen = path if path.is_absolute() else Path(os.path.relpath(path, folder))
    return {"mapping": _text(seen.as_posix()), "level": str(recoding.level)} | otherwise


def _number(value: float) -> str:
    """Enough digits to get the same number back."""
    return str(int(value)) if isinstance(value, int) else float.__repr__(value)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(text: str) -> str:
    """A TOML string: JSON escapes what TOML does, all but one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
