"""The proof of the largest PML, PMC or maximal leakage under any prior of a set, checked in rationals.

Notation: K channel, p a prior of the set, q_y = Σ_x p_x K_xy, all as the rationals that are stored.

Lower end. One member p, an outcome y and a secret x to which some member gives mass: PML is at least log K_xy/q_y,
PMC at least log q_y/K_xy, at p itself or, where p gives x no mass, in the limit of members next to p (pointwise.py
says why). Maximal leakage is log of Σ_y max K_xy over the secrets to which p gives mass.

Upper end. The extreme probability of each outcome is computed again: in closed form over Q(c) and ℓ1 balls, by the
rational simplex method over polytopes, for every prior of a list. No float and no solver in floats has a part in it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final

from tightlip.certificate.base import Certificate, Claim, channel_json, kind_digest
from tightlip.errors import CertificateInvalid, InvalidInput, quoted
from tightlip.model.channel import Channel, align
from tightlip.model.labels import Label
from tightlip.model.matrix import dense_column
from tightlip.model.prior import Prior, PriorSet
from tightlip.model.prior_set import AnyPriorSet, prior_set_from_dict, prior_set_to_dict
from tightlip.numeric.ball import log_exceeds
from tightlip.numeric.parse import number
from tightlip.robust.region import FloorRegion, Region, dot, region_of

PML: Final = "leakage capacity"
PMC: Final = "robust PMC"
MAXIMAL: Final = "robust maximal leakage"

_Column = Sequence[Fraction]
_Ratio = Fraction | None  # None is infinite


@dataclass(frozen=True, slots=True)
class LeakageCertificate(Certificate):
    """Both ends of a leakage over a set of priors, with the member, outcome and secret that reach the lower one.

    Attributes
    ----------
    kind : "leakage capacity" (the largest PML), "robust PMC" or "robust maximal leakage"
    channel, prior_set : what it is about; None is the set of all priors
    lower, upper : the ends in nats, perhaps infinite
    prior : a member of the set, in the channel's order
    outcome, secret : positions in the channel; None for maximal leakage
    """

    FORMAT: ClassVar[str] = "tightlip robust leakage certificate 2"
    KINDS: ClassVar[tuple[str, ...]] = (PML, PMC, MAXIMAL)
    KEYS: ClassVar[frozenset[str]] = frozenset(
        {"channel", "prior_set", "lower", "upper", "prior", "outcome", "secret"}
    )
    ABOUT: ClassVar[str] = "channel and set of priors"

    kind: str
    channel: Channel
    prior_set: AnyPriorSet | None
    lower: float
    upper: float
    prior: Prior
    outcome: int | None = None
    secret: int | None = None

    def claim(self) -> Claim:
        """Tell both ends in nats."""
        return Claim(self.kind, self.lower, self.upper)

    def verify(self) -> None:
        """Check in rationals that the prior is a member and reaches the lower end, and that none exceeds the upper."""
        if not 0 <= self.lower <= self.upper:
            raise CertificateInvalid(
                f"both ends fail: they must be in order and not negative, got {self.lower!r} and {self.upper!r}."
            )
        columns = [rational_column(self.channel, place) for place in range(self.channel.shape[1])]
        region = self._region()
        self._check_member(region)
        reached = self._largest_lift(columns, region)
        if reached is not None and self.lower and not (reached > 0 and log_exceeds(reached, self.lower)):
            raise CertificateInvalid(
                f"lower end fails: its prior does not reach {self.lower!r} nats at its outcome."
            )
        if math.isinf(self.upper):
            return
        for ratio in self._largest(columns, region):
            if ratio is None or (ratio > 1 and log_exceeds(ratio, self.upper)):
                raise CertificateInvalid(
                    f"upper end fails: some prior of the set exceeds {self.upper!r} nats."
                )

    def _region(self) -> Region | tuple[Prior, ...]:
        if self.prior_set is None:
            return FloorRegion(self.channel.shape[0], Fraction(0))
        return region_of(self.prior_set, self.channel)

    def _check_member(self, region: Region | tuple[Prior, ...]) -> None:
        prior = align(self.prior, self.channel)
        if isinstance(region, tuple):
            member = prior in region
        elif self.prior_set is None or isinstance(self.prior_set, PriorSet):
            member = min(prior.exact().masses) >= region.floor
        else:
            member = prior.is_exact and prior in self.prior_set
        if not member:
            raise CertificateInvalid("lower end fails: its prior is not in the set.")

    def _largest_lift(self, columns: Sequence[_Column], region: Region | tuple[Prior, ...]) -> _Ratio:
        """e to the leakage that the prior reaches, or that members next to it come as near to as one likes."""
        masses = _masses(align(self.prior, self.channel))
        if self.kind == MAXIMAL:
            return _total(columns, masses)
        if self.outcome is None or self.secret is None:
            raise CertificateInvalid("lower end fails: it names no outcome and secret.")
        if not (0 <= self.outcome < len(columns) and 0 <= self.secret < len(masses)):
            raise CertificateInvalid("lower end fails: the channel has no such outcome or secret.")
        possible = _support(masses) if isinstance(region, tuple) else region.possible
        if self.secret not in possible:
            raise CertificateInvalid("lower end fails: no prior of the set gives its secret any mass.")
        column = columns[self.outcome]
        entry, chance = column[self.secret], dot(column, masses)
        above, below = (entry, chance) if self.kind == PML else (chance, entry)
        if not above:
            raise CertificateInvalid("lower end fails: its outcome does not occur.")
        return above / below if below else None

    def _largest(self, columns: Sequence[_Column], region: Region | tuple[Prior, ...]) -> Iterator[_Ratio]:
        """Bounds on e to the leakage: the largest is the supremum over the set."""
        if isinstance(region, tuple):
            for prior in region:
                masses = _masses(prior)
                if self.kind == MAXIMAL:
                    yield _total(columns, masses)
                    continue
                for column in columns:
                    chance = dot(column, masses)
                    yield from self._worst(column, _support(masses), chance, chance)
        elif self.kind == MAXIMAL:
            yield _total(columns, region.inside())
        else:
            for column in columns:
                low = region.lowest(column)[0] if self.kind == PML else Fraction(0)
                high = region.highest(column)[0] if self.kind == PMC else Fraction(0)
                yield from self._worst(column, region.possible, low, high)

    def _worst(
        self, column: _Column, possible: Sequence[int], low: Fraction, high: Fraction
    ) -> Iterator[_Ratio]:
        """e to the leakage of one outcome, whose probability is in [low, high]; nothing where it never occurs."""
        entries = [column[secret] for secret in possible]
        above, below = (max(entries), low) if self.kind == PML else (high, min(entries))
        if above:
            yield above / below if below else None

    def digest(self) -> str:
        """Compute a hash of the kind, the channel and the set that the proof is about."""
        return self._digest(self.channel)

    def digest_for(self, channel: Channel, prior: Prior | None, secret: Sequence[Label] | None) -> str | None:
        """Hash the kind, the channel of a file and the same set; None for a file whose prior is not in it."""
        if prior is not None and self.prior_set is not None and align(prior, channel) not in self.prior_set:
            return None
        return self._digest(channel)

    def _digest(self, channel: Channel) -> str:
        return kind_digest(self.kind, {"channel": channel_json(channel), "prior_set": self._set_json()})

    def _set_json(self) -> dict[str, Any] | None:
        return None if self.prior_set is None else prior_set_to_dict(self.prior_set)

    def parts(self) -> dict[str, Any]:
        """Write the question, both ends and what reaches the lower one as JSON values."""
        return {
            "channel": self.channel.to_dict(),
            "prior_set": self._set_json(),
            "lower": _end_json(self.lower),
            "upper": _end_json(self.upper),
            "prior": self.prior.to_dict(),
            "outcome": self.outcome,
            "secret": self.secret,
        }

    @classmethod
    def from_parts(cls, record: dict[str, Any]) -> LeakageCertificate:
        """Read what `parts` wrote."""
        channel, prior_set = Channel.from_dict(record["channel"]), record["prior_set"]
        found = cls(
            record["kind"],
            channel,
            None if prior_set is None else prior_set_from_dict(prior_set),
            _read_end(record["lower"], "lower"),
            _read_end(record["upper"], "upper"),
            Prior.from_json(json.dumps(record["prior"])),
            _read_place(record["outcome"], "outcome"),
            _read_place(record["secret"], "secret"),
        )
        found._region()
        align(found.prior, channel)
        return found


def rational_column(channel: Channel, place: int) -> list[Fraction]:
    """Read P(y|x) of one outcome for every secret, in rationals."""
    return [Fraction(entry) for entry in dense_column(channel.matrix, place).tolist()]


def _masses(prior: Prior) -> list[Fraction]:
    """As stored."""
    return [Fraction(mass) for mass in prior.masses.tolist()]


def _support(masses: Sequence[Fraction]) -> list[int]:
    return [secret for secret, mass in enumerate(masses) if mass]


def _total(columns: Sequence[_Column], masses: Sequence[Fraction]) -> Fraction:
    """Σ_y max K_xy over the secrets of positive mass."""
    possible = _support(masses)
    return sum((max(column[secret] for secret in possible) for column in columns), Fraction(0))


def _end_json(end: float) -> float | str:
    return "inf" if math.isinf(end) else float(end)


def _read_end(value: Any, name: str) -> float:
    return math.inf if value == "inf" else float(number(value, name))


def _read_place(value: Any, name: str) -> int | None:
    if value is not None and type(value) is not int:
        raise InvalidInput(f"{name} must be a whole number or null, got {quoted(value)}")
    return value
