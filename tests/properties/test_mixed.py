"""One of channel and prior exact, the other in floats: the guarantee is about the numbers as given."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exact_oracle as oracle
import tightlip as tl
from strategies import exact_pairs

GAP = Fraction(1, 10**13)


def mixed(channel, prior, exact_prior):
    """The pair with one side turned into floats; and the rationals that are then meant."""
    if exact_prior:
        channel = tl.Channel(channel.floats, channel.inputs, channel.outputs)
    else:
        prior = tl.Prior(prior.floats, prior.labels)
    return channel, prior, *oracle.supported(oracle.rows_of(channel), oracle.masses_of(prior))


@settings(max_examples=150, deadline=None)
@given(exact_pairs(), st.booleans(), st.fractions(Fraction(1, 40), Fraction(39, 40), max_denominator=40))
def test_quantiles_and_tails_of_mixed_input(pair, exact_prior, delta):
    channel, prior, rows, masses = mixed(*pair, exact_prior)
    q = [mass for mass in oracle.marginal(rows, masses) if mass]
    for leak, ratios in (
        (tl.pml(channel, prior), oracle.pml(rows, masses)),
        (tl.pmc(channel, prior), oracle.pmc(rows, masses)),
    ):
        for value, ratio in zip(leak.values, ratios, strict=True):
            assert oracle.at_least_log(float(value), ratio if ratio is None else max(ratio, 1))
        for level in (tl.log_of("10/9"), tl.log_of(2), tl.log_of(1)):
            above = sum(m for m, r in zip(q, ratios, strict=True) if r is None or r > level.ratio)
            assert min(above, 1) <= Fraction(float(leak.tail(level))) <= above + GAP
        right, left = float(leak.quantile(delta)), float(leak.left_quantile(delta))
        assert _above(right, q, ratios) < delta  # what lies above the right quantile has less than δ
        assert _above(left, q, ratios) <= delta


def _above(level, q, ratios):
    return sum((m for m, r in zip(q, ratios, strict=True) if not oracle.at_least_log(level, r)), Fraction(0))


def test_the_uniform_prior_is_exact_and_decides_ties_exactly():
    """Three of thirty secrets: their outcome has probability exactly 1/10, although 30 floats of 1/30 say otherwise."""
    channel = tl.Channel([[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 27)
    assert tl.pml(channel, tl.Prior.uniform(30)).quantile("0.1") == pytest.approx(math.log(10))
    channel = tl.Channel([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    assert tl.pml(channel, tl.Prior.uniform(3)).left_quantile(1 / 3) == pytest.approx(math.log(3))


def test_exact_numbers_that_floats_would_blur_are_refused_when_mixed():
    tiny = Fraction(3, 4) / 2**1074
    with pytest.raises(tl.errors.InvalidInput, match="too small for a float"):
        tl.pml(tl.Channel([[1.0, 0.0], [0.0, 1.0]]), tl.Prior([1 - tiny, tiny]))
    unit = Fraction(1, 2**1074)
    blurred = tl.Channel([[unit * 5 / 4, 1 - unit * 5 / 4], [unit * 3 / 4, 1 - unit * 3 / 4]])
    with pytest.raises(tl.errors.InvalidInput, match="too small for a float"):
        tl.pml(blurred, tl.Prior([0.5, 0.5]))
    assert tl.pml(blurred, tl.Prior(["1/2", "1/2"])).ratios[0] == Fraction(5, 4)
    kept = tl.Channel([[unit, 1 - unit], [3 * unit, 1 - 3 * unit]])  # floats hold these exactly
    assert tl.pml(kept, tl.Prior([0.5, 0.5])).values[0] == pytest.approx(math.log(1.5))
