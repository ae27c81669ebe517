"""What protect takes and refuses, and what its result can be used for."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path

import pandas as pd
import pytest

import tightlip as tl
from tightlip.errors import InvalidInput
from tightlip.protection.overview import whole_columns
from tightlip.protection.program import Program
from tightlip.protection.search import Assignment

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


@pytest.mark.parametrize("randomised", [False, True])
def test_the_policy_is_audited_like_any_other(tmp_path: Path, randomised: bool) -> None:
    found = protect(randomised=randomised)
    found.policy.save(tmp_path / "safe.toml")
    policy = tl.Policy.from_toml(tmp_path / "safe.toml")
    audit = tl.audit(people(), policy=policy, budget="2x")
    assert audit.verdict is True
    assert audit.views["ill"].worst.leakage.ratio == found.leakage.ratio
    assert tl.pml(found.channel, found.prior).worst == found.leakage


def test_a_changed_recoding_is_refused(tmp_path: Path) -> None:
    protect().policy.save(tmp_path / "safe.toml")
    with (tmp_path / "safe.recoding.parquet").open("ab") as file:
        file.write(b"x")
    with pytest.raises(InvalidInput, match="not the one that its policy was written with"):
        tl.Policy.from_toml(tmp_path / "safe.toml")


def test_a_protected_policy_is_not_protected_again() -> None:
    with pytest.raises(InvalidInput, match="protected already"):
        tl.protect(people(), policy=protect().policy, budget="2x")


def test_another_table_has_cells_that_the_recoding_does_not_know() -> None:
    policy = protect().policy
    other = pd.concat([people(), pd.DataFrame({"age": [99], "town": ["c"], "ill": ["no"]})])
    with pytest.raises(InvalidInput, match="made for another table"):
        tl.audit(other, policy=policy)


def test_ctrl_c_during_the_search_gives_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(Assignment, "_improve", interrupted)
    found = protect()
    assert not found.finished
    assert 0 <= found.kept <= found.bound
    found.verify()


def test_ctrl_c_before_anything_is_proved_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Program, "__init__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        protect()


def test_a_column_that_matters_more_is_kept_more() -> None:
    plain, weighted = protect(randomised=True), protect(randomised=True, weights={"age": 5})
    age = {found: next(one for one in found.columns() if one.column == "age") for found in (plain, weighted)}
    assert age[weighted].kept >= age[plain].kept - 1e-6


def test_a_bound_of_a_larger_budget_holds_for_smaller_ones() -> None:
    points = protect(randomised=True).trade_off(["1.2x", "3/2x", "2x", "3x"], seconds=1).points
    assert [float(point.budget) for point in points] == sorted(float(point.budget) for point in points)
    assert [point.bound for point in points] == sorted(point.bound for point in points)
    assert all(point.kept <= point.bound and point.leakage <= point.budget for point in points)


def test_several_budgets_are_all_kept() -> None:
    both = tl.protect(
        people(), "ill", ["age", "town"], ["3x", {"ill": {"yes": "40%"}}], levels=LEVELS, seconds=2
    )
    assert float(both.leakage) <= float(tl.log_of(3))
    posterior = both.published.tally.count / both.published.tally.of_cell[both.published.tally.cell]
    ill = [both.published.secret_label(secret) for secret in both.published.tally.secret]
    assert max(share for share, label in zip(posterior, ill, strict=True) if label == ("yes",)) <= 0.4


def test_a_budget_of_some_values_is_not_told_as_one_of_all() -> None:
    table = people().assign(ill=["abc"[place % 3] for place in range(40)])
    some = tl.protect(table, "ill", ["age", "town"], {"ill": {"a": "1.5x"}}, levels=LEVELS, seconds=1)
    assert some.budget is None
    assert tl.protect(table, "ill", ["age", "town"], "1.5x", levels=LEVELS, seconds=1).budget is not None
    assert "factor of 1.5" not in some.words()


def test_the_smallest_group_holds_on_the_whole_curve() -> None:
    point = protect(min_count=6).trade_off(["100x"], seconds=1).points[-1]
    assert 0 < point.kept < 1  # as they are, no cell is shared by six


def test_whole_columns_keep_the_smallest_group_too() -> None:
    """Against all recodings of whole columns, counted one by one."""
    table, least = people(), 6
    found = protect(min_count=least)
    known = found.finest.values[0], found.levels[0].labels
    labels = {
        words: dict(zip(known[0], own, strict=True))
        for words, own in zip(found.levels[0].words, known[1], strict=True)
    }
    sizes = {}
    for age, town in product(found.levels[0].words, found.levels[1].words):
        shown = zip(
            table.age.astype(str).map(labels[age]),
            table.town if town == "as is" else ["*"] * len(table),
            strict=True,
        )
        sizes[age, town] = min(Counter(shown).values())
    assert min(sizes.values()) < least
    listed = [one.levels for one in whole_columns(found)]
    assert listed
    assert all(sizes[one] >= least for one in listed)
    curve = found.trade_off(["100x"], seconds=1)
    assert curve.plan is None  # some cell as it is has fewer than six
    assert protect().trade_off(["100x"], seconds=1).plan is not None
    drawn = curve.chart().to_dict()
    assert "everything" not in str(drawn)
