"""SML Appendix I: the first bound of Proposition 4 or log s, never the second, for all small supports."""

import math
from fractions import Fraction
from itertools import product

import pytest

import tightlip as tl
from tightlip.papers import MisspecifiedSupport, appendix_i

CENSUS = 48842, 22381


def test_the_second_bound_never_decides():
    """The proof in the module, tried on every small case."""
    cases = product(range(1, 7), range(2, 6), range(3), range(10), range(2, 8))
    for total, known, spurious, missing, secrets in cases:
        for bins in range(1, secrets):
            found = appendix_i(MisspecifiedSupport(total, known, spurious, missing), bins, secrets)
            assert min(found.first, secrets) <= found.second
            assert found.trivial == (missing >= found.threshold)
            assert found.bound.ratio == min(found.first, secrets)


def test_the_bounds_are_those_of_proposition_4():
    support = MisspecifiedSupport(5, 2, 1, 2)
    found = appendix_i(support, 2, 6)
    assert found.first == 2 * (1 + Fraction(5, 6)) ** 2
    assert found.second == 2 + 6 - 6 * Fraction(2, 8 - 1 + 1) ** 2
    wanted = tl.papers.proposition4_quantization(support, 3)  # s = τ + 1 = 6 secrets in two bins
    assert wanted.ratio == min(found.first, found.second)


def test_the_paper_s_three_cases():
    """s = 60, one bin: 5 missing cells fall, 100 say nothing, 20 fall after 143 thousand spurious ones."""
    total, known = CENSUS

    def at(spurious, missing):
        return appendix_i(MisspecifiedSupport(total, known, spurious, missing), 1, 60)

    assert 7 < at(0, 5).alpha[0] <= at(0, 5).alpha[1] < 8 == at(0, 5).threshold
    assert not at(0, 5).trivial
    assert at(5 * total, 100).trivial
    assert at(5 * total, 100).bound.ratio == 60
    last = max(d for d in range(142_000, 144_000) if at(d, 20).threshold <= 20)
    assert at(last, 20).trivial
    assert not at(last + 1, 20).trivial
    assert at(last + 1, 20).bound.ratio == at(last + 1, 20).first
    assert at(last, 20).second > 60


@pytest.mark.parametrize("spurious", [1, 1000, 20_000])
def test_the_straight_line_lies_below_the_bound(spurious):
    total, known = CENSUS
    start, later = (appendix_i(MisspecifiedSupport(total, known, d, 5), 1, 60) for d in (0, spurious))
    line = math.log(start.first) + spurious * float(start.slope)
    assert line <= math.log(later.first) + 1e-12
    assert line == pytest.approx(math.log(later.first), abs=5 * (spurious / (total + known)) ** 2 + 1e-12)


def test_the_printed_second_derivative_has_the_wrong_factor():
    """(u/v)^m with v − u = τ + m − 1, not τ − 1; here τ = 3, m = 20, where the two differ in sign."""
    total, known, missing = 3, 30, 20

    def power(spurious):
        return Fraction(known + spurious - 1) ** missing / (total + known + missing + spurious - 2) ** missing

    second = power(Fraction(1, 100)) - 2 * power(Fraction(0)) + power(Fraction(-1, 100))
    right, printed = total + missing - 1, total - 1
    others = known - 1
    assert (second > 0) == (19 * right - 2 * others > 0)
    assert (second > 0) != (19 * printed - 2 * others > 0)


def test_what_is_refused():
    with pytest.raises(tl.errors.InvalidInput, match="bins must be"):
        appendix_i(MisspecifiedSupport(5, 2, 0, 1), 6, 6)
    with pytest.raises(
        tl.errors.InvalidInput, match="support must have at most 10000 missing cells, got missing=10001"
    ):
        appendix_i(MisspecifiedSupport(5, 2, 0, 10_001), 1, 2)
