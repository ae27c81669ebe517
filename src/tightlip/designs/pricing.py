"""What a column can be worth beyond its price: sound bounds on max_v { Σ_x p_x f(v_x) − w·v } over cones of columns.

Columns are scaled to p·v = 1. With α an upper bound, every channel whose columns lie in the cone has

    I_f = Σ_y q_y Σ_x p_x f(v_xy) ≤ Σ_y q_y (w·v_y + α) = Σ_x w_x + α,       since Σ_y q_y v_y = 1 and Σ_y q_y = 1.

A convex function is largest at extreme columns, and these are sets of secrets:

    Box     lo ≤ v ≤ hi            hi on a set S, one entry r between, lo elsewhere (PML, PMC, ALIP)
    Ratio   v_x ≤ t v_x′           t on S, 1 off it, then scaled (LDP)
    Floor   (ε, c)-PML             1 on s ≤ 1/(tc) secrets, (1/t − cs)/(1 − cs) elsewhere, then scaled; where that
                                   would be negative, 1 on ⌊1/(tc)⌋ of them, the remainder on one, 0 elsewhere

*Box.* Let m = (1 − lo)/(hi − lo), σ = p(S), j the entry between, τ = m − σ ∈ [0, p_j]. With a_x = p_x (f(hi) − f(lo)) −
(hi − lo) w_x and any β, the value is

    f(lo) − lo Σw + βm + Σ_{x ∈ S} (a_x − βp_x) + { p_j (f(lo + (hi − lo)τ/p_j) − f(lo)) − (hi − lo) w_j τ/p_j − βτ }.

The braces are convex in τ: where a grid knows σ only within an interval, they are largest at its ends.

*Ratio and Floor.* Before scaling, k is `high` on S and `low` off it, q = p·k = low + (high − low)σ, and
Σ_x p_x q f(k_x/q) is a function F of σ alone. So α is the largest over S, with any β, of

    { F(σ) − βσ − low Σw + Σ_S (βp_x − (high − low) w_x) } / q.

 Where σ is known within an interval, F − βσ is bounded by its tangent and its curvature: with β the slope at the
optimum, an error in σ counts only by its square.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tightlip.designs.f_information import ERROR, Information
from tightlip.designs.guarantee import Alip, FloorPml, Guarantee, Ldp, SetPml, Side, Vector, ratio
from tightlip.designs.subset_sums import Knapsack, Sets, by_size, grid_of
from tightlip.model.prior import Prior
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import UNIT, float_above, float_below, gamma, sum_up

_WORK = 3e8  # cells touched by a grid of masses that are no counts: about a second, for gaps of about 1e-5
_CELLS = 1 << 12  # of the interval of σ, for bounds that look at no set: errors of their width squared
_ROUGH = 1 << 9  # of them where prices are only moved
_SECANTS = 12  # to move prices; they converge in about six
_SLOPES = 33  # tried for such a bound
_STRAY = 8 * UNIT  # more than the rounding of a sum of two numbers below 2
_FLAT = 1e12  # a factor beyond which LDP hardly forbids anything, and what it allows is bounded without it


class Cone(ABC):
    """Columns among which are all that a guarantee allows."""

    __slots__ = ()

    @abstractmethod
    def beyond(self, masses: Vector, utility: Information, prices: FloatArray) -> float:
        """Bound what a column of the cone is worth beyond its price, from above."""

    def moved(self, masses: Vector, utility: Information, prices: FloatArray) -> FloatArray:
        """Add a multiple of the prior to prices, after which hardly anything is worth more than its price."""
        return prices


@dataclass(frozen=True, slots=True)
class Box(Cone):
    """Columns with lower ≤ v ≤ upper."""

    lower: float
    upper: float

    @property
    def share(self) -> Fraction:
        """Compute m, the mass that is at the upper end if none is between."""
        low, high = Fraction(self.lower), Fraction(self.upper)
        return min((1 - low) / (high - low), Fraction(1))

    def beyond(self, masses: Vector, utility: Information, prices: FloatArray) -> float:
        """Bound the worth beyond the price, by a knapsack with one fractional item, and by one without."""
        if self.lower >= 1 or self.upper <= 1:
            return float_above(-sum(map(Fraction, prices.tolist()), Fraction(0)))
        share, span = self.share, self.upper - self.lower
        ends = np.array([self.lower, self.upper])
        low, high = utility.excess(ends - 1, ends).tolist()
        p = np.array([float(mass) for mass in masses])
        gains = p * (high - low) - span * prices
        slope = critical(gains, p, float(share))
        inner = [place for place, mass in enumerate(masses) if mass <= share]
        sizes = (span * np.abs(prices) + abs(slope) * p)[inner]
        error = (gamma(len(p) + 8) + 4 * ERROR) * float(share) * (high + low)
        error += gamma(len(p) + 8) * float(sizes.sum())
        base = utility.excess_up(ends[:1] - 1, ends[:1]).item() + sum_up(-self.lower * prices)
        base += _STRAY * (abs(base) + self.lower * float(np.abs(prices).sum()) + 2 * abs(slope)) + error
        best = self._best(masses, utility, prices, slope, inner, gains - slope * p)
        found = base + slope * float(share) + best
        return float(np.nextafter(found + _STRAY * (abs(base) + abs(best)), np.inf))

    def _best(
        self,
        masses: Vector,
        utility: Information,
        prices: FloatArray,
        slope: float,
        inner: list[int],
        worths: FloatArray,
    ) -> float:
        """Find the best set and entry between; only `inner` secrets, no heavier than m, can be in the set."""
        share, p = self.share, np.array([float(mass) for mass in masses])
        grid = grid_of(tuple(masses[place] for place in inner), _WORK / np.log2(len(p) + 2), float(share))
        most = float_above(share) + _STRAY * len(p) + grid.below
        knapsack = Knapsack(grid, p[inner], worths[inner], most)
        found = [-np.inf]
        for place, sets in knapsack.all_but_one() if inner else ():
            item = inner[place]
            if masses[item]:
                own = float(p[item]), float(prices[item]), slope
                found.append(_between(self, utility, knapsack, sets, own))
        sets, known = knapsack.whole(), set(inner)
        for item, mass in enumerate(masses):
            if mass and item not in known:
                own = float(p[item]), float(prices[item]), slope
                found.append(_between(self, utility, knapsack, sets, own))
        return max(found)


def _between(
    box: Box, utility: Information, knapsack: Knapsack, sets: Sets, item: tuple[float, float, float]
) -> float:
    """Bound the best of the sets together with one entry between, whose mass, price and slope are given."""
    mass, price, slope = item
    share, span = float(box.share), box.upper - box.lower
    stray = _STRAY * (2 + len(knapsack.masses))
    left = share - sets.masses
    inside = (left <= mass + knapsack.grid.above + 2 * stray) & (left >= -knapsack.grid.below - 2 * stray)
    inside &= sets.worths > -np.inf
    if not inside.any():
        return -np.inf
    left, worths = left[inside], sets.worths[inside]
    ends = np.stack([left - knapsack.grid.above - stray, left + knapsack.grid.below + stray])
    parts = np.clip(ends / mass, 0.0, 1.0)
    lift = span * parts
    wide = _STRAY * (1 + box.lower + lift)
    # an end that rounding moved is moved further out: a convex function is larger at one of the outer ends
    outer = np.clip(np.stack([lift[0] - wide[0], lift[1] + wide[1]]) + box.lower, box.lower, box.upper)
    least = np.array([box.lower])
    rise = utility.excess_up(outer - 1, outer) - utility.excess(least - 1, least) * (1 - 2 * ERROR)
    linear = (span * price + slope * mass) * parts
    size = np.abs(mass * rise) + (abs(span * price) + abs(slope) * mass) * (parts + _STRAY)
    value = mass * rise - linear + 2 * _STRAY * size
    return float((worths + value.max(axis=0)).max())


def critical(gains: FloatArray, masses: FloatArray, share: float) -> float:
    """Find the gain for a unit of mass at which a knapsack of fractional items is full."""
    positive = masses > 0
    rates = gains[positive] / masses[positive]
    order = np.argsort(-rates)
    full = np.searchsorted(np.cumsum(masses[positive][order]), share)
    return float(rates[order][min(int(full), len(rates) - 1)])


@dataclass(frozen=True, slots=True)
class Curve:
    """F(σ): what a column with `high` on a set of mass σ and `low` off it is worth before scaling."""

    utility: Information
    low: float
    high: float

    def total(self, mass: FloatArray) -> FloatArray:
        """Compute q = p·k."""
        return self.low + (self.high - self.low) * mass

    def _lifts(self, mass: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        total, span = self.total(mass), self.high - self.low
        return total, span * (1 - mass) / total, np.maximum(-span * mass / total, -1.0)

    def _worths(self, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute f of both entries."""
        total, above, below = self._lifts(mass)
        return self.utility.excess(above, self.high / total), self.utility.excess(below, self.low / total)

    def value(self, mass: FloatArray) -> FloatArray:
        """Compute F, to a relative error of 2 `ERROR`."""
        one, two = self._worths(mass)
        return np.asarray(self.total(mass) * (mass * one + (1 - mass) * two))

    def slope(self, mass: FloatArray) -> FloatArray:
        """Compute F′."""
        total, above, below = self._lifts(mass)
        one, two = self._worths(mass)
        rise, fall = (
            self.utility.slope(above),
            self.utility.slope(np.minimum(below, -1e-300)),
        )
        span = self.high - self.low
        inner = mass * (self.high * rise) + (1 - mass) * (self.low * fall)
        return np.asarray(span * (mass * one + (1 - mass) * two - inner / total) + total * (one - two))

    @property
    def curvature(self) -> float:
        """Bound F″ from above: F is concave but for squared Hellinger at high > 9 low.

        There, with low = 1, high = t, A = √t/(√t + 1), B = 1/(√t + 1) and q = 1 + (t − 1)σ ≥ 1,
        F = 2q − 2(A√q + Bq^{3/2}) and F″ = (t − 1)² (A − 3Bq) / (2 q^{3/2}).
        """
        if self.utility.name != "hellinger" or self.low == 0 or self.high <= 9 * self.low:
            return 0.0
        factor = self.high / self.low
        root = np.sqrt(factor)
        return float(self.low * (factor - 1) ** 2 / 2 * (root - 3) / (root + 1) * (1 + 1e-9))

    def ceiling(self, centres: FloatArray, radius: float, slopes: FloatArray) -> FloatArray:
        """Bound F(σ) − slope σ from above for all σ within a radius of each centre: a row for each slope."""
        value, tangent, slope = self.value(centres) * (1 + 4 * ERROR), self.slope(centres), slopes[:, None]
        # slopes are off by far less than a share of 1e-9 of what they are made of
        tilt = np.abs(tangent - slope) + 1e-9 * (np.abs(tangent) + self.high + np.abs(slope))
        bent = self.curvature * radius * radius / 2
        return np.asarray(value - slope * centres + 2 * _STRAY * np.abs(slope) + tilt * radius + bent)


def relaxed_worth(
    curve: Curve, masses: FloatArray, prices: FloatArray, size: int | None = None, cells: int = _CELLS
) -> tuple[float, float]:
    """Bound the worth beyond the price before scaling, for sets of a size or all, by slopes; and say the best slope.

    Σ_S (βp_x − (high − low) w_x) is at most the sum of the largest or the positive terms, F − βσ at most its maximum.
    """
    centres, span = (np.arange(cells) + 0.5) / cells, curve.high - curve.low
    slopes = curve.slope(centres[:: cells // _SLOPES])
    best, chosen = np.inf, 0.0
    for _ in range(3):
        terms = slopes[:, None] * masses - span * prices
        sizes = np.abs(slopes)[:, None] * masses + span * np.abs(prices)
        picked = np.maximum(terms, 0.0) if size is None else np.partition(terms, -size, axis=1)[:, -size:]
        values = curve.ceiling(centres, 0.5 / cells, slopes).max(axis=1) + picked.sum(axis=1)
        values = values + gamma(len(masses) + 8) * sizes.sum(axis=1)
        place = int(values.argmin())
        if values[place] < best:
            best, chosen = float(values[place]), float(slopes[place])
        width = float(slopes.max() - slopes.min()) / len(slopes)
        slopes = np.linspace(chosen - width, chosen + width, len(slopes))
    return best, chosen


def _scaled(worth: float, least: float, largest: float) -> float:
    """Divide by q, which lies between two ends, rounding up."""
    return float(np.nextafter(worth / (least if worth > 0 else largest), np.inf))


@dataclass(frozen=True, slots=True)
class Ratio(Cone):
    """Columns with v_x ≤ factor·v_x′."""

    factor: float

    def beyond(self, masses: Vector, utility: Information, prices: FloatArray) -> float:
        """Bound the worth beyond the price, by a knapsack that knows the mass of sets, and without one."""
        if self.factor <= 1:
            return float_above(-sum(map(Fraction, prices.tolist()), Fraction(0)))
        p, span = np.array([float(mass) for mass in masses]), self.factor - 1
        curve = Curve(utility, 1.0, self.factor)
        total = sum_up(-prices)
        relaxed, slope = relaxed_worth(curve, p, prices)
        whole = relaxed + total + _STRAY * (abs(total) + abs(relaxed))
        grid = grid_of(masses, _WORK / 4, 1.0)
        sets = Knapsack(grid, p, slope * p - span * prices, 2.0).whole()
        known = sets.worths > -np.inf
        raw, worths = sets.masses[known], sets.worths[known]
        centres = np.clip(raw, 0.0, 1.0)
        radius = max(grid.below, grid.above) + _STRAY * len(p) + float(np.abs(raw - centres).max())
        error = gamma(2 * len(p) + 8) * float((abs(slope) * p + span * np.abs(prices)).sum())
        beyond = (
            curve.ceiling(centres, radius, np.array([slope]))[0]
            + worths
            + total
            + error
            + _STRAY * abs(total)
        )
        least = curve.total(np.maximum(centres - radius, 0.0)) * (1 - _STRAY)
        largest = curve.total(np.minimum(centres + radius, 1.0)) * (1 + _STRAY)
        exact = float(np.nextafter(beyond / np.where(beyond > 0, least, largest), np.inf).max())
        return min(exact * (1 + _STRAY) if exact > 0 else exact, _scaled(whole, 1.0, self.factor))

    def moved(self, masses: Vector, utility: Information, prices: FloatArray) -> FloatArray:
        """Move prices by what they lack before scaling."""
        p = np.array([float(mass) for mass in masses])
        return _moved([(Curve(utility, 1.0, self.factor), None)], p, prices)


def _moved(kinds: Sequence[tuple[Curve, int | None]], masses: FloatArray, prices: FloatArray) -> FloatArray:
    """Find α with max_S { F(σ) − (w + αp)·k } = 0 by secants; no more than near, since a proof follows."""

    def lack(shift: float) -> float:
        own = prices + shift * masses
        return max(
            relaxed_worth(curve, masses, own, size, _ROUGH)[0] - curve.low * float(own.sum())
            for curve, size in kinds
        )

    first, second = 0.0, 1e-3 + float(np.abs(prices).sum())
    lacks = lack(first)
    for _ in range(_SECANTS):
        then = lack(second)
        if then == lacks or abs(second - first) < 1e-12 * (1e-12 + abs(second)):
            break
        first, second, lacks = second, second - then * (second - first) / (then - lacks), then
    return prices + second * masses


@dataclass(frozen=True, slots=True)
class Floor(Cone):
    """Columns with v_x ≤ t (c Σv + (1 − nc) min v)."""

    factor: Fraction
    min_mass: Fraction

    def beyond(self, masses: Vector, utility: Information, prices: FloatArray) -> float:
        """Bound the worth beyond the price for each size of the set.

        With the remainder ρ on one secret j, k = ρ 1_{S ∪ j} + (1 − ρ) 1_S, and a sublinear function of it is at most
        that of its parts: sets of both sizes, with 0 off them.
        """
        if self.factor <= 1:
            return float_above(-sum(map(Fraction, prices.tolist()), Fraction(0)))
        p = np.array([float(mass) for mass in masses])
        kinds = [(size, Curve(utility, float(low), 1.0)) for size, low in self.kinds(len(masses)) if size]
        rough = [self._of_size(size, curve, p, prices) for size, curve in kinds]
        size, curve = kinds[int(np.argmax(rough))]
        slope = relaxed_worth(curve, p, prices, size, _ROUGH)[1] / (1 - curve.low)
        grid = grid_of(masses, _WORK / max(size for size, _ in kinds), 1.0, listed=False)
        sets = by_size(grid, slope * p - prices, max(size for size, _ in kinds))
        exact = [
            self._of_sets(sets[size], curve, (slope, max(grid.below, grid.above), 1 / grid.size), prices, p)
            for size, curve in kinds
        ]
        return max(min(one, two) for one, two in zip(rough, exact, strict=True))

    def _of_sets(
        self,
        worths: FloatArray,
        curve: Curve,
        known: tuple[float, float, float],
        prices: FloatArray,
        masses: FloatArray,
    ) -> float:
        """Bound the worth of columns with a set of one size, by the best sets of each mass.

        Known are the slope that worths are beyond, how far masses may be off, and the width of a cell.
        """
        slope, radius, cell = known
        places = np.nonzero(worths > -np.inf)[0]
        raw = places * cell
        centres = np.clip(raw, cell / 2, 1.0)
        radius = radius + _STRAY * len(masses) + float(np.abs(raw - centres).max())
        span, total = 1 - curve.low, sum_up(-curve.low * prices)
        error = gamma(2 * len(masses) + 8) * float((abs(slope) * masses + np.abs(prices)).sum())
        beyond = curve.ceiling(centres, radius, np.array([span * slope]))[0] + span * worths[places]
        beyond = beyond + total + 2 * error + _STRAY * (abs(total) + np.abs(beyond))
        least = np.maximum(curve.total(np.maximum(centres - radius, 0.0)) * (1 - _STRAY), 1e-300)
        largest = curve.total(np.minimum(centres + radius, 1.0)) * (1 + _STRAY)
        return float(np.nextafter(beyond / np.where(beyond > 0, least, largest), np.inf).max())

    def moved(self, masses: Vector, utility: Information, prices: FloatArray) -> FloatArray:
        """Move prices by what they lack before scaling, for the worst size."""
        p = np.array([float(mass) for mass in masses])
        kinds = [(Curve(utility, float(low), 1.0), size) for size, low in self.kinds(len(p)) if size]
        return prices if self.factor <= 1 else _moved(kinds, p, prices)

    def kinds(self, secrets: int) -> list[tuple[int, Fraction]]:
        """List sizes of sets and what is off them, 1 being on them."""
        share = 1 / self.factor
        kinds = [
            (size, (share - self.min_mass * size) / (1 - self.min_mass * size))
            for size in range(1, secrets)
            if self.min_mass * size <= share
        ]
        full = int(share / self.min_mass) if self.min_mass else secrets
        if full < secrets:
            kinds += [(full, Fraction(0)), (full + 1, Fraction(0))]
        return kinds

    def _of_size(self, size: int, curve: Curve, masses: FloatArray, prices: FloatArray) -> float:
        """Bound the worth of columns with a set of one size, by slopes."""
        relaxed, _ = relaxed_worth(curve, masses, prices, size)
        total = sum_up(-curve.low * prices)
        worth = relaxed + total + _STRAY * (abs(total) + abs(relaxed) + 2 * float(np.abs(prices).sum()))
        ordered = np.sort(masses)
        least = curve.total(ordered[:size].sum()) * (1 - gamma(2 * size + 8))
        largest = curve.total(ordered[-size:].sum()) * (1 + gamma(2 * size + 8))
        return _scaled(worth, max(float(least), 1e-300), float(largest))


def _among(masses: Vector, guarantee: SetPml) -> bool:
    """Whether the prior is one of the set."""
    inputs = guarantee.channel.inputs
    return Prior(np.array(masses, dtype=object), inputs if inputs.given else None) in guarantee.priors


def cones_of(guarantees: Sequence[Guarantee], masses: Vector, side: Side, room: Fraction) -> list[Cone]:
    """List cones that contain what the guarantees allow: one box for all bounds on lifts, one for each other kind.

    A guarantee about another secret and maximal leakage say nothing of a column's entries.
    """
    least = min(mass for mass in masses if mass)
    lower, upper = Fraction(0), 1 / least
    others: list[Cone] = []
    for own in guarantees:
        if isinstance(own, Alip) and own.about is None:
            lower = lower if own.lower is None else max(lower, 1 / ratio(own.lower, side, room))
            upper = upper if own.upper is None else min(upper, ratio(own.upper, side, room))
        elif isinstance(own, SetPml):
            if _among(masses, own):
                upper = min(upper, ratio(own.epsilon, side, room))
            # k_x ≤ t q·k ≤ t max(q/p) p·k
            for member in own.members:
                if all(mass or not other for mass, other in zip(masses, member, strict=True)):
                    most = max(other / mass for mass, other in zip(masses, member, strict=True) if mass)
                    upper = min(upper, ratio(own.epsilon, side, room) * most)
        elif isinstance(own, Ldp) and ratio(own.epsilon, side, room) < _FLAT:
            others.append(Ratio(float_above(ratio(own.epsilon, side, room))))
        elif isinstance(own, FloorPml):
            others.append(Floor(ratio(own.epsilon, side, room), own.min_mass))
    upper = min(upper, lower + (1 - lower) / least)
    return [Box(float_below(lower), float_above(upper)), *others]
