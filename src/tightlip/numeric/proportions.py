"""One-sided confidence bounds for probabilities, valid together for as many values as there may be.

Clopper–Pearson bounds invert the binomial tail at an error α. With values i = 1, 2, … of unknown number and
probabilities π_i that sum to at most 1, let value i fail with probability at most α π_i instead:

    upper(c) = sup{π : P(Bin(n, π) ≤ c) > α π},      lower(c) = inf{π : P(Bin(n, π) ≥ c) > α π}.

P(Bin(n, π_i) ≤ c_i) ≤ α π_i happens with probability at most α π_i, so all upper bounds hold together with
probability at least 1 − Σ α π_i ≥ 1 − α: for values that were seen and for those that were not (c = 0), and whatever
set of them the data makes one look at. The same for the lower ones.

The sets are intervals: the lower tail falls in π while α π grows; the upper tail is 0 at 0, convex and then concave
in π, and 1 ≥ α at π = 1, so its ratio to π passes α once. A bound is a float found by bisection, moved outward and
then checked with ball arithmetic, so it holds whatever the special functions did.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tightlip.numeric.ball import Ball, ball
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import down

_STEPS = 70
_MARGINS = (1e-12, 1e-9, 1e-6, 1e-3, 0.1)
_BITS = 80


def upper_shares(counts: object, trials: object, error: float, *, weighted: bool = True) -> FloatArray:
    """Upper confidence bounds on probabilities after `counts` of `trials`, one each.

    With `weighted` they hold together for all values of a distribution with probability 1 − error; without, each
    holds by itself (Clopper–Pearson).

    >>> upper_shares([0, 5], [10, 10], 0.05, weighted=False).round(4).tolist()
    [0.2589, 0.7776]
    """
    return _by_distinct(counts, trials, error, weighted, _upper)


def lower_shares(counts: object, trials: object, error: float, *, weighted: bool = True) -> FloatArray:
    """Lower confidence bounds, as `upper_shares`; a value seen only once has none when weighted.

    >>> lower_shares([1, 5], [10, 10], 0.05, weighted=False).round(4).tolist()
    [0.0051, 0.2224]
    >>> lower_shares([1, 5], [10, 10], 0.05).tolist()[0]
    0.0
    """
    return _by_distinct(counts, trials, error, weighted, _lower)


def clopper_pearson(hits: int, trials: int, tail: Fraction) -> tuple[float, float]:
    """The exact interval for one proportion, with at most `tail` on each side, rounded outward.

    >>> low, high = clopper_pearson(3, 10, Fraction(1, 40))
    >>> round(low, 4), round(high, 4)
    (0.0667, 0.6525)
    """
    error = max(down(float(tail)), 0.0)
    ends = (bound([hits], [trials], error, weighted=False) for bound in (lower_shares, upper_shares))
    low, high = (float(end[0]) for end in ends)
    return low, high


def _by_distinct(counts: object, trials: object, error: float, weighted: bool, solve: object) -> FloatArray:
    pairs = np.stack(np.broadcast_arrays(np.asarray(counts), np.asarray(trials)), axis=-1).astype(np.int64)
    distinct, place = np.unique(pairs.reshape(-1, 2), axis=0, return_inverse=True)
    assert callable(solve)
    found: FloatArray = solve(distinct[:, 0], distinct[:, 1], error, weighted)
    return found[place.ravel()].reshape(pairs.shape[:-1])


def _upper(counts: NDArray[np.int64], trials: NDArray[np.int64], error: float, weighted: bool) -> FloatArray:
    from scipy.special import betainc

    found = np.ones(len(counts))
    places = np.flatnonzero(counts < trials)
    c, n = counts[places].astype(float), trials[places].astype(float)
    low, high = np.maximum(c / n, 1e-3 / n), np.ones(len(places))
    for _ in range(_STEPS):
        middle = np.sqrt(low * high)
        inside = betainc(n - c, c + 1, 1 - middle) > error * (middle if weighted else 1.0)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    for place, share in zip(places.tolist(), high.tolist(), strict=True):
        found[place] = _outward(int(counts[place]), int(trials[place]), error, weighted, share, up=True)
    return found


def _lower(counts: NDArray[np.int64], trials: NDArray[np.int64], error: float, weighted: bool) -> FloatArray:
    from scipy.special import betainc

    found = np.zeros(len(counts))
    places = np.flatnonzero(counts > (1 if weighted else 0))
    c, n = counts[places].astype(float), trials[places].astype(float)
    low, high = c / n * 1e-12, c / n
    for _ in range(_STEPS):
        middle = np.sqrt(low * high)
        inside = betainc(c, n - c + 1, middle) > error * (middle if weighted else 1.0)
        low, high = np.where(inside, low, middle), np.where(inside, middle, high)
    for place, share in zip(places.tolist(), low.tolist(), strict=True):
        found[place] = _outward(int(counts[place]), int(trials[place]), error, weighted, share, up=False)
    return found


def _outward(count: int, trials: int, error: float, weighted: bool, share: float, *, up: bool) -> float:
    """The share moved outward until its tail is proved small enough; 1 or 0 where that fails."""
    for margin in _MARGINS:
        moved = share * (1 + margin) if up else share * (1 - margin)
        if moved >= 1:
            return 1.0
        if _excluded(count, trials, error, weighted, moved, up=up):
            return moved
    return 1.0 if up else 0.0


def _excluded(count: int, trials: int, error: float, weighted: bool, share: float, *, up: bool) -> bool:
    from flint import ctx

    with ctx.workprec(_BITS):
        tail = lower_tail(count, trials, share) if up else upper_tail(count, trials, share)
        return bool(tail <= ball(error) * (ball(share) if weighted else 1))


def lower_tail(count: int, trials: int, share: float) -> Ball:
    """P(Bin(trials, share) ≤ count) for count < trials, as a ball at the current precision."""
    return (1 - ball(share)).beta_lower(trials - count, count + 1, regularized=True)


def upper_tail(count: int, trials: int, share: float) -> Ball:
    """P(Bin(trials, share) ≥ count) for count ≥ 1, as a ball at the current precision."""
    return ball(share).beta_lower(count, trials - count + 1, regularized=True)
