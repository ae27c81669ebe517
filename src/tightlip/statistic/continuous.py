"""Statistic leakage of additive noise on a real parameter: Y = θ + N, the secret told by where θ lies.

With parameters t_1 ≤ … ≤ t_s chosen, one for each secret, and symmetric unimodal noise (SML paper, Proposition 8)

    ∫ max_i f_N(y − t_i) dy = 1 + Σ_i h(t_{i+1} − t_i),   h(d) = P{|N| < d/2},

and h is concave, so the best parameters of secrets that are intervals are those of a string pulled taut through
them: it evens out the distances. Its optimality is proved by tangents of h: for any other choice t'

    Σ h(d'_i) ≤ Σ h(d_i) + Σ_i e_i (t'_i − t_i),   e_i = h'(d_{i−1}) − h'(d_i),

and each term is largest at an end of the interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, product
from math import prod
from typing import Any

from tightlip.certificate.recomputation import NOISE_STATISTIC, Recomputation, certify_by_recomputation
from tightlip.errors import InvalidInput, PreconditionFailed, WrongType, quoted
from tightlip.model.labels import Label, Labels
from tightlip.model.noise import Gaussian, Laplace, Noise
from tightlip.numeric.ball import Ball, ball, enclose
from tightlip.numeric.parse import Real, exact, real
from tightlip.numeric.quantity import Nats, ProvedLeakage
from tightlip.numeric.tails import laplace_mass, normal_mass
from tightlip.showing import Tabled

_MOST_CHOICES = 4096

Interval = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class NoiseStatisticLeakage(ProvedLeakage, Tabled):
    """Π of additive noise, in nats: `lower` is reached by `selection` (secret → parameter), `upper` is proved."""

    lower: float
    upper: float
    selection: Mapping[Label, Real]
    method: str
    certificate: Recomputation | None = field(default=None, repr=False, compare=False)


def noise_leakage(noise: Noise, regions: Mapping[Label, Any]) -> NoiseStatisticLeakage:
    """Compute the statistic maximal leakage of θ + noise about which region θ lies in.

    Parameters
    ----------
    noise : Gaussian or Laplace
    regions : mapping
        For each secret an interval (low, high) or a list of intervals; a point is (x, x). Intervals of different
        secrets may touch but not overlap.

    Returns
    -------
    NoiseStatisticLeakage
        Both ends in nats; they differ by rounding only.

    Raises
    ------
    PreconditionFailed
        When the secrets' intervals can be combined in more than 4096 ways.

    >>> from tightlip.noise import Gaussian
    >>> found = noise_leakage(Gaussian(1), {"low": (0, "1/2"), "high": ("1/2", 1)})
    >>> round(found.upper, 6), dict(found.selection)
    (0.324201, {'low': 0.0, 'high': 1.0})
    """
    _require_noise(noise)
    pieces = _read(regions)
    choices = prod(len(each) for each in pieces.values())
    if choices > _MOST_CHOICES:
        raise PreconditionFailed(
            f"regions must combine in at most {_MOST_CHOICES} ways, got {choices}; join neighbouring intervals."
        )
    lower, upper, best = 0.0, 0.0, dict[Label, Real]()
    for choice in product(*pieces.values()):
        order = sorted(range(len(choice)), key=lambda place: choice[place])
        points = taut_string([choice[place] for place in order])
        low, high = _ends(noise, points, [choice[place] for place in order])
        upper = max(upper, high)
        if not best or low > lower:
            lower = max(lower, low)
            labels = list(pieces)
            best = {labels[place]: real(point, "point") for place, point in zip(order, points, strict=True)}
    ordered = {label: best[label] for label in pieces}
    found = NoiseStatisticLeakage(
        min(lower, upper), upper, ordered, f"taut string, {choices} choices of intervals"
    )
    return certify_by_recomputation(NOISE_STATISTIC, found, noise=noise, regions=pieces)


def noise_resolved_leakage(noise: Noise, low: Any, high: Any) -> Nats:
    """Compute Π of θ + noise about a secret that tells all θ in [low, high] apart: log(1 + (high − low)·f_N(0)).

    It is maximal leakage, hence an upper bound for every secret. A piecewise strictly monotone statistic comes as
    close as one likes: parameters, one for each of its values, can be chosen as dense as one likes in the range.

    >>> from tightlip.noise import Gaussian
    >>> round(float(noise_resolved_leakage(Gaussian(1), 0, 1)), 6)
    0.335716
    """
    _require_noise(noise)
    real(low, "low")
    real(high, "high")
    ends = _interval((low, high), "range")
    return Nats(enclose(lambda: (1 + ball(ends[1] - ends[0]) * _density(noise, Fraction(0))).log())[1])


def taut_string(intervals: Sequence[Interval]) -> list[Fraction]:
    """Find the taut string: points, one in each of some ascending intervals, with the most even distances.

    >>> ends = [(0, 1), (1, 2), (2, 9)]
    >>> [int(point) for point in taut_string([(Fraction(low), Fraction(high)) for low, high in ends])]
    [0, 2, 9]
    """
    low = [interval[0] for interval in intervals]
    high = [interval[1] for interval in intervals]
    high[0], low[-1] = low[0], high[-1]  # the ends are pulled as far apart as they can be
    points = [low[0]]
    while len(points) < len(intervals):
        points += _straight_part(points[-1], len(points) - 1, low, high)
    return points


def _straight_part(point: Fraction, place: int, low: list[Fraction], high: list[Fraction]) -> list[Fraction]:
    """The points from one bend of the string to the next."""
    floor: tuple[Fraction, int] | None = None
    ceiling: tuple[Fraction, int] | None = None
    for further in range(place + 1, len(low)):
        steps = further - place
        least, most = (low[further] - point) / steps, (high[further] - point) / steps
        if ceiling is not None and least > ceiling[0]:
            return _line(point, *ceiling, place)
        if floor is not None and most < floor[0]:
            return _line(point, *floor, place)
        floor = (least, further) if floor is None or least >= floor[0] else floor
        ceiling = (most, further) if ceiling is None or most <= ceiling[0] else ceiling
    return _line(point, (high[-1] - point) / (len(low) - 1 - place), len(low) - 1, place)


def _line(point: Fraction, slope: Fraction, end: int, place: int) -> list[Fraction]:
    return [point + slope * step for step in range(1, end - place + 1)]


def _ends(noise: Noise, points: list[Fraction], intervals: list[Interval]) -> tuple[float, float]:
    """Reached by the points, and proved for every other choice in the intervals."""
    gaps = [after - before for before, after in pairwise(points)]
    if not gaps:
        return 0.0, 0.0

    def reached() -> Ball:
        return sum((_mass(noise, gap) for gap in gaps), ball(1))

    def proved() -> Ball:
        slopes = [ball(0), *(_density(noise, gap / 2) for gap in gaps), ball(0)]
        total = reached()
        for place, (low, high) in enumerate(intervals):
            inner = 0 < place < len(gaps)
            if inner and gaps[place - 1] == gaps[place]:
                continue
            pull = slopes[place] - slopes[place + 1]
            total += (pull * ball(low - points[place])).max(pull * ball(high - points[place]))
        return total

    return max(0.0, enclose(lambda: reached().log())[0]), enclose(lambda: proved().log())[1]


def _mass(noise: Noise, gap: Fraction) -> Ball:
    """h(d) = P{|N| < d/2}."""
    mass = normal_mass if isinstance(noise, Gaussian) else laplace_mass
    return mass(-gap / 2, gap / 2, ball(noise.width)) if gap else ball(0)


def _density(noise: Noise, distance: Fraction) -> Ball:
    """f_N at a distance."""
    width = ball(noise.width)
    if isinstance(noise, Gaussian):
        return (-((ball(distance) / width) ** 2) / 2).exp() / (width * (2 * ball(1).pi()).sqrt())
    return (-ball(distance) / width).exp() / (2 * width)


def _require_noise(noise: object) -> None:
    if not isinstance(noise, (Gaussian, Laplace)):
        raise WrongType(f"noise must be Gaussian(sigma) or Laplace(scale), got {quoted(noise)}.")


def _read(regions: Mapping[Label, Any]) -> dict[Label, list[Interval]]:
    if not isinstance(regions, Mapping) or not regions:
        raise WrongType(
            f"regions must be a mapping from secrets to intervals, got {quoted(regions)}; "
            'write {"low": (0, 1), "high": (1, 2)}.'
        )
    labels = Labels.of(list(regions), len(regions), "regions")
    pieces = {label: _intervals(regions[label], f"regions[{quoted(label)}]") for label in labels}
    ordered = sorted(
        ((piece, label) for label, each in pieces.items() for piece in each), key=lambda item: item[0]
    )
    furthest, owner = ordered[0]
    for piece, label in ordered[1:]:
        if piece[0] < furthest[1] and label != owner:
            raise InvalidInput(
                f"regions of different secrets must not overlap, got {_show_interval(furthest)} of {quoted(owner)} and "
                f"{_show_interval(piece)} of {quoted(label)}; a parameter has one secret."
            )
        if piece[1] >= furthest[1]:
            furthest, owner = piece, label
    return pieces


def _intervals(given: Any, argument: str) -> list[Interval]:
    if not isinstance(given, (tuple, list)) or not given:
        raise WrongType(f"{argument} must be an interval (low, high) or a list of them, got {quoted(given)}.")
    several = isinstance(given[0], (tuple, list))
    return sorted(_interval(piece, argument) for piece in (given if several else [given]))


def _interval(given: Any, argument: str) -> Interval:
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise WrongType(f"{argument} must be an interval (low, high), got {quoted(given)}.")
    low, high = (Fraction(exact(real(end, argument))) for end in given)
    if low > high:
        raise InvalidInput(f"{argument} must have low ≤ high, got {_show_interval((low, high))}; swap them.")
    return low, high


def _show_interval(interval: Interval) -> str:
    return f"({float(interval[0]):g}, {float(interval[1]):g})"
