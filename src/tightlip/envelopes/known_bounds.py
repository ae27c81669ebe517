"""Cheap bounds on the envelope ε_c(δ), and the curve of approximate differential privacy beside it.

Above (no post-processing does more):
    maximal leakage   ℒ + log 1/δ                           ENV paper, Theorem 3
    worst outcome     max_y ℓ(y)                            ENV paper, Theorem 3
    count             log M/δ, M possible outcomes          never better than the first: ℒ ≤ log min(N, M),
                                                            also with M counted after `Channel.reduce`
    tail mean         log of the mean of e^{ℓ(Y)} over the worst outcomes of total probability δ
Below (some post-processing does as much):
    quantile          the right quantile of ℓ(Y), by releasing Y itself
    event             the binary envelope ε_b(δ)

The tail mean is never above the first three. Why it holds: let w_xy be the chance that outcome y is
turned into the bad symbol that points at x. Then Σ_y w_xy K_xy ≥ t Σ_y w_xy q_y for each x, so with
w_y = Σ_x w_xy ≤ 1 and mass Σ_y w_y q_y ≥ δ, t is at most Σ_y w_y max_x K_xy / Σ_y w_y q_y, which is
largest for the outcomes with the largest max_x K_xy/q_y = e^{ℓ(y)} and mass δ. Over all outcomes that
mean is e^ℒ, so over a part of mass δ it is at most e^ℒ/δ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from tightlip.certificate.recomputation import ENVELOPE_BOUNDS, Recomputation, certify_by_recomputation
from tightlip.envelopes.binary import binary_envelope_curve
from tightlip.envelopes.knapsack import Knapsacks, Levels, solve_exactly
from tightlip.envelopes.result import read_delta
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.measures.distribution import PointwiseLeakage
from tightlip.measures.joint import ExactJoint, FloatJoint, join
from tightlip.measures.local import ldp
from tightlip.measures.maximal import maximal_leakage
from tightlip.measures.pointwise import from_joint
from tightlip.measures.profile import privacy_profile
from tightlip.model.channel import Channel, align
from tightlip.model.matrix import column_max, dense
from tightlip.model.prior import Prior
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.display import format_down, format_python, format_up
from tightlip.numeric.parse import FloatArray, number
from tightlip.numeric.quantity import Nats, ProvedLeakage
from tightlip.numeric.rounding import up
from tightlip.showing import Tabled

ROW_SUM_SLACK = 2.0**-48  # rows and priors of floats may miss the sum 1 by 2⁻⁵⁰ each
_EXACT_WORK = 30_000  # pairs of secrets × outcomes up to which floats are compared as rationals


@dataclass(frozen=True, slots=True)
class EnvelopeBounds(ProvedLeakage, Tabled):
    """Every cheap bound on ε_c(δ) in nats, each rounded to its own side.

    Attributes
    ----------
    delta : the probability
    maximal_leakage, worst_outcome, outcome_count, tail_mean : bounds from above
    quantile, event : bounds from below
    lower, upper : the best of them; `value` is `upper`, and `method` names both
    certificate : the proof of both, which computes them again
    """

    delta: Fraction
    maximal_leakage: Nats
    worst_outcome: Nats
    outcome_count: Nats
    tail_mean: Nats
    quantile: Nats
    event: Nats
    certificate: Recomputation | None = field(default=None, repr=False, compare=False)

    @property
    def uppers(self) -> dict[str, Nats]:
        """The bounds from above by name."""
        names = ("tail_mean", "maximal_leakage", "worst_outcome", "outcome_count")
        return {name: getattr(self, name) for name in names}

    @property
    def lowers(self) -> dict[str, Nats]:
        """The bounds from below by name."""
        return {name: getattr(self, name) for name in ("quantile", "event")}

    @property
    def upper(self) -> Nats:
        """The best bound from above."""
        return min(self.uppers.values())

    @property
    def lower(self) -> Nats:
        """The best bound from below."""
        return max(self.lowers.values())

    @property
    def value(self) -> Nats:
        """The sound end, the best bound from above."""
        return self.upper

    @property
    def method(self) -> str:
        """The names of the best bounds, from below and from above."""
        return f"{self.lower_from} and {self.upper_from}"

    @property
    def upper_from(self) -> str:
        """The name of the best bound from above."""
        return min(self.uppers, key=lambda name: self.uppers[name])

    @property
    def lower_from(self) -> str:
        """The name of the best bound from below."""
        return max(self.lowers, key=lambda name: self.lowers[name])

    def __repr__(self) -> str:
        return (
            f"EnvelopeBounds(delta={format_python(self.delta)}, {format_down(self.lower)} ({self.lower_from}) to "
            f"{format_up(self.upper)} ({self.upper_from}) nats)"
        )


def bounds(channel: Channel, prior: Prior, delta: object) -> EnvelopeBounds:
    """Bound ε_c(δ), the largest leakage that some post-processing reaches with probability δ, without a solver.

    Parameters
    ----------
    channel : Channel
    prior : Prior
    delta : number in (0, 1]

    Returns
    -------
    EnvelopeBounds
        In nats; `ratio` is known for each bound where the input is exact.

    >>> from tightlip import Prior, papers
    >>> found = bounds(papers.env_example_1(), Prior.uniform(4), "1/5")
    >>> found
    EnvelopeBounds(delta=1/5, 0.510825 (event) to 0.93827 (tail_mean) nats)
    >>> found.tail_mean.ratio, found.maximal_leakage.ratio, found.worst_outcome.ratio
    (Fraction(23, 9), Fraction(7, 1), Fraction(4, 1))
    """
    wanted = read_delta(delta)
    joint = join(channel, prior)
    leak = from_joint(joint, "pml")
    found = EnvelopeBounds(
        delta=wanted,
        maximal_leakage=_plus_log(maximal_leakage(channel, prior), wanted, exact=joint.exact),
        worst_outcome=leak.worst,
        outcome_count=count_bound(len(leak), wanted, exact=joint.exact),
        tail_mean=tail_mean(joint, wanted),
        quantile=_quantile(leak, wanted),
        event=_event(channel, prior, joint, wanted),
    )
    return certify_by_recomputation(
        ENVELOPE_BOUNDS, found, channel=channel, prior=align(prior, channel), delta=wanted
    )


def count_bound(count: int, delta: Fraction, *, exact: bool) -> Nats:
    """log count/δ, rounded up: no release of so many symbols, or about so many secrets, leaks more.

    >>> count_bound(3, Fraction(1, 2), exact=True).ratio
    Fraction(6, 1)
    """
    bound = Nats.of_ratio(count / delta)
    return bound if exact else Nats(up(bound + ROW_SUM_SLACK))


def tail_mean(joint: ExactJoint | FloatJoint, delta: Fraction) -> Nats:
    """log of the mean of e^{ℓ(Y)} over the worst outcomes of total probability δ, rounded up.

    >>> from tightlip import Channel, Prior
    >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> tail_mean(join(coin, Prior(["1/5", "4/5"])), Fraction(1, 2)).ratio
    Fraction(24, 13)
    """
    if isinstance(joint, ExactJoint):
        peaks = column_max(joint.matrix)[joint.places].tolist()
        return Nats.of_ratio(solve_exactly(peaks, joint.marginal.tolist(), [delta])[0].ratio)
    levels = Levels.of([delta], joint)
    bound = float(Knapsacks.of(joint.peaks[None, :], levels.least, levels.most).upper(levels)[0, 0])
    return Nats(max(0.0, min(bound, float(joint.log_lift_ends()[1].max()))))


def comparisons(channel: Channel, prior: Prior, delta: Any) -> dict[str, Nats]:
    """Compute what an envelope may be compared with at δ, by name, in nats.

    "maximal_leakage_bound" (ℒ + log 1/δ) and "dp" (the ε of (ε, δ)-LDP) are guarantees, rounded up; "binary" (one
    event) and "quantile" (no post-processing) are what some adversary reaches.

    >>> found = comparisons(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), Prior.uniform(2), "1/2")
    >>> {name: str(amount.ratio) for name, amount in found.items()}
    {'maximal_leakage_bound': '3', 'binary': '3/2', 'quantile': '3/2', 'dp': '1'}
    """
    known = bounds(channel, prior, delta)
    return {
        "maximal_leakage_bound": known.maximal_leakage,
        "binary": known.event,
        "quantile": known.quantile,
        "dp": dp_epsilon(channel, delta, prior),
    }


def dp_epsilon(channel: Channel, delta: object, prior: Prior | None = None) -> Nats:
    """Find the smallest ε ≥ 0 for which the channel is (ε, δ)-LDP, rounded up; infinite if there is none.

        e^ε = max(1, max over secrets x, x' and events E of (P(E|x) − δ)/P(E|x')),

    where only the events that collect the largest K_xy/K_x'y matter. Exact for exact channels; floats are
    compared as the rationals they store where the channel is small, and a bound is proved by
    `privacy_profile` where it is not.

    Parameters
    ----------
    channel : Channel
    delta : number in [0, 1]
    prior : Prior, optional
        Only its support matters: secrets of mass 0 are left out.

    >>> from tightlip import log_of, mechanism
    >>> dp_epsilon(mechanism.randomized_response(3, log_of(3)), "1/5").ratio
    Fraction(2, 1)
    """
    allowed = read_slack(delta)
    if not isinstance(channel, Channel):
        raise WrongType(f"channel must be a Channel, got {quoted(channel)}; write Channel(rows).")
    if prior is not None:
        channel = channel.restricted_to(prior)
    if allowed == 1:
        return Nats(0.0, Fraction(1))
    if allowed == 0:
        return ldp(channel)
    if channel.is_exact or channel.shape[0] ** 2 * channel.shape[1] <= _EXACT_WORK:
        ratio = _exact_dp_ratio(dense(channel.matrix).tolist(), allowed)
        return Nats(math.inf) if ratio is None else Nats.of_ratio(ratio)
    return min(_float_dp(channel, allowed), ldp(channel))


def read_slack(delta: object) -> Fraction:
    """Read the δ of (ε, δ)-privacy, in [0, 1], exactly."""
    value = Fraction(number(delta, "delta"))
    if not 0 <= value <= 1:
        raise InvalidInput(f"delta must be in [0, 1], got delta={quoted(delta)}; it is a probability.")
    return value


def _plus_log(leakage: Nats, delta: Fraction, *, exact: bool) -> Nats:
    """leakage + log 1/δ, rounded up."""
    if exact and leakage.ratio is not None:
        return Nats.of_ratio(leakage.ratio / delta)
    return Nats(up(leakage + log_bounds(1 / delta)[1] + ROW_SUM_SLACK, 2))


def _quantile(leak: PointwiseLeakage, delta: Fraction) -> Nats:
    """Compute the right quantile rounded down: the least that the outcomes at or above it leak."""
    level = leak.quantile(delta)
    if level.ratio is not None:
        return Nats.of_ratio(level.ratio, "down")
    return Nats(float(leak.lower[leak.values >= level].min()), rounding="down")


def _event(channel: Channel, prior: Prior, joint: ExactJoint | FloatJoint, delta: Fraction) -> Nats:
    if isinstance(joint, ExactJoint):
        rows = joint.matrix[:, joint.places].tolist()
        marginal = joint.marginal.tolist()
        return Nats.of_ratio(max(solve_exactly(row, marginal, [delta])[0].ratio for row in rows), "down")
    return Nats(binary_envelope_curve(channel, prior, [delta])[0].lower, rounding="down")


def _exact_dp_ratio(rows: list[list[Any]], delta: Fraction) -> Fraction | None:
    """e^ε in rationals; None stands for infinite."""
    exact = [[Fraction(entry) for entry in row] for row in rows]
    worst = Fraction(1)
    for place, one in enumerate(exact):
        for other in exact[:place] + exact[place + 1 :]:
            ratio = _pair_ratio(one, other, delta)
            if ratio is None:
                return None
            worst = max(worst, ratio)
    return worst


def _pair_ratio(one: list[Fraction], other: list[Fraction], delta: Fraction) -> Fraction | None:
    """max over events of (P(E|x) − δ)/P(E|x'), growing E by falling likelihood ratio."""
    gain = sum((a for a, b in zip(one, other, strict=True) if not b), Fraction(0)) - delta
    if gain > 0:
        return None
    worst, mass = Fraction(0), Fraction(0)
    pairs = sorted(((a / b, a, b) for a, b in zip(one, other, strict=True) if b), reverse=True)
    for _, a, b in pairs:
        gain, mass = gain + a, mass + b
        worst = max(worst, gain / mass)
    return worst


def _float_dp(channel: Channel, delta: Fraction) -> Nats:
    """Find a level near the closed form, moved up until the privacy profile proves it."""
    ratio = _float_dp_ratio(dense(channel.floats), float(delta))
    if math.isinf(ratio):
        return Nats(math.inf)
    start, ceiling = math.log(max(ratio, 1.0)), ldp(channel)
    for margin in [1e-13 * 10**step for step in range(15)] if start else [0.0, 1e-13, 1e-9, 1e-3]:
        epsilon = start + margin
        if epsilon < ceiling and Fraction(float(privacy_profile(channel, epsilon))) <= delta:
            return Nats(epsilon)
    return ceiling


def _float_dp_ratio(matrix: FloatArray, delta: float) -> float:
    """max over pairs and events of (P(E|x) − δ)/P(E|x'), to about rounding error."""
    worst = 0.0
    for row in matrix:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            order = np.argsort(-np.where(row > 0, row / matrix, 0.0), axis=1)
        gains = np.cumsum(row[order], axis=1) - delta
        masses = np.cumsum(np.take_along_axis(matrix, order, 1), axis=1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratios = np.where(gains > 0, gains / masses, 0.0)
        worst = max(worst, float(ratios.max()))
    return worst
