"""The channel that says most under guarantees, by an f-information: found, evaluated, and a bound on all others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np

from tightlip.designs.f_information import ERROR, Information
from tightlip.designs.generation import (
    BoxSearch,
    FloorSearch,
    GeneralSearch,
    Listed,
    RatioSearch,
    Search,
    box_columns,
    floor_columns,
    generate,
    ratio_columns,
)
from tightlip.designs.guarantee import (
    Alip,
    FloorPml,
    Guarantee,
    Ldp,
    MaximalLeakage,
    Side,
    Vector,
    all_rows,
    ratio,
)
from tightlip.designs.linear import SCALE, Kernel, Problem, Whole, repaired, shape_of, whole
from tightlip.designs.pricing import Box, Curve, Floor, Ratio, cones_of
from tightlip.designs.subset_sums import search_grid
from tightlip.designs.vertices import vertices
from tightlip.errors import SolverFailure
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import UNIT, float_above, sum_down, sum_up, up

__all__ = ["Information", "find", "information", "upper_bound"]

_LISTED = 10  # secrets of which all extreme columns of one cone are listed: some thousands
FEW = 6  # secrets of which those of several cones together are found, in rationals
_EASE = Fraction(1, 1 << 42)  # of the level, for rounding
_DEAREST = 1e100  # beyond it prices are not read
_CUTS = 6  # times that a set of priors is described better; each searches anew


def find(
    masses: Vector, guarantees: tuple[Guarantee, ...], utility: Information, room: Fraction
) -> tuple[Kernel, FloatArray]:
    """Find a channel that keeps the guarantees in whole numbers and says much, and prices that bound all others."""
    problem = Problem(masses, np.zeros((len(masses), 1), dtype=object), guarantees, room)
    p = np.array([float(mass) for mass in masses])
    best, prices = Kernel(np.ones((1, len(masses)), dtype=object), 1), [np.zeros(len(masses))]
    if problem.silent or len(masses) == 1:
        return best, prices[0]
    problem = _refined(problem)
    for _ in range(_CUTS):
        # with a little more room than asked for, rounding needs no repair, and what is never said stays so
        eased = replace(problem, room=room + _EASE)
        if eased.silent:
            break
        try:
            columns, shares, more = generate(*_search(eased, utility, p))
        except SolverFailure:
            break
        refined, kernel = repaired(problem, _rounded(columns * shares[:, None]))
        best = max(best, kernel, key=lambda one: information(one, masses, utility)[0])
        prices += more
        if refined.guarantees == problem.guarantees:
            break
        problem = refined
    if len(guarantees) > 1 and not eased.silent:
        for search in _searches(eased, utility, p):
            with suppress(SolverFailure):
                prices += generate(search, utility, p)[2]
    # zeros are prices in proportion to the prior, near the optimum where secrets are many
    return best, min(prices, key=lambda one: upper_bound(masses, guarantees, utility, one))


def _refined(problem: Problem) -> Problem:
    """Describe sets of priors by those that decide about the constant channel."""
    column = [[1] * len(problem.masses)]
    return replace(problem, guarantees=tuple(own.refine(column) for own in problem.guarantees))


def _search(
    problem: Problem, utility: Information, masses: FloatArray
) -> tuple[Search, Information, FloatArray, float | None]:
    """Choose where columns come from: the cone's own sets, all extreme columns, or any cone's tangents."""
    rows = problem.rows(Side.INNER)
    alone = len(problem.guarantees) == 1 or all(isinstance(own, Alip) for own in problem.guarantees)
    simple = isinstance(problem.guarantees[0], Alip | Ldp | FloorPml) and not rows.positive
    if alone and simple:
        return _searches(problem, utility, masses)[-1], utility, masses, None
    if len(masses) <= FEW and rows.most is None:
        corners = vertices(rows, problem.masses)
        if corners is not None:
            return (
                Listed(np.array(corners, dtype=np.float64), utility, masses),
                utility,
                masses,
                None,
            )
    shape = shape_of(rows, len(masses))
    parts = _searches(problem, utility, masses)
    return GeneralSearch(shape, utility, masses, tuple(parts)), utility, masses, shape.total


def _searches(problem: Problem, utility: Information, masses: FloatArray) -> list[Search]:
    """List where columns of each cone that contains the allowed ones come from."""
    found: list[Search] = []
    few = len(masses) <= _LISTED
    guarantees = list(problem.guarantees)
    for own in problem.guarantees:
        if isinstance(own, MaximalLeakage):
            guarantees.append(Alip(None, own.epsilon))  # PML implies it
    for cone in cones_of(guarantees, problem.masses, Side.INNER, problem.room):
        if isinstance(cone, Ratio):
            curve = Curve(utility, 1.0, cone.factor)
            if few:
                found.append(Listed(ratio_columns(curve, masses), utility, masses))
            else:
                found.append(RatioSearch(curve, masses, search_grid(problem.masses, 1.0)))
        elif isinstance(cone, Floor):
            if few:
                found.append(Listed(floor_columns(cone, masses), utility, masses))
            else:
                most = max(size for size, _ in cone.kinds(len(masses)))
                found.append(
                    FloorSearch(cone, utility, masses, search_grid(problem.masses, float(most) / 10))
                )
        elif isinstance(cone, Box):
            if few:
                found.append(Listed(box_columns(cone, masses), utility, masses))
            else:
                grid = search_grid(problem.masses, float(cone.share))
                found.append(BoxSearch(cone, utility, masses, grid))
    return found


def _rounded(columns: FloatArray) -> Whole:
    """Round a channel, given by columns, to whole weights; what rounding leaves goes to the largest entry of a row."""
    shares = np.maximum(columns, 0.0) / columns.sum(axis=0)
    weights = np.floor(shares * SCALE).astype(np.int64).astype(object)
    rest = SCALE - weights.sum(axis=0)
    for secret, place in enumerate(shares.argmax(axis=0).tolist()):
        weights[place, secret] += rest[secret]
    return np.asarray(weights)


def information(kernel: Kernel, masses: Vector, utility: Information) -> tuple[float, float]:
    """Compute I_f of a channel, rounded down and up; mutual information in nats."""
    shares, unit = whole(np.array(masses, dtype=object))
    totals = (kernel.weights @ shares).tolist()
    p = np.array([share / unit for share in shares.tolist()])
    terms = []
    for column, total in zip(kernel.weights.tolist(), totals, strict=True):
        if total:
            # quotients of whole numbers are rounded once, so that the difference loses nothing
            lifts = np.array([(entry * unit - total) / total for entry in column])
            terms.append(p * utility.excess(np.maximum(lifts, -1.0)) * (total / (unit * kernel.scale)))
    every = np.concatenate(terms)
    error = 2 * ERROR + 16 * UNIT
    return max(sum_down(every) * (1 - error), 0.0), up(sum_up(every) * (1 + error), steps=2)


def upper_bound(
    masses: Vector, guarantees: Sequence[Guarantee], utility: Information, prices: FloatArray
) -> float:
    """Bound I_f of every channel that keeps the guarantees, by prices of the secrets; recomputed without a solver.

    The smallest of: I_f of the identity; what PML or maximal leakage allows (`Information.largest_lift`); Σw + α for
    each cone that contains the allowed columns (`pricing`); and, for few secrets, for their intersection (`vertices`).
    Of a guarantee about another secret only the first and the last are known, and a set of priors is taken for the
    members that are listed. Prices that are no better than others cost nothing but the bound.
    """
    if len(masses) == 1:
        return 0.0
    # any prices prove something, but not if they overflow; secrets without mass are never worth a negative price
    prices = np.clip(np.nan_to_num(prices), -_DEAREST, _DEAREST)
    prices = np.where([mass == 0 for mass in masses], np.maximum(prices, 0.0), prices)
    guarantees = [own.refine([[1] * len(masses)]) for own in guarantees]
    bounds = [_identity(masses, utility)]
    if len(masses) <= FEW:
        corners = vertices(all_rows(guarantees, masses, Side.OUTER), masses)
        bounds += [] if corners is None else [_listed(corners, masses, utility, prices)]
    for own in guarantees:
        if isinstance(own, MaximalLeakage):
            bounds.append(utility.largest_lift(float_above(ratio(own.epsilon, Side.OUTER))))
    for cone in cones_of(guarantees, masses, Side.OUTER, Fraction(0)):
        if isinstance(cone, Box):
            bounds.append(0.0 if cone.lower >= 1 or cone.upper <= 1 else utility.largest_lift(cone.upper))
        moved = cone.moved(masses, utility, prices)
        bounds.append(sum_up(np.append(moved, cone.beyond(masses, utility, moved))))
    return max(min(bound for bound in bounds if math.isfinite(bound)), 0.0)


def _listed(corners: list[Vector], masses: Vector, utility: Information, prices: FloatArray) -> float:
    """Bound I_f by the worth of all extreme columns beyond their price."""
    p = np.array([float_above(mass) for mass in masses])
    exact = [Fraction(price) for price in prices.tolist()]
    beyond = []
    for corner in corners:
        lifts = np.array([float(entry - 1) for entry in corner])
        worth = up(sum_up(p * utility.excess_up(lifts)) * (1 + 8 * UNIT), steps=2)
        beyond.append(Fraction(worth) - sum(a * b for a, b in zip(exact, corner, strict=True)))
    return float_above(sum(exact) + max(beyond))


def _identity(masses: Vector, utility: Information) -> float:
    """Bound I_f of the channel that tells the secret, which no channel exceeds."""
    p = np.array([float(mass) for mass in masses if mass])
    lifts = np.array([float(1 / mass - 1) for mass in masses if mass])
    hit = utility.excess_up(lifts) * p * p
    miss = utility.excess_up(np.array([-1.0])) * p * np.array([float(1 - mass) for mass in masses if mass])
    return up(sum_up(np.append(hit, miss)) * (1 + 32 * UNIT), steps=2)
