"""The risk of each record: what its cell leaks, and how sure the cell makes a stranger of its own secret."""

from __future__ import annotations

import numpy as np

from tightlip.arguments import instance
from tightlip.auditing.leakage import cell_pml
from tightlip.auditing.plan import mechanisms_of
from tightlip.auditing.result import Audit
from tightlip.auditing.tally import Tally, divided
from tightlip.errors import InvalidInput, quoted
from tightlip.table.counts import CellCounts, hide_small_cells
from tightlip.table.policy import Policy
from tightlip.table.risk import CellRisks


def cell_risks(counts: CellCounts, policy: Policy) -> CellRisks:
    """Leakage of each cell (rounded up, in nats) and posterior of each pair, in the order of the counts.

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
    posterior = divided(tally.count, tally.of_cell[tally.cell])
    found = np.searchsorted(
        tally.cell * tally.shape[0] + tally.secret, counts.cell_of * tally.shape[0] + counts.secret_of
    )
    return CellRisks(counts, cell_pml(tally).upper, posterior[found])


def audited_counts(audit: Audit) -> CellCounts:
    """What an audit counted, with the plan's small cells hidden: risks found from it agree with the report."""
    counted = audit.counted
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
