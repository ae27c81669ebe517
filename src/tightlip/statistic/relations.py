"""Relatives of statistic maximal leakage Π, how they bound each other, and what several releases leak together.

Worst-outcome relatives, and the leakage under one prior:

    Π̃       log max over outputs, a secret g₀ and n − 1 others of  n·a / (a + b_1 + … + b_{n−1})
    Π̃_inf   = L_DP: the largest log K(y|θ)/K(y|θ') over rows with different secrets

where a is the largest likelihood of the output under g₀ and b the smallest under each other secret: the worst prior
is uniform on n secrets and puts each on one row. (SML paper, Appendix K.)

Relations:

    ℒ − log max_g |Θ_g| ≤ Π ≤ min(ℒ, log s)                     (SML paper, Property 1)
    L_DP ≤ μ  ⇒  Π ≤ log s·e^μ/(e^μ + s − 1) ≤ μ                (attained by randomised response on s values)
    L_DP ≤ μ  ⇒  Π_inf ≤ log(e^μ − (e^μ − 1)/s) ≤ μ             (attained by its complement)
    Π̃ ≤ μ₁ and Π̃_inf ≤ μ₂  ⇒  L_DP ≤ μ₁ + μ₂                   (SML paper, Proposition 7; L_DP ≤ μ₂ holds already)
    Π(Y₁, Y₂) ≤ Π(Y₁) + max over y₁ of Π(Y₂ | Y₁ = y₁)          (SML paper, Theorem 2, read for the worst history)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import instance, listed, whole
from tightlip.errors import InvalidInput
from tightlip.measures.distribution import add_leakages
from tightlip.measures.maximal import channel_after, maximal_leakage
from tightlip.model.channel import Channel, align, as_channel
from tightlip.model.labels import Label, match
from tightlip.model.matrix import dense, dense_column, take_rows
from tightlip.model.prior import Prior
from tightlip.numeric.ball import Ball, ball, enclose
from tightlip.numeric.quantity import Nats, exact_level, exact_ratio, largest, level
from tightlip.numeric.rounding import gamma, log_ratio_up, log_up, up, widen_up
from tightlip.showing import Shown, Tabled
from tightlip.statistic.groups import Groups, Places, groups_of
from tightlip.statistic.maximal import cost_leakage, statistic_maximal_leakage
from tightlip.statistic.result import StatisticLeakage
from tightlip.statistic.work import WORK


def ldp(channel: Channel, secret: Any = None) -> Nats:
    """Compute L_DP: the smallest μ with K(y|θ) ≤ e^μ K(y|θ') for rows of different secrets, in nats, rounded up.

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


def attribute_privacy(channel: Channel, secret: Any = None, priors: Any = None) -> Nats:
    """Compute attribute privacy: the smallest μ with P(y|g) ≤ e^μ P(y|g') for all secrets, in nats, rounded up.

    P(y|g) is the release of a row drawn from a prior among the rows of secret g: Pufferfish privacy of a statistic
    (Zhang, Ohrimenko and Cummings; SML paper, section VI-B). If every prior counts, the worst ones put each secret on
    one row, and it is `ldp` across secrets.

    Parameters
    ----------
    channel : Channel
    secret : the secret of each row, as in `statistic_maximal_leakage`
    priors : Prior or list of them, optional
        The priors that count; all if left out. A secret of mass 0 does not count.

    >>> from tightlip import Channel, Prior
    >>> channel, secret = Channel([["1/2", "1/2"], ["1/4", "3/4"], ["1/3", "2/3"]]), ["a", "a", "b"]
    >>> attribute_privacy(channel, secret).ratio
    Fraction(3, 2)
    >>> attribute_privacy(channel, secret, Prior(["1/4", "1/4", "1/2"])).ratio
    Fraction(9, 8)
    """
    groups = groups_of(channel, secret)
    if priors is None:
        return ldp(channel, groups.rows())
    given = [priors] if isinstance(priors, Prior) else listed(priors, "priors", "Priors")
    for place, prior in enumerate(given):
        instance(prior, Prior, f"priors[{place}]", "make one with Prior(masses)")
    if not given:
        raise InvalidInput("priors must hold at least one prior, got none; leave it out for all priors.")
    return largest([_attribute_privacy(channel, groups, prior) for prior in given])


def _attribute_privacy(channel: Channel, groups: Groups, prior: Prior) -> Nats:
    """In rationals, floats being those they store."""
    masses = align(prior, channel)
    weights, rows = masses.exact().masses, dense(channel.exact().matrix)
    joint = _by_group(rows * weights[:, None], groups, np.add)
    marginal = _by_group(weights[:, None], groups, np.add)[:, 0]
    held = marginal > 0
    found = ldp(Channel(joint[held] / marginal[held][:, None]))
    return found if channel.is_exact and masses.is_exact else Nats(float(found))


def outcome_leakage(channel: Channel, secret: Any = None) -> Nats:
    """Compute Π̃: the most that one outcome raises the odds of a secret over the best guess, in nats, rounded up.

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
    return _log_above(float(best), groups.count + 3)


def min_entropy_leakage(channel: Channel, prior: Prior, secret: Any = None) -> Nats:
    """Compute the min-entropy leakage about the secret under one prior on the rows, in nats, rounded up.

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
    return _log_above(max(ratio, 1.0), 2 * channel.shape[0] + channel.shape[1] + 4)


def _log_above(ratio: float, roundings: int) -> Nats:
    """Round the log of a ratio up: of sums of products rounded a number of times, 1 perhaps from just above."""
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


def ldp_to_statistic(mu: object, secrets: int) -> Nats:
    """Bound Π, given L_DP ≤ μ across s secrets: at most log s·e^μ/(e^μ + s − 1), rounded up.

    >>> from tightlip import log_of
    >>> ldp_to_statistic(log_of(3), 2).ratio
    Fraction(3, 2)
    """
    size = _secrets(secrets)
    return _imply(mu, lambda growth: size * growth / (growth + (size - 1)), limit=Fraction(size))


def ldp_to_statistic_cost(mu: object, secrets: int) -> Nats:
    """Bound Π_inf, given L_DP ≤ μ across s secrets: at most log(e^μ − (e^μ − 1)/s), rounded up.

    >>> from tightlip import log_of
    >>> ldp_to_statistic_cost(log_of(3), 2).ratio
    Fraction(2, 1)
    """
    size = _secrets(secrets)
    return _imply(mu, lambda growth: growth - (growth - 1) / size, limit=None if size > 1 else Fraction(1))


def outcome_to_statistic_ldp(outcome: object, least: object) -> Nats:
    """Bound L_DP, given Π̃ ≤ μ₁ and Π̃_inf ≤ μ₂, by the paper: μ₁ + μ₂, rounded up; sharper and always true is μ₂.

    >>> outcome_to_statistic_ldp(0.25, 0.5)
    0.75 nats
    """
    amounts = [(outcome, "outcome"), (least, "least")]
    if any(math.isinf(level(amount, name, allow_infinite=True)) for amount, name in amounts):
        return Nats(math.inf)
    total = sum(Fraction(exact_level(amount, name)) for amount, name in amounts)
    nearest = float(total)
    return Nats(nearest if Fraction(nearest) >= total else up(nearest))


@dataclass(frozen=True, slots=True)
class StatisticComposition(Shown, Tabled):
    """What two releases leak together.

    Attributes
    ----------
    total : the bound Π(Y₁) + max over y₁ of Π(Y₂ | Y₁ = y₁), in nats, rounded up
    first : Π of the first release
    second : Π of the second after each first outcome that can occur, over the rows still possible
    worst_outcome : the first outcome after which the second release leaks most
    """

    total: Nats
    first: StatisticLeakage
    second: Mapping[Label, StatisticLeakage]
    worst_outcome: Label


def composition(
    first: Channel,
    second: Channel | Mapping[Label, Channel],
    secret: Any = None,
    *,
    work: float = WORK,
    time_limit: float | None = None,
) -> StatisticComposition:
    """Bound Π of two releases about the same rows, the second perhaps chosen by the first outcome.

    The second term is the worst case over first outcomes, not Π of the second release seen alone: a one-time pad
    leaks nothing alone, its key leaks nothing alone, and together they tell all. `work` and `time_limit` bound the
    search for each Π, as in `statistic_maximal_leakage`.

    >>> from tightlip import Channel
    >>> key = Channel([["1/2", "1/2"], ["1/2", "1/2"]], outputs=[0, 1])
    >>> text = {0: Channel([[1, 0], [0, 1]]), 1: Channel([[0, 1], [1, 0]])}
    >>> composition(key, text).total.ratio
    Fraction(2, 1)
    """
    as_channel(first, "first")
    groups = groups_of(first, secret)
    rows = groups.rows()
    start = statistic_maximal_leakage(first, rows, work=work, time_limit=time_limit)
    known: dict[tuple[Channel, bytes], StatisticLeakage] = {}
    after: dict[Label, StatisticLeakage] = {}
    for place, outcome in enumerate(first.outputs):
        possible = np.flatnonzero(dense_column(first.matrix, place) > 0)
        if not len(possible):
            continue
        follow = channel_after(outcome, second)
        key = follow, possible.tobytes()
        if key not in known:
            order = match(first.inputs, follow.inputs, "inputs of the second channel", "the first's inputs")
            picked = possible if order is None else order[possible]
            rest = Channel(take_rows(follow.matrix, picked), first.inputs.take(possible), follow.outputs)
            kept = groups.take(possible).rows()
            known[key] = statistic_maximal_leakage(rest, kept, work=work, time_limit=time_limit)
        after[outcome] = known[key]
    worst = largest([found.value for found in after.values()])
    where = next(outcome for outcome, found in after.items() if found.value == worst)
    return StatisticComposition(add_leakages(start.value, worst), start, after, where)


def _secrets(secrets: object) -> int:
    return whole(secrets, "secrets", 1, remedy="count the secret's values")


def _imply(mu: object, formula: Any, limit: Fraction | None) -> Nats:
    """Compute the logarithm of formula(e^μ), rounded up; `limit` is its ratio at μ = ∞, None for infinite."""
    amount = level(mu, "mu", allow_infinite=True)
    if math.isinf(amount):
        return Nats(math.inf) if limit is None else Nats.of_ratio(limit)
    exact = exact_level(mu, "mu")
    growth = exact_ratio(exact)
    if growth is not None:
        return Nats.of_ratio(Fraction(formula(growth)))

    def value() -> Ball:
        found: Ball = formula(ball(exact).exp())
        return found.log()

    return Nats(max(0.0, enclose(value)[1]))


def comparisons(
    channel: Channel, secret: Any = None, *, work: float = WORK, time_limit: float | None = None
) -> dict[str, Nats]:
    """Compute measures related to statistic maximal leakage of the same channel and secret, by name, in nats.

    "maximal_leakage" (any secret), "cost_leakage" (about the least likely secret, Π_inf), "outcome_leakage" (the worst
    outcome, Π̃) and "ldp" (L_DP), all rounded up.

    >>> found = comparisons(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), ["a", "b"])
    >>> {name: str(amount.ratio) for name, amount in found.items()}
    {'maximal_leakage': '3/2', 'cost_leakage': '2', 'outcome_leakage': '3/2', 'ldp': '3'}
    """
    return {
        "maximal_leakage": maximal_leakage(channel),
        "cost_leakage": cost_leakage(channel, secret, work=work, time_limit=time_limit).value,
        "outcome_leakage": outcome_leakage(channel, secret),
        "ldp": ldp(channel, secret),
    }
