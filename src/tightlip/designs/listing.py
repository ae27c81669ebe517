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

import numpy as np
from numpy.typing import NDArray

from tightlip.designs.f_information import Curve, Information
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import UNIT, gamma

LISTED = 14
"""Secrets of which all sets are listed: 16384, with one of those left out picked 114688."""

_STRAY = 8 * UNIT  # more than the rounding of a few numbers below 2


@dataclass(frozen=True, eq=False)
class Listing:
    """Extreme columns of a cone with p·v = 1.

    Attributes
    ----------
    columns : a row for each, in floats
    worths : more than each is worth
    stray : more than an entry is off, for each secret
    """

    columns: FloatArray
    worths: FloatArray
    stray: FloatArray

    @cached_property
    def peaks(self) -> FloatArray:
        """The largest entry of each."""
        return np.asarray(self.columns.max(axis=1))

    def beyond(self, prices: FloatArray, weights: FloatArray | float = 1.0) -> float:
        """Bound what a column is worth beyond its price, times a weight of at most 1, from above."""
        size = np.abs(prices)
        margin = float(size @ (self.stray + gamma(len(prices) + 4) * np.abs(self.columns).max(axis=0)))
        margin *= 1 + gamma(len(prices) + 8)
        found = self.worths - self.columns @ prices + margin
        return float(np.nextafter(((found + _STRAY * (np.abs(found) + margin)) * weights).max(), np.inf))


@cache
def sets_of(count: int) -> FloatArray:
    """List all sets as rows of zeros and ones: the empty one first, the whole last."""
    found = ((np.arange(2**count)[:, None] >> np.arange(count)) & 1).astype(np.float64)
    found.setflags(write=False)
    return found


@cache
def _left_out(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """List all pairs of a set, by its place among `sets_of`, and a secret that is not in it."""
    places, secrets = np.nonzero(sets_of(count) == 0)
    return places, secrets


def list_box(ends: tuple[float, float], share: float, masses: FloatArray, utility: Information) -> Listing:
    """List lower ≤ v ≤ upper: the upper end on a set, one entry between, the lower end elsewhere.

    `share` is the mass at the upper end if no entry is between, (1 − lower)/(upper − lower), correctly rounded.
    """
    (lower, upper), secrets, span = ends, len(masses), ends[1] - ends[0]
    sums, off = sets_of(secrets) @ masses, _STRAY * (len(masses) + 2)
    light = np.flatnonzero((sums <= share + 2 * off) & (sums >= share - masses.max() - 2 * off))
    sets, left = sets_of(secrets)[light], share - sums[light]
    fits = (sets == 0) & (left[:, None] <= masses + 2 * off) & (masses > 0)
    places, between = np.nonzero(fits)
    sums, left, mass = sums[light][places], left[places], masses[between]
    every = np.arange(len(places))
    columns = lower + span * sets[places]
    columns[every, between] = lower + span * np.clip(left / mass, 0.0, 1.0)
    # a convex function of an entry that is known within an interval is largest at its ends
    entries = lower + span * np.clip(np.stack([left - off, left + off]) / mass, 0.0, 1.0)
    entries = np.clip(entries + _STRAY * (1 + upper) * np.array([[-1.0], [1.0]]), lower, upper)
    worth = utility.excess_up(entries - 1, entries).max(axis=0)
    at = np.array(ends)
    low, high = utility.excess_up(at - 1, at)
    worths = (sums + off) * high + np.maximum(1 - sums - mass + off, 0.0) * low + mass * (1 + _STRAY) * worth
    stray = _STRAY * (1 + upper) + np.minimum(2 * off * span / np.where(masses > 0, masses, np.inf), span)
    return Listing(columns, worths * (1 + _STRAY), stray)


def list_sets(curve: Curve, masses: FloatArray, size: int | None = None) -> Listing:
    """List columns with `high` on a set, of a size or any but the empty one, and `low` off it."""
    sets = sets_of(len(masses))[1:]
    sets = sets[sets @ masses > 0] if size is None else sets[sets.sum(axis=1) == size]
    sums, slack = sets @ masses, gamma(2 * len(masses) + 16)
    columns = (curve.low + (curve.high - curve.low) * sets) / curve.total(sums)[:, None]
    # masses are sums of what is not negative: their relative error is small
    worths = curve.ceiling(sums, slack * sums, np.zeros(1))[0]
    worths = worths / (curve.total(sums * (1 - slack)) * (1 - _STRAY)) * (1 + _STRAY)
    return Listing(columns, worths, slack * columns.max(axis=0))


def list_halves(ends: tuple[float, float], masses: FloatArray, utility: Information) -> Listing:
    """List columns with an upper end on a set, and off it one number between the lower end and 1, all alike."""
    (lower, upper), sets = ends, sets_of(len(masses))[1:-1]
    sums, off = sets @ masses, _STRAY * (len(masses) + 2)
    sets, sums = sets[sums < 1 - 2 * off], sums[sums < 1 - 2 * off]
    below, error = (1 - upper * sums) / (1 - sums), 4 * off * upper / (1 - sums)
    kept = below >= lower - error
    sets, sums, below, error = sets[kept], sums[kept], below[kept], error[kept]
    columns = np.where(sets > 0, upper, below[:, None])
    entries = np.clip(np.stack([below - error, below + error]), 0.0, upper)
    worth = utility.excess_up(entries - 1, entries).max(axis=0)
    high = utility.excess_up(np.array([upper - 1]), np.array([upper]))
    worths = (sums + off) * high + (1 - sums + off) * worth
    return Listing(columns, worths * (1 + _STRAY), np.full(len(masses), error.max(initial=0.0)))


def list_remainders(full: int, rest: float, masses: FloatArray, utility: Information) -> Listing:
    """List columns with 1 on a set of a size, a remainder on one more secret, 0 elsewhere; scaled."""
    places, between = _left_out(len(masses))
    fits = sets_of(len(masses)).sum(axis=1)[places] == full
    sets, between = sets_of(len(masses))[places[fits]], between[fits]
    every, slack = np.arange(len(sets)), gamma(2 * len(masses) + 16)
    sums, mass = sets @ masses, masses[between]
    totals = sums + rest * mass
    kept = totals > 0
    sets, between, sums, mass, totals = sets[kept], between[kept], sums[kept], mass[kept], totals[kept]
    every = np.arange(len(sets))
    columns = sets / totals[:, None]
    columns[every, between] = rest / totals
    # entries are moved away from 1, where f is least; without a set there is none of the first kind
    ends = np.stack([1 / np.where(sums > 0, totals, 1.0), rest / totals])
    moved = ends * (1 + np.where(ends > 1, 4, -4) * slack)
    high, inner = utility.excess_up(moved - 1, moved)
    zero = utility.excess_up(np.array([-1.0]))
    off = _STRAY * (len(masses) + 2)
    worths = sums * high + mass * inner + np.maximum(1 - sums - mass + off, 0.0) * zero
    return Listing(columns, worths * (1 + 4 * slack), 2 * slack * columns.max(axis=0, initial=0.0))


def list_corners(
    corners: Sequence[tuple[Fraction, ...]], masses: FloatArray, utility: Information
) -> Listing:
    """List columns that are known exactly."""
    columns = np.array(corners, dtype=np.float64)
    lifts = np.array([[float(entry - 1) for entry in corner] for corner in corners])
    worths = utility.excess_up(lifts, columns) @ masses * (1 + gamma(len(masses) + 8))
    return Listing(columns, worths, _STRAY * columns.max(axis=0))


def join(listings: Sequence[Listing]) -> Listing:
    """Look through several lists as one."""
    return Listing(
        np.concatenate([own.columns for own in listings]),
        np.concatenate([own.worths for own in listings]),
        np.max([own.stray for own in listings], axis=0),
    )
