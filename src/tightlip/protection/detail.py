"""The detail of a true statement: its content −log P(y), P(y) the share of all people whom it is true of.

Relative to the table as it is, whose detail is the entropy H(X) of its cells: 1 is the whole table and 0 is nothing.
A column of weight w > 1 counts its own content once for every unit over 1: that of the column's values that occur in y.

    u(y) = −log P(y) − Σ_c (w_c − 1) log P(y_c),     detail of a kernel = Σ_x P(x) Σ_y K(y | x) u(y) / Σ_x P(x) u(x)

A fixed column, of weight 0, is published in any case and has no detail (see `fixed`): y stands for what is said of the
other columns, P(y) for the share of people whose values of these are among those of the cells that are published so.

Both ends of every number are kept: u rounded down makes what a release keeps, rounded up what none can exceed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.tally import Places, group_rows, sum_by
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import down, gamma, log_ratio_down, log_ratio_up, sum_down, sum_up, up
from tightlip.protection.kernel import Kernel
from tightlip.protection.values import Codes, Values


@dataclass(frozen=True, slots=True, eq=False)
class Detail:
    """The content of each value, from below and from above, in nats; `whole` is that of the table as it is.

    `finest` has for each cell the value that contains it alone.
    """

    lower: FloatArray
    upper: FloatArray
    whole: tuple[float, float]
    people: NDArray[Any]
    finest: Places

    @classmethod
    def of(cls, values: Values, codes: Codes, people: NDArray[Any], weights: Sequence[Fraction]) -> Detail:
        """The content of every value; `weights` has one for each column: 0 of fixed ones, the least of the others 1."""
        total = int(people.sum())
        parts = [(1.0, _sizes(values, codes[:, [weight > 0 for weight in weights]], people, weights))]
        for column, extra in enumerate(float(weight - 1) for weight in weights):
            if extra > 0:
                parts.append((extra, _sizes_of(values, codes[:, column], people)))
        (least, greatest), lower, upper = (
            _ends(np.array([total], dtype=people.dtype)),
            np.zeros(len(values)),
            np.zeros(len(values)),
        )
        for times, sizes in parts:
            some = sizes < total  # what is true of everybody has no content, exactly
            low, high = _ends(sizes)
            more = log_ratio_down(np.repeat(least, len(values)), high)
            most = log_ratio_up(np.repeat(greatest, len(values)), low)
            lower = np.where(some, np.nextafter(lower + _down(times * more), -np.inf), lower)
            upper = np.where(some, np.nextafter(upper + _up(times * most), np.inf), upper)
        lower = np.maximum(lower, 0.0)
        finest = np.full(len(people), -1, dtype=np.intp)
        single = np.flatnonzero(np.bincount(values.value, minlength=len(values)) == 1)
        finest[values.first[single]] = single
        low, high = _ends(people)
        whole = sum_down(_down(low * lower[finest])), sum_up(_up(high * upper[finest]))
        return cls(lower, upper, whole, people, finest)

    def share(self) -> FloatArray:
        """The detail of each value relative to the whole table, to nearest: for solvers."""
        people = float(int(self.people.sum()))
        return np.asarray(self.upper * (people / self.whole[1] if self.whole[1] > 0 else 0.0))

    def kept(self, kernel: Kernel) -> float:
        """The detail that a kernel keeps, rounded down."""
        if self.whole[1] <= 0 or (kernel.value == self.finest[kernel.cell]).all():
            return 1.0
        # roundings: of people, weight, scale, the quotient, and two products
        amounts = (
            self.people[kernel.cell].astype(np.float64)
            * (kernel.weight / kernel.scale)
            * self.lower[kernel.value]
        )
        amount = sum_down(amounts * (1 - gamma(8)))
        return min(1.0, max(0.0, down(amount / self.whole[1])))

    def most(self, amount: float) -> float:
        """An amount of detail in nats, summed over people and rounded up, as a share of the whole, rounded up."""
        if math.isnan(amount) or self.whole[0] <= 0:
            return 1.0
        return min(1.0, max(0.0, up(amount / self.whole[0])))


def _sizes(values: Values, codes: Codes, people: NDArray[Any], weights: Sequence[Fraction]) -> NDArray[Any]:
    """How many people each generalised value is true of, by the columns that are not fixed."""
    if all(weight > 0 for weight in weights):
        return values.sums(people)
    return _sizes_of(values, group_rows(codes)[1].astype(np.int64), people)


def _sizes_of(values: Values, code: Codes, people: NDArray[Any]) -> NDArray[Any]:
    """How many people have a code that occurs in each generalised value: that of a column, or of several together."""
    width = int(code.max()) + 1
    having = sum_by(code, people, width)
    pairs = np.unique(values.value * width + code[values.cell])
    return sum_by(pairs // width, having[pairs % width], len(values))


def _ends(amounts: NDArray[Any]) -> tuple[FloatArray, FloatArray]:
    """Floats on both sides of whole numbers, which are themselves where they are floats."""
    near = amounts.astype(np.float64)
    if amounts.dtype != object:
        return near, near
    return np.nextafter(near, 0.0), np.nextafter(near, np.inf)


def _down(amounts: FloatArray) -> FloatArray:
    """Products of two floats each rounded up or to nearest, from below."""
    return np.asarray(np.where(amounts > 0, np.nextafter(np.nextafter(amounts, 0.0), 0.0), amounts))


def _up(amounts: FloatArray) -> FloatArray:
    return np.asarray(np.where(amounts > 0, np.nextafter(np.nextafter(amounts, np.inf), np.inf), amounts))
