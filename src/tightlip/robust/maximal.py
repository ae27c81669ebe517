"""Maximal leakage over a set of priors: ℒ = log Σ_y max_{x : p_x > 0} K_xy depends on the support of p only.

More possible secrets can only add to it, and a convex set has members that give mass to every secret to which some
member does. So over a convex set it is one sum, and the supremum is reached; over a list, the largest of them.
"""

from __future__ import annotations

from fractions import Fraction

from tightlip.model.channel import Channel
from tightlip.model.matrix import column_max
from tightlip.model.prior import Prior
from tightlip.model.prior_set import AnyPriorSet
from tightlip.numeric.quantity import Nats
from tightlip.robust.leakage_certificate import MAXIMAL, LeakageCertificate
from tightlip.robust.region import as_prior, region_of
from tightlip.robust.result import RobustLeakage, log_ends


def maximal_leakage(channel: Channel, prior_set: AnyPriorSet) -> RobustLeakage:
    """The largest maximal leakage ℒ under any prior of a set, in nats, rounded up.

    >>> from tightlip import Channel, PriorSet
    >>> maximal_leakage(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), PriorSet(min_mass="1/10")).ratio
    Fraction(3, 2)
    """
    region = region_of(prior_set, channel)
    priors = region if isinstance(region, tuple) else (as_prior(region.inside(), channel),)
    ratios = [_ratio(channel, prior) for prior in priors]
    place = max(range(len(ratios)), key=ratios.__getitem__)
    lower, upper = log_ends(ratios[place])
    return RobustLeakage(
        Nats(upper, ratios[place] if channel.is_exact else None),
        lower,
        method="closed form: only the support matters",
        prior=priors[place],
        attained=True,
        certificate=LeakageCertificate(MAXIMAL, channel, prior_set, lower, upper, priors[place]),
    )


def _ratio(channel: Channel, prior: Prior) -> Fraction:
    peaks = column_max(channel.restricted_to(prior).matrix)
    return sum((Fraction(peak) for peak in peaks.tolist()), Fraction(0))
