"""Bounded secrets: both ends of the envelope of Y = X + N against any post-processing.

Three proofs meet here. Below, an attack on cells of Y, certified by ball arithmetic (attack.py).
Above, a dual bound integrated with proved error (dual.py). And above them all the closed form

    ε_c(δ) ≤ ℒ + log 1/δ,   e^ℒ = ∫ sup_x f(y|x) dy = 1 + (high − low) f_N(0),

which is the dual bound with λ = 1/t and holds for every distribution on [low, high]: e^ℒ = 1 +
(high − low)/(σ√(2π)) for Gaussian noise, 1 + (high − low)/2b for Laplace noise, where moreover no
outcome leaks more than (high − low)/b.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

from tightlip.arguments import whole
from tightlip.envelopes.result import Adversary, Envelope, read_delta
from tightlip.errors import PreconditionFailed
from tightlip.model.channel import Channel
from tightlip.model.noise import AdditiveNoise, Gaussian
from tightlip.model.secret import BoundedSecret, GaussianSecret
from tightlip.noise.attack import (
    Assignment,
    CellAttack,
    OutcomeCells,
    as_channel,
    assigned,
    attack_beyond,
    best_attack,
    certified,
)
from tightlip.noise.dual import extended, upper_end
from tightlip.noise.grid import BoundedReal, NoiseGrid
from tightlip.noise.pointwise import require_release
from tightlip.numeric.ball import ball, enclose, log_bounds
from tightlip.numeric.display import format_python, format_up

CELLS = 200
_MOST_CELLS = 10_000
_SHORTEST, _LONGEST = 1e-6, 100  # noise widths; below, floats no longer tell secrets apart
_MARGINS = (0.0, 1e-3, 5e-3, 2e-2, 1e-1)
_ENOUGH = 3e-3  # nats between the ends at which no other dual is tried, and beyond which `method` tells them
_SMALLEST = Fraction(1, 10**20)  # below, the program's solver fails


def bounded_envelope(
    release: AdditiveNoise, delta: object, *, adversary: Adversary = "any", cells: int = CELLS
) -> Envelope:
    """ε(δ) of a noisy bounded secret against any post-processing, in nats: a certified interval.

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
    count = _read_cells(cells)
    secret = release.secret
    low, high = secret.support
    if isinstance(secret, GaussianSecret) or math.isinf(low) or math.isinf(high):
        raise PreconditionFailed(
            f"secret must have a bounded support, got [{float(low)!r}, {float(high)!r}]; "
            "use noise_envelope, which says what is known for unbounded secrets."
        )
    closed = _closed_form(release, level)
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
    return _bracketed(release, secret, level, adversary, count, closed)


def _bracketed(
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
    found = assigned(attack, cells, grid)
    channel = _named(release, found, whole=delta == 1)
    lower = certified(channel, found, grid, delta)
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
        found = upper_end(extended(grid, program), delta, least, upper)
        before, upper = upper, upper if found is None else min(found, upper)
        if upper - start <= max(_ENOUGH, margin) or (margin and upper - start > 0.9 * (before - start)):
            break
    return upper


def _named(release: AdditiveNoise, found: Assignment, *, whole: bool) -> Channel:
    """The attack with cells and suspects in the units of the release."""
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


def _closed_form(release: AdditiveNoise, delta: Fraction) -> float:
    """ℒ + log 1/δ, and for Laplace noise the largest PML, rounded up."""
    low, high = (Fraction(end) for end in release.secret.support)
    steps = (high - low) / Fraction(release.noise.width)
    if isinstance(release.noise, Gaussian):
        return enclose(lambda: (1 + ball(steps) / (2 * ball(1).pi()).sqrt()).log() - ball(delta).log())[1]
    return min(log_bounds((1 + steps / 2) / delta)[1], enclose(lambda: ball(steps))[1])


def _read_cells(cells: object) -> int:
    return whole(cells, "cells", 10, _MOST_CELLS, remedy="use 200 to begin with")


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
