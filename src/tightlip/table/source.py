"""Open a table, wherever it is: a file, a database, a data frame, or anything that Ibis reaches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from tightlip import arguments
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.table.checks import check_columns
from tightlip.table.csv_header import read_header
from tightlip.table.csv_kinds import detect_kinds, refuse_spellings, typed
from tightlip.table.embedded import connect_file, connect_memory, neutral_view
from tightlip.table.failure import engine_work, load_ibis
from tightlip.table.frame import is_frame, read_frame
from tightlip.table.kinds import Kind, kind_of, plain, refuse_type
from tightlip.table.names import ROW, neutral_names
from tightlip.table.policy import require_known

_POSTGRES = ("postgres://", "postgresql://")
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_TEXT_FILES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table of some engine; nothing is read before it is asked for.

    Attributes
    ----------
    name : what messages call it; no password, no rows
    backend, expression : the Ibis connection and table
    physical : users' column names and the engine's
    ordered_by : an Ibis expression of the row's place in the input; None where the engine keeps no order
    numbered : the rows of a file with their places, from which `in_order` makes `ordered_by`
    all_text : whether the columns are text still to be typed (CSV)
    refused : columns that cannot be read, and their type
    loose : whether columns may hold what their types do not say
    owned : whether we made the connection, and so close it
    """

    name: str
    backend: Any
    expression: Any
    physical: dict[str, str]
    ordered_by: Any = None
    numbered: Any = None
    all_text: bool = False
    refused: dict[str, str] = field(default_factory=dict)
    loose: bool = False
    owned: bool = True
    _kinds: dict[str, Kind] = field(default_factory=dict)
    _spelled: set[str] = field(default_factory=set)

    @property
    def columns(self) -> dict[str, str]:
        """Each column's kind: text, integer, real, boolean or date; the engine's type where it is none of these."""
        self._learn([*self.physical])
        schema = self.expression.schema()
        kinds = {name: self._kinds.get(name) or str(schema[column]) for name, column in self.physical.items()}
        return kinds | self.refused

    def in_order(self) -> Table:
        """The same table, with its rows numbered where there is an order of them."""
        if self.numbered is None:
            return self
        return replace(self, expression=self.numbered, ordered_by=self.numbered[ROW], numbered=None)

    def close(self) -> None:
        """Close the connection, unless it came from outside; `with open_table(…) as table:` does so too."""
        if self.owned:
            with suppress(Exception):  # it may be gone already
                self.backend.disconnect()

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def rows(self) -> int:
        """The number of rows."""
        with engine_work(self.name):
            return int(self.fetch(self.expression.aggregate(n=self.expression.count()))["n"][0].as_py())

    def plain_columns(self, names: Sequence[str]) -> list[tuple[Any, Kind]]:
        """Columns in plain form (see `kinds`) with their kinds.

        Raises
        ------
        InvalidInput
            When a column is not there, has a type that is not read, or does not hold what its type says.
        """
        for name in names:
            require_known(name, [*self.physical, *self.refused], f"column of {self.name}")
            if name in self.refused:
                raise refuse_type(name, self.refused[name])
        self._learn(names)
        schema = self.expression.schema()
        for name in names:
            if name not in self._kinds:
                raise refuse_type(name, str(schema[self.physical[name]]))
        if self.loose:
            used = {name: (self.physical[name], self._kinds[name]) for name in names}
            with engine_work(self.name):
                check_columns(self.backend, self.expression, used)
        return [(self._plain(name), self._kinds[name]) for name in names]

    def require_one_spelling(self, names: Sequence[str]) -> None:
        """Refuse columns of a text file that write one value in several ways (see `csv_kinds`)."""
        new = {name: (self.physical[name], self._kinds[name]) for name in names if name not in self._spelled}
        if self.all_text:
            with engine_work(self.name):
                refuse_spellings(self.backend, self.expression, new)
        self._spelled.update(new)

    def fetch(self, expression: Any) -> Any:
        """The rows of a small result, as an Arrow table."""
        return self.backend.to_pyarrow(expression)

    def _plain(self, name: str) -> Any:
        column, kind = self.expression[self.physical[name]], self._kinds[name]
        if self.all_text:
            column = typed(column, kind)
            kind = "text" if kind == "date" else kind
        return plain(column, kind, self.backend.name)

    def _learn(self, names: Sequence[str]) -> None:
        new = [name for name in names if name not in self._kinds]
        if self.all_text:
            with engine_work(self.name):
                found = detect_kinds(self.backend, self.expression, [self.physical[name] for name in new])
            self._kinds.update(zip(new, found, strict=True))
            return
        schema = self.expression.schema()
        for name in new:
            kind = kind_of(schema[self.physical[name]])
            if kind is not None:
                self._kinds[name] = kind


def open_table(source: Any, *, table: str | None = None) -> Table:
    """Open a table for counting.

    Parameters
    ----------
    source : path of a CSV, Parquet, DuckDB or SQLite file; Postgres URL; pandas, polars or Arrow frame; Ibis table
    table : which table of a database; needed where there are several

    Raises
    ------
    InvalidInput
        When it is not there, cannot be read, or what reads it is not installed.

    >>> import pyarrow
    >>> open_table(pyarrow.table({"age": [30, 41], "ill": [True, None]})).columns
    {'age': 'integer', 'ill': 'boolean'}
    """
    if isinstance(source, Table):
        return source
    if isinstance(source, str) and source.startswith(_POSTGRES):
        return _open_postgres(source, table)
    if isinstance(source, str) and (address := _ADDRESS.match(source)):
        raise InvalidInput(
            f"table must be a file or a postgresql:// address, got one that starts with {address.group()}; "
            "nothing is fetched, so copy it to a file first."
        )
    if isinstance(source, (str, Path)):
        return _open_file(arguments.path(source, "table"), table)
    if is_frame(source):
        return _open_frame(source)
    ibis = load_ibis()
    if isinstance(source, ibis.Table):
        with engine_work("table", "reached"):
            return _of_database("table", source.get_backend(), source, owned=False)
    raise WrongType(
        f"table must be a path, a Postgres URL, a data frame or an Ibis table, got {quoted(source)} "
        f"of type {type(source).__name__}."
    )


def _open_frame(source: Any) -> Table:
    ibis = load_ibis()
    frame = read_frame(source)
    with engine_work("the data frame"):
        expression = ibis.memtable(frame.arrow)
        return Table(
            "the data frame",
            connect_memory(),
            expression,
            frame.physical,
            ordered_by=expression[ROW],
            refused=frame.refused,
        )


def _open_file(path: Path, table: str | None) -> Table:
    form = _form(path)
    if table is not None and form in ("csv", "parquet"):
        raise InvalidInput(
            f"table {quoted(table)} is for databases, got the {form} file {path}; leave it out."
        )
    ibis = load_ibis("sqlite" if form == "sqlite" else "duckdb")
    with engine_work(str(path)):
        if form == "sqlite":
            return _named(str(path), ibis.sqlite.connect(path), table)
        if form == "duckdb":
            return _named(str(path), connect_file(path), table)
        return _open_parquet(path) if form == "parquet" else _open_csv(path)


def _open_parquet(path: Path) -> Table:
    """The names come from the file itself: where two differ by case only, or not at all, DuckDB makes others up."""
    import pyarrow.parquet as parquet

    physical = neutral_names(parquet.read_schema(path).names, str(path))
    backend = connect_memory()
    found = backend.read_parquet(_without_wildcards(path), hive_partitioning=False)
    expression, numbered = neutral_view(backend, found, physical.values())
    return Table(str(path), backend, expression, physical, numbered=numbered)


def _open_csv(path: Path) -> Table:
    header = read_header(path)
    backend, physical = connect_memory(), neutral_names(header.names, str(path))
    found = backend.read_csv(_without_wildcards(path), **header.options())
    expression, numbered = neutral_view(backend, found, physical.values())
    return Table(str(path), backend, expression, physical, numbered=numbered, all_text=True)


def _form(path: Path) -> Literal["csv", "parquet", "duckdb", "sqlite"]:
    """What a file is, by its first bytes; text files by their name."""
    if path.exists() and not path.is_file() and not path.is_dir():  # reading would wait, perhaps for ever
        raise InvalidInput(f"{path} must be a file, got a pipe or a device; save it to a file first.")
    try:
        str(path).encode()
        with path.open("rb") as file:
            start = file.read(16)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "its name is no text that files can have"
        raise InvalidInput(f"{path} cannot be read: {reason}; check the name.") from error
    if start.startswith(b"SQLite format 3\0"):
        return "sqlite"
    if start[8:12] == b"DUCK":
        return "duckdb"
    if start.startswith(b"PAR1"):
        return "parquet"
    if not path.name.lower().endswith(_TEXT_FILES):
        raise InvalidInput(
            f"{path} must be a CSV, Parquet, DuckDB or SQLite file, got none of these; "
            "a CSV file's name ends with .csv or .tsv."
        )
    if not start:
        raise InvalidInput(f"{path} is empty; a CSV file starts with a line of column names.")
    return "csv"


def _without_wildcards(path: Path) -> str:
    """A path in which DuckDB takes no character for a wildcard, and no start for an address."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in str(path.absolute()))


def _open_postgres(url: str, table: str | None) -> Table:
    ibis = load_ibis("postgres")
    name = f"Postgres database {quoted(_database(url) or 'default')}"
    with engine_work(name, "reached"):
        return _named(name, ibis.connect(url), table)


def _database(url: str) -> str:
    """What follows the last @ and the next slash, so that no part of a password, however it is written, is shown."""
    return url.partition("://")[2].partition("?")[0].rpartition("@")[2].partition("/")[2]


def _named(name: str, backend: Any, table: str | None) -> Table:
    names = backend.list_tables()
    if table is None:
        if len(names) != 1:
            known = ", ".join(quoted(one, 40) for one in names[:8]) or "none"
            raise InvalidInput(
                f"table must be named for {name}, which has {known}; name one with the option table."
            )
        table = names[0]
    require_known(table, names, f"table of {name}")
    return _of_database(f"{quoted(table)} of {name}", backend, backend.table(table), owned=True)


def _of_database(name: str, backend: Any, expression: Any, *, owned: bool) -> Table:
    physical = {column: column for column in expression.columns}
    row_id = _row_id(backend, expression)
    return Table(name, backend, expression, physical, ordered_by=row_id, loose=True, owned=owned)


def _row_id(backend: Any, expression: Any) -> Any:
    """The engine's own row number, if it has one that no column hides; views and most engines have none."""
    if backend.name not in ("duckdb", "sqlite") or "rowid" in {name.lower() for name in expression.columns}:
        return None
    try:
        number = expression.rowid()
        backend.to_pyarrow(expression.select(row=number).limit(1))
    except Exception:  # engines say in many ways that there is none; the remedy is an id column either way
        return None
    return number
