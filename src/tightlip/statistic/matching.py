"""Deterministic releases: the number of outputs that secrets can claim at once, by maximum bipartite matching.

A secret can claim an output that one of its inputs is mapped to, each secret one, each output once. Kőnig: the
largest number of claims is the size of the smallest vertex cover, read off from the alternating paths.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.model.matrix import Matrix, is_sparse
from tightlip.statistic.groups import Groups, Places


@dataclass(frozen=True, slots=True)
class Matching:
    """The row each secret stands on, how many outputs they reach, and the outputs of a cover of that size."""

    rows: Places
    size: int
    covered_outputs: Places


def outputs_if_deterministic(matrix: Matrix) -> Places | None:
    """The one output of each row; None where some row has more than one."""
    if is_sparse(matrix):
        each = np.diff(matrix.indptr)
        return (
            np.asarray(matrix.indices).astype(np.intp)
            if (each == 1).all() and (matrix.data == 1).all()
            else None
        )
    if not ((matrix == 0) | (matrix == 1)).all():
        return None
    return np.asarray(np.argmax(matrix == 1, axis=1), dtype=np.intp)


def largest_matching(groups: Groups, outputs: Places, output_count: int) -> Matching:
    """Match secrets with outputs, and cover all claims by as many secrets and outputs."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    keys = groups.codes.astype(np.int64) * output_count + outputs
    claims, first_rows = np.unique(keys, return_index=True)
    secrets, targets = claims // output_count, claims % output_count
    graph = csr_array(
        (np.ones(len(claims), dtype=np.int8), (secrets, targets)), shape=(groups.count, output_count)
    )
    partner = np.asarray(maximum_bipartite_matching(graph, perm_type="column"))
    matched = partner >= 0
    rows = np.empty(groups.count, dtype=np.intp)
    rows[groups.codes[::-1]] = np.arange(
        len(groups.codes) - 1, -1, -1
    )  # any row will do for an unmatched secret
    wanted = np.flatnonzero(matched).astype(np.int64) * output_count + partner[matched]
    rows[matched] = first_rows[np.searchsorted(claims, wanted)]
    return Matching(rows, int(matched.sum()), _reachable_outputs(secrets, targets, partner, output_count))


def _reachable_outputs(
    secrets: NDArray[Any], targets: NDArray[Any], partner: NDArray[Any], output_count: int
) -> Places:
    """Outputs that alternating paths from unmatched secrets reach: the output side of the smallest cover."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    count = len(partner)
    free, matched = np.flatnonzero(partner < 0), np.flatnonzero(partner >= 0)
    source = count + output_count
    tails = np.concatenate([secrets, count + partner[matched], np.full(len(free), source)])
    heads = np.concatenate([count + targets, matched, free])
    graph = csr_array((np.ones(len(tails), dtype=np.int8), (tails, heads)), shape=(source + 1, source + 1))
    seen = breadth_first_order(graph, source, return_predecessors=False)
    return np.sort(seen[(seen >= count) & (seen < source)] - count)
