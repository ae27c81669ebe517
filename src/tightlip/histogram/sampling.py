"""Uniform histograms: every way of writing a total as a sum of counts is equally likely.

A histogram of τ rows over d cells is a row of τ stars and d − 1 bars; choosing the places of the bars (or of the
stars, if there are fewer) uniformly chooses the histogram uniformly. Given the counts of groups of cells, the
histograms inside the groups are independent and uniform.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.randomness import Integers, RandomSource


def uniform_histogram(total: int, cells: int, random: RandomSource) -> Integers:
    """Draw a histogram of `total` rows over `cells` cells, each of the C(τ+d−1, d−1) equally likely.

    Time and memory are O(d + min(τ, d)).

    Parameters
    ----------
    total : number of rows τ ≥ 0
    cells : number of cells d ≥ 1 (d = 0 only for no rows)
    random : where the bits come from

    Raises
    ------
    InvalidInput
        When rows have no cell to be in.

    >>> counts = uniform_histogram(10, 4, RandomSource())
    >>> len(counts), int(counts.sum())
    (4, 10)
    """
    if total < 0 or cells < 0 or (total > 0 and cells == 0):
        raise InvalidInput(
            f"a histogram must have cells for its rows, got total={quoted(total)} and cells={quoted(cells)}."
        )
    if cells == 0:
        return np.zeros(0, dtype=np.int64)
    if total < cells - 1:
        stars = random.choose(total, total + cells - 1)
        return np.bincount(stars - np.arange(total), minlength=cells).astype(np.int64)
    bars = random.choose(cells - 1, total + cells - 1)
    return np.diff(bars, prepend=-1, append=total + cells - 1) - 1


def uniform_in_groups(
    group_of_cell: NDArray[np.int8], group_counts: Sequence[int], random: RandomSource
) -> Integers:
    """Draw a histogram uniformly among those with the given number of rows in each group of cells.

    Raises
    ------
    InvalidInput
        When a group has rows but no cells.

    >>> groups = np.array([0, 1, 0], dtype=np.int8)
    >>> int(uniform_in_groups(groups, [2, 5], RandomSource())[1])
    5
    """
    counts = np.zeros(len(group_of_cell), dtype=np.int64)
    for group, rows in enumerate(group_counts):
        members = np.flatnonzero(group_of_cell == group)
        counts[members] = uniform_histogram(int(rows), len(members), random)
    return counts
