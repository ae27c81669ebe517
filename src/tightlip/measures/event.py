"""Leakage of learning only that an event happened.

    ℓ(E) = log max_x Σ_y w_y K_xy / Σ_y w_y q_y

for weights w_y ∈ [0, 1]: 0 or 1 for an ordinary event, in between for a randomised one
(ENV paper, Lemma 3). At most log 1/P(E); not monotone in the event.
"""

from __future__ import annotations

from collections.abc import Set
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import listed
from tightlip.errors import InvalidInput, InvalidLabels, quoted
from tightlip.measures.joint import ExactJoint, join
from tightlip.model.channel import Channel
from tightlip.model.labels import Labels, labelled_vector, split_labels
from tightlip.model.matrix import Matrix, column_max, dense, weighted_rows
from tightlip.model.prior import Prior
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.parse import require_unmasked
from tightlip.numeric.quantity import Nats
from tightlip.numeric.rounding import gamma, log_ratio_up, widen_down, widen_up

_DANGER = 2.0**-950


def event_leakage(channel: Channel, prior: Prior, event: Any) -> Nats:
    """Compute the leakage of an event, log max_x P(E | x) / P(E), in nats, rounded up.

    Parameters
    ----------
    channel : Channel
    prior : Prior
    event : set or list of outcome labels, mapping label → weight, or array of one weight per outcome
        A pandas Series is a mapping from its index; outcomes that a mapping leaves out have weight 0.
        A list that could be read both ways (labels 0 and 1 among whole-number weights) is refused.

    >>> from tightlip import Channel, Prior
    >>> channel = Channel([["9/10", 0, "1/10"], [0, "9/10", "1/10"]], outputs=["a", "b", "c"])
    >>> prior = Prior.uniform(2)
    >>> event_leakage(channel, prior, {"a"}).ratio, event_leakage(channel, prior, {"a", "b"}).ratio
    (Fraction(2, 1), Fraction(1, 1))
    >>> event_leakage(channel, prior, {"a": "1/2", "c": 1}).ratio
    Fraction(22, 13)
    """
    joint = join(channel, prior)
    weights = event_weights(channel.outputs, event)
    if isinstance(joint, ExactJoint) and weights.dtype == object:
        rows = weighted_rows(joint.matrix, weights)
        total = (joint.weights * rows).sum()
        _require_possible(total, event)
        return Nats.of_ratio(Fraction(max(rows) / total))
    matrix = channel.restricted_to(prior).floats
    masses = np.array([float(mass) for mass in joint.weights])
    rows = weighted_rows(matrix, weights.astype(np.float64))
    if rows.max() < _DANGER:
        _require_possible(((weights > 0) & (column_max(matrix) > 0)).any(), event)
        return _in_rationals(matrix, joint.weights, weights)
    error = gamma(channel.shape[1] + 4)
    peak = float(widen_up(np.array([rows.max()]), error)[0])
    total = masses @ (rows / rows.max())  # scaled, so that a rare event does not underflow
    lower = widen_down(np.array([total * rows.max()]), gamma(channel.shape[1] + len(masses) + 8))
    if lower[0] < _DANGER:
        return _in_rationals(matrix, joint.weights, weights)
    return Nats(max(0.0, float(log_ratio_up(np.array([peak]), lower)[0])))


def event_weights(outputs: Labels, event: Any) -> NDArray[Any]:
    """Read one weight per outcome: Fractions for labels and exact weights, floats otherwise."""
    if isinstance(event, (str, int, np.integer)):
        event = {event: 1}
    elif isinstance(event, Set):
        event = dict.fromkeys(event, 1)
    values, own = split_labels(event, "event")
    if own is not None:
        if not own:
            raise InvalidInput("event must hold at least one outcome, got none; name one.")
        return _in_range(
            labelled_vector(
                dict(zip(own, _plain(values), strict=True)), outputs, "event", "outcomes", absent=0
            )
        )
    entries = _plain(values)
    if isinstance(entries, list) and _names_outcomes(outputs, entries):
        return event_weights(outputs, set(entries))
    return _in_range(labelled_vector(entries, outputs, "event", "outcomes"))


def _plain(values: Any) -> list[Any] | NDArray[Any]:
    """Numbers in an array stay one, since they are weights; other entries as a list; True and False as 1 and 0."""
    if hasattr(values, "__array__"):
        require_unmasked(values, "event")
        array = np.asarray(values)
        if array.dtype.kind in "iuf":
            return array
        values = array.tolist()
    entries = [
        entry.item() if isinstance(entry, np.generic) else entry
        for entry in listed(values, "event", "outcomes or weights")
    ]
    if entries and set(map(type, entries)) == {bool}:
        return np.array([Fraction(entry) for entry in entries], dtype=object)
    return entries


def _names_outcomes(outputs: Labels, event: list[Any]) -> bool:
    """Whether a list holds labels, not weights; refused where it could be both."""
    as_labels, as_weights = _fits_labels(outputs, event), _fits_weights(outputs, event)
    if as_labels and as_weights:
        raise InvalidLabels(
            f"event {quoted(event)} could be labels or weights; give labels as a set and weights as an array."
        )
    if not as_labels and not as_weights and event and all(not isinstance(entry, float) for entry in event):
        for label in event:
            outputs.position(label, "event")
    return as_labels


def _in_range(weights: NDArray[Any]) -> NDArray[Any]:
    bad = np.flatnonzero((weights < 0) | (weights > 1))
    if len(bad):
        place = int(bad[0])
        raise InvalidInput(
            f"event entry {place} must be in [0, 1], got {quoted(weights[place])}; it is a probability."
        )
    return weights


def _fits_labels(outputs: Labels, event: list[Any]) -> bool:
    try:
        return len({outputs.position(label, "event") for label in event}) == len(event)
    except InvalidLabels:
        return False


def _fits_weights(outputs: Labels, event: list[Any]) -> bool:
    return len(event) == len(outputs) and all(
        isinstance(entry, (int, float, Fraction)) and 0 <= entry <= 1 for entry in event
    )


def _in_rationals(matrix: Matrix, masses: NDArray[Any], weights: NDArray[Any]) -> Nats:
    """Compute the same from the stored numbers, for events too rare for floats."""
    exact = [Fraction(weight) for weight in weights.tolist()]
    scores = [
        sum(
            (weight * Fraction(entry) for weight, entry in zip(exact, row, strict=True) if entry), Fraction(0)
        )
        for row in dense(matrix).tolist()
    ]
    total = sum(Fraction(mass) * score for mass, score in zip(masses.tolist(), scores, strict=True))
    return Nats(max(0.0, log_bounds(max(scores) / total)[1]))


def _require_possible(total: Any, event: Any) -> None:
    if not total:
        raise InvalidInput(f"event must have positive probability, got {quoted(event)} with probability 0.")
