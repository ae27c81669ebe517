"""Kernels from the papers' examples, exact wherever the paper's numbers are."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tightlip.arguments import whole
from tightlip.errors import InvalidInput, PreconditionFailed, quoted
from tightlip.model.channel import Channel
from tightlip.model.prior import Prior
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import exact_ratio, level

_MOST_COUNTABLE = 1000  # its masses are 2^-1 to 2^-size: numbers of that many digits, squared


def env_example_1() -> Channel:
    """Build ENV paper, Example 1: two rare outcomes that give two of four secrets away.

    >>> from tightlip import pml
    >>> pml(env_example_1(), Prior.uniform(4)).ratios
    (Fraction(4, 1), Fraction(4, 1), Fraction(10, 9), Fraction(10, 9))
    """
    half, fifth, two_fifths = "1/2", "1/5", "2/5"
    rows = [[0, 0, half, half], [0, 0, half, half], [0, fifth, two_fifths, two_fifths]]
    return Channel([*rows, [fifth, 0, two_fifths, two_fifths]], [1, 2, 3, 4], [1, 2, 3, 4])


def env_example_1_merge() -> Channel:
    """Build ENV paper, Example 1: the post-processing h with h(1) = h(3) = 1 and h(2) = h(4) = 2."""
    return Channel([[1, 0], [0, 1], [1, 0], [0, 1]], [1, 2, 3, 4], [1, 2])


def env_example_3() -> Channel:
    """Build ENV paper, Examples 3 and 4: the leakage of an event is not monotone."""
    return Channel([["9/10", 0, "1/10"], [0, "9/10", "1/10"]], [0, 1], [1, 2, 3])


def dob_example_1(epsilon: float, min_mass: Any) -> Channel:
    """Build DOB paper, Example 1: the optimal binary mechanism under (ε, c)-PML.

    Entries e^ε(1 − c)/D and (1 − e^ε c)/D with D = e^ε(1 − 2c) + 1; needs e^ε c ≤ 1.

    >>> from tightlip import log_of
    >>> dob_example_1(log_of(2), "1/4").matrix.tolist()[0]
    [Fraction(3, 4), Fraction(1, 4)]
    """
    mass = number(min_mass, "min_mass")
    if not 0 < mass <= Fraction(1, 2):
        raise InvalidInput(f"min_mass must be in (0, 1/2], got {quoted(min_mass)}; write 1/4.")
    epsilon = level(epsilon)
    ratio = exact_ratio(epsilon)
    exact = ratio is not None and isinstance(mass, Fraction)
    growth: Any = ratio if exact else math.exp(min(float(epsilon), 700.0))
    share: Any = mass if exact else float(mass)
    if growth * share > 1:
        raise PreconditionFailed(
            f"epsilon must be at most log(1/min_mass) = {-math.log(float(mass)):.10g}, got {float(epsilon):.10g}; "
            "above that every channel is (ε, c)-PML."
        )
    scale = growth * (1 - 2 * share) + 1
    likely, unlikely = growth * (1 - share) / scale, (1 - growth * share) / scale
    return Channel([[likely, unlikely], [unlikely, likely]])


def dob_example_2_two_level() -> Channel:
    """Build DOB paper, Example 2, K₁: ten secrets, entries 15/16 and 1/16; (log 10/3, 0.05)-PML and log 15-LDP."""
    high, low = Fraction(15, 16), Fraction(1, 16)
    return Channel([[high, low]] * 5 + [[low, high]] * 5)


def dob_example_2_circulant() -> Channel:
    """Build DOB paper, Example 2, K₂: five secrets, circulant thirds; (log 10/3, 0.1)-PML but no finite LDP."""
    row = [Fraction(1, 3)] * 3 + [Fraction(0)] * 2
    return Channel(np.array([np.roll(np.array(row, dtype=object), shift) for shift in range(5)]))


def pmc_countable(size: int) -> tuple[Channel, Prior]:
    """Build the countable channel on which PMC is log 2 everywhere while PML and LDP grow without bound, cut at n.

    p_i = 2^−i (the last mass doubled, so that the n masses sum to 1) and K = ½·1{x = y} + ½·p_y: the
    counterexample to the 'only if' of PMC Theorems 5 and 6 on countable alphabets.

    >>> from tightlip import pmc, pml
    >>> channel, prior = pmc_countable(10)
    >>> pmc(channel, prior).worst.ratio, pml(channel, prior).worst.ratio
    (Fraction(2, 1), Fraction(513, 2))
    """
    size = whole(size, "size", 2, _MOST_COUNTABLE)
    masses = [Fraction(1, 2**place) for place in range(1, size)] + [Fraction(1, 2 ** (size - 1))]
    rows = np.array([[mass / 2 for mass in masses] for _ in masses], dtype=object)
    for place in range(size):
        rows[place, place] += Fraction(1, 2)
    return Channel(rows), Prior(masses)
