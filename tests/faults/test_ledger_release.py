"""A release that is charged to a ledger, while its process is killed at every write or its disk is full.

Whatever is there afterwards, nothing is released that is not charged, and the ledger is sound.
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from contract.warnings_of_engines import IGNORED
from faults.test_every_output import PEOPLE, apart
from tightlip.cli.main import main
from tightlip.ledger import Ledger

pytestmark = [
    *IGNORED,
    pytest.mark.skipif(sys.platform != "linux", reason="faults are made by means of Linux"),
]
POLICY = 'secret = ["ill"]\n[release.age]\nbins = 10\n[release.sex]\nrandomized_response = "log(3)"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a ledger that may release, and nothing released."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "plan.toml").write_text(POLICY)
    out = tmp_path / "out"
    out.mkdir()
    made = [
        "ledger",
        "create",
        "out/study.ledger",
        "--table",
        "people.csv",
        "--secret",
        "ill",
        "--budget",
        "50x",
    ]
    assert main(made) == 0
    return out


def release(folder, name="safe.csv", *more):
    return [
        *("release", "table", "people.csv", "--policy", "plan.toml"),
        *("--ledger", folder / "study.ledger", "--out", folder / name, *more),
    ]


def charged(folder):
    """The states of what a ledger has, which must be sound."""
    ledger = Ledger(folder / "study.ledger")
    ledger.verify()
    return [one.state for one in ledger.releases()]


def test_killed_at_every_write(folder, tmp_path):
    """Reserve, draw, write, confirm: wherever it ends, what is out is charged, and can be settled."""
    copies = tmp_path / "copies"
    copies.mkdir()
    code, status, said = apart(release(folder), folder, copies=copies)
    assert (code, status) == (0, 0), said
    assert charged(folder) == ["released"]
    seen = set()
    for killed in copies.iterdir():
        states, out = charged(killed), (killed / "safe.csv").exists()
        assert states or not out, f"{killed.name}: released and not charged"
        seen.add((*states, out))
        if states == ["reserved"]:
            settled = Ledger(killed / "study.ledger").settle(
                "1", released=out, reason="the process was killed"
            )
            assert settled.state == ("released" if out else "withdrawn")
    assert {(False,), ("reserved", False), ("reserved", True)} <= seen


@pytest.mark.parametrize("killed", [False, True])
def test_the_disk_is_full(folder, killed):
    """Nothing is out that is not charged, however much room there is."""
    used = os.path.getsize(folder / "study.ledger")
    outcomes = set()
    for room in (used // 2, used, used + 4096, used + 8192, used + 16384, 1 << 20):
        code, status, _ = apart(release(folder, f"{room}.csv"), folder, room=room, kill_when_full=killed)
        outcomes.add(status if code == 0 else "killed")
        states = charged(folder)
        assert len(states) >= sum(path.suffix == ".csv" for path in folder.iterdir())
        assert states.count("released") <= sum(path.suffix == ".csv" for path in folder.iterdir())
    assert 0 in outcomes
    assert len(outcomes) > 1


def test_two_at_once_are_both_charged_and_judged_together(folder):
    """The second is judged with the first, also where both began before either was charged."""
    (folder.parent / "plan.toml").write_text('secret = ["ill"]\n[release.age]\nbins = 10\n')
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(apart, release(folder, f"{number}.csv"), folder) for number in range(4)]
        assert [run.result()[:2] for run in runs] == [(0, 0)] * 4
    assert charged(folder) == ["released"] * 4
    heads = [folder / f"{number}.csv.receipt.json" for number in range(4)]
    Ledger(folder / "study.ledger").verify(heads)
