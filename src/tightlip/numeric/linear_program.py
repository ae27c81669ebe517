"""Linear programs by HiGHS, called in one way.

`minimise` solves a program once; `new_solver` and `run` are for programs that grow and are solved again from the last
basis. What a solver says is a suggestion: callers prove what they return. A solver that stops early raises
`SolverFailure`, and is never taken for "infeasible" or "no better".

Signs: the dual of a row is the change of the least cost for one unit more of its bound, so that of an upper bound in
a minimisation is at most 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tightlip.errors import SolverFailure
from tightlip.numeric.parse import FloatArray

TOLERANCE = 1e-7
"""How far HiGHS lets constraints and reduced costs be off unless told otherwise."""


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """An optimum as the solver has it: the columns' values, the rows' duals, the cost, and simplex steps taken."""

    primal: FloatArray
    duals: FloatArray
    cost: float
    steps: int


def new_solver(tolerance: float = TOLERANCE) -> Any:
    """Start a silent HiGHS on one thread, without a program."""
    import highspy

    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
        solver.setOptionValue(name, tolerance)
    return solver


def run(solver: Any, what: str = "the linear program") -> Solution:
    """Solve a program as it stands, from its last basis; from none where that fails.

    Raises
    ------
    SolverFailure
        When the solver stops before an optimum; the message has its status.
    """
    import highspy

    optimal = highspy.HighsModelStatus.kOptimal
    solver.run()
    if solver.getModelStatus() != optimal:
        solver.clearSolver()
        solver.run()
    status = solver.getModelStatus()
    if status != optimal:
        raise SolverFailure(
            f"{what} stopped before an optimum: {solver.modelStatusToString(status).lower()}."
        )
    solution, info = solver.getSolution(), solver.getInfo()
    return Solution(
        np.array(solution.col_value, dtype=np.float64),
        np.array(solution.row_dual, dtype=np.float64),
        float(info.objective_function_value),
        int(info.simplex_iteration_count),
    )


def minimise(
    cost: FloatArray,
    matrix: Any,
    limits: FloatArray,
    *,
    tolerance: float = TOLERANCE,
    what: str = "the linear program",
) -> Solution:
    """Minimise cost·x over x ≥ 0 with matrix·x ≤ limits; the matrix is sparse or dense.

    >>> found = minimise(np.array([-1.0, -1.0]), np.array([[1.0, 2.0], [3.0, 1.0]]), np.array([4.0, 6.0]))
    >>> found.primal.round(6).tolist(), found.duals.round(6).tolist(), round(found.cost, 6)
    ([1.6, 1.2], [-0.4, -0.2], -2.8)
    """
    import highspy
    from scipy.sparse import csr_array

    rows = csr_array(matrix)
    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = rows.shape
    program.col_cost_ = np.asarray(cost, dtype=np.float64)
    program.col_lower_, program.col_upper_ = (np.full(rows.shape[1], end) for end in (0.0, highspy.kHighsInf))
    program.row_lower_ = np.full(rows.shape[0], -highspy.kHighsInf)
    program.row_upper_ = np.asarray(limits, dtype=np.float64)
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_, program.a_matrix_.index_ = rows.indptr, rows.indices
    program.a_matrix_.value_ = rows.data
    solver = new_solver(tolerance)
    if solver.passModel(program) == highspy.HighsStatus.kError:
        raise SolverFailure(f"{what} was refused by the solver; its numbers are too large or not finite.")
    return run(solver, what)
