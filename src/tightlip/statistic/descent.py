"""Prices for large problems: subgradient descent on D(u) with Polyak steps towards the best selection known."""

from __future__ import annotations

import numpy as np

from tightlip.numeric.parse import FloatArray
from tightlip.statistic.cover import Cover, Mask
from tightlip.statistic.groups import Places
from tightlip.statistic.work import CALL, Work

_PATIENCE = 15
_LEAST_STEP = 1e-4


def descend(cover: Cover, allowed: Mask, prices: FloatArray, target: float, work: Work) -> FloatArray:
    """Prices with a low D(u), from given ones: at each step move against the number of secrets that overpay.

    The step is halved when D has not fallen for a while; the search ends when it is tiny, the target is reached or
    the work is done.
    """
    best, least = prices, np.inf
    step, patience = 1.0, _PATIENCE
    while step > _LEAST_STEP:
        tops, rows = cover.tops(cover.gains(prices), allowed)
        value = float(prices.sum() + tops.sum())
        work.add(len(cover.values) + (cover.groups + 1) * CALL)
        patience -= 1
        if value < least:
            best, least, patience = prices, value, _PATIENCE
        elif not patience:
            prices, step, patience = best, step / 2, _PATIENCE
            continue
        slope = 1.0 - _takers(cover, rows, prices)
        norm = float(slope @ slope)
        if value <= target or not norm or not work.left():
            break
        prices = np.maximum(prices - step * (value - target) / norm * slope, 0.0)
    return best


def _takers(cover: Cover, rows: Places, prices: FloatArray) -> FloatArray:
    """For each output, how many of some rows have an entry above its price."""
    count = np.zeros(cover.outputs)
    for row in rows.tolist():
        columns, values = cover.entries(row)
        count[columns] += values > prices[columns]
    return count
