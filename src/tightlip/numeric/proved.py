"""What every proved number has: two sound ends, the sound one as its value, how it was found, and its proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from tightlip.errors import CertificateInvalid, InvalidInput
from tightlip.showing import Shown

MET = 4e-9  # ends this near have met: twice what the search for one envelope leaves open, and more than any rounding


class Proof(Protocol):
    """A certificate, as far as a result needs it."""

    def verify(self) -> None:
        """Raise CertificateInvalid unless the proof holds."""

    def claim(self) -> Any:
        """State what it says: a `lower` and an `upper` end."""

    def save(self, path: Any, *, force: bool = False) -> None:
        """Write it to a file."""


class Proved(Shown):
    """A number known to lie in [lower, upper].

    Attributes
    ----------
    lower, upper : sound ends, rounded outward
    value : the sound end, that of a guarantee: `upper`
    gap : upper − lower
    exact : whether the ends met, so that they are roundings of one number
    method : how they were found, and why they did not meet where they did not
    certificate : the proof of both, or None where somebody wrote down the ends alone
    """

    __slots__ = ()

    if TYPE_CHECKING:  # a dataclass would take an inherited property for the default of its field

        @property
        def lower(self) -> float:
            """The lower end."""

        @property
        def upper(self) -> float:
            """The upper end."""

        @property
        def method(self) -> str:
            """How they were found."""

        @property
        def certificate(self) -> Proof | None:
            """The proof of both."""

    @property
    def value(self) -> float:
        """The sound (upper) end."""
        return self.upper

    @property
    def gap(self) -> float:
        """upper − lower."""
        return self.upper - self.lower if self.upper > self.lower else 0.0  # both may be infinite

    @property
    def exact(self) -> bool:
        """Whether the ends met, so that they are roundings of one number; apart by 4e-9 they still have."""
        return self.gap <= MET

    def verify(self) -> None:
        """Check the proof in exact or outward-rounded arithmetic, and that it is of these ends.

        A short proof needs no solver; where the computation is the proof, it is done again.

        Raises
        ------
        CertificateInvalid
            Naming what fails.
        InvalidInput
            When there is no certificate.
        """
        proof = self.proof()
        proof.verify()
        low, high = self.proved_ends()
        if high > self.upper or self.lower > low:
            raise CertificateInvalid(
                f"the certificate proves {low!r} to {high!r}, not {self.lower!r} to {self.upper!r}."
            )

    def proof(self) -> Any:
        """Return the certificate, or an error where there is none."""
        if self.certificate is None:
            raise InvalidInput(
                f"this result has no certificate (method: {self.method}); nothing to verify or to save."
            )
        return self.certificate

    def proved_ends(self) -> tuple[float, float]:
        """Return the ends that the certificate claims for this number."""
        claim = self.proof().claim()
        return claim.lower, claim.upper

    def save(self, path: Any, *, force: bool = False) -> None:
        """Write the certificate to a file that `tightlip.load` and `tightlip verify` read.

        Raises
        ------
        InvalidInput
            When there is no certificate, it is of a scipy distribution, which no file can describe, the file exists
            and `force` is not set, or it cannot be written.
        """
        self.proof().save(path, force=force)


def require_order(lower: float, upper: float) -> None:
    """Refuse ends that are not in order, or not numbers."""
    if not lower <= upper:
        raise InvalidInput(f"lower must not exceed upper, got lower={lower!r} and upper={upper!r}.")
