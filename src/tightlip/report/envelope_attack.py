"""An attack in words: which outcomes it groups, and which secret that points to."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

from tightlip.certificate.ordered import OrderedCertificate
from tightlip.envelopes.result import Envelope
from tightlip.model.channel import Channel
from tightlip.model.labels import Label, Labels, show
from tightlip.model.matrix import dense_column

_SHOWN = 4


def attack_words(point: Envelope, secrets: Collection[Label]) -> list[str]:
    """What the attack does: which outcomes it groups, and which of the secrets that points to."""
    if point.attack is None:
        return []
    if isinstance(point.certificate, OrderedCertificate):
        return _runs(point.certificate)
    return [
        f'grouping {_outcomes(point.attack, place)} points to secret "{show(symbol)}"'
        for place, symbol in enumerate(point.attack.outputs)
        if symbol in secrets
    ]


def _outcomes(attack: Channel, place: int) -> str:
    shares = [float(share) for share in dense_column(attack.matrix, place)]
    outcomes = sorted((row for row, share in enumerate(shares) if share > 0), key=lambda row: -shares[row])
    named = [
        f'"{show(attack.inputs[row])}"'
        + ("" if shares[row] > 1 - 1e-9 else f" ({100 * shares[row]:.3g} % of the time)")
        for row in outcomes[:_SHOWN]
    ]
    more = f" and {len(outcomes) - _SHOWN} more" if len(outcomes) > _SHOWN else ""
    return ", ".join(named) + more


def _runs(proof: OrderedCertificate) -> list[str]:
    channel, cells = proof.channel, zip(pairwise(proof.lower.cuts), proof.lower.suspects, strict=True)
    return [
        f'{_run(channel.outputs, start, end)} points to secret "{show(channel.inputs[suspect])}"'
        for (start, end), suspect in cells
        if suspect is not None
    ]


def _run(outputs: Labels, start: int, end: int) -> str:
    first, last = (f'"{show(outputs[place])}"' for place in (start, end - 1))
    return f"{first} alone" if end - start == 1 else f"reading {first} to {last} as one"
