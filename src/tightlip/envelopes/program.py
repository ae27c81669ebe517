"""The linear program at one ratio t, restricted to few pairs, solved by HiGHS from the last basis.

Its answers are suggestions: thresholds for the dual bound and an attack. Both are checked elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.envelopes.attack import Shares
from tightlip.envelopes.drift import Basis, Drift
from tightlip.envelopes.pairs import Pairs, Places
from tightlip.errors import SolverFailure
from tightlip.numeric.parse import FloatArray

ABOVE = 1 + 1e-11  # surely more, whatever the roundings
_CROWD, _FAR = 3, 0.3  # columns for each row, when some are let go, and which: so far below their price, of q
_THRONG, _NEAR = 10, 0.03  # the same while a search goes on: each pivot looks at all columns
_BY_COLUMN, _MAXIMIZE, _PRIMAL = 1, -1, 4  # HiGHS's codes


@dataclass(frozen=True, slots=True)
class Optimum:
    """V(t) of the chosen pairs, the multiplier of each secret, and w of each of `places`.

    `slope` is dV/dt = −Σ_x λ_x Σ_y w_xy q_y, where the optimum is the only one.
    """

    value: float
    slope: float
    multipliers: FloatArray
    places: Places
    weights: FloatArray

    @property
    def reaches(self) -> FloatArray:
        """1/λ of each secret."""
        with np.errstate(divide="ignore"):
            return np.asarray(1 / self.multipliers)


class _Columns:
    """The program's columns of some pairs: what does not change with t."""

    def __init__(self, pairs: Pairs, places: Places, scale: float, infinite: float) -> None:
        size = len(places)
        self.secret, self.weight = pairs.secret[places], pairs.weight[places]
        self.cost, self._chance = self.weight * scale, pairs.chance[places] * scale
        self.least, self._infinite = np.zeros(size), infinite
        self.starts, self.kind = np.arange(0, 2 * size, 2, dtype=np.int32), np.zeros(size, dtype=np.int32)
        self.rows = np.empty(2 * size, dtype=np.int32)
        self.rows[0::2], self.rows[1::2] = pairs.outcome[places], pairs.outcomes + self.secret

    def most(self, peaks: FloatArray, ratio: float) -> FloatArray:
        """The largest w: 0 of a secret that never reaches t, since a solver may take a little below 0 for 0.

        Beside a jump that would be enough to let the secret in.
        """
        return np.where(peaks[self.secret] < ratio, 0.0, self._infinite)

    def values(self, ratio: float) -> FloatArray:
        """The coefficients, which do: 1 and (K/t − q)·scale of each pair; K − tq may be too large for a solver."""
        values = np.ones(len(self.rows))
        values[1::2] = (self._chance - ratio * self.cost) / ratio
        return values


class RestrictedProgram:
    """max Σ q_y w_i over chosen pairs i; rows are the outcomes (Σ w ≤ 1) and the secrets (ratio ≥ t)."""

    def __init__(self, pairs: Pairs, ratio: float) -> None:
        import highspy

        self.pairs = pairs
        self.ratio = math.nan
        self.chosen: Places = np.array([], dtype=np.intp)
        self._has = np.zeros(len(pairs.chance), dtype=bool)
        self._scale = 1 / float(pairs.marginal.mean())
        self._infinite = highspy.kHighsInf
        caps, ratios = pairs.outcomes, pairs.secrets
        self._row_ends = (
            np.concatenate([np.full(caps, -self._infinite), np.zeros(ratios)]),
            np.concatenate([np.ones(caps), np.full(ratios, self._infinite)]),
        )
        self._columns = self._columns_of(self.chosen)
        self.peaks = np.zeros(pairs.secrets)
        np.maximum.at(self.peaks, pairs.secret, pairs.lift)
        self._above_peaks = self.peaks * ABOVE
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 1)
        solver.setOptionValue("small_matrix_value", 1e-12)  # beside a jump of V a coefficient may be as small
        self._solver: Any = solver
        solver.setOptionValue("simplex_strategy", _PRIMAL)  # more columns keep the old optimum feasible
        self._set("off", 1e-10, scale=0)
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._fine, self._refused = highspy.HighsStatus.kOk, highspy.HighsStatus.kError
        self.move(ratio)

    def add(self, places: Places) -> int:
        """Let more pairs in, each given once; returns how many are new."""
        fresh = self.absent(places)
        if not len(fresh):
            return 0
        size, more = len(fresh), self._columns_of(fresh)
        most, values = more.most(self.peaks, self.ratio), more.values(self.ratio)
        self._require(
            self._solver.addCols(size, more.cost, more.least, most, 2 * size, more.starts, more.rows, values)
        )
        self._has[fresh] = True
        self.chosen = np.concatenate([self.chosen, fresh])
        self._columns = self._columns_of(self.chosen)
        return size

    def _columns_of(self, places: Places) -> _Columns:
        return _Columns(self.pairs, places, self._scale, self._infinite)

    @property
    def crowded(self) -> bool:
        """Whether there are many columns."""
        return len(self.chosen) > _CROWD * (self.pairs.outcomes + self.pairs.secrets)

    @property
    def thronged(self) -> bool:
        """Whether there are so many columns that the next solve is slow."""
        return len(self.chosen) > _THRONG * (self.pairs.outcomes + self.pairs.secrets)

    def forget(self, found: Optimum, thresholds: FloatArray) -> None:
        """Let pairs go that are far from being worth their outcome's price, of a throng those not near it."""
        far = _NEAR if self.thronged else _FAR
        gain = self.gain(thresholds, self.ratio)
        kept = gain[self.chosen] > self.prices(gain)[self.pairs.outcome[self.chosen]] - far
        kept[found.weights > 0] = True
        gone = np.flatnonzero(~kept).astype(np.int32)
        self._require(self._solver.deleteCols(len(gone), gone))
        self._has[self.chosen[gone]] = False
        self.chosen = self.chosen[kept]
        self._columns = self._columns_of(self.chosen)

    def absent(self, places: Places) -> Places:
        """Those of some pairs that have not been let in."""
        return places[~self._has[places]]

    def move(self, ratio: float) -> None:
        """Change t; the last basis is kept as the start of the next solve."""
        if ratio == self.ratio:
            return
        basis, columns, size = self._solver.getBasis(), self._columns, len(self.chosen)
        self.ratio = math.nan  # until the solver has taken it
        taken = self._solver.passModel(
            size,
            len(self._row_ends[0]),
            2 * size,
            _BY_COLUMN,
            _MAXIMIZE,
            0.0,
            columns.cost,
            columns.least,
            columns.most(self.peaks, ratio),
            *self._row_ends,
            columns.starts,
            columns.rows,
            columns.values(ratio),
            columns.kind,
        )
        self._require(taken, ratio)
        self.ratio = ratio
        if basis.valid:
            self._solver.setBasis(basis)  # refused, it is only a worse start

    def _require(self, status: Any, ratio: float | None = None) -> None:
        """Raise unless the solver took a change; it may warn of coefficients so small that it leaves them out."""
        if status == self._refused:
            raise SolverFailure(
                f"linear program at ratio {self.ratio if ratio is None else ratio!r} must be taken by the solver, "
                f"got status {status}; allow a larger gap or give exact numbers."
            )

    def solve(self) -> Optimum:
        """The optimum at the present ratio.

        Raises
        ------
        SolverFailure
            With status and residuals, for anything but an optimum.
        """
        self._solver.run()
        status = self._solver.getModelStatus()
        if status != self._optimal:
            status = self._solved_anew()
        if status != self._optimal:
            info = self._solver.getInfo()
            raise SolverFailure(
                f"linear program at ratio {self.ratio!r} must end at an optimum, got status {status} with primal "
                f"infeasibility {info.max_primal_infeasibility:.2g} and dual {info.max_dual_infeasibility:.2g}; "
                "allow a larger gap or give exact numbers."
            )
        solution = self._solver.getSolution()
        duals = np.array(solution.row_dual[self.pairs.outcomes :])
        multipliers = np.maximum(-duals, 0.0) / self.ratio
        weights = np.fromiter(solution.col_value, np.float64, len(self.chosen))
        taken = weights * self._columns.weight
        slope = -float(taken @ multipliers[self._columns.secret])
        return Optimum(float(taken.sum()), slope, multipliers, self.chosen, weights)

    def _solved_anew(self) -> Any:
        """The status without the old basis, which may be a bad start, and with scaling; at last less exactly."""
        status = None
        for presolve, tolerance in (("off", 1e-10), ("on", 1e-10), ("on", 1e-7)):
            if status != self._optimal:
                self._solver.clearSolver()
                self._set(presolve, tolerance, scale=1)
                self._solver.run()
                status = self._solver.getModelStatus()
        self._set("off", 1e-10, scale=0)
        return status

    def _set(self, presolve: str, tolerance: float, *, scale: int) -> None:
        self._solver.setOptionValue("presolve", presolve)
        self._solver.setOptionValue("simplex_scale_strategy", scale)
        for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            self._solver.setOptionValue(name, tolerance)

    def drift(self, found: Optimum) -> Drift | None:
        """How the optimum just found moves with the ratio; None where HiGHS has no factors of its basis."""
        status, basic = self._solver.getBasicVariables()
        if status != self._fine:
            return None
        basis = Basis(self._solver, basic, self.pairs, self.chosen, self._scale / self.ratio)
        return Drift(self.ratio, basis, found.weights[basis.columns], found.multipliers)

    def thresholds(self, reaches: FloatArray, ratio: float) -> FloatArray:
        """θ_x = t − 1/λ_x, from 1/λ, at most surely above the largest lift of x: beyond it would prove no more.

        It is there for secrets that never reach t, beside a jump half way to t.
        """
        found = np.maximum(
            np.minimum(ratio - reaches, ratio * (1 - 1e-12)), self.pairs.least_threshold(ratio)
        )
        never = self.peaks + (ratio - self.peaks) / 2
        return np.minimum(np.where(self.peaks < ratio, never, found), self._above_peaks)

    def gain(self, thresholds: FloatArray, ratio: float) -> FloatArray:
        """What each pair is worth, of q; it would improve the program where that is above its outcome's price."""
        price = 1 / (ratio - thresholds)
        return self.pairs.scored(price, -price * thresholds)

    def prices(self, gain: FloatArray) -> FloatArray:
        """What each outcome is worth to the pairs that were let in, of q."""
        found = np.zeros(self.pairs.outcomes)
        np.maximum.at(found, self.pairs.outcome[self.chosen], gain[self.chosen])
        return found

    def attack(self, found: Optimum) -> Shares:
        """The optimum as an attack."""
        return Shares.clean(self.pairs, found.places, found.weights)


def leading(pairs: Pairs, values: NDArray[np.float64], each: int) -> Places:
    """The `each` pairs of largest value of every outcome and of every secret."""
    if pairs.complete:
        table = values.reshape(pairs.outcomes, pairs.secrets)
        most = [min(each, size) for size in table.shape]
        secret = np.argpartition(-table, most[1] - 1, axis=1)[:, : most[1]]
        outcome = np.argpartition(-table, most[0] - 1, axis=0)[: most[0]]
        by_outcome = np.arange(pairs.outcomes)[:, None] * pairs.secrets + secret
        by_secret = outcome * pairs.secrets + np.arange(pairs.secrets)
        return np.unique(np.concatenate([by_outcome.ravel(), by_secret.ravel()]))
    chosen = [_first_of_runs(pairs.outcome, values, each), _first_of_runs(pairs.secret, values, each)]
    return np.unique(np.concatenate(chosen))


def _first_of_runs(owner: Places, values: FloatArray, each: int) -> Places:
    """The places of the `each` largest values of every owner."""
    order = np.lexsort((-values, owner))
    first = np.flatnonzero(np.diff(owner[order], prepend=-1))
    rank = np.arange(len(values)) - np.repeat(first, np.diff(np.append(first, len(values))))
    return np.asarray(order[rank < each])
