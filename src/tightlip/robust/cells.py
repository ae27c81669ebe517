"""Closing in on the upper end of an envelope over a set of priors: the set is cut where the bound is largest.

On each cell one linear program looks for multipliers that are good at all of its points at once. Its answers are
suggestions; robust/proof.py checks them. λ_x = 1/(T − θ_x) with a threshold θ_x that stays when T changes.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tightlip.errors import SolverFailure
from tightlip.numeric.linear_program import minimise
from tightlip.numeric.parse import FloatArray
from tightlip.robust.corners import Simplex
from tightlip.robust.proof import Multipliers, Path, halves

_SAFE = 1 - 1e-11  # of δ: what floats call below δ is below it
_MOST_ENTRIES = 20_000  # of one linear program
_SOLVES = 5
_LEAST = 1e-9  # of 1/T: no smaller multiplier is tried
_GAIN = 1 - 1e-6


@dataclass(frozen=True, slots=True)
class Cell:
    """A simplex of priors on which no envelope exceeds log(bound), by these thresholds (None: no lift exceeds it)."""

    points: Simplex
    path: Path
    bound: float
    thresholds: FloatArray | None

    def multipliers(self) -> Multipliers:
        """λ_x at the cell's own bound; they serve any larger one too."""
        if self.thresholds is None:
            return None
        return tuple(map(Fraction, (1 / (self.bound - self.thresholds)).tolist()))


@dataclass(frozen=True, slots=True)
class DualBound:
    """The dual value of multipliers at many priors at once, in floats: K of the possible secrets, and δ."""

    chances: FloatArray
    possible: list[int]
    delta: float

    def marginals(self, points: Simplex) -> FloatArray:
        """q_y at each point."""
        return np.array([[float(point[x]) for x in self.possible] for point in points]) @ self.chances

    def first(self, points: Simplex, path: Path) -> Cell:
        """The better of two bounds that need no search: no lift above it, or maximal leakage + log 1/δ."""
        peaks, least = self.chances.max(axis=0), self.marginals(points).min(axis=0)
        lifts = peaks[peaks > 0] / np.maximum(least[peaks > 0], 1e-300)
        lift = float(lifts.max()) * (1 + 1e-12)
        average = float(peaks.sum()) / (self.delta * _SAFE)
        if lift <= average:
            return Cell(points, path, lift, None)
        return Cell(points, path, average, np.zeros(len(self.possible)))

    def values(self, thresholds: FloatArray, ratio: float, marginals: FloatArray) -> FloatArray:
        """Σ_y max(0, max_x (K_xy − θ_x q_y)/(T − θ_x)) at each point."""
        best = np.full(marginals.shape, 0.0)
        for chances, threshold in zip(self.chances, thresholds.tolist(), strict=True):
            np.maximum(best, (chances - threshold * marginals) / (ratio - threshold), out=best)
        return np.asarray(best.sum(axis=1))

    def value(self, thresholds: FloatArray, ratio: float, marginals: FloatArray) -> float:
        """The largest of them."""
        return float(self.values(thresholds, ratio, marginals).max())

    def improved(self, cell: Cell, thresholds: FloatArray) -> Cell:
        """The cell with the smallest bound that some thresholds prove, if that is smaller than its own."""
        marginals = self.marginals(cell.points)
        high = cell.bound
        low = max(1.0, float(thresholds.max()) * (1 + 1e-9))
        wanted = self.delta * _SAFE
        if low >= high or self.value(thresholds, high, marginals) > wanted:
            return cell
        while high > low * (1 + 1e-10):
            middle = math.sqrt(low * high)
            low, high = (
                (low, middle) if self.value(thresholds, middle, marginals) <= wanted else (middle, high)
            )
        return Cell(cell.points, cell.path, high, thresholds)

    def refined(self, cell: Cell, target: float) -> Cell:
        """A few programs, each at the bound that the last one proved, until the target is met or little is gained.

        A program sees the points that were worst so far, all of them where they are few.
        """
        marginals = self.marginals(cell.points)
        room = max(_MOST_ENTRIES // self.chances.size, 2)
        thresholds = np.zeros(len(self.chances)) if cell.thresholds is None else cell.thresholds
        seen = np.zeros(len(marginals), dtype=bool)
        for _ in range(_SOLVES):
            values = self.values(thresholds, cell.bound, marginals)
            fresh = room // 4 + 1 if seen.any() else room
            seen[np.argsort(-values, kind="stable")[:fresh]] = True
            suggested = self._best_thresholds(marginals[seen], cell.bound) if cell.bound > target else None
            if suggested is None:
                return cell
            better = self.improved(cell, suggested)
            if seen.all() and better.bound >= cell.bound * _GAIN:
                return better
            cell, thresholds = better, suggested
        return cell

    def _best_thresholds(self, marginals: FloatArray, ratio: float) -> FloatArray | None:
        """min over λ ≥ 0 of the largest Σ_y u_vy, with u_vy ≥ 0 and u_vy ≥ q_vy + λ_x (K_xy − T q_vy)."""
        matrix, right, cost = _program(self.chances, marginals, ratio)
        try:
            found = minimise(cost, matrix, right)
        except SolverFailure:
            return None  # no suggestion; the bound stays as it is
        multipliers = np.maximum(found.primal[: len(self.possible)], _LEAST / ratio)
        return self._lowered(np.minimum(ratio - 1 / multipliers, ratio * (1 - 1e-9)), marginals, ratio)

    def _lowered(self, thresholds: FloatArray, marginals: FloatArray, ratio: float) -> FloatArray:
        """The smallest thresholds that are worth no more than these, at any outcome of any point.

        A program leaves those that matter to no outcome anywhere, also just below T, where they keep T from falling.
        (K − θq)/(T − θ) ≤ u holds from θ = (K − Tu)/(q − u) on where u < q, and for all smaller θ elsewhere.
        """
        overall = marginals[:, None, :]  # point, secret, outcome
        worth = (self.chances - thresholds[:, None] * overall) / (ratio - thresholds[:, None])
        most = np.maximum(worth.max(axis=1, keepdims=True), 0.0)
        least = np.full(worth.shape, ratio - ratio / _LEAST)
        np.divide(self.chances - ratio * most, overall - most, out=least, where=overall > most)
        return np.asarray(np.minimum(thresholds, least.max(axis=(0, 2))))


def _program(
    chances: FloatArray, marginals: FloatArray, ratio: float
) -> tuple[object, FloatArray, FloatArray]:
    """Columns: λ of each secret, u of each point and outcome, the largest sum; rows: each u, then each sum."""
    from scipy.sparse import coo_array

    secrets, outcomes = chances.shape
    points = len(marginals)
    cells = points * outcomes
    count = cells * secrets
    gains = chances[None] - ratio * marginals[:, None, :]  # point, secret, outcome
    point, secret, outcome = (index.ravel() for index in np.indices(gains.shape))
    row = np.arange(count)
    cell = point * outcomes + outcome
    sums = np.arange(cells)
    data = np.concatenate([gains.ravel(), -np.ones(count), np.ones(cells), -np.ones(points)])
    rows = np.concatenate([row, row, count + sums // outcomes, count + np.arange(points)])
    columns = np.concatenate([secret, secrets + cell, secrets + sums, np.full(points, secrets + cells)])
    shape = (count + points, secrets + cells + 1)
    right = np.concatenate([-marginals[point, outcome], np.zeros(points)])
    return (
        coo_array((data, (rows, columns)), shape=shape).tocsr(),
        right,
        np.eye(1, shape[1], shape[1] - 1)[0],
    )


def partition(
    bound: DualBound,
    roots: list[Simplex],
    start: FloatArray | None,
    target: Callable[[Simplex], float],
    most: int,
) -> list[Cell]:
    """Cells that cover the set, cut at the largest bound until it meets the target or there are `most` of them.

    `target` gets each cell that is about to be cut and says which ratio would be good enough now.
    """
    goal = target(roots[0])
    cells = [bound.first(root, (place,)) for place, root in enumerate(roots)]
    if start is not None:
        cells = [bound.improved(cell, start) for cell in cells]
    heap = [(-cell.bound, cell.path, cell) for cell in (bound.refined(cell, goal) for cell in cells)]
    heapq.heapify(heap)
    while -heap[0][0] > goal and len(heap) < most:
        cell = heapq.heappop(heap)[2]
        goal = target(cell.points)
        if len(cell.points) == 1:
            heapq.heappush(heap, (-cell.bound, cell.path, cell))
            break
        for side, half in enumerate(halves(cell.points)):
            child = bound.first(half, (*cell.path, side))
            if cell.thresholds is not None:
                child = bound.improved(child, cell.thresholds)
            child = bound.refined(child, goal)
            heapq.heappush(heap, (-child.bound, child.path, child))
    return [cell for _, _, cell in heap]
