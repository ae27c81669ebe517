"""Files that want to be misread: other files behind them, names that clash, pipes, addresses."""

import gzip
import os
import sqlite3
from contextlib import closing

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

from contract.warnings_of_engines import IGNORED
from tightlip.errors import InvalidInput
from tightlip.table.counts import count_cells
from tightlip.table.policy import Policy
from tightlip.table.source import open_table

pytestmark = IGNORED

PEOPLE = "age,ill\n30,yes\n31,no\n30,no\n"
POLICY = Policy("ill", ["age"])


def cells(source, policy=POLICY, **options):
    with open_table(source, **options) as table:
        return count_cells(table, policy).cells


def refused(source, words, policy=POLICY, **options) -> str:
    with pytest.raises(InvalidInput) as caught:
        cells(source, policy, **options)
    message = str(caught.value)
    assert words in message, message
    assert "\n" not in message
    return message


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "people.csv")
    refused(tmp_path / "people.csv", "got a pipe or a device")
    refused("/dev/zero", "got a pipe or a device")


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:9/p.csv", "s3://bucket/p.parquet", "mysql://me:pw@h/x"]
)
def test_addresses_are_not_fetched(address):
    message = refused(address, "nothing is fetched")
    assert "pw" not in message


def test_names_that_no_file_can_have():
    refused("a\0.csv", "a name that a file can have")
    refused("a\udcff.csv", "cannot be read")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgres://me:geheim@[::1/clinic", "clinic"),
        ("postgresql://me:ge@heim@127.0.0.1:1/clinic", "clinic"),
        ("postgresql://me:x/geheim@127.0.0.1:1/clinic?application_name=a", "clinic"),
    ],
)
def test_passwords_written_wrongly_are_not_shown_either(url, shown):
    message = refused(url, f'Postgres database "{shown}" cannot be reached')
    assert "heim" not in message


def test_gzip_is_known_whatever_the_case_of_its_name(tmp_path):
    path = tmp_path / "PEOPLE.CSV.GZ"
    path.write_bytes(gzip.compress(PEOPLE.encode()))
    assert cells(path) == [("30",), ("31",)]


def test_a_csv_file_that_starts_with_an_empty_line(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("\n" + PEOPLE)
    refused(path, "got an empty line")


@pytest.mark.parametrize("name", ['a"b"', 'a""b', ' "a"', '"a"b', '"a"" ', 'x"a,b"y'])
def test_a_double_quote_inside_a_column_name(tmp_path, name):
    """As in any other line, also if nobody asks for the column: other readers would find other names or columns."""
    path = tmp_path / "people.csv"
    path.write_text(f"age,ill,{name}\n30,yes,1\n31,no,2\n")
    refused(path, "quote")
    path.write_text('age,ill,"a""b,c"\n30,yes,1\n31,no,2\n')
    assert cells(path) == [("30",), ("31",)]


def test_lines_that_end_differently_are_said_to(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(b"age,ill\n30,yes\r\n31,no\n")
    refused(path, "do not all end alike")


def parquet_file(folder, names, *columns):
    path = folder / "people.parquet"
    pyarrow.parquet.write_table(pa.table(list(columns), names=names), path)
    return path


def test_parquet_names_that_differ_by_case_or_are_no_sql(tmp_path):
    names = ["age", "Age", "", "row", "a\0b", "ill"]
    path = parquet_file(tmp_path, names, [1, 2], [3, 4], [5, 6], [7, 8], [9, 9], ["yes", "no"])
    with open_table(path) as table:
        assert list(table.columns) == names
        assert count_cells(table, Policy("ill", ["Age", "row", "a\0b"])).cells == [
            ("3", "7", "9"),
            ("4", "8", "9"),
        ]


def test_parquet_names_that_are_there_twice(tmp_path):
    """DuckDB would call the second "age_1", and the real one of that name something else."""
    path = parquet_file(tmp_path, ["age", "age", "age_1", "ill"], [1, 2], [3, 4], [5, 5], ["yes", "no"])
    refused(path, '"age" twice', Policy("ill", ["age_1"]))


def duckdb_file(folder, *statements):
    path = folder / "people.duckdb"
    with duckdb.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


def test_a_database_can_be_open_twice(tmp_path):
    path = duckdb_file(
        tmp_path, "CREATE TABLE people AS SELECT * FROM (VALUES (1, 'yes'), (2, 'no')) t(age, ill)"
    )
    with open_table(path) as one, open_table(path) as two:
        assert count_cells(one, POLICY).cells == count_cells(two, POLICY).cells


def test_values_that_do_not_fit_are_not_shown(tmp_path):
    path = duckdb_file(
        tmp_path,
        "CREATE TABLE p (age UBIGINT, ill VARCHAR)",
        "INSERT INTO p VALUES (18446744073709551615, 'yes'), (1, 'no')",
    )
    message = refused(path, "a value does not fit the type of its column", table="p")
    assert "1844" not in message


def test_types_with_long_descriptions_are_refused_in_one_line(tmp_path):
    path = duckdb_file(
        tmp_path,
        "CREATE TABLE p (odd UNION(n INTEGER, t VARCHAR), ill VARCHAR)",
        "INSERT INTO p VALUES (1, 'yes'), (2, 'no')",
    )
    refused(path, 'column "odd" has type unknown to Ibis', Policy("ill", ["odd"]))


def sqlite_file(folder, rows):
    path = folder / "people.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE people (age INTEGER, ill TEXT)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", rows)
    return path


@pytest.mark.parametrize("form", ["csv", "duckdb"])
def test_rows_that_do_not_fit_in_memory_are_not_put_on_disk(tmp_path, monkeypatch, form):
    """DuckDB's default is a folder in the current one, or beside a database; both would hold rows in the clear."""
    rows = "SELECT hash(i)::VARCHAR AS age, 'yes' AS ill FROM range(2000000) r(i)"
    source = tmp_path / f"people.{form}"
    if form == "csv":
        duckdb.sql(rows).write_csv(str(source))
    else:
        duckdb_file(tmp_path, f"CREATE TABLE people AS {rows}")
    before = sorted(tmp_path.iterdir())
    monkeypatch.chdir(tmp_path)
    with open_table(source) as table:
        table.backend.con.execute("SET memory_limit = '60MB'")
        with pytest.raises(InvalidInput, match="does not fit in memory, and rows are not put on disk"):
            count_cells(table, POLICY)
        assert sorted(tmp_path.iterdir()) == before


def test_sqlite_sorts_in_memory(tmp_path):
    with open_table(sqlite_file(tmp_path, [(30, "yes"), (31, "no")])) as table:
        assert table.backend.con.execute("PRAGMA temp_store").fetchone() == (2,)
        assert count_cells(table, POLICY).cells == [("30",), ("31",)]
