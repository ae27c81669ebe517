"""Linear programs by HiGHS, called in one way.

`minimise` solves a program once; `new_solver` and `run` are for programs that grow and are solved again from the last
basis. What a solver says is a suggestion: callers prove what they return. A solver that stops early raises
`SolverFailure`, and is never taken for "infeasible" or "no better".

Signs: the dual of a row is the change of the least cost for one unit more of its bound, so that of an upper bound in
a minimisation is at most 0.
"""

from __future__ import annotations

import atexit
import math
import threading
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from tightlip.errors import SolverFailure
from tightlip.numeric.parse import FloatArray

TOLERANCE = 1e-7
"""How far HiGHS lets constraints and reduced costs be off unless told otherwise."""

_TICK = 0.1  # seconds; how often a waiting program looks for Ctrl-C where joining a thread does not
_LAST = 2.0  # seconds that the program waits for it before it ends: a thread that looks up in between would abort it
_GRACE = 0.5  # seconds that a solver has to stop when it is asked to; it looks once in an iteration
_LATE = 1.1  # of the seconds it is given, after which a solver that does not look at its clock is left alone


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
    return _optimum(solver, what)


def _optimum(solver: Any, what: str) -> Solution:
    import highspy

    optimal = highspy.HighsModelStatus.kOptimal
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


def run_until(solver: Any, seconds: float, what: str, most: float = math.inf) -> int:
    """Run a solver that Ctrl-C ends, and the end of time, though it looks at neither while it factorises.

    It runs in a thread, which is asked to stop, and left alone if it does not at once. An integer program also ends
    when it has looked at its limits for the `most`th time, which comes at the same place in every run.

    Returns how often an integer program looked.

    Raises
    ------
    SolverFailure
        When it did not stop in time: its state is unknown.
    """
    stop, looks = threading.Event(), 0

    def look(event: Any) -> None:
        if stop.is_set():
            event.interrupt()

    def count(event: Any) -> None:
        nonlocal looks
        looks += 1
        if looks >= most or stop.is_set():
            event.interrupt()

    for called in (solver.cbSimplexInterrupt, solver.cbIpmInterrupt):
        called.subscribe(look)
    solver.cbMipInterrupt.subscribe(count)
    thread = threading.Thread(target=solver.run, daemon=True)
    end = time.monotonic() + _LATE * max(seconds, 0.0) + _GRACE
    thread.start()
    try:
        while thread.is_alive() and time.monotonic() < end:
            thread.join(_TICK)
    except KeyboardInterrupt:
        stop.set()
        thread.join(_GRACE)
        atexit.register(thread.join, _LAST)
        raise
    stop.set()
    thread.join(_GRACE)
    if thread.is_alive():
        atexit.register(thread.join, _LAST)
        raise SolverFailure(f"{what} did not stop in {seconds:g} seconds.")
    return looks


def minimise(
    cost: FloatArray,
    matrix: Any,
    limits: FloatArray,
    *,
    equal: int = 0,
    tolerance: float = TOLERANCE,
    what: str = "the linear program",
    seconds: float = math.inf,
) -> Solution:
    """Minimise cost·x over x ≥ 0 with matrix·x ≤ limits, the first `equal` rows with equality.

    A solver that takes more than about so many seconds fails.

    >>> found = minimise(np.array([-1.0, -1.0]), np.array([[1.0, 2.0], [3.0, 1.0]]), np.array([4.0, 6.0]))
    >>> found.primal.round(6).tolist(), found.duals.round(6).tolist(), round(found.cost, 6)
    ([1.6, 1.2], [-0.4, -0.2], -2.8)
    """
    solver = new_solver(tolerance)
    _limit_time(solver, seconds)
    _pass_program(solver, cost, matrix, limits, equal, what)
    if seconds == math.inf:
        return run(solver, what)
    run_until(solver, seconds, what)
    return _optimum(solver, what)


def _limit_time(solver: Any, seconds: float) -> None:
    if seconds < math.inf:
        solver.setOptionValue("time_limit", max(float(seconds), 0.0))


def _pass_program(
    solver: Any,
    cost: FloatArray,
    matrix: Any,
    limits: FloatArray,
    equal: int,
    what: str,
    *,
    binary: bool = False,
) -> None:
    """Hand a program over: x ≥ 0, or x in {0, 1}; the matrix is sparse or dense."""
    import highspy
    from scipy.sparse import csc_array

    columns = csc_array(matrix)
    height, width = columns.shape
    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = height, width
    program.col_cost_ = np.asarray(cost, dtype=np.float64)
    program.col_lower_ = np.zeros(width)
    program.col_upper_ = np.full(width, 1.0 if binary else highspy.kHighsInf)
    if binary:
        program.integrality_ = [highspy.HighsVarType.kInteger] * width
    program.row_upper_ = np.asarray(limits, dtype=np.float64)
    program.row_lower_ = np.where(np.arange(height) < equal, program.row_upper_, -highspy.kHighsInf)
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_ = columns.indptr, columns.indices
    program.a_matrix_.value_ = columns.data
    if solver.passModel(program) == highspy.HighsStatus.kError:
        raise SolverFailure(f"{what} was refused by the solver; its numbers are too large or not finite.")


def interior_point(
    cost: FloatArray,
    matrix: Any,
    limits: FloatArray,
    *,
    equal: int = 0,
    tolerance: float = 1e-5,
    seconds: float = math.inf,
) -> Solution:
    """Minimise as `minimise` does, by an interior point: near the optimum, feasible up to a tolerance, no vertex.

    For programs that are too large for the simplex method and whose answers the caller repairs and proves. A solver
    that stops early still says where it stopped, unless it has no point yet.
    """
    solver, what = new_solver(), "the interior point"
    _limit_time(solver, seconds)
    for name, option in (
        ("solver", "ipm"),
        ("run_crossover", "off"),
        ("ipm_optimality_tolerance", tolerance),
    ):
        solver.setOptionValue(name, option)
    _pass_program(solver, cost, matrix, limits, equal, what)
    run_until(solver, seconds, what)
    solution, info = solver.getSolution(), solver.getInfo()
    if not solution.value_valid:
        status = solver.modelStatusToString(solver.getModelStatus()).lower()
        raise SolverFailure(f"{what} stopped without a point: {status}.")
    return Solution(
        np.array(solution.col_value, dtype=np.float64),
        np.array(solution.row_dual, dtype=np.float64),
        float(info.objective_function_value),
        int(info.ipm_iteration_count),
    )


def integer_program(
    cost: FloatArray,
    matrix: Any,
    limits: FloatArray,
    *,
    equal: int,
    start: FloatArray,
    seconds: float,
    gap: float,
    most: float = math.inf,
) -> tuple[FloatArray | None, bool, int]:
    """Minimise cost·x over x in {0, 1} with matrix·x ≤ limits, the first `equal` rows with equality.

    Returns the best point found in about so many seconds and `most` looks of the solver at its limits, None where none
    was; whether it is the optimum to a relative gap; and how often the solver looked. The caller checks the point.
    """
    import highspy

    solver = new_solver(1e-9)
    for name, option in (
        ("time_limit", float(seconds)),
        ("mip_rel_gap", gap),
        ("mip_feasibility_tolerance", 1e-9),
    ):
        solver.setOptionValue(name, option)
    _pass_program(solver, cost, matrix, limits, equal, "the integer program", binary=True)
    given = highspy.HighsSolution()
    given.col_value = start.tolist()
    solver.setSolution(given)
    looks = run_until(solver, seconds, "the integer program", most)
    solution = solver.getSolution()
    solved = bool(solver.getModelStatus() == highspy.HighsModelStatus.kOptimal)
    if not solution.value_valid or not len(solution.col_value):
        return None, solved, looks
    return np.array(solution.col_value, dtype=np.float64), solved, looks
