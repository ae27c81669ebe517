"""The linear program of the best randomised release, by generation of values.

Maximise Σ_x n_x Σ_y K(y | x) u(y) over kernels K that keep every limit (see `limits`). With prices μ_yr ≥ 0 on the limits,
λ ≥ 0 on the people who may be exposed, and a_rx the excess of cell x over limit r,

    detail ≤ λ·(people who may be exposed) + Σ_x max_{y ∋ x} { n_x u(y) − Σ_r μ_yr a_rx − [y = {x} breaks a limit] λ n_x },

whatever the prices: that is the bound of a certificate. The program starts with few values. What a value outside it would
be worth is priced without a solver: given the worth ν_x of each cell inside, the least prices at which its risky cells are
no longer worth more than ν_x are found by raising prices from 0, and if some other cell is then worth more than ν_x, the
value joins. Where every cell is over one limit at most, these prices are the best ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tightlip.auditing.tally import Places
from tightlip.numeric.linear_program import interior_point, minimise
from tightlip.numeric.parse import FloatArray
from tightlip.protection.limits import Limits, risky_cells
from tightlip.protection.values import Values

_HAIR = (
    1e-7  # by which limits are tightened for the solver, so that what it returns keeps them after rounding
)
_NEAREST = 3  # of the smallest harmless values around each risky cell, the first to be tried
_HELPERS = 4  # cells with most room for each detail lost, the first to be tried in each value and limit
_GROWTH = 4  # a round lets a quarter as many values join as there are, those of the largest worth
_ROUNDS = 40
_IN_USE = 1e-4  # a share above which an interior point uses a pair
_NOISE = (
    1e-6  # people; an interior point's prices are off by so much, and a pair of no more worth would not help
)
_DEAREST = 1e9  # a price at which a value is surely of no use
_MOST_RAISES = 60


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """What a solver found: shares of pairs (not yet exact), prices, and the bound they give in floats."""

    pairs: Places
    share: FloatArray
    prices: FloatArray
    exposure_price: float
    detail: float
    bound: float
    worth: FloatArray
    rounds: int


OnRound = Callable[[float, float], None]


class Program:
    """The program over all values of some cells; `detail` is u(y) of each value."""

    def __init__(self, values: Values, limits: Limits, detail: FloatArray) -> None:
        self.values, self.limits, self.detail = values, limits, detail
        self.people = limits.people.astype(np.float64)
        self.excess = limits.excess() + _HAIR * self.people
        self.risky = risky_cells(limits)
        self.single = np.bincount(values.value, minlength=len(values)) == 1
        self.says_least = np.zeros(len(values), dtype=bool)
        self.says_least[values.last] = True
        exposed_pair = self.single[values.value] & self.risky[values.cell]
        helps = np.zeros(len(values), dtype=bool)
        helps[values.value[self.risky[values.cell]]] = True
        useful = np.where(self.single, ~helps, helps)[values.value]
        useful |= self.says_least[values.value]
        if limits.exposed > 0:
            useful |= exposed_pair
        # only these pairs matter: a value without a risky cell is no better than its cells as they are
        kept = np.flatnonzero(useful)
        self.place = kept
        self.value, self.cell = values.value[kept], values.cell[kept]
        self.exposed = exposed_pair[kept]
        self.own = self.people[self.cell] * detail[self.value]

    def solve(self, gap: float, on_round: OnRound) -> Optimum:
        """Solve to a relative gap of detail, or as near as the rounds allow."""
        active, chosen = self._start()
        best: Optimum | None = None
        for rounds in range(1, _ROUNDS + 1):
            share, worth, prices, exposure = self._restricted(chosen & active[self.value])
            prices = self._raise_prices(prices, worth, ~active)
            score = self.score(prices, exposure)
            best = self._better(
                best, chosen & active[self.value], share, prices, exposure, score, worth, rounds
            )
            on_round(best.detail, best.bound)
            gain = score - worth[self.cell]
            if best.bound - best.detail <= gap * best.detail or gain.max() <= _NOISE:
                break
            surplus = np.bincount(self.value, np.maximum(gain, 0.0), len(self.values))
            waiting = np.flatnonzero(~active & (surplus > _NOISE))
            some = max(200, int(active.sum()) // _GROWTH)
            active[waiting[np.argsort(-surplus[waiting])][:some]] = True
            chosen |= gain > _NOISE
            chosen |= self.risky[self.cell] & active[self.value]
        assert best is not None
        return self._polish(best)

    def _polish(self, best: Optimum) -> Optimum:
        """Move to a vertex: solve over the pairs in use by the simplex method, which uses few of them."""
        chosen = self.says_least[self.value].copy()
        chosen[best.pairs[best.share > _IN_USE]] = True
        share = self._restricted(chosen, minimise)[0]
        held = np.flatnonzero(share > 0)
        detail = float(self.own @ share) / self.limits.total
        vertex = replace(best, pairs=held, share=share[held], detail=detail)
        return vertex if detail >= best.detail - _IN_USE else best

    def _start(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The first values: cells as they are, nothing, and the finest harmless values around each risky cell."""
        sums = np.array([np.bincount(self.value, own[self.cell], len(self.values)) for own in self.excess])
        harmless = (sums.reshape(len(self.excess), len(self.values)) <= 0).all(axis=0)
        active = self.single.copy()
        active |= self.says_least
        around = np.flatnonzero(self.risky[self.cell] & harmless[self.value] & ~self.single[self.value])
        around = around[np.lexsort((-self.detail[self.value[around]], self.cell[around]))]
        rank = np.arange(len(around)) - np.searchsorted(self.cell[around], self.cell[around])
        active[self.value[around[rank < _NEAREST]]] = True
        chosen = self.risky[self.cell] | self.single[self.value] | self.says_least[self.value]
        chosen |= self._helpers(chosen)
        return active, chosen

    def _helpers(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """For each value and limit the cells that lose least detail for the room they give."""
        found = np.zeros(len(self.value), dtype=bool)
        alone = np.zeros(len(self.people))
        alone[self.cell] = np.maximum.reduceat(
            self.own[order := np.argsort(self.cell, kind="stable")],
            np.searchsorted(self.cell[order], np.arange(len(self.people))),
        )[self.cell]
        for own in self.excess:
            room = np.flatnonzero(~chosen & (own[self.cell] < 0))
            cost = (alone[self.cell[room]] - self.own[room]) / -own[self.cell[room]]
            room = room[np.lexsort((cost, self.value[room]))]
            rank = np.arange(len(room)) - np.searchsorted(self.value[room], self.value[room])
            found[room[rank < _HELPERS]] = True
        return found

    def _restricted(
        self, chosen: NDArray[np.bool_], solve: Any = interior_point
    ) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        """Solve the program over some pairs: their shares, the worth of each cell, prices, price of exposure."""
        pairs = np.flatnonzero(chosen)
        value, cell = self.value[pairs], self.cell[pairs]
        rows, cols, entries = [cell], [np.arange(len(pairs))], [np.ones(len(pairs))]
        cells, height = len(self.people), len(self.people)
        row_of = np.full((len(self.excess), len(self.values)), -1)
        bound = ~self.exposed[pairs]
        for limit, own in enumerate(self.excess):
            over = np.zeros(len(self.values), dtype=bool)
            over[value[(own[cell] > 0) & bound]] = True
            row_of[limit, over] = height + np.arange(over.sum())
            height += int(over.sum())
            inside = np.flatnonzero(over[value] & bound)
            rows.append(row_of[limit, value[inside]])
            cols.append(inside)
            entries.append(own[cell[inside]])
        limit_of = np.zeros(height)
        limit_of[:cells] = 1.0
        if self.exposed.any():
            out = np.flatnonzero(self.exposed[pairs])
            rows.append(np.full(len(out), height))
            cols.append(out)
            entries.append(self.people[cell[out]])
            limit_of = np.append(limit_of, float(self.limits.exposed) * self.limits.total)
            height += 1
        matrix = sparse.csc_array(
            (np.concatenate(entries), (np.concatenate(rows), np.concatenate(cols))),
            shape=(height, len(pairs)),
        )
        found = solve(-self.own[pairs], matrix, limit_of, equal=cells)
        share = np.zeros(len(self.value))
        share[pairs] = np.clip(found.primal, 0.0, 1.0)
        prices = np.where(row_of >= 0, np.maximum(-found.duals[row_of], 0.0), 0.0)
        exposure = max(-float(found.duals[-1]), 0.0) if self.exposed.any() else 0.0
        return share, -found.duals[:cells], prices, exposure

    def _raise_prices(self, prices: FloatArray, worth: FloatArray, outside: NDArray[np.bool_]) -> FloatArray:
        """Raise the prices of values outside the program until their risky cells are worth no more than inside."""
        if not len(self.excess):
            return prices
        over = np.flatnonzero(self.risky[self.cell] & outside[self.value] & ~self.exposed)
        value, excess = self.value[over], self.excess[:, self.cell[over]]
        most = excess.argmax(axis=0)
        steep = excess[most, np.arange(len(over))]
        need = self.own[over] - worth[self.cell[over]]
        found = prices.copy()
        for _ in range(_MOST_RAISES):
            short = need - (found[:, value] * excess).sum(axis=0)
            low = np.flatnonzero((short > 1e-9) & (steep > 0))
            if not len(low):
                break
            raised = np.minimum(found[most[low], value[low]] + short[low] / steep[low], _DEAREST)
            np.maximum.at(found, (most[low], value[low]), raised)
            if found.max() >= _DEAREST and (found[most[low], value[low]] >= _DEAREST).all():
                break
        return found

    def score(self, prices: FloatArray, exposure: float) -> FloatArray:
        """What each pair is worth at these prices."""
        score = self.own.copy()
        bound = ~self.exposed
        for price, own in zip(prices, self.excess, strict=True):
            score[bound] -= price[self.value[bound]] * own[self.cell[bound]]
        score[self.exposed] -= exposure * self.people[self.cell[self.exposed]]
        return score

    def bound_of(self, score: FloatArray, exposure: float) -> float:
        """The bound that prices prove, in floats."""
        best = np.full(len(self.people), -np.inf)
        np.maximum.at(best, self.cell, score)
        return (
            float(best.sum() + exposure * float(self.limits.exposed) * self.limits.total) / self.limits.total
        )

    def _better(
        self,
        best: Optimum | None,
        chosen: Any,
        share: FloatArray,
        prices: FloatArray,
        exposure: float,
        score: FloatArray,
        worth: FloatArray,
        rounds: int,
    ) -> Optimum:
        """Keep the best kernel and the best bound of all rounds, which may come from different ones."""
        detail = float(self.own @ share) / self.limits.total
        bound = self.bound_of(score, exposure)
        held = np.flatnonzero(share > 0)
        new = Optimum(held, share[held], prices, exposure, detail, bound, worth, rounds)
        if best is None or bound <= best.bound:
            return new if best is None or detail >= best.detail else _mixed(best, new, rounds)
        return _mixed(new, best, rounds) if detail >= best.detail else best


def _mixed(kernel: Optimum, bound: Optimum, rounds: int) -> Optimum:
    """The kernel of one round with the bound of another."""
    return Optimum(
        kernel.pairs,
        kernel.share,
        bound.prices,
        bound.exposure_price,
        kernel.detail,
        bound.bound,
        bound.worth,
        rounds,
    )
