"""Counting: limits, suppression, order."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.warnings_of_engines import IGNORED
from tightlip.errors import InvalidInput
from tightlip.table.counts import count_cells
from tightlip.table.policy import Policy
from tightlip.table.source import open_table

pytestmark = IGNORED


def test_too_many_cells_are_refused_with_a_remedy():
    table = open_table(pa.table({"age": range(100), "ill": ["yes", "no"] * 50}))
    with pytest.raises(
        InvalidInput, match=r"at most 99 combinations of values, got 100; coarsen or drop columns"
    ):
        count_cells(table, Policy("ill", ["age"]), max_cells=99)
    assert len(count_cells(table, Policy("ill", ["age"]), max_cells=100).cells) == 100


def test_far_too_many_cells_are_not_even_fetched():
    table = open_table(pa.table({"age": range(100), "ill": ["yes", "no"] * 50}))
    with pytest.raises(InvalidInput, match="at most 80 combinations of secret and released values, got more"):
        count_cells(table, Policy("ill", ["age"]), max_cells=4)


def test_a_million_released_values_are_refused_by_default():
    rows = 1_000_000
    table = open_table(pa.table({"age": np.arange(rows), "ill": np.arange(rows) % 2 == 0}))
    with pytest.raises(InvalidInput, match="at most 250,000 combinations of values, got 1,000,000"):
        count_cells(table, Policy("ill", ["age"]))


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "5"])
def test_limits_are_whole_numbers(bad):
    with pytest.raises(InvalidInput, match="max_cells must be a whole number from 1 to"):
        count_cells(open_table(pa.table({"a": [1, 2], "b": [1, 2]})), Policy("a", ["b"]), max_cells=bad)


def test_a_secret_of_one_value_is_refused():
    table = open_table(pa.table({"ill": ["no", "no"], "age": [1, 2], "sex": ["f", "m"]}))
    with pytest.raises(InvalidInput, match=r'secret column "ill" must have at least two values, got one'):
        count_cells(table, Policy(["sex", "ill"], ["age"]))


def test_more_columns_than_one_mask_has_bits():
    names = [f"column {place}" for place in range(130)]
    table = pa.table(
        {name: [None, place, place] for place, name in enumerate(names)} | {"ill": ["a", "b", "a"]}
    )
    counts = count_cells(open_table(table), Policy("ill", names))
    assert counts.cells == [(None,) * 130, tuple(map(str, range(130)))]
    assert counts.count.tolist() == [1, 1, 1]


def test_more_combinations_than_a_code_can_number():
    generator = np.random.default_rng(1)
    names = [f"c{place}" for place in range(9)]
    table = {name: generator.permutation(200) for name in names}  # 200⁹ > 2⁶²
    counts = count_cells(open_table(pa.table(table | {"ill": np.arange(200) % 3})), Policy("ill", names))
    rows = sorted(zip(*(table[name].tolist() for name in names), strict=True))
    assert counts.cells == [tuple(map(str, row)) for row in rows]


def test_a_huge_cell_and_a_huge_value():
    text = "x" * 2_000_000
    table = pa.table({"age": [text] * 3 + ["y"], "ill": ["a", "b", "a", "b"]})
    counts = count_cells(open_table(table), Policy("ill", ["age"]))
    assert counts.cells == [(text,), ("y",)]
    assert counts.count.tolist() == [2, 1, 1]


VALUES = st.sampled_from(["", "None", "a", "A", "é", None])


@settings(max_examples=25)
@given(
    st.lists(st.tuples(VALUES, VALUES, st.sampled_from([None, -1, 0, 10])), min_size=2, max_size=25),
    st.integers(1, 6),
)
def test_counts_and_suppression_agree_with_plain_python(rows, least):
    secret = [row[0] for row in rows]
    if len(set(secret)) < 2:
        return
    table = pa.table(
        {
            "s": pa.array(secret, pa.string()),
            "a": pa.array([row[1] for row in rows], pa.string()),
            "b": pa.array([row[2] for row in rows], pa.int64()),
        }
    )
    with open_table(table) as opened:
        counts = count_cells(opened, Policy("s", ["a", "b"], min_count=least))
    labels = [(a, None if b is None else str(b)) for _, a, b in rows]
    sizes = Counter(labels)
    wanted = Counter(
        ((s,), label if sizes[label] >= least else ()) for s, label in zip(secret, labels, strict=True)
    )
    triples = zip(counts.secret_of, counts.cell_of, counts.count, strict=True)
    assert {(counts.secrets[s], counts.cells[c]): n for s, c, n in triples} == wanted
    assert (counts.suppressed is not None) == any(size < least for size in sizes.values())
    assert counts.suppressed in (None, len(counts.cells) - 1)
    assert counts.total == len(rows) == counts.sizes().sum()
