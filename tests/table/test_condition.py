"""Conditions: as people write them, and what they mean for numbers, texts, dates and missing values."""

import datetime as dt

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tightlip.errors import InvalidInput, WrongType
from tightlip.table.condition import Condition
from tightlip.table.counts import count_values
from tightlip.table.policy import Policy
from tightlip.table.source import open_table

VALUES = {
    "n": [1, 17, 18, None, -3],
    "x": [0.1, 0.3, None, 2.0, -0.0],
    "t": ["MA", "TX", "a, b", None, ""],
    "b": [True, False, None, True, False],
    "d": [dt.date(2024, 2, 29), dt.date(1999, 12, 31), None, dt.date(2000, 1, 1), dt.date(2024, 3, 1)],
}


def places(where) -> list[int]:
    rows = pa.table({"row": range(5), **VALUES})
    table = open_table(rows).under(Policy("t", ["n"], where=where))
    return sorted(int(label) for label in count_values(table, ["row"]).labels[0])


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("n >= 18", [2]),
        ("n>17", [2]),
        ("n > 17.5", [2]),
        ("n >= 17.5", [2]),
        ("n < 17.5", [0, 1, 4]),
        ("n <= 17.5", [0, 1, 4]),
        ("n < 17", [0, 4]),
        ("n ≠ 17", [0, 2, 4]),
        ("n == 34/2", [1]),
        ("n in 1, 18", [0, 2]),
        ("n is missing", [3]),
        ("n is not missing", [0, 1, 2, 4]),
        ("x = 0.3", [1]),
        ("x < 0.3", [0, 4]),
        ("x <= 0.3", [0, 1, 4]),
        ("x = 0", [4]),
        ("t = MA", [0]),
        ("t != MA", [1, 2, 4]),
        ('t in MA,"a, b"', [0, 2]),
        ('t = "a, b"', [2]),
        ("t = a, b", [2]),
        ('t = ""', [4]),
        ("b = true", [0, 3]),
        ("b != true", [1, 4]),
        ("d >= 2000-01-01", [0, 3, 4]),
        ("d = 2024-02-29", [0]),
        (["n >= 1", "t != TX"], [0, 2]),
        ('"n" >= 18', [2]),
    ],
)
def test_what_conditions_mean(where, rows):
    assert places(where) == rows


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("n", "where must be a condition like"),
        ("n >=", "where must be a condition like"),
        (">= 3", "where must be a condition like"),
        ("n is gone", "where must be a condition like"),
        ("t < MA", "only numbers and dates have an order"),
        ("b > false", "only numbers and dates have an order"),
        ("n = 1.5", "with whole numbers, got"),
        ("n = much", "of a column of numbers, must be a finite number"),
        ("n < 1e30", "below 2\\^63"),
        ("b = yes", "with true or false"),
        ("d > 2024-02-30", "with dates like"),
        ("d > 2024", "with dates like"),
        ("t in MA,,TX", "values separated by commas"),
        ('t in MA,"TX', "values separated by commas"),
        ("m = 3", 'column of the data frame "m" is not there'),
    ],
)
def test_conditions_that_are_none(where, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        places(where)
    assert "\n" not in str(caught.value)


def test_conditions_are_text():
    with pytest.raises(WrongType, match="where must be conditions as text, got 3"):
        Condition.read(3)
    with pytest.raises(InvalidInput, match="column, operator and values must be a condition"):
        Condition("n", "between", ("1", "2"))


texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=8)


@given(texts, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), st.lists(texts, min_size=1, max_size=3))
def test_what_is_written_is_read_back(column, operator, values):
    for condition in (
        Condition(column, operator, (values[0],)),
        Condition(column, "in", tuple(values)),
        Condition(column, "is missing"),
    ):
        assert Condition.read(str(condition)) == condition
