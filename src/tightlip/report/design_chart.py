"""Pictures of designed mechanisms: the channel as a heat map, the trade-off as steps, given mechanisms as bars."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from tightlip.designs.frequency import LEAST_VARIANCE
from tightlip.designs.result import Design
from tightlip.errors import visible
from tightlip.model.labels import Label, show
from tightlip.model.matrix import dense
from tightlip.numeric.display import format_about, several
from tightlip.report.chart import BLUE, GREY, ORANGE, Bound, bound_chart, charting, finish_chart

WIDTH = 560
_HEIGHT = 340
_MOST = 40  # secrets, and outputs, of a heat map; more are too small to see
_NUMBERS = 12  # up to so many of both the numbers stand in the cells
_LONGEST = 140  # pixels of a label at an axis
GUARANTEES = {
    "pml": "PML",
    "ldp": "LDP",
    "pmc": "PMC",
    "lip": "LIP",
    "maximal_leakage": "maximal leakage",
}


def guarantee_name(record: dict[str, Any]) -> str:
    """Name the guarantee whose level a record varies or found, and of which priors or which secret it is."""
    return f"{GUARANTEES[record['guarantee']]}{record['scope']}"


def channel_chart(found: Design, width: int | str = WIDTH) -> Any:
    """Draw a mechanism as a heat map: a row for each secret, a column for each output; of many the likeliest."""
    altair = charting()
    matrix = dense(found.channel.floats)
    masses = found.prior.floats / found.prior.floats.sum()
    columns = np.argsort(-(masses @ matrix), kind="stable")[:_MOST]
    rows = range(min(len(matrix), _MOST))
    secrets, outputs = distinct(found.channel.inputs), distinct(found.channel.outputs)
    values = [
        {
            "secret": secrets[row],
            "output": outputs[column],
            "probability": float(matrix[row, column]),
            "words": format_about(float(matrix[row, column]), 3),
        }
        for row in rows
        for column in sorted(columns.tolist())
    ]
    noun = "secret" if found.secret is None else "data"
    axis = {"labelLimit": _LONGEST, "labelOverlap": True, "labelSeparation": 6}
    base = altair.Chart(altair.Data(values=values)).encode(
        x=altair.X("output:N", sort=None, title="output", axis=altair.Axis(labelAngle=0, **axis)),
        y=altair.Y("secret:N", sort=None, title=noun, axis=altair.Axis(**axis)),
        tooltip=[
            altair.Tooltip("secret:N", title=noun),
            "output:N",
            altair.Tooltip("words:N", title="probability"),
        ],
    )
    most = float(matrix.max())
    scale = altair.Scale(domain=[0, most], range=["#eef3fa", BLUE, "#12325e"])
    color = altair.Color("probability:Q", scale=scale, legend=altair.Legend(title="probability"))
    layers = [base.mark_rect().encode(color=color)]
    if max(len(rows), len(columns)) <= _NUMBERS:
        ink = altair.condition(
            f"datum.probability > {0.45 * most}", altair.value("white"), altair.value("#12325e")
        )
        layers.append(base.mark_text(fontSize=12).encode(text="words:N", color=ink))
    told = [
        f"{found.utility.words()}: {format_about(found.value)}",
        *(own.words() for own in found.guarantees),
    ]
    title = altair.Title(f"The mechanism: P(output | {noun})", subtitle=[*told, *_left_out(found)])
    height = min(max(34 * len(rows), 120), 640)
    return finish_chart(altair.layer(*layers, title=title), width=width, height=height)


def _left_out(found: Design) -> list[str]:
    secrets, outputs = found.channel.shape
    noun = "secret" if found.secret is None else "value"
    left = [
        several(count - _MOST, what)
        for count, what in ((secrets, f"more {noun}"), (outputs, "rarer output"))
        if count > _MOST
    ]
    return [f"{' and '.join(left)} not drawn"] if left else []


def curve_chart(record: dict[str, Any], width: int | str = WIDTH) -> Any:
    """Draw a trade-off: what is reached and what none can beat at each level, as steps that bound both between them."""
    altair = charting()
    minimised, points = record["utility"]["minimised"], record["points"]
    bounds = {
        "reached": Bound(falling=minimised, above=minimised),
        "no mechanism is better": Bound(falling=minimised, above=not minimised),
    }
    rows = [
        {"level": point["level"], "value": point[key], "curve": name, **_exactly(point)}
        for name, key in zip(bounds, ("value", "bound"), strict=True)
        for point in points
        if math.isfinite(float(point[key]))  # where nothing is let through, frequencies cannot be told
    ]
    unit = record["utility"]["unit"]
    largest = max(point["level"] for point in points)
    chart = bound_chart(
        rows,
        title=altair.Title("What can be had at each level", subtitle=record["others"]),
        x=altair.X(
            "level:Q",
            title=f"{guarantee_name(record)} of at most (nats)",
            scale=altair.Scale(domain=[0, largest]),
        ),
        y=altair.Y(
            "value:Q",
            title=record["utility"]["words"] + ("" if unit is None else f" ({unit})"),
            # variances fall as ε² rises, by powers of ten
            scale=altair.Scale(type="log") if record["kind"] == LEAST_VARIANCE else altair.Scale(zero=True),
        ),
        curve="curve",
        bounds=bounds,
        points=len(points) <= _NUMBERS,
    )
    return finish_chart(chart, width=width, height=_HEIGHT)


def _exactly(point: dict[str, Any]) -> dict[str, str]:
    """The level as it is, where that is a rational number of nats."""
    rational = all(letter in "0123456789/.e-" for letter in point["level_exact"])
    return {"level_exact": point["level_exact"]} if rational else {}


def comparison_chart(record: dict[str, Any], width: int | str = WIDTH) -> Any:
    """Draw given mechanisms as bars beside the best one and releasing nothing; a rule is what none can beat."""
    altair = charting()
    names = distinct([own["name"] for own in record["compared"]])
    given = [
        (name, own["value"], "keeps the guarantees" if own["keeps"] else "does not")
        for name, own in zip(names, record["compared"], strict=True)
    ]
    bars = [
        ("designed", record["value"], "keeps the guarantees"),
        *given,
        ("nothing released", record["nothing"], "keeps the guarantees"),
    ]
    values = [{"mechanism": name, "value": value, "guarantees": keeps} for name, value, keeps in bars]
    unit = record["utility"]["unit"]
    title = record["utility"]["words"] + ("" if unit is None else f" ({unit})")
    scale = altair.Scale(domain=["keeps the guarantees", "does not"], range=[BLUE, GREY])
    drawn = (
        altair.Chart(altair.Data(values=values))
        .mark_bar()
        .encode(
            x=altair.X("value:Q", title=title),
            y=altair.Y("mechanism:N", sort=None, title=None, axis=altair.Axis(labelLimit=_LONGEST)),
            color=altair.Color("guarantees:N", scale=scale, legend=altair.Legend(title=None)),
            tooltip=["mechanism:N", "value:Q", "guarantees:N"],
        )
    )
    rule = (
        altair.Chart(altair.Data(values=[{"bound": record["bound"]}]))
        .mark_rule(color=ORANGE, strokeDash=[4, 3], size=2)
        .encode(x="bound:Q")
    )
    chart = altair.layer(
        drawn,
        rule,
        title=altair.Title(
            "Mechanisms compared", subtitle=["dashed: none that keeps the guarantees is better"]
        ),
    )
    return finish_chart(chart, width=width, height=max(40 * len(values), 120))


def distinct(labels: Iterable[Label]) -> list[str]:
    """Write labels such that no two look alike: 1 and "1" would share a place in a picture."""
    seen: set[str] = set()
    found = []
    for label in labels:
        text = name = visible(show(label))
        again = 1
        while name in seen:
            again += 1
            name = f"{text} ({again})"
        seen.add(name)
        found.append(name)
    return found
