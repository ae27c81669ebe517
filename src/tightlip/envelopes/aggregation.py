"""Aggregate outcomes, where there are many and few secrets: solve over groups of them, split where it matters.

Taking a group for one outcome is a post-processing, so an attack on groups is an attack; thresholds found for groups
prove an upper end for the outcomes themselves. Groups are exact once all their outcomes go to the same secret, so they
are split by the secret that the last thresholds give each outcome to, and outcomes near a tie stand alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tightlip.envelopes.attack import MassTest, Shares, margin
from tightlip.envelopes.bracketing import Bracket, Goal
from tightlip.envelopes.column_generation import ColumnGeneration
from tightlip.envelopes.limits import Limits
from tightlip.envelopes.pairs import Pairs, Places
from tightlip.numeric.parse import FloatArray


def should_aggregate(pairs: Pairs, limits: Limits) -> bool:
    """Whether there are so many outcomes for each secret that the program is better solved over groups."""
    return pairs.outcomes > max(limits.aggregated_outcomes, limits.aggregated_per_secret * pairs.secrets)


def solve_by_groups(pairs: Pairs, goal: Goal, bracket: Bracket) -> Bracket:
    """Narrow a bracket until its ends are within a relative gap, or splitting gains nothing more."""
    limits = goal.limits
    labels = _first_groups(pairs, limits.first_groups)
    search = ColumnGeneration(pairs.merge(labels), limits)
    for _ in range(limits.rounds):
        if goal.effort.ended_by:
            return bracket._replace(stopped=goal.effort.ended_by)
        groups = search.pairs
        gap = max(goal.gap / 4, 0.02 * (bracket.high / bracket.low - 1))
        # the attack's mass is judged by outcomes, not here
        nearly = MassTest(goal.delta * (1 - 4 * margin(groups)))
        found = search.narrow(
            Goal(goal.delta, gap, nearly, limits, goal.effort), _all_to_one(groups, bracket.high)
        )
        bracket = bracket._replace(solves=bracket.solves + found.solves, stopped=found.stopped)
        thresholds = search.thresholds if found.thresholds is None else found.thresholds
        if thresholds is None or found.attack is None:
            break
        # groups have all pairs
        thresholds = np.maximum(thresholds, pairs.least_threshold(found.high))
        attack = _attack_on_outcomes(pairs, found.attack.spread(groups), labels)
        bracket = bracket.tighten_above(pairs, goal.delta, thresholds)
        bracket = bracket.tighten_below(pairs, goal, attack, found.low)
        if bracket.within(goal.gap):
            break
        labels = _split(pairs, labels, thresholds, found.high, limits.split_off)
        search = search.restart_on(pairs.merge(labels))
    return bracket


def _all_to_one(groups: Pairs, high: float) -> Bracket:
    """Start from the attack of ratio 1 that gives everything to one secret."""
    everything = Shares.of(np.where(groups.secret == 0, 1.0, 0.0))
    return Bracket(1 - 1e-12, high, everything, None)


def _first_groups(pairs: Pairs, bins: int) -> Places:
    """Group outcomes by the secret with the largest lift, and by how large that is."""
    leads = pairs.leads
    rank = np.empty(pairs.outcomes, dtype=np.intp)
    rank[np.argsort(pairs.lift[leads])] = np.arange(pairs.outcomes)
    return _renumber(pairs.secret[leads] * bins + rank * bins // pairs.outcomes)


def _split(pairs: Pairs, labels: Places, thresholds: FloatArray, ratio: float, most: int) -> Places:
    """Split every group by the secret that its outcomes go to; outcomes near a tie stand alone."""
    floor = thresholds[pairs.secret]
    value = (pairs.lift - floor) / (ratio - floor)
    best = pairs.best(value)
    leads = np.flatnonzero(value == best[pairs.outcome])
    first = leads[np.flatnonzero(np.diff(pairs.outcome[leads], prepend=-1))]
    owner = np.where(best > 0, pairs.secret[first], pairs.secrets)
    rest = value.copy()
    rest[first] = -np.inf
    second = np.maximum(pairs.best(rest), 0.0)
    split = _renumber(labels * (pairs.secrets + 1) + owner)
    crowded = np.flatnonzero(np.bincount(split)[split] > 1)
    lead = np.abs(np.maximum(best, 0.0) - second)[crowded]
    lead = np.where(best[crowded] > 0, lead, -best[crowded])
    size = min(most, len(crowded))
    alone = crowded[np.argpartition(lead, size - 1)[:size]] if size else crowded
    split[alone] = split.max() + 1 + np.arange(len(alone))
    return _renumber(split)


def _renumber(labels: NDArray[np.intp]) -> Places:
    """Number the labels from 0."""
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def _attack_on_outcomes(pairs: Pairs, weights: FloatArray, labels: Places) -> Shares:
    """Write the attack on groups as one on outcomes."""
    return Shares.of(weights[labels[pairs.outcome] * pairs.secrets + pairs.secret])
