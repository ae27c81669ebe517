"""Lower ends: an attack gives each secret x some weight w_xy of each outcome, and is worth its worst ratio.

Symbol x of the attack has the likelihood ratio Σ_y w_xy K_xy / Σ_y w_xy q_y, so it leaks at least its logarithm.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from tightlip.certificate.envelope import LowerProof
from tightlip.envelope.pairs import Pairs, Places
from tightlip.measure.joint import ExactJoint, FloatJoint
from tightlip.model.channel import Channel
from tightlip.model.labels import Label
from tightlip.numeric.parse import FloatArray

_REST = "rest"
_UNSEEN = 1e-11
_WHOLE = 1 - 1e-15  # given away wholly but for rounding


def repaired(pairs: Pairs, weights: FloatArray, ratio: float) -> FloatArray:
    """Take weight off the weakest outcomes of each secret until its ratio is at least `ratio`."""
    used = np.flatnonzero(weights > 0)
    slack = weights[used] * (pairs.chance[used] - ratio * pairs.weight[used])
    totals = np.bincount(pairs.secret[used], slack, pairs.secrets)
    weights = weights.copy()
    short = totals[pairs.secret[used]] < 0
    weak, lack = used[short & (slack < 0)], -slack[short & (slack < 0)]
    order = np.lexsort((pairs.lift[weak], pairs.secret[weak]))
    weak, lack = weak[order], lack[order]
    for run in np.split(np.arange(len(weak)), np.flatnonzero(np.diff(pairs.secret[weak])) + 1):
        if len(run):
            _take_off(weights, weak[run], lack[run], -float(totals[pairs.secret[weak[run[0]]]]))
    return weights


def _take_off(weights: FloatArray, own: Places, lack: FloatArray, need: float) -> None:
    """Remove the weakest pairs of one secret until what they lacked adds up to the need."""
    lost = np.cumsum(lack)
    last = int(np.searchsorted(lost, need))
    weights[own[:last]] = 0.0
    if last < len(own):
        before = float(lost[last - 1]) if last else 0.0
        keep = 1 - (need - before) / float(lack[last])
        weights[own[last]] *= max(keep * (1 - 1e-12), 0.0)


def filled(pairs: Pairs, weights: FloatArray) -> FloatArray:
    """Give what is left of outcomes too rare for a solver to see to the secret that has most: no ratio moves."""
    if not pairs.complete:
        return weights
    heaviest = int(np.bincount(pairs.secret, weights * pairs.weight, pairs.secrets).argmax())
    rest = 1 - np.add.reduceat(weights, pairs.starts)
    rare = (rest > 0) & (rest * pairs.marginal < _UNSEEN)
    weights = weights.copy()
    weights[pairs.starts[rare] + heaviest] += rest[rare]
    return weights


def worth(pairs: Pairs, weights: FloatArray) -> tuple[float, float]:
    """(ratio, mass) that the attack surely reaches: every symbol the ratio, all together the mass."""
    given = np.flatnonzero(weights)
    suspects, shares = pairs.secret[given], weights[given]
    chance = np.bincount(suspects, shares * pairs.chance[given], pairs.secrets)
    weight = np.bincount(suspects, shares * pairs.weight[given], pairs.secrets)
    used = weight > 0
    if not used.any():
        return 1.0, 0.0
    keep = 1 - margin(pairs)
    return float((chance[used] / weight[used]).min()) * keep, math.fsum(weight[used].tolist()) * keep


def margin(pairs: Pairs) -> float:
    """A bound on the relative error of the sums in `worth`."""
    return 2 * pairs.error + 1e-14 + pairs.outcomes * 2.0**-52


def has_mass(
    pairs: Pairs, weights: FloatArray, mass: float, joint: ExactJoint | FloatJoint, wanted: Fraction
) -> bool:
    """Whether an attack worth some mass surely has a probability; exactly where floats are too close to say."""
    if mass >= wanted:
        return True
    if mass < wanted * (1 - 4 * Fraction(margin(pairs))):
        return False
    total = np.add.reduceat(weights, pairs.starts)
    whole = np.flatnonzero(total > _WHOLE)
    partial = math.fsum((total * pairs.marginal)[total <= _WHOLE].tolist()) * (1 - 1e-12)
    return joint.exact_mass(whole.tolist()) + Fraction(partial) >= wanted


def proof(
    pairs: Pairs,
    weights: FloatArray,
    joint: ExactJoint | FloatJoint,
    channel: Channel,
    *,
    ratio: Fraction,
    mass: Fraction,
) -> LowerProof:
    """The attack as a channel from all outcomes to symbols: one for each suspected secret, one for the rest."""
    weight = np.bincount(pairs.secret, weights * pairs.weight, pairs.secrets)
    used = np.flatnonzero(weight > 0)
    column = np.full(pairs.secrets, -1)
    column[used] = np.arange(len(used))
    kept = np.flatnonzero(weights > 0)
    rows, columns, values = joint.places[pairs.outcome[kept]], column[pairs.secret[kept]], weights[kept]
    total = np.bincount(rows, values, channel.shape[1])
    rest = np.where(total > _WHOLE, 0.0, np.maximum(1 - total, 0.0))
    matrix = _matrix(rows, columns, values, rest, len(used))
    names = [joint.secrets[int(secret)] for secret in used]
    suspects = [int(joint.support[secret]) for secret in used]
    attack = Channel(matrix, channel.outputs if channel.outputs.given else None, [*names, _rest_label(names)])
    return LowerProof(ratio, mass, attack, (*suspects, None))


def _matrix(rows: Places, columns: Places, values: FloatArray, rest: FloatArray, symbols: int) -> object:
    if len(rest) * (symbols + 1) <= 4_000_000:
        matrix = np.zeros((len(rest), symbols + 1))
        matrix[rows, columns] = values
        matrix[:, symbols] = rest
        return matrix
    from scipy.sparse import coo_array

    every = np.arange(len(rest))
    place = (np.concatenate([rows, every]), np.concatenate([columns, np.full(len(rest), symbols)]))
    return coo_array((np.concatenate([values, rest]), place), shape=(len(rest), symbols + 1)).tocsr()


def _rest_label(names: list[Label]) -> Label:
    label = _REST
    while label in names:
        label += "'"
    return label
