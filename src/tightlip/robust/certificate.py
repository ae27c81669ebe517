"""The certificates of both ends of an envelope over a set of priors."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from tightlip.certificate.base import Certificate, Claim, channel_json, kind_digest
from tightlip.certificate.envelope import EnvelopeCertificate, EnvelopeProof
from tightlip.certificate.randomized_response import RandomizedResponseCertificate
from tightlip.errors import CertificateInvalid, InvalidInput, quoted
from tightlip.model.align import align
from tightlip.model.channel import Channel
from tightlip.model.jsonio import check_keys
from tightlip.model.labels import Label
from tightlip.model.prior import Prior
from tightlip.model.prior_set import AnyPriorSet, PriorList, prior_set_from_dict, prior_set_to_dict
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.display import format_exactly
from tightlip.numeric.parse import exact_text, number
from tightlip.robust.proof import CellsProof, Likelihoods, WholeProof, proof_from_dict
from tightlip.robust.region import Region, region_of

KIND: Final = "robust envelope"
_WITNESSES: dict[str, type[EnvelopeProof]] = {
    known.FORMAT: known for known in (EnvelopeCertificate, RandomizedResponseCertificate)
}


class RobustCertificate(Certificate):
    """A proof of both ends at one δ that can be checked again without a solver."""

    __slots__ = ()
    KINDS: ClassVar[tuple[str, ...]] = (KIND,)
    ABOUT: ClassVar[str] = "channel and set of priors"

    if TYPE_CHECKING:  # fields of the dataclasses below

        @property
        def channel(self) -> Channel:
            """The channel."""

        @property
        def prior_set(self) -> AnyPriorSet:
            """The set of priors."""

        @property
        def delta(self) -> Fraction:
            """The probability."""

    @property
    def kind(self) -> Literal["robust envelope"]:
        """The number that it bounds: the largest ε(δ) under any prior of a set."""
        return KIND

    @property
    @abstractmethod
    def witness(self) -> EnvelopeProof:
        """The proof, under one prior of the set, of the lower end."""

    @property
    @abstractmethod
    def upper_ratio(self) -> Fraction:
        """e^ε that no post-processing exceeds under any prior of the set."""

    @property
    def prior(self) -> Prior:
        """The prior of the set under which the lower end is reached."""
        return self.witness.prior

    @property
    def lower_ratio(self) -> Fraction:
        """e^ε that the attack reaches under it."""
        return self.witness.lower_at(self.delta)

    def claim(self) -> Claim:
        """Tell both ends in nats."""
        lower, upper = log_bounds(self.lower_ratio)[0], log_bounds(self.upper_ratio)[1]
        return Claim(self.kind, max(lower, 0.0), max(upper, 0.0), delta=self.delta)

    def digest(self) -> str:
        """Compute a hash of the kind, the channel and the set that the proof is about."""
        return _digest(self.channel, self.prior_set)

    def digest_for(self, channel: Channel, prior: Prior | None, secret: Sequence[Label] | None) -> str | None:
        """Hash the kind, the channel of a file and the same set; None for a file whose prior is not in it."""
        if prior is not None and align(prior, channel) not in self.prior_set:
            return None
        return _digest(channel, self.prior_set)


@dataclass(frozen=True, slots=True)
class RegionCertificate(RobustCertificate):
    """Both ends over a convex set of priors: an envelope under one member, and multipliers for all."""

    FORMAT: ClassVar[str] = "tightlip robust envelope certificate 2"
    KEYS: ClassVar[frozenset[str]] = frozenset({"channel", "prior_set", "delta", "worst", "ratio", "proof"})

    channel: Channel
    prior_set: AnyPriorSet
    delta: Fraction
    worst: EnvelopeProof
    ratio: Fraction
    proof: CellsProof | WholeProof

    @property
    def witness(self) -> EnvelopeProof:
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
        region = _region(self.prior_set, self.channel)
        known = Likelihoods.of(self.channel, region)
        self.proof.check(region, known, self.ratio, known.reachable(self.delta))

    def parts(self) -> dict[str, Any]:
        """Write the question, the envelope under the worst prior and the multipliers as JSON values."""
        return {
            **_question(self),
            "worst": json.loads(self.worst.to_json()),
            "ratio": exact_text(self.ratio),
            "proof": self.proof.to_dict(),
        }

    @classmethod
    def from_parts(cls, record: dict[str, Any]) -> RegionCertificate:
        """Read what `parts` wrote."""
        channel, prior_set, delta = _read_question(record)
        _region(prior_set, channel)
        ratio = Fraction(number(record["ratio"], "ratio"))
        return cls(
            channel, prior_set, delta, _read_witness(record["worst"]), ratio, proof_from_dict(record["proof"])
        )


@dataclass(frozen=True, slots=True)
class ListCertificate(RobustCertificate):
    """Both ends over a list of priors: the envelope under each of them."""

    FORMAT: ClassVar[str] = "tightlip robust envelope over a list certificate 2"
    KEYS: ClassVar[frozenset[str]] = frozenset({"channel", "prior_set", "delta", "envelopes"})

    channel: Channel
    prior_set: PriorList
    delta: Fraction
    envelopes: tuple[EnvelopeProof, ...]

    @property
    def witness(self) -> EnvelopeProof:
        """The envelope with the largest lower end."""
        return max(self.envelopes, key=lambda one: one.lower_at(self.delta))

    @property
    def upper_ratio(self) -> Fraction:
        """The largest that is proved under one of the priors."""
        found = [one.upper_at(self.delta) for one in self.envelopes]
        proved = [ratio for ratio in found if ratio is not None]
        if len(proved) != len(found):
            raise CertificateInvalid(
                f"upper end fails: an envelope is not about δ = {format_exactly(self.delta)}."
            )
        return max(proved)

    def verify(self) -> None:
        """Check that there is an envelope for each prior, and each envelope."""
        priors = [align(prior, self.channel) for prior in self.prior_set]
        if len(self.envelopes) != len(priors):
            raise CertificateInvalid(
                f"both ends fail: the list has {len(priors)} priors, got {len(self.envelopes)} envelopes."
            )
        for place, (one, prior) in enumerate(zip(self.envelopes, priors, strict=True)):
            if one.prior != prior:
                raise CertificateInvalid(
                    f"both ends fail: the envelope of prior {place} is about another one."
                )
            _require_about(one, self.channel, self.delta)
            one.verify()
        _ = self.upper_ratio

    def parts(self) -> dict[str, Any]:
        """Write the question and the envelope under each prior as JSON values."""
        return {**_question(self), "envelopes": [json.loads(one.to_json()) for one in self.envelopes]}

    @classmethod
    def from_parts(cls, record: dict[str, Any]) -> ListCertificate:
        """Read what `parts` wrote."""
        channel, prior_set, delta = _read_question(record)
        if not isinstance(prior_set, PriorList):
            raise ValueError("the priors must be a list")
        region_of(prior_set, channel)
        return cls(channel, prior_set, delta, tuple(_read_witness(one) for one in record["envelopes"]))


def _region(prior_set: AnyPriorSet, channel: Channel) -> Region:
    """The convex set in the order of the channel's secrets."""
    region = region_of(prior_set, channel)
    if isinstance(region, tuple):
        raise CertificateInvalid("upper end fails: a list of priors is no convex set.")
    return region


def _digest(channel: Channel, prior_set: AnyPriorSet) -> str:
    return kind_digest(KIND, {"channel": channel_json(channel), "prior_set": prior_set_to_dict(prior_set)})


def _question(certificate: RobustCertificate) -> dict[str, Any]:
    return {
        "channel": certificate.channel.to_dict(),
        "prior_set": prior_set_to_dict(certificate.prior_set),
        "delta": exact_text(certificate.delta),
    }


def _read_question(record: dict[str, Any]) -> tuple[Channel, AnyPriorSet, Fraction]:
    delta = Fraction(number(record["delta"], "delta"))
    if not 0 < delta <= 1:
        raise InvalidInput(f"delta must be in (0, 1], got {quoted(record['delta'])}")
    return Channel.from_dict(record["channel"]), prior_set_from_dict(record["prior_set"]), delta


def _read_witness(record: Any) -> EnvelopeProof:
    """The certificate of an envelope under one prior."""
    check_keys(record, "an envelope", {"format"}, set(record))
    if record["format"] not in _WITNESSES:
        raise InvalidInput(f"an envelope must be one against any adversary, got {quoted(record['format'])}")
    return _WITNESSES[record["format"]].from_json(json.dumps(record))


def _require_about(found: EnvelopeProof, channel: Channel, delta: Fraction) -> None:
    """Refuse an envelope of another channel or probability, however well proved."""
    if not found.is_about(channel):
        raise CertificateInvalid("lower end fails: its envelope is about another channel.")
    if found.lower_at(delta) != found.lower.ratio:
        raise CertificateInvalid(f"lower end fails: its envelope is not about δ = {format_exactly(delta)}.")
