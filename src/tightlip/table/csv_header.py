"""The first line of a CSV file, which says how the rest is to be read.

DuckDB can guess all of this from a sample of lines. A wrong guess may drop rows without a word: lines that start with #
as comments, or all lines of a file whose ends of line are not those it took. Told what they are, it reads all or fails.
It also drops a last line that is longer than the 32 MB it reads at a time, unless it reads with one thread: files with
such lines are looked for, and read so.
"""

from __future__ import annotations

import csv
import gzip
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tightlip.errors import InvalidInput
from tightlip.table.failure import NOT_UTF8

_LONGEST = 1_000_000
_DELIMITERS = (",", ";", "\t", "|")
_RECORD = re.compile(r'(?:[^"\r\n]|"(?:[^"]|"")*")*')
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_ESCAPED = {"\n": r"\n", "\r": r"\r", "\r\n": r"\r\n"}


@dataclass(frozen=True, slots=True)
class CsvHeader:
    """Column names, what stands between fields and ends a line, how the file is packed, may threads share it."""

    names: tuple[str, ...]
    delimiter: str
    newline: str
    compression: str
    parallel: bool

    def options(self) -> dict[str, Any]:
        """How DuckDB is told to read the file: every field as text, nothing guessed."""
        return {
            "auto_detect": False,
            "columns": {f"c{place}": "VARCHAR" for place in range(len(self.names))},
            "header": True,
            "delim": self.delimiter,
            "new_line": _ESCAPED[self.newline],
            "quote": '"',
            "escape": '"',
            "comment": "",
            "compression": self.compression,
            "parallel": self.parallel,
            "hive_partitioning": False,
        }


def read_header(path: Path) -> CsvHeader:
    """Read the names; the delimiter is the most frequent of , ; tab and | outside quotes.

    Raises
    ------
    InvalidInput
        When the file cannot be read, or its first line is empty, not UTF-8 text or too long.
    """
    compression = "gzip" if path.suffix.lower() == ".gz" else "none"
    text = _start(path, compression)
    record = _RECORD.match(text)
    line = record.group() if record else ""
    rest = text[len(line) : len(line) + 2]
    if len(line) >= _LONGEST or rest.startswith('"'):
        raise InvalidInput(
            f"{path} must start with a line of column names, got no end of it; check its quotes."
        )
    if any("\udc80" <= letter <= "\udcff" for letter in line):  # bytes that are no text
        raise InvalidInput(f"{path} cannot be read: {NOT_UTF8}")
    newline = rest if rest == "\r\n" else rest[:1] or "\n"
    unquoted = _QUOTED.sub("", line)
    delimiter = max(_DELIMITERS, key=unquoted.count)
    names = next(csv.reader([line], delimiter=delimiter), [])
    if not names:
        raise InvalidInput(f"{path} must start with a line of column names, got an empty line; remove it.")
    parallel = compression == "none" and not _has_long_line(path, newline[-1].encode())
    return CsvHeader(tuple(names), delimiter, newline, compression, parallel)


def _has_long_line(path: Path, end: bytes) -> bool:
    """Whether some line may have a megabyte or more; those of two have."""
    with path.open("rb") as file:
        while len(block := file.read(_LONGEST)) == _LONGEST:
            if end not in block:
                return True
    return False


def _start(path: Path, compression: str) -> str:
    try:
        with gzip.open(path) if compression == "gzip" else path.open("rb") as file:
            start = file.read(_LONGEST)
    except (OSError, EOFError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}; check that it is whole.") from error
    return start.decode("utf-8", errors="surrogateescape").removeprefix("\ufeff")
