"""What columns can be worth beyond their price, over cones of columns: sound bounds on f-informations by prices.

Columns are scaled to p·v = 1. With α a bound on max_v { Σ_x p_x f(v_x) − w·v }, every channel of such columns has

    I_f = Σ_y q_y Σ_x p_x f(v_xy) ≤ Σ_y q_y (w·v_y + α) = Σ_x w_x + α,       since Σ_y q_y v_y = 1 and Σ_y q_y = 1.

A convex function is largest at extreme columns, and these are sets of secrets:

    Box     lo ≤ v ≤ hi            hi on a set S, one entry r between, lo elsewhere (PML, PMC, ALIP)
    Ratio   v_x ≤ t v_x′           t on S, 1 off it, then scaled (LDP)
    Floor   (ε, c)-PML             1 on s ≤ 1/(tc) secrets, (1/t − cs)/(1 − cs) elsewhere, then scaled; where that
                                   would be negative, 1 on ⌊1/(tc)⌋ of them, the remainder on one, 0 elsewhere
    Both    Box and Ratio          as for one of them, or hi on S and one number off it
    Peaks   Σ_y max_x k_xy ≤ T     1 on S, 0 off it (maximal leakage); within another cone also what is extreme
                                   there, and one number on S and lo off it

*Box.* Let m = (1 − lo)/(hi − lo), σ = p(S), j the entry between, τ = m − σ ∈ [0, p_j]. With a_x = p_x (f(hi) − f(lo)) −
(hi − lo) w_x and any β, the value is

    f(lo) − lo Σw + βm + Σ_{x ∈ S} (a_x − βp_x) + { p_j (f(lo + (hi − lo)τ/p_j) − f(lo)) − (hi − lo) w_j τ/p_j − βτ }.

The braces are convex in τ: where a grid knows σ only within an interval, they are largest at its ends.

*Ratio, Floor, Peaks.* Before scaling, k is `high` on S and `low` off it, q = p·k = low + (high − low)σ, and
Σ_x p_x q f(k_x/q) is a function F of σ alone. So α is the largest over S, with any β, of

    { F(σ) − βσ − low Σw + Σ_S (βp_x − (high − low) w_x) } / q.

Where σ is known within an interval, F − βσ is bounded by its tangent and its curvature: with β the slope at the
optimum, an error in σ counts only by its square.

*Both.* With b the least entry, lo ≤ b ≤ v_x ≤ hi and v_x ≤ tb: extreme are (v, b) at which n of these are equal. If
b is lo or hi/t, all but one entry are at the ends of the box from b to min(hi, tb). Otherwise every entry is b or
min(hi, tb): t on S and 1 off it, scaled, or hi on S and (1 − hi σ)/(1 − σ) off it. These are only listed.

*Peaks.* Columns k ≥ 0 with a number m ≥ max k of their own are mixtures of (1_S, 1), and Σ_x p_x q f(k_x/q) is convex
and homogeneous in k: a channel is worth no more than its mixture, Σ_S a_S F(σ_S) with Σ_S a_S 1_S = 1 and Σ_S a_S ≤ T.
With λ ≥ 0 and λ ≥ F(σ_S) − w(S) for all S that is at most Σ_S a_S (w(S) + λ) ≤ Σ_x w_x + λT. So λ takes α's place.

*Peaks within a cone.* The same holds with the extreme (v, m) of m ≥ max v and the cone's bounds: n + 1 numbers in a
box, n + 2 with b as before. All but one are fixed by bounds that are equalities, the last one by the scale. If no entry
is between m and the least one, one bound more is: m = hi and m = tb are extreme in the cone, a least entry of lo is
not, nor the constant column. If one entry is between, two are, and the column is extreme in the cone.

Where secrets are few, all extreme columns are looked through (`listing`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightlip.designs.f_information import ERROR, Curve, Information
from tightlip.designs.guarantee import (
    Alip,
    Envelope,
    FloorPml,
    Guarantee,
    Ldp,
    MaximalLeakage,
    SetPml,
    Side,
    Vector,
    ratio,
)
from tightlip.designs.listing import (
    LISTED,
    Listing,
    join,
    list_box,
    list_halves,
    list_remainders,
    list_sets,
)
from tightlip.designs.subset_sums import Knapsack, Sets, by_size, grid_of
from tightlip.model.prior import Prior
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import UNIT, down, float_above, float_below, gamma, sum_up, up

_WORK = 3e8  # cells touched by a grid of masses that are no counts: about a second, for gaps of about 1e-5
_CELLS = 1 << 12  # of the interval of σ, for bounds that look at no set: errors of their width squared
_ROUGH = 1 << 9  # of them where prices are only moved
_SECANTS = 12  # to move prices; they converge in about six
_SLOPES = 33  # tried for such a bound
_STRAY = 8 * UNIT  # more than the rounding of a sum of two numbers below 2
_NEARLY = 1e-12  # of an entry: what is not quite allowed is listed too, which costs nothing but the bound
_TIES = 1e-9  # of an entry: what roundings tell apart
_SMALLEST = 1e-100  # of a mass; reciprocals of smaller ones have no squares
_FLAT = 1e12  # a factor beyond which LDP hardly forbids anything, and what it allows is bounded without it


class Cone(ABC):
    """Columns among which are all that a guarantee allows."""

    __slots__ = ()

    @property
    @abstractmethod
    def silent(self) -> bool:
        """Whether all of them are constant."""

    @abstractmethod
    def listing(self, masses: FloatArray, utility: Information) -> Listing:
        """List the extreme columns, for few secrets."""

    @abstractmethod
    def refit(self, columns: FloatArray, masses: FloatArray) -> FloatArray:
        """Write extreme columns of a stricter cone of the kind for this one: of the same sets, as far as they fit."""

    @abstractmethod
    def knapsack_bound(self, masses: Vector, utility: Information, prices: FloatArray) -> float:
        """Bound what a column is worth beyond its price from above, for many secrets."""

    def moved(self, masses: Vector, utility: Information, prices: FloatArray) -> FloatArray:
        """Add a multiple of the prior to prices, after which hardly anything is worth more than its price."""
        return prices

    def plain(self, utility: Information) -> float:
        """Bound I_f whatever the prior, from above."""
        return np.inf

    def beyond(self, masses: Vector, utility: Information, prices: FloatArray) -> float:
        """Bound what a column of the cone is worth beyond its price, from above."""
        if self.silent or len(masses) == 1:
            return float_above(-sum(map(Fraction, prices.tolist()), Fraction(0)))
        if len(masses) <= LISTED:
            return listing_of(self, masses, utility).beyond(prices)
        return self.knapsack_bound(masses, utility, prices)

    def bound(self, masses: Vector, utility: Information, prices: FloatArray) -> float:
        """Bound I_f of every channel whose columns are in the cone, from above."""
        many = len(masses) > LISTED and not self.silent
        own = self.moved(masses, utility, prices) if many else prices
        return sum_up(np.append(own, self.beyond(masses, utility, own)))


def listing_of(cone: Cone, masses: Vector, utility: Information) -> Listing:
    """List the extreme columns once for all prices that are tried in a row; those of any total are the same."""
    return _listing_of(replace(cone, total=np.inf) if isinstance(cone, Peaks) else cone, masses, utility)


@lru_cache(maxsize=4)
def _listing_of(cone: Cone, masses: Vector, utility: Information) -> Listing:
    return cone.listing(np.array([float(mass) for mass in masses]), utility)


@dataclass(frozen=True, slots=True)
class Box(Cone):
    """Columns with lower ≤ v ≤ upper."""

    lower: float
    upper: float

    @property
    def silent(self) -> bool:
        """Nothing is below 1, or nothing above it."""
        return self.lower >= 1 or self.upper <= 1

    @property
    def lowest(self) -> tuple[float, float]:
        """The least entry there is, and how large others may be beside it."""
        return self.lower, self.upper

    @property
    def share(self) -> Fraction:
        """Compute m, the mass that is at the upper end if none is between."""
        low, high = Fraction(self.lower), Fraction(self.upper)
        return min((1 - low) / (high - low), Fraction(1))

    def listing(self, masses: FloatArray, utility: Information) -> Listing:
        """List each set with each entry between that fits."""
        return list_box((self.lower, self.upper), float(self.share), masses, utility)

    def refit(self, columns: FloatArray, masses: FloatArray) -> FloatArray:
        """Raise entries to the upper bound, largest first, until the mass is used up."""
        share, span = min((1 - self.lower) / (self.upper - self.lower), 1.0), self.upper - self.lower
        places = np.argsort(-columns, axis=1, kind="stable")
        p = masses[places]
        before = np.cumsum(p, axis=1) - p
        parts = np.clip((share - before) / np.where(p > 0, p, 1.0), 0.0, 1.0)
        found = np.empty_like(columns)
        np.put_along_axis(found, places, self.lower + span * parts, axis=1)
        return np.asarray(found / (found @ masses)[:, None])

    def knapsack_bound(self, masses: Vector, utility: Information, prices: FloatArray) -> float:
        """Bound the worth beyond the price, by a knapsack with one fractional item, and by one without."""
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
        values = curve.cell_ceiling(cells, slopes).max(axis=1) + picked.sum(axis=1)
        values = values + gamma(len(masses) + 8) * sizes.sum(axis=1)
        place = int(values.argmin())
        if values[place] < best:
            best, chosen = float(values[place]), float(slopes[place])
        width = float(slopes.max() - slopes.min()) / len(slopes)
        slopes = np.linspace(chosen - width, chosen + width, len(slopes))
    return best, chosen


def _scaled(worth: FloatArray, least: FloatArray, largest: FloatArray) -> float:
    """Divide by q, which lies between two ends, rounding up; the largest."""
    ends = np.where(worth > 0, np.maximum(least, 1e-300), largest)
    return float(np.nextafter(worth / ends, np.inf).max())


@dataclass(frozen=True, slots=True)
class Ratio(Cone):
    """Columns with v_x ≤ factor·v_x′."""

    factor: float

    @property
    def silent(self) -> bool:
        """All entries are alike."""
        return self.factor <= 1

    def listing(self, masses: FloatArray, utility: Information) -> Listing:
        """List all sets."""
        return list_sets(Curve(utility, 1.0, self.factor), masses)

    def refit(self, columns: FloatArray, masses: FloatArray) -> FloatArray:
        """Take the same sets."""
        return _scaled_sets(columns > 1, 1.0, self.factor, masses)

    def plain(self, utility: Information) -> float:
        """Take sets of any mass, with prices in proportion to the prior."""
        centres, curve = (np.arange(_CELLS) + 0.5) / _CELLS, Curve(utility, 1.0, self.factor)
        ends = [curve.total(centres + step / _CELLS) for step in (-0.5, 0.5)]
        worths = curve.cell_ceiling(_CELLS, np.zeros(1))[0]
        return _scaled(worths, ends[0] * (1 - _STRAY), ends[1] * (1 + _STRAY))

    def knapsack_bound(self, masses: Vector, utility: Information, prices: FloatArray) -> float:
        """Bound the worth beyond the price, by a knapsack that knows the mass of sets, and without one."""
        p, curve = np.array([float(mass) for mass in masses]), Curve(utility, 1.0, self.factor)
        total = sum_up(-prices)
        relaxed, slope = relaxed_worth(curve, p, prices)
        whole = np.array(relaxed + total + _STRAY * (abs(total) + abs(relaxed)))
        exact = _scaled(*_beyond(curve, _best_sets(curve, masses, prices, slope), p, prices))
        return min(exact, _scaled(whole, np.array(1.0), np.array(self.factor)))

    def moved(self, masses: Vector, utility: Information, prices: FloatArray) -> FloatArray:
        """Move prices by what they lack before scaling."""
        p = np.array([float(mass) for mass in masses])
        return _moved([(Curve(utility, 1.0, self.factor), None)], p, prices)


def _scaled_sets(inside: NDArray[np.bool_], low: float, high: float, masses: FloatArray) -> FloatArray:
    """Write columns of sets, scaled."""
    raw = np.where(inside, high, low)
    return np.asarray(raw / (raw @ masses)[:, None])


@dataclass(frozen=True, slots=True)
class Both(Cone):
    """Columns of a box and of a ratio, for few secrets."""

    box: Box
    ratio: Ratio

    @property
    def silent(self) -> bool:
        """One of them allows constant columns only."""
        return self.box.silent or self.ratio.silent

    def listing(self, masses: FloatArray, utility: Information) -> Listing:
        """List what is extreme at both ends of the least entry, and between them."""
        (lower, upper), factor = (self.box.lower, self.box.upper), self.ratio.factor
        least = max(lower, down(upper / factor))
        found = [list_halves(upper, least, masses, utility)]
        boxes = {Box(lower, min(upper, up(factor * lower))), Box(least, upper)}
        found += [box.listing(masses, utility) for box in boxes if not box.silent]
        stairs = self.ratio.listing(masses, utility)
        # but for the constant column, which is listed already
        fits = np.asarray(stairs.peaks <= upper * (1 + _NEARLY))
        fits &= stairs.patterns.low >= lower * (1 - _NEARLY)
        found.append(replace(stairs, entries=stairs.patterns.among(fits), worths=stairs.worths[fits]))
        return join(found)

    @property
    def lowest(self) -> tuple[float, float]:
        """The least entry there is, and how large others may be beside it."""
        return self.box.lower, min(self.box.upper, up(self.ratio.factor * self.box.lower))

    def refit(self, columns: FloatArray, masses: FloatArray) -> FloatArray:
        """Take them as they are."""
        return columns

    def knapsack_bound(self, masses: Vector, utility: Information, prices: FloatArray) -> float:
        """Take the better bound of the two."""
        return min(own.knapsack_bound(masses, utility, prices) for own in (self.box, self.ratio))


class _Best(NamedTuple):
    """The best sets of each mass, by worths Σ_S (slope p_x − (high − low) w_x), and how far their masses may be off."""

    sets: Sets
    slope: float
    radius: float


def _best_sets(curve: Curve, masses: Vector, prices: FloatArray, slope: float) -> _Best:
    """Find sets of each mass that are worth most by a slope, the empty one left out."""
    p = np.array([float(mass) for mass in masses])
    grid = grid_of(masses, _WORK / 4, 1.0)
    sets = Knapsack(grid, p, slope * p - (curve.high - curve.low) * prices, 2.0).whole()
    # where an item has no cells, its set shares the place of the empty one
    first = 1 if grid.cells.all() else 0
    return _Best(Sets(sets.masses[first:], sets.worths[first:]), slope, max(grid.below, grid.above))


def _beyond(
    curve: Curve, best: _Best, masses: FloatArray, prices: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Bound what columns with `high` on these sets are worth beyond their price before scaling; and q, both ends."""
    kept = best.sets.worths > -np.inf
    raw = best.sets.masses[kept]
    centres = np.clip(raw, _SMALLEST, 1.0)
    radius = best.radius + _STRAY * len(masses) + float(np.abs(raw - centres).max())
    total, span = sum_up(-curve.low * prices), curve.high - curve.low
    error = gamma(2 * len(masses) + 8) * float((abs(best.slope) * masses + span * np.abs(prices)).sum())
    worths = curve.ceiling(centres, radius, np.array([best.slope]))[0] + best.sets.worths[kept] + total
    worths = worths + 2 * error + _STRAY * (abs(total) + np.abs(worths))
    least = curve.total(np.maximum(centres - radius, 0.0)) * (1 - _STRAY)
    return worths, least, curve.total(np.minimum(centres + radius, 1.0)) * (1 + _STRAY)


@dataclass(frozen=True, slots=True)
class Peaks(Cone):
    """Columns with largest entries that sum to at most a total over a channel; for few secrets also within a cone."""

    total: float
    within: Box | Ratio | Both | None = None

    @property
    def silent(self) -> bool:
        """Largest entries sum to more than 1 unless all columns are constant."""
        return self.total <= 1 or (self.within is not None and self.within.silent)

    def listing(self, masses: FloatArray, utility: Information) -> Listing:
        """List all sets, with 1 on them and 0 off them, scaled; within a cone what is extreme, and sets with lo off."""
        if self.within is None:
            return list_sets(Curve(utility, 0.0, 1.0), masses)
        found = [self.within.listing(masses, utility)]
        if not isinstance(self.within, Ratio):
            found.append(list_halves(*self.within.lowest, masses, utility))
        return join(found)

    def refit(self, columns: FloatArray, masses: FloatArray) -> FloatArray:
        """Take the same sets."""
        if self.within is not None:
            return self.within.refit(columns, masses)
        return _scaled_sets(columns > 0, 0.0, 1.0, masses)

    def knapsack_bound(self, masses: Vector, utility: Information, prices: FloatArray) -> float:
        """Bound λ, by a knapsack that knows the mass of sets, and without one."""
        p, curve = np.array([float(mass) for mass in masses]), Curve(utility, 0.0, 1.0)
        relaxed, slope = relaxed_worth(curve, p, prices)
        worths = _beyond(curve, _best_sets(curve, masses, prices, slope), p, prices)[0]
        return min(float(worths.max()), relaxed)

    def bound(self, masses: Vector, utility: Information, prices: FloatArray) -> float:
        """Bound I_f by Σw + λT, and by what f allows where the mean of largest lifts is T."""
        if self.silent:
            return 0.0
        rest = up(multiplier(masses, utility, prices, self) * self.total)
        return min(sum_up(np.append(prices, rest)), self.plain(utility))

    def plain(self, utility: Information) -> float:
        """Take what f allows where the mean of largest lifts is T."""
        return utility.largest_lift(self.total)


def multiplier(
    masses: Vector, utility: Information, prices: FloatArray, cone: Peaks = Peaks(np.inf)
) -> float:
    """Find the λ ≥ 0 of prices, which proves Σw + λT for every total T; rounded up."""
    if len(masses) > LISTED:
        return max(cone.knapsack_bound(masses, utility, prices), 0.0)
    return beyond_peaks(listing_of(cone, masses, utility), prices)


def beyond_peaks(listed: Listing, prices: FloatArray) -> float:
    """Find the λ ≥ 0 with which no listed column is worth more than its price and λ times its largest entry."""
    return max(listed.beyond(prices, (1 + gamma(2 * len(prices) + 16)) / listed.peaks), 0.0)


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

    @property
    def silent(self) -> bool:
        """All entries are alike."""
        return self.factor <= 1

    def listing(self, masses: FloatArray, utility: Information) -> Listing:
        """List sets of each size, and those with a remainder."""
        secrets, share = len(masses), 1 / self.factor
        found = [
            list_sets(Curve(utility, float_below(low), 1.0), masses, size)
            for size, low in self.kinds(secrets)
            if size and low
        ]
        full = int(share / self.min_mass) if self.min_mass else secrets
        if full < secrets:
            rest = float(share / self.min_mass - full)
            found.append(list_remainders(full, rest, masses, utility))
        return join(found)

    def refit(self, columns: FloatArray, masses: FloatArray) -> FloatArray:
        """Take the same sets where their sizes are allowed; what is not stays as it is, which a looser level allows."""
        inside = columns > (1 - _TIES) * columns.max(axis=1, keepdims=True)
        lows, sizes = dict(self.kinds(len(masses))), inside.sum(axis=1)
        found = columns.copy()
        for size, low in lows.items():
            own = sizes == size
            if low and own.any():
                found[own] = _scaled_sets(inside[own], float(low), 1.0, masses)
        return found

    def knapsack_bound(self, masses: Vector, utility: Information, prices: FloatArray) -> float:
        """Bound the worth beyond the price for each size of the set.

        With the remainder ρ on one secret j, k = ρ 1_{S ∪ j} + (1 − ρ) 1_S, and a sublinear function of it is at most
        that of its parts: sets of both sizes, with 0 off them.
        """
        p = np.array([float(mass) for mass in masses])
        kinds = [
            (size, Curve(utility, float_below(low), 1.0)) for size, low in self.kinds(len(masses)) if size
        ]
        rough = [self._of_size(size, curve, p, prices) for size, curve in kinds]
        size, curve = kinds[int(np.argmax(rough))]
        slope = relaxed_worth(curve, p, prices, size, _ROUGH)[1] / (1 - curve.low)
        grid = grid_of(masses, _WORK / max(size for size, _ in kinds), 1.0)
        best = by_size(grid, slope * p - prices, max(size for size, _ in kinds))
        cells, exact = np.arange(best.shape[1]) / grid.size, []
        for size, curve in kinds:
            span = 1 - curve.low
            own = _Best(Sets(cells, span * best[size]), span * slope, max(grid.below, grid.above))
            exact.append(_scaled(*_beyond(curve, own, p, prices)))
        return max(min(one, two) for one, two in zip(rough, exact, strict=True))

    def moved(self, masses: Vector, utility: Information, prices: FloatArray) -> FloatArray:
        """Move prices by what they lack before scaling, for the worst size."""
        p = np.array([float(mass) for mass in masses])
        kinds = [(Curve(utility, float_below(low), 1.0), size) for size, low in self.kinds(len(p)) if size]
        return _moved(kinds, p, prices)

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
        return _scaled(np.array(worth), np.asarray(least), np.asarray(largest))


def _among(masses: Vector, guarantee: SetPml) -> bool:
    """Whether the prior is one of the set."""
    inputs = guarantee.channel.inputs
    return Prior(np.array(masses, dtype=object), inputs if inputs.given else None) in guarantee.priors


def cones_of(guarantees: Sequence[Guarantee], masses: Vector, side: Side, room: Fraction) -> list[Cone]:
    """List cones that contain what the guarantees allow: one box for all bounds on lifts, one for each other kind.

    A guarantee about another secret says nothing of a column's entries: there may be none.
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
        elif isinstance(own, Ldp):
            factor = float_above(ratio(own.epsilon, side, room))
            others += [Ratio(factor)] if factor < _FLAT else []
        elif isinstance(own, FloorPml):
            others.append(Floor(ratio(own.epsilon, side, room), own.min_mass))
        elif isinstance(own, MaximalLeakage | Envelope):
            total = own.rows(masses, side, room).most
            # no more than all secrets' largest entries, which are 1
            others += [] if total is None else [Peaks(float_above(min(total, Fraction(len(masses)))))]
    upper = min(upper, lower + (1 - lower) / least)
    boxes = (
        [] if others and not lower and upper == 1 / least else [Box(float_below(lower), float_above(upper))]
    )
    if len(masses) > LISTED:
        return [*boxes, *others]
    # each ratio with the box, and all of that within a total; other cones stand beside it
    found: list[Box | Ratio | Both] = list(boxes)
    ratios = [own for own in others if isinstance(own, Ratio)]
    if ratios:
        found = [Both(box, own) for own in ratios for box in boxes] or list(ratios)
    rest = [own for own in others if isinstance(own, Floor)]
    totals = [own.total for own in others if isinstance(own, Peaks)]
    if totals:
        return [*([Peaks(min(totals), own) for own in found] or [Peaks(min(totals))]), *rest]
    return [*found, *rest]
