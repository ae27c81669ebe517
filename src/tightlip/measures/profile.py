"""Soft guarantees: how much probability escapes a level ε.

    ψ1(ε) = E_Y[(1 − e^{ε − ℓ(Y)})₊]                      not safe under post-processing
    ψ2(ε) = max_x Σ_y (K_xy − e^ε q_y)₊                    safe, but bounds no failure probability
    δ*(ε) = max_{x,x'} Σ_y (K_xy − e^ε K_x'y)₊             the privacy profile of (ε, δ)-DP
    max_{x,x'} P_x{log K_xy / K_x'y > ε}                   probabilistic DP

All are rounded up. In floats a positive part (a − e^ε b)₊ is off by at most 2u·a, which is added
to every term that may be positive.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput, quoted
from tightlip.measures.joint import ExactJoint, join, on_support
from tightlip.model.channel import Channel
from tightlip.model.matrix import dense, dense_columns
from tightlip.model.prior import Prior
from tightlip.numeric.ball import Ball, ball, enclose, exp_bounds, log_exceeds
from tightlip.numeric.parse import FloatArray, number
from tightlip.numeric.quantity import Probability, exact_level, exact_ratio
from tightlip.numeric.rounding import TINY, UNIT, down, sum_up, tree_sum, up

_LARGE = 1e300
_MOST = Fraction(sys.float_info.max)


def psi1(channel: Channel, prior: Prior, epsilon: Any) -> Probability:
    """Compute ψ1(ε) = E_Y[(1 − e^{ε−ℓ(Y)})₊] (ENV paper, section III); post-processing can raise it.

    Parameters
    ----------
    channel : Channel
    prior : Prior
    epsilon : float
        A level in nats; `log_of("10/9")` keeps exact input exact.

    >>> from tightlip import log_of, papers, Prior
    >>> psi1(papers.env_example_1(), Prior.uniform(4), log_of("10/9")).fraction
    Fraction(13, 180)
    """
    joint, growth = join(channel, prior), _Growth.of(epsilon)
    if isinstance(joint, ExactJoint):
        pairs = zip(joint.marginal, joint.lifts(), strict=True)
        return growth.probability(_positive_sum(mass * (1 - growth.exact / lift) for mass, lift in pairs))
    inverse_lift = joint.lower / np.ldexp(joint.peaks, joint.shift)
    inverse_lift[list(joint.known)] = 0.0
    kept = 1 - growth.down * inverse_lift
    kept = np.where(kept > -8 * UNIT, np.maximum(kept, 0.0) + 4 * UNIT, 0.0)
    return _clip(sum_up(np.nextafter(joint.probability_ends()[1] * kept, 2.0)[kept > 0]))


def psi2(channel: Channel, prior: Prior, epsilon: Any) -> Probability:
    """Compute ψ2(ε) = max_x Σ_y (K_xy − e^ε q_y)₊ (ENV paper, section III); no post-processing raises it.

    >>> from tightlip import log_of, papers, Prior
    >>> psi2(papers.env_example_1(), Prior.uniform(4), log_of("10/9")).fraction
    Fraction(13, 90)
    """
    joint, growth = join(channel, prior), _Growth.of(epsilon)
    if isinstance(joint, ExactJoint):
        rows = joint.matrix[:, joint.places] - growth.exact * joint.marginal
        return growth.probability(max(_positive_sum(row) for row in rows))
    lower = joint.probability_ends()[0]
    return _largest_excess(dense_columns(joint.matrix, joint.places), lower[None, :], growth.down)


def privacy_profile(channel: Channel, epsilon: Any, prior: Prior | None = None) -> Probability:
    """Compute δ*(ε) = max_{x,x'} Σ_y (K_xy − e^ε K_x'y)₊: the smallest δ for which the channel is (ε, δ)-LDP.

    `prior` only restricts the secrets to its support.

    >>> from tightlip import log_of, mechanism
    >>> privacy_profile(mechanism.randomized_response(3, log_of(3)), log_of(2)).fraction
    Fraction(1, 5)
    """
    growth, matrix = _Growth.of(epsilon), _possible_rows(channel, prior)
    if matrix.dtype == object:
        pairs = (one - growth.exact * two for one in matrix for two in matrix)
        return growth.probability(max(_positive_sum(difference) for difference in pairs))
    return _largest_excess(matrix, matrix, growth.down)


def probabilistic_dp_tail(channel: Channel, epsilon: Any, prior: Prior | None = None) -> Probability:
    """Compute max_{x,x'} P_x{log K_xy / K_x'y > ε}: how often ε-LDP fails; not safe under post-processing.

    Ties with ε are decided exactly for the stored numbers.

    >>> from tightlip import log_of, mechanism
    >>> rr = mechanism.randomized_response(3, log_of(3))
    >>> probabilistic_dp_tail(rr, log_of(2)).fraction, probabilistic_dp_tail(rr, log_of(3)).fraction
    (Fraction(3, 5), Fraction(0, 1))
    """
    growth, matrix = _Growth.of(epsilon), _possible_rows(channel, prior)
    if matrix.dtype == object:
        tails = (one[one > growth.exact * two].sum() for one in matrix for two in matrix)
        return growth.probability(Fraction(max(tails)))
    worst = 0.0
    for row in matrix:
        sums, error = tree_sum(np.where(_ratio_exceeds(row, matrix, growth), row, 0.0))
        worst = max(worst, float(sums.max()) * (1 + 2 * error))
    return _clip(worst)


def dp_tail_bound(epsilon: Any, delta: Any, k: Any) -> Probability:
    """Bound P{L > kε} ≤ δ / (1 − e^{−(k−1)ε}) for an (ε, δ)-DP mechanism and k > 1, rounded up, at most 1.

    Why: B = {L > kε} has P(B) ≤ e^ε P'(B) + δ and P'(B) ≤ e^{−kε} P(B).

    >>> dp_tail_bound(1.0, "1/1000", 2)
    0.0015819767068693264
    """
    own = exact_level(epsilon, rounding="down")
    ratio = exact_ratio(own)
    allowed, factor = number(delta, "delta"), number(k, "k")
    if not 0 <= allowed <= 1:
        raise InvalidInput(f"delta must be in [0, 1], got delta={quoted(delta)}; write 0.01.")
    if not factor > 1:
        raise InvalidInput(f"k must be above 1, got k={quoted(k)}; (ε, δ)-DP bounds no tail at ε itself.")
    if allowed == 0:
        return Probability(0.0)
    if own == 0:
        return Probability(1.0)
    times = Fraction(factor) - 1

    def expression() -> Ball:
        amount = ball(own) if ratio is None else ball(ratio).log()
        return ball(allowed) / -((-ball(times) * amount).expm1())

    bound = enclose(expression)
    return Probability(min(bound[1], 1.0))


@dataclass(frozen=True, slots=True)
class _Growth:
    """e^ε, rounded down (all these quantities fall with ε); `ratio` where it is known exactly."""

    epsilon: float | Fraction
    ratio: Fraction | None
    down: float

    @classmethod
    def of(cls, epsilon: Any) -> _Growth:
        own = exact_level(epsilon, rounding="down")
        ratio = exact_ratio(own)
        if ratio is None:
            return cls(own, None, exp_bounds(own)[0])
        return cls(own, ratio, down(float(ratio)) if 1 < ratio < _LARGE else float(min(ratio, _MOST)))

    @property
    def exact(self) -> Fraction:
        return self.ratio if self.ratio is not None else Fraction(self.down)

    def probability(self, value: Fraction) -> Probability:
        found = Probability.of(value)
        return found if self.ratio is not None else Probability(float(found))

    def exceeded_by(self, one: float, two: float) -> bool:
        """Whether one/two > e^ε, exactly."""
        if two == 0:
            return one > 0
        own = Fraction(one) / Fraction(two)
        return own > self.ratio if self.ratio is not None else log_exceeds(own, self.epsilon)


def _largest_excess(rows: FloatArray, others: FloatArray, growth: float) -> Probability:
    """Maximise Σ_y (row_y − e^ε other_y)₊ over rows and others, rounded up; 0 where every term surely is."""
    with np.errstate(over="ignore"):
        scaled = np.nextafter(others * growth, 0.0)
    worst = 0.0
    for row in rows:
        possible = row > scaled * (1 - 8 * UNIT)
        excess = np.maximum(row - scaled, 0.0) + (4 * UNIT * row + TINY)
        sums, error = tree_sum(np.where(possible, excess, 0.0))
        worst = max(worst, float(sums.max()) * (1 + 2 * error))
    return _clip(worst)


def _ratio_exceeds(row: FloatArray, others: FloatArray, growth: _Growth) -> NDArray[np.bool_]:
    with np.errstate(over="ignore"):
        below = np.nextafter(others * growth.down * (1 - 8 * UNIT), 0.0)
        above = np.nextafter(others * growth.down * (1 + 8 * UNIT), np.inf)
    exceeds = row > above
    if growth.down > _LARGE:  # e^ε may leave the float range: leave nothing to floats
        exceeds = (others == 0) & (row > 0)
    decide = lru_cache(maxsize=4096)(growth.exceeded_by)
    for place in zip(*np.nonzero(~exceeds & (row > below)), strict=True):
        exceeds[place] = decide(float(row[place[1]]), float(others[place]))
    return exceeds


def _clip(total: float) -> Probability:
    return Probability(min(up(total, 2), 1.0)) if total else Probability(0.0)


def _positive_sum(terms: Any) -> Fraction:
    return Fraction(sum((term for term in terms if term > 0), Fraction(0)))


def _possible_rows(channel: Channel, prior: Prior | None) -> NDArray[Any]:
    return dense(on_support(channel, prior).matrix)
