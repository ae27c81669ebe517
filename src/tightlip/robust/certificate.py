"""The certificates of both ends of an envelope over a set of priors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightlip.envelope.result import Envelope
from tightlip.errors import CertificateInvalid
from tightlip.model.channel import Channel
from tightlip.model.prior import Prior
from tightlip.robust.proof import CellsProof, Likelihoods, WholeProof
from tightlip.robust.region import AnyPriorSet, Region, region_of


class RobustCertificate(ABC):
    """A proof of both ends that can be checked again without a solver."""

    __slots__ = ()

    @property
    @abstractmethod
    def witness(self) -> Envelope:
        """The envelope, under one prior of the set, that proves the lower end."""

    @property
    @abstractmethod
    def upper_ratio(self) -> Fraction:
        """e^ε that no post-processing exceeds under any prior of the set."""

    @abstractmethod
    def verify(self) -> None:
        """Check both ends in rational arithmetic.

        Raises
        ------
        CertificateInvalid
            Naming what fails.
        """

    @property
    def prior(self) -> Prior:
        """The prior of the set under which the lower end is reached."""
        prior: Prior = _proof(self.witness).prior
        return prior

    @property
    def lower_ratio(self) -> Fraction:
        """e^ε that the attack reaches under it."""
        return Fraction(_proof(self.witness).lower.ratio)


@dataclass(frozen=True, slots=True)
class RegionCertificate(RobustCertificate):
    """Both ends over a convex set of priors: an envelope under one member, and multipliers for all."""

    channel: Channel
    prior_set: AnyPriorSet
    worst: Envelope
    ratio: Fraction
    mass: Fraction
    proof: CellsProof | WholeProof

    @property
    def witness(self) -> Envelope:
        """The envelope under the worst prior found."""
        return self.worst

    @property
    def upper_ratio(self) -> Fraction:
        """What the multipliers prove."""
        return self.ratio

    def verify(self) -> None:
        """Check that the prior is a member, its envelope, and the multipliers."""
        if self.prior not in self.prior_set:
            raise CertificateInvalid("lower end fails: its prior is not in the set.")
        self.worst.verify()
        region = region_of(self.prior_set, self.channel)
        assert isinstance(region, Region)
        self.proof.check(region, Likelihoods.of(self.channel, region), self.ratio, self.mass)


@dataclass(frozen=True, slots=True)
class ListCertificate(RobustCertificate):
    """Both ends over a list of priors: the envelope under each of them."""

    envelopes: tuple[Envelope, ...]

    @property
    def witness(self) -> Envelope:
        """The envelope with the largest lower end."""
        return max(self.envelopes, key=lambda one: one.lower)

    @property
    def upper_ratio(self) -> Fraction:
        """The largest that is proved under one of the priors."""
        return max(Fraction(_proof(one).upper.ratio) for one in self.envelopes)

    def verify(self) -> None:
        """Check each envelope."""
        for one in self.envelopes:
            one.verify()


def _proof(found: Envelope) -> Any:
    """The certificate of an exact envelope, which always has one."""
    assert found.certificate is not None
    return found.certificate
