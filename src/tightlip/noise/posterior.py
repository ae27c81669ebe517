"""Mean and variance of the secret given one noisy value Y = X + N, N ~ N(0, σ²): Tweedie's formula.

    E[X|Y=y] = y + σ² (log f_Y)'(y)        Var[X|Y=y] = σ² + σ⁴ (log f_Y)''(y)

Places are in noise widths here, z = value/σ. A mixture of normals and atoms, Σ π_k N(μ_k, d_k²), has the posterior
Σ w_k N(m_k, v_k) with w_k ∝ π_k N(y; μ_k, s_k²), s_k² = 1 + d_k², m_k = μ_k + (d_k/s_k)²(y − μ_k) and v_k = (d_k/s_k)²;
a uniform secret that of a truncated normal. For a scipy distribution g(x) = exp(−(y−x)²/2), (x−c)₊ g and (x−c)₊² g are
log-concave right of c, likewise left of it, so their means have Riemann–Stieltjes brackets.

Reference: GAU paper, (8) and (9); Robbins 1956, Efron 2011.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from tightlip.certificate.recomputation import (
    POSTERIOR_MEAN,
    POSTERIOR_VARIANCE,
    Recomputation,
    certify_by_recomputation,
)
from tightlip.errors import NumericalFailure, PreconditionFailed
from tightlip.model.noise import AdditiveNoise, Gaussian
from tightlip.model.secret import (
    BoundedSecret,
    DiscreteSecret,
    DistributionSecret,
    GaussianMixture,
    GaussianSecret,
    Secret,
    UniformSecret,
)
from tightlip.noise.kernel import PointKernel
from tightlip.noise.pointwise import point_kernel, read_tolerance, require_release
from tightlip.numeric.ball import Ball, ball, enclose, round_down, round_up
from tightlip.numeric.display import format_down, format_up
from tightlip.numeric.parse import FloatArray, Real
from tightlip.numeric.proved import Proved, require_order
from tightlip.numeric.rounding import UNIT, down, float_above, float_below, up
from tightlip.numeric.stieltjes import Kernel, bracket_method, log_expectation
from tightlip.numeric.tails import normal_mass

_ABSOLUTE_BITS = 60
_MAX_BITS = 1 << 13
_SLACK = 32 * UNIT  # of logarithms and squares of distances
Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class PosteriorMoment(Proved):
    """A mean or variance known to lie in [lower, upper], in the unit of the secret or its square.

    >>> PosteriorMoment(0.25, 0.5, "closed form").gap
    0.25
    """

    lower: float
    upper: float
    method: str
    certificate: Recomputation | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        require_order(self.lower, self.upper)

    def __repr__(self) -> str:
        return f"{format_down(self.lower)} to {format_up(self.upper)}, by {self.method}"


@dataclass(frozen=True, slots=True)
class PosteriorMoments:
    """Mean and variance of the secret given one outcome.

    Attributes
    ----------
    mean : E[X|Y=y], in the unit of the secret
    variance : Var[X|Y=y], in its square
    """

    mean: PosteriorMoment
    variance: PosteriorMoment


def posterior_moments(release: AdditiveNoise, y: Real, *, tolerance: float = 1e-3) -> PosteriorMoments:
    """Enclose mean and variance of the secret given the outcome y, for Gaussian noise.

    Parameters
    ----------
    release : a secret with Gaussian noise
    y : the outcome that was seen
    tolerance : width asked of the brackets behind a DistributionSecret, relative; its cdf is trusted as stated there

    Returns
    -------
    PosteriorMoments; for a BoundedSecret the ranges over every distribution.

    Raises
    ------
    PreconditionFailed
        When the noise is not Gaussian.
    WrongType, InvalidInput
        When an argument cannot be used, or y is more than 10⁹ noise widths away.

    Reference: GAU paper, (8) and (9), Tweedie's formula.

    >>> from tightlip.noise import UniformSecret
    >>> found = posterior_moments(AdditiveNoise(UniformSecret(-1, 1), Gaussian(1)), 0)
    >>> found.mean.lower <= 0 <= found.mean.upper, round(found.variance.upper, 9)
    (True, 0.291125095)
    """
    require_gaussian_noise(release)
    kernel, allowed = point_kernel(release, y), read_tolerance(tolerance)
    mean, variance, method = _moments(release, kernel, allowed)
    arguments = {"release": release, "y": y, "tolerance": tolerance}
    return PosteriorMoments(
        certify_by_recomputation(POSTERIOR_MEAN, PosteriorMoment(*mean, method), **arguments),
        certify_by_recomputation(POSTERIOR_VARIANCE, PosteriorMoment(*variance, method), **arguments),
    )


def require_gaussian_noise(release: AdditiveNoise) -> None:
    """Refuse what is no release, or has other noise."""
    require_release(release)
    if not isinstance(release.noise, Gaussian):
        raise PreconditionFailed(
            f"release must have Gaussian noise, got {type(release.noise).__name__}; "
            "Tweedie's formula is about normal noise: write AdditiveNoise(secret, Gaussian(sigma))."
        )


def _moments(release: AdditiveNoise, kernel: PointKernel, tolerance: float) -> tuple[Ends, Ends, str]:
    secret, width = release.secret, Fraction(release.noise.width)
    low, high = secret.support
    if isinstance(secret, BoundedSecret):
        spread = (Fraction(high) - Fraction(low)) ** 2 / 4
        around = float_below(Fraction(low)), float_above(Fraction(high))
        return around, (0.0, float_above(spread)), "range over every distribution on [low, high]"
    if isinstance(secret, DistributionSecret):
        return _bracketed(secret, kernel, tolerance)
    y = Fraction(kernel.y) / width
    if isinstance(secret, UniformSecret):
        ends = Fraction(low) / width - y, Fraction(high) / width - y
        mean = _enclose_absolute(lambda: (ball(y) + truncated_normal(*ends)[0]) * ball(width))
        variance = enclose(lambda: truncated_normal(*ends)[1] * ball(width**2))
        return mean, variance, "truncated normal, ball arithmetic"
    parts = components(secret, width)
    mean = _enclose_absolute(lambda: mixture_moments(parts, y)[0] * ball(width))
    variance = enclose(lambda: mixture_moments(parts, y)[1] * ball(width**2))
    return mean, (max(variance[0], 0.0), variance[1]), "mixture of normals, ball arithmetic"


Component = tuple[Fraction, Fraction, Fraction]  # weight, mean and variance, in noise widths


def components(secret: Secret, width: Fraction) -> tuple[Component, ...]:
    """Split a Gaussian, discrete or mixture secret into normals, in noise widths; an atom has variance 0.

    >>> components(GaussianSecret(2, 3), Fraction(1))
    ((Fraction(1, 1), Fraction(3, 1), Fraction(4, 1)),)
    """
    if isinstance(secret, DiscreteSecret):
        return tuple((mass, x / width, Fraction(0)) for x, mass in secret.atoms)
    if isinstance(secret, GaussianMixture):
        return tuple((p, mean / width, (sigma / width) ** 2) for p, mean, sigma in secret.components)
    assert isinstance(secret, GaussianSecret)
    return ((Fraction(1), Fraction(secret.mean) / width, (Fraction(secret.sigma) / width) ** 2),)


def mixture_moments(parts: Sequence[Component], y: Fraction, radius: float = 0.0) -> tuple[Ball, Ball, Ball]:
    """Compute posterior mean, variance and third central moment over [y − radius, y + radius], in noise widths.

    >>> mean, variance, _ = mixture_moments(((Fraction(1), Fraction(0), Fraction(1)),), Fraction(2))
    >>> float(mean), float(variance)
    (1.0, 0.5)
    """
    from flint import arb

    step = arb(0, radius)
    top = max(parts, key=lambda part: _log_weight(part, y))
    weights, places, spreads = [], [], []
    for part in parts:
        _, mean, variance = part
        weights.append(_relative_weight(part, top, y, step))
        share = variance / (1 + variance)
        places.append(ball(mean + share * (y - mean)) + ball(share) * step)
        spreads.append(ball(share))
    total = sum(weights, ball(0))
    weights = [weight / total for weight in weights]
    anchor = places[list(parts).index(top)]
    offsets = [ball(0) if part == top else place - anchor for part, place in zip(parts, places, strict=True)]
    shift = sum((w * u for w, u in zip(weights, offsets, strict=True)), ball(0))
    second, third = ball(0), ball(0)
    for w, u, v in zip(weights, offsets, spreads, strict=True):  # a ball around 0 has products, but no powers
        from_mean = u - shift
        second += w * (v + u * u)
        third += w * from_mean * (from_mean * from_mean + 3 * v)
    return anchor + shift, second - shift * shift, third


def _log_weight(part: Component, y: Fraction) -> float:
    """log π_k N(y; μ_k, s_k²) in plain floats: only to choose what the others are compared with."""
    weight, mean, variance = part
    spread = 1 + variance
    return math.log(weight) - math.log(spread) / 2 - float((y - mean) ** 2 / (2 * spread))


def _relative_weight(part: Component, top: Component, y: Fraction, step: Ball) -> Ball:
    """π_k N(y + t; μ_k, s_k²) over that of `top`: the exponent is a polynomial in t with exact coefficients."""
    if part == top:
        return ball(1)
    (weight, mean, variance), (top_weight, top_mean, top_variance) = part, top
    near, far = 1 / (1 + variance), 1 / (1 + top_variance)
    constant = (far * (y - top_mean) ** 2 - near * (y - mean) ** 2) / 2
    slope, bend = far * (y - top_mean) - near * (y - mean), (far - near) / 2
    exponent = ball(constant) + step * (ball(slope) + ball(bend) * step)
    return ball(weight / top_weight) * ball(near / far).sqrt() * exponent.exp()


def truncated_normal(low: Fraction, high: Fraction) -> tuple[Ball, Ball]:
    """Compute mean and variance of N(0, 1) given that it lies in (low, high).

    >>> mean, variance = truncated_normal(Fraction(-1), Fraction(1))
    >>> round(float(mean), 9), round(float(variance), 9)
    (0.0, 0.291125095)
    """
    inside = normal_mass(low, high, ball(1))
    left, right = ((-(ball(end) ** 2) / 2).exp() / (2 * ball(1).pi()).sqrt() / inside for end in (low, high))
    mean = left - right
    return mean, 1 + ball(low) * left - ball(high) * right - mean * mean


def _enclose_absolute(expression: Callable[[], Ball]) -> Ends:
    """Enclose a number that may be 0 by symmetry, to 2⁻⁶⁰ of the larger of it and 1."""
    from flint import ctx

    bits = 2 * _ABSOLUTE_BITS
    while True:
        with ctx.workprec(bits):
            value = expression()
            known = value.is_finite() and value.rel_one_accuracy_bits() >= _ABSOLUTE_BITS
            if known or (value.is_finite() and bits >= _MAX_BITS):
                return round_down(value), round_up(value)
            if bits >= _MAX_BITS:
                raise NumericalFailure(
                    f"the posterior mean could not be enclosed with {bits} bits; move y nearer."
                )
        bits *= 2


def _bracketed(secret: DistributionSecret, kernel: PointKernel, tolerance: float) -> tuple[Ends, Ends, str]:
    """Bracket both by E (X − c)₊ᵖ g and E (X − c)₋ᵖ g over E g, with c near the mean."""
    centre = _rough_mean(secret, kernel)
    powers = [(0, 1), (1, 1), (1, -1), (2, 1), (2, -1)]
    brackets = []
    for power, side in powers:
        used = kernel.for_floats() if power == 0 else _sided(kernel, centre, power, side)
        brackets.append(
            log_expectation(secret.distribution, used, cdf_error=secret.cdf_error, tolerance=tolerance)
        )
    overall = brackets[0]
    low, high = (
        [math.exp(down(one.lower - overall.upper)) * (1 - 4 * _SLACK) for one in brackets],
        [math.exp(up(one.upper - overall.lower)) * (1 + 4 * _SLACK) for one in brackets],
    )
    shift = down(low[1] - high[2]), up(high[1] - low[2])
    most = max(shift[0] ** 2, shift[1] ** 2) * (1 + 4 * UNIT)
    least = 0.0 if shift[0] <= 0 <= shift[1] else min(shift[0] ** 2, shift[1] ** 2) * (1 - 4 * UNIT)
    variance = max(down(down(low[3] + low[4]) - most), 0.0), up(up(high[3] + high[4]) - least)
    width = max(one.upper - one.lower for one in brackets)
    method = f"{bracket_method(width, tolerance)}; trusts the cdf to {secret.cdf_error:g}"
    return (down(centre + shift[0]), up(centre + shift[1])), variance, method


def _rough_mean(secret: DistributionSecret, kernel: PointKernel) -> float:
    """About the posterior mean, in plain floats."""
    law, y, width = secret.distribution, float(kernel.y), float(kernel.noise.width)
    spread = np.linspace(-9.0, 9.0, 721) * width
    middle = float(law.median())
    places = np.unique(np.clip(np.concatenate([y + spread, middle + spread]), *law.support()))
    if len(places) < 2:
        return float(places[0])
    centres = (places[:-1] + places[1:]) / 2
    with np.errstate(all="ignore"):
        mass = np.where(centres < middle, np.diff(law.cdf(places)), -np.diff(law.sf(places)))
        logs = np.log(np.maximum(mass, 1e-320)) - ((centres - y) / width) ** 2 / 2
    weights = np.exp(logs - logs.max())
    return float(weights @ centres / weights.sum())


def _sided(kernel: PointKernel, centre: float, power: int, side: int) -> Kernel:
    """|x − c|ᵖ g(x) on one side of c, 0 on the other; its peak solves (x − c)(x − y) = p σ²."""
    y, width = float(kernel.y), float(kernel.noise.width)
    root = math.sqrt((centre - y) ** 2 + 4 * power * width**2)
    peak = (centre + y + side * root) / 2
    plain = kernel.for_floats()

    def log_bounds(points: FloatArray) -> tuple[FloatArray, FloatArray]:
        low, high = plain.log_bounds(points)
        distance = side * (points - centre)
        with np.errstate(all="ignore"):
            logs = power * np.log(distance)
        error = _SLACK * (1 + np.abs(logs)) + np.where(points == peak, 1e-13, 0.0)
        outside = ~(distance > 0) | np.isinf(distance)
        return np.where(outside, -math.inf, low + logs - error), np.where(
            outside, -math.inf, high + logs + error
        )

    return Kernel(log_bounds, peak, width)
