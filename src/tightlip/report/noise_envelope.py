"""The envelope of one noisy real value as a JSON-ready record, like that of a channel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from tightlip.envelopes.result import Adversary, Envelope
from tightlip.errors import InvalidInput, NumericalFailure, PreconditionFailed
from tightlip.model.channel import Channel
from tightlip.model.matrix import dense_column
from tightlip.model.noise import AdditiveNoise
from tightlip.model.secret import BoundedSecret
from tightlip.noise.dispatch import envelope as noise_envelope
from tightlip.noise.unbounded import unbounded_attack
from tightlip.numeric.display import format_about, format_down
from tightlip.numeric.quantity import Nats
from tightlip.numeric.unit import in_unit, with_unit
from tightlip.report.amounts import Unit, value_json
from tightlip.report.envelope import point_record

_SYMBOLS = 10
_SHOWN = 4
_OTHERS: dict[str, Adversary] = {"any": "any", "ordered": "ordered", "event": "binary"}
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
        found["range"] = noise_envelope(anyone, point.delta).value
    for name, adversary in _OTHERS.items():
        if adversary != _ALIKE.get(point.adversary, point.adversary):
            try:
                found[name] = noise_envelope(release, point.delta, adversary=adversary).value
            except PreconditionFailed:  # nothing is known of this adversary for this secret
                continue
    return {name: value_json(amount, unit) for name, amount in found.items()}


def _words(release: AdditiveNoise, point: Envelope, unit: Unit) -> list[str]:
    if point.attack is not None:
        return [
            f'reading Y in {_cells(point.attack, place)} as one points to secret "{secret}"'
            for place, secret in enumerate(point.attack.outputs[:-1])
        ]
    return _endless(release, point, unit) if math.isinf(point.upper) else []


def _cells(attack: Channel, place: int) -> str:
    """Which cells of Y, in their order, go to a symbol: neighbours that do so alike are told as one interval."""
    shares = dense_column(attack.matrix, place)
    told = []
    for share, cells in groupby(range(len(shares)), lambda cell: round(float(shares[cell]), 9)):
        first, *others = (_ends(attack.inputs[cell]) for cell in cells)
        if share > 0:
            often = "" if share == 1 else f" ({100 * share:.3g} % of the time)"
            told.append(f"({_place(first[0])}, {_place([first, *others][-1][1])}){often}")
    more = f" and {len(told) - _SHOWN} more intervals" if len(told) > _SHOWN else ""
    return ", ".join(told[:_SHOWN]) + more


def _ends(cell: str) -> tuple[float, float]:
    """The ends of a cell of Y, from its label."""
    low, high = cell.partition("(")[2].rstrip(")").split(", ")
    return float(low), float(high)


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
