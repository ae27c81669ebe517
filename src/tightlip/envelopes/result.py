"""Results about envelopes: two sound ends, how they were found, and the proof."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol, get_args

from tightlip.arguments import listed
from tightlip.errors import CertificateInvalid, InvalidInput, quoted
from tightlip.model.channel import Channel
from tightlip.model.labels import Label
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.display import format_down, format_exactly, format_python, format_up
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import Nats
from tightlip.showing import Charted

Adversary = Literal["any", "deterministic", "k-ary", "ordered", "binary"]
ADVERSARIES: tuple[Adversary, ...] = get_args(Adversary)


class Certificate(Protocol):
    """A proof that can be checked again without a solver; its ends have a `ratio` e^ε each."""

    @property
    def lower(self) -> Any:
        """The proof of the lower end."""

    @property
    def upper(self) -> Any:
        """The proof of the upper end."""

    @property
    def attack(self) -> Channel | None:
        """The post-processing that reaches the lower end, where it is written out."""

    def verify(self) -> None:
        """Raise CertificateInvalid unless the proof holds."""

    def upper_at(self, delta: Fraction) -> Fraction | None:
        """What the upper end proves of e^ε at a probability; None if nothing."""

    def lower_at(self, delta: Fraction) -> Fraction:
        """What the lower end proves of e^ε at a probability."""

    @property
    def kind(self) -> str:
        """The number that it bounds."""

    def digest(self) -> str:
        """A hash of the kind and of what the proof is about."""

    def to_json(self) -> str:
        """The proof with everything needed to check it."""


@dataclass(frozen=True, slots=True)
class Envelope(Charted):
    """ε(δ): the largest leakage that some post-processing reaches with probability at least δ.

    Attributes
    ----------
    delta : the probability
    lower, upper : sound ends in nats; `lower` is rounded down and reached by `attack`, `upper` is rounded up
    method : how the ends were found, and why they do not meet where they do not
    adversary : whose post-processing is meant: any, deterministic, k-ary, ordered or binary (one event)
    witness : an attack that has no certificate; `attack` is this one or the certificate's
    certificate : the proof of both ends, where there is one
    solves : how many linear programs were solved for this δ
    """

    delta: Fraction
    lower: float
    upper: float
    method: str
    adversary: Adversary = "any"
    witness: Channel | None = None
    certificate: Certificate | None = None
    solves: int = 0

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise InvalidInput(f"lower must not exceed upper, got {self.lower!r} and {self.upper!r}.")

    @property
    def attack(self) -> Channel | None:
        """A Channel from outcomes to symbols that reaches `lower`, where there is one.

        Symbols are named after the secret they point to, and "rest"; those of an ordered adversary after the first
        and last outcome of each run.
        """
        if self.witness is not None or self.certificate is None:
            return self.witness
        return self.certificate.attack

    @property
    def value(self) -> Nats:
        """The sound (upper) end, in nats."""
        return Nats(self.upper)

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
        if self.certificate is None:
            raise InvalidInput(
                f"this envelope has no certificate (method: {self.method}); nothing to verify."
            )
        self.certificate.verify()
        low, high = proved_ends(self.certificate, self.delta)
        if high > self.upper or self.lower > low:
            raise CertificateInvalid(
                f"the certificate proves {low!r} to {high!r} nats, not {self.lower!r} to {self.upper!r}."
            )

    def in_bits(self) -> float:
        """The sound end in bits, rounded up."""
        return self.value.in_bits()

    def __repr__(self) -> str:
        return (
            f"Envelope(delta={format_python(self.delta)}, {format_down(self.lower)} to {format_up(self.upper)} nats, "
            f"adversary: {self.adversary}, by {self.method})"
        )


def rest_label(suspects: Iterable[Label]) -> str:
    """The name of the symbol for everything that points to no secret, unlike the names of those that do.

    >>> rest_label(["a", "rest"])
    "rest'"
    """
    taken, label = set(suspects), "rest"
    while label in taken:
        label += "'"
    return label


def proved_ends(certificate: Certificate, delta: Fraction) -> tuple[float, float]:
    """What a certificate that holds proves of ε(δ), in nats: the lower end rounded down, the upper one up.

    At δ = 0 the upper end is what no post-processing exceeds at all, and the lower end is 0.

    Raises
    ------
    CertificateInvalid
        If it proves no upper end at this probability, or δ is no probability.
    """
    most = certificate.upper_at(delta) if 0 <= delta <= 1 else None
    if most is None:
        raise CertificateInvalid(f"the certificate proves no upper end at δ = {format_exactly(delta)}.")
    least = certificate.lower_at(delta) if delta else 0
    low = log_bounds(Fraction(least))[0] if least > 1 else 0.0  # a release that says nothing leaks 0
    high = max(log_bounds(most)[1], 0.0)
    if low > high:
        raise CertificateInvalid(f"the certificate contradicts itself: {low!r} to {high!r} nats.")
    return low, high


def read_delta(delta: object, argument: str = "delta") -> Fraction:
    """Read a probability in (0, 1], exactly.

    >>> read_delta("0.1")
    Fraction(1, 10)
    """
    value = Fraction(number(delta, argument))
    if not 0 < value <= 1:
        raise InvalidInput(
            f"{argument} must be in (0, 1], got {argument}={quoted(delta)}; write 0.05 for 5 %."
        )
    return value


def read_deltas(deltas: object) -> list[Fraction]:
    """Read one or more probabilities in (0, 1].

    >>> read_deltas(["0.1", 0.5])
    [Fraction(1, 10), Fraction(1, 2)]
    """
    given = listed(deltas, "deltas", "probabilities")
    wanted = [read_delta(delta, f"deltas entry {place}") for place, delta in enumerate(given)]
    if not wanted:
        raise InvalidInput("deltas must hold at least one probability, got none; write [0.1].")
    return wanted
