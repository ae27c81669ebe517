"""Distortion of quantization when the secret is a ratio, or a difference of two.

Such a secret depends on the rows x_g of up to five groups of D_g cells. The table's bin decides the law of the release
θ', and for a fixed law E TV(θ, θ') is convex in θ and symmetric within groups: the worst table with rows x has those of
each group in one cell. With Y_g the count of one cell of group g in the release,

    Δ = max_x 1 − Σ_g φ_g(x_g)/τ,     φ_g(x) = E min(x, Y_g),
    E[min(x, Y_g) | n rows in the group] = (n/D)(1 − C(n−x+D−1, D)/C(n+D−1, D))   for x < n, and n/D above.

Where the vectors of group counts can be listed, this is evaluated, and the ends differ by rounding. Otherwise only the
tables with all rows in one cell are looked at. If those of the groups g ∈ U have their secret in the same bin, then
Σ_{g∈U} D_g (1 − Δ) τ ≤ Σ_{g∈U} D_g E Y_g ≤ τ, so

    1 − 1/max_U Σ_{g∈U} D_g ≤ Δ ≤ 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tightlip.arguments import flag, whole
from tightlip.certificate.recomputation import RATIO_DISTORTION, certify_by_recomputation
from tightlip.errors import InvalidInput, quoted
from tightlip.histogram.conditional import compositions
from tightlip.histogram.counting import LARGEST
from tightlip.histogram.privacy import Distortion
from tightlip.histogram.secret import GroupedSecret, scale_of
from tightlip.histogram.weights import log_gamma
from tightlip.numeric.parse import FloatArray, number
from tightlip.numeric.quantity import Probability
from tightlip.numeric.randomness import Integers

_MOST_LISTED = 300_000  # vectors of group counts; a second of work
_ROUNDING = 1e-12


def ratio_distortion(
    total: int, sizes: Sequence[int], bin_size: int, *, resolution: object = None, ordered: bool = True
) -> Distortion:
    """Bound the worst-case expected distance of quantization for a secret on groups of cells.

    Parameters
    ----------
    total : τ
    sizes : cells of part and remainder of each whole, and at last outside; 3 or 5 numbers
    bin_size : how many consecutive values share a bin
    resolution : of the secret
    ordered : whether the bin's middle value is released, or any value in the bin

    Returns
    -------
    Distortion
        Ends that differ by rounding up to 300,000 vectors of group counts (50 to 770 rows), proved ends beyond.

    >>> found = ratio_distortion(6, (2, 1, 1), 3, resolution="1/2")
    >>> round(found.lower, 9), round(found.upper, 9)
    (0.814814815, 0.814814815)
    """
    total = whole(total, "total", 1, LARGEST, remedy="give the number of rows, or τ")
    cells = tuple(whole(size, "sizes", 0, LARGEST, remedy="count the cells of each group") for size in sizes)
    if len(cells) not in (3, 5) or not all(cells[:-1]):
        raise InvalidInput(
            f"sizes must be 3 or 5 numbers of cells, all but the last positive, got {quoted(sizes)}."
        )
    flag(ordered, "ordered")
    step = None if resolution is None else Fraction(number(resolution, "resolution"))
    secret = GroupedSecret(np.zeros(0, dtype=np.int8), cells, total, scale_of(cells, total, step))
    bin_size = whole(bin_size, "bin_size", 1, LARGEST**4, remedy="give how many secret values share a bin")
    used = sum(size > 0 for size in cells)
    listable = math.comb(total + used - 1, used - 1) <= _MOST_LISTED
    found = _listed(secret, bin_size, ordered) if listable else pure_tables(secret, bin_size)
    return certify_by_recomputation(
        RATIO_DISTORTION,
        found,
        total=total,
        sizes=list(cells),
        bin_size=bin_size,
        resolution=step,
        ordered=ordered,
    )


def pure_tables(secret: GroupedSecret, bin_size: int) -> Distortion:
    """Bound Δ from below by tables with all rows in one cell; above it is at most 1."""
    own = np.diag(np.full(len(secret.sizes), secret.total))
    together: dict[int, int] = {}
    for index, cells in zip(secret.index_each(own).tolist(), secret.sizes, strict=True):
        together[index // bin_size] = together.get(index // bin_size, 0) + cells
    most = max(together.values())
    lower, upper = Distortion.of(1 - Fraction(1, most), ""), Distortion.of(Fraction(1), "")
    return Distortion.between(lower, upper, "tables with all rows in one cell")


def _listed(secret: GroupedSecret, bin_size: int, ordered: bool) -> Distortion:
    used = sum(size > 0 for size in secret.sizes)
    vectors = compositions(secret.total, used)
    index = secret.index_each(np.pad(vectors, ((0, 0), (0, len(secret.sizes) - used))))
    bins = index // bin_size
    middle = np.minimum(bins * bin_size + bin_size // 2, secret.size - 1)
    released = index == middle if ordered else np.ones(len(index), dtype=bool)
    if not np.isin(bins, bins[released]).all():
        return pure_tables(secret, bin_size)
    logs, error = _log_weights(vectors[released], secret.sizes[:used])
    shared = np.zeros(len(vectors))
    for group in range(used):
        law = _law(vectors[released, group], bins[released], logs, secret.total)
        overlap = law @ _overlap(secret.total, secret.sizes[group]).T
        shared += overlap[bins, vectors[:, group]]
    value, slack = 1 - float(shared.min()) / secret.total, 8 * error + _ROUNDING
    lower, upper = max(value - slack, 0.0), min(value + slack, 1.0)
    method = "worst vector of group counts"
    return Distortion(Probability(lower, rounding="down"), Probability(upper), True, method)


def _log_weights(vectors: Integers, sizes: tuple[int, ...]) -> tuple[FloatArray, float]:
    """The logarithms of how many histograms have these group counts, and a bound on their error."""
    logs, errors = np.zeros(len(vectors)), np.zeros(len(vectors))
    for rows, cells in zip(vectors.T, sizes, strict=True):
        for sign, place in ((1, rows + cells), (-1, rows + 1), (-1, np.full_like(rows, cells))):
            log, error = log_gamma(place)
            logs += sign * log
            errors += error + 2.0**-50 * np.abs(log)
    return logs, float(errors.max())


def _law(rows: Integers, bins: Integers, logs: FloatArray, total: int) -> FloatArray:
    """For each bin the probabilities of 0, …, τ rows in a group of the release."""
    top = np.full(int(bins.max()) + 1, -np.inf)
    np.maximum.at(top, bins, logs)
    law = np.zeros((len(top), total + 1))
    np.add.at(law, (bins, rows), np.exp(logs - top[bins]))
    mass: FloatArray = law.sum(axis=1, keepdims=True)
    return law / np.where(mass > 0, mass, 1.0)


def _overlap(total: int, cells: int) -> FloatArray:
    """E[min(x, Y) | n] at [x, n]: Y the count of one of D cells that share n rows uniformly."""
    rows = np.arange(total + 1)
    share, rest = rows[:, None], np.maximum(rows[None, :] - rows[:, None], 1)
    logs = np.zeros((total + 1, total + 1))
    for sign, place in ((1, rest + cells), (-1, rest), (-1, rows[None, :] + cells), (1, rows[None, :])):
        logs = logs + sign * log_gamma(np.maximum(place, 1))[0]
    lost = np.where(rows[None, :] > share, np.exp(np.minimum(logs, 0.0)), 0.0)
    found: FloatArray = rows[None, :] / cells * (1 - lost)
    return found
