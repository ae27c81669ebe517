"""How many rows have each secret in each released cell."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from tightlip.arguments import instance, whole
from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.display import grouped
from tightlip.table.grouping import Codes, Groups, Key, Label, count_groups, keys_of, too_many_cells
from tightlip.table.names import ROW
from tightlip.table.policy import Policy
from tightlip.table.recoding import Keep
from tightlip.table.source import Table

MAX_CELLS = 250_000
MOST_CELLS = 10**12  # that can be asked for: engines count in 64 bits
_DENSE = 10_000_000
_MOST_KEPT = 5_000_000  # of 20 groups each: more do not fit into memory here


@dataclass(frozen=True, slots=True, eq=False)
class CellCounts:
    """Counts as triples: count[i] rows have the secret secrets[secret_of[i]] in the cell cells[cell_of[i]].

    Attributes
    ----------
    secrets : the distinct secret values, one entry for each secret column; None is missing
    cells : the distinct combinations of released values likewise; the suppressed one, always last, is the empty tuple
    secret_of, cell_of, count : int64 arrays, sorted by cell and then secret; every count is at least 1
    total : number of rows
    suppressed : place of the suppressed cell; None where there is none

    Order is the same on every engine: by column, missing first, numbers by size, texts by code point.
    """

    secrets: list[tuple[Label, ...]]
    cells: list[tuple[Label, ...]]
    secret_of: Codes
    cell_of: Codes
    count: Codes
    total: int
    suppressed: int | None

    def sizes(self) -> Codes:
        """The number of rows in each cell."""
        sizes = np.zeros(len(self.cells), dtype=np.int64)
        np.add.at(sizes, self.cell_of, self.count)
        return sizes

    def same_as(self, other: CellCounts) -> bool:
        """Whether both count the same."""
        return (
            (self.secrets, self.cells, self.suppressed) == (other.secrets, other.cells, other.suppressed)
            and np.array_equal(self.secret_of, other.secret_of)
            and np.array_equal(self.cell_of, other.cell_of)
            and np.array_equal(self.count, other.count)
        )


def count_cells(table: Table, policy: Policy, *, max_cells: int = MAX_CELLS) -> CellCounts:
    """Count a table's rows by secret and released cell, after the policy's recodings and suppression.

    Randomised response is not applied: it turns these counts into a channel later.

    Raises
    ------
    InvalidInput
        When a column is not there or of no use, the table is empty, a secret column has one value only, or there are
        more than `max_cells` cells.

    >>> import pyarrow
    >>> from tightlip import open_table
    >>> rows = pyarrow.table({"age": [31, 35, 47], "ill": ["no", "yes", "no"]})
    >>> counts = count_cells(open_table(rows), Policy("ill", ["age"]))
    >>> counts.cells, counts.secrets
    ([('31',), ('35',), ('47',)], [('no',), ('yes',)])
    """
    whole(max_cells, "max_cells", 1, MOST_CELLS)
    instance(table, Table, "table", "use open_table(path)")
    instance(policy, Policy, "policy", "write Policy(secret, release)")
    groups = count_groups(table, keys_of(table, policy), max_cells)
    return cells_of_groups(groups, policy, max_cells)[0]


def count_values(table: Table, names: Sequence[str]) -> Groups:
    """Count a table's rows by the values of some columns, as they are.

    A field of a CSV file is called what the file writes, whatever else is in its column; elsewhere the column's type,
    which no row decides, says how values are called.
    """
    return count_groups(table, _kept(table, names), _MOST_KEPT)


def first_row(table: Table, names: Sequence[str], found: Groups, place: int) -> int | None:
    """The first row, counted from 1, of a group that `count_values` found; None where rows are not numbered so."""
    ordered = table.in_order()
    if table.loose or ordered.ordered_by is None:
        return None
    with suppress(Exception):  # it would only have helped to find the row
        keys = enumerate(_kept(ordered, names))
        same = [key.expression == found.arrow[f"k{number}"][place].as_py() for number, key in keys]
        rows = ordered.expression.filter(same)
        first = int(ordered.fetch(rows.aggregate(n=rows[ROW].min()))["n"][0].as_py())
        return first if table.parquet is not None else first + 1  # DuckDB counts the rows of those from 1
    return None


def _kept(table: Table, names: Sequence[str]) -> list[Key]:
    plain = table.plain_columns(names)
    table.require_one_spelling(names)
    if table.csv is not None:
        plain = [(table.expression[table.physical[name]], "text") for name in names]
    return [Key(name, column, Keep(), kind) for name, (column, kind) in zip(names, plain, strict=True)]


def cells_of_groups(groups: Groups, policy: Policy, max_cells: int) -> tuple[CellCounts, Codes]:
    """Counted cells, and for each group the place of its triple."""
    secret_columns = len(policy.secret)
    for name, labels in zip(policy.secret, groups.labels, strict=False):
        if len(labels) < 2:
            raise InvalidInput(
                f"secret column {quoted(name)} must have at least two values, got one; name another."
            )
    secrets, secret_of = _combine(groups.labels[:secret_columns], groups.codes[:secret_columns])
    cells, cell_of = _combine(groups.labels[secret_columns:], groups.codes[secret_columns:])
    if len(cells) > max_cells:
        raise too_many_cells(grouped(len(cells)), max_cells)
    counts, triple_of = _tallied(secrets, cells, secret_of, cell_of, groups.count)
    if policy.min_count is None:
        return counts, triple_of
    hidden, place = _hidden(counts, policy.min_count)
    return hidden, place[triple_of]


def hide_small_cells(counts: CellCounts, min_count: int | None) -> CellCounts:
    """The same people, those in cells of fewer than `min_count` in one cell that shows nothing."""
    return counts if min_count is None else _hidden(counts, min_count)[0]


def _hidden(counts: CellCounts, least: int) -> tuple[CellCounts, Codes]:
    """Put all cells of fewer than `least` rows into one, the last; and the new place of each triple."""
    kept = counts.sizes() >= least
    if kept.all():
        return counts, np.arange(len(counts.count))
    cells = [*(counts.cells[place] for place in np.flatnonzero(kept)), ()]
    new = np.where(kept, np.cumsum(kept) - 1, kept.sum())
    found, place = _tallied(
        counts.secrets, cells, counts.secret_of, new[counts.cell_of], counts.count, int(kept.sum())
    )
    return found, place


def _tallied(
    secrets: list[tuple[Label, ...]],
    cells: list[tuple[Label, ...]],
    secret_of: Codes,
    cell_of: Codes,
    count: Codes,
    suppressed: int | None = None,
) -> tuple[CellCounts, Codes]:
    """Add up the counts of equal triples; and the place of each among the distinct ones."""
    places, triple_of = _distinct(cell_of * len(secrets) + secret_of, len(cells) * len(secrets))
    total = np.zeros(len(places), dtype=np.int64)
    np.add.at(total, triple_of, count)
    counts = CellCounts(
        secrets, cells, places % len(secrets), places // len(secrets), total, int(total.sum()), suppressed
    )
    return counts, triple_of


def _combine(labels: Sequence[list[Label]], codes: Sequence[Codes]) -> tuple[list[tuple[Label, ...]], Codes]:
    """The distinct combinations of some keys in order, and which one each group has."""
    combined, span = codes[0], len(labels[0])
    for more, names in zip(codes[1:], labels[1:], strict=True):
        if span * len(names) >= 2**62:
            distinct, combined = _distinct(combined, span)
            span = len(distinct)
        combined, span = combined * len(names) + more, span * len(names)
    distinct, place = _distinct(combined, span)
    first = np.empty(len(distinct), dtype=np.int64)
    first[place[::-1]] = np.arange(len(place))[::-1]
    columns = [
        [names[code] for code in own[first].tolist()] for names, own in zip(labels, codes, strict=True)
    ]
    return list(zip(*columns, strict=True)), place


def _distinct(values: Codes, span: int) -> tuple[Codes, Codes]:
    """The distinct values below `span` in order, and the place of each value; without sorting where that is quicker."""
    if span > _DENSE:
        found, place = np.unique(values, return_inverse=True)
        return found, place
    seen = np.zeros(span, dtype=bool)
    seen[values] = True
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[values]
