"""Which numbers of people may be the smallest min_count that meets a budget.

A cell above the budget stays until it is hidden, so its size is a lower end. Beyond that only the hidden people as one
cell can be above the budget, and their counts are running sums over the cells by size.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tightlip.auditing.leakage import cell_pml
from tightlip.auditing.tally import Places, Tally, grouped, sum_by
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.quantity import Nats

_MOST_SUMS = 2_000_000  # at a time
_CLEARLY = 1e-9  # nats; far more than the rounding of a lift


def min_counts(tally: Tally, budget: Nats, planned: int | None, *, noise: bool) -> Iterator[int]:
    """The values of min_count above the planned one that may meet a budget, each hiding more cells, in order.

    `tally` has the cells before any is hidden. A value that is passed over surely does not meet the budget; with
    noise afterwards nothing is sure and none is passed over.
    """
    sizes, place = grouped(tally.of_cell)
    least, lifts = planned or 1, np.zeros(len(sizes))
    if not noise:
        above = np.flatnonzero(cell_pml(tally).above(budget))
        least = max(least, int(tally.of_cell[above].max(initial=0)))
        lifts = _lifts_of_hidden(tally, place, len(sizes))
    for at in range(int(np.searchsorted(sizes, least)), len(sizes) - 1):
        if lifts[at] <= float(budget) + _CLEARLY:
            yield int(sizes[at]) + 1


def _lifts_of_hidden(tally: Tally, place: Places, sizes: int) -> FloatArray:
    """log max_x s_x of the people hidden when all cells up to each size are, a block of sizes at a time."""
    secrets, places = tally.shape[0], place[tally.cell]
    block = max(_MOST_SUMS // secrets, 1)
    hidden = np.zeros((1, secrets), dtype=tally.count.dtype)
    found = []
    for first in range(0, sizes, block):
        inside = np.flatnonzero((places >= first) & (places < first + block))
        keys = (places[inside] - first) * secrets + tally.secret[inside]
        wide = min(block, sizes - first)
        sums = sum_by(keys, tally.count[inside], wide * secrets).reshape(wide, secrets)
        hidden = hidden[-1] + np.cumsum(sums, axis=0)
        chances = np.asarray(hidden / tally.of_secret, dtype=np.float64)
        shares = np.asarray(hidden.sum(axis=1) / tally.total, dtype=np.float64)
        found.append(np.log(chances.max(axis=1) / shares))
    return np.concatenate(found)
