"""Describe the planned release: what is secret, of which rows, and what is released of which other columns.

The plan of a table is read in one order. Codes that mean missing become missing (`missing`); the rows that satisfy
every condition of `where` are kept; columns are recoded; of a secret with named `values`, all others become one.
`Table.under(policy)` is the one place where a table becomes the table of its plan.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from tightlip import arguments
from tightlip.arguments import listed
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.model.channel import Channel
from tightlip.numeric.parse import number
from tightlip.reading import read_bytes
from tightlip.table.budget import Rule, read_rules
from tightlip.table.condition import Condition, read_conditions
from tightlip.table.kinds import MISSING, code_label
from tightlip.table.local import LocalRecoding
from tightlip.table.mechanism import ColumnMechanism, as_mechanism
from tightlip.table.recoding import Keep, Recoding
from tightlip.table.scale import Scales, require_fit

MOST_PEOPLE = 10**18  # a policy may hold a number of millions of digits, and engines count in 64 bits
OTHER = "(other)"
"""What all values count as that are not among the named values of a secret."""


@dataclass(frozen=True, slots=True)
class Secret:
    """One secret column, and what counts as secret of it.

    Attributes
    ----------
    column : its name
    recoding : what is done to its values first: people's secret is in which bin their income lies
    values : the sensitive values; all others, missing ones too, count as one, "(other)"; none are named where every
        value is its own
    not_secret : structural values (not applicable) that are no secret: people who have one are taken to be known as
        such, and left out of all that is said about this secret

    Values are named as they are shown after the recoding; "(missing)" names missing ones. One that does not occur in
    the table is refused when it is counted: a value that was mistyped would count with the others.

    >>> Secret("DPHY", values=["1"], not_secret=["N"]).words()
    'DPHY: "1" or not, among those without "N"'
    """

    column: str
    recoding: Recoding
    values: tuple[str, ...]
    not_secret: tuple[str, ...]

    def __init__(
        self,
        column: str,
        recoding: Recoding = Keep(),  # noqa: B008 (frozen, so it can be shared)
        values: Any = (),
        not_secret: Any = (),
    ) -> None:
        _require_name(column, "secret")
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "recoding", recoding)
        object.__setattr__(self, "values", read_codes(values, f"values of secret {column}"))
        object.__setattr__(self, "not_secret", read_codes(not_secret, "not_secret"))
        for value in self.named if self.values else ():
            if value == OTHER:
                raise InvalidInput(
                    f"values of secret {quoted(column)} must not have {quoted(OTHER)}, which all others count as; "
                    "map it to another name."
                )
            if value in self.values and value in self.not_secret:
                raise InvalidInput(
                    f"values of secret {quoted(column)} must not be among not_secret, got {quoted(value)} in both; "
                    "drop it from one."
                )

    @property
    def named(self) -> tuple[str, ...]:
        """All values that are named."""
        return (*self.values, *self.not_secret)

    def leaves_out(self, label: str | None) -> bool:
        """Whether people with this counted value are left out of what is said about this secret.

        >>> Secret("DPHY", not_secret=["N"]).leaves_out("N"), Secret("DPHY").leaves_out(None)
        (True, False)
        """
        return (MISSING if label is None else label) in self.not_secret

    def is_sensitive(self, label: str | None) -> bool:
        """Whether a counted value is one that a cap on certainty is about: a named one, where some are named."""
        return not self.values or (MISSING if label is None else label) in self.values

    def words(self) -> str:
        """In words."""
        recoded = "" if self.recoding == Keep() else f" {self.recoding.words()}"
        some = " or ".join(map(quoted, self.values))
        left = " or ".join(map(quoted, self.not_secret))
        what = f": {some} or not" if some else ""
        return f"{self.column}{recoded}{what}" + (f", among those without {left}" if left else "")


@dataclass(frozen=True, slots=True)
class Released:
    """One released column: its recoding, then a mechanism on the recoded value; a `Channel` is one on its values.

    >>> Released("age").words()
    'age as it is'
    """

    column: str
    recoding: Recoding
    mechanism: ColumnMechanism | None

    def __init__(
        self,
        column: str,
        recoding: Recoding = Keep(),  # noqa: B008 (frozen, so it can be shared)
        mechanism: ColumnMechanism | Channel | None = None,
    ) -> None:
        _require_name(column, "release")
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "recoding", recoding)
        object.__setattr__(self, "mechanism", as_mechanism(mechanism, column))

    def words(self) -> str:
        """In words."""
        mechanism = f", then {self.mechanism.words()}" if self.mechanism else ""
        return f"{self.column} {self.recoding.words()}{mechanism}"


class Undrawn(Released):
    """A released column before its mechanism draws: it is counted, and may be secret too; nothing is published so."""

    __slots__ = ()


def undrawn(release: Iterable[Released]) -> tuple[Released, ...]:
    """The released columns before anything is drawn of them."""
    return tuple(Undrawn(item.column, item.recoding) if item.mechanism else item for item in release)


@dataclass(frozen=True, slots=True)
class Policy:
    """A planned release.

    Attributes
    ----------
    secret : names of the secret columns; given as names, `Secret` objects, or a mapping of columns to sensitive values
    release : the released columns; names alone stand for columns released as they are
        A secret column may be released through a mechanism, and only so.
    min_count : cells (combinations of released values) of fewer rows are released as one, "suppressed"
    statistic : of several secret columns those that are a statistic of all of them together, the whole secret
    local : what is published for each cell, cell by cell, as `protect` found it; see `table.LocalRecoding`
        Of columns with a mechanism, the cell has what was drawn.
    secrets : what counts as secret of each secret column
    not_secret : values that are no secret in any secret column; each must occur in at least one of them
    where : conditions that a row must satisfy to be audited, protected and released
    missing : columns and their codes that mean missing
    budget : what is allowed, as `Rule`s; given as "3x", "50%", {"income": "log(2)"}, or a list of such
    delta : the share of people for whom a larger leak may be accepted
    jointly : whether the secret columns are judged all together too, or each alone
    weight : the column of sampling weights
    scales : columns of the table that are declared "nominal", "ordinal" or "numeric", or ordinal by a list of their
        values in order; others are guessed

    >>> Policy("disease", ["age", "zip"], min_count=5).columns
    ('disease', 'age', 'zip')
    >>> Policy({"DPHY": ["1"]}, ["AGEP"], where="AGEP >= 18", missing={"AGEP": ["-9"]}).secrets[0].values
    ('1',)
    >>> Policy("disease", ["age", "grade"], scales={"grade": ["low", "high"]}).scales["grade"]
    ('low', 'high')
    """

    secret: tuple[str, ...]
    release: tuple[Released, ...]
    min_count: int | None
    statistic: tuple[str, ...]
    local: LocalRecoding | None
    secrets: tuple[Secret, ...]
    not_secret: tuple[str, ...]
    where: tuple[Condition, ...]
    missing: tuple[tuple[str, tuple[str, ...]], ...]
    budget: tuple[Rule, ...]
    delta: Fraction | None
    jointly: bool
    weight: str | None
    scales: Scales

    def __init__(
        self,
        secret: Any,
        release: Iterable[str | Released],
        *,
        min_count: int | None = None,
        statistic: str | Iterable[str] = (),
        local: LocalRecoding | None = None,
        secrets: Iterable[Secret] | None = None,
        not_secret: Any = (),
        where: Any = (),
        missing: Any = (),
        budget: Any = None,
        delta: Any = None,
        jointly: bool = False,
        weight: str | None = None,
        scales: Mapping[str, Any] | None = None,
    ) -> None:
        bare = read_codes(not_secret, "not_secret")
        own = read_secrets(secret) if secrets is None else read_secrets(secrets, "secrets")
        if secrets is not None and tuple(item.column for item in own) != read_names(secret, "secret"):
            raise InvalidInput("secrets must be of the columns that secret names; leave one of them out.")
        least = None if min_count is None else arguments.whole(min_count, "min_count", 1, MOST_PEOPLE)
        read = {
            "secrets": tuple(_with_not_secret(item, bare) for item in own),
            "secret": tuple(item.column for item in own),
            "release": _read_release(release),
            "min_count": least,
            "statistic": read_names(statistic, "statistic"),
            "local": local,
            "not_secret": bare,
            "where": read_conditions(where),
            "missing": _read_missing(missing),
            "budget": read_rules(budget),
            "delta": None if delta is None else _read_share(delta),
            "jointly": arguments.flag(jointly, "jointly"),
            "weight": weight,
            "scales": Scales.of({} if scales is None else scales),
        }
        for name, value in read.items():
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        """Refuse parts that do not fit each other."""
        _require_some(self.secret, "secret")
        _require_some(tuple(item.column for item in self.release), "release")
        for item in self.release:
            if item.column in self.secret and item.mechanism is None and not isinstance(item, Undrawn):
                raise InvalidInput(
                    f"release must not have a secret column as it is, got {quoted(item.column)} in both; drop it from "
                    "one, or give it a mechanism."
                )
        _require_statistics(self.statistic, self.secret)
        for rule in self.budget:
            if rule.column is not None:
                require_known(rule.column, self.secret, "secret column of budget")
                _require_named(self.secret_of(rule.column), rule.value)
        if self.weight is not None:
            _require_name(self.weight, "weight")
            if self.weight in self.columns:
                raise InvalidInput(
                    f"weight must be a column of its own, got {quoted(self.weight)}, which is secret or released; "
                    "name another."
                )
        for column, recoding in zip(self.columns, self.recodings, strict=True):
            if column in self.scales:
                require_fit(self.scales[column], column, recoding)
        if self.local is not None:
            _require_local(self.local, self)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are counted by: secret ones first."""
        return (*self.secret, *(item.column for item in self.release))

    @property
    def recodings(self) -> tuple[Recoding, ...]:
        """What is done to each of `columns` first."""
        return (*(item.recoding for item in self.secrets), *(item.recoding for item in self.release))

    def secret_of(self, column: str) -> Secret:
        """Find what counts as secret of a column."""
        return self.secrets[self.secret.index(column)]

    @classmethod
    def from_toml(cls, path: str | Path, *, mappings_anywhere: bool = False) -> Policy:
        """Read a policy file; the format is described in docs/policy.md.

        Its files of mappings and channels must be in its folder or below, wherever links lead, unless
        `mappings_anywhere` is set.
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
        """Read a policy from the command line; see `flags.policy_from_flags`."""
        from tightlip.table.flags import policy_from_flags

        return policy_from_flags(secret, release, **flags)


def _require_named(secret: Secret, value: str | None) -> None:
    """Refuse a budget about a value that is counted with all others, since it is not among those named."""
    if value is not None and secret.values and value not in (*secret.values, OTHER):
        raise InvalidInput(
            f"budget of {quoted(secret.column)} must be about its named values, got {quoted(value)}, which is not "
            f"among them ({', '.join(map(quoted, secret.values))}); name it too."
        )


def _require_local(local: object, policy: Policy) -> None:
    """Refuse a local recoding of other columns, or with hidden cells; mechanisms draw first, and it takes the drawn."""
    if not isinstance(local, LocalRecoding):
        raise WrongType(f"local must be a LocalRecoding, got {quoted(local)}; use LocalRecoding.load(path).")
    for item in policy.release:
        if item.column not in local.columns:
            raise InvalidInput(
                f"local recoding must have every released column, got none for {quoted(item.column)}; "
                "protect the table again."
            )
    if policy.min_count is not None:
        raise InvalidInput("a local recoding must stand alone, got min_count too; drop one.")


def mechanism_files(policy: Policy) -> dict[str, tuple[Path, str]]:
    """Map the columns whose mechanism was read from a file to that file, and the digest that it had."""
    found = {
        item.column: (item.mechanism.path, item.mechanism.sha256) for item in policy.release if item.mechanism
    }
    return {column: (path, digest) for column, (path, digest) in found.items() if path and digest}


def require_mechanism_files(policy: Policy) -> None:
    """Refuse a policy of which a mechanism's file is no longer what was read: a release would be of another.

    Raises
    ------
    InvalidInput
        When a file was changed, or is gone.
    """
    for column, (path, digest) in mechanism_files(policy).items():
        if hashlib.sha256(read_bytes(path, f"mechanism file {path}")).hexdigest() != digest:
            raise InvalidInput(
                f"mechanism file {path} of column {quoted(column)} has changed since it was read; read the policy "
                "again, and audit it."
            )


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


def read_codes(values: Any, argument: str) -> tuple[str, ...]:
    """Read values by their labels, each once: text, or numbers and booleans as they are shown.

    >>> read_codes([-9, "N", 2.0, True], "missing")
    ('-9', 'N', '2', 'true')
    """
    several = [values] if isinstance(values, (str, int, float)) else listed(values, argument, "values")
    return tuple(dict.fromkeys(code_label(value, argument) for value in several))


def read_secrets(secret: Any, argument: str = "secret") -> tuple[Secret, ...]:
    """Read what is secret: a name, a `Secret`, a mapping of columns to sensitive values, or a list of these.

    >>> [item.words() for item in read_secrets(["ill", {"DPHY": ["1"]}])]
    ['ill', 'DPHY: "1" or not']
    """
    several = [secret] if isinstance(secret, (str, Secret, Mapping)) else listed(secret, argument, "columns")
    found: list[Secret] = []
    for one in several:
        if isinstance(one, Mapping):
            found += [Secret(column, values=values) for column, values in one.items()]
        else:
            found.append(one if isinstance(one, Secret) else Secret(one))
    return tuple(found)


def _with_not_secret(item: Secret, more: tuple[str, ...]) -> Secret:
    """The secret with the values that are none in any column."""
    added = tuple(value for value in more if value not in item.not_secret)
    return replace(item, not_secret=(*item.not_secret, *added)) if added else item


def _read_missing(missing: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Read codes that mean missing, by column."""
    if isinstance(missing, Mapping):
        pairs = list(missing.items())
    else:
        pairs = listed(missing, "missing", "columns and codes")
        for pair in pairs:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise WrongType(
                    f'missing must map columns to codes, got {quoted(pair)}; write {{"age": ["-9"]}}.'
                )
    found: dict[str, tuple[str, ...]] = {}
    for column, codes in pairs:
        _require_name(column, "missing")
        found[column] = tuple(dict.fromkeys((*found.get(column, ()), *read_codes(codes, "missing"))))
    return tuple((column, codes) for column, codes in found.items() if codes)


def _read_share(delta: Any) -> Fraction:
    """A float is the decimal it shows: people are counted exactly, and 0.01 is meant to be one in a hundred."""
    share = Fraction(number(repr(float(delta)) if isinstance(delta, float) else delta, "delta"))
    if not 0 < share <= 1:
        raise InvalidInput(f"delta must be in (0, 1], got delta={quoted(delta)}; write 0.05 for 5 %.")
    return share


def read_names(names: str | Iterable[str], argument: str) -> tuple[str, ...]:
    """Read one name or a list of them."""
    read = (names,) if isinstance(names, str) else tuple(listed(names, argument, "columns"))
    for name in read:
        _require_name(name, argument)
    return read


def list_columns(release: Any) -> list[Any]:
    """List what is released: one column is a list of one."""
    return [release] if isinstance(release, (str, Released)) else listed(release, "release", "columns")


def _read_release(release: Any) -> tuple[Released, ...]:
    return tuple(item if isinstance(item, Released) else Released(item) for item in list_columns(release))


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
