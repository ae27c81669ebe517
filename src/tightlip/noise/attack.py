"""An attack on a noisy bounded secret: assign cells of outcomes to suspects, and certify what it reaches.

Rounding Y to cells is itself a post-processing, so every assignment w(cell → suspect x) proves a lower
end. The best one at t = e^ε solves the program of the finite envelope on the cells,

    maximise Σ q w   subject to   Σ_x w(cell, x) ≤ 1,   Σ_cell w(cell, x)(P(cell|x) − t q⁺) ≥ 0,

with the lower bound q of P_Y(cell) in the mass and the upper bound q⁺ in the constraint. The solver is
not trusted: `certified` recomputes every outcome of the stored channel from proved bounds.
Y is continuous, so the randomised assignment has a deterministic equal: within a cell, subsets can have
prescribed shares under finitely many atomless laws at once (Dvoretzky, Wald and Wolfowitz).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tightlip.model.channel import Channel
from tightlip.model.matrix import dense
from tightlip.noise.grid import NoiseGrid
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.linear_program import minimise
from tightlip.numeric.parse import FloatArray

_AIM = 1e-6  # how much more than δ the attack is meant to reach, relative
_STEP = 2e-6  # stop when log t is known to this
_ROUNDING = 1e-8  # shares closer than this to none or all are meant to be none or all
_USED = 1e-7  # outcomes with a smaller share of δ are dropped


@dataclass(frozen=True, slots=True)
class CellAttack:
    """The solver's assignment at level t: weights by suspect and cell, and the multipliers μ = λt."""

    ratio: float
    weights: FloatArray
    multipliers: FloatArray
    used: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OutcomeCells:
    """Cells of Y between two half-lines, with bounds of their probability; ±∞ are the first and last ends."""

    ends: FloatArray
    below: FloatArray
    above: FloatArray
    hits: FloatArray

    @classmethod
    def of(cls, grid: NoiseGrid, cells: int) -> OutcomeCells:
        """Join the gaps between nodes into about this many cells."""
        chosen = np.unique(np.linspace(0, len(grid.nodes) - 1, cells + 1).round().astype(int))
        low, high = (np.add.reduceat(masses, chosen[:-1]) for masses in grid.masses())
        ends = np.concatenate([[-math.inf], grid.nodes[chosen], [math.inf]])
        if grid.gaussian:  # beyond the nodes, only that f_Y is a mixture of f(·|x)
            tails_low, tails_high = np.zeros(2), np.full(2, grid.tail())
        else:  # f_Y falls as e^{−distance} there: the mass is the density at the end
            tails_low, tails_high = grid.below[[0, -1]], grid.above[[0, -1]] * (1 + 1e-15)
        low = np.concatenate([tails_low[:1], low * (1 - 1e-11), tails_low[1:]])
        high = np.concatenate([tails_high[:1], high * (1 + 1e-11), tails_high[1:]])
        return cls(ends, low, high, _likelihoods(ends, grid))


def _likelihoods(ends: FloatArray, grid: NoiseGrid) -> FloatArray:
    """P(cell|x) for every suspect, in plain floats, for the solver only."""
    from scipy.special import ndtr

    def tail(u: FloatArray) -> FloatArray:
        if grid.gaussian:
            return np.asarray(ndtr(-u))
        return np.where(u > 0, np.exp(-np.abs(u)) / 2, 1 - np.exp(-np.abs(u)) / 2)

    rows = []
    for suspect in grid.suspects:
        a, b = ends[:-1] - float(suspect), ends[1:] - float(suspect)
        flip = a < 0
        rows.append(tail(np.where(flip, -b, a)) - tail(np.where(flip, -a, b)))
    return np.array(rows)


def best_attack(cells: OutcomeCells, delta: float, ceiling: float) -> tuple[CellAttack, CellAttack]:
    """The attack with about the largest t ≤ ceiling at which it has probability δ, and one just beyond."""
    from scipy.optimize import brentq

    target = min(delta * (1 + _AIM), float(cells.below.sum()) * (1 - _ROUNDING))
    best, beyond = (solved(cells, ratio, delta) for ratio in (1.0, ceiling * math.exp(2 * _STEP)))

    def excess(level: float) -> float:
        nonlocal best, beyond
        found = solved(cells, math.exp(level), delta)
        reached = _excess(cells, found, target)
        if reached >= 0:
            best = max(best, found, key=_ratio)
        else:
            beyond = min(beyond, found, key=_ratio)
        return reached

    if _excess(cells, best, target) > 0 > _excess(cells, beyond, target):
        root = brentq(excess, math.log(best.ratio), math.log(beyond.ratio), xtol=_STEP, rtol=1e-15)
        for level in (root - _STEP, root + _STEP):
            if best.ratio < math.exp(level) < beyond.ratio:
                excess(level)
    return best, beyond


def _ratio(attack: CellAttack) -> float:
    return attack.ratio


def _value(cells: OutcomeCells, attack: CellAttack) -> float:
    return float((attack.weights * cells.below).sum())


def _excess(cells: OutcomeCells, attack: CellAttack, target: float) -> float:
    return math.log(max(_value(cells, attack), 1e-6 * target) / target)


def solved(cells: OutcomeCells, ratio: float, delta: float) -> CellAttack:
    """Solve the program at t, in units of δ: v = w q/δ."""
    from scipy.sparse import coo_array

    held = np.flatnonzero(cells.below > 1e-12 * delta)
    low, high, hits = cells.below[held], cells.above[held], cells.hits[:, held]
    count, width = hits.shape
    gains = hits / (low * ratio) - high / low
    scale = np.abs(gains).max(axis=1, keepdims=True)
    columns = np.arange(count * width)
    rows = np.concatenate([np.tile(np.arange(width), count), width + np.repeat(np.arange(count), width)])
    values = np.concatenate([np.ones(count * width), (-gains / scale).ravel()])
    matrix = coo_array((values, (rows, np.tile(columns, 2))), shape=(width + count, count * width))
    limits = np.concatenate([low / delta, np.zeros(count)])
    what = f"the program for the attack at t={ratio:g} (use other cells)"
    found = minimise(-np.ones(count * width), matrix.tocsr(), limits, what=what)
    masses = np.maximum(found.primal.reshape(count, width), 0.0)
    weights = np.zeros_like(cells.hits)
    weights[:, held] = masses * delta / low
    used = tuple(np.flatnonzero(masses.sum(axis=1) > _USED).tolist())
    return CellAttack(ratio, weights, -found.duals[width:] / scale[:, 0], used)


def as_channel(attack: CellAttack, names: list[str], places: list[str], *, whole: bool) -> Channel:
    """The attack as a channel from cells of Y to suspects, the last outcome meaning nothing.

    Where δ = 1 (`whole`) what the solver left over goes to the first suspect on the left half, to the
    last on the right, so that nothing is left to the outcome that means nothing.
    """
    rows = np.clip(attack.weights[list(attack.used)].T, 0.0, 1.0)
    rows /= np.maximum(rows.sum(axis=1, keepdims=True), 1.0)
    rest = np.maximum(1 - rows.sum(axis=1, keepdims=True), 0.0)
    if whole:
        half = len(rows) // 2
        rows[:half, 0] += rest[:half, 0]
        rows[half:, -1] += rest[half:, 0]
        rest = np.zeros_like(rest)
    return Channel(np.hstack([rows, rest]), inputs=places, outputs=[*names, "nothing"])


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Proved bounds of one outcome: its ratio from below, its probability from below and above."""

    ratio: Fraction
    below: Fraction
    above: Fraction


def certified(
    channel: Channel, attack: CellAttack, cells: OutcomeCells, grid: NoiseGrid, delta: Fraction
) -> float:
    """A proved lower end in nats: the level that outcomes of total probability at least δ reach."""
    outcomes = _measured(channel, attack, cells, grid)
    outcomes.sort(key=lambda outcome: outcome.ratio, reverse=True)
    left = sum((outcome.above for outcome in outcomes), Fraction(0)) + _unused(channel, cells)
    reached = Fraction(0)
    for outcome in outcomes:
        reached, left = reached + outcome.below, left - outcome.above
        if max(reached, 1 - left) >= delta and outcome.ratio > 1:
            return log_bounds(outcome.ratio)[0]
    return 0.0


def _measured(channel: Channel, attack: CellAttack, cells: OutcomeCells, grid: NoiseGrid) -> list[_Outcome]:
    shares = _shares(channel)
    below, above = (_rationals(masses) for masses in (cells.below, cells.above))
    ends, outcomes = cells.ends.tolist(), []
    for symbol, place in enumerate(attack.used):
        hit, low, high = Fraction(0), Fraction(0), Fraction(0)
        for cell in [i for i, row in enumerate(shares) if row[symbol]]:
            share = shares[cell][symbol]
            hit += share * Fraction(grid.hit(ends[cell], ends[cell + 1], grid.suspects[place]))
            low, high = low + share * below[cell], high + share * above[cell]
        outcomes.append(_Outcome(hit / high, low, high))
    return outcomes


def _unused(channel: Channel, cells: OutcomeCells) -> Fraction:
    """An upper bound of the probability of the outcome that means nothing."""
    pairs = zip(_shares(channel), _rationals(cells.above), strict=True)
    return sum((row[-1] * mass for row, mass in pairs), Fraction(0))


def _shares(channel: Channel) -> list[list[Fraction]]:
    """The stored rows as rationals that sum to 1 exactly."""
    rows = [[Fraction(entry) for entry in row] for row in dense(channel.matrix).tolist()]
    totals = [sum(row) for row in rows]
    return [[entry / total for entry in row] for row, total in zip(rows, totals, strict=True)]


def _rationals(values: FloatArray) -> list[Fraction]:
    return [Fraction(value) for value in values.tolist()]
