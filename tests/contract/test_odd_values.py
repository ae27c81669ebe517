"""Values that try to be SQL, escapes or placeholders are counted, mapped and cut as they are on every engine."""

import csv
import sqlite3
from collections import Counter

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

from contract.people import spark_table
from contract.warnings_of_engines import IGNORED
from tightlip.table.counts import count_cells
from tightlip.table.mapping import Mapping
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import Prefix
from tightlip.table.source import open_table

pytestmark = IGNORED

VALUES = [
    *("a'b", "a\\b", "a\\'b", "a''b", 'a"b', "%", "%%", "%s", "%(x)s", ":x", "?", "$1", "{x}", "a;--"),
    *("line\nend", "line\\nend", "\\u0041", "\\x41", "tab\tend", "A", "a", "a ", " a", "NULL", "null"),
    *("\u202eright", "\u200b", "😀x", "x😀", "é", "e\u0301", "ß", "ss", "İ", "ı", "=1+1", "--", "/*", "`"),
]
TABLE = pa.table({"job": VALUES, "ill": ["yes" if place % 2 else "no" for place in range(len(VALUES))]})


def write(engine, folder):
    path = folder / f"odd.{engine}"
    if engine == "csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(
                [TABLE.column_names, *(row.values() for row in TABLE.to_pylist())]
            )
    elif engine == "parquet":
        pyarrow.parquet.write_table(TABLE, path)
    elif engine == "duckdb":
        with duckdb.connect(path) as connection:
            connection.from_arrow(TABLE).create("values_odd")
    else:
        connection = sqlite3.connect(path)
        with connection:
            connection.execute("CREATE TABLE values_odd (job TEXT, ill TEXT)")
            rows = [tuple(row.values()) for row in TABLE.to_pylist()]
            connection.executemany("INSERT INTO values_odd VALUES (?, ?)", rows)
        connection.close()
    return path


def source(engine, request, folder):
    if engine == "spark":
        return spark_table(request.getfixturevalue("spark_session"), "values_odd", TABLE)
    if engine == "postgres":
        import psycopg

        url = request.getfixturevalue("postgres_server").url
        with psycopg.connect(url) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE TABLE values_odd (job text, ill text)")
            rows = [tuple(row.values()) for row in TABLE.to_pylist()]
            cursor.executemany("INSERT INTO values_odd VALUES (%s, %s)", rows)
        return url
    if engine in ("csv", "parquet", "duckdb", "sqlite"):
        return write(engine, folder)
    frames = {"pandas": TABLE.to_pandas, "polars": lambda: pytest.importorskip("polars").from_arrow(TABLE)}
    return frames.get(engine, lambda: TABLE)()


def counted(table, recoding) -> Counter:
    counts = count_cells(table, Policy("ill", [Released("job", recoding)] if recoding else ["job"]))
    found: Counter = Counter()
    for cell, count in zip(counts.cell_of, counts.count, strict=True):
        found[counts.cells[cell][0]] += int(count)
    return found


def test_odd_values_are_values(engine, request, tmp_path):
    half = VALUES[::2]
    groups = {value: f"<{value}>" for value in half}
    name = "values_odd" if engine == "postgres" else None
    with open_table(source(engine, request, tmp_path), table=name) as table:
        assert counted(table, None) == Counter(VALUES)
        assert counted(table, Prefix(2)) == Counter(value[:2] for value in VALUES)
        mapped = counted(table, Mapping(groups, otherwise="it's \\other"))
    assert mapped == Counter(groups.get(value, "it's \\other") for value in VALUES)
