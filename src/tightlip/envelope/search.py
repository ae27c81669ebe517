"""Closing in on e^{ε_c(δ)}: dual thresholds push the upper end down, attacks the lower end up.

Thresholds found at one ratio prove an upper end at another (G_θ falls in t), so solving the program at the
upper end itself is a Newton step; in between, the middle of the bracket is tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tightlip.envelope.attack import repaired, worth
from tightlip.envelope.dual import proved_ratio
from tightlip.envelope.pairs import Pairs
from tightlip.envelope.program import RestrictedProgram, leading
from tightlip.numeric.parse import FloatArray

Enough = Callable[[FloatArray], bool]

_MOST_SOLVES = 120
_START_EACH = 4
_ADD_EACH = 3


@dataclass(frozen=True, slots=True)
class Bracket:
    """low ≤ e^{ε_c(δ)} ≤ high, with the attack and the thresholds that prove it (None: not by these)."""

    low: float
    high: float
    weights: FloatArray | None
    thresholds: FloatArray | None
    solves: int = 0


def search(
    pairs: Pairs, delta: float, bracket: Bracket, gap: float, enough: Enough, program: RestrictedProgram
) -> Bracket:
    """Narrow a bracket until its ends are within a relative gap, or nothing more can be gained.

    `enough` decides whether the weights of an attack surely have probability δ; `program` may have been used
    before, for another δ.
    """
    bracket = _with_thresholds(pairs, delta, bracket, np.zeros(pairs.secrets))
    if program.last is not None:
        bracket = _with_thresholds(pairs, delta, bracket, program.last)
    if program.attack is not None:
        bracket = _with_attack(pairs, enough, bracket, program.attack, bracket.low)
    if bracket.high <= bracket.low * (1 + gap):
        return bracket
    wide = bracket.high > bracket.low * 1.01
    ratio = math.sqrt(bracket.low * bracket.high) if wide else bracket.high
    if not len(program.chosen):
        program.add(leading(pairs, pairs.lift, _START_EACH))
    program.move(ratio)
    stuck, leap = 0, 0.5
    while bracket.high > bracket.low * (1 + gap) and bracket.solves < _MOST_SOLVES and stuck < 4:
        _, prices, multipliers, chosen = program.solve()
        thresholds = program.last = program.thresholds(multipliers)
        before = bracket
        bracket = replace(bracket, solves=bracket.solves + 1)
        bracket = _with_thresholds(pairs, delta, bracket, thresholds)
        bracket = _with_attack(pairs, enough, bracket, program.weights(chosen), ratio)
        added = price(program, prices, thresholds)
        narrowed = (bracket.low, bracket.high) != (before.low, before.high)
        stuck = 0 if narrowed or added else stuck + 1
        leap = 2 * leap if bracket.low == before.low else 0.0
        ratio = _next_ratio(bracket, before, ratio, gap / 2, stuck, leap)
        leap = max(leap, 0.5)
        program.move(ratio)
    program.attack = bracket.weights
    return bracket


def _with_thresholds(pairs: Pairs, delta: float, bracket: Bracket, thresholds: FloatArray) -> Bracket:
    proved = proved_ratio(pairs, thresholds, delta, bracket.low, bracket.high)
    if proved < bracket.high:
        return replace(bracket, high=proved, thresholds=thresholds)
    return bracket


def _with_attack(
    pairs: Pairs, enough: Enough, bracket: Bracket, weights: FloatArray, ratio: float
) -> Bracket:
    """Try the attack mended to reach the ratio, and as it is: near δ = 1 there is no weight to spare."""
    for attempt in (repaired(pairs, weights, ratio), weights):
        reached, _ = worth(pairs, attempt)
        if reached > bracket.low and enough(attempt):
            bracket = replace(bracket, low=min(reached, bracket.high), weights=attempt)
    return bracket


def price(program: RestrictedProgram, prices: FloatArray, thresholds: FloatArray) -> int:
    """Let in the pairs that would improve the program most, a few for each outcome; how many were new."""
    worth_of = program.worth(prices, thresholds)
    wanted = worth_of > 1e-12 * program.pairs.weight
    if not wanted.any():
        return 0
    places = np.flatnonzero(wanted)
    order = np.lexsort((-worth_of[places], program.pairs.outcome[places]))
    places = places[order]
    first = np.flatnonzero(np.diff(program.pairs.outcome[places], prepend=-1))
    rank = np.arange(len(places)) - np.repeat(first, np.diff(np.append(first, len(places))))
    return program.add(places[rank < _ADD_EACH])


def _next_ratio(
    bracket: Bracket, before: Bracket, ratio: float, gap: float, stuck: int, leap: float
) -> float:
    """Where to solve next: at the upper end (a Newton step), or below it by a growing multiple of its last step."""
    low, high = bracket.low, bracket.high
    middle = math.sqrt(low * high)
    if stuck:  # the optimum at this ratio says no more: go to the attack's side of the upper end
        return high * (1 - gap * (0.3 if stuck == 1 else 0.9))
    if high > low * 1.01:
        return middle
    step = before.high - high
    if step < high * gap / 8:
        return high * (1 - gap / 3) if step or low > before.low else min(ratio, high)
    return max(high - leap * step, middle)
