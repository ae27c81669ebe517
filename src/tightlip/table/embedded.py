"""DuckDB as files and frames are read with: nothing is fetched, and rows that do not fit in memory stay private."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

from tightlip.table.failure import load_ibis
from tightlip.table.names import ROW

_QUIET = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}


def connect_memory() -> Any:
    """A database in memory, to read files and frames with."""
    return _connect(":memory:", preserve_insertion_order=True)


def connect_file(path: Path) -> Any:
    """A database file, only to be read; its views may read no other file and no address."""
    return _connect(path, read_only=True, enable_external_access=False)


def _connect(database: Path | str, **settings: Any) -> Any:
    return load_ibis().duckdb.connect(database, **_QUIET, **settings, temp_directory=_private_folder())


@cache
def _private_folder() -> str:
    """Where DuckDB puts what does not fit in memory: nobody else can open it, and it goes when the program ends.

    One for all connections, as those to one file must be alike.
    """
    folder = tempfile.mkdtemp(prefix="tightlip-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


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
