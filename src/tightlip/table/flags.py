"""Read a plan from the flags of a command line, and write it as flags that read back as the same plan.

    --secret disease --release age,sex --bins age=10 --where "age >= 18" --missing age=-9 --min-count 5

A flag about one column is COLUMN=VALUE. A name that has "=" or "," in it stands in double quotes, two of which within
are one; lists of names and values have commas between them, as in a line of CSV. The flags become the keywords of
`plan.planned`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

from tightlip.errors import InvalidInput, quoted
from tightlip.table.budget import as_given
from tightlip.table.chain import steps_of
from tightlip.table.condition import listed_values, unquoted, value_text
from tightlip.table.mapping import Hierarchy, Mapping
from tightlip.table.plan import planned
from tightlip.table.policy import Policy, Secret
from tightlip.table.policy_file import number_text, recoding_settings, tables_of
from tightlip.table.recoding import Bins, BottomCode, Keep, Prefix, Recoding, Suppress, TopCode
from tightlip.table.scale import Scale

_NAMED = re.compile(r'\s*("(?:[^"]|"")+"|[^"=][^=]*?)\s*=(.*)', re.DOTALL)


def policy_from_flags(secret: Sequence[Any], release: Sequence[str], **flags: Any) -> Policy:
    """Read flags of the form COLUMN=VALUE, each for a column of the plan; see `keywords`.

    >>> policy = policy_from_flags(["ill"], ["age", "zip"], bins=["age=10"], prefix=["zip=3"])
    >>> [item.words() for item in policy.release]
    ['age in bins of 10', 'zip first 3 characters']
    """
    return planned(secret, release, None, flag="--", **keywords(**flags))


def keywords(
    *,
    bins: Sequence[str] | None = None,
    prefix: Sequence[str] | None = None,
    top: Sequence[str] | None = None,
    bottom: Sequence[str] | None = None,
    mapping: Sequence[str] | None = None,
    suppress: Sequence[str] | None = None,
    randomize: Sequence[str] | None = None,
    missing: Sequence[str] | None = None,
    not_secret: Sequence[str] | None = None,
    nominal: Sequence[str] | None = None,
    ordinal: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    **others: Any,
) -> dict[str, Any]:
    """Read flags as keywords of `planned`.

    Parameters
    ----------
    bins : COLUMN=WIDTH or COLUMN=EDGE,EDGE,… (one number is a width; `18,` is a single edge)
    prefix, top, bottom : COLUMN=NUMBER
    mapping : COLUMN=FILE or COLUMN=FILE:LEVEL
    suppress : COLUMN
    randomize : COLUMN=LEVEL of randomised response, or "COLUMN=MECHANISM SETTING", as "sex=channel mechanism.json"
    missing : COLUMN=CODE,CODE,…
    not_secret : VALUE, or COLUMN=VALUE,VALUE,…
    nominal, ordinal, numeric : COLUMN,COLUMN,… of that scale
    others : as they are

    >>> keywords(bins=["age=18,65"], missing=["age=-9"], not_secret=["N", "DPHY=N"])
    {'bins': {'age': [18, 65]}, 'missing': {'age': ['-9']}, 'not_secret': ['N', {'DPHY': ['N']}]}
    """
    readers: list[tuple[str, str, str, Sequence[str] | None, Callable[[str, str], Any]]] = [
        ("bins", "--bins", "WIDTH", bins, _read_bins),
        ("prefix", "--prefix", "LENGTH", prefix, _read_number),
        ("top", "--top", "NUMBER", top, _read_number),
        ("bottom", "--bottom", "NUMBER", bottom, _read_number),
        ("mapping", "--map", "FILE", mapping, lambda _, text: text),
        ("randomize", "--randomize", "LEVEL", randomize, lambda _, text: text),
    ]
    found: dict[str, Any] = {}
    for keyword, flag, form, given, read in readers:
        own: dict[str, Any] = {}
        for text in given or ():
            column, value = _split(flag, form, text)
            if column in own:
                raise InvalidInput(f"{flag} must be given once for column {quoted(column)}, got it twice.")
            own[column] = read(f"{flag} of column {quoted(column)}", value)
        found |= {keyword: own} if own else {}
    if suppress:
        found["suppress"] = [unquoted(column) for column in suppress]
    if missing:
        found["missing"] = _read_codes(missing)
    if not_secret:
        found["not_secret"] = [_read_not_secret(text) for text in not_secret]
    for scale, given in (("nominal", nominal), ("ordinal", ordinal), ("numeric", numeric)):
        if given:
            found[scale] = [name for text in given for name in column_names(text)]
    return found | {key: value for key, value in others.items() if value is not None}


def read_secret(text: str) -> list[str | dict[str, list[str]]]:
    """Read --secret: names separated by commas, or one name and behind "=" its sensitive values.

    >>> read_secret("ill,ward"), read_secret("DPHY=1,2"), read_secret('"a=b"')
    (['ill', 'ward'], [{'DPHY': ['1', '2']}], ['a=b'])
    """
    named = _NAMED.fullmatch(text)
    if named is None:
        return [*column_names(text)]
    return [{unquoted(named[1]): listed_values(named[2], "--secret")}]


def column_names(text: str) -> list[str]:
    """Read names separated by commas; a name with a comma or "=" in it, or a space at its start, is in double quotes.

    >>> column_names('age, zip,"income, net"," sex"')
    ['age', 'zip', 'income, net', ' sex']
    """
    names = listed_values(text, "columns") if text.strip() else []
    if not names or not all(name.strip() for name in names):
        raise InvalidInput(f"columns must be names separated by commas, got {quoted(text)}.")
    return names


def _split(flag: str, form: str, text: str) -> tuple[str, str]:
    """The column and the setting of a flag; a name may have "=" in it, a setting has none."""
    column, equals, value = text.rpartition("=")
    if not equals or not column or not value:
        raise InvalidInput(f"{flag} must be COLUMN={form}, got {quoted(text)}.")
    return unquoted(column), value


def _read_codes(given: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for text in given:
        named = _NAMED.fullmatch(text)
        if named is None:
            raise InvalidInput(f"--missing must be COLUMN=CODE,CODE,…, got {quoted(text)}; name the column.")
        found.setdefault(unquoted(named[1]), []).extend(listed_values(named[2], "--missing"))
    return found


def _read_not_secret(text: str) -> str | dict[str, list[str]]:
    named = _NAMED.fullmatch(text)
    return unquoted(text) if named is None else {unquoted(named[1]): listed_values(named[2], "--not-secret")}


def _read_number(argument: str, text: str) -> int | float:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    raise InvalidInput(f"{argument} must be a number, got {quoted(text)}; write 10.")


def _read_bins(argument: str, text: str) -> Any:
    if "," not in text:
        return _read_number(argument, text)
    return [_read_number(argument, part) for part in text.split(",") if part.strip()]


def policy_flags(policy: Policy) -> list[str] | None:
    """Write the policy as flags that are read back as the same; None where they cannot say all of it.

    >>> from tightlip.table.policy import Released
    >>> policy_flags(Policy("ill", [Released("age", Bins(width=10)), "income, net"], min_count=5))
    ['--secret', 'ill', '--release', 'age,"income, net"', '--bins', 'age=10', '--min-count', '5']
    """
    pairs = zip(policy.columns, policy.recodings, strict=True)
    recoded = [_column_flags(column, recoding) for column, recoding in pairs]
    noisy = any(item.mechanism is not None for item in policy.release)
    in_order = any(isinstance(scale, tuple) for scale in policy.scales.values())
    if noisy or policy.local is not None or policy.statistic or None in recoded or in_order:
        return None
    words = [
        *_secret_flags(policy),
        "--release",
        ",".join(value_text(item.column) for item in policy.release),
    ]
    words += [word for own in recoded for word in own or ()]
    words += [word for condition in policy.where for word in ("--where", str(condition))]
    words += [word for name, codes in policy.missing for word in ("--missing", _setting(name, codes))]
    words += _scale_flags(policy)
    words += [] if policy.min_count is None else ["--min-count", str(policy.min_count)]
    words += [word for given in as_given(policy.budget) for word in ("--budget", _budget(given))]
    words += [] if policy.delta is None else ["--delta", str(policy.delta)]
    words += ["--jointly"] if policy.jointly else []
    return words if policy.weight is None else [*words, "--weight", policy.weight]


def _secret_flags(policy: Policy) -> list[str]:
    """The secret columns in their order, neighbours without named values in one flag; then what is no secret."""
    words: list[str] = []
    for named, own in groupby(policy.secrets, key=lambda item: bool(item.values)):
        run = list(own)
        texts = [_setting(item.column, item.values) for item in run] if named else [_plain_names(run)]
        words += [word for text in texts for word in ("--secret", text)]
    words += [word for value in policy.not_secret for word in ("--not-secret", _name(value))]
    for item in policy.secrets:
        more = [value for value in item.not_secret if value not in policy.not_secret]
        words += ["--not-secret", _setting(item.column, more)] if more else []
    return words


def _plain_names(secrets: Iterable[Secret]) -> str:
    return ",".join(_name(item.column) for item in secrets)


def _setting(column: str, values: Iterable[str]) -> str:
    return f"{_name(column)}={','.join(map(value_text, values))}"


def _budget(given: Any) -> str:
    """A budget as --budget has it: LEVEL, COLUMN=LEVEL or COLUMN=VALUE=LEVEL."""
    if not isinstance(given, dict):
        return str(given)
    ((name, own),) = given.items()
    return f"{name}={_budget(own)}"


def _scale_flags(policy: Policy) -> list[str]:
    words = []
    for scale in get_args(Scale):
        if columns := [column for column, own in policy.scales.items() if own == scale]:
            words += [f"--{scale}", ",".join(map(value_text, columns))]
    return words


def _column_flags(column: str, recoding: Recoding) -> list[str] | None:
    """The flags of one column; None where its recodings need another order than that of flags."""
    steps = steps_of(recoding)
    found = [_recoding_flags(column, step) for step in steps]
    if None in found or len(tables_of(steps)) > 1:
        return None
    return [word for own in found for word in own or ()]


def _recoding_flags(column: str, recoding: Recoding) -> list[str] | None:
    match recoding:
        case Keep():
            return []
        case Suppress():
            return ["--suppress", column]
        case Bins(edges=None, origin=0):
            return ["--bins", f"{column}={number_text(recoding.width or 0)}"]
        case Bins(edges=tuple(edges)):
            return ["--bins", f"{column}={','.join(map(number_text, edges))}{',' if len(edges) == 1 else ''}"]
        case Mapping(hierarchy=Hierarchy(path=path), otherwise=None):
            return ["--map", f"{column}={path}:{recoding.level}"]
        case Prefix() | TopCode() | BottomCode():
            ((key, value),) = recoding_settings(recoding, Path()).items()
            return [f"--{key}", f"{column}={value}"]
    return None


def _name(name: str) -> str:
    """A name, in double quotes where a reader would take it for several, or for a column and its values."""
    odd = re.search(r'^\s|\s$|[,"=\r\n]', name)
    return '"' + name.replace('"', '""') + '"' if odd else name
