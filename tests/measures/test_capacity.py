"""Leakage capacity over Q(c): closed form against brute force over the corners, witnesses, the zero-count lemma."""

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from exact_oracle import at_least_log, at_most_log, rows_of
from strategies import exact_channels, float_pairs
from tightlip import Channel, Prior, PriorSet, ldp, log_of, mechanism, pml
from tightlip.errors import InvalidInput, InvalidPrior, ShapeMismatch, WrongType
from tightlip.measures.capacity import allowed_zeros
from tightlip.papers import check_zero_count
from tightlip.robust.pointwise import leakage_capacity


def brute_force(rows, c):
    """The largest lift over the corners of Q(c): PML is quasi-convex in the prior, so no other prior is worse."""
    size, worst = len(rows), Fraction(0)
    for heavy in range(size):
        masses = [1 - (size - 1) * c if x == heavy else c for x in range(size)]
        for column in zip(*rows, strict=True):
            q = sum(p * k for p, k in zip(masses, column, strict=True))
            worst = max(worst, max(column) / q if q else Fraction(0))
    return worst


@st.composite
def exact_cases(draw):
    channel = draw(exact_channels())
    return channel, Fraction(draw(st.integers(1, 20)), 20 * channel.shape[0])


@given(exact_cases())
def test_closed_form_is_the_maximum_over_corners_and_its_prior_reaches_it(case):
    channel, c = case
    found = leakage_capacity(channel, min_mass=c)
    assert found.ratio == brute_force(rows_of(channel), c)
    assert found.prior in PriorSet(channel.shape[0], c)
    leak = pml(channel, found.prior)
    assert leak.worst.ratio == found.ratio == leak.value_of(found.outcome).ratio
    assert found.lower <= found.upper == float(found)
    assert leakage_capacity(channel, prior_set=PriorSet(channel.shape[0], c)).ratio == found.ratio
    assert found.ratio <= 1 / c  # every channel is (log 1/c, c)-PML


@given(float_pairs(), st.floats(1e-6, 1))
def test_float_channels_have_sound_ends(pair, share):
    channel, _ = pair
    c = share / channel.shape[0]
    truth = brute_force(rows_of(channel), min(Fraction(c), Fraction(1, channel.shape[0])))
    found = leakage_capacity(channel, min_mass=c)
    assert at_least_log(found.upper, truth)
    assert at_most_log(found.lower, max(truth, Fraction(1)))
    assert found.upper - found.lower < 1e-13 + 1e-14 * found.upper
    sparse = leakage_capacity(Channel(csr_array(channel.matrix)), min_mass=c)
    assert sparse.upper == pytest.approx(found.upper, abs=1e-13)


def test_many_tied_columns_stay_sound():
    channel = Channel(mechanism.randomized_response(60, 1.0).floats)
    c = 0.01
    truth = brute_force(rows_of(channel), Fraction(c))
    found = leakage_capacity(channel, min_mass=c)
    assert at_least_log(found.upper, truth)
    assert found.upper - found.lower < 1e-12


def test_ends_of_the_range_are_uniform_pml_and_ldp():
    channel = Channel([["1/2", "1/2"], ["1/8", "7/8"], ["1/4", "3/4"]])
    uniform = pml(channel, Prior.uniform(3)).worst.ratio
    assert leakage_capacity(channel, min_mass="1/3").ratio == uniform
    assert leakage_capacity(channel, min_mass=0).ratio == ldp(channel).ratio == 4
    assert leakage_capacity(channel, min_mass=0).prior is None
    floats = leakage_capacity(Channel(channel.floats), min_mass=0)
    assert floats.lower <= math.log(4) <= floats.upper
    sequence = [leakage_capacity(channel, min_mass=Fraction(1, 3 * 10**k)).upper for k in range(9)]
    assert sequence == sorted(sequence)
    assert sequence[-1] == pytest.approx(math.log(4), abs=1e-6)


def test_zero_column_entries_make_ldp_infinite_but_not_the_capacity():
    identity = mechanism.identity(4)
    assert leakage_capacity(identity, min_mass=0) == math.inf
    assert leakage_capacity(identity, min_mass="1/10").ratio == 10


def test_dob_example_2():
    """The scan's 'log 19/3' is log 10/3."""
    first = Channel([["15/16", "1/16"]] * 5 + [["1/16", "15/16"]] * 5)
    assert leakage_capacity(first, min_mass="1/20").ratio == Fraction(10, 3)
    assert ldp(first).ratio == 15
    row = ["1/3"] * 3 + [0, 0]
    second = Channel([row[-i:] + row[:-i] for i in range(5)])
    assert leakage_capacity(second, min_mass="1/10").ratio == Fraction(10, 3)
    assert ldp(second) == math.inf


def test_a_float_mass_gives_no_exact_ratio_and_the_one_above_1_over_n_means_1_over_n():
    channel = mechanism.randomized_response(10, log_of(3))
    found = leakage_capacity(channel, min_mass=0.1)
    assert found.ratio is None
    assert found.prior == Prior.uniform(10)
    assert found.upper == pytest.approx(float(leakage_capacity(channel, min_mass="1/10")), abs=1e-15)


def test_results_survive_copies():
    found = leakage_capacity(mechanism.randomized_response(3, log_of(3)), min_mass="1/5")
    for twin in (pickle.loads(pickle.dumps(found)), copy.copy(found)):
        assert (twin, twin.ratio, twin.prior, twin.outcome) == (
            found,
            found.ratio,
            found.prior,
            found.outcome,
        )


def test_bad_requests():
    channel = mechanism.randomized_response(3, 1.0)
    with pytest.raises(InvalidPrior, match="1/3"):
        leakage_capacity(channel, min_mass="0.34")
    with pytest.raises(InvalidPrior, match="write 0"):
        leakage_capacity(channel, min_mass=1e-310)
    with pytest.raises(InvalidPrior):
        leakage_capacity(channel, min_mass=-0.1)
    with pytest.raises(InvalidInput, match="and not both"):
        leakage_capacity(channel)
    with pytest.raises(ShapeMismatch, match="3 secrets, got 4"):
        leakage_capacity(channel, prior_set=PriorSet(4, 0.1))
    with pytest.raises(WrongType, match="PriorSet"):
        leakage_capacity(channel, prior_set=0.1)
    with pytest.raises(WrongType, match="Channel"):
        leakage_capacity([[1.0]], min_mass=0.1)
    with pytest.raises(WrongType, match="Channel"):
        check_zero_count([[1.0]], 1.0, min_mass=0.1)
    with pytest.raises(InvalidInput, match="finite"):
        leakage_capacity(channel, min_mass=math.nan)


@given(exact_cases())
def test_zero_count_lemma_holds_at_the_capacity_and_fails_only_below_it(case):
    channel, c = case
    capacity = leakage_capacity(channel, min_mass=c)
    assert check_zero_count(channel, log_of(capacity.ratio), min_mass=c).holds
    check = check_zero_count(channel, 0, min_mass=c)
    if not check.holds:
        assert capacity > 0
        assert "not (ε, c)-PML" in check.explanation


@pytest.mark.parametrize("n", [2, 3, 7])
def test_allowed_zeros_is_the_lemma(n):
    """At most l − 1 zeros if ε < −log((N − l)c); log(1/((N − k)c)) itself allows k."""
    c = Fraction(1, 2 * n)
    for k in range(1, n):
        at = log_of(1 / ((n - k) * c))
        assert allowed_zeros(n, at, c) == k
        assert allowed_zeros(n, math.nextafter(at.of_ratio(at.ratio, "down"), 0), c) == k - 1
    assert allowed_zeros(n, math.inf, c) == n - 1
    assert allowed_zeros(n, 5.0, 0) == 0


def test_zero_count_explanations():
    identity = mechanism.identity(3)
    good = check_zero_count(identity, log_of(10), min_mass="1/10")
    assert (good.holds, good.allowed, good.zeros) == (True, 2, 2)
    assert "up to 2 zeros are allowed" in good.explanation
    assert "no outcome excludes" in check_zero_count(Channel([[1.0], [1.0]]), 1, min_mass=0.1).explanation
    sparse = check_zero_count(Channel(csr_array(np.eye(3))), 1.0, min_mass=0.1)
    assert (sparse.holds, sparse.zeros) == (False, 2)
    assert "(3 - 2) * 0.1)" in sparse.explanation
    with pytest.raises(InvalidInput, match="n must be"):
        allowed_zeros(0, 1, 0)
