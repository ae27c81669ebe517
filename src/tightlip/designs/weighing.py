"""Weights of columns with the least tr J⁻¹, in floats: how often each is released, so that frequencies are told best.

    minimise tr J⁻¹,  J = Σ_i λ_i v_i v_iᵀ,   over λ ≥ 0 with Σ_i λ_i v_i = 1

is convex. Its slopes are −‖J⁻¹v_i‖², so prices w with ‖J⁻¹v_i‖² ≤ w·v_i for all columns, and equality where λ_i > 0,
prove an optimum: columns are worth ‖J⁻¹v‖², as they are worth something for an information. An interior point method
finds weights and prices for some columns; those that are worth more than their price are added, until there is none.
The first rounds are rough, and what neither has weight nor is near its price is dropped.

J has n (n + 1)/2 entries and Jp = Σ_i λ_i v_i, so no more columns than that are needed for it (Carathéodory).

What comes back is a suggestion: the channel is repaired, and `frequency_bound` proves what prices and matrix say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tightlip.numeric.parse import FloatArray

WORTH = 1e-8
"""Of tr J⁻¹: what a column may be worth beyond its price; less than certificates lose by rounding."""

_ALL = 200  # columns that are weighed at once
_MOST = 500  # columns that are kept from round to round; n (n + 1)/2 of them suffice for any J
_DRAWN = 10  # columns for each secret to begin with, where there are many
_ADDED = 2  # columns for each secret that a round adds
_ROUNDS = 150  # of adding columns; about two for each secret are the rule
_SOME = 40  # of them where not all columns are looked at
_FEW = 3  # of them where the first columns are near to the best and not all are looked at
_CLIMBS = 8  # times that a secret of the best columns is moved to the other end
_STEPS = 60  # of the interior point method; twenty are the rule
_SHRINK, _NEAR = (
    0.1,
    0.95,
)  # of the products λs from step to step, and the part of the way to the nearest λ or s of 0
_ROUGH = 1e-2  # of tr J⁻¹: the gap at which a step is the last, in the first round
_TIGHTER = 0.7  # of that gap, from round to round
_WORTH, _ENOUGH = (
    1e-8,
    1e-3,
)  # of tr J⁻¹: what a column may be worth beyond its price; where not all are looked at
_SAME = 1e-13  # of the largest entry of J, or of a column
_HARDLY = 1e-6  # of the largest weight
_UNUSED = 1e-2  # of what a column lacks, in parts of tr J⁻¹: with less weight it is dropped


class Weighed(NamedTuple):
    """Columns and their weights; prices of secrets, then of the total if there is one; J⁻¹."""

    columns: FloatArray
    weights: FloatArray
    prices: FloatArray
    inverse: FloatArray

    def lacks(self, columns: FloatArray) -> FloatArray:
        """Compute what columns lack of their price, in parts of tr J⁻¹."""
        entries = _entries(columns, len(self.prices) > columns.shape[1])
        told = ((columns @ self.inverse) ** 2).sum(axis=1)
        return np.asarray((entries @ self.prices - told) / np.trace(self.inverse))

    def least(self, columns: FloatArray, count: int) -> FloatArray:
        """Take so many different columns that lack least."""
        places = np.argsort(self.lacks(columns))[: 2 * count]
        kept = np.unique(columns[places].round(12), axis=0, return_index=True)[1]
        return columns[places[np.sort(kept)[:count]]]


def weigh(
    columns: FloatArray,
    first: int,
    *,
    total: float | None = None,
    more: Callable[[FloatArray], FloatArray] | None = None,
    enough: float = WORTH,
    near: bool = False,
) -> Weighed | None:
    """Weigh columns (rows, p·v = 1) up to a relative gap; None where rounding leaves no answer.

    The first ones make a channel, and are near to the best one where that is said. With a total the sum of λ_i max v_i
    is at most that. Where these columns are not all there are, `more` makes others of some.

    >>> p = np.array([0.5, 0.25, 0.25])
    >>> sets = np.array([[3, 1, 1], [1, 3, 1], [1, 1, 3], [3, 3, 1], [3, 1, 3], [1, 3, 3]])
    >>> found = weigh(sets / (sets @ p)[:, None], 3)
    >>> (found.weights @ found.columns).round(6).tolist()
    [1.0, 1.0, 1.0]
    """
    secrets, best, most, rounds = columns.shape[1], None, _MOST, _ROUNDS
    if more is not None:
        most = min(secrets * (secrets + 1) // 2, _MOST)
        rounds = _FEW if near else _SOME
    start = columns if len(columns) <= _ALL else columns[:first]
    active, close = start, enough / 10 if near else _ROUGH
    if len(columns) > _ALL and (more is not None or not near):
        # sets at random tell all secrets apart better than the first columns do, and their prices ask for better ones
        drawn = np.random.default_rng(0).permutation(columns[first:])[: min(_DRAWN * secrets, _MOST)]
        active = np.unique(np.concatenate([start, drawn]), axis=0)
    for _ in range(rounds):
        own = _interior(active, total, close, None if best is None else best.inverse)
        if own is None:
            break
        best = own
        added = best.least(columns, _ADDED * secrets)
        if more is not None:
            added = _climbed(best, added, more)
            columns = np.concatenate([columns, added])
        beyond = -float(best.lacks(added).min())
        if beyond <= enough and close <= enough / 10:
            break
        close = max(min(_TIGHTER * close, beyond / 10), enough / 100)
        used = np.flatnonzero(best.lacks(active) < np.maximum(best.weights / _UNUSED, beyond))
        kept = active[used[np.argsort(-best.weights[used])[:most]]]
        active = np.unique(np.concatenate([start, kept, added]), axis=0)
    return None if best is None else _tidied(_fewer(best, total), total)


def _climbed(found: Weighed, columns: FloatArray, more: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Take the best of columns and of what is made of them, again and again."""
    for _ in range(_CLIMBS):
        better = found.least(np.concatenate([columns, more(columns)]), len(columns))
        if found.lacks(better).sum() >= found.lacks(columns).sum() - WORTH:
            break
        columns = better
    return columns


def _fewer(found: Weighed, total: float | None) -> Weighed:
    """Choose as few of the columns as J needs, with its weights."""
    from scipy.optimize import nnls

    columns, places = found.columns, np.triu_indices(found.columns.shape[1])
    parts = (columns[:, :, None] * columns[:, None, :])[:, places[0], places[1]]
    if total is not None:
        parts = np.column_stack([parts, columns.max(axis=1)])
    if len(columns) <= parts.shape[1]:
        return found
    try:
        weights, off = nnls(parts.T, parts.T @ found.weights)
    except RuntimeError:
        return found  # more columns than are needed do no harm
    if off > _SAME * np.abs(parts.T @ found.weights).max():
        return found
    return found._replace(columns=columns[weights > 0], weights=weights[weights > 0])


def _tidied(found: Weighed, total: float | None) -> Weighed:
    """Leave out columns with hardly any weight, if the others can make up for it."""
    kept = found.weights > _HARDLY * found.weights.max()
    columns, weights = found.columns[kept], found.weights[kept]
    entries, limits = _entries(columns, total is not None), np.ones(columns.shape[1])
    if total is not None:
        # what is left over may stay so
        limits = np.append(limits, min(found.weights @ found.columns.max(axis=1), total))
    weights = weights + np.linalg.lstsq(entries.T, limits - weights @ entries, rcond=None)[0]
    if weights.min() < 0 or np.abs(limits - weights @ entries).max() > _SAME * columns.max():
        return found
    # a secret of hardly any mass is told by columns of hardly any weight
    if _trace(columns, weights) > _trace(found.columns, found.weights) * (1 + _SAME):
        return found
    return found._replace(columns=columns, weights=weights)


def _trace(columns: FloatArray, weights: FloatArray) -> float:
    """Compute tr J⁻¹; infinite where J has no inverse."""
    values = np.linalg.eigvalsh((columns.T * weights) @ columns)
    return float((1 / values).sum()) if values.min() > 0 else np.inf


def _entries(columns: FloatArray, totalled: bool) -> FloatArray:
    """Write what columns count in each limit: those of secrets, and that of the total."""
    return np.concatenate([columns, columns.max(axis=1, keepdims=True)], axis=1) if totalled else columns


def _interior(
    columns: FloatArray, total: float | None, close: float, before: FloatArray | None
) -> Weighed | None:
    """Find weights, prices and J⁻¹ by steps of Newton's method for λ_i s_i = μ, s what columns lack, as μ falls.

    How much columns may lack at first is told by the J⁻¹ of a mixture that was found before: equal weights may break a
    total, and then seem to say far more than can be said.
    """
    with np.errstate(all="ignore"):
        try:
            found = _newton(columns, total, close, before)
        except np.linalg.LinAlgError:
            return None
    return found if all(np.isfinite(part).all() for part in found) else None


def _newton(columns: FloatArray, total: float | None, close: float, before: FloatArray | None) -> Weighed:
    own, entries, limits = columns, _entries(columns, total is not None), np.ones(columns.shape[1])
    if total is not None:
        # what is left of the total is a column that says nothing
        columns = np.concatenate([columns, np.zeros((1, columns.shape[1]))])
        entries = np.concatenate([entries, np.eye(entries.shape[1])[-1:]])
        limits = np.append(limits, total)
    count = len(columns)
    weights, prices = np.full(count, 1 / count), np.zeros(len(limits))
    inverse = np.linalg.inv((columns.T * weights) @ columns)
    known = inverse if before is None else before
    lacks = np.full(count, float(((columns @ known) ** 2).sum(axis=1).max()))
    for _ in range(_STEPS):
        told = columns @ inverse
        slopes = (told**2).sum(axis=1)
        missing, off, product = limits - weights @ entries, entries @ prices - slopes - lacks, weights @ lacks
        done = product <= close * np.trace(inverse) and np.abs(off).max() <= close * slopes.max()
        if done and np.abs(missing).max() <= close:
            break
        bent = 2 * (told @ columns.T) * (told @ told.T) + np.diag(lacks / weights)
        aims = (_SHRINK * product / count - weights * lacks) / weights
        solved = np.linalg.solve(bent, np.column_stack([aims - off, entries]))
        then = np.linalg.solve(entries.T @ solved[:, 1:], entries.T @ solved[:, 0] - missing)
        moved = solved[:, 0] - solved[:, 1:] @ then
        rise = aims - lacks / weights * moved
        step = _NEAR / max((-moved / weights).max(), (-rise / lacks).max(), _NEAR)
        weights, lacks, prices = weights + step * moved, lacks + step * rise, prices + step * then
        inverse = np.linalg.inv((columns.T * weights) @ columns)
    return Weighed(own, weights[: len(own)], prices, inverse)
