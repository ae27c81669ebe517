"""Many uses of mechanisms on one secret: both ends against exact rationals, closed forms and other routes."""

import math
from fractions import Fraction
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightlip as tl
from tightlip.envelopes import compose, power, repeat
from tightlip.envelopes.loss_curve import NormalCurve, Side
from tightlip.envelopes.loss_envelope import bound_by_pairs
from tightlip.envelopes.loss_grid import ONE, ceil_shift, convolve, merge, split
from tightlip.envelopes.losses import WORKING_BITS, channel_loss, laplace_loss, merge_alike, normal_loss
from tightlip.errors import CertificateInvalid, InvalidInput, ShapeMismatch, TightlipError

COIN = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["a", "b"])
SKEWED = tl.Channel([["1/2", "3/10", "1/5"], ["1/5", "31/100", "49/100"]], inputs=["a", "b"])
ERASED = tl.Channel([["1/2", "1/2", 0], [0, "3/4", "1/4"]], inputs=["a", "b"])
PRIOR = tl.Prior(["1/3", "2/3"], labels=["a", "b"])
POINTS = 512


def gaussian(sigma, distance=1):
    return tl.noise.AdditiveNoise(tl.noise.BoundedSecret(0, distance), tl.noise.Gaussian(sigma))


def laplace(scale, distance=1):
    return tl.noise.AdditiveNoise(tl.noise.BoundedSecret(0, distance), tl.noise.Laplace(scale))


def excess(channel, ratio):
    """max over ordered pairs of rows of Σ (P − γQ)₊, by the definition."""
    rows = channel.matrix
    return max(
        sum(max(a - ratio * b, Fraction(0)) for a, b in zip(one, two, strict=True))
        for one, two in product(rows, rows)
    )


def assert_contains(found, truth, within=math.inf):
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= within


@st.composite
def channels(draw):
    count = draw(st.integers(2, 4))
    entries = st.lists(st.integers(0, 6), min_size=count, max_size=count).filter(any)
    counts = [draw(entries) for _ in range(2)]
    return tl.Channel([[Fraction(each, sum(row)) for each in row] for row in counts])


mixed = st.lists(st.tuples(channels(), st.integers(1, 3)), min_size=1, max_size=2)
ratios = st.fractions(1, 30, max_denominator=12)
deltas = st.fractions(Fraction(1, 1000), 1, max_denominator=1000)


class TestAgainstRationals:
    @given(mixed, ratios)
    @settings(max_examples=60, deadline=None)
    def test_delta(self, parts, ratio):
        joint = compose([power(channel, times) for channel, times in parts])
        found = repeat([channel for channel, _ in parts], [times for _, times in parts], points=POINTS)
        assert_contains(found.delta(tl.log_of(ratio)), excess(joint, ratio), within=0.02)

    @given(mixed, deltas)
    @settings(max_examples=60, deadline=None)
    def test_epsilon(self, parts, delta):
        joint = compose([power(channel, times) for channel, times in parts])
        truth = tl.envelopes.dp_epsilon(joint, delta)
        found = repeat(
            [channel for channel, _ in parts], [times for _, times in parts], points=POINTS
        ).epsilon(delta)
        if math.isinf(truth):
            assert found.upper == math.inf
        else:
            assert found.lower <= truth
            assert tl.Nats.of_ratio(truth.ratio, "down") <= found.upper
        found.verify()

    @given(mixed, deltas, st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=40))
    @settings(max_examples=60, deadline=None)
    def test_envelope(self, parts, delta, mass):
        prior = tl.Prior([mass, 1 - mass])
        joint = compose([power(channel, times) for channel, times in parts])
        truth = tl.envelope(joint, prior, delta)
        found = repeat(
            [channel for channel, _ in parts], [times for _, times in parts], points=POINTS
        ).envelope(prior, delta)
        assert found.lower <= truth.upper
        assert truth.lower <= found.upper
        assert found.gap <= 0.1
        found.verify()

    @given(mixed, ratios, st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=40))
    @settings(max_examples=40, deadline=None)
    def test_failure_probability(self, parts, ratio, mass):
        prior = tl.Prior([mass, 1 - mass])
        joint = compose([power(channel, times) for channel, times in parts])
        truth = tl.failure_probability(joint, prior, tl.log_of(ratio))
        found = repeat(
            [channel for channel, _ in parts], [times for _, times in parts], points=POINTS
        ).failure_probability(prior, tl.log_of(ratio))
        assert found.lower <= truth.upper
        assert truth.lower <= found.upper

    @pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(13, 20)])
    def test_failure_probability_away_from_jumps(self, epsilon):
        truth = tl.failure_probability(power(SKEWED, 3), PRIOR, epsilon)
        found = repeat(SKEWED, 3).failure_probability(PRIOR, epsilon)
        assert found.gap < 1e-9
        assert found.lower <= truth.upper
        assert truth.lower <= found.upper

    @given(mixed)
    @settings(max_examples=40, deadline=None)
    def test_maximal_leakage(self, parts):
        joint = compose([power(channel, times) for channel, times in parts])
        found = repeat([channel for channel, _ in parts], [times for _, times in parts], points=POINTS)
        truth = tl.maximal_leakage(joint)
        assert_contains(found.maximal_leakage(), float(truth), within=0.02)

    def test_float_channels_are_the_rationals_they_store(self):
        floats = tl.Channel([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
        joint = power(floats.exact(), 20)
        assert_contains(repeat(floats, 20).delta(tl.log_of(5)), excess(joint, 5), within=1e-6)


class TestRandomizedResponse:
    """Two outcomes: the losses of n uses are those of a binomial variable, and lie on a grid."""

    def truth(self, uses, ratio):
        """Σ_j C(n,j) (3^j − γ 3^{n−j})₊/4^n."""
        terms = (math.comb(uses, j) * max(3**j - ratio * 3 ** (uses - j), 0) for j in range(uses + 1))
        return Fraction(sum(terms), 4**uses)

    @pytest.mark.parametrize("uses", [1, 2, 10, 100, 300])
    @pytest.mark.parametrize("ratio", [1, Fraction(3, 2), 3, 100, 3**20])
    def test_delta_has_all_digits(self, uses, ratio):
        truth = self.truth(uses, ratio)
        found = repeat(COIN, uses).delta(tl.log_of(ratio))
        assert_contains(found, truth, within=1e-14)

    @pytest.mark.parametrize("uses", [10, 100, 300])
    def test_epsilon_has_all_digits(self, uses):
        found = repeat(COIN, uses).epsilon("1e-9")
        assert found.gap < 1e-12
        assert self.truth(uses, Fraction(math.exp(found.lower) * (1 - 1e-9))) > Fraction(1, 10**9)
        assert self.truth(uses, Fraction(math.exp(found.upper) * (1 + 1e-9))) < Fraction(1, 10**9)

    def test_other_two_outcomes(self):
        channel = tl.Channel([["9/10", "1/10"], ["1/3", "2/3"]])
        joint = power(channel, 60)
        assert_contains(repeat(channel, 60).delta(tl.log_of(7)), excess(joint, 7), within=1e-14)


class TestNormal:
    """n uses of normal noise are one use with σ/√n."""

    @pytest.mark.parametrize("uses", [1, 10, 1000])
    def test_uses_are_one_use_of_less_noise(self, uses):
        many, one = (
            repeat(gaussian(20), uses),
            repeat(gaussian(20, Fraction(math.isqrt(uses * 10**16), 10**8)), 1),
        )
        assert many.epsilon("1e-6").upper == pytest.approx(one.epsilon("1e-6").upper, rel=1e-7)

    def test_the_closed_form(self):
        """Balle and Wang 2018, Theorem 8, evaluated with scipy: σ = 1, Δ = 1, ε = 1."""
        from scipy.stats import norm

        wanted = norm.cdf(0.5 - 1) - math.e * norm.cdf(-0.5 - 1)
        found = repeat(gaussian(1), 1).delta(1.0)
        assert found.upper == pytest.approx(wanted, rel=1e-13)
        assert found.exact

    @pytest.mark.parametrize("delta", [Fraction(1, 10), Fraction(1, 10**5), Fraction(1, 10**9)])
    @pytest.mark.parametrize("squared", [Fraction(1, 100), Fraction(1), Fraction(10)])
    def test_the_grid_agrees(self, squared, delta):
        low, high = NormalCurve(squared).epsilon(delta)
        side = Side([(normal_loss(squared), 1)], 1 << 12)
        side.__dict__["normal"] = None
        lower, upper = side.epsilon(delta)
        assert lower <= high
        assert low <= upper
        assert upper - lower < 1e-3

    def test_mixed_with_a_channel(self):
        """Normal noise beside a mechanism that says nothing."""
        silent = tl.Channel([["1/2", "1/2"], ["1/2", "1/2"]])
        alone, both = repeat(gaussian(1), 3), repeat([gaussian(1), silent], [3, 7], points=1 << 12)
        assert both.epsilon("1e-5").lower <= alone.epsilon("1e-5").upper
        assert both.epsilon("1e-5").upper >= alone.epsilon("1e-5").lower
        assert both.epsilon("1e-5").gap < 1e-3

    def test_its_envelope_is_near_that_of_a_fine_channel(self):
        """Outcomes in cells of a twentieth of σ say a little less, so their envelope is below, and not by much."""
        from scipy.stats import norm

        edges = [-math.inf, *(x / 20 for x in range(-120, 161)), math.inf]
        cells = [[float(norm.cdf(b - x) - norm.cdf(a - x)) for a, b in pairwise(edges)] for x in (0, 1)]
        coarse = tl.envelope(tl.Channel(cells, inputs=["a", "b"]), PRIOR, "0.1")
        found = repeat(gaussian(1), 1, points=1 << 12).envelope(PRIOR, "0.1")
        assert coarse.lower <= found.upper <= coarse.lower + 2e-3
        assert found.gap < 1e-4


class TestLaplace:
    def test_one_use(self):
        """H(e^ε) = 1 − e^{(ε − D)/2} for 0 ≤ ε ≤ D, between noise D scales apart."""
        found = repeat(laplace(2), 1).delta(0.25)
        assert_contains(found, 1 - math.exp(-0.125), within=1e-8)
        assert_contains(repeat(laplace(2), 1).delta(0.75), 0.0, within=1e-8)

    def test_many_uses_never_exceed_the_sum_of_their_levels(self):
        found = repeat(laplace(10), 30, points=POINTS)
        assert found.epsilon(0).upper == pytest.approx(3.0)
        assert found.epsilon("1e-9").upper <= found.epsilon(0).upper


class TestEdges:
    def test_no_leakage(self):
        found = repeat(tl.Channel([["1/3", "2/3"], ["1/3", "2/3"]]), 1000)
        assert found.epsilon(0) == 0
        assert found.epsilon("1e-9").upper < 1e-12
        assert found.delta(0).upper < 1e-20
        assert found.envelope(tl.Prior.uniform(2), "1/100").upper < 1e-6
        assert found.maximal_leakage().upper < 1e-20

    def test_everything(self):
        found = repeat(tl.Channel([[1, 0], [0, 1]]), 3)
        assert found.epsilon("1/2").lower == math.inf
        assert found.epsilon(1) == 0
        assert found.delta(5.0).lower == 1
        assert found.maximal_leakage().lower == pytest.approx(math.log(2))
        assert_contains(found.envelope(PRIOR, "1/3"), math.log(3), within=1e-12)

    def test_one_secret(self):
        found = repeat(tl.Channel([["1/2", "1/2"]]), 5)
        assert found.epsilon("1e-6") == 0
        assert found.delta(0).upper == 0
        assert found.envelope(tl.Prior([1]), "1/2").upper == 0

    def test_delta_0_is_the_sum_of_the_largest_losses(self):
        assert_contains(
            repeat([COIN, SKEWED], [2, 3]).epsilon(0), 2 * math.log(3) + 3 * math.log(5 / 2), 1e-13
        )
        assert repeat(ERASED, 2).epsilon(0) == math.inf
        assert repeat(gaussian(1), 2).epsilon(0) == math.inf

    def test_losses_that_no_float_tells_apart(self):
        tiny = Fraction(1, 10**60)
        channel = tl.Channel([[Fraction(1, 2) + tiny, Fraction(1, 2) - tiny], ["1/2", "1/2"]])
        assert 0 < repeat(channel, 10).delta(0).upper < 1e-30

    def test_probabilities_below_the_range_of_floats(self):
        tiny = Fraction(1, 10**400)
        channel = tl.Channel([[1 - tiny, tiny], ["1/2", "1/2"]])
        joint = power(channel, 4)
        assert_contains(repeat(channel, 4).delta(tl.log_of(2)), excess(joint, 2), within=1e-6)

    def test_the_order_does_not_matter(self):
        one = repeat([COIN, SKEWED, ERASED], [5, 7, 2], points=POINTS)
        two = repeat([ERASED, COIN, SKEWED], [2, 5, 7], points=POINTS)
        three = repeat([COIN, ERASED, SKEWED, COIN], [1, 2, 7, 4], points=POINTS)
        assert one.delta(2.0) == two.delta(2.0) == three.delta(2.0)

    def test_labels_decide(self):
        turned = tl.Channel([["1/5", "31/100", "49/100"], ["1/2", "3/10", "1/5"]], inputs=["b", "a"])
        one, two = (repeat([COIN, other], [5, 3], points=POINTS) for other in (SKEWED, turned))
        assert one.delta(1.0) == two.delta(1.0)
        swapped = tl.Prior(["2/3", "1/3"], labels=["b", "a"])
        assert one.envelope(PRIOR, "1/10").upper == two.envelope(swapped, "1/10").upper

    def test_more_points_narrow_the_gap(self):
        gaps = [repeat(SKEWED, 200, points=points).epsilon("1e-6").gap for points in (256, 1024, 4096)]
        assert gaps[0] > 4 * gaps[1] > 16 * gaps[2]

    def test_a_million_uses(self):
        channel = tl.Channel([["501/1000", "499/1000"], ["499/1000", "501/1000"]])
        assert repeat(channel, 10**6).epsilon("1e-6").gap < 1e-9

    @pytest.mark.parametrize(
        "call",
        [
            lambda: repeat(COIN, 0),
            lambda: repeat(COIN, -1),
            lambda: repeat(COIN, 1.5),
            lambda: repeat(COIN, [1, 2]),
            lambda: repeat([], 1),
            lambda: repeat([COIN, tl.Channel([[1], [1], [1]])], 1),
            lambda: repeat("coin", 1),
            lambda: repeat(COIN, 1, points=1),
            lambda: repeat(COIN, 1).epsilon(math.nan),
            lambda: repeat(COIN, 1).epsilon(-0.1),
            lambda: repeat(COIN, 1).epsilon(1.1),
            lambda: repeat(COIN, 1).delta(math.nan),
            lambda: repeat(COIN, 1).delta(-1),
            lambda: repeat(COIN, 1).envelope(PRIOR, 0),
            lambda: repeat(COIN, 1).envelope(tl.Prior.uniform(3), 0.5),
            lambda: repeat(tl.noise.AdditiveNoise(tl.noise.GaussianSecret(1), tl.noise.Gaussian(1)), 1),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, call):
        with pytest.raises(TightlipError):
            call()

    def test_the_ends_meet_where_a_secret_is_nearly_found_out(self):
        """Just below t = 1/p floats cannot tell what an outcome must be like."""
        found = repeat(COIN, 500).envelope(tl.Prior([0.3, 0.7]), "1/1000")
        assert_contains(found, -math.log(0.3), within=1e-8)


class TestGrids:
    """What is kept on the way: nothing is lost from above, and nothing is gained from below."""

    def parts(self):
        from flint import ctx

        with ctx.workprec(WORKING_BITS):
            skewed, erased = (channel_loss(*each.matrix.tolist()) for each in (SKEWED, ERASED))
            return [
                (skewed, 77),
                (erased, 3),
                (laplace_loss(Fraction(1, 3)), 20),
                (normal_loss(Fraction(2)), 1),
            ]

    def grid(self, rule, points=256):
        from flint import ctx

        with ctx.workprec(WORKING_BITS):
            return convolve(self.parts(), points, rule)

    def test_split_masses_sum_to_one_or_more(self):
        found = self.grid(split)
        total = Fraction(int(sum(found.masses)) + found.infinite, ONE)
        assert 1 <= total < 1 + Fraction(1, 10**25)
        assert Fraction(found.infinite, ONE) >= 1 - Fraction(1, 2) ** 3

    def test_merged_masses_sum_to_one_or_less(self):
        found = self.grid(merge)
        total = Fraction(int(sum(found.first)) + found.infinite, ONE)
        assert 1 - Fraction(1, 10**25) < total <= 1

    def test_split_masses_under_the_other_secret_sum_to_one_or_less(self):
        """Q of a split mechanism is P times e^{−loss}; what is missing has loss −∞."""
        found = self.grid(split)
        total = math.fsum(
            float(int(mass) / ONE) * math.exp(-float(found.origin + place * found.step))
            for place, mass in enumerate(found.masses)
        )
        assert total < 1 + 1e-9

    def test_tails_of_normal_losses_are_infinite_losses(self):
        from flint import ctx
        from scipy.stats import norm

        with ctx.workprec(WORKING_BITS):
            found = split(normal_loss(Fraction(2)), Fraction(1, 10))
        assert norm.sf(12.6) < found.infinite / ONE < 2 * norm.sf(12.4)

    def test_lengths_stay_within_the_points(self):
        assert len(self.grid(split).masses) <= 256
        assert len(self.grid(merge).first) == len(self.grid(merge).second) <= 256

    def test_rounding_is_outward(self):
        assert ceil_shift([0, 1, ONE, ONE + 1]) == [0, 1, 1, 2]


class TestMoreSecrets:
    THREE = tl.mechanism.randomized_response(3, tl.log_of(3))
    PRIOR = tl.Prior(["1/5", "3/10", "1/2"])

    def test_the_worst_pair_decides(self):
        channel = tl.Channel([["1/2", "1/4", "1/4"], ["1/5", "2/5", "2/5"], ["1/3", "1/6", "1/2"]])
        joint = power(channel, 6)
        assert_contains(repeat(channel, 6, points=POINTS).delta(tl.log_of(2)), excess(joint, 2), within=1e-2)

    def test_two_possible_secrets_are_two_secrets(self):
        prior, pair = tl.Prior(["1/3", 0, "2/3"]), tl.Channel(self.THREE.matrix[[0, 2]])
        one, two = repeat(self.THREE, 9, points=POINTS), repeat(pair, 9, points=POINTS)
        assert one.envelope(prior, "1/9").upper == two.envelope(tl.Prior(["1/3", "2/3"]), "1/9").upper

    def test_few_histograms_give_the_exact_envelope(self):
        found = repeat(self.THREE, 4).envelope(self.PRIOR, "1/10")
        truth = tl.envelope(power(self.THREE, 4), self.PRIOR, "1/10")
        assert (found.lower, found.upper) == (truth.lower, truth.upper)
        found.verify()

    def test_labels_of_the_prior_alone(self):
        named = tl.Prior(["1/5", "3/10", "1/2"], labels=["x", "y", "z"])
        for uses in (4, 1000):
            found = repeat(self.THREE, uses).envelope(named, "1/10")
            assert found.upper == repeat(self.THREE, uses).envelope(self.PRIOR, "1/10").upper

    def test_rules_bound_the_rest(self):
        five = tl.mechanism.randomized_response(5, tl.log_of(3))
        found = repeat(five, 1000).envelope(tl.Prior.uniform(5), "1/10")
        assert "log 1/p_min" in found.method
        assert_contains(found, math.log(5))
        assert found.upper <= math.log(5) * (1 + 1e-12)
        found.verify()

    @pytest.mark.parametrize("uses", [1, 5, 20])
    @pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1, 10), Fraction(1, 2)])
    def test_pairs_bound_the_envelope(self, uses, delta):
        """Of a channel whose histograms are few, so that the envelope is known."""
        channel = tl.Channel([["3/10", "7/10"], ["2/5", "3/5"], ["9/20", "11/20"]])
        repeated = repeat(channel, uses, points=1 << 12)
        bound = bound_by_pairs(repeated._pairs(), [Fraction(mass) for mass in self.PRIOR.masses], delta)
        truth = tl.envelope(power(channel, uses), self.PRIOR, delta)
        assert truth.lower <= bound <= truth.upper + 0.25

    @pytest.mark.parametrize("delta", [Fraction(1, 50), Fraction(1, 4), Fraction(3, 4)])
    @pytest.mark.parametrize("channel", [COIN, SKEWED, ERASED])
    def test_pairs_of_two_secrets_say_nearly_all(self, channel, delta):
        sides, masses = repeat(channel, 3)._pairs(), [Fraction(1, 3), Fraction(2, 3)]
        truth = tl.envelope(power(channel, 3), PRIOR, delta)
        assert truth.lower <= bound_by_pairs(sides, masses, delta) <= truth.upper + 0.05

    def test_pairs_say_most_where_histograms_are_many(self):
        channel = tl.Channel(
            [
                ["1/4", "1/4", "1/4", "1/4"],
                ["3/10", "1/5", "1/4", "1/4"],
                ["1/4", "1/4", "3/10", "1/5"],
                ["1/4", "1/4", "1/4", "1/4"],
                ["1/4", "1/4", "1/4", "1/4"],
            ]
        )
        prior = tl.Prior(["1/5", "3/10", "3/10", "1/10", "1/10"])
        found = repeat(channel, 50, points=1 << 12).envelope(prior, "1/100")
        assert "pairs" in found.method
        assert found.lower > 0.3
        assert found.upper < 1.8
        found.verify()

    def test_maximal_leakage_between_rules(self):
        found = repeat(self.THREE, 4, points=POINTS).maximal_leakage()
        assert found.lower <= tl.maximal_leakage(power(self.THREE, 4)) <= found.upper

    def test_failure_probability_wants_few(self):
        five = tl.mechanism.randomized_response(5, tl.log_of(3))
        with pytest.raises(ShapeMismatch, match="two secrets possible here, or up to four"):
            repeat(five, 1000).failure_probability(tl.Prior.uniform(5), 0.1)

    def test_failure_probability_of_few_histograms(self):
        four = tl.mechanism.randomized_response(4, tl.log_of(3))
        found = repeat(four, 3).failure_probability(tl.Prior.uniform(4), 0.5)
        truth = tl.failure_probability(power(four, 3), tl.Prior.uniform(4), 0.5)
        assert (found.lower, found.upper) == (truth.lower, truth.upper)
        found.verify()


class TestProofs:
    def numbers(self):
        one, two = repeat([COIN, ERASED], [5, 2], points=POINTS), repeat(gaussian(3), 7, points=POINTS)
        return [
            one.epsilon("3/4"),
            one.delta(tl.log_of(3)),
            one.envelope(PRIOR, "1/10"),
            one.failure_probability(PRIOR, 0.5),
            one.maximal_leakage(),
            two.epsilon("1e-6"),
            two.delta(0.5),
        ]

    def test_they_are_written_read_and_verified(self, tmp_path):
        for place, found in enumerate(self.numbers()):
            found.verify()
            found.save(tmp_path / f"{place}.json")
            read = tl.load(tmp_path / f"{place}.json")
            read.verify()
            assert (read.claim().lower, read.claim().upper) == (found.lower, found.upper)

    def test_ends_that_are_too_good_are_refused(self):
        from dataclasses import replace

        for found in self.numbers():
            better = replace(found.certificate, upper=math.nextafter(found.lower, -1) if found.gap else -1.0)
            with pytest.raises(CertificateInvalid):
                better.verify()


def test_the_search_in_floats_proves_nothing(monkeypatch):
    """A wrong proposal costs width: the ends still hold."""
    from tightlip.envelopes import loss_curve

    truth = tl.envelope(power(SKEWED, 5), PRIOR, "1/10")
    upper, lower = loss_curve.UpperCurve.attack, loss_curve.LowerCurve.attack
    monkeypatch.setattr(loss_curve.UpperCurve, "attack", lambda self, t, p: (upper(self, t, p)[0] * 0.9, 3))
    monkeypatch.setattr(
        loss_curve.LowerCurve, "attack", lambda self, t, p: (lower(self, t, p)[0] * 1.1, 3, 0.5)
    )
    found = repeat(SKEWED, 5, points=POINTS).envelope(PRIOR, "1/10")
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper


def test_the_search_over_pairs_proves_nothing(monkeypatch):
    from tightlip.envelopes.loss_envelope import _Suspect

    truth, estimate = tl.envelope(power(SKEWED, 5), PRIOR, "1/10"), _Suspect.estimate

    def hopeful(self, ratio, levels):
        found, place = estimate(self, ratio, levels)
        return 0.9 * found, place

    monkeypatch.setattr(_Suspect, "estimate", hopeful)
    sides = repeat(SKEWED, 5, points=POINTS)._pairs()
    assert bound_by_pairs(sides, [Fraction(1, 3), Fraction(2, 3)], Fraction(1, 10)) >= truth.lower


def test_normal_losses_of_all_mechanisms_are_one():
    parts = merge_alike([(normal_loss(Fraction(1, 4)), 3), (normal_loss(Fraction(1)), 1)])
    assert [(loss.density.squared, uses) for loss, uses in parts] == [(Fraction(7, 4), 1)]


def test_words():
    assert repr(repeat([COIN, SKEWED], [3, 4])) == "Repetition(7 uses of 2 mechanisms on 2 secrets)"
    with pytest.raises(InvalidInput, match="secret with bounds"):
        repeat([tl.noise.AdditiveNoise(tl.noise.GaussianSecret(1), tl.noise.Gaussian(1))], 2)
