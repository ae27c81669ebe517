"""Read files of SPSS (.sav, .zsav), Stata (.dta) and SAS (.sas7bdat, .xpt): whole, and with the codes that they store.

Codes stay codes. Two of them may have the same label, and some none, so that labels would merge or lose values; which
columns have labels is told. A value that SPSS is to take for missing, like −99 for "refused", is a value of its own.
Stata and SAS have 27 and 28 missing values, `.`, `.a` to `.z` and `._`: a column with one of them has it missing, and
one with several is refused (see `cells`).

Dates are stored as numbers of days or seconds since some day; only whole days are dates.

What the reader, ReadStat, does not notice of a file that is cut short is checked here:

    SPSS    that the header says how many rows there are; with −1 any number will do
    Stata   that the last tag is there (since version 13; before, rows have a fixed place)
    SAS     that a transport file is made of records of 80 bytes, and that only blanks follow its last row. The format
            has no number of rows (its version 8 may), so like a CSV file one that ends between two rows is whole

SPSS portable files (.por) are refused: the reader gives every declared missing value as missing, whichever it is.
"""

from __future__ import annotations

import datetime
import re
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tightlip.errors import InvalidInput
from tightlip.table.cells import Missing, Unreadable, frame_of
from tightlip.table.failure import load_reader
from tightlip.table.frame import Frame

Program = Literal["SPSS", "Stata", "SAS", "SAS transport"]

_READERS: dict[Program, str] = {
    "SPSS": "read_sav",
    "Stata": "read_dta",
    "SAS": "read_sas7bdat",
    "SAS transport": "read_xport",
}
_MISSING = Missing(".")
_SAS_DAYS = (
    "DATE|E8601DA|B8601DA|IS8601DA|WEEKDATE|WEEKDATX|WORDDATE|WORDDATX|JULIAN|MONYY|NLDATE"
    "|(DDMMYY|MMDDYY|YYMMDD)[BCDNPS]?"
)
_SAS_TIMES = (
    "DATETIME|DATEAMPM|MDYAMPM|DT[A-Z]+|TIME(AMPM)?|TOD|HHMM|HOUR|MMSS|NLDATM.*|NLTIM.*"
    "|(E|B|IS)8601(DT|DN|DX|DZ|TM|TZ|TX|LX|LZ)"
)
_DAYS: dict[str, str] = {
    "SPSS": r"[AEJS]?DATE[0-9.]*",
    "Stata": r"%-?t?d.*",
    "SAS": rf"({_SAS_DAYS})[0-9.]*",
}
_TIMES: dict[str, str] = {
    "SPSS": r"(DATETIME|YMDHMS|D?TIME|MTIME|WKYR|MOYR|QYR)[0-9.]*",
    "Stata": r"%-?t[^d].*",
    "SAS": rf"({_SAS_TIMES})[0-9.]*",
}
_ORIGINS = {
    "SPSS": datetime.date(1582, 10, 14),
    "Stata": datetime.date(1960, 1, 1),
    "SAS": datetime.date(1960, 1, 1),
}
_SECONDS_A_DAY = 86_400
_RECORD = 80  # bytes, of which a transport file is made
_NUMBER_OF_ROWS = 48  # where it stands in the record before the rows, in version 8
_OBSERVATIONS, _MEMBER = b"HEADER RECORD*******OBS", b"HEADER RECORD*******MEMB"
_TAGS = np.frombuffer(b"._ABCDEFGHIJKLMNOPQRSTUVWXYZ", dtype=np.uint8)  # first bytes of missing numbers there


def read_statistics(path: Path, program: Program) -> tuple[Frame, tuple[str, ...]]:
    """Read all columns of a file; returned with them are the names of those whose codes have labels.

    Raises
    ------
    InvalidInput
        When it is cut short, damaged or protected by a password, or what reads it is not installed.
    """
    reader = load_reader("pyreadstat", "statistics")
    _require_whole(path, program)
    options = {} if program == "SAS transport" else {"user_missing": True}
    try:
        columns, about = getattr(reader, _READERS[program])(
            str(path), output_format="dict", disable_datetime_conversion=True, **options
        )
    except (OSError, MemoryError):
        raise
    except Exception as error:  # of several kinds: errors of ReadStat, of texts, of numbers
        raise _not_whole(path, program) from error
    names = list(about.column_names)
    found = [columns[name] for name in names]
    if any(len(column) != about.number_rows for column in found):
        raise _not_whole(path, program)
    if program == "SAS transport":
        found = _with_tags(path, found, about)
    cells = [_cells(values, program, about, name) for name, values in zip(names, found, strict=True)]
    labelled = tuple(name for name in names if about.variable_value_labels.get(name))
    return frame_of(names, cells, str(path), first_row=1), labelled


def _cells(values: Sequence[Any], program: Program, about: Any, name: str) -> list[Any]:
    """The cells of what the reader gave: None or an empty text is missing; letters among numbers say how."""
    if about.readstat_variable_types[name] == "string":
        return [value or _MISSING for value in values]
    read = _number_reader(program.removesuffix(" transport"), about.original_variable_types[name] or "")
    return [_missing(value) or read(value) for value in values]


def _missing(value: Any) -> Missing | None:
    if value is None:
        return _MISSING
    if isinstance(value, str):
        return Missing(f".{value.lower()}")
    return value if isinstance(value, Missing) else None


def _number_reader(family: str, form: str) -> Callable[[Any], Any]:
    """What makes a cell of a number that is shown in some format."""
    if re.fullmatch(_TIMES[family], form):
        return lambda value: Unreadable(f"dates with times ({form})")
    if not re.fullmatch(_DAYS[family], form):
        return lambda value: value
    origin, unit = _ORIGINS[family].toordinal(), _SECONDS_A_DAY if family == "SPSS" else 1
    return lambda value: _date(value / unit, origin)


def _date(days: float, origin: int) -> datetime.date | Unreadable:
    if not float(days).is_integer():
        return Unreadable("dates with a time of day")
    if not 1 <= origin + days <= datetime.date.max.toordinal():
        return Unreadable("dates before the year 1 or after 9999")
    return datetime.date.fromordinal(origin + int(days))


def _require_whole(path: Path, program: Program) -> None:
    """Refuse what the reader takes for whole although it may be cut."""
    with path.open("rb") as file:
        start = file.read(84)
        file.seek(max(0, path.stat().st_size - 100))
        end = file.read()
    if program == "SPSS":
        little = start[64:68] in (b"\2\0\0\0", b"\3\0\0\0")
        if len(start) < 84 or struct.unpack("<i" if little else ">i", start[80:84])[0] < 0:
            raise InvalidInput(
                f"{path} cannot be read: it does not say how many rows it has, so that a part could be taken for the "
                "whole; open it in SPSS or PSPP and save it again."
            )
    if program == "Stata" and start.startswith(b"<") and not end.rstrip().endswith(b"</stata_dta>"):
        raise _not_whole(path, program)
    if program == "SAS transport" and path.read_bytes().count(_MEMBER) > 1:
        raise InvalidInput(f"{path} must hold one table, got several; write each to a file of its own.")


def _with_tags(path: Path, columns: Sequence[Any], about: Any) -> list[Any]:
    """The columns of a transport file with the kinds of missing numbers, which the reader does not tell apart."""
    rows = _transport_rows(path, about)
    found, start = [], 0
    for name, values in zip(about.column_names, columns, strict=True):
        end = start + about.variable_storage_width[name]
        if about.readstat_variable_types[name] != "string":
            stored = rows[:, start:end]
            tagged = np.isin(stored[:, 0], _TAGS) & ~stored[:, 1:].any(axis=1)
            values = [
                Missing("." + chr(tag).lower().strip(".")) if is_tag else value
                for value, is_tag, tag in zip(values, tagged.tolist(), stored[:, 0].tolist(), strict=True)
            ]
        found.append(values)
        start = end
    return found


def _transport_rows(path: Path, about: Any) -> Any:
    """The bytes of the rows (row × byte), after the header and without the blanks at the end."""
    data = path.read_bytes()
    start = data.find(_OBSERVATIONS) + _RECORD
    width, rows = sum(about.variable_storage_width.values()), about.number_rows
    rest = data[start + width * rows :]
    told = data[start - _RECORD : start][_NUMBER_OF_ROWS:].strip()
    texts_only = {*about.readstat_variable_types.values()} == {"string"}
    cut = len(data) % _RECORD or len(rest) >= _RECORD or rest.strip(b" ") or width * rows > len(data) - start
    if cut or (told.strip(b"0") and told != str(rows).encode()):
        raise _not_whole(path, "SAS transport")
    if texts_only and len(rest) >= width and not told.strip(b"0"):
        raise InvalidInput(
            f"{path} cannot be read: blanks at its end may be rows or filling; write it with a column of numbers."
        )
    return np.frombuffer(data, dtype=np.uint8, count=width * rows, offset=start).reshape(rows, width)


def _not_whole(path: Path, program: Program) -> InvalidInput:
    return InvalidInput(
        f"{path} cannot be read: it is no whole {program} file, but cut short, changed or protected by a password; "
        "copy it again, or save it anew without a password."
    )
