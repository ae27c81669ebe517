"""PML, PMC and maximal leakage over sets of priors against every prior of a grid, with witnesses."""

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exact_oracle import at_least_log, at_most_log, rows_of
from robust_oracle import members, worst_maximal_leakage, worst_pmc, worst_pml
from strategies import distributions, exact_channels, exact_pairs, float_pairs
from tightlip import Channel, Prior, PriorSet, ldp, maximal_leakage, mechanism, pmc, pml
from tightlip.errors import InvalidInput, ShapeMismatch, WrongType
from tightlip.model.prior_set import PriorBall, PriorList, PriorPolytope
from tightlip.robust.pointwise import leakage_capacity
from tightlip.robust.pointwise import maximal_leakage as robust_maximal_leakage
from tightlip.robust.pointwise import pmc as robust_pmc
from tightlip.robust.region import as_prior, mix, region_of

STEPS = 12


@st.composite
def cases(draw):
    """A channel on three secrets and a set whose corners lie on the grid of twelfths."""
    channel = draw(exact_channels(inputs=3))
    center = Prior([Fraction(part, STEPS) for part in draw(_parts())])
    kind = draw(st.sampled_from(["floor", "ball", "polytope", "list"]))
    if kind == "floor":
        return channel, PriorSet(3, Fraction(draw(st.integers(1, 4)), STEPS))
    if kind == "ball":
        return channel, PriorBall(center, Fraction(draw(st.integers(0, 12)), STEPS) * 2)
    if kind == "polytope":
        most = [Fraction(draw(st.integers(4, STEPS)), STEPS) for _ in range(3)]
        return channel, PriorPolytope([[1, 0, 0], [0, 1, 0], [0, 0, 1]], most)
    return channel, PriorList([center, Prior(["1/2", "1/4", "1/4"])])


def _parts():
    return st.tuples(st.integers(0, STEPS), st.integers(0, STEPS)).map(
        lambda cuts: [min(cuts), abs(cuts[0] - cuts[1]), STEPS - max(cuts)]
    )


@settings(max_examples=100)
@given(cases())
def test_pml_is_the_largest_over_all_priors_and_its_witness_reaches_it(case):
    channel, prior_set = case
    found = leakage_capacity(channel, prior_set=prior_set)
    own = worst_pml(rows_of(channel), members(prior_set, 3, STEPS))
    assert found.prior in prior_set
    assert found.exact
    assert found.lower <= found.upper == float(found)
    if found.ratio is None:
        assert found == math.inf
    else:
        assert found.ratio >= own
    if found.attained:
        leak = pml(channel, found.prior)
        assert found.ratio == own == leak.worst.ratio == leak.value_of(found.outcome).ratio
    else:
        _check_limit(channel, prior_set, found, lambda near: pml(channel, near).worst.ratio)


@settings(max_examples=100)
@given(cases())
def test_pmc_is_the_largest_over_all_priors_and_its_witness_reaches_it(case):
    channel, prior_set = case
    found = robust_pmc(channel, prior_set)
    own = worst_pmc(rows_of(channel), members(prior_set, 3, STEPS))
    assert found.prior in prior_set
    if own is None:
        assert found == math.inf
        assert found.attained
    if found.ratio is not None and own is not None:
        assert found.ratio >= own
    if found.attained:
        leak = pmc(channel, found.prior)
        assert leak.worst.ratio == found.ratio
        assert float(leak.worst) == found.upper
    else:
        _check_limit(channel, prior_set, found, lambda near: pmc(channel, near).worst.ratio)


def _check_limit(channel, prior_set, found, measure):
    """Members next to the witness come as near as one likes."""
    region = region_of(prior_set, channel)
    inside, limit = region.inside(), tuple(found.prior.masses)
    near = measure(as_prior(mix(limit, inside, Fraction(1, 10**9)), channel))
    if found.ratio is None:
        assert near > 10**6
    else:
        assert found.ratio * (1 - Fraction(1, 10**6)) <= near <= found.ratio


@settings(max_examples=60)
@given(cases())
def test_maximal_leakage_depends_on_the_support_only(case):
    channel, prior_set = case
    found = robust_maximal_leakage(channel, prior_set)
    priors = members(prior_set, 3, STEPS)
    if isinstance(prior_set, PriorList):
        priors = [list(prior.masses) for prior in prior_set]
    assert found.prior in prior_set
    assert found.ratio == maximal_leakage(channel, found.prior).ratio
    assert found.ratio >= worst_maximal_leakage(rows_of(channel), priors)
    assert found.ratio <= maximal_leakage(channel).ratio
    assert found.attained
    assert found.outcome is None


@given(exact_pairs())
def test_one_prior_in_every_guise_is_the_plain_measure(pair):
    channel, prior = pair
    n = channel.shape[0]
    units = [[int(x == y) for x in range(n)] for y in range(n)]
    minus = [[-entry for entry in row] for row in units]
    masses = list(prior.masses)
    for alone in (
        PriorBall(prior, 0),
        PriorList([prior]),
        PriorPolytope(units + minus, masses + [-mass for mass in masses]),
    ):
        assert leakage_capacity(channel, prior_set=alone).ratio == pml(channel, prior).worst.ratio
        cost = robust_pmc(channel, alone)
        assert (cost.ratio, float(cost)) == (
            pmc(channel, prior).worst.ratio,
            float(pmc(channel, prior).worst),
        )
        assert robust_maximal_leakage(channel, alone).ratio == maximal_leakage(channel, prior).ratio
    uniform = PriorSet(n, Fraction(1, n))
    assert robust_pmc(channel, uniform).ratio == pmc(channel, Prior.uniform(n)).worst.ratio


@given(exact_channels(inputs=3), distributions(3))
def test_a_large_ball_is_all_priors(channel, center):
    whole = PriorBall(Prior(center), 2)
    free = PriorPolytope([[1, 1, 1]], [1])
    assert leakage_capacity(channel, prior_set=whole).ratio == ldp(channel).ratio
    assert leakage_capacity(channel, min_mass=0).ratio == ldp(channel).ratio
    assert float(leakage_capacity(channel, prior_set=free)) == float(ldp(channel))
    assert robust_pmc(channel, whole).ratio == robust_pmc(channel, free).ratio == ldp(channel).ratio
    assert robust_maximal_leakage(channel, whole).ratio == maximal_leakage(channel).ratio


@given(exact_pairs(), st.integers(1, 10), st.integers(1, 10))
def test_larger_sets_leak_no_less(pair, one, two):
    channel, prior = pair
    n = channel.shape[0]
    small, large = sorted((one, two))
    balls = [PriorBall(prior, Fraction(part, 10)) for part in (small, large)]
    floors = [PriorSet(n, Fraction(part, 10 * n)) for part in (large, small)]
    for inner, outer in (balls, floors, (PriorList([prior]), balls[0])):
        assert float(leakage_capacity(channel, prior_set=inner)) <= float(
            leakage_capacity(channel, prior_set=outer)
        )
        assert float(robust_pmc(channel, inner)) <= float(robust_pmc(channel, outer))


@settings(max_examples=40)
@given(float_pairs(), st.floats(0, 1))
def test_floats_have_sound_ends(pair, radius):
    channel, center = pair
    exact_ball = PriorBall(center.exact(), Fraction(radius))
    found = leakage_capacity(channel, prior_set=PriorBall(center, radius))
    region = region_of(exact_ball, channel)
    own = [Fraction(0)]
    for column in zip(*rows_of(channel), strict=True):
        peak, least = max(column[x] for x in region.possible), region.lowest(column)[0]
        if peak:
            own.append(peak / least if least else None)
    truth = None if None in own else max(own)
    assert found.ratio is None
    assert at_least_log(found.upper, truth)
    assert at_most_log(found.lower, truth if truth is None else max(truth, Fraction(1)))


def test_polytopes_by_linear_programs_of_floats():
    rng = np.random.default_rng(5)
    channel = Channel(rng.dirichlet(np.ones(6), 10))
    center = rng.dirichlet(np.ones(10) * 5)
    box = PriorPolytope(
        np.vstack([np.eye(10), -np.eye(10)]), np.concatenate([center * 1.2, -center * 0.8]), min_mass=0.001
    )
    found = leakage_capacity(channel, prior_set=box)
    assert found.prior in box
    assert found.upper == pytest.approx(float(pml(channel, found.prior).worst), abs=1e-14)
    others = (center * rng.uniform(0.9, 1.1, 10) for _ in range(50))
    tried = [prior for prior in (Prior(other / other.sum()) for other in others) if prior in box]
    assert len(tried) > 20
    assert all(float(pml(channel, prior).worst) <= found.upper for prior in tried)
    cost = robust_pmc(channel, box)
    assert cost.upper == pytest.approx(float(pmc(channel, cost.prior).worst), abs=1e-13)


def test_a_supremum_that_no_prior_reaches_says_so():
    """All mass on the second secret makes the outcome rarest, and then the first secret is impossible."""
    channel = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    found = leakage_capacity(channel, prior_set=PriorBall(Prior(["1/2", "1/2"]), 1))
    assert found.ratio == 3
    assert not found.attained
    assert found.prior.masses.tolist() == [0, 1]
    identity = leakage_capacity(mechanism.identity(2), prior_set=PriorBall(Prior(["1/2", "1/2"]), 1))
    assert identity == math.inf
    assert identity.lower == math.inf


def test_an_impossible_secret_never_counts():
    channel = Channel([[1, 0], ["1/2", "1/2"], [0, 1]])
    never_last = PriorPolytope([[0, 0, 1]], [0])
    assert leakage_capacity(channel, prior_set=never_last) == math.inf
    assert robust_maximal_leakage(channel, never_last).ratio == Fraction(3, 2)
    some = PriorPolytope([[0, 0, 1], [0, -1, 0]], [0, "-1/4"])
    assert leakage_capacity(channel, prior_set=some).ratio == 4
    only_first = PriorPolytope([[0, 1, 1]], [0])
    assert leakage_capacity(channel, prior_set=only_first).ratio == 1
    assert robust_pmc(channel, only_first).ratio == 1


def test_q_c_agrees_between_closed_form_and_linear_program():
    channel = mechanism.randomized_response(4, 1.0)
    floor = PriorPolytope([[1, 1, 1, 1]], [1], min_mass="1/10")
    closed = leakage_capacity(channel, min_mass="1/10")
    program = leakage_capacity(channel, prior_set=floor)
    assert program.upper == pytest.approx(closed.upper, abs=1e-14)
    assert closed.method.startswith("closed form")
    assert closed.attained
    assert not leakage_capacity(channel, min_mass=0).attained


def test_results_survive_copies():
    found = robust_pmc(mechanism.randomized_response(3, 1.0), PriorBall(Prior.uniform(3), "1/10"))
    for twin in (pickle.loads(pickle.dumps(found)), copy.copy(found)):
        assert (twin, twin.ratio, twin.lower, twin.prior) == (found, found.ratio, found.lower, found.prior)
        assert (twin.outcome, twin.secret, twin.method, twin.exact) == (
            found.outcome,
            found.secret,
            found.method,
            True,
        )


def test_bad_requests():
    channel = mechanism.randomized_response(3, 1.0)
    with pytest.raises(InvalidInput, match="and not both"):
        leakage_capacity(channel, min_mass=0.1, prior_set=PriorBall(Prior.uniform(3), 0.1))
    with pytest.raises(InvalidInput, match="give min_mass or prior_set"):
        leakage_capacity(channel)
    with pytest.raises(WrongType, match="prior_set must be a PriorSet"):
        leakage_capacity(channel, prior_set=0.1)
    with pytest.raises(WrongType, match=r"PriorSet, PriorBall, PriorList or PriorPolytope, got 0\.1"):
        robust_pmc(channel, 0.1)
    with pytest.raises(WrongType, match="channel must be a Channel"):
        robust_pmc([[1.0]], PriorSet(min_mass=0.1))
    with pytest.raises(ShapeMismatch, match="3 secrets, got 4"):
        robust_pmc(channel, PriorSet(4, 0.1))
    with pytest.raises(ShapeMismatch, match="as many as the channel's inputs"):
        robust_pmc(channel, PriorBall(Prior.uniform(4), 0.1))
    with pytest.raises(ShapeMismatch, match="as many as the channel's inputs"):
        robust_maximal_leakage(channel, PriorPolytope([[1, 1]], [1]))
