"""The records of a CSV file: every byte is checked, and the fields of some columns are taken out.

An engine's own reader is quick, but may leave rows out where a file is cut or a line is long, and takes a line with one
empty field too many, or bytes that are no text in a column that it is not asked for. Here a file is what RFC 4180 says
or it is refused with the line: fields in double quotes, in which quotes are doubled, or without any quote; as many in
each line as there are names; one kind of line end outside quotes; UTF-8. Empty lines are left out, unless there is one
column only, where they are empty fields.

Quotes come in pairs, so a delimiter or line end is outside of quotes where the number of quotes before it is even. That
makes all of this arithmetic on arrays of bytes, block by block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput
from tightlip.numeric.display import grouped
from tightlip.table.csv_header import CsvHeader, Readable
from tightlip.table.failure import NOT_UTF8

_BLOCK = 1 << 22  # bytes read at a time: more take memory (some 50 bytes for each of them), fewer take time
_LONGEST = 1 << 26  # bytes of one record: more take memory, and an unclosed quote is noticed later
_QUOTE, _LF, _CR = b'"\n\r'

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]
Flags = NDArray[np.bool_]


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
        """The fields of a column as an Arrow array, empty ones missing, and which of them stand in quotes."""
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
                f"line {{}} has over {grouped(_LONGEST)} bytes; check its double quotes.", used
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
        """What is wrong, with the lines of some places of the text put in."""
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
