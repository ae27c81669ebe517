"""log E g(X): how likely an observation is overall, for every kind of secret.

Gaussian, uniform and discrete secrets have closed forms, enclosed by ball arithmetic; a scipy
distribution is bracketed; of a bounded secret only the range of g is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tightlip.model.noise import Gaussian
from tightlip.model.secret import (
    BoundedSecret,
    DiscreteSecret,
    DistributionSecret,
    GaussianSecret,
    UniformSecret,
)
from tightlip.noise.kernel import IntervalKernel, NoiseKernel, PointKernel, farthest, nearest
from tightlip.numeric.ball import Ball, ball, enclose
from tightlip.numeric.parse import Real, exact
from tightlip.numeric.rounding import down, up
from tightlip.numeric.stieltjes import bracket_method, log_expectation
from tightlip.numeric.tails import (
    laplace_excess,
    laplace_mass,
    normal_excess,
    normal_mass,
    sum_tail,
    tilted_tails,
)

ClosedSecret = GaussianSecret | UniformSecret | DiscreteSecret


@dataclass(frozen=True, slots=True)
class LogMean:
    """lower ≤ log(E g(X)/g(reference)) ≤ upper."""

    lower: float
    upper: float
    method: str


def log_mean(
    kernel: NoiseKernel,
    secret: ClosedSecret | BoundedSecret | DistributionSecret,
    reference: Real,
    tolerance: float,
) -> LogMean:
    """Enclose log(E g(X)/g(reference)), in nats.

    >>> from tightlip.noise import Laplace
    >>> coin = DiscreteSecret([0, 1], ["1/2", "1/2"])
    >>> round(log_mean(PointKernel(Laplace(1), 0.0), coin, 0.0, 1e-4).upper, 6)
    -0.379885
    """
    if isinstance(secret, DistributionSecret):
        found = bracket_mean(kernel, secret, tolerance)
        low, high = log_at(kernel, reference)
        return LogMean(down(found.lower - high), up(found.upper - low), found.method)
    if isinstance(secret, BoundedSecret):
        return _range(kernel, secret, reference)
    if isinstance(secret, DiscreteSecret):
        atoms = secret.atoms
        lower, upper = enclose(lambda: mixture(kernel, atoms, reference).log())
        return LogMean(lower, upper, "finite mixture, ball arithmetic")
    lower, upper = enclose(lambda: _closed_form(kernel, secret) - kernel.log_at(reference))
    return LogMean(lower, upper, "closed form, ball arithmetic")


def mixture(kernel: NoiseKernel, atoms: tuple[tuple[Fraction, Fraction], ...], reference: Real) -> Ball:
    """Σ p_k g(x_k)/g(reference), equal terms first added up exactly so that a constant g gives exactly 1."""
    weights: dict[Real, Fraction] = {}
    finite_peak = math.isfinite(kernel.peak)
    for x, mass in atoms:
        same = Fraction(kernel.peak) + abs(x - Fraction(kernel.peak)) if finite_peak else x
        weights[same] = weights.get(same, Fraction(0)) + mass
    total = ball(0)
    for at, mass in weights.items():
        total += ball(mass) * kernel.log_ratio(at, reference).exp()
    return total


def bracket_mean(kernel: NoiseKernel, secret: DistributionSecret, tolerance: float) -> LogMean:
    """Enclose log E g(X) itself (reference 1) for a scipy distribution.

    >>> from scipy.stats import norm
    >>> from tightlip.noise import Gaussian
    >>> found = bracket_mean(PointKernel(Gaussian(1), 0.0), DistributionSecret(norm(0, 1)), 1e-3)
    >>> found.lower <= -math.log(2) / 2 <= found.upper
    True
    """
    found = log_expectation(
        secret.distribution, kernel.for_floats(), cdf_error=secret.cdf_error, tolerance=tolerance
    )
    method = bracket_method(found.upper - found.lower, tolerance, found.points)
    return LogMean(found.lower, found.upper, method)


def _range(kernel: NoiseKernel, secret: BoundedSecret, reference: Real) -> LogMean:
    near, far = nearest(kernel, secret), farthest(kernel, secret.support)
    lowest = enclose(lambda: kernel.log_ratio(far, reference))[0]
    highest = enclose(lambda: kernel.log_ratio(near, reference))[1]
    return LogMean(lowest, highest, "range over every distribution on [low, high]")


def log_at(kernel: NoiseKernel, x: Real) -> tuple[float, float]:
    """Doubles that bracket log g(x); x may be infinite where g has a limit.

    >>> from tightlip.noise import Laplace
    >>> log_at(PointKernel(Laplace(1), 0.0), 0.0)
    (0.0, 0.0)
    """
    if math.isinf(x):
        return 0.0, 0.0
    return enclose(lambda: kernel.log_at(x))


def _closed_form(kernel: NoiseKernel, secret: GaussianSecret | UniformSecret) -> Ball:
    if isinstance(kernel, PointKernel):
        if isinstance(secret, GaussianSecret):
            return _gaussian_point(kernel, secret)
        return _uniform_point(kernel, secret)
    a, b, centre = _rightward(kernel, secret)
    if isinstance(secret, GaussianSecret):
        return _gaussian_interval(kernel, secret, a - centre, b - centre).log()
    return _uniform_interval(kernel, a - centre, b - centre, _length(secret) / 2).log()


def _gaussian_point(kernel: PointKernel, secret: GaussianSecret) -> Ball:
    distance = Fraction(kernel.y) - Fraction(secret.mean)
    sigma, width = Fraction(secret.sigma), Fraction(kernel.noise.width)
    if isinstance(kernel.noise, Gaussian):
        variance = sigma**2 + width**2
        return ball(width**2 / variance).log() / 2 - ball(distance**2 / (2 * variance))
    below, above = tilted_tails(distance, ball(sigma), ball(width))
    return (below + above).log()


def _uniform_point(kernel: PointKernel, secret: UniformSecret) -> Ball:
    u, v = Fraction(kernel.y) - Fraction(secret.high), Fraction(kernel.y) - Fraction(secret.low)
    width = ball(kernel.noise.width)
    if isinstance(kernel.noise, Gaussian):
        integral = normal_mass(u, v, width) * width * (2 * ball(1).pi()).sqrt()
    else:
        integral = laplace_mass(u, v, width) * width * 2
    return (integral / ball(v - u)).log()


def _gaussian_interval(kernel: IntervalKernel, secret: GaussianSecret, a: Real, b: Real) -> Ball:
    """P{a < Y < b} with the secret's mean at 0 and the interval's middle right of it."""
    sigma, width = ball(secret.sigma), ball(kernel.noise.width)
    if isinstance(kernel.noise, Gaussian):
        variance = Fraction(secret.sigma) ** 2 + Fraction(kernel.noise.width) ** 2
        return normal_mass(a, b, ball(variance).sqrt())
    if a > 0:
        return sum_tail(a, sigma, width) - sum_tail(b, sigma, width)
    return 1 - sum_tail(b, sigma, width) - sum_tail(-a, sigma, width)


def _uniform_interval(kernel: IntervalKernel, a: Real, b: Real, half: Fraction) -> Ball:
    """P{a < Y < b} for X uniform on [−half, half], as second differences of E(N − u)₊."""
    width = ball(kernel.noise.width)
    excess = normal_excess if isinstance(kernel.noise, Gaussian) else laplace_excess

    def difference(u: Real) -> Ball:
        return excess(u - half, width) - excess(u + half, width)

    return (difference(a) - difference(b)) / ball(2 * half)


def _rightward(kernel: IntervalKernel, secret: GaussianSecret | UniformSecret) -> tuple[Real, Real, Fraction]:
    """The interval, mirrored about the secret's centre when it lies left of it: tails then fall."""
    if isinstance(secret, GaussianSecret):
        centre = Fraction(secret.mean)
    else:
        centre = (Fraction(secret.low) + Fraction(secret.high)) / 2
    a, b = exact(kernel.a), exact(kernel.b)
    if kernel.peak < centre:
        return 2 * centre - b, 2 * centre - a, centre
    return a, b, centre


def _length(secret: UniformSecret) -> Fraction:
    return Fraction(secret.high) - Fraction(secret.low)
