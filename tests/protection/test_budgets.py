"""Every kind of budget against all deterministic releases of tiny tables, listed one by one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from tightlip.errors import InvalidInput
from tightlip.protection.run import protect

from .test_optimum import LEVELS, counts_of, detail, statements, tiny

Keeps = Callable[[dict[str, int], dict[str, Fraction]], bool]


def shares(held: dict[str, int]) -> dict[str, Fraction]:
    return {secret: Fraction(count, sum(held.values())) for secret, count in held.items()}


BUDGETS: dict[str, tuple[dict[str, Any], Keeps, Fraction, int]] = {
    "cap": (
        {"budget": "70%"},
        lambda held, prior: max(shares(held).values()) <= Fraction(7, 10),
        Fraction(0),
        1,
    ),
    "cap of one value": (
        {"budget": {"ill": {"yes": "60%"}}},
        lambda held, prior: shares(held)["yes"] <= Fraction(6, 10),
        Fraction(0),
        1,
    ),
    "pmc": (
        {"budget": "9x", "pmc": "2x"},
        lambda held, prior: all(
            shares(held)[s] >= prior[s] / 2 and shares(held)[s] <= 9 * prior[s] for s in prior
        ),
        Fraction(0),
        1,
    ),
    "delta": (
        {"budget": "3/2x", "delta": "1/5"},
        lambda held, prior: all(shares(held)[s] <= Fraction(3, 2) * prior[s] for s in prior),
        Fraction(1, 5),
        1,
    ),
    "min_count": (
        {"budget": "2x", "min_count": 3},
        lambda held, prior: all(shares(held)[s] <= 2 * prior[s] for s in prior),
        Fraction(0),
        3,
    ),
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", BUDGETS)
def test_no_deterministic_release_is_better_than_the_bound(name: str, seed: int) -> None:
    given, keeps, exposed, least = BUDGETS[name]
    table = tiny(seed, 8)
    cells, values = statements(table)
    counts = counts_of(table, cells)
    total = len(table)
    prior = {secret: Fraction(sum(own), total) for secret, own in counts.items()}
    best, known = -1.0, dict[tuple[int, ...], int]()
    for chosen in product(*([value for value in values if cell in value] for cell in range(len(cells)))):
        groups: dict[frozenset[int], list[int]] = {}
        for cell, value in enumerate(chosen):
            groups.setdefault(value, []).append(cell)
        over = 0
        for members in groups.values():
            key = tuple(members)
            if key not in known:
                held = {secret: sum(own[cell] for cell in members) for secret, own in counts.items()}
                people = sum(held.values())
                known[key] = total + 1 if people < least else 0 if keeps(held, prior) else people
            over += known[key]
        if Fraction(over, total) <= exposed:
            best = max(best, detail(counts, list(chosen)))
    if best < 0:
        with pytest.raises(InvalidInput, match="must be"):
            protect(table, "ill", ["age", "town"], levels=LEVELS, seconds=5, **given)
        return
    found = protect(table, "ill", ["age", "town"], levels=LEVELS, seconds=5, **given)
    found.verify()
    assert found.kept <= best + 1e-12
    assert found.bound >= best - 1e-12
    assert found.kept == pytest.approx(best, abs=5e-3)


def test_the_least_budget_of_columns_that_are_kept_is_told() -> None:
    table = tiny(1)
    with pytest.raises(InvalidInput, match=r"give at least .*x"):
        protect(table, "ill", ["age", "town"], "1.01x", levels={"age": "as is", "town": "as is"})
    try:
        protect(table, "ill", ["age", "town"], "1.01x", levels={"age": "as is", "town": "as is"})
    except InvalidInput as error:
        enough = str(error).partition("at least ")[2].partition("x")[0]
    found = protect(table, "ill", ["age", "town"], f"{enough}x", levels={"age": "as is", "town": "as is"})
    assert found.kept == pytest.approx(1.0)
