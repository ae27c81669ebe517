"""A new Postgres table as the form of a release: made, filled and read back in one transaction.

Tables of SQL have no order. Rows are put in, and read back, in the order of the input; the digest is of the rows in
the order of their values, so that a table is known again wherever a server moves its rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from tightlip.errors import InvalidInput, quoted
from tightlip.table.failure import engine_work, load_ibis
from tightlip.table.forms import UNSAFE, Form, as_table
from tightlip.table.rereading import Digests
from tightlip.table.rows import BATCH
from tightlip.table.source import database_name

_TYPES = {"string": "text", "int64": "bigint", "double": "double precision"}
_OIDS = {25: "string", 20: "int64", 701: "double"}  # Postgres's numbers of these types
_LONGEST = 63  # bytes of a name, of which Postgres would silently drop the rest


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A table in a transaction: the connection, what SQL and what messages call the table."""

    connection: Any
    table: Any
    name: str

    def execute(self, text: str, **parts: Any) -> Any:
        """Run a statement about the table."""
        from psycopg import sql

        return self.connection.execute(sql.SQL(text).format(table=self.table, **parts))

    def create(self, columns: Any) -> None:
        """Make the table; a name that is taken is refused."""
        from psycopg import errors, sql

        try:
            self.execute("CREATE TABLE {table} ({columns})", columns=sql.SQL(", ").join(columns))
        except errors.DuplicateTable as error:
            raise InvalidInput(
                f"{self.name} exists already, and tables are not overwritten; drop it first, or choose another name: "
                "--out-table, out_table=."
            ) from error

    @contextmanager
    def work(self, done: str = "written") -> Iterator[None]:
        """Turn what Postgres raises into one line; it may quote values, so its words are not told."""
        import psycopg

        try:
            yield
        except psycopg.Error as error:
            raise InvalidInput(
                f"{self.name} cannot be {done}: its database failed ({type(error).__name__}); check that it can be "
                "reached and has room, that you may make tables, and that it takes such values."
            ) from error

    def commit(self) -> None:
        """Keep the table.

        Raises
        ------
        InvalidInput
            When the answer does not come; whether the table is there, only the database then knows.
        """
        import psycopg

        try:
            self.connection.commit()
        except psycopg.Error as error:
            raise InvalidInput(
                f"{self.name} was written, and its database did not say whether it was kept ({type(error).__name__}); "
                "look for it, and drop it if it is there."
            ) from error


def table_name(url: str, table: str) -> str:
    """Call a table by its name and that of its database."""
    return f"{quoted(table)} of Postgres database {quoted(database_name(url) or 'default')}"


def require_name(name: str, what: str) -> None:
    """Refuse what Postgres takes for no name, or would cut."""
    size = len(name.encode(errors="replace"))
    if not 0 < size <= _LONGEST or "\0" in name or any("\ud800" <= letter <= "\udfff" for letter in name):
        raise InvalidInput(
            f"{what} must be a name of 1 to {_LONGEST} bytes for Postgres, got {quoted(name)} of {size}; "
            "rename it, or write Parquet."
        )


@contextmanager
def draft_table(url: str, table: str) -> Iterator[Draft]:
    """Begin a transaction about a table of the current schema; it is undone unless it is committed."""
    load_ibis("postgres")
    import psycopg
    from psycopg import sql

    require_name(table, "out_table")
    name = table_name(url, table)
    with engine_work(name, "reached"):
        connection = psycopg.connect(url, client_encoding="utf8")
    with closing(connection):
        draft = Draft(connection, None, name)
        with draft.work("reached"):
            connection.execute("SET LOCAL synchronize_seqscans = off")
            found = connection.execute("SELECT current_schema()").fetchone()
        schema = found[0] if found else None
        if schema is None:
            raise InvalidInput(f"{name} must be in a schema, got none; set search_path to one.")
        yield Draft(connection, sql.Identifier(schema, table), name)


class PostgresForm(Form):
    """A table, with the note as its comment."""

    def require_names(self, names: Sequence[str]) -> None:
        """Refuse names that Postgres would cut or not tell apart."""
        super().require_names(names)
        for name in names:
            require_name(name, "column")

    def write(self, draft: Draft, schema: Any, batches: Iterator[Any], note: str | None) -> None:
        """Make the table and fill it."""
        from psycopg import sql

        columns = [
            sql.SQL("{} {}").format(sql.Identifier(field.name), sql.SQL(_TYPES[str(field.type)]))
            for field in schema
        ]
        with draft.work():
            draft.create(columns)
            if note is not None:
                draft.execute("COMMENT ON TABLE {table} IS {note}", note=sql.Literal(f"{UNSAFE}: {note}"))
            command = sql.SQL("COPY {table} FROM STDIN (FORMAT csv)").format(table=draft.table)
            with draft.connection.cursor() as cursor, cursor.copy(command) as copy:
                for batch in batches:
                    copy.write(_csv(batch))

    def read(self, draft: Draft, schema: Any) -> Iterator[Any]:
        """Read the rows in the order in which they were put in."""
        from psycopg import sql

        return _rows(draft, schema, sql.SQL(""))

    def contents(self, draft: Draft) -> list[str]:
        """Name the columns, in order."""
        return [column.name for column in draft.execute("SELECT * FROM {table} LIMIT 0").description]

    def digest(self, draft: Draft) -> str:
        """Hash names, types and rows, these in the order of their values."""
        import pyarrow as pa
        from psycopg import sql

        with draft.work("read"):
            found = draft.execute("SELECT * FROM {table} LIMIT 0").description
        types = [_OIDS.get(column.type_code, "none of a release") for column in found]
        hashes = Digests(len(found))
        if {*types} <= {*_OIDS.values()}:
            named = list(zip([column.name for column in found], types, strict=True))
            keys = [sql.Identifier(name) + sql.SQL(_ORDER[kind]) for name, kind in named]
            order = sql.SQL(" ORDER BY ") + sql.SQL(", ").join(keys)
            schema = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in named])
            for batch in _rows(draft, schema, order):
                hashes.add(batch)
        said = [
            [column.name for column in found],
            types,
            [[one.hex() for one in own] for own in hashes.hashes()],
        ]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()


_ORDER = {"string": ' COLLATE "C"', "int64": "", "double": ""}  # the same on every server


def _rows(draft: Draft, schema: Any, order: Any) -> Iterator[Any]:
    """The rows as Arrow tables of some size."""
    from psycopg import sql

    fetch = sql.SQL("FETCH {} FROM released").format(BATCH)
    with draft.work("read"):
        draft.execute("DECLARE released NO SCROLL CURSOR FOR SELECT * FROM {table}{order}", order=order)
        while rows := draft.connection.execute(fetch, binary=True).fetchall():
            yield as_table(rows, schema)
        draft.execute("CLOSE released")


def _csv(batch: Any) -> Any:
    """Rows as COPY reads them: text in quotes, and missing is nothing."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    sink = pa.BufferOutputStream()
    arrow_csv.write_csv(batch, sink, arrow_csv.WriteOptions(include_header=False))
    return memoryview(sink.getvalue())


def stored_digest(url: str, table: str) -> str:
    """Hash a table of a database as `PostgresForm.digest` does.

    Raises
    ------
    InvalidInput
        When it is not there.
    """
    from psycopg import IsolationLevel, errors

    with draft_table(url, table) as draft:
        draft.connection.rollback()
        draft.connection.isolation_level = IsolationLevel.REPEATABLE_READ
        draft.connection.read_only = True
        try:
            return PostgresForm().digest(draft)
        except InvalidInput as error:
            if isinstance(error.__cause__, errors.UndefinedTable):
                raise InvalidInput(
                    f"{draft.name}, the output of the receipt, is not there; name its database with --database."
                ) from error
            raise
