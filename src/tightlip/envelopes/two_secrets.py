"""Solve for two secrets by sorting, which replaces the linear program.

The lifts of two secrets move against each other (p₀ s₀ + p₁ s₁ = 1), so at ratio t each takes the outcomes from
its own end of the order for as long as their mean lift is at least t, and the two meet only where together they
have everything: V(t) = min(1, m₀(t) + m₁(t)). Each m_x(t) comes from prefix sums, the boundary outcome in part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tightlip.envelopes.attack import Shares, evaluate, margin
from tightlip.envelopes.bracketing import Bracket, Goal
from tightlip.envelopes.dual import proved_ratio
from tightlip.envelopes.lp import ABOVE
from tightlip.envelopes.pairs import Pairs, Places
from tightlip.numeric.parse import FloatArray


@dataclass(frozen=True, slots=True)
class _Side:
    """Sort one secret's pairs from its largest lift down, with prefix sums and, in rising order, minus prefix means."""

    places: Places
    chance: FloatArray
    weight: FloatArray
    minus_mean: FloatArray

    @classmethod
    def of(cls, pairs: Pairs, places: Places) -> _Side:
        """Take the pairs of one secret by outcome, in order, −1 where there is none."""
        own = places[places >= 0]
        chance, weight = np.cumsum(pairs.chance[own]), np.cumsum(pairs.weight[own])
        return cls(own, chance, weight, np.maximum.accumulate(-chance / weight))

    def split(self, pairs: Pairs, ratio: float) -> tuple[int, float]:
        """Count the outcomes taken wholly at this ratio, and the share of the next one."""
        whole = int(np.searchsorted(self.minus_mean, -ratio, side="right"))
        if whole == len(self.places):
            return whole, 0.0
        spare = (self.chance[whole - 1] - ratio * self.weight[whole - 1]) if whole else 0.0
        following = self.places[whole]
        lack = ratio * pairs.weight[following] - pairs.chance[following]
        return whole, float(np.clip(spare / lack, 0.0, 1.0)) if lack > 0 else 0.0

    def mass(self, pairs: Pairs, ratio: float) -> float:
        """m_x(t): the largest mass whose mean lift is at least t."""
        whole, share = self.split(pairs, ratio)
        start = float(self.weight[whole - 1]) if whole else 0.0
        return start + (share * float(pairs.weight[self.places[whole]]) if share else 0.0)


def solve_two_secrets(pairs: Pairs, goal: Goal, bracket: Bracket) -> Bracket:
    """Narrow a bracket by bisection on t over prefix sums."""
    sides = _sides(pairs)
    low, high = bracket.low, bracket.high
    while high - low > 1e-15 * high:
        middle = low + (high - low) / 2
        if not low < middle < high:
            break
        reached = sum(side.mass(pairs, middle) for side in sides) >= goal.delta
        low, high = (middle, high) if reached else (low, middle)
    thresholds = np.array([_boundary(side, pairs, high) for side in sides])
    proved = proved_ratio(pairs, thresholds, goal.delta, bracket.low, bracket.high)
    if proved < bracket.high:
        bracket = Bracket(bracket.low, proved, bracket.attack, thresholds)
    steps = (1e-15, 1e-13, 1e-12, goal.gap / 4, goal.gap / 2)
    for step in (step for step in steps if step >= goal.gap / 4 or step > margin(pairs)):
        attack = _attack(sides, pairs, low * (1 - step))
        reached_ratio, mass = evaluate(pairs, attack)
        if reached_ratio > bracket.low and goal.mass.holds(pairs, attack, mass):
            return Bracket(min(reached_ratio, bracket.high), bracket.high, attack, bracket.thresholds)
    return bracket


def _sides(pairs: Pairs) -> tuple[_Side, _Side]:
    """Sort for both secrets, in opposite orders also within a tie of ratios: else both would start it alike."""
    if pairs.complete:
        places = np.arange(2 * pairs.outcomes).reshape(-1, 2).T
        first, second = pairs.chance.reshape(-1, 2).T
    else:
        places = np.full((2, pairs.outcomes), -1)
        places[pairs.secret, pairs.outcome] = np.arange(len(pairs.chance))
        first, second = np.where(places >= 0, pairs.chance[places], 0.0)
    with np.errstate(divide="ignore", over="ignore"):
        order = np.argsort(second / first)
    return _Side.of(pairs, places[0, order]), _Side.of(pairs, places[1, order[::-1]])


def _boundary(side: _Side, pairs: Pairs, ratio: float) -> float:
    whole, _ = side.split(pairs, ratio)
    if whole == len(side.places):
        return pairs.least_threshold(ratio)
    following = float(pairs.lift[side.places[whole]])
    return min(following, ratio * (1 - 1e-12)) if whole else following * ABOVE


def _attack(sides: tuple[_Side, _Side], pairs: Pairs, ratio: float) -> Shares:
    weights = np.zeros(len(pairs.chance))
    for side in sides:
        whole, share = side.split(pairs, ratio)
        weights[side.places[:whole]] = 1.0
        if share:
            weights[side.places[whole]] = share * (1 - 1e-13)
    given = np.zeros(pairs.outcomes)
    first = sides[0].places
    given[pairs.outcome[first]] = weights[first]
    # what both could take goes to the first; taking less never lowers a mean
    second = sides[1].places
    weights[second] = np.minimum(weights[second], 1 - given[pairs.outcome[second]])
    return Shares.of(weights)
