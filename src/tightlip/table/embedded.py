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

from tightlip.table.failure import load_ibis
from tightlip.table.names import ROW

_QUIET = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}


def connect_memory() -> Any:
    """A database in memory, to read files and frames with."""
    return _connect(":memory:", preserve_insertion_order=True, temp_directory="")


def connect_file(path: Path) -> Any:
    """A database file, only to be read; its views may read no other file and no address."""
    backend = _connect(path, read_only=True)
    # DuckDB keeps one instance for all connections to a file, and refuses the first once the second is set
    (folder,) = backend.con.execute("SELECT current_setting('temp_directory')").fetchone()
    if folder:
        backend.con.execute("SET temp_directory = ''")
    backend.con.execute("SET enable_external_access = false")
    return backend


def _connect(database: Path | str, **settings: Any) -> Any:
    return load_ibis().duckdb.connect(database, **_QUIET, **settings)


def connect_sqlite(path: Path) -> Any:
    """A SQLite file, whose groups and sorts stay in memory."""
    backend = load_ibis("sqlite").sqlite.connect(path)
    backend.con.execute("PRAGMA temp_store = MEMORY")
    return backend


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
