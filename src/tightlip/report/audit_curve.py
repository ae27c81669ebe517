"""The envelope at more δ than was asked, for the picture; only where that is quick."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tightlip.auditing.envelope import tally_envelope
from tightlip.envelopes.result import Envelope

if TYPE_CHECKING:
    from tightlip.auditing.result import Audit, SecretView

_DELTAS = tuple(Fraction(text) for text in ("1/1000", "1/300", "1/100", "1/30", "1/10", "1/4", "1/2", "1"))
_MOST_PAIRS = 5_000


def envelope_points(audit: Audit, view: SecretView) -> list[Envelope]:
    """The audit's own point and, of a population with few pairs of secret and cell, others around it, δ rising."""
    tally = view.counted.tally
    if audit.mode == "sample" or len(tally.count) > _MOST_PAIRS:
        return [view.envelope]
    others = (tally_envelope(tally, delta)[0] for delta in _DELTAS if delta != audit.delta)
    return sorted([view.envelope, *others], key=lambda point: point.delta)
