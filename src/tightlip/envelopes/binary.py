"""The binary envelope: what an adversary gains who only learns that one event of probability δ happened.

    ε_b(δ) = sup over events E, P(E) ≥ δ, of log max_x P(E|x) / P(E) = log max_x κ_x(δ),
    κ_x(δ) = G_x(δ)/δ,   G_x(δ) = max { Σ_y w_y K_xy : 0 ≤ w ≤ 1, Σ_y w_y q_y = δ }.

Events may be randomised (w_y is the chance that outcome y counts as the event). G_x is concave with
G_x(0) = 0, so κ_x falls with δ and mass exactly δ is best. G_x takes the outcomes in decreasing order
of lift K_xy/q_y, the last one in part (ENV paper, Algorithm 1); how that is bounded in floats is in knapsack.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightlip.envelopes.knapsack import ExactKnapsack, Knapsacks, Levels, solve_exactly
from tightlip.envelopes.result import Envelope, read_delta, read_deltas, rest_label
from tightlip.measures.joint import ExactJoint, FloatJoint, join
from tightlip.model.channel import Channel
from tightlip.model.matrix import dense_row, is_sparse
from tightlip.model.prior import Prior
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.parse import FloatArray, ObjectArray
from tightlip.numeric.rounding import UNIT, gamma

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
        In nats. `attack` maps outcomes to the event, named after the secret it points to, and "rest"; the event has
        probability at least δ and reaches `lower`. For exact input the two ends are neighbouring floats.

    >>> from tightlip import Prior, papers
    >>> found = binary_envelope(papers.env_example_1(), Prior.uniform(4), "1/5")
    >>> found
    Envelope(delta=1/5, 0.510825 to 0.510826 nats, adversary: binary, by sorting outcomes by lift)
    >>> found.attack.matrix[2]
    array([Fraction(1, 3), Fraction(2, 3)], dtype=object)
    """
    wanted = read_delta(delta)
    joint = join(channel, prior)
    if isinstance(joint, ExactJoint):
        fills = [fill for (fill,) in _exact_fills(joint, [wanted])]
        suspect = max(range(len(fills)), key=lambda place: fills[place].ratio)
        lower, upper = log_bounds(fills[suspect].ratio)
        weights = _exact_weights(channel, joint, fills[suspect])
        return Envelope(wanted, lower, upper, _METHOD, "binary", _event(channel, joint, suspect, weights))
    levels = Levels.of([wanted], joint)
    ends = _float_ends(joint, levels)
    suspect = int(ends.suspects[0])
    event, lower = _float_weights(channel, joint, levels, suspect)
    attack = _event(channel, joint, suspect, event)
    return Envelope(wanted, lower, float(ends.upper[0]), _METHOD, "binary", attack)


def binary_envelope_curve(channel: Channel, prior: Prior, deltas: Iterable[object]) -> tuple[Envelope, ...]:
    """ε_b at many probabilities, sorting once: the same ends as `binary_envelope`, without the attacks.

    >>> from tightlip import Prior, papers
    >>> curve = binary_envelope_curve(papers.env_example_1(), Prior.uniform(4), ["1/10", "1/5", 1])
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


class _Ends(NamedTuple):
    lower: FloatArray
    upper: FloatArray
    suspects: NDArray[np.intp]


def _float_ends(joint: FloatJoint, levels: Levels) -> _Ends:
    """Compute both ends of ε_b at each level, and the secret that reaches the lower one."""
    lower = np.full(len(levels.above), -math.inf)
    upper, suspects = lower.copy(), np.zeros(len(lower), dtype=np.intp)
    for first, fill in _fills(joint, levels):
        reached = fill.lower(levels)
        suspects = np.where(reached.max(axis=0) > lower, first + reached.argmax(axis=0), suspects)
        lower = np.maximum(lower, reached.max(axis=0))
        upper = np.maximum(upper, fill.upper(levels).max(axis=0))
    worst = joint.log_lift_ends()[1].max()
    return _Ends(np.maximum(lower, 0.0), np.maximum(np.minimum(upper, worst), 0.0), suspects)


def _fills(joint: FloatJoint, levels: Levels) -> Iterator[tuple[int, Knapsacks]]:
    """Blocks of rows, with the place of the first; of a sparse matrix row by row, zeros lumped together."""
    matrix, places = joint.matrix, joint.places
    if not is_sparse(matrix):
        step = max(1, _BLOCK // len(places))
        for first in range(0, matrix.shape[0], step):
            rows = matrix[first : first + step]
            rows = rows if len(places) == matrix.shape[1] else rows[:, places]
            yield first, Knapsacks.of(rows, levels.least, levels.most)
        return
    for row in range(matrix.shape[0]):
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        found = np.searchsorted(places, matrix.indices[part])
        least, most = levels.least[found], levels.most[found]
        error = 2 * gamma(len(found) + 2)
        rest_least = max(0.0, levels.all_least - float(most.sum()) * (1 + error)) * (1 - 4 * UNIT)
        rest_most = max(0.0, levels.all_most - float(least.sum()) * (1 - error)) * (1 + 4 * UNIT)
        entries = np.append(matrix.data[part], 0.0)[None, :]
        yield row, Knapsacks.of(entries, np.append(least, rest_least), np.append(most, rest_most))


def _float_weights(
    channel: Channel, joint: FloatJoint, levels: Levels, suspect: int
) -> tuple[FloatArray, float]:
    """Find the event that points to a secret, and the leakage in nats that it surely reaches."""
    row = dense_row(joint.matrix, suspect)[joint.places][None, :]
    fill = Knapsacks.of(row, levels.least, levels.most)
    weights = np.zeros(channel.shape[1])
    weights[joint.places] = fill.event(levels)
    return weights, max(0.0, float(fill.lower(levels)[0, 0]))


def _exact_fills(joint: ExactJoint, deltas: Sequence[Fraction]) -> Iterator[list[ExactKnapsack]]:
    marginal = joint.marginal.tolist()
    for row in joint.matrix[:, joint.places].tolist():
        yield solve_exactly(row, marginal, deltas)


def _exact_weights(channel: Channel, joint: ExactJoint, fill: ExactKnapsack) -> ObjectArray:
    weights = np.full(channel.shape[1], Fraction(0), dtype=object)
    for place in fill.order[: fill.whole]:
        weights[joint.places[place]] = Fraction(1)
    weights[joint.places[fill.order[fill.whole]]] = fill.share
    return weights


def _event(
    channel: Channel, joint: ExactJoint | FloatJoint, suspect: int, weights: FloatArray | ObjectArray
) -> Channel:
    """Write the event as a channel: one symbol named after the secret it points to, one for the rest."""
    name = joint.secrets[suspect]
    return Channel(np.column_stack([weights, 1 - weights]), channel.outputs, [name, rest_label([name])])
