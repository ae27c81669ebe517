"""The proof of both ends of the envelope of randomised response, in a few numbers.

Notation: K_xx = α, K_xy = β ≤ α, p the masses as stored, S = Σ p, so that P(y) = q_y = βS + (α − β) p_y.
Fix a ratio T. An outcome y is *its own suspect* where p_y > 0 and T q_y ≤ α: shown as it is, it leaks log T
and has α − T q_y to spare. Joined to the symbol of another secret, an outcome uses up T q_y − β.

Lower end. Every outcome that may be its own suspect is one. Of the others, those with p below a `frontier`
are joined to them, and a `fraction` of those at the frontier. What is spared pays for what is used up, and
everything covered has probability δ or more. Spare can be split at will, so one sum checks all symbols.

Upper end. For a `price` μ > 0 and T q_y ≥ β everywhere, no post-processing leaks more than log T with
probability δ if
    Σ_{p_y > 0, T q_y < α} (q_y + μ(α − T q_y)) + Σ_{other y} max(0, q_y − μ(T q_y − β)) ≤ δ.
These are the general multipliers λ_x = μ for outcomes of the first sum, λ_x = μ(T q_x − β)/(T q_x − α) for
the others, in the limit from above; the sum falls as T grows, so that no larger ratio reaches δ. Without a
price the proof is that the first sum is empty: no lift exceeds T.

All sums are over sets {p below a number}, so k outcomes cost k exact additions.

Masses of very many secrets: sums and comparisons are exact, and go through arrays. A float is what it stores. Rationals
are counted in a common unit, since whole numbers are far faster than Fractions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from tightlip.certificate.base import kind_digest
from tightlip.certificate.envelope import KIND, EnvelopeProof
from tightlip.errors import CertificateInvalid, WrongType, quoted
from tightlip.measures.joint import exact_sum
from tightlip.model.channel import Channel, align
from tightlip.model.jsonio import check_keys
from tightlip.model.labels import Label
from tightlip.model.matrix import dense
from tightlip.model.prior import Prior
from tightlip.numeric.display import format_exactly
from tightlip.numeric.parse import exact_text, number

Pair = tuple[Fraction, Fraction]
_TOLERANCE = Fraction(1, 10**9)
Mask = NDArray[np.bool_]

_MOST_UNITS = 2**61  # so that sums of masses, 1 or about 1 together, are 64-bit numbers


@dataclass(frozen=True, slots=True)
class ResponseUpperProof:
    """No post-processing leaks more than log(ratio) with probability δ; a price of None: no lift is above it."""

    ratio: Fraction
    price: Fraction | None


@dataclass(frozen=True, slots=True)
class ResponseLowerProof:
    """Outcomes of prior mass below `frontier`, and a `fraction` of those at it, are joined to the suspects."""

    ratio: Fraction
    frontier: Fraction
    fraction: Fraction


@dataclass(frozen=True, slots=True)
class RandomizedResponseCertificate(EnvelopeProof):
    """Both ends of ε(δ), with the two entries of the channel and the prior they are about.

    A δ above the probability of all outcomes (1 up to the rounding of stored floats) means that probability.
    """

    FORMAT: ClassVar[str] = "tightlip randomized response certificate 2"
    KINDS: ClassVar[tuple[str, ...]] = (KIND,)
    KEYS: ClassVar[frozenset[str]] = frozenset({"alpha", "beta", "prior", "delta", "upper", "lower"})
    ABOUT: ClassVar[str] = "channel and prior"

    alpha: Fraction
    beta: Fraction
    prior: Prior
    delta: Fraction
    upper: ResponseUpperProof
    lower: ResponseLowerProof

    @property
    def kind(self) -> Literal["envelope"]:
        """The number that it bounds: ε(δ) against any post-processing, as of other channels."""
        return KIND

    @property
    def attack(self) -> None:
        """None: the lower end is proved by a formula, and no attack is written out."""

    def verify(self) -> None:
        """Check both ends in rational arithmetic, with O(k) operations and no solver.

        Raises
        ------
        CertificateInvalid
            Naming the inequality that fails.
        """
        outcomes = Outcomes.of(self.alpha, self.beta, self.prior)
        _check_response(outcomes)
        if not 0 < self.delta <= 1:
            raise CertificateInvalid(f"delta must be in (0, 1], got {_about(self.delta)}.")
        mass = min(self.delta, outcomes.weigh(outcomes.everything())[1])
        _check_upper(self.upper, outcomes, mass)
        _check_lower(self.lower, outcomes, mass)

    @property
    def probability(self) -> Fraction:
        """δ."""
        return self.delta

    def upper_at(self, delta: Fraction) -> Fraction | None:
        """Tell what the upper end proves of e^ε at a probability; None if nothing."""
        return self.upper.ratio if self.delta <= delta else None

    def lower_at(self, delta: Fraction) -> Fraction:
        """Tell what the lower end proves of e^ε at a probability; see the certificate of other channels."""
        return self.lower.ratio * min(self.delta / delta, Fraction(1))

    def digest(self) -> str:
        """Hash the kind, the two entries and the prior that the proof is about."""
        return response_digest(self.alpha, self.beta, self.prior)

    def digest_for(self, channel: Channel, prior: Prior | None, secret: Sequence[Label] | None) -> str | None:
        """Hash the kind, the two entries and the prior of a file; None for a channel of another form."""
        pair = response_pair(channel)
        return None if pair is None or prior is None else response_digest(*pair, align(prior, channel))

    def is_about(self, channel: Channel) -> bool:
        """Whether the channel is randomised response with these entries."""
        return response_pair(channel) == (self.alpha, self.beta)

    def parts(self) -> dict[str, Any]:
        """Write the two entries, the prior, δ and both ends as JSON values."""
        price = self.upper.price
        return {
            "alpha": exact_text(self.alpha),
            "beta": exact_text(self.beta),
            "prior": self.prior.to_dict(),
            "delta": exact_text(self.delta),
            "upper": {
                "ratio": exact_text(self.upper.ratio),
                "price": None if price is None else exact_text(price),
            },
            "lower": {
                "ratio": exact_text(self.lower.ratio),
                "frontier": exact_text(self.lower.frontier),
                "fraction": exact_text(self.lower.fraction),
            },
        }

    @classmethod
    def from_parts(cls, record: dict[str, Any]) -> RandomizedResponseCertificate:
        """Read what `parts` wrote."""
        upper = check_keys(record["upper"], "upper", {"ratio", "price"}, set())
        lower = check_keys(record["lower"], "lower", {"ratio", "frontier", "fraction"}, set())
        price = upper["price"]
        return cls(
            _read(record["alpha"], "alpha"),
            _read(record["beta"], "beta"),
            Prior.from_json(json.dumps(record["prior"])),
            _read(record["delta"], "delta"),
            ResponseUpperProof(
                _read(upper["ratio"], "ratio"), None if price is None else _read(price, "price")
            ),
            ResponseLowerProof(*(_read(lower[key], key) for key in ("ratio", "frontier", "fraction"))),
        )


def response_pair(channel: Channel) -> Pair | None:
    """Read the two entries (α, β) of a channel that is randomised response, as stored; None for other channels."""
    if not isinstance(channel, Channel):
        raise WrongType(f"channel must be a Channel, got {quoted(channel)}; write Channel(rows).")
    size = channel.shape[0]
    if size < 2 or channel.shape[1] != size or (channel.is_sparse and size < channel.floats.nnz < size**2):
        return None
    matrix = channel.matrix
    alpha, beta = Fraction(matrix[0, 0]), Fraction(matrix[0, 1])
    if not alpha or alpha < beta or not bool((matrix.diagonal() == matrix[0, 0]).all()):
        return None
    if channel.is_sparse and channel.floats.nnz == size:  # the diagonal alone
        return alpha, beta
    if np.count_nonzero(dense(matrix) == matrix[0, 1]) != (
        size * size if alpha == beta else size * size - size
    ):
        return None
    return alpha, beta


def response_digest(alpha: Fraction, beta: Fraction, prior: Prior) -> str:
    """Hash (SHA-256) the kind, the two entries of randomised response and the prior."""
    entries = [exact_text(alpha), exact_text(beta)]
    return kind_digest(KIND, {"entries": entries, "prior": prior.to_dict()["prior"]})


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The outcomes of randomised response by the prior mass of their secrets; every number is exact."""

    alpha: Fraction
    beta: Fraction
    masses: Masses
    total: Fraction

    @classmethod
    def of(cls, alpha: Fraction, beta: Fraction, prior: Prior) -> Outcomes:
        """Outcomes in the order of the secrets."""
        masses = Masses.of(prior.masses)
        return cls(alpha, beta, masses, masses.total())

    def probability(self, mass: Fraction) -> Fraction:
        """P(y) = βS + (α − β)·mass."""
        return self.beta * self.total + (self.alpha - self.beta) * mass

    def everything(self) -> Mask:
        """Choose all outcomes."""
        return np.ones(len(self.masses), dtype=np.bool_)

    def own_suspects(self, ratio: Fraction, *, spare: bool = False) -> Mask:
        """Outcomes with p_y > 0 that leak log(ratio) as they are; with something to spare, if asked."""
        below = self.below(self.alpha / ratio, inclusive=not spare)
        return self.masses.positive() & below

    def below(self, probability: Fraction, *, inclusive: bool) -> Mask:
        """Outcomes of a smaller probability, or one at most as large."""
        if self.alpha == self.beta:
            flat = self.beta * self.total
            return np.full(len(self.masses), flat <= probability if inclusive else flat < probability)
        bound = (probability - self.beta * self.total) / (self.alpha - self.beta)
        return self.masses.at_most(bound) if inclusive else self.masses.below(bound)

    def weigh(self, mask: Mask) -> tuple[int, Fraction]:
        """Count outcomes and add up their probability."""
        count = int(mask.sum())
        flat = count * self.beta * self.total
        return count, flat + (self.alpha - self.beta) * self.masses.total(mask)


def _check_response(outcomes: Outcomes) -> None:
    alpha, beta = outcomes.alpha, outcomes.beta
    total = alpha + (len(outcomes.masses) - 1) * beta
    if not 0 <= beta <= alpha or abs(total - 1) > _TOLERANCE:
        raise CertificateInvalid(
            f"the channel must have 0 ≤ beta ≤ alpha and rows that sum to 1, got alpha={_about(alpha)}, "
            f"beta={_about(beta)} and rows that sum to {_about(total)}."
        )


def _check_upper(proof: ResponseUpperProof, outcomes: Outcomes, mass: Fraction) -> None:
    ratio, price = proof.ratio, proof.price
    if ratio <= 0 or ratio * outcomes.probability(outcomes.masses.least()) < outcomes.beta:
        raise CertificateInvalid(f"upper end fails: ratio {_about(ratio)} is below a lift of β/q.")
    own = outcomes.own_suspects(ratio, spare=True)
    if price is None:
        if own.any():
            raise CertificateInvalid(
                f"upper end fails: {int(own.sum())} outcomes have a lift above {_about(ratio)}."
            )
        return
    if price <= 0:
        raise CertificateInvalid(f"upper end fails: the price must be positive, got {_about(price)}.")
    count, weight = outcomes.weigh(own)
    value = weight + price * (count * outcomes.alpha - ratio * weight)
    others = ~own
    if price * ratio > 1:  # otherwise every other outcome has a positive term
        others &= outcomes.below(price * outcomes.beta / (price * ratio - 1), inclusive=False)
    count, weight = outcomes.weigh(others)
    value += weight * (1 - price * ratio) + count * price * outcomes.beta
    if value > mass:
        raise CertificateInvalid(
            f"upper end fails: the price proves a probability of {_about(value)} at most, not {_about(mass)}."
        )


def _check_lower(proof: ResponseLowerProof, outcomes: Outcomes, mass: Fraction) -> None:
    if proof.ratio <= 0 or not 0 <= proof.fraction <= 1:
        raise CertificateInvalid(
            f"lower end fails: the ratio must be positive and the fraction in [0, 1], "
            f"got {_about(proof.ratio)} and {_about(proof.fraction)}."
        )
    own, full, part = coverage(proof, outcomes)
    if not own.any():
        raise CertificateInvalid(f"lower end fails: no outcome has a lift of {_about(proof.ratio)}.")
    suspects, reached = outcomes.weigh(own)
    spare = suspects * outcomes.alpha - proof.ratio * reached
    joined, weight = outcomes.weigh(full)
    ties, tied = outcomes.weigh(part)
    covered = weight + proof.fraction * tied
    used = proof.ratio * covered - outcomes.beta * (joined + proof.fraction * ties)
    if used > spare:
        raise CertificateInvalid(
            f"lower end fails: the joined outcomes use up {_about(used)}, the suspects spare {_about(spare)}."
        )
    if reached + covered < mass:
        raise CertificateInvalid(
            f"lower end fails: the attack has probability {_about(reached + covered)}, not {_about(mass)}."
        )


def coverage(proof: ResponseLowerProof, outcomes: Outcomes) -> tuple[Mask, Mask, Mask]:
    """Split outcomes: those that are their own suspects, that are joined whole, and that are joined in part."""
    own = outcomes.own_suspects(proof.ratio)
    full = outcomes.masses.below(proof.frontier) & ~own
    part = outcomes.masses.at_most(proof.frontier) & ~own & ~full
    return own, full, part


def _read(value: object, name: str) -> Fraction:
    return Fraction(number(value, name))


def _about(value: Fraction) -> str:
    return format_exactly(value)


@dataclass(frozen=True, slots=True)
class Masses:
    """Each mass is `values[place]·unit`: a whole number of units, or a float with unit 1.

    >>> masses = Masses.of(np.array([Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)], dtype=object))
    >>> masses.values, masses.unit
    (array([1, 2, 3]), Fraction(1, 6))
    >>> masses.below(Fraction(1, 3)), masses.total(masses.at_most(Fraction(1, 3)))
    (array([ True, False, False]), Fraction(1, 2))
    """

    values: NDArray[Any]
    unit: Fraction

    @classmethod
    def of(cls, masses: NDArray[Any]) -> Masses:
        """Read floats or Fractions."""
        if masses.dtype != object:
            return cls(masses, Fraction(1))
        numerators = [mass.numerator for mass in masses.tolist()]
        denominators = [mass.denominator for mass in masses.tolist()]
        units = math.lcm(*set(denominators))
        whole = np.int64 if units < _MOST_UNITS else object
        counts = np.array(numerators, dtype=whole) * (units // np.array(denominators, dtype=whole))
        return cls(counts, Fraction(1, units))

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: int) -> Fraction:
        return (
            Fraction(self.values[place].item() if self.values.dtype != object else self.values[place])
            * self.unit
        )

    def least(self) -> Fraction:
        """Find the smallest."""
        return self[int(self.values.argmin())]

    def sort_positive(self) -> Masses:
        """Sort the positive ones in ascending order."""
        return Masses(np.sort(self.values[self.positive()]), self.unit)

    def positive(self) -> Mask:
        """Which are."""
        return np.asarray(self.values > 0, dtype=np.bool_)

    def total(self, chosen: Mask | slice | None = None) -> Fraction:
        """Add up all or of some, without rounding."""
        values = self.values if chosen is None else self.values[chosen]
        return exact_sum(values) if values.dtype == np.float64 else int(values.sum()) * self.unit

    def at_most(self, bound: Fraction) -> Mask:
        """Which are no more than a bound, decided exactly."""
        return np.asarray(self.values <= self._threshold(bound, -math.inf), dtype=np.bool_)

    def below(self, bound: Fraction) -> Mask:
        """Which are less than a bound, decided exactly."""
        return np.asarray(self.values < self._threshold(bound, math.inf), dtype=np.bool_)

    def _threshold(self, bound: Fraction, side: float) -> float | int:
        """Find the nearest float, or whole number of units, on one side of the bound: no other lies between."""
        clipped = min(max(bound, Fraction(-2)), Fraction(2))  # masses are in [0, 1]
        if self.values.dtype != np.float64:
            return math.floor(clipped / self.unit) if side < 0 else math.ceil(clipped / self.unit)
        nearest = float(clipped)
        wrong = Fraction(nearest) > clipped if side < 0 else Fraction(nearest) < clipped
        return math.nextafter(nearest, side) if wrong else nearest
