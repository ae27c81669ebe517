"""A released histogram as a JSON-ready record and as text; of the table it shows only the release."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tightlip.errors import visible
from tightlip.histogram.release import HistogramRelease
from tightlip.numeric.display import format_up, several
from tightlip.numeric.quantity import Probability
from tightlip.report.amounts import Unit, leakage_json, probability_json, show_amount, value_json


def release_record(release: HistogramRelease, *, unit: Unit) -> dict[str, Any]:
    """Record what is known before the table is seen (privacy, distortion, cells, rows) and how it was drawn."""
    privacy, distortion = release.privacy, release.distortion
    return {
        "unit": unit,
        "secret": release.secret,
        "mechanism": release.mechanism,
        "columns": list(release.table.domain.columns),
        "rows": release.table.total,
        "cells": release.table.domain.size,
        "privacy": leakage_json(privacy.upper, unit)
        | {"lower": value_json(privacy.lower, unit), "method": privacy.method},
        "distortion": probability_json(
            distortion.upper if distortion.exact else Probability(distortion.upper)
        )
        | {"lower": float(distortion.lower), "method": distortion.method},
        "exact": release.exact,
        "method": release.method,
        "seeded": release.seeded,
        "note": release.note,
    }


def release_text(record: dict[str, Any]) -> RenderableType:
    """Lay the record out as a table, and the note in words."""
    table = Table(title="What this release gives away and costs, whatever the table", show_header=False)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    lines = {
        "secret": record["secret"],
        "mechanism": record["mechanism"],
        "released": f"{several(record['rows'], 'row')} over {several(record['cells'], 'cell')}",
        "leakage about the secret": f"at most {show_amount(record['privacy'], record['unit'])}",
        "expected distance (worst case)": f"at most {format_up(record['distortion']['value'])} total variation",
        "draw": f"{record['method']} ({'exact' if record['exact'] else 'approximate; privacy is not affected'})",
    }
    for name, value in lines.items():
        table.add_row(name, Text(visible(value)))
    note = [Text(visible(record["note"]))] if record["note"] else []
    return Group(table, *note)
