"""Undoing a channel on average: a matrix B with K·B = I, so that E[B_Yx] = P(X = x).

B exists exactly if K has full row rank. Otherwise some direction d has dK = 0, and the distributions p and p + td look
the same from outside, whatever the number of samples. With more outcomes than secrets there are many B; this is

    B = D⁻¹Kᵀ(K D⁻¹ Kᵀ)⁻¹,   D = diag(q₀),   q₀ = p₀K,

which has the smallest covariance of all if the secret is distributed as p₀. Its rows sum to 1: (K D⁻¹Kᵀ)p₀ = K·1 = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import PreconditionFailed
from tightlip.model.align import align
from tightlip.model.channel import Channel, as_channel
from tightlip.model.labels import show
from tightlip.model.matrix import dense
from tightlip.model.prior import Prior, as_prior
from tightlip.numeric.parse import FloatArray

_SINGULAR = 1e-10
_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Inverse:
    """A right inverse B of a channel on the outcomes that can occur.

    Attributes
    ----------
    weights : B, a row for each possible outcome; Fractions where the channel is exact
    possible : positions of those outcomes
    bias : for each secret, a bound on |E[estimate] − truth| from rounding; 0 where the channel is exact
    """

    weights: NDArray[Any]
    possible: NDArray[np.intp]
    bias: tuple[Fraction, ...]

    @property
    def floats(self) -> FloatArray:
        """B as floats."""
        return np.asarray(self.weights, dtype=np.float64)


def right_inverse(channel: Channel, reference: Prior | None = None) -> Inverse:
    """B with K·B = I, best where the secret is distributed as `reference` (uniform by default).

    Raises
    ------
    PreconditionFailed
        If some distributions of the secret give the same distribution of outcomes; the message names a direction.

    >>> right_inverse(Channel([["3/4", "1/4"], ["1/4", "3/4"]])).weights[0]
    array([Fraction(3, 2), Fraction(-1, 2)], dtype=object)
    """
    as_channel(channel)
    center = (
        Prior.uniform(channel.shape[0])
        if reference is None
        else align(as_prior(reference, "reference"), channel)
    )
    possible = np.flatnonzero(channel.peaks > 0)
    rows = dense(channel.matrix)[:, possible]
    if channel.is_exact:
        return Inverse(_exact_weights(channel, rows, center), possible, (Fraction(0),) * channel.shape[0])
    weights = _float_weights(channel, rows, center)
    return Inverse(weights, possible, _bias(rows, weights))


def _exact_weights(channel: Channel, rows: NDArray[Any], center: Prior) -> NDArray[Any]:
    matrix = _fmpq(rows)
    if matrix.rank() < channel.shape[0]:
        raise _not_identified(channel, _exact_direction(rows))
    if len(rows) == rows.shape[1]:
        return _fractions(matrix.inv())
    likely = _spread(center.exact().masses) @ rows
    scaled = _fmpq((rows / likely).T)
    return _fractions(scaled * (matrix * scaled).inv())


def _float_weights(channel: Channel, rows: FloatArray, center: Prior) -> FloatArray:
    _, sizes, directions = np.linalg.svd(rows.T, full_matrices=True)
    if len(rows) > rows.shape[1] or sizes[-1] < _SINGULAR * sizes[0]:
        raise _not_identified(channel, directions[-1])
    likely = np.asarray(_spread(center.floats) @ rows, dtype=np.float64)
    scaled = (rows / likely).T
    return np.asarray(np.linalg.solve((rows @ scaled).T, scaled.T).T)


def _spread(masses: NDArray[Any]) -> NDArray[Any]:
    """Half of the reference and half uniform where the reference rules out a secret: q₀ must be positive."""
    if masses.min() > 0:
        return masses
    return (masses + Fraction(1, len(masses)) if masses.dtype == object else masses + 1 / len(masses)) / 2


def _bias(rows: FloatArray, weights: FloatArray) -> tuple[Fraction, ...]:
    """max_x |(K·B − I)_xj| for each secret j, in rationals; rows of floats stand for rows that sum to 1."""
    exact = _fmpq(_unit_rows(rows))
    product = _fractions(exact * _fmpq(weights))
    wanted = np.eye(len(rows), dtype=int).astype(object)
    return tuple(Fraction(max(column)) for column in np.abs(product - wanted).T.tolist())


def _unit_rows(rows: FloatArray) -> NDArray[Any]:
    exact = np.array([[Fraction(entry) for entry in row] for row in rows.tolist()], dtype=object)
    return np.asarray(exact / exact.sum(axis=1)[:, None])


def _exact_direction(rows: NDArray[Any]) -> NDArray[Any]:
    """d ≠ 0 with dK = 0: from the reduced row echelon form of Kᵀ, its first free variable set to 1."""
    reduced, rank = _fmpq(rows.T).rref()
    table = _fractions(reduced)
    pivots = [int(np.flatnonzero(table[row])[0]) for row in range(rank)]
    free = next(place for place in range(len(rows)) if place not in pivots)
    direction = np.zeros(len(rows), dtype=object)
    direction[free] = Fraction(1)
    for row, pivot in enumerate(pivots):
        direction[pivot] = -table[row, free]
    return np.asarray(direction)


def _not_identified(channel: Channel, direction: NDArray[Any]) -> PreconditionFailed:
    size = float(max(abs(entry) for entry in direction))
    parts = [
        f"{float(entry) / size:+.3g} on {show(label)}"
        for label, entry in zip(channel.inputs, direction, strict=True)
        if abs(float(entry)) > 1e-6 * size
    ]
    more = f" and {len(parts) - _SHOWN} more" if len(parts) > _SHOWN else ""
    return PreconditionFailed(
        "channel must have linearly independent rows to estimate frequencies, got rows that are not: "
        f"a shift of {', '.join(parts[:_SHOWN])}{more} leaves every outcome as likely as before; "
        "merge such secrets or ask for more."
    )


def _fmpq(rows: NDArray[Any]) -> Any:
    from flint import fmpq, fmpq_mat

    def entry(value: Any) -> Any:
        ratio = Fraction(value)
        return fmpq(ratio.numerator, ratio.denominator)

    return fmpq_mat(rows.shape[0], rows.shape[1], [entry(value) for value in rows.ravel().tolist()])


def _fractions(matrix: Any) -> NDArray[Any]:
    found = np.empty((matrix.nrows(), matrix.ncols()), dtype=object)
    for i, row in enumerate(matrix.tolist()):
        for j, value in enumerate(row):
            found[i, j] = Fraction(int(value.p), int(value.q))
    return found
