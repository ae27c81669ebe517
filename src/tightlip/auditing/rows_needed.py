"""Estimate how many rows a sample must have to decide whether a budget is kept.

The shares of the sample are taken for the population's: its counts are multiplied, and the bounds of the verdict worked
out anew. With a share above the budget of at most δ, the least number of rows is looked for at which the bound from
above is at most δ. Otherwise no number of rows would prove that; the one at which the bound from below exceeds δ proves
the contrary. It is an estimate, not a guarantee: another sample has other shares.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from tightlip.auditing.leakage import cell_pml
from tightlip.auditing.sample import Errors, least_above, most_above, prior_bounds
from tightlip.auditing.tally import Tally, divide
from tightlip.numeric.quantity import Nats, Probability

_MOST_ROWS = 10**10  # more are not called a remedy
_MOST_PAIRS = 5_000  # kinds of cells count once; beyond, a search takes a minute
_DIGITS = 2  # of an estimate


def rows_to_decide(
    tally: Tally, budget: Nats, delta: Fraction, errors: Errors, *, decided: bool = False
) -> tuple[Probability, int | None]:
    """Compute the share of a sample above the budget, and estimate the rows that would decide whether it is above δ.

    Parameters
    ----------
    tally : the sample
    errors : of the audit of which the verdict is part
    decided : whether these rows are known to decide it

    Returns
    -------
    The share, exactly, and the rows: those that there are, where they decide it; else to two digits, rounded up; None
    where no number up to 10¹⁰ would, or the search would take too long.

    >>> tally = Tally.of([0, 1, 0, 1], [0, 0, 1, 1], [25, 75, 75, 25], (2, 2))
    >>> share, rows = rows_to_decide(tally, Nats.of_ratio(Fraction(2)), Fraction(1, 100), Errors(0.01, 0.04))
    >>> float(share), rows
    (0.0, 500)
    """
    kinds, _ = tally.by_kind()
    share = cell_pml(kinds).tail(budget)
    if decided or len(kinds.count) > _MOST_PAIRS:
        return share, kinds.total if decided else None

    def decides(rows: int) -> bool:
        scaled = _scale(kinds, Fraction(rows, kinds.total))
        priors = prior_bounds(scaled.of_secret, scaled.total, errors.priors)
        if share > delta:
            return least_above(scaled, priors, budget, errors.release) > delta
        return most_above(scaled, priors, budget, errors.release) <= delta

    return share, _least_rows(decides, kinds.total)


def _scale(tally: Tally, factor: Fraction) -> Tally:
    """Multiply the counts of each cell, to nearest, and at least 1."""
    each = divide(tally.count // tally.cells[tally.cell], 1) * float(factor)
    count = np.maximum(np.rint(each), 1).astype(np.int64) * tally.cells[tally.cell]
    return Tally.of(tally.secret, tally.cell, count, tally.shape, tally.cells)


def _least_rows(decides: Callable[[int], bool], rows: int) -> int | None:
    """Find the least number that decides, from some rows on: by doubling, then by bisection to two digits."""
    if decides(rows):
        return rows
    low, high = rows, 2 * rows
    while not decides(high):
        if high >= _MOST_ROWS:
            return None
        low, high = high, 2 * high
    while high - low > _unit(high):
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle, high)
    return -(-high // _unit(high)) * _unit(high)


def _unit(rows: int) -> int:
    return int(10 ** max(len(str(rows)) - _DIGITS, 0))
