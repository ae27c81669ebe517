"""Corners and simplices: every linear function agrees with the closed forms, every member is in one simplex."""

import random
from fractions import Fraction

from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_oracle import grid
from strategies import distributions
from tightlip import Channel, Prior
from tightlip.model.prior_set import PriorPolytope
from tightlip.robust import region as geometry
from tightlip.robust.region import (
    BallRegion,
    FloorRegion,
    PolytopeRegion,
    corners_of,
    cover_of,
    dot,
    mean,
    region_of,
    simplices_of,
)


def regions(size):
    shares = st.integers(0, 20)
    balls = st.builds(
        lambda center, part: BallRegion(tuple(center), Fraction(part, 10), size), distributions(size), shares
    )
    floors = shares.map(lambda part: FloorRegion(size, Fraction(part, 20 * size)))
    return st.one_of(balls, floors, st.builds(_polytope, st.integers(0, 10**6), st.just(size)))


def _polytope(seed, size):
    """Random bounds that a random member satisfies, one of them with equality."""
    rng = random.Random(seed)
    weights = [rng.randint(1, 4) for _ in range(size)]
    member = [Fraction(weight, sum(weights)) for weight in weights]
    rows = [tuple(Fraction(rng.randint(-2, 2)) for _ in range(size)) for _ in range(3)]
    slacks = [Fraction(0), Fraction(1, 5), Fraction(1, 2)]
    return PolytopeRegion(
        size,
        Fraction(0),
        tuple((row, dot(row, member) + slack) for row, slack in zip(rows, slacks, strict=True)),
    )


some_regions = st.integers(1, 4).flatmap(regions)


@settings(max_examples=80)
@given(some_regions, st.data())
def test_the_extreme_of_a_linear_function_is_at_a_corner(region, data):
    found = corners_of(region)
    costs = data.draw(st.lists(st.integers(0, 9).map(Fraction), min_size=region.size, max_size=region.size))
    for extreme, pick in ((region.lowest, min), (region.highest, max)):
        value, point = extreme(costs)
        assert value == dot(costs, point) == pick(dot(costs, corner) for corner in found)
        assert sum(point) == 1
        assert all(dot(row, point) <= bound for row, bound in region.halfspaces())
        assert min(point) >= region.floor
    inside = region.inside()
    assert all((mass > 0) == any(corner[x] for corner in found) for x, mass in enumerate(inside))
    assert all(dot(row, inside) <= bound for row, bound in region.halfspaces())


@settings(max_examples=60)
@given(some_regions, st.randoms(use_true_random=False))
def test_simplices_cover_the_set(region, rng):
    simplices = simplices_of(region)
    ends = list(corners_of(region))
    points = [mean([rng.choice(ends) for _ in range(5)]) for _ in range(5)]
    for point in points:
        assert any(_holds(simplex, point) for simplex in simplices)


def _holds(simplex, point):
    """Whether barycentric coordinates exist and are not negative."""
    size = len(simplex)
    differences = [[corner[x] - simplex[0][x] for corner in simplex[1:]] for x in range(len(point))]
    target = [point[x] - simplex[0][x] for x in range(len(point))]
    if size == 1:
        return not any(target)
    left = fmpq_mat(
        len(point), size - 1, [fmpq(d.numerator, d.denominator) for row in differences for d in row]
    )
    right = fmpq_mat(len(point), 1, [fmpq(d.numerator, d.denominator) for d in target])
    turned = left.transpose()
    shares = (turned * left).solve(turned * right)
    if left * shares != right:
        return False
    own = [shares[place, 0] for place in range(size - 1)]
    return min(own) >= 0 and sum(own) <= 1


def test_the_hull_of_a_ball_contains_its_corners():
    """Every corner is center + r/2·(e_to − a distribution of what is taken), a mean of the hull's points."""
    region = BallRegion((Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)), Fraction(1, 2), 3)
    hull = region.hull()
    for costs in grid(3, 6):
        assert min(dot(costs, point) for point in hull) <= region.lowest(costs)[0]
    many = BallRegion((Fraction(1, 8),) * 8, Fraction(1, 10), 8)
    cover = cover_of(many)
    assert not cover.divisible
    assert len(cover.cells[0]) == 56
    assert cover_of(BallRegion((Fraction(1, 40),) * 40, Fraction(1, 10), 40)) is None


def test_sets_with_too_many_corners_are_left_whole():
    n = 9
    rows = [[int(x == y) for x in range(n)] for y in range(n)]
    box = PriorPolytope(rows, ["2/9"] * n)
    region = region_of(box, Channel([["1/2", "1/2"]] * n))
    assert corners_of(region) is None
    assert cover_of(region) is None
    assert region.lowest([Fraction(x) for x in range(n)])[0] == Fraction(2 * (0 + 1 + 2 + 3) + 4, 9)
    longer = region_of(PriorPolytope([*rows] * 8, ["1"] * 8 * n), Channel([["1/2", "1/2"]] * n))
    assert longer.halfspaces() is None


def test_too_many_simplices_leave_a_hull(monkeypatch):
    region = BallRegion((Fraction(1, 3),) * 3, Fraction(1, 10), 3)
    assert cover_of(region).divisible
    monkeypatch.setattr(geometry, "_MOST_SIMPLICES", 3)
    assert simplices_of(region) is None
    assert not cover_of(region).divisible


def test_labels_bring_sets_into_the_channels_order():
    channel = Channel([["1/2", "1/2"], ["1/4", "3/4"]], inputs=["a", "b"])
    region = region_of(PriorPolytope([[1, 0]], ["1/10"], labels=["b", "a"]), channel)
    assert region.highest([Fraction(0), Fraction(1)]) == (Fraction(1, 10), (Fraction(9, 10), Fraction(1, 10)))
    assert Prior({"b": "1/10", "a": "9/10"}) in PriorPolytope([[1, 0]], ["1/10"], labels=["b", "a"])
