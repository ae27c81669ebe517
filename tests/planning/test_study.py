"""Hypotheses, parameters and losses."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tightlip import Prior
from tightlip.errors import InvalidInput, InvalidLabels, ShapeMismatch, WrongType
from tightlip.planning.study import Study, named_gap, named_test_gap

COINS = [Prior(["1/2", "1/2"]), Prior(["1/4", "3/4"])]
LOSSES = {
    "absolute": lambda t, a: sum(abs(x - y) for x, y in zip(t, a, strict=True)),
    "squared": lambda t, a: sum((x - y) ** 2 for x, y in zip(t, a, strict=True)),
    "hamming": lambda t, a: sum(x != y for x, y in zip(t, a, strict=True)),
    "zero-one": lambda t, a: int(t != a),
}


@settings(max_examples=40)
@given(st.sampled_from(sorted(LOSSES)), st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_gaps_against_a_grid_of_answers(name, numbers):
    """Coordinates 0 to 3 have their best answers among multiples of a half."""
    one, two = tuple(map(Fraction, numbers[:2])), tuple(map(Fraction, numbers[2:]))
    grid = [tuple(point) for point in product([Fraction(k, 2) for k in range(7)], repeat=2)]
    loss = LOSSES[name]
    assert named_gap(name, one, two) == min(loss(one, a) + loss(two, a) for a in grid)
    assert named_test_gap(name, one, two) == min(max(loss(one, a), loss(two, a)) for a in grid)


def test_tables_give_gaps_over_their_answers():
    study = Study(COINS, loss=[[0, 2, 1], [3, 0, 1]])
    assert (study.gaps[0][1], study.test_gaps[0][1], study.loss) == (2, 1, "table")
    assert Study(COINS, loss=[[0.0, 2.0], [3.0, 0.0]]).gaps[0][1] == 2


def test_hypotheses_are_brought_into_one_order_and_made_exact():
    study = Study([Prior({"a": 0.25, "b": 0.75}), Prior({"b": "1/3", "a": "2/3"})], loss="zero-one")
    assert study.hypotheses[1].masses.tolist() == [Fraction(2, 3), Fraction(1, 3)]
    assert study.hypotheses[0].is_exact
    assert study.average().masses[0] == Fraction(11, 24)


def test_a_cube_is_recognised():
    priors = [Prior(["1/2", "1/2"])] * 4
    square = [[0, 5], [1, 5], [0, 7], [1, 7]]
    assert Study(priors, parameters=square, loss="squared").cube() == (((0, 1), (2, 3)), ((0, 2), (1, 3)))
    for parameters, loss in (
        ([[0, 5], [1, 5], [0, 7], [1, 8]], "squared"),
        ([[0, 5], [1, 5], [0, 7], [0, 7]], "squared"),
        (square, "zero-one"),
        ([0, 1, 2, 3], "absolute"),
    ):
        assert Study(priors, parameters=parameters, loss=loss).cube() == ()


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"hypotheses": COINS[:1], "loss": "zero-one"}, InvalidInput, "2 to 256, got 1"),
        ({"hypotheses": COINS * 129, "loss": "zero-one"}, InvalidInput, "got 258"),
        ({"hypotheses": COINS[0], "loss": "zero-one"}, WrongType, "list of Priors"),
        ({"hypotheses": [[0.5, 0.5], COINS[0]], "loss": "zero-one"}, WrongType, "entry 0 must be a Prior"),
        ({"hypotheses": [Prior([1]), Prior([1])], "loss": "zero-one"}, InvalidInput, "at least 2 secrets"),
        ({"hypotheses": [COINS[0], Prior([1, 0, 0])], "loss": "zero-one"}, ShapeMismatch, "entry 1"),
        ({}, InvalidInput, "loss or separation"),
        ({"loss": "zero-one", "separation": [[0, 1], [1, 0]]}, InvalidInput, "not both"),
        ({"loss": "cubic"}, InvalidInput, "absolute, squared"),
        ({"loss": "absolute"}, InvalidInput, "parameters must be given"),
        ({"loss": "absolute", "parameters": [1]}, ShapeMismatch, "got 1"),
        ({"loss": "absolute", "parameters": "01"}, WrongType, "parameters must be a list"),
        ({"loss": "absolute", "parameters": [[1, 2], [1]]}, ShapeMismatch, "one dimension"),
        ({"loss": "absolute", "parameters": [[], [1]]}, InvalidInput, "not be empty"),
        ({"loss": "absolute", "parameters": [1, float("nan")]}, InvalidInput, "finite"),
        ({"loss": [[0, 1]]}, ShapeMismatch, "row for each of 2"),
        ({"loss": [[0, -1], [1, 0]]}, InvalidInput, "row 0 must not be negative"),
        ({"separation": [[0, 1], [2, 0]]}, InvalidInput, "symmetric"),
        ({"separation": [[0, 1, 1], [1, 0, 1]]}, InvalidInput, "2 columns"),
        ({"separation": [[1, 1], [1, 0]]}, InvalidInput, "zero diagonal"),
        ({"loss": "zero-one", "names": ["a", "a"]}, InvalidLabels, "distinct"),
    ],
)
def test_refusals(arguments, error, words):
    with pytest.raises(error, match=words):
        Study(**{"hypotheses": COINS, **arguments})
