"""Protect against slow, obvious programs: every deterministic release listed, the whole linear program solved."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from tightlip.protection.run import protect

LEVELS = {"age": ["as is", 2, 4, "out"], "town": ["as is", "out"]}


def tiny(seed: int, rows: int = 14) -> pd.DataFrame:
    """A table of few cells, whose secret depends on them."""
    draw = np.random.default_rng(seed)
    age = draw.integers(0, 4, rows)
    town = draw.choice(["a", "b"], rows)
    ill = np.where(draw.random(rows) < 0.2 + 0.5 * (age == 3), "yes", "no")
    ill[:2] = ["yes", "no"]
    return pd.DataFrame({"age": age, "town": town, "ill": ill})


def statements(table: pd.DataFrame) -> tuple[list[tuple[int, str]], list[frozenset[int]]]:
    """The cells, and the sets of cells that a generalised value can contain."""
    cells = sorted(set(zip(table.age.tolist(), table.town, strict=True)))
    found: set[frozenset[int]] = set()
    for width, whole in product((1, 2, 4, 100), (False, True)):
        groups: dict[tuple[int, str], set[int]] = {}
        for place, (age, town) in enumerate(cells):
            groups.setdefault((age // width, "" if whole else town), set()).add(place)
        found |= {frozenset(group) for group in groups.values()}
    return cells, sorted(found, key=sorted)


def counts_of(table: pd.DataFrame, cells: list[tuple[int, str]]) -> dict[str, list[int]]:
    """How many people hold each secret in each cell."""
    return {
        secret: [
            int(((table.age == age) & (table.town == town) & (table.ill == secret)).sum())
            for age, town in cells
        ]
        for secret in sorted(set(table.ill))
    }


def keeps(counts: dict[str, list[int]], members: list[int], factor: Fraction) -> bool:
    """Whether a group of cells raises no secret by more than a factor."""
    people = sum(counts[secret][cell] for secret in counts for cell in members)
    total = sum(map(sum, counts.values()))
    return all(
        Fraction(sum(own[cell] for cell in members), people) <= factor * Fraction(sum(own), total)
        for own in counts.values()
    )


def detail(counts: dict[str, list[int]], chosen: list[frozenset[int]]) -> float:
    """Linear detail of publishing chosen[x] for cell x."""
    people = [sum(own[cell] for own in counts.values()) for cell in range(len(chosen))]
    total = sum(people)
    whole = -sum(size * math.log(size / total) for size in people)
    kept = -sum(
        size * math.log(sum(people[c] for c in value) / total)
        for size, value in zip(people, chosen, strict=True)
    )
    return kept / whole


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("factor", [Fraction(5, 4), Fraction(3, 2), Fraction(2)])
def test_deterministic_is_the_best_of_all(seed: int, factor: Fraction) -> None:
    table = tiny(seed, 8)
    cells, values = statements(table)
    counts = counts_of(table, cells)
    best, known = 0.0, dict[tuple[int, ...], bool]()
    for chosen in product(*([value for value in values if cell in value] for cell in range(len(cells)))):
        groups: dict[frozenset[int], list[int]] = {}
        for cell, value in enumerate(chosen):
            groups.setdefault(value, []).append(cell)
        for members in map(tuple, groups.values()):
            if members not in known:
                known[members] = keeps(counts, list(members), factor)
        if all(known[tuple(members)] for members in groups.values()):
            best = max(best, detail(counts, list(chosen)))
    found = protect(table, "ill", ["age", "town"], f"factor {factor}", levels=LEVELS, seconds=5)
    assert found.kept <= best + 1e-12
    assert found.bound >= best - 1e-12
    assert found.kept == pytest.approx(best, abs=5e-3)
    found.verify()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("factor", [Fraction(5, 4), Fraction(3, 2), Fraction(2)])
def test_randomised_is_the_optimum_of_the_whole_program(seed: int, factor: Fraction) -> None:
    table = tiny(seed)
    cells, values = statements(table)
    counts = counts_of(table, cells)
    people = [sum(own[cell] for own in counts.values()) for cell in range(len(cells))]
    total = sum(people)
    pairs = [(place, cell) for place, value in enumerate(values) for cell in sorted(value)]
    content = [-math.log(sum(people[c] for c in value) / total) for value in values]
    whole = sum(size * -math.log(size / total) for size in people)
    rows, limits = [], []
    for place in range(len(values)):
        for own in counts.values():
            rows.append(
                [
                    (own[c] - float(factor) * sum(own) / total * people[c]) if v == place else 0.0
                    for v, c in pairs
                ]
            )
            limits.append(0.0)
    equal = [[float(c == cell) for _, c in pairs] for cell in range(len(cells))]
    cost = [-people[c] * content[v] / whole for v, c in pairs]
    optimum = -linprog(cost, rows, limits, equal, [1.0] * len(cells)).fun
    found = protect(table, "ill", ["age", "town"], f"factor {factor}", levels=LEVELS, randomised=True)
    assert found.kept <= optimum + 1e-9
    assert found.bound >= optimum - 1e-9
    assert found.bound - found.kept <= 1e-3
    found.verify()
