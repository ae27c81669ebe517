"""Linear programs over many simplices, to few digits, where they are too large to be factorised.

Minimise c·x over x ≥ 0 with A·x ≤ b, where the variables of each group g sum to 1. For prices μ ≥ 0 of the rows,

    max_μ { −b·μ + Σ_g min_{j ∈ g} (c + Aᵀμ)_j }   is the same number, and every μ proves a bound.

The minimum is smoothed: −τ w_g log Σ_j exp(−(c + Aᵀμ)_j / τ w_g), with a weight for each group. Its gradient is A·x − b
at the shares x ∝ exp(…), and its curvature is at most Σ_j |A_rj| x_j (Σ_s |A_sj|) / τ w_g on the diagonal, by which
steps are scaled. Accelerated steps start anew where they point uphill (O'Donoghue and Candès 2015).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.numeric.linear_program import Solution
from tightlip.numeric.parse import FloatArray

_LEAST = 1e-9  # curvature of a row without shares
_MEMORY = 0.9  # of curvature from one step to the next, which falls as shares settle


def smoothed(
    cost: FloatArray,
    matrix: Any,
    limits: FloatArray,
    group: NDArray[np.intp],
    weight: FloatArray,
    *,
    start: FloatArray,
    temperature: float,
    steps: int,
    goes_on: Callable[[], bool],
) -> Solution:
    """Find shares near the optimum, that break limits by little, and prices; from the prices `start`.

    `group` says to which group each column belongs, sorted; `weight` is one of each group. The duals are those of the
    groups, then those of the rows. `goes_on` is asked before every step.

    >>> from scipy.sparse import csr_array
    >>> pair, one = np.array([0, 0]), np.ones(1)
    >>> found = smoothed(np.array([-1.0, 0.0]), csr_array([[1.0, 0.0]]), np.array([0.5]), pair, one,
    ...                  start=np.zeros(1), temperature=0.01, steps=50, goes_on=lambda: True)
    >>> found.primal.round(3).tolist(), found.duals.round(2).tolist()
    ([0.5, 0.5], [-0.0, -1.0])
    """
    across, size = matrix.T.tocsr(), abs(matrix)
    begin = np.searchsorted(group, np.arange(len(weight)))
    spread = size.sum(axis=0) / (temperature * weight[group])
    price, ahead, momentum = start.copy(), start.copy(), 1.0
    curve = np.full(len(limits), _LEAST)
    done = 0
    while done < steps and goes_on():
        share = _shares((cost + across @ ahead) / weight[group], temperature, group, begin)
        slope = matrix @ share - limits
        curve = np.maximum(_MEMORY * curve, size @ (share * spread) + _LEAST)
        moved = np.maximum(ahead + slope / curve, 0.0)
        if (moved - price) @ slope < 0:
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = np.maximum(moved + (momentum - 1) / following * (moved - price), 0.0)
        price, momentum, done = moved, following, done + 1
    reduced = cost + across @ price
    share = _shares(reduced / weight[group], temperature, group, begin)
    return Solution(share, np.append(np.minimum.reduceat(reduced, begin), -price), float(cost @ share), done)


def _shares(
    cost: FloatArray, temperature: float, group: NDArray[np.intp], begin: NDArray[np.intp]
) -> FloatArray:
    """The shares of each group, more where the cost is less."""
    power = np.exp((np.minimum.reduceat(cost, begin)[group] - cost) / temperature)
    return np.asarray(power / np.add.reduceat(power, begin)[group])
