"""The papers' theorems as properties, in exact arithmetic."""

from fractions import Fraction

from hypothesis import assume, given, settings
from hypothesis import strategies as st

import exact_oracle as oracle
import tightlip as tl
from strategies import distributions, exact_channels, exact_pairs, exact_priors

checked = settings(max_examples=100, deadline=None)
levels = st.sampled_from([tl.log_of(ratio) for ratio in ("1", "11/10", "10/9", "3/2", "2", "7/2")])


def largest(ratios):
    return None if None in ratios else max(ratios)


def not_above(one, two):
    """one ≤ two, None being infinite."""
    return two is None or (one is not None and one <= two)


@checked
@given(exact_pairs())
def test_measures_match_their_definitions(pair):
    channel, prior = pair
    rows, masses = oracle.rows_of(channel), oracle.masses_of(prior)
    assert list(tl.pml(channel, prior).ratios) == oracle.pml(rows, masses)
    assert list(tl.pmc(channel, prior).ratios) == oracle.pmc(rows, masses)
    assert tl.maximal_leakage(channel).ratio == oracle.maximal_leakage(rows)
    assert tl.measures.maximal_cost_leakage(channel).ratio == oracle.maximal_cost_leakage(rows)
    assert tl.ldp(channel).ratio == oracle.ldp(rows)
    assert tl.alip(channel, prior).lower.ratio == largest(oracle.pmc(rows, masses))
    assert tl.alip(channel, prior).upper.ratio == largest(oracle.pml(rows, masses))


@checked
@given(exact_pairs(), levels)
def test_soft_guarantees_match_their_definitions(pair, level):
    channel, prior = pair
    rows, masses = oracle.rows_of(channel), oracle.masses_of(prior)
    assert tl.measures.psi1(channel, prior, level).fraction == oracle.psi1(rows, masses, level.ratio)
    assert tl.measures.psi2(channel, prior, level).fraction == oracle.psi2(rows, masses, level.ratio)
    assert tl.measures.privacy_profile(channel, level).fraction == oracle.profile(rows, level.ratio)
    assert tl.measures.probabilistic_dp_tail(channel, level).fraction == oracle.dp_tail(rows, level.ratio)


@checked
@given(exact_pairs())
def test_range_of_pml_and_pmc(pair):
    channel, prior = pair
    assert all(1 <= ratio <= 1 / prior.min_mass for ratio in tl.pml(channel, prior).ratios)
    assert all(ratio is None or ratio >= 1 for ratio in tl.pmc(channel, prior).ratios)


@checked
@given(st.data(), st.integers(2, 5))
def test_independence_leaks_nothing(data, size):
    row = data.draw(distributions(4))
    channel, prior = tl.Channel([row] * size), data.draw(exact_priors(size))
    for measure in (tl.pml, tl.pmc):
        assert set(measure(channel, prior).ratios) == {Fraction(1)}
    assert tl.ldp(channel) == tl.maximal_leakage(channel) == tl.measures.maximal_cost_leakage(channel) == 0


@checked
@given(exact_pairs())
def test_maximal_leakage_is_the_log_mean_exp_of_pml(pair):
    channel, prior = pair
    leak = tl.pml(channel, prior)
    mean = sum(p.fraction * level.ratio for level, p in leak.levels())
    assert mean == tl.maximal_leakage(channel, prior).ratio


@checked
@given(exact_pairs(positive=True))
def test_maximal_cost_leakage_is_the_log_mean_exp_of_minus_pmc(pair):
    channel, prior = pair
    leak = tl.pmc(channel, prior)
    mean = sum(p.fraction / level.ratio for level, p in leak.levels())
    assert 1 / mean == tl.measures.maximal_cost_leakage(channel, prior).ratio


@checked
@given(exact_pairs(outputs=4), st.data())
def test_post_processing_never_raises_the_worst_case(pair, data):
    channel, prior = pair
    other = data.draw(exact_channels(inputs=4))
    after = channel.post_process(other)
    for measure in (tl.pml, tl.pmc):
        assert not_above(largest(measure(after, prior).ratios), largest(measure(channel, prior).ratios))
    assert tl.maximal_leakage(after).ratio <= tl.maximal_leakage(channel).ratio
    assert not_above(
        tl.measures.maximal_cost_leakage(after).ratio, tl.measures.maximal_cost_leakage(channel).ratio
    )
    assert not_above(tl.ldp(after).ratio, tl.ldp(channel).ratio)


@checked
@given(exact_pairs(outputs=4), st.data(), levels)
def test_psi2_and_the_privacy_profile_are_safe_under_post_processing(pair, data, level):
    channel, prior = pair
    after = channel.post_process(data.draw(exact_channels(inputs=4)))
    assert tl.measures.psi2(after, prior, level).fraction <= tl.measures.psi2(channel, prior, level).fraction
    assert (
        tl.measures.privacy_profile(after, level).fraction
        <= tl.measures.privacy_profile(channel, level).fraction
    )


@checked
@given(exact_pairs(), levels)
def test_psi1_is_below_the_failure_probability(pair, level):
    channel, prior = pair
    assert tl.measures.psi1(channel, prior, level).fraction <= tl.pml(channel, prior).tail(level).fraction


@checked
@given(exact_channels(inputs=3), st.data())
def test_pre_processing_a_function_of_the_secret_leaks_no_more(channel, data):
    """Z → X → Y: the leakage about Z never exceeds the leakage about X, outcome by outcome."""
    prior_of_z = data.draw(exact_priors(2))
    maker = data.draw(exact_channels(inputs=2, outputs=3))
    masses = oracle.marginal(oracle.rows_of(maker), oracle.masses_of(prior_of_z))
    prior_of_x = tl.Prior(masses)
    about_z, about_x = maker.post_process(channel), channel
    for measure in (tl.pml, tl.pmc):
        leak_z, leak_x = measure(about_z, prior_of_z), measure(about_x, prior_of_x)
        assert leak_z.outcomes == leak_x.outcomes
        assert all(not_above(z, x) for z, x in zip(leak_z.ratios, leak_x.ratios, strict=True))


@checked
@given(exact_pairs(), st.data())
def test_composition(pair, data):
    """Leakage of two releases is at most the first plus the conditional second, also when chosen adaptively."""
    first, prior = pair
    second = {outcome: data.draw(exact_channels(inputs=len(prior))) for outcome in first.outputs}
    together = first.adaptive_product(second)
    for measure, compose in ((tl.pml, tl.measures.pml_composition), (tl.pmc, tl.measures.pmc_composition)):
        bound = compose(first, second, prior)
        leak = measure(together, prior)
        for outcome, ratio in zip(leak.outcomes, leak.ratios, strict=True):
            assert not_above(ratio, bound.of(*outcome).ratio)
        assert leak.worst <= bound.worst
    added = (
        tl.maximal_leakage(first, prior).ratio
        * tl.measures.conditional_maximal_leakage(first, second, prior).ratio
    )
    assert tl.maximal_leakage(together, prior).ratio <= added


@checked
@given(exact_pairs(), exact_pairs())
def test_additivity_over_independent_secrets(one, two):
    """Two secrets, two mechanisms, all independent: leakages add outcome by outcome."""
    (first, prior_1), (second, prior_2) = one, two
    rows = [
        [a * b for a in row_1 for b in row_2]
        for row_1 in oracle.rows_of(first)
        for row_2 in oracle.rows_of(second)
    ]
    prior = prior_1.product(prior_2)
    joint = tl.Channel(rows, prior.labels, [(a, b) for a in first.outputs for b in second.outputs])
    for measure in (tl.pml, tl.pmc):
        leak, leak_1, leak_2 = measure(joint, prior), measure(first, prior_1), measure(second, prior_2)
        for outcome, ratio in zip(leak.outcomes, leak.ratios, strict=True):
            parts = leak_1.value_of(outcome[0]).ratio, leak_2.value_of(outcome[1]).ratio
            assert ratio == (None if None in parts else parts[0] * parts[1])


@checked
@given(exact_channels(positive=True), st.data(), st.fractions(0, 1, max_denominator=7))
def test_pmc_is_concave_in_the_prior(channel, data, mix):
    size = channel.shape[0]
    one, two = data.draw(exact_priors(size)), data.draw(exact_priors(size))
    blend = tl.Prior([mix * a + (1 - mix) * b for a, b in zip(one.masses, two.masses, strict=True)])
    for place in range(channel.shape[1]):
        mixed, first, second = (tl.pmc(channel, prior).values[place] for prior in (blend, one, two))
        assert mixed >= float(mix) * first + (1 - float(mix)) * second - 1e-12


@checked
@given(exact_pairs(), st.data())
def test_gain_leakage_is_at_most_pml_and_cost_leakage_at_most_pmc(pair, data):
    channel, prior = pair
    guesses = data.draw(st.integers(1, 4))
    row = st.lists(st.fractions(0, 5, max_denominator=9), min_size=guesses, max_size=guesses)
    payoff = [data.draw(row) for _ in prior.labels]
    expected = [sum(p * row[w] for p, row in zip(prior.masses, payoff, strict=True)) for w in range(guesses)]
    assume(min(expected) > 0)
    gains, costs = (
        tl.measures.gain_leakage(channel, prior, payoff),
        tl.measures.cost_leakage(channel, prior, payoff),
    )
    pml, pmc = tl.pml(channel, prior), tl.pmc(channel, prior)
    assert all(not_above(gain, bound) for gain, bound in zip(gains.ratios, pml.ratios, strict=True))
    assert all(not_above(cost, bound) for cost, bound in zip(costs.ratios, pmc.ratios, strict=True))
    assert gains.average.ratio <= tl.maximal_leakage(channel, prior).ratio
    assert not_above(costs.average.ratio, tl.measures.maximal_cost_leakage(channel, prior).ratio)
    for place, outcome in enumerate(gains.outcomes):  # straight from the definition
        after = tl.measures.posterior(channel, prior, outcome).masses
        scores = [sum(p * row[w] for p, row in zip(after, payoff, strict=True)) for w in range(guesses)]
        assert gains.ratios[place] == max(scores) / max(expected)
        assert costs.ratios[place] == (min(expected) / min(scores) if min(scores) else None)


@checked
@given(exact_pairs())
def test_witnesses_reach_pml_and_pmc(pair):
    channel, prior = pair
    pml, pmc = tl.pml(channel, prior), tl.pmc(channel, prior)
    assert (
        tl.measures.gain_leakage(channel, prior, tl.measures.pml_gain_witness(channel, prior)).ratios
        == pml.ratios
    )
    for place, outcome in enumerate(pml.outcomes):
        cost = tl.measures.pmc_cost_witness(channel, prior, outcome)
        assert tl.measures.cost_leakage(channel, prior, cost).ratios[place] == pmc.ratios[place]
        guess = tl.measures.pml_function_witness(channel, prior, outcome)
        assert tl.measures.function_gain_leakage(channel, prior, guess).ratios[place] == pml.ratios[place]
        avoid = tl.measures.pmc_function_witness(channel, prior, outcome)
        assert tl.measures.function_cost_leakage(channel, prior, avoid).ratios[place] == pmc.ratios[place]


@checked
@given(exact_pairs(), st.data())
def test_randomised_functions_never_leak_more_than_the_secret(pair, data):
    channel, prior = pair
    function = data.draw(exact_channels(inputs=len(prior)))
    rows, masses = oracle.rows_of(function), oracle.masses_of(prior)
    right = max(oracle.marginal(rows, masses))
    found = tl.measures.function_gain_leakage(channel, prior, function)
    for place, outcome in enumerate(found.outcomes):
        after = max(oracle.marginal(rows, oracle.masses_of(tl.measures.posterior(channel, prior, outcome))))
        assert found.ratios[place] == after / right <= tl.pml(channel, prior).ratios[place]
        if right < 1:
            costs = tl.measures.function_cost_leakage(channel, prior, function)
            assert costs.ratios[place] == ((1 - right) / (1 - after) if after < 1 else None)
            assert not_above(costs.ratios[place], tl.pmc(channel, prior).ratios[place])


@checked
@given(exact_pairs(), st.data())
def test_guesswork_never_falls_by_more_than_pmc(pair, data):
    """Expected number of guesses of a function of the secret, in the best order, before and after."""
    channel, prior = pair
    function = data.draw(exact_channels(inputs=len(prior)))
    rows = oracle.rows_of(function)

    def guesswork(masses):
        ordered = sorted(oracle.marginal(rows, masses), reverse=True)
        return sum(place * mass for place, mass in enumerate(ordered, 1))

    leak = tl.measures.guesswork_leakage(channel, prior)
    before = guesswork(oracle.masses_of(prior))
    for place, outcome in enumerate(leak.outcomes):
        after = guesswork(oracle.masses_of(tl.measures.posterior(channel, prior, outcome)))
        assert not_above(before / after, leak.ratios[place])


@checked
@given(exact_pairs(), st.data())
def test_events(pair, data):
    channel, prior = pair
    size = channel.shape[1]
    weights = data.draw(st.lists(st.fractions(0, 1, max_denominator=5), min_size=size, max_size=size))
    rows, masses = oracle.rows_of(channel), oracle.masses_of(prior)
    probability = sum(w * q for w, q in zip(weights, oracle.marginal(rows, masses), strict=True))
    assume(probability > 0)
    event = dict(zip(channel.outputs, weights, strict=True))
    found = tl.event_leakage(channel, prior, event).ratio
    assert found == oracle.event(rows, masses, weights)
    assert found <= 1 / probability
    assert found <= max(tl.pml(channel, prior).ratios)


@checked
@given(exact_pairs(outputs=4))
def test_the_leakage_of_a_union_is_at_most_the_larger_leakage(pair):
    channel, prior = pair
    q = oracle.marginal(oracle.rows_of(channel), oracle.masses_of(prior))
    assume(q[0] + q[1] > 0 and q[2] + q[3] > 0)
    leak = {name: tl.event_leakage(channel, prior, event).ratio for name, event in EVENTS.items()}
    assert leak["all"] <= max(leak["low"], leak["high"])


EVENTS = {"low": {0, 1}, "high": {2, 3}, "all": {0, 1, 2, 3}}


@checked
@given(exact_pairs(), st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50), levels)
def test_distribution_function_and_quantiles(pair, delta, t):
    channel, prior = pair
    for leak in (tl.pml(channel, prior), tl.pmc(channel, prior)):
        assert leak.tail(t).fraction + leak.cdf(t).fraction == 1
        assert leak.left_quantile(delta) <= leak.quantile(delta) <= leak.worst
        left, right = leak.left_quantile(delta), leak.quantile(delta)
        assert leak.tail(left).fraction <= delta if left.ratio else True
        at_least = sum(p.fraction for level, p in leak.levels() if level >= right)
        assert at_least >= delta


@checked
@given(exact_pairs(outputs=3), st.data())
def test_reduction_keeps_the_distribution_of_leakage(pair, data):
    channel, prior = pair
    split = data.draw(exact_channels(inputs=1, outputs=3, positive=True)).matrix[0]
    rows = [[row[0], *(row[1] * part for part in split), row[2]] for row in oracle.rows_of(channel)]
    wide = tl.Channel(rows)
    reduced = wide.reduce()
    assert reduced.shape[1] <= 3
    for measure in (tl.pml, tl.pmc):
        whole, small = measure(wide, prior), measure(reduced, prior)
        assert [(v.ratio, p.fraction) for v, p in whole.levels()] == [
            (v.ratio, p.fraction) for v, p in small.levels()
        ]


@checked
@given(exact_pairs(positive=True), levels, st.integers(2, 4))
def test_tail_bound_of_approximate_dp(pair, level, k):
    channel, _ = pair
    assume(level > 0)
    delta = tl.measures.privacy_profile(channel, level).fraction
    tail = tl.measures.probabilistic_dp_tail(channel, tl.log_of(level.ratio**k)).fraction
    assert tail <= Fraction(float(tl.measures.dp_tail_bound(float(level), delta, k))) + Fraction(1, 10**12)


@checked
@given(exact_pairs(positive=True))
def test_conversions_hold_for_every_channel(pair):
    channel, prior = pair
    p_min = prior.min_mass
    pml, pmc = tl.pml(channel, prior).worst, tl.pmc(channel, prior).worst
    ldp = tl.ldp(channel)
    assert pml.ratio <= tl.convert.ldp_to_pml(ldp, p_min).ratio
    assert pmc.ratio <= tl.convert.ldp_to_pmc(ldp, p_min).ratio
    assert pml.ratio <= tl.convert.pmc_to_pml(pmc, p_min).ratio
    assert ldp.ratio <= tl.convert.alip_to_ldp(pmc, pml).ratio
    if pml.ratio * (1 - p_min) < 1:
        assert pmc.ratio <= tl.convert.pml_to_pmc(pml, p_min).ratio
