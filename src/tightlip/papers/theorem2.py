"""PMC Theorem 2: every cost function is a randomised function of the secret that one would rather not guess wrong.

Let w and v be the best guesses before and after outcome y, a(x) = c(x, w)/2C and b(x) = c(x, v)/2C with C the largest
cost, and A = E a, A' = E[a | y], B = E b, B' = E[b | y]. The function with two values

    P(1 | x) = δ a(x) + (1 − δ) b(x),      δ = B'(B − A) / (B'(B − A) + A(A' − B')),

is guessed wrong with probability δA + (1−δ)B before and δA' + (1−δ)B' after y, since 1 is never the likelier value,
and the ratio of the two is A/B', that of the cost. The paper takes C for 2C, k + 1 values, lets k grow, finds δ by
continuity and needs another function where the leakage is infinite; two values and this δ do for all.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tightlip.measures.adversary import cost_leakage
from tightlip.measures.conditional import posterior
from tightlip.model.channel import Channel, align, as_channel
from tightlip.model.labels import Label, labelled_matrix
from tightlip.model.prior import Prior


def theorem2_function(channel: Channel, prior: Prior, cost: Any, outcome: Label) -> Channel:
    """Build a randomised function of the secret that leaks as much as `cost` at `outcome`, when not guessed wrong.

    Parameters
    ----------
    channel : Channel
    prior : Prior
    cost : matrix of non-negative numbers (secrets × guesses)
    outcome : label

    Returns
    -------
    Channel
        P(u | x) for u = 0, 1, in rationals; floats count as the rationals they store.

    >>> from tightlip import Channel, Prior
    >>> from tightlip.measures import function_cost_leakage
    >>> coin, prior = Channel([["3/4", "1/4"], ["1/4", "3/4"]]), Prior(["1/5", "4/5"])
    >>> cost = [[0, 2], [2, 1]]  # the best guess changes
    >>> function = theorem2_function(coin, prior, cost, 0)
    >>> cost_leakage(coin, prior, cost).value_of(0).ratio
    Fraction(21, 20)
    >>> function_cost_leakage(coin, prior, function).value_of(0).ratio
    Fraction(21, 20)
    """
    matrix = labelled_matrix(cost, as_channel(channel).inputs, "cost", "secrets")
    costs = np.array([[Fraction(entry) for entry in row] for row in matrix.tolist()], dtype=object)
    channel, before = channel.exact(), align(prior, channel).exact()
    cost_leakage(channel, before, costs)  # refuses what is no cost
    after = posterior(channel, before, outcome).masses
    guesses = (int(np.argmin(masses @ costs)) for masses in (before.masses, after))
    first, second = (costs[:, guess] / (2 * costs.max()) for guess in guesses)
    share = _share(first @ before.masses, first @ after, second @ before.masses, second @ after)
    wrong = share * first + (1 - share) * second
    return Channel(np.stack([1 - wrong, wrong], axis=1), channel.inputs)


def _share(a: Fraction, a_after: Fraction, b: Fraction, b_after: Fraction) -> Fraction:
    """δ, and 1 where both guesses are best before and after."""
    one, two = b_after * (b - a), a * (a_after - b_after)
    return Fraction(one, one + two) if one + two else Fraction(1)
