"""Bound what a release leaks about a population from a sample of its rows, by confidence bounds that hold together.

Rows are independent draws of (secret X, cell Y) from a population. Secrets in scope are those held by at least a share
π₀ of it: every such secret is in the sample, and none that is rarer can be judged from it.

  priors      lower(n_x) ≤ P(x) ≤ upper(n_x) for all secrets, seen or not. They do not depend on what is released, so
              all releases about a secret share them, and with them the scope π₀ = upper(0).
  posteriors  given all Y, c_xy ~ Bin(n_y, P(x|y)) and the seen cells are fixed, so bounds at α/(number of seen cells)
              hold for all x and seen y; hence P(x|y)/P(x) ≤ upper(c_xy; n_y)/max(lower(n_x), π₀) for x in scope

With ℓ(y) = log max(1, max over x in scope of P(x|y)/P(x)), and these bounds on ℓ(y) for every seen cell, there follow
(proofs in docs/audit.md)

  question    P{ℓ(Y) > t} at the budget, or the least t at which it is at most δ, has most of the error and a bound
              of its own (exceedance.py); what follows shares the rest
  tails       {ℓ > t} is a fixed set of cells. Rows in it number at most those in cells not proved to be ≤ t, so
              P{ℓ(Y) > t} ≤ Clopper–Pearson of that number, unseen cells included. From below likewise.
  envelope    ε_c(δ) ≤ log of the mean of e^ℓ over its worst part of probability δ (envelopes/known_bounds.py), which is
              largest for the largest tails; maximal leakage is the case δ = 1
  processing  whatever is made of Y, a leakage above t has probability δ only if the worst δ of e^ℓ(Y) has mean ≥ e^t

Randomised response on some columns; the rows are those before the noise. Let V be the randomised columns and R the
others. With odds a_j/b_j a value v is released as w with probability proportional to
1 + g_w(v) = Π (a_j/b_j over the columns j with v_j = w_j), so 0 ≤ g_w ≤ κ = e^ε − 1 for the sum ε of all levels. With
p = P(x|r), M = E[g_w(V) 1{X = x} | r] and G = E[g_w(V) | r] this makes

    P(x | w, r) = (p + M)/(1 + G),      0 ≤ M ≤ min(κ p, G),      G ≤ M + κ (1 − p).

The release is made of the one without noise, whose bounds hold for it (processing, above). Better ones:

  posteriors  given R of all rows, p is bounded from the rows in r as any posterior is, and M and G are expectations of
              κ times numbers in [0, 1], bounded by numeric/proportions.py. Σ_{x,w} M = Σ_w G = κ/ω is known, so an
              error α·ω·M/κ for each makes all of them hold together, whatever secrets and values there are.
  tails       for a set B of released cells, P(B) is the expectation of P(B | V, R), a number in [0, 1] that is known
              for each row, so its mean over the rows bounds P(B) by numeric/proportions.py. Unseen r are in no row.
  all noisy   without other columns p = P(x) and no cell is unseen; the lift (1 + M/p)/(1 + G) at its largest M falls
              as p grows, so a lower bound on the prior serves.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import flag
from tightlip.auditing.counted import Counted
from tightlip.auditing.exceedance import upper_exceedance
from tightlip.auditing.leakage import tail_levels
from tightlip.auditing.tally import Places, Tally, divide, group_rows
from tightlip.errors import InvalidInput
from tightlip.numeric.ball import exp_bounds, log_bounds, log_exceeds
from tightlip.numeric.parse import FloatArray, float_number
from tightlip.numeric.proportions import lower_means, lower_shares, upper_means, upper_shares
from tightlip.numeric.quantity import Nats, exact_ratio
from tightlip.numeric.rounding import down, gamma, up, widen_down, widen_up

_ASKED = 0.8  # of the error of a release goes to the question that is asked, the rest to all other bounds
_OVER = 0.85  # of that to the bound from above, which a verdict needs
_PROVED = 0.8  # of the bound from below, to the cells that are proved to be above
_ABOVE = 1 / 3  # of the rest goes to posteriors from above, and as much to tails from above
_BELOW = 1 / 6  # to posteriors from below, and as much to tails from below
_LARGEST = sys.float_info.max
_PARTS = 8  # p, M, G and tails, each from both sides
_LARGEST_ODDS = 10**100  # e^230; beyond, noise is as good as none
_WIDE = gamma(12)


@dataclass(frozen=True, slots=True, eq=False)
class Priors:
    """Bounds on the prior of every secret in the sample.

    `lower` holds for secrets in scope, those of a share of at least `rarest`; `proved` and `upper` hold for all.
    """

    rarest: float
    proved: FloatArray
    lower: FloatArray
    upper: FloatArray

    @property
    def largest_lift(self) -> float:
        """No cell, seen or not, multiplies the probability of a secret in scope by more."""
        return up(float(1 / self.lower.min()))


def prior_bounds(of_secret: object, rows: int, error: float) -> Priors:
    """Bound all priors from how many of the rows have each secret; half of the error for each side.

    >>> prior_bounds([60, 40], 100, 0.05).lower.round(2).tolist()
    [0.48, 0.28]
    """
    rarest = float(upper_shares([0], [rows], error / 2)[0])
    proved = lower_shares(of_secret, rows, error / 2)
    return Priors(rarest, proved, np.maximum(proved, rarest), upper_shares(of_secret, rows, error / 2))


@dataclass(frozen=True, slots=True, eq=False)
class CellBounds:
    """For each cell: the bound on its largest lift from above, with its secret and posterior, and from below.

    `absent_post` and `absent` say the upper bound on the posterior of secrets not seen in the cell, and the likeliest
    of these (−1 where all were seen). The lower bound counts every secret, also one out of scope.
    """

    upper: FloatArray
    secret: Places
    posterior: FloatArray
    lower: FloatArray
    absent_post: FloatArray
    absent: Places


def cell_bounds(tally: Tally, priors: Priors, from_above: float, from_below: float) -> CellBounds:
    """Bounds for the cells of a release without noise, at an error from each side."""
    sizes, cells = tally.sizes, int(tally.cells.sum())
    posterior = upper_shares(tally.count // tally.cells[tally.cell], sizes[tally.cell], from_above / cells)
    return gather_cells(
        tally,
        priors,
        lift=np.nextafter(posterior / priors.lower[tally.secret], np.inf),
        posterior=posterior,
        absent_post=upper_shares(0, sizes, from_above / cells),
        lower=_proved_lift(tally, from_below / cells, priors.upper),
    )


def gather_cells(
    tally: Tally,
    priors: Priors,
    *,
    lift: FloatArray,
    posterior: FloatArray,
    absent_post: FloatArray,
    lower: FloatArray,
) -> CellBounds:
    """Bound cells from the bounds of their pairs, and from the posterior of secrets that they lack."""
    rare = _first_absent(tally, np.argsort(tally.of_secret, kind="stable"))
    absent_lift = np.where(rare < 0, 0.0, np.nextafter(absent_post / priors.lower[rare], np.inf))
    best = _first_largest(lift, tally)
    seen = lift[best] >= absent_lift
    secret = np.where(seen, tally.secret[best], rare)
    return CellBounds(
        upper=np.maximum(np.where(seen, lift[best], absent_lift), 1.0),
        secret=secret,
        posterior=np.where(seen, posterior[best], absent_post),
        lower=np.maximum(np.maximum.reduceat(lower, tally.starts), 1.0),
        absent_post=absent_post,
        absent=_first_absent(tally, np.argsort(-priors.proved, kind="stable")),
    )


def _proved_lift(tally: Tally, error: float, prior_upper: FloatArray) -> FloatArray:
    """For each pair a lift that it surely has; 0 where that is at most 1."""
    size, count = tally.sizes[tally.cell], tally.count // tally.cells[tally.cell]
    plain = count / size / prior_upper[tally.secret]
    places = np.flatnonzero(plain > 1)  # the bound is below this
    lift = np.zeros(len(size))
    posterior = lower_shares(count[places], size[places], error)
    lift[places] = np.nextafter(posterior / prior_upper[tally.secret[places]], 0.0)
    return lift


def _first_largest(values: FloatArray, tally: Tally) -> Places:
    largest = np.maximum.reduceat(values, tally.starts)
    ties = np.flatnonzero(values == largest[tally.cell])
    return ties[np.flatnonzero(np.diff(tally.cell[ties], prepend=-1))]


def _first_absent(tally: Tally, order: Places) -> Places:
    """For each cell the first secret in some order that was not seen in it; −1 where all were."""
    found = np.full(tally.shape[1], -1, dtype=np.intp)
    open_: NDArray[np.bool_] = np.ones(tally.shape[1], dtype=bool)
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
        """Bound P{ℓ > level} from above: at the largest of the levels that does not exceed it."""
        return self.above[self.levels.index(level_at(self.levels, level))]

    def at_least_above(self, level: Nats) -> Fraction:
        """Bound P{ℓ > level} from below: by the largest bound at a level that is not below it."""
        bounds = zip(self.levels, self.at_least, strict=True)
        return max((share for known, share in bounds if not exceeds(level, known)), default=Fraction(0))

    def upper_envelope(self, delta: Fraction) -> Nats:
        """Bound the envelope at δ from above: by the log of the mean of the largest lifts of probability δ."""
        left, total = delta, Fraction(0)
        for value, mass in self._worst_first():
            used = min(mass, left)
            total, left = total + used * value, left - used
        own = Nats.of_ratio(total / delta)
        return own if self.before is None else min(own, self.before.upper_envelope(delta))

    def after_processing(self, levels: Sequence[Nats]) -> list[Fraction]:
        """Bound P{ℓ > level} of whatever is made of the release: the largest δ whose worst part has mean e^level."""
        pieces = list(self._worst_first())
        return [_largest_part(pieces, Fraction(threshold(level, below=True))) for level in levels]

    def lower_envelope(self, delta: Fraction) -> float:
        """Bound the envelope at δ from below: by the largest level that is exceeded with probability δ, for sure."""
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
    tally: Tally,
    priors: Priors,
    error: float,
    budget: Nats | None = None,
    *,
    delta: Fraction | None = None,
    cells_complete: bool = False,
) -> SampleBounds:
    """Bound a release without noise from a sample; `error` is over and above that of the priors.

    Most of it goes to the question, if there is one: how likely a leakage above the budget is or, where none is set,
    which level is exceeded with probability δ at most.
    """
    rest = error if budget is None and delta is None else error * (1 - _ASKED)
    cells, levels = cell_bounds(tally, priors, _ABOVE * rest, _BELOW * rest), levels_with(budget)
    told = told_levels(levels, priors)

    def tail(lifts: FloatArray, error: float, *, above: bool) -> list[float | Fraction]:
        rows = [int(tally.of_cell[lifts > threshold(level, below=above)].sum()) for level in told]
        bound = upper_shares if above else lower_shares
        found: list[float] = bound(rows, tally.total, error / len(told), weighted=False).tolist()
        return [*found, *[0.0] * (len(levels) - len(told))]

    above = tail(cells.upper, _ABOVE * rest, above=True)
    at_least = tail(cells.lower, _BELOW * rest, above=False)
    most = float(cells.upper.max()) if cells_complete else priors.largest_lift
    if budget is not None:
        place = levels.index(level_at(levels, budget))
        above[place] = min(above[place], most_above(tally, priors, budget, error))
        at_least[place] = max(at_least[place], least_above(tally, priors, budget, error))
    elif delta is not None:
        above = _lower_to(delta, tally, priors, levels, above, most, error * _ASKED)
    return assemble_bounds(tally, priors, cells, most, levels, above, at_least)


def told_levels(levels: Sequence[Nats], priors: Priors) -> list[Nats]:
    """List the levels that a secret in scope can exceed; the scope is known before the data, so others cost nothing."""
    largest = up(1 / priors.rarest)
    return [level for level in levels if threshold(level, below=True) < largest]


def least_above(tally: Tally, priors: Priors, budget: Nats, error: float) -> float:
    """Bound P{ℓ > budget} from below, with the part of a release's error that is for the question."""
    below = error * _ASKED * (1 - _OVER)
    lift = _proved_lift(tally, below * _PROVED / int(tally.cells.sum()), priors.upper)
    proved = np.unique(tally.cell[lift > threshold(budget, below=False)])
    rows = int(tally.of_cell[proved].sum())
    return float(lower_shares([rows], [tally.total], below * (1 - _PROVED), weighted=False)[0])


def most_above(tally: Tally, priors: Priors, budget: Nats, error: float) -> float:
    """Bound P{ℓ > budget} from above, as `least_above` from below."""
    return _share_above(tally, priors, budget, error * _ASKED * _OVER)


def _share_above(tally: Tally, priors: Priors, level: Nats, error: float) -> float:
    # of the secrets that a cell lacks, the one that fewest rows have is the hardest to exclude: its tail is largest
    absent = _first_absent(tally, np.argsort(tally.of_secret, kind="stable"))
    return upper_exceedance(tally, absent, priors.lower, threshold(level, below=True), error)


def _lower_to(
    delta: Fraction,
    tally: Tally,
    priors: Priors,
    levels: Sequence[Nats],
    above: Sequence[float | Fraction],
    most: float,
    error: float,
) -> list[float | Fraction]:
    """Prove P{ℓ > t} ≤ δ at lower and lower levels t, as long as that succeeds.

    All share one error: the claims are false below some level and true from it on, and only the highest false one
    must not be proved, since none below it is tried unless it was.
    """
    found = list(above)
    for place in reversed(range(len(levels))):
        if found[place] <= delta or threshold(levels[place], below=True) >= most:
            continue
        if _share_above(tally, priors, levels[place], error) > delta:
            break
        found[place] = delta
    return found


def assemble_bounds(
    tally: Tally,
    priors: Priors,
    cells: CellBounds,
    most: float,
    levels: tuple[Nats, ...],
    above: Sequence[float | Fraction],
    at_least: Sequence[float | Fraction],
    before: SampleBounds | None = None,
) -> SampleBounds:
    """Join all bounds, with tails that fall, are 0 beyond the largest lift, and no larger than processing allows."""
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
    """List the fixed levels and the budget, in order: all chosen before the data is seen."""
    levels = tail_levels()
    if budget is None:
        return levels
    below = tuple(level for level in levels if not exceeds(level, budget))
    known = not exceeds(budget, below[-1])
    return levels if known else (*below, budget, *levels[len(below) :])


def level_at(levels: Sequence[Nats], level: Nats) -> Nats:
    """Find the largest of some levels, in order, that does not exceed another."""
    return [known for known in levels if not exceeds(known, level)][-1]


def exceeds(one: Nats, two: Nats) -> bool:
    """Whether one level is larger than another; exactly, also where their floats are the same."""
    first, second = exact_ratio(one), exact_ratio(two)
    if first is not None and second is not None:
        return first > second
    if first is not None:
        return log_exceeds(first, float(two))
    return float(one) > float(two) if second is None else not log_exceeds(second, float(one))


def threshold(level: Nats, *, below: bool) -> float:
    """Round e^level to a float that is surely not above (or not below) it; finite where it is below."""
    if level.ratio is None:
        return exp_bounds(float(level))[0 if below else 1]
    if level.ratio > _LARGEST:
        return _LARGEST if below else float("inf")
    nearest = float(level.ratio)
    if below:
        return nearest if Fraction(nearest) <= level.ratio else down(nearest)
    return nearest if Fraction(nearest) >= level.ratio else up(nearest)


@dataclass(frozen=True, slots=True)
class Errors:
    """Error probabilities: of the bounds on priors, which all releases share, and of those about one release."""

    priors: float
    release: float


def release_bounds(
    plain: Counted,
    release: Counted,
    odds: Mapping[str, Fraction],
    errors: Errors,
    mode: SampleMode,
    budget: Nats | None = None,
    delta: Fraction | None = None,
) -> SampleBounds:
    """Bound what a release gives away about a secret; most sharply what is asked, above a budget or at a δ.

    Parameters
    ----------
    plain : the counts of the sample before any noise
    release : the same after randomised response, in any order of secrets and cells
    odds : e^ε of columns with randomised response
    """
    columns = zip(release.columns, release.values, strict=True)
    noise = {name: odds[name] for name, values in columns if name in odds and len(values) > 1}
    if prod(noise.values()) > _LARGEST_ODDS:
        raise InvalidInput(
            "randomised response must be at most 230 nats in all columns of a sample together; "
            "release columns with more as they are."
        )
    rows = plain.tally.total
    scale = release.tally.total // rows
    priors = prior_bounds(release.tally.of_secret // scale, rows, errors.priors)
    error, complete = errors.release, mode.cells_complete
    if not noise:
        return sample_bounds(release.tally, priors, error, budget, delta=delta, cells_complete=complete)
    before = sample_bounds(
        plain.tally,
        prior_bounds(plain.tally.of_secret, rows, errors.priors),
        error / 2,
        cells_complete=complete,
    )
    return _noisy_bounds(_Noisy.of(release, noise, rows), priors, error / 2 / _PARTS, budget, mode, before)


@dataclass(frozen=True, slots=True, eq=False)
class _Noisy:
    """A noisy release by regions: a region is a combination r of the columns without noise.

    `first` and `held` count rows: those of a region, and of each pair of the release in its region. `pair_mean` and
    `cell_mean` are the means of g_w(V) 1{X = x} and g_w(V) over the rows of the region, over κ.
    """

    tally: Tally
    region: Places
    first: NDArray[Any]
    held: NDArray[Any]
    pair_mean: FloatArray
    cell_mean: FloatArray
    kappa: Fraction
    weight: float
    rows: int
    alone: bool

    @classmethod
    def of(cls, release: Counted, odds: Mapping[str, Fraction], rows: int) -> _Noisy:
        tally, kept = release.tally, [name for name in release.columns if name not in odds]
        places = [release.columns.index(name) for name in kept]
        region = group_rows(release.codes[:, places])[1]
        by_region, secrets = tally.with_cells(region), tally.shape[0]
        scale = tally.total // rows
        keys = by_region.cell * secrets + by_region.secret
        found = np.searchsorted(keys, region[tally.cell] * secrets + tally.secret)
        first, held = by_region.of_cell // scale, by_region.count[found] // scale
        same = prod(one.numerator for one in odds.values())
        other = prod(one.denominator for one in odds.values())
        values = prod(len(release.values[release.columns.index(name)]) for name in odds)
        span = max(same - other, 1)
        of_region = first[region]
        return cls(
            tally,
            region,
            first,
            held,
            divide(tally.count.astype(object) - other * held, span * of_region[tally.cell]),
            divide(tally.of_cell.astype(object) - other * of_region, span * of_region),
            Fraction(same - other, other),
            down(float(Fraction(span, max(scale - values * other, 1)))),
            rows,
            not kept,
        )


def _noisy_bounds(
    noisy: _Noisy,
    priors: Priors,
    error: float,
    budget: Nats | None,
    mode: SampleMode,
    before: SampleBounds,
) -> SampleBounds:
    tally, levels = noisy.tally, levels_with(budget)
    cells = _noisy_cells(noisy, priors, error / len(noisy.first))
    most = float(cells.upper.max()) if mode.cells_complete or noisy.alone else priors.largest_lift

    told = told_levels(levels, priors)

    def tail(lifts: FloatArray, *, above: bool) -> list[float]:
        cuts = [np.flatnonzero(lifts > threshold(level, below=above)) for level in told]
        means = divide(np.array([tally.of_cell[cut].sum() for cut in cuts], dtype=object), tally.total)
        bound = upper_means if above else lower_means
        found: list[float] = bound(_widen_means(means, up=above), noisy.rows, error / len(told)).tolist()
        return found + [0.0] * (len(levels) - len(told))

    above, at_least = tail(cells.upper, above=True), tail(cells.lower, above=False)
    return assemble_bounds(tally, priors, cells, min(most, before.most), levels, above, at_least, before)


def _noisy_cells(noisy: _Noisy, priors: Priors, error: float) -> CellBounds:
    """Bounds for every released cell of a seen region, at an error for each region and family of bounds."""
    tally, region = noisy.tally, noisy.region
    in_region = noisy.first[region]
    size, kappa = in_region[tally.cell], up(float(noisy.kappa))
    mean = lower_means(_widen_means(noisy.cell_mean, up=False), in_region, error, noisy.weight)
    least = max(down(float(noisy.kappa)), 0.0) * mean
    extra = kappa * upper_means(_widen_means(noisy.pair_mean, up=True), size, error, noisy.weight)
    share = upper_shares(noisy.held, size, error)
    posterior = _largest_posterior(share, extra, least[tally.cell], kappa)
    prior = priors.lower[tally.secret]
    lifted = _largest_posterior(prior, extra, least[tally.cell], kappa) if noisy.alone else posterior
    none = _largest_posterior(
        upper_shares(0, noisy.first, error)[region],
        kappa * upper_means(0.0, noisy.first, error, noisy.weight)[region],
        least,
        kappa,
    )
    return gather_cells(
        tally,
        priors,
        lift=np.nextafter(lifted / prior, np.inf),
        posterior=posterior,
        absent_post=none,
        lower=_smallest_posterior(noisy, error) / priors.upper[tally.secret] * (1 - _WIDE),
    )


def _largest_posterior(share: FloatArray, extra: FloatArray, least: FloatArray, kappa: float) -> FloatArray:
    """The largest (p + M)/(1 + G) for p ≤ share, M ≤ min(extra, κp) and G ≥ max(M, least)."""
    reached = np.minimum(extra, kappa * share)
    return np.minimum(widen_up((share + reached) / (1 + np.maximum(reached, least)), _WIDE), 1.0)


def _smallest_posterior(noisy: _Noisy, error: float) -> FloatArray:
    """The smallest (p + M)/(1 + G) of each pair for p and M at their lower bounds and G ≤ M + κ(1 − p)."""
    tally, region = noisy.tally, noisy.region
    in_region, kappa = noisy.first[region], float(noisy.kappa)
    size = in_region[tally.cell]
    share = lower_shares(noisy.held, size, error)
    least = lower_means(_widen_means(noisy.pair_mean, up=False), size, error, noisy.weight)
    extra = max(down(kappa), 0.0) * least
    mean = upper_means(_widen_means(noisy.cell_mean, up=True), in_region, error, noisy.weight)
    others = np.minimum(up(kappa) * mean[tally.cell], extra + up(kappa) * (1 - share))
    return widen_down((share + extra) / (1 + others), _WIDE)


def _widen_means(means: FloatArray, *, up: bool) -> FloatArray:
    """Means that were rounded once, moved to the safe side; those that are 0 are so exactly."""
    return np.where(means > 0, np.nextafter(means, np.inf if up else 0.0), 0.0)
