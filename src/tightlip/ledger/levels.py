"""What one release says about the secret, every level lowered to what the others imply.

A level knows the rule that gave it and the stated levels that it was made of. Conversions, those of `tightlip.convert`,
hold outcome by outcome, and so for what was published also where a release was chosen after others. Further:

    maximal leakage is at most the worst PML, and with LDP at most the PML that it implies for equally likely secrets
    PML for every prior with masses ≥ c is LDP, see `_with_min_mass`

PML is capped at the end, not here: an infinite level says that no rule covers a release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, get_args

from tightlip.convert import implied, ldp_to_pml
from tightlip.convert._theory import read_mass
from tightlip.ledger.amount import ENDLESS, NOTHING, Amount
from tightlip.ledger.guarantees import Adaptive, Declared, Kind, Measured, Stated
from tightlip.numeric.quantity import Nats

Rule = Literal["given", "sum", "lead", "chain", "conversion", "mean", "tail", "shift", "cap", "none"]

KINDS: tuple[Kind, ...] = get_args(Kind)
_NOISE = Fraction(1, 10**9)  # a prior of floats sums to 1 only up to this
_MEAN = "maximal leakage is at most the worst PML"
_WEAKER = "PML and PMC are at most LDP"


@dataclass(frozen=True, slots=True)
class Use:
    """A level of a release that entered an account: `kind` at `level` of the release `name`."""

    name: str
    kind: Stated | Literal["envelope"]
    level: Nats


@dataclass(frozen=True, slots=True)
class Step:
    """A level on the way, with the rule that gave it."""

    amount: Amount
    rule: Rule
    uses: tuple[Use, ...] = ()
    reason: str = ""


NONE = Step(ENDLESS, "none")


def uses_of(steps: Iterable[Step]) -> tuple[Use, ...]:
    """Collect the stated levels that several were made of."""
    return tuple(sorted({use for step in steps for use in step.uses}, key=lambda use: (use.name, use.kind)))


def least_of(steps: Iterable[Step]) -> Step:
    """Find the smallest level; of equal ones the first."""
    best = NONE
    for step in steps:
        if best.amount.exceeds(step.amount):
            best = step
    return best


@dataclass(frozen=True, slots=True)
class Part:
    """One or more releases: their levels about the secret, and what else is known of a single one.

    `record_ldp` and `record_ml` hold between any two records; `chained` is PML for all priors with masses ≥ `min_mass`;
    `alone` says that it is independent of all others given the secret.
    """

    names: tuple[str, ...]
    pml: Step = NONE
    pmc: Step = NONE
    ldp: Step = NONE
    maximal_leakage: Step = NONE
    record_ldp: Step = NONE
    record_ml: Step = NONE
    chained: Step = NONE
    min_mass: Fraction = Fraction(1)
    alone: bool = False
    adaptive: Adaptive = "no"

    @classmethod
    def of(cls, names: tuple[str, ...], steps: Mapping[Kind, Step], adaptive: Adaptive = "no") -> Part:
        """Put the levels of all kinds together."""
        return cls(
            names, steps["pml"], steps["pmc"], steps["ldp"], steps["maximal_leakage"], adaptive=adaptive
        )

    def step(self, kind: Kind) -> Step:
        """Look up the level of one kind."""
        found: Step = getattr(self, kind)
        return found


@dataclass(frozen=True, slots=True)
class Prior:
    """What is known of the prior: a lower bound on its masses, and an upper one on how many there are."""

    given: object
    mass: Fraction
    known: bool
    secrets: int

    @classmethod
    def read(cls, p_min: object) -> Prior | None:
        """Read the smallest mass; None where it is not known."""
        if p_min is None:
            return None
        read = read_mass(p_min)
        return cls(p_min, read.value, read.known, int((1 if read.known else 1 + _NOISE) / read.value))

    @property
    def single(self) -> bool:
        """Whether there is one secret only, so that nothing can leak."""
        return self.mass == 1

    def cap(self, kind: Kind) -> Amount:
        """What everything would tell; PMC and LDP are infinite then."""
        if self.single:
            return NOTHING
        if kind in ("pmc", "ldp"):
            return ENDLESS
        if kind == "maximal_leakage":
            return Amount(ratio=Fraction(self.secrets))
        return Amount(ratio=1 / self.mass) if self.known else Amount(ratio=1 / self.mass).rounded()

    def leaves(self, pmc: Amount, mass: Fraction) -> bool:
        """Whether all masses of a posterior after a release with this PMC are at least `mass`."""
        return not (pmc + Amount(ratio=mass)).exceeds(Amount(ratio=self.mass))


def of_measured(measured: Measured, prior: Prior | None) -> Part:
    """Take the measured levels of the ledger's own table."""

    def given(kind: Kind) -> Step:
        return _given(measured.name, kind, getattr(measured, kind))

    return fill(Part.of((measured.name,), {kind: given(kind) for kind in KINDS}, measured.adaptive), prior)


def of_entry(entry: Declared, prior: Prior | None) -> Part:
    """Take the stated levels of a release, as far as they are about the secret or between records."""

    def given(kind: Stated) -> Step:
        level = entry.guarantees.get(kind)
        return NONE if level is None else _given(entry.name, kind, level)

    found = Part(
        (entry.name,),
        pml=least_of([given("pml"), given("lip")]),
        pmc=least_of([given("pmc"), given("lip")]),
        ldp=given("ldp"),
        maximal_leakage=given("maximal_leakage"),
        alone=entry.acts_on == "secret",
        adaptive=entry.adaptive,
    )
    if entry.acts_on == "record":
        least = least_of([found.maximal_leakage, _converted(found.ldp, found.ldp.amount, _MEAN)])
        found = replace(found, record_ldp=found.ldp, record_ml=least)
    if entry.min_mass is not None:
        found = _with_min_mass(found, given("min_mass_pml"), entry.min_mass, prior)
    return fill(found, prior)


def _given(name: str, kind: Stated, level: Nats) -> Step:
    return Step(Amount.of(level), "given", (Use(name, kind, level),))


def _with_min_mass(part: Part, level: Step, least: Fraction, prior: Prior | None) -> Part:
    """PML at ε for all priors with masses ≥ c: under this one, and with w = (n−1)c, LDP at log (1−w)/(e^−ε − w).

    For LDP, take the prior with 1 − w on the secret with the smallest likelihood and c on each other one, whose
    likelihoods are at most max a: max a ≤ e^ε ((1−w) min a + w max a).
    """
    part = replace(part, chained=level, min_mass=least)
    if prior is None:
        return part
    decay, rest = level.amount.decay(), (prior.secrets - 1) * least
    if prior.mass >= least:
        part = replace(part, pml=least_of([part.pml, level]))
    if prior.secrets * least <= 1 and decay > rest:
        ldp = Amount(ratio=(1 - rest) / (decay - rest))
        step = _converted(
            level, ldp if level.amount.exact else ldp.rounded(), "PML of every such prior to LDP"
        )
        part = replace(part, ldp=least_of([part.ldp, step]))
    return part


def _converted(source: Step, amount: Amount, reason: str) -> Step:
    return Step(amount, "conversion", source.uses, reason)


def fill(part: Part, prior: Prior | None) -> Part:
    """Lower every level to what the others imply, for the same outcome; caps are left to the end."""
    if prior is None:
        pml = least_of([part.pml, _converted(part.ldp, part.ldp.amount, _WEAKER)])
        pmc = least_of([part.pmc, _converted(part.ldp, part.ldp.amount, _WEAKER)])
        both = Step(
            pml.amount + pmc.amount, "conversion", uses_of([pml, pmc]), "ALIP to LDP: the sum of both levels"
        )
        part = replace(part, pml=pml, pmc=pmc, ldp=least_of([part.ldp, both]))
    else:
        part = _from_both(_from_ldp(part, prior), prior)
    worst = replace(part.pml, rule="mean", reason=_MEAN)
    return replace(part, maximal_leakage=least_of([part.maximal_leakage, worst]))


def _from_ldp(part: Part, prior: Prior) -> Part:
    if part.ldp.amount.endless:
        return part
    known = implied("ldp", part.ldp.amount.level(), prior.given)
    most = ldp_to_pml(part.ldp.amount.level(), Fraction(1, prior.secrets))
    mean = _converted(part.ldp, Amount.of(most), "LDP to PML of equally likely secrets, " + _MEAN)
    return replace(
        part,
        pml=least_of([part.pml, _converted(part.ldp, Amount.of(known.pml), known.why.pml)]),
        pmc=least_of([part.pmc, _converted(part.ldp, Amount.of(known.pmc), known.why.pmc)]),
        maximal_leakage=least_of([part.maximal_leakage, mean]),
    )


def _from_both(part: Part, prior: Prior) -> Part:
    pml, pmc = part.pml, part.pmc
    if pml.amount.endless and pmc.amount.endless:
        return part
    known = implied("alip", (pmc.amount.level(), pml.amount.level()), prior.given)
    by_pmc = pml if pmc.amount.endless else _converted(pmc, Amount.of(known.pml), known.why.pml)
    by_pml = pmc if pml.amount.endless else _converted(pml, Amount.of(known.pmc), known.why.pmc)
    lower, upper = least_of([pmc, by_pml]), least_of([pml, by_pmc])
    ldp = Step(lower.amount + upper.amount, "conversion", uses_of([lower, upper]), known.why.ldp)
    return replace(part, pml=upper, pmc=lower, ldp=least_of([part.ldp, ldp]))


def lead(kind: Kind, level: Amount, other: Amount, prior: Prior | None) -> Amount:
    """Add to the level of one release the LDP of another; for maximal leakage and LDP, the level of the other itself.

    A secret of mass p with lift L after the first release, and likelihoods of the second within a factor e^λ, ends with
    a lift of at most L/(pL + e^−λ(1 − pL)) and at least L/(pL + e^λ(1 − pL)). Both grow with L and are worst for the
    smallest p.
    """
    added = level + other
    if prior is None or prior.single or kind not in ("pml", "pmc") or added.endless:
        return added
    mass, first, second = prior.mass, level.decay(), other.decay()
    if kind == "pml" and first <= mass:
        return added  # above log 1/p_min, where it is cut in the end
    decay = mass + second * (first - mass) if kind == "pml" else 1 / (mass + (1 / first - mass) / second)
    found = Amount(ratio=1 / decay)
    if not (prior.known and level.exact and other.exact):
        found = found.rounded()
    return added if found.exceeds(added) else found
