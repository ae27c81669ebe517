"""Lemmas, corollaries and remarks of the papers that no function computes, each on small cases."""

import math
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

import exact_oracle as oracle
import histogram_oracle
import tightlip as tl
from strategies import exact_channels, exact_pairs, exact_priors
from tightlip.contraction import divergence, dobrushin_bound
from tightlip.noise import (
    AdditiveNoise,
    DiscreteSecret,
    Gaussian,
    GaussianSecret,
    UniformSecret,
    information_density,
    interval_leakage,
)

checked = settings(max_examples=60, deadline=None)
deltas = st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20)
ratios = st.fractions(Fraction(11, 10), 4, max_denominator=10)


def dot(weights, values):
    return sum(weight * value for weight, value in zip(weights, values, strict=True))


def subsets(items):
    return (part for size in range(len(items) + 1) for part in combinations(items, size))


class TestEnv:
    @checked
    @given(exact_pairs(), deltas)
    def test_theorem_2_left_quantiles_come_as_near_as_right_ones(self, pair, delta):
        """The attack of a little more than δ has that left quantile at δ, and ε_c falls by log δ′/δ at most."""
        channel, prior = pair
        more = delta * (1 + Fraction(1, 10**6))
        found = tl.envelope(channel, prior, delta)
        attack = tl.envelope(channel, prior, more).attack.exact()
        left = tl.pml(channel.post_process(attack), prior).left_quantile(delta)
        assert left >= found.upper - 2e-6
        assert left <= found.upper

    @checked
    @given(exact_pairs(), st.data())
    def test_lemma_2_both_quantiles_are_over_sets_of_outcomes(self, pair, data):
        """Also at the probabilities of the worst outcomes, where the two differ."""
        leak = tl.pml(*pair)
        levels = [(value.ratio, mass.fraction) for value, mass in leak.levels()]
        jumps = [sum(q for t, q in levels if t >= level) for level, _ in levels]
        jumps = [each for each in jumps if each < 1] or [Fraction(1, 2)]
        delta = data.draw(st.one_of(deltas, st.sampled_from(jumps)))
        sets = [part for part in subsets(levels) if part]
        least = min(max(t for t, _ in part) for part in sets if sum(q for _, q in part) >= 1 - delta)
        most = max(min(t for t, _ in part) for part in sets if sum(q for _, q in part) >= delta)
        assert leak.left_quantile(delta).ratio == least
        assert leak.quantile(delta).ratio == most

    @checked
    @given(exact_pairs(outputs=4), st.data())
    def test_lemma_3_iv_a_smaller_event_that_leaks_no_less(self, pair, data):
        """The outcomes of an event with the largest K_xy/P(y), a part of the last: any probability below its own."""
        channel, prior = pair
        rows, masses = oracle.rows_of(channel), oracle.masses_of(prior)
        q = oracle.marginal(rows, masses)
        event = data.draw(st.sampled_from([part for part in subsets(range(4)) if sum(q[y] for y in part)]))
        whole = tl.event_leakage(channel, prior, set(event)).ratio
        left = wanted = sum(q[y] for y in event) * data.draw(deltas)
        best = max(range(len(rows)), key=lambda x: sum(rows[x][y] for y in event))
        weights = dict.fromkeys(range(4), Fraction(0))
        for y in sorted((y for y in event if q[y]), key=lambda y: rows[best][y] / q[y], reverse=True):
            weights[y] = min(Fraction(1), left / q[y])
            left -= weights[y] * q[y]
        assert dot(weights.values(), q) == wanted
        assert tl.event_leakage(channel, prior, weights).ratio >= whole
        assert tl.event_leakage(channel, prior, set(range(4))).ratio == 1  # (ii)

    @checked
    @given(
        st.lists(st.integers(0, 9), min_size=2, max_size=5).filter(lambda row: max(row) > min(row)), deltas
    )
    def test_corollary_1_equal_leakage_of_all_outcomes_stays(self, weights, delta):
        """A circulant channel under the uniform prior; the extremal one of Theorem 4 is another."""
        size, total = len(weights), sum(weights)
        rows = [[Fraction(weights[(y - x) % size], total) for y in range(size)] for x in range(size)]
        level = math.log(Fraction(size * max(weights), total))
        found = tl.envelope(tl.Channel(rows), tl.Prior.uniform(size), delta)
        assert (found.lower, found.upper) == (pytest.approx(level, abs=1e-9), pytest.approx(level, abs=1e-9))


class TestDob:
    @checked
    @given(exact_channels(), st.data())
    def test_lemma_2_priors_with_a_smallest_mass_contract_no_less(self, channel, data):
        size = channel.shape[0]
        c = Fraction(data.draw(st.integers(1, 9)), 10 * size)

        def ratio(one, two):
            p, q = ([c + (1 - size * c) * mass for mass in masses] for masses in (one, two))
            return tv(channel, p, q) / (dot([1] * size, [abs(a - b) for a, b in zip(p, q, strict=True)]) / 2)

        found = tl.dobrushin(channel)
        assume(found.fraction)
        corners = [[Fraction(label == held) for label in channel.inputs] for held in found.pair]
        assert ratio(*corners) == found.fraction
        one, two = (data.draw(exact_priors(size)).masses.tolist() for _ in range(2))
        assume(one != two)
        assert ratio(one, two) <= found.fraction

    @checked
    @given(exact_channels(), st.integers(1, 9))
    def test_lemma_3_two_outcomes_are_enough(self, channel, tenths):
        """Tell only whether the first of the two rows furthest apart has the larger entry."""
        found = tl.dobrushin(channel)
        rows = oracle.rows_of(channel)
        one, two = (rows[channel.inputs.position(label)] for label in found.pair)
        merged = channel.post_process(
            tl.Channel([[int(a > b), int(a <= b)] for a, b in zip(one, two, strict=True)])
        )
        assert tl.dobrushin(merged).fraction == found.fraction
        mass = Fraction(tenths, 10 * len(rows))
        before, after = (tl.leakage_capacity(each, min_mass=mass).ratio for each in (channel, merged))
        assert after <= before

    @checked
    @given(exact_pairs())
    def test_proposition_3_an_outcome_that_tells_a_subset_leaks_its_surprise(self, pair):
        channel, prior = pair
        leak = tl.pml(channel, prior)
        for outcome, ratio in zip(leak.outcomes, leak.ratios, strict=True):
            place = channel.outputs.position(outcome)
            left = dot(prior.masses, [row[place] > 0 for row in oracle.rows_of(channel)])
            assert ratio >= 1 / left

    @checked
    @given(st.integers(2, 9), ratios)
    def test_remark_1_no_smallest_mass_and_the_largest_one(self, size, growth):
        level = tl.log_of(growth)
        assert dobrushin_bound(size, level, 0).fraction == (growth - 1) / (growth + 1)
        assert dobrushin_bound(size, level, Fraction(1, size)).fraction == min(growth - 1, 1)

    @pytest.mark.parametrize("size", [2, 3, 6])
    def test_theorem_2_for_every_divergence(self, size):
        """Two secrets with disjoint outcomes: inputs on these two are as far apart after as before."""
        c = Fraction(1, 3 * size)
        kernel = tl.Channel([["1/2", "1/2"]] * (size - 2) + [[1, 0], [0, 1]])
        assert tl.leakage_capacity(kernel, min_mass=c).ratio == 2 / (size * c)
        p, q = (
            [Fraction(0)] * (size - 2) + part
            for part in ([Fraction(1, 3), Fraction(2, 3)], [Fraction(1, 2)] * 2)
        )
        for kind in ("tv", "kl", "chi2", "h2"):
            before, after = divergence(p, q, kind), divergence(after_of(kernel, p), after_of(kernel, q), kind)
            assert (before.lower, before.upper) == (after.lower, after.upper)

    def test_theorem_2_other_divergences_may_contract_less_than_chi_squared(self):
        """The proof has η_χ² = η_f for all smooth convex f. f(t) = √((t−1)² + s²) − s comes near TV, s = 1/100."""
        coin = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"]])
        assert tl.contraction.chi_squared_contraction(coin).upper == pytest.approx(0.25)

        def spread(p, q):
            return sum(b * (math.hypot(a / b - 1, 0.01) - 0.01) for a, b in zip(p, q, strict=True))

        p, q = [Fraction(9, 10), Fraction(1, 10)], [Fraction(1, 10), Fraction(9, 10)]
        assert spread(after_of(coin, p), after_of(coin, q)) > 0.49 * spread(p, q)


def after_of(channel, masses):
    return [dot(masses, column) for column in zip(*oracle.rows_of(channel), strict=True)]


def tv(channel, p, q):
    return sum(abs(a - b) for a, b in zip(after_of(channel, p), after_of(channel, q), strict=True)) / 2


class TestPmc:
    def test_remark_1_ldp_depends_on_the_prior_through_its_support(self):
        channel = tl.Channel([["1/2", "1/2"], ["1/4", "3/4"], [1, 0]])
        assert math.isinf(tl.ldp(channel))
        assert tl.ldp(channel, tl.Prior(["1/2", "1/2", 0])).ratio == 2
        assert tl.ldp(channel, tl.Prior(["1/9", "8/9", 0])).ratio == 2

    @checked
    @given(exact_pairs(), st.data())
    def test_proposition_2_costs_of_a_randomised_function_are_costs_of_the_secret(self, pair, data):
        """c₂(x, w) = E[c₁(U, w) | X = x] leaks what c₁ does, outcome by outcome and on average."""
        channel, prior = pair
        function = data.draw(exact_channels(inputs=len(prior), outputs=3))
        row = st.lists(st.fractions(0, 5, max_denominator=9), min_size=2, max_size=2)
        first = [data.draw(row) for _ in range(3)]
        kernel = oracle.rows_of(function)
        second = [[dot(chances, [first[u][w] for u in range(3)]) for w in range(2)] for chances in kernel]

        def least(masses):
            of_u = oracle.marginal(kernel, masses)
            return min(dot(of_u, [first[u][w] for u in range(3)]) for w in range(2))

        before = least(oracle.masses_of(prior))
        assume(before)
        found = tl.measures.cost_leakage(channel, prior, second)
        after = {
            outcome: least(oracle.masses_of(tl.measures.posterior(channel, prior, outcome)))
            for outcome in found.outcomes
        }
        assert list(found.ratios) == [before / cost if cost else None for cost in after.values()]
        q = dict(
            zip(
                channel.outputs,
                oracle.marginal(oracle.rows_of(channel), oracle.masses_of(prior)),
                strict=True,
            )
        )
        mean = sum(q[outcome] * cost for outcome, cost in after.items())
        assert found.average.ratio == (before / mean if mean else None)

    @checked
    @given(exact_pairs(positive=True), st.data())
    def test_corollary_2_conditional_cost_is_a_divergence_of_posteriors(self, pair, data):
        channel, prior = pair
        side = data.draw(exact_channels(inputs=len(prior), outputs=2, positive=True))
        seen = side.outputs[0]
        believed = tl.measures.posterior(side, prior, seen)
        found = tl.measures.conditional_pmc(channel, prior, side=side, given=seen)
        for outcome, ratio in zip(found.outcomes, found.ratios, strict=True):
            after = tl.measures.posterior(channel, believed, outcome)
            assert ratio == max(a / b for a, b in zip(believed.masses, after.masses, strict=True))

    def test_corollary_2_does_not_reduce_to_the_posterior_without_the_side_information(self):
        """Z − X − Y with Z nearly X: what is left to learn is little, D∞(P_X|Z=z ‖ P_X|Y=y) is not."""
        coin, prior = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"]]), tl.Prior.uniform(2)
        side = tl.Channel([["99/100", "1/100"], ["1/100", "99/100"]])
        true = tl.measures.conditional_pmc(coin, prior, side=side, given=0).value_of(1).ratio
        believed, after = (tl.measures.posterior(each, prior, y).masses for each, y in ((side, 0), (coin, 1)))
        printed = max(a / b for a, b in zip(believed, after, strict=True))
        assert (true, printed) == (Fraction(51, 50), Fraction(99, 25))

    @pytest.mark.parametrize("masses", [["1/2", "3/10", "1/5"], ["1/4"] * 4, ["7/10", "3/10"]])
    def test_corollary_5_no_alip_mechanism_is_more_useful_than_the_extremal_one(self, masses):
        """Mutual information, sub-convex: random channels, drawn towards constant ones until they keep ε-PML."""
        prior = tl.Prior(masses)
        growth = 1 + Fraction(4, 5) * (1 / (1 - prior.min_mass) - 1)
        level = tl.log_of(growth)
        extremal = tl.mechanism.pml_extremal(prior, level)
        most = information(extremal.floats, prior.floats)
        assert tl.pmc(extremal, prior).worst.ratio == tl.convert.pml_to_pmc(level, prior).ratio
        generator = np.random.default_rng(len(masses))
        for _ in range(300):
            rows = generator.dirichlet(np.full(generator.integers(2, 6), 0.3), size=len(prior))
            q = prior.floats @ rows
            share = min(1.0, (float(growth) - 1) / ((rows / q).max() - 1))
            assert information(share * rows + (1 - share) * q, prior.floats) <= most + 1e-12


def information(rows, masses):
    q = masses @ rows
    return float((masses[:, None] * rows * np.log(np.where(rows > 0, rows / q, 1))).sum())


SECRETS = [GaussianSecret("3/2"), UniformSecret(-1, 2), DiscreteSecret([-1, 0, 2], ["0.2", "0.5", "0.3"])]


class TestGau:
    @pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: type(secret).__name__)
    def test_lemma_5_information_density_is_concave_in_the_outcome(self, secret):
        release = AdditiveNoise(secret, Gaussian(1))
        ys = [Fraction(step, 4) for step in range(-20, 21)]
        for x in (-1, 0, 2):
            left, middle, right = (
                [information_density(release, x, y) for y in ys[at : len(ys) - 2 + at]] for at in range(3)
            )
            for one, two, three in zip(left, middle, right, strict=True):
                assert one.upper + three.upper < 2 * two.lower

    @pytest.mark.parametrize(("a", "b"), [(-1.0, 3.0), (0.5, 6.0)])
    @pytest.mark.parametrize("delta", [0.02, 0.1])
    def test_lemma_1_ii_the_best_event_within_an_interval_is_an_interval(self, a, b, delta):
        """Cells of a fine grid with the largest f(y|x)/f_Y(y), up to probability δ, lie side by side for every x."""
        edges = np.linspace(a, b, 2001)
        middles = (edges[1:] + edges[:-1]) / 2
        overall = np.diff(0.6 * stats.norm(-0.5, 1.2).cdf(edges) + 0.4 * stats.norm(1.5, 1.6).cdf(edges))
        assert overall.sum() > delta
        for x in np.linspace(a - 3, b + 3, 37):
            order = np.argsort(-stats.norm.logpdf(middles - x) + np.log(overall))
            taken = np.sort(order[: np.searchsorted(np.cumsum(overall[order]), delta) + 1])
            assert (np.diff(taken) == 1).all()

    @pytest.mark.parametrize("start", ["1/10", 1, 3])
    @pytest.mark.parametrize("sigma", ["1/2", 1, "17/10"])
    def test_lemma_3_longer_intervals_leak_more_up_to_the_tail(self, sigma, start):
        release = AdditiveNoise(GaussianSecret(sigma), Gaussian(1))
        ends = [Fraction(start) + Fraction(step, 8) for step in range(1, 40)]
        levels = [interval_leakage(release, start, end) for end in ends]
        tail = interval_leakage(release, start, math.inf)
        assert all(one.upper < two.lower for one, two in pairwise(levels[:25]))
        assert all(one.lower <= two.upper for one, two in pairwise([*levels, tail]))
        beyond = stats.norm(0, math.hypot(float(Fraction(sigma)), 1)).sf(float(Fraction(start)))
        assert tail.value == pytest.approx(-math.log(beyond), rel=1e-12)

    @pytest.mark.parametrize("start", ["1/10", 1, 3])
    @pytest.mark.parametrize("sigma", [1, 3, 10])
    def test_lemma_6_short_intervals_leak_more_the_longer(self, sigma, start):
        release = AdditiveNoise(GaussianSecret(sigma), Gaussian(1))
        levels = [
            interval_leakage(release, start, Fraction(start) + Fraction(1, 2**k)) for k in range(20, 8, -1)
        ]
        assert all(one.upper < two.lower for one, two in pairwise(levels))

    def test_lemma_3_needs_its_condition(self):
        release = AdditiveNoise(GaussianSecret(4), Gaussian(1))
        assert interval_leakage(release, 1, 4).lower > interval_leakage(release, 1, math.inf).upper

    @pytest.mark.parametrize("start", [1.5, 2.5])
    def test_lemmas_7_and_8_for_a_skewed_secret(self, start):
        """β = √3 σ_N, tilted: right of the mode of f_Y the leakage of (a, b) rises with b, from the first step on."""
        xs = np.linspace(-20, 20, 8001)
        weights = np.exp(stats.norm(scale=0.3).logcdf(xs) - xs**2 / 6)
        weights /= weights.sum()
        ends = start + np.concatenate([np.geomspace(1e-3, 0.1, 12), np.arange(2, 60) / 10])
        mass = np.array([weights @ (stats.norm.cdf(end - xs) - stats.norm.cdf(start - xs)) for end in ends])
        slope = [weights @ (stats.norm.pdf(y - xs) * (xs - y)) for y in np.linspace(start, 12, 50)]
        assert max(slope) < 0  # f_Y falls there
        levels = np.log((2 * stats.norm.cdf((ends - start) / 2) - 1) / mass)
        assert (np.diff(levels) > 0).all()
        assert levels[-1] < -math.log(weights @ stats.norm.sf(start - xs)) < levels[-1] + 0.1


class TestSml:
    @pytest.mark.parametrize(("total", "cells", "bin_size"), [(3, 3, 2), (4, 2, 3)])
    def test_lemma_1_the_worst_prior_is_one_table(self, total, cells, bin_size):
        channel = histogram_oracle.quantization(total, cells, bin_size)
        costs = [
            sum(chance * histogram_oracle.variation(theta, out) for out, chance in row.items())
            for theta, row in channel.items()
        ]
        assert max(costs) == histogram_oracle.distortion(channel)
        generator = np.random.default_rng(0)
        for _ in range(50):
            weights = [Fraction(int(n)) for n in generator.integers(0, 9, len(costs)) + 1]
            assert dot(weights, costs) / sum(weights) <= max(costs)

    @checked
    @given(exact_channels(inputs=4), st.lists(st.integers(0, 1), min_size=4, max_size=4), st.data())
    def test_lemma_2_composition_is_the_product_of_policies(self, first, secret, data):
        """The largest Σ over pairs of outcomes of max_g K₁(y₁|θ_g)K₂(y₂|θ_g, y₁), every choice of θ_g tried."""
        second = {outcome: data.draw(exact_channels(inputs=4, outputs=2)) for outcome in first.outputs}
        groups = [[row for row in range(4) if secret[row] == g] for g in sorted(set(secret))]
        product = [
            [a * b for a, y in zip(row, first.outputs, strict=True) for b in oracle.rows_of(second[y])[place]]
            for place, row in enumerate(oracle.rows_of(first))
        ]
        best = max(
            sum(max(column) for column in zip(*(product[row] for row in chosen), strict=True))
            for chosen in choices(groups)
        )
        assert tl.statistic_maximal_leakage(first.adaptive_product(second), secret).ratio == best


def choices(groups):
    if not groups:
        return [[]]
    return [[row, *rest] for row in groups[0] for rest in choices(groups[1:])]
