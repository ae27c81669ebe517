"""What the adversary believes after an outcome: P(x | y) = p_x K_xy / q_y."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tightlip.errors import InvalidInput, NumericalFailure, quoted
from tightlip.model.align import align
from tightlip.model.channel import Channel
from tightlip.model.labels import Label
from tightlip.model.matrix import dense_column
from tightlip.model.prior import Prior
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import gamma

_SAFE = 2.0**-900
_SMALLEST = Fraction(1, 2**1000)


def posterior(channel: Channel, prior: Prior, outcome: Label) -> Prior:
    """The distribution of the secret once `outcome` has been seen.

    Parameters
    ----------
    channel : Channel
    prior : Prior
    outcome : label of an outcome of positive probability

    Raises
    ------
    NumericalFailure
        If a possible secret would underflow to mass 0; exact input has no such limit.

    >>> from tightlip import Channel, Prior
    >>> posterior(Channel([["3/4", "1/4"], ["1/4", "3/4"]], outputs=["+", "-"]), Prior(["1/5", "4/5"]), "+")
    Prior(0: 3/7, 1: 4/7)
    """
    aligned = align(prior, channel)
    names = channel.inputs if channel.inputs.given else prior.labels
    place = channel.outputs.position(outcome, "outcome")
    exact = channel.is_exact and aligned.is_exact
    column = dense_column(channel.matrix if exact else channel.floats, place)
    masses = aligned.masses if exact else aligned.floats
    possible = (column > 0) & (masses > 0)
    if not possible.any():
        raise InvalidInput(
            f"outcome must have positive probability, got {quoted(outcome)} with probability 0."
        )
    if exact:
        joint = masses * column
        return Prior(joint / joint.sum(), names)
    column = np.where(possible, column, 0.0)
    joint = masses * np.ldexp(column, -np.frexp(column.max())[1])
    if joint[possible].min() >= _SAFE:
        return Prior(joint / joint.sum(), names)
    return Prior(_in_rationals(masses, column, channel, outcome), names)


def _in_rationals(masses: FloatArray, column: FloatArray, channel: Channel, outcome: Label) -> FloatArray:
    pairs = zip(masses.tolist(), column.tolist(), strict=True)
    joint = [Fraction(mass) * Fraction(entry) for mass, entry in pairs]
    total = sum(joint, Fraction(0))
    for place, weight in enumerate(joint):
        if 0 < weight < total * _SMALLEST:
            raise NumericalFailure(
                f"posterior of secret {quoted(channel.inputs[place])} after outcome {quoted(outcome)} "
                "is too small for a float; use channel.exact() and prior.exact()."
            )
    return np.array([float(weight / total) for weight in joint])


def posterior_error(secrets: int) -> float:
    """A bound on the relative error of each mass that `posterior` computes in floats."""
    return gamma(secrets + 8)
