"""Database files that bring code, lies or unfinished changes: their stored rows are read, at one moment, or nothing."""

import os
import sqlite3
import subprocess
import sys
import threading

import duckdb
import numpy as np
import pyarrow.parquet
import pytest

from contract.warnings_of_engines import IGNORED
from tightlip.errors import InvalidInput
from tightlip.table.counts import count_cells
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import Bins
from tightlip.table.risk import CellRisks, write_risks
from tightlip.table.source import open_table

pytestmark = IGNORED

POLICY = Policy("ill", ["age"])
STORED = "must be a table of stored rows, got"


def duckdb_file(folder, *statements):
    path = folder / "people.duckdb"
    with duckdb.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


def sqlite_file(folder, *statements, rows=(), mode="delete"):
    path = folder / "people.sqlite"
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode = {mode}")
    with connection:
        for statement in statements:
            connection.execute(statement)
        connection.executemany("INSERT INTO people VALUES (?, ?)", rows)
    connection.close()
    return path


def counted(path, policy=POLICY, **options) -> dict:
    with open_table(path, **options) as table:
        counts = count_cells(table, policy)
    triples = zip(counts.cell_of, counts.secret_of, counts.count, strict=True)
    return {(*counts.cells[c], *counts.secrets[s]): int(n) for c, s, n in triples}


def refused(path, words, **options):
    with pytest.raises(InvalidInput, match=words) as caught:
        counted(path, **options)
    assert "\n" not in str(caught.value)


PEOPLE = "CREATE TABLE people AS SELECT * FROM (VALUES (1.5, 'yes'), (27.0, 'no')) t(age, ill)"
MACROS = [
    *("isnan(x) AS TRUE", '"-"(x, y) AS 0', '"+"(x, y) AS 0', '"="(x, y) AS TRUE', "floor(x) AS 0.0"),
    *("count() AS 1", "sum(x) AS 0", "coalesce(x, y) AS 0", "ifnull(x, y) AS 0", "row_number() AS 1"),
]


@pytest.mark.parametrize("macro", MACROS)
def test_macros_of_a_duckdb_file_are_not_called(tmp_path, macro):
    try:
        path = duckdb_file(tmp_path, PEOPLE, f"CREATE MACRO {macro}")
    except duckdb.Error:
        pytest.skip("this DuckDB does not take such a macro")
    assert counted(path) == {("1.5", "yes"): 1, ("27", "no"): 1}
    assert counted(path, Policy("ill", [Released("age", Bins(width=10))])) == {
        ("[0, 10)", "yes"): 1,
        ("[20, 30)", "no"): 1,
    }


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM people",
        "SELECT CASE WHEN current_setting('disabled_optimizers') = '' THEN age ELSE 0 END AS age, ill FROM people",
        "SELECT round(random()) AS age, ill FROM people",
        "SELECT * FROM read_csv('other.csv')",
    ],
)
def test_views_of_a_duckdb_file_are_refused(tmp_path, query, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.csv").write_text("age,ill\n1,yes\n2,no\n")
    path = duckdb_file(tmp_path, PEOPLE, f"CREATE VIEW seen AS {query}")
    refused(path, f"{STORED} a view", table="seen")
    assert counted(path, table="people")


def test_generated_columns_of_a_duckdb_file_are_refused(tmp_path):
    path = duckdb_file(
        tmp_path,
        "CREATE TABLE people (kept DOUBLE, ill VARCHAR, age DOUBLE GENERATED ALWAYS AS (round(kept / 100)))",
        "INSERT INTO people VALUES (1, 'yes'), (2, 'no')",
    )
    refused(path, f"{STORED} a table with generated columns")


def test_a_duckdb_file_is_opened_first_by_several_threads(tmp_path):
    path = duckdb_file(tmp_path, PEOPLE)
    start, found = threading.Barrier(8), []

    def work():
        start.wait()
        try:
            found.append(counted(path))
        except InvalidInput as error:
            found.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [{("1.5", "yes"): 1, ("27", "no"): 1}] * 8


def test_a_duckdb_file_may_have_any_name(tmp_path):
    path = duckdb_file(tmp_path, PEOPLE)
    odd = path.rename(tmp_path / 'it\'s "people" *?[x].duckdb')
    assert len(counted(odd)) == 2


@pytest.mark.parametrize("declared", ["DECIMAL(10,2)", "NUMERIC(10,2)", "NUMBER(10,2)"])
def test_whole_numbers_that_reals_do_not_tell_apart(tmp_path, declared):
    people = f"CREATE TABLE people (age {declared}, ill TEXT)"
    path = sqlite_file(tmp_path, people, rows=[(2**53, "yes"), (2**53 + 1, "no"), (-(2**53) - 1, "no")])
    refused(path, 'column "age" must hold one type, got 2 values')
    path.unlink()
    path = sqlite_file(tmp_path, people, rows=[(2**53, "yes"), (-(2**53), "no"), (0.25, "no"), (3, "no")])
    assert len(counted(path)) == 4


KILLED = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("PRAGMA cache_size = 5")
connection.execute("UPDATE people SET ill = 'changed'")
os._exit(0)
"""


def test_the_journal_of_a_killed_writer_stays(tmp_path):
    rows = [(place % 9, "yes" * 100 if place % 2 else "no" * 100) for place in range(2000)]
    path = sqlite_file(tmp_path, "CREATE TABLE people (age INTEGER, ill TEXT)", rows=rows)
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=True)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert len(before) == 2
    refused(path, "a program was ended while it wrote to it")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM people",
        "SELECT age * (SELECT count(*) FROM pragma_function_list WHERE name = '_ibis_sqrt') AS age, ill FROM people",
        "SELECT random() % 2 AS age, ill FROM people",
    ],
)
def test_views_of_a_sqlite_file_are_refused(tmp_path, query):
    people = "CREATE TABLE people (age INTEGER, ill TEXT)"
    path = sqlite_file(tmp_path, people, f"CREATE VIEW seen AS {query}", rows=[(1, "yes"), (2, "no")])
    refused(path, f"{STORED} a view", table="seen")
    assert len(counted(path, table="people")) == 2


def test_a_view_that_is_entered_as_a_table_is_refused(tmp_path):
    people = "CREATE TABLE people (age INTEGER, ill TEXT)"
    path = sqlite_file(tmp_path, people, "CREATE TABLE seen (age INTEGER)", rows=[(1, "yes"), (2, "no")])
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("PRAGMA writable_schema = ON")
        view = "CREATE VIEW seen AS SELECT 1 AS age, ill FROM people"
        connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = 'seen'", [view])
    connection.close()
    refused(path, "malformed|a view", table="seen")


def changed_behind(path, *statements):
    """Change the rows of a table while its index is not known to SQLite."""
    for change in (
        ["CREATE TABLE kept AS SELECT * FROM sqlite_schema WHERE type = 'index'"],
        ["PRAGMA writable_schema = ON", "DELETE FROM sqlite_schema WHERE type = 'index'"],
        statements,
        ["PRAGMA writable_schema = ON", "INSERT INTO sqlite_schema SELECT * FROM kept"],
    ):
        connection = sqlite3.connect(path)
        with connection:
            for statement in change:
                connection.execute(statement)
        connection.close()


def test_an_index_that_lies_is_noticed(tmp_path):
    people = "CREATE TABLE people (age INTEGER, ill TEXT)"
    index = "CREATE INDEX whole ON people (ill, age)"
    path = sqlite_file(tmp_path, people, index, rows=[(1, "yes"), (1, "no"), (1, "no")])
    assert counted(path, table="people") == {("1", "yes"): 1, ("1", "no"): 2}
    changed_behind(path, "UPDATE people SET age = 2 WHERE ill = 'yes'")
    refused(path, "is damaged: its rows do not fit its indexes", table="people")


def test_a_column_that_is_said_to_miss_nothing(tmp_path):
    path = sqlite_file(
        tmp_path, "CREATE TABLE people (age TEXT, ill TEXT)", rows=[(None, "yes"), ("", "no"), ("", "no")]
    )
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_schema SET sql = replace(sql, 'age TEXT', 'age TEXT NOT NULL')")
    connection.close()
    refused(path, "is damaged")


def test_a_sqlite_file_is_read_as_of_one_moment(tmp_path):
    people = "CREATE TABLE people (age INTEGER, ill TEXT)"
    path = sqlite_file(tmp_path, people, rows=[(30, "yes"), (31, "no"), (30, "no")], mode="wal")
    writer = sqlite3.connect(path)
    with open_table(path) as table:
        counts = count_cells(table, POLICY)
        with writer:
            writer.execute("UPDATE people SET age = 31")
            writer.execute("INSERT INTO people VALUES (99, 'new')")
        assert count_cells(table, POLICY).same_as(counts)
        risks = CellRisks(counts, np.array([0.5, 0.25]), counts.count / counts.sizes()[counts.cell_of])
        write_risks(table, POLICY, risks, tmp_path / "risks.parquet")
    written = pyarrow.parquet.read_table(tmp_path / "risks.parquet")
    assert written["cell_size"].to_pylist() == [2, 1, 2]
    assert counted(path) == {("31", "yes"): 1, ("31", "no"): 2, ("99", "new"): 1}
    writer.close()


def test_nothing_is_written_to_a_sqlite_file(tmp_path):
    people = "CREATE TABLE people (age INTEGER, ill TEXT)"
    path = sqlite_file(tmp_path, people, rows=[(1, "yes"), (2, "no")])
    before, folder = path.read_bytes(), os.listdir(tmp_path)
    with open_table(path) as table, pytest.raises(sqlite3.OperationalError, match="readonly"):
        table.backend.con.execute("DELETE FROM people")
    assert (path.read_bytes(), os.listdir(tmp_path)) == (before, folder)


def test_a_log_beside_a_duckdb_file_is_refused(tmp_path):
    """Of a log that lost its end DuckDB leaves the last rows out without a word."""
    path = tmp_path / "people.duckdb"
    program = (
        "import duckdb, os, sys\n"
        "people = duckdb.connect(sys.argv[1])\n"
        "people.execute('CREATE TABLE people AS SELECT range + 30 AS age, range = 0 AS ill FROM range(2)')\n"
        "people.execute('CHECKPOINT')\n"
        "people.execute('INSERT INTO people VALUES (32, false)')\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)
    log = tmp_path / "people.duckdb.wal"
    assert log.exists()
    refused(path, r"changes wait in people\.duckdb\.wal beside it; .*CHECKPOINT")
    log.write_bytes(log.read_bytes()[:-7])
    refused(path, "changes wait")
    log.unlink()
    assert len(counted(path)) == 2


def test_names_that_sound_like_generated_columns(tmp_path):
    path = duckdb_file(
        tmp_path, 'CREATE TABLE people (age INT, ill VARCHAR, "x generated always as (1)" INT)'
    )
    with duckdb.connect(path) as connection:
        connection.execute("INSERT INTO people VALUES (30, 'yes', 1), (31, 'no', 2)")
    assert len(counted(path)) == 2


def test_generated_columns_of_sqlite_are_told(tmp_path):
    generated = "CREATE TABLE people (age INT, ill TEXT, older AS (age + 1))"
    path = sqlite_file(tmp_path, generated, rows=[(30, "yes"), (31, "no")])
    refused(path, f"{STORED} a table with generated columns")
