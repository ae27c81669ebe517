"""The exact envelope against bisection over scipy's HiGHS on the whole program, to the same tolerance.

Claims, on random channels with Dirichlet(0.3) rows at δ = 0.05 and 0.5: at least 20 times faster at 60×60 and 50
times at 200×200; 1000×1000 in under 10 s and 2 GB; a 200-point curve at 100×100 at most 40 times one point;
2 secrets × 2·10⁶ outcomes in under 5 s; 20 secrets × 200,000 sparse outcomes in under 60 s; 10⁶ secrets of randomised
response in under a second.
"""

import resource
import time

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, vstack

import tightlip as tl
from benchmarks.timing import best_times

DELTAS = (0.05, 0.5)


def release(secrets: int, outcomes: int, seed: int = 0) -> tuple[tl.Channel, tl.Prior]:
    generator = np.random.default_rng(seed)
    rows = generator.dirichlet(np.full(outcomes, 0.3), size=secrets)
    return tl.Channel(rows), tl.Prior(generator.dirichlet(np.full(secrets, 3.0)))


def seconds(run, *given) -> float:
    start = time.perf_counter()
    run(*given)
    return time.perf_counter() - start


def whole_program(rows: np.ndarray, q: np.ndarray, ratio: float) -> float:
    secrets, outcomes = rows.shape
    once = hstack([eye_array(outcomes)] * secrets)
    place = (np.repeat(np.arange(secrets), outcomes), np.arange(secrets * outcomes))
    ratios = csr_array(((ratio * q - rows).ravel(), place), shape=(secrets, secrets * outcomes))
    bounds = np.concatenate([np.ones(outcomes), np.zeros(secrets)])
    return -linprog(
        -np.tile(q, secrets), A_ub=vstack([once, ratios]).tocsr(), b_ub=bounds, method="highs"
    ).fun


def bisection(channel: tl.Channel, prior: tl.Prior, delta: float, solves: int | None = None) -> int:
    """Bisect to a relative 1e-9 (or only some steps, to time one); returns how many programs it takes in all."""
    rows, q = np.asarray(channel.matrix), prior.floats @ np.asarray(channel.matrix)
    low, high = 1.0, min(float((rows / q).max()), float(rows.max(0).sum()) / delta)
    needed = int(np.ceil(np.log2((high - low) / (1e-9 * low))))
    for _ in range(solves or needed):
        middle = (low + high) / 2
        low, high = (middle, high) if whole_program(rows, q, middle) >= delta else (low, middle)
    return needed


def against_scipy(size: int, solves: int | None) -> None:
    for delta in DELTAS:
        channel, prior = release(size, size)
        own = min(seconds(tl.envelope, channel, prior, delta) for _ in range(3))
        timed = seconds(bisection, channel, prior, delta, solves)
        scale = bisection(channel, prior, delta, 1) / solves if solves else 1.0
        note = f" (scipy extrapolated from {solves} of its programs)" if solves else ""
        print(
            f"envelope {size}×{size}, δ={delta}: {timed * scale / own:.0f} times as fast as scipy bisection{note}; "
            f"{own * 1e3:.0f} ms"
        )


def large() -> None:
    for delta in DELTAS:
        channel, prior = release(1000, 1000)
        print(
            f"envelope 1000×1000, δ={delta}: {seconds(tl.envelope, channel, prior, delta):.1f} s (claim: under 10 s)"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"  peak memory of this process so far: {peak:.2f} GB (claim: under 2 GB)")
    channel, prior = release(100, 100)
    points = {delta: lambda delta=delta: tl.envelope(channel, prior, delta) for delta in DELTAS}
    deltas = np.linspace(0.005, 0.995, 200)
    times = best_times(points | {"curve": lambda: tl.envelope_curve(channel, prior, deltas)}, 15)
    mean = sum(seconds(tl.envelope, channel, prior, delta) for delta in deltas) / len(deltas)
    ratios = ", ".join(f"{times['curve'] / times[delta]:.0f} times the one at δ={delta}" for delta in DELTAS)
    print(
        f"envelope curve of 200 points at 100×100: {times['curve']:.2f} s, {times['curve'] / mean:.0f} times the mean "
        f"of its points found alone, {ratios} (claim: at most 40)"
    )
    generator = np.random.default_rng(1)
    rows = generator.gamma(0.3, size=(2, 2_000_000)) + 1e-12
    two = tl.Channel(rows / rows.sum(axis=1, keepdims=True))
    print(
        f"envelope 2 secrets × 2·10⁶ outcomes: {seconds(tl.envelope, two, tl.Prior([0.4, 0.6]), 0.3):.1f} s "
        "(claim: under 5 s)"
    )


def _sparse_point(channel, delta, found) -> None:
    found.append(tl.envelope(channel, tl.Prior.uniform(20), delta))


def sparse() -> None:
    generator = np.random.default_rng(2)
    outcomes = 200_000
    secret = generator.integers(0, 20, size=4 * outcomes)
    place = np.tile(np.arange(outcomes), 4)
    counts = csr_array((generator.gamma(0.5, size=4 * outcomes), (secret, place)), shape=(20, outcomes))
    rows = csr_array(counts.multiply(1 / np.asarray(counts.sum(axis=1)).reshape(-1, 1)))
    channel = tl.Channel(rows)
    for delta in DELTAS:
        found = []
        taken = seconds(_sparse_point, channel, delta, found)
        print(
            f"envelope 20 × 200,000 sparse, δ={delta}: {taken:.0f} s, gap {found[0].gap:.1e} (claim: under 60 s)"
        )


def responses() -> None:
    draws = tl.Prior(np.random.default_rng(3).dirichlet(np.ones(10**6)))
    for name, prior in (("float", draws), ("uniform, exact", tl.Prior.uniform(10**6))):
        taken = seconds(tl.envelopes.randomized_response, prior, 3.0, 0.5)
        print(f"randomised response of 10⁶ secrets, {name} prior: {taken:.2f} s (claim: under 1 s)")


def main() -> None:
    against_scipy(60, None)
    against_scipy(200, 3)
    large()
    sparse()
    responses()
    for secrets, outcomes in ((50, 50), (100, 100), (200, 200), (400, 400), (50, 400), (400, 50)):
        channel, prior = release(secrets, outcomes)
        print(
            f"  growth: {secrets}×{outcomes} takes {seconds(tl.envelope, channel, prior, 0.5) * 1e3:.0f} ms"
        )


if __name__ == "__main__":
    main()
