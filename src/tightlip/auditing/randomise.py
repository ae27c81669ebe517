"""Randomised response on one released column, as a tally of larger whole numbers.

With k values and odds e^ε = a/b the value v of a person is released as v with weight a and as each other value with
weight b. For a secret x and a combination r of the other columns, C_x(r, w) = b Σ_v c_x(r, v) + (a − b) c_x(r, w):
whole numbers again, with every n_x multiplied by a + (k − 1)b. A level given as a float has an irrational e^ε; it
is taken as the next double above. That is a slightly weaker noise, of which the one asked for is a post-processing,
so worst leakage, maximal leakage, LDP, PMC and the envelope stay upper bounds.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.tally import Tally, group_rows
from tightlip.errors import InvalidInput
from tightlip.numeric.ball import exp_bounds
from tightlip.numeric.quantity import exact_ratio, level

MOST_PAIRS = 1_000_000
MOST_EPSILON = 100.0


def response_odds(epsilon: object) -> Fraction:
    """e^ε as a fraction, rounded up to a double where it is irrational.

    >>> from tightlip import log_of
    >>> response_odds(log_of(3)), response_odds(0)
    (Fraction(3, 1), Fraction(1, 1))
    """
    amount = level(epsilon, "epsilon of randomised response")
    if amount > MOST_EPSILON:
        raise InvalidInput(
            f"epsilon of randomised response must be at most {MOST_EPSILON:g} nats, got {float(amount)!r}; "
            "release the column as it is."
        )
    return exact_ratio(amount) or Fraction(exp_bounds(amount)[1])


def randomised(
    tally: Tally, codes: NDArray[np.int64], column: int, values: int, odds: Fraction
) -> tuple[Tally, NDArray[np.int64]]:
    """The tally and cell codes after randomised response on one column with so many values.

    A cell with a negative code in the column (a suppressed one) is released as it is.
    """
    own = codes[:, column]
    rest = codes.copy()
    rest[:, column] = np.where(own < 0, -1, 0)
    kinds, kind = group_rows(rest)
    held, place = np.unique(kind[tally.cell] * tally.shape[0] + tally.secret, return_inverse=True)
    widths = np.where(codes[kinds, column] < 0, 1, values)
    pairs = int(widths[held // tally.shape[0]].sum())
    if pairs > MOST_PAIRS:
        raise InvalidInput(
            f"randomised response would make {pairs} pairs of secret and cell, more than {MOST_PAIRS}; "
            "coarsen the column or release fewer columns."
        )
    return _spread(tally, codes, column, odds, kinds, held, place.astype(np.intp), widths)


def _spread(
    tally: Tally,
    codes: NDArray[np.int64],
    column: int,
    odds: Fraction,
    kinds: NDArray[np.intp],
    held: NDArray[np.int64],
    place: NDArray[np.intp],
    widths: NDArray[np.int64],
) -> tuple[Tally, NDArray[np.int64]]:
    same, other = odds.numerator, odds.denominator
    secrets, values = tally.shape[0], int(widths.max())
    count = tally.count.astype(object)
    kind = held // secrets
    sums = np.zeros(len(held), dtype=object)
    np.add.at(sums, place, count)
    width = widths[kind]
    first = np.concatenate([[0], np.cumsum(width)])
    spread = np.repeat(sums * other, width)
    value = np.maximum(codes[tally.cell, column], 0)
    np.add.at(spread, first[place] + value, (same - other) * count)
    alone = np.flatnonzero(width == 1) if values > 1 else np.arange(0)
    spread[first[alone]] = sums[alone] * (same + (values - 1) * other)
    start = np.concatenate([[0], np.cumsum(widths)])
    offset = np.arange(len(spread)) - np.repeat(first[:-1], width)
    cell = np.repeat(start[kind], width) + offset
    new = np.repeat(codes[kinds], widths, axis=0)
    step = np.arange(len(new)) - np.repeat(start[:-1], widths)
    new[:, column] = np.where(new[:, column] < 0, -1, step)
    return Tally.of(np.repeat(held % secrets, width), cell, spread, (secrets, len(new))), new
