"""A release counted again beside its table: forged receipts and false rows are found, true ones are not."""

import csv
import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

import tightlip as tl
from contract.warnings_of_engines import IGNORED
from tightlip.auditing.receipt import KIND
from tightlip.certificate.base import kind_digest
from tightlip.cli.main import main
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import Bins, Prefix, TopCode
from tightlip.table.truth import says_truth

pytestmark = IGNORED


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(3)
    rows = 300
    age = draw.integers(20, 60, rows)
    town = draw.choice(["north", "=south", "1.10"], rows).astype(object)
    town[:5] = None
    day = draw.choice(["2024-01-05", "2024-02-07", "2024-11-30"], rows)
    ill = np.where(draw.random(rows) < 0.15 + 0.5 * (age > 50), "flu", "none")
    table = pd.DataFrame({"nr": range(rows), "age": age, "town": town, "day": day, "ill": ill})
    table.to_parquet("people.parquet")
    return table


def protect(path, budget="2x", **options):
    columns = ["age", "town", "day"]
    return tl.protect("people.parquet", "ill", columns, budget, seconds=1, **options).release(
        path, keep=["nr"]
    )


def verify(capsys, path, *more):
    status = main(["verify", f"{path}.receipt.json", *more])
    captured = capsys.readouterr()
    return status, " ".join(captured.out.split()), captured.err


def forge(path, change):
    """A receipt that says something else, with digests that fit."""
    place = Path(f"{path}.receipt.json")
    receipt = json.loads(place.read_text())
    change(receipt)
    receipt["files"]["output"]["sha256"] = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    facts = {key: value for key, value in receipt.items() if key not in ("format", "kind", "inputs")}
    receipt["inputs"] = kind_digest(KIND, facts)
    place.write_text(json.dumps(receipt))


def said_to_leak_nothing(receipt):
    receipt["proved"]["leakage_nats"] = 0.001


@pytest.mark.parametrize("path", ["safe.csv", "safe.parquet", "safe.duckdb", "safe.sqlite"])
def test_a_true_release_is_valid(capsys, people, path):
    done = protect(path)
    status, text, err = verify(capsys, path, "--table", "people.parquet")
    assert (status, err) == (0, "")
    assert text.startswith("Valid: counted again")
    assert "No guarantee covers nr" in text
    status, text, _ = verify(capsys, path, "--table", "people.parquet", "--json")
    record = json.loads(text)
    assert record["valid"] is True
    assert record["counted_again"]["leakage"] == float(done.leakage)


def test_without_the_table_only_what_was_checked_is_said(capsys, people):
    protect("safe.csv")
    forge("safe.csv", said_to_leak_nothing)
    status, text, _ = verify(capsys, "safe.csv")
    assert status == 0
    assert text.startswith("Unchanged: ")
    assert "it states" in text
    assert "was not checked" in text
    assert json.loads(verify(capsys, "safe.csv", "--json")[1])["valid"] is None


def test_a_forged_leakage_is_found(capsys, people):
    protect("safe.csv")
    forge("safe.csv", said_to_leak_nothing)
    status, _, err = verify(capsys, "safe.csv", "--table", "people.parquet")
    assert status == 1
    assert "more than the receipt states" in err


def _rewrite(change):
    with Path("safe.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    change(rows)
    with Path("safe.csv").open("w", newline="") as file:
        writer = csv.DictWriter(
            file, rows[0], quoting=csv.QUOTE_NOTNULL if hasattr(csv, "QUOTE_NOTNULL") else 0
        )
        writer.writeheader()
        writer.writerows(rows)


def _other_age(rows):
    rows[0]["age"] = "19"


def _one_less(rows):
    rows.pop()


def _swapped(rows):
    rows.reverse()


def _hidden_for_one(rows):
    rows[7]["age"] = rows[7]["town"] = rows[7]["day"] = "*"


@pytest.mark.parametrize("change", [_other_age, _one_less, _swapped, _hidden_for_one])
def test_rows_that_are_not_those_of_the_table_are_found(capsys, people, change):
    people.town = "north"
    people.to_parquet("people.parquet")
    protect("safe.csv", "100x")
    _rewrite(lambda rows: None)
    forge("safe.csv", lambda receipt: None)
    assert verify(capsys, "safe.csv", "--table", "people.parquet")[0] == 0
    _rewrite(change)
    forge("safe.csv", lambda receipt: None)
    status, _, err = verify(capsys, "safe.csv", "--table", "people.parquet")
    assert status == 1
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"budget": [{"about": ["ill"], "of": "every value", "level": "1.1x"}]}, "exceed the budget"),
        ({"budget": [{"about": ["ill"], "of": "every value", "level": "51%"}]}, "exceed the budget"),
        ({"min_count": 290}, "fewer than 290"),
    ],
)
def test_limits_that_the_release_does_not_keep_are_found(capsys, people, asked, problem):
    protect("safe.csv")
    forge("safe.csv", lambda receipt: receipt["asked"].update(asked))
    status, _, err = verify(capsys, "safe.csv", "--table", "people.parquet")
    assert status == 1
    assert problem in err


def test_plain_policies_and_limits_of_single_values(capsys, people):
    release = [Released("age", TopCode(50)), Released("town", Prefix(2)), Released("day", Prefix(4))]
    tl.release("people.parquet", Policy("ill", release, min_count=4), "top.csv")
    assert verify(capsys, "top.csv", "--table", "people.parquet")[0] == 0
    tl.release("people.parquet", Policy("ill", [Released("age", Bins(width=3))]), "bins.csv")
    assert verify(capsys, "bins.csv", "--table", "people.parquet")[0] == 0
    protect("one.csv", {"ill": {"flu": "40%"}})
    assert "single values were not checked" in verify(capsys, "one.csv", "--table", "people.parquet")[1]


@pytest.mark.parametrize("part", ["asked", "written"])
def test_a_receipt_without_what_is_needed_is_refused_in_one_line(capsys, people, part):
    protect("safe.csv")
    for change in ({}, {"secret": 3, "columns": 3}, {"secret": ["ill"], "release": 5, "columns": [[]]}):
        forge("safe.csv", lambda receipt, change=change: receipt.update({part: change}))
        status, _, err = verify(capsys, "safe.csv", "--table", "people.parquet")
        assert status in (1, 2)
        assert err.count("\n") == 1


def test_what_cannot_be_compared_is_refused(capsys, people):
    protect("safe.csv", randomised=True)
    status, _, err = verify(capsys, "safe.csv", "--table", "people.parquet")
    assert status == 2
    assert "drawn by chance" in err
    said = verify(capsys, "safe.csv")[1]
    assert "--table" not in said
    assert "was not checked; files cannot show it here: tightlip audit of the table under the policy" in said


@pytest.mark.parametrize(
    ("label", "value", "truth"),
    [
        ("25", "25", True),
        ("26", "25", False),
        ("[20, 25)", "25", False),
        ("[25, 30)", "25", True),
        ("[-5, 2.5)", "-5", True),
        ("<18", "18", False),
        ("≥18", "18", True),
        ("(18, 20)", "18", False),
        ("(18, 20)", "18.5", True),
        ("(18, 20)", "20", False),
        (">18", "18", False),
        (">18", "19", True),
        ("≤17", "18", False),
        ("*", "25", True),
        (None, "25", False),
        ("25", None, False),
        ("young", "25", None),
        ("ab…", "abc", True),
        ("ab…", "acb", False),
        ("2024-Q1", "2024-03-31", True),
        ("2024-Q1", "2024-04-01", False),
        ("2024", "2025-01-01", False),
        ("2024-03", "2024-03-31", True),
        ("north", "south", False),
    ],
)
def test_what_labels_say(label, value, truth):
    assert says_truth(label, value, {"25", "26", "north", value}) is truth


def _with_more(people, path):
    """Put the secret into a released file, beside what the receipt names."""
    if path.endswith(".parquet"):
        pd.read_parquet(path).assign(diagnosis=people.ill).to_parquet(path)
    elif path.endswith(".csv"):
        pd.read_csv(path, dtype=str).assign(diagnosis=people.ill).to_csv(path, index=False)
    elif path.endswith(".sqlite"):
        with closing(sqlite3.connect(path)) as connection:
            people[["ill"]].to_sql("raw", connection, index=False)
    else:
        with duckdb.connect(path) as connection:
            connection.execute("CREATE TABLE raw (ill VARCHAR)")


@pytest.mark.parametrize("path", ["safe.csv", "safe.parquet", "safe.duckdb", "safe.sqlite"])
def test_a_file_with_more_in_it_is_refused(capsys, people, path):
    protect(path)
    _with_more(people, path)
    forge(path, lambda receipt: None)
    status, _, err = verify(capsys, path, "--table", "people.parquet")
    assert status == 1
    assert "other columns or tables than the receipt names" in err


def test_a_secret_column_that_is_not_the_tables_is_refused(capsys, people):
    safe = tl.protect("people.parquet", "ill", ["age", "town"], "2x", seconds=1)
    safe.release("safe.csv", with_secret=True)
    assert verify(capsys, "safe.csv", "--table", "people.parquet")[0] == 0
    shown = pd.read_csv("safe.csv", dtype=str)
    shown.assign(ill="flu").to_csv("safe.csv", index=False)
    forge("safe.csv", lambda receipt: None)
    status, _, err = verify(capsys, "safe.csv", "--table", "people.parquet")
    assert status == 1
    assert 'in column "ill" what is not true' in err


def test_a_value_of_the_column_is_never_the_start_of_another():
    assert says_truth("1", "12", ["1", "12"], shortened=True) is False
    assert says_truth("1", "12", ["12"], shortened=True) is True


PLAN = """
where = ["age >= 25", "town is not missing"]
release = ["age", "town", "day"]
[missing]
town = ["1.10"]
[secret.ill]
values = ["flu"]
not_secret = ["unasked"]
"""


def test_a_plan_of_some_rows_is_released_and_counted_again(capsys, people):
    people.loc[people.nr % 7 == 0, "ill"] = "unasked"
    people.to_parquet("people.parquet")
    Path("plan.toml").write_text(PLAN)
    meant = people[(people.age >= 25) & people.town.notna() & (people.town != "1.10")]
    asked = ("people.parquet", "--policy", "plan.toml")
    assert main(["protect", *asked, "--budget", "2x", "--out", "safe.csv", "--seconds", "1"]) == 0
    capsys.readouterr()
    shown = pd.read_csv("safe.csv", dtype=str)
    assert len(shown) == len(meant) < len(people)
    status, out, err = verify(capsys, "safe.csv", "--table", "people.parquet")
    assert (status, err) == (0, "")
    assert out.startswith("Valid")
    applies = (meant.ill != "unasked").to_numpy()
    ill = (meant.ill == "flu").to_numpy()[applies]
    share = (
        pd.Series(ill).groupby([shown[name].to_numpy()[applies] for name in ("age", "town", "day")]).mean()
    )
    factor = max((share / ill.mean()).max(), ((1 - share) / (1 - ill.mean())).max())
    receipt = json.loads(Path("safe.csv.receipt.json").read_text())
    assert receipt["proved"]["leakage_nats"] == pytest.approx(np.log(factor))
    assert factor <= 2 * (1 + 1e-12)


def test_a_secret_of_recodings_in_a_row_is_counted_again_without_its_file(capsys, people):
    Path("areas.csv").write_text("start,area\nno,cold\n=s,warm\n1.,warm\n")
    Path("plan.toml").write_text(
        '[secret.town]\nprefix = 2\nmapping = "areas.csv"\n[release.age]\nbins = 10\nbottom = 24\n'
    )
    assert main(["release", "table", "people.parquet", "--policy", "plan.toml", "--out", "safe.csv"]) == 0
    capsys.readouterr()
    Path("areas.csv").unlink()
    status, out, err = verify(capsys, "safe.csv", "--table", "people.parquet")
    assert (status, err) == (0, "")
    assert out.startswith("Valid")
    kept = people.assign(
        area=people.town.map({"north": "cold", "=south": "warm", "1.10": "warm"}).fillna("?"),
        age=people.age.where(people.age > 24, 24) // 10 * (people.age > 24),
    )
    share = kept.groupby("age").area.value_counts(normalize=True) / kept.area.value_counts(normalize=True)
    receipt = json.loads(Path("safe.csv.receipt.json").read_text())
    assert receipt["proved"]["leakage_nats"] == pytest.approx(np.log(share.max()))


def test_a_receipt_that_means_other_rows_is_found_out(capsys, people):
    Path("plan.toml").write_text(PLAN.replace('not_secret = ["unasked"]', ""))
    plain = (
        "release",
        "table",
        "people.parquet",
        "--policy",
        "plan.toml",
        "--out",
        "safe.csv",
        "--where",
        "age < 50",
    )
    assert main([*plain]) == 0
    capsys.readouterr()
    assert verify(capsys, "safe.csv", "--table", "people.parquet")[0] == 0
    meant = json.loads(Path("safe.csv.receipt.json").read_text())["asked"]["meant"]
    assert "age < 50" in meant
    for change in (
        lambda receipt: receipt["asked"].pop("meant"),
        lambda receipt: receipt["asked"].update(meant=meant.replace("age < 50", "age < 49")),
        lambda receipt: receipt["asked"].update(meant=meant.replace("1.10", "1.1")),
        lambda receipt: receipt["asked"].update(meant="[local]"),
    ):
        forge("safe.csv", change)
        status, out, _ = verify(capsys, "safe.csv", "--table", "people.parquet")
        assert status != 0
        assert not out.startswith("Valid")
        Path("safe.csv.receipt.json").unlink()
        Path("safe.csv").unlink()
        assert main([*plain]) == 0
        capsys.readouterr()
