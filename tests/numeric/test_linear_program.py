"""The one caller of the LP solver: optimal by the definition, and a failure is an error."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.sparse import coo_array

from tightlip.errors import SolverFailure
from tightlip.numeric.linear_program import minimise

ENTRIES = st.integers(0, 9).map(float)


@given(st.data(), st.integers(1, 5), st.integers(1, 5), st.booleans())
@settings(max_examples=80, deadline=None)
def test_primal_and_dual_are_feasible_and_meet(data, rows, columns, sparse):
    matrix = data.draw(arrays.arrays(float, (rows, columns), elements=ENTRIES)) + np.eye(rows, columns)
    matrix[0] += 1  # every column is bounded
    limits = data.draw(arrays.arrays(float, rows, elements=ENTRIES))
    cost = -data.draw(arrays.arrays(float, columns, elements=ENTRIES))
    found = minimise(cost, coo_array(matrix) if sparse else matrix, limits)
    assert (found.primal >= -1e-6).all()
    assert (matrix @ found.primal <= limits + 1e-6).all()
    assert (found.duals <= 1e-6).all()
    assert (matrix.T @ found.duals <= cost + 1e-6).all()
    assert found.cost == pytest.approx(cost @ found.primal, abs=1e-6)
    assert found.cost == pytest.approx(limits @ found.duals, abs=1e-6)


@pytest.mark.parametrize(
    ("cost", "matrix", "limits", "message"),
    [
        (
            [-1.0],
            [[-1.0]],
            [0.0],
            "the plan stopped before an optimum: (unbounded|primal infeasible or unbounded)",
        ),
        ([1.0], [[1.0]], [-1.0], "the plan stopped before an optimum: infeasible"),
        ([1.0], [[np.inf]], [1.0], "the plan was refused by the solver"),
    ],
)
def test_no_optimum_is_an_error(cost, matrix, limits, message):
    with pytest.raises(SolverFailure, match=message):
        minimise(np.array(cost), np.array(matrix), np.array(limits), what="the plan")
