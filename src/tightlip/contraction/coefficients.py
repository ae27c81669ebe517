"""Contraction of χ², KL and Hellinger: over all inputs, or towards one prior.

Over all inputs the three agree (chi_squared.py). Towards a prior Q, sup over P on Q's support of D(PK‖QK)/D(P‖Q):

- χ² is the squared maximal correlation (correlation.py);
- KL and H² have no closed form. They are at least the χ² value (their limit as P → Q) and at most the value over
  all inputs. A better lower end comes from a search: D(PK‖QK) − η D(P‖Q) is a difference of convex functions of
  P, and replacing the first by its tangent gives a step in closed form that never lowers the ratio.
  The search is not trusted: its best P is evaluated with outward rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from tightlip.contraction.chi_squared import pairwise_contraction
from tightlip.contraction.correlation import correlation_contraction
from tightlip.contraction.divergences import divergence
from tightlip.contraction.result import Coefficient
from tightlip.errors import WrongType, quoted
from tightlip.model.align import align
from tightlip.model.channel import Channel
from tightlip.model.matrix import dense
from tightlip.model.prior import Prior
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import down

_STARTS = 8
_STEPS = 60
_FLOOR = 1e-290
_MOST_CELLS = 10_000
Step = Callable[[FloatArray, FloatArray, FloatArray, float], FloatArray]


def chi_squared_contraction(channel: Channel, prior: Prior | None = None) -> Coefficient:
    """η_χ²: over all inputs, or towards `prior` (the squared maximal correlation), with proved ends.

    >>> from tightlip import Channel
    >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> round(chi_squared_contraction(coin), 12)
    0.25
    """
    _check(channel)
    return pairwise_contraction(channel) if prior is None else correlation_contraction(channel, prior)


def kl_contraction(channel: Channel, prior: Prior | None = None) -> Coefficient:
    """η_KL with proved ends: over all inputs it equals η_χ²; towards a prior Q it is sup_P KL(PK‖QK)/KL(P‖Q).

    >>> from tightlip import Channel, Prior
    >>> found = kl_contraction(Channel([[1, 0], ["1/2", "1/2"]]), Prior(["1/4", "3/4"]))
    >>> found.lower < found.upper <= 0.5 + 1e-12
    True
    """
    _check(channel)
    return pairwise_contraction(channel) if prior is None else _towards(channel, prior, "kl", _kl_step)


def hellinger_contraction(channel: Channel, prior: Prior | None = None) -> Coefficient:
    """η_H² with proved ends, H² = Σ(√p − √q)²: over all inputs equal to η_χ², else towards a prior Q.

    Towards Q only distributions P on its support count, as for KL, although H² of others is finite too.

    >>> from tightlip import Channel
    >>> round(hellinger_contraction(Channel([["3/4", "1/4"], ["1/4", "3/4"]])), 12)
    0.25
    """
    _check(channel)
    return pairwise_contraction(channel) if prior is None else _towards(channel, prior, "h2", _h2_step)


def _check(channel: Channel) -> None:
    if not isinstance(channel, Channel):
        raise WrongType(f"channel must be a Channel, got {quoted(channel)}; write Channel(rows).")


def _towards(channel: Channel, prior: Prior, kind: Literal["kl", "h2"], step: Step) -> Coefficient:
    aligned = align(prior, channel)
    inside = channel.restricted_to(aligned)
    masses = aligned.restricted()
    ceiling = pairwise_contraction(inside)
    local = correlation_contraction(inside, masses)
    if local.upper == 0 or len(masses) == 1:
        return ceiling
    best, found = local.lower, None  # approached as P → Q, so no P stands for it
    searched = inside.shape[0] * inside.shape[1] <= _MOST_CELLS  # the rationals behind a proof grow with it
    candidate = _search(dense(inside.floats), masses.floats, local, kind, step) if searched else None
    if candidate is not None:
        moved = Prior(candidate / candidate.sum(), masses.labels)
        ratio = _proved_ratio(inside, moved, masses, kind)
        if ratio > best:
            best, found = ratio, (moved, masses)
    return Coefficient(
        best,
        ceiling.upper,
        method=f"{'search' if searched else 'χ²'} from below, all inputs from above",
        inputs=found,
    )


def _proved_ratio(channel: Channel, moved: Prior, prior: Prior, kind: Literal["kl", "h2"]) -> float:
    """D(PK‖QK)/D(P‖Q) rounded down, in rationals: floats are what they store."""
    rows = channel.exact().matrix
    one, two = moved.exact(), prior.exact()
    before = divergence(one, two, kind)
    after = divergence(Prior(one.masses @ rows), Prior(two.masses @ rows), kind)
    return max(0.0, down(after.lower / before.upper)) if before.upper > 0 else 0.0


def _search(
    rows: FloatArray, prior: FloatArray, local: Coefficient, kind: str, step: Step
) -> FloatArray | None:
    """The best P found, or None; started at every secret (the most telling few) and along the χ² direction."""
    corners = np.eye(len(prior))
    scores = [_ratio(rows, corner, prior, kind) for corner in corners]
    starts = [corners[place] * 0.999 + prior * 0.001 for place in np.argsort(scores)[::-1][:_STARTS]]
    starts += [corners[int(np.argmax(scores))]]
    if local.inputs is not None:
        shift = local.inputs[0].floats - prior
        starts += [start for start in (prior + shift, prior - shift) if start.min() >= 0]
    best, value = None, 0.0
    for start in starts:
        point = start
        for _ in range(_STEPS):
            ratio = _ratio(rows, point, prior, kind)
            if ratio > value:
                best, value = point, ratio
            if not ratio > 0:
                break
            point = step(rows, point, prior, ratio)
    return best


def _ratio(rows: FloatArray, point: FloatArray, prior: FloatArray, kind: str) -> float:
    before, after = _plain(point, prior, kind), _plain(point @ rows, prior @ rows, kind)
    return after / before if before > 1e-14 else 0.0


def _plain(one: FloatArray, two: FloatArray, kind: str) -> float:
    kept = (one > 0) | (two > 0)
    one, two = one[kept], np.maximum(two[kept], _FLOOR)
    if kind == "h2":
        return float(((np.sqrt(one) - np.sqrt(two)) ** 2).sum())
    ratio = np.maximum(one, _FLOOR) / two
    return float((one * np.log(ratio) - one + two).sum())


def _kl_step(rows: FloatArray, point: FloatArray, prior: FloatArray, ratio: float) -> FloatArray:
    """argmax of g·P − η KL(P‖Q): P ∝ Q e^{g/η}."""
    outcome = np.maximum(point @ rows, _FLOOR) / np.maximum(prior @ rows, _FLOOR)
    exponent = rows @ np.log(outcome) / ratio
    weights = prior * np.exp(exponent - exponent.max())
    return np.asarray(weights / weights.sum())


def _h2_step(rows: FloatArray, point: FloatArray, prior: FloatArray, ratio: float) -> FloatArray:
    """argmax of g·P + 2η Σ√(PQ): P_x = η² Q_x/(μ − g_x)², with μ such that P sums to 1."""
    gain = -(rows @ np.sqrt(np.maximum(prior @ rows, _FLOOR) / np.maximum(point @ rows, _FLOOR)))
    low, high = gain.max(), gain.max() + ratio
    for _ in range(60):
        middle = (low + high) / 2
        total = (ratio**2 * prior / np.maximum(middle - gain, _FLOOR**0.25) ** 2).sum()
        low, high = (middle, high) if total > 1 else (low, middle)
    weights = prior / np.maximum(high - gain, _FLOOR**0.25) ** 2
    return np.asarray(weights / weights.sum())
