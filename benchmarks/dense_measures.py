"""PML, PMC, maximal leakage, LDP and ALIP of a dense 4000×4000 channel against three numpy passes.

Claim: within 4 times K.max(0), K.min(0) and p @ K together, holding at most two extra copies of the matrix.
"""

import subprocess
import sys

import numpy as np

import tightlip as tl
from benchmarks.timing import Fresh, best_times

SIZE = 4000


def channel_and_prior(size: int) -> tuple[tl.Channel, tl.Prior]:
    generator = np.random.default_rng(1)
    rows = generator.random((size, size)) + 1e-3
    rows /= rows.sum(axis=1, keepdims=True)
    masses = generator.random(size) + 0.1
    return tl.Channel(rows), tl.Prior(masses / masses.sum())


def all_measures(channel: tl.Channel, prior: tl.Prior) -> tuple[float, ...]:
    return (
        tl.pml(channel, prior).worst,
        tl.pmc(channel, prior).worst,
        tl.maximal_leakage(channel),
        tl.ldp(channel),
        *tl.alip(channel, prior),
    )


def extra_copies() -> float:
    """Peak memory of a fresh process, above what it held with the channel built, in copies of the matrix."""
    program = (
        "from benchmarks.dense_measures import *\n"
        "channel, prior = channel_and_prior(SIZE); import gc; gc.collect()\n"
        "import tracemalloc; tracemalloc.start(); all_measures(channel, prior)\n"
        "print(tracemalloc.get_traced_memory()[1] / channel.matrix.nbytes)"
    )
    return float(
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    )


def main() -> None:
    channel, prior = channel_and_prior(SIZE)
    matrix, masses = np.asarray(channel.matrix), prior.floats
    times = best_times(
        {
            "numpy": lambda: (matrix.max(0), matrix.min(0), masses @ matrix),
            "tightlip": Fresh(lambda: tl.Channel(matrix), lambda fresh: all_measures(fresh, prior)),
        }
    )
    print(
        f"dense {SIZE}×{SIZE}, five measures: {times['tightlip'] / times['numpy']:.2f} times numpy's three passes"
    )
    print(f"  (claim: at most 4) {times['tightlip'] * 1e3:.0f} ms against {times['numpy'] * 1e3:.0f} ms")
    print(f"  extra memory: {extra_copies():.2f} copies of the matrix (claim: at most 2)")
    for size in (500, 1000, 2000, 4000):
        grown, grown_prior = channel_and_prior(size)
        fresh = Fresh(lambda c=grown: tl.Channel(c.matrix), lambda c, p=grown_prior: all_measures(c, p))
        seconds = best_times({"tightlip": fresh})["tightlip"]
        print(f"  growth: {size}×{size} takes {seconds * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
