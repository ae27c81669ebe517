"""Looking for the prior of a set under which the envelope is largest: a search, so what it finds is a lower end only.

ε_c(δ) is not quasi-convex in the prior, so its largest value need not lie at a corner: under the identity channel and
δ = 1 it is log 1/max p, largest in the middle.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from tightlip.envelopes.adversaries import envelope
from tightlip.envelopes.result import Envelope
from tightlip.model.channel import Channel
from tightlip.robust.region import Point, Region, as_prior, dot, mean, mixed

_MOST_POLES = 24
_STEPS = [Fraction(1, 2**power) for power in range(1, 8)]


@dataclass
class Seeker:
    """Priors tried so far, each with its envelope; `tries` bounds how many."""

    channel: Channel
    delta: Fraction
    tries: int
    known: dict[Point, Envelope] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.best: Point | None = None

    def try_prior(self, point: Point) -> bool:
        """Whether the prior is worse than all before."""
        if point in self.known or len(self.known) >= self.tries:
            return False
        found = self.known[point] = envelope(self.channel, as_prior(point, self.channel), self.delta)
        if self.best is not None and found.lower <= self.known[self.best].lower:
            return False
        self.best = point
        return True

    def try_near(self, poles: list[Point]) -> None:
        """From the best prior, steps towards the poles, halved when none helps."""
        for step in _STEPS:
            while any(self.try_prior(mixed(self._start(), pole, step)) for pole in poles):
                pass

    def _start(self) -> Point:
        assert self.best is not None
        return self.best

    @property
    def worst(self) -> Envelope:
        """The largest envelope found."""
        return self.known[self._start()]


def poles_of(region: Region, columns: tuple[tuple[Fraction, ...], ...]) -> list[Point]:
    """Extreme members: rarest and most likely for some outcome, heaviest on some secret."""
    found: dict[Point, None] = {}
    for column in columns[:_MOST_POLES]:
        found[region.lowest(column)[1]] = None
        found[region.highest(column)[1]] = None
    for secret in region.possible[:_MOST_POLES]:
        unit = [Fraction(place == secret) for place in range(region.size)]
        found[region.highest(unit)[1]] = None
    return list(found)[:_MOST_POLES]


def rare_points(region: Region, columns: tuple[tuple[Fraction, ...], ...], delta: Fraction) -> list[Point]:
    """Members under which outcomes, one or the rarest few together, have probability δ exactly.

    An outcome leaks the more the rarer it is, and below δ it counts for less: the worst prior may be this narrow ridge.
    """
    middle = region.inside()
    least = sorted(columns, key=lambda column: region.lowest(column)[0])[:_MOST_POLES]
    together = [
        tuple(sum(entries, Fraction(0)) for entries in zip(*least[:count], strict=True))
        for count in range(2, len(least))
    ]
    found: dict[Point, None] = {}
    for column in (*least, *together):
        (low, point), high = region.lowest(column), dot(column, middle)
        if low < delta < high:
            found[mixed(point, middle, (delta - low) / (high - low))] = None
    return list(found)[:_MOST_POLES]


def seek(seeker: Seeker, region: Region, columns: tuple[tuple[Fraction, ...], ...]) -> None:
    """Try a member inside, the poles, their mean, members with outcomes as rare as δ, and steps between the poles."""
    poles = poles_of(region, columns)
    for point in (region.inside(), mean(poles), *poles, *rare_points(region, columns, seeker.delta)):
        seeker.try_prior(point)
    seeker.try_near(poles)
