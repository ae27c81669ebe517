"""Releasing the Adult table by quantization, against plain numpy that counts and draws the same histogram.

Claim: the release of all 48,842 rows, from columns in memory to a drawn table, takes under a second.
Set TIGHTLIP_ADULT to the folder with adult.data and adult.test; without it a random table of the same size is used.
"""

import os
from pathlib import Path

import numpy as np

from benchmarks.timing import best_times
from tightlip.histogram.release import release_histogram
from tightlip.histogram.secret import Share

NAMES = [
    *("age", "workclass", "fnlwgt", "education", "education-num"),
    *("marital-status", "occupation", "relationship", "race", "sex"),
    *("capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
]
FEW = ["workclass", "education", "race", "sex", "income"]
ALL = [name for name in NAMES if name != "fnlwgt"]
BIN = 1000


def adult() -> dict[str, list[str]]:
    folder = os.environ.get("TIGHTLIP_ADULT")
    if not folder:
        generator = np.random.default_rng(0)
        columns = {name: generator.integers(0, 8, 48842).astype(str).tolist() for name in NAMES}
        return columns | {"income": np.where(generator.random(48842) < 0.24, ">50K", "<=50K").tolist()}
    rows = []
    for name in ("adult.data", "adult.test"):
        for line in Path(folder, name).read_text().splitlines():
            if line and not line.startswith("|"):
                rows.append([value.strip() for value in line.removesuffix(".").split(",")])
    return dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True))


def own(table: dict[str, list[str]], columns: list[str]) -> object:
    return release_histogram(table, columns, Share({"income": ">50K"}), bin_size=BIN, feasible="observed")


def plain(table: dict[str, list[str]], columns: list[str]) -> object:
    """The same with numpy: unique rows, a secret, and stars and bars by numpy's (not cryptographic) generator."""
    rows = np.stack([np.asarray(table[name]) for name in columns], axis=1)
    codes = np.stack([np.unique(column, return_inverse=True)[1] for column in rows.T], axis=1)
    cells, counts = np.unique(codes, axis=0, return_counts=True)
    rich = cells[:, columns.index("income")] == 1
    middle = counts[rich].sum() // BIN * BIN + BIN // 2
    generator = np.random.default_rng()
    drawn = np.zeros(len(cells), dtype=np.int64)
    for members, total in ((rich, middle), (~rich, len(rows) - middle)):
        slots = total + members.sum() - 1
        bars = np.sort(generator.choice(slots, members.sum() - 1, replace=False))
        drawn[members] = np.diff(bars, prepend=-1, append=slots) - 1
    return drawn


def main() -> None:
    table = adult()
    for label, columns in (("5 columns", FEW), ("14 columns", ALL)):
        times = best_times(
            {"own": lambda c=columns: own(table, c), "plain": lambda c=columns: plain(table, c)}, 3
        )
        print(
            f"QM release of {len(table['income'])} rows, {label}, combinations seen: {times['own']:.2f} s "
            f"(claim: under 1 s), {times['plain'] / times['own']:.1f} times as fast as plain numpy"
        )


if __name__ == "__main__":
    main()
