"""One-sided confidence bounds for probabilities, and for means of numbers between 0 and 1.

Probabilities, valid together for as many values as there may be.

Clopper–Pearson bounds invert the binomial tail at an error α. With values i = 1, 2, … of unknown number and
probabilities π_i that sum to at most 1, let value i fail with probability at most α π_i instead:

    upper(c) = sup{π : P(Bin(n, π) ≤ c) > α π},      lower(c) = inf{π : P(Bin(n, π) ≥ c) > α π}.

P(Bin(n, π_i) ≤ c_i) ≤ α π_i happens with probability at most α π_i, so all upper bounds hold together with
probability at least 1 − Σ α π_i ≥ 1 − α: for values that were seen and for those that were not (c = 0), and whatever
set of them the data makes one look at. The same for the lower ones.

The sets are intervals: the lower tail falls in π while α π grows; the upper tail is 0 at 0, convex and then concave
in π, and 1 ≥ α at π = 1, so its ratio to π passes α once. A bound is a float found by bisection, moved outward and
then checked with ball arithmetic, so it holds whatever the special functions did.

Means of numbers in [0, 1], by Chernoff and Hoeffding.

The mean s of n independent numbers in [0, 1] with expectation μ each satisfies P(s ≤ c) ≤ e^{−n·d(c‖μ)} for c ≤ μ and
P(s ≥ c) ≤ e^{−n·d(c‖μ)} for c ≥ μ, with d(s‖μ) = s log(s/μ) + (1−s) log((1−s)/(1−μ)) (Hoeffding 1963, Theorem 1). So

    upper(s) = sup{μ ≥ s : n·d(s‖μ) < −log a(μ)},      lower(s) = inf{μ ≤ s : n·d(s‖μ) < −log a(μ)}

fail with probability at most a(μ) each: an error α, or α·ω·μ for means of which the sum is at most 1/ω, so that all
of them hold together. The sets are intervals: above s, d grows and −log a falls; below s, n·d + log(αωμ) falls until
μ = (ns − 1)/(n − 1), then grows up to log(αωs) < 0 at s, so it is positive on an interval from 0 only, and nowhere
when ns ≤ 1. A bound is found by bisection, moved outward and checked with outward rounding.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightlip.numeric.ball import Ball, ball
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import UNIT, down, gamma, log_down, log_ratio_down, up

_SHARE_STEPS = 70
_MARGINS = (1e-12, 1e-9, 1e-6, 1e-3, 0.1)
_BITS = 80
_MEAN_STEPS = 50


def upper_shares(counts: object, trials: object, error: float, *, weighted: bool = True) -> FloatArray:
    """Bound probabilities from above after `counts` of `trials`, one each, with confidence.

    With `weighted` they hold together for all values of a distribution with probability 1 − error; without, each
    holds by itself (Clopper–Pearson).

    >>> upper_shares([0, 5], [10, 10], 0.05, weighted=False).round(4).tolist()
    [0.2589, 0.7776]
    """
    return _by_distinct(counts, trials, error, weighted, _upper)


def lower_shares(counts: object, trials: object, error: float, *, weighted: bool = True) -> FloatArray:
    """Bound probabilities from below, as `upper_shares`; a value seen only once has no bound when weighted.

    >>> lower_shares([1, 5], [10, 10], 0.05, weighted=False).round(4).tolist()
    [0.0051, 0.2224]
    >>> lower_shares([1, 5], [10, 10], 0.05).tolist()[0]
    0.0
    """
    return _by_distinct(counts, trials, error, weighted, _lower)


def clopper_pearson(hits: int, trials: int, tail: Fraction) -> tuple[float, float]:
    """Compute the Clopper–Pearson interval of one proportion, at most `tail` on each side, rounded outward.

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
    for _ in range(_SHARE_STEPS):
        middle = np.sqrt(low * high)
        inside = betainc(n - c, c + 1, 1 - middle) > error * (middle if weighted else 1.0)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    for place, share in zip(places.tolist(), high.tolist(), strict=True):
        found[place] = _share_outward(int(counts[place]), int(trials[place]), error, weighted, share, up=True)
    return found


def _lower(counts: NDArray[np.int64], trials: NDArray[np.int64], error: float, weighted: bool) -> FloatArray:
    from scipy.special import betainc

    found = np.zeros(len(counts))
    places = np.flatnonzero(counts > (1 if weighted else 0))
    c, n = counts[places].astype(float), trials[places].astype(float)
    low, high = c / n * 1e-12, c / n
    for _ in range(_SHARE_STEPS):
        middle = np.sqrt(low * high)
        inside = betainc(c, n - c + 1, middle) > error * (middle if weighted else 1.0)
        low, high = np.where(inside, low, middle), np.where(inside, middle, high)
    for place, share in zip(places.tolist(), low.tolist(), strict=True):
        found[place] = _share_outward(
            int(counts[place]), int(trials[place]), error, weighted, share, up=False
        )
    return found


def _share_outward(count: int, trials: int, error: float, weighted: bool, share: float, *, up: bool) -> float:
    """Move the share outward until its tail is proved small enough; 1 or 0 where that fails."""
    for margin in _MARGINS:
        moved = share * (1 + margin) if up else share * (1 - margin)
        if moved >= 1:
            return 1.0
        if _rules_out_share(count, trials, error, weighted, moved, up=up):
            return moved
    return 1.0 if up else 0.0


def _rules_out_share(
    count: int, trials: int, error: float, weighted: bool, share: float, *, up: bool
) -> bool:
    from flint import ctx

    with ctx.workprec(_BITS):
        tail = lower_tail(count, trials, share) if up else upper_tail(count, trials, share)
        return bool(tail <= ball(error) * (ball(share) if weighted else 1))


def lower_tail(count: int, trials: int, share: float) -> Ball:
    """Compute P(Bin(trials, share) ≤ count) for count < trials, as a ball at the current precision."""
    return (1 - ball(share)).beta_lower(trials - count, count + 1, regularized=True)


def upper_tail(count: int, trials: int, share: float) -> Ball:
    """Compute P(Bin(trials, share) ≥ count) for count ≥ 1, as a ball at the current precision."""
    return ball(share).beta_lower(count, trials - count + 1, regularized=True)


def upper_means(means: ArrayLike, trials: ArrayLike, error: float, weight: float | None = None) -> FloatArray:
    """Bound expectations from above, with confidence, given means of so many numbers in [0, 1].

    Each fails with probability at most `error`; with a weight ω, at most error·ω·μ.

    >>> upper_means([0.0, 0.5], [10, 10], 0.05).round(4).tolist()
    [0.2589, 0.8357]
    """
    mean, n = _read(means, trials)
    low, high = np.maximum(mean, 1e-3 / n), np.ones(mean.shape)
    for _ in range(_MEAN_STEPS):
        middle = np.sqrt(low * high)
        excluded = _rules_out_mean(mean, middle, n, error, weight)
        low, high = np.where(excluded, low, middle), np.where(excluded, middle, high)
    return _mean_outward(mean, high, n, error, weight, up=True)


def lower_means(means: ArrayLike, trials: ArrayLike, error: float, weight: float | None = None) -> FloatArray:
    """Bound expectations from below, as `upper_means`.

    >>> lower_means([0.0, 0.5], [10, 10], 0.05).round(4).tolist()
    [0.0, 0.1643]
    """
    mean, n = _read(means, trials)
    low, high = mean * 1e-12, mean.copy()
    for _ in range(_MEAN_STEPS):
        middle = np.sqrt(low * high)
        excluded = _rules_out_mean(mean, middle, n, error, weight)
        low, high = np.where(excluded, middle, low), np.where(excluded, high, middle)
    return _mean_outward(mean, low, n, error, weight, up=False)


def chernoff(mean: Fraction, trials: int, tail: Fraction) -> tuple[float, float]:
    """Compute the Chernoff interval of one mean of numbers in [0, 1], at most `tail` on each side, rounded outward.

    It holds for independent numbers that are not equally distributed too, and lies within Hoeffding's
    ±√(log(1/a)/2n) by Pinsker's inequality.

    >>> low, high = chernoff(Fraction(3, 10), 10, Fraction(1, 40))
    >>> low < 0.0667 and high > 0.6525
    True
    """
    error = max(down(float(tail)), 0.0)
    # a mean of 0 or 1 is one exactly; others are moved to the safe side of what they were rounded to
    below = float(mean) if mean in (0, 1) else down(float(mean))
    above = float(mean) if mean in (0, 1) else min(up(float(mean)), 1.0)
    return float(lower_means([below], [trials], error)[0]), float(upper_means([above], [trials], error)[0])


def _read(means: ArrayLike, trials: ArrayLike) -> tuple[FloatArray, FloatArray]:
    mean, n = np.broadcast_arrays(np.asarray(means, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    return np.minimum(mean, 1.0), n


def _mean_outward(
    mean: FloatArray, found: FloatArray, n: FloatArray, error: float, weight: float | None, *, up: bool
) -> FloatArray:
    """Move the bounds outward until they are proved; 1 or 0 where that fails."""
    bound = np.ones(mean.shape) if up else np.zeros(mean.shape)
    open_ = np.ones(mean.shape, dtype=bool)
    for margin in _MARGINS:
        moved = found * (1 + margin if up else 1 - margin)
        good = open_ & (moved < 1) & (moved > 0) & _rules_out_mean(mean, moved, n, error, weight)
        bound[good] = moved[good]
        open_ &= ~good
    return bound


def _rules_out_mean(
    mean: FloatArray, candidate: FloatArray, n: FloatArray, error: float, weight: float | None
) -> NDArray[np.bool_]:
    """Whether n·d(mean‖candidate) ≥ −log a(candidate), proved; candidates are strictly between 0 and 1."""
    inside = np.where((candidate > 0) & (candidate < 1), candidate, 0.5)
    first = _term(mean, inside)
    second = _term(
        1 - mean, 1 - inside
    )  # 1 − s and 1 − μ are rounded once, which moves the term by 3u at most
    size = np.abs(first) + np.abs(second)
    distance = n * (first + second - size * gamma(6) - 4 * UNIT) * (1 - 4 * UNIT)
    allowed = np.full(inside.shape, error) if weight is None else error * weight * inside
    proved: NDArray[np.bool_] = distance >= -log_down(allowed * (1 - 4 * UNIT))
    proved &= inside == candidate
    return proved


def _term(part: FloatArray, of: FloatArray) -> FloatArray:
    """Bound part·log(part/of) from below, 0 for an empty part."""
    held = np.where(part > 0, part, of)
    return np.where(part > 0, part * log_ratio_down(held, of), 0.0)
