"""What budget is enough to release something, where only nothing keeps the one given."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pandas as pd
import pytest

import tightlip as tl

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
    one_value = min(
        factor_of(
            counts, [value if cell in value else frozenset(range(len(cells))) for cell in range(len(cells))]
        )
        for value in values
        if len(value) < len(cells)
    )
    assert found.enough is not None
    assert least <= found.enough * Fraction(1001, 1000) == one_value
    assert f"A budget of {found.least_budget} is enough to release something." in str(found)
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
    assert "All limits loosened by a factor of 1.66667 would be enough" in str(found)


def test_nothing_to_release_is_not_promised() -> None:
    table = pd.DataFrame({"age": [0, 0, 0, 1, 1, 1], "ill": ["yes", "yes", "no", "no", "no", "no"]})
    found = tl.protect(table, "ill", ["age"], "2x", min_count=4, levels={"age": ["as is", "out"]})
    assert found.kept == 0
    assert found.enough is None
    assert "is enough" not in str(found)
