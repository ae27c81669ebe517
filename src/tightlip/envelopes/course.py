"""Where to solve next, from what the solves so far have told about V.

Every solve tells V(t) and its slope, so the next ratio is where t as a function of log V meets log δ, to the second
order. V can jump, but only where a secret's largest lift is passed: where few such places are left in the bracket, or
on the way to the next ratio, they are looked at one by one. Where steps gain little, or there are many such places and
nothing is known of V among them, the middle one of those not tried yet is, or else the middle of the bracket.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tightlip.envelopes.bracket import Aim, Bracket
from tightlip.envelopes.jumps import Jumps

FLAT = 1e-9  # so near 1 a value says nothing about the slope
_PATIENCE = 2  # solves that may gain little in a row
_FEW, _SEVERAL = 2, 8  # so many possible jumps, in a bracket and on the way, are looked at one by one
_WIDE, _NEAR = 1.03, 1.01
_BESIDE = 0.05  # of a line between two solves, its ends


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

    def __init__(self, aim: Aim, peaks: list[float], path: list[Point]) -> None:
        self.stuck = 0
        self.path = path
        self._delta = aim.delta
        self._step = aim.gap / 3
        self.jumps = Jumps(peaks, self._step)
        self._tried: set[float] = set()
        self._sides: tuple[Point | None, Point | None] = None, None
        self._slow = 0
        self._last = self._solved_at = self._stride = math.inf
        self._again: float | None = None

    def learn(self, point: Point, added: int, before: Bracket, after: Bracket) -> None:
        """Note a solve; the value counts once no pair is left that would improve it."""
        narrowed = (before.low, before.high) != (after.low, after.high)
        self.stuck = 0 if narrowed or added else self.stuck + 1
        halved = after.high / after.low - 1 <= 0.5 * (before.high / before.low - 1)
        if not added:
            previous, self._stride = self._stride, abs(point.ratio - self._solved_at)
            self._slow = 0 if halved or self._stride < previous / 4 else self._slow + 1
            self._solved_at = point.ratio
        self._last = point.ratio
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
        crowded = len(self.jumps.between(low, high)) > _SEVERAL
        untold = not self.path and (high > low * _WIDE or crowded)
        guess = self._crossing() if self.aims_into(bracket) else self._secant(low, high)
        if untold or self._slow >= _PATIENCE or (crowded and guess == high):
            self._slow = 0
            return self._middle(low, high)
        return self._beyond_a_jump(low, guess) or max(guess * (1 - self._step), low * (1 + self._step / 4))

    def _beyond_a_jump(self, low: float, guess: float) -> float | None:
        """Clear of the first of few possible jumps on the way to the guess, which was made without them."""
        if not self.path:
            return None
        passed = self.jumps.between(max(low, self.path[-1].ratio), guess)
        if not 0 < len(passed) <= _SEVERAL:
            return None
        clear = self._clear_of(passed[0], guess)
        return clear if low * (1 + self._step / 4) < clear < guess else None

    def _clear_of(self, jump: float, highest: float) -> float:
        """Above a possible jump: just above only where that has been tried."""
        clear = self.jumps.clear_of(jump)
        return clear if clear < highest and clear != self._last else self.jumps.after(jump)

    def _across(self, low: float, high: float) -> float | None:
        """The other side of a possible jump that an end of the bracket stands beside."""
        inside = self.jumps.between(low, high)
        if 0 < len(inside) <= _FEW:
            before, after = self.jumps.before(inside[-1]), self.jumps.after(inside[-1])
            if after >= high * (1 - self._step / 8) and before > low * (1 + self._step / 4):
                return before
            before, after = self.jumps.before(inside[0]), self.jumps.after(inside[0])
            if before <= low * (1 + self._step / 8) and after < high * (1 - self._step / 4):
                return self._clear_of(inside[0], high)
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
        if high > low * _NEAR:
            return math.sqrt(low * high)
        near = self.jumps.between(low * (1 - 2 * self._step), high * (1 + self._step))
        beside = sorted(side for jump in near for side in (self.jumps.before(jump), self.jumps.after(jump)))
        beside = [side for side in beside if low <= side < high and side not in self._tried]
        if not beside:
            return math.sqrt(low * high)
        self._tried.add(beside[len(beside) // 2])  # once is enough
        return beside[len(beside) // 2]

    def _smooth(self, one: float, other: float) -> bool:
        """Whether V cannot jump between two ratios."""
        return not self.jumps.between(min(one, other), max(one, other))

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
