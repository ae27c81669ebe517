"""What the adversary believes after an outcome, leakage to one who already knows something, and two releases together.

P(x | y) = p_x K_xy / q_y
PML(y | z) = log max_x K^z_xy / q^z_y   with prior P(x | z) and channel K^z = P(y | x, z)
PML(y₁, y₂) ≤ PML(y₁) + PML(y₂ | y₁),   and the same for PMC (PMC paper, Corollary 2 and Lemma 1.7).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tightlip.errors import InvalidInput, NumericalFailure, quoted
from tightlip.measures.distribution import Kind, PointwiseLeakage, add_leakages
from tightlip.measures.joint import join
from tightlip.measures.maximal import channel_after
from tightlip.measures.pointwise import from_joint
from tightlip.model.channel import Channel, align, as_channel
from tightlip.model.labels import Label
from tightlip.model.matrix import dense_column
from tightlip.model.prior import Prior
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.quantity import Nats, largest
from tightlip.numeric.rounding import gamma
from tightlip.showing import Shown

_SAFE = 2.0**-900
_SMALLEST = Fraction(1, 2**1000)


def posterior(channel: Channel, prior: Prior, outcome: Label) -> Prior:
    """Compute the posterior: the distribution of the secret once `outcome` has been seen.

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
    """Bound the relative error of each mass that `posterior` computes in floats."""
    return gamma(secrets + 8)


def conditional_pml(
    channel: Channel | Mapping[Label, Channel], prior: Prior, *, side: Channel, given: Label
) -> PointwiseLeakage:
    """Compute PML of each outcome to an adversary who has seen `given`, an outcome of the channel `side`.

    Parameters
    ----------
    channel : Channel, or a mapping from side outcomes to the channel that is used after each
        One channel means that the side information does not influence the mechanism.
    prior : Prior
    side : Channel
        How the side information depends on the secret.
    given : label of the side information seen

    >>> from tightlip import Channel, Prior
    >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]], outputs=["+", "-"])
    >>> conditional_pml(coin, Prior(["1/5", "4/5"]), side=coin, given="+").ratios
    (Fraction(21, 13), Fraction(7, 5))
    """
    as_channel(side, "side").outputs.position(given, "given")
    return _conditional(channel, prior, side, given, "pml", "channel")


def conditional_pmc(
    channel: Channel | Mapping[Label, Channel], prior: Prior, *, side: Channel, given: Label
) -> PointwiseLeakage:
    """Compute PMC of each outcome to an adversary who has seen `given`; parameters as for `conditional_pml`.

    >>> from tightlip import Channel, Prior
    >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]], outputs=["+", "-"])
    >>> conditional_pmc(coin, Prior(["1/5", "4/5"]), side=coin, given="+").ratios
    (Fraction(13, 7), Fraction(15, 7))
    """
    as_channel(side, "side").outputs.position(given, "given")
    return _conditional(channel, prior, side, given, "pmc", "channel")


def _conditional(
    channel: Channel | Mapping[Label, Channel],
    prior: Prior,
    side: Channel,
    given: Label,
    kind: Kind,
    argument: str,
) -> PointwiseLeakage:
    believed = posterior(side, prior, given)
    slack = 0.0 if believed.is_exact else posterior_error(len(believed))
    return from_joint(join(channel_after(given, channel, argument), believed, slack=slack), kind)


@dataclass(frozen=True, slots=True, eq=False)
class CompositionBound(Shown):
    """What two releases leak together at most: the leakage of the first plus the conditional one of the second."""

    first: PointwiseLeakage
    second: dict[Label, PointwiseLeakage]

    def of(self, first_outcome: Label, second_outcome: Label) -> Nats:
        """Compute the bound for one pair of outcomes, rounded up."""
        self.first.outcomes.position(first_outcome, "first_outcome")
        start = self.first.value_of(first_outcome)
        self.second[first_outcome].outcomes.position(second_outcome, "second_outcome")
        return add_leakages(start, self.second[first_outcome].value_of(second_outcome))

    @property
    def worst(self) -> Nats:
        """The largest bound over all pairs of outcomes, rounded up."""
        return largest(
            add_leakages(self.first.value_of(one), follow.worst) for one, follow in self.second.items()
        )


def pml_composition(
    first: Channel, second: Channel | Mapping[Label, Channel], prior: Prior
) -> CompositionBound:
    """Bound PML(y₁, y₂) by PML(y₁) + PML(y₂ | y₁), for a second release that may depend on the first outcome.

    >>> from tightlip import Channel, Prior, pml
    >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]], outputs=["+", "-"])
    >>> prior = Prior(["1/5", "4/5"])
    >>> bound = pml_composition(coin, coin, prior)
    >>> bound.of("+", "+").ratio, pml(coin.product(coin), prior).value_of(("+", "+")).ratio
    (Fraction(45, 13), Fraction(45, 13))
    """
    return _composition(first, second, prior, "pml")


def pmc_composition(
    first: Channel, second: Channel | Mapping[Label, Channel], prior: Prior
) -> CompositionBound:
    """Bound PMC(y₁, y₂) by PMC(y₁) + PMC(y₂ | y₁), for a second release that may depend on the first outcome."""
    return _composition(first, second, prior, "pmc")


def _composition(
    first: Channel, second: Channel | Mapping[Label, Channel], prior: Prior, kind: Kind
) -> CompositionBound:
    as_channel(first, "first")
    start = from_joint(join(first, prior), kind)
    follow = {
        outcome: _conditional(second, prior, first, outcome, kind, "second") for outcome in start.outcomes
    }
    return CompositionBound(start, follow)
