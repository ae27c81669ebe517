"""The envelope of randomised response: exact for every prior and δ, in O(k log k).

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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.certificate.randomized_response import (
    Outcomes,
    RandomizedResponseCertificate,
    ResponseLowerProof,
    ResponseUpperProof,
    coverage,
    exact_sum,
)
from tightlip.envelope.result import Envelope, read_delta, rest_label
from tightlip.errors import InvalidInput, ShapeMismatch, WrongType, quoted
from tightlip.model.align import align
from tightlip.model.channel import Channel
from tightlip.model.labels import Labels
from tightlip.model.matrix import dense
from tightlip.model.prior import Prior
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.quantity import exact_ratio, level

_ATTACK_SIZE = 200
_LARGEST = 680.0  # as in the mechanism: e^−ε/k stays a normal float
_BLOCK = 4096

Pair = tuple[Fraction, Fraction]


def randomized_response_envelope(prior: Prior, epsilon: float, delta: object) -> Envelope:
    """ε_c(δ) of k-ary randomised response, for any prior (ENV, section V-B; exact beyond its Theorem 5).

    Parameters
    ----------
    prior : Prior
        Its length is k; secrets of mass 0 cannot be suspected, their outcomes can still occur.
    epsilon : float
        The parameter of the mechanism, in nats. The entries are those that `mechanism.randomized_response`
        stores: floats, or rationals for `log_of("2")`.
    delta : number
        In (0, 1].

    Returns
    -------
    Envelope
        Both ends are the same rational ratio, its logarithm rounded down and up. The attack is written out
        for up to 200 outcomes; the certificate holds it in closed form for any number.

    Raises
    ------
    InvalidInput
        If epsilon or delta is out of range.

    >>> from tightlip import Prior, log_of
    >>> found = randomized_response_envelope(Prior(["1/5", "3/10", "1/2"]), log_of(2), "2/5")
    >>> found.certificate.lower.ratio
    Fraction(20, 13)
    >>> found.verify()
    """
    _require_prior(prior)
    alpha, beta = response_entries(len(prior), epsilon)
    return _envelope_of(alpha, beta, prior, delta)


def channel_envelope(channel: Channel, prior: Prior, delta: object) -> Envelope:
    """ε_c(δ) of a channel that is randomised response, from its two entries as stored.

    >>> from tightlip import Channel, Prior
    >>> channel_envelope(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), Prior.uniform(2), 1).certificate.upper.ratio
    Fraction(3, 2)
    """
    aligned = align(prior, channel)
    pair = response_pair(channel)
    if pair is None:
        raise InvalidInput(
            f"channel must be randomised response (one value on the diagonal, a smaller one elsewhere), "
            f"got {channel!r}; use the general envelope."
        )
    return _envelope_of(*pair, aligned, delta, channel.outputs)


def is_randomized_response(channel: Channel) -> Fraction | float | None:
    """e^ε = α/β of a channel that is randomised response, infinite for the identity; None for other channels.

    Rows and columns must stand in the same order. A channel whose entries are all equal has ratio 1.

    >>> from tightlip import Channel
    >>> is_randomized_response(Channel([["3/4", "1/4"], ["1/4", "3/4"]]))
    Fraction(3, 1)
    >>> is_randomized_response(Channel([["3/4", "1/4"], ["1/2", "1/2"]])) is None
    True
    """
    pair = response_pair(channel)
    if pair is None:
        return None
    alpha, beta = pair
    return alpha / beta if beta else math.inf


def response_pair(channel: Channel) -> Pair | None:
    """The two entries (α, β) of a channel that is randomised response, as stored; None for other channels."""
    if not isinstance(channel, Channel):
        raise WrongType(f"channel must be a Channel, got {quoted(channel)}; write Channel(rows).")
    size = channel.shape[0]
    if size < 2 or channel.shape[1] != size or (channel.is_sparse and size < channel.floats.nnz < size**2):
        return None
    matrix = channel.matrix
    alpha, beta = Fraction(matrix[0, 0]), Fraction(matrix[0, 1])
    if not alpha or alpha < beta or not bool((matrix.diagonal() == matrix[0, 0]).all()):
        return None
    if channel.is_sparse and channel.floats.nnz == size:  # the diagonal alone
        return alpha, beta
    if np.count_nonzero(dense(matrix) == matrix[0, 1]) != (
        size * size if alpha == beta else size * size - size
    ):
        return None
    return alpha, beta


def response_entries(size: int, epsilon: float) -> Pair:
    """(α, β) of k-ary randomised response, the very numbers that `mechanism.randomized_response` stores.

    >>> from tightlip import log_of
    >>> response_entries(3, log_of(2))
    (Fraction(1, 2), Fraction(1, 4))
    """
    amount = level(epsilon)
    ratio = exact_ratio(amount)
    if ratio is not None:
        return ratio / (ratio + size - 1), 1 / (ratio + size - 1)
    if amount > _LARGEST:
        raise InvalidInput(
            f"epsilon must be at most {_LARGEST:g} for float entries, got epsilon={float(amount)!r}; "
            "give an exact level like log_of(10**400)."
        )
    shrink = math.exp(-float(amount))
    return Fraction(1 / (1 + (size - 1) * shrink)), Fraction(shrink / (1 + (size - 1) * shrink))


def _envelope_of(
    alpha: Fraction | float,
    beta: Fraction | float,
    prior: Prior,
    delta: object,
    outputs: Labels | None = None,
) -> Envelope:
    """The envelope from the two entries; outcomes stand in the order of the secrets."""
    wanted = read_delta(delta)
    certificate = _certify(Fraction(alpha), Fraction(beta), prior, wanted)
    low, high = log_bounds(certificate.lower.ratio)
    names = prior.labels if outputs is None else outputs
    if len(names) != len(prior):
        raise ShapeMismatch(
            f"outputs must be as many as secrets, got {len(names)} for {len(prior)}; add or drop some."
        )
    small = len(prior) <= _ATTACK_SIZE
    return Envelope(
        delta=wanted,
        lower=max(0.0, low),  # stored floats can sum to a little over 1; no release leaks less than nothing
        upper=max(0.0, high),
        method="closed form for randomised response"
        + ("" if small else f"; attack in the certificate, not written out above {_ATTACK_SIZE} outcomes"),
        witness=_attack(certificate, names) if small else None,
        certificate=certificate,
    )


def _require_prior(prior: object) -> None:
    if not isinstance(prior, Prior):
        raise WrongType(
            f"prior must be a Prior, got {quoted(prior)}; write Prior(masses) or Prior.uniform(n)."
        )


def _certify(alpha: Fraction, beta: Fraction, prior: Prior, delta: Fraction) -> RandomizedResponseCertificate:
    ranking = _Ranking.of(alpha, beta, prior)
    mass = min(delta, ranking.covered(ranking.size))
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
    masses: NDArray[Any]
    block_sums: list[Fraction]

    @classmethod
    def of(cls, alpha: Fraction, beta: Fraction, prior: Prior) -> _Ranking:
        positive = prior.masses[prior.masses > 0]
        ordered = (
            np.sort(positive)
            if positive.dtype != object
            else np.array(sorted(positive.tolist()), dtype=object)
        )
        sums = [Fraction(0)]
        for start in range(0, len(ordered), _BLOCK):
            sums.append(sums[-1] + exact_sum(ordered[start : start + _BLOCK]))
        idle = len(prior) - len(ordered) if beta else 0  # without β they never occur
        return cls(Outcomes(alpha, beta, prior.masses, sums[-1]), idle, ordered, sums)

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
        mass = self.block_sums[block] + exact_sum(self.masses[block * _BLOCK : count])
        return count * self.flat + (self.outcomes.alpha - self.outcomes.beta) * mass

    def suspect(self, place: int) -> Fraction:
        """q_j, counting from 1."""
        return self.outcomes.probability(Fraction(self.masses[place - 1]))

    def covered(self, count: int) -> Fraction:
        """The probability of the least likely outcomes of all."""
        if count <= self.idle:
            return count * self.flat
        return self.idle * self.flat + self.suspects(count - self.idle)

    def number(self, mass: Fraction) -> Fraction:
        """N: how many of the least likely outcomes make up a probability, the last one in part."""
        whole = last_true(lambda count: self.covered(count) < mass, 0, self.size - 1)
        place = whole + 1 - self.idle
        return whole + (mass - self.covered(whole)) / (self.suspect(place) if place > 0 else self.flat)


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
    return ResponseLowerProof(ratio, Fraction(frontier), rest / (ties * ranking.suspect(last)))


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
    """How many of the ordered suspects satisfy a condition that holds for the first ones only."""
    return last_true(holds, 0, len(ranking.masses))


def last_true(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The largest integer in (low, high] where a condition that turns false once still holds; low if nowhere.

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


def _attack(certificate: RandomizedResponseCertificate, names: Labels) -> Channel:
    """The post-processing of the lower proof: the suspects take the joined outcomes in turn."""
    proof = certificate.lower
    outcomes = Outcomes.of(certificate.alpha, certificate.beta, certificate.prior)
    own, full, part = (np.flatnonzero(mask).tolist() for mask in coverage(proof, outcomes))
    q = {place: outcomes.probability(Fraction(outcomes.masses[place])) for place in [*own, *full, *part]}
    rows = np.full((len(names), len(own) + 1), Fraction(0), dtype=object)
    rows[own, range(len(own))] = Fraction(1)
    spare = [outcomes.alpha - proof.ratio * q[place] for place in own]
    symbol = 0
    for place in [*full, *part]:
        left = Fraction(1) if place in full else proof.fraction
        use = proof.ratio * q[place] - outcomes.beta
        while left and symbol < len(own):
            share = min(left, spare[symbol] / use) if use > 0 else left
            rows[place, symbol] += share
            left -= share
            spare[symbol] -= share * use
            symbol += bool(left)
    rows[:, -1] = 1 - rows[:, :-1].sum(axis=1)
    symbols: list[Any] = [certificate.prior.labels[place] for place in own]
    if rows[:, -1].any():
        return Channel(rows, names, [*symbols, rest_label(symbols)])
    return Channel(rows[:, :-1], names, symbols)
