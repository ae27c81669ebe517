"""The records of CSV files, against a reader that goes letter by letter."""

import io
import re
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tightlip.errors import InvalidInput
from tightlip.table import csv_file
from tightlip.table.csv_file import read_header, read_records

FIELD = re.compile(r'"((?:[^"]|"")*)"|([^",\r\n]*)')


def letter_by_letter(text: str, width: int, newline: str) -> list[list[tuple[str | None, bool]]] | None:
    """Rows of fields and whether each is in quotes, empty ones None; None for what is no CSV of this width."""
    rows, row, place = [], [], 0
    while place < len(text) or row:
        field = FIELD.match(text, place)
        in_quotes = field.group(1) is not None
        value = field.group(1).replace('""', '"') if in_quotes else field.group(2)
        row.append((value or None, in_quotes))
        place = field.end()
        if text.startswith(",", place):
            place += 1
            continue
        if not text.startswith(newline, place) and place < len(text):
            return None
        place += len(newline)
        if width > 1 and row == [(None, False)]:
            row = []
        if row and len(row) != width:
            return None
        rows += [row] if row else []
        row = []
    return rows


def by_blocks(text: str, width: int, newline: str) -> list[list[tuple[str | None, bool]]] | None:
    names = ",".join(f"n{place}" for place in range(width))
    file = io.BytesIO((names + newline + text).encode())
    header = read_header(Path("people.csv"), file)
    file.seek(len(header.line))
    rows: list = []
    try:
        for records in read_records(file, header, "people.csv"):
            columns = [records.column(place) for place in range(width)]
            for array, _ in columns:
                array.validate(full=True)
            pairs = [zip(array.to_pylist(), flags.tolist(), strict=True) for array, flags in columns]
            rows += map(list, zip(*pairs, strict=True))
    except InvalidInput:
        return None
    return rows


@pytest.fixture(scope="module", params=[1, 7, 1 << 22], ids=["bytes", "small blocks", "one block"])
def _blocks(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_file, "_BLOCK", request.param)
        yield


PIECES = [
    "a",
    "bc",
    "é",
    "😀",
    '"',
    '""',
    '"a"',
    '"x""y"',
    '"a,b"',
    '"l\ne"',
    '"l\r\ne"',
    ",",
    ",",
    "\n",
    "\r\n",
    "\r",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
FIELDS = st.sampled_from(["", "a", "é", '""', '"a"', '"a""b"', '","', '"\n"', '"\r"', '""""'])


@pytest.mark.usefixtures("_blocks")
@given(TEXTS, st.integers(1, 3), st.sampled_from(["\n", "\r\n", "\r"]))
@example('a,"', 2, "\n")
@example("a,b\r", 2, "\r\n")
def test_any_text_is_read_or_refused_alike(text, width, newline):
    assume(not (newline == "\r" and text.startswith("\n")))  # the header's own end would be another
    assert by_blocks(text, width, newline) == letter_by_letter(text, width, newline)


@pytest.mark.usefixtures("_blocks")
@given(
    st.lists(st.one_of(st.lists(FIELDS, min_size=3, max_size=3), st.just([""])), max_size=8),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
)
def test_well_formed_records_are_read_whole(rows, newline, closed):
    text = newline.join(map(",".join, rows)) + newline * closed
    found = by_blocks(text, 3, newline)
    assert found == letter_by_letter(text, 3, newline)
    assert len(found) == sum(len(row) == 3 for row in rows)


@pytest.mark.usefixtures("_blocks")
@pytest.mark.parametrize(
    ("body", "line"),
    [
        (b"1,\xff,3\n", 2),
        (b'1,"a\n\nb",3\n1,2,"\xc3"\n', 5),
        (b"1,2,3\n1,2,\xed\xa0\x80\n", 3),  # half of a pair of surrogates
        (b"1,2,3\n" * 40 + b"\xc0\xaf,2,3", 42),  # a letter in too many bytes
    ],
)
def test_bytes_that_are_no_text_are_found_in_every_column(body, line):
    file = io.BytesIO(b"a,b,c\n" + body)
    header = read_header(Path("people.csv"), file)
    file.seek(len(header.line))
    with pytest.raises(InvalidInput, match=rf"line {line} has text that is not valid UTF-8"):
        list(read_records(file, header, "people.csv"))
