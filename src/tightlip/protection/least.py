"""The least budget at which something can be released, between two proved ends.

All limits are loosened by one factor c. Let c(G) be the least factor at which the group G keeps them (see `mixture`).
Groups that keep limits keep them together, so whoever releases something needs no more than to publish one value y for
a part U of its cells, and nothing otherwise; and y may be as coarse as can be without saying nothing. With T the cells
that share the value which says nothing with those of y, the least factor is

    drawn by chance   max { c(nothing), min_y min_w c(w) },   w the mixtures of the cells of y
    otherwise         max { c(nothing), min_y min_U max { c(U), c(T ∖ U) } }.

The first is an infimum: at any factor above it, y can be published for a small enough part of w, and what is left to
say nothing still keeps the limits. It bounds the second, which is found by trying all U of values of few cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.tally import Places, group_rows
from tightlip.numeric.ball import exp_bounds
from tightlip.numeric.display import format_down, format_up
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.quantity import exact_ratio
from tightlip.protection.certificate import Table
from tightlip.protection.clock import Deadline
from tightlip.protection.limits import Limit, Limits
from tightlip.protection.mixture import Cells, Loosening, best_mixture, factor_of, limit_factor
from tightlip.protection.values import Codes, Values

_FEW = 12  # cells of a value of which all parts are tried
_SECONDS = 3.0  # in which values are looked at closely; of the others the limits are looked at one by one
_HALVINGS = 40  # of the part of people for whom something is published by chance
_FLIPS = 100  # of cells in or out of a part
_ROUNDING = Fraction(1, 1 << 40)  # floats are off by less, relatively


@dataclass(frozen=True, slots=True)
class Least:
    """By how much to loosen all limits so that something can be released: the least factor lies between the two.

    `lower` is 0 where nothing is proved, `upper` None where no factor is known to be enough.
    """

    lower: Fraction
    upper: Fraction | None


def loosening(limits: Limits, chosen: Places) -> list[Loosening]:
    """By how much each limit must be loosened for the release of chosen[x] for cell x to keep it, exactly."""
    groups = _parts(chosen)
    return [
        max(
            limit_factor(
                limit, int(limits.counts[limit.secret, own].sum()), int(limits.people_of(limit)[own].sum())
            )
            for own in groups
        )
        for limit in limits.limits
    ]


def _parts(keys: Places) -> list[Places]:
    """The places of each key."""
    order = np.argsort(keys, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)


def least_loosening(table: Table, values: Values, *, least: int, randomised: bool) -> Least | None:
    """The factor by which to loosen all limits so that something can be released; None where there is nothing more.

    None too where limits are about different people: a group then is no one mixture of shares (see `mixture`).

    `least` is the fewest people who may share a value. Where people may be exposed, nothing is proved from below.
    """
    groups, nested = coarsest_groups(table, values)
    limits = table.limits
    if not groups or limits.applies is not None:
        return None
    lower, upper = _Search(limits, values.last, least, randomised).ends(groups)
    exposing = limits.exposed > 0 and (
        randomised or limits.exposed * limits.total >= int(limits.people.min())
    )
    return Least(
        Fraction(0) if exposing or not nested or lower == math.inf else Fraction(lower),
        None if upper == math.inf else Fraction(upper),
    )


def coarsest_groups(table: Table, values: Values) -> tuple[list[Places], bool]:
    """The cells of the coarsest values that say something; and whether every other value is inside of one of them.

    They are groups of one column at some level and all others at their last. A column whose last level is not coarser
    than the others has values that are inside of none.
    """
    last = [levels[-1][code] for levels, code in zip(table.levels, table.codes.T, strict=True)]
    sizes = np.bincount(values.last)[values.last]
    found = []
    for place, (levels, code) in enumerate(zip(table.levels, table.codes.T, strict=True)):
        coarser: list[Places] = []
        for level in reversed(levels[:-1]):
            own = np.column_stack([*last[:place], level[code], *last[place + 1 :]])
            group = np.full(len(code), -1)
            for number, cells in enumerate(_parts(group_rows(own)[1])):
                whole = len(np.unique(values.last[cells])) == 1
                if whole and len(cells) < sizes[cells[0]]:
                    group[cells] = number
                    if not any(_inside(cells, other) for other in coarser):
                        found.append(cells)
            coarser.append(group)
    nested = all(_refines(level, levels[-1]) for levels in table.levels for level in levels)
    return found, nested


def _refines(level: Codes, last: Codes) -> bool:
    """Whether values that are alike at a level are alike at the last."""
    return len(set(zip(level.tolist(), last.tolist(), strict=True))) == len(set(level.tolist()))


def _inside(cells: Places, group: Places) -> bool:
    """Whether cells are all in one group of those that have numbers."""
    return bool(group[cells[0]] >= 0 and (group[cells] == group[cells[0]]).all())


class _Search:
    """What the groups of a table need; `last` has for each cell the value that says nothing about it."""

    def __init__(self, limits: Limits, last: Places, least: int, randomised: bool) -> None:
        self.limits, self.last, self.least, self.randomised = limits.limits, last, least, randomised
        self.people = limits.people
        self.held = limits.counts[[limit.secret for limit in self.limits]].reshape(-1, len(last))
        self.floor = np.array([limit.floor for limit in self.limits], dtype=bool)[:, None]
        self.bound = np.array([float(limit.inside) for limit in self.limits])[:, None]
        self.tops = {int(last[own[0]]): own for own in _parts(last)}
        self.alone = {
            top: self._need(own) if self.people[own].sum() >= least else math.inf
            for top, own in self.tops.items()
        }
        sides = [(one.outside, one.inside) if one.floor else (one.inside, one.outside) for one in self.limits]
        # a factor at the inner sides of limits is at most so much more than one at their outer sides
        self.slack = min((low / high for low, high in sides), default=Fraction(1))

    def ends(self, groups: list[Places]) -> tuple[Loosening, Loosening]:
        """Both ends over all groups; those that might need least are looked at first."""
        nothing = max(self.alone.values())
        lower: Loosening = math.inf
        upper: Loosening = math.inf
        hopes, until = [self._hope(cells) for cells in groups], Deadline.after(_SECONDS)
        for rank, place in enumerate(sorted(range(len(groups)), key=hopes.__getitem__)):
            hope = hopes[place]
            if hope >= lower or upper == nothing or (rank and until.left() <= 0):
                lower = min(lower, hope)
                break
            low, high = self._look(groups[place])
            lower, upper = min(lower, low), min(upper, high)
        return max(lower, nothing * self.slack), upper

    def _look(self, cells: Places) -> tuple[Loosening, Loosening]:
        """Both ends of publishing the value of some cells, for a part of them."""
        if not self.randomised and len(cells) <= _FEW:
            best = min(map(self._publish, self._all_parts(cells)), default=math.inf)
            return best * self.slack, best
        found = best_mixture(Cells(self.limits, self.held[:, cells], self.people[cells]))
        if self.randomised:
            return found.lower, self._by_chance(cells, found.part)
        return found.lower, min(map(self._publish, self._some_parts(cells, found.prices)))

    def _need(self, cells: Places) -> Loosening:
        """The factor that a group needs, exactly."""
        held = self.held[:, cells].sum(axis=1).tolist()
        return factor_of(self.limits, held, int(self.people[cells].sum()))

    def _others(self, top: int) -> Loosening:
        """What the cells need that say nothing and are not of this group."""
        return max((need for other, need in self.alone.items() if other != top), default=Fraction(0))

    def _publish(self, cells: Places) -> Loosening:
        """The factor that publishing a value for these cells and nothing for all others needs, exactly."""
        top = int(self.last[cells[0]])
        rest = np.setdiff1d(self.tops[top], cells)
        if min(self.people[cells].sum(), self.people[rest].sum()) < self.least:
            return math.inf
        return max(self._need(cells), self._need(rest), self._others(top))

    def _by_chance(self, cells: Places, part: tuple[Fraction, ...]) -> Loosening:
        """The factor of publishing a value for a small enough part of a mixture, exactly."""
        top = int(self.last[cells[0]])
        most = max(part)
        chance = [one / most for one in part]
        own = [
            sum((one * count for one, count in zip(chance, row, strict=True) if one), Fraction(0))
            for row in [self.people[cells].tolist(), *self.held[:, cells].tolist()]
        ]
        all_ = [int(self.people[self.tops[top]].sum()), *self.held[:, self.tops[top]].sum(axis=1).tolist()]
        need = max(factor_of(self.limits, own[1:], own[0]), self._others(top))
        best: Loosening = math.inf
        for halving in range(_HALVINGS):
            rest = [count - one / (1 << halving) for count, one in zip(all_, own, strict=True)]
            best = min(best, max(need, factor_of(self.limits, rest[1:], rest[0])))
            if best == max(need, self.alone[top]):
                break
        return best

    def _needs(self, held: NDArray[Any], people: NDArray[Any]) -> FloatArray:
        """The factors of groups (columns) for each limit (rows), about; of no people infinite."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            share = held.astype(np.float64) / people.astype(np.float64) / self.bound
            need = np.where(self.floor, 1 / share, share)
        return np.asarray(np.nan_to_num(need, nan=np.inf, posinf=np.inf))

    def _hope(self, cells: Places) -> Loosening:
        """What every mixture of cells needs for the limit that needs most alone."""
        needs = self._needs(self.held[:, cells], self.people[cells]).min(axis=1)
        most = float(needs.max(initial=0.0))
        return most if most == math.inf else Fraction(most) * self.slack * (1 - _ROUNDING)

    def _both(self, top: int, held: NDArray[Any], people: NDArray[Any]) -> FloatArray:
        """The factors of groups and of what they leave to say nothing, about; infinite where too few are in one."""
        own = self.tops[top]
        rest, left = self.held[:, own].sum(axis=1)[:, None] - held, self.people[own].sum() - people
        need = np.maximum(self._needs(held, people), self._needs(rest, left)).max(axis=0, initial=0.0)
        return np.where(np.minimum(people, left) < self.least, np.inf, need)

    def _all_parts(self, cells: Places) -> Iterator[Places]:
        """All parts of few cells, but those that surely need more than some other."""
        masks = np.arange(1, 1 << len(cells))[:, None] >> np.arange(len(cells)) & 1
        held, people = self.held[:, cells] @ masks.T, masks @ self.people[cells]
        need = self._both(int(self.last[cells[0]]), held, people)
        near = np.flatnonzero(need <= need.min() * float(1 + _ROUNDING))
        if need.min() < math.inf:
            alike = {(*held[:, place].tolist(), int(people[place])): place for place in near.tolist()}
            for place in alike.values():
                yield cells[masks[place] > 0]

    def _some_parts(self, cells: Places, prices: FloatArray) -> Iterator[Places]:
        """All cells; and the cheapest of them at prices, as many as is best, with single ones in or out."""
        yield cells
        top, held, people = int(self.last[cells[0]]), self.held[:, cells], self.people[cells]
        cost = (np.where(self.floor[:, 0], -prices, prices) @ held) / people
        order = np.argsort(cost, kind="stable")
        need = self._both(top, held[:, order].cumsum(axis=1), people[order].cumsum())
        inside = np.zeros(len(cells), dtype=np.int64)
        inside[order[: int(need.argmin()) + 1]] = 1
        best = float(need.min())
        for _ in range(_FLIPS):
            sign = 1 - 2 * inside
            flipped = self._both(
                top,
                (held @ inside)[:, None] + sign * held,
                people @ inside + sign * people,
            )
            if not flipped.min() < best:
                break
            best = float(flipped.min())
            inside[int(flipped.argmin())] ^= 1
        yield cells[inside > 0]


def least_words(limit: Limit, factor: Loosening, *, up: bool = True) -> str:
    """Say what a limit is after it was loosened by a factor, rounded up or down.

    >>> least_words(Limit.of(0, "cap", Fraction(1, 2), Fraction(1, 10)), Fraction(6, 5))
    '60%'
    """
    show = format_up if up else format_down
    if factor == math.inf:
        return "none"
    if limit.kind == "cap":
        return f"{show(min(100 * limit.inside * Fraction(factor), Fraction(100)))}%"
    ratio = exact_ratio(limit.level)
    times = ratio if ratio is not None else exp_bounds(limit.level)[int(up)]
    return f"{show(math.inf if times == math.inf else Fraction(times) * Fraction(factor))}x"
