"""Distortion of quantization for ratios and differences: against every table and every release, listed."""

from fractions import Fraction

import numpy as np
import pytest

import histogram_oracle as oracle
from tightlip.errors import InvalidInput
from tightlip.histogram import Except, RatioDifference, Share, plan_release
from tightlip.histogram.quantization import Quantization
from tightlip.histogram.ratio_distortion import pure_tables, ratio_distortion
from tightlip.histogram.secret import GroupedSecret, scale_of
from tightlip.histogram.share_distortion import share_distortion
from tightlip.histogram.space import HistogramSpace


def grouped(total, sizes, resolution):
    groups = np.repeat(np.arange(len(sizes), dtype=np.int8), sizes)
    return GroupedSecret(groups, sizes, total, scale_of(sizes, total, resolution))


def channel(total, sizes, bin_size, resolution, ordered):
    """Every table with its release, by the definition."""
    secret = grouped(total, sizes, resolution)
    space = list(oracle.histograms(total, sum(sizes)))
    index = {one: secret.index(np.array(one)) for one in space}
    case = Quantization(HistogramSpace(total, sum(sizes)), bin_size, secrets=secret.size)
    rows = {}
    for one in space:
        own = case.bin_of(index[one])
        wanted = [case.representative(own)] if ordered else case.members(own)
        rows[one] = oracle.uniform(other for other in space if index[other] in wanted)
    return rows, secret


CASES = [
    (4, (1, 1, 1), 2, None),
    (5, (2, 1, 1), 3, None),
    (6, (2, 1, 1), 3, Fraction(1, 2)),
    (4, (1, 2, 2), 2, Fraction(1, 3)),
    (4, (1, 1, 1, 1, 0), 3, Fraction(1, 3)),
    (4, (2, 1, 1, 1, 0), 2, Fraction(2, 5)),
    (3, (1, 1, 1, 2, 1), 2, Fraction(1, 2)),
    (4, (1, 1, 1, 1, 1), 9, None),
    (5, (2, 2, 0), 2, None),
]


@pytest.mark.parametrize(("total", "sizes", "bin_size", "resolution"), CASES)
@pytest.mark.parametrize("ordered", [True, False])
def test_it_is_the_worst_of_all_tables(total, sizes, bin_size, resolution, ordered):
    rows, secret = channel(total, sizes, bin_size, resolution, ordered)
    truth = oracle.distortion(rows)
    found = ratio_distortion(total, sizes, bin_size, resolution=resolution, ordered=ordered)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < 1e-9
    beyond = pure_tables(secret, bin_size)
    assert beyond.lower <= truth <= beyond.upper


@pytest.mark.parametrize("bin_size", [1, 3, 8])
def test_shares_are_as_their_own_formula(bin_size):
    closed = share_distortion(HistogramSpace(30, 7), bin_size, 3)
    found = ratio_distortion(30, (3, 4, 0), bin_size)
    assert found.lower <= closed.lower
    assert closed.upper <= found.upper
    assert found.value == pytest.approx(closed.value, abs=1e-9)


def test_tables_that_are_too_large_to_list_have_real_ends():
    found = ratio_distortion(48842, (3905, 8848, 656, 2934, 0), 9, resolution="2/59")
    assert found.lower.fraction == 1 - Fraction(1, 8848 + 2934)  # no high income at all: the value 0
    assert (found.upper, found.exact) == (1, False)
    all_in_one = ratio_distortion(48842, (3905, 8848, 656, 2934, 0), 60, resolution="2/59")
    assert all_in_one.lower.fraction == 1 - Fraction(1, 16343)


def test_a_plan_says_it():
    rows = [{"group": g, "ill": i} for g in "ab" for i in ("yes", "no")] * 2
    secret = RatioDifference({"ill": "yes"}, {"group": "a"}, {"group": Except("a")}, resolution="1/2")
    plan = plan_release(rows, ["group", "ill"], secret, bin_size=2)
    truth = ratio_distortion(8, (1, 1, 1, 1, 0), 2, resolution="1/2")
    assert (plan.distortion.lower, plan.distortion.upper) == (truth.lower, truth.upper)
    assert 0 < plan.distortion.lower < plan.distortion.upper < plan.distortion.lower + 1e-9
    several = plan_release(rows, ["group", "ill"], Share({"group": "a"}), bin_size=2, ordered=False)
    assert several.distortion.exact


@pytest.mark.parametrize("sizes", [(1, 1), (0, 1, 1), (1, 1, 1, 1)])
def test_groups_that_are_none_are_refused(sizes):
    with pytest.raises(InvalidInput, match="sizes must be 3 or 5 numbers"):
        ratio_distortion(4, sizes, 2)
