"""The simplex method in rationals against HiGHS, and on programs that stall or are infeasible."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from tightlip.numeric.rational_program import RationalProgram

small = st.integers(-3, 3).map(Fraction)


@st.composite
def programs(draw):
    size = draw(st.integers(1, 5))
    rows = draw(st.lists(st.lists(small, min_size=size, max_size=size), min_size=1, max_size=5))
    bounds = [Fraction(draw(st.integers(-2, 4)), 2) for _ in rows]
    floor = Fraction(draw(st.integers(0, 2)), 4 * size)
    costs = draw(st.lists(st.lists(small, min_size=size, max_size=size), min_size=1, max_size=3))
    return rows, bounds, floor, costs


@settings(max_examples=150)
@given(programs())
def test_minimum_is_feasible_and_agrees_with_highs(case):
    rows, bounds, floor, costs = case
    size = len(rows[0])
    program = RationalProgram(rows, bounds, floor, size)
    for cost in costs:  # each starts where the last one ended
        other = linprog(
            np.array(cost, dtype=float),
            A_ub=np.array(rows, dtype=float),
            b_ub=np.array(bounds, dtype=float),
            A_eq=np.ones((1, size)),
            b_eq=[1],
            bounds=[(float(floor), None)] * size,
        )
        assert (other.status == 2) == bool(program.lack)
        if program.lack:
            continue
        value, point = program.minimum(cost)
        assert sum(point) == 1
        assert min(point) >= floor
        assert all(
            sum(a * p for a, p in zip(row, point, strict=True)) <= bound
            for row, bound in zip(rows, bounds, strict=True)
        )
        assert value == sum(c * p for c, p in zip(cost, point, strict=True))
        assert abs(float(value) - other.fun) < 1e-8


def test_bounds_that_meet_only_up_to_rounding_are_told_apart():
    """0.1 + 0.2 is more than 0.3 as floats are stored: p₀ ≥ 0.1, p₁ ≥ 0.2 and p₀ + p₁ ≤ 0.3 leave nothing."""
    rows = [[-1, 0, 0], [0, -1, 0], [1, 1, 0]]
    empty = RationalProgram(rows, [-0.1, -0.2, 0.3], Fraction(0), 3)
    assert empty.lack == Fraction(0.1) + Fraction(0.2) - Fraction(0.3)
    assert not RationalProgram(
        rows, [Fraction(-1, 10), Fraction(-1, 5), Fraction(3, 10)], Fraction(0), 3
    ).lack


def test_a_redundant_equality_is_dropped():
    program = RationalProgram([[1, 1], [-1, -1], [1, 1]], [1, -1, 1], Fraction(0), 2)
    assert program.lack == 0
    assert program.minimum([Fraction(3), Fraction(2)]) == (2, (0, 1))
