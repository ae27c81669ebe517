"""An audit as one JSON-ready record: everything the report shows, with codes in place of values unless asked.

Text and HTML are made from this record alone, so neither can show what it leaves out.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tightlip.auditing.apply import remedy_toml
from tightlip.auditing.names import SMALL, Names
from tightlip.auditing.phrases import budget_words
from tightlip.auditing.veil import Veil, veiled
from tightlip.auditing.view_words import ViewWords
from tightlip.auditing.words import headline, notes, verdict
from tightlip.envelopes.result import Envelope
from tightlip.numeric.display import format_exactly, grouped
from tightlip.numeric.quantity import Nats, level_exact
from tightlip.report.amounts import Unit, delta_json
from tightlip.report.audit_amounts import amount, share, told_posterior, told_share
from tightlip.report.audit_curve import envelope_points
from tightlip.report.audit_figures import figures
from tightlip.report.audit_origin import origin_record
from tightlip.report.audit_proof import proof_record

if TYPE_CHECKING:
    from tightlip.auditing.result import Audit, CellRisk, Finding, Remedy, SecretView
    from tightlip.statistic.result import StatisticLeakage


def audit_record(
    audit: Audit,
    *,
    table: str,
    command: str,
    unit: Unit,
    show_values: bool,
    curve: bool,
    version: str,
    made: str,
) -> dict[str, Any]:
    """Words, verdict, measures, the charts' data, worst cells, columns, remedies, proofs, and how to make it again.

    Parameters
    ----------
    table, command : str
        What the report calls the table, and the command line that made it.
    unit : "nats" | "bits"
        Unit of every leakage in the record.
    show_values : bool
        Whether secret values, cells of fewer than 10 people, and proofs, which hold the counts, may be in it.
    curve : bool
        Whether the envelope is wanted at more δ than the audit's own, for a picture.
    version, made : str
        Of the program; date and time of the audit.
    """
    policy = audit.policy
    return {
        "version": version,
        "table": table,
        "command": command,
        "origin": origin_record(audit, made=made, version=version, show_values=show_values),
        "rows": audit.total,
        "unit": unit,
        "mode": audit.mode,
        "confidence": audit.confidence,
        **delta_json(audit.delta),
        "budget": None if audit.budget is None else _budget(audit.budget, unit),
        "secret_columns": list(policy.secret),
        "statistic": list(policy.statistic),
        "released": [item.column for item in policy.release],
        "plan": [item.words() for item in policy.release] + _suppression(policy.min_count),
        "headline": headline(audit, show_values=show_values, unit=unit),
        "paragraphs": notes(audit, show_values=show_values),
        "verdict": {
            "met": audit.verdict,
            "words": verdict(audit if show_values else veiled(audit), unit=unit),
        },
        "views": [_view(audit, view, unit, show_values, curve) for view in audit.views.values()],
        "remedies": [_remedy(audit, remedy, unit, show_values) for remedy in audit.remedies],
        "no_remedy": _no_remedy(audit, unit),
        "method": _method(audit),
        "values_shown": show_values,
        "privacy_note": _privacy_note(show_values),
    }


def _budget(budget: Nats, unit: Unit) -> dict[str, Any]:
    return amount(budget, unit) | {"given": level_exact(budget), "words": budget_words(budget, unit)}


def _privacy_note(show_values: bool) -> str:
    if show_values:
        return (
            "This shows secret values and small cells (--show-values): keep it as confidential as the table."
        )
    return (
        "Add --show-values to see values in place of codes, and exact numbers of small cells. Codes hide names, not "
        "shares: "
        "keep this among those who may see the table."
    )


def _suppression(min_count: int | None) -> list[str]:
    return [] if min_count is None else [f"cells of fewer than {min_count} rows released as one"]


def _no_remedy(audit: Audit, unit: Unit) -> str | None:
    """Why no change is listed; None where some are."""
    if audit.remedies:
        return None
    if audit.verdict is None:
        return "Without a budget no change is needed; add --budget to have changes searched for."
    if audit.verdict:
        return "Nothing has to change: the plan keeps the budget."
    said = "No change that keeps the budget was found; release fewer columns, or set a larger budget."
    if audit.closest is None:
        return said
    leakage = amount(audit.closest.leakage, unit)["words"]
    return f"{said} The closest that was tried, {audit.closest.change}, still leaks {leakage}."


def _method(audit: Audit) -> list[str]:
    rows = f"{grouped(audit.total)} rows were counted by secret and released value"
    if audit.mode == "population":
        basis = f"The table is taken for the whole population: {rows}, and the numbers are exact."
    else:
        basis = (
            f"The table is taken for a random sample of a population: {rows}, and all bounds hold together with "
            f"probability at least {format_exactly(Fraction(repr(audit.confidence)))}."
        )
    statistic = (
        "Statistic maximal leakage (SML) is the logarithm of the largest factor by which the release makes a secret "
        "column easier to guess, for the worst of all priors of the secret columns together."
    )
    return [
        basis,
        "Leakage is pointwise maximal leakage (PML): the logarithm of the largest factor by which seeing a released "
        "value makes any secret likelier.",
        f"The envelope at δ = {format_exactly(audit.delta)} is the largest leakage that any grouping of released "
        "values reaches with probability at least δ; larger leaks are rarer, whatever a stranger does with the values.",
        *([statistic] if audit.policy.statistic else []),
        "Guarantees are rounded up, attacks down.",
    ]


def _view(audit: Audit, view: SecretView, unit: Unit, show_values: bool, curve: bool) -> dict[str, Any]:
    proof, points = view.envelope, envelope_points(audit, view) if curve else [view.envelope]
    if not show_values:
        veil = Veil.of(audit, view)
        view, points = veil.view, [veil.envelope(point) for point in points]
    names, words = Names(audit, view, show_values), ViewWords(audit, view, show_values, unit)
    return {
        "name": view.name,
        "words": [_sentence(text) for text in words.sentences()],
        "figures": figures(audit, view, unit),
        "worst": _finding(view.worst, names, unit) | {"at_least": amount(view.at_least, unit)},
        "ruled_out": _finding(view.pmc, names, unit),
        "maximal_leakage": amount(view.maximal_leakage, unit),
        "ldp": amount(view.ldp, unit),
        "sml": None if view.sml is None else _statistic(audit, view.sml, unit, show_values),
        "share_above_budget": None if view.share_above_budget is None else share(view.share_above_budget),
        "tail": [
            {
                "level": amount(point.level, unit),
                "above": share(point.above),
                "at_least": share(point.at_least),
            }
            for point in view.tail
        ],
        "envelope": _envelope(view.envelope, unit) | {"attack": [_sentence(text) for text in words.attack()]},
        "curve": [_envelope(point, unit) for point in points],
        "proof": proof_record(proof, show_values=show_values),
        "cells": view.counted.tally.shape[1],
        "worst_cells_columns": _cell_columns(audit),
        "worst_cells": [_cell(risk, names, unit) for risk in view.worst_cells],
        "columns": _columns(audit, view, unit),
        "secrets": [
            {"secret": names.secret(place), "share": told_share(held)}
            for place, held in enumerate(view.shares)
        ],
        "certified": _certified(view),
    }


def _finding(found: Finding, names: Names, unit: Unit) -> dict[str, Any]:
    return {
        "cell": names.cell(found.cell),
        "secret": names.secret(found.secret),
        "leakage": amount(found.leakage, unit),
        "prior": told_share(found.prior),
        "posterior": told_posterior(found),
    }


def _cell_columns(audit: Audit) -> list[str]:
    """The names of what `_cell` tells, in its order; of a sample every number is a bound, and the names say which."""
    above, below = ("", "") if audit.mode == "population" else (", at most", ", at least")
    return [
        "released value",
        "people",
        f"leakage{above}",
        "points to",
        f"share before{below}",
        f"share after{above}",
    ]


def _cell(risk: CellRisk, names: Names, unit: Unit) -> dict[str, Any]:
    return {
        "cell": names.cell(risk.cell),
        "people": _people(risk, names),
        "leakage": amount(risk.leakage, unit),
        "secret": names.secret(risk.secret),
        "prior": told_share(risk.prior),
        "posterior": told_posterior(risk),
    }


def _people(risk: CellRisk, names: Names) -> str:
    """The number of people in a cell; a small one could be recognised by it."""
    if risk.size < SMALL and not names.show_values:
        return f"under {SMALL}"
    return grouped(round(risk.size)) if risk.size >= 1 else "under 1"


def _envelope(point: Envelope, unit: Unit) -> dict[str, Any]:
    return {
        **delta_json(point.delta),
        "delta_words": format_exactly(point.delta),
        "upper": amount(point.value, unit),
        "lower": amount(Nats(point.lower, rounding="down"), unit),
        "method": point.method,
    }


def _statistic(audit: Audit, found: StatisticLeakage, unit: Unit, show_values: bool) -> dict[str, Any]:
    """SML about a column that is a statistic of the whole secret, with both ends."""
    return amount(found.value, unit) | {
        "of": audit.joint.name,
        "at_least": amount(Nats(found.lower, rounding="down"), unit),
        "exact": found.exact,
        "method": found.method,
        "proof": proof_record(found, show_values=show_values),
    }


def _columns(audit: Audit, view: SecretView, unit: Unit) -> list[dict[str, Any]]:
    """The columns with the part of the leakage that goes when each is left out."""
    whole = float(view.worst.leakage if audit.mode == "population" else view.envelope.upper)
    return [
        {
            "column": effect.column,
            "alone": amount(effect.alone, unit),
            "without": amount(effect.without, unit),
            "saved": share(_saved(whole, float(effect.without))),
        }
        for effect in view.columns
    ]


def _saved(whole: float, without: float) -> float:
    if whole == 0 or math.isinf(without):
        return 0.0
    return 1.0 if math.isinf(whole) else max(0.0, 1 - without / whole)


def _certified(view: SecretView) -> dict[str, Any] | None:
    """What a sample cannot say, for the reader."""
    if view.certified is None:
        return None
    found = view.certified
    return {
        "confidence": found.confidence,
        "rarest": share(found.rarest),
        "uncertified_cells": found.uncertified_cells,
        "uncertified_share": share(found.uncertified_share),
    }


def _remedy(audit: Audit, remedy: Remedy, unit: Unit, show_values: bool) -> dict[str, Any]:
    """A remedy with the policy file that applies it, where that tells nothing that may not be shown."""
    return {
        "change": _sentence(remedy.change),
        "leakage": amount(remedy.leakage, unit),
        "kept": share(remedy.kept),
        "kind": remedy.kind,
        "reason": remedy.reason,
        "policy": remedy_toml(audit, remedy, show_values=show_values),
    }


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
