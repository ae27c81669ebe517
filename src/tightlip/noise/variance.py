"""The largest posterior variance of a secret with Gaussian noise: sup_y Var[X|Y=y]/σ_N², and whether it is at most ¾.

At most ¾ is the condition of GAU Theorem 3, under which interval cells leak log(2/δ) at most (`monotone`). Everything
is in noise widths, σ_N = 1. What is proved, by kind of secret:

- Gaussian: d²/(1 + d²) at every y.
- Only a range of half-length A is known: A² (Popoviciu), reached between two equal atoms at the ends.
- Uniform on a range of half-length A: 1 − 2Aφ(A)/(2Φ(A) − 1), at the middle. The posterior is a normal cut to the
  range; by the GHS inequality of Ellis, Monroe and Newman (1976; densities e^{−V}, V even, V' convex right of 0, here
  V = x²/2, then infinite) its third cumulant, the slope of the variance in y, is not positive right of the middle.
- Strongly log-concave, (log f_X)'' ≤ −1/β²: β²/(1 + β²) (Brascamp–Lieb; GAU Corollary 1), so β ≤ √3 σ_N is enough.
  Cut to an interval they stay so. Known of the scipy families in `_CURVATURES`, from their formulas.
- Atoms and mixtures of normals: branch and bound in balls, Var(y) ∈ Var(c) + κ₃·(y − c) with the third cumulant κ₃ over
  the cell, and beyond it a bound that falls. Let component * have the largest s_k (of those the outermost mean),
  r_k = π_k N(y; μ_k, s_k²)/π_* N(y; μ_*, s_*²). Then Var ≤ v_* + Σ_k r_k (m_k − m_*)². Outward from y, log r_k has a
  falling slope and so has 2 log|m_k − m_*| where |m_k − m_*| does not shrink: a term that falls once falls for ever.
- Bounded scipy distributions: on a grid of y, Var(y + t) ≤ E_y[(X−c)² e^{h|X−c|}] e^{h|E_y X − c|} for |t| ≤ h (the
  posterior is tilted by e^{t(x−c)}, whose mean Jensen's inequality bounds). Beyond, with u the distance of X from the
  near end, s that of y, and L the length: E[u²] ≤ u₀² + L² e^{−u₀s/2 − 3u₀²/8} P{u > u₀}/P{u ≤ u₀/2}.
- Other unbounded scipy distributions: a y at which it is larger than ¾, or undecided; a cdf says nothing of its tails.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count

import numpy as np

from tightlip.certificate.recomputation import (
    WORST_POSTERIOR_VARIANCE,
    Recomputation,
    certify_by_recomputation,
)
from tightlip.model.noise import AdditiveNoise
from tightlip.model.secret import (
    BoundedSecret,
    DistributionSecret,
    GaussianSecret,
    UniformSecret,
    shapes_of,
)
from tightlip.noise.grid import MARGIN
from tightlip.noise.pointwise import require_reach
from tightlip.noise.posterior import (
    Component,
    components,
    mixture_moments,
    posterior_moments,
    require_gaussian_noise,
    truncated_normal,
)
from tightlip.numeric.ball import Ball, ball, enclose, round_down, round_up
from tightlip.numeric.display import format_down, format_up
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.proved import Proved, require_order
from tightlip.numeric.rounding import float_above, float_below
from tightlip.numeric.stieltjes import TailMasses, quiet

LIMIT = Fraction(3, 4)
_BITS = 128
_WORK = 60_000  # cells times components of the branch and bound
_CLOSE = 1e-4  # between the ends: no closer, unless the limit lies between them
_CLOSEST = 1e-9
_FARTHEST = 1e7  # noise widths: beyond, no bound of a tail is looked for
_NEAR = 0.6  # u₀
_PARTS, _STEPS = 500, 50  # cells of x and of y per noise width
_MOST_PARTS = 20_000
_MOST_RANGE = 12  # noise widths of a scipy distribution that is checked on a grid
_LIKELY = 1e-9
_LEVELS = (1e-6, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5)


@dataclass(frozen=True, slots=True)
class PosteriorVarianceBound(Proved):
    """The largest posterior variance over noise variance, sup_y Var[X|Y=y]/σ_N², in [lower, upper].

    Attributes
    ----------
    lower, upper : sound ends; for a BoundedSecret the range over every distribution
    method : what proves them
    at : an outcome y at which the variance is at least `lower`, where there is one
    holds : whether it is at most ¾: True, False (`at` is the counterexample), or None where the ends do not decide

    >>> PosteriorVarianceBound(0.5, 0.8, "for example").holds is None
    True
    """

    lower: float
    upper: float
    method: str
    at: float | None = None
    certificate: Recomputation | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        require_order(self.lower, self.upper)

    @property
    def holds(self) -> bool | None:
        """Whether the variance is at most ¾σ_N² at every outcome; None where that is undecided."""
        if self.upper <= LIMIT:
            return True
        return False if self.lower > LIMIT else None

    def __repr__(self) -> str:
        words = {True: "holds", False: f"fails at y = {self.at!r}", None: "undecided"}[self.holds]
        ends = f"{format_down(self.lower)} to {format_up(self.upper)}"
        return f"PosteriorVarianceBound(largest Var[X|Y=y]/σ_N² {ends}, at most ¾: {words}, by {self.method})"


def posterior_variance_bound(release: AdditiveNoise) -> PosteriorVarianceBound:
    """Decide whether Var[X|Y=y] ≤ ¾σ_N² at every outcome y, for Gaussian noise, by bounds of the largest one.

    Parameters
    ----------
    release : a secret with Gaussian noise

    Returns
    -------
    PosteriorVarianceBound, whose `holds` is True with its proof named in `method`, False with the counterexample `at`,
    or None with the gap between the ends.

    Raises
    ------
    PreconditionFailed
        When the noise is not Gaussian.
    WrongType, InvalidInput
        When it is no release, or the secret reaches over more than 10⁹ noise widths.

    Reference: GAU paper, Theorem 3 and Corollary 1; the top of this module has the proofs.

    >>> from tightlip.noise import Gaussian
    >>> posterior_variance_bound(AdditiveNoise(UniformSecret(0, 3), Gaussian(1))).holds
    True
    """
    require_gaussian_noise(release)
    require_reach(release)
    return certify_by_recomputation(WORST_POSTERIOR_VARIANCE, _largest(release), release=release)


def _largest(release: AdditiveNoise) -> PosteriorVarianceBound:
    secret, width = release.secret, Fraction(release.noise.width)
    if isinstance(secret, GaussianSecret):
        square = (Fraction(secret.sigma) / width) ** 2
        share = square / (1 + square)
        return PosteriorVarianceBound(
            float_below(share), float_above(share), "closed form, the same at every y", float(secret.mean)
        )
    if isinstance(secret, DistributionSecret):
        return _of_distribution(release, secret)
    if not isinstance(secret, (BoundedSecret, UniformSecret)):
        return _of_mixture(components(secret, width), width)
    low, high = (Fraction(end) / width for end in secret.support)
    if isinstance(secret, BoundedSecret):
        method = "Popoviciu's inequality, over every distribution on [low, high]"
        return PosteriorVarianceBound(0.0, float_above((high - low) ** 2 / 4), method)
    half = (high - low) / 2
    lower, upper = enclose(lambda: truncated_normal(-half, half)[1])
    method = "truncated normal at the middle, GHS inequality"
    return PosteriorVarianceBound(lower, upper, method, float((low + high) / 2 * width))


def _of_mixture(parts: Sequence[Component], width: Fraction) -> PosteriorVarianceBound:
    """Branch and bound between the places beyond which the tails have their bounds."""
    from flint import ctx

    if len(parts) == 1:
        share = parts[0][2] / (1 + parts[0][2])
        return PosteriorVarianceBound(float_below(share), float_above(share), "constant secret")
    with ctx.workprec(_BITS):
        start, tail = min(mean for _, mean, _ in parts), 0.0
        ends = []
        for side in (-1, 1):
            end, bound = _tail([(p, side * (mean - start), v) for p, mean, v in parts])
            ends.append(side * end)
            tail = max(tail, bound)
        shifted = [(p, mean - start, v) for p, mean, v in parts]
        lower, upper, at = _branch_and_bound(shifted, ends[0], ends[1], tail)
    place = float((Fraction(at) + start) * width)
    return PosteriorVarianceBound(
        lower, upper, "branch and bound in balls, falling bounds of both tails", place
    )


def _tail(parts: Sequence[Component]) -> tuple[float, float]:
    """An end T, and a bound of the variance at every y ≥ T that is near its limit; infinite where none is found."""
    outer = max(parts, key=lambda part: (part[2], part[1]))
    limit = outer[2] / (1 + outer[2])
    end = max(mean for _, mean, _ in parts) + 4
    found = math.inf
    step = Fraction(4)
    while step < _FARTHEST:
        terms: list[Ball] = [_falling_term(part, outer, end) for part in parts if part != outer]
        if None not in terms:
            found = round_up(ball(limit) + sum(terms, ball(0)))
            if found <= limit + max(Fraction(_CLOSE), abs(LIMIT - limit) / 2):
                break
        end, step = end + step, 2 * step
    return float_above(end), found


def _falling_term(part: Component, outer: Component, y: Fraction) -> Ball | None:
    """r_k (m_k − m_*)² at y, a ball, where it is sure to fall from there on; None elsewhere."""
    (weight, mean, variance), (top_weight, top_mean, top_variance) = part, outer
    near, far = 1 / (1 + variance), 1 / (1 + top_variance)
    apart = (mean * near + y * (1 - near)) - (top_mean * far + y * (1 - far))
    growth = far - near
    slope = far * (y - top_mean) - near * (y - mean)
    if apart == 0 or growth * apart < 0 or slope + 2 * growth / apart > 0:
        return None
    exponent = (far * (y - top_mean) ** 2 - near * (y - mean) ** 2) / 2
    return ball(weight / top_weight * apart**2) * ball(near / far).sqrt() * ball(exponent).exp()


def _branch_and_bound(
    parts: Sequence[Component], low: float, high: float, tail: float
) -> tuple[float, float, float]:
    """Bound the largest variance: lower end, upper end with `tail` included, and the y of the lower one."""
    lower, at = 0.0, low
    for y in (low, high, *(float(mean) for _, mean, _ in parts)):
        value = round_down(mixture_moments(parts, Fraction(y))[1])
        lower, at = max((lower, at), (value, y))
    order = count()
    cells = [(-math.inf, next(order), low, high)]
    for _ in range(max(_WORK // len(parts), 200)):
        top = max(-cells[0][0], tail)
        decided = not lower <= LIMIT < top
        if top - max(lower, tail) <= (_CLOSE if decided else _CLOSEST):
            break
        _, _, left, right = heapq.heappop(cells)
        middle = (left + right) / 2
        for a, b in ((left, middle), (middle, right)):
            value, bound, centre = _over(parts, a, b)
            lower, at = max((lower, at), (value, centre))
            heapq.heappush(cells, (-bound, next(order), a, b))
    return lower, max(-cells[0][0], tail, lower), at


def _over(parts: Sequence[Component], a: float, b: float) -> tuple[float, float, float]:
    """The variance at the middle from below, its bound over [a, b], and the middle."""
    centre = (a + b) / 2
    radius = max(b - centre, centre - a) * (1 + 2.0**-50)
    variance = mixture_moments(parts, Fraction(centre))[1]
    _, naive, slope = mixture_moments(parts, Fraction(centre), radius)
    bounds = [variance + abs(slope) * radius, naive]
    finite = [round_up(bound) for bound in bounds if bound.is_finite()]
    return max(round_down(variance), 0.0), min(finite, default=math.inf), centre


_CURVATURES: dict[str, Callable[..., Fraction | float]] = {
    "beta": lambda a, b: _beta_curvature(Fraction(a) - 1, Fraction(b) - 1),
    "chi": lambda df: Fraction(df >= 1),
    "halfnorm": lambda: Fraction(1),
    "maxwell": lambda: Fraction(1),
    "powernorm": lambda c: Fraction(c >= 1),
    "rayleigh": lambda: Fraction(1),
    "skewnorm": lambda a: Fraction(1),
    "truncnorm": lambda a, b: Fraction(1),
}  # lower bounds of −(log f_X)'', at scale 1, by scipy's names


def _beta_curvature(p: Fraction, q: Fraction) -> float:
    """The smallest p/x² + q/(1−x)², which is (p^⅓ + q^⅓)³ at x : 1 − x = p^⅓ : q^⅓, rounded down."""
    if p < 0 or q < 0:
        return 0.0
    third = ball(Fraction(1, 3))
    roots = [ball(each) ** third if each else ball(0) for each in (p, q)]
    total = roots[0] + roots[1]
    return max(round_down(total * total * total), 0.0)


def _of_distribution(release: AdditiveNoise, secret: DistributionSecret) -> PosteriorVarianceBound:
    """The smallest of the bounds that apply, above the variance at the worst y that was found."""
    width = Fraction(release.noise.width)
    low, high = secret.support
    upper, method = min(_known_bounds(secret, width))
    at = _worst_outcome(release, secret)
    tolerance = 1e-2 if upper <= LIMIT else 1e-3
    variance = posterior_moments(release, at, tolerance=tolerance).variance
    seen = min(variance.lower / float(width) ** 2 * (1 - MARGIN), upper)
    if upper > LIMIT >= seen and high - low <= _MOST_RANGE * width:
        on_grid = _on_grid(secret, width), f"grid of y, trusts the cdf to {secret.cdf_error:g}"
        upper, method = min((upper, method), on_grid)
    return PosteriorVarianceBound(seen, max(seen, upper), method, at)


def _known_bounds(secret: DistributionSecret, width: Fraction) -> Iterator[tuple[float, str]]:
    yield math.inf, "only the variance at one y is known"
    low, high = secret.support
    if math.isfinite(low) and math.isfinite(high):
        yield float_above(((Fraction(high) - Fraction(low)) / width) ** 2 / 4), "Popoviciu's inequality"
    name = secret.distribution.dist.name
    if name in _CURVATURES:
        shapes, _, scale = shapes_of(secret.distribution)
        curvature = Fraction(_CURVATURES[name](*shapes)) * (width / Fraction(scale)) ** 2
        yield float_above(1 / (1 + curvature)), f"Brascamp–Lieb, {name} is strongly log-concave"


def _worst_outcome(release: AdditiveNoise, secret: DistributionSecret) -> float:
    """Where the posterior variance is about largest, in plain floats."""
    law, width = secret.distribution, float(release.noise.width)
    levels = np.array(_LEVELS)
    around = np.array([0.0, 0.5, 1.0, 2.0, 4.0, 8.0])
    quantiles = np.concatenate([law.ppf(levels), law.isf(levels)])
    low, high = law.support()
    body = np.linspace(quantiles.min(), quantiles.max(), 101)
    places = np.concatenate([body, *(quantiles + side * width * far for far in around for side in (-1, 1))])
    places = np.unique(places[np.isfinite(places)])
    steps = np.linspace(-9.0, 9.0, 601) * width
    centres = np.clip(places[:, None] + steps, low, high)
    with quiet():
        density = np.nan_to_num(law.pdf(centres), nan=0.0, posinf=0.0)
        weights = density * np.exp(-(((centres - places[:, None]) / width) ** 2) / 2)
        weights[(centres <= low) | (centres >= high)] = 0.0
        overall = weights.sum(axis=1, keepdims=True)
        weights /= overall
        mean = (weights * centres).sum(axis=1, keepdims=True)
        variance = (weights * (centres - mean) ** 2).sum(axis=1)
    likely = overall[:, 0] > _LIKELY * overall.max()  # where the error of a cdf leaves something to see
    return float(places[np.argmax(np.where(likely, variance, -1.0))])


def _on_grid(secret: DistributionSecret, width: Fraction) -> float:
    """An upper bound of the largest variance of a bounded secret, both tails of y included."""
    low, high = (Fraction(end) for end in secret.support)
    span = float_above((high - low) / width)
    cells = min(math.ceil(_PARTS * span), _MOST_PARTS)
    cuts = np.array([float(low + (high - low) * k / cells) for k in range(cells + 1)])
    cuts[0], cuts[-1] = float(low), float(high)
    cuts = np.unique(np.append(cuts, float(secret.distribution.median())))
    masses = TailMasses.of(secret.distribution, secret.cdf_error)
    with quiet():
        least, most = (np.exp(logs) for logs in masses.of_cells(cuts, *masses.log_tails(cuts)))
    places = np.array([float((Fraction(x) - low) / width) for x in cuts.tolist()])
    reaches = [
        _reach(places, least, most, span),
        _reach(span - places[::-1], least[::-1], most[::-1], span),
    ]
    if math.inf in reaches:
        return math.inf
    steps = math.ceil((reaches[0] + span + reaches[1]) * _STEPS)
    nodes = np.linspace(-reaches[0], span + reaches[1], steps + 1)
    inside = max(_tilted(places, least, most, y, 0.51 / _STEPS) for y in nodes.tolist())
    return max(inside, _NEAR**2 + 0.1) * (1 + 100 * MARGIN)


def _reach(places: FloatArray, least: FloatArray, most: FloatArray, span: float) -> float:
    """How far beyond the end at 0 the bound u₀² + 0.1 of the tail begins; infinite where it is too far."""
    near = float(least[places[1:] <= _NEAR / 2].sum())
    far = float(most[places[1:] > _NEAR].sum())
    if near <= 0 or span <= _NEAR:
        return math.inf if near <= 0 else 0.0
    ratio = 10 * span**2 * far / near * math.exp(-3 * _NEAR**2 / 8) * (1 + 1e-9)
    reach = 2 / _NEAR * math.log(max(ratio, 1.0)) + 1e-6
    return reach if reach < _MOST_RANGE * 20 else math.inf


def _tilted(places: FloatArray, least: FloatArray, most: FloatArray, y: float, half: float) -> float:
    """Bound Var[X|Y=z] for |z − y| ≤ half, from masses of X in cells."""
    left, right = places[:-1], places[1:]
    nearest = np.maximum(np.maximum(left - y, y - right), 0.0)
    farthest = np.maximum(np.abs(left - y), np.abs(right - y))
    shift = float(nearest.min() ** 2) / 2
    above = most * np.exp(shift - nearest**2 / 2)
    below = least * np.exp(shift - farthest**2 / 2)
    overall = float(below.sum())
    if overall <= 0:
        return math.inf
    centre = float(above @ (left + right)) / 2 / float(above.sum())
    off = np.maximum(np.abs(left - centre), np.abs(right - centre))
    second = float(above @ (off**2 * np.exp(half * off))) / overall
    total = float(above.sum())
    right_most = above @ (right - centre).clip(0) / overall - below @ (centre - right).clip(0) / total
    left_most = above @ (centre - left).clip(0) / overall - below @ (left - centre).clip(0) / total
    return second * math.exp(half * max(abs(float(right_most)), abs(float(left_most))))
