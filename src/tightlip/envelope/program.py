"""The linear program at one ratio t, restricted to few pairs, solved by HiGHS from the last basis.

Its answers are suggestions: thresholds for the dual bound and an attack. Both are checked elsewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.envelope.pairs import Pairs, Places
from tightlip.errors import SolverFailure
from tightlip.numeric.parse import FloatArray

_FREE = np.array([], dtype=np.int32)


class RestrictedProgram:
    """max Σ q_y w_i over chosen pairs i; rows are the outcomes (Σ w ≤ 1) and the secrets (ratio ≥ t)."""

    def __init__(self, pairs: Pairs, ratio: float) -> None:
        import highspy

        self.pairs = pairs
        self.ratio = ratio
        self.chosen: Places = np.array([], dtype=np.intp)
        self.last: FloatArray | None = None  # the thresholds of the last solve
        self.attack: FloatArray | None = None  # the weights of the last attack that was accepted
        self._has = np.zeros(len(pairs.chance), dtype=bool)
        self._scale = 1 / float(pairs.marginal.mean())
        self._infinite = highspy.kHighsInf
        self._peaks = np.zeros(pairs.secrets)
        np.maximum.at(self._peaks, pairs.secret, pairs.lift)
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 1)
        caps, ratios = pairs.outcomes, pairs.secrets
        solver.addRows(caps, np.full(caps, -self._infinite), np.ones(caps), 0, _FREE, _FREE, np.array([]))
        solver.addRows(
            ratios, np.zeros(ratios), np.full(ratios, self._infinite), 0, _FREE, _FREE, np.array([])
        )
        solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
        self._solver: Any = solver
        self._set("off", 1e-10)
        self._optimal = highspy.HighsModelStatus.kOptimal

    def add(self, places: Places) -> int:
        """Let more pairs in; returns how many are new."""
        fresh = np.unique(places[~self._has[places]])
        if not len(fresh):
            return 0
        self._has[fresh] = True
        size = len(fresh)
        rows = np.empty(2 * size, dtype=np.int32)
        values = np.empty(2 * size)
        rows[0::2] = self.pairs.outcome[fresh]
        rows[1::2] = self.pairs.outcomes + self.pairs.secret[fresh]
        values[0::2] = 1.0
        values[1::2] = self._slack(fresh)
        self._solver.addCols(
            size,
            self.pairs.weight[fresh] * self._scale,
            np.zeros(size),
            np.full(size, self._infinite),
            2 * size,
            np.arange(0, 2 * size, 2, dtype=np.int32),
            rows,
            values,
        )
        self.chosen = np.concatenate([self.chosen, fresh])
        return size

    def move(self, ratio: float) -> None:
        """Change t; the last basis is kept as the start of the next solve."""
        self.ratio = ratio
        rows = (self.pairs.outcomes + self.pairs.secret[self.chosen]).tolist()
        change = self._solver.changeCoeff
        for column, (row, value) in enumerate(zip(rows, self._slack(self.chosen).tolist(), strict=True)):
            change(row, column, value)

    def solve(self) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """(value, price of each outcome, multiplier of each secret, w of each chosen pair) at the optimum.

        Raises
        ------
        SolverFailure
            With status and residuals, for anything but an optimum.
        """
        self._solver.run()
        status = self._solver.getModelStatus()
        for presolve, tolerance in (("off", 1e-10), ("on", 1e-7)):  # the old basis may be a bad start
            if status != self._optimal:
                self._solver.clearSolver()
                self._set(presolve, tolerance)
                self._solver.run()
                status = self._solver.getModelStatus()
        self._set("off", 1e-10)
        info = self._solver.getInfo()
        if status != self._optimal:
            raise SolverFailure(
                f"linear program at ratio {self.ratio!r} must end at an optimum, got status {status} with primal "
                f"infeasibility {info.max_primal_infeasibility:.2g} and dual {info.max_dual_infeasibility:.2g}; "
                "allow a larger gap or give exact numbers."
            )
        solution = self._solver.getSolution()
        duals = np.array(solution.row_dual)
        caps = self.pairs.outcomes
        value = float(info.objective_function_value) / self._scale
        multipliers = np.maximum(-duals[caps:], 0.0)
        return value, duals[:caps] / self._scale, multipliers, np.array(solution.col_value)

    def _set(self, presolve: str, tolerance: float) -> None:
        self._solver.setOptionValue("presolve", presolve)
        for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            self._solver.setOptionValue(name, tolerance)

    def _slack(self, places: Places) -> FloatArray:
        return (self.pairs.chance[places] - self.ratio * self.pairs.weight[places]) * self._scale

    def thresholds(self, multipliers: FloatArray) -> FloatArray:
        """θ_x = t − 1/λ_x, at most the largest lift of x: beyond it would prove no more.

        It is negative where x swallows outcomes it never causes; without these pairs it must not be.
        """
        least = -1e6 * self.ratio if self.pairs.complete else 0.0
        with np.errstate(divide="ignore"):
            found = np.clip(self.ratio - 1 / multipliers, least, self.ratio * (1 - 1e-12))
        return np.minimum(found, self._peaks)

    def worth(self, prices: FloatArray, thresholds: FloatArray) -> FloatArray:
        """By how much each pair would improve the program: its reduced cost."""
        price = 1 / (self.ratio - thresholds[self.pairs.secret])
        gain = price * (self.pairs.chance - thresholds[self.pairs.secret] * self.pairs.weight)
        return np.asarray(gain - prices[self.pairs.outcome])

    def weights(self, chosen_weights: FloatArray) -> FloatArray:
        """w of every pair, cleaned: not negative, no outcome given away more than once."""
        weights = np.zeros(len(self.pairs.chance))
        weights[self.chosen] = np.maximum(chosen_weights, 0.0)
        return normalized(self.pairs, weights)


def normalized(pairs: Pairs, weights: FloatArray) -> FloatArray:
    """No outcome given away more than once; one given away all but rounding is given away wholly."""
    total = np.add.reduceat(weights, pairs.starts)
    divisor = np.where(total > 1 - 1e-12, total, 1.0)
    return np.asarray(weights / divisor[pairs.outcome])


def leading(pairs: Pairs, values: NDArray[np.float64], each: int) -> Places:
    """The `each` pairs of largest value of every outcome and of every secret."""
    by_outcome = np.lexsort((-values, pairs.outcome))
    rank = np.arange(len(values)) - np.repeat(pairs.starts, np.diff(np.append(pairs.starts, len(values))))
    by_secret = np.lexsort((-values, pairs.secret))
    first = np.flatnonzero(np.diff(pairs.secret[by_secret], prepend=-1))
    place = np.arange(len(values)) - np.repeat(first, np.diff(np.append(first, len(values))))
    return np.unique(np.concatenate([by_outcome[rank < each], by_secret[place < each]]))
