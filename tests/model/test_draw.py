"""Releases drawn from a channel: of exactly its probabilities, for columns of every kind, or refused before a draw."""

import copy
import os
import tracemalloc
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import chisquare

from scripted_source import Scripted, words_of
from strategies import exact_channels
from tightlip import Channel, log_of
from tightlip.errors import InvalidInput, InvalidLabels, ShapeMismatch, WrongType
from tightlip.mechanism import identity, randomized_response
from tightlip.model.drawing import draw_outcomes
from tightlip.numeric.randomness import RandomSource

ILL = identity(["ill", "well"])
PLAIN = {
    "texts": ["ill", "well", "ill"],
    "default": [2, 0, 1],
    "numbers": [-5, 7, 10**15],
    "halves": [0.5, 1.25, -3.0],
    "booleans": [True, False, True],
}
MIXED = ["a", 3, None, ("a", 1), 2.5, (True, 2)]


def seeded(seed=5):
    return RandomSource(seed_for_tests=seed)


class Unused(RandomSource):
    """A source that must not be drawn from."""

    __slots__ = ()

    def words(self, count):
        raise AssertionError("something was drawn")


def follows(channel, secret, samples=60_000):
    """Whether releases of one secret look like its row."""
    drawn = channel.draw([channel.inputs[secret]] * samples, randomness=seeded())
    expected = np.array([float(entry) for entry in channel.exact().matrix[secret]]) * samples
    found = np.array([(drawn == label).sum() for label in channel.outputs])
    assert found.sum() == samples
    assert (found[expected == 0] == 0).all()
    return (expected > 0).sum() == 1 or chisquare(found[expected > 0], expected[expected > 0]).pvalue > 1e-3


THIRDS = Channel([["1/3", "1/3", "1/3"], ["1/7", 0, "6/7"], [0, 1, 0]], outputs=["x", "y", "z"])


@pytest.mark.parametrize(
    "channel",
    [THIRDS, Channel(THIRDS.floats), Channel(csr_array(THIRDS.floats)), randomized_response(3, 1.0)],
)
def test_releases_follow_the_channel(channel):
    assert all(follows(channel, secret) for secret in range(3))


def test_a_wrong_channel_is_noticed():
    """What the test above would say of a channel that is off by a percent."""
    drawn = Channel([["101/300", "1/3", "99/300"]]).draw(np.zeros(600_000, dtype=int), randomness=seeded())
    assert chisquare(np.bincount(drawn)).pvalue < 1e-3


@pytest.mark.parametrize(("last", "outcome"), [(1, "rare"), (0, "often")])
def test_an_outcome_of_probability_2_to_the_minus_80(last, outcome):
    """80 ones in a row, and not one less."""
    rare = Fraction(1, 2**80)
    for channel in (
        Channel([[1 - rare, rare]], outputs=["often", "rare"]),
        Channel([[rare, 1 - rare]], outputs=["rare", "often"]),
    ):
        ones = (1 << 80) - 2 + last
        number = ones << 48 if channel.outputs[0] == "often" else ((1 << 80) - 1 - ones) << 48
        assert channel.draw([0], randomness=Scripted(words_of(number, 128, 0))).tolist() == [outcome]


def test_an_outcome_of_probability_zero_is_never_drawn():
    """Not even at the numbers where its empty interval stands."""
    channel = Channel([[0, "1/2", 0, "1/2", 0]])
    for number in (0, (1 << 63) - 1, 1 << 63, (1 << 64) - 1):
        drawn = channel.draw([0], randomness=Scripted(words_of(number, 64, 0)))
        assert drawn.tolist() == [1 if number < 1 << 63 else 3]


def test_floats_are_the_rationals_of_exact():
    """0.1 + 0.2 + 0.7 as floats sum to less than 1; the row is scaled, and both channels draw alike."""
    floats = Channel([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [5e-324, 0.5, 0.5]])
    values = np.arange(90_000) % 3
    assert (
        floats.draw(values, randomness=seeded()).tolist()
        == floats.exact().draw(values, randomness=seeded()).tolist()
    )
    cut = floats.exact().matrix[0][0]
    near = (cut.numerator << 256) // cut.denominator
    for number, outcome in ((near - 1, 0), (near + 1, 1)):
        assert floats.draw([0], randomness=Scripted(words_of(number, 256, 0))).tolist() == [outcome]


@settings(max_examples=40)
@given(exact_channels(), st.lists(st.integers(0, 4), max_size=60), st.integers(0, 100))
def test_only_possible_outcomes_are_drawn_and_one_for_each_value(channel, values, seed):
    values = [value % channel.shape[0] for value in values]
    drawn = channel.draw(values, randomness=seeded(seed))
    assert len(drawn) == len(values)
    assert all(
        channel.matrix[value, outcome] > 0 for value, outcome in zip(values, drawn.tolist(), strict=True)
    )
    assert drawn.tolist() == channel.draw(np.array(values, dtype=int), randomness=seeded(seed)).tolist()


def test_order_is_kept_through_many_blocks():
    values = np.random.default_rng(1).integers(0, 300, 200_000)
    assert identity(300).draw(values).tolist() == values.tolist()
    few = np.where(values < 150, 17, 250)  # most rows do not occur, and are not prepared
    assert identity(300).draw(few).tolist() == few.tolist()


def test_one_outcome_one_secret_and_no_values():
    assert Channel([[1], [1]], outputs=["nothing"]).draw([0, 1, 1]).tolist() == ["nothing"] * 3
    assert set(Channel([["1/2", "1/2"]]).draw([0] * 50, randomness=seeded()).tolist()) == {0, 1}
    assert ILL.draw([]).tolist() == []
    assert ILL.draw(np.array([], dtype=int)).dtype == np.dtype("U4")
    assert ILL.draw(pd.Series([], dtype=object)).tolist() == []
    assert ILL.draw(pl.Series([], dtype=pl.String)).to_list() == []


COLUMNS = {
    "list": list,
    "tuple": tuple,
    "iterator": iter,
    "numpy": np.array,
    "numpy objects": lambda items: np.array(items, dtype=object),
    "numpy scalars": lambda items: list(np.array(items)),
    "pandas": pd.Series,
    "pandas objects": lambda items: pd.Series(items, dtype=object),
    "pandas category": lambda items: pd.Series(items, dtype="category"),
    "pandas nullable": lambda items: pd.Series(items).convert_dtypes(),
    "pandas index": pd.Index,
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow chunks": lambda items: pa.chunked_array([items[:1], items[1:]]),
}


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("labels", PLAIN)
def test_labels_of_all_kinds_in_columns_of_all_kinds(labels, column):
    items = PLAIN[labels]
    channel = identity(3) if labels == "default" else identity(list(dict.fromkeys([*items, "more"])))
    assert list(channel.draw(COLUMNS[column](items))) == items


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["well", "ill", "unused"])])
def test_polars_categories(kind):
    drawn = ILL.draw(pl.Series("health", ["ill", "well", "ill"], dtype=kind))
    assert drawn.to_list() == ["ill", "well", "ill"]
    with pytest.raises(InvalidLabels, match=r"values entry 1 .*missing"):
        ILL.draw(pl.Series(["ill", None], dtype=kind))


def test_labels_of_mixed_kinds():
    channel = identity(MIXED)
    drawn = channel.draw([*MIXED, ["a", 1], np.int8(3), 3.0])
    assert drawn.dtype == object
    assert drawn.tolist() == [*MIXED, ("a", 1), 3, 3]
    for values in (pd.Series(MIXED, dtype=object), np.array([*MIXED, 0], dtype=object)[:-1]):
        assert list(channel.draw(values)) == MIXED
    for values in (pl.Series(["a", None]), pd.Series(["a", None], dtype="category"), pa.array(["a", None])):
        assert list(channel.draw(values)) == ["a", None]


def test_series_keep_their_index_and_name():
    values = pd.Series(["ill", "well", "ill"], index=[7, 7, 2], name="health")
    drawn = ILL.draw(values)
    assert isinstance(drawn, pd.Series)
    assert drawn.index.tolist() == [7, 7, 2]
    assert (drawn.name, drawn.tolist(), values.tolist()) == (
        "health",
        ["ill", "well", "ill"],
        values.tolist(),
    )
    found = ILL.draw(pl.Series("health", ["well", "ill"]))
    assert isinstance(found, pl.Series)
    assert (found.name, found.dtype, found.to_list()) == ("health", pl.String, ["well", "ill"])


@pytest.mark.parametrize(
    ("items", "kind"),
    [
        ([3, -4], np.int64),
        ([3, 1 << 63], object),
        ([0.5, 2.0], np.float64),
        ([1, 2.5], object),
        ([True, False], bool),
        (["a", "long"], "U4"),
        (["a", "b\0"], object),
    ],
)
def test_outcomes_have_the_type_of_their_labels(items, kind):
    drawn = identity(items).draw(items)
    assert drawn.dtype == np.dtype(kind)
    assert drawn.tolist() == items


def test_numbers_are_compared_exactly():
    big = identity([2**53, 2**53 + 1, 2**64 - 1, -(2**63)])
    assert big.draw(np.array([2**53 + 1, 2**64 - 1], dtype=np.uint64)).tolist() == [2**53 + 1, 2**64 - 1]
    assert big.draw(np.array([2**53 + 1, -(2**63)])).tolist() == [2**53 + 1, -(2**63)]
    with pytest.raises(InvalidLabels, match="entry 0"):
        big.draw(np.array([float(2**53 + 4)]))
    with pytest.raises(InvalidLabels, match="entry 0"):
        identity([0.1, 1]).draw(np.array([0.1], dtype=np.float32))
    assert identity([0.5, 1]).draw(np.array([0.5, 1.0], dtype=np.float32)).tolist() == [0.5, 1]


REFUSED = [
    (ILL, ["ill", "Ill"], 'values entry 1 must be one of the inputs .*got "Ill".*; rename or drop it'),
    (ILL, np.array(["ill", "illness"]), 'entry 1 .*"illness"'),
    (ILL, np.array([1, 2]), "entry 0 .*got 1"),
    (ILL, [b"ill"], "entry 0"),
    (ILL, ["ill", None], "entry 1 .*missing value, None; drop or fill it"),
    (ILL, ["ill", float("nan")], "entry 1 .*missing value, nan"),
    (ILL, ["ill", pd.NA], "entry 1 .*missing value, <NA>"),
    (ILL, [pd.NaT], "entry 0 .*missing value, NaT"),
    (ILL, pd.Series(["ill", None]), "entry 1 .*missing"),
    (ILL, pd.Series(["ill", None], dtype="category"), "entry 1 .*missing"),
    (ILL, pd.Series(["ill", "Ill"], dtype="category"), 'entry 1 .*"Ill"'),
    (ILL, pl.Series(["ill", None]), "entry 1 .*missing"),
    (ILL, pl.Series(["ill", "Ill"]), 'entry 1 .*"Ill"'),
    (ILL, pa.array(["ill", None]), "entry 1 .*missing"),
    (identity(3), [0, True], "entry 1 .*got True of type bool; write 1, of type int"),
    (identity(3), np.array([True]), "entry 0 .*got True of type bool.*; write 1"),
    (identity(3), [0, "1"], 'entry 1 .*got "1" of type str; write 1, of type int'),
    (identity(3), [0, -1], "entry 1 .*got -1"),
    (identity(3), np.array([0, 3]), "entry 1 .*got 3"),
    (identity(3), np.array([0, -1]), "entry 1 .*got -1"),
    (identity(3), [0, 1.5], "entry 1 .*got 1.5"),
    (identity(3), np.array([0.0, np.nan]), "entry 1 .*missing value, nan"),
    (identity(3), pd.Series([0, None]), "entry 1 .*missing value, nan"),
    (identity(3), pd.Series([0, None], dtype="Int64"), "entry 1 .*missing"),
    (identity(3), pl.Series([0, None]), "entry 1 .*missing"),
    (identity(3), pl.Series([True]), "entry 0 .*True"),
    (identity(3), np.array([1], dtype="M8[ns]"), "entry 0"),
    (identity([True, False]), [True, 1], "entry 1 .*got 1 of type int; write True, of type bool"),
    (identity([True, False]), [1, 0], "entry 0 .*got 1 of type int; write True, of type bool"),
    (identity([True, False]), np.array([1]), "entry 0 .*write True"),
    (identity([("a", 1)]), [("a", True)], "entry 0"),
    (identity(300), np.append(np.zeros(100_000, dtype=int), 300), "entry 100000 .*got 300"),
    (identity(range(300)), np.append(np.zeros(100_000, dtype=int), 300), "entry 100000 .*got 300"),
]


@pytest.mark.parametrize(("channel", "values", "words"), REFUSED)
def test_a_value_that_is_no_input_is_refused_before_anything_is_drawn(channel, values, words):
    with pytest.raises(InvalidLabels, match=words) as error:
        channel.draw(values, randomness=Unused())
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("values", "kind", "words"),
    [
        ("ill", WrongType, "put a single value in a list"),
        (1, WrongType, "put a single value in a list"),
        (None, WrongType, "values must be a list"),
        ({"ill": 3}, WrongType, "values must be a list"),
        ({"ill", "well"}, WrongType, "values must be a list"),
        (pd.DataFrame({"a": ["ill"]}), WrongType, "take one column of a table"),
        (np.array("ill"), ShapeMismatch, "values must be one column"),
        (np.array([["ill"]]), ShapeMismatch, r"shape \(1, 1\); take one column"),
        (np.ma.array([0, 1], mask=[0, 1]), InvalidInput, "values must not be masked"),
    ],
)
def test_what_is_no_column_is_refused(values, kind, words):
    with pytest.raises(kind, match=words):
        ILL.draw(values, randomness=Unused())


@pytest.mark.parametrize("randomness", [1, "seed", np.random.default_rng(1)])
def test_only_our_own_randomness_is_taken(randomness):
    with pytest.raises(WrongType, match="randomness must be a RandomSource"):
        ILL.draw(["ill"], randomness=randomness)


def test_fresh_randomness_for_every_release():
    values = [0] * 256
    coin = Channel([["1/2", "1/2"]])
    source = RandomSource()
    drawn = [coin.draw(values).tolist() for _ in range(3)]
    drawn += [coin.draw(values, randomness=one).tolist() for one in (source, source, copy.deepcopy(source))]
    assert len(set(map(tuple, drawn))) == 6
    assert coin.draw(values, randomness=seeded()).tolist() == coin.draw(values, randomness=seeded()).tolist()


def test_a_forked_process_draws_something_else():
    coin, source = Channel([["1/2", "1/2"]]), RandomSource()
    coin.draw([0], randomness=source)
    receive, send = os.pipe()
    if (child := os.fork()) == 0:
        os.write(send, bytes(coin.draw([0] * 256, randomness=source).tolist()))
        os._exit(0)
    os.waitpid(child, 0)
    os.close(send)
    with os.fdopen(receive, "rb") as file:
        assert list(file.read()) != coin.draw([0] * 256, randomness=source).tolist()


def test_memory_is_a_small_multiple_of_the_releases():
    channel, values = randomized_response(8, log_of(3)), np.arange(4_000_000) % 8
    tracemalloc.start()
    try:
        drawn = channel.draw(values)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1.6 * drawn.nbytes


def test_rows_that_do_not_occur_cost_nothing():
    """A row with an entry that is no number at all is never looked at."""
    matrix = np.array([[Fraction(1), Fraction(0)], [None, None]], dtype=object)
    assert draw_outcomes(matrix, np.array([0, 0]), seeded()).tolist() == [0, 0]
