"""The channel that says most under guarantees, by an f-information: found, evaluated, and a bound on all others."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tightlip.designs.f_information import ERROR, Information
from tightlip.designs.guarantee import Guarantee, MaximalLeakage, Side, Vector, ratio
from tightlip.designs.generation import (
    BoxSearch,
    FloorSearch,
    Listed,
    RatioSearch,
    Search,
    box_columns,
    floor_columns,
    generate,
    ratio_columns,
)
from tightlip.designs.linear import SCALE, Kernel, Problem, Whole, repaired, whole
from tightlip.designs.pricing import Box, Curve, Floor, Ratio, cones_of
from tightlip.designs.subset_sums import search_grid
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import UNIT, float_above, sum_down, sum_up, up

__all__ = ["Information", "find", "information", "upper_bound"]

_FEW = 10  # secrets of which all extreme columns are listed: some thousands
_SHIFTS = 6  # times that prices are moved by what they lack, which is exact in the limit only


def find(
    masses: Vector, guarantees: tuple[Guarantee, ...], utility: Information, room: Fraction
) -> tuple[Kernel, FloatArray]:
    """Find a channel that keeps the guarantees in whole numbers and says as much as was found, and prices for a bound."""
    problem = Problem(masses, np.zeros((len(masses), 1), dtype=object), guarantees, room)
    if problem.silent or len(masses) == 1:
        return Kernel(np.ones((1, len(masses)), dtype=object), 1), np.zeros(len(masses))
    p = np.array([float(mass) for mass in masses])
    columns, shares, candidates = generate(_search(problem, utility, p), utility, p)
    _, kernel = repaired(problem, _rounded(columns * shares[:, None]))
    # prices in proportion to the prior are near the optimum where secrets are many
    prices = min([*candidates, np.zeros(len(p))], key=lambda one: upper_bound(masses, guarantees, utility, one))
    return kernel, prices


def _search(problem: Problem, utility: Information, masses: FloatArray) -> Search:
    box, *others = cones_of(problem.guarantees, problem.masses, Side.INNER, problem.room)
    assert isinstance(box, Box)
    cone = others[0] if others else box
    secrets = len(masses)
    if isinstance(cone, Ratio):
        curve = Curve(utility, 1.0, cone.factor)
        if secrets <= _FEW:
            return Listed(ratio_columns(curve, masses), utility, masses)
        return RatioSearch(curve, masses, search_grid(problem.masses, 1.0))
    if isinstance(cone, Floor):
        if secrets <= _FEW:
            return Listed(floor_columns(cone, masses), utility, masses)
        return FloorSearch(cone, utility, masses)
    if secrets <= _FEW:
        return Listed(box_columns(box, masses), utility, masses)
    return BoxSearch(box, utility, masses, search_grid(problem.masses, float(box.share)))


def _rounded(columns: FloatArray) -> Whole:
    """Round a channel, given by columns, to whole weights; what rounding leaves goes to the largest entry of a row."""
    shares = np.maximum(columns, 0.0) / columns.sum(axis=0)
    weights = np.floor(shares * SCALE).astype(np.int64).astype(object)
    rest = SCALE - weights.sum(axis=0)
    for secret, place in enumerate(shares.argmax(axis=0).tolist()):
        weights[place, secret] += rest[secret]
    return weights


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

    The smallest of: I_f of the identity; what maximal leakage allows (`Information.largest_lift`); and Σw + α for each cone
    that contains the allowed columns (`pricing`). Of a guarantee about another secret only the first is known.
    """
    if len(masses) == 1:
        return 0.0
    prices = np.where([mass == 0 for mass in masses], np.maximum(prices, 0.0), prices)
    bounds = [_identity(masses, utility)]
    for own in guarantees:
        if isinstance(own, MaximalLeakage):
            bounds.append(utility.largest_lift(float_above(ratio(own.epsilon, Side.OUTER))))
    p = np.array([float(mass) for mass in masses])
    for cone in cones_of(guarantees, masses, Side.OUTER, Fraction(0)):
        if isinstance(cone, Box):
            bounds.append(0.0 if cone.lower >= 1 or cone.upper <= 1 else utility.largest_lift(cone.upper))
        moved = prices
        for _ in range(0 if isinstance(cone, Box) else _SHIFTS):
            moved = moved + cone.beyond(masses, utility, moved, roughly=True) * p
        bounds.append(sum_up(np.append(moved, cone.beyond(masses, utility, moved))))
    return max(min(bounds), 0.0)


def _identity(masses: Vector, utility: Information) -> float:
    """Bound I_f of the channel that tells the secret, which no channel exceeds."""
    p = np.array([float(mass) for mass in masses if mass])
    lifts = np.array([float(1 / mass - 1) for mass in masses if mass])
    hit = utility.excess_up(lifts) * p * p
    miss = utility.excess_up(np.array([-1.0])) * p * np.array([float(1 - mass) for mass in masses if mass])
    return up(sum_up(np.append(hit, miss)) * (1 + 32 * UNIT), steps=2)
