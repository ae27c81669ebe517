"""Dobrushin and E_γ coefficients: exact, floats with sound ends, sparse, in blocks, and why a pair decides."""

import itertools
import pickle
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist

import contraction_oracle as oracle
from exact_oracle import profile, rows_of
from strategies import exact_channels, float_pairs
from tightlip import Channel, log_of, mechanism
from tightlip.contraction.coefficients import dobrushin, e_gamma_contraction
from tightlip.contraction.result import Coefficient
from tightlip.errors import InvalidInput, WrongType
from tightlip.measures import privacy_profile


def exact_dobrushin(rows):
    return max(
        sum(abs(a - b) for a, b in zip(one, two, strict=True)) / 2
        for one, two in itertools.product(rows, rows)
    )


@given(exact_channels())
def test_exact_channels_give_the_rational_and_a_pair_that_reaches_it(channel):
    found = dobrushin(channel)
    rows = rows_of(channel)
    assert found.fraction == exact_dobrushin(rows)
    one, two = (rows[channel.inputs.position(label)] for label in found.pair)
    assert sum(abs(a - b) for a, b in zip(one, two, strict=True)) / 2 == found.fraction
    assert Fraction(found.lower) <= found.fraction <= Fraction(found.upper)


@given(float_pairs())
def test_floats_have_sound_ends_dense_and_sparse(pair):
    channel, _ = pair
    truth = min(exact_dobrushin(rows_of(channel)), Fraction(1))
    for kind in (channel, Channel(csr_array(channel.matrix))):
        found = dobrushin(kind)
        assert Fraction(found.lower) <= truth <= Fraction(found.upper)
        assert found.upper - found.lower <= 1e-15


@given(exact_channels(), st.fractions(1, 6, max_denominator=12))
def test_e_gamma_is_the_privacy_profile(channel, gamma):
    found = e_gamma_contraction(channel, gamma)
    assert (
        found.fraction == profile(rows_of(channel), gamma) == privacy_profile(channel, log_of(gamma)).fraction
    )
    assert e_gamma_contraction(channel, 1).fraction == dobrushin(channel).fraction


@settings(max_examples=50)
@given(float_pairs(), st.floats(1, 20))
def test_e_gamma_of_floats_is_sound(pair, gamma):
    channel, _ = pair
    truth = min(profile(rows_of(channel), Fraction(gamma)), Fraction(1))
    found = e_gamma_contraction(channel, gamma)
    assert Fraction(found.lower) <= truth <= Fraction(found.upper)
    assert found.fraction is None


def test_denominators_beyond_floats_are_still_exact():
    tiny = Fraction(1, 3**80)
    channel = Channel([[Fraction(1, 2) + tiny, Fraction(1, 2) - tiny], ["1/2", "1/2"], ["1/2", "1/2"]])
    assert dobrushin(channel).fraction == tiny
    assert e_gamma_contraction(channel, 1).fraction == tiny
    assert "rationals" in dobrushin(channel).method


def test_ties_of_every_pair_cost_a_rounding_at_most():
    exact = mechanism.randomized_response(40, log_of(3))
    truth = Fraction(2, 42)
    assert dobrushin(exact).fraction == truth
    found = dobrushin(Channel(exact.floats))
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < 1e-15
    one = e_gamma_contraction(Channel(exact.floats), 2)
    assert one.lower <= Fraction(1, 42) <= one.upper < Fraction(1, 42) + Fraction(1, 10**14)


def test_nothing_is_nothing():
    constant = Channel([[0.25, 0.75]] * 30)
    assert dobrushin(constant).upper == 0
    assert e_gamma_contraction(constant, 1.5).upper == 0
    assert dobrushin(Channel([[1.0]])).upper == 0
    assert e_gamma_contraction(Channel(mechanism.randomized_response(30, 1.0).floats), 2.8).upper == 0


def test_large_channels_in_blocks_agree_with_pdist_and_stay_small():
    generator = np.random.default_rng(3)
    rows = generator.dirichlet(np.ones(120), size=700)
    channel = Channel(rows)
    tracemalloc.start()
    found = dobrushin(channel)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.upper == pytest.approx(pdist(rows, "cityblock").max() / 2, rel=1e-13)
    assert peak < 700 * 700 * 8 / 1.5  # never all pairs at once
    assert dobrushin(Channel(csr_array(rows))).upper == found.upper


def test_no_random_pair_of_inputs_beats_e_gamma():
    """The pair formula is the coefficient: thousands of (P, Q), γ from 1 to 4."""
    generator = np.random.default_rng(5)
    for _ in range(60):
        rows = oracle.kernels(generator, 1, 4, 4)[0]
        gamma = 1 + 3 * generator.random()
        most = e_gamma_contraction(Channel(rows), gamma).upper
        p, q = generator.dirichlet(np.full(4, 0.3), size=(2, 500))
        before = np.maximum(p - gamma * q, 0).sum(axis=1)
        after = np.maximum(p @ rows - gamma * (q @ rows), 0).sum(axis=1)
        assert (after <= most * before + 1e-14).all()


def test_results_and_refusals():
    found = dobrushin(mechanism.randomized_response(3, log_of(3)))
    twin = pickle.loads(pickle.dumps(found))
    assert (twin, twin.fraction, twin.pair, twin.lower) == (found, found.fraction, found.pair, found.lower)
    assert "at least" in str(found)
    with pytest.raises(InvalidInput, match="lower must not exceed"):
        Coefficient(0.5, 0.25, method="x")
    with pytest.raises(WrongType, match="Channel"):
        dobrushin([[1.0]])
    with pytest.raises(InvalidInput, match="at least 1"):
        e_gamma_contraction(Channel([[1.0]]), 0.5)
    with pytest.raises(InvalidInput, match="at most"):
        e_gamma_contraction(Channel([[1.0]]), 1e30)
