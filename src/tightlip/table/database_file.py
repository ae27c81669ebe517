"""Database files: an audit reads rows that are stored in one, and runs nothing that the file brings.

A view or a generated column is a query of whoever wrote the file. It can tell an audit from other readers, by the
settings or functions that it finds, and can give other rows at each reading; so it is refused. Macros are never called:
a DuckDB file is attached beside a database of our own (see `embedded`), in which all functions are looked up. SQLite
answers some queries from an index alone, and believes UNIQUE and NOT NULL, so that these must fit the rows.
"""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import Any

from tightlip.errors import InvalidInput
from tightlip.table.embedded import ATTACHED
from tightlip.table.failure import load_ibis

_QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""")
_OLDEST = (3, 37)  # which can tell tables from views


class _Snapshot(sqlite3.Connection):
    """A connection that stays in the transaction it began: Ibis commits after each of its steps."""

    def commit(self) -> None:
        """Stay."""

    def rollback(self) -> None:
        """Stay."""


def connect_sqlite(path: Path) -> Any:
    """A SQLite file in one read transaction: all that is read is of one moment, and nothing is written.

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
        raise _computed(name, "a view")
    # DuckDB writes this text itself, so that outside of names a generated column is always told by these words
    if "GENERATED ALWAYS AS" in _QUOTED.sub("", found[0]).upper():
        raise _computed(name, "a table with generated columns")


def _require_stored_sqlite(connection: Any, table: str, name: str) -> None:
    query = "SELECT type FROM pragma_table_list WHERE schema = 'main' AND name = ?"
    if connection.execute(query, [table]).fetchone() != ("table",):
        raise _computed(name, "a view")
    if connection.execute("SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden > 1", [table]).fetchone():
        raise _computed(name, "a table with generated columns")
    problems = connection.execute("SELECT * FROM pragma_integrity_check(?)", [table]).fetchall()
    if problems != [("ok",)]:
        raise InvalidInput(
            f"{name} is damaged: its rows do not fit its indexes or its declaration; "
            "see what PRAGMA integrity_check says of it, or copy the rows to a new file."
        )


def _computed(name: str, what: str) -> InvalidInput:
    return InvalidInput(
        f"{name} must be a table of stored rows, got {what}, which the file computes anew for each reader; "
        "copy it to a table: CREATE TABLE … AS SELECT * FROM …"
    )
