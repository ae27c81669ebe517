"""Dense and sparse storage give the same answers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from tightlip.errors import InvalidInput
from tightlip.model.matrix import (
    chain,
    column_max,
    column_min,
    dense,
    dense_column,
    dense_columns,
    dense_row,
    freeze,
    freeze_sparse,
    is_sparse,
    multiply,
    nonzero_digest,
    same_entries,
    take_rows,
    weighted_columns,
    weighted_rows,
)

shapes = st.tuples(st.integers(1, 5), st.integers(1, 6))
matrices = shapes.flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.25, 0.5, 1.0, 5e-324]))
)


def exactly(matrix):
    return np.array([[Fraction(entry) for entry in row] for row in matrix.tolist()], dtype=object)


@given(matrices)
def test_columns_and_rows_agree_over_all_storages(matrix):
    rows, columns = matrix.shape
    left, right = np.linspace(1, 2, rows), np.linspace(2, 3, columns)
    for stored in (csr_array(matrix), exactly(matrix), matrix):
        assert column_max(stored).tolist() == [max(column) for column in matrix.T.tolist()]
        assert column_min(stored).tolist() == [min(column) for column in matrix.T.tolist()]
        assert dense(stored).tolist() == matrix.tolist()
        assert dense_row(stored, rows - 1).tolist() == matrix[-1].tolist()
        assert dense_column(stored, 0).tolist() == matrix[:, 0].tolist()
        assert dense_columns(stored, [columns - 1, 0]).tolist() == matrix[:, [columns - 1, 0]].tolist()
        assert np.allclose(weighted_columns(left, stored).astype(float), left @ matrix, rtol=1e-14)
        assert np.allclose(weighted_rows(stored, right).astype(float), matrix @ right, rtol=1e-14)


@given(matrices)
def test_digest_and_equality_do_not_see_the_storage(matrix):
    sparse = freeze_sparse(csr_array(matrix))
    assert nonzero_digest(sparse) == nonzero_digest(matrix)
    assert same_entries(sparse, matrix)
    assert same_entries(sparse, csr_array(matrix))
    assert nonzero_digest(exactly(matrix)) == nonzero_digest(exactly(matrix))
    changed = matrix.copy()
    changed[0, 0] += 0.125
    assert not same_entries(sparse, csr_array(changed))
    assert not same_entries(matrix, changed)
    assert nonzero_digest(changed) != nonzero_digest(matrix)


def test_shape_is_part_of_equality_and_digest():
    wide, tall = np.array([[0.5, 0.5]]), np.array([[0.5], [0.5]])
    assert not same_entries(wide, tall)
    assert nonzero_digest(wide) != nonzero_digest(tall)


def test_stored_zeros_do_not_change_the_digest():
    padded = csr_array((np.array([0.0, 1.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert padded.nnz == 2
    assert nonzero_digest(padded) == nonzero_digest(np.array([[0.0, 1.0]]))


def test_taking_all_rows_takes_the_matrix_itself():
    matrix = np.eye(3)
    assert take_rows(matrix, np.arange(3)) is matrix
    assert take_rows(matrix, np.array([2, 0])).tolist() == [[0, 0, 1], [1, 0, 0]]
    assert take_rows(csr_array(matrix), np.array([2])).toarray().tolist() == [[0, 0, 1]]


def test_is_sparse():
    assert is_sparse(csr_array(np.eye(2)))
    assert not is_sparse(np.eye(2))
    assert not is_sparse([[1]])


def test_frozen_arrays_refuse_writing():
    array = freeze(np.ones(2))
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 2
    doubled = csr_array((np.array([0.5, 0.5, 0.0]), (np.array([0, 0, 0]), np.array([1, 1, 0]))), shape=(1, 2))
    matrix = freeze_sparse(doubled)
    assert matrix.nnz == 1
    assert matrix.toarray().tolist() == [[0.0, 1.0]]
    with pytest.raises(ValueError, match="read-only"):
        matrix.data[0] = 2


@pytest.mark.parametrize(("one", "two"), [(1e-200, 1e-200), (1e-160, 1e-160), (5e-324, 0.5)])
def test_a_product_too_small_for_a_float_is_refused(one, two):
    with pytest.raises(
        InvalidInput, match=r"product must stay above 2.23e-308, .*; use exact\(\) on both first"
    ):
        multiply(np.array([one]), np.array([two]), "product")


def test_small_products_that_fit_are_kept():
    assert multiply(np.array([5e-324, 0.0]), np.array([1.0, 1e-300]), "product").tolist() == [5e-324, 0.0]
    assert multiply(np.array([Fraction(1, 10**400)]), np.array([Fraction(1, 2)]), "x")[0] == Fraction(
        1, 2 * 10**400
    )


@pytest.mark.parametrize("wrap", [np.array, csr_array])
def test_a_chain_too_small_for_a_float_is_refused(wrap):
    first, second = wrap([[1e-200, 1.0]]), wrap([[1e-200, 1.0], [0.0, 1.0]])
    message = r"channel row 0, column 0 is too small for a float, got 1e-400; use exact\(\) on both first"
    with pytest.raises(InvalidInput, match=message):
        chain(first, second, "channel")


@pytest.mark.parametrize("wrap", [np.array, csr_array])
def test_tiny_entries_survive_a_chain_where_they_fit(wrap):
    first = wrap([[5e-324, 1e-200, 1.0]])
    second = wrap([[1.0, 0.0], [0.0, 1e-200], [0.0, 1.0]])
    assert dense(chain(first, second, "channel")).tolist() == [[5e-324, 1.0]]
    assert dense(chain(wrap([[0.5, 0.5]]), wrap([[0.5, 0.5], [1.0, 0.0]]), "x")).tolist() == [[0.75, 0.25]]


def test_exact_chains_have_no_smallest_number():
    tiny = np.array([[Fraction(1, 10**400)]], dtype=object)
    assert chain(tiny, tiny, "x")[0, 0] == Fraction(1, 10**800)
    assert math.isclose(float(tiny[0, 0] * 10**400), 1)
