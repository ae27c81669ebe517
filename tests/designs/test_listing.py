"""Listed columns against all extreme ones in rationals, and what they are worth against balls."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

from design_oracle import NAMES, counts, most_information
from tightlip import log_of
from tightlip.designs.f_information import Information
from tightlip.designs.guarantee import Alip, FloorPml, Ldp, MaximalLeakage, Side, all_rows
from tightlip.designs.listing import Patterns, list_corners, sets_of, sums_of
from tightlip.designs.pricing import Peaks, cones_of, multiplier
from tightlip.designs.vertices import corners_of, vertices
from tightlip.numeric.ball import ball

GUARANTEES = {
    "PML": Alip(None, log_of(2)),
    "PML that allows a secret alone": Alip(None, log_of(5)),
    "PMC": Alip(log_of(2), None),
    "ALIP": Alip(log_of("3/2"), log_of("5/2")),
    "LDP": Ldp(log_of(3)),
    "LDP of almost nothing": Ldp(log_of("1000001/1000000")),
    "LDP and PML": (Ldp(log_of(3)), Alip(None, log_of("5/4"))),
    "LDP and PML that both decide": (Ldp(log_of(5)), Alip(None, log_of(2))),
    "LDP that decides and ALIP": (Ldp(log_of(2)), Alip(log_of(3), log_of(4))),
    "LDP and LIP": (Ldp(log_of("5/2")), Alip(log_of("7/4"), log_of("7/4"))),
    "LDP and PMC": (Ldp(log_of(6)), Alip(log_of(2), None)),
    "LDP and LIP that decides": (Ldp(log_of(9)), Alip(log_of(2), log_of(2))),
    "floor": FloorPml(log_of(2), Fraction(1, 60)),
    "floor with a remainder": FloorPml(log_of(3), Fraction(1, 7)),
    "floor with a tiny remainder": FloorPml(log_of(5 / (2 + Fraction(6, 10**17))), Fraction(1, 5)),
    "floor that allows everything": FloorPml(log_of(40), Fraction(1, 7)),
}


def guarantees_of(kind):
    own = GUARANTEES[kind]
    return own if isinstance(own, tuple) else (own,)


TINY = tuple(Fraction(one, 10**12 + 9) for one in (1, 10**12, 3, 5))


def priors():
    return (counts(4, 6), counts(5, 8), TINY)


def paid(column, prices):
    """Evaluate w·v."""
    return ball(sum((Fraction(w) * v for w, v in zip(prices.tolist(), column, strict=True)), Fraction(0)))


def exact_worth(corner, masses, name):
    """Evaluate Σ_x p_x f(v_x) in balls."""
    found = arb(0)
    for lift, mass in zip(corner, masses, strict=True):
        u, p = ball(lift), ball(mass)
        if name == "mutual_information":
            found += p * (u * u.log() - u + 1 if lift else arb(1))
        elif name == "chi_squared":
            found += p * (u - 1) ** 2
        elif name == "hellinger":
            found += p * (u.sqrt() - 1) ** 2
        else:
            found += p * abs(u - 1) / 2
    return found


@pytest.fixture(autouse=True)
def _precision():
    before, ctx.prec = ctx.prec, 200
    yield
    ctx.prec = before


@pytest.mark.parametrize("kind", GUARANTEES)
def test_all_extreme_columns_are_listed(kind):
    for masses in priors():
        (cone,) = cones_of(guarantees_of(kind), masses, Side.INNER, Fraction(0))
        listing = cone.listing(np.array(masses, dtype=float), Information("chi_squared"))
        for corner in vertices(all_rows(guarantees_of(kind), masses, Side.INNER), masses):
            far = np.abs(listing.columns - np.array(corner, dtype=float)) - 4 * listing.stray
            assert (far <= 1e-12 * listing.columns.max()).all(axis=1).any(), corner


def test_sums_over_sets_are_those_of_the_sets():
    values = np.random.default_rng(3).integers(-99, 99, 7).astype(float)
    for size in (0, 1, 7):
        assert sums_of(values[:size]).tolist() == (sets_of(size) @ values[:size]).tolist()


@pytest.mark.parametrize("kind", GUARANTEES)
def test_columns_are_used_as_they_would_be_written_out(kind):
    masses = counts(5, 8)
    (cone,) = cones_of(guarantees_of(kind), masses, Side.INNER, Fraction(0))
    listing = cone.listing(np.array(masses, dtype=float), Information("hellinger"))
    patterns, columns = listing.entries, listing.columns
    assert isinstance(patterns, Patterns)
    assert columns.shape == (len(patterns), 5) == (len(listing.worths), 5)
    assert (columns <= listing.most).all()
    prices = np.random.default_rng(4).standard_normal(5)
    assert patterns @ prices == pytest.approx(columns @ prices, rel=1e-12, abs=1e-12)
    assert listing.peaks == pytest.approx(columns.max(axis=1), rel=1e-15)
    some = np.arange(len(patterns))[1::3]
    assert (
        patterns[some].tolist()
        == columns[some].tolist()
        == patterns.among(some)[np.arange(len(some))].tolist()
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", GUARANTEES)
def test_no_extreme_column_is_worth_more_beyond_its_price(kind, name):
    draws = np.random.default_rng(1)
    for masses in priors():
        p = np.array(masses, dtype=float)
        corners = vertices(all_rows(guarantees_of(kind), masses, Side.INNER), masses)
        (cone,) = cones_of(guarantees_of(kind), masses, Side.INNER, Fraction(0))
        lists = [cone.listing(p, Information(name)), list_corners(corners, p, Information(name))]
        for spread in (0.0, 1.0, 1e3):
            prices = spread * p * draws.standard_normal(len(p))
            best = max(
                (exact_worth(corner, masses, name) - paid(corner, prices) for corner in corners),
                key=lambda own: float(own.mid()),
            )
            for listing in lists:
                found = listing.beyond(prices)
                assert best <= arb(found)
                # an entry of a tiny mass is known less well
                assert masses is TINY or found <= float(best) + 1e-9 * (1 + spread + abs(float(best)))


@pytest.mark.parametrize("seed", range(40))
def test_ratios_beside_boxes_of_all_kinds(seed):
    """Levels and priors at random, sets that fill a box exactly and masses that are tiny among them."""
    draws = np.random.default_rng(seed)
    size = int(draws.integers(2, 6))
    raw = [Fraction(int(one)) for one in draws.choice([1, 2, 3, 7, 10**9], size)]
    masses = tuple(one / sum(raw) for one in raw)
    p = np.array(masses, dtype=float)
    factors = [
        1 + Fraction(int(one), 4) * Fraction(10) ** int(draws.integers(-6, 2))
        for one in draws.integers(1, 20, 3)
    ]
    lower, upper, ratio = (log_of(one) for one in factors)
    guarantees = (Ldp(ratio), Alip(lower if draws.random() < 0.5 else None, upper))
    corners = vertices(all_rows(guarantees, masses, Side.INNER), masses)
    cones = cones_of(guarantees, masses, Side.INNER, Fraction(0))
    for name in NAMES:
        prices = draws.choice([0.0, 0.1, 3.0]) * p * draws.standard_normal(size)
        best = max(
            (exact_worth(corner, masses, name) - paid(corner, prices) for corner in corners),
            key=lambda own: float(own.mid()),
        )
        for cone in cones:
            assert best <= arb(cone.beyond(masses, Information(name), prices))


@pytest.mark.parametrize("seed", range(60))
def test_totals_beside_boxes_and_ratios_of_all_kinds(seed):
    """The multiplier of a total is that of the extreme columns of its parts, and so is the optimum."""
    draws = np.random.default_rng(seed)
    size = int(draws.integers(2, 6))
    raw = [
        Fraction(int(one)) for one in draws.choice([1, 2, 3, 7, 10**6] if seed % 3 else [1, 2, 3, 7], size)
    ]
    masses = tuple(one / sum(raw) for one in raw)
    p = np.array(masses, dtype=float)
    lower, upper, ratio = (
        log_of(1 + Fraction(int(one), 4) * Fraction(10) ** int(draws.integers(-2, 2)))
        for one in draws.integers(1, 20, 3)
    )
    most = log_of(1 + (size - 1) * Fraction(int(draws.integers(1, 20)), 20))
    sides = [(None, upper), (lower, None), (lower, upper), (lower, lower)][seed % 4]
    guarantees = [(Alip(*sides),), (Ldp(ratio),), (Ldp(ratio), Alip(*sides))][int(draws.integers(3))]
    guarantees = (MaximalLeakage(most), *guarantees)
    rows = all_rows(guarantees, masses, Side.INNER)
    corners = corners_of(rows, masses)
    (cone,) = cones_of(guarantees, masses, Side.INNER, Fraction(0))
    if cone.silent or rows.most is None:
        return
    rare = min(p) < 1e-3
    for name in NAMES:
        for spread in (0.0, 0.1, 3.0):
            prices = spread * p * draws.standard_normal(size)
            best = max(
                (
                    (exact_worth(corner, masses, name) - paid(corner, prices)) / ball(max(corner))
                    for corner in corners
                ),
                key=lambda own: float(own.mid()),
            )
            found = multiplier(masses, Information(name), prices, cone)
            assert best <= arb(found)
            assert found <= max(float(best), 0.0) + (1e-5 if rare else 1e-9) * (1 + spread + abs(float(best)))
        if rare:
            continue  # the program over floats has no digits for those
        listing, total = cone.listing(p, Information(name)), float(rows.most)
        known = most_information([[float(one) for one in corner] for corner in corners], masses, name, total)
        listed = most_information(listing.columns, masses, name, total)
        assert listed == pytest.approx(known, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_totals_are_sound_where_secrets_are_rare_and_levels_extreme(seed):
    """Columns of 10⁹ beside 1 leave no digits for what is subtracted carelessly."""
    draws = np.random.default_rng(seed)
    size = int(draws.integers(2, 5))
    raw = [Fraction(10) ** int(one) for one in draws.choice([0, 6, 9, 12, 15], size)]
    raw[0] = Fraction(3)
    masses = tuple(one / sum(raw) for one in raw)
    p = np.array(masses, dtype=float)
    lower, upper = (
        log_of(1 + Fraction(int(one), 4) * Fraction(10) ** int(draws.integers(-9, 12)))
        for one in draws.integers(1, 20, 2)
    )
    guarantees = (
        MaximalLeakage(log_of(1 + Fraction(size - 1, 3))),
        Alip(lower, None if seed % 2 else upper),
    )
    rows = all_rows(guarantees, masses, Side.INNER)
    corners = corners_of(rows, masses)
    (cone,) = cones_of(guarantees, masses, Side.INNER, Fraction(0))
    assert isinstance(cone, Peaks)
    for name in NAMES:
        for spread in (0.1, 3.0):
            prices = spread * p * draws.standard_normal(size)
            found = multiplier(masses, Information(name), prices, cone)
            for corner in corners:
                worth = exact_worth(corner, masses, name) - paid(corner, prices)
                assert worth / ball(max(corner)) <= arb(found)


@pytest.mark.parametrize("name", NAMES)
def test_the_multiplier_covers_every_set(name):
    """λ ≥ F(σ) − w(S), F(σ) = σ Σ_x p_x f(1_S/σ)."""
    draws = np.random.default_rng(2)
    for masses in priors():
        size = len(masses)
        for spread in (0.0, 0.3, 2.0):
            prices = spread * np.array(masses, dtype=float) * draws.random(size)
            found = multiplier(masses, Information(name), prices)
            best = arb(0)
            for word in range(1, 2**size):
                inside = [(word >> x) & 1 for x in range(size)]
                mass = sum((own for own, there in zip(masses, inside, strict=True) if there), Fraction(0))
                corner = [Fraction(there) / mass for there in inside]
                worth = exact_worth(corner, masses, name) * ball(mass) - paid(map(Fraction, inside), prices)
                assert worth <= arb(found)
                best = max(best, worth, key=lambda own: float(own.mid()))
            assert found <= float(best) + 1e-10


def test_a_total_of_one_allows_nothing():
    assert Peaks(1.0).bound(counts(4, 6), Information("chi_squared"), np.zeros(4)) == 0.0
