"""Strict JSON."""

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tightlip.errors import InvalidInput
from tightlip.model.jsonio import as_object, check_keys, number_to_json, parse_json
from tightlip.numeric.parse import number


@given(st.one_of(st.fractions(), st.floats(allow_nan=False, allow_infinity=False)))
def test_numbers_come_back_as_they_were(value):
    again = number(json.loads(json.dumps(number_to_json(value))), "p")
    assert again == value
    assert type(again) is type(value)


def test_long_rationals_come_back():
    value = Fraction(1, 7**9000)
    assert number(number_to_json(value), "p") == value


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_constants_that_are_no_numbers_are_refused(constant):
    with pytest.raises(
        InvalidInput, match=f"file must hold finite numbers only, got {constant}; remove or impute"
    ):
        parse_json(f'{{"a": [{constant}]}}', "file")


def test_repeated_keys_are_refused_at_any_depth():
    with pytest.raises(InvalidInput, match='file must have distinct keys, got "b" twice; remove one'):
        parse_json('{"a": {"b": 1, "b": 2}}', "file")


@pytest.mark.parametrize(
    "text", ["", "{", "[1,]", b"\xff\xfe\xff", "[" * 200_000, "1" * 5000, None, 3, {"a": 1}, "\ufeff{}"]
)
def test_what_is_no_json_is_refused(text):
    with pytest.raises(InvalidInput, match=r"file must be valid JSON, got an error: .*; check the text"):
        parse_json(text, "file")


def test_bytes_are_read_too():
    assert as_object(b'{"a": 1}', "file", {"a"}, set()) == {"a": 1}


def test_keys_are_checked():
    with pytest.raises(InvalidInput, match=r'file must have the key "a", got \[\'b\'\]'):
        as_object('{"b": 1}', "file", {"a"}, {"b"})
    with pytest.raises(InvalidInput, match='file has an unknown key "c"; known keys are a, b'):
        as_object('{"a": 1, "c": 2}', "file", {"a"}, {"b"})
    assert as_object('{"a": 1}', "file", {"a"}, {"b"}) == {"a": 1}


@pytest.mark.parametrize("record", [[1], "a", 3, None])
def test_a_record_must_be_an_object(record):
    with pytest.raises(InvalidInput, match=r"file must be an object, got .*; write"):
        check_keys(record, "file", set(), set())
