"""MaxL, the baseline of the SML paper (section VI-A): release the nearest of a few fixed histograms.

Given candidates, one for each bin of the secret in the paper, MaxL adds them greedily to a set A, each time
the one that makes the worst-case distance max_θ min_{a ∈ A} TV(θ, a) smallest, and stops when none makes it
smaller. A table θ is released as its nearest member of A. The channel is deterministic, so that

    Π = log of a maximum matching between secret values and members of A,
    Δ = max_θ min_{a ∈ A} TV(θ, a).

A histogram of A is released as itself, so Π is at least the log of the number of secrets in A; it is at most
log |A|. One candidate per bin has as many secrets as members: Π = log |A|.

Δ is exact where all histograms can be listed. In larger spaces it lies between two ends:
    Δ ≥ 1 − min_i max_a a_i/τ                                 tables with everything in cell i,
    Δ ≤ 1 − max{max_a min_i a_i, min_i mean_a a_i}/τ           TV to a mean of members is convex in θ.
With few released histograms no choice of them is good: `released_points_bound`.

The greedy rule stops early: where any two candidates leave one cell empty, a table in that cell is at
distance 1 from both, so that the second member gains nothing and A keeps one. That is so for random histograms
when d is not small against τ, as in the paper's Census setting. Nor does it release the table itself when every
histogram is a candidate, as the paper says: at τ = 2, d = 2 it stops at (1, 1). `MaxLMechanism(space, candidates)`
keeps all candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import whole
from tightlip.certificate.recomputation import (
    MAXL_BINS_PRIVACY,
    MAXL_DISTORTION,
    MAXL_PRIVACY,
    certify_by_recomputation,
)
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.histogram.counting import LARGEST, is_short
from tightlip.histogram.privacy import Distortion, Privacy
from tightlip.histogram.quantization import Quantization
from tightlip.histogram.space import HistogramSpace, read_space
from tightlip.numeric.quantity import Nats

Counts = NDArray[np.int64]
_MOST_ENTRIES = 20_000_000


@dataclass(frozen=True, slots=True, eq=False, init=False)
class MaxLMechanism:
    """Release the nearest of given histograms, the first of equally near ones.

    Parameters
    ----------
    space : HistogramSpace
    released : array of counts, one row per released histogram
        The secret is the share of the first cell.

    >>> mechanism = MaxLMechanism(HistogramSpace(4, 2), [[1, 3], [3, 1]])
    >>> mechanism.privacy.ratio, mechanism.distortion.upper.fraction
    (Fraction(2, 1), Fraction(1, 4))
    """

    space: HistogramSpace
    released: Counts

    def __init__(self, space: HistogramSpace, released: Any) -> None:
        points = _read_points(read_space(space), released, "released")
        points.setflags(write=False)
        object.__setattr__(self, "space", space)
        object.__setattr__(self, "released", points)

    @property
    def privacy(self) -> Privacy:
        """Π, exact where the members have different secrets or all histograms can be listed."""
        return certify_by_recomputation(
            MAXL_PRIVACY, self._privacy(), space=self.space, released=self.released
        )

    @property
    def distortion(self) -> Distortion:
        """Δ, exact where all histograms can be listed."""
        return certify_by_recomputation(
            MAXL_DISTORTION, self._distortion(), space=self.space, released=self.released
        )

    def _privacy(self) -> Privacy:
        distinct = len(np.unique(self.released[:, 0]))
        most = min(len(self.released), self.space.secrets)
        if distinct == most:
            return Privacy.of_ratio(Fraction(most), "one output per secret")
        if is_listable(self.space, len(self.released)):
            return Privacy.of_ratio(Fraction(self._matching()), "bipartite matching")
        ends = Nats.of_ratio(Fraction(distinct), "down"), Nats.of_ratio(Fraction(most))
        return Privacy(*ends, False, "secrets and outputs counted")

    def _distortion(self) -> Distortion:
        total, points = self.space.total, self.released
        if is_listable(self.space, len(points)):
            worst = _distances(list_histograms(self.space), points).min(axis=1).max()
            return Distortion.of(Fraction(int(worst), 2 * total), "all histograms listed")
        inner = Fraction(int(points.min(axis=1).max()))
        mean = Fraction(int(points.sum(axis=0).min()), len(points))
        low = Distortion.of(1 - Fraction(int(points.max(axis=0).min()), total), "")
        return Distortion.between(
            low, Distortion.of(1 - max(inner, mean) / total, ""), "full cells and means"
        )

    def _matching(self) -> int:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_bipartite_matching

        tables = list_histograms(self.space)
        outputs = _distances(tables, self.released).argmin(axis=1)
        edges = np.unique(np.stack([tables[:, 0], outputs]), axis=1)
        shape = (self.space.total + 1, len(self.released))
        graph = csr_array((np.ones(edges.shape[1], dtype=np.int8), (edges[0], edges[1])), shape=shape)
        return int((maximum_bipartite_matching(graph, perm_type="column") >= 0).sum())


def greedy_maxl(space: HistogramSpace, candidates: Any) -> MaxLMechanism:
    """MaxL as the paper has it: greedy among the candidates, by the worst-case distance, in small spaces.

    >>> greedy_maxl(HistogramSpace(4, 2), [[3, 1], [1, 3], [4, 0]]).released.tolist()
    [[3, 1], [1, 3]]
    """
    points = _read_points(read_space(space), candidates, "candidates")
    if not is_listable(space, len(points)):
        raise InvalidInput(
            f"candidates must be for a space whose histograms can be listed, got total={space.total} and "
            f"cells={space.cells}; MaxLMechanism(space, candidates) keeps all of them."
        )
    distances = _distances(list_histograms(space), points)
    nearest = np.full(len(distances), 2 * space.total + 1)
    chosen: list[int] = []
    while len(chosen) < len(points):
        costs = np.minimum(distances, nearest[:, None]).max(axis=0)
        best = int(costs.argmin())
        if costs[best] >= nearest.max():
            break
        chosen.append(best)
        nearest = np.minimum(nearest, distances[:, best])
    return MaxLMechanism(space, points[chosen])


def privacy_of_bins(space: HistogramSpace, bin_size: int, secrets: int) -> Privacy:
    """Compute Π = log ⌈s/I⌉ of MaxL with one histogram from each bin of I of the s secret values.

    They have different secrets and are released as themselves: a matching of all of them.

    >>> privacy_of_bins(HistogramSpace(10, 4), 4, 11).ratio
    Fraction(3, 1)
    """
    bins = Quantization(space, bin_size, secrets=secrets).bins
    found = Privacy.of_ratio(Fraction(bins), "one output per bin")
    return certify_by_recomputation(MAXL_BINS_PRIVACY, found, space=space, bin_size=bin_size, secrets=secrets)


def released_points_bound(space: HistogramSpace, points: int) -> Fraction:
    """No mechanism that releases at most K different histograms has less distortion: 1 − ⌊Kτ/d⌋/τ, or 0.

    *Proof.* With everything in cell i the distance to a release a is 1 − a_i/τ, so Δ ≥ 1 − min_i max_a a_i/τ,
    and Σ_i max_a a_i ≤ Kτ. ∎

    >>> released_points_bound(HistogramSpace(10, 4), 2)
    Fraction(1, 2)
    """
    read_space(space)
    points = whole(points, "points", 1, LARGEST**4, remedy="count the histograms that can be released")
    reached = points * space.total // space.cells
    return max(Fraction(0), 1 - Fraction(reached, space.total))


def is_listable(space: HistogramSpace, points: int) -> bool:
    """Whether all histograms, against that many points, fit in memory and time."""
    n, k = space.total + space.cells - 1, space.cells - 1
    return is_short(n, k) and space.size * max(points, space.cells) * space.cells <= _MOST_ENTRIES


def list_histograms(space: HistogramSpace) -> Counts:
    """Every histogram of a small space, one per row (stars and bars)."""
    slots = space.total + space.cells - 1
    bars = np.array(list(combinations(range(slots), space.cells - 1)), dtype=np.int64)
    edges = np.hstack([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), slots)])
    return np.diff(edges, axis=1) - 1


def _distances(tables: Counts, points: Counts) -> Counts:
    """2τ·TV of every table and point."""
    return np.stack([np.abs(tables - point).sum(axis=1) for point in points], axis=1)


def _read_points(space: HistogramSpace, points: Any, argument: str) -> Counts:
    try:
        counts = np.asarray(points)
    except Exception:  # rows of different lengths
        counts = np.zeros(0)
    if counts.dtype.kind not in "iu" or counts.ndim != 2 or counts.shape[1] != space.cells or not len(counts):
        raise WrongType(
            f"{argument} must be rows of {space.cells} whole counts, got {quoted(points)}; give one row per histogram."
        )
    counts = counts.astype(np.int64)
    wrong = np.flatnonzero((counts.min(axis=1) < 0) | (counts.sum(axis=1) != space.total))
    if len(wrong):
        row = int(wrong[0])
        raise InvalidInput(
            f"{argument} row {row} must have counts ≥ 0 that sum to {space.total}, got {quoted(counts[row].tolist())}."
        )
    if len(np.unique(counts, axis=0)) < len(counts):
        raise InvalidInput(
            f"{argument} must have different rows, got {len(counts)} with repeats; drop those."
        )
    return counts
