"""The risk of each record: results of its cell joined back to the rows by the engine, in the order of the input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip import arguments
from tightlip.arguments import flag, instance, whole
from tightlip.errors import InvalidInput, ShapeMismatch, quoted
from tightlip.numeric.display import grouped
from tightlip.table.counts import MAX_CELLS, MOST_CELLS, CellCounts, cells_of_groups
from tightlip.table.failure import engine_work
from tightlip.table.grouping import Key, count_groups, keys_of, without_gaps
from tightlip.table.kinds import Kind
from tightlip.table.policy import Policy
from tightlip.table.risk_file import write_batches
from tightlip.table.source import Table
from tightlip.table.whole_file import whole_file

RISK_COLUMNS = ("cell_size", "leakage_nats", "posterior")


@dataclass(frozen=True, slots=True, eq=False)
class CellRisks:
    """What was found for counted cells.

    Attributes
    ----------
    counts : as `count_cells` made them, with the policy's suppression
    leakage : one number in nats for each cell, upper ends; may be infinite
    posterior : for each triple of `counts`, the probability of its secret given its cell
    """

    counts: CellCounts
    leakage: NDArray[np.float64]
    posterior: NDArray[np.float64]

    def __post_init__(self) -> None:
        for name, values, size in (
            ("leakage", self.leakage, len(self.counts.cells)),
            ("posterior", self.posterior, len(self.counts.count)),
        ):
            if np.shape(values) != (size,):
                raise ShapeMismatch(f"{name} must have {size} numbers, got shape {np.shape(values)}.")
            if np.isnan(values).any():
                raise InvalidInput(
                    f"{name} must not be NaN, got one at entry {int(np.isnan(values).argmax())}."
                )


def write_risks(
    table: Table,
    policy: Policy,
    risks: CellRisks,
    path: str | Path,
    *,
    id_column: str | None = None,
    force: bool = False,
    max_cells: int = MAX_CELLS,
) -> None:
    """Write cell size, leakage of the cell and posterior of the own secret for every row, as CSV or Parquet.

    Rows come in the order of the input. Engines without an order (Postgres, Spark, views) need an id column of distinct
    values, and rows come in the order of it. In CSV, text that a spreadsheet would run as a formula gets an apostrophe
    in front; Parquet is written as it is. On Spark, Parquet is a folder that Spark writes itself. Only the owner may
    read what is written.

    Raises
    ------
    InvalidInput
        When the file exists and force is not set, ids are needed, or the table changed since it was counted.
    """
    instance(table, Table, "table", "use open_table(path)")
    instance(policy, Policy, "policy", "write Policy(secret, release)")
    instance(risks, CellRisks, "risks", "use cell_risks(counts, policy)")
    whole(max_cells, "max_cells", 1, MOST_CELLS)
    flag(force, "force")
    if id_column is not None:
        instance(id_column, str, "id_column", "name a column by text")
    path = arguments.path(path, "path")
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise InvalidInput(f"risk file must end with .csv or .parquet, got {quoted(str(path))}.")
    with whole_file(path, force=force, private=True) as partial:
        lookup = _lookup(table, policy, risks, max_cells)
        numbered = table.in_order()
        identity = _identity(numbered, policy, id_column, risks.counts.total)
        joined = _joined(numbered, keys_of(numbered, policy), lookup, identity)
        with engine_work(table.name, "joined with its risks"):
            written = write_batches(
                table.backend, joined, partial, id_column, _kind(identity), path.suffix.lower()
            )
        if written != risks.counts.total:
            raise _changed(table)


_Identity = tuple[Any, Kind] | None


def _kind(identity: _Identity) -> Kind | None:
    return identity[1] if identity else None


def _changed(table: Table) -> InvalidInput:
    return InvalidInput(f"{table.name} has changed since it was counted; audit it again.")


def _lookup(table: Table, policy: Policy, risks: CellRisks, max_cells: int) -> Any:
    """The groups of the table with what was found for them, as a small table to join with."""
    import ibis
    import pyarrow as pa

    groups = count_groups(table, keys_of(table, policy), max_cells)
    counts, triple_of = cells_of_groups(groups, policy, max_cells)
    if not counts.same_as(risks.counts):
        raise _changed(table)
    cell_of = counts.cell_of[triple_of]
    found = (counts.sizes()[cell_of], risks.leakage[cell_of], risks.posterior[triple_of])
    arrow = groups.arrow.drop_columns(["n"])
    for name, values in zip(RISK_COLUMNS, found, strict=True):
        arrow = arrow.append_column(name, pa.array(values))
    return ibis.memtable(arrow)


def _identity(table: Table, policy: Policy, id_column: str | None, total: int) -> _Identity:
    """The id column in plain form; checked where rows have no other order."""
    if id_column is None:
        if table.ordered_by is None:
            raise InvalidInput(
                f"{table.name} keeps no order of rows; name a column of distinct values as the id column."
            )
        return None
    if id_column in policy.secret or id_column in RISK_COLUMNS:
        raise InvalidInput(
            f"id_column must not be a secret column or one of {', '.join(RISK_COLUMNS)}, got {quoted(id_column)}."
        )
    ((column, kind),) = table.plain_columns([id_column])
    if table.ordered_by is None:
        with engine_work(table.name):
            distinct = table.fetch(table.expression.select(i=column).aggregate(n=lambda t: t["i"].nunique()))
        if distinct["n"][0].as_py() != total:
            raise InvalidInput(
                f"id_column must have a distinct value in every row, got {quoted(id_column)} with "
                f"{grouped(distinct['n'][0].as_py())} values in {grouped(total)} rows; "
                f"{table.name} keeps no other order."
            )
    return column, kind


def _joined(table: Table, keys: Sequence[Key], lookup: Any, identity: _Identity) -> Any:
    """The results of every row, in order."""
    names = [f"k{place}" for place in range(len(keys))]
    chosen = {name: key.expression for name, key in zip(names, keys, strict=True)}
    if (
        identity
    ):  # whole numbers travel as text: some engines' ways to Python turn them into floats where some miss
        column, kind = identity
        chosen["id"] = column.cast("string") if kind == "integer" else column
    chosen["place"] = table.ordered_by if table.ordered_by is not None else identity[0] if identity else None
    rows = table.expression.select(**chosen)
    whole = without_gaps(rows, names)
    rows = rows.select(**whole, **{name: rows[name] for name in chosen if name not in names})
    joined = rows.left_join(lookup, [rows[name] == lookup[name] for name in whole])
    kept = [*(["id"] if identity else []), *RISK_COLUMNS]
    return joined.order_by(joined["place"]).select(*kept)
