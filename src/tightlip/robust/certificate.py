"""The certificates of both ends of an envelope over a set of priors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightlip.envelopes.result import Envelope
from tightlip.errors import CertificateInvalid
from tightlip.model.align import align
from tightlip.model.channel import Channel
from tightlip.model.prior import Prior
from tightlip.model.prior_set import PriorList
from tightlip.numeric.display import format_exactly
from tightlip.robust.proof import CellsProof, Likelihoods, WholeProof
from tightlip.robust.region import AnyPriorSet, Region, region_of


class RobustCertificate(ABC):
    """A proof of both ends at one δ that can be checked again without a solver."""

    __slots__ = ()
    delta: Fraction

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
    delta: Fraction
    worst: Envelope
    ratio: Fraction
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
        _require_about(self.worst, self.channel, self.delta)
        self.worst.verify()
        region = region_of(self.prior_set, self.channel)
        assert isinstance(region, Region)
        known = Likelihoods.of(self.channel, region)
        self.proof.check(region, known, self.ratio, known.reachable(self.delta))


@dataclass(frozen=True, slots=True)
class ListCertificate(RobustCertificate):
    """Both ends over a list of priors: the envelope under each of them."""

    channel: Channel
    prior_set: PriorList
    delta: Fraction
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
        """Check that there is an envelope for each prior, and each envelope."""
        priors = [align(prior, self.channel) for prior in self.prior_set]
        if len(self.envelopes) != len(priors):
            raise CertificateInvalid(
                f"both ends fail: the list has {len(priors)} priors, got {len(self.envelopes)} envelopes."
            )
        for place, (one, prior) in enumerate(zip(self.envelopes, priors, strict=True)):
            if _proof(one).prior != prior:
                raise CertificateInvalid(
                    f"both ends fail: the envelope of prior {place} is about another one."
                )
            _require_about(one, self.channel, self.delta)
            one.verify()


def _require_about(found: Envelope, channel: Channel, delta: Fraction) -> None:
    """Refuse an envelope of another channel or probability, however well proved."""
    if not _proof(found).is_about(channel):
        raise CertificateInvalid("lower end fails: its envelope is about another channel.")
    if found.delta != delta:
        raise CertificateInvalid(f"lower end fails: its envelope is not about δ = {format_exactly(delta)}.")


def _proof(found: Envelope) -> Any:
    """The certificate of an exact envelope, which always has one."""
    assert found.certificate is not None
    return found.certificate
