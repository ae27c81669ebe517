"""Any small Arrow table, stored where an engine reads it."""

import csv
import sqlite3

import duckdb
import pyarrow.parquet
import pytest

from contract.people import spark_table

_SQLITE = {"string": "TEXT", "double": "REAL"}
_POSTGRES = {"string": "text", "double": "double precision"}


def stored(engine, request, folder, name, table):
    """What `open_table` takes for the table on this engine; in a database it is called `name`."""
    if engine == "spark":
        return spark_table(request.getfixturevalue("spark_session"), name, table)
    if engine == "postgres":
        import psycopg

        url = request.getfixturevalue("postgres_server").url
        with psycopg.connect(url) as connection, connection.cursor() as cursor:
            _fill(cursor, name, table, _POSTGRES, "%s")
        return url
    if engine in ("csv", "parquet", "duckdb", "sqlite"):
        return _write(engine, folder / f"{name}.{engine}", name, table)
    frames = {"pandas": table.to_pandas, "polars": lambda: pytest.importorskip("polars").from_arrow(table)}
    return frames.get(engine, lambda: table)()


def _write(engine, path, name, table):
    if engine == "csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([table.column_names, *(row.values() for row in table.to_pylist())])
    elif engine == "parquet":
        pyarrow.parquet.write_table(table, path)
    elif engine == "duckdb":
        with duckdb.connect(path) as connection:
            connection.from_arrow(table).create(name)
    else:
        connection = sqlite3.connect(path)
        with connection:
            _fill(connection, name, table, _SQLITE, "?")
        connection.close()
    return path


def _fill(cursor, name, table, types, mark):
    declared = ", ".join(f"{field.name} {types[str(field.type)]}" for field in table.schema)
    cursor.execute(f"CREATE TABLE {name} ({declared})")
    rows = [tuple(row.values()) for row in table.to_pylist()]
    cursor.executemany(f"INSERT INTO {name} VALUES ({', '.join([mark] * table.num_columns)})", rows)
