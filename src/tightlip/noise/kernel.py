"""What an observation of Y = X + N says about each x, up to a factor: its kernel g(x).

    PointKernel(noise, y)        g(x) = f_N(y − x)/f_N(0)        the outcome y was seen
    IntervalKernel(noise, a, b)  g(x) = P{a < x + N < b}         the outcome fell in (a, b)

Both rise up to a peak and fall symmetrically beyond it (or are monotone, for a half-line), so the
nearest and the farthest secret have the largest and the smallest g.

log E g(X) says how likely the observation is overall. Gaussian, uniform and discrete secrets have closed forms,
enclosed by ball arithmetic; a scipy distribution is bracketed; of a bounded secret only the range of g is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tightlip.model.noise import Gaussian, Noise
from tightlip.model.secret import (
    BoundedSecret,
    DiscreteSecret,
    DistributionSecret,
    GaussianMixture,
    GaussianSecret,
    Secret,
    UniformSecret,
)
from tightlip.numeric.ball import Ball, ball, enclose, round_down, round_up
from tightlip.numeric.parse import FloatArray, Real, exact
from tightlip.numeric.rounding import UNIT, down, up
from tightlip.numeric.stieltjes import Kernel, bracket_method, log_expectation
from tightlip.numeric.tails import (
    laplace_excess,
    laplace_mass,
    normal_excess,
    normal_mass,
    sum_tail,
    tilted_tails,
)

_POINT_BITS = 53
_MAX_BITS = 1 << 12
_SLACK = 16 * UNIT
ClosedSecret = GaussianSecret | GaussianMixture | UniformSecret | DiscreteSecret


@dataclass(frozen=True, slots=True)
class PointKernel:
    """The likelihood of one outcome y, relative to the noise's peak: log g(x) is a rational number.

    >>> from tightlip.noise import Laplace
    >>> PointKernel(Laplace(2), Fraction(3)).exponent(Fraction(1))
    Fraction(-1, 1)
    """

    noise: Noise
    y: Real

    @property
    def peak(self) -> Real:
        """The secret with the largest g."""
        return self.y

    def exponent(self, x: Real) -> Fraction:
        """Return log g(x) exactly: −(y−x)²/2σ² or −|y−x|/b."""
        steps = (Fraction(self.y) - Fraction(x)) / Fraction(self.noise.width)
        return -(steps**2) / 2 if isinstance(self.noise, Gaussian) else -abs(steps)

    def log_at(self, x: Real) -> Ball:
        """Return log g(x) as a ball."""
        return ball(self.exponent(x))

    def log_ratio(self, x: Real, reference: Real) -> Ball:
        """Return log g(x)/g(reference) as a ball; exactly 0 for equally distant points."""
        return ball(self.exponent(x) - self.exponent(reference))

    def for_floats(self) -> Kernel:
        """Evaluate the kernel on float arrays, with outward rounding."""
        return Kernel(self._log_bounds, float(self.y), float(self.noise.width))

    def _log_bounds(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        centre = float(self.y)
        shift = 0.0 if self.y == centre else 2 * UNIT * abs(centre)
        distance = np.abs(points - centre)
        return (
            self._log_of(distance + shift) * (1 + _SLACK),
            np.maximum(self._log_of(np.maximum(distance - shift, 0.0)) * (1 - _SLACK), -1e300),
        )

    def _log_of(self, distance: FloatArray) -> FloatArray:
        steps = distance / float(self.noise.width)
        return -(steps**2) / 2 if isinstance(self.noise, Gaussian) else -steps


@dataclass(frozen=True, slots=True)
class IntervalKernel:
    """The probability that the outcome falls in (a, b), given the secret; a or b may be infinite.

    >>> from tightlip.noise import Laplace
    >>> IntervalKernel(Laplace(1), Fraction(0), Fraction(3)).peak
    Fraction(3, 2)
    """

    noise: Noise
    a: Real
    b: Real

    @property
    def peak(self) -> Real:
        """The secret with the largest g: the middle, or the infinite end."""
        if math.isinf(self.a) or math.isinf(self.b):
            return self.a if math.isinf(self.a) else self.b
        return (Fraction(self.a) + Fraction(self.b)) / 2

    def mass_at(self, x: Real) -> Ball:
        """Return g(x) as a ball; x may be infinite for a half-line."""
        x = exact(x)
        if math.isinf(x):
            return ball(1 if x == self.peak else 0)
        return self._mass(exact(self.a) - x, exact(self.b) - x)

    def _mass(self, u: Real | Ball, v: Real | Ball) -> Ball:
        mass = normal_mass if isinstance(self.noise, Gaussian) else laplace_mass
        return mass(u, v, ball(self.noise.width))

    def log_at(self, x: Real) -> Ball:
        """Return log g(x) as a ball."""
        return self.mass_at(x).log()

    def log_ratio(self, x: Real, reference: Real) -> Ball:
        """Return log g(x)/g(reference) as a ball; exactly 0 for equally distant points."""
        if x == reference or (math.isfinite(self.peak) and x + reference == 2 * self.peak):
            return ball(0)
        return self.log_at(x) - self.log_at(reference)

    def for_floats(self) -> Kernel:
        """Evaluate the kernel on float arrays, with outward rounding."""
        length = float(self.b) - float(self.a)
        width = max(float(self.noise.width), length if math.isfinite(length) else 0.0)
        return Kernel(self._log_bounds, float(self.peak), width)

    def _log_bounds(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        pairs = np.array([self._log_bounds_at(x) for x in points.tolist()])
        return pairs[:, 0], pairs[:, 1]

    def _log_bounds_at(self, x: float) -> tuple[float, float]:
        if math.isinf(x):
            return (0.0, 0.0) if x == self.peak else (-math.inf, -math.inf)
        lower, upper = _log_range(lambda: self._fast_mass(x))
        if x == float(self.peak):  # the true peak may lie between two floats
            upper = _log_range(lambda: self.mass_at(self.peak))[1]
        return lower, upper

    def _fast_mass(self, x: float) -> Ball:
        """The same as `mass_at`, from balls instead of rationals: thousands are needed."""
        at = ball(x)
        return self._mass(*(end if math.isinf(end) else ball(end) - at for end in (self.a, self.b)))


NoiseKernel = PointKernel | IntervalKernel


def nearest(kernel: NoiseKernel, secret: Secret) -> Real:
    """Find the secret with the largest g; it may be infinite for a half-line.

    >>> from tightlip.noise import Laplace
    >>> from tightlip.noise import UniformSecret
    >>> nearest(PointKernel(Laplace(1), 5.0), UniformSecret(0, 1))
    1.0
    >>> nearest(PointKernel(Laplace(1), 0.6), DiscreteSecret([0, 1], [0.5, 0.5]))
    Fraction(1, 1)
    """
    low, high = secret.support
    place = min(max(kernel.peak, low), high)
    if isinstance(secret, DiscreteSecret):
        return min((x for x, _ in secret.atoms), key=lambda x: abs(x - Fraction(place)))
    return place


def farthest(kernel: NoiseKernel, support: tuple[Real, Real]) -> Real:
    """Find the secret in the support's interval with the smallest g; it may be infinite.

    >>> from tightlip.noise import Laplace
    >>> farthest(PointKernel(Laplace(1), 5.0), (0.0, 1.0))
    0.0
    """
    low, high = support
    if math.isinf(kernel.peak):
        return low if kernel.peak > 0 else high
    if math.isinf(low) or math.isinf(high):
        return low if math.isinf(low) else high
    peak = Fraction(kernel.peak)
    return low if peak - Fraction(low) >= Fraction(high) - peak else high


def _log_range(mass: Callable[[], Ball]) -> tuple[float, float]:
    """Bounds of the logarithm of a mass, to an absolute accuracy of 2⁻⁵³ where that is possible."""
    from flint import ctx

    bits = 2 * _POINT_BITS
    while bits <= _MAX_BITS:
        with ctx.workprec(bits):
            value = mass().log()
            if value.is_finite() and value.rel_one_accuracy_bits() >= _POINT_BITS:
                return round_down(value), min(round_up(value), 0.0)
        bits *= 2
    return -math.inf, 0.0


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
    """Compute Σ p_k g(x_k)/g(reference), equal terms first added up exactly so that a constant g gives exactly 1."""
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


def _closed_form(kernel: NoiseKernel, secret: GaussianSecret | GaussianMixture | UniformSecret) -> Ball:
    if isinstance(secret, GaussianMixture):
        total = ball(0)
        for weight, mean, sigma in secret.components:
            total += ball(weight) * _closed_form(kernel, GaussianSecret(sigma, mean)).exp()
        return total.log()
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
