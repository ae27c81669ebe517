"""What the receipt of a protected table says about its protection; no values of the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tightlip.auditing.counted import counts_digest
from tightlip.auditing.releasing import Facts
from tightlip.numeric.parse import exact_text
from tightlip.numeric.quantity import exact_ratio
from tightlip.protection.limits import Limit

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
        "levels": {column.column: list(column.words) for column in protection.levels},
        "limits": limits_asked(protection),
        "randomised": protection.randomised,
        "weights": [exact_text(weight) for weight in protection.certificate.table.weights],
    }
    if exposed:
        asked["share_of_people_above"] = exact_text(exposed)
    proved = {
        "detail_kept": protection.kept,
        "detail_bound": protection.bound,
        "share_of_people_above": exact_text(Fraction(protection.exposed)),
        "search_finished": protection.finished,
    }
    return Facts(counts_digest(protection.counted), asked, proved, command, files or {})


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
    ratio = None if isinstance(limit.level, Fraction) else exact_ratio(limit.level)
    return f"log({exact_text(ratio)})" if ratio is not None else f"{float(limit.level)!r} nats"
