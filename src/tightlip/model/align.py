"""Align a prior with the order of a channel's secrets."""

from __future__ import annotations

from tightlip.model.channel import Channel, as_channel
from tightlip.model.labels import match
from tightlip.model.prior import Prior, as_prior


def align(prior: Prior, channel: Channel) -> Prior:
    """Align a prior with the order of a channel's secrets."""
    as_channel(channel)
    as_prior(prior)
    order = match(channel.inputs, prior.labels, "prior labels", "the channel's inputs")
    return (
        prior
        if order is None
        else Prior(prior.masses[order], channel.inputs).with_adjustment(prior.adjustment)
    )
