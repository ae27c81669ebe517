"""What an envelope may be compared with: how it is called in a table and in a picture, and which way it is rounded."""

from __future__ import annotations

from typing import Any, NamedTuple


class Compared(NamedTuple):
    """A column and a curve; what is `reached` is rounded down, a guarantee up."""

    column: str
    curve: str
    reached: bool = False


COMPARED = {
    "maximal_leakage_bound": Compared("ℒ + log 1/δ", "bound ℒ + log 1/δ"),
    "range": Compared("any secret in the range", "any secret in the range"),
    "any": Compared("any adversary", "any adversary"),
    "interval": Compared("interval", "interval adversary"),
    "event": Compared("one event", "one event"),
    "binary": Compared("binary", "binary adversary", reached=True),
    "quantile": Compared("no post-processing", "no post-processing", reached=True),
    "dp": Compared("(ε, δ)-LDP", "(ε, δ)-LDP"),
}


def adversary_words(record: dict[str, Any]) -> str:
    """Who is meant by the record of an envelope.

    >>> adversary_words({"adversary": "k-ary", "symbols": 3}), adversary_words({"adversary": "any"})
    ('k-ary adversaries with at most 3 symbols', 'any adversary')
    """
    kind = "any adversary" if record["adversary"] == "any" else f"{record['adversary']} adversaries"
    return f"{kind} with at most {record['symbols']} symbols" if "symbols" in record else kind
