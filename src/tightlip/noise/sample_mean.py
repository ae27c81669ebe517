"""The worst pointwise maximal cost of Laplace noise: on one value, and on the mean of n values.

For independent, equally distributed values with essential range [c, d] and Y = mean + Laplace(b),

    sup_y PMC(X_i → y) = max{ log E e^{(X−c)/(nb)}, log E e^{(d−X)/(nb)} }  ≤  (d − c)/(nb).

Why. Given X_i = x, f(y|x) changes by at most a factor e^{|x−x'|/(nb)} between x and x', so
f_Y(y)/f(y|x) ≤ E e^{|X−x|/(nb)}. That is convex in x, hence largest at c or d, which gives the two
terms. They are reached at every y ≥ d and every y ≤ c.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tightlip.arguments import whole
from tightlip.certificate.recomputation import LAPLACE_MEAN, NOISE_WORST_PMC, certify_by_recomputation
from tightlip.model.noise import AdditiveNoise, Gaussian, Laplace, require_secret
from tightlip.model.secret import (
    BoundedSecret,
    DiscreteSecret,
    DistributionSecret,
    GaussianSecret,
    Secret,
    UniformSecret,
)
from tightlip.noise.moments import log_moment
from tightlip.noise.pointwise import infinite, read_tolerance, require_reach, require_release
from tightlip.numeric.quantity import Bound
from tightlip.numeric.real import Real
from tightlip.numeric.rounding import up
from tightlip.numeric.stieltjes import bracket_method, support_point_near

BoundedData = UniformSecret | DiscreteSecret | BoundedSecret | DistributionSecret

_METHODS = {
    UniformSecret: "closed form, ball arithmetic",
    DiscreteSecret: "finite mixture, ball arithmetic",
    BoundedSecret: "range over every distribution on [low, high]",
}
_UNBOUNDED = "the data are unbounded, so the noise hides no value far out"


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
    count = _count(n)
    if isinstance(data, GaussianSecret) or any(math.isinf(end) for end in data.support):
        found = infinite(_UNBOUNDED)
    else:
        require_reach(release)
        rate = 1 / (count * Fraction(release.noise.width))
        found = _worst_end(data, rate, read_tolerance(tolerance))
    return certify_by_recomputation(LAPLACE_MEAN, found, data=data, n=n, scale=scale, tolerance=tolerance)


def pmc_supremum(release: AdditiveNoise, *, tolerance: float = 1e-4) -> Bound:
    """The largest pointwise maximal cost over all outcomes, in nats.

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


def _count(n: int) -> int:
    return whole(n, "n", 1, remedy="it counts the values in the mean")
