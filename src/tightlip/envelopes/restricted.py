"""Envelopes of adversaries who may not do everything: what deterministic and k-ary attacks share.

For a post-processing Z of Y the objective is the right quantile of ℓ(Z): the largest level that symbols
of total probability δ all reach. Fix the level log t. A symbol z reaches it when some secret x, its
suspect, has Σ_y W_yz (K_xy − t q_y) ≥ 0. That is closed under addition, so

1. bad symbols with one suspect may be merged: at most one bad symbol for each secret is needed;
2. the symbols that are not bad may be merged into one, the rest.

The chain is: binary ≤ k-ary ≤ any, and deterministic with k symbols ≤ deterministic ≤ any. A randomised
event is **not** always matched by a deterministic map: with X = Y, p = (1/5, 4/5) and δ = 1/2 the event
form reaches log 2 and no deterministic map more than log 5/4; in ENV Example 1 at δ = 1/5, 5/3 and 6/5.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from tightlip.arguments import whole
from tightlip.envelopes.knapsack import solve_exactly
from tightlip.envelopes.known_bounds import bounds as envelope_bounds
from tightlip.envelopes.known_bounds import count_bound
from tightlip.measures.joint import ExactJoint, FloatJoint
from tightlip.model.channel import Channel
from tightlip.model.matrix import dense_columns
from tightlip.model.prior import Prior


def read_symbols(symbols: object) -> int | None:
    """Read how many symbols an adversary may use; None is any number."""
    if symbols is None:
        return None
    return whole(symbols, "symbols", 1, remedy="an adversary sees something: write 2")


def general_upper(
    channel: Channel, prior: Prior, delta: Fraction, joint: ExactJoint | FloatJoint, symbols: int | None
) -> float:
    """Find the best general bound; k symbols leak at most ℒ(Z) + log 1/δ ≤ log min(k, N)/δ."""
    secrets = len(joint.secrets)
    count = secrets if symbols is None else min(symbols, secrets)
    return min(envelope_bounds(channel, prior, delta).upper, count_bound(count, delta, exact=joint.exact))


@dataclass(frozen=True, slots=True)
class Rationals:
    """K and q of the possible secrets and outcomes, as the rationals that are stored."""

    rows: list[list[Fraction]]
    marginal: list[Fraction]

    @classmethod
    def of(cls, joint: ExactJoint | FloatJoint) -> Rationals:
        """Read a channel and a prior."""
        columns = dense_columns(joint.given_matrix, joint.places)
        rows = [[Fraction(entry) for entry in row] for row in columns.tolist()]
        weights = [Fraction(mass) for mass in joint.given_weights.tolist()]
        marginal = [
            sum((mass * entry for mass, entry in zip(weights, column, strict=True) if entry), Fraction(0))
            for column in zip(*rows, strict=True)
        ]
        return cls(rows, marginal)

    def tail_ratio(self, suspects: Iterable[int], delta: Fraction) -> Fraction:
        """Bound t_S(δ) above by the mean of max_{x∈S} K_xy/q_y over its largest part of mass δ."""
        peaks = [max(column) for column in zip(*(self.rows[place] for place in suspects), strict=True)]
        return solve_exactly(peaks, self.marginal, [delta])[0].ratio
