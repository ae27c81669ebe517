"""A curve's points are those of single envelopes, found by following one optimum from point to point."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightlip as tl
from tightlip.certificate.envelope import EnvelopeCertificate
from tightlip.envelopes.adversaries import envelope, envelope_curve, envelope_points
from tightlip.envelopes.bracketing import Predictor
from tightlip.envelopes.exact import Release, Solver
from tightlip.envelopes.limits import LIMITS
from tightlip.envelopes.lp import RestrictedMaster


def release(seed, size):
    generator = np.random.default_rng(seed)
    channel = tl.Channel(generator.dirichlet(np.full(size, 0.3), size))
    return channel, tl.Prior(generator.dirichlet(np.ones(size)))


def optimum(program, ratio):
    program.move(ratio)
    found = program.solve()
    while program.add(program.price(program.thresholds(found.multipliers, ratio), ratio)):
        found = program.solve()
    return found


def moving_program():
    pairs = Release.of(*release(0, 40)).pairs
    program = RestrictedMaster(pairs, 5.0)
    program.add_first()
    return program


def predictor(program, found):
    basis = program.basis()
    return Predictor(program.ratio, basis, found.weights[basis.columns], found.multipliers)


class Series:
    """A basis of one pair, of weight 1, whose share has these terms after the first."""

    def __init__(self, *terms):
        self.terms = (*terms, *[0.0] * 16)
        self.weight = np.ones(1)
        self.found = 0

    def extend_weights(self, known, terms):
        self.found = terms - 1
        return np.array([known[0], *([term] for term in self.terms[: self.found])])


class TestPredictor:
    def test_series_agree_with_another_solve(self):
        program = moving_program()
        ratio = 9.0
        first = optimum(program, ratio)
        assert 0.01 < first.value < 0.99
        drift = predictor(program, first)
        steps = (1e-3, -1e-4, 1e-4)
        drift.crossing(first.value * 0.999, 1.0, 100.0)  # enough terms for all steps
        weights = {step: drift.weights_at(ratio + step) for step in steps}
        multipliers = {step: drift.multipliers_at(ratio + step) for step in steps}
        places = {int(place): index for index, place in enumerate(program.chosen)}
        basic = [places[int(place)] for place in drift.basis.places]
        for step in steps:
            again = optimum(program, ratio + step)
            moved = np.zeros(len(program.chosen))
            moved[basic] = weights[step]
            assert np.allclose(moved, again.weights[: len(moved)], atol=1e-9)
            assert np.allclose(multipliers[step], again.multipliers, rtol=1e-6, atol=1e-9)
            assert drift.crossing(again.value, 1.0, 100.0) == pytest.approx(ratio + step, rel=1e-10)

    def test_crossing(self):
        drift = Predictor(4.0, Series(-0.25, 0.01), np.array([0.5]), np.array([1.0]))
        met = drift.crossing(0.49, 3.0, 5.0)
        step = met - 4.0
        assert 0.5 - 0.25 * step + 0.01 * step**2 == pytest.approx(0.49, rel=1e-14)
        assert drift.crossing(0.49, 3.9, 4.01) == 4.01  # V is still above δ at the end
        assert drift.crossing(0.51, 3.99, 5.0) == 3.99
        assert drift.crossing(0.3, 3.0, 5.0) is None  # farther than series are trusted
        assert drift.crossing(0.7, 3.0, 5.0) is None
        rising = Predictor(4.0, Series(0.25, 0.01), np.array([0.5]), np.array([1.0]))
        assert rising.crossing(0.49, 3.0, 5.0) is None
        ending = Predictor(4.0, Series(-10.0, 1e4), np.array([0.1]), np.array([1.0]))
        assert ending.crossing(0.01, 3.0, 5.0) is None

    def test_terms_are_found_as_they_are_needed(self):
        basis = Series(*(-(0.3**k) for k in range(1, 17)))
        drift = Predictor(4.0, basis, np.array([0.5]), np.array([1.0]))
        assert drift.crossing(0.5 - 1e-9, 3.0, 5.0) > 4.0
        few = basis.found
        assert drift.crossing(0.49, 3.0, 5.0) > 4.03
        assert 2 <= few < basis.found <= 15

    def test_a_search_does_without(self):
        limits = replace(LIMITS, most_terms=0)
        solver = Solver(Release.of(*release(3, 15), limits))
        for point in solver.envelopes([Fraction(4, 5), Fraction(2, 5), Fraction(1, 20)], 1e-9):
            assert point.gap <= 1.1e-9
            point.verify()

    @pytest.mark.parametrize("deltas", [[0.05, 0.4, 0.8], [0.8]])
    def test_a_solver_without_factors_does_too(self, monkeypatch, deltas):
        import highspy

        program = moving_program()
        optimum(program, 9.0)
        assert program.basis() is not None
        refused = highspy.HighsStatus.kError, np.array([])
        monkeypatch.setattr(highspy.Highs, "getBasicVariables", lambda _: refused)
        assert program.basis() is None
        for point in envelope_curve(*release(3, 15), deltas):
            assert point.gap <= 1.1e-9
            point.verify()

    def test_a_basis_is_of_one_model(self):
        """After any change of the model HiGHS has other factors, or none."""
        program = moving_program()
        optimum(program, 9.0)
        changes = [
            program.solve,
            lambda: program.move(program.ratio + 0.1),
            lambda: program.add(program.absent(np.arange(len(program.pairs.chance)))[:1]),
        ]
        for change in changes:
            program.solve()
            basis = program.basis()
            assert basis.is_current
            change()
            assert not basis.is_current
        found = program.solve()
        basis = program.basis()
        program.drop(found, program.thresholds(found.multipliers, program.ratio))
        assert not basis.is_current


class TestCurve:
    @settings(max_examples=15)
    @given(st.integers(0, 10**6), st.integers(3, 12), st.booleans())
    def test_points_are_those_of_single_envelopes(self, seed, size, uneven):
        channel, prior = release(seed, size)
        deltas = np.linspace(0.05, 0.95, 7) if uneven else [0.5, 0.3, 0.3000001, 0.1, 0.9]
        for delta, point in zip(deltas, envelope_curve(channel, prior, deltas), strict=True):
            alone = envelope(channel, prior, delta)
            assert point.lower <= alone.upper
            assert alone.lower <= point.upper
            assert point.upper - point.lower <= 1.1e-9
            point.verify()

    def test_one_solve_for_each_point_is_nearly_enough(self):
        channel, prior = release(0, 60)
        curve = envelope_curve(channel, prior, np.linspace(0.005, 0.995, 200))
        assert np.mean([point.solves for point in curve]) < 1

    def test_points_from_the_smallest_up_share_work_too(self):
        channel, prior = release(1, 30)
        deltas = [Fraction(place, 41) for place in range(1, 41)]
        up = list(envelope_points(channel, prior, deltas))
        down = envelope_curve(channel, prior, deltas)
        assert all(abs(one.upper - two.upper) < 2e-9 for one, two in zip(up, down, strict=True))
        alone = [envelope(channel, prior, delta) for delta in deltas]
        assert sum(point.solves for point in up) < sum(point.solves for point in alone) / 2
        for point in up[::8]:
            point.verify()

    def test_points_within_a_jump_need_no_solve(self):
        channel, prior = release(0, 60)
        curve = envelope_curve(channel, prior, np.linspace(0.3, 0.7, 400))
        same = [
            after.solves
            for before, after in zip(curve[1:], curve[:-1], strict=True)
            if abs(before.upper - after.upper) < 1e-12
        ]
        assert len(same) > 5
        assert np.mean(same) < 0.5

    @pytest.mark.parametrize("points", [envelope_curve, lambda *given: list(envelope_points(*given))])
    def test_of_two_with_one_float_the_smaller_may_come_first(self, points):
        """An attack of that very probability has not the other."""
        rows = [["1/8", "1/2", "3/8"], ["1/11", "6/11", "4/11"], ["4/15", "2/5", "1/3"]]
        channel, prior = tl.Channel(rows), tl.Prior(["1/7", "1/7", "5/7"])
        outcomes = Fraction(1213, 1848)  # the last two
        more = outcomes + Fraction(1, 10**22)
        assert float(more) == float(outcomes)
        for point in points(channel, prior, [outcomes, more]):
            point.verify()
            assert point.certificate.lower.mass == point.delta

    def test_what_floats_cannot_tell_is_checked_in_rationals(self, monkeypatch):
        asked, verified = [], []
        monkeypatch.setattr(EnvelopeCertificate, "surely_holds", lambda *_: asked.append(1))
        monkeypatch.setattr("tightlip.certificate.envelope._check_upper", lambda *_: verified.append(1))
        channel, prior = release(2, 5)
        envelope_curve(channel, prior, [0.2, 0.4, 0.6])
        assert (len(asked), len(verified)) == (3, 3)
        envelope(channel, prior, 0.4)
        assert (len(asked), len(verified)) == (3, 4)

    def test_a_start_that_does_harm_is_left(self):
        """Outcomes of probability 1e-34 and less: the last optimum leads the search at some δ astray."""
        generator = np.random.default_rng(6)
        lifts = 1.5 ** -np.abs(np.arange(20)[:, None] - np.arange(200))
        channel = tl.Channel(lifts / lifts.sum(axis=1, keepdims=True))
        prior = tl.Prior(generator.dirichlet(np.full(20, 0.5)))
        curve = envelope_curve(channel, prior, np.linspace(0.01, 0.99, 26))
        assert max(point.gap for point in curve) < 2e-9


class TestHardDeltas:
    @pytest.mark.parametrize("delta", [1, 1 - 1e-12, 1 - 1e-6, 0.99])
    def test_where_v_is_flat_few_solves_are_enough(self, delta):
        rows = [[3, 1, 0], [3, 1, 3], [2, 2, 0]]
        channel = tl.Channel([[Fraction(count, sum(row)) for count in row] for row in rows])
        point = envelope(channel, tl.Prior(["3/8", "1/8", "4/8"]), delta)
        assert point.solves < 15
        assert point.gap < 2e-9

    @pytest.mark.parametrize("noise", [lambda z: np.exp(-10 * abs(z)), lambda z: np.exp(-50 * z**2)])
    def test_secrets_that_are_alike_need_few_solves_of_few_pairs(self, noise):
        """Many pairs of an outcome are worth nearly the same: few at once cost solves, too many kept slow them down."""
        rows = noise(np.linspace(0, 1, 200)[:, None] - np.linspace(0, 1, 250))
        prior = tl.Prior(np.random.default_rng(0).dirichlet(np.ones(200)))
        solver = Solver(Release.of(tl.Channel(rows / rows.sum(axis=1, keepdims=True)), prior))
        point = solver.envelope(Fraction(1), 1e-9)
        point.verify()
        assert point.gap < 2e-9
        assert point.solves < 30
        assert solver.columns < 8000

    def test_the_probability_of_the_worst_outcome_as_floats_have_it(self):
        """In floats the outcome has probability δ, exactly a little less; a bound without margin proved nothing."""
        channel = tl.Channel([[0.25, 0.75], [0.6363636363636364, 0.36363636363636365], [0.8, 0.2]])
        prior = tl.Prior([0.4, 0.4, 0.2])
        delta = 0.5145454545454546
        for point in (envelope(channel, prior, delta), *envelope_curve(channel, prior, [delta, 0.9])):
            point.verify()

    def test_all_outcomes_with_some_too_rare_for_a_solver(self):
        lifts = 4.0 ** -np.abs(np.arange(8)[:, None] - np.arange(40))
        channel = tl.Channel(lifts / lifts.sum(axis=1, keepdims=True))
        prior = tl.Prior(np.random.default_rng(1).dirichlet(np.ones(8)))
        for delta in (1, 1 - 1e-16):
            assert envelope(channel, prior, delta).gap < 2e-9

    def test_only_two_secrets_are_sorted(self):
        channel, prior = release(0, 20)
        curve = envelope_curve(channel, prior, np.linspace(0.3, 0.7, 100))
        assert any(point.solves == 0 for point in curve)
        assert not any("sorting" in point.method for point in curve)
