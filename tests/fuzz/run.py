"""Attack every reader of files for a given time: `make fuzz`, or `python -m fuzz.run --seconds 600` in tests/.

Every case is a target and a seed, so that `--target csv --seed 7` makes it again. Cases run in a process of their own,
which may be killed by an engine that is not safe from damaged files: such an end is told, and is no wrong answer.
"""

import argparse
import multiprocessing
import signal
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from random import Random

from fuzz.certificates import fuzz_certificate
from fuzz.releases import fuzz_receipt, fuzz_release
from fuzz.tables import fuzz_csv, fuzz_duckdb, fuzz_parquet, fuzz_sqlite, fuzz_statistics, fuzz_workbook
from fuzz.texts import fuzz_channel, fuzz_policy

TARGETS = {
    "csv": fuzz_csv,
    "parquet": fuzz_parquet,
    "duckdb": fuzz_duckdb,
    "sqlite": fuzz_sqlite,
    "workbook": fuzz_workbook,
    "statistics": fuzz_statistics,
    "policy": fuzz_policy,
    "certificate": fuzz_certificate,
    "release": fuzz_release,
    "receipt": fuzz_receipt,
    "channel": fuzz_channel,
}
# seconds that one case may take: less, and a busy machine would be called a fault
_LONGEST = 60
# cases between two looks at the clock: fewer, and starting processes takes most of the time
_BATCH = 50


def attack(target, seeds):
    """Run the cases of some seeds; returns what went wrong by seed, and the seeds at which the process was killed."""
    wrong, crashed, left = {}, [], list(seeds)
    context = multiprocessing.get_context("forkserver")
    while left:
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_cases, args=(theirs, target, left))
        process.start()
        theirs.close()
        done = 0
        with ours:
            try:
                while done < len(left):
                    fault = ours.recv()
                    if fault:
                        wrong[left[done]] = fault
                    done += 1
            except EOFError:
                pass
        process.join()
        if done < len(left):
            late = process.exitcode == -signal.SIGALRM
            crashed.append(left[done])
            if late:
                wrong[left[done]] = f"took more than {_LONGEST} s"
        process.close()
        left = left[done + 1 :]
    return wrong, crashed


def _cases(pipe, target, seeds):
    """Send for each seed what went wrong, or None."""
    warnings.simplefilter("ignore")
    for seed in seeds:
        signal.alarm(_LONGEST)
        with tempfile.TemporaryDirectory() as folder:
            try:
                TARGETS[target](Random(f"{target}-{seed}"), Path(folder))
                pipe.send(None)
            except Exception:
                pipe.send(traceback.format_exc())
        signal.alarm(0)


def main():
    """Attack until the time is over; the exit status is 1 if any answer was wrong."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=120)
    options.add_argument("--target", choices=TARGETS, action="append")
    options.add_argument("--seed", type=int, help="run this one case; otherwise seeds go on from the clock")
    given = options.parse_args()
    targets, failed = given.target or list(TARGETS), 0
    if given.seed is not None:
        return max(_tell(target, attack(target, [given.seed]), 1) for target in targets)
    end, seed = time.monotonic() + given.seconds, time.time_ns()
    while time.monotonic() < end:
        for target in targets:
            failed |= _tell(target, attack(target, range(seed, seed + _BATCH)), _BATCH)
        seed += _BATCH
    return failed


def _tell(target, found, cases):
    wrong, crashed = found
    sys.stdout.write(f"{target}: {cases} cases, {len(wrong)} wrong, {len(crashed)} ended the process\n")
    for seed, fault in wrong.items():
        sys.stdout.write(f"--- {target}, seed {seed}\n{fault}\n")
    sys.stdout.flush()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
