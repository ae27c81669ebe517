"""Stream the rows of a table, each with what was found for its group, a batch at a time in the order of the input."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from tightlip.table.counts import Key, without_gaps
from tightlip.table.source import Table

BATCH = 100_000  # rows in memory at a time; smaller batches would be slower by their number
_FORMULA = "^[=+\\-@\t\r\n]"
_NEGATIVE = r"^-[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?$"  # a number, which does no harm


def join_groups(
    table: Table, keys: Sequence[Key], lookup: Any, more: Mapping[str, Any], found: Sequence[str], place: Any
) -> Any:
    """Join every row with the row of its group in a small table; as an Ibis table.

    Parameters
    ----------
    table, keys : the table of a policy, and as `keys_of` lists them
    lookup : Ibis table of the groups, with the keys as `count_groups` has them
    more : further columns of each row, as Ibis expressions
    found : the columns of `lookup` that are wanted
    place : an Ibis expression that rows are sorted by; None where they have no order
    """
    names = [f"k{number}" for number in range(len(keys))]
    chosen = {name: key.expression for name, key in zip(names, keys, strict=True)} | dict(more)
    if place is not None:
        chosen["place"] = place
    rows = table.select(chosen)
    whole = without_gaps(rows, names)
    rows = rows.select(**whole, **{name: rows[name] for name in chosen if name not in names})
    joined = rows.left_join(lookup, [rows[name] == lookup[name] for name in whole])
    ordered = joined if place is None else joined.order_by(joined["place"])
    return ordered.select(*more, *found)


def stream(backend: Any, rows: Any) -> tuple[Any, Iterator[Any]]:
    """An Arrow table of no row but the columns of an Ibis table, and its rows as Arrow tables of some size."""
    # DuckDB before 1.5.5 can crash on LIMIT 0 where it does not propagate statistics; SQLite needs it to see the lookup
    known = backend.name == "duckdb"
    nothing = rows.schema().to_pyarrow().empty_table() if known else backend.to_pyarrow(rows.limit(0))
    return nothing, _batches(backend, rows, nothing.schema)


def _batches(backend: Any, rows: Any, schema: Any) -> Iterator[Any]:
    """The rows as Arrow tables of some size; from SQLite and Spark Ibis would fetch all of them at once.

    What `rows` is joined with is known to the engine since it told the schema.
    """
    import pyarrow as pa

    if backend.name not in ("sqlite", "pyspark"):
        with backend.to_pyarrow_batches(rows, chunk_size=BATCH) as reader:
            yield from (pa.Table.from_batches([batch]) for batch in reader)
        return
    found = backend.raw_sql(backend.compile(rows))
    records = iter(found if backend.name == "sqlite" else found.toLocalIterator())
    while batch := list(islice(records, BATCH)):
        columns = zip(*batch, strict=True)
        yield pa.table(
            [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)],
            schema=schema,
        )


def defuse_formulas(table: Any) -> Any:
    """Text that a spreadsheet would run as a formula, with an apostrophe in front; names of columns too."""
    import pyarrow as pa
    import pyarrow.compute as compute

    for place, name in enumerate(table.column_names):
        column = table.column(place)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            safe = compute.replace_substring_regex(column, pattern=_FORMULA, replacement=r"'\0")
            safe = compute.if_else(compute.match_substring_regex(column, _NEGATIVE), column, safe)
            table = table.set_column(place, name, safe)
    names = [f"'{name}" if re.match(_FORMULA, name) else name for name in table.column_names]
    return table.rename_columns(names)
