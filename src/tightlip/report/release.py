"""A released histogram as a JSON-ready record and as text; of the table it shows only the release."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tightlip.errors import visible
from tightlip.histogram.release import HistogramRelease, ReleasePlan
from tightlip.histogram.table import Domain
from tightlip.numeric.display import format_up, several
from tightlip.numeric.quantity import Probability
from tightlip.report.amounts import Unit, leakage_json, probability_json, show_amount, value_json


def release_record(release: HistogramRelease, *, unit: Unit) -> dict[str, Any]:
    """Record what is known before the table is seen (privacy, distortion, cells, rows) and how it was drawn."""
    return _known(release, release.table.domain, release.table.total, unit) | {
        "exact": release.exact,
        "method": release.method,
        "seeded": release.seeded,
        "note": release.note,
    }


def plan_record(plan: ReleasePlan, *, unit: Unit) -> dict[str, Any]:
    """Record what is known before the table is seen: privacy, distortion, cells, rows."""
    return _known(plan, plan.domain, plan.total, unit) | {"seeded": plan.seeded, "note": plan.domain.note}


def _known(found: HistogramRelease | ReleasePlan, domain: Domain, total: int, unit: Unit) -> dict[str, Any]:
    privacy, distortion = found.privacy, found.distortion
    return {
        "unit": unit,
        "secret": found.secret,
        "mechanism": found.mechanism,
        "columns": list(domain.columns),
        "rows": total,
        "cells": domain.size,
        "privacy": leakage_json(privacy.upper, unit)
        | {"lower": value_json(privacy.lower, unit), "method": privacy.method},
        "distortion": probability_json(
            distortion.upper if distortion.exact else Probability(distortion.upper)
        )
        | {"lower": float(distortion.lower), "method": distortion.method},
    }


def release_text(record: dict[str, Any]) -> RenderableType:
    """Lay the record out as a table, and the note in words."""
    table = Table(title="What this release gives away and costs, whatever the table", show_header=False)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for name, value in _lines(record).items():
        table.add_row(name, Text(visible(value)))
    note = [Text(visible(record["note"]))] if record["note"] else []
    return Group(table, *note)


def release_lines(record: dict[str, Any]) -> list[str]:
    """Say the record in a line for each thing known."""
    return [f"{name}: {value}" for name, value in _lines(record).items()]


def _lines(record: dict[str, Any]) -> dict[str, str]:
    lines = {
        "secret": record["secret"],
        "mechanism": record["mechanism"],
        "released": f"{several(record['rows'], 'row')} over {several(record['cells'], 'cell')}",
        "leakage about the secret": f"at most {show_amount(record['privacy'], record['unit'])}",
        "expected distance (worst case)": f"at most {format_up(record['distortion']['value'])} total variation",
    }
    if "method" not in record:
        return lines
    draw = f"{record['method']} ({'exact' if record['exact'] else 'approximate; privacy is not affected'})"
    return lines | {"draw": draw}
