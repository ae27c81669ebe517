"""Values worked out independently of this code (papers, brute force, high precision), in nats unless said."""

import math
from fractions import Fraction

import numpy as np
import pytest

import tightlip as tl
from tightlip import papers

UNIFORM = tl.Prior.uniform(4)
EXAMPLE = papers.env_example_1()
FLOATS = tl.Channel([[0, 0, 0.5, 0.5], [0, 0, 0.5, 0.5], [0, 0.2, 0.4, 0.4], [0.2, 0, 0.4, 0.4]])


class TestEnvExample1:
    """ENV paper, Examples 1 and 2."""

    @pytest.mark.parametrize("channel", [EXAMPLE, FLOATS], ids=["exact", "float"])
    def test_pml(self, channel):
        expected = [math.log(4), math.log(4), math.log(10 / 9), math.log(10 / 9)]
        np.testing.assert_allclose(tl.pml(channel, UNIFORM).values, expected, rtol=1e-13)
        np.testing.assert_allclose(
            tl.pml(channel, UNIFORM).probabilities, [0.05, 0.05, 0.45, 0.45], rtol=1e-14
        )

    @pytest.mark.parametrize("channel", [EXAMPLE, FLOATS], ids=["exact", "float"])
    def test_quantiles_differ_at_a_tenth(self, channel):
        leak = tl.pml(channel, UNIFORM)
        assert leak.left_quantile("1/10" if channel.is_exact else 0.1) == pytest.approx(
            math.log(10 / 9), rel=1e-13
        )
        assert leak.quantile("1/10" if channel.is_exact else 0.1) == pytest.approx(math.log(4), rel=1e-13)

    def test_tail_at_the_low_level_is_a_tenth(self):
        assert tl.pml(EXAMPLE, UNIFORM).tail(tl.log_of("10/9")).fraction == Fraction(1, 10)
        assert tl.pml(FLOATS, UNIFORM).tail(math.log(10 / 9)) == pytest.approx(0.1, rel=1e-14)

    def test_psi1_rises_under_post_processing(self):
        merged = EXAMPLE.post_process(papers.env_example_1_merge())
        level = tl.log_of("10/9")
        assert tl.measures.psi1(EXAMPLE, UNIFORM, level).fraction == Fraction(13, 180)
        assert tl.measures.psi1(merged, UNIFORM, level).fraction == Fraction(2, 27)
        assert tl.pml(merged, UNIFORM).ratios == (Fraction(6, 5), Fraction(6, 5))

    def test_psi2(self):
        assert tl.measures.psi2(EXAMPLE, UNIFORM, tl.log_of(3)).fraction == Fraction(1, 20)
        assert tl.measures.psi2(EXAMPLE, UNIFORM, tl.log_of("10/9")).fraction == Fraction(13, 90)
        assert tl.measures.psi2(FLOATS, UNIFORM, math.log(3)) == pytest.approx(0.05, abs=1e-14)
        assert tl.measures.psi1(FLOATS, UNIFORM, math.log(10 / 9)) == pytest.approx(13 / 180, abs=1e-14)

    def test_reduced_channel_merges_outcomes_3_and_4(self):
        assert EXAMPLE.reduce().outputs == [1, 2, (3, 4)]
        assert FLOATS.reduce().outputs == [0, 1, (2, 3)]


def test_event_leakage_is_not_monotone():
    """ENV paper, Examples 3 and 4."""
    channel, prior = papers.env_example_3(), tl.Prior.uniform(2)
    found = {
        event: tl.event_leakage(channel, prior, set(event)).ratio for event in ((1,), (1, 2), (3,), (1, 3))
    }
    assert found == {(1,): 2, (1, 2): 1, (3,): 1, (1, 3): Fraction(20, 11)}


class TestRandomizedResponse:
    """PMC paper, Example 3, and spec values for ε_r = 1, P = (.5, .3, .2)."""

    prior = tl.Prior([0.5, 0.3, 0.2])
    channel = tl.mechanism.randomized_response(3, 1.0)

    def test_pmc_is_log_of_one_plus_p_times_growth(self):
        expected = np.log1p(self.prior.floats * math.expm1(1))
        np.testing.assert_allclose(tl.pmc(self.channel, self.prior).values, expected, rtol=1e-13)
        assert tl.measures.maximal_realizable_cost(self.channel, self.prior) == pytest.approx(
            0.6201145070, abs=1e-10
        )

    def test_whole_channel(self):
        assert tl.measures.maximal_cost_leakage(self.channel) == pytest.approx(0.4528324253, abs=1e-10)
        assert tl.ldp(self.channel) == pytest.approx(1.0, abs=1e-14)

    def test_cost_leakage_equals_mean_pmc_under_a_uniform_prior(self):
        """'Jensen is strict' in the PMC paper is false: here it is an equality."""
        uniform = tl.Prior.uniform(3)
        assert tl.pmc(self.channel, uniform).mean() == pytest.approx(
            tl.measures.maximal_cost_leakage(self.channel), abs=1e-14
        )


def test_extremal_mechanism_attains_the_conversion():
    """PMC paper, Example 4 and Remark 6; spec values for P = (.3, .3, .2, .2), ε_u = .2008291962 (9/10 of the edge)."""
    prior = tl.Prior([0.3, 0.3, 0.2, 0.2])
    channel = tl.mechanism.pml_extremal(prior, 0.2008291962)
    assert tl.pml(channel, prior).worst == pytest.approx(0.2008291962, abs=1e-12)
    assert tl.pmc(channel, prior).worst == pytest.approx(2.2042235979, abs=1e-8)
    assert tl.ldp(channel) == pytest.approx(2.4050527941, abs=1e-8)
    assert tl.convert.pml_to_pmc(0.2008291962, prior) == pytest.approx(2.2042235979, abs=1e-8)
    assert tl.convert.pml_to_ldp(0.2008291962, prior) == pytest.approx(2.4050527941, abs=1e-8)


def test_extremal_mechanism_attains_the_conversion_exactly():
    prior = tl.Prior(["3/10", "3/10", "1/5", "1/5"])
    channel = tl.mechanism.pml_extremal(prior, tl.log_of("6/5"))
    assert tl.pmc(channel, prior).worst.ratio == tl.convert.pml_to_pmc(tl.log_of("6/5"), prior).ratio == 5
    assert tl.ldp(channel).ratio == tl.convert.pml_to_ldp(tl.log_of("6/5"), prior).ratio == 6


def test_maximal_leakage_of_the_sml_example():
    rows = [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6], [0.5, 0.25, 0.25]]
    assert tl.maximal_leakage(tl.Channel(rows)) == pytest.approx(0.6418538862, abs=1e-10)


def test_dob_example_2():
    """The scan's log 19/3 is log 10/3: with c = 1/N·½ the worst prior gives exactly that."""
    two_level, circulant = papers.dob_example_2_two_level(), papers.dob_example_2_circulant()
    assert tl.ldp(two_level).ratio == 15
    assert math.isinf(tl.ldp(circulant))
    for channel, mass in ((two_level, Fraction(1, 20)), (circulant, Fraction(1, 10))):
        size = channel.shape[0]
        worst = Fraction(0)
        for heavy in range(size):  # the worst prior in Q(c) puts all spare mass on one secret
            masses = [mass + (1 - size * mass) * (place == heavy) for place in range(size)]
            worst = max(worst, tl.pml(channel, tl.Prior(masses)).worst.ratio)
        assert worst == Fraction(10, 3)
