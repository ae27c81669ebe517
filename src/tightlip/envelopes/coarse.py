"""Many outcomes, few secrets: the program over groups of outcomes, split where it matters.

Taking a group for one outcome is a post-processing, so an attack on groups is an attack; thresholds found for groups
prove an upper end for the outcomes themselves. Groups are exact once all their outcomes go to the same secret, so they
are split by the secret that the last thresholds give each outcome to, and outcomes near a tie stand alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tightlip.envelopes.attack import Shares, margin
from tightlip.envelopes.bracket import Aim, Bracket, with_attack, with_thresholds
from tightlip.envelopes.pairs import Pairs, Places
from tightlip.envelopes.search import Search
from tightlip.numeric.parse import FloatArray

_FEW_OUTCOMES = 4000
_CROWD = 16  # outcomes for each secret
_MOST_ROUNDS = 40
_ALONE = 500  # outcomes that are split off in each round
_FIRST_BINS = 16


def worth_grouping(pairs: Pairs) -> bool:
    """Whether there are so many outcomes for each secret that the program is better solved over groups."""
    return pairs.outcomes > max(_FEW_OUTCOMES, _CROWD * pairs.secrets)


def search_by_groups(pairs: Pairs, aim: Aim, bracket: Bracket) -> Bracket:
    """Narrow a bracket until its ends are within a relative gap, or splitting gains nothing more."""
    labels = _first_groups(pairs)
    search = Search(pairs.merged(labels))
    for _ in range(_MOST_ROUNDS):
        groups = search.pairs
        inner_gap = max(aim.gap / 4, 0.02 * (bracket.high / bracket.low - 1))
        inner = Aim(aim.delta, inner_gap, _nearly(aim.delta, groups))
        found = search.narrow(inner, _all_to_one(groups, bracket.high))
        bracket = bracket._replace(solves=bracket.solves + found.solves)
        thresholds = search.thresholds if found.thresholds is None else found.thresholds
        if thresholds is None or found.attack is None:
            break
        thresholds = np.maximum(thresholds, pairs.least_threshold(found.high))  # groups have all pairs
        bracket = with_thresholds(pairs, aim.delta, bracket, thresholds)
        bracket = with_attack(
            pairs, aim, bracket, _spread(pairs, found.attack.spread(groups), labels), found.low
        )
        if bracket.within(aim.gap):
            break
        labels = _split(pairs, labels, thresholds, found.high)
        search = search.resumed(pairs.merged(labels))
    return bracket


def _nearly(delta: float, groups: Pairs) -> Callable[[Shares, float], bool]:
    least = delta * (1 - 4 * margin(groups))  # the attack is judged by outcomes, not here
    return lambda _, mass: mass >= least


def _all_to_one(groups: Pairs, high: float) -> Bracket:
    """Giving everything to one secret is an attack of ratio 1."""
    everything = Shares.of(np.where(groups.secret == 0, 1.0, 0.0))
    return Bracket(1 - 1e-12, high, everything, None)


def _first_groups(pairs: Pairs) -> Places:
    """By the secret with the largest lift, and by how large that is."""
    leads = pairs.leads
    rank = np.empty(pairs.outcomes, dtype=np.intp)
    rank[np.argsort(pairs.lift[leads])] = np.arange(pairs.outcomes)
    return _numbered(pairs.secret[leads] * _FIRST_BINS + rank * _FIRST_BINS // pairs.outcomes)


def _split(pairs: Pairs, labels: Places, thresholds: FloatArray, ratio: float) -> Places:
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
    split = _numbered(labels * (pairs.secrets + 1) + owner)
    crowded = np.flatnonzero(np.bincount(split)[split] > 1)
    lead = np.abs(np.maximum(best, 0.0) - second)[crowded]
    lead = np.where(best[crowded] > 0, lead, -best[crowded])
    size = min(_ALONE, len(crowded))
    alone = crowded[np.argpartition(lead, size - 1)[:size]] if size else crowded
    split[alone] = split.max() + 1 + np.arange(len(alone))
    return _numbered(split)


def _numbered(labels: NDArray[np.intp]) -> Places:
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def _spread(pairs: Pairs, weights: FloatArray, labels: Places) -> Shares:
    """The attack on groups as one on outcomes."""
    return Shares.of(weights[labels[pairs.outcome] * pairs.secrets + pairs.secret])
