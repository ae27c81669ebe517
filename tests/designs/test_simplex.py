"""The next level by the simplex method, against one program over all listed columns."""

from fractions import Fraction

import numpy as np
import pytest

from design_oracle import NAMES, counts, most_information
from tightlip.designs.chords import Ceiling
from tightlip.designs.f_information import Information
from tightlip.designs.generation import Mixture, entries_of, generate
from tightlip.designs.guarantee import Alip, FloorPml, Ldp, MaximalLeakage, Side
from tightlip.designs.pricing import cones_of, listing_of, multiplier
from tightlip.designs.searches import Listed
from tightlip.designs.simplex import follow

KINDS = {
    "PML": lambda level: (Alip(None, level),),
    "LIP": lambda level: (Alip(level, level),),
    "PMC": lambda level: (Alip(level, None),),
    "LDP": lambda level: (Ldp(level),),
    "LDP and PML": lambda level: (Ldp(2 * level), Alip(None, level)),
    "floor": lambda level: (FloorPml(level, Fraction(1, 60)),),
    "maximal leakage": lambda level: (MaximalLeakage(level),),
    "LDP and maximal leakage": lambda level: (Ldp(level), MaximalLeakage(0.3)),
    "maximal leakage and LIP": lambda level: (MaximalLeakage(level), Alip(1.2, 1.2)),
    "PML and maximal leakage": lambda level: (Alip(None, level), MaximalLeakage(0.4)),
    "LDP, PMC and maximal leakage": lambda level: (Ldp(2 * level), Alip(1.0, None), MaximalLeakage(level)),
}
CLOSE = 1e-3


def search_at(kind, level, masses, utility):
    (cone,) = cones_of(KINDS[kind](level), masses, Side.OUTER, Fraction(0))
    return Listed(listing_of(cone, masses, utility), np.array(masses, dtype=float), cone)


def begin(search, utility):
    known = Ceiling(np.inf, 0 * search.masses)
    return generate(search, utility, search.masses, known, close=CLOSE)


def best_of_all(search, utility):
    return most_information(search.listing.columns, search.masses, utility.name, search.total)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_levels_are_followed_up_to_the_gap(kind, name):
    utility, followed = Information(name), 0
    for masses in (counts(5, 1), counts(4, 3)):
        mixture = None
        for level in np.linspace(0.2, 2, 13):
            search = search_at(kind, level, masses, utility)
            before = mixture
            mixture = None if before is None else follow(search, utility, search.masses, before, CLOSE)
            followed += mixture is not None
            mixture = mixture or begin(search, utility)
            best = best_of_all(search, utility)
            assert mixture.value == pytest.approx(best, rel=2 * CLOSE, abs=1e-12)
            assert mixture.value <= best * (1 + 1e-9) + 1e-12
            # it is a channel, and its prices prove how good it is
            rows = entries_of(mixture.columns, search.total).T @ mixture.shares
            assert rows[: len(masses)] == pytest.approx(np.ones(len(masses)), abs=1e-9)
            assert search.total is None or rows[-1] <= search.total + 1e-9
            assert (mixture.shares >= 0).all()
            prices = mixture.prices[0]
            if search.total is None:
                bound = prices.sum() + search.listing.beyond(prices)
            else:
                bound = prices.sum() + search.total * multiplier(masses, utility, prices, search.cone)
            assert best * (1 - 1e-9) <= bound <= best * (1 + 2 * CLOSE) + 1e-12
    assert followed >= 20


def test_what_a_larger_total_leaves_over_is_used_up():
    utility, masses = Information("mutual_information"), counts(5, 1)
    mixture = begin(search_at("maximal leakage", 0.1, masses, utility), utility)
    for level in (0.7, 1.2, np.log(5)):
        search = search_at("maximal leakage", level, masses, utility)
        mixture = follow(search, utility, search.masses, mixture, 1e-9)
        assert mixture is not None
        assert mixture.value == pytest.approx(best_of_all(search, utility), rel=1e-8)


def test_columns_without_a_basis_are_left_to_the_solver():
    utility, masses = Information("mutual_information"), counts(5, 1)
    search = search_at("PML", 1.0, masses, utility)
    column = np.ones((1, 5))
    alike = Mixture(column, np.ones(1), [], np.repeat(column, 9, axis=0), 0.0, ())
    assert follow(search, utility, search.masses, alike, CLOSE) is None
    # of more rows than there are now
    longer = begin(search_at("maximal leakage", 0.5, masses, utility), utility)
    found = follow(search, utility, search.masses, longer, CLOSE)
    assert found is None or found.value == pytest.approx(best_of_all(search, utility), rel=2 * CLOSE)
