"""Record a ledger as typed data: what all releases say together, what is left, and how it came to that.

It is made from what the ledger remembers, without the table. Text, HTML and JSON are made from this record alone. No
counts and no digests of counts are in it.

Which account is that of all releases that count now? One that was made with just these in it. Where there is none, one
that has more in it still bounds them from above, since fewer releases say less; one that has fewer in it bounds them
from below.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tightlip import __version__
from tightlip.auditing.counted import SMALL
from tightlip.auditing.plan import budgets_of, name_of, subjects_of
from tightlip.auditing.run import Asked
from tightlip.ledger.amount import Amount as Level
from tightlip.ledger.standing import Standing
from tightlip.numeric.quantity import Nats, Probability
from tightlip.numeric.rounding import float_below
from tightlip.report import ledger_words as said
from tightlip.report.amounts import Amount, Share, Unit, amount, at_most, exact_share
from tightlip.report.audit_record import as_json, now
from tightlip.report.audit_words import Figure, allowed_words
from tightlip.report.ledger_words import State

if TYPE_CHECKING:
    from tightlip.auditing.joint import Terms
    from tightlip.ledger.chain import Entry
    from tightlip.ledger.ledger import Ledger, Recorded
    from tightlip.table.policy import Policy

_NOTHING = Nats(0.0, Fraction(1))
_KEPT: dict[State, bool | None] = {
    "kept": True,
    "nothing released": True,
    "no budget": None,
    "exceeded": False,
    "not known": False,
}
_WORST_FIRST: tuple[State, ...] = ("exceeded", "not known", "kept", "nothing released", "no budget")


@dataclass(frozen=True, slots=True)
class AddedReport:
    """What a release added about one secret: the account before it and after it; None where nothing was measured."""

    secret: str
    before: Amount | None
    after: Amount | None
    at_least: Amount | None
    words: str


@dataclass(frozen=True, slots=True)
class Link:
    """An entry of the chain."""

    seq: int
    time: str
    digest: str


@dataclass(frozen=True, slots=True)
class ReleaseReport:
    """A release: what it published, whether it counts, and what it added.

    Attributes
    ----------
    entry, confirmed : the entry that it was made by, and the one that confirms it; None of one that none confirms
    output, sha256, receipt : the written file's name and digest, and that of its receipt, where one is confirmed
    """

    number: int
    name: str
    key: str
    kind: str
    time: str
    clock_back: str | None
    state: str
    state_words: str
    counts: bool
    what: tuple[str, ...]
    adaptive: str | None
    added: tuple[AddedReport, ...]
    entry: Link
    confirmed: Link | None
    output: str | None
    sha256: str | None
    receipt: str | None


@dataclass(frozen=True, slots=True)
class SecretReport:
    """What all releases that count say together about one secret, and what is left of its budget.

    Attributes
    ----------
    spent, at_least : the worst leakage, from above and from below; None where it is not known
    left : what is left of a budget that is one level, rounded down
    envelope, pmc, ldp, maximal_leakage : what else is proved, from above
    over : the share of people above the budget; None where it is not known
    """

    name: str
    state: State
    state_words: str
    budget: str | None
    level: Amount | None
    spent: Amount | None
    at_least: Amount | None
    left: Amount | None
    envelope: Amount | None
    pmc: Amount | None
    ldp: Amount | None
    maximal_leakage: Amount | None
    over: Share | None
    figures: tuple[Figure, ...]
    rule: str | None
    holds: str | None
    uncovered: tuple[str, ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LedgerReport:
    """Everything a report shows."""

    version: str
    ledger: str
    id: str
    table: str
    rows: int
    made: str
    command: str | None
    unit: Unit
    delta: float
    delta_words: str
    state: State
    kept: bool | None
    headline: str
    deciding: str
    secrets: tuple[SecretReport, ...]
    releases: tuple[ReleaseReport, ...]
    todo: tuple[str, ...]
    reader_words: str
    head: Link
    reader: str = said.READER
    outside: tuple[str, ...] = said.OUTSIDE
    head_note: str = said.HEAD_NOTE
    privacy_note: str = said.PRIVACY_NOTE
    written: dict[str, str | None] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Write the record as JSON takes it."""
        record: dict[str, Any] = as_json(self)
        return record


def ledger_record(
    ledger: Ledger, *, unit: Unit = "nats", command: str | None = None, made: str | None = None
) -> LedgerReport:
    """Record a ledger as it is now.

    Parameters
    ----------
    unit : of every leakage in the record
    command, made : the command line that made it, and when
    """
    history, delta = History.of(ledger), Asked.of(_plan(ledger.terms)).delta
    about = history.entries[0].body
    secrets = _secrets(ledger, history, Teller(unit, delta, about["rows"]))
    deciding = max(secrets, key=lambda one: (-_WORST_FIRST.index(one.state), _value(one.spent)))
    names = [one.name for one in secrets]
    return LedgerReport(
        version=__version__,
        ledger=ledger.path.name,
        id=ledger.id,
        table=about["table"],
        rows=about["rows"],
        made=now() if made is None else made,
        command=command,
        unit=unit,
        delta=float(delta),
        delta_words=said.share_words(delta),
        state=deciding.state,
        kept=_KEPT[deciding.state],
        headline=_headline(history, about["table"], deciding),
        deciding=deciding.name,
        secrets=secrets,
        releases=tuple(_release(one, history, names, unit) for one in history.releases),
        todo=tuple(_todo(history)),
        reader_words=said.reader_words(deciding.state),
        head=_link(history.entries[-1]),
    )


def _secrets(ledger: Ledger, history: History, teller: Teller) -> tuple[SecretReport, ...]:
    return tuple(
        teller.secret(name, history.standing(name), allowed, history.empty)
        for name, allowed in allowances(ledger.terms).items()
    )


@dataclass(frozen=True, slots=True)
class Allowance:
    """The budget of a secret as it was given, None where it has none; and whether it is nothing but one level."""

    words: str | None
    one_level: bool


def allowances(terms: Terms) -> dict[str, Allowance]:
    """Write the budget of each secret."""
    policy = _plan(terms)
    budgets = budgets_of(policy)
    found = {}
    for subject in subjects_of(policy):
        budget = budgets.get(subject)
        rules = () if budget is None else budget.rules
        level = all(rule.allowed.kind == "pml" and rule.labels is None for rule in rules)
        found[name_of(subject)] = Allowance(None if budget is None else allowed_words(budget), level)
    return found


def _plan(terms: Terms) -> Policy:
    """Plan by some terms; what it releases has a name that no secret has, longer than all of them."""
    return terms.plan(["_".join([*(item.column for item in terms.secrets), "released"])])


def _value(found: Amount | None) -> float:
    return math.inf if found is None else float(found.value)


def _named(release: Recorded) -> str:
    return release.name if release.declared is not None else f"release {release.number}"


@dataclass(frozen=True, slots=True)
class History:
    """All entries and releases at one moment, and which releases each account has in it.

    `members` has, by the number of each release with an account, the releases in that account.
    """

    entries: tuple[Entry, ...]
    releases: tuple[Recorded, ...]
    members: Mapping[int, frozenset[int]]

    @classmethod
    def of(cls, ledger: Ledger) -> History:
        """Read a ledger, again where another process has added to it meanwhile."""
        while True:
            entries, releases = ledger.entries(), ledger.releases()
            if ledger.entries()[-1].digest == entries[-1].digest:
                break
        withdrawn = {
            entry.key: entry.seq for entry in entries if entry.kind == "settle" and not entry.body["released"]
        }
        members = {
            one.number: frozenset(
                other.number
                for other in releases[: one.number]
                if withdrawn.get(other.key, math.inf) > one.entry.seq
            )
            for one in releases
            if one.standings
        }
        return cls(entries, releases, members)

    @property
    def counting(self) -> frozenset[int]:
        """The releases that count now."""
        return frozenset(one.number for one in self.releases if one.counts)

    @property
    def empty(self) -> bool:
        """Whether nothing counts as released."""
        return not self.counting

    @property
    def above(self) -> int | None:
        """The release whose account has all in it that count now: just them, or else the fewest more."""
        found = [number for number, those in self.members.items() if those >= self.counting]
        return min(found, key=lambda number: (len(self.members[number]), -number), default=None)

    @property
    def below(self) -> int | None:
        """The last release whose account has nothing in it that does not count."""
        return max((number for number, those in self.members.items() if those <= self.counting), default=None)

    @property
    def unmeasured(self) -> list[str]:
        """The releases that count and came after every account."""
        if self.empty or self.above is not None:
            return []
        last = max(self.members, default=0)
        return [_named(one) for one in self.releases if one.counts and one.number > last]

    @property
    def more(self) -> list[str]:
        """The releases that are in the account and do not count any more."""
        if self.empty or self.above is None:
            return []
        gone = self.members[self.above] - self.counting
        return [_named(one) for one in self.releases if one.number in gone]

    def standing(self, secret: str) -> Standing | None:
        """What is known of all that counts: None where nothing is known from above; see the top of this file."""
        if self.above is None:
            return None
        found = self.at(self.above, secret)
        if found is None or self.members[self.above] == self.counting:
            return found
        below = None if self.below is None else self.at(self.below, secret)
        least = Nats(0.0, Fraction(1), "down") if below is None else below.lower
        return replace(found, lower=least, over=None)

    def at(self, number: int, secret: str) -> Standing | None:
        """What the account of a release says of a secret."""
        return next((one for one in self.releases[number - 1].standings if one.secret == secret), None)

    def confirmation(self, release: Recorded) -> Entry | None:
        """The entry that confirms a release."""
        return next(
            (entry for entry in self.entries if (entry.kind, entry.key) == ("confirm", release.key)), None
        )


@dataclass(frozen=True, slots=True)
class Teller:
    """How accounts are told: in which unit, at which δ, of how many people."""

    unit: Unit
    delta: Fraction
    rows: int | None

    def secret(self, name: str, found: Standing | None, allowed: Allowance, empty: bool) -> SecretReport:
        """Tell what all releases say about one secret."""
        budget = allowed.words
        state = state_of(found, budget, empty)
        if found is None:
            return _unknown(name, state, budget)
        left = left_of(found.level, found.upper) if allowed.one_level else None
        return SecretReport(
            name=name,
            state=state,
            state_words=said.STATES[state],
            budget=budget,
            level=self._level(found, state),
            spent=amount(found.upper, self.unit),
            at_least=amount(found.lower, self.unit) if found.lower else None,
            left=None if left is None else amount(left, self.unit),
            envelope=amount(found.envelope, self.unit),
            pmc=amount(found.pmc, self.unit),
            ldp=amount(found.ldp, self.unit),
            maximal_leakage=amount(found.maximal_leakage, self.unit),
            over=self._over(found.over),
            figures=tuple(self._figures(found, budget, state, left)),
            rule=found.rule,
            holds=found.holds,
            uncovered=found.uncovered,
            words=tuple(rule_lines(found)),
        )

    def _level(self, found: Standing, state: State) -> Amount | None:
        if found.level is None:
            return None
        words = said.budget_level(found.level, self.unit, kept=state != "exceeded")
        return replace(amount(found.level, self.unit), words=words)

    def _over(self, share: Probability | None) -> Share | None:
        """The share of people; of fewer than ten a bound."""
        if share is None:
            return None
        part = Fraction(share) if share.fraction is None else share.fraction
        if self.rows and 0 < part * self.rows < SMALL:
            most = min(Fraction(SMALL, self.rows), Fraction(1))
            return Share(float(most), f"under {at_most(most)}")
        return exact_share(share)

    def _figures(self, found: Standing, budget: str | None, state: State, left: Nats | None) -> list[Figure]:
        unit, name = self.unit, found.secret
        over = self._over(found.over)
        told = [
            Figure(
                "spent",
                said.spent_words(found.lower, found.upper, unit),
                f"the most by which the releases make any {name} likelier",
            ),
            Figure("budget", budget or "none", "for all releases together"),
            Figure("left", said.left_words(left, state, unit), said.left_meaning(left)),
            Figure(
                f"envelope at δ = {said.share_words(self.delta)}",
                said.level_words(found.envelope, unit),
                "what survives any grouping of published values, but for a share δ of people",
            ),
            Figure(
                "PMC",
                said.level_words(found.pmc, unit),
                f"the most by which they make any {name} less likely",
            ),
            Figure(
                "LDP",
                said.level_words(found.ldp, unit),
                f"the most by which what is published tells two values of {name} apart",
            ),
            Figure(
                "maximal leakage",
                said.level_words(found.maximal_leakage, unit),
                "how much easier it is to guess, on average over what is published",
            ),
        ]
        if budget is not None:
            people = "not known" if over is None else over.words if over.value else "nobody"
            told.append(Figure("people over the budget", people, "about whom more is said than it allows"))
        return told


def state_of(found: Standing | None, budget: str | None, empty: bool) -> State:
    """Decide what is known: kept where that is proved, exceeded where an end from below or exact counts prove that."""
    if budget is None:
        return "no budget"
    if empty:
        return "nothing released"
    if found is None:
        return "not known"
    if found.kept:
        return "kept"
    proved = found.level is not None and Level.of(found.lower).exceeds(Level.of(found.level))
    return "exceeded" if found.over or proved else "not known"


def left_of(level: Nats | None, spent: Nats) -> Nats | None:
    """Compute what is left of a level, rounded down; None where there is none, or more is spent.

    >>> left_of(Nats.of_ratio(Fraction(3), "down"), Nats.of_ratio(Fraction(2))).ratio
    Fraction(3, 2)
    """
    if level is None or Level.of(spent).exceeds(Level.of(level)):
        return None
    if level.ratio is not None and spent.ratio is not None:
        return Nats.of_ratio(level.ratio / spent.ratio, "down")
    return Nats(max(float_below(Fraction(float(level)) - Fraction(float(spent))), 0.0), rounding="down")


def rule_lines(found: Standing) -> list[str]:
    """Say by which rule an account was made, for which outcomes it holds, and what no rule covers."""
    uncovered = said.uncovered_words(found.uncovered, found.rule)
    return [
        said.rule_words(found.rule, found.uses, found.reason),
        said.holds_words(found.holds),
        *([] if uncovered is None else [uncovered]),
    ]


def _unknown(name: str, state: State, budget: str | None) -> SecretReport:
    """A secret of which nothing is known from above, or nothing is spent."""
    spent = "nothing" if state == "nothing released" else "not known"
    left = "all of it" if state == "nothing released" else "not known"
    figures = (
        Figure("spent", spent, "by all releases together"),
        Figure("budget", budget or "none", "for all releases together"),
        Figure("left", left if budget else "no budget", said.left_meaning(None)),
    )
    blank = dict.fromkeys(
        ("level", "spent", "at_least", "left", "envelope", "pmc", "ldp", "maximal_leakage", "over")
    )
    return SecretReport(
        name=name,
        state=state,
        state_words=said.STATES[state],
        budget=budget,
        figures=figures,
        rule=None,
        holds=None,
        uncovered=(),
        words=(),
        **blank,
    )


def _headline(history: History, table: str, deciding: SecretReport) -> str:
    """Answer about the secret that decides."""
    if history.empty:
        return said.nothing_headline(table, deciding.budget)
    start, several = said.all_releases(len(history.counting))
    who, found = f"{start} of {table}", history.standing(deciding.name)
    if found is None:
        return said.unmeasured_headline(who, several, history.unmeasured or ["them"], deciding.budget)
    effect = said.effect_words(deciding.name, found.lower, found.upper, deciding.state, several=several)
    return said.headline(who, effect, deciding.budget, deciding.state)


def _todo(history: History) -> list[str]:
    """What a person has to do, or to know of the account."""
    todo = [
        f"Release {one.number} ({one.key}) was reserved and never confirmed: it counts as released until it is settled."
        for one in history.releases
        if one.state == "reserved"
    ]
    if history.unmeasured:
        todo.append(said.measure_words(history.unmeasured))
    if history.more:
        todo.append(said.superset_words(history.more))
    return todo


def _release(one: Recorded, history: History, secrets: Sequence[str], unit: Unit) -> ReleaseReport:
    """Record a release and what it added."""
    confirmed = history.confirmation(one)
    body: Mapping[str, Any] = {} if confirmed is None else confirmed.body
    if one.declared is None:
        assert one.plan is not None
        what, kind = said.plan_lines(one.plan), "release of the table"
    else:
        what, kind = said.declared_lines(one.declared, unit), "known by its guarantees"
    return ReleaseReport(
        number=one.number,
        name=one.name,
        key=one.key,
        kind=kind,
        time=one.entry.time,
        clock_back=said.CLOCK_BACK if one.entry.went_back else None,
        state=one.state,
        state_words=said.state_words(one),
        counts=one.counts,
        what=tuple(what),
        adaptive=said.adaptive_words(one.entry.body.get("adaptive", "no")),
        added=tuple(_added(one.number, history, name, unit) for name in secrets),
        entry=_link(one.entry),
        confirmed=None if confirmed is None else _link(confirmed),
        output=body.get("output"),
        sha256=body.get("sha256"),
        receipt=body.get("receipt"),
    )


def _added(number: int, history: History, secret: str, unit: Unit) -> AddedReport:
    """The account of the release before that counted when this one was made, and its own."""
    found = history.at(number, secret)
    before = _before(number, history, secret)
    return AddedReport(
        secret,
        None if before is None else amount(before, unit),
        None if found is None else amount(found.upper, unit),
        None if found is None or not found.lower else amount(found.lower, unit),
        said.added_words(before, None if found is None else found.upper, unit),
    )


def _before(number: int, history: History, secret: str) -> Nats | None:
    """What was spent before a release: by those that its own account has in it, or by all before it."""
    those = history.members.get(number, frozenset(range(1, number + 1))) - {number}
    if not those:
        return _NOTHING
    same = [place for place, members in history.members.items() if members == those]
    found = history.at(max(same), secret) if same else None
    return None if found is None else found.upper


def _link(entry: Entry) -> Link:
    return Link(entry.seq, entry.time, entry.digest)
