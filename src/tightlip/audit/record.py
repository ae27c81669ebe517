"""An audit as plain JSON values: everything a report shows, by codes unless values may be shown."""

from __future__ import annotations

import math
from typing import Any

from tightlip.audit.names import Names
from tightlip.audit.result import Audit, Finding, SecretView
from tightlip.audit.words import attack_words, headline, paragraphs
from tightlip.numeric.parse import exact_text
from tightlip.numeric.quantity import Nats, Probability


def audit_record(audit: Audit, *, show_values: bool = False) -> dict[str, Any]:
    """The audit as a dict that `json.dumps` takes; amounts in nats, infinity as "inf".

    Recodings appear in words: a mapping lists values of a column, which are nobody's business here.
    """
    return {
        "headline": headline(audit, show_values=show_values),
        "paragraphs": paragraphs(audit, show_values=show_values),
        "rows": audit.total,
        "mode": audit.mode,
        "confidence": audit.confidence,
        "delta": exact_text(audit.delta),
        "budget": None if audit.budget is None else amount(audit.budget),
        "verdict": audit.verdict,
        "shows_values": show_values,
        "plan": {
            "secret": list(audit.policy.secret),
            "release": [item.words() for item in audit.policy.release],
            "min_count": audit.policy.min_count,
        },
        "views": [view_record(audit, view, Names(audit, view, show_values)) for view in audit.views.values()],
        "remedies": [
            {
                "change": remedy.change,
                "leakage": amount(remedy.leakage),
                "kept": remedy.kept,
                "kind": remedy.kind,
            }
            for remedy in audit.remedies
        ],
    }


def view_record(audit: Audit, view: SecretView, names: Names) -> dict[str, Any]:
    """One view as plain JSON values."""
    return {
        "name": view.name,
        "prior": [{"secret": names.secret(at), "share": share(part)} for at, part in enumerate(view.shares)],
        "worst": _finding(view.worst, names),
        "at_least": amount(view.at_least),
        "tail": [
            {"level": amount(point.level), "above": share(point.above), "at_least": share(point.at_least)}
            for point in view.tail
        ],
        "envelope": {
            "delta": exact_text(view.envelope.delta),
            "lower": view.envelope.lower,
            "upper": view.envelope.upper,
            "method": view.envelope.method,
            "attack": attack_words(audit, view, show_values=names.show_values),
        },
        "pmc": _finding(view.pmc, names),
        "maximal_leakage": amount(view.maximal_leakage),
        "ldp": amount(view.ldp),
        "sml": None if view.sml is None else amount(view.sml.value),
        "share_above_budget": None if view.share_above_budget is None else share(view.share_above_budget),
        "worst_cells": [
            {
                "cell": names.cell(risk.cell),
                "size": risk.size,
                "leakage": amount(risk.leakage),
                "secret": names.secret(risk.secret),
                "posterior": share(risk.posterior),
            }
            for risk in view.worst_cells
        ],
        "columns": [
            {"column": effect.column, "alone": amount(effect.alone), "without": amount(effect.without)}
            for effect in view.columns
        ],
        "certified": _certified(view),
    }


def amount(leakage: Nats) -> dict[str, Any]:
    """A leakage in nats, with its exact ratio where known."""
    record: dict[str, Any] = {"nats": "inf" if math.isinf(leakage) else float(leakage)}
    if leakage.ratio is not None:
        record["ratio"] = exact_text(leakage.ratio)
    return record


def share(probability: Probability) -> dict[str, Any]:
    """A probability, with its exact value where known."""
    record: dict[str, Any] = {"value": float(probability)}
    if probability.exact is not None:
        record["exact"] = exact_text(probability.exact)
    return record


def _finding(found: Finding, names: Names) -> dict[str, Any]:
    return {
        "cell": names.cell(found.cell),
        "secret": names.secret(found.secret),
        "leakage": amount(found.leakage),
        "prior": share(found.prior),
        "posterior": share(found.posterior),
    }


def _certified(view: SecretView) -> dict[str, Any] | None:
    sure = view.certified
    if sure is None:
        return None
    return {
        "confidence": sure.confidence,
        "rarest": share(sure.rarest),
        "uncertified_cells": sure.uncertified_cells,
        "uncertified_share": share(sure.uncertified_share),
    }
