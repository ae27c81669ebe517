"""Every measure of one channel and prior, computed together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tightlip.measures.distribution import PointwiseLeakage
from tightlip.measures.joint import join
from tightlip.measures.local import ldp
from tightlip.measures.maximal import maximal_cost_leakage, maximal_leakage
from tightlip.measures.pointwise import from_joint
from tightlip.measures.profile import privacy_profile, probabilistic_dp_tail, psi1, psi2
from tightlip.model.channel import Channel, align
from tightlip.model.prior import Prior
from tightlip.numeric.quantity import Alip, Nats, Probability, largest, level
from tightlip.showing import Shown, Tabled


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Summary(Shown, Tabled):
    """What one release leaks, by every pointwise and whole-channel measure; all guarantees, rounded up."""

    channel: Channel
    prior: Prior
    pml: PointwiseLeakage
    pmc: PointwiseLeakage
    maximal_leakage: Nats
    maximal_cost_leakage: Nats
    ldp: Nats

    @property
    def maximal_realizable_cost(self) -> Nats:
        """The PMC of the worst outcome."""
        return self.pmc.worst

    @property
    def alip(self) -> Alip:
        """The smallest (ε_l, ε_u) with −ε_l ≤ i(x; y) ≤ ε_u."""
        return Alip(lower=self.pmc.worst, upper=self.pml.worst)

    @property
    def lip(self) -> Nats:
        """The smallest ε with |i(x; y)| ≤ ε."""
        return largest(self.alip)

    def beyond(self, epsilon: Any) -> Beyond:
        """Compute how much probability escapes the level ε, in each sense."""
        shown = level(epsilon)
        return Beyond(
            epsilon=shown if isinstance(shown, Nats) else Nats(shown, rounding="nearest"),
            pml_tail=self.pml.tail(epsilon),
            pmc_tail=self.pmc.tail(epsilon),
            psi1=psi1(self.channel, self.prior, epsilon),
            psi2=psi2(self.channel, self.prior, epsilon),
            privacy_profile=privacy_profile(self.channel, epsilon, self.prior),
            probabilistic_dp_tail=probabilistic_dp_tail(self.channel, epsilon, self.prior),
        )

    def __repr__(self) -> str:
        return f"Summary({self.pml!r}; {self.pmc!r})"


@dataclass(frozen=True, slots=True)
class Beyond:
    """What escapes one level ε."""

    epsilon: Nats
    pml_tail: Probability
    pmc_tail: Probability
    psi1: Probability
    psi2: Probability
    privacy_profile: Probability
    probabilistic_dp_tail: Probability


def measure(channel: Channel, prior: Prior) -> Summary:
    """Compute every measure of one channel and prior.

    >>> from tightlip import Channel, Prior
    >>> found = measure(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), Prior(["1/5", "4/5"]))
    >>> found.ldp.ratio, found.maximal_leakage.ratio, found.lip.ratio
    (Fraction(3, 1), Fraction(3, 2), Fraction(13, 5))
    """
    joint = join(channel, prior)
    return Summary(
        channel=channel,
        prior=align(prior, channel),
        pml=from_joint(joint, "pml"),
        pmc=from_joint(joint, "pmc"),
        maximal_leakage=maximal_leakage(channel, prior),
        maximal_cost_leakage=maximal_cost_leakage(channel, prior),
        ldp=ldp(channel, prior),
    )
