"""Ctrl-C in the middle of a solver's call: it ends soon, with the best so far and its proof."""

import signal
import subprocess
import sys
import time

import pytest

# A factorisation of this program takes minutes, and the solver does not look up while it lasts.
BUSY = """
import time
import numpy as np
from tightlip.numeric.linear_program import {name}
random = np.random.default_rng(0)
matrix = random.random((2500, 5000))
print("busy", flush=True)
try:
    {name}(-random.random(5000), matrix, np.full(2500, 9.0), seconds=600{more})
except KeyboardInterrupt:
    print("left", flush=True)
"""
PROTECT = """
import numpy as np
import pandas as pd
import tightlip as tl
random = np.random.default_rng(0)
rows = 4_000
table = pd.DataFrame(
    {"age": random.integers(0, 90, rows), "town": random.integers(10, 60, rows), "ill": random.geometric(0.4, rows)}
)
levels = {"age": ["as is", 2, 10, 30, "out"], "town": ["as is", 5, 20, "out"]}
def told(stage, kept, bound):
    print("busy", flush=True)
found = tl.protect(table, "ill", ["age", "town"], "factor 2", levels=levels, seconds=600, on_progress=told)
found.verify()
print("proved", found.finished, 0 < found.kept <= found.bound)
"""


def interrupted(program):
    """Start a program, interrupt it once it is busy, and wait: what it wrote, its errors, and the seconds it took."""
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "busy\n"
        time.sleep(1)
        child.send_signal(signal.SIGINT)
        begun = time.monotonic()
        out, err = child.communicate(timeout=100)
        return out, err, time.monotonic() - begun
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("minimise", ""),
        ("interior_point", ""),
        ("integer_program", ", equal=0, start=np.zeros(5000), gap=0.0"),
    ],
)
def test_a_call_ends_soon(name, more):
    out, err, seconds = interrupted(BUSY.format(name=name, more=more))
    assert (out, err) == ("left\n", "")
    assert seconds < 20  # of the 600 it was given; about 1 where the machine has nothing else to do


def test_the_best_so_far_is_proved():
    out, err, _ = interrupted(PROTECT)
    assert out.splitlines()[-1] == "proved False True"
    assert err == ""
