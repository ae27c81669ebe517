"""Where columns of cones come from: lists of few secrets, knapsacks of many, and tangents for several cones together.

What a column is worth beyond its price, and which are extreme, is in `pricing`. A search need not be exact: its grids
are coarser than those of proofs, and what it finds is a suggestion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tightlip.designs.f_information import Curve, Information
from tightlip.designs.generation import Search
from tightlip.designs.guarantee import Vector
from tightlip.designs.interior import Shape
from tightlip.designs.listing import Listing
from tightlip.designs.pricing import Box, Cone, Floor, Peaks, Ratio, critical, relaxed_worth
from tightlip.designs.subset_sums import Grid, Knapsack, chosen, chosen_by_size, sampled, search_grid, tuned
from tightlip.numeric.linear_program import _pass_program as pass_program
from tightlip.numeric.linear_program import new_solver, run
from tightlip.numeric.parse import FloatArray

_DRAWS = 2  # random sets for each secret to start with; twice as many columns as rows make mixtures easy
_SAMPLED = 200  # random sets for each further level; more make its master slow, fewer its search long
_NOISE = 1e-3  # of the prices, so that random sets differ: sets stray from the best mass by as little
_SETS = 12  # of each pricing that are added to the master
_STRAY = 1e-14  # more than the rounding of masses of sets
_PLACES = 128  # of masses, to find a slope
_CLIMBS, _STEPS = 24, 8  # from so many secrets, with so many tangents
_SWAPS = 8  # of secrets of a set, one after the other
_EACH = 3  # columns for each secret that a pricing of those that are listed adds; more make programs slow
_BEGIN = 8  # columns for each secret, of those that are listed, to begin with; as many as one program takes at once
_NEARLY = 0.7  # of the largest profit; less writes out columns that are not used, more looks through lists more often
_TIES = 1e-3  # of an entry: what is drawn at random between secrets that a column treats alike


@dataclass(frozen=True, slots=True, eq=False)
class Listed(Search):
    """All extreme columns of a cone, where they are few."""

    exact: ClassVar[bool] = True

    listing: Listing
    masses: FloatArray
    cone: Cone | None = None
    most: float | None = None

    @property
    def total(self) -> float | None:
        """What a bound on largest entries allows."""
        return self.cone.total if isinstance(self.cone, Peaks) else self.most

    def refit(self, columns: FloatArray) -> FloatArray:
        """Take the same sets."""
        return columns if self.cone is None else self.cone.refit(columns, self.masses)

    def _lacks(self, prices: FloatArray) -> FloatArray:
        """Compute what each column lacks of its price."""
        lacks = self.listing.lacks(prices[: len(self.masses)])
        return lacks if self.total is None else lacks + prices[-1] * self.listing.peaks

    def _best(self, lacks: FloatArray, each: int) -> FloatArray:
        """Take the columns that lack least: so many for each secret."""
        count = each * len(self.masses)
        return (
            self.listing.entries[np.argpartition(lacks, count)[:count]]
            if count < len(lacks)
            else self.listing.columns
        )

    def start(self, prices: FloatArray, draws: np.random.Generator) -> FloatArray:
        """Begin with those that are near to a guess of prices."""
        return self._best(self._lacks(prices), _BEGIN)

    def price(self, prices: FloatArray) -> tuple[FloatArray, float]:
        """Look through all of them."""
        lacks = self._lacks(prices)
        return self._best(lacks, _EACH), -float(lacks.min())

    def nearest(self, prices: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """Find columns that are nearly the best, what they are worth, and what the best is worth beyond its price."""
        lacks = self._lacks(prices)
        least = float(lacks.min())
        places = np.flatnonzero(lacks <= max(_NEARLY * least, least / _NEARLY))
        return self.listing.entries[places], self.listing.worths[places], -least


@dataclass(frozen=True, slots=True, eq=False)
class BoxSearch(Search):
    """Columns between two bounds: knapsacks with one fractional item."""

    box: Box
    utility: Information
    masses: FloatArray
    grid: Grid

    @property
    def total(self) -> None:
        """Entries are bounded one by one."""

    @property
    def share(self) -> float:
        """Compute the mass at the upper bound if none is between, in floats: `Box.share` is for proofs."""
        return min((1 - self.box.lower) / (self.box.upper - self.box.lower), 1.0)

    def filled(self, orders: FloatArray) -> FloatArray:
        """Raise entries to the upper bound, largest order first, until the mass is used up."""
        return self.box.refit(orders, self.masses)

    def refit(self, columns: FloatArray) -> FloatArray:
        """Fill the same secrets first, as far as the mass reaches."""
        return self.filled(columns)

    def start(self, prices: FloatArray, draws: np.random.Generator) -> FloatArray:
        """Begin with each secret first, and with random sets and one small secret to fill up."""
        secrets = len(self.masses)
        orders = draws.random((secrets, secrets)) + np.eye(secrets)
        found = [self.filled(orders)]
        small = np.argsort(self.masses)[: -(-secrets // 2)]
        for _ in range(_DRAWS * secrets):
            noise = _NOISE * self.masses * draws.standard_normal(secrets)
            found.append(self._sets(noise, np.zeros(secrets), int(draws.choice(small)), 1))
        return np.concatenate(found)

    def carried(self, columns: FloatArray, prices: FloatArray, draws: np.random.Generator) -> FloatArray:
        """Fill the same secrets first, but in another order, then each first or last, and random sets."""
        single = np.eye(len(self.masses))
        orders = np.concatenate([columns, single, -single])
        sets = sampled(self.grid, self.share, _SAMPLED, draws)
        return np.concatenate([self.filled(orders + _TIES * draws.random(orders.shape)), self._full(sets)])

    def _full(self, inside: NDArray[np.bool_]) -> FloatArray:
        """Raise sets to the upper bound; what is too much or too little falls on the smallest secrets."""
        small = self.masses / (self.masses.max() * 1.01)
        return self.filled(np.where(inside, 2.0 + small, -small))

    def _deficit(self, item: int, parts: FloatArray, gain: float) -> FloatArray:
        """Compute what an entry between the bounds is worth, of which `gain` is what the full entry is."""
        box, mass = self.box, self.masses[item]
        ends = self.utility.excess(np.array([box.lower, box.upper]) - 1)
        inner = self.utility.excess(box.lower - 1 + (box.upper - box.lower) * parts)
        return np.asarray(mass * (inner - ends[0] - parts * (ends[1] - ends[0])) + parts * gain)

    def _ends(self, item: int, worths: FloatArray, gain: float) -> FloatArray:
        """Weigh the best sets of each mass with an item between."""
        share, mass = self.share, max(float(self.masses[item]), 0.5 / self.grid.size)
        value = np.full(len(worths), -np.inf)
        first = max(int((share - mass) * self.grid.size) - 1, 0)
        left = share - np.arange(first, len(worths)) / self.grid.size
        inner = worths[first:] + self._deficit(item, np.clip(left / mass, 0.0, 1.0), gain)
        value[first:] = np.where((left >= -_STRAY) & (left <= mass + _STRAY), inner, -np.inf)
        return value

    def _sets(self, worths: FloatArray, gains: FloatArray, item: int, count: int) -> FloatArray:
        """Find columns with a given item between, and sets that are worth most."""
        others = np.where(np.arange(len(worths)) == item, -np.inf, worths)
        length = int(self.share * self.grid.size) + 2

        def ends(best: FloatArray) -> Any:
            value = self._ends(item, best, float(gains[item]))
            places = np.argsort(-value)[:count]
            return places[value[places] > -np.inf]

        _, inside = chosen(self.grid.cells, others, length, ends)
        if not len(inside):
            return np.zeros((0, len(worths)))
        # the grid's masses are rounded: what is too much or too little falls on the smallest secrets
        small = self.masses / (self.masses.max() * 1.01)
        orders = np.where(inside, 2.0 + small, -small)
        orders[:, item] = 1.0
        exact = np.array([tuned(one, self.masses, self.share) for one in inside])
        return np.concatenate([self.filled(orders), self._full(exact)])

    def price(self, prices: FloatArray) -> tuple[FloatArray, float]:
        """Find the best sets with each item between."""
        box, p = self.box, self.masses
        low, high = self.utility.excess(np.array([box.lower, box.upper]) - 1).tolist()
        gains = p * (high - low) - (box.upper - box.lower) * prices
        # worth beyond the mass that the grid counts, whose rounding would otherwise be taken for profit
        slope = critical(gains, p, self.share)
        gains = gains - slope * p
        knapsack = Knapsack(self.grid, p, gains, self.share)
        found = np.full(len(p), -np.inf)
        for item, sets in knapsack.all_but_one():
            found[item] = self._ends(item, sets.worths, float(gains[item])).max()
        base = low - box.lower * float(prices.sum()) + slope * self.share
        items = np.argsort(-found)[: _SETS // 2]
        columns = [self._sets(gains, gains, int(item), 2) for item in items if found[item] > -np.inf]
        return np.concatenate([np.zeros((0, len(p))), *columns]), float(found.max() + base)


@dataclass(frozen=True, slots=True, eq=False)
class RatioSearch(Search):
    """Columns with `high` on a set and `low` off it, for sets of any size; with a total, 1 on the set and 0 off it."""

    cone: Ratio | Peaks
    curve: Curve
    masses: FloatArray
    grid: Grid

    @property
    def total(self) -> float | None:
        """What a bound on largest entries allows."""
        return self.cone.total if isinstance(self.cone, Peaks) else None

    def refit(self, columns: FloatArray) -> FloatArray:
        """Take the same sets."""
        return self.cone.refit(columns, self.masses)

    def columns(self, inside: FloatArray) -> FloatArray:
        """Write columns of sets, scaled."""
        raw = self.curve.low + (self.curve.high - self.curve.low) * inside
        return np.asarray(raw / (raw @ self.masses)[:, None])

    def start(self, prices: FloatArray, draws: np.random.Generator) -> FloatArray:
        """Begin with single secrets, with all but one, and with random sets of the best mass."""
        single, count = np.eye(len(self.masses)), _DRAWS * len(self.masses)
        sets = sampled(self.grid, self._best_mass(), count, draws)
        return self.columns(np.concatenate([single, 1 - single, sets[sets.any(axis=1)]]))

    def carried(self, columns: FloatArray, prices: FloatArray, draws: np.random.Generator) -> FloatArray:
        """Take single secrets, all but one, and random sets of the best mass."""
        sets = sampled(self.grid, self._best_mass(), _SAMPLED, draws)
        single = np.eye(len(self.masses))
        return self.columns(np.concatenate([single, 1 - single, sets[sets.any(axis=1)]]))

    def _best_mass(self) -> float:
        """Find the mass at which a set is worth most, if nothing has a price; with a total, 1 on average."""
        if self.total is not None:
            return min(1 / self.total, 1 - 0.5 / len(self.masses))
        places = (np.arange(4096) + 0.5) / 4096
        return float(places[(self.curve.value(places) / self.curve.total(places)).argmax()])

    def _slope(self, prices: FloatArray) -> float:
        """Find the slope of F where sets are worth most, by the bound that looks at no set."""
        places = (np.arange(_PLACES) + 0.5) / _PLACES
        slopes = self.curve.slope(places)
        most = (self.curve.value(places) - slopes[:, None] * places).max(axis=1)
        gains = slopes[:, None] * self.masses - (self.curve.high - self.curve.low) * prices
        return float(slopes[int((most + np.maximum(gains, 0.0).sum(axis=1)).argmin())])

    def _sets(self, prices: FloatArray, count: int) -> tuple[FloatArray, float]:
        """Find sets that are worth most beyond their price, and by how much."""
        own, per_set = prices[: len(self.masses)], 0.0 if self.total is None else float(prices[-1])
        places, slope = np.clip(np.arange(self.grid.size + 1) / self.grid.size, 1e-9, 1.0), self._slope(own)
        base = self.curve.value(places) - slope * places - self.curve.low * own.sum() - per_set
        # of nothing there is no column where 0 is off the set
        base[:1] = base[:1] if self.curve.low else -np.inf
        totals, values = self.curve.total(places), []

        def ends(best: FloatArray) -> Any:
            value = (base + best) / totals
            values.append(float(value.max()))
            return np.argsort(-value)[:count]

        # worth beyond the mass that the grid counts, whose rounding would otherwise be taken for profit
        gains = slope * self.masses - (self.curve.high - self.curve.low) * own
        inside = chosen(self.grid.cells, gains, len(places), ends)[1]
        return inside.astype(np.float64), values[0]

    def price(self, prices: FloatArray) -> tuple[FloatArray, float]:
        """Find the best sets of each mass, and with prices moved by what they lack: the best of those."""
        inside, beyond = self._sets(prices, 1)
        then = prices.copy()
        then[: len(self.masses)] += beyond * self.masses
        more, beyond_then = self._sets(then, _SETS)
        sets = np.concatenate([inside, more])
        return self.columns(sets[sets.any(axis=1)]), beyond + beyond_then


@dataclass(frozen=True, slots=True, eq=False)
class GeneralSearch(Search):
    """Columns of any cone: φ is replaced by its tangent at a column, the best column for that by the next, and so on.

    φ is convex, so each step is worth at least as much; it ends in a column that no tangent improves, which need not be
    the best.
    """

    exhaustive: ClassVar[bool] = False
    rounds: ClassVar[int] = 16  # each solves about a hundred programs with a row for each secret and bound

    shape: Shape
    utility: Information
    masses: FloatArray
    parts: tuple[Search, ...]

    @property
    def total(self) -> float | None:
        """What the shape says."""
        return self.shape.total

    def _allowed(self, columns: FloatArray) -> FloatArray:
        """Keep the columns of other cones that lie in this one."""
        shape, secrets = self.shape, len(self.masses)
        auxiliary = [columns.min(axis=1, keepdims=True)] * (
            shape.functionals.shape[1] - secrets - (shape.total is not None)
        )
        auxiliary += [columns.max(axis=1, keepdims=True)] * (shape.total is not None)
        values = np.concatenate([columns, *auxiliary], axis=1) @ shape.functionals.T + 1e-13
        inside = (values[:, list(shape.positive)] >= 0).all(axis=1)
        inside &= (columns.max(axis=1)[:, None] <= values[:, list(shape.upper)]).all(axis=1)
        inside &= (columns.min(axis=1)[:, None] >= values[:, list(shape.lower)] - 2e-13).all(axis=1)
        return np.asarray(columns[inside])

    def _program(self) -> Any:
        """Write the cone as a program: columns, auxiliary numbers, functionals."""
        shape, secrets = self.shape, len(self.masses)
        count, width = shape.functionals.shape
        equal = np.zeros((count + 1, width + count))
        equal[0, :secrets] = self.masses
        equal[1:, :width], equal[1:, width:] = shape.functionals, -np.eye(count)
        blocks = []
        for sign, places in ((1.0, shape.upper), (-1.0, shape.lower)):
            for place in places:
                block = np.zeros((secrets, width + count))
                block[:, :secrets], block[:, width + place] = sign * np.eye(secrets), -sign
                blocks.append(block)
        limits = np.zeros(count + 1 + secrets * len(blocks))
        limits[0] = 1.0
        solver = new_solver(1e-9)
        pass_program(
            solver, np.zeros(width + count), np.concatenate([equal, *blocks]), limits, count + 1, "the cone"
        )
        free = [place for place in range(count) if place not in shape.positive]
        for place in free:
            solver.changeColBounds(width + place, -np.inf, np.inf)
        return solver

    def _best(self, solver: Any, gains: FloatArray, total: float) -> FloatArray:
        """Find the column of the largest gain."""
        width = self.shape.functionals.shape[1]
        cost = np.zeros(width)
        cost[: len(gains)] = -gains
        if self.shape.total is not None:
            cost[-1] = total
        solver.changeColsCost(width, np.arange(width, dtype=np.int32), cost)
        column = np.maximum(run(solver).primal[: len(gains)], 0.0)
        return np.asarray(column / (column @ self.masses))

    def start(self, prices: FloatArray, draws: np.random.Generator) -> FloatArray:
        """Begin with what is best for each secret."""
        own = self.price(np.zeros(len(self.masses) + (self.shape.total is not None)))[0]
        return np.concatenate([own, *(self._allowed(part.start(prices, draws)) for part in self.parts)])

    def carried(self, columns: FloatArray, prices: FloatArray, draws: np.random.Generator) -> FloatArray:
        """Take what each part makes of them, where it is allowed."""
        parts = [*(part.refit(columns) for part in self.parts)]
        parts += [part.carried(columns, prices, draws) for part in self.parts]
        return self._allowed(np.concatenate(parts))

    def flipped(self, columns: FloatArray) -> FloatArray:
        """Take what each part makes of them, where it is allowed."""
        return self._allowed(np.concatenate([part.flipped(columns) for part in self.parts]))

    def price(self, prices: FloatArray) -> tuple[FloatArray, float]:
        """Climb from each secret, or from some of them where they are many."""
        secrets, solver, found = len(self.masses), self._program(), []
        total = float(prices[-1]) if self.shape.total is not None else 0.0
        own = prices[:secrets]
        draws = np.random.default_rng(np.abs(prices * 1e9).astype(np.int64))
        for secret in draws.permutation(secrets)[:_CLIMBS].tolist():
            gains = -own + np.where(draws.random(secrets) < 0.3, self.masses, 0.0)
            gains[secret] += 1.0
            worth = -np.inf
            for _ in range(_STEPS):
                column = self._best(solver, gains, total)
                value = float(self.utility.of_columns(column[None, :], self.masses)[0])
                value -= float(own @ column) + total * float(column.max())
                if value <= worth + 1e-12:
                    break
                worth, gains = value, self.masses * self.utility.slope(column - 1) - own
                found.append((value, column))
        others = [self._allowed(part.price(own if part.total is None else prices)[0]) for part in self.parts]
        columns = np.concatenate([np.array([column for _, column in found]), *others])
        return columns, max(value for value, _ in found)


@dataclass(frozen=True, slots=True, eq=False)
class FloorSearch(Search):
    """Columns with 1 on a set of few sizes, less off it, or a remainder on one more secret."""

    cone: Floor
    utility: Information
    masses: FloatArray
    grid: Grid

    @property
    def total(self) -> None:
        """Entries are bounded one by one."""

    def _columns(self, orders: FloatArray, size: int, low: float, rest: float) -> FloatArray:
        """Set the largest entries to 1, the next one to the remainder, all others to `low`."""
        places = np.argsort(-orders, axis=1)
        columns = np.full(orders.shape, low)
        np.put_along_axis(columns, places[:, :size], 1.0, axis=1)
        if rest:
            np.put_along_axis(columns, places[:, size : size + 1], rest, axis=1)
        return np.asarray(columns / (columns @ self.masses)[:, None])

    def _kinds(self) -> list[tuple[int, float, float]]:
        secrets, share = len(self.masses), 1 / self.cone.factor
        found = [(size, float(low), 0.0) for size, low in self.cone.kinds(secrets) if size and low]
        full = int(share / self.cone.min_mass) if self.cone.min_mass else secrets
        if full < secrets:
            found.append((full, 0.0, float(share / self.cone.min_mass - full)))
        return found

    def refit(self, columns: FloatArray) -> FloatArray:
        """Take the same sets."""
        return self.cone.refit(columns, self.masses)

    def start(self, prices: FloatArray, draws: np.random.Generator) -> FloatArray:
        """Begin with random sets of the sizes that are worth most."""
        secrets, found = len(self.masses), []
        for size, low, rest in self._kinds():
            orders = draws.random((_DRAWS * secrets, secrets))
            found.append(self._columns(orders, size, low, rest))
        columns = np.concatenate(found)
        worths = self.utility.of_columns(columns, self.masses)
        kept = columns[np.argsort(-worths)[: 4 * _DRAWS * secrets]]
        singles = [self._columns(np.eye(secrets), *kind) for kind in self._kinds()[:1]]
        return np.concatenate([kept, *singles])

    def carried(self, columns: FloatArray, prices: FloatArray, draws: np.random.Generator) -> FloatArray:
        """Take the same sets, and with a secret less, where their sizes are allowed, and random ones."""
        sizes, found = (columns > (1 - _TIES) * columns.max(axis=1, keepdims=True)).sum(axis=1), []
        orders = columns + _TIES * draws.random(columns.shape)
        for size, low, rest in self._kinds():
            near = (sizes == size) | (sizes == size + 1)
            found.append(self._columns(orders[near], size, low, rest))
        return np.concatenate([*found, self.start(prices, draws)])

    def price(self, prices: FloatArray) -> tuple[FloatArray, float]:
        """Find the best sets of each size and mass, and what is worth most by slopes of F alone."""
        centres, found = np.linspace(0.02, 0.98, 33), []
        for size, low, rest in self._kinds():
            slopes = Curve(self.utility, low, 1.0).slope(centres)
            orders = slopes[:, None] * self.masses - (1 - low) * prices
            found.append(self._columns(orders, size, low, rest))
        columns = np.concatenate(found)
        worths = self.utility.of_columns(columns, self.masses) - columns @ prices
        order = np.argsort(-worths)[: 2 * _SETS]
        best = np.concatenate(
            [columns[order], self._sets(prices), *(self._swapped(columns[one], prices) for one in order[:4])]
        )
        worths = self.utility.of_columns(best, self.masses) - best @ prices
        return best, float(worths.max())

    def _sets(self, prices: FloatArray) -> FloatArray:
        """Find the best sets of the sizes that are worth most."""
        kinds = {size: Curve(self.utility, low, 1.0) for size, low, rest in self._kinds() if not rest}
        if not kinds:
            return np.zeros((0, len(prices)))
        found = {size: relaxed_worth(curve, self.masses, prices, size, 64) for size, curve in kinds.items()}
        worst = max(kinds, key=lambda size: found[size][0] - kinds[size].low * float(prices.sum()))
        slope = found[worst][1] / (1 - kinds[worst].low)
        sizes: list[int] = []

        def ends(best: FloatArray) -> Any:
            mass, places = np.clip(np.arange(best.shape[1]) / self.grid.size, 1e-12, 1.0), []
            for size, curve in kinds.items():
                value = curve.value(mass) - curve.low * prices.sum()
                value = (value + (1 - curve.low) * (best[size] - slope * mass)) / curve.total(mass)
                places += [(value[cell], size, cell) for cell in np.argsort(-value)[:3]]
            picked = np.array([place[1:] for place in sorted(places, reverse=True)[:_SETS]], dtype=np.int64)
            sizes.extend(picked[:, 0].tolist())
            return picked

        inside = chosen_by_size(self.grid.cells, slope * self.masses - prices, max(kinds), ends)
        raw = np.where(inside, 1.0, np.array([kinds[size].low for size in sizes])[:, None])
        return np.asarray(raw / (raw @ self.masses)[:, None])

    def _swapped(self, column: FloatArray, prices: FloatArray) -> FloatArray:
        """Exchange a secret at the upper end for one at the lower as long as that is worth something."""
        high, low, p = column.max(), column.min(), self.masses
        inside = column > (high + low) / 2
        curve = Curve(self.utility, float(low / high), 1.0)
        if not low or not (np.isclose(column, low) | inside).all():
            return column[None, :]
        worth = -np.inf
        for _ in range(_SWAPS):
            own, other = np.nonzero(inside)[0], np.nonzero(~inside)[0]
            mass = p[inside].sum() + np.append((p[other] - p[own][:, None]).ravel(), 0.0)
            price = prices[inside].sum() + np.append((prices[other] - prices[own][:, None]).ravel(), 0.0)
            value = curve.value(mass) - curve.low * prices.sum() - (1 - curve.low) * price
            value = value / curve.total(mass)
            place = int(value.argmax())
            if place == len(value) - 1 or value[place] <= worth:
                break
            worth = value[place]
            inside[own[place // len(other)]], inside[other[place % len(other)]] = False, True
        raw = np.where(inside, 1.0, curve.low)
        return np.asarray(raw / (raw @ p))[None, :]


def knapsack_search(cone: Cone, masses: Vector, utility: Information) -> Search:
    """Look for columns of a cone by knapsacks, which are told apart by the masses of their sets."""
    p = np.array([float(mass) for mass in masses])
    if isinstance(cone, Box):
        return BoxSearch(cone, utility, p, search_grid(masses, float(cone.share)))
    if isinstance(cone, Floor):
        most = max(size for size, _ in cone.kinds(len(masses)))
        return FloorSearch(cone, utility, p, search_grid(masses, float(most) / 10))
    assert isinstance(cone, Ratio | Peaks)
    curve = Curve(utility, 1.0, cone.factor) if isinstance(cone, Ratio) else Curve(utility, 0.0, 1.0)
    return RatioSearch(cone, curve, p, search_grid(masses, 1.0))
