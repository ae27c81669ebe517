"""Results as a notebook shows them: a record, a few lines of HTML, a data frame, a picture; by the result's type.

Asked by `tightlip.showing`. HTML holds no script and no style that reaches beyond it, and every text in it is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from html import escape
from typing import Any

from tightlip.auditing.risk import AuditRisks
from tightlip.contraction.summary import ContractionSummary, LevelBounds
from tightlip.envelopes.curve import EnvelopeCurve
from tightlip.envelopes.result import Envelope
from tightlip.errors import InvalidInput
from tightlip.measures.distribution import PointwiseLeakage
from tightlip.measures.summary import Summary
from tightlip.model.labels import Label, show
from tightlip.numeric.display import format_about, format_down, format_exactly, format_up
from tightlip.numeric.quantity import Nats
from tightlip.numeric.unit import in_unit
from tightlip.planning.samples import PlanTable
from tightlip.report import contraction, envelope, measurement, plan, statistic
from tightlip.report.amounts import Unit, leakage, leakage_json, printable, probability_json, value_json
from tightlip.report.chart import Bound, bound_chart, charting
from tightlip.statistic.result import StatisticLeakage

_MOST_ROWS = 10  # of a table in a notebook; `to_pandas` has all
# where tails and quantiles are told, as by `tightlip measure`
_DELTAS = tuple(Fraction(1, count) for count in (10, 20, 100))
_EPSILONS = (Nats.of_ratio(Fraction(2)),)


@dataclass(frozen=True, slots=True)
class Card:
    """A few lines and a table."""

    title: str
    lines: Sequence[str] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()

    def html(self) -> str:
        """The card as HTML that can do no harm."""
        text = [f"<strong>{_safe(self.title)}</strong>", *(f"<br>{_safe(line)}" for line in self.lines)]
        return f"<div>{''.join(text)}{self._table()}</div>"

    def _table(self) -> str:
        if not self.rows:
            return ""
        head = "".join(f"<th>{_safe(name)}</th>" for name in self.columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{_safe(cell)}</td>' for cell in row)}</tr>" for row in self.rows[:_MOST_ROWS]
        )
        more = len(self.rows) - _MOST_ROWS
        rest = f"<div>{more} more</div>" if more > 0 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _safe(text: str) -> str:
    return escape(printable(text))


@singledispatch
def record_of(result: Any, unit: Unit) -> dict[str, Any]:
    """Write a result as JSON takes it."""
    raise NotImplementedError(type(result).__name__)


@singledispatch
def card_of(result: Any) -> Card:
    """Summarise a result in a few lines and a table."""
    raise NotImplementedError(type(result).__name__)


@singledispatch
def columns_of(result: Any) -> dict[str, list[Any]]:
    """Write a result as the columns of a table."""
    raise NotImplementedError(type(result).__name__)


@singledispatch
def chart_of(result: Any, unit: Unit) -> Any:
    """Draw a result."""
    raise NotImplementedError(type(result).__name__)


def html_of(result: Any) -> str:
    """Write a result as HTML, as a notebook shows it."""
    return card_of(result).html()


def frame_of(result: Any) -> Any:
    """Make a pandas data frame of a result."""
    try:
        import pandas as pd
    except ImportError as error:
        raise InvalidInput("a data frame needs pandas; run pip install pandas.") from error
    return pd.DataFrame(columns_of(result))


def _label(label: Label) -> Any:
    return [_label(part) for part in label] if isinstance(label, tuple) else label


# the leakage of each outcome


@record_of.register
def _(result: PointwiseLeakage, unit: Unit) -> dict[str, Any]:
    return {
        "kind": result.kind,
        "unit": unit,
        "worst": leakage_json(result.worst, unit)
        | {"outcome": _label(result.worst_outcome), "secret": _label(result.worst_secret)},
        "outcomes": [
            {
                "outcome": _label(outcome),
                "probability": float(result.probabilities[place]),
                "value": value_json(result.value_of(outcome), unit),
                "secret": _label(result.secret_of(outcome)),
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
        title, [f"Method: {envelope.method_words(result)}.", *envelope.attack_words(result)[:_MOST_ROWS]]
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
