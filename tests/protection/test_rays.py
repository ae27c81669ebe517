"""Releases by chance at limits that leave no room: kept exactly, and near their bound."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tightlip as tl

LEVELS = {"age": ["as is", 2, 4, "out"], "sex": ["as is", "out"]}


def people(seed: int, secrets: int, rows: int = 200) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    ill = np.minimum(draw.integers(0, secrets, rows), draw.integers(0, secrets, rows))
    return pd.DataFrame(
        {"age": draw.integers(0, 8, rows), "sex": draw.choice(["f", "m"], rows), "ill": ill.astype(str)}
    )


def worst_factor(table: pd.DataFrame, found: tl.protection.Protection) -> Fraction:
    """By how much a published value raises some secret, from the policy and the rows alone."""
    local = found.policy.local
    assert local is not None
    shown: dict[tuple[int, str], Fraction] = {}
    rows = list(zip(table.age.astype(str), table.sex, table.ill, strict=True))
    for cell, value, weight in zip(
        local.cell.tolist(), local.value.tolist(), local.weight.tolist(), strict=True
    ):
        for age, sex, ill in rows:
            if local.cells[cell] == (age, sex):
                key = value, ill
                shown[key] = shown.get(key, Fraction(0)) + Fraction(weight, local.scale)
    people: dict[int, Fraction] = {}
    for (value, _), count in shown.items():
        people[value] = people.get(value, Fraction(0)) + count
    prior = {ill: Fraction(int((table.ill == ill).sum()), len(table)) for ill in set(table.ill)}
    return max(count / people[value] / prior[ill] for (value, ill), count in shown.items())


@pytest.mark.parametrize("secrets", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_said_about_secrets_and_much_about_the_rest(seed: int, secrets: int) -> None:
    table = people(seed, secrets)
    found = tl.protect(table, "ill", ["age", "sex"], "1x", levels=LEVELS, randomised=True, seconds=10)
    assert worst_factor(table, found) == found.leakage.ratio == 1
    assert found.gap < 1e-3
    assert found.kept > 0.1


def test_a_cap_at_what_is_true_of_everybody() -> None:
    table = people(3, 2)
    share = Fraction(int((table.ill == "0").sum()), len(table))
    budget = {"ill": {"0": f"{float(100 * share)}%"}}
    found = tl.protect(table, "ill", ["age", "sex"], budget, levels=LEVELS, randomised=True, seconds=10)
    assert found.gap < 1e-3
    assert found.kept > 0.1


def test_it_is_written_and_read_back(tmp_path: Path) -> None:
    table = people(1, 3)
    found = tl.protect(table, "ill", ["age", "sex"], "1x", levels=LEVELS, randomised=True, seconds=10)
    assert found.kernel.scale > 2**30
    found.release(tmp_path / "safe.csv", seed_for_tests=1)
    assert tl.audit(table, policy=found.policy, budget="1x").verdict is True
    found.save(tmp_path / "proof.json")
    tl.load(tmp_path / "proof.json").verify()
