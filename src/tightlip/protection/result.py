"""The result of protecting a table: a release, what it keeps, and the proof of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from tightlip.arguments import choice, instance
from tightlip.auditing.counted import Counted
from tightlip.auditing.leakage import cell_pml
from tightlip.auditing.plan import applying, worst_leakage_of
from tightlip.auditing.releasing import Charge, Release, write_release
from tightlip.auditing.tally import divide, group_rows
from tightlip.errors import InvalidInput
from tightlip.model.channel import Channel
from tightlip.model.prior import Prior
from tightlip.numeric.quantity import Nats
from tightlip.protection.budget import Subject
from tightlip.protection.certificate import ReleaseCertificate
from tightlip.protection.fixed import FixedColumns
from tightlip.protection.kernel import Kernel, exposed_share
from tightlip.protection.least import Least, least_words
from tightlip.protection.levels import ColumnLevels
from tightlip.protection.limits import Limit
from tightlip.protection.past import Past
from tightlip.protection.values import Values
from tightlip.showing import Unit, check_shown
from tightlip.table.local import Cell, LocalRecoding
from tightlip.table.policy import Policy

if TYPE_CHECKING:
    from tightlip.protection.curve import Curve
    from tightlip.protection.overview import ColumnDetail

Picture = Literal["factors", "columns", "trade-off"]


@dataclass(frozen=True, slots=True)
class Binding:
    """A limit that holds detail back: which secret it protects, and what loosening it would gain.

    Attributes
    ----------
    subject, secret : the secret columns it is about, and the secret among them (its place in the counts)
    limit : the limit
    gain : detail that a limit looser by one per cent would gain, by the prices of the bound; about
    """

    subject: Subject
    secret: int
    limit: Limit
    gain: float


@dataclass(frozen=True, eq=False, repr=False)
class Protection:
    """A truthful release of a table under a budget.

    Attributes
    ----------
    counted : the counts of the plan
    fixed : the columns that are published in any case, and the counts with what is published of them
    plan : what was to be released
    levels : the levels of each released column, by counted value
    finest : the counts at the first level of each column, fixed ones included, in people times `unit`
    values : the generalised values over these
    certificate : the proof that the budget is kept, of what is kept, and of the bound
    secrets : for each row of the certificate's counts, whose secret it is
    randomised : whether a cell may be published as different values
    finished : whether the search ended by itself; otherwise it was stopped with the best found so far
    source : the table, if it is at hand
    given : budget, pmc, delta, min_count and levels as they were given to `protect`; None where it was not asked
    past : what was released before, if the budget is for all of it together
    least : where only the value that says least is published, by how much all limits must be loosened for more, between
        two proved ends
    """

    counted: Counted
    fixed: FixedColumns
    plan: Policy
    levels: tuple[ColumnLevels, ...]
    finest: Counted
    values: Values
    certificate: ReleaseCertificate
    secrets: tuple[tuple[Subject, int], ...]
    randomised: bool
    finished: bool
    source: Any = None
    given: Mapping[str, Any] | None = None
    least: Least | None = None
    past: Past | None = None

    @property
    def kept(self) -> float:
        """The linear detail kept of the columns that are not fixed, in [0, 1], rounded down."""
        return self.certificate.lower

    @property
    def bound(self) -> float:
        """The linear detail that no truthful release over these levels can exceed under this budget, rounded up."""
        return self.certificate.upper

    @property
    def gap(self) -> float:
        """How much more detail another release could keep, at most."""
        return max(0.0, self.bound - self.kept)

    @property
    def enough(self) -> Fraction | None:
        """Where nothing is released, a factor by which to loosen all limits so that something can be, if known."""
        upper = None if self.least is None else self.least.upper
        return upper if upper is not None and upper > 1 else None

    @property
    def least_budget(self) -> str | None:
        """Where nothing is released, a budget at which something can be, as `protect` takes it; rounded up.

        None where something is released, where no such budget is known, or where the limits are of several kinds or
        levels: `enough` then tells by how much to loosen them all.
        """
        return None if self.enough is None else self.budget_at(self.enough)

    def budget_at(self, factor: Fraction, *, up: bool = True) -> str | None:
        """The budget loosened by a factor, as `protect` takes it; None where limits are of several kinds or levels."""
        limits = self.certificate.table.limits.limits
        if len({(limit.kind, limit.level) for limit in limits}) != 1:
            return None
        return least_words(limits[0], factor, up=up)

    @property
    def unit(self) -> int:
        """What a person counts for in `finest`."""
        return self.fixed.unit

    @property
    def by_chance(self) -> bool:
        """Whether chance has a part in what is published: the recoding is randomised, or mechanisms draw columns."""
        return self.randomised or bool(self.fixed.words)

    @property
    def kernel(self) -> Kernel:
        """What is published for each cell at its finest level, in whole weights."""
        return self.certificate.kernel

    def verify(self) -> None:
        """Check that the release keeps its budget, what it keeps, and the bound, without a solver.

        Raises
        ------
        CertificateInvalid
            Naming what fails.
        """
        self.certificate.verify()

    def save(self, path: Any, *, force: bool = False) -> None:
        """Write the certificate, which `tightlip verify` checks; it holds counts under codes, and no values."""
        self.certificate.save(path, force=force)

    def release(
        self,
        path: str | Path,
        *,
        keep: Sequence[str] = (),
        with_secret: bool = False,
        receipt: str | Path | None = None,
        out_table: str | None = None,
        force: bool = False,
        seed_for_tests: int | None = None,
        charge: Charge | None = None,
    ) -> Release:
        """Write what is published of every row of the table, and a receipt beside it; see `tightlip.release`.

        A `Ledger` gives what is to be charged for it.

        Raises
        ------
        InvalidInput
            When the table is not at hand, has changed since it was protected, or what was written is not what was
            decided; nothing is then written.
        """
        from tightlip.protection.facts import release_facts

        if self.source is None:
            raise InvalidInput("the table is not at hand; use release(table, protection.policy, path).")
        options = {
            "keep": keep,
            "with_secret": with_secret,
            "force": force,
            "seed_for_tests": seed_for_tests,
        }
        facts = release_facts(self)
        return write_release(
            self.source, self.policy, path, receipt, facts, charge, out_table=out_table, **options
        )

    @cached_property
    def policy(self) -> Policy:
        """The plan with what is published for each cell; `save` writes it, and audits and releases take it.

        Mechanisms stay in it: they draw first, and the recoding is of what they drew.

        What was asked is promised in the local recoding, without values of the table.
        """
        return replace(self.plan, min_count=None, budget=(), delta=None, local=self.local)

    @cached_property
    def local(self) -> LocalRecoding:
        """What is published for each counted cell, of which fixed columns are as they are published."""
        from tightlip.protection.promise import promise_of

        kernel, drawn = self.kernel, self.fixed.counted
        used, place = np.unique(kernel.value, return_inverse=True)
        starts = np.searchsorted(kernel.cell, np.arange(len(self.finest.codes) + 1))
        cell_of = {label: cell for cell, label in enumerate(self._finest_labels())}
        entries, cells = [], []
        for cell in range(len(drawn.codes)):
            own = cell_of[self._labels(drawn.codes[cell])]
            entries.append(np.arange(starts[own], starts[own + 1]))
            cells.append(np.full(len(entries[-1]), cell))
        entry = np.concatenate(entries)
        return LocalRecoding(
            drawn.columns,
            tuple(drawn.cell_label(cell) or () for cell in range(len(drawn.codes))),
            tuple(self.published_label(int(value)) for value in used),
            np.concatenate(cells),
            place[entry].astype(np.intp),
            kernel.weight[entry],
            kernel.scale,
            promise=promise_of(self),
        )

    def _labels(self, codes: Any) -> Cell:
        """A counted cell at the first level of each column."""
        return tuple(column.labels[0][code] for column, code in zip(self.levels, codes, strict=True))

    def _finest_labels(self) -> list[Cell]:
        return [self.finest.cell_label(cell) or () for cell in range(len(self.finest.codes))]

    def published_label(self, value: int) -> Cell:
        """What is published for a generalised value, by column."""
        node = self.values.nodes[self.values.node[value]]
        label = self.finest.cell_label(int(self.values.first[value])) or ()
        return tuple(
            column.labels[level][column.labels[0].index(own)]
            for column, level, own in zip(self.levels, node, label, strict=True)
        )

    @cached_property
    def published(self) -> Counted:
        """The counts of what is published, in people times `published_scale`."""
        return self.fixed.counted.publish(self.local, self.counted.tally.total)

    @cached_property
    def leakage(self) -> Nats:
        """The worst leakage of a published value about all secret columns together, exactly.

        Where a secret does not apply to everybody it is about those to whom it does, and about each column too.
        """
        return worst_leakage_of(self.published, self.plan)

    def leakage_about(self, subject: Subject) -> Nats:
        """The worst leakage of a published value about some of the secret columns."""
        leak = cell_pml(applying(self.published, subject, self.plan).tally)
        return leak.value(leak.worst_first(1)[0])

    @property
    def exposed(self) -> Fraction:
        """The share of people whose published value breaks a limit; at most what was allowed."""
        return exposed_share(self.kernel, self.values, self.certificate.table.limits)

    @cached_property
    def channel(self) -> Channel:
        """P(published value | secret): a row for each secret, in the order of the counts."""
        return self.published.tally.channel()

    @cached_property
    def prior(self) -> Prior:
        """The shares of the secrets, in the same order."""
        return self.published.tally.prior()

    @property
    def information(self) -> float:
        """I(X; Y)/H(X): the share of the information about a row's cell that is published, to nearest.

        Where columns are fixed X has the others, and Y all that is published.
        """
        table, kernel = self.certificate.table, self.kernel
        amounts = divide(table.limits.people, table.limits.total)
        own = group_rows(table.codes[:, [not column.fixed for column in self.levels]])[1]
        shares = np.bincount(own, amounts)
        joint = amounts[kernel.cell] * (kernel.weight / kernel.scale)
        marginal = np.bincount(kernel.value, joint, len(self.values))
        entropy = -float(shares @ np.log(shares))
        found = float(joint @ np.log(joint / (shares[own[kernel.cell]] * marginal[kernel.value])))
        return max(found, 0.0) / entropy if entropy > 0 else 1.0

    def binding(self) -> tuple[Binding, ...]:
        """The limits that hold detail back, from the one whose loosening would gain most.

        With prices μ, a limit b on secret s that grows by a share dη adds dη Σ_y μ_y Σ_x n_sx K(y | x)/b to the detail
        of the program's optimum.
        """
        table, prices = self.certificate.table, self.certificate.prices
        limits = table.limits
        share = self.kernel.weight / self.kernel.scale
        whole = table.detail(self.values).whole[1]
        found: dict[tuple[Subject, int, str], Binding] = {}
        for place, limit in enumerate(limits.limits):
            price = np.zeros(len(self.values))
            own = prices.limit == place
            price[prices.value[own]] = prices.price[own]
            held = divide(limits.counts[limit.secret, self.kernel.cell], 1) * share
            least = max(float(limit.inside), 1e-9)
            gain = float(price[self.kernel.value] @ held) / least / 100 / whole if whole > 0 else 0.0
            if gain > 0:
                # beside earlier releases a secret has a limit for each value of these
                key = (*self.secrets[limit.secret], limit.kind)
                before = found[key].gain if key in found else 0.0
                found[key] = Binding(*self.secrets[limit.secret], limit, before + gain)
        return tuple(sorted(found.values(), key=lambda one: -one.gain))

    @property
    def published_scale(self) -> int:
        """What a person counts for in `published`: the weights of each cell sum to it, times the unit."""
        return self.kernel.scale * self.unit

    @cached_property
    def leakage_before(self) -> Nats:
        """The worst leakage about all secret columns together if every column were published at its finest level."""
        return worst_leakage_of(self.finest, self.plan)

    @property
    def budget(self) -> Nats | None:
        """The one level that bounds the leakage about all secret columns together; None where the limits are others."""
        limits = self.certificate.table.limits
        levels = {limit.level for limit in limits.limits if limit.kind == "pml"}
        together = any(subject == self.counted.secret_columns for subject, _ in self.secrets)
        joint = together and limits.applies is None
        if len(levels) != 1 or not joint or limits.exposed or any(one.kind != "pml" for one in limits.limits):
            return None
        level = levels.pop()
        limited = {limit.secret for limit in limits.limits}
        for secret in range(len(limits.counts)):
            free = Limit.of(secret, "pml", level, limits.prior(secret)).void
            if secret not in limited and not free:
                return None
        return level if isinstance(level, Nats) else Nats(float(level), rounding="down")

    def columns(self) -> tuple[ColumnDetail, ...]:
        """What is kept of each released column: the share of its own content, and of people at each level."""
        from tightlip.protection.overview import column_details

        return column_details(self)

    def trade_off(self, budgets: Iterable[Any] | None = None, *, seconds: float = 1.0) -> Curve:
        """How much detail can be kept at other budgets, from the same counts; see `tightlip.protection.trade_off`."""
        from tightlip.protection.curve import trade_off

        return trade_off(self, budgets, seconds=seconds)

    def words(self, *, show_values: bool = False, unit: Unit = "nats") -> str:
        """What is kept, who is protected and what holds detail back, a line each; codes in place of secret values."""
        from tightlip.report import protect

        check_shown(show_values, unit)
        return protect.words(self, show_values=show_values, unit=unit)

    __str__ = words

    def to_dict(self, *, show_values: bool = False, unit: Unit = "nats") -> dict[str, Any]:
        """Everything the report shows, as JSON takes it.

        Raises
        ------
        CertificateInvalid
            If the proof does not hold; it is checked again.
        """
        from tightlip.report import protect

        check_shown(show_values, unit)
        return protect.protect_record(self, show_values=show_values, unit=unit).to_dict()

    def to_html(
        self,
        path: str | Path,
        *,
        name: str = "the table",
        curve: Curve | None = None,
        show_values: bool = False,
        unit: Unit = "nats",
        force: bool = False,
    ) -> None:
        """Write the report as one HTML file that works offline.

        Parameters
        ----------
        path : where to, ending in .html
        name : what the report calls the table
        curve : other budgets for its picture, from `trade_off`; without, it has the points that are known
        show_values : secret values and small groups in place of codes; only the owner may then read the file
        unit : of every leakage
        force : whether a file that is there may be overwritten

        Raises
        ------
        InvalidInput
            When the file exists and force is not set, or a library is missing (the message has the line to run).
        CertificateInvalid
            If the proof does not hold; it is checked again.
        """
        from tightlip.report import protect

        check_shown(show_values, unit)
        _check_curve(curve)
        instance(name, str, "name", "name the table by text")
        protect.write_html(
            self, path, table=name, curve=curve, show_values=show_values, unit=unit, force=force
        )

    def chart(self, picture: Picture = "factors", *, curve: Curve | None = None, unit: Unit = "nats") -> Any:
        """A picture as an Altair chart.

        Parameters
        ----------
        picture : "factors" (people by how much their value says, before and after), "columns" (detail kept of each), or
            "trade-off" (budget against detail)
        curve : other budgets for the trade-off, from `trade_off`
        """
        from tightlip.report import protect

        check_shown(False, unit)
        _check_curve(curve)
        choice(picture, "picture", get_args(Picture))
        return protect.chart(self, picture, curve, unit)

    def __repr__(self) -> str:
        from tightlip.report import protect

        return protect.short_words(self)

    def _repr_html_(self) -> str:
        """The answer and its numbers for a notebook; codes in place of secret values."""
        from tightlip.report import protect

        return protect.card(self).html()


def _check_curve(curve: object) -> None:
    from tightlip.protection.curve import Curve

    if curve is not None:
        instance(curve, Curve, "curve", "make it by trade_off, or leave it out")
