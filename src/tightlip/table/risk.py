"""Write the risk of each record: results of its cell joined back to the rows by the engine, in the order of the input.

Rows stream into a CSV or Parquet file, a batch at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip import arguments
from tightlip.arguments import flag, instance, whole
from tightlip.errors import InvalidInput, ShapeMismatch, quoted
from tightlip.files import whole_file
from tightlip.numeric.display import format_count
from tightlip.table.cell_kinds import CellQuery, has_secret
from tightlip.table.counts import (
    GROUPS_PER_CELL,
    MAX_CELLS,
    MOST_CELLS,
    CellCounts,
    Key,
    cells_of_groups,
    count_groups,
    keys_of,
    without_gaps,
)
from tightlip.table.failure import engine_work
from tightlip.table.kinds import Kind
from tightlip.table.policy import Policy
from tightlip.table.rows import defuse_formulas, join_groups, stream
from tightlip.table.source import Table

RISK_COLUMNS = ("cell_size", "leakage_nats", "posterior")
_PARTS = 50  # tallies of batches in memory, before they are added up


def write_batches(
    backend: Any,
    rows: Any,
    path: Path,
    id_name: str | None,
    id_kind: Kind | None,
    form: str,
    names: Sequence[str] = RISK_COLUMNS,
) -> Any:
    """Write an Ibis table of risks; returns how many rows have each risk, as `tally_risks` does.

    Parameters
    ----------
    rows : Ibis table, of which the column "id", if any, takes the name `id_name`
    form : ".csv" or ".parquet"
    names : the columns of risks
    """
    import pyarrow.csv as arrow_csv
    import pyarrow.parquet as parquet

    if backend.name == "pyspark" and form == ".parquet":
        return _write_by_spark(backend, rows, path, id_name, id_kind, names)
    nothing, found = stream(backend, rows)
    batches = (_rename_id(_cast_id(batch, id_kind), id_name) for batch in found)
    empty = _rename_id(_cast_id(nothing, id_kind), id_name)
    if form == ".parquet":
        with parquet.ParquetWriter(path, empty.schema) as writer:
            return _write_all(writer, batches, names)
    with arrow_csv.CSVWriter(path, defuse_formulas(empty).schema) as writer:
        return _write_all(writer, map(defuse_formulas, batches), names)


def tally_risks(tables: Iterable[Any], names: Sequence[str] = RISK_COLUMNS) -> Any:
    """Count the rows of each cell size, leakage and posterior, in order: an Arrow table with a column "n".

    Rows that stand for several have a column "n" too.
    """
    import pyarrow as pa

    parts: list[Any] = []
    for table in tables:
        counted = table if "n" in table.column_names else table.append_column("n", pa.repeat(1, len(table)))
        parts.append(_add_up(counted, names))
        if len(parts) >= _PARTS:
            parts = [_add_up(pa.concat_tables(parts), names)]
    if not parts:
        return None
    return _add_up(pa.concat_tables(parts), names).sort_by([(name, "ascending") for name in names])


def _add_up(table: Any, names: Sequence[str]) -> Any:
    found = table.group_by(names, use_threads=False).aggregate([("n", "sum")])
    return found.rename_columns([*found.column_names[:-1], "n"]).select([*names, "n"])


def _write_all(writer: Any, batches: Iterator[Any], names: Sequence[str]) -> Any:
    def write_each() -> Iterator[Any]:
        for table in batches:
            if table["cell_size"].null_count:
                raise InvalidInput("the table has changed since it was counted; audit it again.")
            writer.write_table(table)
            yield table

    return tally_risks(write_each(), names)


def _write_by_spark(
    backend: Any, rows: Any, path: Path, id_name: str | None, id_kind: Kind | None, names: Sequence[str]
) -> Any:
    """Let Spark write a folder of Parquet files, so that no row passes through this process but to be counted."""
    import pyarrow as pa
    import pyarrow.dataset as dataset

    if id_name is not None:
        identity = rows["id"].cast("int64") if id_kind == "integer" else rows["id"]
        rows = rows.select(
            **{id_name: identity}, **{name: rows[name] for name in rows.columns if name != "id"}
        )
    backend.to_parquet(rows, path)
    batches = dataset.dataset(path, format="parquet").to_batches(columns=list(names))
    return tally_risks((pa.Table.from_batches([batch]) for batch in batches), names)


def _cast_id(table: Any, id_kind: Kind | None) -> Any:
    import pyarrow as pa

    if id_kind != "integer":
        return table
    return table.set_column(0, "id", table["id"].cast(pa.int64()))


def _rename_id(table: Any, id_name: str | None) -> Any:
    return table if id_name is None else table.rename_columns([id_name, *table.column_names[1:]])


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
    path = _risk_path(path, id_column)
    table = table.under(policy)
    with whole_file(path, force=force, private=True) as partial:
        lookup = _lookup(table, policy, risks, max_cells)
        numbered = table.in_order()
        identity = _identity(numbered, policy, id_column, risks.counts.total)
        joined = _join_rows(numbered, keys_of(numbered, policy), lookup, identity)
        with engine_work(table.name, "joined with its risks"):
            written = write_batches(
                table.backend,
                joined,
                partial,
                id_column,
                identity[1] if identity else None,
                path.suffix.lower(),
            )
        table.require_unchanged()
        if written is None or not written.equals(_expected_tally(risks)):
            raise refuse_changed(table)


def _risk_path(path: str | Path, id_column: str | None) -> Path:
    if id_column is not None:
        instance(id_column, str, "id_column", "name a column by text")
    path = arguments.path(path, "path")
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise InvalidInput(f"risk file must end with .csv or .parquet, got {quoted(str(path))}.")
    return path


@dataclass(frozen=True, slots=True, eq=False)
class KindRisks:
    """What was found for the kinds of cells that the engine counted, about some secret columns.

    Attributes
    ----------
    name : of the secret; None where it is the only one
    query : the cells in the engine
    counts : a row for each kind and a column for each group of secret values, of one cell
    size, leakage : people in what is released of one cell of each kind, and its leakage in nats, upper ends; NaN where
        the secret applies to nobody in it
    posterior : for each kind and group the probability of the own secret, NaN where the secret does not apply
    cells : how many cells there are of each kind
    held : how many people have each secret, of those to whom it applies, in rising order
    """

    name: str | None
    query: CellQuery
    counts: NDArray[np.int64]
    size: NDArray[np.int64]
    leakage: NDArray[np.float64]
    posterior: NDArray[np.float64]
    cells: NDArray[np.int64]
    held: tuple[int, ...]

    @property
    def columns(self) -> tuple[str, str, str]:
        """The names of what is written."""
        more = "" if self.name is None else f"_{self.name}"
        return "cell_size", f"leakage_nats{more}", f"posterior{more}"


def write_kind_risks(
    table: Table,
    policy: Policy,
    found: Sequence[KindRisks],
    path: str | Path,
    *,
    id_column: str | None = None,
    force: bool = False,
) -> None:
    """Write the risk of every row about each secret: everything is joined by the engine, whatever the number of cells.

    See `write_risks` for the rest. People to whom a secret does not apply have no risk about it.

    Raises
    ------
    InvalidInput
        When the file exists and force is not set, ids are needed, or the table changed since it was counted.
    """
    path = _risk_path(path, id_column)
    rows = table.under(policy)
    with whole_file(path, force=flag(force, "force"), private=True) as partial:
        numbered = rows.in_order()
        identity = _identity(numbered, policy, id_column, int(found[0].query.secrets.count.sum()))
        joined = _join_kinds(numbered, policy, found, identity)
        with engine_work(table.name, "joined with its risks"):
            names = list(dict.fromkeys(name for own in found for name in own.columns))
            kind = identity[1] if identity else None
            written = write_batches(
                table.backend, joined, partial, id_column, kind, path.suffix.lower(), names
            )
        rows.require_unchanged()
        if written is None or not all(_agrees(written, own) for own in found):
            raise refuse_changed(table)


def _agrees(written: Any, found: KindRisks) -> bool:
    """Whether as many rows were written with each leakage as were counted."""
    held: dict[float | None, int] = {}
    people = found.counts.sum(axis=1) * found.cells
    for leakage, count in zip(found.leakage.tolist(), people.tolist(), strict=True):
        key = None if np.isnan(leakage) else leakage
        held[key] = held.get(key, 0) + count
    told: dict[float | None, int] = {}
    for leakage, count in zip(written[found.columns[1]].to_pylist(), written["n"].to_pylist(), strict=True):
        told[leakage] = told.get(leakage, 0) + count
    return held == told


def _join_kinds(table: Table, policy: Policy, found: Sequence[KindRisks], identity: _Identity) -> Any:
    """The results of every row about each secret, in order."""
    import ibis

    keys = {key.column: key for key in keys_of(table, policy)}
    names = [f"k{place}" for place in range(len(policy.release))]
    chosen = {name: keys[item.column].expression for name, item in zip(names, policy.release, strict=True)}
    for number, own in enumerate(found):
        held = [keys[key.column].expression for key in own.query.held]
        groups = range(len(own.query.secrets.count))
        tests = [(has_secret(held, own.query.secrets, place), place) for place in groups]
        chosen[f"g{number}"] = ibis.cases(*tests)
    more = _more_columns(identity)
    place = table.ordered_by if table.ordered_by is not None else identity[0] if identity else None
    rows = table.select(chosen | more | ({} if place is None else {"place": place}))
    whole = without_gaps(rows, names)
    joined = rows.select(**whole, **{name: rows[name] for name in rows.columns if name not in names})
    kept = list(joined.columns)
    for number, own in enumerate(found):
        lookup = _kinds_lookup(own, names)
        groups = range(len(own.query.secrets.count))
        joined = joined.left_join(lookup, [joined[name] == lookup[name] for name in whole])
        size, leakage, posterior = own.columns
        told = {
            leakage: joined["leakage"],
            posterior: ibis.cases(*[(joined[f"g{number}"] == at, joined[f"p{at}"]) for at in groups]),
        }
        told |= {size: joined["size"]} if not number else {}
        joined = joined.select(*kept, **told)
        kept += [*told]
    ordered = joined if place is None else joined.order_by(joined["place"])
    return ordered.select(*more, *dict.fromkeys(name for own in found for name in own.columns))


def _kinds_lookup(own: KindRisks, names: Sequence[str]) -> Any:
    """The cells with what was found for their kinds; keys without missing values."""
    import ibis
    import pyarrow as pa

    cells = own.query.cells()
    columns: dict[str, NDArray[Any]] = {
        name: own.counts[:, place] for place, name in enumerate(own.query.counted)
    }
    columns |= {"size": own.size, "leakage": own.leakage}
    columns |= {f"p{place}": own.posterior[:, place] for place in range(own.posterior.shape[1])}
    arrow = pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})
    kinds = ibis.memtable(arrow)
    joined = cells.inner_join(kinds, [cells[name] == kinds[name] for name in own.query.counted])
    wanted = ["size", "leakage", *(name for name in columns if name.startswith("p"))]
    return joined.select(**without_gaps(joined, names), **{name: joined[name] for name in wanted})


_Identity = tuple[Any, Kind] | None


def refuse_changed(table: Table) -> InvalidInput:
    """Say that a table is not the one that was counted."""
    return InvalidInput(f"{table.name} has changed since it was counted; audit it again.")


def _expected_tally(risks: CellRisks) -> Any:
    """How many rows must have each risk: what is written agrees with what was counted, however the engine got there."""
    import pyarrow as pa

    counts = risks.counts
    cell = counts.cell_of
    columns = (counts.sizes()[cell], risks.leakage[cell], risks.posterior, counts.count)
    names = [*RISK_COLUMNS, "n"]
    return tally_risks([pa.table([pa.array(column) for column in columns], names=names)])


def _lookup(table: Table, policy: Policy, risks: CellRisks, max_cells: int) -> Any:
    """The groups of the table with what was found for them, as a small table to join with."""
    import ibis
    import pyarrow as pa

    groups = count_groups(table, keys_of(table, policy), max_cells * GROUPS_PER_CELL)
    counts, triple_of = cells_of_groups(groups, policy, max_cells)
    if not counts.same_as(risks.counts):
        raise refuse_changed(table)
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
            distinct = table.fetch(table.select({"i": column}).aggregate(n=lambda t: t["i"].nunique()))
        if distinct["n"][0].as_py() != total:
            raise InvalidInput(
                f"id_column must have a distinct value in every row, got {quoted(id_column)} with "
                f"{format_count(distinct['n'][0].as_py())} values in {format_count(total)} rows; "
                f"{table.name} keeps no other order."
            )
    return column, kind


def _join_rows(table: Table, keys: Sequence[Key], lookup: Any, identity: _Identity) -> Any:
    """The results of every row, in order."""
    place = table.ordered_by if table.ordered_by is not None else identity[0] if identity else None
    return join_groups(table, keys, lookup, _more_columns(identity), RISK_COLUMNS, place)


def _more_columns(identity: _Identity) -> dict[str, Any]:
    if not identity:
        return {}
    column, kind = identity
    # whole numbers travel as text: some engines' ways to Python turn them into floats where some miss
    return {"id": column.cast("string") if kind == "integer" else column}
