"""Hold the linear program's data: one pair, a column, for each possible secret and outcome that can occur together.

With t = e^ε, the largest P{ℓ(Z) ≥ ε} over all post-processings Z of Y is

    V(t) = max Σ q_y w_xy   s.t.   Σ_x w_xy ≤ 1,   Σ_y w_xy (K_xy − t q_y) ≥ 0,   w ≥ 0

A pair with K_xy = 0 can help (a suspect with slack may swallow outcomes it never causes), so all pairs
are kept, sorted by outcome; of very large sparse channels only those with K_xy > 0, which leaves both
ends sound but may leave a gap. A dual point is written by thresholds θ_x < t, the lift at which secret x stops
taking outcomes: λ_x = 1/(t − θ_x), and

    V(t) ≤ G_θ(t) = Σ_y max(0, max_x (K_xy − θ_x q_y)/(t − θ_x)).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.envelopes.limits import LIMITS
from tightlip.errors import NumericalFailure
from tightlip.measures.joint import ExactJoint, FloatJoint
from tightlip.model.matrix import dense, is_sparse
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import gamma

Places = NDArray[np.intp]

# outcomes that are rarer lose digits in floats, on which soundness rests
_SMALLEST = 1e-280


@dataclass(frozen=True, slots=True)
class Pairs:
    """K_xy for secret x and outcome y, sorted by outcome; `weight` is q_y of the pair, `lift` their ratio.

    `complete` says that all pairs are there, `error` bounds the relative error of q_y.
    """

    secret: Places
    outcome: Places
    chance: FloatArray
    marginal: FloatArray
    starts: Places
    secrets: int
    outcomes: int
    weight: FloatArray
    lift: FloatArray
    complete: bool
    error: float

    def least_threshold(self, ratio: float) -> float:
        """Bound θ below: where x swallows outcomes it never causes it is negative.

        Without these pairs it must not be, nor so near 0 that roundings make it so.
        """
        return -1e6 * ratio if self.complete else 1e-14 * ratio

    def best(self, values: FloatArray) -> FloatArray:
        """Find the largest value of each outcome's pairs."""
        if self.complete:
            return np.asarray(values.reshape(self.outcomes, self.secrets).max(axis=1))
        return np.maximum.reduceat(values, self.starts)

    def above(self, thresholds: FloatArray) -> Places:
        """List the pairs whose lift is above their secret's threshold."""
        if self.complete:
            return np.flatnonzero(self.lift.reshape(self.outcomes, self.secrets) > thresholds)
        return np.flatnonzero(self.lift > thresholds[self.secret])

    @property
    def leads(self) -> Places:
        """The pair of largest lift of each outcome."""
        if self.complete:
            return np.asarray(self.starts + self.lift.reshape(self.outcomes, self.secrets).argmax(axis=1))
        tops = np.flatnonzero(self.lift == self.best(self.lift)[self.outcome])
        return tops[np.flatnonzero(np.diff(self.outcome[tops], prepend=-1))]

    def score(self, of_lift: FloatArray, plus: FloatArray) -> FloatArray:
        """Compute a_x K_xy/q_y + b_x of every pair."""
        if self.complete:
            table = self.lift.reshape(self.outcomes, self.secrets) * of_lift
            table += plus
            return table.ravel()
        return of_lift[self.secret] * self.lift + plus[self.secret]

    def merge(self, labels: Places) -> Pairs:
        """Add up the pairs of groups of outcomes; `labels` has the group of each outcome, numbered from 0."""
        groups = int(labels.max()) + 1
        cell = labels[self.outcome] * self.secrets + self.secret
        chance: FloatArray = np.bincount(cell, self.chance, groups * self.secrets).astype(np.float64)
        marginal: FloatArray = np.bincount(labels, self.marginal, groups).astype(np.float64)
        return _complete(chance, marginal, self.secrets)


def pairs_of(joint: ExactJoint | FloatJoint, most: int = LIMITS.complete_pairs) -> Pairs:
    """List the pairs of an aligned channel and prior, in floats; only those with K > 0 of more than `most`."""
    matrix = joint.matrix
    if isinstance(joint, ExactJoint):
        matrix = np.array([[float(entry) for entry in row] for row in matrix.tolist()])
    kept = matrix[:, joint.places]
    marginal = joint.probabilities()
    _require_normal(marginal, joint.outcomes)
    complete = kept.shape[0] * kept.shape[1] <= most
    if complete:
        chance = np.ascontiguousarray(dense(kept).T, dtype=np.float64).ravel()
        return _complete(chance, marginal, len(joint.weights))
    if is_sparse(kept):
        columns = kept.tocsc()
        columns.sort_indices()
        secret = columns.indices.astype(np.intp)
        outcome = np.repeat(np.arange(kept.shape[1]), np.diff(columns.indptr))
        chance = columns.data.astype(np.float64)
    else:
        outcome, secret = np.nonzero(kept.T)
        chance = np.ascontiguousarray(kept.T[outcome, secret], dtype=np.float64)
    size = len(joint.weights)
    return sparse_pairs(secret, outcome, chance, marginal, secrets=size, error=gamma(size + 8))


def sparse_pairs(
    secret: Places, outcome: Places, chance: FloatArray, marginal: FloatArray, *, secrets: int, error: float
) -> Pairs:
    """List pairs with K > 0 alone, sorted by outcome; K is within a few roundings, q within `error`, relative."""
    _require_normal(marginal, range(len(marginal)))
    starts = np.flatnonzero(np.diff(outcome, prepend=-1))
    weight = marginal[outcome]
    lift = chance / weight
    return Pairs(
        secret, outcome, chance, marginal, starts, secrets, len(marginal), weight, lift, False, error
    )


def _require_normal(marginal: FloatArray, names: Sequence[Any]) -> None:
    if marginal.min() < _SMALLEST:
        raise NumericalFailure(
            f"outcome {names[int(marginal.argmin())]!r} has probability {marginal.min():.2g}, too small for "
            "this program in floats; merge it with another outcome first (Channel.post_process)."
        )


def _complete(chance: FloatArray, marginal: FloatArray, secrets: int) -> Pairs:
    """List all pairs, from K_xy outcome by outcome."""
    count = len(marginal)
    outcome, secret = np.repeat(np.arange(count), secrets), np.tile(np.arange(secrets), count)
    weight = np.repeat(marginal, secrets)
    starts = np.arange(0, count * secrets, secrets)
    lift, error = chance / weight, gamma(secrets + 8)
    return Pairs(secret, outcome, chance, marginal, starts, secrets, count, weight, lift, True, error)
