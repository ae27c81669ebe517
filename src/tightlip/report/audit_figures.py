"""The measures of an audit as people read them: a name, a value and what it means."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tightlip.auditing.phrases import budget_words, factor
from tightlip.numeric.display import format_sides
from tightlip.numeric.quantity import Nats
from tightlip.report.amounts import Unit
from tightlip.report.audit_amounts import amount, percent, told_posterior, told_share

if TYPE_CHECKING:
    from tightlip.auditing.result import Audit, SecretView
    from tightlip.statistic.result import StatisticLeakage


def figures(audit: Audit, view: SecretView, unit: Unit) -> list[dict[str, str]]:
    """The measures of one view, the worst leakage first."""
    found = [_worst(audit, view, unit), _envelope(view, unit), _average(view, unit)]
    if audit.mode == "population":
        found += [_ruled_out(view, unit), _told_apart(view, unit)]
    if view.sml is not None:
        found.append(_statistic(audit, view.name, view.sml, unit))
    if view.share_above_budget is not None and audit.budget is not None:
        found.append(
            {
                "name": "People above the budget",
                "value": f"at most {percent(view.share_above_budget)}"
                if view.share_above_budget
                else "nobody",
                "meaning": f"their released value leaks more than {budget_words(audit.budget, unit)}",
            }
        )
    return found


def _figure(name: str, leakage: Nats, unit: Unit, meaning: str) -> dict[str, str]:
    words = amount(leakage, unit)["words"]
    return {"name": name, "value": words if math.isinf(leakage) else f"at most {words}", "meaning": meaning}


def _worst(audit: Audit, view: SecretView, unit: Unit) -> dict[str, str]:
    prior, posterior = told_share(view.worst.prior)["words"], told_posterior(view.worst)["words"]
    of = "of" if audit.mode == "population" else "of at least"
    meaning = f"a secret {of} {prior} can become {posterior} likely"
    return _figure("Worst released value (PML)", view.worst.leakage, unit, meaning)


def _envelope(view: SecretView, unit: Unit) -> dict[str, str]:
    point = view.envelope
    reached = amount(Nats(point.lower, rounding="down"), unit)["words"]
    name = f"Exceeded with probability below {format_sides(point.delta)[1]}, whatever values are grouped (envelope)"
    return _figure(name, point.value, unit, f"at least {reached} can be reached")


def _average(view: SecretView, unit: Unit) -> dict[str, str]:
    meaning = f"guessing gets at most {factor(view.maximal_leakage)} times as easy"
    return _figure("Average over released values (maximal leakage)", view.maximal_leakage, unit, meaning)


def _ruled_out(view: SecretView, unit: Unit) -> dict[str, str]:
    cost = view.pmc.leakage
    meaning = (
        "some released value excludes a secret"
        if math.isinf(cost)
        else f"no secret becomes more than {factor(cost)} times less likely"
    )
    return _figure("What can be ruled out (PMC)", cost, unit, meaning)


def _told_apart(view: SecretView, unit: Unit) -> dict[str, str]:
    meaning = (
        "some released value is possible for one secret and not for another"
        if math.isinf(view.ldp)
        else f"no released value is more than {factor(view.ldp)} times as likely for one secret as for another"
    )
    return _figure("Between any two secrets (LDP)", view.ldp, unit, meaning)


def _statistic(audit: Audit, column: str, found: StatisticLeakage, unit: Unit) -> dict[str, str]:
    whole = audit.joint.name
    meaning = f"{column} gets at most {factor(found.value)} times as easy to guess, whatever is believed about {whole}"
    if not found.exact:
        reached = amount(Nats(found.lower, rounding="down"), unit)["words"]
        meaning += f"; some prior reaches {reached}"
    return _figure("As a statistic (SML)", found.value, unit, meaning)
