"""Record an audit as typed data: everything a report shows, with codes in place of values unless asked.

Text, HTML and JSON are made from this record alone, so none of them can show what it leaves out. A field that has a
default is left out of the JSON where nothing was given for it.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

from tightlip import __version__
from tightlip.auditing.counted import SMALL
from tightlip.auditing.plan import name_of
from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.display import format_count, format_exactly, several
from tightlip.numeric.quantity import Nats, level_exact
from tightlip.report.amounts import (
    Amount,
    People,
    Share,
    Unit,
    about,
    amount,
    at_least,
    at_most,
    budget_words,
    delta_json,
    exact_share,
    factor_first,
    given_decimal,
    posterior_share,
    share,
)
from tightlip.report.audit_words import (
    Figure,
    ViewWords,
    allowed_words,
    cell_columns,
    change_note,
    change_words,
    digest_words,
    empty_lead_words,
    envelope_bound,
    headline,
    lead_words,
    method,
    no_change_words,
    no_lead_words,
    notes,
    option_names,
    plan_words,
    privacy_note,
    proof_words,
    protect_call,
    reason_words,
    summary_lines,
    todo,
    verdict,
)
from tightlip.report.comparison import PlanLine
from tightlip.report.disclosure import Names, Veil, remedy_toml, veil_audit, veil_finding
from tightlip.report.envelope import method_words

if TYPE_CHECKING:
    from tightlip.auditing.budget import Budget
    from tightlip.auditing.result import Audit, CellRisk, Finding, HeatMap, Remedy, SecretView
    from tightlip.envelopes.result import Envelope
    from tightlip.statistic.result import StatisticLeakage

_MOST_LINES = 20  # of worst cells
_LARGEST_PROOF = 500_000  # characters; a longer one makes a page that browsers open slowly


@dataclass(frozen=True, slots=True)
class Origin:
    """When, by which version and from which counts, to make it again and compare; the digest only with values."""

    made: str
    version: str
    rows: int
    counts_sha256: str | None
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the budget is kept; None without one."""

    met: bool | None
    words: str


@dataclass(frozen=True, slots=True)
class Found:
    """A cell and a secret, and how seeing the one moves the other; `at_least` is of the worst leakage."""

    cell: str
    secret: str
    leakage: Amount
    prior: Share
    posterior: Share
    at_least: Amount | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One of the worst kinds of cells: `cells` of them are told alike."""

    cell: str
    people: str
    leakage: Amount
    secret: str
    prior: Share
    posterior: Share
    cells: int = 1


@dataclass(frozen=True, slots=True)
class TailStep:
    """The share of people above a level, from both sides."""

    level: Amount
    above: Share
    at_least: Share


@dataclass(frozen=True, slots=True)
class EnvelopePoint:
    """A point of the envelope with both ends; the audit's own has its attack in words."""

    delta: float
    delta_exact: str
    delta_words: str
    upper: Amount
    lower: Amount
    method: str
    attack: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether a proof holds, and the proof itself where the counts in it may be shown."""

    words: str
    checked: bool
    kind: str | None = None
    about: str | None = None
    certificate: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Statistic:
    """SML about a column that is a statistic of the whole secret, with both ends."""

    value: float | str
    unit: Unit
    words: str
    of: str
    at_least: Amount
    exact: bool
    method: str
    proof: Proof


@dataclass(frozen=True, slots=True)
class Column:
    """A released column: its leakage alone, that of the release without it, and the part that then goes.

    `over_alone` and `over_without` are the people above the budget, or above a factor of 2 where there is none.
    """

    column: str
    alone: Amount
    without: Amount
    saved: Share
    over_alone: People | None = None
    over_without: People | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One secret in the summary: its budget, how many people are over it, and what becomes of those who hold it."""

    secret: str
    budget: str
    over: str
    worst: str
    unique: str
    found_out: tuple[str, ...]
    verdict: str
    met: bool | None


@dataclass(frozen=True, slots=True)
class Bin:
    """A bar of a histogram: from where, up to where (None is no end), and how many people."""

    low: float
    high: float | None
    words: str
    people: People


@dataclass(frozen=True, slots=True)
class Certain:
    """Of those who hold a secret, how many become how certain."""

    secret: str
    held: People
    bins: tuple[Bin, ...]


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A pair of values of two columns: how many people have it, and what it leaks; None where that is not told."""

    row: str
    column: str
    people: People
    leakage: Amount | None


@dataclass(frozen=True, slots=True)
class Heat:
    """Two released columns alone; values in order."""

    columns: tuple[str, str]
    rows: tuple[str, ...]
    values: tuple[str, ...]
    cells: tuple[HeatCell, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """A measure that officers know, and how it relates to ours."""

    name: str
    value: str
    relation: str


@dataclass(frozen=True, slots=True)
class Secret:
    """How common a secret is."""

    secret: str
    share: Share


@dataclass(frozen=True, slots=True)
class Certainty:
    """What a sample cannot say, for the reader."""

    confidence: float
    rarest: Share
    uncertified_cells: int
    uncertified_share: Share
    observed_above: Share | None
    rows_to_decide: int | None


@dataclass(frozen=True, slots=True)
class ViewReport:
    """Everything about one secret."""

    name: str
    words: tuple[str, ...]
    figures: tuple[Figure, ...]
    worst: Found
    ruled_out: Found
    maximal_leakage: Amount
    ldp: Amount
    sml: Statistic | None
    share_above_budget: Share | None
    tail: tuple[TailStep, ...]
    envelope: EnvelopePoint
    curve: tuple[EnvelopePoint, ...]
    proof: Proof
    cells: int
    worst_cells_columns: tuple[str, ...]
    worst_cells: tuple[Cell, ...]
    columns: tuple[Column, ...]
    secrets: tuple[Secret, ...]
    certified: Certainty | None
    others: dict[str, Found] | None = None
    people: int = 0
    budget: Amount | None = None
    met: bool | None = None
    over: People | None = None
    left_out: tuple[People, ...] = ()
    by_factor: tuple[Bin, ...] = ()
    certainty: tuple[Certain, ...] = ()
    classical: tuple[Known, ...] = ()
    heat: Heat | None = None


@dataclass(frozen=True, slots=True)
class Lead:
    """What `protect` would keep, told before all other changes; words and perhaps a call where it was not tried."""

    words: str
    leakage: Amount | None = None
    kept: Share | None = None
    bound: Share | None = None
    command: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A remedy, with the policy file that applies it where that tells nothing that may not be shown."""

    change: str
    leakage: Amount
    kept: Share
    kind: str
    reason: str
    policy: str | None
    by_factor: dict[str, tuple[Bin, ...]] | None = None


@dataclass(frozen=True, slots=True)
class AuditReport:
    """Words, verdict, measures, the charts' data, worst cells, columns, remedies, proofs, and how to make it again."""

    version: str
    table: str
    command: str | None
    origin: Origin
    rows: int
    unit: Unit
    mode: Literal["population", "sample"]
    confidence: float | None
    delta: float
    delta_exact: str
    budget: Amount | None
    secret_columns: tuple[str, ...]
    statistic: tuple[str, ...]
    released: tuple[str, ...]
    plan: tuple[str, ...]
    headline: str
    paragraphs: tuple[str, ...]
    verdict: Verdict
    todo: tuple[str, ...]
    summary: tuple[Line, ...]
    views: tuple[ViewReport, ...]
    remedies: tuple[Change, ...]
    no_remedy: str | None
    method: tuple[str, ...]
    values_shown: bool
    privacy_note: str
    change_note: str | None = None
    protect: Lead | None = None
    comparison: tuple[PlanLine, ...] | None = None
    together: tuple[str, ...] | None = None
    ledger: dict[str, Any] | None = None
    written: dict[str, str | None] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Write the record as JSON takes it."""
        record: dict[str, Any] = as_json(self)
        return record


def as_json(value: Any) -> Any:
    """Write a record as JSON takes it: records as objects, tuples as lists; a default None is left out.

    >>> as_json((Share(0.5, "50 %"),))
    [{'value': 0.5, 'words': '50 %'}]
    """
    if is_dataclass(value):
        found = {field: getattr(value, field.name) for field in fields(value)}
        return {
            field.name: as_json(item)
            for field, item in found.items()
            if item is not None or field.default is not None
        }
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    return [as_json(item) for item in value] if isinstance(value, (list, tuple)) else value


def audit_report(
    audit: Audit,
    *,
    table: str = "the table",
    command: str | None = None,
    unit: Unit = "nats",
    show_values: bool = False,
    version: str = __version__,
    made: str | None = None,
) -> AuditReport:
    """Record an audit; its proofs are checked once more.

    Parameters
    ----------
    table, command : str
        What the report calls the table, and the command line that made it; None where it was made in Python.
    unit : "nats" | "bits"
        Unit of every leakage in the record.
    show_values : bool
        Whether secret values, cells of fewer than 10 people, and proofs, which hold the counts, may be in it.
    version, made : str
        Of the program; date and time of the audit, by default now.

    Raises
    ------
    CertificateInvalid
        If a proof does not hold.
    """
    audit.verify()
    policy, options = audit.policy, option_names(command)
    told = audit if show_values else veil_audit(audit)
    delta = delta_json(audit.delta)
    lead = None if "protect" in audit.skipped else _lead(audit, table, command, unit, show_values)
    return AuditReport(
        version=version,
        table=table,
        command=command,
        origin=_origin(audit, now() if made is None else made, version, show_values, options["show_values"]),
        rows=audit.total,
        unit=unit,
        mode=audit.mode,
        confidence=audit.confidence,
        delta=delta["delta"],
        delta_exact=delta["delta_exact"],
        budget=None if audit.deciding.budget is None else _budget(audit.deciding.budget, unit),
        secret_columns=policy.secret,
        statistic=policy.statistic,
        released=tuple(item.column for item in policy.release),
        plan=tuple(plan_words(audit)),
        headline=headline(audit, show_values=show_values, unit=unit),
        paragraphs=tuple(notes(audit, show_values=show_values)),
        verdict=Verdict(audit.verdict, verdict(told, unit=unit)),
        todo=tuple(todo(audit, None if lead is None else lead.words, unit=unit)),
        summary=tuple(Line(**line) for line in summary_lines(told, show_values=show_values, unit=unit)),
        views=tuple(
            view_report(audit, view, unit=unit, show_values=show_values, option=options["show_values"])
            for view in audit.views.values()
        ),
        remedies=tuple(
            change_report(audit, remedy, unit=unit, show_values=show_values) for remedy in audit.remedies
        ),
        no_remedy=None if audit.remedies else no_change_words(audit, options["budget"], unit=unit),
        method=tuple(method(audit)),
        values_shown=show_values,
        privacy_note=privacy_note(show_values, options["show_values"]),
        change_note=change_note(audit, unit=unit) if audit.remedies else None,
        protect=lead,
    )


def _lead(audit: Audit, table: str, command: str | None, unit: Unit, show_values: bool) -> Lead | None:
    """What `protect` would keep, where the budget is not met."""
    from tightlip.protection.advice import advise
    from tightlip.protection.overview import worst_values

    found = advise(audit)
    run = protect_call(audit, table, python=command is None)
    if found is None or isinstance(found, str):
        words = None if found is None else no_lead_words(found, run)
        return None if words is None else Lead(words, command=run if words.endswith(run) else None)
    worst = max(
        (worst_values(found, subject)[1] for subject in dict(found.secrets)),
        key=lambda one: one.found.leakage,
    )
    most = audit.deciding.budget.level if audit.deciding.budget else None
    told = worst.found if show_values or worst.people >= SMALL else veil_finding(worst.found, most)
    kept = Share(found.information, about(found.information))
    worst_words = factor_first(told.leakage, unit)
    words = (
        lead_words(kept.words, at_least(found.kept), worst_words, run) if found.kept else empty_lead_words()
    )
    return Lead(words, amount(told.leakage, unit), kept, Share(found.bound, at_most(found.bound)), run)


def now() -> str:
    """Date and time in UTC; the environment's SOURCE_DATE_EPOCH, in seconds since 1970, takes the place of the clock.

    A report made twice from the same table at the same SOURCE_DATE_EPOCH is the same file.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        moment = datetime.fromtimestamp(int(given), UTC) if given else datetime.now(UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(
            f"SOURCE_DATE_EPOCH must be a whole number of seconds since 1970, got {quoted(given)}; unset it."
        ) from error
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _origin(audit: Audit, made: str, version: str, show_values: bool, option: str) -> Origin:
    digest = audit.digest() if show_values and audit.counted is not None else None
    first = f"Made on {made} by tightlip {version} from {format_count(audit.total)} rows."
    return Origin(made, version, audit.total, digest, (first, digest_words(digest, option)))


def budget_amount(budget: Nats, unit: Unit) -> Amount:
    """A budget with its words, and as it was given."""
    decimal = None if budget.ratio is not None else given_decimal(float(budget))
    given = level_exact(budget if decimal is None else Fraction(decimal))
    return replace(amount(budget, unit), words=budget_words(budget, unit), given=given)


def view_report(
    audit: Audit, view: SecretView, *, unit: Unit, show_values: bool = False, option: str = "show_values=True"
) -> ViewReport:
    """Record one view of an audit; `option` is how values are asked for."""
    proof, sml, points = view.envelope, view.sml, view.curve or (view.envelope,)
    if not show_values:
        veil = Veil.of(audit, view)
        view, points = veil.view, tuple(veil.envelope(point) for point in points)
    names, words = Names(audit, view, show_values), ViewWords(audit, view, show_values, unit)
    attack = tuple(_sentence(text) for text in words.attack())
    return ViewReport(
        name=view.name,
        words=tuple(_sentence(text) for text in words.sentences()),
        figures=tuple(words.figures()),
        worst=replace(_finding_record(view.worst, names, unit), at_least=amount(view.at_least, unit)),
        ruled_out=_finding_record(view.pmc, names, unit),
        maximal_leakage=amount(view.maximal_leakage, unit),
        ldp=amount(view.ldp, unit),
        sml=None if sml is None else _statistic(audit, sml, unit, show_values, option),
        share_above_budget=None if view.share_above_budget is None else share(view.share_above_budget),
        tail=tuple(
            TailStep(amount(point.level, unit), share(point.above), share(point.at_least))
            for point in view.tail
        ),
        envelope=replace(_point(view.envelope, view, unit), attack=attack),
        curve=tuple(_point(point, view, unit) for point in points),
        proof=_proof(proof, show_values, option),
        cells=int(view.counted.tally.cells.sum()),
        worst_cells_columns=tuple(cell_columns(audit)),
        worst_cells=told_alike(_cell(risk, names, unit) for risk in view.worst_cells),
        columns=tuple(_columns(audit, view, unit, words)),
        secrets=tuple(
            Secret(names.secret(place), exact_share(held)) for place, held in enumerate(view.shares)
        ),
        certified=_certainty(view),
        others={
            name: _finding_record(found, names, unit) for name, found in view.others.items() if name != "pmc"
        }
        or None,
        people=view.people,
        budget=None if view.budget is None else _budget(view.budget, unit),
        met=view.verdict,
        over=words.over(),
        left_out=tuple(words.left_out()),
        by_factor=tuple(Bin(*bin_) for bin_ in words.by_factor()),
        certainty=tuple(
            Certain(names.secret(place), held, tuple(Bin(*bin_) for bin_ in bins))
            for place, held, bins in words.certainty()
        ),
        classical=tuple(Known(*known) for known in words.classical()),
        heat=None if view.heat is None else _heat(view.heat, words, unit),
    )


def _heat(found: HeatMap, words: ViewWords, unit: Unit) -> Heat | None:
    """Two columns alone; without leave no value of fewer than ten people is told, nor what a pair of so few leaks."""
    sums = [sum(people) for people in found.people], [sum(held) for held in zip(*found.people, strict=True)]
    shown = [
        {
            place: _value_name(value)
            for place, value in enumerate(values)
            if words.show_values or held[place] >= SMALL
        }
        for values, held in zip(found.values, sums, strict=True)
    ]
    told = []
    for row, column in product(*shown):
        people, leak = found.people[row][column], found.leakage[row][column]
        if leak is not None:
            known = amount(leak, unit) if words.show_values or people >= SMALL else None
            told.append(HeatCell(shown[0][row], shown[1][column], words.people(people), known))
    rows, columns = (tuple(names.values()) for names in shown)
    return Heat(found.columns, rows, columns, tuple(told)) if told else None


def _value_name(value: str | None) -> str:
    return "(missing)" if value is None else value


def told_alike(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Join cells of which the same is told, up to a number of lines; the first of them gives its name."""
    found: dict[tuple[Any, ...], Cell] = {}
    for cell in cells:
        key = cell.people, cell.leakage.words, cell.secret, cell.prior.words, cell.posterior.words
        found[key] = replace(found[key], cells=found[key].cells + cell.cells) if key in found else cell
    joined = [
        cell
        if cell.cells == 1
        else replace(
            cell, cell=f"{several(cell.cells, 'cell')}, {cell.cell.partition(' and ')[0]} among them"
        )
        for cell in found.values()
    ]
    return tuple(joined[:_MOST_LINES])


def _budget(budget: Budget, unit: Unit) -> Amount:
    """A budget with its words; its value is the smallest level about every value, infinite where there is none."""
    level = budget.level
    shown = budget_amount(level, unit) if level is not None else Amount("inf", unit, "")
    return replace(shown, words=allowed_words(budget))


def _finding_record(found: Finding, names: Names, unit: Unit) -> Found:
    return Found(
        cell=names.cell(found.cell),
        secret=names.secret(found.secret),
        leakage=amount(found.leakage, unit, bound=found.least is not None),
        prior=exact_share(found.prior),
        posterior=posterior_share(found),
    )


def _cell(risk: CellRisk, names: Names, unit: Unit) -> Cell:
    return Cell(
        cell=names.cell(risk.cell),
        people=_people(risk, names),
        leakage=amount(risk.leakage, unit, bound=risk.least is not None),
        secret=names.secret(risk.secret),
        prior=exact_share(risk.prior),
        posterior=posterior_share(risk),
        cells=risk.cells,
    )


def _people(risk: CellRisk, names: Names) -> str:
    """The number of people in a cell; a small one could be recognised by it."""
    if risk.size < SMALL and not names.show_values:
        return f"under {SMALL}"
    return format_count(round(risk.size)) if risk.size >= 1 else "under 1"


def _point(point: Envelope, view: SecretView, unit: Unit) -> EnvelopePoint:
    told = factor_first(envelope_bound(view, point), unit)
    return EnvelopePoint(
        **delta_json(point.delta),
        delta_words=format_exactly(point.delta),
        upper=replace(amount(point.value, unit), words=told),
        lower=amount(Nats(point.lower, rounding="down"), unit),
        method=method_words(point),
    )


def _statistic(
    audit: Audit, found: StatisticLeakage, unit: Unit, show_values: bool, option: str
) -> Statistic:
    value = amount(found.value, unit)
    return Statistic(
        value=value.value,
        unit=unit,
        words=value.words,
        of=name_of(audit.policy.secret),
        at_least=amount(Nats(found.lower, rounding="down"), unit),
        exact=found.exact,
        method=found.method,
        proof=_proof(found, show_values, option),
    )


def _proof(found: Envelope | StatisticLeakage, show_values: bool, option: str) -> Proof:
    """The proof of a number, as far as it may be shown; `audit_report` has checked it."""
    proof = found.certificate
    if proof is None:
        return Proof(f"There is no separate proof to check; method: {found.method}.", checked=False)
    text = proof.to_json() if show_values else None
    shown = text is not None and len(text) <= _LARGEST_PROOF
    return Proof(
        words=proof_words(None if text is None else len(text), shown, option),
        checked=True,
        kind=proof.kind,
        about=proof.digest(),
        certificate=json.loads(text) if shown and text is not None else None,
    )


def _columns(audit: Audit, view: SecretView, unit: Unit, words: ViewWords) -> list[Column]:
    """The columns with the part of the leakage that goes when each is left out."""
    veiled = audit.mode == "population" and not words.show_values
    whole = float(view.worst.leakage if audit.mode == "population" else view.envelope.upper)
    return [
        Column(
            column=effect.column,
            alone=amount(effect.alone, unit, bound=veiled and bool(effect.alone)),
            without=amount(effect.without, unit, bound=veiled and bool(effect.without)),
            saved=share(_share_saved(whole, float(effect.without))),
            over_alone=words.share_over(effect.over_alone),
            over_without=words.share_over(effect.over_without),
        )
        for effect in view.columns
    ]


def _share_saved(whole: float, without: float) -> float:
    if whole == 0 or math.isinf(without):
        return 0.0
    return 1.0 if math.isinf(whole) else max(0.0, 1 - without / whole)


def _certainty(view: SecretView) -> Certainty | None:
    if view.certified is None:
        return None
    found = view.certified
    return Certainty(
        found.confidence,
        share(found.rarest),
        found.uncertified_cells,
        share(found.uncertified_share),
        None if found.observed_above is None else share(found.observed_above),
        found.rows_to_decide,
    )


def change_report(audit: Audit, remedy: Remedy, *, unit: Unit, show_values: bool = False) -> Change:
    """Record one change of the plan."""
    return Change(
        change=_sentence(change_words(audit.policy, remedy)),
        leakage=amount(remedy.leakage, unit),
        kept=share(remedy.kept),
        kind=remedy.kind,
        reason=reason_words(audit.policy, remedy),
        policy=remedy_toml(audit, remedy, show_values=show_values),
        by_factor={
            name: tuple(
                Bin(*bin_) for bin_ in ViewWords(audit, audit.views[name], show_values, unit).bars(counts)
            )
            for name, counts in remedy.by_factor.items()
        }
        or None,
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
