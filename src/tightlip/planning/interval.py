"""Confidence intervals with proved coverage, rounded outward.

Both give [l, u] with P{truth < l} ≤ a and P{truth > u} ≤ a, for every n.

    Clopper–Pearson   for a proportion: u is where P{Bin(n, u) ≤ k} = a
    Chernoff          for the mean of numbers in [0, 1]: u is where n·kl(mean, u) = log 1/a,
                      kl(x, u) = x log x/u + (1−x) log (1−x)/(1−u)                     (Hoeffding 1963, Theorem 1)

The second also holds for independent numbers that are not equally distributed, and lies within Hoeffding's
±√(log(1/a)/2n) by Pinsker's inequality.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from tightlip.numeric.ball import Ball, ball
from tightlip.planning.outward import float_below

_BITS = 72  # enough to prove a guess that is right to about 13 digits, and fast
_STEPS = 60
_MARGIN = 2.0**-44


def clopper_pearson(hits: int, trials: int, tail: Fraction) -> tuple[float, float]:
    """The exact interval for a proportion, with at most `tail` on each side.

    >>> low, high = clopper_pearson(3, 10, Fraction(1, 40))
    >>> round(low, 4), round(high, 4)
    (0.0667, 0.6525)
    """
    return _mirrored(_upper_proportion(trials - hits, trials, tail)), _upper_proportion(hits, trials, tail)


def chernoff(mean: Fraction, trials: int, tail: Fraction) -> tuple[float, float]:
    """The interval for a mean of numbers in [0, 1], with at most `tail` on each side.

    >>> low, high = chernoff(Fraction(3, 10), 10, Fraction(1, 40))
    >>> low < 0.0667 and high > 0.6525
    True
    """
    return _mirrored(_upper_mean(1 - mean, trials, tail)), _upper_mean(mean, trials, tail)


def _mirrored(upper: float) -> float:
    return float_below(1 - Fraction(upper))


def _upper_proportion(hits: int, trials: int, tail: Fraction) -> float:
    """Some u with P{Bin(n, u) ≤ k} = I_{1−u}(n − k, k + 1) ≤ a: a guess in floats, moved out until it is proved."""
    from flint import ctx
    from scipy.special import betaincinv

    upper = float(betaincinv(hits + 1, trials - hits, float(1 - tail))) if hits < trials else 1.0
    margin = _MARGIN
    with ctx.workprec(_BITS):
        while upper < 1:
            below = (1 - ball(upper)).beta_lower(ball(trials - hits), ball(hits + 1), 1)
            if below <= ball(tail):
                return upper
            upper, margin = upper + margin * (1 - upper), 2 * margin
    return 1.0


def _upper_mean(mean: Fraction, trials: int, tail: Fraction) -> float:
    if mean == 1:
        return 1.0

    def unlikely(share: Ball) -> bool:
        return bool(trials * _binary_kl(mean, share) >= -ball(tail).log())

    return _outermost(unlikely, mean)


def _binary_kl(mean: Fraction, share: Ball) -> Ball:
    rest = ball(1 - mean) * (ball(1 - mean) / (1 - share)).log()
    return rest + ball(mean) * (ball(mean) / share).log() if mean else rest


def _outermost(unlikely: Callable[[Ball], bool], inside: Fraction) -> float:
    """The smallest float found above `inside` that is proved unlikely; 1 if none is. Larger ones are less likely."""
    from flint import ctx

    low, high = float(inside), 1.0
    with ctx.workprec(_BITS):
        for _ in range(_STEPS):
            middle = (low + high) / 2
            if not low < middle < high:
                break
            low, high = (low, middle) if unlikely(ball(middle)) else (middle, high)
    return high
