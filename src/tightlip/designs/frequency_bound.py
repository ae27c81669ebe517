"""No frequency is estimated better: bounds on the variance of de-biased estimates from below, under guarantees.

With columns v_y scaled to p·v = 1 and released with probability q_y, d = v − 1 and G = Σ_y q_y d_y d_yᵀ, the
information of a release is J = G + 11ᵀ, and the best unbiased estimates have covariance N = J⁻¹ − ppᵀ.

**Theorem.** Let M be any matrix, and Σ_y q_y ‖Mᵀd_y‖² ≤ X for every channel that keeps the guarantees. Then

    tr N ≥ (tr M − 1ᵀMp)² / X,        where tr M ≥ 1ᵀMp.

*Proof.* Let Π = 1 − p1ᵀ. p·d = 0, so Gp = 0, GΠ = G and Πp = 0; J(ΠG⁺Πᵀ + ppᵀ) = GG⁺Πᵀ + 1pᵀ = 1, so N = ΠG⁺Πᵀ. For
every κ, 0 ≤ ‖G^{+½}Πᵀ − κG^½M‖² = tr N − 2κ tr ΠM + κ² tr MᵀGM ≤ tr N − 2κ tr ΠM + κ²X; take κ = tr ΠM / X. ∎ M = N is
the best, and then the bound is tr N if X is the largest Σ_y q_y ‖Mᵀd_y‖².

How large X is:

*Few secrets.* ‖Mᵀd‖² is convex in v, so extreme columns and prices bound it as they do an information (`pricing`).

*Any number.* Let MMᵀ = diag(c) − γ ccᵀ + apᵀ + paᵀ + R with c ≥ 0. Terms with p vanish. Lifts within [m_x, M_x] have
G_xx ≤ B_x = (M_x − 1)(1 − m_x), the chord of (v − 1)² (`chords`), and |G_xx′| ≤ √(B_x B_x′). So with γ = 0

    X = Σ_x c_x B_x + Σ |R_xx′| √(B_x B_x′).

*LDP.* Let r be the least entry of a column, t = e^ε, C = Σc, z = c·v and g = (1 + t)²/(4t). From (v_x − r)(v_x − tr) ≤
0 follows Σ c_x v_x² ≤ (1 + t) r z − tCr² ≤ g z²/C. With γ ≥ g/C the first two terms are at most

    g z²/C − 2z + C − γ(z − C)²  ≤  g(2z − C) − 2z + C,

and the mean of z is C. So they give C(g − 1) = C (t − 1)²/(4t), and R is as above. It is reached where every column has
t·r on a set S with c(S) = C/(1 + t), and r off it: nearly possible where secrets are many.

*Otherwise* Σ c_x d_x² ≤ max(c/p) Σ p_x d_x², and the last mean is the chi-squared information (`information`).

c, M and prices are found by ascent; whatever they are, the bound holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tightlip.designs.f_information import Information
from tightlip.designs.guarantee import Guarantee, Ldp, Side, Vector, all_lifts, ratio
from tightlip.designs.information import listings, upper_bound
from tightlip.designs.listing import LISTED, Listing
from tightlip.designs.pricing import beyond_peaks
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import float_above, gamma, sum_down, sum_up, up

CHI = Information("chi_squared")

_ASCENT = 60  # steps for c; each takes an eigendecomposition
_HALVES = 40  # of the way to c = p, where γ ccᵀ vanishes
_LARGEST, _POWERS = 1e100, 340  # beyond these, and these powers of two, a proof is not read
_VANISHING = 1e-280  # more than products of floats lose where they vanish, and less than what counts


class Proof(NamedTuple):
    """Prices, c and M."""

    prices: FloatArray
    weights: FloatArray
    matrix: FloatArray

    def stacked(self) -> FloatArray:
        """Write prices, c and M below each other."""
        return np.concatenate([self.prices[None, :], self.weights[None, :], self.matrix])

    @classmethod
    def of(cls, stacked: FloatArray) -> Proof:
        """Read what `stacked` wrote."""
        return cls(stacked[0], stacked[1], stacked[2:])

    def scaled(self) -> Proof:
        """Scale M to a largest entry between 1/2 and 1, prices and c as its square, so that nothing vanishes.

        What is no number or too large for one is read as another, which proves something too.
        """
        matrix, prices, weights = (
            np.clip(np.nan_to_num(own), -_LARGEST, _LARGEST)
            for own in (self.matrix, self.prices, self.weights)
        )
        power = -int(np.frexp(np.abs(matrix).max())[1])
        if abs(power) > _POWERS:
            return Proof(0 * prices, 0 * weights, 0 * matrix)
        others = np.clip(np.ldexp([prices, weights], 2 * power), -_LARGEST, _LARGEST)
        return Proof(others[0], np.maximum(others[1], 0.0), np.ldexp(matrix, power))


@dataclass(frozen=True, slots=True, eq=False)
class _Form:
    """Σ_y q_y {Σ_x c_x d_x² − γ (c·d)²} ≤ Σ_x c_x limits_x for every c ≥ 0, with γ = bend/Σc."""

    limits: FloatArray
    bend: float

    def gamma(self, weights: FloatArray) -> float:
        """Compute γ, rounded up."""
        return up(self.bend / sum_down(weights), 2) if self.bend else 0.0

    def table(self, weights: FloatArray) -> FloatArray:
        """Compute diag(c) − γ ccᵀ."""
        return np.diag(weights) - self.bent(weights)

    def bent(self, weights: FloatArray) -> FloatArray:
        """Compute γ ccᵀ; γ may be as large as c is small, and c·c vanish."""
        return np.outer(self.gamma(weights) * weights, weights)


def _forms(masses: Vector, guarantees: Sequence[Guarantee]) -> list[_Form]:
    """List what guarantees say of c: of lifts one by one, and LDP of all together."""
    below, above = all_lifts(guarantees, masses)
    found = [_Form(np.nextafter(below * above, np.inf), 0.0)]
    for own in guarantees:
        if isinstance(own, Ldp):
            factor = ratio(own.epsilon, Side.OUTER)
            bend = (1 + factor) ** 2 / (4 * factor)
            found.append(_Form(np.full(len(masses), float_above(bend - 1)), float_above(bend)))
    return found


def least_variance(masses: Vector, guarantees: Sequence[Guarantee], proof: Proof) -> float:
    """Bound tr N of every channel that keeps the guarantees from below, by a proof whatever it is."""
    with np.errstate(over="ignore", invalid="ignore"):
        chi, proof = proof.prices, proof.scaled()
        p, matrix = np.array([float(mass) for mass in masses]), proof.matrix
        told = sum_down(np.append(np.diag(matrix), -(matrix @ p)))
        told -= gamma(len(p) + 4) * float(np.abs(np.diag(matrix)).sum() + (np.abs(matrix) @ p).sum())
        limits = [_of_weights(masses, guarantees, proof, chi), *_of_listed(masses, guarantees, proof)]
    if told <= 0:
        return 0.0
    # what is not finite bounds nothing, and products that vanish are off by less than is added
    most = min((limit for limit in limits if math.isfinite(limit)), default=np.inf) + _VANISHING
    return float(told * told / most * (1 - gamma(8)))


def _of_listed(masses: Vector, guarantees: Sequence[Guarantee], proof: Proof) -> list[float]:
    """Bound Σ_y q_y ‖Mᵀd_y‖² by prices and all extreme columns, for few secrets."""
    found = []
    for listing, total in listings(masses, guarantees, CHI) if len(masses) <= LISTED else ():
        own = replace(listing, worths=_worths(listing, proof.matrix))
        prices = proof.prices
        beyond = own.beyond(prices) if total is None else up(beyond_peaks(own, prices) * total)
        if math.isfinite(beyond):
            found.append(sum_up(np.append(prices, beyond)))
    return found


def _worths(listing: Listing, matrix: FloatArray) -> FloatArray:
    """Bound ‖Mᵀd‖² of listed columns from above; their entries are off by no more than they stray."""
    d, size = listing.columns - 1, np.abs(matrix)
    stray = (gamma(len(size) + 4) * (1 + np.abs(d)) + listing.stray) @ size * (1 + gamma(len(size) + 8))
    return np.asarray(((np.abs(d @ matrix) + stray) ** 2).sum(axis=1) * (1 + gamma(len(size) + 16)))


def _of_weights(
    masses: Vector, guarantees: Sequence[Guarantee], proof: Proof, chi_prices: FloatArray
) -> float:
    """Bound Σ_y q_y ‖Mᵀd_y‖² by c, and for many secrets by prices of the chi-squared information."""
    weights, forms = proof.weights, _forms(masses, guarantees)
    if not weights.any():
        return np.inf
    roots, found = np.sqrt(forms[0].limits), []
    for form in forms:
        most = sum_up(np.nextafter(weights * form.limits, np.inf))
        found.append(most + _rest(masses, proof, form, roots))
    if len(masses) > LISTED:
        most = float_above(
            max(Fraction(own) / mass for own, mass in zip(weights.tolist(), masses, strict=True))
        )
        chi = up(most * upper_bound(masses, guarantees, CHI, chi_prices))
        found.append(chi + _rest(masses, proof, forms[0], roots))
    return min(found)


def _rest(masses: Vector, proof: Proof, form: _Form, roots: FloatArray) -> float:
    """Bound Σ |R_xx′| √(B_x B_x′), with R as floats have it and its roundings."""
    p, matrix, ones = np.array([float(mass) for mass in masses]), proof.matrix, np.ones(len(masses))
    rest = matrix @ matrix.T - form.table(proof.weights)
    own = rest @ ones
    own = own - p * (own @ ones) / 2
    shifts = np.outer(own, p)
    sizes = np.abs(matrix) @ np.abs(matrix).T + np.diag(proof.weights) + form.bent(proof.weights)
    sizes += np.abs(shifts) + np.abs(shifts.T)
    off = np.abs(rest - shifts - shifts.T) + gamma(len(p) + 16) * sizes
    return float(roots @ off @ roots * (1 + gamma(2 * len(p) + 16)))


def closed_proof(masses: Vector, guarantees: Sequence[Guarantee], prices: FloatArray) -> Proof:
    """Find c and M for any number of secrets: the form that says most, with c found by ascent."""
    p = np.array([float(mass) for mass in masses])
    project = np.eye(len(p)) - np.outer(p, np.ones(len(p)))
    proofs = [Proof(prices, p, np.eye(len(p)))]
    for form in _forms(masses, guarantees):
        for find in (lambda own: p, lambda own: _ascended(p, own, project)):
            with np.errstate(all="ignore"):
                try:
                    weights = find(form)
                    proofs.append(Proof(prices, weights, _matrix(p, form.table(weights), project)))
                except np.linalg.LinAlgError:
                    continue  # levels and masses at the ends of what floats hold
    return max(proofs, key=lambda own: least_variance(masses, guarantees, own))


def _ascended(p: FloatArray, form: _Form, project: FloatArray) -> FloatArray:
    """Find c with a large (tr (Π T Πᵀ)^½)² / Σ c_x limits_x, T = diag(c) − γ ccᵀ, by ascent in log c."""
    from scipy.optimize import minimize

    def worse(logs: FloatArray) -> tuple[float, FloatArray]:
        weights = np.exp(logs - logs.max())
        total, values, vectors = weights.sum(), *np.linalg.eigh(project @ form.table(weights) @ project.T)
        # what is negative counts against it; the prior's own direction is 0
        sizes = np.sqrt(np.maximum(np.abs(values), 1e-14 * np.abs(values).max()))
        told = float((np.sign(values) * sizes).sum())
        half = project.T @ ((vectors / sizes) @ vectors.T) @ project / 2
        slope = np.diag(half) - 2 * form.bend / total * (half @ weights)
        slope = slope + form.bend / total**2 * (weights @ half @ weights)
        most = weights @ form.limits
        value = 2 * np.log(max(told, 1e-300)) - np.log(most)
        return -value, -weights * (2 * slope / max(told, 1e-300) - form.limits / most)

    found = minimize(worse, np.log(p), jac=True, method="L-BFGS-B", options={"maxiter": _ASCENT}).x
    weights, share = np.exp(found - found.max()), 0.0
    for step in range(_HALVES):
        mixed = (1 - share) * weights / weights.sum() + share * p
        values = np.linalg.eigvalsh(project @ form.table(mixed) @ project.T)
        if values.min() >= -1e-12 * values.max():
            break
        share = 1 - 0.5 ** ((step + 1) / 4)
    return np.asarray(mixed)


def _matrix(p: FloatArray, table: FloatArray, project: FloatArray) -> FloatArray:
    """Find M with MMᵀ = T but for terms with p, and the largest tr ΠM: a root of T, turned."""
    along = np.eye(len(p)) - np.outer(p, p) / (p @ p)
    values, vectors = np.linalg.eigh(along @ table @ along)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    left, _, right = np.linalg.svd(project @ root)
    return np.asarray(root @ (left @ right).T)
