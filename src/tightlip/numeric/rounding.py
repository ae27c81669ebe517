"""Outward rounding of float arrays, and of rationals to floats.

What is trusted: IEEE double arithmetic rounds to nearest (relative error at most u = 2⁻⁵³, or an
absolute error of 2⁻¹⁰⁷⁵ below the normal range), and numpy's logarithm is within 4 units in the
last place. Everything else is a bound worked out here, in Higham's notation γ_n = nu/(1 − nu).
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np

from tightlip.numeric.parse import FloatArray

UNIT = 2.0**-53
TINY = 5e-324
_LOG_ULPS = 4
_SAFE = 2.0**1000


def gamma(operations: int) -> float:
    """Compute γ_n: the relative error that n roundings can build up, itself rounded up.

    >>> gamma(1) > 2**-53
    True
    """
    return up(operations * UNIT / (1 - operations * UNIT), steps=2)


def up(value: float, steps: int = 1) -> float:
    """Step to the next float(s) above."""
    for _ in range(steps):
        value = math.nextafter(value, math.inf)
    return value


def down(value: float, steps: int = 1) -> float:
    """Step to the next float(s) below."""
    for _ in range(steps):
        value = math.nextafter(value, -math.inf)
    return value


def widen_up(values: FloatArray, relative: float) -> FloatArray:
    """Bound from above every v with |values − v| ≤ relative·v, values ≥ 0, relative < 1/4."""
    return np.nextafter(values * (1 + 2 * relative), math.inf) if relative else values


def widen_down(values: FloatArray, relative: float) -> FloatArray:
    """Bound from below every v with |values − v| ≤ relative·v, values ≥ 0, relative < 1/4."""
    return np.maximum(np.nextafter(values * (1 - 2 * relative), -math.inf), 0.0) if relative else values


def sum_up(values: FloatArray) -> float:
    """Sum upwards: the smallest float not below the exact sum."""
    total, rest = _sum_and_rest(values)
    return up(total) if rest > 0 else total


def sum_down(values: FloatArray) -> float:
    """Sum downwards: the largest float not above the exact sum."""
    total, rest = _sum_and_rest(values)
    return down(total) if rest < 0 else total


def _sum_and_rest(values: FloatArray) -> tuple[float, float]:
    """The sum rounded to nearest, and the exact sum minus it: fsum rounds exact sums once."""
    terms = values.tolist()
    total = math.fsum(terms)
    return total, math.fsum([*terms, -total])


def log_up(values: FloatArray) -> FloatArray:
    """Bound log(values) from above; log 1 is exactly 0, log 0 is −∞."""
    logs, margin = _log_with_margin(values)
    return logs + margin


def log_down(values: FloatArray) -> FloatArray:
    """Bound log(values) from below; log 1 is exactly 0, log 0 is −∞."""
    logs, margin = _log_with_margin(values)
    return logs - margin


def _log_with_margin(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    with np.errstate(divide="ignore"):
        logs = np.log(values)
    margin = np.where(np.isinf(logs), 0.0, np.abs(logs) * (2 * (_LOG_ULPS + 1) * UNIT))
    return logs, margin


def log_ratio_up(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Bound log(numerator/denominator) from above for numerator > 0; ∞ where the denominator is 0.

    Ratios that leave the float range are taken as differences of logarithms.
    """
    with np.errstate(divide="ignore", over="ignore"):
        ratio = numerator / denominator
    inside = (ratio > 1 / _SAFE) & (ratio < _SAFE)
    above = np.where(numerator == denominator, 1.0, np.nextafter(ratio, math.inf))
    result = log_up(np.where(inside, above, 1.0))
    if not inside.all():
        outside = ~inside
        difference = log_up(numerator[outside]) - log_down(denominator[outside])
        result[outside] = np.nextafter(difference, math.inf)
    return result


def log_ratio_down(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Bound log(numerator/denominator) from below for denominator > 0; −∞ where the numerator is 0."""
    return -log_ratio_up(denominator, numerator)


_LEAF = 128


def tree_sum(values: FloatArray) -> tuple[FloatArray, float]:
    """Sum over the last axis in a tree of small sums, with a bound on the relative error.

    Each level adds at most 128 non-negative numbers in whatever order numpy likes, so the error
    grows with the number of levels only: 3 of them for a million entries.
    """
    roundings = 0
    while values.shape[-1] > 1 or not roundings:
        length = values.shape[-1]
        roundings += min(length, _LEAF)
        padded = -(-length // _LEAF) * _LEAF
        if padded != length:
            widths = [(0, 0)] * (values.ndim - 1) + [(0, padded - length)]
            values = np.pad(values, widths)
        values = values.reshape(*values.shape[:-1], padded // _LEAF, _LEAF).sum(axis=-1)
    return values[..., 0], gamma(roundings)


def float_above(value: Fraction) -> float:
    """Round up to the nearest float that is not below; infinite beyond the range.

    >>> float_above(Fraction(1, 3)) > Fraction(1, 3), float_above(Fraction(10) ** 400)
    (True, inf)
    """
    try:
        near = float(value)
    except OverflowError:
        return math.inf if value > 0 else -sys.float_info.max
    return near if Fraction(near) >= value else up(near)


def float_below(value: Fraction) -> float:
    """Round down to the nearest float that is not above.

    >>> float_below(Fraction(1, 3)) <= Fraction(1, 3)
    True
    """
    return -float_above(-value) if value else 0.0
