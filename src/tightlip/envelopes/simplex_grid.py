"""Many uses of channels on a few secrets: likelihood ratios on a lattice, from both sides, in whole numbers.

An outcome with likelihoods (a_s) lies at the logarithms of their ratios to that of the first secret, a point of a plane
where there are three; uses add points. Lattice points have whole multiples of log r as coordinates, r rational. Secrets
that an outcome rules out have no coordinate: outcomes are kept by the *class* of secrets that they leave possible, and
the product of two outcomes has the intersection of their classes.

From above (`split=True`): an outcome between lattice points is split onto the corners of its simplex,
    u_s = (a_s/a_1)/r^{n_s} in [1, r], u_1 = 1, sorted:   weights (r − u_(1)), (u_(1) − u_(2)), …  over r − 1,
corner k with the k largest raised by r: the likelihoods of the corners sum to those of the outcome under every secret,
so merging them gives it back, and what is computed is of a mechanism that says more. Likelihoods at one point are
proportional, so nothing is lost by adding them up. All masses are rounded down, and what is cut off is dropped; since
the rows of the split mechanism sum to 1, what a row lacks in the end is what was lost, and it counts as outcomes that
give the secret away: a vector of likelihoods is split into one for each secret.

From below: an outcome is replaced by its class and the lattice point nearest to it. Class and sum of points are a
function of all outcomes, so they say less, whatever the likelihoods at a point are; each row is convolved alone.

A secret that is 2^−41 times as likely as another one, or less, is taken out of the class. From above the outcome is
split into the secret alone and the rest; from below this changes a label only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tightlip.envelopes.losses import WORKING_BITS
from tightlip.numeric.ball import ball
from tightlip.numeric.parse import ObjectArray

BITS = 96
ONE = 1 << BITS
# tails up to this mass are cut off after each product
_CUT = 1 << (BITS - 52)
# secrets so much less likely than another one are taken out of a class
_FAR_BITS = 41
_FAR = _FAR_BITS * math.log(2)
# bits of the shares of a split
_SHARE_BITS = 160
# a step counts as one on which all outcomes lie where splitting adds so little, relatively
_ON_LATTICE = 1e-13
_NARROW = 1e-30

Class = tuple[int, ...]
Points = NDArray[np.int64]


class Cells(NamedTuple):
    """Points of one class, one in each row, and their masses, one row for each secret."""

    points: Points
    masses: ObjectArray

    def take(self, chosen: Any) -> Cells:
        """Keep some of them."""
        return Cells(self.points[chosen], self.masses[:, chosen])


@dataclass(frozen=True, slots=True)
class Lattice:
    """A mechanism on a lattice that says more (`split`) or less than the one it stands for.

    Attributes
    ----------
    base : rational of which the step is a power
    doublings : how often the step was doubled: r = base^(2^doublings)
    secrets : how many there are
    cells : of each class
    split : whether it says more
    """

    base: Fraction
    doublings: int
    secrets: int
    cells: Mapping[Class, Cells]
    split: bool

    @property
    def size(self) -> int:
        """How many points the box around the largest class has."""
        return max((math.prod(_box(cells.points)[1]) for cells in self.cells.values()), default=1)

    def times(self, other: Self) -> Self:
        """Use both."""
        found: dict[Class, list[Cells]] = {}
        for one, mine in self.cells.items():
            for two, theirs in other.cells.items():
                both = tuple(secret for secret in one if secret in two)
                if len(both) > 1 or not self.split:
                    product = _convolve(_project(mine, one, both), _project(theirs, two, both))
                    found.setdefault(both, []).append(product)
        cells = {kept: _shift(_unify(parts)) for kept, parts in found.items()}
        return replace(self, cells=cells)._reduced()._trimmed()

    def coarser(self) -> Self:
        """Keep every other point in each direction: split what lies between, or merge it."""
        spread = self._halve if self.split else _merge_neighbours
        cells = {kept: _unify(spread(kept, own)) for kept, own in self.cells.items()}
        return replace(self, doublings=self.doublings + 1, cells=cells)

    def _halve(self, members: Class, own: Cells) -> list[Cells]:
        """Split (a_s) into a_s r and a_s/r for the secrets of odd coordinate: shares 1/(1 + r), of theirs r/(1 + r)."""
        from flint import ctx

        with ctx.workprec(2 * _SHARE_BITS):
            root = ball(self.base) ** (1 << self.doublings)
            less, more = (_floor(share * (1 << _SHARE_BITS)) for share in (1 / (1 + root), root / (1 + root)))
        odd = own.points & 1
        between = odd.any(axis=1)
        moved, steps = own.take(between), odd[between]
        raised = np.zeros((self.secrets, len(steps)), dtype=bool)
        raised[list(members[1:])] = steps.T.astype(bool)
        kept = own.take(~between)
        shares = np.array([less, more], dtype=object)
        up, down = shares[raised.astype(int)], shares[(~raised).astype(int)]
        return [
            Cells(kept.points // 2, kept.masses),
            Cells((moved.points + steps) // 2, moved.masses * up >> _SHARE_BITS),
            Cells((moved.points - steps) // 2, moved.masses * down >> _SHARE_BITS),
        ]

    def _reduced(self) -> Self:
        """Take secrets that are far less likely than others out of the classes."""
        step = math.log(self.base) * 2.0**self.doublings
        farthest = math.floor(_FAR / step)
        found: dict[Class, list[Cells]] = {}
        for members, own in self.cells.items():
            for kept, cells in _by_class(members, own, farthest):
                if len(kept) > 1 or not self.split:
                    masses = cells.masses
                    if self.split and kept != members:
                        masses = masses.copy()
                        masses[[secret for secret in range(self.secrets) if secret not in kept]] = 0
                    part = _project(Cells(cells.points, masses), members, kept)
                    found.setdefault(kept, []).append(part)
        return replace(self, cells={kept: _unify(parts) for kept, parts in found.items()})

    def _trimmed(self) -> Self:
        """Cut tails of little mass off; from below they are moved to the border."""
        cells = {}
        for members, own in self.cells.items():
            low, high = _borders(own)
            if self.split:
                inside = ((own.points >= low) & (own.points <= high)).all(axis=1)
                cells[members] = own.take(inside)
            else:
                cells[members] = _unify([Cells(np.clip(own.points, low, high), own.masses)])
        return replace(self, cells=cells)


def _floor(value: Any) -> int:
    return int(value.lower().floor().unique_fmpz())


def _box(points: Points) -> tuple[Points, list[int]]:
    """Find the smallest point of a box, and its lengths."""
    if not len(points):
        return np.zeros(points.shape[1], dtype=np.int64), [1] * points.shape[1]
    low = points.min(axis=0)
    return low, [int(length) for length in points.max(axis=0) - low + 1]


def _strides(lengths: Sequence[int]) -> Points:
    return np.array([math.prod(lengths[place + 1 :]) for place in range(len(lengths))], dtype=np.int64)


def _unify(parts: Sequence[Cells]) -> Cells:
    """Add up what lies at the same point."""
    points = np.concatenate([part.points for part in parts])
    masses = np.concatenate([part.masses for part in parts], axis=1)
    low, lengths = _box(points)
    keys, first, place = np.unique((points - low) @ _strides(lengths), return_index=True, return_inverse=True)
    sums = np.zeros((len(masses), len(keys)), dtype=object)
    for row, own in zip(sums, masses, strict=True):
        np.add.at(row, place, own)
    return Cells(points[first], sums)


def _shift(cells: Cells) -> Cells:
    """Divide by 2^96, rounded down, and drop what vanishes."""
    masses = cells.masses >> BITS
    return Cells(cells.points, masses).take(masses.any(axis=0).astype(bool))


def _project(cells: Cells, members: Class, kept: Class) -> Cells:
    """Forget the coordinates of secrets that are ruled out."""
    if kept == members:
        return cells
    places = [members.index(secret) for secret in kept]
    full = np.column_stack([np.zeros(len(cells.points), dtype=np.int64), cells.points])[:, places]
    points = full[:, 1:] - full[:, :1] if kept else np.zeros((len(full), 0), dtype=np.int64)
    return _unify([Cells(points, cells.masses)])


def _by_class(members: Class, own: Cells, farthest: int) -> Iterator[tuple[Class, Cells]]:
    """Divide cells by the secrets that are not far less likely than others."""
    if len(members) < 2:
        yield members, own
        return
    full = np.column_stack([np.zeros(len(own.points), dtype=np.int64), own.points])
    near = full >= full.max(axis=1, keepdims=True) - farthest
    for pattern in np.unique(near, axis=0):
        chosen = (near == pattern).all(axis=1)
        kept = tuple(secret for secret, stays in zip(members, pattern, strict=True) if stays)
        yield kept, own.take(chosen)


def _borders(own: Cells) -> tuple[Points, Points]:
    """Find the box outside which there is little mass in each direction."""
    low, high = [], []
    totals = own.masses.sum(axis=0)
    for axis in range(own.points.shape[1]):
        values, place = np.unique(own.points[:, axis], return_inverse=True)
        sums = np.zeros(len(values), dtype=object)
        np.add.at(sums, place, totals)
        start, total = 0, sums[0]
        while total <= _CUT and start < len(sums) - 1:
            start += 1
            total += sums[start]
        end, total = len(sums) - 1, sums[-1]
        while total <= _CUT and end > start:
            end -= 1
            total += sums[end]
        low.append(int(values[start]))
        high.append(int(values[end]))
    return np.array(low, dtype=np.int64), np.array(high, dtype=np.int64)


def _merge_neighbours(_: Class, own: Cells) -> list[Cells]:
    return [Cells(own.points // 2, own.masses)]


def _convolve(one: Cells, two: Cells) -> Cells:
    """Convolve each row exactly, as polynomials in one variable: rows of the box are padded to those of the result."""
    from flint import fmpz_poly

    (low, lengths), (other, others) = _box(one.points), _box(two.points)
    box = [mine + theirs - 1 for mine, theirs in zip(lengths, others, strict=True)]
    strides = _strides(box)
    keys, found = ((cells.points - start) @ strides for cells, start in ((one, low), (two, other))), []
    first, second = (own.tolist() for own in keys)
    for mine, theirs in zip(one.masses, two.masses, strict=True):
        product = fmpz_poly(_spread(first, mine)) * fmpz_poly(_spread(second, theirs))
        found.append(product.coeffs())
    size = math.prod(box)
    masses = np.zeros((len(found), size), dtype=object)
    for row, coefficients in zip(masses, found, strict=True):
        row[: len(coefficients)] = [int(mass) for mass in coefficients]
    used = np.flatnonzero(masses.any(axis=0))
    points = (used[:, None] // strides) % np.array(box, dtype=np.int64) + low + other
    return Cells(points, masses[:, used])


def _spread(keys: list[int], masses: ObjectArray) -> list[int]:
    found = [0] * (max(keys, default=0) + 1)
    for key, mass in zip(keys, masses.tolist(), strict=True):
        found[key] = mass
    return found


Column = tuple[Fraction, ...]


def put(columns: Sequence[Column], base: Fraction, *, split: bool) -> Lattice:
    """Put the outcomes of a channel on a lattice, each given by its likelihoods."""
    secrets = len(columns[0])
    found: dict[Class, list[Cells]] = {}
    for column in columns:
        far = max(column) / (1 << _FAR_BITS)
        members = tuple(secret for secret, chance in enumerate(column) if chance > far)
        if len(members) > 1 or not split:
            corners = _corners(column, members, base) if split else _nearest(column, members, base)
            points = np.array([point for point, _ in corners], dtype=np.int64)
            whole = [[math.floor(chance * ONE) for chance in chances] for _, chances in corners]
            masses = np.empty((secrets, len(whole)), dtype=object)
            masses[:] = np.array(whole, dtype=object).T
            found.setdefault(members, []).append(Cells(points.reshape(len(whole), -1), masses))
    cells = {members: _unify(parts) for members, parts in found.items()}
    return Lattice(base, 0, secrets, cells, split)._reduced()


Corner = tuple[list[int], list[Fraction]]


def _corners(column: Column, members: Class, base: Fraction) -> list[Corner]:
    """Split an outcome onto the corners of its simplex."""
    first = column[members[0]]
    floors = {secret: _floor_log(column[secret] / first, base) for secret in members}
    above = {secret: column[secret] / first / base ** floors[secret] for secret in members}
    order = sorted(members[1:], key=lambda secret: above[secret], reverse=True)
    levels = [base, *(above[secret] for secret in order), Fraction(1)]
    found = []
    for count in range(len(members)):
        weight = first * (levels[count] - levels[count + 1]) / (base - 1)
        if not weight:
            continue
        point = {secret: floors[secret] + (secret in order[:count]) for secret in members}
        chances = [
            weight * base ** point[secret] if secret in point else Fraction(0)
            for secret in range(len(column))
        ]
        found.append(([point[secret] for secret in members[1:]], chances))
    return found


def _nearest(column: Column, members: Class, base: Fraction) -> list[Corner]:
    """Give an outcome the number of the point nearest to it."""
    step = math.log1p(base - 1)
    logs = [_log(column[secret] / column[members[0]]) for secret in members[1:]]
    return [([round(log / step) for log in logs], list(column))]


def _log(ratio: Fraction) -> float:
    return float(ball(ratio).log().mid())


def _floor_log(ratio: Fraction, base: Fraction) -> int:
    """Find the largest n with base^n ≤ ratio, exactly."""
    guess = math.floor(_log(ratio) / math.log1p(base - 1))
    while base**guess > ratio:
        guess -= 1
    while base ** (guess + 1) <= ratio:
        guess += 1
    return guess


def choose_base(parts: Sequence[tuple[Sequence[Column], int]], points: int) -> Fraction:
    """Choose the step on which splitting adds least: a part of the widest logarithm of a ratio.

    Where all outcomes lie on a lattice, as those of randomised response do, the widest such lattice is taken.
    """
    logs, weights = [], []
    for columns, uses in parts:
        for column in columns:
            far = max(column) / (1 << _FAR_BITS)
            near = [chance for chance in column if chance > far]
            pairs = [abs(_log(one / two)) for one, two in combinations(near, 2)]
            logs += pairs
            weights += [uses * float(sum(near))] * len(pairs)
    width = max(logs, default=0.0)
    if width < _NARROW:
        return Fraction(2)
    side = math.floor(points ** (1 / (len(parts[0][0][0]) - 1)) + 1e-9)
    once = sum(uses for _, uses in parts) == 1
    counts = np.arange(1, max(1, (side - 1) // (2 if once else 4)) + 1)
    shares = np.multiply.outer(counts, np.array(logs) / width) % 1.0
    added = (shares * (1 - shares) * np.array(weights)).sum(axis=1) / counts**2
    good = np.flatnonzero(added <= _ON_LATTICE * sum(weights))
    best = int(counts[good[0] if len(good) else np.argmin(added)])
    return _rational(width / best)


def _rational(step: float) -> Fraction:
    """Find a rational near e^step, a short one where there is one."""
    exact = 1 + Fraction(math.expm1(step))
    short = exact.limit_denominator(10**6)
    return short if short > 1 and abs(short / exact - 1) < Fraction(1, 10**14) else exact


def _multiply(one: Lattice, two: Lattice, points: int) -> Lattice:
    while one.doublings != two.doublings:
        one, two = (one.coarser(), two) if one.doublings < two.doublings else (one, two.coarser())
    return _shorten(one.times(two), points)


def _shorten(lattice: Lattice, points: int) -> Lattice:
    while lattice.size > points:
        lattice = lattice.coarser()
    return lattice


def _power(single: Lattice, uses: int, points: int) -> Lattice:
    found = single
    for bit in bin(uses)[3:]:
        found = _multiply(found, found, points)
        if bit == "1":
            found = _multiply(found, single, points)
    return found


def convolve(parts: Sequence[tuple[Sequence[Column], int]], points: int, *, split: bool) -> Lattice:
    """Put channels on one lattice and use each as often as it says."""
    from flint import ctx

    with ctx.workprec(WORKING_BITS):
        base = choose_base(parts, points)
        singles = [_shorten(put(columns, base, split=split), points) for columns, _ in parts]
        powers = [_power(single, uses, points) for single, (_, uses) in zip(singles, parts, strict=True)]
        return reduce(lambda one, two: _multiply(one, two, points), powers)


def alike(channels: Sequence[tuple[ObjectArray, int]]) -> list[tuple[Sequence[Column], int]]:
    """Merge outcomes that say the same, and add up the uses of channels that do, in an order that is theirs alone."""
    counted: dict[tuple[Column, ...], int] = {}
    for rows, uses in channels:
        merged: dict[Column, Column] = {}
        for column in (tuple(column) for column in rows.T.tolist()):
            total = sum(column)
            if total:
                kind = tuple(chance / total for chance in column)
                known = merged.get(kind, (Fraction(0),) * len(column))
                merged[kind] = tuple(one + two for one, two in zip(known, column, strict=True))
        key = tuple(sorted(merged.values()))
        counted[key] = counted.get(key, 0) + uses
    return sorted(counted.items())
