"""Draw what all releases of a ledger say together, release by release, against the budget."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from tightlip.report.amounts import Amount
from tightlip.report.chart import BLUE, FACTOR_TITLE, GREY, ORANGE, RED, Picture, factor_axis
from tightlip.report.ledger_record import AddedReport, LedgerReport, ReleaseReport, SecretReport
from tightlip.report.ledger_words import NOT_MEASURED

_STATES = {"released": BLUE, "reserved": ORANGE, "withdrawn": GREY}
_ROOM = 1.2  # of the longest level, so that the budget's name has a place above it
_FLAT = 0.1  # nats or bits; a picture of nothing needs some height
_TICK = 1 + 1e-9  # so that a budget of 3x has its tick in spite of rounding
_MOST_TICKS = 12
_SIZE, _MANY = 90, 40  # of a point, in square pixels, and how many of these do not touch each other


def ledger_pictures(report: LedgerReport) -> dict[str, Picture]:
    """Draw a picture for each secret, by its place in the page; none where nothing was released."""
    if not report.releases:
        return {}
    return {
        f"together-{place}": ledger_picture(report, secret) for place, secret in enumerate(report.secrets, 1)
    }


def ledger_picture(report: LedgerReport, secret: SecretReport) -> Picture:
    """Draw how much all releases up to each one said together about one secret."""
    told = [(one, added) for one in report.releases for added in one.added if added.secret == secret.name]
    return Picture(
        f"How much do all releases say about {secret.name}?",
        "Each step is what all releases that counted then say together, at most, as it was measured when the release "
        "was made; where what they say at least is less, that is dotted. A gap is a release that was not measured, or "
        "that no rule bounds.",
        _chart(told, secret, report.unit),
        ("release", "state", "account before → after", "at least"),
        tuple(
            (
                f"{one.number} ({one.key})",
                one.state,
                added.words,
                "" if added.at_least is None else added.at_least.words,
            )
            for one, added in told
        ),
    )


def _chart(told: list[tuple[ReleaseReport, AddedReport]], secret: SecretReport, unit: str) -> Any:
    """Draw the upper ends as a broad step, the lower ends where they differ as a thin one, and the budget as a rule."""
    import altair as alt

    points = [_point(one, added) for one, added in told]
    ends = [end for point in points for end in (point["upper"], point["lower"]) if end is not None]
    longest = max([*ends, _finite(secret.level) or 0.0, _FLAT])
    last = len(points) + 0.5  # the last step is as long as half of the others
    x = alt.X(
        "release:Q",
        title="release",
        scale=alt.Scale(domain=[0, last], nice=False),
        axis=alt.Axis(values=_ticks(len(points)), format="d", grid=False),
    )
    scale, axis = alt.Scale(domain=[0, longest * _ROOM], nice=False), factor_axis(longest * _TICK, unit)

    def step(end: str, color: str, width: float, **look: Any) -> Any:
        data = alt.Data(values=list(_corners(points, end, last)))
        y = alt.Y(f"{end}:Q", title=FACTOR_TITLE, scale=scale, axis=axis)
        return (
            alt.Chart(data)
            .mark_line(interpolate="step-after", color=color, strokeWidth=width, **look)
            .encode(x=x, y=y)
        )

    apart = any(point["lower"] is not None and point["lower"] != point["upper"] for point in points)
    layers = [step("upper", BLUE, 2.5)]
    layers += [step("lower", GREY, 1.5, strokeDash=[2, 3])] if apart else []
    return alt.layer(*_budget(secret.level), *layers, *_marks(points, x, scale, axis))


def _marks(points: list[dict[str, Any]], x: Any, scale: Any, axis: Any) -> list[Any]:
    """A point for each release, by its state; what has no place in the picture is named at the top."""
    import altair as alt

    color = alt.Color(
        "state:N",
        title=None,
        scale=alt.Scale(domain=list(_STATES), range=list(_STATES.values())),
        legend=alt.Legend(symbolType="circle"),
    )
    tooltip = [
        alt.Tooltip("name:N", title="release"),
        alt.Tooltip("state:N"),
        alt.Tooltip("words:N", title="account before → after"),
    ]
    y = alt.Y("upper:Q", title=FACTOR_TITLE, scale=scale, axis=axis)
    shown = [point for point in points if point["upper"] is not None]
    hidden = [point for point in points if point["upper"] is None]
    marks = alt.Chart(alt.Data(values=shown)).mark_point(
        filled=True, size=_SIZE if len(shown) <= _MANY else _SIZE // 6, opacity=1
    )
    names = alt.Chart(alt.Data(values=hidden)).mark_text(y=6, align="center")
    return [
        marks.encode(x=x, y=y, color=color, tooltip=tooltip),
        *([names.encode(x=x, text="sign:N", color=color, tooltip=tooltip)] if hidden else []),
    ]


def _point(one: ReleaseReport, added: AddedReport) -> dict[str, Any]:
    """One release; an end that is not known or infinite is None."""
    return {
        "release": one.number,
        "name": f"{one.number} ({one.key})",
        "state": one.state,
        "upper": _finite(added.after),
        "lower": _finite(added.at_least),
        "sign": "?" if added.after is None else "∞",
        "words": added.words if added.after is not None else NOT_MEASURED,
    }


def _corners(points: list[dict[str, Any]], end: str, last: float) -> Iterator[dict[str, Any]]:
    """The corners of a step, from nothing at the beginning to the end of the last release; None breaks the line."""
    yield {"release": 0, end: 0.0}
    for point in points:
        yield {"release": point["release"], end: point[end]}
    yield {"release": last, end: points[-1][end]}


def _finite(found: Amount | None) -> float | None:
    value = math.inf if found is None else float(found.value)
    return None if math.isinf(value) else value


def _ticks(count: int) -> list[int]:
    """The numbers of releases that are named, round and few enough to be read.

    >>> _ticks(3), _ticks(30)
    ([1, 2, 3], [5, 10, 15, 20, 25, 30])
    """
    steps = (lead * 10**power for power in range(len(str(count)) + 1) for lead in (1, 2, 5))
    step = next(step for step in steps if count <= step * _MOST_TICKS)
    return list(range(step, count + 1, step))


def _budget(level: Amount | None) -> list[Any]:
    """The budget as a dashed line with its name above it."""
    import altair as alt

    if _finite(level) is None or level is None:
        return []
    data = alt.Data(values=[{"upper": level.value, "words": f"budget {level.words}"}])
    base = alt.Chart(data).encode(alt.Y("upper:Q"))
    rule = base.mark_rule(strokeDash=[5, 4], color=RED, strokeWidth=1.5)
    return [rule, base.mark_text(color=RED, x=0, align="left", dx=6, dy=-8).encode(text="words:N")]
