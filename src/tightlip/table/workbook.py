"""Read a sheet of an Excel workbook (.xlsx, .xlsm, .xls): the values that are stored in it, every cell accounted for.

The first row has the names of the columns, and each row after it is one of the table. A reader that gives an empty
cell for what it does not understand would make a missing value of an error or of a formula that was never worked out.
So an .xlsx file is read twice. calamine gives values, and knows texts, styles and calendars. A scan of the sheet's XML
says which cells there are and of which type. Only where the two agree on every cell is the sheet read. An .xls file is
read by xlrd, which tells all types of cells apart.

Refused are rows that are empty although others follow, columns with cells but without a name, and merged cells, which
have one value for several; a column with an error value, a formula whose value is not stored, or a time is refused when
it is used. Rows and columns at the end without a value are left out. What is hidden or filtered is read like the rest.
"""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tightlip.errors import InvalidInput, quoted
from tightlip.table.cells import Missing, Unreadable, frame_of
from tightlip.table.failure import load_reader
from tightlip.table.frame import Frame
from tightlip.table.kinds import plain_label
from tightlip.table.policy import require_known

COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # first bytes of .xls, and of workbooks with a password
_EMPTY, _EMPTY_TEXT = Missing("empty cells"), Missing("empty texts")
_FORMULA = Unreadable(
    "formulas whose values are not stored; open the file in a spreadsheet program and save it"
)
_TIME = Unreadable("dates with a time of day, or times")
_PLACE = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})")
_WHOLE = re.compile("0|-?[1-9][0-9]*")  # -0 is no 0
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_STRICT_RELATION = "{http://purl.oclc.org/ooxml/officeDocument/relationships}id"


def read_workbook(path: Path, sheet: str | None) -> Frame:
    """Read one sheet; it must be named where there are several.

    Raises
    ------
    InvalidInput
        When the file is cut short, damaged or protected by a password, or the sheet is no table.
    """
    content = path.read_bytes()
    try:
        read = _read_compound if content.startswith(COMPOUND) else _read_zipped
        rows = read(content, str(path), sheet)
    except (InvalidInput, MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a reader in Rust panics with one that is no Exception
        raise _not_whole(str(path)) from error
    names = _names(rows, str(path))
    columns = [
        [row[place] if place < len(row) else _EMPTY for row in rows[1:]] for place in range(len(names))
    ]
    return frame_of(names, columns, str(path), first_row=2)


def _names(rows: Sequence[Sequence[Any]], table: str) -> list[str]:
    """The names of all columns that have a cell; no row but the last ones may be empty."""
    for number, row in enumerate(rows, start=1):
        if all(cell is _EMPTY for cell in row):
            raise InvalidInput(
                f"{table} must have no empty row before others, got row {number}; remove it, or what follows it."
            )
    names = []
    for place in range(max(map(len, rows), default=0)):
        name = rows[0][place] if place < len(rows[0]) else _EMPTY
        if isinstance(name, (int, float)) and not isinstance(name, bool):  # a year, perhaps
            name = plain_label(name, "real")
        if not isinstance(name, str) or not name.strip():
            raise InvalidInput(
                f"{table} must have a name in the first row of every column, got none in column {_letters(place)}; "
                "write one, or remove the column."
            )
        names.append(name)
    if not names:
        raise InvalidInput(
            f"{table} must start with a row of column names, got an empty sheet; name another."
        )
    return names


def _read_compound(content: bytes, name: str, sheet: str | None) -> list[list[Any]]:
    xlrd = load_reader("xlrd", "office")
    book = xlrd.open_workbook(file_contents=content, logfile=io.StringIO(), formatting_info=True)
    found = book.sheet_by_name(_chosen(book.sheet_names(), sheet, name))
    if found.merged_cells:
        top, _, left, _ = found.merged_cells[0]
        raise _merged(name, f"{_letters(left)}{top + 1}")
    rows = [
        [_compound_cell(xlrd, cell, book.datemode) for cell in found.row(place)]
        for place in range(found.nrows)
    ]
    return _without_trailing(rows)


def _compound_cell(xlrd: Any, cell: Any, epoch: int) -> Any:
    if cell.ctype in (xlrd.XL_CELL_EMPTY, xlrd.XL_CELL_BLANK):
        return _EMPTY
    if cell.ctype == xlrd.XL_CELL_TEXT:
        return cell.value or _EMPTY_TEXT
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return bool(cell.value)
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return Unreadable(f"the error {xlrd.error_text_from_code.get(cell.value, 'value')}")
    if cell.ctype == xlrd.XL_CELL_DATE:
        whole = float(cell.value).is_integer()
        return xlrd.xldate_as_datetime(cell.value, epoch).date() if whole else _TIME
    return cell.value


@dataclass(frozen=True, slots=True)
class _Stored:
    """A cell as the XML has it: its type, the text of its value, and whether there is a formula."""

    type: str
    value: str | None
    formula: bool

    @property
    def is_empty(self) -> bool:
        """Whether it has a style alone."""
        return self.type == "n" and not self.value and not self.formula

    @property
    def is_unknown(self) -> bool:
        """Whether it has a formula that nobody has worked out; the value of one may be an empty text."""
        return self.formula and (self.value is None or (self.type == "n" and not self.value))


def _read_zipped(content: bytes, name: str, sheet: str | None) -> list[list[Any]]:
    calamine = load_reader("python_calamine", "office")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if archive.testzip() is not None:
            raise _not_whole(name)
        parts = _sheet_parts(archive)
        chosen = _chosen([*parts], sheet, name)
        with archive.open(parts[chosen]) as file:
            stored = list(_scan(file, name))
    book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
    values = book.get_sheet_by_name(chosen).to_python(skip_empty_area=False)
    rows = _without_trailing(_agreed(stored, values, name))
    if sum(cell is not _EMPTY for row in rows for cell in row) != len(stored):
        raise _not_whole(name)
    return rows


def _sheet_parts(archive: zipfile.ZipFile) -> dict[str, str]:
    """The sheets and the parts of the file that they are in."""
    relations = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    targets = {one.get("Id"): one.get("Target", "") for one in relations}
    kinds = {one.get("Id"): one.get("Type", "").rpartition("/")[2] for one in relations}
    found: dict[str, str] = {}
    for one in ElementTree.fromstring(archive.read("xl/workbook.xml")).iter():
        number = one.get(_RELATION) or one.get(_STRICT_RELATION)
        if _tag(one) == "sheet" and kinds[number] == "worksheet":
            target = targets[number]
            found[one.attrib["name"]] = target[1:] if target.startswith("/") else f"xl/{target}"
    return found


def _scan(file: Any, name: str) -> Iterator[tuple[int, int, _Stored]]:
    """The cells that a sheet stores, row by row, with their row and column from 0; each may be there once."""
    before = (-1, -1)
    for _, element in ElementTree.iterparse(file):
        tag = _tag(element)
        if tag == "mergeCell":
            raise _merged(name, element.get("ref", "").partition(":")[0])
        if tag == "row":
            element.clear()
        if tag != "c":
            continue
        place = _PLACE.fullmatch(element.get("r", ""))
        if place is None:
            raise _not_whole(name)
        here = (int(place[2]) - 1, _number(place[1]))
        if here <= before:
            raise _not_whole(name)
        before, cell = here, _stored(element)
        if not cell.is_empty:
            yield *here, cell


def _stored(cell: ElementTree.Element) -> _Stored:
    parts = {_tag(part): part for part in cell}
    value = parts["v"].text or "" if "v" in parts else None
    return _Stored(cell.get("t", "n"), value, "f" in parts)


def _agreed(
    stored: Sequence[tuple[int, int, _Stored]], values: Sequence[Sequence[Any]], name: str
) -> list[list[Any]]:
    """The cells of both readings; everything that only one of them has ends it."""
    rows: list[list[Any]] = [[_EMPTY] * len(row) for row in values]
    for row, column, cell in stored:
        if row >= len(rows):
            rows += [[] for _ in range(row + 1 - len(rows))]
        rows[row] += [_EMPTY] * (column + 1 - len(rows[row]))
        inside = row < len(values) and column < len(values[row])
        rows[row][column] = _agreed_cell(cell, values[row][column] if inside else "", name)
    if any(
        value != "" and rows[row][column] is _EMPTY
        for row, found in enumerate(values)
        for column, value in enumerate(found)
    ):
        raise _not_whole(name)
    return rows


def _agreed_cell(cell: _Stored, value: Any, name: str) -> Any:
    if cell.type == "e":
        return Unreadable(f"the error {quoted(cell.value or '', 12)}")
    if cell.is_unknown:
        return _FORMULA
    if cell.type in ("s", "str", "inlineStr") and isinstance(value, str):
        return value or _EMPTY_TEXT
    if cell.type == "b" and isinstance(value, bool):
        return value
    if cell.type == "d" and isinstance(value, (datetime.date, datetime.time)):
        return value if type(value) is datetime.date else _TIME
    if cell.type == "n" and cell.value is not None:
        number = float(cell.value)
        if type(value) in (int, float) and value == number:
            return int(cell.value) if _WHOLE.fullmatch(cell.value) else number
        if isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
            return value if type(value) is datetime.date and number.is_integer() else _TIME
    raise _not_whole(name)


def _without_trailing(rows: list[list[Any]]) -> list[list[Any]]:
    """The rows without those at the end, and the cells at the end of each, that are empty."""
    for row in rows:
        while row and row[-1] is _EMPTY:
            row.pop()
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _chosen(names: Sequence[str], sheet: str | None, table: str) -> str:
    if sheet is None:
        if len(names) != 1:
            known = ", ".join(quoted(one, 40) for one in names[:8]) or "none"
            raise InvalidInput(
                f"table must be named for {table}, which has the sheets {known}; name one with the option table."
            )
        return names[0]
    require_known(sheet, names, f"sheet of {table}")
    return sheet


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _number(letters: str) -> int:
    """The place of a column from 0: A is 0, Z is 25, AA is 26."""
    found = 0
    for letter in letters:
        found = 26 * found + ord(letter) - ord("A") + 1
    return found - 1


def _letters(place: int) -> str:
    """What a column is called: the inverse of `_number`."""
    found = ""
    while place >= 0:
        found, place = chr(ord("A") + place % 26) + found, place // 26 - 1
    return found


def _merged(name: str, place: str) -> InvalidInput:
    return InvalidInput(
        f"{name} must have no merged cells, got some at {quoted(place, 12)}; unmerge them and fill each in."
    )


def _not_whole(name: str) -> InvalidInput:
    return InvalidInput(
        f"{name} cannot be read: it is no whole Excel workbook, but cut short, changed or protected by a password; "
        "save it anew without a password."
    )
