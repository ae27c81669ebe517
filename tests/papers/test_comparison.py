"""Randomised response against quantization at equal privacy: the paper's conclusion recomputed."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import histogram_oracle as oracle
from papers import sml_figure5
from tightlip.errors import InvalidInput, PreconditionFailed
from tightlip.histogram.quantization import Quantization
from tightlip.histogram.space import HistogramSpace
from tightlip.papers.comparison import asymptotic_ratio, compare, matched_response, quantization_wins

CENSUS = HistogramSpace(48842, 22381)


@pytest.mark.parametrize(
    ("total", "cells", "bin_size"), [(4, 2, 2), (4, 3, 2), (5, 2, 3), (3, 3, 4), (5, 2, 2)]
)
def test_both_sides_are_those_of_the_channels(total, cells, bin_size):
    space = HistogramSpace(total, cells)
    case, matched = compare(space, bin_size), matched_response(space, bin_size)
    response = oracle.randomized_response(total, cells, matched.growth.ratio)
    quantized = oracle.quantization(total, cells, bin_size)
    assert oracle.leakage(response) == oracle.leakage(quantized) == case.privacy.ratio
    assert case.response.upper.fraction == oracle.distortion(response) == matched.distortion.upper.fraction
    assert case.quantization.upper.fraction == oracle.distortion(quantized)


def test_a_listed_counterexample_to_the_papers_comparison():
    case = compare(HistogramSpace(11, 3), 2)
    assert case.response.upper.fraction == Fraction(4, 11)
    assert case.quantization.upper.fraction == Fraction(6, 11)
    assert case.winner == "randomized response"


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 300), st.integers(1, 12), st.integers(1, 700))
def test_the_criterion_decides_the_winner(total, cells, bin_size):
    space = HistogramSpace(total, cells)
    case = compare(space, bin_size)
    assert quantization_wins(space, bin_size) == (case.winner == "quantization")
    if case.ratio is not None:
        assert (case.ratio > 1) == (case.winner == "quantization")
        assert (case.ratio == 1) == (case.winner == "equal")
    if (cells - 1) ** 2 >= total:
        assert case.winner != "quantization"


def test_in_the_census_setting_randomized_response_has_the_smaller_distortion_at_every_bin_size():
    assert not any(quantization_wins(CENSUS, size) for size in range(1, CENSUS.secrets + 1))
    for size in (1, 2, 3, 10, 1000, 24421, 24422, 48842, 48843):
        case = compare(CENSUS, size)
        assert case.winner == "randomized response"
        assert case.response.upper < case.quantization.lower
        assert case.response.upper <= case.membership.upper


def test_few_cells_and_middling_bins_favour_quantization():
    assert compare(HistogramSpace(10**6, 5), 1000).winner == "quantization"
    assert compare(HistogramSpace(10**6, 5), 10).winner == "randomized response"
    assert compare(HistogramSpace(10**6, 5), 10**6 + 1).winner == "randomized response"


@pytest.mark.parametrize("cells", [3, 4, 10])
@pytest.mark.parametrize("bin_size", [2, 3, 9, 30, 100])
def test_the_asymptotic_ratio(cells, bin_size):
    limit = asymptotic_ratio(cells, bin_size)
    gaps = [
        abs(compare(HistogramSpace(total, cells), bin_size).ratio - limit) for total in (10**4, 10**6, 10**8)
    ]
    assert gaps[2] < 1e-5
    assert gaps == sorted(gaps, reverse=True)
    assert (limit >= 1) == (bin_size >= (cells - 1) ** 2)


def test_the_limit_needs_three_cells():
    with pytest.raises(InvalidInput, match="cells must be a whole number from 3"):
        asymptotic_ratio(2, 5)


@pytest.mark.parametrize("bin_size", [2, 7, 10000, 48842])
def test_matched_responses_of_large_spaces_leak_no_more(bin_size):
    matched, wanted = matched_response(CENSUS, bin_size), Quantization(CENSUS, bin_size).privacy
    assert matched.privacy.lower <= wanted.upper
    assert matched.privacy.value == pytest.approx(wanted.value, abs=1e-9)
    assert matched.distortion.value == pytest.approx(compare(CENSUS, bin_size).response.value, rel=1e-9)


def test_matched_responses_at_the_ends():
    assert matched_response(CENSUS, CENSUS.secrets).privacy.ratio == 1
    assert matched_response(HistogramSpace(5, 1), 1).privacy.ratio == 1
    with pytest.raises(PreconditionFailed, match="bin_size must be at least 2"):
        matched_response(CENSUS, 1)


def test_one_cell_is_a_draw():
    case = compare(HistogramSpace(5, 1), 2)
    assert case.winner == "equal"
    assert case.ratio is None


def test_the_figure_shows_what_it_becomes():
    rows = list(sml_figure5.rows(HistogramSpace(400, 150), 12, 5))
    value = {(row["curve"], row["bins"]): row["distortion"] for row in rows}
    bins = {row["bins"] for row in rows}
    drawn = {row["bins"] for row in rows if row["curve"] == "MaxL, at least"}
    assert drawn == {1, 2, 3, 5}
    assert all(value["randomised response", k] < value["quantization", k] for k in bins)
    assert all(
        value["randomised response", k] < value["MaxL, at least", k] <= value["MaxL, at most", k]
        for k in drawn
    )
    assert all(value["quantization, as printed", k] < 0.75 for k in bins)
