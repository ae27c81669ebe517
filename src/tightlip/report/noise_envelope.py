"""The envelope of one noisy real value as a JSON-ready record, like that of a channel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tightlip.envelope.noise_envelope import noise_envelope
from tightlip.envelope.result import Adversary, Envelope
from tightlip.envelope.unbounded import unbounded_attack
from tightlip.errors import InvalidInput, NumericalFailure, PreconditionFailed
from tightlip.model.noise import AdditiveNoise
from tightlip.model.secret import BoundedSecret
from tightlip.numeric.display import format_about, format_down
from tightlip.numeric.quantity import Nats
from tightlip.numeric.unit import in_unit, with_unit
from tightlip.report.amounts import Unit, value_json
from tightlip.report.envelope import point_record
from tightlip.report.envelope_attack import attack_words

_SYMBOLS = 10
_OTHERS: dict[str, Adversary] = {"any": "any", "interval": "interval", "event": "binary"}
_ALIKE = {"deterministic": "any"}  # Y is continuous: a deterministic adversary does as well as any


def noise_record(
    release: AdditiveNoise,
    points: Sequence[Envelope],
    *,
    adversary: Adversary,
    unit: Unit,
    comparisons: bool,
) -> dict[str, Any]:
    """Each point with its ends, attack in words and, if asked, what is known for other adversaries and secrets."""
    records = []
    for point in points:
        record = point_record(point, unit, _words(release, point, unit))
        if comparisons:
            record["compared"] = _compared(release, point, unit)
        records.append(record)
    return {"unit": unit, "adversary": adversary, "points": records}


def _compared(release: AdditiveNoise, point: Envelope, unit: Unit) -> dict[str, float | str]:
    """The guarantees for other adversaries, where there are any, and for every secret in the same range."""
    found = {}
    low, high = release.secret.support
    if math.isfinite(low) and low < high and not isinstance(release.secret, BoundedSecret):
        anyone = AdditiveNoise(BoundedSecret(low, high), release.noise)
        found["range"] = noise_envelope(anyone, point.delta).epsilon
    for name, adversary in _OTHERS.items():
        if adversary != _ALIKE.get(point.adversary, point.adversary):
            try:
                found[name] = noise_envelope(release, point.delta, adversary=adversary).epsilon
            except PreconditionFailed:  # nothing is known of this adversary for this secret
                continue
    return {name: value_json(amount, unit) for name, amount in found.items()}


def _words(release: AdditiveNoise, point: Envelope, unit: Unit) -> list[str]:
    if point.attack is not None:
        return attack_words(point, point.attack.outputs[:-1])
    return _endless(release, point, unit) if math.isinf(point.upper) else []


def _endless(release: AdditiveNoise, point: Envelope, unit: Unit) -> list[str]:
    """The attack that has no bound, at one size; nothing where its numbers cannot be certified."""
    try:
        attack = unbounded_attack(release, point.delta, _SYMBOLS)
    except (InvalidInput, NumericalFailure):
        return []
    far, middle = (f"({_place(a)}, {_place(b)})" for a, b in (attack.far[0], attack.middle[0]))
    level = with_unit(format_down(in_unit(Nats(attack.lower, rounding="down"), unit)), unit)
    return [
        f"{_SYMBOLS} groups, each a far interval of Y with a slice of its middle, such as {far} with {middle}, "
        f"which points to secret x = {_place(attack.suspects[0])}, leak at least {level} each; m groups leak about "
        "log(m/δ), so there is no end to it"
    ]


def _place(value: float) -> str:
    return format_about(value)
