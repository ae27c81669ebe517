"""Contraction of χ², KL and Hellinger over all inputs, and of χ² towards one prior.

Over all inputs: one number, decided by two secrets.

    η_χ²(K) = η_KL(K) = η_H²(K) = max_{x,x'} max_{0<λ<1} h(λ),   h(λ) = λ(1−λ) Σ_y (a − b)² / (λa + (1−λ)b)

with a = K_xy, b = K_x'y. Two secrets decide for every f-divergence (Ordentlich and Polyanskiy): with dP/dQ = φ
held fixed, D_f(P‖Q) is linear in Q and D_f(PK‖QK) convex, so D_f(PK‖QK) − η·D_f(P‖Q) is largest at a corner of
{Q : Σ Q = 1, Σ Qφ = 1}, which has two secrets. KL and H² are mixtures of Σ(p − q)²/(λp + (1−λ)q), each of which
contracts by η_χ² at least, and all three agree to second order at P = Q.

h is concave, since h = Σ((1−λ)a + λb) − Σ ab/(λa + (1−λ)b); so a tangent bounds it. And by Cauchy and Schwarz
h ≤ 1 − (Σ√(ab))², which one matrix product gives for all pairs: pairs that this rules out are not looked at.

Entries off by a relative e, from rounding rationals or because rows of floats sum to 1 only up to 2⁻⁵⁰, move h by at
most 4e, since λ(1−λ)(a + b) ≤ λa + (1−λ)b; both ends allow for it with 2⁻⁴⁷.

Towards one prior: the squared maximal correlation of secret and outcome.

    η_χ²(P, K) = sup_Q χ²(QK‖PK) / χ²(Q‖P) = σ₂(B)²,    B_xy = √p_x K_xy / √q_y,    q = PK

B has largest singular value 1 with vectors √p and √q, so σ₂² is the largest eigenvalue λ of S = BBᵀ − √p√pᵀ.

Both ends are proved in floats. B ≥ 0 and ‖B‖ = 1, so rounding its entries and sums by a relative e moves S by at
most e in norm. From below a Rayleigh quotient proves λ. From above: if the Cholesky factorisation of μ − S runs to
its end in floats, then λ ≤ μ + γ_{n+1}/(1 − γ_{n+1})·trace(μ − S) (Demmel's bound, Higham, Theorem 10.3).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.contraction.pairs import block_pairs
from tightlip.contraction.result import Coefficient
from tightlip.errors import NumericalFailure
from tightlip.model.channel import Channel, align
from tightlip.model.matrix import Matrix, dense, weighted_columns
from tightlip.model.prior import Prior
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import gamma

Pairs = NDArray[np.intp]

_CLOSE = 1e-12
_STEPS = 52
_BATCH = 1 << 20
_WORK = 1 << 26
_NOISE = 2.0**-47
_UNDERFLOW = 1e-280
_RARE = 1e-280
_TRIES = 12


@dataclass(frozen=True, slots=True)
class _Ends:
    """Proved ends of max_λ h(λ) for each of some pairs, and the λ that reaches the lower one."""

    lower: FloatArray
    upper: FloatArray
    weight: FloatArray


def pairwise_contraction(channel: Channel) -> Coefficient:
    """Compute η_χ²(K) = η_KL(K) = η_H²(K), with proved ends; the gap is rounding unless very many pairs nearly tie.

    `inputs` are (P, Q) with χ²(PK‖QK)/χ²(P‖Q) ≥ lower: Q on the two secrets of `pair`, P all on the first.

    >>> from tightlip import Channel
    >>> found = pairwise_contraction(Channel([[1, 0], ["1/2", "1/2"]]))   # Z-channel: 1/2, approached
    >>> abs(found.lower - 0.5) < 1e-12 and abs(found.upper - 0.5) < 1e-12
    True
    """
    matrix = channel.floats
    if bool((channel.peaks == channel.pits).all()):
        return Coefficient.known(Fraction(0), method="equal rows")
    pairs, bounds, rest = _promising(matrix, max(256, _WORK // channel.shape[1]))
    best, ceiling, pair, weight, seen = 0.0, 0.0, pairs[0], 0.5, 0
    size = max(1, _BATCH // channel.shape[1])
    while seen < len(pairs) and bounds[seen] > best * (1 + _CLOSE):
        batch = pairs[seen : seen + size]
        seen += len(batch)
        ends = _solve_pairs(matrix, batch, best)
        top = int(np.argmax(ends.lower))
        ceiling = max(ceiling, float(ends.upper.max()))
        if ends.lower[top] > best:
            best, pair, weight = float(ends.lower[top]), batch[top], float(ends.weight[top])
    upper = max(ceiling, float(bounds[seen]) if seen < len(pairs) else rest)
    return Coefficient(
        max(best - _NOISE, 0.0),
        upper + _NOISE,
        method="two secrets, concave maximum",
        pair=(channel.inputs[int(pair[0])], channel.inputs[int(pair[1])]),
        inputs=_witness(channel, pair, weight),
    )


def _promising(matrix: Matrix, most: int) -> tuple[Pairs, FloatArray, float]:
    """Select the pairs with the largest bound 1 − (Σ√(ab))², best first, and the largest bound among the others."""
    kept: list[tuple[Pairs, FloatArray]] = []
    rest = 0.0
    for found in _bounded_pairs(matrix):
        kept.append(found)
        if sum(len(found) for _, found in kept) > 4 * most:
            kept, rest = _best(kept, most, rest)
    kept, rest = _best(kept, most, rest)
    return kept[0][0], kept[0][1], rest


def contenders(matrix: Matrix, bound: float) -> Iterator[Pairs]:
    """Filter pairs of rows: those that 1 − (Σ√(ab))² does not prove to have max_λ h(λ) ≤ bound, in blocks."""
    for places, bounds in _bounded_pairs(matrix):
        yield places[~(bounds <= bound)]


def _bounded_pairs(matrix: Matrix) -> Iterator[tuple[Pairs, FloatArray]]:
    """Bound all pairs of rows by 1 − (Σ√(ab))², rounded up, in blocks."""
    error = gamma(matrix.shape[1] + 8)
    for (top, upper), (left, lower) in block_pairs(matrix, ordered=False):
        affinity = np.sqrt(upper) @ np.sqrt(lower).T * (1 - 2 * error)
        bounds = 1 - affinity * affinity + _NOISE
        rows, columns = np.indices(bounds.shape)
        chosen = (left + columns > top + rows).ravel()
        places = np.stack([top + rows.ravel(), left + columns.ravel()], axis=1)[chosen]
        yield places, bounds.ravel()[chosen]


def _best(
    kept: list[tuple[Pairs, FloatArray]], most: int, rest: float
) -> tuple[list[tuple[Pairs, FloatArray]], float]:
    places, bounds = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    order = np.argsort(-bounds, kind="stable")
    if len(order) > most:
        rest = max(rest, float(bounds[order[most]]))
    order = order[:most]
    return [(places[order], bounds[order])], rest


def _solve_pairs(matrix: Matrix, pairs: Pairs, floor: float) -> _Ends:
    """Bound h for each pair: a tangent at λ = ½; where that cannot rule a pair out, the maximum by bisection."""
    one, two = dense(matrix[pairs[:, 0]]), dense(matrix[pairs[:, 1]])
    ends = _tangent(one, two, np.full(len(pairs), 0.5))
    best = max(floor, float(ends.lower.max()))
    open_ = np.flatnonzero(ends.upper > best * (1 + _CLOSE))
    if not len(open_):
        return ends
    found = _tangent(one[open_], two[open_], stationary(one[open_], two[open_]))
    lower, upper, weight = ends.lower.copy(), ends.upper.copy(), ends.weight.copy()
    better = found.lower >= lower[open_]
    lower[open_[better]], weight[open_[better]] = found.lower[better], found.weight[better]
    upper[open_] = np.minimum(upper[open_], found.upper)
    return _Ends(lower, np.maximum(upper, lower), weight)


def stationary(one: FloatArray, two: FloatArray) -> FloatArray:
    """Find λ where h' changes sign, by bisection; only a good place for a tangent, never trusted."""
    low, high = np.zeros(len(one)), np.ones(len(one))
    for _ in range(_STEPS):
        middle = (low + high) / 2
        rising = np.subtract(*_slopes(one, two, middle)) > 0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    return (low + high) / 2


def _slopes(one: FloatArray, two: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute the positive and the negative part of h'(λ) = Σ (a − b)² ((1−λ)² b − λ² a) / (λa + (1−λ)b)²."""
    share, other = weight[:, None], 1 - weight[:, None]
    squares = _quotient(one - two, share * one + other * two) ** 2
    return (squares * (other * other * two)).sum(axis=1), (squares * (share * share * one)).sum(axis=1)


def _tangent(one: FloatArray, two: FloatArray, weight: FloatArray) -> _Ends:
    """Bound h(λ) from below, and from above by the tangent at λ, which bounds the concave h everywhere."""
    share, other = weight[:, None], 1 - weight[:, None]
    difference = one - two
    terms = difference * _quotient(difference, share * one + other * two) * (share * other)
    error = gamma(one.shape[1] + 40)
    height = terms.sum(axis=1)
    rise, fall = _slopes(one, two, weight)
    slope, doubt = rise - fall, 2 * error * (rise + fall)
    climb = np.maximum((slope + doubt) * (1 - weight), (doubt - slope) * weight) * (1 + 2 * error)
    upper = height * (1 + 2 * error) + np.maximum(climb, 0.0) + _UNDERFLOW
    lower = np.maximum(height * (1 - 2 * error) - _UNDERFLOW, 0.0)
    return _Ends(lower, np.nextafter(upper, 2.0), weight)


def _quotient(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """numerator/denominator, 0 where both rows have 0."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


def _witness(channel: Channel, pair: Any, weight: float) -> tuple[Prior, Prior]:
    first, second = np.zeros(channel.shape[0], dtype=object), np.zeros(channel.shape[0], dtype=object)
    first[int(pair[0])] = Fraction(1)
    second[int(pair[0])], second[int(pair[1])] = Fraction(weight), 1 - Fraction(weight)
    return Prior(first, channel.inputs), Prior(second, channel.inputs)


def correlation_contraction(channel: Channel, prior: Prior) -> Coefficient:
    """Compute the squared maximal correlation of secret and outcome, with proved ends.

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
    inputs = _perturb(aligned, support, direction)
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
    """Bound the largest eigenvalue of a symmetric matrix of floats from above, proved by Cholesky."""
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


def _perturb(prior: Prior, support: Any, direction: FloatArray) -> tuple[Prior, Prior] | None:
    """Move a prior along the optimal direction, in rationals; χ² ratios do not depend on how far.

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
