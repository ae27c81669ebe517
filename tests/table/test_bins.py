"""Bins: labels that are true of every value in them."""

import sqlite3
from contextlib import closing
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from contract.warnings_of_engines import IGNORED
from tightlip.errors import InvalidInput, WrongType
from tightlip.table.counts import count_cells
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import Bins, TopCode
from tightlip.table.source import open_table

pytestmark = IGNORED


def bins_of(values, bins, kind) -> list[str]:
    """The released labels, in the order of the values: each value is its own secret."""
    distinct = sorted(set(values))
    table = pa.table({"x": pa.array(distinct, kind), "s": range(len(distinct))})
    with open_table(table) as opened:
        counts = count_cells(opened, Policy("s", [Released("x", bins)]))
    cell_of = dict(zip(counts.secret_of.tolist(), counts.cell_of.tolist(), strict=True))
    secrets = [int(secret) for (secret,) in counts.secrets]
    return [counts.cells[cell_of[secrets.index(place)]][0] for place in range(len(distinct))]


def ends(label: str) -> tuple[float, float]:
    low, high = label[1:-1].split(", ")
    return float(low), float(high)


WIDTHS = [0.1, 0.3, 1, 2.5, 7, 1e-3, 100]


@settings(max_examples=25)
@given(
    st.sampled_from(WIDTHS),
    st.sampled_from([0, 0.05, -1, 3]),
    st.lists(st.one_of(st.floats(-1e6, 1e6), st.integers(-3000, 3000)), min_size=2, max_size=30, unique=True),
)
def test_every_real_lies_in_its_bin_and_edges_are_decimals(width, origin, given_values):
    step, start = Fraction(repr(width)), Fraction(repr(origin))
    edges = [float(start + i * step) for i in given_values if isinstance(i, int)]
    values = sorted({0.0, 1.0, *edges, *(v for v in given_values if isinstance(v, float))})
    for value, label in zip(
        values, bins_of(values, Bins(width=width, origin=origin), pa.float64()), strict=True
    ):
        low, high = ends(label)
        assert low <= value < high
        index = (Fraction(repr(low)) - start) / step
        assert index.denominator == 1
        assert high == float(start + (index + 1) * step)


@settings(max_examples=25)
@given(
    st.integers(1, 10**6),
    st.integers(-(10**6), 10**6),
    st.lists(st.integers(-(2**61), 2**61), min_size=2, max_size=30, unique=True),
)
def test_every_whole_number_lies_in_its_bin(width, origin, values):
    for value, label in zip(
        sorted(values), bins_of(values, Bins(width=width, origin=origin), pa.int64()), strict=True
    ):
        low, high = map(int, label[1:-1].split(", "))
        assert low <= value < high == low + width
        assert (low - origin) % width == 0


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from([1, 3, 10, 1000, 2**31 + 1, 2**51 + 1]),
    st.integers(-5, 5),
    st.lists(
        st.integers(-(2**62), 2**62) | st.integers(2**53 - 9, 2**53 + 9), min_size=2, max_size=20, unique=True
    ),
)
def test_every_whole_number_lies_in_its_bin_in_sqlite_too(tmp_path_factory, width, origin, values):
    """Whose remainders are floats: beyond 2^53 they are those of other numbers."""
    path = tmp_path_factory.mktemp("bins") / "numbers.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE numbers (x INTEGER, s INTEGER)")
        connection.executemany("INSERT INTO numbers VALUES (?, ?)", [(x, s) for s, x in enumerate(values)])
    with open_table(path) as opened:
        counts = count_cells(opened, Policy("s", [Released("x", Bins(width=width, origin=origin))]))
    for secret, cell in zip(counts.secret_of, counts.cell_of, strict=True):
        low, high = map(int, counts.cells[cell][0][1:-1].split(", "))
        assert low <= values[int(counts.secrets[secret][0])] < high == low + width
        assert (low - origin) % width == 0


def test_edges_between_whole_numbers():
    labels = bins_of([17, 18, 19, 64, 65], Bins(edges=[18.5, 65]), pa.int64())
    assert labels == ["<18.5", "<18.5", "[18.5, 65)", "[18.5, 65)", "≥65"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-1, 1) | st.floats(-1e9, 1e9), min_size=2, max_size=20, unique=True))
def test_an_edge_is_the_float_that_was_given(values):
    """However many digits it has: each value is the lowest of its own bin."""
    values = sorted({value + 0.0 for value in values})
    assume(len(values) > 1)
    found = bins_of(values, Bins(edges=values[1:]), pa.float64())
    assert len(set(found)) == len(values)


def test_a_code_is_the_float_that_was_given():
    for value in (0.30000000000000004, -0.10000000000000009, 5e-324, 1.7976931348623157e308, 2.5e-9):
        below = float(np.nextafter(value, -np.inf))
        first, second = bins_of([below, value], TopCode(value), pa.float64())
        assert not first.startswith("≥")
        assert second.startswith("≥")


@pytest.mark.parametrize("value", [1e300, float("inf"), -float("inf"), 2.0**52])
def test_values_too_large_for_their_bins_are_refused(value):
    with pytest.raises(InvalidInput, match=r"bins of width 0\.1 are too narrow"):
        bins_of([value, 1.0], Bins(width=0.1), pa.float64())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either a width or edges"),
        ({"width": 1, "edges": [1]}, "either a width or edges"),
        ({"width": 0}, "bin width must be positive"),
        ({"width": float("nan")}, "bin width must be finite"),
        ({"width": 1e-300}, "fewer digits"),
        ({"width": 2**70}, r"below 2\^62"),
        ({"edges": []}, "1 to 10,000, got 0"),
        ({"edges": [2, 1]}, "bin edges must grow, got 2 before 1"),
        ({"edges": [1, 1]}, "bin edges must grow"),
    ],
)
def test_bins_that_are_none(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        Bins(**arguments)


@pytest.mark.parametrize("arguments", [{"width": "10"}, {"width": True}, {"edges": "18"}, {"edges": 18}])
def test_bins_of_the_wrong_type(arguments):
    with pytest.raises(WrongType):
        Bins(**arguments)


def test_kinds_that_have_no_bins():
    table = open_table(pa.table({"x": ["a", "b"], "n": [1, 2], "s": [1, 2]}))
    with pytest.raises(
        InvalidInput, match=r'bins is for columns of kind integer, real, got column "x" of kind text'
    ):
        count_cells(table, Policy("s", [Released("x", Bins(width=1))]))
    with pytest.raises(InvalidInput, match=r'must be whole for column "n" of whole numbers, got 0\.5 and 0'):
        count_cells(table, Policy("s", [Released("n", Bins(width=0.5))]))


def test_words():
    assert Bins(width=10, origin=5).words() == "in bins of 10 from 5"
    assert Bins(edges=[18, 65.0]).words() == "cut at 18, 65"
