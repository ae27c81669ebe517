"""What a linear utility reaches at many levels of a guarantee, with two sound ends at each, in little more than floats.

Each level is solved loosely, from an early iterate of the one before. Whatever columns and prices come out, the ends
hold: columns are normalised and repaired as in `linear`, prices are raised until they prove a bound. All in floats with
the roundings added on the safe side: γ is the relative error of as many roundings as any number here goes through, in
Higham's notation.

*Prices.* With c computed up to errors err_x ≤ γ S_x, and the sums of a premise up to γ T, prices w + αp + m with
m_x = err_x + γT keep the premises exactly: a premise that holds up to γT in floats loses at least that much as soon as
one entry exceeds γT, and is 0 ≤ A where none does.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tightlip.designs.guarantee import Rows, Side
from tightlip.designs.interior import Optimum, follow
from tightlip.designs.linear import (
    Prices,
    Problem,
    constant_kernel,
    least_shift,
    plain_optimum,
    shape_of,
    split_prices,
)
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import float_below, gamma

_LOOSE = 1e-3  # relative gap of a solution: less than can be seen in a picture
_CUTS = 20  # rounds of adding priors of a set at one level


def trace(problems: Sequence[Problem]) -> list[tuple[float, float]]:
    """Bound the best gain of each problem from both sides; they differ in one level, which rises."""
    gains = np.array(problems[0].weighted(), dtype=np.float64)
    masses = np.array([float(mass) for mass in problems[0].masses])
    silent = next((place for place, own in enumerate(problems) if not own.silent), len(problems))
    solved = [(problem, None, None) for problem in problems[:silent]] + _solved(problems[silent:], gains)
    nothing = float_below(constant_kernel(problems[0]).gain(problems[0]))
    found = []
    for problem, optimum, bounding in solved:
        outer, own = problem.rows(Side.OUTER), bounding or plain_optimum(problem, gains)
        gain = nothing
        if optimum is not None:
            gain = max(gain, sound_gain(_decided(problem, optimum).rows(Side.INNER), gains, optimum.columns))
        found.append((gain, max(sound_bound(outer, gains, masses, split_prices(outer, own)), gain)))
    return monotone(found)


def _solved(
    problems: Sequence[Problem], gains: FloatArray
) -> list[tuple[Problem, Optimum | None, Optimum | None]]:
    """Solve problems loosely, each with the bounds it was solved under; for mechanisms, and for bounds on all."""
    found = [
        (problem, None) if optimum is None else _cut(problem, optimum, gains)
        for problem, optimum in zip(problems, _optima(problems, gains, Side.INNER), strict=True)
    ]
    if all(problem.of_one_kind for problem in problems):
        return [(problem, optimum, optimum) for problem, optimum in found]
    others = _optima([problem for problem, _ in found], gains, Side.OUTER)
    return [(problem, optimum, other) for (problem, optimum), other in zip(found, others, strict=True)]


def _optima(problems: Sequence[Problem], gains: FloatArray, side: Side) -> list[Optimum | None]:
    shapes = (shape_of(problem.rows(side), gains.shape[1]) for problem in problems)
    return list(follow(gains, shapes, tolerance=_LOOSE))


def _cut(problem: Problem, optimum: Optimum, gains: FloatArray) -> tuple[Problem, Optimum]:
    """Add priors of a set until the columns lack little under those that are worst for them."""
    for _ in range(_CUTS):
        decided = _decided(problem, optimum)
        if decided.guarantees == problem.guarantees:
            break
        lacking = _added(decided.rows(Side.INNER), _shares(optimum.columns), 0.0).sum()
        if lacking <= _LOOSE / 10:
            break
        (better,) = follow(gains, [shape_of(decided.rows(Side.INNER), gains.shape[1])], tolerance=_LOOSE)
        if better is None:
            break
        problem, optimum = decided, better
    return problem, optimum


def _decided(problem: Problem, optimum: Optimum) -> Problem:
    """Add what decides about the columns; a constant that is added to them changes nothing of that."""
    return problem.refine(_shares(optimum.columns).astype(object))


def monotone(ends: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Take over what stricter levels reach and looser ones cannot."""
    gains = np.maximum.accumulate([gain for gain, _ in ends]).tolist()
    bounds = np.minimum.accumulate([bound for _, bound in reversed(ends)])[::-1].tolist()
    return list(zip(gains, bounds, strict=True))


def repaired_shares(rows: Rows, columns: FloatArray) -> tuple[FloatArray, float]:
    """Make of columns those of a channel that keeps the bounds, but for scaling; and their relative error.

    A constant output is added where the total needs it.
    """
    shares, added, extra, slack = _repair(rows, columns)
    return np.concatenate([shares + added[:, None], np.full((1, columns.shape[1]), extra)]), slack


def sound_gain(rows: Rows, gains: FloatArray, columns: FloatArray) -> float:
    """Bound from below what a channel made of these columns, repaired, gains; gains are p_x g(x, y), by output."""
    shares, added, rest, slack = _repair(rows, columns)
    extra, constant = added.sum() + rest, gains.sum(axis=1)
    # what repairs the total may go to any output: the worst is assumed
    worth = (gains * shares).sum() + (added * constant).sum() + rest * constant.min()
    size = (np.abs(gains) * shares).sum() + extra * np.abs(gains).sum(axis=1).max()
    return float((worth - 4 * slack * size) / (1 + extra) - slack * abs(worth))


def _repair(rows: Rows, columns: FloatArray) -> tuple[FloatArray, FloatArray, float, float]:
    """Scale rows; find constants with which columns keep their bounds, and all together the total; and a slack."""
    slack = gamma(8 * sum(columns.shape) + 64)
    shares = _shares(columns)
    added = _added(rows, shares, slack)
    return shares, added, _lacking_total(rows, shares + added[:, None], 1 + added.sum(), slack), slack


def _shares(columns: FloatArray) -> FloatArray:
    """Scale rows to sum to 1; a secret that no column has gets what all others have together."""
    filled = np.where(columns.sum(axis=0) > 0, columns, columns.sum(axis=1, keepdims=True))
    return np.asarray(filled / filled.sum(axis=0))


def _added(rows: Rows, shares: FloatArray, slack: float) -> FloatArray:
    """Find the constants with which columns keep the bounds of their own."""
    high, low = shares.max(axis=1), shares.min(axis=1)
    added = np.zeros(len(shares))
    for own in rows.upper:
        if own.own:
            continue
        level = shares @ _floats(own.row) + float(own.floor) * low
        added = np.maximum(added, (high - level + slack * (high + level)) / float(own.room))
    for row in rows.lower:
        level = shares @ _floats(row)
        added = np.maximum(added, (level - low + slack * (high + level)) / float(1 - sum(row)))
    for row in rows.positive:
        vector = _floats(row)
        short = -(shares @ vector) + slack * (shares @ np.abs(vector))
        added = np.maximum(added, short / float(sum(row)))
    return np.maximum(added, 0.0) * (1 + slack)


def _lacking_total(rows: Rows, columns: FloatArray, scale: float, slack: float) -> float:
    """Find the constants that bring Σ_y m_y down to its limit."""
    if rows.most is None:
        return 0.0
    high, low = columns.max(axis=1), columns.min(axis=1)
    needed, worst = np.zeros(len(columns)), Fraction(0)
    for own in rows.upper:
        if own.own:
            level = columns @ _floats(own.row) + float(own.floor) * low
            needed = np.maximum(needed, (high - level + slack * (high + level)) / float(own.own))
            worst = max(worst, -own.room / own.own)
    over = float(needed.sum()) * (1 + slack) - float(rows.most) * scale * (1 - slack)
    return max(over, 0.0) / float(rows.most - worst) * (1 + slack)


def sound_bound(rows: Rows, gains: FloatArray, masses: FloatArray, prices: Prices) -> float:
    """Bound from above what any channel gains, by prices whatever they are."""
    secrets = gains.shape[1]
    slack = gamma(8 * (secrets + len(rows.upper) + len(rows.lower) + len(rows.positive)) + 64)
    owns = np.array([float(own.own) for own in rows.upper])
    total = (
        max(prices.total, float((prices.upper @ owns).max(initial=0.0)) * (1 + slack)) if rows.most else 0.0
    )
    shift = least_shift(rows, gains, masses, prices)
    size = np.abs(gains) + np.abs(prices.secrets) + abs(shift) * masses
    for part, vectors in (
        (prices.upper, [own.row for own in rows.upper]),
        (prices.lower, rows.lower),
        (prices.positive, rows.positive),
    ):
        if len(vectors):
            size = size + part @ np.abs(np.array([_floats(row) for row in vectors]))
    floors = np.array([1 + float(own.floor) for own in rows.upper])
    sums = size.sum(axis=1) + prices.upper @ floors + prices.lower.sum(axis=1)
    margin = slack * (size.max(axis=0).sum() + secrets * float(sums.max()))
    rest = total * float(rows.most or 0)
    found = float(prices.secrets.sum()) + shift + rest
    return float(found + 2 * margin + slack * (abs(found) + np.abs(prices.secrets).sum() + rest))


def _floats(row: tuple[Fraction, ...]) -> FloatArray:
    return np.array([float(entry) for entry in row])
