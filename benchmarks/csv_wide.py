"""Auditing two columns of a wide CSV file, against the same two columns in a file of their own.

Claim: at most twice the time of the two alone, plus the time that DuckDB takes to read the wide file once and count its
rows by the two. Every byte of the file is checked all the same. Rows and columns are the arguments, 20 000 and 1 000
without: `python -m benchmarks.csv_wide 50000 2000`.
"""

import resource
import sys
import tempfile
from pathlib import Path

import duckdb
import numpy as np

from benchmarks.timing import best_times
from tightlip.auditing.run import audit


def write_files(folder: Path, rows: int, columns: int) -> tuple[Path, Path]:
    """The wide file, and one of its first two columns."""
    generator = np.random.default_rng(0)
    wide, alone = folder / "wide.csv", folder / "alone.csv"
    with wide.open("w") as all_of_it, alone.open("w") as two_of_it:
        names = ["ill", "age", *(f"x{place}" for place in range(2, columns))]
        for _ in range(rows + 1):
            all_of_it.write(",".join(names) + "\n")
            two_of_it.write(",".join(names[:2]) + "\n")
            names = [str(value) for value in generator.integers(0, 100, columns)]
    return wide, alone


def bare(path: Path, columns: int) -> object:
    """What DuckDB needs when it is told all that it would have to guess."""
    types = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(columns))
    options = f"auto_detect = false, header = true, delim = ',', quote = '\"', columns = {{{types}}}"
    with duckdb.connect() as connection:
        query = f"SELECT c0, c1, COUNT(*) FROM read_csv(?, {options}) GROUP BY ALL"
        return connection.execute(query, [str(path)]).fetchall()


def main() -> None:
    given = sys.argv[1:] if __name__ == "__main__" else []
    rows, columns = map(int, given or ("20000", "1000"))
    with tempfile.TemporaryDirectory() as folder:
        wide, alone = write_files(Path(folder), rows, columns)
        times = best_times(
            {
                "alone": lambda: audit(alone, "ill", ["age"]),
                "wide": lambda: audit(wide, "ill", ["age"]),
                "bare": lambda: bare(wide, columns),
            },
            3,
        )
        size = wide.stat().st_size / 1e6
    allowed = 2 * times["alone"] + times["bare"]
    print(
        f"auditing 2 of {columns:,} CSV columns, {rows:,} rows, {size:.0f} MB: {times['wide']:.2f} s; the two alone "
        f"{times['alone']:.2f} s, one bare DuckDB count of the wide file {times['bare']:.2f} s; "
        f"{times['wide'] / allowed:.2f} times what is allowed (claim: at most 1)"
    )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"  peak memory of this process so far: {memory:.2f} GB")


if __name__ == "__main__":
    main()
