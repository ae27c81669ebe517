"""An audit in words: a headline, a verdict and paragraphs, guarantees rounded up and attacks down.

Nothing here shows a secret value or the values of a small cell unless `show_values` is set.
"""

from __future__ import annotations

from fractions import Fraction

from tightlip.auditing.names import SMALL, Names
from tightlip.auditing.phrases import (
    about,
    at_most,
    both_sides,
    budget_words,
    by_factor,
    factor,
    leakage,
    no_more,
    reached,
)
from tightlip.auditing.result import Audit, Remedy, SecretView
from tightlip.auditing.veil import veiled
from tightlip.auditing.view_words import ViewWords
from tightlip.numeric.display import format_down, grouped
from tightlip.numeric.quantity import Probability
from tightlip.numeric.unit import Unit

_MOST_REMEDIES = 3


def headline(audit: Audit, *, show_values: bool = False, unit: Unit = "nats") -> str:
    """One sentence: the worst that the release does."""
    audit = audit if show_values else veiled(audit)
    view = audit.joint
    if audit.mode == "sample":
        return _sample_headline(audit, view)
    if not view.worst.leakage:
        return f"The release gives nothing away about {view.name}."
    names, worst = Names(audit, view, show_values), view.worst
    small = "" if names.shows(worst.cell) else f" (fewer than {SMALL} people)"
    up_to = "" if worst.least is None else "at most "
    return (
        f"In the worst case, {names.cell(worst.cell)}{small}, the release raises the probability of "
        f"{names.secret(worst.secret)} from {about(worst.prior)} to {reached(worst.posterior, worst.least)}: "
        f"{up_to}{factor(worst.leakage)} times as likely, a leakage of {up_to}{leakage(worst.leakage, unit)}."
    )


def paragraphs(audit: Audit, *, show_values: bool = False, unit: Unit = "nats") -> list[str]:
    """The audit in a few paragraphs: verdict, then each view, then what to change and what the numbers mean."""
    audit = audit if show_values else veiled(audit)
    found = [verdict(audit, unit=unit)] if audit.verdict is not None else []
    for view in audit.views.values():
        said = ViewWords(audit, view, show_values, unit).sentences()
        found += [f"About {view.name}: {sentence}" for sentence in said]
    return [*found, *remedy_words(audit, unit=unit), *notes(audit, show_values=show_values)]


def verdict(audit: Audit, *, unit: Unit = "nats") -> str:
    """Whether the budget is kept, and by how many people not."""
    view, budget = audit.joint, audit.budget
    if budget is None or view.share_above_budget is None:
        return "No budget was set, so there is no verdict."
    share = max(view.share_above_budget or Probability(0.0) for view in audit.views.values())
    kept = audit.verdict is True
    allowed = f"{budget_words(budget, unit, kept=kept)} ({by_factor(budget, up=kept)})"
    known = f"it is at most {at_most(share)}" if share else "nobody has one"
    if audit.mode == "sample":
        proved = "is proved to be" if audit.verdict else "could not be proved to be"
        return (
            f"The chance of a leak above the budget of {allowed} {proved} at most {both_sides(audit.delta)[kept]}: "
            f"with {sure(audit)} confidence {known}."
        )
    worst = leakage(view.worst.leakage, unit)
    up_to = "" if view.worst.least is None else "at most "
    if audit.verdict:
        return f"Within the budget of {allowed}: no released value leaks more than {worst}."
    return (
        f"Over the budget of {allowed}: the worst released value leaks {up_to}{worst}, "
        f"and {no_more(share)} of people have one that leaks more than the budget."
    )


def remedy_words(audit: Audit, *, unit: Unit = "nats") -> list[str]:
    """What to change, at most three ways; empty where nothing is wrong or asked."""
    if audit.verdict is not False:
        return []
    if not audit.remedies:
        return [no_remedy_words(audit, unit=unit)]
    after = (
        "worst leakage" if audit.mode == "population" else f"envelope at {both_sides(audit.delta)[1]} at most"
    )
    return [
        f"To meet the budget: {remedy.change}; {after} {leakage(remedy.leakage, unit)}, keeps {about(remedy.kept)} "
        f"of the detail ({kind_words(remedy)})."
        for remedy in audit.remedies[:_MOST_REMEDIES]
    ]


def no_remedy_words(audit: Audit, *, unit: Unit = "nats") -> str:
    """That nothing was found, and how close the closest change comes."""
    said = "No change of the plan was found that meets the budget and still releases something."
    if audit.closest is None:
        return said
    return (
        f"{said} The closest: {audit.closest.change}; worst leakage {leakage(audit.closest.leakage, unit)}."
    )


def notes(audit: Audit, *, show_values: bool = False) -> list[str]:
    """What the numbers are about, and what is not shown."""
    rows = grouped(audit.total)
    basis = (
        f"The table of {rows} rows counts as the whole population; the numbers are exact."
        if audit.mode == "population"
        else f"The {rows} rows count as a sample; all bounds hold together with {sure(audit)} confidence."
    )
    if show_values:
        return [basis]
    coded = (
        f"Secret values and cells of fewer than {SMALL} people are shown as codes, numbered by size; "
        "equal sizes are numbered at random."
    )
    return [basis, coded]


def sure(audit: Audit) -> str:
    """The confidence of a sample in per cent, never more than it is."""
    return f"{format_down(100 * Fraction(repr(audit.confidence or 0.0)))} %"


def _sample_headline(audit: Audit, view: SecretView) -> str:
    known = [(view.worst.leakage, Probability(0.0))]
    known += [(point.level, point.above) for point in view.tail if point.above <= audit.delta]
    level, above = min(known)
    return (
        f"With {sure(audit)} confidence, the release multiplies the probability of a secret ({view.name}) "
        f"by at most {by_factor(level)} for {f'all but {at_most(above)} of people' if above else 'everybody'}."
    )


def kind_words(remedy: Remedy) -> str:
    """Whether a remedy is proved best, and among what."""
    said = "the least change of its kind" if remedy.kind == "optimal" else "found by a heuristic search"
    return f"{said}: {remedy.reason}" if remedy.reason else said
