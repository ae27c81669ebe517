"""A stream of rows into a CSV or Parquet file, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tightlip.errors import InvalidInput
from tightlip.table.kinds import Kind

_BATCH = 100_000
_FORMULA = "^[=+\\-@\t\r]"


def write_batches(
    backend: Any, rows: Any, path: Path, id_name: str | None, id_kind: Kind | None, form: str
) -> int:
    """Write an Ibis table of risks; returns the number of rows.

    Parameters
    ----------
    rows : Ibis table, of which the column "id", if any, takes the name `id_name`
    form : ".csv" or ".parquet"
    """
    import pyarrow.csv as arrow_csv
    import pyarrow.parquet as parquet

    if backend.name == "pyspark" and form == ".parquet":
        return _write_by_spark(backend, rows, path, id_name, id_kind)
    with backend.to_pyarrow_batches(rows, chunk_size=_BATCH) as reader:
        batches = (_named(_typed(batch, id_kind), id_name) for batch in reader)
        empty = _named(_typed(reader.schema.empty_table(), id_kind), id_name)
        if form == ".parquet":
            with parquet.ParquetWriter(path, empty.schema) as writer:
                return _write_all(writer, batches)
        with arrow_csv.CSVWriter(path, _defused(empty).schema) as writer:
            return _write_all(writer, map(_defused, batches))


def _write_all(writer: Any, batches: Iterator[Any]) -> int:
    written = 0
    for table in batches:
        if table["cell_size"].null_count:
            raise InvalidInput("the table has changed since it was counted; audit it again.")
        writer.write_table(table)
        written += table.num_rows
    return written


def _write_by_spark(backend: Any, rows: Any, path: Path, id_name: str | None, id_kind: Kind | None) -> int:
    """Let Spark write a folder of Parquet files, so that no row passes through this process."""
    import pyarrow.dataset as dataset

    if id_name is not None:
        identity = rows["id"].cast("int64") if id_kind == "integer" else rows["id"]
        rows = rows.select(
            **{id_name: identity}, **{name: rows[name] for name in rows.columns if name != "id"}
        )
    backend.to_parquet(rows, path)
    written = dataset.dataset(path, format="parquet")
    missing = written.count_rows(filter=dataset.field("cell_size").is_null())
    return int(written.count_rows()) - int(missing)


def _typed(batch: Any, id_kind: Kind | None) -> Any:
    import pyarrow as pa

    table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
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
    names = [f"'{name}" if name[:1] in "=+-@\t\r" and name else name for name in table.column_names]
    return table.rename_columns(names)
