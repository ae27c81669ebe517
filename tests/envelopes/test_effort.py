"""A search that is stopped, by the clock or by the work it may do, leaves ends that hold."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import tightlip as tl
from tightlip.envelopes.exact import envelope_points
from tightlip.envelopes.limits import LIMITS, Effort
from tightlip.numeric.deadline import Deadline

GROUPED = replace(LIMITS, aggregated_outcomes=20, aggregated_per_secret=2)


def release(seed, secrets=6, outcomes=60):
    generator = np.random.default_rng(seed)
    rows = generator.dirichlet(np.full(outcomes, 0.3), secrets)
    return tl.Channel(rows), tl.Prior(generator.dirichlet(np.full(secrets, 3.0)))


def stopped(pair, delta, limits=LIMITS, until=None):
    until = Deadline() if until is None else until
    return next(envelope_points(*pair, [Fraction(delta)], limits=limits, until=until))


@pytest.mark.parametrize("limits", [LIMITS, GROUPED])
@pytest.mark.parametrize("delta", ["1/50", "3/10", "9/10"])
def test_without_any_time_there_are_closed_forms(limits, delta):
    pair = release(3)
    exact = tl.envelope(*pair, delta)
    found = stopped(pair, delta, limits, Deadline.after(0))
    found.verify()
    assert found.solves == 0
    assert found.method.startswith("closed forms; the ends could not be brought closer")
    assert found.method.endswith("since the time was used up")
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper
    known = tl.envelopes.bounds(*pair, delta)
    assert found.upper == pytest.approx(known.tail_mean, rel=1e-9)
    assert found.lower >= known.quantile - 1e-9


@pytest.mark.parametrize("limits", [LIMITS, GROUPED])
@pytest.mark.parametrize("work", [1e-5, 1e-3, 1e-2, 3e-2])
def test_work_that_is_used_up_leaves_ends_that_hold_and_is_the_same_again(limits, work):
    pair = release(5)
    exact = tl.envelope(*pair, "3/10")
    found = stopped(pair, "3/10", replace(limits, pivot_work=work))
    found.verify()
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper
    again = stopped(pair, "3/10", replace(limits, pivot_work=work))
    assert (found.lower, found.upper, found.method) == (again.lower, again.upper, again.method)
    if not found.exact:
        assert "since the work allowed for one search was used up" in found.method


def test_more_work_never_loosens_the_ends_of_a_search():
    pair = release(7)
    gaps = [stopped(pair, "1/5", replace(LIMITS, pivot_work=work)).gap for work in (1e-5, 1e-2, 1e-1, 2e3)]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[0] > 1e-2
    assert gaps[-1] < 4e-9


def test_a_clock_that_ends_a_solve_is_told_from_a_solver_that_fails():
    pair = release(1, secrets=40, outcomes=400)
    exact = tl.envelope(*pair, "1/2")
    for seconds in (1e-4, 3e-3, 1e-2):
        found = stopped(pair, "1/2", until=Deadline.after(seconds))
        found.verify()
        assert found.lower <= exact.upper
        assert exact.lower <= found.upper


def test_effort_counts_pivots_by_rows():
    effort = Effort(replace(LIMITS, pivot_work=1.0))
    assert effort.pivots(1000) == 1000
    effort.spend(999, 1000)
    assert effort.pivots(1000) == 1
    assert not effort.ended_by
    effort.spend(0, 1000)
    assert effort.pivots(1000) == 0
    assert effort.ended_by == "the work allowed for one search was used up"
    assert Effort(until=Deadline.after(-1)).ended_by == "the time was used up"
