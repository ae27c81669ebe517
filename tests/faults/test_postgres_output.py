"""A release into a Postgres table while the connection is lost, the process is killed, or a disk is full.

A proxy stands between the program and the server, and does its harm at each message in turn, until the program gets
through. The table is then there wholly or not at all.
"""

import contextlib
import json
import multiprocessing
import shutil
import signal
import socket
import sys
import tempfile
import threading
from itertools import count
from pathlib import Path

import pytest

import fault_runner
from contract.postgres_server import PostgresServer
from contract.warnings_of_engines import IGNORED
from tightlip.cli.main import main
from tightlip.files import prepare_output

pytestmark = [
    *IGNORED,
    pytest.mark.skipif(sys.platform != "linux", reason="faults are made by means of Linux"),
]

ROWS = [f"{20 + place % 30},{'FM'[place % 2]},{place % 3}" for place in range(300)]
_MOST = 200  # messages of a release; an endless loop would end here


@pytest.fixture(scope="module")
def server():
    # files of the server's log of 1 MB each, so that a limit of that size is one for tables alone
    server = PostgresServer("--wal-segsize=1")
    try:
        yield server
    finally:
        server.remove()


class Proxy:
    """Passes messages on, up to one: there it calls `harm`, before or after passing it, and ends every connection."""

    def __init__(self, server, last, harm, *, passed):
        self.folder = Path(tempfile.mkdtemp(prefix="tl-px-", dir="/tmp"))
        self.target, self.last, self.harm, self.passed = str(server.folder), last, harm, passed
        self.seen, self.open, self.over = 0, [], False
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(str(self.folder / ".s.PGSQL.5432"))
        self.listening.listen()
        self.url = f"postgres://tester@/postgres?host={self.folder}"
        self.threads = [threading.Thread(target=self._accept)]
        self.threads[0].start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listening.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(f"{self.target}/.s.PGSQL.5432")
                self.open += [client, server]
                for way in ((client, server, True), (server, client, False)):
                    self.threads.append(threading.Thread(target=self._pass, args=way))
                    self.threads[-1].start()

    def _pass(self, source, target, counted):
        with contextlib.suppress(OSError):
            while message := source.recv(1 << 16):
                self.seen += counted
                hit = counted and self.seen == self.last
                if hit and self.passed:
                    self.over = True
                    target.sendall(message)
                if hit:
                    self.harm()
                    self.over = True
                if self.over:
                    break
                target.sendall(message)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        with contextlib.suppress(OSError):
            self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
        for one in self.open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        for one in self.open:
            one.close()
        shutil.rmtree(self.folder)


@pytest.fixture
def command(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("\n".join(["age,sex,ill", *ROWS]) + "\n")
    (tmp_path / "plan.toml").write_text('secret = ["ill"]\n[release.age]\n[release.sex]\n')
    (tmp_path / "out").mkdir()
    asked = ["release", "table", "people.csv", "--policy", "plan.toml"]
    yield [*asked, "--receipt", str(tmp_path / "out" / "receipt.json"), "--out"]
    drop(server)


def drop(server):
    import psycopg

    with psycopg.connect(server.url) as connection:
        connection.execute("DROP TABLE IF EXISTS release")


def require_all_or_nothing(server):
    """Whether the table is there; with all rows then."""
    import psycopg

    with psycopg.connect(server.url) as connection:
        if connection.execute("SELECT to_regclass('release')").fetchone()[0] is None:
            return False
        found = connection.execute("SELECT age, sex FROM release").fetchall()
        assert [",".join(row) for row in found] == [row.rpartition(",")[0] for row in ROWS]
        return True


@pytest.mark.parametrize("passed", [False, True], ids=["message lost", "answer lost"])
def test_the_connection_is_lost_at_every_message(server, command, tmp_path, capsys, passed):
    said = []
    for last in count(1):
        assert last < _MOST
        proxy = Proxy(server, last, lambda: None, passed=passed)
        status = main([*command, proxy.url])
        proxy.close()
        err = capsys.readouterr().err
        there = require_all_or_nothing(server)
        if status == 0:
            assert there
            break
        assert (status, err.count("\n")) == (2, 1)
        assert not list((tmp_path / "out").iterdir())
        unknown = "did not say whether it was kept" in err
        assert unknown or not there
        said.append(unknown)
        drop(server)
    # only the answer to the commit is one without which the outcome is not known
    assert sum(said) == 1
    assert len(said) > 8


def test_killed_at_messages(server, command, tmp_path):
    """To the server it is a lost connection; of the files here, too, each is there wholly or not at all."""
    proxy = Proxy(server, None, None, passed=False)
    assert main([*command, proxy.url]) == 0
    proxy.close()
    out, states = tmp_path / "out", []
    for last in (proxy.seen // 2 + 2, *range(proxy.seen - 2, proxy.seen + 1)):
        drop(server)
        for file in out.iterdir():
            file.unlink()
        kill = []
        proxy = Proxy(server, last, lambda: kill[0](), passed=False)  # noqa: B023
        code, _, _ = apart([*command, proxy.url], out, kill)
        proxy.close()
        prepare_output(out / "other", force=False)
        receipt = [file.name for file in out.iterdir()]
        assert code == -signal.SIGKILL
        states.append((require_all_or_nothing(server), receipt))
    # the table comes first, so that no receipt is of a table that is not there
    assert states[0] == (False, [])
    assert {*map(str, states)} <= {*map(str, [(False, []), (True, []), (True, ["receipt.json"])])}
    assert states[-1][0]


def apart(command, out, kill, room=None):
    """Run a command in a process of its own; `kill` gets what kills it. Its exit code, status and what it said."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tightlip.cli.main", "duckdb", "ibis", "pyarrow.parquet", "altair"])
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=fault_runner.run, args=(theirs, command, out, None, room, False))
    process.start()
    kill.append(process.kill)
    theirs.close()
    status, said = None, ""
    with ours, contextlib.suppress(EOFError):  # it was killed before it could say anything
        status, said = ours.recv()
    process.join()
    return process.exitcode, status, said


def test_the_disk_of_the_receipt_is_full(server, command, tmp_path):
    """The receipt is written before the table is committed."""
    _, status, said = apart([*command, server.url], tmp_path / "out", [], room=60)
    assert (status, said.count("\n")) == (2, 1)
    assert "File too large" in said
    assert not require_all_or_nothing(server)
    assert not list((tmp_path / "out").iterdir())


def test_the_disk_of_the_server_is_full(server, command, tmp_path, capsys):
    rows = [f"{place % 90},{'FM'[place % 2] * 100},{place % 3}" for place in range(20_000)]
    (tmp_path / "people.csv").write_text("\n".join(["age,sex,ill", *rows]) + "\n")
    server.limit_files(1 << 20)
    assert main([*command, server.url]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "its database failed (" in err
    assert "has room" in err
    assert not require_all_or_nothing(server)
    assert not list((tmp_path / "out").iterdir())
    server.limit_files(1 << 40)
    assert main([*command, server.url]) == 0
    record = json.loads((tmp_path / "out" / "receipt.json").read_text())
    assert record["written"]["rows"] == 20_000
