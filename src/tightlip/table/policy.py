"""Describe the planned release: which columns are secret, and what is released of which others."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tightlip import arguments
from tightlip.arguments import listed
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.table.local import LocalRecoding
from tightlip.table.mechanism import ColumnMechanism, require_mechanism
from tightlip.table.recoding import Keep, Recoding
from tightlip.table.scale import Scales, require_fit

MOST_PEOPLE = 10**18  # a policy may hold a number of millions of digits, and engines count in 64 bits


@dataclass(frozen=True, slots=True)
class Released:
    """One released column: its recoding, then a mechanism on the recoded value.

    >>> Released("age").words()
    'age as it is'
    """

    column: str
    recoding: Recoding = Keep()  # noqa: RUF009 (frozen, so it can be shared)
    mechanism: ColumnMechanism | None = None

    def __post_init__(self) -> None:
        _require_name(self.column, "release")
        require_mechanism(self.mechanism, self.column)

    def words(self) -> str:
        """In words."""
        mechanism = f", then {self.mechanism.words()}" if self.mechanism else ""
        return f"{self.column} {self.recoding.words()}{mechanism}"


@dataclass(frozen=True, slots=True)
class Policy:
    """A planned release.

    Attributes
    ----------
    secret : names of the secret columns
    release : the released columns; names alone stand for columns released as they are
    min_count : cells (combinations of released values) of fewer rows are released as one, "suppressed"
    statistic : of several secret columns those that are a statistic of all of them together, the whole secret
    local : what is published for each cell, cell by cell, as `protect` found it; see `table.LocalRecoding`
    scales : columns of the table that are declared "nominal", "ordinal" or "numeric", or ordinal by a list of their
        values in order; others are guessed

    >>> Policy("disease", ["age", "zip"], min_count=5).columns
    ('disease', 'age', 'zip')
    >>> Policy(["disease", "income"], ["age"], statistic="income").statistic
    ('income',)
    >>> Policy("disease", ["age", "grade"], scales={"grade": ["low", "high"]}).scales["grade"]
    ('low', 'high')
    """

    secret: tuple[str, ...]
    release: tuple[Released, ...]
    min_count: int | None
    statistic: tuple[str, ...]
    local: LocalRecoding | None
    scales: Scales

    def __init__(
        self,
        secret: str | Iterable[str],
        release: Iterable[str | Released],
        *,
        min_count: int | None = None,
        statistic: str | Iterable[str] = (),
        local: LocalRecoding | None = None,
        scales: Mapping[str, Any] | None = None,
    ) -> None:
        object.__setattr__(self, "secret", _read_names(secret, "secret"))
        object.__setattr__(self, "release", _read_release(release))
        least = None if min_count is None else arguments.whole(min_count, "min_count", 1, MOST_PEOPLE)
        object.__setattr__(self, "min_count", least)
        object.__setattr__(self, "statistic", _read_names(statistic, "statistic"))
        _require_some(self.secret, "secret")
        _require_some(tuple(item.column for item in self.release), "release")
        for item in self.release:
            if item.column in self.secret:
                raise InvalidInput(
                    f"release must not have a secret column, got {quoted(item.column)} in both; drop it from one."
                )
        _require_statistics(self.statistic, self.secret)
        object.__setattr__(self, "local", local)
        if local is not None:
            _require_local(local, self)
        object.__setattr__(self, "scales", Scales.of({} if scales is None else scales))
        for item in self.release:
            if item.column in self.scales:
                require_fit(self.scales[item.column], item.column, item.recoding)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns in use: secret ones first."""
        return (*self.secret, *(item.column for item in self.release))

    @classmethod
    def from_toml(cls, path: str | Path, *, mappings_anywhere: bool = False) -> Policy:
        """Read a policy file; the format is described in docs/policy.md.

        Its mapping files must be in its folder or below, wherever links lead, unless `mappings_anywhere` is set.
        """
        from tightlip.table.policy_file import read_policy

        anywhere = arguments.flag(mappings_anywhere, "mappings_anywhere")
        return read_policy(arguments.path(path, "path"), mappings_anywhere=anywhere)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write it as a policy file that `from_toml` reads; a local recoding goes into a file beside it."""
        from tightlip.table.policy_file import save_policy

        save_policy(self, arguments.path(path, "path"), force=arguments.flag(force, "force"))

    @classmethod
    def from_flags(cls, secret: Sequence[str], release: Sequence[str], **flags: Any) -> Policy:
        """Read a policy from the command line; see `policy_file.policy_from_flags`."""
        from tightlip.table.policy_file import policy_from_flags

        return policy_from_flags(secret, release, **flags)


def _require_local(local: object, policy: Policy) -> None:
    """Refuse a local recoding of other columns, or with something else that changes cells."""
    if not isinstance(local, LocalRecoding):
        raise WrongType(f"local must be a LocalRecoding, got {quoted(local)}; use LocalRecoding.load(path).")
    for item in policy.release:
        if item.column not in local.columns:
            raise InvalidInput(
                f"local recoding must have every released column, got none for {quoted(item.column)}; "
                "protect the table again."
            )
        if item.mechanism is not None:
            raise InvalidInput(
                f"a local recoding must stand alone, got {item.mechanism.words()} on {quoted(item.column)} too; "
                "drop one."
            )
    if policy.min_count is not None:
        raise InvalidInput("a local recoding must stand alone, got min_count too; drop one.")


def require_known(name: str, known: Collection[str], what: str) -> None:
    """Refuse a name that is not there, and suggest those that look like it."""
    if name in known:
        return
    by_case = [other for other in known if other.casefold() == name.casefold()]
    near = by_case or difflib.get_close_matches(name, list(known), n=3)
    names = near or list(known)[:8]
    shown = ", ".join(quoted(other, 40) for other in names) + ("" if near or len(known) <= 8 else ", …")
    hint = f"did you mean {shown}?" if near else f"there are {shown or 'none'}."
    raise InvalidInput(f"{what} {quoted(name)} is not there; {hint}")


def _read_names(names: str | Iterable[str], argument: str) -> tuple[str, ...]:
    read = (names,) if isinstance(names, str) else tuple(listed(names, argument, "columns"))
    for name in read:
        _require_name(name, argument)
    return read


def _read_release(release: Iterable[str | Released]) -> tuple[Released, ...]:
    items = listed(release, "release", "columns")
    return tuple(item if isinstance(item, Released) else Released(item) for item in items)


def _require_name(name: object, argument: str) -> None:
    if not isinstance(name, str) or not name:
        raise WrongType(f"{argument} must name columns by text, got {quoted(name)}.")


def _require_some(names: tuple[str, ...], argument: str) -> None:
    if not names:
        raise InvalidInput(f"{argument} must have at least one column, got none; name one.")
    _require_distinct(names, argument)


def _require_distinct(names: tuple[str, ...], argument: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput(f"{argument} must have each column once, got {quoted(name)} twice; drop one.")


def _require_statistics(names: tuple[str, ...], secret: tuple[str, ...]) -> None:
    _require_distinct(names, "statistic")
    for name in names:
        if name not in secret:
            raise InvalidInput(f"statistic must name secret columns, got {quoted(name)}; add it to secret.")
        if len(secret) == 1:
            raise InvalidInput(
                f"statistic {quoted(name)} must be one of several secret columns, got it alone; name in secret what "
                "it is a statistic of (of itself, SML is maximal leakage, which an audit has anyway)."
            )
