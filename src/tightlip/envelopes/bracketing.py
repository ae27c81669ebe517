"""Find the root of V(t) = δ: a bracket around e^{ε_c(δ)}, and where to look next.

A bracket is only ever narrowed by what is proved: dual thresholds push its upper end down, attacks its lower end up.
Where to solve next is a proposal, and two of the classes here make some:

- `RootFinder`, from values and slopes of V. V can jump at its breakpoints, where a secret's largest lift is passed.
- `Predictor`, from an optimal basis, by sensitivity analysis: an attack and thresholds where the optimum, moved with
  its basis, meets δ.

Either may propose; the bracket decides.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from tightlip.envelopes.attack import MassTest, Shares, add_rare, evaluate, extend, repair
from tightlip.envelopes.dual import dual_bound, proved_ratio
from tightlip.envelopes.limits import LIMITS, Effort, Limits
from tightlip.envelopes.pairs import Pairs, Places
from tightlip.numeric.parse import FloatArray


@dataclass(frozen=True, slots=True)
class Goal:
    """Ask for a bracket at one δ: the relative gap allowed, the test that an attack has probability δ, the effort."""

    delta: float
    gap: float
    mass: MassTest
    limits: Limits = LIMITS
    effort: Effort = field(default_factory=Effort)


class Bracket(NamedTuple):
    """low ≤ e^{ε_c(δ)} ≤ high, with the attack and the thresholds that prove it (None: not by these).

    `solves` counts linear programs; `stopped` is what ended the search, if the ends did not meet.
    """

    low: float
    high: float
    attack: Shares | None
    thresholds: FloatArray | None
    solves: int = 0
    stopped: str = ""

    def within(self, gap: float) -> bool:
        """Whether the ends are within a relative gap."""
        return self.high <= self.low * (1 + gap)

    def tighten_above(self, pairs: Pairs, delta: float, thresholds: FloatArray) -> Bracket:
        """Lower the upper end to the smallest ratio that the thresholds prove, if that is less."""
        proved = proved_ratio(pairs, thresholds, delta, self.low, self.high)
        return self._replace(high=proved, thresholds=thresholds) if proved < self.high else self

    def tighten_above_at(
        self, pairs: Pairs, delta: float, thresholds: FloatArray | None, ratio: float
    ) -> Bracket:
        """Lower the upper end to a ratio, if the thresholds prove that very one."""
        if thresholds is not None and dual_bound(pairs, thresholds, ratio) <= delta:
            return self._replace(high=ratio, thresholds=thresholds)
        return self

    def tighten_below(self, pairs: Pairs, goal: Goal, attack: Shares, ratio: float) -> Bracket:
        """Raise the lower end to what an attack reaches; one that misses the ratio is tried again repaired."""
        bracket, reached = self._try_attack(pairs, goal, attack)
        if not reached >= ratio * (1 - goal.limits.ratio_missed):
            bracket, _ = bracket._try_attack(pairs, goal, repair(pairs, attack, ratio))
        return bracket

    def _try_attack(self, pairs: Pairs, goal: Goal, attack: Shares) -> tuple[Bracket, float]:
        """Raise the lower end to what the attack reaches, if that is more; it takes more outcomes where it lacks mass.

        The rarest ones cost nothing; any others as much of the ratio as it lacks.
        """
        reached, mass = evaluate(pairs, attack)
        enough = reached > self.low and goal.mass.holds(pairs, attack, mass)
        if reached > self.low and not enough and mass > goal.delta * (1 - goal.limits.mass_missed):
            attack = add_rare(pairs, attack)
            reached, mass = evaluate(pairs, attack)
            enough = reached > self.low and goal.mass.holds(pairs, attack, mass)
        if not enough and mass < goal.delta and reached * mass > self.low * goal.delta:
            attack = extend(pairs, attack, goal.delta)
            reached, mass = evaluate(pairs, attack)
            enough = reached > self.low and goal.mass.holds(pairs, attack, mass)
        if enough:
            return self._replace(low=min(reached, self.high), attack=attack), reached
        return self, reached


@dataclass(frozen=True, slots=True)
class Breakpoints:
    """Hold the ratios at which V may jump, in rising order, and the relative step that counts as beside one.

    They are the secrets' largest lifts: beyond its own a secret takes part no more.
    """

    ratios: list[float]
    step: float
    clear: float = LIMITS.clear

    def between(self, low: float, high: float) -> list[float]:
        """List those from `low` on and below `high`."""
        return self.ratios[bisect_left(self.ratios, low) : bisect_left(self.ratios, high)]

    def before(self, jump: float) -> float:
        """Step just below a breakpoint."""
        return jump * (1 - self.step / 2)

    def after(self, jump: float) -> float:
        """Step just above a breakpoint; a solver sees no closer."""
        return jump * (1 + 1.5 * self.step)

    def clear_of(self, jump: float) -> float:
        """Step so far above a breakpoint that a solver surely sees it."""
        return jump * (1 + max(self.clear, 1.5 * self.step))

    def just_below(self, ratio: float) -> float | None:
        """Find the breakpoint that a ratio is just above."""
        found = self.between(ratio * (1 - 2 * self.step), ratio)
        return found[-1] if found else None

    def smooth_around(self, ratio: float) -> tuple[float, float]:
        """Find the nearest ratios, below and above, beside a breakpoint."""
        above = bisect_left(self.ratios, ratio)
        lowest = self.after(self.ratios[above - 1]) if above else 1.0
        highest = self.before(self.ratios[above]) if above < len(self.ratios) else math.inf
        return min(lowest, ratio), max(highest, ratio)


@dataclass(frozen=True, slots=True)
class Sample:
    """V and its slope at one ratio."""

    ratio: float
    value: float
    slope: float

    @property
    def stretch(self) -> float:
        """The slope of t as a function of log V."""
        return self.value / self.slope


class RootFinder:
    """Choose the ratio of the next solve, for one δ: a safeguarded secant method in log V.

    Every solve tells V(t) and its slope, so the next ratio is where t as a function of log V meets log δ, to the second
    order. Where few breakpoints are left in the bracket, or on the way to that ratio, they are looked at one by one.
    Where steps gain little, or there are many breakpoints and nothing is known of V among them, the bracket is
    bisected, at its middle breakpoint if it is narrow.
    """

    def __init__(self, goal: Goal, breakpoints: list[float], samples: list[Sample]) -> None:
        self._delta, self._limits = goal.delta, goal.limits
        self._step = goal.gap / 3
        self.breakpoints = Breakpoints(breakpoints, self._step, goal.limits.clear)
        # the last two samples without a breakpoint between them; those of the last δ at first
        self.samples = samples
        # solves in a row that gained nothing at all, and that gained little
        self.stalls, self._slow = 0, 0
        # the nearest samples on both sides of δ
        self._above: Sample | None = None
        self._below: Sample | None = None
        # where it was solved last, where no column was missing, and how far apart these were
        self._last = self._complete_at = self._stride = math.inf
        # a ratio to solve at again, with more columns
        self._again: float | None = None
        # ratios beside breakpoints at which the bracket was bisected: once is enough
        self._bisected: set[float] = set()

    def record(self, sample: Sample, added: int, before: Bracket, after: Bracket) -> None:
        """Note a solve, how many columns it added, and how far it narrowed the bracket.

        The value counts once no column is left that would improve it.
        """
        narrowed = (before.low, before.high) != (after.low, after.high)
        self.stalls = 0 if narrowed or added else self.stalls + 1
        self._last, self._again = sample.ratio, None
        if added and after.low * (1 + self._step) < sample.ratio < after.high:
            self._again = sample.ratio
        if not added:
            halved = after.high / after.low - 1 <= 0.5 * (before.high / before.low - 1)
            previous, self._stride = self._stride, abs(sample.ratio - self._complete_at)
            self._slow = 0 if halved or self._stride < previous / 4 else self._slow + 1
            self._complete_at = sample.ratio
            if 0 < sample.value < 1 - self._limits.flat and sample.slope < 0:
                last = [one for one in self.samples[-1:] if self._is_smooth(one.ratio, sample.ratio)]
                self.samples = [*last, sample]
        if sample.value >= self._delta:
            self._above = sample
        elif not added and sample.value > 0:
            self._below = sample

    def expects_root_in(self, bracket: Bracket) -> bool:
        """Whether V is expected to meet δ in the bracket."""
        return bracket.low * (1 + 2 * self._step) < self._extrapolate() < bracket.high

    def next_ratio(self, bracket: Bracket) -> float:
        """Choose a ratio inside the bracket, a little below where V is expected to meet δ."""
        low, high, limits = bracket.low, bracket.high, self._limits
        # the optimum there says no more: go to the attack's side of the upper end
        if self.stalls:
            return high * (1 - self._step * (0.5 if self.stalls == 1 else 1.4))
        if self._again is not None:
            return self._again
        across = self._across(low, high)
        if across is not None:
            return across
        crowded = len(self.breakpoints.between(low, high)) > limits.several_breakpoints
        unknown = not self.samples and (high > low * limits.wide or crowded)
        guess = self._extrapolate() if self.expects_root_in(bracket) else self._secant(low, high)
        if unknown or self._slow >= limits.slow_steps or (crowded and guess == high):
            self._slow = 0
            return self._bisect(low, high)
        least = low * (1 + self._step / 4)
        return self._before_guess(low, guess) or max(guess * (1 - self._step), least)

    def _before_guess(self, low: float, guess: float) -> float | None:
        """Step clear of the first of few breakpoints on the way to the guess, which was made without them."""
        if not self.samples:
            return None
        passed = self.breakpoints.between(max(low, self.samples[-1].ratio), guess)
        if not 0 < len(passed) <= self._limits.several_breakpoints:
            return None
        clear = self._clear_of(passed[0], guess)
        return clear if low * (1 + self._step / 4) < clear < guess else None

    def _clear_of(self, jump: float, highest: float) -> float:
        """Step above a breakpoint: just above only where that has been tried."""
        clear = self.breakpoints.clear_of(jump)
        return clear if clear < highest and clear != self._last else self.breakpoints.after(jump)

    def _across(self, low: float, high: float) -> float | None:
        """Step to the other side of a breakpoint that an end of the bracket stands beside."""
        inside = self.breakpoints.between(low, high)
        if 0 < len(inside) <= self._limits.few_breakpoints:
            before, after = self.breakpoints.before(inside[-1]), self.breakpoints.after(inside[-1])
            if after >= high * (1 - self._step / 8) and before > low * (1 + self._step / 4):
                return before
            before, after = self.breakpoints.before(inside[0]), self.breakpoints.after(inside[0])
            if before <= low * (1 + self._step / 8) and after < high * (1 - self._step / 4):
                return self._clear_of(inside[0], high)
        return None

    def _secant(self, low: float, high: float) -> float:
        """Find where log V meets log δ between the nearest samples on both sides, V's jumps evened out.

        Else a Newton step: thresholds prove an upper end where their line meets δ.
        """
        above, below, margin = self._above, self._below, self._limits.secant_margin
        if above is None or below is None:
            return high
        share = math.log(above.value / self._delta) / math.log(above.value / below.value)
        # near an end V may be flat: such a line tells nothing
        if not margin < share < 1 - margin:
            return high
        return min(max(above.ratio + share * (below.ratio - above.ratio), low), high)

    def _bisect(self, low: float, high: float) -> float:
        """Halve the bracket, or step beside its middle breakpoint if it is narrow."""
        if high > low * self._limits.narrow:
            return math.sqrt(low * high)
        near = self.breakpoints.between(low * (1 - 2 * self._step), high * (1 + self._step))
        sides = sorted(
            side for jump in near for side in (self.breakpoints.before(jump), self.breakpoints.after(jump))
        )
        sides = [side for side in sides if low <= side < high and side not in self._bisected]
        if not sides:
            return math.sqrt(low * high)
        self._bisected.add(sides[len(sides) // 2])
        return sides[len(sides) // 2]

    def _is_smooth(self, one: float, other: float) -> bool:
        """Whether V cannot jump between two ratios."""
        return not self.breakpoints.between(min(one, other), max(one, other))

    def _extrapolate(self) -> float:
        """Extrapolate to where V meets δ by the last samples; infinite where there are none."""
        if not self.samples:
            return math.inf
        here = self.samples[-1]
        way, bend = math.log(self._delta / here.value), 0.0
        if len(self.samples) == 2:
            back = math.log(here.value / self.samples[0].value)
            if abs(back) > self._limits.flat and abs(way) < 2 * abs(back):
                bend = (here.stretch - self.samples[0].stretch) / back
        return here.ratio + way * (here.stretch + way * bend / 2)


class Factors(Protocol):
    """Solve with an optimal basis (lp.Basis): the next terms of its power series."""

    weight: FloatArray
    places: Places

    @property
    def is_current(self) -> bool:
        """Whether the factors still are those of the model."""

    def extend_weights(self, known: FloatArray, terms: int) -> FloatArray:
        """Continue w_0, w_1, … to so many terms, one in each row."""

    def extend_multipliers(self, known: FloatArray, terms: int) -> FloatArray:
        """Do the same for λ."""


class Predictor:
    """Follow an optimum with its basis as the ratio moves, by power series in h = ratio − t (parametric LP).

        w(t + h) = Σ_k h^k w_k,   B w_0 = b,   B w_k = −B′ w_{k−1},   and so for V and the duals λ,

    each term one more solve with the basis's factors, so terms are found as they are needed. Beyond the range of the
    basis they mean nothing; what they propose is checked like any other proposal.
    """

    def __init__(
        self,
        ratio: float,
        basis: Factors,
        weights: FloatArray,
        multipliers: FloatArray,
        limits: Limits = LIMITS,
    ) -> None:
        self.ratio = ratio
        self.basis, self._limits = basis, limits
        # one row for each power of h
        self._weights, self._multipliers = weights[None], multipliers[None]
        self._values = [float(weights @ basis.weight)]

    def crossing(self, delta: float, lowest: float, highest: float) -> float | None:
        """Find the ratio at which V is δ by the series, or the end of the range beyond which it must be.

        None where the series do not reach so far, the basis ends before, or V does not fall.
        """
        limits, farthest = self._limits, self._limits.series_reach * self.ratio
        least, most = max(lowest - self.ratio, -farthest), min(highest - self.ratio, farthest)
        step, terms = 0.0, max(limits.first_terms, len(self._weights))
        while terms <= limits.most_terms:
            self._weights = self.basis.extend_weights(self._weights, terms)
            self._values = (self._weights @ self.basis.weight).tolist()
            found = self._solve_series(step, delta, least, most)
            if found is None or abs(found) == farthest:
                return None
            step = found
            missing = self._missing_terms(step, limits.series_rest * delta)
            if not missing:
                return {least: lowest, most: highest}.get(step, self.ratio + step)
            if terms > limits.first_terms and self.weights_at(self.ratio + step).min() < -limits.basis_ended:
                return None
            terms += missing
        return None

    def _missing_terms(self, step: float, allowed: float) -> int:
        """Estimate how many more terms of V there must be until the last one is no more than allowed."""
        last, before = (abs(self._values[-back]) * abs(step) ** (len(self._values) - back) for back in (1, 2))
        if last <= allowed:
            return 0
        if allowed <= 0 or not 2 * last < before:
            return 1
        return math.ceil(math.log(last / allowed) / math.log(before / last))

    def _solve_series(self, step: float, delta: float, least: float, most: float) -> float | None:
        """Find where the series of V meets δ, or the end of the range that is nearest to it, by Newton's method."""
        for _ in range(self._limits.newton_steps):
            value, slope = 0.0, 0.0
            for term in reversed(self._values):
                value, slope = value * step + term, slope * step + value
            if not slope < 0:
                return None
            before, step = step, min(max(step - (value - delta) / slope, least), most)
            # the next step would be as small as its square
            if abs(step - before) <= self._limits.newton_digits * abs(step):
                break
        return step

    def weights_at(self, ratio: float) -> FloatArray:
        """Evaluate the weights of the basis's `places`; one that has ended gives negative ones."""
        return _evaluate(self._weights, ratio - self.ratio)

    def multipliers_at(self, ratio: float) -> FloatArray:
        """Evaluate λ of each secret."""
        self._multipliers = self.basis.extend_multipliers(self._multipliers, len(self._weights))
        return _evaluate(self._multipliers, ratio - self.ratio)


def _evaluate(series: FloatArray, step: float) -> FloatArray:
    return np.asarray(step ** np.arange(len(series)) @ series)
