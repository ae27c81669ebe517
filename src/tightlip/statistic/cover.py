"""The search problem behind every statistic leakage, in floats.

    maximise Σ_y max_g V(r_g, y)  over one row r_g for each secret g          (V ≥ 0)

For prices u_y ≥ 0 no selection is worth more than

    D(u) = Σ_y u_y + Σ_g max_{r of g} Σ_y (V_ry − u_y)_+,

since max_g V(r_g, y) ≤ u_y + Σ_g (V(r_g, y) − u_y)_+. The least D is the value of the linear relaxation
(facility location over a partition matroid). Numbers found here are suggestions until a judge has weighed them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.model.matrix import Matrix, is_sparse
from tightlip.numeric.parse import FloatArray
from tightlip.statistic.groups import Groups, Places

Mask = NDArray[np.bool_]
Column = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Cover:
    """Rows sorted by secret, each a run of entries; `order` says which channel row stands where."""

    values: FloatArray
    columns: Column
    starts: Places
    order: Places
    group_starts: Places
    outputs: int
    peaks: FloatArray

    @classmethod
    def of(cls, matrix: Matrix, groups: Groups) -> Cover:
        """Sort the rows of a non-negative float matrix by secret."""
        order = np.argsort(groups.codes, kind="stable")
        group_starts = np.concatenate([[0], np.cumsum(groups.sizes())[:-1]]).astype(np.intp)
        if is_sparse(matrix):
            picked = matrix[order]
            values, columns = np.asarray(picked.data), np.asarray(picked.indices).astype(np.int64)
            starts = np.asarray(picked.indptr).astype(np.intp)
        else:
            rows, outputs = matrix.shape
            values = np.ascontiguousarray(matrix[order], dtype=np.float64).ravel()
            columns = np.tile(np.arange(outputs, dtype=np.int64), rows)
            starts = np.arange(0, rows * outputs + 1, outputs, dtype=np.intp)
        peaks = np.zeros(matrix.shape[1])
        np.maximum.at(peaks, columns, values)
        return cls(values, columns, starts, order, group_starts, matrix.shape[1], peaks)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.starts) - 1

    @property
    def groups(self) -> int:
        """The number of secrets."""
        return len(self.group_starts)

    def entries(self, row: int) -> tuple[Column, FloatArray]:
        """Return the columns and values of one row."""
        run = slice(self.starts[row], self.starts[row + 1])
        return self.columns[run], self.values[run]

    def members(self, group: int) -> range:
        """Return the rows of one secret."""
        after = self.group_starts[group + 1] if group + 1 < self.groups else self.rows
        return range(int(self.group_starts[group]), int(after))

    def size_of(self, rows: range) -> int:
        """Count the entries of a run of rows."""
        return int(self.starts[rows.stop] - self.starts[rows.start])

    def group_of(self, row: int) -> int:
        """Find the secret of a row."""
        return int(np.searchsorted(self.group_starts, row, side="right")) - 1

    def gains(self, prices: FloatArray) -> FloatArray:
        """Compute Σ_y (V_ry − u_y)_+ for each row."""
        return self.gains_of(range(self.rows), prices)

    def gains_of(self, rows: range, prices: FloatArray) -> FloatArray:
        """Compute the same for a run of rows only."""
        first, last = self.starts[rows.start], self.starts[rows.stop]
        values = self.values[first:last]
        if len(self.values) == self.rows * self.outputs:  # every cell is there, in order
            above = values.reshape(-1, self.outputs) - prices
            return np.asarray(np.maximum(above, 0.0, out=above).sum(axis=1))
        above = values - prices[self.columns[first:last]]
        return np.add.reduceat(np.maximum(above, 0.0, out=above), self.starts[rows.start : rows.stop] - first)

    def tops(self, gains: FloatArray, allowed: Mask) -> tuple[FloatArray, Places]:
        """Find the largest gain of each secret among allowed rows, and a row that has it."""
        masked = np.where(allowed, gains, -np.inf)
        best = np.maximum.reduceat(masked, self.group_starts)
        sizes = np.diff(np.append(self.group_starts, self.rows))
        leads = np.flatnonzero(masked == np.repeat(best, sizes))
        owner = np.searchsorted(self.group_starts, leads, side="right") - 1
        return best, leads[np.flatnonzero(np.diff(owner, prepend=-1))]

    def worth(self, selection: Places) -> float:
        """Compute Σ_y max_g V(r_g, y), in floats."""
        return float(self.maxima(selection).sum())

    def maxima(self, selection: Places) -> FloatArray:
        """Compute max_g V(r_g, y) for each output."""
        cover = np.zeros(self.outputs)
        for row in selection.tolist():
            columns, values = self.entries(row)
            cover[columns] = np.maximum(cover[columns], values)
        return cover

    def everything(self) -> Mask:
        """Allow every row."""
        return np.ones(self.rows, dtype=bool)


def by_group(cover: Cover, selection: Places, groups: Groups) -> tuple[int, ...]:
    """List the channel rows of a selection, in the order of the secrets' labels."""
    rows = cover.order[selection]
    found: list[Any] = [0] * groups.count
    for row in rows.tolist():
        found[int(groups.codes[row])] = row
    return tuple(found)
