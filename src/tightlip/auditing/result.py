"""What an audit found, as plain data. Secrets and cells are places: place i is shown as "secret i + 1", "cell i + 1".

The places are codes: secrets from the most to the least frequent, cells from the largest to the smallest, equal ones
in random order. So neither a code nor a position in a list says anything beyond the shares that are shown anyway.
Words, tables and pages are made from this by `tightlip.report`, which asks whether values may be shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from tightlip.arguments import choice, instance
from tightlip.auditing.counted import Counted, counts_digest
from tightlip.envelopes.result import Envelope
from tightlip.errors import InvalidInput
from tightlip.model.channel import Channel
from tightlip.model.prior import Prior
from tightlip.numeric.ball import exp_bounds
from tightlip.numeric.quantity import Nats, Probability
from tightlip.showing import Unit, check_shown
from tightlip.statistic.result import StatisticLeakage
from tightlip.table.mechanism import Value
from tightlip.table.policy import Policy

if TYPE_CHECKING:
    from tightlip.auditing.budget import Budget
    from tightlip.auditing.classical import Classical
    from tightlip.auditing.risk import AuditRisks

Kind = Literal["optimal", "heuristic"]
Family = Literal["coarsen", "hide", "coarsen and hide", "randomise", "leave out", "any"]
Picture = Literal["tail", "envelope", "people", "certainty", "heat", "columns", "remedies"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One cell and one secret: how the probability of the secret moves when the cell is seen.

    In a population the shares are exact; in a sample `prior` is a lower and `posterior` an upper confidence bound
    (for what can be ruled out, `posterior` is an upper bound too). A prior that is the smallest share in scope is
    rounded up: secrets below what is shown are then out of scope, and it reads the same everywhere. `least` is the
    lower end where the posterior is told as a range (report/disclosure.py).
    """

    cell: int
    secret: int
    leakage: Nats
    prior: Probability
    posterior: Probability
    least: Probability | None = None


@dataclass(frozen=True, slots=True)
class CellRisk:
    """A kind of released cell: how many people are in one of them (expected, where noise is added), what they give
    away most, and how many such cells there are.

    `prior`, `posterior` and `least` are as in Finding.
    """

    cell: int
    size: float
    leakage: Nats
    secret: int
    prior: Probability
    posterior: Probability
    least: Probability | None = None
    cells: int = 1


@dataclass(frozen=True, slots=True)
class TailPoint:
    """P{leakage > level}: at most `above`, at least `at_least`; the same number in a population."""

    level: Nats
    above: Probability
    at_least: Probability


@dataclass(frozen=True, slots=True)
class AttackGroup:
    """Released values that the attack lumps together because they point to one secret.

    `split` says that some of them are used only with a certain probability, `few` that their number is not told.
    """

    secret: int
    cells: tuple[int, ...]
    split: bool
    probability: float
    prior: float
    posterior: float
    few: bool = False


@dataclass(frozen=True, slots=True)
class ColumnEffect:
    """The leakage of one released column alone, and of the release without it; in a sample the envelope's bound.

    `over_alone` and `over_without` are the shares of people above the budget (twice as likely where there is none).
    """

    column: str
    alone: Nats
    without: Nats
    over_alone: Fraction | None = None
    over_without: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Certified:
    """What a sample can say.

    Attributes
    ----------
    confidence : all numbers of the audit hold together with at least this probability
    rarest : secrets held by a smaller share of the population are outside every bound
    uncertified_cells, uncertified_share : cells that are too small to say much about, and the share of the rows in
        them: the bound on e^leakage is more than half of what any cell may have, and more than twice what is proved
    observed_above : the share of the rows above the budget, as a description; None without a budget, or with noise
    rows_to_decide : how many rows, estimated from the shares observed, would prove that a leakage above the budget has
        probability at most δ or, where more than that is observed, that it has not; None where none would
    """

    confidence: float
    rarest: Probability
    uncertified_cells: int
    uncertified_share: Probability
    observed_above: Probability | None = None
    rows_to_decide: int | None = None


@dataclass(frozen=True, slots=True)
class PeopleAtRisk:
    """How many people a release exposes, in numbers that do not saturate where some cell has one person.

    Counts are people, or with noise people times its scale.

    Attributes
    ----------
    classical : the measures that officers know
    holders : the people who have something to be found out: one of the sensitive values where some are named,
        otherwise a secret that less than half of all people have
    found_out : of these, those whose own secret is at least so likely in their cell, at each level
    by_factor : people by the factor e^PML of their cell, between the edges `view.FACTORS`
    certainty : of the people who hold each of the most frequent secrets, how many become how certain, between the
        edges `view.CERTAINTY`
    """

    classical: Classical
    holders: int
    found_out: tuple[tuple[Fraction, int], ...]
    by_factor: tuple[int, ...]
    certainty: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Two released columns alone: for each pair of their values how many people have it, and what it leaks.

    `values` are those of each column, in order; `people` and `leakage` have a row for each value of the first and a
    column for each of the second; leakage is None where nobody has the pair.
    """

    columns: tuple[str, str]
    values: tuple[tuple[Value, ...], tuple[Value, ...]]
    people: tuple[tuple[int, ...], ...]
    leakage: tuple[tuple[Nats | None, ...], ...]


@dataclass(frozen=True, slots=True)
class SecretView:
    """Everything about one secret: a secret column, or all of them jointly.

    Attributes
    ----------
    name : the column, or "a × b"
    counted : the release in code order, with the labels of secrets and cells
    shares : the prior share of each secret, of the most frequent thousand (in a sample the observed one, as a
        description, not a guarantee)
    worst : the cell and secret of the largest leakage, rounded up; `at_least` is the same amount from below
    tail : the probability of a leakage above each level
    envelope, attack : what survives post-processing at δ, and the groups of cells that reach the lower end
    others : the worst of other pointwise measures by name, "pmc" above all: what can be ruled out, infinite where a
        cell excludes a secret
    maximal_leakage, ldp : in nats, rounded up; ldp may be infinite
    sml : statistic maximal leakage where the secret is a statistic of a larger one
    budget : what is allowed; None where no budget was set
    share_above_budget : the share of people whose cell says more than the budget allows
    verdict : whether the budget is kept: in a population by everybody; in a sample it is proved that it is by all but a
        share δ. None without a budget.
    people : to how many people the secret applies; `left_out` has the others by value, of whom nothing is said
    worst_cells : the kinds of cells that leak most; columns : the released columns, the most telling first
    certified : None in a population
    curve : the envelope at several δ, rising, where it was asked for (`Audit.with_curves`)
    risk : what else is known of people: found out, unique, by factor; None of a sample
    heat : the two columns that expose most people, where they have few values
    """

    name: str
    counted: Counted = field(repr=False)
    shares: tuple[Probability, ...]
    worst: Finding
    at_least: Nats
    tail: tuple[TailPoint, ...]
    envelope: Envelope
    attack: tuple[AttackGroup, ...]
    others: Mapping[str, Finding]
    maximal_leakage: Nats
    ldp: Nats
    sml: StatisticLeakage | None
    share_above_budget: Probability | None
    worst_cells: tuple[CellRisk, ...]
    columns: tuple[ColumnEffect, ...]
    people: int
    budget: Budget | None = None
    verdict: bool | None = None
    left_out: Mapping[Value, int] = field(default_factory=dict)
    certified: Certified | None = None
    curve: tuple[Envelope, ...] = ()
    risk: PeopleAtRisk | None = None
    heat: HeatMap | None = None

    @property
    def pmc(self) -> Finding:
        """The largest cost: what can be ruled out."""
        return self.others["pmc"]

    @property
    def channel(self) -> Channel:
        """P(cell | secret) by codes; in rationals up to 10⁴ entries."""
        return self.counted.tally.channel()

    @property
    def prior(self) -> Prior:
        """P(secret) by codes."""
        return self.counted.tally.prior()

    def verify(self) -> None:
        """Check every proof about this secret in rational arithmetic; a sample and bounds alone have none.

        Raises
        ------
        CertificateInvalid
            If one does not hold.
        """
        if self.envelope.certificate is not None:
            self.envelope.verify()
        if self.sml is not None:
            self.sml.verify()


@dataclass(frozen=True, slots=True)
class Among:
    """Among which changes a remedy was found.

    Attributes
    ----------
    family : "coarsen" columns or leave them out, "hide" small cells, "coarsen and hide", "randomise" a column,
        "leave out" columns of a sample, or "any" that was tried
    column : the one column that may change, where it is one
    ways, counted : of coarsenings, how many there are and how many were counted
    """

    family: Family
    column: str | None = None
    ways: int = 0
    counted: int = 0


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change of the plan that meets the budget, worked out exactly from the counts.

    Attributes
    ----------
    policy : the changed plan; it names no secret and no value of fewer than ten people that the plan does not name
    leakage : its worst leakage about the secrets that have a budget
    kept : the part of the detail that is left: I(recoded cell; released cell) over the entropy of the plan's recoded
        cells, to rank remedies by; it is no guarantee
    kind, among : whether the change is proved best among some changes, and among which
    hidden : the share of people whose cells it hides, before noise
    by_factor : people by the factor of their cell after the change, by secret, as in PeopleAtRisk
    """

    policy: Policy
    leakage: Nats
    kept: float
    kind: Kind
    among: Among
    hidden: float = 0.0
    by_factor: Mapping[str, tuple[int, ...]] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Audit:
    """The whole audit.

    Attributes
    ----------
    policy : the plan that was audited, with its budgets
    total : rows counted
    delta : as asked
    mode : "population" or "sample"; `confidence` is None in a population
    views : the secret columns and, where that was asked for, all of them jointly (the first entry)
    remedies : changes that meet all budgets, the one that keeps most detail first
    verdict : whether every secret keeps its budget; None where none has one
    counted : what was counted, before small cells are hidden and noise is added; None where cells are so many that
        only the engine had them
    closest : where no change was found that meets the budget, the one that leaks least; it does not meet it
    kinds : the kind of each column of the table, where it is known
    skipped : stages that were left out
    stopped : whether the time was over before all kinds of change were tried
    """

    policy: Policy
    total: int
    delta: Fraction
    mode: Literal["population", "sample"]
    confidence: float | None
    views: dict[str, SecretView]
    remedies: tuple[Remedy, ...]
    verdict: bool | None
    counted: Counted | None = field(repr=False)
    closest: Remedy | None = None
    kinds: Mapping[str, str] = field(default_factory=dict, repr=False)
    skipped: frozenset[str] = frozenset()
    stopped: bool = False

    @property
    def deciding(self) -> SecretView:
        """The view that decides: over its budget for most people, then the one of the largest leakage."""
        return max(
            self.views.values(),
            key=lambda view: (view.verdict is False, view.share_above_budget or 0.0, view.worst.leakage),
        )

    @property
    def budget(self) -> Nats | None:
        """The largest leakage that is allowed about the secret that decides; None without a level."""
        allowed = self.deciding.budget
        return None if allowed is None else allowed.level

    def verify(self) -> None:
        """Check every proof again in rational arithmetic, without a solver.

        Raises
        ------
        CertificateInvalid
            If one does not hold.
        """
        for view in self.views.values():
            view.verify()

    def with_curves(self) -> Audit:
        """The same audit with the envelope of each view at several δ, where that is quick; for pictures."""
        from tightlip.auditing.envelope import view_curve

        curves = {name: replace(view, curve=view_curve(view)) for name, view in self.views.items()}
        return replace(self, views=curves)

    def digest(self) -> str:
        """SHA-256 of the counts, to tell whether a later audit is about the same table; as confidential as they are.

        Each secret that occurs in a cell is a line, the JSON array [secret values…, released values…, number of rows]
        with null for missing values and everything outside ASCII escaped. The lines are sorted and end with a line
        feed.

        Raises
        ------
        InvalidInput
            When cells were so many that only the engine had them.
        """
        if self.counted is None:
            raise InvalidInput(
                "a digest needs the counts in memory, got more cells than fit there; coarsen or drop columns."
            )
        return counts_digest(self.counted)

    def risks(self) -> AuditRisks:
        """What the cell of each record leaks, and how sure it makes a stranger of the record's own secret.

        Raises
        ------
        InvalidInput
            For a sample, whose shares bound nothing, and where a released column is randomised.
        """
        from tightlip.auditing.risk import audit_risks

        return audit_risks(self)

    def words(self, *, show_values: bool = False, unit: Unit = "nats") -> str:
        """The headline and all paragraphs, a line each; codes in place of values unless they may be shown."""
        from tightlip.report import audit

        check_shown(show_values, unit)
        return audit.words(self, show_values=show_values, unit=unit)

    __str__ = words

    def to_dict(self, *, show_values: bool = False, unit: Unit = "nats") -> dict[str, Any]:
        """Everything the report shows, as JSON takes it: that of `tightlip audit --json`.

        Raises
        ------
        CertificateInvalid
            If a proof does not hold; all are checked again.
        """
        from tightlip.report import audit

        check_shown(show_values, unit)
        return audit.audit_report(self, show_values=show_values, unit=unit).to_dict()

    def to_html(
        self,
        path: str | Path,
        *,
        name: str = "the table",
        show_values: bool = False,
        unit: Unit = "nats",
        force: bool = False,
    ) -> None:
        """Write the report as one HTML file that works offline.

        Parameters
        ----------
        path : where to, ending in .html
        name : what the report calls the table
        show_values : secret values and small cells in place of codes; only the owner may then read the file
        unit : of every leakage
        force : whether a file that is there may be overwritten

        Raises
        ------
        InvalidInput
            When the file exists and force is not set, or a library is missing (the message has the line to run).
        CertificateInvalid
            If a proof does not hold; all are checked again.
        """
        from tightlip.report import audit

        check_shown(show_values, unit)
        instance(name, str, "name", "name the table by text")
        audit.write_html(self, path, table=name, show_values=show_values, unit=unit, force=force)

    def chart(self, view: str | None = None, *, picture: Picture = "tail", unit: Unit = "nats") -> Any:
        """A picture of one view as an Altair chart.

        Parameters
        ----------
        view : name of a view; by default the one that decides the verdict
        picture : how likely leaks are ("tail"), what survives any grouping ("envelope"); of people: how much is said
            about how many ("people", as planned and after the first change), how certain the own secret becomes
            ("certainty"), pairs of values of two columns ("heat"), what each column adds ("columns"); and what each
            change keeps and leaks ("remedies", about all secrets together)

        Raises
        ------
        InvalidInput
            When the audit has no numbers for the picture: a sample counts no people.
        """
        from tightlip.report import audit

        check_shown(False, unit)
        choice(picture, "picture", get_args(Picture))
        chosen = self.deciding.name if view is None else choice(view, "view", list(self.views))
        return audit.chart(self, chosen, picture, unit)

    def __repr__(self) -> str:
        from tightlip.report import audit

        return audit.short_words(self)

    def _repr_html_(self) -> str:
        """The headline, the verdict and the measures for a notebook; codes in place of values."""
        from tightlip.report import audit

        return audit.card(self).html()


def largest_posterior(prior: float | Fraction, leakage: float) -> Probability:
    """Bound the posterior that a leakage allows a secret of some prior, min(1, p e^ε), rounded up.

    >>> round(largest_posterior(0.05, 2.1), 4)
    0.4083
    """
    if leakage == float("inf"):
        return Probability(1.0)
    ratio = leakage.ratio if isinstance(leakage, Nats) else None
    reached = Fraction(prior) * (Fraction(exp_bounds(float(leakage))[1]) if ratio is None else ratio)
    return Probability.of(min(reached, Fraction(1)))
