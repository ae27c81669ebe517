"""Closing in on e^{ε_c(δ)}: dual thresholds push the upper end down, attacks the lower end up.

An optimum at one ratio is moved with its basis to where it meets δ (drift.py); as long as the basis lasts, that ends
the search. What was found for one δ is the start for the next.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tightlip.envelopes.attack import Shares, completed
from tightlip.envelopes.bracket import Aim, Bracket, with_attack, with_thresholds
from tightlip.envelopes.course import FLAT, Course, Point
from tightlip.envelopes.drift import Drift
from tightlip.envelopes.dual import dual_bound, rounding
from tightlip.envelopes.pairs import Pairs, Places
from tightlip.envelopes.program import Optimum, RestrictedProgram, leading
from tightlip.errors import SolverFailure
from tightlip.numeric.parse import FloatArray

_MOST_SOLVES, _MOST_AGAIN = 120, 15  # for the first δ, and for others
_MOST_FORGETFUL = 60  # solves after which pairs may be let go, since they may come again
_START_EACH = 4
_ADD_EACH, _NEARLY = 10, 0.3  # pairs at once for each outcome, and by how much of q they may miss its price
_TIE = 1e-12  # gains that differ by less, times the number of secrets, are equal: each outcome prefers other pairs
_ROUNDINGS = 1e-13
_NEGATIVE = 1e-9  # so far below 0 a weight tells that the basis has ended


class Search:
    """Searches over one program, for one δ after another; each begins with what the last one found."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        self._thresholds: FloatArray | None = None
        self._solved: tuple[Optimum, float, Aim] | None = None
        self._program = RestrictedProgram(pairs, 1.0)
        self._peaks = sorted(self._program.peaks.tolist())
        self._path: list[Point] = []
        self._drift: Drift | None = None
        self._unproved: tuple[FloatArray, float] | None = None  # thresholds, and what they failed to prove
        self._last: tuple[float, Bracket] | None = None  # δ and its bracket

    def resumed(self, pairs: Pairs) -> Search:
        """A search over other pairs of the same secrets, with what this one learned."""
        following = Search(pairs)
        following._thresholds, following._path = self.thresholds, self._path
        return following

    @property
    def thresholds(self) -> FloatArray | None:
        """Those of the last solve."""
        if self._solved is not None:
            found, ratio, aim = self._solved
            self._thresholds, self._solved = self._thresholds_at(found.reaches, ratio, aim), None
        return self._thresholds

    @property
    def used(self) -> bool:
        """Whether it has searched before."""
        return self._last is not None

    def attack_for(self, delta: float) -> Bracket | None:
        """The last bracket, if its attack has probability δ because it was found for a larger one.

        Another δ of the same float may be the larger one.
        """
        return self._last[1] if self._last is not None and delta < self._last[0] else None

    def proof_for(self, delta: float) -> Bracket | None:
        """The last bracket, if its thresholds prove its upper end at δ because it was found for a smaller one."""
        if self._last is None or self._last[0] >= delta or self._last[1].thresholds is None:
            return None
        return self._last[1]

    def narrow(self, aim: Aim, bracket: Bracket) -> Bracket:
        """Narrow a bracket until its ends are within the gap, or nothing more can be gained."""
        course = Course(aim, self._peaks, self._path)
        bracket = self._recalled(aim, course, bracket)
        if not len(self._program.chosen):
            self._program.add(leading(self.pairs, self.pairs.lift, _START_EACH))
        most = _MOST_AGAIN if self.used else _MOST_SOLVES
        while not bracket.within(aim.gap) and bracket.solves < most and course.stuck < 4:
            try:
                bracket = self._step(aim, course, bracket._replace(solves=bracket.solves + 1))
            except SolverFailure as failure:
                if not bracket.solves:
                    raise
                bracket = bracket._replace(stopped=str(failure))  # what is proved remains so
                break
        self._last, self._path = (aim.delta, bracket), course.path
        return bracket

    def _step(self, aim: Aim, course: Course, before: Bracket) -> Bracket:
        """One solve, and what it proves."""
        program, ratio = self._program, course.next_ratio(before)
        self._drift = None  # its factors are gone with the next model
        program.move(ratio)
        found = program.solve()
        point = Point(ratio, found.value, found.slope)
        self._solved = found, ratio, aim
        self._drift = program.drift(found)
        bracket, added = self._followed(aim, course, before), 0
        if not bracket.within(aim.gap):
            thresholds = self._thresholds_at(found.reaches, ratio, aim)
            bracket = with_thresholds(self.pairs, aim.delta, bracket, thresholds)
            if found.value > aim.delta * (1 - FLAT):
                bracket = with_attack(self.pairs, aim, bracket, program.attack(found), ratio)
            if program.thronged and before.solves < _MOST_FORGETFUL:
                program.forget(found, thresholds)
                self._drift = None
            added = self._admit(thresholds, ratio)
            if not added and self._unproved is not None and self.used:
                self._admit(*self._unproved)
        elif self.used and program.crowded:
            program.forget(found, self._thresholds_at(found.reaches, ratio, aim))
            self._drift = None
        course.learn(point, added, before, bracket)
        return bracket

    def _recalled(self, aim: Aim, course: Course, bracket: Bracket) -> Bracket:
        """What is known from another δ."""
        if self._last is None:
            known = (
                self.thresholds if self.thresholds is not None else _common_threshold(self.pairs, aim.delta)
            )
            return with_thresholds(self.pairs, aim.delta, bracket, known)
        last = self._last[1]
        if last.attack is not None and last.low > bracket.low:
            bracket = with_attack(self.pairs, aim, bracket, last.attack, 0.0)
        jump = course.jumps.just_below(last.high)
        if jump is not None and course.jumps.after(jump) < bracket.high:  # both δ may be within it
            bracket = self._with_upper_end(aim, bracket, last.thresholds, course.jumps.after(jump))
        if not bracket.within(aim.gap):
            bracket = self._followed(aim, course, bracket)
            if self._unproved is not None:
                self._admit(*self._unproved)
        if not bracket.within(aim.gap) and not course.aims_into(bracket) and self.thresholds is not None:
            bracket = with_thresholds(self.pairs, aim.delta, bracket, self.thresholds)
        return bracket

    def _followed(self, aim: Aim, course: Course, bracket: Bracket) -> Bracket:
        """Narrow to where the last optimum, moved with its basis, meets δ, or to the jump before that."""
        drift, self._unproved = self._drift, None
        if drift is None:
            return bracket
        lowest, highest = course.jumps.smooth_around(drift.ratio)
        meeting = drift.crossing(aim.delta, lowest, highest)
        if meeting is None or not bracket.low < meeting < bracket.high:
            return bracket
        low = meeting if meeting == highest else meeting * (1 - aim.gap / 8)
        weights = drift.weights_at(low)
        if weights.min() < -_NEGATIVE:
            return bracket
        if meeting < highest:
            high = meeting if meeting == lowest else meeting * (1 + aim.gap / 8)
            thresholds = self._thresholds_at(drift.reaches_at(high), high, aim)
            before, bracket = bracket, self._with_upper_end(aim, bracket, thresholds, high)
            if bracket is before:  # pairs may be missing that would be of use there
                self._unproved = thresholds, high
        attack = Shares.clean(self.pairs, drift.places, weights)
        if meeting > lowest:
            return with_attack(self.pairs, aim, bracket, attack, low)
        jump = course.jumps.just_below(lowest)
        if jump is not None:
            below = course.jumps.before(jump)
            attack = completed(self.pairs, attack, self._leads, below)
            bracket = with_attack(self.pairs, aim, bracket, attack, below)
        return bracket

    def _admit(self, thresholds: FloatArray, ratio: float) -> int:
        """Let pairs in that would improve what the thresholds are of; returns how many are new."""
        added = self._program.add(improving(self._program, thresholds, ratio))
        if added:
            self._drift = None  # of a program that is no more
        return added

    @cached_property
    def _leads(self) -> Places:
        return self.pairs.leads

    def _thresholds_at(self, reaches: FloatArray, ratio: float, aim: Aim) -> FloatArray:
        """For a small δ a little above the lifts they stand at.

        Such outcomes are worth nothing, but what their roundings may hide is not small beside δ.
        """
        found = self._program.thresholds(reaches, ratio)
        if aim.delta * aim.gap > _ROUNDINGS:
            return found
        raised = np.minimum(found + 4 * rounding(self.pairs) * np.abs(found), ratio * (1 - 1e-12))
        return np.where(found < self._program.peaks, raised, found)

    def _with_upper_end(
        self, aim: Aim, bracket: Bracket, thresholds: FloatArray | None, ratio: float
    ) -> Bracket:
        """The ratio as upper end, if the thresholds prove it."""
        if thresholds is None:
            return bracket
        if dual_bound(self.pairs, thresholds, ratio) <= aim.delta:
            return bracket._replace(high=ratio, thresholds=thresholds)
        return bracket


def _common_threshold(pairs: Pairs, delta: float) -> FloatArray:
    """One threshold for all secrets: the largest lift that the worst outcomes of probability δ all have."""
    peaks = pairs.best(pairs.lift)
    order = np.argsort(-peaks)
    last = np.searchsorted(np.cumsum(pairs.marginal[order]), delta)
    return np.full(pairs.secrets, peaks[order[min(int(last), len(order) - 1)]])


def improving(program: RestrictedProgram, thresholds: FloatArray, ratio: float) -> Places:
    """The pairs that would improve a program with these thresholds most, a few for each outcome.

    Where there are any, others that nearly would are let in with them.
    """
    pairs, gain = program.pairs, program.gain(thresholds, ratio)
    enough = program.prices(gain) + 1e-12
    if (pairs.best(gain) <= enough).all():
        return np.array([], dtype=np.intp)
    places = program.absent(np.flatnonzero(gain > (enough - _NEARLY)[pairs.outcome]))
    outcome = pairs.outcome[places]
    turn = (pairs.secret[places] - _ADD_EACH * outcome) % pairs.secrets
    order = np.lexsort((_TIE * turn - gain[places], outcome))
    first = np.flatnonzero(np.diff(outcome, prepend=-1))
    rank = np.arange(len(places)) - np.repeat(first, np.diff(np.append(first, len(places))))
    return np.asarray(places[order[rank < _ADD_EACH]])
