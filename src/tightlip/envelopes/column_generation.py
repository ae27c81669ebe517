"""Search for one δ after another by column generation: the one owner of everything that a search changes.

Each round moves the restricted master problem to a ratio, solves it from the last basis, narrows the bracket by what
the optimum proves, and adds the columns of positive reduced cost. The ratio is proposed by the root finder; while a
basis lasts, the predictor moves its optimum to where it meets δ, which ends the search without another solve. What was
found for one δ is the start for the next.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from tightlip.envelopes.attack import Shares, complete
from tightlip.envelopes.bracketing import Bracket, Goal, Predictor, RootFinder, Sample
from tightlip.envelopes.dual import rounding
from tightlip.envelopes.limits import LIMITS, Limits
from tightlip.envelopes.lp import EffortEnded, Optimum, RestrictedMaster
from tightlip.envelopes.pairs import Pairs, Places
from tightlip.errors import SolverFailure
from tightlip.numeric.parse import FloatArray

# δ times the gap below which roundings of outcomes of no value are not small beside δ
_ROUNDINGS = 1e-13


class _Solved(NamedTuple):
    optimum: Optimum
    ratio: float
    goal: Goal


class _Refused(NamedTuple):
    """Thresholds that did not prove a ratio: columns may be missing that would be of use there."""

    thresholds: FloatArray
    ratio: float


class ColumnGeneration:
    """Narrow brackets over one restricted master problem; each δ begins with what the last one found."""

    def __init__(
        self,
        pairs: Pairs,
        limits: Limits = LIMITS,
        *,
        thresholds: FloatArray | None = None,
        samples: list[Sample] | None = None,
    ) -> None:
        self.pairs = pairs
        self._limits = limits
        self._master = RestrictedMaster(pairs, 1.0, limits)
        self._breakpoints = sorted(self._master.peaks.tolist())
        # from a search over other pairs of the same secrets
        self._given_thresholds = thresholds
        self._samples: list[Sample] = samples or []
        self._solved: _Solved | None = None
        self._predictor: Predictor | None = None
        # the last δ and its bracket
        self._last: tuple[float, Bracket] | None = None

    def restart_on(self, pairs: Pairs) -> ColumnGeneration:
        """Begin a search over other pairs of the same secrets, with the thresholds and samples of this one."""
        return ColumnGeneration(pairs, self._limits, thresholds=self.thresholds, samples=self._samples)

    @property
    def peaks(self) -> FloatArray:
        """The largest lift of each secret."""
        return self._master.peaks

    @property
    def columns(self) -> int:
        """How many columns the restricted master has."""
        return len(self._master.chosen)

    @property
    def thresholds(self) -> FloatArray | None:
        """The duals of the last solve, as thresholds."""
        if self._solved is None:
            return self._given_thresholds
        return self._thresholds_at(self._solved.optimum.multipliers, self._solved.ratio, self._solved.goal)

    @property
    def used(self) -> bool:
        """Whether it has searched before."""
        return self._last is not None

    def attack_for(self, delta: float) -> Bracket | None:
        """Recall the last bracket, if its attack has probability δ because it was found for a larger one.

        Another δ of the same float may be the larger one.
        """
        return self._last[1] if self._last is not None and delta < self._last[0] else None

    def proof_for(self, delta: float) -> Bracket | None:
        """Recall the last bracket, if its thresholds prove its upper end at δ: it was found for a smaller one."""
        if self._last is None or self._last[0] >= delta or self._last[1].thresholds is None:
            return None
        return self._last[1]

    def narrow(self, goal: Goal, bracket: Bracket) -> Bracket:
        """Narrow a bracket until its ends are within the gap, or nothing more can be gained."""
        roots = RootFinder(goal, self._breakpoints, self._samples)
        bracket = self._start(goal, roots, bracket)
        self._master.add_first()
        most = self._limits.later_solves if self.used else self._limits.first_solves
        while not bracket.within(goal.gap) and bracket.solves < most and roots.stalls < self._limits.stalls:
            # what is proved remains so, whatever ends the search
            if goal.effort.ended_by:
                bracket = bracket._replace(stopped=goal.effort.ended_by)
                break
            try:
                bracket = self._round(goal, roots, bracket._replace(solves=bracket.solves + 1))
            except EffortEnded as ended:
                bracket = bracket._replace(stopped=str(ended))
                break
            except SolverFailure as failure:
                if not bracket.solves:
                    raise
                bracket = bracket._replace(stopped=f"the solver stopped: {failure}")
                break
        self._last, self._samples = (goal.delta, bracket), roots.samples
        return bracket

    def _start(self, goal: Goal, roots: RootFinder, bracket: Bracket) -> Bracket:
        """Narrow by what is known from another δ, or by one threshold for all secrets."""
        pairs = self.pairs
        if self._last is None:
            known = self.thresholds
            common = common_threshold(pairs, goal.delta) if known is None else known
            return bracket.tighten_above(pairs, goal.delta, common)
        last = self._last[1]
        if last.attack is not None and last.low > bracket.low:
            bracket = bracket.tighten_below(pairs, goal, last.attack, 0.0)
        jump = roots.breakpoints.just_below(last.high)
        # both δ may be within one jump
        if jump is not None and roots.breakpoints.after(jump) < bracket.high:
            above = roots.breakpoints.after(jump)
            bracket = bracket.tighten_above_at(pairs, goal.delta, last.thresholds, above)
        if not bracket.within(goal.gap):
            bracket, refused = self._predict(goal, roots, bracket)
            if refused is not None:
                self._add_columns(refused.thresholds, refused.ratio)
        if not bracket.within(goal.gap) and not roots.expects_root_in(bracket):
            known = self.thresholds
            bracket = bracket if known is None else bracket.tighten_above(pairs, goal.delta, known)
        return bracket

    def _round(self, goal: Goal, roots: RootFinder, before: Bracket) -> Bracket:
        """Solve once, narrow the bracket by what that proves, and price columns."""
        master, ratio = self._master, roots.next_ratio(before)
        master.move(ratio)
        found = master.solve(goal.effort)
        self._solved, self._predictor = _Solved(found, ratio, goal), self._predictor_of(found)
        bracket, refused = self._predict(goal, roots, before)
        added = 0
        if not bracket.within(goal.gap):
            thresholds = self._thresholds_at(found.multipliers, ratio, goal)
            bracket = bracket.tighten_above(self.pairs, goal.delta, thresholds)
            if found.value > goal.delta * (1 - self._limits.flat):
                bracket = bracket.tighten_below(self.pairs, goal, master.attack(found), ratio)
            if master.is_crowded and before.solves < self._limits.dropping_solves:
                master.drop(found, thresholds)
            added = self._add_columns(thresholds, ratio)
            if not added and refused is not None and self.used:
                self._add_columns(refused.thresholds, refused.ratio)
        elif self.used and master.has_many_columns:
            master.drop(found, self._thresholds_at(found.multipliers, ratio, goal))
        roots.record(Sample(ratio, found.value, found.slope), added, before, bracket)
        return bracket

    def _predictor_of(self, found: Optimum) -> Predictor | None:
        if not self._limits.most_terms:
            return None
        basis = self._master.basis()
        if basis is None:
            return None
        weights = found.weights[basis.columns]
        return Predictor(self._master.ratio, basis, weights, found.multipliers, self._limits)

    def _predict(self, goal: Goal, roots: RootFinder, bracket: Bracket) -> tuple[Bracket, _Refused | None]:
        """Narrow to where the last optimum, moved with its basis, meets δ, or to the breakpoint before that.

        The predictor proposes thresholds for the upper end and an attack for the lower one; the bracket takes what is
        proved. Returned beside it are thresholds that are not.
        """
        predictor, pairs, refused = self._predictor, self.pairs, None
        if predictor is None or not predictor.basis.is_current:
            return bracket, None
        lowest, highest = roots.breakpoints.smooth_around(predictor.ratio)
        meeting = predictor.crossing(goal.delta, lowest, highest)
        if meeting is None or not bracket.low < meeting < bracket.high:
            return bracket, None
        low = meeting if meeting == highest else meeting * (1 - goal.gap / 8)
        weights = predictor.weights_at(low)
        if weights.min() < -self._limits.basis_negative:
            return bracket, None
        if meeting < highest:
            high = meeting if meeting == lowest else meeting * (1 + goal.gap / 8)
            thresholds = self._thresholds_at(predictor.multipliers_at(high), high, goal)
            before, bracket = bracket, bracket.tighten_above_at(pairs, goal.delta, thresholds, high)
            if bracket is before:
                refused = _Refused(thresholds, high)
        attack = Shares.clean(pairs, predictor.basis.places, weights)
        if meeting > lowest:
            return bracket.tighten_below(pairs, goal, attack, low), refused
        jump = roots.breakpoints.just_below(lowest)
        if jump is not None:
            below = roots.breakpoints.before(jump)
            attack = complete(pairs, attack, self._leads, below)
            bracket = bracket.tighten_below(pairs, goal, attack, below)
        return bracket, refused

    def _add_columns(self, thresholds: FloatArray, ratio: float) -> int:
        """Add the columns that would improve what the thresholds are of; returns how many are new."""
        return self._master.add(self._master.price(thresholds, ratio))

    @cached_property
    def _leads(self) -> Places:
        return self.pairs.leads

    def _thresholds_at(self, multipliers: FloatArray, ratio: float, goal: Goal) -> FloatArray:
        """Write duals as thresholds; for a small δ a little above the lifts they stand at.

        Such outcomes are worth nothing, but what their roundings may hide is not small beside δ.
        """
        found = self._master.thresholds(multipliers, ratio)
        if goal.delta * goal.gap > _ROUNDINGS:
            return found
        raised = np.minimum(found + 4 * rounding(self.pairs) * np.abs(found), ratio * (1 - 1e-12))
        return np.where(found < self._master.peaks, raised, found)


def common_threshold(pairs: Pairs, delta: float) -> FloatArray:
    """Choose one threshold for all secrets: the largest lift that the worst outcomes of probability δ all have.

    What it proves is the tail mean (known_bounds.py): G_θ(t) ≤ δ from t = θ + Σ_y (max_x K_xy − θ q_y)⁺ / δ on.
    """
    peaks = pairs.best(pairs.lift)
    order = np.argsort(-peaks)
    last = np.searchsorted(np.cumsum(pairs.marginal[order]), delta)
    return np.full(pairs.secrets, peaks[order[min(int(last), len(order) - 1)]])
