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
from tightlip.certificate.envelope import EnvelopeCertificate
from tightlip.envelopes.column_generation import common_threshold
from tightlip.envelopes.dual import proved_ratio
from tightlip.envelopes.limits import Effort, Limits
from tightlip.envelopes.pairs import Pairs, sparse_pairs
from tightlip.envelopes.result import Envelope
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import down, gamma, up

_BELOW = 1 - 1e-9  # of the ratio: thresholds stay below it by more than any rounding
_MISSED = 1e-7  # an interval that is empty by less, of the ratio, is so by the solver's tolerance
_EVEN = 1e-9  # a price so near 1 is 1


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


class Ends(NamedTuple):
    """Both ends of ε_c(δ) in nats, the solution with the attack that reaches the lower one, and what stopped it."""

    lower: float
    upper: float
    best: Solved
    suspects: int
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
    high = _worst_ratio(leak)
    high = _prove(pairs, common_threshold(pairs, mass), mass, high)
    suspects: Places = np.array([], dtype=np.intp)
    more, best, solves = _first_suspects(leak, most_suspects(limits, tally.shape[1])), None, 0
    for _ in range(max(min(limits.suspect_rounds, limits.suspect_pairs // len(tally.count)), 1)):
        suspects = np.concatenate([suspects, more])
        solved = solve(tally.with_secrets(_merge_others(suspects, tally.shape[0])))
        solves += solved.found.solves
        if best is None or solved.found.lower > best.found.lower:
            best = solved
        room = Room.of(pairs, solved, suspects)
        high = room.prove(pairs, mass, high)
        more = room.most_wanted(suspects, max(len(suspects) // 2, limits.added_suspects))
        if not len(more) or high <= math.exp(best.found.lower) * (1 + gap) or effort.ended_by:
            break
    assert best is not None
    upper = log_bounds(Fraction(high))[1]
    return Ends(min(best.found.lower, upper), upper, best, len(suspects), solves, effort.ended_by)


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

    def prove(self, pairs: Pairs, mass: float, high: float) -> float:
        """Find the smallest ratio up to `high` that thresholds from these intervals prove."""
        ceiling = self.ratio * _BELOW
        for thresholds in (np.minimum(self.least, ceiling), np.minimum(self.least, self.most)):
            high = _prove(pairs, thresholds, mass, high)
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


def _prove(pairs: Pairs, thresholds: FloatArray, mass: float, high: float) -> float:
    """Find the smallest ratio that thresholds prove, if that is below one that is known."""
    if not thresholds.max() < high * _BELOW:
        return high
    return min(high, proved_ratio(pairs, thresholds, mass, 1.0, high))


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
