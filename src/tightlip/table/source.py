"""Open a table, wherever it is: a file, a database, a data frame, or anything that Ibis reaches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tightlip import arguments
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.reading import stamp
from tightlip.table.condition import Condition
from tightlip.table.csv_file import CsvFile
from tightlip.table.csv_kinds import cast_text, detect_kinds, refuse_spellings
from tightlip.table.embedded import (
    ATTACHED,
    ROW,
    connect_file,
    connect_memory,
    connect_sqlite,
    distrust,
    neutral_names,
    neutral_view,
    require_stored,
)
from tightlip.table.failure import engine_work, load_ibis
from tightlip.table.frame import Frame, read_frame
from tightlip.table.kinds import (
    Kind,
    check_columns,
    kind_of,
    plain,
    plain_codes,
    refuse_twins,
    refuse_type,
    without_codes,
)
from tightlip.table.parquet_file import ParquetFile
from tightlip.table.policy import require_known
from tightlip.table.statistics_file import Program, read_statistics
from tightlip.table.workbook import COMPOUND, read_workbook

if TYPE_CHECKING:
    from tightlip.table.policy import Policy

_POSTGRES = ("postgres://", "postgresql://")
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_STEPS = 1_000_000  # of SQLite's machine, some 10 ms: how long an interrupt waits; fewer would slow queries
_TEXT_FILES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
_PACKED = {
    b"\x1f\x8b": "gzip",
    b"BZh91AY&SY": "bzip2",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"\x04\x22\x4d\x18": "LZ4",
    b"PK\3\4": "zip",
}
_WORKBOOKS = (".xlsx", ".xlsm")
_SAVE_AS = {".por": ".sav", ".ods": ".xlsx", ".xlsb": ".xlsx"}  # what no reader tells every cell of
_PROGRAMS: dict[bytes, Program] = {
    b"$FL2": "SPSS",
    b"$FL3": "SPSS",
    b"<stata_dta>": "Stata",
    bytes(12) + b"\xc2\xea\x81\x60": "SAS",
    b"HEADER RECORD***": "SAS transport",
}
_OLD_STATA = range(104, 116)  # first bytes before version 13, which are no text in UTF-8 with what follows
_READ = "a CSV, Parquet, DuckDB, SQLite, Excel, SPSS, Stata or SAS file"


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
    csv : the file whose columns are loaded when they are used, as text still to be typed
    parquet : the Parquet file that is read, if it is one
    refused : columns that cannot be read, and their type
    loose : whether columns may hold what their types do not say
    labelled : columns of codes that the file has labels for, which are not read
    owned : whether we made the connection, and so close it
    where, absent : the conditions that rows satisfy, and the codes that mean missing, by column; see `under`
    """

    name: str
    backend: Any
    expression: Any
    physical: dict[str, str]
    ordered_by: Any = None
    numbered: Any = None
    csv: CsvFile | None = None
    parquet: ParquetFile | None = None
    refused: dict[str, str] = field(default_factory=dict)
    loose: bool = False
    labelled: tuple[str, ...] = ()
    owned: bool = True
    where: tuple[Condition, ...] = ()
    absent: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    _kinds: dict[str, Kind] = field(default_factory=dict)
    _spelled: set[str] = field(default_factory=set)

    @property
    def columns(self) -> dict[str, str]:
        """Each column's kind: text, integer, real, boolean or date; the engine's type where it is none of these."""
        return self.kinds([*self.physical]) | self.refused

    def kinds(self, names: Sequence[str]) -> dict[str, str]:
        """Find the kinds of some columns; what is no column or cannot be read is left out."""
        known = {name: self.physical[name] for name in names if name in self.physical}
        self._learn([*known])
        schema = self.expression.schema()
        return {name: self._kinds.get(name) or str(schema[column]) for name, column in known.items()}

    def _require_column(self, name: str) -> None:
        """Refuse a name that no column has; one and its value as a flag has them are told how Python has them."""
        known = [*self.physical, *self.refused]
        column, equals, value = name.partition("=")
        if equals and name not in known and column in known:
            raise InvalidInput(
                f"column of {self.name} {quoted(name)} is not there; name the column alone, or a sensitive value of a "
                f"secret one as {{{quoted(column)}: [{quoted(value)}]}}."
            )
        require_known(name, known, f"column of {self.name}")

    def under(self, policy: Policy) -> Table:
        """See the table as a plan does: codes that mean missing are missing, and other rows are left out.

        Whatever counts, joins, writes or compares rows for a policy does it on this table, so that all of them see the
        same rows and values.

        Raises
        ------
        InvalidInput
            When a column with such codes is not there.
        """
        absent = dict(policy.missing)
        if (self.where, self.absent) == (policy.where, absent):
            return self
        for name in absent:
            require_known(name, [*self.physical, *self.refused], f"column of {self.name}")
        changed = {name for name in {*absent, *self.absent} if absent.get(name) != self.absent.get(name)}
        known = {name: kind for name, kind in self._kinds.items() if name not in changed}
        spelled = self._spelled - changed
        return replace(self, where=policy.where, absent=absent, _kinds=known, _spelled=spelled)

    def select(self, columns: Mapping[str, Any]) -> Any:
        """Choose columns, as Ibis expressions, of the rows that satisfy every condition; as an Ibis table."""
        if not self.where:
            return self.expression.select(**columns)
        used = self.plain_columns([condition.column for condition in self.where])
        tests = {
            f"holds_{place}": condition.holds(column, kind)
            for place, (condition, (column, kind)) in enumerate(zip(self.where, used, strict=True))
        }
        # tested where they stand, since an engine's row number is no column that a filter hands on
        chosen = self.expression.select(**columns, **tests)
        return chosen.filter([chosen[name] for name in tests]).select(*columns)

    def in_order(self) -> Table:
        """Number the rows, where there is an order of them."""
        if self.numbered is None:
            return self
        return replace(self, expression=self.numbered, ordered_by=self.numbered[ROW], numbered=None)

    def close(self) -> None:
        """Close the connection, unless it came from outside; `with open_table(…) as table:` does so too."""
        if self.owned:
            with suppress(Exception):  # it may be gone already
                if self.backend.name == "duckdb":  # of an interrupted query it would wait for the rest
                    self.backend.con.interrupt()
                self.backend.disconnect()

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def rows(self) -> int:
        """Count the rows."""
        with engine_work(self.name):
            if self.csv is not None:
                self.csv.load(())
            rows = self.select({"one": load_ibis().literal(1)}) if self.where else self.expression
            return int(self.fetch(rows.aggregate(n=rows.count()))["n"][0].as_py())

    def plain_columns(self, names: Sequence[str]) -> list[tuple[Any, Kind]]:
        """Columns in plain form (see `kinds`) with their kinds.

        Raises
        ------
        InvalidInput
            When a column is not there, has a type that is not read, or does not hold what its type says.
        """
        for name in names:
            self._require_column(name)
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
        if self.parquet is not None:
            with engine_work(self.name):
                self.parquet.require_same(self.backend, self.expression, names)
        return [(self._plain(name), self._kinds[name]) for name in names]

    def require_unchanged(self) -> None:
        """Refuse a table that is known not to be what it was when it was opened."""
        if self.parquet is not None:
            with engine_work(self.name):
                self.parquet.require_unchanged()

    def require_one_spelling(self, names: Sequence[str]) -> None:
        """Refuse columns that have one value in several ways (see `csv_kinds` and `kinds`)."""
        new = {name: (self.physical[name], self._kinds[name]) for name in names if name not in self._spelled}
        with engine_work(self.name):
            if self.csv is not None:
                refuse_spellings(self.csv, self._fields(new), new)
            else:
                refuse_twins(self.backend, self.expression, new)
        self._spelled.update(new)

    def fetch(self, expression: Any) -> Any:
        """Fetch the rows of a small result, as an Arrow table."""
        return self.backend.to_pyarrow(expression)

    def _plain(self, name: str) -> Any:
        column, kind, codes = (
            self.expression[self.physical[name]],
            self._kinds[name],
            self.absent.get(name, ()),
        )
        if self.csv is not None:
            column = cast_text(without_codes(column, codes), kind)
            kind = "text" if kind == "date" else kind
        found = plain(column, kind, self.backend.name)
        return without_codes(found, plain_codes(codes, name, kind, strict=self.csv is None))

    def _fields(self, names: Iterable[str]) -> Any:
        """Fields of a CSV file as text, codes that mean missing left out: what the others are decides the kind."""
        columns = {self.physical[name]: self.absent.get(name, ()) for name in names}
        if not any(columns.values()):
            return self.expression
        return self.expression.select(
            **{column: without_codes(self.expression[column], codes) for column, codes in columns.items()}
        )

    def _learn(self, names: Sequence[str]) -> None:
        new = [name for name in names if name not in self._kinds]
        if self.csv is not None:
            with engine_work(self.name):
                # those of conditions too, so that the file is read once
                used = {*new, *(condition.column for condition in self.where)} & self.physical.keys()
                self.csv.load([int(self.physical[name].removeprefix("c")) for name in used])
                found = detect_kinds(self.backend, self._fields(new), [self.physical[name] for name in new])
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
    source : path of a CSV, Parquet, DuckDB, SQLite, Excel, SPSS, Stata or SAS file; Postgres URL; pandas, polars or
        Arrow frame; Ibis table
    table : which table of a database, or sheet of a workbook; needed where there are several

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
    if isinstance(source, str) and is_postgres(source):
        return _open_postgres(source, table)
    if isinstance(source, str) and (address := _ADDRESS.match(source)):
        raise InvalidInput(
            f"table must be a file or a postgresql:// address, got one that starts with {address.group()}; "
            "nothing is fetched, so copy it to a file first."
        )
    if isinstance(source, (str, Path)):
        return _open_file(arguments.path(source, "table"), table)
    ibis = load_ibis()
    if isinstance(source, ibis.Table):
        with engine_work("table", "reached"):
            backend = source.get_backend()
            if backend.name == "duckdb":
                distrust(backend)
            return _of_database("table", backend, source, owned=False)
    if arguments.is_frame(source):
        return _of_frame("the data frame", read_frame(source))
    if isinstance(source, Iterable):  # whose rows no message shows
        raise WrongType(f"table must be a data frame, got a {type(source).__name__}; make one of it.")
    raise WrongType(
        f"table must be a path, a Postgres URL, a data frame or an Ibis table, got {quoted(source)} "
        f"of type {type(source).__name__}."
    )


def _of_frame(name: str, frame: Frame, labelled: tuple[str, ...] = ()) -> Table:
    ibis = load_ibis()
    with engine_work(name):
        expression = ibis.memtable(frame.arrow)
        return Table(
            name,
            connect_memory(),
            expression,
            frame.physical,
            ordered_by=expression[ROW],
            refused=frame.refused,
            labelled=labelled,
        )


def _open_file(path: Path, table: str | None) -> Table:
    form = _form(path)
    if table is not None and form not in ("duckdb", "sqlite", "workbook"):
        raise InvalidInput(
            f"table {quoted(table)} is for databases and workbooks, got the {form} file {path}; leave it out."
        )
    load_ibis("sqlite" if form == "sqlite" else "duckdb")
    with engine_work(str(path)):
        if form == "sqlite":
            return _open_named(str(path), connect_sqlite(path), table, "main")
        if form == "duckdb":
            return _open_named(str(path), connect_file(path), table, (ATTACHED, "main"))
        if form == "parquet":
            return _open_parquet(path)
        return _open_csv(path) if form == "csv" else _open_read(path, form, table)


def _open_read(path: Path, form: Program | Literal["workbook"], sheet: str | None) -> Table:
    """A file that is read at once, and whole."""
    before = stamp(path)
    labelled: tuple[str, ...] = ()
    if form == "workbook":
        frame = read_workbook(path, sheet)
    else:
        frame, labelled = read_statistics(path, form)
    if stamp(path) != before:
        raise InvalidInput(f"{path} has changed while it was read; read it again when it is at rest.")
    return _of_frame(str(path) if sheet is None else f"{quoted(sheet)} of {path}", frame, labelled)


def _open_parquet(path: Path) -> Table:
    file, backend = ParquetFile.open(path), connect_memory()
    found = backend.read_parquet(_without_wildcards(path), hive_partitioning=False)
    expression, numbered = neutral_view(backend, found, file.physical.values())
    return Table(str(path), backend, expression, file.physical, numbered=numbered, parquet=file)


def _open_csv(path: Path) -> Table:
    backend = connect_memory()
    csv = CsvFile.open(path, backend)
    physical = neutral_names(csv.header.names, str(path))
    return Table(str(path), backend, csv.expression, physical, ordered_by=csv.expression[ROW], csv=csv)


def _form(path: Path) -> Literal["csv", "parquet", "duckdb", "sqlite", "workbook"] | Program:
    """What a file is, by its first bytes; text files by their name."""
    start = _first_bytes(path)
    if start.startswith(b"SQLite format 3\0"):
        return "sqlite"
    if start[8:12] == b"DUCK":
        return "duckdb"
    if start.startswith(b"PAR1"):
        return "parquet"
    ending = path.suffix.lower()
    if start.startswith(COMPOUND) or (start.startswith(b"PK\3\4") and ending in _WORKBOOKS):
        return "workbook"
    program = next((name for magic, name in _PROGRAMS.items() if start.startswith(magic)), None)
    if program is not None or (ending == ".dta" and start[:1] and start[0] in _OLD_STATA):
        return program or "Stata"
    _refuse_other(path, start)
    return "csv"


def _first_bytes(path: Path) -> bytes:
    if path.exists() and not path.is_file() and not path.is_dir():  # reading would wait, perhaps for ever
        raise InvalidInput(f"{path} must be a file, got a pipe or a device; save it to a file first.")
    try:
        str(path).encode()
        with path.open("rb") as file:
            return file.read(16)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "its name is no text that files can have"
        raise InvalidInput(f"{path} cannot be read: {reason}; check the name.") from error


def _refuse_other(path: Path, start: bytes) -> None:
    """Refuse a file that is no text either."""
    ending = path.suffix.lower()
    if ending in _SAVE_AS:
        raise InvalidInput(f"{path} must be {_READ}, got a {ending} file; save it as {_SAVE_AS[ending]}.")
    packed = next((name for magic, name in _PACKED.items() if start.startswith(magic)), None)
    if packed and not (packed == "gzip" and ending == ".gz"):
        raise InvalidInput(
            f"{path} is packed with {packed}; unpack it, or name what gzip packed .csv.gz or .tsv.gz."
        )
    if start[8:] == b"ENCRYPTE":  # what SPSS writes with a password
        raise InvalidInput(f"{path} is protected by a password; save it without one.")
    if not path.name.lower().endswith(_TEXT_FILES):
        raise InvalidInput(
            f"{path} must be {_READ}, got none of these; "
            "a CSV file's name ends with .csv or .tsv, or with .csv.gz or .tsv.gz where gzip packed it."
        )
    if not start:
        raise InvalidInput(f"{path} is empty; a CSV file starts with a line of column names.")


def _without_wildcards(path: Path) -> str:
    """A path in which DuckDB takes no character for a wildcard, and no start for an address."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in str(path.absolute()))


def _open_postgres(url: str, table: str | None) -> Table:
    ibis = load_ibis("postgres")
    name = f"Postgres database {quoted(database_name(url) or 'default')}"
    with engine_work(name, "reached"):
        backend = ibis.connect(url)
        _begin_snapshot(backend.con)
        return _open_named(name, backend, table)


def _begin_snapshot(connection: Any) -> None:
    """Stay in one transaction, so that all that is read is of one moment; steps of Ibis become savepoints in it."""
    from psycopg import IsolationLevel

    connection.isolation_level = IsolationLevel.REPEATABLE_READ
    connection.autocommit = False
    connection.execute("SELECT 1")


def is_postgres(address: str) -> bool:
    """Whether an address is of a Postgres database."""
    return address.startswith(_POSTGRES)


def database_name(url: str) -> str:
    """Find what follows the last @ and the next slash, so that no part of a password, is shown."""
    return url.partition("://")[2].partition("?")[0].rpartition("@")[2].partition("/")[2]


def _open_named(
    name: str, backend: Any, table: str | None, file: str | tuple[str, str] | None = None
) -> Table:
    """One table of a database; `file` is what the engine calls the database file, if it is one."""
    try:
        names = backend.list_tables(database=file)
        if table is None:
            if len(names) != 1:
                known = ", ".join(quoted(one, 40) for one in names[:8]) or "none"
                raise InvalidInput(
                    f"table must be named for {name}, which has {known}; name one with the option table."
                )
            table = names[0]
        require_known(table, names, f"table of {name}")
        called = f"{quoted(table)} of {name}"
        if file is not None:
            require_stored(backend, table, called)
        return _of_database(called, backend, backend.table(table, database=file), owned=True)
    except BaseException:  # what is not opened must hold no lock
        backend.disconnect()
        raise


def _of_database(name: str, backend: Any, expression: Any, *, owned: bool) -> Table:
    physical = {column: column for column in expression.columns}
    if owned and backend.name == "sqlite":  # it looks at no signal while a query runs, unless it calls us
        backend.con.set_progress_handler(_no_objection, _STEPS)
    row_id = _row_id(backend, expression)
    return Table(name, backend, expression, physical, ordered_by=row_id, loose=True, owned=owned)


def _no_objection() -> int:
    return 0


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
