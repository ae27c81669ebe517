"""An audit as one JSON-ready record: everything the report shows, with codes in place of values unless asked.

Text and HTML are made from this record alone, so neither can show what it leaves out.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from tightlip.audit.names import SMALL, Names
from tightlip.audit.words import attack_words, headline, paragraphs, remedy_words, verdict
from tightlip.envelope.result import Envelope
from tightlip.numeric.quantity import Nats
from tightlip.report.amounts import Unit
from tightlip.report.audit_amounts import amount, grouped, percent, share, told_share
from tightlip.report.audit_curve import envelope_points
from tightlip.report.audit_figures import figures

if TYPE_CHECKING:
    from tightlip.audit.result import Audit, CellRisk, Certified, Finding, Remedy, SecretView

_LARGEST_PROOF = 500_000


def audit_record(
    audit: Audit, *, table: str, command: str, unit: Unit, show_values: bool, curve: bool, version: str
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
    version : str
        Of the program.
    """
    policy, words = audit.policy, _paragraphs(audit, show_values, unit)
    return {
        "version": version,
        "table": table,
        "command": command,
        "rows": audit.total,
        "unit": unit,
        "mode": audit.mode,
        "confidence": audit.confidence,
        "delta": float(audit.delta),
        "budget": None if audit.budget is None else amount(audit.budget, unit),
        "secret_columns": list(policy.secret),
        "released": [item.column for item in policy.release],
        "plan": [item.words() for item in policy.release] + _suppression(policy.min_count),
        "headline": headline(audit, show_values=show_values, unit=unit),
        "paragraphs": [text for text in words if not text.startswith("About ")],
        "verdict": {"met": audit.verdict, "words": _verdict(audit, unit)},
        "views": [
            {"name": view.name, "words": _about(view, words), **_view(audit, view, unit, show_values, curve)}
            for view in audit.views.values()
        ],
        "remedies": [_remedy(remedy, unit) for remedy in audit.remedies],
        "no_remedy": _no_remedy(audit),
        "method": _method(audit),
        "values_shown": show_values,
        "privacy_note": _privacy_note(show_values),
    }


def _paragraphs(audit: Audit, show_values: bool, unit: Unit) -> list[str]:
    """The audit in words, without the verdict and the remedies, which stand by themselves."""
    said = [] if audit.verdict is None else [verdict(audit, unit=unit)]
    elsewhere = {*remedy_words(audit, unit=unit), *said}
    told = paragraphs(audit, show_values=show_values, unit=unit)
    return [words for words in told if words not in elsewhere]


def _about(view: SecretView, words: list[str]) -> list[str]:
    """What is said about one view, as sentences of their own."""
    start = f"About {view.name}: "
    said = [text.removeprefix(start) for text in words if text.startswith(start)]
    columns = view.counted.columns  # whose names stay as they are
    return [text if text.startswith(columns) else text[:1].upper() + text[1:] for text in said]


def _privacy_note(show_values: bool) -> str:
    if show_values:
        return (
            "This shows secret values and small cells (--show-values): keep it as confidential as the table."
        )
    return (
        "Add --show-values to see values in place of codes. Codes hide names, not numbers: "
        "keep this among those who may see the table."
    )


def _suppression(min_count: int | None) -> list[str]:
    return [] if min_count is None else [f"cells of fewer than {min_count} rows released as one"]


def _verdict(audit: Audit, unit: Unit) -> str:
    if audit.budget is None:
        return "No budget was set; add --budget to get a verdict."
    budget = amount(audit.budget, unit)["words"]
    if audit.mode == "sample":
        said = "is proved to be" if audit.verdict else "could not be proved to be"
        return f"The chance of a leak above the budget of {budget} {said} at most {float(audit.delta):g}."
    worst = amount(audit.joint.worst.leakage, unit)["words"]
    if audit.verdict:
        return f"Within the budget of {budget}: no released value leaks more than {worst}."
    return f"Over the budget of {budget}: the worst released value leaks {worst}."


def _no_remedy(audit: Audit) -> str:
    if audit.verdict is None:
        return "Without a budget no change is needed; add --budget to have changes searched for."
    if audit.verdict:
        return "Nothing has to change: the plan keeps the budget."
    return "No change that keeps the budget was found; release fewer columns, or set a larger budget."


def _method(audit: Audit) -> list[str]:
    rows = f"{grouped(audit.total)} rows were counted by secret and released value"
    if audit.mode == "population":
        basis = f"The table is taken for the whole population: {rows}, and the numbers are exact."
    else:
        basis = (
            f"The table is taken for a random sample of a population: {rows}, and all bounds hold together with "
            f"probability at least {audit.confidence:g}."
        )
    return [
        basis,
        "Leakage is pointwise maximal leakage (PML): the logarithm of the largest factor by which seeing a released "
        "value makes any secret likelier.",
        f"The envelope at δ = {float(audit.delta):g} is the largest leakage that any grouping of released values "
        "reaches with probability at least δ; larger leaks are rarer, whatever a stranger does with the values.",
        "Guarantees are rounded up, attacks down.",
    ]


def _view(audit: Audit, view: SecretView, unit: Unit, show_values: bool, curve: bool) -> dict[str, Any]:
    names = Names(audit, view, show_values)
    points = envelope_points(audit, view) if curve else [view.envelope]
    return {
        "figures": figures(audit, view, unit),
        "worst": _finding(view.worst, names, unit) | {"at_least": amount(view.at_least, unit)},
        "ruled_out": _finding(view.pmc, names, unit),
        "maximal_leakage": amount(view.maximal_leakage, unit),
        "ldp": amount(view.ldp, unit),
        "sml": None if view.sml is None else amount(view.sml.value, unit),
        "share_above_budget": None if view.share_above_budget is None else share(view.share_above_budget),
        "tail": [
            {
                "level": amount(point.level, unit),
                "above": share(point.above),
                "at_least": share(point.at_least),
            }
            for point in view.tail
        ],
        "envelope": _envelope(view.envelope, unit)
        | {"attack": attack_words(audit, view, show_values=show_values)},
        "curve": [_envelope(point, unit) for point in points],
        "proof": _proof(view.envelope, show_values),
        "cells": view.counted.tally.shape[1],
        "worst_cells": [_cell(risk, view, names, unit) for risk in view.worst_cells],
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
        "posterior": told_share(found.posterior),
    }


def _cell(risk: CellRisk, view: SecretView, names: Names, unit: Unit) -> dict[str, Any]:
    return {
        "cell": names.cell(risk.cell),
        "people": _people(risk, names),
        "leakage": amount(risk.leakage, unit),
        "secret": names.secret(risk.secret),
        "prior": told_share(view.shares[risk.secret]),
        "posterior": told_share(risk.posterior),
    }


def _people(risk: CellRisk, names: Names) -> str:
    """The number of people in a cell; a small one could be recognised by it."""
    if risk.size < SMALL and not names.show_values:
        return f"under {SMALL}"
    return grouped(round(risk.size)) if risk.size >= 1 else "under 1"


def _envelope(point: Envelope, unit: Unit) -> dict[str, Any]:
    return {
        "delta": float(point.delta),
        "upper": amount(point.epsilon, unit),
        "lower": amount(Nats(point.lower, rounding="down"), unit),
        "method": point.method,
    }


def _proof(point: Envelope, show_values: bool) -> dict[str, Any]:
    """Whether the proof holds, checked here again, and the proof itself where the counts in it may be shown."""
    proof = point.certificate
    if proof is None:
        return {"words": f"There is no separate proof to check; method: {point.method}.", "checked": False}
    point.verify()
    record: dict[str, Any] = {"checked": True, "about": proof.digest()}
    words = "Both ends were checked again in rational arithmetic, without a solver, when this was written."
    if not show_values:
        return record | {
            "words": f"{words} The proof holds the table's counts and is here only with --show-values."
        }
    text = proof.to_json()
    if len(text) > _LARGEST_PROOF:
        return record | {"words": f"{words} The proof has {grouped(len(text))} characters and is left out."}
    words += (
        " To check it yourself, save what stands under certificate to a file and run: tightlip verify FILE"
    )
    return record | {"words": words, "certificate": json.loads(text)}


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
        "words": _uncertified(found)
        + f"Secrets held by less than {percent(found.rarest)} of the population are "
        "outside every bound.",
    }


def _uncertified(found: Certified) -> str:
    if not found.uncertified_cells:
        return ""
    return (
        f"{grouped(found.uncertified_cells)} released values, with {percent(found.uncertified_share)} of the rows, are "
        "too rare for the sample to say more about them than about any other. "
    )


def _remedy(remedy: Remedy, unit: Unit) -> dict[str, Any]:
    return {
        "change": remedy.change[:1].upper() + remedy.change[1:],
        "leakage": amount(remedy.leakage, unit),
        "kept": share(remedy.kept),
        "kind": remedy.kind,
    }
