"""MaxL: nearest released histogram, greedy choice, and its ends in large spaces."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import histogram_oracle as oracle
from tightlip.errors import InvalidInput
from tightlip.histogram import maxl
from tightlip.histogram.maxl import (
    MaxLMechanism,
    greedy_maxl,
    is_listable,
    list_histograms,
    released_points_bound,
)
from tightlip.histogram.space import HistogramSpace


@st.composite
def codebooks(draw):
    total, cells = draw(st.integers(1, 4)), draw(st.integers(2, 3))
    space = list(oracle.histograms(total, cells))
    points = draw(st.lists(st.sampled_from(space), min_size=1, max_size=5, unique=True))
    return total, cells, points


@settings(max_examples=60, deadline=None)
@given(codebooks())
def test_privacy_and_distortion_are_those_of_the_channel(case):
    total, cells, points = case
    mechanism = MaxLMechanism(HistogramSpace(total, cells), points)
    channel = oracle.nearest_point(total, cells, points)
    assert mechanism.privacy.ratio == oracle.leakage(channel)
    assert mechanism.distortion.upper.fraction == oracle.distortion(channel)


@settings(max_examples=60, deadline=None)
@given(codebooks())
def test_the_ends_of_large_spaces_hold_in_small_ones(case):
    total, cells, points = case
    mechanism = MaxLMechanism(HistogramSpace(total, cells), points)
    exact, leak = mechanism.distortion, mechanism.privacy
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maxl, "_MOST_ENTRIES", 0)
        ends, about = mechanism.distortion, mechanism.privacy
    assert ends.lower <= exact.lower
    assert exact.upper <= ends.upper
    assert about.lower <= leak.lower
    assert leak.upper <= about.upper
    bound = released_points_bound(HistogramSpace(total, cells), len(points))
    assert bound <= exact.upper.fraction


def test_one_released_histogram_is_decided_by_the_full_cells():
    mechanism = MaxLMechanism(HistogramSpace(10**6, 4), [[10**6 - 6, 1, 2, 3]])
    assert mechanism.distortion.exact
    assert mechanism.distortion.upper.fraction == 1 - Fraction(1, 10**6)
    assert mechanism.privacy.ratio == 1


def test_greedy_is_the_best_single_then_the_best_addition():
    space, candidates = HistogramSpace(4, 3), [(4, 0, 0), (2, 1, 1), (0, 2, 2), (1, 3, 0), (0, 0, 4)]
    tables = list(oracle.histograms(4, 3))

    def cost(points):
        return max(min(oracle.variation(theta, point) for point in points) for theta in tables)

    chosen, left = [], list(candidates)
    while left:
        best = min(left, key=lambda point: cost([*chosen, point]))
        if chosen and cost([*chosen, best]) >= cost(chosen):
            break
        chosen.append(best)
        left.remove(best)
    found = greedy_maxl(space, candidates)
    assert [tuple(row) for row in found.released.tolist()] == chosen
    assert found.distortion.upper.fraction == cost(chosen)


def test_greedy_stops_at_one_where_any_two_candidates_leave_a_cell_empty():
    candidates = [(5, 1, 0, 0, 0), (0, 5, 1, 0, 0), (0, 0, 5, 1, 0), (0, 0, 0, 5, 1)]
    for one, two in combinations(candidates, 2):
        assert any(a == b == 0 for a, b in zip(one, two, strict=True))
    found = greedy_maxl(HistogramSpace(6, 5), candidates)
    assert len(found.released) == 1
    assert found.privacy.ratio == 1
    assert found.distortion.upper.fraction == 1


def test_greedy_over_everything_does_not_release_the_table_itself():
    """The paper says that with all histograms as candidates MaxL releases the original; it stops at one."""
    space = HistogramSpace(2, 2)
    found = greedy_maxl(space, list_histograms(space))
    assert found.released.tolist() == [[1, 1]]
    assert found.privacy.ratio == 1
    assert found.distortion.upper.fraction == Fraction(1, 2)


def test_greedy_may_use_all_candidates():
    found = greedy_maxl(HistogramSpace(4, 2), [[1, 3], [3, 1]])
    assert sorted(found.released.tolist()) == [[1, 3], [3, 1]]


def test_listing_is_complete():
    assert sorted(map(tuple, list_histograms(HistogramSpace(3, 3)).tolist())) == sorted(
        oracle.histograms(3, 3)
    )
    assert list_histograms(HistogramSpace(3, 1)).tolist() == [[3]]
    assert not is_listable(HistogramSpace(10**8, 10**8), 1)


def test_few_points_cannot_be_near_everything():
    assert released_points_bound(HistogramSpace(48842, 22381), 2) == 1 - Fraction(4, 48842)
    assert released_points_bound(HistogramSpace(5, 2), 3) == 0


@pytest.mark.parametrize(
    ("released", "message"),
    [
        ([[1, 1, 1]], "rows of 2 whole counts"),
        ([1, 3], "rows of 2 whole counts"),
        ([[0.5, 3.5]], "rows of 2 whole counts"),
        ([[1, 3], [2, 3]], "row 1 must have counts ≥ 0 that sum to 4"),
        ([[-1, 5]], "row 0 must have counts"),
        ([[1, 3], [1, 3]], "different rows"),
    ],
)
def test_bad_points_are_refused(released, message):
    with pytest.raises(InvalidInput, match=message):
        MaxLMechanism(HistogramSpace(4, 2), released)


def test_greedy_refuses_spaces_that_it_cannot_list():
    with pytest.raises(InvalidInput, match="keeps all of them"):
        greedy_maxl(HistogramSpace(10**6, 5), np.array([[10**6, 0, 0, 0, 0]]))


def test_the_points_cannot_be_changed():
    mechanism = MaxLMechanism(HistogramSpace(4, 2), [[1, 3]])
    with pytest.raises(ValueError, match="read-only"):
        mechanism.released[0, 0] = 4


def test_a_space_is_asked_for():
    with pytest.raises(InvalidInput, match="space must be a HistogramSpace"):
        MaxLMechanism(4, [[1, 3]])
