"""The release command: what it says, what it writes, and what it refuses."""

import csv
import json
import stat

import pytest

from contract.warnings_of_engines import IGNORED
from tightlip.cli.main import main

pytestmark = IGNORED

ROWS = [("F", "yes"), ("M", "no"), ("F", "no"), ("M", "no"), ("M", "yes"), ("F", "no")]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(
        "sex,ill,name\n" + "".join(f"{sex},{ill},n{place}\n" for place, (sex, ill) in enumerate(ROWS))
    )
    return path


def run(capsys, *arguments):
    status = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def command(table, out, *more):
    return ("release", "histogram", table, "--columns", "sex,ill", "--secret", "ill=yes", "--out", out, *more)


def test_text_then_file(capsys, table, tmp_path, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)  # as workers of a parallel run do
    out = tmp_path / "out.csv"
    status, text, err = run(capsys, *command(table, out, "--bin-size", 2))
    assert (status, err) == (0, "")
    words = " ".join(text.split())
    assert "share of ill=yes" in words
    assert "at most 1.3863 nats" in words
    assert "6 rows over 4 cells" in words
    assert "read from the table itself" in words
    rows = list(csv.reader(out.read_text().splitlines()))
    assert (rows[0], len(rows)) == (["sex", "ill"], 7)
    assert f"Wrote the rows: {out}." in "".join(text.split("\n"))
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert sum(row[1] == "yes" for row in rows[1:]) == 3  # two are ill: bin {2, 3} of middle 3


def test_json_and_bits(capsys, table, tmp_path):
    options = ("--bin-size", 2, "--json", "--unit", "bits")
    status, text, _ = run(capsys, *command(table, tmp_path / "out.csv", *options))
    record = json.loads(text)
    assert status == 0
    assert record["privacy"]["value"] == record["privacy"]["lower"] == 2.0
    assert record["privacy"]["ratio"] == "4"
    assert record["exact"] is True
    assert record["distortion"]["lower"] <= record["distortion"]["value"] <= 1
    assert not {"counts", "value", "distance", "truth"} & set(record)


@pytest.mark.parametrize(
    "options",
    [
        ("--mechanism", "rr", "--epsilon", "log(50)"),
        ("--mechanism", "maxl", "--bin-size", "3"),
        ("--within", "sex=F", "--bin-size", "2"),
        ("--within", "sex=F", "--compared-with", "sex!=F", "--bin-size", "5"),
        ("--within", "sex=F", "--resolution", "1/4", "--bin-size", "2"),
        ("--feasible", "observed", "--bin-size", "2"),
        ("--feasible", "BOOK", "--bin-size", "2"),
    ],
)
def test_every_mechanism_and_secret(capsys, table, tmp_path, options):
    out, book = tmp_path / "out.csv", tmp_path / "book.csv"
    book.write_text("ill,sex,why\nyes,F,1\nno,F,2\nyes,M,3\nno,M,4\nunknown,M,5\n")
    options = [str(book) if option == "BOOK" else option for option in options]
    assert run(capsys, *command(table, out, *options))[0] == 0
    assert len(out.read_text().splitlines()) == 7


def test_existing_files_are_refused_before_any_work(capsys, table, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("old")
    status, text, err = run(capsys, *command(table, out, "--bin-size", 2))
    assert (status, text, out.read_text()) == (2, "", "old")
    assert "exists already" in err
    assert run(capsys, *command(table, out, "--bin-size", 2, "--force"))[0] == 0
    assert out.read_text() != "old"


def test_the_table_itself_is_never_overwritten(capsys, table):
    before = table.read_text()
    status, _, err = run(capsys, *command(table, table, "--bin-size", 2, "--force"))
    assert (status, table.read_text()) == (2, before)
    assert "is the table, which is read and would be lost" in err


def test_seeds_are_for_tests(capsys, table, tmp_path):
    texts = []
    for name in ("a.csv", "b.csv"):
        seeded = command(table, tmp_path / name, "--bin-size", 2, "--seed-for-tests", 5)
        status, _, err = run(capsys, *seeded)
        assert status == 0
        assert "whoever knows the seed can undo the protection" in err
        texts.append((tmp_path / name).read_text())
    assert texts[0] == texts[1]
    assert texts[0].startswith("sex,ill,seed_for_tests\n")
    seeded = command(table, tmp_path / "c.csv", "--bin-size", 2, "--seed-for-tests", 5, "--json")
    record = json.loads(run(capsys, *seeded)[1])
    assert record["seeded"] is True
    assert "protects nobody" in record["note"]
    plain = command(table, tmp_path / "d.csv", "--bin-size", 2, "--json")
    assert json.loads(run(capsys, *plain)[1])["seeded"] is False


@pytest.mark.parametrize(
    "options",
    [
        ("--bin-size", 2, "--feasible", "values.csv"),
        ("--bin-size", 2, "--secret", "sex=X"),
        ("--bin-size", 2, "--within", "ill=maybe"),
        ("--bin-size", 2, "--columns", "sex,ill,name", "--feasible", "names.csv"),
    ],
)
def test_errors_hold_no_values_of_people(capsys, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "values.csv").write_text("sex,ill\nF,no\nM,no\n")
    (tmp_path / "names.csv").write_text("sex,ill,name\nF,no,a\nM,no,b\n")
    (tmp_path / "table.csv").write_text("sex,ill,name\nF,no,Anna\nM,HIV-positive,Otto\nF,no,Eva\n")
    given = ["release", "histogram", "table.csv", "--columns", "sex,ill", "--out", "out.csv"]
    secret = [] if "--secret" in options else ["--secret", "ill=no"]
    status, _, err = run(capsys, *given, *secret, *options)
    assert (status, err.count("\n")) == (2, 1)
    assert not any(value in err for value in ("HIV", "Anna", "Otto", "Eva"))


def test_formulas(capsys, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a,b\n=1+1,x\n@cmd,y\n")
    given = ("release", "histogram", table, "--columns", "a,b", "--secret", "b=x", "--bin-size", 1, "--out")
    assert "--spreadsheet-safe" in run(capsys, *given, tmp_path / "plain.csv")[2]
    assert run(capsys, *given, tmp_path / "safe.csv", "--spreadsheet-safe")[2] == ""
    for line in (tmp_path / "safe.csv").read_text().splitlines()[1:]:
        assert line.startswith("'")


def test_names_cannot_write_to_the_terminal(capsys, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("\x1b[31mred,[bold]b\nv\x1b]0;t\x07,x\nw,y\n")
    given = ("release", "histogram", table, "--columns", "\x1b[31mred,[bold]b", "--secret", "[bold]b=x|y")
    status = run(capsys, *given, "--bin-size", 1, "--out", tmp_path / "o.csv")[0]
    assert status == 2
    given = (*given[:-1], "\x1b[31mred=w")
    status, text, _ = run(capsys, *given, "--bin-size", 1, "--out", tmp_path / "o.csv")
    assert status == 0
    assert "\x1b" not in text
    assert "[31mred=w" in text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (("--bin-size", "2", "--secret", "ill"), "COLUMN=VALUE"),
        (("--bin-size", "2", "--secret", "ill=no"), "each column once"),
        (("--bin-size", "2", "--secret", "!=no"), "COLUMN=VALUE"),
        (("--bin-size", "2", "--secret", "age=3"), "must be one of the released columns"),
        (("--bin-size", "2", "--compared-with", "sex=F"), "--within must be given"),
        (("--bin-size", "2", "--resolution", "1/2"), "--within must be given"),
        (("--bin-size", "2", "--columns", "sex,age"), 'must have the column "age"'),
        (("--bin-size", "2", "--feasible", "none.csv"), "none.csv cannot be read"),
        (("--mechanism", "rr", "--epsilon", "-1"), "must not be negative"),
        ((), "bin_size must be given"),
    ],
)
def test_bad_requests(capsys, table, tmp_path, changes, message):
    status, text, err = run(capsys, *command(table, tmp_path / "out.csv", *changes))
    assert (status, text, err.count("\n")) == (2, "", 1)
    assert message in err
    assert not (tmp_path / "out.csv").exists()


def test_a_folder_that_is_not_there(capsys, table, tmp_path):
    status, _, err = run(capsys, *command(table, tmp_path / "no" / "out.csv", "--bin-size", 2))
    assert status == 2
    assert "cannot be written" in err


def test_the_list_of_feasible_combinations_is_not_written_over(capsys, table, tmp_path):
    book = tmp_path / "book.csv"
    book.write_text("sex,ill\nF,yes\nF,no\nM,yes\nM,no\n")
    before = book.read_text()
    link = tmp_path / "link.csv"
    link.hardlink_to(book)
    for out in (book, tmp_path / "." / "book.csv", link):
        options = ("--bin-size", 2, "--feasible", book, "--force")
        status, text, err = run(capsys, *command(table, out, *options))
        assert (status, text, err.count("\n")) == (2, "", 1)
        assert "is the list of feasible combinations, which is read and would be lost" in err
        assert book.read_text() == before
