"""A noisy bounded secret on a grid, in units of the noise width: proved bounds of f_Y and of its masses.

Positions are z = (value − low)/width, so the secret lies in [0, L] and the noise is N(0, 1) or
Laplace(1). With D the largest |y − x| near y, the densities f = f(·|x) and f_Y, mixtures of such f,
satisfy between neighbouring nodes at distance h

    Gaussian:  −f ≤ f'',  f_Y'' ≤ M = E (y − X)² f(y|X),  |f'| ≤ D f      Laplace:  |f'| ≤ f,  f'' ≤ f off the kink

so every f is below its chord plus h²/8 sup(−f''), sup f ≤ e^{hD} times its value at either node, and
sup M ≤ e^{hD}(2M + 2h² f_Y) with the values of either node, as (u + h)² ≤ 2u² + 2h².
What is trusted: IEEE arithmetic, numpy's exp and scipy's ndtr to a relative 1e-11, Arb, and for a
DistributionSecret its cdf as stated there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from tightlip.model.noise import AdditiveNoise, Gaussian
from tightlip.model.secret import DiscreteSecret, DistributionSecret, UniformSecret
from tightlip.numeric.ball import ball, round_down, round_up
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.stieltjes import TailMasses, quiet, support_point_near
from tightlip.numeric.tails import laplace_mass, normal_mass

MARGIN = 1e-11  # relative, for exp, ndtr and float sums
TINY = 1e-300
_BITS = 128
_CHUNK = 1 << 21
_SUSPECTS = 64  # at least; one for each cell of a wide secret costs time and lifts the lower end
_PER_WIDTH = 20  # at least so many cells of x per noise width, and no more suspects
_FINER = (
    16  # parts of a cell of x for f_Y alone: its bounds are off by half of such a part, and cost a cdf each
)
_FINEST = 4000  # steps beyond the secret that are always fine enough
_BEND = 0.5  # largest product of step and D

_Densities = tuple[FloatArray, FloatArray, FloatArray]  # f_Y from below and above, M from above

BoundedReal = UniformSecret | DiscreteSecret | DistributionSecret


@dataclass(frozen=True, slots=True)
class NoiseGrid:
    """Cells of the secret, nodes of the outcome, and f_Y at the nodes.

    Attributes
    ----------
    gaussian : whether the noise is Gaussian; Laplace otherwise
    low, high : ends of the cells of x, which cover the support; equal ends (or nearly) are atoms
    nodes : places of y, ascending; they hold every end of a cell, and for Laplace noise they span [0, L]
    below, above : proved bounds of f_Y at the nodes
    moment : upper bounds of M at the nodes, for Gaussian noise; 0 for Laplace noise
    suspects : places that are surely in the support, ends first and last
    """

    gaussian: bool
    low: FloatArray
    high: FloatArray
    nodes: FloatArray
    below: FloatArray
    above: FloatArray
    moment: FloatArray
    suspects: tuple[Fraction, ...]

    @classmethod
    def over(cls, release: AdditiveNoise, secret: BoundedReal, cells: int, reach: float) -> NoiseGrid:
        """Place cells and nodes; `reach` is how far beyond the secret the nodes go, for Gaussian noise."""
        gaussian = isinstance(release.noise, Gaussian)
        start, width = Fraction(secret.support[0]), Fraction(release.noise.width)
        length = (Fraction(secret.support[1]) - start) / width
        span = _up(length)
        edges = np.linspace(0.0, span, max(3 * cells, math.ceil(_PER_WIDTH * span)) + 1)
        places = [edges]
        if gaussian:  # the bounds of f'' need steps well below 1/D
            finest = reach / max(_FINEST, 3 * cells)  # also for a secret much narrower than the noise
            step = min(max(float(edges[1]), finest), reach / (3 * cells), _BEND / (span + reach))
            steps = np.linspace(0.0, reach, math.ceil(reach / step) + 1)[1:]
            places += [np.linspace(0.0, span, math.ceil(span / step) + 1), -steps, span + steps]
        if isinstance(secret, UniformSecret):
            low, high = edges[:-1], edges[1:]
            nodes = np.unique(np.concatenate(places))
            below, above, moment = _uniform_density(nodes, length, gaussian)
            suspects = _spread(length, cells)
        elif isinstance(secret, DiscreteSecret):
            atoms = [((x - start) / width, mass) for x, mass in secret.atoms]
            low = np.array([_down(x) for x, _ in atoms])
            high = np.array([_up(x) for x, _ in atoms])
            nodes = np.unique(np.concatenate([*places, np.maximum(low, 0.0), high]))
            below, above, moment = _discrete_density(nodes, low, high, [mass for _, mass in atoms], gaussian)
            suspects = _thinned(tuple(x for x, _ in atoms))
        else:
            cut = np.array([float(start + width * Fraction(edge)) for edge in edges.tolist()])
            cut[0], cut[-1] = (float(end) for end in secret.support)
            cut = np.unique(np.append(cut, float(secret.distribution.median())))
            low, high = _placed(cut, start, width)
            nodes = np.unique(np.concatenate([*places, np.maximum(low, 0.0), high]))
            below, above, moment = _distribution_density(nodes, cut, secret, start, width, gaussian)
            suspects = _shown(secret, start, width, length, cells)
        return cls(gaussian, low, high, nodes, below, above, moment, suspects)

    @property
    def gaps(self) -> FloatArray:
        """Distances of neighbouring nodes."""
        return np.diff(self.nodes)

    def farthest(self) -> FloatArray:
        """D: at each node the largest |y − x| up to the neighbouring nodes."""
        far: FloatArray = np.maximum(np.abs(self.nodes), np.abs(self.nodes - float(self.high[-1])))
        return far + self.steps()

    def steps(self) -> FloatArray:
        """The larger distance to a neighbour, at each node."""
        gaps = self.gaps
        larger: FloatArray = np.maximum(np.append(gaps, 0.0), np.insert(gaps, 0, 0.0))
        return larger

    def likelihoods(self, nodes: FloatArray) -> FloatArray:
        """Upper bounds of sup f(y|x) over each cell of x (rows), at these nodes (columns)."""
        distance = np.maximum(self.low[:, None] - nodes, nodes - self.high[:, None])
        return _density(np.maximum(distance, 0.0), self.gaussian) * (1 + MARGIN) + TINY

    def masses(self) -> tuple[FloatArray, FloatArray]:
        """Bounds of P{Y between neighbouring nodes}."""
        gaps = self.gaps
        low, high = self.below[:-1] + self.below[1:], self.above[:-1] + self.above[1:]
        if not self.gaussian:  # f falls and rises by e^{±h} at most
            return low * -np.expm1(-gaps / 2) * (1 - MARGIN), high * np.expm1(gaps / 2) * (1 + MARGIN)
        bent = self.bend() / 12
        arched = gaps**2 / (6 * (1 - gaps**2 / 8))  # max ≤ twice the mean of the two nodes
        least = low * gaps / 2 * (1 - MARGIN) - gaps**3 * np.minimum(bent[:-1], bent[1:])
        return np.maximum(least, 0.0), high * gaps / 2 * (1 + arched) * (1 + MARGIN)

    def bend(self) -> FloatArray:
        """Gaussian noise: at each node an upper bound of f_Y'' up to the neighbouring nodes."""
        step = self.steps()
        growth = np.exp(step * self.farthest()) * (1 + MARGIN)
        return growth * 2 * (self.moment + step**2 * self.above)

    def tail(self) -> float:
        """Gaussian noise: an upper bound of the mass of Y, and of each f(·|x), beyond the nodes on either side."""
        from scipy.special import ndtr

        reach = min(-float(self.nodes[0]), float(self.nodes[-1]) - float(self.high[-1]))
        return float(ndtr(-reach)) * (1 + 1e-9)

    def chunks(self) -> list[slice]:
        """Slices of the nodes that keep a matrix of likelihoods small."""
        size = max(1, _CHUNK // len(self.low))
        return [slice(i, i + size) for i in range(0, len(self.nodes), size)]

    def hit(self, a: float, b: float, suspect: Fraction) -> float:
        """A lower bound of P{a < Y < b | suspect}."""
        from flint import ctx

        mass = normal_mass if self.gaussian else laplace_mass
        with ctx.workprec(_BITS):
            left, right = (end if math.isinf(end) else Fraction(end) - suspect for end in (a, b))
            return max(round_down(mass(left, right, ball(1))), 0.0)


def _density(distance: FloatArray, gaussian: bool) -> FloatArray:
    if gaussian:
        return np.exp(-(distance**2) / 2) / math.sqrt(2 * math.pi)
    return np.exp(-distance) / 2


def _uniform_density(nodes: FloatArray, length: Fraction, gaussian: bool) -> _Densities:
    """f_Y(y) = P{y − L < N < y}/L and M = f_Y + f_Y'' with f_Y'' = ((y−L)φ(y−L) − yφ(y))/L, by balls."""
    from flint import ctx

    mass = normal_mass if gaussian else laplace_mass
    rows = []
    with ctx.workprec(_BITS):
        span, one, root = ball(length), ball(1), (2 * ball(1).pi()).sqrt()
        for y in map(ball, nodes.tolist()):
            f = mass(y - span, y, one) / span
            bend = sum(s * u * (-(u**2) / 2).exp() for s, u in ((1, y - span), (-1, y))) / (root * span)
            rows.append((max(round_down(f), 0.0), round_up(f), max(round_up(f + bend), 0.0) * gaussian))
    below, above, moment = np.array(rows).T
    return below, above, moment


def _discrete_density(
    nodes: FloatArray, low: FloatArray, high: FloatArray, masses: list[Fraction], gaussian: bool
) -> _Densities:
    weights = np.array([float(mass) for mass in masses])
    return _mixture(nodes, low, high, weights, weights, gaussian)


def _distribution_density(
    nodes: FloatArray,
    cuts: FloatArray,
    secret: DistributionSecret,
    start: Fraction,
    width: Fraction,
    gaussian: bool,
) -> _Densities:
    """Bounds of each cell's mass make it a mixture: a Riemann–Stieltjes bracket, on parts of the cells of x."""
    parts = [np.linspace(a, b, _FINER, endpoint=False) for a, b in pairwise(cuts.tolist())]
    fine = np.unique(np.concatenate([*parts, cuts[-1:]]))
    masses = TailMasses.of(secret.distribution, secret.cdf_error)
    with quiet():
        least, most = (np.exp(logs) for logs in masses.of_cells(fine, *masses.log_tails(fine)))
    return _mixture(nodes, *_placed(fine, start, width), least, most, gaussian)


def _placed(cuts: FloatArray, start: Fraction, width: Fraction) -> tuple[FloatArray, FloatArray]:
    """The ends of the cells between cuts in noise widths, rounded outward."""
    exact = [(Fraction(x) - start) / width for x in cuts.tolist()]
    return np.array([_down(x) for x in exact[:-1]]), np.array([_up(x) for x in exact[1:]])


def _mixture(
    nodes: FloatArray, low: FloatArray, high: FloatArray, least: FloatArray, most: FloatArray, gaussian: bool
) -> _Densities:
    """Σ P(cell) times the smallest and the largest f(y|x) in the cell, and the same for M."""
    below, above, moment = np.empty_like(nodes), np.empty_like(nodes), np.zeros_like(nodes)
    size = max(1, _CHUNK // len(low))
    for i in range(0, len(nodes), size):
        y, part = nodes[i : i + size], slice(i, i + size)
        near = _density(np.maximum(np.maximum(low[:, None] - y, y - high[:, None]), 0.0), gaussian)
        far = np.maximum(np.abs(y - low[:, None]), np.abs(y - high[:, None]))
        below[part] = least @ _density(far, gaussian)
        above[part] = most @ near
        if gaussian:
            moment[part] = most @ (far**2 * near)
    return below * (1 - MARGIN), above * (1 + MARGIN) + TINY, moment * (1 + MARGIN) + TINY * gaussian


def _spread(length: Fraction, cells: int) -> tuple[Fraction, ...]:
    """Both ends, and the middles of equal parts; a suspect off the middle of its outcomes reaches less."""
    parts = max(_SUSPECTS, min(cells, math.ceil(_PER_WIDTH * length)))
    return (Fraction(0), *(length * (2 * k + 1) / (2 * parts) for k in range(parts)), length)


def _thinned(places: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    chosen = np.unique(np.linspace(0, len(places) - 1, _SUSPECTS + 1).round().astype(int))
    return tuple(places[i] for i in chosen.tolist())


def _shown(
    secret: DistributionSecret, start: Fraction, width: Fraction, length: Fraction, cells: int
) -> tuple[Fraction, ...]:
    """Places that a positive density or a quantile shows to be in the support."""
    wanted = [float(start + width * place) for place in _spread(length, cells)]
    shown = {support_point_near(secret.distribution, place) for place in wanted}
    return tuple((Fraction(place) - start) / width for place in sorted(shown))


def _down(value: Fraction) -> float:
    near = float(value)
    return near if Fraction(near) <= value else math.nextafter(near, -math.inf)


def _up(value: Fraction) -> float:
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)
