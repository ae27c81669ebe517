"""Measure what all releases give away together: those of the table exactly, others by what is known of them.

Releases of the table are one release of joint cells (`auditing.joint`), measured like any other. Where noise or
recodings cell by cell make these too many for memory, two ends are proved instead:

    from below   what some of the releases give away, which all of them do too
    from above   what the same columns would without noise, hiding and recoding cell by cell, which are post-processing;
                 or the same without the noisy columns, and the LDP of their noise, which adds (see `rules`). Whom a
                 release has a row of is told without noise, and so is which small cells it hides: where it does,
                 its columns stay

Releases that are known only by guarantees are added by the rules across kinds (`rules`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tightlip.auditing.budget import Budget
from tightlip.auditing.counted import Counted, counts_digest
from tightlip.auditing.joint import JointCells, Terms, count_jointly, plain, require_known_counts
from tightlip.auditing.plan import budgets_of, subjects_of
from tightlip.auditing.result import Audit, SecretView, TailPoint
from tightlip.auditing.run import Asked, audit_cells
from tightlip.ledger.amount import Amount
from tightlip.ledger.guarantees import Adaptive, Declared, Measured
from tightlip.ledger.rules import Account, account
from tightlip.numeric.quantity import Nats, Probability
from tightlip.showing import Shown
from tightlip.table.counts import TooManyCells, count_cells
from tightlip.table.policy import Policy
from tightlip.table.recoding import Suppress
from tightlip.table.source import Table

# how accounts call what is measured; others have other names
THE_TABLE, NOISE = "the table", "noise on "
FINER = "the same columns without noise, hiding or recoding cell by cell"
_SKIPPED = ("columns", "remedies", "protect")


@dataclass(frozen=True, slots=True, eq=False)
class SecretAccount(Shown):
    """What all releases together say about one secret.

    Attributes
    ----------
    name : the secret column, or "a × b" of several jointly
    lower, upper : the worst leakage is between these; equal where it is exact
    rules : what is proved of PML, PMC, LDP, maximal leakage and the envelope, and by which rule
    envelope : what survives post-processing at δ, both ends
    tail : the probability of a leakage above each level; empty where it is not known
    over : the share of people about whom more is said than the budget allows; None where it is not known
    kept : whether the budget is proved to be kept; None where there is none
    level : the budget as a level; None where it has none
    """

    name: str
    lower: Nats
    upper: Nats
    rules: Account
    envelope: tuple[Nats, Nats]
    tail: tuple[TailPoint, ...] = field(repr=False)
    over: Probability | None
    kept: bool | None
    level: Nats | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Together(Shown):
    """What all releases give away together.

    Attributes
    ----------
    releases : the names of all that count
    secrets : what they say about each secret
    digests : of each release of the table, the digest of its counts
    audit : the audit of the joint cells, where they are exact
    cells : the joint cells, where they fit
    """

    releases: tuple[str, ...]
    secrets: Mapping[str, SecretAccount]
    digests: Mapping[str, str] = field(repr=False)
    audit: Audit | None = field(repr=False, default=None)
    cells: JointCells | None = field(repr=False, default=None)

    def __repr__(self) -> str:
        """The answer in short; `secrets` has it all."""
        worst = self.deciding
        return f"Together({', '.join(self.releases)}: {worst.name} at most {worst.upper}, kept={self.kept})"

    @property
    def deciding(self) -> SecretAccount:
        """The secret that decides: one whose budget is not kept, then the one about which most is said."""
        return max(self.secrets.values(), key=lambda one: (one.kept is False, one.upper))

    @property
    def kept(self) -> bool | None:
        """Whether every budget is proved to be kept; None where there is none."""
        judged = [one.kept for one in self.secrets.values() if one.kept is not None]
        return all(judged) if judged else None


def measure_together(
    table: Table,
    terms: Terms,
    plans: Mapping[str, Policy],
    declared: Sequence[Declared] = (),
    *,
    adaptive: Adaptive = "no",
    known: Mapping[str, str] | None = None,
    limits: Mapping[str, Any] | None = None,
) -> Together:
    """Measure what some plans of a table, and releases known by their guarantees, give away together.

    Parameters
    ----------
    plans : by name, each as `Terms.judge` returns it; at least one
    adaptive : whether one of them was chosen after looking at what others published; see `guarantees`
    known : the digests that the counts of some plans had when they were released; others are refused
    limits : how many joint cells and pairs of secret and cell may be in memory, where it is not as usual
    """
    limits = limits or {}
    found: JointCells | None
    try:
        found = count_jointly(table, terms, plans, known=known, **limits)
    except TooManyCells:
        digests, audit, found = digests_of(table, plans), None, None
        require_known_counts(digests, known)
        bounds = _ends(table, terms, plans, limits)
    else:
        audit = _audit(found)
        bounds = {name: _Bounds.exact(view) for name, view in audit.views.items()}
        digests = digests_of(table, plans) if found.digests is None else dict(found.digests)
    budgets = {view.name: budget for view, budget in _budgets(terms, bounds)}
    secrets = {
        name: _account(name, own, budgets.get(name), declared, adaptive) for name, own in bounds.items()
    }
    names = (*plans, *(one.name for one in declared))
    return Together(names, secrets, digests, None if declared else audit, found)


def digests_of(table: Table, plans: Mapping[str, Policy]) -> dict[str, str]:
    """Hash the counts of each plan alone."""
    found = {}
    for name, plan in plans.items():
        counts = count_cells(table, replace(plan, min_count=None), check=False)
        columns = [item.column for item in plan.release]
        found[name] = counts_digest(Counted.of(counts, plan.secret, columns))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Bounds:
    """What is known of the table's releases about one secret: a lower end, and measures that bound them from above.

    Each of `above` stands for all releases together with noise that its LDP bounds. `view` is of the first.
    """

    lower: Nats
    above: tuple[tuple[SecretView, tuple[Declared, ...]], ...]
    is_exact: bool

    @classmethod
    def exact(cls, view: SecretView) -> _Bounds:
        return cls(view.at_least, ((view, ()),), True)

    @property
    def view(self) -> SecretView:
        return self.above[0][0]


def _audit(cells: JointCells) -> Audit:
    return audit_cells(cells.cells, Asked.of(cells.cells.policy, skip=_SKIPPED), {})


def _ends(
    table: Table, terms: Terms, plans: Mapping[str, Policy], limits: Mapping[str, Any]
) -> dict[str, _Bounds]:
    """Bound releases whose joint cells are too many: see the top of this file."""
    without = _audit(
        count_jointly(table, terms, {name: plain(plan) for name, plan in plans.items()}, **limits)
    )
    above: dict[str, list[tuple[SecretView, tuple[Declared, ...]]]] = {
        name: [(view, ())] for name, view in without.views.items()
    }
    levels = {
        f"{NOISE}{column} of {name}": level
        for name, plan in plans.items()
        if plan.min_count is None
        for column, level in _noise(table, plan).items()
    }
    quiet = {name: _quiet(plan) for name, plan in plans.items()}
    if levels and not any(map(math.isinf, levels.values())):
        noise = tuple(Declared(name, {"ldp": level}) for name, level in levels.items())
        rest = _audit(count_jointly(table, terms, quiet, **limits))
        for name, view in rest.views.items():
            above[name].append((view, noise))
    lower = _lower_ends(table, terms, plans, limits)
    return {
        name: _Bounds(lower.get(name, Nats(0.0, Fraction(1), "down")), tuple(own), False)
        for name, own in above.items()
    }


def _quiet(plan: Policy) -> Policy:
    """The same with nothing in its noisy columns; as it is without noise where it hides cells, which tells of them."""
    if plan.min_count is not None:
        return plain(plan)
    release = tuple(
        item if item.mechanism is None else replace(item, recoding=Suppress()) for item in plan.release
    )
    return plain(replace(plan, release=release))


def _noise(table: Table, plan: Policy) -> dict[str, Nats]:
    """The LDP of each noisy column of a plan, of the values that occur; infinite ones bound nothing."""
    found: dict[str, Nats] = {}
    for item in plan.release:
        if item.mechanism is None:
            continue
        alone = plain(replace(plan, release=(item,), local=None))
        values = [cell[0] for cell in count_cells(table, alone, check=False).cells]
        if item.mechanism.acts_on(values):
            level = item.mechanism.on(item.column, values).local_privacy()
            found |= {item.column: level} if level else {}
    return found


def _lower_ends(
    table: Table, terms: Terms, plans: Mapping[str, Policy], limits: Mapping[str, Any]
) -> dict[str, Nats]:
    """What some of the releases give away: those that only recode columns together, and each of the others."""
    recoded = {name: plan for name, plan in plans.items() if plan == plain(plan)}
    tried = [{name: plan} for name, plan in plans.items() if name not in recoded]
    found: dict[str, Nats] = {}
    for some in [recoded, *tried] if recoded else tried:
        with suppress(TooManyCells):
            for name, view in _audit(count_jointly(table, terms, some, **limits)).views.items():
                found[name] = max(found.get(name, view.at_least), view.at_least)
    return found


def _budgets(terms: Terms, bounds: Mapping[str, _Bounds]) -> list[tuple[SecretView, Budget]]:
    """The budget of each secret that has one."""
    plan = bounds[next(iter(bounds))].view
    policy = terms.plan(plan.counted.columns)
    budgets = budgets_of(policy)
    return [
        (own.view, budgets[subject])
        for subject, own in zip(subjects_of(policy), bounds.values(), strict=True)
        if subject in budgets
    ]


def _account(
    name: str, bounds: _Bounds, budget: Budget | None, declared: Sequence[Declared], adaptive: Adaptive
) -> SecretAccount:
    """Account for all releases about one secret."""
    tally = bounds.view.counted.tally
    least = min(tally.prior_of(secret) for secret in range(tally.shape[0]))
    rules = [
        account(
            _measured(view, adaptive, THE_TABLE if bounds.is_exact else FINER),
            [*declared, *noise],
            p_min=least,
            delta=view.envelope.delta,
        )
        for view, noise in bounds.above
    ]
    best = min(rules, key=lambda one: one.pml.value)
    exact = bounds.is_exact and not declared
    envelope = best.envelope
    assert envelope is not None
    upper = bounds.view.worst.leakage if exact else best.pml.value
    return SecretAccount(
        name,
        bounds.lower,
        upper,
        best,
        (Nats(bounds.view.envelope.lower if exact else 0.0, rounding="down"), envelope.value),
        bounds.view.tail if exact else (),
        bounds.view.share_above_budget if exact else None,
        bounds.view.verdict if exact else _keeps(bounds.view, upper, budget),
        None if budget is None else budget.level,
    )


def _measured(view: SecretView, adaptive: Adaptive, name: str) -> Measured:
    return Measured(
        view.worst.leakage,
        view.pmc.leakage,
        view.ldp,
        view.maximal_leakage,
        {Fraction(view.envelope.delta): Nats(view.envelope.upper)},
        adaptive=adaptive,
        name=name,
    )


def _keeps(view: SecretView, upper: Nats, budget: Budget | None) -> bool | None:
    """Whether a level of PML proves that a budget is kept."""
    if budget is None:
        return None
    if math.isinf(upper):
        return False
    reached = Amount.of(upper)
    for rule in budget.rules:
        if rule.allowed.kind == "cap":
            priors = [
                view.counted.tally.prior_of(place)
                for place in range(view.counted.tally.shape[0])
                if rule.labels is None or view.counted.secret_label(place) in rule.labels
            ]
            allowed = Amount(ratio=Fraction(rule.allowed.level) / max(priors))
        else:
            allowed = Amount.of(rule.allowed.nats())
        if reached.exceeds(allowed):
            return False
    return True
