"""Read a policy from a TOML file, and write it as TOML that reads back as the same policy.

secret = "disease"
min_count = 5
where = ["age >= 18"]
budget = "3x"

[release.age]
bins = 10

[release.sex]

`flags` has the same for a command line, and `plan` for keywords of Python.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial, singledispatch
from pathlib import Path
from typing import Any

from tightlip.arguments import instance
from tightlip.arguments import path as read_path
from tightlip.errors import InvalidInput, TightlipError, WrongType, quoted
from tightlip.files import require_free, write_whole
from tightlip.numeric.parse import exact_text
from tightlip.reading import first_line, is_below, read_text
from tightlip.table.budget import as_given, read_rules
from tightlip.table.chain import Chain, in_a_row
from tightlip.table.local import LocalRecoding, file_digest
from tightlip.table.mapping import Mapping
from tightlip.table.mechanism import MECHANISMS, read_mechanism
from tightlip.table.policy import Policy, Released, Secret, require_known
from tightlip.table.recoding import Bins, BottomCode, Keep, Prefix, Recoding, Suppress, TopCode
from tightlip.table.scale import Declared

_AS_THEY_ARE = (
    "min_count",
    "statistic",
    "not_secret",
    "where",
    "missing",
    "delta",
    "jointly",
    "weight",
    "scales",
)
_TOP_KEYS = ("secret", "release", "budget", "local", *_AS_THEY_ARE)
_SECRET_KEYS = ("values", "not_secret")
_MODIFIERS = {  # in the order in which they are applied
    "bins": (),
    "bottom": (),
    "top": (),
    "prefix": (),
    "mapping": ("level", "otherwise"),
    "suppress": (),
}


@dataclass(frozen=True, slots=True)
class Folder:
    """Where files of mappings and channels are looked for, and whether those outside of it may be read too."""

    path: Path
    anywhere: bool

    def find(self, file: str, place: str) -> Path:
        """Find the path of a file; where links lead counts, not where they stand.

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


def read_policy(
    path: Path, *, mappings_anywhere: bool = False, secrets: Sequence[Secret] | None = None
) -> Policy:
    """Read a policy file; files of mappings and channels are looked for beside it.

    Parameters
    ----------
    path : a TOML file
    mappings_anywhere : whether it may name such files that are not in its folder or a folder below; a policy comes
        from others perhaps, and parts of what it names appear in reports and messages

    secrets : what is secret where the file does not say it

    Raises
    ------
    InvalidInput
        When the file cannot be read or says something that is no policy; the message names the file and the place.
    """
    text = read_text(path, f"policy file {path}")
    return _read(text, f"policy file {path}", Folder(path.parent, mappings_anywhere), secrets)


def policy_from_text(text: str) -> Policy:
    """Read a policy as it stands in a file that names no other files; those that it may name are not read."""
    return _read(text, "policy", None)


def _read(text: str, name: str, folder: Folder | None, secrets: Sequence[Secret] | None = None) -> Policy:
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{name} cannot be read: {first_line(error)}.") from error
    try:
        return _policy(content if secrets is None else {"secret": [*secrets], **content}, folder)
    except TightlipError as error:
        raise type(error)(f"{name}: {error}") from error


def _policy(content: dict[str, Any], folder: Folder | None) -> Policy:
    for key in content:
        require_known(key, _TOP_KEYS, "key")
    for key in ("secret", "release"):
        if key not in content:
            raise InvalidInput(f"{key} must be given, got none; add it.")
    secret, release = content["secret"], content["release"]
    if isinstance(secret, dict):
        secret = [_read_secret(column, settings, folder) for column, settings in secret.items()]
    for key, names in {"secret": secret, "statistic": content.get("statistic", [])}.items():
        if not isinstance(names, (str, list)):
            raise WrongType(f"{key} must be a column or a list of columns, got {quoted(names)}.")
    if isinstance(release, dict):
        release = [read_released(column, settings, folder) for column, settings in release.items()]
    elif not isinstance(release, list):
        raise WrongType(f"release must be a table or a list of columns, got {quoted(release)}.")
    if not isinstance(content.get("missing", {}), dict):
        raise WrongType(
            f"missing must be a table of columns, got {quoted(content['missing'])}; write [missing]."
        )
    local = _read_local(content["local"], folder) if "local" in content else None
    given = {key: content[key] for key in _AS_THEY_ARE if key in content}
    return Policy(secret, release, local=local, budget=read_rules(content.get("budget"), bare=False), **given)


def _read_secret(column: str, settings: Any, folder: Folder | None) -> Secret:
    """Read what counts as secret of a column: its recoding, sensitive values, and those that are no secret."""
    place = f"secret.{column}"
    recoding = read_recoding(place, settings, folder, _SECRET_KEYS)
    return Secret(column, recoding, settings.get("values", ()), settings.get("not_secret", ()))


def _find(folder: Folder | None, file: str, place: str) -> Path:
    if folder is None:
        raise InvalidInput(f"{place} must not name a file here, got {quoted(file)}; write it out.")
    return folder.find(file, place)


def _read_local(settings: Any, folder: Folder | None) -> LocalRecoding:
    """Read the local recoding that a policy names, of which it also has the digest."""
    if not isinstance(settings, dict) or {*settings} != {"file", "sha256"}:
        raise WrongType(
            f"local must be a table of file and sha256, got {quoted(settings)}; protect the table again."
        )
    for key, text in settings.items():
        if not isinstance(text, str):
            raise WrongType(f"local.{key} must be text, got {quoted(text)}.")
    return LocalRecoding.load(_find(folder, settings["file"], "local.file"), settings["sha256"])


def read_released(column: str, settings: Any, folder: Folder | None) -> Released:
    """Read one released column from its settings, as they stand in a policy file."""
    place = f"release.{column}"
    recoding = read_recoding(place, settings, folder, (*MECHANISMS,))
    return Released(column, recoding, read_mechanism(settings, place, partial(_find, folder)))


def read_recoding(place: str, settings: Any, folder: Folder | None, others: Iterable[str] = ()) -> Recoding:
    """Read the recodings in a row that a column's settings name; `others` are keys that may stand beside them.

    Raises
    ------
    InvalidInput
        When they make no sense one after the other, or a key is not known.
    """
    if not isinstance(settings, dict):
        raise WrongType(f"{place} must be a table of settings, got {quoted(settings)}; write [{place}].")
    then = settings.get("then", [])
    if not isinstance(then, list) or not all(isinstance(step, dict) for step in then):
        raise WrongType(
            f"{place}.then must be a list of recodings, got {quoted(then)}; write [{{mapping = …}}]."
        )
    steps = _steps(place, settings, folder, ("then", *others))
    steps += [step for later in then for step in _steps(f"{place}.then", later, folder, ())]
    try:
        return in_a_row(steps)
    except InvalidInput as error:
        raise InvalidInput(f"{place}: {error}") from error


def _steps(
    place: str, settings: dict[str, Any], folder: Folder | None, others: Iterable[str]
) -> list[Recoding]:
    """Read the recodings of one table of settings, in the order in which they are applied."""
    used = [key for key in _MODIFIERS if key in settings]
    allowed = (*_MODIFIERS, *(more for key in used for more in _MODIFIERS[key]), *others)
    for key in settings:
        require_known(key, allowed, f"{place} key")
    return [_READERS[key](_Settings(place, settings, folder)) for key in used]


@dataclass(frozen=True, slots=True)
class _Settings:
    place: str
    values: dict[str, Any]
    folder: Folder | None


def _bins(given: _Settings) -> Recoding:
    value = given.values["bins"]
    if isinstance(value, Bins):
        return value
    if not isinstance(value, dict):
        return Bins(width=value)
    for key in value:
        require_known(key, ("width", "origin", "edges"), f"{given.place}.bins key")
    return Bins(**value)


def _mapping(given: _Settings) -> Recoding:
    value, otherwise = given.values["mapping"], given.values.get("otherwise")
    if isinstance(value, Mapping):
        return value
    if isinstance(value, dict):
        if "level" in given.values:
            raise InvalidInput(f"{given.place}.level is for mapping files, got it with a mapping; drop it.")
        return Mapping(value, otherwise=otherwise)
    if not isinstance(value, str):
        raise WrongType(f"{given.place}.mapping must be a file name or a table, got {quoted(value)}.")
    path = _find(given.folder, value, f"{given.place}.mapping")
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


def policy_toml(policy: Policy, folder: str | Path = ".") -> str:
    """Write the policy as TOML for a file in some folder.

    A mapping or a channel from a file below the folder names that file as seen from there, of a channel with its
    digest. Others are written out with all their values, since a policy's files are below its folder.

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
    instance(policy, Policy, "policy", "write Policy(secret, release)")
    place = read_path(folder, "folder")
    lines = _top_lines(policy)
    for secret in policy.secrets if _has_settings(policy) else ():
        lines += ["", f"[secret.{_key(secret.column)}]", *_secret_settings(secret, policy, place)]
    if policy.missing:
        lines += ["", "[missing]", *(f"{_key(name)} = {_texts(codes)}" for name, codes in policy.missing)]
    for item in policy.release:
        lines += ["", f"[release.{_key(item.column)}]", *_settings(item, place)]
    if policy.scales:
        lines += ["", "[scales]", *(f"{_key(name)} = {_scale(own)}" for name, own in policy.scales.items())]
    if policy.local is not None:
        lines += _local_lines(policy.local, place)
    return "\n".join(lines) + "\n"


def _top_lines(policy: Policy) -> list[str]:
    """The keys that are no tables, those that are said."""
    given = as_given(policy.budget)
    said = {
        "secret": None if _has_settings(policy) else _texts(policy.secret),
        "statistic": _texts(policy.statistic) if policy.statistic else None,
        "not_secret": _texts(policy.not_secret) if policy.not_secret else None,
        "where": _texts(map(str, policy.where)) if policy.where else None,
        "min_count": None if policy.min_count is None else str(policy.min_count),
        "budget": _inline(given[0] if len(given) == 1 else given) if given else None,
        "delta": None if policy.delta is None else _text(exact_text(policy.delta)),
        "jointly": "true" if policy.jointly else None,
        "weight": None if policy.weight is None else _text(policy.weight),
    }
    return [f"{key} = {value}" for key, value in said.items() if value is not None]


def _has_settings(policy: Policy) -> bool:
    """Whether names of secret columns are not all there is to say of them."""
    return any(
        item.recoding != Keep() or item.values or {*item.not_secret} - {*policy.not_secret}
        for item in policy.secrets
    )


def _secret_settings(secret: Secret, policy: Policy, folder: Path) -> list[str]:
    own = tuple(value for value in secret.not_secret if value not in policy.not_secret)
    said = {"values": secret.values, "not_secret": own}
    found = [f"{key} = {value}" for key, value in recoding_settings(secret.recoding, folder).items()]
    return [*found, *(f"{key} = {_texts(values)}" for key, values in said.items() if values)]


def _texts(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(_text, texts))}]"


def _scale(scale: Declared) -> str:
    return _texts(scale) if isinstance(scale, tuple) else _text(scale)


def _inline(given: Any) -> str:
    """Text, numbers, lists and mappings of them as they stand in a line of TOML."""
    if isinstance(given, dict):
        return f"{{{', '.join(f'{_key(name)} = {_inline(own)}' for name, own in given.items())}}}"
    if isinstance(given, list):
        return f"[{', '.join(map(_inline, given))}]"
    return _text(given) if isinstance(given, str) else number_text(given)


def _local_lines(local: LocalRecoding, folder: Path) -> list[str]:
    if local.path is None:
        raise InvalidInput(
            "the local recoding must be in a file before its policy is; use Policy.save(path)."
        )
    file = Path(os.path.relpath(local.path, folder)).as_posix()
    return ["", "[local]", f"file = {_text(file)}", f"sha256 = {_text(file_digest(local.path))}"]


def save_policy(policy: Policy, path: Path, *, force: bool = False) -> None:
    """Write a policy, and beside it the local recoding that it may have: name.toml and name.recoding.parquet."""
    if policy.local is not None:
        beside = path.with_suffix(".recoding.parquet")
        require_free(path, force=force)
        policy.local.save(beside, force=force)
        policy = replace(policy, local=replace(policy.local, path=beside))
    write_whole(path, policy_toml(policy, path.parent), force=force)


def _settings(item: Released, folder: Path) -> list[str]:
    found = [f"{key} = {value}" for key, value in recoding_settings(item.recoding, folder).items()]
    if item.mechanism is not None:
        found.append(f"{item.mechanism.key} = {_inline(item.mechanism.setting_in(folder))}")
    return found


@singledispatch
def recoding_settings(recoding: Recoding, folder: Path) -> dict[str, str]:
    """Write a recoding as the settings that a policy file in some folder has for it."""
    raise WrongType(
        f"recoding must be one that a policy file can hold, got {quoted(recoding)}; use bins, prefix, top, bottom, "
        "mapping or suppress."
    )


@recoding_settings.register
def _(recoding: Keep, folder: Path) -> dict[str, str]:
    return {}


@recoding_settings.register
def _(recoding: Chain, folder: Path) -> dict[str, str]:
    tables = [
        {key: text for step in table for key, text in recoding_settings(step, folder).items()}
        for table in tables_of(recoding.steps)
    ]
    later = [f"{{{', '.join(f'{key} = {text}' for key, text in table.items())}}}" for table in tables[1:]]
    return tables[0] | ({"then": f"[{', '.join(later)}]"} if later else {})


def tables_of(steps: Sequence[Recoding]) -> list[tuple[Recoding, ...]]:
    """Divide steps into tables of settings, in each of which the order of application is that of their keys."""
    order = (Bins, BottomCode, TopCode, Prefix, Mapping)
    found: list[list[Recoding]] = []
    for step in steps:
        last = found[-1][-1] if found else None
        if last is None or not order.index(type(last)) < order.index(type(step)):
            found.append([])
        found[-1].append(step)
    return [tuple(table) for table in found]


@recoding_settings.register
def _(recoding: Suppress, folder: Path) -> dict[str, str]:
    return {"suppress": "true"}


@recoding_settings.register
def _(recoding: Prefix, folder: Path) -> dict[str, str]:
    return {"prefix": str(recoding.length)}


@recoding_settings.register
def _(recoding: TopCode, folder: Path) -> dict[str, str]:
    return {"top": number_text(recoding.at)}


@recoding_settings.register
def _(recoding: BottomCode, folder: Path) -> dict[str, str]:
    return {"bottom": number_text(recoding.at)}


@recoding_settings.register
def _(recoding: Bins, folder: Path) -> dict[str, str]:
    if recoding.edges is not None:
        return {"bins": f"{{edges = [{', '.join(map(number_text, recoding.edges))}]}}"}
    assert recoding.width is not None
    if not recoding.origin:
        return {"bins": number_text(recoding.width)}
    return {"bins": f"{{width = {number_text(recoding.width)}, origin = {number_text(recoding.origin)}}}"}


@recoding_settings.register
def _(recoding: Mapping, folder: Path) -> dict[str, str]:
    otherwise = {} if recoding.otherwise is None else {"otherwise": _text(recoding.otherwise)}
    path = None if recoding.hierarchy is None else recoding.hierarchy.path
    if path is None or not is_below(path, folder):
        pairs = (f"{_key(value)} = {_text(group)}" for value, group in recoding.groups)
        return {"mapping": f"{{{', '.join(pairs)}}}"} | otherwise
    seen = path if path.is_absolute() else Path(os.path.relpath(path, folder))
    return {"mapping": _text(seen.as_posix()), "level": str(recoding.level)} | otherwise


def number_text(value: float) -> str:
    """Enough digits to get the same number back."""
    return str(int(value)) if isinstance(value, int) else float.__repr__(value)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(text: str) -> str:
    """A TOML string: JSON escapes what TOML does, all but one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
