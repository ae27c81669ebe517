"""Compute the risk of each record: what its cell leaks, and how sure it makes a stranger of its own secret."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tightlip.arguments import instance
from tightlip.auditing.leakage import cell_pml
from tightlip.auditing.plan import mechanisms_of
from tightlip.auditing.result import Audit
from tightlip.auditing.tally import Tally, divide
from tightlip.errors import InvalidInput, quoted
from tightlip.showing import Shown, Tabled
from tightlip.table.counts import CellCounts, hide_small_cells
from tightlip.table.policy import Policy
from tightlip.table.risk import CellRisks, write_risks
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
    for column, mechanism in mechanisms_of(policy).items():
        raise InvalidInput(
            f"risk by record needs a plan without noise, got {mechanism.words()} on {quoted(column)}; "
            "the cell that a row is released in is then random."
        )
    tally = Tally.of(counts.secret_of, counts.cell_of, counts.count, (len(counts.secrets), len(counts.cells)))
    posterior = divide(tally.count, tally.of_cell[tally.cell])
    found = np.searchsorted(
        tally.cell * tally.shape[0] + tally.secret, counts.cell_of * tally.shape[0] + counts.secret_of
    )
    return CellRisks(counts, cell_pml(tally).upper, posterior[found])


def suppress_counts(audit: Audit) -> CellCounts:
    """Suppress the plan's small cells in what an audit counted: risks found from it agree with the report."""
    counted = audit.counted
    if counted is None:
        raise InvalidInput(
            "risks can be listed only of cells that fit into memory, got more; write them to a file with --risks."
        )
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


@dataclass(frozen=True, slots=True, eq=False)
class AuditRisks(Shown, Tabled):
    """The risks that an audit found, by cell and secret: for the owner of the table, since it shows their values.

    Attributes
    ----------
    policy : the plan that was audited
    cells : the leakage of each released cell and the posterior of each secret in it
    """

    policy: Policy
    cells: CellRisks

    def write(
        self, table: Table, path: str | Path, *, id_column: str | None = None, force: bool = False
    ) -> None:
        """Write cell size, leakage and posterior of the own secret for every row of the table; see `write_risks`."""
        write_risks(table, self.policy, self.cells, path, id_column=id_column, force=force)

    def columns(self) -> dict[str, list[Any]]:
        """Columns of a table with a row for each cell and secret that occurs in it, the most telling cell first.

        Released values of hidden cells are "*". `people` have the cell, `records` the secret too; `leakage` is in
        nats, rounded up; `posterior` is the probability of the secret, given the cell.
        """
        counts, sizes = self.cells.counts, self.cells.counts.sizes()
        order = np.lexsort((counts.secret_of, counts.cell_of, -self.cells.leakage[counts.cell_of]))
        cells, secrets = counts.cell_of[order], counts.secret_of[order]
        hidden = ("*",) * len(self.policy.release)
        released = [counts.cells[cell] or hidden for cell in cells.tolist()]
        held = [counts.secrets[secret] for secret in secrets.tolist()]
        return {
            **{item.column: [row[at] for row in released] for at, item in enumerate(self.policy.release)},
            **{column: [row[at] for row in held] for at, column in enumerate(self.policy.secret)},
            "people": sizes[cells].tolist(),
            "records": counts.count[order].tolist(),
            "leakage": self.cells.leakage[cells].tolist(),
            "posterior": self.cells.posterior[order].tolist(),
        }

    def __repr__(self) -> str:
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
    return AuditRisks(audit.policy, cell_risks(suppress_counts(audit), audit.policy))
