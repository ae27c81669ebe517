"""The next level of few secrets: the primal simplex method, from the basis of the level before.

    maximise Σ_i λ_i φ(v_i)   over listed columns v_i with p·v_i = 1, λ ≥ 0, Σ_i λ_i v_i = 1

A basis B has as many independent columns as there are rows. Its shares are λ = B⁻¹1 and its prices w = B⁻¹φ_B; the
column that is worth most beyond its price enters, the one whose share is used up first leaves. A level has nearly the
columns of the one before, so there are few steps, and each of them inverts a small matrix: less than a solver takes to
be asked. The list is looked through for some columns at once, and again when none of those seen is worth much more.
Where this fails, `generation` begins anew.

With a total, Σ_i λ_i max v_i ≤ T, there is a row more, and what the total leaves over is a column too: of nothing.
"""

from __future__ import annotations

import numpy as np

from tightlip.designs.f_information import Information
from tightlip.designs.generation import Mixture, entries_of, limits_of, unit_prices
from tightlip.designs.searches import Listed
from tightlip.numeric.parse import FloatArray

_STEPS = 200  # from one level to the next, some tens being the rule; then a solver takes less time
_GAIN = 1e-4  # of the value, below which sets of the level before are left for all others
_LEFT = 0.3  # of the largest profit in the list, below which no more columns that were seen enter
_STRAY = 1e-9  # of a share that roundings may have made negative
_PIVOT = 1e-11  # of a share for a unit of another column: what roundings leave of 0


def follow(
    search: Listed, utility: Information, masses: FloatArray, before: Mixture, close: float
) -> Mixture | None:
    """Find the best mixture up to a relative gap from that of a stricter level; None where this fails."""
    try:
        basis = _begin(search, utility, masses, _completed(before, search.total))
        return None if basis is None else _climbed(search, basis, masses, close)
    except np.linalg.LinAlgError:
        return None


class _Basis:
    """Independent columns, the shares with which they make a channel, and the prices that they are worth."""

    def __init__(self, columns: FloatArray, worths: FloatArray, total: float | None) -> None:
        self.columns, self.worths = columns.copy(), worths.copy()
        self._total, self.limits = total, limits_of(columns[0], total)
        self._rows = entries_of(columns, total)
        self._solve()

    def _solve(self) -> None:
        self._inverse = np.linalg.inv(self._rows)
        self.shares, self.prices = self.limits @ self._inverse, self._inverse @ self.worths

    @property
    def value(self) -> float:
        """What the mixture is worth."""
        return float(self.shares @ self.worths)

    @property
    def feasible(self) -> bool:
        """Whether it is a channel's."""
        return bool(self.shares.min() >= -_STRAY)

    def entries(self, columns: FloatArray) -> FloatArray:
        """Write what columns put into the rows of the program."""
        return entries_of(columns, self._total)

    def exchange(self, leaves: int, column: FloatArray, worth: float) -> None:
        """Put a column in the place of another."""
        self.columns[leaves], self.worths[leaves] = column, worth
        self._rows[leaves] = self.entries(column[None, :])[0]
        self._solve()

    def enter(self, column: FloatArray, worth: float) -> None:
        """Put a column in the place of the one whose share it uses up first."""
        taken = self.entries(column[None, :])[0] @ self._inverse
        places = np.flatnonzero(taken > _PIVOT)
        if not len(places):
            raise np.linalg.LinAlgError("shares of columns must sum to 1.")
        self.exchange(int(places[(self.shares[places] / taken[places]).argmin()]), column, worth)

    def leave_over(self) -> None:
        """Let a larger total leave something over, in the place of the column that then has too little."""
        lost = np.minimum(self._inverse[-1], -_PIVOT)
        lacks = np.where(self.shares < 0, self.shares / lost, -np.inf)
        self.exchange(int(lacks.argmax()), np.zeros(self.columns.shape[1]), 0.0)


def _completed(mixture: Mixture, total: float | None) -> FloatArray:
    """Add columns of the pool to a mixture's until they are a basis: each the one that is furthest from their span."""
    if len(mixture.pool) == mixture.pool.shape[1] + (total is not None):
        return mixture.pool
    columns, pool = mixture.columns, entries_of(mixture.pool, total)
    if total is not None and mixture.trend[-1][-1] <= _STRAY and len(columns) < pool.shape[1]:
        # a total without a price left something over
        columns = np.concatenate([columns, np.zeros((1, columns.shape[1]))])
    while len(columns) < pool.shape[1]:
        span = np.linalg.qr(entries_of(columns, total).T)[0]
        rest = pool - pool @ span @ span.T
        columns = np.concatenate([columns, mixture.pool[[int((rest * rest).sum(axis=1).argmax())]]])
    return columns


def _begin(search: Listed, utility: Information, masses: FloatArray, columns: FloatArray) -> _Basis | None:
    """Make a channel of columns of a stricter level, which are allowed, and worth more where their sets fit better."""
    something = columns.any(axis=1)
    fitted = search.refit(columns[something])
    gains = utility.of_columns(fitted, masses)
    if search.total is None:
        try:
            better = _Basis(fitted, gains, None)
            if better.feasible:
                return better
        except np.linalg.LinAlgError:
            pass
    basis = _Basis(columns, utility.of_columns(columns, masses) * something, search.total)
    if search.total is not None and not basis.feasible:
        basis.leave_over()
    if basis.feasible:
        _enter(basis, fitted, gains, _GAIN * basis.value)
    return basis if basis.feasible else None


def _climbed(search: Listed, basis: _Basis, masses: FloatArray, close: float) -> Mixture | None:
    """Let the best columns enter until prices prove that not much is left to gain."""
    bound, proof = np.inf, masses
    # the first column is what may be left over of a total: nothing
    seen = np.zeros((0 if search.total is None else 1, len(masses)))
    gains = np.zeros(len(seen))
    for _ in range(_STEPS):
        value, prices = basis.value, basis.prices
        columns, worths, beyond = search.nearest(prices)
        left_over = 0.0 if search.total is None else max(-float(prices[-1]), 0.0)
        if not left_over and prices @ basis.limits + beyond < bound:
            # p·v = 1: with so much more of the prior nothing is worth more than its price
            bound, proof = float(prices @ basis.limits + beyond), prices[: len(masses)] + beyond * masses
        if bound - value <= close * bound < np.inf:
            used = (basis.shares > 0) & basis.columns.any(axis=1)
            trend = (unit_prices(prices, value),)
            return Mixture(basis.columns[used], basis.shares[used], [proof], basis.columns, value, trend)
        seen, gains = np.concatenate([columns, seen]), np.concatenate([worths, gains])
        _enter(basis, seen, gains, _LEFT * max(beyond, left_over))
        if not basis.feasible:
            return None
    return None


def _enter(basis: _Basis, columns: FloatArray, worths: FloatArray, least: float) -> None:
    """Let columns enter, the best one first, until none is worth more than so much beyond its price."""
    entries = basis.entries(columns)
    for _ in range(_STEPS):
        beyond = worths - entries @ basis.prices
        place = int(beyond.argmax())
        if beyond[place] <= least:
            break
        basis.enter(columns[place], worths[place])
