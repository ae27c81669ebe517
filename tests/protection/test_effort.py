"""Effort is counted, not timed: a busy machine finds the same release."""

import subprocess
import sys

import numpy as np
import pandas as pd

import tightlip as tl
from tightlip.protection.clock import Deadline, Effort

LEVELS = {"age": ["as is", 2, 10, 30, "out"], "town": ["as is", 5, 20, "out"]}


def found():
    random = np.random.default_rng(0)
    rows = 1_500
    table = pd.DataFrame(
        {
            "age": random.integers(0, 90, rows),
            "town": random.integers(10, 40, rows),
            "ill": random.geometric(0.4, rows),
        }
    )
    return tl.protect(table, "ill", ["age", "town"], "factor 2", levels=LEVELS, seconds=0.1)


def test_a_busy_machine_finds_the_same_release():
    alone = found()
    assert not alone.finished  # otherwise nothing was stopped that the clock could have moved
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        beside = found()
    finally:
        for one in busy:
            one.kill()
            one.wait()
    assert beside.kept == alone.kept
    assert np.array_equal(beside.kernel.value, alone.kernel.value)


def test_effort_is_spent_by_looks_and_ends_at_the_latest_by_the_clock():
    effort = Effort(2.0, Deadline.after(60))
    most = effort.looks(1_000, 1.0)
    assert effort.looks(1_000, 5.0) == effort.looks(1_000, 2.0) > most >= 1
    effort.spend(most, 1_000)
    assert 0.9 < effort.left() < 1.1
    effort.spend(3 * most, 1_000)
    assert effort.left() < 0
    assert Effort(2.0, Deadline.after(-1)).left() == 0
