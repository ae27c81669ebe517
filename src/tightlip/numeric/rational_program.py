"""Linear programs over distributions in rational arithmetic: the simplex method without rounding.

    minimise Σ_x c_x p_x   subject to   Σ_x p_x = 1,   p_x ≥ floor,   Σ_x A_ix p_x ≤ b_i

Every number is a rational, so the end of the method is the proof: no cost can be reduced any more. A next cost
starts from the last corner, which is what makes one program per outcome affordable.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

Row = list[Any]  # of flint rationals, which have no type stubs


class RationalProgram:
    """The distributions that satisfy some bounds, ready to be minimised over.

    `lack` is 0 where there is one, and otherwise a positive total by which every distribution breaks the bounds.

    >>> half = RationalProgram([[1, 0, 0]], [Fraction(1, 2)], Fraction(0), 3)
    >>> half.minimum([Fraction(1), Fraction(2), Fraction(3)])
    (Fraction(3, 2), (Fraction(1, 2), Fraction(1, 2), Fraction(0, 1)))
    >>> RationalProgram([[1, 1]], [Fraction(1, 2)], Fraction(0), 2).lack
    Fraction(1, 2)
    """

    def __init__(
        self, rows: Sequence[Sequence[Any]], bounds: Sequence[Any], floor: Fraction, size: int
    ) -> None:
        from flint import fmpq

        self._fmpq = fmpq
        self._size, self._floor = size, floor
        self._table, self._basis = self._first_table(rows, bounds)
        self.lack = self._reach_feasibility(size + len(rows))

    def minimum(self, costs: Sequence[Fraction]) -> tuple[Fraction, tuple[Fraction, ...]]:
        """Find the smallest Σ c_x p_x, and a corner where it is reached."""
        width = len(self._table[0]) - 1
        own = [self._rational(cost) for cost in costs]
        self._minimise(own + [self._fmpq(0)] * (width - self._size))
        point = self.corner()
        return sum((cost * mass for cost, mass in zip(costs, point, strict=True)), Fraction(0)), point

    def corner(self) -> tuple[Fraction, ...]:
        """Find the corner at which the method stands."""
        masses = [self._floor] * self._size
        for row, column in zip(self._table, self._basis, strict=True):
            if column < self._size:
                masses[column] += Fraction(int(row[-1].p), int(row[-1].q))
        return tuple(masses)

    def _rational(self, value: Any) -> Any:
        return self._fmpq(*value.as_integer_ratio())

    def _first_table(
        self, rows: Sequence[Sequence[Any]], bounds: Sequence[Any]
    ) -> tuple[list[Row], list[int]]:
        """Columns: masses above the floor, slacks, one artificial per row, and the right-hand side."""
        count, size, zero = len(rows), self._size, self._fmpq(0)
        floor = self._rational(self._floor)
        table = []
        for place, (row, bound) in enumerate(zip(rows, bounds, strict=True)):
            left = [self._rational(entry) for entry in row]
            rest = self._rational(bound) - floor * sum(left, zero)
            table.append(self._row(left, place, count, rest))
        table.append(self._row([self._fmpq(1)] * size, None, count, 1 - size * floor))
        return table, list(range(size + count, size + 2 * count + 1))

    def _row(self, left: Row, slack: int | None, count: int, rest: Any) -> Row:
        slacks = [self._fmpq(int(place == slack)) for place in range(count)]
        row = [*left, *slacks]
        if rest < 0:
            row, rest = [-entry for entry in row], -rest
        own = count if slack is None else slack
        return [*row, *(self._fmpq(int(place == own)) for place in range(count + 1)), rest]

    def _reach_feasibility(self, real: int) -> Fraction:
        """Drive the artificial columns to zero and drop them."""
        width = len(self._table[0]) - 1
        self._minimise([self._fmpq(int(column >= real)) for column in range(width)])
        pairs = zip(self._table, self._basis, strict=True)
        lack = sum((row[-1] for row, column in pairs if column >= real), self._fmpq(0))
        for place, column in enumerate(self._basis):
            if column >= real:  # its row has a slack of its own or is the sum, so it depends on no others
                entering = next(j for j in range(real) if self._table[place][j])
                self._pivot(place, entering, None)
        self._table = [[*row[:real], row[-1]] for row in self._table]
        return Fraction(int(lack.p), int(lack.q))

    def _minimise(self, costs: Row) -> None:
        reduced = [*costs, self._fmpq(0)]
        for row, column in zip(self._table, self._basis, strict=True):
            _subtract(reduced, reduced[column], row)
        stalled = False
        while (entering := _entering(reduced, stalled)) is not None:
            leaving = self._leaving(entering)
            stalled = not self._table[leaving][-1]
            self._pivot(leaving, entering, reduced)

    def _leaving(self, entering: int) -> int:
        """The row that limits the entering column; a distribution is bounded, so there is one."""
        limits = [
            (row[-1] / row[entering], self._basis[place], place)
            for place, row in enumerate(self._table)
            if row[entering] > 0
        ]
        return min(limits)[2]

    def _pivot(self, leaving: int, entering: int, reduced: Row | None) -> None:
        pivot = self._table[leaving]
        factor = pivot[entering]
        pivot[:] = [entry / factor if entry else entry for entry in pivot]
        for row in self._table:
            if row is not pivot:
                _subtract(row, row[entering], pivot)
        if reduced is not None:
            _subtract(reduced, reduced[entering], pivot)
        self._basis[leaving] = entering


def _entering(reduced: Row, stalled: bool) -> int | None:
    """Choose the entering column: the steepest; the first one while the method stalls, so that it cannot cycle."""
    candidates = [column for column, cost in enumerate(reduced[:-1]) if cost < 0]
    if not candidates:
        return None
    return candidates[0] if stalled else min(candidates, key=reduced.__getitem__)


def _subtract(row: Row, factor: Any, other: Row) -> None:
    if factor:
        row[:] = [entry - factor * part if part else entry for entry, part in zip(row, other, strict=True)]
