"""What one noisy value Y = X + N gives away: information density, PML and PMC at an outcome, leakage of an interval.

    i(x; y) = log f_N(y − x) / E f_N(y − X)
    PML(y)  = sup_x i(x; y)         the secret nearest to y in the support
    PMC(y)  = −inf_x i(x; y)        the secret farthest from y in the support
    ℓ(a, b) = log sup_x P{a < x + N < b} / P{a < Y < b}

For a secret with full support the last supremum is at the middle: P{|N| < (b − a)/2}.
Reference: PMC paper, Examples 5 and 6 (information density bounds); GAU paper for the Gaussian pair, Lemma 2 for the
interval.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tightlip.certificate.recomputation import (
    NOISE_DENSITY,
    NOISE_INTERVAL,
    NOISE_PMC,
    NOISE_PML,
    certify_by_recomputation,
)
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.model.noise import AdditiveNoise
from tightlip.model.secret import DiscreteSecret, DistributionSecret, GaussianMixture, GaussianSecret, Secret
from tightlip.noise.kernel import (
    IntervalKernel,
    NoiseKernel,
    PointKernel,
    bracket_mean,
    farthest,
    log_at,
    log_mean,
    nearest,
)
from tightlip.numeric.parse import Real, extended_real, real
from tightlip.numeric.quantity import Bound
from tightlip.numeric.rounding import down, up
from tightlip.numeric.stieltjes import support_point_near

_REACH = 10**9  # noise widths; beyond, exponents leave what ball arithmetic can hold


def pml(release: AdditiveNoise, y: Real, *, tolerance: float = 1e-4) -> Bound:
    """Pointwise maximal leakage of the outcome y, in nats.

    PML(y) = log sup_x f_N(y − x) / f_Y(y), the supremum over the support of the secret. For a
    Gaussian secret and Gaussian noise it is ½ log(1 + σ_X²/σ_N²) + (y − mean)²/(2σ_Y²).

    Over all y the supremum is infinite for every unbounded secret, and for Gaussian noise on a
    bounded secret without a point mass at one of its ends. For Laplace noise on [c, d] it is at most (d − c)/b.

    Parameters
    ----------
    release : secret and noise
    y : the outcome that was seen
    tolerance : width asked of the interval for a DistributionSecret, in nats

    Returns
    -------
    Bound in nats. For a BoundedSecret it is the range over every distribution: from 0 (a constant
    secret) to log sup f_N/inf f_N, approached by a nearly constant secret.

    Raises
    ------
    WrongType, InvalidInput
        When an argument cannot be used, or y is more than 10⁹ noise widths away.

    >>> from tightlip.noise import Gaussian
    >>> pml(AdditiveNoise(GaussianSecret(1), Gaussian(1)), 2.0)
    1.3465735902799727 nats (at least 1.3465735902799725, by closed form, ball arithmetic)
    """
    found = largest(point_kernel(release, y), release.secret, read_tolerance(tolerance))
    return certify_by_recomputation(NOISE_PML, found, release=release, y=y, tolerance=tolerance)


def pmc(release: AdditiveNoise, y: Real, *, tolerance: float = 1e-4) -> Bound:
    """Pointwise maximal cost of the outcome y, in nats.

    PMC(y) = log f_Y(y) / inf_x f_N(y − x), the infimum over the support of the secret; infinite for
    every unbounded secret, whether the noise is Gaussian or Laplace, since f_N vanishes far out.

    Parameters
    ----------
    release : secret and noise
    y : the outcome that was seen
    tolerance : width asked of the interval for a DistributionSecret, in nats

    Returns
    -------
    Bound in nats. For a BoundedSecret it is the range over every distribution: from 0 (a constant
    secret) to log sup f_N/inf f_N, approached by a nearly constant secret.

    Raises
    ------
    WrongType, InvalidInput
        When an argument cannot be used, or y is more than 10⁹ noise widths away.

    Reference: PMC paper, Examples 5 and 6.

    >>> from tightlip.noise import Laplace
    >>> from tightlip.noise import UniformSecret
    >>> round(pmc(AdditiveNoise(UniformSecret(0, 1), Laplace(1)), 3.0), 9)
    0.541324855
    """
    return certify_by_recomputation(
        NOISE_PMC, _pmc(release, y, tolerance), release=release, y=y, tolerance=tolerance
    )


def _pmc(release: AdditiveNoise, y: Real, tolerance: float) -> Bound:
    kernel = point_kernel(release, y)
    secret = release.secret
    far = farthest(kernel, secret.support)
    if math.isinf(far):
        return infinite("the secret is unbounded, so some secrets make the outcome arbitrarily unlikely")
    allowed = read_tolerance(tolerance)
    if isinstance(secret, DistributionSecret):
        return _smallest_shown(kernel, secret, far, allowed)
    found = log_mean(kernel, secret, far, allowed)
    return _clamp(found.lower, found.upper, found.method)


def information_density(release: AdditiveNoise, x: Real, y: Real, *, tolerance: float = 1e-4) -> Bound:
    """Information density i(x; y) = log f_N(y − x)/f_Y(y), in nats; it may be negative.

    Parameters
    ----------
    release : secret and noise
    x : a value in the support of the secret
    y : the outcome that was seen
    tolerance : width asked of the interval for a DistributionSecret, in nats

    Returns
    -------
    Bound in nats; for a BoundedSecret the range over every distribution with x in its support.

    Raises
    ------
    WrongType, InvalidInput
        When an argument cannot be used, or x is outside the support.

    Reference: PMC paper, section II; i is at most PML(y) and at least −PMC(y).

    >>> from tightlip.noise import Gaussian
    >>> round(information_density(AdditiveNoise(GaussianSecret(1), Gaussian(1)), 0.0, 2.0), 9)
    -0.65342641
    """
    kernel = point_kernel(release, y)
    at = _in_support(release.secret, real(x, "x"))
    require_reach(release, at, kernel.y)
    found = log_mean(kernel, release.secret, at, read_tolerance(tolerance))
    bound = Bound(_plain(-found.upper), _plain(-found.lower), found.method)
    return certify_by_recomputation(NOISE_DENSITY, bound, release=release, x=x, y=y, tolerance=tolerance)


def largest(kernel: NoiseKernel, secret: Secret, tolerance: float) -> Bound:
    """Return log sup_x g(x)/E g(X), the leakage of an observation with kernel g."""
    if isinstance(secret, DistributionSecret):
        return _largest_shown(kernel, secret, tolerance)
    found = log_mean(kernel, secret, nearest(kernel, secret), tolerance)
    return _clamp(-found.upper, -found.lower, found.method)


def infinite(why: str) -> Bound:
    """Build the infinite result, with its reason.

    >>> infinite("the secret is unbounded")
    inf nats (at least inf, by infinite: the secret is unbounded)
    """
    return Bound(math.inf, math.inf, f"infinite: {why}")


def point_kernel(release: AdditiveNoise, y: Real) -> PointKernel:
    """Check release and outcome, and make the outcome's kernel."""
    require_release(release)
    outcome = real(y, "y")
    require_reach(release, outcome)
    return PointKernel(release.noise, outcome)


def require_release(release: AdditiveNoise) -> None:
    """Refuse anything that is not an AdditiveNoise."""
    if not isinstance(release, AdditiveNoise):
        raise WrongType(
            f"release must be an AdditiveNoise, got {quoted(release)}; write AdditiveNoise(secret, noise)."
        )


def require_reach(release: AdditiveNoise, *positions: Real) -> None:
    """Refuse positions more than 10⁹ noise widths from each other or from the secret's own."""
    secret, width = release.secret, Fraction(release.noise.width)
    anchors = [Fraction(end) for end in (*positions, *secret.support) if math.isfinite(end)]
    if isinstance(secret, GaussianSecret):
        anchors += [Fraction(secret.mean), Fraction(secret.mean) + Fraction(secret.sigma)]
    if isinstance(secret, GaussianMixture):
        anchors += [end for _, mean, sigma in secret.components for end in (mean, mean + sigma)]
    if isinstance(secret, DistributionSecret):
        anchors.append(Fraction(float(secret.distribution.median())))
    reach = (max(anchors) - min(anchors)) / width
    if reach > _REACH:
        raise InvalidInput(
            f"outcome and secret must lie within 1e9 noise widths, got {float(reach):.3g} "
            f"with noise width {float(width)!r}; check the units of secret, noise and outcome."
        )


def read_tolerance(tolerance: float) -> float:
    """Read a tolerance: positive, in nats.

    >>> read_tolerance(0.5)
    0.5
    """
    read = float(real(tolerance, "tolerance"))
    if read <= 0:
        raise InvalidInput(f"tolerance must be positive, got tolerance={read!r}; use 1e-4 or more.")
    return read


def _largest_shown(kernel: NoiseKernel, secret: DistributionSecret, tolerance: float) -> Bound:
    """The upper end presumes any point of the interval in the support, the lower end only a shown one."""
    near = nearest(kernel, secret)
    shown = support_point_near(secret.distribution, float(near))
    found = bracket_mean(kernel, secret, tolerance)
    lower, upper = log_at(kernel, shown)[0] - found.upper, log_at(kernel, near)[1] - found.lower
    return _clamp(down(lower), up(upper), found.method)


def _smallest_shown(kernel: NoiseKernel, secret: DistributionSecret, far: Real, tolerance: float) -> Bound:
    """The same for log E g(X)/inf_x g(x)."""
    found = bracket_mean(kernel, secret, tolerance)
    ends = [support_point_near(secret.distribution, float(end)) for end in secret.support]
    smallest = min(log_at(kernel, end)[1] for end in ends)
    lower, upper = found.lower - smallest, found.upper - log_at(kernel, far)[0]
    return _clamp(down(lower), up(upper), found.method)


def _in_support(secret: Secret, x: Real) -> Real:
    low, high = secret.support
    if not low <= x <= high:
        raise InvalidInput(
            f"x must be in the secret's range [{float(low)!r}, {float(high)!r}], got x={float(x)!r}; "
            "a value outside the support has no information density."
        )
    if isinstance(secret, DiscreteSecret) and all(x != point for point, _ in secret.atoms):
        raise InvalidInput(
            f"x must be a point of positive mass, got x={float(x)!r}; choose one of DiscreteSecret.points."
        )
    return x


def _clamp(lower: float, upper: float, method: str) -> Bound:
    """Cut at 0: PML and PMC are never negative, but rounding outward may have gone below."""
    return Bound(_plain(max(lower, 0.0)), _plain(max(upper, 0.0)), method)


def _plain(value: float) -> float:
    return value + 0.0  # no negative zero


def interval_leakage(release: AdditiveNoise, a: Real, b: Real, *, tolerance: float = 1e-3) -> Bound:
    """Leakage of the event a < Y < b, in nats.

    log [ sup_x P{a − x < N < b − x} / E P{a − X < N < b − X} ], the supremum over the support of the
    secret: at the secret nearest to the middle of the interval, or to its infinite end.

    Parameters
    ----------
    release : secret and noise
    a, b : ends of the interval, a < b; either may be infinite
    tolerance : width asked of the interval of results for a DistributionSecret, in nats

    Returns
    -------
    Bound in nats; for a BoundedSecret the range over every distribution on its interval.

    Raises
    ------
    InvalidInput
        When the interval is empty or reversed, or more than 10⁹ noise widths away.

    Reference: GAU paper, Lemma 2 (Gaussian secret and noise). It is the leakage of one interval; a
    bound for every post-processing of Y does not follow from it.

    >>> from tightlip.noise import Gaussian
    >>> from tightlip.noise import GaussianSecret
    >>> round(interval_leakage(AdditiveNoise(GaussianSecret(1), Gaussian(1)), 1, 3), 10)
    1.1197538009
    """
    require_release(release)
    low, high = extended_real(a, "a"), extended_real(b, "b")
    if not low < high:
        raise InvalidInput(
            f"a must be below b, got a={float(low)!r} and b={float(high)!r}; "
            "swap them, or use noise.pml for a single outcome."
        )
    if math.isinf(low) and math.isinf(high):
        found = Bound(0.0, 0.0, "certain event")
    else:
        require_reach(release, low, high)
        kernel = IntervalKernel(release.noise, low, high)
        found = largest(kernel, release.secret, read_tolerance(tolerance))
    return certify_by_recomputation(NOISE_INTERVAL, found, release=release, a=a, b=b, tolerance=tolerance)
