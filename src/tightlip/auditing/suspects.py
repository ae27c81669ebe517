"""Solve for the envelope about very many secrets: an attack points to few of them, and prices tell to which.

With the letters of docs/envelope.md, s_xy = K_xy/q_y and t = e^ε, the *suspects* are the secrets that an attack may
point to. All other secrets are merged into one, a coarser secret, and the program is solved for these.

Lower end. The row of the merged secret is a mean of rows, Σ_x n_x K_x / Σ_x n_x, and q stays. A symbol that points to
it with ratio t therefore points to one of its members with ratio t at least: the attack is one on the release.

Upper end. Thresholds θ_x < t of the suspects give cell y the price v_y = max(0, max_x (s_xy − θ_x)/(t − θ_x)), and
V(t) ≤ Σ_y v_y q_y as far as suspects are concerned. Another secret x changes nothing if a θ_x < t has

    (s_xy − θ_x)/(t − θ_x) ≤ v_y in every cell y,   that is   θ_x ≥ (s_xy − v_y t)/(1 − v_y)  where v_y < 1,
                                                              θ_x ≤ (v_y t − s_xy)/(v_y − 1)  where v_y > 1,

and s_xy ≤ t where v_y = 1: an interval for θ_x, found in one pass over the pairs. Secrets whose interval is empty may
be of use; they become suspects, and the program is solved again. This is the column generation of envelopes/, with
whole secrets in place of pairs. Where no interval is empty the two ends meet. Wherever it stops, the thresholds of all
secrets prove the upper end in floats (envelopes/dual.py), for the counts themselves: shares of counts are rounded once,
and the margin there covers that.

A secret whose row is a mean Σ a_z K_z of rows of suspects is never of use: with t − θ_x = Σ a_z (t − θ_z), its value
(s_xy − θ_x)/(t − θ_x) is a mean of theirs. So of millions of secrets that occur once, one suspect for each cell is
enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tightlip.auditing.leakage import CellLeakage, cell_pml
from tightlip.auditing.tally import Places, Tally, divide
from tightlip.certificate.attack import Attack
from tightlip.certificate.envelope import EnvelopeCertificate, LowerProof, UpperProof
from tightlip.certificate.rational import RationalRelease
from tightlip.envelopes.column_generation import common_threshold
from tightlip.envelopes.dual import proved_ratio
from tightlip.envelopes.limits import Effort, Limits
from tightlip.envelopes.pairs import Pairs, sparse_pairs
from tightlip.envelopes.result import Envelope, rest_label
from tightlip.errors import CertificateInvalid
from tightlip.model.channel import Channel
from tightlip.model.labels import Labels
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import down, gamma, up

_BELOW = 1 - 1e-9  # of the ratio: thresholds stay below it by more than any rounding
_MISSED = 1e-7  # an interval that is empty by less, of the ratio, is so by the solver's tolerance
_EVEN = 1e-9  # a price so near 1 is 1
_ROUNDED = 1e-11  # more than all roundings of a certificate's ratio together, relative


class Solved(NamedTuple):
    """An envelope, with its certificate, of a tally whose cells were merged: cell y as groups[y]."""

    found: Envelope
    groups: Places

    def dual(self) -> tuple[float, FloatArray]:
        """The ratio that the certificate's upper end is about, and the thresholds of the secrets there.

        Where the largest lift proves it, thresholds there price every cell at 0 at any larger ratio.
        """
        assert isinstance(self.found.certificate, EnvelopeCertificate)
        proof = self.found.certificate.upper
        ratio = float(proof.ratio)
        if proof.multipliers is None:
            return ratio * (1 + 1e-6), np.full(self.found.certificate.channel.shape[0], ratio)
        return ratio, ratio - 1 / np.array(proof.multipliers, dtype=np.float64)


class High(NamedTuple):
    """A ratio that no post-processing exceeds, and the thresholds of all secrets that prove it (None: no lift does)."""

    ratio: float
    thresholds: FloatArray | None

    def lowered(self, pairs: Pairs, thresholds: FloatArray, mass: float) -> High:
        """Lower it to the smallest ratio that thresholds prove, if that is less."""
        if not thresholds.max() < self.ratio * _BELOW:
            return self
        proved = proved_ratio(pairs, thresholds, mass, 1.0, self.ratio)
        return High(proved, thresholds) if proved < self.ratio else self


class Ends(NamedTuple):
    """Both ends of ε_c(δ) in nats, what proves them, and what stopped the search.

    `best` has the attack that reaches the lower end, on the secrets `suspects` and all others as one.
    """

    lower: float
    upper: float
    high: High
    best: Solved
    suspects: Places
    solves: int
    stopped: str


def solve_by_suspects(
    tally: Tally,
    delta: Fraction,
    solve: Callable[[Tally], Solved],
    *,
    gap: float,
    limits: Limits,
    effort: Effort,
) -> Ends:
    """Bracket ε_c(δ) of a tally with many secrets by solving for few of them.

    Parameters
    ----------
    solve : finds the envelope of a tally with few secrets, with proved ends
    gap : the relative gap of e^ε at which it ends
    effort : what may still be done; after one round it ends wherever that is used up
    """
    pairs, mass = tally_pairs(tally), _at_most(delta)
    leak = cell_pml(tally)
    high = High(_worst_ratio(leak), None).lowered(pairs, common_threshold(pairs, mass), mass)
    suspects: Places = np.array([], dtype=np.intp)
    more, best, solves = _first_suspects(leak, most_suspects(limits, tally.shape[1])), None, 0
    low = -1.0
    for _ in range(max(min(limits.suspect_rounds, limits.suspect_pairs // len(tally.count)), 1)):
        suspects = np.concatenate([suspects, more])
        solved = solve(tally.with_secrets(_merge_others(suspects, tally.shape[0])))
        solves += solved.found.solves
        if solved.found.lower > low:
            low, best = solved.found.lower, (solved, suspects)
        room = Room.of(pairs, solved, suspects)
        high = room.lower(high, pairs, mass)
        more = room.most_wanted(suspects, max(len(suspects) // 2, limits.added_suspects))
        if not len(more) or high.ratio <= math.exp(low) * (1 + gap) or effort.ended_by:
            break
    assert best is not None
    upper = log_bounds(Fraction(high.ratio))[1]
    return Ends(min(low, upper), upper, high, *best, solves, effort.ended_by)


def most_suspects(limits: Limits, cells: int) -> int:
    """How many secrets are solved for at once, or to begin with, in a release of so many cells."""
    return min(max(limits.complete_pairs // cells, limits.least_suspects), limits.suspects)


@dataclass(frozen=True, slots=True)
class Room:
    """The interval that prices leave for the threshold of each secret, at one ratio."""

    ratio: float
    least: FloatArray
    most: FloatArray

    @classmethod
    def of(cls, pairs: Pairs, solved: Solved, suspects: Places) -> Room:
        """Price the cells by the thresholds of suspects, and look which thresholds of the others that allows."""
        ratio, thresholds = solved.dual()
        own = thresholds[: len(suspects)]
        price = cell_prices(pairs, suspects, own, ratio)
        least = np.full(pairs.secrets, _least_at(price[price < 1 - _EVEN].min(initial=1 - _EVEN), ratio))
        most = np.full(pairs.secrets, ratio * _BELOW)
        value = price[pairs.outcome]
        for some, ends, keep in (
            (np.flatnonzero(value < 1 - _EVEN), least, np.maximum),
            (np.flatnonzero(value > 1 + _EVEN), most, np.minimum),
        ):
            keep.at(ends, pairs.secret[some], (pairs.lift[some] - value[some] * ratio) / (1 - value[some]))
        over = (np.abs(value - 1) <= _EVEN) & (pairs.lift > ratio * (1 + _EVEN))
        least[pairs.secret[over]] = np.inf
        least[suspects] = most[suspects] = own
        return cls(ratio, least, most)

    @property
    def lack(self) -> FloatArray:
        """By how much of the ratio each interval is empty; 0 or less where it is not."""
        return np.asarray((self.least - self.most) / self.ratio)

    def most_wanted(self, suspects: Places, count: int) -> Places:
        """List the secrets that may be of use, those with the emptiest intervals, at most so many."""
        lack = self.lack
        lack[suspects] = 0.0
        wanted = np.flatnonzero(lack > _MISSED)
        return wanted[np.argsort(-lack[wanted], kind="stable")[:count]]

    def lower(self, high: High, pairs: Pairs, mass: float) -> High:
        """Lower a ratio to what thresholds from these intervals prove."""
        for ceiling in (self.ratio * _BELOW, self.most):
            high = high.lowered(pairs, np.minimum(self.least, ceiling), mass)
        return high


def cell_prices(pairs: Pairs, suspects: Places, thresholds: FloatArray, ratio: float) -> FloatArray:
    """Price each cell: v_y = max(0, max over suspects x of (s_xy − θ_x)/(t − θ_x)), s_xy = 0 where x does not occur."""
    floor = np.full(pairs.secrets, np.nan)
    floor[suspects] = thresholds
    base = max(0.0, float((-thresholds / (ratio - thresholds)).max()))
    own = np.flatnonzero(~np.isnan(floor[pairs.secret]))
    limit = floor[pairs.secret[own]]
    found = np.full(pairs.outcomes, base)
    np.maximum.at(found, pairs.outcome[own], (pairs.lift[own] - limit) / (ratio - limit))
    return found


def tally_pairs(tally: Tally) -> Pairs:
    """List the pairs that occur in floats: shares of counts, each rounded once."""
    marginal = divide(tally.of_cell, tally.total)
    return sparse_pairs(
        tally.secret, tally.cell, tally.chances(), marginal, secrets=tally.shape[0], error=gamma(4)
    )


def certify_ends(tally: Tally, ends: Ends, delta: Fraction) -> EnvelopeCertificate | None:
    """Prove both ends on all secrets and cells of the tally, in rationals as it is stored.

    Ratios are moved a little to their side, for roundings. None where an attack of probability δ to the last digit
    misses it by one.
    """
    channel, prior, (ratio, thresholds) = tally.channel(), tally.prior(), ends.high
    release = RationalRelease.of(channel, prior)
    mass = min(delta, release.total())  # of stored floats all outcomes may have less than 1
    prices = None if thresholds is None else tuple((1 / (ratio - thresholds)).tolist())
    upper = UpperProof(Fraction(ratio * (1 + _ROUNDED)), mass, prices)
    found = EnvelopeCertificate(channel, prior, upper, _lower_proof(tally, channel, ends, mass))
    try:
        found.verify_for(release)
    except CertificateInvalid:
        return None
    return found


def _lower_proof(tally: Tally, channel: Channel, ends: Ends, wanted: Fraction) -> LowerProof:
    """Write the attack on few secrets and merged cells as one on all: of merged secrets the worst is suspected."""
    from scipy.sparse import csr_array

    assert isinstance(ends.best.found.certificate, EnvelopeCertificate)
    known = ends.best.found.certificate.lower
    entries = known.attack.outcomes, known.attack.symbols
    weights = csr_array((known.attack.shares, entries), shape=known.attack.shape)[ends.best.groups]
    chance = csr_array((tally.chances(), (tally.secret, tally.cell)), shape=tally.shape)
    likelihood, mass = chance @ weights, weights.T @ divide(tally.of_cell, tally.total)
    suspects, ratios = [], []
    for symbol, suspect in enumerate(known.suspects):
        if suspect is not None:
            column = likelihood[:, [symbol]].toarray().ravel()
            column[ends.suspects] *= suspect < len(ends.suspects)
            suspect = int(ends.suspects[suspect] if suspect < len(ends.suspects) else column.argmax())
            ratios.append(float(column[suspect] / mass[symbol]))
        suspects.append(suspect)
    names = channel.inputs.take([suspect for suspect in suspects if suspect is not None])
    outputs = Labels((*names, *([rest_label(names)] if None in suspects else [])), given=True)
    shares = weights.tocoo()
    attack = Attack(
        shares.row.astype(np.intp), shares.col.astype(np.intp), shares.data, channel.outputs, outputs
    )
    return LowerProof(Fraction(min(ratios) * (1 - _ROUNDED)), wanted, attack, tuple(suspects))


def _least_at(price: float, ratio: float) -> float:
    """The least threshold of a secret in a cell of this price where it does not occur."""
    return -price * ratio / (1 - price)


def _first_suspects(leak: CellLeakage, most: int) -> Places:
    """Suspect the secret that each cell speaks for most, the worst cells first."""
    leads = leak.tally.secret[leak.pair[np.argsort(-leak.upper, kind="stable")]]
    return leads[np.sort(np.unique(leads, return_index=True)[1])][:most]


def _merge_others(suspects: Places, secrets: int) -> Places:
    """Number the suspects from 0, and all other secrets as one after them."""
    group = np.full(secrets, len(suspects), dtype=np.intp)
    group[suspects] = np.arange(len(suspects))
    return group


def _worst_ratio(leak: CellLeakage) -> float:
    """The largest lift, rounded up: no post-processing leaks more."""
    worst = leak.tally.lift(int(leak.pair[leak.worst_first(1)[0]]))
    return float(worst) if Fraction(float(worst)) >= worst else up(float(worst))


def _at_most(delta: Fraction) -> float:
    """The largest float not above δ: what holds for it holds for δ."""
    return float(delta) if Fraction(float(delta)) <= delta else down(float(delta))
