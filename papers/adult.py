"""SML VI-D on the Adult table: releases by quantization, and random forests trained on them.

A release depends on the table through its bin alone: its group counts (white and high income, white and not, …) have
the law of uniform histograms whose secret is the bin's middle value, and the cells of each group share them uniformly.
The group counts are drawn here from that law summed in floats, for many draws at once; `plan_release` draws them by
chains, at 20 s each. The seeds are fixed, so these draws are for the figures and protect nobody.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.histogram import Except, RatioDifference, tabulate
from tightlip.histogram.scale import grid_scale
from tightlip.histogram.table import CellTable

NAMES = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
]
COLUMNS = [
    "age",
    "workclass",
    "relationship",
    "race",
    "capital-gain",
    "hours-per-week",
    "native-country",
    "income",
]
MORE_COLUMNS = [name for name in NAMES if name not in ("fnlwgt", "education-num")]
NUMBERS = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
STEP = Fraction(2, 59)  # 60 values from −1 to 1: log 60 = 4.09, the paper's largest SML
SECRETS = 60
SECRET = RatioDifference({"income": ">50K"}, {"race": "White"}, {"race": Except("White")}, resolution=STEP)
DRAWS = 20
TREES, LEAF, SAMPLE = 20, 5, 0.5
FALSE_POSITIVES = [step / 20 for step in range(21)]
FOREST = (
    f"Forests of scikit-learn: {TREES} trees, at least {LEAF} rows in a leaf, each tree on a bootstrap sample of half "
    "the rows; numbers as they are, other columns coded by place."
)
SEED = 20_260_101
_FAR = 25.0  # weights below e^-25 of the largest are left out

Rows = list[list[str]]
Array = NDArray[Any]


def folder() -> Path | None:
    """Where the table is: the folder that TIGHTLIP_ADULT names."""
    given = os.environ.get("TIGHTLIP_ADULT")
    return Path(given) if given else None


def read(part: str) -> Rows:
    """The rows of adult.data or adult.test, all fifteen columns."""
    home = folder()
    if home is None:
        raise SystemExit("set TIGHTLIP_ADULT to the folder with adult.data and adult.test")
    lines = (line.strip().removesuffix(".") for line in (home / part).read_text().splitlines())
    split = ([value.strip() for value in line.split(",")] for line in lines)
    return [row for row in split if len(row) == len(NAMES)]


@cache
def rows_of(split: str) -> tuple[Rows, Rows]:
    """Rows that are released, and rows that are held out: the files as they are, or four fifths of all at random."""
    train, test = read("adult.data"), read("adult.test")
    if split == "files":
        return train, test
    both = train + test
    order = np.random.default_rng(SEED).permutation(len(both))
    cut = len(both) // 5
    return [both[i] for i in order[cut:]], [both[i] for i in order[:cut]]


def picked(rows: Rows, columns: list[str]) -> Rows:
    """Some columns of rows."""
    places = [NAMES.index(name) for name in columns]
    return [[row[place] for place in places] for row in rows]


@dataclass(frozen=True, eq=False)
class Problem:
    """A table to release, rows to test on, and their encodings: numbers as they are, other values by their place."""

    counted: CellTable
    cells: Array
    groups: Array
    test: Array
    wanted: Array

    @property
    def total(self) -> int:
        """τ."""
        return self.counted.total

    @property
    def own_index(self) -> int:
        """The place of the table's own secret, from 0."""
        return SECRET.on(self.counted.domain, self.total).index(self.counted.counts)


@cache
def problem(split: str = "files", columns: str = "eight", invalid: int = 0) -> Problem:
    """The table with its observed combinations and some invalid ones, which have no rows."""
    names = COLUMNS if columns == "eight" else MORE_COLUMNS
    train, test = (picked(rows, names) for rows in rows_of(split))
    table = tabulate(
        dict(zip(names, map(list, zip(*train, strict=True)), strict=True)), names, feasible="observed"
    )
    encode = _encoding(names, train + test)
    cells = list(table.domain.cells(np.arange(table.domain.size)))
    cells += invalid_cells(cells, invalid)
    features, tested = encode(cells), encode(test)
    group = np.where([cell[names.index("race")] == "White" for cell in cells], 0, 2)
    group += np.array([cell[-1] != ">50K" for cell in cells])
    return Problem(table, features, group, tested, np.array([row[-1] == ">50K" for row in test]))


def invalid_cells(cells: list[tuple[str, ...]], count: int) -> list[tuple[str, ...]]:
    """Combinations that the table does not have: each value is drawn from those of its column."""
    draw, known = np.random.default_rng([SEED, 1]), set(cells)
    values = [sorted(set(column)) for column in zip(*cells, strict=True)]
    found: dict[tuple[str, ...], None] = {}
    while len(found) < count:
        one = tuple(column[draw.integers(len(column))] for column in values)
        if one not in known:
            found[one] = None
    return list(found)


def _encoding(names: list[str], rows: Rows) -> Any:
    columns = [
        {
            value: float(value) if name in NUMBERS else float(place)
            for place, value in enumerate(sorted(set(column)))
        }
        for name, column in zip(names, zip(*rows, strict=True), strict=True)
    ][:-1]

    def encode(some: Any) -> Array:
        return np.array(
            [[column[v] for column, v in zip(columns, row, strict=False)] for row in some], np.float32
        )

    return encode


@dataclass(frozen=True, eq=False)
class GroupLaw:
    """The law of the four group counts of uniform histograms whose secret has one value.

    For each number w of white rows, the weight of (a, c), high incomes among them and among the others, is
    Π C(n + D − 1, D − 1); all that is within e^-25 of the largest is summed. Weights of w are summed at every
    64th and their logarithm, which is smooth, interpolated by a cubic spline.
    """

    total: int
    sizes: tuple[int, ...]
    index: int
    stride: int = 64

    def _tables(self) -> list[Array]:
        from scipy.special import gammaln

        rows = np.arange(self.total + 1)
        return [gammaln(rows + size) - gammaln(rows + 1) - gammaln(size) for size in self.sizes]

    def _slices(self, white: int, tables: list[Array]) -> tuple[Array, ...]:
        """For each a: the least and the most c, log weights of a and of every c, and the largest log weight."""
        other, first = self.total - white, grid_scale((1, 1, 1, 1, 0), self.total, STEP).first
        a = np.arange(white + 1)
        step, parts = STEP.numerator, STEP.denominator
        low, high = step * (first + self.index), step * (first + self.index + 1)
        least = np.maximum(other * (parts * a - high * white) // (parts * white) + 1, 0)
        most = np.minimum(other * (parts * a - low * white) // (parts * white), other)
        inside = tables[2][: other + 1] + tables[3][other::-1]
        outer = tables[0][: white + 1] + tables[1][white::-1]
        best = np.clip(int(inside.argmax()), least, np.maximum(most, least))
        height = np.where(least <= most, outer + inside[np.clip(best, 0, other)], -np.inf)
        return least, most, outer, inside, height

    def pairs(self, white: int, tables: list[Array]) -> tuple[Array, Array, Array]:
        """The likely (a, c) for a number of white rows, with the logarithms of their weights."""
        least, most, outer, inside, height = self._slices(white, tables)
        kept = np.flatnonzero(height > height.max() - _FAR)
        width = np.arange(int((most - least)[kept].max(initial=0)) + 1)
        c = least[kept][:, None] + width
        logs = outer[kept][:, None] + inside[np.minimum(c, self.total - white)]
        fits = (c <= most[kept][:, None]) & (logs > height.max() - _FAR)
        return np.broadcast_to(kept[:, None], c.shape)[fits], c[fits], logs[fits]

    def draws(self, count: int, draw: np.random.Generator) -> list[tuple[int, ...]]:
        """Some draws of (a, w − a, c, τ − w − c)."""
        from scipy.interpolate import CubicSpline
        from scipy.special import logsumexp

        tables = self._tables()

        def weight(white: int) -> float:
            logs = self.pairs(white, tables)[2]
            return float(logsumexp(logs)) if len(logs) else -np.inf

        coarse = list(range(1, self.total, max(1, self.total // 200)))
        heights = np.array([self._slices(white, tables)[-1].max() for white in coarse])
        likely = np.flatnonzero(heights > heights.max() - 2 * _FAR)
        start, end = coarse[max(likely[0] - 1, 0)], coarse[min(likely[-1] + 1, len(coarse) - 1)]
        points = np.arange(start, end + 1)
        some = points if len(points) < 4 * self.stride else np.unique([*points[:: self.stride], end])
        profile = np.array([weight(int(white)) for white in some])
        logs = profile if len(some) == len(points) else CubicSpline(some, profile)(points)
        chances = np.exp(logs - logs.max())
        found = []
        for white in draw.choice(points, count, p=chances / chances.sum()).tolist():
            a, c, own = self.pairs(white, tables)
            weights = np.exp(own - own.max())
            at = draw.choice(len(a), p=weights / weights.sum())
            found.append((int(a[at]), white - int(a[at]), int(c[at]), self.total - white - int(c[at])))
        return found


def middle(own: int, bin_size: int) -> int:
    """The place of the middle value of the bin of a secret."""
    return min(own // bin_size * bin_size + bin_size // 2, SECRETS - 1)


def released(given: Problem, bin_size: int, draws: int, seed: list[int]) -> Any:
    """Counts of every cell in some releases."""
    sizes = tuple(np.bincount(given.groups, minlength=4).tolist())
    draw = np.random.default_rng([SEED, *seed])
    law = GroupLaw(given.total, sizes, middle(given.own_index, bin_size))
    for groups in law.draws(draws, draw):
        counts = np.zeros(len(given.groups), dtype=np.int64)
        for group, rows in enumerate(groups):
            slots = rows + sizes[group] - 1
            bars = np.sort(draw.choice(slots, sizes[group] - 1, replace=False))
            counts[given.groups == group] = np.diff(bars, prepend=-1, append=slots) - 1
        yield counts


@dataclass(frozen=True)
class Score:
    """How a forest does on the held-out rows: `roc` has the true positive rate at each of `FALSE_POSITIVES`."""

    auc: float
    accuracy: float
    roc: tuple[float, ...]


def scores(given: Problem, counts: Array, seed: int, leaf: int = LEAF) -> Score:
    """Train a forest on a table of these counts and test it on the held-out rows."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.metrics import roc_auc_score, roc_curve

    places = np.repeat(np.arange(len(counts)), counts)
    forest = RandomForestClassifier(
        TREES, min_samples_leaf=leaf, max_samples=SAMPLE, n_jobs=2, random_state=seed
    )
    high = given.groups[places] % 2 == 0
    forest.fit(given.cells[places], high)
    forest.set_params(n_jobs=1)  # threads add up the trees in any order, which moves ties
    chance = forest.predict_proba(given.test)[:, list(forest.classes_).index(True)]
    false, true, _ = roc_curve(given.wanted, chance)
    roc = np.interp(FALSE_POSITIVES, false, true).tolist()
    right = float(((chance > 0.5) == given.wanted).mean())
    return Score(float(roc_auc_score(given.wanted, chance)), right, tuple(roc))


@cache
def experiment(
    bin_size: int,
    draws: int = DRAWS,
    split: str = "files",
    columns: str = "eight",
    invalid: int = 0,
    leaf: int = LEAF,
    only: int | None = None,
) -> tuple[Score, ...]:
    """Score every draw; of the first ones alone with `only`, which are the same."""
    given = problem(split, columns, invalid)
    tables = released(given, bin_size, draws, [2, bin_size, invalid])
    return tuple(
        scores(given, counts, place, leaf=leaf)
        for place, counts in zip(range(draws if only is None else only), tables, strict=False)
    )


@cache
def raw(split: str = "files", columns: str = "eight", leaf: int = LEAF) -> Score:
    """Score a forest that was trained on the table itself."""
    given = problem(split, columns)
    return scores(given, given.counted.counts, 0, leaf=leaf)


def summary(values: list[float]) -> dict[str, float]:
    """Mean, standard deviation, and the 95 % interval of the mean by Student's t."""
    from scipy.stats import t

    mean, spread = float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    half = float(t.ppf(0.975, len(values) - 1)) * spread / len(values) ** 0.5 if len(values) > 1 else 0.0
    return {"mean": mean, "sd": spread, "low": mean - half, "high": mean + half}
