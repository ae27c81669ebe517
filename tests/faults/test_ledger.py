"""A ledger while its process is killed at every system call, its disk is full, or nothing may be written.

Afterwards it opens, is sound, and has the whole new entry or nothing of it.
"""

import json
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import ledger_runner
from tightlip.errors import InvalidInput
from tightlip.ledger.store import Store

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="faults are made by means of Linux")

NAME = "people.ledger"


def run(*arguments):
    """What the runner prints about a thing that it does in a process of its own."""
    command = [sys.executable, ledger_runner.__file__, *map(os.fspath, arguments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def watched(do, path, copies):
    """The folder as it was before each system call that changes it, and after the last."""
    return watched_with_syncs(do, path, copies)[0]


def watched_with_syncs(do, path, copies):
    """The same, and which paths were brought to the disk, with the number of states there were by then."""
    copies.mkdir()
    found = run("steps", do, path, copies)
    if found["code"] == 77:
        pytest.skip("the system does not let one process watch another")
    assert found["code"] == 0
    return [copies / str(number + 1) for number in range(found["states"])], found["synced"]


@pytest.fixture
def ledger(tmp_path):
    """A ledger of two entries beside a plan that is to be attached to the next."""
    folder = tmp_path / "ledgers"
    folder.mkdir()
    (folder / "plan").write_bytes(random.Random(1).randbytes(30_000))
    store = Store.create(folder / NAME, {"budget": "1/2"})
    store.append("release", "old", {"spent": "1/20"}, after=store.head.digest, files={"old": b"old"})
    return store


def unfinished(path):
    """Whether a journal lies beside a ledger."""
    return path.with_name(path.name + "-journal").exists()


def require_once(path, before):
    """Open what a killed or failed process left: it is sound, and doing the same again makes it whole."""
    store = Store.open(path)
    store.verify([(entry.seq, entry.digest) for entry in before])
    entries = store.entries()
    assert entries[: len(before)] == before
    assert len(entries) - len(before) in (0, 1)
    ledger_runner.append(path)
    again = store.entries()
    assert len(again) == len(before) + 1
    assert again[: len(entries)] == entries
    assert store.content(again[-1].files["plan"]) == path.with_name("plan").read_bytes()
    store.verify()
    assert sorted(os.listdir(path.parent)) == [NAME, "plan"]
    return len(entries) - len(before)


def test_killed_at_every_system_call_of_an_append(ledger, tmp_path):
    before = ledger.entries()
    states = watched("append", ledger.path, tmp_path / "copies")
    journals = [unfinished(folder / NAME) for folder in states]
    done = [require_once(folder / NAME, before) for folder in states]
    # nothing up to the moment at which the journal goes, all of it from there on
    assert done == sorted(done)
    assert set(done) == {0, 1}
    assert done[-1] == 1
    # the journal's parts, then each page of the ledger
    assert sum(journals) > 10


needs_numbers = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "aarch64"), reason="system calls have other numbers here"
)


@needs_numbers
def test_an_entry_is_on_the_disk_before_the_append_returns(ledger, tmp_path):
    """When the power goes, what was not brought to the disk is lost: pages, then the end of the journal."""
    path = ledger.path
    states, synced = watched_with_syncs("append", path, tmp_path / "copies")
    content = [(folder / NAME).read_bytes() for folder in states]
    written = content.index(content[-1]) + 1
    journal = [unfinished(folder / NAME) for folder in states]
    ended = len(journal) - journal[::-1].index(True) + 1
    first = next(number for number, one in enumerate(content) if one != content[0])
    # the journal before any page, the pages before the end of the journal, which is its name in the folder
    assert any(what == f"{path}-journal" and when <= first for when, what in synced)
    assert any(what == str(path) and written <= when < ended for when, what in synced)
    assert any(what == str(path.parent) and when >= ended for when, what in synced)


@needs_numbers
def test_a_ledger_is_on_the_disk_before_its_creation_returns(tmp_path):
    (tmp_path / "ledgers").mkdir()
    path = tmp_path / "ledgers" / NAME
    states, synced = watched_with_syncs("create", path, tmp_path / "copies")
    named = [(folder / NAME).exists() for folder in states].index(True) + 1
    made = [when for when, what in synced if what.endswith(f".partial/{NAME}")]
    assert made
    assert max(made) < named
    assert any(what == str(path.parent) and when >= named for when, what in synced)


def test_a_killed_append_is_taken_back_by_who_only_reads_where_it_may_be_written(
    ledger, tmp_path, monkeypatch
):
    before = ledger.entries()
    told = set()
    for folder in watched("append", ledger.path, tmp_path / "copies"):
        content = {file.name: file.read_bytes() for file in folder.iterdir()}
        with monkeypatch.context() as closed:
            closed.setattr("tightlip.ledger.database.os.access", lambda *_: False)
            try:
                store = Store.open(folder / NAME, write=False)
                store.verify()
                assert store.entries()[:2] == before
            except InvalidInput as error:
                told.add(str(error).partition(" cannot be ")[2])
            assert {file.name: file.read_bytes() for file in folder.iterdir()} == content
        assert Store.open(folder / NAME, write=False).entries()[:2] == before
    assert told == {
        "read: a program was ended while it added to it, and nothing may be written here; open it where it may be "
        "written, which takes back what is unfinished."
    }


def test_killed_while_what_was_unfinished_is_taken_back(ledger, tmp_path):
    """The process that finds a journal is killed at each of its own system calls too."""
    before = ledger.entries()
    states = watched("append", ledger.path, tmp_path / "copies")
    last = [folder for folder in states if unfinished(folder / NAME)][-1]
    for folder in watched("append", last / NAME, tmp_path / "again"):
        require_once(folder / NAME, before)


def test_killed_at_every_system_call_of_a_creation(tmp_path):
    (tmp_path / "ledgers").mkdir()
    path = tmp_path / "ledgers" / NAME
    seen = set()
    for folder in watched("create", path, tmp_path / "copies"):
        there = (folder / NAME).exists()
        seen.add(there)
        if there:
            store = Store.open(folder / NAME)
            assert [entry.kind for entry in store.entries()] == ["create"]
            assert (folder / NAME).stat().st_mode & 0o777 == 0o600
        else:
            store = Store.create(folder / NAME, {})
        store.append("release", "one", {}, after=store.head.digest)
        store.verify()
        # what is left of it is closed to others, and goes with the next ledger
        Store.create(folder / "other", {})
        assert sorted(os.listdir(folder)) == ["other", NAME]
    assert seen == {False, True}


def test_the_disk_is_full_while_an_entry_is_appended(ledger, tmp_path):
    before = ledger.entries()
    (tmp_path / "full").mkdir()
    found = run("full", "append", ledger.path, tmp_path / "full", "80000", "3000")
    statuses = {killed: [status for _, how, status, _ in found if how == killed] for killed in (False, True)}
    assert set(statuses[False]) == {0, 3}
    assert set(statuses[True]) == {0, -signal.SIGXFSZ}
    for room, killed, status, said in found:
        assert ("; check that the disk has room, then do the same again" in said) == (status == 3)
        added = require_once(tmp_path / "full" / f"{room}-{killed}" / NAME, before)
        assert added == (status == 0)


def test_the_disk_is_full_while_a_ledger_is_created(tmp_path):
    (tmp_path / "ledgers").mkdir()
    (tmp_path / "full").mkdir()
    found = run("full", "create", tmp_path / "ledgers" / NAME, tmp_path / "full", "40000", "3000")
    assert {status for _, killed, status, _ in found if not killed} == {0, 3}
    for room, killed, status, said in found:
        words = "people.ledger cannot be read or written: ", "people.ledger cannot be written: "
        assert any(word in said for word in words) == (status == 3)
        folder = tmp_path / "full" / f"{room}-{killed}"
        assert (folder / NAME).exists() == (status == 0)
        if killed or status == 0:
            Store.create(folder / "other", {})
        assert set(os.listdir(folder)) <= {NAME, "other"}


@pytest.fixture
def open_folder(ledger):
    """A folder that everybody may enter and read, and only its owner may write to; with a ledger."""
    folder = Path(tempfile.mkdtemp())
    shutil.copy(ledger.path, folder / NAME)
    (folder / NAME).chmod(0o444)
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o700)
    shutil.rmtree(folder)


def test_where_nothing_may_be_written_a_ledger_can_be_read(open_folder):
    assert run("powerless", "look", open_folder / NAME) == "done"
    assert run("powerless", "append", open_folder / NAME) == (
        f"{open_folder / NAME} or its folder is closed to writing; open it with write=False to read it."
    )
    assert "cannot be written" in run("powerless", "create", open_folder / "other")
    assert os.listdir(open_folder) == [NAME]


def test_what_may_not_be_read_is_told(open_folder):
    (open_folder / NAME).chmod(0o000)
    assert run("powerless", "look", open_folder / NAME).startswith(
        f"{open_folder / NAME} cannot be opened or written: unable to open database file; check"
    )
