"""The PML envelope, exactly: what leakage survives any post-processing with failure probability δ.

    ε_c(δ) = sup over channels Y → Z of the right quantile of ℓ(Z) at δ
           = log of the largest t with V(t) ≥ δ      (see pairs.py and docs/envelope.md)

The answer is a bracket whose ends are proved separately; how it was found does not matter to the proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from tightlip.certificate.envelope import EnvelopeCertificate, UpperProof
from tightlip.certificate.rational import RationalRelease
from tightlip.envelope.attack import has_mass, proof, worth
from tightlip.envelope.coarse import search_by_groups, worth_grouping
from tightlip.envelope.pairs import Pairs, Places, pairs_of
from tightlip.envelope.program import RestrictedProgram
from tightlip.envelope.randomized_response import channel_envelope, response_pair
from tightlip.envelope.result import Envelope, read_delta
from tightlip.envelope.search import Bracket, search
from tightlip.envelope.two_secrets import two_secrets
from tightlip.errors import InvalidInput
from tightlip.measure.distribution import PointwiseLeakage
from tightlip.measure.joint import ExactJoint, FloatJoint, join
from tightlip.measure.pointwise import from_joint
from tightlip.model.align import align
from tightlip.model.channel import Channel
from tightlip.model.prior import Prior
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.parse import FloatArray, number

GAP = 1e-9
_MOST_RESPONSES = 200  # larger randomised response has an exact closed form too, but no attack is written out
_ALWAYS_VERIFIED = 100_000
_NEAR_ALL = Fraction(999, 1000)


def envelope(channel: Channel, prior: Prior, delta: Any, *, gap: float = GAP) -> Envelope:
    """ε_c(δ): the largest leakage that some post-processing reaches with probability at least δ.

    Parameters
    ----------
    channel : Channel
    prior : Prior
    delta : probability in (0, 1]
    gap : float
        The relative gap allowed between the ends of e^ε.

    Returns
    -------
    Envelope
        Two sound ends in nats, the attack that reaches the lower one, and the certificate of both.

    >>> from tightlip import mechanism, Prior
    >>> found = envelope(mechanism.env_example_1(), Prior.uniform(4), "0.2")
    >>> round(float(found.epsilon), 9), round(float(np.exp(found.lower)), 6)
    (0.893817876, 2.444444)
    >>> found.verify()
    """
    return envelope_curve(channel, prior, [delta], gap=gap)[0]


def envelope_curve(
    channel: Channel, prior: Prior, deltas: Iterable[Any], *, gap: float = GAP
) -> list[Envelope]:
    """The envelope at several δ, in the order given; work is shared between them.

    >>> from tightlip import mechanism, Prior
    >>> curve = envelope_curve(mechanism.env_example_1(), Prior.uniform(4), ["0.1", "0.5"])
    >>> [round(point.upper, 6) for point in curve]
    [1.386294, 0.412845]
    """
    wanted = [read_delta(delta) for delta in deltas]
    order = sorted(set(wanted), reverse=True)  # an attack for a larger δ serves a smaller one
    found = dict(zip(order, envelope_points(channel, prior, order, gap=gap), strict=True))
    return [found[delta] for delta in wanted]


def envelope_points(
    channel: Channel, prior: Prior, deltas: Iterable[Any], *, gap: float = GAP
) -> Iterator[Envelope]:
    """The points of `envelope_curve` one by one, as they are found."""
    wanted = [read_delta(delta) for delta in deltas]
    allowed = float(number(gap, "gap"))
    if not 1e-12 <= allowed < 1:
        raise InvalidInput(f"gap must be in [1e-12, 1), got {allowed!r}; 1e-9 is the default.")
    aligned = align(prior, channel)
    if 2 < channel.shape[0] <= _MOST_RESPONSES and response_pair(channel) is not None:
        yield from (channel_envelope(channel, aligned, delta) for delta in wanted)
        return
    release = Release.of(channel, aligned)
    for delta in wanted:
        yield release.envelope(delta, allowed)


@dataclass(frozen=True)
class Release:
    """A channel and prior made ready for the search; the program remembers what it learned at other δ."""

    channel: Channel
    prior: Prior
    joint: ExactJoint | FloatJoint
    pairs: Pairs
    leak: PointwiseLeakage

    @classmethod
    def of(cls, channel: Channel, prior: Prior) -> Release:
        """Join, and find the pairs."""
        joint = join(channel, prior)
        pairs = pairs_of(joint)
        return cls(channel, prior, joint, pairs, from_joint(joint, "pml"))

    @cached_property
    def program(self) -> RestrictedProgram:
        """The program over the outcomes."""
        return RestrictedProgram(self.pairs, 1.0)

    @cached_property
    def rationals(self) -> RationalRelease:
        """What proofs are checked against."""
        return RationalRelease.of(self.channel, self.prior)

    def envelope(self, delta: Fraction, gap: float) -> Envelope:
        """ε_c(δ) with its certificate."""
        mass = delta
        if delta > _NEAR_ALL:  # stored floats may sum to less than 1
            mass = min(delta, self.joint.exact_mass(range(len(self.joint.outcomes))))

        def enough(weights: FloatArray, reached: float) -> bool:
            return has_mass(self.pairs, weights, reached, self.joint, mass)

        start = self._start(mass)
        if start.high <= start.low * (1 + gap):
            found = start
        elif self.pairs.secrets == 2:
            found = two_secrets(self.pairs, float(mass), start, gap, enough)
        elif worth_grouping(self.pairs):
            found = search_by_groups(self.pairs, float(mass), start, gap, enough)
        else:
            found = search(self.pairs, float(mass), start, gap, enough, self.program)
        return self._certified(found, delta, mass, gap)

    def _start(self, mass: Fraction) -> Bracket:
        """The outcomes themselves are an attack: the worst of them, each blamed on its likeliest secret."""
        order, reached = self._worst_first
        count = min(int(np.searchsorted(reached, float(mass) * (1 - 1e-12))) + 1, len(order))
        while True:
            weights = _blame(self.pairs, order[:count])
            ratio, weight = worth(self.pairs, weights)
            if count == len(order) or has_mass(self.pairs, weights, weight, self.joint, mass):
                break
            count += 1
        high = float(np.exp(self.leak.worst)) * (1 + 1e-15)
        return Bracket(low=min(ratio, high), high=high, weights=weights, thresholds=None)

    @cached_property
    def _worst_first(self) -> tuple[Places, FloatArray]:
        """The outcomes from the largest leakage down, and the probability of as many."""
        order = np.argsort(-self.leak.values, kind="stable")
        return order, np.cumsum(self.pairs.marginal[order])

    def _certified(self, found: Bracket, delta: Fraction, mass: Fraction, gap: float) -> Envelope:
        upper = self._upper_proof(found, mass)
        assert found.weights is not None
        lower = proof(
            self.pairs, found.weights, self.joint, self.channel, ratio=Fraction(found.low), mass=mass
        )
        high = max(log_bounds(upper.ratio)[1], 0.0)
        certificate = EnvelopeCertificate(self.channel, self.prior, upper, lower)
        if len(self.pairs.chance) <= _ALWAYS_VERIFIED:  # a solver's answer is none until its proof is checked
            certificate.verify_for(self.rationals)
        return Envelope(
            delta=delta,
            lower=min(max(log_bounds(lower.ratio)[0], 0.0), high),
            upper=high,
            method=_method(found, gap),
            adversary="any",
            attack=lower.attack,
            certificate=certificate,
        )

    def _upper_proof(self, found: Bracket, mass: Fraction) -> UpperProof:
        if found.thresholds is None:
            close = np.flatnonzero(self.leak.values >= self.leak.lower.max())  # no other can be the worst
            return UpperProof(max(self.joint.exact_lift(int(place)) for place in close), mass, None)
        return UpperProof(Fraction(found.high), mass, self.multipliers(found.thresholds, found.high))

    def multipliers(self, thresholds: FloatArray, ratio: float) -> tuple[Fraction, ...]:
        """λ_x = 1/(t − θ_x) for every secret of the channel, 0 for impossible ones."""
        found = np.zeros(self.channel.shape[0])
        found[self.joint.support] = 1 / (ratio - thresholds)
        return tuple(map(Fraction, found.tolist()))


def _blame(pairs: Pairs, outcomes: Places) -> FloatArray:
    """Give each of some outcomes wholly to the secret with the largest lift."""
    chosen = np.zeros(pairs.outcomes, dtype=bool)
    chosen[outcomes] = True
    best = pairs.best(pairs.chance)
    leads = np.flatnonzero((pairs.chance == best[pairs.outcome]) & chosen[pairs.outcome])
    first = leads[np.flatnonzero(np.diff(pairs.outcome[leads], prepend=-1))]
    weights = np.zeros(len(pairs.chance))
    weights[first] = 1.0
    return weights


def _method(found: Bracket, gap: float) -> str:
    if found.thresholds is None and found.solves == 0:
        text = "the worst outcomes decide"
    else:
        how = f"linear program, {found.solves} solves" if found.solves else "sorting two secrets"
        text = f"{how}, proved by thresholds and an attack"
    if found.high > found.low * (1 + gap):
        text += f"; the ends could not be brought closer than {found.high / found.low - 1:.1e}"
    return text
