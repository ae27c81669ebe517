"""The largest ratio of randomised response at one δ, with its proof: exact for every prior and δ, in O(k log k).

K_xx = α, K_xy = β ≤ α, S = Σ p, q_y = βS + (α − β) p_y, and a ratio t = e^ε.

*At one ratio.* A secret x can be suspected only if t q_x ≤ α: otherwise every term of its constraint
w_xx (α − t q_x) − Σ_{y≠x} w_xy (t q_y − β) ≥ 0 is negative. Add the constraints of the secrets that can:
what their own outcomes spare, at most Σ (α − t q_x), bounds what the other outcomes use up, t q_y − β each.
Per unit of probability that is t − β/q_y, least for small q_y, so the best is to cover the others in
ascending q until the spare is gone. It is attained: spare splits at will among the symbols.

*For one δ.* Let j suspects be those of least positive mass, A_j their probability, and N_j the (fractional)
number of other outcomes, in ascending q, that make up δ − A_j. What is spared is enough if and only if
    jα − t A_j ≥ t(δ − A_j) − βN_j,   that is   t ≤ τ_j = (jα + βN_j)/δ   (τ_j = ∞ if A_j ≥ δ).
Fewer suspects than possible is still an attack, so
    e^{ε_c(δ)} = max_j min{α/q_j, τ_j}.
α/q_j falls with j, and τ_j grows (one more suspect adds α and saves the others q_j/S ≤ α at most), so the
maximum is where they cross: a rational number, found by bisection on j in exact arithmetic. If every mass
is positive, N_j = N − j with N the number for the whole of δ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from tightlip.certificate.randomized_response import (
    Masses,
    Outcomes,
    RandomizedResponseCertificate,
    ResponseLowerProof,
    ResponseUpperProof,
)
from tightlip.model.prior import Prior

_BLOCK = 4096


def certify(alpha: Fraction, beta: Fraction, prior: Prior, delta: Fraction) -> RandomizedResponseCertificate:
    """Prove the envelope: both ends are the same ratio."""
    ranking = _Ranking.of(alpha, beta, prior)
    mass = min(delta, ranking.mass_of_least(ranking.size))
    ratio = _best_ratio(ranking, mass)
    return RandomizedResponseCertificate(
        alpha,
        beta,
        prior,
        delta,
        ResponseUpperProof(ratio, _price(ranking, ratio)),
        _frontier(ranking, ratio, mass),
    )


@dataclass(frozen=True, slots=True)
class _Ranking:
    """Outcomes in ascending probability: `idle` ones whose secret has mass 0, then the others."""

    outcomes: Outcomes
    idle: int
    masses: Masses
    block_sums: list[Fraction]

    @classmethod
    def of(cls, alpha: Fraction, beta: Fraction, prior: Prior) -> _Ranking:
        masses = Masses.of(prior.masses)
        ranked, sums = masses.sort_positive(), [Fraction(0)]
        for start in range(0, len(ranked), _BLOCK):
            sums.append(sums[-1] + ranked.total(slice(start, start + _BLOCK)))
        idle = len(prior) - len(ranked) if beta else 0  # without β they never occur
        return cls(Outcomes(alpha, beta, masses, sums[-1]), idle, ranked, sums)

    @property
    def size(self) -> int:
        return self.idle + len(self.masses)

    @property
    def flat(self) -> Fraction:
        """The probability of an idle outcome, βS."""
        return self.outcomes.beta * self.outcomes.total

    def suspects(self, count: int) -> Fraction:
        """A_j: the probability of the outcomes of the j least positive masses."""
        block = count // _BLOCK
        mass = self.block_sums[block] + self.masses.total(slice(block * _BLOCK, count))
        return count * self.flat + (self.outcomes.alpha - self.outcomes.beta) * mass

    def suspect(self, place: int) -> Fraction:
        """q_j, counting from 1."""
        return self.outcomes.probability(self.masses[place - 1])

    def mass_of_least(self, count: int) -> Fraction:
        """Add up the probability of the least likely outcomes of all."""
        if count <= self.idle:
            return count * self.flat
        return self.idle * self.flat + self.suspects(count - self.idle)

    def number(self, mass: Fraction) -> Fraction:
        """N: how many of the least likely outcomes make up a probability, the last one in part."""
        whole = last_true(lambda count: self.mass_of_least(count) < mass, 0, self.size - 1)
        place = whole + 1 - self.idle
        return whole + (mass - self.mass_of_least(whole)) / (self.suspect(place) if place > 0 else self.flat)


def _best_ratio(ranking: _Ranking, mass: Fraction) -> Fraction:
    """max_j min{α/q_j, τ_j}, by bisection for the last j with τ_j ≤ α/q_j."""
    alpha, beta = ranking.outcomes.alpha, ranking.outcomes.beta
    number = ranking.number(mass)

    def bound(count: int) -> Fraction | None:
        missing = mass - ranking.suspects(count)
        if missing <= 0:
            return None
        idle_enough = missing <= ranking.idle * ranking.flat
        others = missing / ranking.flat if idle_enough else number - count
        return (count * alpha + beta * others) / mass

    def pays(count: int) -> bool:
        found = bound(count)
        return found is not None and found * ranking.suspect(count) <= alpha

    most = len(ranking.masses)
    count = last_true(pays, 0, most)
    ends = [bound(count)] if count else []
    if count < most:
        ends.append(alpha / ranking.suspect(count + 1))
    return max(end for end in ends if end is not None)


def _frontier(ranking: _Ranking, ratio: Fraction, mass: Fraction) -> ResponseLowerProof:
    """Which outcomes the suspects at this ratio have to be joined by to reach the mass."""
    count = _count(ranking, lambda place: ranking.suspect(place) * ratio <= ranking.outcomes.alpha)
    missing = mass - ranking.suspects(count)
    idle = ranking.idle * ranking.flat
    if missing <= 0:
        return ResponseLowerProof(ratio, Fraction(0), Fraction(0))
    if missing <= idle:
        return ResponseLowerProof(ratio, Fraction(0), missing / idle)
    last = math.ceil(ranking.number(mass)) - ranking.idle
    frontier = ranking.masses[last - 1]
    first = max(count, _count(ranking, lambda place: ranking.masses[place - 1] < frontier))
    ties = _count(ranking, lambda place: ranking.masses[place - 1] <= frontier) - first
    rest = mass - ranking.suspects(first) - idle
    return ResponseLowerProof(ratio, frontier, rest / (ties * ranking.suspect(last)))


def _price(ranking: _Ranking, ratio: Fraction) -> Fraction | None:
    """μ = q/(T q − β) of the outcome at which the spare of a slightly larger ratio runs out."""
    alpha, beta = ranking.outcomes.alpha, ranking.outcomes.beta
    count = _count(ranking, lambda place: ranking.suspect(place) * ratio < alpha)
    if not count:
        return None
    base = ranking.suspects(count)
    spare = count * alpha - ratio * base

    def affordable(others: int) -> bool:
        joined = min(others, ranking.idle) * ranking.flat
        if others > ranking.idle:
            joined += ranking.suspects(count + others - ranking.idle) - base
        return ratio * joined - others * beta <= spare

    most = ranking.size - count
    place = min(last_true(affordable, 0, most) + 1, most)
    marginal = ranking.flat if place <= ranking.idle else ranking.suspect(count + place - ranking.idle)
    return marginal / (ratio * marginal - beta)


def _count(ranking: _Ranking, holds: Callable[[int], bool]) -> int:
    """Count the ordered suspects that satisfy a condition that holds for the first ones only."""
    return last_true(holds, 0, len(ranking.masses))


def last_true(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Find the largest integer in (low, high] where a condition that turns false once still holds; low if nowhere.

    >>> last_true(lambda n: n * n <= 30, 0, 100)
    5
    """
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low
