"""Mis-specified supports: exact privacy and distortion against listed channels, ends beyond, Propositions 3 to 6."""

import math
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import histogram_oracle as oracle
from exact_oracle import at_least_log, at_most_log
from tightlip.errors import InvalidInput, PreconditionFailed
from tightlip.histogram.counting import EXACT, read_growth
from tightlip.histogram.quantization import Quantization
from tightlip.histogram.randomized_response import RandomizedResponse
from tightlip.histogram.space import HistogramSpace
from tightlip.papers import misspecified
from tightlip.papers.misspecified import (
    Group,
    MisspecifiedSupport,
    misspecified_quantization_distortion,
    misspecified_quantization_privacy,
    misspecified_response_distortion,
    misspecified_response_privacy,
    selection_lower,
    selection_upper,
)

SMALL = [
    (total, known, spurious, missing)
    for total in range(1, 6)
    for known in (2, 3)
    for spurious in (0, 1)
    for missing in range(4)
    if comb(total + known + spurious + missing - 1, total) <= 84
]
GROWTHS = [Fraction(1), Fraction(2), Fraction(60)]


@pytest.mark.parametrize("case", SMALL)
def test_quantization_is_exact_up_to_three_missing_cells(case):
    total, known, spurious, missing = case
    support = MisspecifiedSupport(*case)
    for bin_size in range(1, total + 3):
        channel = oracle.misspecified_quantization(total, bin_size, known, spurious, missing)
        assert misspecified_quantization_distortion(support, bin_size).upper.fraction == oracle.distortion(
            channel
        )
        if total <= 4:
            assert misspecified_quantization_privacy(support, bin_size).ratio == oracle.leakage(channel)


@pytest.mark.parametrize("case", SMALL)
def test_randomized_response_is_exact_up_to_three_missing_cells(case):
    total, known, spurious, missing = case
    support = MisspecifiedSupport(*case)
    for growth in GROWTHS:
        channel = oracle.misspecified_response(total, growth, known, spurious, missing)
        found = misspecified_response_distortion(support, ratio=growth)
        assert found.upper.fraction == oracle.distortion(channel)
        if comb(total + known + missing - 1, total) <= 15:
            assert misspecified_response_privacy(support, ratio=growth).ratio == oracle.leakage(channel)


@pytest.mark.parametrize(("total", "bin_size"), [(1, 1), (1, 2), (2, 2), (2, 3), (3, 2)])
def test_more_missing_cells_have_ends_around_the_truth(total, bin_size):
    support = MisspecifiedSupport(total, 2, 0, 4)
    leak = misspecified_quantization_privacy(support, bin_size)
    exact = oracle.leakage(oracle.misspecified_quantization(total, bin_size, 2, 0, 4))
    assert at_most_log(leak.lower, exact)
    assert at_least_log(leak.upper, exact)


@pytest.mark.parametrize("growth", GROWTHS)
@pytest.mark.parametrize("total", [1, 2])
def test_more_missing_cells_have_ends_around_the_truth_of_randomized_response(total, growth):
    leak = misspecified_response_privacy(MisspecifiedSupport(total, 2, 0, 4), ratio=growth)
    exact = oracle.leakage(oracle.misspecified_response(total, growth, 2, 0, 4))
    assert at_most_log(leak.lower, exact)
    assert at_least_log(leak.upper, exact)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 30),
    st.integers(2, 6),
    st.integers(0, 4),
    st.integers(0, 3),
    st.integers(1, 35),
    st.sampled_from(GROWTHS),
)
def test_the_general_ends_hold_where_the_answer_is_exact(total, known, spurious, missing, bin_size, growth):
    support = MisspecifiedSupport(total, known, spurious, missing)
    exact = (
        misspecified_quantization_privacy(support, bin_size),
        misspecified_response_privacy(support, ratio=growth),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(misspecified, "ALL_TRIED", -1)
        patch.setattr(misspecified, "ALL_TRIED", -1)
        patch.setattr(misspecified, "_MOST_BLOCKS", 3)
        ends = (
            misspecified_quantization_privacy(support, bin_size),
            misspecified_response_privacy(support, ratio=growth),
        )
    for known_value, end in zip(exact, ends, strict=True):
        assert known_value.exact
        assert at_most_log(end.lower, known_value.ratio)
        assert at_least_log(end.upper, known_value.ratio)


def test_nothing_missing_is_theorem_4():
    for spurious in (0, 3):
        support, space = MisspecifiedSupport(9, 2, spurious, 0), HistogramSpace(9, 2 + spurious)
        assert misspecified_quantization_privacy(support, 4).ratio == Quantization(space, 4).privacy.ratio
        quantized = misspecified_quantization_distortion(support, 4)
        assert quantized.upper.fraction == Quantization(space, 4).distortion.upper.fraction
        response = RandomizedResponse(space, ratio=5)
        assert misspecified_response_privacy(support, ratio=5).ratio == response.privacy.ratio
        assert (
            misspecified_response_distortion(support, ratio=5).upper.fraction
            == response.distortion.upper.fraction
        )


def test_reference_values():
    first = misspecified_quantization_privacy(MisspecifiedSupport(5, 2, 0, 1), 3)
    assert first.ratio == Fraction(33, 10)
    assert first.in_bits() == pytest.approx(1.7224660245, abs=1e-10)
    assert misspecified_quantization_privacy(MisspecifiedSupport(5, 2, 1, 2), 2).ratio == Fraction(319, 70)
    response = misspecified_response_privacy(MisspecifiedSupport(5, 2, 0, 1), ratio=2)
    assert response.in_bits() == pytest.approx(1.2008190094, abs=1e-10)


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 40), st.integers(2, 5), st.integers(0, 3), st.integers(0, 9), st.integers(1, 90))
def test_the_corrected_bounds_of_appendix_h_d(total, known, spurious, missing, bin_size):
    support = MisspecifiedSupport(total, known, spurious, missing)

    def theorem4(cells):
        space = HistogramSpace(total, cells)
        return (
            Quantization(space, bin_size).distortion.upper.fraction,
            RandomizedResponse(space, ratio=7).distortion.upper.fraction,
        )

    found = (
        misspecified_quantization_distortion(support, bin_size).upper.fraction,
        misspecified_response_distortion(support, ratio=7).upper.fraction,
    )
    for low, value, high in zip(theorem4(support.estimated), found, theorem4(support.widest), strict=True):
        assert low <= value <= high


def test_the_printed_upper_bound_of_appendix_h_d_is_false():
    total, bin_size, known, missing = 4, 1, 2, 1
    cells = known + missing
    printed = Fraction(1, 2) + Fraction(cells * (bin_size // 2) - total, 2 * total * (cells - 1))
    true = oracle.distortion(oracle.misspecified_quantization(total, bin_size, known, 0, missing))
    assert (printed, true) == (Fraction(1, 4), Fraction(1, 2))


def test_many_missing_cells_have_distortion_between_ends():
    support = MisspecifiedSupport(10**6, 3, 1, 10**5)
    for found in (
        misspecified_quantization_distortion(support, 1000),
        misspecified_response_distortion(support, 2.0),
    ):
        assert 0.99 < found.lower < found.upper < 1
        assert not found.exact


def test_sizes_of_many_millions():
    support = MisspecifiedSupport(10**8, 5 * 10**7, 10**7, 3)
    leak = misspecified_quantization_privacy(support, 2)
    assert math.log(5 * 10**7) < leak.lower < leak.upper < math.log(10**8 + 1)
    assert leak.upper - leak.lower < 0.02
    assert not leak.exact
    response = misspecified_response_privacy(support, 1.0)
    assert response.exact
    assert response.ratio is None
    assert response.upper - response.lower < 1e-14
    wide = misspecified_response_privacy(MisspecifiedSupport(10**8, 2, 0, 9 * 10**7), 1.0)
    assert wide.lower > 18
    assert wide.upper == pytest.approx(math.log(10**8 + 1))


@pytest.mark.parametrize(("secrets", "missing"), [(4, 2), (8, 3), (5, 2), (3, 3), (6, 4), (9, 12), (16, 4)])
def test_proposition_6_with_the_number_of_secrets_fixed(secrets, missing):
    """As τ → ∞ the release shows all missing cells of the table: e^Π → min(s, 2^m) for quantization."""
    gaps = []
    for total in (10**3, 10**5, 10**7):
        group = Group(total, missing, 0, secrets - 1, total, 3)
        lower, upper = selection_lower(group, EXACT), selection_upper(group, EXACT)
        assert lower <= upper <= min(secrets, 2**missing)
        gaps.append(math.log2(upper / lower))
    assert gaps[2] < 1
    reached = float(lower) / min(secrets, 2**missing)
    if missing >= secrets - 1 or missing <= 3 or secrets >= 2**missing:
        assert reached == pytest.approx(1, abs=1e-4)
        assert gaps[2] == pytest.approx(0, abs=1e-4)


def test_proposition_6_for_randomized_response():
    """With (e^ε − 1) s ≤ N the gap is at most a bit."""
    for secrets, missing in ((8, 2), (8, 5), (5, 9)):
        total = 10**7
        size = comb(total + 2, 2)
        group = Group(
            total, missing, 0, secrets - 1, total, 3, read_growth(None, 1 + Fraction(size, secrets))
        )
        gap = math.log2(selection_upper(group, EXACT) / selection_lower(group, EXACT))
        assert 0 <= gap <= 1


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((5, 1, 3, 1), PreconditionFailed, "known must be at least 2"),
        ((0, 2, 0, 1), InvalidInput, "total must be a whole number from 1"),
        ((5, 2, -1, 1), InvalidInput, "spurious must be a whole number from 0"),
        ((5, 2, 0, 1.0), InvalidInput, "missing must be a whole number"),
        (
            (5, 6 * 10**7, 0, 6 * 10**7),
            InvalidInput,
            "known . spurious . missing must be a whole number from 0",
        ),
    ],
)
def test_bad_supports_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        MisspecifiedSupport(*arguments)
