"""n independent uses of one mechanism on one secret, by how often each outcome came up.

The order of the outcomes says nothing, so the joint channel reduces to histograms h with
    P(h | x) = n!/(h_1! … h_m!) · Π_y K_xy^{h_y},
C(n + m − 1, m − 1) of them for m outcomes instead of m^n. Two histograms say the same where the products
Π_y K_xy^{h_y} are proportional in x; they are merged, and histograms that never occur are dropped.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput
from tightlip.model.matrix import REDUCE_TOLERANCE, SMALLEST, Groups, merge_proportional
from tightlip.numeric.parse import FloatArray, ObjectArray

_BITS = 128
_NEVER = -(2**40)  # the exponent that stands for a probability of 0

Counts = NDArray[np.int64]


def histogram_count(uses: int, outcomes: int) -> int:
    """Count histograms: C(n + m − 1, m − 1).

    >>> histogram_count(100, 3)
    5151
    """
    return math.comb(uses + outcomes - 1, outcomes - 1)


def histograms(uses: int, outcomes: int) -> Counts:
    """List all ways to spread n uses over m outcomes, one per row, starting with all uses on the first.

    >>> histograms(2, 2)
    array([[2, 0],
           [1, 1],
           [0, 2]])
    """
    count, slots = histogram_count(uses, outcomes), uses + outcomes - 1
    bars = combinations(range(slots), outcomes - 1)
    flat = np.fromiter((bar for group in bars for bar in group), dtype=np.int64, count=count * (outcomes - 1))
    edges = np.empty((count, outcomes + 1), dtype=np.int64)
    edges[:, 0], edges[:, -1] = -1, slots
    edges[:, 1:-1] = flat.reshape(count, outcomes - 1)
    return np.diff(edges, axis=1)[::-1] - 1


def exact_histograms(rows: ObjectArray, uses: int) -> tuple[ObjectArray, list[tuple[int, ...]]]:
    """Compute the n-fold channel in rationals, and of each column the first histogram merged into it."""
    scale = math.lcm(*(entry.denominator for row in rows.tolist() for entry in row))
    powers = [[_powers(int(entry * scale), uses) for entry in row] for row in rows.tolist()]
    factorials = [math.factorial(times) for times in range(uses + 1)]
    found: dict[tuple[int, ...], list[Any]] = {}
    for histogram in histograms(uses, rows.shape[1]).tolist():
        products = [
            math.prod(terms[times] for terms, times in zip(row, histogram, strict=True)) for row in powers
        ]
        common = math.gcd(*products)
        if common:
            ways = factorials[uses] // math.prod(factorials[times] for times in histogram)
            key = tuple(product // common for product in products)
            entry = found.setdefault(key, [0, tuple(histogram)])
            entry[0] += ways * common
    whole = scale**uses
    weights = [Fraction(weight, whole) for weight, _ in found.values()]
    columns = [[weight * part for part in key] for key, weight in zip(found, weights, strict=True)]
    return np.array(columns, dtype=object).T, [label for _, label in found.values()]


def float_histograms(rows: FloatArray, uses: int) -> tuple[FloatArray, list[tuple[int, ...]]]:
    """Compute the n-fold channel in floats, and of each column the first histogram merged into it.

    Before merging, each entry is within a relative (2m + 2)·2⁻⁵³. Merged are columns that are proportional
    within about a relative 1e-12.
    """
    counts = histograms(uses, rows.shape[1])
    values = float_probabilities(rows, uses, counts)
    groups = _float_groups(rows, uses, counts)
    member = np.array([place for group in groups for place in group])
    starts = np.cumsum([0, *(len(group) for group in groups[:-1])])
    merged: FloatArray = np.add.reduceat(values[:, member], starts, axis=1)
    return merged, [tuple(counts[group[0]].tolist()) for group in groups]


def float_probabilities(rows: FloatArray, uses: int, counts: Counts) -> FloatArray:
    """P(h | x), one row for each secret and one column for each histogram.

    Powers and factorials are kept as mantissa and exponent, so that nothing vanishes on the way; a
    probability that a float cannot hold in the end is refused.
    """
    mantissas, exponents = _float_terms(rows, uses)
    whole, shift = _split_factorial(uses)
    mantissa = np.full((len(rows), len(counts)), whole)
    exponent = np.full((len(rows), len(counts)), shift)
    for outcome in range(rows.shape[1]):
        mantissa *= mantissas[:, outcome, counts[:, outcome]]
        mantissa, carry = np.frexp(mantissa)
        exponent += exponents[:, outcome, counts[:, outcome]] + carry
    values = np.ldexp(mantissa, np.maximum(exponent, -5000).astype(np.int32))
    vanished = (mantissa > 0) & (values < SMALLEST)
    if vanished.any():
        row, column = (int(place) for place in np.argwhere(vanished)[0])
        raise InvalidInput(
            f"probability of histogram {tuple(counts[column].tolist())} given secret {row} must stay above "
            f"{SMALLEST:.3g}, got one that a float cannot hold for {uses} uses; make the channel from exact "
            "numbers, like log_of(20), or use exact() on it and on the prior first."
        )
    return np.asarray(values)


def _powers(base: int, uses: int) -> list[int]:
    powers = [1]
    for _ in range(uses):
        powers.append(powers[-1] * base)
    return powers


def _float_groups(rows: FloatArray, uses: int, counts: Counts) -> Groups:
    """Histograms that say the same, found on the n-th roots of the products: those stay apart where the
    products themselves crowd at the corners.
    """
    possible = rows > 0
    logs = np.log(rows, where=possible, out=np.zeros_like(rows))
    excluded = (counts @ (~possible).T.astype(np.int64)).T > 0
    roots = np.where(excluded, 0.0, np.exp((counts @ logs.T).T / uses))
    return merge_proportional(roots, REDUCE_TOLERANCE / uses)[1]


def _float_terms(rows: FloatArray, uses: int) -> tuple[FloatArray, Counts]:
    """K^h / h! for h = 0 … n as mantissas in [½, 1) and exponents, each rounded once."""
    from flint import arb, ctx

    mantissas = np.zeros((*rows.shape, uses + 1))
    exponents = np.full((*rows.shape, uses + 1), _NEVER, dtype=np.int64)
    with ctx.workprec(_BITS + 8 * uses.bit_length()):
        for (row, column), entry in np.ndenumerate(rows):
            term = arb(1)
            for times in range(uses + 1):
                term = term * arb(float(entry)) / times if times else term
                if entry or not times:
                    mantissas[row, column, times], exponents[row, column, times] = _split(term)
    return mantissas, exponents


def _split_factorial(uses: int) -> tuple[float, int]:
    from flint import arb, ctx

    with ctx.workprec(_BITS):
        return _split(arb(math.factorial(uses)))


def _split(value: Any) -> tuple[float, int]:
    """Split a positive ball into mantissa and exponent."""
    mantissa, exponent = value.mid().man_exp()
    size = int(mantissa).bit_length()
    return int(mantissa) / (1 << size), int(exponent) + size
