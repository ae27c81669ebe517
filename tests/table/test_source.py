"""Opening tables: what is refused, in one line, and what is read."""

import gzip
import sqlite3
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from contract.warnings_of_engines import IGNORED
from tightlip.errors import InvalidInput, WrongType
from tightlip.table.counts import count_cells
from tightlip.table.policy import Policy
from tightlip.table.source import open_table

pytestmark = IGNORED

PEOPLE = pa.table({"age": [30, 31, 30], "ill": ["yes", "no", "no"]})
POLICY = Policy("ill", ["age"])


def refused(call, *words) -> str:
    with pytest.raises(InvalidInput) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message, message
    return message


def csv_file(folder, content: bytes | str, name="people.csv"):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def counted(source, policy=POLICY, **options) -> dict:
    with open_table(source, **options) as table:
        counts = count_cells(table, policy)
    triples = zip(counts.secret_of, counts.cell_of, counts.count, strict=True)
    return {(counts.secrets[s], counts.cells[c]): int(n) for s, c, n in triples}


EXPECTED = {(("yes",), ("30",)): 1, (("no",), ("30",)): 1, (("no",), ("31",)): 1}


def test_missing_and_unknown_files(tmp_path):
    refused(lambda: open_table(tmp_path / "none.csv"), "none.csv cannot be read", "No such file")
    refused(lambda: open_table(tmp_path), "cannot be read")
    refused(
        lambda: open_table(csv_file(tmp_path, "x", "people.xlsx")),
        "must be a CSV, Parquet, DuckDB, SQLite, Excel",
    )
    refused(lambda: open_table(csv_file(tmp_path, b"")), "is empty")
    refused(lambda: open_table(csv_file(tmp_path, "age,ill\n"), table="people"), "is for databases")


def test_what_is_no_table_is_refused():
    with pytest.raises(WrongType, match="got 3 of type int"):
        open_table(3)


def test_a_table_without_rows_is_refused(tmp_path):
    refused(lambda: counted(csv_file(tmp_path, "age,ill\n")), "has no rows")
    refused(lambda: counted(PEOPLE.slice(0, 0)), "has no rows")
    assert open_table(csv_file(tmp_path, "age,ill")).rows() == 0


def test_a_parquet_file_cut_short(tmp_path):
    path = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(PEOPLE, path)
    path.write_bytes(path.read_bytes()[:-20])
    refused(lambda: open_table(path), "people.parquet cannot be read: Parquet magic bytes not found")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"age,ill\n30,yes\n31,\xff\xfe\n", "not valid UTF-8"),
        (b"age,\xff\n30,yes\n", "not valid UTF-8"),
        (b"age,ill\n30,yes\n31\n", "line 3 must have 2 fields, got 1"),
        (b"age,ill\n30,yes\n31,no,x\n", "line 3 must have 2 fields, got 3"),
        (b"age,ill\n30,yes\n31,no,\n", "line 3 must have 2 fields, got 3"),
        (b'age,ill\n30,yes\n31,no,""\n', "line 3 must have 2 fields, got 3"),
        (b"age,ill\n30,yes,\n31,no,\n", "line 2 must have 2 fields, got 3"),
        (b'age,ill\n30,"yes\n', "the field in double quotes on line 2 has no end"),
        (b'age,ill\n30,"yes\n31,"no"\n', "line 3 has a double quote that neither starts nor ends its field"),
        (b'age,ill\n30,5" pipe\n', "line 2 has a double quote that neither starts nor ends its field"),
        (b'age,ill\n30, "yes"\n', "line 2 has a double quote that neither starts nor ends its field"),
        (b"age,ill\n30,yes\r\n31,no\n", "do not all end alike, line 2"),
        (b"age,ill\r\n30,yes\r\n31,no\n", "do not all end alike, line 3"),
        (b"age,ill,age\n30,yes,1\n", '"age" twice'),
        (b'age,"ill\n30,yes\n', "check its quotes"),
    ],
)
def test_broken_csv_files(tmp_path, content, words):
    message = refused(lambda: counted(csv_file(tmp_path, content)), words)
    assert len(message) < 500


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("between", [",", ";", "\t", "|"])
def test_csv_dialects(tmp_path, end, between):
    lines = [["age", "ill"], ["30", "yes"], ["31", "no"], ["30", "no"]]
    text = "\ufeff" + end.join(between.join(line) for line in lines) + end
    assert counted(csv_file(tmp_path, text)) == EXPECTED
    packed = tmp_path / "people.csv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert counted(packed) == EXPECTED


@pytest.mark.parametrize("field", ["{}", '{},"a\nb"'], ids=["alone", "before a quoted one"])
def test_long_lines_are_read_whole(tmp_path, field):
    more = ',"x"' if "," in field else ""
    long = field.format("z" * 33_000_000)
    path = csv_file(tmp_path, f"age,ill{',more' if more else ''}\n30,yes{more}\n31,no{more}\n32,{long}\n")
    assert sorted(cell for _, cell in counted(path)) == [("30",), ("31",), ("32",)]


def test_a_quote_that_is_not_closed_is_noticed_before_memory_is_full(tmp_path, monkeypatch):
    from tightlip.table import csv_file as module

    monkeypatch.setattr(module, "_BLOCK", 100)
    monkeypatch.setattr(module, "_LONGEST", 1000)
    path = csv_file(tmp_path, 'age,ill\n30,yes\n31,"no\n' + "32,no\n" * 1000)
    refused(lambda: counted(path), "line 3 has over 1,000 bytes; check its double quotes")


PACKED = gzip.compress(b"age,ill\n" + b"".join(b"%d,%d\n" % (n * n % 97, n % 2) for n in range(300_000)))


@pytest.mark.parametrize(
    "content",
    [
        PACKED[: len(PACKED) // 2],
        PACKED[:-8],
        PACKED[:-1],
        PACKED[:-8] + bytes(4) + PACKED[-4:],
        PACKED[:-4] + bytes(4),
        PACKED + b"more",
        PACKED + PACKED[:-1],
        b"age,ill\n30,yes\n",
    ],
    ids=["half", "no checksum", "one byte", "checksum", "length", "garbage", "second part", "plain"],
)
@pytest.mark.parametrize("call", ["count", "rows"])
def test_a_gzip_file_that_is_not_whole_is_refused(tmp_path, content, call):
    path = csv_file(tmp_path, content, "people.csv.gz")

    def use():
        with open_table(path) as table:
            return table.rows() if call == "rows" else count_cells(table, POLICY)

    refused(use, "people.csv.gz cannot be read: it is no whole gzip file")


def test_a_gzip_file_of_several_parts_is_read_to_its_end(tmp_path):
    header, rows = gzip.compress(b"age,ill\n30,yes\n31"), gzip.compress(b",no\n30,no\n")
    assert counted(csv_file(tmp_path, header + rows, "people.csv.gz")) == EXPECTED
    padded = header + rows + bytes(512)  # as tapes and block devices leave it
    assert counted(csv_file(tmp_path, padded, "people.csv.gz")) == EXPECTED
    refused(lambda: open_table(csv_file(tmp_path, gzip.compress(b""), "people.csv.gz")), "is empty")


@pytest.mark.parametrize("name", ["people.csv", "people.csv.zst", "people.csv.bz2", "people.csv.gz"])
def test_what_another_program_packed_is_refused(tmp_path, name):
    import bz2
    import lzma

    for content, packer in (
        (bz2.compress(b"age,ill\n"), "bzip2"),
        (lzma.compress(b"age,ill\n"), "xz"),
        (pa.compress(b"age,ill\n", codec="zstd", asbytes=True), "Zstandard"),
    ):
        refused(
            lambda content=content: open_table(csv_file(tmp_path, content, name)), f"is packed with {packer}"
        )
    if not name.endswith(".gz"):
        refused(lambda: open_table(csv_file(tmp_path, PACKED, name)), "is packed with gzip")


def test_csv_keeps_rows_that_look_like_comments_and_quoted_lines(tmp_path):
    path = csv_file(tmp_path, '"age","ill\nness"\r\n#1,"a\nb"\r\n"x ""y""",#\r\n')
    found = counted(path, Policy("ill\nness", ["age"]))
    assert found == {(("a\nb",), ("#1",)): 1, (("#",), ('x "y"',)): 1}


def test_other_columns_are_checked_and_not_kept(tmp_path):
    """Of a wide file only the columns in use are held, but every byte is looked at."""
    names = [f"x{place}" for place in range(500)]
    lines = [
        ",".join(["age", *names, "ill"]),
        *(f"{age},{'7,' * 500}{ill}" for age, ill in [(30, "yes"), (31, "no")]),
    ]
    path = csv_file(tmp_path, "\n".join(lines))
    with open_table(path) as table:
        count_cells(table, POLICY)
        held = table.backend.con.execute(
            "SELECT column_name FROM duckdb_columns() WHERE table_name = 'found'"
        )
        assert {name for (name,) in held.fetchall()} == {"row", "c0", "q0", "c501", "q501"}
        assert table.kinds(["x3", "nobody"]) == {"x3": "integer"}
        assert count_cells(table, POLICY).total == 2
    csv_file(tmp_path, path.read_bytes().replace(b",7,no", b",\xff,no"))
    refused(lambda: counted(path), "line 3 has text that is not valid UTF-8")


def test_a_column_that_was_not_loaded_is_not_taken_for_a_missing_one(tmp_path):
    with open_table(csv_file(tmp_path, "age,ill,x\n30,yes,1\n31,no,2\n")) as table:
        count_cells(table, POLICY)
        with pytest.raises(Exception, match='does not have a column named "c2"'):
            table.fetch(table.expression.select("c2"))


def test_an_interrupted_reading_leaves_nothing_to_be_counted(tmp_path, monkeypatch):
    from tightlip.table import csv_file as module

    path, insert = csv_file(tmp_path, "age,ill,x\n30,yes,1\n31,no,2\n30,no,3\n"), module._insert

    def stop(*arguments):
        insert(*arguments)
        raise KeyboardInterrupt

    with open_table(path) as table:
        monkeypatch.setattr(module, "_insert", stop)
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                table.rows()
        monkeypatch.setattr(module, "_insert", insert)
        assert count_cells(table, POLICY).total == 3
        monkeypatch.setattr(module, "_insert", stop)
        with pytest.raises(KeyboardInterrupt):
            table.kinds(["x"])
        assert count_cells(table, POLICY).total == 3


def test_a_csv_file_that_changes_while_it_is_read(tmp_path, monkeypatch):
    from tightlip.table import csv_file as module

    path, insert = csv_file(tmp_path, "age,ill\n30,yes\n31,no\n"), module._insert

    def change(*arguments):
        path.write_text("age,ill\n30,yes\n31,no\n32,no\n")
        insert(*arguments)

    with open_table(path) as table:
        monkeypatch.setattr(module, "_insert", change)
        refused(lambda: count_cells(table, POLICY), "people.csv has changed while it was read")
        path.write_text("other,ill\n30,yes\n31,no\n")
        refused(lambda: count_cells(table, POLICY), "people.csv has changed while it was read")


def test_csv_kinds(tmp_path):
    columns = {
        "zip": ("01234", "1234", "text"),
        "plus": ("+1", "2", "text"),
        "whole": ("-5", "9223372036854775807", "integer"),
        "long": ("12345678901234567890", "12345678901234567891", "text"),
        "real": ("1.50", "-2e3", "real"),
        "mixed": ("1.5", "x", "text"),
        "endless": ("1e400", "inf", "text"),
        "nan": ("nan", "1.5", "text"),
        "flag": ("TRUE", "false", "boolean"),
        "bit": ("0", "1", "integer"),
        "yes": ("yes", "no", "text"),
        "day": ("2024-02-29", "1999-12-31", "date"),
        "nearly": ("2024-02-30", "1999-12-31", "text"),
        "short": ("2024-2-9", "1999-12-31", "text"),
        "gaps": ("", "7", "integer"),
        "none": ("", "", "text"),
    }
    rows = [columns, *([values[place] for values in columns.values()] for place in range(2))]
    path = csv_file(tmp_path, "".join(",".join(row) + "\n" for row in rows))
    with open_table(path) as table:
        assert table.columns == {name: values[2] for name, values in columns.items()}


def test_csv_empty_fields_are_missing_and_words_for_it_are_not(tmp_path):
    missing = (None,)
    for empty in ("", '""'):
        path = csv_file(tmp_path, f"age,ill\n{empty},NA\n{empty},None\n{empty},null\nx,\n")
        assert counted(path) == {
            (("NA",), missing): 1,
            (("None",), missing): 1,
            (("null",), missing): 1,
            (missing, ("x",)): 1,
        }


def test_empty_text_is_not_missing_elsewhere():
    table = pa.table({"age": ["", None, "None"], "ill": ["a", "b", "b"]})
    assert counted(table) == {(("a",), ("",)): 1, (("b",), (None,)): 1, (("b",), ("None",)): 1}


def test_file_names_are_not_patterns(tmp_path):
    folder = tmp_path / "year=2024"
    folder.mkdir()
    csv_file(folder, "age,ill\n99,yes\n98,no\n", "ab.csv")
    path = csv_file(folder, "age,ill\n30,yes\n31,no\n30,no\n", "a*.csv")
    assert counted(path) == EXPECTED
    with open_table(path) as table:
        assert list(table.columns) == ["age", "ill"]


def test_databases_with_several_tables(tmp_path):
    path = tmp_path / "people.duckdb"
    with duckdb.connect(path) as connection:
        connection.from_arrow(PEOPLE).create("people")
        connection.from_arrow(PEOPLE).create("others")
    refused(lambda: open_table(path), 'which has "others", "people"; name one')
    refused(lambda: open_table(path, table="peeple"), 'did you mean "people"?')
    assert counted(path, table="people") == EXPECTED


def sqlite_file(folder, declared: str, rows) -> object:
    path = folder / "people.sqlite"
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(f"CREATE TABLE people ({declared})")
        connection.executemany(f"INSERT INTO people VALUES ({', '.join('?' * len(rows[0]))})", rows)
        connection.execute("CREATE VIEW seen AS SELECT * FROM people")
    connection.close()
    return path


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        ("INTEGER", "old"),
        ("REAL", "old"),
        ("TEXT", b"old"),
        ("BOOLEAN", 2),
        ("DATE", "last year"),
        ("", "old"),
    ],
)
def test_sqlite_columns_of_mixed_types_are_refused(tmp_path, declared, value):
    good = {"TEXT": "x", "DATE": "2024-02-29"}.get(declared, 1)
    path = sqlite_file(tmp_path, f"age {declared}, ill TEXT", [(good, "yes"), (value, "no"), (None, "no")])
    refused(lambda: counted(path, table="people"), 'column "age" must hold one type, got 1 values')


def test_zeros_of_a_sqlite_column_without_a_type(tmp_path):
    """Which stores −0 as it is; a column of reals does not."""
    path = sqlite_file(tmp_path, "age, ill TEXT", [(0.0, "yes"), (1.5, "no"), (-0.0, "no")])
    refused(lambda: counted(path, table="people"), 'column "age" has both 0 and −0')


def test_collations_do_not_merge_values(tmp_path):
    path = sqlite_file(tmp_path, "age TEXT COLLATE NOCASE, ill TEXT", [("a", "yes"), ("A", "no")])
    before = path.read_bytes()
    assert counted(path, table="people") == {(("yes",), ("a",)): 1, (("no",), ("A",)): 1}
    assert path.read_bytes() == before
    other = tmp_path / "people.duckdb"
    with duckdb.connect(other) as connection:
        connection.execute("CREATE TABLE people (age VARCHAR COLLATE NOCASE, ill VARCHAR)")
        connection.execute("INSERT INTO people VALUES (NULL, 'no'), ('a', 'yes'), ('A', 'no')")
    refused(lambda: counted(other), 'column "age" has a collation')


def test_row_numbers_that_a_column_hides_are_no_order(tmp_path):
    path = sqlite_file(tmp_path, "rowid INTEGER, ill TEXT", [(2, "yes"), (1, "no")])
    with open_table(path, table="people") as table:
        assert table.ordered_by is None
    path = sqlite_file(tmp_path, "age INTEGER, ill TEXT", [(2, "yes"), (1, "no")])
    with open_table(path, table="people") as table:
        assert table.ordered_by is not None


def test_types_that_are_not_read_are_refused_by_name():
    import datetime as dt

    table = pa.table(
        {
            "when": [dt.datetime(2024, 1, 1, 12)] * 2,
            "parts": [[1], [2]],
            "price": pa.array([Decimal("1.5"), Decimal(2)], pa.decimal128(30, 2)),
            "small": pa.array([Decimal("1.5"), Decimal(2)], pa.decimal128(9, 2)),
            "ill": ["yes", "no"],
        }
    )
    with open_table(table) as opened:
        assert opened.columns["ill"] == "text"
        assert opened.columns["small"] == "real"
        assert opened.columns["when"].startswith("timestamp")
        for name in ("when", "parts", "price"):
            refused(lambda name=name: count_cells(opened, Policy("ill", [name])), f'column "{name}" has type')


def test_pandas_columns_of_mixed_types_are_refused_only_when_used():
    import pandas as pd

    frame = pd.DataFrame(
        {"age": [30, 31, 30], "odd": [1, "x", None], "ill": ["yes", "no", "no"], 7: [1.0, None, 2.0]}
    )
    assert counted(frame) == EXPECTED
    refused(lambda: counted(frame, Policy("ill", ["odd"])), 'column "odd" has type mixed')
    assert counted(frame, Policy("ill", ["7"])) == {
        (("yes",), ("1",)): 1,
        (("no",), (None,)): 1,
        (("no",), ("2",)): 1,
    }


def test_pandas_categories_and_dates_and_empty_columns():
    import pandas as pd

    frame = pd.DataFrame(
        {"age": pd.Categorical(["b", "a", None]), "ill": ["yes", "no", "no"], "void": [None] * 3}
    )
    assert counted(frame, Policy("ill", ["age", "void"])) == {
        (("yes",), ("b", None)): 1,
        (("no",), ("a", None)): 1,
        (("no",), (None, None)): 1,
    }


def test_frames_that_are_none(tmp_path):
    import pandas as pd
    import polars as pl

    refused(lambda: open_table(pl.LazyFrame({"a": [1]})), "call .collect()")
    refused(lambda: open_table(pd.Series([1])), "must be a data frame, got a Series")
    refused(lambda: open_table(pl.Series([1])), "must be a data frame, got a Series")
    refused(lambda: open_table(pd.DataFrame([[1, 2]], columns=["a", "a"])), '"a" twice')


def test_a_file_that_goes_away(tmp_path):
    path = csv_file(tmp_path, "age,ill\n30,yes\n31,no\n")
    with open_table(path) as table:
        path.unlink()
        refused(lambda: count_cells(table, POLICY), "people.csv cannot be")
        refused(table.rows, "people.csv cannot be read")


@pytest.mark.parametrize(
    ("source", "module", "extra"),
    [(PEOPLE, "ibis", "table"), ("postgres://tester:geheim@localhost/x", "psycopg", "postgres")],
)
def test_a_missing_extra_prints_the_line_that_installs_it(monkeypatch, source, module, extra):
    import importlib

    real = importlib.import_module

    def without(name, *rest):
        if name == module:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    refused(lambda: open_table(source), f"needs {module}", f"pip install 'tightlip[{extra}]'")


def test_no_password_in_messages():
    message = refused(
        lambda: open_table("postgres://tester:geheim@127.0.0.1:1/clinic"), 'Postgres database "clinic"'
    )
    assert "geheim" not in message


def test_an_open_table_and_an_ibis_table_are_taken_as_they_are():
    import ibis

    with open_table(PEOPLE) as table:
        assert open_table(table) is table
    connection = ibis.duckdb.connect()
    connection.con.from_arrow(PEOPLE).create("people")
    theirs = connection.table("people")
    assert counted(theirs) == EXPECTED
    assert counted(theirs.filter(theirs["age"] == 30)) == {key: 1 for key in EXPECTED if key[1] == ("30",)}
    assert connection.list_tables() == ["people"]  # still open
    connection.disconnect()


def test_columns_that_arrow_or_duckdb_cannot_read_stand_in_nobodys_way():
    import polars as pl

    frame = pl.DataFrame(
        {
            "age": [30, 31, 30],
            "ill": ["yes", "no", "no"],
            "wide": pl.Series([2**100, 1, 2], dtype=pl.Int128),
            "any": pl.Series([object()] * 3, dtype=pl.Object),
        }
    )
    assert counted(frame) == EXPECTED
    runs = pa.RunEndEncodedArray.from_arrays([3], ["x"])
    table = PEOPLE.append_column("runs", runs).append_column(
        "long", pa.array([Decimal(1)] * 3, pa.decimal256(60))
    )
    assert counted(table) == EXPECTED
    broken = pa.Array.from_buffers(
        pa.string(), 3, [None, pa.py_buffer(bytes(12) + b"\1\0\0\0"), pa.py_buffer(b"\xff")]
    )
    table = PEOPLE.append_column("broken", broken)
    assert counted(table) == EXPECTED
    for name in ("wide", "any"):
        refused(lambda name=name: counted(frame, Policy("ill", [name])), f'column "{name}" has type')
    refused(lambda: counted(table, Policy("ill", ["broken"])), 'column "broken" has type')


def test_dates_with_a_time_of_day_are_not_taken_for_dates():
    import datetime as dt

    import pandas as pd

    days = pd.Series([dt.date(2024, 1, 1), dt.datetime(2024, 1, 1, 5)], dtype=object)
    refused(lambda: counted(pd.DataFrame({"age": days, "ill": ["yes", "no"]})), 'column "age" has type mixed')


def test_sqlite_text_that_is_not_utf8_is_not_shown(tmp_path):
    path = tmp_path / "people.sqlite"
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("CREATE TABLE people (age TEXT, ill TEXT)")
        connection.execute("INSERT INTO people VALUES (CAST(x'544f4b454eff' AS TEXT), 'yes'), ('1', 'no')")
    connection.close()
    assert "TOKEN" not in refused(lambda: counted(path), "not valid UTF-8")


def test_a_header_of_very_many_columns_is_read(tmp_path):
    names = [f"column {place}" for place in range(3_000)]
    path = csv_file(tmp_path, f"{','.join([*names, 'ill'])}\n{',' * 3_000}yes\n{',' * 3_000}no\n")
    assert counted(path, Policy("ill", ["column 7"])) == {(("no",), (None,)): 1, (("yes",), (None,)): 1}


def test_a_column_that_duckdb_cannot_take_over_does_not_stand_in_the_way():
    rows = {"age": [30, 31], "ill": ["yes", "no"]}
    half = pa.array(np.array([0.5, 1.5], dtype=np.float16))
    hundreds = pa.array([Decimal("1E2"), Decimal("2E2")], pa.decimal128(5, -2))
    with open_table(pa.table({**rows, "half": half, "hundreds": hundreds})) as table:
        assert count_cells(table, Policy("ill", ["age"])).total == 2
        assert count_cells(table, Policy("ill", ["half"])).cells == [("0.5",), ("1.5",)]
        with pytest.raises(InvalidInput, match=r"type decimal128\(5, -2\), which tightlip does not read"):
            count_cells(table, Policy("ill", ["hundreds"]))
