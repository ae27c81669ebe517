"""The few matrix operations that measures need, over dense and sparse storage alike.

A float matrix is a C-ordered numpy array or a scipy CSR array; an exact one is an object array
of Fractions, always dense. All functions only read.

Proportional columns are outcomes that say the same about the secret; `merge_proportional` adds them up.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput
from tightlip.numeric.display import format_about
from tightlip.numeric.parse import FloatArray, ObjectArray

SMALLEST = float(np.finfo(np.float64).tiny)  # below it floats lose digits

Matrix = Any  # FloatArray | ObjectArray | scipy.sparse.csr_array (no stubs)
REDUCE_TOLERANCE = 1e-12
_LIFT = 2.0**200  # keeps the smallest positive float, scaled, in the range where floats have all their digits
Groups = list[list[int]]


def is_sparse(matrix: Matrix) -> bool:
    """Whether the matrix is stored sparsely."""
    return not isinstance(matrix, np.ndarray) and hasattr(matrix, "tocsr")


def column_max(matrix: Matrix) -> NDArray[Any]:
    """Compute the largest entry of each column."""
    if is_sparse(matrix):
        return np.asarray(matrix.max(axis=0).todense(), dtype=np.float64).ravel()
    return np.asarray(matrix.max(axis=0))


def column_min(matrix: Matrix) -> NDArray[Any]:
    """Compute the smallest entry of each column, absent entries counting as 0."""
    if is_sparse(matrix):
        return np.asarray(matrix.min(axis=0).todense(), dtype=np.float64).ravel()
    return np.asarray(matrix.min(axis=0))


def weighted_columns(weights: NDArray[Any], matrix: Matrix) -> NDArray[Any]:
    """Compute Σ_x weights_x · matrix_xy for each column y."""
    return np.asarray(matrix.T @ weights) if is_sparse(matrix) else np.asarray(weights @ matrix)


def weighted_rows(matrix: Matrix, weights: NDArray[Any]) -> NDArray[Any]:
    """Compute Σ_y matrix_xy · weights_y for each row x."""
    return np.asarray(matrix @ weights)


def take_rows(matrix: Matrix, rows: NDArray[np.intp]) -> Matrix:
    """Restrict the matrix to some rows; the matrix itself where that is all of them."""
    return matrix if len(rows) == matrix.shape[0] else matrix[rows]


def dense(matrix: Matrix) -> NDArray[Any]:
    """Return the matrix as a dense array."""
    return np.asarray(matrix.toarray()) if is_sparse(matrix) else np.asarray(matrix)


def dense_columns(matrix: Matrix, columns: Sequence[int] | NDArray[np.intp]) -> NDArray[Any]:
    """Return some columns as a dense array."""
    picked = np.asarray(columns, dtype=np.intp)
    return np.asarray(matrix[:, picked].toarray()) if is_sparse(matrix) else np.asarray(matrix[:, picked])


def dense_column(matrix: Matrix, column: int) -> NDArray[Any]:
    """Return one column as a vector."""
    return dense_columns(matrix, [column])[:, 0]


def dense_row(matrix: Matrix, row: int) -> NDArray[Any]:
    """Return one row as a vector."""
    return np.asarray(matrix[[row]].toarray()[0]) if is_sparse(matrix) else np.asarray(matrix[row])


def multiply(first: NDArray[Any], second: NDArray[Any], what: str) -> NDArray[Any]:
    """Multiply entry by entry; refused where a float cannot hold a product, since it would vanish."""
    try:
        with np.errstate(under="raise"):
            return np.asarray(first * second)
    except FloatingPointError:
        raise InvalidInput(
            f"{what} must stay above {SMALLEST:.3g}, got a smaller probability, which a float cannot hold; "
            "use exact() on both first."
        ) from None


def chain(first: Matrix, second: Matrix, what: str) -> Matrix:
    """Multiply matrices, first @ second; refused where a float cannot hold a positive entry, since it would vanish."""
    result = first @ second
    if first.dtype == object or _smallest(first) * _smallest(second) >= SMALLEST:
        return result
    found = dense(result)
    patterns = dense((first > 0).astype(np.float64) @ (second > 0).astype(np.float64))
    for row, column in np.argwhere((found < SMALLEST) & (patterns > 0)).tolist():
        terms = zip(dense_row(first, row).tolist(), dense_column(second, column).tolist(), strict=True)
        truth = sum((Fraction(one) * Fraction(two) for one, two in terms if one and two), Fraction(0))
        if Fraction(found[row, column]) != truth:
            raise InvalidInput(
                f"{what} row {row}, column {column} is too small for a float, got {format_about(truth)}; "
                "use exact() on both first."
            )
    return result


def _smallest(matrix: Matrix) -> float:
    entries = matrix.data if is_sparse(matrix) else matrix
    return float(np.min(entries, where=entries > 0, initial=1.0))


def freeze(array: NDArray[Any]) -> NDArray[Any]:
    """Forbid writing to an array we own."""
    array.setflags(write=False)
    return array


def freeze_sparse(matrix: Matrix) -> Matrix:
    """Bring a CSR array we own into canonical form and forbid writing to it."""
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.setflags(write=False)
    return matrix


def nonzero_digest(matrix: Matrix) -> int:
    """Hash the nonzero entries and where they stand, the same for dense and sparse storage."""
    if is_sparse(matrix):
        rows, columns = matrix.nonzero()
        order = np.lexsort((columns, rows))
        places = (rows.astype(np.int64) * matrix.shape[1] + columns)[order]
        values: FloatArray = matrix.data[order] if matrix.nnz == len(order) else dense(matrix)[rows, columns]
        return hash((matrix.shape, places.tobytes(), values.tobytes()))
    places = np.flatnonzero(matrix).astype(np.int64)
    picked = matrix.ravel()[places]
    content = tuple(picked) if matrix.dtype == object else picked.tobytes()
    return hash((matrix.shape, places.tobytes(), content))


def same_entries(first: Matrix, second: Matrix) -> bool:
    """Whether two matrices of equal kind hold the same numbers."""
    if first.shape != second.shape:
        return False
    if is_sparse(first) and is_sparse(second):
        return bool((first != second).nnz == 0)
    return bool(np.array_equal(dense(first), dense(second)))


def merge_proportional(matrix: Matrix, tolerance: float) -> tuple[Matrix, Groups]:
    """Sum proportional columns; also which columns went together, in outcome order."""
    if not 0 <= tolerance < 0.1:
        raise InvalidInput(f"tolerance must be in [0, 0.1), got {tolerance!r}; 1e-12 suits float rounding.")
    if not is_sparse(matrix) and matrix.dtype == object:
        groups = _exact_groups(matrix)
        columns = [matrix[:, group].sum(axis=1) for group in groups]
        return np.array(columns, dtype=object).T, groups
    groups = _float_groups(dense(matrix), tolerance)
    owner = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    member = np.array([place for group in groups for place in group])
    return _sum_columns(matrix, member, owner), groups


def _exact_groups(matrix: ObjectArray) -> Groups:
    found: dict[tuple[Fraction, ...], list[int]] = {}
    for place in range(matrix.shape[1]):
        column = matrix[:, place]
        total = column.sum()
        if total:
            found.setdefault(tuple(column / total), []).append(place)
    return list(found.values())


def _float_groups(matrix: FloatArray, tolerance: float) -> Groups:
    """Sort columns by a positive projection; only neighbours within the tolerance are compared in full.

    Entries that agree within a relative tolerance have projections that agree within it too, so
    no agreeing pair is missed by looking inside the runs alone.
    """
    peaks = matrix.max(axis=0)
    kept = np.flatnonzero(peaks > 0)
    scaled = matrix[:, kept] * _LIFT / peaks[kept]  # first by the peak: a sum of subnormals would lose digits
    scaled /= scaled.sum(axis=0) / _LIFT
    slack = tolerance + 8 * (matrix.shape[0] + 2) * 2.0**-53
    weights = 1 + np.random.default_rng(0).random(matrix.shape[0])  # evenly spaced ones collide on symmetry
    projection = weights @ scaled
    order = np.argsort(projection, kind="stable")
    steps = np.diff(projection[order]) > 2 * slack * projection[order][:-1]
    starts = np.flatnonzero(np.concatenate([[True], steps]))
    sizes = np.diff(starts, append=len(order))
    groups: Groups = kept[order[starts[sizes == 1]], None].tolist()
    for start, size in zip(starts[sizes > 1], sizes[sizes > 1], strict=True):
        run = np.sort(order[start : start + size])
        groups.extend(kept[part].tolist() for part in _split_run(scaled, run, tolerance))
    return sorted(groups, key=lambda group: group[0])


def _split_run(scaled: FloatArray, run: NDArray[np.intp], tolerance: float) -> list[NDArray[np.intp]]:
    parts = []
    while len(run):
        first = scaled[:, run[0], None]
        rest = scaled[:, run]
        agree = np.abs(rest - first) <= tolerance * np.maximum(rest, first)
        close: NDArray[np.bool_] = np.asarray(agree.all(axis=0))
        close[0] = True
        parts.append(run[close])
        run = run[~close]
    return parts


def _sum_columns(matrix: Matrix, member: NDArray[Any], owner: NDArray[Any]) -> Matrix:
    if is_sparse(matrix):
        from scipy.sparse import csr_array

        return csr_array(_sum_columns(dense(matrix), member, owner))  # numpy sums pairwise, scipy one by one
    order = np.argsort(owner, kind="stable")
    starts = np.flatnonzero(np.diff(owner[order], prepend=-1))
    return np.add.reduceat(matrix[:, member[order]], starts, axis=1)
