"""Normalise probabilities: the one place where they are made to sum to 1.

Counts of records, as users have them, are non-negative whole numbers or weights; they are divided by their sum.

Of probabilities, a sum off by more than 1e-9 is refused. A sum within that is divided out once, and the size of
the correction is kept (`adjustment`). A sum off by no more than rounding noise (2⁻⁵⁰) is left
alone, so that reading back what was written changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput
from tightlip.model.matrix import Matrix, is_sparse
from tightlip.numeric.display import format_about
from tightlip.numeric.parse import FloatArray, ObjectArray, numbers, to_floats

TOLERANCE = 1e-9
NOISE = 2.0**-50

Name = Callable[[int], str]


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
    """Divide counts by the sum of their row; also the sums. A row without counts stays zero."""
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


def normalize_floats(
    matrix: Matrix, name: Name, error: type[InvalidInput], remedy: str
) -> tuple[Matrix, float]:
    """Check rows of floats we own, scale those that need it in place; return (matrix, largest correction)."""
    _require_non_negative(matrix, name, error)
    if not is_sparse(matrix):
        matrix += 0.0  # -0.0 becomes 0.0
    with np.errstate(over="ignore"):
        sums = np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()
    adjustment = 0.0
    for row in np.flatnonzero(np.abs(sums - 1) > NOISE / 2):
        total = _exactly_rounded_sum(matrix, int(row))
        off = abs(total - 1)
        if not off <= TOLERANCE:
            raise error(f"{name(int(row))} must sum to 1 within {TOLERANCE:g}, got {total:.12g}; {remedy}.")
        if off > NOISE:
            _scale_row(matrix, int(row), total)
            adjustment = max(adjustment, off)
    return matrix, adjustment


def normalize_exact(
    rows: ObjectArray, name: Name, error: type[InvalidInput], remedy: str
) -> tuple[ObjectArray, float]:
    """Normalise exact rationals likewise; here the result sums to 1 exactly."""
    adjustment = Fraction(0)
    for row in range(rows.shape[0]):
        for column, entry in enumerate(rows[row]):
            if entry < 0:
                raise error(_negative(name(row), column, format_about(entry)))
        total = sum(rows[row], Fraction(0))
        if total == 1:
            continue
        if abs(total - 1) > TOLERANCE:
            raise error(
                f"{name(row)} must sum to 1 within {TOLERANCE:g}, got {format_about(total, 12)}; {remedy}."
            )
        rows[row] = rows[row] / total
        adjustment = max(adjustment, abs(total - 1))
    return rows, float(adjustment)


def _require_non_negative(matrix: Matrix, name: Name, error: type[InvalidInput]) -> None:
    if matrix.min() >= 0:
        return
    entries: Any = matrix.tocoo() if is_sparse(matrix) else None
    if entries is not None:
        place = int(np.flatnonzero(entries.data < 0)[0])
        row, column, value = int(entries.row[place]), int(entries.col[place]), float(entries.data[place])
    else:
        row, column = (int(index) for index in np.argwhere(matrix < 0)[0])
        value = float(matrix[row, column])
    raise error(_negative(name(row), column, repr(value)))


def _negative(row: str, column: int, value: str) -> str:
    return f"{row}, entry {column} must not be negative, got {value}; probabilities are in [0, 1]."


def _exactly_rounded_sum(matrix: Matrix, row: int) -> float:
    try:
        return math.fsum(_stored_entries(matrix, row).tolist())
    except OverflowError:
        return math.inf


def _scale_row(matrix: Matrix, row: int, total: float) -> None:
    entries = _stored_entries(matrix, row)
    entries /= total


def _stored_entries(matrix: Matrix, row: int) -> FloatArray:
    """The entries of a row that are stored, as a view."""
    found: FloatArray = (
        matrix.data[matrix.indptr[row] : matrix.indptr[row + 1]] if is_sparse(matrix) else matrix[row]
    )
    return found
