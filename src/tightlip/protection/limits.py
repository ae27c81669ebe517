"""Budgets as limits on posteriors: what a published value may say about each secret.

Every budget says between which shares the people who hold a secret s may lie among those who share a published value y:

    a factor t (PML)              P(s | y) ≤ t·P(s)
    a cap c on certainty          P(s | y) ≤ c
    a factor t not ruled out (PMC) P(s | y) ≥ P(s)/t

In counts, with n_sx people of secret s in cell x and m_x = Σ_s n_sx those to whom this secret applies, a kernel
K(y | x) keeps a limit b on s if

    Σ_x (n_sx − b·m_x) K(y | x) ≤ 0   for every y      (≥ for a floor).

It is one linear condition for each y whatever m_x is, and m_x ≤ n_x, all people of the cell: P(s) and P(s | y) are the
shares of s among those to whom it applies, P(s) = n_s/m. A value that is published for none of these says nothing about
s, and keeps every limit on it (0 ≤ 0).

Counts are int64, or Python integers where they are larger: those of drawn columns are multiplied by the denominators of
their mechanisms (see `fixed`). Limits do not depend on such a factor. What solvers get is in people, `unit` times less.

A limit may be irrational. `inside` is a rational on the safe side of it, which releases must keep; `outside` one on the
other side, which no release is bound to keep more than: proofs that nothing keeps more detail use it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.tally import divide
from tightlip.numeric.ball import exp_bounds
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.quantity import exact_ratio

_LEAST = 1e-9  # of a share, by which counts are still divided
_WIDEST = 2**63  # sums of whole numbers below need no Python integers
MOST_NARROW = 1 << 53  # up to here whole numbers are floats
Kind = Literal["pml", "cap", "pmc"]


@dataclass(frozen=True, slots=True)
class Limit:
    """How large (pml, cap) or how small (pmc) the share of one secret may become in a published value.

    Attributes
    ----------
    secret : the row of the counts
    kind : which budget it comes from
    level : of a factor the level in nats, exact where it is a Fraction or a `Nats` with a ratio; of a cap the share
    inside, outside : rationals on either side of the limit; see above
    """

    secret: int
    kind: Kind
    level: float | Fraction
    inside: Fraction
    outside: Fraction

    @classmethod
    def of(cls, secret: int, kind: Kind, level: float | Fraction, prior: Fraction) -> Limit:
        """The limit that a budget means for a secret of some prior share.

        >>> from tightlip.numeric.quantity import log_of
        >>> Limit.of(0, "pml", log_of(3), Fraction(1, 10)).inside
        Fraction(3, 10)
        """
        if kind == "cap":
            share = Fraction(level)
            return cls(secret, kind, level, share, share)
        ratio = exact_ratio(level)
        low: Fraction
        high: Fraction | None  # None is beyond all floats
        if ratio is not None:
            low, high = ratio, ratio
        else:
            least, most = exp_bounds(level)
            low, high = Fraction(least), None if most == math.inf else Fraction(most)
        if kind == "pml":
            return cls(secret, kind, level, prior * low, Fraction(1) if high is None else prior * high)
        return cls(secret, kind, level, prior / low, Fraction(0) if high is None else prior / high)

    @property
    def floor(self) -> bool:
        """Whether the share must be at least so large."""
        return self.kind == "pmc"

    @property
    def void(self) -> bool:
        """Whether every share keeps it."""
        return not self.floor and self.inside >= 1

    def kept_by(self, held: int, people: int) -> bool:
        """Whether a value that `people` share, of whom `held` hold the secret, keeps it."""
        share = self.inside * people
        return held >= share if self.floor else held <= share


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """The limits of a release, and the counts that they are about.

    Attributes
    ----------
    counts : people by secret (row) and cell (column); secrets of several subjects may stand below each other
    people : people in each cell
    limits : what is to be kept
    exposed : the share of people who may get a value of their own that keeps no limit
    applies : by subject (row) and cell, the people to whom it applies; None where all do to everybody
    subject : of each row of `counts` the row of `applies` that it is of
    prior_of : of each row of `counts` the number of its secret, where several rows are of one (see `past`)
    unit : what a person counts for
    """

    counts: NDArray[Any]
    people: NDArray[Any]
    limits: tuple[Limit, ...]
    exposed: Fraction = Fraction(0)
    applies: NDArray[Any] | None = None
    subject: NDArray[np.intp] | None = None
    prior_of: NDArray[np.intp] | None = None
    unit: int = 1

    def people_of(self, limit: Limit) -> NDArray[Any]:
        """The people in each cell whom a limit is about."""
        if self.applies is None or self.subject is None:
            return self.people
        return np.asarray(self.applies[self.subject[limit.secret]])

    def prior(self, secret: int) -> Fraction:
        """The share of a secret (a row of the counts, or several) among those to whom it applies."""
        if self.applies is None or self.subject is None:
            return Fraction(sum(self.counts[secret].tolist()), self.total or 1)
        rows = [secret] if self.prior_of is None else np.flatnonzero(self.prior_of == self.prior_of[secret])
        held = sum(sum(self.counts[row].tolist()) for row in rows)
        return Fraction(held, sum(sum(self.applies[self.subject[row]].tolist()) for row in rows) or 1)

    @property
    def total(self) -> int:
        """The number of people, times the unit."""
        return int(self.people.sum())

    @property
    def amounts(self) -> FloatArray:
        """The people in each cell, to nearest; of drawn columns as many are expected."""
        return divide(self.people, self.unit)

    @property
    def size(self) -> float:
        """The number of people, to nearest."""
        return self.total / self.unit

    def excess(self, *, outside: bool = False) -> FloatArray:
        """How far each cell alone is over each limit, in people: n_sx/b − m_x, negative where there is room."""
        rows = [self._excess(limit, limit.outside if outside else limit.inside) for limit in self.limits]
        return np.array(rows).reshape(len(rows), len(self.people))

    def _excess(self, limit: Limit, bound: Fraction) -> FloatArray:
        held, people = (divide(own, self.unit) for own in (self.counts[limit.secret], self.people_of(limit)))
        over = (held - float(bound) * people) / _unit(bound)
        return np.asarray(-over if limit.floor else over)

    def sizes(self, *, outside: bool = False) -> FloatArray:
        """How large the parts of each excess are, n_sx/b + m_x: what its roundings are relative to."""
        bounds = [limit.outside if outside else limit.inside for limit in self.limits]
        rows = [
            (
                divide(self.counts[limit.secret], self.unit)
                + float(bound) * divide(self.people_of(limit), self.unit)
            )
            / _unit(bound)
            for limit, bound in zip(self.limits, bounds, strict=True)
        ]
        return np.array(rows).reshape(len(rows), len(self.people))

    def broken(
        self,
        value: NDArray[np.intp],
        cell: NDArray[np.intp],
        weight: NDArray[np.int64],
        values: int,
        *,
        outside: bool = False,
    ) -> NDArray[np.bool_]:
        """Which limits (rows) which values (columns) break, exactly; pairs of value and cell have whole weights."""
        found = np.zeros((len(self.limits), values), dtype=bool)
        sums: dict[int, NDArray[np.object_]] = {}  # by whom limits are about, who are often the same
        for place, limit in enumerate(self.limits):
            held = _sum(value, self.counts[limit.secret, cell], weight, values)
            whom = 0 if self.subject is None else int(self.subject[limit.secret])
            if whom not in sums:
                sums[whom] = _sum(value, self.people_of(limit)[cell], weight, values)
            people = sums[whom]
            bound = limit.outside if outside else limit.inside
            left, right = held * bound.denominator, people * bound.numerator
            found[place] = (left < right) if limit.floor else (left > right)
        return found


def whole_kind(total: int) -> type[np.int64] | type[object]:
    """What holds counts of so many exactly, and as floats where it is int64."""
    return np.int64 if total <= MOST_NARROW else object


def _unit(bound: Fraction) -> float:
    """Divide excesses by the limit, so that they are in people, unless it is next to nothing."""
    return max(float(bound), _LEAST)


def _sum(
    value: NDArray[np.intp], count: NDArray[Any], weight: NDArray[np.int64], values: int
) -> NDArray[np.object_]:
    """Σ count·weight by value, in whole numbers of any size."""
    kept, narrow = np.flatnonzero(count), count.dtype != object
    if narrow and len(kept) and int(count[kept].max()) * int(weight[kept].max()) * len(kept) < _WIDEST:
        small = np.zeros(values, dtype=np.int64)
        np.add.at(small, value[kept], count[kept] * weight[kept])
        return small.astype(object)
    found = np.zeros(values, dtype=object)
    np.add.at(found, value[kept], count[kept].astype(object) * weight[kept].astype(object))
    return found


def risky_cells(limits: Limits, *, outside: bool = False) -> NDArray[np.bool_]:
    """Which cells break some limit when they are published as they are, exactly."""
    own = np.arange(len(limits.people), dtype=np.intp)
    alone = limits.broken(own, own, np.ones(len(own), dtype=np.int64), len(own), outside=outside)
    return np.asarray(alone.any(axis=0))
