"""Theorems about statistic leakage: post-processing, composition, ranges and implications."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statistic_oracle as every
import tightlip as tl
from strategies import exact_channels, exact_pairs
from tightlip.papers import statistic_leakage_range
from tightlip.statistic import relations
from tightlip.statistic.maximal import cost_leakage as statistic_cost_leakage
from tightlip.statistic.maximal import statistic_maximal_leakage
from tightlip.statistic.relations import (
    composition as statistic_composition,
)
from tightlip.statistic.relations import (
    ldp as statistic_ldp,
)
from tightlip.statistic.relations import (
    ldp_to_statistic,
    ldp_to_statistic_cost,
    outcome_to_statistic_ldp,
)
from tightlip.statistic.relations import (
    min_entropy_leakage as statistic_min_entropy_leakage,
)
from tightlip.statistic.relations import (
    outcome_leakage as statistic_outcome_leakage,
)

secrets = st.lists(st.integers(0, 2), min_size=4, max_size=4)
releases = exact_channels(inputs=4)


class TestTheorems:
    @settings(max_examples=40)
    @given(releases, secrets, st.data())
    def test_post_processing(self, channel, secret, data):
        after = channel.post_process(data.draw(exact_channels(inputs=channel.shape[1])))
        whole, less = (statistic_maximal_leakage(each, secret) for each in (channel, after))
        assert less.ratio <= whole.ratio
        assert statistic_outcome_leakage(after, secret) <= statistic_outcome_leakage(channel, secret)
        assert statistic_ldp(after, secret) <= statistic_ldp(channel, secret)
        assert statistic_cost_leakage(after, secret).upper <= statistic_cost_leakage(channel, secret).upper

    @settings(max_examples=30)
    @given(releases, secrets, st.data())
    def test_adaptive_composition(self, first, secret, data):
        follow = {outcome: data.draw(exact_channels(inputs=4)) for outcome in first.outputs}
        both = statistic_maximal_leakage(first.adaptive_product(follow), secret)
        bound = statistic_composition(first, follow, secret)
        assert both.ratio <= bound.total.ratio
        assert bound.second[bound.worst_outcome].value == max(each.value for each in bound.second.values())

    @settings(max_examples=40)
    @given(releases, secrets)
    def test_order_of_the_measures(self, channel, secret):
        found = statistic_maximal_leakage(channel, secret)
        ends = statistic_leakage_range(channel, secret)
        assert ends.lower <= found.upper
        assert found.lower <= ends.upper
        assert found.ratio <= statistic_outcome_leakage(channel, secret).ratio <= len(set(secret))

    @settings(max_examples=40)
    @given(exact_channels(inputs=4, positive=True), secrets)
    def test_implications(self, channel, secret):
        size, mu = len(set(secret)), statistic_ldp(channel, secret)
        found, cost = statistic_maximal_leakage(channel, secret), statistic_cost_leakage(channel, secret)
        assert found.ratio <= ldp_to_statistic(mu, size).ratio <= mu.ratio
        assert cost.ratio <= ldp_to_statistic_cost(mu, size).ratio <= mu.ratio
        assert mu <= outcome_to_statistic_ldp(statistic_outcome_leakage(channel, secret), mu)

    @pytest.mark.parametrize(("size", "growth"), [(2, 3), (3, 2), (5, Fraction(7, 3))])
    def test_implications_are_attained(self, size, growth):
        whole = growth + size - 1
        response = tl.Channel(
            [
                [growth / Fraction(whole) if x == y else 1 / Fraction(whole) for y in range(size)]
                for x in range(size)
            ]
        )
        level = tl.log_of(growth)
        assert statistic_maximal_leakage(response).ratio == ldp_to_statistic(level, size).ratio
        rest = (size - 1) * Fraction(growth) + 1
        complement = tl.Channel(
            [[(1 if x == y else growth) / rest for y in range(size)] for x in range(size)]
        )
        assert statistic_ldp(complement).ratio == growth
        assert statistic_cost_leakage(complement).ratio == ldp_to_statistic_cost(level, size).ratio

    def test_no_leakage_means_equal_rows(self):
        """The paper says that maximal leakage may be largest while SML is 0; SML 0 forces identical rows."""
        for rows in ([[1, 0], [1, 0], [0, 1]], [["1/2", "1/2"], ["1/2", "1/2"], ["1/3", "2/3"]]):
            assert statistic_maximal_leakage(tl.Channel(rows), [0, 1, 1]).ratio > 1


KEY = tl.Channel([["1/2", "1/2"], ["1/2", "1/2"]], outputs=[0, 1])
TEXT = {0: tl.Channel([[1, 0], [0, 1]]), 1: tl.Channel([[0, 1], [1, 0]])}


class TestOneTimePad:
    def test_marginal_terms_do_not_bound_the_whole(self):
        both = KEY.adaptive_product(TEXT)
        marginal = both.post_process(tl.Channel([[1, 0], [0, 1], [1, 0], [0, 1]], inputs=both.outputs))
        assert statistic_maximal_leakage(KEY).ratio == statistic_maximal_leakage(marginal).ratio == 1
        assert statistic_maximal_leakage(both).ratio == 2

    def test_worst_histories_do(self):
        bound = statistic_composition(KEY, TEXT)
        assert (bound.first.ratio, bound.total.ratio) == (1, 2)

    def test_rows_that_are_ruled_out_do_not_count(self):
        identity = tl.mechanism.identity(3)
        assert statistic_composition(identity, identity).total.ratio == 3

    def test_float_terms_are_rounded_up(self):
        coin = tl.Channel([[0.75, 0.25], [0.25, 0.75]])
        assert statistic_composition(coin, coin).total >= 2 * math.log(1.5)

    def test_rows_in_another_order(self):
        first = tl.Channel([[1, 0], [0, 1], ["1/2", "1/2"]], inputs=["a", "b", "c"])
        second = tl.Channel([["1/2", "1/2"], [0, 1], [1, 0]], inputs=["c", "b", "a"])
        again = statistic_composition(first, second, {"a": 0, "b": 1, "c": 1})
        assert again.total.ratio == statistic_composition(first, first, [0, 1, 1]).total.ratio

    def test_channels_made_anew_for_each_outcome(self, monkeypatch):
        """Their memory is used again, so the same place does not mean the same channel."""

        class Fresh(dict):
            def get(self, outcome):
                return tl.Channel(self[outcome])

        monkeypatch.setattr(relations, "id", lambda _: 0, raising=False)
        silent, telling = [[1, 0], [1, 0]], [[1, 0], [0, 1]]
        first = tl.Channel([["1/3", "1/3", "1/3"]] * 2)
        found = statistic_composition(first, Fresh({0: silent, 1: silent, 2: telling}))
        assert (found.total.ratio, found.worst_outcome) == (2, 2)

    def test_outcomes_that_never_occur_are_skipped(self):
        first = tl.Channel([[1, 0], [1, 0]])
        bound = statistic_composition(first, {0: tl.mechanism.identity(2)})
        assert list(bound.second) == [0]


class TestImplied:
    def test_rounding_and_limits(self):
        assert ldp_to_statistic(math.inf, 4).ratio == 4
        assert math.isinf(ldp_to_statistic_cost(math.inf, 4))
        assert ldp_to_statistic_cost(math.inf, 1) == 0
        assert ldp_to_statistic(0, 5) == ldp_to_statistic_cost(0, 5) == 0
        assert ldp_to_statistic(1.0, 3) == pytest.approx(math.log(3 * math.e / (math.e + 2)))
        assert ldp_to_statistic_cost("1", 3) == pytest.approx(math.log(math.e - (math.e - 1) / 3))
        assert math.isinf(outcome_to_statistic_ldp(math.inf, 1))
        assert Fraction(float(outcome_to_statistic_ldp("1/3", "1/3"))) >= Fraction(2, 3)

    @pytest.mark.parametrize(("mu", "size"), [(-1, 2), (1, 0), (1, True), (1, 2.0), ("x", 2), (math.nan, 2)])
    def test_refused(self, mu, size):
        with pytest.raises(tl.errors.InvalidInput):
            ldp_to_statistic(mu, size)


def test_worst_outcome_needs_the_best_secret_not_the_largest_likelihood():
    """Reading a as the largest likelihood of the output alone gives 2/(1 + 9/10); the second secret does better."""
    rows = [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)], [Fraction(9, 10), Fraction(1, 10)]]
    found = statistic_outcome_leakage(tl.Channel(rows), [0, 0, 1])
    assert found.ratio == every.outcome(rows, [0, 0, 1]) == 2


class TestLastDigit:
    """Leakages so small that their ratio rounds to 1 are not called 0."""

    LOW = tl.Channel([[0.5, 0.5], [math.nextafter(0.5, 0), 0.5]])
    HIGH = tl.Channel([[0.5, 0.5], [math.nextafter(0.5, 0), math.nextafter(0.5, 1)]])

    def test_outcome(self):
        assert float(statistic_outcome_leakage(self.LOW)) > 0

    def test_min_entropy(self):
        assert float(statistic_min_entropy_leakage(self.HIGH, tl.Prior([0.5, 0.5]))) > 0

    def test_nothing_is_still_nothing(self):
        same = tl.Channel([[0.3, 0.7], [0.3, 0.7]])
        assert statistic_outcome_leakage(same) == 0 == statistic_outcome_leakage(self.HIGH, ["a", "a"])
        assert statistic_min_entropy_leakage(same, tl.Prior([0.4, 0.6])) == 0
        assert statistic_min_entropy_leakage(self.HIGH, tl.Prior([1.0, 0.0])) == 0


def attribute_privacy_slowly(rows, secrets, masses):
    """Straight from the definition: max over outcomes and pairs of secrets of P(y|g)/P(y|g'); None is infinite."""
    held = sorted({g for g, mass in zip(secrets, masses, strict=True) if mass})
    shares = {
        g: [
            sum(m * row[y] for row, h, m in zip(rows, secrets, masses, strict=True) if h == g)
            / sum(m for h, m in zip(secrets, masses, strict=True) if h == g)
            for y in range(len(rows[0]))
        ]
        for g in held
    }
    worst = Fraction(1)
    for one, two in itertools.product(held, held):
        for a, b in zip(shares[one], shares[two], strict=True):
            if a and not b:
                return None
            worst = max(worst, a / b) if a else worst
    return worst


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_attribute_privacy_is_its_definition_and_at_most_ldp_across_secrets(data):
    channel, prior = data.draw(exact_pairs())
    secrets = data.draw(st.lists(st.sampled_from("ab"), min_size=channel.shape[0], max_size=channel.shape[0]))
    found = tl.statistic.attribute_privacy(channel, secrets, prior)
    wanted = attribute_privacy_slowly(channel.matrix.tolist(), secrets, prior.masses.tolist())
    assert found.ratio == wanted if wanted is not None else math.isinf(found)
    assert found <= tl.statistic.attribute_privacy(channel, secrets) == tl.statistic.ldp(channel, secrets)
    both = tl.statistic.attribute_privacy(channel, secrets, [prior, tl.Prior.uniform(channel.inputs)])
    assert both >= found


def test_attribute_privacy_of_randomised_response_does_not_see_the_number_of_secrets():
    """SML VI-B: the same ε however many values the secret has."""
    response = tl.mechanism.randomized_response(6, tl.log_of(4))
    for secrets in ("aabbcc", "abcdef", "aaaaab"):
        assert tl.statistic.attribute_privacy(response, list(secrets)).ratio == 4
