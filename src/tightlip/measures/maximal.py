"""Average and worst-case leakage over all outcomes.

    maximal leakage         ℒ = log Σ_y max_x K_xy = log E[e^{PML(Y)}]
    maximal cost leakage    −log Σ_y min_x K_xy
    maximal realizable cost max_y PMC(y)

over secrets of positive mass; the first two need no prior beyond its support.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import instance
from tightlip.errors import quoted
from tightlip.measures.joint import on_support
from tightlip.measures.pointwise import pmc
from tightlip.model.channel import Channel, align, as_channel
from tightlip.model.labels import Label, match
from tightlip.model.matrix import column_max, dense_column, take_rows
from tightlip.model.prior import Prior
from tightlip.numeric.quantity import Nats, largest
from tightlip.numeric.rounding import log_ratio_up, sum_down, sum_up


def maximal_leakage(channel: Channel, prior: Prior | None = None) -> Nats:
    """Compute maximal leakage ℒ = log Σ_y max_x K_xy, in nats, rounded up.

    Parameters
    ----------
    channel : Channel
    prior : Prior, optional
        Only its support matters: secrets of mass 0 are left out.

    >>> from tightlip import Channel
    >>> maximal_leakage(Channel([["3/4", "1/4"], ["1/4", "3/4"]])).ratio
    Fraction(3, 2)
    """
    return _log_sum(on_support(channel, prior).peaks)


def conditional_maximal_leakage(
    first: Channel, second: Channel | Mapping[Label, Channel], prior: Prior | None = None
) -> Nats:
    """Compute ℒ(X → Y₂ | Y₁) = max_{y₁} log Σ_{y₂} max_{x : P(x|y₁) > 0} K₂(y₂ | x, y₁), rounded up.

    `second` is one channel, or a mapping from the first outcome to the channel used after it.
    ℒ(Y₁, Y₂) ≤ ℒ(Y₁) + ℒ(Y₂ | Y₁).

    >>> from tightlip import Channel
    >>> identity = Channel([[1, 0], [0, 1]])
    >>> conditional_maximal_leakage(identity, identity)
    0.0 nats
    """
    as_channel(first, "first")
    allowed = np.ones(first.shape[0], dtype=bool) if prior is None else align(prior, first).masses > 0
    worst = Nats(0.0, Fraction(1))
    for place, outcome in enumerate(first.outputs):
        possible = np.flatnonzero((dense_column(first.matrix, place) > 0) & allowed)
        if len(possible):
            follow = channel_after(outcome, second)
            order = match(first.inputs, follow.inputs, "inputs of the second channel", "the first's inputs")
            rows = possible if order is None else order[possible]
            worst = largest((worst, _log_sum(column_max(take_rows(follow.matrix, rows)))))
    return worst


def maximal_cost_leakage(channel: Channel, prior: Prior | None = None) -> Nats:
    """Compute maximal cost leakage −log Σ_y min_x K_xy, rounded up; infinite if every outcome excludes a secret.

    >>> from tightlip import Channel
    >>> maximal_cost_leakage(Channel([["3/4", "1/4"], ["1/4", "3/4"]])).ratio
    Fraction(2, 1)
    """
    channel = on_support(channel, prior)
    pits = channel.pits
    if channel.is_exact:
        total = Fraction(sum(pits.tolist(), Fraction(0)))
        return Nats.of_ratio(1 / total) if total else Nats(math.inf)
    if not pits.any():
        return Nats(math.inf)
    return Nats(max(0.0, float(log_ratio_up(np.array([1.0]), np.array([sum_down(pits)]))[0])))


def maximal_realizable_cost(channel: Channel, prior: Prior) -> Nats:
    """Compute maximal realizable cost: the PMC of the worst outcome (PMC paper, Definition 9).

    >>> from tightlip import Channel, Prior
    >>> maximal_realizable_cost(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), Prior(["1/5", "4/5"])).ratio
    Fraction(13, 5)
    """
    return pmc(channel, prior).worst


def channel_after(
    outcome: Label, second: Channel | Mapping[Label, Channel], argument: str = "second"
) -> Channel:
    """Choose the channel that follows a first outcome."""
    follow = second.get(outcome) if isinstance(second, Mapping) else second
    where = f"{argument}[{quoted(outcome)}]" if isinstance(second, Mapping) else argument
    return instance(follow, Channel, where, "write Channel(rows), or a dict with one for each first outcome")


def _log_sum(peaks: NDArray[Any]) -> Nats:
    if peaks.dtype == object:
        return Nats.of_ratio(Fraction(sum(peaks.tolist(), Fraction(0))))
    return Nats(max(0.0, float(log_ratio_up(np.array([sum_up(peaks)]), np.array([1.0]))[0])))
