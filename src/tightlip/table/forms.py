"""The forms in which a release is written: CSV, Parquet, or the table "release" of a new DuckDB or SQLite file.

Each writes batches of rows and reads them back, in their order. Columns are text, whole numbers or reals.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tightlip.errors import InvalidInput, quoted
from tightlip.table.local import file_digest
from tightlip.table.rows import BATCH, defuse_formulas

TABLE = "release"  # of a database file
UNSAFE = "tightlip unsafe"  # what a note is called


class Form(ABC):
    """A kind of file."""

    def shape(self, table: Any) -> Any:
        """Give rows the values and names that the file will have."""
        return table

    def require_names(self, names: Sequence[str]) -> None:
        """Refuse names of columns that the file would not tell apart."""
        if len(set(names)) != len(names):
            raise InvalidInput(
                "names of columns must differ in the file too, got two that are written alike; rename one, or write "
                "Parquet."
            )

    def require_values(self, columns: Sequence[tuple[str, Sequence[Any]]]) -> None:  # noqa: B027
        """Refuse what columns, listed by name and what they can show, hold and the file would not tell apart."""

    @abstractmethod
    def write(self, draft: Any, schema: Any, batches: Iterator[Any], note: str | None) -> None:
        """Write Arrow tables of a schema; where the form has a place for a note, the note too."""

    @abstractmethod
    def read(self, draft: Any, schema: Any) -> Iterator[Any]:
        """Read what `write` wrote, as Arrow tables of the same schema or of some of its columns."""

    @abstractmethod
    def contents(self, draft: Any) -> list[str]:
        """Name everything that is in there: the columns in order, then other tables where there are any."""

    def digest(self, draft: Any) -> str:
        """Hash what `write` wrote."""
        return file_digest(draft)


class _Csv(Form):
    """CSV: text is in quotes, missing is nothing, and what a spreadsheet would run has an apostrophe in front.

    Of one column, missing is an empty text in quotes: most readers leave out empty lines, and with them people.
    """

    def require_values(self, columns: Sequence[tuple[str, Sequence[Any]]]) -> None:
        for name, values in columns if len(columns) == 1 else ():
            if "" in values:
                raise InvalidInput(
                    f"column {quoted(name)} has an empty text, which a CSV file of one column does not tell from a "
                    "missing value; write Parquet."
                )

    def shape(self, table: Any) -> Any:
        return defuse_formulas(table)

    def write(self, path: Path, schema: Any, batches: Iterator[Any], note: str | None) -> None:
        import pyarrow.csv as arrow_csv

        with arrow_csv.CSVWriter(path, schema) as writer:
            for batch in batches:
                alone = batch.num_columns == 1
                writer.write_table(batch.set_column(0, schema[0], batch[0].fill_null("")) if alone else batch)

    def read(self, path: Path, schema: Any) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.csv as arrow_csv

        parse, alone = self._parse(), len(self.contents(path)) == 1
        convert = arrow_csv.ConvertOptions(
            include_columns=schema.names,
            column_types=schema,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=alone,
        )
        with arrow_csv.open_csv(path, parse_options=parse, convert_options=convert) as reader:
            yield from (pa.Table.from_batches([batch]) for batch in reader)

    def contents(self, path: Path) -> list[str]:
        import pyarrow.csv as arrow_csv

        with arrow_csv.open_csv(path, parse_options=self._parse()) as whole:
            return list(whole.schema.names)

    @staticmethod
    def _parse() -> Any:
        import pyarrow.csv as arrow_csv

        return arrow_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False)


class _Parquet(Form):
    """Parquet, with the note as metadata."""

    def write(self, path: Path, schema: Any, batches: Iterator[Any], note: str | None) -> None:
        import pyarrow.parquet as parquet

        marked = schema if note is None else schema.with_metadata({UNSAFE: note})
        with parquet.ParquetWriter(path, marked) as writer:
            for batch in batches:
                writer.write_table(batch.replace_schema_metadata(marked.metadata))

    def read(self, path: Path, schema: Any) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.parquet as parquet

        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=BATCH, columns=schema.names):
                yield pa.Table.from_batches([batch]).replace_schema_metadata(None)

    def contents(self, path: Path) -> list[str]:
        import pyarrow.parquet as parquet

        return list(parquet.read_schema(path).names)


class _Database(Form):
    """A database, where names of columns differ by more than the case of letters."""

    def require_names(self, names: Sequence[str]) -> None:
        super().require_names([name.casefold() for name in names])
        for name in names:
            if "\0" in name:
                raise InvalidInput(
                    f"column {quoted(name)} has a name that databases do not take; write Parquet."
                )

    def declare(self, schema: Any, types: dict[str, str], note: str | None = None) -> str:
        """Say in SQL what the table is, and a note."""
        columns = ", ".join(f"{_sql_name(field.name)} {types[str(field.type)]}" for field in schema)
        said = "" if note is None else f" /* {UNSAFE}: {note} */"
        return f"CREATE TABLE {TABLE} ({columns}{said})"


class _DuckDB(_Database):
    """A DuckDB file, with the note as the table's comment."""

    def write(self, path: Path, schema: Any, batches: Iterator[Any], note: str | None) -> None:
        import duckdb

        types = {"string": "VARCHAR", "int64": "BIGINT", "double": "DOUBLE"}
        with _database_work(path, duckdb.Error), closing(duckdb.connect(path, config=_NO_DISK)) as connection:
            connection.execute(self.declare(schema, types))
            if note is not None:
                connection.execute(f"COMMENT ON TABLE {TABLE} IS '{UNSAFE}: {note}'")
            connection.begin()
            for batch in batches:
                connection.from_arrow(batch).insert_into(TABLE)
            connection.commit()

    def read(self, path: Path, schema: Any) -> Iterator[Any]:
        import duckdb

        with (
            _database_work(path, duckdb.Error),
            closing(duckdb.connect(path, read_only=True, config=_NO_DISK)) as connection,
        ):
            found = connection.execute(_selected(schema))
            while rows := found.fetchmany(BATCH):
                yield as_table(rows, schema)

    def contents(self, path: Path) -> list[str]:
        import duckdb

        with (
            _database_work(path, duckdb.Error),
            closing(duckdb.connect(path, read_only=True, config=_NO_DISK)) as connection,
        ):
            columns = connection.execute(f"SELECT * FROM {TABLE} LIMIT 0").description
            others = connection.execute(
                "SELECT table_name FROM duckdb_tables() WHERE NOT internal AND table_name != ? UNION ALL "
                "SELECT view_name FROM duckdb_views() WHERE NOT internal",
                [TABLE],
            ).fetchall()
        return [name for name, *_ in [*columns, *others]]


class _SQLite(_Database):
    """A SQLite file, with the note as a comment in what it keeps of the table's declaration."""

    def write(self, path: Path, schema: Any, batches: Iterator[Any], note: str | None) -> None:
        types = {"string": "TEXT", "int64": "INTEGER", "double": "REAL"}
        marks = ", ".join("?" * len(schema))
        with _database_work(path, sqlite3.Error), closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute(self.declare(schema, types, note))
            for batch in batches:
                rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
                connection.executemany(f"INSERT INTO {TABLE} VALUES ({marks})", rows)

    def read(self, path: Path, schema: Any) -> Iterator[Any]:
        with _database_work(path, sqlite3.Error), closing(sqlite3.connect(path)) as connection:
            found = connection.execute(_selected(schema))
            while rows := found.fetchmany(BATCH):
                yield as_table(rows, schema)

    def contents(self, path: Path) -> list[str]:
        with _database_work(path, sqlite3.Error), closing(sqlite3.connect(path)) as connection:
            columns = connection.execute(f"SELECT * FROM {TABLE} LIMIT 0").description
            others = connection.execute(
                "SELECT name FROM sqlite_master WHERE name != ? OR type != 'table'", [TABLE]
            ).fetchall()
        return [name for name, *_ in [*columns, *others]]


FORMS: dict[str, Form] = {
    ".csv": _Csv(),
    ".parquet": _Parquet(),
    ".duckdb": _DuckDB(),
    ".sqlite": _SQLite(),
}
_NO_DISK = {"temp_directory": ""}  # no row is put anywhere but into the file


def form_of(path: Path) -> Form:
    """Find the form that a file's name asks for.

    Raises
    ------
    InvalidInput
        When it is none of them.
    """
    form = FORMS.get(path.suffix.lower())
    if form is None:
        raise InvalidInput(
            f"release must be written to a file that ends with {', '.join(FORMS)}, got {path.name}."
        )
    return form


def _sql_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _selected(schema: Any) -> str:
    return f"SELECT {', '.join(map(_sql_name, schema.names))} FROM {TABLE} ORDER BY rowid"


def as_table(rows: list[Any], schema: Any) -> Any:
    """Make an Arrow table of rows that a database gave."""
    import pyarrow as pa

    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
    return pa.table(arrays, schema=schema)


@contextmanager
def _database_work(path: Path, failure: type[Exception]) -> Iterator[None]:
    """Turn what a database raises into one line; it may quote values, so its words are not told."""
    try:
        yield
    except failure as error:
        raise InvalidInput(
            f"{path.name} cannot be written: its database failed ({type(error).__name__}); check that the disk has "
            "room, or write Parquet."
        ) from error
