"""Compute the risk of each record: what its cell leaks, and how sure it makes a stranger of its own secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tightlip.arguments import instance
from tightlip.auditing.leakage import cell_pml
from tightlip.auditing.plan import Subject, mechanisms_of, name_of, subjects_of
from tightlip.auditing.result import Audit
from tightlip.auditing.tally import Tally, divide
from tightlip.errors import InvalidInput, quoted
from tightlip.showing import Shown, Tabled
from tightlip.table.cell_kinds import MOST_COLUMNS, CellCounter, kinds_by_engine
from tightlip.table.counts import CellCounts, combine, hide_small_cells
from tightlip.table.policy import Policy, Secret
from tightlip.table.risk import CellRisks, KindRisks, refuse_changed, write_kind_risks, write_risks
from tightlip.table.source import Table


def cell_risks(counts: CellCounts, policy: Policy) -> CellRisks:
    """Compute leakage of each cell (rounded up, in nats) and posterior of each pair, in the order of the counts.

    Parameters
    ----------
    counts : as `count_cells` made them, with the policy's suppression

    Raises
    ------
    InvalidInput
        When a released column is randomised: the row's released cell is then not known beforehand.
    """
    instance(counts, CellCounts, "counts", "use count_cells(table, policy)")
    instance(policy, Policy, "policy", "write Policy(secret, release)")
    _require_quiet(policy)
    tally = Tally.of(counts.secret_of, counts.cell_of, counts.count, (len(counts.secrets), len(counts.cells)))
    posterior = divide(tally.count, tally.of_cell[tally.cell])
    found = np.searchsorted(
        tally.cell * tally.shape[0] + tally.secret, counts.cell_of * tally.shape[0] + counts.secret_of
    )
    return CellRisks(counts, cell_pml(tally).upper, posterior[found])


def _require_quiet(policy: Policy) -> None:
    for column, mechanism in mechanisms_of(policy).items():
        raise InvalidInput(
            f"risk by record needs a plan without noise, got {mechanism.words()} on {quoted(column)}; "
            "the cell that a row is released in is then random."
        )


def suppress_counts(audit: Audit) -> CellCounts:
    """Suppress the plan's small cells in what an audit counted: risks found from it agree with the report."""
    counted = audit.counted
    assert counted is not None
    tally = counted.tally
    counts = CellCounts(
        [counted.secret_label(secret) for secret in range(tally.shape[0])],
        [counted.cell_label(cell) or () for cell in range(tally.shape[1])],
        tally.secret.astype(np.int64),
        tally.cell.astype(np.int64),
        tally.count.astype(np.int64),
        tally.total,
        None,
    )
    return hide_small_cells(counts, audit.policy.min_count)


def kind_risks(table: Table, policy: Policy, subject: Subject, *, alone: bool = True) -> KindRisks:
    """Compute the risks of the kinds of cells about some secret columns, counted by the engine.

    Parameters
    ----------
    alone : whether the secret is the only one, and need not be named
    """
    query = CellCounter.of(table, policy).query(subject, [item.column for item in policy.release])
    if len(query.counted) > MOST_COLUMNS:
        raise InvalidInput(
            f"risk by record of so many cells needs a secret of at most {MOST_COLUMNS} values, got more in "
            f"{quoted(name_of(subject))}; name the sensitive values, or put it in bins."
        )
    group_of, kind_of, count, cells = kinds_by_engine(query)
    secrets, place = combine(query.secrets.labels, query.secrets.codes)
    each = np.zeros((len(cells), len(place)), dtype=np.int64)
    each[kind_of, group_of] = count // cells[kind_of]
    own = [policy.secret_of(column) for column in subject]
    out = np.array([any(map(Secret.leaves_out, own, label)) for label in secrets], dtype=bool)
    whole = Tally.of(place[group_of], kind_of, count, (len(secrets), len(cells)), cells)
    shown, shown_at = whole.join_cells(whole.sizes < (policy.min_count or 0))
    seen, left = shown.without_secrets(out)
    column = np.full(shown.shape[1], -1, dtype=np.intp)
    column[left] = np.arange(len(left))
    at = column[shown_at]
    leakage = np.append(cell_pml(seen).upper, np.nan)[at]  # the last, for −1: nobody is left
    chance = np.zeros((seen.shape[1] + 1, len(secrets)))
    chance[seen.cell, np.flatnonzero(~out)[seen.secret]] = divide(seen.count, seen.of_cell[seen.cell])
    posterior = chance[at][:, place]
    posterior[:, out[place]] = np.nan
    leakage[at < 0] = np.nan
    name = None if alone else name_of(subject)
    held = _rising(seen)
    return KindRisks(name, query, each, shown.sizes[shown_at], leakage, posterior, cells, held)


def _rising(tally: Tally) -> tuple[int, ...]:
    """How many people have each secret, in rising order."""
    return tuple(sorted(int(one) for one in tally.of_secret.tolist()))


@dataclass(frozen=True, slots=True, eq=False)
class AuditRisks(Shown, Tabled):
    """The risks that an audit found, by cell and secret: for the owner of the table, since it shows their values.

    Attributes
    ----------
    policy : the plan that was audited
    cells : the leakage of each released cell and the posterior of each secret in it; None where these are in the engine
        alone: of very many cells, of several secrets, and where a secret does not apply to everybody
    held : by secret, how many people the audit found to have each value, in rising order; another table is refused
    """

    policy: Policy
    cells: CellRisks | None
    held: Mapping[str, tuple[int, ...]]

    def write(
        self, table: Table, path: str | Path, *, id_column: str | None = None, force: bool = False
    ) -> None:
        """Write cell size, leakage and posterior of the own secret for every row of the table; see `write_risks`.

        Of several secrets each has its own columns, like posterior_DPHY.

        Raises
        ------
        InvalidInput
            When the file exists and force is not set, ids are needed, or the table is not the one that was audited.
        """
        if self.cells is not None:
            write_risks(table, self.policy, self.cells, path, id_column=id_column, force=force)
            return
        subjects = subjects_of(self.policy)
        alone = len(subjects) == 1
        found = [kind_risks(table, self.policy, subject, alone=alone) for subject in subjects]
        if any(own.held != self.held[name_of(subject)] for own, subject in zip(found, subjects, strict=True)):
            raise refuse_changed(table)
        write_kind_risks(table, self.policy, found, path, id_column=id_column, force=force)

    def columns(self) -> dict[str, list[Any]]:
        """Columns of a table with a row for each cell and secret that occurs in it, the most telling cell first.

        Released values of hidden cells are "*". `people` have the cell, `records` the secret too; `leakage` is in
        nats, rounded up; `posterior` is the probability of the secret, given the cell.
        """
        known = self.cells
        if known is None:
            raise InvalidInput(
                "risks can be listed of one secret that applies to everybody, and of cells that fit into memory; write "
                "them to a file."
            )
        counts, sizes = known.counts, known.counts.sizes()
        order = np.lexsort((counts.secret_of, counts.cell_of, -known.leakage[counts.cell_of]))
        cells, secrets = counts.cell_of[order], counts.secret_of[order]
        hidden = ("*",) * len(self.policy.release)
        released = [counts.cells[cell] or hidden for cell in cells.tolist()]
        held = [counts.secrets[secret] for secret in secrets.tolist()]
        return {
            **{item.column: [row[at] for row in released] for at, item in enumerate(self.policy.release)},
            **{column: [row[at] for row in held] for at, column in enumerate(self.policy.secret)},
            "people": sizes[cells].tolist(),
            "records": counts.count[order].tolist(),
            "leakage": known.leakage[cells].tolist(),
            "posterior": known.posterior[order].tolist(),
        }

    def __repr__(self) -> str:
        if self.cells is None:
            return f"AuditRisks(of {', '.join(self.policy.secret)}, in the engine)"
        counts = self.cells.counts
        return f"AuditRisks({len(counts.cells)} cells, {len(counts.secrets)} secrets, {counts.total} records)"


def audit_risks(audit: Audit) -> AuditRisks:
    """Compute the risks of the records that an audit counted.

    Raises
    ------
    InvalidInput
        For a sample, and where a released column is randomised.
    """
    instance(audit, Audit, "audit", "use tl.audit(table, …)")
    if audit.mode == "sample":
        raise InvalidInput(
            "risk by record needs a population, got the audit of a sample; shares within its cells bound nothing."
        )
    _require_quiet(audit.policy)
    plain = len(subjects_of(audit.policy)) == 1 and not any(own.not_secret for own in audit.policy.secrets)
    held = {name: _rising(view.counted.tally) for name, view in audit.views.items()}
    known = audit.counted is not None and plain
    return AuditRisks(audit.policy, cell_risks(suppress_counts(audit), audit.policy) if known else None, held)
