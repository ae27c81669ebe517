"""How far apart two distributions of the secret can still be after one private release.

The privacy level is one of three: any ε-LDP channel, any (ε, c)-PML channel, or one channel that is known. For each,
`separation(P, Q)` bounds TV, H², KL(PK‖QK) and KL(QK‖PK) from above, over all channels K of that level. In a column
scaled so that c·sum + (1 − Nc)·min = 1, (ε, c)-PML says that no entry is above e^ε, and then none is below
m* = max(0, (1 − c(N−1)e^ε)/(1 − (N−1)c)). So with η_TV = min{(e^ε − 1)/(e^ε(1 − Nc) + 1), 1} (DOB paper, Theorem 1)

    contraction   TV(PK, QK) ≤ η_TV·TV(P, Q);   KL and H² contract by min{η_TV, ((e^ε − m*)/(e^ε + m*))²}
    chords        KL ≤ η_TV·TV·log Γ,  H² ≤ η_TV·TV·(2 − 4/(√Γ + 1)),  Γ = 1 + TV·(e^ε − m*)   (P, Q ∈ Q(c))

The square is Asoodeh and Zhang's for LDP at the level log e^ε/m* that the column has anyway. The chords are Binette's
inequality as in the DOB paper, Corollary 1, with a Γ that knows TV = TV(P, Q): QK(y) ≥ 1 in the scaled column, and
|PK − QK|(y) ≤ TV·(max − min). The paper has 1 − Nc in the place of this TV, so its bound falls like TV where this
one falls like TV². c = 0 is ε-LDP, where m* = 1 and P, Q are arbitrary.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from tightlip.contraction.bounds import Setting, eta
from tightlip.contraction.coefficients import kl_contraction
from tightlip.contraction.divergences import divergence
from tightlip.errors import WrongType, quoted
from tightlip.model.channel import Channel, align, as_channel
from tightlip.model.prior import Prior, as_prior
from tightlip.numeric.ball import Ball, ball, enclose
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import Nats, exact_level, level, level_words


@dataclass(frozen=True, slots=True)
class Separation:
    """Upper ends of four divergences of two distributions: of the secret, or of one release."""

    tv: float
    h2: float
    kl: float
    reverse_kl: float

    @classmethod
    def of(cls, one: Any, two: Any) -> Separation:
        """Compute the divergences of two distributions themselves.

        >>> Separation.of(["1/2", "1/2"], ["1/4", "3/4"]).tv
        0.25
        """
        return cls(
            float(divergence(one, two, "tv")),
            float(divergence(one, two, "h2")),
            float(divergence(one, two, "kl")),
            float(divergence(two, one, "kl")),
        )

    @property
    def smaller_kl(self) -> float:
        """KL in the direction in which it is smaller."""
        return min(self.kl, self.reverse_kl)


class Privacy(Protocol):
    """A privacy level: how it contracts KL over all inputs, and how close it brings two distributions."""

    @property
    def words(self) -> str:
        """The level in words."""

    def contraction(self, secrets: int) -> float:
        """Compute an upper bound on η_KL = sup KL(PK‖QK)/KL(P‖Q), for this many secrets."""

    def separation(self, one: Prior, two: Prior) -> Separation:
        """Upper bounds on the divergences of PK and QK."""


@dataclass(frozen=True, slots=True)
class LocalPrivacy:
    """Every release is ε-LDP; an infinite ε is no privacy.

    >>> LocalPrivacy(math.inf).contraction(4)
    1.0
    """

    epsilon: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _read_level(self.epsilon))

    @property
    def words(self) -> str:
        """The level in words."""
        return "no privacy" if math.isinf(self.epsilon) else f"LDP ε = {level_words(self.epsilon)}"

    def contraction(self, secrets: int) -> float:
        """Compute ((e^ε − 1)/(e^ε + 1))², rounded up."""
        return _contraction(Setting.of(secrets, self.epsilon, 0))

    def separation(self, one: Prior, two: Prior) -> Separation:
        """Upper bounds over all ε-LDP channels."""
        _read_pair(one, two)
        return _separation(Setting.of(len(one), self.epsilon, 0), one, two)


@dataclass(frozen=True, slots=True)
class PmlPrivacy:
    """Every release is (ε, c)-PML: no outcome leaks more than ε under any prior with every mass at least c.

    The bounds with Γ need P and Q among those priors; without, contraction remains.

    >>> round(PmlPrivacy(0.5, 0.3).contraction(3), 10)   # here the DOB paper's bound on TV
    0.5569034194
    """

    epsilon: Any
    min_mass: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _read_level(self.epsilon))
        object.__setattr__(self, "min_mass", number(self.min_mass, "min_mass"))

    @property
    def words(self) -> str:
        """The level in words."""
        return f"PML ε = {level_words(self.epsilon)}, c = {self.min_mass}"

    def contraction(self, secrets: int) -> float:
        """Compute min{η_TV, ((e^ε − m*)/(e^ε + m*))²}, rounded up."""
        return _contraction(Setting.of(secrets, self.epsilon, self.min_mass))

    def separation(self, one: Prior, two: Prior) -> Separation:
        """Upper bounds over all (ε, c)-PML channels."""
        _read_pair(one, two)
        return _separation(Setting.of(len(one), self.epsilon, self.min_mass), one, two)


@dataclass(frozen=True, slots=True)
class KnownChannel:
    """Every release goes through this one channel, so that PK and QK are known.

    >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> KnownChannel(coin).separation(Prior([1, 0]), Prior([0, 1])).tv
    0.5
    """

    channel: Channel

    def __post_init__(self) -> None:
        as_channel(self.channel)

    @property
    def words(self) -> str:
        """The level in words."""
        return "the given channel"

    def contraction(self, secrets: int) -> float:
        """Compute η_KL of the channel, rounded up."""
        return float(kl_contraction(self.channel))

    def separation(self, one: Prior, two: Prior) -> Separation:
        """Compute the divergences of PK and QK from rationals, rounded up."""
        _read_pair(one, two)
        return Separation.of(outcome_masses(self.channel, one), outcome_masses(self.channel, two))


def as_privacy(privacy: Privacy | Channel, argument: str = "privacy") -> Privacy:
    """Read a privacy level; a channel stands for itself."""
    if isinstance(privacy, Channel):
        return KnownChannel(privacy)
    if not isinstance(privacy, (LocalPrivacy, PmlPrivacy, KnownChannel)):
        raise WrongType(
            f"{argument} must be LocalPrivacy(epsilon), PmlPrivacy(epsilon, min_mass) or a Channel, "
            f"got {quoted(privacy)}; write LocalPrivacy(1)."
        )
    return privacy


def _read_pair(one: object, two: object) -> None:
    as_prior(one, "one")
    as_prior(two, "two")


@lru_cache(maxsize=1 << 10)
def outcome_masses(channel: Channel, prior: Prior) -> tuple[Fraction, ...]:
    """Compute the distribution of the outcome, in rationals.

    >>> outcome_masses(Channel([["1/2", "1/2"], [0, 1]]), Prior(["1/3", "2/3"]))
    (Fraction(1, 6), Fraction(5, 6))
    """
    masses = align(prior, channel).exact().masses
    return tuple(np.asarray(masses @ channel.exact().matrix).tolist())


def _read_level(epsilon: Any) -> float | Fraction:
    value = level(epsilon, allow_infinite=True)
    if math.isinf(value):
        return Nats(math.inf)
    return exact_level(epsilon)


@lru_cache(maxsize=1 << 16)
def _open_separation(one: Prior, two: Prior) -> Separation:
    """Compute the divergences without privacy; kept, since a table asks for them at every level."""
    return Separation.of(one, two)


def _contraction(setting: Setting) -> float:
    if setting.unbounded or setting.ratio == 1:
        return float(setting.unbounded)
    return min(enclose(lambda: _kl_shrink(setting))[1], 1.0)


def _separation(setting: Setting, one: Prior, two: Prior) -> Separation:
    plain = _open_separation(one, two)
    if setting.unbounded or not plain.tv:
        return plain
    if setting.ratio == 1:  # ε = 0: the outcome is independent of the secret
        return Separation(0.0, 0.0, 0.0, 0.0)
    contracted = Separation(
        _shrunk(plain.tv, setting, _tv_shrink),
        _shrunk(plain.h2, setting, _kl_shrink),
        _shrunk(plain.kl, setting, _kl_shrink),
        _shrunk(plain.reverse_kl, setting, _kl_shrink),
    )
    if min(*one.exact().masses, *two.exact().masses) < setting.min_mass:
        return contracted
    h2, kl = _chords(setting, plain.tv)
    return Separation(
        contracted.tv, min(contracted.h2, h2), min(contracted.kl, kl), min(contracted.reverse_kl, kl)
    )


def _shrunk(amount: float, setting: Setting, factor: Callable[[Setting], Ball]) -> float:
    return amount if math.isinf(amount) else min(enclose(lambda: factor(setting) * ball(amount))[1], amount)


def _chords(setting: Setting, distance: float) -> tuple[float, float]:
    """Bound H² and KL by Binette's inequality, with Γ = 1 + TV·(e^ε − m*)."""

    def most() -> Ball:
        return 1 + ball(distance) * (setting.growth() - _least(setting))

    def bound(constant: Callable[[Ball], Ball]) -> float:
        return enclose(lambda: _tv_shrink(setting) * ball(distance) * constant(most()))[1]

    return bound(lambda ratio: 2 - 4 / (ratio.sqrt() + 1)), bound(lambda ratio: ratio.log())


def _tv_shrink(setting: Setting) -> Ball:
    return eta(setting, setting.growth(), ball).min(1)


def _kl_shrink(setting: Setting) -> Ball:
    growth, least = setting.growth(), _least(setting)
    local = (growth - least) / (growth + least)
    return _tv_shrink(setting).min(local * local)


def _least(setting: Setting) -> Ball:
    """Compute m*: the smallest entry that a scaled column can have."""
    others = (setting.secrets - 1) * setting.min_mass
    return ((1 - ball(others) * setting.growth()) / ball(1 - others)).max(0)
