"""Adversaries that reach PML and PMC: the witnesses in their definitions.

gain g(x, w) = 1{x = w} / p_x                   reaches PML at every outcome
cost c(x) = 1{x = x*}, x* = argmin_x K_xy       reaches PMC at outcome y
U that names x* and blurs every other secret    reaches PML at outcome y when guessed right
U that blurs x* and lumps all other secrets     reaches PMC at outcome y when not guessed wrong
(PMC paper, Definition 3, proofs of Theorems 1 and 2)
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput, quoted
from tightlip.measures.pointwise import pmc, pml
from tightlip.model.channel import Channel, align
from tightlip.model.labels import Label
from tightlip.model.matrix import freeze
from tightlip.model.prior import Prior

_MAX_SYMBOLS = 1_000_000
_SMALLEST = 1e-300


def pml_gain_witness(channel: Channel, prior: Prior) -> NDArray[Any]:
    """Build a gain matrix whose leakage is PML at every outcome: guess the secret, earn 1/p_x if right.

    >>> from tightlip import Channel, Prior, pml
    >>> from tightlip.measures import gain_leakage
    >>> coin, prior = Channel([["3/4", "1/4"], ["1/4", "3/4"]]), Prior(["1/5", "4/5"])
    >>> gain_leakage(coin, prior, pml_gain_witness(coin, prior)).ratios == pml(coin, prior).ratios
    True
    """
    masses = align(prior, channel).masses.tolist()
    zero = Fraction(0) if prior.is_exact else 0.0
    for place, mass in enumerate(masses):
        if 0 < mass < _SMALLEST and not prior.is_exact:
            raise InvalidInput(
                f"prior mass of secret {quoted(channel.inputs[place])} is too small for a float gain of 1/mass, "
                f"got {mass!r}; use prior.exact()."
            )
    rows = [
        [1 / mass if row == column and mass else zero for column in range(len(masses))]
        for row, mass in enumerate(masses)
    ]
    return freeze(np.array(rows, dtype=object if prior.is_exact else np.float64))


def pmc_cost_witness(channel: Channel, prior: Prior, outcome: Label) -> NDArray[Any]:
    """Build a cost matrix (one guess) whose leakage is PMC at `outcome`: pay 1 if the least likely secret is true.

    >>> from tightlip import Channel, Prior, pmc
    >>> from tightlip.measures import cost_leakage
    >>> coin, prior = Channel([["3/4", "1/4"], ["1/4", "3/4"]]), Prior(["1/5", "4/5"])
    >>> cost_leakage(coin, prior, pmc_cost_witness(coin, prior, 1)).value_of(1).ratio == pmc(coin, prior).ratios[1]
    True
    """
    secret = _position(channel, prior, pmc(channel, prior).secret_of(outcome))
    return freeze(np.array([[int(row == secret)] for row in range(channel.shape[0])], dtype=object))


def pml_function_witness(channel: Channel, prior: Prior, outcome: Label) -> Channel:
    """Build a randomised function of the secret; guessing it right after `outcome` gains exactly PML.

    U names x* = argmax_x K_xy; every other secret x is spread evenly over ⌈p_x / p_x*⌉ symbols, so
    that no symbol is likelier than p_x* beforehand.

    >>> from tightlip import Channel, Prior, pml
    >>> from tightlip.measures import function_gain_leakage
    >>> coin, prior = Channel([["3/4", "1/4"], ["1/4", "3/4"]]), Prior(["1/5", "4/5"])
    >>> function = pml_function_witness(coin, prior, 0)
    >>> function.shape, function_gain_leakage(coin, prior, function).value_of(0).ratio
    ((2, 5), Fraction(15, 7))
    """
    masses = [Fraction(mass) for mass in align(prior, channel).masses.tolist()]
    star = _position(channel, prior, pml(channel, prior).secret_of(outcome))
    symbols = [max(1, math.ceil(mass / masses[star])) for mass in masses]
    return _spread(symbols, channel)


def pmc_function_witness(channel: Channel, prior: Prior, outcome: Label) -> Channel:
    """Build a randomised function of the secret; not guessing it wrong after `outcome` gains exactly PMC.

    U spreads x* = argmin_x K_xy evenly over k symbols and maps all other secrets to one more, with k
    so large that this one is the best guess before and after.

    >>> from tightlip import Channel, Prior
    >>> from tightlip.measures import function_cost_leakage
    >>> coin, prior = Channel([["3/4", "1/4"], ["1/4", "3/4"]]), Prior(["1/5", "4/5"])
    >>> function_cost_leakage(coin, prior, pmc_function_witness(coin, prior, 0)).value_of(0).ratio
    Fraction(7, 5)
    """
    masses = [Fraction(mass) for mass in align(prior, channel).masses.tolist()]
    star = _position(channel, prior, pmc(channel, prior).secret_of(outcome))
    others = sum(masses, Fraction(0)) - masses[star]
    if not others:
        raise InvalidInput(
            "prior must hold at least two secrets possible, got one; there is nothing to rule out."
        )
    count = _at_most(math.ceil(masses[star] / others))
    rows = np.full((len(masses), count + 1), Fraction(0), dtype=object)
    rows[:, count] = Fraction(1)
    rows[star] = [Fraction(1, count)] * count + [Fraction(0)]
    return Channel(rows, channel.inputs)


def _position(channel: Channel, prior: Prior, secret: Label) -> int:
    return (channel.inputs if channel.inputs.given else prior.labels).position(secret)


def _spread(symbols: list[int], channel: Channel) -> Channel:
    total = _at_most(sum(symbols))
    rows = np.full((len(symbols), total), Fraction(0), dtype=object)
    start = 0
    for row, count in enumerate(symbols):
        rows[row, start : start + count] = Fraction(1, count)
        start += count
    return Channel(rows, channel.inputs)


def _at_most(symbols: int) -> int:
    if symbols > _MAX_SYMBOLS:
        raise InvalidInput(
            f"witness would need {symbols} symbols, more than {_MAX_SYMBOLS}, because the masses are so uneven; "
            "use the gain or cost witness, which stays small."
        )
    return symbols
