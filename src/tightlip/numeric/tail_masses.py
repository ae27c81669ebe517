"""How much probability lies in each cell of a grid, from scipy's cdf and sf with a stated error.

Left of the median the mass of (a, b] is cdf(b) − cdf(a), right of it sf(a) − sf(b), so that small
masses keep their relative accuracy. All values are logarithms.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import UNIT

# small tails of these were compared with ball arithmetic: relative errors below 1e-12 down to 1e-290
_ACCURATE_TAILS = frozenset({"norm", "laplace", "logistic", "expon", "gamma", "chi2", "beta", "t"})
_ABSOLUTE_ERROR = 2.0**-50  # elsewhere scipy may form a small tail as 1 − (1 − tail)
_SMALLEST_LOG = -700.0  # below about here a double loses digits or reads 0, and so does its logarithm


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
    """log(e^inner − e^outer), moved outward; −∞ where nothing is left."""
    rest = np.log(-np.expm1(np.minimum(outer - inner, 0.0)))
    total = inner + rest
    moved = total + direction * 8 * UNIT * (np.abs(inner) + np.abs(rest) + 1)
    return np.where((outer >= inner) | np.isinf(total), -math.inf, moved)


def _complement(logs: FloatArray, direction: int) -> FloatArray:
    return np.log1p(-np.exp(logs)) + direction * 16 * UNIT


def _minus(logs: FloatArray, amount: float) -> FloatArray:
    left = np.exp(logs) * (1 - 4 * UNIT) - amount
    return np.where(left > 0, np.log(np.maximum(left, 5e-324)) - 4 * UNIT, -math.inf)
