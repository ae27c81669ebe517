"""Samples: the bounds hold together at their level, also with rare cells and many of them."""

from fractions import Fraction

import numpy as np
import pytest

import tightlip as tl
from tightlip.audit.leakage import cell_pml
from tightlip.audit.sample import SampleMode, sample_bounds
from tightlip.audit.tally import Tally
from tightlip.audit.view import tail_levels
from tightlip.numeric.quantity import Nats

ERROR = 0.2
DELTA = Fraction(1, 20)


def few_cells(generator):
    return generator.dirichlet(np.full(12, 2.0)).reshape(3, 4)


def rare_cells(generator):
    """Fifty cells of one person in a thousand, each telling its secret for sure; two large ones."""
    masses = np.zeros((3, 52))
    masses[generator.integers(0, 3, 50), np.arange(50)] = 0.001
    masses[:, 50:] = generator.dirichlet(np.full(6, 3.0)).reshape(3, 2) * 0.95
    return masses / masses.sum()


def many_cells(generator):
    return generator.dirichlet(np.full(4 * 300, 0.3)).reshape(4, 300)


def truth_of(masses):
    """Tail at each level, worst lift, maximal leakage and envelope of the population, in floats."""
    prior, cell = masses.sum(axis=1), masses.sum(axis=0)
    lift = (masses / prior[:, None] / cell).max(axis=0)
    channel = tl.Channel(masses / prior[:, None])
    return prior, cell, lift, tl.envelope(channel, tl.Prior(prior), DELTA), (lift * cell).sum()


def sample_of(masses, rows, generator):
    counts = generator.multinomial(rows, masses.ravel()).reshape(masses.shape)
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    secret, cell = np.nonzero(counts)
    return Tally.of(secret, cell, counts[secret, cell], counts.shape)


def holds(bounds, truth):
    """Whether every claim about the population is true, within the rounding of the truth."""
    _, cell, lift, found, mean = truth
    slack = 1e-9
    claims = [float(np.log(mean)) <= bounds.mean_of_worst(Fraction(1)) + slack]
    claims.append(found.lower <= bounds.mean_of_worst(DELTA) + slack)
    claims.append(bounds.reached(DELTA) <= found.upper + slack)
    claims.append(lift.max() <= bounds.most * (1 + slack))
    claims.append(bounds.cells.lower.max() <= lift.max() * (1 + slack))
    for level, above, at_least in zip(bounds.levels, bounds.above, bounds.at_least, strict=True):
        true = cell[lift > float(level.ratio) * (1 + slack)].sum()
        sure = cell[lift > float(level.ratio) * (1 - slack)].sum()
        claims.append(true <= float(above) + slack)
        claims.append(float(at_least) <= sure + slack)
    return all(claims)


@pytest.mark.parametrize(("population", "rows"), [(few_cells, 400), (rare_cells, 800), (many_cells, 2000)])
def test_all_bounds_hold_together_often_enough(population, rows):
    generator = np.random.default_rng(20)
    repeats, failures = 50, 0
    masses = population(generator)
    truth = truth_of(masses)
    assert truth[0].min() > 0.05  # all secrets are in scope
    for _ in range(repeats):
        tally = sample_of(masses, rows, generator)
        bounds = sample_bounds(tally, ERROR)
        assert bounds.rarest < 0.05
        failures += not holds(bounds, truth)
    assert failures <= ERROR * repeats + 3 * 3.1  # three standard deviations


def test_a_plug_in_would_break_the_promise_that_the_bounds_keep():
    generator = np.random.default_rng(3)
    masses = np.array([[0.126, 0.374], [0.074, 0.426]])  # the first cell has lift 1.26, just above 5/4
    truth, level = truth_of(masses), tl.log_of("5/4")
    short = failures = 0
    for _ in range(40):
        tally = sample_of(masses, 300, generator)
        short += cell_pml(tally).tail(level) == 0
        failures += not holds(sample_bounds(tally, ERROR), truth)
    assert short > ERROR * 40  # more often than allowed
    assert failures <= 8 + 3 * 3


def test_more_rows_bring_the_bounds_closer():
    generator = np.random.default_rng(4)
    masses = np.array([[0.3, 0.1], [0.2, 0.4]])
    found = [
        sample_bounds(sample_of(masses, rows, generator), 0.05).mean_of_worst(Fraction(1, 2))
        for rows in (200, 20000)
    ]
    true = float(truth_of(masses)[3].upper)
    assert found[0] > found[1] > 0
    assert sample_bounds(sample_of(masses, 10**6, generator), 0.05).above_level(tl.log_of(2)) < Fraction(
        1, 1000
    )
    assert found[1] < true + 0.5


def test_lower_bounds_find_a_real_leak():
    generator = np.random.default_rng(6)
    masses = np.array([[0.1, 0.0, 0.4], [0.0, 0.1, 0.4]])
    bounds = sample_bounds(sample_of(masses, 5000, generator), 0.05)
    assert 1.7 < bounds.cells.lower.max() <= 2.0
    assert 1.7 < bounds.cells.lower.max() <= bounds.cells.upper.max()
    assert bounds.reached(Fraction(1, 10)) >= float(np.log(1.5)) - 1e-12
    assert bounds.reached(Fraction(1, 2)) == 0.0


def test_complete_cells_bound_the_worst_leakage_by_those_seen():
    generator = np.random.default_rng(7)
    tally = sample_of(np.array([[0.25, 0.25], [0.2, 0.3]]), 5000, generator)
    some, every = (sample_bounds(tally, 0.05, cells_complete=complete) for complete in (False, True))
    assert every.most < 1.5 < 1.9 < some.most
    assert every.mean_of_worst(DELTA) < some.mean_of_worst(DELTA)


def test_the_budget_is_one_of_the_levels_and_rounded_to_the_safe_side():
    generator = np.random.default_rng(8)
    tally = sample_of(np.array([[0.25, 0.25], [0.2, 0.3]]), 5000, generator)
    bounds = sample_bounds(tally, 0.05, Nats(0.3))
    assert 0.3 in [float(level) for level in bounds.levels]
    assert bounds.above_level(Nats(0.3)) <= bounds.above[0]
    assert sample_bounds(tally, 0.05, tl.log_of(2)).levels == tail_levels()
    assert bounds.above_level(Nats(0.0)) == bounds.above[0]


def test_secrets_too_rare_for_the_sample_are_out_of_scope():
    tally = Tally.of([0, 1, 2], [0, 0, 1], [600, 399, 1], (3, 2))
    bounds = sample_bounds(tally, 0.05)
    assert bounds.prior_proved[2] == 0.0
    assert bounds.prior_lower[2] == bounds.rarest
    assert bounds.most < 200


def test_sample_mode_reads():
    assert SampleMode("0.9").confidence == 0.9
