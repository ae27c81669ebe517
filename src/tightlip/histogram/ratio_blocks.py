"""All tables whose ratio lies in a range, in few blocks, so that one can be drawn exactly at any size.

A ratio a/b with b rows in the whole is in range for an interval of a. The number of histograms is log-concave in a, so
it falls on both sides of its peak. From the peak outward the interval is cut into blocks of 1, 1, 2, 4, … rows; the
first of a block is its heaviest, which gives the envelope that `draw_from_blocks` needs: O(τ log τ) blocks for about
τ² tables.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tightlip.histogram.secret import GroupedSecret
from tightlip.histogram.weights import draw_from_blocks
from tightlip.numeric.randomness import Integers, RandomSource

MOST_ROWS = 200_000


def draw_ratio(secret: GroupedSecret, values: range, random: RandomSource) -> Integers:
    """Counts of part, remainder and outside for a ratio on a grid, exactly in proportion to their histograms.

    Parameters
    ----------
    secret : GroupedSecret
        A Ratio with a resolution, of at most 200,000 rows.
    values : indices of the wanted values of the secret
    random : where the bits come from
    """
    whole, low, high = _intervals(secret, values)
    peak = np.clip(_mode(whole, secret.sizes), low, high)
    starts, lengths, strides = [], [], []
    for side in (1, -1):
        room = high - peak if side > 0 else peak - low
        offset, size = (0, 1) if side > 0 else (1, 1)
        while (inside := room >= offset).any():
            part, rows = peak[inside] + side * offset, whole[inside]
            starts.append(np.stack([part, rows - part, secret.total - rows], axis=1))
            lengths.append(np.minimum(size, room[inside] - offset + 1))
            strides.append(np.broadcast_to(np.array([side, -side, 0]), starts[-1].shape))
            offset, size = offset + size, max(offset + size, 1)
    return draw_from_blocks(
        np.concatenate(starts), np.concatenate(lengths), np.concatenate(strides), secret.sizes, random
    )


def _intervals(secret: GroupedSecret, values: range) -> tuple[Integers, Integers, Integers]:
    """For each number of rows of the whole that can be in range, the smallest and the largest part."""
    whole = np.arange(secret.total + 1)
    low = _times_up(whole, secret.scale.interval(values.start)[0])
    end = secret.scale.interval(values.stop - 1)[1]
    high = whole if values.stop == secret.size else _times_up(whole, end) - 1
    if values.start == 0:
        high = np.where(whole == 0, 0, high)  # an empty whole counts as 0
    elif values.stop == secret.size:
        low = np.where(whole == 0, 1, low)
    possible = low <= high
    return whole[possible], low[possible], high[possible]


def _times_up(rows: Integers, factor: Fraction) -> Integers:
    product: Integers = -(-rows * factor.numerator // factor.denominator)
    return product


def _mode(whole: Integers, sizes: tuple[int, ...]) -> Integers:
    """Where the number of histograms stops growing: a(m₀ + m₁ − 2) ≤ (m₀ − 1)b + 1 − m₁ while it grows."""
    first, second = sizes[0], sizes[1]
    if first + second == 2:
        return np.zeros_like(whole)
    mode: Integers = ((first - 1) * whole + 1 - second) // (first + second - 2) + 1
    return mode
