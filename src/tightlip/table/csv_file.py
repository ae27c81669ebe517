"""Read a CSV file into a table in memory of the columns that are used, to its end and checked before any is counted.

An engine's own reader is quick, but may leave rows out where a file is cut or a line is long, and takes a line with one
empty field too many, or bytes that are no text in a column that it is not asked for. Here a file is what RFC 4180 says
or it is refused with the line: fields in double quotes, in which quotes are doubled, or without any quote; as many in
each line as there are names; one kind of line end outside quotes; UTF-8. The first line says how the rest is to be
read. Empty lines are left out, unless there is one column only, where they are empty fields.

Quotes come in pairs, so a delimiter or line end is outside of quotes where the number of quotes before it is even. That
makes all of this arithmetic on arrays of bytes, block by block: every byte is checked, and the fields of some columns
are taken out.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput
from tightlip.numeric.display import format_count
from tightlip.reading import stamp
from tightlip.table.embedded import ROW
from tightlip.table.failure import NOT_UTF8

_LONGEST_HEADER = 1_000_000  # names of so many bytes are read before the end of the line is given up
_DELIMITERS = (",", ";", "\t", "|")
_RECORD = re.compile(r'(?:[^"\r\n]|"(?:[^"]|"")*")*')
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_BYTE_ORDER_MARK = "\ufeff"
_BLOCK = 1 << 22  # bytes read at a time: more take memory (some 50 bytes for each of them), fewer take time
_LONGEST = 1 << 26  # bytes of one record: more take memory, and an unclosed quote is noticed later
_QUOTE, _LF, _CR = b'"\n\r'

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]
Flags = NDArray[np.bool_]
_TABLE = "found"


class Readable(Protocol):
    """What bytes can be read from, at most so many at a time and none at the end."""

    def read(self, size: int, /) -> bytes:
        """Read the next bytes."""


@dataclass(frozen=True, slots=True)
class CsvHeader:
    """Column names, what stands between fields, what ends a line, and the bytes of the line itself with its end."""

    names: tuple[str, ...]
    delimiter: str
    newline: str
    line: bytes


def read_header(path: Path, file: Readable) -> CsvHeader:
    """Read the names; the delimiter is the most frequent of , ; tab and | outside quotes.

    Raises
    ------
    InvalidInput
        When the first line is empty, not UTF-8 text or too long.
    """
    text = file.read(_LONGEST_HEADER).decode("utf-8", errors="surrogateescape")
    if not text:
        raise InvalidInput(f"{path} is empty; a CSV file starts with a line of column names.")
    mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
    text = text.removeprefix(mark)
    record = _RECORD.match(text)
    line = record.group() if record else ""
    rest = text[len(line) : len(line) + 2]
    if rest.startswith('"') or (len(text) == len(line) and file.read(1)):
        raise InvalidInput(
            f"{path} must start with a line of column names of at most {_LONGEST_HEADER:,} bytes, got no end of it; "
            "check its quotes."
        )
    if any("\udc80" <= letter <= "\udcff" for letter in line):  # bytes that are no text
        raise InvalidInput(f"{path} cannot be read: {NOT_UTF8}")
    end = rest if rest == "\r\n" else rest[:1]
    delimiter = max(_DELIMITERS, key=_QUOTED.sub("", line).count)
    return CsvHeader(_names(path, line, delimiter), delimiter, end or "\n", (mark + line + end).encode())


def _names(path: Path, line: str, delimiter: str) -> tuple[str, ...]:
    name = rf'(?:"(?:[^"]|"")*"|[^"{re.escape(delimiter)}]*)'
    if not re.fullmatch(rf"{name}(?:{re.escape(delimiter)}{name})*", line):  # which the module csv would take
        raise InvalidInput(
            f"{path} must start with a line of column names, got a double quote that neither starts nor ends its name; "
            "put the name in double quotes and double those in it."
        )
    try:
        names = next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error as error:
        raise InvalidInput(
            f"{path} must start with a line of column names, got one that is no CSV: {error}; check its quotes."
        ) from error
    if not names:
        raise InvalidInput(f"{path} must start with a line of column names, got an empty line; remove it.")
    return tuple(names)


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """Some whole records of a text.

    Attributes
    ----------
    content : the text, as bytes
    starts : where each record starts
    ends : where each field ends (record × column): the place of its delimiter or line end
    doubled : places of the second ones of doubled quotes
    newline : length of a line end
    """

    content: Bytes
    starts: Places
    ends: Places
    doubled: Places
    newline: int

    def __len__(self) -> int:
        return len(self.starts)

    def column(self, place: int) -> tuple[Any, Flags]:
        """Read the fields of a column as an Arrow array, empty ones missing, and which of them stand in quotes."""
        import pyarrow as pa

        starts = self.ends[:, place - 1] + 1 if place else self.starts
        ends = self.ends[:, place] - (self.newline - 1 if place == self.ends.shape[1] - 1 else 0)
        in_quotes = self.content[starts] == _QUOTE  # of an empty field this is its end
        bytes_, lengths = _gather(self.content, starts + in_quotes, ends - in_quotes, self.doubled)
        offsets = np.zeros(len(starts) + 1, dtype=np.int32)
        np.cumsum(lengths, out=offsets[1:])
        present = np.packbits(lengths > 0, bitorder="little")
        buffers = [pa.py_buffer(part) for part in (present, offsets, bytes_)]
        return pa.Array.from_buffers(pa.string(), len(starts), buffers), in_quotes


def _gather(content: Bytes, starts: Places, ends: Places, doubled: Places) -> tuple[Bytes, Places]:
    """The bytes of some fields one after the other, the second of two doubled quotes left out, and their lengths."""
    lengths = ends - starts
    before = np.cumsum(lengths) - lengths
    index = np.repeat(starts - before, lengths) + np.arange(lengths.sum())
    if len(doubled):
        lengths = lengths - np.searchsorted(doubled, ends) + np.searchsorted(doubled, starts)
        left_out = np.zeros(len(content), dtype=bool)
        left_out[doubled] = True
        index = index[~left_out[index]]
    return content[index], lengths


def read_records(file: Readable, header: CsvHeader, name: str) -> Iterator[Records]:
    """Check the rest of a file after its header, and give its records block by block.

    Raises
    ------
    InvalidInput
        With the line, where the file is no CSV of the header's columns. No field is shown.
    """
    line, rest = 1 + _line_ends(header.line, header), b""
    while True:
        # as much again as is left over, or records longer than a block would be scanned too often
        block = file.read(max(_BLOCK, len(rest)))
        if not block and not rest:
            return
        text = _Text(rest + (block or header.newline.encode()), header, name, line)
        marks = _find_marks(text)
        records, used = _cut(text, marks)
        if used < len(text.content) and not block:
            raise text.refusal(
                "the field in double quotes on line {} has no end; close it or drop the quote.", marks.last
            )
        if len(records):
            yield records
        if not block:
            return
        line, rest = line + _line_ends(text.content, header, used), text.content[used:]
        if len(rest) > _LONGEST:
            raise text.refusal(
                f"line {{}} has over {format_count(_LONGEST)} bytes; check its double quotes.", used
            )


def _line_ends(text: bytes, header: CsvHeader, until: int | None = None) -> int:
    return text.count(header.newline[-1].encode(), 0, until)


@dataclass(frozen=True, slots=True, eq=False)
class _Text:
    """A part of a file that starts with the record on line `line`."""

    content: bytes
    header: CsvHeader
    name: str
    line: int

    def refusal(self, words: str, *places: int) -> InvalidInput:
        """Say what is wrong, with the lines of some places of the text put in."""
        lines = (self.line + _line_ends(self.content, self.header, place) for place in places)
        return InvalidInput(f"{self.name} cannot be read: {words.format(*lines)}")


@dataclass(frozen=True, slots=True, eq=False)
class _Marks:
    """Where fields end, which of these ends are line ends, which quotes are the second of two doubled ones."""

    ends: Places
    is_line: Flags
    doubled: Places

    @property
    def last(self) -> int:
        """Where the last field starts, which has no end yet."""
        return int(self.ends[-1]) + 1 if len(self.ends) else 0


def _find_marks(text: _Text) -> _Marks:
    """Find delimiters and line ends outside quotes, and check that quotes and line ends are where they may be."""
    content = np.frombuffer(text.content, dtype=np.uint8)
    delimiter, newline = ord(text.header.delimiter), ord(text.header.newline[-1])
    found = (content == delimiter) | (content == newline)
    for sign in (_QUOTE, _LF, _CR):
        if sign != newline and sign in text.content:
            found |= content == sign
    places = np.flatnonzero(found)
    signs = content[places]
    doubled = places[:0]
    if _QUOTE in text.content:
        quote = signs == _QUOTE
        inside = np.cumsum(quote) % 2 == 1
        doubled = _check_quotes(text, content, places[quote & inside], places[quote & ~inside])
        outside = ~quote & ~inside
        places, signs = places[outside], signs[outside]
    if text.header.newline != "\n" or _CR in text.content:
        _check_line_ends(text, content, places, signs)
        ends = (signs == delimiter) | (signs == newline)
        places, signs = places[ends], signs[ends]
    return _Marks(places, signs == newline, doubled)


def _check_quotes(text: _Text, content: Bytes, opening: Places, closing: Places) -> Places:
    """Refuse quotes that do not stand at an end of a field and are not doubled; the second ones of those that are."""
    beside = np.zeros(256, dtype=bool)
    beside[[ord(text.header.delimiter), _QUOTE, _LF, _CR]] = True
    before = content[np.maximum(opening - 1, 0)]  # the first byte is a quote only if it may be
    after = content[np.minimum(closing + 1, len(content) - 1)]  # so is the last: what follows is not read yet
    stray = [*opening[~beside[before]][:1].tolist(), *closing[~beside[after]][:1].tolist()]
    if stray:
        raise text.refusal(
            "line {} has a double quote that neither starts nor ends its field; "
            "put the field in double quotes and double those in it, or close the field before.",
            min(stray),
        )
    second: Places = opening[(before == _QUOTE) & (opening > 0)]
    return second


def _check_line_ends(text: _Text, content: Bytes, places: Places, signs: Bytes) -> None:
    """Refuse line ends of another kind than that of the header."""
    if text.header.newline == "\r\n":
        returns = places[signs == _CR]
        wrong = np.setxor1d(returns + 1, places[signs == _LF])
        wrong = wrong[wrong < len(content)]  # what follows the last byte is not read yet
    else:
        wrong = places[signs == (_CR if text.header.newline == "\n" else _LF)]
    if len(wrong):
        raise text.refusal(
            "its lines do not all end alike, line {} not as the first; save it anew.", int(wrong[0])
        )


def _cut(text: _Text, marks: _Marks) -> tuple[Records, int]:
    """The whole records of a text, and the number of their bytes."""
    width, newline = len(text.header.names), len(text.header.newline)
    lines = np.flatnonzero(marks.is_line)
    whole = int(lines[-1]) + 1 if len(lines) else 0
    ends, counts = marks.ends[:whole], np.diff(lines, prepend=-1)
    used = int(ends[-1]) + 1 if whole else 0
    _check_text(text, used)
    starts = np.concatenate(([0], ends[lines] + 1))[:-1]
    if (counts != width).any():
        empty = (counts == 1) & (starts == ends[lines] - (newline - 1))
        wrong = np.flatnonzero((counts != width) & ~empty)
        if len(wrong):
            raise text.refusal(
                f"line {{}} must have {width} fields, got {counts[wrong[0]]}; "
                "correct it, or put a field in double quotes.",
                int(starts[wrong[0]]),
            )
        starts, ends = starts[~empty], np.delete(ends, lines[empty])
    content = np.frombuffer(text.content, dtype=np.uint8)
    return Records(content, starts, ends.reshape(-1, width), marks.doubled, newline), used


def _check_text(text: _Text, used: int) -> None:
    """Refuse bytes that are no UTF-8, in whichever column."""
    if text.content.isascii():
        return
    try:
        text.content[:used].decode()
    except UnicodeDecodeError as error:
        raise text.refusal(f"line {{}} {NOT_UTF8.removeprefix('it ')}", error.start) from error


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
        with _open_unpacked(path) as file:
            header = read_header(path, file)
        return cls(path, header, backend, _expression(backend, len(header.names)))

    def load(self, places: Collection[int]) -> None:
        """Read the file, if some of these columns are not there yet.

        Raises
        ------
        InvalidInput
            When it is no CSV file (see `read_records`), is cut short, or has changed since it was read.
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
        with _open_unpacked(self.path) as file:
            before, read = stamp(self.path), _Digested(file)
            same = read.read(len(self.header.line)) == self.header.line
            for records in read_records(read, self.header, str(self.path)) if same else ():
                _insert(self.backend.con, records, wanted, first)
                first += len(records)
        digest = read.hash.digest()
        if not same or before != stamp(self.path) or self.digest not in (None, digest):
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
        """Read the next bytes."""
        block = self.file.read(size)
        self.hash.update(block)
        return block


@contextmanager
def _open_unpacked(path: Path) -> Iterator[Readable]:
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
