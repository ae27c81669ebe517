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
    "ordered": Compared("ordered", "ordered adversary"),
    "event": Compared("one event", "one event"),
    "binary": Compared("one event", "one event", reached=True),
    "quantile": Compared("no post-processing", "no post-processing", reached=True),
    "dp": Compared("(ε, δ)-LDP", "(ε, δ)-LDP"),
}

# With two symbols both could count as bad, at a δ above one half; that adversary is k-ary.
_KINDS = {"any": "any adversary", "binary": "adversaries who learn one event"}


def adversary_words(record: dict[str, Any]) -> str:
    """Who is meant by the record of an envelope.

    >>> adversary_words({"adversary": "k-ary", "symbols": 3}), adversary_words({"adversary": "any"})
    ('k-ary adversaries with at most 3 symbols', 'any adversary')
    >>> adversary_words({"adversary": "binary"}), adversary_words({"adversary": "deterministic", "symbols": 1})
    ('adversaries who learn one event', 'deterministic adversaries with at most 1 symbol')
    """
    kind = _KINDS.get(record["adversary"], f"{record['adversary']} adversaries")
    if "symbols" not in record:
        return kind
    return f"{kind} with at most {record['symbols']} symbol{'s' if record['symbols'] != 1 else ''}"
