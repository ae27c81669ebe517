"""All measures and the envelope of a counted table with 10⁵ cells and 20 secrets, and how time grows.

Claim: under 30 s at 10⁵ cells × 20 secrets, for a table of 10⁶ rows (most cells small, secrets unevenly spread over
them) and for one of 2·10⁷ rows (most pairs occur). Nothing is asked of an engine here: counts in, views out.
"""

import sys
import time
from fractions import Fraction

import numpy as np

import tightlip as tl
from tightlip.auditing.counted import Counted
from tightlip.auditing.envelope import tally_envelope
from tightlip.auditing.leakage import cell_pmc, cell_pml, local_privacy_of, maximal_leakage_of
from tightlip.auditing.run import worst_leakage
from tightlip.auditing.tally import Tally

DELTA = Fraction(1, 100)


def counted(cells: int, secrets: int, rows: int, seed: int = 0) -> Counted:
    """A table with three released columns; each cell has its own distribution of the secret."""
    generator = np.random.default_rng(seed)
    shares = generator.dirichlet(np.full(cells, 0.5))
    usual = generator.dirichlet(np.ones(secrets))
    sizes = np.maximum(generator.multinomial(rows, shares), 1)
    own = generator.dirichlet(np.maximum(usual, 1e-3) * 8, size=cells)
    counts = generator.multinomial(sizes, own / own.sum(axis=1, keepdims=True)).T
    counts = counts[counts.sum(axis=1) > 0]
    secret, cell = np.nonzero(counts)
    tally = Tally.of(secret, cell, counts[secret, cell], counts.shape)
    width = round(cells ** (1 / 3)) + 1
    codes = np.stack(np.unravel_index(np.arange(cells), (width, width, width)), axis=1).astype(np.int64)
    values = tuple(tuple(map(str, range(width))) for _ in range(3))
    names = np.arange(counts.shape[0], dtype=np.int64)[:, None]
    return Counted(("a", "b", "c"), values, codes, ("s",), (tuple(map(str, names[:, 0])),), names, tally)


def measure(table: Counted) -> dict[str, float]:
    """Seconds for each part."""
    marks = [time.perf_counter()]

    def done() -> None:
        marks.append(time.perf_counter())

    gain, cost = cell_pml(table.tally), cell_pmc(table.tally)
    gain.worst_first(20)
    done()
    local_privacy_of(gain, cost)
    maximal_leakage_of(gain)
    [gain.tail(tl.log_of(ratio)) for ratio in ("1", "3/2", "2", "5", "10", "20", "50", "100")]
    done()
    for column in table.columns:
        worst_leakage(table.select([column]))
        worst_leakage(table.select([other for other in table.columns if other != column]))
    done()
    found, _ = tally_envelope(table.tally, DELTA)
    done()
    parts = dict(zip(("cells", "tails", "columns", "envelope"), np.diff(marks).tolist(), strict=True))
    return {**parts, "gap": found.gap}


def report(cells: int, secrets: int, rows: int) -> None:
    table = counted(cells, secrets, rows)
    parts = measure(table)
    gap = parts.pop("gap")
    shown = ", ".join(f"{name} {seconds:.2f}" for name, seconds in parts.items())
    print(
        f"audit {cells} cells × {secrets} secrets, {rows} rows, {len(table.tally.count)} pairs: "
        f"{sum(parts.values()):.1f} s ({shown}); envelope gap {gap:.1e} nats"
    )


def main(scale: int = 1) -> None:
    for rows in (10**6 // scale, 2 * 10**7 // scale):
        report(10**5 // scale, 20, rows)
    print("growth with cells, then with secrets:")
    for cells in (10**3, 10**4, 3 * 10**4):
        report(cells // scale + 10, 20, 10 * cells)
    for secrets in (2, 5, 10, 40):
        report(10**4 // scale, secrets, 10**5)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
