"""What the receipt of a protected table says about its protection; no values of the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tightlip.auditing.counted import counts_digest
from tightlip.auditing.receipt import READERS
from tightlip.auditing.releasing import Facts
from tightlip.numeric.display import format_up
from tightlip.numeric.parse import exact_text
from tightlip.numeric.quantity import Nats, exact_ratio
from tightlip.protection.budget import Subject, asked_limits
from tightlip.protection.limits import Kind, Limit

if TYPE_CHECKING:
    from tightlip.protection.result import Protection


def release_facts(
    protection: Protection, *, command: str | None = None, files: Mapping[str, Path] | None = None
) -> Facts:
    """Collect what was asked of a protection and what is proved of it.

    Parameters
    ----------
    command : what was typed
    files : other files that belong to it, by what they are
    """
    exposed = protection.certificate.table.limits.exposed
    asked: dict[str, Any] = {
        **given_asked(protection),
        "levels": levels_asked(protection),
        "limits": limits_asked(protection),
        "randomised": protection.randomised,
    }
    if exposed:
        asked["share_of_people_above"] = exact_text(exposed)
    proved: dict[str, Any] = {
        "detail_kept": protection.kept,
        "detail_bound": protection.bound,
        "share_of_people_above": exact_text(Fraction(protection.exposed)),
        "search_finished": protection.finished,
    }
    if protection.exposed:
        proved["protects_against"] = protects_against(protection)
    return Facts(counts_digest(protection.counted), asked, proved, command, files or {})


def protects_against(protection: Protection) -> str:
    """Say who is protected against whom where some people were allowed to be above the budget."""
    share = format_up(100 * protection.exposed, 3)
    readers = READERS[not protection.by_chance]
    return f"for all but {share} % of people, whose values are published beyond the limits: {readers}"


def given_asked(protection: Protection) -> dict[str, Any]:
    """Say what was given as it was given; of budgets for values of the table, only that they are for one each."""
    given = protection.given or {}
    asked: dict[str, Any] = {}
    for argument in ("budget", "pmc"):
        if given.get(argument) is not None:
            both = {"budget": None, "pmc": None, argument: given[argument]}
            asked[argument] = [
                {
                    "about": list(subject),
                    "of": "every value" if rule.value is None else "one value",
                    "level": rule.allowed.given,
                }
                for subject, rule, _ in asked_limits(protection.plan, **both)
            ]
    for argument in ("delta", "min_count"):
        if given.get(argument) is not None:
            asked[argument] = _given_text(given[argument])
    return asked


def promised_levels(protection: Protection) -> list[tuple[Subject, bool, Kind, float | Fraction]]:
    """List the limits as they were asked for; where nobody asked, those that are kept, by columns, kind and level."""
    if protection.given is not None:
        return asked_levels(protection)
    limits = protection.certificate.table.limits.limits
    kept = [(protection.secrets[limit.secret][0], False, limit.kind, limit.level) for limit in limits]
    return list(dict.fromkeys(kept))


def asked_levels(protection: Protection) -> list[tuple[Subject, bool, Kind, float | Fraction]]:
    """List the limits of budgets that were given: about which secret columns, whether of one value, kind and level."""
    given = protection.given or {}
    asked = asked_limits(protection.plan, given.get("budget"), given.get("pmc"))
    return [(subject, rule.value is not None, kind, rule.allowed.level) for subject, rule, kind in asked]


def levels_asked(protection: Protection) -> dict[str, dict[str, Any]]:
    """List the levels of each column in words, finest first, whether they were given, and how much it matters."""
    known = (protection.given or {}).get("levels") or {}
    return {
        column.column: {
            "given": column.column in known,
            "weight": exact_text(weight),
            "levels": list(column.words),
        }
        for column, weight in zip(protection.levels, protection.certificate.table.weights, strict=True)
    }


def limits_asked(protection: Protection) -> list[dict[str, Any]]:
    """List the limits: about which secret columns, of which kind and level, and on how many of their values."""
    found = Counter(
        (protection.secrets[limit.secret][0], limit.kind, level_text(limit))
        for limit in protection.certificate.table.limits.limits
    )
    return [
        {"about": list(subject), "kind": kind, "level": level, "values": many}
        for (subject, kind, level), many in found.items()
    ]


def level_text(limit: Limit) -> str:
    """Write the level of a limit as people write it."""
    if limit.kind == "cap":
        return f"{exact_text(Fraction(limit.level) * 100)}%"
    return _nats_text(limit.level)


def _nats_text(level: float | Fraction) -> str:
    ratio = None if isinstance(level, Fraction) else exact_ratio(level)
    return f"log({exact_text(ratio)})" if ratio is not None else f"{float(level)!r} nats"


def _given_text(given: Any) -> Any:
    """Write what was given: text and whole numbers as they are, rationals in full, levels as people write them."""
    if isinstance(given, Nats):
        return _nats_text(given)
    if isinstance(given, Fraction):
        return exact_text(given)
    return given if isinstance(given, (str, int)) else repr(float(given))
