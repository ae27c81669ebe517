"""PMC Theorem 2: a cost and its randomised function leak the same, in rationals."""

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tightlip as tl
from strategies import exact_pairs
from tightlip.measures import cost_leakage, function_cost_leakage
from tightlip.papers import theorem2_function


@settings(max_examples=150, deadline=None)
@given(exact_pairs(), st.data())
def test_the_function_leaks_what_the_cost_leaks(pair, data):
    channel, prior = pair
    guesses = data.draw(st.integers(1, 4))
    row = st.lists(st.fractions(0, 5, max_denominator=9), min_size=guesses, max_size=guesses)
    cost = [data.draw(row) for _ in prior.labels]
    expected = [sum(p * row[w] for p, row in zip(prior.masses, cost, strict=True)) for w in range(guesses)]
    assume(min(expected) > 0)
    wanted = cost_leakage(channel, prior, cost)
    for outcome, ratio in zip(wanted.outcomes, wanted.ratios, strict=True):
        function = theorem2_function(channel, prior, cost, outcome)
        assert function.shape == (channel.shape[0], 2)
        assert function_cost_leakage(channel, prior, function).value_of(outcome).ratio == ratio


def test_one_guess_gives_the_cost_back_up_to_scale():
    channel = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    function = theorem2_function(channel, tl.Prior(["1/5", "4/5"]), [[4], [1]], 0)
    assert function.matrix[:, 1].tolist() == [Fraction(1, 2), Fraction(1, 8)]


def test_floats_count_as_what_they_store():
    channel, prior = tl.Channel([[0.75, 0.25], [0.1, 0.9]]), tl.Prior([0.3, 0.7])
    cost = [[0.0, 1.0], [2.0, 0.5]]
    function = theorem2_function(channel, prior, cost, 1)
    found = function_cost_leakage(channel, prior, function).value_of(1)
    assert found == pytest.approx(cost_leakage(channel, prior, cost).value_of(1), abs=1e-13)
