"""A float guarantee is never below the true value of the exact rational channel with the same stored floats."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import exact_oracle as oracle
import tightlip as tl
from strategies import float_pairs
from tightlip.numeric.ball import exp_bounds

many = settings(max_examples=200, deadline=None)
GAP = Fraction(1, 10**13)
some = settings(max_examples=100, deadline=None)


def clip(ratio):
    """Stored floats need not sum to 1 exactly, so an exact ratio may fall below 1 by an ulp: no leakage."""
    return ratio if ratio is None else max(ratio, Fraction(1))


@many
@given(float_pairs())
def test_pml_and_pmc_enclose_the_truth(pair):
    channel, prior = pair
    rows, masses = oracle.rows_of(channel), oracle.masses_of(prior)
    for leak, truth in (
        (tl.pml(channel, prior), oracle.pml(rows, masses)),
        (tl.pmc(channel, prior), oracle.pmc(rows, masses)),
    ):
        assert len(leak.values) == len(truth)
        for upper, lower, ratio in zip(leak.values, leak.lower, truth, strict=True):
            assert oracle.at_least_log(float(upper), clip(ratio))
            assert lower == 0 or oracle.at_most_log(float(lower), ratio)
            assert math.isinf(upper) or upper - lower <= 1e-14 * (1 + upper)


@many
@given(float_pairs())
def test_guarantees_of_a_whole_channel_round_up(pair):
    channel, prior = pair
    rows, masses = oracle.rows_of(channel), oracle.masses_of(prior)
    kept, _ = oracle.supported(rows, masses)
    checks = [
        (tl.ldp(channel), oracle.ldp(rows)),
        (tl.ldp(channel, prior), oracle.ldp(kept)),
        (tl.maximal_leakage(channel), oracle.maximal_leakage(rows)),
        (tl.maximal_leakage(channel, prior), oracle.maximal_leakage(kept)),
        (tl.measures.maximal_cost_leakage(channel), oracle.maximal_cost_leakage(rows)),
    ]
    for reported, truth in checks:
        assert oracle.at_least_log(float(reported), clip(truth))
        assert math.isinf(reported) or float(reported) - oracle.log(clip(truth)) <= 1e-14 * (1 + reported)


@many
@given(float_pairs(), st.floats(0, 3))
def test_soft_guarantees_round_up(pair, epsilon):
    channel, prior = pair
    rows, masses = oracle.rows_of(channel), oracle.masses_of(prior)
    above, below = Fraction(exp_bounds(epsilon)[1]), Fraction(exp_bounds(epsilon)[0])
    checks = [
        (
            tl.measures.psi1(channel, prior, epsilon),
            oracle.psi1(rows, masses, above),
            oracle.psi1(rows, masses, below),
        ),
        (
            tl.measures.psi2(channel, prior, epsilon),
            oracle.psi2(rows, masses, above),
            oracle.psi2(rows, masses, below),
        ),
        (
            tl.measures.privacy_profile(channel, epsilon),
            oracle.profile(rows, above),
            oracle.profile(rows, below),
        ),
    ]
    for reported, low, high in checks:
        assert Fraction(float(reported)) >= min(low, 1)
        assert Fraction(float(reported)) <= high + GAP
    tail = tl.measures.probabilistic_dp_tail(channel, epsilon)
    assert Fraction(float(tail)) >= min(oracle.dp_tail(rows, above), 1)
    assert Fraction(float(tail)) <= oracle.dp_tail(rows, below) + Fraction(1, 10**13)


@many
@given(float_pairs(), st.data())
def test_event_leakage_rounds_up(pair, data):
    channel, prior = pair
    rows, masses = oracle.supported(oracle.rows_of(channel), oracle.masses_of(prior))
    size = channel.shape[1]
    weights = np.array(
        data.draw(st.lists(st.sampled_from([0.0, 1.0, 0.3, 1e-300]), min_size=size, max_size=size))
    )
    exact = oracle.fractions(weights.tolist())
    if not sum(w * mass for w, mass in zip(exact, oracle.marginal(rows, masses), strict=True)):
        with pytest.raises(tl.errors.InvalidInput, match="positive probability"):
            tl.event_leakage(channel, prior, weights)
        return
    truth = clip(oracle.event(rows, masses, exact))
    reported = float(tl.event_leakage(channel, prior, weights))
    assert oracle.at_least_log(reported, truth)
    assert reported - oracle.log(truth) <= 1e-13 * (1 + reported)


@many
@given(float_pairs(), st.floats(0, 2), st.floats(1e-6, 0.999))
def test_tails_and_quantiles_are_exact_up_to_rounding(pair, t, delta):
    channel, prior = pair
    rows, masses = oracle.supported(oracle.rows_of(channel), oracle.masses_of(prior))
    q = [mass for mass in oracle.marginal(rows, masses) if mass]
    for leak, ratios in (
        (tl.pml(channel, prior), oracle.pml(rows, masses)),
        (tl.pmc(channel, prior), oracle.pmc(rows, masses)),
    ):
        above = sum(m for m, r in zip(q, ratios, strict=True) if not oracle.at_least_log(t, r))
        assert min(above, 1) <= Fraction(float(leak.tail(t))) <= above + GAP
        assert 1 - above - GAP <= Fraction(float(leak.cdf(t))) <= max(1 - above + GAP, 0)
        ordered = sorted(
            zip(ratios, q, strict=True), key=lambda item: -math.inf if item[0] is None else -item[0]
        )
        right, left = clip(_right(ordered, Fraction(delta))), clip(_left(ordered, Fraction(delta)))
        assert oracle.at_least_log(float(leak.quantile(delta)), right)
        assert oracle.at_least_log(float(leak.left_quantile(delta)), left)
        assert float(leak.quantile(delta)) <= oracle.log(right) * (1 + 1e-13) + 1e-13
        assert float(leak.left_quantile(delta)) <= oracle.log(left) * (1 + 1e-13) + 1e-13


def _right(ordered, delta):
    """max{L : P{ℓ ≥ L} ≥ δ}, or the smallest level."""
    for ratio, _ in ordered:
        if sum(m for r, m in ordered if _at_least(r, ratio)) >= delta:
            return ratio
    return ordered[-1][0]


def _left(ordered, delta):
    """min{L : P{ℓ > L} ≤ δ}."""
    best = ordered[0][0]
    for ratio, _ in ordered:
        if sum(m for r, m in ordered if not _at_least(ratio, r)) <= delta:
            best = ratio
    return best


def _at_least(one, two):
    return one is None or (two is not None and one >= two)


@some
@given(float_pairs())
def test_sparse_storage_gives_the_same_numbers(pair):
    channel, prior = pair
    sparse = tl.Channel(csr_array(np.asarray(channel.matrix)), channel.inputs, channel.outputs)
    assert sparse == channel
    assert hash(sparse) == hash(channel)
    for measure in (tl.pml, tl.pmc):
        one, two = measure(channel, prior), measure(sparse, prior)
        np.testing.assert_allclose(one.values, two.values, rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(one.probabilities, two.probabilities, rtol=1e-13)
    assert float(tl.ldp(sparse)) == float(tl.ldp(channel))
    assert float(tl.maximal_leakage(sparse)) == float(tl.maximal_leakage(channel))
    assert float(tl.measures.maximal_cost_leakage(sparse)) == float(tl.measures.maximal_cost_leakage(channel))
    dense = float(tl.measures.psi2(channel, prior, 0.1))
    assert float(tl.measures.psi2(sparse, prior, 0.1)) == pytest.approx(dense, abs=1e-14)


@some
@given(float_pairs(), st.data())
def test_an_attack_never_exceeds_the_guarantee(pair, data):
    channel, prior = pair
    guesses = data.draw(st.integers(1, 4))
    payoff = np.array(
        [
            data.draw(st.lists(st.just(0.0) | st.floats(1e-10, 10), min_size=guesses, max_size=guesses))
            for _ in range(channel.shape[0])
        ]
    )
    for measure, bound, average in (
        (tl.measures.gain_leakage, tl.pml, tl.maximal_leakage),
        (tl.measures.cost_leakage, tl.pmc, tl.measures.maximal_cost_leakage),
    ):
        if not _has_stake(prior, payoff, measure is tl.measures.gain_leakage):
            with pytest.raises(tl.errors.InvalidInput, match="before any outcome"):
                measure(channel, prior, payoff)
            continue
        found = measure(channel, prior, payoff)
        assert (found.values <= bound(channel, prior).values).all()
        assert found.average <= average(channel, prior)


def _has_stake(prior, payoff, gain):
    possible = (payoff > 0) & (prior.floats[:, None] > 0)
    return bool(possible.any() if gain else possible.any(axis=0).all())


@some
@given(float_pairs())
def test_conditional_leakage_rounds_up(pair):
    channel, prior = pair
    rows, masses = oracle.rows_of(channel), oracle.masses_of(prior)
    seen = tl.pml(channel, prior).outcomes[0]
    place = channel.outputs.position(seen)
    weights = [mass * row[place] for mass, row in zip(masses, rows, strict=True)]
    truth = [weight / sum(weights) for weight in weights]
    if min(mass for mass in truth if mass) < Fraction(1, 2**980):
        return  # too small for a float posterior: refused, see TestPosterior in tests/measure/test_measures.py
    found = tl.measures.conditional_pml(channel, prior, side=channel, given=seen)
    for value, ratio in zip(found.values, oracle.pml(rows, truth), strict=True):
        assert oracle.at_least_log(float(value), clip(ratio))
        assert float(value) - oracle.log(clip(ratio)) <= 1e-13 * (1 + value)
