"""SML Propositions 3 to 5 against exact answers; the printed third case of Proposition 5 refuted."""

import math
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import histogram_oracle as oracle
from tightlip.errors import PreconditionFailed
from tightlip.histogram.quantization import Quantization
from tightlip.histogram.randomized_response import RandomizedResponse
from tightlip.histogram.space import HistogramSpace
from tightlip.numeric.ball import ball, enclose
from tightlip.papers.misspecified import (
    MisspecifiedSupport,
    misspecified_quantization_distortion,
    misspecified_quantization_privacy,
    misspecified_response_distortion,
    misspecified_response_privacy,
)
from tightlip.papers.propositions import (
    proposition3_quantization,
    proposition3_response,
    proposition4_quantization,
    proposition4_response,
    proposition5_quantization,
    proposition5_response,
)

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


def test_the_printed_third_case_of_proposition_5_is_false_for_randomized_response():
    """τ = 14, d̂ = 2, m = 75, ε = 0. A table with g units in the secret's cell has τ − g for missing ones at most.

    So it keeps at least 1/N_(τ−g) of its release on the listed cells, where all secrets together tell at most 1;
    elsewhere they tell at most the sum. The proof's own last line, with τ + d̂ below, claims even more.
    """
    total, known, missing = 14, 2, 75
    secrets, block = total + 1, missing // (total + 1)
    printed = secrets - (secrets - 1) * Fraction(known + block - 1, total + known - 1) ** block
    last_line = secrets - (secrets - 1) * Fraction(known + block - 1, total + known) ** block

    def histograms(extra):
        return comb(total + known + extra - 1, total)

    upper = 1 + sum(1 - Fraction(histograms(0), histograms(total - g)) for g in range(secrets))
    assert (printed, round(float(upper), 5)) == (Fraction("14.85664"), 14.84615)
    assert upper < printed < last_line
    assert proposition5_response(MisspecifiedSupport(total, known, 0, missing), ratio=1).ratio <= upper


def test_proposition_4_for_quantization_needs_the_share_of_a_listed_cell():
    """One unit, ten listed cells and an eleventh missing; the second value of the secret is {e_1, e_11}; I = 2.

    One bin, released by its middle, the second value: a listed table shows e_1, the table e_11 either of the two.
    """
    listed, missing_cell, first = 10, 10, 0
    tables = range(listed + 1)
    channel = {
        cell: {first: Fraction(1)}
        if cell != missing_cell
        else {first: Fraction(1, 2), missing_cell: Fraction(1, 2)}
        for cell in tables
    }
    exact = oracle.leakage(channel, secret=lambda cell: cell in (first, missing_cell))
    printed = proposition4_quantization(MisspecifiedSupport(1, listed, 0, 1), 2).ratio
    spread = 1 + 2 - 2 * Fraction(listed - 1, 1 + listed + 1 - 2)
    assert printed == min(1 + Fraction(1, 1 + listed - 2), spread) == Fraction(10, 9)
    assert (exact, spread) == (Fraction(3, 2), Fraction(6, 5))


CENSUS = 48842, 22381


def appendix_i(spurious):
    """The two bounds of SML App. I as ratios: s = 60, one bin, 20 missing cells."""
    total, known = CENSUS
    first = (1 + Fraction(total, total + known + spurious - 2)) ** 20
    second = 1 + 60 - 60 * Fraction(known + spurious - 1, total + known + 20 + spurious - 2) ** 20
    return first, second


def test_appendix_i_names_the_wrong_bound_for_twenty_missing_cells():
    """log 60 = 4.094 nats. The second bound stays about there; from 143,140 cells on the first one decides."""
    total, _ = CENSUS
    assert round(math.log(60), 2) == 4.09
    steps = [appendix_i(d) for d in range(total, 5 * total + 1, total // 2)]
    assert all(4.07 < math.log(second) < 4.12 for _, second in steps)
    assert appendix_i(143_139)[0] > appendix_i(143_139)[1]
    assert appendix_i(143_140)[0] < appendix_i(143_140)[1]
    last = appendix_i(5 * total)[0]
    assert (round(math.log(last), 3), round(math.log2(last), 3)) == (2.879, 4.154)


def test_appendix_i_falls_in_a_convex_curve_where_the_first_bound_decides():
    """The paper has it concave. 20 log(1 + τ/x) is convex in x."""
    total, _ = CENSUS
    left, middle, right = (math.log(appendix_i(d)[0]) for d in (150_000, 5 * total // 2 + 75_000, 5 * total))
    assert middle < (left + right) / 2


def test_figure_4a_cannot_show_the_sml_of_that_table():
    """τ = 48842, d = 22381, ε = 4: log (1 + s r)/(1 + r) < s r, about 10^−19244 for every s ≤ τ + 1."""
    total, cells = CENSUS
    most = (ball(4).exp() - 1).log() + ball(total + 1).log()
    count = ball(total + cells).lgamma() - ball(cells).lgamma() - ball(total + 1).lgamma()
    low, high = enclose(lambda: (most - count) / ball(10).log())
    assert -19245 < low <= high < -19244


def test_figure_9_with_the_right_distortion():
    """τ = 5 million, d* = 100, five missing, 40 spurious, 13 bits: the two differ by 4e-5, not by a factor of two."""
    support, bin_size = MisspecifiedSupport(5_000_000, 95, 40, 5), 19_532
    cells = support.widest
    printed = Fraction(1, 2) + Fraction(
        cells * (bin_size // 2) - support.total, 2 * support.total * (cells - 1)
    )
    assert round(float(printed), 2) == 0.50
    quantized = misspecified_quantization_privacy(support, bin_size)
    assert 12.999 < quantized.lower / math.log(2) <= quantized.upper / math.log(2) < 13
    assert round(float(misspecified_quantization_distortion(support, bin_size).upper), 5) == 0.99282
    size = enclose(
        lambda: ball(support.total + 135).lgamma() - ball(135).lgamma() - ball(support.total + 1).lgamma()
    )
    epsilon = size[1] + math.log(8192 / support.total)
    response = misspecified_response_privacy(support, epsilon)
    assert 12.9 < response.lower / math.log(2) <= response.upper / math.log(2) < 13.1
    assert round(float(misspecified_response_distortion(support, epsilon).upper), 5) == 0.99286


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
