"""Per-record risks: order, number and wholeness of the file."""

import csv
import os
import sqlite3

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from contract.warnings_of_engines import IGNORED
from tightlip.errors import InvalidInput, ShapeMismatch
from tightlip.table.counts import count_cells
from tightlip.table.policy import Policy
from tightlip.table.risk import CellRisks, write_risks
from tightlip.table.source import open_table

pytestmark = IGNORED

POLICY = Policy("ill", ["age"])
PEOPLE = pa.table({"age": [30, 31, 30], "ill": ["yes", "no", "no"], "name": ["-2+3", "@x", "ok"]})


def risks_for(table, policy=POLICY) -> CellRisks:
    counts = count_cells(table, policy)
    return CellRisks(
        counts, np.arange(len(counts.cells)) + 0.5, counts.count / counts.sizes()[counts.cell_of]
    )


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_order_of_many_rows_in_files(tmp_path, form):
    rows = 300_000  # many row groups and CSV blocks, on all threads
    generator = np.random.default_rng(5)
    table = pa.table(
        {
            "nr": generator.permutation(rows),
            "age": generator.integers(0, 90, rows),
            "ill": np.arange(rows) % 2 == 0,
        }
    )
    path = tmp_path / f"people.{form}"
    if form == "csv":
        pyarrow.csv.write_csv(table, path)
    else:
        pyarrow.parquet.write_table(table, path, row_group_size=5_000)
    with open_table(path) as opened:
        risks = risks_for(opened)
        write_risks(opened, POLICY, risks, tmp_path / "out.parquet", id_column="nr")
    out = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert out["nr"].to_pylist() == table["nr"].to_pylist()
    place = {cell: number for number, (cell,) in enumerate(risks.counts.cells)}
    assert out["leakage_nats"].to_pylist() == [place[str(age)] + 0.5 for age in table["age"].to_pylist()]


def test_files_are_numbered_as_duckdb_documents_it(tmp_path):
    """By `row_number()` with an empty OVER clause and insertion order preserved; a frame in it is not documented."""
    path = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(PEOPLE, path)
    with open_table(path) as table:
        ordered = table.in_order()
        plan = table.backend.con.execute(f"EXPLAIN {table.backend.compile(ordered.expression)}").fetchall()[
            0
        ][1]
        assert "ROW_NUMBER() OVER ()" in plan
        assert table.backend.con.execute("SELECT current_setting('preserve_insertion_order')").fetchone() == (
            True,
        )
        counting = table.backend.con.execute(f"EXPLAIN {table.backend.compile(table.expression)}").fetchall()[
            0
        ][1]
        assert "ROW_NUMBER" not in counting  # which would keep it to one thread
        assert ordered.in_order() is ordered


def test_sqlite_rows_come_in_batches(tmp_path, monkeypatch):
    from tightlip.table import risk
    from tightlip.table import rows as streaming

    sizes, typed = [], risk._cast_id
    monkeypatch.setattr(streaming, "BATCH", 7)
    monkeypatch.setattr(risk, "_cast_id", lambda table, kind: sizes.append(len(table)) or typed(table, kind))
    path = tmp_path / "people.sqlite"
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("CREATE TABLE people (age INTEGER, ill TEXT, nr INTEGER)")
        rows = [(place % 5, "yn"[place % 2], None if place == 8 else 100 - place) for place in range(30)]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
    connection.close()
    before = path.read_bytes()
    with open_table(path) as table:
        risks = risks_for(table)
        kind, fetched = type(table.backend), []
        fetch = kind._fetch_from_cursor  # by which Ibis takes all rows of a result at once

        def watched(backend, cursor, schema):
            found = fetch(backend, cursor, schema)
            fetched.append(len(found))
            return found

        monkeypatch.setattr(kind, "_fetch_from_cursor", watched)
        for name in ("out.csv", "out.parquet"):
            write_risks(table, POLICY, risks, tmp_path / name, id_column="nr")
    out = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert out["nr"].to_pylist() == [row[2] for row in rows]
    assert out["leakage_nats"].to_pylist() == [row[0] + 0.5 for row in rows]
    assert pyarrow.csv.read_csv(tmp_path / "out.csv")["nr"].to_pylist() == [row[2] for row in rows]
    assert path.read_bytes() == before
    assert sorted(sizes) == sorted([0, 7, 7, 7, 7, 2] * 2)
    assert max(fetched) == 10  # the groups, not the rows


def test_without_ids_rows_are_known_by_their_order(tmp_path):
    with open_table(PEOPLE) as table:
        write_risks(table, POLICY, risks_for(table), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        '"cell_size","leakage_nats","posterior"',
        "2,0.5,0.5",
        "1,1.5,1",
        "2,0.5,0.5",
    ]


def test_formulas_are_defused(tmp_path):
    with open_table(PEOPLE) as table:
        write_risks(table, POLICY, risks_for(table), tmp_path / "out.csv", id_column="name")
    with (tmp_path / "out.csv").open(newline="") as file:
        assert [row["name"] for row in csv.DictReader(file)] == ["'-2+3", "'@x", "ok"]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "\nx", 'a"b', "a,b", "a\nb"])
def test_names_of_ids_are_defused_and_quoted(tmp_path, name):
    with open_table(PEOPLE.rename_columns(["age", "ill", name])) as table:
        write_risks(table, POLICY, risks_for(table), tmp_path / "out.csv", id_column=name)
    with (tmp_path / "out.csv").open(newline="") as file:
        header = next(csv.reader(file))
    assert header[0] == (name if name[0] == "a" else f"'{name}")


def test_negative_numbers_stay_numbers(tmp_path):
    people = PEOPLE.append_column("nr", pa.array([-1, -2, 3])).append_column(
        "real", pa.array([-0.5, 1.5, None])
    )
    with open_table(people) as table:
        for name, lines in (("nr", ["-1,", "-2,", "3,"]), ("real", ["-0.5,", "1.5,", ","])):
            write_risks(table, POLICY, risks_for(table), tmp_path / "out.csv", id_column=name, force=True)
            rows = (tmp_path / "out.csv").read_text().splitlines()[1:]
            assert all(row.startswith(line) for row, line in zip(rows, lines, strict=True))


def test_devices_and_pipes_are_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "out.csv")
    with open_table(PEOPLE) as table, pytest.raises(InvalidInput, match="not a file; choose another name"):
        write_risks(table, POLICY, risks_for(table), tmp_path / "out.csv", force=True)
    assert (tmp_path / "out.csv").is_fifo()


def test_files_are_not_overwritten_without_force(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("mine")
    with open_table(PEOPLE) as table:
        risks = risks_for(table)
        with pytest.raises(InvalidInput, match="exists already"):
            write_risks(table, POLICY, risks, path)
        assert path.read_text() == "mine"
        write_risks(table, POLICY, risks, path, force=True)
        assert path.read_text().startswith('"cell_size"')
        (tmp_path / "out.parquet").mkdir()
        with pytest.raises(InvalidInput, match="is a folder"):
            write_risks(table, POLICY, risks, tmp_path / "out.parquet", force=True)
        with pytest.raises(InvalidInput, match="there is no folder"):
            write_risks(table, POLICY, risks, tmp_path / "none" / "out.csv")
        with pytest.raises(InvalidInput, match=r"must end with \.csv or \.parquet"):
            write_risks(table, POLICY, risks, tmp_path / "out.xlsx")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["out.csv", "out.parquet"]


@pytest.mark.parametrize(
    "change", ["DELETE FROM people WHERE age = 31", "UPDATE people SET age = 33 WHERE age = 31"]
)
def test_a_table_that_changed_is_noticed(tmp_path, change):
    import ibis

    backend = ibis.duckdb.connect()
    backend.con.from_arrow(PEOPLE).create("people")
    table = open_table(backend.table("people"))
    risks = risks_for(table)
    backend.con.execute(change)
    with pytest.raises(InvalidInput, match="has changed since it was counted"):
        write_risks(table, POLICY, risks, tmp_path / "out.csv")
    backend.disconnect()
    assert not list(tmp_path.iterdir())


def test_people_who_change_places_between_count_and_join_are_noticed(tmp_path, monkeypatch):
    """As many rows as before, all of them in cells that were counted."""
    import ibis

    from tightlip.table import risk

    backend = ibis.duckdb.connect()
    backend.con.from_arrow(PEOPLE).create("people")
    table = open_table(backend.table("people"))
    risks = risks_for(table)
    real = risk._lookup

    def changing(*arguments):
        found = real(*arguments)
        backend.con.execute("UPDATE people SET age = 31 WHERE age = 30 AND ill = 'no'")
        return found

    monkeypatch.setattr(risk, "_lookup", changing)
    for form in ("csv", "parquet"):
        with pytest.raises(InvalidInput, match="has changed since it was counted"):
            write_risks(table, POLICY, risks, tmp_path / f"out.{form}")
        backend.con.execute("UPDATE people SET age = 30 WHERE name = 'ok'")
    backend.disconnect()
    assert not list(tmp_path.iterdir())


def test_a_table_that_goes_away_leaves_no_file(tmp_path):
    path = tmp_path / "people.csv"
    pyarrow.csv.write_csv(PEOPLE, path)
    with open_table(path) as table:
        risks = risks_for(table)
        path.unlink()
        with pytest.raises(InvalidInput, match=r"people\.csv cannot be"):
            write_risks(table, POLICY, risks, tmp_path / "out.csv", id_column="name")
    assert not list(tmp_path.iterdir())


def test_a_csv_file_is_read_once_and_a_later_change_is_noticed_or_without_effect(tmp_path):
    path = tmp_path / "people.csv"
    pyarrow.csv.write_csv(PEOPLE, path)
    with open_table(path) as table:
        risks = risks_for(table)
        pyarrow.csv.write_csv(PEOPLE.take([0, 2, 1]), path)
        with pytest.raises(InvalidInput, match="has changed while it was read"):
            write_risks(table, POLICY, risks, tmp_path / "out.csv", id_column="name")
        write_risks(table, POLICY, risks, tmp_path / "out.csv")
        assert table.rows() == 3
    assert (tmp_path / "out.csv").read_text().splitlines()[1:] == ["2,0.5,0.5", "1,1.5,1", "2,0.5,0.5"]


def test_rows_that_change_between_count_and_join(tmp_path, monkeypatch):
    import ibis

    from tightlip.table import risk

    backend = ibis.duckdb.connect()
    real = risk._lookup
    new = [30, 99]  # in a cell that was counted, and in none

    def changing(*arguments):
        found = real(*arguments)
        backend.con.execute(f"INSERT INTO people VALUES ({new.pop()}, 'no', 'new')")
        return found

    monkeypatch.setattr(risk, "_lookup", changing)
    while new:
        backend.con.execute("DROP TABLE IF EXISTS people")
        backend.con.from_arrow(PEOPLE).create("people")
        table = open_table(backend.table("people"))
        risks = risks_for(table)
        with pytest.raises(InvalidInput, match="has changed since it was counted"):
            write_risks(table, POLICY, risks, tmp_path / "out.csv")
    backend.disconnect()
    assert not list(tmp_path.iterdir())


def test_ids_that_give_away_the_secret_or_clash(tmp_path):
    with open_table(PEOPLE) as table:
        risks = risks_for(table)
        for name, message in (("ill", "must not be a secret column"), ("nmae", r'did you mean "name"\?')):
            with pytest.raises(InvalidInput, match=message):
                write_risks(table, POLICY, risks, tmp_path / "out.csv", id_column=name)
    with open_table(PEOPLE.rename_columns(["age", "ill", "posterior"])) as table:
        risks = risks_for(table)
        with pytest.raises(InvalidInput, match="one of cell_size"):
            write_risks(table, POLICY, risks, tmp_path / "out.csv", id_column="posterior")


def test_whole_number_ids_with_gaps_keep_their_digits(tmp_path):
    ids = [2**53 + 1, None, 2**53 + 3]
    with open_table(PEOPLE.append_column("nr", pa.array(ids))) as table:
        write_risks(table, POLICY, risks_for(table), tmp_path / "out.parquet", id_column="nr")
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet")["nr"].to_pylist() == ids


def test_risks_of_the_wrong_shape_or_no_number():
    with open_table(PEOPLE) as table:
        counts = count_cells(table, POLICY)
    with pytest.raises(ShapeMismatch, match="leakage must have 2 numbers"):
        CellRisks(counts, np.zeros(3), np.ones(3))
    with pytest.raises(ShapeMismatch, match="posterior must have 3 numbers"):
        CellRisks(counts, np.zeros(2), np.ones(2))
    with pytest.raises(InvalidInput, match="leakage must not be NaN, got one at entry 1"):
        CellRisks(counts, np.array([0.0, np.nan]), np.ones(3))
