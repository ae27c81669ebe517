"""The mixture of cells that needs the least loosening of limits, and a proof that none needs less.

A limit b that is loosened by a factor c is c·b, a floor b/c. A mixture w of cells, in which a secret has the share
q(w) = Σ_x w_x q_x, keeps it if c ≥ q(w)/b (floor: c ≥ b/q(w)). Prices λ_r ≥ 0 of limits and μ_r ≥ 0 of floors prove
for every mixture that

    B c² − A c − D ≥ 0,   A = min_x { Σ_r λ_r q_rx − Σ_r μ_r q_rx },   B = Σ_r λ_r b_r,   D = Σ_r μ_r b_r,

since Σ_r λ_r (q_r(w) − c b_r) + Σ_r μ_r (b_r/c − q_r(w)) ≤ 0 for a mixture that keeps them all. Without floors this is
a matrix game: the ends meet in its value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.tally import divide
from tightlip.errors import SolverFailure
from tightlip.numeric.linear_program import minimise
from tightlip.numeric.parse import FloatArray
from tightlip.protection.limits import Limit

Loosening = Fraction | float
"""A factor; infinite where none is enough: a floor on a secret that nobody holds."""

_STEPS = 30  # of a program with floors, each at a factor nearer to the least
_CLOSE = 1e-12  # relative, at which the two ends of one with floors are as good as one
_USED = 1e-9  # a share or price above which a solver uses it
_DIGITS = 80  # binary, of a square root


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Some cells: how many hold the secret of each limit (rows), and how many there are."""

    limits: tuple[Limit, ...]
    held: NDArray[Any]
    people: NDArray[Any]

    def need(self, part: Sequence[Fraction]) -> Loosening:
        """The factor that a group needs which has these parts of the cells, exactly."""
        own = [(amount, place) for place, amount in enumerate(part) if amount]
        people = sum((amount * int(self.people[place]) for amount, place in own), Fraction(0))
        held = [sum((amount * int(row[place]) for amount, place in own), Fraction(0)) for row in self.held]
        return factor_of(self.limits, held, people)


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """Parts of cells that need little loosening, prices (to nearest) and what they prove that every mixture needs."""

    part: tuple[Fraction, ...]
    prices: FloatArray
    lower: Loosening


def factor_of(limits: Sequence[Limit], held: Sequence[int | Fraction], people: int | Fraction) -> Loosening:
    """By how much limits must be loosened for a group that holds so much of their secrets."""
    pairs = zip(limits, held, strict=True)
    return max((limit_factor(limit, own, people) for limit, own in pairs), default=Fraction(0))


def limit_factor(limit: Limit, held: int | Fraction, people: int | Fraction) -> Loosening:
    """By how much one limit must be loosened; not at all by a group of none whom it is about."""
    if not people:
        return Fraction(0)
    if limit.floor:
        return limit.inside * people / held if held else math.inf
    return Fraction(held) / people / limit.inside


def best_mixture(cells: Cells) -> Mixture:
    """Find a mixture that needs the least loosening, and prices that prove it."""
    floor = np.array([limit.floor for limit in cells.limits], dtype=bool)
    best = Mixture((Fraction(1),) * len(cells.people), np.ones(len(floor)), Fraction(0))
    if not len(floor):
        return best
    upper, at = cells.need(best.part), 1.0
    for _ in range(_STEPS if floor.any() else 1):
        try:
            found = _solve(cells, floor, at)
        except SolverFailure:
            break
        need = cells.need(found.part)
        part, upper = (found.part, need) if need < upper else (best.part, upper)
        best = found if found.lower > best.lower else best
        best = Mixture(part, best.prices, best.lower)
        if upper <= float(best.lower) * (1 + _CLOSE):
            break
        at = float(upper) if upper < math.inf else 2 * at
    return best


def _solve(cells: Cells, floor: NDArray[np.bool_], at: float) -> Mixture:
    """Minimise the largest excess over limits that are loosened by `at`."""
    bound = np.array([float(limit.inside) for limit in cells.limits])
    share = divide(cells.held, cells.people) / bound[:, None]
    rows = np.where(floor[:, None], at - at * at * share, share - at)
    height, width = rows.shape
    matrix = np.block([[np.ones(width), np.zeros(2)], [rows, -np.ones((height, 1)), np.ones((height, 1))]])
    cost = np.append(np.zeros(width), [1.0, -1.0])
    found = minimise(cost, matrix, np.append([1.0], np.zeros(height)), equal=1)
    mass, price = np.maximum(found.primal[:width], 0.0), np.maximum(-found.duals[1:], 0.0)
    masses, prices = [Fraction(one) for one in mass.tolist()], [Fraction(one) for one in price.tolist()]
    if not floor[price > _USED].any():
        masses, prices = _exactly(cells, mass, price) or (masses, prices)
    part = tuple(one / int(people) for one, people in zip(masses, cells.people, strict=True))
    times = [Fraction(at) ** 2 if one else Fraction(1) for one in floor.tolist()]
    scaled = [one * time / limit.inside for one, time, limit in zip(prices, times, cells.limits, strict=True)]
    return Mixture(part, np.array([float(one) for one in scaled]), proved(cells, scaled))


def _exactly(
    cells: Cells, mass: FloatArray, price: FloatArray
) -> tuple[list[Fraction], list[Fraction]] | None:
    """The masses and prices of the game that uses the same cells and limits, where these decide it."""
    used, tight = np.flatnonzero(mass > _USED).tolist(), np.flatnonzero(price > _USED).tolist()
    game = [
        [Fraction(int(cells.held[r, x]), int(cells.people[x])) / cells.limits[r].inside for x in used]
        for r in tight
    ]
    masses = _equalise(game)
    prices = _equalise([list(column) for column in zip(*game, strict=True)])
    if masses is None or prices is None or min(*masses, *prices) < 0:
        return None
    exact = dict(zip(used, masses, strict=True)), dict(zip(tight, prices, strict=True))
    return (
        [exact[0].get(x, Fraction(0)) for x in range(len(mass))],
        [exact[1].get(r, Fraction(0)) for r in range(len(price))],
    )


def _equalise(game: list[list[Fraction]]) -> list[Fraction] | None:
    """The mixture of columns at which all rows are equal, if there is just one."""
    from flint import fmpq, fmpq_mat

    size = len(game)
    if not size or len(game[0]) != size:
        return None
    rows: list[list[Any]] = [[*(fmpq(one.numerator, one.denominator) for one in row), -1] for row in game]
    left, right = fmpq_mat([*rows, [1] * size + [0]]), fmpq_mat([[0]] * size + [[1]])
    try:
        found = left.solve(right)
    except ZeroDivisionError:
        return None
    return [Fraction(int(found[place, 0].p), int(found[place, 0].q)) for place in range(size)]


def proved(cells: Cells, prices: Sequence[Fraction]) -> Loosening:
    """The factor that every mixture of cells needs, as prices prove it, at the outer sides of limits; rounded down."""
    scale = math.lcm(*(price.denominator for price in prices))
    whole = [int(price * scale) for price in prices]
    sides = [-price if limit.floor else price for price, limit in zip(whole, cells.limits, strict=True)]
    value: Any = np.zeros(len(cells.people), dtype=object)
    for side, row in zip(sides, cells.held, strict=True):
        value = value + side * row.astype(object)
    low = min(Fraction(own, int(people)) for own, people in zip(value.tolist(), cells.people, strict=True))
    pairs = list(zip(whole, cells.limits, strict=True))
    upper = sum((price * limit.outside for price, limit in pairs if not limit.floor), Fraction(0))
    lower = sum((price * limit.outside for price, limit in pairs if limit.floor), Fraction(0))
    if not upper:
        return lower / -low if low < 0 else math.inf if lower else Fraction(0)
    return max(Fraction(0), (low + _root_down(low * low + 4 * upper * lower)) / (2 * upper))


def _root_down(square: Fraction) -> Fraction:
    """A square root, exact where it is rational, otherwise rounded down."""
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        return Fraction(top, bottom)
    scale = 1 << (_DIGITS + square.denominator.bit_length())
    return Fraction(math.isqrt(square.numerator * scale * scale // square.denominator), scale)
