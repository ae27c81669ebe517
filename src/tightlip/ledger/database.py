"""The file of a ledger: one SQLite database whose tables refuse every change but an addition.

Its journal is SQLite's rollback journal, not a write-ahead log: between two additions the ledger is one file, and a
copy of that file is a copy of the ledger. A change is on the disk, with the end of its journal in the folder, before
`COMMIT` returns (`synchronous = EXTRA`). A process that is killed in between leaves a journal, by which whoever opens
the file next for writing takes the unfinished change back.

The triggers keep programs from changing the past by mistake. Who means to can drop them; the chain tells it.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tightlip.errors import InvalidInput, LedgerInvalid, TightlipError, visible
from tightlip.files import prepare_output
from tightlip.ledger.chain import FIRST

_APPLICATION = 0x746C6C67  # "tllg": by this, `file` and others know what the database is
_VERSION = 1
_LARGEST_CELL = (
    68 << 20
)  # bytes; above every file that may be attached, and a limit to what a forged ledger may ask for
_LONGEST_PATH = 460  # bytes; SQLite takes 512, and a ledger is made in a folder beside its place
_LONGEST_NAME = 247  # bytes; its journal adds 8 to it
_SIDES = ("-journal", "-wal", "-shm")
_REFUSED = "RAISE(ABORT, 'a ledger is only added to')"

_TABLES = {
    "entry": "CREATE TABLE entry (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, key TEXT NOT NULL, time TEXT NOT NULL, "
    "body TEXT NOT NULL, files TEXT NOT NULL, previous TEXT NOT NULL, digest TEXT NOT NULL)",
    "file": "CREATE TABLE file (digest TEXT PRIMARY KEY NOT NULL, content BLOB NOT NULL) WITHOUT ROWID",
}
# REPLACE deletes rows without telling the triggers of deletion, so a row that is there is refused before that
_ADDED = {
    "entry": "NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM entry) "
    f"OR NEW.previous IS NOT coalesce((SELECT digest FROM entry ORDER BY seq DESC LIMIT 1), '{FIRST}') "
    "OR EXISTS (SELECT 1 FROM entry WHERE kind = NEW.kind AND key = NEW.key)",
    "file": "EXISTS (SELECT 1 FROM file WHERE digest = NEW.digest)",
}


def _schema() -> list[tuple[str, str, str, str]]:
    """List what the database has, as its own table of contents does: type, name, table, statement."""
    made = [("table", name, name, statement) for name, statement in _TABLES.items()]
    for table, taken in _ADDED.items():
        for event, when in {"insert": f" WHEN {taken}", "update": "", "delete": ""}.items():
            name = f"{table}_{event}"
            head = f"CREATE TRIGGER {name} BEFORE {event.upper()} ON {table}{when}"
            made.append(("trigger", name, table, f"{head} BEGIN SELECT {_REFUSED}; END"))
    return made


def address(path: Path) -> Path:
    """Find the whole path of a ledger to create, and refuse one that could not be kept there.

    Raises
    ------
    InvalidInput
        When the path is too long for SQLite, or a journal of another database lies beside it.
    """
    whole = path.absolute()
    if len(os.fsencode(whole)) > _LONGEST_PATH or len(os.fsencode(whole.name)) > _LONGEST_NAME:
        raise InvalidInput(
            f"path must have at most {_LONGEST_PATH} bytes and its last part {_LONGEST_NAME}, got {path}; shorten it."
        )
    for side in _SIDES:
        # SQLite would take back in the new ledger what another one of its name has left unfinished
        if os.path.lexists(f"{whole}{side}"):
            raise InvalidInput(
                f"{whole}{side} belongs to another database of this name; move it away or choose another name."
            )
    return whole


def identity(path: Path, *, write: bool) -> tuple[int, int]:
    """Find what tells a file from another that takes its name.

    Raises
    ------
    InvalidInput
        When it is no regular file, or shall be written and cannot.
    """
    try:
        found = path.lstat()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"{path} cannot be opened: {reason}; check the path.") from error
    if not stat.S_ISREG(found.st_mode):
        raise InvalidInput(f"{path} is a link, a folder or the like, not a ledger; name the file itself.")
    if write and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK)):
        raise InvalidInput(f"{path} or its folder is closed to writing; open it with write=False to read it.")
    if write and found.st_nlink > 1:
        _require_one_name(path)
    return found.st_dev, found.st_ino


def _require_one_name(path: Path) -> None:
    """Refuse a file with a second name: who opens it there does not see the journal that lies beside this one."""
    # whoever was killed while it created the ledger left one
    prepare_output(path, force=True)
    if path.lstat().st_nlink > 1:
        raise InvalidInput(f"{path} has a second name, a hard link; remove one of the two.")


@contextmanager
def created(written: Path, path: Path) -> Iterator[sqlite3.Connection]:
    """Make the database of a ledger in a file that will be called `path`; what the block adds is in it."""
    with _told(path, 0), closing(_connect(written, "rwc", 0)) as connection:
        for setting in (
            "page_size = 4096",
            "auto_vacuum = NONE",
            "encoding = 'UTF-8'",
            "journal_mode = DELETE",
        ):
            connection.execute(f"PRAGMA {setting}")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {_VERSION}")
        for *_, statement in _schema():
            connection.execute(statement)
        yield connection
        connection.execute("COMMIT")


@contextmanager
def reading(
    path: Path, known: tuple[int, int], *, write: bool, patience: float
) -> Iterator[sqlite3.Connection]:
    """Read a ledger at one moment, after what a killed process left unfinished is taken back.

    Without `write`, that is done only where such a thing lies beside it and it may be written.

    Raises
    ------
    LedgerInvalid
        When it is damaged, no ledger, or not the file of before.
    InvalidInput
        When it cannot be read now; the message says why.
    """
    unfinished = path.with_name(path.name + _SIDES[0]).exists() and os.access(path, os.W_OK)
    with _transaction(path, known, "BEGIN", "rw" if write or unfinished else "ro", patience) as connection:
        yield connection


@contextmanager
def writing(path: Path, known: tuple[int, int], *, patience: float) -> Iterator[sqlite3.Connection]:
    """Add to a ledger: nobody else does meanwhile, and all that the block adds is there at its end, or nothing.

    Raises
    ------
    LedgerInvalid, InvalidInput
        As in `reading`; or when the disk is full.
    """
    with _transaction(path, known, "BEGIN IMMEDIATE", "rw", patience) as connection:
        yield connection
        connection.execute("COMMIT")
    _require_same(path, known)


def require_sound(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database whose pages do not fit together."""
    found = connection.execute("PRAGMA integrity_check(1)").fetchall()
    if found != [("ok",)]:
        raise LedgerInvalid(f"{path} is damaged: its pages do not fit together; restore an older copy.")


@contextmanager
def _transaction(
    path: Path, known: tuple[int, int], begin: str, mode: str, patience: float
) -> Iterator[sqlite3.Connection]:
    """Open the file, begin, and close it, which takes back what was not committed."""
    _require_same(path, known)
    with _told(path, patience), closing(_connect(path, mode, patience)) as connection:
        connection.execute(begin)
        _require_ledger(connection, path)
        # a lock on the file is held by now: if it still has its name, it had it when it was opened
        _require_same(path, known)
        yield connection


def _connect(path: Path, mode: str, patience: float) -> sqlite3.Connection:
    """Connect to a file; as an address, no name is special, and only `rwc` makes a file."""
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode={mode}", uri=True, timeout=patience, isolation_level=None
    )
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_CELL)
        for setting in (
            "trusted_schema = OFF",
            "cell_size_check = ON",
            "temp_store = MEMORY",
            "mmap_size = 0",
        ):
            connection.execute(f"PRAGMA {setting}")
        for setting in ("recursive_triggers = ON", "synchronous = EXTRA", "fullfsync = ON"):
            connection.execute(f"PRAGMA {setting}")
    except BaseException:
        connection.close()
        raise
    return connection


def _require_ledger(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database that is no ledger, or has anything other than a ledger has, before a row of it is read."""

    def asked(name: str) -> Any:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]

    if asked("application_id") != _APPLICATION:
        raise LedgerInvalid(f"{path} is no ledger; name the file that a ledger was created in.")
    if asked("user_version") != _VERSION:
        raise LedgerInvalid(
            f"{path} must be a ledger of version {_VERSION}, got {asked('user_version')}; "
            "use the tightlip that wrote it."
        )
    # SQLite reads zeros where a last page is cut short
    if path.stat().st_size < int(asked("page_count")) * int(asked("page_size")):
        raise LedgerInvalid(f"{path} is damaged: its end is missing; restore a whole copy.")
    found = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    if sorted(found, key=str) != sorted(_schema(), key=str) or asked("journal_mode") != "delete":
        raise LedgerInvalid(
            f"{path} was changed: its tables, triggers or journal are not those of a ledger; restore an older copy and "
            "verify it against the receipts."
        )


def _require_same(path: Path, known: tuple[int, int]) -> None:
    try:
        found = path.lstat()
    except OSError:
        found = None
    if found is None or (found.st_dev, found.st_ino) != known:
        raise _replaced(path)


def _replaced(path: Path) -> LedgerInvalid:
    return LedgerInvalid(
        f"{path} was removed or replaced since it was opened; open it anew and verify it against the receipts."
    )


@contextmanager
def _told(path: Path, patience: float) -> Iterator[None]:
    """Say in words of ours what SQLite refuses."""
    try:
        yield
    # SQLite quotes what it cannot read, which Python then may not be able to either
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise _error(path, patience, error) from error


def _error(path: Path, patience: float, error: Exception) -> TightlipError:
    # what Python itself refuses, such as text that is no UTF-8, has no name
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return InvalidInput(
            f"{path} has been in use by another program for {patience:g} s; end that or try again."
        )
    if name == "SQLITE_READONLY_DBMOVED":
        return _replaced(path)
    if name in ("SQLITE_READONLY_ROLLBACK", "SQLITE_READONLY_CANTLOCK", "SQLITE_READONLY_RECOVERY"):
        return InvalidInput(
            f"{path} cannot be read: a program was ended while it added to it, and nothing may be written here; open "
            "it where it may be written, which takes back what is unfinished."
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return InvalidInput(
            f"{path} cannot be opened or written: {error}; check its folder and who may write to it."
        )
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_NOMEM")):
        return InvalidInput(
            f"{path} cannot be read or written: {error}; check that the disk has room, then do the same again: what "
            "has been added is not added twice."
        )
    if name == "SQLITE_NOTADB":
        return LedgerInvalid(f"{path} is no ledger; name the file that a ledger was created in.")
    reason = str(error) if name else "it has text that is none"
    return LedgerInvalid(f"{path} is damaged or no ledger: {visible(reason)}; restore an older copy.")
