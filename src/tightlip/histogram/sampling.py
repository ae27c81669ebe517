"""Uniform histograms: every way of writing a total as a sum of counts is equally likely.

A histogram of τ rows over d cells is a row of τ stars and d − 1 bars; choosing the places of the bars (or of the
stars, if there are fewer) uniformly chooses the histogram uniformly. Given the counts of groups of cells, the
histograms inside the groups are independent and uniform.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import instance, listed, whole
from tightlip.errors import InvalidInput, ShapeMismatch, quoted
from tightlip.numeric.randomness import Integers, RandomSource

_MOST = 10**9  # rows or cells that a drawn histogram has room for


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
    instance(random, RandomSource, "random", "write RandomSource()")
    total, cells = whole(total, "total", 0, _MOST), whole(cells, "cells", 0, _MOST)
    if total > 0 and cells == 0:
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
    instance(group_of_cell, np.ndarray, "group_of_cell", "write numpy.array([0, 1, 1])")
    if group_of_cell.ndim != 1:
        raise ShapeMismatch(
            f"group_of_cell must have 1 dimension, got shape {group_of_cell.shape}; give one group for each cell."
        )
    groups = [
        whole(rows, f"group_counts entry {place}", 0)
        for place, rows in enumerate(listed(group_counts, "group_counts", "counts"))
    ]
    counts = np.zeros(len(group_of_cell), dtype=np.int64)
    for group, rows in enumerate(groups):
        members = np.flatnonzero(group_of_cell == group)
        counts[members] = uniform_histogram(rows, len(members), random)
    return counts
