"""How many histograms have given counts in groups of cells, and an exact draw in proportion to that.

A group of m cells holds n rows in C(n+m−1, m−1) ways, so a vector of group counts stands for their product. These
numbers have thousands of digits. A draw goes through floats and is exact all the same: floats with a proved
error give an envelope of integers, a vector is proposed from it, and accepted with the exact probability, by
comparing random bits with a ball that is made narrower until it decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tightlip.numeric.ball import Ball, ball
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.randomness import Integers, RandomSource

_TABLE = 40
_ROUNDING = 16 * 2.0**-52
_EXP_SLACK = 1.0 + 1e-12


def log_gamma(values: Integers) -> tuple[FloatArray, FloatArray]:
    """log Γ of positive integers and a proved bound on the absolute error.

    Stirling's series stops before 1/(1680 x⁷), which bounds what is left out; numpy's logarithm is trusted to 4
    units in the last place, and every other operation rounds once.

    >>> value, error = log_gamma(np.array([5]))
    >>> bool(abs(value[0] - math.log(24)) <= error[0] < 1e-13)
    True
    """
    small = np.array([math.log(math.factorial(max(x - 1, 0))) for x in range(_TABLE)])
    x = np.maximum(values, _TABLE).astype(np.float64)
    log_x = np.log(x)
    series = (x - 0.5) * log_x - x + 0.5 * math.log(2 * math.pi)
    series += 1 / (12 * x) - 1 / (360 * x**3) + 1 / (1260 * x**5)
    error = 1 / (1680 * x**7) + _ROUNDING * x * (log_x + 1)
    is_small = values < _TABLE
    exact = small[np.minimum(values, _TABLE - 1)]
    return np.where(is_small, exact, series), np.where(is_small, _ROUNDING * (exact + 1), error)


def log_weights(states: Integers, sizes: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """log Π_i Γ(n_i + m_i)/Γ(n_i + 1) for each row of counts, with a bound on its error.

    That is the number of histograms up to a factor that is the same for all rows.
    """
    logs, errors = np.zeros(len(states)), np.zeros(len(states))
    for group, size in enumerate(sizes):
        if size > 1:
            above, error_above = log_gamma(states[:, group] + size)
            below, error_below = log_gamma(states[:, group] + 1)
            logs += above - below
            errors += error_above + error_below + _ROUNDING * (np.abs(above) + np.abs(logs))
    return logs, errors


def draw_weighted(states: Integers, sizes: Sequence[int], random: RandomSource) -> Integers:
    """Draw one row of group counts with probability exactly proportional to its number of histograms.

    >>> draw_weighted(np.array([[2, 3]]), (4, 5), RandomSource())
    array([2, 3])
    """
    return draw_from_blocks(
        states, np.ones(len(states), dtype=np.int64), np.zeros_like(states), sizes, random
    )


def draw_from_blocks(
    starts: Integers, lengths: Integers, strides: Integers, sizes: Sequence[int], random: RandomSource
) -> Integers:
    """The same for rows in blocks start, start + stride, …; the start of a block must be its heaviest row."""
    logs, errors = log_weights(starts, sizes)
    top = int(logs.argmax())
    heights = np.exp(np.minimum(logs - logs[top] + errors + errors[top], 1.0)) * _EXP_SLACK
    scale = 1 << (60 - int(lengths.sum()).bit_length())
    envelope: NDArray[np.int64] = np.floor(heights * scale).astype(np.int64) + 2
    ends = np.cumsum(envelope * lengths)
    while True:
        drawn = random.below(int(ends[-1]))
        place = int(np.searchsorted(ends, drawn, side="right"))
        row: Integers = (
            starts[place] + (int(ends[place]) - 1 - drawn) // int(envelope[place]) * strides[place]
        )
        limit = ball(int(envelope[place])) / ball(scale)
        if random.happens_enclosed(lambda: _ratio(row, starts[top], sizes) / limit):  # noqa: B023
            return row


def _ratio(one: Integers, two: Integers, sizes: Sequence[int]) -> Ball:
    """The number of histograms of one row of group counts over that of another."""
    logs = ball(0)
    for ours, theirs, size in zip(one.tolist(), two.tolist(), sizes, strict=True):
        if ours != theirs:
            logs += _log_ways(ours, size) - _log_ways(theirs, size)
    return logs.exp()


def _log_ways(rows: int, size: int) -> Ball:
    return ball(rows + size).lgamma() - ball(rows + 1).lgamma() if size > 1 else ball(0)
