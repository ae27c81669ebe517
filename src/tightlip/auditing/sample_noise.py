"""What a sample says about a release with randomised response on some columns; the rows are those before the noise.

Let V be the randomised columns and R the others. With odds a_j/b_j a value v is released as w with probability
proportional to 1 + g_w(v) = Π (a_j/b_j over the columns j with v_j = w_j), so 0 ≤ g_w ≤ κ = e^ε − 1 for the sum ε of
all levels. With p = P(x|r), M = E[g_w(V) 1{X = x} | r] and G = E[g_w(V) | r] this makes

    P(x | w, r) = (p + M)/(1 + G),      0 ≤ M ≤ min(κ p, G),      G ≤ M + κ (1 − p).

The release is made of the one without noise, whose bounds hold for it (sample.py, processing). Better ones:

  posteriors  given R of all rows, p is bounded from the rows in r as any posterior is, and M and G are expectations of
              κ times numbers in [0, 1], bounded by numeric/proportions.py. Σ_{x,w} M = Σ_w G = κ/ω is known, so an
              error α·ω·M/κ for each makes all of them hold together, whatever secrets and values there are.
  tails       for a set B of released cells, P(B) is the expectation of P(B | V, R), a number in [0, 1] that is known
              for each row, so its mean over the rows bounds P(B) by numeric/proportions.py. Unseen r are in no row.
  all noisy   without other columns p = P(x) and no cell is unseen; the lift (1 + M/p)/(1 + G) at its largest M falls
              as p grows, so a lower bound on the prior serves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.counted import Counted
from tightlip.auditing.sample import (
    SampleBounds,
    SampleMode,
    assembled,
    levels_with,
    sample_bounds,
    threshold,
)
from tightlip.auditing.sample_cells import CellBounds, Priors, gathered, prior_bounds
from tightlip.auditing.tally import Places, Tally, divided, group_rows
from tightlip.errors import InvalidInput
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.proportions import lower_means, lower_shares, upper_means, upper_shares
from tightlip.numeric.quantity import Nats
from tightlip.numeric.rounding import down, gamma, up, widen_down, widen_up

_PARTS = 8  # p, M, G and tails, each from both sides
_LARGEST_ODDS = 10**100  # e^230; beyond, noise is as good as none
_WIDE = gamma(12)


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
) -> SampleBounds:
    """Bound what a release gives away about a secret.

    Parameters
    ----------
    plain : the counts of the sample before any noise
    release : the same after randomised response, in any order of secrets and cells
    odds : e^ε of columns with randomised response
    """
    noise = {name: odds[name] for name in release.columns if name in odds and _several(release, name)}
    _require_noise(noise)
    rows = plain.tally.total
    scale = release.tally.total // rows
    priors = prior_bounds(release.tally.of_secret // scale, rows, errors.priors)
    error, complete = errors.release, mode.cells_complete
    if not noise:
        return sample_bounds(release.tally, priors, error, budget, cells_complete=complete)
    before = sample_bounds(
        plain.tally,
        prior_bounds(plain.tally.of_secret, rows, errors.priors),
        error / 2,
        budget,
        cells_complete=complete,
    )
    return _noisy_bounds(_Noisy.of(release, noise, rows), priors, error / 2 / _PARTS, budget, mode, before)


def _require_noise(odds: Mapping[str, Fraction]) -> None:
    if prod(odds.values()) > _LARGEST_ODDS:
        raise InvalidInput(
            "randomised response must be at most 230 nats in all columns of a sample together; "
            "release columns with more as they are."
        )


def _several(release: Counted, column: str) -> bool:
    return len(release.values[release.columns.index(column)]) > 1


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
            divided(tally.count.astype(object) - other * held, span * of_region[tally.cell]),
            divided(tally.of_cell.astype(object) - other * of_region, span * of_region),
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

    def tail(lifts: FloatArray, *, above: bool) -> list[float]:
        cuts = [np.flatnonzero(lifts > threshold(level, below=above)) for level in levels]
        means = divided(np.array([tally.of_cell[cut].sum() for cut in cuts], dtype=object), tally.total)
        bound = upper_means if above else lower_means
        found: list[float] = bound(_moved(means, up=above), noisy.rows, error / len(levels)).tolist()
        return found

    above, at_least = tail(cells.upper, above=True), tail(cells.lower, above=False)
    return assembled(tally, priors, cells, min(most, before.most), levels, above, at_least, before)


def _noisy_cells(noisy: _Noisy, priors: Priors, error: float) -> CellBounds:
    """Bounds for every released cell of a seen region, at an error for each region and family of bounds."""
    tally, region = noisy.tally, noisy.region
    in_region = noisy.first[region]
    size, kappa = in_region[tally.cell], up(float(noisy.kappa))
    mean = lower_means(_moved(noisy.cell_mean, up=False), in_region, error, noisy.weight)
    least = max(down(float(noisy.kappa)), 0.0) * mean
    extra = kappa * upper_means(_moved(noisy.pair_mean, up=True), size, error, noisy.weight)
    share = upper_shares(noisy.held, size, error)
    posterior = _raised(share, extra, least[tally.cell], kappa)
    prior = priors.lower[tally.secret]
    lifted = _raised(prior, extra, least[tally.cell], kappa) if noisy.alone else posterior
    none = _raised(
        upper_shares(0, noisy.first, error)[region],
        kappa * upper_means(0.0, noisy.first, error, noisy.weight)[region],
        least,
        kappa,
    )
    return gathered(
        tally,
        priors,
        lift=np.nextafter(lifted / prior, np.inf),
        posterior=posterior,
        absent_post=none,
        lower=_proved(noisy, error) / priors.upper[tally.secret] * (1 - _WIDE),
    )


def _raised(share: FloatArray, extra: FloatArray, least: FloatArray, kappa: float) -> FloatArray:
    """The largest (p + M)/(1 + G) for p ≤ share, M ≤ min(extra, κp) and G ≥ max(M, least)."""
    reached = np.minimum(extra, kappa * share)
    return np.minimum(widen_up((share + reached) / (1 + np.maximum(reached, least)), _WIDE), 1.0)


def _proved(noisy: _Noisy, error: float) -> FloatArray:
    """The smallest (p + M)/(1 + G) of each pair for p and M at their lower bounds and G ≤ M + κ(1 − p)."""
    tally, region = noisy.tally, noisy.region
    in_region, kappa = noisy.first[region], float(noisy.kappa)
    size = in_region[tally.cell]
    share = lower_shares(noisy.held, size, error)
    least = lower_means(_moved(noisy.pair_mean, up=False), size, error, noisy.weight)
    extra = max(down(kappa), 0.0) * least
    mean = upper_means(_moved(noisy.cell_mean, up=True), in_region, error, noisy.weight)
    others = np.minimum(up(kappa) * mean[tally.cell], extra + up(kappa) * (1 - share))
    return widen_down((share + extra) / (1 + others), _WIDE)


def _moved(means: FloatArray, *, up: bool) -> FloatArray:
    """Means that were rounded once, moved to the safe side; those that are 0 are so exactly."""
    return np.where(means > 0, np.nextafter(means, np.inf if up else 0.0), 0.0)
