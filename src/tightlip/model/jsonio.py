"""Models as JSON: floats as their shortest exact text, rationals as text "p/q"."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.parse import exact_text
from tightlip.reading import first_line


def number_to_json(value: float | Fraction) -> float | str:
    """Write a number such that reading it back gives the same number of the same kind.

    >>> number_to_json(Fraction(1, 3)), number_to_json(0.1)
    ('1/3', 0.1)
    """
    return exact_text(value) if isinstance(value, Fraction) else float(value)


def parse_json(text: str | bytes, what: str) -> Any:
    """Read JSON strictly: no NaN, no infinities, no repeated keys."""
    try:
        return json.loads(
            text, parse_constant=_refuse_constant, parse_float=_no_underflow, object_pairs_hook=_distinct_keys
        )
    except InvalidInput as error:
        raise InvalidInput(f"{what} {error}") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidInput(
            f"{what} must be valid JSON, got an error: {first_line(error)}; check the text."
        ) from error


def as_object(text: str | bytes, what: str, required: set[str], optional: set[str]) -> dict[str, Any]:
    """Read a JSON object and check its keys."""
    return check_keys(parse_json(text, what), what, required, optional)


def check_keys(record: Any, what: str, required: set[str], optional: set[str]) -> dict[str, Any]:
    """Check that a record is an object with the keys it must have and no others."""
    if not isinstance(record, dict):
        raise InvalidInput(f"{what} must be an object, got {quoted(record)}; write {{...}}.")
    missing, unknown = required - record.keys(), record.keys() - required - optional
    if missing:
        raise InvalidInput(
            f"{what} must have the key {quoted(sorted(missing)[0])}, got {sorted(record)}; add it."
        )
    if unknown:
        known = ", ".join(sorted(required | optional))
        raise InvalidInput(f"{what} has an unknown key {quoted(sorted(unknown)[0])}; known keys are {known}.")
    return record


def _refuse_constant(text: str) -> None:
    raise InvalidInput(f"must hold finite numbers only, got {text}; remove or impute it first.")


def _no_underflow(text: str) -> float:
    value = float(text)
    if not value and text.lower().partition("e")[0].strip("+-0."):
        raise InvalidInput(
            f"must not hold a number that a float rounds to 0, got {quoted(text)[1:-1]}; "
            f"write it as text, {quoted(text)}."
        )
    return value


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for key, value in pairs:
        if key in record:
            raise InvalidInput(f"must have distinct keys, got {quoted(key)} twice; remove one.")
        record[key] = value
    return record


def read_adjustment(record: dict[str, Any]) -> float:
    """Read the correction that a model remembers from when it was first made; 0 where none is noted."""
    adjustment = record.get("adjustment", 0.0)
    if isinstance(adjustment, bool) or not isinstance(adjustment, (int, float)) or not 0 <= adjustment < 1:
        raise InvalidInput(
            f"adjustment must be a small non-negative number, got {quoted(adjustment)}; leave it out."
        )
    return float(adjustment)
