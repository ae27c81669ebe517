"""Distortion of quantization when the secret is the share of a category of several cells.

The category has m of d cells. A table with a rows in it is released as a uniform histogram with v rows in it, v the
middle of the bin of a. For fixed v the expected distance E TV(θ, θ') is convex in θ, so the worst table has its a
rows in one cell of the category and the others in one cell outside:

    E TV = 1 − (E min(a, X) + E min(τ − a, Y))/τ,

X the count of one of m cells that share v rows uniformly, Y of one of d − m cells that share τ − v. Since
P(X > x) = C(v−x+m−2, m−1)/C(v+m−1, m−1),

    E min(a, X) = (v/m) (1 − C(v−a+m−1, m)/C(v+m−1, m))   for a ≤ v, and v/m above;

it grows with a, so the worst table of a bin is at one of the bin's ends. For m = 1 this is
(d − 2)/(d − 1) + ⌊I/2⌋/(τ(d − 1)).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tightlip.arguments import whole
from tightlip.certificate.recomputation import SHARE_DISTORTION, certify_by_recomputation
from tightlip.histogram.counting import Field, Number
from tightlip.histogram.privacy import Distortion
from tightlip.histogram.quantization import Quantization
from tightlip.histogram.space import HistogramSpace, read_space
from tightlip.histogram.weights import log_gamma
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.quantity import Probability
from tightlip.numeric.randomness import Integers

_METHOD = "quantization of the share of several cells"
_MOST_BINS_ONE_BY_ONE = 64
_ROUNDING = 1e-14


def share_distortion(space: HistogramSpace, bin_size: int, category_cells: int) -> Distortion:
    """The worst-case expected distance of quantization by the middle, for a category of m cells.

    Parameters
    ----------
    space : HistogramSpace
    bin_size : how many of the τ + 1 values of the share are in a bin
    category_cells : m, at least 1 and less than d

    Returns
    -------
    Distortion
        Exact where the numbers are short and the bins few; otherwise two ends that differ by rounding.

    >>> share_distortion(HistogramSpace(4, 4), 1, 2).upper.fraction
    Fraction(1, 2)
    """
    cells = whole(
        category_cells, "category_cells", 1, read_space(space).cells - 1, remedy="some cells, not all"
    )
    found = _distortion(Quantization(space, bin_size), cells)
    return certify_by_recomputation(
        SHARE_DISTORTION, found, space=space, bin_size=bin_size, category_cells=cells
    )


def _distortion(mechanism: Quantization, category_cells: int) -> Distortion:
    if mechanism.bins <= _MOST_BINS_ONE_BY_ONE:
        return _one_by_one(mechanism, category_cells)
    total, bins = mechanism.space.total, np.arange(mechanism.bins)
    middles = np.minimum(bins * mechanism.bin_size + mechanism.bin_size // 2, total)
    lows = bins * mechanism.bin_size
    highs = np.minimum(lows + mechanism.bin_size - 1, total)
    other = mechanism.space.cells - category_cells
    ends = [
        _ends(total, middles, lows, category_cells, other),
        _ends(total, total - middles, total - highs, other, category_cells),
    ]
    lower = max(float(low.max()) for low, _ in ends)
    upper = max(float(high.max()) for _, high in ends)
    return Distortion(
        Probability(max(lower, 0.0), rounding="down"), Probability(min(upper, 1.0)), True, _METHOD
    )


def _one_by_one(mechanism: Quantization, cells: int) -> Distortion:
    total, other = mechanism.space.total, mechanism.space.cells - cells
    found = []
    for bin_index in range(mechanism.bins):
        middle, members = mechanism.representative(bin_index), mechanism.members(bin_index)
        found.append(_at(total, middle, members[0], cells, other))
        found.append(_at(total, total - middle, total - members[-1], other, cells))
    worst = max(found, key=lambda one: (one.upper, one.upper.fraction or 0))
    lowest = max(found, key=lambda one: one.lower)
    return Distortion(lowest.lower, worst.upper, worst.exact, _METHOD)


def _at(total: int, middle: int, count: int, cells: int, other: int) -> Distortion:
    """E TV for a table with `count` ≤ `middle` rows in one of the category's cells."""

    def formula(numbers: Field) -> Number:
        lost = (
            numbers.binomial(middle - count + cells - 1, cells) / numbers.binomial(middle + cells - 1, cells)
            if middle > count
            else numbers.number(0)
        )
        inside = numbers.number(Fraction(middle, cells)) * (1 - lost)
        return 1 - (inside + numbers.number(Fraction(total - middle, other))) / total

    return Distortion.of_formula(formula, _METHOD)


def _ends(
    total: int, middles: Integers, counts: Integers, cells: int, other: int
) -> tuple[FloatArray, FloatArray]:
    """The same for many bins at once: lower and upper ends."""
    gap = np.maximum(middles - counts, 0)
    logs, errors = np.zeros(len(gap)), np.zeros(len(gap))
    for sign, place in ((1, gap + cells), (-1, gap), (-1, middles + cells), (1, middles)):
        log, error = log_gamma(np.maximum(place, 1))
        logs += sign * log
        errors += error + 2.0**-50 * np.abs(log)
    ends = []
    for error in (errors, -errors):
        lost = np.where(gap > 0, np.exp(np.minimum(logs + error, 0.0)), 0.0)
        kept = middles / cells * (1 - lost) + (total - middles) / other
        ends.append(1 - kept / total)
    return ends[1] - _ROUNDING, ends[0] + _ROUNDING
