"""The largest of a number for each pair of rows, in blocks: fast in floats, decided in rationals.

A table function gives the numbers of all pairs of two blocks of rows. What is not within its error of the largest
cannot be the largest; what is, is computed again exactly, up to a cap for floats (many pairs may tie).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.model.matrix import Matrix, dense
from tightlip.numeric.parse import FloatArray

Table = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]
Block = tuple[int, NDArray[Any]]

_MOST_ROWS = 256
_MOST_ENTRIES = 1 << 21


@dataclass(frozen=True, slots=True)
class Leading:
    """The pairs that may be the largest, best first; `best` is the largest number in the tables.

    `complete` tells whether all such pairs are here, not only as many as were asked for.
    """

    pairs: list[tuple[int, int]]
    best: Any
    complete: bool


def row_blocks(matrix: Matrix) -> Iterator[Block]:
    """Split rows into dense blocks of at most 2²¹ entries, with the index of their first row."""
    rows, columns = matrix.shape
    height = max(1, min(_MOST_ROWS, _MOST_ENTRIES // columns))
    for start in range(0, rows, height):
        yield start, dense(matrix[start : start + height])


def block_pairs(matrix: Matrix, *, ordered: bool) -> Iterator[tuple[Block, Block]]:
    """Pair all blocks; where order does not matter, each pair of rows comes at least once."""
    for first in row_blocks(matrix):
        for second in row_blocks(matrix if ordered else matrix[first[0] :]):
            yield first, (second if ordered else (second[0] + first[0], second[1]))


def leading_pairs(
    matrix: Matrix,
    table: Table,
    *,
    relative: float = 0.0,
    absolute: float = 0.0,
    cap: int,
    ordered: bool = False,
) -> Leading:
    """Filter pairs whose number is within the table's error (relative·number + absolute) of the largest."""
    best: Any = 0
    found: list[tuple[Any, int, int]] = []
    crowded = False

    def floor() -> Any:
        return best * (1 - 4 * relative) - 4 * absolute if relative or absolute else best

    for (top, upper), (left, lower) in block_pairs(matrix, ordered=ordered):
        values = table(upper, lower)
        best = max(best, values.max())
        near = np.argwhere(values >= floor())
        crowded = crowded or len(near) > cap
        near = near[np.argsort(-values[tuple(near.T)], kind="stable")[:cap]]
        found += [(values[row, column], top + int(row), left + int(column)) for row, column in near]
        found = sorted((item for item in found if item[0] >= floor()), key=lambda item: -item[0])
        crowded, found = crowded or len(found) > cap, found[:cap]
    return Leading([(row, column) for _, row, column in found], best, not crowded)


def city_block(upper: FloatArray, lower: FloatArray) -> FloatArray:
    """Compute the city-block distance Σ_y |a_y − b_y| for all pairs of rows."""
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(upper, lower, "cityblock"))
