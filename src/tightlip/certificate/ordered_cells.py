"""Runs of consecutive outcomes, in whole numbers: which of them leak more than a level.

Notation: C_x(j) = P(the first j outcomes | x) and Q(j) = Σ_x p_x C_x(j), of the numbers as stored. The cell of the
outcomes i+1, …, j leaks more than log T exactly when some possible secret x has C_x(j) − C_x(i) > T (Q(j) − Q(i)),
    that is G_x(i) < G_x(j)   for   G_x(j) = C_x(j) − T·Q(j).
So M + 1 numbers for each secret, put in order once, decide all M² cells, without rounding and ties included.
Outcomes that cannot happen change neither C nor Q: they are in cells, and make none of them leak.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput
from tightlip.model.align import align
from tightlip.model.channel import Channel
from tightlip.model.matrix import dense, take_rows
from tightlip.model.prior import Prior
from tightlip.numeric.display import grouped
from tightlip.numeric.parse import ObjectArray

_MOST_BITS = 1 << 32  # of all whole numbers together, half a gigabyte

Ranks = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class OrderedCells:
    """C and Q as whole numbers; `secrets` are the possible ones.

    C_x(j) = chances[x, j]·prior_unit/unit and Q(j) = masses[j]/unit.
    """

    chances: ObjectArray
    masses: ObjectArray
    prior_unit: int
    unit: int
    secrets: NDArray[np.intp]

    @classmethod
    def of(cls, channel: Channel, prior: Prior) -> OrderedCells:
        """Of a channel whose outcomes are ordered as listed, and a prior.

        Raises
        ------
        InvalidInput
            When exact numbers have so many different denominators that their sums do not fit the memory.
        """
        aligned = align(prior, channel)
        rows = dense(take_rows(channel.matrix, aligned.support))
        weights, prior_unit = _whole(aligned.masses[aligned.support], rows.size)
        entries, row_unit = _whole(rows, rows.size)
        return cls(
            _from_nothing(np.add.accumulate(entries, axis=1)),
            _from_nothing(np.add.accumulate(weights @ entries)),
            prior_unit,
            prior_unit * row_unit,
            aligned.support,
        )

    @property
    def size(self) -> int:
        """The number of outcomes."""
        return len(self.masses) - 1

    def total(self) -> Fraction:
        """The probability of all outcomes together: 1, but for the rounding of stored floats."""
        return self.mass(0, self.size)

    def mass(self, start: int, end: int) -> Fraction:
        """The probability of a cell."""
        return Fraction(self.masses[end] - self.masses[start], self.unit)

    def ratio(self, start: int, end: int) -> Fraction:
        """The largest P(cell | x)/P(cell) of a cell that can happen."""
        likelihoods = self.chances[:, end] - self.chances[:, start]
        return Fraction(max(likelihoods) * self.prior_unit, self.masses[end] - self.masses[start])

    def suspect(self, start: int, end: int) -> int:
        """The position of the possible secret under which a cell is likeliest."""
        return int(np.argmax(self.chances[:, end] - self.chances[:, start]))

    def ranks(self, ratio: Fraction) -> Ranks:
        """The order of G_x(0), …, G_x(M) for each possible secret x, equal numbers having equal ranks."""
        heights = self.chances * (self.prior_unit * ratio.denominator) - self.masses * ratio.numerator
        found = np.empty(heights.shape, dtype=np.min_scalar_type(self.size))
        for place, row in enumerate(heights.tolist()):
            rank_of = {height: rank for rank, height in enumerate(sorted(set(row)))}
            found[place] = [rank_of[height] for height in row]
        return found


def leaking_starts(ranks: Ranks, end: int) -> NDArray[np.bool_]:
    """For each i < end whether the cell i+1, …, end leaks more than the level that the ranks are for."""
    return np.asarray((ranks[:, :end] < ranks[:, end : end + 1]).any(axis=0))


def _whole(values: NDArray[Any], count: int) -> tuple[ObjectArray, int]:
    """Whole numbers and a unit with values = numbers/unit; `count` numbers of that size must fit the memory."""
    pairs = [entry.as_integer_ratio() for entry in values.ravel().tolist()]
    unit = _common({denominator for _, denominator in pairs}, count)
    numbers = np.empty(len(pairs), dtype=object)
    numbers[:] = [numerator * (unit // denominator) for numerator, denominator in pairs]
    return numbers.reshape(values.shape), unit


def _common(denominators: Iterable[int], count: int) -> int:
    unit = 1
    for denominator in denominators:
        unit = math.lcm(unit, denominator)
        if unit.bit_length() * count > _MOST_BITS:
            raise InvalidInput(
                f"channel must have denominators with a common multiple of at most {grouped(_MOST_BITS // count)} "
                f"bits for {grouped(count)} entries, got a longer one; give the numbers as floats."
            )
    return unit


def _from_nothing(sums: ObjectArray) -> ObjectArray:
    """Running sums with the empty one in front."""
    return np.concatenate([np.zeros_like(sums[..., :1]), sums], axis=-1)
