"""Contraction coefficients, each with its proof: total variation and E_γ; χ², KL and Hellinger.

The first two are decided by one pair of rows (total_variation.py). Over all inputs the other three agree
(chi_squared.py). Towards a prior Q, sup over P on Q's support of D(PK‖QK)/D(P‖Q):

- χ² is the squared maximal correlation (chi_squared.py);
- KL and H² have no closed form. They are at least the χ² value (their limit as P → Q) and at most the value over
  all inputs. A better lower end comes from a search: D(PK‖QK) − η D(P‖Q) is a difference of convex functions of
  P, and replacing the first by its tangent gives a step in closed form that never lowers the ratio.
  The search is not trusted: its best P is evaluated with outward rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from tightlip.contraction.certificate import ContractionCertificate, Divergence, PairCertificate, ends_of
from tightlip.contraction.chi_squared import correlation_contraction, pairwise_contraction
from tightlip.contraction.divergences import divergence
from tightlip.contraction.result import Coefficient
from tightlip.contraction.total_variation import EXACT_IN_FLOATS, largest_excess, largest_variation
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.model.channel import Channel, align
from tightlip.model.matrix import dense
from tightlip.model.prior import Prior
from tightlip.numeric.parse import FloatArray, number
from tightlip.numeric.rounding import down

_STARTS = 8
_STEPS = 60
_FLOOR = 1e-290
_MOST_CELLS = 10_000
Step = Callable[[FloatArray, FloatArray, FloatArray, float], FloatArray]


def dobrushin(channel: Channel) -> Coefficient:
    """Compute the Dobrushin coefficient η_TV(K) = max_{x,x'} TV(K_x, K_x'), rounded up (DOB paper, (2)).

    TV(PK, QK) ≤ η_TV·TV(P, Q) for all P, Q, and no smaller number will do, also among priors that give each
    secret a mass of at least c < 1/N.

    Parameters
    ----------
    channel : Channel
        Dense, sparse or exact; rows are compared in blocks, so that memory stays at a few blocks.

    Returns
    -------
    Coefficient
        `.pair` are the two secrets, `.fraction` the rational value where the channel is exact.

    >>> from tightlip import Channel
    >>> found = dobrushin(Channel([["1/2", "1/2"], ["1/3", "2/3"], ["1/4", "3/4"]], inputs=["a", "b", "c"]))
    >>> found.fraction, found.pair
    (Fraction(1, 4), ('a', 'c'))
    """
    _check(channel)
    return _by_pair(channel, None, largest_variation(channel))


def e_gamma_contraction(channel: Channel, gamma: Any) -> Coefficient:
    """Compute the contraction coefficient of E_γ(P‖Q) = Σ(P − γQ)₊, γ ≥ 1: max_{x,x'} E_γ(K_x‖K_x'), rounded up.

    It equals the privacy profile δ*(log γ): a channel is (ε, δ)-LDP exactly if it contracts E_{e^ε} by δ.

    >>> from tightlip import Channel
    >>> e_gamma_contraction(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), 2).fraction
    Fraction(1, 4)
    """
    _check(channel)
    read = number(gamma, "gamma")
    if read < 1:
        raise InvalidInput(
            f"gamma must be at least 1, got {quoted(gamma)}; below 1, E_γ(P‖Q) is γ·E_{{1/γ}}(Q‖P)."
        )
    if read > EXACT_IN_FLOATS:
        raise InvalidInput(f"gamma must be at most 2^51, got {quoted(gamma)}; beyond, only zeros matter.")
    found = _by_pair(channel, Fraction(read), largest_excess(channel, Fraction(read)))
    return found if isinstance(read, Fraction) else found.without_fraction()


def _by_pair(channel: Channel, gamma: Fraction | None, found: Coefficient) -> Coefficient:
    """Certify a coefficient by the pair of rows that reaches it."""
    assert found.pair is not None
    one, two = (channel.inputs.position(secret) for secret in found.pair)
    return found.proved_by(PairCertificate(channel, gamma, *ends_of(found), (one, two)))


def chi_squared_contraction(channel: Channel, prior: Prior | None = None) -> Coefficient:
    """Compute η_χ²: over all inputs, or towards `prior` (the squared maximal correlation), with proved ends.

    >>> from tightlip import Channel
    >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> round(chi_squared_contraction(coin), 12)
    0.25
    """
    _check(channel)
    if prior is None:
        return _over_all(channel, "chi2")
    found = correlation_contraction(channel, prior)
    return _certify(found, channel, align(prior, channel), "chi2", found.inputs)


def kl_contraction(channel: Channel, prior: Prior | None = None) -> Coefficient:
    """Compute η_KL with proved ends: over all inputs it equals η_χ²; towards a prior Q it is sup_P KL(PK‖QK)/KL(P‖Q).

    >>> from tightlip import Channel, Prior
    >>> found = kl_contraction(Channel([[1, 0], ["1/2", "1/2"]]), Prior(["1/4", "3/4"]))
    >>> found.lower < found.upper <= 0.5 + 1e-12
    True
    """
    _check(channel)
    return _over_all(channel, "kl") if prior is None else _towards(channel, prior, "kl", _kl_step)


def hellinger_contraction(channel: Channel, prior: Prior | None = None) -> Coefficient:
    """Compute η_H² with proved ends, H² = Σ(√p − √q)²: over all inputs equal to η_χ², else towards a prior Q.

    Towards Q only distributions P on its support count, as for KL, although H² of others is finite too.

    >>> from tightlip import Channel
    >>> round(hellinger_contraction(Channel([["3/4", "1/4"], ["1/4", "3/4"]])), 12)
    0.25
    """
    _check(channel)
    return _over_all(channel, "h2") if prior is None else _towards(channel, prior, "h2", _h2_step)


def _check(channel: Channel) -> None:
    if not isinstance(channel, Channel):
        raise WrongType(f"channel must be a Channel, got {quoted(channel)}; write Channel(rows).")


def _over_all(channel: Channel, kind: Divergence) -> Coefficient:
    found = pairwise_contraction(channel)
    return _certify(found, channel, None, kind, found.inputs)


def _certify(
    found: Coefficient,
    channel: Channel,
    prior: Prior | None,
    kind: Divergence,
    inputs: tuple[Prior, Prior] | None,
) -> Coefficient:
    """Certify a coefficient by the inputs that reach it."""
    own = inputs if prior is None or inputs is None else (_extend_support(inputs[0], prior), prior)
    return found.proved_by(ContractionCertificate(channel, prior, kind, *ends_of(found), own))


def _extend_support(inside: Prior, prior: Prior) -> Prior:
    """Extend a distribution on the support of a prior to all its secrets."""
    if len(inside) == len(prior):
        return inside
    masses = np.zeros(len(prior), dtype=inside.masses.dtype)
    masses[prior.support] = inside.masses
    return Prior(masses + (Fraction(0) if inside.is_exact else 0.0), prior.labels)


def _towards(channel: Channel, prior: Prior, kind: Literal["kl", "h2"], step: Step) -> Coefficient:
    aligned = align(prior, channel)
    inside = channel.restricted_to(aligned)
    masses = aligned.restricted()
    ceiling = pairwise_contraction(inside)
    local = correlation_contraction(inside, masses)
    if local.upper == 0 or len(masses) == 1:
        return _certify(ceiling, channel, aligned, kind, None)
    best, found = local.lower, None  # approached as P → Q, so no P stands for it
    searched = inside.shape[0] * inside.shape[1] <= _MOST_CELLS  # the rationals behind a proof grow with it
    candidate = _search(dense(inside.floats), masses.floats, local, kind, step) if searched else None
    if candidate is not None:
        moved = Prior(candidate / candidate.sum(), masses.labels)
        ratio = _proved_ratio(inside, moved, masses, kind)
        if ratio > best:
            best, found = ratio, (moved, masses)
    result = Coefficient(
        best,
        ceiling.upper,
        method=f"{'search' if searched else 'χ²'} from below, all inputs from above",
        inputs=found,
    )
    return _certify(result, channel, aligned, kind, local.inputs if found is None else found)


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
    """Search for the best P, or None; from every secret (the most telling few) and along the χ² direction."""
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
