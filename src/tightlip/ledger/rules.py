"""What several releases about the same people's secret give away together, where some are known only by guarantees.

Fix what was published. A release enters as the vector a(s) of its likelihoods, and with its level as

    PML  log max a / Σ p a        PMC  log Σ p a / min a        LDP  log max a / min a.

Releases that are independent given the secret multiply their vectors, and with p = p_min (or 0, where it is not known)

    LDP ≤ LDP(first) + LDP(second)
    PML ≤ −log (p + e^−LDP(second) (e^−PML(first) − p))    at most PML(first) + LDP(second)
    PMC ≤ log (p + e^LDP(second) (e^PMC(first) − p))       at most PMC(first) + LDP(second)
    PML ≤ PML(first) + ε     where the second has PML ε for every prior with masses ≥ c, and p e^−PMC(first) ≥ c

in either order. Releases that share a record with each other form one group, and the first three lines hold inside it
where all but one have their LDP between any two records. Maximal leakage adds, and ε(δ) ≤ ℒ + log 1/δ. What no rule
covers may tell everything: then PML is log 1/p_min, and PMC and LDP are infinite.

Proofs and counterexamples: docs/ledger.md, "Rules".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from tightlip.arguments import instance, listed
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
    lead,
    least_of,
    of_entry,
    of_measured,
    uses_of,
)
from tightlip.numeric.quantity import Nats
from tightlip.showing import Shown

Holds = Literal["for every outcome", "for what was published"]

_LEADS: dict[Kind, Rule] = {"pml": "lead", "pmc": "lead", "ldp": "sum", "maximal_leakage": "sum"}
_MOST_EXACT = 6  # parts whose orders are all tried: 2^6 sets; more are tried in few orders

_CHOSEN = "chosen after others, and only the chosen one's level is known"
_TOGETHER = "no rule covers them together"
_UNBOUNDED = "no finite level of this kind is known of it"
_LEFT = "the masses of the posterior are at least min_mass"
_MOST = "everything is known then"
_SINGLE = "one single secret: there is nothing to learn"


@dataclass(frozen=True, slots=True)
class Charge(Shown):
    """What all releases together leak at most, and why.

    Attributes
    ----------
    value : Nats
        Rounded up; infinite where no rule bounds it.
    rule : str
        The one that decided: "given" (one release alone), "sum", "lead" (one level and the LDP of all others), "chain"
        (PML for the masses that are left), "conversion" (from another kind), "mean" (maximal leakage is at most the
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
class Account(Shown):
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
    return [fill(_group(members, prior), prior), *alone] if members else alone


def _group(members: list[Part], prior: Prior | None) -> Part:
    """One level about the secret, and of all others what holds between any two records."""
    if len(members) == 1:
        return members[0]
    steps = {kind: _led(members, kind, prior) for kind in KINDS}
    return Part.of(tuple(name for member in members for name in member.names), steps)


def _led(members: list[Part], kind: Kind, prior: Prior | None) -> Step:
    """min_j {level_j, and Σ_{i≠j} of what holds between any two records}."""
    others = [member.record_ml if kind == "maximal_leakage" else member.record_ldp for member in members]
    endless = [place for place, step in enumerate(others) if step.amount.endless]
    if len(endless) > 1:
        return NONE
    shared = sum((step.amount for step in others if not step.amount.endless), NOTHING)
    best, leader = ENDLESS, 0
    for place in endless or range(len(members)):
        rest = shared if endless else shared - others[place].amount
        amount = lead(kind, members[place].step(kind).amount, rest, prior)
        if best.exceeds(amount):
            best, leader = amount, place
    steps = [member.step(kind) if place == leader else others[place] for place, member in enumerate(members)]
    return NONE if best.endless else Step(best, _LEADS[kind], uses_of(steps))


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
    steps: dict[Kind, list[Step]] = {kind: [] for kind in KINDS}
    for first, second in ((before, part), (part, before)):
        for kind in KINDS:
            other = second.maximal_leakage if kind == "maximal_leakage" else second.ldp
            amount = lead(kind, first.step(kind).amount, other.amount, prior)
            steps[kind].append(Step(amount, _LEADS[kind], uses_of([first.step(kind), other])))
        if prior is not None and prior.leaves(first.pmc.amount, second.min_mass):
            after = first.pml.amount + second.chained.amount
            steps["pml"].append(Step(after, "chain", uses_of([first.pml, second.chained]), _LEFT))
    names = before.names + part.names
    return fill(Part.of(names, {kind: least_of(found) for kind, found in steps.items()}), prior)


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
                shift += other.amount
            if shift.exceeds(Amount(ratio=delta / smaller)):
                continue
            if others:
                reason = f"its envelope at δ = {smaller}"
                step = Step(step.amount + shift, "shift", uses_of([step, *others]), reason)
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
