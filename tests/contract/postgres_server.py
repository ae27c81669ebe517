"""A Postgres server for the tests."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from contract.people import COLUMNS, ROWS


class PostgresServer:
    """A server of our own on a socket in a folder of our own; no port is opened."""

    def __init__(self, *settings: str) -> None:
        """Start it; `settings` are further arguments of initdb."""
        found = shutil.which("initdb") or next(
            map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb")), None
        )
        if found is None:
            pytest.skip("no Postgres server to start here")
        pytest.importorskip("psycopg", reason="pip install 'tightlip[postgres]'")
        self.programs = Path(found).resolve().parent
        self.folder = Path(tempfile.mkdtemp(prefix="tl-pg-", dir="/tmp"))
        self.as_user: list[str] = []
        if os.geteuid() == 0:  # which Postgres refuses to run as
            if not shutil.which("runuser"):
                pytest.skip("Postgres cannot be started as root, and there is no runuser")
            self.as_user = ["runuser", "-u", "nobody", "--"]
            shutil.chown(self.folder, "nobody")
        self._run("initdb", "-A", "trust", "-U", "tester", "-E", "UTF8", "--no-locale", *settings)
        self._run("pg_ctl", "-w", "-l", str(self.folder / "log"), "-o", self._options(), "start")
        self.url = f"postgres://tester@/postgres?host={self.folder}"

    def _options(self) -> str:
        return f"-c listen_addresses='' -c fsync=off -k {self.folder}"

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self.as_user, str(self.programs / program), "-D", str(self.folder / "data"), *arguments]
        subprocess.run(
            command,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            timeout=60,
        )

    def fill(self) -> None:
        import psycopg

        declared = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        with psycopg.connect(self.url) as connection:
            connection.execute(f"CREATE TABLE people ({declared})")
            with connection.cursor() as cursor:
                places = ", ".join(["%s"] * len(COLUMNS))
                cursor.executemany(
                    f"INSERT INTO people VALUES ({places})", [list(row.values()) for row in ROWS]
                )

    def limit_files(self, size: int) -> None:
        """Let no file of the server grow beyond a number of bytes, as if its disk were full from there on."""
        if not shutil.which("prlimit"):
            pytest.skip("no prlimit to limit the server's files with")
        postmaster = (self.folder / "data" / "postmaster.pid").read_text().split()[0]
        subprocess.run(
            [*self.as_user, "prlimit", "--pid", postmaster, f"--fsize={size}:unlimited"], check=True
        )

    def stop(self) -> None:
        self._run("pg_ctl", "-m", "immediate", "-w", "stop")

    def remove(self) -> None:
        if (self.folder / "data" / "postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
