"""χ², KL and Hellinger contraction: proved ends, witnesses, two secrets suffice, and the order between them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import contraction_oracle as oracle
from tightlip import Channel, Prior, log_of, mechanism
from tightlip.contraction import chi_squared, coefficients
from tightlip.contraction.coefficients import (
    chi_squared_contraction,
    dobrushin,
    hellinger_contraction,
    kl_contraction,
)
from tightlip.contraction.divergences import divergence
from tightlip.errors import NumericalFailure, WrongType


@st.composite
def cases(draw):
    seed = draw(st.integers(0, 10**6))
    generator = np.random.default_rng(seed)
    secrets, outcomes = draw(st.integers(2, 5)), draw(st.integers(2, 6))
    rows = oracle.kernels(generator, 1, secrets, outcomes)[0]
    return Channel(rows), Prior(generator.dirichlet(np.ones(secrets)))


def exact_ratio(channel, inputs, kind):
    p, q = (prior.exact() for prior in inputs)
    rows = channel.exact().matrix
    after = divergence(Prior(p.masses @ rows), Prior(q.masses @ rows), kind)
    before = divergence(p, q, kind)
    return after.upper / before.lower, after.lower / before.upper


@settings(max_examples=60)
@given(cases())
def test_maximal_correlation_is_proved_and_its_inputs_reach_it(case):
    channel, prior = case
    found = chi_squared_contraction(channel, prior)
    singular = np.linalg.svd(
        np.sqrt(prior.floats)[:, None]
        * np.asarray(channel.matrix)
        / np.sqrt(np.maximum(prior.floats @ channel.matrix, 1e-300)),
        compute_uv=False,
    )
    assert found.lower <= singular[1] ** 2 + 1e-12
    assert found.upper >= singular[1] ** 2 - 1e-12
    assert found.upper - found.lower < 1e-11
    if found.lower > 1e-6:
        assert exact_ratio(channel, found.inputs, "chi2")[0] >= found.lower * (1 - 1e-6)


@settings(max_examples=60)
@given(cases())
def test_over_all_inputs_the_value_is_reached_by_two_secrets_and_ordered(case):
    channel, prior = case
    found = chi_squared_contraction(channel)
    assert found.upper - found.lower < 1e-10
    assert chi_squared_contraction(channel, prior).lower <= found.upper
    assert found.lower <= dobrushin(channel).upper
    high, low = exact_ratio(channel, found.inputs, "chi2")
    assert high >= found.lower * (1 - 1e-12)
    assert low <= found.upper * (1 + 1e-12)
    assert len(found.inputs[1].support) == 2
    assert kl_contraction(channel).upper == hellinger_contraction(channel).upper == found.upper


@pytest.mark.parametrize("kind", ["chi2", "kl", "h2"])
def test_no_random_pair_of_inputs_beats_it(kind):
    """Two secrets suffice, and the three agree: 60 channels × 400 pairs (P, Q), also close and lopsided ones."""
    generator = np.random.default_rng(11)
    for _ in range(60):
        rows = oracle.kernels(generator, 1, 4, 4)[0]
        most = chi_squared_contraction(Channel(rows)).upper
        q = generator.dirichlet(np.full(4, 0.4), size=400)
        p = q + generator.random((400, 1)) ** 3 * (generator.dirichlet(np.full(4, 0.4), size=400) - q)
        before, after = oracle.divergence(p, q, kind), oracle.divergence(p @ rows, q @ rows, kind)
        assert (after <= most * before * (1 + 1e-9) + 1e-13).all()


def exact_two_secrets(rows, weight):
    """λ(1 − λ) Σ (a − b)²/(λa + (1 − λ)b) in rationals."""
    pairs = [(a, b) for a, b in zip(*rows, strict=True) if a or b]
    return sum(weight * (1 - weight) * (a - b) ** 2 / (weight * a + (1 - weight) * b) for a, b in pairs)


def test_two_secrets_against_rationals_also_where_rows_nearly_agree():
    generator = np.random.default_rng(3)
    for _ in range(60):
        outcomes = int(generator.integers(2, 5))
        base = generator.dirichlet(np.full(outcomes, 0.4))
        noise = generator.standard_normal(outcomes) * 10.0 ** -generator.integers(0, 14)
        rows = np.array([base, np.abs(base * (1 + noise)) + 1e-18])
        channel = Channel(rows / rows.sum(axis=1, keepdims=True))
        exact = channel.exact().matrix
        found = chi_squared_contraction(channel)
        assert max(exact_two_secrets(exact, Fraction(k, 50)) for k in range(1, 50)) <= Fraction(found.upper)
        if found.lower > 0:
            assert exact_two_secrets(exact, found.inputs[1].masses[0]) >= Fraction(found.lower)
        weight = Fraction(int(generator.integers(1, 100)), 100)
        towards = chi_squared_contraction(channel, Prior([weight, 1 - weight]))
        value = exact_two_secrets(exact, weight)
        assert Fraction(towards.lower) <= value <= Fraction(towards.upper)


def test_known_values():
    """Binary symmetric with crossover 1/4: (1 − 2·¼)² = ¼; Z-channel with ½: ½, approached as λ → 0."""
    coin = mechanism.binary_randomized_response(log_of(3))
    for found in (chi_squared_contraction(coin), chi_squared_contraction(coin, Prior.uniform(2))):
        assert found.lower == pytest.approx(0.25, abs=1e-13)
        assert found.upper == pytest.approx(0.25, abs=1e-13)
    z = chi_squared_contraction(Channel([[1, 0], ["1/2", "1/2"]]))
    assert z.lower <= 0.5 <= z.upper
    assert z.upper - z.lower < 1e-12
    identity = chi_squared_contraction(mechanism.identity(3))
    assert (identity.lower, identity.upper) == (pytest.approx(1, abs=1e-13), 1)


def test_ahlswede_and_gacs_decomposable_pairs_do_not_contract():
    """DOB Theorem 2: rows with disjoint supports give 1 for every such divergence."""
    column = [Fraction(1), Fraction(0), Fraction(1, 2), Fraction(1, 2)]
    assert kl_contraction(Channel([[entry, 1 - entry] for entry in column])).upper == 1


@pytest.mark.parametrize(("kind", "function"), [("kl", kl_contraction), ("h2", hellinger_contraction)])
def test_towards_a_prior(kind, function):
    generator = np.random.default_rng(7)
    improved = 0
    for _ in range(12):
        rows = oracle.kernels(generator, 1, 3, 3)[0]
        channel, prior = Channel(rows), Prior(generator.dirichlet(np.ones(3)))
        found, local = function(channel, prior), chi_squared_contraction(channel, prior)
        assert local.lower - 1e-15 <= found.lower <= found.upper <= chi_squared_contraction(channel).upper
        points = generator.dirichlet(np.full(3, 0.5), size=400)
        before = oracle.divergence(points, prior.floats, kind)
        after = oracle.divergence(points @ rows, prior.floats @ rows, kind)
        reached = float((after / before)[before > 1e-3].max())
        assert found.lower >= reached - 1e-6  # the search is at least as good as 400 random inputs
        assert found.upper >= reached - 1e-9
        if found.lower > local.upper:
            improved += 1
            assert exact_ratio(channel, found.inputs, kind)[0] >= found.lower
    assert improved >= 3  # KL and H² towards a prior do exceed the maximal correlation


def test_equal_rows_and_one_possible_secret():
    constant = Channel([["1/4", "3/4"]] * 3)
    for function in (chi_squared_contraction, kl_contraction, hellinger_contraction):
        assert function(constant).fraction == 0
        assert function(constant, Prior.uniform(3)).fraction == 0
    coin = mechanism.randomized_response(3, 1.0)
    assert kl_contraction(coin, Prior([0.0, 1.0, 0.0])).upper == 0


def test_large_channels_are_not_searched(monkeypatch):
    coin = mechanism.randomized_response(3, 1.0)
    searched = kl_contraction(coin, Prior([0.1, 0.2, 0.7]))
    monkeypatch.setattr(coefficients, "_MOST_CELLS", 8)
    plain = kl_contraction(coin, Prior([0.1, 0.2, 0.7]))
    assert plain.lower < searched.lower <= searched.upper == plain.upper
    assert plain.method.startswith("χ²")


def test_sparse_wide_and_tall():
    generator = np.random.default_rng(2)
    for shape in ((3, 40), (40, 3)):
        rows = generator.dirichlet(np.full(shape[1], 0.2), size=shape[0])
        dense, sparse = Channel(rows), Channel(csr_array(rows))
        prior = Prior.uniform(shape[0])
        for one in (chi_squared_contraction(dense), chi_squared_contraction(dense, prior)):
            assert one.upper - one.lower < 1e-10
        assert chi_squared_contraction(sparse).upper == pytest.approx(chi_squared_contraction(dense).upper)
        wide = chi_squared_contraction(sparse, prior)
        if wide.lower > 1e-3:
            assert exact_ratio(dense, wide.inputs, "chi2")[0] >= wide.lower * (1 - 1e-6)


def test_when_pairs_are_too_many_the_upper_end_is_the_affinity_bound(monkeypatch):
    monkeypatch.setattr(chi_squared, "_WORK", 0)
    monkeypatch.setattr(chi_squared, "_BATCH", 600)
    rows = np.random.default_rng(4).dirichlet(np.ones(6), size=60)
    found = chi_squared_contraction(Channel(rows))
    monkeypatch.undo()
    whole = chi_squared_contraction(Channel(rows))
    assert found.lower <= whole.upper
    assert found.upper >= whole.lower
    ties = mechanism.randomized_response(60, 1.0)
    monkeypatch.setattr(chi_squared, "_WORK", 0)
    gap = chi_squared_contraction(ties)
    monkeypatch.undo()
    assert gap.lower <= chi_squared_contraction(ties).upper <= gap.upper


def test_refusals(monkeypatch):
    coin = mechanism.randomized_response(2, 1.0)
    with pytest.raises(NumericalFailure, match="1e-280"):
        chi_squared_contraction(Channel([[0.5, 0.5], [0.25, 0.75]]), Prior([1e-300, 1.0]))
    for function in (chi_squared_contraction, kl_contraction, hellinger_contraction):
        with pytest.raises(WrongType, match="Channel"):
            function([[1.0]])
    monkeypatch.setattr(chi_squared, "_TRIES", 0)
    with pytest.raises(NumericalFailure, match="could not be proved"):
        chi_squared_contraction(coin, Prior.uniform(2))


def test_rows_that_only_floats_call_equal_are_not_equal():
    tiny = Fraction(1, 10**40)
    channel = Channel([[Fraction(1, 2) + tiny, Fraction(1, 2) - tiny], ["1/2", "1/2"]])
    truth = tiny**2  # p₁p₂(a − b)²/(q₁q₂), up to a factor 1 + tiny
    for function in (chi_squared_contraction, kl_contraction, hellinger_contraction):
        found = function(channel, Prior.uniform(2))
        assert found.fraction is None
        assert Fraction(found.lower) <= truth <= Fraction(found.upper)


@pytest.mark.parametrize(
    ("rows", "masses"),
    [
        ([[0.9999999999999999], [1.0]], [1 / 6, 5 / 6]),  # no direction but noise
        (
            [[1.0, 1e-17], [0.0, 1.0], [0.0, 1.0]],
            [1.0, 5e-231, 2.5e-230],
        ),  # one secret has all mass that floats see
    ],
)
def test_inputs_are_different_priors_or_none(rows, masses):
    channel, prior = Channel(rows), Prior(masses)
    for function, kind in (
        (chi_squared_contraction, "chi2"),
        (kl_contraction, "kl"),
        (hellinger_contraction, "h2"),
    ):
        found = function(channel, prior)
        assert found.lower <= chi_squared_contraction(channel).upper
        if found.inputs is not None:
            assert exact_ratio(channel, found.inputs, kind)[0] >= found.lower


def test_towards_a_prior_inputs_reach_the_lower_end_or_are_not_given():
    """KL and H² may only approach the maximal correlation, as P → Q: then no P stands for it."""
    generator = np.random.default_rng(3)
    kept = set()
    for _ in range(30):
        channel = Channel(oracle.kernels(generator, 1, 3, 3)[0])
        prior = Prior(generator.dirichlet(np.ones(3)))
        for function, kind in ((kl_contraction, "kl"), (hellinger_contraction, "h2")):
            found = function(channel, prior)
            kept.add(found.inputs is None)
            if found.inputs is not None:
                assert exact_ratio(channel, found.inputs, kind)[0] >= found.lower
    assert kept == {True, False}
