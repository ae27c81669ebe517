"""The proof of an envelope checked in floats, with a bound on every rounding: it surely holds, or floats cannot tell.

For many proofs about one release; what floats cannot tell is for rationals to decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightlip.certificate.envelope import EnvelopeCertificate, LowerProof, UpperProof
from tightlip.model.align import align
from tightlip.model.channel import Channel
from tightlip.model.labels import Labels
from tightlip.model.matrix import dense
from tightlip.model.prior import Prior
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import UNIT, gamma

Places = NDArray[np.intp]

_FEW, _NOBODY = 8, -1
_NORMAL, _ABSOLUTE = 1e-280, 1e-290  # floats below the first are not trusted, nor digits below the second
_LARGEST = 1e300  # beyond it sums may overflow


@dataclass(frozen=True, slots=True)
class FloatRelease:
    """K, the lifts of possible secrets, and q within a relative `error`, in floats; `trusted` if none is too small."""

    trusted: bool
    matrix: FloatArray
    possible: NDArray[np.bool_]
    lifts: FloatArray
    marginal: FloatArray
    error: float
    suspects: frozenset[int | None]
    outputs: Labels
    stored: NDArray[Any]
    masses: NDArray[Any]

    @classmethod
    def of(cls, channel: Channel, prior: Prior) -> FloatRelease:
        """The channel and the prior in the channel's order of secrets."""
        stored, masses = dense(channel.matrix), align(prior, channel).masses
        possible = np.array([bool(mass) for mass in masses.tolist()])
        matrix = stored.astype(np.float64)
        products = masses.astype(np.float64)[:, None] * matrix
        marginal = np.array([math.fsum(column) for column in products.T.tolist()])
        occurs = (stored[possible] != 0).any(axis=0)
        trusted = bool((marginal[occurs] > _NORMAL).all())
        lifts = matrix[possible] / np.where(marginal > _NORMAL, marginal, 1.0)
        suspects = frozenset([None, *np.flatnonzero(possible).tolist()])
        return cls(
            trusted, matrix, possible, lifts, marginal, gamma(6), suspects, channel.outputs, stored, masses
        )

    def has_lift_at_most(self, ratio: Fraction, place: int) -> bool:
        """Whether no possible secret makes an outcome likelier by more, in rationals."""
        chances = [Fraction(entry) for entry in self.stored[:, place].tolist()]
        pairs = [pair for pair in zip(self.masses.tolist(), chances, strict=True) if pair[0]]
        marginal = sum((Fraction(mass) * chance for mass, chance in pairs), Fraction(0))
        return max(chance for _, chance in pairs) <= ratio * marginal


def surely_hold(certificates: list[EnvelopeCertificate], release: FloatRelease) -> list[bool]:
    """Of which certificates about one release floats are enough to see that both ends hold; False says nothing.

    Names of symbols are not looked at.
    """
    with np.errstate(all="ignore"):
        told = [
            _upper_holds(certificate.upper, release) and _is_readable(certificate.lower, release)
            for certificate in certificates
        ]
        proofs = [certificate.lower for certificate, good in zip(certificates, told, strict=True) if good]
        attacks = iter(_attacks_hold(proofs, release) if proofs else [])
        return [good and next(attacks) for good in told]


def _upper_holds(proof: UpperProof, release: FloatRelease) -> bool:
    ratio, mass = _float(proof.ratio), _float(proof.mass)
    if not (release.trusted and ratio > 0 and mass > _NORMAL):
        return False
    if proof.multipliers is None:
        return _no_lift_above(proof.ratio, release)
    if len(proof.multipliers) != len(release.possible):
        return False
    try:
        slopes = np.array(proof.multipliers, dtype=np.float64)
    except OverflowError:
        return False
    if not 0 <= slopes.min() <= slopes.max() < math.inf:  # NaN is not
        return False
    slopes = slopes[release.possible, None]
    if not slopes.min() > 0:
        return False
    taken, error = slopes * ratio, release.error + 32 * UNIT
    worth = slopes * (1 + error) * release.lifts
    worth += (1 - taken) + error * (1 + taken)
    peaks = np.maximum.reduce(worth, axis=0) + _ABSOLUTE * (1 + slopes + taken).max()  # NaN stays NaN
    if not peaks.max() < _LARGEST:
        return False
    total = math.fsum((np.maximum(peaks, 0.0) * release.marginal).tolist()) * (1 + 8 * UNIT)
    return total <= mass * (1 - 4 * UNIT)


def _no_lift_above(ratio: Fraction, release: FloatRelease) -> bool:
    """In floats where they tell, exactly for the few outcomes where they do not: the worst one has that very lift."""
    peaks, error = release.lifts.max(axis=0), release.error + 32 * UNIT
    surely = peaks * (1 + error) <= _float(ratio) * (1 - error)
    unsure = np.flatnonzero(~surely & (peaks > 0)).tolist()
    return len(unsure) <= _FEW and all(release.has_lift_at_most(ratio, place) for place in unsure)


def _is_readable(proof: LowerProof, release: FloatRelease) -> bool:
    """Whether the attack is one on this release, in floats."""
    attack = proof.attack
    if release.outputs.given and attack.inputs != release.outputs:
        return False
    if attack.shares.dtype != np.float64 or attack.shape != (len(release.marginal), len(proof.suspects)):
        return False
    return release.suspects.issuperset(proof.suspects) and _float(proof.mass) > _NORMAL


class _Joined(NamedTuple):
    """Several attacks as one: the outcomes and symbols of each are numbered on from the last one's.

    `starts` are the first symbol of each and the end, `sources` the numbered outcomes, and the shares of one add to 1.
    """

    starts: Places
    suspects: Places
    outcomes: Places
    sources: Places
    symbols: Places
    shares: FloatArray

    @classmethod
    def of(cls, proofs: list[LowerProof], outcomes: int) -> _Joined:
        attacks = [proof.attack for proof in proofs]
        starts = np.cumsum([0, *(len(proof.suspects) for proof in proofs)])
        suspects = [_NOBODY if one is None else one for proof in proofs for one in proof.suspects]
        part = np.repeat(np.arange(len(proofs)), [len(attack.shares) for attack in attacks])
        own = np.concatenate([attack.outcomes for attack in attacks])
        sources = own + part * outcomes
        symbols = np.concatenate([attack.symbols for attack in attacks]) + starts[part]
        shares = np.concatenate([attack.shares for attack in attacks])
        shares = shares / np.bincount(sources, shares)[sources]
        return cls(starts, np.array(suspects, dtype=np.intp), own, sources, symbols, shares)


def _attacks_hold(proofs: list[LowerProof], release: FloatRelease) -> list[bool]:
    starts, suspects, outcomes, sources, symbols, shares = _Joined.of(proofs, len(release.marginal))
    size = len(suspects)
    entries = np.bincount(symbols, minlength=size)
    idle = (suspects == _NOBODY) | (entries == 0)
    terms = int(np.bincount(sources).max()) + int(entries[~idle].max(initial=0))
    error = 2 * (release.error + gamma(terms + 8))
    weight = np.bincount(symbols, shares * release.marginal[outcomes], size)
    likelihood = np.bincount(symbols, shares * release.matrix[suspects[symbols], outcomes], size)
    ratio = np.repeat([_float(proof.ratio) * (1 + 4 * UNIT) for proof in proofs], np.diff(starts))
    enough = likelihood * (1 - error) >= ratio * weight * (1 + error)
    enough &= np.minimum(weight, likelihood) > _NORMAL
    reach = np.logical_and.reduceat(enough | idle, starts[:-1]).tolist()
    weight[idle] = 0.0
    masses = [
        math.fsum(own.tolist()) * (1 - error) * (1 - 4 * UNIT) for own in np.split(weight, starts[1:-1])
    ]
    wanted = [_float(proof.mass) * (1 + 4 * UNIT) for proof in proofs]
    return [every and mass >= least for every, mass, least in zip(reach, masses, wanted, strict=True)]


def _float(value: Any) -> float:
    """The nearest float; NaN, which proves nothing, where there is none."""
    try:
        return float(value)
    except OverflowError:
        return math.nan
