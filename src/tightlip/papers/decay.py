"""SML Appendix I: how Proposition 4's bound for quantization falls as the holder lists more spurious cells.

With K bins, s secrets, m missing cells, d̂ = d̂0 + d̂1 listed ones, t = 1 + τ/(τ + d̂ − 2) and q = (d̂ − 1)/(τ + d̂ + m − 2),
the two bounds are e^Π ≤ K t^m and e^Π ≤ K + s − s q^m, beside e^Π ≤ s. The appendix replaces t by 1 + r and q by 1 − r,
r = τ/(τ + d̂0), and finds that the first decides for m < α = log(s/K)/log(1 + r) and log s from there on.

That holds without any approximation, for every d̂1: **the second bound never decides**. Since qt ≤ 1 (which is
2τ + d̂ − 2 ≤ τ² + m(τ + d̂ − 2), true for m ≥ 1), q^m ≤ t^−m. If K t^m ≤ s, then K t^m + s q^m ≤ z + sK/z at z = K t^m
in [K, s], which is convex in z and K + s at both ends, so K t^m ≤ K + s − s q^m. Otherwise s q^m < K and the second
bound exceeds s. So the least number of missing cells at which the bound says nothing is

    the least m with K t^m ≥ s,    t taken at the d̂ in question,

and the appendix's case m = 20, in which the second bound is to decide for τ ≤ d̂1 < 5τ, cannot occur. In its second
derivative of q^m, τ − 1 should be τ + m − 1. The slope at d̂1 = 0 is right, and since log K t^m is convex in d̂1, the
straight line that it promises lies below the bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tightlip.arguments import instance, whole
from tightlip.errors import InvalidInput
from tightlip.numeric.ball import ball, enclose
from tightlip.numeric.quantity import Nats
from tightlip.papers.misspecified import MisspecifiedSupport

_MOST_MISSING = 10_000  # both bounds are kept as ratios


@dataclass(frozen=True, slots=True)
class AppendixI:
    """What the appendix says of a mis-specified support, with K bins and s secrets.

    Attributes
    ----------
    bound : the smallest of Proposition 4's two bounds and log s, in nats, rounded up
    first, second : the two bounds as ratios
    trivial : whether log s is the smallest
    threshold : the least number of missing cells at which it would be, for as many listed cells
    alpha : the paper's constant, which has d̂0 for d̂ − 2, between two ends
    slope : of the first bound in d̂1 at d̂1 = 0, in nats
    """

    bound: Nats
    first: Fraction
    second: Fraction
    trivial: bool
    threshold: int
    alpha: tuple[float, float]
    slope: Fraction


def appendix_i(support: MisspecifiedSupport, bins: int, secrets: int) -> AppendixI:
    """Evaluate SML Appendix I: which of Proposition 4's bounds for quantization decides, and from where on none does.

    Parameters
    ----------
    support : MisspecifiedSupport
    bins, secrets : K and s, 1 ≤ K < s

    >>> found = appendix_i(MisspecifiedSupport(48842, 22381, 0, 5), 1, 60)
    >>> found.trivial, found.threshold, f"{found.alpha[1]:.3f}"
    (False, 8, '7.840')
    """
    instance(
        support,
        MisspecifiedSupport,
        "support",
        "make one with MisspecifiedSupport(total, known, spurious, missing)",
    )
    size = whole(secrets, "secrets", 2, 10**9, remedy="count the secret's values")
    count = whole(bins, "bins", 1, size - 1, remedy="fewer bins than secrets")
    total, listed, missing = support.total, support.estimated, support.missing
    if missing > _MOST_MISSING:
        raise InvalidInput(
            f"support must have at most {_MOST_MISSING} missing cells, got missing={missing}; "
            "use misspecified_quantization_privacy."
        )
    step = 1 + Fraction(total, total + listed - 2)
    rest = Fraction(listed - 1, total + listed + missing - 2)
    first, second = count * step**missing, count + size - size * rest**missing
    grown = 1 + Fraction(total, total + support.known)
    alpha = enclose(lambda: ball(Fraction(size, count)).log() / ball(grown).log())
    start = total + support.known - 2
    return AppendixI(
        bound=Nats.of_ratio(min(first, second, Fraction(size))),
        first=first,
        second=second,
        trivial=min(first, second) >= size,
        threshold=_threshold(step, Fraction(size, count)),
        alpha=alpha,
        slope=-Fraction(missing * total, (start + total) * start),
    )


def _threshold(step: Fraction, factor: Fraction) -> int:
    """The least m with step^m ≥ factor."""
    low, high = (math.ceil(end) for end in enclose(lambda: ball(factor).log() / ball(step).log()))
    return low if low == high or step**low >= factor else high
