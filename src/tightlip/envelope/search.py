"""Closing in on e^{ε_c(δ)}: dual thresholds push the upper end down, attacks the lower end up.

Every solve tells V(t) and its slope, so the next ratio is where t as a function of log V meets log δ, to the second
order. V can jump, but only where a secret's largest lift is passed: when that gains little, such a place or else the
middle of the bracket is tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tightlip.envelope.attack import repaired, worth
from tightlip.envelope.dual import proved_ratio
from tightlip.envelope.pairs import Pairs
from tightlip.envelope.program import RestrictedProgram, leading
from tightlip.numeric.parse import FloatArray

Enough = Callable[[FloatArray, float], bool]

_MOST_SOLVES = 120
_START_EACH = 4
_ADD_EACH = 3
_PATIENCE = 2  # solves that may gain little in a row
_FLAT = 1e-9  # so near 1 a value says nothing about the slope
_WIDE, _NEAR = 1.03, 1.01
_CLOSE = 1 - 1e-11


@dataclass(frozen=True, slots=True)
class Bracket:
    """low ≤ e^{ε_c(δ)} ≤ high, with the attack and the thresholds that prove it (None: not by these)."""

    low: float
    high: float
    weights: FloatArray | None
    thresholds: FloatArray | None
    solves: int = 0


def search(
    pairs: Pairs, delta: float, bracket: Bracket, gap: float, enough: Enough, program: RestrictedProgram
) -> Bracket:
    """Narrow a bracket until its ends are within a relative gap, or nothing more can be gained.

    `enough` decides whether an attack, by its weights and their mass, surely has probability δ; `program` may have
    been used before, for another δ.
    """
    if program.last is None:
        bracket = with_thresholds(pairs, delta, bracket, _common_threshold(pairs, delta))
    else:
        bracket = with_thresholds(pairs, delta, bracket, program.last)
    if program.attack is not None:
        bracket = with_attack(pairs, enough, bracket, program.attack, 0.0)
    if not len(program.chosen):
        program.add(leading(pairs, pairs.lift, _START_EACH))
    course = Course(delta, gap, program.peaks, program.path)
    while bracket.high > bracket.low * (1 + gap) and bracket.solves < _MOST_SOLVES and course.stuck < 4:
        ratio = course.next_ratio(bracket)
        program.move(ratio)
        found = program.solve()
        thresholds = program.last = program.thresholds(found.multipliers)
        before = bracket
        bracket = replace(bracket, solves=bracket.solves + 1)
        bracket = with_thresholds(pairs, delta, bracket, thresholds)
        if found.value > delta * (1 - _FLAT):
            bracket = with_attack(pairs, enough, bracket, program.weights(found.weights), ratio)
        point = Point(ratio, found.value, program.slope(found))
        course.learn(point, price(program, found.prices, thresholds), before, bracket)
    program.attack = bracket.weights
    program.path = course.path
    return bracket


@dataclass(frozen=True, slots=True)
class Point:
    """V and its slope at one ratio."""

    ratio: float
    value: float
    slope: float

    @property
    def stretch(self) -> float:
        """The slope of t as a function of log V."""
        return self.value / self.slope


class Course:
    """Where to solve next, from what the solves so far have told about V."""

    def __init__(self, delta: float, gap: float, jumps: FloatArray, path: list[Point]) -> None:
        self.stuck = 0
        self.path = path
        self._delta = delta
        self._step = gap / 3
        beside = jumps * (1 - self._step / 2), jumps * (1 + 1.5 * self._step)  # a solver sees no closer above
        self._jumps = np.sort(np.concatenate(beside))
        self._slow = 0
        self._last = self._stride = math.inf
        self._again: float | None = None

    def learn(self, point: Point, added: int, before: Bracket, after: Bracket) -> None:
        """Note a solve; the value counts once no pair is left that would improve it."""
        narrowed = (before.low, before.high) != (after.low, after.high)
        self.stuck = 0 if narrowed or added else self.stuck + 1
        halved = after.high / after.low - 1 <= 0.5 * (before.high / before.low - 1)
        previous, self._stride, self._last = self._stride, abs(point.ratio - self._last), point.ratio
        self._slow = 0 if halved or added or self._stride < previous / 4 else self._slow + 1
        self._again = (
            point.ratio if added and after.low * (1 + self._step) < point.ratio < after.high else None
        )
        if not added and 0 < point.value < 1 - _FLAT and point.slope < 0:
            self.path = [*self.path[-1:], point]

    def next_ratio(self, bracket: Bracket) -> float:
        """A ratio inside the bracket, a little below where V is expected to meet δ."""
        low, high = bracket.low, bracket.high
        if self.stuck:  # the optimum there says no more: go to the attack's side of the upper end
            return high * (1 - self._step * (0.5 if self.stuck == 1 else 1.4))
        if self._again is not None:
            return self._again
        untold = not self.path and high > low * _WIDE
        if untold or self._slow >= _PATIENCE:
            self._slow = 0
            return self._middle(low, high)
        guess = self._crossing()
        if not low * (1 + 2 * self._step) < guess < high:
            guess = high  # a Newton step: thresholds prove an upper end where their line meets δ
        return max(guess * (1 - self._step), low * (1 + self._step / 4))

    def _middle(self, low: float, high: float) -> float:
        """Beside the middle one of V's possible jumps, or the middle itself."""
        first, last = np.searchsorted(self._jumps, [low, high])
        if first == last or high > low * _NEAR:
            return math.sqrt(low * high)
        place = (first + last) // 2
        chosen = float(self._jumps[place])
        self._jumps = np.delete(self._jumps, place)  # once is enough
        return chosen

    def _crossing(self) -> float:
        if not self.path:
            return math.inf
        here = self.path[-1]
        way = math.log(self._delta / here.value)
        bend = 0.0
        if len(self.path) == 2:
            back = math.log(here.value / self.path[0].value)
            if abs(back) > _FLAT and abs(way) < 2 * abs(back):
                bend = (here.stretch - self.path[0].stretch) / back
        return here.ratio + way * (here.stretch + way * bend / 2)


def _common_threshold(pairs: Pairs, delta: float) -> FloatArray:
    """One threshold for all secrets: the largest lift that the worst outcomes of probability δ all have."""
    peaks = pairs.best(pairs.lift)
    order = np.argsort(-peaks)
    last = np.searchsorted(np.cumsum(pairs.marginal[order]), delta)
    return np.full(pairs.secrets, peaks[order[min(int(last), len(order) - 1)]])


def with_thresholds(pairs: Pairs, delta: float, bracket: Bracket, thresholds: FloatArray) -> Bracket:
    """Lower the upper end to what the thresholds prove, if that is less."""
    proved = proved_ratio(pairs, thresholds, delta, bracket.low, bracket.high)
    if proved < bracket.high:
        return replace(bracket, high=proved, thresholds=thresholds)
    return bracket


def with_attack(pairs: Pairs, enough: Enough, bracket: Bracket, weights: FloatArray, ratio: float) -> Bracket:
    """Try the attack as it is, and if that misses the ratio mended to reach it."""
    for attempt in (weights, None):
        tried = repaired(pairs, weights, ratio) if attempt is None else attempt
        reached, mass = worth(pairs, tried)
        if reached > bracket.low and enough(tried, mass):
            bracket = replace(bracket, low=min(reached, bracket.high), weights=tried)
        if reached >= ratio * _CLOSE:
            break
    return bracket


def price(program: RestrictedProgram, prices: FloatArray, thresholds: FloatArray) -> int:
    """Let in the pairs that would improve the program most, a few for each outcome; how many were new."""
    worth_of = program.worth(prices, thresholds)
    wanted = worth_of > 1e-12 * program.pairs.weight
    if not wanted.any():
        return 0
    places = np.flatnonzero(wanted)
    order = np.lexsort((-worth_of[places], program.pairs.outcome[places]))
    places = places[order]
    first = np.flatnonzero(np.diff(program.pairs.outcome[places], prepend=-1))
    rank = np.arange(len(places)) - np.repeat(first, np.diff(np.append(first, len(places))))
    return program.add(places[rank < _ADD_EACH])
