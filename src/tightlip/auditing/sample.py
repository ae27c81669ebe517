"""What a sample of rows says about the population they were drawn from: bounds that hold together.

Rows are independent draws of (secret X, cell Y) from a population. Secrets in scope are those held by at least a share
π₀ of it (sample_cells.py): every such secret is in the sample, and none that is rarer can be judged from it. With
ℓ(y) = log max(1, max over x in scope of P(x|y)/P(x)), and bounds on ℓ(y) for every seen cell, there follow (proofs in
docs/audit.md)

  tails       {ℓ > t} is a fixed set of cells. Rows in it number at most those in cells not proved to be ≤ t, so
              P{ℓ(Y) > t} ≤ Clopper–Pearson of that number, unseen cells included. From below likewise.
  envelope    ε_c(δ) ≤ log of the mean of e^ℓ over its worst part of probability δ (envelopes/known_bounds.py), which is
              largest for the largest tails; maximal leakage is the case δ = 1
  processing  whatever is made of Y, a leakage above t has probability δ only if the worst δ of e^ℓ(Y) has mean ≥ e^t
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tightlip.arguments import flag
from tightlip.auditing.sample_cells import CellBounds, Priors, cell_bounds
from tightlip.auditing.tally import Tally
from tightlip.auditing.view import tail_levels
from tightlip.errors import InvalidInput
from tightlip.numeric.ball import exp_bounds, log_bounds, log_exceeds
from tightlip.numeric.parse import FloatArray, float_number
from tightlip.numeric.proportions import lower_shares, upper_shares
from tightlip.numeric.quantity import Nats, exact_ratio
from tightlip.numeric.rounding import down, up

_ABOVE = 1 / 3  # of the error goes to posteriors from above, and as much to tails from above
_BELOW = 1 / 6  # to posteriors from below, and as much to tails from below
_LARGEST = sys.float_info.max


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
        flag(self.cells_complete, "cells_complete")
        read = float_number(self.confidence, "confidence")
        if not 0 < read < 1:
            raise InvalidInput(f"confidence must be strictly between 0 and 1, got {read!r}; write 0.95.")
        object.__setattr__(self, "confidence", read)

    @property
    def level(self) -> Fraction:
        """The confidence as the decimal that is shown, which all bounds together must have."""
        return Fraction(repr(self.confidence))


@dataclass(frozen=True, slots=True, eq=False)
class SampleBounds:
    """All bounds about one secret and one release.

    `most` bounds the lift of every cell, seen or not. `before` are the bounds of a release that this one is made of.
    """

    tally: Tally
    priors: Priors
    cells: CellBounds
    most: float
    levels: tuple[Nats, ...]
    above: tuple[Fraction, ...]
    at_least: tuple[Fraction, ...]
    before: SampleBounds | None = None

    def above_level(self, level: Nats) -> Fraction:
        """P{ℓ > level} at most: the bound at the largest of the levels that does not exceed it."""
        bounds = zip(self.levels, self.above, strict=True)
        return [above for known, above in bounds if not exceeds(known, level)][-1]

    def mean_of_worst(self, delta: Fraction) -> Nats:
        """An upper bound on the envelope at δ: the log of the mean of the largest lifts of probability δ."""
        left, total = delta, Fraction(0)
        for value, mass in self._worst_first():
            used = min(mass, left)
            total, left = total + used * value, left - used
        own = Nats.of_ratio(total / delta)
        return own if self.before is None else min(own, self.before.mean_of_worst(delta))

    def after_processing(self, levels: Sequence[Nats]) -> list[Fraction]:
        """P{ℓ > level} at most, of whatever is made of the release: the largest δ whose worst part has mean e^level."""
        pieces = list(self._worst_first())
        return [_largest_part(pieces, Fraction(threshold(level, below=True))) for level in levels]

    def reached(self, delta: Fraction) -> float:
        """A lower bound on the envelope at δ: the largest level that is exceeded with probability δ, for sure."""
        held = [level for level, mass in zip(self.levels, self.at_least, strict=True) if mass >= delta]
        if not held:
            return 0.0
        return float(held[-1]) if held[-1].ratio is None else log_bounds(held[-1].ratio)[0]

    def _worst_first(self) -> Iterator[tuple[Fraction, Fraction]]:
        """The largest lifts that the tails allow, each with its probability; together they have probability 1."""
        tops = [Fraction(min(threshold(level, below=False), self.most)) for level in self.levels[1:]]
        used = Fraction(0)
        for value, above in zip([Fraction(self.most), *reversed(tops)], reversed(self.above), strict=True):
            if above > used:
                yield value, above - used  # tails fall, so what lies above was counted
            used = above
        yield Fraction(1), 1 - used


def sample_bounds(
    tally: Tally, priors: Priors, error: float, budget: Nats | None = None, *, cells_complete: bool = False
) -> SampleBounds:
    """Bound a release without noise from a sample; `error` is over and above that of the priors."""
    cells = cell_bounds(tally, priors, _ABOVE * error, _BELOW * error)
    levels = levels_with(budget)

    def tail(lifts: FloatArray, error: float, *, above: bool) -> list[float]:
        rows = [int(tally.of_cell[lifts > threshold(level, below=above)].sum()) for level in levels]
        bound = upper_shares if above else lower_shares
        found: list[float] = bound(rows, tally.total, error / len(levels), weighted=False).tolist()
        return found

    return assembled(
        tally,
        priors,
        cells,
        float(cells.upper.max()) if cells_complete else priors.largest_lift,
        levels,
        tail(cells.upper, _ABOVE * error, above=True),
        tail(cells.lower, _BELOW * error, above=False),
    )


def assembled(
    tally: Tally,
    priors: Priors,
    cells: CellBounds,
    most: float,
    levels: tuple[Nats, ...],
    above: Sequence[float],
    at_least: Sequence[float],
    before: SampleBounds | None = None,
) -> SampleBounds:
    """The bounds with tails that fall, are 0 beyond the largest lift, and no larger than processing allows."""
    limits = [Fraction(1)] * len(levels) if before is None else before.after_processing(levels)
    falling, last = list[Fraction](), Fraction(1)
    for level, share, limit in zip(levels, above, limits, strict=True):
        beyond = threshold(level, below=True) >= most
        last = min(last, limit, Fraction(0 if beyond else share))
        falling.append(last)
    sure = tuple(Fraction(share) for share in at_least)
    return SampleBounds(tally, priors, cells, most, levels, tuple(falling), sure, before)


def _largest_part(pieces: Sequence[tuple[Fraction, Fraction]], mean: Fraction) -> Fraction:
    """The largest probability of values, the largest first, that have this mean or more."""
    spare, reached = Fraction(0), Fraction(0)
    for value, mass in pieces:
        if spare + mass * (value - mean) < 0:
            return reached + spare / (mean - value)
        spare, reached = spare + mass * (value - mean), reached + mass
    return Fraction(1)


def levels_with(budget: Nats | None) -> tuple[Nats, ...]:
    """The fixed levels and the budget, in order: all chosen before the data is seen."""
    levels = tail_levels()
    if budget is None:
        return levels
    below = tuple(level for level in levels if not exceeds(level, budget))
    known = not exceeds(budget, below[-1])
    return levels if known else (*below, budget, *levels[len(below) :])


def exceeds(one: Nats, two: Nats) -> bool:
    """Whether one level is larger than another; exactly, also where their floats are the same."""
    first, second = exact_ratio(one), exact_ratio(two)
    if first is not None and second is not None:
        return first > second
    if first is not None:
        return log_exceeds(first, float(two))
    return float(one) > float(two) if second is None else not log_exceeds(second, float(one))


def threshold(level: Nats, *, below: bool) -> float:
    """e^level as a float that is surely not above (or not below) it; finite where it is below."""
    if level.ratio is None:
        return exp_bounds(float(level))[0 if below else 1]
    if level.ratio > _LARGEST:
        return _LARGEST if below else float("inf")
    nearest = float(level.ratio)
    if below:
        return nearest if Fraction(nearest) <= level.ratio else down(nearest)
    return nearest if Fraction(nearest) >= level.ratio else up(nearest)
