"""E[g(X)] enclosed from the distribution function of X alone: a Riemann–Stieltjes bracket.

g ≥ 0 rises up to its peak and falls beyond it. With the peak on the grid, g is monotone on every
cell [a, b], so

    Σ min(g(a), g(b)) P(cell)  ≤  E g(X)  ≤  Σ max(g(a), g(b)) P(cell),

whatever the density does. Cells with the widest contribution are halved until the bracket is
narrow. Everything is kept as logarithms, so that nothing underflows far out in a tail.

P(cell) comes from scipy's cdf and sf with a stated error (`TailMasses`). Left of the median the mass of (a, b] is
cdf(b) − cdf(a), right of it sf(a) − sf(b), so that small masses keep their relative accuracy.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from tightlip.errors import NumericalFailure
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import UNIT

# small tails of these were compared with ball arithmetic: relative errors below 1e-12 down to 1e-290
_ACCURATE_TAILS = frozenset({"norm", "laplace", "logistic", "expon", "gamma", "chi2", "beta", "t"})
_ABSOLUTE_ERROR = 2.0**-50  # elsewhere scipy may form a small tail as 1 − (1 − tail)
_SMALLEST_LOG = -700.0  # below about here a double loses digits or reads 0, and so does its logarithm
LogBounds = Callable[[FloatArray], tuple[FloatArray, FloatArray]]

_TAIL_LEVELS = tuple(10.0**-k for k in (300, 200, 100, 50, 30, 20, 15, 12, 10, 8, 7, 6, 5, 4, 3, 2))
_BODY_LEVELS = tuple(k / 40 for k in range(1, 40))
_STEPS = tuple(2.0**k for k in range(-2, 8))
_SPLIT_SHARE = 0.8
MAX_POINTS = 1 << 16


@contextmanager
def quiet() -> Iterator[None]:
    """Silence overflow and division warnings: infinities are meant, and checked, here."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


@dataclass(frozen=True, slots=True)
class TailMasses:
    """The tails of one distribution, with the error they may have.

    Parameters
    ----------
    distribution : frozen scipy.stats distribution
    low, high : ends of its support
    median : where cdf hands over to sf
    relative, absolute : errors of cdf and sf
    """

    distribution: Any
    low: float
    high: float
    median: float
    relative: float
    absolute: float

    @classmethod
    def of(cls, distribution: Any, relative: float) -> TailMasses:
        """Read the ends and the median, and how far the tails can be trusted.

        >>> from scipy.stats import norm, pareto
        >>> TailMasses.of(norm(0, 1), 1e-11).absolute, TailMasses.of(pareto(2), 1e-11).absolute > 0
        (0.0, True)
        """
        low, high = (float(end) for end in distribution.support())
        absolute = 0.0 if distribution.dist.name in _ACCURATE_TAILS else _ABSOLUTE_ERROR
        return cls(distribution, low, high, float(distribution.median()), relative, absolute)

    def log_tails(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bounds of log P{X ≤ x} left of the median, of log P{X > x} right of it."""
        left = points <= self.median
        logs = np.empty_like(points)
        logs[left] = self.distribution.logcdf(points[left])
        logs[~left] = self.distribution.logsf(points[~left])
        error = self.relative * 2 + 16 * UNIT * np.where(np.isinf(logs), 0.0, np.abs(logs))
        direct_left, direct_right = self._direct_logs()
        floor = np.where(np.where(left, direct_left, direct_right), -math.inf, _SMALLEST_LOG)
        below = np.where(logs < floor, -math.inf, logs - error)
        above = np.maximum(logs + error, floor)
        if self.absolute:
            below, above = _minus(below, self.absolute), np.logaddexp(above, math.log(self.absolute))
        outside = np.where(left, points <= self.low, points >= self.high)
        return np.where(outside, -math.inf, below), np.where(outside, -math.inf, np.minimum(above, 0.0))

    def of_cells(
        self, points: FloatArray, below: FloatArray, above: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Bounds of log P{a < X ≤ b} for neighbouring points, the median being one of them."""
        left = points[1:] <= self.median
        at_median = points[:-1] == self.median
        inner_low, inner_high = np.where(left, below[1:], below[:-1]), np.where(left, above[1:], above[:-1])
        outer_low, outer_high = np.where(left, below[:-1], below[1:]), np.where(left, above[:-1], above[1:])
        # points[:-1] at the median carry a cdf value; the cell to the right needs 1 − cdf
        inner_low = np.where(at_median, _complement(above[:-1], -1), inner_low)
        inner_high = np.where(at_median, _complement(below[:-1], +1), inner_high)
        return _difference(inner_low, outer_high, -1), _difference(inner_high, outer_low, +1)

    def _direct_logs(self) -> tuple[bool, bool]:
        """Whether logcdf and logsf have formulas of their own, so that they cannot underflow."""
        from scipy.stats import rv_continuous

        kind = type(self.distribution.dist)
        return kind._logcdf is not rv_continuous._logcdf, kind._logsf is not rv_continuous._logsf


def _difference(inner: FloatArray, outer: FloatArray, direction: int) -> FloatArray:
    """Compute log(e^inner − e^outer), moved outward; −∞ where nothing is left."""
    rest = np.log(-np.expm1(np.minimum(outer - inner, 0.0)))
    total = inner + rest
    moved = total + direction * 8 * UNIT * (np.abs(inner) + np.abs(rest) + 1)
    return np.where((outer >= inner) | np.isinf(total), -math.inf, moved)


def _complement(logs: FloatArray, direction: int) -> FloatArray:
    return np.log1p(-np.exp(logs)) + direction * 16 * UNIT


def _minus(logs: FloatArray, amount: float) -> FloatArray:
    left = np.exp(logs) * (1 - 4 * UNIT) - amount
    return np.where(left > 0, np.log(np.maximum(left, 5e-324)) - 4 * UNIT, -math.inf)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function g of the secret, by its logarithm.

    Parameters
    ----------
    log_bounds : lower and upper bounds of log g at an array of points, infinities included
    peak : where g is largest; ±∞ for a monotone g
    width : the distance over which g changes, to place the first points
    """

    log_bounds: LogBounds
    peak: float
    width: float


@dataclass(frozen=True, slots=True)
class Bracket:
    """lower ≤ log E g(X) ≤ upper, found with `points` grid points."""

    lower: float
    upper: float
    points: int


def bracket_method(width: float, tolerance: float, points: int | None = None) -> str:
    """Name the method, and say so where the bracket is wider than was asked.

    >>> bracket_method(1e-5, 1e-4, 900)
    'Riemann–Stieltjes bracket with 900 points'
    >>> bracket_method(1.5e-5, 1e-7)
    'Riemann–Stieltjes bracket; 1.5e-05 nats wide, not 1e-07: as narrow as 65536 points and cdf_error allow'
    """
    text = "Riemann–Stieltjes bracket" + ("" if points is None else f" with {points} points")
    if width <= tolerance * (1 + 1e-9):
        return text
    return f"{text}; {width:.1e} nats wide, not {tolerance:.3g}: as narrow as {MAX_POINTS} points and cdf_error allow"


def log_expectation(
    distribution: Any,
    kernel: Kernel,
    *,
    cdf_error: float = 1e-11,
    tolerance: float = 1e-4,
    max_points: int = MAX_POINTS,
) -> Bracket:
    """Enclose log E[g(X)] for a frozen continuous scipy.stats distribution and a unimodal g ≥ 0.

    Parameters
    ----------
    distribution : frozen scipy.stats distribution of X
    kernel : g
    cdf_error : relative error that scipy's cdf and sf may have
    tolerance : stop when upper − lower is at most this
    max_points : stop at about this many points, with whatever interval is proved by then

    Returns
    -------
    Bracket, in nats; it always holds, only its width depends on the limits. The error of the cdf counts
    once per cell: widths below about 1e-5 need a smaller cdf_error.

    >>> from scipy.stats import uniform
    >>> square = Kernel(lambda x: (2 * np.log(x) - 1e-12, 2 * np.log(x) + 1e-12), peak=1.0, width=1.0)
    >>> found = log_expectation(uniform(0, 1), square)
    >>> found.lower <= math.log(1 / 3) <= found.upper
    True
    """
    masses = TailMasses.of(distribution, cdf_error)
    with quiet():
        grid = _Grid.over(kernel, masses, _first_points(distribution, kernel, masses))
        while True:
            cells = grid.cells()
            bracket = cells.bracket(len(grid.points))
            if bracket.upper - bracket.lower <= tolerance or bracket.points >= max_points:
                return bracket
            new = cells.middles(grid.points, kernel.width, tolerance)
            if not new.size:
                return bracket
            grid = grid.with_points(new)


def support_point_near(distribution: Any, target: float) -> float:
    """Find a point that is surely in the support of X, as near to the target as can be shown.

    Shown by a positive density, or by being a quantile: scipy's `support()` is only the interval
    around the support, which may have gaps.

    >>> from scipy.stats import beta
    >>> 0 < support_point_near(beta(2, 2), 0.0) < 1e-6
    True
    """
    low, high = distribution.support()
    middle = float(distribution.median())
    target = min(max(target, low), high)
    if math.isinf(target):
        return target
    steps = np.array([0.0, 2.0**-40, -(2.0**-40), 2.0**-24, -(2.0**-24)])
    nearby = target + steps * max(abs(target - middle), abs(target), abs(middle))
    with quiet():
        nearby = nearby[(nearby >= low) & (nearby <= high)]
        shown = nearby[distribution.logpdf(nearby) > -math.inf]
        level = float(distribution.cdf(target))
        edges = distribution.ppf([level, math.nextafter(level, 0.0), math.nextafter(level, 1.0)])
        edges = edges[np.isfinite(edges) & (0 < level < 1)]  # where a gap around the target ends
        candidates = np.concatenate([shown, edges, _quantiles(distribution)])
    return float(candidates[np.argmin(np.abs(candidates - target))])


def _quantiles(distribution: Any) -> FloatArray:
    tail = np.array(_TAIL_LEVELS)
    found = np.concatenate(
        [distribution.ppf(tail), distribution.ppf(np.array(_BODY_LEVELS)), distribution.isf(tail)]
    )
    return np.asarray(found[np.isfinite(found)], dtype=np.float64)


def _first_points(distribution: Any, kernel: Kernel, masses: TailMasses) -> FloatArray:
    low, high, middle = masses.low, masses.high, masses.median
    centre = kernel.peak if math.isfinite(kernel.peak) else middle
    steps = np.array(_STEPS) * kernel.width
    ends = np.array([low, high, middle, centre, kernel.peak])
    points = np.concatenate([ends, centre - steps, centre + steps, _quantiles(distribution)])
    return np.unique(np.clip(points, low, high))


@dataclass(frozen=True, slots=True)
class _Cells:
    """Logarithms of each cell's smallest and largest contribution to E g, and of g's largest ratio in it."""

    lower: FloatArray
    upper: FloatArray
    ratio: FloatArray

    def bracket(self, points: int) -> Bracket:
        slack = 8 * UNIT * (len(self.lower) + 4)  # a float sum of n terms, exp and log
        lower, upper = _log_sum(self.lower), _log_sum(self.upper)
        lower -= slack + 4 * UNIT * abs(lower)
        upper += slack + 4 * UNIT * abs(upper)
        return Bracket(lower, upper, points)

    def middles(self, points: FloatArray, width: float, tolerance: float) -> FloatArray:
        """New points inside the cells where g varies most; none when only the error of the cdf is left."""
        a, b = points[:-1], points[1:]
        inside = np.where(np.isinf(a), b - np.maximum(width, np.abs(b)), (a + b) / 2)
        inside = np.where(np.isinf(b), a + np.maximum(width, np.abs(a)), inside)
        shares = np.exp(self.upper - float(self.upper.max()))
        gap = shares * -np.expm1(-self.ratio)
        gap[~((inside > a) & (inside < b))] = 0.0
        if float(gap.sum()) <= tolerance / 20 * float(shares.sum()):
            return np.empty(0)
        order = np.argsort(-gap)
        wanted = _SPLIT_SHARE * float(gap.sum())
        count = 1 + int(np.searchsorted(np.cumsum(gap[order]), wanted))
        chosen = order[:count]
        return np.sort(inside[chosen[gap[chosen] > 0]])


@dataclass(frozen=True, slots=True)
class _Grid:
    """Points with bounds of log g and of the masses to their left and right."""

    kernel: Kernel
    masses: TailMasses
    points: FloatArray
    values: FloatArray  # rows: log g below and above, log tail mass below and above

    @classmethod
    def over(cls, kernel: Kernel, masses: TailMasses, points: FloatArray) -> _Grid:
        return cls(kernel, masses, points, _evaluate(kernel, masses, points))

    def with_points(self, new: FloatArray) -> _Grid:
        places = np.searchsorted(self.points, new)
        values = np.insert(self.values, places, _evaluate(self.kernel, self.masses, new), axis=1)
        return _Grid(self.kernel, self.masses, np.insert(self.points, places, new), values)

    def cells(self) -> _Cells:
        low, high = self.values[0], self.values[1]
        mass_low, mass_high = self.masses.of_cells(self.points, self.values[2], self.values[3])
        least, most = np.minimum(low[:-1], low[1:]), np.maximum(high[:-1], high[1:])
        ratio = np.where(most == least, 0.0, most - least)
        return _Cells(_add(least, mass_low, -1), _add(most, mass_high, +1), ratio)


def _evaluate(kernel: Kernel, masses: TailMasses, points: FloatArray) -> FloatArray:
    values = np.stack([*kernel.log_bounds(points), *masses.log_tails(points)])
    if np.isnan(values).any():
        at = float(points[np.isnan(values).any(axis=0)][0])
        raise NumericalFailure(
            f"kernel and cdf must be numbers, got nan at x={at!r}; check the distribution."
        )
    return values


def _add(logs: FloatArray, masses: FloatArray, direction: int) -> FloatArray:
    total = logs + masses
    return np.where(np.isinf(total), -math.inf, total + direction * 2 * UNIT * (np.abs(total)))


def _log_sum(logs: FloatArray) -> float:
    top = float(logs.max())
    return top + math.log(math.fsum(np.exp(logs - top).tolist())) if top > -math.inf else top
