"""A policy that `protect` found keeps on another table what was promised, or nothing is written."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import tightlip as tl
from contract.warnings_of_engines import IGNORED
from tightlip.auditing.promise import require_promise
from tightlip.errors import BudgetExceeded
from tightlip.table.policy import Policy

pytestmark = IGNORED

LEVELS = {"age": ["as is", 2, 4, "out"], "town": ["as is", "out"]}


def people() -> pd.DataFrame:
    """Forty people, of whom the oldest in one town are ill."""
    age = [place % 8 for place in range(40)]
    town = ["a" if place % 3 else "b" for place in range(40)]
    ill = ["yes" if own == 7 or place % 9 == 0 else "no" for place, own in enumerate(age)]
    return pd.DataFrame({"age": age, "town": town, "ill": ill})


def protect(**options: object) -> object:
    asked = {"budget": "2x", "levels": LEVELS, "seconds": 2} | options
    return tl.protect(people(), "ill", ["age", "town"], **asked)


def _worse() -> pd.DataFrame:
    """The same cells, and only one other person ill: those of one age who were well."""
    table = people()
    return table.assign(ill=["yes" if age in (2, 7) else "no" for age in table.age])


@pytest.mark.parametrize(
    "options",
    [
        {"budget": "2x"},
        {"budget": "1.5 bits"},
        {"budget": "90%"},
        {"budget": [{"ill": "2x"}, "3x"]},
        {"budget": "2x", "randomised": True},
        {"budget": "100x", "pmc": "1.3x"},
        {"budget": {"ill": {"yes": "40%"}}},
        {"budget": "2x", "delta": "1/10"},
    ],
)
def test_a_found_policy_keeps_its_budget_on_another_table_or_is_refused(
    tmp_path: Path, options: dict
) -> None:
    """Only the counts of the secret differ, so the recoding still fits."""
    protect(**options).policy.save(tmp_path / "plan.toml")
    policy = Policy.from_toml(tmp_path / "plan.toml")
    tl.release(people(), policy, tmp_path / "safe.csv")
    with pytest.raises(BudgetExceeded, match="protect the table again"):
        tl.release(_worse(), policy, tmp_path / "worse.csv")
    assert not list(tmp_path.glob("worse*"))


def test_a_promise_is_exactly_what_was_asked() -> None:
    """The release of counts at the limit itself is not refused, of one person more it is."""
    table = pd.DataFrame({"age": [1] * 4 + [2] * 8, "ill": ["yes"] * 2 + ["no"] * 2 + ["yes"] + ["no"] * 7})
    found = tl.protect(table, "ill", ["age"], "2x", levels={"age": ["as is", "out"]}, seconds=1)
    assert found.leakage.ratio == 2  # 2 of 4, and 3 of 12
    policy = found.policy
    more = table.assign(ill=["yes"] * 3 + ["no"] + ["yes"] + ["no"] * 7)  # 3 of 4, and 4 of 12
    counted = tl.protect(more, "ill", ["age"], "9x", seconds=1).counted
    require_promise(found.counted, policy, "table")
    with pytest.raises(BudgetExceeded):
        require_promise(counted, policy, "table")


def test_a_smallest_group_is_promised_too(tmp_path: Path) -> None:
    policy = protect(budget="100x", min_count=6).policy
    with pytest.raises(BudgetExceeded, match="6 people"):
        tl.release(people().iloc[:32], policy, tmp_path / "safe.csv")


def test_a_promise_has_no_secret_value(tmp_path: Path) -> None:
    table = people().replace({"ill": {"yes": "mauve", "no": "teal"}})
    for budget in ({"ill": {"mauve": "40%"}}, {"ill": "2x"}):
        policy = tl.protect(table, "ill", ["age", "town"], budget, levels=LEVELS, seconds=1).policy
        policy.save(tmp_path / "plan.toml", force=True)
        for path in tmp_path.iterdir():
            assert b"mauve" not in path.read_bytes()


def rows(*pairs: tuple[str, str, int]) -> pd.DataFrame:
    """People by secret, released value and number."""
    return pd.DataFrame(
        [(secret, value) for secret, value, many in pairs for _ in range(many)], columns=["s", "r"]
    )


@pytest.mark.parametrize(
    ("budget", "other"),
    [
        ("3x", [("a", "x", 99), ("b", "y", 1)]),  # no secret of an even table can become 3 times as likely
        (
            ["50%", "3x"],
            [("a", "x", 50), ("b", "x", 50), ("c", "y", 1), ("b", "y", 1)],
        ),  # 50% is tighter there
        ({"s": {"a": "3x"}}, [("a", "x", 99), ("b", "y", 1)]),
    ],
)
def test_a_limit_that_was_needless_on_the_first_table_is_promised(
    tmp_path: Path, budget: object, other: list[tuple[str, str, int]]
) -> None:
    even = [("a", "x", 5), ("b", "x", 5), ("a", "y", 5), ("b", "y", 5)]
    if isinstance(budget, list):
        even.append(("c", "y", 5))
    safe = tl.protect(rows(*even), "s", ["r"], budget, levels={"r": ["as is", "out"]})
    assert tl.release(rows(*even), safe.policy, tmp_path / "same.parquet")
    with pytest.raises(BudgetExceeded):
        tl.release(rows(*other), safe.policy, tmp_path / "other.parquet")
    assert not (tmp_path / "other.parquet").exists()
