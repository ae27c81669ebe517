"""Counting a Parquet table by secret and released columns, against the bare grouped count in DuckDB.

Claim: at most twice the bare count plus one second of start-up, and under 2 GB of memory, at 10^7 rows and 5 columns.
The number of rows is the argument, 10^6 without one: `python -m benchmarks.audit_counting 10000000`.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet

from benchmarks.timing import best_times
from tightlip.table.counts import count_cells
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import Bins
from tightlip.table.source import open_table

RELEASED = ["age", "sex", "zip", "job"]
KEPT = Policy("disease", RELEASED)
PLANNED = Policy("disease", [Released("age", Bins(width=10)), "sex", "zip", "job"])
CHUNK = 1_000_000


def write_table(path: Path, rows: int) -> None:
    generator = np.random.default_rng(0)
    texts = {
        "sex": ["f", "m"],
        "zip": [f"{z:05d}" for z in range(50)],
        "job": [f"job {j}" for j in range(10)],
    }
    diseases = [f"disease {d}" for d in range(20)]
    writer = None
    for start in range(0, rows, CHUNK):
        size = min(CHUNK, rows - start)
        columns = {"age": generator.integers(0, 90, size)}
        for name, values in (texts | {"disease": diseases}).items():
            columns[name] = pa.array(values).take(pa.array(generator.integers(0, len(values), size)))
        chunk = pa.table(columns)
        writer = writer or pyarrow.parquet.ParquetWriter(path, chunk.schema)
        writer.write_table(chunk)
    writer.close()


def bare(path: Path) -> object:
    names = ", ".join(["disease", *RELEASED])
    query = f"SELECT {names}, COUNT(*) FROM read_parquet(?) GROUP BY ALL"
    with duckdb.connect() as connection:
        return connection.execute(query, [str(path)]).to_arrow_table()


def own(path: Path, policy: Policy) -> object:
    with open_table(path) as table:
        return count_cells(table, policy)


def measured(path: Path) -> tuple[float, dict[str, float]]:
    """Seconds of the first call, and of the best of each kind."""
    start = time.perf_counter()
    own(path, KEPT)
    first = time.perf_counter() - start
    contenders = {
        "bare": lambda: bare(path),
        "kept": lambda: own(path, KEPT),
        "bins": lambda: own(path, PLANNED),
    }
    return first, best_times(contenders, 3)


def main() -> None:
    most = int(sys.argv[1]) if __name__ == "__main__" and len(sys.argv) > 1 else 10**6
    with tempfile.TemporaryDirectory() as folder:
        for rows in (most // 100, most // 10, most):
            path = Path(folder) / f"people{rows}.parquet"
            write_table(path, rows)
            first, times = measured(path)
            ratios = {name: times[name] / times["bare"] for name in ("kept", "bins")}
            print(
                f"counting {rows:,} rows × 5 columns of Parquet: bare DuckDB count {times['bare']:.2f} s; columns as "
                f"they are {times['kept']:.2f} s ({ratios['kept']:.1f} times), age in bins {times['bins']:.2f} s "
                f"({ratios['bins']:.1f} times); first call {first:.2f} s"
            )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"  peak memory of this process so far: {memory:.2f} GB (claim: under 2 GB)")


if __name__ == "__main__":
    main()
