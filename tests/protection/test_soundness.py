"""Protect against a second program, written with pandas, fractions and SciPy alone, on random small tables.

The published release must be true of every row and keep each budget, what it keeps must be what is claimed, and the
bound must not be below the optimum of the whole linear program.
"""

from __future__ import annotations

import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from scipy.stats import chisquare

import tightlip as tl
from tightlip.errors import InvalidInput, TightlipError
from tightlip.protection.certificate import ReleaseCertificate
from tightlip.protection.result import Protection

Cell = tuple[Any, ...]
Label = tuple[str | None, ...]
FIRST = {"p": "G1", "q": "G1", "r": "G2", "s": "G2"}
SECOND = {"p": "H1", "q": "H2", "r": "H1", "s": "H2"}  # not nested in the first


def group(level: Any, value: Any) -> Any:
    """What a level makes of a value, by a name of our own."""
    if level == "out":
        return "everything"
    if value is None or level == "as is":
        return value
    return level[value] if isinstance(level, dict) else ("bin", level, value // level)


def is_true(label: str | None, value: Any) -> bool:
    """Whether a published label is true of a value."""
    if label is None or value is None:
        return label == "*" or (label is None and value is None)
    if label.startswith("["):
        low, high = map(float, label[1:-1].split(","))
        return low <= value < high
    return label in ("*", str(value), FIRST.get(value), SECOND.get(value))


@dataclass
class Limit:
    """A limit on a secret: who holds it, and how large (or small) its share may become."""

    holds: list[bool]
    share: Fraction
    floor: bool


class Case:
    """A random table with levels and budgets, and what they mean."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.rows = draw.choice([5, 9, 14, 30])
        self.table = self._table(draw)
        self.columns = draw.choice([["a", "b"], ["a"], ["a", "b", "c"], ["b"]])
        self.secrets = draw.choice([["s"], ["s", "t"]])
        self.levels = self._levels(draw)
        self.randomised = draw.random() < 0.5
        self.jointly = seed % 2 == 0
        self.options: dict[str, Any] = {"jointly": self.jointly}
        self.limits: list[Limit] = []
        self.exposed = Fraction(0)
        self.raw: list[Cell] = [
            tuple(map(plain, row)) for row in self.table[self.columns].itertuples(index=False)
        ]
        self.held: list[Cell] = [
            tuple(map(plain, row)) for row in self.table[self.secrets].itertuples(index=False)
        ]
        self._budget(draw)
        self.least = 1
        if not self.randomised and draw.random() < 0.3:
            self.least = self.options["min_count"] = draw.choice([2, 3])
        self.weights = dict.fromkeys(self.columns, Fraction(1))
        if draw.random() < 0.3:
            self.weights[self.columns[0]] = Fraction(draw.choice(["2", "5/2", "1/2"]))
            self.options["weights"] = {column: str(weight) for column, weight in self.weights.items()}
        self.cells = [
            tuple(group(self.levels[c][0], own) for c, own in zip(self.columns, cell, strict=True))
            for cell in self.raw
        ]
        self.people = Counter(self.cells)

    def _table(self, draw: random.Random) -> pd.DataFrame:
        ages, towns = draw.choice([1, 3, 6]), draw.choice(["p", "pq", "pqrs"])
        missing = draw.choice([0, 0, 0.15])
        rows = []
        for _ in range(self.rows):
            age = draw.randrange(ages)
            ill = "yes" if draw.random() < 0.2 + 0.5 * (age == ages - 1) else "no"
            own = [age, draw.choice(towns), draw.choice("xy"), ill, draw.choice("uvw")]
            rows.append([value if draw.random() >= missing else None for value in own])
        rows[0][3:], rows[1][3:] = ["yes", "u"], ["no", "v"]
        rows[0][:2] = [0, "p"]
        found = pd.DataFrame(rows, columns=list("abcst"))
        return found.astype({"a": "Int64"}) if draw.random() < 0.5 else found

    def _levels(self, draw: random.Random) -> dict[str, list[Any]]:
        towns = set(self.table["b"].dropna())
        first, second = ({town: own[town] for town in towns} for own in (FIRST, SECOND))
        return {
            "a": draw.choice([["as is", 2, 3, "out"], [2, 4, "out"], ["as is"], ["as is", 2]]),
            "b": draw.choice([["as is", first, second, "out"], ["as is", first], [first, "out"]]),
            "c": ["as is", "out"],
        }

    def _limit(self, columns: list[str], kind: str, level: Fraction, only: str | None = None) -> None:
        at = [self.secrets.index(column) for column in columns]
        own = [tuple(held[place] for place in at) for held in self.held]
        for secret, count in Counter(own).items():
            if only is None or secret == (only,):
                prior = Fraction(count, self.rows)
                share = {"pml": prior * level, "cap": level, "pmc": prior / level}[kind]
                self.limits.append(Limit([one == secret for one in own], share, kind == "pmc"))

    def _limit_all(self, kind: str, level: Fraction) -> None:
        """A level for no column in particular: for each, and for all of them together where that is asked."""
        for column in self.secrets:
            self._limit([column], kind, level)
        if self.jointly:
            self._limit(self.secrets, kind, level)

    def _budget(self, draw: random.Random) -> None:
        factor = Fraction(draw.choice(["1", "5/4", "3/2", "2", "3", "100"]))
        kind = draw.choice(["factor", "nats", "cap", "column", "values"])
        if kind == "factor":
            self.options["budget"] = f"{factor}x"
            self._limit_all("pml", factor)
        elif kind == "nats":
            self.options["budget"] = 0.7
            self._limit_all("pml", Fraction(math.exp(0.7)))
        elif kind == "cap":
            cap = draw.choice([50, 75, 100])
            self.options["budget"] = f"{cap}%"
            self._limit_all("cap", Fraction(cap, 100))
        elif kind == "column":
            self.options["budget"] = {"s": f"{factor}x"}
            self._limit(["s"], "pml", factor)
            if "t" in self.secrets:
                self.options["budget"]["t"] = "80%"
                self._limit(["t"], "cap", Fraction(4, 5))
        else:
            self.options["budget"] = {"s": {"yes": "60%", "no": "10x"}}
            self._limit(["s"], "cap", Fraction(3, 5), "yes")
            self._limit(["s"], "pml", Fraction(10), "no")
        if draw.random() < 0.3:
            self.options["pmc"] = {"s": "2x"}
            self._limit(["s"], "pmc", Fraction(2))
        if draw.random() < 0.3:
            self.exposed = Fraction(draw.choice(["1/10", "1/3"]))
            self.options["delta"] = str(self.exposed)

    def protect_or_none(self) -> Protection | None:
        """None where it is refused: what says least must keep the limits."""
        levels = {column: self.levels[column] for column in self.columns}
        options = {"levels": levels, "randomised": self.randomised, "seconds": 3} | self.options
        try:
            return tl.protect(self.table, self.secrets, self.columns, **options)
        except InvalidInput:
            return None

    def values(self) -> list[frozenset[Cell]]:
        """All sets of cells that a generalised value can contain."""
        cell_of = dict(zip(self.raw, self.cells, strict=True))
        found = set()
        for node in product(*(self.levels[column] for column in self.columns)):
            alike = defaultdict(set)
            for cell, own in cell_of.items():
                alike[tuple(map(group, node, cell))].add(own)
            found |= {frozenset(members) for members in alike.values()}
        return sorted(found, key=lambda members: sorted(map(repr, members)))

    def content(self, members: frozenset[Cell]) -> float:
        """u(y), in nats."""
        found = -math.log(sum(self.people[cell] for cell in members) / self.rows)
        for at, column in enumerate(self.columns):
            extra = float(self.weights[column] / min(self.weights.values()) - 1)
            having = {cell[at] for cell in members}
            people = sum(count for cell, count in self.people.items() if cell[at] in having)
            found -= extra * math.log(people / self.rows)
        return found

    def whole(self) -> float:
        return sum(count * self.content(frozenset([cell])) for cell, count in self.people.items())

    def optimum(self) -> float | None:
        """The whole linear program; a cell may be exposed by a value of its own. None where nothing keeps it."""
        values, cells = self.values(), list(self.people)
        pairs = [(place, cell) for place, members in enumerate(values) for cell in members]
        pairs += [(-1, cell) for cell in cells] if self.exposed else []
        worth = [
            -self.people[cell] * self.content(values[at] if at >= 0 else frozenset([cell]))
            for at, cell in pairs
        ]
        rows = []
        for limit in self.limits:
            held = Counter(cell for cell, own in zip(self.cells, limit.holds, strict=True) if own)
            over = {cell: held[cell] - float(limit.share) * self.people[cell] for cell in cells}
            for place in range(len(values)):
                sign = -1 if limit.floor else 1
                rows.append([sign * over[cell] if at == place else 0.0 for at, cell in pairs])
        ends = [0.0] * len(rows)
        if self.exposed:
            rows.append([float(self.people[cell]) if at < 0 else 0.0 for at, cell in pairs])
            ends.append(float(self.exposed) * self.rows)
        equal = [[float(own == cell) for _, own in pairs] for cell in cells]
        found = linprog(worth, rows or None, ends or None, equal, [1.0] * len(cells))
        if found.status == 2:
            return None
        return -found.fun / self.whole() if self.whole() > 0 else 1.0

    def broken(self, rows: list[dict[Label, Fraction]]) -> Fraction:
        """The share of people whose published value breaks a limit; the limits of 0.7 nats to 10⁻¹²."""
        people: dict[Label, Fraction] = defaultdict(Fraction)
        held: dict[tuple[Label, int], Fraction] = defaultdict(Fraction)
        for at, row in enumerate(rows):
            for label, chance in row.items():
                people[label] += chance
                for place, limit in enumerate(self.limits):
                    held[label, place] += chance * limit.holds[at]
        over = Fraction(0)
        hair = Fraction(1, 10**12) if self.options["budget"] == 0.7 else Fraction(0)
        for label, size in people.items():
            assert self.least == 1 or size >= self.least
            shares = [(held[label, place] / size, limit) for place, limit in enumerate(self.limits)]
            if any(own < limit.share if limit.floor else own > limit.share + hair for own, limit in shares):
                over += size
        return over / self.rows


def plain(value: Any) -> Any:
    if pd.isna(value):
        return None
    return value if isinstance(value, str) else int(value)


def published(case: Case, found: Protection) -> list[dict[Label, Fraction]]:
    """What the policy publishes for each row, with its probability."""
    local = found.policy.local
    assert local is not None
    rows: dict[Label, dict[Label, Fraction]] = defaultdict(dict)
    for cell, value, weight in zip(local.cell, local.value, local.weight.tolist(), strict=True):
        rows[local.cells[cell]][local.published[value]] = Fraction(weight, local.scale)
    return [rows[tuple(None if own is None else str(own) for own in cell)] for cell in case.raw]


def read(path: Path) -> pd.DataFrame:
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    return pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""], skip_blank_lines=False)


def rows_of(table: pd.DataFrame, columns: list[str]) -> list[Label]:
    rows = table[columns].itertuples(index=False)
    return [tuple(None if pd.isna(own) else own for own in row) for row in rows]


@pytest.mark.parametrize("seed", range(90))
def test_a_release_is_sound(seed: int, tmp_path: Path) -> None:
    case = Case(seed)
    optimum = case.optimum()
    found = case.protect_or_none()
    if found is None:
        assert optimum is None or (case.exposed and not case.randomised) or case.least > 1
        return
    found.verify()
    rows = published(case, found)
    for cell, row in zip(case.raw, rows, strict=True):
        assert sum(row.values()) == 1
        assert all(all(map(is_true, label, cell)) for label in row)
    assert case.broken(rows) <= case.exposed
    true_of = {
        label: frozenset(
            cell for raw, cell in zip(case.raw, case.cells, strict=True) if all(map(is_true, label, raw))
        )
        for row in rows
        for label in row
    }
    kept = sum(float(chance) * case.content(true_of[label]) for row in rows for label, chance in row.items())
    truth = kept / case.whole() if case.whole() > 0 else 1.0
    assert truth - 1e-9 <= found.kept <= truth + 1e-12
    assert optimum is not None
    assert found.kept - 1e-9 <= optimum <= found.bound + 1e-9
    assert found.bound <= optimum + 2e-3
    if seed % 3 == 0:
        check_file(case, found, rows, tmp_path / ("safe.csv" if seed % 2 else "safe.parquet"))


def check_file(case: Case, found: Protection, rows: list[dict[Label, Fraction]], path: Path) -> None:
    """The written file alone: true to what was decided, and of a deterministic one exactly the promised leakage."""
    found.release(path, with_secret=not case.randomised, seed_for_tests=1 if case.randomised else None)
    table = read(path)
    labels = rows_of(table, case.columns)
    assert all(label in row for label, row in zip(labels, rows, strict=True))
    if case.randomised:
        return
    secrets = rows_of(table, case.secrets)
    assert secrets == case.held
    of_label, of_secret = Counter(labels), Counter(secrets)
    worst = max(
        Fraction(count * case.rows, of_label[label] * of_secret[secret])
        for (label, secret), count in Counter(zip(labels, secrets, strict=True)).items()
    )
    assert found.leakage.ratio == worst


def test_random_releases_follow_their_kernel(tmp_path: Path) -> None:
    draw = np.random.default_rng(3)
    age = draw.integers(0, 6, 4000)
    ill = np.where(draw.random(4000) < 0.1 + 0.6 * (age == 3), "yes", "no")
    table = pd.DataFrame({"age": age, "ill": ill})
    found = tl.protect(table, "ill", ["age"], "3/2x", levels={"age": ["as is", 2, "out"]}, randomised=True)
    local = found.policy.local
    assert local is not None
    assert not local.deterministic
    found.release(tmp_path / "safe.csv", seed_for_tests=7)
    labels = read(tmp_path / "safe.csv")["age"]
    for place, (own,) in enumerate(local.cells):
        mine = local.cell == place
        names = [local.published[value][0] for value in local.value[mine]]
        seen = labels[age == int(own or 0)].value_counts()
        assert set(seen.index) <= set(names)
        chance = local.weight[mine] / local.scale
        usual = chance * seen.sum() >= 1
        if usual.sum() > 1:
            counts = np.array([seen.get(name, 0) for name in names])[usual]
            expected = chance[usual] / chance[usual].sum() * counts.sum()
            assert chisquare(counts, expected).pvalue > 1e-6


@pytest.mark.parametrize("budget", ["1x", "3/2x", "50%"])
def test_shares_that_keep_a_limit_exactly_are_found(budget: str) -> None:
    """Limits that even nothing keeps without room to spare, by a release that does too."""
    table = pd.DataFrame({"age": [0, 1, 1, 2, 2, 3], "ill": ["yes", "yes", "no", "no", "yes", "no"]})
    found = tl.protect(table, "ill", ["age"], budget, levels={"age": ["as is", 2, "out"]}, randomised=True)
    assert found.kept > 0.3
    assert found.gap < 1e-3


def test_one_cell_is_kept_wholly() -> None:
    table = pd.DataFrame({"age": [1] * 7, "ill": ["yes"] * 2 + ["no"] * 5})
    for randomised in (False, True):
        found = tl.protect(table, "ill", ["age"], "2x", delta="1/10", randomised=randomised)
        assert (found.kept, found.bound) == (1.0, 1.0)


def test_all_that_is_kept_is_said_to_be() -> None:
    table = pd.DataFrame({"age": [0, 1, 2] * 3, "ill": ["yes", "no", "no"] + ["no", "yes", "no"] * 2})
    assert tl.protect(table, "ill", ["age"], "100x").kept == 1.0


def test_people_are_exposed_where_nothing_breaks_a_limit_because_of_them() -> None:
    """Ten ill people in one kept column, or above a cap of everybody, are few enough to be exposed."""
    table = pd.DataFrame(
        {"sex": ["f"] * 10 + ["m"] * 30, "age": [0] * 10 + [1, 2, 3] * 10, "ill": ["yes"] * 10 + ["no"] * 30}
    )
    levels = {"sex": ["as is"], "age": ["as is", "out"]}
    for randomised in (False, True):
        for budget in ("2x", {"ill": {"yes": "20%"}}):
            options = {"levels": levels, "delta": "1/4", "randomised": randomised}
            found = tl.protect(table, "ill", ["sex", "age"], budget, **options)
            found.verify()
            assert found.exposed == Fraction(1, 4)
            assert (found.kept, found.bound) == (1.0, 1.0)
        with pytest.raises(InvalidInput, match="columns that are kept"):
            tl.protect(table, "ill", ["sex", "age"], "2x", **(options | {"delta": "6/25"}))


def test_some_of_a_cell_are_exposed_by_chance() -> None:
    """A cap of 40 % where 50 % are ill: a sixth must be exposed, of cells larger than that."""
    table = pd.DataFrame({"age": [0] * 30 + [1] * 30, "ill": ["yes"] * 30 + ["no"] * 30})
    budget, ages = {"ill": {"yes": "40%"}}, {"age": ["as is", "out"]}
    with pytest.raises(InvalidInput, match="publishing nothing meets"):
        tl.protect(table, "ill", ["age"], budget, delta="1/5", levels=ages)
    found = tl.protect(table, "ill", ["age"], budget, delta="1/5", levels=ages, randomised=True)
    assert Fraction(1, 6) <= found.exposed <= Fraction(1, 5)
    assert found.gap < 1e-3
    with pytest.raises(InvalidInput, match="publishing nothing meets"):
        tl.protect(table, "ill", ["age"], budget, delta="4/25", levels=ages, randomised=True)


def test_a_share_of_people_is_not_exceeded_by_what_says_least() -> None:
    table = pd.DataFrame({"age": [0, 0, 1, 1], "ill": ["yes", "yes", "no", "no"]})
    with pytest.raises(InvalidInput, match="columns that are kept"):
        tl.protect(table, "ill", ["age"], "3/2x", delta="1/10", levels={"age": ["as is"]})


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    draw = np.random.default_rng(5)
    age, town = draw.integers(0, 6, 60), draw.choice(["a", "b"], 60)
    ill = np.where(draw.random(60) < 0.2 + 0.5 * (age == 3), "yes", "no")
    table = pd.DataFrame({"age": age, "town": town, "ill": ill})
    levels = {"age": ["as is", 2, 4, "out"], "town": ["as is", "out"]}
    found = tl.protect(table, "ill", ["age", "town"], "3/2x", levels=levels, randomised=True)
    loaded: dict[str, Any] = json.loads(found.certificate.to_json())
    return loaded


def huge_prices(record: dict[str, Any]) -> None:
    record["prices"] = [[*row[:3], 1.7e308] for row in record["prices"]]


def huge_exposure(record: dict[str, Any]) -> None:
    record |= {"exposure": 1.7e308, "exposed": "1/10"}


def secret_of_nobody(record: dict[str, Any]) -> None:
    for part, entry in zip(record["counts"], (2, 0, 0), strict=False):
        part.append(entry)
    record["limits"].append([2, "pml", "ratio", "3/2"])


def half_a_secret(record: dict[str, Any]) -> None:
    record["counts"][3] = [2 * people for people in record["counts"][3]]


def too_many_people(record: dict[str, Any]) -> None:
    record["counts"][2:] = [[count << 57 for count in part] for part in record["counts"][2:]]


def parts_of_people(record: dict[str, Any]) -> None:
    record["counts"][3] = [people + 0.4 for people in record["counts"][3]]


def parts_of_weights(record: dict[str, Any]) -> None:
    record["kernel"] = [[*row[:3], row[3] + 0.4] for row in record["kernel"]]


FORGERIES: list[Callable[[dict[str, Any]], None]] = [
    huge_prices,
    huge_exposure,
    secret_of_nobody,
    half_a_secret,
    too_many_people,
    parts_of_people,
    parts_of_weights,
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("forge", FORGERIES)
def test_a_false_bound_is_not_verified(
    record: dict[str, Any], forge: Callable[[dict[str, Any]], None]
) -> None:
    forged = json.loads(json.dumps(record))
    forge(forged)
    forged["claim"] = [0.0, 0.01]
    with pytest.raises(TightlipError):
        ReleaseCertificate.from_parts(forged).verify()


def single_changes(entry: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every number of a record with others in its place."""
    if isinstance(entry, dict | list):
        for key in entry if isinstance(entry, dict) else range(len(entry)):
            yield from single_changes(entry[key], (*path, key))
    elif isinstance(entry, int | float) and not isinstance(entry, bool):
        yield from ((path, other) for other in (entry + 1, -entry, 0, 10**9))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_proof_with_another_number_proves_nothing_false(record: dict[str, Any]) -> None:
    """About the same table and limits, no change of the proof verifies a better claim."""
    fixed = ("kernel", "scale", "prices", "exposure")
    changes = [change for change in single_changes(record) if change[0][0] in fixed]
    for path, other in random.Random(0).sample(changes, 120):
        forged = json.loads(json.dumps(record))
        place = forged
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = other
        forged["claim"] = [record["claim"][0] + 1e-6, record["claim"][1]]
        with pytest.raises((TightlipError, KeyError)):
            ReleaseCertificate.from_parts(forged).verify()
        forged["claim"] = [0.0, record["claim"][0] - 1e-6]
        with pytest.raises((TightlipError, KeyError)):
            ReleaseCertificate.from_parts(forged).verify()
