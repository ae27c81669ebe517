"""Quantization: closed forms for every bin size against the listed channel, and the paper's formula refuted."""

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import histogram_oracle as oracle
from tightlip.errors import InvalidInput
from tightlip.histogram.quantization import Quantization
from tightlip.histogram.space import HistogramSpace

SMALL = [(t, d) for t in range(1, 9) for d in range(1, 6) if comb(t + d - 1, d - 1) <= 90]


def paper(total, cells, bin_size):
    """SML Theorem 4 as printed."""
    return Fraction(1, 2) + Fraction(cells * (bin_size // 2) - total, 2 * total * (cells - 1))


@pytest.mark.parametrize(("total", "cells"), SMALL)
def test_distortion_is_that_of_the_channel_for_every_bin_size(total, cells):
    space = HistogramSpace(total, cells)
    for bin_size in range(1, 2 * total + 5):
        middle = oracle.quantization(total, cells, bin_size)
        assert Quantization(space, bin_size).distortion.upper.fraction == oracle.distortion(middle)
        member = oracle.quantization_by_membership(total, cells, bin_size)
        found = Quantization(space, bin_size, ordered=False).distortion
        assert found.upper.fraction == oracle.distortion(member)


@pytest.mark.parametrize(("total", "cells"), [(t, d) for t, d in SMALL if t <= 4 and d <= 3])
@pytest.mark.parametrize("build", [oracle.quantization, oracle.quantization_by_membership])
def test_privacy_is_the_number_of_bins(total, cells, build):
    for bin_size in range(1, total + 4):
        mechanism = Quantization(HistogramSpace(total, cells), bin_size)
        assert mechanism.privacy.ratio == oracle.leakage(build(total, cells, bin_size))


@pytest.mark.parametrize(("total", "cells"), [(5, 2), (7, 3), (4, 1), (1, 2)])
def test_representatives_are_the_papers_clamped(total, cells):
    space = HistogramSpace(total, cells)
    for bin_size in range(1, 2 * total + 5):
        mechanism = Quantization(space, bin_size)
        for index in range(space.secrets):
            k = mechanism.bin_of(index)
            assert index in mechanism.members(k)
            assert mechanism.representative(k) in mechanism.members(k)
            if cells > 1:
                assert mechanism.representative(k) == oracle.representative(total, bin_size, k)
        assert [index for k in range(mechanism.bins) for index in mechanism.members(k)] == [
            *range(space.secrets)
        ]


@pytest.mark.parametrize(
    ("total", "cells", "bin_size", "true", "printed"),
    [
        (4, 3, 1, Fraction(1, 2), Fraction(1, 4)),
        (11, 3, 4, Fraction(13, 22), Fraction(17, 44)),
    ],
)
def test_the_papers_distortion_is_wrong(total, cells, bin_size, true, printed):
    assert paper(total, cells, bin_size) == printed
    assert oracle.distortion(oracle.quantization(total, cells, bin_size)) == true
    assert Quantization(HistogramSpace(total, cells), bin_size).distortion.upper.fraction == true


def test_beyond_twice_the_secrets_the_representative_is_the_last_and_all_is_lost():
    mechanism = Quantization(HistogramSpace(4, 3), 10)
    assert mechanism.representative(0) == 4
    assert mechanism.distortion.upper.fraction == 1


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 10**8), st.integers(2, 10**8), st.integers(1, 10**8))
def test_membership_is_never_worse_than_the_middle(total, cells, bin_size):
    space = HistogramSpace(total, cells)
    middle = Quantization(space, bin_size).distortion
    member = Quantization(space, bin_size, ordered=False).distortion
    assert 0 <= member.lower <= member.upper <= 1
    assert member.lower <= middle.upper
    assert member.upper - member.lower < 1e-9
    assert Fraction(member.upper) >= Fraction(cells - 2, cells - 1)


def test_membership_agrees_with_exact_integers_where_balls_take_over():
    total, cells, bin_size = 700, 650, 5
    found = Quantization(HistogramSpace(total, cells), bin_size, ordered=False).distortion
    assert found.upper.fraction is None
    rest = total - bin_size + cells - 1
    mass = comb(total + cells - 1, cells) - comb(rest, cells)
    count = comb(total + cells - 1, cells - 1) - comb(rest, cells - 1)
    exact = 1 - Fraction(mass, total * count)
    assert Fraction(found.lower) <= exact <= Fraction(found.upper)


def test_other_secrets_have_their_privacy_and_only_trivial_ends_for_distortion():
    mechanism = Quantization(HistogramSpace(10, 4), 3, secrets=41)
    assert mechanism.privacy.ratio == 14
    assert (mechanism.distortion.lower, mechanism.distortion.upper) == (0, 1)
    assert not mechanism.distortion.exact
    assert "no closed form" in mechanism.distortion.method


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Quantization(HistogramSpace(4, 3), 0), "bin_size must be a whole number from 1"),
        (lambda: Quantization(HistogramSpace(4, 3), 1.5), "bin_size must be a whole number"),
        (lambda: Quantization(HistogramSpace(4, 3), 2, ordered="no"), "ordered must be True or False"),
        (lambda: Quantization((4, 3), 2), "space must be a HistogramSpace"),
        (lambda: Quantization(HistogramSpace(4, 3), 2).bin_of(5), "index must be a whole number from 0 to 4"),
        (
            lambda: Quantization(HistogramSpace(4, 3), 2).representative(3),
            "bin_index must be a whole number from 0 to 2",
        ),
    ],
)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(InvalidInput, match=message):
        call()
