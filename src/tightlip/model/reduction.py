"""Merge proportional columns: outcomes that say the same about the secret."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput
from tightlip.model.matrix import Matrix, dense, is_sparse
from tightlip.numeric.parse import FloatArray, ObjectArray

REDUCE_TOLERANCE = 1e-12
_LIFT = 2.0**200  # keeps the smallest positive float, scaled, in the range where floats have all their digits

Groups = list[list[int]]


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
