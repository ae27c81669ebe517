"""The contract's table: missing values, look-alike texts, numbers at the edges; and how to store it."""

import datetime as dt
import sqlite3
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

COLUMNS = {
    "id": "bigint",
    "job": "text",
    "age": "bigint",
    "weight": "double precision",
    "member": "boolean",
    "born": "date",
    "disease": "text",
}
KINDS = dict(zip(COLUMNS, ("integer", "text", "integer", "real", "boolean", "date", "text"), strict=True))
_JOBS = ["nurse", "Nurse", "None", "NA", "O'Brien; --", "\u00e9", "e\u0301", "nurse ", "=1+1", None]
_AGES = [0, 29, 30, -1, 89, 90, None, -30, 2**53 + 1]
_WEIGHTS = [0.1, 0.3, 1.0, -0.0, 7.25, None, 2.5, -0.3, 0.30000000000000004]
_DISEASES = ["flu", "asthma", None, "none"]
ROWS = [
    {
        "id": 1000 - 7 * place,  # falling, so that sorting by it is not the order of the input
        "job": _JOBS[place % 10],
        "age": _AGES[place * 4 % 9],
        "weight": _WEIGHTS[place * 5 % 9],
        "member": [True, False, None][place % 7 % 3],
        "born": [dt.date(1999, 12, 31), dt.date(2000, 1, 1), None, dt.date(2000, 2, 29)][place // 2 % 4],
        "disease": _DISEASES[place * place % 13 % 4],
    }
    for place in range(60)
]
LISTS = {name: [row[name] for row in ROWS] for name in COLUMNS}
ENGINES = ["csv", "parquet", "duckdb", "sqlite", "pandas", "polars", "arrow", "postgres", "spark"]
UNORDERED = {"postgres", "spark"}


def arrow_table() -> pa.Table:
    return pa.table(LISTS)


def write_csv(path: Path) -> Path:
    def field(value: object) -> str:
        return "" if value is None else '"' + str(value).replace('"', '""') + '"'

    lines = [",".join(COLUMNS), *(",".join(map(field, row.values())) for row in ROWS)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_sqlite(path: Path) -> Path:
    types = {
        "bigint": "INTEGER",
        "double precision": "REAL",
        "boolean": "BOOLEAN",
        "date": "DATE",
        "text": "TEXT",
    }
    declared = ", ".join(f"{name} {types[kind]}" for name, kind in COLUMNS.items())
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(f"CREATE TABLE people ({declared})")
        values = [[str(v) if isinstance(v, dt.date) else v for v in row.values()] for row in ROWS]
        connection.executemany(f"INSERT INTO people VALUES ({', '.join('?' * len(COLUMNS))})", values)
    connection.close()
    return path


def write_duckdb(path: Path) -> Path:
    import duckdb

    people = arrow_table()  # noqa: F841 (DuckDB finds it by name)
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM people")
    return path


def write_parquet(path: Path) -> Path:
    pyarrow.parquet.write_table(arrow_table(), path, row_group_size=7)
    return path


def spark_table(session, name: str, table):
    """An Ibis table on Spark with the rows of an Arrow table."""
    import ibis

    types = {
        "int64": "bigint",
        "string": "string",
        "double": "double",
        "bool": "boolean",
        "date32[day]": "date",
    }
    declared = ", ".join(
        f"`{field.name.replace('`', '``')}` {types[str(field.type)]}" for field in table.schema
    )
    rows = [tuple(row.values()) for row in table.to_pylist()]
    session.createDataFrame(rows, declared).createOrReplaceTempView(name)
    return ibis.pyspark.connect(session).table(name)
