"""Large programs: nearer the optimum than at first, and the bound holds; compared with the exact solution."""

import math

import numpy as np
import pandas as pd
import pytest

from tightlip.protection.clock import Deadline
from tightlip.protection.levels import CHOSEN_PAIRS, Level, _thin
from tightlip.protection.program import Program
from tightlip.protection.rough import solve_roughly
from tightlip.protection.run import protect


def program_of(delta=None):
    """A program of some hundred cells, with several secrets."""
    draw = np.random.default_rng(3)
    rows = 1_500
    table = pd.DataFrame(
        {
            "age": draw.integers(20, 80, rows),
            "town": draw.integers(10, 20, rows),
            "ill": draw.geometric(0.4, rows),
        }
    )
    levels = {"age": ["as is", 5, 20, "out"], "town": ["as is", 5, "out"]}
    found = protect(
        table, "ill", ["age", "town"], "factor 3", levels=levels, delta=delta, seconds=1, randomised=True
    )
    proof = found.certificate.table
    return Program(found.values, proof.limits, proof.detail(found.values).share())


@pytest.mark.parametrize("delta", [None, "0.02"])
def test_nearer_the_optimum_and_never_past_it(delta):
    program = program_of(delta)
    exact = program.solve(1e-4, Deadline.after(60), lambda kept, bound: None)
    rough = solve_roughly(program, 1e-4, Deadline.after(60), lambda kept, bound: None)
    assert exact.finished
    assert rough.detail <= exact.bound + 1e-6
    assert rough.bound >= exact.detail - 1e-6
    nothing = program.nothing()
    assert rough.bound - rough.detail < (nothing.bound - nothing.detail) / 2
    pairs = rough.pairs
    value, cell = program.value[pairs], program.cell[pairs]
    assert np.bincount(cell, rough.share) == pytest.approx(1.0, abs=1e-9)
    for own in program.limits.excess():
        sums = np.bincount(value, np.where(program.exposed[pairs], 0.0, own[cell]) * rough.share)
        assert sums.max() < 1e-6
    shown = program.people[cell[program.exposed[pairs]]] @ rough.share[program.exposed[pairs]]
    assert shown <= program.allowed + 1e-6


def test_the_level_without_which_least_is_missed_goes_first():
    """Steps of detail between neighbours of the middle levels: log 8 over the halves, log 2 over the quarters."""

    def level(width):
        return Level(str(width), tuple(str(value // width) for value in range(16)))

    levels = {"number": [level(1), level(2), level(4), level(16)]}
    _thin(levels, {"number": [1] * 16}, math.floor(CHOSEN_PAIRS / 3))
    assert [one.words for one in levels["number"]] == ["1", "4", "16"]
