"""`import tightlip` against `import numpy`, each in fresh processes.

Claim: within 1.5 times, and without scipy.optimize, a table engine or a plotting library.
"""

import subprocess
import sys

from benchmarks.timing import best_times

HEAVY = (
    "scipy.optimize",
    "ibis",
    "duckdb",
    "pyspark",
    "pandas",
    "altair",
    "matplotlib",
    "highspy",
    "rich",
    "typer",
)
USE = "import tightlip as tl; tl.Channel, tl.Prior, tl.pml"


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def main() -> None:
    times = best_times(
        {
            "start": lambda: run("pass"),
            "numpy": lambda: run("import numpy"),
            "tightlip": lambda: run("import tightlip"),
            "tightlip in use": lambda: run(USE),
        },
        rounds=15,
    )
    bare = times["start"]
    for name in ("tightlip", "tightlip in use"):
        ratio = (times[name] - bare) / (times["numpy"] - bare)
        print(
            f"import {name}: {ratio:.2f} times import numpy, interpreter start taken off (claim: at most 1.5)"
        )
    loaded = run(f"{USE}; import sys; print([name for name in {HEAVY!r} if name in sys.modules])").strip()
    print(f"  heavy libraries loaded: {loaded} (claim: none)")


if __name__ == "__main__":
    main()
