"""Worst-outcome relatives of statistic maximal leakage, and the leakage under one prior.

    Π̃       log max over outputs, a secret g₀ and n − 1 others of  n·a / (a + b_1 + … + b_{n−1})
    Π̃_inf   = L_DP: the largest log K(y|θ)/K(y|θ') over rows with different secrets

where a is the largest likelihood of the output under g₀ and b the smallest under each other secret: the worst prior
is uniform on n secrets and puts each on one row. (SML paper, Appendix K.)
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.model.align import align
from tightlip.model.channel import Channel
from tightlip.model.matrix import dense
from tightlip.model.prior import Prior
from tightlip.numeric.quantity import Nats
from tightlip.numeric.rounding import gamma, log_ratio_up, log_up, widen_up
from tightlip.statistic.groups import Groups, Places, groups_of


def ldp(channel: Channel, secret: Any = None) -> Nats:
    """L_DP: the smallest μ with K(y|θ) ≤ e^μ K(y|θ') for rows of different secrets, in nats, rounded up.

    It equals Π̃_inf, the worst-outcome leakage about the least likely secret. Infinite where an outcome is possible
    under one secret and impossible for some row of another; 0 where there is only one secret.

    >>> from tightlip import Channel
    >>> ldp(Channel([["1/2", "1/2"], ["1/4", "3/4"], ["1/3", "2/3"]]), ["a", "a", "b"]).ratio
    Fraction(3, 2)
    """
    groups = groups_of(channel, secret)
    if groups.count == 1:
        return Nats(0.0, Fraction(1))
    tops, pits = _extremes(channel, groups)
    columns = np.arange(tops.shape[1])
    first, last = np.argmax(tops, axis=0), np.argmin(pits, axis=0)
    top, pit = tops[first, columns], pits[last, columns]
    tops[first, columns], pits[last, columns] = -1, 2
    next_top, next_pit = tops.max(axis=0), pits.min(axis=0)
    own = first == last  # one secret has both: it must be compared with others
    above = np.concatenate([top, np.where(own, next_top, top)])
    below = np.concatenate([np.where(own, next_pit, pit), pit])
    above, below = above[above > 0], below[above > 0]
    if (below == 0).any():
        return Nats(math.inf)
    if channel.is_exact:
        return Nats.of_ratio(Fraction(max(above / below)))
    return Nats(max(0.0, float(np.max(log_ratio_up(above, below)))))


def outcome_leakage(channel: Channel, secret: Any = None) -> Nats:
    """Π̃: the most that one outcome can raise the odds of a secret over the best guess before it, in nats, rounded up.

    It is at least Π and at most log s, s the number of secrets.

    >>> from tightlip import Channel
    >>> outcome_leakage(Channel([["1/2", "1/2"], ["1/4", "3/4"], ["1/3", "2/3"]]), ["a", "a", "b"]).ratio
    Fraction(6, 5)
    """
    groups = groups_of(channel, secret)
    tops, pits = _extremes(channel, groups)
    sizes = np.arange(1, groups.count + 1)[:, None]
    best: Any = Fraction(1) if channel.is_exact else 1.0
    for place in range(groups.count):
        possible = tops[place] > 0
        if possible.any():
            own = tops[place][possible]
            others = np.sort(np.delete(pits, place, axis=0)[:, possible], axis=0)
            totals = np.cumsum(np.concatenate([own[None, :], others]), axis=0)
            best = max(best, (sizes * own / totals).max())
    if channel.is_exact:
        return Nats.of_ratio(Fraction(best))
    if _tells_nothing(dense(channel.matrix), groups.codes):
        return Nats(0.0)
    return _rounded_up(float(best), groups.count + 3)


def min_entropy_leakage(channel: Channel, prior: Prior, secret: Any = None) -> Nats:
    """Min-entropy leakage about the secret under one prior on the rows, in nats, rounded up.

    log Σ_y max_g P(g, y) / max_g P(g). It never exceeds Π, and equals it for a uniform prior on an optimal selection.

    >>> from tightlip import Channel, Prior
    >>> channel = Channel([["3/4", "1/4"], ["1/4", "3/4"], ["1/2", "1/2"]])
    >>> min_entropy_leakage(channel, Prior(["1/2", "1/2", 0]), ["a", "b", "b"]).ratio
    Fraction(3, 2)
    """
    groups = groups_of(channel, secret)
    masses = align(prior, channel)
    exact = channel.is_exact and masses.is_exact
    rows = dense(channel.matrix if exact else channel.floats)
    weights = masses.masses if exact else masses.floats
    joint = _by_group(rows * weights[:, None], groups, np.add)
    marginal = _by_group(weights[:, None], groups, np.add)[:, 0]
    if exact:
        return Nats.of_ratio(Fraction(sum(joint.max(axis=0)), 1) / max(marginal))
    possible = weights > 0
    if _tells_nothing(rows[possible], groups.codes[possible]):
        return Nats(0.0)
    ratio = float(joint.max(axis=0).sum() / marginal.max())
    return _rounded_up(max(ratio, 1.0), 2 * channel.shape[0] + channel.shape[1] + 4)


def _rounded_up(ratio: float, roundings: int) -> Nats:
    """The logarithm of a ratio of sums of products that was rounded a number of times, 1 perhaps from just above."""
    return Nats(float(log_up(widen_up(np.array([ratio]), gamma(roundings)))[0]))


def _tells_nothing(rows: NDArray[Any], codes: Places) -> bool:
    """Whether there is one secret only, or every row gives the same release."""
    return bool((codes == codes[0]).all() or (rows == rows[0]).all())


def _extremes(channel: Channel, groups: Groups) -> tuple[NDArray[Any], NDArray[Any]]:
    """The largest and the smallest likelihood of each output under each secret."""
    rows = dense(channel.matrix)
    return _by_group(rows, groups, np.maximum), _by_group(rows, groups, np.minimum)


def _by_group(rows: NDArray[Any], groups: Groups, operation: np.ufunc) -> NDArray[Any]:
    order = np.argsort(groups.codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(groups.sizes())[:-1]])
    return np.asarray(operation.reduceat(rows[order], starts, axis=0))
