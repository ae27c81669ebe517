"""The store of a ledger: entries are appended durably, each once, and no entry is ever changed or lost unnoticed.

Nothing stays open between two calls: each opens the file, reads the whole chain and recomputes it, and closes the file.
So a store can be shared by threads and inherited by children, and always sees what other processes have added.

Whoever appends says by which entry it has judged (`after`). If another process was faster, nothing is written, and the
caller judges again. An entry has a key: who does not know whether it was written, because the power went, appends it
again and gets the one that is there.

What is told by a look at the file alone: damage, truncation, and every change of an entry, unless all digests after it
were recomputed too. What is told by receipts only, through `verify(heads)`: an older copy put back, a copy that went
on on its own, and a history that was written anew as a whole.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tightlip.arguments import flag
from tightlip.arguments import path as read_path
from tightlip.errors import InvalidInput, LedgerInvalid, LedgerMoved, WrongType, quoted
from tightlip.files import sync_folder, whole_file
from tightlip.ledger.chain import (
    CREATE,
    Entry,
    Row,
    following,
    read_body,
    read_chain,
    read_digest,
    read_kind,
    read_word,
    require_heads,
)
from tightlip.ledger.database import address, created, identity, reading, require_sound, writing

LARGEST_FILE = 1 << 26  # bytes: 64 MiB; plans and proofs fit
_PATIENCE = 30.0  # seconds; an addition takes some milliseconds, so that many can queue
_ROWS = "SELECT seq, kind, key, time, body, files, previous, digest FROM entry ORDER BY seq"
_LAST = f"{_ROWS} DESC LIMIT 1"


def _now() -> datetime:
    return datetime.now(UTC)


class Store:
    """A durable, append-only chain of entries in one file; made by `create` or `open`.

    Attributes
    ----------
    path : where it is
    id : what tells it from every other ledger, as long as it lives
    """

    def __init__(
        self, path: Path, known: tuple[int, int], write: bool, patience: float, clock: Callable[[], datetime]
    ) -> None:
        self.path = path
        self._known = known
        self._write = write
        self._patience = patience
        self._clock = clock
        # nothing was seen of it yet; from the first look on, a chain without that is another one
        self._seen: tuple[tuple[int, str], ...] = ()
        self.id = self._look(sound=True)[0].key

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    @classmethod
    def create(
        cls, path: str | Path, body: Mapping[str, Any], *, clock: Callable[[], datetime] = _now
    ) -> Store:
        """Create a ledger whose first entry has this body; only its owner may read it.

        Parameters
        ----------
        path : a name that is free
        body : what the ledger is about
        clock : what says the time

        Raises
        ------
        InvalidInput
            When the name is taken, the place cannot be written, or the body cannot; nothing is left there.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     store = Store.create(folder + "/people.ledger", {"budget": "1/2"})
        ...     first = store.head
        ...     entry = store.append("release", "2026", {"spent": "1/10"}, after=first.digest)
        ...     again = store.append("release", "2026", {"spent": "1/10"}, after=first.digest)
        ...     store.verify([(entry.seq, entry.digest)])
        >>> entry.seq, entry.previous == first.digest, again == entry
        (2, True, True)
        """
        where, first = address(read_path(path, "path")), read_body(body)
        if os.path.lexists(where):
            raise InvalidInput(
                f"{where} is there already, and a ledger is never written over; choose another name."
            )
        with whole_file(where, force=False, private=True) as written, created(written, where) as connection:
            _insert(connection, following([], CREATE, secrets.token_hex(16), _stamp(clock), first, {}))
        sync_folder(where.parent)
        return cls.open(where, clock=clock)

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        write: bool = True,
        patience: float = _PATIENCE,
        clock: Callable[[], datetime] = _now,
    ) -> Store:
        """Open a ledger and check all of it but the content of its files.

        Parameters
        ----------
        path : the file itself, no link to it
        write : whether it may be added to; without, it may lie where nothing can be written
        patience : how many seconds to wait while another process has it
        clock : what says the time

        Raises
        ------
        LedgerInvalid
            When it is damaged, no ledger, or was changed.
        InvalidInput
            When it cannot be opened; the message says why.
        """
        where, write = read_path(path, "path").absolute(), flag(write, "write")
        return cls(where, identity(where, write=write), write, patience, clock)

    @property
    def head(self) -> Entry:
        """Read the last entry there is now."""
        return self.entries()[-1]

    def entries(self) -> tuple[Entry, ...]:
        """Read all entries there are now, in their order; the chain is recomputed.

        Raises
        ------
        LedgerInvalid
            When the file was damaged, changed or replaced, or lacks an entry that this object has seen.
        InvalidInput
            When it cannot be read now.
        """
        return self._look()

    def append(
        self,
        kind: str,
        key: str,
        body: Mapping[str, Any],
        *,
        after: str,
        files: Mapping[str, bytes] | None = None,
    ) -> Entry:
        """Append an entry, once: if it returns, the entry is on the disk.

        Parameters
        ----------
        kind, key : what it is, and the name that tells it from others of its kind
        body : what it says: text, whole numbers, True, False, None, lists and mappings; no float
        after : the digest of the last entry that was there when this one was decided upon
        files : what is attached, by name

        Returns
        -------
        Entry
            The new one; or the one that is there with this kind and key, if it says the same.

        Raises
        ------
        LedgerMoved
            When there are entries after that one: nothing was written, decide again.
        InvalidInput
            When an argument cannot be stored, the key was used for something else, the file cannot be written now, or
            the disk is full.
        LedgerInvalid
            When the ledger is damaged, was changed, or is not the one that was opened.
        """
        kind, key, after = read_kind(kind), read_word(key, "key"), read_digest(after, "after")
        if kind == CREATE or not self._write:
            _refuse_append(self.path, kind)
        said, contents = read_body(body), _read_files(files or {})
        named = {name: _digest(content) for name, content in contents.items()}
        seen = self._seen
        with writing(self.path, self._known, patience=self._patience) as connection:
            entries = self._chain(connection, seen)
            there = next((entry for entry in entries if (entry.kind, entry.key) == (kind, key)), None)
            if there is not None:
                return _same(there, said, named)
            if entries[-1].digest != after:
                raise _moved(self.path, entries, after)
            for content in contents.values():
                _insert_file(connection, content)
            _insert(connection, following(entries, kind, key, _stamp(self._clock), said, named))
            # what is returned is what was stored, read back before it counts
            added = read_chain(connection.execute(_LAST), str(self.path), entries)[-1]
        self._seen = ((added.seq, added.digest),)
        return added

    def content(self, digest: str) -> bytes:
        """Read an attached file by its digest, which is checked.

        Raises
        ------
        InvalidInput
            When no entry has such a file.
        LedgerInvalid
            When it is not what was attached, or as in `entries`.
        """
        wanted, seen = read_digest(digest, "digest"), self._seen
        with reading(self.path, self._known, write=self._write, patience=self._patience) as connection:
            self._chain(connection, seen)
            return _read_file(connection, wanted, self.path)

    def verify(self, heads: Sequence[tuple[int, str]] = ()) -> None:
        """Check all of it: pages, triggers, every digest, every attached file, and that `heads` are in the chain.

        Parameters
        ----------
        heads : (seq, digest) of entries that others know of, such as those that receipts name; only they tell an older
            copy, or a chain that was recomputed as a whole, from the true one

        Raises
        ------
        LedgerInvalid
            When something is damaged or was changed; or the ledger is older than a receipt, or has another history.
        """
        known = [_read_head(head) for head in heads]
        seen = self._seen
        with reading(self.path, self._known, write=self._write, patience=self._patience) as connection:
            require_sound(connection, self.path)
            entries = self._chain(connection, seen)
            for digest in {found for entry in entries for found in entry.files.values()}:
                _read_file(connection, digest, self.path)
        require_heads(entries, known, str(self.path))

    def _look(self, *, sound: bool = False) -> tuple[Entry, ...]:
        """Read the chain, and remember where it ends; with `sound`, look at all pages too."""
        seen = self._seen
        with reading(self.path, self._known, write=self._write, patience=self._patience) as connection:
            if sound:
                require_sound(connection, self.path)
            entries = self._chain(connection, seen)
        self._seen = ((len(entries), entries[-1].digest),)
        return entries

    def _chain(self, connection: sqlite3.Connection, seen: Sequence[tuple[int, str]]) -> tuple[Entry, ...]:
        """Read the chain within a transaction; the files are there, no others, and so is what was seen before."""
        entries = read_chain(connection.execute(_ROWS), str(self.path))
        named = {digest for entry in entries for digest in entry.files.values()}
        there = {digest for (digest,) in connection.execute("SELECT digest FROM file")}
        if named != there:
            raise LedgerInvalid(
                f"{self.path} is damaged or was changed: its files are not those that its entries name; restore an "
                "older copy."
            )
        for seq, digest in seen:
            if seq > len(entries) or entries[seq - 1].digest != digest:
                raise LedgerInvalid(
                    f"{self.path} was replaced by an older copy or another ledger since it was opened; open it anew "
                    "and verify it against the receipts."
                )
        return entries


def _stamp(clock: Callable[[], datetime]) -> str:
    """What the clock says, in UTC and whole seconds, so that later times are later texts too."""
    return clock().astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _insert(connection: sqlite3.Connection, row: Row) -> None:
    connection.execute("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)


def _insert_file(connection: sqlite3.Connection, content: bytes) -> None:
    """Add a file unless it is there; it is known by its content."""
    digest = _digest(content)
    if connection.execute("SELECT 1 FROM file WHERE digest = ?", [digest]).fetchone() is None:
        connection.execute("INSERT INTO file VALUES (?, ?)", [digest, zlib.compress(content)])


def _read_file(connection: sqlite3.Connection, digest: str, path: Path) -> bytes:
    found = connection.execute("SELECT content FROM file WHERE digest = ?", [digest]).fetchone()
    if found is None:
        raise InvalidInput(
            f"digest must be that of an attached file, got {digest}; take it from an entry's files."
        )
    try:
        # a forged file may grow without end
        content = zlib.decompressobj().decompress(found[0], LARGEST_FILE + 1)
    except (zlib.error, TypeError):
        content = None
    if content is None or _digest(content) != digest:
        raise LedgerInvalid(
            f"{path} is damaged: file {digest} is not what was attached; restore an older copy."
        )
    return content


def _read_files(files: object) -> dict[str, bytes]:
    if not isinstance(files, Mapping):
        raise WrongType(
            f"files must be a mapping of names to bytes, got {quoted(files)}; write {{name: content}}."
        )
    for name, content in files.items():
        read_word(name, "the name of a file")
        if not isinstance(content, bytes):
            raise WrongType(
                f"files[{quoted(name)}] must be bytes, got {type(content).__name__}; read it as bytes."
            )
        if len(content) > LARGEST_FILE:
            raise InvalidInput(
                f"files[{quoted(name)}] must have at most {LARGEST_FILE} bytes, got {len(content)}; attach its digest."
            )
    return dict(files)


def _read_head(head: object) -> tuple[int, str]:
    if not isinstance(head, (tuple, list)) or len(head) != 2 or type(head[0]) is not int:
        raise WrongType(
            f"heads must be pairs of a number and a digest, got {quoted(head)}; write (3, digest)."
        )
    return head[0], read_digest(head[1], "the digest of a head")


def _same(there: Entry, body: Mapping[str, Any], files: Mapping[str, str]) -> Entry:
    if not there.says(body, files):
        raise InvalidInput(
            f"key {quoted(there.key)} was used by entry {there.seq}, which says something else; choose another key."
        )
    return there


def _moved(path: Path, entries: Sequence[Entry], after: str) -> LedgerMoved:
    place = next((entry.seq for entry in entries if entry.digest == after), None)
    since = "and does not have the entry" if place is None else f"{len(entries) - place} after the one"
    return LedgerMoved(
        f"{path} has {len(entries)} entries, {since} that was judged by (after); read it and judge again."
    )


def _refuse_append(path: Path, kind: str) -> None:
    if kind == CREATE:
        raise InvalidInput(f'kind must not be "{CREATE}", which the first entry is; choose another.')
    raise InvalidInput(f"{path} was opened to be read; open it without write=False.")
