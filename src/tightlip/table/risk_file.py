"""A stream of rows into a CSV or Parquet file, a batch at a time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from tightlip.errors import InvalidInput
from tightlip.table.kinds import Kind

RISK_COLUMNS = ("cell_size", "leakage_nats", "posterior")
_BATCH = 100_000
_PARTS = 50  # tallies of batches in memory, before they are added up
_FORMULA = "^[=+\\-@\t\r\n]"


def write_batches(
    backend: Any, rows: Any, path: Path, id_name: str | None, id_kind: Kind | None, form: str
) -> Any:
    """Write an Ibis table of risks; returns how many rows have each risk, as `tally_risks` does.

    Parameters
    ----------
    rows : Ibis table, of which the column "id", if any, takes the name `id_name`
    form : ".csv" or ".parquet"
    """
    import pyarrow.csv as arrow_csv
    import pyarrow.parquet as parquet

    if backend.name == "pyspark" and form == ".parquet":
        return _write_by_spark(backend, rows, path, id_name, id_kind)
    # DuckDB before 1.5.5 can crash on LIMIT 0 where it does not propagate statistics; SQLite needs it to see the risks
    known = backend.name == "duckdb"
    nothing = rows.schema().to_pyarrow().empty_table() if known else backend.to_pyarrow(rows.limit(0))
    batches = (_named(_typed(batch, id_kind), id_name) for batch in _batches(backend, rows, nothing.schema))
    empty = _named(_typed(nothing, id_kind), id_name)
    if form == ".parquet":
        with parquet.ParquetWriter(path, empty.schema) as writer:
            return _write_all(writer, batches)
    with arrow_csv.CSVWriter(path, _defused(empty).schema) as writer:
        return _write_all(writer, map(_defused, batches))


def _batches(backend: Any, rows: Any, schema: Any) -> Iterator[Any]:
    """The rows as Arrow tables of some size; from SQLite and Spark Ibis would fetch all of them at once.

    What `rows` is joined with is known to the engine since it told the schema.
    """
    import pyarrow as pa

    if backend.name not in ("sqlite", "pyspark"):
        with backend.to_pyarrow_batches(rows, chunk_size=_BATCH) as reader:
            yield from (pa.Table.from_batches([batch]) for batch in reader)
        return
    found = backend.raw_sql(backend.compile(rows))
    records = iter(found if backend.name == "sqlite" else found.toLocalIterator())
    while batch := list(islice(records, _BATCH)):
        columns = zip(*batch, strict=True)
        yield pa.table(
            [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)],
            schema=schema,
        )


def tally_risks(tables: Iterable[Any]) -> Any:
    """How many rows have each cell size, leakage and posterior, in order: an Arrow table with a column "n".

    Rows that stand for several have a column "n" too.
    """
    import pyarrow as pa

    parts: list[Any] = []
    for table in tables:
        counted = table if "n" in table.column_names else table.append_column("n", pa.repeat(1, len(table)))
        parts.append(_added_up(counted))
        if len(parts) >= _PARTS:
            parts = [_added_up(pa.concat_tables(parts))]
    if not parts:
        return None
    return _added_up(pa.concat_tables(parts)).sort_by([(name, "ascending") for name in RISK_COLUMNS])


def _added_up(table: Any) -> Any:
    found = table.group_by(RISK_COLUMNS, use_threads=False).aggregate([("n", "sum")])
    return found.rename_columns([*found.column_names[:-1], "n"]).select([*RISK_COLUMNS, "n"])


def _write_all(writer: Any, batches: Iterator[Any]) -> Any:
    def written() -> Iterator[Any]:
        for table in batches:
            if table["cell_size"].null_count:
                raise InvalidInput("the table has changed since it was counted; audit it again.")
            writer.write_table(table)
            yield table

    return tally_risks(written())


def _write_by_spark(backend: Any, rows: Any, path: Path, id_name: str | None, id_kind: Kind | None) -> Any:
    """Let Spark write a folder of Parquet files, so that no row passes through this process but to be counted."""
    import pyarrow as pa
    import pyarrow.dataset as dataset

    if id_name is not None:
        identity = rows["id"].cast("int64") if id_kind == "integer" else rows["id"]
        rows = rows.select(
            **{id_name: identity}, **{name: rows[name] for name in rows.columns if name != "id"}
        )
    backend.to_parquet(rows, path)
    batches = dataset.dataset(path, format="parquet").to_batches(columns=list(RISK_COLUMNS))
    return tally_risks(pa.Table.from_batches([batch]) for batch in batches)


def _typed(table: Any, id_kind: Kind | None) -> Any:
    import pyarrow as pa

    if id_kind != "integer":
        return table
    return table.set_column(0, "id", table["id"].cast(pa.int64()))


def _named(table: Any, id_name: str | None) -> Any:
    return table if id_name is None else table.rename_columns([id_name, *table.column_names[1:]])


def _defused(table: Any) -> Any:
    """Text that a spreadsheet would run as a formula, with an apostrophe in front; names of columns too."""
    import pyarrow as pa
    import pyarrow.compute as compute

    for place, name in enumerate(table.column_names):
        column = table.column(place)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            safe = compute.replace_substring_regex(column, pattern=_FORMULA, replacement=r"'\0")
            table = table.set_column(place, name, safe)
    names = [f"'{name}" if re.match(_FORMULA, name) else name for name in table.column_names]
    return table.rename_columns(names)
