"""What a sample of rows says about the population they were drawn from: bounds that hold together.

Rows are independent draws of (secret X, cell Y) from a population; n_x, n_y, c_xy and n are counted in the sample.
Secrets in scope are those held by at least a share π₀ of the population, π₀ = upper(0) of confidence.py: every such
secret is in the sample, and none that is rarer can be judged from it. With ℓ(y) = log max(1, max over x in scope of
P(x|y)/P(x)), these hold together with probability at least 1 − α (proofs in docs/audit.md):

  priors      lower(n_x) ≤ P(x) ≤ upper(n_x) for all secrets, seen or not
  posteriors  given all Y, c_xy ~ Bin(n_y, P(x|y)) and the seen cells are fixed, so bounds at α'/(number of seen
              cells) hold for all x and seen y; hence P(x|y)/P(x) ≤ upper(c_xy; n_y)/max(lower(n_x), π₀)
  tails       {ℓ > t} is a fixed set of cells. Rows in it number at most those in cells not proved to be ≤ t, so
              P{ℓ(Y) > t} ≤ Clopper–Pearson of that number, unseen cells included. From below likewise.
  envelope    ε_c(δ) ≤ log of the mean of e^ℓ over its worst part of probability δ (envelope/bounds.py), which is
              largest for the largest tails; maximal leakage is the case δ = 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tightlip.audit.confidence import lower_shares, upper_shares
from tightlip.audit.tally import Places, Tally
from tightlip.audit.view import tail_levels
from tightlip.errors import InvalidInput
from tightlip.numeric.ball import exp_bounds, log_bounds
from tightlip.numeric.parse import FloatArray, number
from tightlip.numeric.quantity import Nats
from tightlip.numeric.rounding import down, up

_TAIL = 0.25  # of the error goes to tails from above, and as much to posteriors from above
_SIDE = 0.125  # to each of the other four families of bounds


@dataclass(frozen=True, slots=True)
class SampleMode:
    """The rows are a sample; every bound of the audit holds with this confidence, all of them together.

    `cells_complete` declares that the population has no released values outside the sample.

    >>> SampleMode(0.9)
    SampleMode(confidence=0.9, cells_complete=False)
    """

    confidence: float = 0.95
    cells_complete: bool = False

    def __post_init__(self) -> None:
        read = float(number(self.confidence, "confidence"))
        if not 0 < read < 1:
            raise InvalidInput(f"confidence must be strictly between 0 and 1, got {read!r}; write 0.95.")
        object.__setattr__(self, "confidence", read)


@dataclass(frozen=True, slots=True, eq=False)
class CellBounds:
    """For each seen cell: the bound on its largest lift from above, with its secret and shares, and from below.

    `absent_post` and `absent` say the upper bound on the posterior of secrets not seen in the cell, and the likeliest
    of these (−1 where all were seen).
    """

    upper: FloatArray
    secret: Places
    prior: FloatArray
    posterior: FloatArray
    lower: FloatArray
    absent_post: FloatArray
    absent: Places


@dataclass(frozen=True, slots=True, eq=False)
class SampleBounds:
    """All bounds about one secret, valid together with probability at least 1 − error.

    `most` bounds the lift of every cell, seen or not: one over the rarest secret in scope, or less where all cells
    were seen.
    """

    tally: Tally
    prior_proved: FloatArray
    prior_lower: FloatArray
    rarest: float
    cells: CellBounds
    most: float
    levels: tuple[Nats, ...]
    above: tuple[Fraction, ...]
    at_least: tuple[Fraction, ...]

    def above_level(self, level: Nats) -> Fraction:
        """P{ℓ > level} at most: the bound at the largest of the levels that does not exceed it."""
        below = [above for known, above in zip(self.levels, self.above, strict=True) if known <= level]
        return below[-1] if below else Fraction(1)

    def mean_of_worst(self, delta: Fraction) -> Nats:
        """An upper bound on the envelope at δ: the log of the mean of the largest lifts of probability δ."""
        most = Fraction(self.most)
        values = [min(Fraction(_threshold(level, below=False)), most) for level in self.levels[1:]] + [most]
        left, total = delta, Fraction(0)
        for value, above in zip(reversed(values), reversed(self.above), strict=True):
            mass = min(above - (delta - left), left)  # tails fall, so what lies above was counted
            if mass > 0:
                total, left = total + mass * value, left - mass
        return Nats.of_ratio(max((total + left) / delta, Fraction(1)))

    def reached(self, delta: Fraction) -> float:
        """A lower bound on the envelope at δ: the largest level that is exceeded with probability δ, for sure."""
        held = [level for level, mass in zip(self.levels, self.at_least, strict=True) if mass >= delta]
        if not held:
            return 0.0
        return float(held[-1]) if held[-1].ratio is None else log_bounds(held[-1].ratio)[0]


def sample_bounds(
    tally: Tally, error: float, budget: Nats | None = None, *, cells_complete: bool = False
) -> SampleBounds:
    """Bound everything about a secret from a sample, at a total error probability."""
    n = tally.total
    side = _SIDE * error
    rarest = float(upper_shares([0], [n], side)[0])
    prior_proved = lower_shares(tally.of_secret, n, side)
    prior_lower = np.maximum(prior_proved, rarest)  # of secrets in scope
    prior_upper = upper_shares(tally.of_secret, n, side)
    cells = _cell_bounds(tally, error, prior_lower, prior_upper)
    levels = _levels(budget)
    most = float(cells.upper.max()) if cells_complete else up(float(1 / prior_lower.min()))
    above = _tails(tally, cells.upper, levels, _TAIL * error, from_above=True)
    above = [
        Fraction(0) if _threshold(level, below=True) >= most else mass
        for level, mass in zip(levels, above, strict=True)
    ]
    at_least = tuple(_tails(tally, cells.lower, levels, side, from_above=False))
    return SampleBounds(
        tally, prior_proved, prior_lower, rarest, cells, most, levels, _falling(above), at_least
    )


def _levels(budget: Nats | None) -> tuple[Nats, ...]:
    """The fixed levels and the budget: chosen before the data is seen."""
    levels = tail_levels()
    if budget is None or budget <= 0:
        return levels
    return tuple(sorted({*levels, budget}, key=lambda level: (float(level), level.ratio or 0)))


def _cell_bounds(tally: Tally, error: float, prior_lower: FloatArray, prior_upper: FloatArray) -> CellBounds:
    each, side = _TAIL * error / tally.shape[1], _SIDE * error / tally.shape[1]
    size = tally.of_cell[tally.cell]
    posterior = upper_shares(tally.count, size, each)
    lift = np.nextafter(posterior / prior_lower[tally.secret], np.inf)
    rare = _first_absent(tally, np.argsort(prior_lower, kind="stable"))
    absent_post = upper_shares(0, tally.of_cell, each)
    absent_lift = np.where(rare < 0, 0.0, np.nextafter(absent_post / prior_lower[rare], np.inf))
    best = _first_largest(lift, tally)
    seen = lift[best] >= absent_lift
    secret = np.where(seen, tally.secret[best], rare)
    return CellBounds(
        upper=np.maximum(np.where(seen, lift[best], absent_lift), 1.0),
        secret=secret,
        prior=prior_lower[secret],
        posterior=np.where(seen, posterior[best], absent_post),
        lower=_proved_lift(tally, side, prior_upper),
        absent_post=absent_post,
        absent=_first_absent(tally, np.argsort(-np.asarray(tally.of_secret), kind="stable")),
    )


def _proved_lift(tally: Tally, error: float, prior_upper: FloatArray) -> FloatArray:
    """For each cell a lift that some secret surely has; 1 where nothing is proved."""
    size = tally.of_cell[tally.cell]
    plain = tally.count / size / prior_upper[tally.secret]
    places = np.flatnonzero(plain > 1)  # the bound is below this
    lift = np.zeros(len(size))
    posterior = lower_shares(tally.count[places], size[places], error)
    lift[places] = np.nextafter(posterior / prior_upper[tally.secret[places]], 0.0)
    return np.maximum(np.maximum.reduceat(lift, tally.starts), 1.0)


def _first_largest(values: FloatArray, tally: Tally) -> Places:
    largest = np.maximum.reduceat(values, tally.starts)
    ties = np.flatnonzero(values == largest[tally.cell])
    return ties[np.flatnonzero(np.diff(tally.cell[ties], prepend=-1))]


def _first_absent(tally: Tally, order: Places) -> Places:
    """For each cell the first secret in some order that was not seen in it; −1 where all were."""
    found = np.full(tally.shape[1], -1, dtype=np.intp)
    open_ = np.ones(tally.shape[1], dtype=bool)
    by_secret = np.argsort(tally.secret, kind="stable")
    ends = np.searchsorted(tally.secret[by_secret], np.arange(tally.shape[0] + 1))
    for secret in order.tolist():
        absent = open_.copy()
        absent[tally.cell[by_secret[ends[secret] : ends[secret + 1]]]] = False
        found[absent] = secret
        open_ &= ~absent
        if not open_.any():
            break
    return found


def _tails(
    tally: Tally, lifts: FloatArray, levels: Sequence[Nats], error: float, *, from_above: bool
) -> list[Fraction]:
    """Clopper–Pearson bounds on P{ℓ > level}, at an equal part of the error each."""
    rows = [int(tally.of_cell[lifts > _threshold(level, below=from_above)].sum()) for level in levels]
    bound = upper_shares if from_above else lower_shares
    return [
        Fraction(share) for share in bound(rows, tally.total, error / len(levels), weighted=False).tolist()
    ]


def _threshold(level: Nats, *, below: bool) -> float:
    """e^level as a float that is surely not above (or not below) it."""
    if level.ratio is None:
        return exp_bounds(float(level))[0 if below else 1]
    nearest = float(level.ratio)
    if below:
        return nearest if Fraction(nearest) <= level.ratio else down(nearest)
    return nearest if Fraction(nearest) >= level.ratio else up(nearest)


def _falling(masses: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Running minima: a tail never rises, so a bound at a lower level serves the higher ones."""
    found: list[Fraction] = []
    for mass in masses:
        found.append(min(mass, found[-1]) if found else mass)
    return tuple(found)
