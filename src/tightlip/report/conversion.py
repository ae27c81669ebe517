"""What one guarantee implies, as one JSON-ready record and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

from tightlip.numeric.quantity import Nats, level_exact, level_words
from tightlip.report.amounts import Unit, float_json, leakage_json, show_value, with_unit


def conversion_record(
    guarantee: str,
    given: Sequence[Nats | Fraction],
    min_mass: str | None,
    results: Mapping[str, tuple[Any, str]],
    unit: Unit,
) -> dict[str, Any]:
    """Record what one guarantee implies, as plain JSON values; the amounts of ALIP are (lower, upper)."""
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
                **({"words": _restate(name, guarantee, given)} if why == "given" else {}),
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


def _restate(name: str, guarantee: str, given: Sequence[Nats | Fraction]) -> list[str]:
    """What was given, as it was given; of ALIP, PMC is the first level and PML the second."""
    words = [level_words(level) for level in given]
    if name == guarantee:
        return words
    return words[:1] if name == "pmc" else words[-1:]


def conversion_text(record: dict[str, Any]) -> RenderableType:
    """Lay the record of `tightlip convert` out as a table."""
    given = record["given"]
    table = Table(title=escape(f"What {given['guarantee']} {_given_words(given)} implies ({_prior(record)})"))
    table.add_column("guarantee")
    table.add_column(record["unit"], justify="right", overflow="fold")
    table.add_column("why", overflow="fold")
    for entry in record["implied"]:
        table.add_row(entry["guarantee"], _ends(entry), escape(entry["why"]))
    return table


def _prior(record: dict[str, Any]) -> str:
    return "any prior" if record["min_mass"] is None else f"smallest prior mass {record['min_mass']}"


def _given_words(given: dict[str, Any]) -> str:
    return ", ".join(with_unit(words, "nats") for words in given["words"])


def _ends(entry: dict[str, Any]) -> str:
    if "words" in entry and entry["amounts"][0]["unit"] == "nats":  # as it was given
        return ", ".join("infinite" if words == "inf" else words for words in entry["words"])
    return ", ".join(show_value(amount) for amount in entry["amounts"])
