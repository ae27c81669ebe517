"""Audits of large tables, against the bare grouped count in DuckDB that any audit needs.

Claims, everything but remedies:
    5·10⁶ rows, 10⁶ cells, one secret column      within 3 times the bare count plus 5 s, under 3 GB
    10⁶ rows, all distinct                        the same
    5·10⁶ rows, 100 cells, ten secret columns     under 30 s
    10⁸ rows of Parquet, 10⁷ cells                completes under 8 GB (`python -m benchmarks.audit_size large`)

Each audit is run in a process of its own, so that its peak of memory is its own too.
"""

import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path

import duckdb

CASES = {
    "5·10⁶ rows, 10⁶ cells": (
        "SELECT (random() * 999)::INT AS a, (random() * 99)::INT AS b, (random() * 9)::INT AS c, "
        "CASE WHEN random() < 0.06 THEN 1 ELSE 2 END AS s FROM range(5000000)",
        ["s"],
        ["a", "b", "c"],
    ),
    "10⁶ rows, all distinct": (
        "SELECT i AS id, (random() * 20000)::INT AS b, CASE WHEN random() < 0.06 THEN 1 ELSE 2 END AS s "
        "FROM range(1000000) t(i)",
        ["s"],
        ["id", "b"],
    ),
    "5·10⁶ rows, 100 cells, ten secrets": (
        "SELECT (random() * 9)::INT AS a, (random() * 9)::INT AS b, "
        + ", ".join(f"(random() * {place})::INT AS s{place}" for place in range(2, 12))
        + " FROM range(5000000)",
        [f"s{place}" for place in range(2, 12)],
        ["a", "b"],
    ),
}
LARGE = {
    "10⁸ rows, 10⁷ cells": (
        "SELECT (random() * 999)::INT AS a, (random() * 99)::INT AS b, (random() * 99)::INT AS c, "
        "CASE WHEN random() < 0.06 THEN 1 ELSE 2 END AS s FROM range(100000000)",
        ["s"],
        ["a", "b", "c"],
    ),
}


def bare(path, secrets, released):
    """Count by each secret column and the released ones, and bring the counts to Python."""
    started = time.perf_counter()
    with duckdb.connect() as connection:
        for secret in secrets:
            names = ", ".join([secret, *released])
            connection.execute(f"SELECT {names}, COUNT(*) FROM read_parquet(?) GROUP BY ALL", [str(path)])
            connection.fetchmany(1)
    return time.perf_counter() - started


def audited(path, secrets, released, answer):
    import tightlip as tl

    started = time.perf_counter()
    found = tl.audit(path, secrets, released, budget="3x", skip="remedies")
    cells = int(found.deciding.counted.tally.cells.sum())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    answer.put((time.perf_counter() - started, cells, peak))


def measure(name, query, secrets, released, folder):
    path = folder / "table.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT PARQUET)")
    plain = min(bare(path, secrets, released) for _ in range(2))
    context = multiprocessing.get_context("spawn")
    answer = context.Queue()
    process = context.Process(target=audited, args=(str(path), secrets, released, answer))
    process.start()
    seconds, cells, peak = answer.get()
    process.join()
    allowed = 3 * plain + 5
    print(
        f"  {name}: {cells:,} cells, audit {seconds:.1f} s, bare count {plain:.1f} s "
        f"({seconds / allowed:.2f} of 3 times that plus 5 s), {peak:.1f} GB"
    )


def main() -> None:
    print("audit: large tables, everything but remedies")
    for name, case in (LARGE if sys.argv[1:] == ["large"] else CASES).items():
        with tempfile.TemporaryDirectory() as folder:
            measure(name, *case, Path(folder))


if __name__ == "__main__":
    main()
