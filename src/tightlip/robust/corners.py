"""Corners and simplices of a small set of priors, in rationals.

Corners: start with those of Q(floor) and cut by one bound after the other; a new corner lies on each edge that the
bound crosses. Simplices: pull one corner, cut the faces that do not touch it into simplices, join each with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightlip.robust.region import Halfspace, Point, Region, dot

Simplex = tuple[Point, ...]
Tight = frozenset[int]  # which bounds hold with equality

_MOST_CORNERS = 120
_MOST_SIMPLICES = 400


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
