"""The result about a statistic: two sound ends, the selection that reaches the lower one, and the proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from tightlip.errors import CertificateInvalid, InvalidInput
from tightlip.model.labels import Label
from tightlip.numeric.display import format_down, format_up, several
from tightlip.numeric.quantity import Nats
from tightlip.showing import Tabled


class Certificate(Protocol):
    """A proof of both ends that can be checked again without a solver."""

    def verify(self) -> None:
        """Raise CertificateInvalid unless the proof holds."""

    def ends(self) -> tuple[float, float]:
        """The ends in nats that the proof gives."""

    @property
    def kind(self) -> str:
        """The number that it bounds."""

    def digest(self) -> str:
        """A hash of the kind and of what the proof is about."""

    def to_json(self) -> str:
        """The proof with everything needed to check it."""


@dataclass(frozen=True, slots=True)
class StatisticLeakage(Tabled):
    """A leakage about a known statistic, in nats.

    Attributes
    ----------
    lower, upper : sound ends; `lower` is reached by `selection` and rounded down, `upper` is proved and rounded up
    exact : whether the proved ends met. For exact channels and deterministic ones they are then the same rational
        number e^Π (kept as `ratio`); for float channels they differ by a relative 1e-12 at most, the rounding of sums.
    selection : for each secret the row an adversary's worst-case prior puts it on
    method : how the ends were found, and why they did not meet where they did not
    certificate : the proof of both ends
    ratio : e^Π as a rational, where it is known exactly
    """

    lower: float
    upper: float
    exact: bool
    selection: Mapping[Label, Label]
    method: str
    certificate: Certificate
    ratio: Fraction | None = None

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise InvalidInput(f"lower must not exceed upper, got {self.lower!r} and {self.upper!r}.")

    @property
    def value(self) -> Nats:
        """The sound (upper) end, in nats."""
        return Nats(self.upper, self.ratio)

    @property
    def gap(self) -> float:
        """upper − lower, in nats."""
        return self.upper - self.lower if self.upper > self.lower else 0.0

    def verify(self) -> None:
        """Check the certificate in rational arithmetic, without a solver.

        Raises
        ------
        CertificateInvalid
            If it does not prove both ends.
        """
        self.certificate.verify()
        low, high = self.certificate.ends()
        if high > self.upper or self.lower > low:
            raise CertificateInvalid(
                f"the certificate proves {low!r} to {high!r} nats, not {self.lower!r} to {self.upper!r}."
            )

    def in_bits(self) -> float:
        """The sound end in bits, rounded up."""
        return self.value.in_bits()

    def __repr__(self) -> str:
        kind = "exact" if self.exact else "ends not met"
        return (
            f"StatisticLeakage({self.certificate.kind}, {format_down(self.lower)} to {format_up(self.upper)} nats, "
            f"{kind}, {several(len(self.selection), 'secret')}, by {self.method})"
        )
