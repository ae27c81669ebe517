"""Say an audit in words, each sentence written here and nowhere else: guarantees rounded up, attacks down.

Nothing here shows a secret value or the values of a small cell unless `show_values` is set.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tightlip.auditing.budget import REFERENCE, Budget, Rule
from tightlip.auditing.certainty import FACTORS
from tightlip.auditing.counted import SMALL
from tightlip.auditing.plan import name_of, sensitive
from tightlip.auditing.result import AttackGroup, Audit, Certified, Remedy, SecretView, largest_posterior
from tightlip.auditing.scales import scale_words
from tightlip.numeric.budget import Allowed
from tightlip.numeric.display import (
    format_about,
    format_count,
    format_down,
    format_exactly,
    format_sides,
    format_up,
    several,
)
from tightlip.numeric.quantity import Nats, Probability
from tightlip.report.amounts import (
    People,
    about,
    at_least,
    at_most,
    blur_people,
    both_sides,
    budget_words,
    by_factor,
    exact_share,
    factor,
    factor_above,
    factor_first,
    join_names,
    leakage,
    no_more,
    people,
    percent,
    posterior_share,
    posterior_words,
    surely,
    times,
)
from tightlip.report.disclosure import Names, has_small_cells, share_range, veil_audit
from tightlip.showing import Unit
from tightlip.table.flags import policy_flags
from tightlip.table.policy import Policy

if TYPE_CHECKING:
    from tightlip.auditing.classical import Classical, IdentityRisks
    from tightlip.envelopes.result import Envelope

_MOST_REMEDIES = 3
_LONGEST_GIVEN = 20  # characters
_MOST_SECRETS = 3  # that a headline names
_MOST_GROUPS = 3
_MOST_CELLS = 3
_TYPICAL = Fraction(1, 20)
_TOLD_FACTORS = frozenset({2, 5, 10, 100})


def headline(audit: Audit, *, show_values: bool = False, unit: Unit = "nats") -> str:
    """Answer in one sentence whether the release may go out as planned, and for how many people not."""
    view = audit.deciding
    if audit.mode == "sample":
        return _sample_headline(audit)
    if not any(other.worst.leakage for other in audit.views.values()):
        return f"The release gives nothing away about {join_names(list(audit.views))}."
    if view.budget is None:
        told = people_over(view, REFERENCE, show_values=show_values)
        start = f"For {told.words}" if told.count != 0 else "For nobody"
        return (
            f"No budget was set, so there is no verdict. {start} the released values make some {view.name} more than "
            "twice as likely."
        )
    if audit.verdict:
        return f"Can be published as planned: {_kept_words(audit)}."
    return (
        f"Do not publish as planned: for {people_over(view, show_values=show_values).words} the released values make "
        f"{_effect_words(view, exact=True)}{_others_words(audit, show_values)}."
    )


def _others_words(audit: Audit, show_values: bool) -> str:
    """Say the other secrets over their budgets, the largest share of people first, and how many are not named."""
    others = [
        (view, people_over(view, show_values=show_values))
        for view in audit.views.values()
        if view.verdict is False and view is not audit.deciding
    ]
    # by what is told: an order of numbers that are not would tell of them
    others.sort(key=lambda one: Fraction(one[1].count or 0, one[1].of), reverse=True)
    said = [f"; {_effect_words(view, exact=True)} for {told.words}" for view, told in others[:_MOST_SECRETS]]
    more = len(others) - len(said)
    return "".join(said) + (f"; and {several(more, 'more secret')}" if more else "")


def people_over(view: SecretView, budget: Budget | None = None, *, show_values: bool) -> People:
    """Count the people whose cell says more than the budget of a view allows, or another one."""
    share = None if view.share_above_budget is None else view.share_above_budget.fraction
    if budget is not None:
        share = view.counted.tally.share_of(np.flatnonzero(budget.over(view.counted)))
    if share is None:  # the veil's: that of fewer than ten
        return people(1, view.people, show=False, least=SMALL)
    return people(math.ceil(share * view.people), view.people, show=show_values, least=SMALL)


def allowed_words(budget: Budget, *, kept: bool = True) -> str:
    """Write a budget as it was given: "3x", or "3x and 50%"."""
    said = [
        _given_words(rule.allowed, kept=kept) + ("" if rule.labels is None else " for some values")
        for rule in budget.rules
    ]
    return join_names(list(dict.fromkeys(said)))


def _given_words(allowed: Allowed, *, kept: bool) -> str:
    """What was given, unless that was a number of very many digits: then up, or down where it is not kept."""
    if len(allowed.given) <= _LONGEST_GIVEN or allowed.kind == "cap":
        return allowed.given
    return budget_words(allowed.nats(), "nats", kept=kept)


def _effect_words(view: SecretView, *, exact: bool) -> str:
    """What the budget of a view is about: some disease more than 3 times as likely."""
    level = None if view.budget is None else view.budget.level
    rules = [
        rule
        for rule in (view.budget.rules if view.budget else ())
        if rule.allowed.kind == "cap" or rule.labels is not None or rule.allowed.nats() == level
    ]
    parts = [_rule_words(rule, exact=exact) for rule in rules]
    return f"some {view.name} " + " or ".join(dict.fromkeys(f"more than {part}" for part in parts))


def _rule_words(rule: Rule, *, exact: bool) -> str:
    """Say a rule, its factor as it is or up; a rounded one is called so where exactly so many people exceed it."""
    if rule.allowed.kind == "cap":
        return f"{format_exactly(100 * Fraction(rule.allowed.level))} % certain"
    level = rule.allowed.nats()
    low, high = ("", factor(level)) if level.ratio is None else format_sides(level.ratio)
    if low == high:
        return f"{times(high)} as likely"
    return f"{'about ' if exact else ''}{times(factor(level))} as likely"


def _kept_words(audit: Audit) -> str:
    judged = [(view, view.budget) for view in audit.views.values() if view.budget is not None]
    said = [
        f"nobody's {view.name} becomes "
        + " or ".join(f"more than {_rule_words(rule, exact=False)}" for rule in budget.rules)
        for view, budget in judged
    ]
    return "; ".join(said)


def paragraphs(audit: Audit, *, show_values: bool = False, unit: Unit = "nats") -> list[str]:
    """Say the audit in a few paragraphs: verdict, what to change, each view, and what the numbers mean."""
    told = audit if show_values else veil_audit(audit)
    found = [verdict(told, unit=unit)] if audit.verdict is not None else []
    found += remedy_words(told, unit=unit)
    for view in told.views.values():
        said = ViewWords(told, view, show_values, unit).sentences()
        found += [f"About {view.name}: {sentence}" for sentence in said]
    return [*found, *notes(audit, show_values=show_values)]


def verdict(audit: Audit, *, unit: Unit = "nats") -> str:
    """Say how far each secret is from its budget."""
    judged = [view for view in audit.views.values() if view.budget is not None]
    if not judged:
        return "No budget was set, so there is no verdict."
    return " ".join(_judgement(audit, view, unit) for view in judged)


def _judgement(audit: Audit, view: SecretView, unit: Unit) -> str:
    """Say whether one secret keeps its budget, and its worst case."""
    assert view.budget is not None
    allowed = allowed_words(view.budget, kept=view.verdict is True)
    share = view.share_above_budget or Probability(0.0)
    if audit.mode == "sample":
        known = f"it is at most {at_most(share)}" if share else "nobody has one"
        proved = "is proved to be" if view.verdict else "could not be proved to be"
        return (
            f"{view.name}: the chance of a leak above the budget of {allowed} {proved} at most "
            f"{both_sides(audit.delta)[view.verdict is True]}: with {sure(audit)} confidence {known}."
        )
    up_to = "" if view.worst.least is None else "at most "
    worst = f"{up_to}{factor_first(view.worst.leakage, unit)}"
    if view.verdict:
        return f"{view.name}: within the budget of {allowed}; the worst released value leaks {worst}."
    return (
        f"{view.name}: over the budget of {allowed} for {no_more(share)} of people; the worst leaks {worst}."
    )


def remedy_words(audit: Audit, *, unit: Unit = "nats") -> list[str]:
    """Say what to change, at most three ways; empty where nothing is wrong or asked."""
    if audit.verdict is not False:
        return []
    if not audit.remedies:
        return [no_remedy_words(audit, unit=unit)]
    after = (
        "worst leakage" if audit.mode == "population" else f"envelope at {both_sides(audit.delta)[1]} at most"
    )
    return [
        f"To meet the budget: {change_words(audit.policy, remedy)}; {after} {factor_first(remedy.leakage, unit)}, "
        f"keeps {about(remedy.kept)} of the information ({kind_words(audit.policy, remedy)})."
        for remedy in audit.remedies[:_MOST_REMEDIES]
    ]


def todo(audit: Audit, lead: str | None, *, unit: Unit = "nats") -> list[str]:
    """Say what to do next, the best way first; empty where nothing is wrong or asked."""
    if audit.verdict is not False:
        return []
    return [*([] if lead is None else [lead]), *remedy_words(audit, unit=unit)]


def summary_lines(audit: Audit, *, show_values: bool, unit: Unit) -> Iterator[dict[str, Any]]:
    """Say every secret in one line of a table."""
    for view in audit.views.values():
        words = ViewWords(audit, view, show_values, unit)
        verdicts = {True: "within budget", False: "over budget", None: "no budget"}
        risk, over = view.risk, words.over()
        identity = None if risk is None else risk.classical.identity
        yield {
            "secret": view.name,
            "budget": "none"
            if view.budget is None
            else allowed_words(view.budget, kept=view.verdict is True),
            "over": "" if over is None else over.words,
            "worst": words.amount(view.worst.leakage),
            "unique": "" if identity is None else words.everybody(identity.unique).words,
            "found_out": ()
            if risk is None
            else tuple(words.people(found, risk.holders).words for _, found in risk.found_out),
            "verdict": verdicts[view.verdict],
            "met": view.verdict,
        }


def change_note(audit: Audit, *, unit: Unit = "nats") -> str:
    """Say what the list of changes holds; without a capital, so that it can follow "What to change: "."""
    every = (
        "the budget" if sum(view.budget is not None for view in audit.views.values()) == 1 else "all budgets"
    )
    return f"each of these alone meets {every}; the one that keeps most information comes first"


def no_remedy_words(audit: Audit, *, unit: Unit = "nats") -> str:
    """That nothing was found, and how close the closest change comes."""
    said = (
        "No change of the plan was found that meets the budget and still releases something; release fewer columns, "
        "or set a larger budget."
    )
    if audit.closest is None:
        return said
    change = change_words(audit.policy, audit.closest)
    return f"{said} The closest: {change}; it still leaks {factor_first(audit.closest.leakage, unit)}."


def notes(audit: Audit, *, show_values: bool = False) -> list[str]:
    """Say what the numbers are about, and what is not shown."""
    if show_values:
        return [basis(audit)]
    coded = (
        f"Secret values and cells of fewer than {SMALL} people are shown as codes, numbered by size; "
        "equal sizes are numbered at random."
    )
    return [basis(audit), coded]


def no_change_words(audit: Audit, option: str, *, unit: Unit = "nats") -> str:
    """Why no change is listed; `option` is how a budget is set."""
    if audit.verdict is False and "remedies" in audit.skipped:
        return "Changes of the plan were not searched for, as asked."
    if audit.verdict is False and audit.stopped:
        return "The time was over before a change that meets the budget was found; give more of it."
    if audit.verdict is False and audit.policy.local is not None:
        return "The plan has a recoding of its own for each row; protect the table again for this budget."
    if audit.verdict is False and audit.counted is None:
        return (
            "There are too many cells to search for changes of the plan; coarsen columns (bins, prefixes, groups) or "
            "leave out those at the top of the list, and audit again."
        )
    if audit.verdict is None:
        return f"Without a budget no change is needed; add {option} to have changes searched for."
    if audit.verdict:
        return "Nothing has to change: the plan keeps the budget."
    return no_remedy_words(audit, unit=unit)


def lead_words(kept: str, detail: str, worst: str, run: str) -> str:
    """Say what protecting the table would keep."""
    return (
        f"Protecting row by row keeps {kept} of the information ({detail} of the detail): every row is published "
        f"truthfully, as finely as the budget allows; worst leakage {worst}. Run: {run}"
    )


def empty_lead_words() -> str:
    """Say that even row by row nothing can be published."""
    return "Even row by row, no truthful release that keeps the budget and says something was found."


def no_lead_words(reason: str, run: str) -> str:
    """Say why it was not tried what protecting the table would keep."""
    return {
        "sample": "What protecting row by row would keep is not worked out for a sample.",
        "noise": "tightlip protect publishes what is drawn, and the other columns as finely as the budget then allows.",
        "local": "The plan has a recoding of its own for each row; protect the table again for this budget.",
        "failed": f"What protecting row by row would keep was not found out here. To try it, run: {run}",
        "large": f"Protecting row by row keeps most detail; the table is too large to try it here. Run: {run}",
    }[reason]


def protect_call(audit: Audit, table: str, *, python: bool) -> str:
    """Write the call that protects the table of an audit under its budget, without exceptions, and row by row.

    The δ of an audit is that of its envelope; `protect` would let so many people be above the budget.
    """
    unset = {"delta": None, "weight": None}
    given = ", ".join(f"{name}=None" for name in unset if getattr(audit.policy, name) is not None)
    if python:
        plan = f"dataclasses.replace(audit.policy, {given})" if given else "audit.policy"
        return f"tl.protect(table, policy={plan})"
    flags = policy_flags(replace(audit.policy, delta=None, weight=None))
    # what no flag says can only have come from a policy file
    words = ["tightlip", "protect", table, *(["--policy", "FILE"] if flags is None else flags)]
    return shlex.join([*words, "--out", "safe.parquet"])


def plan_words(audit: Audit) -> list[str]:
    """Say the planned release, a line for each column, and what their values are taken to be where they are known."""
    policy, hidden = audit.policy, audit.policy.min_count
    small = [] if hidden is None else [f"cells of fewer than {hidden} rows released as one"]
    scales = [] if audit.counted is None else [f"scales: {scale_words(policy, audit.counted, audit.kinds)}"]
    return [*(item.words() for item in policy.release), *scales, *small]


def method(audit: Audit) -> list[str]:
    """Say what was counted, and what the measures mean."""
    statistic = (
        "Statistic maximal leakage (SML) is the logarithm of the largest factor by which the release makes a secret "
        "column easier to guess, for the worst of all priors of the secret columns together."
    )
    information = (
        "Information kept is the share of what the planned values tell about a row that is still told after a change, "
        "I(X; Y)/H(X); the detail of tightlip protect is another measure."
    )
    return [
        basis(audit),
        "Leakage is pointwise maximal leakage (PML): the logarithm of the largest factor by which seeing a released "
        "value makes any secret likelier.",
        f"The envelope at δ = {format_exactly(audit.delta)} is the largest leakage that any grouping of released "
        "values reaches with probability at least δ; larger leaks are rarer, whatever a stranger does with the values.",
        *([statistic] if audit.policy.statistic else []),
        *([information] if audit.verdict is False else []),
        "Guarantees are rounded up, attacks down.",
    ]


def option_names(command: str | None) -> dict[str, str]:
    """Say how to ask for what a reader may want: on the command line, or in Python where there was no command."""
    if command is None:
        return {"show_values": "show_values=True", "budget": "budget="}
    return {"show_values": "--show-values", "budget": "--budget"}


def privacy_note(show_values: bool, option: str) -> str:
    """Say how confidential the report is."""
    if show_values:
        return f"This shows secret values and small cells ({option}): keep it as confidential as the table."
    return (
        f"Add {option} to see values in place of codes, and exact numbers of small cells. Codes hide names, not "
        "shares: keep this among those who may see the table."
    )


def digest_words(digest: str | None, option: str) -> str:
    """Say what the digest of the counts is, or why there is none."""
    if digest is None:
        return (
            "The digest of the counts, by which to tell whether a table is still the same, is shown with "
            f"{option} only: who can guess the table could check the guess with it."
        )
    return (
        "SHA-256 of the counts by secret and released value, sorted, before small cells are hidden and noise is "
        f"added: {digest}"
    )


def proof_words(length: int | None, shown: bool, option: str) -> str:
    """That a proof was checked, and where it is; its length is None where it may not be shown."""
    words = "Both ends were checked again in rational arithmetic, without a solver, when this was written."
    if length is None:
        return f"{words} The proof holds the table's counts and is here only with {option}."
    if not shown:
        return f"{words} The proof has {format_count(length)} characters and is left out."
    return f"{words} To check it yourself, save what stands under certificate to a file and run: tightlip verify FILE"


def cell_columns(audit: Audit) -> list[str]:
    """List what is told of a cell, in order; of a sample every number is a bound, and the names say which."""
    above, below = ("", "") if audit.mode == "population" else (", at most", ", at least")
    return [
        "released value",
        "people",
        f"leakage{above}",
        "points to",
        f"share before{below}",
        f"share after{above}",
    ]


def basis(audit: Audit) -> str:
    """Say what the rows are taken for, and what the numbers then are."""
    rows = format_count(audit.total)
    if audit.mode == "population":
        return f"The table of {rows} rows counts as the whole population; the numbers are exact."
    return (
        f"The {rows} rows count as a random sample of a population; all bounds hold together with {sure(audit)} "
        "confidence."
    )


def sure(audit: Audit) -> str:
    """Say the confidence of a sample in per cent, never more than it is."""
    return f"{format_down(100 * Fraction(repr(audit.confidence or 0.0)))} %"


def _sample_headline(audit: Audit) -> str:
    """Answer for a sample: what is proved of the population."""
    view = audit.deciding
    if view.budget is not None:
        share = view.share_above_budget or Probability(0.0)
        start = "Can be published as planned" if audit.verdict else "Not shown to be safe as planned"
        few = f"for at most {at_most(share)} of people" if share else "for nobody"
        accepted = both_sides(audit.delta)[audit.verdict is True]
        return (
            f"{start}: with {sure(audit)} confidence, {few} the released values make "
            f"{_effect_words(view, exact=False)} "
            f"({accepted} is accepted)."
        )
    known = [(view.worst.leakage, Probability(0.0))]
    known += [(point.level, point.above) for point in view.tail if point.above <= audit.delta]
    level, above = min(known)
    return (
        f"With {sure(audit)} confidence, the release multiplies the probability of a secret ({view.name}) "
        f"by at most {by_factor(level)} for {f'all but {at_most(above)} of people' if above else 'everybody'}."
    )


def change_words(plan: Policy, remedy: Remedy) -> str:
    """Say what a remedy changes in the plan; it names no secret and no value of fewer than ten people."""
    after = {item.column: item for item in remedy.policy.release}
    kept = [(item, after[item.column]) for item in plan.release if item.column in after]
    gone = [item.column for item in plan.release if item.column not in after]
    parts = [
        f"release {new.column} {new.recoding.words()}" for old, new in kept if new.recoding != old.recoding
    ]
    parts += [f"leave out {join_names(gone)}"] if gone else []
    parts += [
        f"add {new.mechanism.words()} to {new.column}"
        for old, new in kept
        if new.mechanism is not None and new.mechanism != old.mechanism
    ]
    least = remedy.policy.min_count
    if least == plan.min_count:
        return "; ".join(parts)
    hide = f"hide cells of fewer than {least} people ({about(remedy.hidden)} of all people)"
    return f"{'; '.join(parts)}; then {hide}" if parts else hide


def reason_words(plan: Policy, remedy: Remedy) -> str:
    """Say among which changes a remedy was found best, or how far the search came."""
    over = "" if plan.min_count is None else " above the planned one"
    them = "the columns or leave them out"
    match remedy.among.family:
        case "coarsen":
            one = remedy.among.column
            return _ways_words(remedy, f"coarsen {them if one is None else f'{one} or leave it out'}")
        case "coarsen and hide":
            return _ways_words(remedy, f"coarsen {them}, each with the smallest min_count{over} that will do")
        case "hide":
            return f"no smaller min_count{over} meets the budget"
        case "randomise":
            changed = {item.column: item.mechanism for item in remedy.policy.release}
            mechanism = changed[remedy.among.column or ""]
            return "" if mechanism is None else mechanism.largest_of
        case "any":
            return "leaks least of all changes that were tried"
        case "leave out":
            return ""


def _ways_words(remedy: Remedy, aim: str) -> str:
    ways, counted = remedy.among.ways, remedy.among.counted
    if ways == 1:
        return f"the only way to {aim}"
    if remedy.kind == "heuristic":
        return (
            f"a greedy search stopped after {counted:,} of the {ways:,} ways to {aim}; others may keep more"
        )
    were = "was" if counted == 1 else "were"
    how = f"; {counted:,} {were} counted, the others follow" if counted < ways else ""
    return f"of the {ways:,} ways to {aim}, no other that meets the budget keeps more information{how}"


def kind_words(plan: Policy, remedy: Remedy) -> str:
    """Say whether a remedy is proved best, and among what."""
    said = "the least change of its kind" if remedy.kind == "optimal" else "found by a heuristic search"
    reason = reason_words(plan, remedy)
    return f"{said}: {reason}" if reason else said


def classical_words(
    found: Classical, count: Callable[[int], People], *, unit: Unit, veiled: SecretView | None = None
) -> Iterator[tuple[str, str, str]]:
    """Say the measures that officers know: name, value, and how each relates to the leakage.

    `veiled` is the view as it is told where the worst cell may be a small one that is not: its numbers are then bounds.
    """
    if found.identity is not None:
        yield from _anonymity_words(found.identity, count)
    yield (
        "l-diversity, distinct",
        f"{found.distinct_l}",
        "fewest secrets in a cell; below all of them, some are ruled out (PMC infinite)",
    )
    yield from _closeness_words(found, unit, veiled)
    if found.identity is not None:
        yield from _identity_words(found.identity)


def _anonymity_words(who: IdentityRisks, count: Callable[[int], People]) -> Iterator[tuple[str, str, str]]:
    yield (
        "k-anonymity",
        f"{who.k}",
        "k people or more share every released value; says nothing about the secret",
    )
    yield "unique people", count(who.unique).words, "cells of one person; each leaks all there is"
    for least, few in who.below.items():
        yield (
            f"people in cells below {least}",
            count(few).words,
            f"risk of being picked out above 1 in {least}",
        )


def _closeness_words(
    found: Classical, unit: Unit, veiled: SecretView | None
) -> Iterator[tuple[str, str, str]]:
    """What the worst cell says of the secret: exactly, or no more than a veiled view does."""

    def share(exact: Probability, shown: Callable[[Fraction], str]) -> str:
        whole = Fraction(exact) if exact.fraction is None else exact.fraction
        low, high = (whole, whole) if veiled is None else share_range(whole)
        return shown(whole) if low == high else f"at most {shown(high)}"

    least, beta, delta = format_down(found.entropy_l, 3), format_up(found.basic_beta, 3), found.delta
    if veiled is not None:
        least = f"at least {format_count(math.floor(found.entropy_l))}"
        beta = f"at most {format_up(factor_above(veiled.worst.leakage) - 1, 3)}"
        delta = max(delta, veiled.worst.leakage, veiled.pmc.leakage)
    yield "l-diversity, entropy", least, "at least 1/(e^PML × the largest share of a secret)"
    for name, t, relation in (
        ("t-closeness", found.t_equal, "total variation; at most 1 − e^−PML"),
        ("t-closeness, ordered", found.t_ordered, "never more than the one above"),
    ):
        if t is not None:
            yield name, share(t, lambda one: format_up(one, 3)), relation
    yield "β-likeness", beta, "e^PML − 1, of the same worst cell"
    up_to = "" if veiled is None or math.isinf(delta) else "at most "
    yield "δ-disclosure", f"{up_to}{leakage(delta, unit, 3)}", "the larger of PML and PMC"
    relation = "largest certainty about anybody's secret; at most e^PML × its share"
    yield "α of (α, k)", share(found.alpha, at_most), relation


def _identity_words(who: IdentityRisks) -> Iterator[tuple[str, str, str]]:
    yield "prosecutor risk", at_most(who.prosecutor), "1/k; about who somebody is: e^PML/n of the identity"
    yield (
        "journalist risk",
        at_most(who.journalist),
        "the same in the population, by sampling weights where given",
    )
    yield (
        "marketer risk",
        at_most(who.marketer),
        "share that linking everybody names right; e^(maximal leakage)/n",
    )


def envelope_bound(view: SecretView, point: Envelope | None = None) -> Nats:
    """The upper end of a view's envelope, or of another point of it, at most the worst leakage and as exact as that."""
    return min(view.worst.leakage, (view.envelope if point is None else point).value)


def _be(told: People) -> str:
    """The verb after a number of people; it must not tell one from several where the number is not told."""
    return "is" if told.count in (0, 1) else "are"


@dataclass(frozen=True, slots=True)
class Figure:
    """A measure as a line of a table: its name, its value with a unit, and what that means."""

    name: str
    value: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Told:
    """One finding as it is told: a sentence, and the measures in it as lines of the table of numbers."""

    sentence: str
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True, slots=True)
class ViewWords:
    """What is said about one view; sentences without a capital, so that they can follow "About disease: "."""

    audit: Audit
    view: SecretView
    show_values: bool = False
    unit: Unit = "nats"

    def sentences(self) -> list[str]:
        """Worst case, tail, envelope with its attack, what can be ruled out, averages, columns."""
        return [told.sentence for told in self._findings()]

    def figures(self) -> list[Figure]:
        """List the measures: people first, then the worst case and what researchers ask for."""
        return [figure for told in self._findings() for figure in told.figures]

    def _findings(self) -> Iterator[Told]:
        """Everything there is to say; a new measure is one more line here."""
        yield from self._above_budget()
        yield from self._exposed()
        yield Told(self._tail())
        yield self._worst()
        if "envelope" not in self.audit.skipped:
            yield self._envelope()
            yield from map(Told, self.attack())
        yield self._ruled_out()
        yield self._average()
        yield from self._statistic()
        yield from map(Told, self._columns())
        yield from map(Told, self._sample_limits())
        yield from map(Told, self._left_out())

    def _figure(self, name: str, amount: Nats, meaning: str) -> Figure:
        value = self.amount(amount)
        return Figure(name, value if math.isinf(amount) else f"at most {value}", meaning)

    def attack(self) -> list[str]:
        """Describe the attack behind the envelope, a line for each of its likeliest groups."""
        lines = [self._group(group) for group in self.view.attack[:_MOST_GROUPS]]
        more = len(self.view.attack) - _MOST_GROUPS
        return [*lines, f"{more} more group{'s' if more > 1 else ''} like these."] if more > 0 else lines

    @property
    def _names(self) -> Names:
        return Names(self.audit, self.view, self.show_values)

    def amount(self, amount: Nats) -> str:
        """Write an amount, its factor first."""
        return factor_first(amount, self.unit)

    def people(self, count: int, of: int | None = None, whole: int | None = None) -> People:
        """So many of the people to whom the secret applies, or of others; with noise, as many as are expected.

        `whole` is the count that stands for all of them, where it is not that of the plan: noise has its own scale.
        """
        whole = self.view.counted.tally.total if whole is None else whole
        scale = Fraction(self.view.people, whole)
        expected, all_ = round(count * scale), round((whole if of is None else of) * scale)
        expected = max(expected, 1) if count else 0  # few are not nobody
        return people(expected, all_, show=self.show_values, least=SMALL)

    def everybody(self, count: int) -> People:
        """So many of all people in the table, whether the secret applies to them or not."""
        return people(count, self.audit.total, show=self.show_values, least=SMALL)

    def over(self) -> People | None:
        """The people over the budget of the view; in a sample a bound on their share of the rows."""
        if self.view.share_above_budget is None:
            return None
        if self.audit.mode == "population":
            return people_over(self.view, show_values=self.show_values)
        share = self.view.share_above_budget
        words = f"at most {percent(share)} of people" if share else "nobody"
        return People(None, self.view.people, words)

    def share_over(self, share: Fraction | None) -> People | None:
        """The people over the budget where some column is left out."""
        if share is None:
            return None
        count = math.ceil(share * self.view.people)
        return people(count, self.view.people, show=self.show_values, least=SMALL)

    def left_out(self) -> Iterator[People]:
        """The people to whom the secret does not apply, by value."""
        for value, count in self.view.left_out.items():
            told = people(count, self.audit.total, show=self.show_values, least=SMALL)
            yield replace(told, words=f"{'(missing)' if value is None else value}: {told.words}")

    def by_factor(self) -> Iterator[tuple[float, float | None, str, People]]:
        """People by the factor of their cell, the bars of a histogram."""
        if self.view.risk is not None:
            yield from self.bars(self.view.risk.by_factor)

    def bars(self, counts: Sequence[int]) -> Iterator[tuple[float, float | None, str, People]]:
        """Bars of a histogram of people by factor, of the plan or of a change, which may have noise of its own."""
        edges, whole = [None, *FACTORS, None], sum(counts)
        told = blur_people([self.people(count, whole=whole) for count in counts])
        for place, held in enumerate(told):
            low, high = edges[place], edges[place + 1]
            words = (
                "no more likely"
                if low is None
                else f"over {format_about(float(low))}x"
                if high is None
                else f"{format_about(float(low))} to {format_about(float(high))}x"
            )
            yield float(low or 1), None if high is None else float(high), words, held

    def certainty(self) -> Iterator[tuple[int, People, list[tuple[float, float, str, People]]]]:
        """How certain the holders of each sensitive secret become: place, holders, and bars."""
        risk, counted = self.view.risk, self.view.counted
        meant = sensitive(counted, self.audit.policy)
        for place, bins in enumerate(() if risk is None else risk.certainty):
            held = int(counted.tally.of_secret[place])
            if 2 * held < counted.tally.total and meant[place]:
                counts = blur_people([self.people(count, held) for count in (*bins[:9], bins[9] + bins[10])])
                told = [
                    (at / 10, (at + 1) / 10, f"{10 * at} to {10 * at + 10} %", people)
                    for at, people in enumerate(counts)
                ]
                yield place, self.people(held), told

    def classical(self) -> Iterator[tuple[str, str, str]]:
        """What officers know, beside ours: name, value, and how they relate."""
        if self.view.risk is not None:
            hidden = not self.show_values and has_small_cells(self.view)
            told = self.view if hidden else None
            yield from classical_words(self.view.risk.classical, self.everybody, unit=self.unit, veiled=told)

    def _exposed(self) -> Iterator[Told]:
        """Who is alone with the released values, and whose secret is found out."""
        risk = self.view.risk
        if risk is None:
            return
        identity = risk.classical.identity
        if identity is not None:
            alone, meaning = self.everybody(identity.unique), "nobody else has the same released values"
            why = f": {meaning}" if alone.count != 0 else ""
            said = f"{alone.words} {_be(alone)} unique{why}."
            yield Told(said, (Figure("Unique people", alone.words, meaning),))
        whose = "hold a sensitive value" if self._named else "have a secret that less than half share"
        for level, found in risk.found_out if risk.holders else ():
            certain = f"{format_exactly(100 * level)} %"
            known = self.people(found, risk.holders)
            said = f"of those who {whose}, {known.words} {_be(known)} found out with at least {certain} certainty."
            meaning = f"of those who {whose}: their own secret becomes that likely"
            yield Told(said, (Figure(f"Found out at {certain}", known.words, meaning),))

    @property
    def _named(self) -> bool:
        """Whether sensitive values are named."""
        policy = self.audit.policy
        return any(policy.secret_of(column).values for column in self.view.counted.secret_columns)

    def _left_out(self) -> list[str]:
        """People to whom the secret does not apply."""
        told = "; ".join(group.words for group in self.left_out())
        if not told:
            return []
        return [
            f"not counted, since {self.view.name} is no secret for them, and taken to be known as such: {told}."
        ]

    def _worst(self) -> Told:
        worst, names = self.view.worst, self._names
        certified = self.view.certified
        prior = _TYPICAL if certified is None else max(_TYPICAL, Fraction(certified.rarest))
        typical = largest_posterior(prior, worst.leakage)
        cap = (
            f" A secret with prior {at_most(prior)} can rise to at most {at_most(typical)}."
            if typical < 1
            else ""
        )
        if self.audit.mode == "sample":
            proved = self.view.at_least
            known = f" The worst leaks at least {self.amount(proved)}." if proved else ""
            said = f"no released value leaks more than {self.amount(worst.leakage)}.{cap}{known}"
        else:
            up_to = "" if worst.least is None else "at most "
            said = (
                f"the worst leakage is {up_to}{self.amount(worst.leakage)}, {names.cell(worst.cell)}, where "
                f"{names.secret(worst.secret)} rises from {about(worst.prior)} to "
                f"{posterior_words(worst.posterior, worst.least)}.{cap}"
            )
        of = "of" if self.audit.mode == "population" else "of at least"
        meaning = (
            f"a secret {of} {exact_share(worst.prior).words} can become {posterior_share(worst).words} likely"
        )
        return Told(said, (self._figure("Worst released value (PML)", worst.leakage, meaning),))

    def _tail(self) -> str:
        told = [point for point in self.view.tail if point.level.ratio in _TOLD_FACTORS and point.above]
        if not told:
            most = by_factor(self.view.worst.leakage)
            return f"nobody's cell multiplies a secret's probability by more than {most}."
        parts = [
            f"{no_more(point.above)} by more than {format_about(float(point.level.ratio or 1))}"
            for point in told
        ]
        return f"share of people whose cell multiplies the probability of some secret: {', '.join(parts)}."

    def _envelope(self) -> Told:
        found = self.view.envelope
        attained = self.amount(Nats(found.lower, rounding="down"))
        below, above = both_sides(self.audit.delta)
        often = "" if below == above else f" with probability {below}"
        most = envelope_bound(self.view)
        said = (
            f"whatever is done with the release, a leakage above {self.amount(most)} stays less likely than "
            f"{above} (envelope; at least {attained} can be reached{often})."
        )
        name = f"Exceeded with probability below {format_sides(found.delta)[1]}, whatever values are grouped (envelope)"
        return Told(said, (self._figure(name, most, f"at least {attained} can be reached"),))

    def _group(self, group: AttackGroup) -> str:
        names = self._names
        shown = ", ".join(f"[{names.cell(cell)}]" for cell in group.cells[:_MOST_CELLS])
        rest = f" and {len(group.cells) - _MOST_CELLS} more" if len(group.cells) > _MOST_CELLS else ""
        split = ", some of them only with a certain probability," if group.split else ""
        people = f"fewer than {SMALL} people" if group.few else f"{about(group.probability)} of people"
        return (
            f"grouping {shown}{rest}{split} tells a stranger that the secret is {names.secret(group.secret)} with "
            f"probability at least {surely(group.posterior)} instead of {about(group.prior)}; "
            f"it happens to {people}."
        )

    def _ruled_out(self) -> Told:
        """What can be ruled out; of a sample only in words, since noise alone bounds it."""
        if self.audit.mode == "sample":
            return Told(self._ruled_out_words())
        cost = self.view.pmc.leakage
        meaning = (
            "some released value excludes a secret"
            if math.isinf(cost)
            else f"no secret becomes more than {factor(cost)} times less likely"
        )
        return Told(self._ruled_out_words(), (self._figure("What can be ruled out (PMC)", cost, meaning),))

    def _ruled_out_words(self) -> str:
        cost, names = self.view.pmc, self._names
        cell, secret = names.cell(cost.cell), names.secret(cost.secret)
        if self.audit.mode == "sample":
            if cost.posterior >= cost.prior:
                return "the sample does not prove that any secret can be ruled out, nor that none can."
            prior, posterior = at_least(cost.prior), at_most(cost.posterior)
            return (
                f"the value {cell} makes {secret} less likely: from at least {prior} to at most {posterior}."
            )
        if math.isinf(cost.leakage):
            held = about(cost.prior)
            return (
                f"secrets can be ruled out: nobody in {cell} has {secret}, which {held} of all people have."
            )
        return (
            f"nothing can be ruled out; {cell} makes {secret} less likely by at most {by_factor(cost.leakage)} "
            f"(PMC {self.amount(cost.leakage)})."
        )

    def _average(self) -> Told:
        local = self.amount(self.view.ldp)
        if math.isinf(self.view.ldp):
            local += (
                f": some cell {'excludes' if self.audit.mode == 'population' else 'may exclude'} a secret"
            )
        whole = self.view.maximal_leakage
        said = f"maximal leakage (average) is at most {self.amount(whole)}; local differential privacy is {local}."
        meaning = f"guessing gets at most {factor(whole)} times as easy"
        average = self._figure("Average over released values (maximal leakage)", whole, meaning)
        return Told(said, (average, *self._ldp_figures()))

    def _ldp_figures(self) -> list[Figure]:
        """Local privacy of a population; of a sample noise alone bounds it."""
        if self.audit.mode == "sample":
            return []
        local = self.view.ldp
        meaning = (
            "some released value is possible for one secret and not for another"
            if math.isinf(local)
            else f"no released value is more than {factor(local)} times as likely for one secret as for another"
        )
        return [self._figure("Between any two secrets (LDP)", local, meaning)]

    def _statistic(self) -> list[Told]:
        """What is learnt about a statistic of the whole secret, whatever its prior."""
        found = self.view.sml
        if found is None:
            return []
        whole, attained = name_of(self.audit.policy.secret), self.amount(Nats(found.lower, rounding="down"))
        apart = "" if found.exact else f"; some prior reaches {attained}"
        easier = f"at most {factor(found.value)} times as easy to guess"
        said = (
            f"as a statistic of {whole}: whatever is believed about {whole} beforehand, the release makes "
            f"{self.view.name} {easier}, {self.amount(found.value)} (SML, {f'proved{apart}' if apart else 'exact'})."
        )
        meaning = f"{self.view.name} gets {easier}, whatever is believed about {whole}{apart}"
        return [Told(said, (self._figure("As a statistic (SML)", found.value, meaning),))]

    def _above_budget(self) -> Iterator[Told]:
        over, budget = self.over(), self.view.budget
        if over is None or budget is None:
            return
        meaning = (
            f"the released values make {_effect_words(self.view, exact=self.audit.mode == 'population')}"
        )
        said = f"over the budget of {allowed_words(budget, kept=self.view.verdict is True)}: {over.words}."
        yield Told(said, (Figure("Over the budget", over.words, meaning),))

    def _columns(self) -> list[str]:
        """What each column adds: people above the budget without it, then the worst leakage."""
        effects = self.view.columns
        if not effects:
            return []
        if effects[0].over_without is None:
            parts = [
                f"{effect.column} (alone {self.amount(effect.alone)}, without it {self.amount(effect.without)})"
                for effect in effects
            ]
            return [f"released columns by what they add to the bound on the envelope: {'; '.join(parts)}."]
        over = "over the budget" if self.view.budget is not None else "above a factor of 2"
        told = [(self.share_over(effect.over_without), effect.column) for effect in effects]
        parts = [f"{people.words} without {column}" for people, column in told if people is not None]
        return [f"people {over} if one column is left out: {'; '.join(parts)}."]

    def _sample_limits(self) -> list[str]:
        """What a sample cannot say."""
        found = self.view.certified
        if found is None:
            return []
        covered = f"the bounds cover secrets held by at least {at_most(found.rarest)} of the population"
        decided = self._rows_to_decide(found)
        if not found.uncertified_cells:
            return [f"{covered}.", *decided]
        cells, share = several(found.uncertified_cells, "cell"), at_most(found.uncertified_share)
        are, them = ("is", "it") if found.uncertified_cells == 1 else ("are", "them")
        return [
            f"{covered}; {cells} ({share} of the rows) {are} too small to certify: the sample says no more about "
            f"{them} than about any other.",
            *decided,
        ]

    def _rows_to_decide(self, found: Certified) -> list[str]:
        """How many rows would decide whether the budget is kept, if the population were like the sample."""
        if found.observed_above is None:
            return []
        rows, few = found.rows_to_decide, found.observed_above <= self.audit.delta
        some = f"of the rows, {at_most(found.observed_above)}" if found.observed_above else "none of the rows"
        seen = f"{some} are above the budget"
        below, above = both_sides(self.audit.delta)
        kept, broken = f"at most {above} of people are", f"more than {below} of people are"
        if rows is not None and rows <= self.audit.total:
            proved = self.view.share_above_budget or Probability(0.0)
            return [f"{seen}; the sample proves that {kept if proved <= self.audit.delta else broken}."]
        hope = "" if few else f", and no number of rows is likely to prove that {kept}"
        if rows is None:
            return [f"{seen}{hope}."]
        told = f"about {format_count(rows)} rows prove that {kept if few else broken}"
        return [f"{seen}{hope}; if the population is like them, {told}."]
