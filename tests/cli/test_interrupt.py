"""Signals: the program says that it was interrupted, ends with the conventional status, and soon.

How soon is not timed: work that would run for minutes is interrupted, and the test fails if the program outlives it.
"""

import signal
import sqlite3
import subprocess
import sys

import pytest

from tightlip.cli.main import main
from tightlip.errors import InvalidInput
from tightlip.table.failure import engine_work
from tightlip.table.source import open_table

STATUS = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}

# Each begins work that goes on for minutes, in a call that does not look at signals, and says that it has begun.
BUSY = {
    "python": "say()\nwhile True: pass",
    "highs": (
        "import highspy, numpy\n"
        "random = numpy.random.default_rng(0)\n"
        "solver = highspy.Highs()\n"
        "solver.setOptionValue('output_flag', False)\n"
        "rows, columns = 2000, 4000\n"
        "starts = numpy.arange(columns, dtype=numpy.int32) * rows\n"
        "places = numpy.tile(numpy.arange(rows, dtype=numpy.int32), columns)\n"
        "solver.passModel(columns, rows, rows * columns, 1, -1, 0.0, random.random(columns), numpy.zeros(columns),"
        " numpy.full(columns, 1e30), numpy.full(rows, -1e30), numpy.full(rows, 9.0), starts, places,"
        " random.random(rows * columns), numpy.zeros(columns, dtype=numpy.int32))\n"
        "say()\n"
        "solver.run()"
    ),
    "scipy": (
        "import numpy\n"
        "from scipy.optimize import linprog\n"
        "random = numpy.random.default_rng(0)\n"
        "matrix = random.random((2000, 4000))\n"
        "say()\n"
        "linprog(-random.random(4000), A_ub=matrix, b_ub=numpy.full(2000, 9.0), method='highs')"
    ),
    "duckdb": (
        "import duckdb\n"
        "from tightlip.table.failure import engine_work\n"
        "say()\n"
        "with engine_work('table'):\n"
        "    duckdb.sql('SELECT sum(a.i * b.i % 7) FROM range(10000000) a(i), range(10000000) b(i)').fetchall()"
    ),
    "sqlite": (
        "import sqlite3\n"
        "say()\n"
        "sqlite3.connect(':memory:').execute('WITH RECURSIVE r(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r)"
        " SELECT count(*) FROM r').fetchall()"
    ),
}
PROGRAM = """
import os, sys
from tightlip.cli import interrupt
def busy(*_):
    def say():
        os.write(1, b"busy")
{work}
import tightlip.cli.arguments
tightlip.cli.arguments.read_text = busy
interrupt.run()
"""


def interrupted(program, name, *arguments):
    """Start a program, send it a signal once it has written, and wait for its end."""
    child = subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.read(4) == "busy"
        child.send_signal(getattr(signal, name))
        out, err = child.communicate(timeout=50)
    finally:
        child.kill()
        child.wait()
    return child.returncode, out, err


@pytest.mark.parametrize(
    ("work", "name"), [*(("python", name) for name in STATUS), *((work, "SIGINT") for work in [*BUSY][1:])]
)
def test_the_program_stops_wherever_it_is(work, name):
    lines = "\n".join(f"    {line}" for line in BUSY[work].splitlines())
    program = PROGRAM.format(work=lines)
    assert interrupted(program, name, "measure", "channel.json") == (
        STATUS[name],
        "",
        "tightlip: interrupted.\n",
    )


def test_work_that_ends_well_has_the_time_to(tmp_path):
    """The first Ctrl-C is left to the work, however long it takes; the next one is not."""
    work = (
        "    import time\n"
        "    with interrupt.first_is_spared():\n"
        "        try:\n"
        "            say()\n"
        "            while True: pass\n"
        "        except KeyboardInterrupt:\n"
        "            time.sleep(3 * interrupt.GRACE)\n"
        "        os.write(1, b'best so far')\n"
        "    {then}\n"
    )
    program = PROGRAM.format(work=work.format(then="os._exit(0)"))
    assert interrupted(program, "SIGINT", "measure", "channel.json") == (0, "best so far", "")
    again = "os.kill(os.getpid(), 2)\n    while True: pass"
    program = PROGRAM.format(work=work.format(then=again))
    assert interrupted(program, "SIGINT", "measure", "x.json") == (
        130,
        "best so far",
        "tightlip: interrupted.\n",
    )


def test_while_the_commands_are_loaded():
    program = (
        "import os, sys\n"
        "class Slow:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'tightlip.cli.main':\n"
        "            os.write(1, b'busy')\n"
        "            while True: pass\n"
        "sys.meta_path.insert(0, Slow())\n"
        "from tightlip.cli.interrupt import run\n"
        "run()\n"
    )
    assert interrupted(program, "SIGINT") == (130, "", "tightlip: interrupted.\n")


def test_signals_that_are_ignored_stay_ignored():
    """As nohup wants it."""
    program = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from tightlip.cli import interrupt\n"
        "import tightlip.cli.arguments\n"
        "import time\n"
        "def read(path):\n"
        "    os.kill(os.getpid(), signal.SIGHUP)\n"
        "    time.sleep(2 * interrupt.GRACE)\n"
        "    return '{}'\n"
        "tightlip.cli.arguments.read_text = read\n"
        "interrupt.run()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "measure", "x.json"], capture_output=True, text=True
    )
    assert (done.returncode, "interrupted" in done.stderr) == (2, False)


def test_an_interrupt_in_process(monkeypatch, capsys):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("tightlip.cli.arguments.read_text", stop)
    assert main(["measure", "x.json"]) == 130
    assert capsys.readouterr().err == "tightlip: interrupted.\n"


def test_input_that_ends_is_no_interrupt(monkeypatch, capsys):
    def end(*_):
        raise EOFError

    monkeypatch.setattr("tightlip.cli.arguments.read_text", end)
    assert main(["measure", "x.json"]) == 2
    assert "ended too early" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("Query interrupted"),
        RuntimeError("INTERRUPT Error: Interrupted!"),
        sqlite3.OperationalError("interrupted"),
    ],
)
def test_engines_that_make_an_error_of_it(error):
    with pytest.raises(KeyboardInterrupt), engine_work("table"):
        raise error
    with pytest.raises(InvalidInput), engine_work("table"):
        raise RuntimeError(f"{error} by the people")


def test_queries_of_sqlite_look_at_signals(tmp_path):
    """In Python too: without the program's thread."""
    database = sqlite3.connect(tmp_path / "t.sqlite")
    database.execute("CREATE TABLE t AS SELECT 1 AS a")
    database.commit()
    database.close()

    def leave(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, leave)
    endless = "WITH RECURSIVE r(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r"
    try:
        with open_table(tmp_path / "t.sqlite") as table:
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(KeyboardInterrupt), engine_work("table"):
                table.backend.con.execute(endless).fetchall()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_python_m():
    done = subprocess.run([sys.executable, "-m", "tightlip", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout[:9], done.stderr) == (0, "tightlip ", "")
