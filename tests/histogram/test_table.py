"""Tables into counts and back, and every way a file can be wrong."""

import csv
import io
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.warnings_of_engines import IGNORED
from tightlip.errors import InvalidInput, ShapeMismatch, WrongType
from tightlip.histogram import table as tables
from tightlip.histogram.table import tabulate

pytestmark = IGNORED

ROWS = [("x", "1"), ("y", "2"), ("x", "1"), ("x", "2")]
RECORDS = [{"a": a, "b": b} for a, b in ROWS]


def written(folder, text, name="table.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def sources(folder):
    yield RECORDS
    yield {"a": [a for a, _ in ROWS], "b": [int(b) for _, b in ROWS]}
    yield written(folder, "a,b\n" + "".join(f"{a},{b}\n" for a, b in ROWS))
    yield str(written(folder, "\ufeffa,b\r\n" + "".join(f'"{a}",{b}\r\n' for a, b in ROWS) + "\r\n"))


def test_errors_hold_no_record():
    for records in ([{"ill": "no"}, {"illness": "HIV"}], [{"ill": "no"}, ["HIV"]]):
        with pytest.raises(WrongType, match="table record 1 must be a mapping") as caught:
            tabulate(records)
        assert "HIV" not in str(caught.value)


def test_all_sources_agree(tmp_path):
    for source in sources(tmp_path):
        counted = tabulate(source, ["a", "b"])
        assert counted.domain.values == (("x", "y"), ("1", "2"))
        assert counted.counts.tolist() == [2, 1, 0, 1]
        assert Counter(counted.rows()) == Counter(ROWS)
        assert tabulate(source).domain.columns == ("a", "b")


def test_feasible_cells():
    every = tabulate(RECORDS)
    assert "values of each column were read from the table" in every.domain.note
    seen = tabulate(RECORDS, feasible="observed")
    assert "combinations were read from the table" in seen.domain.note
    assert list(seen.domain.cells(np.arange(3))) == [("x", "1"), ("x", "2"), ("y", "2")]
    assert seen.counts.tolist() == [2, 1, 1]
    book = tabulate(RECORDS, feasible={"a": ["y", "x", "z"], "b": [1, 2]})
    assert (book.domain.size, book.domain.note, book.counts.tolist()) == (6, None, [0, 1, 2, 1, 0, 0])
    listed = tabulate(RECORDS, feasible=[("y", 2), ("x", 2), ("x", 1), ("z", 9)])
    assert (listed.domain.size, listed.domain.note) == (4, None)
    assert Counter(listed.rows()) == Counter(ROWS)


@pytest.mark.parametrize(
    ("feasible", "message"),
    [
        ({"a": ["x"], "b": ["1", "2"]}, 'row 2, column "a" must be a feasible value'),
        ({"a": ["x", "y"]}, 'must list the values of column "b"'),
        ({"a": "xy", "b": ["1", "2"]}, 'must list the values of column "a"'),
        ([("x", "1"), ("y", "2")], "row 4 must be a feasible combination"),
        ([("x", "1"), ("x", "2"), ("y", "1")], "row 2 must be a feasible combination"),
        ([("x",)], "must have 2 values"),
        ([], "at least one row"),
        ("all", 'must be "observed"'),
    ],
)
def test_infeasible(feasible, message):
    with pytest.raises(InvalidInput, match=message):
        tabulate(RECORDS, feasible=feasible)


def test_long_keys_stay_exact(monkeypatch):
    """Wide tables have more combinations than 64 bits; keys are made dense on the way."""
    monkeypatch.setattr(tables, "_LARGEST_KEY", 8)
    rows = {f"c{j}": [str((7 * i + j * i * i) % 5) for i in range(60)] for j in range(6)}
    counted = tabulate(rows, feasible="observed")
    assert Counter(counted.rows()) == Counter(zip(*rows.values(), strict=True))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; a CSV file starts with a line of column names"),
        ("a,b\n", "has no rows"),
        ("a,b\n1,2\n1\n", "line 3 must have 2 fields, got 1"),
        ("a,a\n1,2\n", "must have each column name once"),
        ("a,c\n1,2\n", 'must have the column "b", got only "a, c"'),
        (b"a,b\n\xff,2\n", "line 2 has text that is not valid UTF-8"),
        ('a,b\n"1"x,2\n', "line 2 has a double quote that neither starts nor ends its field"),
    ],
)
def test_bad_files(tmp_path, text, message):
    with pytest.raises(InvalidInput, match=message):
        tabulate(written(tmp_path, text), ["a", "b"])


def test_missing_file_and_folder(tmp_path):
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(InvalidInput, match="cannot be read"):
            tabulate(path, ["a"])


@pytest.mark.parametrize(
    ("source", "columns", "kind", "message"),
    [
        (RECORDS, "a", WrongType, "columns must be a list"),
        (RECORDS, ["a", "a"], InvalidInput, "must be different"),
        ([], None, InvalidInput, "at least one row"),
        ({"a": []}, ["a"], InvalidInput, "at least one row"),
        ([{"a": 1}, {"b": 1}], ["a"], WrongType, "record 1"),
        ({"a": ["1"], "b": ["1", "2"]}, None, ShapeMismatch, "equally long"),
        ({"a": [None]}, None, InvalidInput, "no missing value"),
        ({"a": [1.0, float("nan")]}, None, InvalidInput, "no missing value"),
        (7, None, WrongType, "table must be a path"),
    ],
)
def test_bad_tables(source, columns, kind, message):
    with pytest.raises(kind, match=message):
        tabulate(source, columns)


def test_too_many_cells():
    wide = {f"c{j}": [str(i) for i in range(100)] for j in range(5)}
    with pytest.raises(InvalidInput, match="got 10000000000; choose fewer columns"):
        tabulate(wide)


@given(st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), min_size=1, max_size=8))
@settings(max_examples=60)
def test_csv_text_reads_back(rows):
    """Quotes, line ends, commas and formulas survive."""
    rows = [(a or "?", b.replace("\x00", "")) for a, b in rows]
    counted = tabulate([{"a,\n": a, '"': b} for a, b in rows], feasible="observed")
    read = list(csv.reader(io.StringIO(counted.csv_text(), newline="")))
    assert read[0] == ["a,\n", '"']
    assert Counter(map(tuple, read[1:])) == Counter(rows)


def test_formulas_are_kept_unless_asked():
    counted = tabulate({"a": ["=1+1", "-5", "plain"], "@b": ["x", "x", "x"]})
    assert counted.has_formulas()
    assert counted.csv_text() == "a,@b\n-5,x\n=1+1,x\nplain,x\n"
    assert counted.csv_text(spreadsheet_safe=True) == "a,'@b\n'-5,x\n'=1+1,x\nplain,x\n"
    assert not tabulate(RECORDS).has_formulas()
