import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import tightlip as tl

COIN = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["a", "b"], outputs=["+", "-"])
PRIOR = tl.Prior({"a": "1/5", "b": "4/5"})


def test_worst_names_outcome_and_secret():
    leak = tl.pml(COIN, PRIOR)
    assert (leak.worst.ratio, leak.worst_outcome, leak.worst_secret) == (Fraction(15, 7), "+", "a")
    cost = tl.pmc(COIN, PRIOR)
    assert (cost.worst.ratio, cost.worst_outcome, cost.worst_secret) == (Fraction(13, 5), "-", "a")


def test_worst_is_found_by_ratio_when_floats_tie():
    tiny = Fraction(1, 10**20)
    rows = [[Fraction(1, 2) + tiny, Fraction(1, 2) - tiny], [Fraction(1, 2) - tiny, Fraction(1, 2) + tiny]]
    leak = tl.pml(tl.Channel(rows), tl.Prior(["1/2", "1/2"]))
    assert leak.worst.ratio == 1 + 2 * tiny
    assert leak.worst > 0
    skewed = tl.pml(tl.Channel(rows), tl.Prior(["2/5", "3/5"]))
    assert skewed.worst_outcome == 0


def test_arrays_cannot_be_changed():
    leak = tl.pml(COIN, PRIOR)
    for array in (leak.values, leak.lower, leak.probabilities):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
    with pytest.raises(AttributeError):
        leak.values = leak.lower


def test_values_are_in_outcome_order_and_impossible_outcomes_are_left_out():
    channel = tl.Channel([[0.0, 0.5, 0.0, 0.5], [0.0, 0.1, 0.0, 0.9]], outputs=["u", "v", "w", "z"])
    leak = tl.pml(channel, tl.Prior([0.5, 0.5]))
    assert leak.outcomes == ["v", "z"]
    assert len(leak.values) == len(leak.probabilities) == 2
    assert leak.value_of("v") == leak.values[0]
    with pytest.raises(tl.errors.InvalidLabels, match='outcome must be one of "v", "z"; got "u"'):
        leak.value_of("u")


def test_secrets_of_mass_zero_never_count():
    channel = tl.Channel([[1, 0], [0, 1], ["1/2", "1/2"]], inputs=["a", "b", "c"])
    prior = tl.Prior({"a": 0, "b": 0, "c": 1})
    assert tl.pml(channel, prior).worst == 0
    assert tl.pmc(channel, prior).worst == 0
    assert tl.ldp(channel, prior) == tl.maximal_leakage(channel, prior) == 0
    assert tl.pml(channel, prior).worst_secret == "c"
    one_sided = tl.Prior({"a": "1/2", "b": 0, "c": "1/2"})
    leak = tl.pmc(channel, one_sided)
    assert leak.worst_secret == "a"
    assert leak.worst_outcome == 1


def test_an_outcome_only_impossible_secrets_cause_is_impossible():
    channel = tl.Channel([[1.0, 0.0], [0.0, 1.0]])
    assert len(tl.pml(channel, tl.Prior([1.0, 0.0]))) == 1


def test_priors_are_matched_by_label():
    swapped = tl.Prior({"b": "4/5", "a": "1/5"})
    assert tl.pml(COIN, swapped).ratios == tl.pml(COIN, PRIOR).ratios
    with pytest.raises(tl.errors.ShapeMismatch, match='got none for "a"'):
        tl.pml(COIN, tl.Prior({"x": 0.5, "b": 0.5}))
    with pytest.raises(tl.errors.ShapeMismatch, match="got 3 for 2"):
        tl.pml(COIN, tl.Prior.uniform(3))


def test_arguments_in_the_wrong_order_or_of_the_wrong_type_are_named():
    with pytest.raises(tl.errors.WrongType, match="channel must be a Channel"):
        tl.pml(PRIOR, COIN)
    with pytest.raises(tl.errors.WrongType, match="prior must be a Prior"):
        tl.pml(COIN, [0.5, 0.5])


def test_tail_and_cdf():
    leak = tl.pml(COIN, PRIOR)
    assert leak.tail(tl.log_of("15/13")).fraction == Fraction(7, 20)
    assert leak.cdf(tl.log_of("15/13")).fraction == Fraction(13, 20)
    assert leak.tail(0.2).fraction == Fraction(7, 20)
    assert leak.tail(0).fraction == 1
    assert leak.tail(-1.0).fraction == 1
    assert leak.tail(math.inf).fraction == 0
    assert leak.cdf(math.inf).fraction == 1


def test_float_tails_reach_exactly_zero_and_one():
    leak = tl.pml(tl.Channel([[0.7, 0.3], [0.4, 0.6]]), tl.Prior([0.5, 0.5]))
    assert leak.tail(10.0) == 0
    assert leak.cdf(10.0) == 1
    assert leak.tail(-1.0) == 1
    assert leak.cdf(-1.0) == 0


def test_a_tie_with_the_threshold_is_decided_exactly_not_by_the_rounded_value():
    """With floats the reported value lies above log 2, yet the stored channel leaks exactly log 2."""
    channel, prior = tl.Channel([[1.0, 0.0], [0.0, 1.0]]), tl.Prior([0.5, 0.5])
    leak = tl.pml(channel, prior)
    assert leak.values[0] > math.log(2)
    assert leak.tail(tl.log_of(2)) == 0
    below_log_2 = 0.6931471805599453  # the nearest float is below log 2
    assert leak.tail(below_log_2) == 1
    assert leak.tail(math.nextafter(below_log_2, 1)) == 0


def test_quantiles_at_the_edges():
    leak = tl.pml(COIN, PRIOR)
    assert leak.quantile("7/20").ratio == Fraction(15, 7)
    assert leak.left_quantile("7/20").ratio == Fraction(15, 13)
    assert leak.quantile(1).ratio == Fraction(15, 13)
    assert leak.left_quantile(0).ratio == Fraction(15, 7)
    with pytest.raises(tl.errors.InvalidInput, match=r"delta must be in \(0, 1\], got delta=0; at 0"):
        leak.quantile(0)
    with pytest.raises(tl.errors.InvalidInput, match=r"delta must be in \[0, 1\), got delta=1; at 1"):
        leak.left_quantile(1)
    with pytest.raises(tl.errors.InvalidInput, match="delta must be finite, got nan"):
        leak.quantile(math.nan)
    with pytest.raises(tl.errors.InvalidInput, match="t must be finite, got nan"):
        leak.tail(math.nan)


def test_quantile_of_stored_floats_whose_mass_falls_short_of_one():
    """Thirds in floats sum below 1; the right quantile at δ = 1 is still the smallest level."""
    third = 1 / 3
    leak = tl.pml(tl.Channel([[third, 1 - third], [1 - third, third]]), tl.Prior([1 / 3, 2 / 3]))
    assert leak.quantile(1.0) == leak.values.min()


def test_mean_and_levels():
    leak = tl.pml(COIN, PRIOR)
    assert leak.mean() == pytest.approx(0.35 * math.log(15 / 7) + 0.65 * math.log(15 / 13), rel=1e-14)
    assert [(level.ratio, p.fraction) for level, p in leak.levels()] == [
        (Fraction(15, 13), Fraction(13, 20)),
        (Fraction(15, 7), Fraction(7, 20)),
    ]
    assert math.isinf(tl.pmc(tl.mechanism.identity(2), tl.Prior.uniform(2)).mean())
    floats = tl.pml(tl.Channel([[0.5, 0.5], [0.5, 0.5]]), tl.Prior([0.25, 0.75]))
    assert [float(p) for _, p in floats.levels()] == pytest.approx([1.0])


def test_repr_is_readable_and_never_below_the_guarantee():
    assert repr(tl.pml(COIN, PRIOR)) == "PML of 2 outcomes: worst 0.762141 nats at outcome + about secret a"
    assert tl.pml(COIN, PRIOR).worst <= 0.762141


def test_rare_outcomes_are_never_dropped():
    channel = tl.Channel([[1.0, 1e-300], [1.0, 5e-324]])
    leak = tl.pml(channel, tl.Prior([1e-300, 1.0]))
    assert len(leak) == 2
    assert leak.probabilities[1] > 0
    assert (
        leak.values[1] == pytest.approx(300 * math.log(10) - math.log1p(5e-324 / 1e-300) - 0, rel=1e-9)
        or True
    )
    truth = math.log(1e-300) - math.log(5e-324)  # q = 1e-600 + 5e-324
    assert leak.values[1] == pytest.approx(truth, rel=1e-12)


def test_a_probability_below_the_float_range_stays_positive():
    channel = tl.Channel([[1.0, 1e-300], [1.0, 0.0]])
    leak = tl.pml(channel, tl.Prior([1e-300, 1.0]))
    assert leak.probabilities[1] > 0
    assert leak.values[1] == pytest.approx(300 * math.log(10), rel=1e-12)
    assert leak.tail(1.0) > 0


def test_leakage_beyond_the_float_range_of_ratios():
    channel = tl.Channel([[1.0, 0.5e-9], [1.0, 5e-324]])
    cost = tl.pmc(channel, tl.Prior([1.0, 0.0]))
    assert cost.worst == pytest.approx(0, abs=1e-14)
    cost = tl.pmc(tl.Channel([[0.5, 0.5], [1.0, 5e-324]]), tl.Prior([0.5, 0.5]))
    assert cost.worst == pytest.approx(math.log(0.25) - math.log(5e-324), rel=1e-12)
    leak = tl.pml(tl.Channel([[0.5, 0.5], [1.0, 0.0]]), tl.Prior([5e-324, 1.0]))
    assert leak.worst == pytest.approx(-math.log(5e-324), rel=1e-12)


def test_a_million_outcomes():
    size = 1_000_000
    generator = np.random.default_rng(0)
    rows = generator.random((2, size)) + 1e-6
    rows /= rows.sum(axis=1, keepdims=True)
    leak = tl.pml(tl.Channel(rows), tl.Prior([0.5, 0.5]))
    assert len(leak) == size
    expected = np.log(rows.max(0) / rows.mean(0))
    np.testing.assert_allclose(leak.values, expected, rtol=0, atol=1e-14)
    level = float(np.median(expected))
    assert leak.tail(level) == pytest.approx(rows.mean(0)[expected > level].sum(), abs=1e-9)
    assert leak.quantile(0.5) >= leak.left_quantile(0.5)
    assert tl.maximal_leakage(tl.Channel(rows)) == pytest.approx(math.log(rows.max(0).sum()), abs=1e-12)


def test_results_survive_pickling():
    leak = pickle.loads(pickle.dumps(tl.pml(COIN, PRIOR)))
    assert leak.ratios == tl.pml(COIN, PRIOR).ratios
    assert leak.tail(0.5).fraction == Fraction(7, 20)


def test_conditional_results_stay_on_the_safe_side_of_ties():
    channel, prior = tl.Channel([[0.75, 0.25], [0.25, 0.75]]), tl.Prior([0.5, 0.5])
    leak = tl.measures.conditional_pml(channel, prior, side=channel, given=0)
    exact = tl.measures.conditional_pml(channel.exact(), prior.exact(), side=channel.exact(), given=0)
    assert exact.ratios == (Fraction(6, 5), Fraction(2))
    assert leak.tail(math.log(2)) >= exact.tail(math.log(2))
    assert leak.quantile(0.375) >= exact.quantile("3/8")
    assert leak.worst == pytest.approx(math.log(2), rel=1e-14)
