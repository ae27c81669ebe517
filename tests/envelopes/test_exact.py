import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import tightlip as tl
from envelope_oracle import largest_mass, largest_ratio
from strategies import exact_channels, exact_pairs
from tightlip import papers
from tightlip.envelopes.adversaries import envelope, envelope_curve
from tightlip.envelopes.attack import Shares, evaluate, repair
from tightlip.envelopes.exact import Release, Solver
from tightlip.envelopes.failure import failure_probability
from tightlip.envelopes.limits import LIMITS
from tightlip.envelopes.lp import RestrictedMaster
from tightlip.measures.joint import Joint
from tightlip.numeric.ball import log_exceeds

checked = settings(max_examples=40, deadline=None)
deltas = st.sampled_from(["1/100", "1/10", "1/5", "1/3", "1/2", "4/5", "99/100", "1"])


def random_release(seed, secrets, outcomes, concentration=0.3):
    generator = np.random.default_rng(seed)
    rows = generator.dirichlet(np.full(outcomes, concentration), size=secrets)
    return tl.Channel(rows), tl.Prior(generator.dirichlet(np.full(secrets, 3.0)))


def reached_by(attack, channel, prior, delta):
    """The right quantile of the attacked release, measured afresh."""
    return tl.pml(channel.post_process(attack), prior).quantile(delta)


class TestReferenceValues:
    @pytest.mark.parametrize(
        ("delta", "ratio"),
        [("0.1", 4), ("0.2", "22/9"), ("0.5", "68/45"), ("0.8", "23/18"), ("0.9", "100/81"), ("1", "6/5")],
    )
    def test_env_example_1(self, delta, ratio):
        found = envelope(papers.env_example_1(), tl.Prior.uniform(4), delta)
        truth = math.log(Fraction(ratio))
        assert found.lower <= truth + 1e-15
        assert truth <= found.upper + 1e-15
        assert found.gap <= 1e-9
        found.verify()

    @pytest.mark.parametrize(
        ("delta", "value"), [(0.25, 0.7046054709), (0.4, 0.5842647782), (0.9, 0.3798854930)]
    )
    def test_randomised_response(self, delta, value):
        channel, prior = tl.mechanism.randomized_response(3, 1.0), tl.Prior([0.2, 0.3, 0.5])
        assert envelope(channel, prior, delta).value == pytest.approx(value, abs=1e-9)
        general = Solver(Release.of(channel, prior)).envelope(Fraction(delta), 1e-9)
        assert general.value == pytest.approx(value, abs=1e-8)

    def test_constant_leakage_stays_constant(self):
        prior = tl.Prior(["1/2", "3/10", "1/5"])
        extremal = tl.mechanism.pml_extremal(prior, tl.log_of("6/5"))
        for delta in ("0.01", "0.5", "1"):
            found = envelope(extremal, prior, delta)
            assert found.lower == pytest.approx(math.log(1.2), abs=1e-9)
            assert found.upper == pytest.approx(math.log(1.2), abs=1e-9)
        assert envelope(tl.mechanism.constant(3), prior, 0.3).upper == 0


class TestAgainstTheWholeProgram:
    @pytest.mark.parametrize("seed", range(12))
    def test_random_channels(self, seed):
        secrets, outcomes = 2 + seed % 6, 2 + (seed * 3) % 9
        channel, prior = random_release(seed, secrets, outcomes)
        for delta in (0.03, 0.2, 0.5, 0.9):
            found = envelope(channel, prior, delta)
            truth = largest_ratio(channel.matrix, prior.floats, delta)
            assert math.exp(found.lower) <= truth * (1 + 1e-7)
            assert truth <= math.exp(found.upper) * (1 + 1e-7)
            assert found.gap <= 1.1e-9
            found.verify()

    @checked
    @given(exact_pairs(), deltas)
    def test_small_exact_channels(self, pair, delta):
        channel, prior = pair
        found = envelope(channel, prior, delta)
        found.verify()
        assert found.upper - found.lower <= 1.1e-9
        truth = largest_ratio(channel.floats, prior.floats, float(Fraction(delta)))
        assert math.exp(found.upper) == pytest.approx(truth, rel=1e-6)

    @pytest.mark.parametrize("seed", range(6))
    def test_failure_probability(self, seed):
        channel, prior = random_release(seed, 4, 7)
        for level in (0.05, 0.3, 0.7, 1.1):
            found = failure_probability(channel, prior, level)
            found.verify()
            assert (
                found.lower - 1e-7
                <= largest_mass(channel.matrix, prior.floats, math.exp(level))
                <= found.upper + 1e-7
            )
            assert found.value - found.lower <= 1e-8
        assert failure_probability(channel, prior, tl.pml(channel, prior).worst).value == 0
        assert "jump" not in repr(found)

    @pytest.mark.parametrize("level", [tl.log_of("10/9"), math.log(10 / 9), "0.1", 1e-17])
    def test_failure_probability_at_the_leakage_of_an_outcome(self, level):
        """Some post-processing leaks log 6/5 for sure, so all of these levels are exceeded for sure."""
        found = failure_probability(papers.env_example_1(), tl.Prior.uniform(4), level)
        found.verify()
        assert found.lower > 1 - 1e-9
        assert found.upper == 1
        assert "jump" not in found.method

    def test_failure_probability_above_what_floats_hold(self):
        found = failure_probability(papers.env_example_1(), tl.Prior.uniform(4), tl.log_of(10**400))
        found.verify()
        assert found.value == 0

    def test_failure_probability_states_no_level_below_the_one_asked(self):
        """A level rounded down for display would turn "none leaks more" into a false claim."""
        down = tl.Nats.of_ratio(Fraction(4), "down")
        found = failure_probability(papers.env_example_1(), tl.Prior.uniform(4), down)
        assert found.value == 0
        assert log_exceeds(Fraction(4), float(down))
        assert not log_exceeds(Fraction(4), found.epsilon)
        found.verify()
        with pytest.raises(tl.errors.CertificateInvalid, match="upper end fails"):
            replace(found, epsilon=float(down)).verify()

    def test_failure_probability_above_every_leakage_is_zero(self):
        found = failure_probability(papers.env_example_1(), tl.Prior.uniform(4), tl.log_of(4))
        assert (found.lower, found.upper) == (0, 0)
        found.verify()


class TestTheorems:
    @checked
    @given(exact_pairs(outputs=4), st.data(), deltas)
    def test_post_processing_never_raises_it(self, pair, data, delta):
        channel, prior = pair
        after = channel.post_process(data.draw(exact_channels(inputs=4)))
        assert envelope(after, prior, delta).lower <= envelope(channel, prior, delta).upper

    @checked
    @given(exact_pairs())
    def test_it_falls_with_delta(self, pair):
        channel, prior = pair
        points = envelope_curve(channel, prior, ["1/50", "1/10", "1/4", "1/2", "9/10"])
        assert all(one.upper >= two.lower for one, two in pairwise(points))

    @checked
    @given(exact_pairs(), deltas)
    def test_it_lies_between_its_bounds(self, pair, delta):
        channel, prior = pair
        found = envelope(channel, prior, delta)
        leak = tl.pml(channel, prior)
        assert leak.quantile(delta) <= found.upper + 1e-9
        assert found.lower <= leak.worst
        assert found.lower <= tl.maximal_leakage(channel, prior) + math.log(1 / Fraction(delta)) + 1e-12

    @checked
    @given(exact_pairs(), deltas)
    def test_the_attack_reaches_the_lower_end(self, pair, delta):
        channel, prior = pair
        found = envelope(channel, prior, delta)
        assert reached_by(found.attack.exact(), channel, prior, delta) >= found.lower

    def test_duality_and_complementarity(self):
        channel, prior = random_release(3, 8, 12)
        release = Release.of(channel, prior)
        program = RestrictedMaster(release.pairs, 4.0)
        program.add(np.arange(len(release.pairs.chance)))
        found = program.solve()
        pairs, thresholds = release.pairs, program.thresholds(found.multipliers, 4.0)
        multipliers = 1 / (4.0 - thresholds)
        worth = pairs.weight + multipliers[pairs.secret] * (pairs.chance - 4.0 * pairs.weight)
        prices = np.maximum(pairs.best(worth), 0.0)
        assert 0.1 < found.value < 0.9
        assert found.value == pytest.approx(prices.sum(), abs=1e-9)  # strong duality
        used = found.places[found.weights > 1e-9]
        np.testing.assert_allclose(worth[used], prices[pairs.outcome[used]], atol=1e-9)
        given_away = np.bincount(pairs.outcome[found.places], found.weights, pairs.outcomes)
        np.testing.assert_allclose(given_away[prices > 1e-9], 1.0, atol=1e-9)
        slack = found.weights * (pairs.chance - 4.0 * pairs.weight)[found.places]
        totals = np.bincount(pairs.secret[found.places], slack)
        np.testing.assert_allclose(totals[found.multipliers > 1e-9], 0.0, atol=1e-9)
        assert (totals > -1e-9).all()
        np.testing.assert_allclose(
            program.outcome_prices(program.column_values(thresholds, 4.0)) * pairs.marginal,
            prices,
            atol=1e-12,
        )

    def test_repair_only_takes_away_and_restores_the_ratio(self):
        channel, prior = random_release(4, 5, 9)
        pairs = Release.of(channel, prior).pairs
        attack = repair(pairs, Shares.of(np.ones(len(pairs.chance)) / 5), 1.7)
        assert (attack.values <= 0.2 + 1e-15).all()
        assert evaluate(pairs, attack)[0] >= 1.7 * (1 - 1e-9)


class TestHardChannels:
    @pytest.mark.parametrize("delta", ["0.4", "0.9"])
    def test_many_secrets_that_are_nearly_alike(self, delta):
        """V has a jump for each of them, and outcomes may be joined to any: equally good pairs take turns."""
        generator = np.random.default_rng(3)
        response, order = tl.mechanism.randomized_response(200, 1.0), generator.permutation(200)
        prior = tl.Prior(generator.dirichlet(np.ones(200)))
        found = envelope(tl.Channel(np.asarray(response.matrix)[:, order]), prior, delta)
        truth = tl.envelopes.randomized_response(prior, 1.0, delta)
        assert found.lower <= truth.upper
        assert truth.lower <= found.upper
        assert found.gap <= 1e-9

    @pytest.mark.parametrize("seed", range(8))
    def test_badly_scaled_channels_still_give_a_certified_interval(self, seed):
        generator = np.random.default_rng(seed)
        rows = 10.0 ** generator.uniform(-12, 0, size=(5, 8))
        rows[generator.random((5, 8)) < 0.2] = 0.0
        rows[:, 0] += 0.01
        rows[:, 7] = rows[:, 6] * (1 + 1e-13 * generator.standard_normal(5))
        channel = tl.Channel(rows / rows.sum(axis=1, keepdims=True))
        masses = 10.0 ** generator.uniform(-6, 0, size=5)
        prior = tl.Prior(masses / masses.sum())
        for delta in (1e-6, 0.01, 0.5, 1.0):
            found = envelope(channel, prior, delta)
            found.verify()
            assert found.gap <= 1e-6 or "closer than" in found.method

    @pytest.mark.parametrize("seed", [3, 26, 46, 144])
    def test_small_probabilities_close_the_gap_too(self, seed):
        generator = np.random.default_rng(seed)
        rows = generator.dirichlet(np.full(40, 0.3), 8)
        rows[:, :20] *= 1e-7
        channel, prior = tl.Channel(rows / rows.sum(axis=1, keepdims=True)), tl.Prior.uniform(8)
        for delta in (1e-4, 1e-7, 2e-8, 5e-9):
            found = envelope(channel, prior, delta)
            assert found.gap <= 1e-9
            found.verify()

    def test_secrets_of_tiny_mass(self):
        """Lifts of 1e15 and more: too large for a solver or a search unless they are scaled."""
        unlikely = envelope(tl.Channel([[0.5, 0.5], [0.0, 1.0]]), tl.Prior([1e-39, 1 - 1e-39]), 0.5)
        unlikely.verify()
        assert unlikely.upper == pytest.approx(math.log(1.5), abs=1e-9)
        masses = [1.09e-15, 0.17, 0.83 - 1.09e-15]
        channel = tl.Channel([[0.97, 0.03], [0, 1.0], [0, 1.0]])
        for point in envelope_curve(channel, tl.Prior(masses), [1, 0.5, 0.05]):
            point.verify()
            assert point.gap < 1e-7

    def test_a_model_that_needs_presolving(self):
        """HiGHS ends it as unknown or infeasible with most of its settings."""
        generator = np.random.default_rng(1171)
        secrets, outcomes = int(generator.integers(3, 10)), int(generator.integers(3, 30))
        rows = generator.dirichlet(np.full(outcomes, 0.3), secrets)
        rows *= 10.0 ** -generator.uniform(0, generator.choice([3, 6, 9, 12, 14]), outcomes)
        channel = tl.Channel(rows / rows.sum(axis=1, keepdims=True))
        found = envelope(channel, tl.Prior(generator.dirichlet(np.ones(secrets))), 5.8e-6)
        found.verify()
        assert found.gap <= 1e-9

    def test_two_secrets_by_sorting(self):
        channel, prior = random_release(7, 2, 400)
        for delta in (0.01, 0.3, 0.77, 1.0):
            found = envelope(channel, prior, delta)
            assert "sorting two secrets" in found.method or "worst outcomes" in found.method
            assert found.gap <= 1e-9
            found.verify()
            truth = largest_ratio(channel.matrix, prior.floats, delta)
            assert math.exp(found.upper) == pytest.approx(truth, rel=1e-6)

    @pytest.mark.parametrize("delta", [0.9, 0.999999, 1 - 2**-53, 1])
    def test_two_secrets_with_tied_likelihood_ratios(self, delta):
        """Both secrets take from a tie; they must not begin with the same outcome of it."""
        rows = np.array([[2, 0, 2, 2, 1, 0], [2, 1, 2, 1, 0, 1]]) / 7
        for sparse in (False, True):
            channel = tl.Channel(csr_array(rows) if sparse else rows)
            found = envelope(channel, tl.Prior([0.5, 0.5]), delta)
            assert "sorting two secrets" in found.method
            assert found.gap <= 1e-9
            found.verify()

    def test_sparse_and_zero_mass_secrets(self):
        channel, prior = random_release(8, 6, 10)
        rows = np.where(np.asarray(channel.matrix) < 0.05, 0.0, np.asarray(channel.matrix))
        rows /= rows.sum(axis=1, keepdims=True)
        dense, sparse = tl.Channel(rows), tl.Channel(csr_array(rows))
        wanted = envelope(dense, prior, 0.3)
        found = envelope(sparse, prior, 0.3)
        found.verify()
        assert found.upper == pytest.approx(wanted.upper, abs=1e-9)
        wider = tl.Channel(np.vstack([rows, np.full(10, 0.1)]), inputs=list("abcdefg"))
        masses = tl.Prior(dict(zip("abcdefg", [*prior.floats, 0.0], strict=True)))
        again = envelope(wider, masses, 0.3)
        again.verify()
        assert again.upper == pytest.approx(wanted.upper, abs=1e-9)

    @pytest.mark.parametrize("gap", [1e-9, 1e-12])
    @pytest.mark.parametrize("rest", [0.0, 1e-12, 1e-9, 1e-6])
    def test_beside_a_jump_a_solver_is_not_misled(self, gap, rest):
        """Secrets 0 and 1 reach just 2, the others take all but `rest` at 2/δ."""
        channel = tl.Channel(np.eye(3)[[0, 0, 1, 2]])
        found = tl.envelope(channel, tl.Prior.uniform(4), 1 - rest, gap=gap)
        found.verify()
        assert found.lower <= np.log(2) - np.log1p(-rest) + 1e-15
        assert found.gap < max(gap, 3e-12)

    def test_ends_near_all_outcomes_meet(self):
        generator = np.random.default_rng(0)
        for _ in range(30):
            rows = generator.dirichlet(np.full(7, 0.5), 6) * (generator.random((6, 7)) < 0.5)
            rows[rows.sum(axis=1) == 0, 0] = 1
            channel = tl.Channel(rows / rows.sum(axis=1, keepdims=True))
            found = tl.envelope(channel, tl.Prior(generator.dirichlet(np.ones(6))), 1, gap=1e-12)
            assert found.gap < 3e-11

    def test_a_gap_that_floats_cannot_reach_is_not_searched_for(self):
        generator = np.random.default_rng(1)
        channel = tl.Channel(generator.dirichlet(np.full(6000, 0.5), 3))
        found = tl.envelope(channel, tl.Prior.uniform(3), "0.3", gap=1e-12)
        assert "could not be brought closer" in found.method
        assert found.gap < 1e-11
        assert found.solves < 60

    def test_a_curve_is_the_points_in_the_order_asked(self):
        channel, prior = random_release(9, 12, 15)
        asked = [0.5, 0.05, 0.9, 0.05]
        curve = envelope_curve(channel, prior, asked)
        assert [float(point.delta) for point in curve] == asked
        for point in curve:
            point.verify()
            alone = envelope(channel, prior, point.delta)
            assert point.upper == pytest.approx(alone.upper, abs=2e-9)

    def test_a_wider_gap_may_be_allowed(self):
        channel, prior = random_release(10, 10, 12)
        loose = envelope(channel, prior, 0.4, gap=1e-2)
        tight = envelope(channel, prior, 0.4)
        assert loose.lower <= tight.upper
        assert tight.lower <= loose.upper
        assert 1e-9 < loose.gap <= 1e-2


class TestLimits:
    """Whatever the limits are, both ends are proved; only the gap and the time depend on them."""

    @pytest.mark.parametrize(
        "change",
        [
            {"first_solves": 1, "later_solves": 0},
            {"first_solves": 0},
            {"stalls": 1, "slow_steps": 0},
            {"first_columns": 1, "added_columns": 1, "added_within": 0.0, "tie": 0.0},
            {"columns_per_row": 0, "dropped_below": 0.0},
            {"few_breakpoints": 0, "several_breakpoints": 0, "wide": 1.0, "narrow": 2.0, "clear": 1e-3},
            {"flat": 0.1, "secant_margin": 0.6},
            {"first_terms": 2, "most_terms": 2, "series_rest": 1.0},
            {"series_reach": 10.0, "basis_ended": 1e9, "basis_negative": 1e9, "newton_steps": 1},
            {"ratio_missed": 1.0, "mass_missed": 1.0},
            {"aggregated_outcomes": 0, "aggregated_per_secret": 0, "rounds": 2, "first_groups": 1},
            {"aggregated_outcomes": 0, "aggregated_per_secret": 0, "split_off": 1},
            {"complete_pairs": 0},
            {"verified_pairs": 0},
        ],
        ids=lambda change: next(iter(change)),
    )
    def test_no_limit_makes_it_unsound(self, change):
        channel, prior = random_release(2, 8, 11)
        solver = Solver(Release.of(channel, prior, replace(LIMITS, **change)))
        wanted = [Fraction(delta) for delta in ("9/10", "1/2", "3/10", "1/20")]
        for point in solver.envelopes(wanted, 1e-9):
            point.verify()
            truth = envelope(channel, prior, point.delta)
            assert point.lower <= truth.upper
            assert truth.lower <= point.upper

    def test_defaults_close_the_gap(self):
        channel, prior = random_release(2, 8, 11)
        assert envelope(channel, prior, "3/10").gap <= 1e-9


class TestRefusals:
    channel, prior = papers.env_example_1(), tl.Prior.uniform(4)

    @pytest.mark.parametrize(
        ("delta", "message"),
        [(0, "in (0, 1]"), (1.5, "in (0, 1]"), ("x", "finite number"), (math.nan, "finite")],
    )
    def test_bad_deltas(self, delta, message):
        with pytest.raises(tl.errors.InvalidInput) as caught:
            envelope(self.channel, self.prior, delta)
        assert message in str(caught.value)

    @pytest.mark.parametrize("deltas", [0.1, None, "0.1"])
    def test_a_curve_needs_a_list(self, deltas):
        with pytest.raises(
            tl.errors.WrongType, match=r"deltas must be a list of probabilities, got .*; write"
        ):
            envelope_curve(self.channel, self.prior, deltas)

    def test_a_curve_needs_a_point(self):
        with pytest.raises(tl.errors.InvalidInput, match="deltas must hold at least one"):
            envelope_curve(self.channel, self.prior, [])

    @pytest.mark.parametrize("gap", [0, 1, -1e-9, math.nan])
    def test_bad_gaps(self, gap):
        with pytest.raises(tl.errors.InvalidInput, match="gap must be"):
            envelope(self.channel, self.prior, 0.2, gap=gap)

    def test_a_solver_that_stops_later_leaves_what_is_proved(self, monkeypatch):
        solve, calls = RestrictedMaster.solve, []

        def tiring(self, effort):
            calls.append(1)
            if len(calls) > 1:
                raise tl.errors.SolverFailure("tired")
            return solve(self, effort)

        monkeypatch.setattr(RestrictedMaster, "solve", tiring)
        found = envelope(*random_release(12, 12, 3), 0.9)
        assert len(calls) == 2
        assert found.gap > 1e-6
        assert "could not be brought closer" in found.method
        assert "since the solver stopped: tired" in found.method
        found.verify()

    @pytest.mark.parametrize("change", ["passModel", "addCols"])
    def test_a_program_that_the_solver_does_not_take_is_an_error(self, monkeypatch, change):
        import highspy

        monkeypatch.setattr(highspy.Highs, change, lambda *_: highspy.HighsStatus.kError)
        channel, prior = random_release(0, 4, 6)
        with pytest.raises(
            tl.errors.SolverFailure, match=r"at ratio .* must be taken by the solver, got status"
        ):
            envelope(channel, prior, 0.3)

    def test_a_solver_that_stops_early_is_an_error_not_an_answer(self, monkeypatch):
        import highspy

        monkeypatch.setattr(highspy.Highs, "getModelStatus", lambda _: highspy.HighsModelStatus.kUnknown)
        with pytest.raises(
            tl.errors.SolverFailure, match=r"must end at an optimum, got status .* infeasibility"
        ):
            envelope(self.channel, self.prior, 0.2)


def test_all_outcomes_are_added_up_once_at_delta_one(monkeypatch):
    """Each attack is compared with everything there is; what it leaves over is added up instead."""
    channel, prior = random_release(5, 30, 40)
    exact_mass, sizes = Joint.exact_mass, []

    def counted(self, outcomes):
        sizes.append(len(outcomes))
        return exact_mass(self, outcomes)

    monkeypatch.setattr(Joint, "exact_mass", counted)
    envelope(channel, prior, 1).verify()
    assert sorted(sizes)[-2] < 20 < max(sizes) == 40


def test_a_prior_names_the_secrets_of_a_channel_without_names(tmp_path):
    channel = tl.Channel([["1/2", "3/10", "1/5"], ["1/10", "1/5", "7/10"], ["3/10", "3/10", "2/5"]])
    masses = ["1/5", "3/10", "1/2"]
    named, bare = tl.Prior(masses, labels=["x", "y", "z"]), tl.Prior(masses)
    found = envelope(channel, named, "1/10")
    assert (found.lower, found.upper) == (
        envelope(channel, bare, "1/10").lower,
        envelope(channel, bare, "1/10").upper,
    )
    assert set(found.attack.outputs) <= {"x", "y", "z", "rest"}
    found.save(tmp_path / "proof.json")
    tl.load(tmp_path / "proof.json").verify()
    failure_probability(channel, named, 0.2).verify()
    assert len(envelope_curve(channel, named, ["1/10", "1/2"])) == 2
