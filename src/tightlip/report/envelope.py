"""Envelopes, of a channel or of one noisy value, as one JSON-ready record, as text and as a picture."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tightlip.certificate.ordered import OrderedCertificate
from tightlip.envelopes.result import COLUMN_GENERATION, Adversary, Envelope
from tightlip.model.channel import Channel
from tightlip.model.labels import Label, Labels, show
from tightlip.model.matrix import dense_column
from tightlip.numeric.display import format_about, format_down, format_exactly
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import Nats
from tightlip.report.amounts import (
    Unit,
    delta_json,
    in_unit,
    leakage_json,
    printable,
    show_value,
    value_json,
    with_unit,
)
from tightlip.report.chart import GUARANTEED, REACHED, Bound, bound_chart, charting

if TYPE_CHECKING:
    from tightlip.noise.unbounded import UnboundedAttack

_VISIBLE = 1e-4  # ends closer than this are one line in a picture
_SHOWN = 4  # outcomes or intervals that are named; more are counted
_MOST_PARTS = 6  # groups of an attack in a text


class Compared(NamedTuple):
    """What an envelope is compared with: a column and a curve; what is `reached` is rounded down, a guarantee up."""

    column: str
    curve: str
    reached: bool = False


COMPARED = {
    "maximal_leakage_bound": Compared("ℒ + log 1/δ", "bound ℒ + log 1/δ"),
    "range": Compared("any secret in the range", "any secret in the range"),
    "any": Compared("any adversary", "any adversary"),
    "ordered": Compared("ordered", "ordered adversary"),
    "event": Compared("one event", "one event"),
    "binary": Compared("one event", "one event", reached=True),
    "quantile": Compared("no post-processing", "no post-processing", reached=True),
    "dp": Compared("(ε, δ)-LDP", "(ε, δ)-LDP"),
}

# With two symbols both could count as bad, at a δ above one half; that adversary is k-ary.
_KINDS = {"any": "any adversary", "binary": "adversaries who learn one event"}


def envelope_record(
    points: Sequence[Envelope],
    attacks: Sequence[list[str]] | None = None,
    compared: Sequence[Mapping[str, Nats]] | None = None,
    *,
    unit: Unit,
    symbols: int | None = None,
) -> dict[str, Any]:
    """Record each point with its ends, its attack in words and, where given, what it is compared with.

    Parameters
    ----------
    points : of one adversary, at least one
    attacks : each point's attack in words; by default `attack_words`
    compared : what each point is compared with, by name
    symbols : how many symbols the adversary may use, where that is limited
    """
    told = [attack_words(point) for point in points] if attacks is None else attacks
    records = [point_record(point, unit, attack) for point, attack in zip(points, told, strict=True)]
    for record, others in zip(records, compared or [], strict=False):
        record["compared"] = {name: value_json(amount, unit) for name, amount in others.items()}
    found: dict[str, Any] = {"unit": unit, "adversary": points[0].adversary, "points": records}
    return found if symbols is None else {**found, "symbols": symbols}


def point_record(point: Envelope, unit: Unit, attack: list[str]) -> dict[str, Any]:
    """Record one point with its ends and its attack in words."""
    return {
        **delta_json(point.delta),
        "epsilon": leakage_json(Nats(point.upper), unit),
        "lower": value_json(Nats(point.lower, rounding="down"), unit),
        "upper": value_json(Nats(point.upper), unit),
        "method": method_words(point),
        "attack": attack,
    }


def method_words(point: Envelope) -> str:
    """Say how a point was found; an optimum that is moved from another δ needs no solve.

    >>> method_words(Envelope(Fraction(1, 2), 0.1, 0.2, "column generation", solves=2))
    'column generation, 2 solves, proved by thresholds and an attack'
    """
    method, mark, reason = point.method.partition(";")
    if method != COLUMN_GENERATION:
        return point.method
    count = point.solves
    solves = f"{count} solve{'s' if count > 1 else ''}" if count else "no solve of its own"
    return f"{method}, {solves}, proved by thresholds and an attack{mark}{reason}"


def adversary_words(adversary: Adversary, symbols: int | None = None) -> str:
    """Who is meant.

    >>> adversary_words("k-ary", 3), adversary_words("any")
    ('k-ary adversaries with at most 3 symbols', 'any adversary')
    >>> adversary_words("binary"), adversary_words("deterministic", 1)
    ('adversaries who learn one event', 'deterministic adversaries with at most 1 symbol')
    """
    kind = _KINDS.get(adversary, f"{adversary} adversaries")
    if symbols is None:
        return kind
    return f"{kind} with at most {symbols} symbol{'s' if symbols != 1 else ''}"


def attack_words(point: Envelope, secrets: Collection[Label] | None = None) -> list[str]:
    """Say what the attack does: which outcomes it groups, and which of the secrets that points to.

    Without the secrets, every symbol but the one for the rest counts as one.
    """
    if point.attack is None:
        return []
    if isinstance(point.certificate, OrderedCertificate):
        return _runs(point.certificate)
    named = point.attack.outputs
    rest = max((symbol for symbol in named if str(symbol).rstrip("'") == "rest"), key=len, default=None)
    pointing = [symbol for symbol in named if symbol != rest] if secrets is None else secrets
    return [
        f'grouping {_outcomes(point.attack, place)} points to secret "{show(symbol)}"'
        for place, symbol in enumerate(named)
        if symbol in pointing
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


def noise_attack_words(point: Envelope, endless: UnboundedAttack | None, unit: Unit) -> list[str]:
    """Say the attack on one noisy value: which intervals of Y it reads as one; or one without end, at one size."""
    if point.attack is not None:
        return [
            f'reading Y in {_cells(point.attack, place)} as one points to secret "{secret}"'
            for place, secret in enumerate(point.attack.outputs[:-1])
        ]
    return [] if endless is None else [_endless_words(endless, unit)]


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


def _endless_words(attack: UnboundedAttack, unit: Unit) -> str:
    far, middle = (f"({_place(a)}, {_place(b)})" for a, b in (attack.far[0], attack.middle[0]))
    level = with_unit(format_down(in_unit(Nats(attack.lower, rounding="down"), unit)), unit)
    return (
        f"{attack.symbols} groups, each a far interval of Y with a slice of its middle, such as {far} with {middle}, "
        f"which points to secret x = {_place(attack.suspects[0])}, leak at least {level} each; m groups leak about "
        "log(m/δ), so there is no end to it"
    )


def _place(value: float) -> str:
    return format_about(value)


def _who(record: dict[str, Any]) -> str:
    return adversary_words(record["adversary"], record.get("symbols"))


def envelope_text(record: dict[str, Any]) -> RenderableType:
    """Lay the record out as a table, how it was found, and the attacks in words."""
    compared = list(record["points"][0].get("compared", ()))
    table = Table(title=f"Leakage that survives post-processing by {_who(record)} ({record['unit']})")
    others = [COMPARED[name].column for name in compared]
    for title in ("δ", "ε (guaranteed)", "reached by an attack", *others):
        table.add_column(title, justify="right", overflow="fold")
    for point in record["points"]:
        amounts = [_comparison_words(name, point["compared"][name]) for name in compared]
        table.add_row(_delta(point), show_value(point["epsilon"]), _attack_words(point["lower"]), *amounts)
    methods = _methods(record["points"])
    attacks = [_attack(point) for point in record["points"] if point["attack"]]
    return Group(table, Text(""), *(Text(printable(line)) for line in (*methods, *attacks)))


def _methods(points: list[dict[str, Any]]) -> list[str]:
    """How the points were found; where that differs, which of them."""
    found: dict[str, list[str]] = {}
    for point in points:
        found.setdefault(point["method"], []).append(_delta(point))
    if len(found) == 1:
        return [f"Method: {method}." for method in found]
    return [f"Method at δ = {', '.join(deltas)}: {method}." for method, deltas in found.items()]


def _attack(point: dict[str, Any]) -> str:
    """What the attack at one probability does; of a long one the beginning, --json has all of it."""
    parts, more = point["attack"][:_MOST_PARTS], len(point["attack"]) - _MOST_PARTS
    rest = [f"and {more} more (--json lists all)"] if more > 0 else []
    return f"At δ = {_delta(point)}: " + "; ".join([*parts, *rest]) + "."


def _delta(record: dict[str, Any]) -> str:
    """δ exactly: what is reached is about no less, what is guaranteed about no more."""
    return format_exactly(Fraction(number(record["delta_exact"], "delta")))


def _comparison_words(name: str, value: float | str) -> str:
    """What others guarantee is rounded up, what others reach is rounded down."""
    return _attack_words(value) if COMPARED[name].reached else show_value({"value": value})


def _attack_words(value: float | str) -> str:
    return "infinite" if value == "inf" else format_down(float(value))


def envelope_chart(record: dict[str, Any]) -> Any:
    """Draw a record with what it is compared with (ENV Figure 2); what is infinite is said.

    Every curve falls in δ, so its points are joined by falling steps, which bound it between them too.
    """
    altair = charting()
    curves = _curves(record)
    rows = [
        {"δ": point["delta"], "δ_exact": point["delta_exact"], "ε": value, "curve": curve}
        for curve, (_, values) in curves.items()
        for point, value in zip(record["points"], values, strict=True)
        if value != "inf"
    ]
    drawn = {row["curve"] for row in rows}
    largest = max(point["delta"] for point in record["points"])  # a single δ gives no domain by itself
    endless = [curve for curve, (_, values) in curves.items() if all(value == "inf" for value in values)]
    who = "any post-processing" if record["adversary"] == "any" else f"post-processing by {_who(record)}"
    return bound_chart(
        rows,
        title=altair.Title(
            f"What survives {who}", subtitle=[f"infinite at every δ: {name}" for name in endless]
        ),
        x=altair.X("δ:Q", title="failure probability δ", scale=altair.Scale(domain=[0, largest])),
        y=altair.Y("ε:Q", title=f"leakage ε ({record['unit']})"),
        curve="curve",
        bounds={name: bound for name, (bound, _) in curves.items() if name in drawn},
        points=True,
    )


def _curves(record: dict[str, Any]) -> dict[str, tuple[Bound, list[float | str]]]:
    """The curves by name: the envelope, what an attack reaches where that differs, and all that it is compared with."""
    points = record["points"]
    name = f"{_who(record)} (guaranteed)"
    curves: dict[str, tuple[Bound, list[float | str]]] = {
        name: (GUARANTEED, [point["upper"] for point in points])
    }
    if any(0 < float(point["lower"]) < float(point["upper"]) - _VISIBLE for point in points):
        curves["reached by an attack"] = REACHED, [point["lower"] for point in points]
    for key in points[0].get("compared", ()):
        compared = COMPARED[key]
        values = [point["compared"][key] for point in points]
        curves[compared.curve] = REACHED if compared.reached else GUARANTEED, values
    return curves
