"""Interval post-processing of a noisy Gaussian secret: what a monotone function of Y can give away.

X ~ N(0, σ_X²), Y = X + N with Gaussian or Laplace noise N. A monotone h has intervals as cells, with

    ℓ(a, b) = log G(b − a)/P{a < Y < b},   G(L) = P{|N| < L/2}     (the best x is the middle).

Let s(a) = sup_{b > a} ℓ(a, b), the limits b → a (one outcome) and b → ∞ (a tail) included, and let
a_δ be the point with P{Y > a_δ} = δ/2. **The interval envelope is s(a_δ), for every δ in (0, 1].**

*Upper end.* G is concave with G(0) = 0, so G(u+v) ≤ G(u) + G(v): a cell around 0 that leaks ε has a
half that does. f_Y falls in |y|, so s rises on a ≥ 0. Cells that leak ε thus lie in |y| ≥ α with
s(α) ≥ ε (or α = 0), and they have probability at least δ only if P{|Y| > α} ≥ δ, that is α ≤ a_δ.
*Lower end.* Cut both tails from a_δ outward, each next cell ending where it leaks s(a_δ): s rises, so
it exists; a tail far enough out is one cell; steps of bounded length give s(a_δ) − η for any η > 0.

*The supremum over b.* G/P rises or falls with G'/P' against G/P, and both start at 0, so G/P follows
the shape of r(L) = G'(L)/P'(L) (monotone l'Hôpital rule).
Gaussian noise: (log r)' = a/σ_Y² + L(1/σ_Y² − 1/4σ_N²). Where σ_X² ≤ 3σ_N² it is positive: the tail
is best and s = log 2/δ (GAU Lemma 3). Otherwise r rises, then falls to 0, and G/P has one maximum L*,
where it equals r; beyond the top of r, r(L) bounds the maximum from above for every L ≤ L*.
Laplace noise: −(log f_Y)' rises from 0 to 1/b, so r falls, then rises to ∞: the best cell is the
outcome a_δ itself or the tail, s = max{ℓ(a_δ), log 2/δ}.

*Other secrets, Gaussian noise.* **If Var[X|Y=y] ≤ ¾σ_N² for all y, no interval cells reach more than
log 2/δ, for every δ in (0, 1]**; a secret without bounds on either side reaches it by two tails of Y. The proof is in
docs/envelope.md; `variance` decides the condition. Otherwise `intervals` brackets the envelope on a grid.

Reference: GAU paper, Theorems 2, 3 and Corollary 1, read for interval cells; the last two say it for δ small
enough only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from tightlip.envelopes.result import Envelope, read_delta
from tightlip.errors import NumericalFailure, PreconditionFailed
from tightlip.model.noise import AdditiveNoise, Gaussian, Laplace
from tightlip.model.secret import BoundedSecret, GaussianSecret
from tightlip.noise.bounded import CELLS, closed_form, read_cells
from tightlip.noise.intervals import SMALLEST, bracket_intervals
from tightlip.noise.pointwise import pml as noise_pml
from tightlip.noise.pointwise import require_release
from tightlip.noise.variance import PosteriorVarianceBound, posterior_variance_bound
from tightlip.numeric.ball import Ball, ball, enclose, log_bounds, round_down, round_up
from tightlip.numeric.display import format_python
from tightlip.numeric.parse import Real
from tightlip.numeric.rounding import down, up
from tightlip.numeric.tails import normal_mass, normal_tail, sum_tail

_BITS = (256, 1024, 4096)
_HALVINGS = 120


def interval_envelope(release: AdditiveNoise, delta: object, *, cells: int = CELLS) -> Envelope:
    """Compute ε(δ) against interval (monotone) post-processing of a noisy secret, in nats.

    Gaussian noise: log(2/δ) for unbounded secrets with Var[X|Y=y] ≤ ¾σ_N² at every y, as for a GaussianSecret with
    σ_X² ≤ 3σ_N²; for other GaussianSecrets sup_b ℓ(a_δ, b) with P{Y > a_δ} = δ/2; else two proved ends.
    Laplace noise on a GaussianSecret: the larger of log(2/δ) and PML(a_δ).

    Parameters
    ----------
    release : any secret with Gaussian noise, or a GaussianSecret with Laplace noise
    delta : probability in (0, 1]; text like "0.1" is exact
    cells : how finely Y is cut where there are two ends

    Returns
    -------
    Envelope in nats, for the adversary "ordered" only: against any post-processing of an unbounded secret it is
    infinite. For a BoundedSecret it is the range over every distribution.

    Raises
    ------
    PreconditionFailed
        When the noise is Laplace and the secret is not a GaussianSecret, or delta is too small for two ends.

    Reference: GAU paper, Theorems 2 and 3, Corollary 1, and Lemmas 2, 3.

    >>> interval_envelope(AdditiveNoise(GaussianSecret(3), Gaussian(1)), "0.3")
    Envelope(delta=3/10, 1.92678 to 1.92679 nats, adversary: ordered, by sup_b ℓ(a_δ, b), ball arithmetic)
    """
    require_release(release)
    level = read_delta(delta)
    secret, noise = release.secret, release.noise
    if isinstance(secret, GaussianSecret):
        if isinstance(noise, Laplace):
            return _with_laplace(secret, noise, level)
        return _with_gaussian(secret, noise, level)
    if isinstance(noise, Laplace):
        raise PreconditionFailed(
            f"secret must be a GaussianSecret for interval post-processing of Laplace noise, got "
            f'{type(secret).__name__}; use adversary="any", whose upper end also holds for intervals.'
        )
    return _with_any_secret(release, level, read_cells(cells))


def _with_any_secret(release: AdditiveNoise, delta: Fraction, cells: int) -> Envelope:
    """The closed forms that apply, and where they leave something open the two ends of the programs."""
    secret = release.secret
    low, high = secret.support
    if low == high:
        return Envelope(delta, 0.0, 0.0, "constant secret", "ordered")
    condition = posterior_variance_bound(release)
    lower, upper, method = _known_ends(release, delta, condition)
    if isinstance(secret, BoundedSecret):
        method += "; holds for every distribution in the range, and a constant secret leaks nothing"
        return Envelope(delta, 0.0, upper, method, "ordered")
    if condition.holds and math.isinf(low) and math.isinf(high):
        return Envelope(delta, lower, upper, method, "ordered")
    if delta < SMALLEST:
        if math.isinf(upper):
            raise PreconditionFailed(
                f"delta must be at least {float(SMALLEST):g} for a bracket, got delta={format_python(delta)}; "
                "more noise, until noise.posterior_variance_bound holds, gives log(2/δ) for every delta."
            )
        return Envelope(delta, lower, upper, f"{method}; no cells are tried below δ = 1e-9", "ordered")
    least, most = bracket_intervals(release, delta, cells)
    words = "dynamic programs over interval cells with proved error"
    if most > upper:
        words = f"{words} below, {method} above"
    return Envelope(delta, max(lower, least), min(upper, most), words, "ordered")


def _known_ends(
    release: AdditiveNoise, delta: Fraction, condition: PosteriorVarianceBound
) -> tuple[float, float, str]:
    """What tails of Y reach for every secret, what no cells exceed, and why."""
    sides = sum(math.isinf(end) for end in release.secret.support)
    lower = log_bounds(sides / delta)[0] if sides else 0.0
    known = [(math.inf, "no bound is known")]
    if condition.holds:
        why = f"log(2/δ), as Var[X|Y=y] ≤ ¾σ_N² at every y ({condition.method})"
        known.append((log_bounds(2 / delta)[1], why))
    if not sides:
        known.append((closed_form(release, delta), "ℒ + log 1/δ"))
    return lower, *min(known)


def _with_gaussian(secret: GaussianSecret, noise: Gaussian, delta: Fraction) -> Envelope:
    signal, width = Fraction(secret.sigma) ** 2, Fraction(noise.sigma) ** 2
    if signal <= 3 * width:
        lower, upper = log_bounds(2 / delta)
        return Envelope(delta, lower, upper, "log(2/δ), as σ_X² ≤ 3σ_N²", "ordered")
    if delta == 1:  # a_δ = 0: r only falls, so single outcomes next to the mean are the best cells
        lower, upper = enclose(lambda: (1 + ball(signal / width)).log() / 2)
        return Envelope(delta, lower, upper, "PML at the mean, ball arithmetic", "ordered")
    lower, upper = _best_cell(_GaussianCells(signal / width, delta))
    return Envelope(delta, lower, upper, "sup_b ℓ(a_δ, b), ball arithmetic", "ordered")


@dataclass(frozen=True, slots=True)
class _GaussianCells:
    """The cells (a_δ, a_δ + L) in units of σ_N, for ratio = σ_X²/σ_N² > 3."""

    ratio: Fraction
    delta: Fraction

    def start(self) -> Ball:
        """a_δ = σ_Y Φ⁻¹(1 − δ/2)."""
        return self.deviation() * ball(2).sqrt() * (1 - ball(self.delta)).erfinv()

    def deviation(self) -> Ball:
        """Compute σ_Y."""
        return ball(1 + self.ratio).sqrt()

    def top(self) -> Ball:
        """Compute where r is largest: a/σ_Y² = L(1/4 − 1/σ_Y²)."""
        return self.start() / ball((self.ratio - 3) / 4)

    def derivatives(self, length: Ball) -> Ball:
        """r = G'(L)/P'(L)."""
        end = self.start() + length
        return self.deviation() * (end**2 / ball(2 * (1 + self.ratio)) - length**2 / 8).exp()

    def leakage(self, length: Ball) -> Ball:
        """G(L)/P{a < Y < a + L}."""
        inside = 1 - 2 * normal_tail(length / 2, ball(1))
        start = self.start()
        return inside / normal_mass(start, start + length, self.deviation())


def _best_cell(cells: _GaussianCells) -> tuple[float, float]:
    """Bracket log max G/P, with as many bits as it takes."""
    from flint import ctx

    for bits in _BITS:
        with ctx.workprec(bits):
            found = _bisect(cells)
        if found is not None:
            return found
    raise NumericalFailure(
        f"the slope of ℓ(a, b) could not be decided with {_BITS[-1]} bits for delta={float(cells.delta):g}; "
        "use a larger delta."
    )


def _bisect(cells: _GaussianCells) -> tuple[float, float] | None:
    """Bisect the sign of r − G/P beyond the top of r; None where even its start cannot be decided."""
    from flint import arb

    left = arb(cells.top().upper())
    right = left + 1
    rising = _rises(cells, right)
    while rising:
        left, right = right, 2 * right
        rising = _rises(cells, right)
    if rising is None:
        return None
    for _ in range(_HALVINGS):
        middle = arb(((left + right) / 2).mid())
        rising = _rises(cells, middle)
        if rising is None:  # too close to L* to tell: the bracket is as narrow as it gets
            break
        left, right = (middle, right) if rising else (left, middle)
    lower, upper = cells.leakage(left).log(), cells.derivatives(left).log()
    return (round_down(lower), round_up(upper)) if lower.is_finite() and upper.is_finite() else None


def _rises(cells: _GaussianCells, length: Ball) -> bool | None:
    """Whether G/P still rises at this length, where the balls decide it."""
    difference = cells.derivatives(length) - cells.leakage(length)
    if difference > 0:
        return True
    return False if difference < 0 else None


def _with_laplace(secret: GaussianSecret, noise: Laplace, delta: Fraction) -> Envelope:
    release = AdditiveNoise(secret, noise)
    mean = Fraction(secret.mean)
    near, far = _quantile(secret, noise, delta)
    points = [noise_pml(release, mean + Fraction(edge)) for edge in (near, far)]
    lower, upper = log_bounds(2 / delta)
    return Envelope(
        delta,
        max(lower, points[0].lower),
        max(upper, points[1].upper),
        "max{log(2/δ), PML at a_δ}, ball arithmetic",
        "ordered",
    )


def _quantile(secret: GaussianSecret, noise: Laplace, delta: Fraction) -> tuple[Real, Real]:
    """Two neighbouring floats around a_δ, in the units of Y, with P{Y − mean > a_δ} = δ/2."""
    if delta == 1:
        return 0.0, 0.0

    def beyond(at: float) -> tuple[float, float]:
        return enclose(lambda: sum_tail(at, ball(secret.sigma), ball(noise.scale)) - ball(delta / 2))

    return bracket(beyond, float(secret.sigma) + float(noise.scale))


def bracket(beyond: Callable[[float], tuple[float, float]], step: float) -> tuple[float, float]:
    """Floats left ≤ root ≤ right of a falling function that is positive at 0, given by its two bounds.

    >>> bracket(lambda x: (2 - x * x, 2 - x * x), 1.0)
    (1.414213562373095, 1.4142135623730951)
    """
    left, right = 0.0, step
    while not beyond(right)[1] < 0:
        right *= 2
    while up(left) < right:
        middle = left + (right - left) / 2
        low, high = beyond(middle)
        if low > 0:
            left = middle
        elif high < 0:
            right = middle
        else:
            return down(middle), up(middle)
    return left, right
