"""Count the kinds of released cells in the engine, whatever their number.

Everything that is said about a cell follows from how many people of each secret are in it. Cells with the same counts
are of one kind, and there are few kinds: ten million cells of some ten people each and two secrets have a few hundred.
The engine groups the rows by cell, with a column of counts for each secret, and those cells by their counts:

    SELECT n₀, n₁, …, COUNT(*) FROM (SELECT COUNT(*) FILTER (secret = 0) AS n₀, … GROUP BY cell) GROUP BY n₀, n₁, …

Only kinds come to Python. With more secrets than a query has room for, pairs of secret and cell do, and kinds are found
here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import and_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.display import format_count
from tightlip.table.counts import (
    GAP_BITS,
    Codes,
    Groups,
    Key,
    Label,
    combine,
    combine_codes,
    count_groups,
    keys_of,
    require_secrets,
)
from tightlip.table.failure import engine_work
from tightlip.table.kinds import is_value
from tightlip.table.policy import Policy, require_known
from tightlip.table.source import Table

MOST_COLUMNS = 64  # of counts in one query; each takes 8 bytes for every cell that the engine holds
MOST_SECRETS = 5_000_000
MOST_PAIRS = 50_000_000  # of secret and cell that fit into memory here


@dataclass(frozen=True, slots=True, eq=False)
class CellKinds:
    """Kinds of cells: count[i] people have the secret secrets[secret_of[i]] in all the cells of kind kind_of[i].

    Attributes
    ----------
    secrets : the distinct secret values, one entry for each secret column; None is missing
    secret_of, kind_of, count : int64 arrays
    cells : how many cells there are of each kind
    total : number of rows
    """

    secrets: list[tuple[Label, ...]]
    secret_of: Codes
    kind_of: Codes
    count: Codes
    cells: Codes
    total: int


@dataclass(frozen=True, slots=True, eq=False)
class CellQuery:
    """The cells of some released columns, about some secret columns, as the engine has them.

    Attributes
    ----------
    table : the rows of the plan
    held, shown : keys of the secret and the released columns
    secrets : the groups of secret values that occur
    """

    table: Table
    held: list[Key]
    shown: list[Key]
    secrets: Groups

    @property
    def counted(self) -> list[str]:
        """The names of the columns of counts."""
        return [f"n{place}" for place in range(len(self.secrets.count))]

    def cells(self) -> Any:
        """Ask for the cells, as an Ibis table: the released keys k0, k1, … and the counts n0, n1, … by secret."""
        names = [f"k{place}" for place in range(len(self.shown))]
        own = [f"s{place}" for place in range(len(self.held))]
        keys = zip([*names, *own], [*self.shown, *self.held], strict=True)
        rows = self.table.select({name: key.expression for name, key in keys})
        counts = {
            name: rows.count(where=has_secret([rows[key] for key in own], self.secrets, place))
            for place, name in enumerate(self.counted)
        }
        return rows.group_by(names).aggregate(**counts)


@dataclass(frozen=True, slots=True, eq=False)
class CellCounter:
    """The rows of a plan, from which cells of some of its columns are asked for, about some of its secret columns.

    What does not change from one question to the next is asked for once.
    """

    rows: Table
    keys: dict[str, Key]
    _secrets: dict[tuple[str, ...], Groups] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Table, policy: Policy) -> CellCounter:
        """Prepare the columns of a plan."""
        rows = table.under(policy)
        return cls(rows, {key.column: key for key in keys_of(rows, policy)})

    def secrets(self, secret: Sequence[str]) -> Groups:
        """Count the groups of values of some secret columns."""
        subject = tuple(secret)
        if subject not in self._secrets:
            self._secrets[subject] = count_groups(
                self.rows, [self.keys[name] for name in subject], MOST_SECRETS
            )
        return self._secrets[subject]

    def query(self, secret: Sequence[str], release: Sequence[str]) -> CellQuery:
        """Ask for the cells of some released columns, about some secret columns."""
        held, shown = ([self.keys[name] for name in names] for names in (secret, release))
        return CellQuery(self.rows, held, shown, self.secrets(secret))

    def require_secrets(self, policy: Policy) -> int:
        """Refuse secrets of one value, named values that nobody has, and released ones that a list in order lacks.

        Returns the number of rows of the plan.
        """
        found = [self.secrets([column]) for column in policy.secret]
        for item in policy.release:
            if isinstance(policy.scales.get(item.column), tuple):
                self.secrets([item.column])  # counting a column compares it with its list
        require_secrets(policy, [groups.labels[0] for groups in found], self.rows.physical)
        return int(found[0].count.sum())


def count_kinds(query: CellQuery) -> CellKinds:
    """Count the kinds of cells of some released columns of a plan, about some of its secret columns.

    Small cells are not hidden and nothing is randomised; both can be worked out from the kinds.

    Raises
    ------
    InvalidInput
        When a column is not there or of no use, the table is empty or changes meanwhile, a secret column has one value
        only, or secrets and cells are so many that pairs of them do not fit into memory.
    """
    secrets, place = combine(query.secrets.labels, query.secrets.codes)
    if len(place) > MOST_COLUMNS:
        return _kinds_by_pairs(query)
    group_of, kind_of, count, cells = kinds_by_engine(query)
    return CellKinds(secrets, place[group_of], kind_of, count, cells, int(count.sum()))


def has_secret(columns: Sequence[Any], groups: Groups, place: int) -> Any:
    """Test rows for one group of secret values, given as Ibis columns; missing values are a value."""
    tests = []
    for number, column in enumerate(columns):
        mask = groups.arrow[f"m{number // GAP_BITS}"][place].as_py()
        if mask >> (number % GAP_BITS) & 1:
            tests.append(column.isnull())
        else:
            tests.append(column.notnull() & is_value(column, groups.arrow[f"k{number}"][place].as_py()))
    return reduce(and_, tests)


def kinds_by_engine(query: CellQuery) -> tuple[Codes, Codes, Codes, Codes]:
    """Count the kinds of cells: group of secret values, kind and people of all its cells; and the cells of each kind.

    Raises
    ------
    InvalidInput
        When the groups of secret values have other sizes now.
    """
    cells, names = query.cells(), query.counted
    kinds = cells.group_by(names).aggregate(cells=cells.count())
    with engine_work(query.table.name, "counted"):
        arrow = query.table.fetch(kinds)
    query.table.require_unchanged()
    many = arrow["cells"].to_numpy().astype(np.int64)
    parts: list[tuple[int, NDArray[np.int64], NDArray[np.int64]]] = []
    for place, name in enumerate(names):
        each = arrow[name].to_numpy().astype(np.int64)
        kind = np.flatnonzero(each)
        parts.append((place, kind, each[kind] * many[kind]))
    group = np.concatenate([np.full(len(kind), place) for place, kind, _ in parts])
    kind = np.concatenate([kind for _, kind, _ in parts])
    count = np.concatenate([count for *_, count in parts])
    held = np.bincount(group, count, len(names)).astype(np.int64)
    if not np.array_equal(held, query.secrets.count):
        raise InvalidInput(f"{query.table.name} has changed while it was counted; audit it again.")
    return group, kind, count, many


def _kinds_by_pairs(query: CellQuery) -> CellKinds:
    """Every cell as a kind of its own, from pairs of secret and cell."""
    table, held, shown = query.table, query.held, query.shown
    try:
        groups = count_groups(table, [*held, *shown], MOST_PAIRS)
    except InvalidInput as error:
        raise InvalidInput(
            f"secret and released values must have at most {format_count(MOST_PAIRS)} combinations where secrets "
            f"have more than {MOST_COLUMNS} values, got more in {quoted(table.name)}; name the sensitive values, put "
            "the secret in bins, or judge secret columns one at a time."
        ) from error
    secrets, secret_of = combine(groups.labels[: len(held)], groups.codes[: len(held)])
    distinct, cell_of = combine_codes(
        groups.codes[len(held) :], [len(own) for own in groups.labels[len(held) :]]
    )
    many = np.ones(len(distinct), dtype=np.int64)
    return CellKinds(secrets, secret_of, cell_of, groups.count, many, int(groups.count.sum()))


@dataclass(frozen=True, slots=True)
class PopulationRisks:
    """How well people are hidden in the population that a table with sampling weights was drawn from.

    A cell of f rows stands for F people, the sum of their weights.

    Attributes
    ----------
    people : the sum of all weights
    journalist : max 1/F, at most 1; rounded up
    marketer : the mean of 1/F over the rows, rounded up
    """

    people: float
    journalist: float
    marketer: float


def population_risks(table: Table, policy: Policy) -> PopulationRisks | None:
    """Estimate from the sampling weights of a policy how many people share each released cell; None without weights.

    Raises
    ------
    InvalidInput
        When the weights are no positive numbers, or one is missing.
    """
    if policy.weight is None:
        return None
    rows = table.under(policy)
    require_known(policy.weight, [*rows.physical, *rows.refused], "weight column")
    ((weight, kind),) = rows.plain_columns([policy.weight])
    if kind not in ("integer", "real"):
        raise InvalidInput(
            f"weight must be a column of numbers, got {quoted(policy.weight)} of kind {kind}; name another."
        )
    keys = keys_of(rows, policy)[len(policy.secret) :]
    chosen = {f"k{place}": key.expression for place, key in enumerate(keys)}
    weighed = rows.select(chosen | {"w": weight.cast("float64")})
    cells = weighed.group_by([*chosen]).aggregate(
        rows=weighed.count(), known=weighed["w"].count(), least=weighed["w"].min(), people=weighed["w"].sum()
    )
    hidden = cells["rows"] < (policy.min_count or 0)
    shown = ~hidden
    found = cells.aggregate(
        rows=cells["rows"].sum(),
        known=cells["known"].sum(),
        least=cells["least"].min(),
        people=cells["people"].sum(),
        fewest=cells["people"].min(where=shown),
        risk=(cells["rows"] / cells["people"]).sum(where=shown),
        hidden_rows=cells["rows"].sum(where=hidden),
        hidden_people=cells["people"].sum(where=hidden),
    )
    with engine_work(table.name, "weighed"):
        (sums,) = table.fetch(found).to_pylist()
    if sums["known"] != sums["rows"] or not sums["least"] > 0 or not np.isfinite(sums["people"]):
        raise InvalidInput(
            f"weight must be a positive number in every row, got other values in {quoted(policy.weight)}; mend them, "
            "or leave these rows out with --where."
        )
    return _population_risks(sums)


def _population_risks(sums: dict[str, Any]) -> PopulationRisks:
    """Join what is shown and what is hidden.

    Sums of floats, which engines add in any order, are widened by more than they may be off, and told to ten digits.
    """
    people, hidden = float(sums["people"]), float(sums["hidden_people"] or 0)
    sizes = [size for size in (float(sums["fewest"] or 0), hidden) if size > 0]
    risk = float(sums["risk"] or 0) + (float(sums["hidden_rows"]) / hidden if hidden else 0.0)
    wide = 1 + 1e-9
    found = wide / min(sizes), wide * risk / float(sums["rows"])
    journalist, marketer = (min(float(f"{each:.9e}"), 1.0) for each in found)
    return PopulationRisks(people, journalist, marketer)
