"""The Dobrushin coefficient against a pairwise Python loop and scipy's pdist.

Claims, on dense random channels: 2000×2000 at least 20 times faster than a loop over pairs in plain Python and at
most 3 times the time of scipy's pdist(…, "cityblock"), which returns numbers without error bounds; 5000×500 within
20 MB on top of the channel, where pdist holds 100 MB. A loop with numpy inside is printed too, without a claim.
"""

import time
import tracemalloc

import numpy as np
from scipy.spatial.distance import pdist

from benchmarks.timing import best_times
from tightlip import Channel
from tightlip.contraction.coefficients import chi_squared_contraction, dobrushin

LOOP_PAIRS = 20_000


def channel(secrets: int, outcomes: int) -> Channel:
    return Channel(np.random.default_rng(0).dirichlet(np.ones(outcomes), size=secrets))


def loop_seconds(rows: np.ndarray, pairs: int) -> float:
    """What the loop over all pairs takes, extrapolated from some of them."""
    generator = np.random.default_rng(1)
    chosen = generator.integers(0, len(rows), size=(pairs, 2)).tolist()
    start, worst = time.perf_counter(), 0.0
    for one, two in chosen:
        worst = max(worst, 0.5 * float(np.abs(rows[one] - rows[two]).sum()))
    return (time.perf_counter() - start) * len(rows) * (len(rows) - 1) / 2 / pairs


def plain_loop_seconds(rows: np.ndarray, pairs: int) -> float:
    """The same without numpy."""
    lists = [row.tolist() for row in rows[:40]]
    start = time.perf_counter()
    for place in range(pairs):
        one, two = lists[place % 40], lists[place * 7 % 40]
        0.5 * sum(abs(a - b) for a, b in zip(one, two, strict=True))
    return (time.perf_counter() - start) * len(rows) * (len(rows) - 1) / 2 / pairs


def against_others(size: int) -> None:
    given = channel(size, size)
    rows = np.asarray(given.matrix)
    times = best_times(
        {"tightlip": lambda: dobrushin(given), "pdist": lambda: pdist(rows, "cityblock").max() / 2}, rounds=3
    )
    own = times["tightlip"]
    print(f"dobrushin {size}×{size}: {own / times['pdist']:.2f} times scipy's pdist (claim: at most 3)")
    print(
        f"  {plain_loop_seconds(rows, 200) / own:.0f} times as fast as the pairwise Python loop (claim: at least 20), "
        f"{loop_seconds(rows, LOOP_PAIRS) / own:.1f} times with numpy inside the loop; {own:.2f} s"
    )


def memory() -> None:
    given = channel(5000, 500)
    tracemalloc.start()
    found = dobrushin(given)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    print(
        f"dobrushin 5000×500: {peak:.1f} MB on top of the channel (claim: at most 20), "
        f"gap {found.upper - found.lower:.1e}"
    )


def growth() -> None:
    for secrets, outcomes in ((250, 250), (500, 500), (1000, 1000), (250, 4000), (4000, 250)):
        given = channel(secrets, outcomes)
        start = time.perf_counter()
        dobrushin(given)
        middle = time.perf_counter()
        found = chi_squared_contraction(given)
        end = time.perf_counter()
        print(
            f"  growth: {secrets}×{outcomes} TV {middle - start:.2f} s; "
            f"χ² over all inputs {end - middle:.2f} s, gap {found.upper - found.lower:.1e}"
        )


def main() -> None:
    against_others(2000)
    memory()
    growth()


if __name__ == "__main__":
    main()
