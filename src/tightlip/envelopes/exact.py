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
from tightlip.certificate.quick import FloatRelease, surely_hold
from tightlip.certificate.randomized_response import response_pair
from tightlip.certificate.rational import RationalRelease
from tightlip.envelopes.attack import Shares, has_mass, margin, proof, worth
from tightlip.envelopes.bracket import Aim, Bracket, how_found, with_attack
from tightlip.envelopes.coarse import search_by_groups, worth_grouping
from tightlip.envelopes.pairs import Pairs, Places, pairs_of
from tightlip.envelopes.response import channel_envelope
from tightlip.envelopes.result import Envelope, read_deltas
from tightlip.envelopes.search import Search
from tightlip.envelopes.two_secrets import two_secrets
from tightlip.errors import InvalidInput
from tightlip.measures.distribution import PointwiseLeakage
from tightlip.measures.joint import ExactJoint, FloatJoint, join
from tightlip.measures.pointwise import from_joint
from tightlip.model.align import align
from tightlip.model.channel import Channel
from tightlip.model.prior import Prior
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.parse import FloatArray, float_number
from tightlip.numeric.rounding import up

GAP = 1e-9
_MOST_RESPONSES = 200  # larger randomised response has an exact closed form too, but no attack is written out
ALWAYS_VERIFIED = 100_000
_IN_A_ROW = 1_000_000  # pairs, those of each point counted
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

    >>> from tightlip import papers, Prior
    >>> found = envelope(papers.env_example_1(), Prior.uniform(4), "0.2")
    >>> round(float(found.value), 9), round(float(np.exp(found.lower)), 6)
    (0.893817876, 2.444444)
    >>> found.verify()
    """
    return envelope_curve(channel, prior, [delta], gap=gap)[0]


def envelope_curve(
    channel: Channel, prior: Prior, deltas: Iterable[Any], *, gap: float = GAP
) -> list[Envelope]:
    """The envelope at several δ, in the order given; work is shared between them.

    With up to 10⁵ pairs of secret and outcome each point's proof is checked before it is returned: in floats with a
    bound on every rounding, and in rationals where these cannot tell. `verify()` of a point does it in rationals.

    >>> from tightlip import papers, Prior
    >>> curve = envelope_curve(papers.env_example_1(), Prior.uniform(4), ["0.1", "0.5"])
    >>> [round(point.upper, 6) for point in curve]
    [1.386294, 0.412845]
    """
    wanted = read_deltas(deltas)
    # an attack for a larger δ serves a smaller one
    order = sorted(dict.fromkeys(wanted), key=float, reverse=True)
    found = dict(zip(order, _points(channel, prior, order, gap), strict=True))
    return [found[delta] for delta in wanted]


def envelope_points(
    channel: Channel, prior: Prior, deltas: Iterable[Any], *, gap: float = GAP
) -> Iterator[Envelope]:
    """The points of `envelope_curve` as they are found; of small channels many at once."""
    yield from _points(channel, prior, read_deltas(deltas), gap)


def _points(channel: Channel, prior: Prior, wanted: list[Fraction], gap: float) -> Iterator[Envelope]:
    allowed = float_number(gap, "gap")
    if not 1e-12 <= allowed < 1:
        raise InvalidInput(f"gap must be in [1e-12, 1), got {allowed!r}; 1e-9 is the default.")
    aligned = align(prior, channel)
    if 2 < channel.shape[0] <= _MOST_RESPONSES and response_pair(channel) is not None:
        yield from (channel_envelope(channel, aligned, delta) for delta in wanted)
        return
    release = Release.of(channel, aligned)
    yield from release.envelopes(wanted, allowed)


@dataclass(frozen=True, slots=True)
class _Found:
    """The bracket of one δ, and the probability that its proof is for."""

    delta: Fraction
    mass: Fraction
    bracket: Bracket


@dataclass(frozen=True)
class Release:
    """A channel and prior made ready for the search, which remembers what it learned at other δ."""

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
    def search(self) -> Search:
        """The search over the outcomes."""
        return Search(self.pairs)

    @cached_property
    def rationals(self) -> RationalRelease:
        """What proofs are checked against."""
        return RationalRelease.of(self.channel, self.prior)

    @cached_property
    def floats(self) -> FloatRelease:
        """What proofs are checked against when there are many."""
        return FloatRelease.of(self.channel, self.prior)

    def envelope(self, delta: Fraction, gap: float) -> Envelope:
        """ε_c(δ) with its certificate, which was checked where there are up to 10⁵ pairs."""
        return next(self.envelopes([delta], gap))

    def envelopes(self, deltas: list[Fraction], gap: float) -> Iterator[Envelope]:
        """The same for one δ after another.

        Where the program is small several are searched for before all are proved: either goes faster in a row.
        """
        in_a_row = max(_IN_A_ROW // len(self.pairs.chance), 1)
        for first in range(0, len(deltas), in_a_row):
            found = [self._found(delta, gap) for delta in deltas[first : first + in_a_row]]
            certificates = [self._certificate(one.bracket, one.mass) for one in found]
            if (
                len(self.pairs.chance) <= ALWAYS_VERIFIED
            ):  # a solver's answer is none until its proof is checked
                self._check(certificates, in_floats=len(deltas) > 1)
            for one, certificate in zip(found, certificates, strict=True):
                method = how_found(one.bracket, gap, by_sorting=self.pairs.secrets == 2)
                yield _result(certificate, one.delta, method)

    def _found(self, delta: Fraction, gap: float) -> _Found:
        everything = self._everything if delta > _NEAR_ALL else None
        mass = delta if everything is None else min(delta, everything)  # stored floats may sum to less than 1
        surely = up(float(mass))

        def enough(attack: Shares, reached: float) -> bool:
            return reached >= surely or has_mass(self.pairs, attack, reached, self.joint, mass, everything)

        aim = Aim(float(mass), max(gap, self._least_gap), enough)
        start = self._start(aim, mass)
        if start.within(aim.gap):
            return _Found(delta, mass, start)
        if self.pairs.secrets == 2:
            return _Found(delta, mass, two_secrets(self.pairs, aim, start))
        if worth_grouping(self.pairs):
            return _Found(delta, mass, search_by_groups(self.pairs, aim, start))
        return _Found(delta, mass, self._searched(aim, start))

    @cached_property
    def _everything(self) -> Fraction:
        """The exact probability of all outcomes."""
        return self.joint.exact_mass(range(len(self.joint.outcomes)))

    @cached_property
    def _least_gap(self) -> float:
        """Floats come no closer."""
        return 3 * margin(self.pairs)

    def _check(self, certificates: list[EnvelopeCertificate], *, in_floats: bool) -> None:
        """Raise unless all hold; in rationals where floats do not tell."""
        told = [False] * len(certificates)
        if in_floats and self.pairs.complete:  # else several dense copies would not fit the memory
            told = surely_hold(certificates, self.floats)
        for certificate, holds in zip(certificates, told, strict=True):
            if not holds:
                certificate.verify_for(self.rationals)

    def _searched(self, aim: Aim, start: Bracket) -> Bracket:
        """By the search that knows other δ, and anew where that leaves a gap."""
        known = self.search.used
        found = self.search.narrow(aim, start)
        if found.within(aim.gap) or not known:
            return found
        vars(self)["search"] = Search(self.pairs)  # what was learned did harm
        return self.search.narrow(aim, found)

    def _start(self, aim: Aim, mass: Fraction) -> Bracket:
        """The outcomes themselves are an attack: the worst of them, each blamed on its likeliest secret.

        Unless these decide, an attack that was found for a larger δ is better. What was proved for a smaller δ holds.
        """
        order, reached = self._worst_first
        known: Search | None = vars(self).get("search")
        if known is not None and reached[self._worst - 1] < aim.delta * (1 - 1e-9):
            found = known.attack_for(aim.delta)
            if found is not None:
                return found._replace(high=self._highest, thresholds=None, solves=0, stopped="")
        count = min(int(np.searchsorted(reached, float(mass) * (1 - 1e-12))) + 1, len(order))
        while True:
            attack = Shares(self._suspects[:count], np.ones(count))
            ratio, weight = worth(self.pairs, attack)
            if count == len(order) or aim.enough(attack, weight):
                break
            count += 1
        start = Bracket(min(ratio, self._highest), self._highest, attack, thresholds=None)
        if count > 1:  # fewer leak more, and the mass they lack costs them as much of it
            fewer = int((np.exp(self.leak.values[order[: count - 1]]) * reached[: count - 1]).argmax()) + 1
            start = with_attack(self.pairs, aim, start, Shares(self._suspects[:fewer], np.ones(fewer)), 0.0)
        proved = None if known is None else known.proof_for(aim.delta)
        if proved is None or proved.high <= start.low:
            return start
        return start._replace(high=proved.high, thresholds=proved.thresholds)

    @cached_property
    def _highest(self) -> float:
        """The largest lift, rounded up."""
        return float(np.exp(self.leak.worst)) * (1 + 1e-15)

    @cached_property
    def _worst_first(self) -> tuple[Places, FloatArray]:
        """The outcomes from the largest leakage down, and the probability of as many."""
        order = np.argsort(-self.leak.values)
        return order, np.cumsum(self.pairs.marginal[order])

    @cached_property
    def _worst(self) -> int:
        """How many outcomes have the largest leakage, or nearly."""
        return int((self.leak.values >= self.leak.worst - 1e-6).sum())

    @cached_property
    def _suspects(self) -> Places:
        """The pair of largest lift of each outcome, from the worst outcome down."""
        return np.asarray(self.pairs.leads[self._worst_first[0]])

    def _certificate(self, found: Bracket, mass: Fraction) -> EnvelopeCertificate:
        upper = self._upper_proof(found, mass)
        assert found.attack is not None
        lower = proof(
            self.pairs, found.attack, self.joint, self.channel, ratio=Fraction(found.low), mass=mass
        )
        return EnvelopeCertificate(self.channel, self.prior, upper, lower)

    def _upper_proof(self, found: Bracket, mass: Fraction) -> UpperProof:
        if found.thresholds is None:
            close = np.flatnonzero(self.leak.values >= self.leak.lower.max())  # no other can be the worst
            return UpperProof(max(self.joint.exact_lift(int(place)) for place in close), mass, None)
        return UpperProof(Fraction(found.high), mass, self.multipliers(found.thresholds, found.high))

    def multipliers(self, thresholds: FloatArray, ratio: float) -> tuple[float, ...]:
        """λ_x = 1/(t − θ_x) for every secret of the channel, 0 for impossible ones."""
        found = np.zeros(self.channel.shape[0])
        found[self.joint.support] = 1 / (ratio - thresholds)
        return tuple(found.tolist())


def _result(certificate: EnvelopeCertificate, delta: Fraction, method: str) -> Envelope:
    high = max(log_bounds(certificate.upper.ratio)[1], 0.0)
    return Envelope(
        delta=delta,
        lower=min(max(log_bounds(certificate.lower.ratio)[0], 0.0), high),
        upper=high,
        method=method,
        certificate=certificate,
    )
