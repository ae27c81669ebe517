"""Bounds on priors and on the lift of each cell that a sample shows, all of them valid together.

priors      lower(n_x) ≤ P(x) ≤ upper(n_x) for all secrets, seen or not. They do not depend on what is released, so all
            releases about a secret share them, and with them the scope π₀ = upper(0).
posteriors  given all Y, c_xy ~ Bin(n_y, P(x|y)) and the seen cells are fixed, so bounds at α/(number of seen cells)
            hold for all x and seen y; hence P(x|y)/P(x) ≤ upper(c_xy; n_y)/max(lower(n_x), π₀) for x in scope
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.tally import Places, Tally
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.proportions import lower_shares, upper_shares
from tightlip.numeric.rounding import up


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
    size, each = tally.of_cell[tally.cell], from_above / tally.shape[1]
    posterior = upper_shares(tally.count, size, each)
    return gathered(
        tally,
        priors,
        lift=np.nextafter(posterior / priors.lower[tally.secret], np.inf),
        posterior=posterior,
        absent_post=upper_shares(0, tally.of_cell, each),
        lower=_proved_lift(tally, from_below / tally.shape[1], priors.upper),
    )


def gathered(
    tally: Tally,
    priors: Priors,
    *,
    lift: FloatArray,
    posterior: FloatArray,
    absent_post: FloatArray,
    lower: FloatArray,
) -> CellBounds:
    """The bounds of cells from those of their pairs, and from the posterior of secrets that they lack."""
    rare = _first_absent(tally, np.argsort(priors.lower, kind="stable"))
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
    size = tally.of_cell[tally.cell]
    plain = tally.count / size / prior_upper[tally.secret]
    places = np.flatnonzero(plain > 1)  # the bound is below this
    lift = np.zeros(len(size))
    posterior = lower_shares(tally.count[places], size[places], error)
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
