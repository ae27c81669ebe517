"""The binary envelope: what an adversary gains who only learns that one event of probability δ happened.

    ε_b(δ) = sup over events E, P(E) ≥ δ, of log max_x P(E|x) / P(E) = log max_x κ_x(δ),
    κ_x(δ) = G_x(δ)/δ,   G_x(δ) = max { Σ_y w_y K_xy : 0 ≤ w ≤ 1, Σ_y w_y q_y = δ }.

Events may be randomised (w_y is the chance that outcome y counts as the event). G_x is concave with
G_x(0) = 0, so κ_x falls with δ and mass exactly δ is best. G_x takes the outcomes in decreasing order
of lift K_xy/q_y, the last one in part (ENV paper, Algorithm 1). By duality, for every τ ≥ 0,
    G_x(δ) ≤ τδ + Σ_y (K_xy − τ q_y)₊,   with equality where τ is the lift of the last outcome taken.

Floats. The upper end is the dual bound, with q_y replaced by its lower end: an event of mass δ has no
more than δ then, so the bound only grows. The lower end is what an event that surely has mass δ surely
reaches. Sorting by rounded lifts costs nothing: x/q < t for a float t follows from its rounding.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightlip.envelope.result import Envelope, read_delta, read_deltas
from tightlip.measure.joint import ExactJoint, FloatJoint, join
from tightlip.model.channel import Channel
from tightlip.model.matrix import dense_row, is_sparse
from tightlip.model.prior import Prior
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import UNIT, gamma, log_ratio_down, log_ratio_up, tree_sum

_BLOCK = 1 << 21  # entries sorted at a time
_METHOD = "sorting outcomes by lift"


def binary_envelope(channel: Channel, prior: Prior, delta: object) -> Envelope:
    """ε_b(δ): the largest leakage of an event of probability at least δ, randomised events included.

    This is the event form. The ENV paper defines ε_b by binary post-processings Z, where for δ > ½ both
    cells may count as bad; the two agree for δ ≤ ½ (one of two cells has probability ½ or more, so it
    alone does as well as both), and above ½ the event form may be smaller. For the other form use
    `kary_attack(channel, prior, delta, 2)`.

    Parameters
    ----------
    channel : Channel
    prior : Prior
    delta : number in (0, 1]

    Returns
    -------
    Envelope
        In nats. `attack` maps outcomes to "event" and "rest"; the event has probability at least δ and
        reaches `lower`. For exact input the two ends are neighbouring floats.

    >>> from tightlip import Prior, mechanism
    >>> found = binary_envelope(mechanism.env_example_1(), Prior.uniform(4), "1/5")
    >>> found
    Envelope(delta=0.2, 0.510825 to 0.510826 nats, adversary: binary, by sorting outcomes by lift)
    >>> found.attack.matrix[2]
    array([Fraction(1, 3), Fraction(2, 3)], dtype=object)
    """
    wanted = read_delta(delta)
    joint = join(channel, prior)
    if isinstance(joint, ExactJoint):
        best = max(_exact_fills(joint, [wanted]), key=lambda fills: fills[0].ratio)[0]
        lower, upper = log_bounds(best.ratio)
        return Envelope(wanted, lower, upper, _METHOD, "binary", _exact_attack(channel, joint, best))
    levels = Levels.of([wanted], joint)
    ends = _float_ends(joint, levels)
    attack, lower = _float_attack(channel, joint, levels, int(ends.suspects[0]))
    return Envelope(wanted, lower, float(ends.upper[0]), _METHOD, "binary", attack)


def binary_envelope_curve(channel: Channel, prior: Prior, deltas: Iterable[object]) -> tuple[Envelope, ...]:
    """ε_b at many probabilities, sorting once: the same ends as `binary_envelope`, without the attacks.

    >>> from tightlip import Prior, mechanism
    >>> curve = binary_envelope_curve(mechanism.env_example_1(), Prior.uniform(4), ["1/10", "1/5", 1])
    >>> [round(point.upper, 6) for point in curve]
    [0.893818, 0.510826, 0.0]
    """
    wanted = read_deltas(deltas)
    joint = join(channel, prior)
    if isinstance(joint, ExactJoint):
        rows = list(_exact_fills(joint, wanted))
        ratios = [max(fill.ratio for fill in column) for column in zip(*rows, strict=True)]
        bounds = [log_bounds(ratio) for ratio in ratios]
    else:
        ends = _float_ends(joint, Levels.of(wanted, joint))
        bounds = list(zip(ends.lower.tolist(), ends.upper.tolist(), strict=True))
    return tuple(
        Envelope(value, lower, upper, _METHOD, "binary")
        for value, (lower, upper) in zip(wanted, bounds, strict=True)
    )


class ExactFill(NamedTuple):
    """The best event of one row: κ, the order of outcomes, how many are taken whole, the part of the next."""

    ratio: Fraction
    order: list[int]
    whole: int
    share: Fraction


def fill_exact(
    row: Sequence[Fraction], marginal: Sequence[Fraction], deltas: Sequence[Fraction]
) -> list[ExactFill]:
    """κ(δ) of one row of likelihoods, in rationals; a δ above the whole mass counts as all of it.

    >>> half = Fraction(1, 2)
    >>> [fill.ratio for fill in fill_exact([half, half], [Fraction(1, 4), 3 * half / 2], [half, Fraction(1)])]
    [Fraction(4, 3), Fraction(1, 1)]
    """
    order = sorted(range(len(row)), key=lambda place: row[place] / marginal[place], reverse=True)
    masses = list(accumulate((marginal[place] for place in order), initial=Fraction(0)))
    gains = list(accumulate((row[place] for place in order), initial=Fraction(0)))
    found = []
    for delta in deltas:
        mass = min(delta, masses[-1])
        whole = bisect_left(masses, mass, lo=1) - 1
        share = (mass - masses[whole]) / marginal[order[whole]]
        ratio = (gains[whole] + share * row[order[whole]]) / mass
        found.append(ExactFill(ratio, order, whole, share))
    return found


@dataclass(frozen=True, slots=True)
class Levels:
    """Probabilities δ as floats: above ≥ δ, and reachable ≤ δ and ≤ the mass of all outcomes."""

    above: FloatArray
    reachable: FloatArray
    least: FloatArray
    most: FloatArray
    all_least: float
    all_most: float

    @classmethod
    def of(cls, deltas: Sequence[Fraction], joint: FloatJoint) -> Levels:
        """Round outward, with the ends of the outcomes' probabilities."""
        least, most = joint.probability_ends()
        (low, high), error = tree_sum(np.stack([least, most]))
        whole = float(low) * (1 - 2 * error)
        above = [_rounded(delta, math.inf) for delta in deltas]
        below = [min(_rounded(delta, 0.0), whole) for delta in deltas]
        return cls(np.array(above), np.array(below), least, most, whole, float(high) * (1 + 2 * error))


@dataclass(frozen=True, slots=True)
class Fill:
    """Rows of likelihoods sorted by lift, with running sums (first column 0): enough to fill any mass.

    Sums of `gains` and `mosts` are off by a relative `error`; `leasts` are lower ends already.
    """

    order: NDArray[np.intp]
    lifts: FloatArray
    rows: FloatArray
    least: FloatArray
    most: FloatArray
    gains: FloatArray
    leasts: FloatArray
    mosts: FloatArray
    error: float

    @classmethod
    def of(cls, rows: FloatArray, least: FloatArray, most: FloatArray) -> Fill:
        """Sort each row by lift."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            lifts = np.where(rows > 0, rows / least, 0.0)
        order = np.argsort(-lifts, axis=1)
        lifts, rows = np.take_along_axis(lifts, order, 1), np.take_along_axis(rows, order, 1)
        least, most = least[order], most[order]
        (gains, error), (leasts, _), (mosts, _) = _running(rows), _running(least), _running(most)
        leasts = np.maximum.accumulate(leasts * (1 - 2 * error), axis=1)
        return cls(order, lifts, rows, least, most, gains, leasts, mosts, error)

    def upper(self, levels: Levels) -> FloatArray:
        """An upper bound of log κ for each row and level, by the dual bound of the module's docstring."""
        at, full = self._boundary(levels)
        tau = self._pick(self.lifts, at)
        before = self._pick(self.gains, at) * (1 + 2 * self.error)
        total = self.gains[:, -1:] * (1 + 2 * self.error)
        with np.errstate(invalid="ignore", over="ignore"):
            inside = np.maximum(before - tau * self._pick(self.leasts, at), 0.0)
            gain = (np.nextafter(tau, math.inf) * levels.above + inside + 8 * UNIT * before) * (1 + 8 * UNIT)
        gain = np.where(full | np.isinf(tau), total, np.fmin(gain, total))
        return log_ratio_up(gain, np.broadcast_to(levels.reachable, gain.shape))

    def lower(self, levels: Levels) -> FloatArray:
        """A lower bound of log κ for each row and level: what the event of `shares` surely reaches."""
        at, full = self._boundary(levels)
        share = self._share(levels, at)
        gain = self._pick(self.gains, at) * (1 - 2 * self.error)
        gain = (gain + share * (1 - 4 * UNIT) * self._pick(self.rows, at)) * (1 - 4 * UNIT)
        mass = self._pick(self.mosts, at) * (1 + 2 * self.error)
        mass = (mass + share * (1 + 4 * UNIT) * self._pick(self.most, at)) * (1 + 4 * UNIT)
        gain = np.where(full, self.gains[:, -1:] * (1 - 2 * self.error), gain)
        mass = np.where(full, self.mosts[:, -1:] * (1 + 2 * self.error), mass)
        return log_ratio_down(gain, mass)

    def event(self, levels: Levels) -> FloatArray:
        """The event behind `lower`, for one row and one level: a weight for each outcome."""
        at, full = self._boundary(levels)
        weights = np.zeros(self.rows.shape[1])
        weights[self.order[0, : int(at[0, 0])]] = 1.0
        weights[self.order[0, int(at[0, 0])]] = 1.0 if full[0, 0] else self._share(levels, at)[0, 0]
        return weights

    def _boundary(self, levels: Levels) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """The outcome taken in part, and where no number of outcomes surely has the mass."""
        at = np.array([np.searchsorted(row, levels.above) for row in self.leasts[:, 1:]], dtype=np.intp)
        last = self.rows.shape[1] - 1
        return np.minimum(at, last), at > last

    def _share(self, levels: Levels, at: NDArray[np.intp]) -> FloatArray:
        """The part that is surely enough, also after a row (w, 1 − w) of floats is scaled to sum to 1."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            share = (levels.above - self._pick(self.leasts, at)) / self._pick(self.least, at)
            share = np.nextafter(share * (1 + 16 * UNIT), math.inf)
        return np.fmin(share, 1.0)

    def _pick(self, values: FloatArray, at: NDArray[np.intp]) -> FloatArray:
        return np.take_along_axis(values, at, 1)


class _Ends(NamedTuple):
    lower: FloatArray
    upper: FloatArray
    suspects: NDArray[np.intp]


def _float_ends(joint: FloatJoint, levels: Levels) -> _Ends:
    """Both ends of ε_b at each level, and the secret that reaches the lower one."""
    lower = np.full(len(levels.above), -math.inf)
    upper, suspects = lower.copy(), np.zeros(len(lower), dtype=np.intp)
    for first, fill in _fills(joint, levels):
        reached = fill.lower(levels)
        suspects = np.where(reached.max(axis=0) > lower, first + reached.argmax(axis=0), suspects)
        lower = np.maximum(lower, reached.max(axis=0))
        upper = np.maximum(upper, fill.upper(levels).max(axis=0))
    worst = joint.log_lift_ends()[1].max()
    return _Ends(np.maximum(lower, 0.0), np.maximum(np.minimum(upper, worst), 0.0), suspects)


def _fills(joint: FloatJoint, levels: Levels) -> Iterator[tuple[int, Fill]]:
    """Blocks of rows, with the place of the first; of a sparse matrix row by row, zeros lumped together."""
    matrix, places = joint.matrix, joint.places
    if not is_sparse(matrix):
        step = max(1, _BLOCK // len(places))
        for first in range(0, matrix.shape[0], step):
            rows = matrix[first : first + step]
            rows = rows if len(places) == matrix.shape[1] else rows[:, places]
            yield first, Fill.of(rows, levels.least, levels.most)
        return
    for row in range(matrix.shape[0]):
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        found = np.searchsorted(places, matrix.indices[part])
        least, most = levels.least[found], levels.most[found]
        error = 2 * gamma(len(found) + 2)
        rest_least = max(0.0, levels.all_least - float(most.sum()) * (1 + error)) * (1 - 4 * UNIT)
        rest_most = max(0.0, levels.all_most - float(least.sum()) * (1 - error)) * (1 + 4 * UNIT)
        entries = np.append(matrix.data[part], 0.0)[None, :]
        yield row, Fill.of(entries, np.append(least, rest_least), np.append(most, rest_most))


def _float_attack(channel: Channel, joint: FloatJoint, levels: Levels, suspect: int) -> tuple[Channel, float]:
    row = dense_row(joint.matrix, suspect)[joint.places][None, :]
    fill = Fill.of(row, levels.least, levels.most)
    weights = np.zeros(channel.shape[1])
    weights[joint.places] = fill.event(levels)
    rows = np.column_stack([weights, 1.0 - weights])
    reached = max(0.0, float(fill.lower(levels)[0, 0]))
    return Channel(rows, channel.outputs, ["event", "rest"]), reached


def _exact_fills(joint: ExactJoint, deltas: Sequence[Fraction]) -> Iterator[list[ExactFill]]:
    marginal = joint.marginal.tolist()
    for row in joint.matrix[:, joint.places].tolist():
        yield fill_exact(row, marginal, deltas)


def _exact_attack(channel: Channel, joint: ExactJoint, fill: ExactFill) -> Channel:
    weights: list[Any] = [Fraction(0)] * channel.shape[1]
    for place in fill.order[: fill.whole]:
        weights[joint.places[place]] = Fraction(1)
    weights[joint.places[fill.order[fill.whole]]] = fill.share
    return Channel([[weight, 1 - weight] for weight in weights], channel.outputs, ["event", "rest"])


def _running(values: FloatArray) -> tuple[FloatArray, float]:
    """Running sums along each row, 0 first, with a bound on their relative error.

    Sums within pieces of about √M entries, then over the pieces: the error grows with √M, not M.
    """
    rows, length = values.shape
    width = math.isqrt(length - 1) + 1
    pieces = -(-length // width)
    padded = np.zeros((rows, pieces * width))
    padded[:, :length] = values
    inner = np.cumsum(padded.reshape(rows, pieces, width), axis=2)
    inner[:, 1:] += np.cumsum(inner[:, :-1, -1], axis=1)[:, :, None]
    sums = np.zeros((rows, length + 1))
    sums[:, 1:] = inner.reshape(rows, -1)[:, :length]
    return sums, gamma(width + pieces + 2)


def _rounded(value: Fraction, toward: float) -> float:
    """A float on one side of a positive rational, which stays positive."""
    nearest = float(value)
    exact = Fraction(nearest)
    if exact == value or (exact > value) == (toward > nearest):
        return nearest
    return math.nextafter(nearest, toward)
