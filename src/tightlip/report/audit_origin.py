"""Where an audit comes from: when, by which version and from which counts, to make it again and compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tightlip.auditing.digest import counts_digest
from tightlip.numeric.display import grouped

if TYPE_CHECKING:
    from tightlip.auditing.result import Audit


def origin_record(audit: Audit, *, made: str, version: str, show_values: bool) -> dict[str, Any]:
    """Date, version, rows and, only where values may be shown, the digest of the counts."""
    digest = counts_digest(audit.counted) if show_values else None
    return {
        "made": made,
        "version": version,
        "rows": audit.total,
        "counts_sha256": digest,
        "words": [
            f"Made on {made} by tightlip {version} from {grouped(audit.total)} rows.",
            _digest_words(digest),
        ],
    }


def _digest_words(digest: str | None) -> str:
    if digest is None:
        return (
            "The digest of the counts, by which to tell whether a table is still the same, is shown with --show-values "
            "only: who can guess the table could check the guess with it."
        )
    return (
        "SHA-256 of the counts by secret and released value, sorted, before small cells are hidden and noise is "
        f"added: {digest}"
    )
