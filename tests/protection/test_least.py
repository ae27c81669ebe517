"""What budget is enough to release something, where only nothing keeps the one given."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import tightlip as tl
from tightlip.errors import InvalidInput
from tightlip.numeric.quantity import log_of
from tightlip.protection.certificate import Table
from tightlip.protection.least import least_loosening
from tightlip.protection.limits import Limit, Limits
from tightlip.protection.mixture import Cells, proved

from .test_optimum import LEVELS, counts_of, statements, tiny


def needed(counts: dict[str, list[int]], members: list[int]) -> Fraction:
    """By how much a group of cells raises some secret."""
    people = sum(own[cell] for own in counts.values() for cell in members)
    total = sum(map(sum, counts.values()))
    return max(
        Fraction(sum(own[cell] for cell in members), people) / Fraction(sum(own), total)
        for own in counts.values()
    )


def releases(cells: int, values: list[frozenset[int]]) -> list[list[frozenset[int]]]:
    """All deterministic releases that say something."""
    every = product(*([value for value in values if cell in value] for cell in range(cells)))
    return [list(chosen) for chosen in every if any(len(value) < cells for value in chosen)]


def factor_of(counts: dict[str, list[int]], chosen: list[frozenset[int]]) -> Fraction:
    groups = [[c for c, own in enumerate(chosen) if own == value] for value in set(chosen)]
    return max(needed(counts, members) for members in groups)


@pytest.mark.parametrize("seed", range(12))
def test_what_is_enough_against_all_releases(seed: int) -> None:
    table = tiny(seed, 6)
    cells, values = statements(table)
    counts = counts_of(table, cells)
    found = tl.protect(table, "ill", ["age", "town"], "1.001x", levels=LEVELS, seconds=2)
    least = min(factor_of(counts, chosen) for chosen in releases(len(cells), values))
    if least <= Fraction(1001, 1000):
        assert found.kept > 0
        assert found.least_budget is found.enough is None
        return
    assert found.kept == 0
    assert found.least is not None
    assert found.least.lower == found.least.upper == found.enough == least / Fraction(1001, 1000)
    assert f"The least budget at which something can be released is {found.least_budget}." in str(found)
    assert found.to_dict()["least"]["lower"] == found.to_dict()["least"]["upper"] == str(found.enough)
    assert found.least_budget is not None
    again = tl.protect(table, "ill", ["age", "town"], found.least_budget, levels=LEVELS, seconds=2)
    assert again.kept > 0


def test_limits_of_several_kinds_are_loosened_together() -> None:
    table = pd.DataFrame({"age": [0, 0, 0, 1, 1, 1], "ill": ["yes", "yes", "yes", "no", "no", "no"]})
    budget = {"ill": {"yes": "60%", "no": "1.5x"}}
    found = tl.protect(table, "ill", ["age"], budget, levels={"age": ["as is", "out"]})
    assert found.kept == 0
    assert found.least_budget is None
    assert found.enough == Fraction(5, 3)
    assert found.least is not None
    assert found.least.lower == Fraction(5, 3)
    assert "loosened together, is a factor of 1.66667." in " ".join(str(found).split())


def test_nothing_to_release_is_not_promised() -> None:
    table = pd.DataFrame({"age": [0, 0, 0, 1, 1, 1], "ill": ["yes", "yes", "no", "no", "no", "no"]})
    found = tl.protect(table, "ill", ["age"], "2x", min_count=4, levels={"age": ["as is", "out"]})
    assert found.kept == 0
    assert found.enough is None
    assert "The least budget" not in str(found)


class Case:
    """Random counts over two columns, the second of which may be kept, with limits of every kind."""

    def __init__(self, seed: int, cells: int = 5) -> None:
        draw = np.random.default_rng(seed)
        places = [(a, b) for a in range(4) for b in range(2)]
        codes = np.array([places[at] for at in sorted(draw.permutation(len(places))[:cells])])
        first = [np.arange(4), np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0]), np.zeros(4, dtype=np.int64)]
        self.pinned = bool(draw.random() < 0.3)
        second = [np.arange(2), *([] if self.pinned else [np.zeros(2, dtype=np.int64)])]
        counts = draw.integers(0, 6, (3, cells)) * (draw.random((3, cells)) < 0.7)
        counts[0] += counts.sum(axis=0) == 0
        self.total = int(counts.sum())
        limits = []
        for secret in range(3):
            prior = Fraction(int(counts[secret].sum()), self.total)
            for kind, level in (
                ("pml", log_of(Fraction(int(draw.integers(10, 16)), 10))),
                ("cap", Fraction(int(draw.integers(1, 9)), 10)),
                ("pmc", log_of(Fraction(int(draw.integers(10, 30)), 10))),
            ):
                if prior and draw.random() < (0.3 if kind == "pmc" else 0.5):
                    limits.append(Limit.of(secret, kind, level, prior))  # type: ignore[arg-type]
        self.limits = Limits(counts, counts.sum(axis=0), tuple(limits))
        self.table = Table(codes, (tuple(first), tuple(second)), (Fraction(1), Fraction(1)), self.limits)
        self.values = self.table.values()
        self.sets = [frozenset(self.values.cells_of(value).tolist()) for value in range(len(self.values))]
        self.tops = {self.sets[value] for value in self.values.last.tolist()}

    def factor(self, parts: dict[int, Fraction]) -> Fraction | float:
        """What a group needs that has these parts of cells, by the definition of each limit."""
        people = sum(part * int(self.limits.people[cell]) for cell, part in parts.items())
        needs: list[Fraction | float] = [Fraction(0)]
        for limit in self.limits.limits:
            held = sum(part * int(self.limits.counts[limit.secret, cell]) for cell, part in parts.items())
            share = Fraction(held) / people
            if limit.kind == "pmc":
                needs.append(limit.inside / share if share else math.inf)
            else:
                needs.append(share / limit.inside)
        return max(needs)

    def deterministic(self, least: int) -> Fraction | float:
        """The least factor of all releases that say something, listed one by one."""
        best: Fraction | float = math.inf
        known: dict[tuple[int, ...], Fraction | float] = {}
        options = [[own for own in self.sets if cell in own] for cell in range(len(self.limits.people))]
        for chosen in product(*options):
            if all(own in self.tops for own in chosen):
                continue
            groups: dict[frozenset[int], list[int]] = {}
            for cell, own in enumerate(chosen):
                groups.setdefault(own, []).append(cell)
            worst: Fraction | float = Fraction(0)
            for members in map(tuple, groups.values()):
                if members not in known:
                    few = int(self.limits.people[list(members)].sum()) < least
                    known[members] = math.inf if few else self.factor(dict.fromkeys(members, Fraction(1)))
                worst = max(worst, known[members])
            best = min(best, worst)
        return best

    def says_something(self, factor: float) -> bool:
        """Whether a release by chance at limits loosened by a factor says something: the whole linear program."""
        pairs = [(place, cell) for place, own in enumerate(self.sets) for cell in own]
        rows = []
        for place, limit in product(range(len(self.sets)), self.limits.limits):
            counts, people = self.limits.counts[limit.secret], self.limits.people
            bound = float(limit.inside) / factor if limit.floor else float(limit.inside) * factor
            sign = -1 if limit.floor else 1
            rows.append([sign * (counts[x] - bound * people[x]) if v == place else 0.0 for v, x in pairs])
        equal = [[float(x == cell) for _, x in pairs] for cell in range(len(self.limits.people))]
        gain = [-float(self.sets[v] not in self.tops) for v, x in pairs]
        found = linprog(gain, rows or None, [0.0] * len(rows) or None, equal, [1.0] * len(equal))
        return bool(found.status == 0 and found.fun < -1e-7)


@pytest.mark.parametrize("seed", [*range(30), 1224])
def test_the_least_against_all_deterministic_releases(seed: int) -> None:
    case = Case(seed, 4 + seed % 3)
    for least in (1, 3):
        truth = case.deterministic(least)
        found = least_loosening(case.table, case.values, least=least, randomised=False)
        assert found is not None
        if truth == math.inf:
            assert found.upper is None
        else:
            assert found.lower == found.upper == truth


@pytest.mark.parametrize("seed", range(30))
def test_ends_of_values_of_many_cells_enclose_the_least(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(seed)
    truth = case.deterministic(1)
    monkeypatch.setattr("tightlip.protection.least._FEW", 0)
    found = least_loosening(case.table, case.values, least=1, randomised=False)
    assert found is not None
    assert found.lower <= truth <= (math.inf if found.upper is None else found.upper)


@pytest.mark.parametrize("seed", range(30))
def test_any_budget_above_the_least_releases_something_by_chance_and_none_below(seed: int) -> None:
    case = Case(seed)
    found = least_loosening(case.table, case.values, least=1, randomised=True)
    assert found is not None
    if found.upper is None:
        assert not case.says_something(1e6)
        return
    assert found.lower <= found.upper
    assert float(found.upper) <= float(found.lower) * (1 + 1e-9)
    assert case.says_something(float(found.upper) * 1.01)
    assert not case.limits.limits or not case.says_something(float(found.lower) * 0.99)


@pytest.mark.parametrize("seed", range(40))
def test_no_prices_prove_too_much(seed: int) -> None:
    draw, case = np.random.default_rng(seed), Case(seed)
    limits = case.limits
    held = limits.counts[[limit.secret for limit in limits.limits]].reshape(-1, len(limits.people))
    cells = Cells(limits.limits, held, limits.people)
    for _ in range(20):
        prices = [Fraction(float(one)) for one in draw.exponential(size=len(held))]
        parts = [Fraction(float(one)) for one in draw.exponential(size=len(limits.people))]
        if prices:
            assert proved(cells, prices) <= case.factor(dict(enumerate(parts)))


def test_where_people_may_be_exposed_nothing_is_proved_from_below() -> None:
    table = pd.DataFrame({"age": [0] * 9 + [1] * 9, "ill": ["yes"] * 9 + ["no"] * 9})
    ages = {"age": ["as is", "out"]}
    few = tl.protect(table, "ill", ["age"], "1.5x", delta="1/10", levels=ages)
    assert few.least is not None
    assert few.least.lower == few.least.upper == Fraction(4, 3)  # nobody can be exposed without nine
    assert tl.protect(table, "ill", ["age"], "1.5x", delta="1/10", levels=ages, randomised=True).kept > 0


def test_the_error_of_a_budget_that_nothing_meets_tells_the_least() -> None:
    table = pd.DataFrame({"age": [0, 0, 0, 1, 1, 1], "ill": ["yes", "yes", "no", "yes", "no", "no"]})
    with pytest.raises(
        InvalidInput, match=r"give at least 50%, .*; from 66\.6667% on more can be released\.$"
    ):
        tl.protect(table, "ill", ["age"], "40%", levels={"age": ["as is", "out"]})
    assert tl.protect(table, "ill", ["age"], "66.6667%", levels={"age": ["as is", "out"]}).kept > 0


def test_columns_that_are_kept_do_not_hide_the_least() -> None:
    table = pd.DataFrame(
        {"sex": ["f", "m"] * 6, "age": [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1], "ill": ["yes"] * 6 + ["no"] * 6}
    )
    levels = {"sex": ["as is"], "age": ["as is", "out"]}
    found = tl.protect(table, "ill", ["sex", "age"], "1.5x", levels=levels)
    assert found.kept > 0
    assert "The least budget at which more than the columns that are kept can be released is 2x." in str(
        found
    )


def test_levels_that_cross_prove_no_lower_end():
    """A value of two middle levels may join what no coarsest group of one column joins."""
    first, last = {"1": "p", "2": "p", "3": "q", "4": "q"}, {"1": "r", "3": "r", "2": "t", "4": "t"}
    other = [{key: name + "'" for key, name in groups.items()} for groups in (first, last)]
    held = [("1", "y"), *[("2", "x")] * 3, ("3", "x"), *[("4", "y")] * 2]
    table = pd.DataFrame({"a": [a for a, _ in held], "b": [a for a, _ in held], "s": [s for _, s in held]})
    levels = {"a": ["as is", first, last], "b": ["as is", *other]}
    found = tl.protect(table, "s", ["a", "b"], "49/36x", levels=levels)
    more = tl.protect(table, "s", ["a", "b"], "14/9x", levels=levels)
    assert more.kept > found.kept
    assert found.least is None or found.least.lower <= Fraction(8, 7)


def test_the_coarsest_level_says_least_wherever_it_stands():
    table = pd.DataFrame({"a": list("11223"), "s": list("xyxyx")})
    alike, two = dict.fromkeys("123", "any"), {"1": "p", "2": "p", "3": "q"}
    for asked in ({"budget": "3/2x"}, {"budget": "3x", "min_count": 2}):
        crossed = tl.protect(table, "s", ["a"], levels={"a": ["as is", alike, two, "out"]}, **asked)
        plain = tl.protect(table, "s", ["a"], levels={"a": ["as is", two, "out"]}, **asked)
        assert crossed.kept == plain.kept > 0
