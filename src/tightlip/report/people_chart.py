"""Draw how many people a release exposes: by factor, by certainty, by two columns, by column, and what changes keep.

Every number is the record's own. Fewer than ten people are drawn as nine, the most there can be, light and named
"under 10"; a pair of values of so few is grey, since what it leaks is not told.

People are counted between factors l < e^PML ≤ h. With a budget of factor b, all of them are over it where b ≤ l, none
where h ≤ b, and otherwise the bar is on both sides. That is decided exactly, since b may be one of the edges.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tightlip.auditing.counted import SMALL
from tightlip.numeric.ball import log_exceeds
from tightlip.numeric.display import format_count
from tightlip.numeric.quantity import exact_level, exact_ratio
from tightlip.report.amounts import Amount, People
from tightlip.report.audit_record import AuditReport, Bin, Change, Column, HeatCell, ViewReport
from tightlip.report.chart import BLUE, FACTOR_TITLE, GREEN, GREY, ORANGE, RED, Picture, factor_axis

_PLANNED, _AFTER = "as planned", "after the first change"
_OVER, _WITHIN, _BOTH = "over the budget", "up to the budget", "on both sides of the budget"
_LEAKS = "leakage"
_FEW, _FEW_SHORT = f"under {SMALL}", f"<{SMALL}"
_LINE = 15  # pixels of a bar with its number
_ROW = 26  # pixels of a row of a grid
_MOST_ROWS = 20  # of a grid of secrets; the table behind it has all
_MOST_NAMED = 8  # values across, beside each other, in whose cells a number has room
_LABEL = 110  # pixels of a name beside a picture; longer ones are cut there and whole in the table
_NARROW, _LOW = 280, 210  # pixels of a picture on a phone, without its axes
Box = tuple[float, float, float, float]
"""Left, right, top and bottom."""
Spot = tuple[float, float]
_DOT = 12  # pixels of a point; nearer ones are one spot
_SIDES: dict[str, dict[str, Any]] = {
    "above": {
        "align": "center",
        "baseline": "bottom",
        "dy": -8,
    },  # first: a change may be on the budget's rule
    "below": {"align": "center", "baseline": "top", "dy": 8},
    "right": {"align": "left", "baseline": "middle", "dx": 8},
    "left": {"align": "right", "baseline": "middle", "dx": -8},
}

_PERCENT = "format(datum.value * 100, '~g') + ' %'"


def people_picture(view: ViewReport, change: Change | None) -> Picture | None:
    """Draw people by the factor of their cell, under the plan and under a change of it."""
    if not view.by_factor:
        return None
    after = (change.by_factor or {}).get(view.name, ()) if change else ()
    plans = {_PLANNED: view.by_factor} | ({_AFTER: after} if after else {})
    shown = _occupied(list(plans.values()))
    rows = [
        _bar(bars[place].people)
        | {"factor": bars[place].words, "plan": plan, "kind": _kind(bars[place], plan, view.budget)}
        for plan, bars in plans.items()
        for place in shown
    ]
    colors = {
        _WITHIN: BLUE,
        _BOTH: ORANGE,
        _OVER: RED,
        _PLANNED: BLUE,
        _AFTER: GREEN,
    }
    y = _names("factor", [view.by_factor[place].words for place in shown], "times as likely")
    chart = _bars(rows, y, "plan", list(plans), colors)
    said = "How many people have released values that make some secret so many times as likely"
    also = f", as planned and after the first change ({_lower(change.change)})" if change and after else ""
    return Picture(
        "How much do released values say, and about how many?",
        f"{said}{also}.",
        chart,
        ("times as likely", *plans),
        tuple(
            (bars[0].words, *(bar.people.words for bar in bars)) for bars in zip(*plans.values(), strict=True)
        ),
        max(len(shown), 2) * (len(plans) * _LINE + 8),
    )


def _occupied(plans: Sequence[Sequence[Bin]]) -> range:
    """The bars from the first to the last that stand for somebody, in any plan."""
    held = [
        place
        for place, bars in enumerate(zip(*plans, strict=True))
        if any(bar.people.count != 0 for bar in bars)
    ]
    return range(held[0], held[-1] + 1) if held else range(1)


def _kind(bar: Bin, plan: str, budget: Amount | None) -> str:
    """What a bar is coloured by: the plan, and of the planned release the side of the budget."""
    if plan == _AFTER or budget is None or budget.value == "inf":
        return plan
    if reaches(bar.low, budget):
        return _OVER
    within = bar.high is not None and (bar.high == bar.low or not exceeds(bar.high, budget))
    return _WITHIN if within else _BOTH


def exceeds(factor: float, budget: Amount) -> bool:
    """Decide exactly whether a factor is larger than that of a budget."""
    level = exact_level(budget.given or "inf", allow_infinite=True)
    ratio, exact = exact_ratio(level), Fraction(factor)
    return log_exceeds(exact, level) if ratio is None else exact > ratio


def reaches(factor: float, budget: Amount) -> bool:
    """Decide exactly whether a factor is at least that of a budget; a larger one is over it."""
    level = exact_level(budget.given or "inf", allow_infinite=True)
    ratio = exact_ratio(level)
    return exceeds(factor, budget) if ratio is None else Fraction(factor) >= ratio


def certainty_picture(view: ViewReport) -> Picture | None:
    """Draw how certain the holders of each secret become, in tenths."""
    import altair as alt

    if not view.certainty:
        return None
    shown = view.certainty[:_MOST_ROWS]
    tenths = [str(10 * at) for at in range(10)]
    rows = [
        _bar(bar.people)
        | {
            "label": _tiny(bar.people),
            "secret": _value(one.secret, view),
            "certainty": tenths[at],
            "share": min(_count(bar.people) / max(bar.people.of, 1), 1.0),
            "level": "from 90 %" if at == 9 else "from 50 %" if at >= 5 else "below 50 %",
            "range": bar.words,
        }
        for one in shown
        for at, bar in enumerate(one.bins)
        if bar.people.count != 0
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X(
            "certainty:O",
            title="certainty, from … %",
            scale=alt.Scale(domain=tenths),
            axis=alt.Axis(labelAngle=0),
        ),
        y=_names("secret", [_value(one.secret, view) for one in shown], view.name),
        tooltip=[
            alt.Tooltip("secret:N"),
            alt.Tooltip("range:N", title="certainty"),
            alt.Tooltip("people_words:N", title="of those who have it"),
        ],
    )
    color = alt.Color(
        "level:N",
        title=None,
        scale=alt.Scale(domain=["below 50 %", "from 50 %", "from 90 %"], range=[BLUE, ORANGE, RED]),
        legend=alt.Legend(columns=1),
    )
    chart = alt.layer(
        base.mark_rect().encode(color=color, opacity=_strength("share", [0, 1])), *_inside(base, "share", 0.6)
    )
    first = "" if len(shown) == len(view.certainty) else f"the {len(shown)} most frequent of "
    return Picture(
        "How certain does somebody's own secret become?",
        f"Of those who have each secret ({first}{_counted(len(view.certainty))}), how many become how certain; a "
        "stronger colour is a larger part of them.",
        chart,
        ("secret", "certainty", "of those who have it"),
        tuple(
            (one.secret, bar.words, bar.people.words)
            for one in view.certainty
            for bar in one.bins
            if bar.people.count != 0
        ),
        max(len(shown), 2) * _ROW,
    )


def _value(secret: str, view: ViewReport) -> str:
    """A secret without the name of its column, which stands beside all of them."""
    return secret.removeprefix(f"{view.name} ")


def _counted(secrets: int) -> str:
    return f"{secrets} secrets" if secrets > 1 else "one secret"


def heat_picture(view: ViewReport, unit: str) -> Picture | None:
    """Draw what each pair of values of two columns leaks, alone."""
    import altair as alt

    heat = view.heat
    if heat is None or not heat.cells:
        return None
    turned = len(heat.values) > len(heat.rows)  # more values stand below each other than beside
    down, across = (heat.values, heat.rows) if turned else (heat.rows, heat.values)
    names = heat.columns[::-1] if turned else heat.columns
    rows = [
        {
            "down": cell.column if turned else cell.row,
            "across": cell.row if turned else cell.column,
            "leakage": 0.0 if cell.leakage is None else cell.leakage.value,
            "leakage_words": "not told" if cell.leakage is None else cell.leakage.words,
            "label": _FEW_SHORT if cell.leakage is None else cell.leakage.words.partition(" (")[0],
            "people_words": cell.people.words,
            "kind": _heat_kind(cell, view.budget),
        }
        for cell in heat.cells
    ]
    kinds = {_LEAKS: BLUE, _WITHIN: BLUE, _OVER: RED, f"{_FEW} people": GREY}
    told = [name for name in kinds if any(row["kind"] == name for row in rows)]
    most = max([float(row["leakage"]) for row in rows] + [0.1])
    short = max(map(len, across)) * 7 * len(across) < 240
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X(
            "across:N",
            title=names[1],
            scale=alt.Scale(domain=list(across)),
            axis=alt.Axis(
                labelAngle=0 if short else -60,
                labelLimit=_LABEL,
                titleLimit=2 * _LABEL,
                labelOverlap="greedy",
            ),
        ),
        y=_names("down", list(down), names[0]),
        tooltip=[
            alt.Tooltip("down:N", title=names[0]),
            alt.Tooltip("across:N", title=names[1]),
            alt.Tooltip("people_words:N", title="people"),
            alt.Tooltip("leakage_words:N", title="leakage"),
        ],
    )
    cells = base.mark_rect().encode(color=_kinds(kinds, told), opacity=_strength("leakage", [0, most]))
    named = _inside(base, "leakage", 0.6 * most) if len(across) <= _MOST_NAMED else []
    return Picture(
        f"Which values of {names[0]} and {names[1]} say most?",
        f"The factor by which seeing a pair of values alone makes some secret likelier (leakage up to "
        f"{format_leakage(rows)}); a stronger colour is more, and what fewer than {SMALL} people have is grey.",
        alt.layer(cells, *named),
        (*heat.columns, "people", f"leakage ({unit})"),
        tuple(
            (cell.row, cell.column, cell.people.words, cell.leakage.words if cell.leakage else "not told")
            for cell in heat.cells
        ),
        max(len(down), 2) * (_ROW if len(down) <= _MOST_ROWS else _LINE),
    )


def format_leakage(rows: list[dict[str, Any]]) -> str:
    """The words of the largest leakage among the cells of a heat map."""
    words: str = max(rows, key=lambda row: float(row["leakage"]))["leakage_words"]
    return words


def _heat_kind(cell: HeatCell, budget: Amount | None) -> str:
    if cell.leakage is None:
        return f"{_FEW} people"
    if budget is None or budget.value == "inf":
        return _LEAKS
    return _OVER if float(cell.leakage.value) > float(budget.value) else _WITHIN


def columns_picture(view: ViewReport) -> Picture | None:
    """Draw the people over the budget without each column and by it alone; the plan's own number as a rule."""
    effects = [one for one in view.columns if one.over_without is not None and one.over_alone is not None]
    planned = _planned(view)
    if planned == 0 and not any(people.count != 0 for one in effects for people in _over(one)):
        effects = []  # nobody is exposed, whatever is published
    if not effects:
        return None
    over = "over the budget" if view.budget is not None else "above 2x"
    ways = [f"{over} without the column", f"{over} by it alone"]
    rows = [
        _bar(people) | {"column": one.column, "way": way, "kind": way}
        for one in effects
        for way, people in zip(ways, _over(one), strict=True)
    ]
    y = _names("column", [one.column for one in effects], None)
    colors = dict(zip(ways, (BLUE, ORANGE), strict=True))
    chart = _bars(rows, y, "way", ways, colors, planned, _PLANNED)
    rule = "" if planned is None else f"; the rule is the plan as it is, {format_count(planned)}"
    return Picture(
        "What does each column add?",
        f"How many people are {over} if a column is left out, and if it is published alone{rule}.",
        chart,
        ("column", *ways),
        tuple((one.column, *(people.words for people in _over(one))) for one in effects),
        max(len(effects), 2) * (2 * _LINE + 10) + (18 if planned is not None else 0),
    )


def _over(one: Column) -> tuple[People, People]:
    assert one.over_without is not None
    assert one.over_alone is not None
    return one.over_without, one.over_alone


def _planned(view: ViewReport) -> int | None:
    """The people over the budget as planned, without one those above a factor of 2; None where it is not told."""
    if view.budget is not None:
        return None if view.over is None else view.over.count
    counts = [bar.people.count for bar in view.by_factor if bar.low >= 2]
    return None if None in counts or not counts else sum(count or 0 for count in counts)


def remedies_picture(report: AuditReport) -> Picture | None:
    """Draw what each change keeps against what it leaks, the plan itself at 100 %, and the budget as a rule."""
    import altair as alt

    found = _changes(report)
    if len(found) < 2:
        return None
    rows = [
        {
            "name": name,
            "change": change,
            "kept": kept,
            "leakage": leak.value,
            "kept_words": kept_words,
            "leakage_words": leak.words,
            "kind": "the plan" if place == 0 else "a change that meets the budget",
        }
        for place, (name, change, leak, kept, kept_words) in enumerate(found)
    ]
    top = max([float(row["leakage"]) for row in rows] + [float(level) for level in _levels(report)]) or 1.0
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X(
            "kept:Q",
            title="information kept",
            scale=alt.Scale(domain=[0, 1.0]),
            axis=alt.Axis(labelExpr=_PERCENT, values=[0, 0.25, 0.5, 0.75, 1]),
        ),
        y=alt.Y(
            "leakage:Q",
            title=FACTOR_TITLE,
            scale=alt.Scale(domain=[0, 1.1 * top], nice=False),
            axis=factor_axis(1.1 * top, report.unit),
        ),
        tooltip=[
            alt.Tooltip("name:N", title=" "),
            alt.Tooltip("change:N"),
            alt.Tooltip("leakage_words:N", title="leakage"),
            alt.Tooltip("kept_words:N", title="information kept"),
        ],
    )
    kinds = ["the plan", "a change that meets the budget"]
    color = alt.Color("kind:N", title=None, scale=alt.Scale(domain=kinds, range=[RED, GREEN]))
    chart = alt.layer(
        *_level_rules(report),
        base.mark_point(filled=True, size=90, opacity=1).encode(color=color),
        *_point_names(base, rows, 1.1 * top),
    )
    return Picture(
        "What does each way keep, and what does it leak?",
        "Further right keeps more of what the planned values tell about a row, further down leaks less; the numbers "
        "are those of the list of changes.",
        chart,
        ("way", "change", "leakage", "information kept"),
        tuple((name, change, leak.words, kept) for name, change, leak, _, kept in found),
    )


def _point_names(base: Any, rows: list[dict[str, Any]], top: float) -> list[Any]:
    """The names of points right beside them, on a side that is free where the picture is as narrow as a phone.

    Points on one spot are named together; where no side is free, the name stands on the right.
    """
    spots: dict[Spot, list[dict[str, Any]]] = {}
    for row in rows:
        x, y = _NARROW * row["kept"], _LOW * (1 - float(row["leakage"]) / top)
        near = [spot for spot in spots if math.dist(spot, (x, y)) < _DOT]
        spots.setdefault(near[0] if near else (x, y), []).append(row)
    taken = [(x - _DOT / 2, x + _DOT / 2, y - _DOT / 2, y + _DOT / 2) for x, y in spots]
    for spot, own in spots.items():
        names = ", ".join(row["name"] for row in own)
        boxes = {side: _name_box(spot, side, 7 * len(names)) for side in _SIDES}
        free = [side for side, box in boxes.items() if _is_free(box, taken)]
        side = (free or ["right"])[0]
        own[0] |= {"label": names, "side": side}
        taken.append(boxes[side])
    told = {row["side"] for row in rows if "side" in row}
    return [
        base.transform_filter(f"datum.side === '{side}'").mark_text(**_SIDES[side]).encode(text="label:N")
        for side in _SIDES
        if side in told
    ]


def _name_box(spot: Spot, side: str, wide: float) -> Box:
    """Where a name beside a point stands."""
    (x, y), gap, half = spot, _DOT / 2 + 2, 7.0
    if side in ("right", "left"):
        left = x + gap if side == "right" else x - gap - wide
        return left, left + wide, y - half, y + half
    top = y - gap - 2 * half if side == "above" else y + gap
    return x - wide / 2, x + wide / 2, top, top + 2 * half


def _is_free(box: Box, taken: list[Box]) -> bool:
    inside = box[0] >= -_DOT / 2 and box[1] <= _NARROW + _DOT / 2 and box[2] >= 0 and box[3] <= _LOW
    return inside and not any(_overlap(box, other) for other in taken)


def _overlap(one: Box, two: Box) -> bool:
    return one[0] < two[1] and two[0] < one[1] and one[2] < two[3] and two[2] < one[3]


def _changes(report: AuditReport) -> list[tuple[str, str, Amount, float, str]]:
    """The plan, what protecting keeps, and the changes: name, words, leakage, and what is kept."""
    judged = [view for view in report.views if view.budget is not None]
    # of a sample a change is measured by the envelope, so the plan is too
    leaks = [
        view.worst.leakage if report.mode == "population" else view.envelope.upper
        for view in judged or report.views
    ]
    plan = max(leaks, key=lambda leak: float(leak.value))
    found = [(_PLANNED, "The plan itself", plan, 1.0, "100 %")]
    lead = report.protect
    if lead is not None and lead.leakage is not None and lead.kept is not None:
        found.append(("protect", "Protect row by row", lead.leakage, lead.kept.value, lead.kept.words))
    found += [
        (str(place), one.change, one.leakage, one.kept.value, one.kept.words)
        for place, one in enumerate(report.remedies, 1)
    ]
    return [one for one in found if not math.isinf(float(one[2].value))]


def _levels(report: AuditReport) -> dict[Any, str]:
    """The different budgets, and their names."""
    return {
        view.budget.value: f"budget {view.budget.words}"
        for view in report.views
        if view.budget is not None and view.budget.value != "inf"
    }


def _level_rules(report: AuditReport) -> list[Any]:
    """A dashed rule for each different budget."""
    import altair as alt

    rows = [{"leakage": value, "words": words} for value, words in _levels(report).items()]
    base = alt.Chart(alt.Data(values=rows)).encode(y=alt.Y("leakage:Q"))
    rule = base.mark_rule(strokeDash=[5, 4], color=RED, strokeWidth=1.5)
    text = base.mark_text(color=RED, x=0, align="left", dx=6, dy=-8).encode(text="words:N")
    return [rule, text] if rows else []


def _count(people: People) -> int:
    """How many people at most."""
    return SMALL - 1 if people.count is None else people.count


def _bar(people: People) -> dict[str, Any]:
    """What is drawn of a number of people: its length, whether it is only known to be small, and its words."""
    return {
        "people": _count(people),
        "few": people.count is None,
        "label": _FEW if people.count is None else format_count(people.count),
        "people_words": people.words,
    }


def _tiny(people: People) -> str:
    """Write a number where there is room for four characters; the tooltip and the table have it whole.

    >>> _tiny(People(987, 9999, "")), _tiny(People(1234, 9999, "")), _tiny(People(None, 9999, ""))
    ('987', '1.2k', '<10')
    >>> _tiny(People(45_678, 10**6, "")), _tiny(People(999_999, 10**6, ""))
    ('46k', '1M')
    """
    if people.count is None:
        return _FEW_SHORT
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if people.count >= 0.9995 * size and people.count >= 1000:
            part = people.count / size
            return f"{part:.2g}{unit}" if part < 99.5 else f"{part:.0f}{unit}"
    return str(people.count)


def _names(field: str, names: list[str], title: str | None) -> Any:
    """Names below each other, in the order of the record."""
    import altair as alt

    return alt.Y(
        f"{field}:N",
        title=title,
        scale=alt.Scale(domain=names),
        axis=alt.Axis(labelLimit=_LABEL, titleLimit=_LABEL, ticks=False, domain=False),
    )


def _kinds(colors: dict[str, str], told: list[str]) -> Any:
    """Colours by kind, those that occur; a legend where there is something to tell apart, or a budget."""
    import altair as alt

    scale = alt.Scale(domain=told, range=[colors[name] for name in told])
    legend = None if told in ([_PLANNED], [_LEAKS]) else alt.Legend(columns=1)
    return alt.Color("kind:N", title=None, scale=scale, legend=legend)


def _strength(field: str, domain: list[float]) -> Any:
    """Darker is more; as opacity, so that it is so on white and on black."""
    import altair as alt

    return alt.Opacity(f"{field}:Q", scale=alt.Scale(domain=domain, range=[0.12, 1]), legend=None)


def _inside(base: Any, field: str, dark: float) -> list[Any]:
    """The labels of cells, white on dark ones."""
    return [
        base.transform_filter(f"datum.{field} >= {dark}")
        .mark_text(color="white", fontSize=11)
        .encode(text="label:N"),
        base.transform_filter(f"datum.{field} < {dark}").mark_text(fontSize=11).encode(text="label:N"),
    ]


def _bars(
    rows: list[dict[str, Any]],
    y: Any,
    group: str,
    groups: list[str],
    colors: dict[str, str],
    rule: int | None = None,
    rule_name: str = "",
) -> Any:
    """Draw people as bars below each other, each group beside the other, with its number at the end."""
    import altair as alt

    longest = max([row["people"] for row in rows] + [rule or 0, 5])
    told = [name for name in colors if any(row["kind"] == name for row in rows)]
    x = alt.X(
        "people:Q",
        title="people",
        scale=alt.Scale(domain=[0, 1.22 * longest], nice=False),  # room for the numbers
        axis=alt.Axis(format="~s" if longest >= 10_000 else ",d", tickCount=4, tickMinStep=1),
    )
    tooltip = [
        alt.Tooltip(f"{y.shorthand.partition(':')[0]}:N"),
        alt.Tooltip("kind:N", title=" "),
        alt.Tooltip("people_words:N", title="people"),
    ]
    offset = alt.YOffset(f"{group}:N", scale=alt.Scale(domain=groups))
    base = alt.Chart(alt.Data(values=rows)).encode(x=x, y=y, yOffset=offset, tooltip=tooltip)
    light = alt.condition("datum.few", alt.value(0.45), alt.value(1))
    layers = [
        base.mark_bar().encode(color=_kinds(colors, told), opacity=light),
        base.mark_text(align="left", dx=4, fontSize=11).encode(text="label:N"),
    ]
    if rule is not None:
        side = "left" if 2 * rule < longest else "right"  # towards the middle
        layers += _count_rule(rule, f"{rule_name}: {format_count(rule)}", x, side)
    return alt.layer(*layers)


def _count_rule(count: int, words: str, x: Any, side: str) -> list[Any]:
    """A dashed rule at a number of people, named above the picture."""
    import altair as alt

    base = alt.Chart(alt.Data(values=[{"people": count, "words": words}])).encode(x=x)
    rule = base.mark_rule(strokeDash=[5, 4], color=RED, strokeWidth=1.5)
    return [rule, base.mark_text(color=RED, align=side, dy=-8, y=0).encode(text="words:N")]


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
