"""Files that want to be misread: other files behind them, names that clash, pipes, addresses."""

import gzip
import os
import stat
import subprocess
import sys
from pathlib import Path

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


def test_views_of_a_database_read_no_other_file(tmp_path):
    (tmp_path / "other.csv").write_text(PEOPLE)
    path = duckdb_file(tmp_path, f"CREATE VIEW people AS SELECT * FROM read_csv('{tmp_path}/other.csv')")
    refused(path, "cannot be read")


def test_a_database_can_be_open_twice(tmp_path):
    path = duckdb_file(
        tmp_path, "CREATE TABLE people AS SELECT * FROM (VALUES (1, 'yes'), (2, 'no')) t(age, ill)"
    )
    with open_table(path) as one, open_table(path) as two:
        assert count_cells(one, POLICY).cells == count_cells(two, POLICY).cells


@pytest.mark.parametrize(
    "statements",
    [
        (
            "CREATE TABLE p (age UBIGINT, ill VARCHAR)",
            "INSERT INTO p VALUES (18446744073709551615, 'yes'), (1, 'no')",
        ),
        (
            "CREATE TABLE raw AS SELECT * FROM (VALUES ('18446744073709551615', 'yes'), ('1', 'no')) t(age, ill)",
            "CREATE VIEW p AS SELECT CAST(age AS INTEGER) AS age, ill FROM raw",
        ),
    ],
)
def test_values_that_do_not_fit_are_not_shown(tmp_path, statements):
    path = duckdb_file(tmp_path, *statements)
    message = refused(path, "a value does not fit the type of its column", table="p")
    assert "1844" not in message


def test_types_with_long_descriptions_are_refused_in_one_line(tmp_path):
    path = duckdb_file(
        tmp_path,
        "CREATE TABLE p (odd UNION(n INTEGER, t VARCHAR), ill VARCHAR)",
        "INSERT INTO p VALUES (1, 'yes'), (2, 'no')",
    )
    refused(path, 'column "odd" has type unknown to Ibis', Policy("ill", ["odd"]))


def test_what_does_not_fit_in_memory_goes_to_a_private_folder(tmp_path):
    (tmp_path / "people.csv").write_text(PEOPLE)
    with open_table(tmp_path / "people.csv") as table:
        found = table.backend.con.execute("SELECT current_setting('temp_directory')").fetchone()
    folder = Path(found[0])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    program = (
        "import sys; from tightlip.table.embedded import connect_memory; "
        "print(connect_memory().con.execute(\"SELECT current_setting('temp_directory')\").fetchone()[0])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not Path(done.stdout.strip()).exists()
