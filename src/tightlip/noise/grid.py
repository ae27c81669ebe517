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
_SUMMED = 3e-16  # what each term adds to the error of a running sum, relative to the sum
_BITS = 128
_CHUNK = 1 << 21
_SUSPECTS = 64  # at least; one for each cell of a wide secret costs time and lifts the lower end
_PER_WIDTH = 20  # at least so many cells of x per noise width, and no more suspects
_FINER = (
    16  # parts of a cell of x for f_Y alone: its bounds are off by half of such a part, and cost a cdf each
)
_PEAK = 0.006  # noise widths: length of the outcomes for which one is suspected, with Laplace noise
_MOST_PARTS = 15
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
    inside : for Laplace noise upper bounds of P{X strictly between neighbouring nodes}
    finer : places surely in the support, equally many near each suspect but the ends; none where it makes no sense
    """

    gaussian: bool
    low: FloatArray
    high: FloatArray
    nodes: FloatArray
    below: FloatArray
    above: FloatArray
    moment: FloatArray
    suspects: tuple[Fraction, ...]
    inside: FloatArray | float = 1.0
    finer: tuple[Fraction, ...] = ()

    @classmethod
    def over(cls, release: AdditiveNoise, secret: BoundedReal, cells: int, reach: float) -> NoiseGrid:
        """Place cells and nodes; `reach` is how far beyond the secret the nodes go, for Gaussian noise."""
        gaussian = isinstance(release.noise, Gaussian)
        start, width = Fraction(secret.support[0]), Fraction(release.noise.width)
        length = (Fraction(secret.support[1]) - start) / width
        span = _up(length)
        split = _split(span, cells, gaussian or isinstance(secret, DiscreteSecret))
        edges = np.linspace(0.0, span, cells * max(3, math.ceil(_PER_WIDTH * span / cells), split) + 1)
        finer: tuple[Fraction, ...] = ()
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
            if split > 1:
                finer = _middles(length, cells * split)
                suspects = (Fraction(0), *finer[split // 2 :: split], length)
            inside = np.diff(nodes) / _down(length) * (1 + MARGIN)
        elif isinstance(secret, DiscreteSecret):
            atoms = [((x - start) / width, mass) for x, mass in secret.atoms]
            low = np.array([_down(x) for x, _ in atoms])
            high = np.array([_up(x) for x, _ in atoms])
            nodes = np.unique(np.concatenate([*places, np.maximum(low, 0.0), high]))
            weights = np.array([float(mass) for _, mass in atoms])
            below, above, moment = _mixture(nodes, low, high, weights, weights, gaussian)
            inside = _inside(nodes, low, high, weights)
            suspects = _thin(tuple(x for x, _ in atoms))
        else:
            cut = np.array([float(start + width * Fraction(edge)) for edge in edges.tolist()])
            cut[0], cut[-1] = (float(end) for end in secret.support)
            cut = np.unique(np.append(cut, float(secret.distribution.median())))
            low, high = edges[:-1], edges[1:]
            nodes = np.unique(np.concatenate(places))
            parts = _parts(cut, secret, start, width, _FINER if split == 1 else math.ceil(3 * _FINER / split))
            below, above, moment = (_mixture if gaussian else _laplace_mixture)(nodes, *parts, gaussian)
            inside = _inside(nodes, parts[0], parts[1], parts[3])
            suspects = _support_points(secret, start, width, _spread(length, cells))
            if split > 1:
                finer = _support_points(secret, start, width, _middles(length, cells * split))
                suspects = (suspects[0], *finer[split // 2 :: split], suspects[-1])
        return cls(gaussian, low, high, nodes, below, above, moment, suspects, inside, finer)

    @property
    def gaps(self) -> FloatArray:
        """Distances of neighbouring nodes."""
        return np.diff(self.nodes)

    def farthest(self) -> FloatArray:
        """D: at each node the largest |y − x| up to the neighbouring nodes."""
        far: FloatArray = np.maximum(np.abs(self.nodes), np.abs(self.nodes - float(self.high[-1])))
        return far + self.steps()

    def steps(self) -> FloatArray:
        """Compute the larger distance to a neighbour, at each node."""
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
        if not self.gaussian:
            # f_Y'' = f_Y − dF_X against the kernel (y − a)(b − y)/2 ≤ h²/8 of the trapezoidal rule, whose integral is
            # h³/12; and f falls and rises by e^{±h} at most
            bent = gaps**2 / 6 * np.exp(gaps) * np.minimum(self.above[:-1], self.above[1:]) * (1 + MARGIN)
            least = np.maximum(low * -np.expm1(-gaps / 2), (low - bent) * gaps / 2)
            most = np.minimum(high * np.expm1(gaps / 2), (high + gaps / 4 * self.inside) * gaps / 2)
            return least * (1 - MARGIN), most * (1 + MARGIN)
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
        """Bound P{a < Y < b | suspect} from below."""
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


def _parts(
    cuts: FloatArray, secret: DistributionSecret, start: Fraction, width: Fraction, finer: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Ends of parts of the cells of x, and bounds of their masses: f_Y is in a Riemann–Stieltjes bracket."""
    split = [np.linspace(a, b, finer, endpoint=False) for a, b in pairwise(cuts.tolist())]
    fine = np.unique(np.concatenate([*split, cuts[-1:]]))
    masses = TailMasses.of(secret.distribution, secret.cdf_error)
    with quiet():
        least, most = (np.exp(logs) for logs in masses.of_cells(fine, *masses.log_tails(fine)))
    return *_place_cells(fine, start, width), least, most


def _inside(nodes: FloatArray, low: FloatArray, high: FloatArray, most: FloatArray) -> FloatArray:
    """Upper bounds of the mass of the parts that meet the open gaps between nodes; parts ascend."""
    total = _running(most)
    first = np.searchsorted(high, nodes[:-1], side="right")
    beyond = np.searchsorted(low, nodes[1:], side="left")
    inside: FloatArray = np.maximum(total[beyond] - total[np.minimum(first, beyond)], 0.0)
    return inside + _SUMMED * len(most)


def _place_cells(cuts: FloatArray, start: Fraction, width: Fraction) -> tuple[FloatArray, FloatArray]:
    """Round the ends of the cells between cuts outward, in noise widths."""
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


def _laplace_mixture(
    nodes: FloatArray, low: FloatArray, high: FloatArray, least: FloatArray, most: FloatArray, _: bool
) -> _Densities:
    """The same by running sums of e^{±x}, for ascending parts in [0, 100]."""
    before = np.searchsorted(high, nodes, side="right")  # so many are wholly on the left
    after = np.maximum(np.searchsorted(low, nodes, side="left"), before)  # from here on they are on the right
    down, up = np.exp(-nodes) / 2, np.exp(nodes) / 2
    below = down * _running(least * np.exp(low))[before] + up * _remaining(least * np.exp(-high))[after]
    above = down * _running(most * np.exp(high))[before] + up * _remaining(most * np.exp(-low))[after]
    for i in np.flatnonzero(after > before).tolist():
        around = slice(before[i], after[i])
        far = np.maximum(nodes[i] - low[around], high[around] - nodes[i])
        below[i] += float(least[around] @ np.exp(-far)) / 2
        above[i] += float(most[around].sum()) / 2
    margin = MARGIN + _SUMMED * len(low)
    return below * (1 - margin), above * (1 + margin) + TINY, np.zeros_like(nodes)


def _running(terms: FloatArray) -> FloatArray:
    return np.insert(np.cumsum(terms), 0, 0.0)


def _remaining(terms: FloatArray) -> FloatArray:
    return _running(terms[::-1])[::-1]


def _split(span: float, cells: int, whole: bool) -> int:
    """Into how many parts, an odd number, the suspects and cells of Laplace noise are split after the search.

    Whoever is suspected at once for outcomes over a length h of f(·|x) reaches h/4 nats less than at the peak.
    """
    return 1 if whole else min(2 * math.ceil(span / cells / (2 * _PEAK)) + 1, _MOST_PARTS)


def _middles(length: Fraction, parts: int) -> tuple[Fraction, ...]:
    return tuple(length * (2 * k + 1) / (2 * parts) for k in range(parts))


def _spread(length: Fraction, cells: int) -> tuple[Fraction, ...]:
    """Both ends, and the middles of equal parts; a suspect off the middle of its outcomes reaches less."""
    parts = max(_SUSPECTS, min(cells, math.ceil(_PER_WIDTH * length)))
    return (Fraction(0), *_middles(length, parts), length)


def _thin(places: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    chosen = np.unique(np.linspace(0, len(places) - 1, _SUSPECTS + 1).round().astype(int))
    return tuple(places[i] for i in chosen.tolist())


def _support_points(
    secret: DistributionSecret, start: Fraction, width: Fraction, places: tuple[Fraction, ...]
) -> tuple[Fraction, ...]:
    """Find places near these that a positive density or a quantile shows to be in the support."""
    wanted = [float(start + width * place) for place in places]
    shown = sorted(support_point_near(secret.distribution, place) for place in wanted)
    return tuple((Fraction(place) - start) / width for place in shown)


def _down(value: Fraction) -> float:
    near = float(value)
    return near if Fraction(near) <= value else math.nextafter(near, -math.inf)


def _up(value: Fraction) -> float:
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)
