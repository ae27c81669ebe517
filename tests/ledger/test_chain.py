"""What a chain hashes, what a body may say, and which changes of a chain are told."""

import hashlib
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tightlip.errors import InvalidInput, LedgerInvalid
from tightlip.ledger.chain import (
    FIRST,
    LARGEST_BODY,
    canonical,
    following,
    read_body,
    read_chain,
    read_kind,
    read_word,
    require_heads,
)

TIME = "2026-05-09T07:35:25Z"
BODIES = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)


def chain(*bodies):
    """The rows of a chain whose first entry creates it."""
    rows = []
    for number, body in enumerate(bodies):
        kind = "release" if rows else "create"
        rows.append(following(read_chain(rows, "l") if rows else (), kind, f"k{number}", TIME, body, {}))
    return rows


def test_a_digest_is_that_of_the_text_that_the_module_promises():
    first, second = chain({"b": "1/3", "a": [1, None, True]}, {"ü": "\n"})
    text = (
        '{"body":{"a":[1,null,true],"b":"1/3"},"files":{},"format":"tightlip ledger 1","key":"k0","kind":"create",'
        f'"previous":"{"0" * 64}","seq":1,"time":"{TIME}"}}'
    )
    assert first[-1] == hashlib.sha256(text.encode()).hexdigest()
    text = (
        '{"body":{"ü":"\\n"},"files":{},"format":"tightlip ledger 1","key":"k1","kind":"release",'
        f'"previous":"{first[-1]}","seq":2,"time":"{TIME}"}}'
    )
    assert second[-1] == hashlib.sha256(text.encode()).hexdigest()


@given(BODIES)
def test_what_is_written_reads_back(body):
    (entry,) = read_chain(chain(read_body(body)), "l")
    assert read_body(entry.body) == body
    assert json.loads(canonical(read_body(entry.body))) == body


def test_a_body_cannot_be_changed_afterwards():
    (entry,) = read_chain(chain({"a": {"b": [1]}}), "l")
    assert entry.body["a"]["b"] == (1,)
    with pytest.raises(TypeError):
        entry.body["a"]["b"] = 2
    with pytest.raises(TypeError):
        entry.body["c"] = 2


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"a": 0.5}, 'body["a"]'),
        ({"a": float("nan")}, 'body["a"]'),
        ({"a": [1, {"b": float("inf")}]}, 'body["a"][1]["b"]'),
        ({"a": Fraction(1, 2)}, 'body["a"]'),
        ({"a": np.int64(3)}, 'body["a"]'),
        ({"a": {1, 2}}, 'body["a"]'),
        ({"a": b"x"}, 'body["a"]'),
        ({1: "a"}, "body"),
        ({"a": 2**53}, 'body["a"]'),
        ({"a": 10**5000}, 'body["a"]'),
        # "\ud83d\ude00" and the one character that it is half of each would be written alike as ASCII
        ({"a": "\ud83d\ude00"}, 'body["a"]'),
        ({"\ud800": 1}, "body"),
        ([1], "body"),
        ("text", "body"),
        (None, "body"),
    ],
)
def test_what_has_no_single_way_to_be_written_is_refused(body, place):
    with pytest.raises(InvalidInput) as error:
        read_body(body)
    message = str(error.value)
    assert message.startswith(f"{place} must ")
    assert "; " in message
    assert "\n" not in message


def test_a_body_is_neither_large_nor_deep():
    most = LARGEST_BODY - len('{"a":""}')
    read_body({"a": "x" * most})
    with pytest.raises(InvalidInput, match=f"at most {LARGEST_BODY} bytes as JSON, got {LARGEST_BODY + 1}"):
        read_body({"a": "x" * (most + 1)})
    with pytest.raises(InvalidInput, match="bytes as JSON"):
        read_body({"a": "ü" * (most // 2 + 1)})
    deep = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(InvalidInput, match="at most 32 levels"):
        read_body(deep)


@pytest.mark.parametrize("kind", ["", "Release", "a b", "ü", "a" * 65, 3, None])
def test_a_kind_is_a_word(kind):
    with pytest.raises(InvalidInput, match="kind must be a word"):
        read_kind(kind)


@pytest.mark.parametrize("key", ["", "a\nb", "a\0", "x" * 201, 3, None, "\ud800"])
def test_a_key_is_a_line(key):
    with pytest.raises(InvalidInput, match="key must be one line"):
        read_word(key, "key")


OTHERS = {
    0: [0, 3, "2", None],
    1: ["other", "create", b"release", "Release"],
    2: ["k0", "other", 1],
    3: ["2026-05-09T07:35:26Z", "yesterday", ""],
    4: ['{"a":2}', '{"a": 1}', '{"a":1.0}', '{"a":NaN}', '{"b":1,"a":1}', "[" * 100_000, "[1]", "", "{"],
    5: ['{"a":"' + "0" * 64 + '"}', '{"a":"b"}', '{"a":1}', "[]", "{} "],
    6: [FIRST, "0", None],
    7: [FIRST, "0", None],
}


@pytest.mark.parametrize(
    ("column", "value"), [(column, value) for column, values in OTHERS.items() for value in values]
)
def test_a_part_of_an_entry_that_is_changed_is_told(column, value):
    rows = chain({"a": 0}, {"a": 1}, {"a": 2})
    changed = (*rows[1][:column], value, *rows[1][column + 1 :])
    with pytest.raises(LedgerInvalid, match=r"l is damaged or was changed: entry 2: .*; restore"):
        read_chain([rows[0], changed, rows[2]], "l")


def test_an_entry_that_is_gone_moved_or_doubled_is_told():
    first, second, third = chain({"a": 0}, {"a": 1}, {"a": 2})
    for rows in ([second], [first, third], [first, third, second], [first, second, second], [first, first]):
        with pytest.raises(LedgerInvalid, match="is damaged or was changed"):
            read_chain(rows, "l")
    with pytest.raises(LedgerInvalid, match="no entries"):
        read_chain([], "l")


def test_an_entry_with_a_new_digest_of_its_own_is_told_by_the_next():
    first, _, third = chain({"a": 0}, {"a": 1}, {"a": 2})
    forged = following(read_chain([first], "l"), "release", "k1", TIME, {"a": 7}, {})
    read_chain([first, forged], "l")
    with pytest.raises(LedgerInvalid, match="entry 3: it must follow the one before it"):
        read_chain([first, forged, third], "l")


def test_a_key_that_is_used_twice_is_told():
    rows = chain({"a": 0}, {"a": 1})
    again = following(read_chain(rows, "l"), "release", "k1", TIME, {"a": 2}, {})
    with pytest.raises(LedgerInvalid, match="entry 3: its key must be new"):
        read_chain([*rows, again], "l")
    other = following(read_chain(rows, "l"), "change", "k1", TIME, {"a": 2}, {})
    assert len(read_chain([*rows, other], "l")) == 3


def test_what_others_have_seen_tells_an_older_copy_and_another_history():
    rows = chain({"a": 0}, {"a": 1}, {"a": 2})
    entries = read_chain(rows, "l")
    heads = [(entry.seq, entry.digest) for entry in entries]
    require_heads(entries, heads, "l")
    with pytest.raises(
        LedgerInvalid, match="older than a receipt: it ends with entry 2, and the receipt names entry 3"
    ):
        require_heads(entries[:2], heads, "l")
    anew = read_chain(chain({"a": 0}, {"a": 9}, {"a": 2}), "l")
    require_heads(anew, heads[:1], "l")
    for head in heads[1:]:
        with pytest.raises(
            LedgerInvalid, match=f"another history than a receipt: its entry {head[0]} is not"
        ):
            require_heads(anew, [head], "l")
    for seq in (0, -1):
        with pytest.raises(LedgerInvalid, match="another history"):
            require_heads(entries, [(seq, heads[-1][1])], "l")
