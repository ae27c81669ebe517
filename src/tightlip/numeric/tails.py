"""Masses and tails of noise as balls, without cancellation far out.

Distances are exact rationals, balls of known sign or infinities, so every choice of formula is
decided exactly; scales are balls. Q is the standard normal tail, φ its density.
"""

from __future__ import annotations

import math

from tightlip.numeric.ball import Ball, ball
from tightlip.numeric.parse import Real


def normal_tail(u: Real | Ball, sigma: Ball) -> Ball:
    """Compute P{N > u} = erfc(u/(σ√2))/2 for N ~ N(0, σ²).

    >>> float(normal_tail(0.0, ball(1)))
    0.5
    """
    if _infinite(u):
        return ball(0 if u > 0 else 1)
    return (ball(u) / (sigma * ball(2).sqrt())).erfc() / 2


def normal_mass(u: Real | Ball, v: Real | Ball, sigma: Ball) -> Ball:
    """Compute P{u < N < v} for N ~ N(0, σ²) and u < v.

    >>> round(float(normal_mass(-1.0, 1.0, ball(1))), 6)
    0.682689
    """
    if v < 0:
        return normal_mass(-v, -u, sigma)
    if u > 0:
        return normal_tail(u, sigma) - normal_tail(v, sigma)
    return 1 - normal_tail(-u, sigma) - normal_tail(v, sigma)


def laplace_mass(u: Real | Ball, v: Real | Ball, scale: Ball) -> Ball:
    """Compute P{u < N < v} for Laplace noise and u < v.

    >>> float(laplace_mass(0.0, math.inf, ball(1)))
    0.5
    """
    if v < 0:
        return laplace_mass(-v, -u, scale)
    if u > 0:
        return (-ball(u) / scale).exp() * _missing(v - u, scale) / 2
    return (_missing(-u, scale) + _missing(v, scale)) / 2


def _missing(distance: Real | Ball, scale: Ball) -> Ball:
    return ball(1) if _infinite(distance) else -(-ball(distance) / scale).expm1()


def normal_excess(u: Real | Ball, sigma: Ball) -> Ball:
    """Compute E(N − u)₊ = σφ(u/σ) − u Q(u/σ), the integral of the tail beyond u.

    >>> round(float(normal_excess(0.0, ball(1))), 6)
    0.398942
    """
    if _infinite(u):
        return ball(0)
    density = (-((ball(u) / sigma) ** 2) / 2).exp() / (2 * ball(1).pi()).sqrt()
    return sigma * density - ball(u) * normal_tail(u, sigma)


def laplace_excess(u: Real | Ball, scale: Ball) -> Ball:
    """Compute E(N − u)₊ = (b/2)e^{−|u|/b} + (−u)₊, the integral of the tail beyond u.

    >>> float(laplace_excess(-1.0, ball(1))) > 1
    True
    """
    if _infinite(u):
        return ball(0)
    beyond = scale * (-ball(max(u, -u)) / scale).exp() / 2
    return beyond - ball(u) if u < 0 else beyond


def sum_tail(u: Real | Ball, sigma: Ball, scale: Ball) -> Ball:
    """Compute P{Z + N > u} for independent Z ~ N(0, σ²) and Laplace noise N.

    Q(u/σ) + ½e^{s²/2}(e^{−u/b} Q(s − u/σ) − e^{u/b} Q(s + u/σ)) with s = σ/b.

    >>> float(sum_tail(0.0, ball(1), ball(1)))
    0.5
    """
    if _infinite(u):
        return ball(0 if u > 0 else 1)
    falling, rising = tilted_tails(u, sigma, scale)
    return normal_tail(u, sigma) + (falling - rising) / 2


def tilted_tails(u: Real | Ball, sigma: Ball, scale: Ball) -> tuple[Ball, Ball]:
    """Compute E[e^{−(u−Z)/b}; Z < u] and E[e^{−(Z−u)/b}; Z > u] for Z ~ N(0, σ²).

    >>> below, above = tilted_tails(0.0, ball(1), ball(1))
    >>> below.overlaps(above)
    True
    """
    at, ratio = ball(u), sigma / scale
    root = ball(2).sqrt()
    below = (ratio**2 / 2 - at / scale).exp() * ((ratio - at / sigma) / root).erfc() / 2
    above = (ratio**2 / 2 + at / scale).exp() * ((ratio + at / sigma) / root).erfc() / 2
    return below, above


def _infinite(u: Real | Ball) -> bool:
    return isinstance(u, float) and math.isinf(u)
