"""Every output of every command, while the disk is full, the process is killed, the folder closed, the name taken.

What was there stays or the whole new file is there; nothing else is left behind, or it goes at the next use.
"""

import json
import multiprocessing
import os
import signal
import sys
from pathlib import Path

import pytest

import fault_runner
from contract.warnings_of_engines import IGNORED
from tightlip.cli.main import main
from tightlip.files import prepare_output

pytestmark = [
    *IGNORED,
    pytest.mark.skipif(sys.platform != "linux", reason="faults are made by means of Linux"),
]

CHANNEL = {"prior": "uniform", "channel": [["1/2", "1/2", "0"], ["1/4", "1/4", "1/2"], ["1/3", "1/3", "1/3"]]}
STUDY = {
    "labels": ["a", "b"],
    "loss": "absolute",
    "hypotheses": [
        {"name": "low", "parameter": 0, "prior": ["1/5", "4/5"]},
        {"name": "high", "parameter": 1, "prior": ["3/10", "7/10"]},
    ],
}
PEOPLE = "age,sex,ill\n" + "".join(f"{20 + i % 30},{'FM'[i % 2]},{i % 3}\n" for i in range(300))
AUDIT = ("audit", "people.csv", "--secret", "ill", "--release", "age,sex", "--bins", "age=10")
PROTECT = ("protect", "people.csv", "--secret", "ill", "--release", "age,sex", "--budget", "3x")
LEVELS = ("--levels", "age=as is,10,out", "--seconds", "0.2")
POLICY = 'secret = ["ill"]\n[release.age]\nbins = 10\n[release.sex]\nrandomized_response = "log(3)"\n'
TABLE = ("release", "table", "people.csv", "--policy", "plan.toml", "--seed-for-tests", "1")
HISTOGRAM = ("release", "histogram", "people.csv", "--columns", "sex,ill", "--secret", "ill=1")

# each command that writes, with the options that name what it writes
COMMANDS = {
    "audit": (
        (*AUDIT, "--budget", "log(50)"),
        {"--html": "page.html", "--risks": "risks.csv", "--write-policy": "p.toml"},
    ),
    "audit-parquet": (AUDIT, {"--risks": "risks.parquet"}),
    "envelope": (
        ("envelope", "channel.json", "--delta", "1/4"),
        {"--certificate": "proof.json", "--chart": "curve.svg"},
    ),
    "sml": (("sml", "channel.json"), {"--certificate": "proof.json"}),
    "contraction": (("contraction", "channel.json"), {"--chart": "bounds.png"}),
    "plan": (("plan", "study.json", "--samples", "10", "--epsilon", "1"), {"--chart": "risk.html"}),
    "protect": (
        (*PROTECT, *LEVELS),
        {
            "--out": "safe.parquet",
            "--receipt": "receipt.json",
            "--policy-out": "plan.toml",
            "--certificate": "proof.json",
            "--html": "page.html",
        },
    ),
    "release-csv": (TABLE, {"--out": "safe.csv", "--receipt": "safe.json"}),
    "release-parquet": (TABLE, {"--out": "safe.parquet", "--receipt": "safe.json"}),
    "release-duckdb": (TABLE, {"--out": "safe.duckdb", "--receipt": "safe.json"}),
    "release-sqlite": (TABLE, {"--out": "safe.sqlite", "--receipt": "safe.json"}),
    "release": ((*HISTOGRAM, "--bin-size", "3", "--seed-for-tests", "1"), {"--out": "rows.csv"}),
}
# what a command writes besides, without being told where
BESIDE = {"protect": {"plan.recoding.parquet"}}
EVERY = pytest.mark.parametrize("name", COMMANDS)


@pytest.fixture
def command(tmp_path, monkeypatch, name):
    """The arguments of a command that writes to the folder "out"."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "channel.json").write_text(json.dumps(CHANNEL))
    (tmp_path / "study.json").write_text(json.dumps(STUDY))
    (tmp_path / "plan.toml").write_text(POLICY)
    (tmp_path / "out").mkdir()
    return arguments(name, tmp_path / "out")


def arguments(name, folder):
    given, outputs = COMMANDS[name]
    return [*given, *(part for option, file in outputs.items() for part in (option, folder / file))]


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def apart(command, folder, *, copies=None, room=None, kill_when_full=False):
    """Run a command in a process of its own; returns its exit code, its status and what it said."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tightlip.cli.main", "duckdb", "ibis", "pyarrow.parquet", "altair"])
    ours, theirs = context.Pipe(duplex=False)
    given = (theirs, command, folder, copies, room, kill_when_full)
    process = context.Process(target=fault_runner.run, args=given)
    process.start()
    theirs.close()
    with ours:
        try:
            status, said = ours.recv()
        except EOFError:  # it was killed before it could say anything
            status, said = None, ""
    process.join()
    code = process.exitcode
    process.close()
    return code, status, said


@EVERY
def test_killed_at_every_write(command, tmp_path, name):
    """Each file is there wholly or not at all, and what is left besides goes when the folder is used again."""
    out, copies = tmp_path / "out", tmp_path / "copies"
    copies.mkdir()
    code, status, said = apart(command, out, copies=copies)
    assert (code, status) == (0, 0), said
    whole = files(out)
    assert set(whole) == set(COMMANDS[name][1].values()) | BESIDE.get(name, set())
    killed = list(copies.iterdir())
    # a folder, its lock, the file, its name, and the folder's end
    assert len(killed) >= 4 * len(whole)
    assert any(list(folder.iterdir()) for folder in killed)
    for folder in killed:
        prepare_output(folder / "other", force=False)
        assert files(folder).items() <= whole.items(), folder.name


@EVERY
@pytest.mark.parametrize("killed", [False, True])
def test_the_disk_is_full(command, tmp_path, name, killed):
    """What was there stays, whether the system refuses a write in the midst of a file or kills the process there."""
    out = tmp_path / "out"
    for file in COMMANDS[name][1].values():
        (out / file).write_text("what was there")
    before = files(out)
    code, status, said = apart([*command, "--force"], out, room=60, kill_when_full=killed)
    if killed:
        assert code == -signal.SIGXFSZ
        prepare_output(out / "other", force=False)
    else:
        assert (code, status, said.count("\n")) == (0, 2, 1)
        # a database has words of its own
        assert "File too large" in said or "check that the disk has room" in said
    assert files(out) == before


@EVERY
def test_a_name_that_is_taken(command, tmp_path, name, capsys):
    for file in COMMANDS[name][1].values():
        (tmp_path / "out" / file).write_text("what was there")
        before = files(tmp_path / "out")
        assert main([os.fspath(argument) for argument in command]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.endswith("choose another name or overwrite it: --force, force=True.\n")
        assert files(tmp_path / "out") == before
        (tmp_path / "out" / file).unlink()


@EVERY
def test_a_folder_in_which_nobody_can_make_a_file(command, name, capsys):
    """Modes do not stop the administrator, so the folder is one of the system's own."""
    assert main([os.fspath(argument) for argument in arguments(name, Path("/proc/self"))]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "cannot be written" in message


@EVERY
@pytest.mark.skipif(os.geteuid() == 0, reason="modes do not stop the administrator")
def test_a_folder_that_is_closed_to_writing(command, tmp_path, name, capsys):
    (tmp_path / "out").chmod(0o500)
    assert main([os.fspath(argument) for argument in command]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "its folder is closed to writing" in captured.err


def test_every_command_that_writes_is_here():
    """An option that takes a file to write stands in COMMANDS: a new one is told by the help."""
    from typer.main import get_command

    from tightlip.cli.main import app

    found = set()

    def walk(command):
        for inner in getattr(command, "commands", {}).values():
            walk(inner)
        texts = {option: parameter.help or "" for parameter in command.params for option in parameter.opts}
        found.update(
            option
            for option, text in texts.items()
            if text.lower().startswith(("write", "draw", "the csv file to"))
        )

    walk(get_command(app))
    assert found <= {option for _, outputs in COMMANDS.values() for option in outputs}
    assert found
