"""Leakage when the prior is only known to give each of N secrets a mass of at least c.

C(K, Q(c)) = max_y log [ max_x K_xy / (c Σ_x K_xy + (1 − Nc) min_x K_xy) ]     (DOB paper, Appendix D)

The worst prior gives mass c to every secret and the rest to the one least likely to cause the worst
outcome. c = 1/N is the uniform prior alone; c → 0 gives LDP; no channel exceeds log 1/c.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tightlip.arguments import whole
from tightlip.errors import InvalidInput, InvalidPrior, ShapeMismatch, WrongType, quoted
from tightlip.measures.joint import exact_sum
from tightlip.measures.local import ldp
from tightlip.model.channel import Channel, as_channel
from tightlip.model.labels import Label
from tightlip.model.matrix import SMALLEST, dense_column, weighted_columns
from tightlip.model.prior import Prior, PriorSet
from tightlip.numeric.ball import log_bounds, log_exceeds
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import Nats, exact_level, exact_ratio, level
from tightlip.numeric.rounding import gamma, log_up, widen_down, widen_up

_REFINED = 16
_NOISE = 1 + Fraction(1, 10**12)


@dataclass(frozen=True, slots=True)
class FloorCapacity:
    """C(K, Q(c)) in nats between two roundings, with the outcome, secret and prior that reach it.

    `amount` is rounded up, exact where channel and c are; `prior` is exact and in Q(c), None at c = 0, where the worst
    is only approached.
    """

    amount: Nats
    lower: float
    outcome: Label
    secret: Label
    prior: Prior | None


def floor_capacity(
    channel: Channel, *, min_mass: Any = None, prior_set: PriorSet | None = None
) -> FloorCapacity:
    """Compute the closed form of C(K, Q(c)); `tl.leakage_capacity` has it for any set of priors.

    Parameters
    ----------
    channel : Channel
    min_mass : number
        c in [0, 1/N]; 0 means no knowledge at all, which is LDP (and may be infinite).
    prior_set : PriorSet, instead of `min_mass`

    Returns
    -------
    FloorCapacity
        In nats, rounded up; the channel is (ε, c)-PML exactly for ε ≥ this (DOB paper, Definition 2).

    >>> from tightlip import Channel
    >>> thirds = [["1/3", "1/3", "1/3", 0, 0]]
    >>> circulant = Channel([thirds[0][-i:] + thirds[0][:-i] for i in range(5)])
    >>> found = floor_capacity(circulant, min_mass="1/10")
    >>> found.amount.ratio, found.prior
    (Fraction(10, 3), Prior(0: 1/10, 1: 3/5, 2: 1/10, 3: 1/10, 4: 1/10))
    """
    as_channel(channel)
    mass, known = _mass_from(channel, min_mass, prior_set)
    if mass == 0:
        return _without_knowledge(channel)
    if channel.is_exact:
        place, ratio = _exact_worst(channel, mass)
        lower, upper = log_bounds(ratio)
        amount = Nats.of_ratio(ratio) if known else Nats(upper)
    else:
        place, ratio, ceiling = _float_worst(channel, mass)
        lower, upper = log_bounds(ratio)
        lower, amount = max(lower, 0.0), Nats(max(upper, ceiling, 0.0))
    column = dense_column(channel.matrix, place)
    return FloorCapacity(
        amount,
        lower,
        outcome=channel.outputs[place],
        secret=channel.inputs[int(np.argmax(column))],
        prior=_corner(channel, mass, int(np.argmin(column))),
    )


def read_min_mass(min_mass: Any, secrets: int) -> tuple[Fraction, bool]:
    """Read c in [0, 1/N] as (rational, whether it was given exactly); a float just above 1/N means 1/N.

    >>> read_min_mass("1/10", 5), read_min_mass(0.1, 10)
    ((Fraction(1, 10), True), (Fraction(1, 10), False))
    """
    value = number(min_mass, "min_mass")
    exact = isinstance(value, Fraction)
    mass, most = Fraction(value), Fraction(1, secrets)
    if not 0 <= mass <= most * (1 if exact else _NOISE):
        why = "masses are not negative" if mass < 0 else f"{quoted(secrets)} secrets cannot all have more"
        raise InvalidPrior(f"min_mass must be in [0, 1/{quoted(secrets)}], got {quoted(min_mass)}; {why}.")
    if 0 < mass < SMALLEST:
        raise InvalidPrior(
            f"min_mass must be 0 or at least {SMALLEST:.3g}, got {quoted(min_mass)}; write 0 for any prior."
        )
    return min(mass, most), exact or mass == 0


def allowed_zeros(n: int, epsilon: Any, min_mass: Any) -> int:
    """Count the secrets one outcome of an (ε, c)-PML channel may exclude: the largest k ≤ N − 1/(c e^ε).

    An outcome that excludes k secrets leaks at least −log((N − k)c), reached where the others have mass
    c each. At ε = ∞ all but one may be excluded; at c = 0 and finite ε none.

    >>> from tightlip import log_of
    >>> allowed_zeros(5, log_of("10/3"), "1/10"), allowed_zeros(5, 1.2, "1/10")
    (2, 1)
    """
    n = whole(n, "n", 1, remedy="it counts secrets: write 3")
    mass, _ = read_min_mass(min_mass, int(n))
    if math.isinf(level(epsilon, allow_infinite=True)):
        return int(n) - 1
    own = exact_level(epsilon)
    ratio = exact_ratio(own)

    def enough(possible: int) -> bool:
        if mass == 0:
            return False
        needed = 1 / (possible * mass)
        return needed <= ratio if ratio is not None else not log_exceeds(needed, own)

    return int(n) - 1 - bisect_left(range(1, int(n)), True, key=enough)


def _mass_from(channel: Channel, min_mass: Any, prior_set: PriorSet | None) -> tuple[Fraction, bool]:
    if (min_mass is None) == (prior_set is None):
        raise InvalidInput("give min_mass or prior_set, and not both; min_mass=0 means any prior.")
    if prior_set is None:
        return read_min_mass(min_mass, channel.shape[0])
    if not isinstance(prior_set, PriorSet):
        raise WrongType(f"prior_set must be a PriorSet, got {quoted(prior_set)}; write PriorSet(n, c).")
    if prior_set.secrets not in (None, channel.shape[0]):
        raise ShapeMismatch(
            f"prior_set must be about the channel's {channel.shape[0]} secrets, got {prior_set.secrets}."
        )
    return read_min_mass(prior_set.min_mass, channel.shape[0])


def _without_knowledge(channel: Channel) -> FloorCapacity:
    amount = ldp(channel)
    peaks, pits = channel.peaks, channel.pits
    if math.isinf(amount):
        place, lower = int(np.flatnonzero((peaks > 0) & (pits == 0))[0]), math.inf
    else:
        possible = np.flatnonzero(peaks)
        ratios = [Fraction(peaks[y]) / Fraction(pits[y]) for y in possible]
        best = max(range(len(ratios)), key=ratios.__getitem__)
        place, lower = int(possible[best]), log_bounds(ratios[best])[0]
    secret = int(np.argmax(dense_column(channel.matrix, place)))
    return FloorCapacity(
        amount,
        lower,
        outcome=channel.outputs[place],
        secret=channel.inputs[secret],
        prior=None,
    )


def _exact_worst(channel: Channel, mass: Fraction) -> tuple[int, Fraction]:
    rest = 1 - channel.shape[0] * mass
    below = mass * channel.matrix.sum(axis=0) + rest * channel.pits
    possible = np.flatnonzero(channel.peaks)
    ratios = channel.peaks[possible] / below[possible]
    best = int(np.argmax(ratios))
    return int(possible[best]), Fraction(ratios[best])


def _float_worst(channel: Channel, mass: Fraction) -> tuple[int, Fraction, float]:
    """Find the worst column, its ratio in rationals, and a bound on the log-ratio of those left to floats."""
    size = channel.shape[0]
    rest = 1 - size * mass
    possible = np.flatnonzero(channel.peaks)
    peaks = channel.peaks[possible]
    sums = weighted_columns(np.ones(size), channel.matrix)[possible]
    # over the peak nothing falls below the normal range that matters: the first term is at least c
    below = float(mass) * (sums / peaks) + float(rest) * (channel.pits[possible] / peaks)
    error = gamma(size + 16)
    order = np.argsort(below, kind="stable")
    leading, others = order[:_REFINED], order[_REFINED:]
    ratios = [_exact_ratio(channel, int(possible[place]), mass, rest) for place in leading]
    best = max(range(len(ratios)), key=ratios.__getitem__)
    ceiling = -math.inf
    if len(others):
        ceiling = float(log_up(widen_up(1 / widen_down(below[others[:1]], error), gamma(2)))[0])
    return int(possible[leading[best]]), ratios[best], ceiling


def _exact_ratio(channel: Channel, place: int, mass: Fraction, rest: Fraction) -> Fraction:
    column = dense_column(channel.matrix, place)
    return Fraction(column.max()) / (mass * exact_sum(column) + rest * Fraction(column.min()))


def _corner(channel: Channel, mass: Fraction, heaviest: int) -> Prior:
    """Build the prior of Q(c) with all free mass on one secret."""
    size = channel.shape[0]
    masses = np.full(size, mass, dtype=object)
    masses[heaviest] = 1 - (size - 1) * mass
    return Prior(masses, channel.inputs)
