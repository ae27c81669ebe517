"""Guarantees on ratios: local differential privacy, local information privacy and its asymmetric form.

LDP   max_y max_{x,x'} log K_xy / K_x'y          (no prior)
ALIP  −ε_l ≤ i(x; y) ≤ ε_u:  ε_l = max PMC, ε_u = max PML
LIP   |i(x; y)| ≤ ε:         ε = max(ε_l, ε_u)
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from tightlip.measures.joint import join, on_support
from tightlip.measures.pointwise import from_joint
from tightlip.model.channel import Channel
from tightlip.model.prior import Prior
from tightlip.numeric.quantity import Alip, Nats, largest
from tightlip.numeric.rounding import log_ratio_up


def ldp(channel: Channel, prior: Prior | None = None) -> Nats:
    """Compute the smallest ε for which the channel is ε-LDP, rounded up; infinite if an outcome excludes a secret.

    Parameters
    ----------
    channel : Channel
    prior : Prior, optional
        Only its support matters: secrets of mass 0 are left out.

    >>> from tightlip import Channel
    >>> ldp(Channel([["3/4", "1/4"], ["1/4", "3/4"]])).ratio
    Fraction(3, 1)
    """
    channel = on_support(channel, prior)
    peaks, pits = channel.peaks, channel.pits
    possible = peaks > 0
    peaks, pits = peaks[possible], pits[possible]
    if (pits == 0).any():
        return Nats(math.inf)
    if channel.is_exact:
        return Nats.of_ratio(Fraction(max(peaks / pits)))
    if (peaks == pits).all():
        return Nats(0.0, Fraction(1))
    return Nats(float(np.max(log_ratio_up(peaks, pits))))


def alip(channel: Channel, prior: Prior) -> Alip:
    """Compute the smallest (ε_l, ε_u) with −ε_l ≤ i(x; y) ≤ ε_u everywhere, each rounded up.

    >>> from tightlip import Channel, Prior
    >>> ends = alip(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), Prior(["1/5", "4/5"]))
    >>> ends.lower.ratio, ends.upper.ratio
    (Fraction(13, 5), Fraction(15, 7))
    """
    joint = join(channel, prior)
    return Alip(lower=from_joint(joint, "pmc").worst, upper=from_joint(joint, "pml").worst)


def lip(channel: Channel, prior: Prior) -> Nats:
    """Compute the smallest ε with |i(x; y)| ≤ ε everywhere, rounded up.

    >>> from tightlip import Channel, Prior
    >>> lip(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), Prior(["1/5", "4/5"])).ratio
    Fraction(13, 5)
    """
    return largest(alip(channel, prior))
