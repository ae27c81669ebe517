"""The law that SML's forests draw their group counts from: against every vector of a small table, counted."""

import math
from itertools import product

import numpy as np
import pytest
from papers.adult import STEP, GroupLaw, middle, summary

from tightlip.histogram.scale import grid_scale
from tightlip.histogram.secret import GroupedSecret

TOTAL, SIZES = 40, (3, 2, 1, 4)
SECRET = GroupedSecret(np.zeros(0, dtype=np.int8), (*SIZES, 0), TOTAL, grid_scale((*SIZES, 0), TOTAL, STEP))


def histograms(vector):
    return math.prod(math.comb(n + size - 1, size - 1) for n, size in zip(vector, SIZES, strict=True))


def counted(index):
    """Every vector of group counts with both wholes, and how many histograms it stands for."""
    found = {}
    for white in range(1, TOTAL):
        for a, c in product(range(white + 1), range(TOTAL - white + 1)):
            vector = (a, white - a, c, TOTAL - white - c)
            if SECRET.index_each(np.array([[*vector, 0]]))[0] == index:
                found[vector] = histograms(vector)
    return found


@pytest.mark.parametrize("index", [3, 30, 33, 47])
def test_the_law_is_the_number_of_histograms(index):
    law, truth = GroupLaw(TOTAL, SIZES, index), counted(index)
    tables = law._tables()
    found = {}
    for white in range(1, TOTAL):
        for a, c, log in zip(*law.pairs(white, tables), strict=True):
            found[int(a), white - int(a), int(c), TOTAL - white - int(c)] = math.exp(log)
    assert found.keys() == truth.keys()
    assert all(found[vector] == pytest.approx(count, rel=1e-9) for vector, count in truth.items())


def test_draws_have_the_secret_and_the_mean_of_the_law():
    truth = counted(33)
    drawn = GroupLaw(TOTAL, SIZES, 33).draws(4000, np.random.default_rng(5))
    assert set(drawn) <= truth.keys()
    mass = sum(truth.values())
    for group in range(4):
        mean = sum(vector[group] * count for vector, count in truth.items()) / mass
        assert np.mean([vector[group] for vector in drawn]) == pytest.approx(mean, abs=0.4)


def test_middles_and_intervals():
    assert [middle(33, size) for size in (60, 30, 9, 1)] == [30, 45, 31, 33]
    found = summary([1.0, 2.0, 3.0])
    assert (found["mean"], found["sd"]) == (2, 1)
    assert found["high"] == pytest.approx(2 + 4.302653 / math.sqrt(3), abs=1e-5)
