"""The linear program of the best randomised release, by generation of values.

Maximise Σ_x n_x Σ_y K(y | x) u(y) over kernels K that keep every limit (see `limits`). With prices μ_yr ≥ 0 on the
limits, λ ≥ 0 on the people who may be exposed, and a_rx the excess of cell x over limit r,

    detail ≤ λ·(people who may be exposed)
             + Σ_x max_{y ∋ x} { n_x u(y) − Σ_r μ_yr a_rx − [y = {x} breaks a limit] λ n_x },

whatever the prices: that is the bound of a certificate. The program starts with few values. What a value outside it
would be worth is priced without a solver: given the worth ν_x of each cell inside, the least prices at which its risky
cells are no longer worth more than ν_x are found by raising prices from 0, and if some other cell is then worth more
than ν_x, the value joins. Where every cell is over one limit at most, these prices are the best ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.tally import Places
from tightlip.errors import SolverFailure
from tightlip.numeric.linear_program import interior_point, minimise
from tightlip.numeric.parse import FloatArray
from tightlip.protection.clock import Deadline
from tightlip.protection.limits import Limits, risky_cells
from tightlip.protection.rows import Rows
from tightlip.protection.values import Values

_HAIR = (
    1e-7  # limits are tightened by so much for the solver, so that what it returns keeps them after rounding
)
_NEAREST = 2  # of the smallest harmless values around each risky cell, the first to be tried
_HELPERS = 6  # cells with most room for each detail lost, the first to be tried in each value and limit
_GROWTH = 4  # a round lets a quarter as many values join as there are, those of the largest worth
_ROUNDS = 40
_IN_USE = 1e-4  # a share above which an interior point uses a pair
_NOISE = 1e-6  # people; an interior point's prices are off by so much: a pair of no more worth would not help
_DEAREST = 1e9  # a price at which a value is surely of no use
_MOST_RAISES = 60

Mask = NDArray[np.bool_]
OnRound = Callable[[float, float], None]


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """What a solver found: shares of pairs (not yet exact), prices, and the bound they give in floats.

    Attributes
    ----------
    pairs, share : what the kernel has
    prices, exposure_price : of limits (rows) in values (columns), and of exposing a person
    detail, bound : what the kernel keeps, and what the prices prove
    worth : of each cell, at the prices
    finished : whether the gap that was asked for is reached; otherwise time or rounds ran out, or the solver failed
    stopped : whether Ctrl-C ended it
    """

    pairs: Places
    share: FloatArray
    prices: FloatArray
    exposure_price: float
    detail: float
    bound: float
    worth: FloatArray
    finished: bool = False
    stopped: bool = False

    def join(self, other: Optimum) -> Optimum:
        """Take the better kernel and the better bound of two."""
        kernel = self if self.detail >= other.detail else other
        bound = self if self.bound <= other.bound else other
        return replace(bound, pairs=kernel.pairs, share=kernel.share, detail=kernel.detail)

    def ended(self) -> Optimum:
        """The same, and the gap that was asked for is reached."""
        return replace(self, finished=True)

    def interrupted(self) -> Optimum:
        """The same, ended by Ctrl-C."""
        return replace(self, finished=False, stopped=True)


class Program:
    """The program over all values of some cells; `detail` is u(y) of each value.

    `least` is the fewest people who may share a value; only the choice of pairs takes note of it.
    """

    def __init__(self, values: Values, limits: Limits, detail: FloatArray, least: int = 1) -> None:
        self.values, self.limits, self.detail = values, limits, detail
        self.people, self.total = limits.amounts, limits.size
        self.excess = _tightened(limits)
        self.risky = risky_cells(limits)
        self.single = np.bincount(values.value, minlength=len(values)) == 1
        self.says_least = np.zeros(len(values), dtype=bool)
        self.says_least[values.last] = True
        exposed = self.single[values.value] & self.risky[values.cell]
        # only these pairs matter: a value without a risky or too small cell is no better than its cells as they are
        helps = np.zeros(len(values), dtype=bool)
        helps[values.value[(self.risky | (limits.people < least))[values.cell]]] = True
        useful = np.where(self.single[values.value], ~self.risky[values.cell], helps[values.value])
        useful |= self.says_least[values.value]
        if limits.exposed > 0:
            useful |= exposed
        kept = np.flatnonzero(useful)
        self.value, self.cell = values.value[kept], values.cell[kept]
        self.exposed = exposed[kept]
        self.own = self.people[self.cell] * detail[self.value]

    @property
    def allowed(self) -> float:
        """The people who may be exposed."""
        return float(self.limits.exposed) * self.total

    def solve(self, gap: float, until: Deadline, on_round: OnRound) -> Optimum:
        """Solve to a relative gap of detail, or as near as rounds and time (of the monotonic clock) allow.

        A solver that fails and Ctrl-C end it with the best so far; Ctrl-C before there is any is passed on.
        """
        found = self._solve(gap, until, on_round, interior_point)
        tight, self.excess = self.excess, _tightened(self.limits, 0.0)
        if found is not None:
            found = replace(found, bound=self._bound_at(found))
            if found.stopped or not found.finished or found.bound - found.detail <= 2 * gap * found.detail:
                self.excess = tight
                return found
        # some values keep a limit exactly, with no room for a hair, nor for an interior
        try:
            again = self._solve(gap, until, on_round, minimise)
        except KeyboardInterrupt:
            if found is None:
                raise
            return found.interrupted()
        if found is None or again is None:
            return again if again is not None else found if found is not None else self.nothing()
        return replace(again.join(found), finished=again.finished, stopped=again.stopped)

    def _solve(self, gap: float, until: Deadline, on_round: OnRound, solver: Any) -> Optimum | None:
        best = self.nothing()
        proved = False
        try:
            active, chosen = self.start()
            for _ in range(_ROUNDS):
                found, gain = self._round(active, chosen, until, solver)
                best, proved = best.join(found), True
                on_round(best.detail, best.bound)
                if best.bound - best.detail <= gap * best.detail or gain.max() <= _NOISE:
                    best = best.ended()
                    break
                if until.left() <= 0:
                    break
                self.grow(active, chosen, gain)
            return self._polish(best, until)
        except SolverFailure:
            return best if proved else None
        except KeyboardInterrupt:
            if not proved:
                raise
            return best.interrupted()

    def nothing(self) -> Optimum:
        """Publish nothing, and prove what needs no price: a risky cell is not published as it is."""
        pairs = np.flatnonzero(self.says_least[self.value])
        prices = np.zeros((len(self.excess), len(self.values)))
        exposure = float(self.detail.max())  # nobody is worth exposing at that
        score = self.score(prices, exposure)
        worth = np.full(len(self.people), -np.inf)
        np.maximum.at(worth, self.cell, score)
        detail = float(self.own[pairs].sum()) / self.total
        bound = self._bound_of(score, exposure)
        return Optimum(pairs, np.ones(len(pairs)), prices, exposure, detail, bound, worth)

    def _round(self, active: Mask, chosen: Mask, until: Deadline, solver: Any) -> tuple[Optimum, FloatArray]:
        """Solve over some pairs of active values, and price all others: what each pair is worth more than its cell."""
        pairs = np.flatnonzero(chosen & active[self.value])
        share, worth, prices, exposure = self._restricted(pairs, solver, until)
        return self.priced(pairs, share, worth, prices, exposure)

    def priced(
        self,
        pairs: Places,
        share: FloatArray,
        worth: FloatArray,
        prices: FloatArray,
        exposure: float,
        raises: int = _MOST_RAISES,
    ) -> tuple[Optimum, FloatArray]:
        """What was found over some pairs, and what each pair of all is worth more than its cell."""
        prices = self._raise_prices(prices, worth, raises)
        score = self.score(prices, exposure)
        detail = float(self.own[pairs] @ share) / self.total
        bound = self._bound_of(score, exposure)
        kept = share > 0
        found = Optimum(pairs[kept], share[kept], prices, exposure, detail, bound, worth)
        return found, score - worth[self.cell]

    def grow(self, active: Mask, chosen: Mask, gain: FloatArray, growth: int = _GROWTH) -> None:
        """Let the values of the largest worth join, with the pairs that make them so."""
        surplus = np.bincount(self.value, np.maximum(gain, 0.0), len(self.values))
        waiting = np.flatnonzero(~active & (surplus > _NOISE))
        some = max(200, int(active.sum()) // growth)
        joining = waiting[np.argsort(-surplus[waiting])][:some]
        chosen |= gain > _NOISE
        active[joining] = True
        chosen |= self.risky[self.cell] & active[self.value]

    def _polish(self, best: Optimum, until: Deadline) -> Optimum:
        """Move to a vertex: solve over the pairs in use by the simplex method, which uses few of them."""
        chosen = self.says_least[self.value].copy()
        chosen[best.pairs[best.share > _IN_USE]] = True
        pairs = np.flatnonzero(chosen)
        share = self._restricted(pairs, minimise, until)[0]
        kept = share > 0
        detail = float(self.own[pairs] @ share) / self.total
        vertex = replace(best, pairs=pairs[kept], share=share[kept], detail=detail)
        return vertex if detail >= best.detail - _IN_USE else best

    def start(self) -> tuple[Mask, Mask]:
        """The first values: cells as they are, nothing, and the finest harmless values around each risky cell."""
        sums = np.array([np.bincount(self.value, own[self.cell], len(self.values)) for own in self.excess])
        harmless = np.asarray((sums.reshape(len(self.excess), len(self.values)) <= 0).all(axis=0))
        active = self.single | self.says_least
        around = np.flatnonzero(self.risky[self.cell] & harmless[self.value] & ~self.single[self.value])
        around = around[np.lexsort((-self.detail[self.value[around]], self.cell[around]))]
        active[self.value[around[_rank(self.cell[around]) < _NEAREST]]] = True
        chosen = self.risky[self.cell] | self.single[self.value] | self.says_least[self.value]
        chosen |= self._helpers(chosen)
        return active, chosen

    def _helpers(self, chosen: Mask) -> Mask:
        """For each value and limit the cells that lose least detail for the room they give."""
        found = np.zeros(len(self.value), dtype=bool)
        alone = np.zeros(len(self.people))
        np.maximum.at(alone, self.cell, self.own)
        for own in self.excess:
            room = np.flatnonzero(~chosen & (own[self.cell] < 0))
            cost = (alone[self.cell[room]] - self.own[room]) / -own[self.cell[room]]
            room = room[np.lexsort((cost, self.value[room]))]
            found[room[_rank(self.value[room]) < _HELPERS]] = True
        return found

    def rows(self, pairs: Places) -> Rows:
        """The constraints over some pairs."""
        value, cell, exposed = self.value[pairs], self.cell[pairs], self.exposed[pairs]
        return Rows.of(value, cell, exposed, self.people, self.excess, self.allowed)

    def _restricted(
        self, pairs: Places, solve: Any, until: Deadline
    ) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        """Solve the program over some pairs: their shares, the worth of each cell, prices, price of exposure."""
        rows = self.rows(pairs)
        found = solve(-self.own[pairs], rows.matrix, rows.limits, equal=rows.cells, seconds=until.left())
        prices, exposure = rows.duals(found.duals, len(self.excess), len(self.values))
        return np.clip(found.primal, 0.0, 1.0), -found.duals[: rows.cells], prices, exposure

    def _raise_prices(self, prices: FloatArray, worth: FloatArray, raises: int) -> FloatArray:
        """Raise the prices of values until their risky cells outside the program are worth no more than inside.

        Where two limits pull against each other for ever, the value belongs inside; of the prices tried, those at
        which its cells are worth least are kept.
        """
        if not len(self.excess):
            return prices
        at = np.flatnonzero(~self.exposed) if self.exposed.any() else slice(None)
        value, cell = self.value[at], self.cell[at]
        risky = self.risky[cell]
        most = self.excess[:, cell].argmax(axis=0)
        steep = self.excess[most, cell]
        need = self.own[at] - worth[cell]
        found, best = prices.copy(), prices.copy()
        least = np.full(len(self.values), np.inf)
        for _ in range(raises):
            short = need.copy()
            for price, own in zip(found, self.excess, strict=True):
                short -= price[value] * own[cell]
            surplus = np.bincount(value, np.maximum(short, 0.0), len(self.values))
            better = surplus < least
            least[better], best[:, better] = surplus[better], found[:, better]
            low = np.flatnonzero(risky & (short > _NOISE) & (steep > 0))
            if not len(low):
                break
            raised = np.minimum(found[most[low], value[low]] + short[low] / steep[low], _DEAREST)
            np.maximum.at(found, (most[low], value[low]), raised)
            # only values that still change are looked at again
            changing = np.zeros(len(self.values), dtype=bool)
            changing[value[low]] = True
            again = changing[value]
            value, cell, risky = value[again], cell[again], risky[again]
            most, steep, need = most[again], steep[again], need[again]
        return best

    def score(self, prices: FloatArray, exposure: float) -> FloatArray:
        """What each pair is worth at these prices."""
        score = self.own.copy()
        for price, own in zip(prices, self.excess, strict=True):
            score -= price[self.value] * own[self.cell]
        out = np.flatnonzero(self.exposed)
        score[out] = self.own[out] - exposure * self.people[self.cell[out]]
        return score

    def _bound_at(self, found: Optimum) -> float:
        return self._bound_of(self.score(found.prices, found.exposure_price), found.exposure_price)

    def _bound_of(self, score: FloatArray, exposure: float) -> float:
        """The bound that prices prove, in floats."""
        best = np.full(len(self.people), -np.inf)
        np.maximum.at(best, self.cell, score)
        return (float(best.sum()) + exposure * self.allowed) / self.total


def _tightened(limits: Limits, hair: float = _HAIR) -> FloatArray:
    """Each cell's excess and a hair; a cell that keeps a limit keeps it, be it exactly: it then has no part in it."""
    own = np.arange(len(limits.people), dtype=np.intp)
    over = limits.broken(own, own, np.ones(len(own), dtype=np.int64), len(own))
    excess = limits.excess() + hair * limits.amounts
    return np.asarray(np.where(over, excess, np.minimum(excess, 0.0)))


def _rank(sorted_keys: Places) -> Places:
    """The place of each entry among those of its key."""
    return np.arange(len(sorted_keys)) - np.searchsorted(sorted_keys, sorted_keys)
