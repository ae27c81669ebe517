"""ENV Theorem 5 and Figure 2 against the exact envelope."""

import math
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from papers.env_theorem5 import RATIOS, random_cases, worst_cases

from tightlip import Prior, log_of
from tightlip.envelopes.response import randomized_response as randomized_response_envelope
from tightlip.envelopes.response import response_entries
from tightlip.errors import PreconditionFailed, WrongType
from tightlip.papers.theorem5 import theorem5_bound, theorem5_condition, theorem5_upper


def exact(prior, epsilon, delta):
    return randomized_response_envelope(prior, epsilon, delta).certificate.lower.ratio


@st.composite
def cases(draw):
    weights = draw(st.lists(st.sampled_from([1, 1, 2, 3, 7, 30, 900]), min_size=2, max_size=8))
    ratio = draw(st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(3), Fraction(20), Fraction(900)]))
    delta = Fraction(draw(st.integers(1, 40)), 40)
    return Prior([Fraction(weight, sum(weights)) for weight in weights]), log_of(ratio), delta


@settings(max_examples=200, deadline=None)
@given(cases())
def test_the_conjecture_holds_and_h_is_never_above(case):
    bound, best = theorem5_bound(*case).ratio, exact(*case)
    assert bound <= best <= theorem5_upper(*case).ratio
    if theorem5_condition(*case):
        assert bound == best
    assert best / bound <= max(1, (case[1].ratio + 1) / 2)


@settings(max_examples=100, deadline=None)
@given(cases())
def test_the_condition_is_the_one_on_the_prior(case):
    prior, epsilon, delta = case
    alpha, beta = response_entries(len(prior), epsilon)
    masses = sorted(prior.masses.tolist())
    q = [beta + (alpha - beta) * mass for mass in masses]
    index = next(n for n in range(1, len(q) + 1) if sum(q[:n]) >= delta)
    if index > 1:
        limit = (alpha * sum(masses[: index - 1]) + beta) / ((index - 2) * alpha + beta)
        if alpha > beta:  # otherwise both sides of the form in q are equal
            assert theorem5_condition(*case) == (masses[index - 1] <= limit)
    else:
        assert theorem5_condition(*case)


def test_without_the_condition_h_falls_short_by_up_to_the_supremum():
    shorts = []
    for secrets in (8, 64, 1024):
        tiny = Fraction(1, 10**9)
        half = (1 - (secrets - 2) * tiny) / 2
        case = (Prior([tiny] * (secrets - 2) + [half, half]), log_of(3), 1)
        assert not theorem5_condition(*case)
        shorts.append(math.log(exact(*case) / theorem5_bound(*case).ratio))
    assert shorts == sorted(shorts)
    assert math.log(2) - 0.01 < shorts[-1] < math.log(2)


def test_h_is_rounded_down_and_floats_are_read():
    prior = Prior([0.2, 0.3, 0.5])
    bound = theorem5_bound(prior, 1.0, 0.4)
    assert bound == pytest.approx(0.5842647782, abs=1e-10)
    assert bound.rounding == "down"
    assert theorem5_bound(prior, 1.0, 0.1) == pytest.approx(theorem5_upper(prior, 1.0, 0.1))
    assert theorem5_condition(prior, 1.0, 1.0) in {True, False}


def test_no_upper_bound_is_below_zero():
    """A prior of floats that sums to a little over 1, and a response that says nothing."""
    prior = Prior([0.05089320184150732, 0.27159846103913887, 0.6775083371193539])
    assert theorem5_upper(prior, 0.0, 0.5) == 0


def test_bad_input_is_refused():
    with pytest.raises(PreconditionFailed, match="positive mass"):
        theorem5_bound(Prior([0.5, 0.5, 0.0]), 1.0, 0.5)
    with pytest.raises(WrongType, match="write Prior"):
        theorem5_condition([0.5, 0.5], 1.0, 0.5)


def four_level(size, rho=Fraction(1, 10)):
    levels = [1 - 3 * rho, 1 - rho, 1 + rho, 1 + 3 * rho]
    return [levels[4 * place // size] / size for place in range(size)]


FIGURE_2 = {
    3: [Fraction(2, 10), Fraction(3, 10), Fraction(5, 10)],
    5: [Fraction(1, 10), Fraction(2, 10), Fraction(2, 10), Fraction(2, 10), Fraction(3, 10)],
    12: four_level(12),
    20: four_level(20),
}


@cache
def figure_2(size, steps=100):
    return list(_figure_2(size, steps))


def _figure_2(size, steps):
    """The curves of one panel: δ, envelope, h, upper bound, ε_b and ε_DP, at ε_r = 1."""
    prior = Prior(FIGURE_2[size])
    alpha, beta = response_entries(size, 1.0)
    q = [beta + (alpha - beta) * mass for mass in FIGURE_2[size]]
    for step in range(1, steps + 1):
        delta = Fraction(step, steps)
        found = randomized_response_envelope(prior, 1.0, delta)
        index, theta = _index(q, min(delta, sum(q)))
        binary = (alpha + (index - 2 + theta) * beta) / delta if delta > q[0] else alpha / q[0]
        yield {
            "delta": delta,
            "index": index,
            "envelope": found.upper,
            "h": float(theorem5_bound(prior, 1.0, delta)),
            "upper": float(theorem5_upper(prior, 1.0, delta)),
            "binary": math.log(binary),
            "dp": max(math.log((alpha - delta) / beta), 0.0) if delta < alpha else 0.0,
        }


def _index(q, delta):
    reached = Fraction(0)
    for place, probability in enumerate(q, 1):
        if reached + probability >= delta:
            return place, (delta - reached) / probability
        reached += probability
    raise AssertionError(delta)


@pytest.mark.parametrize("size", [3, 5, 12, 20])
def test_figure_2(size):
    alpha, beta = response_entries(size, 1.0)
    smallest = beta + (alpha - beta) * min(FIGURE_2[size])
    points = figure_2(size)
    envelope = [point["envelope"] for point in points]
    assert envelope == sorted(envelope, reverse=True)
    assert envelope[0] == pytest.approx(math.log(alpha / smallest))  # small δ: log α/q_1, below ε_r = 1
    assert envelope[0] < 1
    assert envelope[-1] > 0.2  # δ = 1: bounded away from 0
    assert points[0]["dp"] < 1
    assert points[-1]["dp"] == 0.0
    for point in points:
        assert point["h"] <= point["envelope"] <= point["upper"] + 1e-15
        assert point["binary"] <= point["envelope"] + 1e-12
        assert point["h"] == pytest.approx(point["envelope"], abs=1e-12)  # in all four panels


def test_figure_2_binary_overlaps_where_two_outcomes_are_in_play():
    overlap = dict.fromkeys(FIGURE_2, 0)
    for size in FIGURE_2:
        for point in figure_2(size):
            middle = point["index"] == 2 and point["binary"] == pytest.approx(point["h"], abs=1e-12)
            overlap[size] += middle
            if point["index"] > 2:
                assert point["binary"] < point["h"]
    assert overlap[3] > 0
    assert overlap[5] > 0
    assert overlap[12] == overlap[20] == 0  # there q_1 = q_2: the segment is empty


def test_figure_2_which_upper_bound_is_the_tighter():
    for size in FIGURE_2:
        alpha, _ = response_entries(size, 1.0)
        points = figure_2(size)
        assert points[0]["upper"] == pytest.approx(points[0]["envelope"])
        assert points[-1]["upper"] == pytest.approx(math.log(size * alpha))


def test_figure_2_gap_shrinks_with_the_number_of_secrets():
    widest = {}
    for size in FIGURE_2:
        widest[size] = max(point["upper"] - point["h"] for point in figure_2(size))
    assert widest[3] > widest[5] > widest[12] > widest[20]


def test_random_priors_and_the_worst_family():
    cases = list(random_cases(60))
    assert all(case.equal for case in cases if case.condition)
    assert {case.condition for case in cases} == {True, False}
    assert any(case.short > 0.1 for case in cases)
    family = [case for ratio in RATIOS for case in worst_cases(Fraction(ratio))]
    assert max(case.short for case in family) > 3.5
    assert all(case.short < case.supremum for case in family)
