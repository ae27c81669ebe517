"""The proof of an envelope checked in floats, with a bound on every rounding: it surely holds, or floats cannot tell.

For many proofs about one release; what floats cannot tell is for rationals to decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

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

_FEW, _NOBODY = 8, -1
_NORMAL, _ABSOLUTE = 1e-280, 1e-290  # floats below the first are not trusted, nor digits below the second


@dataclass(frozen=True, slots=True)
class FloatRelease:
    """K, its rows of possible secrets, q within a relative `error`, all in floats, `trusted` if none is too small."""

    trusted: bool
    matrix: FloatArray
    possible: NDArray[np.bool_]
    possible_rows: FloatArray
    marginal: FloatArray
    error: float
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
        return cls(
            trusted, matrix, possible, matrix[possible], marginal, gamma(6), channel.outputs, stored, masses
        )

    def has_lift_at_most(self, ratio: Fraction, place: int) -> bool:
        """Whether no possible secret makes an outcome likelier by more, in rationals."""
        chances = [Fraction(entry) for entry in self.stored[:, place].tolist()]
        pairs = [pair for pair in zip(self.masses.tolist(), chances, strict=True) if pair[0]]
        marginal = sum((Fraction(mass) * chance for mass, chance in pairs), Fraction(0))
        return max(chance for _, chance in pairs) <= ratio * marginal


def surely_holds(certificate: EnvelopeCertificate, release: FloatRelease) -> bool:
    """Whether floats are enough to see that both ends hold; False says nothing."""
    try:
        if not release.trusted or min(float(certificate.upper.mass), float(certificate.lower.mass)) < _NORMAL:
            return False
        with np.errstate(all="ignore"):
            return _upper_holds(certificate.upper, release) and _lower_holds(certificate.lower, release)
    except OverflowError:  # a number that no float holds
        return False


def _upper_holds(proof: UpperProof, release: FloatRelease) -> bool:
    if proof.multipliers is None:
        return _no_lift_above(proof.ratio, release)
    if len(proof.multipliers) != len(release.possible) or proof.ratio <= 0:
        return False
    slopes = np.array(proof.multipliers, dtype=np.float64)
    if not 0 <= slopes.min() <= slopes.max() < math.inf:  # NaN is not
        return False
    matrix, slopes = release.possible_rows, slopes[release.possible, None]
    if not slopes.min() > 0:
        return False
    taken = slopes * float(proof.ratio)
    error = release.error + 32 * UNIT
    of_marginal = (1 - taken) + error * (1 + taken)
    terms = slopes * (1 + error) * matrix
    terms += of_marginal * release.marginal
    peaks = np.maximum.reduce(terms, axis=0) + _ABSOLUTE * (1 + slopes + taken).max()  # NaN stays NaN
    total = math.fsum(np.maximum(peaks, 0.0).tolist()) * (1 + 8 * UNIT)
    return total <= _below(proof.mass)


def _no_lift_above(ratio: Fraction, release: FloatRelease) -> bool:
    """In floats where they tell, exactly for the few outcomes where they do not: the worst one has that very lift."""
    peaks, error = release.possible_rows.max(axis=0), release.error + 32 * UNIT
    surely = peaks * (1 + error) <= float(ratio) * (1 - error) * release.marginal
    unsure = np.flatnonzero(~surely & (peaks > 0)).tolist()
    return len(unsure) <= _FEW and all(release.has_lift_at_most(ratio, place) for place in unsure)


def _lower_holds(proof: LowerProof, release: FloatRelease) -> bool:
    attack = proof.attack
    if release.outputs.given and attack.inputs != release.outputs:
        return False
    if attack.shares.dtype != np.float64 or attack.shape != (len(release.marginal), len(proof.suspects)):
        return False
    suspects = np.array([_NOBODY if suspect is None else suspect for suspect in proof.suspects])
    pointing = suspects >= 0
    if np.count_nonzero(pointing) + proof.suspects.count(None) < len(suspects):
        return False
    if not (suspects.max() < len(release.possible) and release.possible[suspects[pointing]].all()):
        return False
    outcomes, symbols = attack.outcomes, attack.symbols
    shares = attack.shares / np.bincount(outcomes, attack.shares)[outcomes]
    entries = np.bincount(symbols, minlength=len(suspects))
    error = 2 * (release.error + gamma(int(np.bincount(outcomes).max() + entries.max()) + 8))
    used = pointing & (entries > 0)
    weight = np.bincount(symbols, shares * release.marginal[outcomes], len(suspects))[used]
    likelihood = np.bincount(symbols, shares * release.matrix[suspects[symbols], outcomes], len(suspects))[
        used
    ]
    if not min(weight.min(initial=1.0), likelihood.min(initial=1.0)) > _NORMAL:
        return False
    enough = likelihood * (1 - error) >= float(proof.ratio) * (1 + 4 * UNIT) * weight * (1 + error)
    reached = math.fsum(weight.tolist()) * (1 - error) * (1 - 4 * UNIT)
    return bool(enough.all()) and reached >= float(proof.mass) * (1 + 4 * UNIT)


def _below(value: Any) -> float:
    """A float that is no more."""
    return float(value) * (1 - 4 * UNIT)
