"""The risk of each record: what its cell leaks, and how sure the cell makes a stranger of its own secret."""

from __future__ import annotations

import numpy as np

from tightlip.arguments import instance
from tightlip.audit.leakage import cell_pml
from tightlip.audit.tally import Tally, divided
from tightlip.errors import InvalidInput, quoted
from tightlip.table.counts import CellCounts
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
    noisy = [item.column for item in policy.release if item.mechanism is not None]
    if noisy:
        raise InvalidInput(
            f"risk by record needs a plan without noise, got randomised response on {quoted(noisy[0])}; "
            "the cell that a row is released in is then random."
        )
    tally = Tally.of(counts.secret_of, counts.cell_of, counts.count, (len(counts.secrets), len(counts.cells)))
    posterior = divided(tally.count, tally.of_cell[tally.cell])
    found = np.searchsorted(
        tally.cell * tally.shape[0] + tally.secret, counts.cell_of * tally.shape[0] + counts.secret_of
    )
    return CellRisks(counts, cell_pml(tally).upper, posterior[found])
