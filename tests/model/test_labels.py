"""Names: distinct, hashable, the same after JSON, and found in any order."""

import copy
import datetime
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tightlip.errors import InvalidLabels, ShapeMismatch, WrongType
from tightlip.model.labels import Labels, label_from_json, labels_from_json, match, show

atoms = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
)
some_labels = st.recursive(atoms, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4)
distinct = st.lists(some_labels, min_size=1, max_size=6, unique=True)


def named(items):
    items = list(items)
    return Labels.of(items, len(items), "inputs")


@given(distinct)
def test_labels_are_kept_found_and_read_back_from_json(items):
    labels = named(items)
    assert labels.given
    assert list(labels) == items
    assert [labels.position(item) for item in items] == list(range(len(items)))
    again = labels_from_json(json.loads(json.dumps(labels.to_json())), "inputs")
    assert again == items
    assert list(map(type, again)) == list(map(type, items))


@given(distinct)
def test_equal_labels_have_equal_hashes(items):
    labels = named(items)
    assert labels == named(items) == items
    assert labels == tuple(items)
    assert hash(labels) == hash(named(items)) == hash(tuple(items))
    assert labels != [*items, "more"]


def test_default_labels_count_and_equal_the_same_numbers_given():
    default, given_ = Labels.of(None, 3, "inputs"), named([0, 1, 2])
    assert not default.given
    assert default.to_json() is None
    assert default == given_
    assert given_ == default
    assert default == Labels.of(None, 3, "x")
    assert default != Labels.of(None, 4, "x")
    assert hash(default) == hash(given_)
    assert default != "012"
    assert default[1:] == range(1, 3)
    assert len(default) == 3


def test_labels_of_labels_keep_whether_they_were_given():
    assert not Labels.of(Labels.of(None, 2, "x"), 2, "y").given
    assert Labels.of(named("ab"), 2, "y").given
    with pytest.raises(ShapeMismatch, match="y must have one label each for 3 entries, got 2; add or drop"):
        Labels.of(named("ab"), 3, "y")


def test_numpy_labels_become_python_values():
    labels = named([np.int64(3), np.str_("a"), np.bool_(False), np.float32(0.5), [np.int8(1), "b"]])
    assert list(labels) == [3, "a", False, 0.5, (1, "b")]
    assert list(map(type, labels)) == [int, str, bool, float, tuple]
    assert labels.position(np.int32(3)) == 0


@pytest.mark.parametrize(
    "items", [(x for x in "ab"), {"a": 1, "b": 2}, {"a": 1, "b": 2}.keys(), np.array(["a", "b"])]
)
def test_any_iterable_of_labels_will_do(items):
    assert Labels.of(items, 2, "inputs") == ["a", "b"]


@pytest.mark.parametrize(
    ("items", "shown"),
    [(["a", "a"], '"a"'), ([(1, 2), [1, 2]], r"\(1, 2\)")],
)
def test_duplicates_are_refused_with_both_places(items, shown):
    message = f"inputs must be distinct, got {shown} at entries 0 and 1; rename one"
    with pytest.raises(InvalidLabels, match=message):
        named(items)


@pytest.mark.parametrize(("items", "shown"), [([1, True], "1 and True"), ([0, 0.0], "0 and 0.0")])
def test_what_python_holds_equal_is_told_so(items, shown):
    with pytest.raises(
        InvalidLabels, match=f"inputs must not be equal in Python, got {shown} at entries 0 and 1"
    ):
        named(items)


@pytest.mark.parametrize("items", [{"a", "b"}, frozenset("ab")])
def test_sets_have_no_order(items):
    with pytest.raises(
        WrongType, match=r"inputs must be a sequence of labels, got .*; put them in a list, in"
    ):
        Labels.of(items, 2, "inputs")


@pytest.mark.parametrize("text", ["\ud800", ("a", "b\udfff")])
def test_broken_text_is_refused(text):
    with pytest.raises(InvalidLabels, match=r"inputs entry 1 must be text that can be written as UTF-8, got"):
        named(["a", text])


@pytest.mark.parametrize("item", [math.nan, math.inf, np.float64("nan"), ("a", math.nan)])
def test_missing_values_are_no_names(item):
    with pytest.raises(
        InvalidLabels, match=r"inputs entry 1 must not be (nan|inf); give missing values a name"
    ):
        named(["a", item])


@pytest.mark.parametrize(
    "item",
    [{}, {1}, object(), b"a", 1j, datetime.date(2020, 1, 1), np.datetime64("2020-01-01", "ns"),
     np.timedelta64(3, "ns"), np.array([1, 2]), np.ma.masked, np.longdouble(1)],
)  # fmt: skip
def test_other_types_are_refused_with_their_place(item):
    with pytest.raises(WrongType, match=r"inputs entry 1 must be text, .* of type \w+; use str"):
        named(["a", item])


@pytest.mark.parametrize("items", ["ab", b"ab"])
def test_text_is_not_a_sequence_of_labels(items):
    with pytest.raises(
        WrongType, match=r"inputs must be a sequence of labels, got the text .*; put it in a list"
    ):
        Labels.of(items, 2, "inputs")


@pytest.mark.parametrize("items", [3, 0.5, len, object()])
def test_what_cannot_be_iterated_is_refused(items):
    with pytest.raises(WrongType, match=r"inputs must be a sequence of labels, got .*; put them in a list"):
        Labels.of(items, 2, "inputs")


def test_a_list_inside_itself_is_refused():
    loop = []
    loop.append(loop)
    with pytest.raises(WrongType, match="inputs entry 0 must be a label, got a list nested too deeply"):
        Labels.of(loop, 1, "inputs")


def test_an_unknown_label_is_refused_with_those_that_are_known():
    with pytest.raises(InvalidLabels, match=r'secret must be one of "a", "b"; got "c"\.'):
        named("ab").position("c", "secret")
    with pytest.raises(InvalidLabels, match=r"label must be one of 0, 1, 2, 3, 4, 5, …; got 7"):
        Labels.of(None, 7, "x").position(7)
    for strange in ([], {}, -1, 1.5, None):
        with pytest.raises(InvalidLabels, match="must be one of 0, 1; got "):
            Labels.of(None, 2, "x").position(strange)
    with pytest.raises(InvalidLabels, match=r'got \["a"\]|got \[\'a\'\]'):
        named("ab").position(["a"])


def test_taking_some_labels_makes_them_given():
    taken = Labels.of(None, 4, "x").take([3, 1])
    assert taken == [3, 1]
    assert taken.given


def test_labels_cannot_be_changed_and_survive_copies():
    labels = named("ab")
    with pytest.raises(AttributeError):
        labels.given = False
    for again in (pickle.loads(pickle.dumps(labels)), copy.deepcopy(labels)):
        assert again == labels
        assert again.given
        assert again.position("b") == 1


def test_how_labels_print():
    assert repr(named(["a", 1, ("b", 2)])) == "[\"a\", 1, ('b', 2)]"
    assert repr(Labels.of(None, 7, "x")) == "[0, 1, 2, 3, 4, 5, … 7 in all]"
    assert show("a") == "a"
    assert show(("a", (1, None))) == "(a, (1, None))"
    assert label_from_json(["a", ["b", 1]]) == ("a", ("b", 1))


@pytest.mark.parametrize("values", ["ab", {"a": 1}, 3])
def test_labels_in_json_must_be_a_list(values):
    with pytest.raises(WrongType, match="outputs must be a list of labels, got"):
        labels_from_json(values, "outputs")
    assert labels_from_json(None, "outputs") is None


@given(st.permutations(["a", "b", ("c", 1), None]))
def test_match_reorders_by_name(order):
    wanted = named(["a", "b", ("c", 1), None])
    places = match(wanted, named(order), "prior labels", "the inputs")
    assert [order[place] for place in (range(4) if places is None else places)] == list(wanted)
    assert (places is None) == (order == list(wanted))


def test_match_goes_by_position_where_one_side_has_no_names():
    assert match(named("ab"), Labels.of(None, 2, "x"), "prior labels", "the inputs") is None
    assert match(Labels.of(None, 2, "x"), named("ab"), "prior labels", "the inputs") is None


def test_match_refuses_other_sizes_and_other_names():
    with pytest.raises(
        ShapeMismatch, match="prior labels must be as many as the inputs, got 3 for 2; add or drop"
    ):
        match(named("ab"), named("abc"), "prior labels", "the inputs")
    with pytest.raises(ShapeMismatch, match='must be the inputs, got none for "b"; rename'):
        match(named("ab"), named("ac"), "prior labels", "the inputs")
