"""The mechanism from whose releases frequencies are estimated best: the least variance of de-biased estimates.

With J = Σ_y k_y k_yᵀ / q_y, the information of one release about the frequencies, the best unbiased estimates from N
releases have covariance (J⁻¹ − p pᵀ)/N if the secrets are distributed as p (`planning.estimate_frequencies` with p as
its reference), and what counts is N times the sum of their variances, tr J⁻¹ − Σ p_x².

Columns are weighed by a convex program (`weighing`), and a matrix with prices or weights of the secrets proves how good
that is (`frequency_bound`): exactly where all extreme columns can be listed, nearly so for more secrets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from tightlip.designs.closed import greatest, subsets
from tightlip.designs.frequency_bound import CHI, Proof, closed_proof, least_variance
from tightlip.designs.guarantee import Guarantee, Side, Vector
from tightlip.designs.information import MostInformation, extreme_columns, search_of
from tightlip.designs.linear import SCALE, Kernel, Problem, keeps, repaired, whole, whole_weights
from tightlip.designs.listing import LISTED
from tightlip.designs.tracing import monotone
from tightlip.designs.utility import Found, Utility, read_proof, require_room
from tightlip.designs.weighing import WORTH, Weighed, weigh
from tightlip.errors import CertificateInvalid, InvalidInput, SolverFailure
from tightlip.model.labels import Labels
from tightlip.model.prior import Prior
from tightlip.numeric.ball import ball, round_down, round_up
from tightlip.numeric.parse import FloatArray

LEAST_VARIANCE = "least variance of frequency estimates"
NAME = "frequency_variance"

_BITS = (256, 1024, 4096)  # of the inverse in ball arithmetic: more where these cannot tell frequencies apart
_GREATEST = "closed form: greatest mechanism"
_ENOUGH = 1e-3  # of tr J⁻¹: what a column may be worth beyond its price where not all are looked at
_LOOSE = 3e-3  # and for a level of a curve: hardly seen in a picture
_BYTES, _SECONDS = 90.0, 4e-5  # for each triple of secrets, as measured up to 200
_RARE = 1e-3  # of the likeliest column: what is not carried from level to level
_TINY = 1e-9  # of a mass: lists know the columns of such a secret only roughly
_CHI = MostInformation(CHI)


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
        closed = [*_closed(problem), (chi.kernel, "most chi-squared information")]
        found = _found(replace(problem, guarantees=chi.guarantees), closed, chi.proof)
        kernel, method = max(found.tries, key=lambda own: self.worth(masses, own[0]))
        if self.worth(masses, kernel) == -np.inf:
            raise InvalidInput(
                "guarantees must let more through for utility frequency_variance: at this level no mechanism was found "
                "that tells all secrets apart; raise it, or merge secrets."
            )
        proof = min(
            (own.stacked() for own in found.proofs), key=lambda own: self.bound(masses, chi.guarantees, own)
        )
        return Found(chi.guarantees, kernel, proof, method)

    def trace(
        self, masses: Vector, guarantees: Sequence[tuple[Guarantee, ...]], room: Fraction
    ) -> list[tuple[float, float]]:
        """Weigh columns for one level after the other, roughly, each from those of the level before."""
        ends, before = [], None
        for own in guarantees:
            problem = _problem(masses, own, room)
            if problem.silent and len(masses) > 1:
                # at levels so small that roundings leave no channel, others may have one
                proof = closed_proof(masses, own, np.zeros(len(masses)))
                never = any(one.silent for one in own)
                ends.append((-np.inf, -np.inf if never else self.bound(masses, own, proof.stacked())))
                continue
            found = _found(problem, list(_closed(problem)), np.zeros(len(masses)), before)
            before = found.weighed
            worth = max(self.worth(masses, kernel) for kernel, _ in found.tries)
            bound = min(self.bound(masses, own, proof.stacked()) for proof in found.proofs)
            ends.append((worth, max(bound, worth)))
        return monotone(ends)

    def worth(self, masses: Vector, kernel: Kernel) -> float:
        """Compute minus the variance, rounded down; minus infinity where frequencies cannot be told."""
        return -variance(masses, kernel)[1]

    def potential(self, masses: Vector, kernel: Kernel) -> float:
        """Compute minus the variance, rounded down."""
        return self.worth(masses, kernel)

    def bound(self, masses: Vector, guarantees: tuple[Guarantee, ...], proof: Any) -> float:
        """Bound minus the variance of every channel by the theorem, rounded up."""
        if not isinstance(proof, np.ndarray) or proof.shape != (len(masses) + 2, len(masses)):
            raise CertificateInvalid(
                f"a proof must have prices, weights and a matrix for {len(masses)} secrets."
            )
        if len(masses) == 1:
            return 0.0
        columns = greatest(_problem(masses, guarantees, Fraction(0)), Side.OUTER)
        if columns is not None:
            # every channel is a post-processing of this one, from which nothing can be estimated better
            return -variance(masses, Kernel(*whole(np.array(columns, dtype=object))))[0]
        return -least_variance(masses, guarantees, Proof.of(proof))

    def require(self, prior: Prior) -> None:
        """Refuse masses whose lifts no float holds, and products of columns that do not fit into memory."""
        count = float(len(prior)) ** 3
        require_room(f"{len(prior)} secrets", _BYTES * count, _SECONDS * count)
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
        """Write prices, weights and matrix as JSON values."""
        return {"secrets": proof[0].tolist(), "weights": proof[1].tolist(), "matrix": proof[2:].tolist()}

    def proof_from_dict(self, record: dict[str, Any]) -> FloatArray:
        """Read what `proof_to_dict` gave."""
        prices, weights = (read_proof(record[name], name, 1) for name in ("secrets", "weights"))
        return np.vstack([prices, weights, read_proof(record["matrix"], "matrix", 2)])


def variance(masses: Vector, kernel: Kernel) -> tuple[float, float]:
    """Compute tr J⁻¹ − Σ p² in ball arithmetic, rounded down and up; 0 and infinity where J may not be invertible.

    >>> third = Fraction(1, 3)
    >>> weights = np.array([[2, 1, 1], [1, 2, 1], [1, 1, 2]], dtype=object)
    >>> round(variance((third,) * 3, Kernel(weights, 4))[1], 9)
    10.666666667
    """
    for bits in _BITS:
        found = _variance(masses, kernel, bits)
        if found[1] < np.inf:
            break
    return found


def _variance(masses: Vector, kernel: Kernel, bits: int) -> tuple[float, float]:
    """Compute it with so many bits."""
    from flint import arb, arb_mat, ctx

    size, (shares, unit) = len(masses), whole(np.array(masses, dtype=object))
    totals = kernel.weights @ shares
    weights, totals = kernel.weights[totals > 0], totals[totals > 0].tolist()
    with ctx.workprec(bits):
        # k kᵀ/q with k = weights/scale and q = total/(unit·scale); no term is negative, so hardly a digit is lost
        columns = [[arb(entry) for entry in column] for column in weights.tolist()]
        factors = [ball(Fraction(unit, total * kernel.scale)) for total in totals]
        scaled = [
            [factor * entry for entry in column] for factor, column in zip(factors, columns, strict=True)
        ]
        try:
            inverse = (arb_mat(columns).transpose() * arb_mat(scaled)).inv()
        except ZeroDivisionError:
            return 0.0, np.inf
        found = sum((inverse[place, place] for place in range(size)), ball(0)) - ball(
            sum((mass * mass for mass in masses), Fraction(0))
        )
        if not found.is_finite():
            return 0.0, np.inf
        return max(round_down(found), 0.0), max(round_up(found), 0.0)


def _problem(masses: Vector, guarantees: tuple[Guarantee, ...], room: Fraction) -> Problem:
    return Problem(masses, np.zeros((len(masses), 1), dtype=object), guarantees, room)


def _closed(problem: Problem) -> Iterator[tuple[Kernel, str]]:
    """List mechanisms in closed form: the best one, or the truth with noise and others that tell all secrets apart."""
    columns = greatest(problem)
    if columns is not None:
        kernel = Kernel(*whole(np.array(columns, dtype=object)))
        if keeps(problem, kernel):
            yield kernel, _GREATEST
            return
    identity = np.eye(len(problem.masses), dtype=int).astype(object) * SCALE
    kept = keeps(problem, Kernel(identity, SCALE))
    yield repaired(problem, identity), "closed form: the truth" if kept else "the truth with noise"
    for kernel in subsets(problem):
        yield kernel, "closed form: subset mechanism"


class _Found(NamedTuple):
    """Channels and how they were found, proofs, and the weights of columns that another level goes on from."""

    tries: list[tuple[Kernel, str]]
    proofs: list[Proof]
    weighed: Weighed | None


def _found(
    problem: Problem, closed: list[tuple[Kernel, str]], chi: FloatArray, before: Weighed | None = None
) -> _Found:
    """Weigh columns of channels and extreme ones, or go on from a stricter level, roughly; with proofs."""
    p = np.array([float(mass) for mass in problem.masses])
    if closed[0][1] == _GREATEST or len(p) == 1:
        # nothing is better, and that is its own proof
        return _Found(closed, [Proof(0 * p, 0 * p, np.eye(len(p)))], None)
    few = len(p) <= LISTED
    weighed = _weighed(problem, [kernel for kernel, _ in closed], before)
    proofs = []
    if not few or before is None or weighed is None or p.min() < _TINY:
        proofs.append(closed_proof(problem.masses, problem.guarantees, chi))
    if weighed is None:
        return _Found(closed, proofs, before)
    shares = whole_weights(weighed.columns * weighed.weights[:, None])
    tries = [*closed, (repaired(problem, shares), "convex program over columns")]
    if few:
        covariance = weighed.inverse - np.outer(p, p)
        # ‖J⁻¹v‖² = ‖Nd‖² + 2 (Np)·v + |p|²
        prices = weighed.prices[: len(p)] - 2 * covariance @ p - p @ p * p
        proofs.append(Proof(prices, 0 * p, covariance))
    return _Found(tries, proofs, weighed)


def _weighed(problem: Problem, kernels: Sequence[Kernel], before: Weighed | None) -> Weighed | None:
    """Weigh the columns of channels, the first of which tells all secrets apart, and extreme ones."""
    most, masses = problem.rows(Side.INNER).most, np.array([float(mass) for mass in problem.masses])
    total = None if most is None else float(most)
    pool = [np.array(own.weights, dtype=np.float64)[own.weights.sum(axis=1) > 0] for own in kernels]
    search = search_of(problem)
    more = None if search.exact else search.flipped
    carried = np.zeros((0, len(masses)))
    if before is not None:
        carried = search.refit(before.columns[before.weights > _RARE * before.weights.max()])
    pool.insert(1, carried)
    with suppress(SolverFailure):  # other columns remain
        if before is None or search.exact:
            pool.append(extreme_columns(search))
        else:
            guess = np.zeros(len(masses) + (search.total is not None))
            pool.append(search.start(guess, np.random.default_rng(0)))
    columns = np.concatenate(pool)
    columns = columns / (columns @ masses)[:, None]
    if before is not None:
        return weigh(columns, len(pool[0]) + len(pool[1]), total=total, more=more, enough=_LOOSE, near=True)
    return weigh(columns, len(pool[0]), total=total, more=more, enough=WORTH if search.exact else _ENOUGH)
