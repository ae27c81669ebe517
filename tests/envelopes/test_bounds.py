"""Cheap bounds and the DP curve against their definitions in rationals."""

import math
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import tightlip as tl
from exact_oracle import (
    at_least_log,
    at_most_log,
    marginal,
    masses_of,
    maximal_leakage,
    pml,
    profile,
    rows_of,
    supported,
)
from strategies import exact_channels, exact_pairs, float_pairs
from tightlip import papers
from tightlip.envelopes import known_bounds as bounds_module
from tightlip.envelopes.binary import binary_envelope
from tightlip.envelopes.known_bounds import bounds as envelope_bounds
from tightlip.envelopes.known_bounds import dp_epsilon

EXAMPLE, UNIFORM = papers.env_example_1(), tl.Prior.uniform(4)
levels = st.fractions(Fraction(1, 20), 1, max_denominator=20)


def tail_mean(rows, masses, delta):
    """The mean of e^ℓ over the worst outcomes of mass δ, from the definition."""
    rows, masses = supported(rows, masses)
    q = [mass for mass in marginal(rows, masses) if mass]
    delta, left, total = min(Fraction(delta), sum(q)), min(Fraction(delta), sum(q)), Fraction(0)
    for lift, mass in sorted(zip(pml(rows, masses), q, strict=True), reverse=True):
        part = min(mass, left)
        left, total = left - part, total + part * lift
    return total / delta


def quantile(rows, masses, delta):
    rows, masses = supported(rows, masses)
    q = [mass for mass in marginal(rows, masses) if mass]
    total = Fraction(0)
    for lift, mass in sorted(zip(pml(rows, masses), q, strict=True), reverse=True):
        total += mass
        if total >= min(Fraction(delta), sum(q)):
            return lift
    raise AssertionError("no mass")


@given(exact_pairs(), levels)
@settings(max_examples=80, deadline=None)
def test_exact_ratios(pair, delta):
    channel, prior = pair
    rows, masses = rows_of(channel), masses_of(prior)
    found = envelope_bounds(channel, prior, delta)
    assert found.tail_mean.ratio == tail_mean(rows, masses, delta)
    assert found.maximal_leakage.ratio == maximal_leakage(rows) / delta
    assert found.worst_outcome.ratio == max(pml(rows, masses))
    assert found.outcome_count.ratio == len(pml(rows, masses)) / delta
    assert found.quantile.ratio == quantile(rows, masses, delta)
    assert found.event == binary_envelope(channel, prior, delta).lower
    for bound in found.uppers.values():
        assert at_least_log(bound, bound.ratio)
    for bound in found.lowers.values():
        assert at_most_log(bound, bound.ratio)


@given(exact_pairs(), levels)
@settings(max_examples=80, deadline=None)
def test_the_tail_mean_is_the_best_and_counting_the_worst(pair, delta):
    channel, prior = pair
    found = envelope_bounds(channel, prior, delta)
    assert found.tail_mean.ratio <= min(found.maximal_leakage.ratio, found.worst_outcome.ratio)
    reduced = envelope_bounds(channel.reduce(), prior, delta)
    assert found.maximal_leakage.ratio <= reduced.outcome_count.ratio <= found.outcome_count.ratio
    assert found.maximal_leakage.ratio <= len(prior) / delta
    assert reduced.upper.ratio == found.upper.ratio
    assert found.lower <= found.upper


@given(float_pairs(), st.one_of(levels, st.floats(1e-12, 1)))
@settings(max_examples=100, deadline=None)
def test_floats_are_rounded_to_their_sides(pair, delta):
    channel, prior = pair
    rows, masses = rows_of(channel), masses_of(prior)
    found = envelope_bounds(channel, prior, delta)
    mean = tail_mean(rows, masses, delta)
    assert at_least_log(found.tail_mean, mean) or mean < 1
    kept = supported(rows, masses)[0]
    assert at_least_log(found.maximal_leakage, maximal_leakage(kept) / Fraction(delta))
    level = quantile(rows, masses, delta)
    assert found.quantile == 0 or at_most_log(found.quantile, level)
    assert found.lower <= found.upper


def test_falls_with_delta():
    found = [envelope_bounds(EXAMPLE, UNIFORM, Fraction(step, 20)) for step in range(1, 21)]
    for one, two in pairwise(found):
        assert one.upper >= two.upper
        assert one.lower >= two.lower


def test_example_1():
    found = envelope_bounds(EXAMPLE, UNIFORM, "1/5")
    assert (found.lower.ratio, found.lower_from) == (Fraction(5, 3), "event")
    assert (found.upper.ratio, found.upper_from) == (Fraction(23, 9), "tail_mean")
    assert found.lower.ratio < Fraction(22, 9) <= found.upper.ratio
    assert found.lower.rounding == "down"
    assert repr(found).startswith("EnvelopeBounds(delta=1/5, 0.510825 (event)")
    assert envelope_bounds(EXAMPLE, UNIFORM, "1/10").lower_from == "quantile"


def test_sparse_channels():
    rows = np.array([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]])
    prior = tl.Prior([0.4, 0.6])
    dense_form, sparse_form = (
        envelope_bounds(tl.Channel(form), prior, 0.3) for form in (rows, csr_array(rows))
    )
    assert dense_form.upper == pytest.approx(sparse_form.upper, abs=1e-14)
    assert dense_form.lower == pytest.approx(sparse_form.lower, abs=1e-14)


# The DP curve.


def dp_ratio(rows, delta):
    """The smallest e^ε ≥ 1 with profile ≤ δ, over all events of all pairs; None is infinite."""
    worst = Fraction(1)
    places = range(len(rows[0]))
    for one in rows:
        for other in rows:
            for size in range(1, len(places) + 1):
                for chosen in combinations(places, size):
                    gain = sum(one[y] for y in chosen) - delta
                    mass = sum(other[y] for y in chosen)
                    if gain > 0 and not mass:
                        return None
                    if gain > 0:
                        worst = max(worst, gain / mass)
    return worst


@given(exact_channels(), st.fractions(0, 1, max_denominator=20))
@settings(max_examples=80, deadline=None)
def test_dp_epsilon_is_exact(channel, delta):
    rows = rows_of(channel)
    truth, found = dp_ratio(rows, delta), dp_epsilon(channel, delta)
    if truth is None:
        assert math.isinf(found)
        return
    assert found.ratio == truth
    assert profile(rows, truth) <= delta
    if truth > 1:
        assert profile(rows, truth * Fraction(10**9 - 1, 10**9)) > delta


@given(float_pairs(), st.floats(1e-9, 0.999))
@settings(max_examples=15, deadline=None)
def test_dp_epsilon_of_floats(pair, delta):
    channel = pair[0]
    truth = dp_ratio(rows_of(channel), Fraction(delta))
    assert at_least_log(dp_epsilon(channel, delta), truth)
    old, bounds_module._EXACT_WORK = bounds_module._EXACT_WORK, 0
    try:
        found = dp_epsilon(channel, delta)
    finally:
        bounds_module._EXACT_WORK = old
    assert at_least_log(found, truth)
    assert found <= tl.ldp(channel)


@pytest.mark.parametrize("delta", ["0.05", "0.2", "0.4", "0.9", "1"])
def test_dp_epsilon_of_randomized_response(delta, monkeypatch):
    """max{log (α − δ)/β, 0}."""
    rr = tl.mechanism.randomized_response(4, 1.5)
    alpha, beta = rr.matrix[0, 0], rr.matrix[0, 1]
    rest = alpha - float(delta)
    expected = max(math.log(rest / beta), 0.0) if rest > 0 else 0.0
    assert dp_epsilon(rr, delta) == pytest.approx(expected, abs=1e-14)
    monkeypatch.setattr(bounds_module, "_EXACT_WORK", 0)
    assert dp_epsilon(rr, delta) == pytest.approx(expected, abs=2e-12)
    assert tl.measures.privacy_profile(rr, dp_epsilon(rr, delta)) <= float(delta)


def test_dp_epsilon_edges(monkeypatch):
    identity = tl.mechanism.identity(2)
    assert math.isinf(dp_epsilon(identity, "1/2"))
    assert dp_epsilon(identity, 1) == 0
    assert dp_epsilon(tl.Channel([[0.8, 0.2, 0.0], [0.0, 0.0, 1.0]]), 1) == 0  # 0.8 + 0.2 > 1 as stored
    rr = tl.mechanism.randomized_response(3, 1.0)
    assert dp_epsilon(rr, 0) == tl.ldp(rr)
    mixed = tl.Channel([[0.9, 0.1, 0.0], [0.1, 0.9, 0.0], [0.0, 0.0, 1.0]])
    assert math.isinf(dp_epsilon(mixed, 0.2))
    assert dp_epsilon(mixed, 0.2, tl.Prior([0.5, 0.5, 0.0])) == pytest.approx(math.log(7))
    monkeypatch.setattr(bounds_module, "_EXACT_WORK", 0)
    assert math.isinf(dp_epsilon(mixed, 0.2))
    assert dp_epsilon(tl.Channel([[0.5, 0.5], [0.5, 0.5]]), 0.3) == 0


def test_dp_epsilon_falls_with_delta():
    rng = np.random.default_rng(0)
    channel = tl.Channel(rng.dirichlet(np.ones(40), 40))  # large enough for the float path
    found = [dp_epsilon(channel, delta) for delta in (0.01, 0.1, 0.3, 0.6)]
    assert found == sorted(found, reverse=True)
    for delta, epsilon in zip((0.01, 0.1, 0.3, 0.6), found, strict=True):
        assert tl.measures.privacy_profile(channel, epsilon) <= delta
        if epsilon > 0.01:
            assert tl.measures.privacy_profile(channel, epsilon - 1e-9) > delta


def test_bad_input():
    with pytest.raises(tl.errors.InvalidInput, match=r"delta must be in \(0, 1\]"):
        envelope_bounds(EXAMPLE, UNIFORM, 0)
    with pytest.raises(
        tl.errors.InvalidInput, match=r"delta must be in \[0, 1\], got delta=1\.5; it is a probability"
    ):
        dp_epsilon(EXAMPLE, 1.5)
    with pytest.raises(tl.errors.WrongType, match="channel must be a Channel"):
        dp_epsilon([[1]], 0.1)
    with pytest.raises(tl.errors.WrongType, match="prior must be a Prior"):
        envelope_bounds(EXAMPLE, [1], 0.1)
