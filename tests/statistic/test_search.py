"""The parts of the search: covers, greedy choice, prices, and a solver that gives up."""

import math

import numpy as np
import pytest
from scipy.optimize import milp

import statistic_oracle as every
import tightlip as tl
from tightlip.statistic.cover import Cover
from tightlip.statistic.groups import groups_of
from tightlip.statistic.maximal import statistic_maximal_leakage
from tightlip.statistic.search import CutProgram, descend, exchange, greedy
from tightlip.statistic.work import Work

SECRET = np.arange(24) % 4
ENOUGH = 1_000


@pytest.fixture(scope="module")
def channel():
    return tl.Channel(np.random.default_rng(5).dirichlet(np.full(10, 0.3), size=24))


@pytest.fixture(scope="module")
def cover(channel):
    return Cover.of(channel.matrix, groups_of(channel, SECRET))


def bound(cover, prices):
    return prices.sum() + cover.tops(cover.gains(prices), cover.everything())[0].sum()


def test_greedy_reaches_half_and_exchange_does_not_lose(channel, cover):
    best = every.largest_total(channel.matrix.tolist(), SECRET.tolist())
    first = greedy(cover)
    better = exchange(cover, first, Work(ENOUGH))
    assert best / 2 <= cover.worth(first) <= cover.worth(better) <= best * (1 + 1e-12)


def test_both_ways_to_prices_agree(cover):
    start = cover.maxima(greedy(cover))
    target, work = cover.worth(greedy(cover)), Work(ENOUGH)
    by_cuts = CutProgram(cover).prices(cover.everything(), start, 0.0, work)
    by_steps = descend(cover, cover.everything(), start, target, work)
    assert bound(cover, by_cuts) <= bound(cover, by_steps) * (1 + 0.06)
    assert bound(cover, by_steps) == pytest.approx(bound(cover, by_cuts), rel=0.06)
    assert bound(cover, by_steps) < bound(cover, start)


def test_a_solver_that_gives_up_leaves_sound_prices(cover):
    program = CutProgram(cover)
    program._optimal = object()
    start = cover.maxima(greedy(cover))
    prices = program.prices(cover.everything(), start, 0.0, Work(ENOUGH))
    assert bound(cover, prices) <= bound(cover, start)


def test_the_zero_one_program_agrees(channel):
    """The 0-1 program as such, solved by scipy's interface to HiGHS."""
    rows, outputs = channel.shape
    cells = rows * outputs
    cost = -np.concatenate([np.zeros(rows), channel.matrix.ravel()])
    pick = np.zeros((4, rows + cells))
    pick[SECRET, np.arange(rows)] = 1
    once = np.hstack([np.zeros((outputs, rows)), np.tile(np.eye(outputs), rows)])
    linked = np.hstack([-np.repeat(np.eye(rows), outputs, axis=0), np.eye(cells)])
    solved = milp(
        cost,
        integrality=np.concatenate([np.ones(rows), np.zeros(cells)]),
        bounds=(0, 1),
        constraints=[(pick, 1, 1), (once, 0, 1), (linked, -np.inf, 0)],
        options={"mip_rel_gap": 0},
    )
    found = statistic_maximal_leakage(channel, SECRET)
    assert found.exact
    assert math.exp(found.upper) == pytest.approx(-solved.fun, rel=1e-9)
