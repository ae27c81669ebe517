"""Branch and bound over selections: the tree that proves the upper end, and the best selection on the way.

A node allows some rows of each secret. It is split on one row, chosen or not; the node with the largest bound goes
first, so that stopping at any moment leaves a valid tree. Bounds are those of a judge, never a solver's.

Selections come from lazy greedy over all secrets, then exchange of single rows until none helps. The objective is
monotone and submodular, so greedy over the partition matroid reaches at least half of the optimum.

Prices of small problems come from the linear relaxation by cutting planes: few rows of the dual, solved by HiGHS from
the last basis.

    minimise Σ_y u_y + Σ_g v_g   subject to   v_g ≥ Σ_{y ∈ A} (V_ry − u_y)  for rows r of g and sets A of outputs.

A cut (r, A) holds wherever row r is allowed, so the cuts found at one node of the search tree serve all others.
Its answers are suggestions: prices, which a judge weighs, and weights of rows, which guide the branching.

Prices of large problems come from subgradient descent on D(u) (cover.py), with Polyak steps towards the best selection
known.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from tightlip.certificate.statistic import Leaf, Prices, Split
from tightlip.errors import SolverFailure
from tightlip.numeric.linear_program import new_solver, run
from tightlip.numeric.parse import FloatArray
from tightlip.statistic.cover import Cover, Mask
from tightlip.statistic.groups import Places
from tightlip.statistic.judge import Bounded, Judge
from tightlip.statistic.work import CALL, Work

# of the tree
_MOST_ENTRIES = 200_000  # beyond, the relaxation is left to subgradient descent and no branching is tried
_MOST_SIZE = 1500  # outputs and secrets together: beyond, the same
_MOST_PRICES = 5_000_000  # in all leaves: a longer proof takes too much memory and time to check
_FIRST_SHARE = 0.5  # of the work for the first selection; without some left for prices the upper end is poor

# of the exchange
_WORTHWHILE = 1 + 1e-13  # what a row must gain: by roundings alone it could go round in circles

# of the cutting planes
_TOLERANCE = 1e-10  # of HiGHS
_MET = 1e-12  # the relative gap at which the relaxation counts as solved
_CLEARLY = 1 - 1e-9  # of the goal: prices below it settle the node, whatever the least are
_ENOUGH = 0.05  # of the way from the goal to the value: such a node is split anyway
_CUTS_KEPT = 5  # for each output and secret: more slow down every solve, fewer have to be found again
_IDLE_ROUNDS = 3  # without progress, before the search for cuts ends
_STILL = 1e-13  # the relative change that is no progress
_STEP = 10  # entries that could be read while a simplex step looks at one row or column
_NONE = np.array([], dtype=np.int32)

# of the subgradient descent
_IDLE_STEPS = 15  # without a lower D, before the step is halved
_LEAST_STEP = 1e-4  # of Polyak's step: with smaller ones D hardly falls


@dataclass(frozen=True, slots=True)
class Found:
    """The best selection (rows of the cover), its total, and a tree that proves `upper` for all selections.

    `stopped` says what was used up, if anything, before the search came to its own end.
    """

    selection: Places
    lower: Fraction
    upper: Fraction
    prices: tuple[Prices, ...]
    nodes: tuple[Split | Leaf, ...]
    met: bool
    stopped: str


@dataclass(slots=True)
class _Node:
    allowed: Mask
    start: FloatArray
    weights: FloatArray
    bounded: Bounded


@dataclass(slots=True)
class _Tree:
    """Nodes by number: a node is a leaf until it is split."""

    leaves: dict[int, Bounded] = field(default_factory=dict)
    splits: dict[int, Split] = field(default_factory=dict)

    def add(self, bounded: Bounded) -> int:
        place = len(self.leaves) + len(self.splits)
        self.leaves[place] = bounded
        return place

    def split(self, place: int, row: int, chosen: Bounded, others: Bounded) -> tuple[int, int]:
        del self.leaves[place]
        self.splits[place] = Split(row, 0, 0)  # counted before its children get their numbers
        one, two = self.add(chosen), self.add(others)
        self.splits[place] = Split(row, one, two)
        return one, two

    def to_proof(self) -> tuple[tuple[Prices, ...], tuple[Split | Leaf, ...]]:
        places: dict[Prices, int] = {}
        nodes: list[Split | Leaf] = []
        for place in range(len(self.leaves) + len(self.splits)):
            split = self.splits.get(place)
            nodes.append(split or Leaf(places.setdefault(self.leaves[place].prices, len(places))))
        return tuple(places), tuple(nodes)


class Search:
    """One problem being solved; `run` does it."""

    def __init__(self, cover: Cover, judge: Judge, *, work: Work, gap: float) -> None:
        self.cover = cover
        self.judge = judge
        self.work = work
        self.allowance = max(judge.slack, Fraction(gap))
        small = len(cover.values) <= _MOST_ENTRIES and cover.outputs + cover.groups <= _MOST_SIZE
        self.program = CutProgram(cover) if small else None
        self.selection = exchange(cover, greedy(cover), work, _FIRST_SHARE)
        self.lower = judge.total(self.selection)

    def run(self) -> Found:
        """Bound, then branch until the ends meet, the work is done or the proof grows too long."""
        tree = _Tree()
        root = self._node(self.cover.everything(), self.cover.maxima(self.selection))
        heap = [(-root.bounded.total, tree.add(root.bounded), root)]
        most = _MOST_PRICES // self.cover.outputs
        while self.program is not None and not self._ends_meet(-heap[0][0]):
            row = self._branching_row(heap[0][2])
            if row is None or not self.work.left() or len(tree.leaves) > most:
                break
            _, place, node = heapq.heappop(heap)
            parts = [self._node(allowed, node.start) for allowed in self._split(node.allowed, row)]
            places = tree.split(place, int(self.cover.order[row]), parts[0].bounded, parts[1].bounded)
            for number, part in zip(places, parts, strict=True):
                heapq.heappush(heap, (-part.bounded.total, number, part))
        upper = max(self.lower, *(leaf.total for leaf in tree.leaves.values()))
        prices, nodes = tree.to_proof()
        return Found(
            self.selection,
            self.lower,
            upper,
            prices,
            nodes,
            self._ends_meet(upper, self.judge.slack),
            self.work.stopped,
        )

    def _ends_meet(self, upper: Fraction, allowance: Fraction | None = None) -> bool:
        share = self.allowance if allowance is None else allowance
        return upper <= self.lower + share * abs(self.lower)

    def _node(self, allowed: Mask, start: FloatArray) -> _Node:
        """Prices and bound where only some rows are allowed; the rows that lead there may be a better selection."""
        if allowed.sum() == self.cover.groups:
            only = np.flatnonzero(allowed)
            self._try(only)
            return _Node(allowed, start, allowed.astype(np.float64), self.judge.bound_single(only))
        if self.program is None:
            prices = descend(self.cover, allowed, start, self._goal(), self.work)
            weights = np.zeros(self.cover.rows)
        else:
            prices = self.program.prices(allowed, start, self._goal(), self.work)
            weights = np.where(allowed, self.program.weights, 0.0)
        _, leads = self.cover.tops(weights if weights.any() else self.cover.gains(prices), allowed)
        self._try(exchange(self.cover, leads, self.work))
        self.work.add(self.judge.cost)
        return _Node(allowed, prices, weights, self.judge.bound(prices, allowed, self.lower))

    def _goal(self) -> float:
        return self.cover.worth(self.selection)

    def _try(self, selection: Places) -> None:
        total = self.judge.total(selection)
        if total > self.lower:
            self.selection, self.lower = selection, total

    def _split(self, allowed: Mask, row: int) -> tuple[Mask, Mask]:
        members = self.cover.members(self.cover.group_of(row))
        chosen, others = allowed.copy(), allowed.copy()
        chosen[members.start : members.stop] = False
        chosen[row] = True
        others[row] = False
        return chosen, others

    def _branching_row(self, node: _Node) -> int | None:
        """The leading row of the secret that is least decided; None where every secret has one row left."""
        left = np.add.reduceat(node.allowed.astype(np.intp), self.cover.group_starts)
        tops, rows = self.cover.tops(node.weights, node.allowed)
        undecided = np.where(left > 1, tops, np.inf)
        group = int(np.argmin(undecided))
        return None if np.isinf(undecided[group]) else int(rows[group])


def greedy(cover: Cover) -> Places:
    """Select greedily: again and again the row that adds most among the secrets without one.

    A gain only shrinks as the selection grows, so an old one that is still the largest when renewed is the largest.
    """
    covered = np.zeros(cover.outputs)
    chosen = np.full(cover.groups, -1, dtype=np.intp)
    heap = [(-gain, row, 0) for row, gain in enumerate(cover.gains(covered).tolist())]
    heapq.heapify(heap)
    done = 0
    while done < cover.groups:
        _, row, seen = heapq.heappop(heap)
        group = cover.group_of(row)
        if chosen[group] >= 0:
            continue
        columns, values = cover.entries(row)
        if seen == done:
            chosen[group] = row
            covered[columns] = np.maximum(covered[columns], values)
            done += 1
        else:
            gain = float(np.maximum(values - covered[columns], 0.0).sum())
            heapq.heappush(heap, (-gain, row, done))
    return chosen


def exchange(cover: Cover, selection: Places, work: Work, share: float = 1.0) -> Places:
    """Improve a selection by local search: give each secret its best row, the others staying, until none changes.

    It stops early where that share of the work is done.
    """
    chosen = selection.copy()
    best, owner, second = _two_best(cover, chosen)
    value = float(best.sum())
    quiet, group = 0, 0
    while quiet < cover.groups and work.left(share):
        others = np.where(owner == group, second, best)
        gains = cover.gains_of(cover.members(group), others)
        row = int(np.argmax(gains))
        work.add(cover.size_of(cover.members(group)) + cover.outputs + CALL)
        found = float(others.sum() + gains[row])
        quiet += 1
        if found > value * _WORTHWHILE:
            chosen[group] = cover.members(group)[row]
            best, owner, second = _two_best(cover, chosen)
            value, quiet = float(best.sum()), 0
            work.add(cover.groups * CALL)
        group = (group + 1) % cover.groups
    return chosen


def _two_best(cover: Cover, selection: Places) -> tuple[FloatArray, Places, FloatArray]:
    """For each output the largest selected entry, whose it is, and the largest of the others."""
    best, second = np.zeros(cover.outputs), np.zeros(cover.outputs)
    owner = np.full(cover.outputs, -1, dtype=np.intp)
    for group, row in enumerate(selection.tolist()):
        columns, values = cover.entries(row)
        leads = values > best[columns]
        held = columns[~leads]
        second[held] = np.maximum(second[held], values[~leads])
        taken = columns[leads]
        second[taken] = best[taken]
        best[taken] = values[leads]
        owner[taken] = group
    return best, owner, second


class CutProgram:
    """The relaxation of one cover; `weights` are the row weights of the last solve."""

    def __init__(self, cover: Cover) -> None:
        import highspy

        self.cover = cover
        self.weights: FloatArray = np.zeros(cover.rows)
        self._owners: list[int] = []
        self._totals: list[float] = []
        self._useful: list[bool] = []  # whether a cut was binding at the end of some node
        self._most_cuts = _CUTS_KEPT * (cover.outputs + cover.groups)
        self._infinite = highspy.kHighsInf
        solver = new_solver(_TOLERANCE)
        size = cover.outputs + cover.groups
        most = np.concatenate([cover.peaks, np.full(cover.groups, self._infinite)])
        solver.addCols(size, np.ones(size), np.zeros(size), most, 0, _NONE, _NONE, np.array([]))
        self._solver: Any = solver

    def prices(self, allowed: Mask, start: FloatArray, goal: float, work: Work) -> FloatArray:
        """Prices of nearly least D(u) for the allowed rows, or of one clearly below the goal.

        Where even the least is above the goal, one that is above it by hardly more will do.
        """
        self._forget_idle_cuts()
        self._activate(allowed)
        best, least, point = start, np.inf, start
        reached, idle = -np.inf, 0
        while work.left() and idle < _IDLE_ROUNDS:
            before = least, reached
            for query in (point, (point + best) / 2):  # halfway to the best is steadier than the corner alone
                value = self._separate(query, allowed)
                if value < least:
                    best, least = query, value
            found = self._solve()
            work.add(2 * (len(self.cover.values) + self.cover.groups * CALL) + self._solving())
            if found is None:
                break
            point, reached = found
            enough = max(_MET * reached, _ENOUGH * (reached - goal))
            if least <= reached + enough or least <= goal * _CLEARLY:
                break
            moved = least < before[0] * (1 - _STILL) or reached - before[1] > _STILL * reached
            idle = 0 if moved else idle + 1  # it happens with entries below the solver's tolerance
        self._mark_binding_cuts()
        return best

    def _separate(self, prices: FloatArray, allowed: Mask) -> float:
        """D(u), after adding the cut of the leading row of each secret."""
        tops, rows = self.cover.tops(self.cover.gains(prices), allowed)
        for group, row in enumerate(rows.tolist()):
            columns, values = self.cover.entries(row)
            above = values > prices[columns]
            total = float(values[above].sum())
            inside = np.append(columns[above], self.cover.outputs + group).astype(np.int32)
            self._solver.addRow(total, self._infinite, len(inside), inside, np.ones(len(inside)))
            self._owners.append(row)
            self._totals.append(total)
            self._useful.append(False)
        return float(prices.sum() + tops.sum())

    def _mark_binding_cuts(self) -> None:
        binding = np.flatnonzero(np.array(self._solver.getSolution().row_dual) > 0)
        for cut in binding.tolist():
            self._useful[cut] = True

    def _forget_idle_cuts(self) -> None:
        """Drop cuts that bound nowhere, and the oldest: kept, they would slow down every later node."""
        kept = [cut for cut, useful in enumerate(self._useful) if useful][-self._most_cuts :]
        idle = np.setdiff1d(np.arange(len(self._useful)), kept).astype(np.int32)
        if len(idle):
            self._solver.deleteRows(len(idle), idle)
            self._owners = [self._owners[cut] for cut in kept]
            self._totals = [self._totals[cut] for cut in kept]
            self._useful = [True] * len(kept)

    def _activate(self, allowed: Mask) -> None:
        """Switch off the cuts of rows that are not allowed."""
        count = len(self._owners)
        if count:
            lower = np.where(allowed[self._owners], self._totals, -self._infinite)
            self._solver.changeRowsBounds(
                count, np.arange(count, dtype=np.int32), lower, np.full(count, self._infinite)
            )

    def _solving(self) -> float:
        """About as many entries as could be read in the time of the last solve."""
        steps = int(self._solver.getInfo().simplex_iteration_count)
        return CALL + (steps + 1) * (self.cover.outputs + self.cover.groups + len(self._owners)) * _STEP

    def _solve(self) -> tuple[FloatArray, float] | None:
        """The prices and the value of the program as it stands; None where the solver gives up."""
        try:
            found = run(self._solver)
        except SolverFailure:
            return None
        duals = np.maximum(found.duals, 0.0)
        self.weights = np.asarray(
            np.bincount(self._owners, weights=duals, minlength=self.cover.rows), dtype=np.float64
        )
        prices = np.clip(found.primal[: self.cover.outputs], 0.0, self.cover.peaks)
        return prices, found.cost


def descend(cover: Cover, allowed: Mask, prices: FloatArray, target: float, work: Work) -> FloatArray:
    """Lower D(u) by subgradient descent: at each step move against the number of secrets that overpay.

    The step is halved when D has not fallen for a while; the search ends when it is tiny, the target is reached or
    the work is done.
    """
    best, least = prices, np.inf
    step, patience = 1.0, _IDLE_STEPS
    while step > _LEAST_STEP:
        tops, rows = cover.tops(cover.gains(prices), allowed)
        value = float(prices.sum() + tops.sum())
        work.add(len(cover.values) + (cover.groups + 1) * CALL)
        patience -= 1
        if value < least:
            best, least, patience = prices, value, _IDLE_STEPS
        elif not patience:
            prices, step, patience = best, step / 2, _IDLE_STEPS
            continue
        slope = 1.0 - _takers(cover, rows, prices)
        norm = float(slope @ slope)
        if value <= target or not norm or not work.left():
            break
        prices = np.maximum(prices - step * (value - target) / norm * slope, 0.0)
    return best


def _takers(cover: Cover, rows: Places, prices: FloatArray) -> FloatArray:
    """For each output, how many of some rows have an entry above its price."""
    count = np.zeros(cover.outputs)
    for row in rows.tolist():
        columns, values = cover.entries(row)
        count[columns] += values > prices[columns]
    return count
