"""Interval cells of Y = X + N, Gaussian noise, on a grid: two proved ends of the envelope against monotone functions.

Places are in noise widths. V(t), the most probability that disjoint intervals with ℓ ≥ log t can have, is bracketed by
dynamic programs over the gaps of a grid e_0 = −∞ < e_1 < … < e_n = ∞. Secrets come in pieces [low, high]: one for an
interval of them, one for each atom. For a cell with its middle at c the best secret is x*, the one nearest to c.

*Lower end.* Cells between nodes, with P(cell|x), x surely in the support, rounded down over P(cell) rounded up.

*Upper end.* A cell (a, b) with a in gap i and b in gap j > i, s = e_{i+1} − a and u = b − e_j, has

    P(a, b|x*)/P(a, b) ≤ (M + s q_i + u q_j) / (P + s f_i + u f_j),

M = P(e_{i+1}, e_j|x) at most, P = P(e_{i+1}, e_j), q the largest noise density that x* can have in the gap, f the
smallest f_Y in it. The right side is monotone in s and in u, so it is largest at a corner of [0, h_i] × [0, h_j]. A
cell inside one gap has at most q_i/f_i; an end in an outer gap counts as infinite in M and as the gap's inner end in P.
Cells that leak log t lie in the gaps they touch, so V(t) is at most the most mass of gaps that a chain of pairs (i, j)
with a ratio of t or more touches, where the next cell may begin in the gap in which the last one ended.

What is trusted: as in `grid`; each difference of two normal tails has their relative error of 1e-11 added.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tightlip.model.noise import AdditiveNoise
from tightlip.model.secret import DiscreteSecret, DistributionSecret, UniformSecret
from tightlip.noise.grid import MARGIN
from tightlip.noise.posterior import components
from tightlip.numeric.ball import Ball, ball, log_bounds, round_down, round_up
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.stieltjes import TailMasses, quiet, support_point_near
from tightlip.numeric.tails import normal_excess, normal_mass

_PER_CELL = 5  # gaps for each of the cells that are asked for
_MOST_GAPS = 3000  # their pairs are kept in memory
_OUTER = 1e-6  # share of δ in the outer gaps
SMALLEST = Fraction(1, 10**9)  # of δ: below, sums of masses in floats say too little
_SUMS = 1e-12  # of masses up to 1
_PARTS = 4  # of a scipy distribution for each gap
_SUSPECTS = 200
_LARGEST = 1e15  # of e^ε
_FINE = 1e-5
_BITS = 256
_ROOT = math.sqrt(2 * math.pi)


@dataclass(frozen=True, slots=True)
class Pieces:
    """Secrets: [low, high] each, nearest to middles in [left, right]."""

    low: FloatArray
    high: FloatArray
    left: FloatArray
    right: FloatArray

    @classmethod
    def atoms(cls, points: FloatArray) -> Pieces:
        """Make a piece of every point."""
        middles = (points[1:] + points[:-1]) / 2
        return cls(points, points, np.insert(middles, 0, -math.inf), np.append(middles, math.inf))

    @classmethod
    def interval(cls, low: float, high: float) -> Pieces:
        """Make one piece of all points between two ends, which may be infinite."""
        ends = np.array([-math.inf]), np.array([math.inf])
        return cls(np.array([low]), np.array([high]), *ends)


@dataclass(frozen=True, slots=True)
class Gaps:
    """The law of Y in the gaps of a grid.

    Attributes
    ----------
    edges : places, ascending from −∞ to ∞
    least, most : bounds of the mass of each gap
    floor : lower bounds of f_Y in it
    shown, possible : secrets that are surely in the support, and all that may be
    """

    edges: FloatArray
    least: FloatArray
    most: FloatArray
    floor: FloatArray
    shown: Pieces
    possible: Pieces

    def ratios_above(self) -> FloatArray:
        """Bound e^ℓ of cells that begin in gap i (row) and end in gap j (column), from above."""
        size = len(self.least)
        found = np.zeros((size, size))
        for i in range(size):
            found[i, i] = self._alone(i)
            found[i, i + 1 :] = self._row_above(i)
        return found * (1 + 100 * MARGIN)

    def _alone(self, i: int) -> float:
        """Bound e^ℓ of cells inside gap i."""
        if i in (0, len(self.least) - 1) or self.floor[i] <= 0:
            return math.inf
        pieces = self.possible
        apart = np.maximum(pieces.low - self.edges[i + 1], self.edges[i] - pieces.high)
        return float(_density(np.maximum(apart, 0.0).min()) / self.floor[i])

    def _row_above(self, i: int) -> FloatArray:
        """The bounds of row i right of its diagonal: for every piece that can hold the nearest secret."""
        edges, left = self.edges, self.possible.left
        ends = np.arange(i + 1, len(self.least))
        last = ends == len(self.least) - 1
        if i == 0:
            leftmost = rightmost = np.where(last, math.inf, -math.inf)
        else:
            leftmost = np.where(last, math.inf, (edges[i] + edges[ends]) / 2)
            rightmost = (edges[i + 1] + edges[ends + 1]) / 2
        first, final = (
            np.searchsorted(left, middle, side="right").clip(1) - 1 for middle in (leftmost, rightmost)
        )
        found = np.zeros(len(ends))
        for k in range(int((final - first).max(initial=-1)) + 1):
            piece = np.minimum(first + k, final)
            low, high = self.possible.low[piece], self.possible.high[piece]
            near, far = np.clip(leftmost, low, high), np.clip(rightmost, low, high)
            np.maximum(found, self._corners(i, ends, near, far), out=found)
        return found

    def _corners(self, i: int, ends: NDArray[np.intp], near: FloatArray, far: FloatArray) -> FloatArray:
        """The largest ratio at a corner, with the best secret in [near, far]."""
        edges, first, last = self.edges, i == 0, ends == len(self.least) - 1
        beyond = np.where(last, math.inf, edges[ends])
        hit, error = _hit(-math.inf if first else edges[i + 1], beyond, near, far)
        inside = np.insert(np.cumsum(self.least[i + 1 : -1]), 0, 0.0)
        before = 0.0 if first else edges[i + 1] - edges[i]
        after = np.where(last, 0.0, edges[ends + 1] - edges[ends])
        with np.errstate(invalid="ignore"):
            here = _density(np.maximum(np.maximum(near - edges[i + 1], edges[i] - far), 0.0))
            there = _density(np.maximum(np.maximum(near - edges[ends + 1], edges[ends] - far), 0.0))
        here, there = (np.zeros_like(here) if first else here), np.where(last, 0.0, there)
        found = np.zeros(len(ends))
        for s, u in ((0.0, 0.0), (before, 0.0), (0.0, after), (before, after)):
            top = np.minimum(hit + error + s * here + u * there, 1.0)
            below = inside + s * self.floor[i] + u * self.floor[ends]
            with np.errstate(divide="ignore", invalid="ignore"):
                np.maximum(found, np.where(top > 0, top / below, 0.0), out=found)
        return found

    def ratios_below(self) -> FloatArray:
        """Bound e^ℓ of the cell from edge i (row) to edge j (column), from below."""
        size = len(self.edges)
        found = np.zeros((size, size))
        for i in range(size - 1):
            ends = self.edges[i + 1 :]
            with np.errstate(invalid="ignore"):
                middle = np.full_like(ends, -math.inf) if i == 0 else (self.edges[i] + ends) / 2
            secret = self._nearest(middle)
            hit, error = _hit(self.edges[i], ends, secret, secret)
            mass = np.cumsum(self.most[i:]) * (1 + MARGIN)
            with np.errstate(divide="ignore", invalid="ignore"):
                found[i, i + 1 :] = np.where(mass > 0, np.maximum(hit - error, 0.0) / mass, 0.0)
        found[0, -1] = 1.0
        return found * (1 - 100 * MARGIN)

    def _nearest(self, middle: FloatArray) -> FloatArray:
        piece = self.shown
        k = np.searchsorted(piece.left, middle, side="right").clip(1, len(piece.left)) - 1
        return np.clip(middle, piece.low[k], piece.high[k])


def _hit(
    begin: float | FloatArray, end: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """sup over x in [low, high] of P{begin < x + N < end} in floats, and the error it may have."""
    from scipy.special import ndtr

    with np.errstate(invalid="ignore"):
        middle = (begin + end) / 2
    middle = np.where(np.isnan(middle), 0.0, middle)
    x = np.clip(middle, low, high)
    sure = np.isinf(x)
    at = np.where(sure, 0.0, x)
    u, v = begin - at, end - at
    right = u > 0
    near, far = ndtr(np.where(right, -u, v)), ndtr(np.where(right, -v, u))
    error = np.where(sure | (u >= v), 0.0, 2 * MARGIN * (near + far))
    return np.where(sure, 1.0, np.maximum(near - far, 0.0)), error


def _density(distance: FloatArray) -> FloatArray:
    found: FloatArray = np.exp(-(np.asarray(distance) ** 2) / 2) / _ROOT
    return found


def bracket_intervals(release: AdditiveNoise, delta: Fraction, cells: int) -> tuple[float, float]:
    """Bracket ε(δ) against interval post-processing, in nats, for a secret that is not constant, δ from 1e-9 on.

    >>> from tightlip.noise import Gaussian
    >>> low, high = bracket_intervals(AdditiveNoise(UniformSecret(-1, 1), Gaussian(1)), Fraction(1, 2), 20)
    >>> 0.84 < low < high < 0.9
    True
    """
    gaps = lay_gaps(release, _OUTER * float(delta), min(_PER_CELL * cells, _MOST_GAPS))
    below, above = gaps.ratios_below(), gaps.ratios_above()
    low = _bisect(lambda t: _most_reached(gaps, below, t) >= delta)
    high = _bisect(lambda t: _most_touched(gaps, above, t) >= delta, low[0])
    lower = log_bounds(Fraction(low[0]))[0]
    return max(lower, 0.0), math.inf if math.isinf(high[1]) else max(log_bounds(Fraction(high[1]))[1], 0.0)


def _bisect(reached: Callable[[float], bool], start: float = 1.0) -> tuple[float, float]:
    """The largest ratio that was reached, and the smallest that was not; every probe is a proof of its own."""
    low, high = start, 2 * start
    if not reached(start):
        return (1.0, start)
    while reached(high):
        low, high = high, 2 * high
        if high > _LARGEST:
            return low, math.inf
    while high > low * (1 + _FINE):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if reached(middle) else (low, middle)
    return low, high


def _most_reached(gaps: Gaps, ratios: FloatArray, ratio: float) -> float:
    """The most mass of disjoint cells between edges that leak log ratio or more, rounded down; 1 for all of Y."""
    total = np.insert(np.cumsum(gaps.least), 0, 0.0)
    best, covered = np.zeros(len(total)), np.zeros(len(total), dtype=bool)
    covered[0] = True
    for i in range(len(total) - 1):
        if i:
            best[i] = max(best[i], best[i - 1])
        ends = i + 1 + np.flatnonzero(ratios[i, i + 1 :] >= ratio)
        best[ends] = np.maximum(best[ends], best[i] + total[ends] - total[i])
        covered[ends] |= covered[i]
    return 1.0 if covered[-1] else float(max(best[-1], best[-2])) - _SUMS


def _most_touched(gaps: Gaps, ratios: FloatArray, ratio: float) -> float:
    """The most mass of gaps that cells with ratios of this or more can touch, rounded up."""
    total = np.insert(np.cumsum(gaps.most), 0, 0.0)
    touched = np.zeros(len(gaps.most))
    before = 0.0
    for i in range(len(touched)):
        start = max(before, touched[i] - gaps.most[i])
        ends = i + np.flatnonzero(ratios[i, i:] >= ratio)
        touched[ends] = np.maximum(touched[ends], start + total[ends + 1] - total[i])
        before = max(before, touched[i])
    return float(before) * (1 + MARGIN) + _SUMS


def lay_gaps(release: AdditiveNoise, outer: float, size: int) -> Gaps:
    """Lay a grid over Y, with about this mass in each outer gap, and bound its law."""
    secret, width = release.secret, Fraction(release.noise.width)
    if isinstance(secret, DistributionSecret):
        return _distribution_gaps(secret, width, outer, size)
    if isinstance(secret, UniformSecret):
        span = (Fraction(secret.high) - Fraction(secret.low)) / width
        edges = _edges(np.array([0.0]), np.array([float(span)]), np.array([1.0]), outer, size)
        piece = Pieces.interval(0.0, float(span))
        return Gaps(edges, *_uniform_law(edges, span), piece, piece)
    parts = components(secret, width)
    start = min(mean for _, mean, _ in parts)
    weights = np.array([float(weight) for weight, _, _ in parts])
    means = np.array([float(mean - start) for _, mean, _ in parts])
    spreads = np.sqrt(np.array([float(1 + variance) for _, _, variance in parts]))
    edges = _edges(means, means, spreads, outer, size)
    law = _mixture_law(edges, (weights, weights), (means, means), spreads)
    whole = not isinstance(secret, DiscreteSecret)
    pieces = Pieces.interval(-math.inf, math.inf) if whole else Pieces.atoms(means)
    return Gaps(edges, *law, pieces, pieces)


def _edges(low: FloatArray, high: FloatArray, spreads: FloatArray, outer: float, size: int) -> FloatArray:
    from scipy.special import ndtri

    reach = -float(ndtri(outer))
    ends = float((low - reach * spreads).min()), float((high + reach * spreads).max())
    return np.concatenate([[-math.inf], np.linspace(*ends, size), [math.inf]])


_Law = tuple[FloatArray, FloatArray, FloatArray]


def _mixture_law(
    edges: FloatArray,
    masses: tuple[FloatArray, FloatArray],
    places: tuple[FloatArray, FloatArray],
    spreads: FloatArray,
) -> _Law:
    """Masses and smallest densities of Σ p_k N(μ_k, s_k²), with bounds of every p_k and μ_k."""
    size = len(edges) - 1
    below, above, floor = np.zeros(size), np.zeros(size), np.zeros(size)
    for p, q, low, high, s in zip(*masses, *places, spreads, strict=True):
        begin, end = edges[:-1] / s, edges[1:] / s
        ends = [np.full(size, mean / s) for mean in (low, high)]
        least, error = _hit(begin, end, ends[0], ends[0])
        if low < high:
            other, slip = _hit(begin, end, ends[1], ends[1])
            least, error = np.minimum(least, other), np.maximum(error, slip)
        below += p * np.maximum(least - error, 0.0)
        top, error = _hit(begin, end, *ends)
        above += q * (top + error)
        floor += p * _density(np.maximum(end - low / s, high / s - begin)) / s
    return below * (1 - MARGIN), above * (1 + MARGIN), floor * (1 - 100 * MARGIN)


def _uniform_law(edges: FloatArray, span: Fraction) -> _Law:
    """The same for a secret that is uniform on [0, span], by balls; f_Y has one peak."""
    from flint import ctx

    with ctx.workprec(_BITS):
        length, one = ball(span), ball(1)
        places = [ball(edge) for edge in edges[1:-1].tolist()]

        def right(y: Ball) -> Ball:
            return (normal_excess(y - length, one) - normal_excess(y, one)) / length

        half = float(span) / 2
        tails = [right(y) if y > half else right(length - y) for y in places]
        masses = [tails[0]]
        for a, b, near, far in zip(places, places[1:], tails, tails[1:], strict=False):
            masses.append(near - far if a > half else far - near if not b > half else 1 - near - far)
        masses.append(tails[-1])
        heights = [round_down(normal_mass(y - length, y, one) / length) for y in places]
        least = np.array([max(round_down(mass), 0.0) for mass in masses])
        most = np.array([round_up(mass) for mass in masses])
    inner = np.maximum(np.minimum(heights[1:], heights[:-1]), 0.0)
    return least, most, np.concatenate([[0.0], inner, [0.0]])


def _distribution_gaps(secret: DistributionSecret, width: Fraction, outer: float, size: int) -> Gaps:
    """The same for a scipy distribution, from bounds of its masses in parts."""
    law = secret.distribution
    masses = TailMasses.of(law, secret.cdf_error)
    start = Fraction(masses.median)
    ends = [max(float(law.ppf(outer / 4)), masses.low), min(float(law.isf(outer / 4)), masses.high)]
    cuts = np.linspace(ends[0], ends[1], _PARTS * size + 1)
    cuts = np.unique(np.concatenate([[masses.low, masses.median, masses.high], cuts]))
    with quiet():
        least, most = (np.exp(logs) for logs in masses.of_cells(cuts, *masses.log_tails(cuts)))
    places = np.array([_place(x, start, width) for x in cuts.tolist()])
    inner = np.array([_place(end, start, width) for end in ends])
    edges = _edges(inner, inner, np.ones(2), outer / 4, size)
    law_of_y = _mixture_law(edges, (least, most), (places[:-1], places[1:]), np.ones(len(least)))
    targets = np.append(np.linspace(ends[0], ends[1], _SUSPECTS), [masses.low, masses.high])
    shown = {support_point_near(law, float(target)) for target in targets.tolist()}
    points = np.array(sorted(_place(x, start, width) for x in shown))
    return Gaps(edges, *law_of_y, Pieces.atoms(points), Pieces.interval(places[0], places[-1]))


def _place(x: float, start: Fraction, width: Fraction) -> float:
    return x if math.isinf(x) else float((Fraction(x) - start) / width)
