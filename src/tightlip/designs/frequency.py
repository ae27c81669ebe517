"""The mechanism from whose releases frequencies are estimated best: the least variance of de-biased estimates.

With J = Σ_y k_y k_yᵀ / q_y, the information of one release about the frequencies, the best unbiased estimates from N
releases have covariance (J⁻¹ − p pᵀ)/N if the secrets are distributed as p (`planning.estimate_frequencies` with p as
its reference), and what counts is N times the sum of their variances, tr J⁻¹ − Σ p_x².

**Theorem.** With D = diag(√p), P the projection orthogonal to √p and ‖·‖ the nuclear norm,

    tr J⁻¹ − Σ p_x²  ≥  ‖DP‖² / χ²(X; Y).

*Proof.* G = D(J − 1 1ᵀ)D has G√p = 0, since Jp = 1, and trace χ²(X; Y). From J = D⁻¹(G + √p√pᵀ)D⁻¹ follows
J⁻¹ = D G⁺ D + p pᵀ, so the left side is tr(D²G⁺) = tr(PD²P G⁺). By Cauchy and Schwarz, (tr A^½)² ≤ tr(A G⁺) tr G for
A = PD²P = (DP)ᵀ(DP), and tr A^½ = ‖DP‖. ∎

So a bound on the chi-squared information of all channels that keep the guarantees (`information`) is one on the
variance. It is reached where G is a multiple of A^½: for uniform priors and two secrets. Otherwise the ends need not
meet.

The nuclear norm is at least tr(QᵀDP)/‖Q‖ for every Q; the one that reaches it comes from a singular value
decomposition, and need not be right: ‖Q‖² ≤ 1 + ‖QᵀQ − 1‖.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tightlip.designs.closed import greatest, subsets
from tightlip.designs.f_information import Information
from tightlip.designs.guarantee import Guarantee, Side, Vector
from tightlip.designs.information import MostInformation, extreme_columns
from tightlip.designs.linear import SCALE, Kernel, Problem, keeps, repaired, whole, whole_weights
from tightlip.designs.utility import Found, Utility
from tightlip.errors import InvalidInput, SolverFailure
from tightlip.model.labels import Labels
from tightlip.model.prior import Prior
from tightlip.numeric.ball import ball, round_down, round_up
from tightlip.numeric.linear_program import minimise
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import gamma

LEAST_VARIANCE = "least variance of frequency estimates"
NAME = "frequency_variance"

_BITS = (
    256  # of the inverse in ball arithmetic; frequencies that 200 bits cannot tell apart count as not told
)
_STEPS = 150  # of the search for weights of columns; each solves a program with a row for each secret
_CLOSE = 1e-9  # of the variance: a step that gains less is the last
_CHI = MostInformation(Information("chi_squared"))


@dataclass(frozen=True, slots=True)
class FrequencyVariance(Utility):
    """N times the summed variance of frequencies that are estimated without bias from N releases; outputs are free."""

    key = NAME

    @property
    def kind(self) -> str:
        """The number that a certificate bounds."""
        return LEAST_VARIANCE

    @property
    def minimised(self) -> bool:
        """Less is better."""
        return True

    def words(self) -> str:
        """Say what the value is."""
        return "variance of frequency estimates"

    def find(self, masses: Vector, guarantees: tuple[Guarantee, ...], room: Fraction) -> Found:
        """Take the best of the channel that says most by chi-squared, closed forms, and mixtures of their columns."""
        problem = _problem(masses, guarantees, room)
        if problem.silent and len(masses) > 1:
            raise InvalidInput(
                "guarantees must let something through for utility frequency_variance, got a level of 0 or nearly so; "
                "raise it: from nothing, frequencies cannot be estimated."
            )
        chi = _CHI.find(masses, guarantees, room)
        tries = [*_closed(problem), (chi.kernel, "most chi-squared information")]
        mixed = _mixture(problem, [kernel for kernel, _ in tries])
        tries += [] if mixed is None else [(mixed, "convex program over columns")]
        kernel, method = max(tries, key=lambda own: self.worth(masses, own[0]))
        return Found(chi.guarantees, kernel, chi.proof, method)

    def worth(self, masses: Vector, kernel: Kernel) -> float:
        """Compute minus the variance, rounded down; minus infinity where frequencies cannot be told."""
        return -variance(masses, kernel)[1]

    def potential(self, masses: Vector, kernel: Kernel) -> float:
        """Compute minus the variance, rounded down."""
        return self.worth(masses, kernel)

    def bound(self, masses: Vector, guarantees: tuple[Guarantee, ...], proof: Any) -> float:
        """Bound minus the variance of every channel by the theorem, rounded up."""
        if len(masses) == 1:
            return 0.0
        most = _CHI.bound(masses, guarantees, proof)
        least = np.inf if not most else float(nuclear_norm(masses) ** 2 / most * (1 - gamma(8)))
        columns = greatest(_problem(masses, guarantees, Fraction(0)), Side.OUTER)
        if columns is not None:
            # every channel is a post-processing of this one, from which nothing can be estimated better
            least = max(least, variance(masses, Kernel(*whole(np.array(columns, dtype=object))))[0])
        return -least

    def require(self, prior: Prior) -> None:
        """Refuse masses whose lifts no float holds."""
        _CHI.require(prior)

    def outputs(self, kernel: Kernel) -> Labels:
        """Number the outputs."""
        return _CHI.outputs(kernel)

    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON values."""
        return {"kind": self.key}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> FrequencyVariance:
        """Read what `to_dict` gave."""
        return cls()

    def proof_to_dict(self, proof: FloatArray) -> dict[str, Any]:
        """Write the prices of the chi-squared information as JSON values."""
        return _CHI.proof_to_dict(proof)

    def proof_from_dict(self, record: dict[str, Any]) -> FloatArray:
        """Read what `proof_to_dict` gave."""
        return _CHI.proof_from_dict(record)


def variance(masses: Vector, kernel: Kernel) -> tuple[float, float]:
    """Compute tr J⁻¹ − Σ p² in ball arithmetic, rounded down and up; 0 and infinity where J may not be invertible.

    >>> third = Fraction(1, 3)
    >>> weights = np.array([[2, 1, 1], [1, 2, 1], [1, 1, 2]], dtype=object)
    >>> round(variance((third,) * 3, Kernel(weights, 4))[1], 9)
    10.666666667
    """
    from flint import arb_mat, ctx

    size = len(masses)
    information = np.full((size, size), Fraction(0), dtype=object)
    columns, unit = whole(np.array(masses, dtype=object))
    for weights in kernel.weights:
        total = int(weights @ columns)
        if total:
            # k kᵀ/q with k = weights/scale and q = total/(unit·scale)
            information = information + np.outer(weights, weights) * Fraction(unit, total * kernel.scale)
    with ctx.workprec(_BITS):
        try:
            inverse = arb_mat(size, size, [ball(entry) for entry in information.ravel().tolist()]).inv()
        except ZeroDivisionError:
            return 0.0, np.inf
        found = sum((inverse[place, place] for place in range(size)), ball(0)) - ball(
            sum((mass * mass for mass in masses), Fraction(0))
        )
        if not found.is_finite():
            return 0.0, np.inf
        return max(round_down(found), 0.0), max(round_up(found), 0.0)


def nuclear_norm(masses: Vector) -> float:
    """Bound the nuclear norm of DP from below.

    >>> round(nuclear_norm((Fraction(1, 4),) * 4), 9)
    1.5
    """
    roots = np.sqrt([float(mass) for mass in masses])
    table = np.diag(roots) - np.outer(roots * roots, roots)
    left, _, right = np.linalg.svd(table)
    turn = left @ right
    size, slack = len(roots), gamma(4 * len(roots) + 32)
    off = np.abs(turn.T @ turn - np.eye(size)).sum(axis=1).max() + slack * size
    trace = float((turn * table).sum()) - slack * float(
        (np.abs(turn) * (np.diag(roots) + np.outer(roots * roots, roots))).sum()
    )
    return max(trace, 0.0) / float(np.sqrt(1 + off)) * (1 - gamma(8))


def _problem(masses: Vector, guarantees: tuple[Guarantee, ...], room: Fraction) -> Problem:
    return Problem(masses, np.zeros((len(masses), 1), dtype=object), guarantees, room)


def _closed(problem: Problem) -> Iterator[tuple[Kernel, str]]:
    """List mechanisms that tell all secrets apart: the truth with noise, and closed forms."""
    identity = np.eye(len(problem.masses), dtype=int).astype(object) * SCALE
    kept = keeps(problem, Kernel(identity, SCALE))
    yield repaired(problem, identity), "closed form: the truth" if kept else "the truth with noise"
    columns = greatest(problem)
    if columns is not None:
        kernel = Kernel(*whole(np.array(columns, dtype=object)))
        if keeps(problem, kernel):
            yield kernel, "closed form: greatest mechanism"
    for kernel in subsets(problem):
        yield kernel, "closed form: subset mechanism"


def _mixture(problem: Problem, kernels: Sequence[Kernel]) -> Kernel | None:
    """Weigh columns by Frank and Wolfe's method: the least tr J⁻¹ over mixtures Σ λ_i v_i = 1."""
    if problem.rows(Side.INNER).most is not None:
        return None
    masses = np.array([float(mass) for mass in problem.masses])
    pool = [np.array(own.weights, dtype=np.float64)[own.weights.sum(axis=1) > 0] for own in kernels]
    starts = np.cumsum([0, *(len(own) for own in pool)])
    columns = np.concatenate([*pool, extreme_columns(problem)])
    columns = columns / (columns @ masses)[:, None]
    shares = np.zeros(len(columns))
    first = columns[: starts[1]]
    # the truth with noise tells all secrets apart: a start from which J can be inverted
    shares[: starts[1]] = np.linalg.lstsq(first.T, np.ones(len(masses)), rcond=None)[0]
    shares = np.maximum(shares, 0.0)
    for _ in range(_STEPS):
        try:
            step, gained = _step(columns, shares)
        except (np.linalg.LinAlgError, SolverFailure):
            break
        shares = step
        if gained <= _CLOSE:
            break
    return repaired(problem, whole_weights(columns[shares > 0] * shares[shares > 0][:, None]))


def _step(columns: FloatArray, shares: FloatArray) -> tuple[FloatArray, float]:
    """Move towards the mixture that the gradient likes best, as far as it helps; also the relative gain."""
    inverse = np.linalg.inv((columns.T * shares) @ columns)
    gains = ((columns @ inverse) ** 2).sum(axis=1)
    target = np.maximum(
        minimise(-gains, columns.T, np.ones(columns.shape[1]), equal=columns.shape[1]).primal, 0.0
    )
    one, two = (columns.T * shares) @ columns, (columns.T * target) @ columns
    parts = np.concatenate([[0.0], np.geomspace(1e-6, 0.9, 60)])
    traces = [float(np.trace(np.linalg.inv((1 - part) * one + part * two))) for part in parts]
    best = int(np.argmin(traces))
    return (1 - parts[best]) * shares + parts[best] * target, (traces[0] - traces[best]) / traces[0]
