"""The proofs behind an audit's numbers: checked again when the report is made, shown where counts may be shown."""

from __future__ import annotations

import json
from typing import Any

from tightlip.envelopes.result import Envelope
from tightlip.numeric.display import grouped
from tightlip.statistic.result import StatisticLeakage

_LARGEST_PROOF = 500_000


def proof_record(found: Envelope | StatisticLeakage, *, show_values: bool) -> dict[str, Any]:
    """Whether the proof holds, checked here again, and the proof itself where the counts in it may be shown."""
    proof = found.certificate
    if proof is None:
        return {"words": f"There is no separate proof to check; method: {found.method}.", "checked": False}
    found.verify()
    record: dict[str, Any] = {"checked": True, "kind": proof.kind, "about": proof.digest()}
    words = "Both ends were checked again in rational arithmetic, without a solver, when this was written."
    if not show_values:
        return record | {
            "words": f"{words} The proof holds the table's counts and is here only with --show-values."
        }
    text = proof.to_json()
    if len(text) > _LARGEST_PROOF:
        return record | {"words": f"{words} The proof has {grouped(len(text))} characters and is left out."}
    words += (
        " To check it yourself, save what stands under certificate to a file and run: tightlip verify FILE"
    )
    return record | {"words": words, "certificate": json.loads(text)}
