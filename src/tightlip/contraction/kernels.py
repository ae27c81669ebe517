"""Channels that reach the Dobrushin bound of (ε, c)-PML, with two outcomes.

- q secrets with M = e^ε(1 − cq)/D and N − q with m = (1 − e^ε cq)/D, D = 1 + e^ε(1 − Nc) (DOB paper, Remark 2).
  These are probabilities only for N − 1/(c e^ε) ≤ q ≤ 1/(c e^ε), which the paper does not say; there may be no such q.
- One secret with (1 + η)/2, one with (1 − η)/2, the others with ½: for every ε and c.

The channels are exact. Where e^ε is not a known rational it is replaced by the double below it, so that the channel
has the guarantee asked for, and reaches the bound up to that rounding.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tightlip.arguments import whole
from tightlip.contraction.bound import eta
from tightlip.contraction.setting import Setting
from tightlip.errors import InvalidInput, PreconditionFailed, quoted
from tightlip.model.channel import Channel

_MOST = Fraction(2) ** 200


def valid_counts(n: int, epsilon: Any, min_mass: Any) -> range:
    """The q ∈ {1, …, N−1} for which Remark 2's kernel is a channel: N − 1/(c e^ε) ≤ q ≤ 1/(c e^ε); may be empty.

    >>> from tightlip import log_of
    >>> valid_counts(10, log_of("10/3"), "1/20"), len(valid_counts(5, log_of("10/3"), "1/8"))
    (range(4, 7), 0)
    """
    setting = _finite(n, epsilon, min_mass)
    if not setting.min_mass:
        return range(1, setting.secrets)
    most = 1 / (setting.min_mass * setting.growth_below())
    first = max(1, math.ceil(setting.secrets - most))
    return range(first, max(first, min(setting.secrets - 1, math.floor(most)) + 1))


def block_kernel(n: int, epsilon: Any, min_mass: Any, q: int) -> Channel:
    """DOB Remark 2: q secrets give outcome 0 with probability M, the others with m; exact, refused for invalid q.

    >>> from tightlip import log_of
    >>> block_kernel(10, log_of("10/3"), "1/20", 5).matrix[[0, 9], 0]
    array([Fraction(15, 16), Fraction(1, 16)], dtype=object)
    """
    setting = _finite(n, epsilon, min_mass)
    allowed = valid_counts(n, epsilon, min_mass)
    if whole(q, "q", 0, setting.secrets) not in allowed:
        known = f"{allowed[0]} to {allowed[-1]}" if allowed else "none"
        raise PreconditionFailed(
            f"q must satisfy N − 1/(c·e^ε) ≤ q ≤ 1/(c·e^ε), got q={quoted(q)}, valid: {known}; "
            "optimal_kernel works for every ε and c."
        )
    growth, mass = _growth(setting), setting.min_mass
    scale = 1 + growth * setting.rest
    high, low = growth * (1 - mass * q) / scale, (1 - growth * mass * q) / scale
    return _two_outcomes([high] * q + [low] * (setting.secrets - q))


def optimal_kernel(n: int, epsilon: Any, min_mass: Any) -> Channel:
    """A channel that is (ε, c)-PML and reaches the Dobrushin bound, for every ε and c; exact.

    Its column (½(1+η), ½(1−η), ½, …, ½) has C(K, Q(c)) = ε up to ε = log 2/(Nc), where η = 1.

    >>> from tightlip import log_of
    >>> optimal_kernel(3, log_of(2), "1/6").matrix[:, 0]
    array([Fraction(3, 4), Fraction(1, 4), Fraction(1, 2)], dtype=object)
    """
    setting = _finite(n, epsilon, min_mass)
    reached = min(eta(setting, _growth(setting), Fraction), Fraction(1))
    half = Fraction(1, 2)
    return _two_outcomes([half * (1 + reached), half * (1 - reached)] + [half] * (setting.secrets - 2))


def _finite(n: int, epsilon: Any, min_mass: Any) -> Setting:
    setting = Setting.of(n, epsilon, min_mass)
    if setting.unbounded:
        raise InvalidInput("epsilon must be finite at min_mass=0, got inf; use mechanism.identity.")
    return setting


def _growth(setting: Setting) -> Fraction:
    growth = setting.growth_below()
    if growth > _MOST:
        raise InvalidInput(
            f"e^epsilon must be at most 2^200 for a kernel, got {float(setting.epsilon):g} nats."
        )
    return growth


def _two_outcomes(column: list[Fraction]) -> Channel:
    return Channel(np.array([[entry, 1 - entry] for entry in column], dtype=object))
