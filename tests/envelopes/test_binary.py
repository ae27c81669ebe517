"""The binary envelope against its definition: brute force over events in rationals, the paper's numbers, rounding."""

import math
import random
from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import tightlip as tl
from exact_oracle import at_least_log, at_most_log, event, log, marginal, masses_of, rows_of, supported
from strategies import exact_pairs, float_pairs
from tightlip import papers
from tightlip.envelopes.binary import binary_envelope, binary_envelope_curve
from tightlip.envelopes.kary import kary_attack

EXAMPLE, UNIFORM = papers.env_example_1(), tl.Prior.uniform(4)
deltas = st.one_of(st.fractions(Fraction(1, 40), 1, max_denominator=40), st.floats(1e-12, 1))


def kappa(rows, masses, delta):
    """e^ε_b: for each secret every order of outcomes is tried, so sorting is not assumed."""
    rows, masses = supported(rows, masses)
    q = marginal(rows, masses)
    places = [y for y in range(len(q)) if q[y]]
    delta = min(Fraction(delta), sum(q))
    best = Fraction(0)
    for order in permutations(places):
        left, gains = delta, [Fraction(0)] * len(rows)
        for y in order:
            share = min(Fraction(1), left / q[y])
            left -= share * q[y]
            gains = [gain + share * row[y] for gain, row in zip(gains, rows, strict=True)]
        best = max(best, max(gains) / delta)
    return best


def assert_sound(envelope, channel, prior, ratio):
    assert envelope.lower == 0 or at_most_log(envelope.lower, ratio)
    assert at_least_log(envelope.upper, ratio) or ratio < 1
    if envelope.attack is None:
        return
    weights = [
        Fraction(one) / (Fraction(one) + Fraction(two)) for one, two in envelope.attack.matrix.tolist()
    ]
    rows, masses = rows_of(channel), masses_of(prior)
    q = marginal(*supported(rows, masses))
    mass = sum(w * p for w, p in zip(weights, q, strict=True))
    assert mass >= min(envelope.delta, sum(q))
    assert envelope.lower == 0 or at_most_log(envelope.lower, event(rows, masses, weights))


@given(exact_pairs(), st.fractions(Fraction(1, 40), 1, max_denominator=40))
@settings(max_examples=80, deadline=None)
def test_exact_input_gives_neighbouring_floats(pair, delta):
    channel, prior = pair
    found = binary_envelope(channel, prior, delta)
    ratio = kappa(rows_of(channel), masses_of(prior), delta)
    assert_sound(found, channel, prior, ratio)
    assert found.gap <= 2 * math.ulp(found.upper)
    assert event(rows_of(channel), masses_of(prior), [row[0] for row in found.attack.matrix]) == ratio


@given(float_pairs(), deltas)
@settings(max_examples=80, deadline=None)
def test_floats_bracket_the_stored_numbers(pair, delta):
    channel, prior = pair
    found = binary_envelope(channel, prior, delta)
    assert_sound(found, channel, prior, kappa(rows_of(channel), masses_of(prior), delta))


@given(float_pairs(), deltas)
@settings(max_examples=40, deadline=None)
def test_sparse_and_curve_are_sound_too(pair, delta):
    channel, prior = pair
    ratio = kappa(rows_of(channel), masses_of(prior), delta)
    sparse = tl.Channel(csr_array(channel.matrix))
    for found in (binary_envelope(sparse, prior, delta), *binary_envelope_curve(sparse, prior, [delta])):
        assert_sound(found, channel, prior, ratio)
    assert_sound(binary_envelope_curve(channel, prior, [delta])[0], channel, prior, ratio)


@given(exact_pairs(), st.lists(st.fractions(Fraction(1, 20), 1, max_denominator=20), min_size=2, max_size=4))
@settings(max_examples=50, deadline=None)
def test_falls_with_delta_and_the_curve_agrees(pair, levels):
    channel, prior = pair
    curve = binary_envelope_curve(channel, prior, sorted(levels))
    assert all(one.upper >= two.upper for one, two in pairwise(curve))
    for point in curve:
        alone = binary_envelope(channel, prior, point.delta)
        assert (point.lower, point.upper) == (alone.lower, alone.upper)
        assert point.upper <= tl.pml(channel, prior).worst
        assert point.attack is None


def test_random_events_never_do_better():
    rng = random.Random(0)
    channel = tl.Channel([["1/2", "1/4", "1/8", "1/8"], ["1/8", "1/2", "1/4", "1/8"], ["1/4"] * 4])
    prior = tl.Prior(["1/6", "1/3", "1/2"])
    rows, masses = rows_of(channel), masses_of(prior)
    q = marginal(rows, masses)
    for _ in range(300):
        weights = [Fraction(rng.randint(0, 6), 6) for _ in q]
        mass = sum(w * p for w, p in zip(weights, q, strict=True))
        if mass:
            bound = binary_envelope(channel, prior, mass).upper
            assert at_least_log(bound, event(rows, masses, weights))


def test_reference_values():
    rr, prior = tl.mechanism.randomized_response(3, 1.0), tl.Prior([0.2, 0.3, 0.5])
    found = binary_envelope(rr, prior, 0.4)
    assert found.lower == pytest.approx(0.4888063724, abs=1e-10)
    assert found.gap < 1e-13
    assert found.adversary == "binary"
    at_fifth = binary_envelope(EXAMPLE, UNIFORM, "1/5")
    assert at_fifth.upper == pytest.approx(math.log(5 / 3), abs=1e-15)


@pytest.mark.parametrize("size", [2, 3, 5, 8])
def test_closed_form_for_randomized_response(size):
    """Above q_1: log (α + (N−2+θ)β)/δ, N and θ from filling the outcomes in ascending order."""
    rng = np.random.default_rng(size)
    masses = rng.dirichlet(np.ones(size))
    rr = tl.mechanism.randomized_response(size, 1.3)
    alpha, beta = rr.matrix[0, 0], rr.matrix[0, 1]
    q = np.sort(beta + (alpha - beta) * masses)
    for delta in np.linspace(q[0] + 1e-3, 0.999, 7):
        whole = int(np.searchsorted(np.cumsum(q), delta))  # N − 1
        theta = (delta - q[:whole].sum()) / q[whole]
        expected = math.log((alpha + (whole - 1 + theta) * beta) / delta)
        assert binary_envelope(rr, tl.Prior(masses), delta).upper == pytest.approx(expected, abs=1e-12)
    assert binary_envelope(rr, tl.Prior(masses), q[0] / 2).upper == pytest.approx(math.log(alpha / q[0]))


def test_above_one_half_both_cells_of_a_binary_map_may_be_bad():
    """The identity on two secrets at δ = 9/10: each cell leaks log 2, but an event of mass 9/10 only log 10/9."""
    identity, prior = tl.mechanism.identity(2), tl.Prior.uniform(2)
    assert binary_envelope(identity, prior, "9/10").upper == pytest.approx(math.log(10 / 9), abs=1e-15)
    assert tl.pml(identity, prior).quantile("9/10").ratio == 2
    both = kary_attack(identity, prior, "9/10", 2)
    assert both.lower == pytest.approx(math.log(2), abs=1e-9)
    assert both.adversary == "k-ary"


@given(exact_pairs(), st.fractions(Fraction(1, 20), Fraction(1, 2), max_denominator=20))
@settings(max_examples=15, deadline=None)
def test_up_to_one_half_binary_maps_and_events_agree(pair, delta):
    channel, prior = pair
    event_form, map_form = binary_envelope(channel, prior, delta), kary_attack(channel, prior, delta, 2)
    assert map_form.lower <= event_form.upper <= map_form.upper + 1e-7
    assert map_form.lower == pytest.approx(event_form.lower, abs=1e-7)


def test_extremes():
    prior = tl.Prior([0.25, 0.75])
    constant = tl.Channel([[0.5, 0.5], [0.5, 0.5]])
    assert binary_envelope(constant, prior, 0.3).upper < 1e-14
    one = tl.Channel([[1.0], [1.0]])
    assert binary_envelope(one, prior, 1).lower == 0.0
    assert binary_envelope(one, prior, 1e-300).upper < 1e-14
    identity = tl.Channel([[1.0, 0.0], [0.0, 1.0]])
    tiny = binary_envelope(identity, prior, 1e-200)
    assert tiny.lower == pytest.approx(math.log(4))
    assert binary_envelope(tl.Channel([[1, 0], [0, 1]]), tl.Prior([1, 0]), "1/3").upper == 0


def test_rare_outcomes_are_not_dropped():
    rows = np.array([[1e-200, 0.5, 0.5], [0.0, 0.5, 0.5]])
    channel, prior = tl.Channel(rows), tl.Prior([0.001, 0.999])
    found = binary_envelope(channel, prior, 1e-203)
    assert found.lower == pytest.approx(math.log(1000), rel=1e-9)
    wider = binary_envelope(channel, prior, 2e-203)
    assert wider.lower == pytest.approx(log(kappa(rows_of(channel), masses_of(prior), 2e-203)), rel=1e-9)


def test_labels_zero_columns_and_unknown_secrets():
    channel = tl.Channel([[0.0, 0.5, 0.5], [0.0, 0.1, 0.9], [1.0, 0.0, 0.0]], list("abc"), list("uvw"))
    prior = tl.Prior({"b": 0.5, "c": 0.0, "a": 0.5})
    found = binary_envelope(channel, prior, 0.3)
    assert found.attack.inputs == ["u", "v", "w"]
    assert found.attack.matrix[0].tolist() == [0.0, 1.0]
    assert channel.post_process(found.attack).outputs == ["a", "rest"]
    assert found.lower == pytest.approx(math.log(0.5 / 0.3))


def test_blocks_and_running_sums(monkeypatch):
    rng = np.random.default_rng(2)
    matrix = rng.dirichlet(np.full(300, 0.2), 40)
    channel, prior = tl.Channel(matrix), tl.Prior(rng.dirichlet(np.ones(40)))
    whole = binary_envelope_curve(channel, prior, [0.01, 0.2, 0.7])
    monkeypatch.setattr("tightlip.envelopes.binary._BLOCK", 900)
    parts = binary_envelope_curve(channel, prior, [0.01, 0.2, 0.7])
    assert [point.upper for point in whole] == [point.upper for point in parts]
    assert max(point.gap for point in whole) < 1e-12
    thin = matrix * (matrix > 1e-3)
    thin /= thin.sum(axis=1, keepdims=True)
    dense_form = binary_envelope_curve(tl.Channel(thin), prior, [0.05, 0.5])
    sparse_form = binary_envelope_curve(tl.Channel(csr_array(thin)), prior, [0.05, 0.5])
    for one, two in zip(dense_form, sparse_form, strict=True):
        assert one.upper == pytest.approx(two.upper, abs=1e-12)
        assert one.lower == pytest.approx(two.lower, abs=1e-12)


def test_lifts_beyond_floats_are_still_bounded():
    """A lift of 1e310 is no float: the upper end is then the worst outcome's, whose logarithm is."""
    found = binary_envelope(tl.Channel([[1.0, 0.0], [0.0, 1.0]]), tl.Prior([1e-310, 1.0]), 1e-312)
    assert found.upper == pytest.approx(310 * math.log(10), rel=1e-9)
    assert found.lower <= found.upper


@pytest.mark.parametrize(
    ("delta", "message"),
    [
        (0, "delta must be in (0, 1], got delta=0"),
        (1.5, "got delta=1.5"),
        ("x", "delta must be a finite number"),
        pytest.param(10**5000, "delta must be in (0, 1]", id="thousands of digits"),
    ],
)
def test_bad_delta(delta, message):
    with pytest.raises(tl.errors.InvalidInput) as caught:
        binary_envelope(EXAMPLE, UNIFORM, delta)
    assert message in str(caught.value)
    with pytest.raises(tl.errors.InvalidInput):
        binary_envelope_curve(EXAMPLE, UNIFORM, [delta])


def test_a_tiny_delta_is_not_shown_as_zero():
    assert "delta=1e-400, " in repr(binary_envelope(EXAMPLE, UNIFORM, "1e-400"))
    assert "delta=1e-400, " in repr(tl.envelopes.bounds(EXAMPLE, UNIFORM, "1e-400"))


def test_bad_arguments():
    with pytest.raises(tl.errors.WrongType, match="channel must be a Channel"):
        binary_envelope([[1]], UNIFORM, 0.1)
    with pytest.raises(tl.errors.WrongType, match="prior must be a Prior"):
        binary_envelope(EXAMPLE, [0.25] * 4, 0.1)
    with pytest.raises(
        tl.errors.WrongType, match=r"deltas must be a list of probabilities, got 0\.1 of type float; write"
    ):
        binary_envelope_curve(EXAMPLE, UNIFORM, 0.1)
    with pytest.raises(tl.errors.WrongType, match="deltas must be a list"):
        binary_envelope_curve(EXAMPLE, UNIFORM, "0.1")
    with pytest.raises(tl.errors.InvalidInput, match="at least one probability, got none"):
        binary_envelope_curve(EXAMPLE, UNIFORM, [])
