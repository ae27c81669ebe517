"""Tails of counts in a table of two by two, and of binomial counts: bounds from above that floats cannot break.

Of n independent draws let C have both of two properties, a the first and b the second. Given a and b,

    P(C = k | a, b)  ∝  f(k) = binom(a, k) binom(n − a, b − k) ω^k,      ω = P₁₁P₀₀/(P₁₀P₀₁),

Fisher's noncentral hypergeometric distribution: only the odds ratio ω is left of the probabilities. P(C ≤ c) falls
when ω grows. A binomial count has f(k) = binom(n, k) (p/(1 − p))^k.

In both cases f(k+1)/f(k) falls in k, so with f(c) = 1 and c below the mode

    P(C ≤ c) = N/(N + U),   N = Σ_{k ≤ c} f(k),   U = Σ_{k > c} f(k),

N is at most the sum over k ≥ m plus a geometric series of ratio f(m−1)/f(m) < 1 from f(m) on, and U at least any part
of it. So a window around c bounds the tail from above, and the logarithms of f are sums whose roundings are bounded by
their number and size. Above the mode the bound is 1.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

import numpy as np

from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import UNIT, down

_WINDOW = (
    12  # standard deviations at least, as a count's is at most half the root of its range; beyond, e^−72
)
_LEAST = 1e-300  # tails below are not told apart
_CAP = 600.0  # exponents beyond say no more, and floats end at 709


def lower_table_tail(count: int, first: int, second: int, total: int, odds: float) -> float:
    """Bound P(C ≤ count) from above, given how many of `total` have the first and the second property.

    `odds` is at most the odds ratio.

    >>> round(lower_table_tail(1, 5, 6, 12, 4.0), 6)
    0.006835
    """
    rest = total - first - second

    def ratio(k: FloatArray) -> FloatArray:
        return odds * ((first - k) / (k + 1)) * ((second - k) / (rest + k + 1))

    return _lower_tail(count, max(0, -rest), min(first, second), ratio)


def lower_binomial_tail(count: int, trials: int, share: float) -> float:
    """Bound P(Bin(trials, share) ≤ count) from above; `share` is below 1 and at most the probability.

    >>> round(lower_binomial_tail(1, 10, 0.3), 4)
    0.1493
    """
    odds = down(share / (1 - share), steps=3)
    return _lower_tail(count, 0, trials, lambda k: odds * ((trials - k) / (k + 1)))


def _lower_tail(count: int, least: int, most: int, ratio: Callable[[FloatArray], FloatArray]) -> float:
    """Bound Σ_{k ≤ count} f over the sum of all f from above; `ratio` is f(k+1)/f(k) within six roundings."""
    if count >= most or float(ratio(np.array([float(count)]))[0]) <= 1 + 8 * UNIT:
        return 1.0
    window = _WINDOW * isqrt(most - least) + 50
    start, end = max(least, count - window), min(most, count + window)
    falls = np.log(ratio(np.arange(count - 1, start - 1, -1, dtype=np.float64)))
    rises = np.log(ratio(np.arange(count, end, dtype=np.float64)))
    steps = len(falls) + len(rises)
    error = (steps + 16) * UNIT * (float(np.abs(falls).sum() + np.abs(rises).sum()) + 16)
    lower = np.exp(-np.minimum(np.cumsum(falls), _CAP))
    upper = float(np.exp(np.minimum(np.cumsum(rises), _CAP)).sum()) * (1 - 2 * error)
    held = 1 + float(lower.sum())
    if start > least:
        step = float(ratio(np.array([start - 1.0]))[0])
        held += float(lower[-1] if len(lower) else 1.0) / (step * (1 - 8 * UNIT) - 1)
    held *= 1 + 2 * error
    return 1.0 if error > 0.1 else max(held / (held + upper) * (1 + 8 * UNIT), _LEAST)
