"""The proof of a design: a channel that keeps its guarantees, what it is worth, and what no other channel exceeds.

Checked without a solver: the channel in whole numbers, against every bound of `guarantee`; its worth; and the bound, by
prices for linear utilities (the theorem is in `linear`) and by prices and a knapsack for informations (`information`).

The proof of a design under an envelope has that of PML of the same level beside it: what no channel under the envelope
exceeds, less what the other one reaches, is the most that an envelope could gain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from tightlip.certificate.base import Certificate, Claim, kind_digest
from tightlip.designs.frequency import LEAST_VARIANCE
from tightlip.designs.guarantee import Guarantee, Vector, same_guarantees, secret_of, under_pml
from tightlip.designs.information import INFORMATIONS, read_information
from tightlip.designs.linear import Kernel, Problem, keeps
from tightlip.designs.utility import GREATEST_GAIN, LEAST_LOSS, Utility
from tightlip.errors import CertificateInvalid
from tightlip.model.channel import Channel, align
from tightlip.model.jsonio import number_to_json
from tightlip.model.labels import Label, Labels, labels_from_json
from tightlip.model.prior import Prior
from tightlip.numeric.quantity import real_end

_OWN = frozenset(
    {"guarantees", "weights", "scale", "proof", "claim"}
)  # what two proofs about the same differ in


@dataclass(frozen=True, slots=True, eq=False)
class DesignCertificate(Certificate):
    """Both ends of the best value of a mechanism under guarantees, with the mechanism that reaches one of them."""

    FORMAT: ClassVar[str] = "tightlip design certificate 1"
    KINDS: ClassVar[tuple[str, ...]] = (
        LEAST_LOSS,
        GREATEST_GAIN,
        *(read_information(name).kind for name in INFORMATIONS),
        LEAST_VARIANCE,
    )
    KEYS: ClassVar[frozenset[str]] = frozenset(
        {"prior", "secrets", "guarantees", "utility", "weights", "scale", "proof", "claim", "pml"}
    )
    ABOUT: ClassVar[str] = "prior, guarantees and utility"

    prior: Prior
    guarantees: tuple[Guarantee, ...]
    utility: Utility
    kernel: Kernel
    proof: Any
    lower: float
    upper: float
    pml: DesignCertificate | None = None

    @property
    def kind(self) -> str:
        """The number that it bounds."""
        return self.utility.kind

    @property
    def masses(self) -> Vector:
        """The prior as rationals that sum to 1."""
        return tuple(self.prior.exact().masses)

    @property
    def channel(self) -> Channel:
        """The mechanism, without outputs that never occur."""
        weights, names = self.kernel.weights, self.utility.outputs(self.kernel)
        used = [place for place, column in enumerate(weights.tolist()) if any(column)]
        rows = weights[used].T * Fraction(1, self.kernel.scale)
        outputs = Labels.of([names[place] for place in used], len(used), "outputs")
        return Channel(rows, self.prior.labels if self.prior.labels.given else None, outputs)

    def claim(self) -> Claim:
        """The best value lies between the two; under PML in an envelope's place, between two others."""
        return Claim(
            self.kind,
            self.lower,
            self.upper,
            unit=self.utility.unit,
            guarantees=tuple(own.words() for own in self.guarantees),
            prior=self.prior,
            pml=None if self.pml is None else (self.pml.lower, self.pml.upper),
            secret=secret_of(self.guarantees),
        )

    def verify(self) -> None:
        """Check that the channel is one and keeps every guarantee, its worth, the bound, and the proof beside it.

        Raises
        ------
        CertificateInvalid
            Naming what fails.
        """
        masses = self.masses
        if min(masses) <= 0:
            raise CertificateInvalid("the prior must give every secret a positive mass.")
        _check_kernel(self.kernel, len(masses))
        empty = np.zeros((len(masses), len(self.kernel.weights)), dtype=object)
        if not keeps(Problem(masses, empty, self.guarantees), self.kernel):
            raise CertificateInvalid("the mechanism does not keep its guarantees.")
        worth = self.utility.worth(masses, self.kernel)
        bound = self.utility.bound(masses, self.guarantees, self.proof)
        low, high = (-bound, -worth) if self.utility.minimised else (worth, bound)
        if low > high:
            raise CertificateInvalid(
                f"the proof says that {low!r} is a limit, which the mechanism beats: {high!r}."
            )
        if not (self.lower <= low and high <= self.upper):
            raise CertificateInvalid(
                f"the mechanism and the prices prove {low!r} to {high!r}, not {self.lower!r} to {self.upper!r}."
            )
        self._verify_pml()

    def _verify_pml(self) -> None:
        """Check the proof for PML, and that it is about the same with PML in the envelope's place."""
        if self.pml is None:
            return
        expected = under_pml(self.guarantees)
        if expected is None or not same_guarantees(self.pml.guarantees, expected):
            raise CertificateInvalid(
                "the proof beside it must be of PML of the envelope's level in its place."
            )
        self.pml.verify()

    def digest(self) -> str:
        """Hash the kind and what the proof is about."""
        about = {
            key: entry
            for key, entry in self.parts().items()
            if key in ("prior", "secrets", "guarantees", "utility")
        }
        return kind_digest(self.kind, about)

    def digest_for(self, channel: Channel, prior: Prior | None, secret: Sequence[Label] | None) -> str | None:
        """Hash the proof itself where the file has its mechanism, and no other prior."""
        if prior is not None and tuple(align(prior, channel).exact().masses) != self.masses:
            return None
        return self.digest() if channel.exact() == self.channel else None

    def parts(self) -> dict[str, Any]:
        """Write the proof as JSON values."""
        labels = self.prior.labels
        return {
            "prior": [number_to_json(mass) for mass in self.masses],
            "secrets": labels.to_json() if labels.given else None,
            "guarantees": [own.to_dict() for own in self.guarantees],
            "utility": self.utility.to_dict(),
            "weights": self.kernel.weights.tolist(),
            "scale": self.kernel.scale,
            "proof": self.utility.proof_to_dict(self.proof),
            "claim": [self.lower, self.upper],
            "pml": None if self.pml is None else self.pml._own_parts(),
        }

    def _own_parts(self) -> dict[str, Any]:
        """Write what it has of its own beside a proof about the same prior and utility."""
        return {key: entry for key, entry in self.parts().items() if key in _OWN}

    @classmethod
    def from_parts(cls, record: dict[str, Any]) -> DesignCertificate:
        """Read what `parts` wrote."""
        prior = Prior(record["prior"], labels_from_json(record["secrets"], "secrets"))
        utility = _of_kind(Utility.registry, record["utility"])
        utility.require(prior)
        if record["kind"] != utility.kind:
            raise ValueError(f"its kind must be {utility.kind!r}, as its utility says")
        found = cls._read_own(record, prior, utility)
        beside = record["pml"]
        if beside is None:
            return found
        if not isinstance(beside, dict) or set(beside) != _OWN:
            raise ValueError(f"pml must be null or have the keys {', '.join(sorted(_OWN))}")
        return replace(found, pml=cls._read_own(beside, prior, utility))

    @classmethod
    def _read_own(cls, record: dict[str, Any], prior: Prior, utility: Utility) -> DesignCertificate:
        """Read what a proof has of its own."""
        guarantees = tuple(_of_kind(Guarantee.registry, own) for own in record["guarantees"])
        if not guarantees:
            raise ValueError("there must be a guarantee")
        for own in guarantees:
            own.require(prior)
        weights = np.array(record["weights"], dtype=object)
        if weights.ndim != 2 or not all(
            type(entry) is int for entry in [record["scale"], *weights.ravel().tolist()]
        ):
            raise ValueError("weights must be a matrix of whole numbers")
        lower, upper = (real_end(end, "claim") for end in record["claim"])
        proof = utility.proof_from_dict(record["proof"])
        return cls(prior, guarantees, utility, Kernel(weights, record["scale"]), proof, lower, upper)


def _of_kind(registry: Any, record: Any) -> Any:
    if not isinstance(record, dict) or record.get("kind") not in registry:
        raise ValueError(f"a guarantee or utility must be one of {', '.join(registry)}")
    return registry[record["kind"]].from_dict(record)


def _check_kernel(kernel: Kernel, secrets: int) -> None:
    if kernel.weights.shape[1] != secrets:
        raise CertificateInvalid(f"the mechanism must have a weight for each of {secrets} secrets.")
    if kernel.scale < 1 or min(kernel.weights.ravel().tolist()) < 0:
        raise CertificateInvalid("the weights of a mechanism must not be negative.")
    for secret, total in enumerate(kernel.weights.sum(axis=0).tolist()):
        if total != kernel.scale:
            raise CertificateInvalid(
                f"the weights of secret {secret} must sum to {kernel.scale}, got {total}."
            )
