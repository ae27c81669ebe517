"""Releases drawn from a channel: each with exactly the probability that the channel says."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tightlip.model.column import Codes, count_places
from tightlip.model.matrix import Matrix, is_sparse
from tightlip.numeric.categorical import Categorical, Weights
from tightlip.numeric.randomness import RandomSource

_COUNTED = 1000  # values that are counted in the time that one entry of a channel is prepared


def draw_outcomes(matrix: Matrix, secrets: Codes, randomness: RandomSource) -> Codes:
    """Draw an outcome of each secret's row, both as places.

    A row of floats stands for the rationals that they are, divided by their sum, as in `Channel.exact`.

    >>> draw_outcomes(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1, 1]), RandomSource())
    array([1, 0, 0], dtype=uint8)
    """
    present = np.ones(matrix.shape[0], dtype=bool)
    if len(secrets) < _COUNTED * matrix.shape[0] * matrix.shape[1]:
        present = count_places(secrets, matrix.shape[0]) > 0
    if not present.all():  # the others need no table
        secrets = (np.cumsum(present) - 1)[secrets]
    rows = list(_rows(matrix, np.flatnonzero(present).tolist()))
    return Categorical(rows, matrix.shape[1], draws=len(secrets)).draw(secrets, randomness)


def _rows(matrix: Matrix, places: list[int]) -> Iterator[Weights]:
    """Weights of some rows."""
    outcomes = list(range(matrix.shape[1]))
    for place in places:
        if is_sparse(matrix):
            own = slice(matrix.indptr[place], matrix.indptr[place + 1])
            yield Weights.of(matrix.indices[own].tolist(), matrix.data[own].tolist())
        else:
            yield Weights.of(outcomes, matrix[place].tolist())
