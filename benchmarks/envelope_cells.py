"""Envelopes of tables with very many kinds of cells, or of secrets: time, peak memory and the gap that is left.

Claim: 10⁶ kinds of cells with 10 secrets take about 20 s and less than 2 GB, 5·10⁶ secrets over 100 cells seconds;
the ends meet in all of them. Each table is measured in a process of its own, so that memory is its own too.

    python -m benchmarks.envelope_cells               all of them
    python -m benchmarks.envelope_cells 100000 5      cells and secrets of one
"""

import resource
import subprocess
import sys
import time
from fractions import Fraction

import numpy as np

from tightlip.auditing.envelope import tally_envelope
from tightlip.auditing.tally import Tally

DELTA = Fraction(1, 100)
CELLS, SECRETS = (10**4, 10**5, 10**6), (2, 5, 10)
MANY_SECRETS = ((100, 5_000_000), (1_000, 100_000))


def many_cells(cells: int, secrets: int) -> Tally:
    """Cells of some thousand people, each with its own distribution of the secret: hardly two are proportional."""
    generator = np.random.default_rng(0)
    usual = generator.dirichlet(np.ones(secrets))
    own = generator.dirichlet(np.maximum(usual, 1e-2) * 8, size=cells)
    sizes = generator.integers(1, 10**4 if secrets > 2 else 10**7, cells)
    counts = generator.multinomial(sizes, own / own.sum(axis=1, keepdims=True))
    cell, secret = np.nonzero(counts)
    return Tally.of(secret, cell, counts[cell, secret], (secrets, cells))


def many_secrets(cells: int, secrets: int) -> Tally:
    """A fifth more people than secrets, in cells of uneven size: most secrets occur once."""
    generator = np.random.default_rng(0)
    people = secrets + secrets // 5
    secret = np.concatenate([np.arange(secrets), generator.integers(0, secrets, people - secrets)])
    cell = generator.choice(cells, people, p=generator.dirichlet(np.ones(cells)))
    cell[:cells] = np.arange(cells)
    return Tally.of(secret, cell, np.ones(people, dtype=np.int64), (secrets, cells))


def measure(cells: int, secrets: int) -> str:
    """Say how one envelope went; peak memory includes the table and how it was made."""
    tally = (many_secrets if secrets > cells else many_cells)(cells, secrets)
    wall, used = time.perf_counter(), time.process_time()
    found, attack = tally_envelope(tally, DELTA)
    wall, used = time.perf_counter() - wall, time.process_time() - used
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return (
        f"envelope of {cells} cells × {secrets} secrets, {len(tally.count)} pairs: {wall:.1f} s ({used:.1f} s of a "
        f"core), {memory:.2f} GB, gap {found.gap:.1e} nats, {len(attack)} groups, "
        f"{'without' if found.certificate is None else 'with'} certificate"
    )


def main() -> None:
    for cells, secrets in (*((cells, secrets) for cells in CELLS for secrets in SECRETS), *MANY_SECRETS):
        command = [sys.executable, "-m", "benchmarks.envelope_cells", str(cells), str(secrets)]
        print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        print(measure(int(sys.argv[1]), int(sys.argv[2])))
    else:
        main()
