"""Results about envelopes: two sound ends, how they were found, and the proof."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, get_args

from tightlip.arguments import listed
from tightlip.certificate.envelope import EnvelopeProof
from tightlip.certificate.recomputation import Recomputation
from tightlip.errors import InvalidInput, quoted
from tightlip.model.channel import Channel
from tightlip.model.labels import Label
from tightlip.numeric.display import format_down, format_python, format_up
from tightlip.numeric.parse import number
from tightlip.numeric.proved import require_order
from tightlip.numeric.quantity import ProvedLeakage
from tightlip.showing import Charted

Adversary = Literal["any", "deterministic", "k-ary", "ordered", "binary"]
ADVERSARIES: tuple[Adversary, ...] = get_args(Adversary)
# the method of which `Envelope.solves` counts the linear programs
COLUMN_GENERATION: Final = "column generation"
# the method of bounds for which none was solved
CLOSED_FORMS: Final = "closed forms"


@dataclass(frozen=True, slots=True)
class Envelope(ProvedLeakage, Charted):
    """ε(δ): the largest leakage that some post-processing reaches with probability at least δ.

    Attributes
    ----------
    delta : the probability
    lower, upper : sound ends in nats; `lower` is rounded down and reached by `attack`, `upper` is rounded up
    method : how the ends were found, and why they do not meet where they do not
    adversary : whose post-processing is meant: any, deterministic, k-ary, ordered or binary (one event)
    witness : an attack that the certificate does not hold; `attack` is this one or the certificate's
    certificate : the proof of both ends, where there is one
    solves : how many linear programs were solved for this δ
    """

    delta: Fraction
    lower: float
    upper: float
    method: str
    adversary: Adversary = "any"
    witness: Channel | None = None
    certificate: EnvelopeProof | Recomputation | None = None
    solves: int = 0

    def __post_init__(self) -> None:
        require_order(self.lower, self.upper)

    @property
    def attack(self) -> Channel | None:
        """A Channel from outcomes to symbols that reaches `lower`, where there is one.

        Symbols are named after the secret they point to, and "rest"; those of an ordered adversary after the first
        and last outcome of each run.
        """
        if self.witness is None and isinstance(self.certificate, EnvelopeProof):
            return self.certificate.attack
        return self.witness

    def proved_ends(self) -> tuple[float, float]:
        """Tell what the certificate proves at this δ."""
        proof: EnvelopeProof | Recomputation = self.proof()
        return proof.ends_at(self.delta)

    def __repr__(self) -> str:
        return (
            f"Envelope(delta={format_python(self.delta)}, {format_down(self.lower)} to {format_up(self.upper)} nats, "
            f"adversary: {self.adversary}, by {self.method})"
        )


def rest_label(suspects: Iterable[Label]) -> str:
    """Name the symbol for everything that points to no secret, unlike the names of those that do.

    >>> rest_label(["a", "rest"])
    "rest'"
    """
    taken, label = set(suspects), "rest"
    while label in taken:
        label += "'"
    return label


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
