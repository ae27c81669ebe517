"""How much the laws of n releases still overlap: lower bounds on 1 − TV(P^n, Q^n), rounded down.

    coupling             (1 − TV)^n
    hellinger            1 − √(1 − ρ^{2n}),  ρ = 1 − H²/2 = Σ√(pq)
    kl                   1 − √(1 − e^{−n·KL})                          (Bretagnolle and Huber)
    bretagnolle-huber    ½·e^{−n·KL}, the same in the usual weaker form

TV, H² and KL bound the divergence of one release, KL in either direction. Each holds for n independent releases
through channels of the level that may differ, and also where each channel may depend on the earlier releases: step by
step the coupling stays together with probability 1 − TV, the affinity Σ√(pq) keeps a factor ρ, and KL adds up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Literal

from tightlip.numeric.ball import Ball, ball, enclose
from tightlip.planning.privacy import Separation

Tensor = Literal["coupling", "hellinger", "kl", "bretagnolle-huber"]

_TOGETHER = Separation(0.0, 0.0, 0.0, 0.0)
_NOTHING = 800  # e^-800 is nothing that a float can hold


def overlaps(separation: Separation, samples: int) -> dict[Tensor, float]:
    """Every lower bound on 1 − TV after n releases.

    >>> {name: round(value, 4) for name, value in overlaps(Separation(0.5, 0.25, 1.0, 2.0), 1).items()}
    {'coupling': 0.5, 'hellinger': 0.5159, 'kl': 0.2049, 'bretagnolle-huber': 0.1839}
    """
    separation = separation if samples else _TOGETHER
    apart = separation.smaller_kl
    gone = math.isinf(apart) or samples * Fraction(apart) > _NOTHING
    return {
        "coupling": _down(lambda: (1 - ball(separation.tv)).max(0) ** samples),
        "hellinger": _down(lambda: _half_angle((1 - ball(separation.h2) / 2).max(0) ** (2 * samples))),
        "kl": 0.0 if gone else _down(lambda: _half_angle((-samples * ball(apart)).exp())),
        "bretagnolle-huber": 0.0 if gone else _down(lambda: (-samples * ball(apart)).exp() / 2),
    }


def _half_angle(kept: Ball) -> Ball:
    """1 − √(1 − x) = x/(1 + √(1 − x)), without cancellation."""
    return kept / (1 + (1 - kept).max(0).sqrt())


def _down(expression: Callable[[], Ball]) -> float:
    return min(max(enclose(expression)[0], 0.0), 1.0)
