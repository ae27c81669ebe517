"""Column names that try to be SQL, or that the library uses itself, do no harm on any engine."""

import csv
import sqlite3

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from contract.people import spark_table
from contract.warnings_of_engines import IGNORED
from tightlip.table.counts import count_cells
from tightlip.table.policy import Policy
from tightlip.table.risk import CellRisks, write_risks
from tightlip.table.source import open_table

pytestmark = IGNORED

NAMES = [
    *('a"; DROP TABLE odd; --', "b'c`d", "new\nline", "日本 e\u0301", "%(x)s", "{y}", "a.b", "=1+1"),
    *("k0", "n", "m0", "c0", "row", "place", "id", "i", "rowid", "t0"),
]
TABLE = pa.table(
    {name: ["u", f"v{place}", f"v{place}", None] for place, name in enumerate(NAMES)}
    | {"ill": ["y", "n", "y", "n"], "=nr": [40, 30, 20, 10]}
)
CELLS = [
    tuple(None for _ in NAMES),
    tuple("u" for _ in NAMES),
    tuple(f"v{place}" for place, _ in enumerate(NAMES)),
]


def write_csv(path):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([TABLE.column_names, *(row.values() for row in TABLE.to_pylist())])
    return path


def write_parquet(path):
    pyarrow.parquet.write_table(TABLE, path)
    return path


def store_in_sqlite(path):
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in TABLE.column_names)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(f"CREATE TABLE odd ({names.replace(', ', ' TEXT, ')} INTEGER)")
        values = [tuple(row.values()) for row in TABLE.to_pylist()]
        connection.executemany(f"INSERT INTO odd VALUES ({', '.join('?' * len(TABLE.column_names))})", values)
    connection.close()


def store_in_duckdb(path):
    with duckdb.connect(path) as connection:
        connection.from_arrow(TABLE).create("odd")


def store_in_postgres(url):
    import psycopg

    texts = [psycopg.sql.Identifier(name) + psycopg.sql.SQL(" text") for name in TABLE.column_names[:-1]]
    number = psycopg.sql.Identifier(TABLE.column_names[-1]) + psycopg.sql.SQL(" bigint")
    declared = psycopg.sql.SQL(", ").join([*texts, number])
    with psycopg.connect(url) as connection:
        connection.execute(psycopg.sql.SQL("CREATE TABLE odd ({})").format(declared))
        with connection.cursor() as cursor:
            places = ", ".join(["%s"] * len(TABLE.column_names))
            values = [tuple(row.values()) for row in TABLE.to_pylist()]
            cursor.executemany(f"INSERT INTO odd VALUES ({places})", values)


def odd_source(engine, request, folder):
    if engine == "spark":
        return spark_table(request.getfixturevalue("spark_session"), "odd", TABLE)
    if engine == "postgres":
        url = request.getfixturevalue("postgres_server").url
        store_in_postgres(url)
        return url
    if engine in ("duckdb", "sqlite"):
        {"duckdb": store_in_duckdb, "sqlite": store_in_sqlite}[engine](folder / "odd")
        return folder / "odd"
    if engine in ("csv", "parquet"):
        return {"csv": write_csv, "parquet": write_parquet}[engine](folder / f"odd.{engine}")
    frames = {"pandas": TABLE.to_pandas, "polars": lambda: pytest.importorskip("polars").from_arrow(TABLE)}
    return frames.get(engine, lambda: TABLE)()


def test_odd_names_do_no_harm(engine, request, tmp_path):
    source = odd_source(engine, request, tmp_path)
    policy = Policy("ill", NAMES)
    with open_table(source, table="odd" if engine == "postgres" else None) as table:
        assert list(table.columns) == TABLE.column_names
        counts = count_cells(table, policy)
        assert counts.cells == CELLS
        assert counts.count.tolist() == [1, 1, 1, 1]
        out = tmp_path / "risks.csv"
        write_risks(table, policy, CellRisks(counts, np.zeros(3), np.ones(4)), out, id_column="=nr")
        assert table.rows() == 4
    with out.open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["'=nr", "cell_size", "leakage_nats", "posterior"]
    assert {int(row[0]): int(row[1]) for row in rows} == {40: 1, 30: 2, 20: 2, 10: 1}
