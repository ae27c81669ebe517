"""What ε-LDP says about contraction, to compare with: any inputs, no smallest mass.

η_TV ≤ (e^ε − 1)/(e^ε + 1)                                                  Kairouz et al.
η_KL = η_χ² = η_H² ≤ ((e^ε − 1)/(e^ε + 1))²                                 Asoodeh and Zhang
KL(PK‖QK) + KL(QK‖PK) ≤ min(4, e^{2ε})(e^ε − 1)² TV(P, Q)²                  Duchi et al.
KL(PK‖QK) ≤ ((e^ε − 1)/(e^ε + 1))² log(1 + 2 TV²/c), Q ∈ Q(c)               the second, with KL ≤ log(1 + χ²)
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from tightlip.contraction.divergences import Kind, check_kind
from tightlip.contraction.setting import Setting
from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.ball import Ball, ball, enclose
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import Probability


def ldp_contraction_bound(divergence: Kind, epsilon: Any) -> Probability:
    """The largest contraction coefficient of any ε-LDP channel, rounded up.

    >>> from tightlip import log_of
    >>> ldp_contraction_bound("tv", log_of(3)).fraction, ldp_contraction_bound("kl", log_of(3)).fraction
    (Fraction(1, 2), Fraction(1, 4))
    """
    check_kind(divergence)
    setting = Setting.of(2, epsilon, 0)
    if setting.unbounded:
        return Probability(1.0, Fraction(1))
    power = 1 if divergence == "tv" else 2
    _, upper, exact = setting.evaluate(lambda t, lift: ((t - 1) / (t + 1)) ** power)
    return Probability.of(exact) if exact is not None else Probability(min(upper, 1.0))


def duchi_bound(epsilon: Any, tv: Any) -> float:
    """Duchi et al.: KL(PK‖QK) + KL(QK‖PK) ≤ min(4, e^{2ε})(e^ε − 1)² TV² for ε-LDP channels, rounded up.

    >>> from tightlip import log_of
    >>> duchi_bound(log_of(2), "1/2")
    1.0
    """
    setting, distance = Setting.of(2, epsilon, 0), _distance(tv)
    if not distance:
        return 0.0
    if setting.unbounded:
        return math.inf

    def expression() -> Ball:
        growth = setting.growth()
        return (growth * growth).min(4) * (growth - 1) ** 2 * ball(distance) ** 2

    return enclose(expression)[1]


def ldp_kl_bound(epsilon: Any, tv: Any, min_mass: Any) -> float:
    """KL(PK‖QK) ≤ ((e^ε − 1)/(e^ε + 1))² log(1 + 2 TV²/c) for ε-LDP channels and Q of smallest mass c, rounded up.

    χ²(P‖Q) ≤ Σ(p − q)²/c ≤ 2 TV²/c, and KL ≤ log(1 + χ²).

    >>> ldp_kl_bound(1.0, 0, 0.1)
    0.0
    """
    setting, distance, mass = Setting.of(2, epsilon, 0), _distance(tv), Fraction(number(min_mass, "min_mass"))
    if not 0 < mass <= 1:
        raise InvalidInput(f"min_mass must be in (0, 1], got {quoted(min_mass)}; write 0.1.")
    if not distance:
        return 0.0

    def expression() -> Ball:
        before = ball(1 + 2 * distance**2 / mass).log()
        if setting.unbounded:
            return before
        growth = setting.growth()
        return ((growth - 1) / (growth + 1)) ** 2 * before

    return enclose(expression)[1]


def _distance(tv: Any) -> Fraction:
    distance = Fraction(number(tv, "tv"))
    if not 0 <= distance <= 1:
        raise InvalidInput(f"tv must be in [0, 1], got {quoted(tv)}; it is ½ Σ|P − Q|.")
    return distance
