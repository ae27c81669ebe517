"""The envelope of randomised response: exact for every prior and δ (see response_ranking.py), with the attack.

K_xx = α, K_xy = β ≤ α: found from the parameter, or recognised in a channel.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tightlip.certificate.randomized_response import (
    Outcomes,
    RandomizedResponseCertificate,
    coverage,
    response_pair,
)
from tightlip.envelopes.response_ranking import certify
from tightlip.envelopes.result import Envelope, read_delta, rest_label
from tightlip.errors import InvalidInput, ShapeMismatch, WrongType, quoted
from tightlip.mechanism.named import kept_below
from tightlip.model.channel import Channel, align
from tightlip.model.labels import Labels
from tightlip.model.prior import Prior
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.quantity import exact_ratio, level

_ATTACK_SIZE = 200
_LARGEST = 680.0  # as in the mechanism: e^−ε/k stays a normal float

Pair = tuple[Fraction, Fraction]


def randomized_response(prior: Prior, epsilon: float, delta: object) -> Envelope:
    """Compute ε_c(δ) of k-ary randomised response, for any prior (ENV, section V-B; exact beyond its Theorem 5).

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
    >>> found = randomized_response(Prior(["1/5", "3/10", "1/2"]), log_of(2), "2/5")
    >>> found.certificate.lower.ratio
    Fraction(20, 13)
    >>> found.verify()
    """
    _require_prior(prior)
    alpha, beta = response_entries(len(prior), epsilon)
    return _envelope_of(alpha, beta, prior, delta)


def channel_envelope(channel: Channel, prior: Prior, delta: object) -> Envelope:
    """Compute ε_c(δ) of a channel that is randomised response, from its two entries as stored.

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
    truth, other = 1 / (1 + (size - 1) * shrink), shrink / (1 + (size - 1) * shrink)
    return Fraction(kept_below(truth, other, amount)), Fraction(other)


def _envelope_of(
    alpha: Fraction | float,
    beta: Fraction | float,
    prior: Prior,
    delta: object,
    outputs: Labels | None = None,
) -> Envelope:
    """Compute the envelope from the two entries; outcomes stand in the order of the secrets."""
    wanted = read_delta(delta)
    certificate = certify(Fraction(alpha), Fraction(beta), prior, wanted)
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


def _attack(certificate: RandomizedResponseCertificate, names: Labels) -> Channel:
    """Write down the post-processing of the lower proof: the suspects take the joined outcomes in turn."""
    proof = certificate.lower
    outcomes = Outcomes.of(certificate.alpha, certificate.beta, certificate.prior)
    own, full, part = (np.flatnonzero(mask).tolist() for mask in coverage(proof, outcomes))
    q = {place: outcomes.probability(outcomes.masses[place]) for place in [*own, *full, *part]}
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
