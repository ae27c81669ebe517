"""What is known of a release: by measuring it, or by a guarantee that somebody states.

How a release depends on all others decides which rules cover it:

    "secret"   given the secret S, it is drawn independently of everything else
    "record"   it is drawn with randomness of its own from a person's record X, which may be anything that has to do
               with S; its LDP and maximal leakage hold between any two records, its other levels about S
    "unknown"  its levels are about S, and it may share data and randomness with the others

and whether it was chosen after others had been published decides what the account says:

    "no"             it was chosen without regard to what was published
    "every history"  its levels hold whatever had been published before
    "yes"            only the levels of the mechanism that was then chosen are known

Levels of PML and PMC are under the prior of S, before any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, get_args

from tightlip.arguments import choice, instance
from tightlip.envelopes.result import read_delta
from tightlip.errors import InvalidInput, quoted
from tightlip.ledger.amount import read_charge, read_guarantee
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import Nats
from tightlip.showing import Shown

Stated = Literal["ldp", "pml", "pmc", "lip", "maximal_leakage", "min_mass_pml", "sml"]
Kind = Literal["pml", "pmc", "ldp", "maximal_leakage"]
ActsOn = Literal["secret", "record", "unknown"]
Adaptive = Literal["no", "every history", "yes"]


@dataclass(frozen=True, slots=True)
class Declared(Shown):
    """A release that is known by its guarantees.

    Parameters
    ----------
    name : str
        How the account calls it.
    guarantees : mapping from kind to level in nats
        Of "ldp", "pml", "pmc", "lip", "maximal_leakage", "min_mass_pml" (PML for every prior with masses of at least
        `min_mass`), and "sml" (about `statistic`). Exact with `log_of`, "log(3)" or "factor 3".
    acts_on : "record", "secret" or "unknown"
        See the top of this file.
    adaptive : "no", "every history" or "yes"
        See the top of this file.
    min_mass : number in (0, 1/2]
        Of "min_mass_pml", which needs acts_on "secret".
    statistic : str
        Of "sml": what of the whole table it is about.

    Raises
    ------
    InvalidInput
        For a level that is no number, negative, infinite or vanishing, an unknown kind, or a missing `min_mass` or
        `statistic`.

    >>> Declared("survey", {"ldp": "log(3)"}).guarantees["ldp"].ratio
    Fraction(3, 1)
    """

    name: str
    guarantees: Mapping[Stated, Nats]
    acts_on: ActsOn = field(default="record", kw_only=True)
    adaptive: Adaptive = field(default="no", kw_only=True)
    min_mass: Fraction | None = field(default=None, kw_only=True)
    statistic: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        instance(self.name, str, "name", 'write "survey 2024"')
        choice(self.acts_on, "acts_on", get_args(ActsOn))
        choice(self.adaptive, "adaptive", get_args(Adaptive))
        object.__setattr__(self, "guarantees", _read_guarantees(self.guarantees, self.name))
        object.__setattr__(self, "min_mass", self._read_min_mass())
        self._require_statistic()

    def _read_min_mass(self) -> Fraction | None:
        wanted = "min_mass_pml" in self.guarantees
        if wanted != (self.min_mass is not None):
            raise InvalidInput(
                f'min_mass of {quoted(self.name)} must be given with "min_mass_pml" and only then, '
                f'got {quoted(self.min_mass)}; write {{"min_mass_pml": 0.5}} and min_mass="1/20".'
            )
        if self.min_mass is None:
            return None
        mass = Fraction(number(self.min_mass, f"min_mass of {quoted(self.name)}"))
        if not 0 < mass <= Fraction(1, 2):
            raise InvalidInput(
                f"min_mass of {quoted(self.name)} must be in (0, 1/2], got {quoted(mass)}; of two or more secrets "
                "the least likely one has at most 1/2."
            )
        if self.acts_on != "secret":
            raise InvalidInput(
                f'acts_on of {quoted(self.name)} must be "secret" with "min_mass_pml", got {quoted(self.acts_on)}; '
                "of records the masses are not known: state LDP."
            )
        return mass

    def _require_statistic(self) -> None:
        if ("sml" in self.guarantees) != isinstance(self.statistic, str):
            raise InvalidInput(
                f'statistic of {quoted(self.name)} must be given with "sml" and only then, '
                f'got {quoted(self.statistic)}; write statistic="share of women".'
            )


def _read_guarantees(guarantees: object, name: str) -> dict[Stated, Nats]:
    place = f"guarantees of {quoted(name)}"
    if not isinstance(guarantees, Mapping) or not guarantees:
        raise InvalidInput(
            f'{place} must map kinds to levels, got {quoted(guarantees)}; write {{"ldp": 0.5}}.'
        )
    return {
        kind: read_charge(guarantees[kind], f"{place}, {kind}")
        for kind in get_args(Stated)
        if kind in {choice(given, place, get_args(Stated)) for given in guarantees}
    }


@dataclass(frozen=True, slots=True)
class Measured(Shown):
    """All releases of one table together, measured: exact numbers about the secret, any of which may be 0 or infinite.

    Parameters
    ----------
    pml, pmc, ldp, maximal_leakage : numbers of nats
        Of the joint outcome of all releases, the worst over outcomes; infinite where not known.
    envelope : mapping from δ to nats
        The envelope at some δ, smaller ones included where other releases shall be added to it.
    adaptive : "no", "every history" or "yes"
        Whether a release was chosen after others had been published.
    name : str
        How the account calls them.
    """

    pml: Nats
    pmc: Nats
    ldp: Nats
    maximal_leakage: Nats
    envelope: Mapping[Fraction, Nats] = field(default_factory=dict)
    adaptive: Adaptive = field(default="no", kw_only=True)
    name: str = field(default="table", kw_only=True)

    def __post_init__(self) -> None:
        for kind in get_args(Kind):
            object.__setattr__(self, kind, read_guarantee(getattr(self, kind), kind, allow_infinite=True))
        read = {
            read_delta(delta, "envelope"): read_guarantee(value, f"envelope at {delta}", allow_infinite=True)
            for delta, value in self.envelope.items()
        }
        object.__setattr__(self, "envelope", read)
        choice(self.adaptive, "adaptive", get_args(Adaptive))
