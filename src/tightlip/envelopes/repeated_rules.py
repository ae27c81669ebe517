"""Many uses on more than two secrets: the joint channel where histograms are few, rules where they are not.

    ε_c(δ) ≤ Σ_i ℒ_i + log 1/δ,   ε_c(δ) ≤ log 1/p_min,   ℒ ≤ Σ_i ℒ_i,   ℒ ≤ log N    (N secrets),

and what the losses of pairs of secrets say of ε_c (`loss_envelope`). From below, some of
the uses say no more than all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tightlip.envelopes.adversaries import envelope
from tightlip.envelopes.composition import compose, power
from tightlip.envelopes.histograms import histogram_count
from tightlip.envelopes.loss_curve import Side
from tightlip.envelopes.loss_envelope import bound_by_pairs
from tightlip.envelopes.result import Envelope
from tightlip.measures.maximal import maximal_leakage
from tightlip.model.channel import Channel
from tightlip.model.prior import Prior
from tightlip.numeric.ball import Ball, ball, enclose, log_bounds
from tightlip.numeric.quantity import Bound

# entries of a joint channel of which the envelope is found in seconds
_MOST_ENTRIES = 20_000


def rule_envelope(
    mechanisms: Sequence[Any],
    uses: Sequence[int],
    prior: Prior,
    delta: Fraction,
    sides: Callable[[], Mapping[tuple[int, int], Side]],
) -> Envelope:
    """Find the envelope of the joint channel, or bound it by rules.

    Parameters
    ----------
    mechanisms, uses : what is used, and how often
    prior : Prior
        In the order of the secrets; its labels are not looked at.
    delta : Fraction
        In (0, 1].
    sides : function
        That works out the losses of each ordered pair of secrets.
    """
    prior = Prior(prior.masses)
    channels = [each for each in mechanisms if isinstance(each, Channel)]
    if has_few_histograms(mechanisms, uses):
        return envelope(joint_channel(channels, uses), prior, delta)
    masses = [Fraction(mass) for mass in prior.masses]
    total = _summed_leakage(mechanisms, uses)
    rules = {
        "no leakage exceeds log 1/p_min": log_bounds(1 / min(mass for mass in masses if mass))[1],
        "maximal leakage adds up": enclose(lambda: ball(total) - ball(delta).log())[1],
        "losses of pairs of secrets": bound_by_pairs(sides(), masses, delta),
    }
    rule = min(rules, key=lambda name: rules[name])
    upper = rules[rule]
    lower, taken = 0.0, 0
    if channels:
        counts = [times for each, times in zip(mechanisms, uses, strict=True) if isinstance(each, Channel)]
        fewer = _fitting(channels, counts)
        if fewer is not None:
            lower, taken = envelope(joint_channel(channels, fewer), prior, delta).lower, sum(fewer)
    method = f"{rule}; from below, {taken} of the uses"
    return Envelope(delta, min(lower, upper), upper, method)


def has_few_histograms(mechanisms: Sequence[Any], uses: Sequence[int]) -> bool:
    """Whether all mechanisms are channels and their joint channel is small."""
    channels = [each for each in mechanisms if isinstance(each, Channel)]
    return len(channels) == len(mechanisms) and _entries(channels, uses) <= _MOST_ENTRIES


def rule_leakage(mechanisms: Sequence[Any], uses: Sequence[int], lower: float) -> Bound:
    """Bound maximal leakage by its sum, from below by that of the worst pair of secrets."""
    upper = _summed_leakage(mechanisms, uses)
    return Bound(max(0.0, min(lower, upper)), upper, "maximal leakage adds up; from below, two secrets")


def _summed_leakage(mechanisms: Sequence[Any], uses: Sequence[int]) -> float:
    """min(Σ ℒ_i, log N), rounded up."""
    first = mechanisms[0]
    secrets = first.shape[0] if isinstance(first, Channel) else len(first.secret.points)
    most = log_bounds(Fraction(secrets))[1]
    if not all(isinstance(each, Channel) for each in mechanisms):
        return most

    def total() -> Ball:
        terms = (
            ball(float(maximal_leakage(each))) * times for each, times in zip(mechanisms, uses, strict=True)
        )
        return sum(terms, ball(0))

    return min(enclose(total)[1], most)


def joint_channel(channels: Sequence[Any], uses: Sequence[int]) -> Channel:
    """Compose all uses of channels, by histograms."""
    return compose([power(each, times) for each, times in zip(channels, uses, strict=True)])


def _entries(channels: Sequence[Channel], uses: Sequence[int]) -> int:
    counts = (histogram_count(times, each.shape[1]) for each, times in zip(channels, uses, strict=True))
    return channels[0].shape[0] * math.prod(counts)


def _fitting(channels: Sequence[Channel], uses: Sequence[int]) -> list[int] | None:
    """Find so many uses of each that the joint channel is small; None where one of each is too many."""
    fewer = [1] * len(channels)
    if _entries(channels, fewer) > _MOST_ENTRIES:
        return None
    while True:
        more = [min(2 * own, most) for own, most in zip(fewer, uses, strict=True)]
        if more == fewer or _entries(channels, more) > _MOST_ENTRIES:
            return fewer
        fewer = more
