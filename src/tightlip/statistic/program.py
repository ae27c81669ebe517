"""The linear relaxation by cutting planes: few rows of the dual, solved by HiGHS from the last basis.

    minimise Σ_y u_y + Σ_g v_g   subject to   v_g ≥ Σ_{y ∈ A} (V_ry − u_y)  for rows r of g and sets A of outputs.

A cut (r, A) holds wherever row r is allowed, so the cuts found at one node of the search tree serve all others.
Its answers are suggestions: prices, which a judge weighs, and weights of rows, which guide the branching.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tightlip.errors import SolverFailure
from tightlip.numeric.linear_program import new_solver, run
from tightlip.numeric.parse import FloatArray
from tightlip.statistic.cover import Cover, Mask
from tightlip.statistic.work import CALL, Work

_TOLERANCE = 1e-10
_MET = 1e-12
_CLEARLY = 1 - 1e-9
_ENOUGH = 0.05
_CUTS_KEPT = 5
_PATIENCE = 3
_STILL = 1e-13
_STEP = 10  # entries that could be read while a simplex step looks at one row or column
_NONE = np.array([], dtype=np.int32)


class CutProgram:
    """The relaxation of one cover; `weights` are the row weights of the last solve."""

    def __init__(self, cover: Cover) -> None:
        import highspy

        self.cover = cover
        self.weights: FloatArray = np.zeros(cover.rows)
        self._owners: list[int] = []
        self._totals: list[float] = []
        self._useful: list[bool] = []  # whether a cut was binding at the end of some node
        self._most_cuts = _CUTS_KEPT * (cover.outputs + cover.groups)
        self._infinite = highspy.kHighsInf
        solver = new_solver(_TOLERANCE)
        size = cover.outputs + cover.groups
        most = np.concatenate([cover.peaks, np.full(cover.groups, self._infinite)])
        solver.addCols(size, np.ones(size), np.zeros(size), most, 0, _NONE, _NONE, np.array([]))
        self._solver: Any = solver

    def prices(self, allowed: Mask, start: FloatArray, goal: float, work: Work) -> FloatArray:
        """Prices of nearly least D(u) for the allowed rows, or of one clearly below the goal.

        Where even the least is above the goal, one that is above it by hardly more will do.
        """
        self._forget_idle_cuts()
        self._activate(allowed)
        best, least, point = start, np.inf, start
        reached, idle = -np.inf, 0
        while work.left() and idle < _PATIENCE:
            before = least, reached
            for query in (point, (point + best) / 2):  # halfway to the best is steadier than the corner alone
                value = self._separate(query, allowed)
                if value < least:
                    best, least = query, value
            found = self._solve()
            work.add(2 * (len(self.cover.values) + self.cover.groups * CALL) + self._solving())
            if found is None:
                break
            point, reached = found
            enough = max(_MET * reached, _ENOUGH * (reached - goal))
            if least <= reached + enough or least <= goal * _CLEARLY:
                break
            moved = least < before[0] * (1 - _STILL) or reached - before[1] > _STILL * reached
            idle = 0 if moved else idle + 1  # it happens with entries below the solver's tolerance
        self._mark_binding_cuts()
        return best

    def _separate(self, prices: FloatArray, allowed: Mask) -> float:
        """D(u), after adding the cut of the leading row of each secret."""
        tops, rows = self.cover.tops(self.cover.gains(prices), allowed)
        for group, row in enumerate(rows.tolist()):
            columns, values = self.cover.entries(row)
            above = values > prices[columns]
            total = float(values[above].sum())
            inside = np.append(columns[above], self.cover.outputs + group).astype(np.int32)
            self._solver.addRow(total, self._infinite, len(inside), inside, np.ones(len(inside)))
            self._owners.append(row)
            self._totals.append(total)
            self._useful.append(False)
        return float(prices.sum() + tops.sum())

    def _mark_binding_cuts(self) -> None:
        binding = np.flatnonzero(np.array(self._solver.getSolution().row_dual) > 0)
        for cut in binding.tolist():
            self._useful[cut] = True

    def _forget_idle_cuts(self) -> None:
        """Drop cuts that bound nowhere, and the oldest: kept, they would slow down every later node."""
        kept = [cut for cut, useful in enumerate(self._useful) if useful][-self._most_cuts :]
        idle = np.setdiff1d(np.arange(len(self._useful)), kept).astype(np.int32)
        if len(idle):
            self._solver.deleteRows(len(idle), idle)
            self._owners = [self._owners[cut] for cut in kept]
            self._totals = [self._totals[cut] for cut in kept]
            self._useful = [True] * len(kept)

    def _activate(self, allowed: Mask) -> None:
        """Switch off the cuts of rows that are not allowed."""
        count = len(self._owners)
        if count:
            lower = np.where(allowed[self._owners], self._totals, -self._infinite)
            self._solver.changeRowsBounds(
                count, np.arange(count, dtype=np.int32), lower, np.full(count, self._infinite)
            )

    def _solving(self) -> float:
        """About as many entries as could be read in the time of the last solve."""
        steps = int(self._solver.getInfo().simplex_iteration_count)
        return CALL + (steps + 1) * (self.cover.outputs + self.cover.groups + len(self._owners)) * _STEP

    def _solve(self) -> tuple[FloatArray, float] | None:
        """The prices and the value of the program as it stands; None where the solver gives up."""
        try:
            found = run(self._solver)
        except SolverFailure:
            return None
        duals = np.maximum(found.duals, 0.0)
        self.weights = np.asarray(
            np.bincount(self._owners, weights=duals, minlength=self.cover.rows), dtype=np.float64
        )
        prices = np.clip(found.primal[: self.cover.outputs], 0.0, self.cover.peaks)
        return prices, found.cost
