"""A hash chain of entries: each is bound to all that were made before it, and to the files attached to it.

    digest_i = SHA-256 of the canonical JSON of
        {body, files, format, key, kind, previous = digest_{i−1}, seq = i, time},   digest_0 = 64 zeros

Canonical JSON is UTF-8 with sorted keys and without blanks. A body has no floats, which two programs may write in two
ways: what is not whole is written as text, "1/3". `files` has the SHA-256 of each attached file by its name.

The chain tells every change that leaves one later digest as it was. Whoever writes all digests anew makes a chain that
is as good in itself; it is told only by a digest that somebody else holds, as a receipt does (`require_heads`).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from tightlip.errors import InvalidInput, LedgerInvalid, WrongType, quoted

FORMAT = "tightlip ledger 1"
FIRST = "0" * 64
CREATE = "create"
"""The kind of the first entry, and of no other."""
LARGEST_BODY = 1 << 20  # bytes of JSON; facts about a release fit, a table hardly does
_DEEPEST = 32  # levels of a body, far from where Python's own reader of JSON gives up
_WHOLE = 2**53  # whole numbers that every reader of JSON reads alike are smaller
_LONGEST_WORD = 200
_KIND = re.compile("[a-z][a-z0-9_-]{0,63}")
_DIGEST = re.compile("[0-9a-f]{64}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")

Row = tuple[object, ...]
"""An entry as it is stored: seq, kind, key, time, body, files, previous, digest."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a chain.

    Attributes
    ----------
    seq : its place, from 1 on; only this says what came before what
    kind, key : what it is, and the name that tells it from others of its kind
    time : what the clock said, as "2026-05-09T07:35:25Z"; nothing is decided by it
    body : what it says: text, whole numbers, True, False, None, tuples and mappings of these
    files : the digest of each attached file, by its name
    previous, digest : the digest of the entry before it, and its own
    went_back : whether the clock said an earlier time than it did for an earlier entry
    """

    seq: int
    kind: str
    key: str
    time: str
    body: Mapping[str, Any]
    files: Mapping[str, str]
    previous: str
    digest: str
    went_back: bool

    def says(self, body: Mapping[str, Any], files: Mapping[str, str]) -> bool:
        """Whether it has this body and these files; True is not 1."""
        return canonical(_plain(self.body, "body")) == canonical(body) and dict(self.files) == files


def canonical(value: object) -> str:
    """Write JSON values in the one way that is hashed.

    >>> canonical({"b": [1, None], "a": "1/3"})
    '{"a":"1/3","b":[1,null]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def read_body(body: object) -> dict[str, Any]:
    """Read what an entry shall say.

    Raises
    ------
    InvalidInput
        When it is no mapping, is too large, or has a float or anything else that is not written in one way.
    """
    if not isinstance(body, Mapping):
        raise WrongType(f"body must be a mapping, got {quoted(body)}; write {{...: ...}}.")
    plain: dict[str, Any] = _plain(body, "body")
    size = len(canonical(plain).encode())
    if size > LARGEST_BODY:
        raise InvalidInput(
            f"body must have at most {LARGEST_BODY} bytes as JSON, got {size}; attach what is large as a file."
        )
    return plain


def read_kind(kind: object) -> str:
    """Read the kind of an entry: a short word of small letters, digits, - and _."""
    if not isinstance(kind, str) or not _KIND.fullmatch(kind):
        raise InvalidInput(
            f'kind must be a word of at most 64 small letters, got {quoted(kind)}; write "release".'
        )
    return str(kind)


def read_word(word: object, argument: str) -> str:
    """Read a key or the name of a file: one short line of text."""
    if isinstance(word, str) and 0 < len(word) <= _LONGEST_WORD and word.isprintable():
        return str(word)
    raise InvalidInput(
        f"{argument} must be one line of 1 to {_LONGEST_WORD} characters, got {quoted(word)}; choose another."
    )


def read_digest(digest: object, argument: str) -> str:
    """Read a SHA-256 digest."""
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise InvalidInput(
            f"{argument} must be a digest of 64 hexadecimal digits, got {quoted(digest)}; take it from an entry."
        )
    return str(digest)


def following(entries: Sequence[Entry], kind: str, key: str, time: str, body: object, files: object) -> Row:
    """Make the row of the entry that comes after these; all parts were read before."""
    seq, previous = len(entries) + 1, entries[-1].digest if entries else FIRST
    texts = kind, key, time, canonical(body), canonical(files), previous
    return seq, *texts, _digest_of(seq, *texts)


def read_chain(rows: Iterable[Row], name: str, before: Sequence[Entry] = ()) -> tuple[Entry, ...]:
    """Read the rows of a chain, and recompute every digest.

    Parameters
    ----------
    rows : as they are stored, in their order
    name : what messages call the ledger
    before : the entries that the rows follow; they are returned with those of the rows

    Raises
    ------
    LedgerInvalid
        When an entry is missing, moved or changed, or is none that could have been written.
    """
    entries = list(before)
    keys = {(entry.kind, entry.key) for entry in entries}
    latest = max((entry.time for entry in entries), default="")
    for row in rows:
        place = f"entry {len(entries) + 1}"
        try:
            entry = _read_row(row, entries[-1].digest if entries else FIRST, len(entries) + 1, latest)
            _require((entry.kind == CREATE) == (not entries), "it must be the only one that creates a ledger")
            _require((entry.kind, entry.key) not in keys, "its key must be new")
        except (ValueError, RecursionError) as error:
            raise LedgerInvalid(
                f"{name} is damaged or was changed: {place}: {str(error).rstrip('.')}; restore an older copy and "
                "verify it against the receipts."
            ) from error
        keys.add((entry.kind, entry.key))
        latest = max(latest, entry.time)
        entries.append(entry)
    if not entries:
        raise LedgerInvalid(f"{name} has no entries, not even its first; restore an older copy.")
    return tuple(entries)


def require_heads(entries: Sequence[Entry], heads: Iterable[tuple[int, str]], name: str) -> None:
    """Refuse a chain without an entry that somebody has seen in it: an older copy, or another history.

    Raises
    ------
    LedgerInvalid
        When an entry (seq, digest) of `heads` is not in the chain.
    """
    for seq, digest in heads:
        if seq > len(entries):
            raise LedgerInvalid(
                f"{name} is older than a receipt: it ends with entry {len(entries)}, and the receipt names entry "
                f"{seq}; restore the copy in which that was written."
            )
        if seq < 1 or entries[seq - 1].digest != digest:
            raise LedgerInvalid(
                f"{name} has another history than a receipt: its entry {seq} is not the one that the receipt names; "
                "find the ledger in which that was written."
            )


def _read_row(row: Row, previous: str, seq: int, latest: str) -> Entry:
    """Read one row that must follow the digest `previous`; ValueError says what is wrong with it."""
    texts = [part for part in row[1:] if isinstance(part, str)]
    _require(len(texts) == 7 and row[0] == seq, "it must have its number and seven texts")
    kind, key, time, body_text, files_text, before, digest = texts
    _require(before == previous, "it must follow the one before it")
    _require(_KIND.fullmatch(kind) is not None, "its kind must be a word")
    _require(_TIME.fullmatch(time) is not None, "its time must be one")
    body, files = _read_json(body_text), _read_json(files_text)
    for found in files.values():
        read_digest(found, "a file")
    _require(digest == _digest_of(seq, *texts[:-1]), "its digest must be its own")
    frozen = MappingProxyType({name: _frozen(value) for name, value in body.items()})
    return Entry(seq, kind, key, time, frozen, MappingProxyType(files), previous, digest, time < latest)


def _read_json(text: str) -> dict[str, Any]:
    value = json.loads(text)
    _require(
        isinstance(value, dict) and canonical(_plain(value, "body")) == text, "it must be canonical JSON"
    )
    return dict(value)


def _digest_of(seq: int, kind: str, key: str, time: str, body: str, files: str, previous: str) -> str:
    """Hash an entry whose body and files are canonical JSON already, which stands as it is in that of the whole."""
    rest = {"format": FORMAT, "key": key, "kind": kind, "previous": previous, "seq": seq, "time": time}
    return hashlib.sha256(f'{{"body":{body},"files":{files},{canonical(rest)[1:]}'.encode()).hexdigest()


def _plain(value: object, place: str, depth: int = 0) -> Any:
    """Copy a value into what JSON has, or refuse it; `place` says in messages where it stands."""
    if depth > _DEEPEST:
        raise InvalidInput(f"{place} must have at most {_DEEPEST} levels, got more; make it flatter.")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, place)
    if type(value) is int:
        if abs(value) < _WHOLE:
            return value
        raise InvalidInput(f"{place} must be less than 2^53, got {quoted(value)}; write it as text.")
    if isinstance(value, Mapping):
        return {
            _name(key, place): _plain(part, f"{place}[{quoted(key)}]", depth + 1)
            for key, part in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_plain(part, f"{place}[{number}]", depth + 1) for number, part in enumerate(value)]
    raise WrongType(
        f"{place} must be text, a whole number, True, False, None, a list or a mapping, got {quoted(value)} of type "
        f'{type(value).__name__}; write numbers that are not whole as text: "1/2".'
    )


def _name(key: object, place: str) -> str:
    if not isinstance(key, str):
        raise WrongType(f"{place} must have text as its keys, got {quoted(key)}; write it as text.")
    return _text(key, place)


def _text(text: str, place: str) -> str:
    """Text that UTF-8 can write, so that no two texts are written alike."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(
            f"{place} must be whole text, got {quoted(text)}; remove half characters."
        ) from None
    return str(text)


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return MappingProxyType({key: _frozen(part) for key, part in value.items()})
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _require(holds: bool, requirement: str) -> None:
    if not holds:
        raise ValueError(requirement)
