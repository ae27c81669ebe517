"""What several releases about the same people's secret give away together, where some are known only by guarantees.

Fix what was published. A release enters as the vector a(s) of its likelihoods, and with its level as

    PML  log max a / Σ p a        PMC  log Σ p a / min a        LDP  log max a / min a.

Releases that are independent given the secret multiply their vectors. For two of them, with the masses of the posterior
after the first at least m = p_min·e^−PMC(first):

    LDP(first, second) ≤ LDP(first) + LDP(second)
    PML(first, second) ≤ PML(first) + the PML that LDP(second) implies for masses of at least m         (PMC likewise)
    PML(first, second) ≤ PML(first) + ε,  where the second has PML ε for every prior with masses ≥ c, and m ≥ c

in either order; with m = 0 the second line is PML + LDP. Releases that share a record with each other form one group,
and the same lines hold inside it with m = 0 where all but one have their LDP between any two records. Maximal leakage
adds, and ε(δ) ≤ ℒ + log 1/δ. What no rule covers may tell everything: PML ≤ log 1/p_min, and nothing else is finite.

Proofs and counterexamples: docs/ledger.md, "Rules".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from tightlip.arguments import instance, listed
from tightlip.convert import ldp_to_pmc, ldp_to_pml
from tightlip.envelopes.result import read_delta
from tightlip.errors import InvalidInput, quoted
from tightlip.ledger.amount import ENDLESS, NOTHING, Amount
from tightlip.ledger.guarantees import Declared, Kind, Measured
from tightlip.ledger.levels import (
    KINDS,
    NONE,
    Part,
    Prior,
    Rule,
    Step,
    Use,
    fill,
    least_of,
    of_entry,
    of_measured,
)
from tightlip.numeric.quantity import Nats

Holds = Literal["for every outcome", "for what was published"]

_MOST_EXACT = 6  # parts whose orders are all tried: 2^6 sets; more are tried in few orders

_CHOSEN = "chosen after others, and only the chosen one's level is known"
_TOGETHER = "no rule covers them together"
_UNBOUNDED = "no finite level of this kind is known of it"
_MOST = "everything is known then"
_SINGLE = "one single secret: there is nothing to learn"


@dataclass(frozen=True, slots=True)
class Charge:
    """What all releases together leak at most, and why.

    Attributes
    ----------
    value : Nats
        Rounded up; infinite where no rule bounds it.
    rule : str
        The one that decided: "given" (one release alone), "sum", "lead" (one level and the LDP of all others), "chain"
        (a level for the masses that are left), "conversion" (from another kind), "mean" (maximal leakage is at most the
        worst PML), "tail" (maximal leakage and log 1/δ), "shift" (the table's envelope and the LDP of all others),
        "cap" (everything may be known) or "none".
    uses : tuple of Use
        The levels that it was made of; none where it is a cap.
    holds : "for every outcome" or "for what was published"
        The latter where a release was chosen after others, and only its own level is known.
    reason : str
        The conversion or the precondition, in short.
    uncovered : tuple of str
        The releases that no rule covers together, where the value is a cap or infinite for that.
    """

    value: Nats
    rule: Rule
    uses: tuple[Use, ...] = ()
    holds: Holds = "for every outcome"
    reason: str = ""
    uncovered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Account:
    """What all releases together leak at most, by kind; `sml` by statistic of the whole table."""

    pml: Charge
    pmc: Charge
    ldp: Charge
    maximal_leakage: Charge
    envelope: Charge | None = None
    sml: Mapping[str, Charge] = field(default_factory=dict)


def account(
    measured: Measured | None = None,
    declared: Sequence[Declared] = (),
    *,
    p_min: object = None,
    delta: object = None,
) -> Account:
    """Account for several releases about one secret: the smallest level of each kind that a rule proves.

    Parameters
    ----------
    measured : Measured, optional
        All releases of the ledger's own table, as one.
    declared : list of Declared
        The others, by their guarantees; the order says nothing.
    p_min : number or Prior, optional
        Smallest positive mass of the secret, in (0, 1/2], or 1 for one single secret. Without it nothing is converted
        and PML has no cap.
    delta : number, optional
        In (0, 1]: adds the envelope at δ.

    Returns
    -------
    Account
        Each level rounded up, the rule that decided, and what it needed.

    Raises
    ------
    InvalidInput
        If two releases have the same name, or p_min or delta is not one.

    >>> from tightlip import log_of
    >>> twice = [Declared(name, {"ldp": log_of(2)}) for name in ("a", "b")]
    >>> account(declared=twice).ldp.value.ratio, account(declared=twice, p_min="1/4").pml.value.ratio
    (Fraction(4, 1), Fraction(16, 7))
    """
    prior, entries = Prior.read(p_min), _read_entries(measured, declared)
    releases = [] if measured is None else [of_measured(measured, prior)]
    releases += [of_entry(entry, prior) for entry in entries]
    whole = _Whole(_total(_parts(releases, prior), prior), releases, prior)
    return Account(
        whole.charge("pml"),
        whole.charge("pmc"),
        whole.charge("ldp"),
        whole.charge("maximal_leakage"),
        None if delta is None else whole.envelope(read_delta(delta), measured),
        _statistics(measured, entries),
    )


def _read_entries(measured: object, declared: object) -> list[Declared]:
    if measured is not None:
        instance(measured, Measured, "measured", "give the numbers of the joint release, or None")
    entries = [
        instance(entry, Declared, f"declared entry {place}", 'write Declared("survey", {"ldp": 0.5})')
        for place, entry in enumerate(listed(declared, "declared", "Declared"))
    ]
    names = {measured.name} if isinstance(measured, Measured) else set()
    for place, entry in enumerate(entries):
        if entry.name in names:
            raise InvalidInput(
                f"declared entry {place} must have a name of its own, got {quoted(entry.name)} again; "
                "name each release once."
            )
        names.add(entry.name)
    return sorted(entries, key=lambda entry: entry.name)


def _parts(releases: list[Part], prior: Prior | None) -> list[Part]:
    """The group of releases that may share data, and each of the others alone."""
    members = [release for release in releases if not release.alone]
    alone = [release for release in releases if release.alone]
    return [fill(_group(members), prior), *alone] if members else alone


def _group(members: list[Part]) -> Part:
    """One level about the secret, and of all others what holds between any two records."""
    if len(members) == 1:
        return members[0]
    steps = {
        kind: _lead(
            [member.step(kind) for member in members],
            [member.record_ml if kind == "maximal_leakage" else member.record_ldp for member in members],
            "lead" if kind in ("pml", "pmc") else "sum",
        )
        for kind in KINDS
    }
    return Part.of(tuple(name for member in members for name in member.names), steps)


def _lead(levels: list[Step], others: list[Step], rule: Rule) -> Step:
    """min_j {level_j + Σ_{i≠j} other_i}."""
    endless = [place for place, step in enumerate(others) if step.amount.endless]
    if len(endless) > 1:
        return NONE
    best = endless[0] if endless else _leader(levels, others)
    found = levels[best]
    for place, step in enumerate(others):
        if place != best:
            found = found.plus(step, rule)
    return found


def _leader(levels: list[Step], others: list[Step]) -> int:
    """The place with the least level_j + Σ_{i≠j} other_i, that is where level_i + other_j is smaller for all i."""
    best = 0
    for place in range(1, len(levels)):
        if (levels[best].amount + others[place].amount).exceeds(levels[place].amount + others[best].amount):
            best = place
    return best


def _total(parts: list[Part], prior: Prior | None) -> Part:
    """Put parts together that are independent given the secret, in all orders or, where there are many, in a few."""
    if not parts or (prior is not None and prior.single):
        step = Step(NOTHING, "given") if not parts else Step(NOTHING, "cap", reason=_SINGLE)
        return Part.of((), dict.fromkeys(KINDS, step))
    if len(parts) > _MOST_EXACT:
        return _in_few_orders(parts, prior)
    known = {1 << place: part for place, part in enumerate(parts)}
    for chosen in range(1, 1 << len(parts)):
        if chosen in known:
            continue
        known[chosen] = _best(
            [
                _extend(known[chosen ^ (1 << place)], part, prior)
                for place, part in enumerate(parts)
                if chosen >> place & 1
            ]
        )
    return known[max(known)]


def _in_few_orders(parts: list[Part], prior: Prior | None) -> Part:
    """Those that need the largest masses first, all others before them or after them."""
    chained = sorted(
        (part for part in parts if not part.chained.amount.endless), key=lambda part: -part.min_mass
    )
    others = sorted(
        (part for part in parts if part.chained.amount.endless),
        key=lambda part: float(part.pmc.amount.nats()),
    )
    found = []
    for order in ([*chained, *others], [*others, *chained]):
        whole = order[0]
        for part in order[1:]:
            whole = _extend(whole, part, prior)
        found.append(whole)
    return _best(found)


def _best(parts: list[Part]) -> Part:
    """Several bounds on the same releases: the smallest of each kind."""
    return Part.of(parts[0].names, {kind: least_of([part.step(kind) for part in parts]) for kind in KINDS})


def _extend(before: Part, part: Part, prior: Prior | None) -> Part:
    """Add a part that is independent of those before, given the secret."""
    pml, pmc = [], []
    for first, second in ((before, part), (part, before)):
        more_pml, more_pmc = _after(first, second.ldp, prior)
        pml.append(first.pml.plus(more_pml, more_pml.rule, more_pml.reason))
        pmc.append(first.pmc.plus(more_pmc, more_pmc.rule, more_pmc.reason))
        if prior is not None and prior.leaves(first.pmc.amount, second.min_mass):
            pml.append(first.pml.plus(second.chained, "chain", "masses of the posterior at least min_mass"))
    found = Part(
        before.names + part.names,
        least_of(pml),
        least_of(pmc),
        before.ldp.plus(part.ldp, "sum"),
        before.maximal_leakage.plus(part.maximal_leakage, "sum"),
    )
    return fill(found, prior)


def _after(first: Part, ldp: Step, prior: Prior | None) -> tuple[Step, Step]:
    """What LDP adds to PML and to PMC for the masses that the first part leaves."""
    mass = Fraction(0) if prior is None else prior.left(first.pmc.amount)
    if prior is None or ldp.amount.endless or not mass:
        return replace(ldp, rule="lead", reason=""), replace(ldp, rule="lead", reason="")
    level = ldp.amount.level()
    added = [Amount.of(ldp_to_pml(level, mass)), Amount.of(ldp_to_pmc(level, mass))]
    if not (prior.known and first.pmc.amount.exact):
        added = [amount.rounded() for amount in added]
    pml, pmc = (Step(amount, "chain", ldp.uses, "LDP for the masses of the posterior") for amount in added)
    return pml, pmc


@dataclass(frozen=True, slots=True)
class _Whole:
    """All releases together, and what limits the levels that were found for them."""

    total: Part
    releases: list[Part]
    prior: Prior | None

    @property
    def chosen(self) -> tuple[str, ...]:
        """The releases that were chosen after others, and of which only the chosen one's level is known."""
        return tuple(sorted(part.names[0] for part in self.releases if part.adaptive == "yes"))

    def charge(self, kind: Kind) -> Charge:
        """Charge what was found, or the cap; averages need levels that hold for every history."""
        if kind == "maximal_leakage" and self.chosen:
            return self._capped(kind, self.chosen, _CHOSEN)
        return self._judge(kind, self.total.step(kind))

    def _judge(self, kind: Kind, step: Step) -> Charge:
        if step.amount.endless:
            uncovered = self._open(kind)
            return self._capped(kind, uncovered, _UNBOUNDED if len(uncovered) == 1 else _TOGETHER)
        if step.amount.exceeds(self._cap(kind)):
            return self._capped(kind, (), _MOST)
        holds: Holds = "for what was published" if self.chosen else "for every outcome"
        return Charge(step.amount.nats(), step.rule, step.uses, holds, step.reason)

    def _cap(self, kind: Kind) -> Amount:
        return ENDLESS if self.prior is None else self.prior.cap(kind)

    def _capped(self, kind: Kind, uncovered: tuple[str, ...], reason: str) -> Charge:
        cap = self._cap(kind)
        return Charge(cap.nats(), "none" if cap.endless else "cap", reason=reason, uncovered=uncovered)

    def _open(self, kind: Kind) -> tuple[str, ...]:
        """The releases that are not known well enough to stand beside another."""
        average = kind == "maximal_leakage"
        names = []
        for part in self.releases:
            alone = part.maximal_leakage if average else part.ldp
            shared = part.record_ml if average else part.record_ldp
            if (alone if part.alone else shared).amount.endless:
                names.append(part.names[0])
        return tuple(sorted(names))

    def envelope(self, delta: Fraction, measured: Measured | None) -> Charge:
        """Bound the envelope: by the table's own, by the worst outcome, by maximal leakage."""
        if self.chosen:
            return self._capped("pml", self.chosen, _CHOSEN)
        mean = self.total.maximal_leakage
        tail = Step(mean.amount + Amount(ratio=1 / delta), "tail", mean.uses, "maximal leakage and log 1/δ")
        worst = replace(self.total.pml, rule="conversion", reason="no envelope is above the worst PML")
        return self._judge("pml", least_of([*self._shifted(delta, measured), worst, tail]))

    def _shifted(self, delta: Fraction, measured: Measured | None) -> list[Step]:
        """ε(δ) ≤ ε_table(δ′) + λ for δ′ ≤ δ e^−λ, where all others have LDP λ together."""
        if measured is None or measured.adaptive != "no":
            return []
        others = [part.ldp if part.alone else part.record_ldp for part in self.releases[1:]]
        found = []
        for smaller, level in measured.envelope.items():
            step = Step(Amount.of(level), "given", (Use(measured.name, "envelope", level),))
            shift = NOTHING
            for other in others:
                step = step.plus(other, "shift", f"its envelope at δ = {smaller}")
                shift += other.amount
            if not shift.exceeds(Amount(ratio=delta / smaller)):
                found.append(step)
        return found


def _statistics(measured: Measured | None, entries: list[Declared]) -> dict[str, Charge]:
    """Add statistic maximal leakage for each statistic that a release is about."""
    names = sorted({entry.statistic for entry in entries if entry.statistic is not None})
    return {name: _statistic(name, measured, entries) for name in names}


def _statistic(name: str, measured: Measured | None, entries: list[Declared]) -> Charge:
    about = [entry for entry in entries if entry.statistic == name]
    missing = [entry.name for entry in entries if entry.statistic != name]
    missing += [] if measured is None else [measured.name]
    chosen = [entry.name for entry in about if entry.adaptive == "yes"]
    shared = [entry.name for entry in about if entry.acts_on == "unknown"] if len(about) > 1 else []
    for uncovered, reason in (
        (missing, "not known by this statistic"),
        (chosen, _CHOSEN),
        (shared, _TOGETHER),
    ):
        if uncovered:
            return Charge(Nats(math.inf), "none", reason=reason, uncovered=tuple(sorted(uncovered)))
    total = NOTHING
    for entry in about:
        total += Amount.of(entry.guarantees["sml"])
    uses = tuple(Use(entry.name, "sml", entry.guarantees["sml"]) for entry in about)
    return Charge(total.nats(), "given" if len(about) == 1 else "sum", uses)
