"""The first line of a CSV file, which says how the rest is to be read."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tightlip.errors import InvalidInput
from tightlip.table.failure import NOT_UTF8

_LONGEST = 1_000_000  # names of so many bytes are read before the end of the line is given up
_DELIMITERS = (",", ";", "\t", "|")
_RECORD = re.compile(r'(?:[^"\r\n]|"(?:[^"]|"")*")*')
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_BYTE_ORDER_MARK = "\ufeff"


class Readable(Protocol):
    """What bytes can be read from, at most so many at a time and none at the end."""

    def read(self, size: int, /) -> bytes:
        """The next bytes."""


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
    text = file.read(_LONGEST).decode("utf-8", errors="surrogateescape")
    if not text:
        raise InvalidInput(f"{path} is empty; a CSV file starts with a line of column names.")
    mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
    text = text.removeprefix(mark)
    record = _RECORD.match(text)
    line = record.group() if record else ""
    rest = text[len(line) : len(line) + 2]
    if rest.startswith('"') or (len(text) == len(line) and file.read(1)):
        raise InvalidInput(
            f"{path} must start with a line of column names of at most {_LONGEST:,} bytes, got no end of it; "
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
