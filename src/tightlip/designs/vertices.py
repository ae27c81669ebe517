"""All extreme columns of a cone for few secrets, in rationals: the double description method.

The columns k ≥ 0 with p·k = 1 are a simplex with corners e_x / p_x. Each bound a·k ≥ 0 cuts it: corners with a·k < 0
go, and a new one comes on every edge that the bound crosses. Two corners are joined by an edge exactly if no other
corner lies on all bounds that both lie on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from tightlip.designs.guarantee import Rows, Vector

_MOST = 400  # corners; checking edges takes their number cubed


@lru_cache(maxsize=8)  # each proof and each search asks for them again
def corners_of(rows: Rows, masses: Vector) -> Sequence[Vector] | None:
    """List the extreme columns of a cone as `vertices` does; under a bound on the sum of largest entries, of its parts.

    In a part the same entry is the largest, so that what a column counts is linear: it is a mixture of the part's
    extreme columns that counts no more than they do. None also where another number is bounded than largest entries.
    """
    if rows.most is None:
        return vertices(rows, masses)
    if any(own.own and (own.own != 1 or own.floor or any(own.row)) for own in rows.upper):
        return None
    found: dict[Vector, None] = {}
    for peak in range(len(masses)):
        others = [other for other in range(len(masses)) if other != peak]
        largest = tuple(
            tuple(Fraction((at == peak) - (at == other)) for at in range(len(masses))) for other in others
        )
        part = vertices(replace(rows, positive=largest + rows.positive), masses)
        if part is None:
            return None
        found.update(dict.fromkeys(part))
    return tuple(found)


def vertices(rows: Rows, masses: Vector) -> list[Vector] | None:
    """List the extreme columns of a cone, scaled to p·k = 1; None where they are many or a secret has no mass.

    A bound on the sum of largest entries is about all columns together, and is left out.

    >>> from tightlip.designs.guarantee import Upper
    >>> half = Fraction(1, 2)
    >>> found = vertices(Rows(upper=(Upper((half * 3 / 2, half * 3 / 2)),)), (half, half))
    >>> sorted(tuple(map(str, corner)) for corner in found)
    [('1/2', '3/2'), ('3/2', '1/2')]
    """
    if not all(masses):
        return None
    size = len(masses)
    corners = [
        tuple(1 / masses[place] if place == own else Fraction(0) for place in range(size))
        for own in range(size)
    ]
    tight = [frozenset(set(range(size)) - {own}) for own in range(size)]
    for name, bound in enumerate(_halfspaces(rows, size), size):
        corners, tight = _cut(corners, tight, bound, name)
        if len(corners) > _MOST:
            return None
    return corners


def _halfspaces(rows: Rows, size: int) -> list[Vector]:
    """Write the bounds as a with a·k ≥ 0; the least entry as every entry."""
    found = [tuple(row) for row in rows.positive]
    for own in range(size):
        for row, share, total in rows.upper:
            if total:
                # a bound on all columns together says nothing of one
                continue
            for least in range(size) if share else (own,):
                found.append(
                    tuple(
                        entry - (place == own) + share * (place == least) for place, entry in enumerate(row)
                    )
                )
        for row in rows.lower:
            found.append(tuple((place == own) - entry for place, entry in enumerate(row)))
    return found


def _cut(
    corners: list[Vector], tight: list[frozenset[int]], bound: Vector, name: int
) -> tuple[list[Vector], list[frozenset[int]]]:
    """Keep what a bound allows."""
    values = [sum((a * b for a, b in zip(bound, corner, strict=True)), Fraction(0)) for corner in corners]
    kept = [place for place, value in enumerate(values) if value >= 0]
    found = [corners[place] for place in kept]
    on = [tight[place] | {name} if values[place] == 0 else tight[place] for place in kept]
    for inner in kept:
        for outer in range(len(corners)):
            if values[inner] <= 0 or values[outer] >= 0:
                continue
            common = tight[inner] & tight[outer]
            if len(common) < len(bound) - 2 or any(
                common <= other for place, other in enumerate(tight) if place not in (inner, outer)
            ):
                continue
            part = values[inner] / (values[inner] - values[outer])
            found.append(
                tuple(a + part * (b - a) for a, b in zip(corners[inner], corners[outer], strict=True))
            )
            on.append(common | {name})
    return found, on
