"""The proof of both ends of an envelope.

Notation: K channel, p prior, q_y = Σ_x p_x K_xy, all as the rationals that are stored.

Upper end. For multipliers λ_x ≥ 0 and a ratio T > 0, no post-processing Z of Y has
    P{ℓ(Z) ≥ log T} > Σ_y max(0, max_x λ_x K_xy + (1 − λ_x T) q_y).
Without multipliers the proof is that no outcome has a lift above T.

Lower end. A post-processing W (the attack) and for some of its symbols z a suspected secret x(z) with
    Σ_y W_yz (K_{x(z) y} − T q_y) ≥ 0,   so that ℓ(z) ≥ log T,
whose symbols have probability Σ_z Σ_y q_y W_yz of at least the mass claimed.
"""

from __future__ import annotations

import json
import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

import numpy as np

from tightlip.certificate.attack import Attack
from tightlip.certificate.base import Certificate, Claim, channel_json, kind_digest
from tightlip.certificate.rational import LARGEST, NORMAL, RationalRelease, Scaled, rational, to_float
from tightlip.errors import CertificateInvalid, quoted
from tightlip.model.channel import Channel, align
from tightlip.model.jsonio import number_to_json
from tightlip.model.labels import Label, Labels
from tightlip.model.prior import Prior
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.display import format_exactly
from tightlip.numeric.parse import number
from tightlip.numeric.rounding import UNIT, gamma

KIND: Final = "envelope"
_RANGE = Fraction(1, 10**300), Fraction(10**300)
# of the filter: so close, and so few, lifts are compared exactly
_CLOSE, _FEW = 2.0**-48, 8
_MULTIPLIERS = "upper end fails: there must be one multiplier for each secret, positive for possible ones."


@dataclass(frozen=True, slots=True)
class UpperProof:
    """No post-processing leaks more than log(ratio) with probability `mass` or more.

    `multipliers` has one number for each secret of the channel, a float being what it stores; None means that no
    lift exceeds the ratio.
    """

    ratio: Fraction
    mass: Fraction
    multipliers: tuple[Fraction | float, ...] | None


@dataclass(frozen=True, slots=True)
class LowerProof:
    """The attack leaks at least log(ratio) with probability at least `mass`.

    `suspects` has, for each symbol of the attack, the position of the secret it points to, or None.
    """

    ratio: Fraction
    mass: Fraction
    attack: Attack
    suspects: tuple[int | None, ...]


class EnvelopeProof(Certificate):
    """A proof of both ends of an envelope ε(δ), each of which has a `ratio` e^ε."""

    __slots__ = ()

    if TYPE_CHECKING:  # fields of the dataclasses below

        @property
        def prior(self) -> Prior:
            """The prior that it is about."""

        @property
        def lower(self) -> Any:
            """The proof of the lower end."""

        @property
        def upper(self) -> Any:
            """The proof of the upper end."""

    @property
    @abstractmethod
    def attack(self) -> Channel | None:
        """The post-processing that reaches the lower end, where it is written out."""

    @property
    @abstractmethod
    def probability(self) -> Fraction:
        """The δ that the upper end is about; 0 if it is about every post-processing."""

    @abstractmethod
    def upper_at(self, delta: Fraction) -> Fraction | None:
        """Tell what the upper end proves of e^ε at a probability; None if nothing."""

    @abstractmethod
    def lower_at(self, delta: Fraction) -> Fraction:
        """Tell what the lower end proves of e^ε at a probability."""

    @abstractmethod
    def is_about(self, channel: Channel) -> bool:
        """Whether the channel is the one that the proof is about."""

    @property
    def needs_prior(self) -> bool:
        """An envelope is one of a channel and a prior."""
        return True

    def claim(self) -> Claim:
        """Tell both ends at the probability of the upper one."""
        delta = self.probability
        lower, upper = self.ends_at(delta)
        return Claim(self.kind, lower, upper, delta=delta)

    def ends_at(self, delta: Fraction) -> tuple[float, float]:
        """Tell what a proof that holds says of ε(δ), in nats: the lower end rounded down, the upper one up.

        At δ = 0 the upper end is what no post-processing exceeds at all, and the lower end is 0.

        Raises
        ------
        CertificateInvalid
            If it proves no upper end at this probability, or δ is no probability.
        """
        most = self.upper_at(delta) if 0 <= delta <= 1 else None
        if most is None:
            raise CertificateInvalid(f"the certificate proves no upper end at δ = {format_exactly(delta)}.")
        least = self.lower_at(delta) if delta else 0
        low = log_bounds(Fraction(least))[0] if least > 1 else 0.0  # a release that says nothing leaks 0
        high = max(log_bounds(most)[1], 0.0)
        if low > high:
            raise CertificateInvalid(f"the certificate contradicts itself: {low!r} to {high!r} nats.")
        return low, high


@dataclass(frozen=True, slots=True)
class EnvelopeCertificate(EnvelopeProof):
    """Both ends, with the channel and the prior they are about."""

    FORMAT: ClassVar[str] = "tightlip envelope certificate 2"
    KINDS: ClassVar[tuple[str, ...]] = (KIND,)
    KEYS: ClassVar[frozenset[str]] = frozenset({"channel", "prior", "upper", "lower"})
    ABOUT: ClassVar[str] = "channel and prior"

    channel: Channel
    prior: Prior
    upper: UpperProof
    lower: LowerProof

    @property
    def kind(self) -> Literal["envelope"]:
        """The number that it bounds: ε(δ) against any post-processing."""
        return KIND

    def verify(self) -> None:
        """Check both ends in rational arithmetic.

        Raises
        ------
        CertificateInvalid
            Naming the inequality that fails.
        """
        self.verify_for(RationalRelease.of(self.channel, self.prior))

    def verify_for(self, release: RationalRelease, *, filtered: bool = False) -> None:
        """Check both ends against a channel and prior that were made rational before, once for several proofs.

        With a filter, floats with a bound on every rounding are asked first, and rationals where these cannot tell.
        """
        if filtered and self.surely_holds(release):
            return
        _check_upper(self.upper, release)
        _check_lower(self.lower, release, self.channel, self._names())

    def surely_holds(self, release: RationalRelease) -> bool:
        """Filter in floats: True only if both ends hold; False says nothing. Names of symbols are not looked at."""
        with np.errstate(all="ignore"):
            return (
                release.normal
                and _upper_surely_holds(self.upper, release)
                and _lower_surely_holds(self.lower, release, self.channel)
            )

    @property
    def probability(self) -> Fraction:
        """The mass of the upper end."""
        return self.upper.mass

    def upper_at(self, delta: Fraction) -> Fraction | None:
        """Tell what the upper end proves of e^ε at a probability; None if nothing."""
        return self.upper.ratio if self.upper.multipliers is None or self.upper.mass <= delta else None

    def lower_at(self, delta: Fraction) -> Fraction:
        """Tell what the lower end proves of e^ε at a probability.

        An attack of too small a mass m grows to δ by taking more of the rest: its ratios fall by m/δ at most.
        """
        mass = self.lower.mass
        if mass >= delta or mass >= RationalRelease.of(self.channel, self.prior).total():
            return self.lower.ratio
        return self.lower.ratio * mass / delta

    @property
    def attack(self) -> Channel:
        """The post-processing that reaches the lower end."""
        return self.lower.attack.channel

    def _names(self) -> Labels:
        """The names of secrets: the prior's where the channel has none."""
        return self.channel.inputs if self.channel.inputs.given else self.prior.labels

    def digest(self) -> str:
        """Hash the kind, the channel and the prior that the proof is about."""
        return input_digest(self.kind, self.channel, self.prior)

    def digest_for(self, channel: Channel, prior: Prior | None, secret: Sequence[Label] | None) -> str | None:
        """Hash the kind, the channel and the prior of a file."""
        return None if prior is None else input_digest(self.kind, channel, prior)

    def is_about(self, channel: Channel) -> bool:
        """Whether the channel is the same."""
        return self.channel == channel

    def parts(self) -> dict[str, Any]:
        """Write the channel, the prior and both ends as JSON values."""
        return {
            "channel": self.channel.to_dict(),
            "prior": self.prior.to_dict(),
            "upper": {
                "ratio": _number(self.upper.ratio),
                "mass": _number(self.upper.mass),
                "multipliers": _numbers(self.upper.multipliers),
            },
            "lower": {
                "ratio": _number(self.lower.ratio),
                "mass": _number(self.lower.mass),
                "attack": self.attack.to_dict(),
                "suspects": list(self.lower.suspects),
            },
        }

    @classmethod
    def from_parts(cls, record: dict[str, Any]) -> EnvelopeCertificate:
        """Read what `parts` wrote."""
        channel = Channel.from_dict(record["channel"])
        prior = Prior.from_json(json.dumps(record["prior"]))
        upper, lower = record["upper"], record["lower"]
        multipliers = upper["multipliers"]
        return cls(
            channel,
            prior,
            UpperProof(
                _read(upper["ratio"]),
                _read(upper["mass"]),
                None if multipliers is None else tuple(_read(value) for value in multipliers),
            ),
            LowerProof(
                _read(lower["ratio"]),
                _read(lower["mass"]),
                Attack.of(Channel.from_dict(lower["attack"])),
                tuple(_suspect(place) for place in lower["suspects"]),
            ),
        )


def input_digest(kind: str, channel: Channel, prior: Prior) -> str:
    """Hash (SHA-256) a kind of envelope, a channel and a prior, in the channel's order of secrets."""
    aligned = align(prior, channel)
    return kind_digest(kind, {"channel": channel_json(channel), "prior": aligned.to_dict()["prior"]})


def _read(value: Any) -> Fraction:
    return Fraction(number(value, "certificate"))


def _suspect(place: Any) -> int | None:
    if place is not None and (isinstance(place, bool) or not isinstance(place, int)):
        raise ValueError(f"a suspect must be a whole number or null, got {quoted(place)}")
    return place


def _number(value: Fraction) -> float | str:
    """Write a float where the rational is one exactly, text otherwise."""
    if not _RANGE[0] < value < _RANGE[1]:
        return number_to_json(value)
    nearest = float(value)
    return nearest if Fraction(nearest) == value else number_to_json(value)


def _numbers(values: tuple[Fraction | float, ...] | None) -> list[float | str] | None:
    return None if values is None else [_number(Fraction(value)) for value in values]


def _check_upper(proof: UpperProof, release: RationalRelease) -> None:
    if proof.multipliers is None:
        ratio = rational(proof.ratio)
        for place, (peak, mass) in enumerate(zip(release.peaks(), release.marginal, strict=True)):
            if mass and peak > ratio * mass:
                raise CertificateInvalid(
                    f"upper end fails: outcome {place} has lift {_about(peak / mass)} above {_about(ratio)}."
                )
        return
    if not all(isinstance(value, Fraction) or math.isfinite(value) for value in proof.multipliers):
        raise CertificateInvalid(_MULTIPLIERS)
    if len(proof.multipliers) != len(release.masses) or min(proof.multipliers) < 0 or proof.ratio <= 0:
        raise CertificateInvalid(_MULTIPLIERS)
    possible = [proof.multipliers[place] for place in release.possible.tolist()]
    if min(possible) <= 0:
        raise CertificateInvalid(_MULTIPLIERS)
    total = release.dual_value(possible, proof.ratio)
    if total > rational(proof.mass):
        raise CertificateInvalid(
            f"upper end fails: the multipliers prove a probability of {_about(total)}, not {_about(proof.mass)}."
        )


def _upper_surely_holds(proof: UpperProof, release: RationalRelease) -> bool:
    if proof.multipliers is None:
        return _no_lift_above(proof.ratio, release)
    multipliers = np.array(proof.multipliers)
    # rational ones are left to the rational check
    if multipliers.dtype != np.float64 or len(multipliers) != len(release.masses):
        return False
    # NaN is not
    if not 0 <= multipliers.min() <= multipliers.max() < math.inf:
        return False
    if not (proof.ratio > 0 and NORMAL < to_float(proof.mass) < LARGEST):
        return False
    possible = multipliers[release.possible]
    return possible.min() > 0 and release.dual_surely_below(possible, proof.ratio, proof.mass)


def _no_lift_above(ratio: Fraction, release: RationalRelease) -> bool:
    """Compare in floats where they tell, exactly for the few outcomes where they do not: the worst has that lift."""
    nearest, masses = float(min(ratio, _RANGE[1])), release.approximate_marginal
    peaks = release.matrix[release.possible].max(axis=0).astype(np.float64)
    unsure = np.flatnonzero(~(peaks * (1 + _CLOSE) <= nearest * masses * (1 - _CLOSE)))
    return len(unsure) <= _FEW and all(
        release.peak(outcome) <= rational(ratio) * release.marginal[outcome] for outcome in unsure.tolist()
    )


def _lower_surely_holds(proof: LowerProof, release: RationalRelease, channel: Channel) -> bool:
    """Check Σ_y W_yz K_xy ≥ T Σ_y W_yz q_y and the mass, with γ_n for the n roundings of each term and sum."""
    attack, possible = proof.attack, {None, *release.possible.tolist()}
    if channel.outputs.given and attack.inputs != channel.outputs:
        return False
    if attack.shares.dtype != np.float64 or attack.shape != (len(release.marginal), len(proof.suspects)):
        return False
    ratio, wanted = to_float(proof.ratio), to_float(proof.mass)
    if not (possible.issuperset(proof.suspects) and NORMAL < wanted < 2 and 0 < ratio < LARGEST):
        return False
    outcomes, symbols, size = attack.outcomes, attack.symbols, len(proof.suspects)
    suspects = np.array([-1 if suspect is None else suspect for suspect in proof.suspects], dtype=np.intp)
    counts = np.bincount(symbols, minlength=size)
    blamed = (suspects >= 0) & (counts > 0)
    shares = attack.shares / np.bincount(outcomes, attack.shares)[outcomes]
    chances = release.matrix[suspects[symbols], outcomes].astype(np.float64, copy=False)
    weight = np.bincount(symbols, shares * release.approximate_marginal[outcomes], size)[blamed]
    likelihood = np.bincount(symbols, shares * chances, size)[blamed]
    if not np.minimum(weight, likelihood).min(initial=1.0) > NORMAL:
        return False
    terms = int(np.bincount(outcomes).max()) + int(counts[blamed].max(initial=0))
    error = 2 * gamma(terms + 8)
    reaches = likelihood * (1 - error) >= ratio * (1 + 4 * UNIT) * weight * (1 + error)
    mass = math.fsum(weight.tolist()) * (1 - error) * (1 - 4 * UNIT)
    return bool(reaches.all()) and mass >= wanted * (1 + 4 * UNIT)


def _check_lower(proof: LowerProof, release: RationalRelease, channel: Channel, names: Labels) -> None:
    attack = proof.attack
    if channel.outputs.given and attack.inputs != channel.outputs:
        raise CertificateInvalid(
            "lower end fails: the attack's inputs must be the channel's outputs, in their order."
        )
    if attack.shape != (len(release.marginal), len(proof.suspects)):
        raise CertificateInvalid(
            f"lower end fails: the attack must map {len(release.marginal)} outcomes to {len(proof.suspects)} symbols, "
            f"got {attack.shape}."
        )
    if proof.ratio < 0 or proof.mass < 0:
        raise CertificateInvalid(
            "lower end fails: its ratio and its probability must not be negative, "
            f"got {_about(proof.ratio)} and {_about(proof.mass)}."
        )
    _check_suspects(proof, release, names)
    likelihoods, weights = _symbol_sums(proof, release)
    above, below = proof.ratio.numerator * likelihoods.unit, proof.ratio.denominator * weights.unit
    for symbol, (likelihood, weight) in enumerate(zip(likelihoods.parts, weights.parts, strict=True)):
        if likelihood * below < weight * above:
            reached = Fraction(weights.unit, likelihoods.unit) * _fraction(likelihood) / _fraction(weight)
            raise CertificateInvalid(
                f"lower end fails: symbol {symbol} has ratio {_about(reached)}, not {_about(proof.ratio)}."
            )
    mass = sum(weights.parts)
    if mass * proof.mass.denominator < proof.mass.numerator * weights.unit:
        raise CertificateInvalid(
            f"lower end fails: the attack has probability {_about(_fraction(mass) / weights.unit)}, not "
            f"{_about(proof.mass)}."
        )


def _check_suspects(proof: LowerProof, release: RationalRelease, names: Labels) -> None:
    """Raise unless each symbol points to a possible secret, and is named after it where it has a name."""
    attack = proof.attack
    for symbol, suspect in enumerate(proof.suspects):
        if suspect is None:
            continue
        if not (0 <= suspect < len(release.masses) and release.masses[suspect]):
            raise CertificateInvalid(
                f"lower end fails: symbol {symbol} suspects secret {suspect}, which is impossible."
            )
        if attack.outputs.given and attack.outputs[symbol] != names[suspect]:
            raise CertificateInvalid(
                f"lower end fails: symbol {symbol} is named {quoted(attack.outputs[symbol])}, not after its suspect "
                f"{quoted(names[suspect])}."
            )


def _symbol_sums(proof: LowerProof, release: RationalRelease) -> tuple[Scaled, Scaled]:
    """Sum Σ_y W_yz K_{x(z) y} and Σ_y W_yz q_y of every symbol z exactly; 0 of one that points to nobody.

    The shares of an outcome are divided by their sum: stored floats may miss 1 by a rounding.
    """
    attack, masses = proof.attack, release.scaled_marginal
    suspects = np.array([-1 if suspect is None else suspect for suspect in proof.suspects], dtype=np.intp)
    chances, shares = release.entries(suspects[attack.symbols], attack.outcomes), Scaled.of(attack.shares)
    outcomes, one = attack.outcomes.tolist(), shares.unit
    totals: list[Any] = [0] * len(masses.parts)
    for outcome, share in zip(outcomes, shares.parts, strict=True):
        totals[outcome] += share
    likelihoods: list[Any] = [0] * len(suspects)
    weights: list[Any] = [0] * len(suspects)
    entries = zip(outcomes, attack.symbols.tolist(), shares.parts, chances.parts, strict=True)
    for outcome, symbol, share, chance in entries:
        if proof.suspects[symbol] is not None:
            total = totals[outcome]
            part = one if share == total else share if total == one else share * rational(one) / total
            likelihoods[symbol] += part * chance
            weights[symbol] += part * masses.parts[outcome]
    return Scaled(likelihoods, one * chances.unit), Scaled(weights, one * masses.unit)


def _fraction(value: Any) -> Fraction:
    """Convert a whole number or a flint rational to a Fraction."""
    return Fraction(value) if isinstance(value, int) else Fraction(int(value.p), int(value.q))


def _about(value: Any) -> str:
    return format_exactly(value if isinstance(value, Fraction) else _fraction(value))
