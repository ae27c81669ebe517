"""A prior in the order of the channel's secrets."""

import numpy as np
import pytest

from tightlip import Channel, Prior
from tightlip.errors import ShapeMismatch, WrongType
from tightlip.model.channel import align

channel = Channel(np.eye(3), inputs=["a", "b", "c"])


def test_a_prior_in_another_order_is_reordered_by_name():
    found = align(Prior({"c": "1/2", "a": "1/3", "b": "1/6"}), channel)
    assert found == Prior({"a": "1/3", "b": "1/6", "c": "1/2"})
    floats = align(Prior({"c": 0.5, "a": 0.3, "b": 0.2}), channel)
    assert floats.masses.tolist() == [0.3, 0.2, 0.5]


def test_a_prior_in_order_or_without_names_is_used_as_it_is():
    for prior in (Prior({"a": 0.5, "b": 0.25, "c": 0.25}), Prior([0.5, 0.25, 0.25])):
        assert align(prior, channel) is prior


def test_default_names_given_by_hand_are_names():
    numbered = Channel(np.eye(2), inputs=[1, 0])
    assert align(Prior({0: 0.25, 1: 0.75}), numbered).masses.tolist() == [0.75, 0.25]
    assert align(Prior({False: 0.25, True: 0.75}), numbered).masses.tolist() == [0.75, 0.25]


def test_other_names_and_other_sizes_are_refused():
    with pytest.raises(ShapeMismatch, match='prior labels must be the channel\'s inputs, got none for "c"'):
        align(Prior({"a": 0.5, "b": 0.25, "d": 0.25}), channel)
    with pytest.raises(
        ShapeMismatch, match="prior labels must be as many as the channel's inputs, got 2 for 3"
    ):
        align(Prior([0.5, 0.5]), channel)


def test_wrong_types_are_refused():
    with pytest.raises(WrongType, match=r"prior must be a Prior, got \[0.5, 0.5\]; write Prior"):
        align([0.5, 0.5], channel)
    with pytest.raises(WrongType, match=r"channel must be a Channel, got \[\[1\]\]; write Channel"):
        align(Prior([1]), [[1]])
