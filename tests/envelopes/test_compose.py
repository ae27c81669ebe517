"""Composition: histograms against brute-force products, and the maximal-leakage bound."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import exact_channels
from tightlip import Channel, Nats, Prior, log_of, maximal_leakage, pml
from tightlip.envelopes import composition as module
from tightlip.envelopes.composition import compose, composition_bound, power
from tightlip.envelopes.histograms import histogram_count, histograms
from tightlip.errors import InvalidInput, ShapeMismatch, WrongType
from tightlip.measures import conditional_maximal_leakage
from tightlip.mechanism import randomized_response


def brute_force(channels):
    """The joint channel by definition: its columns scaled to sum to 1, with their weights."""
    found = {}
    rows = [channel.matrix.tolist() for channel in channels]
    for outcome in product(*(range(channel.shape[1]) for channel in channels)):
        column = [
            math.prod((part[x][y] for part, y in zip(rows, outcome, strict=True)), start=Fraction(1))
            for x in range(len(rows[0]))
        ]
        if any(column):
            key = tuple(entry / sum(column) for entry in column)
            found[key] = found.get(key, 0) + sum(column)
    return found


def as_columns(channel):
    found = {}
    for column in zip(*channel.matrix.tolist(), strict=True):
        found[tuple(entry / sum(column) for entry in column)] = sum(column)
    assert len(found) == channel.shape[1]  # reduced
    return found


@settings(max_examples=60, deadline=None)
@given(exact_channels(inputs=3), exact_channels(inputs=3), exact_channels(inputs=3))
def test_compose_is_the_reduced_product(first, second, third):
    channels = [first, second, third]
    assert as_columns(compose(channels)) == brute_force(channels)


@settings(max_examples=60, deadline=None)
@given(st.one_of(exact_channels(), exact_channels(outputs=3)), st.integers(1, 4))
def test_power_is_the_reduced_product(channel, uses):
    assert as_columns(power(channel, uses)) == brute_force([channel] * uses)


@settings(max_examples=60, deadline=None)
@given(exact_channels(), st.integers(1, 5))
def test_float_powers_are_the_exact_ones_rounded(channel, uses):
    exact = power(channel, uses)
    found = power(Channel(channel.floats), uses)
    assert found.shape == exact.shape
    assert found.outputs == exact.outputs
    assert np.allclose(found.floats, exact.floats, rtol=1e-13, atol=0)


def test_float_powers_are_accurate_and_sum_to_one():
    # rows whose floats sum to 1, so that none is adjusted
    channel = Channel([[0.5, 0.375, 0.125], [0.125, 0.5, 0.375], [0.375, 0.125, 0.5]])
    found = power(channel, 200)
    assert found.shape == (3, 20301)
    assert found.adjustment == 0.0
    for outcome in ((200, 0, 0), (70, 60, 70), (0, 3, 197)):
        place = found.outputs.position(outcome)
        ways = math.factorial(200) // math.prod(math.factorial(times) for times in outcome)
        for row, entries in enumerate(channel.floats.tolist()):
            truth = ways * math.prod(
                Fraction(entry) ** times for entry, times in zip(entries, outcome, strict=True)
            )
            assert abs(Fraction(found.floats[row, place]) / truth - 1) < 8 * 2.0**-53


def test_hundreds_of_uses_in_rationals():
    found = power(randomized_response(2, log_of(3)), 300)
    assert found.shape == (2, 301)
    assert sum(found.matrix[0]) == 1
    assert found.matrix[0, 0] == Fraction(3, 4) ** 300


def test_outcomes_that_say_the_same_merge():
    erasure = Channel([["1/2", "0", "1/2"], ["0", "1/2", "1/2"]])
    for channel in (erasure, Channel(erasure.floats)):
        found = power(channel, 5)
        assert found.shape == (2, 3)
        assert found.floats.tolist()[0] == [31 / 32, 0.0, 1 / 32]
    assert power(Channel([[0.5, 0.5], [0.5, 0.5]]), 7).shape == (2, 1)


def test_histograms_are_all_there():
    found = histograms(5, 4)
    assert len({tuple(row) for row in found.tolist()}) == len(found) == histogram_count(5, 4) == 56
    assert (found.sum(axis=1) == 5).all()
    assert (found >= 0).all()
    assert histograms(7, 1).tolist() == [[7]]


def test_the_leakage_of_the_whole_is_that_of_the_product():
    first, second = randomized_response(3, 1.0), randomized_response(3, 0.5)
    prior = Prior([0.2, 0.3, 0.5])
    whole, reduced = pml(first.product(second), prior), pml(compose([first, second]), prior)
    assert reduced.worst == pytest.approx(whole.worst)
    assert maximal_leakage(power(first, 3)) == pytest.approx(maximal_leakage(compose([first] * 3)))


def test_secrets_are_matched_by_label():
    one = Channel([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["a", "b"])
    two = Channel([["1/4", "3/4"], ["3/4", "1/4"]], inputs=["b", "a"])
    assert compose([one, two]) == compose([one, Channel(one.matrix, inputs=["a", "b"])])
    with pytest.raises(ShapeMismatch, match="inputs of a later channel"):
        compose([one, Channel([[1], [1]], inputs=["a", "c"])])


def test_vanishing_probabilities_are_refused():
    channel = randomized_response(2, 1.0)
    with pytest.raises(InvalidInput, match=r"cannot hold for 2000 uses; make the channel from exact numbers"):
        power(channel, 2000)
    tiny = Channel([[1e-200, 1.0], [0.5, 0.5]])
    with pytest.raises(InvalidInput, match="composed channel must stay above"):
        compose([tiny, tiny])
    assert power(Channel([["1e-200", 1 - Fraction("1e-200")], ["1/2", "1/2"]]), 3).shape == (2, 4)


def test_large_joint_channels_are_refused(monkeypatch):
    with pytest.raises(ShapeMismatch, match="use composition_bound"):
        power(randomized_response(10, 1.0), 100)
    with pytest.raises(ShapeMismatch, match="rational entries"):
        power(randomized_response(3, log_of(2)), 2000)
    monkeypatch.setattr(module, "_MAX_FLOATS", 20)
    with pytest.raises(ShapeMismatch, match="composed channel would have 3 × 9 float entries"):
        compose([randomized_response(3, 1.0)] * 2)


def test_bad_input_is_refused():
    channel = randomized_response(2, 1.0)
    for uses in (0, True, 1.5, "3"):
        with pytest.raises(InvalidInput, match="uses must be a whole number"):
            power(channel, uses)
    with pytest.raises(InvalidInput, match="channels must not be empty"):
        compose([])
    with pytest.raises(WrongType, match="channels must be a list of Channels"):
        compose(channel)
    with pytest.raises(WrongType, match="entry 1 must be a Channel"):
        compose([channel, None])
    with pytest.raises(WrongType, match="must be a list"):
        composition_bound(1.0, 0.5)
    with pytest.raises(InvalidInput, match="must not be empty"):
        composition_bound([], 0.5)
    with pytest.raises(InvalidInput, match="rounded up to bound"):
        composition_bound([Nats(0.5, rounding="down")], 0.5)
    with pytest.raises(InvalidInput, match="leakages entry 1"):
        composition_bound([0.1, math.nan], 0.5)


def test_the_bound_is_above_what_it_bounds():
    first, second = randomized_response(3, log_of(4)), randomized_response(3, log_of(2))
    parts = [maximal_leakage(first), conditional_maximal_leakage(first, second)]
    bound = composition_bound(parts, "1/4")
    assert bound.ratio == 2 * Fraction(3, 2) * 4
    prior = Prior(["1/5", "3/10", "1/2"])
    leak = pml(compose([first, second]), prior)
    assert sum(p for p, v in zip(leak.probabilities, leak.values, strict=True) if v > bound) <= 0.25


def test_the_bound_is_rounded_up():
    mixed = composition_bound([0.1, log_of("3/2"), Nats(0.2)], Fraction(1, 3))
    assert mixed.ratio is None
    assert mixed == pytest.approx(0.3 + math.log(4.5))
    assert composition_bound([0.1, 0.2], 1) >= Fraction(0.1) + Fraction(0.2)
    assert composition_bound([0.0], 1) == 0.0
