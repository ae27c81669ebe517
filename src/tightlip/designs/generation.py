"""Column generation for f-informations: the best mixture of extreme columns, in floats.

    maximise Σ_i λ_i φ(v_i)   over columns v_i of the cone with p·v_i = 1, λ ≥ 0, Σ_i λ_i v_i = 1

has as many columns as there are sets of secrets. A master program holds some of them; its prices w ask for columns with
φ(v) > w·v, which knapsacks find (`pricing` has the formulas). The first columns are sets of the best mass, chosen at
random: where secrets are many, their mixtures are optimal to many digits. Prices between the master's and those of the
best bound so far keep it from wandering. Another level of a guarantee has the same sets, but for a few secrets: there a
search goes on from the columns of the level before.

What comes back is a suggestion: `information` repairs the channel, and `pricing` proves what the prices say.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightlip.designs.f_information import Information
from tightlip.designs.interior import Shape
from tightlip.designs.pricing import Box, Curve, Floor, critical, relaxed_worth
from tightlip.designs.subset_sums import Grid, Knapsack, chosen, chosen_by_size, sampled, tuned
from tightlip.numeric.linear_program import _pass_program as pass_program
from tightlip.numeric.linear_program import new_solver, run
from tightlip.numeric.parse import FloatArray

CLOSE = 1e-8  # relative gap at which the search ends
_ROUNDS = 300  # of the master program; each takes some hundredths of a second at a hundred secrets
_FOLLOWED = 6  # of them where a search goes on from another level; one or two are the rule
_DRAWS = 2  # random sets for each secret to start with; twice as many columns as rows make mixtures easy
_SAMPLED = 200  # random sets for each further level; more make its master slow, fewer its search long
_NOISE = 1e-3  # of the prices, so that random sets differ: sets stray from the best mass by as little
_STALL, _SHRINK = 12, 0.9  # rounds, and the part of the gap that must not be left after them
_SETS = 12  # of each pricing that are added to the master
_MIX = 0.5  # of the best prices so far in those that are tried first
_WORTH = 1e-10  # a reduced cost, relative to the optimum, that is no improvement
_STRAY = 1e-14  # more than the rounding of masses of sets
_PLACES = 128  # of masses, to find a slope
_CLIMBS, _STEPS = 24, 8  # from so many secrets, with so many tangents
_SWAPS = 8  # of secrets of a set, one after the other
_POOL = 2  # columns for each secret that another level goes on with; more make its master slow, fewer its search long
_TIES = 1e-3  # of an entry: what is drawn at random between secrets that a column treats alike
_TRIES = 6  # pricings in a row with prices that vary at random before none is taken to be left


class Search(ABC):
    """Where columns of one kind of cone come from."""

    __slots__ = ()
    rounds: ClassVar[int] = _ROUNDS
    exhaustive: ClassVar[bool] = True  # whether `price` finds the best column, but for the rounding of a grid

    @abstractmethod
    def start(self, draws: np.random.Generator) -> FloatArray:
        """Make columns to begin with."""

    def carried(self, columns: FloatArray, draws: np.random.Generator) -> FloatArray:
        """Make columns of those of a stricter level, which are allowed as they are."""
        return columns

    def expected(self) -> FloatArray:
        """Tell prices that move with the level as the best ones do, but for a multiple of the masses."""
        return np.zeros(1)

    @abstractmethod
    def price(self, prices: FloatArray) -> tuple[FloatArray, float]:
        """Find columns with φ(v) − w·v large, and about how large it can be."""


class Mixture(NamedTuple):
    """The best mixture of columns: these, their shares, prices that may prove it good, and what another level needs.

    The first prices promise most: those of the best bound that was seen, or of the mixture where none was. The pool are
    the columns nearest to it, the centre the prices of the bound beyond those that were expected.
    """

    columns: FloatArray
    shares: FloatArray
    prices: list[FloatArray]
    pool: FloatArray
    centre: FloatArray


def generate(
    search: Search,
    utility: Information,
    masses: FloatArray,
    total: float | None = None,
    *,
    before: Mixture | None = None,
    close: float = CLOSE,
) -> Mixture:
    """Find the best mixture of columns up to a relative gap, from random ones or from the pool of a stricter level.

    With a `total`, the columns' largest entries, times their shares, sum to at most that; its price comes last.
    """
    draws, secrets, master = np.random.default_rng(0), len(masses), _Master(utility, masses, total)
    begin = search.start(draws) if before is None else search.carried(before.pool, draws)
    master.add(np.concatenate([np.ones((1, secrets)), begin]))
    known = None if before is None or not search.exhaustive else search.expected() + before.centre
    best, bound, tries, gaps = np.zeros(len(master.limits)), np.inf, 0, []
    for _ in range(search.rounds if before is None else min(search.rounds, _FOLLOWED)):
        value, prices = master.solve()
        gaps.append(bound - value)
        stalled = len(gaps) > _STALL and gaps[-1] > _SHRINK * gaps[-1 - _STALL]
        if np.isfinite(bound) and (gaps[-1] <= close * max(bound, 0.0) or stalled):
            break
        asked = _asked(prices, best if np.isfinite(bound) else None, tries, draws)
        if known is not None and len(gaps) == 1:
            asked = known
        columns, beyond = search.price(asked)
        if search.exhaustive and asked @ master.limits + beyond < bound:
            best, bound = asked.copy(), float(asked @ master.limits + beyond)
            best[:secrets] += beyond * masses
        worths = utility.of_columns(columns, masses) - master.entries(columns) @ prices
        better = worths > _WORTH * max(value, 1e-300)
        tries = 0 if better.any() else tries + 1
        if tries >= _TRIES:
            break
        master.add(columns[better])
    value, prices = master.solve()
    both = [best[:secrets], prices[:secrets]][:: 1 if search.exhaustive else -1]
    return Mixture(*master.mixture(), both, master.nearest(prices), best - search.expected())


def _asked(prices: FloatArray, best: FloatArray | None, tries: int, draws: np.random.Generator) -> FloatArray:
    """Mix prices of the best bound into the master's first; then its own are tried, then others near them."""
    asked = prices if tries or best is None else _MIX * best + (1 - _MIX) * prices
    if tries > 1:
        asked = asked * (1 + _NOISE * 0.1**tries * draws.standard_normal(len(asked)))
    return asked


class _Master:
    """The program over the columns so far; HiGHS goes on from its last basis."""

    def __init__(self, utility: Information, masses: FloatArray, total: float | None) -> None:
        self._utility, self._masses, self._solver = utility, masses, new_solver(1e-9)
        self._columns, self._shares = np.zeros((0, len(masses))), np.zeros(0)
        self._known: set[bytes] = set()
        self._total, self.limits = total, np.ones(len(masses))
        nothing = np.array([], dtype=np.int32), np.array([])
        for _ in masses:
            self._solver.addRow(1.0, 1.0, 0, *nothing)
        if total is not None:
            self._solver.addRow(0.0, total, 0, *nothing)
            self.limits = np.append(self.limits, total)

    def entries(self, columns: FloatArray) -> FloatArray:
        """Write what columns put into the rows of the program."""
        if self._total is None:
            return columns
        return np.concatenate([columns, columns.max(axis=1, keepdims=True)], axis=1)

    def add(self, columns: FloatArray) -> None:
        """Add columns that are not there yet."""
        import highspy

        fresh = []
        for column in columns:
            key = np.round(column, 12).tobytes()
            if key not in self._known:
                self._known.add(key)
                fresh.append(column)
        if not fresh:
            return
        added = np.array(fresh)
        self._columns = np.concatenate([self._columns, added])
        costs, added = -self._utility.of_columns(added, self._masses), self.entries(added)
        places = np.nonzero(added)
        starts = np.searchsorted(places[0], np.arange(len(added))).astype(np.int32)
        most = np.full(len(added), highspy.kHighsInf)
        rows, values = places[1].astype(np.int32), added[places]
        self._solver.addCols(len(added), costs, np.zeros(len(added)), most, len(values), starts, rows, values)

    def solve(self) -> tuple[float, FloatArray]:
        """Return the value and the prices of the rows."""
        found = run(self._solver, "the master program")
        self._shares = found.primal
        return -found.cost, -found.duals

    def mixture(self) -> tuple[FloatArray, FloatArray]:
        """Return the columns in use and their shares, solved once more for digits that the solver does not give."""
        used = self._shares > 1e-11 * self._shares.max()
        columns, shares = self._columns[used], self._shares[used]
        better: Any = np.linalg.lstsq(columns.T, np.ones(len(self._masses)), rcond=None)[0]
        if len(shares) <= len(self._masses) and better.min() >= 0:
            shares = better
        return columns, shares

    def nearest(self, prices: FloatArray) -> FloatArray:
        """Return the columns that are in use or nearest to it, by what they lack of their price."""
        lacks = self.entries(self._columns) @ prices - self._utility.of_columns(self._columns, self._masses)
        return self._columns[np.argsort(lacks)[: _POOL * len(self._masses)]]


@dataclass(frozen=True, slots=True, eq=False)
class Listed(Search):
    """All extreme columns of a cone, where they are few."""

    columns: FloatArray
    utility: Information
    masses: FloatArray

    def start(self, draws: np.random.Generator) -> FloatArray:
        """Begin with all of them."""
        return self.columns

    def price(self, prices: FloatArray) -> tuple[FloatArray, float]:
        """Look through all of them."""
        worths = self.utility.of_columns(self.columns, self.masses) - self.columns @ prices
        return self.columns[np.argsort(-worths)[:_SETS]], float(worths.max())


def sets_of(secrets: int) -> FloatArray:
    """List all sets as rows of zeros and ones, but for the empty one and the whole."""
    places = np.arange(1, 2**secrets - 1)
    return ((places[:, None] >> np.arange(secrets)) & 1).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class BoxSearch(Search):
    """Columns between two bounds: knapsacks with one fractional item."""

    box: Box
    utility: Information
    masses: FloatArray
    grid: Grid

    @property
    def share(self) -> float:
        """Compute the mass at the upper bound if none is between, in floats: `Box.share` is for proofs."""
        return min((1 - self.box.lower) / (self.box.upper - self.box.lower), 1.0)

    def filled(self, orders: FloatArray) -> FloatArray:
        """Raise entries to the upper bound, largest order first, until the mass is used up."""
        share, span = self.share, self.box.upper - self.box.lower
        places = np.argsort(-orders, axis=1, kind="stable")
        p = self.masses[places]
        before = np.cumsum(p, axis=1) - p
        parts = np.clip((share - before) / np.where(p > 0, p, 1.0), 0.0, 1.0)
        columns = np.empty_like(orders)
        np.put_along_axis(columns, places, self.box.lower + span * parts, axis=1)
        return columns / (columns @ self.masses)[:, None]

    def start(self, draws: np.random.Generator) -> FloatArray:
        """Begin with each secret first, and with random sets and one small secret to fill up."""
        secrets = len(self.masses)
        orders = draws.random((secrets, secrets)) + np.eye(secrets)
        found = [self.filled(orders)]
        small = np.argsort(self.masses)[: -(-secrets // 2)]
        for _ in range(_DRAWS * secrets):
            noise = _NOISE * self.masses * draws.standard_normal(secrets)
            found.append(self._sets(noise, np.zeros(secrets), int(draws.choice(small)), 1))
        return np.concatenate(found)

    def carried(self, columns: FloatArray, draws: np.random.Generator) -> FloatArray:
        """Fill the same secrets first, as far as the mass reaches, then each first or last, and random sets."""
        single = np.eye(len(self.masses))
        orders = np.concatenate([columns, single, -single])
        sets = sampled(self.grid, self.share, _SAMPLED, draws)
        return np.concatenate([self.filled(orders + _TIES * draws.random(orders.shape)), self._full(sets)])

    def expected(self) -> FloatArray:
        """Price each secret by the column that is worth most with it: those heavier than the share are alone there."""
        low, p = self.box.lower, self.masses
        high = np.minimum(self.box.upper, low + (1 - low) / np.maximum(p, 1e-300))
        share = (1 - low) / (high - low)
        ends = self.utility.excess(high - 1), self.utility.excess(np.array([low - 1]))
        return np.asarray(p * (share * ends[0] + (1 - share) * ends[1]))

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


def box_columns(box: Box, masses: FloatArray) -> FloatArray:
    """List all extreme columns of a box."""
    share, span, found = float(box.share), box.upper - box.lower, []
    for between in range(len(masses)):
        sets = np.insert(sets_of(len(masses) - 1), between, 0.0, axis=1)
        sets = np.concatenate([sets, np.zeros((1, len(masses))), np.ones((1, len(masses)))])
        sets[:, between] = 0.0
        parts = (share - sets @ masses) / masses[between] if masses[between] else np.full(len(sets), -1.0)
        fits = (parts >= -1e-12) & (parts <= 1 + 1e-12)
        sets[:, between] = np.clip(parts, 0.0, 1.0)
        found.append(box.lower + span * sets[fits])
    columns = np.concatenate(found)
    return np.asarray(columns / (columns @ masses)[:, None])


@dataclass(frozen=True, slots=True, eq=False)
class RatioSearch(Search):
    """Columns with `high` on a set and `low` off it, for sets of any size."""

    curve: Curve
    masses: FloatArray
    grid: Grid

    def columns(self, inside: FloatArray) -> FloatArray:
        """Write columns of sets, scaled."""
        raw = self.curve.low + (self.curve.high - self.curve.low) * inside
        return np.asarray(raw / (raw @ self.masses)[:, None])

    def start(self, draws: np.random.Generator) -> FloatArray:
        """Begin with single secrets, with all but one, and with random sets of the best mass."""
        secrets = len(self.masses)
        level = self._best_mass()[1]
        single = np.eye(secrets)
        found = [single, 1 - single]
        for _ in range(_DRAWS * secrets):
            noisy = level * self.masses * (1 + _NOISE * draws.standard_normal(secrets))
            found.append(self._sets(noisy, 1)[0])
        return self.columns(np.concatenate(found))

    def carried(self, columns: FloatArray, draws: np.random.Generator) -> FloatArray:
        """Take the same sets, and random ones of the best mass."""
        sets = sampled(self.grid, self._best_mass()[0], _SAMPLED, draws)
        return self.columns(np.concatenate([columns > 1, sets]).astype(np.float64))

    def _best_mass(self) -> tuple[float, float]:
        """Find the mass at which a set is worth most, if nothing has a price, and how much that is."""
        places = (np.arange(4096) + 0.5) / 4096
        worths = self.curve.value(places) / self.curve.total(places)
        return float(places[worths.argmax()]), float(worths.max())

    def _slope(self, prices: FloatArray) -> float:
        """Find the slope of F where sets are worth most, by the bound that looks at no set."""
        places = (np.arange(_PLACES) + 0.5) / _PLACES
        slopes = self.curve.slope(places)
        most = (self.curve.value(places) - slopes[:, None] * places).max(axis=1)
        gains = slopes[:, None] * self.masses - (self.curve.high - self.curve.low) * prices
        return float(slopes[int((most + np.maximum(gains, 0.0).sum(axis=1)).argmin())])

    def _sets(self, prices: FloatArray, count: int) -> tuple[FloatArray, float]:
        """Find sets that are worth most beyond their price, and by how much."""
        places, slope = np.clip(np.arange(self.grid.size + 1) / self.grid.size, 0.0, 1.0), self._slope(prices)
        base = self.curve.value(places) - slope * places - self.curve.low * prices.sum()
        totals, values = self.curve.total(places), []

        def ends(best: FloatArray) -> Any:
            value = (base + best) / totals
            values.append(float(value.max()))
            return np.argsort(-value)[:count]

        # worth beyond the mass that the grid counts, whose rounding would otherwise be taken for profit
        gains = slope * self.masses - (self.curve.high - self.curve.low) * prices
        inside = chosen(self.grid.cells, gains, len(places), ends)[1]
        return inside.astype(np.float64), values[0]

    def price(self, prices: FloatArray) -> tuple[FloatArray, float]:
        """Find the best sets of each mass, and with prices moved by what they lack: the best of those."""
        inside, beyond = self._sets(prices, 1)
        more, beyond_then = self._sets(prices + beyond * self.masses, _SETS)
        return self.columns(np.concatenate([inside, more])), beyond + beyond_then


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

    def start(self, draws: np.random.Generator) -> FloatArray:
        """Begin with what is best for each secret."""
        own = self.price(np.zeros(len(self.masses) + (self.shape.total is not None)))[0]
        return np.concatenate([own, *(self._allowed(part.start(draws)) for part in self.parts)])

    def carried(self, columns: FloatArray, draws: np.random.Generator) -> FloatArray:
        """Take columns as they are, where they are allowed, and what each part makes of them."""
        parts = (part.carried(columns, draws) for part in self.parts)
        return self._allowed(np.concatenate([columns, *parts]))

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
        others = [self._allowed(part.price(own)[0]) for part in self.parts]
        columns = np.concatenate([np.array([column for _, column in found]), *others])
        return columns, max(value for value, _ in found)


@dataclass(frozen=True, slots=True, eq=False)
class FloorSearch(Search):
    """Columns with 1 on a set of few sizes, less off it, or a remainder on one more secret."""

    cone: Floor
    utility: Information
    masses: FloatArray
    grid: Grid

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

    def start(self, draws: np.random.Generator) -> FloatArray:
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

    def carried(self, columns: FloatArray, draws: np.random.Generator) -> FloatArray:
        """Take the same sets, and with a secret less, where their sizes are allowed, and random ones."""
        sizes, found = (columns > (1 - _TIES) * columns.max(axis=1, keepdims=True)).sum(axis=1), []
        orders = columns + _TIES * draws.random(columns.shape)
        for size, low, rest in self._kinds():
            near = (sizes == size) | (sizes == size + 1)
            found.append(self._columns(orders[near], size, low, rest))
        return np.concatenate([*found, self.start(draws)])

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


def ratio_columns(curve: Curve, masses: FloatArray) -> FloatArray:
    """List all extreme columns of LDP."""
    raw = curve.low + (curve.high - curve.low) * sets_of(len(masses))
    return np.asarray(raw / (raw @ masses)[:, None])


def floor_columns(cone: Floor, masses: FloatArray) -> FloatArray:
    """List all extreme columns of (ε, c)-PML."""
    secrets, share, found = len(masses), 1 / cone.factor, []
    for size, low in cone.kinds(secrets):
        if low:
            for places in combinations(range(secrets), size):
                column = np.full(secrets, float(low))
                column[list(places)] = 1.0
                found.append(column)
    full = int(share / cone.min_mass) if cone.min_mass else secrets
    if full < secrets:
        for places in combinations(range(secrets), full):
            for between in set(range(secrets)) - set(places):
                column = np.zeros(secrets)
                column[list(places)], column[between] = 1.0, float(share / cone.min_mass - full)
                found.append(column)
    columns = np.array(found)
    return np.asarray(columns / (columns @ masses)[:, None])
