"""An attack on a noisy bounded secret: assign cells of outcomes to suspects, and certify what it reaches.

Rounding Y to cells is itself a post-processing, so every assignment w(cell → suspect x) proves a lower
end. The best one at t = e^ε solves the program of the finite envelope on the cells,

    maximise Σ q w   subject to   Σ_x w(cell, x) ≤ 1,   Σ_cell w(cell, x)(P(cell|x) − t q⁺) ≥ 0,

with the lower bound q of P_Y(cell) in the mass and the upper bound q⁺ in the constraint. It is solved by the engine
of finite channels, with q⁺ for q and a little more than δ. With Laplace noise a suspect reaches the less the longer
the cell around it, by a quarter of its length, however many cells there are; so the program takes f(·|x) in the middle
of each cell, and afterwards cells and suspects are split into parts (`assign`). None of that is trusted: `certified`
recomputes every outcome of the stored channel from proved bounds.
Y is continuous, so the randomised assignment has a deterministic equal: within a cell, subsets can have
prescribed shares under finitely many atomless laws at once (Dvoretzky, Wald and Wolfowitz).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tightlip.certificate.envelope import EnvelopeCertificate
from tightlip.envelopes.adversaries import envelope
from tightlip.envelopes.pairs import Places
from tightlip.errors import SolverFailure
from tightlip.model.channel import Channel
from tightlip.model.matrix import dense
from tightlip.model.prior import Prior
from tightlip.noise.grid import NoiseGrid
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.parse import FloatArray

_AIM = 1e-6  # how much more than δ the attack is meant to reach, relative
_GAP = 1e-6  # between the ends of t that the engine finds, relative
_ROUNDING = 1e-8
_TRIALS = 5  # at a probability that makes up for the bounds of the cells' masses
_HELD = 1e-12  # cells with a smaller share of δ are one outcome
_LEAST = 1e-60  # no cell is meant to have a larger lift
_HALVINGS = 60
_SHARE = 1e-9  # of the largest probability that every suspect can have


@dataclass(frozen=True, slots=True)
class CellAttack:
    """The solver's assignment at level t: weights by suspect and cell, and the multipliers μ = λt.

    `ratio` is t for the upper bounds of the cells' masses, `scaled` for these over their sum.
    """

    ratio: float
    scaled: float
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
        """Join the gaps between nodes into at most this many cells, about equally long."""
        wanted = np.linspace(grid.nodes[0], grid.nodes[-1], cells + 1)
        chosen = np.unique(np.searchsorted((grid.nodes[1:] + grid.nodes[:-1]) / 2, wanted))
        low, high = (np.add.reduceat(masses, chosen[:-1]) for masses in grid.masses())
        ends = np.concatenate([[-math.inf], grid.nodes[chosen], [math.inf]])
        if grid.gaussian:  # beyond the nodes, only that f_Y is a mixture of f(·|x)
            tails_low, tails_high = np.zeros(2), np.full(2, grid.tail())
        else:  # f_Y falls as e^{−distance} there: the mass is the density at the end
            tails_low, tails_high = grid.below[[0, -1]], grid.above[[0, -1]] * (1 + 1e-15)
        low = np.concatenate([tails_low[:1], low * (1 - 1e-11), tails_low[1:]])
        high = np.concatenate([tails_high[:1], high * (1 + 1e-11), tails_high[1:]])
        return cls(
            ends, low, high, _peaks(ends, grid) if grid.finer else likelihoods(ends, grid.suspects, grid)
        )


def likelihoods(ends: FloatArray, suspects: tuple[Fraction, ...], grid: NoiseGrid) -> FloatArray:
    """P(cell|x) for these suspects, in plain floats, for the search only."""
    from scipy.special import ndtr

    def tail(u: FloatArray) -> FloatArray:
        if grid.gaussian:
            return np.asarray(ndtr(-u))
        return np.where(u > 0, np.exp(-np.abs(u)) / 2, 1 - np.exp(-np.abs(u)) / 2)

    rows = []
    for suspect in suspects:
        a, b = ends[:-1] - float(suspect), ends[1:] - float(suspect)
        flip = a < 0
        rows.append(tail(np.where(flip, -b, a)) - tail(np.where(flip, -a, b)))
    return np.array(rows)


def _peaks(ends: FloatArray, grid: NoiseGrid) -> FloatArray:
    """The same with f(·|x) in the middle of each cell: what cells and suspects can reach that are split further."""
    found = likelihoods(ends[[0, 1, -2, -1]], grid.suspects, grid)
    places = np.array([float(suspect) for suspect in grid.suspects])
    middles, lengths = (ends[1:-2] + ends[2:-1]) / 2, np.diff(ends[1:-1])
    inner = np.exp(-np.abs(middles - places[:, None])) / 2 * lengths
    return np.hstack([found[:, :1], inner, found[:, -1:]])


def best_attack(cells: OutcomeCells, delta: Fraction) -> CellAttack:
    """Find the attack with about the largest t at which it has probability δ, and the multipliers of its program."""
    target = min(float(delta) * (1 + _AIM), float(cells.below.sum()) * (1 - _ROUNDING))
    program = _Program.of(cells, float(delta))
    wanted = target * float(cells.above.sum() / cells.below.sum())
    for _ in range(_TRIALS):
        found = program.solve(wanted)
        reached = float((found.weights * cells.below).sum())
        if reached >= target * (1 - _ROUNDING) or wanted >= program.mass:
            break
        wanted *= target / reached * (1 + _ROUNDING) if reached else 2.0
    return found


def attack_beyond(cells: OutcomeCells, delta: Fraction, margin: float) -> CellAttack:
    """Find the attack of a probability that is smaller by this share: a larger t, and less extreme multipliers."""
    program = _Program.of(cells, float(delta))
    return program.solve(float(delta) * (1 - margin))


@dataclass(frozen=True, slots=True)
class _Program:
    """The cells as a finite channel whose prior makes P_Y their upper bounds, up to the factor `mass`.

    Every suspect has probability η, so little that the background row that is left after them, q − η Σ K, is
    positive and has a lift of hardly more than 1. Cells that are improbable even for δ are one outcome.
    """

    channel: Channel
    prior: Prior
    places: Places
    mass: float

    @classmethod
    def of(cls, cells: OutcomeCells, delta: float) -> _Program:
        held = cells.below > _HELD * delta
        places = np.where(held, np.cumsum(held) - 1, held.sum())
        mass = float(cells.above.sum())
        overall = np.bincount(places, weights=cells.above) / mass
        hits = np.array([np.bincount(places, weights=row) for row in cells.hits])
        hits /= hits.sum(axis=1, keepdims=True)
        overall = np.maximum(overall, hits.max(axis=0) * _LEAST)
        overall /= overall.sum()
        each = _SHARE * float((overall / hits.sum(axis=0)).min())
        rest = 1 - len(hits) * each
        background = (overall - each * hits.sum(axis=0)) / rest
        channel = Channel(np.vstack([hits, background / background.sum()]))
        return cls(channel, Prior(np.append(np.full(len(hits), each), rest)), places, mass)

    def solve(self, delta: float) -> CellAttack:
        """Solve for the attack of this probability by the engine of finite channels, in units of the upper bounds."""
        found = envelope(self.channel, self.prior, min(delta / self.mass, 1.0), gap=_GAP)
        if not isinstance(found.certificate, EnvelopeCertificate):
            raise SolverFailure(
                f"the program for the attack gave no multipliers (method: {found.method}); use other cells."
            )
        lower, upper = found.certificate.lower, found.certificate.upper
        count, ratio = self.channel.shape[0] - 1, float(upper.ratio)
        suspects = np.array([count if s is None else s for s in lower.suspects])
        shares = np.zeros((count + 1, self.channel.shape[1]))
        np.add.at(shares, (suspects[lower.attack.symbols], lower.attack.outcomes), lower.attack.shares)
        multipliers = np.full(count, math.inf)
        if upper.multipliers is not None:
            multipliers = np.array([float(value) * ratio for value in upper.multipliers[:-1]])
        used = np.flatnonzero((shares[:-1] * np.bincount(self.places, minlength=1)).sum(axis=1) > 0)
        weights = shares[:-1, self.places]
        return CellAttack(ratio / self.mass, ratio, weights, multipliers, tuple(used.tolist()))


@dataclass(frozen=True, slots=True)
class Assignment:
    """Which outcomes point to whom: weights by outcome of the attack and cell; the suspects are in the support."""

    suspects: tuple[Fraction, ...]
    weights: FloatArray
    cells: OutcomeCells


def assign(attack: CellAttack, cells: OutcomeCells, grid: NoiseGrid) -> Assignment:
    """Split cells and suspects of the solver's attack into as many parts as the grid has."""
    count = (len(cells.ends) - 3) if grid.finer else 1
    split, rest = divmod(len(grid.finer), count)
    fine = OutcomeCells.of(grid, count * split) if split > 1 else cells
    if rest or len(fine.below) != count * split + 2:
        return Assignment(
            tuple(grid.suspects[i] for i in attack.used), attack.weights[list(attack.used)], cells
        )
    suspects, rows = [], []
    for place in attack.used:
        shifted = 0 < place < len(grid.suspects) - 1
        whole = _spread(attack.weights[place], split)
        if shifted:
            near = grid.finer[(place - 1) * split : place * split]
            parts = _split_suspect(whole, likelihoods(fine.ends, near, grid), fine.above, attack.ratio, split)
        if not shifted or parts is None:
            suspects.append(grid.suspects[place])
            rows.append(whole)
        else:
            held = [j for j, row in enumerate(parts) if row.any()]
            suspects.extend(near[j] for j in held)
            rows.extend(parts[j] for j in held)
    return Assignment(tuple(suspects), np.array(rows), fine)


def _spread(weights: FloatArray, split: int) -> FloatArray:
    """The same weights for the parts of each cell."""
    return np.concatenate([weights[:1], np.repeat(weights[1:-1], split), weights[-1:]])


def _split_suspect(
    weights: FloatArray, hits: FloatArray, overall: FloatArray, ratio: float, split: int
) -> FloatArray | None:
    """Split what one suspect gets among parts of it (rows of `hits`); None if one part would reach less than all.

    Cells that lift the ratio go part by part: the j-th part of each to the j-th suspect, as far away as before. The
    others are shared out over all parts of the cell, such that the suspects reach one ratio r:
    α_j = (Σ own K_j − r Σ own q)/(r Σ q − Σ K_j) with Σ α_j = 1, which falls in r. What a suspect has got that does
    not reach r by itself is shared out like the others where that is better.
    """
    inner = np.arange(len(weights)) - 1
    good = (hits[split // 2] >= ratio * overall)[1:-1].reshape(-1, split)[:, split // 2]
    lifting = weights * np.concatenate([[False], np.repeat(good, split), [False]])
    own = lifting * (inner % split == np.arange(split)[:, None])
    gained, spent = (own * hits).sum(axis=1), own @ overall
    others = weights - lifting
    if not spent.all():
        return None
    alone = gained / spent
    if not others.any():
        return own if alone.min() > weights @ hits[split // 2] / (weights @ overall) else None
    best, parts = 0.0, np.asarray(own)
    while True:
        level, shares = _even(gained, spent, hits @ others, float(others @ overall))
        short = (alone < level) & (spent > 0)
        reached = min(level, float(alone[short].min(initial=math.inf)))
        if reached > best:
            best, parts = reached, np.asarray(own + np.outer(shares, others))
        if not short.any() or (short | (spent == 0)).all():
            return parts
        others = others + own[short].sum(axis=0)
        own = np.where(short[:, None], 0.0, own)
        gained, spent = np.where(short, 0.0, gained), np.where(short, 0.0, spent)


def _even(gained: FloatArray, spent: FloatArray, given: FloatArray, price: float) -> tuple[float, FloatArray]:
    """The ratio r that suspects reach alike, and the shares α of the others that they get for it."""
    low, high = float((given / price).max()), float((gained / np.maximum(spent, 1e-300)).max())
    shares = np.zeros(len(gained))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        shares = np.maximum(gained - middle * spent, 0.0) / np.maximum(middle * price - given, 1e-300)
        low, high = (middle, high) if shares.sum() > 1 else (low, middle)
    return high, shares / max(float(shares.sum()), 1.0)


def as_channel(found: Assignment, names: list[str], places: list[str], *, whole: bool) -> Channel:
    """Write the attack as a channel from cells of Y to suspects, the last outcome meaning nothing.

    Where δ = 1 (`whole`) what the solver left over goes to the first suspect on the left half, to the
    last on the right, so that nothing is left to the outcome that means nothing.
    """
    rows = np.clip(found.weights.T, 0.0, 1.0)
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


def certify(channel: Channel, found: Assignment, grid: NoiseGrid, delta: Fraction) -> float:
    """Prove a lower end in nats: the level that outcomes of total probability at least δ reach."""
    outcomes, unused = _measure(channel, found, grid)
    outcomes.sort(key=lambda outcome: outcome.ratio, reverse=True)
    left = sum((outcome.above for outcome in outcomes), unused)
    reached = Fraction(0)
    for outcome in outcomes:
        reached, left = reached + outcome.below, left - outcome.above
        if max(reached, 1 - left) >= delta and outcome.ratio > 1:
            return log_bounds(outcome.ratio)[0]
    return 0.0


def _measure(channel: Channel, found: Assignment, grid: NoiseGrid) -> tuple[list[_Outcome], Fraction]:
    """Bound the outcomes that point to a suspect, and from above the probability of the one that means nothing."""
    cells, ends = found.cells, found.cells.ends.tolist()
    below, above = (list(map(Fraction, masses.tolist())) for masses in (cells.below, cells.above))
    shares, outcomes = _shares(channel), []
    for suspect, column in zip(found.suspects, shares, strict=False):
        hit, low, high = Fraction(0), Fraction(0), Fraction(0)
        for cell, least, most in column:
            hit += least * Fraction(grid.hit(ends[cell], ends[cell + 1], suspect))
            low, high = low + least * below[cell], high + most * above[cell]
        if high:
            outcomes.append(_Outcome(hit / high, low, high))
    return outcomes, sum((most * above[cell] for cell, _, most in shares[-1]), Fraction(0))


def _shares(channel: Channel) -> list[list[tuple[int, Fraction, Fraction]]]:
    """For each outcome of the attack its cells, and bounds of their shares: stored rows may miss 1 by a rounding."""
    matrix = dense(channel.matrix)
    columns: list[list[tuple[int, Fraction, Fraction]]] = [[] for _ in range(matrix.shape[1])]
    for cell, row in enumerate(matrix):
        held = np.flatnonzero(row).tolist()
        entries = [Fraction(float(row[symbol])) for symbol in held]
        total = sum(entries)
        for symbol, entry in zip(held, entries, strict=True):
            near = float(entry / total)  # floats add up fast
            least, most = (near, near) if total == 1 else (math.nextafter(near, end) for end in (0.0, 2.0))
            columns[symbol].append((cell, Fraction(least), Fraction(most)))
    return columns
