"""Counts of records, as users have them: non-negative whole numbers or weights."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput
from tightlip.numeric.display import format_about
from tightlip.numeric.parse import numbers, to_floats


def read_counts(counts: Any, argument: str, dimensions: int) -> NDArray[Any]:
    """Read counts or weights: finite and non-negative; floats as float64, exact ones as Fractions or ints."""
    if type(counts) is np.ndarray and counts.dtype.kind in "iu" and counts.ndim == dimensions and counts.size:
        tallies: NDArray[Any] = counts
    else:
        read = numbers(counts, argument, dimensions)
        tallies = read.exact if read.exact is not None else np.asarray(read.floats)
    return non_negative(tallies, argument)


def non_negative(tallies: NDArray[Any], argument: str) -> NDArray[Any]:
    """Refuse negative counts, naming the first place."""
    _refuse(tallies, tallies < 0, argument, "must not be negative", "counts are ≥ 0")
    return tallies


def shares(tallies: NDArray[Any], argument: str, *, exact: bool) -> tuple[NDArray[Any], list[Any]]:
    """Counts divided by the sum of their row, and the sums; a row without counts stays zero."""
    if tallies.dtype == object or exact:
        divided, totals = _exact_shares(np.atleast_2d(tallies))
        divided = divided.reshape(tallies.shape)
        return (divided if exact else to_floats(divided, argument)), totals
    totals = [_total(row, argument) for row in np.atleast_2d(tallies)]
    divisors = np.array([float(total) or 1.0 for total in totals])
    floats = tallies / (divisors[:, None] if tallies.ndim == 2 else divisors)
    lost = (floats == 0) & (tallies != 0)
    _refuse(tallies, lost, argument, "is too small beside the others for a float", "use exact=True")
    return floats, totals


def _exact_shares(tallies: NDArray[Any]) -> tuple[NDArray[Any], list[Any]]:
    rows = [[Fraction(tally) for tally in row] for row in tallies.tolist()]
    totals = [sum(row, Fraction(0)) for row in rows]
    divided = [[tally / (total or 1) for tally in row] for row, total in zip(rows, totals, strict=True)]
    return np.array(divided, dtype=object), totals


def _total(row: NDArray[Any], argument: str) -> int | float:
    if row.dtype.kind != "f":
        return int(sum(row.tolist()))
    try:
        return math.fsum(row.tolist())
    except OverflowError:
        raise InvalidInput(
            f"{argument} must have sums that fit a float, got {format_about(row.max())} among them; use a larger unit."
        ) from None


def _refuse(tallies: NDArray[Any], bad: Any, argument: str, problem: str, remedy: str) -> None:
    places = np.argwhere(bad)
    if len(places):
        place = tuple(int(index) for index in places[0])
        where = f"row {place[0]}, column {place[1]}" if len(place) == 2 else f"entry {place[0]}"
        raise InvalidInput(f"{argument} {where} {problem}, got {format_about(tallies[place], 17)}; {remedy}.")
