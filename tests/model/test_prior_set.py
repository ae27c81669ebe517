"""Sets of priors: who is a member, and what is refused."""

import math
from fractions import Fraction

import pytest

from tightlip import Prior, PriorSet
from tightlip.errors import InvalidInput, InvalidPrior, ShapeMismatch, WrongType
from tightlip.model.prior_set import PriorBall, PriorList, PriorPolytope

named = Prior({"a": "1/2", "b": "1/2"})


def test_a_set_without_a_count_is_about_any_number_of_secrets():
    free = PriorSet(min_mass="1/10")
    assert free.secrets is None
    assert Prior.uniform(3) in free
    assert Prior.uniform(10) in free
    assert Prior.uniform(11) not in free
    assert PriorSet.from_json(free.to_json()) == free
    with pytest.raises(InvalidInput, match="min_mass must be given"):
        PriorSet()
    with pytest.raises(InvalidPrior, match=r"min_mass must be in \(0, 1/1\]"):
        PriorSet(min_mass=2)


def test_ball_membership_is_decided_in_rationals():
    ball = PriorBall(named, "1/5")
    assert ball.is_exact
    assert Prior(["2/5", "3/5"]) in ball
    assert Prior([Fraction(2, 5) - Fraction(1, 10**30), Fraction(3, 5) + Fraction(1, 10**30)]) not in ball
    assert Prior({"b": "3/5", "a": "2/5"}) in ball
    assert Prior({"x": "1/2", "y": "1/2"}) not in ball
    assert Prior.uniform(3) not in ball
    assert "prior" not in ball
    assert not PriorBall(named, 0.2).is_exact
    assert Prior([1, 0]) in PriorBall(Prior([0, 1]), 2)


@pytest.mark.parametrize("radius", [-0.1, 2.1, math.nan, math.inf, None, True, "x"])
def test_no_radius(radius):
    with pytest.raises(InvalidInput, match="radius must be"):
        PriorBall(named, radius)


def test_no_center():
    with pytest.raises(WrongType, match=r"center must be a Prior, got \[1\]"):
        PriorBall([1], 0.1)


def test_lists():
    both = PriorList(prior for prior in (named, Prior({"b": 0.25, "a": 0.75})))
    assert len(both) == 2
    assert not both.is_exact
    assert next(iter(both)) is named
    assert Prior({"b": 0.25, "a": 0.75}) in both
    assert Prior({"a": 0.25, "b": 0.75}) not in both
    assert 3 not in both
    with pytest.raises(InvalidPrior, match="priors must not be empty"):
        PriorList([])
    with pytest.raises(WrongType, match="priors must be a list of Priors"):
        PriorList(named)
    with pytest.raises(WrongType, match="priors entry 1 must be a Prior"):
        PriorList([named, 3])
    with pytest.raises(ShapeMismatch, match="labels of priors entry 1"):
        PriorList([named, Prior.uniform(3)])


def test_polytopes():
    rare = PriorPolytope([[1, 0, 0], [0, 1, -1]], ["1/10", 0], labels=["ill", "old", "young"])
    assert rare.is_exact
    assert rare.member in rare
    assert Prior({"young": "1/2", "old": "2/5", "ill": "1/10"}) in rare
    assert Prior({"young": "2/5", "old": "1/2", "ill": "1/10"}) not in rare
    assert Prior.uniform(2) not in rare
    with_floor = PriorPolytope([[1, 0, 0]], ["1/2"], min_mass=0.1)
    assert not with_floor.is_exact
    assert with_floor.member in with_floor
    assert Prior([0, "1/2", "1/2"]) not in with_floor
    assert repr(rare) == "PriorPolytope(2 bounds on 3 secrets)"
    with pytest.raises(ValueError, match="read-only"):
        rare.rows[0, 0] = 2


@pytest.mark.parametrize(
    ("rows", "bounds", "options", "error", "message"),
    [
        (
            [[1, 1]],
            ["1/2"],
            {},
            InvalidPrior,
            "got an empty set: every prior breaks them by at least 0.5 in all; raise a bound",
        ),
        (
            [[-1, 0, 0], [0, -1, 0], [1, 1, 0]],
            [-0.1, -0.2, 0.3],
            {},
            InvalidPrior,
            "empty set: .* 2.77556e-17",
        ),
        ([[1, 0]], ["1/4"], {"min_mass": "1/3"}, InvalidPrior, "empty set"),
        ([[1, 0]], [1], {"min_mass": "2/3"}, InvalidPrior, r"min_mass must be in \[0, 1/2\], got"),
        ([[1, 0]], [1], {"min_mass": -1}, InvalidPrior, "min_mass must be in"),
        ([[1, 0]], [1, 2], {}, ShapeMismatch, "bounds must be one for each of 1 rows, got 2"),
        ([[1, math.nan]], [1], {}, InvalidInput, "rows row 0, column 1 must be finite"),
        ([], [], {}, InvalidInput, "rows must"),
        ([[1, 0]], [1], {"labels": ["a"]}, ShapeMismatch, "labels must have one label each for 2"),
    ],
)
def test_what_is_no_polytope(rows, bounds, options, error, message):
    with pytest.raises(error, match=message):
        PriorPolytope(rows, bounds, **options)
