"""Fano's inequality, solved for the error.

J uniform on M hypotheses, Y any data with I(J; Y) ≤ I. Every guess of J errs with a probability p that satisfies

    h(p) + p·log(M − 1) ≥ log M − I,        h(p) = −p log p − (1 − p) log(1 − p).

The left side rises in p ≤ 1 − 1/M, so p is at least the solution of the equation; p ≥ 1 − (I + log 2)/log M is the
weaker form in textbooks, which says nothing for two hypotheses.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tightlip.numeric.ball import Ball, ball

_BITS = 128
_STEPS = 60


def fano_error(hypotheses: int, information: float) -> float:
    """A lower bound on the error probability of every guess among M hypotheses, rounded down.

    Parameters
    ----------
    hypotheses : M, at least 2
    information : an upper bound on I(J; Y), in nats

    >>> fano_error(4, 0.0), fano_error(4, 2.0)
    (0.75, 0.0)
    >>> 0.133 < fano_error(2, 0.3) < 0.134
    True
    """
    most = float(1 - Fraction(1, hypotheses))
    if Fraction(most) > 1 - Fraction(1, hypotheses):
        most = math.nextafter(most, 0.0)
    if information == 0:
        return most
    if math.isinf(information):
        return 0.0
    low, high = 0.0, most
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _below(middle, hypotheses, information):
            low = middle
        else:
            high = middle
    return low


def _below(error: float, hypotheses: int, information: float) -> bool:
    """Whether h(p) + p log(M − 1) < log M − I for certain, so that the error is more than p."""
    from flint import ctx

    with ctx.workprec(_BITS):
        left = _entropy(ball(error)) + ball(error) * ball(hypotheses - 1).log()
        return bool(left < ball(hypotheses).log() - ball(information))


def _entropy(error: Ball) -> Ball:
    other = 1 - error
    return -(error * error.log() + other * other.log())
