"""The upper end for a noisy bounded secret: a proved integral of a dual bound.

For μ(x) ≥ 1 and t = e^ε, no post-processing Z of Y has P{ℓ(Z) ≥ ε} above

    D(t) = ∫ max(0, sup_x (μ(x)/t) f(y|x) − (μ(x) − 1) f_Y(y)) dy.

*Why.* Given Z = z the mean of f(Y|x)/f_Y(Y) is continuous in x on the compact support (dominated:
∫ sup_x f(y|x) dy < ∞), so an outcome with ℓ(z) ≥ ε has a secret x(z) whose mean is at least t. Hence
1 ≤ E[1 + (μ(x)/t)(f(Y|x)/f_Y(Y) − t) | z] at x = x(z), and integrating over those z gives D(t).
It is the dual of the exact envelope's linear program with λ = μ/t, and nothing is lost by μ ≥ 1: with one μ(x) < 1
every y has a positive integrand, and by complementary slackness the value is 1.

*The integral.* μ is constant on each cell of x, where the supremum of f(y|·) is at the nearest point.
Between neighbouring nodes g = (μ/t) f − (μ−1) f_Y is below its chord plus h²/8 sup(−g''), and the
bounds of f'' in grid.py make that a factor 1 + κ on f and a term β off f_Y at both nodes. So the
trapezoidal rule over the corrected maxima is an upper bound. Beyond the nodes the tails are closed forms.

*Choice of μ.* From the multipliers of the attack's program: its used suspects give the function
m(y) = max(0, max_x g); every other cell takes the μ that violates g ≤ m least, by bisection.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tightlip.noise.attack import CellAttack
from tightlip.noise.grid import MARGIN, NoiseGrid
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.parse import FloatArray

_SAMPLES = 600  # and with split cells, for their peaks,
_MORE_SAMPLES = 2400
_LARGEST = 1e9  # of μ; with Gaussian noise less, as the tails, 10⁻⁷ of δ each, count μ times
_LARGEST_GAUSSIAN = 5e5
_HALVINGS = 30
_BEYOND = 1e-6  # relative: multipliers are chosen for a t that is too large for the cells
_FINE = 1e-6  # relative: no end is looked for more closely


@dataclass(frozen=True, slots=True)
class Dual:
    """The bound D(t) for one μ, with everything that does not depend on t."""

    grid: NoiseGrid
    multipliers: FloatArray

    def value(self, ratio: float) -> float:
        """An upper bound of D(t)."""
        grid, mu = self.grid, self.multipliers
        rise, dip = corrections(grid)
        top = np.empty_like(grid.nodes)
        for part in grid.chunks():
            likelihood = grid.likelihoods(grid.nodes[part]) * (1 + rise[part])
            overall = grid.below[part] - dip[part]
            found = (mu[:, None] / ratio) * likelihood - (mu[:, None] - 1) * overall
            top[part] = found.max(axis=0)
        top = np.maximum(top, 0.0)
        body = float(np.sum((top[:-1] + top[1:]) * grid.gaps)) / 2
        return (body + self._tails(top, ratio)) * (1 + 2 * MARGIN)

    def _tails(self, top: FloatArray, ratio: float) -> float:
        """Beyond the nodes: at most (max μ/t) f for Gaussian noise, everything falls as e^{−y} for Laplace."""
        if not self.grid.gaussian:
            return float(top[0] + top[-1])
        return 2 * float(self.multipliers.max()) / ratio * self.grid.tail()


def corrections(grid: NoiseGrid) -> tuple[FloatArray, FloatArray]:
    """κ for f and β for f_Y, at each node."""
    step = grid.steps()
    if not grid.gaussian:  # f(·|x) is convex between kinks, which are nodes; f_Y'' ≤ f_Y ≤ e^h f_Y(node)
        return np.zeros_like(step), step**2 / 8 * np.exp(step) * grid.above * (1 + MARGIN)
    return step**2 / 8 * np.exp(step * grid.farthest()) * (1 + MARGIN), step**2 / 8 * grid.bend()


def extended(grid: NoiseGrid, attack: CellAttack) -> Dual:
    """Give every cell of x a multiplier, from those of the used suspects."""
    samples = _MORE_SAMPLES if grid.finer else _SAMPLES
    chosen = np.unique(np.linspace(0, len(grid.nodes) - 1, samples).round().astype(int))
    nodes, overall = grid.nodes[chosen], (grid.below[chosen] + grid.above[chosen]) / 2
    weights = np.gradient(nodes)
    largest = _LARGEST_GAUSSIAN if grid.gaussian else _LARGEST
    used = np.clip(attack.multipliers[list(attack.used)], 1.0, largest)
    spots = np.array([float(grid.suspects[i]) for i in attack.used])
    ratio = attack.scaled * (1 + min(_BEYOND, 1e-3 * max(math.log(attack.scaled), 0.0)))
    best = _target(grid.gaussian, spots, used, nodes, overall, ratio)
    found = np.empty_like(grid.low)
    for start in range(0, len(found), 2000):
        part = slice(start, start + 2000)
        slopes = (
            NoiseGrid(
                grid.gaussian, grid.low[part], grid.high[part], nodes, overall, overall, overall, ()
            ).likelihoods(nodes)
            / ratio
            - overall
        )
        found[part] = _least_violating(slopes, overall - best, weights, largest)
    return Dual(grid, found)


def _target(
    gaussian: bool, spots: FloatArray, used: FloatArray, nodes: FloatArray, overall: FloatArray, ratio: float
) -> FloatArray:
    """m(y): what the used suspects make of the integrand."""
    at = NoiseGrid(gaussian, spots, spots, nodes, overall, overall, overall, ())
    values: FloatArray = used[:, None] / ratio * at.likelihoods(nodes) - (used[:, None] - 1) * overall
    found: FloatArray = values.max(axis=0, initial=0.0)
    return found


def _least_violating(
    slopes: FloatArray, offset: FloatArray, weights: FloatArray, largest: float
) -> FloatArray:
    """For each row the μ from 1 to the largest that minimises ∫ (offset + μ·slope)₊, which is convex in μ."""
    low, high = np.zeros(len(slopes)), np.full(len(slopes), math.log(largest))
    settled = np.zeros(len(slopes), dtype=bool)
    middle = low
    for _ in range(_HALVINGS):
        middle = np.where(settled, middle, (low + high) / 2)
        violated = offset + np.exp(middle)[:, None] * slopes > 0
        slope = (violated * slopes) @ weights
        settled |= ~violated.any(axis=1)
        high = np.where(slope > 0, middle, high)
        low = np.where(slope > 0, low, middle)
    return np.exp(middle)


def upper_end(dual: Dual, delta: Fraction, start: float, ceiling: float) -> float | None:
    """A proved upper end in nats: log t for the smallest t found with D(t) < δ; None above the ceiling."""
    low, step = math.log(start), 1e-3
    high = low + step
    while not _holds(dual, high, delta):
        low, step = high, 2 * step
        high = low + step
        if low > ceiling:
            return None
    while high - low > max(1e-2 * (high - math.log(start)), _FINE * high):  # D may hold from the start on
        middle = (low + high) / 2
        low, high = (low, middle) if _holds(dual, middle, delta) else (middle, high)
    return log_bounds(Fraction(math.exp(high)))[1]


def _holds(dual: Dual, level: float, delta: Fraction) -> bool:
    return Fraction(dual.value(math.exp(level))) < delta
