"""Connect to the engines that files and frames are read with: nothing is fetched, and no row of a table is put on disk.

DuckDB would write what does not fit in memory to temporary files. It can encrypt them (`temp_file_encryption`, since
1.4), but not with the cryptography that comes with it: writing needs the extension httpfs, which would have to be
fetched, or `force_mbedtls_unsafe`, whose keys are drawn from a generator that is not secret. So there are no such
files. Counts need memory for the cells alone; a risk file needs about 100 bytes a row for the time of the sort.

Columns of files and frames get neutral names, so that none of theirs can clash, be cut, or be taken for SQL.

Of a database file an audit reads rows that are stored in it, and runs nothing that the file brings. A view or a
generated column is a query of whoever wrote the file. It can tell an audit from other readers, by the settings or
functions that it finds, and can give other rows at each reading; so it is refused. Macros are never called: a DuckDB
file is attached beside a database of our own, in which all functions are looked up. SQLite answers some queries from an
index alone, and believes UNIQUE and NOT NULL, so that these must fit the rows.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from tightlip.errors import InvalidInput, quoted
from tightlip.table.failure import load_ibis

ROW = "row"  # the place of a row in its file or frame
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
_QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""")
_OLDEST = (3, 37)  # which can tell tables from views


def neutral_names(names: Sequence[str], table: str) -> dict[str, str]:
    """Map users' names to those that the engine knows the columns by: c0, c1, ….

    Raises
    ------
    InvalidInput
        When a name is there twice.

    >>> neutral_names(["age", "Age"], "people.csv")
    {'age': 'c0', 'Age': 'c1'}
    """
    found: dict[str, str] = {}
    for place, name in enumerate(names):
        if name in found:
            raise InvalidInput(
                f"{table} must have each column name once, got {quoted(name)} twice; rename one."
            )
        found[name] = f"c{place}"
    return found


def connect_memory() -> Any:
    """Connect to a database in memory, to read files and frames with."""
    return load_ibis().duckdb.connect(":memory:", **_SETTINGS)


def connect_file(path: Path) -> Any:
    """Attach a database file, only to be read, beside a database of our own; it is called `ATTACHED` there.

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
    """View what was found in a file under neutral names, and the same with the place of each row.

    DuckDB promises that `row_number()` with an empty OVER clause follows the order of a file's rows while
    `preserve_insertion_order` is set (its page "Order preservation"); Ibis would put a frame into that clause.
    Rows are numbered one after the other, so counts, which need no numbers, are made without.
    """
    columns = ", ".join(names)
    backend.raw_sql(f"CREATE TEMP VIEW found AS SELECT * FROM {found.get_name()} AS file({columns})")
    backend.raw_sql(f"CREATE TEMP VIEW numbered AS SELECT *, row_number() OVER () AS {ROW} FROM found")
    return backend.table("found"), backend.table("numbered")


class _Snapshot(sqlite3.Connection):
    """A connection that stays in the transaction it began: Ibis commits after each of its steps."""

    def commit(self) -> None:
        """Stay."""

    def rollback(self) -> None:
        """Stay."""


def connect_sqlite(path: Path) -> Any:
    """Open a SQLite file in one read transaction: all that is read is of one moment, and nothing is written.

    Raises
    ------
    InvalidInput
        When a program was ended while it wrote to the file: reading would need its changes to be rolled back.
    """
    ibis = load_ibis("sqlite")
    if sqlite3.sqlite_version_info < _OLDEST:
        raise InvalidInput(
            f"{path} needs SQLite {'.'.join(map(str, _OLDEST))} or newer, got {sqlite3.sqlite_version}; "
            "use a newer Python."
        )
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, factory=_Snapshot)
    try:
        backend = ibis.sqlite.from_connection(connection)
        connection.execute("PRAGMA trusted_schema = OFF")
        # groups and sorts stay in memory: no row is put on disk
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.Error as error:
        connection.close()
        if getattr(error, "sqlite_errorname", "") == "SQLITE_READONLY_ROLLBACK":
            raise InvalidInput(
                f"{path} cannot be read: a program was ended while it wrote to it; open it with that program or with "
                "sqlite3, which takes the unfinished changes back, then audit it."
            ) from error
        raise
    return backend


def require_stored(backend: Any, table: str, name: str) -> None:
    """Refuse a table of a database file whose rows are not simply stored there; `name` is what messages call it."""
    (_require_stored_sqlite if backend.name == "sqlite" else _require_stored_duckdb)(backend.con, table, name)


def _require_stored_duckdb(connection: Any, table: str, name: str) -> None:
    query = (
        "SELECT sql FROM duckdb_tables() WHERE database_name = ? AND schema_name = 'main' AND table_name = ?"
    )
    found = connection.execute(query, [ATTACHED, table]).fetchone()
    if found is None:
        raise _refuse_computed(name, "a view")
    # DuckDB writes this text itself, so that outside of names a generated column is always told by these words
    if "GENERATED ALWAYS AS" in _QUOTED.sub("", found[0]).upper():
        raise _refuse_computed(name, "a table with generated columns")


def _require_stored_sqlite(connection: Any, table: str, name: str) -> None:
    query = "SELECT type FROM pragma_table_list WHERE schema = 'main' AND name = ?"
    if connection.execute(query, [table]).fetchone() != ("table",):
        raise _refuse_computed(name, "a view")
    if connection.execute("SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden > 1", [table]).fetchone():
        raise _refuse_computed(name, "a table with generated columns")
    problems = connection.execute("SELECT * FROM pragma_integrity_check(?)", [table]).fetchall()
    if problems != [("ok",)]:
        raise InvalidInput(
            f"{name} is damaged: its rows do not fit its indexes or its declaration; "
            "see what PRAGMA integrity_check says of it, or copy the rows to a new file."
        )


def _refuse_computed(name: str, what: str) -> InvalidInput:
    return InvalidInput(
        f"{name} must be a table of stored rows, got {what}, which the file computes anew for each reader; "
        "copy it to a table: CREATE TABLE … AS SELECT * FROM …"
    )
