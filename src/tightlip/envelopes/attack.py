"""Prove lower ends by attacks: a feasible w gives each secret x some weight w_xy of each outcome.

Symbol x of the attack has the likelihood ratio Σ_y w_xy K_xy / Σ_y w_xy q_y, so it leaks at least its logarithm;
an attack is worth the smallest of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tightlip.certificate.attack import Attack
from tightlip.certificate.envelope import LowerProof
from tightlip.envelopes.pairs import Pairs, Places
from tightlip.envelopes.result import rest_label
from tightlip.measures.joint import ExactJoint, FloatJoint
from tightlip.model.channel import Channel
from tightlip.model.labels import Labels
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import up

# a mass that a solver may take for 0
_UNSEEN = 1e-11
# given away wholly but for rounding
_WHOLE = 1 - 1e-15


@dataclass(frozen=True, slots=True)
class Shares:
    """Hold an attack: some pairs, each once, and w > 0 of each; no outcome is given away more than once."""

    places: Places
    values: FloatArray

    @classmethod
    def of(cls, weights: FloatArray) -> Shares:
        """Keep the positive ones of w of every pair."""
        places = np.flatnonzero(weights > 0)
        return cls(places, weights[places])

    @classmethod
    def clean(cls, pairs: Pairs, places: Places, values: FloatArray) -> Shares:
        """Read a solver's w: negative ones are dropped, and no outcome is given away more than once.

        An outcome given away all but rounding is given away wholly.
        """
        kept = values > 0
        places, values = places[kept], values[kept]
        outcome = pairs.outcome[places]
        total = np.bincount(outcome, values, pairs.outcomes)
        return cls(places, values / np.where(total > 1 - 1e-12, total, 1.0)[outcome])

    def spread(self, pairs: Pairs) -> FloatArray:
        """w of every pair."""
        weights = np.zeros(len(pairs.chance))
        weights[self.places] = self.values
        return weights

    def totals(self, pairs: Pairs) -> FloatArray:
        """Add up how much of each outcome is given away."""
        return np.bincount(pairs.outcome[self.places], self.values, pairs.outcomes).astype(np.float64)


def repair(pairs: Pairs, attack: Shares, ratio: float) -> Shares:
    """Take weight off the weakest outcomes of each secret until its ratio is at least `ratio`."""
    used, secret = attack.places, pairs.secret[attack.places]
    slack = attack.values * (pairs.chance[used] - ratio * pairs.weight[used])
    totals = np.bincount(secret, slack, pairs.secrets)
    weak = np.flatnonzero((totals[secret] < 0) & (slack < 0))
    weak = weak[np.lexsort((pairs.lift[used[weak]], secret[weak]))]
    values = attack.values.copy()
    for run in np.split(weak, np.flatnonzero(np.diff(secret[weak])) + 1):
        if len(run):
            _take_off(values, run, -slack[run], -float(totals[secret[run[0]]]))
    kept = values > 0
    return Shares(used[kept], values[kept])


def _take_off(values: FloatArray, own: Places, lack: FloatArray, need: float) -> None:
    """Remove the weakest pairs of one secret until what they lacked adds up to the need."""
    lost = np.cumsum(lack)
    last = int(np.searchsorted(lost, need))
    values[own[:last]] = 0.0
    if last < len(own):
        before = float(lost[last - 1]) if last else 0.0
        keep = 1 - (need - before) / float(lack[last])
        values[own[last]] *= max(keep * (1 - 1e-12), 0.0)


def add_rare(pairs: Pairs, attack: Shares) -> Shares:
    """Give what is left of outcomes too rare for a solver to see to the secret that has most: no ratio moves."""
    if not pairs.complete:
        return attack
    taken = attack.values * pairs.weight[attack.places]
    heaviest = int(np.bincount(pairs.secret[attack.places], taken, pairs.secrets).argmax())
    rest = 1 - attack.totals(pairs)
    rare = (rest > 0) & (rest * pairs.marginal < _UNSEEN)
    weights = attack.spread(pairs)
    weights[pairs.starts[rare] + heaviest] += rest[rare]
    return Shares.of(weights)


def extend(pairs: Pairs, attack: Shares, mass: float) -> Shares:
    """Give the suspects more of what is left, each in proportion to what it has, until all have a mass.

    From mass m to δ no ratio falls below m/δ of what it was. The largest rests go first, so that few outcomes do.
    """
    rest = np.maximum(1 - attack.totals(pairs), 0.0)
    owned = np.bincount(
        pairs.secret[attack.places], attack.values * pairs.weight[attack.places], pairs.secrets
    )
    spare, lack = rest * pairs.marginal, mass * (1 + 4 * margin(pairs)) - float(owned.sum())
    if not pairs.complete or not 0 < lack < float(spare.sum()):
        return attack
    order = np.argsort(-spare)
    used = order[: int(np.searchsorted(np.cumsum(spare[order]), lack)) + 1]
    share = min(lack / float(spare[used].sum()), 1.0)
    weights = attack.spread(pairs).reshape(pairs.outcomes, pairs.secrets)
    weights[used] += share * rest[used, None] * (owned / owned.sum())
    return Shares.of(weights.ravel())


def complete(pairs: Pairs, attack: Shares, leads: Places, ratio: float) -> Shares:
    """Give what is left of outcomes whose largest lift is at least `ratio` to the secret that has it.

    No ratio falls below that. `leads` are the pairs of largest lift.
    """
    rest = 1 - attack.totals(pairs)
    more = leads[(pairs.lift[leads] >= ratio) & (rest > 0)]
    weights = attack.spread(pairs)
    weights[more] += rest[pairs.outcome[more]]
    return Shares.of(weights)


def evaluate(pairs: Pairs, attack: Shares) -> tuple[float, float]:
    """Bound below what the attack reaches: the ratio of every symbol, and the mass of all together."""
    suspects = pairs.secret[attack.places]
    chance = np.bincount(suspects, attack.values * pairs.chance[attack.places], pairs.secrets)
    weight = np.bincount(suspects, attack.values * pairs.weight[attack.places], pairs.secrets)
    used = np.flatnonzero(weight)
    if not len(used):
        return 1.0, 0.0
    keep = 1 - margin(pairs)
    chance, weight = chance[used], weight[used]
    return float((chance / weight).min()) * keep, math.fsum(weight.tolist()) * keep


def margin(pairs: Pairs) -> float:
    """Bound the relative error of the sums in `evaluate`."""
    return 2 * pairs.error + 1e-14 + pairs.outcomes * 2.0**-52


@dataclass(frozen=True, slots=True)
class MassTest:
    """Test that an attack has a probability: by floats, and exactly where these are too close to say.

    A mass of `surely` is enough. Without a joint distribution only floats are asked. The exact probability of all
    outcomes, where it is known, saves adding up all that are given away.
    """

    surely: float
    wanted: Fraction = Fraction(0)
    joint: ExactJoint | FloatJoint | None = None
    everything: Fraction | None = None

    @classmethod
    def of(
        cls, wanted: Fraction, joint: ExactJoint | FloatJoint, everything: Fraction | None = None
    ) -> MassTest:
        """Test for a probability of attacks on a joint distribution."""
        return cls(up(float(wanted)), wanted, joint, everything)

    def holds(self, pairs: Pairs, attack: Shares, mass: float) -> bool:
        """Whether an attack with a mass of at least this much surely has the probability."""
        if mass >= self.surely:
            return True
        if self.joint is None:
            return False
        if mass >= self.wanted:
            return True
        if mass < self.wanted * (1 - 4 * Fraction(margin(pairs))):
            return False
        total = attack.totals(pairs)
        whole = total > _WHOLE
        partial = math.fsum((total * pairs.marginal)[~whole].tolist()) * (1 - 1e-12)
        if self.everything is None:
            given = self.joint.exact_mass(np.flatnonzero(whole).tolist())
        else:
            given = self.everything - self.joint.exact_mass(np.flatnonzero(~whole).tolist())
        return given + Fraction(partial) >= self.wanted


def lower_proof(
    pairs: Pairs,
    attack: Shares,
    joint: ExactJoint | FloatJoint,
    channel: Channel,
    *,
    ratio: Fraction,
    mass: Fraction,
) -> LowerProof:
    """Write the attack down on all outcomes: one symbol for each suspected secret, one for the rest."""
    secret, rows = pairs.secret[attack.places], joint.places[pairs.outcome[attack.places]]
    suspected = np.bincount(secret, minlength=pairs.secrets) > 0
    used, columns = np.flatnonzero(suspected), (np.cumsum(suspected) - 1)[secret]
    total = np.bincount(rows, attack.values, channel.shape[1])
    left = np.flatnonzero(total <= _WHOLE)
    names = joint.secrets.take(used.tolist())
    entries = Attack(
        np.concatenate([rows, left]),
        np.concatenate([columns, np.full(len(left), len(used))]),
        np.concatenate([attack.values, 1 - total[left]]),
        channel.outputs,
        Labels((*names, rest_label(names)), given=True),
    )
    return LowerProof(ratio, mass, entries, (*joint.support[used].tolist(), None))
