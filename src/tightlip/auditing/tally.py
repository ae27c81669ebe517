"""Count people in whole numbers, by secret and cell. Every exact number of an audit is here.

With c_xy people of secret x in cell y, n_x = Σ_y c_xy, n_y = Σ_x c_xy and n in all,
    K_xy = c_xy / n_x,    p_x = n_x / n,    q_y = n_y / n,    lift s_x(y) = n c_xy / (n_x n_y).
A release with random noise is a tally of larger whole numbers (see counted.py), so nothing here is rounded
until a logarithm is taken.

Cells with equal counts say the same, so a tally may keep them as one column, whose counts are those of all of them
together: lifts, shares and envelopes do not change. `cells` says how many there are of each kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput
from tightlip.model.channel import Channel
from tightlip.model.prior import Prior
from tightlip.numeric.parse import FloatArray

Places = NDArray[np.intp]

EXACT_ENTRIES = 10_000
ROUNDED = Fraction(1, 2**47)  # shares of counts as floats differ from them by less, relative
_EXACT_INTEGER = 2**53
_DENSE_FROM = 0.25
_WIDEST = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Pairs of secret and cell that occur, sorted by cell and secret, with their counts and the sums.

    `count`, `of_secret` and `of_cell` are int64, or Python integers where these could overflow or round. Column y
    stands for `cells[y]` released cells of equal counts, and has the counts of all of them together.
    """

    secret: Places
    cell: Places
    count: NDArray[Any]
    of_secret: NDArray[Any]
    of_cell: NDArray[Any]
    total: int
    cells: NDArray[np.int64]

    @classmethod
    def of(cls, secret: Any, cell: Any, count: Any, shape: tuple[int, int], cells: Any = None) -> Tally:
        """Add up the counts of equal pairs; `shape` is (secrets, cells), and each of them must occur.

        `cells` says how many released cells each column stands for; one where it is left out.

        >>> Tally.of([0, 1, 0], [0, 0, 1], [3, 1, 2], (2, 2)).of_secret
        array([5, 1])
        """
        pairs, place = group_keys(
            np.asarray(cell, dtype=np.intp) * shape[0] + np.asarray(secret, dtype=np.intp)
        )
        merged = sum_by(place, _whole(count), len(pairs))
        secret, cell = pairs % shape[0], pairs // shape[0]
        sums = sum_by(secret, merged, shape[0]), sum_by(cell, merged, shape[1])
        if any((part < 1).any() for part in (merged, *sums)):
            raise InvalidInput("counts must be at least 1 for every pair, secret and cell that is listed.")
        many = np.ones(shape[1], dtype=np.int64) if cells is None else np.asarray(cells, dtype=np.int64)
        return cls(secret, cell, merged, *sums, int(sums[0].sum()), many)

    @property
    def shape(self) -> tuple[int, int]:
        """(number of secrets, number of cells)."""
        return len(self.of_secret), len(self.of_cell)

    @property
    def starts(self) -> Places:
        """Where the pairs of each cell begin."""
        return np.flatnonzero(np.diff(self.cell, prepend=-1))

    @property
    def sizes(self) -> NDArray[Any]:
        """People in one released cell of each column."""
        return self.of_cell // self.cells

    def with_secrets(self, group: Places) -> Tally:
        """Count secret x as group[x]: a coarser secret, or the same in another order."""
        shape = int(group.max()) + 1, self.shape[1]
        return Tally.of(group[self.secret], self.cell, self.count, shape, self.cells)

    def with_cells(self, group: Places) -> Tally:
        """Release cell y as group[y]: a coarser release."""
        return Tally.of(self.secret, group[self.cell], self.count, (self.shape[0], int(group.max()) + 1))

    def join_cells(self, joined: NDArray[np.bool_]) -> tuple[Tally, Places]:
        """Release some cells as one, the last; and the place of each column before."""
        place = np.where(joined, int((~joined).sum()), np.cumsum(~joined) - 1).astype(np.intp)
        many = np.append(self.cells[~joined], 1) if joined.any() else self.cells
        return Tally.of(self.secret, place[self.cell], self.count, (self.shape[0], len(many)), many), place

    def reorder(self, cells: Places, secrets: Places) -> Tally:
        """Put cells and secrets in another order: the new place i holds the old cells[i], secrets[i]."""
        cell, secret = np.argsort(cells)[self.cell], np.argsort(secrets)[self.secret]
        return Tally.of(secret, cell, self.count, self.shape, self.cells[cells])

    def without_secrets(self, gone: NDArray[np.bool_]) -> tuple[Tally, Places]:
        """Leave out the people of some secrets; and the places of the cells that are left, of which others are."""
        kept = np.flatnonzero(~gone[self.secret])
        left, cell = group_keys(self.cell[kept])
        secret = (np.cumsum(~gone) - 1)[self.secret[kept]]
        shape = int((~gone).sum()), len(left)
        return Tally.of(secret, cell, self.count[kept], shape, self.cells[left]), left

    def by_kind(self) -> tuple[Tally, Places]:
        """Keep cells of equal counts as one column; and one cell of each kind, the first."""
        each = self.count // self.cells[self.cell]
        kind = equal_columns(self.secret, each, self.starts)
        first = np.unique(kind, return_index=True)[1].astype(np.intp)
        many = sum_by(kind, self.cells, len(first))
        return Tally.of(self.secret, kind[self.cell], self.count, (self.shape[0], len(first)), many), first

    def lift(self, pair: int) -> Fraction:
        """s_x(y), exactly, of one pair that occurs."""
        secret, cell = self.secret[pair], self.cell[pair]
        return Fraction(
            int(self.count[pair]) * self.total, int(self.of_secret[secret]) * int(self.of_cell[cell])
        )

    def prior_of(self, secret: int) -> Fraction:
        """p_x, exactly."""
        return Fraction(int(self.of_secret[secret]), self.total)

    def share_of(self, cells: Places | slice) -> Fraction:
        """Compute the probability of some cells, exactly."""
        return Fraction(int(self.of_cell[cells].sum()), self.total)

    def chances(self) -> FloatArray:
        """K_xy of each pair, to nearest: order is kept, but different rationals may give one float."""
        return divide(self.count, self.of_secret[self.secret])

    def channel(self) -> Channel:
        """P(cell | secret): in rationals up to 10⁴ entries, else floats within a relative 2⁻⁵³ of them."""
        if self.shape[0] * self.shape[1] <= EXACT_ENTRIES:
            rows = np.full(self.shape, Fraction(0), dtype=object)
            totals = self.of_secret[self.secret].tolist()
            parts = [
                Fraction(int(one), int(all_)) for one, all_ in zip(self.count.tolist(), totals, strict=True)
            ]
            rows[self.secret, self.cell] = parts
            return Channel(rows)
        from scipy.sparse import csr_array

        rows = csr_array((self.chances(), (self.secret, self.cell)), shape=self.shape)
        return Channel(
            rows.toarray() if len(self.count) > _DENSE_FROM * self.shape[0] * self.shape[1] else rows
        )

    def prior(self) -> Prior:
        """P(secret), in rationals where the channel is."""
        if self.shape[0] * self.shape[1] <= EXACT_ENTRIES:
            return Prior([self.prior_of(secret) for secret in range(self.shape[0])])
        return Prior(divide(self.of_secret, self.total))


def sum_by(group: Places, values: NDArray[Any], size: int) -> NDArray[Any]:
    """Sum whole numbers exactly by group 0 … size − 1; 0 for a group without any.

    >>> sum_by(np.array([1, 0, 1]), np.array([1, 2, 3]), 3)
    array([2, 4, 0])
    """
    if values.dtype == np.int64 and float(np.abs(values).sum(dtype=np.float64)) < _EXACT_INTEGER:
        return np.bincount(group, weights=values, minlength=size).astype(
            np.int64
        )  # floats hold every sum exactly
    found = np.zeros(size, dtype=values.dtype)
    if len(group):
        order = np.argsort(group, kind="stable")
        ordered = group[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        found[ordered[starts]] = np.add.reduceat(values[order], starts)
    return found


def equal_columns(secret: Places, count: NDArray[Any], starts: Places) -> Places:
    """Number the columns of a tally so that those with the same secrets and counts have the same number.

    Columns are compared exactly: neighbouring entries become one, numbered anew, until each column is one number. What
    has no neighbour is joined with −1, which numbers no entry. The first column has number 0.

    >>> equal_columns(np.array([0, 1, 0, 1, 1]), np.array([2, 4, 2, 4, 2]), np.array([0, 2, 4])).tolist()
    [0, 0, 1]
    """
    if count.dtype == object:
        names = {value: place for place, value in enumerate(dict.fromkeys(count.tolist()))}
        count = np.array(
            [names[value] for value in count.tolist()], dtype=np.int64
        )  # equality is all we need
    entries, lengths = [secret, count], np.diff(np.append(starts, len(count)))
    while True:
        halves = (lengths + 1) // 2
        first = np.cumsum(halves) - halves
        left = np.repeat(starts - 2 * first, halves) + 2 * np.arange(int(halves.sum()))
        paired = left + 1 < np.repeat(starts + lengths, halves)
        right = [np.where(paired, entry[left + paired], -1) for entry in entries]
        kinds, kind = group_rows(np.column_stack([*(entry[left] for entry in entries), *right]))
        if len(kind) == len(starts):
            return np.argsort(np.argsort(kinds))[kind].astype(np.intp)
        entries, starts, lengths = [kind], first, halves


def group_keys(keys: NDArray[Any]) -> tuple[NDArray[Any], Places]:
    """List the distinct keys in order, and which of them each key is."""
    found, place = np.unique(keys, return_inverse=True)
    return found, place.astype(np.intp)


def group_rows(codes: NDArray[np.int64]) -> tuple[Places, Places]:
    """Group equal rows of a matrix of codes: one row of each kind, in order, and the kind of each row.

    >>> kinds, place = group_rows(np.array([[1, 0], [0, 5], [1, 0]]))
    >>> kinds.tolist(), place.tolist()
    ([1, 0], [1, 0, 1])
    """
    combined, span = np.zeros(len(codes), dtype=np.int64), 1
    for column in codes.T:
        least = int(column.min())
        wide = int(column.max()) - least + 1
        if span * wide >= _WIDEST:
            combined = group_keys(combined)[1]
            span = int(combined.max()) + 1
        combined, span = combined * wide + (column - least), span * wide
    _, first, place = np.unique(combined, return_index=True, return_inverse=True)
    return first.astype(np.intp), place.astype(np.intp)


def divide(numerator: NDArray[Any], denominator: Any) -> FloatArray:
    """Divide whole numbers, each quotient rounded once to nearest."""
    return np.asarray(numerator / denominator, dtype=np.float64)


def _whole(count: Iterable[int]) -> NDArray[Any]:
    counts = np.asarray(count)
    if counts.dtype != object and int(counts.sum(dtype=np.float64)) >= _EXACT_INTEGER:
        counts = counts.astype(object)
    return counts
