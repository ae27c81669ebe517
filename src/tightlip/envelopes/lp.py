"""Solve the restricted master problem: the linear program at one ratio t over few of its columns, by HiGHS.

A column is a pair (x, y) of secret and outcome, a row an outcome (Σ_x w_xy ≤ 1) or a secret (ratio ≥ t, with dual λ_x);
see pairs.py. Columns are priced by reduced cost and added where they improve (column generation); each solve is warm
started from the last basis. This is the only place here that talks to the solver, and its answers are proposals:
thresholds for the dual bound and an attack, which are checked elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tightlip.envelopes.attack import Shares
from tightlip.envelopes.limits import LIMITS, OUT_OF_TIME, OUT_OF_WORK, Effort, Limits
from tightlip.envelopes.pairs import Pairs, Places
from tightlip.errors import SolverFailure
from tightlip.numeric.parse import FloatArray

# surely more, whatever the roundings
ABOVE = 1 + 1e-11
# below it HiGHS drops a coefficient; beside a jump of V one may be as small
_SMALLEST_COEFFICIENT = 1e-12
# feasibility tolerances of HiGHS: the finest it takes, and what a model that fails with it is solved with at last
_TOLERANCE, _COARSE_TOLERANCE = 1e-10, 1e-7
# HiGHS's codes
_BY_COLUMN, _MAXIMIZE, _PRIMAL = 1, -1, 4


class EffortEnded(SolverFailure):
    """The solver was stopped by a limit on its pivots or its time."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """V(t) of the restricted master, the dual λ of each secret's row, and w of each column (`places` among the pairs).

    `slope` is dV/dt = −Σ_x λ_x Σ_y w_xy q_y, where the optimum is the only one.
    """

    value: float
    slope: float
    multipliers: FloatArray
    places: Places
    weights: FloatArray


class _Columns:
    """Hold the coefficients of some columns: what does not change with t."""

    def __init__(self, pairs: Pairs, places: Places, scale: float, infinite: float) -> None:
        size = len(places)
        self.secret, self.weight = pairs.secret[places], pairs.weight[places]
        self.cost, self._chance = self.weight * scale, pairs.chance[places] * scale
        self.least, self._infinite = np.zeros(size), infinite
        self.starts, self.kind = np.arange(0, 2 * size, 2, dtype=np.int32), np.zeros(size, dtype=np.int32)
        self.rows = np.empty(2 * size, dtype=np.int32)
        self.rows[0::2], self.rows[1::2] = pairs.outcome[places], pairs.outcomes + self.secret

    def most(self, peaks: FloatArray, ratio: float) -> FloatArray:
        """Bound w above: by 0 for a secret that never reaches t, since a solver may take a little below 0 for 0.

        Beside a jump that would be enough to let the secret in.
        """
        return np.where(peaks[self.secret] < ratio, 0.0, self._infinite)

    def values(self, ratio: float) -> FloatArray:
        """Fill in t: 1 and (K/t − q)·scale of each column; K − tq may be too large for a solver."""
        values = np.ones(len(self.rows))
        values[1::2] = (self._chance - ratio * self.cost) / ratio
        return values


class RestrictedMaster:
    """Own the model in HiGHS: max Σ q_y w_xy over the columns chosen so far, at one ratio."""

    def __init__(self, pairs: Pairs, ratio: float, limits: Limits = LIMITS) -> None:
        import highspy

        self.pairs = pairs
        self.ratio = math.nan
        self.chosen: Places = np.array([], dtype=np.intp)
        self._limits = limits
        self._priced = False
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
        # counts changes of the model, with which the factors of a basis are lost
        self.version = 0
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 1)
        solver.setOptionValue("small_matrix_value", _SMALLEST_COEFFICIENT)
        # more columns keep the old optimum primal feasible
        solver.setOptionValue("simplex_strategy", _PRIMAL)
        self._solver: Any = solver
        self._set("off", _TOLERANCE, scale=0)
        self._statuses = highspy.HighsStatus
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._limited = {
            highspy.HighsModelStatus.kTimeLimit: OUT_OF_TIME,
            highspy.HighsModelStatus.kIterationLimit: OUT_OF_WORK,
        }
        self.move(ratio)

    def add(self, places: Places) -> int:
        """Add columns, each given once; returns how many are new."""
        fresh = self.absent(places)
        if not len(fresh):
            return 0
        size, more = len(fresh), self._columns_of(fresh)
        most, values = more.most(self.peaks, self.ratio), more.values(self.ratio)
        self.version += 1
        self._require(
            self._solver.addCols(size, more.cost, more.least, most, 2 * size, more.starts, more.rows, values)
        )
        self._has[fresh] = True
        self.chosen = np.concatenate([self.chosen, fresh])
        self._columns = self._columns_of(self.chosen)
        return size

    def add_first(self) -> None:
        """Add columns to begin with, if there are none yet."""
        if not len(self.chosen):
            self.add(_largest_lifts(self.pairs, self._limits.first_columns))

    def _columns_of(self, places: Places) -> _Columns:
        return _Columns(self.pairs, places, self._scale, self._infinite)

    @property
    def has_many_columns(self) -> bool:
        """Whether some should be dropped between two δ."""
        return len(self.chosen) > self._limits.columns_per_row * (self.pairs.outcomes + self.pairs.secrets)

    @property
    def is_crowded(self) -> bool:
        """Whether there are so many columns that the next solve is slow."""
        rows = self.pairs.outcomes + self.pairs.secrets
        return len(self.chosen) > self._limits.crowded_columns_per_row * rows

    def drop(self, found: Optimum, thresholds: FloatArray) -> None:
        """Drop columns of very negative reduced cost, if it is crowded of less, but for those the optimum uses."""
        limits = self._limits
        far = limits.crowded_dropped_below if self.is_crowded else limits.dropped_below
        values = self.column_values(thresholds, self.ratio)
        prices = self.outcome_prices(values)
        kept = values[self.chosen] > prices[self.pairs.outcome[self.chosen]] - far
        kept[found.weights > 0] = True
        gone = np.flatnonzero(~kept).astype(np.int32)
        self.version += 1
        self._require(self._solver.deleteCols(len(gone), gone))
        self._has[self.chosen[gone]] = False
        self.chosen = self.chosen[kept]
        self._columns = self._columns_of(self.chosen)

    def absent(self, places: Places) -> Places:
        """List those of some pairs that are no columns yet."""
        return places[~self._has[places]]

    def move(self, ratio: float) -> None:
        """Change t; the last basis is kept as a warm start of the next solve."""
        if ratio == self.ratio:
            return
        basis, columns, size = self._solver.getBasis(), self._columns, len(self.chosen)
        self.version += 1
        # until the solver has taken it
        self.ratio = math.nan
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
            # refused, it is only a worse start
            self._solver.setBasis(basis)

    def _require(self, status: Any, ratio: float | None = None) -> None:
        """Raise unless the solver took a change; it may warn of coefficients so small that it leaves them out."""
        if status == self._statuses.kError:
            raise SolverFailure(
                f"linear program at ratio {self.ratio if ratio is None else ratio!r} must be taken by the solver, "
                f"got status {status}; allow a larger gap or give exact numbers."
            )

    def solve(self, effort: Effort | None = None) -> Optimum:
        """Solve at the present ratio, warm started.

        Raises
        ------
        EffortEnded
            Where the effort does not allow an optimum.
        SolverFailure
            With status and residuals, for anything else but an optimum.
        """
        allowed = Effort(self._limits) if effort is None else effort
        self.version += 1
        status = self._run(allowed)
        if status != self._optimal:
            status = self._solve_cold(allowed)
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

    def _run(self, effort: Effort) -> Any:
        """Run the solver as far as the effort allows; its status."""
        solver, rows = self._solver, len(self._row_ends[0])
        solver.setOptionValue("simplex_iteration_limit", effort.pivots(rows))
        # the clock of HiGHS goes on from run to run
        solver.setOptionValue("time_limit", solver.getRunTime() + effort.seconds)
        solver.run()
        effort.spend(solver.getInfo().simplex_iteration_count, rows)
        status = solver.getModelStatus()
        if status in self._limited:
            raise EffortEnded(self._limited[status])
        return status

    def _solve_cold(self, effort: Effort) -> Any:
        """Solve without the old basis, which may be a bad start, and with scaling; at last less exactly."""
        status = None
        for presolve, tolerance in (("off", _TOLERANCE), ("on", _TOLERANCE), ("on", _COARSE_TOLERANCE)):
            if status != self._optimal:
                self._solver.clearSolver()
                self._set(presolve, tolerance, scale=1)
                status = self._run(effort)
        self._set("off", _TOLERANCE, scale=0)
        return status

    def _set(self, presolve: str, tolerance: float, *, scale: int) -> None:
        self._solver.setOptionValue("presolve", presolve)
        self._solver.setOptionValue("simplex_scale_strategy", scale)
        for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            self._solver.setOptionValue(name, tolerance)

    def basis(self) -> Basis | None:
        """Read the optimal basis just found; None where HiGHS has no factors of it."""
        status, basic = self._solver.getBasicVariables()
        return Basis(self, self._solver, basic, self._scale) if status == self._statuses.kOk else None

    def thresholds(self, multipliers: FloatArray, ratio: float) -> FloatArray:
        """Write λ as thresholds θ_x = t − 1/λ_x, at most surely above the largest lift of x: more proves no more.

        It is there for secrets that never reach t, beside a jump half way to t.
        """
        with np.errstate(divide="ignore"):
            found = np.minimum(ratio - 1 / np.maximum(multipliers, 0.0), ratio * (1 - 1e-12))
        found = np.maximum(found, self.pairs.least_threshold(ratio))
        never = self.peaks + (ratio - self.peaks) / 2
        return np.minimum(np.where(self.peaks < ratio, never, found), self._above_peaks)

    def column_values(self, thresholds: FloatArray, ratio: float) -> FloatArray:
        """Value every pair at these duals, of q: (K/q − θ)/(t − θ).

        Its reduced cost is what that is above its outcome's price.
        """
        factor = 1 / (ratio - thresholds)
        return self.pairs.score(factor, -factor * thresholds)

    def outcome_prices(self, values: FloatArray) -> FloatArray:
        """Compute the dual price of each outcome's row, of q: the largest value of its columns, or 0."""
        found = np.zeros(self.pairs.outcomes)
        np.maximum.at(found, self.pairs.outcome[self.chosen], values[self.chosen])
        return found

    def price(self, thresholds: FloatArray, ratio: float) -> Places:
        """Price columns by reduced cost: the pairs that would improve the optimum most, a few for each outcome.

        Where there are any, others that nearly would are returned with them.
        """
        pairs, limits = self.pairs, self._limits
        values = self.column_values(thresholds, ratio)
        prices = self.outcome_prices(values) + 1e-12
        if (pairs.best(values) <= prices).all():
            return np.array([], dtype=np.intp)
        most = limits.added_columns if self._priced else limits.first_added_columns
        self._priced = True
        places = self.absent(np.flatnonzero(values > (prices - limits.added_within)[pairs.outcome]))
        outcome = pairs.outcome[places]
        turn = (pairs.secret[places] - most * outcome) % pairs.secrets
        order = np.lexsort((limits.tie * turn - values[places], outcome))
        return np.asarray(places[order[_ranks(outcome) < most]])

    def attack(self, found: Optimum) -> Shares:
        """Read the optimum as an attack."""
        return Shares.clean(self.pairs, found.places, found.weights)


class Basis:
    """Solve with the factors of an optimal basis, which HiGHS holds until the model changes.

    On the basis the matrix is B + h·B′ at ratio t + h, so its solutions are power series with B w_k = −B′ w_{k−1}.
    """

    def __init__(self, master: RestrictedMaster, solver: Any, basic: Places, scale: float) -> None:
        pairs = master.pairs
        self._master, self._version, self._solver = master, master.version, solver
        self._rows = np.flatnonzero(basic >= 0)
        self._sizes = pairs.outcomes, pairs.secrets
        self.columns = basic[self._rows]
        self.places: Places = master.chosen[self.columns]
        self.weight = pairs.weight[self.places]
        self._scaled = self.weight * (scale / master.ratio)
        self._secret = pairs.secret[self.places]

    @property
    def is_current(self) -> bool:
        """Whether the model is still the one that the factors are of."""
        return self._version == self._master.version

    def extend_weights(self, known: FloatArray, terms: int) -> FloatArray:
        """Continue w_0, w_1, … of the basic columns to so many terms, one in each row."""
        outcomes, secrets = self._sizes
        found, right = _longer(known, terms), np.zeros(outcomes + secrets)
        for term in range(len(known), terms):
            right[outcomes:] = np.bincount(self._secret, self._scaled * found[term - 1], secrets)
            found[term] = np.asarray(self._solver.getBasisSolve(right)[1])[self._rows]
        return found

    def extend_multipliers(self, known: FloatArray, terms: int) -> FloatArray:
        """Do the same for the secrets' duals, by the transposed basis."""
        outcomes, secrets = self._sizes
        found, right = _longer(known, terms), np.zeros(outcomes + secrets)
        for term in range(len(known), terms):
            right[self._rows] = self._scaled * found[term - 1][self._secret]
            found[term] = np.asarray(self._solver.getBasisTransposeSolve(right)[1])[outcomes:]
        return found


def _longer(known: FloatArray, rows: int) -> FloatArray:
    """Append rows to be filled in."""
    return np.concatenate([known, np.empty((rows - len(known), known.shape[1]))])


def _largest_lifts(pairs: Pairs, each: int) -> Places:
    """Find the `each` pairs of largest lift of every outcome and of every secret."""
    if pairs.complete:
        table = pairs.lift.reshape(pairs.outcomes, pairs.secrets)
        most = [min(each, size) for size in table.shape]
        secret = np.argpartition(-table, most[1] - 1, axis=1)[:, : most[1]]
        outcome = np.argpartition(-table, most[0] - 1, axis=0)[: most[0]]
        by_outcome = np.arange(pairs.outcomes)[:, None] * pairs.secrets + secret
        by_secret = outcome * pairs.secrets + np.arange(pairs.secrets)
        return np.unique(np.concatenate([by_outcome.ravel(), by_secret.ravel()]))
    found = []
    for owner in (pairs.outcome, pairs.secret):
        order = np.lexsort((-pairs.lift, owner))
        found.append(order[_ranks(owner[order]) < each])
    return np.unique(np.concatenate(found))


def _ranks(owner: Places) -> Places:
    """Rank each entry among those of its owner, from 0; equal owners stand together."""
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    return np.arange(len(owner)) - np.repeat(first, np.diff(np.append(first, len(owner))))
