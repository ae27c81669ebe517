"""Contraction of χ² towards one prior: the squared maximal correlation of secret and outcome.

    η_χ²(P, K) = sup_Q χ²(QK‖PK) / χ²(Q‖P) = σ₂(B)²,    B_xy = √p_x K_xy / √q_y,    q = PK

B has largest singular value 1 with vectors √p and √q, so σ₂² is the largest eigenvalue λ of S = BBᵀ − √p√pᵀ.

Both ends are proved in floats. B ≥ 0 and ‖B‖ = 1, so rounding its entries and sums by a relative e moves S by at
most e in norm. From below a Rayleigh quotient proves λ. From above: if the Cholesky factorisation of μ − S runs to
its end in floats, then λ ≤ μ + γ_{n+1}/(1 − γ_{n+1})·trace(μ − S) (Demmel's bound, Higham, Theorem 10.3).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.contraction.result import Coefficient
from tightlip.errors import NumericalFailure
from tightlip.model.align import align
from tightlip.model.channel import Channel
from tightlip.model.matrix import dense, weighted_columns
from tightlip.model.prior import Prior
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import gamma

_RARE = 1e-280
_TRIES = 12


def correlation_contraction(channel: Channel, prior: Prior) -> Coefficient:
    """The squared maximal correlation of secret and outcome, with proved ends.

    >>> from tightlip import Channel, Prior
    >>> found = correlation_contraction(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), Prior.uniform(2))
    >>> found.lower <= 0.25 <= found.upper < 0.25 + 1e-12
    True
    """
    aligned = align(prior, channel)
    support = aligned.support
    rows = dense(channel.floats)[support]
    masses = aligned.floats[support]
    if _are_equal(dense(channel.matrix)[support]):
        return Coefficient.known(Fraction(0), method="equal rows")
    factor, error = _factor(rows, masses)
    wide = factor.shape[0] > factor.shape[1]
    root = np.sqrt(masses @ rows)[_common(rows)] if wide else np.sqrt(masses)
    gram = (factor.T @ factor if wide else factor @ factor.T) - np.outer(root, root)
    values, vectors = np.linalg.eigh(gram)
    size = len(gram)
    lower = _rayleigh(gram, vectors[:, -1]) - 2 * gamma(2 * size + 10) - error
    upper = _proved_ceiling(gram, float(values[-1])) + error
    direction = factor @ vectors[:, -1] if wide else vectors[:, -1]
    inputs = _perturbed(aligned, support, direction)
    return Coefficient(
        max(lower, 0.0) if inputs is not None else 0.0,
        max(upper, lower, 0.0),
        method="maximal correlation, Cholesky test",
        inputs=inputs,
    )


def _are_equal(rows: NDArray[Any]) -> bool:
    """As stored: rationals may differ by less than floats can tell."""
    return bool((rows == rows[0]).all())


def _common(rows: FloatArray) -> Any:
    return rows.max(axis=0) >= _RARE


def _factor(rows: FloatArray, masses: FloatArray) -> tuple[FloatArray, float]:
    """B without outcomes rarer than 1e-280 (B_xy² ≤ K_xy: they add no more than that), and the error of S in norm."""
    kept = _common(rows)
    marginal = np.asarray(weighted_columns(masses, rows))[kept]
    if min(float(masses.min()), float(marginal.min())) < _RARE:
        raise NumericalFailure(
            f"prior masses and outcome probabilities must be at least {_RARE:g} for the maximal correlation, "
            f"got {min(float(masses.min()), float(marginal.min())):.3g}; leave those secrets out."
        )
    factor = np.sqrt(masses)[:, None] * rows[:, kept] / np.sqrt(marginal)
    return factor, gamma(2 * sum(rows.shape) + 60)


def _rayleigh(gram: FloatArray, vector: FloatArray) -> float:
    return float(vector @ (gram @ vector)) / float(vector @ vector)


def _proved_ceiling(gram: FloatArray, guess: float) -> float:
    """A proved upper bound on the largest eigenvalue of a symmetric matrix of floats."""
    size = len(gram)
    step = gamma(size + 4)
    for attempt in range(_TRIES):
        shift = guess + step * 4**attempt
        shifted = -gram
        shifted[np.diag_indices(size)] += shift
        try:
            np.linalg.cholesky(shifted)
        except np.linalg.LinAlgError:
            continue
        rounding = gamma(1) * (abs(shift) + float(np.abs(np.diag(gram)).max()))
        return float(shift + 2 * gamma(size + 2) * float(np.trace(shifted)) + rounding)
    raise NumericalFailure(
        "the maximal correlation could not be proved; use the coefficient over all priors."
    )


def _perturbed(prior: Prior, support: Any, direction: FloatArray) -> tuple[Prior, Prior] | None:
    """A prior moved along the optimal direction, in rationals; χ² ratios do not depend on how far.

    None where floats show no direction.
    """
    masses = prior.floats[support]
    move = direction * np.sqrt(masses)
    move -= masses * move.sum()
    heaviest = int(np.argmax(masses))
    steps = [Fraction(step) for step in move.tolist()]
    steps[heaviest] = Fraction(0)
    steps[heaviest] = -sum(steps, Fraction(0))  # its own difference cancels where it has almost all mass
    if not any(steps):
        return None
    moved = prior.exact().masses.copy()
    length = min(moved[place] / -step for place, step in zip(support, steps, strict=True) if step < 0) / 2
    for place, step in zip(support, steps, strict=True):
        moved[place] += length * step
    return Prior(moved, prior.labels), prior
