"""What a privacy loss means: how far P exceeds multiples of Q, and how likely an attack can be.

    H(γ) = Σ_y (P(y) − γ Q(y))₊,   γ = e^ε,

is the δ of (ε, δ)-privacy between two secrets in one direction (hockey-stick divergence). With prior p on P's secret
and 1 − p on the other, the largest probability of outcomes Z that point to P's secret with lift at least t > 1 is

    m(t) = min over 0 ≤ γ < γ* of H(γ)/(t(1 − γ/γ*)),   γ* = t(1 − p)/(1 − t p)        (t p < 1),

the dual of the envelope's linear program with the multiplier λ = (1 − p + γp)/(t(1 − p)(1 − γ/γ*)); and outcomes S with
P(S) ≥ γ* Q(S) show that m(t) ≥ P(S)/t: joined by others until the mean lift is t, their probability is P/t. For two
secrets V(t) = min(1, m(t) + m'(t)), m' of the other direction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from tightlip.envelopes.loss_grid import BITS, ONE, Merged, Split, ceil_of, convolve, floor_of, merge, split
from tightlip.envelopes.losses import WORKING_BITS, Loss, NormalDensity
from tightlip.numeric.ball import Ball, ball, enclose, round_down, round_up
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.quantity import exact_ratio

# how far a threshold in floats is moved to the safe side before it is proved
_SLACK = 1e-12


def level_ball(epsilon: float | Fraction) -> Ball:
    """Return the level as a ball."""
    ratio = exact_ratio(epsilon)
    return ball(epsilon) if ratio is None else ball(ratio).log()


def critical_log(ratio: Fraction, mass: Fraction) -> Ball:
    """log γ*: the loss from which on an outcome alone has lift t; needs t p < 1."""
    return (ball(ratio * (1 - mass)) / ball(1 - ratio * mass)).log()


def critical_float(ratio: float | Fraction, mass: float | Fraction) -> float | None:
    """log γ* as a float, for a search, and exactly rounded where it is given rationals; None where t p > 1."""
    if ratio * mass >= 1:
        return None if ratio * mass > 1 else math.inf
    if isinstance(ratio, Fraction) and isinstance(mass, Fraction):
        return float(critical_log(ratio, mass).mid())
    return math.log(ratio * (1 - mass) / (1 - ratio * mass))


@dataclass(frozen=True, slots=True)
class UpperCurve:
    """H from above, of losses on a grid: sums of masses from each point on, and the same sums of masses under Q.

    `under` is times e^{point}, rounded down: W_j = Σ_{i ≥ j} A_i e^{−(i−j)h}, so that H = I + S_j − γ e^{−l_j} W_j for
    log γ between the points before and at j.
    """

    step: Fraction
    origin: Fraction
    sums: list[int]
    under: list[int]
    infinite: int
    points: FloatArray
    kinks: FloatArray

    @classmethod
    def of(cls, grid: Split) -> UpperCurve:
        """Sum up."""
        masses = [int(mass) for mass in grid.masses]
        shrink, last = floor_of((-ball(grid.step)).exp()), 0
        sums = [*accumulate(reversed(masses), initial=0)][::-1]
        under = [0]
        for mass in reversed(masses):
            last = mass + (last * shrink >> BITS)
            under.append(last)
        under.reverse()
        kinks = np.array([one - two for one, two in zip(sums, under, strict=True)], dtype=float)
        points = _points(grid.origin, grid.step, len(masses))
        return cls(
            grid.step,
            grid.origin,
            sums,
            under,
            grid.infinite,
            points,
            (kinks + float(grid.infinite)) / float(ONE),
        )

    def _place(self, place: int) -> Fraction:
        return self.origin + place * self.step

    def at(self, epsilon: float | Fraction) -> Ball:
        """Bound H(e^ε) by the upper end of a ball: I + S_j − γ e^{−l_j} W_j at the next point, where it is largest."""
        level = level_ball(epsilon)
        near = (level - ball(self.origin)) / ball(self.step)
        first = min(max(int(near.lower().ceil().unique_fmpz()), 0), len(self.sums) - 1)
        last = min(max(int(near.upper().floor().unique_fmpz()) + 1, 0), len(self.sums) - 1)
        return max((self._value(place, level) for place in range(first, last + 1)), key=_upper)

    def _value(self, place: int, level: Ball) -> Ball:
        excess = ball(self.infinite + self.sums[place])
        if not self.under[place]:
            return excess / ONE
        return (excess - (level - ball(self._place(place))).exp() * self.under[place]) / ONE

    def estimate(self, levels: FloatArray) -> FloatArray:
        """Evaluate H at several levels in floats, to choose among them."""
        places = np.searchsorted(self.points, levels)
        under = np.array(self.under, dtype=float)[places] / float(ONE)
        above = (np.array(self.sums, dtype=float)[places] + float(self.infinite)) / float(ONE)
        origins = np.append(self.points, self.points[-1])[places]
        return np.asarray(above - np.exp(np.minimum(levels - origins, 0.0)) * under)

    def epsilon(self, delta: Fraction) -> float:
        """Find ε with H(e^ε) ≤ δ, rounded up; infinite where there is none."""
        allowed = math.floor(delta * ONE)
        if self.infinite > allowed:
            return math.inf
        low, high = 0, len(self.sums) - 1
        while low < high:  # the first point with H ≤ δ
            middle = (low + high) // 2
            reached = self.infinite + self.sums[middle] - self.under[middle] <= allowed
            low, high = (low, middle) if reached else (middle + 1, high)
        excess = self.infinite + self.sums[low] - allowed
        if excess <= 0:  # at the first point only: H is no larger before it
            return 0.0
        found = ball(self._place(low)) + (ball(excess) / ball(self.under[low])).log()
        # the line through H holds from the point before on, where roundings put H just above δ
        return max(0.0, round_up(found), round_up(ball(self._place(low - 1))) if low else 0.0)

    def attack(self, ratio: float, critical: float | None) -> tuple[float, int | None]:
        """Estimate m(t) in floats, given log γ*, and the point whose γ bounds it; none where γ = 0 is best."""
        if critical is None:
            return 0.0, None
        shares = -np.expm1(self.points - critical)
        usable = shares > _SLACK
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.where(usable, self.kinks[:-1] / shares, math.inf)
        best = int(np.argmin(values)) if len(values) else 0
        if not len(values) or values[best] >= 1:
            return 1 / ratio, None
        return float(values[best]) / ratio, best

    def proved_attack(self, ratio: Fraction, mass: Fraction, place: int | None) -> Ball:
        """Bound m(t) by the upper end of a ball, with γ at a point."""
        if ratio * mass > 1:
            return ball(0)
        if place is None:
            return ball(1 / ratio)
        reached = ball(self.infinite + self.sums[place] - self.under[place]) / ONE
        if ratio * mass == 1:
            return reached / ball(ratio)
        share = -(ball(self._place(place)) - critical_log(ratio, mass)).expm1()
        return reached / (ball(ratio) * share) if share > 0 else ball(1 / ratio)


@dataclass(frozen=True, slots=True)
class LowerCurve:
    """H from below: probabilities of {point ≥ j} under P, rounded down, and under Q times e^{point j}, rounded up."""

    step: Fraction
    origin: Fraction
    sums: list[int]
    under: list[int]
    grid: Merged
    infinite: int
    tails: FloatArray
    logs: FloatArray

    @classmethod
    def of(cls, grid: Merged) -> LowerCurve:
        """Sum up."""
        shrink, last = ceil_of((-ball(grid.step)).exp()), 0
        sums = [*accumulate((int(mass) for mass in reversed(grid.first)), initial=0)][::-1]
        under = [0]
        for mass in reversed(grid.second):
            last = int(mass) - (-last * shrink >> BITS)
            under.append(last)
        under.reverse()
        tails = (np.array(sums, dtype=float) + float(grid.infinite)) / float(ONE)
        with np.errstate(divide="ignore"):
            logs = np.log(np.array(under, dtype=float) / float(ONE))
        logs[:-1] -= _points(grid.origin, grid.step, len(grid.first))
        return cls(grid.step, grid.origin, sums, under, grid, grid.infinite, tails, logs)

    def _place(self, place: int) -> Fraction:
        return self.origin + place * self.step

    def at(self, epsilon: float | Fraction) -> Ball:
        """Bound H(e^ε) by the lower end of a ball: P(S) − γ Q(S) for the best S = {point ≥ j}."""
        with np.errstate(over="ignore"):
            values = self.tails - np.exp(float(epsilon) + self.logs)
        place = int(np.argmax(values))
        taken = ball(self.infinite + self.sums[place])
        if not self.under[place]:
            return taken / ONE
        return (taken - (level_ball(epsilon) - ball(self._place(place))).exp() * self.under[place]) / ONE

    def epsilon(self, delta: Fraction) -> float:
        """Find ε below which H(e^ε) > δ: log (P(S) − δ)/Q(S) for the best S, rounded down."""
        allowed = math.ceil(delta * ONE)
        if self.infinite > allowed:
            return math.inf
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.log(np.maximum(self.tails[:-1] - float(delta), 0.0)) - self.logs[:-1]
        place = int(np.argmax(np.nan_to_num(values, nan=-math.inf)))
        excess = self.infinite + self.sums[place] - allowed
        if excess <= 0 or not self.under[place]:
            return 0.0
        found = ball(self._place(place)) + (ball(excess) / ball(self.under[place])).log()
        return max(0.0, round_down(found))

    def attack(self, ratio: float, critical: float | None) -> tuple[float, int, float]:
        """Estimate m(t) in floats, given log γ*: the first point of S, and the share of the point before it."""
        if critical is None:
            return 0.0, len(self.tails) - 1, 0.0
        if math.isinf(critical):
            return self.infinite / ONE / ratio, len(self.tails) - 1, 0.0
        weights = np.exp(np.minimum(critical + self.logs, 700.0))
        slack = self.tails - weights * (1 + _SLACK)
        place = int(np.argmax(slack >= 0))
        if not place:
            return float(self.tails[0]) / ratio, place, 0.0
        lack = slack[place] - slack[place - 1]
        share = float(np.clip(slack[place] / lack, 0.0, 1.0)) * (1 - _SLACK) if lack > 0 else 0.0
        taken = self.tails[place] + share * (self.tails[place - 1] - self.tails[place])
        return float(taken) / ratio, place, share

    def proved_attack(self, ratio: Fraction, mass: Fraction, place: int, share: float) -> Ball:
        """Bound m(t) by the lower end of a ball; 0 where this S does not reach t."""
        taken = ball(self.infinite + self.sums[place])
        if ratio * mass > 1:
            return ball(0)
        if ratio * mass == 1:
            return ball(self.infinite) / ONE / ball(ratio)
        weight = ball(self.under[place]) * (-ball(self._place(place))).exp()
        if share and place:
            before = place - 1
            taken = taken + ball(share) * int(self.grid.first[before])
            own = ball(int(self.grid.second[before])) * (-ball(self._place(before))).exp()
            weight = weight + ball(share) * own
        enough = taken >= critical_log(ratio, mass).exp() * weight
        return taken / ONE / ball(ratio) if enough else ball(0)


def _points(origin: Fraction, step: Fraction, count: int) -> FloatArray:
    return np.asarray(float(origin) + float(step) * np.arange(count), dtype=float)


def _upper(value: Ball) -> Any:
    return value.upper()


class NormalCurve:
    """H between normal distributions m apart, in closed form: Φ(m/2 − ε/m) − e^ε Φ(−m/2 − ε/m)."""

    def __init__(self, squared: Fraction) -> None:
        self._squared = squared

    def at(self, epsilon: float | Fraction) -> Ball:
        """Compute H(e^ε)."""
        level = level_ball(epsilon)
        scale = ball(2 * self._squared).sqrt()
        half = ball(self._squared) / 2
        return ((level - half) / scale).erfc() / 2 - level.exp() * ((level + half) / scale).erfc() / 2

    def _ends(self, epsilon: float) -> tuple[float, float]:
        return enclose(lambda: self.at(epsilon))

    def epsilon(self, delta: Fraction) -> tuple[float, float]:
        """Solve H(e^ε) = δ for 0 < δ ≤ 1 by bisection: doubles on both sides of ε."""
        low, high = 0.0, 1.0
        if self._ends(0.0)[1] <= delta:
            return 0.0, 0.0
        while self._ends(high)[1] > delta:
            low, high = (high, 2 * high) if self._ends(high)[0] >= delta else (low, 2 * high)
        while True:
            middle = low + (high - low) / 2
            if not low < middle < high:
                return low, high
            ends = self._ends(middle)
            if ends[1] <= delta:
                high = middle
            elif ends[0] >= delta:
                low = middle
            else:
                return low, high


class Side:
    """One direction of two secrets: H from both sides, worked out when it is first asked for."""

    def __init__(self, parts: list[tuple[Loss, int]], points: int) -> None:
        self.parts = parts
        self._points = points

    @cached_property
    def normal(self) -> NormalCurve | None:
        """The closed form, where all uses are of normal noise."""
        density = self.parts[0][0].density
        only = len(self.parts) == 1 and isinstance(density, NormalDensity)
        return NormalCurve(density.squared) if only and isinstance(density, NormalDensity) else None

    @cached_property
    def upper(self) -> UpperCurve:
        """From above."""
        from flint import ctx

        with ctx.workprec(WORKING_BITS):
            return UpperCurve.of(convolve(self.parts, self._points, split))

    @cached_property
    def lower(self) -> LowerCurve:
        """From below."""
        from flint import ctx

        with ctx.workprec(WORKING_BITS):
            return LowerCurve.of(convolve(self.parts, self._points, merge))

    def excess(self, epsilon: float | Fraction) -> tuple[float, float]:
        """Bracket H(e^ε)."""
        from flint import ctx

        if self.normal is not None:
            normal = self.normal
            low, high = enclose(lambda: normal.at(epsilon))
        else:
            with ctx.workprec(WORKING_BITS):
                low, high = round_down(self.lower.at(epsilon)), round_up(self.upper.at(epsilon))
        return min(max(0.0, low), 1.0), min(max(0.0, high), 1.0)

    def epsilon(self, delta: Fraction) -> tuple[float, float]:
        """Bracket the smallest ε ≥ 0 with H(e^ε) ≤ δ, δ > 0."""
        from flint import ctx

        if self.normal is not None:
            return self.normal.epsilon(delta)
        with ctx.workprec(WORKING_BITS):
            return self.lower.epsilon(delta), min(self.upper.epsilon(delta), self.largest()[1])

    def largest(self) -> tuple[float, float]:
        """Bracket the largest loss, the ε of δ = 0: largest losses add up."""
        from flint import ctx

        if any(loss.infinite or isinstance(loss.density, NormalDensity) for loss, _ in self.parts):
            return math.inf, math.inf
        with ctx.workprec(WORKING_BITS):
            total = ball(0)
            for loss, uses in self.parts:
                ends = loss.ends
                assert ends is not None
                total = total + uses * ends[1]
            return max(0.0, round_down(total)), max(0.0, round_up(total))
