"""A remedy as the policy file that makes it the plan."""

from __future__ import annotations

from pathlib import Path

from tightlip.auditing.result import Audit, Remedy
from tightlip.table.mapping import Mapping
from tightlip.table.policy_text import policy_toml


def remedy_toml(
    audit: Audit, remedy: Remedy, *, show_values: bool = False, folder: str | Path = "."
) -> str | None:
    """The changed plan as TOML for a file in some folder; None where it would tell what may not be shown.

    What a remedy adds names only values that ten people or more have. A mapping that is written out in the plan itself
    may name others, so the text is withheld unless values may be shown.
    """
    written = [
        item
        for item in audit.policy.release
        if isinstance(item.recoding, Mapping) and not item.recoding.hierarchy
    ]
    if not show_values and any(item in remedy.policy.release for item in written):
        return None
    return policy_toml(remedy.policy, folder)
