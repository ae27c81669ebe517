"""One adversary's leakage, given what it wants.

A gain g(x, w) ≥ 0 is what guess w earns when the secret is x; a cost c(x, w) ≥ 0 what it loses.

    gain leakage(y) = log max_w E[g(X, w) | y] / max_w E[g(X, w)]   ≤ PML(y)
    cost leakage(y) = log min_w E[c(X, w)] / min_w E[c(X, w) | y]   ≤ PMC(y)

Guessing a randomised function U of the secret is the gain P(u | x) and the cost 1 − P(u | x)
(PMC paper, Definitions 2, 3, 7 and Theorem 2). An attack is rounded down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput, quoted
from tightlip.measures.distribution import exact_ends
from tightlip.measures.joint import ExactJoint, FloatJoint, join
from tightlip.model.channel import Channel, align, as_channel
from tightlip.model.labels import Label, Labels, labelled_matrix, match
from tightlip.model.matrix import dense, dense_columns, freeze, is_sparse
from tightlip.model.prior import Prior
from tightlip.numeric.parse import FloatArray, to_floats
from tightlip.numeric.quantity import Nats
from tightlip.numeric.rounding import gamma, log_ratio_down, sum_down, sum_up, widen_down, widen_up
from tightlip.showing import Shown, Tabled

Aim = Literal["gain", "cost"]
Guess = int | float | tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class AdversaryLeakage(Shown, Tabled):
    """What one adversary learns from each outcome that can occur, in outcome order.

    Attributes
    ----------
    values : array of nats, rounded down; negative where the outcome leaves the adversary worse off
    probabilities : array, P(Y = y)
    outcomes : labels
    guesses : for each outcome the best guess: the column of the gain or cost matrix, a number, or a distribution
    prior_guess : the best guess before any outcome
    average : the leakage of the expected gain or cost over all outcomes, rounded down
    ratios : the exact e^value (None where infinite), if all input was exact
    """

    values: FloatArray
    probabilities: FloatArray
    outcomes: Labels
    guesses: tuple[Guess, ...]
    prior_guess: Guess
    average: Nats
    ratios: tuple[Fraction | None, ...] | None

    @property
    def worst(self) -> Nats:
        """The leakage of the outcome that helps this adversary most."""
        return self.value_of(self.worst_outcome)

    @property
    def worst_outcome(self) -> Label:
        """The outcome that helps this adversary most."""
        if self.ratios is None:
            return self.outcomes[int(np.argmax(self.values))]
        sizes = [math.inf if ratio is None else ratio for ratio in self.ratios]
        return self.outcomes[max(range(len(sizes)), key=sizes.__getitem__)]

    def value_of(self, outcome: Label) -> Nats:
        """Look up the leakage of one outcome."""
        place = self.outcomes.position(outcome, "outcome")
        ratio = None if self.ratios is None else self.ratios[place]
        return Nats(float(self.values[place]), ratio, "down")


def gain_leakage(channel: Channel, prior: Prior, gain: Any) -> AdversaryLeakage:
    """Compute the leakage of each outcome to an adversary with gain matrix `gain` (secrets × guesses), ≤ PML.

    Parameters
    ----------
    channel : Channel
    prior : Prior
    gain : matrix of non-negative numbers, one row per secret in the channel's order
        The rows of a pandas DataFrame are found by its index, which must be the channel's secrets.

    >>> from tightlip import Channel, Prior
    >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]], outputs=["+", "-"])
    >>> guess_the_secret = [[1, 0], [0, 1]]
    >>> gain_leakage(coin, Prior(["1/2", "1/2"]), guess_the_secret).ratios
    (Fraction(3, 2), Fraction(3, 2))
    """
    return _leakage(channel, prior, _payoff(gain, channel, "gain"), "gain")


def cost_leakage(channel: Channel, prior: Prior, cost: Any) -> AdversaryLeakage:
    """Compute the leakage of each outcome to an adversary with cost matrix `cost` (secrets × guesses), ≤ PMC.

    >>> from tightlip import Channel, Prior
    >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]], outputs=["+", "-"])
    >>> wrong_guess = [[0, 1], [1, 0]]
    >>> cost_leakage(coin, Prior(["1/2", "1/2"]), wrong_guess).ratios
    (Fraction(2, 1), Fraction(2, 1))
    """
    return _leakage(channel, prior, _payoff(cost, channel, "cost"), "cost")


def function_gain_leakage(channel: Channel, prior: Prior, function: Channel) -> AdversaryLeakage:
    """Compute the leakage to an adversary who wants to guess U right, U being the output of `function` on the secret.

    >>> from tightlip import Channel, Prior
    >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> function_gain_leakage(coin, Prior(["1/2", "1/2"]), Channel([[1, 0], [0, 1]])).worst.ratio
    Fraction(3, 2)
    """
    return _leakage(channel, prior, function_rows(function, channel), "gain")


def function_cost_leakage(channel: Channel, prior: Prior, function: Channel) -> AdversaryLeakage:
    """Compute the leakage to an adversary who wants not to guess U wrong, U being the output of `function`.

    >>> from tightlip import Channel, Prior
    >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> function_cost_leakage(coin, Prior(["1/2", "1/2"]), Channel([[1, 0], [0, 1]])).worst.ratio
    Fraction(2, 1)
    """
    rows = function_rows(function, channel)
    return _leakage(channel, prior, np.maximum(1 - rows, 0), "cost")


def _leakage(channel: Channel, prior: Prior, payoff: NDArray[Any], aim: Aim) -> AdversaryLeakage:
    joint = join(channel, prior)
    payoff = payoff[align(prior, channel).support]
    if isinstance(joint, ExactJoint) and payoff.dtype == object:
        return _exact_leakage(joint, payoff, aim)
    if isinstance(joint, ExactJoint):
        joint = join(Channel(channel.floats, channel.inputs, channel.outputs), prior, slack=gamma(4))
    assert isinstance(joint, FloatJoint)
    return _float_leakage(joint, _unit_payoff(payoff, aim), aim)


def _unit_payoff(payoff: NDArray[Any], aim: Aim) -> FloatArray:
    """Scale the payoff in floats to at most 1: only ratios of payoffs count, and nothing can overflow."""
    peak = payoff.max()
    if not peak:
        return np.zeros(payoff.shape)
    if payoff.dtype == object:
        return to_floats(payoff / peak, aim)
    scaled = np.asarray(np.ldexp(payoff, -np.frexp(peak)[1]), dtype=np.float64)
    if ((scaled == 0) & (payoff != 0)).any():
        raise InvalidInput(
            f"{aim} must not span more than the float range, got {peak!r} as its largest; give it exactly."
        )
    return scaled


def _exact_leakage(joint: ExactJoint, payoff: NDArray[Any], aim: Aim) -> AdversaryLeakage:
    best = max if aim == "gain" else min
    weighted = payoff * joint.weights[:, None]
    before = weighted.sum(axis=0)
    after = weighted.T @ joint.matrix[:, joint.places]
    start = Fraction(best(before))
    require_stake(start, aim)
    scores = [Fraction(best(after[:, place])) for place in range(after.shape[1])]
    ratios = [_ratio(score, mass * start, aim) for score, mass in zip(scores, joint.marginal, strict=True)]
    average = _ratio(sum(scores, Fraction(0)), start, aim)
    lower, _ = exact_ends([ratio if ratio != 0 else None for ratio in ratios])
    values = np.array([-np.inf if ratio == 0 else value for ratio, value in zip(ratios, lower, strict=True)])
    pick = np.argmax if aim == "gain" else np.argmin
    return AdversaryLeakage(
        values=freeze(values),
        probabilities=freeze(joint.probabilities()),
        outcomes=joint.outcomes,
        guesses=tuple(int(pick(after[:, place])) for place in range(after.shape[1])),
        prior_guess=int(pick(before)),
        average=Nats(np.inf, rounding="down") if average is None else Nats.of_ratio(average, "down"),
        ratios=tuple(ratios),
    )


def _ratio(after: Fraction, before: Fraction, aim: Aim) -> Fraction | None:
    if aim == "gain":
        return after / before
    return before / after if after else None


def _float_leakage(joint: FloatJoint, payoff: FloatArray, aim: Aim) -> AdversaryLeakage:
    """Compute scores in floats, with the end that makes the attack smaller."""
    weighted = payoff * joint.weights[:, None]
    before = weighted.sum(axis=0)
    after = _scores(weighted, joint)
    pick = np.argmax if aim == "gain" else np.argmin
    prior_guess, guesses = int(pick(before)), pick(after, axis=0)
    start, scores = before[prior_guess], after[guesses, np.arange(after.shape[1])]
    require_stake(start, aim)
    least, most = _score_ends(scores, joint)
    first, last = _score_ends(np.array([start]), joint)
    lower, upper = joint.probability_ends()
    if aim == "gain":
        values = log_ratio_down(least, np.nextafter(upper * last, np.inf))
        average = log_ratio_down(np.array([sum_down(least)]), last)
    else:  # a cost that no possible secret can cause is exactly 0, and the leakage then infinite
        free = _surely_zero(payoff, joint, guesses)
        values = log_ratio_down(np.nextafter(lower * first, 0.0), np.where(free, 1.0, most))
        values[free] = np.inf
        total = sum_up(most[~free])
        average = log_ratio_down(first, np.array([total])) if total else np.array([np.inf])
    return AdversaryLeakage(
        values=freeze(values),
        probabilities=freeze(joint.probabilities()),
        outcomes=joint.outcomes,
        guesses=tuple(guesses.tolist()),
        prior_guess=prior_guess,
        average=Nats(float(average[0]), rounding="down"),
        ratios=None,
    )


def _score_ends(scores: FloatArray, joint: FloatJoint) -> tuple[FloatArray, FloatArray]:
    """Bound sums of n products of three factors; below the normal range each may be off by 2⁻¹⁰⁷³."""
    size = len(joint.weights)
    error, lost = gamma(size + 6) + 2 * joint.slack, size * 2.0**-1073
    return np.maximum(widen_down(scores, error) - lost, 0.0), widen_up(scores, error) + lost


def _surely_zero(payoff: FloatArray, joint: FloatJoint, guesses: NDArray[np.intp]) -> NDArray[np.bool_]:
    columns = dense_columns(joint.matrix, joint.places) > 0
    caused: NDArray[np.bool_] = np.any(columns & (payoff[:, guesses] > 0), axis=0)
    return ~caused


def _scores(weighted: FloatArray, joint: FloatJoint) -> FloatArray:
    if is_sparse(joint.matrix):
        return np.asarray((joint.matrix.T @ weighted).T[:, joint.places])
    return np.asarray(weighted.T @ joint.matrix)[:, joint.places]


def _payoff(values: Any, channel: Channel, argument: str) -> NDArray[Any]:
    matrix = labelled_matrix(values, as_channel(channel).inputs, argument, "secrets")
    negative = np.argwhere(matrix < 0)
    if len(negative):
        row, column = (int(index) for index in negative[0])
        raise InvalidInput(
            f"{argument} row {row}, column {column} must not be negative, got {quoted(matrix[row, column])}; "
            "shift the whole matrix so that its smallest entry is 0."
        )
    return matrix


def function_rows(function: Channel, channel: Channel) -> NDArray[Any]:
    """Read P(u | x), one row for each input of the channel."""
    as_channel(channel)
    order = match(
        channel.inputs,
        as_channel(function, "function").inputs,
        "inputs of the function",
        "the channel's inputs",
    )
    rows = dense(function.matrix)
    return rows if order is None else rows[order]


def require_stake(start: Any, aim: Aim) -> None:
    """Refuse an adversary who has nothing to gain or to lose."""
    if not start:
        raise InvalidInput(
            f"{aim} must be positive before any outcome is seen, got a best prior expectation of 0; "
            "a ratio to nothing says nothing."
        )
