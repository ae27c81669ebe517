"""Bounded secrets: both ends of the envelope of Y = X + N against any post-processing.

Three proofs meet here. Below, an attack on cells of Y, certified by ball arithmetic (`attack`).
Above, a dual bound integrated with proved error. And above them all the closed form

    ε_c(δ) ≤ ℒ + log 1/δ,   e^ℒ = ∫ sup_x f(y|x) dy = 1 + (high − low) f_N(0),

which is the dual bound with λ = 1/t and holds for every distribution on [low, high]: e^ℒ = 1 +
(high − low)/(σ√(2π)) for Gaussian noise, 1 + (high − low)/2b for Laplace noise, where moreover no
outcome leaks more than (high − low)/b.

The dual bound. For μ(x) ≥ 1 and t = e^ε, no post-processing Z of Y has P{ℓ(Z) ≥ ε} above

    D(t) = ∫ max(0, sup_x (μ(x)/t) f(y|x) − (μ(x) − 1) f_Y(y)) dy.

*Why.* Given Z = z the mean of f(Y|x)/f_Y(Y) is continuous in x on the compact support (dominated:
∫ sup_x f(y|x) dy < ∞), so an outcome with ℓ(z) ≥ ε has a secret x(z) whose mean is at least t. Hence
1 ≤ E[1 + (μ(x)/t)(f(Y|x)/f_Y(Y) − t) | z] at x = x(z), and integrating over those z gives D(t).
It is the dual of the exact envelope's linear program with λ = μ/t, and nothing is lost by μ ≥ 1: with one μ(x) < 1
every y has a positive integrand, and by complementary slackness the value is 1.

*The integral.* μ is constant on each cell of x, where the supremum of f(y|·) is at the nearest point.
Between neighbouring nodes g = (μ/t) f − (μ−1) f_Y is below its chord plus h²/8 sup(−g''), and the
bounds of f'' in `grid` make that a factor 1 + κ on f and a term β off f_Y at both nodes. So the
trapezoidal rule over the corrected maxima is an upper bound. Beyond the nodes the tails are closed forms.

*Choice of μ.* From the multipliers of the attack's program: its used suspects give the function
m(y) = max(0, max_x g); every other cell takes the μ that violates g ≤ m least, by bisection.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from tightlip.arguments import whole
from tightlip.envelopes.result import Adversary, Envelope, read_delta
from tightlip.errors import PreconditionFailed
from tightlip.model.channel import Channel
from tightlip.model.noise import AdditiveNoise, Gaussian
from tightlip.model.secret import BoundedSecret, GaussianMixture, GaussianSecret
from tightlip.noise.attack import (
    Assignment,
    CellAttack,
    OutcomeCells,
    as_channel,
    assign,
    attack_beyond,
    best_attack,
    certify,
)
from tightlip.noise.grid import MARGIN, BoundedReal, NoiseGrid
from tightlip.noise.pointwise import require_release
from tightlip.numeric.ball import ball, enclose, log_bounds
from tightlip.numeric.display import format_python, format_up
from tightlip.numeric.parse import FloatArray

CELLS = 200
_MOST_CELLS = 10_000
_SHORTEST, _LONGEST = 1e-6, 100  # noise widths; below, floats no longer tell secrets apart
_MARGINS = (0.0, 1e-3, 5e-3, 2e-2, 1e-1)
_ENOUGH = 3e-3  # nats between the ends at which no other dual is tried, and beyond which `method` tells them
_SMALLEST = Fraction(1, 10**20)  # below, the program's solver fails
_SAMPLES = 600  # and with split cells, for their peaks,
_MORE_SAMPLES = 2400
_LARGEST = 1e9  # of μ; with Gaussian noise less, as the tails, 10⁻⁷ of δ each, count μ times
_LARGEST_GAUSSIAN = 5e5
_HALVINGS = 30
_BEYOND = 1e-6  # relative: multipliers are chosen for a t that is too large for the cells
_FINE = 1e-6  # relative: no end is looked for more closely


def bounded_envelope(
    release: AdditiveNoise, delta: object, *, adversary: Adversary = "any", cells: int = CELLS
) -> Envelope:
    """Bracket ε(δ) of a noisy bounded secret against any post-processing, in nats: a certified interval.

    Parameters
    ----------
    release : a secret with bounded support and Gaussian or Laplace noise
    delta : probability in (0, 1], at least 1e-20
    adversary : "any" or "deterministic"; Y is continuous, so the two have the same envelope
    cells : how many cells of Y the attack tells apart; both ends close in as it grows

    Returns
    -------
    Envelope whose `attack` maps cells of Y (labelled with their ends, rounded) to suspected secrets.
    For a BoundedSecret it is the range over every distribution: from 0 to ℒ + log 1/δ.

    Raises
    ------
    PreconditionFailed
        When the secret is unbounded, or its range is not from 10⁻⁶ to 100 noise widths.
    InvalidInput
        When delta or cells cannot be used.

    Reference: ENV Theorem 3 for the closed form; the program and its dual are those of the exact envelope.

    >>> from tightlip.noise import UniformSecret
    >>> found = bounded_envelope(AdditiveNoise(UniformSecret(-1, 1), Gaussian(1)), "0.1", cells=100)
    >>> 1.30 < found.lower < found.upper < 1.32
    True
    """
    require_release(release)
    level = read_delta(delta)
    count = read_cells(cells)
    secret = release.secret
    low, high = secret.support
    if isinstance(secret, (GaussianSecret, GaussianMixture)) or math.isinf(low) or math.isinf(high):
        raise PreconditionFailed(
            f"secret must have a bounded support, got [{float(low)!r}, {float(high)!r}]; "
            "use noise.envelope, which says what is known for unbounded secrets."
        )
    closed = closed_form(release, level)
    if isinstance(secret, BoundedSecret):
        bound = (
            "ℒ + log 1/δ"
            if isinstance(release.noise, Gaussian)
            else "ℒ + log 1/δ or range/scale, the smaller one,"
        )
        method = f"{bound} holds for every distribution in the range; a constant secret leaks nothing"
        return Envelope(level, 0.0, closed, method, adversary)
    if low == high:
        return Envelope(level, 0.0, 0.0, "constant secret", adversary)
    _require_size(release, level)
    return _bracket(release, secret, level, adversary, count, closed)


def read_cells(cells: object) -> int:
    """Read how many cells of Y are asked for.

    >>> read_cells(200)
    200
    """
    return whole(cells, "cells", 10, _MOST_CELLS, remedy="use 200 to begin with")


def _bracket(
    release: AdditiveNoise,
    secret: BoundedReal,
    delta: Fraction,
    adversary: Adversary,
    count: int,
    closed: float,
) -> Envelope:
    from scipy.special import ndtri

    reach = -float(ndtri(1e-7 * float(delta)))
    grid = NoiseGrid.over(release, secret, count, reach)
    cells = OutcomeCells.of(grid, count)
    attack = best_attack(cells, delta)
    found = assign(attack, cells, grid)
    channel = _label_attack(release, found, whole=delta == 1)
    lower = certify(channel, found, grid, delta)
    upper = _proved_upper(grid, cells, attack, delta, closed)
    above = "closed form ℒ + log 1/δ" if upper == closed else f"dual integrated over {len(grid.nodes)} nodes"
    same = "; Y is continuous, so a deterministic attack does as well" if adversary == "deterministic" else ""
    method = f"attack on {len(found.cells.below)} cells certified by ball arithmetic, {above} with proved error{same}"
    if upper - lower > _ENOUGH:
        apart = format_up(upper - lower, 2)
        method += f"; with these cells the ends are {apart} nats apart, other numbers of cells may bring them closer"
    return Envelope(delta, lower, upper, method, adversary, witness=channel)


def _proved_upper(
    grid: NoiseGrid, cells: OutcomeCells, attack: CellAttack, delta: Fraction, closed: float
) -> float:
    """The best of a few duals: where the program's value jumps, multipliers of a larger t are less extreme."""
    least, upper = max(attack.ratio, 1.0), closed
    start = math.log(least)
    for margin in _MARGINS:
        program = attack_beyond(cells, delta, margin) if margin else attack
        found = upper_end(extend_dual(grid, program), delta, least, upper)
        before, upper = upper, upper if found is None else min(found, upper)
        if upper - start <= max(_ENOUGH, margin) or (margin and upper - start > 0.9 * (before - start)):
            break
    return upper


def _label_attack(release: AdditiveNoise, found: Assignment, *, whole: bool) -> Channel:
    """Label cells and suspects of the attack in the units of the release."""
    start, width = Fraction(release.secret.support[0]), Fraction(release.noise.width)

    def place(z: float | Fraction) -> str:
        return repr(z) if isinstance(z, float) and math.isinf(z) else repr(float(start + width * Fraction(z)))

    ends = [place(end) for end in found.cells.ends.tolist()]
    places = _distinct([f"({a}, {b})" for a, b in pairwise(ends)])
    names = _distinct([f"x = {place(suspect)}" for suspect in found.suspects])
    return as_channel(found, names, places, whole=whole)


def _distinct(labels: list[str]) -> list[str]:
    """The labels, numbered where rounding made two of them equal."""
    if len(set(labels)) == len(labels):
        return labels
    return [f"{i}: {label}" for i, label in enumerate(labels)]


def closed_form(release: AdditiveNoise, delta: Fraction) -> float:
    """Compute ℒ + log 1/δ, or for Laplace noise the largest PML if that is smaller, rounded up."""
    low, high = (Fraction(end) for end in release.secret.support)
    steps = (high - low) / Fraction(release.noise.width)
    if isinstance(release.noise, Gaussian):
        return enclose(lambda: (1 + ball(steps) / (2 * ball(1).pi()).sqrt()).log() - ball(delta).log())[1]
    return min(log_bounds((1 + steps / 2) / delta)[1], enclose(lambda: ball(steps))[1])


def _require_size(release: AdditiveNoise, delta: Fraction) -> None:
    low, high = (Fraction(end) for end in release.secret.support)
    steps = float((high - low) / Fraction(release.noise.width))
    if not _SHORTEST <= steps <= _LONGEST:
        raise PreconditionFailed(
            f"secret must range over {_SHORTEST:g} to {_LONGEST} noise widths, got {steps:g}; "
            "BoundedSecret has a bound that holds for every range."
        )
    if delta < _SMALLEST:
        raise PreconditionFailed(
            f"delta must be at least {float(_SMALLEST):g} for a bracket, got delta={format_python(delta)}; "
            "BoundedSecret has a bound that holds for every delta."
        )


@dataclass(frozen=True, slots=True)
class Dual:
    """The bound D(t) for one μ, with everything that does not depend on t."""

    grid: NoiseGrid
    multipliers: FloatArray

    def value(self, ratio: float) -> float:
        """Bound D(t) from above."""
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
    """Compute κ for f and β for f_Y, at each node."""
    step = grid.steps()
    if not grid.gaussian:  # f(·|x) is convex between kinks, which are nodes; f_Y'' ≤ f_Y ≤ e^h f_Y(node)
        return np.zeros_like(step), step**2 / 8 * np.exp(step) * grid.above * (1 + MARGIN)
    return step**2 / 8 * np.exp(step * grid.farthest()) * (1 + MARGIN), step**2 / 8 * grid.bend()


def extend_dual(grid: NoiseGrid, attack: CellAttack) -> Dual:
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
    """Prove an upper end in nats: log t for the smallest t found with D(t) < δ; None above the ceiling."""
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
