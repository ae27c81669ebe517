"""Sums are made 1 once, in one place, and the correction is kept."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tightlip.errors import InvalidChannel
from tightlip.model.normalize import NOISE, TOLERANCE, normalize_exact, normalize_floats

weights = st.lists(st.one_of(st.floats(0, 1), st.floats(1e-300, 1e-290)), min_size=1, max_size=30).filter(
    lambda values: sum(values) > 0.01
)


def name(row):
    return f"channel row {row}"


def floats(matrix):
    return normalize_floats(matrix, name, InvalidChannel, "use counts")


def exact(rows):
    return normalize_exact(np.array(rows, dtype=object), name, InvalidChannel, "use counts")


@given(weights, st.floats(-0.9e-9, 0.9e-9), st.sampled_from([np.array, csr_array]))
def test_a_row_near_one_is_scaled_once_and_then_left_alone(values, off, wrap):
    row = np.array(values) / math.fsum(values) * (1 + off)
    before = math.fsum(row.tolist())
    once, adjustment = floats(wrap([row.tolist()]))
    entries = (once.toarray() if wrap is csr_array else once)[0].copy()
    assert abs(math.fsum(entries.tolist()) - 1) <= NOISE
    assert adjustment == (abs(before - 1) if abs(before - 1) > NOISE else 0.0)
    twice, again = floats(wrap([entries.tolist()]))
    assert again == 0.0
    assert ((twice.toarray() if wrap is csr_array else twice)[0] == entries).all()
    assert ((entries > 0) == (row > 0)).all()


@pytest.mark.parametrize("wrap", [np.array, csr_array])
@pytest.mark.parametrize("off", [1.1e-9, -1.1e-9, 0.5, -0.5, 1e308])
def test_a_row_too_far_from_one_is_refused(wrap, off):
    with pytest.raises(InvalidChannel, match=r"channel row 1 must sum to 1 within 1e-09, got .*; use counts"):
        floats(wrap([[0.5, 0.5], [0.5, 0.5 + abs(off)] if off > 0 else [0.5, 0.5 + off]]))


@pytest.mark.parametrize("off", [0.99e-9, -0.99e-9])
def test_the_tolerance_is_1e_9(off):
    assert TOLERANCE == 1e-9
    _, adjustment = floats(np.array([[0.5, 0.5 + off]]))
    assert adjustment == pytest.approx(0.99e-9, rel=1e-6)


def test_the_largest_correction_is_reported():
    _, adjustment = floats(np.array([[0.5, 0.5 + 1e-10], [0.5, 0.5 - 3e-10], [0.5, 0.5]]))
    assert adjustment == pytest.approx(3e-10, rel=1e-5)


def test_an_infinite_sum_of_finite_numbers_is_refused():
    for matrix in (np.array([[1.7e308, 1.7e308]]), csr_array(np.array([[1.7e308, 1.7e308]]))):
        with pytest.raises(InvalidChannel, match="channel row 0 must sum to 1 within 1e-09, got inf"):
            floats(matrix)


@pytest.mark.parametrize("wrap", [np.array, csr_array])
def test_negative_entries_are_named(wrap):
    message = r"channel row 1, entry 2 must not be negative, got -0.5; probabilities are in \[0, 1\]"
    with pytest.raises(InvalidChannel, match=message):
        floats(wrap([[1.0, 0.0, 0.0], [0.75, 0.75, -0.5]]))


def test_the_smallest_negative_number_is_still_negative():
    with pytest.raises(InvalidChannel, match="got -5e-324"):
        floats(np.array([[1.0, -5e-324]]))
    with pytest.raises(InvalidChannel, match="channel row 0, entry 1 must not be negative, got -1e-400"):
        exact([[Fraction(1), -Fraction(1, 10**400)]])


def test_minus_zero_becomes_zero():
    matrix, _ = floats(np.array([[-0.0, 1.0]]))
    assert math.copysign(1, matrix[0, 0]) == 1


def test_exact_rows_are_scaled_to_sum_to_one_exactly():
    off = Fraction(1, 10**10)
    rows, adjustment = exact([[Fraction(1, 2), Fraction(1, 2) + off], [Fraction(1), Fraction(0)]])
    assert rows[0].sum() == 1
    assert rows[0][0] == Fraction(1, 2) / (1 + off)
    assert adjustment == 1e-10


def test_exact_rows_at_and_beyond_the_tolerance():
    edge = Fraction(TOLERANCE)
    rows, adjustment = exact([[1 + edge]])
    assert rows[0, 0] == 1
    assert adjustment == TOLERANCE
    with pytest.raises(
        InvalidChannel, match=r"channel row 0 must sum to 1 within 1e-09, got 1.000000001; use counts"
    ):
        exact([[1 + edge + Fraction(1, 10**30)]])
    with pytest.raises(InvalidChannel, match=r"got 1e\+400; use counts"):
        exact([[Fraction(10**400)]])
