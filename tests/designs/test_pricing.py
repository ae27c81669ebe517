"""Knapsacks' bounds on what a column is worth beyond its price, against all extreme columns of fifteen secrets."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tightlip.designs.f_information import Curve, Information
from tightlip.designs.pricing import Box, Floor, Peaks, Ratio
from tightlip.designs.subset_sums import (
    Knapsack,
    by_size,
    chosen,
    chosen_by_size,
    grid_of,
    search_grid,
    tuned,
)

SECRETS = 15
NAMES = ("mutual_information", "chi_squared", "hellinger", "total_variation")
SETS = ((np.arange(2**SECRETS)[:, None] >> np.arange(SECRETS)) & 1).astype(float)


def priors():
    """Counts, whose grid is exact, and floats, whose grid is rounded; with a tiny mass each."""
    draws = np.random.default_rng(1)
    counted = [int(mass * 2000) + 1 for mass in draws.dirichlet(np.ones(SECRETS))]
    stored = [Fraction(mass) for mass in [1e-9, *draws.dirichlet(np.ones(SECRETS - 1)).tolist()]]
    return [tuple(Fraction(one) / sum(own) for one in own) for own in (counted, stored)]


def worth(columns, p, name, prices):
    """Evaluate φ(v) − w·v of columns scaled to p·v = 1."""
    v = columns / (columns @ p)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        f = {
            "mutual_information": lambda: np.where(v > 0, v * np.log(v), 0.0),
            "chi_squared": lambda: (v - 1) ** 2,
            "hellinger": lambda: (np.sqrt(v) - 1) ** 2,
            "total_variation": lambda: np.abs(v - 1) / 2,
        }[name]()
    return float((f @ p - v @ prices).max())


def price_vectors(p, draws):
    """Prices in proportion to the prior, near them, and far from them."""
    return [spread * p * draws.standard_normal(SECRETS) + 0.2 * p for spread in (0.0, 0.1, 2.0)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ends", [(0.0, math.e), (0.25, 1.8), (0.5, 40.0)])
def test_box(name, ends):
    draws, (low, high) = np.random.default_rng(2), ends
    for exact, masses in zip((True, False), priors(), strict=True):
        p = np.array([float(mass) for mass in masses])
        for prices in price_vectors(p, draws):
            best = -np.inf
            for between in range(SECRETS):
                sets = SETS[SETS[:, between] == 0]
                columns = low + (high - low) * sets
                columns[:, between] = 0.0
                columns[:, between] = (1 - columns @ p) / p[between]
                fits = (columns[:, between] >= low - 1e-12) & (columns[:, between] <= high + 1e-12)
                if fits.any():
                    best = max(best, worth(np.maximum(columns[fits], 0.0), p, name, prices))
            bound = Box(low, high).knapsack_bound(masses, Information(name), prices)
            assert best - 1e-12 <= bound
            assert bound <= best + (1e-7 if exact else 1e-4) * (1 + abs(best))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("factor", [1.1, math.e, 30.0])
def test_ratio(name, factor):
    draws, cone = np.random.default_rng(3), Ratio(factor)
    for exact, masses in zip((True, False), priors(), strict=True):
        p = np.array([float(mass) for mass in masses])
        for prices in price_vectors(p, draws):
            own = cone.moved(masses, Information(name), prices)
            best = worth(1 + (factor - 1) * SETS, p, name, own)
            bound = cone.knapsack_bound(masses, Information(name), own)
            assert best - 1e-12 <= bound
            assert bound <= best + (1e-9 if exact else 1e-4) * (1 + abs(best))
            assert worth(1 + (factor - 1) * SETS, p, name, prices) - 1e-12 <= cone.knapsack_bound(
                masses, Information(name), prices
            )


@pytest.mark.parametrize("name", NAMES)
def test_peaks(name):
    draws, curve, sets = np.random.default_rng(9), Curve(Information(name), 0.0, 1.0), SETS[1:]
    for exact, masses in zip((True, False), priors(), strict=True):
        p = np.array([float(mass) for mass in masses])
        for prices in price_vectors(p, draws):
            best = float((curve.value(sets @ p) - sets @ prices).max())
            bound = Peaks(2.0).knapsack_bound(masses, Information(name), prices)
            assert best - 1e-12 <= bound
            assert bound <= best + (1e-9 if exact else 1e-2) * (1 + abs(best))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("factor", [1.1, math.e, 30.0])
def test_what_holds_for_every_prior(name, factor):
    """No set of any mass is worth more than `plain`, and one is worth nearly that."""
    curve, mass = Curve(Information(name), 1.0, factor), np.linspace(1e-6, 1, 100_001)
    best, plain = (curve.value(mass) / curve.total(mass)).max(), Ratio(factor).plain(Information(name))
    assert best <= plain <= best * (1 + 5e-2)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("min_mass", [Fraction(1, 200), Fraction(1, 17)])
def test_floor(name, min_mass):
    draws, factor = np.random.default_rng(4), Fraction(3)
    cone, sizes = Floor(factor, min_mass), SETS.sum(axis=1)
    for masses in priors():
        p = np.array([float(mass) for mass in masses])
        columns = [
            float(low) + (1 - float(low)) * SETS[sizes == size] for size, low in cone.kinds(SECRETS) if low
        ]
        full = int(1 / (factor * min_mass))
        if full < SECRETS:
            rest = float(1 / (factor * min_mass) - full)
            for between in range(SECRETS):
                some = SETS[(sizes == full) & (SETS[:, between] == 0)].copy()
                some[:, between] = rest
                columns.append(some)
        for one in columns:
            k, total = one / one.max(axis=1, keepdims=True), float(min_mass) * one.sum(axis=1)
            allowed = 3 * (total + (1 - SECRETS * float(min_mass)) * k.min(axis=1))
            assert (k.max(axis=1) <= allowed + 1e-12).all()
        for prices in price_vectors(p, draws):
            own = cone.moved(masses, Information(name), prices)
            best = max(worth(one, p, name, own) for one in columns)
            bound = cone.knapsack_bound(masses, Information(name), own)
            assert best - 1e-12 <= bound


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ends", [(1.0, 2.7), (0.3, 1.0), (0.0, 1.0), (1.0, 40.0)])
def test_curves_have_their_slope_and_curvature(name, ends):
    curve, mass, step = Curve(Information(name), *ends), np.linspace(0.01, 0.99, 99), 1e-5
    above, below = curve.value(mass + step), curve.value(mass - step)
    assert curve.slope(mass) == pytest.approx((above - below) / (2 * step), abs=1e-4)
    assert ((above - 2 * curve.value(mass) + below) / step**2).max() <= curve.curvature + 1e-3
    for slope in (-1.0, 0.0, 2.0):
        ceiling = curve.ceiling(mass, 0.01, np.array([slope]))[0]
        for shift in np.linspace(-0.01, 0.01, 7):
            inner = np.clip(mass + shift, 1e-9, 1.0)
            assert (curve.value(inner) - slope * inner <= ceiling + 1e-12).all()


def test_knapsacks_on_a_grid_are_those_of_all_sets():
    masses = tuple(Fraction(count, 60) for count in (5, 7, 11, 13, 1, 3, 8, 12))
    p, worths = np.array(masses, dtype=float), np.random.default_rng(5).standard_normal(8)
    grid = grid_of(masses, 1e6, 1.0)
    assert (grid.size, grid.above, grid.below) == (60, 0.0, 0.0)
    knapsack, sets = Knapsack(grid, p, worths, 2.0), SETS[:256, :8]

    def best(some):
        found = np.full(61, -np.inf)
        np.maximum.at(found, np.round(some @ p * 60).astype(int), some @ worths)
        return found

    for item, found in knapsack.all_but_one():
        assert found.worths == pytest.approx(best(sets[sets[:, item] == 0]))
    assert knapsack.whole().worths == pytest.approx(best(sets))
    assert by_size(grid, worths, 8).max(axis=0) == pytest.approx(best(sets))


def test_a_grid_whose_cells_are_rounded_up_has_the_whole_set():
    raw = [Fraction(17, 100)] * 5 + [Fraction(26, 1000)] * 200
    masses = tuple(mass / sum(raw) for mass in raw)
    for share in (1.0, 0.3):
        grid = grid_of(masses, 1.0, share)
        p = np.array([float(mass) for mass in masses])
        assert Knapsack(grid, p, np.ones(205), 2.0).whole().worths[-1] == 205
        exact = sum(masses[::2], Fraction(0)) - Fraction(int(grid.cells[::2].sum()), grid.size)
        assert -grid.below <= exact <= grid.above


def test_sets_that_are_chosen_have_their_worth_and_mass():
    masses = tuple(Fraction(count, 60) for count in (5, 7, 11, 13, 1, 3, 8, 12))
    grid, worths = search_grid(masses, 1.0), np.random.default_rng(6).standard_normal(8)
    seen = []

    def all_of(best):
        seen.append(best)
        return np.nonzero(best > -np.inf)[0]

    places, inside = chosen(grid.cells, worths, grid.size + 1, all_of)
    assert (inside @ grid.cells == places).all()
    assert inside @ worths == pytest.approx(seen[0][places])

    def pairs_of(best):
        seen.append(best)
        return np.argwhere(best > -np.inf)

    inside = chosen_by_size(grid.cells, worths, 8, pairs_of)
    pairs = np.argwhere(seen[1] > -np.inf)
    assert (inside.sum(axis=1) == pairs[:, 0]).all()
    assert (inside @ grid.cells == pairs[:, 1]).all()
    assert inside @ worths == pytest.approx(seen[1][tuple(pairs.T)])


def test_tuned_sets_come_closer_from_below():
    draws = np.random.default_rng(7)
    p = draws.dirichlet(np.ones(60))
    for _ in range(20):
        inside = draws.random(60) < 0.4
        off, then = 0.37 - p[inside].sum(), 0.37 - p[tuned(inside, p, 0.37)].sum()
        assert abs(then) <= abs(off)
        assert tuned(inside, p, 0.37).sum() == inside.sum()
