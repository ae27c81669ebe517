"""A ledger is created whole, appended to once per key, shared by processes, and refused when anything is amiss."""

import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
import tracemalloc
import zlib
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone

import pytest

from tightlip.errors import InvalidInput, LedgerInvalid, LedgerMoved, TightlipError
from tightlip.ledger.chain import following, read_chain
from tightlip.ledger.store import LARGEST_FILE, Store

PLAN = b"a plan that says what is released " * 500 + random.Random(3).randbytes(9000)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "people.ledger"


@pytest.fixture
def store(path):
    """A ledger of three entries, the second with a file that takes several pages."""
    made = Store.create(path, {"budget": "1/2"})
    made.append("release", "one", {"spent": "1/10"}, after=made.head.digest, files={"plan.toml": PLAN})
    made.append("release", "two", {"spent": "2/10"}, after=made.head.digest)
    return made


def raw(path, *statements):
    """Do something to the database that the store would not."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def rows(path):
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT seq, kind, key, time, body, files, previous, digest FROM entry ORDER BY seq"
        return connection.execute(query).fetchall()


def triggers(path):
    with closing(sqlite3.connect(path)) as connection:
        return dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"))


def changed(path, *statements):
    """Change a ledger as somebody does who knows of the triggers, and puts them back."""
    found = triggers(path)
    raw(path, *(f"DROP TRIGGER {name}" for name in found), *statements, *found.values())


# creating and appending


def test_what_is_appended_is_there(store, path):
    first, second, third = Store.open(path).entries()
    assert (first.seq, first.kind, first.key, dict(first.body)) == (1, "create", store.id, {"budget": "1/2"})
    assert (second.kind, second.key, dict(second.body)) == ("release", "one", {"spent": "1/10"})
    assert (third.previous, third.files) == (second.digest, {})
    assert store.content(second.files["plan.toml"]) == PLAN
    assert store.head == third
    assert os.listdir(path.parent) == [path.name]
    store.verify([(entry.seq, entry.digest) for entry in (first, second, third)])


def test_two_ledgers_that_say_the_same_are_two(tmp_path):
    clock = lambda: datetime(2026, 5, 9, tzinfo=UTC)  # noqa: E731
    one, two = (Store.create(tmp_path / name, {}, clock=clock) for name in ("one", "two"))
    assert one.id != two.id
    assert one.head.digest != two.head.digest


def test_only_the_owner_may_read_it(store, path):
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_same_key_is_appended_once(store):
    before = store.entries()
    # also by who has judged by an older head, or has lost it in the crash that made it ask again
    for after in (before[0].digest, before[-1].digest, "f" * 64):
        again = store.append("release", "one", {"spent": "1/10"}, after=after, files={"plan.toml": PLAN})
        assert again == before[1]
    assert store.entries() == before


@pytest.mark.parametrize(
    ("body", "files"),
    [
        ({"spent": "1/9"}, {"plan.toml": PLAN}),
        ({"spent": "1/10"}, {}),
        ({"spent": "1/10"}, {"plan.toml": PLAN[:-1]}),
        ({"spent": "1/10"}, {"other.toml": PLAN}),
    ],
)
def test_a_key_that_was_used_for_something_else_is_refused(store, body, files):
    before = store.entries()
    with pytest.raises(
        InvalidInput, match='key "one" was used by entry 2, which says something else; choose'
    ):
        store.append("release", "one", body, after=before[-1].digest, files=files)
    assert store.entries() == before


def test_true_is_not_one(store):
    store.append("note", "a", {"x": 1}, after=store.head.digest)
    with pytest.raises(InvalidInput, match="says something else"):
        store.append("note", "a", {"x": True}, after=store.head.digest)


def test_a_key_is_of_its_kind(store):
    entry = store.append("change", "one", {"spent": "7"}, after=store.head.digest)
    assert entry.seq == 4


def test_who_was_not_told_of_another_entry_judges_again(store, path):
    judged_by = store.head.digest
    other = Store.open(path).append("release", "other", {}, after=judged_by)
    with pytest.raises(LedgerMoved, match="has 4 entries, 1 after the one that was judged by"):
        store.append("release", "mine", {}, after=judged_by)
    assert store.head == other
    with pytest.raises(LedgerMoved, match="does not have the entry that was judged by"):
        store.append("release", "mine", {}, after="f" * 64)
    assert store.append("release", "mine", {}, after=other.digest).seq == 5


def test_nothing_is_written_of_files_whose_entry_is_refused(store):
    with pytest.raises(LedgerMoved):
        store.append("release", "mine", {}, after="f" * 64, files={"a": b"content"})
    store.verify()


def test_a_file_is_stored_once(store, path):
    content = random.Random(0).randbytes(100_000)
    size = []
    for number in range(3):
        store.append("file", str(number), {}, after=store.head.digest, files={"a": content, "b": content})
        size.append(path.stat().st_size)
    assert size[2] - size[0] < 20_000
    store.verify()
    assert store.content(store.head.files["b"]) == content


def test_an_empty_file(store):
    entry = store.append("file", "empty", {}, after=store.head.digest, files={"a": b""})
    assert store.content(entry.files["a"]) == b""


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "create"}, 'kind must not be "create"'),
        ({"kind": "a b"}, "kind must be a word"),
        ({"key": ""}, "key must be one line"),
        ({"body": {"a": 0.1}}, r'body\["a"\] must be text'),
        ({"after": "head"}, "after must be a digest"),
        ({"after": None}, "after must be a digest"),
        ({"files": [b""]}, "files must be a mapping"),
        ({"files": {"a": "text"}}, r'files\["a"\] must be bytes, got str'),
        ({"files": {"a\n": b""}}, "the name of a file must be one line"),
        ({"files": {"a": bytes(LARGEST_FILE + 1)}}, "must have at most 67108864 bytes, got 67108865"),
    ],
)
def test_arguments_that_cannot_be_stored(store, given, message):
    before = store.entries()
    usual = {"kind": "release", "key": "three", "body": {}, "after": before[-1].digest, "files": {}}
    usual.update(given)
    kind, key, body = (usual.pop(name) for name in ("kind", "key", "body"))
    with pytest.raises(InvalidInput, match=message):
        store.append(kind, key, body, **usual)
    assert store.entries() == before


def test_a_name_that_is_taken_is_refused_and_stays(store, path):
    before = path.read_bytes()
    with pytest.raises(InvalidInput, match="is there already"):
        Store.create(path, {})
    assert path.read_bytes() == before


def test_a_body_that_is_refused_creates_nothing(path):
    with pytest.raises(InvalidInput, match="body"):
        Store.create(path, {"a": 0.5})
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize("side", ["-journal", "-wal", "-shm"])
def test_a_journal_of_another_database_is_not_taken_for_its_own(path, side):
    path.with_name(path.name + side).write_bytes(b"")
    with pytest.raises(InvalidInput, match=f"{side} belongs to another database of this name"):
        Store.create(path, {})


@pytest.mark.parametrize(
    "name",
    [
        ":memory:",
        "a?mode=memory",
        "a#b",
        "100%",
        "%3f",
        " a b ",
        "ä'\";",
        "a\\b",
        "a\nb",
        "-journal",
        "ü" * 120,
    ],
)
def test_names_that_are_special_elsewhere(tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = Store.create(name, {})
    store.append("release", "one", {}, after=store.head.digest)
    assert os.listdir(tmp_path) == [name]
    assert len(Store.open(name, write=False).entries()) == 2


def test_a_path_that_sqlite_could_not_open(tmp_path):
    with pytest.raises(InvalidInput, match="path must have at most 460 bytes and its last part 247"):
        Store.create(tmp_path / ("a" * 250), {})
    deep = tmp_path.joinpath(*["a" * 100] * 5)
    deep.mkdir(parents=True)
    with pytest.raises(InvalidInput, match="path must have at most 460 bytes"):
        Store.create(deep / "l", {})


def test_it_is_found_after_the_folder_of_the_process_has_changed(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    store = Store.create("l", {})
    monkeypatch.chdir("other")
    store.append("release", "one", {}, after=store.head.digest)
    assert len(Store.open(tmp_path / "l").entries()) == 2


# the clock


def test_a_clock_that_jumps_changes_nothing_but_the_times(path):
    noon = datetime(2026, 5, 9, 12, tzinfo=UTC)
    said = [noon, noon + timedelta(days=9999), noon, noon + timedelta(days=1), datetime(1, 1, 2, tzinfo=UTC)]
    # the same moment in another zone
    said.append((noon + timedelta(days=10_000)).astimezone(timezone(timedelta(hours=-7))))
    times = iter(said)
    store = Store.create(path, {}, clock=lambda: next(times))
    for number in range(5):
        store.append("release", str(number), {}, after=store.head.digest)
    entries = Store.open(path).entries()
    assert [entry.seq for entry in entries] == [1, 2, 3, 4, 5, 6]
    assert [entry.went_back for entry in entries] == [False, False, True, True, True, False]
    assert entries[0].time == "2026-05-09T12:00:00Z"
    assert entries[4].time == "0001-01-02T00:00:00Z"
    assert entries[5].time == "2053-09-24T12:00:00Z"
    store.verify()


# append-only


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entry SET body = '{}'",
        "UPDATE entry SET seq = 9 WHERE seq = 3",
        "UPDATE OR REPLACE entry SET seq = 1 WHERE seq = 3",
        "DELETE FROM entry",
        "DELETE FROM entry WHERE seq = 3",
        "DELETE FROM file",
        "UPDATE file SET content = x''",
        "INSERT OR REPLACE INTO entry SELECT * FROM entry WHERE seq = 3",
        "REPLACE INTO entry SELECT seq, kind, 'new', time, body, files, previous, digest FROM entry WHERE seq = 1",
        "INSERT INTO entry SELECT 5, kind, 'new', time, body, files, digest, digest FROM entry WHERE seq = 3",
        "INSERT INTO entry SELECT NULL, kind, 'new', time, body, files, digest, digest FROM entry WHERE seq = 3",
        "INSERT INTO entry SELECT 4, kind, key, time, body, files, digest, digest FROM entry WHERE seq = 3",
        "INSERT INTO entry SELECT 4, kind, 'new', time, body, files, previous, digest FROM entry WHERE seq = 3",
        "INSERT OR REPLACE INTO file SELECT digest, x'00' FROM file",
        "INSERT INTO file SELECT digest, x'00' FROM file WHERE true ON CONFLICT (digest) DO UPDATE SET content = x''",
    ],
)
@pytest.mark.parametrize("recursive", ["ON", "OFF"])
def test_the_database_itself_refuses_to_change_the_past(store, path, statement, recursive):
    before = rows(path)
    with pytest.raises(sqlite3.IntegrityError, match="a ledger is only added to"):
        raw(path, f"PRAGMA recursive_triggers = {recursive}", statement)
    assert rows(path) == before
    store.verify()


@pytest.mark.parametrize(
    "statements",
    [
        ['UPDATE entry SET body = \'{"spent":"0"}\' WHERE seq = 2'],
        ["UPDATE entry SET time = '2020-01-01T00:00:00Z' WHERE seq = 3"],
        ["UPDATE entry SET key = 'three' WHERE seq = 3"],
        ["DELETE FROM entry WHERE seq = 2"],
        ["DELETE FROM entry WHERE seq = 1"],
        ["DELETE FROM entry"],
        ["DELETE FROM file"],
        ["INSERT INTO file VALUES ('" + "0" * 64 + "', x'00')"],
        ["UPDATE file SET digest = '" + "0" * 64 + "'"],
    ],
)
def test_a_past_that_was_changed_with_the_triggers_away_is_refused(store, path, statements):
    changed(path, *statements)
    with pytest.raises(LedgerInvalid):
        Store.open(path)
    for look in (store.verify, store.entries, lambda: store.append("a", "b", {}, after="0" * 64)):
        with pytest.raises(LedgerInvalid):
            look()


def test_a_row_with_a_new_digest_of_its_own_is_refused(store, path):
    first, second, _ = rows(path)
    row = following(read_chain([first], ""), "release", "one", second[3], {"spent": "0"}, {})
    changed(
        path,
        "DELETE FROM file",
        f"UPDATE entry SET body = '{row[4]}', files = '{{}}', digest = '{row[7]}' WHERE seq = 2",
    )
    with pytest.raises(LedgerInvalid, match="entry 3: it must follow the one before it"):
        Store.open(path)


def test_a_chain_that_was_recomputed_is_told_by_what_a_receipt_names(store, path):
    heads = [(entry.seq, entry.digest) for entry in store.entries()]
    made = rows(path)
    for place in (1, 2):
        body = {"spent": "0"}
        made[place] = following(
            read_chain(made[:place], ""), "release", made[place][2], made[place][3], body, {}
        )
    values = [f"({row[0]}, {', '.join(repr(text) for text in row[1:])})" for row in made[1:]]
    changed(
        path,
        "DELETE FROM file",
        "DELETE FROM entry WHERE seq > 1",
        f"INSERT INTO entry VALUES {', '.join(values)}",
    )
    anew = Store.open(path)
    anew.verify()
    anew.verify(heads[:1])
    for head in heads[1:]:
        with pytest.raises(LedgerInvalid, match="another history than a receipt"):
            anew.verify([head])
    # who has had it open all the time has seen another end of it
    with pytest.raises(LedgerInvalid, match="older copy or another ledger"):
        store.entries()


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TRIGGER entry_update",
        "DROP TRIGGER file_insert",
        "CREATE TRIGGER more AFTER INSERT ON entry BEGIN DELETE FROM file; END",
        "CREATE TABLE more (a)",
        "CREATE INDEX more ON entry (key)",
        "CREATE VIEW more AS SELECT * FROM entry",
        "ALTER TABLE entry ADD COLUMN more",
        "PRAGMA user_version = 2",
        "PRAGMA application_id = 1",
        "PRAGMA journal_mode = WAL",
    ],
)
def test_what_a_ledger_does_not_have_is_refused(store, path, statement):
    raw(path, statement)
    with pytest.raises(LedgerInvalid):
        Store.open(path)
    with pytest.raises(LedgerInvalid):
        store.append("release", "three", {}, after="0" * 64)


def test_a_trigger_that_does_nothing_is_refused(store, path):
    head = triggers(path)["entry_delete"].split(" BEGIN ")[0]
    raw(path, "DROP TRIGGER entry_delete", f"{head} BEGIN SELECT 1; END")
    with pytest.raises(LedgerInvalid, match="its tables, triggers or journal are not those of a ledger"):
        Store.open(path)


def test_heads_that_are_none(store):
    for heads in ([(1,)], [("1", "0" * 64)], [(True, "0" * 64)], ["ab"]):
        with pytest.raises(InvalidInput, match="heads must be pairs"):
            store.verify(heads)
    with pytest.raises(InvalidInput, match="the digest of a head must be a digest"):
        store.verify([(1, "0")])


# files that are no ledger


@pytest.mark.parametrize("content", [b"", b"x", b"SQLite format 3\0", bytes(4096), b"PAR1" * 4000])
def test_what_is_no_ledger_is_refused_and_left_alone(path, content):
    path.write_bytes(content)
    for write in (True, False):
        with pytest.raises(LedgerInvalid, match="no ledger"):
            Store.open(path, write=write)
    assert path.read_bytes() == content
    assert os.listdir(path.parent) == [path.name]


def test_another_database_is_no_ledger(path):
    raw(path, "CREATE TABLE entry (seq)")
    with pytest.raises(LedgerInvalid, match="is no ledger; name the file"):
        Store.open(path)


def test_what_is_no_file_is_refused(tmp_path, store, path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(path)
    (tmp_path / "nowhere").symlink_to(tmp_path / "nothing")
    for name in ("pipe", "link", "nowhere", "."):
        with pytest.raises(InvalidInput, match="not a ledger; name the file itself"):
            Store.open(tmp_path / name)
    for name in ("nothing", "people.ledger/more", "missing/l"):
        with pytest.raises(InvalidInput, match=r"cannot be opened: .*; check the path"):
            Store.open(tmp_path / name)
    for name in ("", "a\0b", 3, None):
        with pytest.raises(InvalidInput, match="path must be"):
            Store.open(name)
    assert not (tmp_path / "nothing").exists()


def test_a_second_name_is_refused_unless_a_killed_creator_left_it(tmp_path, store, path):
    left = tmp_path / f".tightlip-{'0' * 16}.partial"
    left.mkdir()
    os.link(path, left / path.name)
    Store.open(path)
    assert not left.exists()
    os.link(path, tmp_path / "second")
    with pytest.raises(InvalidInput, match="has a second name, a hard link"):
        Store.open(path)
    assert len(Store.open(path, write=False).entries()) == 3


def test_a_part_of_a_ledger_is_never_read(store, path):
    content = path.read_bytes()
    assert len(content) > 5 * 4096
    for size in range(0, len(content), 512):
        path.write_bytes(content[:size])
        for write in (True, False):
            with pytest.raises(LedgerInvalid):
                Store.open(path, write=write)


def outcome(path, digest):
    """What a ledger says, or None if it is refused."""
    try:
        store = Store.open(path)
        found = store.entries(), store.content(digest)
        store.verify()
    except TightlipError:
        return None
    return found


@pytest.mark.parametrize("bits", [1, 9])
def test_a_damaged_ledger_says_what_was_written_or_nothing(store, path, bits):
    """Single bits, and runs of bytes, anywhere; each bit of the header and of the table of contents' head too."""
    whole = path.read_bytes()
    digest = store.entries()[1].files["plan.toml"]
    true = outcome(path, digest)
    chance = random.Random(bits)
    places = [chance.randrange(8 * len(whole)) for _ in range(400)]
    places += range(8 * 110) if bits == 1 else []
    refused = 0
    for place in places:
        damaged = bytearray(whole)
        for bit in range(place, min(place + bits, 8 * len(whole))):
            damaged[bit // 8] ^= 1 << bit % 8
        folder = path.parent / "damaged"
        folder.mkdir()
        (folder / path.name).write_bytes(damaged)
        found = outcome(folder / path.name, digest)
        assert found in (None, true), place
        refused += found is None
        shutil.rmtree(folder)
    assert refused > len(places) / 3


# other processes


HAMMER = """
import sys
from tightlip.errors import LedgerMoved
from tightlip.ledger.store import Store
store = Store.open(sys.argv[1], patience=120)
for number in range(int(sys.argv[3])):
    while True:
        head = store.head
        body = {"count": head.body["count"] + 1}
        if any(entry.key == f"{sys.argv[2]}-{number}" for entry in store.entries()):
            break
        try:
            store.append("release", f"{sys.argv[2]}-{number}", body, after=head.digest)
            break
        except LedgerMoved:
            pass
    print(number, flush=True)
"""


def hammer(path, name, times):
    return subprocess.Popen(
        [sys.executable, "-c", HAMMER, path, name, str(times)], stdout=subprocess.PIPE, text=True
    )


def test_processes_at_once_lose_nothing(path):
    """Each entry counts on from the one before: an update that is lost is a number that is there twice."""
    store = Store.create(path, {"count": 0})
    processes = [hammer(path, f"p{number}", 12) for number in range(4)]
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    entries = store.entries()
    assert [entry.body["count"] for entry in entries] == list(range(49))
    assert {entry.key for entry in entries[1:]} == {f"p{p}-{n}" for p in range(4) for n in range(12)}
    Store.open(path).verify()
    assert os.listdir(path.parent) == [path.name]


def test_processes_that_are_killed_and_started_again_append_each_entry_once(path):
    store = Store.create(path, {"count": 0})
    other = hammer(path, "steady", 20)
    for after in (1, 2, 3):
        process = hammer(path, "killed", 8)
        for _ in range(after):
            process.stdout.readline()
        process.kill()
        process.communicate()
    for process in (hammer(path, "killed", 8), other):
        process.communicate()
        assert process.returncode == 0
    entries = store.entries()
    assert [entry.body["count"] for entry in entries] == list(range(29))
    assert len({entry.key for entry in entries}) == 29
    store.verify()


def test_threads_that_share_a_store_lose_nothing(path):
    store = Store.create(path, {})

    def work(name):
        for number in range(5):
            while True:
                try:
                    store.append("release", f"{name}-{number}", {}, after=store.head.digest)
                    break
                except LedgerMoved:
                    pass

    threads = [threading.Thread(target=work, args=[name]) for name in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.entries()) == 16


def test_a_ledger_that_another_program_holds_is_waited_for_and_then_told(store, path):
    before = store.entries()
    hasty = Store.open(path, patience=0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        for call in (hasty.entries, lambda: hasty.append("a", "b", {}, after=before[-1].digest)):
            with pytest.raises(
                InvalidInput, match=r"in use by another program for 0.05 s; end that or try again"
            ):
                call()
        with pytest.raises(InvalidInput, match="in use"):
            Store.open(path, patience=0)
    assert hasty.entries() == before


def test_a_reader_that_stays_is_waited_for_and_then_told(store, path):
    before = store.entries()
    hasty = Store.open(path, patience=0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT * FROM entry").fetchall()
        with pytest.raises(InvalidInput, match="in use by another program"):
            hasty.append("a", "b", {}, after=before[-1].digest)
        assert hasty.entries() == before
    assert hasty.append("a", "b", {}, after=before[-1].digest).seq == 4


# files that go, come back and are replaced


def test_a_file_that_is_removed_is_not_made_anew(store, path):
    after = store.head.digest
    path.unlink()
    for call in (store.entries, store.verify, lambda: store.append("a", "b", {}, after=after)):
        with pytest.raises(LedgerInvalid, match="was removed or replaced since it was opened"):
            call()
    assert os.listdir(path.parent) == []


def test_a_file_that_is_replaced_is_not_written(store, path, tmp_path):
    after = store.head.digest
    shutil.copy(path, tmp_path / "copy")
    os.replace(tmp_path / "copy", path)
    before = path.read_bytes()
    with pytest.raises(LedgerInvalid, match="was removed or replaced since it was opened"):
        store.append("a", "b", {}, after=after)
    assert path.read_bytes() == before
    # the copy is a ledger like any other to who opens it anew
    assert len(Store.open(path).entries()) == 3


def test_a_file_that_is_replaced_while_an_entry_is_written_is_told(store, path, tmp_path):
    """The entry went to a file without a name, so that it must not be taken for kept."""

    def replace():
        shutil.copy(path, tmp_path / "copy")
        os.replace(tmp_path / "copy", path)
        return datetime(2026, 5, 9, tzinfo=UTC)

    before = store.entries()
    slow = Store.open(path, clock=replace)
    with pytest.raises(LedgerInvalid, match="was removed or replaced since it was opened"):
        slow.append("a", "b", {}, after=before[-1].digest)


def test_an_older_copy_that_is_put_into_the_same_file_is_told(store, path):
    old, head = path.read_bytes(), store.head
    new = store.append("release", "three", {}, after=head.digest)
    path.write_bytes(old)
    for call in (store.entries, store.verify, lambda: store.append("a", "b", {}, after=head.digest)):
        with pytest.raises(LedgerInvalid, match="replaced by an older copy or another ledger"):
            call()
    restored = Store.open(path)
    restored.verify([(head.seq, head.digest)])
    with pytest.raises(LedgerInvalid, match="is older than a receipt: it ends with entry 3"):
        restored.verify([(new.seq, new.digest)])
    restored.append("release", "fork", {}, after=head.digest)
    with pytest.raises(LedgerInvalid, match="has another history than a receipt: its entry 4"):
        restored.verify([(new.seq, new.digest)])


def test_another_ledger_that_is_put_into_the_same_file_is_told(store, path, tmp_path):
    Store.create(tmp_path / "other", {"budget": "1/2"})
    path.write_bytes((tmp_path / "other").read_bytes())
    with pytest.raises(LedgerInvalid, match="older copy or another ledger"):
        store.entries()


def test_to_read_alone_nothing_is_written(store, path):
    before, entries = path.read_bytes(), store.entries()
    reader = Store.open(path, write=False)
    reader.verify([(entries[-1].seq, entries[-1].digest)])
    assert reader.entries() == entries
    assert reader.content(entries[1].files["plan.toml"]) == PLAN
    with pytest.raises(InvalidInput, match="was opened to be read; open it without write=False"):
        reader.append("a", "b", {}, after=entries[-1].digest)
    assert path.read_bytes() == before


def test_a_file_that_no_entry_has(store):
    with pytest.raises(InvalidInput, match="digest must be that of an attached file"):
        store.content("0" * 64)
    with pytest.raises(InvalidInput, match="digest must be a digest"):
        store.content("plan.toml")


@pytest.mark.parametrize("content", ["x'00'", "'text'", "zeroblob(100)"])
def test_a_file_that_was_changed_is_told(store, path, content):
    changed(path, f"UPDATE file SET content = {content}")
    digest = store.entries()[1].files["plan.toml"]
    for call in (store.verify, lambda: store.content(digest)):
        with pytest.raises(LedgerInvalid, match=f"file {digest} is not what was attached"):
            call()


def test_a_file_that_would_grow_without_end_is_told(store, path):
    packer = zlib.compressobj()
    block = bytes(1 << 20)
    packed = b"".join([packer.compress(block) for _ in range(200)]) + packer.flush()
    changed(path, f"UPDATE file SET content = x'{packed.hex()}'")
    tracemalloc.start()
    try:
        with pytest.raises(LedgerInvalid, match="is not what was attached"):
            store.verify()
        assert tracemalloc.get_traced_memory()[1] < 2.5 * LARGEST_FILE
    finally:
        tracemalloc.stop()


def test_pages_that_were_damaged_since_it_was_opened_are_told_where_all_is_verified(store, path):
    """The number of free pages, which nobody asks for to read entries."""
    damaged = bytearray(path.read_bytes())
    damaged[39] = 3
    path.write_bytes(damaged)
    assert len(store.entries()) == 3
    for call in (store.verify, lambda: Store.open(path)):
        with pytest.raises(LedgerInvalid, match="its pages do not fit together"):
            call()


def test_a_ledger_survives_a_name_that_is_taken_while_it_is_created(path):
    def taken():
        path.write_text("what was there")
        return datetime(2026, 5, 9, tzinfo=UTC)

    with pytest.raises(InvalidInput, match="exists already"):
        Store.create(path, {}, clock=taken)
    assert path.read_text() == "what was there"
    assert os.listdir(path.parent) == [path.name]
