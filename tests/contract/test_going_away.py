"""A database that goes away between the count and the join: one clear line, and no file."""

import numpy as np
import pytest

from contract.postgres_server import PostgresServer
from contract.warnings_of_engines import IGNORED
from tightlip import release
from tightlip.errors import InvalidInput
from tightlip.table.counts import count_cells
from tightlip.table.forms import FORMS
from tightlip.table.policy import Policy
from tightlip.table.risk import CellRisks, write_risks
from tightlip.table.source import open_table

pytestmark = IGNORED


def test_postgres_stops(tmp_path):
    server = PostgresServer()
    try:
        server.fill()
        policy = Policy("disease", ["age"])
        with open_table(server.url) as table:
            counts = count_cells(table, policy)
            risks = CellRisks(counts, np.zeros(len(counts.cells)), np.ones(len(counts.count)))
            server.stop()
            with pytest.raises(
                InvalidInput, match='"people" of Postgres database "postgres" cannot be'
            ) as caught:
                write_risks(table, policy, risks, tmp_path / "risks.csv", id_column="id")
            assert "\n" not in str(caught.value)
    finally:
        server.remove()
    assert not list(tmp_path.iterdir())


class _Stopping:
    """A form of file before whose first row the server stops."""

    def __init__(self, server):
        self.server, self.inner = server, FORMS[".csv"]

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def write(self, path, schema, batches, note):
        self.server.stop()
        self.inner.write(path, schema, batches, note)


def test_postgres_stops_while_a_release_is_written(tmp_path, monkeypatch):
    server = PostgresServer()
    try:
        server.fill()
        (tmp_path / "safe.csv").write_text("what was there")
        monkeypatch.setitem(FORMS, ".csv", _Stopping(server))
        with (
            open_table(server.url) as table,
            pytest.raises(InvalidInput, match='"people" of Postgres database "postgres" cannot be') as caught,
        ):
            release(table, Policy("disease", ["age"]), tmp_path / "safe.csv", force=True)
        assert "\n" not in str(caught.value)
    finally:
        server.remove()
    assert [file.name for file in tmp_path.iterdir()] == ["safe.csv"]
    assert (tmp_path / "safe.csv").read_text() == "what was there"
