"""All extreme columns of cones for few secrets: what they are and what each is worth, up to roundings that are bounded.

A convex function of columns is largest at extreme ones, so prices w prove a bound by looking through them all:

    max_v { Σ_x p_x f(v_x) − w·v }  ≤  max_i { φ_i − w·v_i } + Σ_x |w_x| e_x,

where v_i are the extreme columns in floats, e_x is more than any entry of secret x is off, and φ_i is more than column
i is worth. The same lists are what column generation looks through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.designs.f_information import Curve, Information
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import UNIT, gamma

LISTED = 17
"""Secrets of which all sets are listed: 131072, with one of those left out picked a million, of which a fifth fit."""

_STRAY = 8 * UNIT  # more than the rounding of a few numbers below 2


@dataclass(frozen=True, eq=False)
class Patterns:
    """Columns of sets, which are written out only when asked for: there are many, and few are needed.

    Attributes
    ----------
    secrets : how many there are
    sets : of each column the place of its set among `sets_of`
    low, rise : each entry is `low`, and on the set it is more by `rise`, which is not negative: what is subtracted
        from a large number would be off by a part of that
    between, inner : of one secret off the set the entry is more by `inner`
    """

    secrets: int
    sets: NDArray[np.intp]
    low: FloatArray
    rise: FloatArray
    between: NDArray[np.intp]
    inner: FloatArray

    def __len__(self) -> int:
        return len(self.sets)

    def __getitem__(self, places: NDArray[Any]) -> FloatArray:
        sets = sets_of(self.secrets)[self.sets[places]]
        columns = self.low[places, None] + self.rise[places, None] * sets
        columns[np.arange(len(columns)), self.between[places]] += self.inner[places]
        return np.asarray(columns)

    def __matmul__(self, prices: FloatArray) -> FloatArray:
        found = self.low * prices.sum() + self.rise * sums_of(prices).take(self.sets)
        if self._two_valued:
            return np.asarray(found)
        return np.asarray(found + self.inner * prices.take(self.between))

    @cached_property
    def _two_valued(self) -> bool:
        """Whether no column has an entry between."""
        return not self.inner.any()

    @property
    def peaks(self) -> FloatArray:
        """The largest entry of each."""
        # the empty set comes first
        return self.low + np.maximum(np.where(self.sets > 0, self.rise, 0.0), self.inner)

    def among(self, kept: NDArray[Any]) -> Patterns:
        """Leave out columns."""
        rest = self.sets[kept], self.low[kept], self.rise[kept], self.between[kept], self.inner[kept]
        return Patterns(self.secrets, *rest)


@dataclass(frozen=True, eq=False)
class Listing:
    """Extreme columns of a cone with p·v = 1.

    Attributes
    ----------
    entries : the columns in floats, or what they are made of
    worths : more than each is worth
    stray : more than an entry is off, for each secret
    most : no less than any entry, for each secret
    """

    entries: Patterns | FloatArray
    worths: FloatArray
    stray: FloatArray
    most: FloatArray

    @property
    def patterns(self) -> Patterns:
        """The sets that the columns are made of, where they are."""
        assert isinstance(self.entries, Patterns)
        return self.entries

    @cached_property
    def columns(self) -> FloatArray:
        """Write them out, a row for each."""
        return self.entries[np.arange(len(self.worths))]

    @cached_property
    def peaks(self) -> FloatArray:
        """The largest entry of each."""
        return self.entries.peaks if isinstance(self.entries, Patterns) else self.entries.max(axis=1)

    @cached_property
    def _errors(self) -> FloatArray:
        """How far a product with a price is off, for a unit of each price."""
        slack = gamma(len(self.most) + 8)
        return np.asarray((self.stray + slack * self.most) * (1 + slack))

    def lacks(self, prices: FloatArray) -> FloatArray:
        """Compute what each column lacks of its price."""
        return np.asarray(self.entries @ prices - self.worths)

    def beyond(self, prices: FloatArray, weights: FloatArray | float = 1.0) -> float:
        """Bound what a column is worth beyond its price, times a weight of at most 1, from above."""
        found, margin = -self.lacks(prices), float(np.abs(prices) @ self._errors)
        # rounding these sums takes away less than the stray part
        raised = found + _STRAY * (np.abs(found) + margin) + margin
        return float(np.nextafter((raised * weights).max(), np.inf))


@cache
def sets_of(count: int) -> FloatArray:
    """List all sets as rows of zeros and ones: the empty one first, the whole last."""
    found = ((np.arange(2**count)[:, None] >> np.arange(count)) & 1).astype(np.float64)
    found.setflags(write=False)
    return found


def sums_of(values: FloatArray) -> FloatArray:
    """Sum values over all sets, in the order of `sets_of`: of both halves of the secrets, then of all pairs of sets."""
    half = len(values) // 2
    first, second = sets_of(half) @ values[:half], sets_of(len(values) - half) @ values[half:]
    return np.add.outer(second, first).ravel()


@cache
def _outside(count: int) -> NDArray[np.bool_]:
    """Tell for each secret in which sets it is not."""
    return np.ascontiguousarray(sets_of(count).T == 0)


@cache
def _left_out(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """List all pairs of a set, by its place among `sets_of`, and a secret that is not in it."""
    secrets, places = np.nonzero(_outside(count))
    return places, secrets


def _most(masses: FloatArray, upper: float = np.inf) -> FloatArray:
    """Bound entries of columns with p·v = 1 and v ≤ upper, for each secret."""
    found = np.full(len(masses), upper)
    np.minimum(found, (1 + _STRAY) / np.where(masses > 0, masses, 1.0), out=found, where=masses > 0)
    return found


def list_box(ends: tuple[float, float], share: float, masses: FloatArray, utility: Information) -> Listing:
    """List lower ≤ v ≤ upper: the upper end on a set, one entry between, the lower end elsewhere.

    `share` is the mass at the upper end if no entry is between, (1 − lower)/(upper − lower), correctly rounded.
    """
    (lower, upper), secrets, span = ends, len(masses), ends[1] - ends[0]
    # masses of sets up to the share are off by a part of it
    sums, slack = sums_of(masses), _STRAY * (len(masses) + 2)
    off = slack * share
    light = np.flatnonzero((sums <= share + 2 * off) & (sums >= share - masses.max() - 2 * off))
    left = share - sums[light]
    room = np.where(masses > 0, masses + 2 * off, -np.inf)
    fits = _outside(secrets).take(light, axis=1) & (left <= room[:, None])
    between, places = np.divmod(np.flatnonzero(fits), max(len(light), 1))
    sets, left, mass = light[places], left[places], masses[between]
    sums, part = sums[sets], left / mass
    columns = Patterns(
        secrets,
        sets,
        np.full(len(sets), lower),
        np.full(len(sets), span),
        between,
        span * np.clip(part, 0.0, 1.0),
    )
    # a convex function of an entry that is known within an interval is largest at its ends
    most = _most(masses, upper)
    error, wide = off / mass, _STRAY * (1 + most)
    below = lower - wide[between] + span * np.clip(part - error, 0.0, 1.0)
    above = lower + wide[between] + span * np.clip(part + error, 0.0, 1.0)
    entries = np.clip(np.concatenate([below, above, ends]), lower, upper)
    worth = utility.excess_up(entries - 1, entries)
    low, high = worth[-2:]
    worth = np.maximum(worth[: len(part)], worth[len(part) : -2])
    worths = sums * (1 + slack) * high + np.maximum(1 - sums - mass + slack, 0.0) * low
    worths = worths + mass * (1 + _STRAY) * worth
    stray = wide + np.minimum(2 * off * span / np.where(masses > 0, masses, np.inf), span)
    return Listing(columns, worths * (1 + _STRAY), stray, most)


def list_sets(curve: Curve, masses: FloatArray, size: int | None = None) -> Listing:
    """List columns with `high` on a set, of a size or any but the empty one, and `low` off it."""
    sums, slack = sums_of(masses), gamma(2 * len(masses) + 16)
    kept = sums > 0 if size is None else sets_of(len(masses)).sum(axis=1) == size
    sets, sums, none = np.flatnonzero(kept), sums[kept], np.zeros(int(kept.sum()))
    total = curve.total(sums)
    columns = Patterns(
        len(masses),
        sets,
        curve.low / total,
        (curve.high - curve.low) / total,
        none.astype(np.intp),
        none,
    )
    # masses are sums of what is not negative: their relative error is small
    worths = curve.ceiling(sums, slack * sums, np.zeros(1))[0]
    worths = worths / (curve.total(sums * (1 - slack)) * (1 - _STRAY)) * (1 + _STRAY)
    most = _most(masses, curve.high / float(total.min(initial=np.inf)))
    return Listing(columns, worths, slack * most, most)


def list_halves(end: float, limit: float, masses: FloatArray, utility: Information) -> Listing:
    """List columns with an end on a set, and off it one number, all alike, that is no further from 1 than a limit."""
    count, slack = len(masses), gamma(2 * len(masses) + 16)
    sums = sums_of(masses)
    # the whole set comes last, which leaves nothing; a set and what is off it stand at opposite places
    sums, rest = sums[:-1], sums[:0:-1]
    other = end + (1 - end) / np.where(rest > 0, rest, 1.0)
    error = slack * (end + abs(1 - end) / np.where(rest > 0, rest, 1.0))
    kept = (rest > 0) & ((other <= limit + error) if end < 1 else (other >= limit - error))
    sets = np.flatnonzero(kept)
    sums, rest, other, error = sums[sets], rest[sets], other[sets], error[sets]
    none = np.zeros(len(sets))
    low, larger = (end, 2**count - 1 - sets) if end < 1 else (other, sets)
    columns = Patterns(count, larger, low + none, np.abs(end - other), none.astype(np.intp), none)
    # a convex function of a number that is known within an interval is largest at its ends
    ends = np.maximum(np.stack([other - error, other + error]), 0.0)
    worth = utility.excess_up(ends - 1, ends).max(axis=0)
    own = utility.excess_up(np.array([end - 1]), np.array([end]))
    # where a secret is off the set, so is its mass, which bounds how far the number is off
    own_stray = slack * (end + abs(1 - end) / np.where(masses > 0, masses, np.nan))
    stray = np.fmin(own_stray, error.max(initial=0.0)) + _STRAY * end
    most = _most(masses, max(end, limit) * (1 + 4 * slack))
    return Listing(columns, (sums * own + rest * worth) * (1 + slack), stray, most)


def list_remainders(full: int, rest: float, masses: FloatArray, utility: Information) -> Listing:
    """List columns with 1 on a set of a size, a remainder on one more secret, 0 elsewhere; scaled."""
    sets, between = _left_out(len(masses))
    fits = sets_of(len(masses)).sum(axis=1)[sets] == full
    sets, between = sets[fits], between[fits]
    slack = gamma(2 * len(masses) + 16)
    sums, mass = sums_of(masses)[sets], masses[between]
    totals = sums + rest * mass
    kept = totals > 0
    sets, between, sums, mass, totals = sets[kept], between[kept], sums[kept], mass[kept], totals[kept]
    columns = Patterns(len(masses), sets, 0 * totals, 1 / totals, between, rest / totals)
    # entries are moved away from 1, where f is least; without a set there is none of the first kind
    ends = np.stack([1 / np.where(sums > 0, totals, 1.0), rest / totals])
    moved = ends * (1 + np.where(ends > 1, 4, -4) * slack)
    high, inner = utility.excess_up(moved - 1, moved)
    zero = utility.excess_up(np.array([-1.0]))
    off = _STRAY * (len(masses) + 2)
    worths = sums * high + mass * inner + np.maximum(1 - sums - mass + off, 0.0) * zero
    most = _most(masses, float(ends.max(initial=1.0)))
    return Listing(columns, worths * (1 + 4 * slack), 2 * slack * most, most)


def list_corners(
    corners: Sequence[tuple[Fraction, ...]], masses: FloatArray, utility: Information
) -> Listing:
    """List columns that are known exactly."""
    columns = np.array(corners, dtype=np.float64)
    lifts = np.array([[float(entry - 1) for entry in corner] for corner in corners])
    worths = utility.excess_up(lifts, columns) @ masses * (1 + gamma(len(masses) + 8))
    most = columns.max(axis=0)
    return Listing(columns, worths, _STRAY * most, most)


def join(listings: Sequence[Listing]) -> Listing:
    """Look through several lists of sets as one."""
    # what an empty list would allow says nothing of the others
    listings = [own for own in listings if len(own.worths)] or listings[:1]
    every = [own.patterns for own in listings]
    columns = Patterns(
        every[0].secrets,
        np.concatenate([own.sets for own in every]),
        np.concatenate([own.low for own in every]),
        np.concatenate([own.rise for own in every]),
        np.concatenate([own.between for own in every]),
        np.concatenate([own.inner for own in every]),
    )
    return Listing(
        columns,
        np.concatenate([own.worths for own in listings]),
        np.max([own.stray for own in listings], axis=0),
        np.max([own.most for own in listings], axis=0),
    )
