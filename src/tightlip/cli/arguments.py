"""Arguments that several commands share, read from text with one clear error."""

from __future__ import annotations

import re
import sys
from enum import StrEnum
from fractions import Fraction
from typing import Any

from typer.core import TyperCommand

from tightlip.cli.interrupt import Interrupted
from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.display import format_exactly
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import Nats, log_of
from tightlip.numeric.unit import nats_of_bits

_MOST_BITS = 10_000


class Unit(StrEnum):
    """Units of leakage."""

    nats = "nats"
    bits = "bits"


def read_levels(text: str, argument: str = "epsilon") -> list[Nats | Fraction]:
    """Levels in nats, separated by commas, all exact; `log(10/9)` or `ln(10/9)` is a logarithm, `inf` infinite.

    >>> read_levels("0.5,log(3)")
    [Fraction(1, 2), 1.0986122886681098 nats]
    """
    return [read_level(part, argument) for part in _parts(text, argument)]


def read_level(text: str, argument: str = "epsilon") -> Nats | Fraction:
    """One level in nats."""
    text = text.strip()
    logarithm = re.fullmatch(r"(?:log|ln)\s*\(?\s*([^()]+?)\s*\)?", text)
    if logarithm:
        return _log(logarithm.group(1), argument, text)
    if text.lower() in {"inf", "infinity", "∞"}:
        return Nats(float("inf"))
    value = Fraction(number(text, argument))
    if value < 0:
        raise InvalidInput(f"{argument} must not be negative, got {quoted(text)}; a leakage is at least 0.")
    if value > sys.float_info.max:
        remedy = "give a smaller one" if argument == "budget" else "write inf for no bound"
        raise InvalidInput(
            f"{argument} must be at most {sys.float_info.max:.3g}, got {quoted(text)}; {remedy}."
        )
    return value


def _log(ratio: str, argument: str, text: str) -> Nats:
    try:
        return log_of(ratio)
    except InvalidInput as error:
        raise InvalidInput(
            f"{argument} must be the logarithm of a positive number, got {quoted(text)}; write log(3)."
        ) from error


def read_budget(text: str) -> Nats | Fraction:
    """A level that must not be exceeded: in nats as `read_level` has it, or in bits: `1.5 bits`.

    Whole bits are exact. Others become the next double below, so that nothing above what was given is allowed.

    >>> read_budget("2 bits").ratio, read_budget("1.5 bits"), read_budget("3/2")
    (Fraction(4, 1), 1.0397207708399179 nats, Fraction(3, 2))
    """
    bits = re.fullmatch(r"(?i)(.*[^\sa-z])\s*bits?", text.strip())
    if bits is None:
        return read_level(text, "budget")
    value = read_level(bits.group(1), "budget")
    if value > _MOST_BITS:
        raise InvalidInput(f"budget must be at most {_MOST_BITS} bits, got {quoted(text)}.")
    if not isinstance(value, Fraction):
        raise InvalidInput(f"budget must be a number of bits, got {quoted(text)}; a logarithm has no unit.")
    if value.denominator == 1:
        return log_of(Fraction(2) ** value.numerator)
    return Nats(nats_of_bits(value)[0], rounding="nearest")


def read_probabilities(text: str, argument: str = "delta", *, or_one: bool = False) -> list[Fraction]:
    """Probabilities strictly between 0 and 1, or 1 too, separated by commas, exact.

    >>> read_probabilities("0.1,1/3")
    [Fraction(1, 10), Fraction(1, 3)]
    """
    found = [Fraction(number(part, argument)) for part in _parts(text, argument)]
    range_ = "above 0 and at most 1" if or_one else "strictly between 0 and 1"
    for probability in found:
        if not 0 < probability < 1 and not (or_one and probability == 1):
            raise InvalidInput(
                f"{argument} must be {range_}, got {format_exactly(probability)}; write 0.05 for 5 %."
            )
        if probability < sys.float_info.min:
            raise InvalidInput(
                f"{argument} must be at least {sys.float_info.min:.3g}, got {format_exactly(probability)}, "
                "which would be shown as 0; give a larger one."
            )
    return found


def _parts(text: str, argument: str) -> list[str]:
    parts = text.split(",")
    if not all(part.strip() for part in parts):
        raise InvalidInput(
            f"{argument} must be one or more numbers separated by commas, got {quoted(text)}; "
            "write a number on each side of every comma."
        )
    return parts


class Command(TyperCommand):
    """A command whose help speaks of what to write, not of Python's types."""

    def invoke(self, ctx: Any) -> Any:
        """Run it; of an interrupt different versions of click make different things, all silent."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise Interrupted from error

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters with the names that the help shows for what they take."""
        params = super().get_params(ctx)
        for param in params:
            if param.param_type_name == "argument":
                param.metavar = param.metavar or str(param.name).upper()
            elif getattr(param, "is_flag", False):
                param.metavar = ""
        return list(params)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage line without the braces that some versions of typer put around arguments."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]
