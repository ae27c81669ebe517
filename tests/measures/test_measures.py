"""Edges and messages of the measures; their values are in tests/properties and tests/references."""

import math
from fractions import Fraction

import numpy as np
import pytest

import tightlip as tl
from tightlip import papers

COIN = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["a", "b"], outputs=["+", "-"])
PRIOR = tl.Prior({"a": "1/5", "b": "4/5"})
FLOAT_COIN = tl.Channel([[0.75, 0.25], [0.25, 0.75]], inputs=["a", "b"], outputs=["+", "-"])


class TestInformationDensity:
    def test_pml_is_its_maximum_and_pmc_minus_its_minimum(self):
        density = tl.information_density(FLOAT_COIN, PRIOR)
        values = np.asarray(density)
        np.testing.assert_allclose(values.max(0), tl.pml(FLOAT_COIN, PRIOR).values, rtol=1e-13)
        np.testing.assert_allclose(-values.min(0), tl.pmc(FLOAT_COIN, PRIOR).values, rtol=1e-13)
        assert density.at("a", "+") == pytest.approx(math.log(15 / 7))
        assert repr(density) == "InformationDensity(2 secrets × 2 outcomes, nats)"

    def test_zeros_are_minus_infinity_and_impossible_rows_are_absent(self):
        channel = tl.Channel([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], inputs=["a", "b", "c"])
        density = tl.information_density(channel, tl.Prior([0.5, 0.5, 0.0]))
        assert density.secrets == ["a", "b"]
        assert density.outcomes == [0, 1]
        assert density.values[0, 1] == -math.inf
        exact = tl.information_density(channel.exact(), tl.Prior(["1/2", "1/2", 0]))
        assert exact.values[0, 1] == -math.inf
        assert exact.lifts[1, 1] == 2

    def test_tiny_probabilities(self):
        channel = tl.Channel([[1.0, 1e-300], [1.0, 0.0]])
        density = tl.information_density(channel, tl.Prior([1e-300, 1.0]))
        assert density.values[0, 1] == pytest.approx(300 * math.log(10))


class TestLdp:
    def test_infinite_when_an_outcome_excludes_a_secret(self):
        assert math.isinf(tl.ldp(tl.mechanism.identity(3)))
        assert math.isinf(tl.ldp(tl.Channel([[1.0, 0.0], [0.5, 0.5]])))

    def test_impossible_outcomes_do_not_count(self):
        assert tl.ldp(tl.Channel([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]])) == 0

    def test_alip_and_lip(self):
        ends = tl.alip(COIN, PRIOR)
        assert (ends.lower.ratio, ends.upper.ratio) == (Fraction(13, 5), Fraction(15, 7))
        assert tl.lip(COIN, PRIOR).ratio == Fraction(13, 5)
        assert ends[0] is ends.lower
        assert ends.lower.in_bits() == pytest.approx(math.log2(13 / 5))


class TestMaximal:
    def test_support_matters(self):
        channel = tl.Channel([[1, 0], [0, 1], [1, 0]])
        assert tl.maximal_leakage(channel).ratio == 2
        assert tl.maximal_leakage(channel, tl.Prior([0.5, 0, 0.5])) == 0
        assert math.isinf(tl.measures.maximal_cost_leakage(channel))
        assert tl.measures.maximal_cost_leakage(channel, tl.Prior([0.5, 0, 0.5])) == 0
        assert math.isinf(tl.measures.maximal_cost_leakage(tl.Channel([[1.0, 0.0], [0.0, 1.0]])))

    def test_conditional_uses_only_secrets_that_are_still_possible(self):
        first = tl.Channel([[1, 0], [0, 1], [0, 1]], outputs=["u", "v"])
        second = tl.mechanism.identity(3)
        assert tl.measures.conditional_maximal_leakage(first, second).ratio == 2
        prior = tl.Prior(["1/2", "1/2", 0])
        assert tl.measures.conditional_maximal_leakage(first, second, prior).ratio == 1
        with pytest.raises(tl.errors.WrongType, match=r'second\["v"\] must be a Channel, got None'):
            tl.measures.conditional_maximal_leakage(first, {"u": second})

    def test_one_time_pad(self):
        """Two releases that say nothing apart and everything together: the conditional term sees it."""
        pad = tl.Channel([["1/2", "1/2"], ["1/2", "1/2"]], outputs=["h", "t"])
        second = {"h": tl.Channel([[1, 0], [0, 1]]), "t": tl.Channel([[0, 1], [1, 0]])}
        assert tl.maximal_leakage(pad) == 0
        assert tl.measures.conditional_maximal_leakage(pad, second).ratio == 2
        assert tl.maximal_leakage(pad.adaptive_product(second)).ratio == 2


class TestPosterior:
    def test_bayes(self):
        after = tl.measures.posterior(FLOAT_COIN, tl.Prior({"a": 0.2, "b": 0.8}), "+")
        assert after.mass("a") == pytest.approx(3 / 7)
        assert after.labels == ["a", "b"]

    def test_impossible_outcome(self):
        channel = tl.Channel([[1.0, 0.0], [1.0, 0.0]])
        with pytest.raises(tl.errors.InvalidInput, match="positive probability, got 1 with probability 0"):
            tl.measures.posterior(channel, tl.Prior([0.5, 0.5]), 1)

    def test_a_possible_secret_never_underflows_to_impossible(self):
        channel = tl.Channel([[1e-300, 1.0], [0.5, 0.5]])
        prior = tl.Prior([1e-300, 1.0])
        with pytest.raises(
            tl.errors.NumericalFailure, match=r"secret 0 after outcome 0 .* use channel.exact\(\)"
        ):
            tl.measures.posterior(channel, prior, 0)
        exact = tl.measures.posterior(channel.exact(), prior.exact(), 0)
        assert 0 < exact.mass(0) < Fraction(1, 10**590)

    def test_rare_outcomes_are_fine(self):
        after = tl.measures.posterior(tl.Channel([[1e-300, 1.0], [3e-300, 1.0]]), tl.Prior([0.5, 0.5]), 0)
        assert after.mass(1) == pytest.approx(0.75)


class TestEvent:
    prior = tl.Prior.uniform(2)
    channel = papers.env_example_3()

    def test_labels_weights_and_masks_agree(self):
        wanted = tl.event_leakage(self.channel, self.prior, {1, 3}).ratio
        assert wanted == Fraction(20, 11)
        assert tl.event_leakage(self.channel, self.prior, [1, 3]).ratio == wanted
        assert tl.event_leakage(self.channel, self.prior, {1: 1, 3: 1}).ratio == wanted
        assert (
            tl.event_leakage(self.channel, self.prior, [Fraction(1), Fraction(0), Fraction(1)]).ratio
            == wanted
        )
        for floats in ([1.0, 0.0, 1.0], np.array([True, False, True]), np.array([1, 0, 1])):
            assert tl.event_leakage(self.channel, self.prior, floats) == pytest.approx(
                math.log(20 / 11), rel=1e-13
            )

    def test_a_list_that_could_be_both_is_refused(self):
        channel = tl.Channel([["1/2", "1/2"], ["1/4", "3/4"]])
        with pytest.raises(tl.errors.InvalidLabels, match="could be labels or weights; give labels as a set"):
            tl.event_leakage(channel, self.prior, [0, 1])
        assert tl.event_leakage(channel, self.prior, [1, 1]).ratio == 1
        assert tl.event_leakage(channel, self.prior, [True, False]).ratio == Fraction(4, 3)

    @pytest.mark.parametrize(
        ("event", "message"),
        [
            ([], "event must hold at least one outcome"),
            (set(), "at least one outcome"),
            ({}, "at least one outcome"),
            ({"x"}, r'event must be about the outcomes \[1, 2, 3\] only, got "x"'),
            (["x"], 'event must be one of 1, 2, 3; got "x"'),
            ([0.5, 0.5], "one for each of 3 outcomes, got 2"),
            ([0.5, 0.5, 1.5], r"event entry 2 must be in \[0, 1\], got 1.5"),
            ({1: -1}, r"must be in \[0, 1\], got -1"),
            (np.array([0.1, np.nan, 0.0]), "event entry 1 must be finite"),
            ({1: 0}, "positive probability"),
            (np.zeros(3), "positive probability"),
        ],
    )
    def test_bad_events(self, event, message):
        with pytest.raises(tl.errors.InvalidInput, match=message):
            tl.event_leakage(self.channel, self.prior, event)

    def test_events_too_rare_for_floats(self):
        channel = tl.Channel([[1e-300, 1.0], [0.0, 1.0]])
        found = tl.event_leakage(channel, tl.Prior([1e-200, 1.0]), {0})
        assert found == pytest.approx(200 * math.log(10), rel=1e-12)
        assert tl.event_leakage(channel, tl.Prior([0.5, 0.5]), np.array([1e-300, 0.0])) == pytest.approx(
            math.log(2)
        )


class TestSoft:
    def test_levels_are_checked(self):
        for bad, message in (
            (-0.1, "finite non-negative number of nats, got epsilon=-0.1"),
            (math.nan, "got epsilon=nan"),
            (math.inf, "got epsilon=inf"),
            ("x", "epsilon must be a finite number"),
            (None, "epsilon must be a number of nats"),
            (True, "epsilon must be a number of nats"),
        ):
            for measure in (tl.measures.psi1, tl.measures.psi2):
                with pytest.raises(tl.errors.InvalidInput, match=message):
                    measure(COIN, PRIOR, bad)
            with pytest.raises(tl.errors.InvalidInput, match=message):
                tl.measures.privacy_profile(COIN, bad)

    def test_exact_channels_at_inexact_levels_give_no_false_exactness(self):
        for found in (
            tl.measures.psi1(COIN, PRIOR, 0.1),
            tl.measures.psi2(COIN, PRIOR, 0.1),
            tl.measures.privacy_profile(COIN, 0.1),
            tl.measures.probabilistic_dp_tail(COIN, 0.1),
        ):
            assert found.fraction is None
            assert 0 < found < 1

    def test_nothing_escapes_a_high_level(self):
        for channel in (COIN, FLOAT_COIN):
            assert tl.measures.psi1(channel, PRIOR, 5.0) == tl.measures.psi2(channel, PRIOR, 5.0) == 0
            assert (
                tl.measures.privacy_profile(channel, 5.0)
                == tl.measures.probabilistic_dp_tail(channel, 5.0)
                == 0
            )
            assert (
                tl.measures.privacy_profile(channel, 1e4)
                == tl.measures.probabilistic_dp_tail(channel, 1e4)
                == 0
            )

    def test_at_level_zero_the_profile_is_total_variation(self):
        assert tl.measures.privacy_profile(COIN, 0).fraction == Fraction(1, 2)
        assert tl.measures.privacy_profile(FLOAT_COIN, 0.0) == pytest.approx(0.5, abs=1e-14)

    def test_ties_of_the_privacy_loss(self):
        """0.75/0.25 is exactly 3: the loss equals log 3, never exceeds it."""
        assert tl.measures.probabilistic_dp_tail(FLOAT_COIN, tl.log_of(3)) == 0
        assert tl.measures.probabilistic_dp_tail(FLOAT_COIN, math.log(3)) == (
            0.75 if math.log(3) < 1.0986122886681098 else 0
        )
        assert tl.measures.probabilistic_dp_tail(FLOAT_COIN, math.nextafter(math.log(3), 0)) == pytest.approx(
            0.75
        )

    def test_an_excluded_secret_always_escapes(self):
        channel = tl.Channel([[0.9, 0.1], [1.0, 0.0]])
        assert tl.measures.privacy_profile(channel, 700.0) == pytest.approx(0.1)
        assert tl.measures.probabilistic_dp_tail(channel, 1e5) == pytest.approx(0.1)

    def test_huge_ratios_beyond_e_to_the_epsilon(self):
        channel = tl.Channel([[0.5, 0.5], [1.0, 5e-324]])
        assert tl.measures.probabilistic_dp_tail(channel, 743.0) == pytest.approx(0.5)
        assert tl.measures.probabilistic_dp_tail(channel, 744.0) == 0

    def test_support_restricts_pairs(self):
        channel = tl.Channel([[1, 0], [0, 1], [1, 0]])
        assert tl.measures.privacy_profile(channel, 0, tl.Prior([0.5, 0, 0.5])) == 0
        assert tl.measures.probabilistic_dp_tail(channel, 0.5, tl.Prior([0.5, 0, 0.5])) == 0

    def test_rows_longer_than_one_leaf_of_the_sum(self):
        generator = np.random.default_rng(5)
        rows = generator.random((3, 1000))
        rows /= rows.sum(axis=1, keepdims=True)
        expected = max(np.maximum(a - math.exp(0.3) * b, 0).sum() for a in rows for b in rows)
        assert tl.measures.privacy_profile(tl.Channel(rows), 0.3) == pytest.approx(expected, abs=1e-13)
        assert tl.measures.privacy_profile(tl.Channel(rows), 0.3) >= expected

    def test_tail_bound(self):
        assert tl.measures.dp_tail_bound(1.0, 0.001, 2) == pytest.approx(0.001 / (1 - math.exp(-1)))
        assert tl.measures.dp_tail_bound(0, 0.1, 2) == 1
        assert tl.measures.dp_tail_bound(0, 0, 2) == 0
        assert tl.measures.dp_tail_bound(1e-9, 0.5, 3) == 1
        with pytest.raises(tl.errors.InvalidInput, match=r"k must be above 1, got k=1;"):
            tl.measures.dp_tail_bound(1.0, 0.1, 1)
        with pytest.raises(tl.errors.InvalidInput, match=r"delta must be in \[0, 1\], got delta=1.5"):
            tl.measures.dp_tail_bound(1.0, 1.5, 2)


class TestAdversary:
    def test_guesses_and_average(self):
        found = tl.measures.gain_leakage(COIN, PRIOR, [[1, 0], [0, 1]])
        assert (found.prior_guess, found.guesses) == (1, (1, 1))
        assert found.average.ratio == 1
        assert found.worst_outcome == "-"
        assert found.worst.ratio == Fraction(15, 13)
        assert found.worst.rounding == "down"
        floats = tl.measures.gain_leakage(FLOAT_COIN, PRIOR, [[1.0, 0.0], [0.0, 1.0]])
        assert floats.value_of("+") == pytest.approx(math.log(5 / 7))
        assert floats.value_of("+") <= math.log(5 / 7)
        mixed = tl.measures.gain_leakage(COIN, PRIOR, [[1.0, 0.0], [0.0, 1.0]])
        assert mixed.ratios is None
        assert mixed.value_of("+") == pytest.approx(math.log(5 / 7))

    def test_cost_can_vanish(self):
        identity = tl.mechanism.identity(2)
        found = tl.measures.cost_leakage(identity, tl.Prior.uniform(2), [[0, 1], [1, 0]])
        assert found.ratios == (None, None)
        assert math.isinf(found.average)
        assert math.isinf(found.worst)
        floats = tl.measures.cost_leakage(
            tl.Channel([[1.0, 0.0], [0.0, 1.0]]), tl.Prior([0.5, 0.5]), [[0.0, 1.0], [1.0, 0.0]]
        )
        assert math.isinf(floats.worst)
        assert math.isinf(floats.average)

    def test_an_outcome_can_leave_nothing_to_gain(self):
        found = tl.measures.gain_leakage(tl.mechanism.identity(2), tl.Prior.uniform(2), [[1], [0]])
        assert found.ratios == (2, 0)
        assert found.values[1] == -math.inf

    @pytest.mark.parametrize(
        ("payoff", "message"),
        [
            ([[1, 0]], "gain must have one row for each of 2 secrets, got 1"),
            ([[1, -1], [0, 1]], "gain row 0, column 1 must not be negative, got -1; shift"),
            ([[0, 0], [0, 0]], "gain must be positive before any outcome"),
            ([[1.0, math.nan], [0, 1]], "gain row 0, column 1 must be finite"),
            ([1, 2], r"gain must have 2 dimension\(s\)"),
        ],
    )
    def test_bad_gains(self, payoff, message):
        with pytest.raises(tl.errors.InvalidInput, match=message):
            tl.measures.gain_leakage(COIN, PRIOR, payoff)

    def test_functions_are_matched_by_label(self):
        function = tl.Channel([[0, 1], [1, 0]], inputs=["b", "a"])
        found = tl.measures.function_gain_leakage(COIN, PRIOR, function)
        assert found.ratios == tl.measures.gain_leakage(COIN, PRIOR, [[1, 0], [0, 1]]).ratios

    def test_sparse(self):
        from scipy.sparse import csr_array

        sparse = tl.Channel(csr_array([[0.75, 0.25], [0.25, 0.75]]), ["a", "b"], ["+", "-"])
        gain = [[1.0, 0.0], [0.0, 1.0]]
        np.testing.assert_allclose(
            tl.measures.gain_leakage(sparse, PRIOR, gain).values,
            tl.measures.gain_leakage(FLOAT_COIN, PRIOR, gain).values,
            rtol=1e-12,
        )

    def test_witness_alphabets_are_limited(self):
        channel, prior = (
            tl.Channel([["3/4", "1/4"], ["1/4", "3/4"]]),
            tl.Prior([Fraction(1, 10**9), 1 - Fraction(1, 10**9)]),
        )
        with pytest.raises(tl.errors.InvalidInput, match="symbols, more than 1000000"):
            tl.measures.pml_function_witness(channel, prior, 0)
        with pytest.raises(tl.errors.InvalidInput, match="at least two secrets"):
            tl.measures.pmc_function_witness(channel, tl.Prior([1, 0]), 0)


class TestComposition:
    def test_float_bounds_add_up_and_round_up(self):
        prior = tl.Prior([0.2, 0.8])
        channel = tl.Channel([[0.75, 0.25], [0.25, 0.75]])
        bound = tl.measures.pml_composition(channel, channel, prior)
        exact = tl.measures.pml_composition(COIN, COIN, PRIOR)
        assert bound.worst >= exact.worst
        assert bound.worst == pytest.approx(exact.worst, rel=1e-13)
        assert bound.of(0, 0) == pytest.approx(math.log(45 / 13), rel=1e-13)
        assert math.isinf(
            tl.measures.pmc_composition(tl.mechanism.identity(2), COIN, tl.Prior.uniform(2)).worst
        )

    def test_summary_agrees_with_the_single_measures(self):
        found = tl.measure(COIN, PRIOR)
        assert found.pml.ratios == tl.pml(COIN, PRIOR).ratios
        assert found.pmc.ratios == tl.pmc(COIN, PRIOR).ratios
        assert found.alip == tl.alip(COIN, PRIOR)
        assert found.maximal_realizable_cost == tl.measures.maximal_realizable_cost(COIN, PRIOR)
        beyond = found.beyond(0.1)
        assert beyond.psi2 == tl.measures.psi2(COIN, PRIOR, 0.1)
        assert "PML of 2 outcomes" in repr(found)
