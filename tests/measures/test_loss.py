"""L_p and α-loss adversaries against the definition: the least expected loss over a fine grid of guesses."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightlip as tl
from strategies import exact_pairs, float_pairs
from tightlip.measures import alpha_loss_leakage, cost_leakage, lp_loss_leakage

COIN = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"]], outputs=["+", "-"])
THREE = tl.Channel([["1/2", "1/4", "1/4"], ["1/3", "1/3", "1/3"], ["1/8", "1/8", "3/4"]])
PRIOR = tl.Prior(["1/6", "1/3", "1/2"])
powers = st.sampled_from([1, "11/10", 1.5, 2, 3, "7/2", 40])
alphas = st.sampled_from(["1/10", 0.5, "9/10", 1, "11/10", 2, 7, math.inf])


def alpha_cost(alpha, mass):
    """c_α as the paper prints it."""
    if mass == 0 and alpha <= 1:
        return math.inf
    if alpha == math.inf:
        return 1 - mass
    return -math.log(mass) if alpha == 1 else alpha / (alpha - 1) * (1 - mass ** (1 - 1 / alpha))


def simplex(size, steps):
    """All distributions on a grid."""
    for parts in product(range(steps + 1), repeat=size - 1):
        if sum(parts) <= steps:
            yield [part / steps for part in (*parts, steps - sum(parts))]


def leakage_on_grid(channel, prior, outcome, guesses, cost):
    """log of the least expected cost before over that after, guesses from a grid."""
    before = [float(mass) for mass in prior.masses]
    after = [float(mass) for mass in tl.measures.posterior(channel, prior, outcome).masses]
    least = [
        min(sum(mass * cost(x, w) for x, mass in enumerate(masses) if mass) for w in guesses)
        for masses in (before, after)
    ]
    return math.log(least[0] / least[1])


@pytest.mark.parametrize("p", [1, 1.2, 2, 2.5, 4])
def test_lp_is_its_definition_on_a_grid_of_guesses(p):
    values = [-1, 0, 3]
    found = lp_loss_leakage(THREE, PRIOR, values, p)
    grid = np.linspace(-1, 3, 4001)
    for outcome in found.outcomes:
        wanted = leakage_on_grid(THREE, PRIOR, outcome, grid, lambda x, w: abs(values[x] - w) ** p)
        assert found.value_of(outcome) == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("alpha", [0.5, 1, 1.5, 3, math.inf])
def test_alpha_loss_is_its_definition_on_a_grid_of_distributions(alpha):
    found = alpha_loss_leakage(THREE, PRIOR, alpha)
    grid = list(simplex(3, 100))
    for outcome in found.outcomes:
        wanted = leakage_on_grid(THREE, PRIOR, outcome, grid, lambda x, q: alpha_cost(alpha, q[x]))
        assert found.value_of(outcome) == pytest.approx(wanted, abs=4e-3)


def test_mean_absolute_error_is_a_cost_matrix():
    """The best guess of a number under |x − w| is one of the values."""
    values = [Fraction(-1), Fraction(2, 3), Fraction(5)]
    matrix = [[abs(x - w) for w in values] for x in values]
    assert lp_loss_leakage(THREE, PRIOR, values, 1).ratios == cost_leakage(THREE, PRIOR, matrix).ratios


def test_mean_squared_error_is_a_ratio_of_variances():
    values = np.array([-1.0, 0.25, 5.0])
    found = lp_loss_leakage(THREE, PRIOR, values, 2)
    for outcome, value, guess in zip(found.outcomes, found.values, found.guesses, strict=True):
        after = np.array([float(m) for m in tl.measures.posterior(THREE, PRIOR, outcome).masses])
        before = np.array([float(mass) for mass in PRIOR.masses])
        spread = [mass @ values**2 - (mass @ values) ** 2 for mass in (before, after)]
        assert value == pytest.approx(math.log(spread[0] / spread[1]), abs=1e-12)
        assert guess == pytest.approx(after @ values)
    assert found.ratios is None


def test_alpha_loss_at_its_ends():
    wrong = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert alpha_loss_leakage(THREE, PRIOR, math.inf).ratios == cost_leakage(THREE, PRIOR, wrong).ratios
    near = alpha_loss_leakage(THREE, PRIOR, "1001/1000").values
    assert near == pytest.approx(alpha_loss_leakage(THREE, PRIOR, 1).values, abs=1e-3)
    far = alpha_loss_leakage(THREE, PRIOR, 1000).values
    assert far == pytest.approx(alpha_loss_leakage(THREE, PRIOR, math.inf).values, abs=1e-2)


@settings(max_examples=80, deadline=None)
@given(st.one_of(exact_pairs(), float_pairs()), st.data())
def test_no_loss_leaks_more_than_pmc(pair, data):
    channel, prior = pair
    if len(prior.support) < 2:
        return
    whole = st.integers(-4, 4)
    size = channel.shape[0]
    values = data.draw(st.lists(whole, min_size=size, max_size=size, unique=True))
    bound = tl.pmc(channel, prior)
    for found in (
        lp_loss_leakage(channel, prior, values, data.draw(powers)),
        alpha_loss_leakage(channel, prior, data.draw(alphas)),
    ):
        assert (found.values <= bound.values).all()
        if found.ratios is not None:
            for ratio, most in zip(found.ratios, bound.ratios, strict=True):
                assert most is None or (ratio is not None and ratio <= most)
        assert found.average <= found.worst


@settings(max_examples=40, deadline=None)
@given(exact_pairs(positive=True), st.data())
def test_other_powers_are_as_sharp_as_the_closed_forms(pair, data):
    """p = 2 by its formula, and by a bracket at p = 2 + 10⁻¹², which must agree: the bracket is no loose bound."""
    channel, prior = pair
    values = list(range(channel.shape[0]))
    closed = lp_loss_leakage(channel, prior, values, 2).values
    bracketed = lp_loss_leakage(channel, prior, values, 2 + Fraction(1, 10**12)).values
    assert bracketed == pytest.approx(closed, abs=1e-10)


@pytest.mark.parametrize("alpha", ["1/2", 1, 3, math.inf])
def test_randomised_functions_bring_every_alpha_to_pmc(alpha):
    """PMC Theorem 1's function spreads one secret over k symbols; as k grows its α-loss leaks PMC."""
    gaps = []
    for symbols in (4, 4**3, 4**6):
        rows = [[Fraction(0)] * symbols + [Fraction(1)], [Fraction(1, symbols)] * symbols + [Fraction(0)]]
        prior = tl.Prior(["4/5", "1/5"])
        found = alpha_loss_leakage(COIN, prior, alpha, function=tl.Channel(rows))
        gaps.append(tl.pmc(COIN, prior).value_of("+") - found.value_of("+"))
    assert 0 <= gaps[2] <= gaps[1] <= gaps[0]
    assert gaps[2] < 0.1
    assert gaps[2] < gaps[0] / 2 or gaps[0] < 1e-15


@pytest.mark.parametrize("p", [1, 1.5, 2, 3])
def test_randomised_functions_bring_every_power_to_pmc(p):
    """A number that is 1 rarely, and only for the secret that the outcome speaks against."""
    prior = tl.Prior(["4/5", "1/5"])
    gaps = []
    for share in (Fraction(1, 2), Fraction(1, 2**10), Fraction(1, 2**40)):
        function = tl.Channel([[1, 0], [1 - share, share]], outputs=["zero", "one"])
        found = lp_loss_leakage(COIN, prior, {"one": 1, "zero": 0}, p, function=function)
        gaps.append(tl.pmc(COIN, prior).value_of("+") - found.value_of("+"))
    assert -1e-15 <= gaps[2] <= gaps[1] <= gaps[0]
    assert gaps[2] < 1e-5


def test_certainty_is_infinite_and_a_known_secret_is_refused():
    identity = tl.mechanism.identity(2)
    fair = tl.Prior.uniform(2)
    for found in (lp_loss_leakage(identity, fair, [0, 1], 3), alpha_loss_leakage(identity, fair, 1)):
        assert found.values.tolist() == [math.inf, math.inf]
        assert math.isinf(found.average)
    with pytest.raises(tl.errors.InvalidInput, match="cost must be positive before any outcome"):
        lp_loss_leakage(identity, fair, [7, 7])
    with pytest.raises(tl.errors.InvalidInput, match="cost must be positive before any outcome"):
        alpha_loss_leakage(identity, tl.Prior([1, 0]), 2)


def test_orders_out_of_range_are_refused():
    fair = tl.Prior.uniform(2)
    with pytest.raises(tl.errors.InvalidInput, match=r"p must be from 1 to 1000, got 1/2; use pmc"):
        lp_loss_leakage(COIN, fair, [0, 1], 0.5)
    with pytest.raises(tl.errors.InvalidInput, match="p must be from 1 to 1000, got inf"):
        lp_loss_leakage(COIN, fair, [0, 1], math.inf)
    with pytest.raises(tl.errors.InvalidInput, match="alpha must be from 1/1000 to 1000 or infinite, got 0"):
        alpha_loss_leakage(COIN, fair, 0)
