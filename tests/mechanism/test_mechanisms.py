import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

import tightlip as tl
from tightlip import mechanism, papers


class TestRandomizedResponse:
    def test_exact(self):
        channel = mechanism.randomized_response(["a", "b", "c"], tl.log_of(4))
        assert channel.inputs == channel.outputs == ["a", "b", "c"]
        assert tl.ldp(channel).ratio == 4
        assert channel.matrix[1, 1] == Fraction(2, 3)

    @pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.5, 3.0, 40.0, 680.0])
    def test_floats_are_as_private_as_asked(self, epsilon):
        assert tl.ldp(mechanism.randomized_response(5, epsilon)) == pytest.approx(epsilon, abs=1e-12)

    def test_a_level_beyond_the_float_range_is_refused(self):
        """At 740 the stored channel would be 739.997-LDP, at 746 not LDP at all."""
        with pytest.raises(tl.errors.InvalidInput, match=r"at most 680 for a float channel, got 740\.0; use"):
            mechanism.randomized_response(3, 740.0)
        assert tl.ldp(mechanism.randomized_response(3, tl.log_of(10**400))).ratio == 10**400

    def test_levels_may_be_text(self):
        assert tl.ldp(mechanism.randomized_response(2, "1/10")) == pytest.approx(0.1)

    def test_binary(self):
        channel = mechanism.binary_randomized_response(tl.log_of(3), ["yes", "no"])
        assert channel.matrix.tolist() == [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]]
        with pytest.raises(tl.errors.InvalidInput, match="labels must be two"):
            mechanism.binary_randomized_response(1.0, ["a", "b", "c"])

    @pytest.mark.parametrize("bad", [0, -1, True, 2.5, "abc", Fraction(3)])
    def test_bad_counts(self, bad):
        with pytest.raises(tl.errors.InvalidInput, match="secrets must be"):
            mechanism.randomized_response(bad, 1.0)

    @pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf, "much"])
    def test_bad_levels(self, bad):
        with pytest.raises(tl.errors.InvalidInput, match="epsilon"):
            mechanism.randomized_response(3, bad)


def test_identity_and_constant():
    prior = tl.Prior(["1/2", "1/3", "1/6"])
    assert tl.pml(mechanism.identity(3), prior).ratios == (2, 3, 6)
    assert tl.pml(mechanism.constant(3), prior).worst == 0
    assert mechanism.constant(["a", "b"], outcome="silence").outputs == ["silence"]
    with pytest.raises(tl.errors.InvalidInput, match="from 1 to 10000, got 0"):
        mechanism.identity(0)


class TestExtremal:
    prior = tl.Prior(["1/2", "3/10", "1/5"])

    def test_outcome_has_the_priors_distribution(self):
        channel = mechanism.pml_extremal(self.prior, tl.log_of("6/5"))
        leak = tl.pml(channel, self.prior)
        assert set(leak.ratios) == {Fraction(6, 5)}
        assert leak.probabilities == pytest.approx([0.5, 0.3, 0.2])

    @pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.2, -math.log(1 - 0.2)])
    def test_floats(self, epsilon):
        prior = tl.Prior([0.5, 0.3, 0.2])
        assert tl.pml(mechanism.pml_extremal(prior, epsilon), prior).worst == pytest.approx(
            epsilon, abs=1e-14
        )

    def test_refused_outside_the_high_privacy_regime_by_how_much(self):
        with pytest.raises(
            tl.errors.PreconditionFailed,
            match=r"at most -log\(1 - p_min\) = 0\.2231435513 .*got epsilon=0\.3, which is 0\.0769 too large",
        ):
            mechanism.pml_extremal(self.prior, 0.3)
        with pytest.raises(tl.errors.PreconditionFailed, match="lower epsilon, or merge"):
            mechanism.pml_extremal(self.prior, tl.log_of(Fraction(5, 4) + Fraction(1, 10**30)))

    def test_impossible_secrets_are_left_out(self):
        channel = mechanism.pml_extremal(tl.Prior({"a": "1/2", "b": 0, "c": "1/2"}), tl.log_of("3/2"))
        assert channel.inputs == ["a", "c"]

    @pytest.mark.parametrize("rare", [1.7e-16, 1e-17, 1e-12, 1e-300])
    def test_rare_secrets_do_not_cancel(self, rare):
        """1 − e^ε(1 − p) cancels for small p; growing p − (e^ε − 1) does not."""
        prior = tl.Prior([1 - rare, rare])
        channel = mechanism.pml_extremal(prior, 0.0)
        assert tl.pml(channel, prior).worst == pytest.approx(0, abs=1e-14)
        assert tl.pmc(channel, prior).worst == pytest.approx(0, abs=1e-14)

    def test_levels_may_be_text(self):
        assert tl.pml(mechanism.pml_extremal(self.prior, "1/10"), self.prior).worst == pytest.approx(0.1)

    def test_one_secret_has_nothing_to_hide(self):
        assert tl.ldp(mechanism.pml_extremal(tl.Prior([1.0]), 1000.0)) == 0
        assert tl.ldp(mechanism.pml_extremal(tl.Prior([1]), tl.log_of(1))) == 0

    def test_wrong_type(self):
        with pytest.raises(tl.errors.WrongType, match="prior must be a Prior"):
            mechanism.pml_extremal([0.5, 0.5], 0.1)


class TestDobExample1:
    def test_it_is_pml_for_every_prior_in_the_set_and_attains_it(self):
        epsilon, mass = tl.log_of("3/2"), Fraction(1, 5)
        channel = papers.dob_example_1(epsilon, mass)
        worst = max(
            tl.pml(channel, tl.Prior([p, 1 - p])).worst.ratio for p in (mass, Fraction(1, 2), 1 - mass)
        )
        assert worst == Fraction(3, 2)

    def test_floats_and_limits(self):
        warner = papers.dob_example_1(1.0, 1e-12)
        assert tl.ldp(warner) == pytest.approx(1.0, abs=1e-9)
        with pytest.raises(tl.errors.PreconditionFailed, match=r"at most log\(1/min_mass\)"):
            papers.dob_example_1(5.0, 0.3)
        with pytest.raises(tl.errors.PreconditionFailed):
            papers.dob_example_1(1e5, 0.3)
        with pytest.raises(tl.errors.InvalidInput, match="min_mass must be in"):
            papers.dob_example_1(0.1, 0.7)


def test_countable_example_needs_two_secrets():
    with pytest.raises(tl.errors.InvalidInput, match="size must be a whole number from 2 to 1000, got 1"):
        papers.pmc_countable(1)


def test_every_named_mechanism_is_public():
    assert set(mechanism.__all__) <= set(dir(mechanism))
    assert sorted(mechanism.__all__) == mechanism.__all__


@pytest.mark.parametrize("secrets", [2, 3, 17])
def test_stored_randomised_response_never_exceeds_its_float_level(secrets):
    rng = np.random.default_rng(secrets)
    levels = [*rng.uniform(0, 3, 60), *rng.uniform(0, 600, 20), *10 ** rng.uniform(-17, 0, 20)]
    for level in map(float, levels):
        rows = tl.mechanism.randomized_response(secrets, level).exact().matrix
        ratio = rows[0, 0] / rows[1, 0]
        with ctx.workprec(300):
            share = arb(ratio.numerator) / arb(ratio.denominator) / arb(level).exp()
            assert share <= 1
            assert share >= 1 - 2**-50
        assert ratio >= 1
