"""Write the release of a table: what a policy publishes of every row, in the order of the input.

The engine recodes the columns and numbers the groups of equal rows; rows stream through this process, which decides
what each of them publishes: what its cell is recoded to, or by chance where the policy says so (`chance`).

What is written is read back before the file takes its name. It must have the rows that were decided on, in their order.
Each row must publish something that its cell may, so that the counts of secrets and published values of a deterministic
release are exactly those that the policy makes of the counted ones. Where the release is random, no pair of cell and
published value may occur so often or so rarely that its binomial tail, times the number of pairs, is below 10⁻⁹.
Otherwise nothing is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import flag, instance, listed, whole
from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.categorical import Places
from tightlip.numeric.randomness import RandomSource
from tightlip.table.chance import NOTHING, CellKernel, NoiseKernel, PairCounts, Part
from tightlip.table.counts import (
    GAP_BITS,
    GROUPS_PER_CELL,
    MAX_CELLS,
    MOST_CELLS,
    CellCounts,
    Groups,
    cells_of_groups,
    count_groups,
    keys_of,
    without_gaps,
)
from tightlip.table.failure import engine_work
from tightlip.table.forms import Form
from tightlip.table.kinds import Kind
from tightlip.table.local import Cell
from tightlip.table.mechanism import ColumnChannel, Value
from tightlip.table.outputs import Output, output_of
from tightlip.table.policy import Policy, Undrawn, require_known
from tightlip.table.rereading import Codes, Digests, Outcomes, not_as_decided
from tightlip.table.rows import join_groups, stream
from tightlip.table.source import Table

_GROUP = "group"
_ARROW = {"integer": "int64", "real": "float64"}  # Arrow's names of types that are not text
UNSAFE_NOTE = "drawn with a seed for tests; whoever knows the seed can undo the protection"


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """What was written.

    Attributes
    ----------
    output : where it is
    rows : how many it has
    sha256 : the digest of the file; of a Postgres table that of its rows, in the order of their values
    columns : its columns, in their order
    kept : those that are as in the table, which no guarantee covers
    deterministic : whether chance had no part in it
    seeded : whether a seed made it repeatable, so that it protects nobody
    """

    output: Output
    rows: int
    sha256: str
    columns: tuple[str, ...]
    kept: tuple[str, ...]
    deterministic: bool
    seeded: bool

    @property
    def path(self) -> Path | None:
        """The file; None where it is a table of Postgres."""
        return self.output.path


def publish(
    table: Table,
    policy: Policy,
    path: str | Path | Output,
    *,
    keep: Sequence[str] = (),
    with_secret: bool = False,
    counts: CellCounts | None = None,
    before_named: Callable[[Published], None] | None = None,
    force: bool = False,
    seed_for_tests: int | None = None,
    max_cells: int = MAX_CELLS,
) -> Published:
    """Write what a policy publishes of every row, to a file or a new table of Postgres.

    Columns come in the table's order. Released and secret ones are text; kept ones are text, whole numbers or reals.
    Only the owner may read a file; of a table the database decides that.

    Parameters
    ----------
    table : as `open_table` gives it
    policy : with recodings, hidden cells, mechanisms or a local recoding
    path : as `output_of` reads it: a file that ends with .csv, .parquet, .duckdb or .sqlite, or a Postgres URL
    keep : other columns that are written as they are; no guarantee covers them
    with_secret : whether the secret columns are written too; of deterministic releases only
    counts : what the table was counted to have, before small cells are hidden; another table is refused
    before_named : is told of what was written and checked before it is kept, which it is not if this raises
    seed_for_tests : makes the draws repeatable, and so undoes their protection

    Raises
    ------
    InvalidInput
        When the plan does not fit the table, the table changed meanwhile, or what was written is not what was decided;
        nothing is then written.
    """
    instance(table, Table, "table", "use open_table(path)")
    instance(policy, Policy, "policy", "write Policy(secret, release)")
    output = path if isinstance(path, Output) else output_of(path)
    whole(max_cells, "max_cells", 1, MOST_CELLS)
    randomness = RandomSource(seed_for_tests=seed_for_tests)
    table = table.under(policy)
    with output.draft(force=flag(force, "force")) as draft:
        plan = _Plan.of(table, policy, listed(keep, "keep", "columns"), with_secret, max_cells)
        if counts is not None and not plan.counts.same_as(counts):
            raise _changed(table)
        writing = _Writing(plan, output.form, randomness)
        note = UNSAFE_NOTE if randomness.seeded else None
        output.form.write(draft, writing.schema, writing.batches(table), note)
        table.require_unchanged()
        writing.check(table, draft)
        done = Published(
            output,
            plan.counts.total,
            output.form.digest(draft),
            plan.names,
            tuple(plan.kept),
            plan.deterministic,
            randomness.seeded,
        )
        if before_named is not None:
            before_named(done)
    return done


def _changed(table: Table) -> InvalidInput:
    return InvalidInput(f"{table.name} has changed since it was counted; count it again.")


@dataclass(frozen=True, eq=False)
class _Plan:
    """What is to be written of a counted table."""

    policy: Policy
    kept: dict[str, Kind]
    secret: tuple[str, ...]
    names: tuple[str, ...]
    groups: Groups
    counts: CellCounts
    cell_of: Places
    parts: tuple[Part, ...]

    @classmethod
    def of(
        cls, table: Table, policy: Policy, keep: Sequence[Any], with_secret: bool, max_cells: int
    ) -> _Plan:
        """Count the table, and decide what its cells publish."""
        kept = _require_kept(table, policy, keep)
        kinds = dict(zip(kept, (kind for _, kind in _plain_columns(table, kept)), strict=True))
        groups = count_groups(table, keys_of(table, policy), max_cells * GROUPS_PER_CELL)
        counts, triple_of = cells_of_groups(groups, replace(policy, min_count=None), max_cells)
        parts = parts_of(policy, counts)
        secret = policy.secret if flag(with_secret, "with_secret") else ()
        for item in policy.release:
            if isinstance(item, Undrawn):
                raise InvalidInput(
                    f"release must have the mechanism of {quoted(item.column)}, got none yet; use the plan that has it."
                )
            if item.column in secret:
                raise InvalidInput(
                    f"with_secret must not be set where a secret column is released, got {quoted(item.column)}; the "
                    "file would have two columns of that name: leave it out."
                )
        if secret and not all(part.deterministic for part in parts):
            raise InvalidInput(
                "with_secret must not be set for a random release, of which each row would show what was published for "
                "a known secret; leave the secret out, or make the release deterministic."
            )
        chosen = {*kept, *secret, *(item.column for item in policy.release)}
        names = tuple(name for name in table.physical if name in chosen)
        return cls(
            policy, kinds, secret, names, groups, counts, counts.cell_of[triple_of].astype(np.intp), parts
        )

    @property
    def deterministic(self) -> bool:
        """Whether chance has no part in it."""
        return all(part.deterministic for part in self.parts)

    @cached_property
    def labels(self) -> list[list[Value]]:
        """What each released column can show."""
        found: list[list[Value]] = [[] for _ in self.policy.release]
        for part in self.parts:
            for at, column in enumerate(part.columns):
                found[column] = list(dict.fromkeys(outcome[at] for outcome in part.outcomes))
        return found

    def codes(self, part: Part) -> Codes:
        """The outcomes of a part, each column as places among its labels."""
        places = [{label: at for at, label in enumerate(self.labels[column])} for column in part.columns]
        rows = [
            [known[label] for known, label in zip(places, outcome, strict=True)] for outcome in part.outcomes
        ]
        return np.array(rows, dtype=np.intp)


def _require_kept(table: Table, policy: Policy, keep: Sequence[Any]) -> tuple[str, ...]:
    """Refuse to keep what is not there, or is released or secret."""
    for name in keep:
        instance(name, str, "keep", "name columns by text")
        require_known(name, [*table.physical, *table.refused], f"column of {table.name}")
        if name in policy.columns:
            what = (
                "secret; write it with --with-secret, with_secret=True"
                if name in policy.secret
                else "released"
            )
            raise InvalidInput(
                f"keep must not have a column of the plan, got {quoted(name)}, which is {what}."
            )
    return tuple(dict.fromkeys(keep))


def _plain_columns(table: Table, names: Sequence[str]) -> list[tuple[Any, Kind]]:
    """Kept columns in plain form; an engine is not asked about none."""
    return table.plain_columns(names) if names else []


def parts_of(policy: Policy, counts: CellCounts) -> tuple[Part, ...]:
    """Decide what counted cells, before small ones are hidden, publish under a policy."""
    columns = tuple(item.column for item in policy.release)
    if policy.local is not None:
        if policy.local.columns != columns:
            raise InvalidInput(
                "a local recoding must be of the released columns, in their order; protect the table again."
            )
        channels = _channels(policy, counts)
        if channels:
            return (CellKernel.drawn(policy.local, counts.cells, channels),)
        return (CellKernel.local(policy.local, counts.cells),)
    hidden = counts.sizes() < (policy.min_count or 0)
    parts: list[Part] = []
    for place, (values, channel) in _channels(policy, counts).items():
        known = {value: at for at, value in enumerate(values)}
        own = np.array([known[cell[place]] for cell in counts.cells], dtype=np.intp)
        parts.append(NoiseKernel.of(place, values, channel, np.where(hidden, -1, own)))
    noisy = {column for part in parts for column in part.columns}
    plain = [place for place in range(len(columns)) if place not in noisy]
    nothing = (NOTHING,) * len(columns)
    shown = [nothing if small else cell for cell, small in zip(counts.cells, hidden.tolist(), strict=True)]
    return (CellKernel.fixed(plain, shown), *parts) if plain else tuple(parts)


def _channels(policy: Policy, counts: CellCounts) -> dict[int, tuple[Cell, ColumnChannel]]:
    """The places of the columns that mechanisms draw, each with its values and what becomes of them."""
    found = {}
    for place, item in enumerate(policy.release):
        values = tuple(dict.fromkeys(cell[place] for cell in counts.cells))
        if item.mechanism is not None and item.mechanism.acts_on(values):
            found[place] = values, item.mechanism.on(item.column, values)
    return found


class _Writing:
    """The rows on their way into the file, and what is remembered of them to check it."""

    def __init__(self, plan: _Plan, form: Form, randomness: RandomSource) -> None:
        import pyarrow as pa

        self.plan, self.form, self.randomness = plan, form, randomness
        self.codes = [plan.codes(part) for part in plan.parts]
        self.labels = [pa.array(labels, pa.string()) for labels in plan.labels]
        types = dict.fromkeys(plan.names, pa.string())
        types |= {name: pa.type_for_alias(_ARROW[kind]) for name, kind in plan.kept.items() if kind in _ARROW}
        empty = form.shape(pa.schema([(name, types[name]) for name in plan.names]).empty_table())
        form.require_names(empty.column_names)
        released = [item.column for item in plan.policy.release]
        form.require_values(
            [(name, plan.labels[released.index(name)] if name in released else ()) for name in plan.names]
        )
        self.schema = empty.schema
        self.groups: list[NDArray[np.int32]] = []
        self.written = Digests(len(plan.names))

    def batches(self, table: Table) -> Iterator[Any]:
        """The rows of the file, some at a time."""
        for rows in _rows(table, self.plan):
            if rows[_GROUP].null_count:
                raise _changed(table)
            group = rows[_GROUP].to_numpy().astype(np.int32)
            self.groups.append(group)
            batch = self.form.shape(self._publish(rows, group))
            self.written.add(batch)
            yield batch

    def _publish(self, rows: Any, group: NDArray[np.int32]) -> Any:
        """What rows of some groups show, in the columns of the file."""
        import pyarrow as pa

        plan = self.plan
        columns = {name: _kept_column(rows, place) for place, name in enumerate(plan.kept)}
        for place, name in enumerate(plan.policy.secret):
            if name in plan.names:
                labels = pa.array(plan.groups.labels[place], pa.string())
                columns[name] = labels.take(pa.array(plan.groups.codes[place][group]))
        for part, codes in zip(plan.parts, self.codes, strict=True):
            outcome = part.draw(part.source_of[plan.cell_of[group]], self.randomness)
            for at, column in enumerate(part.columns):
                shown = self.labels[column].take(pa.array(codes[outcome, at]))
                columns[plan.policy.release[column].column] = shown
        return pa.table({name: columns[name] for name in plan.names})

    def _outcomes(self, part: Part, codes: Codes) -> Outcomes:
        names = [self.plan.policy.release[column].column for column in part.columns]
        at = [self.plan.names.index(name) for name in names]
        return Outcomes(names, at, [self.labels[column] for column in part.columns], codes, self.form)

    def check(self, table: Table, draft: Any) -> None:
        """Read the file back, and refuse it unless its rows are those decided on, and follow the policy.

        Raises
        ------
        InvalidInput
            When they are not, or other rows were read than were counted.
        """
        plan = self.plan
        group = np.concatenate([np.zeros(0, dtype=np.int32), *self.groups])
        if not np.array_equal(np.bincount(group, minlength=len(plan.groups.count)), plan.groups.count):
            raise _changed(table)
        outcomes = [self._outcomes(part, codes) for part, codes in zip(plan.parts, self.codes, strict=True)]
        counts = [PairCounts(part) for part in plan.parts]
        read, first = Digests(len(plan.names)), 0
        for batch in self.form.read(draft, self.schema):
            read.add(batch)
            cells = plan.cell_of[group[first : first + len(batch)]]
            first += len(batch)
            if first > len(group):
                raise not_as_decided()
            for part, known, count in zip(plan.parts, outcomes, counts, strict=True):
                count.add(part.source_of[cells], known.places(batch))
        if first != len(group) or read.hashes() != self.written.hashes():
            raise not_as_decided()
        for count in counts:
            count.check(plan.counts.sizes(), len(counts))


def _rows(table: Table, plan: _Plan) -> Iterator[Any]:
    """The kept columns and the group of each row, as Arrow tables."""
    import ibis
    import pyarrow as pa

    ordered = table.in_order()
    arrow = plan.groups.arrow.drop_columns(["n"])
    number = pa.array(np.arange(arrow.num_rows, dtype=np.int64))
    with engine_work(table.name, "joined with what it publishes"):
        lookup = ibis.memtable(arrow.append_column(_GROUP, number))
        plain = _plain_columns(ordered, [*plan.kept])
        names = {f"v{place}": column for place, (column, _) in enumerate(plain)}
        more = {name.replace("m", "x"): column for name, column in without_gaps(names, [*names]).items()}
        keys = keys_of(ordered, plan.policy)
        joined = join_groups(ordered, keys, lookup, more, [_GROUP], ordered.ordered_by)
        yield from stream(table.backend, joined)[1]


def rows_of(table: Table, policy: Policy, max_cells: int) -> tuple[Groups, NDArray[np.int32]]:
    """Group the rows of a table by the columns of a policy, and tell the group of each row in its order."""
    table = table.under(policy)
    plan = _Plan.of(table, policy, (), False, max_cells)
    found = [rows[_GROUP].to_numpy().astype(np.int32) for rows in _rows(table, plan)]
    return plan.groups, np.concatenate(found)


def _kept_column(rows: Any, place: int) -> Any:
    """A kept column with its gaps, which travel as bit masks."""
    import pyarrow as pa
    import pyarrow.compute as compute

    mask = rows[f"x{place // GAP_BITS}"].to_numpy().astype(np.int64)
    missing = pa.array((mask >> (place % GAP_BITS)) & 1 == 1)
    column = rows[f"v{place}"].combine_chunks()
    return compute.if_else(missing, pa.scalar(None, column.type), column)
