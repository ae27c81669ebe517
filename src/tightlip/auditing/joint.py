"""Count what several releases of one table publish together.

Rows of different releases may be linked, by their order or by what else they hold. So all releases together are one
release: what is published of a person is (y₁, …, y_k), one entry for each, and "is not in it" is an entry too. The
engine groups the rows once by the secret and by every released column as each plan recodes it; small cells are then
hidden, columns randomised and cells recoded for each release by itself, on that one count. Draws of different releases
are independent, so their kernels multiply:

    P(y₁, …, y_k | s) = Σ_x P(x | s) K₁(y₁ | x) ⋯ K_k(y_k | x),

and only entries that share a person occur, so that the joint release stays sparse. Where it is too large for memory,
plans that only recode columns are counted in the engine. Others are refused there; the same columns without noise and
hiding (`plain`), of which such plans are post-processing, bound them from above.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from operator import and_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.counted import Counted, counts_digest
from tightlip.auditing.counting import MOST_GROUPS, Cells
from tightlip.auditing.plan import applying, budgets_of, mechanisms_of
from tightlip.auditing.tally import group_rows, sum_by
from tightlip.errors import InvalidInput, quoted
from tightlip.table.budget import Rule
from tightlip.table.cell_kinds import MOST_SECRETS, CellCounter
from tightlip.table.condition import Condition, conditions_text
from tightlip.table.counts import (
    MAX_CELLS,
    CellCounts,
    Key,
    TooManyCells,
    cells_of_groups,
    combine,
    count_groups,
    keys_of,
    require_secrets,
    secret_keys,
)
from tightlip.table.policy import Policy, Secret, undrawn
from tightlip.table.recoding import Keep
from tightlip.table.source import Table

_PRESENT, _PRESENCE = "is in it", ("no", "yes")  # the entry of a release of some rows only


@dataclass(frozen=True, slots=True)
class Terms:
    """What every release of one table is judged by: whose secret, and what may be said of it.

    Attributes
    ----------
    secrets : what is secret
    where, missing : the people it is about, and codes that mean missing, as in a `Policy`
    budget, delta, jointly : what is allowed, as there
    """

    secrets: tuple[Secret, ...]
    where: tuple[Condition, ...] = ()
    missing: tuple[tuple[str, tuple[str, ...]], ...] = ()
    budget: tuple[Rule, ...] = ()
    delta: Fraction | None = None
    jointly: bool = False

    @classmethod
    def of(cls, policy: Policy) -> Terms:
        """Take them from a plan."""
        return cls(policy.secrets, policy.where, policy.missing, policy.budget, policy.delta, policy.jointly)

    def plan(self, release: Sequence[str]) -> Policy:
        """Plan the release of some columns as they are."""
        return Policy(
            self.secrets,
            release,
            where=self.where,
            missing=self.missing,
            budget=self.budget,
            delta=self.delta,
            jointly=self.jointly,
        )

    def judge(self, policy: Policy) -> Policy:
        """Judge a plan by these terms: their secrets, people and budget in place of its own.

        Raises
        ------
        InvalidInput
            When the plan is about another secret, other codes mean missing, or it has weights.
        """
        own = {item.column: item for item in self.secrets}
        for item in policy.secrets:
            if own.get(item.column) != item:
                held = own.get(item.column)
                there = ", ".join(own) if held is None else held.words()
                raise InvalidInput(
                    f"secret must be that of the other releases ({there}), got {item.words()}; leave it out, or keep "
                    "another account."
                )
        if policy.budget and policy.budget != self.budget:
            raise InvalidInput(
                "budget must be that of the other releases, got another in the plan; leave it out there."
            )
        codes, chosen = dict(self.missing), {condition.column for condition in self.where}
        for column, absent in policy.missing:
            what = "secret column" if column in own else "column of where"
            if (column in own or column in chosen) and codes.get(column, ()) != absent:
                raise InvalidInput(
                    f"missing codes of the {what} {quoted(column)} must be those of the other releases, got "
                    f"{', '.join(map(quoted, absent))}; leave them out."
                )
        return replace(
            policy,
            secret=tuple(own),
            secrets=self.secrets,
            not_secret=(),
            where=tuple(dict.fromkeys((*self.where, *policy.where))),
            missing=tuple((codes | dict(policy.missing)).items()),
            budget=self.budget,
            delta=policy.delta if self.delta is None else self.delta,
            jointly=self.jointly,
            statistic=(),
            weight=None,
        )


def count_secrets(table: Table, terms: Terms) -> tuple[int, str]:
    """Count the people that terms are about, and hash how many hold each secret.

    Raises
    ------
    InvalidInput
        When the secret or the budget does not fit the table.
    """
    policy = terms.plan([_PRESENT])
    base = table.under(policy)
    groups = count_groups(base, secret_keys(base, policy), MOST_SECRETS)
    require_secrets(policy, groups.labels, base.physical)
    secrets, place = combine(groups.labels, groups.codes)
    everybody = np.zeros_like(place)
    total = int(groups.count.sum())
    counts = CellCounts(secrets, [()], place, everybody, groups.count, total, None)
    counted = Counted.of(counts, policy.secret, ())
    for subject, budget in budgets_of(policy).items():
        budget.require_possible(applying(counted, subject, policy))
    return total, counts_digest(counted)


@dataclass(frozen=True, slots=True, eq=False)
class JointCells:
    """All that some releases publish of each person, counted.

    Attributes
    ----------
    cells : the joint cells, as `audit_cells` takes them
    digests : of each release, by name, the digest of the counts of its plan; a table that changed has others
        None where only the engine has the cells
    counted : the counts by all columns, before anything is hidden or drawn; None likewise
    columns : of each release, by name, its columns in these
    """

    cells: Cells
    digests: Mapping[str, str] | None
    counted: Counted | None = None
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def digest(self, releases: Collection[str]) -> str | None:
        """Hash the counts of some of the releases together; None where only the engine has them.

        Tables in which each release has the same counts may differ in how these go together.
        """
        if self.counted is None:
            return None
        return counts_digest(self.counted.select([one for name in releases for one in self.columns[name]]))


def count_jointly(
    table: Table,
    terms: Terms,
    plans: Mapping[str, Policy],
    *,
    known: Mapping[str, str] | None = None,
    max_cells: int = MAX_CELLS,
    max_groups: int = MOST_GROUPS,
) -> JointCells:
    """Count what several plans publish together, each by its name; every plan as `Terms.judge` returns it.

    `known` has the digests that the counts of some plans had before.

    Raises
    ------
    TooManyCells
        When a plan hides, randomises or recodes cell by cell, and the joint cells do not fit into memory.
    OtherCounts
        When the counts of a plan are not those that are known.
    InvalidInput
        When a plan does not fit the table.
    """
    keys = {name: _keys(table, terms, name, plan) for name, plan in plans.items()}
    columns = [key.column for own in keys.values() for key in own]
    policy = terms.plan(columns)
    base = table.under(policy)
    held = secret_keys(base, policy)
    shown = [key for own in keys.values() for key in own]
    try:
        groups = count_groups(base, [*held, *shown], max_groups)
        require_secrets(policy, groups.labels, base.physical)
        counts, _ = cells_of_groups(groups, policy, max_cells, check=False)
    except TooManyCells:
        return _in_engine(base, policy, [*held, *shown], plans)
    counted = before = Counted.of(counts, policy.secret, columns)
    digests = {name: _digest(counted, keys[name], plan) for name, plan in plans.items()}
    require_known_counts(digests, known)
    for name, plan in plans.items():
        counted = _hide(counted, keys[name], plan)
    counted = counted.randomise(
        {
            joint_name(name, column): mechanism
            for name, plan in plans.items()
            for column, mechanism in mechanisms_of(plan).items()
        }
    )
    for name, plan in plans.items():
        if plan.local is not None:
            own = [joint_name(name, column) for column in plan.local.columns]
            counted = counted.publish(plan.local, counts.total, own)
    own_columns = {name: [key.column for key in own] for name, own in keys.items()}
    return JointCells(Cells(policy, counts.total, counted), digests, before, own_columns)


class OtherCounts(InvalidInput):
    """A table has other counts than when it was released; the message is the name of the release."""


def require_known_counts(found: Mapping[str, str], known: Mapping[str, str] | None) -> None:
    """Refuse counts that are not those that are known."""
    for name, digest in (known or {}).items():
        if found[name] != digest:
            raise OtherCounts(name)


def _keys(table: Table, terms: Terms, name: str, plan: Policy) -> list[Key]:
    """What a release counts by, its columns called by its name; of a release of some rows, first whether they are."""
    import ibis

    rows = table.under(plan)
    found = keys_of(rows, plan)[len(terms.secrets) :]
    own = [condition for condition in plan.where if condition not in terms.where]
    if not own:
        return [replace(key, column=joint_name(name, key.column)) for key in found]
    used = rows.plain_columns([condition.column for condition in own])
    tests = [condition.holds(column, kind) for condition, (column, kind) in zip(own, used, strict=True)]
    holds = reduce(and_, tests).fill_null(False)
    present = Key(
        f"{name} {_PRESENT}",
        ibis.ifelse(holds, ibis.literal(1, "int64"), ibis.literal(0, "int64")),
        Keep(),
        "integer",
        _PRESENCE,
    )
    return [present, *(_where_present(key, holds, name) for key in found)]


def _where_present(key: Key, holds: Any, name: str) -> Key:
    """The key of rows that are released, nothing for others."""
    import ibis

    shown = ibis.ifelse(holds, key.expression, ibis.null(key.expression.type()))
    return replace(key, column=joint_name(name, key.column), expression=shown)


def joint_name(release: str, column: str) -> str:
    """Name a column of a release among those of others."""
    return f"{release}: {column}"


def _in_engine(base: Table, policy: Policy, keys: Sequence[Key], plans: Mapping[str, Policy]) -> JointCells:
    """Leave the cells to the engine, which counts them as they are."""
    if any(plan != plain(plan) for plan in plans.values()):
        raise TooManyCells(
            "releases with noise, hidden cells or a recoding cell by cell must have few joint cells, got more than fit "
            "into memory."
        )
    counter = CellCounter(base, {key.column: key for key in keys})
    return JointCells(Cells(policy, counter.require_secrets(policy), None, counter=counter), None)


def plain(plan: Policy) -> Policy:
    """Plan the same columns with nothing hidden, drawn or recoded cell by cell: a plan is post-processing of that."""
    return replace(plan, release=undrawn(plan.release), min_count=None, local=None)


def _absent(counted: Counted, keys: Sequence[Key]) -> NDArray[np.bool_]:
    """Tell which joint cells are of people that a release has no row of."""
    if keys[0].names != _PRESENCE:
        return np.zeros(len(counted.codes), dtype=bool)
    place = counted.columns.index(keys[0].column)
    return np.array([value == _PRESENCE[0] for value in counted.values[place]])[counted.codes[:, place]]


def _digest(counted: Counted, keys: Sequence[Key], plan: Policy) -> str:
    """Hash the counts of a plan alone, of the people that its release has a row of."""
    released = [key.column for key in keys[-len(plan.release) :]]
    absent = _absent(counted, keys)
    if absent.all():
        raise InvalidInput(
            f"where must be satisfied by some row, got none for {conditions_text(plan.where)}; check columns and "
            "values."
        )
    return counts_digest(counted.keep(~absent).select(released))


def _hide(counted: Counted, keys: Sequence[Key], plan: Policy) -> Counted:
    """Hide a release's columns of people that it has no row of, and of its small cells."""
    released = [key.column for key in keys[-len(plan.release) :]]
    hidden = _absent(counted, keys)
    if hidden.any():
        # a mechanism draws among the values of the rows that are released, which nothing is no value of
        counted = counted.hide(released, hidden).with_values_shown(released)
        hidden = _absent(counted, keys)
    if plan.min_count is not None:
        places = [counted.columns.index(name) for name in released]
        kind = group_rows(counted.codes[:, places])[1]
        people = np.where(hidden, 0, counted.tally.of_cell)
        hidden = hidden | (sum_by(kind, people, int(kind.max()) + 1) < plan.min_count)[kind]
    return counted.hide(released, hidden)
