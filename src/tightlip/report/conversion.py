"""The result of `tightlip convert` as one JSON-ready record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tightlip.numeric.quantity import Nats, level_exact, level_words
from tightlip.report.amounts import Unit, float_json, leakage_json


def conversion_record(
    guarantee: str,
    given: Sequence[Nats | Fraction],
    min_mass: str | None,
    results: Mapping[str, tuple[Any, str]],
    unit: Unit,
) -> dict[str, Any]:
    """What one guarantee implies, as plain JSON values; the amounts of ALIP are (lower, upper)."""
    record: dict[str, Any] = {
        "given": {
            "guarantee": guarantee.upper(),
            "epsilon": [float_json(float(level)) for level in given],
            "epsilon_exact": [level_exact(level) for level in given],
            "words": [level_words(level) for level in given],
            "unit": "nats",
        },
        "min_mass": min_mass,
        "unit": unit,
        "implied": [
            {
                "guarantee": name.upper(),
                "amounts": [leakage_json(amount, unit) for amount in (found if name == "alip" else (found,))],
                "why": why,
                **({"words": _restated(name, guarantee, given)} if why == "given" else {}),
            }
            for name, (found, why) in results.items()
        ],
    }
    if len(results) == 1:
        amounts = record["implied"][0]["amounts"]
        record["value"] = (
            amounts[0]["value"] if len(amounts) == 1 else [amount["value"] for amount in amounts]
        )
    return record


def _restated(name: str, guarantee: str, given: Sequence[Nats | Fraction]) -> list[str]:
    """What was given, as it was given; of ALIP, PMC is the first level and PML the second."""
    words = [level_words(level) for level in given]
    if name == guarantee:
        return words
    return words[:1] if name == "pmc" else words[-1:]
