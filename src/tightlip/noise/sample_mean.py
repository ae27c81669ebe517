"""The worst pointwise maximal cost of Laplace noise: on one value, and on the mean of n values.

For independent, equally distributed values with essential range [c, d] and Y = mean + Laplace(b),

    sup_y PMC(X_i → y) = max{ log E e^{(X−c)/(nb)}, log E e^{(d−X)/(nb)} }  ≤  (d − c)/(nb).

Why. Given X_i = x, f(y|x) changes by at most a factor e^{|x−x'|/(nb)} between x and x', so
f_Y(y)/f(y|x) ≤ E e^{|X−x|/(nb)}. That is convex in x, hence largest at c or d, which gives the two
terms. They are reached at every y ≥ d and every y ≤ c.

They are one-sided forms of the cumulant generating function of the data, K(t) = log E e^{t(X − μ)}, μ = E X.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tightlip.arguments import whole
from tightlip.certificate.recomputation import (
    CUMULANT,
    LAPLACE_MEAN,
    NOISE_WORST_PMC,
    certify_by_recomputation,
)
from tightlip.errors import PreconditionFailed
from tightlip.model.noise import AdditiveNoise, Gaussian, Laplace, require_secret
from tightlip.model.secret import (
    BoundedSecret,
    DiscreteSecret,
    DistributionSecret,
    GaussianMixture,
    GaussianSecret,
    Secret,
    UniformSecret,
    as_gaussian,
)
from tightlip.noise.pointwise import infinite, read_tolerance, require_reach, require_release
from tightlip.numeric.ball import Ball, ball, enclose
from tightlip.numeric.parse import FloatArray, Real, real
from tightlip.numeric.quantity import Bound
from tightlip.numeric.rounding import UNIT, down, up
from tightlip.numeric.stieltjes import Kernel, bracket_method, log_expectation, support_point_near

BoundedData = UniformSecret | DiscreteSecret | BoundedSecret | DistributionSecret

_METHODS = {
    UniformSecret: "closed form, ball arithmetic",
    DiscreteSecret: "finite mixture, ball arithmetic",
    BoundedSecret: "range over every distribution on [low, high]",
}
_UNBOUNDED = "the data are unbounded, so the noise hides no value far out"
_SLACK = 16 * UNIT
Interval = tuple[float, float]


def laplace_mean_pmc(data: Secret, n: int, scale: Real, *, tolerance: float = 1e-4) -> Bound:
    """Worst pointwise maximal cost, over all outcomes, of one of n values whose noisy mean is released.

    max{(μ−c)/(nb) + K(1/nb), (d−μ)/(nb) + K(−1/nb)} with K the cumulant generating function, which is
    max{log E e^{(X−c)/(nb)}, log E e^{(d−X)/(nb)}}.

    Parameters
    ----------
    data : distribution of one value; its support must be the essential range [c, d] (the paper's
        footnote 3), otherwise the result is an upper bound only
    n : number of independent values in the mean
    scale : scale b of the Laplace noise on the mean
    tolerance : width asked of the interval for a DistributionSecret, in nats; `method` says where it is wider,
        which below about 1e-5 it is

    Returns
    -------
    Bound in nats; infinite for unbounded data; for a BoundedSecret from 0 to (d − c)/(nb), the range
    over every distribution.

    Raises
    ------
    WrongType, InvalidInput
        When n is not a positive integer, scale is not positive, or data is not a secret.

    Reference: PMC paper, Example 5, (12)–(14).

    >>> round(laplace_mean_pmc(UniformSecret(0, 1), 2, 0.5), 10)
    0.5413248546
    >>> round(laplace_mean_pmc(DiscreteSecret([0, 1], ["0.7", "0.3"]), 2, 0.5), 10)
    0.7897280436
    """
    require_secret(data, "data")
    release = AdditiveNoise(data, Laplace(scale))
    count = whole(n, "n", 1, remedy="it counts the values in the mean")
    if isinstance(data, (GaussianSecret, GaussianMixture)) or any(math.isinf(end) for end in data.support):
        found = infinite(_UNBOUNDED)
    else:
        require_reach(release)
        rate = 1 / (count * Fraction(release.noise.width))
        found = _worst_end(data, rate, read_tolerance(tolerance))
    return certify_by_recomputation(LAPLACE_MEAN, found, data=data, n=n, scale=scale, tolerance=tolerance)


def pmc_supremum(release: AdditiveNoise, *, tolerance: float = 1e-4) -> Bound:
    """Bound the largest pointwise maximal cost over all outcomes, in nats.

    0 for a constant secret; infinite for Gaussian noise on any other secret, since PMC(y) grows
    without limit in y, and for unbounded secrets; for Laplace noise on [c, d] the value of
    `laplace_mean_pmc` with n = 1.

    Parameters
    ----------
    release : secret and noise
    tolerance : width asked of the interval for a DistributionSecret, in nats

    Returns
    -------
    Bound in nats. For Gaussian noise on a BoundedSecret from 0 (a constant) to infinity.

    Raises
    ------
    WrongType, InvalidInput
        When an argument cannot be used.

    Reference: PMC paper, Examples 5 and 6.

    >>> pmc_supremum(AdditiveNoise(UniformSecret(0, 1), Gaussian(1)))
    inf nats (at least inf, by infinite: with Gaussian noise PMC(y) grows without limit in |y|)
    """
    require_release(release)
    return certify_by_recomputation(
        NOISE_WORST_PMC, _supremum(release, tolerance), release=release, tolerance=tolerance
    )


def _supremum(release: AdditiveNoise, tolerance: float) -> Bound:
    secret = release.secret
    low, high = secret.support
    if low == high:
        return Bound(0.0, 0.0, "constant secret")
    if isinstance(release.noise, Gaussian):
        why = "with Gaussian noise PMC(y) grows without limit in |y|"
        if isinstance(secret, BoundedSecret):
            return Bound(0.0, math.inf, f"infinite: {why}, unless the secret is constant")
        return infinite(why)
    return laplace_mean_pmc(secret, 1, release.noise.scale, tolerance=tolerance)


def _worst_end(data: BoundedData, rate: Fraction, tolerance: float) -> Bound:
    low, high = data.support
    if low == high:
        return Bound(0.0, 0.0, "constant secret")
    upward, downward = log_moment(data, rate, tolerance), log_moment(data, -rate, tolerance)
    upper = max(upward[1], downward[1])
    lower = max(upward[0] - _gap(data, low, rate), downward[0] - _gap(data, high, rate))
    lower = max(lower, 0.0)
    if isinstance(data, DistributionSecret):
        return Bound(lower, upper, bracket_method(upper - lower, tolerance))
    return Bound(lower, upper, _METHODS[type(data)])


def _gap(data: BoundedData, end: Real, rate: Fraction) -> float:
    """What the exponent loses when the support is shown to reach only near its stated end."""
    if not isinstance(data, DistributionSecret):
        return 0.0
    shown = support_point_near(data.distribution, float(end))
    return up(abs(shown - float(end)) * float(rate), 8)


def cumulant(data: Secret, t: Real, *, tolerance: float = 1e-4) -> Bound:
    """Bound the cumulant generating function K(t) = log E e^{t(X − μ)} of the data, in nats.

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
    found = _cumulant(as_gaussian(data), Fraction(real(t, "t")), tolerance)
    return certify_by_recomputation(CUMULANT, found, data=data, t=t, tolerance=tolerance)


def _cumulant(data: Secret, rate: Fraction, tolerance: float) -> Bound:
    if rate == 0:
        return Bound(0.0, 0.0, "closed form, ball arithmetic")
    if isinstance(data, DistributionSecret):
        return _bracket_cumulant(data, rate, tolerance)
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


def _closed_cumulant(
    data: GaussianSecret | GaussianMixture | UniformSecret | DiscreteSecret, rate: Fraction
) -> Ball:
    if isinstance(data, GaussianMixture):
        centre = sum((weight * mean for weight, mean, _ in data.components), Fraction(0))
        total = ball(0)
        for weight, mean, sigma in data.components:
            total += ball(weight) * ball(rate * (mean - centre) + (rate * sigma) ** 2 / 2).exp()
        return total.log()
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


def _bracket_cumulant(data: DistributionSecret, rate: Fraction, tolerance: float) -> Bound:
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
