"""Channels: a distribution over outcomes for each secret."""

import copy
import math
import os
import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from strategies import exact_channels, float_rows
from tightlip import Channel, Prior
from tightlip.errors import (
    InvalidChannel,
    InvalidInput,
    InvalidLabels,
    ShapeMismatch,
    WrongType,
)

float_channels = st.tuples(st.integers(1, 4), st.integers(1, 5)).flatmap(lambda shape: float_rows(*shape))


def rows_of(channel):
    return (channel.matrix.toarray() if channel.is_sparse else channel.matrix).tolist()


@given(
    st.one_of(
        exact_channels(), float_channels.map(Channel), float_channels.map(lambda m: Channel(sp.csr_array(m)))
    )
)
def test_json_pickles_and_copies_change_nothing(channel):
    for again in (
        Channel.from_json(channel.to_json()),
        Channel.from_dict(channel.to_dict()),
        pickle.loads(pickle.dumps(channel)),
        copy.copy(channel),
        copy.deepcopy(channel),
    ):
        assert again == channel
        assert hash(again) == hash(channel)
        assert rows_of(again) == rows_of(channel)
        assert (again.is_exact, again.is_sparse) == (channel.is_exact, channel.is_sparse)
        parts = [again.matrix.data, again.matrix.indices] if again.is_sparse else [again.matrix]
        assert not any(part.flags.writeable for part in parts)


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("size", [3, 1000, 50_000])
def test_renormalised_rows_read_back_bit_for_bit(wrap, size):
    rows = np.random.default_rng(size).dirichlet(np.ones(size), 3) * np.array([[1 + 7e-10], [1 - 4e-10], [1]])
    channel = Channel(wrap(rows))
    assert channel.adjustment == pytest.approx(7e-10, rel=1e-3)
    assert "rows adjusted by up to 7e-10" in repr(channel)
    again = Channel.from_json(channel.to_json())
    assert rows_of(again) == rows_of(channel)
    assert again.adjustment == channel.adjustment


def test_a_hash_does_not_travel_with_a_pickle():
    channel = Channel([[0.5, 0.5]], outputs=["a", "b"])
    assert hash(channel) == hash(channel)
    code = (
        "import pickle, sys; from tightlip import Channel; c = pickle.loads(sys.stdin.buffer.read());"
        "assert hash(c) == hash(Channel([[0.5, 0.5]], outputs=['a', 'b']))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    done = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(channel), env=environment, check=False
    )
    assert done.returncode == 0


def test_dense_and_sparse_channels_are_equal():
    rows = np.array([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]])
    dense, sparse = Channel(rows), Channel(sp.csc_array(rows))
    assert sparse.is_sparse
    assert dense == sparse
    assert hash(dense) == hash(sparse)
    assert len({dense, sparse, Channel(rows[::-1])}) == 2
    assert dense != dense.exact()
    assert dense != Channel(rows, outputs=["a", "b", "c"])
    assert dense != rows.tolist()


def test_the_callers_data_is_copied():
    rows = np.array([[0.5, 0.5]])
    sparse = sp.csr_array(rows)
    channels = Channel(rows), Channel(sparse)
    rows[0, 0] = 9
    sparse.data[0] = 9
    sparse.indices[0] = 1
    assert [rows_of(channel) for channel in channels] == [[[0.5, 0.5]]] * 2


def test_a_channel_cannot_be_changed():
    channel = Channel([[0.5, 0.5]])
    with pytest.raises(ValueError, match="read-only"):
        channel.matrix[0, 0] = 1
    with pytest.raises(AttributeError):
        channel.inputs = None


@pytest.mark.filterwarnings("ignore:Changing the sparsity structure")
def test_a_sparse_channel_cannot_be_changed():
    channel = Channel(sp.csr_array([[0.5, 0.5, 0.0]]))
    with pytest.raises(ValueError, match="read-only"):
        channel.matrix[0, 0] = 1
    loose = channel.matrix
    with pytest.raises(ValueError, match="read-only"):
        loose[0, 2] = 0.7
    loose.data = np.array([9.0])
    assert channel.matrix.toarray().tolist() == [[0.5, 0.5, 0.0]]


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (
            [[0.5, 0.5], [0.9, 0.0987]],
            InvalidChannel,
            "channel row 1 must sum to 1 within 1e-09, got 0.9987; use Channel.from_counts",
        ),
        ([[1.1, -0.1]], InvalidChannel, "channel row 0, entry 1 must not be negative, got -0.1"),
        ([["1/2", "1/3"]], InvalidChannel, "channel row 0 must sum to 1 within 1e-09, got 0.833333333333"),
        ([[math.nan, 1.0]], InvalidInput, "channel row 0, column 0 must be finite, got nan"),
        (
            [[0.5, 0.5], [math.inf, -math.inf]],
            InvalidInput,
            "channel row 1, column 0 must be finite, got inf",
        ),
        ([[1.7e308, 1.7e308]], InvalidChannel, "channel row 0 must sum to 1 within 1e-09, got inf"),
        ([[True, False]], WrongType, "channel row 0, column 0 must be a float, .* got True of type bool"),
        ([[None, 1.0]], WrongType, "channel row 0, column 0 must be a float, .* got None"),
        ([[1], [1, 0]], ShapeMismatch, "channel must have rows of equal length"),
        ([0.5, 0.5], ShapeMismatch, "channel must have 2 dimension"),
        (np.ones((1, 1, 1)), ShapeMismatch, "channel must have 2 dimension"),
        ([], ShapeMismatch, "channel must have 2 dimension"),
        ([[]], InvalidInput, "channel must not be empty"),
        ({"a": [1]}, WrongType, "channel must be a list of rows, got {"),
        ("[[1]]", WrongType, "channel must be a list of rows"),
        (None, WrongType, "channel must be a list of rows, got None"),
        (Channel([[1]]), WrongType, "channel rows must be a matrix, got a Channel; use it as it is"),
        (np.ma.masked_array([[0.5, 0.5]], mask=[[0, 1]]), InvalidInput, "channel must not be masked"),
        ([["1/0", 1]], InvalidInput, 'channel row 0, column 0 must be a finite number, got "1/0"'),
        ([["1e999999", 0]], InvalidInput, "channel row 0, column 0 must have an exponent up to 5000"),
    ],
)
def test_what_is_no_channel_is_refused(rows, error, message):
    with pytest.raises(error, match=message):
        Channel(rows)


def test_messages_name_the_secret():
    with pytest.raises(InvalidChannel, match=r'channel row 1 \("blue"\) must sum to 1 within 1e-09, got 0.5'):
        Channel([[0.5, 0.5], [0.25, 0.25]], inputs=["red", "blue"])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (math.nan, "channel row 1, column 1 must be finite, got nan"),
        (math.inf, "channel row 1, column 1 must be finite, got inf"),
        (-1.0, "channel row 1, entry 1 must not be negative, got -1.0"),
        (0.5, "channel row 1 must sum to 1 within 1e-09, got 0.5"),
    ],
)
def test_bad_sparse_entries_are_named(data, message):
    matrix = sp.coo_array((np.array([1.0, data]), (np.array([0, 1]), np.array([0, 1]))), shape=(2, 3))
    with pytest.raises(InvalidInput, match=message):
        Channel(matrix)


@pytest.mark.parametrize("dtype", [bool, complex, object])
def test_sparse_matrices_of_other_things_are_refused(dtype):
    matrix = sp.csr_array(np.eye(2).astype(bool if dtype is object else dtype))
    matrix.data = matrix.data.astype(dtype)
    with pytest.raises(WrongType, match=r"channel must hold numbers, got .*; convert it to floats"):
        Channel(matrix)


def test_sparse_shapes_are_checked():
    for matrix in (sp.csr_array((0, 3)), sp.csr_array((3, 0)), sp.coo_array(np.array([1.0]))):
        with pytest.raises(ShapeMismatch, match="channel must be a matrix with rows and columns, got shape"):
            Channel(matrix)
    with pytest.raises(InvalidChannel, match="channel row 0 must sum to 1 within 1e-09, got 0"):
        Channel(sp.csr_array((2, 2)))


def test_sparse_duplicates_are_added_and_zeros_dropped():
    places = (np.array([0, 0, 0, 0]), np.array([1, 1, 0, 2]))
    channel = Channel(sp.coo_array((np.array([1.5, -0.5, 0.0, -0.0]), places), shape=(1, 3)))
    assert rows_of(channel) == [[0.0, 1.0, 0.0]]
    assert channel.matrix.nnz == 1
    assert channel == Channel([[0.0, 1.0, 0.0]])


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
def test_every_sparse_format_and_dtype_is_read(kind):
    for dtype in (np.float32, np.int8, np.float64, np.uint16):
        channel = Channel(sp.eye_array(3, dtype=dtype).asformat(kind))
        assert channel.is_sparse
        assert channel.matrix.dtype == np.float64
        assert channel == Channel(np.eye(3))


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_old_matrix_classes_are_read():
    assert Channel(sp.csr_matrix(np.eye(2))) == Channel(np.matrix(np.eye(2))) == Channel(np.eye(2))
    assert Channel.from_counts(np.matrix([[1, 3]])).matrix.tolist() == [[0.25, 0.75]]


def test_labels():
    channel = Channel([[0.5, 0.5]], inputs=(x for x in ["a"]), outputs=np.array([3, 5]))
    assert channel.inputs == ["a"]
    assert channel.outputs == [3, 5]
    with pytest.raises(
        InvalidLabels, match="outputs must not be equal in Python, got 1 and True at entries 0 and 1"
    ):
        Channel([[0.5, 0.5]], outputs=[1, True])
    with pytest.raises(ShapeMismatch, match="inputs must have one label each for 1 entries, got 2"):
        Channel([[0.5, 0.5]], inputs=["a", "b"])


def test_minus_zero_does_not_stay():
    assert math.copysign(1, Channel([[-0.0, 1.0]]).matrix[0, 0]) == 1


def test_from_counts():
    assert Channel.from_counts([[3, 1], [0, 4]]).matrix.tolist() == [[0.75, 0.25], [0.0, 1.0]]
    assert Channel.from_counts(np.array([[1, 2]]), exact=True).matrix.tolist() == [
        [Fraction(1, 3), Fraction(2, 3)]
    ]
    sparse = Channel.from_counts(sp.csr_array([[3, 1], [0, 4]]), inputs=(x for x in "ab"))
    assert sparse.is_sparse
    assert sparse.inputs == ["a", "b"]
    assert rows_of(sparse) == [[0.75, 0.25], [0.0, 1.0]]
    assert Channel.from_counts(sp.csr_array([[3, 1]]), exact=True).is_exact
    assert Channel.from_counts([["1/2", "1/2"]]).matrix.tolist() == [[0.5, 0.5]]


def test_frequencies_of_a_million_outcomes_need_no_adjustment():
    channel = Channel.from_counts(np.random.default_rng(0).random((1, 10**6)))
    assert channel.adjustment == 0.0
    assert (channel.matrix > 0).all()


def test_from_counts_refuses_what_it_must():
    with pytest.raises(
        InvalidChannel,
        match=r'counts row 1 \("b"\) must not be all zero, got no records .*; leave the row out',
    ):
        Channel.from_counts([[1, 1], [0, 0]], inputs=["a", "b"])
    with pytest.raises(InvalidInput, match="counts row 0, column 1 must not be negative, got -1"):
        Channel.from_counts([[2, -1]])
    with pytest.raises(InvalidInput, match="counts row 0, column 0 is too small beside the others"):
        Channel.from_counts([[1e-200, 1e200]])
    with pytest.raises(WrongType, match="counts must hold numbers, got bool"):
        Channel.from_counts(sp.csr_array(np.eye(2, dtype=bool)))


def test_an_impossible_secret_must_have_no_data_whatever_the_order():
    prior = Prior({"b": 0.0, "a": 1.0})
    message = 'prior of secret "b" must be positive, got 0 although counts row 1 holds 3 records; use Prior.from_counts'
    with pytest.raises(InvalidChannel, match=message):
        Channel.from_counts([[1, 1], [1, 2]], inputs=["a", "b"], prior=prior)
    assert Channel.from_counts(
        [[1, 1], [1, 2]], inputs=["a", "b"], prior=Prior({"b": 0.5, "a": 0.5})
    ).shape == (2, 2)
    with pytest.raises(
        ShapeMismatch, match="prior labels must be as many as the channel's inputs, got 1 for 2"
    ):
        Channel.from_counts([[1, 1], [1, 2]], prior=Prior([1]))
    with pytest.raises(WrongType, match=r"prior must be a Prior, got \[0.5, 0.5\]"):
        Channel.from_counts([[1, 1], [1, 2]], prior=[0.5, 0.5])


@given(float_channels)
def test_exact_rows_are_those_stored_scaled_to_one(rows):
    for channel in (Channel(rows), Channel(sp.csr_array(rows))):
        exact = channel.exact()
        assert exact.is_exact
        assert exact.exact() is exact
        for got, stored in zip(exact.matrix.tolist(), rows_of(channel), strict=True):
            total = sum(map(Fraction, stored))
            assert got == [Fraction(entry) / total for entry in stored]


@given(exact_channels(outputs=3), exact_channels(inputs=3))
def test_post_processing_is_the_matrix_product(first, second):
    truth = first.matrix @ second.matrix
    assert (first.post_process(second).matrix == truth).all()
    for one in (Channel(first.floats), Channel(sp.csr_array(first.floats))):
        for two in (Channel(second.floats), Channel(sp.csr_array(second.floats)), second):
            found = one.post_process(two)
            assert not found.is_exact
            assert np.allclose(rows_of(found), truth.astype(float), rtol=0, atol=1e-15)


def test_post_processing_goes_by_name():
    first = Channel([[0.25, 0.75]], inputs=["x"], outputs=["a", "b"])
    second = Channel([[1.0, 0.0], [0.0, 1.0]], inputs=["b", "a"], outputs=["B", "A"])
    found = first.post_process(second)
    assert found == Channel([[0.75, 0.25]], inputs=["x"], outputs=["B", "A"])
    with pytest.raises(ShapeMismatch, match=r'post-processing inputs must be .*, got none for "a"'):
        first.post_process(Channel(np.eye(2), inputs=["b", "c"]))
    with pytest.raises(
        ShapeMismatch, match="post-processing inputs must be as many as this channel's outputs, got 3 for 2"
    ):
        first.post_process(Channel(np.eye(3)))
    with pytest.raises(WrongType, match=r"other must be a Channel, got \[\[1\]\]; write Channel"):
        first.post_process([[1]])


def test_post_processing_never_drops_a_rare_outcome():
    rare = Channel([[1e-200, 1.0], [0.0, 1.0]])
    with pytest.raises(
        InvalidInput, match="post-processed channel row 0, column 0 is too small for a float, got 1e-400"
    ):
        rare.post_process(rare)
    assert rare.exact().post_process(rare.exact()).matrix[0, 0] > 0
    merged = Channel([[5e-324, 1.0]]).post_process(Channel([[1, 0], [0, 1]]))
    assert merged.matrix.tolist() == [[5e-324, 1.0]]


@given(exact_channels(inputs=3), exact_channels(inputs=3))
def test_product_is_the_independent_release(first, second):
    found = first.product(second)
    assert found.outputs == [(one, two) for one in first.outputs for two in second.outputs]
    for x in range(3):
        assert found.matrix[x].tolist() == [a * b for a in first.matrix[x] for b in second.matrix[x]]
    assert found == first.adaptive_product(dict.fromkeys(first.outputs, second))
    mixed = Channel(sp.csr_array(first.floats)).product(second)
    assert np.allclose(rows_of(mixed), found.floats, rtol=1e-15, atol=0)


def test_product_goes_by_name():
    first = Channel([[0.5, 0.5], [1.0, 0.0]], inputs=["a", "b"])
    second = Channel([[0.25, 0.75], [0.5, 0.5]], inputs=["b", "a"])
    assert first.product(second).matrix.tolist() == [[0.25] * 4, [0.25, 0.75, 0.0, 0.0]]
    with pytest.raises(ShapeMismatch, match="inputs of the second channel must be"):
        first.product(Channel(np.eye(2), inputs=["a", "c"]))
    with pytest.raises(WrongType, match="other must be a Channel, got 3"):
        first.product(3)


def test_product_never_drops_a_rare_pair():
    rare = Channel([[1e-200, 1.0]])
    with pytest.raises(InvalidInput, match="product of channels must stay above"):
        rare.product(rare)
    with pytest.raises(InvalidInput, match="product of channels must stay above"):
        rare.adaptive_product({0: rare, 1: Channel([[1.0]])})
    assert rare.product(Channel([[0.5, 0.5]])).matrix[0, 0] == 5e-201


def test_adaptive_product():
    first = Channel([[0.5, 0.5], [0.25, 0.75]], outputs=["h", "t"])
    quiet = Channel([[1.0], [1.0]], outputs=["nothing"])
    found = first.adaptive_product({"h": first, "t": quiet, "unused": None})
    assert found.outputs == [("h", "h"), ("h", "t"), ("t", "nothing")]
    assert found.matrix.tolist() == [[0.25, 0.25, 0.5], [0.0625, 0.1875, 0.75]]
    with pytest.raises(
        ShapeMismatch, match='second must have a channel for each first outcome, got none for "t"; add one'
    ):
        first.adaptive_product({"h": first})
    with pytest.raises(WrongType, match=r'second\["t"\] must be a Channel, got None; write Channel'):
        first.adaptive_product({"h": first, "t": None})
    with pytest.raises(
        WrongType, match=r"second must be a dict from outcomes to channels, got .*; use product"
    ):
        first.adaptive_product([first, first])


def test_a_product_too_large_to_hold_is_refused():
    wide = Channel(np.full((2, 20_000), 1 / 20_000))
    with pytest.raises(
        ShapeMismatch, match=r"product would have 2 × 400000000 entries, more than .*; reduce\(\)"
    ):
        wide.product(wide)


def test_restriction_to_the_support():
    channel = Channel(np.eye(3), inputs=["a", "b", "c"])
    found = channel.restricted_to(Prior({"c": 0.5, "b": 0.0, "a": 0.5}))
    assert found == Channel([[1.0, 0, 0], [0, 0, 1.0]], inputs=["a", "c"])
    assert channel.restricted_to(Prior.uniform(3)) is channel
    sparse = Channel(sp.eye_array(3).tocsr()).restricted_to(Prior([0.0, 1.0, 0.0]))
    assert sparse.is_sparse
    assert rows_of(sparse) == [[0.0, 1.0, 0.0]]
    assert sparse.inputs == [1]
    tiny = Prior(["1e-400", 1 - Fraction(1, 10**400), 0])
    assert channel.restricted_to(tiny).inputs == ["a", "b"]
    with pytest.raises(WrongType, match=r"prior must be a Prior, got \[1, 0, 0\]; write Prior"):
        channel.restricted_to([1, 0, 0])
    with pytest.raises(ShapeMismatch, match="prior labels must be as many"):
        channel.restricted_to(Prior.uniform(2))


def test_tiny_probabilities_and_a_million_outcomes():
    row = np.full(10**6, 1e-6)
    row[:2] = [5e-324, 1e-300]
    row[2] += 1 - math.fsum(row.tolist())
    channel = Channel([row, row])
    assert channel.shape == (2, 10**6)
    assert channel.matrix[0, :2].tolist() == [5e-324, 1e-300]
    assert channel.adjustment == 0.0
    assert len(channel.product(Channel([[1.0], [1.0]])).outputs) == 10**6
    assert isinstance(hash(channel), int)


def test_peaks_and_pits_for_every_storage():
    rows = [["1/2", "1/2", 0], ["1/4", "1/4", "1/2"]]
    exact = Channel(rows)
    assert exact.peaks.tolist() == [Fraction(1, 2)] * 3
    assert exact.pits.tolist() == [Fraction(1, 4), Fraction(1, 4), 0]
    for channel in (Channel(exact.floats), Channel(sp.csr_array(exact.floats))):
        assert channel.peaks.tolist() == [0.5, 0.5, 0.5]
        assert channel.pits.tolist() == [0.25, 0.25, 0.0]
        assert channel.peaks is channel.peaks
        assert not channel.pits.flags.writeable


def test_floats_of_entries_too_small_for_them_are_refused():
    channel = Channel([["1e-400", 1 - Fraction(1, 10**400)]])
    with pytest.raises(InvalidInput, match="channel row 0, column 0 is too small for a float, got 1e-400"):
        _ = channel.floats
    assert Channel.from_json(channel.to_json()) == channel


def test_repr_is_for_people():
    assert repr(Channel([[1, 0]])) == "Channel(1 secrets [0] → 2 outcomes [0, 1], exact)"
    assert repr(Channel(sp.csr_array([[1.0]]))) == "Channel(1 secrets [0] → 1 outcomes [0], float, sparse)"
    assert len(repr(Channel(np.full((1, 1000), 1e-3)))) < 120


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"channel": [["a"]], "sparse": true}', 'channel row 0, column 0 must be a finite number, got "a"'),
        ('{"channel": [[1], [0.5, 0.5]], "sparse": true}', "channel must have rows of equal length"),
        ('{"channel": [[1]], "sparse": "no"}', 'sparse must be true or false, got "no"'),
        ('{"channel": [[1]], "inputs": 3}', "inputs must be a list of labels, got 3"),
        ('{"channel": [[0.5, 0.5]], "outputs": "ab"}', 'outputs must be a list of labels, got "ab"'),
        ('{"channel": [[0.5, 0.5]], "outputs": [{}, 1]}', "outputs entry 0 must be text"),
        ('{"channel": [[1e999, 0.5]]}', "channel row 0, column 0 must be finite, got inf"),
        ('{"channel": 3}', "channel must be a list of rows, got 3"),
        ('{"rows": [[1]]}', 'channel JSON must have the key "channel"'),
        ('{"channel": [[1]], "labels": ["a"]}', 'channel JSON has an unknown key "labels"'),
    ],
)
def test_bad_json_is_refused(text, message):
    with pytest.raises(InvalidInput, match=message):
        Channel.from_json(text)


def test_json_as_people_write_it():
    assert Channel.from_json('{"channel": [["1/3", "2/3"]], "sparse": true}') == Channel([[1 / 3, 2 / 3]])
    assert Channel.from_json('{"channel": [[1, 0]], "inputs": [["a", 1]]}').inputs == [("a", 1)]
    with pytest.raises(InvalidInput, match='channel record must have the key "channel"'):
        Channel.from_dict({})
    with pytest.raises(InvalidInput, match="channel record must be an object, got 3"):
        Channel.from_dict(3)


def test_names_of_every_kind_survive_json():
    channel = Channel(np.eye(2), inputs=["a", ("b", 1)], outputs=[None, 1.5])
    again = Channel.from_json(channel.to_json())
    assert again == channel
    assert list(again.inputs) == ["a", ("b", 1)]
    assert list(again.outputs) == [None, 1.5]
