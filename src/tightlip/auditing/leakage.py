"""Compute the leakage of every cell of a tally: worst cells, tails and averages, relative to the true counts.

    PML(y) = log max_x n c_xy / (n_x n_y)        PMC(y) = log max_x n_x n_y / (n c_xy)   (∞ where some c_xy = 0)

Floats only sort: n c_xy / (n_x n_y) takes three roundings, so its ends are known, and whatever they leave open
(which of two cells is worse, whether a cell exceeds a level) is decided with the whole numbers themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.result import Finding
from tightlip.auditing.tally import Places, Tally, divide, sum_by
from tightlip.measures.distribution import Kind
from tightlip.numeric.ball import log_exceeds
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.quantity import Nats, Probability, exact_ratio
from tightlip.numeric.rounding import gamma, log_down, log_up, widen_down, widen_up

_TINY = 2.0**-1000
_UNAMBIGUOUS = 2**25  # below, two different fractions of counts never round to the same float
# levels of tails: these factors, in each decade
_STEPS = ("1", "5/4", "3/2", "2", "5/2", "3", "4", "5", "15/2", "10")
_DECADES = 6


@dataclass(frozen=True, slots=True, eq=False)
class CellLeakage:
    """PML or PMC of each cell. `pair` is the pair that decides it, −1 where a secret is excluded (PMC = ∞)."""

    kind: Kind
    tally: Tally
    pair: Places
    lower: FloatArray
    upper: FloatArray

    def ratio(self, cell: int) -> Fraction | None:
        """Compute e^leakage of one cell, exactly; None is infinite."""
        pair = int(self.pair[cell])
        if pair < 0:
            return None
        lift = self.tally.lift(pair)
        return lift if self.kind == "pml" else 1 / lift

    def value(self, cell: int) -> Nats:
        """Compute the leakage of one cell in nats, rounded up, with its exact ratio."""
        ratio = self.ratio(cell)
        return Nats(math.inf) if ratio is None else Nats.of_ratio(ratio)

    def secret(self, cell: int) -> int:
        """Find the secret that decides: one that is excluded, the likeliest beforehand, where the cost is infinite."""
        pair = int(self.pair[cell])
        if pair >= 0:
            return int(self.tally.secret[pair])
        held = self.tally.secret[self.tally.cell == cell]
        absent = np.ones(self.tally.shape[0], dtype=bool)
        absent[held] = False
        missing = np.flatnonzero(absent)
        return int(missing[np.argmax(self.tally.of_secret[missing])])

    def worst_first(self, count: int) -> list[int]:
        """Sort cells from the largest leakage down; of equal ones the larger cell, then the first."""
        count = min(count, len(self.upper))
        cutoff = np.partition(self.lower, -count)[-count]
        close = np.flatnonzero(self.upper >= cutoff)
        keys = self._keys(close)
        order = sorted(
            zip(close.tolist(), keys, strict=True),
            key=lambda found: (
                -found[1] if found[1] is not None else -math.inf,
                -self.tally.of_cell[found[0]],
            ),
        )
        return [cell for cell, _ in order[:count]]

    def above(self, level: float | Fraction) -> NDArray[np.bool_]:
        """Decide exactly which cells leak more than a level."""
        nearest = float(level)
        above: NDArray[np.bool_] = self.lower > np.nextafter(nearest, math.inf)
        open_ = np.flatnonzero(~above & (self.upper > np.nextafter(nearest, -math.inf)))
        wanted, known = exact_ratio(level), dict[Fraction, bool]()
        for cell, ratio in zip(open_.tolist(), self._keys(open_), strict=True):
            assert ratio is not None  # an infinite cost is above every level
            if ratio not in known:
                known[ratio] = log_exceeds(ratio, level) if wanted is None else ratio > wanted
            above[cell] = known[ratio]
        return above

    def tail(self, level: float | Fraction) -> Probability:
        """Compute P{leakage > level}: the share of people in such cells, exactly."""
        return Probability.of(self.tally.share_of(np.flatnonzero(self.above(level))))

    def _keys(self, cells: Places) -> list[Fraction | None]:
        """The exact ratios of some cells; equal counts are divided once."""
        pairs = self.pair[cells]
        counts = self.tally.count[pairs].tolist()
        secrets = self.tally.of_secret[self.tally.secret[pairs]].tolist()
        sizes = self.tally.of_cell[cells].tolist()
        known: dict[tuple[int, int, int], Fraction | None] = {}
        found = []
        for cell, pair, *key in zip(cells.tolist(), pairs.tolist(), counts, secrets, sizes, strict=True):
            name = (*key,) if pair >= 0 else (0, 0, 0)
            if name not in known:
                known[name] = self.ratio(cell)
            found.append(known[name])
        return found


def cell_pml(tally: Tally) -> CellLeakage:
    """Pointwise maximal leakage of each cell.

    >>> leak = cell_pml(Tally.of([0, 1, 0], [0, 0, 1], [3, 1, 2], (2, 2)))
    >>> leak.ratio(0), leak.ratio(1)
    (Fraction(3, 2), Fraction(6, 5))
    """
    return _leakage_of_pairs(tally, "pml", deciding_pairs(tally, largest=True))


def cell_pmc(tally: Tally) -> CellLeakage:
    """Pointwise maximal cost of each cell: what it lets an adversary rule out.

    >>> leak = cell_pmc(Tally.of([0, 1, 0], [0, 0, 1], [3, 1, 2], (2, 2)))
    >>> leak.ratio(0), leak.ratio(1), leak.secret(1)
    (Fraction(10, 9), None, 1)
    """
    pair = deciding_pairs(tally, largest=False)
    held = np.diff(np.append(tally.starts, len(tally.cell)))
    return _leakage_of_pairs(tally, "pmc", np.where(held == tally.shape[0], pair, -1))


def worst_leakage(tally: Tally) -> Nats:
    """Compute the worst leakage of any cell, exactly."""
    leak = cell_pml(tally)
    return leak.value(leak.worst_first(1)[0])


def maximal_leakage_of(leak: CellLeakage) -> Nats:
    """Compute ℒ = log Σ_y max_x c_xy / n_x, exactly: the counts of cells decided by the same secret add up."""
    tally = leak.tally
    owner = tally.secret[leak.pair]
    sums = sum_by(owner, tally.count[leak.pair], tally.shape[0])
    parts = zip(sums.tolist(), tally.of_secret.tolist(), strict=True)
    return Nats.of_ratio(sum((Fraction(int(one), int(of)) for one, of in parts), Fraction(0)))


def local_privacy_of(gain: CellLeakage, cost: CellLeakage) -> Nats:
    """Compute LDP, max_y of PML(y) + PMC(y), exactly; infinite where a cell excludes a secret."""
    if (cost.pair < 0).any():
        return Nats(math.inf)
    close = np.flatnonzero(gain.upper + cost.upper >= (gain.lower + cost.lower).max() - 1e-12)
    tally = gain.tally

    def chance(pair: int) -> Fraction:
        return Fraction(int(tally.count[pair]), int(tally.of_secret[tally.secret[pair]]))

    ratios = {chance(int(gain.pair[cell])) / chance(int(cost.pair[cell])) for cell in close}
    return Nats.of_ratio(max(ratios))


def finding(leak: CellLeakage, cell: int) -> Finding:
    """Look up one cell's leakage with the exact shares of the secret it points to."""
    secret = leak.secret(cell)
    prior = leak.tally.prior_of(secret)
    return Finding(
        cell, secret, leak.value(cell), Probability.of(prior), posterior_of(leak.tally, cell, secret)
    )


def posterior_of(tally: Tally, cell: int, secret: int) -> Probability:
    """Compute the posterior c_xy / n_y, exactly."""
    start, end = np.searchsorted(tally.cell, [cell, cell + 1])
    place = start + int(np.searchsorted(tally.secret[start:end], secret))
    held = int(tally.count[place]) if place < end and tally.secret[place] == secret else 0
    return Probability.of(Fraction(held, int(tally.of_cell[cell])))


def worst_cost(cost: CellLeakage) -> Finding:
    """Find what can be ruled out: of the cells that exclude a secret, the largest with the likeliest excluded one."""
    excluding = np.flatnonzero(cost.pair < 0)
    if not len(excluding):
        return finding(cost, cost.worst_first(1)[0])
    tally = cost.tally
    held = np.bincount(tally.secret, minlength=tally.shape[0])  # by how many cells
    absent = np.flatnonzero(held < tally.shape[1])
    secret = int(absent[np.argmax(tally.of_secret[absent])])
    without = np.setdiff1d(excluding, tally.cell[tally.secret == secret])
    cell = int(without[np.argmax(tally.of_cell[without])])
    share = Probability.of(tally.prior_of(secret))
    return Finding(cell, secret, Nats(float("inf")), share, Probability.of(Fraction(0)))


def other_findings(cost: CellLeakage) -> dict[str, Finding]:
    """Find the worst of each pointwise measure besides PML, by name; another measure is one more entry here."""
    return {"pmc": worst_cost(cost)}


def deciding_pairs(tally: Tally, *, largest: bool) -> Places:
    """Find for each cell the pair with the largest (or smallest) c_xy / n_x, exactly; the first of equal ones."""
    chance = tally.chances() if largest else -tally.chances()
    best = np.maximum.reduceat(chance, tally.starts)
    ties = np.flatnonzero(chance == best[tally.cell])
    if tally.count.dtype == object or tally.total > _UNAMBIGUOUS:
        ties = _truly_best(tally, ties, largest)
    return ties[np.flatnonzero(np.diff(tally.cell[ties], prepend=-1))]


def _truly_best(tally: Tally, ties: Places, largest: bool) -> Places:
    """Of pairs whose chances round to the same float, those that are best as fractions."""
    several = np.bincount(tally.cell[ties], minlength=tally.shape[1])[tally.cell[ties]] > 1
    kept = ~several
    best: dict[int, tuple[Fraction, int]] = {}
    sign = 1 if largest else -1
    for place in np.flatnonzero(several).tolist():
        pair = int(ties[place])
        chance = sign * Fraction(int(tally.count[pair]), int(tally.of_secret[tally.secret[pair]]))
        cell = int(tally.cell[pair])
        if cell not in best or chance > best[cell][0]:
            best[cell] = chance, place
    kept[[place for _, place in best.values()]] = True
    return ties[kept]


def _leakage_of_pairs(tally: Tally, kind: Kind, pair: Places) -> CellLeakage:
    lift = _lifts(tally, pair)
    tiny = lift < _TINY
    ratio = np.where(tiny, _TINY, lift) if kind == "pml" else 1 / np.where(tiny, _TINY, lift)
    lower = np.maximum(log_down(widen_down(ratio, gamma(4))), 0.0)
    upper = np.maximum(log_up(widen_up(ratio, gamma(4))), 0.0)
    upper[tiny & (kind == "pmc")] = math.inf  # larger than the float says; decided in whole numbers
    lower[pair < 0] = upper[pair < 0] = math.inf
    return CellLeakage(kind, tally, pair, lower, upper)


def _lifts(tally: Tally, pair: Places) -> FloatArray:
    """n c_xy / (n_x n_y) of one pair for each cell, within γ₃; large numbers are divided once, lest both vanish."""
    of_secret = tally.of_secret[tally.secret[pair]]
    if tally.count.dtype == object:
        return divide(tally.count[pair] * tally.total, of_secret * tally.of_cell)
    return divide(tally.count[pair], of_secret) / divide(tally.of_cell, tally.total)


def tail_levels() -> tuple[Nats, ...]:
    """List the levels at which tails are told: factors 1, 1.25, 1.5, 2, … up to a million; fixed, whatever the data.

    >>> [str(level.ratio) for level in tail_levels()[:4]]
    ['1', '5/4', '3/2', '2']
    """
    ratios = sorted({Fraction(step) * 10**decade for decade in range(_DECADES) for step in _STEPS})
    return tuple(Nats.of_ratio(ratio) for ratio in ratios)
