"""What (ε, c)-PML says about every channel that has it: total variation and likelihood ratios.

    η_TV ≤ min{(e^ε − 1) / (e^ε(1 − Nc) + 1), 1}                                        (DOB paper, Theorem 1)
    Γ = sup PK(y)/QK(y) over P, Q ∈ Q(c) = 1 + (1 − Nc)(e^ε − m*),
        m* = max(0, (1 − c(N−1)e^ε) / (1 − (N−1)c))

The paper's Proposition 2 bounds Γ by (1 − Nc)e^ε + 1. The exact one: scale a column so that
c Σ + (1 − Nc) min = 1; then its largest entry is at most e^ε, Γ = 1 + (1 − Nc)(max − min), and the smallest entry is
smallest where all others are e^ε. A small multiple of that column completes to a channel.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal

from tightlip.arguments import choice
from tightlip.contraction.setting import Setting
from tightlip.numeric.quantity import Probability

Which = Literal["exact", "paper"]


def dobrushin_bound(n: int, epsilon: Any, min_mass: Any) -> Probability:
    """The largest Dobrushin coefficient of any (ε, c)-PML channel on n secrets, rounded up (DOB paper, Theorem 1).

    Parameters
    ----------
    n : int
        The number of secrets N.
    epsilon : level in nats
        `log_of("10/3")` and an exact c give an exact result; infinite is allowed.
    min_mass : number
        c in [0, 1/N]; at 0 it is the LDP bound (e^ε − 1)/(e^ε + 1).

    >>> from tightlip import log_of
    >>> dobrushin_bound(10, log_of("10/3"), "1/20").fraction
    Fraction(7, 8)
    >>> round(dobrushin_bound(3, 0.5, 0.3), 10)
    0.5569034194
    """
    setting = Setting.of(n, epsilon, min_mass)
    if setting.unbounded:
        return Probability(1.0, Fraction(1))
    _, upper, exact = setting.evaluate(lambda t, lift: eta(setting, t, lift))
    if exact is not None:
        return Probability.of(min(exact, Fraction(1)))
    return Probability(min(upper, 1.0))


def eta(setting: Setting, growth: Any, lift: Callable[[Any], Any]) -> Any:
    """(e^ε − 1)/(e^ε(1 − Nc) + 1), not yet cut at 1."""
    return (growth - 1) / (growth * lift(setting.rest) + 1)


def likelihood_ratio_bound(n: int, epsilon: Any, min_mass: Any, *, gamma: Which = "exact") -> float:
    """Γ: the largest P{Y = y}/Q{Y = y} over (ε, c)-PML channels and P, Q ∈ Q(c), rounded up.

    `gamma="paper"` gives the looser (1 − Nc)e^ε + 1 of DOB Proposition 2.

    >>> round(likelihood_ratio_bound(4, 0.3, 0.1), 10), round(likelihood_ratio_bound(4, 0.3, 0.1, gamma="paper"), 10)
    (1.2998789779, 1.8099152845)
    """
    setting = Setting.of(n, epsilon, min_mass)
    check_which(gamma)
    if setting.unbounded:
        return math.inf
    return setting.evaluate(lambda t, lift: likelihood_ratio(setting, t, lift, gamma))[1]


def likelihood_ratio(setting: Setting, growth: Any, lift: Callable[[Any], Any], which: Which) -> Any:
    """Γ by the exact formula or by the paper's."""
    rest = lift(setting.rest)
    if which == "paper":
        return 1 + rest * growth
    others = (setting.secrets - 1) * setting.min_mass
    least = (1 - lift(others) * growth) / lift(1 - others)
    return 1 + rest * (growth - positive_part(least))


def positive_part(value: Any) -> Any:
    """max(0, value) of a rational or a ball."""
    return max(Fraction(0), value) if isinstance(value, Fraction) else value.max(0)


def check_which(gamma: object) -> None:
    """Refuse an unknown name of a Γ."""
    choice(gamma, "gamma", ("exact", "paper"))
