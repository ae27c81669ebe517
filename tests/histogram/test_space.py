"""The space of histograms: counts, logs at any size, refusals."""

import math
from fractions import Fraction

import numpy as np
import pytest

import histogram_oracle as oracle
from exact_oracle import at_least_log, at_most_log
from tightlip.errors import InvalidInput, WrongType
from tightlip.histogram.counting import BALLS, EXACT, Growth, NotExact, read_growth
from tightlip.histogram.space import HistogramSpace
from tightlip.numeric.ball import enclose
from tightlip.numeric.quantity import log_of


@pytest.mark.parametrize("total", range(1, 6))
@pytest.mark.parametrize("cells", range(1, 5))
def test_size_and_secrets_are_those_of_the_listing(total, cells):
    listed = list(oracle.histograms(total, cells))
    space = HistogramSpace(total, cells)
    assert space.size == len(listed)
    shares = sorted({theta[0] for theta in listed})
    assert [space.secret_count(index) for index in range(space.secrets)] == shares


@pytest.mark.parametrize(("total", "cells"), [(1, 2), (40, 7), (900, 800), (10**8, 3), (48842, 22381)])
def test_size_log_brackets_the_exact_logarithm(total, cells):
    exact = Fraction(math.comb(total + cells - 1, cells - 1))
    log = HistogramSpace(total, cells).size_log()
    assert at_most_log(log.lower, exact)
    assert at_least_log(log.upper, exact)
    assert log.upper - log.lower <= 1e-14 * log.upper


def test_numpy_integers_are_read():
    assert HistogramSpace(np.int64(5), np.int32(2)) == HistogramSpace(5, 2)


def test_one_cell_has_one_histogram():
    assert HistogramSpace(5, 1).size == 1
    assert HistogramSpace(5, 1).size_log() == 0


def test_sizes_of_a_hundred_million_do_not_overflow():
    log = HistogramSpace(10**8, 10**8).size_log()
    assert log.lower < 138629425.6361366 <= log.upper
    with pytest.raises(InvalidInput, match="use size_log"):
        _ = HistogramSpace(10**8, 10**8).size


@pytest.mark.parametrize(
    ("total", "cells", "message"),
    [
        (0, 3, "total must be a whole number from 1"),
        (3, 0, "cells must be a whole number from 1"),
        (10**8 + 1, 3, "got 100000001"),
        (2.0, 3, "total must be a whole number"),
        (3, True, "cells must be a whole number"),
    ],
)
def test_bad_sizes_are_refused(total, cells, message):
    with pytest.raises(InvalidInput, match=message):
        HistogramSpace(total, cells)


def test_ranks_and_counts_of_secrets_are_checked():
    space = HistogramSpace(4, 3)
    with pytest.raises(InvalidInput, match="index must be a whole number from 0 to 4"):
        space.secret_count(5)
    with pytest.raises(InvalidInput, match="secrets must be a whole number from 1 to 15"):
        space.read_secrets(16)
    assert space.read_secrets(15) == 15
    assert HistogramSpace(10**8, 10**8).read_secrets(10**20) == 10**20


def test_the_two_fields_agree():
    growth = read_growth(None, "7/2")
    assert EXACT.growth(growth) == Fraction(7, 2)
    for n, k in ((5, 2), (5, 6), (5, -1), (300, 150), (3000, 1500), (10**6, 10**5)):
        exact = Fraction(math.comb(n, k) if 0 <= k <= n else 0)
        if not exact:
            assert BALLS.binomial(n, k).is_zero()
            continue
        low, high = enclose(lambda n=n, k=k: BALLS.binomial(n, k).log())
        assert at_most_log(low, exact)
        assert at_least_log(high, exact)
    with pytest.raises(NotExact):
        EXACT.binomial(10**6, 10**5)
    with pytest.raises(NotExact):
        EXACT.growth(Growth(None, 1.0))
    with pytest.raises(NotExact):
        EXACT.power(Fraction(1, 3), 10**6)
    assert abs(float(BALLS.power(Fraction(1, 3), 2)) - 1 / 9) < 1e-15


@pytest.mark.parametrize(
    ("epsilon", "ratio", "expected"),
    [(log_of(3), None, Fraction(3)), (0, None, Fraction(1)), (1.5, None, None), (None, 4, Fraction(4))],
)
def test_strengths_are_read(epsilon, ratio, expected):
    assert read_growth(epsilon, ratio).ratio == expected


@pytest.mark.parametrize(
    ("epsilon", "ratio", "message"),
    [
        (None, None, "give one of epsilon and ratio"),
        (1.0, 2, "give one of epsilon and ratio"),
        (None, "1/2", "ratio must be at least 1"),
        (-1.0, None, "epsilon must be a finite non-negative"),
        (math.nan, None, "epsilon must be a finite non-negative"),
        (None, math.inf, "ratio must be finite"),
    ],
)
def test_bad_strengths_are_refused(epsilon, ratio, message):
    with pytest.raises(InvalidInput, match=message):
        read_growth(epsilon, ratio)


def test_a_strength_of_another_type_is_refused():
    with pytest.raises(WrongType):
        read_growth([1], None)


def test_a_number_too_long_to_print_is_refused_in_words():
    with pytest.raises(InvalidInput, match="got about 1e5000"):
        HistogramSpace(10**5000, 3)
