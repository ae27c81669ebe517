"""Results over sets of priors: two sound ends, the prior that reaches the lower one, and how they were found."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Self

from tightlip.errors import CertificateInvalid
from tightlip.model.channel import Channel
from tightlip.model.labels import Label
from tightlip.model.prior import Prior
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.display import format_down, format_exactly, format_python, format_up
from tightlip.numeric.proved import require_order
from tightlip.numeric.quantity import Nats, ProvedLeakage, ProvedNats
from tightlip.robust.certificate import RobustCertificate
from tightlip.robust.leakage_certificate import LeakageCertificate


class RobustLeakage(ProvedNats):
    """The largest leakage under any prior of a set, in nats: a float rounded up, with the prior that reaches it.

    Attributes
    ----------
    lower : the same rounded down
    ratio : e^value exactly, where channel and set are exact and the value is finite
    method : how it was found
    outcome, secret : the worst outcome and the secret that it speaks for (or against); None for an average
    prior : the worst prior, a member of the set in the channel's order; None where no one member stands for it
    attained : whether the leakage under `prior` is this; False where members next to it only come as near as one likes
    certificate : the proof of both ends
    """

    __slots__ = ("attained", "certificate", "lower", "method", "outcome", "prior", "secret")
    lower: float
    method: str
    outcome: Label
    secret: Label
    prior: Prior | None
    attained: bool
    certificate: LeakageCertificate

    def __new__(
        cls,
        amount: Nats,
        lower: float,
        *,
        method: str,
        prior: Prior | None,
        attained: bool,
        certificate: LeakageCertificate,
        outcome: Label = None,
        secret: Label = None,
    ) -> Self:
        """Attach the witness to the amount."""
        self = super().__new__(cls, amount, amount.ratio)
        self.lower, self.method = lower, method
        self.outcome, self.secret = outcome, secret
        self.prior, self.attained = prior, attained
        self.certificate = certificate
        return self

    def __reduce__(self) -> tuple[object, ...]:
        witness = {name: getattr(self, name) for name in self.__slots__ if name != "lower"}
        return partial(type(self), **witness), (Nats(float(self), self.ratio), self.lower)


def log_ends(ratio: Fraction) -> tuple[float, float]:
    """Ends of log(ratio), at least 0: stored floats may put a largest lift a rounding below 1."""
    lower, upper = log_bounds(ratio)
    return max(lower, 0.0), max(upper, 0.0)


@dataclass(frozen=True, slots=True)
class RobustEnvelope(ProvedLeakage):
    """sup over the priors of a set of ε_c(δ): what some post-processing reaches with probability δ under some prior.

    Attributes
    ----------
    delta : the probability
    lower : what `attack` reaches under `prior`, in nats, rounded down
    upper : what no post-processing exceeds under any prior of the set, in nats, rounded up
    method : how the ends were found, and why they do not meet where they do not
    prior : the worst prior found, a member of the set
    attack : a Channel from outcomes to symbols, where one is written out
    certificate : the proof of both ends
    """

    delta: Fraction
    lower: float
    upper: float
    method: str
    prior: Prior
    attack: Channel | None
    certificate: RobustCertificate

    def __post_init__(self) -> None:
        require_order(self.lower, self.upper)

    def verify(self) -> None:
        """Check the proof of both ends in rational arithmetic, without a solver.

        Raises
        ------
        CertificateInvalid
            If it does not prove them, or is about another δ.
        """
        if self.certificate.delta != self.delta:
            raise CertificateInvalid(
                f"the certificate is about δ = {format_exactly(self.certificate.delta)}, "
                f"not {format_exactly(self.delta)}."
            )
        ProvedLeakage.verify(self)  # super() does not know a class that slots made anew

    def __repr__(self) -> str:
        return (
            f"RobustEnvelope(delta={format_python(self.delta)}, {format_down(self.lower)} to "
            f"{format_up(self.upper)} nats, by {self.method})"
        )
