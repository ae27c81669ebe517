"""Gaussian noise on a bounded secret of mean zero: the PMC paper's bounds (17) and tail (18).

With |X| ≤ A, E X = 0 and Y = X + N(0, σ²):

    A|y|/σ²  ≤  PMC(y)  ≤  A(A + 4|y|)/(2σ²)                                        (17)
    P{PMC(Y) > β + r/2}  ≤  2 exp(−β²/(8r(r + 1))),   r = A²/σ²                     (18)

The upper end of (17) is simple, not sharp: `noise.pmc` of a BoundedSecret(−A, A) is never above it.
"""

from __future__ import annotations

from fractions import Fraction

from tightlip.certificate.recomputation import GAUSSIAN_BOUNDS, certify_by_recomputation
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.numeric.ball import ball, enclose
from tightlip.numeric.parse import Real, positive, real
from tightlip.numeric.quantity import Bound, Probability

_CONSTANT = "a secret that is always 0 leaks nothing"
_NO_NOISE = "without noise the secret itself is released"


def gaussian_pmc_bounds(bound: Real, sigma: Real, y: Real, *, ends_in_support: bool = True) -> Bound:
    """Bounds (17) on PMC(y) of Gaussian noise on a secret with |X| ≤ A and mean zero, in nats.

    A|y|/σ² ≤ PMC(y) ≤ A(A + 4|y|)/(2σ²).

    Parameters
    ----------
    bound : A, positive
    sigma : standard deviation of the noise, positive
    y : the outcome that was seen
    ends_in_support : whether both −A and A are in the support of the secret; the lower bound needs
        it, and is 0 without it

    Returns
    -------
    Bound in nats. Without mean zero the upper end still holds, the lower end does not.

    Raises
    ------
    InvalidInput, WrongType
        When an argument is not a usable number, or ends_in_support is not True or False.

    Reference: PMC paper, Example 6, (17).

    >>> gaussian_pmc_bounds(1, 1, 3)
    6.5 nats (at least 3.0, by bounds (17), mean zero)
    """
    radius, width = _read(bound, sigma)
    distance = abs(Fraction(real(y, "y")))
    if not isinstance(ends_in_support, bool):
        raise WrongType(f"ends_in_support must be True or False, got {quoted(ends_in_support)}; say which.")
    upper = enclose(lambda: ball(radius * (radius + 4 * distance) / (2 * width**2)))[1]
    if ends_in_support:
        lower = enclose(lambda: ball(radius * distance / width**2))[0]
        found = Bound(lower, upper, "bounds (17), mean zero")
    else:
        found = Bound(0.0, upper, "bounds (17), upper end only")
    return certify_by_recomputation(
        GAUSSIAN_BOUNDS, found, bound=bound, sigma=sigma, y=y, ends_in_support=ends_in_support
    )


def gaussian_pmc_tail(bound: Real, sigma: Real, beta: Real) -> Probability:
    """Compute an upper bound on P{PMC(Y) > β + r/2}, r = A²/σ², for Gaussian noise on |X| ≤ A of mean zero.

    2 exp(−β²/(8r(r + 1))), at most 1.

    Parameters
    ----------
    bound : A, positive
    sigma : standard deviation of the noise, positive
    beta : β ≥ 0, in nats

    Returns
    -------
    Probability, rounded up.

    Raises
    ------
    InvalidInput
        When an argument is not a usable number.

    Reference: PMC paper, Example 6, (18).

    >>> round(gaussian_pmc_tail(1, 1, 8), 9)
    0.036631278
    """
    radius, width = _read(bound, sigma)
    level = Fraction(real(beta, "beta"))
    if level < 0:
        raise InvalidInput(
            f"beta must be at least 0, got beta={float(level)!r}; the threshold on PMC is beta + A²/(2σ²)."
        )
    ratio = (radius / width) ** 2
    exponent = -(level**2) / (8 * ratio * (ratio + 1))
    if exponent < -1000:
        return Probability(5e-324)  # e^−1000 is below the smallest positive double, which is sound
    return Probability(min(enclose(lambda: 2 * ball(exponent).exp())[1], 1.0))


def _read(bound: Real, sigma: Real) -> tuple[Fraction, Fraction]:
    return Fraction(positive(bound, "bound", _CONSTANT)), Fraction(positive(sigma, "sigma", _NO_NOISE))
