"""The best deterministic release: each cell wholly to one value.

An integer program over the pairs whose worth, at the prices of the linear program, is near the best of their cell. It is
solved for ever more pairs, each time from the last answer, until the time is used up. What it finds is feasible; how much
better any deterministic release could be is bounded by the linear program.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tightlip.auditing.tally import Places
from tightlip.numeric.linear_program import integer_program
from tightlip.numeric.parse import FloatArray
from tightlip.protection.kernel import Kernel
from tightlip.protection.program import Program

_GAP = 5e-3  # relative, at which a program of few pairs is left for one of more
_NEAR = 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, math.inf
"""Detail per person that a pair may be worth less than the best of its cell, to be tried: wider finds better releases
and takes longer."""


class Assignment:
    """The search over the pairs of a program, given what each is worth at its prices."""

    def __init__(self, program: Program, score: FloatArray, worth: FloatArray, least: int) -> None:
        self.program, self.least = program, least
        self.excess = program.limits.excess()
        self.loss = (worth[program.cell] - score) / program.people[program.cell]
        self.allowed = ~program.exposed | (program.limits.exposed > 0)
        if least > 1:
            sizes = np.bincount(program.value, program.people[program.cell], len(program.values))
            self.allowed &= (sizes >= least)[program.value]

    def search(self, seconds: float, on_found: Callable[[float], None]) -> tuple[Kernel, bool]:
        """The best assignment found in about so many seconds; and whether the last, widest program was solved."""
        program = self.program
        best = Kernel.assign(program.values.last)
        until, solved = time.monotonic() + seconds, False
        for near in _NEAR:
            left = until - time.monotonic()
            if left <= 0:
                return best, False
            pairs = np.flatnonzero(self.allowed & ((self.loss <= near) | program.says_least[program.value]))
            found, solved = self._solve(pairs, best, left)
            if found is not None and self._detail(found) > self._detail(best):
                best = found
            on_found(self._detail(best))
        return best, solved

    def _detail(self, kernel: Kernel) -> float:
        return kernel.detail(self.program.limits, self.program.detail)

    def _solve(self, pairs: Places, start: Kernel, seconds: float) -> tuple[Kernel | None, bool]:
        program = self.program
        value, cell = program.value[pairs], program.cell[pairs]
        first = np.zeros(len(program.people), dtype=np.intp)
        first[start.cell] = start.value
        matrix, limits, equal, extra = self._rows(pairs)
        cost = np.append(-program.own[pairs], np.zeros(extra))
        given = (first[cell] == value).astype(np.float64)
        used = np.zeros(len(program.values), dtype=bool)
        used[value[given > 0]] = True
        warm = np.append(given, used[self._used].astype(np.float64)) if extra else given
        found, solved = integer_program(
            cost, matrix, limits, equal=equal, start=warm, seconds=seconds, gap=_GAP
        )
        if found is None:
            return None, solved
        taken = np.flatnonzero(found[: len(pairs)] > 0.5)
        chosen = program.values.last.copy()
        chosen[cell[taken]] = value[taken]
        return self._repair(Kernel.assign(chosen)), solved

    def _rows(self, pairs: Places) -> tuple[NDArray[np.float64], FloatArray, int, int]:
        """One value for each cell, every limit of every value, and none that fewer than `least` share."""
        program = self.program
        value, cell = program.value[pairs], program.cell[pairs]
        rows, cols, entries = [cell], [np.arange(len(pairs))], [np.ones(len(pairs))]
        height = len(program.people)
        bound = ~program.exposed[pairs]
        for own in self.excess:
            over = np.zeros(len(program.values), dtype=bool)
            over[value[(own[cell] > 0) & bound]] = True
            row_of = np.full(len(program.values), -1)
            row_of[over] = height + np.arange(over.sum())
            height += int(over.sum())
            inside = np.flatnonzero(over[value] & bound)
            rows.append(row_of[value[inside]])
            cols.append(inside)
            entries.append(own[cell[inside]])
        limits = np.zeros(height)
        limits[: len(program.people)] = 1.0
        if program.exposed[pairs].any():
            out = np.flatnonzero(program.exposed[pairs])
            rows.append(np.full(len(out), height))
            cols.append(out)
            entries.append(program.people[cell[out]])
            limits = np.append(limits, float(program.limits.exposed) * program.limits.total)
            height += 1
        extra = 0
        if self.least > 1:
            small, height, extra = self._smallest(value, cell, height, len(pairs))
            rows += small[0]
            cols += small[1]
            entries += small[2]
            limits = np.append(limits, np.zeros(height - len(limits)))
        where = (np.concatenate(rows), np.concatenate(cols))
        matrix = sparse.csc_array((np.concatenate(entries), where), shape=(height, len(pairs) + extra))
        return matrix, limits, len(program.people), extra

    def _smallest(
        self, value: Places, cell: Places, height: int, width: int
    ) -> tuple[tuple[list[Places], list[Places], list[FloatArray]], int, int]:
        """A value is used or not (a column z_y of its own): K(y | x) ≤ z_y, and Σ_x n_x K(y | x) ≥ least·z_y."""
        people = self.program.people
        self._used = np.unique(value[people[cell] < self.least])
        place = np.full(len(self.program.values), -1)
        place[self._used] = np.arange(len(self._used))
        inside = np.flatnonzero(place[value] >= 0)
        size_row, own_row = height + place[value[inside]], height + len(self._used) + np.arange(len(inside))
        size_of, column = height + np.arange(len(self._used)), width + np.arange(len(self._used))
        rows = [size_row, size_of, own_row, own_row]
        cols = [inside, column, inside, width + place[value[inside]]]
        entries = [
            -people[cell[inside]],
            np.full(len(self._used), float(self.least)),
            np.ones(len(inside)),
            -np.ones(len(inside)),
        ]
        return (rows, cols, entries), height + len(self._used) + len(inside), len(self._used)

    def _repair(self, kernel: Kernel) -> Kernel | None:
        """Say nothing of all cells in values that break a limit by a rounding; None where that breaks one too."""
        program = self.program
        chosen = kernel.value.copy()
        for _ in range(len(program.values)):
            bad = Kernel.assign(chosen).broken(program.limits, program.values).any(axis=0)
            if self.least > 1:
                sizes = np.bincount(chosen, program.people, len(program.values))
                bad |= (sizes > 0) & (sizes < self.least)
            if not bad.any():
                return Kernel.assign(chosen)
            if not (bad & ~program.says_least).any():
                return None
            chosen = np.where(bad[chosen], program.values.last, chosen)
        return None
