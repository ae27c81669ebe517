"""Record a protection as typed data: everything its report shows, with codes in place of values unless asked.

Text, HTML and JSON are made from this record alone, so none of them can show what it leaves out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tightlip import __version__
from tightlip.auditing.counted import SMALL, by_size
from tightlip.auditing.leakage import tail_levels
from tightlip.auditing.plan import about, name_of
from tightlip.auditing.result import Finding
from tightlip.numeric.quantity import Nats, Probability
from tightlip.protection.overview import (
    FactorShare,
    Pattern,
    WholeColumns,
    Worst,
    column_details,
    everything_from,
    factor_shares,
    patterns,
    whole_columns,
    worst_values,
)
from tightlip.report import protect_words as said
from tightlip.report.amounts import Amount, Share, Unit, amount, at_least, at_most
from tightlip.report.amounts import about as about_share
from tightlip.report.audit_record import Proof, as_json, now
from tightlip.report.audit_words import Figure, option_names, privacy_note
from tightlip.report.disclosure import cell_name, secret_name, veil_finding

if TYPE_CHECKING:
    from tightlip.protection.budget import Subject
    from tightlip.protection.curve import Curve
    from tightlip.protection.result import Protection

_MOST_PATTERNS = 8


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who looks at the release, whether everybody is protected against them, and who is."""

    name: str
    covered: bool
    status: str
    words: str


@dataclass(frozen=True, slots=True)
class LimitGain:
    """A limit that holds detail back, and what loosening it by one per cent would gain, about."""

    secret: str
    words: str
    gain: float
    gain_words: str


@dataclass(frozen=True, slots=True)
class LevelShare:
    """A level of a column, and the share of people for whom the column is published at it."""

    level: str
    people: Share


@dataclass(frozen=True, slots=True)
class ColumnReport:
    """What is kept of one column; `names` says what names of groups stand for."""

    column: str
    kept: Share
    levels: tuple[LevelShare, ...]
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FactorStep:
    """The share of people whose value multiplies the probability of any secret by at most a factor, at least."""

    factor: float
    factor_words: str
    before: Share
    after: Share


@dataclass(frozen=True, slots=True)
class FactorReport:
    """How much released values say about some secret columns, before and after."""

    name: str
    words: str
    worst_before: Amount
    worst_after: Amount
    worst_before_words: str
    worst_after_words: str
    steps: tuple[FactorStep, ...]


@dataclass(frozen=True, slots=True)
class TradePoint:
    """The detail that can be kept at a budget; what was not worked out there is None."""

    factor: float
    factor_words: str
    budget: Amount
    kept: Share | None = None
    bound: Share | None = None
    whole_columns: Share | None = None
    own: bool = False


@dataclass(frozen=True, slots=True)
class TradeReport:
    """Budget against detail; `plan` is the factor at which everything can be kept, if there is one."""

    words: str
    points: tuple[TradePoint, ...]
    plan: float | None
    plan_words: str | None


@dataclass(frozen=True, slots=True)
class Example:
    """One way in which rows are changed, for how many people, and a row before and after."""

    change: str
    people: Share
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class LeastReport:
    """By how much all limits must be loosened for something to be released, exactly: between two ends that are proved.

    An end is None where nothing is proved; the budgets too where the limits are not all of one kind and level.
    """

    lower: str | None
    upper: str | None
    lower_budget: str | None
    upper_budget: str | None


@dataclass(frozen=True, slots=True)
class ProtectReport:
    """Everything a report shows."""

    version: str
    table: str
    command: str | None
    made: str
    rows: int
    unit: Unit
    kind: Literal["deterministic", "randomised"]
    finished: bool
    headline: str
    verdict: str
    bound_words: str
    search: str
    least: LeastReport | None
    kept: float
    information: float
    bound: float
    gap: float
    leakage: Amount
    figures: tuple[Figure, ...]
    secret_columns: tuple[str, ...]
    released: tuple[str, ...]
    plan: tuple[str, ...]
    readers: tuple[Reader, ...]
    outside: tuple[str, ...]
    limits: tuple[LimitGain, ...]
    limits_note: str
    columns: tuple[ColumnReport, ...]
    factors: tuple[FactorReport, ...]
    trade_off: TradeReport | None
    trade_note: str
    examples: tuple[Example, ...]
    examples_note: str
    notes: tuple[str, ...]
    method: tuple[str, ...]
    proof: Proof
    values_shown: bool
    privacy_note: str
    written: dict[str, str | None] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Write the record as JSON takes it."""
        record: dict[str, Any] = as_json(self)
        return record


def protect_record(
    protection: Protection,
    *,
    unit: Unit = "nats",
    show_values: bool = False,
    table: str = "the table",
    command: str | None = None,
    curve: Curve | None = None,
    keep: Sequence[str] = (),
    with_secret: bool = False,
    unsafe: str | None = None,
    code_seed: int | None = None,
    version: str = __version__,
    made: str | None = None,
) -> ProtectReport:
    """Record a protection; its proof is checked once more.

    Parameters
    ----------
    unit : "nats" | "bits"
        Unit of every leakage in the record.
    show_values : bool
        Whether secret values, and values that fewer than 10 people share, may be in it.
    table, command : str
        What the report calls the table, and the command line that made it; None where it was made in Python.
    curve : Curve, optional
        Other budgets for the trade-off.
    keep, with_secret : as for `release`
        What else is in the file that was written.
    unsafe : str, optional
        Why the rows that were written protect nobody.
    code_seed : int, optional
        Makes the codes of equally frequent secrets repeatable.
    version, made : str
        Of the program; date and time, by default now.

    Raises
    ------
    CertificateInvalid
        If the proof does not hold.
    """
    protection.verify()
    teller = _Teller(protection, unit, show_values, code_seed)
    factors = tuple(teller.factors(subject) for subject in teller.subjects)
    before, after = teller.worst(teller.joint)
    limits = teller.limits()
    trade, option = teller.trade_off(curve), option_names(command)["show_values"]
    return ProtectReport(
        version=version,
        table=table,
        command=command,
        made=now() if made is None else made,
        rows=teller.total,
        unit=unit,
        kind="randomised" if protection.by_chance else "deterministic",
        finished=protection.finished,
        headline=said.headline(protection, after),
        verdict=said.verdict(protection, unit),
        bound_words=said.bound_words(protection),
        search=said.search_words(protection),
        least=_least(protection),
        kept=protection.kept,
        information=protection.information,
        bound=protection.bound,
        gap=protection.gap,
        leakage=amount(after.leakage, unit),
        figures=_figures(protection, before, after, unit),
        secret_columns=protection.counted.secret_columns,
        released=protection.counted.columns,
        plan=tuple(said.plan_lines(protection)),
        readers=_readers(protection, after, with_secret),
        outside=tuple(said.outside_words(past=protection.past is not None)),
        limits=limits,
        limits_note=said.limits_note(protection, len(limits)),
        columns=teller.columns(),
        factors=factors,
        trade_off=trade,
        trade_note=said.no_curve_words() if trade is None else trade.words,
        examples=teller.examples(),
        examples_note=teller.examples_note(),
        notes=(
            *(() if unsafe is None else (f"UNSAFE: {unsafe}.",)),
            *teller.notes(keep, with_secret),
            said.basis(protection),
            *(() if show_values else (said.coded(),)),
        ),
        method=tuple(said.detail_words(protection)),
        proof=Proof(
            said.proof_words(),
            checked=True,
            kind=protection.certificate.kind,
            about=protection.certificate.digest() if show_values else None,
        ),
        values_shown=show_values,
        privacy_note=privacy_note(show_values, option),
    )


def _readers(found: Protection, worst: Finding, with_secret: bool) -> tuple[Reader, ...]:
    everybody = not found.exposed
    return (
        Reader(
            "The reader of a released value",
            everybody,
            said.reader_status(found, neighbour=False),
            said.reader_words(found, worst, with_secret=with_secret),
        ),
        Reader(
            "The neighbour who knows the person",
            everybody and not found.by_chance,
            said.reader_status(found, neighbour=True),
            said.neighbour_words(found, worst),
        ),
    )


def _figures(found: Protection, before: Finding, after: Finding, unit: Unit) -> tuple[Figure, ...]:
    detail = "weighted detail" if said.weights_words(found) else "detail"
    several = ", all secrets together" if len(found.counted.secret_columns) > 1 else ""
    return (
        Figure(f"{detail} kept", at_least(found.kept), "of 100 % in the table as it is"),
        Figure(f"{detail} that could be kept", at_most(found.bound), "at most, by any truthful release"),
        Figure(
            "information kept",
            about_share(found.information),
            "about the columns that are not drawn" if found.fixed.words else "about the released columns",
        ),
        Figure(
            f"worst case after{several}",
            said.times_words(after),
            f"{said.shift_words(after, unit)}; before {said.times_words(before)}",
        ),
    )


@dataclass(frozen=True, slots=True)
class _Teller:
    """What may be told of a protection."""

    found: Protection
    unit: Unit
    show_values: bool
    code_seed: int | None

    @property
    def total(self) -> int:
        """The number of people."""
        return int(self.found.counted.tally.total)

    @property
    def joint(self) -> Subject:
        """All secret columns."""
        return self.found.counted.secret_columns

    @property
    def subjects(self) -> list[Subject]:
        """The secret columns that limits are about, and all together."""
        return list(dict.fromkeys([self.joint, *(subject for subject, _ in self.found.secrets)]))

    def worst(self, subject: Subject) -> tuple[Finding, Finding]:
        """The worst values before and after; of few people as ranges, which the budget cuts off after."""
        before, after = worst_values(self.found, subject)
        return self._told(before, None), self._told(after, self.found.budget)

    def _told(self, worst: Worst, most: Nats | None) -> Finding:
        shown = self.show_values or worst.people >= SMALL
        return worst.found if shown else veil_finding(worst.found, most)

    def share(self, people: float) -> Share:
        """The share of some people, to nearest; of fewer than ten a bound."""
        if 0 < people < SMALL and not self.show_values:
            most = min(Fraction(SMALL, self.total), Fraction(1))
            return Share(float(most), f"under {at_most(most)}")
        part = min(people / self.total, 1.0)
        return Share(part, about_share(part))

    def columns(self) -> tuple[ColumnReport, ...]:
        """What is kept of each column that is not fixed."""
        places = [place for place, column in enumerate(self.found.levels) if not column.fixed]
        return tuple(
            ColumnReport(
                one.column,
                Share(one.kept, about_share(one.kept)),
                tuple(LevelShare(words, self.share(part * self.total)) for words, part in one.levels),
                tuple(self._names(place)),
            )
            for place, one in zip(places, column_details(self.found), strict=True)
        )

    def _names(self, place: int) -> Iterator[str]:
        """What a name stands for that joins all values but some, where these may be shown."""
        column, counted = self.found.levels[place], self.found.counted
        values = column.labels[0]
        people = np.bincount(counted.codes[:, place], counted.tally.of_cell, len(values))
        held: Counter[str | None] = Counter()
        for value, many in zip(values, people.tolist(), strict=True):
            held[value] += many
        for labels in column.labels[1:]:
            joined = {label for value, label in zip(values, labels, strict=True) if label != value}
            apart = {label for label in labels if label not in joined and label is not None}
            shown = self.show_values or all(held[value] >= SMALL for value in apart)
            if len(joined) == 1 and apart and shown:
                yield said.joined_words(
                    str(joined.pop()), sorted(map(str, apart), key=lambda one: -held[one])
                )

    def factors(self, subject: Subject) -> FactorReport:
        """The people by factor, before and after."""
        before, after = self.worst(subject)
        return FactorReport(
            name=name_of(subject),
            words=said.factors_note(name_of(subject)),
            worst_before=amount(before.leakage, self.unit),
            worst_after=amount(after.leakage, self.unit),
            worst_before_words=said.worst_words(before, self.unit),
            worst_after_words=said.worst_words(after, self.unit),
            steps=tuple(self._step(one) for one in factor_shares(self.found, subject)),
        )

    def _step(self, one: FactorShare) -> FactorStep:
        ratio = one.level.ratio
        assert ratio is not None
        return FactorStep(
            float(ratio), said.factor_name(one.level), self._within(one.before), self._within(one.after)
        )

    def _within(self, above: Probability) -> Share:
        """The share of people who are not above a level, rounded down; fewer than ten above are told as ten."""
        outside = above.fraction
        assert outside is not None
        if 0 < outside * self.total < SMALL and not self.show_values:
            outside = min(Fraction(SMALL, self.total), Fraction(1))
        within = Probability.of(1 - outside, "down")
        return Share(float(within), at_least(within))

    def limits(self) -> tuple[LimitGain, ...]:
        """The limits that hold detail back."""
        codes = {subject: self._codes(subject) for subject in self.subjects}
        limits, listed = self.found.certificate.table.limits, []
        for one in self.found.binding():
            secret = codes[one.subject][one.secret]
            listed.append(
                LimitGain(
                    secret,
                    said.limit_words(one.limit, secret, limits.prior(one.limit.secret)),
                    one.gain,
                    said.gain_words(one.gain),
                )
            )
        return tuple(listed)

    def _codes(self, subject: Subject) -> list[str]:
        """What each secret is called: its values, or a code by its size."""
        seen = about(self.found.finest, subject)
        if self.show_values:
            return [secret_name(subject, seen.secret_label(place)) for place in range(seen.tally.shape[0])]
        order = by_size(seen.tally.of_secret, np.random.default_rng(self.code_seed))
        which = "" if len(self.subjects) == 1 else f" of {name_of(subject)}"
        return [f"secret {place + 1}{which}" for place in np.argsort(order).tolist()]

    def notes(self, keep: Sequence[str], with_secret: bool) -> Iterator[str]:
        """What else must be known to read the numbers: weights, and what is in the file besides."""
        if fixed := said.fixed_words(self.found):
            yield fixed
        if weights := said.weights_words(self.found):
            yield weights
        if keep:
            yield said.kept_note(keep)
        if with_secret:
            yield said.secret_note(self.found)

    def examples(self) -> tuple[Example, ...]:
        """What rows become, the most frequent changes first."""
        columns = self.found.counted.columns
        return tuple(
            Example(
                said.pattern_names(one.levels, columns),
                self.share(one.people),
                self._label(columns, one, 0),
                self._label(columns, one, 1),
            )
            for one in patterns(self.found, SMALL)[:_MOST_PATTERNS]
        )

    def examples_note(self) -> str:
        """What the list of examples has, and what it leaves out."""
        listed = patterns(self.found, SMALL)
        rest = sum(one.people for one in listed[_MOST_PATTERNS:])
        return said.examples_note(len(listed) - _MOST_PATTERNS, self.share(rest).words)

    def _label(self, columns: Sequence[str], one: Pattern, side: int) -> str:
        if one.holders[side] < SMALL and not self.show_values:
            return said.NOT_SHOWN
        return cell_name(columns, (one.before, one.after)[side])

    def trade_off(self, curve: Curve | None) -> TradeReport | None:
        """Budget against detail, at budgets that do not depend on the data."""
        own, unit = self.found.budget, self.unit
        if own is None:
            return None
        plan = self.worst(self.joint)[0].leakage
        columns = whole_columns(self.found) if curve is None else curve.whole_columns
        points = {float(own): trade_point(own, self.found.kept, self.found.bound, columns, unit, own=True)}
        for point in () if curve is None else curve.points:
            told = trade_point(point.budget, point.kept, point.bound, columns, unit)
            points.setdefault(float(point.budget), told)
        for level in tail_levels():
            if level < plan and columns:
                points.setdefault(float(level), trade_point(level, None, None, columns, unit))
        keeps_all = None if everything_from(self.found) is None else plan
        return trade_report(list(points.values()), keeps_all)


def _least(found: Protection) -> LeastReport | None:
    if found.least is None:
        return None
    lower, upper = found.least.lower or None, found.least.upper
    return LeastReport(
        None if lower is None else str(lower),
        None if upper is None else str(upper),
        None if lower is None else found.budget_at(lower, up=False),
        None if upper is None else found.budget_at(upper),
    )


def trade_report(points: Sequence[TradePoint], plan: Nats | None) -> TradeReport:
    """Record budget against detail; everything can be kept from the plan's own leakage on, if at all."""
    ordered = _own_bounds(sorted(points, key=lambda point: point.factor))
    words = said.trade_words(
        whole_columns=any(point.whole_columns is not None for point in ordered),
        alone=sum(point.kept is not None for point in ordered) < 2,
    )
    if plan is None:
        return TradeReport(words, ordered, None, None)
    return TradeReport(words, ordered, _ratio(plan), said.factor_name(plan))


def _own_bounds(points: Sequence[TradePoint]) -> tuple[TradePoint, ...]:
    """Leave out bounds that were not worked out where they stand: those of a larger budget, and 100 % of nothing."""
    told, least = [], 1.0
    for point in reversed(points):
        if point.bound is not None:
            everything = point.kept is not None and point.kept.value == 1
            lent = point.bound.value >= least and not point.own and not everything
            least = min(least, point.bound.value)
            point = replace(point, bound=None) if lent else point
        told.append(point)
    return tuple(reversed(told))


def trade_point(
    budget: Nats,
    kept: float | None,
    bound: float | None,
    columns: Sequence[WholeColumns],
    unit: Unit,
    *,
    own: bool = False,
) -> TradePoint:
    """Record one budget, and what recoding whole columns keeps there."""
    whole = max((one.kept for one in columns if float(one.leakage) <= float(budget)), default=None)
    return TradePoint(
        _ratio(budget),
        said.factor_name(budget),
        amount(budget, unit),
        None if kept is None else Share(kept, at_least(kept)),
        None if bound is None else Share(bound, at_most(bound)),
        None if whole is None else Share(whole, at_least(whole)),
        own,
    )


def _ratio(level: Nats) -> float:
    return float(np.exp(float(level))) if level.ratio is None else float(level.ratio)
