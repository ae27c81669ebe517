"""Designed mechanisms, trade-offs and comparisons, as one JSON-ready record, as text, and as a notebook shows them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from tightlip.designs.comparison import ComparedMechanism, DesignComparison
from tightlip.designs.extremes import extremes
from tightlip.designs.frequency import LEAST_VARIANCE
from tightlip.designs.guarantee import Envelope, MaximalLeakage, named, secret_of
from tightlip.designs.result import Design, Told
from tightlip.designs.tradeoff import DesignCurve, SmallestBudget
from tightlip.designs.utility import GREATEST_GAIN, LEAST_LOSS, Utility
from tightlip.errors import visible
from tightlip.model.channel import Channel
from tightlip.model.labels import label_from_json, show
from tightlip.model.matrix import dense
from tightlip.numeric.display import format_about, format_down, format_exactly, format_up, several
from tightlip.numeric.parse import exact_text, number
from tightlip.numeric.quantity import Nats, level_exact, level_exactly, nats_of_bits
from tightlip.numeric.rounding import float_above, up
from tightlip.report.amounts import (
    Unit,
    a_or_an,
    about,
    by_factor,
    float_json,
    given_decimal,
    leakage_json,
    value_json,
    with_unit,
)
from tightlip.report.card import Card, Grid, card_of, chart_of, columns_of, label_json, record_of
from tightlip.report.design_chart import (
    GUARANTEES,
    channel_chart,
    comparison_chart,
    curve_chart,
    guarantee_name,
)
from tightlip.report.tables import plain_table

_BEST = 1e-6  # a mechanism whose value is this near to the bound, as a share of it, is called the best one
_NOTHING = 1e-9  # as a share of the value: what is called nothing to gain
_MET = 1e-8  # as a share of a short number: ends this near to it are told as it
_MOST_ROWS, _MOST_OUTPUTS = 12, 8  # of a channel in the terminal
_UNFOLDED = 100_000  # columns that no table of these has
_FEWEST_OUTPUTS = 3  # where names are so long that even these are folded
_MOST_LEVELS = 12  # of a trade-off in the terminal
_MOST_BINDING = 5  # outputs at a bound, in the terminal
_DUST = Fraction(1, 10**9)  # less is what keeps a guarantee in exact arithmetic, and never seen
_PER_PERSON = (
    "The variance is summed over the secrets; from N people, estimated with this prior as the reference, "
    "it is an N-th of that."
)
_UNCOVERED = "The prior that the mechanism is best for is not among these: under it they promise nothing."
_SHORT = 8  # characters of an exact entry of a channel; longer ones are rounded


# one design


def design_record(found: Design, unit: Unit) -> dict[str, Any]:
    """Record a mechanism: its value and the bound, what it keeps, whom that stops, and which bounds decide."""
    between = extremes(found.utility, found.prior)
    return {
        "unit": unit,
        "kind": found.utility.kind,
        "utility": _utility_json(found.utility, unit),
        **{name: _end_json(end, name == "upper", found.utility, unit) for name, end in _ends(found).items()},
        "value": _value_json(found.value, found.utility, unit),
        "bound": _bound_json(found.bound, found.utility, unit),
        "relative_gap": float_json(found.relative_gap),
        "exact": found.exact,
        "method": found.method,
        "guarantees": [
            {**own.to_dict(), "words": own.words(), "against": own.against()} for own in found.guarantees
        ],
        "covers_prior": all(own.covers(found.prior) for own in found.guarantees),
        "nothing": _value_json(between.nothing, found.utility, unit),
        "truth": _value_json(between.truth, found.utility, unit),
        "about": secret_json(found.secret),
        "prior": found.prior.to_dict(),
        "mechanism": found.channel.to_dict(),
        "binding": [
            {
                "output": label_json(own.output),
                "probability": own.probability,
                "guarantee": own.guarantee,
                "secrets": [label_json(secret) for secret in own.secrets],
            }
            for own in found.binding()
        ],
        "certain": [
            {"output": label_json(output), "secret": label_json(secret)} for output, secret in found.certain()
        ],
        "unused": [label_json(output) for output in found.unused()],
        "pml": _beside_json(found, unit),
    }


def secret_json(secret: Channel | None) -> dict[str, Any] | None:
    """Write P(x | s) of the secret that a guarantee is about; None where that is x itself."""
    return None if secret is None else secret.to_dict()


def _beside_json(found: Design, unit: Unit) -> dict[str, Any] | None:
    """Record what PML of an envelope's level reaches, and how much more there is to gain, in the utility's unit."""
    if found.pml is None or found.possible_gain is None or found.gained is None:
        return None
    whole = abs(found.pml.value)
    share = up(found.possible_gain / whole) if whole and math.isfinite(whole) else None
    return {
        "value": _value_json(found.pml.value, found.utility, unit),
        "bound": _bound_json(found.pml.bound, found.utility, unit),
        "method": found.pml.method,
        "possible_gain": _end_json(found.possible_gain, True, found.utility, unit),
        "possible_share": share if found.possible_gain else 0.0,
        "gained": _end_json(found.gained, False, found.utility, unit),
    }


def _utility_json(utility: Utility, unit: Unit) -> dict[str, Any]:
    return {
        "words": utility.words(),
        "minimised": utility.minimised,
        "unit": None if utility.unit is None else unit,
    }


def _ends(found: Design) -> dict[str, float]:
    return {"lower": found.lower, "upper": found.upper}


def _end_json(end: float, upwards: bool, utility: Utility, unit: Unit) -> float | str:
    """Write an end, rounded to its side where it changes its unit."""
    if utility.unit is None:
        return float_json(end)
    return value_json(Nats(end, rounding="up" if upwards else "down"), unit)


def _value_json(value: float, utility: Utility, unit: Unit) -> float | str:
    return _end_json(value, utility.minimised, utility, unit)


def _bound_json(bound: float, utility: Utility, unit: Unit) -> float | str:
    return _end_json(bound, not utility.minimised, utility, unit)


def gain_words(record: dict[str, Any]) -> list[str]:
    """Say, of a design under an envelope, what PML of the same level reaches and how much there is to gain at most."""
    beside = record["pml"]
    if beside is None:
        return []
    verb, on = _VERBS.get(record["kind"], ("has", ""))
    reached = (
        f"A mechanism under PML of the same level {verb} {_said(record, beside['value'], bound=False)}{on}"
    )
    under = " and ".join(
        ["the envelope", *(own["words"] for own in record["guarantees"] if own["kind"] != Envelope.key)]
    )
    most, share = _with_unit(record, format_up(float(beside["possible_gain"]))), beside["possible_share"]
    if share is not None and share <= _NOTHING:
        past = f" by more than {most}" if share else ""
        return [f"{reached}, and none under {under} can beat that{past}: there is nothing to gain."]
    more = "less" if record["utility"]["minimised"] else "more"
    beaten = f"{_INFINITIVES[verb]} {more} than {_said(record, record['bound'], bound=True)}"
    part = "" if share is None else f" ({format_up(100 * share, 2)} %)"
    own = float(beside["gained"])
    much = own > _BEST * abs(float(beside["value"]))
    gained = _with_unit(record, format_down(own)) if much else "nothing"
    return [
        f"{reached}, and none under {under} can {beaten}: at most {most}{part} to gain; this one gains {gained}."
    ]


def headline(record: dict[str, Any]) -> str:
    """Say what the mechanism reaches, and what none can beat.

    The value is rounded up where it is a loss, otherwise down, and the bound to the other side; where both are as good
    as one short number, it stands for both, with how far they are from it at most.
    """
    kept = " and ".join(own["words"] for own in record["guarantees"])
    near = record["relative_gap"] != "inf" and record["relative_gap"] <= _BEST
    who = "The best mechanism" if near else "The mechanism found"
    more = "less" if record["utility"]["minimised"] else "more"
    verb, on = _VERBS.get(record["kind"], (f"has {a_or_an(record['utility']['words'])} of", ""))
    again = "has" if record["kind"] not in _VERBS else verb
    met = _met(record)
    if met is not None:
        return f"{who} {verb} {met[0]}{on}; none under {kept} {again} {more} (both proved to {met[1]})."
    reached, beaten = _said(record, record["value"], bound=False), _said(record, record["bound"], bound=True)
    return f"{who} {verb} {reached}{on}; none under {kept} {again} {more} than {beaten}."


_VERBS = {
    LEAST_LOSS: ("loses", " on average"),
    GREATEST_GAIN: ("gains", " on average"),
}
_INFINITIVES = {"loses": "lose", "gains": "gain", "has": "have"}


def _met(record: dict[str, Any]) -> tuple[str, str] | None:
    """Find a short number that value and bound are as good as, and a power of ten that neither is further away than.

    None where there is no such number, or where both are it exactly and need no such words.
    """
    ends = [float(record[name]) for name in ("value", "bound")]
    if not all(map(math.isfinite, ends)):
        return None
    shown = format_about(ends[0])
    near = Fraction(shown)
    far = max(abs(Fraction(end) - near) for end in ends)
    if not 0 < far <= abs(near) * Fraction(_MET):
        return None
    power = math.floor(math.log10(far)) - 1
    while Fraction(10) ** power < far:
        power += 1
    return _with_unit(record, shown), f"1e{power}"


def _said(record: dict[str, Any], value: float | str, *, bound: bool) -> str:
    """Write a value with its unit: a loss up and its bound down, anything else the other way round."""
    upwards = record["utility"]["minimised"] != bound
    return _with_unit(record, (format_up if upwards else format_down)(float(value)))


def _with_unit(record: dict[str, Any], shown: str) -> str:
    unit = record["utility"]["unit"]
    return shown if unit is None else with_unit(shown, unit)


def _about(record: dict[str, Any], value: float | str) -> str:
    """Write a value that nothing rests on."""
    if math.isinf(float(value)):
        return "an infinite one"
    return _with_unit(record, format_about(float(value)))


def sentences(record: dict[str, Any]) -> list[str]:
    """Say what is guaranteed against whom, what lies on both sides of the mechanism, and how it was found."""
    verb, on = _VERBS.get(record["kind"], ("has", ""))
    nothing, truth = (_about(record, record[name]) for name in ("nothing", "truth"))
    return [
        *(
            f"Guaranteed: {own['words']}{_factor_words(own)}, against {own['against']}."
            for own in record["guarantees"]
        ),
        *([] if record["covers_prior"] else [_UNCOVERED]),
        f"For comparison, releasing nothing {verb} {nothing}{on}, and releasing the truth {truth}.",
        *([_PER_PERSON] if record["kind"] == LEAST_VARIANCE else []),
        f"Method: {record['method']}.",
    ]


def _factor_words(guarantee: dict[str, Any]) -> str:
    """Say what a probability is multiplied by at most, where a level in nats does not say so itself."""
    given = dict.fromkeys(guarantee[name] for name in ("epsilon", "lower", "upper") if guarantee.get(name))
    plain = [level for level in given if level != "0" and not level.startswith("log")]
    factors = [by_factor(Nats(float_above(Fraction(level)))) for level in plain]
    return f", {' and '.join(factors)}" if factors else ""


def binding_words(record: dict[str, Any]) -> list[str]:
    """Say which outputs are at a bound, and for which secrets."""
    found = record["binding"]
    if not found:
        if any(own["kind"] == MaximalLeakage.key for own in record["guarantees"]):
            return ["No output by itself is at a bound: maximal leakage is bounded for all of them together."]
        return ["No output is at the bound of a guarantee."]
    told = [
        f"output {_name(own['output'])} (published in {about(own['probability'])} of cases) is at the bound of "
        f"{own['guarantee']} for {_some([_name(label) for label in own['secrets']])}"
        for own in found[:_MOST_BINDING]
    ]
    more = len(found) - len(told)
    rest = [f"{more} more outputs are at a bound" if more > 1 else "one more output is at a bound"]
    return [f"{line[:1].upper()}{line[1:]}." for line in [*told, *(rest if more > 0 else [])]]


def told_words(record: dict[str, Any]) -> list[str]:
    """Say which outputs give a secret, or data, away with certainty, and which are never published."""
    found, outputs = record["certain"], len(record["mechanism"]["channel"][0])
    one, sure = "one secret", "the secret"
    if record["about"] is not None:
        one, sure = "one value of the data", "that value, and learns no more of the secret than is guaranteed"
    lines = []
    if len(found) == outputs:
        lines.append(f"Every output is published for {one} only: whoever sees it is certain of {sure}.")
    elif found:
        names = [f"{_name(own['output'])} (for {_name(own['secret'])})" for own in found]
        which = f"Output {names[0]} is" if len(names) == 1 else f"Outputs {_some(names)} are each"
        lines.append(f"{which} published for {one} only: whoever sees it is certain of {sure}.")
    if record["unused"]:
        never = _some([_name(label) for label in record["unused"]])
        lines.append(f"Never published: {never}.")
    return lines


@singledispatch
def words(found: Told, unit: Unit) -> str:
    """Say everything but the channel, a sentence a line, the answer first."""
    raise NotImplementedError(type(found).__name__)


@words.register
def _(found: Design, unit: Unit) -> str:
    record = design_record(found, unit)
    told = [*gain_words(record), headline(record), *sentences(record)]
    return "\n".join([*told, *told_words(record), *binding_words(record)])


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_BINDING
    return ", ".join(names[:_MOST_BINDING]) + (f" and {more} more" if more > 0 else "")


def cells(record: dict[str, Any], rows: int, columns: int) -> tuple[list[str], list[list[str]]]:
    """Lay out the channel as a table: names of columns, and rows; at most so many of both, the likeliest outputs."""
    shown = _likeliest(record, columns)
    channel = record["mechanism"]["channel"][:rows]
    secrets, outputs = (_names(record, side) for side in ("inputs", "outputs"))
    body = [[secrets[place], *(_entry(row[column]) for column in shown)] for place, row in enumerate(channel)]
    return ["secret" if record["about"] is None else "data", *(outputs[column] for column in shown)], body


def _likeliest(record: dict[str, Any], most: int) -> list[int]:
    """The places of the outputs that are published most often, in their order."""
    channel, prior = record["mechanism"]["channel"], record["prior"]["prior"]
    places = range(len(channel[0]))
    if len(places) <= most:
        return [*places]
    masses = [float(Fraction(number(mass, "mass"))) for mass in prior]
    rows = [[float(Fraction(number(entry, "entry"))) for entry in row] for row in channel]
    likely = [sum(mass * row[place] for mass, row in zip(masses, rows, strict=True)) for place in places]
    return sorted(sorted(places, key=lambda place: -likely[place])[:most])


def cut_words(record: dict[str, Any], rows: int, columns: int) -> list[str]:
    """Say how much of the channel is not shown."""
    channel, noun = record["mechanism"]["channel"], "secret" if record["about"] is None else "value"
    left = [
        several(own, what)
        for own, what in ((len(channel) - rows, f"more {noun}"), (len(channel[0]) - columns, "rarer output"))
        if own > 0
    ]
    return [f"{' and '.join(left)} not shown here."] if left else []


def _names(record: dict[str, Any], side: str) -> list[str]:
    channel = record["mechanism"]["channel"]
    size = len(channel) if side == "inputs" else len(channel[0])
    given = record["mechanism"].get(side)
    return [_name(label) for label in (range(size) if given is None else given)]


def _entry(value: float | str) -> str:
    """A probability as it is where that is short, otherwise to nearest."""
    exact = Fraction(number(value, "entry"))
    if 0 < exact < _DUST:
        return f"<{float(_DUST):g}"
    text = exact_text(exact)
    return text if len(text) <= _SHORT else format_about(float(exact), 3)


def _name(label: Any) -> str:
    """A label on one line, control characters made visible."""
    return visible(show(label_from_json(label)))


def design_text(record: dict[str, Any]) -> RenderableType:
    """Lay the record out: the answer, what is guaranteed, the channel, and what decides."""
    first = (*gain_words(record), headline(record), *sentences(record), *compared_words(record))
    parts: list[RenderableType] = [Text(line) for line in first]
    parts += [Text(""), _Mechanism(record)]
    return Group(*parts, *(Text(line) for line in (*told_words(record), *binding_words(record))))


@dataclass(frozen=True, slots=True)
class _Mechanism:
    """The channel as a table, with as many outputs as fit side by side unfolded."""

    record: dict[str, Any]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        of = "secret" if self.record["about"] is None else "value of the data"
        title = f"The mechanism: how likely each output is for each {of}"
        unfolded = options.update(width=_UNFOLDED)
        for outputs in range(_MOST_OUTPUTS, _FEWEST_OUTPUTS - 1, -1):
            parts = _table(title, *cells(self.record, _MOST_ROWS, outputs))
            if console.measure(parts[1], options=unfolded).maximum <= options.max_width:
                break
        yield from parts
        yield from (Text(f"{line} --json has all.") for line in cut_words(self.record, _MOST_ROWS, outputs))


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[RenderableType]:
    """Lay out a table below its title, which is wider than many a table."""
    found = plain_table(title, columns, rows)
    found.title = None
    return [Text(f"{title}:"), found]


# a trade-off


def curve_record(found: DesignCurve, unit: Unit) -> dict[str, Any]:
    """Record a trade-off: for each level what is reached, and what none can beat; levels in nats."""
    return {
        "unit": unit,
        "kind": found.utility.kind,
        "guarantee": found.guarantee,
        "scope": found.scope,
        "about": secret_json(found.secret),
        "level_unit": "nats",
        "utility": _utility_json(found.utility, unit),
        "others": [own.words() for own in found.others],
        "points": [
            {
                "level": float(point.level),
                "level_exact": level_exact(point.level),
                "level_words": level_exactly(point.level),
                "value": _value_json(point.value, found.utility, unit),
                "bound": _bound_json(point.bound, found.utility, unit),
            }
            for point in found.points
        ],
    }


def curve_title(record: dict[str, Any]) -> str:
    """Say what the trade-off is about."""
    beside = "".join(f", and {words}" for words in record["others"])
    words, count = str(record["utility"]["words"]), several(len(record["points"]), "level")
    return f"{words[:1].upper()}{words[1:]} at {count} of {guarantee_name(record)}{beside}"


def curve_cells(record: dict[str, Any], most: int) -> tuple[list[str], list[list[str]]]:
    """Lay out the trade-off as a table: names of columns, and rows; of many levels some, both ends among them."""
    points = record["points"]
    last, count = len(points) - 1, min(len(points), most)
    places = [round(last * step / (count - 1)) for step in range(count)] if count > 1 else [0]
    rows = [
        [
            points[place]["level_words"],
            _said(record, points[place]["value"], bound=False),
            _said(record, points[place]["bound"], bound=True),
        ]
        for place in places
    ]
    side = "at least" if record["utility"]["minimised"] else "at most"
    return [f"{guarantee_name(record)} (nats)", "reached", f"{side} possible"], rows


def curve_text(record: dict[str, Any]) -> RenderableType:
    """Lay the trade-off out as a table."""
    more = len(record["points"]) - _MOST_LEVELS
    left = [Text(f"{several(more, 'more level')} not shown here. --json has all.")] if more > 0 else []
    return Group(*_table(curve_title(record), *curve_cells(record, _MOST_LEVELS)), *left)


# the smallest budget


def smallest_record(found: SmallestBudget, unit: Unit) -> dict[str, Any]:
    """Record the least level at which a target is reached, between two proved ends, and the mechanism there."""
    lower, upper = Nats(found.lower, rounding="down"), Nats(found.upper)
    own, _, scope = named(found.design.guarantees, found.guarantee)
    return {
        "unit": unit,
        "guarantee": found.guarantee,
        "scope": scope,
        "about": secret_json(secret_of([own])),
        "target": _target_json(found, unit),
        "lower": value_json(lower, unit),
        "upper": value_json(upper, unit),
        "refuted": None
        if found.refuted is None
        else _bound_json(found.refuted.bound, found.design.utility, unit),
        "design": design_record(found.design, unit),
    }


def _target_json(found: SmallestBudget, unit: Unit) -> float | str:
    """Write the target in the utility's unit: the decimal that was given in bits, where it stands for the float."""
    made, refuted = found.design, found.refuted
    if made.utility.unit is None or unit == "nats":
        return float_json(found.target)
    short = float(format_about(found.target / math.log(2), 12))
    low, high = nats_of_bits(short)
    # what is said of the float must hold of the decimal: that it is reached, and that it is not at the lower level
    if high <= made.value and (refuted is None or refuted.bound < low):
        return short
    return _end_json(found.target, False, made.utility, unit)


def smallest_headline(record: dict[str, Any]) -> str:
    """Say which level suffices for the target, and at which it is proved that none does."""
    made, name = record["design"], GUARANTEES[record["guarantee"]]
    first = f"{name[:1].upper()}{name[1:]}"
    side = "at most" if made["utility"]["minimised"] else "at least"
    wanted = f"{a_or_an(made['utility']['words'])} of {side} {_with_unit(made, _target_words(record))}"
    if not record["upper"]:
        return f"Releasing nothing has {wanted} already: no {name} is needed."
    enough = with_unit(format_up(record["upper"]), record["unit"]) + record["scope"]
    if record["refuted"] is None:
        return f"{first} of {enough} is enough for {wanted}; what less is enough was not decided."
    least = with_unit(format_down(record["lower"]), record["unit"])
    return f"{first} of {enough} is enough for {wanted}; {least} is not, for any mechanism."


def _target_words(record: dict[str, Any]) -> str:
    """Write the target as it was given, or between what ends where the value is this float and no nearer decimal."""
    target = float(record["target"])
    if target == record["design"]["value"] and Fraction(repr(target)) != Fraction(target):
        return given_decimal(target) or format_exactly(target)
    return given_decimal(target) or repr(target)


def smallest_text(record: dict[str, Any]) -> RenderableType:
    """Lay out the level, and the mechanism that has it."""
    return Group(Text(smallest_headline(record)), Text(""), design_text(record["design"]))


# given mechanisms


def comparison_record(found: DesignComparison, unit: Unit) -> dict[str, Any]:
    """Record the best mechanism and given ones beside it."""
    best = design_record(found.best, unit)
    return {**best, "compared": [_compared_json(own, found.best.utility, unit) for own in found.mechanisms]}


def _compared_json(own: ComparedMechanism, utility: Utility, unit: Unit) -> dict[str, Any]:
    return {
        "name": own.name,
        "keeps": own.keeps,
        "value": _value_json(own.value, utility, unit),
        "share": own.share,
        "levels": {name: leakage_json(level, unit) for name, level in own.levels.items()},
    }


def compared_words(record: dict[str, Any]) -> list[str]:
    """Say of each given mechanism whether it keeps the guarantees and what it reaches."""
    verb, on = _VERBS.get(record["kind"], ("has", ""))
    told = []
    for own in record.get("compared", []):
        keeps = "keeps the guarantees" if len(record["guarantees"]) > 1 else "keeps the guarantee"
        kept = keeps if own["keeps"] else f"does not {keeps.replace('keeps', 'keep')}"
        share = _share_words(own["share"]) or _people_words(record, own)
        levels = ", ".join(
            f"{GUARANTEES[name]} {_measured(level, record['unit'])}" for name, level in own["levels"].items()
        )
        about = "" if record["about"] is None else "of the data: "
        told.append(
            f"{visible(own['name'])} {kept} ({about}{levels}; to nearest) and {verb} "
            f"{_said(record, own['value'], bound=False)}{on}{share}."
        )
    return told


def _people_words(record: dict[str, Any], own: dict[str, Any]) -> str:
    """Say how many more people a mechanism needs for estimates as good as the best possible ones."""
    value, bound = float(own["value"]), float(record["bound"])
    if record["kind"] != LEAST_VARIANCE or not bound > 0 or math.isinf(value):
        return ""
    return (
        f", which takes at most {format_up(up(value / bound), 4)} times as many people as the best possible"
    )


@words.register
def _(found: DesignComparison, unit: Unit) -> str:
    record = comparison_record(found, unit)
    return "\n".join([*compared_words(record), headline(record), *sentences(record)[:-1]])


def _measured(level: dict[str, Any], unit: Unit) -> str:
    """Write a measured level to nearest: that of a mechanism that keeps a guarantee is not told above its level."""
    return with_unit(format_about(float(level["value"])), unit)


def _share_words(share: float | None) -> str:
    if share is None:
        return ""
    near = 1 - _BEST <= share <= 1
    told = f"all but {format_up(100 * _BEST)}" if near else format_down(100 * share, 4)
    return f", {told} % of what is possible over releasing nothing"


# as a notebook shows them


@record_of.register
def _(result: Design, unit: Unit) -> dict[str, Any]:
    return design_record(result, unit)


@card_of.register
def _(result: Design) -> Card:
    record = design_record(result, "nats")
    return _design_card(record, [*sentences(record), *told_words(record), *binding_words(record)])


def _design_card(record: dict[str, Any], lines: Sequence[str]) -> Card:
    size = len(record["mechanism"]["channel"])
    first, *rest = [*gain_words(record), headline(record)]
    return Card(
        first,
        [*rest, *lines, *cut_words(record, size, _MOST_OUTPUTS)],
        *cells(record, size, _MOST_OUTPUTS),
    )


@columns_of.register
def _(result: Design) -> Grid:
    return Grid(dense(result.channel.floats), result.channel.inputs, result.channel.outputs)


@chart_of.register
def _(result: Design, unit: Unit) -> Any:
    return channel_chart(result)


@record_of.register
def _(result: DesignCurve, unit: Unit) -> dict[str, Any]:
    return curve_record(result, unit)


@card_of.register
def _(result: DesignCurve) -> Card:
    record = curve_record(result, "nats")
    return Card(curve_title(record), [], *curve_cells(record, len(result.points)))


@columns_of.register
def _(result: DesignCurve) -> dict[str, list[Any]]:
    return {
        "level": [float(point.level) for point in result.points],
        "value": [point.value for point in result.points],
        "bound": [point.bound for point in result.points],
    }


@chart_of.register
def _(result: DesignCurve, unit: Unit) -> Any:
    return curve_chart(curve_record(result, unit))


@record_of.register
def _(result: SmallestBudget, unit: Unit) -> dict[str, Any]:
    return smallest_record(result, unit)


@card_of.register
def _(result: SmallestBudget) -> Card:
    record = smallest_record(result, "nats")
    made = _design_card(record["design"], [headline(record["design"])])
    return Card(smallest_headline(record), made.lines, made.columns, made.rows)


@record_of.register
def _(result: DesignComparison, unit: Unit) -> dict[str, Any]:
    return comparison_record(result, unit)


@card_of.register
def _(result: DesignComparison) -> Card:
    record = comparison_record(result, "nats")
    rows = [
        (
            own["name"],
            "yes" if own["keeps"] else "no",
            _said(record, own["value"], bound=False),
            "" if own["share"] is None else f"{format_down(100 * own['share'], 4)} %",
        )
        for own in record["compared"]
    ]
    first, *rest = [*gain_words(record), headline(record)]
    return Card(
        first,
        [*rest, *sentences(record)[:-1]],
        ("mechanism", "keeps the guarantees", str(record["utility"]["words"]), "share of the possible"),
        rows,
    )


@columns_of.register
def _(result: DesignComparison) -> dict[str, list[Any]]:
    return {
        "mechanism": [own.name for own in result.mechanisms],
        "keeps": [own.keeps for own in result.mechanisms],
        "value": [own.value for own in result.mechanisms],
        "share": [own.share for own in result.mechanisms],
        **{
            name: [float(own.levels[name]) for own in result.mechanisms]
            for name in (result.mechanisms[0].levels if result.mechanisms else ())
        },
    }


@chart_of.register
def _(result: DesignComparison, unit: Unit) -> Any:
    return comparison_chart(comparison_record(result, unit))
