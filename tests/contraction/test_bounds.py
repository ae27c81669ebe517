"""The (ε, c) bounds: values, kernels that reach them, thousands of random channels that do not exceed them."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contraction_oracle as oracle
from tightlip import Channel, PriorSet, ldp, log_of, mechanism
from tightlip.contraction.bounds import (
    DivergenceBound,
    block_kernel,
    divergence_bound,
    dobrushin_bound,
    ldp_contraction_bound,
    ldp_kl_bound,
    likelihood_ratio_bound,
    optimal_kernel,
    valid_counts,
)
from tightlip.contraction.coefficients import dobrushin
from tightlip.contraction.divergences import Divergence, divergence
from tightlip.errors import InvalidInput, InvalidPrior, PreconditionFailed
from tightlip.papers import duchi_bound
from tightlip.robust.pointwise import leakage_capacity

KINDS = ("tv", "kl", "chi2", "h2")


@st.composite
def levels(draw):
    """N, e^ε and c as rationals, the level up to twice as far as log 2/(Nc)."""
    n = draw(st.integers(2, 9))
    c = Fraction(draw(st.integers(0, 12)), 12 * n)
    top = 4 / (n * c) if c else Fraction(30)
    return n, 1 + (top - 1) * Fraction(draw(st.integers(0, 24)), 24), c


def test_reference_values():
    """Spec section 9, DOB."""
    assert dobrushin_bound(3, 0.5, 0.3) == pytest.approx(0.5569034194, abs=1e-10)
    level = log_of("10/3")
    assert divergence_bound("kl", 10, level, "1/20", gamma="paper") == pytest.approx(0.8582255964, abs=1e-10)
    assert divergence_bound("h2", 10, level, "1/20", gamma="paper") == pytest.approx(0.4207143601, abs=1e-10)
    assert likelihood_ratio_bound(4, 0.3, 0.1) == pytest.approx(1.2998789779, abs=1e-10)
    assert likelihood_ratio_bound(4, 0.3, 0.1, gamma="paper") == pytest.approx(1.8099152845, abs=1e-10)


@given(levels())
def test_the_always_valid_kernel_has_the_level_and_reaches_the_bound(case):
    n, growth, c = case
    level = log_of(growth)
    kernel = optimal_kernel(n, level, c)
    assert leakage_capacity(kernel, min_mass=c).ratio <= growth
    assert dobrushin(kernel).fraction == dobrushin_bound(n, level, c).fraction
    if c and growth <= 2 / (n * c):
        assert leakage_capacity(kernel, min_mass=c).ratio == growth


@given(levels())
def test_block_kernels_reach_it_exactly_for_the_valid_q(case):
    """DOB Remark 2 says any q; it needs N − 1/(c e^ε) ≤ q ≤ 1/(c e^ε)."""
    n, growth, c = case
    level, scale = log_of(growth), 1 + growth * (1 - n * c)
    for q in range(1, n):
        high, low = growth * (1 - c * q) / scale, (1 - growth * c * q) / scale
        clamped = c and growth > 1 / c
        valid = 0 <= low <= 1 and 0 <= high <= 1
        if q in valid_counts(n, level, c):
            kernel = block_kernel(n, level, c, q)
            assert leakage_capacity(kernel, min_mass=c).ratio <= growth
            assert dobrushin(kernel).fraction == dobrushin_bound(n, level, c).fraction
            assert valid or clamped
        else:
            assert not valid
            with pytest.raises(PreconditionFailed, match="optimal_kernel"):
                block_kernel(n, level, c, q)


def test_dob_remark_2_is_wrong_for_some_q_and_for_some_levels_there_is_no_q():
    n, c, growth = 10, Fraction(1, 20), Fraction(10, 3)
    assert list(valid_counts(n, log_of(growth), c)) == [4, 5, 6]
    low = (1 - growth * c * 7) / (1 + growth * (1 - n * c))
    assert low == Fraction(-1, 16)  # the paper's m at q = 7 is no probability
    kernel = block_kernel(n, log_of(growth), c, 5)
    assert set(kernel.matrix[:, 0]) == {Fraction(15, 16), Fraction(1, 16)}
    assert ldp(kernel).ratio == 15
    level = log_of("40/11")  # 5 − 2.75 ≤ q ≤ 2.75
    assert list(valid_counts(5, level, "1/10")) == []
    assert dobrushin(optimal_kernel(5, level, "1/10")).fraction == Fraction(29, 31)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 10, 11])
@pytest.mark.parametrize("epsilon", [0.05, 0.7, 1.9])
def test_float_levels_keep_the_guarantee_and_reach_the_bound_to_one_rounding(n, epsilon):
    c = 0.3 / n
    kernel = optimal_kernel(n, epsilon, c)
    assert leakage_capacity(kernel, min_mass=c).lower <= epsilon
    assert leakage_capacity(kernel, min_mass=Fraction(c)) <= epsilon * (1 + 1e-15)
    assert dobrushin(kernel).upper == pytest.approx(dobrushin_bound(n, epsilon, c), abs=1e-15)


@pytest.mark.parametrize("c_share", [0.0, 0.2, 0.7, 1.0])
def test_thousands_of_random_channels_never_exceed_the_bounds(c_share):
    generator = np.random.default_rng(int(10 * c_share))
    closest = 0.0
    for secrets, outcomes in ((2, 2), (3, 2), (4, 3), (5, 6)):
        c = c_share / secrets
        found = oracle.kernels(generator, 1500, secrets, outcomes)
        growth = oracle.capacity(found, c)
        bound = np.minimum((growth - 1) / (growth * (1 - secrets * c) + 1), 1)
        assert (oracle.dobrushin(found) <= bound + 1e-12).all()
        closest = max(closest, float((oracle.dobrushin(found) / np.maximum(bound, 1e-12)).max()))
        p, q = (oracle.restricted_priors(generator, 1500, secrets, c)[:, None] for _ in range(2))
        before = oracle.divergence(p, q, "tv")[:, 0]
        least = np.maximum(0, (1 - c * (secrets - 1) * growth) / (1 - (secrets - 1) * c))
        most = 1 + (1 - secrets * c) * (growth - least)
        one, two = (p @ found)[:, 0], (q @ found)[:, 0]
        constants = {"kl": np.log(most), "chi2": most - 1 / most, "h2": 2 - 4 / (np.sqrt(most) + 1)}
        for kind, constant in constants.items():
            assert (oracle.divergence(one, two, kind) <= bound * constant * before + 1e-12).all()
        ratios = np.where(two > 0, one / np.maximum(two, 1e-300), 1)
        assert (ratios.max(axis=1) <= most + 1e-9).all()
    assert closest > 0.99  # two secrets and two outcomes often attain it


def test_the_vectorised_formulas_above_are_the_librarys():
    for n, growth, c in ((4, 1.3, 0.1), (3, 2.5, 0.2), (5, 1.05, 0.19)):
        least = max(0, (1 - c * (n - 1) * growth) / (1 - (n - 1) * c))
        most = 1 + (1 - n * c) * (growth - least)
        eta = min((growth - 1) / (growth * (1 - n * c) + 1), 1)
        level = log_of(growth)
        assert likelihood_ratio_bound(n, level, c) == pytest.approx(most, rel=1e-14)
        assert divergence_bound("kl", n, level, c) == pytest.approx(eta * math.log(most), rel=1e-12)
        assert divergence_bound("chi2", n, level, c) == pytest.approx(eta * (most - 1 / most), rel=1e-12)
        assert divergence_bound("tv", n, level, c, tv=0.5) == pytest.approx(eta / 2, rel=1e-12)


@given(levels())
def test_the_exact_gamma_is_reached_by_a_channel(case):
    """DOB Proposition 2 is loose: a column of e^ε with one m*, scaled down and completed, has exactly Γ_max."""
    n, growth, c = case
    if c:
        growth = min(growth, 1 / c)
    others = (n - 1) * c
    least = max(Fraction(0), (1 - others * growth) / (1 - others))
    entries = [growth] * (n - 1) + [least]
    if not least and c:  # then fewer entries at e^ε fill c·Σ = 1
        full = int(1 / (c * growth))
        entries = [growth] * full + [1 / c - full * growth] + [Fraction(0)] * (n - full - 1)
        entries = entries[:n]
    column = [entry / (1000 * growth) for entry in entries]
    below = c * sum(column) + (1 - n * c) * min(column)
    above = c * sum(column) + (1 - n * c) * max(column)
    kernel = Channel([[entry, 1 - entry] for entry in column])
    assert max(column) <= growth * below
    exact = likelihood_ratio_bound(n, log_of(growth), c)
    assert exact == pytest.approx(float(above / below), rel=1e-14)
    assert exact <= likelihood_ratio_bound(n, log_of(growth), c, gamma="paper")
    if growth > Fraction(101, 100):  # the second outcome is nearly the same for all
        assert leakage_capacity(kernel, min_mass=c).ratio <= growth


def test_dob_prop_2_loses_a_factor_of_six():
    loose = divergence_bound("kl", 4, 0.1, 0.1, gamma="paper")
    tight = divergence_bound("kl", 4, 0.1, 0.1)
    assert (loose, tight) == (pytest.approx(0.03217, abs=5e-6), pytest.approx(0.00546, abs=5e-6))


def test_dob_example_3_has_twice_the_distance_it_says():
    """θ0, θ1 on four values: TV is 2δ, not δ, so the paper's divergence bound is too small by a factor 2."""
    delta = Fraction(1, 10)
    quarter = Fraction(1, 4)
    one = [quarter - delta, quarter + delta, quarter, quarter]
    two = [quarter + delta, quarter - delta, quarter, quarter]
    assert divergence(one, two, "tv").fraction == 2 * delta
    c, level = Fraction(3, 20), log_of(Fraction(4, 3))
    kernel = optimal_kernel(4, level, c)
    after = [np.array(masses) @ kernel.matrix for masses in (one, two)]
    moved = divergence(*after, "tv").fraction
    eta = dobrushin_bound(4, level, c).fraction
    assert moved == eta * 2 * delta > eta * delta  # attains the right bound, breaks the paper's
    assert divergence_bound("tv", 4, level, c, tv=delta) < moved


def test_bounds_are_rounded_up_and_exact_where_they_can_be():
    level = log_of("10/3")
    assert dobrushin_bound(10, level, "1/20").fraction == Fraction(7, 8)
    assert dobrushin_bound(10, level, 0.05).fraction is None
    assert divergence_bound("tv", 10, level, "1/20") == 0.875
    assert Fraction(dobrushin_bound(3, log_of(2), "1/10")) >= Fraction(1, 1) / Fraction(24, 10)
    assert dobrushin_bound(5, log_of(10), "1/10").fraction == 1
    assert dobrushin_bound(5, math.inf, "1/10").fraction == 1
    assert dobrushin_bound(5, math.inf, 0).fraction == 1
    assert dobrushin_bound(5, 800.0, 0) <= 1
    assert likelihood_ratio_bound(5, math.inf, 0) == math.inf
    assert likelihood_ratio_bound(5, math.inf, "1/10") == likelihood_ratio_bound(5, log_of(10), "1/10")
    assert likelihood_ratio_bound(5, log_of(3), 0) == 3


def test_edges_of_divergence_bounds():
    for kind in ("kl", "chi2", "h2"):
        assert divergence_bound(kind, 4, 1.0, "1/4") == 0  # one prior only
        assert divergence_bound(kind, 4, 0, "1/8") == 0
        assert divergence_bound(kind, 4, 1.0, "1/8", tv=0) == 0
    assert divergence_bound("kl", 4, math.inf, 0) == math.inf
    assert (divergence_bound("tv", 4, math.inf, 0), divergence_bound("h2", 4, math.inf, 0)) == (1, 2)
    found = divergence_bound("kl", 4, 0.5, 0.1)
    twin = pickle.loads(pickle.dumps(found))
    assert (twin, twin.gamma, twin.eta, twin.certified) == (found, found.gamma, found.eta, True)


@pytest.mark.parametrize(
    ("kind", "function"),
    [
        ("kl", lambda t: t * math.log(t)),
        ("chi2", lambda t: (t - 1) ** 2),
        ("h2", lambda t: (1 - math.sqrt(t)) ** 2),
        ("tv", lambda t: abs(t - 1) / 2),
    ],
)
def test_a_function_gives_what_its_name_gives_but_is_not_certified(kind, function):
    own = divergence_bound(function, 4, 0.7, 0.1, tv=0.3)
    assert own == pytest.approx(divergence_bound(kind, 4, 0.7, 0.1, tv=0.3), rel=1e-9)
    assert not own.certified
    assert "not proved" in own.method
    assert divergence_bound(function, 4, 0.7, "1/4") == 0
    assert divergence_bound(function, 4, math.inf, 0) == math.inf


def test_functions_that_are_no_divergence_are_refused():
    with pytest.raises(InvalidInput, match="convex"):
        divergence_bound(lambda t: -((t - 1) ** 2), 4, 0.7, 0.1)
    with pytest.raises(InvalidInput, match="f\\(1\\)"):
        divergence_bound(lambda t: t * t, 4, 0.7, 0.1)
    with pytest.raises(InvalidInput, match="finite"):
        divergence_bound(lambda t: math.nan, 4, 0.7, 0.1)
    with pytest.raises(InvalidInput, match="at least 0"):
        DivergenceBound(-1.0, eta=1.0, gamma=2.0, certified=True, method="x")


def test_ldp_comparisons():
    coin = mechanism.binary_randomized_response(log_of(3))
    assert ldp_contraction_bound("tv", log_of(3)).fraction == dobrushin(coin).fraction == Fraction(1, 2)
    assert ldp_contraction_bound("h2", log_of(3)).fraction == Fraction(1, 4)
    assert ldp_contraction_bound("chi2", math.inf) == 1
    assert ldp_contraction_bound("kl", 1.0) == pytest.approx(math.tanh(0.5) ** 2, abs=1e-15)
    assert dobrushin_bound(4, 0.8, 0) == ldp_contraction_bound("tv", 0.8)
    assert duchi_bound(0.1, 0.5) == pytest.approx(math.exp(0.2) * math.expm1(0.1) ** 2 / 4, rel=1e-14)
    assert duchi_bound(2.0, 0.5) == pytest.approx(math.expm1(2.0) ** 2, rel=1e-14)
    assert (duchi_bound(math.inf, 0.1), duchi_bound(1.0, 0)) == (math.inf, 0)
    assert ldp_kl_bound(math.inf, 0.5, 0.1) == pytest.approx(math.log(6))
    assert ldp_kl_bound(1.0, 0.5, 0.1) == pytest.approx(math.tanh(0.5) ** 2 * math.log(6))


def test_ldp_bounds_hold_for_random_channels():
    generator = np.random.default_rng(9)
    found = generator.dirichlet(np.ones(4), size=(2000, 3))
    growth = (found.max(axis=1) / found.min(axis=1)).max(axis=1)
    p, q = (oracle.restricted_priors(generator, 2000, 3, 0.05)[:, None] for _ in range(2))
    one, two, tv = (p @ found)[:, 0], (q @ found)[:, 0], oracle.divergence(p, q, "tv")[:, 0]
    both = oracle.divergence(one, two, "kl") + oracle.divergence(two, one, "kl")
    assert (both <= np.minimum(4, growth**2) * (growth - 1) ** 2 * tv**2 + 1e-12).all()
    shrink = ((growth - 1) / (growth + 1)) ** 2
    assert (oracle.divergence(one, two, "kl") <= shrink * np.log1p(2 * tv**2 / 0.05) + 1e-12).all()


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: dobrushin_bound(1, 1, 0), "n must be"),
        (lambda: dobrushin_bound(True, 1, 0), "n must be"),
        (lambda: dobrushin_bound(3, -1, 0), "non-negative"),
        (lambda: dobrushin_bound(3, math.nan, 0), "non-negative"),
        (lambda: likelihood_ratio_bound(3, 1, 0, gamma="best"), "exact"),
        (lambda: divergence_bound("renyi", 3, 1, 0), '"tv", "kl", "chi2", "h2"'),
        (lambda: divergence_bound("kl", 3, 1, 0, tv=2), "tv must be"),
        (lambda: ldp_contraction_bound("x", 1), '"tv", "kl"'),
        (lambda: duchi_bound(1, -1), "tv must be"),
        (lambda: ldp_kl_bound(1, 0.1, 0), "min_mass"),
        (lambda: optimal_kernel(3, math.inf, 0), "finite"),
        (lambda: optimal_kernel(3, 500.0, 0), "2\\^200"),
    ],
)
def test_refusals(call, match):
    with pytest.raises(InvalidInput, match=match):
        call()


def test_a_mass_above_1_over_n_is_refused():
    with pytest.raises(InvalidPrior):
        dobrushin_bound(3, 1, "0.34")
    assert PriorSet(3, "1/3").min_mass == Fraction(1, 3)
    with pytest.raises(InvalidInput):
        Divergence(0.5, 0.25)


@pytest.mark.parametrize(("n", "epsilon", "c"), [(2, 1e-17, 0), (3, 30.0, 1 / 3), (4, 1e-300, 0.1)])
def test_a_function_where_likelihood_ratios_are_one_up_to_a_rounding(n, epsilon, c):
    assert 0 <= divergence_bound(lambda t: (t - 1) ** 2, n, epsilon, c) < 1e-14
