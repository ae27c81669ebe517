"""The commands `protect` and `release table`: what they say and write, what a reader can find out, what is refused."""

import json
import math
import shlex
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from contract.warnings_of_engines import IGNORED
from tightlip.cli.main import main

pytestmark = IGNORED

ASKED = ("--secret", "ill", "--release", "age,town")
LEVELS = ("--levels", "age=as is,10,20,out")


@pytest.fixture
def people(tmp_path, monkeypatch):
    """A table of which some cells say much."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(11)
    rows = 400
    age = draw.integers(20, 60, rows)
    town = draw.choice(["north", "south"], rows)
    ill = np.where(draw.random(rows) < 0.15 + 0.5 * ((age > 50) & (town == "north")), "flu", "none")
    table = pd.DataFrame({"nr": range(rows), "age": age, "town": town, "ill": ill})
    table.to_csv("people.csv", index=False)
    return table


def run(capsys, *arguments):
    status = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def protect(capsys, *more):
    return run(capsys, "protect", "people.csv", *ASKED, *LEVELS, "--seconds", 1, *more)


def worst_factor(published: pd.Series, secret: pd.Series) -> Fraction:
    """The largest factor by which a published value raises the share of a secret, by definition."""
    total, held = len(secret), Counter(secret)
    cells, joint = Counter(published), Counter(zip(published, secret, strict=True))
    return max(Fraction(n * total, cells[cell] * held[own]) for (cell, own), n in joint.items())


def test_levels_first_then_the_answer_then_what_was_written(capsys, people):
    status, text, err = protect(capsys, "--budget", "log(2)", "--out", "safe.parquet", "--keep", "nr")
    assert (status, err) == (0, "")
    words = " ".join(text.split())
    places = [
        words.index(part)
        for part in (
            "age: as is → in bins of 10 → in bins of 20 → out",
            "of the detail",
            "400 rows with the columns",
            "Wrote the rows: ",
        )
    ]
    assert places == sorted(places)
    assert "covered by no guarantee: nr" in words
    shown = pd.read_parquet("safe.parquet")
    assert shown.columns.tolist() == ["nr", "age", "town"]
    assert shown.nr.tolist() == people.nr.tolist()


def test_the_reader_learns_from_the_file_what_was_promised(capsys, people):
    """Of a deterministic release, and with the secret beside it, from the file alone."""
    status, text, _ = protect(
        capsys, "--budget", "3x", "--budget", "ill=1.8x", "--out", "safe.csv", "--with-secret", "--json"
    )
    assert status == 0
    record = json.loads(text)
    shown = pd.read_csv("safe.csv", dtype=str, keep_default_na=False)
    published = shown.age + "|" + shown.town
    factor = worst_factor(published, shown.ill)
    assert factor <= Fraction(9, 5)
    assert Fraction(record["release"]["leakage"]["ratio"]) == factor
    receipt = json.loads(Path("safe.csv.receipt.json").read_text())
    assert receipt["proved"]["leakage_nats"] == pytest.approx(math.log(factor), rel=1e-12)
    # the neighbour knows a person's own columns: what is published of them is a function of these
    by_cell = published.groupby([people.age, people.town]).nunique()
    assert (by_cell == 1).all()
    assert shown.ill.tolist() == people.ill.tolist()
    for own, age, town in zip(shown.itertuples(), people.age, people.town, strict=True):
        assert own.town in (town, "*")
        assert own.age in (str(age), "*") or _within(own.age, age)


def _within(label: str, age: int) -> bool:
    low, high = label.strip("[)").split(",")
    return int(low) <= age < int(high)


def test_a_drawn_release_tells_on_average_what_was_promised(capsys, people, monkeypatch):
    """The shares of secrets among rows of each published value, over many drawn files, are those of the kernel."""
    import tightlip as tl

    safe = tl.protect(
        "people.csv", "ill", ["age", "town"], "1.5x", levels={"age": ["as is", 20, "out"]}, randomised=True
    )
    local = safe.policy.local
    assert not local.deterministic
    found: Counter = Counter()
    times = 15
    for seed in range(times):
        safe.release(f"safe{seed}.csv", seed_for_tests=seed)
        shown = pd.read_csv(f"safe{seed}.csv", dtype=str, keep_default_na=False)
        found.update(zip(shown.age, shown.town, people.ill, strict=True))
    promised = {}
    published = safe.published
    tally = published.tally
    for secret, cell, count in zip(
        tally.secret.tolist(), tally.cell.tolist(), tally.count.tolist(), strict=True
    ):
        key = (*published.cell_label(cell), *published.secret_label(secret))
        promised[key] = count / local.scale * times
    assert set(found) <= set(promised)
    for key, mean in promised.items():
        assert abs(found[key] - mean) < 6 * math.sqrt(mean + 1)


def test_json_has_levels_and_files(capsys, people):
    status, text, err = protect(
        capsys,
        "--budget",
        "90%",
        "--randomised",
        "--json",
        "--policy-out",
        "plan.toml",
        "--certificate",
        "proof.json",
    )
    record = json.loads(text)
    assert (status, err) == (0, "")
    assert record["levels"]["age"] == ["as is", "in bins of 10", "in bins of 20", "out"]
    assert record["written"] == {
        "policy": "plan.toml",
        "proof": "proof.json",
        "recoding": "plan.recoding.parquet",
    }
    assert record["release"] is None
    status, text, _ = run(capsys, "verify", "proof.json")
    assert status == 0
    assert "meets its budget" in text
    status, text, _ = run(
        capsys, "release", "table", "people.csv", "--policy", "plan.toml", "--out", "safe.duckdb"
    )
    assert status == 0
    assert "read back and checked (random)" in " ".join(text.split())


def test_a_seed_is_told(capsys, people):
    status, text, err = protect(
        capsys,
        *("--budget", "1.5x", "--randomised", "--out", "safe.csv", "--seed-for-tests", 4),
        *("--html", "page.html"),
    )
    assert status == 0
    assert "UNSAFE: drawn with a seed" in Path("page.html").read_text()
    assert "UNSAFE" in text
    assert "whoever knows the seed" in err
    assert json.loads(Path("safe.csv.receipt.json").read_text())["written"]["unsafe"]
    assert protect(capsys, "--budget", "1.5x", "--html", "other.html")[0] == 0
    assert "UNSAFE" not in Path("other.html").read_text()


def test_a_column_stays_as_it_is(capsys, people):
    status, _, _ = protect(
        capsys, "--budget", "2x", "--keep-as-is", "town", "--out", "safe.csv", "--weight", "town=2"
    )
    assert status == 0
    assert pd.read_csv("safe.csv").town.tolist() == people.town.tolist()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ((), "--budget must be given"),
        (("--budget", "3"), "budget must"),
        (("--budget", "3"), '--budget must say what it is, got 3; write "3x" (a factor), "3 nats", or "3%"'),
        (("--budget", "3 times"), '"3x", "log(3)"'),
        (("--budget", "log(3"), "log(3"),
        (("--budget", "il=3x"), 'did you mean "ill"'),
        (("--budget", "il=flu=3x"), 'did you mean "ill"'),
        (("--budget", "ill=flue=3x"), "must name values that occur"),
        (("--budget", "2x", "--pmc", "il=3x"), '--pmc secret column "il" is not there; did you mean "ill"'),
        (("--budget", "2x", "--weight", "aeg=2"), '--weight column "aeg" is not there; did you mean "age"'),
        (
            ("--budget", "2x", "--keep-as-is", "twon"),
            '--keep-as-is column "twon" is not there; did you mean "town"',
        ),
        (
            ("--budget", "2x", "--levels", "twon=out"),
            '--levels column "twon" is not there; did you mean "town"',
        ),
        (("--budget", "=2x"), "LEVEL, COLUMN=LEVEL or COLUMN=VALUE=LEVEL"),
        (("--budget", "age=2x"), "age"),
        (("--budget", "2x", "--randomised", "--with-secret", "--out", "safe.csv"), "--with-secret must not"),
        (("--budget", "2x", "--keep", "nr"), "--keep must be given with --out"),
        (("--budget", "2x", "--out", "people.csv", "--force"), "which is read and would be lost"),
        (("--budget", "2x", "--out", "safe.txt"), "ends with .csv"),
        (("--budget", "2x", "--out", "safe.csv", "--certificate", "safe.csv"), "is asked for twice"),
        (("--budget", "2x", "--out", "safe.csv", "--html", "page.pdf"), "must end in .html"),
        (("--budget", "2x", "--levels", "age=5"), "given once for column"),
        (("--budget", "2x", "--keep-as-is", "age"), "must not be given with --levels"),
        (("--budget", "2x", "--weight", "age"), "--weight must be COLUMN=NUMBER"),
        (("--budget", "2x", "--min-count", "3", "--randomised"), "deterministic"),
        (("--budget", "0.1%"), "must be one that publishing nothing meets"),
        (("--budget", "2x", "--out", "safe.csv", "--keep", "nrr"), 'did you mean "nr"'),
    ],
)
def test_what_is_refused_in_one_line(capsys, people, tmp_path, options, problem):
    before = people.to_csv(index=False)
    status, _, err = protect(capsys, *options)
    assert status == 2
    assert err.count("\n") == 1
    assert problem in err
    assert Path("people.csv").read_text() == before
    assert [file.name for file in tmp_path.iterdir()] == ["people.csv"]


@pytest.fixture
def written(capsys, people):
    assert protect(capsys, "--budget", "2x", "--out", "safe.csv", "--policy-out", "plan.toml")[0] == 0
    return json.loads(Path("safe.csv.receipt.json").read_text())


def test_a_receipt_and_its_files_verify(capsys, written):
    status, text, err = run(capsys, "verify", "safe.csv.receipt.json")
    assert (status, err) == (0, "")
    assert text.startswith("Unchanged: the files are as they were")
    assert set(written["files"]) == {"output", "policy", "local recoding"}
    assert written["command"].startswith("tightlip protect people.csv --secret ill")
    assert written["asked"]["limits"][0]["level"] == "log(2)"


def test_a_receipt_says_what_was_given(capsys, people):
    given = ["--budget", "2.5x", "--budget", "ill=95 %", "--pmc", "log(8)", "--delta", "0.01"]
    assert protect(capsys, *given, "--weight", "age=2", "--out", "safe.csv")[0] == 0
    asked = json.loads(Path("safe.csv.receipt.json").read_text())["asked"]
    assert asked["budget"] == [
        {"about": ["ill"], "of": "every value", "level": "2.5x"},
        {"about": ["ill"], "of": "every value", "level": "95 %"},
    ]
    assert asked["pmc"] == [{"about": ["ill"], "of": "every value", "level": "log(8)"}]
    assert asked["delta"] == "0.01"
    assert "min_count" not in asked
    assert asked["levels"]["age"] == {
        "given": True,
        "weight": "2",
        "levels": ["as is", "in bins of 10", "in bins of 20", "out"],
    }
    assert asked["levels"]["town"] == {"given": False, "weight": "1", "levels": ["as is", "out"]}


def test_a_receipt_of_budgets_for_values_names_no_value(people):
    import tightlip as tl

    budget = [Fraction(3, 2), {"ill": [{"flu": ["2x", 0.5], "none": "3x"}, tl.Nats(1.25)]}]
    towns = {"town": ["as is", {"north": "here", "south": "here"}]}
    safe = tl.protect("people.csv", "ill", ["age", "town"], budget, levels=towns, min_count=3, seconds=0.2)
    asked = json.loads(safe.release("safe.csv").receipt_path.read_text())["asked"]
    assert [(own["of"], own["level"]) for own in asked["budget"]] == [
        ("every value", "3/2 nats"),
        ("one value", "2x"),
        ("one value", "0.5 nats"),
        ("one value", "3x"),
        ("every value", "1.25 nats"),
    ]
    assert asked["min_count"] == 3
    assert asked["levels"]["town"]["levels"] == ["as is", "mapped to 1 group"]
    assert not any(value in json.dumps(asked) for value in ("flu", "none", "north", "south", "here"))


def test_a_receipt_has_no_values(written):
    text = json.dumps({key: part for key, part in written.items() if key != "command"})
    assert not any(value in text for value in ('"flu"', '"none"', "north", "south"))


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record["proved"].update(leakage_nats=0.1),
        lambda record: record["proved"].update(detail_kept=1.0),
        lambda record: record["files"]["output"].update(sha256="0" * 64),
        lambda record: record["files"].pop("policy"),
        lambda record: record.update(counts="0" * 64),
        lambda record: record["written"].update(rows=401),
        lambda record: record.update(inputs="0" * 64),
        lambda record: record["files"]["output"].update(sha256="no"),
        lambda record: record["files"]["output"].update(name=3),
    ],
)
def test_a_changed_receipt_does_not_verify(capsys, written, change):
    change(written)
    Path("other.json").write_text(json.dumps(written))
    status, text, err = run(capsys, "verify", "other.json")
    assert (status, text, err.count("\n")) == (1, "", 1)


@pytest.mark.parametrize("name", ["safe.csv", "plan.toml", "plan.recoding.parquet"])
def test_a_changed_or_missing_file_does_not_verify(capsys, written, tmp_path, name):
    kept = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(kept + b"\n")
    status, _, err = run(capsys, "verify", "safe.csv.receipt.json")
    assert (status, err.count("\n")) == (1, 1)
    assert name in err
    (tmp_path / name).unlink()
    status, _, err = run(capsys, "verify", "safe.csv.receipt.json")
    assert (status, err.count("\n")) == (2, 1)
    assert "is not there" in err


def test_a_receipt_is_known_from_any_folder(capsys, written, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path.parent)
    assert run(capsys, "verify", tmp_path / "safe.csv.receipt.json")[0] == 0


def test_a_table_that_changed_since_is_not_released(people, tmp_path):
    import tightlip as tl

    safe = tl.protect("people.csv", "ill", ["age", "town"], "2x", seconds=0.5)
    people.assign(ill=np.where(people.nr == 0, "none", people.ill)).iloc[:-1].to_csv(
        "people.csv", index=False
    )
    with pytest.raises(tl.errors.InvalidInput, match="has changed since it was protected"):
        safe.release("safe.csv")
    assert not (tmp_path / "safe.csv").exists()
    assert not (tmp_path / "safe.csv.receipt.json").exists()


def test_release_table_by_a_policy_with_noise(capsys, people):
    Path("plan.toml").write_text(
        'secret = ["ill"]\nmin_count = 3\n[release.age]\nbins = 10\n[release.town]\nrandomized_response = "log(3)"\n'
    )
    asked = ("release", "table", "people.csv", "--policy", "plan.toml", "--out", "safe.csv")
    status, text, _ = run(capsys, *asked, "--json", "--keep", "nr")
    record = json.loads(text)
    assert status == 0
    assert record["release"] == "random"
    assert record["kept_without_guarantee"] == ["nr"]
    assert run(capsys, "verify", "safe.csv.receipt.json")[0] == 0
    status, _, err = run(capsys, *asked)
    assert status == 2
    assert "exists already" in err
    status, _, err = run(capsys, *asked, "--with-secret", "--force")
    assert status == 2
    assert "random release" in err
    status, _, err = run(capsys, *asked[:-1], "plan.toml", "--force")
    assert status == 2


def test_a_budget_of_one_value_is_kept_and_others_are_free(capsys, people):
    """With "=" in the names of column and value; counted in the file by definition."""
    odd = people.rename(columns={"ill": "ill=now", "nr": "ill"}).replace({"ill=now": {"flu": "=flu=>a"}})
    odd.to_csv("people.csv", index=False)
    options = ("--secret", '"ill=now"', "--release", "age,town", *LEVELS, "--seconds", 1, "--out", "safe.csv")
    status, _, err = run(capsys, "protect", "people.csv", *options, "--budget", "ill=now==flu=>a=40%")
    assert (status, err) == (0, "")
    shown = pd.read_csv("safe.csv", dtype=str)
    ill = (odd["ill=now"] == "=flu=>a").groupby([shown.age, shown.town]).mean()
    assert ill.max() <= 0.4 < (odd["ill=now"] == "=flu=>a").groupby([odd.age, odd.town]).mean().max()
    assert (1 - ill).max() > 0.9  # of the other value nothing was asked


def test_what_an_audit_advises_to_run_runs(capsys, people):
    """With a comma in a name and with recodings, which `protect` takes as flags too."""
    odd = people.rename(columns={"town": "town, state", "ill": "ill, now"})
    odd.to_csv("odd people.csv", index=False)
    asked = ("--secret", '"ill, now"', "--release", 'age,"town, state"', "--bins", "age=5")
    status, text, _ = run(capsys, "audit", "odd people.csv", *asked, "--budget", "3/2x", "--json")
    assert status == 1
    advised = next(word for word in _texts(json.loads(text)) if "Run: tightlip protect " in word)
    words = shlex.split(advised[advised.index("tightlip protect") :])
    status, _, err = run(capsys, *words[1:], "--seconds", 1)
    assert (status, err) == (0, "")
    assert pd.read_parquet("safe.parquet").columns.tolist() == ["age", "town, state"]
    assert not pd.read_parquet("safe.parquet").age.isin(odd.age.astype(str)).any()


def _texts(record):
    if isinstance(record, str):
        return [record]
    parts = record.values() if isinstance(record, dict) else record if isinstance(record, list) else []
    return [text for part in parts for text in _texts(part)]


def test_a_released_file_in_place_of_its_receipt(capsys, written):
    status, _, err = run(capsys, "verify", "safe.csv")
    assert status == 2
    assert "safe.csv.receipt.json" in err


def test_a_receipt_is_called_a_receipt(capsys, written):
    receipt = json.loads(Path("safe.csv.receipt.json").read_text())
    receipt["proved"]["leakage_nats"] = 0.001
    Path("safe.csv.receipt.json").write_text(json.dumps(receipt))
    status, _, err = run(capsys, "verify", "safe.csv.receipt.json")
    assert status == 1
    assert "receipt was changed" in err
    assert "certificate" not in err


def test_a_policy_on_a_table_where_it_exceeds_its_budget_writes_nothing(capsys, people, written):
    again = ("release", "table", "people.csv", "--policy", "plan.toml", "--out", "again.csv")
    assert run(capsys, *again)[0] == 0
    people.assign(ill=np.where(people.age < 25, "flu", "none")).to_csv("people.csv", index=False)
    status, text, err = run(capsys, *again[:-1], "new.csv")
    assert (status, text) == (1, "")
    assert "policy promises log(2) about ill" in err
    assert err.count("\n") == 1
    assert not list(Path().glob("new*"))


def test_the_table_is_named_before_it_is_counted(capsys, people, monkeypatch):
    """Who waits sees that something happens, also where output is not a terminal."""
    import tightlip.table.source as source

    seen = []
    opened = source.open_table
    monkeypatch.setattr(
        source,
        "open_table",
        lambda *given, **more: seen.append(capsys.readouterr().out) or opened(*given, **more),
    )
    assert protect(capsys, "--budget", "2x")[0] == 0
    assert seen[0].startswith("Counting people.csv; the search")
    seen.clear()
    assert protect(capsys, "--budget", "2x", "--json")[0] == 0
    assert seen[0] == ""


def test_help_says_what_protect_does(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    text = " ".join(run(capsys, "protect", "--help")[1].replace("│", " ").split())
    assert "The fewest people who may share a published value" in text
    assert "hidden: released together" not in text
    assert "20 to 80 by the size of the table if left out" in text


def test_page_says_what_else_is_in_the_file(capsys, people):
    status, text, _ = protect(
        capsys,
        "--budget",
        "2x",
        "--min-count",
        7,
        "--out",
        "safe.csv",
        "--with-secret",
        "--keep",
        "nr",
        "--json",
    )
    record = json.loads(text)
    assert status == 0
    assert "Kept as in the table, and covered by no guarantee: nr." in record["notes"]
    assert "stays at home" not in record["readers"][0]["words"]
    assert "At least 7 people share every published value." in record["verdict"]
    shown = pd.read_csv("safe.csv", dtype=str, keep_default_na=False)
    assert shown.groupby(["age", "town"]).size().min() >= 7
