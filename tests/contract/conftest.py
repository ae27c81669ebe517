"""The same small table on every engine that tightlip reads.

Postgres and Spark are started here, on this machine only, and stopped at the end. Without a server to start, or without
Java, their tests skip and say so.
"""

import gc
import os
import shutil
import sys

import pytest

from contract.people import (
    ENGINES,
    arrow_table,
    spark_table,
    write_csv,
    write_duckdb,
    write_parquet,
    write_sqlite,
)
from contract.postgres_server import PostgresServer
from tightlip.table.source import open_table


@pytest.fixture(scope="session")
def postgres_server():
    server = PostgresServer()
    try:
        server.fill()
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def spark_session(tmp_path_factory):
    pytest.importorskip("pyspark", reason="pip install 'tightlip[spark]'")
    if not shutil.which("java"):
        pytest.skip("Spark needs Java")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
    }
    builder = SparkSession.builder.master("local[1]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def pandas_frame():
    import pandas as pd
    import pyarrow as pa

    return arrow_table().to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)  # floats would lose digits


@pytest.fixture(scope="session", params=ENGINES)
def engine(request) -> str:
    return request.param


@pytest.fixture(scope="session")
def table(engine, request, tmp_path_factory):
    """The contract's table on one engine."""
    name = "people" if engine == "postgres" else None
    with open_table(_source(engine, request, tmp_path_factory.mktemp(engine)), table=name) as table:
        yield table


def _source(engine, request, folder):
    if engine == "postgres":
        return request.getfixturevalue("postgres_server").url
    if engine == "spark":
        return spark_table(request.getfixturevalue("spark_session"), "people", arrow_table())
    if engine == "polars":
        return pytest.importorskip("polars").from_arrow(arrow_table())
    files = {"csv": write_csv, "parquet": write_parquet, "duckdb": write_duckdb, "sqlite": write_sqlite}
    if engine in files:
        return files[engine](folder / f"people.{engine}")
    return pandas_frame() if engine == "pandas" else arrow_table()


@pytest.fixture(autouse=True)
def sockets_closed_here(request):
    """So that Spark's open sockets are not found during other tests, whose warnings are errors."""
    yield
    if "spark_session" in request.fixturenames or "spark" in request.node.name:
        gc.collect()
