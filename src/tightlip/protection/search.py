"""The best deterministic release: each cell wholly to one value.

A search of large neighbourhoods. The cells inside a coarse value are freed, all others stay as they are, and an
integer program finds the best assignment of the freed ones among the pairs whose worth, at the prices of the linear
program, is near the best of their cell. Neighbourhoods are drawn by how far their cells are from the linear program's
optimum, and become larger while they are solved quickly. A table of few pairs is one neighbourhood. What is found is
checked exactly; how much better any deterministic release could be is bounded by the linear program.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tightlip.auditing.tally import Places
from tightlip.errors import SolverFailure
from tightlip.numeric.linear_program import integer_program
from tightlip.numeric.parse import FloatArray
from tightlip.protection.clock import Effort
from tightlip.protection.kernel import Kernel
from tightlip.protection.program import Optimum, Program
from tightlip.protection.rows import Held, Rows

_FEW = 1_500  # pairs of a table that is solved in one piece, to the end
_NEAR = 0.2  # detail per person that a pair may be worth less than the best of its cell, to be tried
_NEAREST = 12  # pairs of each cell that are tried
_FIRST, _LATER, _LARGEST = (
    400,
    2_000,
    8_000,
)  # pairs of a neighbourhood; the first has a twentieth, within limits
_GROWTH = 1.15  # of neighbourhoods, after one that was solved quickly
_QUICK, _LONGEST = 0.5, 2.0  # seconds of an idle core for a neighbourhood
_GAP = 1e-3  # relative, to which neighbourhoods are solved
_NARROW, _SMALL = (
    0.02,
    8_000,
)  # a first program over pairs so near the best of their cell, where they are so few
_ROUGH = 5e-3  # relative gap, to which that one is solved
_PATIENCE = 80  # neighbourhoods in a row that bring nothing, after which the search ends by itself
_GAIN = 1e-9  # of detail; less is rounding
_ROUNDING = 1e-6  # people; sums of excesses are off by less


class Assignment:
    """The search over the pairs of a program, given its optimum; `least` is the fewest people who share a value."""

    def __init__(self, program: Program, optimum: Optimum, least: int) -> None:
        self.program, self.least, self.worth = program, least, optimum.worth
        self.excess = program.limits.excess()
        self.cells, self.values = len(program.people), len(program.values)
        self.chosen = program.values.last.copy()
        allowed = ~program.exposed | (program.limits.exposed > 0)
        if least > 1:
            sizes = np.bincount(program.value, program.people[program.cell], self.values)
            allowed &= (sizes >= least)[program.value]
        self.allowed = allowed | program.says_least[program.value]
        score = program.score(optimum.prices, optimum.exposure_price)
        self.loss = (self.worth[program.cell] - score) / program.people[program.cell]

    def search(self, effort: Effort, on_found: Callable[[float], None]) -> tuple[Kernel, bool]:
        """Find the best assignment with so much effort; and whether the search ended by itself.

        Ctrl-C ends it with the best so far.
        """
        try:
            self._accept(self._first())
            if self.allowed.sum() <= _FEW:
                finished = self._improve(self._all(), self.allowed, effort, effort.left())
            else:
                near = self._near(_NARROW)
                if near.sum() <= _SMALL:
                    self._improve(self._all(), near, effort, effort.left() / 6, _ROUGH)
                finished = self._roam(effort, on_found)
            on_found(self.detail)
        except KeyboardInterrupt:
            finished = False
        return Kernel.assign(self.chosen), finished

    def _first(self) -> Places:
        """Start from a release in which risky cells join the finest value that is harmless with them.

        Values are gone through node by node, finest first. What no value takes says nothing, together with the
        harmless groups that lose least for the room they give, as far as they are needed.
        """
        program, values = self.program, self.program.values
        chosen, waiting = np.full(self.cells, -1), np.ones(self.cells, dtype=bool)
        starts = np.searchsorted(values.node, np.arange(len(values.nodes) + 1))
        edges = values.starts[starts]
        mean = [
            program.detail[values.value[edges[node] : edges[node + 1]]].mean()
            if edges[node] < edges[node + 1]
            else 0.0
            for node in range(len(values.nodes))
        ]
        for node in np.argsort(mean)[::-1].tolist():
            part = slice(edges[node], edges[node + 1])
            value, cell = values.value[part] - starts[node], values.cell[part]
            inside = waiting[cell]
            value, cell, many = value[inside], cell[inside], starts[node + 1] - starts[node]
            good = np.bincount(value, program.risky[cell], many) > 0
            good &= np.bincount(value, program.people[cell], many) >= self.least
            for own in self.excess:
                good &= np.bincount(value, own[cell], many) <= 0
            taken = good[value]
            chosen[cell[taken]], waiting[cell[taken]] = value[taken] + starts[node], False
        return self._fill(chosen, waiting)

    def _fill(self, chosen: Places, waiting: NDArray[np.bool_]) -> Places:
        """Publish nothing for waiting risky cells and as many of the others as they need, and the rest as it is."""
        program, last = self.program, self.program.values.last
        alone = np.full(self.cells, -1)
        single = np.flatnonzero(program.single[program.value] & ~program.exposed)
        alone[program.cell[single]] = program.value[single]
        fine = waiting & (alone >= 0) & (program.people >= self.least)
        chosen = np.where(waiting, np.where(fine, alone, last), chosen)
        top = np.zeros(self.values, dtype=np.intp)
        top[chosen] = last
        loss = np.bincount(
            chosen, program.people * (program.detail[chosen] - program.detail[last]), self.values
        )
        for own in self.excess:
            sums = np.bincount(chosen, own, self.values)
            room = np.flatnonzero((sums < 0) & ~program.says_least)
            room = room[np.lexsort((loss[room] / -sums[room], top[room]))]
            before = np.cumsum(-sums[room]) + sums[room]
            before -= before[np.searchsorted(top[room], top[room])]
            back = np.zeros(self.values, dtype=bool)
            back[room[before < sums[top[room]] + _ROUNDING]] = True
            chosen = np.where(back[chosen], last, chosen)
        return chosen

    def _all(self) -> NDArray[np.bool_]:
        return np.ones(self.cells, dtype=bool)

    @property
    def detail(self) -> float:
        """The detail of the best so far."""
        return self._detail(self.chosen)

    def _detail(self, chosen: Places) -> float:
        return float(self.program.people @ self.program.detail[chosen]) / self.program.total

    def _roam(self, effort: Effort, on_found: Callable[[float], None]) -> bool:
        """Improve one neighbourhood after another until none helps; whether that came before the effort was spent."""
        random, members = np.random.default_rng(0), self.program.values
        tried = self._near(_NEAR)
        load = np.bincount(
            members.value,
            np.bincount(self.program.cell[tried], minlength=self.cells)[members.cell],
            self.values,
        ).astype(np.float64)
        size: float = np.clip(tried.sum() / 20, _FIRST, _LATER)
        idle, hopeless = 0, np.zeros(self.values, dtype=bool)
        while (left := effort.left()) > 0 and idle < _PATIENCE:
            drawn = self._draw(random, load, size, hopeless)
            if drawn is None:
                if size >= _LARGEST:
                    return True
                size *= _GROWTH
                continue
            free = np.zeros(self.cells, dtype=bool)
            free[members.cells_of(drawn)] = True
            before = self.chosen
            solved = self._improve(free, tried, effort, _LONGEST)
            if solved and left - effort.left() < _QUICK:
                size = min(size * _GROWTH, _LARGEST)
            elif not solved:
                size /= _GROWTH
            hopeless[drawn] = True
            hopeless[members.value[(before != self.chosen)[members.cell]]] = False
            idle = idle + 1 if before is self.chosen else 0
            on_found(self.detail)
        return idle >= _PATIENCE

    def _near(self, near: float) -> NDArray[np.bool_]:
        """The pairs that are tried: the nearest to the best of each cell, and nothing."""
        cell = self.program.cell
        order = np.lexsort((self.loss, cell))
        order = order[self.allowed[order]]
        rank = np.arange(len(order)) - np.searchsorted(cell[order], cell[order])
        found = self.program.says_least[self.program.value].copy()
        found[order[(rank < _NEAREST) & (self.loss[order] <= near)]] = True
        return found

    def _draw(
        self, random: np.random.Generator, load: FloatArray, size: float, hopeless: NDArray[np.bool_]
    ) -> int | None:
        """Draw a value of about so many pairs by how far its cells are from the optimum; None where none is left."""
        values = self.program.values
        far = np.maximum(self.worth - self.program.people * self.program.detail[self.chosen], 0.0)
        hope = np.bincount(values.value, far[values.cell], self.values)
        fits = np.flatnonzero((load <= 2 * size) & (load >= size / 3) & (hope > 0) & ~hopeless)
        return int(random.choice(fits, p=hope[fits] / hope[fits].sum())) if len(fits) else None

    def _improve(
        self,
        free: NDArray[np.bool_],
        tried: NDArray[np.bool_],
        effort: Effort,
        seconds: float,
        gap: float = _GAP,
    ) -> bool:
        """Move free cells to better pairs, if a solver finds some in so many seconds; whether it found the best."""
        program, chosen = self.program, self.chosen
        pairs = np.flatnonzero(free[program.cell] & (tried | (chosen[program.cell] == program.value)))
        value, cell = program.value[pairs], program.cell[pairs]
        rows, sizes = self._rows(pairs, free)
        start = (chosen[cell] == value).astype(np.float64)
        used = np.zeros(self.values, dtype=bool)
        used[chosen] = True
        matrix, limits, switched = self._smallest(value, cell, rows, sizes)
        warm = np.append(start, used[switched].astype(np.float64))
        cost = np.append(-program.own[pairs], np.zeros(len(switched)))
        most, until = effort.looks(len(cost), seconds), effort.until.left()
        try:
            found, solved, looks = integer_program(
                cost, matrix, limits, equal=rows.cells, start=warm, seconds=until, gap=gap, most=most
            )
        except SolverFailure:
            effort.spend(most, len(cost))
            return False
        effort.spend(looks, len(cost))
        if found is None:
            return False
        taken = np.flatnonzero(found[: len(pairs)] > 0.5)
        moved = chosen.copy()
        moved[cell[taken]] = value[taken]
        self._accept(moved)
        return solved

    def _rows(self, pairs: Places, free: NDArray[np.bool_]) -> tuple[Rows, FloatArray]:
        """The limits on free cells, given where the others are; and how many of the others are in each value."""
        program, chosen = self.program, self.chosen
        stay = np.flatnonzero(~free)
        alone = stay[program.single[chosen[stay]] & program.risky[stay]]
        bound = np.setdiff1d(stay, alone) if program.allowed else stay
        held = Held.of(self.excess, chosen, bound, self.values, float(program.people[alone].sum()))
        rows = Rows.of(
            program.value[pairs],
            program.cell[pairs],
            program.exposed[pairs],
            program.people,
            self.excess,
            program.allowed,
            held,
        )
        sizes = np.bincount(chosen[stay], program.people[stay], self.values)
        return rows, sizes.astype(np.float64)

    def _smallest(
        self, value: Places, cell: Places, rows: Rows, held: FloatArray
    ) -> tuple[object, FloatArray, Places]:
        """Add rows for the fewest people who share a value, and a column z_y for each that may be used or not.

        K(y | x) ≤ z_y and Σ_x n_x K(y | x) ≥ least·z_y; where people stay in the value, z_y = 1. Returns the values
        of these columns too.
        """
        if self.least <= 1:
            return rows.matrix, rows.limits, np.zeros(0, dtype=np.intp)
        people, width = self.program.people, len(value)
        short = np.unique(value[held[value] < self.least])
        switched = short[held[short] == 0]
        row_of, column_of = np.full(self.values, -1), np.full(self.values, -1)
        row_of[short] = np.arange(len(short))
        column_of[switched] = width + np.arange(len(switched))
        inside, free = np.flatnonzero(row_of[value] >= 0), np.flatnonzero(column_of[value] >= 0)
        own = len(short) + np.arange(len(free))
        more = sparse.csc_array(
            (
                np.concatenate(
                    [
                        -people[cell[inside]],
                        np.full(len(switched), self.least),
                        np.ones(len(free)),
                        -np.ones(len(free)),
                    ]
                ),
                (
                    np.concatenate([row_of[value[inside]], row_of[switched], own, own]),
                    np.concatenate([inside, column_of[switched], free, column_of[value[free]]]),
                ),
            ),
            shape=(len(short) + len(free), width + len(switched)),
        )
        wide = sparse.hstack([rows.matrix, sparse.csc_array((rows.matrix.shape[0], len(switched)))])
        need = np.where(held[short] > 0, held[short] - self.least, 0.0)
        limits = np.concatenate([rows.limits, need, np.zeros(len(free))])
        return sparse.vstack([wide, more]), limits, switched

    def _accept(self, moved: Places) -> None:
        """Take an assignment that keeps more, once cells of values that break a limit by a rounding say nothing."""
        for _ in range(self.values):
            if self._detail(moved) <= self.detail + _GAIN:
                return
            bad = self._broken(moved)
            if not bad.any():
                self.chosen = moved
                return
            if not (bad & ~self.program.says_least).any():
                return
            moved = np.where(bad[moved], self.program.values.last, moved)

    def _broken(self, chosen: Places) -> NDArray[np.bool_]:
        """Which values break a limit, exactly, or are shared by too few; or are exposed, where too many are."""
        program, kernel = self.program, Kernel.assign(chosen)
        bad = np.asarray(kernel.broken(program.limits, program.values).any(axis=0))
        if self.least > 1:
            sizes = np.bincount(chosen, program.limits.people, self.values)
            bad |= (sizes > 0) & (sizes < self.least)
        if program.limits.exposed:
            alone = program.single[chosen] & program.risky
            if int(program.limits.people[alone].sum()) > program.limits.exposed * program.limits.total:
                bad[chosen[alone]] = True
        return bad
