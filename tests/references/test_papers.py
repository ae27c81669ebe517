"""Where the papers are wrong or need a condition: each row of docs/papers.md that this code covers, as a test."""

import math
from fractions import Fraction

import pytest

import tightlip as tl
from tightlip import papers


@pytest.mark.parametrize("size", [5, 20, 60])
def test_bounded_pmc_does_not_bound_pml_or_ldp_on_countable_alphabets(size):
    """PMC Theorems 5 and 6, 'only if': p_i = 2^−i, K = ½·1{x = y} + ½·p_y. The claim holds for finite alphabets."""
    channel, prior = papers.pmc_countable(size)
    assert set(tl.pmc(channel, prior).ratios) == {Fraction(2)}
    assert tl.pml(channel, prior).worst.ratio == Fraction(2 ** (size - 1) + 1, 2)
    assert tl.ldp(channel).ratio == 2 ** (size - 1) + 1


def test_jensen_is_not_strict_for_maximal_cost_leakage():
    """PMC paper, after (9): 'Jensen's inequality is strict'. 3-RR under a uniform prior gives equality."""
    channel, prior = tl.mechanism.randomized_response(3, tl.log_of(3)), tl.Prior.uniform(3)
    leak = tl.pmc(channel, prior)
    assert set(leak.ratios) == {tl.measures.maximal_cost_leakage(channel).ratio} == {Fraction(5, 3)}
    skewed = tl.Prior(["1/2", "3/10", "1/5"])
    assert tl.pmc(channel, skewed).mean() > tl.measures.maximal_cost_leakage(channel) + 1e-3


def test_uniform_binary_prior_turns_extremal_into_randomised_response():
    """PMC paper, footnote 5 as scanned says ε_r = ε + log 2/(2 − e^ε); it is ε + log 1/(2 − e^ε)."""
    growth = Fraction(3, 2)
    extremal = tl.mechanism.pml_extremal(tl.Prior.uniform(2), tl.log_of(growth))
    lying = tl.mechanism.binary_randomized_response(tl.log_of(growth / (2 - growth)))
    flip = tl.Channel([[0, 1], [1, 0]])
    assert extremal == lying.post_process(flip)
    assert tl.ldp(extremal).ratio == 3
    assert tl.ldp(extremal).ratio != growth * 2 / (2 - growth)


def test_probabilistic_pml_is_not_closed_under_post_processing():
    """ENV Example 1: (log 10/9, 1/10)-probabilistic before merging, not after."""
    prior, level = tl.Prior.uniform(4), tl.log_of("10/9")
    channel = papers.env_example_1()
    merged = channel.post_process(papers.env_example_1_merge())
    assert tl.pml(channel, prior).left_quantile("1/10").ratio == level.ratio
    assert tl.pml(merged, prior).tail(level).fraction == 1
    assert tl.pml(merged, prior).left_quantile("1/10").ratio == Fraction(6, 5)


def test_pml_at_the_edge_of_the_high_privacy_regime_allows_infinite_pmc():
    """PMC Remark 5: at ε = log 1/(1 − p_min) the extremal mechanism rules a secret out."""
    prior = tl.Prior(["1/5", "4/5"])
    channel = tl.mechanism.pml_extremal(prior, tl.log_of("5/4"))
    assert tl.pml(channel, prior).worst.ratio == Fraction(5, 4)
    assert math.isinf(tl.pmc(channel, prior).worst)
    with pytest.raises(tl.errors.PreconditionFailed, match="below log"):
        tl.convert.pml_to_pmc(tl.log_of("5/4"), prior)
