"""The theorems, on channels: never violated, attained where the docstrings say so. All in exact rationals."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given

from convert_oracle import (
    boxed_lifts,
    cases,
    extremal,
    ldp,
    lifts,
    measures,
    pmc,
    pml,
    priors,
    ratio_lifts,
    ratios,
    two_outcomes,
    unhurried,
    worst,
)
from tightlip import convert
from tightlip.errors import PreconditionFailed
from tightlip.numeric.quantity import log_of


def level(ratio):
    return "inf" if ratio is None else log_of(ratio)


def covers(bound, ratio) -> bool:
    """Whether a bound (exact, or infinite) is at least a measured ratio."""
    return bound == float("inf") or (ratio is not None and bound.ratio >= ratio)


@unhurried
@given(cases())
def test_no_channel_violates_what_its_measures_imply(case):
    channel, prior = case
    seen, p = measures(channel, prior), min(prior)
    for source in ("ldp", "pml", "pmc", "lip"):
        for target in ("ldp", "pml", "pmc", "lip"):
            if source == target:
                continue
            try:
                bound = getattr(convert, f"{source}_to_{target}")(level(seen[source]), p)
            except PreconditionFailed:
                assert source == "pml"
                assert seen["pml"] * (1 - p) >= 1
                continue
            assert covers(bound, seen[target]), (source, target)
    for target in ("ldp", "pml", "pmc", "lip"):
        for mass in ((), (p,)):
            bound = getattr(convert, f"alip_to_{target}")(level(seen["pmc"]), level(seen["pml"]), *mass)
            assert covers(bound, seen[target]), target
        if target != "lip":
            assert covers(getattr(convert, f"lip_to_{target}")(level(seen["lip"])), seen[target]), target


@unhurried
@given(cases())
def test_alip_results_are_the_pair_of_pmc_and_pml(case):
    channel, prior = case
    seen, p = measures(channel, prior), min(prior)
    for source in ("ldp", "pmc", "lip"):
        pair = getattr(convert, f"{source}_to_alip")(level(seen[source]), p)
        assert covers(pair.lower, seen["pmc"])
        assert covers(pair.upper, seen["pml"])


@unhurried
@given(priors(), ratios())
def test_from_ldp_is_the_worst_case_over_lifts(prior, t):
    columns, p = list(ratio_lifts(t, prior)), min(prior)
    assert convert.ldp_to_pml(log_of(t), p).ratio == pml(columns)
    assert convert.ldp_to_pmc(log_of(t), p).ratio == pmc(columns)
    assert convert.ldp_to_lip(log_of(t), p).ratio == max(pml(columns), pmc(columns))


@unhurried
@given(priors(), ratios())
def test_from_pml_is_the_worst_case_over_lifts(prior, t):
    columns, p = list(boxed_lifts(Fraction(0), t, prior)), min(prior)
    try:
        bounds = [convert.pml_to_pmc(log_of(t), p), convert.pml_to_ldp(log_of(t), p)]
        assert convert.pml_to_lip(log_of(t), p).ratio == max(pmc(columns), pml(columns))
    except PreconditionFailed:
        assert pmc(columns) is None
        assert ldp(columns) is None
    else:
        assert [bound.ratio for bound in bounds] == [pmc(columns), ldp(columns)]


@unhurried
@given(priors(), ratios())
def test_from_pmc_is_the_worst_case_over_lifts(prior, t):
    columns, p = list(boxed_lifts(1 / t, None, prior)), min(prior)
    assert convert.pmc_to_pml(log_of(t), p).ratio == pml(columns)
    assert convert.pmc_to_lip(log_of(t), p).ratio == max(pml(columns), pmc(columns))
    assert convert.pmc_to_ldp(log_of(t), p).ratio == ldp(columns)


@unhurried
@given(priors(), ratios(), ratios())
def test_from_alip_is_the_worst_case_over_lifts(prior, low, high):
    columns, p = list(boxed_lifts(1 / low, high, prior)), min(prior)
    pair = log_of(low), log_of(high)
    assert convert.alip_to_pml(*pair, p).ratio == pml(columns)
    assert convert.alip_to_pmc(*pair, p).ratio == pmc(columns)
    assert convert.alip_to_lip(*pair, p).ratio == max(pml(columns), pmc(columns))
    bound = convert.alip_to_ldp(*pair, p).ratio
    assert bound >= ldp(columns)
    if len(prior) >= 3 or p == Fraction(1, 2):
        assert bound == ldp(columns)


@unhurried
@given(priors(), ratios())
def test_from_lip_is_the_worst_case_over_lifts(prior, t):
    columns, p = list(boxed_lifts(1 / t, t, prior)), min(prior)
    assert convert.lip_to_pml(log_of(t), p).ratio == pml(columns)
    assert convert.lip_to_pmc(log_of(t), p).ratio == pmc(columns) == t
    if len(prior) >= 3:
        assert convert.lip_to_ldp(log_of(t), p).ratio == ldp(columns)


def test_the_sum_is_not_attained_for_two_unequal_secrets():
    prior = [Fraction(1, 10), Fraction(9, 10)]
    columns = list(boxed_lifts(Fraction(1, 2), Fraction(2), prior))
    assert ldp(columns) == Fraction(9, 4)
    assert convert.lip_to_ldp(log_of(2), prior[0]).ratio == 4


@unhurried
@given(priors(), ratios())
def test_randomized_response_on_the_rarest_secret_attains_all_of_ldp(prior, t):
    rare = prior.index(min(prior))
    yes, no = t / (1 + t), 1 / (1 + t)
    channel = [[yes, no] if x == rare else [no, yes] for x in range(len(prior))]
    seen = measures(channel, prior)
    assert seen["ldp"] == t
    assert seen["pml"] == convert.ldp_to_pml(log_of(t), min(prior)).ratio
    assert seen["pmc"] == seen["lip"] == convert.ldp_to_pmc(log_of(t), min(prior)).ratio


@unhurried
@given(priors(), ratios())
def test_the_pml_extremal_mechanism_attains_all_of_pml(prior, raw):
    p = min(prior)
    t = 1 + (raw - 1) / 12 * (1 / (1 - p) - 1)  # in [1, 1/(1−p))
    seen = measures(extremal(prior, t), prior)
    assert seen["pml"] == t
    assert seen["pmc"] == seen["lip"] == convert.pml_to_pmc(log_of(t), p).ratio
    assert seen["ldp"] == convert.pml_to_ldp(log_of(t), p).ratio


@unhurried
@given(priors(), ratios())
def test_two_outcomes_attain_all_of_pmc(prior, t):
    assume(t > 1)
    p, rare = min(prior), prior.index(min(prior))
    top = (1 - (1 - p) / t) / p
    column = [top if x == rare else 1 / t for x in range(len(prior))]
    channel = two_outcomes(column, (1 - 1 / t) / (top - 1 / t))
    seen = measures(channel, prior)
    assert seen["pmc"] == t
    assert seen["pml"] == convert.pmc_to_pml(log_of(t), p).ratio
    assert seen["ldp"] == convert.pmc_to_ldp(log_of(t), p).ratio
    assert seen["lip"] == convert.pmc_to_lip(log_of(t), p).ratio


@unhurried
@given(priors(), ratios())
def test_round_trips_never_gain(prior, t):
    p, given_level = min(prior), log_of(t)
    back = convert.pmc_to_pml(given_level, p)
    if t * (1 - p) < 1:
        assert convert.pmc_to_pml(convert.pml_to_pmc(given_level, p), p).ratio >= t
    if back.ratio * (1 - p) < 1:
        assert convert.pml_to_pmc(back, p).ratio >= t


@unhurried
@given(ratios())
def test_uniform_binary_prior_round_trips_are_identities(raw):
    half = "1/2"
    t = 1 + (raw - 1) / 12  # in [1, 2)
    leak = log_of(t)
    cost, local = convert.pml_to_pmc(leak, half), convert.pml_to_ldp(leak, half)
    assert convert.pmc_to_pml(cost, half).ratio == t
    assert convert.ldp_to_pml(local, half).ratio == t
    assert convert.ldp_to_pmc(local, half).ratio == cost.ratio
    assert convert.pmc_to_ldp(cost, half).ratio == local.ratio
    assert convert.lip_to_pml(convert.pml_to_lip(leak, half), half).ratio == t
    assert convert.lip_to_ldp(cost, half).ratio == local.ratio
    assert convert.alip_to_ldp(cost, leak, half).ratio == local.ratio
    assert convert.compare(leak, cost, half) == "equivalent"


def test_binary_randomized_response_is_pml_extremal_for_the_uniform_prior():
    # with e^ε = 3/2 the parameter is ε + log 1/(2−e^ε), i.e. log 3
    half = [Fraction(1, 2)] * 2
    assert extremal(half, Fraction(3, 2)) == [
        [Fraction(1, 4), Fraction(3, 4)],
        [Fraction(3, 4), Fraction(1, 4)],
    ]
    assert convert.pml_to_ldp(log_of("3/2"), "1/2").ratio == 3


@unhurried
@given(priors(), ratios())
def test_a_lower_bound_on_the_masses_is_sound(prior, t):
    p = min(prior)
    for name in ("ldp_to_pml", "ldp_to_pmc", "pmc_to_pml", "pmc_to_ldp", "lip_to_pml", "lip_to_ldp"):
        function = getattr(convert, name)
        assert function(log_of(t), p / 2).ratio >= function(log_of(t), p).ratio, name
    if t * (1 - p / 2) < 1:
        assert convert.pml_to_pmc(log_of(t), p / 2).ratio >= convert.pml_to_pmc(log_of(t), p).ratio


@pytest.mark.parametrize("size", [2, 3, 5])
def test_the_oracle_agrees_with_itself(size):
    """A channel made of an extreme column has exactly that column's lifts."""
    prior = [Fraction(1, size)] * size
    for column in boxed_lifts(Fraction(1, 2), Fraction(3, 2), prior):
        assert lifts(two_outcomes(column, Fraction(1, 3)), prior)[0] == column
    assert worst([Fraction(2), None]) is None


def test_the_sum_of_levels_that_improve_each_other_is_not_attained_for_three_secrets():
    """Uniform on 3, ALIP(log 2, log 3): the lower level forces every lift to at most 2; LDP is log 4, not log 6."""
    prior = [Fraction(1, 3)] * 3
    columns = list(boxed_lifts(Fraction(1, 2), Fraction(3), prior))
    assert (pml(columns), ldp(columns)) == (2, 4)
    assert convert.alip_to_ldp(log_of(2), log_of(3)).ratio == 6
    assert convert.alip_to_ldp(log_of(2), log_of(3), prior[0]).ratio == 4
