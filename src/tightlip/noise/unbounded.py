"""Unbounded secrets: against any post-processing of Y = X + N the envelope is infinite, and here is the attack.

Take m outcomes E_j = F_j ∪ M_j. The far intervals F_j lie next to each other beyond everything that
Y is likely to be, each around a secret x_j of the support, so wide that P(F_j|x_j) ≈ 1; the pieces
M_j have P(M_j) ≈ δ/m each and lie in the middle of Y. Then P(E_j) ≈ δ/m and

    ℓ(E_j) ≥ log P(F_j|x_j)/P(E_j) → log m/δ,

with total probability at least δ. As m grows, so does the level: ε_d(δ) = ε_c(δ) = ∞ for every δ > 0,
for Gaussian and Laplace noise alike, whenever the support of X is unbounded on one side. The attack is
deterministic. (GAU Theorems 2, 3 and Corollary 1 state log 2/δ for every measurable function; that
holds for monotone ones only, see `tightlip.noise.monotone`.)

One single outcome cannot do it: ℓ(E) ≤ log 1/P(E), so against binary post-processing the envelope
is log 1/δ, reached by a tail of Y.

Where the attack looks is worked out in plain floats; what is built from it is certified, and refused where cells
overlap.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from tightlip.arguments import whole
from tightlip.envelopes.result import Adversary, Envelope, read_delta
from tightlip.errors import NumericalFailure, PreconditionFailed
from tightlip.model.noise import AdditiveNoise, Gaussian, Noise
from tightlip.model.secret import DistributionSecret, GaussianMixture, GaussianSecret, Secret
from tightlip.noise.kernel import IntervalKernel, log_at, log_mean
from tightlip.noise.pointwise import require_reach, require_release
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.display import format_down
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.stieltjes import TailMasses, support_point_near

_SLACKS = (1e-7, 1e-4, 1e-3, 1e-2, 3e-2)  # how much more than δ the pieces are meant to have, tried in turn
_TOLERANCE = 3e-3
_MOST_SYMBOLS = 10_000
_FAR = 1e-4  # share of δ/m that the far intervals may have
_SAMPLES = 1 << 14


@dataclass(frozen=True, slots=True)
class UnboundedAttack:
    """A deterministic post-processing of Y: outcome j where Y is in `far[j]` or in `middle[j]`, else nothing.

    Attributes
    ----------
    release : what is attacked
    delta : the probability that is certified for the outcomes together
    far, middle : one interval (a, b) of Y each per outcome; all of them are disjoint
    suspects : the secret that each outcome points to
    lower : certified: every outcome leaks at least this many nats, rounded down
    """

    release: AdditiveNoise
    delta: Fraction
    far: tuple[tuple[float, float], ...]
    middle: tuple[tuple[float, float], ...]
    suspects: tuple[float, ...]
    lower: float

    @property
    def symbols(self) -> int:
        """The number of outcomes."""
        return len(self.far)

    def __repr__(self) -> str:
        return (
            f"UnboundedAttack({self.symbols} outcomes of total probability at least {format_down(self.delta)}, "
            f"each leaks at least {format_down(self.lower)} nats)"
        )


def unbounded_envelope(release: AdditiveNoise, delta: object, adversary: Adversary = "any") -> Envelope:
    """Compute ε(δ) of an unbounded secret: infinite, or log(1/δ) against a binary adversary.

    Raises
    ------
    PreconditionFailed
        When the support of the secret is bounded.

    >>> from tightlip.noise import Gaussian
    >>> from tightlip.noise import GaussianSecret
    >>> unbounded_envelope(AdditiveNoise(GaussianSecret(1), Gaussian(1)), "0.1").lower
    inf
    """
    _require_unbounded(release)
    level = read_delta(delta)
    if adversary == "binary":
        lower, upper = log_bounds(1 / level)
        return Envelope(level, lower, upper, "log(1/δ), reached in the limit by a tail of Y", "binary")
    why = "unbounded secret: unbounded_attack(release, delta, m) leaks about log(m/δ) for every m"
    return Envelope(level, math.inf, math.inf, why, adversary)


def unbounded_attack(release: AdditiveNoise, delta: object, symbols: int) -> UnboundedAttack:
    """Build the attack that leaks about log(symbols/δ) with probability at least δ, in nats.

    Parameters
    ----------
    release : an unbounded secret with Gaussian or Laplace noise
    delta : probability in (0, 1]
    symbols : m, the number of outcomes that point at a secret, from 1 to 10 000

    Returns
    -------
    UnboundedAttack, whose `lower` is certified by ball arithmetic (for a DistributionSecret by
    brackets of scipy's distribution function).

    Raises
    ------
    PreconditionFailed
        When the support of the secret is bounded.
    InvalidInput
        When symbols is not a usable number, or the far intervals would lie beyond 10⁹ noise widths.

    Reference: the counterexample to GAU Theorem 2.

    >>> from tightlip.noise import Gaussian
    >>> from tightlip.noise import GaussianSecret
    >>> unbounded_attack(AdditiveNoise(GaussianSecret(1), Gaussian(1)), "0.3", 3)
    UnboundedAttack(3 outcomes of total probability at least 0.3, each leaks at least 2.30258 nats)
    """
    side = _require_unbounded(release)
    level = read_delta(delta)
    symbols = whole(
        symbols, "symbols", 1, _MOST_SYMBOLS, remedy="choose about δ·e^ε for the level ε you want to see"
    )
    far = _far_intervals(release, float(level) / symbols * _FAR, symbols, side)
    require_reach(release, *far[-1])
    places = _places_of(release)
    for slack in _SLACKS[3:] if isinstance(release.secret, DistributionSecret) else _SLACKS:
        cuts = _middle_cuts(release, places, float(level) * (1 + slack), symbols)
        attack = _certify(release, level, *_join_cells(far, cuts, side))
        if attack is not None:
            return attack
    raise NumericalFailure(
        f"pieces of total probability {float(level):g} could not be certified; use a larger delta or fewer symbols."
    )


def _require_unbounded(release: AdditiveNoise) -> int:
    """The side, +1 or −1, on which the support has no end."""
    require_release(release)
    low, high = release.secret.support
    if math.isfinite(low) and math.isfinite(high):
        raise PreconditionFailed(
            f"secret must have an unbounded support, got [{float(low)!r}, {float(high)!r}]; "
            "use noise.envelope, which brackets the finite envelope of a bounded secret."
        )
    return 1 if math.isinf(high) else -1


def _certify(
    release: AdditiveNoise,
    delta: Fraction,
    far: list[tuple[float, float]],
    middle: list[tuple[float, float]],
) -> UnboundedAttack | None:
    """Measure the attack; None when its cells overlap or do not surely have probability δ."""
    cells = sorted([*far, *middle])
    if any(left[1] > right[0] for left, right in pairwise(cells)) or any(a >= b for a, b in cells):
        return None
    masses = [_mass(release, piece) for piece in middle]
    ends = [-math.inf, *(end for cell in cells for end in cell), math.inf]
    whole = ends[::2] == ends[1::2]  # no gap anywhere: then the outcomes are certain
    if not whole and sum((Fraction(low) for low, _ in masses), Fraction(0)) < delta:
        return None
    suspects, levels = [], []
    for interval, (_, piece) in zip(far, masses, strict=True):
        suspect = _suspect(release, interval)
        hit = Fraction(
            math.exp(log_at(IntervalKernel(release.noise, *interval), suspect)[0]) * (1 - 2.0**-50)
        )
        outcome = Fraction(piece) + Fraction(_far_mass(release, interval))
        suspects.append(suspect)
        levels.append(log_bounds(hit / outcome)[0])
    return UnboundedAttack(release, delta, tuple(far), tuple(middle), tuple(suspects), min(levels))


def _suspect(release: AdditiveNoise, interval: tuple[float, float]) -> float:
    """A secret near the middle of the interval (five or fifteen noise widths in, for a half-line)."""
    low, high = interval
    half = _half_width(release.noise)
    middle = high - half if math.isinf(low) else low + half
    if isinstance(release.secret, DistributionSecret):
        return support_point_near(release.secret.distribution, middle)
    return middle


def _far_mass(release: AdditiveNoise, interval: tuple[float, float]) -> float:
    """An upper bound of P{Y in interval} far out; for a distribution, of one of X and N being far out."""
    secret, noise = release.secret, release.noise
    if not isinstance(secret, DistributionSecret):
        return _mass(release, interval)[1]
    tails = TailMasses.of(secret.distribution, secret.cdf_error)
    side = 1 if interval[0] > tails.median else -1
    start = interval[0] if side > 0 else interval[1]
    split = start - side * _noise_isf(noise)(1e-12) * float(noise.width)
    above = float(tails.log_tails(np.array([split]))[1][0]) if side * (split - tails.median) > 0 else 0.0
    half_line = IntervalKernel(noise, *((start, math.inf) if side > 0 else (-math.inf, start)))
    return (math.exp(above) + math.exp(log_at(half_line, split)[1])) * (1 + 2.0**-45) + 1e-300


def _mass(release: AdditiveNoise, interval: tuple[float, float]) -> tuple[float, float]:
    """Bounds of P{Y in interval}."""
    kernel = IntervalKernel(release.noise, *interval)
    inside = next(end for end in interval if math.isfinite(end)) if math.isinf(kernel.peak) else kernel.peak
    found = log_mean(kernel, release.secret, inside, _TOLERANCE)
    low, high = log_at(kernel, inside)
    lower, upper = math.exp(found.lower + low), math.exp(found.upper + high)
    return lower * (1 - 2.0**-45), min(upper * (1 + 2.0**-45) + 1e-300, 1.0)


def _half_width(noise: Noise) -> float:
    """Half the length of a far interval: N stays within it but for 6e-7 (5σ) or 3e-7 (15b).

    >>> _half_width(Gaussian(2))
    10.0
    """
    return (5.0 if isinstance(noise, Gaussian) else 15.0) * float(noise.width)


def _far_intervals(release: AdditiveNoise, mass: float, symbols: int, side: int) -> list[tuple[float, float]]:
    """Neighbouring intervals, outward from a point with at most about this mass of Y beyond it."""
    secret, noise = release.secret, release.noise
    reach = _noise_isf(noise)(min(mass / 2, 1e-12)) * float(noise.width)
    start = side * reach + _beyond(secret, mass / 2, side)
    length = 2 * _half_width(noise)
    edges = [start + side * length * j for j in range(symbols + 1)]
    return [(min(pair), max(pair)) for pair in pairwise(edges)]


def _beyond(secret: Secret, mass: float, side: int) -> float:
    if isinstance(secret, GaussianSecret):
        return float(secret.mean) + side * float(_normal_isf(mass)) * float(secret.sigma)
    if isinstance(secret, GaussianMixture):
        steps = side * float(_normal_isf(mass))
        return side * max(side * (float(mean) + steps * float(sigma)) for _, mean, sigma in secret.components)
    assert isinstance(secret, DistributionSecret)
    return float((secret.distribution.isf if side > 0 else secret.distribution.ppf)(mass))


def _places_of(release: AdditiveNoise) -> FloatArray:
    """Equally likely places of X in plain floats; what is built from them is certified afterwards."""
    secret = release.secret
    levels = (np.arange(_SAMPLES) + 0.5) / _SAMPLES
    if isinstance(secret, GaussianSecret):
        found = float(secret.mean) + float(secret.sigma) * _normal_isf(levels)
    elif isinstance(secret, GaussianMixture):
        found = np.concatenate([_component_places(*component) for component in secret.components])
    else:
        assert isinstance(secret, DistributionSecret)
        found = secret.distribution.isf(levels)
    return np.asarray(found, dtype=np.float64)


def _component_places(weight: Fraction, mean: Fraction, sigma: Fraction) -> FloatArray:
    count = max(round(weight * _SAMPLES), 1)
    levels = (np.arange(count) + 0.5) / count
    return np.asarray(float(mean) + float(sigma) * _normal_isf(levels), dtype=np.float64)


def _middle_cuts(release: AdditiveNoise, places: FloatArray, mass: float, symbols: int) -> list[float]:
    """Points that cut the middle of Y, of about this mass, into equally likely pieces."""
    from scipy.optimize import brentq

    noise, secret = release.noise, release.secret
    width, tail = float(noise.width), _sf(noise)
    total = mass if (1 - mass) / 2 > max(10 * _FAR * mass / symbols, 1 / _SAMPLES) else 1.0
    exact = isinstance(noise, Gaussian) and isinstance(secret, GaussianSecret)
    if isinstance(secret, GaussianSecret) and exact:
        places, width = np.array([float(secret.mean)]), math.hypot(width, float(secret.sigma))
    reach = 40 * width

    def cut(level: float) -> float:
        if not 0 < level < 1:
            return math.inf if level >= 1 else -math.inf
        low, high = float(places.min()) - reach, float(places.max()) + reach
        return float(brentq(lambda y: 1 - level - float(np.mean(tail((y - places) / width))), low, high))

    return [cut((1 - total) / 2 + total * j / symbols) for j in range(symbols + 1)]


def _join_cells(
    far: list[tuple[float, float]], cuts: list[float], side: int
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Join far intervals and pieces to the whole line, where the pieces have no end."""
    if math.isfinite(cuts[0]):
        return far, list(pairwise(cuts))
    first, last = far[0], far[-1]
    if side > 0:
        return [*far[:-1], (last[0], math.inf)], list(pairwise([*cuts[:-1], first[0]]))
    return [*far[:-1], (-math.inf, last[1])], list(pairwise([first[1], *cuts[1:]]))


def _normal_isf(level: Any) -> Any:
    from scipy.special import ndtri

    return -ndtri(level)


def _noise_isf(noise: Noise) -> Callable[[float], float]:
    """The distance, in noise widths, beyond which N has a given mass on one side."""
    if isinstance(noise, Gaussian):
        return lambda mass: float(_normal_isf(mass))
    return lambda mass: -math.log(2 * mass)


def _sf(noise: Noise) -> Callable[[FloatArray], FloatArray]:
    from scipy.special import ndtr

    return (lambda u: np.asarray(ndtr(-u))) if isinstance(noise, Gaussian) else _laplace_sf


def _laplace_sf(u: FloatArray) -> FloatArray:
    tail: FloatArray = np.exp(-np.abs(u)) / 2
    return np.where(u > 0, tail, 1 - tail)
