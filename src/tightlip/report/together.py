"""Tell what all releases give away together, measured now: a few sentences, a record, and cards for a notebook.

Where the account is exact and values may not be shown, what it says of fewer than ten people is told as a range, as an
audit does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tightlip.auditing.joint import Terms
from tightlip.auditing.result import Audit
from tightlip.ledger.guarantees import Declared, Measured
from tightlip.ledger.ledger import Recorded
from tightlip.ledger.rules import Account, Charge
from tightlip.ledger.standing import Standing, standings_of
from tightlip.ledger.together import SecretAccount, Together
from tightlip.numeric.parse import exact_text
from tightlip.numeric.quantity import Nats, Probability
from tightlip.report import ledger_words as said
from tightlip.report.amounts import (
    Unit,
    budget_given,
    factor,
    factor_first,
    join_names,
    leakage_json,
    printable,
    probability_json,
)
from tightlip.report.audit_record import AuditReport
from tightlip.report.card import Card, card_of, record_of
from tightlip.report.disclosure import veil_audit
from tightlip.report.ledger_record import Allowance, allowances, left_of, rule_lines, state_of
from tightlip.report.ledger_words import State

_KINDS = ("pml", "pmc", "ldp", "maximal_leakage")


@dataclass(frozen=True, slots=True)
class _Told:
    """One secret as it may be told: its account, its budget, and whether that is kept."""

    found: Standing
    allowed: Allowance
    state: State

    @classmethod
    def judge(cls, told: Standing, found: Standing, allowed: Allowance | None = None) -> _Told:
        """Judge by what was measured, not by what is told of it; without terms a budget is known by its level only."""
        level = None if found.level is None else _level_words(found.level)
        state: State = (
            "no budget" if found.kept is None else state_of(found, level or "not one level", empty=False)
        )
        return cls(told, Allowance(level, one_level=False) if allowed is None else allowed, state)

    @property
    def left(self) -> Nats | None:
        """What is left of a budget that is one level."""
        return left_of(self.found.level, self.found.upper) if self.allowed.one_level else None


def _level_words(level: Nats) -> str:
    low, high = (factor(level, up=up) for up in (False, True))
    return f"{low}x" if low == high else budget_given(level)


def together_lines(
    together: Together, unit: Unit, *, terms: Terms | None = None, show_values: bool = False
) -> list[str]:
    """Say what all releases give away together: the answer, then for each secret what is left and by which rule.

    Parameters
    ----------
    terms : of the ledger, which say what a budget is besides a level
    show_values : whether exact levels of what few people share may be told
    """
    told = _told(together, terms, show_values)
    decides = next(one for one in told if one.found.secret == together.deciding.name)
    start, several = said.all_releases(len(together.releases))
    names = join_names([f"release {name}" if name.isdecimal() else name for name in together.releases])
    effect = said.effect_words(
        decides.found.secret, decides.found.lower, decides.found.upper, decides.state, several=several
    )
    lines = [said.headline(f"{start} ({names})", effect, decides.allowed.words, decides.state)]
    for one in told:
        lines += _secret_lines(one, unit)
    return list(printable(lines))


def together_record(
    together: Together, unit: Unit, *, terms: Terms | None = None, show_values: bool = False
) -> dict[str, Any]:
    """Record what all releases give away together, as JSON takes it; arguments as of `together_lines`."""
    return {
        "unit": unit,
        "releases": list(together.releases),
        "kept": together.kept,
        "deciding": together.deciding.name,
        "exact": together.audit is not None,
        "secrets": [_told_json(one, unit, show_values) for one in _told(together, terms, show_values)],
        "words": together_lines(together, unit, terms=terms, show_values=show_values),
    }


def with_together(report: AuditReport, together: Together, terms: Terms, *, show_values: bool) -> AuditReport:
    """Answer for the plan together with everything released before; what it says alone comes second."""
    answer, *more = together_lines(together, report.unit, terms=terms, show_values=show_values)
    todo = report.todo if together.kept is not False else (said.PROTECT_BESIDE,)
    return replace(
        report,
        headline=answer,
        paragraphs=(f"The plan alone: {report.headline}", *report.paragraphs),
        verdict=replace(report.verdict, met=together.kept),
        todo=todo,
        # what meets the budget alone need not do so beside other releases
        remedies=(),
        no_remedy=None,
        protect=None,
        together=tuple(more),
        ledger=together_record(together, report.unit, terms=terms, show_values=show_values),
    )


def _told(together: Together, terms: Terms | None, show_values: bool) -> list[_Told]:
    """Every secret as it may be told."""
    if terms is None and together.audit is not None:
        terms = Terms.of(together.audit.policy)
    allowed = {} if terms is None else allowances(terms)
    found = standings_of(together)
    told = found if show_values else _veiled(found, together.audit)
    return [_Told.judge(one, own, allowed.get(own.secret)) for one, own in zip(told, found, strict=True)]


def _veiled(found: Sequence[Standing], audit: Audit | None) -> list[Standing]:
    """What is about fewer than ten people as a range; bounds of what is not exact are told as they are."""
    if audit is None:
        return list(found)
    views = veil_audit(audit).views
    return [
        replace(
            one,
            lower=views[one.secret].at_least,
            upper=views[one.secret].worst.leakage,
            envelope=Nats(views[one.secret].envelope.upper),
            pmc=views[one.secret].pmc.leakage,
            ldp=views[one.secret].ldp,
            over=views[one.secret].share_above_budget,
        )
        for one in found
    ]


def _secret_lines(one: _Told, unit: Unit) -> list[str]:
    found = one.found
    spent = f"{found.secret}: spent {said.spent_words(found.lower, found.upper, unit)}"
    rest = f", left {said.left_words(one.left, one.state, unit)}" if one.allowed.one_level else ""
    return [
        f"{spent}{rest}; envelope {said.level_words(found.envelope, unit)}.",
        *(f"{found.secret}: {line}" for line in rule_lines(found)),
    ]


def _told_json(one: _Told, unit: Unit, show_values: bool) -> dict[str, Any]:
    left = None if one.left is None else _level_json(one.left, unit, show_values)
    return {
        **_standing_json(one.found, unit, show_values),
        "budget": one.allowed.words,
        "left": left,
        "state": one.state,
    }


def _standing_json(found: Standing, unit: Unit, show_values: bool = False) -> dict[str, Any]:
    """An account as JSON; an exact ratio would tell the counts behind it."""
    levels = {
        name: _level_json(getattr(found, name), unit, show_values)
        for name in ("lower", "upper", "envelope", "pmc", "ldp", "maximal_leakage")
    }
    return {
        "secret": found.secret,
        **levels,
        "level": None if found.level is None else leakage_json(found.level, unit),
        "over": None if found.over is None else _share_json(found.over, show_values),
        "kept": found.kept,
        "rule": found.rule,
        "reason": found.reason,
        "holds": found.holds,
        "uses": list(found.uses),
        "uncovered": list(found.uncovered),
    }


def _level_json(level: Nats, unit: Unit, show_values: bool) -> dict[str, Any]:
    record = leakage_json(level, unit) | {"words": factor_first(level, unit)}
    return record if show_values else {name: item for name, item in record.items() if name != "ratio"}


def _share_json(share: Probability, show_values: bool) -> dict[str, Any]:
    record = probability_json(share)
    return record if show_values else {"value": record["value"]}


# what a notebook is shown of each


@record_of.register
def _(result: Together, unit: Unit) -> dict[str, Any]:
    return together_record(result, unit)


@card_of.register
def _(result: Together) -> Card:
    first, *others = together_lines(result, "nats")
    return Card(first, others)


@record_of.register
def _(result: SecretAccount, unit: Unit) -> dict[str, Any]:
    return _standing_json(Standing.of(result), unit)


@card_of.register
def _(result: SecretAccount) -> Card:
    return card_of(Standing.of(result))


@record_of.register
def _(result: Standing, unit: Unit) -> dict[str, Any]:
    return _standing_json(result, unit)


@card_of.register
def _(result: Standing) -> Card:
    told = _Told.judge(result, result)
    first, *others = _secret_lines(told, "nats")
    return Card(first, [f"{result.secret}: {said.STATES[told.state]}.", *others])


@record_of.register
def _(result: Recorded, unit: Unit) -> dict[str, Any]:
    return {
        "unit": unit,
        "number": result.number,
        "key": result.key,
        "state": result.state,
        "settled": result.settled,
        "what": _what(result, unit),
        "entry": {"seq": result.entry.seq, "time": result.entry.time, "digest": result.entry.digest},
        "account": [_standing_json(one, unit) for one in result.standings],
    }


@card_of.register
def _(result: Recorded) -> Card:
    title = f"Release {result.number} ({result.key}): {said.state_words(result)}"
    rows = [(one.secret, said.spent_words(one.lower, one.upper, "nats")) for one in result.standings]
    return Card(title, _what(result, "nats"), ("secret", "spent by all releases up to it"), rows)


def _what(release: Recorded, unit: Unit) -> list[str]:
    if release.declared is not None:
        return said.declared_lines(release.declared, unit)
    return [] if release.plan is None else said.plan_lines(release.plan)


@record_of.register
def _(result: Charge, unit: Unit) -> dict[str, Any]:
    return {
        "value": leakage_json(result.value, unit),
        "rule": result.rule,
        "reason": result.reason,
        "holds": result.holds,
        "uses": [
            {"name": use.name, "kind": use.kind, "level": leakage_json(use.level, unit)}
            for use in result.uses
        ],
        "uncovered": list(result.uncovered),
    }


@card_of.register
def _(result: Charge) -> Card:
    return Card(f"All releases together: {said.level_words(result.value, 'nats')}", _charge_lines(result))


def _charge_lines(charge: Charge) -> list[str]:
    uncovered = said.uncovered_words(charge.uncovered, charge.rule)
    names = list(dict.fromkeys(use.name for use in charge.uses))
    lines = [said.rule_words(charge.rule, names, charge.reason), said.holds_words(charge.holds)]
    return lines if uncovered is None else [*lines, uncovered]


@record_of.register
def _(result: Account, unit: Unit) -> dict[str, Any]:
    kinds = {name: record_of(charge, unit) for name, charge in _charges(result).items()}
    return {"unit": unit, **kinds, "sml": {name: record_of(one, unit) for name, one in result.sml.items()}}


@card_of.register
def _(result: Account) -> Card:
    rows = [
        (name.replace("_", " "), said.level_words(charge.value, "nats"), " ".join(_charge_lines(charge)))
        for name, charge in [*_charges(result).items(), *result.sml.items()]
    ]
    title = f"All releases together: PML {said.level_words(result.pml.value, 'nats')}"
    return Card(title, [], ("measure", "value", "decided by"), rows)


def _charges(account: Account) -> dict[str, Charge]:
    found = {
        "pml": account.pml,
        "pmc": account.pmc,
        "ldp": account.ldp,
        "maximal_leakage": account.maximal_leakage,
    }
    return found if account.envelope is None else found | {"envelope": account.envelope}


@record_of.register
def _(result: Declared, unit: Unit) -> dict[str, Any]:
    return {
        "unit": unit,
        "name": result.name,
        "guarantees": {kind: leakage_json(level, unit) for kind, level in result.guarantees.items()},
        "acts_on": result.acts_on,
        "adaptive": result.adaptive,
        "min_mass": None if result.min_mass is None else exact_text(result.min_mass),
        "statistic": result.statistic,
    }


@card_of.register
def _(result: Declared) -> Card:
    return Card(f"A release known by its guarantees: {result.name}", said.declared_lines(result, "nats"))


@record_of.register
def _(result: Measured, unit: Unit) -> dict[str, Any]:
    levels = {name: leakage_json(getattr(result, name), unit) for name in _KINDS}
    curve = [
        {"delta": exact_text(delta), **leakage_json(level, unit)} for delta, level in result.envelope.items()
    ]
    return {"unit": unit, "name": result.name, **levels, "envelope": curve, "adaptive": result.adaptive}


@card_of.register
def _(result: Measured) -> Card:
    rows = [(name.replace("_", " "), said.level_words(getattr(result, name), "nats")) for name in _KINDS]
    return Card(f"Measured: {result.name}", [], ("measure", "value"), rows)
