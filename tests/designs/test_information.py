"""Designs for f-informations against linear programs over all extreme columns, closed forms, and random channels."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from design_oracle import NAMES, counts, most_information, worths_of
from tightlip import Channel, Prior, log_of
from tightlip.designs import design
from tightlip.designs.chords import Ceiling
from tightlip.designs.generation import generate
from tightlip.designs.guarantee import Alip, FloorPml, Ldp, MaximalLeakage, SetPml, Side, all_rows
from tightlip.designs.information import Information, find, information, upper_bound
from tightlip.designs.linear import ROOM, Kernel, Problem, keeps, whole
from tightlip.designs.pricing import Box, Peaks, Ratio
from tightlip.designs.searches import knapsack_search
from tightlip.designs.subset_sums import sampled, search_grid
from tightlip.designs.vertices import vertices
from tightlip.errors import SolverFailure
from tightlip.model.prior_set import PriorBall

MUTUAL = Information("mutual_information")


def floats(secrets, seed):
    """Draw a prior of floats, scaled to sum to 1 exactly."""
    drawn = [Fraction(mass) for mass in np.random.default_rng(seed).dirichlet(np.ones(secrets)).tolist()]
    return tuple(mass / sum(drawn) for mass in drawn)


def definition(columns, masses, name):
    """Evaluate an f-information as it stands."""
    columns = np.array(columns, dtype=float)
    return float(worths_of(columns[columns.max(axis=1) > 0], masses, name).sum())


def box_corners(masses, low, high):
    """List low ≤ v ≤ high, p·v = 1 with all but one entry at an end."""
    found = []
    for place in range(len(masses)):
        others = [x for x in range(len(masses)) if x != place]
        for size in range(len(masses)):
            for chosen in combinations(others, size):
                v = np.full(len(masses), low)
                v[list(chosen)] = high
                v[place] = 0.0
                v[place] = (1 - v @ masses) / masses[place]
                if low - 1e-12 <= v[place] <= high + 1e-12:
                    found.append(v)
    return found


def staircases(masses, t):
    """List the 2ⁿ columns of Kairouz, Oh and Viswanath."""
    return [
        1 + (t - 1) * np.array([(word >> x) & 1 for x in range(len(masses))])
        for word in range(2 ** len(masses))
    ]


def designed(masses, guarantees, utility):
    """Find a channel, check that it keeps its guarantees, and return proved ends of the optimum."""
    kernel, prices = find(masses, guarantees, utility, ROOM)
    problem = Problem(masses, np.zeros((len(masses), 1), dtype=object), guarantees)
    assert keeps(problem, kernel)
    assert (kernel.weights.sum(axis=0) == kernel.scale).all()
    assert (kernel.weights >= 0).all()
    lower = information(kernel, masses, utility)[0]
    upper = upper_bound(masses, guarantees, utility, prices)
    assert lower <= upper
    return lower, upper


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("secrets", [2, 3, 5, 6])
@pytest.mark.parametrize("levels", [(None, 0.7), (0.7, None), (0.4, 1.1), (None, 2.5)])
def test_bounds_on_lifts_equal_the_program_over_all_corners(name, secrets, levels):
    masses = counts(secrets, secrets)
    p = np.array([float(mass) for mass in masses])
    lower, upper = designed(masses, (Alip(*levels),), Information(name))
    low = 0.0 if levels[0] is None else math.exp(-levels[0])
    high = 1 / p.min() if levels[1] is None else math.exp(levels[1])
    expected = most_information(box_corners(p, low, high), masses, name)
    assert lower == pytest.approx(expected, rel=2e-8)
    assert upper == pytest.approx(expected, rel=2e-8)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("secrets", "epsilon"), [(2, 1.0), (4, 0.1), (6, 3.0), (10, 1.0)])
def test_ldp_equals_the_staircase_program(name, secrets, epsilon):
    masses = counts(secrets, 10 + secrets)
    lower, upper = designed(masses, (Ldp(epsilon),), Information(name))
    expected = most_information(staircases([float(mass) for mass in masses], math.exp(epsilon)), masses, name)
    assert lower == pytest.approx(expected, rel=2e-8)
    assert upper == pytest.approx(expected, rel=2e-8)


def corners_of_twelve(kind, p):
    """List the extreme columns of a cone."""
    if kind == "PML":
        return Box(0.0, math.e), box_corners(p, 0.0, math.e)
    if kind == "LDP":
        return Ratio(math.e), staircases(p, math.e)
    return Peaks(1.5), ((np.arange(1, 2**12)[:, None] >> np.arange(12)) & 1).astype(float)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["PML", "LDP", "maximal leakage"])
@pytest.mark.parametrize("draw", [counts, floats])
def test_knapsacks_equal_the_programs_over_all_columns(draw, kind, name):
    """More secrets than can be listed: mixtures come near to the optimum, bounds too, and neither passes it."""
    masses, utility = draw(12, 3), Information(name)
    p = np.array([float(mass) for mass in masses])
    cone, columns = corners_of_twelve(kind, p)
    total = cone.total if isinstance(cone, Peaks) else None
    expected = most_information(columns, masses, name, total)
    found = generate(knapsack_search(cone, masses, utility), utility, p, Ceiling(np.inf, 0 * p))
    assert expected * (1 - 1e-4) <= found.value <= expected * (1 + 1e-9)
    bounds = []
    for prices in found.prices:
        own = cone.moved(masses, utility, prices)
        beyond = cone.knapsack_bound(masses, utility, own)
        bounds.append(own.sum() + (beyond if total is None else max(beyond, 0.0) * total))
    assert expected * (1 - 1e-9) <= min(bounds) <= expected * (1 + 1e-4)


@pytest.mark.parametrize(("epsilon", "expected"), [(1.0, 0.1233016), (2.5, 0.7216225)])
def test_many_secrets_reach_the_bound_for_all_priors(epsilon, expected):
    """I ≤ u − 1 − log u with u = εe^ε/(e^ε − 1) under ε-LDP, for every prior."""
    u = epsilon * math.exp(epsilon) / math.expm1(epsilon)
    limit = u - 1 - math.log(u)
    assert round(limit, 7) == expected
    for masses in (counts(60, 1, 10_000), floats(60, 1)):
        lower, upper = designed(masses, (Ldp(epsilon),), MUTUAL)
        assert lower <= limit * (1 + 1e-12)
        assert lower == pytest.approx(limit, rel=2e-6)
        assert upper == pytest.approx(limit, rel=2e-6)


@pytest.mark.parametrize("secrets", [4, 9, 25])
def test_uniform_prior(secrets):
    masses = (Fraction(1, secrets),) * secrets
    t = Fraction(5, 2)
    full = int(secrets / t)
    column = [float(t)] * full + [float(secrets - full * t)] + [0.0] * (secrets - full - 1)
    expected = definition([column], [1 / secrets] * secrets, "mutual_information")
    lower, upper = designed(masses, (Alip(None, log_of("5/2")),), MUTUAL)
    assert lower == pytest.approx(expected, rel=1e-8)
    assert upper == pytest.approx(expected, rel=1e-8)
    best = 0.0
    for size in range(1, secrets):
        column = np.array([2.5] * size + [1.0] * (secrets - size))
        column /= column.mean()
        best = max(best, definition([column], [1 / secrets] * secrets, "mutual_information"))
    lower, upper = designed(masses, (Ldp(log_of("5/2")),), MUTUAL)
    assert lower == pytest.approx(best, rel=1e-8)
    assert upper == pytest.approx(best, rel=1e-8)


def test_two_secrets_under_ldp_are_randomised_response():
    masses = (Fraction(3, 10), Fraction(7, 10))
    for name in NAMES:
        expected = definition([[0.75, 0.25], [0.25, 0.75]], [0.3, 0.7], name)
        lower, upper = designed(masses, (Ldp(log_of(3)),), Information(name))
        assert lower == pytest.approx(expected, rel=1e-8)
        assert upper == pytest.approx(expected, rel=1e-8)


def test_maximal_cost_alone_tells_the_truth_or_draws_from_the_prior():
    masses = (Fraction(5, 10), Fraction(3, 10), Fraction(2, 10))
    p = [0.5, 0.3, 0.2]
    columns = 0.5 * np.eye(3) + 0.5 * np.outer(p, np.ones(3))
    for name in NAMES:
        expected = definition(columns, p, name)
        lower, upper = designed(masses, (Alip(log_of(2), None),), Information(name))
        assert lower == pytest.approx(expected, rel=1e-8)
        assert upper == pytest.approx(expected, rel=1e-8)


def test_total_variation_is_a_bayes_gain():
    """½ Σ_y Σ_x p_x |k_xy − q_y| = Σ_y max_{T ⊆ X} { P(X ∈ T, y) − p(T) q_y }: a gain of guessing sets."""
    masses = counts(4, 2)
    kernel, _ = find(masses, (Alip(None, 0.6),), Information("total_variation"), ROOM)
    gain = Fraction(0)
    for column in kernel.weights.tolist():
        q = sum(p * k for p, k in zip(masses, column, strict=True))
        gain += max(
            sum((masses[x] * (column[x] - q) for x in chosen), Fraction(0))
            for size in range(5)
            for chosen in combinations(range(4), size)
        )
    lower, upper = information(kernel, masses, Information("total_variation"))
    assert lower <= gain / kernel.scale <= upper
    assert upper - lower < 1e-11


@pytest.mark.parametrize("name", NAMES)
def test_information_by_definition(name):
    draws = np.random.default_rng(4)
    for _ in range(20):
        weights = draws.integers(0, 20, (4, 3)).astype(object)
        weights[0] += 300 - weights.sum(axis=0)
        kernel, masses = Kernel(weights, 300), counts(3, int(draws.integers(99)))
        lower, upper = information(kernel, masses, Information(name))
        expected = definition((weights / 300).astype(float), [float(mass) for mass in masses], name)
        assert lower - 1e-14 <= expected <= upper + 1e-14
        assert upper - lower <= 1e-11 * upper


def test_information_of_almost_nothing_keeps_its_digits():
    kernel = Kernel(np.array([[10**9 + 1, 10**9], [10**9 - 1, 10**9]], dtype=object), 2 * 10**9)
    half = (Fraction(1, 2), Fraction(1, 2))
    lower, upper = information(kernel, half, MUTUAL)
    assert lower == pytest.approx(1.25e-19, rel=1e-6)  # ½ Σ p (k/q − 1)², to leading order: d = ±½·10⁻⁹
    assert upper == pytest.approx(lower, rel=1e-10)


@pytest.mark.parametrize("guarantee", [Alip(30.0, None), Alip(37.0, 37.0), Ldp(25.0), Ldp(37.0)])
def test_hellinger_of_lifts_near_zero_keeps_its_digits(guarantee):
    # √u feels what 1 + d loses of u: both ends are compared with balls
    from flint import arb, ctx

    masses, utility = (Fraction(2, 5), Fraction(3, 5)), Information("hellinger")
    kernel, prices = find(masses, (guarantee,), utility, Fraction(0))
    before, ctx.prec = ctx.prec, 200
    try:
        exact = arb(0)
        for column in kernel.weights.tolist():
            q = sum(mass * entry for mass, entry in zip(masses, column, strict=True))
            for mass, entry in zip(masses, column, strict=True):
                share, part = entry / q, mass * q / kernel.scale
                root = (arb(share.numerator) / share.denominator).sqrt()
                exact += arb(part.numerator) / part.denominator * (root - 1) ** 2
        lower, upper = information(kernel, masses, utility)
        assert arb(lower) <= exact
        assert exact <= arb(upper)
        assert exact <= arb(upper_bound(masses, (guarantee,), utility, prices))
    finally:
        ctx.prec = before


def test_what_a_lift_near_one_allows_is_rounded_up():
    # of largest lift M: M − 1 and 1 − 1/M, where M − 1 is small
    for step in range(1, 200):
        lift = 1 + step * 1.7e-8
        exact = Fraction(lift)
        assert Fraction(Information("chi_squared").largest_lift(lift)) >= exact - 1
        assert Fraction(Information("total_variation").largest_lift(lift)) >= 1 - 1 / exact


@pytest.mark.parametrize("name", NAMES)
def test_what_is_too_small_for_a_float_is_rounded_up(name):
    for d in (1e-170, -1e-170, 3e-162, 1e-155, 5e-324, -0.25, 0.0):
        u, least = 1 + Fraction(d), Fraction(Information(name).excess_up(np.array([d])).item())
        exact = {"chi_squared": Fraction(d) ** 2, "total_variation": abs(Fraction(d)) / 2}
        # u log u − u + 1 ≥ d²/2 − d³/6 and (√u − 1)² ≥ d²/4 − d³/8
        series = {"mutual_information": (2, 6), "hellinger": (4, 8)}
        if name in series:
            square, cube = series[name]
            exact[name] = Fraction(d) ** 2 / square - Fraction(d) ** 3 / cube if u != 1 else Fraction(0)
        assert least >= exact[name]


GUARANTEES = {
    "PML": (Alip(None, 0.8),),
    "PMC": (Alip(0.8, None),),
    "ALIP": (Alip(1.2, 0.5),),
    "LDP": (Ldp(1.3),),
    "floor": (FloorPml(0.9, Fraction(1, 60)),),
    "floor of sets": (FloorPml(0.5, Fraction(1, 12)),),
    "both": (Ldp(1.0), Alip(None, 0.5)),
    "maximal leakage": (MaximalLeakage(0.4),),
    "maximal leakage and LDP": (MaximalLeakage(0.2), Ldp(1.0)),
}


def random_channel(draws, masses, guarantees, secrets):
    """Mix random columns with the constant one until each is allowed, and scale them to a channel."""
    rows = all_rows(guarantees, masses, Side.INNER)
    columns = []
    for _ in range(3 * secrets):
        raw = (draws.random(secrets) < draws.random()) * draws.choice([1.0, draws.random()], secrets)
        low, high = 0.0, 1.0
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if _allowed(1 + middle * (raw - 1), rows) else (low, middle)
        columns.append(1 + low * (raw - 1))
    columns = np.array(columns)
    shares = linprog(-draws.random(len(columns)), A_eq=columns.T, b_eq=np.ones(secrets), method="highs")
    if not shares.success:
        return None
    return columns * shares.x[:, None]


def _allowed(column, rows):
    least, largest = column.min(), column.max()
    return all(
        largest <= np.dot(np.array(row, dtype=float), column) + float(share) * least
        for row, share, total in rows.upper
        if not total
    ) and all(least >= np.dot(np.array(row, dtype=float), column) for row in rows.lower)


@pytest.mark.parametrize("kind", GUARANTEES)
@pytest.mark.parametrize("name", NAMES)
def test_no_allowed_channel_exceeds_the_bound_of_any_prices(kind, name):
    draws, guarantees, utility = np.random.default_rng(8), GUARANTEES[kind], Information(name)
    for secrets in (3, 8):
        masses = counts(secrets, secrets)
        p = np.array([float(mass) for mass in masses])
        best = 0.0
        for _ in range(6):
            columns = random_channel(draws, masses, guarantees, secrets)
            total = all_rows(guarantees, masses, Side.INNER).most
            if columns is None or (total is not None and columns.max(axis=1).sum() > total):
                continue
            best = max(best, definition(columns, p, name))
        kernel, prices = find(masses, guarantees, utility, ROOM)
        best = max(best, information(kernel, masses, utility)[0])
        for spread in (0.0, 0.01, 0.3, 3.0):
            random = prices * (1 + spread * draws.standard_normal(secrets)) + spread * p * draws.random()
            assert best <= upper_bound(masses, guarantees, utility, random) * (1 + 1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["floor", "floor of sets", "both"])
def test_few_secrets_are_solved_under_any_guarantees(name, kind):
    masses = counts(5, 7)
    corners = vertices(all_rows(GUARANTEES[kind], masses, Side.OUTER), masses)
    assert corners is not None
    expected = most_information([[float(entry) for entry in one] for one in corners], masses, name)
    lower, upper = designed(masses, GUARANTEES[kind], Information(name))
    assert lower == pytest.approx(expected, rel=2e-8)
    assert upper == pytest.approx(expected, rel=2e-8)


def test_corners_of_ldp_are_the_staircases():
    masses = counts(4, 1)
    found = vertices(all_rows((Ldp(log_of(3)),), masses, Side.OUTER), masses)
    expected = set()
    for column in staircases(masses, 3)[1:-1]:
        q = sum(p * int(k) for p, k in zip(masses, column, strict=True))
        expected.add(tuple(int(k) / q for k in column))
    assert set(found) == expected


def test_a_rational_prior_and_its_floats_agree():
    exact = counts(20, 9, 5000)
    near = [Fraction(float(mass)) for mass in exact]
    near = tuple(mass / sum(near) for mass in near)
    for guarantee in (Ldp(1.0), Alip(None, 1.0), Alip(0.5, 1.0)):
        one, two = designed(exact, (guarantee,), MUTUAL), designed(near, (guarantee,), MUTUAL)
        assert one[0] == pytest.approx(two[1], rel=1e-4)
        assert one[0] <= two[1] * (1 + 1e-9)
        assert two[0] <= one[1] * (1 + 1e-9)


@pytest.mark.parametrize(
    "guarantee", [Ldp(0.0), Alip(None, 0.0), Alip(0.0, None), FloorPml(0.0, Fraction(1, 9))]
)
def test_nothing_may_be_said(guarantee):
    assert designed(counts(5, 1), (guarantee,), MUTUAL) == (0.0, 0.0)


def test_one_secret():
    assert designed((Fraction(1),), (Ldp(1.0),), MUTUAL) == (0.0, 0.0)


@pytest.mark.parametrize("guarantee", [Ldp(40.0), Alip(None, 40.0), Alip(40.0, None), MaximalLeakage(40.0)])
def test_everything_may_be_said(guarantee):
    for secrets in (4, 18):
        masses = counts(secrets, 3)
        entropy = -sum(float(mass) * math.log(mass) for mass in masses)
        lower, upper = designed(masses, (guarantee,), MUTUAL)
        assert lower == pytest.approx(entropy, rel=1e-6)
        assert upper == pytest.approx(entropy, rel=1e-6)


@pytest.mark.parametrize("guarantee", [Ldp(1.0), Alip(None, 1.0), Alip(1.0, None), Alip(1.0, 1.0)])
@pytest.mark.parametrize("secrets", [5, 20])
def test_tiny_masses(guarantee, secrets):
    raw = [Fraction(1, 10**9)] * 2 + list(counts(secrets - 2, 4))
    masses = tuple(mass / sum(raw) for mass in raw)
    lower, upper = designed(masses, (guarantee,), MUTUAL)
    assert lower == pytest.approx(upper, rel=2e-3)
    without, _ = designed(counts(secrets - 2, 4), (guarantee,), MUTUAL)
    assert without <= upper * (1 + 1e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("secrets", "epsilon"), [(3, 0.2), (5, 0.7), (9, 1.5), (16, 0.05), (16, 1.0)])
def test_maximal_leakage_equals_the_program_over_all_sets(name, secrets, epsilon):
    masses = counts(secrets, secrets)
    sets = ((np.arange(1, 2**secrets)[:, None] >> np.arange(secrets)) & 1).astype(float)
    lower, upper = designed(masses, (MaximalLeakage(epsilon),), Information(name))
    expected = most_information(sets, masses, name, math.exp(epsilon))
    assert lower == pytest.approx(expected, rel=2e-7)
    assert upper == pytest.approx(expected, rel=2e-7)


@pytest.mark.parametrize("name", NAMES)
def test_maximal_leakage_allows_no_column_but_sets_more(name):
    """Random columns beside all sets reach no more: extreme are 0 and the largest entry."""
    draws, masses = np.random.default_rng(1), counts(4, 5)
    sets = ((np.arange(1, 16)[:, None] >> np.arange(4)) & 1).astype(float)
    others = draws.random((400, 4)) ** draws.choice([0.2, 1.0, 5.0], (400, 1))
    most = most_information(np.concatenate([sets, others]), masses, name, 1.7)
    assert most == pytest.approx(most_information(sets, masses, name, 1.7), rel=1e-9)


def test_maximal_leakage_bounds_mutual_information_by_itself():
    lower, upper = designed(counts(6, 2), (MaximalLeakage(0.5),), MUTUAL)
    assert upper <= 0.5 * (1 + 1e-11)
    assert lower > 0.25


def test_a_set_of_priors_allows_no_more_than_a_member():
    masses = counts(4, 6)
    secrets = Channel(np.array([[Fraction(1)]] * 4, dtype=object))
    ball = PriorBall(Prior(np.array(masses, dtype=object)), Fraction(1, 10))
    lower, _ = designed(masses, (SetPml(0.7, ball, secrets),), MUTUAL)
    assert 0 < lower <= designed(masses, (Alip(None, 0.7),), MUTUAL)[1]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("epsilon", [0.3, 0.5, 1.0])
def test_few_secrets_are_solved_under_a_set_of_priors(name, epsilon):
    prior = Prior(["1/2", "3/10", "1/5"])
    found = design(prior, pml=epsilon, priors=PriorBall(prior, "1/5"), utility=name)
    found.verify()
    assert found.relative_gap <= 1e-6


def test_a_guarantee_about_another_secret():
    """The secret is whether X is the first: then I(X; Y) is what is said of it and, freely, of the rest."""
    masses = counts(4, 6)
    rest = 1 - masses[0]
    about = Channel(np.array([[1, 0, 0, 0], [0, *(mass / rest for mass in masses[1:])]], dtype=object))
    lower, upper = designed(masses, (Alip(None, log_of("6/5"), about),), MUTUAL)
    inner = -sum(float(mass) * math.log(mass / rest) for mass in masses[1:])
    assert inner < lower
    assert lower == pytest.approx(upper, rel=1e-8)


@pytest.mark.parametrize(
    "guarantee", [Ldp(1.0), Alip(None, 1.0), Alip(1.0, None), FloorPml(1.0, Fraction(1, 50))]
)
def test_a_secret_without_mass_changes_nothing(guarantee):
    masses = counts(4, 8)
    without = designed(masses, (guarantee,), MUTUAL)
    lower, upper = designed((Fraction(0), *masses), (guarantee,), MUTUAL)
    if not isinstance(guarantee, FloorPml):
        assert lower == pytest.approx(without[1], rel=1e-6)
    assert lower <= upper


def test_prices_that_are_no_numbers_still_prove_something():
    masses = counts(4, 8)
    lower, _ = designed(masses, (Ldp(1.0),), MUTUAL)
    for bad in (math.nan, math.inf, -math.inf, 1e300):
        bound = upper_bound(masses, (Ldp(1.0),), MUTUAL, np.full(4, bad))
        assert lower <= bound < math.inf


@pytest.mark.parametrize("epsilon", [1e-14, 1e-9, 1e-4])
def test_almost_nothing_may_be_said(epsilon):
    lower, upper = designed(counts(4, 8), (Ldp(epsilon),), MUTUAL)
    assert 0 <= lower <= upper < epsilon


def test_words():
    assert MUTUAL.words() == "mutual information"
    assert len({Information(name).words() for name in NAMES}) == 4


@pytest.mark.parametrize("asked", ["pml", "ldp", "lip"])
@pytest.mark.parametrize("size", [4, 12])
def test_curves_enclose_the_designs(asked, size):
    import tightlip as tl
    from tightlip.designs import curve, design

    prior = tl.Prior.from_counts(np.random.default_rng(size).integers(1, 30, size))
    levels = [0.0, 0.2, 0.5, 0.9, 1.4, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0]
    found = curve(prior, utility="mutual_information", **{asked: levels})
    for point in found.points[1::3]:
        one = design(prior, utility="mutual_information", **{asked: point.level})
        assert point.value <= one.bound
        assert one.value <= point.bound
    assert all(point.bound - point.value <= 0.01 * point.bound for point in found.points[1:])


@pytest.mark.parametrize(
    "asked",
    [
        {"pml": None, "min_mass": "1/100"},
        {"pml": None, "ldp": 1.0},
        {"maximal_leakage": None},
        {"pmc": None},
    ],
)
@pytest.mark.parametrize("name", ["mutual_information", "total_variation"])
def test_curves_of_other_guarantees_enclose_the_designs(asked, name):
    import tightlip as tl
    from tightlip.designs import curve, design

    prior = tl.Prior.from_counts(np.random.default_rng(3).integers(1, 30, 12))
    levels = [0.0, 0.4, 0.7, 1.0]
    varied = {own: levels if level is None else level for own, level in asked.items()}
    found = curve(prior, utility=name, **varied)
    for point in found.points[1::2]:
        level = {own: point.level if one is None else one for own, one in asked.items()}
        one = design(prior, utility=name, **level)
        assert point.value <= one.bound
        assert one.value <= point.bound


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [2, 5, 18])
def test_curves_of_maximal_leakage_are_mixtures_and_tangents(name, size):
    import tightlip as tl
    from tightlip.designs import curve, design

    prior = tl.Prior.from_counts(np.random.default_rng(size).integers(1, 30, size))
    levels = [0.0, *np.linspace(0.1, 3.5, 22).tolist()]
    found = curve(prior, utility=name, maximal_leakage=levels)
    assert all(point.bound - point.value <= 0.02 * point.bound for point in found.points[1:])
    for point in found.points[1::5]:
        one = design(prior, utility=name, maximal_leakage=point.level)
        assert point.value <= one.bound
        assert one.value <= point.bound


@pytest.mark.parametrize("asked", ["pml", "pmc", "lip", "ldp", "maximal_leakage"])
@pytest.mark.parametrize("size", [1, 2, 6, 18])
@pytest.mark.parametrize("name", ["mutual_information", "hellinger"])
def test_curves_hold_at_levels_of_every_size(asked, size, name):
    import tightlip as tl
    from tightlip.designs import curve, design

    prior = tl.Prior.from_counts(np.random.default_rng(size).integers(1, 30, size))
    levels = [0.0, 1e-13, 1e-7, 1e-3, 1e-3, 0.5, 0.5, 0.5, 30.0, 90.0]
    found = curve(prior, utility=name, **{asked: levels})
    for point in found.points:
        one = design(prior, utility=name, **{asked: point.level})
        assert 0 <= point.value <= one.bound
        assert one.value <= point.bound < math.inf


MANY = 10**20
NASTY = {
    "a secret that columns never have": ([MANY] * 4 + [1], {"utility": "hellinger", "pml": [0.5, 1.0, 30.0]}),
    "a box as high as the rarest secret": (
        [MANY] * 2 + [1],
        {"utility": "chi_squared", "pmc": [0.5, 1.0, 60.0]},
    ),
    "lifts of a rare secret": ([10**14] * 5 + [1], {"utility": "hellinger", "pml": [1.0, 40.0]}),
    "nothing alone": ([1, 1], {"utility": "chi_squared", "maximal_leakage": [0.0]}),
    "more than all": ([1, 1], {"utility": "chi_squared", "maximal_leakage": [1.0, 90.0, 400.0]}),
    "PML that decides at last": (
        [1, 1],
        {"utility": "chi_squared", "pml": 2.5, "maximal_leakage": [0.3, 0.9, 2.4]},
    ),
    "almost nothing": (
        [1] * 6,
        {"utility": "mutual_information", "pml": [4e-13, 1e-9, 1.0], "min_mass": "1/18"},
    ),
    "everything": ([1] * 6, {"utility": "chi_squared", "pml": [1.0, 400.0], "min_mass": "1/10"}),
}


@pytest.mark.parametrize("case", NASTY)
def test_curves_of_nasty_cases_have_two_sound_ends(case):
    from tightlip.designs import curve, design

    weights, asked = NASTY[case]
    prior = Prior([Fraction(one, sum(weights)) for one in weights])
    (varied,) = (name for name, own in asked.items() if isinstance(own, list))
    for point in curve(prior, **asked).points:
        one = design(prior, **{**asked, varied: point.level})
        assert 0 <= point.value <= one.bound
        assert one.value <= point.bound < math.inf


@pytest.mark.parametrize("size", [3, 9])
@pytest.mark.parametrize(
    "asked", [{"pml": log_of(10**20)}, {"maximal_leakage": 10.0}, {"pml": 40.0, "min_mass": 0}]
)
def test_secrets_of_tiny_masses_do_not_silence_others(asked, size):
    """Lifts are up to 10¹⁶, more than a solver takes."""
    rare = Fraction(1, 10**16)
    prior = Prior([rare, *[(1 - rare) / (size - 1)] * (size - 1)])
    found = design(prior, utility="hellinger", **asked)
    found.verify()
    assert found.relative_gap < 0.05


@pytest.mark.parametrize("size", [5, 11, 16, 19])
def test_small_levels_say_what_they_can(size):
    prior = Prior.from_counts(list(range(1, size + 1)), exact=True)
    for level in (1e-4, 1e-5, 1e-6):
        found = design(prior, ldp=level, utility="mutual_information")
        assert found.value >= 0.9 * found.bound > 0


def test_a_solver_that_fails_is_not_taken_for_a_proof(monkeypatch):
    def fail(*given, **options):
        raise SolverFailure("the master program stopped before an optimum: unknown.")

    monkeypatch.setattr("tightlip.designs.information.generate", fail)
    found = design(Prior.from_counts([1, 2, 3, 5], exact=True), ldp=1.0, utility="mutual_information")
    found.verify()
    assert (found.value, found.method) == (0.0, "nothing was found to release")
    assert found.bound > 0.05
    assert design(Prior.uniform(3), ldp=0, utility="chi_squared").method == "nothing can be released"


def test_a_small_remainder_is_not_rounded_away():
    """Permutations of (1, r, 0) keep the guarantee; the square root of r feels what 1 + d loses of it."""
    factor, rest = Fraction(200000000000000000, 50000000000000003), Fraction(6, 10**17)
    found = design(Prior.uniform(3), utility="hellinger", pml=log_of(factor), min_mass="1/4")
    weights = np.array([[1, rest, 0], [0, 1, rest], [rest, 0, 1]], dtype=object) / (1 + rest)
    exact = information(Kernel(*whole(weights)), (Fraction(1, 3),) * 3, Information("hellinger"))
    assert exact[0] <= found.bound


def test_random_sets_have_the_mass_that_is_asked_for():
    masses = counts(20, 5)
    grid, share = search_grid(masses, 0.3), 0.3
    inside = sampled(grid, share, 400, np.random.default_rng(0))
    cells = inside @ grid.cells
    assert set(cells.tolist()) == {int(share * grid.size)}
    # each secret in about as many of them as the share says, and few sets alike
    assert len({row.tobytes() for row in inside}) > 200
    assert np.abs(inside.mean(axis=0) - share).max() < 0.25


@pytest.mark.parametrize(
    ("shares", "asked"),
    [
        ((6, 7, 4), {"lip": "4.7x", "maximal_leakage": "1.1x"}),
        ((5, 8, 5), {"lip": "3.1x", "maximal_leakage": "1.4x"}),
        ((2, 3, 3), {"pmc": "3x", "maximal_leakage": "1.2x"}),
        ((1, 2, 4), {"ldp": "5x", "maximal_leakage": "1.3x"}),
        ((5, 2), {"pml": "2.4x", "maximal_leakage": "1.5x"}),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_maximal_leakage_beside_others_equals_the_program_over_a_grid(shares, asked, name):
    """A column is a mixture of the extreme ones of the part in which its largest entry is where it is."""
    p = np.array(shares) / sum(shares)
    found = design(Prior.from_counts(shares, exact=True), utility=name, **asked)
    found.verify()
    assert found.gap <= 1e-8 * found.value
    factor = {kind: float(level[:-1]) for kind, level in asked.items()}
    steps = np.linspace(0, 1, 31)
    grid = np.array(
        [one for one in np.stack(np.meshgrid(*[steps] * len(p)), -1).reshape(-1, len(p)) if one.any()]
    )
    grid = grid / (grid @ p)[:, None]
    low = max(1 / factor.get("lip", np.inf), 1 / factor.get("pmc", np.inf))
    high = min(factor.get("lip", np.inf), factor.get("pml", np.inf))
    kept = (grid >= low).all(axis=1) & (grid <= high).all(axis=1)
    kept &= grid.min(axis=1) >= grid.max(axis=1) / factor.get("ldp", np.inf)
    best = most_information(grid[kept], p, name, total=factor["maximal_leakage"])
    assert best <= found.bound * (1 + 1e-9)
    assert best >= 0.9 * found.value


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "asked",
    [
        {"lip": 1.5, "maximal_leakage": 0.8},
        {"pmc": 1.0, "maximal_leakage": 0.5},
        {"ldp": 2.0, "maximal_leakage": 0.4},
        {"pml": 1.5, "ldp": 2.5, "maximal_leakage": 0.5},
        {"alip": (0.4, 1.2), "ldp": 1.5, "maximal_leakage": 0.6},
    ],
)
def test_maximal_leakage_beside_others_meets_its_bound(asked, name):
    from tightlip.designs import curve

    prior = Prior.from_counts([1, 40, 9, 3, 22, 7, 7, 5, 100], exact=True)
    found = design(prior, utility=name, **asked)
    found.verify()
    assert found.relative_gap < 1e-7
    for own in asked:
        assert found.value <= design(prior, utility=name, **{own: asked[own]}).bound
    for own in asked:
        if own == "alip":
            continue
        levels = sorted({0.1, 0.3, asked[own], 2.2, 4.0})
        points = curve(prior, utility=name, **{**asked, own: levels}).points
        assert all(point.bound - point.value <= 0.01 * point.bound for point in points)
        assert points[levels.index(asked[own])].value <= found.bound
        assert found.value <= points[levels.index(asked[own])].bound


@pytest.mark.parametrize("asked", [{"pmc": 1.0}, {"lip": 2.0}, {"pml": 8.0}, {"ldp": 2.0}])
def test_a_secret_of_one_in_millions_leaves_the_bound_as_it_is(asked):
    for shares in ([10**9, 10**8, 5, 1], [10**6] * 5 + [1]):
        found = design(
            Prior.from_counts(shares, exact=True), utility="chi_squared", maximal_leakage=0.3, **asked
        )
        found.verify()
        assert found.relative_gap < 1e-6


def test_maximal_leakage_beside_others_for_frequencies():
    """Three secrets alike under LDP 1 and maximal leakage 0.4: what a local search over channels found is the best."""
    found = design(Prior.uniform(3), ldp=1, maximal_leakage=0.4, utility="frequency_variance")
    found.verify()
    assert found.value == pytest.approx(6.590, abs=1e-3)
    assert found.gap <= 1e-6 * found.value


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("secrets", "ratio", "level"), [(14, 2, 0.1), (12, 3, 0.05), (10, 2, 0.3)])
@pytest.mark.parametrize("beside", [{}, {"pmc": 0.5}])
def test_maximal_leakage_of_skewed_priors_meets_its_bound(secrets, ratio, level, name, beside):
    """The bound stands still for many rounds, until prices of all secrets are in place."""
    masses = [Fraction(1, ratio**place) for place in range(secrets)]
    prior = Prior([mass / sum(masses) for mass in masses])
    found = design(prior, utility=name, maximal_leakage=level, **beside)
    found.verify()
    assert found.relative_gap < 1e-5


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", [0.1, 1])
def test_maximal_leakage_tells_secrets_of_hardly_any_mass(name, level):
    for rest in ([2, 3], [2, 3, 1, 5, 1]):
        masses = [*map(Fraction, rest), Fraction(1, 10**9)]
        prior = Prior([mass / sum(masses) for mass in masses])
        found = design(prior, utility=name, maximal_leakage=level)
        found.verify()
        assert found.relative_gap < 1e-5


def test_ldp_beside_pmc_tells_secrets_of_hardly_any_mass():
    masses = [*map(Fraction, range(2, 11)), Fraction(1, 10**12)]
    found = design(Prior([mass / sum(masses) for mass in masses]), ldp=1, pmc=0.2, utility=NAMES[0])
    found.verify()
    assert found.relative_gap < 1e-6
