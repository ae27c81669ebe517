"""Interval adversaries of finite channels, against every partition into runs of consecutive outcomes."""

import math
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats

import tightlip as tl
from exact_oracle import at_least_log, at_most_log, masses_of, rows_of
from strategies import exact_pairs, float_pairs
from tightlip import papers
from tightlip.envelopes.adversaries import envelope
from tightlip.envelopes.deterministic import deterministic_attack
from tightlip.noise.monotone import interval_envelope

levels = st.fractions(Fraction(1, 20), 1, max_denominator=20)


def quantile(rows, masses, cuts, delta):
    """The right quantile of the leakage of the cells between the cuts, as a ratio."""
    found = []
    for start, end in pairwise(cuts):
        likelihoods = [sum(row[start:end]) for row, p in zip(rows, masses, strict=True) if p]
        mass = sum(sum(row[start:end]) * p for row, p in zip(rows, masses, strict=True))
        if mass:
            found.append((max(likelihoods) / mass, mass))
    wanted, total = min(Fraction(delta), sum(mass for _, mass in found)), Fraction(0)
    for ratio, mass in sorted(found, reverse=True):
        total += mass
        if total >= wanted:
            return ratio
    raise AssertionError("the cells do not make up everything")


def best_of_all(channel, prior, delta):
    rows, masses, size = rows_of(channel), masses_of(prior), channel.shape[1]
    return max(
        quantile(rows, masses, (0, *inner, size), delta)
        for count in range(size)
        for inner in combinations(range(1, size), count)
    )


@given(st.one_of(exact_pairs(), exact_pairs(outputs=8, inputs=3)), levels)
@settings(max_examples=80, deadline=None)
def test_every_partition_into_runs(pair, delta):
    channel, prior = pair
    found = tl.envelope(channel, prior, delta, adversary="ordered")
    truth = best_of_all(channel, prior, delta)
    proof = found.certificate
    assert proof.lower.ratio == proof.upper.ratio == truth
    assert quantile(rows_of(channel), masses_of(prior), proof.lower.cuts, delta) == truth
    assert at_most_log(found.lower, truth)
    assert at_least_log(found.upper, truth)
    assert found.adversary == "ordered"
    found.verify()


@given(float_pairs(), st.one_of(levels, st.floats(1e-9, 1)))
@settings(max_examples=60, deadline=None)
def test_the_stored_floats_are_meant_exactly(pair, delta):
    channel, prior = pair
    found = tl.envelope(channel, prior, delta, adversary="ordered")
    truth = best_of_all(channel, prior, delta)
    assert found.certificate.lower.ratio <= truth <= found.certificate.upper.ratio
    assert found.certificate.upper.ratio - found.certificate.lower.ratio <= Fraction(1, 2**79)
    found.verify()


@given(exact_pairs(), levels)
@settings(max_examples=15, deadline=None)
def test_between_its_neighbours(pair, delta):
    channel, prior = pair
    found = tl.envelope(channel, prior, delta, adversary="ordered")
    assert found.lower <= deterministic_attack(channel, prior, delta).upper
    assert found.lower <= envelope(channel, prior, delta).upper
    assert tl.pml(channel, prior).quantile(delta) <= found.upper
    merged = channel.post_process(found.attack)
    assert tl.pml(merged, prior).quantile(delta) >= found.lower


@given(exact_pairs(outputs=2), levels)
@settings(max_examples=30, deadline=None)
def test_of_two_outcomes_every_function_is_monotone(pair, delta):
    channel, prior = pair
    found = tl.envelope(channel, prior, delta, adversary="ordered")
    other = deterministic_attack(channel, prior, delta)
    assert (found.lower, found.upper) == (other.lower, other.upper)


def test_a_curve_falls_and_has_the_same_points():
    rng = np.random.default_rng(3)
    channel, prior = tl.Channel(rng.dirichlet(np.full(40, 0.5), 6)), tl.Prior(rng.dirichlet(np.full(6, 3.0)))
    deltas = [k / 20 for k in range(1, 21)]
    curve = tl.envelope_curve(channel, prior, deltas, adversary="ordered")
    assert [point.upper for point in curve] == sorted((point.upper for point in curve), reverse=True)
    for place in (0, 7, 19):
        alone = tl.envelope(channel, prior, deltas[place], adversary="ordered")
        assert (alone.lower, alone.upper) == (curve[place].lower, curve[place].upper)
    assert curve[0].upper > curve[-1].upper + 0.5


def test_the_order_of_outcomes_matters():
    """In ENV Example 1 the best cells are {1, 3} and {2, 4}; an ordered adversary needs them to be neighbours."""
    listed, prior = papers.env_example_1(), tl.Prior.uniform(4)
    turned = tl.Channel([[row[place] for place in (0, 2, 1, 3)] for row in listed.matrix.tolist()])
    ratios = [
        tl.envelope(channel, prior, 1, adversary="ordered").certificate.upper.ratio
        for channel in (listed, turned)
    ]
    assert ratios == [Fraction(10, 9), Fraction(6, 5)]


def test_impossible_outcomes_and_secrets():
    channel = tl.Channel(
        [[0, "1/2", 0, "1/2", 0], [0, "1/4", 0, "3/4", 0], [1, 0, 0, 0, 0]], list("abc"), list("uvwxy")
    )
    prior = tl.Prior({"a": "1/2", "b": "1/2", "c": 0})
    found = tl.envelope(channel, prior, "3/8", adversary="ordered")
    assert found.certificate.upper.ratio == Fraction(4, 3)
    assert found.attack.inputs == list("uvwxy")
    assert found.attack.matrix.sum() == 5
    assert all(place in (0, 1, None) for place in found.certificate.lower.suspects)
    runs = found.attack.matrix.argmax(axis=1)
    assert (np.diff(runs) >= 0).all()


def test_sparse_mixed_and_labelled_priors():
    dense = np.array([[0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0.5, 0.5]])
    prior = tl.Prior(["1/2", "1/4", "1/4"])
    ends = {
        tl.envelope(tl.Channel(rows), prior, "1/3", adversary="ordered").certificate.upper.ratio
        for rows in (dense, sparse.csr_array(dense), [[Fraction(entry) for entry in row] for row in dense])
    }
    assert ends == {best_of_all(tl.Channel(dense), prior, "1/3")}
    named = tl.Channel(dense, inputs=["a", "b", "c"])
    turned = tl.Prior({"c": "1/4", "b": "1/4", "a": "1/2"})
    assert tl.envelope(named, turned, "1/3", adversary="ordered").certificate.upper.ratio in ends


def test_nearly_equal_ratios_are_told_apart():
    rng = np.random.default_rng(0)
    rows = np.tile(rng.dirichlet(np.full(9, 0.5)), (4, 1)) * (1 + rng.integers(-3, 4, (4, 9)) * 2.0**-52)
    channel, prior = tl.Channel(rows / rows.sum(axis=1, keepdims=True)), tl.Prior.uniform(4)
    for delta in ("0.05", "0.3", "0.8", "1"):
        found = tl.envelope(channel, prior, delta, adversary="ordered").certificate
        assert found.lower.ratio <= best_of_all(channel, prior, delta) <= found.upper.ratio
        assert found.upper.ratio - found.lower.ratio <= Fraction(1, 2**79)


def test_a_wrong_guess_costs_time_only(monkeypatch):
    rng = np.random.default_rng(5)
    channel, prior = tl.Channel(rng.dirichlet(np.full(8, 0.5), 3)), tl.Prior.uniform(3)
    truth = best_of_all(channel, prior, "0.4")
    for level in (0.5, 1.5, 1e6):
        monkeypatch.setattr("tightlip.envelopes.ordered._Guess.level", lambda *_, level=level: level)
        found = tl.envelope(channel, prior, "0.4", adversary="ordered").certificate
        assert found.lower.ratio <= truth <= found.upper.ratio
        assert found.upper.ratio - found.lower.ratio <= Fraction(1, 2**79)


@pytest.mark.parametrize("sigma", [1.0, 3.0])
@pytest.mark.parametrize("delta", [0.3, 0.8])
def test_a_fine_grid_comes_near_the_continuous_envelope(sigma, delta):
    """A noisy Gaussian cut finely: cells of the grid are intervals, so the continuous value is nearly reached."""
    places = np.linspace(-5 * sigma, 5 * sigma, 161)
    edges = np.linspace(-6 * math.hypot(sigma, 1), 6 * math.hypot(sigma, 1), 401)
    rows = np.diff(stats.norm.cdf(edges, loc=places[:, None]), axis=1)
    masses = stats.norm.pdf(places, scale=sigma)
    channel = tl.Channel(rows / rows.sum(axis=1, keepdims=True))
    found = tl.envelope(channel, tl.Prior(masses / masses.sum()), delta, adversary="ordered")
    truth = interval_envelope(
        tl.noise.AdditiveNoise(tl.noise.GaussianSecret(sigma), tl.noise.Gaussian(1)), delta
    )
    assert truth.upper - 0.08 < found.upper < truth.upper + 0.01


def test_telling_the_draw_does_not_help_but_hiding_it_does():
    identity, prior = tl.mechanism.identity(2), tl.Prior(["1/5", "4/5"])
    assert tl.envelope(identity, prior, "1/2", adversary="ordered").certificate.upper.ratio == Fraction(5, 4)
    threshold = tl.Channel([[1, 0], ["3/8", "5/8"]])  # a threshold that moves at random
    assert tl.pml(identity.post_process(threshold), prior).quantile("1/2").ratio == 2


def test_too_large_or_too_long(monkeypatch):
    wide = tl.Channel(sparse.csr_array(np.full((1, 5001), 1 / 5001)))
    with pytest.raises(
        tl.errors.InvalidInput, match=r"at most 5.000 outcomes for an ordered adversary, got 5.001"
    ):
        tl.envelope(wide, tl.Prior.uniform(1), "0.1", adversary="ordered")
    monkeypatch.setattr("tightlip.envelopes.ordered._MOST_WORK", 2000 * 4 * 3)
    with pytest.raises(tl.errors.InvalidInput, match="at most 3 secrets where it has 4 outcomes, got 4"):
        tl.envelope(papers.env_example_1(), tl.Prior.uniform(4), "0.1", adversary="ordered")
    monkeypatch.undo()
    monkeypatch.setattr("tightlip.certificate.ordered._MOST_BITS", 40)
    with pytest.raises(tl.errors.InvalidInput, match="give the numbers as floats"):
        tl.envelope(papers.env_example_1(), tl.Prior.uniform(4), "0.1", adversary="ordered")


def test_bad_requests():
    example, uniform = papers.env_example_1(), tl.Prior.uniform(4)
    with pytest.raises(tl.errors.InvalidInput, match="delta must be in"):
        tl.envelope(example, uniform, 0, adversary="ordered")
    for wrong in ("0.1", 0.1):
        with pytest.raises(tl.errors.WrongType, match="deltas must be a list"):
            tl.envelope_curve(example, uniform, wrong, adversary="ordered")
    with pytest.raises(tl.errors.InvalidInput, match="at least one probability"):
        tl.envelope_curve(example, uniform, [], adversary="ordered")
    with pytest.raises(tl.errors.WrongType, match="channel must be a Channel"):
        tl.envelope([[1]], uniform, "0.1", adversary="ordered")
    with pytest.raises(tl.errors.WrongType, match="prior must be a Prior"):
        tl.envelope(example, [1], "0.1", adversary="ordered")
