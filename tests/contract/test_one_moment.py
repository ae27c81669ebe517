"""A Postgres table that changes during the run: all that is read is of the moment at which it was opened."""

import numpy as np
import pyarrow.parquet

from contract.warnings_of_engines import IGNORED
from tightlip.table.counts import count_cells
from tightlip.table.policy import Policy
from tightlip.table.risk import CellRisks, write_risks
from tightlip.table.source import open_table

pytestmark = IGNORED


def test_postgres_is_read_as_of_one_moment(postgres_server, tmp_path):
    import psycopg

    policy = Policy("ill", ["age"])
    with psycopg.connect(postgres_server.url, autocommit=True) as writer:
        writer.execute(
            "CREATE TABLE moving AS SELECT i AS id, i % 3 AS age, i % 2 AS ill FROM generate_series(1, 9) i"
        )
        try:
            with open_table(postgres_server.url, table="moving") as table:
                counts = count_cells(table, policy)
                writer.execute("UPDATE moving SET age = 7, ill = 1 - ill WHERE id < 5")
                writer.execute("INSERT INTO moving VALUES (10, 99, 0)")
                assert count_cells(table, policy).same_as(counts)
                risks = CellRisks(counts, np.zeros(len(counts.cells)), np.ones(len(counts.count)))
                write_risks(table, policy, risks, tmp_path / "risks.parquet", id_column="id")
        finally:
            writer.execute("DROP TABLE moving")
    written = pyarrow.parquet.read_table(tmp_path / "risks.parquet")
    assert written["id"].to_pylist() == list(range(1, 10))
    assert set(written["cell_size"].to_pylist()) == {3}
