"""Adversaries with infinitely many guesses: a real number under L_p loss, a distribution under α-loss.

Each lowers its least expected cost by a factor e^leakage when it sees the outcome, at most e^PMC:

    L_p    c(x, w) = |x − w|^p, p ≥ 1        best guess at p = 1 the median, at p = 2 the mean with cost Var X
    α      c(x, Q) = α/(α−1) (1 − Q(x)^(1−1/α)),  −log Q(x) at α = 1,  1 − Q(x) at α = ∞
           best guess Q ∝ P^α, with cost α/(α−1) (1 − ‖P‖_α), entropy at α = 1, 1 − max P at α = ∞

(PMC paper, Examples 1 and 2; Hölder's inequality gives the α-loss, reversed for α < 1.) Floats count as the rationals
they store. The cost before is bounded from below, the cost after from above, so an attack is rounded down. Other p
need no formula: the expected cost is convex in w, so a bracket [a, b] of the best guess, checked by the signs of the
slopes f'(a) ≤ 0 ≤ f'(b), proves f ≥ f(a) + f'(a)(b − a) for every w.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from tightlip.errors import InvalidInput
from tightlip.measures.adversary import AdversaryLeakage, Guess, function_rows, require_stake
from tightlip.measures.joint import ExactJoint, FloatJoint, join
from tightlip.model.channel import Channel, as_channel
from tightlip.model.labels import labelled_vector
from tightlip.model.matrix import freeze
from tightlip.model.prior import Prior
from tightlip.numeric.ball import Ball, ball, ball_ends, enclose_exactly, log_bounds
from tightlip.numeric.parse import Real, exact, extended_real, float_text, real
from tightlip.numeric.quantity import Nats

_MOST = 1000  # beyond it losses leave the range in which floats find a good guess
_BISECTIONS = 70
_BITS = 192
Masses = list[Fraction]


@dataclass(frozen=True, slots=True)
class Least:
    """The least expected cost of a measure, between two ends that are equal where it is rational, and its guess."""

    lower: Fraction
    upper: Fraction
    guess: Guess


Loss = Callable[[Masses], Least]


def lp_loss_leakage(
    channel: Channel, prior: Prior, values: Any, p: Any = 2, *, function: Channel | None = None
) -> AdversaryLeakage:
    """Compute the leakage of each outcome to an adversary who guesses a number with cost |x − w|^p, ≤ PMC.

    Parameters
    ----------
    channel : Channel
    prior : Prior
    values : one real number for each secret, in the channel's order or by label
    p : number from 1 to 1000
        1 is the mean absolute error, 2 the mean squared error.
    function : Channel, optional
        Guess its output U on the secret instead; `values` are then those of its outcomes.

    Returns
    -------
    AdversaryLeakage
        In nats, rounded down; its guesses are numbers. Exact for exact input where p is 1 or 2.

    >>> from tightlip import Channel, Prior
    >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]], outputs=["+", "-"])
    >>> found = lp_loss_leakage(coin, Prior(["1/2", "1/2"]), [0, 1])
    >>> found.ratios, found.guesses
    ((Fraction(4, 3), Fraction(4, 3)), (0.25, 0.75))
    """
    power = Fraction(_order(p, "p", Fraction(1)))
    joint = join(channel, prior)
    names, owner = channel.inputs, "secrets"
    if function is not None:
        names, owner = as_channel(function, "function").outputs, "outcomes of the function"
    given = labelled_vector(values, names, "values", owner)
    places = range(len(given)) if function is not None else joint.support.tolist()
    points = [Fraction(real(given[place], "values")) for place in places]
    low, high = min(points), max(points)
    scaled = [(point - low) / (high - low) for point in points] if high > low else points

    def loss(masses: Masses) -> Least:
        """The cost in units of the range, which only ratios leave out."""
        held = [(point, mass) for point, mass in zip(scaled, masses, strict=True) if mass]
        lower, upper, guess = _least_distance(held, power)
        return Least(lower, upper, float(low + guess * (high - low)))

    rational = given.dtype == object and power in (1, 2)
    return _leakage(joint, _measures(joint, channel, function), loss, rational)


def alpha_loss_leakage(
    channel: Channel, prior: Prior, alpha: Any, *, function: Channel | None = None
) -> AdversaryLeakage:
    """Compute the leakage of each outcome to an adversary who guesses a distribution under α-loss, ≤ PMC.

    Not the α-leakage of Liao et al., which is about gains.

    Parameters
    ----------
    channel : Channel
    prior : Prior
    alpha : number from 1/1000 to 1000, or infinity
        1 is log-loss, infinity the probability of a wrong guess.
    function : Channel, optional
        Guess the distribution of its output U on the secret instead.

    Returns
    -------
    AdversaryLeakage
        In nats, rounded down; its guesses are the masses of distributions. Exact for exact input where α = ∞.

    >>> from tightlip import Channel, Prior
    >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]], outputs=["+", "-"])
    >>> fair = Prior(["1/2", "1/2"])
    >>> alpha_loss_leakage(coin, fair, float("inf")).worst.ratio
    Fraction(2, 1)
    >>> f"{alpha_loss_leakage(coin, fair, 1).worst:.6f}"  # log 2 over the entropy of (1/4, 3/4), in nats
    '0.209144'
    """
    order = _order(alpha, "alpha", Fraction(1, _MOST), infinite=True)
    joint = join(channel, prior)
    loss = _worst_mass if math.isinf(order) else _alpha_loss(Fraction(order))
    return _leakage(joint, _measures(joint, channel, function), loss, math.isinf(order))


def _order(value: Any, argument: str, least: Fraction, *, infinite: bool = False) -> Real:
    read = exact(extended_real(value, argument))
    if least <= read <= _MOST or (infinite and read == math.inf):
        return read
    more = " or infinite" if infinite else ""
    raise InvalidInput(
        f"{argument} must be from {least} to {_MOST}{more}, got {float_text(read)}; "
        "use pmc for the worst of all losses."
    )


@dataclass(frozen=True, slots=True)
class _Measures:
    """What is guessed: its masses before, and with each outcome, unnormalised."""

    before: Masses
    after: list[Masses]
    exact: bool


def _measures(joint: ExactJoint | FloatJoint, channel: Channel, function: Channel | None) -> _Measures:
    weights = [Fraction(mass) for mass in joint.given_weights.tolist()]
    columns = [joint.column(place).tolist() for place in range(len(joint.outcomes))]
    after = [
        [mass * Fraction(entry) for mass, entry in zip(weights, column, strict=True)] for column in columns
    ]
    if function is None:
        return _Measures(weights, after, joint.exact)
    rows = function_rows(as_channel(function, "function").exact(), channel)[joint.support]

    def image(masses: Masses) -> Masses:
        return [Fraction(mass) for mass in np.array(masses, dtype=object) @ rows]

    return _Measures(image(weights), [image(masses) for masses in after], joint.exact and function.is_exact)


def _leakage(
    joint: ExactJoint | FloatJoint, measures: _Measures, loss: Loss, rational: bool
) -> AdversaryLeakage:
    start, ends = loss(measures.before), [loss(masses) for masses in measures.after]
    require_stake(start.lower, "cost")
    stake = start.lower / sum(measures.before)
    sizes = [sum(masses, Fraction(0)) for masses in measures.after]
    ratios = [stake * size / end.upper if end.upper else None for size, end in zip(sizes, ends, strict=True)]
    cost = sum((end.upper for end in ends), Fraction(0))
    average = stake * sum(sizes) / cost if cost else None
    return AdversaryLeakage(
        values=freeze(np.array([math.inf if ratio is None else log_bounds(ratio)[0] for ratio in ratios])),
        probabilities=freeze(joint.probabilities()),
        outcomes=joint.outcomes,
        guesses=tuple(end.guess for end in ends),
        prior_guess=start.guess,
        average=_nats(average, measures.exact and rational),
        ratios=tuple(ratios) if measures.exact and rational else None,
    )


def _nats(ratio: Fraction | None, known: bool) -> Nats:
    if ratio is None:
        return Nats(math.inf, rounding="down")
    return Nats.of_ratio(ratio, "down") if known else Nats(log_bounds(ratio)[0], rounding="down")


def _worst_mass(masses: Masses) -> Least:
    total, top = sum(masses, Fraction(0)), max(masses)
    best = masses.index(top)
    return Least(total - top, total - top, tuple(float(place == best) for place in range(len(masses))))


def _alpha_loss(alpha: Fraction) -> Loss:
    def loss(masses: Masses) -> Least:
        total = sum(masses, Fraction(0))
        held = [mass / total for mass in masses if mass]
        weights = [float(mass / total) ** float(alpha) for mass in masses]
        guess = tuple(weight / (sum(weights) or 1.0) for weight in weights)
        if len(held) == 1:
            return Least(Fraction(0), Fraction(0), guess)
        lower, upper = enclose_exactly(lambda: _arimoto(held, alpha))
        return Least(max(lower, Fraction(0)) * total, upper * total, guess)

    return loss


def _arimoto(held: Masses, alpha: Fraction) -> Ball:
    """α/(α−1) (1 − ‖P‖_α), the Shannon entropy at α = 1."""
    if alpha == 1:
        return -sum((ball(mass) * ball(mass).log() for mass in held), ball(0))
    top = max(held)
    total = sum(((ball(alpha) * ball(mass / top).log()).exp() for mass in held), ball(0))
    norm = ball(top) * (total.log() / ball(alpha)).exp()
    return ball(alpha / (alpha - 1)) * (1 - norm)


Held = list[tuple[Fraction, Fraction]]


def _least_distance(held: Held, power: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """Both ends of min_w Σ mass·|point − w|^p for points in [0, 1], and a w."""
    from flint import ctx

    if len({point for point, _ in held}) == 1:
        return Fraction(0), Fraction(0), held[0][0]
    if power in (1, 2):
        guess = _median(held) if power == 1 else _mean(held)
        cost = sum((mass * abs(point - guess) ** int(power) for point, mass in held), Fraction(0))
        return cost, cost, guess
    low, high = _bracket(held, power)
    with ctx.workprec(_BITS):
        width = ball(high - low)
        at_low, at_high = _cost(held, power, low), _cost(held, power, high)
        tangents = at_low + width * _slope(held, power, low), at_high - width * _slope(held, power, high)
        below = max(Fraction(0), *(ball_ends(tangent)[0] for tangent in tangents))
        above, guess = min((ball_ends(at_low)[1], low), (ball_ends(at_high)[1], high))
    return below, above, guess


def _median(held: Held) -> Fraction:
    ordered = sorted(held)
    passed = list(accumulate(mass for _, mass in ordered))
    return next(point for (point, _), mass in zip(ordered, passed, strict=True) if 2 * mass >= passed[-1])


def _mean(held: Held) -> Fraction:
    return sum((p * m for p, m in held), Fraction(0)) / sum((m for _, m in held), Fraction(0))


def _cost(held: Held, power: Fraction, guess: Fraction) -> Ball:
    return sum((ball(mass) * _power(abs(point - guess), power) for point, mass in held), ball(0))


def _slope(held: Held, power: Fraction, guess: Fraction) -> Ball:
    terms = (
        ball(mass if guess > point else -mass) * _power(abs(point - guess), power - 1) for point, mass in held
    )
    return ball(power) * sum(terms, ball(0))


def _power(distance: Fraction, power: Fraction) -> Ball:
    return (ball(power) * ball(distance).log()).exp() if distance else ball(0)


def _bracket(held: Held, power: Fraction) -> tuple[Fraction, Fraction]:
    """An interval that holds the best guess, as narrow as floats can find it, without a point of mass inside."""
    points = sorted({point for point, _ in held})
    centre = _float_guess(held, power)
    for exponent in range(-52, 1, 4):
        width = Fraction(2) ** exponent
        low, high = max(points[0], centre - width), min(points[-1], centre + width)
        falls = low == points[0] or _slope_sign(held, power, low) < 0
        rises = high == points[-1] or _slope_sign(held, power, high) > 0
        if falls and rises:
            break
    for point in points:  # beside a heavy point the slope is steep, and floats cannot tell the guess from it
        if low < point < high:
            sign = _slope_sign(held, power, point)
            low, high = (point if sign < 0 else low), (point if sign > 0 else high)
    return low, high


def _slope_sign(held: Held, power: Fraction, guess: Fraction) -> int:
    """The sign of the slope, 0 where it is not certain."""
    from flint import ctx

    with ctx.workprec(_BITS):
        slope = _slope(held, power, guess)
        return int(slope > 0) - int(slope < 0)


def _float_guess(held: Held, power: Fraction) -> Fraction:
    """Bisect the slope in floats: any guess is an attack, a good one a strong attack."""
    points = np.array([float(point) for point, _ in held])
    total = max(mass for _, mass in held)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.array([float(mass / total) for _, mass in held]))
        low, high = float(points.min()), float(points.max())
        for _ in range(_BISECTIONS):
            middle = low + (high - low) / 2
            pulls = logs + float(power - 1) * np.log(np.abs(points - middle))
            right = np.logaddexp.reduce(pulls[points > middle], initial=-np.inf)
            left = np.logaddexp.reduce(pulls[points < middle], initial=-np.inf)
            low, high = (middle, high) if right > left else (low, middle)
    return Fraction(low)
