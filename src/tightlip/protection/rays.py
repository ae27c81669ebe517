"""A kernel that keeps limits which leave no room, in whole numbers.

At a limit that publishing nothing keeps with equality (a factor of 1, or a cap at what is true of everybody) each value
that is published keeps it with equality, so that no rounding is allowed. But K(y | ·) keeps a limit as each multiple of
it does: Σ_x a_rx K(y | x) = 0, a_rx the excess of cell x over limit r in whole numbers. So K(y | ·) is taken apart into
rays, whole numbers d_x > 0 on few cells with Σ_x a_rx d_x = 0, and of each ray a whole multiple is published. What is
left says nothing, and keeps these limits since everything together does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.tally import Places
from tightlip.numeric.parse import FloatArray
from tightlip.protection.kernel import Kernel, exposed_share
from tightlip.protection.limits import Limits
from tightlip.protection.values import Values

_SCALE, _MOST = (
    1 << 40,
    1 << 61,
)  # of weights, and of people times weights, which are whole numbers of 64 bits
_NOTHING = 1e-9  # a share that a solver gives to what it does not use
_TIGHT = 1e-6  # people by which a solver's excess may be off
_LARGEST = 200  # cells of a value that is taken apart


def exact_kernel(
    values: Values, limits: Limits, value: Places, cell: Places, share: FloatArray
) -> Kernel | None:
    """Publish nearly these shares and nothing otherwise, with equality where a limit leaves no room; None if it fails.

    None too where every limit leaves room to publishing nothing, or people may be exposed.
    """
    excess = _whole_excess(limits)
    tight = _without_room(values, excess)
    if limits.exposed or not tight.any():
        return None
    narrow = limits.people.dtype != object
    scale = min(_SCALE, _MOST // limits.total) if narrow else _SCALE
    pairs: list[tuple[int, int, int]] = []
    amounts = limits.excess()
    shown = np.flatnonzero((share > _NOTHING) & (value != values.last[cell]))
    for place in np.unique(value[shown]).tolist():
        own = shown[value[shown] == place]
        cells, part = cell[own], share[own]
        needed = tight[:, values.last[cells[0]]] | (np.abs(amounts[:, cells] @ part) < _TIGHT)
        if len(own) <= _LARGEST:
            for inside, ray, times in _take_apart(excess[needed][:, cells], part):
                whole = math.floor(times * scale * (1 - _NOTHING))
                pairs += [
                    (place, int(cells[x]), d * whole) for x, d in zip(inside, ray, strict=True) if whole
                ]
    kernel = _with_nothing(values, pairs, len(limits.people), scale)
    kept = kernel is not None and exposed_share(kernel, values, limits) == 0
    return kernel if kept else None


def _whole_excess(limits: Limits) -> NDArray[np.object_]:
    """How far each cell is over each limit, in whole numbers; relative sizes differ by limit."""
    rows = np.zeros((len(limits.limits), len(limits.people)), dtype=object)
    for place, limit in enumerate(limits.limits):
        held, bound = limits.counts[limit.secret].astype(object), limit.inside
        people = limits.people_of(limit).astype(object)
        over = held * bound.denominator - people * bound.numerator
        rows[place] = -over if limit.floor else over
    return rows


def _without_room(values: Values, excess: NDArray[np.object_]) -> NDArray[np.bool_]:
    """Which limits (rows) a value that says nothing (columns) keeps with equality."""
    found = np.zeros((len(excess), len(values)), dtype=bool)
    for top in np.unique(values.last).tolist():
        found[:, top] = [not sum(row) for row in excess[:, values.last == top].tolist()]
    return found


def _with_nothing(values: Values, pairs: list[tuple[int, int, int]], cells: int, scale: int) -> Kernel | None:
    """Publish nothing for what is left of each cell."""
    value, cell, weight = (
        (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
        if pairs
        else (np.zeros(0, dtype=np.int64),) * 3
    )
    rest = np.full(cells, scale, dtype=np.int64)
    np.subtract.at(rest, cell, weight)
    if rest.min() < 0:
        return None
    return Kernel.of(
        np.append(value, values.last), np.append(cell, np.arange(cells)), np.append(weight, rest), scale
    )


def _take_apart(
    excess: NDArray[np.object_], part: FloatArray
) -> Iterator[tuple[list[int], list[int], float]]:
    """Write parts of cells as a sum of rays, about: places, whole numbers, and how many times."""
    left = part.copy()
    while True:
        places = np.flatnonzero(left > _NOTHING)
        found = _ray(excess[:, places], left[places]) if len(places) else None
        if found is None:
            return
        inside, ray = places[found[0]], np.array(found[1], dtype=np.float64)
        times = float((left[inside] / ray).min())
        yield inside.tolist(), found[1], times
        last = inside[int(np.argmin(left[inside] / ray))]
        left[inside] -= times * ray
        left[last] = 0.0


def _ray(excess: NDArray[np.object_], part: FloatArray) -> tuple[list[int], list[int]] | None:
    """A ray inside of parts that about keep the limits with equality: one place after another is emptied."""
    basis, left = _null_space(excess), part.copy()
    while len(basis) > 1:
        move = basis.pop()
        steps = np.array([float(one) for one in move])
        steps = steps if (steps > 0).any() else -steps
        at = np.where(steps > 0, left / np.where(steps > 0, steps, 1.0), np.inf)
        empty = int(at.argmin())
        left = np.maximum(left - at[empty] * steps, 0.0)
        left[empty] = 0.0
        basis = [
            [one - own[empty] / move[empty] * by for one, by in zip(own, move, strict=True)] for own in basis
        ]
    if not basis:
        return None
    inside = [place for place, one in enumerate(basis[0]) if one]
    ray = [basis[0][place] for place in inside]
    scale = math.lcm(*(one.denominator for one in ray))
    whole = [int(one * scale) for one in ray]
    common = math.gcd(*whole) * (1 if whole[0] > 0 else -1)
    whole = [one // common for one in whole]
    return (inside, whole) if min(whole) > 0 else None


def _null_space(rows: NDArray[np.object_]) -> list[list[Fraction]]:
    """A basis of the vectors that all rows are orthogonal to."""
    from flint import fmpq_mat, fmpz_mat

    height, width = rows.shape
    reduced: Any
    reduced, rank = fmpq_mat(fmpz_mat(height, width, [int(one) for one in rows.ravel()])).rref()
    table = [
        [Fraction(int(reduced[r, c].p), int(reduced[r, c].q)) for c in range(width)] for r in range(rank)
    ]
    pivots = [next(place for place, one in enumerate(row) if one) for row in table]
    found = []
    for free in sorted(set(range(width)) - set(pivots)):
        vector = [Fraction(0)] * width
        vector[free] = Fraction(1)
        for row, pivot in zip(table, pivots, strict=True):
            vector[pivot] = -row[free]
        found.append(vector)
    return found
