"""Counts of records, whole or weighted."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tightlip.errors import InvalidInput, ShapeMismatch, WrongType
from tightlip.model.normalize import read_counts, shares


def test_whole_numbers_stay_whole_and_weights_stay_as_given():
    array = np.array([3, 1])
    assert read_counts(array, "counts", 1) is array
    assert read_counts([3, 1], "counts", 1).tolist() == [Fraction(3), Fraction(1)]
    assert read_counts([0.5, 1.5], "counts", 1).dtype == np.float64
    assert read_counts(["1/2", 1], "counts", 1).tolist() == [Fraction(1, 2), Fraction(1)]


@pytest.mark.parametrize("counts", [[3, -1], [3.0, -1.0], np.array([3, -1]), ["3", "-1"]])
def test_negative_counts_are_refused(counts):
    with pytest.raises(InvalidInput, match="counts entry 1 must not be negative, got -1; counts are ≥ 0"):
        read_counts(counts, "counts", 1)
    with pytest.raises(InvalidInput, match="counts row 0, column 1 must not be negative, got -1"):
        read_counts([counts], "counts", 2)


def test_masked_counts_are_refused():
    with pytest.raises(InvalidInput, match="counts must not be masked"):
        read_counts(np.ma.masked_array([3, 1], mask=[0, 1]), "counts", 1)


@pytest.mark.parametrize(
    ("counts", "error"),
    [(np.array([[1]]), ShapeMismatch), (np.array([], dtype=int), InvalidInput), ([True], WrongType),
     (np.array([True]), WrongType), ([math.nan], InvalidInput), ("12", WrongType)],
)  # fmt: skip
def test_what_are_no_counts_is_refused(counts, error):
    with pytest.raises(error, match=r"counts (entry 0 )?must "):
        read_counts(counts, "counts", 1)


@given(st.lists(st.integers(0, 10**20), min_size=1, max_size=6).filter(any))
def test_exact_shares_of_whole_numbers(counts):
    divided, totals = shares(np.array(counts, dtype=object), "counts", exact=True)
    assert totals == [sum(counts)]
    assert divided.tolist() == [Fraction(count, sum(counts)) for count in counts]
    floats, _ = shares(np.array(counts, dtype=object), "counts", exact=False)
    assert floats.tolist() == [count / sum(counts) for count in counts]


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=6))
def test_exact_shares_of_weights_sum_to_one(weights):
    divided, _ = shares(np.array(weights), "counts", exact=True)
    assert sum(divided.tolist()) == 1


def test_shares_by_row_and_rows_without_data():
    floats, totals = shares(np.array([[3, 1], [0, 0]]), "counts", exact=False)
    assert floats.tolist() == [[0.75, 0.25], [0.0, 0.0]]
    assert totals == [4, 0]
    assert shares(np.array([[0, 0]]), "counts", exact=True)[0].tolist() == [[0, 0]]


def test_counts_beyond_64_bits_are_added_exactly():
    huge = np.array([2**63, 2**63], dtype=np.uint64)
    floats, totals = shares(huge, "counts", exact=False)
    assert totals == [2**64]
    assert floats.tolist() == [0.5, 0.5]
    assert shares(np.array([Fraction(10**400), Fraction(10**400)]), "counts", exact=False)[0].tolist() == [
        0.5,
        0.5,
    ]


def test_a_count_that_would_vanish_is_refused():
    with pytest.raises(
        InvalidInput, match=r"counts entry 0 is too small beside the others .*; use exact=True"
    ):
        shares(np.array([1e-200, 1e200]), "counts", exact=False)
    with pytest.raises(InvalidInput, match="counts row 1, column 0 is too small beside the others"):
        shares(np.array([[1.0, 1.0], [1e-200, 1e200]]), "counts", exact=False)
    divided, _ = shares(np.array([1e-200, 1e200]), "counts", exact=True)
    assert divided[0] > 0


def test_weights_with_an_infinite_sum_are_refused():
    with pytest.raises(
        InvalidInput, match=r"counts must have sums that fit a float, got 1.7e\+308 .*; use a larger unit"
    ):
        shares(np.array([1.7e308, 1.7e308]), "counts", exact=False)
