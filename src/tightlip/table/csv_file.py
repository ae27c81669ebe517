"""A CSV file as a table in memory of the columns that are used, read to its end and checked before any is counted."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tightlip.errors import InvalidInput
from tightlip.table.csv_header import CsvHeader, Readable, read_header
from tightlip.table.csv_records import Records, read_records
from tightlip.table.names import ROW

_TABLE = "found"


@dataclass(slots=True, eq=False)
class CsvFile:
    """The columns of a file that were asked for so far, in a temporary table of DuckDB.

    Attributes
    ----------
    path, header, backend : the file, its first line, and the DuckDB connection
    expression : rows with their place (`row`) and fields as text (c0, c1, …; NULL where empty). It knows every column,
        so that it stays the same while more are loaded; a query for one that is not there yet fails.
    digest : of the bytes that were read, to notice a change between two readings
    """

    path: Path
    header: CsvHeader
    backend: Any
    expression: Any
    digest: bytes | None = None
    _loaded: set[int] = field(default_factory=set)

    @classmethod
    def open(cls, path: Path, backend: Any) -> CsvFile:
        """Read the first line."""
        with _unpacked(path) as file:
            header = read_header(path, file)
        return cls(path, header, backend, _expression(backend, len(header.names)))

    def load(self, places: Collection[int]) -> None:
        """Read the file, if some of these columns are not there yet.

        Raises
        ------
        InvalidInput
            When it is no CSV file (see `csv_records`), is cut short, or has changed since it was read.
        """
        if self.digest is not None and self._loaded.issuperset(places):
            return
        wanted = sorted(self._loaded.union(places))
        self.backend.con.begin()
        try:
            digest = self._fill(wanted)
            self.backend.con.commit()
        except BaseException:  # an interrupted reading must not leave a part of the file behind
            self.backend.con.rollback()
            raise
        self.digest = digest
        self._loaded.update(wanted)

    def _fill(self, wanted: Sequence[int]) -> bytes:
        """Put columns into a new table; the digest of what was read."""
        _create(self.backend, wanted)
        first = 0
        with _unpacked(self.path) as file:
            before, read = _stamp(self.path), _Digested(file)
            same = read.read(len(self.header.line)) == self.header.line
            for records in read_records(read, self.header, str(self.path)) if same else ():
                _insert(self.backend.con, records, wanted, first)
                first += len(records)
        digest = read.hash.digest()
        if not same or before != _stamp(self.path) or self.digest not in (None, digest):
            raise InvalidInput(
                f"{self.path} has changed while it was read; read it again when it is at rest."
            )
        return digest

    def quotes_differ(self, column: str) -> bool:
        """Whether some value of a loaded column stands in quotes in one row and without them in another."""
        flag = column.replace("c", "q")
        differ = f"bool_or({flag}) AND NOT bool_and({flag})"
        # the first is quick, and mostly finds none
        for groups in ("", f" GROUP BY {column}"):
            if not self.backend.con.execute(
                f"SELECT 1 FROM {_TABLE}{groups} HAVING {differ} LIMIT 1"
            ).fetchall():
                return False
        return True


class _Digested:
    """A file of which a digest is made while it is read."""

    def __init__(self, file: Readable) -> None:
        self.file, self.hash = file, hashlib.sha256()

    def read(self, size: int) -> bytes:
        """The next bytes."""
        block = self.file.read(size)
        self.hash.update(block)
        return block


@contextmanager
def _unpacked(path: Path) -> Iterator[Readable]:
    """The text of a file. Of what gzip packed, length, checksum and that nothing follows are checked at its end."""
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            yield file
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InvalidInput(
            f"{path} cannot be read: it is no whole gzip file, but cut short or changed; copy it again."
        ) from error
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read: {error.strerror or error}; check that it is there."
        ) from error


def _stamp(path: Path) -> tuple[int, ...]:
    """What changes when somebody writes to a file or puts another in its place."""
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _expression(backend: Any, width: int) -> Any:
    """The table of all columns, made here: Ibis would take milliseconds for each to ask DuckDB for its type."""
    import ibis
    from ibis.expr.operations import DatabaseTable

    text = dict.fromkeys((f"c{place}" for place in range(width)), ibis.dtype("string"))
    schema = ibis.schema({ROW: ibis.dtype("int64")} | text)
    return DatabaseTable(name=_TABLE, schema=schema, source=backend).to_expr()


def _create(backend: Any, places: Iterable[int]) -> None:
    columns = "".join(f", c{place} VARCHAR, q{place} BOOLEAN" for place in places)
    backend.con.execute(f"CREATE OR REPLACE TEMP TABLE {_TABLE} ({ROW} BIGINT{columns})")


def _insert(connection: Any, records: Records, places: Iterable[int], first: int) -> None:
    import pyarrow as pa

    columns = [pa.array(np.arange(first, first + len(records)))]
    for place in places:
        fields, in_quotes = records.column(place)
        columns += [fields, pa.array(in_quotes)]
    connection.register("block", pa.table(columns, names=[f"f{place}" for place in range(len(columns))]))
    connection.execute(f"INSERT INTO {_TABLE} SELECT * FROM block")
    connection.unregister("block")
