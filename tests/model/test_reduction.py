"""Proportional columns are merged, all of them and no others."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import exact_oracle as oracle
from strategies import exact_channels, float_pairs
from tightlip import Channel, Prior
from tightlip.errors import InvalidInput
from tightlip.model.matrix import REDUCE_TOLERANCE

some = settings(max_examples=150, deadline=None)


def shapes_of(rows):
    """Columns scaled to sum to 1, exactly."""
    columns = [[Fraction(entry) for entry in column] for column in zip(*rows, strict=True)]
    return [[entry / sum(column) for entry in column] if any(column) else None for column in columns]


def agree(one, two, tolerance):
    return all(abs(a - b) <= tolerance * max(a, b) for a, b in zip(one, two, strict=True))


def parts_of(channel, reduced):
    """Which old outcomes each new outcome holds."""
    old = set(channel.outputs)
    return [[label] if label in old else list(label) for label in reduced.outputs]


@st.composite
def planted(draw):
    """Float rows with columns that are multiples of each other up to rounding noise."""
    rows, kinds = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    entry = st.one_of(st.floats(0.01, 1), st.just(0.0), st.floats(1e-300, 1e-290))
    columns = [np.array(draw(st.lists(entry, min_size=rows, max_size=rows))) for _ in range(kinds)]
    columns.append(np.ones(rows))
    picks = draw(st.lists(st.tuples(st.integers(0, kinds), st.floats(0.01, 1)), min_size=2, max_size=12))
    matrix = np.array([columns[kind] * scale for kind, scale in [*picks, (kinds, 0.5)]]).T
    sums = matrix.sum(axis=1, keepdims=True)
    return np.hstack([matrix / sums.max() / 2, 1 - sums / sums.max() / 2])


def brute_force(rows, tolerance):
    """Greedy, first outcome first, over all pairs."""
    shapes = shapes_of(rows)
    left = [place for place, shape in enumerate(shapes) if shape is not None]
    groups = []
    while left:
        group = [place for place in left if agree(shapes[left[0]], shapes[place], tolerance)]
        groups.append(group)
        left = [place for place in left if place not in group]
    return groups


@some
@given(planted(), st.booleans())
def test_the_same_groups_as_by_comparing_all_pairs(rows, sparse):
    channel = Channel(csr_array(rows) if sparse else rows)
    rows = (channel.matrix.toarray() if sparse else channel.matrix).tolist()
    reduced = channel.reduce()
    found = parts_of(channel, reduced)
    sure, possible = (
        brute_force(rows, Fraction(t)) for t in (REDUCE_TOLERANCE * 0.99, REDUCE_TOLERANCE * 1.01)
    )
    if sure == possible:  # otherwise a pair sits on the edge of the tolerance
        assert found == sure
    assert reduced.is_sparse == sparse
    merged = (reduced.matrix.toarray() if sparse else reduced.matrix).tolist()
    for before, after in zip(rows, merged, strict=True):
        assert math.fsum(after) == pytest.approx(math.fsum(before), abs=1e-15)
        for group, entry in zip(found, after, strict=True):
            assert entry == pytest.approx(math.fsum(before[place] for place in group), rel=1e-14)


@pytest.mark.parametrize("wrap", [np.asarray, csr_array])
def test_many_planted_columns_are_all_found(wrap):
    rng = np.random.default_rng(5)
    kinds = rng.random((6, 40)) * (rng.random((6, 40)) < 0.7)
    kinds[0] = 0.5
    which = rng.permutation(np.repeat(np.arange(40), 25))
    rows = kinds[:, which] * rng.random(1000)
    rows /= rows.sum(axis=1).max() * 2
    rows = np.hstack([rows, 1 - rows.sum(axis=1, keepdims=True)])
    channel = Channel(wrap(rows))
    found = parts_of(channel, channel.reduce())
    expected = {tuple(np.flatnonzero(which == kind)) for kind in range(40)} | {(1000,)}
    assert set(map(tuple, found)) == expected


@given(exact_channels(), st.lists(st.fractions(Fraction(1, 9), 1), min_size=1, max_size=3))
def test_exact_channels_are_merged_exactly(channel, scales):
    rows = np.hstack([channel.matrix * scale for scale in scales]) / sum(scales)
    wide = Channel(rows)
    reduced = wide.reduce()
    groups = brute_force(rows.tolist(), 0)
    assert parts_of(wide, reduced) == groups
    assert reduced.matrix.tolist() == [
        [sum(row[g] for g in group) for group in groups] for row in rows.tolist()
    ]
    assert oracle.maximal_leakage(oracle.rows_of(reduced)) == oracle.maximal_leakage(oracle.rows_of(wide))
    assert reduced.reduce() is reduced


def test_exact_columns_that_nearly_agree_stay_apart():
    tiny = Fraction(1, 10**30)
    channel = Channel([[Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 2) + tiny, Fraction(1, 2) - tiny]])
    assert channel.reduce() is channel


@pytest.mark.parametrize("wrap", [np.array, csr_array])
@pytest.mark.parametrize("tiny", [1e-300, 5e-324, 1e-16])
def test_a_zero_is_never_merged_with_something_rare(wrap, tiny):
    rows = [[0.5, 0.5, 0.0]] * 5 + [[tiny, 0.0, 1.0]]
    assert Channel(wrap(rows)).reduce().shape == (6, 3)
    rows[5] = [0.0, 0.0, 1.0]
    assert Channel(wrap(rows)).reduce().shape == (6, 2)


@pytest.mark.parametrize(("one", "two"), [(1e-323, 1.5e-323), (1e-320, 1.001e-320), (1e-300, 1.000001e-300)])
def test_rare_entries_are_compared_with_all_their_digits(one, two):
    rows = [[0.5, 0.5, 0.0]] * 5 + [[one, two, 1.0]]
    assert Channel(rows).reduce().shape == (6, 3)


def test_columns_that_are_all_tiny_are_merged_by_shape():
    rows = [[2e-310, 1e-310, 1.0], [4e-310, 2e-310, 1.0], [2e-323, 1e-323, 1.0]]
    reduced = Channel(rows).reduce()
    assert reduced.outputs == [(0, 1), 2]
    assert reduced.matrix[2, 0] == 3e-323


def test_rounding_noise_is_merged_and_less_than_the_tolerance_is_not_required():
    third = 1 / 3
    rows = [[0.1 * third, 0.1, 0.7], [0.3 * third, 0.3, 0.3]]
    rows = [[*row, 1 - math.fsum(row)] for row in rows]
    assert Channel(rows).reduce().outputs[0] == (0, 1)
    rows = np.array([[0.25, 0.25, 0.5], [0.25, 0.25 * (1 + 1e-9), 0.5 - 0.25e-9]])
    assert Channel(rows).reduce().shape == (2, 3)
    assert Channel(rows).reduce(1e-8).shape == (2, 1)


@some
@given(float_pairs(), st.sampled_from([1e-12, 1e-3, 0.05]))
def test_no_leakage_moves_by_more_than_four_tolerances(pair, tolerance):
    channel, prior = pair
    reduced = channel.reduce(tolerance)
    masses = oracle.masses_of(prior)
    old = oracle.pml(oracle.rows_of(channel), masses)
    new = oracle.pml(oracle.rows_of(reduced), masses)
    limit = 4 * tolerance + 1e-13
    assert abs(oracle.log(max(old)) - oracle.log(max(new))) <= limit


def test_outcomes_that_never_occur_are_dropped():
    assert Channel([[0.5, 0.0, 0.5], [0.25, 0.0, 0.75]]).reduce().outputs == [0, 2]
    assert Channel([["1/2", 0, "1/2"], ["1/4", 0, "3/4"]], outputs=["a", "b", "c"]).reduce().outputs == [
        "a",
        "c",
    ]


def test_labels_and_inputs_are_kept():
    channel = Channel([[0.25, 0.5, 0.25], [0.125, 0.75, 0.125]], inputs=["x", "y"], outputs=["a", "b", "c"])
    reduced = channel.reduce()
    assert reduced.outputs == [("a", "c"), "b"]
    assert reduced.inputs == ["x", "y"]
    assert reduced.matrix.tolist() == [[0.5, 0.5], [0.25, 0.75]]
    assert reduced.restricted_to(Prior({"y": 1.0, "x": 0.0})).inputs == ["y"]


def test_a_million_outcomes():
    rows = np.full((2, 10**6), 1e-6)
    reduced = Channel(rows).reduce()
    assert reduced.shape == (2, 1)
    assert reduced.adjustment <= 1e-12
    distinct = np.random.default_rng(0).dirichlet(np.ones(100_000), 2)
    assert Channel(distinct).reduce().shape == (2, 100_000)


def test_symmetric_channels_do_not_take_quadratic_time():
    subsets = np.array([[(column >> row) & 1 for column in range(2**14)] for row in range(14)], dtype=float)
    subsets = subsets[:, subsets.sum(axis=0) == 7]
    channel = Channel.from_counts(subsets)
    assert channel.shape == (14, 3432)
    assert channel.reduce() is channel


@pytest.mark.parametrize("tolerance", [-1e-12, 0.1, 1.0, "1/2"])
def test_tolerances_out_of_range_are_refused(tolerance):
    with pytest.raises(
        InvalidInput, match=r"tolerance must be in \[0, 0.1\), got .*; 1e-12 suits float rounding"
    ):
        Channel([[0.5, 0.5]]).reduce(tolerance)


@pytest.mark.parametrize("tolerance", [None, math.nan, True, [1e-12], "small", math.inf])
def test_tolerances_that_are_no_numbers_are_refused(tolerance):
    with pytest.raises(InvalidInput, match="tolerance must be"):
        Channel([[0.5, 0.5]]).reduce(tolerance)
