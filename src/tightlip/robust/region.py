"""A convex set of priors in the order of a channel's secrets: where a linear function is smallest, in rationals.

    Q(c)      c everywhere, the rest on the cheapest secret
    ℓ1 ball   up to radius/2 of the mass moves, from the dearest secrets to the cheapest one
    polytope  a linear program (numeric/rational_program.py)

The ball. p = center + (p − center)₊ − (p − center)₋, both parts of mass at most radius/2. What is added costs least on
the cheapest secret; what is removed saves most on the dearest ones, each of which can give no more than it has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np

from tightlip.errors import ShapeMismatch, WrongType, quoted
from tightlip.measures.capacity import read_min_mass
from tightlip.model.align import align
from tightlip.model.channel import Channel
from tightlip.model.labels import match
from tightlip.model.prior import Prior, PriorSet
from tightlip.model.prior_set import AnyPriorSet, PriorBall, PriorList, PriorPolytope
from tightlip.numeric.rational_program import RationalProgram

Point = tuple[Fraction, ...]
Halfspace = tuple[tuple[Fraction, ...], Fraction]  # row and bound: row · p ≤ bound

_MOST_HALFSPACES = 64
_MOST_HULL = 1000


class Region(ABC):
    """A closed convex set of priors on `size` secrets, every mass at least `floor`."""

    size: int
    floor: Fraction

    @abstractmethod
    def lowest(self, costs: Sequence[Fraction]) -> tuple[Fraction, Point]:
        """The smallest Σ c_x p_x and a prior that reaches it."""

    @abstractmethod
    def halfspaces(self) -> list[Halfspace] | None:
        """The bounds besides the floor; None where they are too many to write out."""

    @abstractmethod
    def inside(self) -> Point:
        """A member that gives mass to every secret to which some member does."""

    def hull(self) -> tuple[Point, ...] | None:
        """Few points, not all of them priors, whose hull contains the set; None where none are known."""
        return None

    def highest(self, costs: Sequence[Fraction]) -> tuple[Fraction, Point]:
        """The largest Σ c_x p_x and a prior that reaches it."""
        value, point = self.lowest([-cost for cost in costs])
        return -value, point

    @cached_property
    def possible(self) -> list[int]:
        """The secrets to which some member gives mass."""
        return [secret for secret, mass in enumerate(self.inside()) if mass]


@dataclass(frozen=True)
class FloorRegion(Region):
    """Q(c), also with c = 0: all priors."""

    size: int
    floor: Fraction

    def lowest(self, costs: Sequence[Fraction]) -> tuple[Fraction, Point]:
        """c on every secret, the rest on the cheapest."""
        cheapest = min(range(self.size), key=costs.__getitem__)
        rest = 1 - self.size * self.floor
        point = tuple(self.floor + rest * (place == cheapest) for place in range(self.size))
        return self.floor * sum(costs, Fraction(0)) + rest * costs[cheapest], point

    def halfspaces(self) -> list[Halfspace] | None:
        """None but the floor."""
        return []

    def inside(self) -> Point:
        """The uniform prior."""
        return (Fraction(1, self.size),) * self.size


@dataclass(frozen=True)
class BallRegion(Region):
    """The priors within ℓ1 distance `radius` of `center`."""

    center: Point
    radius: Fraction
    size: int
    floor: Fraction = Fraction(0)

    def lowest(self, costs: Sequence[Fraction]) -> tuple[Fraction, Point]:
        """Mass moves from the dearest secrets to the cheapest until radius/2 has moved or all is there."""
        order = sorted(range(self.size), key=costs.__getitem__)
        point, left = list(self.center), self.radius / 2
        for dearest in reversed(order[1:]):
            moved = min(left, point[dearest])
            point[dearest] -= moved
            point[order[0]] += moved
            left -= moved
        return dot(costs, point), tuple(point)

    def halfspaces(self) -> list[Halfspace] | None:
        """p(S) ≤ center(S) + radius/2 for every set S of secrets where it says something."""
        if 2**self.size > _MOST_HALFSPACES:
            return None
        found = []
        for count in range(1, self.size):
            for chosen in combinations(range(self.size), count):
                most = sum((self.center[place] for place in chosen), self.radius / 2)
                if most < 1:
                    found.append((tuple(Fraction(place in chosen) for place in range(self.size)), most))
        return found

    def hull(self) -> tuple[Point, ...] | None:
        """The center with radius/2 moved from one secret to another, even where it has less."""
        if self.size * (self.size - 1) > _MOST_HULL:
            return None
        moved, every = self.radius / 2, range(self.size)
        return tuple(
            tuple(self.center[x] + moved * ((x == to) - (x == origin)) for x in every)
            for to in every
            for origin in every
            if to != origin
        )

    def inside(self) -> Point:
        """The center, moved towards the uniform prior by radius/2 of its way."""
        share = self.radius / 2
        return tuple((1 - share) * mass + share / self.size for mass in self.center)


@dataclass(frozen=True)
class PolytopeRegion(Region):
    """The priors that satisfy linear bounds."""

    size: int
    floor: Fraction
    rows: tuple[Halfspace, ...]

    @cached_property
    def _program(self) -> RationalProgram:
        rows, bounds = [row for row, _ in self.rows], [bound for _, bound in self.rows]
        return RationalProgram(rows, bounds, self.floor, self.size)

    def lowest(self, costs: Sequence[Fraction]) -> tuple[Fraction, Point]:
        """By a linear program in rationals."""
        return self._program.minimum(costs)

    def halfspaces(self) -> list[Halfspace] | None:
        """The bounds as given."""
        return list(self.rows) if len(self.rows) <= _MOST_HALFSPACES else None

    def inside(self) -> Point:
        """The mean of the members that give most to each secret."""
        units = ([Fraction(place == secret) for place in range(self.size)] for secret in range(self.size))
        return mean([self.highest(unit)[1] for unit in units])


def region_of(prior_set: object, channel: Channel) -> Region | tuple[Prior, ...]:
    """Read a set of priors in the order of the channel's secrets; a list stays a list of priors."""
    if not isinstance(channel, Channel):
        raise WrongType(f"channel must be a Channel, got {quoted(channel)}; write Channel(rows).")
    size = channel.shape[0]
    if isinstance(prior_set, PriorSet):
        if prior_set.secrets not in (None, size):
            raise ShapeMismatch(
                f"prior_set must be about the channel's {size} secrets, got {prior_set.secrets}."
            )
        return FloorRegion(size, read_min_mass(prior_set.min_mass, size)[0])
    if isinstance(prior_set, PriorBall):
        center = align(prior_set.center, channel).exact().masses
        return BallRegion(tuple(center), Fraction(prior_set.radius), size)
    if isinstance(prior_set, PriorList):
        return tuple(align(prior, channel) for prior in prior_set)
    if isinstance(prior_set, PriorPolytope):
        order = match(channel.inputs, prior_set.labels, "labels of prior_set", "the channel's inputs")
        rows = prior_set.rows if order is None else prior_set.rows[:, order]
        bounds = zip(rows.tolist(), prior_set.bounds.tolist(), strict=True)
        own = tuple((tuple(map(Fraction, row)), Fraction(bound)) for row, bound in bounds)
        return PolytopeRegion(size, Fraction(prior_set.min_mass), own)
    raise WrongType(
        f"prior_set must be a PriorSet, PriorBall, PriorList or PriorPolytope, got {quoted(prior_set)}; "
        "write PriorSet(min_mass=0.1)."
    )


def has_exact_numbers(prior_set: AnyPriorSet) -> bool:
    """Whether the set was given in rationals."""
    if isinstance(prior_set, PriorSet):
        return isinstance(prior_set.min_mass, Fraction)
    return prior_set.is_exact


def as_prior(point: Point, channel: Channel) -> Prior:
    """Read a point as a prior on the channel's secrets."""
    return Prior(np.array(point, dtype=object), channel.inputs if channel.inputs.given else None)


def mean(points: Sequence[Point]) -> Point:
    """Average several priors."""
    share = Fraction(1, len(points))
    return tuple(share * sum(masses, Fraction(0)) for masses in zip(*points, strict=True))


def mix(one: Point, two: Point, share: Fraction) -> Point:
    """Mix two priors: (1 − share)·one + share·two."""
    return tuple((1 - share) * first + share * second for first, second in zip(one, two, strict=True))


def dot(one: Sequence[Fraction], two: Sequence[Fraction]) -> Fraction:
    """Compute the inner product Σ one_x two_x."""
    return sum(
        (first * second for first, second in zip(one, two, strict=True) if first and second), Fraction(0)
    )
