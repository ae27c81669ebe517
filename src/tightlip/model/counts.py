"""Counts of records, as users have them: non-negative whole numbers or weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput
from tightlip.numeric.parse import numbers


def read_counts(counts: Any, argument: str, dimensions: int) -> NDArray[Any]:
    """Read counts or weights: finite and non-negative; floats as float64, exact ones as Fractions or ints."""
    if (
        isinstance(counts, np.ndarray)
        and counts.dtype.kind in "iu"
        and counts.ndim == dimensions
        and counts.size
    ):
        tallies: NDArray[Any] = counts
    else:
        read = numbers(counts, argument, dimensions)
        tallies = read.exact if read.exact is not None else np.asarray(read.floats)
    negative = np.argwhere(tallies < 0)
    if len(negative):
        place = tuple(int(index) for index in negative[0])
        where = f"row {place[0]}, column {place[1]}" if dimensions == 2 else f"entry {place[0]}"
        raise InvalidInput(f"{argument} {where} must not be negative, got {tallies[place]}; counts are ≥ 0.")
    return tallies
