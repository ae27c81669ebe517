"""A convex set of priors in the order of a channel's secrets: where a linear function is smallest, in rationals.

    Q(c)      c everywhere, the rest on the cheapest secret
    ℓ1 ball   up to radius/2 of the mass moves, from the dearest secrets to the cheapest one
    polytope  a linear program (numeric/rational_program.py)

The ball. p = center + (p − center)₊ − (p − center)₋, both parts of mass at most radius/2. What is added costs least on
the cheapest secret; what is removed saves most on the dearest ones, each of which can give no more than it has.

Corners of a small set: start with those of Q(floor) and cut by one bound after the other; a new corner lies on each
edge that the bound crosses. Simplices: pull one corner, cut the faces that do not touch it into simplices, join each
with it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from tightlip.errors import ShapeMismatch, WrongType, quoted
from tightlip.measures.capacity import read_min_mass
from tightlip.model.channel import Channel, align
from tightlip.model.labels import match
from tightlip.model.prior import Prior, PriorSet
from tightlip.model.prior_set import AnyPriorSet, PriorBall, PriorList, PriorPolytope
from tightlip.numeric.rational_program import RationalProgram

Point = tuple[Fraction, ...]
Halfspace = tuple[tuple[Fraction, ...], Fraction]  # row and bound: row · p ≤ bound

_MOST_HALFSPACES = 64
_MOST_HULL = 1000
Simplex = tuple[Point, ...]
Tight = frozenset[int]  # which bounds hold with equality
_MOST_CORNERS = 120
_MOST_SIMPLICES = 400


class Region(ABC):
    """A closed convex set of priors on `size` secrets, every mass at least `floor`."""

    size: int
    floor: Fraction

    @abstractmethod
    def lowest(self, costs: Sequence[Fraction]) -> tuple[Fraction, Point]:
        """Find the smallest Σ c_x p_x and a prior that reaches it."""

    @abstractmethod
    def halfspaces(self) -> list[Halfspace] | None:
        """List the bounds besides the floor; None where they are too many to write out."""

    @abstractmethod
    def inside(self) -> Point:
        """Return a member that gives mass to every secret to which some member does."""

    def hull(self) -> tuple[Point, ...] | None:
        """Few points, not all of them priors, whose hull contains the set; None where none are known."""
        return None

    def highest(self, costs: Sequence[Fraction]) -> tuple[Fraction, Point]:
        """Find the largest Σ c_x p_x and a prior that reaches it."""
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
        """Return the uniform prior."""
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
        """List the center with radius/2 moved from one secret to another, even where it has less."""
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
        """Return the center, moved towards the uniform prior by radius/2 of its way."""
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
        """Solve a linear program in rationals."""
        return self._program.minimum(costs)

    def halfspaces(self) -> list[Halfspace] | None:
        """List the bounds as given."""
        return list(self.rows) if len(self.rows) <= _MOST_HALFSPACES else None

    def inside(self) -> Point:
        """Return the mean of the members that give most to each secret."""
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


@dataclass(frozen=True, slots=True)
class Cover:
    """Cells, each the hull of some points, that together contain a set; simplices may be cut further."""

    cells: list[Simplex]
    divisible: bool


def cover_of(region: Region) -> Cover | None:
    """Cover the set by simplices where it has few corners, else by one hull where one is known."""
    simplices = simplices_of(region)
    if simplices is not None:
        return Cover(simplices, divisible=True)
    hull = region.hull()
    return None if hull is None else Cover([hull], divisible=False)


def simplices_of(region: Region) -> list[Simplex] | None:
    """Triangulate the set without overlap; None where it has too many corners.

    >>> from tightlip.robust.region import BallRegion
    >>> third = Fraction(1, 3)
    >>> [len(simplex) for simplex in simplices_of(BallRegion((third,) * 3, Fraction(1, 10), 3))]
    [3, 3, 3, 3]
    """
    found = corners_of(region)
    if found is None:
        return None
    points = list(found)
    tight = [found[point] for point in points]
    pulled = _pull(frozenset(range(len(points))), points, tight)
    if pulled is None:
        return None
    return [tuple(points[place] for place in sorted(simplex)) for simplex in pulled]


def corners_of(region: Region) -> dict[Point, Tight] | None:
    """Enumerate corners and the bounds tight there (masses first, then the others); None if they are too many."""
    halfspaces = region.halfspaces()
    if halfspaces is None:
        return None
    corners = _first_corners(region.size, region.floor)
    for place, halfspace in enumerate(halfspaces, region.size):
        corners = _cut(corners, halfspace, place)
        if len(corners) > _MOST_CORNERS:
            return None
    return corners


def _first_corners(size: int, floor: Fraction) -> dict[Point, Tight]:
    rest = 1 - size * floor
    every = range(size)
    return {
        tuple(floor + rest * (place == heavy) for place in every): frozenset(
            place for place in every if place != heavy or not rest
        )
        for heavy in every
    }


def _cut(corners: dict[Point, Tight], halfspace: Halfspace, name: int) -> dict[Point, Tight]:
    row, bound = halfspace
    slack = {point: bound - dot(row, point) for point in corners}
    kept = {
        point: tight | {name} if not slack[point] else tight
        for point, tight in corners.items()
        if slack[point] >= 0
    }
    inner = [point for point in corners if slack[point] > 0]
    outer = [point for point in corners if slack[point] < 0]
    for one in inner:
        for two in outer:
            common = corners[one] & corners[two]
            if sum(common <= tight for tight in corners.values()) == 2:  # nothing between them: an edge
                share = slack[one] / (slack[one] - slack[two])
                crossing = tuple(a + share * (b - a) for a, b in zip(one, two, strict=True))
                kept[crossing] = common | {name}
    return kept


def _pull(
    face: frozenset[int], points: Sequence[Point], tight: Sequence[Tight]
) -> list[frozenset[int]] | None:
    """Triangulate a face given by its corners, by pulling; None where the simplices are too many."""
    dimension = _dimension(face, points)
    if len(face) == dimension + 1:
        return [face]
    pulled = min(face)
    found: list[frozenset[int]] = []
    bounds = frozenset().union(*(tight[place] for place in face))
    sides = {frozenset(place for place in face if bound in tight[place]) for bound in bounds}
    for side in sorted(sides, key=sorted):
        if pulled in side or len(side) < dimension or _dimension(side, points) != dimension - 1:
            continue
        inner = _pull(side, points, tight)
        if inner is None or len(found) + len(inner) > _MOST_SIMPLICES:
            return None
        found += [simplex | {pulled} for simplex in inner]
    return found


def _dimension(face: frozenset[int], points: Sequence[Point]) -> int:
    """Compute the affine dimension of some points."""
    first, *others = (points[place] for place in sorted(face))
    if not others:
        return 0
    return int(_matrix([[a - b for a, b in zip(point, first, strict=True)] for point in others]).rank())


def _matrix(rows: list[list[Fraction]]) -> Any:
    from flint import fmpq, fmpq_mat

    entries = [fmpq(entry.numerator, entry.denominator) for row in rows for entry in row]
    return fmpq_mat(len(rows), len(rows[0]), entries)
