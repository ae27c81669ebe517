"""The constraints of releases over some pairs of value and cell, as a solver takes them.

A row for each cell (its shares sum to 1), one for each value and limit that some of the pairs could break, and one for
people who may be exposed. Cells that are not among the pairs may be held where they are: then what they add to the
limits of their values is on the other side of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tightlip.auditing.tally import Places
from tightlip.numeric.parse import FloatArray

_ROUNDING = 1e-9  # people; sums of excesses that should be 0 are off by less


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """What cells that stay where they are add to each limit (row) of each value, and people exposed among them."""

    excess: FloatArray
    exposed: float

    @classmethod
    def of(cls, excess: FloatArray, chosen: Places, cells: Places, values: int, exposed: float) -> Held:
        """Add up the excess of cells that are published as chosen[x]."""
        own = [np.bincount(chosen[cells], one[cells], values) for one in excess]
        sums = np.array(own).reshape(len(excess), values)
        return cls(np.where(np.abs(sums) < _ROUNDING, 0.0, sums), exposed)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """matrix·x ≤ limits, the first `cells` rows with equality; then those of `value` and `limit`, then exposure's.

    Attributes
    ----------
    value, limit : for each row after those of cells, what it is about
    exposure : whether there is a last row, for people who may be exposed
    """

    matrix: Any
    limits: FloatArray
    cells: int
    value: Places
    limit: Places
    exposure: bool

    @classmethod
    def of(
        cls,
        value: Places,
        cell: Places,
        exposed: NDArray[np.bool_],
        people: FloatArray,
        excess: FloatArray,
        allowed: float,
        held: Held | None = None,
    ) -> Rows:
        """Build the rows over pairs; `exposed` are those that keep no limit, `allowed` the people who may be."""
        cells, of_cell = np.unique(cell, return_inverse=True)
        values, of_value = np.unique(value, return_inverse=True)
        build = _Builder(len(cells), of_cell)
        bound, row_value, row_limit = ~exposed, [], []
        for limit, own in enumerate(excess):
            amount = np.where(bound, own[cell], 0.0)
            base = np.zeros(len(values)) if held is None else held.excess[limit, values]
            needed = np.flatnonzero(
                np.bincount(of_value, np.maximum(amount, 0.0), len(values)) + np.maximum(base, 0) > 0
            )
            build.add(needed, of_value, amount, -base[needed], len(values))
            row_value.append(values[needed])
            row_limit.append(np.full(len(needed), limit))
        if exposed.any():
            rest = allowed - (0.0 if held is None else held.exposed)
            build.add(np.zeros(1, dtype=np.intp), np.where(exposed, 0, -1), people[cell], np.array([rest]), 1)
        where = np.concatenate([np.zeros(0, dtype=np.intp), *row_value])
        which = np.concatenate([np.zeros(0, dtype=np.intp), *row_limit])
        return cls(
            build.matrix(), np.concatenate(build.limits), len(cells), where, which, bool(exposed.any())
        )

    def duals(self, duals: FloatArray, limits: int, values: int) -> tuple[FloatArray, float]:
        """The prices of limits (rows) and values (columns), and that of exposure, from a solver's duals."""
        prices = np.zeros((limits, values))
        prices[self.limit, self.value] = np.maximum(-duals[self.cells : self.cells + len(self.value)], 0.0)
        return prices, max(-float(duals[-1]), 0.0) if self.exposure else 0.0


class _Builder:
    """Entries of a sparse matrix over pairs, which begins with a row for each cell."""

    def __init__(self, cells: int, of_cell: Places) -> None:
        self.width, self.height = len(of_cell), cells
        self.rows, self.cols, self.entries = [of_cell], [np.arange(self.width)], [np.ones(self.width)]
        self.limits: list[FloatArray] = [np.ones(cells)]

    def add(self, needed: Places, group: Places, amount: FloatArray, limits: FloatArray, groups: int) -> None:
        """Add a row for each needed group: the sum of its pairs' amounts is at most its limit."""
        row_of = np.full(groups + 1, -1)  # the last is for pairs of no group
        row_of[needed] = self.height + np.arange(len(needed))
        inside = np.flatnonzero((row_of[group] >= 0) & (amount != 0))
        self.rows.append(row_of[group[inside]])
        self.cols.append(inside)
        self.entries.append(amount[inside])
        self.limits.append(limits)
        self.height += len(needed)

    def matrix(self) -> Any:
        """The matrix so far."""
        where = (np.concatenate(self.rows), np.concatenate(self.cols))
        return sparse.csc_array((np.concatenate(self.entries), where), shape=(self.height, self.width))
