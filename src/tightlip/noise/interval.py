"""Leakage of an interval of outcomes of Y = X + N.

    ℓ(a, b) = log sup_x P{a < x + N < b} / P{a < Y < b}

For a secret with full support the supremum is at the middle: P{|N| < (b − a)/2}.
Reference: GAU paper, Lemma 2.
"""

from __future__ import annotations

import math

from tightlip.certificate.recomputation import NOISE_INTERVAL, certify_by_recomputation
from tightlip.errors import InvalidInput
from tightlip.model.noise import AdditiveNoise
from tightlip.noise.kernel import IntervalKernel
from tightlip.noise.pointwise import largest, read_tolerance, require_reach, require_release
from tightlip.numeric.quantity import Bound
from tightlip.numeric.real import Real, extended


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
    low, high = extended(a, "a"), extended(b, "b")
    if not low < high:
        raise InvalidInput(
            f"a must be below b, got a={float(low)!r} and b={float(high)!r}; "
            "swap them, or use noise_pml for a single outcome."
        )
    if math.isinf(low) and math.isinf(high):
        found = Bound(0.0, 0.0, "certain event")
    else:
        require_reach(release, low, high)
        kernel = IntervalKernel(release.noise, low, high)
        found = largest(kernel, release.secret, read_tolerance(tolerance))
    return certify_by_recomputation(NOISE_INTERVAL, found, release=release, a=a, b=b, tolerance=tolerance)
