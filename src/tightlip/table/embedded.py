"""Engines as files and frames are read with: nothing is fetched, and no row of a table is put on disk.

DuckDB would write what does not fit in memory to temporary files. It can encrypt them (`temp_file_encryption`, since
1.4), but not with the cryptography that comes with it: writing needs the extension httpfs, which would have to be
fetched, or `force_mbedtls_unsafe`, whose keys are drawn from a generator that is not secret. So there are no such
files. Counts need memory for the cells alone; a risk file needs about 100 bytes a row for the time of the sort.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from tightlip.errors import InvalidInput
from tightlip.table.failure import load_ibis
from tightlip.table.names import ROW

ATTACHED = "attached"
# Short cuts by which DuckDB would believe what a file says of its own values: that none is missing, none larger than
# some, or none fits a filter. Whoever wrote the file may have lied.
_BELIEVING = "statistics_propagation,filter_pushdown,join_filter_pushdown"
_SETTINGS = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "disabled_optimizers": _BELIEVING,
    "preserve_insertion_order": True,
    "temp_directory": "",
}


def connect_memory() -> Any:
    """A database in memory, to read files and frames with."""
    return load_ibis().duckdb.connect(":memory:", **_SETTINGS)


def connect_file(path: Path) -> Any:
    """A database file, only to be read, attached beside a database of our own; it is called `ATTACHED` there.

    Functions and operators are looked up in ours, so that no macro of the file takes the place of one. No other file
    and no address is read.

    Raises
    ------
    InvalidInput
        When changes wait in a log beside the file: of a log that is cut or damaged DuckDB leaves rows out silently.
    """
    log = Path(f"{path}.wal")
    if log.exists():
        raise InvalidInput(
            f"{path} cannot be read alone: changes wait in {log.name} beside it; open it with DuckDB and run "
            "CHECKPOINT, then audit it."
        )
    backend = connect_memory()
    where = str(path.absolute()).replace("'", "''")
    backend.raw_sql(f"ATTACH '{where}' AS {ATTACHED} (TYPE duckdb, READ_ONLY)")
    backend.raw_sql("SET enable_external_access = false")
    return backend


def distrust(backend: Any) -> None:
    """Switch the short cuts off in a DuckDB connection from outside too: its tables may be views of Parquet files."""
    before = backend.con.execute("SELECT current_setting('disabled_optimizers')").fetchone()[0]
    backend.con.execute(f"SET disabled_optimizers = '{','.join(filter(None, (before, _BELIEVING)))}'")


def neutral_view(backend: Any, found: Any, names: Collection[str]) -> tuple[Any, Any]:
    """What was found in a file under neutral names, and the same with the place of each row.

    DuckDB promises that `row_number()` with an empty OVER clause follows the order of a file's rows while
    `preserve_insertion_order` is set (its page "Order preservation"); Ibis would put a frame into that clause.
    Rows are numbered one after the other, so counts, which need no numbers, are made without.
    """
    columns = ", ".join(names)
    backend.raw_sql(f"CREATE TEMP VIEW found AS SELECT * FROM {found.get_name()} AS file({columns})")
    backend.raw_sql(f"CREATE TEMP VIEW numbered AS SELECT *, row_number() OVER () AS {ROW} FROM found")
    return backend.table("found"), backend.table("numbered")
