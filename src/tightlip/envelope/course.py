"""Where to solve next, from what the solves so far have told about V.

Every solve tells V(t) and its slope, so the next ratio is where t as a function of log V meets log δ, to the second
order. V can jump, but only where a secret's largest lift is passed: when few such places are left in the bracket, or on
the way to the next ratio, they are looked at one by one, and when steps gain little one of them or else the middle of
the bracket is tried.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tightlip.envelope.bracket import Aim, Bracket
from tightlip.numeric.parse import FloatArray

FLAT = 1e-9  # so near 1 a value says nothing about the slope
_PATIENCE = 2  # solves that may gain little in a row
_FEW, _SEVERAL = (
    2,
    8,
)  # possible jumps, when those in a bracket, and those on the way, are looked at one by one
_WIDE, _NEAR = 1.03, 1.01
_BESIDE = 0.05  # of a line between two solves, its ends
_CLEAR = 1e-7  # so far above a jump a solver is not misled by it


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

    def __init__(self, aim: Aim, jumps: FloatArray, path: list[Point]) -> None:
        self.stuck = 0
        self.path = path
        self._delta = aim.delta
        self._step = aim.gap / 3
        self._places = np.sort(jumps)
        self._jumps = np.sort(np.concatenate([self._before(jumps), self._after(jumps)]))
        self._sides: tuple[Point | None, Point | None] = None, None
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
        if not added and 0 < point.value < 1 - FLAT and point.slope < 0:
            self.path = [*(last for last in self.path[-1:] if self._smooth(last.ratio, point.ratio)), point]
        above, below = self._sides
        if point.value >= self._delta:
            self._sides = point, below
        elif not added and point.value > 0:
            self._sides = above, point

    def _before(self, jumps: FloatArray) -> FloatArray:
        return jumps * (1 - self._step / 2)

    def _after(self, jumps: FloatArray) -> FloatArray:
        return jumps * (1 + 1.5 * self._step)  # a solver sees no closer above

    def smooth_around(self, ratio: float) -> tuple[float, float]:
        """The nearest ratios, below and above, beside one of V's possible jumps."""
        above = int(np.searchsorted(self._places, ratio))
        below = self._after(self._places[max(above - 1, 0) : above])
        beyond = self._before(self._places[above : above + 1])
        return min(float(below.max(initial=1.0)), ratio), max(float(beyond.min(initial=math.inf)), ratio)

    def after_a_jump(self, ratio: float) -> float | None:
        """Just after the possible jump of V that the ratio is just above; None if there is none."""
        first, last = np.searchsorted(self._places, [ratio * (1 - 2 * self._step), ratio])
        return float(self._after(self._places[last - 1])) if first < last else None

    def before_a_jump(self, ratio: float) -> float | None:
        """Just before the same."""
        first, last = np.searchsorted(self._places, [ratio * (1 - 2 * self._step), ratio])
        return float(self._before(self._places[first])) if first < last else None

    def _smooth(self, one: float, other: float) -> bool:
        """Whether V cannot jump between the ratios."""
        first, last = np.searchsorted(self._places, [one, other])
        return bool(first == last)

    def aims_into(self, bracket: Bracket) -> bool:
        """Whether V is expected to meet δ in the bracket."""
        return bracket.low * (1 + 2 * self._step) < self._crossing() < bracket.high

    def next_ratio(self, bracket: Bracket) -> float:
        """A ratio inside the bracket, a little below where V is expected to meet δ."""
        low, high = bracket.low, bracket.high
        if self.stuck:  # the optimum there says no more: go to the attack's side of the upper end
            return high * (1 - self._step * (0.5 if self.stuck == 1 else 1.4))
        if self._again is not None:
            return self._again
        across = self._across(low, high)
        if across is not None:
            return across
        untold = not self.path and high > low * _WIDE
        if untold or self._slow >= _PATIENCE:
            self._slow = 0
            return self._middle(low, high)
        guess = self._crossing() if self.aims_into(bracket) else self._secant(low, high)
        return self._beyond_a_jump(low, guess) or max(guess * (1 - self._step), low * (1 + self._step / 4))

    def _beyond_a_jump(self, low: float, guess: float) -> float | None:
        """Clear of the first of few possible jumps on the way to the guess, which was made without them."""
        if not self.path:
            return None
        first, last = np.searchsorted(self._places, [max(low, self.path[-1].ratio), guess])
        if not 0 < last - first <= _SEVERAL:
            return None
        clear = self._clear_of(float(self._places[first]), guess)
        return clear if low * (1 + self._step / 4) < clear < guess else None

    def _clear_of(self, jump: float, highest: float) -> float:
        """Above a possible jump: just above only where that has been tried."""
        clear = jump * (1 + max(_CLEAR, 1.5 * self._step))
        return clear if clear < highest and clear != self._last else jump * (1 + 1.5 * self._step)

    def _across(self, low: float, high: float) -> float | None:
        """The other side of a possible jump that an end of the bracket stands beside."""
        first, last = np.searchsorted(self._places, [low, high])
        if 0 < last - first <= _FEW:
            before, after = self._before(self._places[first:last]), self._after(self._places[first:last])
            if after[-1] >= high * (1 - self._step / 8) and before[-1] > low * (1 + self._step / 4):
                return float(before[-1])
            if before[0] <= low * (1 + self._step / 8) and after[0] < high * (1 - self._step / 4):
                return self._clear_of(float(self._places[first]), high)
        return None

    def _secant(self, low: float, high: float) -> float:
        """Where log V meets log δ between the nearest solves on both sides, V's jumps evened out.

        Else a Newton step: thresholds prove an upper end where their line meets δ.
        """
        above, below = self._sides
        if above is None or below is None:
            return high
        share = math.log(above.value / self._delta) / math.log(above.value / below.value)
        if not _BESIDE < share < 1 - _BESIDE:  # V may be flat there: such a line tells nothing
            return high
        return min(max(above.ratio + share * (below.ratio - above.ratio), low), high)

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
            if abs(back) > FLAT and abs(way) < 2 * abs(back):
                bend = (here.stretch - self.path[0].stretch) / back
        return here.ratio + way * (here.stretch + way * bend / 2)
