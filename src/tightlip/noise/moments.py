"""Exponential moments of data: the cumulant generating function and its one-sided forms.

K(t) = log E e^{t(X − μ)},  μ = E X
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tightlip.certificate.recomputation import CUMULANT, certify_by_recomputation
from tightlip.errors import PreconditionFailed
from tightlip.model.noise import require_secret
from tightlip.model.secret import (
    BoundedSecret,
    DiscreteSecret,
    DistributionSecret,
    GaussianSecret,
    Secret,
    UniformSecret,
)
from tightlip.numeric.ball import Ball, ball, enclose
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.quantity import Bound
from tightlip.numeric.real import Real, real
from tightlip.numeric.rounding import UNIT, down, up
from tightlip.numeric.stieltjes import Kernel, bracket_method, log_expectation

_SLACK = 16 * UNIT
Interval = tuple[float, float]


def cumulant(data: Secret, t: Real, *, tolerance: float = 1e-4) -> Bound:
    """The cumulant generating function K(t) = log E e^{t(X − μ)} of the data, in nats.

    Never negative (Jensen). Gaussian: σ²t²/2. Uniform: log(sinh(w)/w), w = t(d − c)/2. For a
    BoundedSecret from 0 to t²(d − c)²/8 (Hoeffding's lemma).

    Parameters
    ----------
    data : the distribution of one value
    t : a real number
    tolerance : width asked of each expectation for a DistributionSecret, in nats

    Returns
    -------
    Bound in nats.

    Raises
    ------
    WrongType, InvalidInput
        When data is not a secret or t is not a finite number.
    PreconditionFailed
        For a DistributionSecret with unbounded support, where K may not exist.

    Reference: PMC paper, Example 5 (the K of its (13) and (14)).

    >>> round(cumulant(UniformSecret(-1, 1), 1.0), 9)
    0.161439362
    """
    require_secret(data, "data")
    found = _cumulant(data, Fraction(real(t, "t")), tolerance)
    return certify_by_recomputation(CUMULANT, found, data=data, t=t, tolerance=tolerance)


def _cumulant(data: Secret, rate: Fraction, tolerance: float) -> Bound:
    if rate == 0:
        return Bound(0.0, 0.0, "closed form, ball arithmetic")
    if isinstance(data, DistributionSecret):
        return _bracketed_cumulant(data, rate, tolerance)
    if isinstance(data, BoundedSecret):
        square = (rate * _length(data)) ** 2 / 8
        return Bound(
            0.0, enclose(lambda: ball(square))[1], "Hoeffding's lemma, every distribution on the range"
        )
    lower, upper = enclose(lambda: _closed_cumulant(data, rate))
    return Bound(max(lower, 0.0), max(upper, 0.0), "closed form, ball arithmetic")


def log_moment(
    data: UniformSecret | DiscreteSecret | BoundedSecret | DistributionSecret,
    rate: Fraction,
    tolerance: float,
) -> Interval:
    """Enclose log E e^{rate·(X − e)} with e the low end for rate > 0, the high end for rate < 0.

    The exponent is never negative, and neither is the result.

    >>> log_moment(UniformSecret(0, 1), Fraction(1), 1e-4)[1] > 0.5413
    True
    """
    low, high = (Fraction(end) for end in data.support)
    end = low if rate > 0 else high
    if isinstance(data, DistributionSecret):
        kernel = _exponential(float(rate), float(end), low, high)
        found = log_expectation(data.distribution, kernel, cdf_error=data.cdf_error, tolerance=tolerance)
        return max(found.lower, 0.0), max(found.upper, 0.0)
    if isinstance(data, BoundedSecret):
        return 0.0, enclose(lambda: ball(abs(rate) * (high - low)))[1]
    if isinstance(data, UniformSecret):
        w = abs(rate) * (high - low)
        return enclose(lambda: (ball(w).expm1() / ball(w)).log())
    atoms = data.atoms
    return enclose(lambda: _moment(atoms, rate, end).log())


def _closed_cumulant(data: GaussianSecret | UniformSecret | DiscreteSecret, rate: Fraction) -> Ball:
    if isinstance(data, GaussianSecret):
        return ball((rate * Fraction(data.sigma)) ** 2 / 2)
    if isinstance(data, UniformSecret):
        w = ball(abs(rate) * _length(data) / 2)
        return (w.sinh() / w).log()
    atoms = data.atoms
    mean = sum((x * mass for x, mass in atoms), Fraction(0))
    return _moment(atoms, rate, mean).log()


def _moment(atoms: Sequence[tuple[Fraction, Fraction]], rate: Fraction, centre: Fraction) -> Ball:
    total = ball(0)
    for x, mass in atoms:
        total += ball(mass) * ball(rate * (x - centre)).exp()
    return total


def _bracketed_cumulant(data: DistributionSecret, rate: Fraction, tolerance: float) -> Bound:
    low, high = data.support
    if math.isinf(low) or math.isinf(high):
        raise PreconditionFailed(
            f"data must be bounded, got support [{float(low)!r}, {float(high)!r}]; "
            "use GaussianSecret for normal data, or truncate the distribution."
        )
    moment = log_moment(data, rate, tolerance)
    distance = _mean_distance(data, rate, tolerance)
    drift = sorted(float(abs(rate)) * end for end in distance)
    lower, upper = max(down(moment[0] - drift[1], 4), 0.0), max(up(moment[1] - drift[0], 4), 0.0)
    asked = tolerance * (
        1 + drift[1]
    )  # a relative width of the mean's distance, an absolute one of the moment
    return Bound(lower, upper, bracket_method(upper - lower, asked))


def _mean_distance(data: DistributionSecret, rate: Fraction, tolerance: float) -> Interval:
    """Enclose |μ − e|, e as in `log_moment`."""
    low, high = (float(end) for end in data.support)
    end, other = (low, high) if rate > 0 else (high, low)

    def log_bounds(points: FloatArray) -> tuple[FloatArray, FloatArray]:
        logs = np.log(np.abs(points - end))
        error = _SLACK * (1 + np.where(np.isinf(logs), 0.0, np.abs(logs)))
        return logs - error, logs + error

    kernel = Kernel(log_bounds, peak=other, width=high - low)
    found = log_expectation(data.distribution, kernel, cdf_error=data.cdf_error, tolerance=tolerance)
    return down(math.exp(found.lower), 8), up(math.exp(found.upper), 8)


def _exponential(rate: float, end: float, low: Real, high: Real) -> Kernel:
    def log_bounds(points: FloatArray) -> tuple[FloatArray, FloatArray]:
        exponents = np.abs(points - end) * abs(rate)
        return exponents * (1 - _SLACK), exponents * (1 + _SLACK)

    peak = float(high if rate > 0 else low)
    return Kernel(log_bounds, peak=peak, width=float(high - low) / 8)


def _length(data: UniformSecret | BoundedSecret) -> Fraction:
    return Fraction(data.high) - Fraction(data.low)
