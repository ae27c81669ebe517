"""Slow, obvious quadrature for additive noise, independent of the library's formulas."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import acb, arb, ctx
from scipy import integrate, stats

from tightlip.model.noise import Gaussian, Noise
from tightlip.model.secret import (
    DiscreteSecret,
    DistributionSecret,
    GaussianSecret,
    Secret,
    UniformSecret,
)


def noise_law(noise: Noise) -> Any:
    return (
        stats.norm(0, float(noise.sigma))
        if isinstance(noise, Gaussian)
        else stats.laplace(0, float(noise.scale))
    )


def secret_law(secret: Secret) -> Any:
    if isinstance(secret, GaussianSecret):
        return stats.norm(float(secret.mean), float(secret.sigma))
    if isinstance(secret, UniformSecret):
        return stats.uniform(float(secret.low), float(secret.high) - float(secret.low))
    assert isinstance(secret, DistributionSecret)
    return secret.distribution


def mean_of(function: Any, secret: Secret, around: list[float], reach: float = math.inf) -> float:
    """E function(X) by adaptive quadrature of the density, or a sum over atoms."""
    if isinstance(secret, DiscreteSecret):
        pairs = zip(secret.points, secret.masses, strict=True)
        return math.fsum(float(mass) * function(float(x)) for x, mass in pairs)
    law = secret_law(secret)
    low, high = max(law.ppf(1e-16), -reach), min(law.isf(1e-16), reach)
    breaks = sorted(
        {low, high, *(x for x in around if low < x < high), *law.ppf([0.01, 0.1, 0.5, 0.9, 0.99])}
    )
    parts = [
        integrate.quad(lambda x: function(x) * law.pdf(x), a, b, epsabs=1e-14, epsrel=1e-10, limit=200)[0]
        for a, b in pairwise(breaks)
    ]
    return math.fsum(parts)


def density_at(secret: Secret, noise: Noise, y: float) -> float:
    law = noise_law(noise)
    return mean_of(lambda x: float(law.pdf(y - x)), secret, [y])


def mass_in(secret: Secret, noise: Noise, a: float, b: float, reach: float = math.inf) -> float:
    law = noise_law(noise)
    return mean_of(lambda x: float(law.cdf(b - x) - law.cdf(a - x)), secret, [a, b], reach)


def log_gaussian_density_far(y: float, sigma: float, scale: float) -> float:
    """log of E e^{−|y−X|/b}, X ~ N(0, σ²), by rigorous complex quadrature."""
    with ctx.workprec(256):
        s, b, at = arb(sigma), arb(scale), arb(y)

        def left(x: Any, _: Any) -> Any:
            return (-(x * x) / (2 * s * s) - (at - x) / b).exp()

        def right(x: Any, _: Any) -> Any:
            return (-(x * x) / (2 * s * s) - (x - at) / b).exp()

        edge = 60 * sigma
        total = acb.integral(left, -edge, y) + acb.integral(right, y, y + edge)
        return float((total.real / (s * (2 * arb.pi()).sqrt())).log().mid())


def high_precision_normal_mass(a: float, b: float, sigma: Fraction | float) -> Any:
    """Φ(b/σ) − Φ(a/σ) with 3000 bits: subtraction without care."""
    s = arb(sigma) if isinstance(sigma, float) else arb(sigma.numerator) / sigma.denominator
    root = arb(2).sqrt()
    return ((arb(b) / (s * root)).erf() - (arb(a) / (s * root)).erf()) / 2
