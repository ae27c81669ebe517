"""The result about a statistic: two sound ends, the selection that reaches the lower one, and the proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from tightlip.certificate.base import Certificate
from tightlip.model.labels import Label
from tightlip.numeric.display import format_down, format_up, several
from tightlip.numeric.proved import require_order
from tightlip.numeric.quantity import Nats, ProvedLeakage
from tightlip.showing import Tabled


@dataclass(frozen=True, slots=True)
class StatisticLeakage(ProvedLeakage, Tabled):
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
    exact: bool = field()  # not decided by the floats, as it is by default
    selection: Mapping[Label, Label]
    method: str
    certificate: Certificate
    ratio: Fraction | None = None

    def __post_init__(self) -> None:
        require_order(self.lower, self.upper)

    @property
    def value(self) -> Nats:
        """The sound (upper) end, in nats."""
        return Nats(self.upper, self.ratio)

    def __repr__(self) -> str:
        kind = "exact" if self.exact else "ends not met"
        return (
            f"StatisticLeakage({self.certificate.kind}, {format_down(self.lower)} to {format_up(self.upper)} nats, "
            f"{kind}, {several(len(self.selection), 'secret')}, by {self.method})"
        )
