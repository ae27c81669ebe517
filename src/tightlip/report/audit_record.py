"""Record an audit as typed data: everything a report shows, with codes in place of values unless asked.

Text, HTML and JSON are made from this record alone, so none of them can show what it leaves out. A field that has a
default is left out of the JSON where nothing was given for it.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from tightlip import __version__
from tightlip.auditing.counted import SMALL
from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.display import format_count, format_exactly
from tightlip.numeric.quantity import Nats, level_exact
from tightlip.report.amounts import (
    Amount,
    Share,
    Unit,
    about,
    amount,
    at_least,
    at_most,
    budget_words,
    delta_json,
    exact_share,
    given_decimal,
    leakage,
    posterior_share,
    share,
)
from tightlip.report.audit_words import (
    Figure,
    ViewWords,
    cell_columns,
    change_note,
    change_words,
    digest_words,
    empty_lead_words,
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
    verdict,
)
from tightlip.report.disclosure import Names, Veil, remedy_toml, veil_audit, veil_finding
from tightlip.report.envelope import method_words

if TYPE_CHECKING:
    from tightlip.auditing.result import Audit, CellRisk, Finding, Remedy, SecretView
    from tightlip.envelopes.result import Envelope
    from tightlip.statistic.result import StatisticLeakage

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
    """One of the worst cells."""

    cell: str
    people: str
    leakage: Amount
    secret: str
    prior: Share
    posterior: Share


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
    """A released column: its leakage alone, that of the release without it, and the part that then goes."""

    column: str
    alone: Amount
    without: Amount
    saved: Share


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


@dataclass(frozen=True, slots=True)
class Lead:
    """What `protect` would keep, told before all other changes; `words` alone where it was not tried."""

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
    views: tuple[ViewReport, ...]
    remedies: tuple[Change, ...]
    no_remedy: str | None
    method: tuple[str, ...]
    values_shown: bool
    privacy_note: str
    change_note: str | None = None
    protect: Lead | None = None
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
        budget=None if audit.budget is None else budget_amount(audit.budget, unit),
        secret_columns=policy.secret,
        statistic=policy.statistic,
        released=tuple(item.column for item in policy.release),
        plan=tuple(plan_words(policy)),
        headline=headline(audit, show_values=show_values, unit=unit),
        paragraphs=tuple(notes(audit, show_values=show_values)),
        verdict=Verdict(audit.verdict, verdict(told, unit=unit)),
        views=tuple(
            view_report(audit, view, unit=unit, show_values=show_values, option=options["show_values"])
            for view in audit.views.values()
        ),
        remedies=tuple(_change(audit, remedy, unit, show_values) for remedy in audit.remedies),
        no_remedy=None if audit.remedies else no_change_words(audit, options["budget"], unit=unit),
        method=tuple(method(audit)),
        values_shown=show_values,
        privacy_note=privacy_note(show_values, options["show_values"]),
        change_note=change_note(audit, unit=unit) if audit.remedies else None,
        protect=_lead(audit, table, command, unit, show_values),
    )


def _lead(audit: Audit, table: str, command: str | None, unit: Unit, show_values: bool) -> Lead | None:
    """What `protect` would keep, where the budget is not met."""
    from tightlip.protection.advice import advise
    from tightlip.protection.overview import worst_values

    found = advise(audit)
    run = protect_call(audit, table, python=command is None)
    if found is None or isinstance(found, str):
        return None if found is None else Lead(no_lead_words(found, run))
    worst = worst_values(found, found.counted.secret_columns)[1]
    told = worst.found if show_values or worst.people >= SMALL else veil_finding(worst.found, audit.budget)
    kept = Share(found.information, about(found.information))
    worst_words = leakage(told.leakage, unit)
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
    digest = audit.digest() if show_values else None
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
        envelope=replace(_point(view.envelope, unit), attack=attack),
        curve=tuple(_point(point, unit) for point in points),
        proof=_proof(proof, show_values, option),
        cells=view.counted.tally.shape[1],
        worst_cells_columns=tuple(cell_columns(audit)),
        worst_cells=tuple(_cell(risk, names, unit) for risk in view.worst_cells),
        columns=tuple(_columns(audit, view, unit)),
        secrets=tuple(
            Secret(names.secret(place), exact_share(held)) for place, held in enumerate(view.shares)
        ),
        certified=_certainty(view),
        others={
            name: _finding_record(found, names, unit) for name, found in view.others.items() if name != "pmc"
        }
        or None,
    )


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
    )


def _people(risk: CellRisk, names: Names) -> str:
    """The number of people in a cell; a small one could be recognised by it."""
    if risk.size < SMALL and not names.show_values:
        return f"under {SMALL}"
    return format_count(round(risk.size)) if risk.size >= 1 else "under 1"


def _point(point: Envelope, unit: Unit) -> EnvelopePoint:
    return EnvelopePoint(
        **delta_json(point.delta),
        delta_words=format_exactly(point.delta),
        upper=amount(point.value, unit),
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
        of=audit.joint.name,
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


def _columns(audit: Audit, view: SecretView, unit: Unit) -> list[Column]:
    """The columns with the part of the leakage that goes when each is left out."""
    whole = float(view.worst.leakage if audit.mode == "population" else view.envelope.upper)
    return [
        Column(
            column=effect.column,
            alone=amount(effect.alone, unit),
            without=amount(effect.without, unit),
            saved=share(_share_saved(whole, float(effect.without))),
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


def _change(audit: Audit, remedy: Remedy, unit: Unit, show_values: bool) -> Change:
    return Change(
        change=_sentence(change_words(audit.policy, remedy)),
        leakage=amount(remedy.leakage, unit),
        kept=share(remedy.kept),
        kind=remedy.kind,
        reason=reason_words(audit.policy, remedy),
        policy=remedy_toml(audit, remedy, show_values=show_values),
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
