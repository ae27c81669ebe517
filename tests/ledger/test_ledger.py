"""The ledger of a table: judged together, charged before it is drawn, settled by a person."""

from __future__ import annotations

import json
from fractions import Fraction

import pyarrow as pa
import pytest

import tightlip as tl
from tightlip import Policy, log_of
from tightlip.errors import BudgetExceeded, InvalidInput, LedgerInvalid
from tightlip.ledger import Ledger
from tightlip.table.mechanism import RandomizedResponse
from tightlip.table.policy import Released
from tightlip.table.recoding import Bins, Keep

ROWS = [("xy"[number % 3 == 0], number % 30, "ab"[number % 2]) for number in range(120)]
BINS = Released("age", Bins(width=10))
SHIFTED = Released("age", Bins(width=10, origin=5))
NOISY = Released("sex", Keep(), RandomizedResponse(log_of(3)))


def table_of(rows=ROWS):
    columns = list(zip(*rows, strict=True))
    return pa.table({"ill": columns[0], "age": columns[1], "sex": columns[2]})


@pytest.fixture
def table():
    return table_of()


@pytest.fixture
def ledger(tmp_path, table):
    return Ledger.create(tmp_path / "study.ledger", table, "ill", "2x")


def test_releases_are_judged_together(ledger, table, tmp_path):
    first, second = ledger.plan([BINS]), ledger.plan([SHIFTED, NOISY])
    after_one, after_both = ledger.what_if(table, [first, second])
    assert (after_one.deciding.upper.ratio, after_both.deciding.upper.ratio) == (
        Fraction(6, 5),
        Fraction(4, 3),
    )
    assert not ledger.releases(), "nothing is charged"
    ledger.release(table, first, tmp_path / "one.csv")
    ledger.release(table, second, tmp_path / "two.csv", key="second")
    assert [(one.state, one.name) for one in ledger.releases()] == [("released", "1"), ("released", "2")]
    assert ledger.account(table).deciding.upper.ratio == Fraction(4, 3)
    assert ledger.releases()[1].standings[0].upper.ratio == Fraction(4, 3)
    assert ledger.releases()[1].plan == second


def test_the_receipt_names_the_entry_and_tells_an_older_copy(ledger, table, tmp_path):
    ledger.release(table, ledger.plan([BINS]), tmp_path / "one.csv")
    old = ledger.path.read_bytes()
    done = ledger.release(table, ledger.plan([SHIFTED]), tmp_path / "two.csv")
    receipts = [tmp_path / "one.csv.receipt.json", done.receipt]
    ledger.verify(receipts)
    said = json.loads((tmp_path / "two.csv.receipt.json").read_text())["proved"]
    assert (said["ledger"]["entry"], said["ledger"]["id"]) == (4, ledger.id)
    assert "and every other release" in said["protects_against"]
    ledger.path.write_bytes(old)
    with pytest.raises(LedgerInvalid, match="older"):
        Ledger(ledger.path).verify(receipts)


def test_over_the_budget_is_refused_before_anything_is_drawn(ledger, table, tmp_path):
    ledger.release(table, ledger.plan([BINS]), tmp_path / "one.csv")
    before = ledger.entries()
    with pytest.raises(BudgetExceeded) as refused:
        ledger.release(table, ledger.plan(["age", "sex"]), tmp_path / "two.csv")
    said = str(refused.value)
    assert "at most 1.2 times" in said, "spent"
    assert "at most 3 times" in said, "asked"
    assert "a factor of 1.666 is left" in said, "left"
    assert "% of the detail still fit" in said
    assert ledger.entries() == before
    assert not list(tmp_path.glob("two.csv*"))


def test_protect_takes_the_past_into_account(ledger, table, tmp_path):
    ledger.release(table, ledger.plan([BINS]), tmp_path / "one.csv")
    found = ledger.protect(table, ["age", "sex"], seconds=1)
    alone = tl.protect(table, "ill", ["age", "sex"], "2x", seconds=1)
    assert 0 < found.kept <= alone.bound
    found.release(tmp_path / "two.csv", charge=ledger.charge(key="two"))
    assert ledger.account(table).kept
    assert ledger.releases()[1].state == "released"
    assert ledger.releases()[1].plan.local is not None


def test_a_reservation_stays_spent_until_it_is_settled(ledger, table, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise InvalidInput("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("tightlip.auditing.releasing.publish", fail)
        with pytest.raises(InvalidInput, match="disk is full"):
            ledger.release(table, ledger.plan([BINS]), tmp_path / "one.csv", key="one")
    assert [one.state for one in ledger.releases()] == ["reserved"]
    assert ledger.account(table).deciding.upper.ratio == Fraction(6, 5)
    with pytest.raises(InvalidInput, match="never confirmed; settle it first"):
        ledger.release(table, ledger.plan([BINS]), tmp_path / "one.csv", key="one")
    with pytest.raises(InvalidInput, match="reason must say"):
        ledger.settle("one", released=False, reason=" ")
    ledger.settle("one", released=False, reason="the disk was full, nothing was written")
    assert [one.state for one in ledger.releases()] == ["withdrawn"]
    with pytest.raises(InvalidInput, match="there is none"):
        ledger.settle("one", released=True, reason="again")
    with pytest.raises(InvalidInput, match="has no account yet"):
        ledger.account(table)


def test_another_table_is_refused(ledger, table, tmp_path):
    other = table_of([*ROWS, ("x", 3, "a")])
    with pytest.raises(InvalidInput, match="is not the table"):
        ledger.what_if(other, ledger.plan([BINS]))
    ledger.release(table, ledger.plan(["sex"]), tmp_path / "one.csv")
    moved = [(ill, age, "aab"[number % 3]) for number, (ill, age, _) in enumerate(ROWS)]
    with pytest.raises(InvalidInput, match="release 1 was made of"):
        ledger.account(table_of(moved))


def test_declared_releases_are_added_by_rules(ledger, table, tmp_path):
    ledger.release(table, ledger.plan([BINS]), tmp_path / "one.csv")
    ledger.declare("survey", {"ldp": log_of("3/2")}, table=table)
    found = ledger.account(table)
    assert found.deciding.upper.ratio <= Fraction(6, 5) * Fraction(3, 2)
    assert {use.name for use in found.deciding.rules.pml.uses} == {"survey", "the table"}
    assert ledger.releases()[1].standings[0].upper == found.deciding.upper
    safe = ledger.protect(table, ["sex", "age"], seconds=1)
    assert ledger.what_if(table, safe.policy)[-1].kept
    ledger.declare("leak", {"pml": log_of(2)}, acts_on="unknown")
    assert ledger.account(table).kept is False
    assert "leak" in ledger.account(table).deciding.rules.pml.uncovered
    with pytest.raises(BudgetExceeded, match="leak"):
        ledger.release(table, ledger.plan(["sex"]), tmp_path / "two.csv")
    with pytest.raises(InvalidInput, match="name must be new"):
        ledger.declare("survey", {"ldp": log_of(2)})


def test_what_no_account_covers_is_refused(ledger, table, tmp_path):
    plan = ledger.plan([BINS])
    with pytest.raises(InvalidInput, match="keep must be left out"):
        ledger.release(table, plan, tmp_path / "one.csv", keep=["sex"])
    with pytest.raises(InvalidInput, match="seed_for_tests must be left out"):
        ledger.release(table, plan, tmp_path / "one.csv", seed_for_tests=1)
    with pytest.raises(InvalidInput, match="secret must be that"):
        ledger.release(table, Policy("sex", ["age"]), tmp_path / "one.csv")
    assert len(ledger.entries()) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ill", None), "budget must be given"),
        (("il", "2x"), "did you mean"),
        (({"ill": ["z"]}, "2x"), "z"),
        (("ill", "10%"), "cannot be kept"),
    ],
)
def test_a_ledger_that_makes_no_sense_is_not_made(tmp_path, table, arguments, said):
    with pytest.raises(InvalidInput, match=said):
        Ledger.create(tmp_path / "study.ledger", table, *arguments)
    assert not (tmp_path / "study.ledger").exists()


def test_terms_of_some_rows_and_codes_are_kept(tmp_path):
    rows = [*ROWS, *(("?", age, "a") for age in range(0, 30, 2)), ("x", 40, "b")]
    terms = {"missing": {"ill": ["?"]}, "where": "age < 30", "delta": "0.1"}
    table = table_of(rows)
    ledger = Ledger.create(tmp_path / "study.ledger", table, "ill", {"ill": "log(5)"}, **terms)
    plan = ledger.plan([BINS], where="sex = a")
    assert [str(one) for one in plan.where] == ["age < 30", "sex = a"]
    done = ledger.release(table, plan, tmp_path / "one.csv")
    assert done.published.rows == 75
    assert Ledger(ledger.path).terms == ledger.terms


def test_a_copy_that_went_on_alone_is_told(ledger, table, tmp_path):
    copy = tmp_path / "copy.ledger"
    copy.write_bytes(ledger.path.read_bytes())
    copy.chmod(0o600)
    done = ledger.release(table, ledger.plan([BINS]), tmp_path / "one.csv")
    other = Ledger(copy)
    other.release(table, other.plan([SHIFTED]), tmp_path / "two.csv")
    with pytest.raises(LedgerInvalid):
        other.verify([done.receipt])
    with pytest.raises(LedgerInvalid, match="not the ledger of the receipt"):
        Ledger.create(tmp_path / "new.ledger", table, "ill", "2x").verify([done.receipt])


def test_what_is_left_is_split_over_planned_releases(ledger, table, tmp_path):
    assert [part.level.ratio for part in ledger.split(table, 1)] == [2]
    ledger.release(table, ledger.plan([BINS]), tmp_path / "one.csv")
    parts = ledger.split(table, 3)
    for number, part in enumerate(parts):
        ledger.declare(f"part {number}", {part.kind: part.level.ratio and log_of(part.level.ratio)})
    found = ledger.account(table)
    assert found.kept
    assert found.deciding.upper.ratio <= 2


def test_a_ledger_of_several_secrets_judges_each(tmp_path, table):
    ledger = Ledger.create(
        tmp_path / "two.ledger", table, ["ill", "sex"], {"ill": "2x", "sex": "log(3)"}, jointly=True
    )
    found = ledger.what_if(table, ledger.plan([BINS]))[-1]
    assert set(found.secrets) == {"ill × sex", "ill", "sex"}
    assert found.kept


def reserved_only(ledger, table, path, monkeypatch, key):
    """A release that failed after it was reserved."""

    def fail(*_, **__):
        raise InvalidInput("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("tightlip.auditing.releasing.publish", fail)
        with pytest.raises(InvalidInput, match="disk is full"):
            ledger.release(table, ledger.plan([BINS]), path, key=key)


def test_what_is_written_after_it_was_settled_counts(ledger, table, tmp_path, monkeypatch):
    from tightlip.auditing import releasing

    publish = releasing.publish

    def slow(*arguments, **options):
        Ledger(ledger.path).settle("one", released=False, reason="nobody seemed to be at it")
        return publish(*arguments, **options)

    monkeypatch.setattr(releasing, "publish", slow)
    ledger.release(table, ledger.plan([BINS]), tmp_path / "one.csv", key="one")
    assert [one.state for one in ledger.releases()] == ["released"]


def test_settling_a_release_leaves_declared_ones_alone(ledger, table, tmp_path, monkeypatch):
    reserved_only(ledger, table, tmp_path / "one.csv", monkeypatch, "survey")
    with pytest.raises(InvalidInput, match="name must be new"):
        ledger.declare("survey", {"ldp": log_of(2)})
    # as a ledger of an older version may have it
    body = {"guarantees": {"ldp": "log(2)"}, "acts_on": "record", "adaptive": "no"}
    ledger._store.append(
        "declare",
        "survey",
        body | {"min_mass": None, "statistic": None},
        after=ledger.entries()[-1].digest,
    )
    with pytest.raises(InvalidInput, match="must be of one release"):
        ledger.settle("survey", released=False, reason="the disk was full")
    ledger.settle("1", released=False, reason="the disk was full")
    assert [one.state for one in ledger.releases()] == ["withdrawn", "released"]


def test_a_key_that_is_the_number_of_another_release_settles_neither(ledger, table, tmp_path, monkeypatch):
    reserved_only(ledger, table, tmp_path / "one.csv", monkeypatch, "2")
    reserved_only(ledger, table, tmp_path / "two.csv", monkeypatch, "other")
    with pytest.raises(InvalidInput, match="must be of one release"):
        ledger.settle("2", released=False, reason="which one?")
    ledger.settle("other", released=False, reason="the disk was full")
    assert [one.state for one in ledger.releases()] == ["reserved", "withdrawn"]


def test_two_processes_with_one_key_draw_once(ledger, table, tmp_path, monkeypatch):
    other, measure, done = Ledger(ledger.path), ledger._measure, []

    def slow(*arguments, **options):
        if not done:
            done.append(other.release(table, other.plan([NOISY]), tmp_path / "one.csv", key="one"))
        return measure(*arguments, **options)

    monkeypatch.setattr(ledger, "_measure", slow)
    with pytest.raises(InvalidInput, match="was used"):
        ledger.release(table, ledger.plan([NOISY]), tmp_path / "two.csv", key="one")
    assert not (tmp_path / "two.csv").exists()


def test_names_that_accounts_use_are_not_declared(ledger, table):
    for name in ("the table", "noise on sex of 1"):
        with pytest.raises(InvalidInput, match="name must be new"):
            ledger.declare(name, {"ldp": log_of(2)})


def test_a_plan_that_the_ledger_did_not_judge_is_not_charged(tmp_path, table):
    ledger = Ledger.create(tmp_path / "two.ledger", table, ["ill", "sex"], "factor 11/10")
    plan = Policy("ill", ["age", Released("sex2", Keep())])
    wide = table.append_column("sex2", table["sex"])
    found = tl.protect(
        wide, "ill", plan.release, "3x", levels={"age": ["as is"], "sex2": ["as is"]}, seconds=1
    )
    with pytest.raises(InvalidInput, match="policy must be about the secrets"):
        found.release(tmp_path / "one.csv", charge=ledger.charge())
    assert not ledger.releases()
    assert not (tmp_path / "one.csv").exists()


def test_codes_of_the_column_that_selects_people_are_those_of_the_ledger(tmp_path):
    rows = [(ill, 99 if number % 7 == 0 else age, sex) for number, (ill, age, sex) in enumerate(ROWS)]
    ledger = Ledger.create(
        tmp_path / "some.ledger", table_of(rows), "ill", "2x", where="age < 200", missing={"age": ["99"]}
    )
    with pytest.raises(InvalidInput, match="missing codes of the column of where"):
        ledger.plan(["sex"], missing={"age": ["98"]})


def test_secrets_are_not_written_beside_what_was_drawn(ledger, table, tmp_path):
    ledger.release(table, ledger.plan([BINS]), tmp_path / "one.csv", with_secret=True)
    with pytest.raises(InvalidInput, match="beside a random release"):
        ledger.release(table, ledger.plan([NOISY]), tmp_path / "two.csv")
    other = Ledger.create(tmp_path / "other.ledger", table, "ill", "2x")
    other.release(table, other.plan([NOISY]), tmp_path / "three.csv")
    with pytest.raises(InvalidInput, match="beside a random release"):
        other.release(table, other.plan([BINS]), tmp_path / "four.csv", with_secret=True)
    assert len(other.releases()) == 1


def test_a_split_keeps_every_budget_beside_everything(tmp_path, table):
    ledger = Ledger.create(tmp_path / "one.ledger", table, "ill", "2x")
    ledger.declare("survey", {"ldp": log_of("3/2")})
    assert [part.level.ratio for part in ledger.split(table, 1)] == [Fraction(4, 3)]
    assert ledger.protect(table, ["age"], seconds=1).kept > 0, "nothing of the table is out yet"
    rows = [("xy"[number % 3 == 0], number % 30, "abcdefghij"[number % 10]) for number in range(120)]
    several = table_of(rows)
    both = Ledger.create(
        tmp_path / "two.ledger", several, ["ill", "sex"], {"ill": "factor 13/10", "sex": "20x"}
    )
    assert [part.level.ratio for part in both.split(several, 1)] == [Fraction(13, 10)]
    both.release(several, both.plan([Released("age", Bins(width=3))]), tmp_path / "one.csv")
    found = both.account(several).secrets
    assert found["sex"].upper > found["ill"].upper
    (part,) = both.split(several, 1)
    assert part.level.ratio <= Fraction(13, 10) / found["ill"].upper.ratio
    second = Ledger.create(tmp_path / "three.ledger", table, ["ill", "sex"], {"sex": "3x"})
    assert [part.level.ratio for part in second.split(table, 1)] == [3]


def test_a_column_called_like_the_entry_of_some_rows_is_counted(tmp_path, table):
    named = table.rename_columns(["ill", "is in it", "sex"])
    ledger = Ledger.create(tmp_path / "one.ledger", named, "ill", "4x")
    plan = ledger.plan(["is in it"], where="sex = a")
    assert ledger.what_if(named, plan)[-1].deciding.upper.ratio == 3


def test_a_table_whose_counts_go_together_in_another_way_is_refused(tmp_path):
    """Each release has the same counts in both tables, and both together have not."""
    rows = [(ill, age, sex) for ill in "xy" for age in (1, 12) for sex in "ab" for _ in range(5)]
    swapped = [(ill, age, "a" if age == 1 else "b") for ill in "xy" for age in (1, 12) for _ in range(10)]
    ledger = Ledger.create(tmp_path / "study.ledger", table_of(rows), "ill", "3x")
    ledger.release(table_of(rows), ledger.plan([BINS]), tmp_path / "one.csv")
    ledger.release(table_of(rows), ledger.plan(["sex"]), tmp_path / "two.csv")
    assert ledger.account(table_of(rows)).kept
    with pytest.raises(InvalidInput, match="releases 1, 2 were made of"):
        ledger.account(table_of(swapped))
