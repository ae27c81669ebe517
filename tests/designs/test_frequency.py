"""Frequencies estimated from releases: the bound on their variance, and what reaches it."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

import tightlip as tl
from tightlip.designs import curve, design
from tightlip.designs.frequency import FrequencyVariance, variance
from tightlip.designs.frequency_bound import Proof, closed_proof, least_variance
from tightlip.designs.guarantee import Alip, FloorPml, Ldp, MaximalLeakage, Side
from tightlip.designs.linear import ROOM, Kernel, Problem, whole
from tightlip.designs.vertices import vertices
from tightlip.robust import PriorBall, PriorList


def _exact(values):
    return np.array([[Fraction(entry) for entry in row] for row in values.tolist()], dtype=object)


def _slow_variance(masses, matrix):
    """tr J⁻¹ − Σ p² from the definition, with floats."""
    shares = masses @ matrix
    return float(np.trace(np.linalg.inv((matrix / shares) @ matrix.T)) - (masses**2).sum())


def _channel(rng, size):
    """A random prior and channel, the centred columns d with their probabilities, and the covariance N."""
    masses, matrix = rng.dirichlet(np.ones(size)), rng.dirichlet(np.ones(7) * rng.uniform(0.3, 5), size=size)
    shares = masses @ matrix
    covariance = np.linalg.inv((matrix / shares) @ matrix.T) - np.outer(masses, masses)
    return masses, matrix, (matrix / shares - 1).T, shares, covariance


@pytest.mark.parametrize("seed", range(40))
def test_the_theorem_on_random_channels(seed):
    rng = np.random.default_rng(seed)
    masses, _, d, shares, covariance = _channel(rng, int(rng.integers(2, 6)))
    for table in (*rng.standard_normal((20, len(masses), len(masses))), covariance):
        told, most = np.trace(table) - (table @ masses).sum(), shares @ ((d @ table) ** 2).sum(axis=1)
        assert told <= 0 or np.trace(covariance) >= told**2 / most * (1 - 1e-8)
    # the covariance itself is the best matrix
    assert told**2 / most == pytest.approx(np.trace(covariance), rel=1e-8)


@pytest.mark.parametrize("seed", range(40))
def test_what_ldp_says_of_weights_in_rationals(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6))
    counts = rng.integers(1, 9, size=(size, 4))
    rows = [[Fraction(int(entry), int(row.sum())) for entry in row] for row in counts]
    masses = [Fraction(int(one), 20 * size) for one in rng.integers(1, 20, size=size)]
    masses = [mass / sum(masses) for mass in masses]
    factor = max(max(column) / min(column) for column in zip(*rows, strict=True))
    weights = [Fraction(int(one)) for one in rng.integers(0, 30, size=size)]
    weights[0] += 1
    bend, whole_weight, found = (1 + factor) ** 2 / (4 * factor), sum(weights), Fraction(0)
    for column in zip(*rows, strict=True):
        share = sum(p * k for p, k in zip(masses, column, strict=True))
        d = [k / share - 1 for k in column]
        cross = sum(c * one for c, one in zip(weights, d, strict=True))
        squares = sum(c * one * one for c, one in zip(weights, d, strict=True))
        found += share * (squares - bend / whole_weight * cross**2)
    assert found <= whole_weight * (bend - 1)


GUARANTEES = {
    "ldp": (Ldp(0.9),),
    "pml": (Alip(None, 0.9),),
    "lip": (Alip(0.9, 0.9),),
    "floor": (FloorPml(0.9, Fraction(1, 100)),),
    "maximal leakage": (MaximalLeakage(0.9),),
    "two": (Alip(None, 0.7), Ldp(1.0)),
}


@pytest.mark.parametrize("name", GUARANTEES)
def test_no_proof_is_too_large(name):
    """Whatever prices, weights and matrix are, no bound exceeds what a channel reaches."""
    rng = np.random.default_rng(4)
    prior = tl.Prior(rng.dirichlet(np.ones(4)))
    masses = tuple(prior.exact().masses)
    utility = FrequencyVariance()
    found = utility.find(masses, GUARANTEES[name], ROOM)
    reached = variance(masses, found.kernel)[1]
    assert least_variance(masses, found.guarantees, Proof.of(found.proof)) <= reached
    closed = closed_proof(masses, found.guarantees, found.proof[0]).stacked()
    for start in (found.proof, closed):
        for size in (1e-12, 1e-6, 1e-3, 0.1, 1.0):
            for _ in range(10):
                moved = start * (1 + size * rng.standard_normal(start.shape))
                assert least_variance(masses, found.guarantees, Proof.of(moved)) <= reached
    # products of tiny floats vanish, and what they bound must not vanish with them
    for power in (-530, -500, -300, 300):
        scaled = Proof(found.proof[0] * 4.0**power, found.proof[1] * 4.0**power, found.proof[2:] * 2.0**power)
        assert least_variance(masses, found.guarantees, scaled) <= reached
    for size in (5e-324, 1e-170, 3.478190651314175e-162, 1e-150, 1e-100):
        tiny = Proof(np.zeros(4), np.full(4, 5e-324), np.eye(4) * size)
        assert least_variance(masses, found.guarantees, tiny) <= reached
    for junk in (np.full((6, 4), np.nan), np.full((6, 4), np.inf), np.zeros((6, 4)), np.full((6, 4), -1e300)):
        assert least_variance(masses, found.guarantees, Proof.of(junk)) <= reached


@pytest.mark.parametrize(
    "asked", [{"ldp": 0.5}, {"ldp": 2.0}, {"pml": 0.8}, {"lip": 1.3}, {"pml": 0.8, "ldp": 1}]
)
@pytest.mark.parametrize("size", [3, 4])
def test_all_extreme_columns_weighed_slowly_give_the_same(size, asked):
    """Frank and Wolfe's method, which needs nothing but a linear program, comes near from above."""
    prior = tl.Prior(np.random.default_rng(size).dirichlet(np.ones(size)))
    found = design(prior, utility="frequency_variance", **asked)
    problem = Problem(tuple(prior.exact().masses), None, found.guarantees)
    columns = np.array(vertices(problem.rows(Side.OUTER), problem.masses), dtype=np.float64)

    def mixture(gains):
        return linprog(-gains, A_eq=columns.T, b_eq=np.ones(size), options={"presolve": False}).x

    shares = np.mean([mixture(gains) for gains in np.eye(len(columns))], axis=0)
    for _ in range(300):
        inverse = np.linalg.inv((columns.T * shares) @ columns)
        gains = ((columns @ inverse) ** 2).sum(axis=1)
        target = mixture(gains)
        traces = [
            (np.trace(np.linalg.inv((columns.T * ((1 - part) * shares + part * target)) @ columns)), part)
            for part in (0.0, *np.geomspace(1e-5, 0.9, 40))
        ]
        part = min(traces)[1]
        if not part:
            break
        shares = (1 - part) * shares + part * target
    slow = min(traces)[0] - float((prior.floats**2).sum())
    assert found.value <= slow * (1 + 1e-6)
    assert found.bound <= slow * (1 + 1e-9)
    assert slow <= found.value * (1 + 0.01)


@pytest.mark.parametrize(
    "asked", [{"ldp": 1}, {"pml": 1}, {"lip": 1}, {"alip": (0.5, 1)}, {"pml": 1, "min_mass": "1/1000"}]
)
@pytest.mark.parametrize("size", [2, 3, 6, 9])
def test_few_secrets_are_exact(size, asked):
    prior = tl.Prior(np.random.default_rng(size).dirichlet(np.ones(size)))
    found = design(prior, utility="frequency_variance", **asked)
    found.verify()
    assert found.relative_gap <= 1e-6
    # as many outputs as the information matrix has entries, and one
    assert len(found.channel.outputs) <= size * (size + 1) // 2 + 1
    # and none that is hardly ever published
    assert (prior.floats @ np.asarray(found.channel.floats)).min() > 1e-8


@pytest.mark.parametrize(
    "asked",
    [{"maximal_leakage": 0.8}, {"pml": 1, "maximal_leakage": 0.9}, {"ldp": 2, "maximal_leakage": 0.4}],
)
@pytest.mark.parametrize("size", [4, 9])
def test_totals_are_exact_for_few_secrets(size, asked):
    prior = tl.Prior(np.random.default_rng(1).dirichlet(np.ones(size)))
    found = design(prior, utility="frequency_variance", **asked)
    found.verify()
    assert found.relative_gap <= 1e-6


@pytest.mark.parametrize("asked", [{"ldp": 1.0}, {"pml": 1.0}])
def test_many_secrets_are_nearly_exact(asked):
    prior = tl.Prior.from_counts(np.random.default_rng(0).integers(1, 400, size=18).tolist())
    found = design(prior, utility="frequency_variance", **asked)
    found.verify()
    assert found.relative_gap <= 0.01


def test_the_variance_is_that_of_planning():
    prior = tl.Prior(["1/2", "3/10", "1/5"])
    channel = tl.Channel([["1/2", "1/4", "1/4"], ["1/5", "3/5", "1/5"], ["1/10", "1/10", "4/5"]])
    kernel = Kernel(*whole(channel.matrix.T))
    low, high = variance(tuple(prior.masses), kernel)
    assert low <= tl.planning.estimation_variance(channel, prior).sum() + 1e-12
    assert high == pytest.approx(tl.planning.estimation_variance(channel, prior).sum(), rel=1e-12)
    assert high - low <= 1e-12


def test_a_channel_that_tells_nothing_has_infinite_variance():
    assert variance((Fraction(1, 2),) * 2, Kernel(np.array([[1, 1]], dtype=object), 1)) == (0.0, np.inf)


@pytest.mark.parametrize("asked", [{"ldp": 1.0}, {"pml": 1.0}, {"lip": 0.7}, {"pmc": 0.5}])
@pytest.mark.parametrize("size", [2, 5, 6])
def test_subset_mechanisms_are_best_for_uniform_priors(size, asked):
    found = design(tl.Prior.uniform(size), utility="frequency_variance", **asked)
    found.verify()
    assert found.relative_gap <= 1e-8
    assert found.method.startswith("closed form")


@pytest.mark.parametrize("asked", [{"ldp": 0.8}, {"pml": 0.8}, {"pmc": 0.8}, {"pml": 0.8, "ldp": 1.0}])
def test_other_priors_have_two_sound_ends(asked):
    rng = np.random.default_rng(3)
    prior = tl.Prior(rng.dirichlet(np.ones(5)))
    found = design(prior, utility="frequency_variance", **asked)
    found.verify()
    matrix = np.asarray(found.channel.floats)
    assert found.value == pytest.approx(_slow_variance(prior.floats, matrix), rel=1e-9)
    # random admissible channels do not beat the bound
    for _ in range(30):
        raw = rng.dirichlet(np.ones(6), size=5)
        for share in np.linspace(0.05, 1, 20):
            mixed = tl.Channel((1 - share) * raw + share * (prior.floats @ raw))
            kept = {
                "ldp": lambda own: tl.ldp(own),
                "pml": lambda own: tl.pml(own, prior).worst,
                "pmc": lambda own: tl.pmc(own, prior).worst,
            }
            if share < 1 and all(kept[name](mixed) <= level for name, level in asked.items()):
                assert _slow_variance(prior.floats, np.asarray(mixed.floats)) >= found.bound
                break


def test_better_than_randomised_response():
    prior = tl.Prior.from_counts([5, 9, 20, 30, 2, 14, 8, 11, 3, 7, 6, 10])
    found = design(prior, ldp=1.0, utility="frequency_variance")
    response = tl.mechanism.randomized_response(12, 1.0)
    assert found.value < 0.8 * tl.planning.estimation_variance(response, prior).sum()


def test_a_curve_falls():
    found = curve(tl.Prior.uniform(4), ldp=[0.5, 1.0, 1.5, 2.0], utility="frequency_variance")
    values = [point.value for point in found.points]
    assert values == sorted(values, reverse=True)
    assert all(point.bound <= point.value <= 1.005 * point.bound for point in found.points)


@pytest.mark.parametrize("name", ["ldp", "pml", "lip", "pmc"])
def test_levels_of_a_curve_are_within_half_a_percent(name):
    prior = tl.Prior(["1/2", "1/4", "1/8", "1/16", "1/16"])
    found = curve(prior, utility="frequency_variance", **{name: [0.0, 0.2, 0.7, 0.9, 1.6, 4.0]})
    assert found.points[0].value == found.points[0].bound == np.inf
    assert all(point.bound <= point.value <= 1.005 * point.bound for point in found.points[1:])


def test_nothing_let_through_is_refused():
    with pytest.raises(tl.errors.InvalidInput, match="level of 0"):
        design(tl.Prior.uniform(3), ldp=0, utility="frequency_variance")


def test_levels_of_roundings_have_true_bounds():
    """Where roundings leave no channel others may have one: the bound is not infinite."""
    floats = curve(tl.Prior([0.5, 0.3, 0.2]), ldp=[0, 1e-14], utility="frequency_variance").points
    exact = design(tl.Prior(["1/2", "3/10", "1/5"]), ldp=1e-14, utility="frequency_variance")
    assert floats[0].bound == np.inf
    assert floats[1].bound <= exact.value * (1 + 1e-9)


@pytest.mark.parametrize(
    ("masses", "asked"),
    [
        (["1/2", "3/10", "1/5"], {"ldp": 300}),
        ([Fraction(8**place, (8**6 - 1) // 7) for place in range(6)], {"ldp": 1e-6}),
        ([Fraction(1, 10**90 + 1), Fraction(10**90, 10**90 + 1)], {"pmc": 1.0}),
        ([Fraction(1, 10**60), 1 - Fraction(1, 10**60)], {"pml": 1.0}),
        ([1 - Fraction(2, 10**12), Fraction(1, 10**12), Fraction(1, 10**12)], {"maximal_leakage": 2}),
    ],
)
def test_the_ends_of_what_floats_hold(masses, asked):
    found = design(tl.Prior(masses), utility="frequency_variance", **asked)
    found.verify()
    assert 0 <= found.bound <= found.value


def test_a_curve_goes_on_where_columns_cannot_be_weighed():
    prior = tl.Prior([1 - Fraction(2, 10**12), Fraction(1, 10**12), Fraction(1, 10**12)])
    found = curve(prior, maximal_leakage=[2, 20], utility="frequency_variance")
    assert all(point.bound <= point.value for point in found.points)


def test_a_target_that_nothing_reaches_is_refused():
    with pytest.raises(tl.errors.InvalidInput, match="no mechanism at all"):
        tl.designs.smallest_budget(
            tl.Prior(["1/2", "3/10", "1/5"]), "ldp", utility="frequency_variance", at_most=0.5
        )


def test_columns_that_the_solver_does_not_find_are_left_out():
    prior = tl.Prior.uniform(14)
    found = design(prior, pml=20, priors=PriorBall(prior, 0.1), utility="frequency_variance")
    found.verify()


@pytest.mark.parametrize(
    ("masses", "level", "best"),
    [
        (
            [Fraction(1, 10**6), Fraction(1, 4), Fraction(1, 4), Fraction(1, 2) - Fraction(1, 10**6)],
            1,
            0.72162,
        ),
        (
            [Fraction(1, 10**5), Fraction(3, 10), Fraction(1, 5), Fraction(1, 2) - Fraction(1, 10**5)],
            0.3,
            3.5102,
        ),
    ],
)
def test_secrets_of_hardly_any_mass_are_told_by_columns_of_hardly_any_weight(masses, level, best):
    found = design(tl.Prior(masses), maximal_leakage=level, utility="frequency_variance")
    found.verify()
    assert found.value == pytest.approx(best, rel=1e-5)
    assert found.bound == pytest.approx(best, rel=1e-5)


def test_curves_keep_a_bound_where_lists_are_rough():
    tiny = Fraction(1, 10**16)
    prior = tl.Prior([tiny, Fraction(1, 4), Fraction(1, 4), Fraction(1, 2) - tiny])
    assert curve(prior, pml=[0.9, 1.0], utility="frequency_variance").points[1].bound > 1


@pytest.mark.parametrize("asked", [{"lip": 0}, {"pmc": 0}, {"ldp": 0}, {"pml": 0}, {"lip": [0, 1]}])
def test_of_one_secret_there_is_nothing_to_estimate(asked):
    call = curve if isinstance(asked.get("lip"), list) else design
    found = call(tl.Prior([1]), utility="frequency_variance", **asked)
    assert found.gap == 0


def test_levels_of_many_digits_have_a_value():
    level = tl.log_of(1 + Fraction(1, 10**80))
    found = design(tl.Prior(["1/3", "2/3"]), ldp=level, utility="frequency_variance")
    found.verify()
    # 2 P(y) (1 − P(y)) / (a − b)², of randomised response with P(y) near 1/2 and a − b = (t − 1)/(t + 1)
    assert found.value == pytest.approx(2e160, rel=1e-9)


def test_what_is_below_the_least_float_is_not_lost_in_a_proof():
    """γ ccᵀ was 0 where c·c vanished, however large γ was: twice the least variance was proved."""
    tiny = Fraction(1, 10**99)
    masses, guarantees, small = (1 - 2 * tiny, tiny, tiny), (Ldp(tl.log_of(3)),), 1e-85
    honest = design(tl.Prior(masses), ldp=tl.log_of(3), utility="frequency_variance")
    forged = Proof(
        np.zeros(3), np.array([0, small**2, small**2]), np.array([[0, 1.0, 0], [0, small, 0], [0, 0, small]])
    )
    assert least_variance(masses, guarantees, forged) <= honest.value
    assert least_variance(honest.certificate.masses, honest.guarantees, forged) <= honest.value


def test_a_limit_that_the_mechanism_beats_is_no_proof(monkeypatch):
    found = design(tl.Prior.uniform(3), ldp=1, utility="frequency_variance")
    monkeypatch.setattr(FrequencyVariance, "bound", lambda *_: -2 * found.value)
    with pytest.raises(tl.errors.CertificateInvalid, match="which the mechanism beats"):
        found.verify()


def test_priors_that_rule_a_secret_out_are_refused():
    ruled_out = PriorList([tl.Prior(["1/2", "1/2", 0])])
    with pytest.raises(tl.errors.InvalidPrior, match=r"got 0 for .* in prior 1 of 1"):
        design(tl.Prior.uniform(3), pml=0.5, priors=ruled_out, loss="hamming")


@pytest.mark.parametrize(("secrets", "level", "near"), [(10, 0.01, 1e-6), (12, 0.01, 1e-6), (20, 0.05, 1e-3)])
def test_maximal_leakage_of_hardly_anything_meets_its_bound(secrets, level, near):
    """Mixtures that seem to say most at first break the total: steps begin with what one that keeps it says."""
    found = design(
        tl.Prior.from_counts([*range(1, secrets + 1)], exact=True),
        maximal_leakage=level,
        utility="frequency_variance",
    )
    found.verify()
    assert found.relative_gap < near


@pytest.mark.parametrize("asked", [{"pml": [0.1, 0.4, 1.0, 2.0]}, {"maximal_leakage": [0.1, 0.4, 1.0]}])
def test_curves_of_many_secrets_have_ends_that_say_something(asked):
    prior = tl.Prior.from_counts(np.random.default_rng(20).integers(1, 1000, 20).tolist(), exact=True)
    found = curve(prior, utility="frequency_variance", **asked)
    assert all(point.value - point.bound < 0.15 * point.value for point in found.points)
