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
from tightlip.model.channel import Channel
from tightlip.model.prior import Prior
from tightlip.numeric.ball import exp_bounds
from tightlip.numeric.quantity import Nats, Probability
from tightlip.showing import Unit, check_shown
from tightlip.statistic.result import StatisticLeakage
from tightlip.table.policy import Policy

if TYPE_CHECKING:
    from tightlip.auditing.risk import AuditRisks

Kind = Literal["optimal", "heuristic"]
Family = Literal["coarsen", "hide", "coarsen and hide", "randomise", "leave out", "any"]
Picture = Literal["tail", "envelope"]


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
    """A released cell: how many people are in it (expected, where noise is added) and what it gives away most.

    `prior`, `posterior` and `least` are as in Finding.
    """

    cell: int
    size: float
    leakage: Nats
    secret: int
    prior: Probability
    posterior: Probability
    least: Probability | None = None


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
    """The leakage of one released column alone, and of the release without it; in a sample the envelope's bound."""

    column: str
    alone: Nats
    without: Nats


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
class SecretView:
    """Everything about one secret: a secret column, or all of them jointly.

    Attributes
    ----------
    name : the column, or "a × b"
    counted : the release in code order, with the labels of secrets and cells
    shares : the prior share of each secret (in a sample the observed one, as a description, not a guarantee)
    worst : the cell and secret of the largest leakage, rounded up; `at_least` is the same amount from below
    tail : the probability of a leakage above each level
    envelope, attack : what survives post-processing at δ, and the groups of cells that reach the lower end
    others : the worst of other pointwise measures by name, "pmc" above all: what can be ruled out, infinite where a
        cell excludes a secret
    maximal_leakage, ldp : in nats, rounded up; ldp may be infinite
    sml : statistic maximal leakage where the secret is a statistic of a larger one
    share_above_budget : the share of people whose cell leaks more than the budget
    worst_cells : the cells that leak most; columns : the released columns, the most telling first
    certified : None in a population
    curve : the envelope at several δ, rising, where it was asked for (`Audit.with_curves`)
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
    certified: Certified | None = None
    curve: tuple[Envelope, ...] = ()

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
    leakage : its worst leakage
    kept : the part of the detail that is left: I(recoded cell; released cell) over the entropy of the plan's recoded
        cells, to rank remedies by; it is no guarantee
    kind, among : whether the change is proved best among some changes, and among which
    hidden : the share of people whose cells it hides, before noise
    """

    policy: Policy
    leakage: Nats
    kept: float
    kind: Kind
    among: Among
    hidden: float = 0.0


@dataclass(frozen=True, slots=True, repr=False)
class Audit:
    """The whole audit.

    Attributes
    ----------
    policy : the plan that was audited
    total : rows counted
    delta, budget : as asked; the budget in nats
    mode : "population" or "sample"; `confidence` is None in a population
    views : the secret columns and, where there are several, all of them jointly (the first entry)
    remedies : changes that meet the budget, the one that keeps most detail first
    verdict : whether the release keeps the budget: in a population the worst leakage does; in a sample it is proved
        that a leakage above it has probability at most δ. None without a budget.
    counted : what was counted, before small cells are hidden and noise is added
    closest : where no change was found that meets the budget, the one that leaks least; it does not meet it
    kinds : the kind of each column of the table, where it is known
    """

    policy: Policy
    total: int
    delta: Fraction
    budget: Nats | None
    mode: Literal["population", "sample"]
    confidence: float | None
    views: dict[str, SecretView]
    remedies: tuple[Remedy, ...]
    verdict: bool | None
    counted: Counted = field(repr=False)
    closest: Remedy | None = None
    kinds: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def joint(self) -> SecretView:
        """The view about all secret columns together; no view of one of them leaks more."""
        return next(iter(self.views.values()))

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
        """
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
        """A picture of one view as an Altair chart: how likely leaks are ("tail"), or what survives any grouping.

        Parameters
        ----------
        view : name of a view; by default the first, about all secret columns together
        picture : "tail" or "envelope"
        """
        from tightlip.report import audit

        check_shown(False, unit)
        choice(picture, "picture", get_args(Picture))
        chosen = self.joint.name if view is None else choice(view, "view", list(self.views))
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
