"""Numbers between two proved ends, as a notebook shows them: what is bounded, both ends, how, and what reaches them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tightlip.certificate.base import Certificate
from tightlip.certificate.recomputation import KL_DIVERGENCE
from tightlip.contraction.result import Coefficient
from tightlip.envelopes.failure import FailureProbability
from tightlip.envelopes.known_bounds import EnvelopeBounds
from tightlip.model.labels import show
from tightlip.numeric.display import format_down, format_exactly, format_up
from tightlip.numeric.parse import exact_text
from tightlip.numeric.proved import Proved
from tightlip.numeric.quantity import Nats, ProvedLeakage, ProvedNats, level_words
from tightlip.report.amounts import Unit, delta_json, float_json, leakage, value_json, with_unit
from tightlip.report.card import Card, card_of, columns_of, label_json, record_of
from tightlip.robust.result import RobustEnvelope, RobustLeakage
from tightlip.statistic.continuous import NoiseStatisticLeakage

# any proved number


@record_of.register
def _(result: Proved, unit: Unit) -> dict[str, Any]:
    return _record(result, unit)


@card_of.register
def _(result: Proved) -> Card:
    return _card(result)


def _record(result: Proved, unit: Unit) -> dict[str, Any]:
    """The kind, both ends, whether they met, and how they were found."""
    lower, upper = result.lower, result.upper
    record: dict[str, Any] = {"kind": _kind(result)}
    if _is_leakage(result):
        ends = Nats(lower, rounding="down"), Nats(upper, getattr(result.value, "ratio", None))
        record |= {"unit": unit, "lower": value_json(ends[0], unit), "upper": value_json(ends[1], unit)}
    else:
        record |= {"lower": float_json(float(lower)), "upper": float_json(float(upper))}
    known = _known(result)
    return record | known | {"exact": result.exact, "method": result.method}


def _known(result: Proved) -> dict[str, str]:
    """The number itself, where it is a rational, or the logarithm of one."""
    ratio = getattr(result.value, "ratio", None)
    fraction = getattr(result, "fraction", getattr(result.value, "fraction", None))
    if ratio is not None and result.exact:
        return {"ratio": exact_text(ratio)}
    return {"fraction": exact_text(fraction)} if fraction is not None and result.exact else {}


def _card(result: Proved, lines: Sequence[str] = ()) -> Card:
    below, above, kind = format_down(result.lower), format_up(result.upper), _kind(result)
    if _is_leakage(result):
        above = with_unit(above, "nats")
    ends = "infinite" if math.isinf(result.lower) else f"between {below} and {above}"
    return Card(f"{kind[:1].upper()}{kind[1:]}: {ends}", [*lines, f"Method: {result.method}."])


def _kind(result: Proved) -> str:
    if isinstance(result, FailureProbability):  # its proof is one about the envelope
        return "failure probability"
    proof = result.certificate
    return proof.kind if isinstance(proof, Certificate) else "a proved number"


def _is_leakage(result: Proved) -> bool:
    return isinstance(result, (ProvedLeakage, ProvedNats)) or _kind(result) == KL_DIVERGENCE


# what more is known of some


@record_of.register
def _(result: FailureProbability, unit: Unit) -> dict[str, Any]:
    level = {"unit": unit, "epsilon": value_json(Nats(result.epsilon), unit)}
    return _record(result, unit) | level


@card_of.register
def _(result: FailureProbability) -> Card:
    return _card(result, [f"That some post-processing leaks more than {level_words(result.epsilon)}."])


@record_of.register
def _(result: RobustEnvelope, unit: Unit) -> dict[str, Any]:
    return _record(result, unit) | delta_json(result.delta) | {"prior": result.prior.to_dict()}


@card_of.register
def _(result: RobustEnvelope) -> Card:
    return _card(result, [f"δ = {format_exactly(result.delta)}", f"The worst prior found: {result.prior!r}"])


@record_of.register
def _(result: RobustLeakage, unit: Unit) -> dict[str, Any]:
    return _record(result, unit) | {
        "outcome": label_json(result.outcome),
        "secret": label_json(result.secret),
        "prior": None if result.prior is None else result.prior.to_dict(),
        "attained": result.attained,
    }


@card_of.register
def _(result: RobustLeakage) -> Card:
    worst = [] if result.outcome is None else [f"The worst outcome: {show(result.outcome)}"]
    prior = [] if result.prior is None else [f"The worst prior: {result.prior!r}"]
    return _card(result, [*worst, *prior])


@record_of.register
def _(result: Coefficient, unit: Unit) -> dict[str, Any]:
    pair = None if result.pair is None else list(map(label_json, result.pair))
    return _record(result, unit) | {"pair": pair}


@card_of.register
def _(result: Coefficient) -> Card:
    pair = (
        []
        if result.pair is None
        else [f"The two secrets that decide: {' and '.join(map(show, result.pair))}"]
    )
    return _card(result, pair)


@record_of.register
def _(result: NoiseStatisticLeakage, unit: Unit) -> dict[str, Any]:
    chosen = [
        {"secret": label_json(label), "parameter": float(value)} for label, value in result.selection.items()
    ]
    return _record(result, unit) | {"selection": chosen}


@card_of.register
def _(result: NoiseStatisticLeakage) -> Card:
    card = _card(result)
    rows = [(show(label), repr(float(value))) for label, value in result.selection.items()]
    return Card(card.title, card.lines, ("secret", "parameter"), rows)


@columns_of.register
def _(result: NoiseStatisticLeakage) -> dict[str, list[Any]]:
    return {
        "secret": list(result.selection),
        "parameter": [float(value) for value in result.selection.values()],
    }


@record_of.register
def _(result: EnvelopeBounds, unit: Unit) -> dict[str, Any]:
    sides = {"above": result.uppers, "below": result.lowers}
    return (
        _record(result, unit)
        | delta_json(result.delta)
        | {
            side: {name: value_json(amount, unit) for name, amount in bounds.items()}
            for side, bounds in sides.items()
        }
    )


@card_of.register
def _(result: EnvelopeBounds) -> Card:
    card = _card(result, [f"δ = {format_exactly(result.delta)}"])
    rows = [(name, side, leakage(amount, "nats")) for name, side, amount in _bounds(result)]
    return Card(card.title, card.lines, ("bound", "from", "amount"), rows)


@columns_of.register
def _(result: EnvelopeBounds) -> dict[str, list[Any]]:
    names, sides, amounts = zip(*_bounds(result), strict=True)
    return {"bound": list(names), "from": list(sides), "nats": [float(amount) for amount in amounts]}


def _bounds(result: EnvelopeBounds) -> list[tuple[str, str, Nats]]:
    above = [(name, "above", amount) for name, amount in result.uppers.items()]
    return above + [(name, "below", amount) for name, amount in result.lowers.items()]
