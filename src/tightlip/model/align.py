"""Bringing a prior into the order of a channel's secrets."""

from __future__ import annotations

from tightlip.errors import WrongType, quoted
from tightlip.model.channel import Channel
from tightlip.model.labels import match
from tightlip.model.prior import Prior


def align(prior: Prior, channel: Channel) -> Prior:
    """The prior in the order of the channel's secrets."""
    if not isinstance(channel, Channel):
        raise WrongType(f"channel must be a Channel, got {quoted(channel)}; write Channel(rows).")
    if not isinstance(prior, Prior):
        raise WrongType(
            f"prior must be a Prior, got {quoted(prior)}; write Prior(masses) or Prior.uniform(n)."
        )
    order = match(channel.inputs, prior.labels, "prior labels", "the channel's inputs")
    return prior if order is None else Prior(prior.masses[order], channel.inputs).adjusted(prior.adjustment)
