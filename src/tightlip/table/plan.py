"""Plan a release: the one way from columns, a policy and keywords to the policy that is meant.

`audit`, `protect` and every command go through `planned`, so that flags, policy files and Python say the same. What is
given adds to a policy: it replaces what the policy says of single settings (min_count, delta, jointly, weight, the
budget of the same column or value, the mechanism, the scale and all recodings of the same column) and adds to its
lists (secret, release, statistic, where, missing, not_secret). Several recodings of one column act in a row.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

from tightlip.arguments import is_list, listed
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.model.channel import Channel
from tightlip.table.budget import read_rules, replace_rules
from tightlip.table.condition import read_conditions
from tightlip.table.mechanism import (
    MECHANISMS,
    ChannelMechanism,
    ColumnMechanism,
    RandomizedResponse,
    flag_setting,
)
from tightlip.table.policy import (
    Policy,
    Released,
    Secret,
    Undrawn,
    list_columns,
    read_codes,
    read_names,
    read_secrets,
    require_known,
)
from tightlip.table.policy_file import Folder, read_recoding, read_released
from tightlip.table.recoding import Keep
from tightlip.table.scale import Scales, merge_scales

_ANYWHERE = Folder(Path(), anywhere=True)  # who names a file here may read it
_RECODINGS = ("bins", "prefix", "top", "bottom", "mapping", "suppress", "randomize")


class PlanKeywords(TypedDict, total=False):
    """What `audit` and `protect` take about the plan besides its columns; see `planned`."""

    bins: Mapping[str, Any] | None
    prefix: Mapping[str, int] | None
    top: Mapping[str, float] | None
    bottom: Mapping[str, float] | None
    mapping: Mapping[str, Any] | None
    suppress: Any
    randomize: Mapping[str, Any] | None
    where: Any
    missing: Mapping[str, Any] | None
    not_secret: Any
    jointly: bool | None
    weight: str | None
    scales: Mapping[str, Any] | None
    nominal: Any
    ordinal: Any
    numeric: Any


def planned(
    secret: Any = None,
    release: Any = None,
    policy: Policy | None = None,
    *,
    min_count: int | None = None,
    statistic: Any = None,
    where: Any = None,
    missing: Mapping[str, Any] | None = None,
    not_secret: Any = None,
    budget: Any = None,
    delta: Any = None,
    jointly: bool | None = None,
    weight: str | None = None,
    scales: Mapping[str, Any] | None = None,
    nominal: Any = None,
    ordinal: Any = None,
    numeric: Any = None,
    flag: str = "",
    **recodings: Any,
) -> Policy:
    """Plan a release from columns and keywords, which add to a policy where one is given.

    Parameters
    ----------
    secret : column names, `Secret` objects, or {"DPHY": ["1"]}: a column and its sensitive values
    release : column names, or `Released` objects
    policy : what these add to
    min_count, statistic, where, delta, jointly, weight, budget : see `Policy`
    missing : {"AGEP": ["-9"]}: codes that mean missing
    not_secret : values that are no secret in any secret column, or {"DPHY": ["N"]} for one
    scales : {"grade": "ordinal"} or {"grade": ["low", "high"]}: what the values of a column are; see `Policy`
    nominal, ordinal, numeric : names of columns of that scale
    recodings : keywords of columns, released or secret, and what is done to them
        bins={"age": 10} or {"age": [18, 65]}, prefix={"zip": 3}, top={"age": 90}, bottom={"age": 18},
        mapping={"job": "jobs.csv:2"} or {"job": {"nurse": "care"}}, suppress=["name"], randomize={"sex": "log(3)"}
        or {"sex": channel} or {"sex": "channel mechanism.json"};
        several of one column are in a row, whatever the policy has of it; of a column that is secret and released,
        which must be randomised, they are of what is released
    flag : what stands before a keyword in messages

    Raises
    ------
    InvalidInput
        When no policy is given and secret or release is left out, or what is said does not fit.

    >>> plan = planned("ill", ["age", "zip"], bins={"age": 10}, where="age >= 18")
    >>> [item.words() for item in planned(None, ["sex"], plan, bins={"age": 5}).release]
    ['age in bins of 5', 'zip as it is', 'sex as it is']
    """
    named = [] if release is None else list_columns(release)
    drawn = _pairs(recodings.get("randomize"), f"{flag}randomize")
    plan = _columns(secret, release, policy, drawn)
    fixed = {item.column for item in named if isinstance(item, Released) and item.recoding != Keep()}
    require_keywords(planned, recodings, _RECODINGS)
    plan = _recoded(plan, {key: given for key, given in recodings.items() if given is not None}, flag, fixed)
    declared = merge_scales(scales, nominal=nominal, ordinal=ordinal, numeric=numeric)
    bare, own = _read_not_secret(not_secret)
    for column in own:
        require_known(column, plan.secret, f"{flag}not{'-' if flag else '_'}secret column")
    secrets = [
        replace(item, not_secret=(*item.not_secret, *own.get(item.column, ()))) for item in plan.secrets
    ]
    changes: dict[str, Any] = {
        "secrets": secrets,
        "not_secret": (*plan.not_secret, *bare),
        "where": (*plan.where, *read_conditions(where)),
        "missing": (*plan.missing, *_pairs(missing, f"{flag}missing").items()),
        "scales": {**({} if policy is None else policy.scales), **declared},
    }
    single = {"min_count": min_count, "delta": delta, "jointly": jointly, "weight": weight}
    changes |= {key: value for key, value in single.items() if value is not None}
    if statistic is not None:
        changes["statistic"] = tuple(dict.fromkeys((*plan.statistic, *read_names(statistic, "statistic"))))
    if budget is not None:
        changes["budget"] = replace_rules(plan.budget, read_rules(budget))
    return replace(plan, **changes)


def require_keywords(call: Callable[..., Any], given: Collection[str], known: Collection[str]) -> None:
    """Refuse keywords that a function does not have, as Python does, with the name that was perhaps meant."""
    for keyword in given:
        if keyword not in known:
            names = [*inspect.signature(call).parameters, *known]
            near = difflib.get_close_matches(keyword, names, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{call.__name__}() got an unexpected keyword argument {keyword!r}{hint}")


def _columns(secret: Any, release: Any, policy: Policy | None, drawn: Collection[str]) -> Policy:
    """The policy with more columns, or a new one of them; without scales, which new recodings may come with.

    Mechanisms of the columns in `drawn` are said elsewhere.
    """
    if policy is None:
        if secret is None or release is None:
            raise InvalidInput("secret and release must both be given, or a policy; name the columns.")
        return Policy(secret, [_to_draw(_released(one), drawn) for one in list_columns(release)])
    if not isinstance(policy, Policy):
        raise WrongType(f"policy must be a Policy, got {quoted(policy)}; use Policy.from_toml(path).")
    secrets = {item.column: item for item in policy.secrets}
    for item in () if secret is None else read_secrets(secret):
        secrets[item.column] = _joined(secrets[item.column], item) if item.column in secrets else item
    released = {item.column: item for item in policy.release}
    for one in () if release is None else list_columns(release):
        new = _released(one)
        released[new.column] = released.get(new.column, new) if isinstance(one, str) else new
    if policy.local is not None and {*released.values()} != {*policy.release}:
        raise _refuse_local("release")
    return replace(
        policy,
        secret=(*secrets,),
        secrets=(*secrets.values(),),
        release=tuple(_to_draw(item, drawn) for item in released.values()),
        scales=Scales(),
    )


def _released(one: Any) -> Released:
    return one if isinstance(one, Released) else Released(one)


def _to_draw(item: Released, drawn: Collection[str]) -> Released:
    """A column, which may be secret too where its mechanism is said elsewhere."""
    return Undrawn(item.column, item.recoding) if item.mechanism is None and item.column in drawn else item


def _joined(old: Secret, new: Secret) -> Secret:
    """A secret column that is named again: a new recoding, and values beside those that are named."""
    recoding = old.recoding if new.recoding == Keep() else new.recoding
    return Secret(old.column, recoding, (*old.values, *new.values), (*old.not_secret, *new.not_secret))


def _refuse_local(keyword: str) -> InvalidInput:
    return InvalidInput(
        f"a policy with a local recoding must be used as it is, got {keyword} too; plan and protect the table again."
    )


def _recoded(plan: Policy, given: Mapping[str, Any], flag: str, fixed: Collection[str]) -> Policy:
    """The plan with new recodings and mechanisms of some columns; those of `fixed` were given with theirs just now."""
    settings: dict[str, dict[str, Any]] = {}
    words: dict[str, list[str]] = {}
    for keyword, own in given.items():
        name = f"{flag}{'map' if flag and keyword == 'mapping' else keyword}"
        named = dict.fromkeys(read_names(own, name), True) if keyword == "suppress" else _pairs(own, name)
        for column, value in named.items():
            require_known(column, plan.columns, f"{name} column")
            if column in fixed and keyword != "randomize":
                raise InvalidInput(
                    f"{name} must be of columns without another recoding, got {quoted(column)}; leave one of them out."
                )
            settings.setdefault(column, {}).update(_setting(keyword, value))
            words.setdefault(column, []).append(name)
    if settings and plan.local is not None:
        raise _refuse_local(next(iter(given)))
    secrets, release = (
        {item.column: item for item in plan.secrets},
        {item.column: item for item in plan.release},
    )
    for column, own in settings.items():
        with _named(f"{' and '.join(words[column])} of column {quoted(column)}"):
            # of a column that is secret too, what is released
            if column in release:
                release[column] = _recode_released(release[column], own)
            else:
                secrets[column] = _recode_secret(secrets[column], own)
    return replace(plan, secrets=tuple(secrets.values()), release=tuple(release.values()))


@contextmanager
def _named(argument: str) -> Iterator[None]:
    """Say which argument is meant where a recoding refuses what it got."""
    try:
        yield
    except (InvalidInput, WrongType) as error:
        raise type(error)(f"{argument}: {error}") from error


def _pairs(given: Any, argument: str) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise WrongType(f'{argument} must map columns to settings, got {quoted(given)}; write {{"age": …}}.')
    return dict(given)


def _setting(keyword: str, value: Any) -> dict[str, Any]:
    """What a policy file has for a keyword's value."""
    if keyword == "bins" and is_list(value):
        return {"bins": {"edges": [*value]}}
    if keyword == "mapping" and isinstance(value, (str, Path)):
        file, colon, level = str(value).rpartition(":")
        return (
            {"mapping": file, "level": int(level)} if colon and level.isdecimal() else {"mapping": str(value)}
        )
    if keyword == "randomize":
        return _mechanism_setting(value)
    return {keyword: value}


def _mechanism_setting(value: Any) -> dict[str, Any]:
    """A flag's text, a mechanism, a channel or the path of one; else a level of randomised response."""
    if isinstance(value, str):
        return dict(flag_setting(value))
    if isinstance(value, ColumnMechanism):
        return {value.key: value}
    if isinstance(value, (Channel, Path)):
        return {ChannelMechanism.key: str(value) if isinstance(value, Path) else value}
    return {RandomizedResponse.key: value}


def _recode_secret(item: Secret, settings: dict[str, Any]) -> Secret:
    return replace(item, recoding=read_recoding(f"secret.{item.column}", settings, _ANYWHERE))


def _recode_released(item: Released, settings: dict[str, Any]) -> Released:
    new = read_released(item.column, settings, _ANYWHERE)
    recoded = any(key not in MECHANISMS for key in settings)
    return Released(item.column, new.recoding if recoded else item.recoding, new.mechanism or item.mechanism)


def _read_not_secret(given: Any) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Values that are no secret anywhere, and those of single columns."""
    if given is None:
        return (), {}
    bare: list[Any] = []
    own: dict[str, tuple[str, ...]] = {}
    for one in listed(given, "not_secret", "values") if is_list(given) else [given]:
        if not isinstance(one, Mapping):
            bare.append(one)
            continue
        for column, values in one.items():
            own[column] = (*own.get(column, ()), *read_codes(values, "not_secret"))
    return read_codes(bare, "not_secret"), own
