"""Results as a notebook shows them: a record, a few lines of HTML, a data frame, a picture; by the result's type.

Asked by `tightlip.showing`. Numbers between two proved ends are in `tightlip.report.proved`, trade-offs in
`tightlip.report.protect_curve`, designed mechanisms in `tightlip.report.design`, accounts of several releases in
`tightlip.report.together`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from tightlip.auditing.comparison import Comparison
from tightlip.auditing.risk import AuditRisks
from tightlip.contraction.bounds import DivergenceBound
from tightlip.contraction.summary import ContractionSummary, LevelBounds
from tightlip.envelopes.curve import EnvelopeCurve
from tightlip.envelopes.result import Envelope
from tightlip.errors import InvalidInput
from tightlip.histogram.release import HistogramRelease, ReleasePlan
from tightlip.histogram.table import CellTable
from tightlip.measures.adversary import AdversaryLeakage
from tightlip.measures.conditional import CompositionBound
from tightlip.measures.distribution import PointwiseLeakage
from tightlip.measures.pointwise import InformationDensity
from tightlip.measures.summary import Summary
from tightlip.model.channel import Channel
from tightlip.model.labels import show
from tightlip.model.matrix import dense
from tightlip.model.prior import Prior
from tightlip.numeric.display import format_about, format_down, format_exactly, format_up, several
from tightlip.numeric.parse import exact_text
from tightlip.numeric.quantity import Nats
from tightlip.planning.frequency import FrequencyEstimate
from tightlip.planning.risk import RiskBound
from tightlip.planning.samples import PlanRow, PlanTable
from tightlip.report import (
    contraction,
    design,
    envelope,
    measurement,
    plan,
    protect_curve,
    proved,
    release,
    statistic,
    together,
)
from tightlip.report.amounts import (
    Unit,
    float_json,
    in_unit,
    leakage,
    leakage_json,
    probability_json,
    value_json,
)
from tightlip.report.card import (
    MOST_ROWS,
    Card,
    Grid,
    card_of,
    chart_of,
    columns_of,
    frame_of,
    html_of,
    label_json,
    record_of,
)
from tightlip.report.chart import Bound, bound_chart, charting
from tightlip.report.comparison import NAMES, plan_lines
from tightlip.statistic.relations import StatisticComposition
from tightlip.statistic.result import StatisticLeakage

__all__ = [
    "chart_of",
    "design",
    "frame_of",
    "html_of",
    "protect_curve",
    "proved",
    "record_of",
    "together",
]  # what results ask for

# where tails and quantiles are told, as by `tightlip measure`
_DELTAS = tuple(Fraction(1, count) for count in (10, 20, 100))
_SHORT = 8  # characters of an exact entry of a matrix; longer ones are rounded
_EPSILONS = (Nats.of_ratio(Fraction(2)),)


# the leakage of each outcome


@record_of.register
def _(result: PointwiseLeakage, unit: Unit) -> dict[str, Any]:
    return {
        "kind": result.kind,
        "unit": unit,
        "worst": leakage_json(result.worst, unit)
        | {"outcome": label_json(result.worst_outcome), "secret": label_json(result.worst_secret)},
        "outcomes": [
            {
                "outcome": label_json(outcome),
                "probability": float(result.probabilities[place]),
                "value": value_json(result.value_of(outcome), unit),
                "secret": label_json(result.secret_of(outcome)),
            }
            for place, outcome in enumerate(result.outcomes)
        ],
        "levels": [
            leakage_json(level, unit) | {"probability": probability_json(mass)}
            for level, mass in result.levels()
        ],
    }


@card_of.register
def _(result: PointwiseLeakage) -> Card:
    against = "speaks for" if result.kind == "pml" else "speaks against"
    worst_first = sorted(range(len(result)), key=lambda place: -float(result.values[place]))
    return Card(
        repr(result),
        columns=("outcome", "probability", f"{result.kind.upper()} (nats)", against),
        rows=[
            (
                show(result.outcomes[place]),
                format_about(float(result.probabilities[place])),
                format_up(float(result.values[place])),
                show(result.secret_of(result.outcomes[place])),
            )
            for place in worst_first
        ],
    )


@columns_of.register
def _(result: PointwiseLeakage) -> dict[str, list[Any]]:
    outcomes = list(result.outcomes)
    return {
        "outcome": outcomes,
        "probability": result.probabilities.tolist(),
        result.kind: result.values.tolist(),
        "secret": [result.secret_of(outcome) for outcome in outcomes],
    }


@chart_of.register
def _(result: PointwiseLeakage, unit: Unit) -> Any:
    """P{ℓ(Y) > t}: falling steps that are exact, since the leakage has so many levels; infinite levels are cut off."""
    altair = charting()
    levels = [Nats(0.0), *(level for level, _ in result.levels() if level != float("inf"))]
    rows = [
        {
            "leakage": in_unit(level, unit),
            "probability": float(result.tail(level)),
            "curve": result.kind.upper(),
        }
        for level in levels
    ]
    return bound_chart(
        rows,
        title="How likely is a larger leakage?",
        x=altair.X("leakage:Q", title=f"leakage ({unit})"),
        y=altair.Y("probability:Q", title="probability of a larger one"),
        curve="curve",
        bounds={result.kind.upper(): Bound(falling=True, above=True)},
        points=True,
    )


# everything about a channel


@record_of.register
def _(result: Summary, unit: Unit) -> dict[str, Any]:
    return measurement.measurement_record(result, deltas=_DELTAS, epsilons=_EPSILONS, unit=unit)


@card_of.register
def _(result: Summary) -> Card:
    return Card(
        measurement.headline(result),
        columns=("measure", "at most", "means"),
        rows=[(title, leakage(amount, "nats"), means) for title, amount, means in _measures(result)],
    )


@columns_of.register
def _(result: Summary) -> dict[str, list[Any]]:
    found = list(_measures(result))
    return {
        "measure": [title for title, _, _ in found],
        "nats": [float(amount) for _, amount, _ in found],
        "means": [means for _, _, means in found],
    }


def _measures(summary: Summary) -> Iterable[tuple[str, Nats, str]]:
    return ((entry.title, entry.amount(summary), entry.means) for entry in measurement.MEASURES.values())


# envelopes


@record_of.register
def _(result: Envelope, unit: Unit) -> dict[str, Any]:
    return {
        "unit": unit,
        "adversary": result.adversary,
        **envelope.point_record(result, unit, envelope.attack_words(result)),
    }


@record_of.register
def _(result: EnvelopeCurve, unit: Unit) -> dict[str, Any]:
    return envelope.envelope_record(result, unit=unit) if result else {"unit": unit, "points": []}


@card_of.register
def _(result: Envelope) -> Card:
    ends = f"between {format_down(result.lower)} and {format_up(result.upper)} nats"
    who = envelope.adversary_words(result.adversary)
    title = f"Envelope at δ = {format_exactly(result.delta)}: {ends}, against {who}"
    return Card(
        title, [f"Method: {envelope.method_words(result)}.", *envelope.attack_words(result)[:MOST_ROWS]]
    )


@card_of.register
def _(result: EnvelopeCurve) -> Card:
    who = f", against {envelope.adversary_words(result[0].adversary)}" if result else ""
    rows = [
        (format_exactly(point.delta), format_up(point.upper), format_down(point.lower)) for point in result
    ]
    return Card(
        f"Envelope at {len(result)} probabilities{who} (nats)",
        columns=("δ", "guaranteed", "reached by an attack"),
        rows=rows,
    )


@columns_of.register
def _(result: EnvelopeCurve) -> dict[str, list[Any]]:
    return {
        "delta": [float(point.delta) for point in result],
        "lower": [point.lower for point in result],
        "upper": [point.upper for point in result],
        "method": [point.method for point in result],
    }


@chart_of.register
def _(result: Envelope, unit: Unit) -> Any:
    return envelope.envelope_chart(envelope.envelope_record([result], unit=unit))


@chart_of.register
def _(result: EnvelopeCurve, unit: Unit) -> Any:
    if not result:
        raise InvalidInput("the curve has no points to draw; ask for some deltas.")
    return envelope.envelope_chart(envelope.envelope_record(result, unit=unit))


# a statistic


@record_of.register
def _(result: StatisticLeakage, unit: Unit) -> dict[str, Any]:
    return statistic.statistic_record(result, unit=unit)


@card_of.register
def _(result: StatisticLeakage) -> Card:
    headline, proof = statistic.statistic_words(statistic.statistic_record(result, unit="nats"))
    rows = [(show(secret), show(row)) for secret, row in result.selection.items()]
    return Card(headline, [proof], ("secret", "row"), rows)


@columns_of.register
def _(result: StatisticLeakage) -> dict[str, list[Any]]:
    return {"secret": list(result.selection), "row": list(result.selection.values())}


# contraction


@record_of.register
def _(result: ContractionSummary, unit: Unit) -> dict[str, Any]:
    return contraction.contraction_record(result, unit)


@record_of.register
def _(result: LevelBounds, unit: Unit) -> dict[str, Any]:
    return contraction.level_record(result, unit)


@card_of.register
def _(result: ContractionSummary) -> Card:
    record = contraction.contraction_record(result, "nats")
    return Card(
        contraction.COEFFICIENTS, [contraction.capacity_words(record)], *contraction.coefficients(record)
    )


@card_of.register
def _(result: LevelBounds) -> Card:
    record = contraction.level_record(result, "nats")
    return Card(contraction.bounds_title(record), [], *contraction.bounds(record))


@chart_of.register
def _(result: ContractionSummary, unit: Unit) -> Any:
    return contraction.contraction_chart(result)


@chart_of.register
def _(result: LevelBounds, unit: Unit) -> Any:
    return contraction.contraction_chart(result)


# plans of studies


@record_of.register
def _(result: PlanTable, unit: Unit) -> dict[str, Any]:
    return plan.plan_record(result)


@card_of.register
def _(result: PlanTable) -> Card:
    record = plan.plan_record(result)
    first, *others = plan.sentences(record)
    return Card(first, others, *plan.cells(record))


@columns_of.register
def _(result: PlanTable) -> dict[str, list[Any]]:
    return {
        "privacy": [row.privacy.words for row in result],
        "contraction": [row.contraction for row in result],
        "effective_samples": [row.effective_samples for row in result],
        "risk": [row.risk.value for row in result],
        "method": [row.risk.method for row in result],
        "samples_needed": [row.samples_needed for row in result],
        "factor": [row.factor for row in result],
    }


@chart_of.register
def _(result: PlanTable, unit: Unit) -> Any:
    return plan.plan_chart(result)


# the risks of records


@record_of.register
def _(result: AuditRisks, unit: Unit) -> dict[str, Any]:
    columns = result.columns()
    amounts = [value_json(Nats(amount), unit) for amount in columns["leakage"]]
    return {"unit": unit, "columns": columns | {"leakage": amounts}}


@card_of.register
def _(result: AuditRisks) -> Card:
    """Without values: how many records have a cell that leaks how much."""
    return Card(repr(result), ["to_pandas() has them, with the values of secrets and cells."])


@columns_of.register
def _(result: AuditRisks) -> dict[str, list[Any]]:
    return result.columns()


# plans side by side


@record_of.register
def _(result: Comparison, unit: Unit) -> dict[str, Any]:
    return {"unit": unit, "plans": [asdict(line) for line in plan_lines(result, unit=unit)]}


@card_of.register
def _(result: Comparison) -> Card:
    lines = list(plan_lines(result))
    return Card("Plans side by side", (), NAMES, [line.cells() for line in lines])


@columns_of.register
def _(result: Comparison) -> dict[str, list[Any]]:
    return result.columns()


# what one adversary learns, and what each pair of secret and outcome says


@record_of.register
def _(result: AdversaryLeakage, unit: Unit) -> dict[str, Any]:
    return {
        "unit": unit,
        "worst": leakage_json(result.worst, unit) | {"outcome": label_json(result.worst_outcome)},
        "average": leakage_json(result.average, unit),
        "outcomes": [
            {
                "outcome": label_json(outcome),
                "probability": float(mass),
                "value": value_json(result.value_of(outcome), unit),
                "guess": guess,
            }
            for outcome, mass, guess in zip(
                result.outcomes, result.probabilities, result.guesses, strict=True
            )
        ],
    }


@card_of.register
def _(result: AdversaryLeakage) -> Card:
    worst = leakage(result.worst, "nats")
    rows = [
        (show(outcome), format_about(float(mass)), format_down(float(value)), str(guess))
        for outcome, mass, value, guess in zip(
            result.outcomes, result.probabilities, result.values, result.guesses, strict=True
        )
    ]
    return Card(
        f"Leakage to one adversary: {worst} from the worst outcome, {leakage(result.average, 'nats')} on average",
        columns=("outcome", "probability", "leakage (nats)", "best guess"),
        rows=rows,
    )


@columns_of.register
def _(result: AdversaryLeakage) -> dict[str, list[Any]]:
    return {
        "outcome": list(result.outcomes),
        "probability": result.probabilities.tolist(),
        "leakage": result.values.tolist(),
        "guess": list(result.guesses),
    }


@record_of.register
def _(result: InformationDensity, unit: Unit) -> dict[str, Any]:
    return {
        "unit": unit,
        "secrets": [label_json(label) for label in result.secrets],
        "outcomes": [label_json(label) for label in result.outcomes],
        "values": [
            [value_json(Nats(value, rounding="nearest"), unit) for value in row]
            for row in result.values.tolist()
        ],
    }


@card_of.register
def _(result: InformationDensity) -> Card:
    return _matrix_card(repr(result), Grid(result.values, result.secrets, result.outcomes))


@columns_of.register
def _(result: InformationDensity) -> Grid:
    return Grid(result.values, result.secrets, result.outcomes)


@record_of.register
def _(result: CompositionBound, unit: Unit) -> dict[str, Any]:
    first = leakage_json(result.first.worst, unit)
    return {"unit": unit, "worst": leakage_json(result.worst, unit), "first": first}


@card_of.register
def _(result: CompositionBound) -> Card:
    first = leakage(result.first.worst, "nats")
    return Card(
        f"Two releases together: at most {leakage(result.worst, 'nats')}", [f"The first alone: {first}."]
    )


# channels and priors


@card_of.register
def _(result: Channel) -> Card:
    return _matrix_card(repr(result), Grid(result.matrix, result.inputs, result.outputs))


@columns_of.register
def _(result: Channel) -> Grid:
    return Grid(dense(result.floats), result.inputs, result.outputs)


@card_of.register
def _(result: Prior) -> Card:
    rows = [(show(label), _entry(mass)) for label, mass in zip(result.labels, result.masses, strict=True)]
    return Card(f"Prior of {several(len(result), 'secret')}", columns=("secret", "probability"), rows=rows)


@columns_of.register
def _(result: Prior) -> dict[str, list[Any]]:
    return {"secret": list(result.labels), "probability": result.floats.tolist()}


def _matrix_card(title: str, grid: Grid) -> Card:
    """The first rows and columns of a matrix."""
    rows, columns = list(grid.rows)[: MOST_ROWS + 1], list(grid.columns)
    shown = columns[:MOST_ROWS]
    more = [f"{len(columns) - len(shown)} more columns"] if len(columns) > len(shown) else []
    entries = dense(grid.entries[: len(rows), : len(shown)])
    cells = [
        (show(label), *(_entry(entry) for entry in row)) for label, row in zip(rows, entries, strict=True)
    ]
    return Card(title, more, ("", *map(show, shown)), cells)


def _entry(value: Any) -> str:
    """A number as it is where that is short, otherwise to nearest."""
    exact = exact_text(value) if isinstance(value, Fraction) else ""
    return exact if 0 < len(exact) <= _SHORT else format_about(float(value))


# two releases about a statistic


@record_of.register
def _(result: StatisticComposition, unit: Unit) -> dict[str, Any]:
    return {
        "unit": unit,
        "total": leakage_json(result.total, unit),
        "first": record_of(result.first, unit),
        "second": [
            {"outcome": label_json(outcome), **record_of(follow, unit)}
            for outcome, follow in result.second.items()
        ],
        "worst_outcome": label_json(result.worst_outcome),
    }


@card_of.register
def _(result: StatisticComposition) -> Card:
    return Card(
        f"Two releases together: at most {leakage(result.total, 'nats')}",
        [f"The first alone: at most {leakage(result.first.value, 'nats')}."],
        ("first outcome", "the second then leaks at most"),
        [(show(outcome), leakage(follow.value, "nats")) for outcome, follow in result.second.items()],
    )


@columns_of.register
def _(result: StatisticComposition) -> dict[str, list[Any]]:
    return {
        "first_outcome": list(result.second),
        "lower": [follow.lower for follow in result.second.values()],
        "upper": [follow.upper for follow in result.second.values()],
    }


# what a level of privacy says of a divergence


@record_of.register
def _(result: DivergenceBound, unit: Unit) -> dict[str, Any]:
    numbers = {"upper": result.value, "eta": result.eta, "gamma": result.gamma}
    return {name: float_json(number) for name, number in numbers.items()} | {
        "certified": result.certified,
        "method": result.method,
    }


@card_of.register
def _(result: DivergenceBound) -> Card:
    return Card(f"Divergence: at most {format_up(result.value)}", [f"Method: {result.method}."])


# estimates and risks of studies


@record_of.register
def _(result: FrequencyEstimate, unit: Unit) -> dict[str, Any]:
    columns = _frequencies(result)
    return {"samples": result.samples, **columns, "secret": list(map(label_json, columns["secret"]))}


@card_of.register
def _(result: FrequencyEstimate) -> Card:
    found = _frequencies(result)
    rows = [
        (show(label), *map(format_about, numbers)) for label, *numbers in zip(*found.values(), strict=True)
    ]
    title = f"Frequencies estimated from {several(result.samples, 'release')}"
    return Card(
        title, ["intervals() has confidence intervals."], ("secret", "estimate", "standard error"), rows
    )


@columns_of.register
def _(result: FrequencyEstimate) -> dict[str, list[Any]]:
    return _frequencies(result)


def _frequencies(result: FrequencyEstimate) -> dict[str, list[Any]]:
    return {
        "secret": list(result.labels),
        "estimate": [float(value) for value in result.values],
        "standard_error": result.standard_errors.tolist(),
    }


@record_of.register
def _(result: RiskBound, unit: Unit) -> dict[str, Any]:
    return {"samples": result.samples, **plan.risk_json(result)}


@card_of.register
def _(result: RiskBound) -> Card:
    title = (
        f"No procedure has a risk below {format_down(result.value)} with {several(result.samples, 'sample')}"
    )
    return Card(
        title,
        [],
        ("method", "risk at least"),
        [(one.method, format_down(one.value)) for one in result.methods],
    )


@columns_of.register
def _(result: RiskBound) -> dict[str, list[Any]]:
    return {
        "method": [one.method for one in result.methods],
        "risk": [one.value for one in result.methods],
    }


@record_of.register
def _(result: PlanRow, unit: Unit) -> dict[str, Any]:
    return plan.row_json(result)


@card_of.register
def _(result: PlanRow) -> Card:
    needed = [] if result.samples_needed is None else [f"Samples needed: at least {result.samples_needed:g}."]
    return Card(f"{result.privacy.words}: a risk of at least {format_down(result.risk.value)}", needed)


# released histograms: of a table itself only how large it is


@record_of.register
def _(result: HistogramRelease, unit: Unit) -> dict[str, Any]:
    return release.release_record(result, unit=unit)


@record_of.register
def _(result: ReleasePlan, unit: Unit) -> dict[str, Any]:
    return release.plan_record(result, unit=unit)


@record_of.register
def _(result: CellTable, unit: Unit) -> dict[str, Any]:
    return {"columns": list(result.domain.columns), "rows": result.total, "cells": result.domain.size}


@card_of.register
def _(result: HistogramRelease) -> Card:
    lines = release.release_lines(release.release_record(result, unit="nats"))
    note = [] if result.note is None else [result.note]
    return Card("A released histogram", [*lines, *note, "to_pandas() has its rows."])


@card_of.register
def _(result: ReleasePlan) -> Card:
    lines = release.release_lines(release.plan_record(result, unit="nats"))
    return Card("A planned release of a histogram; draw() makes it", lines)


@card_of.register
def _(result: CellTable) -> Card:
    size = f"{several(result.total, 'row')} over {several(result.domain.size, 'cell')}"
    return Card(f"A table of {size}", ["to_pandas() has its rows, with their values."])


@columns_of.register
def _(result: HistogramRelease) -> dict[str, list[Any]]:
    return result.table.columns()


@columns_of.register
def _(result: CellTable) -> dict[str, list[Any]]:
    return result.columns()
