"""Bound the share of a population whose cell leaks more than a level t = e^ε, from a sample: the question of a verdict.

Let B be the cells y in which some secret x in scope has P(x|y) > t P(x): a fixed set, though unknown. The bound on P(B)
needs no bound on any cell's leakage and no union over cells, secrets or levels. Suppose P(B) = s.

  cells     x and y make a table of two by two. Given n_x and n_y, the count c_xy depends on the odds ratio alone
            (numeric/two_by_two.py), and a lift above t with shares P(y) ≥ q, P(x) ≥ p makes it larger than

                ω(t, q, p) = t (1 − q − p + tqp) / ((1 − tq)(1 − tp)),     impossible where tq ≥ 1 or tp ≥ 1,

            which grows in t, q and p. So P_ω(C ≤ c_xy) at lower bounds q and p is a p-value of "x is above t in y". So
            is P(Bin(n_y, tp) ≤ c_xy), the better one where p is known by the scope alone. The largest over x is a
            p-value p_y of "y is in B". A cell is *left out* if p_y ≤ α₁ n_y/(n s). That happens to any cell of B with
            probability at most α₁ Σ_{y∈B} E n_y/(n s) = α₁, whatever the number of cells.
  together  given all Y and any x(y) that is above t in y, for any fixed ρ < 1 and w ≤ 1

                E_B = Π_{y∈B} (1 − w + w ρ^c ((1 − ρtp)/(1 − tp))^(n_y − c)),   c = c_{x(y) y},   p ≤ P(x(y)),

            has an expectation of at most 1: its factors are independent bets, and the last term is a likelihood
            ratio at P(x|y) = tp, whose expectation falls when P(x|y) grows. So E_B < 1/α₃ with probability 1 − α₃
            (Markov): many small cells cannot all be above t if together they are not. B is thus a choice of cells not
            left out with Σ log E_y < log 1/α₃, where log E_y is taken at the x that makes it least; the largest number
            M(s) of rows in such a choice is a knapsack, bounded by its linear program.
  rows      then N_B ≤ M(s), and N_B is binomial: P(Bin(n, s) ≤ M(s)) ≤ α₂ excludes s.

M grows with s. So with s₀ = 1 and s_{i+1} the Clopper–Pearson bound of M(s_i), every s in (s_{i+1}, s_i] is excluded,
and the limit bounds P(B).

Lower bounds p on the priors come with the scope; q of all cells hold together at an error of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.tally import Places, Tally
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.proportions import lower_shares, upper_shares
from tightlip.numeric.rounding import UNIT, down
from tightlip.numeric.two_by_two import lower_binomial_tail, lower_table_tail

# Parts of the error: bounds on P(y), cells left out, all together, rows. More for the cells leaves out cells nearer to
# the level, each of which is many rows; more for the rows saves a fraction of a standard error.
_MARGINS, _CELLS, _TOGETHER, _ROWS = 0.05, 0.6, 0.1, 0.25
_TABLE, _BINOMIAL = 0.9, 0.1  # of the error of a cell: the two p-values
_BETS = (
    (0.9, 1.0),
    (0.7, 0.4),
)  # ρ and w: w = 1 for cells of few rows; w < 1 loses little at cells far above t
_KEPT = 1 - 2.0**-40  # of the error; the rest is for the roundings of its parts
_ROUNDED = 1e-11  # sums of logarithms of counts are rounded by less, relative


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Pairs of secret and cell that decide: those that occur, and for each cell the rarest secret that does not.

    `count` and `size` are of one released cell.
    """

    secret: Places
    cell: Places
    count: NDArray[np.int64]
    size: NDArray[np.int64]

    @classmethod
    def of(cls, tally: Tally, absent: Places) -> _Pairs:
        """Add for each cell the secret that it lacks, −1 where it lacks none."""
        lacking = np.flatnonzero(absent >= 0)
        each = tally.count // tally.cells[tally.cell]
        cell = np.concatenate([tally.cell, lacking])
        return cls(
            np.concatenate([tally.secret, absent[lacking]]),
            cell,
            np.concatenate([each, np.zeros(len(lacking), dtype=np.int64)]).astype(np.int64),
            tally.sizes[cell].astype(np.int64),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """Which cells are above a level: the sample, its pairs, lower bounds on P(x) and P(y), and the level."""

    tally: Tally
    pairs: _Pairs
    prior: FloatArray
    share: FloatArray
    level: float


def upper_exceedance(tally: Tally, absent: Places, prior: FloatArray, level: float, error: float) -> float:
    """Bound the probability of the cells above a level, from above.

    Parameters
    ----------
    tally : the sample
    absent : for each cell the secret of the least `prior` that is not in it; −1 where all are
    prior : for each secret a lower bound on its prior, if it is in scope
    level : at most e^ε
    error : over and above that of the priors
    """
    error *= _KEPT
    share = lower_shares(tally.sizes, tally.total, _MARGINS * error)
    asked = _Asked(tally, _Pairs.of(tally, absent), prior, share, level)
    weight = np.asarray(tally.sizes / tally.total, dtype=np.float64)
    chance = _cell_tails(asked, _CELLS * error)
    cut = np.where(chance > 0, _CELLS * error * weight / np.where(chance > 0, chance, 1.0), np.inf)
    evidence = [_evidence(asked, *bet) for bet in _BETS]
    limit = -float(np.log(_TOGETHER * error / len(_BETS)))
    bound = 1.0
    while True:
        kept = np.flatnonzero(cut < bound)
        rows = min(_most_rows(tally.of_cell[kept], own[kept], limit) for own in evidence)
        found = float(upper_shares([rows], [tally.total], _ROWS * error, weighted=False)[0])
        if found >= bound:
            return bound
        bound = found


def _cell_tails(asked: _Asked, error: float) -> FloatArray:
    """The p-value of each cell: 0 where no secret can be above the level, 1 where it cannot be small."""
    tally, pairs, level = asked.tally, asked.pairs, asked.level
    beyond = _beyond(asked.prior, level)[pairs.secret] | _beyond(asked.share, level)[pairs.cell]
    lift = pairs.count / pairs.size * (tally.total / tally.of_secret[pairs.secret])
    small = _least_tails(asked) > error
    kept = np.bincount(pairs.cell, ~beyond & ((lift >= level) | small), tally.shape[1]) > 0
    tails = np.where(beyond, 0.0, 1.0)
    open_ = np.flatnonzero(~beyond & ~kept[pairs.cell])
    tails[open_] = _pair_tails(asked, open_)
    found = np.zeros(tally.shape[1])
    np.maximum.at(found, pairs.cell, tails)
    return found


def _beyond(share: FloatArray, level: float) -> NDArray[np.bool_]:
    """Whether no lift of a secret or cell of this share, or more, is above the level."""
    return np.asarray(np.nextafter(share * level, 0.0) >= 1)


def _least_tails(asked: _Asked) -> FloatArray:
    """What the p-values of pairs are at least, about, however small the count: not sound, and only to save work."""
    tally, pairs = asked.tally, asked.pairs
    likely = np.maximum(asked.prior, tally.of_secret / tally.total)
    chance = np.minimum(3 * likely * min(asked.level, 1e6), 0.98)[pairs.secret]
    return np.exp(pairs.size * np.log1p(-chance))


def _pair_tails(asked: _Asked, places: Places) -> FloatArray:
    """The p-value of some pairs: that the secret is above the level in the cell."""
    tally, pairs, level = asked.tally, asked.pairs, asked.level
    secret, count, size = pairs.secret[places], pairs.count[places], pairs.size[places]
    odds = _odds_ratio(level, asked.share[pairs.cell[places]], asked.prior[secret])
    _, first, kind = np.unique(
        np.column_stack([secret, size, count]), axis=0, return_index=True, return_inverse=True
    )
    found = np.ones(len(first))
    for place, at in enumerate(first.tolist()):
        held, of_cell, of_secret = int(count[at]), int(size[at]), int(tally.of_secret[secret[at]])
        table = lower_table_tail(held, of_secret, of_cell, tally.total, float(odds[at]))
        binomial = lower_binomial_tail(held, of_cell, down(level * float(asked.prior[secret[at]])))
        found[place] = min(table / _TABLE, binomial / _BINOMIAL, 1.0)
    return found[kind.ravel()]


def _odds_ratio(level: float, share: FloatArray, prior: FloatArray) -> FloatArray:
    """ω(t, q, p) for tq < 1 and tp < 1, rounded down; it is never below t."""
    slack = 32 * UNIT
    both = level * (1 - share - prior + level * share * prior - slack)
    apart = (1 - level * share + slack) * (1 - level * prior + slack)
    return np.maximum(both / apart * (1 - slack), level)


def _evidence(asked: _Asked, tilt: float, staked: float) -> FloatArray:
    """The least log E_y over the secrets, for all cells of a kind together; ∞ where none can be above the level."""
    tally, pairs = asked.tally, asked.pairs
    chance = np.nextafter(asked.level * asked.prior, 0.0)[pairs.secret]
    possible = chance < 1
    chance = np.where(possible, chance, 0.5)
    lost = -pairs.count * np.log(tilt)
    gained = (pairs.size - pairs.count) * (np.log1p(-tilt * chance) - np.log1p(-chance))
    least = np.full(tally.shape[1], np.inf)
    np.minimum.at(
        least, pairs.cell, np.where(possible, gained * (1 - _ROUNDED) - lost * (1 + _ROUNDED), np.inf)
    )
    ratio = np.where(least < np.inf, least, 0.0)
    found = ratio if staked == 1 else np.logaddexp(np.log1p(-staked), np.log(staked) + ratio)
    return np.where(least < np.inf, found - _ROUNDED * (1 + np.abs(found)), np.inf) * tally.cells


def _most_rows(rows: NDArray[np.int64], weight: FloatArray, limit: float) -> int:
    """Bound the rows of cells whose weights sum to at most a limit: all that weigh nothing, then the lightest."""
    free = weight <= 0
    room = (limit - float(weight[free].sum())) * (1 + _ROUNDED)
    rest = np.flatnonzero(~free & (weight < np.inf))
    order = rest[np.argsort(weight[rest] / rows[rest], kind="stable")]
    filled = np.cumsum(weight[order]) * (1 - _ROUNDED)
    whole = int(np.searchsorted(filled, room, side="right"))
    found = int(rows[free].sum()) + int(rows[order[:whole]].sum())
    if whole == len(order):
        return found
    spare = room - (float(filled[whole - 1]) if whole else 0.0)
    part = spare * (1 + _ROUNDED) / float(weight[order[whole]])
    return found + int(np.ceil(min(part, 1.0) * int(rows[order[whole]])))
