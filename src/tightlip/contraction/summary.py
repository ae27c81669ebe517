"""Every contraction coefficient of a channel, computed together, and what a leakage level alone implies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightlip.arguments import listed
from tightlip.contraction.bounds import (
    Setting,
    Which,
    divergence_bound,
    dobrushin_bound,
    ldp_contraction_bound,
    likelihood_ratio_bound,
    valid_counts,
)
from tightlip.contraction.coefficients import chi_squared_contraction, dobrushin, e_gamma_contraction
from tightlip.contraction.divergences import Kind
from tightlip.contraction.result import Coefficient
from tightlip.errors import InvalidInput
from tightlip.measures.local import ldp
from tightlip.model.channel import Channel
from tightlip.model.prior import Prior
from tightlip.numeric.parse import exact_text, number
from tightlip.numeric.quantity import Nats, Probability
from tightlip.robust.pointwise import leakage_capacity
from tightlip.robust.result import RobustLeakage
from tightlip.showing import Charted

KINDS: tuple[Kind, ...] = ("tv", "kl", "chi2", "h2")
_WHICH: tuple[Which, ...] = ("exact", "paper")
_POINTS = 60  # of a curve; each is a few evaluations of closed forms


@dataclass(frozen=True, slots=True, eq=False)
class LevelBounds(Charted):
    """What (ε, c)-PML on n secrets implies for every channel that has it; all bounds, rounded up.

    Attributes
    ----------
    secrets, epsilon, min_mass : n, ε in nats and c
    tv : the Dobrushin bound
    likelihood_ratio : Γ, exactly and by the paper's formula
    constants : for each divergence the constant in front of TV(P, Q), with both Γ
    ldp : the contraction of "tv" and "kl" under LDP at the same ε, to compare with
    block_kernels : the q for which block kernels reach the TV bound; perhaps none
    """

    secrets: int
    epsilon: Any
    min_mass: Fraction
    tv: Probability
    likelihood_ratio: Mapping[Which, float]
    constants: Mapping[Kind, Mapping[Which, float]]
    ldp: Mapping[Kind, Probability]
    block_kernels: range

    def curve(self) -> list[dict[str, float]]:
        """The bounds at levels from 0 to beyond ε, each a row: "epsilon", "tv", "kl", "kl_paper" and "tv_ldp"."""
        level, mass = float(self.epsilon), self.min_mass
        most = max(min(1.5 * level, -math.log(mass) if mass else 5.0), 0.1)
        return [_bounds_at(self.secrets, most * place / _POINTS, mass) for place in range(_POINTS + 1)]


@dataclass(frozen=True, slots=True, eq=False)
class ContractionSummary(Charted):
    """How much closer a channel brings two inputs, by every coefficient, and what its leakage alone would say.

    Attributes
    ----------
    coefficients : "tv", "kl" (which is also that of χ² and H²), "prior" (χ² towards a prior, where one was given), and
        "E_γ" for each γ asked for
    capacity : the leakage under any prior of the smallest mass c
    ldp : in nats, rounded up
    implied : what that leakage implies for every channel
    """

    coefficients: Mapping[str, Coefficient]
    capacity: RobustLeakage
    ldp: Nats
    implied: LevelBounds


def measure(
    channel: Channel, prior: Prior | None = None, *, min_mass: Any = 0, gammas: Iterable[Any] = ()
) -> ContractionSummary:
    """Compute every contraction coefficient of a channel, its leakage capacity, and what that level alone implies.

    Parameters
    ----------
    channel : Channel
    prior : Prior, optional
        Adds the χ² coefficient towards it.
    min_mass : c in [0, 1/N], of the priors that the capacity is about; 0 means any prior
    gammas : numbers of at least 1; adds the coefficient of each E_γ

    >>> found = measure(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), gammas=[2])
    >>> {name: round(float(coefficient), 9) for name, coefficient in found.coefficients.items()}
    {'tv': 0.5, 'kl': 0.25, 'E_2': 0.25}
    """
    wanted = [
        Fraction(number(gamma, f"gammas entry {place}"))
        for place, gamma in enumerate(listed(gammas, "gammas", "numbers"))
    ]
    capacity = leakage_capacity(channel, min_mass=min_mass)
    found = {"tv": dobrushin(channel), "kl": chi_squared_contraction(channel)}
    if prior is not None:
        found["prior"] = chi_squared_contraction(channel, prior)
    try:
        found |= {f"E_{exact_text(gamma)}": e_gamma_contraction(channel, gamma) for gamma in wanted}
    except InvalidInput as error:
        raise InvalidInput(f"gammas: {error}") from error
    implied = level_bounds(channel.shape[0], capacity, min_mass)
    return ContractionSummary(found, capacity, ldp(channel), implied)


def level_bounds(n: int, epsilon: Any, min_mass: Any) -> LevelBounds:
    """Compute what (ε, c)-PML on n secrets implies: the Dobrushin bound, Γ, and the constants in front of TV(P, Q).

    >>> level_bounds(10, 1.2, "1/20").tv < level_bounds(10, 1.2, 0).tv
    False
    """
    setting = Setting.of(n, epsilon, min_mass)
    infinite = math.isinf(float(setting.epsilon))
    return LevelBounds(
        secrets=setting.secrets,
        epsilon=epsilon if isinstance(epsilon, Nats) else setting.epsilon,
        min_mass=setting.min_mass,
        tv=dobrushin_bound(n, epsilon, min_mass),
        likelihood_ratio={
            which: likelihood_ratio_bound(n, epsilon, min_mass, gamma=which) for which in _WHICH
        },
        constants={
            kind: {which: divergence_bound(kind, n, epsilon, min_mass, gamma=which) for which in _WHICH}
            for kind in KINDS
        },
        ldp={kind: ldp_contraction_bound(kind, epsilon) for kind in ("tv", "kl")},
        block_kernels=range(0) if infinite else valid_counts(n, epsilon, min_mass),
    )


def _bounds_at(secrets: int, epsilon: float, mass: Fraction) -> dict[str, float]:
    return {
        "epsilon": epsilon,
        "tv": float(dobrushin_bound(secrets, epsilon, mass)),
        "kl": float(divergence_bound("kl", secrets, epsilon, mass)),
        "kl_paper": float(divergence_bound("kl", secrets, epsilon, mass, gamma="paper")),
        "tv_ldp": float(ldp_contraction_bound("tv", epsilon)),
    }
