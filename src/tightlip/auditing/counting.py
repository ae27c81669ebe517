"""Count the cells of a plan for each question about it: in memory where they fit, otherwise in the engine each time.

In memory there is one count, by all secret columns together; fewer columns, hidden cells, noise and single secrets are
worked out from it. Where that is too large, the engine is asked for the kinds of cells (table/cell_kinds.py) of each
secret and each set of columns: whatever the number of cells, few numbers come back. Noise and cell-by-cell recodings
need the cells themselves and are refused there.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from tightlip.auditing.classical import IdentityRisks, classical_measures
from tightlip.auditing.counted import Counted
from tightlip.auditing.leakage import cell_pml
from tightlip.auditing.plan import Subject, about, apply_policy, left_out, mechanisms_of, only
from tightlip.auditing.result import HeatMap
from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.quantity import Probability
from tightlip.table.cell_kinds import CellCounter, count_kinds, population_risks
from tightlip.table.counts import MAX_CELLS, TooManyCells, count_cells, require_few_cells
from tightlip.table.mechanism import Value
from tightlip.table.policy import Policy, undrawn
from tightlip.table.source import Table

_MOST_VALUES = 40  # of a column in a picture
MOST_GROUPS = 1_000_000  # pairs of secret and cell in memory, where everything takes seconds


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cells of a plan.

    Attributes
    ----------
    policy : the plan
    rows : how many rows are counted
    counted : the counts before small cells are hidden and columns randomised; None where only the engine has them
    table : where they are counted; None where columns are not those of a table
    max_groups : how many pairs of cell and secret may be in memory for one secret alone, where cells are few but all
        secrets together are too many
    counter : the engine's side of them, where they are not in memory
    """

    policy: Policy
    rows: int
    counted: Counted | None
    table: Table | None = None
    max_groups: int = 0
    counter: CellCounter | None = None
    _released: dict[tuple[str, ...], Counted] = field(default_factory=dict)
    _alone: dict[Subject, Counted | None] = field(default_factory=dict)
    _counted: dict[tuple[Subject, tuple[str, ...]], Counted] = field(default_factory=dict)

    @classmethod
    def of(
        cls, table: Table, policy: Policy, *, max_cells: int = MAX_CELLS, max_groups: int = MOST_GROUPS
    ) -> Cells:
        """Count a plan in memory, or leave its cells to the engine.

        Raises
        ------
        InvalidInput
            When the plan does not fit the table, or needs its cells in memory and has more than the limits.
        """
        plain, few = replace(policy, min_count=None), False
        try:
            require_few_cells(table, policy, max_cells)
            few = True
            counts = count_cells(table, plain, max_cells=max_cells, max_groups=max_groups)
        except TooManyCells as error:
            _require_countable(policy, error)
            counter = CellCounter.of(table, policy)
            rows = counter.require_secrets(policy)
            return cls(policy, rows, None, table, max_groups if few else 0, counter)
        counted = Counted.of(counts, policy.secret, [item.column for item in policy.release])
        return cls(policy, counts.total, counted, table)

    @property
    def columns(self) -> tuple[str, ...]:
        """The released columns."""
        return tuple(item.column for item in self.policy.release)

    @property
    def scale(self) -> Fraction:
        """The number of people behind a count of 1; noise counts in smaller parts."""
        return (
            Fraction(1)
            if self.counted is None
            else Fraction(self.rows, self._release(self.columns).tally.total)
        )

    def release(
        self, subject: Subject, columns: Sequence[str] | None = None, *, kinds: bool = True
    ) -> Counted:
        """Count what some columns of the plan release about some secret columns, for those to whom they apply.

        Small cells are hidden and columns randomised anew; cells of equal counts are one where `kinds` is set.
        """
        found = self._about(subject, self.columns if columns is None else tuple(columns))
        applicable = found.without_secrets(left_out(found, self.policy))
        return applicable.by_kind() if kinds else applicable

    def before_noise(self, subject: Subject, columns: Sequence[str] | None = None) -> Counted:
        """Count the same before columns are randomised; every cell for itself where any is."""
        noisy = mechanisms_of(self.policy)
        if not noisy:
            return self.release(subject, columns)
        quiet = undrawn(self.policy.release)
        return replace(self, policy=replace(self.policy, release=quiet), _released={}).release(
            subject, columns, kinds=False
        )

    def left_out(self, subject: Subject) -> dict[Value, int]:
        """Count the people to whom a secret column does not apply, by value; of one secret column only."""
        if len(subject) > 1 or not self.policy.secret_of(subject[0]).not_secret:
            return {}
        found = self._about(subject, self.columns[:1])
        gone = np.flatnonzero(left_out(found, self.policy)).tolist()
        held = found.tally.of_secret
        return {found.secret_label(at)[0]: int(held[at]) * self.rows // found.tally.total for at in gone}

    def identity(self, subject: Subject) -> IdentityRisks | None:
        """Measure how well everybody in the release can be picked out, also those to whom a secret does not apply."""
        found = classical_measures(
            self._about(subject, self.columns).by_kind().tally, scale=self.scale
        ).identity
        weighed = None if self.table is None else population_risks(self.table, self.policy)
        if found is None or weighed is None:
            return found
        return replace(
            found, journalist=Probability(weighed.journalist), marketer=Probability(weighed.marketer)
        )

    def heat_map(self, subject: Subject, columns: Sequence[str]) -> HeatMap | None:
        """Count the first two of some columns alone; None where there is only one, or they have many values."""
        if len(columns) < 2 or mechanisms_of(self.policy) or self.policy.local is not None:
            return None
        if self.counted is None and self.table is None:
            return None
        try:
            counted = self._with_values(subject, tuple(columns[:2]))
        except TooManyCells:
            return None
        shape = tuple(len(values) for values in counted.values)
        if max(shape) > _MOST_VALUES:
            return None
        people, leak = np.zeros(shape, dtype=np.int64), np.full(shape, None, dtype=object)
        gain = cell_pml(counted.tally)
        for cell, (row, column) in enumerate(counted.codes.tolist()):
            people[row, column], leak[row, column] = int(counted.tally.of_cell[cell]), gain.value(cell)
        tables = (tuple(map(tuple, table.tolist())) for table in (people, leak))
        return HeatMap((columns[0], columns[1]), (counted.values[0], counted.values[1]), *tables)

    def _with_values(self, subject: Subject, columns: tuple[str, ...]) -> Counted:
        """Few columns with their values in order, nothing hidden, for those to whom the secret applies."""
        if self.counted is not None:
            found = about(self.counted.select(columns), subject)
        else:
            assert self.table is not None
            plain = self._plan_for(subject, columns)
            counts = count_cells(self.table, plain, max_cells=_MOST_VALUES**2, check=False)
            found = Counted.of(counts, subject, columns)
        return found.without_secrets(left_out(found, self.policy))

    def _about(self, subject: Subject, columns: tuple[str, ...]) -> Counted:
        if self.counted is not None:
            return about(self._release(columns), subject)
        alone = self._count_alone(subject)
        if alone is not None:
            return apply_policy(alone, self.policy, columns)
        if (subject, columns) not in self._counted:
            assert self.counter is not None
            kinds = count_kinds(self.counter.query(subject, columns))
            found = Counted.of_kinds(kinds, subject, columns).suppress(self.policy.min_count)
            self._counted[subject, columns] = found
        return self._counted[subject, columns]

    def _count_alone(self, subject: Subject) -> Counted | None:
        """Count the plan for one secret alone, before anything is hidden; None where that is too much for memory."""
        if subject not in self._alone:
            self._alone[subject] = None
            with suppress(TooManyCells):
                if self.max_groups and self.table is not None:
                    plain = self._plan_for(subject, self.columns)
                    counts = count_cells(self.table, plain, max_groups=self.max_groups, check=False)
                    self._alone[subject] = Counted.of(counts, subject, self.columns)
        return self._alone[subject]

    def _plan_for(self, subject: Subject, columns: Sequence[str]) -> Policy:
        """The rows and columns of the plan for some secrets, with nothing hidden."""
        secrets = tuple(self.policy.secret_of(column) for column in subject)
        release = only(self.policy, columns).release
        return Policy(secrets, release, where=self.policy.where, missing=dict(self.policy.missing))

    def _release(self, columns: tuple[str, ...]) -> Counted:
        assert self.counted is not None
        if columns not in self._released:
            self._released[columns] = apply_policy(self.counted, self.policy, columns)
        return self._released[columns]


def _require_countable(policy: Policy, error: TooManyCells) -> None:
    """Refuse plans that need their cells in memory."""
    if policy.local is not None or policy.statistic:
        raise error
    for column, mechanism in mechanisms_of(policy).items():
        raise InvalidInput(f"{mechanism.words()} on {quoted(column)}: {error}") from error
