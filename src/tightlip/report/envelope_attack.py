"""An attack in words: which outcomes it groups, and which secret that points to."""

from __future__ import annotations

from itertools import pairwise

from tightlip.certificate.ordered import OrderedCertificate
from tightlip.envelope.result import Envelope
from tightlip.measure.pointwise import pml
from tightlip.model.channel import Channel
from tightlip.model.labels import Label, Labels, show
from tightlip.model.matrix import dense_column
from tightlip.model.prior import Prior

_SHOWN = 4
_ROUNDING = 1e-9


def channel_attack_words(channel: Channel, prior: Prior, point: Envelope) -> list[str]:
    """What the attack on a channel does."""
    if point.attack is None:
        return []
    if isinstance(point.certificate, OrderedCertificate):
        return _runs(channel, point.certificate)
    if point.adversary == "deterministic":
        merged = pml(channel.post_process(point.attack), prior)
        bad = zip(merged.outcomes, merged.values.tolist(), strict=True)
        names = {
            symbol: merged.secret_of(symbol) for symbol, value in bad if value >= point.lower - _ROUNDING
        }
        return _groups(point.attack, names)
    return attack_words(point.attack)


def attack_words(attack: Channel) -> list[str]:
    """What an attack does whose symbols are named after the secrets they point to, or are an event and the rest."""
    if list(attack.outputs) == ["event", "rest"]:
        return [f"grouping {_outcomes(attack, 0)} is an event that leaks so much"]
    if all(
        isinstance(symbol, tuple) and symbol[:1] in {("suspect",), ("rest",)} for symbol in attack.outputs
    ):
        return _groups(attack, {symbol: symbol[1] for symbol in attack.outputs if symbol != ("rest",)})
    return _groups(attack, {symbol: symbol for symbol in attack.outputs[:-1]})


def _groups(attack: Channel, secrets: dict[Label, Label]) -> list[str]:
    return [
        f'grouping {_outcomes(attack, place)} points to secret "{show(secrets[symbol])}"'
        for place, symbol in enumerate(attack.outputs)
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


def _runs(channel: Channel, proof: OrderedCertificate) -> list[str]:
    cells = zip(pairwise(proof.lower.cuts), proof.lower.suspects, strict=True)
    return [
        f'{_run(channel.outputs, start, end)} points to secret "{show(channel.inputs[suspect])}"'
        for (start, end), suspect in cells
        if suspect is not None
    ]


def _run(outputs: Labels, start: int, end: int) -> str:
    first, last = (f'"{show(outputs[place])}"' for place in (start, end - 1))
    return f"{first} alone" if end - start == 1 else f"reading {first} to {last} as one"
