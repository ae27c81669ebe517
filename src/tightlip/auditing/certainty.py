"""Count people by how sure their cell makes one of their secret, and by how much it tells. All counts are exact.

The person of secret x in cell y has prior n_x / n and posterior c_xy / n_y. Both are compared with a level in whole
numbers: c_xy / n_y ≥ a exactly when c_xy is at least the smallest whole number that is not below a n_y, and cells
have few different sizes, so that number is worked out once for each. Counts of a noisy tally are people times its
scale, expected ones.

Levels and edges are read as everywhere: text and fractions are exact, and a float counts as the rational it stores,
so "9/10" or "0.9" is nine tenths, and 0.9 is a little more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import instance, listed, whole
from tightlip.auditing.leakage import CellLeakage
from tightlip.auditing.tally import Tally, sum_by
from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import Nats

FACTORS = tuple(map(Fraction, ("1", "5/4", "3/2", "2", "3", "5", "10", "20", "50", "100", "1000")))
"""The edges between which people are counted in pictures."""


@dataclass(frozen=True, slots=True)
class FoundOut:
    """How many people a release finds out.

    Attributes
    ----------
    level : how sure one must be of a secret to count as knowing it
    people : those whose own secret had a smaller prior and has at least this posterior in their cell
    by_secret : the same people by their secret, in the tally's order
    """

    level: Fraction
    people: int
    by_secret: tuple[int, ...]


def found_out(tally: Tally, level: object) -> FoundOut:
    """Count the people whose own secret nobody was sure of beforehand, and everybody is who sees their cell.

    Parameters
    ----------
    tally : people by secret and cell
    level : a share in (0, 1]: prior below it, posterior at least it

    Example
    -------
    Three of four in a cell are ill, beforehand half of all.

    >>> found_out(Tally.of([0, 1, 1], [0, 0, 1], [3, 1, 2], (2, 2)), "3/4")
    FoundOut(level=Fraction(3, 4), people=5, by_secret=(3, 2))
    """
    share = _share(level, "level")
    unknown = tally.of_secret < math.ceil(share * tally.total)
    known = tally.count >= _least_counts(tally.of_cell, share)[tally.cell]
    pairs = np.flatnonzero(known & unknown[tally.secret])
    held = sum_by(tally.secret[pairs], tally.count[pairs], tally.shape[0]).tolist()
    return FoundOut(share, int(sum(held)), tuple(int(one) for one in held))


def certainty_of_holders(tally: Tally, secret: int, edges: Sequence[object]) -> tuple[int, ...]:
    """Count the people who hold a secret by its posterior in their cell.

    Parameters
    ----------
    tally : people by secret and cell
    secret : its place
    edges : rising shares in (0, 1]; the first number is of people below the first edge, the next of those from it up
        to the second, which are below that, and the last of those at or above the last edge

    Example
    -------
    >>> certainty_of_holders(Tally.of([0, 1, 1], [0, 0, 1], [3, 1, 2], (2, 2)), 1, ["1/2", "9/10"])
    (1, 0, 2)
    """
    held = np.flatnonzero(tally.secret == whole(secret, "secret", 0, tally.shape[0] - 1))
    count, size = tally.count[held], tally.of_cell[tally.cell[held]]
    shares = _rising([_share(edge, "edges") for edge in listed(edges, "edges", "shares")], edges)
    bins = np.zeros(len(held), dtype=np.intp)
    for share in shares:
        bins += count >= _least_counts(size, share)
    return tuple(int(one) for one in sum_by(bins, count, len(shares) + 1))


def people_by_factor(gain: CellLeakage, edges: Sequence[object]) -> tuple[int, ...]:
    """Count people by the factor e^leakage of their cell.

    Parameters
    ----------
    gain : the leakage of each cell, from `cell_pml` (or `cell_pmc`)
    edges : rising factors of at least 1; the first number is of people up to and with the first edge, the next of
        those above it up to and with the second, and the last of those above the last edge, as in tails

    Example
    -------
    >>> from tightlip.auditing.leakage import cell_pml
    >>> gain = cell_pml(Tally.of([0, 1, 0], [0, 0, 1], [3, 1, 2], (2, 2)))
    >>> people_by_factor(gain, [1, "6/5", "3/2"])
    (0, 2, 4, 0)
    """
    instance(gain, CellLeakage, "gain", "use cell_pml(tally)")
    read = [Fraction(number(edge, "edges")) for edge in listed(edges, "edges", "factors")]
    if any(edge < 1 for edge in read):
        raise InvalidInput(
            f"edges must be at least 1, got {quoted(min(read))}; no cell has a smaller factor."
        )
    of_cell, bins = gain.tally.of_cell, np.zeros(gain.tally.shape[1], dtype=np.intp)
    for edge in _rising(read, edges):
        bins += gain.above(Nats.of_ratio(edge))
    return tuple(int(one) for one in sum_by(bins, of_cell, len(read) + 1))


def _share(value: object, argument: str) -> Fraction:
    read = Fraction(number(value, argument))
    if not 0 < read <= 1:
        raise InvalidInput(
            f"{argument} must be above 0 and at most 1, got {quoted(value)}; write 0.9 for 90 %."
        )
    return read


def _rising(read: list[Fraction], given: object) -> list[Fraction]:
    if not read or any(one >= two for one, two in pairwise(read)):
        raise InvalidInput(f"edges must rise, got {quoted(given)}; sort them and leave out equal ones.")
    return read


def _least_counts(sizes: NDArray[Any], share: Fraction) -> NDArray[Any]:
    """The smallest whole number that is at least a share of each size; equal sizes of int64 are worked out once."""
    if sizes.dtype == object:
        return np.asarray(-(-share.numerator * sizes // share.denominator))
    distinct, place = np.unique(sizes, return_inverse=True)
    least = [-(-share.numerator * int(size) // share.denominator) for size in distinct.tolist()]
    return np.array(least, dtype=sizes.dtype)[place]
