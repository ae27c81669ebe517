"""SML Propositions 3 to 5 against exact answers; the printed third case of Proposition 5 refuted."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import histogram_oracle as oracle
from tightlip.errors import PreconditionFailed
from tightlip.histogram.misspecified import (
    MisspecifiedSupport,
    misspecified_quantization_privacy,
    misspecified_response_privacy,
)
from tightlip.histogram.propositions import (
    proposition3_quantization,
    proposition3_response,
    proposition4_quantization,
    proposition4_response,
    proposition5_quantization,
    proposition5_response,
)
from tightlip.histogram.quantization import Quantization
from tightlip.histogram.randomized_response import RandomizedResponse
from tightlip.histogram.space import HistogramSpace

supports = st.builds(
    MisspecifiedSupport, st.integers(1, 25), st.integers(2, 5), st.integers(0, 3), st.integers(0, 12)
)


@settings(max_examples=150, deadline=None)
@given(supports, st.integers(1, 30))
def test_quantization_lies_between_propositions_5_and_4(support, bin_size):
    leak = misspecified_quantization_privacy(support, bin_size)
    assert proposition5_quantization(support, bin_size) <= leak.upper
    assert leak.upper <= proposition4_quantization(support, bin_size)
    if leak.exact:
        assert proposition5_quantization(support, bin_size).ratio <= leak.ratio
    truth = Quantization(HistogramSpace(support.total, support.true_cells), bin_size).privacy
    assert leak.upper <= truth.upper + proposition3_quantization(support) + 1e-12
    assert proposition3_quantization(support).in_bits() <= support.missing + 1e-12


@settings(max_examples=150, deadline=None)
@given(supports, st.sampled_from([Fraction(1), Fraction(11, 10), Fraction(3), Fraction(500)]))
def test_randomized_response_lies_between_propositions_5_and_4(support, growth):
    leak = misspecified_response_privacy(support, ratio=growth)
    assert proposition5_response(support, ratio=growth) <= leak.upper
    assert leak.upper <= proposition4_response(support, ratio=growth)
    if leak.exact:
        assert proposition5_response(support, ratio=growth).ratio <= leak.ratio
    try:
        allowed = proposition3_response(support, ratio=growth)
    except PreconditionFailed:
        load = support.secrets * (growth - 1)
        assert load > HistogramSpace(support.total, support.estimated).size
        return
    truth = RandomizedResponse(HistogramSpace(support.total, support.true_cells), ratio=growth).privacy
    assert leak.upper <= truth.upper + allowed + 1e-12


def test_the_printed_third_case_of_proposition_5_is_false():
    total, bin_size, known, missing = 1, 2, 2, 2
    secrets, bins, block = total + 1, 1, missing // bin_size
    printed = secrets - (secrets - bins) * Fraction(
        known + block - 2, Fraction(total * bin_size, 2 * secrets) + known - 1
    )
    exact = oracle.leakage(oracle.misspecified_quantization(total, bin_size, known, 0, missing))
    assert (printed, exact) == (Fraction(4, 3), 1)
    assert proposition5_quantization(MisspecifiedSupport(total, known, 0, missing), bin_size).ratio == 1


def test_proposition_6_fails_where_the_secrets_grow_with_the_units():
    """s = τ + 1 divisible by I: the paper has the gap of Propositions 4 and 5 vanish, and it stays."""
    gaps = []
    for power in (8, 14, 20):
        support = MisspecifiedSupport(2**power - 1, 2, 1, 2)
        gaps.append(proposition4_quantization(support, 8) - proposition5_quantization(support, 8))
    assert gaps[2] == pytest.approx(gaps[1], abs=1e-3)
    assert gaps[2] > 0.5


def test_proposition_3_refuses_an_epsilon_that_is_too_large():
    support = MisspecifiedSupport(48842, 22381, 0, 5)
    assert proposition3_response(support, 44000.0).in_bits() == pytest.approx(5 * math.log2(3))
    with pytest.raises(PreconditionFailed, match="use misspecified_response_privacy"):
        proposition3_response(support, 45000.0)


def test_large_sizes():
    support = MisspecifiedSupport(10**8, 4 * 10**7, 10**7, 4 * 10**7)
    assert proposition5_quantization(support, 1000) <= proposition4_quantization(support, 1000)
    assert proposition5_response(support, 5.0) <= proposition4_response(support, 5.0)
    few = MisspecifiedSupport(10**8, 4 * 10**7, 10**7, 20)
    assert 0 < proposition5_response(few, 5.0) <= proposition4_response(few, 5.0)
    assert 0 < proposition5_quantization(few, 10**6) <= proposition4_quantization(few, 10**6)


def test_the_ends_of_misspecified_are_tighter():
    support = MisspecifiedSupport(48842, 22381, 100, 20)
    leak = misspecified_quantization_privacy(support, 1000)
    assert proposition5_quantization(support, 1000) <= leak.lower
    assert leak.upper <= proposition4_quantization(support, 1000)


def test_fewer_secrets_than_sets_round_the_number_of_cells_down():
    """Six secrets allow for all sets of ⌊log2 6⌋ = 2 missing cells."""
    found = proposition5_response(MisspecifiedSupport(5, 2, 0, 4), ratio=1)
    assert found.ratio == (1 + Fraction(5 - 2, 5 + 6 - 1)) ** 2
    support = MisspecifiedSupport(40, 2, 0, 4)
    quantized = proposition5_quantization(support, 7)
    units = 40 * 7
    assert quantized.ratio == 5 * (1 + Fraction(units - 2 * 41 * 2, units + 2 * 41 * 4)) ** 2
