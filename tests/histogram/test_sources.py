"""Tables of every engine give one histogram, and what an audit refuses to count is not released either."""

import datetime
import gzip
import json
import sqlite3
from collections import Counter
from decimal import Decimal

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from contract.warnings_of_engines import IGNORED
from tightlip import Policy, open_table
from tightlip.arguments import is_frame, is_list
from tightlip.cli.main import main
from tightlip.errors import InvalidInput, WrongType
from tightlip.histogram import Share, plan_release, tabulate
from tightlip.table.counts import count_cells

pytestmark = IGNORED

ROWS = [
    ("F", 9, "no"),
    ("M", 10, "yes"),
    ("F", 9, "no"),
    ("M", 9, "a,\n\"b'"),
    ("é", -1, "no"),
    ("F", 10, "yes"),
] * 3
NAMES = ("sex", "size", "ill")
COLUMNS = dict(zip(NAMES, map(list, zip(*ROWS, strict=True)), strict=True))
ARROW = pa.table(COLUMNS)


def csv_text():
    lines = [",".join(NAMES)]
    for sex, size, ill in ROWS:
        quoted = ill.replace('"', '""')
        lines.append(f'{sex},{size},"{quoted}"')
    return "\n".join(lines) + "\n"


def source(engine, folder, arrow=ARROW):
    path = folder / f"people.{engine}"
    if engine == "csv":
        path.write_text(csv_text())
    elif engine == "csv.gz":
        path.write_bytes(gzip.compress(csv_text().encode()))
    elif engine == "parquet":
        pq.write_table(arrow, path)
    elif engine == "duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.register("given", arrow)
            connection.execute("CREATE TABLE people AS SELECT * FROM given")
    elif engine == "sqlite":
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE people (sex TEXT, size INTEGER, ill TEXT)")
            connection.executemany(
                "INSERT INTO people VALUES (?, ?, ?)", zip(*arrow.to_pydict().values(), strict=True)
            )
        connection.close()
    else:
        return {
            "columns": arrow.to_pydict,
            "records": arrow.to_pylist,
            "pandas": arrow.to_pandas,
            "polars": lambda: pl.from_arrow(arrow),
            "arrow": lambda: arrow,
            "ibis": lambda: ibis.memtable(arrow),
            "table": lambda: open_table(arrow),
        }[engine]()
    return path


ENGINES = [
    *("csv", "csv.gz", "parquet", "duckdb", "sqlite"),
    *("columns", "records", "pandas", "polars", "arrow", "ibis", "table"),
]


def refused(call):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_gives_the_same_histogram(engine, tmp_path):
    given = source(engine, tmp_path)
    counted = tabulate(given, NAMES)
    assert counted.domain.columns == NAMES
    assert counted.domain.values == (("F", "M", "é"), ("-1", "10", "9"), ("a,\n\"b'", "no", "yes"))
    assert Counter(counted.rows()) == Counter((sex, str(size), ill) for sex, size, ill in ROWS)
    assert counted.counts.dtype == np.int64
    assert tabulate(given).domain.columns == NAMES
    some = tabulate(given, ["ill", "sex"], feasible="observed")
    assert Counter(some.rows()) == Counter((ill, sex) for sex, _, ill in ROWS)
    book = {"ill": ["yes", "no", "a,\n\"b'", "unknown"], "size": [10, 9, -1]}
    known = tabulate(given, ["size", "ill"], feasible=book)
    assert (known.domain.size, known.domain.note) == (12, None)
    assert Counter(known.rows()) == Counter((str(size), ill) for _, size, ill in ROWS)
    plan = plan_release(
        given, ["size", "ill"], Share({"size": 10}), bin_size=4, feasible=book, seed_for_tests=1
    )
    assert (plan.total, plan.privacy.ratio) == (18, 5)
    middle = sum(int(count) for cell, count in Counter(plan.draw().table.rows()).items() if cell[0] == "10")
    assert middle == 6  # of the bin {4, 5, 6, 7}, in which are 6 of 18


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_not_feasible_is_told_by_its_row(engine, tmp_path):
    given = source(engine, tmp_path)
    book = {"size": [9, 10, -1], "ill": ["yes", "no"]}
    cells = [(9, "no"), (-1, "no"), (9, "a,\n\"b'")]
    messages = [
        refused(lambda: tabulate(given, ["size", "ill"], feasible=book)),
        refused(lambda: tabulate(given, ["size", "ill"], feasible=cells)),
    ]
    unordered = engine in ("duckdb", "sqlite", "ibis")
    for message, row in zip(messages, (4, 2), strict=True):
        assert message.startswith("table: some row" if unordered else f"table row {row}")
        assert "yes" not in message
        assert "'" not in message
    assert 'column "ill" must be a feasible value' in messages[0]


def hostile(folder):
    """Sources that an audit of the columns a and b refuses."""
    folder.joinpath("cut.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"x,1\ny,2\n" * 5000)[:-20])
    texts = {
        "ragged.csv": "a,b\nx,1\ny\nx,2\n",
        "long.csv": "a,b\nx,1\ny,2,3\n",
        "several.csv": "a,b\nx,1.0\ny,1.00\n",
        "quotes.csv": 'a,b\nx,1\n"x",2\n',
        "latin.csv": b"a,b\n\xe9,1\ny,2\n",
        "empty.csv": "",
        "header.csv": "a,b\n",
        "people.txt": "a,b\nx,1\ny,2\n",
        "zip.csv": b"PK\3\4" + bytes(40),
    }
    for name, text in texts.items():
        folder.joinpath(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    yield from (folder / name for name in ("cut.csv.gz", *texts, "none.csv"))
    yield from ("https://example.org/people.csv", folder)
    whole = folder / "whole.parquet"
    pq.write_table(pa.table({"a": ["x", "y"] * 400, "b": [1, 2] * 400}), whole)
    folder.joinpath("cut.parquet").write_bytes(whole.read_bytes()[:-30])
    yield folder / "cut.parquet"
    with duckdb.connect(str(folder / "view.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'x' AS a, 1 AS b; CREATE VIEW v AS SELECT * FROM t; ")
        connection.execute("DROP TABLE t")
    yield folder / "view.duckdb"
    with sqlite3.connect(folder / "mixed.sqlite") as connection:
        connection.execute("CREATE TABLE t (a TEXT, b INTEGER)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [("x", 1), ("y", "one")])
    connection.close()
    yield folder / "mixed.sqlite"
    with sqlite3.connect(folder / "two.sqlite") as connection:
        connection.execute("CREATE TABLE t (a TEXT, b INTEGER)")
        connection.execute("CREATE TABLE u (a TEXT, b INTEGER)")
    connection.close()
    yield folder / "two.sqlite"
    yield pa.table({"a": ["x", "y"], "b": [0.0, -0.0]})
    yield pa.table({"a": ["x", "y", "z"], "b": [1.0, float("nan"), None]})
    yield pd.DataFrame({"a": ["x", "y"], "b": [1, "1"]}, dtype=object)
    yield pd.DataFrame({"a": ["x", "y"], "b": [datetime.datetime(2024, 2, 29, 12), None]})
    yield pl.DataFrame({"a": ["x", "y"], "b": [1, 2]}).lazy()
    yield ARROW.slice(0, 0).select(["sex", "size"]).rename_columns(["a", "b"])


def test_what_an_audit_refuses_is_not_released(tmp_path):
    for given in hostile(tmp_path):
        audited = refused(lambda given=given: count_cells(open_table(given), Policy("a", ["b"])))
        assert refused(lambda given=given: tabulate(given, ["a", "b"])) == audited


@pytest.mark.parametrize(
    "given",
    [
        {"a": ["HIV", None], "b": [1, 2]},
        {"a": ["HIV", float("nan")], "b": [1, 2]},
        {"a": ["HIV", pd.NA], "b": [1, 2]},
        pa.table({"a": ["HIV", None], "b": [1, 2]}),
        pa.table({"a": [1.5, float("nan")], "b": [1, 2]}),
        pd.DataFrame({"a": ["HIV", None], "b": [1, 2]}),
        pl.DataFrame({"a": ["HIV", None], "b": [1, 2]}),
        "a,b\nHIV,1\n,2\n",
        'a,b\nHIV,1\n"",2\n',
    ],
)
def test_missing_values_are_refused(given, tmp_path):
    of_csv = isinstance(given, str)
    if of_csv:
        (tmp_path / "t.csv").write_text(given)
        given = tmp_path / "t.csv"
    message = refused(lambda: tabulate(given))
    assert message.startswith('table column "a" must have no missing value, got some')
    assert message.endswith('; write it as a value like "?".')
    assert ("empty field" in message) == of_csv
    assert "HIV" not in message
    assert tabulate(given, ["b"]).total == 2  # of a column that is not kept nothing is asked


def test_an_empty_text_of_a_frame_is_a_value():
    for given in ({"a": ["", "x"]}, pa.table({"a": ["", "x"]})):
        assert tabulate(given).domain.values == (("", "x"),)


def test_a_csv_field_is_called_what_the_file_writes(tmp_path):
    """Whichever other fields its column has: or a code book would fit some tables and not others."""
    path = tmp_path / "t.csv"
    book = {"dose": ["1.0", "2.50", "n/a"], "ill": ["TRUE", "False"], "zip": ["01", "2"]}
    for last in ("1.0,TRUE,2", "n/a,TRUE,01"):
        path.write_text(f"dose,ill,zip\n1.0,TRUE,2\n2.50,False,2\n{last}\n")
        counted = tabulate(path, feasible=book)
        assert Counter(counted.rows())[tuple(last.split(","))] == (2 if last.startswith("1") else 1)
        assert plan_release(path, None, Share({"dose": "1.0"}), bin_size=1, feasible=book).total == 3


TYPED = {
    "dose": [2.0, 0.5, 1e300],
    "ill": [True, False, True],
    "day": [datetime.date(2024, 2, 29), datetime.date(2024, 3, 1), datetime.date(2024, 3, 1)],
    "count": [2**60 + 1, 2**60, -3],
}


@pytest.mark.parametrize(
    "given", [TYPED, pa.table(TYPED), pd.DataFrame(TYPED), pl.DataFrame(TYPED)], ids=type
)
def test_values_that_are_no_text(given):
    counted = tabulate(given, feasible="observed")
    rows = {
        ("2", "true", "2024-02-29", str(2**60 + 1)),
        ("0.5", "false", "2024-03-01", str(2**60)),
        ("1e+300", "true", "2024-03-01", "-3"),
    }
    assert set(counted.rows()) == rows
    for column, values in TYPED.items():
        assert plan_release(given, None, Share({column: values[0]}), bin_size=1).total == 3
        assert tabulate(given, [column], feasible={column: values}).total == 3
    assert tabulate(given, feasible=list(zip(*TYPED.values(), strict=True))).total == 3


@pytest.mark.parametrize("values", [[1, "1"], [1, 1.0], [0.0, -0.0], [True, "true"], [Decimal(1), "1"]])
def test_values_that_read_the_same_are_not_merged(values):
    for given in ({"a": values}, [{"a": value} for value in values]):
        message = refused(lambda given=given: tabulate(given))
        assert message.startswith('table column "a" must have each value in one way')
    assert tabulate({"a": [1, "one", 2.5, True]}).domain.values == (("1", "2.5", "one", "true"),)


def test_names_that_read_the_same_are_not_merged():
    assert "each column name once" in refused(lambda: tabulate({1: ["x"], "1": ["y"]}))
    assert tabulate({1: ["x", "y"], "b": ["y", "z"]}, [1]).domain.columns == ("1",)
    assert tabulate(pd.DataFrame([["x", "y"], ["y", "z"]]), [1, 0]).domain.columns == ("1", "0")


def test_text_that_cannot_be_written():
    assert "must be plain text" in refused(lambda: tabulate({"a": ["x", "\ud800"]}))
    assert "must be plain text" in refused(lambda: tabulate({"\ud800": ["x", "y"]}))


def test_what_a_frame_is():
    """Also a series with an entry of the name "columns", and frames that only know their columns by looking."""
    frames = (
        pd.DataFrame({"a": [1]}),
        pl.DataFrame({"a": [1]}),
        pl.LazyFrame({"a": [1]}),
        ARROW,
        ibis.memtable(ARROW),
    )
    lists = (pd.Series([1, 2], index=["columns", "b"]), pl.Series([1]), np.ones(2), [1], (2,))
    for value in frames:
        assert is_frame(value)
        assert not is_list(value)
    for value in lists:
        assert not is_frame(value)
        assert is_list(value)


def test_rows_are_not_shown_where_no_frame_is_given():
    for rows in ([{"ill": "HIV"}], pd.Series(["HIV"]), {"HIV"}):
        with pytest.raises(WrongType, match="must be a data frame, got a ") as caught:
            open_table(rows)
        assert "HIV" not in str(caught.value)


def test_a_table_that_was_opened_stays_open(tmp_path):
    with open_table(source("sqlite", tmp_path)) as table:
        for _ in range(2):
            assert tabulate(table, ["sex"]).total == len(ROWS)


def test_the_command_reads_what_an_audit_reads(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    source("parquet", tmp_path)
    path = source("sqlite", tmp_path)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE other (x TEXT)")
    connection.close()
    options = ("--columns", "sex,size", "--secret", "sex=F", "--bin-size", "4", "--json")
    for place, given in enumerate((["people.parquet"], ["people.sqlite", "--table", "people"])):
        assert main(["release", "histogram", *given, *options, "--out", f"{place}.csv"]) == 0
        assert json.loads(capsys.readouterr().out)["privacy"]["ratio"] == "5"
        assert len((tmp_path / f"{place}.csv").read_text().splitlines()) == 19
    assert main(["release", "histogram", "people.sqlite", *options, "--out", "2.csv"]) == 2
    assert "table must be named" in capsys.readouterr().err
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(csv_text().encode())[:-9])
    assert main(["release", "histogram", "cut.csv.gz", *options, "--out", "3.csv"]) == 2
    assert "cut short or changed" in capsys.readouterr().err
    assert not (tmp_path / "3.csv").exists()
